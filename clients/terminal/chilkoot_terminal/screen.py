"""The client in a terminal: the table stays in its place, the last sentences under it, the line being typed at the foot."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import sys
import termios
import textwrap
import tty
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Final

from chilkoot_client import Table
from chilkoot_terminal.commands import Word, parse
from chilkoot_terminal.draw import Style, draw_table
from chilkoot_terminal.editor import Editor

__all__ = ["Screen"]

_ENTER: Final = "\x1b[?1049h\x1b[H\x1b[2J"
_LEAVE: Final = "\x1b[?1049l"
_SENTENCE_LINES: Final = 3
_NARROWEST: Final = 16
_LOWEST: Final = 8
# The title above a page, the word about Enter and the line being typed below it.
_AROUND_PAGE: Final = 3

_Modes = list[int | list[bytes | int]]


class Screen:
    """Draws everything anew after each change; nothing flickers, since every line is written over its old self."""

    def __init__(self, style: Style) -> None:
        self._style = style
        self._editor = Editor()
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        self._table: Table | None = None
        self._title = ""
        self._said: deque[str] = deque(maxlen=12)
        self._page: list[str] = []
        self._page_at = 0
        self._link = ""
        self._race = ""
        self._leave: Callable[[], None] = lambda: None

    # What a `Face` does.

    def say(self, text: str) -> None:
        """Show a sentence or two."""
        self._said.append(text)
        self._draw()

    def show(self, table: Table, title: str, *, asked: bool) -> None:
        """Show the table."""
        self._table, self._title = table, title
        if asked:
            self._page = []
        self._draw()

    def page(self, text: str) -> None:
        """Show a longer text in place of the table; Enter turns the page, and after the last one back."""
        self._page, self._page_at = text.splitlines(), 0
        self._draw()

    def race(self, text: str) -> None:
        """Show the race in one line above the sentences; none where the text is empty."""
        self._race = text
        self._draw()

    def link(self, text: str) -> None:
        """Say how the connection is."""
        self._link = text
        self._draw()

    # The terminal.

    @contextlib.contextmanager
    def on(self, *, leave: Callable[[], None]) -> Iterator[None]:
        """The terminal is ours within; afterwards it is as it was, whatever happened.

        `leave` is called for who wants to leave while the connection is lost, for then nobody reads the lines.
        """
        self._leave = leave
        loop = asyncio.get_running_loop()
        descriptor = sys.stdin.fileno()
        saved = termios.tcgetattr(descriptor)
        try:
            self._raw(descriptor)
            loop.add_reader(descriptor, self._typed, descriptor)
            loop.add_signal_handler(signal.SIGWINCH, self._draw)
            # While we are stopped (Ctrl-Z) the terminal is the shell's.
            loop.add_signal_handler(signal.SIGTSTP, self._stop, descriptor, saved)
            loop.add_signal_handler(signal.SIGCONT, self._raw, descriptor)
            self._draw()
            yield
        finally:
            loop.remove_reader(descriptor)
            for number in (signal.SIGWINCH, signal.SIGTSTP, signal.SIGCONT):
                loop.remove_signal_handler(number)
            self._give_back(descriptor, saved)

    async def lines(self) -> AsyncIterator[str]:
        """The lines that are typed."""
        while (line := await self._lines.get()) is not None:
            yield line

    def last_words(self) -> str:
        """The last sentence, to be left behind on the ordinary screen."""
        return self._said[-1] if self._said else ""

    def _raw(self, descriptor: int) -> None:
        # Keys one by one and unseen, but Ctrl-C and Ctrl-Z as ever.
        tty.setcbreak(descriptor)
        self._write(_ENTER)
        self._draw()

    def _give_back(self, descriptor: int, saved: _Modes) -> None:
        with contextlib.suppress(OSError):
            self._write(_LEAVE)
        with contextlib.suppress(termios.error):
            termios.tcsetattr(descriptor, termios.TCSADRAIN, saved)

    def _stop(self, descriptor: int, saved: _Modes) -> None:
        self._give_back(descriptor, saved)
        os.kill(os.getpid(), signal.SIGSTOP)

    def _typed(self, descriptor: int) -> None:
        try:
            data = os.read(descriptor, 4096)
        except OSError:
            data = b""
        finished = self._editor.feed(data) if data else [None]
        for line in finished:
            if line is not None and self._page and not line.strip():
                self._turn_page()
                continue
            self._page = []
            if self._link and (line is None or parse(line) == Word("quit")):
                self._leave()
            self._lines.put_nowait(line)
        self._draw()

    def _draw(self) -> None:
        width, height = _size()
        foot = self._foot(width)
        room = height - len(foot) - 2
        body = self._page_lines(width, room) if self._page else self._table_lines(width, room)
        body = body[:room] + [""] * (room - len(body))
        prompt = "> "
        shown = self._editor.text[-(width - len(prompt) - 1) :]
        column = len(prompt) + self._editor.cursor - (len(self._editor.text) - len(shown)) + 1
        rows = [self._head(width), *body, *foot, prompt + shown]
        with contextlib.suppress(OSError):
            self._write(
                "\x1b[H" + "\r\n".join(f"{row}\x1b[K" for row in rows) + f"\x1b[J\x1b[{len(rows)};{column}H"
            )

    def _head(self, width: int) -> str:
        text = self._title[: width - 1]
        if self._link:
            text = f"!! {self._link}"[: width - 1]
        return f"\x1b[7m{text.ljust(width - 1)}\x1b[0m"

    def _table_lines(self, width: int, room: int) -> list[str]:
        return [] if self._table is None else draw_table(self._table, self._style, width=width, height=room)

    def _page_lines(self, width: int, room: int) -> list[str]:
        lines = [part for line in self._page for part in textwrap.wrap(line, width - 1) or [""]]
        if len(lines) > room:
            lines = _in_columns(lines, width, room)
        return lines[self._page_at :]

    def _turn_page(self) -> None:
        width, height = _size()
        room = height - _AROUND_PAGE
        self._page_at += room
        if not self._page_lines(width, room):
            self._page = []

    def _foot(self, width: int) -> list[str]:
        if self._page:
            room = _size()[1] - _AROUND_PAGE
            is_last = len(self._page_lines(width, room)) <= room
            return ["(Enter: back to the table)" if is_last else "(Enter: more)"]
        lines: list[str] = []
        for text in reversed(self._said):
            wrapped = textwrap.wrap(text, width - 1)
            if len(lines) + len(wrapped) > _SENTENCE_LINES and lines:
                break
            lines = wrapped + lines
        shown = lines[-_SENTENCE_LINES:] or [""]
        return [self._race[: width - 1], *shown] if self._race else shown

    def _write(self, text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()


def _size() -> tuple[int, int]:
    """Columns and lines. In less than these nobody can play, and what does not fit is cut off by the terminal."""
    size = shutil.get_terminal_size()
    return max(size.columns, _NARROWEST), max(size.lines, _LOWEST)


def _in_columns(lines: list[str], width: int, room: int) -> list[str]:
    """Short lines side by side, where that makes them fit."""
    widest = max(map(len, lines)) + 2
    across = max(1, (width - 1) // widest)
    if across * room < len(lines):
        return lines
    rows = -(-len(lines) // across)
    return ["".join(line.ljust(widest) for line in lines[row::rows]).rstrip() for row in range(rows)]
