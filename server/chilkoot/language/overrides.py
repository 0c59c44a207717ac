"""Overrides that change nothing: the same game is left when they are taken out.

Decides it by trying, so that it holds for every key there is and will be.
"""

from __future__ import annotations

from typing import Final

from chilkoot.language.codes import Report
from chilkoot.language.levels import Tree, default_level, read_levels
from chilkoot.language.merge import ABOUT_KEYS, leaves, merge, without
from chilkoot.language.nodes import Mapping, Node, Scalar, Sequence
from chilkoot.language.read import read_keys
from chilkoot.language.rules import Level
from chilkoot.language.words import quoted

__all__ = ["check_overrides"]

# What may stand in a file and change nothing without a warning.
_EXEMPT: Final = ABOUT_KEYS | {"family"}
_EFFORT: Final = 60_000
"""So many nodes are read again at most, for no file may take longer than a quarter of a second."""


def check_overrides(tree: Tree, levels: tuple[Level, ...], default: int | None, report: Report) -> None:
    """Take out each override of a variant in turn, and report it where the same game is left."""
    same = _identity(levels, default)
    said = {one.place for one in report.diagnostics}
    effort = len(levels) * _size(tree.merged)
    tries = _EFFORT // effort
    for path, entry in leaves(tree.own):
        # Which level is the default is no override where the levels are the file's own.
        may_be_idle = path[0] == "levels" or (
            bool(tree.below.entries) and (path[0] != "default_level" or "levels" in tree.below.entries)
        )
        if path[0] in _EXEMPT or not may_be_idle or {entry.key.place, entry.value.place} & said:
            continue
        tries -= 1
        if tries < 0:
            return
        rest = Tree(tree.own, tree.below, merge(tree.below, without(tree.own, path), None), is_whole=True)
        quiet = Report(errors_only=True)
        others = read_levels(rest, quiet)
        about = read_keys(rest.merged, frozenset({"default_level"}), quiet)
        if _identity(others, default_level(about, rest, others, quiet)) == same and not quiet.errors:
            why = (
                "the game is the same without it"
                if path[0] == "levels"
                else f"{_extended(tree)} says the same"
            )
            report.say(
                "R502", entry.key.place, f"{quoted('.'.join(path))} changes nothing: {why}", "leave it out"
            )


def _identity(levels: tuple[Level, ...], default: int | None) -> object:
    return [(level.number, level.hash) for level in levels], default


def _size(node: Node) -> int:
    if isinstance(node, Mapping):
        return 1 + sum(1 + _size(entry.value) for entry in node.entries.values())
    return 1 + (sum(map(_size, node.items)) if isinstance(node, Sequence) else 0)


def _extended(tree: Tree) -> str:
    node = tree.own.get("extends")
    return quoted(node.text) if isinstance(node, Scalar) else ""
