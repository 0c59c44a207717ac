"""YAML text as nodes: what is typed, what stays text, and where everything stands."""

from __future__ import annotations

import pytest

from chilkoot.language.codes import Report
from chilkoot.language.diagnostics import Source
from chilkoot.language.nodes import Mapping, Node, Scalar, Sequence, parse


def tree(text: str) -> Mapping:
    report = Report()
    root = parse(Source("x.yaml", "x", text), report)
    assert report.diagnostics == []
    assert root is not None
    return root


def at(root: Node, *path: str | int) -> Node:
    for step in path:
        if isinstance(step, int):
            assert isinstance(root, Sequence)
            root = root.items[step]
        else:
            assert isinstance(root, Mapping)
            root = root.entries[step].value
    return root


def scalar(root: Node, *path: str | int) -> Scalar:
    node = at(root, *path)
    assert isinstance(node, Scalar)
    return node


@pytest.mark.parametrize(
    ("text", "value"),
    (
        ("true", True),
        ("false", False),
        ("null", None),
        ("0", 0),
        ("7", 7),
        ("-12", -12),
        ("123456789012345678", 123456789012345678),
        *(
            (word, word)
            for word in ("True", "no", "No", "off", "on", "yes", "y", "~", "Null", "NULL", "=", "<<x")
        ),
        *(
            (word, word)
            for word in ("010", "0x1F", "0o17", "1_000", "1:30", "1.0", "1e3", ".inf", ".nan", "+1", "-0x1")
        ),
        *((word, word) for word in ("2024-01-01", "12345678901234567890", "9" * 400)),
        ("'true'", "true"),
        ('"7"', "7"),
        ("'null'", "null"),
        (".UUUUUU *4", ".UUUUUU *4"),
        ("<UU.", "<UU."),
    ),
)
def test_only_true_false_null_and_plain_integers_are_typed(text: str, value: object) -> None:
    found = scalar(tree(f"key: {text}\n"), "key").value
    assert found == value
    assert type(found) is type(value)


def test_places_count_characters_from_one() -> None:
    root = tree("é😀: x\ndeal:\n  - {cells: ['a b', \"ü\"]}\n")
    assert isinstance(root, Mapping)
    places = [root.entries["é😀"].key.place, scalar(root, "é😀").place]
    places += [scalar(root, "deal", 0, "cells", 0).place, scalar(root, "deal", 0, "cells", 1).place]
    assert [(one.line, one.column, one.end) for one in places] == [
        (1, 1, 3),
        (1, 5, 6),
        (3, 14, 19),
        (3, 21, 24),
    ]
    whole = at(root, "deal", 0).place
    assert (whole.line, whole.column, whole.end) == (3, 5, 26)


def test_windows_line_ends_count_as_one() -> None:
    source = Source("x.yaml", "x", "name: a\r\nfamily: b\r\n")
    root = parse(source, Report())
    assert root is not None
    assert scalar(root, "family").place.line == 2
    assert scalar(root, "name").text == "a"


def test_a_value_over_several_lines_is_shown_by_its_first() -> None:
    place = scalar(tree("name: one\n  two\nsummary: |\n  more\n"), "name").place
    assert (place.line, place.column, place.end, place.text) == (1, 7, 10, "name: one")


def test_part_of_a_text_has_a_place_of_its_own_where_it_is_written_as_it_reads() -> None:
    root = tree("a: UUX\nb: 'UUX'\nc: \"\\x55UX\"\n")
    assert scalar(root, "a").part(2, 3).column == 6
    assert scalar(root, "b").part(2, 3).column == 7
    assert scalar(root, "c").part(2, 3) == scalar(root, "c").place


def test_reading_goes_on_after_what_is_refused() -> None:
    report = Report()
    root = parse(Source("x", "x", "a: &b 1\na: 2\n<<: 3\nc: !d 4\ne: *b\nf: 5\n"), report)
    assert root is not None
    assert list(root.entries) == ["a", "c", "e", "f"]
    assert [one.code for one in report.diagnostics] == ["R007", "R009", "R012", "R008", "R007"]


def test_what_is_refused_as_a_whole_gives_no_tree() -> None:
    for text in ("", "[1, 2]", "a: [", "a\x00b: c", "just words", "a: 1\n\tb: 2\n", "[" * 100):
        report = Report()
        assert parse(Source("x", "x", text), report) is None
        assert report.errors == 1
