"""What a variant really says: every key with the value that holds, and where that value was written.

Writes rules back as YAML that reads back to the same rules. Decides nothing; which value holds is decided by ``read``.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from chilkoot.cards import RANKS
from chilkoot.language.read import RULE_KEYS, Given
from chilkoot.language.rules import DealPass, Part, Rules
from chilkoot.language.schema import Accepts, Key, Number, Rank, Ranks, Section, keys_of

__all__ = ["write_rules"]

_Line = tuple[str, str]
"""A line of YAML, and the path of the key in it where it has one."""


def write_rules(rules: Rules, given: Given | None = None) -> str:
    """The rules as YAML with every key; with `given` each line says where its value comes from."""
    lines = list(_section("", rules, "", 0))
    if given is None:
        return "".join(f"{line}\n" for line, _ in lines)
    # Long lines must not push all comments out of sight.
    width = min(max(len(line) for line, _ in lines), 48)
    return "".join(
        f"{line:<{width}}  # {_origin(path, given)}\n" if path else f"{line}\n" for line, path in lines
    )


def _origin(path: str, given: Given) -> str:
    entry = given.entries.get(path)
    return f"{entry.value.place.file}:{entry.value.place.line}" if entry else "default"


def _section(section: str, part: Part, path: str, depth: int) -> Iterator[_Line]:
    indent = "  " * depth
    for name, key in keys_of(section).items():
        if not section and name not in RULE_KEYS:
            continue
        value = _field(part, name)
        here = f"{path}.{name}" if path else name
        if isinstance(value, Part) and isinstance(key.kind, Section):
            yield f"{indent}{name}:", ""
            yield from _section(key.path, value, here, depth + 1)
        elif isinstance(value, tuple) and isinstance(key.kind, Section):
            yield f"{indent}{name}:", ""
            yield from _groups(key, value, here, depth + 1)
        elif name == "deal" and isinstance(value, tuple):
            yield f"{indent}{name}:{'' if value else ' []'}", here
            yield from ((f"{indent}  - {one}", "") for one in _passes(value))
        else:
            yield f"{indent}{name}: {_value(key, value)}", here


def _groups(key: Key, groups: tuple[Part, ...], path: str, depth: int) -> Iterator[_Line]:
    if len(groups) == 1:
        yield from _section(key.path, groups[0], f"{path}[0]", depth)
        return
    for number, group in enumerate(groups):
        mark = "  " * depth + "- "
        for line, here in _section(key.path, group, f"{path}[{number}]", depth + 1):
            yield mark + line[len(mark) :], here
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


def _value(key: Key, value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Part):
        kind, cards = _field(value, "kind"), _field(value, "cards")
        return f"{{cards_in_foundations: {cards}}}" if kind == "cards_in_foundations" else str(kind)
    if isinstance(key.kind, Rank | Ranks | Accepts):
        return _ranks(value)
    if isinstance(value, tuple):
        return f"[{', '.join(map(str, value))}]"
    if isinstance(key.kind, Number):
        return next(
            (word for word, one in key.kind.words.items() if one == value and one is not True), str(value)
        )
    return str(value)


def _ranks(value: object) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(_ranks(rank) for rank in value)}]"
    return RANKS[value] if isinstance(value, int) else str(value)
