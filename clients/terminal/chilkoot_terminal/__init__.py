"""A text client for Chilkoot: a whole game in a terminal or in a pipe."""
