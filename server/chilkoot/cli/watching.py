"""`chilkoot rules check --watch`: check again whenever a file has changed.

Decides when to look and what to look at: the stamps of files, a few times a second, which works on every system and
every disk. What a check says is not its affair.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from chilkoot.cli.faults import CommandFailed
from chilkoot.data import rules_folder

__all__ = ["watch"]

_PAUSE_SECONDS: Final = 0.3
_CLEAR: Final = "\x1b[2J\x1b[H"

_Stamps = dict[Path, tuple[int, int, int]]


def watch(check: Callable[[], int], files: Sequence[str], folders: Sequence[Path], *, is_text: bool) -> int:
    """Check until Ctrl-C; the exit status of the last check."""
    status, seen = 0, None
    try:
        while True:
            # Looked at before the check: what changes while it runs is checked again.
            now = _look(files, folders)
            if now != seen:
                status = _check_again(check, is_first=seen is None, is_text=is_text)
                seen = now
                if is_text:
                    # Said when the status is known for good: whoever reads it may press Ctrl-C at once.
                    print(f"{time.strftime('%H:%M:%S')} watching; Ctrl-C ends", file=sys.stderr, flush=True)
            time.sleep(_PAUSE_SECONDS)
    except KeyboardInterrupt:
        if sys.stderr.isatty():
            # What the terminal shows of Ctrl-C stands on a line of its own.
            print(file=sys.stderr)
        return status


def _check_again(check: Callable[[], int], *, is_first: bool, is_text: bool) -> int:
    if is_text and sys.stdout.isatty():
        print(_CLEAR, end="")
    try:
        status = check()
    except CommandFailed as failure:
        # A file that is not there at the beginning is a slip; later its editor may be about to write it.
        if is_first:
            raise
        print(f"chilkoot: {failure.message}", file=sys.stderr)
        status = failure.status
    sys.stdout.flush()
    return status


def _look(files: Sequence[str], folders: Sequence[Path]) -> _Stamps:
    """The stamps of all that may matter: the files, what lies beside them, the folders of rules."""
    places = {Path(name) if Path(name).is_dir() else Path(name).parent for name in files}
    paths = {path for place in {*places, *folders, rules_folder()} for path in place.glob("*.yaml")}
    stamps: _Stamps = {}
    for path in {*paths, *map(Path, files)}:
        try:
            status = path.stat()
        except OSError:
            continue
        stamps[path] = (status.st_mtime_ns, status.st_size, status.st_ino)
    return stamps
