"""The three ways in which a request can fail: the rules say no, the server says no, the connection is over."""

from __future__ import annotations

from typing import Any

__all__ = ["ChilkootError", "Closed", "Error", "Refused"]


class ChilkootError(Exception):
    """Anything that this library raises on purpose."""


class Refused(ChilkootError):  # noqa: N818 - the protocol's own word, as `Closed` below
    """The rules of the game do not allow the action; nothing has changed.

    `code` is the rule that failed, `message` a sentence for people, `detail` what a program may want to know.
    """

    def __init__(
        self, code: str, message: str, *, game: str, seq: int, detail: dict[str, Any] | None = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.game = game
        self.seq = seq
        self.detail = detail or {}


class Error(ChilkootError):
    """The server could not or would not do what was asked; nothing has changed.

    `retry_after_ms` says when asking again may help, where the server knows it.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        detail: dict[str, Any] | None = None,
        retry_after_ms: int | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.detail = detail or {}
        self.retry_after_ms = retry_after_ms


class Closed(ChilkootError):  # noqa: N818
    """The connection is over and will not be taken up again.

    `code` is the WebSocket close code, None where there was none. A request that raises this may or may not have been
    carried out: after connecting again, look at the game.
    """

    def __init__(self, reason: str, *, code: int | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.code = code
