"""The client in a pipe, a dumb terminal or under a screen reader: lines in, plain text out, nothing is ever redrawn."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import threading
from collections.abc import AsyncIterator
from typing import Final

from chilkoot_client import Table
from chilkoot_terminal.draw import Style, draw_table

__all__ = ["PlainFace", "read_lines"]

_LONGEST_LINE: Final = 10_000
_WAITING_LINES: Final = 50


class PlainFace:
    """Writes everything to standard output as it comes; `is_brief` leaves out tables that nobody asked for."""

    def __init__(self, style: Style, *, is_brief: bool, width: int = 80) -> None:
        self._style = style
        self._is_brief = is_brief
        self._width = width

    def say(self, text: str) -> None:
        """Show a sentence or two."""
        print(text, flush=True)

    def show(self, table: Table, title: str, *, asked: bool) -> None:
        """Show the table."""
        if asked or not self._is_brief:
            print("\n".join([title, *draw_table(table, self._style, width=self._width)]), flush=True)

    def page(self, text: str) -> None:
        """Show a longer text."""
        print(text, flush=True)

    def race(self, text: str) -> None:
        """The race in one line: what is worth a sentence is said anyway, and the rest would drown it."""

    def link(self, text: str) -> None:
        """Say how the connection is."""
        print(f"[{text or 'connected again'}]", flush=True)


async def read_lines(descriptor: int, *, prompt: str, echo: bool) -> AsyncIterator[str]:
    """The lines of a file, pipe or terminal, as they come; `echo` repeats each, so that a log reads like a game."""
    loop = asyncio.get_running_loop()
    lines: asyncio.Queue[str | None] = asyncio.Queue()
    # Whoever writes faster than we play has to wait.
    slots = threading.Semaphore(_WAITING_LINES)

    def give(line: bytes | None) -> None:
        slots.acquire()
        loop.call_soon_threadsafe(lines.put_nowait, None if line is None else _text(line))

    def pump() -> None:
        # A thread, since a loop cannot wait for a plain file; `os.read`, since a thread that sits in `sys.stdin` when the
        # program ends takes the interpreter down with it.
        rest = b""
        # The loop is closed when the player has left before the end of the lines.
        with contextlib.suppress(RuntimeError):
            while chunk := _read(descriptor):
                *whole, rest = (rest + chunk).split(b"\n")
                for line in whole:
                    give(line)
                rest = rest[:_LONGEST_LINE]
            if rest:
                give(rest)
            give(None)

    threading.Thread(target=pump, daemon=True, name="lines").start()
    while True:
        if prompt:
            sys.stdout.write(prompt)
            sys.stdout.flush()
        line = await lines.get()
        slots.release()
        if line is None:
            return
        if echo and not line.startswith("#"):
            print(f"> {''.join(letter if letter.isprintable() else '?' for letter in line)}", flush=True)
        # A line that begins with # is a remark, so that a file of commands can say what it is.
        if not line.startswith("#"):
            yield line


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65536)
    except OSError:
        return b""


def _text(line: bytes) -> str:
    return line[:_LONGEST_LINE].decode("utf-8", "replace").strip()
