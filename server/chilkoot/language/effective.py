"""What a variant really says: every key with the value that holds, and where that value was written.

Writes rules back as YAML that reads back to the same rules. Decides nothing; which value holds is decided by ``read``.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

import msgspec

from chilkoot.cards import RANKS
from chilkoot.language.diagnostics import Place
from chilkoot.language.read import RULE_KEYS, Given
from chilkoot.language.rules import DealPass, Part, Rules
from chilkoot.language.schema import Accepts, Key, Number, Rank, Ranks, Section, keys_of

__all__ = ["Line", "Setting", "rule_lines", "settings", "write_rules"]

Plain = bool | int | str | list[str] | dict[str, int]
"""A value as it stands in YAML; ranks and words are text, and so is each picture of a deal."""


class Line(msgspec.Struct, frozen=True):
    """A line of YAML: the key that begins in it and its path, none of both in further lines of a list.

    A section has no value; its path is that of a group where it is one of several.
    """

    text: str
    path: str = ""
    key: Key | None = None
    value: Plain | None = None


class Setting(msgspec.Struct, frozen=True):
    """One key with the value that holds, and where that was written; `place` is None for a default."""

    path: str
    value: Plain
    place: Place | None


def write_rules(rules: Rules, given: Given | None = None) -> str:
    """The rules as YAML with every key; with `given` each line says where its value comes from."""
    lines = list(rule_lines(rules))
    if given is None:
        return "".join(f"{line.text}\n" for line in lines)
    # Long lines must not push all comments out of sight.
    width = min(max(len(line.text) for line in lines), 48)
    return "".join(
        f"{line.text}\n" if line.value is None else f"{line.text:<{width}}  # {_origin(line.path, given)}\n"
        for line in lines
    )


def settings(rules: Rules, given: Given) -> list[Setting]:
    """Every key with the value that holds and the place where it is written."""
    found = []
    for line in rule_lines(rules):
        if line.value is not None:
            entry = given.entries.get(line.path)
            found.append(
                Setting(
                    _shown(line.path, rules), line.value, entry.value.place if entry is not None else None
                )
            )
    return found


def rule_lines(rules: Rules) -> Iterator[Line]:
    """The rules as lines of YAML with every key, in the order of the language."""
    return _section("", rules, "", 0)


def _shown(path: str, rules: Rules) -> str:
    # Where there is one group, it is written without a number.
    for name, groups in (("tableau", rules.tableau), ("foundations", rules.foundations)):
        if len(groups) == 1 and path.startswith(f"{name}[0]"):
            return name + path.removeprefix(f"{name}[0]")
    return path


def _origin(path: str, given: Given) -> str:
    entry = given.entries.get(path)
    return f"{entry.value.place.file}:{entry.value.place.line}" if entry else "default"


def _section(section: str, part: Part, path: str, depth: int) -> Iterator[Line]:
    indent = "  " * depth
    for name, key in keys_of(section).items():
        if not section and name not in RULE_KEYS:
            continue
        value = _field(part, name)
        here = f"{path}.{name}" if path else name
        if isinstance(value, Part) and isinstance(key.kind, Section):
            yield Line(f"{indent}{name}:", here, key)
            yield from _section(key.path, value, here, depth + 1)
        elif isinstance(value, tuple) and isinstance(key.kind, Section):
            yield Line(f"{indent}{name}:", here, key)
            yield from _groups(key, value, here, depth + 1)
        elif name == "deal" and isinstance(value, tuple):
            passes = list(_passes(value))
            yield Line(f"{indent}{name}:{'' if passes else ' []'}", here, key, passes)
            yield from (Line(f"{indent}  - {one}") for one in passes)
        else:
            plain = _plain(key, value)
            yield Line(f"{indent}{name}: {_text(plain)}", here, key, plain)


def _groups(key: Key, groups: tuple[Part, ...], path: str, depth: int) -> Iterator[Line]:
    if len(groups) == 1:
        yield from _section(key.path, groups[0], f"{path}[0]", depth)
        return
    for number, group in enumerate(groups):
        mark = "  " * depth + "- "
        for line in _section(key.path, group, f"{path}[{number}]", depth + 1):
            yield msgspec.structs.replace(line, text=mark + line.text[len(mark) :])
            mark = " " * len(mark)


def _field(part: Part, name: str) -> object:
    # Fields are called as their keys, but where Python has the word for itself.
    at = part.__struct_encode_fields__.index(name)
    return getattr(part, part.__struct_fields__[at])


def _passes(passes: tuple[DealPass, ...]) -> Iterator[str]:
    for one, same in groupby(passes):
        times = len(list(same))
        picture = f"{'<' if one.leftward else ''}{one.picture}" + (f" *{times}" if times > 1 else "")
        if one.rank is not None:
            yield from [f'{{{one.zone}: "{RANKS[one.rank]}*{one.take}"}}'] * times
        else:
            yield picture if one.zone == "tableau" else f"{{{one.zone}: {picture}}}"


def _plain(key: Key, value: object) -> Plain:
    if isinstance(value, bool):
        return value
    if isinstance(value, Part):
        kind, cards = _field(value, "kind"), _field(value, "cards")
        return {"cards_in_foundations": int(str(cards))} if kind == "cards_in_foundations" else str(kind)
    if isinstance(key.kind, Accepts) and isinstance(value, tuple) and len(value) == 1:
        return _rank(value[0])
    if isinstance(key.kind, Rank | Ranks | Accepts):
        return [_rank(rank) for rank in value] if isinstance(value, tuple) else _rank(value)
    if isinstance(value, tuple):
        return [str(one) for one in value]
    if isinstance(key.kind, Number):
        word = next((word for word, one in key.kind.words.items() if one == value), None)
        return word if word is not None else int(str(value))
    return str(value)


def _rank(value: object) -> str:
    return RANKS[value] if isinstance(value, int) else str(value)


def _text(value: Plain) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "".join(f"{{{name}: {number}}}" for name, number in value.items())
    return f"[{', '.join(value)}]" if isinstance(value, list) else str(value)
