"""Files of rules that are right: they compile without a word, and mean what is written beside them."""

from __future__ import annotations

from pathlib import Path

import pytest

from chilkoot.language import KEYS, Variant, render_text, write_rules
from chilkoot.language.codes import Report
from chilkoot.language.diagnostics import Source
from chilkoot.language.nodes import Mapping, Node, Scalar, Sequence, parse
from chilkoot.language.schema import Section
from chilkoot.library import Library, read_source
from variants import said_of

OK = Path(__file__).parent / "rules" / "ok"
LIBRARY = Library([OK])


def meaning(variant: Variant) -> str:
    """Every key of every level, with its value."""
    levels = (f"# level {level.number}\n{write_rules(level.rules)}" for level in variant.levels)
    return "\n".join(levels)


@pytest.mark.parametrize("name", LIBRARY.ids())
def test_a_right_file_means_what_is_written_beside_it(name: str, updates: bool) -> None:
    variant = LIBRARY.variant(name)
    assert variant is not None, render_text(said_of(LIBRARY))
    expected = OK / f"{name}.txt"
    if updates:
        expected.write_text(meaning(variant), encoding="utf-8")
    assert meaning(variant) == expected.read_text(encoding="utf-8")


def test_right_files_are_not_complained_about() -> None:
    assert render_text(said_of(LIBRARY)) == ""


def paths(node: Node, path: str = "") -> set[str]:
    """The keys that a tree gives, groups and levels as if they were mappings of their own."""
    if isinstance(node, Sequence):
        return {one for item in node.items for one in paths(item, path)}
    if isinstance(node, Scalar):
        return {path}
    found = {path}
    for name, entry in node.entries.items():
        inner = "" if path == "levels" else f"{path}.{name}".removeprefix(".")
        found |= paths(entry.value, inner)
    return found


def test_every_key_of_the_language_is_in_a_right_file() -> None:
    given: set[str] = set()
    for path in OK.glob("*.yaml"):
        source = read_source(path)
        assert isinstance(source, Source)
        root = parse(source, Report())
        assert isinstance(root, Mapping)
        given |= paths(root)
    assert {key.path for key in KEYS if not isinstance(key.kind, Section)} - given == set()
