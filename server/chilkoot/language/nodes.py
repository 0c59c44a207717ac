"""YAML text as a small tree in which every node knows its place.

Decides what of YAML a file of rules may use: mappings, lists and scalars, of which only ``true``, ``false``, ``null`` and
plain integers mean anything but their text. It builds its tree from the events of PyYAML's C parser, counting as it goes,
so nothing is ever constructed, resolved or followed: no anchors, tags, merge keys. What the keys mean is read elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import msgspec
import yaml

from chilkoot.language.codes import Report
from chilkoot.language.diagnostics import Place, Source
from chilkoot.language.words import quoted, shortened

__all__ = ["MAX_BYTES", "MAX_DEPTH", "MAX_NODES", "Entry", "Mapping", "Node", "Scalar", "Sequence", "parse"]

MAX_BYTES: Final = 64 * 1024
MAX_NODES: Final = 20_000
MAX_DEPTH: Final = 24

_INTEGER: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,17})")
_TYPED: Final = {"true": True, "false": False, "null": None}
# What no line of a text file holds, the other line breaks of YAML, and marks that reverse how a line reads. A carriage
# return before a line feed is gone already.
_UNWANTED: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff\ufffe\uffff]"
)


class Scalar(msgspec.Struct, frozen=True):
    """A single value: what it means (`value`) and what is written (`text`); `is_plain` without quotes."""

    value: str | int | bool | None
    text: str
    is_plain: bool
    place: Place

    def part(self, start: int, end: int) -> Place:
        """The place of some characters of the text; of the whole where they are not written as they read."""
        written = self.place.text[self.place.column - 1 : self.place.end - 1]
        if written == self.text:
            return self.place.part(start, end)
        if not self.is_plain and written[1:-1] == self.text:
            return self.place.part(start + 1, end + 1)
        return self.place


class Sequence(msgspec.Struct, frozen=True):
    """A list and its items."""

    items: tuple[Node, ...]
    place: Place


class Entry(msgspec.Struct, frozen=True):
    """A key of a mapping with its value."""

    key: Scalar
    value: Node


class Mapping(msgspec.Struct, frozen=True):
    """A mapping: its entries by the text of their keys, in the order of the file."""

    entries: dict[str, Entry]
    place: Place

    def get(self, key: str) -> Node | None:
        """The value of a key, None where the mapping has no such key."""
        entry = self.entries.get(key)
        return entry.value if entry else None


Node = Scalar | Sequence | Mapping


def parse(source: Source, report: Report) -> Mapping | None:
    """The tree of a file, or None where there is none to read on with. Everything refused is in `report`."""
    # Only what YAML and every editor call a line; all other breaks are refused.
    lines = source.text[: MAX_BYTES + 1].replace("\r\n", "\n").split("\n")
    if not _is_readable(source, lines, report):
        return None
    reader = _Reader(source.name, lines, report)
    try:
        return reader.document()
    except _StopReadingError:
        pass
    except yaml.MarkedYAMLError as error:
        _report_syntax(reader, error, report)
    except yaml.YAMLError as error:
        report.say("R004", reader.place(0, 0, 1), shortened(str(error)))
    return None


def _is_readable(source: Source, lines: list[str], report: Report) -> bool:
    start = Place(source.name, 1, 1, 2, lines[0])
    size = len(source.text.encode("utf-8", "surrogatepass"))
    if size > MAX_BYTES:
        report.say("R003", Place(source.name, 1, 1, 2), f"the file is larger than {MAX_BYTES // 1024} KiB")
        return False
    if source.text.startswith("\ufeff"):
        report.say(
            "R001", start, "the file begins with a byte order mark", "save it as UTF-8 without a mark (BOM)"
        )
        return False
    if source.text.startswith(("\udcff\udcfe", "\udcfe\udcff")):
        report.say("R001", start, "the file is UTF-16", "save it as UTF-8")
        return False
    readable = True
    for number, line in enumerate(lines, 1):
        for match in _UNWANTED.finditer(line):
            place = Place(source.name, number, match.start() + 1, match.end() + 1, line)
            if "\udc80" <= match[0] <= "\udcff":
                report.say("R001", place, "a byte that is not UTF-8", "save the file as UTF-8")
            else:
                report.say(
                    "R002", place, f"the character U+{ord(match[0]):04X} can't stand in a file of rules"
                )
            readable = False
            break
        at = line.find("\t")
        if at >= 0:
            place = Place(
                source.name, number, at + 1, at + 1 + len(line[at:]) - len(line[at:].lstrip("\t")), line
            )
            report.say("R005", place, "a tab", "use spaces")
            # Between words a tab is read as a space, so that the rest of the file can be checked; how deep an indented
            # line was meant to be is not known.
            readable = readable and bool(line[:at].strip())
    return readable


_SYNTAX: Final = (
    # What the parser says, whether the place is where the thing began, what we say, and the way out.
    ("nesting depth", False, "", ""),
    ("found unexpected end of stream", True, "a quote that is not closed", "close it with the same sign"),
    (
        "expected ',' or ']'",
        True,
        "a list that is not closed",
        'write "]" behind its last item, and "," between items',
    ),
    (
        "expected ',' or '}'",
        True,
        "a mapping that is not closed",
        'write "}" behind its last value, and "," between keys',
    ),
    ("cannot start any token", False, "{letter} can't begin a value", "put the text in quotes"),
    (
        "mapping values are not allowed",
        False,
        'a ":" that does not fit here',
        'put text that holds ": " in quotes, or mend the indentation',
    ),
    ("could not find expected ':'", True, 'a line without ":"', 'every line of a mapping reads "key: value"'),
    (
        "did not find expected key",
        False,
        "this line fits no line above it",
        "indent it exactly as the key that it stands beside",
    ),
    (
        "expected '-' indicator",
        False,
        "this line does not belong to the list above",
        'begin it with "- ", or indent it less',
    ),
    ("block sequence entries are not allowed", False, "a list can't begin here", 'begin "- " in a new line'),
    ("<document start>", False, "text behind the end of the variant", "one file holds one mapping of keys"),
    ("expected node content", False, "a value is missing", "write one, or leave the comma out"),
    ("alphabetic or numeric character", True, "{letter} can't begin a value", "put the text in quotes"),
    (
        "unknown escape character",
        False,
        "an unknown escape behind a backslash",
        "use single quotes, in which a backslash is only a sign",
    ),
)


def _report_syntax(reader: _Reader, error: yaml.MarkedYAMLError, report: Report) -> None:
    said = error.problem or "not YAML"
    mark, context = error.problem_mark or error.context_mark, error.context_mark or error.problem_mark
    row = next((row for row in _SYNTAX if row[0] in said), None)
    if row is not None and row[1]:
        mark = context
    place = reader.place(mark.line, mark.column, mark.column + 1) if mark else reader.place(0, 0, 1)
    if row is None:
        report.say("R004", place, f"not YAML: {said}", "see what the caret shows and the line above it")
    elif row[0] == "did not find expected key" and place.text[: place.column - 1].strip():
        report.say(
            "R004",
            place,
            "text behind a value that is complete",
            "put all of it in quotes, or begin a new line",
        )
    elif row[0] == "nesting depth":
        report.say("R011", place, f"nested more than {MAX_DEPTH} levels deep")
    else:
        letter = quoted(place.text[place.column - 1 : place.column] or " ")
        report.say("R004", place, row[2].format(letter=letter), row[3])


class _StopReadingError(Exception):
    """The file is refused as a whole; why is in the report."""


class _Reader:
    def __init__(self, file: str, lines: list[str], report: Report) -> None:
        self._file = file
        self._lines = lines
        self._report = report
        # Where a tab stands between words it is read as a space.
        text = "\n".join(lines).replace("\t", " ")
        self._events: Iterator[yaml.Event] = yaml.parse(text, Loader=yaml.CSafeLoader)
        self._nodes = 0

    def place(self, line: int, start: int, end: int) -> Place:
        """A place from what the parser counts: lines and columns from 0. What is at an empty line is behind the one before."""
        line = min(line, len(self._lines) - 1)
        if not self._lines[line].strip():
            while line > 0 and not self._lines[line].strip():
                line -= 1
            start = end = len(self._lines[line].rstrip())
        return Place(self._file, line + 1, start + 1, max(start + 2, end + 1), self._lines[line])

    def document(self) -> Mapping | None:
        next(self._events)
        event = next(self._events)
        if isinstance(event, yaml.StreamEndEvent):
            self._report.say(
                "R014",
                self.place(0, 0, 1),
                "the file is empty",
                'a variant needs at least "deal" or "extends"',
            )
            return None
        if isinstance(event, yaml.DocumentStartEvent) and (event.version or event.tags):
            self._report.say("R013", self._place_of(event), "a YAML directive", "leave it out")
        root = self._node(next(self._events), 1)
        end = next(self._events)
        following = next(self._events)
        if not isinstance(following, yaml.StreamEndEvent):
            self._report.say(
                "R006",
                self._place_of(following),
                "a second document",
                "one file holds one variant: make it a file of its own",
            )
        assert isinstance(end, yaml.DocumentEndEvent)
        if isinstance(root, Mapping):
            return root
        self._report.say("R101", root.place, "a variant is a mapping", 'begin with "name: …", one key a line')
        return None

    def _node(self, event: yaml.Event, depth: int) -> Node:
        self._nodes += 1
        place = self._place_of(event)
        if self._nodes > MAX_NODES:
            self._report.say("R010", place, f"more than {MAX_NODES:,} values")
            raise _StopReadingError
        if depth > MAX_DEPTH:
            self._report.say("R011", place, f"nested more than {MAX_DEPTH} levels deep")
            raise _StopReadingError
        if isinstance(event, yaml.AliasEvent):
            written = f"*{event.anchor}"
            self._report.say(
                "R007",
                place,
                f"an alias, {quoted(written)}",
                f'write the value out, or quote it: "{shortened(written)}"',
            )
            return Scalar(written, written, False, place)
        assert isinstance(event, yaml.ScalarEvent | yaml.CollectionStartEvent)
        if event.anchor is not None:
            self._report.say(
                "R007",
                place,
                f"an anchor, {quoted('&' + event.anchor)}",
                "write the value where it is needed",
            )
        if event.tag is not None:
            self._report.say("R008", place, f"a tag, {quoted(self._written_tag(place))}", "leave it out")
        if isinstance(event, yaml.ScalarEvent):
            return self._scalar(event, place)
        if isinstance(event, yaml.SequenceStartEvent):
            items = []
            while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
                items.append(self._node(event, depth + 1))
            return Sequence(tuple(items), self._whole(place, event))
        return self._mapping(place, depth)

    def _mapping(self, place: Place, depth: int) -> Mapping:
        entries: dict[str, Entry] = {}
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            key = self._node(event, depth + 1)
            value = self._node(next(self._events), depth + 1)
            if not isinstance(key, Scalar):
                self._report.say("R012", key.place, "a key that is not a word")
            elif key.text == "<<":
                self._report.say(
                    "R012", key.place, 'a merge key, "<<"', 'use "extends" to build on another variant'
                )
            elif not key.text:
                self._report.say("R012", key.place, "a key without a name")
            elif key.text in entries:
                first = entries[key.text].key.place
                self._report.say(
                    "R009",
                    key.place,
                    f"{quoted(key.text)} is given twice",
                    f"line {first.line}, column {first.column} gives it already; keep one of them",
                )
            else:
                entries[key.text] = Entry(key, value)
        return Mapping(entries, self._whole(place, event))

    def _scalar(self, event: yaml.ScalarEvent, place: Place) -> Scalar:
        text = event.value
        is_plain = event.style == ""
        value: str | int | bool | None = text
        if is_plain and text in _TYPED:
            value = _TYPED[text]
        elif is_plain and _INTEGER.fullmatch(text):
            value = int(text)
        return Scalar(value, text, is_plain, place)

    def _place_of(self, event: yaml.Event) -> Place:
        start, end = event.start_mark, event.end_mark
        assert start is not None
        assert end is not None
        line = self._lines[start.line] if start.line < len(self._lines) else ""
        begins_block = isinstance(event, yaml.CollectionStartEvent) and end.column == start.column
        last = end.column if end.line == start.line and not begins_block else len(line.rstrip())
        return self.place(start.line, start.column, last)

    def _whole(self, place: Place, event: yaml.Event) -> Place:
        # A flow collection that ends in its line is underlined up to its bracket, any other one as far as its line goes.
        end = event.end_mark
        assert end is not None
        if end.line == place.line - 1 and end.column >= place.column:
            return self.place(end.line, place.column - 1, end.column)
        return place

    def _written_tag(self, place: Place) -> str:
        return place.text[place.column - 1 : place.column + 60].split(" ")[0]
