"""Building on another variant: trees merged so that each value keeps the place it came from.

Mappings merge, lists and single values replace, ``null`` removes. Decides nothing about what keys mean, except that what a
file says about itself stays with that file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from chilkoot.language.codes import Report
from chilkoot.language.diagnostics import Source
from chilkoot.language.nodes import Entry, Mapping, Scalar, parse
from chilkoot.language.read import read_keys
from chilkoot.language.schema import KEYS
from chilkoot.language.words import plural, quoted

__all__ = ["ABOUT_KEYS", "MAX_EXTENDS", "Loader", "leaves", "merge", "resolve", "without"]

Loader = Callable[[str], Source | None]
"""Finds the file of a variant by its id."""

MAX_EXTENDS: Final = 8

ABOUT_KEYS: Final = frozenset(key.path for key in KEYS if key.is_about and "." not in key.path)
"""What a file says about itself: never inherited."""


def resolve(root: Mapping, source: Source, loader: Loader, report: Report) -> Mapping | None:
    """The tree that `root` extends, itself resolved; an empty one where it extends nothing; None where that failed."""
    return _resolve(root, loader, report, [source.id])


def _resolve(root: Mapping, loader: Loader, report: Report, chain: list[str]) -> Mapping | None:
    given = read_keys(root, frozenset({"dsl", "extends"}), report)
    if "extends" in given.broken:
        return None
    if "extends" not in given.values:
        return Mapping({}, root.place)
    wanted, place = str(given.values["extends"]), given.value_place("extends")
    if wanted in chain:
        path = " → ".join([*chain[chain.index(wanted) :], wanted])
        report.say("R202", place, f"{quoted(wanted)} extends itself: {path}")
        return None
    if len(chain) > MAX_EXTENDS:
        report.say(
            "R203", place, f"a chain of more than {plural(MAX_EXTENDS, 'variant')} that extend each other"
        )
        return None
    found = loader(wanted)
    if found is None:
        report.say(
            "R201",
            place,
            f"there is no variant {quoted(wanted)} to extend",
            "it is looked for beside this file, then in the folders of rules",
        )
        return None
    tree = parse(found, report)
    below = _resolve(tree, loader, report, [*chain, wanted]) if tree is not None else None
    if tree is None or below is None:
        return None
    inherited = {name: entry for name, entry in tree.entries.items() if name not in ABOUT_KEYS}
    return merge(below, Mapping(inherited, tree.place), None)


def merge(below: Mapping, above: Mapping, report: Report | None) -> Mapping:
    """Put one tree over another; where `report` is given, it is told of each ``null`` that removes nothing."""
    entries = dict(below.entries)
    for name, entry in above.entries.items():
        old = entries.get(name)
        if isinstance(entry.value, Scalar) and entry.value.value is None:
            if old is None and report is not None:
                report.say("R504", entry.value.place, f"there is no {quoted(name)} to remove", "leave it out")
            entries.pop(name, None)
        elif isinstance(entry.value, Mapping):
            base = (
                old.value
                if old is not None and isinstance(old.value, Mapping)
                else Mapping({}, entry.value.place)
            )
            entries[name] = Entry(entry.key, merge(base, entry.value, report))
        else:
            entries[name] = entry
    return Mapping(entries, above.place)


def leaves(root: Mapping) -> Iterator[tuple[tuple[str, ...], Entry]]:
    """Every entry of a tree whose value is no mapping, with the path to it."""
    for name, entry in root.entries.items():
        if isinstance(entry.value, Mapping):
            for path, leaf in leaves(entry.value):
                yield (name, *path), leaf
        else:
            yield (name,), entry


def without(root: Mapping, path: tuple[str, ...]) -> Mapping:
    """The tree without the entry at a path."""
    name, *rest = path
    entries = dict(root.entries)
    entry = entries[name]
    if rest:
        assert isinstance(entry.value, Mapping)
        entries[name] = Entry(entry.key, without(entry.value, tuple(rest)))
    else:
        del entries[name]
    return Mapping(entries, root.place)
