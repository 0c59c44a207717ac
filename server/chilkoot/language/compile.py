"""From a file's text to a variant, or to everything that is wrong with it.

Decides the order of the steps: nodes, what the file extends, keys, levels, checks, and what changes nothing. It opens no
file: a loader finds the files that others extend.
"""

from __future__ import annotations

import re
from typing import Final

import msgspec

from chilkoot.language.checks import check_rules
from chilkoot.language.codes import Report
from chilkoot.language.diagnostics import Diagnostic, Place, Severity, Source, in_order
from chilkoot.language.effects import check_effects
from chilkoot.language.merge import ABOUT_KEYS, Loader, leaves, merge, resolve, without
from chilkoot.language.nodes import Entry, Mapping, Node, Scalar, parse
from chilkoot.language.read import RULE_KEYS, Given, check_keys, read_keys, read_rules
from chilkoot.language.rules import Level, Rules, Variant, VariantTest, rules_hash
from chilkoot.language.samples import read_tests
from chilkoot.language.schema import ID_PATTERN
from chilkoot.language.values import kind_of
from chilkoot.language.words import quoted

__all__ = ["check_text", "compile_variant", "name_of_id"]

_LEVEL: Final = re.compile("[1-9][0-9]?")
_NAMES: Final = frozenset({"name", "family", "aka", "summary", "credits", "source", "default_level"})
# What may stand in a file and change nothing without a warning.
_EXEMPT: Final = ABOUT_KEYS | {"family"}


def compile_variant(source: Source, loader: Loader) -> tuple[Variant | None, list[Diagnostic]]:
    """Compile a file; no variant when there is an error. Diagnostics are in the order of their places, own file first."""
    report = Report()
    variant = _compile(source, loader, report)
    kept = [
        one
        for one in report.diagnostics
        # Warnings about an extended file are told to whoever checks that file.
        if one.severity is Severity.ERROR or one.place.file == source.name
    ]
    return variant, in_order(kept, source.name)


def check_text(
    text: str, *, name: str = "-", variant: str = "variant", loader: Loader | None = None
) -> list[Diagnostic]:
    """The diagnostics of a text that is no file, such as standard input."""
    return compile_variant(Source(name, variant, text), loader or _no_files)[1]


def name_of_id(variant: str) -> str:
    """What a variant is called that has no name: ``yukon-cells`` is Yukon Cells."""
    return " ".join(word.capitalize() for word in variant.split("-") if word)


def _no_files(_variant: str) -> Source | None:
    return None


class _Tree(msgspec.Struct, frozen=True):
    """A file's own tree, what it extends, and both merged; `is_whole` unless what it extends is missing."""

    own: Mapping
    below: Mapping
    merged: Mapping
    is_whole: bool


def _compile(source: Source, loader: Loader, report: Report) -> Variant | None:
    if not re.fullmatch(ID_PATTERN, source.id):
        report.say(
            "R015",
            Place(source.name, 1, 1, 2),
            f"{quoted(source.id)} can't be the id of a variant",
            "name the file with lower-case letters, digits and hyphens, a letter first",
        )
    own = parse(source, report)
    if own is None:
        return None
    below = resolve(own, source, loader, report)
    tree = _Tree(
        own,
        below or Mapping({}, own.place),
        merge(below or Mapping({}, own.place), own, report),
        below is not None,
    )
    about = read_keys(tree.merged, _NAMES, report)
    levels = _levels(tree, report)
    default = _default_level(about, tree, levels, report)
    tests: tuple[VariantTest, ...] = ()
    if "tests" in tree.merged.entries and tree.is_whole:
        tests = read_tests(tree.merged.entries["tests"].value, levels, default, report)
    if report.errors or not tree.is_whole:
        return None
    _check_overrides(tree, levels, default, report)
    values = about.values
    return Variant(
        id=source.id,
        name=str(values.get("name", name_of_id(source.id))),
        family=str(values.get("family", "")),
        aka=msgspec.convert(values.get("aka", ()), tuple[str, ...]),
        summary=str(values.get("summary", "")),
        credits=str(values.get("credits", "")),
        source=str(values.get("source", "")),
        levels=levels,
        default_level=default,
        tests=tests,
        text=source.text,
    )


