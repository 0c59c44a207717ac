"""The record: the only SQL of the project. Games, actions, players; recordings in and out, and their verification."""
