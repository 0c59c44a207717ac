"""The levels of a variant: what each says, put over the rest of the file, read and checked as a game of its own.

Decides what `levels` may hold and which level is the default. A variant without levels is read here too, as one level
without a number.
"""

from __future__ import annotations

import re
from typing import Final

import msgspec

from chilkoot.language.checks import check_rules
from chilkoot.language.codes import Report
from chilkoot.language.diagnostics import Diagnostic, Place
from chilkoot.language.effects import check_effects
from chilkoot.language.merge import merge
from chilkoot.language.nodes import Entry, Mapping, Node, Scalar
from chilkoot.language.read import RULE_KEYS, Given, check_keys, read_keys, read_rules
from chilkoot.language.rules import Level, Rules, rules_hash
from chilkoot.language.values import kind_of
from chilkoot.language.words import plural, quoted

__all__ = ["MAX_LEVELS", "Tree", "default_level", "level_tree", "read_levels"]

MAX_LEVELS: Final = 20
_LEVEL: Final = re.compile("[1-9][0-9]?")


class Tree(msgspec.Struct, frozen=True):
    """A file's own tree, what it extends, and both merged; `is_whole` unless what it extends is missing."""

    own: Mapping
    below: Mapping
    merged: Mapping
    is_whole: bool


def level_tree(merged: Mapping, number: int | None) -> Mapping:
    """The whole of what holds on a level of a file without errors."""
    node = merged.get("levels")
    override = node.get(str(number)) if isinstance(node, Mapping) else None
    return merge(merged, override, None) if isinstance(override, Mapping) else merged


def read_levels(tree: Tree, report: Report) -> tuple[Level, ...]:
    """The levels of a variant, lowest first, with all that is wrong with them in `report`."""
    meant = check_keys(tree.merged, report)
    common = Mapping(
        {name: entry for name, entry in tree.merged.entries.items() if name in RULE_KEYS}, tree.merged.place
    )
    node = tree.merged.get("levels")
    overrides = _overrides(node, report) if node is not None else {}
    if not overrides:
        given, rules, is_game = _read_level(common, tree, report, meant)
        if tree.is_whole and not report.errors_only:
            check_effects(given, rules, tree.own.place.file, report, is_game=is_game)
        return (Level(number=None, rules=rules, hash=rules_hash(rules)),)
    # What every level replaces is checked all the same.
    read_keys(common, RULE_KEYS, report)
    read: dict[int, tuple[Given, Rules, bool]] = {}
    for number, override in sorted(overrides.items()):
        assert isinstance(override.value, Mapping)
        here = check_keys(override.value, report, allowed=RULE_KEYS, where=f"levels.{number}")
        read[number] = _read_level(merge(common, override.value, report), tree, report, meant | here)
    if tree.is_whole and not report.errors_only:
        _warn_of_levels(read, tree.own.place.file, report)
    levels = tuple(
        Level(number=number, rules=rules, hash=rules_hash(rules)) for number, (_, rules, _) in read.items()
    )
    _warn_of_equal_levels(levels, overrides, report)
    return levels


def _overrides(node: Node, report: Report) -> dict[int, Entry]:
    if not isinstance(node, Mapping):
        report.say(
            "R101", node.place, f'"levels" takes a mapping, not {kind_of(node)}', "write {1: {…}, 2: {…}}"
        )
        return {}
    if not node.entries:
        report.say("R204", node.place, '"levels" names no level', "leave it out")
    if len(node.entries) > MAX_LEVELS:
        report.say("R204", node.place, plural(len(node.entries), "level"), f"use at most {MAX_LEVELS}")
        return {}
    overrides = {}
    for name, entry in node.entries.items():
        value = entry.value
        if not _LEVEL.fullmatch(name):
            report.say(
                "R204", entry.key.place, f"{quoted(name)} is not a level", "levels are numbers from 1 to 99"
            )
        elif isinstance(value, Scalar) and value.is_plain and not value.text:
            report.say(
                "R108",
                entry.key.place,
                f"level {name} has nothing after it",
                f'write "{name}: {{}}" for a level without changes',
            )
        elif not isinstance(value, Mapping):
            report.say(
                "R101",
                value.place,
                f"a level is a mapping, not {kind_of(value)}",
                "write what differs, or {} for nothing",
            )
        else:
            overrides[int(name)] = entry
    return overrides


def _read_level(root: Mapping, tree: Tree, report: Report, meant: set[str]) -> tuple[Given, Rules, bool]:
    """What a level gives, the rules it comes to, and whether they make a game."""
    if not tree.is_whole:
        # Most likely the deal is in the file that is missing.
        meant = meant | {"deal"}
    given, rules = read_rules(root, report, meant=meant)
    found = report.errors
    if tree.is_whole:
        top = Place(tree.own.place.file, 1, 1, 2)
        check_rules(given, rules, top, report)
    return given, rules, report.errors == found


def _warn_of_levels(read: dict[int, tuple[Given, Rules, bool]], file: str, report: Report) -> None:
    """A key has no effect when it has none on every level that has it."""
    said: list[tuple[set[Place], list[Diagnostic]]] = []
    for given, rules, is_game in read.values():
        alone = Report()
        check_effects(given, rules, file, alone, is_game=is_game)
        said.append(({entry.key.place for entry in given.entries.values()}, alone.diagnostics))
    for _, diagnostics in said:
        for one in diagnostics:
            on_all = all(
                one.place not in places or any(other.place == one.place for other in others)
                for places, others in said
            )
            if on_all:
                report.say(one.code, one.place, one.message, one.help)


def _warn_of_equal_levels(levels: tuple[Level, ...], overrides: dict[int, Entry], report: Report) -> None:
    first: dict[str, int | None] = {}
    for level in levels:
        if level.hash in first and level.number is not None:
            place = overrides[level.number].key.place
            report.say(
                "R503",
                place,
                f"level {level.number} is the same game as level {first[level.hash]}",
                "leave one out",
            )
        first.setdefault(level.hash, level.number)


def default_level(about: Given, tree: Tree, levels: tuple[Level, ...], report: Report) -> int | None:
    """The level that is played where none is named; None where a variant has no levels."""
    numbers = [level.number for level in levels if level.number is not None]
    lowest = min(numbers, default=None)
    wanted = about.values.get("default_level")
    if not isinstance(wanted, int) or wanted in numbers:
        return wanted if isinstance(wanted, int) else lowest
    place = about.value_place("default_level")
    if place.file == tree.own.place.file and tree.is_whole and not _has_broken_levels(tree, numbers):
        hint = f"use one of {', '.join(map(str, numbers))}" if numbers else "this variant has no levels"
        report.say("R205", place, f"there is no level {wanted}", hint)
    # An extended file means its own levels, which may have been taken away.
    return lowest


def _has_broken_levels(tree: Tree, numbers: list[int]) -> bool:
    node = tree.merged.get("levels")
    return node is not None and (not isinstance(node, Mapping) or len(node.entries) != len(numbers))
