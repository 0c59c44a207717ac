"""Nodes to rules: every key looked up in the schema, every value read, defaults that depend on other keys filled in.

Decides what a file says; whether that makes a game is decided by ``checks``, whether each key matters by ``effects``. What
could not be read is remembered, so that no later check complains about a value that nobody gave.
"""

from __future__ import annotations

from typing import Final

import msgspec

from chilkoot.language.codes import Report
from chilkoot.language.diagnostics import Place
from chilkoot.language.nodes import Entry, Mapping, Node, Scalar, Sequence
from chilkoot.language.pictures import WrittenPass, read_deal
from chilkoot.language.rules import Rules
from chilkoot.language.schema import KEYS, Choice, Deal, Flag, Key, Levels, Number, Section, Tests, keys_of
from chilkoot.language.values import Broken, Value, kind_of, read_value
from chilkoot.language.words import listed, nearest, quoted

__all__ = ["RULE_KEYS", "Given", "check_keys", "read_keys", "read_rules", "report_unknown"]

RULE_KEYS: Final = frozenset(Rules.__struct_fields__)
"""The keys of a file that make its rules, and may differ between levels."""


class Given:
    """What a file gives: values and where they are written, by paths such as ``tableau[0].build.suit``."""

    def __init__(self) -> None:
        self.values: dict[str, Value] = {}
        self.entries: dict[str, Entry] = {}
        self.broken: set[str] = set()
        self.groups: dict[str, int] = {"tableau": 1, "foundations": 1}
        self.group_places: dict[str, Place] = {}
        self.passes: list[WrittenPass] = []

    def has(self, path: str) -> bool:
        """Whether the file gives that key, readable or not."""
        return path in self.entries

    def key_place(self, path: str) -> Place:
        """Where the key is written."""
        return self.entries[path].key.place

    def value_place(self, path: str) -> Place:
        """Where the value is written."""
        return self.entries[path].value.place

    def nearest_place(self, *paths: str) -> Place | None:
        """The value's place of the first of these keys that is given."""
        return next((self.value_place(path) for path in paths if path in self.entries), None)

    def is_sound(self, *prefixes: str) -> bool:
        """Whether all that is given at and below these paths could be read, and all that they stand in."""
        return not any(
            _holds(prefix, broken) or _holds(broken, prefix) for broken in self.broken for prefix in prefixes
        )

    def below(self, path: str) -> dict[str, Value]:
        """The values below a path as nested mappings."""
        nested: dict[str, Value] = {}
        for key, value in self.values.items():
            if key.startswith(f"{path}."):
                *sections, name = key.removeprefix(f"{path}.").split(".")
                inner = nested
                for section in sections:
                    inner = _child(inner, section)
                inner[name] = value
        return nested


def _holds(outer: str, inner: str) -> bool:
    return inner == outer or inner.startswith((f"{outer}.", f"{outer}["))


def _child(mapping: dict[str, Value], name: str) -> dict[str, Value]:
    child = mapping.setdefault(name, {})
    assert isinstance(child, dict)
    return child


def read_keys(root: Mapping, names: frozenset[str], report: Report) -> Given:
    """Read those keys of a file that are in `names`; others are not looked at."""
    given = Given()
    for name, key in keys_of("").items():
        if name in names and name in root.entries:
            _read_key(key, root.entries[name], name, given, report)
    return given


def check_keys(
    root: Mapping, report: Report, *, allowed: frozenset[str] | None = None, where: str = ""
) -> set[str]:
    """Report the keys of a file (or of a level, `where`) that don't exist there; the keys most likely meant."""
    known = [name for name in keys_of("") if allowed is None or name in allowed]
    meant = set()
    for name, entry in root.entries.items():
        if name not in known:
            near = report_unknown(report, entry, where, known)
            if near:
                meant.add(near)
    return meant


def read_rules(root: Mapping, report: Report, *, meant: set[str]) -> tuple[Given, Rules]:
    """The rules that a whole file gives, with defaults for what could not be read; `meant` are keys misspelt at the top."""
    given = read_keys(root, RULE_KEYS, report)
    given.broken |= meant
    if "deal" not in root.entries and "deal" not in given.broken:
        report.say(
            "R109",
            Place(root.place.file, 1, 1, 2),
            '"deal" is missing',
            'say how the cards are dealt, or build on a variant with "extends"',
        )
        given.broken.add("deal")
    _require_counts(given, report)
    return given, _rules(given)


def report_unknown(report: Report, entry: Entry, section: str, known: list[str]) -> str | None:
    """Report an unknown key with the best help there is; the key that was most likely meant."""
    name = entry.key.text
    where = f" in {quoted(section)}" if section else ""
    message = f"unknown key {quoted(name)}{where}"
    if report.is_full:
        report.say("R102", entry.key.place, message)
        return None
    near = nearest(name, known)
    elsewhere = [
        key.path for key in KEYS if key.path.rpartition(".")[2] == name and not key.path.startswith("tests.")
    ]
    if near is not None:
        hint = f'did you mean "{near}"?'
    elif name in elsewhere:
        hint = f"{quoted(name)} belongs to the whole file"
    elif elsewhere:
        hint = f"write it as {listed(elsewhere[:4])}"
    elif (other := nearest(name, _ALL_NAMES)) is not None:
        path = next(key.path for key in KEYS if key.path.rpartition(".")[2] == other)
        hint = f"did you mean {path}?"
    else:
        hint = f"the keys here are {listed(known, 'and')}"
    report.say("R102", entry.key.place, message, hint)
    return near


_ALL_NAMES: Final = sorted({key.path.rpartition(".")[2] for key in KEYS})


