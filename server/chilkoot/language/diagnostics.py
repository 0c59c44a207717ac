"""What a reader of rules says about a file: a code, a place, one sentence, and how to mend it.

Decides how diagnostics look as text, as JSON and as GitHub annotations, and nothing about what is wrong: that is said
where it is found. A diagnostic holds its source line, so it can be shown when the file has changed or gone.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from enum import StrEnum
from typing import Final

import msgspec

__all__ = [
    "Diagnostic",
    "Place",
    "Severity",
    "Source",
    "has_errors",
    "in_order",
    "render_github",
    "render_json",
    "render_text",
]

_WIDEST_LINE: Final = 160
"""Source lines longer than this are shown in part, so that a file of one huge line can't flood a terminal."""


class Severity(StrEnum):
    """How much a diagnostic matters: errors refuse the file, warnings do under ``--strict``, advice never does."""

    ERROR = "error"
    WARNING = "warning"
    ADVICE = "advice"


class Source(msgspec.Struct, frozen=True):
    """The text of one file of rules, the name it is shown under, and the id of the variant in it."""

    name: str
    id: str
    text: str

    @classmethod
    def from_bytes(cls, name: str, variant: str, data: bytes) -> Source:
        """A source from a file's bytes; what is not UTF-8 stays recognisable and is reported when it is read."""
        return cls(name, variant, data.decode("utf-8", "surrogateescape"))


class Place(msgspec.Struct, frozen=True):
    """Part of a line in a file: columns count characters from 1, `end` is the column after the last one."""

    file: str
    line: int
    column: int
    end: int
    text: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"

    def part(self, start: int, end: int) -> Place:
        """The characters from `start` up to `end` of this place, counted from 0; at least one of them."""
        column = min(self.column + start, max(self.column, self.end - 1))
        return Place(
            self.file, self.line, column, max(column + 1, min(self.column + end, self.end)), self.text
        )


class Diagnostic(msgspec.Struct, frozen=True, kw_only=True):
    """One thing to say about a file of rules."""

    code: str
    severity: Severity
    place: Place
    message: str
    help: str = ""

    def __str__(self) -> str:
        word = "" if self.severity is Severity.ERROR else f"{self.severity}: "
        return f"{self.place}: {word}{self.message} [{self.code}]"


def has_errors(diagnostics: Iterable[Diagnostic], *, strict: bool = False) -> bool:
    """Whether a file with these diagnostics is refused; `strict` refuses it for a warning too."""
    refusing = {Severity.ERROR, Severity.WARNING} if strict else {Severity.ERROR}
    return any(one.severity in refusing for one in diagnostics)


def in_order(diagnostics: Iterable[Diagnostic], first: str = "") -> list[Diagnostic]:
    """Each diagnostic once, by file (the file `first` before others), then by place."""
    return sorted(
        set(diagnostics),
        key=lambda one: (
            one.place.file != first,
            one.place.file,
            one.place.line,
            one.place.column,
            one.code,
            one.message,
        ),
    )


def render_text(diagnostics: Iterable[Diagnostic]) -> str:
    """Diagnostics for a terminal: place and sentence, source line, caret as wide as the token, help."""
    return "".join(_as_text(one) for one in diagnostics)


def render_json(diagnostics: Iterable[Diagnostic]) -> str:
    """Diagnostics for programs, one JSON object a line."""
    return "".join(
        msgspec.json.encode(
            {
                "file": one.place.file,
                "line": one.place.line,
                "column": one.place.column,
                "end_column": one.place.end,
                "severity": one.severity,
                "code": one.code,
                "message": one.message,
                "help": one.help,
            }
        ).decode()
        + "\n"
        for one in diagnostics
    )


def render_github(diagnostics: Iterable[Diagnostic]) -> str:
    """Diagnostics as GitHub workflow commands, which GitHub shows beside the line they are about."""
    return "".join(_as_annotation(one) for one in diagnostics)


def _as_text(one: Diagnostic) -> str:
    lines = [str(one)]
    if one.place.text.strip():
        lines += _snippet(one.place)
    if one.help:
        lines.append(f"help: {one.help}")
    return "\n".join(lines) + "\n"


def _snippet(place: Place) -> list[str]:
    start = place.column - 1
    # A long line is cut to a window that begins a little before the token.
    first = 0 if len(place.text) <= _WIDEST_LINE else max(0, min(start - 40, len(place.text) - _WIDEST_LINE))
    line = _printable(place.text[first : first + _WIDEST_LINE].rstrip())
    start -= first
    end = max(start + 1, min(place.end - 1 - first, len(line)))
    return [line, " " * _width(line[:start]) + "^" + "~" * (_width(line[start:end]) - 1)]


def _printable(text: str) -> str:
    # Escape sequences of a hostile file must not reach the terminal.
    return "".join(
        letter if letter.isprintable() else " " if letter == "\t" else "\N{REPLACEMENT CHARACTER}"
        for letter in text
    )


def _width(text: str) -> int:
    return sum(
        0 if unicodedata.combining(letter) else 2 if unicodedata.east_asian_width(letter) in "WF" else 1
        for letter in text
    )


def _as_annotation(one: Diagnostic) -> str:
    kind = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.ADVICE: "notice"}[one.severity]
    text = f"{one.message}; help: {one.help}" if one.help else one.message
    where = (
        f"file={_property(one.place.file)},line={one.place.line},"
        f"col={one.place.column},endColumn={one.place.end},title={_property(one.code)}"
    )
    return f"::{kind} {where}::{_data(text)}\n"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
