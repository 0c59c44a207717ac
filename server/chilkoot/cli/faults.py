"""How a sub-command says that it can't go on."""

from __future__ import annotations

from typing import Final

__all__ = ["ERRORS", "USAGE", "CommandFailed"]

ERRORS: Final = 1
USAGE: Final = 2


class CommandFailed(Exception):  # noqa: N818 - it is raised for what the user did as often as for what the world did
    """Ends the command: a sentence for standard error (or several, one a line) and the exit status."""

    def __init__(self, message: str, status: int = ERRORS) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
