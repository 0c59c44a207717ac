"""Building on another variant: trees merged so that each value keeps the place it came from.

Mappings merge, lists and single values replace, ``null`` removes. Decides nothing about what keys mean, except that what a
file says about itself stays with that file.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from functools import lru_cache
from typing import Final

from chilkoot.language.codes import Report
from chilkoot.language.diagnostics import Source
from chilkoot.language.nodes import Entry, Mapping, Node, Scalar, parse
from chilkoot.language.read import Given, read_keys
from chilkoot.language.schema import KEYS
from chilkoot.language.words import nearest, quoted

__all__ = ["ABOUT_KEYS", "MAX_EXTENDS", "Loader", "leaves", "merge", "resolve", "without"]

Loader = Callable[[str], Source | None]
"""Finds the file of a variant by its id."""

MAX_EXTENDS: Final = 8

ABOUT_KEYS: Final = frozenset(key.path for key in KEYS if key.is_about and "." not in key.path)
"""What a file says about itself: never inherited."""


def resolve(
    root: Mapping, source: Source, loader: Loader, report: Report, ids: Collection[str] = ()
) -> Mapping | None:
    """The tree that `root` extends, itself resolved; an empty one where it extends nothing; None where that failed.

    `ids` are variants to suggest where a name is misspelt.
    """
    given = _links(root, report)
    chain = [source.id]
    trees: list[Mapping] = []
    own = given.value_place("extends") if given.has("extends") else root.place
    while "extends" in given.values:
        wanted, place = str(given.values["extends"]), given.value_place("extends")
        if wanted in chain:
            path = " → ".join([*chain, wanted])
            report.say(
                "R202", own, f"{quoted(wanted)} extends itself: {path}", "let one of them stand by itself"
            )
            return None
        if len(chain) > MAX_EXTENDS:
            report.say(
                "R203", own, f"more than {MAX_EXTENDS} variants that extend each other: {' → '.join(chain)} …"
            )
            return None
        found = loader(wanted)
        if found is None:
            near = nearest(wanted, sorted(ids))
            hint = (
                f'did you mean "{near}"?'
                if near
                else "it is looked for beside this file, then in the folders of rules"
            )
            report.say("R201", place, f"there is no variant {quoted(wanted)} to extend", hint)
            return None
        tree = _clean_tree(found) or parse(found, report)
        if tree is None:
            return None
        chain.append(wanted)
        trees.append(
            Mapping({name: one for name, one in tree.entries.items() if name not in ABOUT_KEYS}, tree.place)
        )
        given = _links(tree, report)
    if given.broken:
        return None
    below = Mapping({}, root.place)
    for tree in reversed(trees):
        below = merge(below, tree, None)
    return below


@lru_cache(64)
def _clean_tree(source: Source) -> Mapping | None:
    """The tree of a file that nothing is to be said of. Many variants extend a few, which were read again for each."""
    quiet = Report()
    tree = parse(source, quiet)
    return None if quiet.diagnostics else tree


def _links(root: Mapping, report: Report) -> Given:
    given = {name: entry for name, entry in root.entries.items() if not _is_null(entry.value)}
    return read_keys(Mapping(given, root.place), frozenset({"dsl", "extends"}), report)


def merge(below: Mapping, above: Mapping, report: Report | None) -> Mapping:
    """Put one tree over another; where `report` is given, it is told of each ``null`` that removes nothing."""
    entries = dict(below.entries)
    for name, entry in above.entries.items():
        old = entries.get(name)
        if _is_null(entry.value):
            if old is None and report is not None:
                report.say("R504", entry.value.place, f"there is no {quoted(name)} to remove", "leave it out")
            entries.pop(name, None)
        elif isinstance(entry.value, Mapping):
            base = (
                old.value
                if old is not None and isinstance(old.value, Mapping)
                else Mapping({}, entry.value.place)
            )
            value = (
                _merge_levels(base, entry.value, report)
                if name == "levels"
                else merge(base, entry.value, report)
            )
            entries[name] = Entry(entry.key, value)
        else:
            entries[name] = entry
    return Mapping(entries, above.place)


def _merge_levels(below: Mapping, above: Mapping, report: Report | None) -> Mapping:
    # What a level removes is removed from the variant, later; here the level is only put together.
    levels = merge(
        below,
        Mapping({n: one for n, one in above.entries.items() if _is_null(one.value)}, above.place),
        report,
    )
    entries = dict(levels.entries)
    for name, entry in above.entries.items():
        if not _is_null(entry.value):
            old = entries.get(name)
            entries[name] = Entry(entry.key, _overlay(old.value if old is not None else None, entry.value))
    return Mapping(entries, above.place)


def _overlay(below: Node | None, above: Node) -> Node:
    """Like `merge`, but a ``null`` stays where it is."""
    if not isinstance(above, Mapping) or not isinstance(below, Mapping):
        return above
    entries = dict(below.entries)
    for name, entry in above.entries.items():
        old = entries.get(name)
        entries[name] = Entry(entry.key, _overlay(old.value if old is not None else None, entry.value))
    return Mapping(entries, above.place)


def _is_null(node: Node) -> bool:
    return isinstance(node, Scalar) and node.value is None


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
