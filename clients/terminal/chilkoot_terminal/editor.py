"""A line that is being typed: keys in, text and cursor out. Pure, so that a screen can be redrawn while somebody types."""

from __future__ import annotations

import codecs
import re
from typing import Final

__all__ = ["Editor"]

_SEQUENCE: Final = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|O[@-~]|[^\[O])?")
_KEYS: Final = {
    b"\x1b[A": "up", b"\x1bOA": "up", b"\x1b[B": "down", b"\x1bOB": "down",
    b"\x1b[C": "right", b"\x1bOC": "right", b"\x1b[D": "left", b"\x1bOD": "left",
    b"\x1b[H": "home", b"\x1bOH": "home", b"\x1b[1~": "home", b"\x1b[F": "end", b"\x1bOF": "end", b"\x1b[4~": "end",
    b"\x1b[3~": "delete",
}  # fmt: skip
_CONTROLS: Final = {
    "\x01": "home", "\x02": "left", "\x05": "end", "\x06": "right", "\x08": "backspace", "\x7f": "backspace",
    "\x0b": "kill", "\x15": "clear", "\x17": "word", "\x0e": "down", "\x10": "up",
}  # fmt: skip
_LONGEST: Final = 200
_REMEMBERED: Final = 200


class Editor:
    """The line being typed, and those typed before."""

    def __init__(self) -> None:
        self.text = ""
        self.cursor = 0
        self._history: list[str] = []
        self._at = 0
        self._rest = b""
        self._decoder = codecs.getincrementaldecoder("utf-8")("ignore")

    def feed(self, data: bytes) -> list[str | None]:
        """Take what was typed; the lines that were finished by Enter, None for end of input on an empty line."""
        done: list[str | None] = []
        data, self._rest = self._rest + data, b""
        while data:
            if data[0] == 0x1B:
                match = _SEQUENCE.match(data)
                if match is None or match[0] in {b"\x1b", b"\x1b["}:
                    # The rest of an arrow key may come with the next read.
                    self._rest = data if len(data) < 16 else b""
                    break
                self._press(_KEYS.get(match[0], ""))
                data = data[match.end() :]
                continue
            plain, escape, rest = data.partition(b"\x1b")
            data = escape + rest
            for letter in self._decoder.decode(plain):
                if letter in "\r\n":
                    done.append(self._finish())
                elif letter == "\x04":
                    if not self.text:
                        done.append(None)
                elif letter in _CONTROLS:
                    self._press(_CONTROLS[letter])
                elif letter.isprintable() and len(self.text) < _LONGEST:
                    self.text = self.text[: self.cursor] + letter + self.text[self.cursor :]
                    self.cursor += 1
        return done

    def _finish(self) -> str:
        line = self.text
        if line and self._history[-1:] != [line]:
            self._history = [*self._history, line][-_REMEMBERED:]
        self._at = len(self._history)
        self.text, self.cursor = "", 0
        return line

    def _press(self, key: str) -> None:
        text, cursor = self.text, self.cursor
        if key == "left":
            self.cursor = max(0, cursor - 1)
        elif key == "right":
            self.cursor = min(len(text), cursor + 1)
        elif key == "home":
            self.cursor = 0
        elif key == "end":
            self.cursor = len(text)
        elif key == "backspace" and cursor:
            self.text, self.cursor = text[: cursor - 1] + text[cursor:], cursor - 1
        elif key == "delete":
            self.text = text[:cursor] + text[cursor + 1 :]
        elif key == "kill":
            self.text = text[:cursor]
        elif key == "clear":
            self.text, self.cursor = text[cursor:], 0
        elif key == "word":
            kept = text[:cursor].rstrip()
            kept = kept[: kept.rfind(" ") + 1]
            self.text, self.cursor = kept + text[cursor:], len(kept)
        elif key in {"up", "down"}:
            self._recall(-1 if key == "up" else 1)

    def _recall(self, step: int) -> None:
        at = self._at + step
        if 0 <= at <= len(self._history):
            self._at = at
            self.text = self._history[at] if at < len(self._history) else ""
            self.cursor = len(self.text)
