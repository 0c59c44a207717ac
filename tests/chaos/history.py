"""What the clients of a run did and saw: one JSON object a line, only ever added to.

`event` is what happened, `tab` whose connection it was, `at` seconds of a clock that never jumps:
``open`` and ``close`` of a connection, ``sent`` (the command, its id, the session it belongs to), ``got`` (the text of a
frame as it came), ``dropped`` (a command that was answered "not now" and will not be sent again), ``lost`` (what a client may
never have to say: its identity or its session is gone), ``nemesis`` (what was done to the server), ``resources``.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

__all__ = ["Entry", "History", "read_history"]

Entry = dict[str, Any]


class History:
    """Writes a history; kept in memory too, for the checker."""

    def __init__(self, path: Path) -> None:
        self.entries: list[Entry] = []
        self._file = path.open("w", encoding="utf-8")

    def note(self, event: str, tab: str = "", **more: Any) -> None:
        entry = {"at": round(time.monotonic(), 4), "event": event, "tab": tab, **more}
        self.entries.append(entry)
        self._file.write(json.dumps(entry) + "\n")

    def close(self) -> None:
        self._file.close()


def read_history(path: Path) -> Iterator[Entry]:
    """The entries of a saved history."""
    with path.open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)