def _levels(tree: _Tree, report: Report) -> tuple[Level, ...]:
    meant = check_keys(tree.merged, report)
    common = Mapping(
        {name: entry for name, entry in tree.merged.entries.items() if name in RULE_KEYS}, tree.merged.place
    )
    node = tree.merged.get("levels")
    overrides = _overrides(node, report) if node is not None else {}
    if not overrides:
        given, rules = _read_level(common, tree, report, meant)
        if not report.errors and tree.is_whole:
            check_effects(given, rules, report)
        return (Level(number=None, rules=rules, hash=rules_hash(rules)),)
    read: dict[int, tuple[Given, Rules]] = {}
    for number, override in sorted(overrides.items()):
        assert isinstance(override.value, Mapping)
        here = check_keys(override.value, report, allowed=RULE_KEYS, where=f"levels.{number}")
        read[number] = _read_level(merge(common, override.value, report), tree, report, meant | here)
    if not report.errors and tree.is_whole:
        _warn_of_levels(read, report)
    levels = tuple(
        Level(number=number, rules=rules, hash=rules_hash(rules)) for number, (_, rules) in read.items()
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


def _read_level(root: Mapping, tree: _Tree, report: Report, meant: set[str]) -> tuple[Given, Rules]:
    if not tree.is_whole:
        # Most likely the deal is in the file that is missing.
        meant = meant | {"deal"}
    given, rules = read_rules(root, report, meant=meant)
    if tree.is_whole:
        top = Place(tree.own.place.file, 1, 1, 2)
        check_rules(given, rules, top, report)
    return given, rules


def _warn_of_levels(read: dict[int, tuple[Given, Rules]], report: Report) -> None:
    """A key has no effect when it has none on every level that has it."""
    said: list[tuple[set[Place], list[Diagnostic]]] = []
    for given, rules in read.values():
        alone = Report()
        check_effects(given, rules, alone)
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


def _default_level(about: Given, tree: _Tree, levels: tuple[Level, ...], report: Report) -> int | None:
    numbers = [level.number for level in levels if level.number is not None]
    wanted = about.values.get("default_level")
    if not isinstance(wanted, int):
        return min(numbers, default=None)
    if wanted not in numbers and tree.is_whole and not _has_broken_levels(tree, numbers):
        hint = f"use one of {', '.join(map(str, numbers))}" if numbers else "this variant has no levels"
        report.say("R205", about.value_place("default_level"), f"there is no level {wanted}", hint)
    return wanted


def _has_broken_levels(tree: _Tree, numbers: list[int]) -> bool:
    node = tree.merged.get("levels")
    return node is not None and (not isinstance(node, Mapping) or len(node.entries) != len(numbers))


def _check_overrides(tree: _Tree, levels: tuple[Level, ...], default: int | None, report: Report) -> None:
    """Take out each override in turn: where the same game is left, it changed nothing."""
    same = ([(level.number, level.hash) for level in levels], default)
    said = {one.place for one in report.diagnostics}
    for path, entry in leaves(tree.own):
        may_be_idle = path[0] == "levels" or bool(tree.below.entries)
        places = {entry.key.place, entry.value.place}
        if path[0] in _EXEMPT or not may_be_idle or places & said:
            continue
        merged = merge(tree.below, without(tree.own, path), None)
        quiet = Report()
        rest = _Tree(tree.own, tree.below, merged, is_whole=True)
        others = _levels(rest, quiet)
        other_default = _default_level(
            read_keys(merged, frozenset({"default_level"}), quiet), rest, others, quiet
        )
        if not quiet.errors and ([(level.number, level.hash) for level in others], other_default) == same:
            where = "the rest of the variant" if path[0] == "levels" else quoted(_extended(tree))
            report.say(
                "R502",
                entry.key.place,
                f"{quoted('.'.join(path))} changes nothing: {where} says the same",
                "leave it out",
            )


def _extended(tree: _Tree) -> str:
    node = tree.own.get("extends")
    return node.text if isinstance(node, Scalar) else ""