def _read_key(key: Key, entry: Entry, path: str, given: Given, report: Report) -> None:
    given.entries[path] = entry
    node = entry.value
    if isinstance(node, Scalar) and node.is_plain and not node.text:
        report.say(
            "R108",
            entry.key.place,
            f"{quoted(entry.key.text)} has nothing after it",
            'write a value, "null" to remove one, or leave the key out',
        )
        given.broken.add(path)
    elif isinstance(key.kind, Section):
        _read_section(key, node, path, given, report)
    elif isinstance(key.kind, Deal):
        given.passes, is_whole = read_deal(node, report)
        given.values[path] = tuple(one.rule for one in given.passes)
        if not is_whole:
            given.broken.add(path)
    elif isinstance(key.kind, Levels | Tests):
        given.values[path] = node
    else:
        value = read_value(key.kind, node, entry.key.text, report)
        if isinstance(value, Broken):
            given.broken.add(path)
        else:
            given.values[path] = value


def _read_section(key: Key, node: Node, path: str, given: Given, report: Report) -> None:
    many = isinstance(key.kind, Section) and key.kind.many
    if isinstance(node, Mapping):
        inner = f"{path}[0]" if many else path
        given.group_places[inner] = node.place
        _read_mapping(key, node, inner, given, report)
    elif many and isinstance(node, Sequence):
        _read_groups(key, node, path, given, report)
    else:
        given.broken.add(path)
        wanted = "a mapping or a list of mappings" if many else "a mapping"
        hint = _section_hint(key, node)
        report.say("R101", node.place, f"{quoted(key.path)} takes {wanted}, not {kind_of(node)}", hint)


def _section_hint(key: Key, node: Node) -> str:
    """``cells: 3`` most likely means ``cells: {count: 3}``."""
    name, known = key.path.rpartition(".")[2], keys_of(key.path)
    if isinstance(node, Scalar):
        for child in known.values():
            if isinstance(child.kind, Choice | Number | Flag):
                quiet = Report()
                if not isinstance(read_value(child.kind, node, name, quiet), Broken):
                    return f"did you mean {name}: {{{child.path.rpartition('.')[2]}: {node.text}}}?"
    return f"its keys are {listed(known, 'and')}, indented below it"


def _read_groups(key: Key, node: Sequence, path: str, given: Given, report: Report) -> None:
    if not 1 <= len(node.items) <= 32:
        given.broken.add(path)
        report.say("R110", node.place, f"{quoted(path)} has {len(node.items)} groups", "use 1 to 32")
        return
    given.groups[path] = len(node.items)
    for number, item in enumerate(node.items):
        inner = f"{path}[{number}]"
        given.group_places[inner] = item.place
        if isinstance(item, Mapping):
            _read_mapping(key, item, inner, given, report)
        else:
            given.broken.add(inner)
            report.say("R101", item.place, f"a group of {quoted(path)} is a mapping, not {kind_of(item)}")


def _read_mapping(key: Key, node: Mapping, path: str, given: Given, report: Report) -> None:
    known = keys_of(key.path)
    for name, entry in node.entries.items():
        if name in known:
            _read_key(known[name], entry, f"{path}.{name}", given, report)
        else:
            near = report_unknown(report, entry, key.path, list(known))
            # A near miss most likely was meant to give that key, so what follows from its default is not complained about.
            given.broken.add(f"{path}.{near}" if near else f"{path}.{name}")


def _require_counts(given: Given, report: Report) -> None:
    for section, name in (("tableau", "columns"), ("foundations", "count")):
        if given.groups[section] > 1:
            for number in range(given.groups[section]):
                path = f"{section}[{number}]"
                if not given.has(f"{path}.{name}") and given.is_sound(f"{path}.{name}"):
                    given.broken.add(f"{path}.{name}")
                    report.say(
                        "R109",
                        given.group_places[path],
                        f'"{name}" is missing',
                        f'each of several groups says how many: "{name}: 4"',
                    )


def _rules(given: Given) -> Rules:
    deck = given.below("deck")
    ranks = deck.get("ranks", tuple(range(13)))
    assert isinstance(ranks, tuple)
    low = deck.setdefault("low", 0 if 0 in ranks else ranks[0])
    start = low if isinstance(low, int) else 0
    deck["ranks"] = tuple(sorted(ranks, key=lambda rank: (rank - start) % 13))
    suits, packs = deck.get("suits", "CDHS"), deck.get("packs", 1)
    assert isinstance(suits, str)
    assert isinstance(packs, int)
    data: dict[str, Value] = {name: given.below(name) for name in RULE_KEYS}
    data["deck"] = deck
    data["deal"] = given.values.get("deal", ())
    data["setup"] = given.values.get("setup", ())
    data["goal"] = given.values.get("goal", {})
    data["tableau"] = [
        _columns(given.below(f"tableau[{number}]")) for number in range(given.groups["tableau"])
    ]
    data["foundations"] = [
        _foundations(given.below(f"foundations[{number}]"), len(suits) * packs, low, len(ranks))
        for number in range(given.groups["foundations"])
    ]
    return msgspec.convert(data, Rules)


def _columns(data: dict[str, Value]) -> dict[str, Value]:
    build = {"suit": "alternate", "rank": "down", "wrap": False, **_child(data, "build")}
    # What holds together while it moves is what may be built, where nothing else is said.
    data["group"] = {**build, **_child(data, "group")}
    data["build"] = build
    return data


def _foundations(data: dict[str, Value], count: int, low: Value, length: int) -> dict[str, Value]:
    data.setdefault("count", count)
    data.setdefault("base", low)
    data["build"] = {"suit": "same", "rank": "up", "wrap": False, **_child(data, "build")}
    data["run"] = {"length": length, **_child(data, "run")}
    return data
