"""Chilkoot, a server for the games of the Yukon family."""

__all__ = ["__version__"]

__version__ = "0.1.0"
