"""One line a fact, to standard error: time, level, room, words. Never a token, a key, a deal or a hidden card."""

from __future__ import annotations

import asyncio
import logging
import sys
import time
from typing import Any

__all__ = ["log", "log_trouble", "set_up_logging"]

log = logging.getLogger("chilkoot.host")


_last_trouble: dict[int | None, float] = {}


class _Line(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        room = record.name.removeprefix("chilkoot.")
        line = f"{stamp}.{int(record.msecs):03d}Z {record.levelname.lower()} {room}: {record.getMessage()}"
        if record.exc_info:
            line += "\n" + self.formatException(record.exc_info)
        return line


def log_trouble(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Tell what went wrong in the event loop itself: the system's troubles in a line, bugs with all there is to know."""
    error = context.get("exception")
    if isinstance(error, OSError):
        # Out of file descriptors, the loop says so a thousand times at once.
        now = time.monotonic()
        if now - _last_trouble.get(error.errno, -1.0) < 1:
            return
        _last_trouble[error.errno] = now
    log.error("%s: %s", context["message"], error, exc_info=None if isinstance(error, OSError) else error)


def set_up_logging() -> None:
    """Send everything of ours to standard error; of the libraries only what is wrong."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Line())
    ours = logging.getLogger("chilkoot")
    ours.handlers[:] = [handler]
    ours.setLevel(logging.INFO)
    ours.propagate = False
    # What strangers send before they speak our protocol is no news, least of all with a traceback.
    sockets = logging.getLogger("websockets")
    sockets.setLevel(logging.CRITICAL)
    sockets.propagate = False
    sockets.addHandler(logging.NullHandler())
    loops = logging.getLogger("asyncio")
    loops.setLevel(logging.WARNING)
    loops.propagate = False
    loops.handlers[:] = [handler]
