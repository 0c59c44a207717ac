"""Single values of the rules language: from a node to a plain value, or a diagnostic that says what would do.

Decides what one key takes (the kinds of ``schema``), never what keys mean together. Values come out as ``rules`` spells
them: ranks as numbers from 0, words that stand for a value (``unlimited``) as that value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final

from chilkoot.cards import RANKS, SUITS
from chilkoot.language.codes import Report
from chilkoot.language.nodes import Mapping, Node, Scalar, Sequence
from chilkoot.language.schema import (
    ID_PATTERN,
    Accepts,
    Choice,
    Flag,
    Goal,
    Id,
    Kind,
    ListOf,
    Number,
    Rank,
    Ranks,
    Suits,
    Text,
    Version,
)
from chilkoot.language.words import listed, nearest, plural, quoted

__all__ = ["BROKEN", "Broken", "Value", "kind_of", "read_rank", "read_value", "unknown_word"]


class Broken:
    """Stands for a value that could not be read, and about which all has been said."""


BROKEN: Final = Broken()

Value = object
_RANK_LIST: Final = "A, 2 to 10, J, Q or K"
# What YAML 1.1 readers turn into truth values and null.
_TRUE_WORDS: Final = frozenset({"yes", "on", "true", "y", "1"})
_FALSE_WORDS: Final = frozenset({"no", "off", "false", "n", "0"})
_NULL_WORDS: Final = frozenset({"~", "null", "none"})
# What people write for the words of the language.
_SYNONYMS: Final = (
    (_FALSE_WORDS | _NULL_WORDS | {"false", "nothing", "0"}, ("none", "never", "refuse")),
    (_TRUE_WORDS | {"true"}, ("allow", "always", "auto")),
    (
        frozenset({".inf", "inf", "infinite", "infinity", "endless", "all", "no limit", "any"}),
        ("unlimited", "always", "any"),
    ),
)
_RANK_ALIASES: Final = {"10": "T", "1": "A", "11": "J", "12": "Q", "13": "K", "14": "A"}


def read_value(kind: Kind, node: Node, name: str, report: Report) -> Value:
    """The value that `node` gives to the key `name`, or BROKEN when it can't be one."""
    if report.is_hopeless:
        return BROKEN
    reader = _READERS.get(type(kind))
    assert reader is not None, f"{kind} is not read as a single value"
    return reader(kind, node, name, report)


def kind_of(node: Node) -> str:
    """What a node is, as messages call it."""
    if isinstance(node, Mapping):
        return "a mapping"
    if isinstance(node, Sequence):
        return "a list"
    if node.value is None:
        return "null"
    if isinstance(node.value, bool):
        return f'"{node.text}"'
    return f"the number {node.text}" if isinstance(node.value, int) else quoted(node.text)


def unknown_word(
    report: Report, node: Scalar, name: str, words: Iterable[str], *, wanted: str = ""
) -> Broken:
    """Report a word that is not on the list, with the nearest one or all of them."""
    known = list(words)
    # Nobody reads the help of a diagnostic that is not kept.
    near = None if report.is_full else _synonym(node.text, known) or nearest(node.text, known)
    if near is None:
        hint = f"use {wanted or listed(known)}"
    elif near == node.text:
        hint = "write it without quotes"
    else:
        hint = f'did you mean "{near}"?'
    report.say("R103", node.place, f"{quoted(name)} can't be {kind_of(node)}", hint)
    return BROKEN


def _synonym(text: str, known: Iterable[str]) -> str | None:
    words = set(known)
    for meant, candidates in _SYNONYMS:
        if text.lower() in meant:
            return next((one for one in candidates if one in words), None)
    return None


def read_rank(node: Node, name: str, report: Report, words: Iterable[str] = ()) -> int | str | Broken:
    """A rank as a number from 0 (the ace) to 12 (the king), or one of `words`."""
    if not isinstance(node, Scalar):
        return _wrong_kind(report, node, name, "a rank")
    if isinstance(node.value, str) and node.value in set(words):
        return node.value
    text = _RANK_ALIASES["10"] if node.text == "10" else node.text
    if len(text) == 1 and text in RANKS:
        return RANKS.index(text)
    known = list(words)
    meant = _RANK_ALIASES.get(node.text) or node.text.strip()[:1].upper()
    near = nearest(node.text, known) if known and len(node.text) > 2 else None
    if near is not None:
        hint = f'did you mean "{near}"?'
    elif meant in RANKS and (
        node.text in _RANK_ALIASES or node.text.lower() in _RANK_NAMES or len(node.text) == 1
    ):
        hint = f'did you mean "{meant}"?'
    else:
        hint = f"use {listed([_RANK_LIST, *known])}"
    report.say("R107", node.place, f"{kind_of(node)} is not a rank", hint)
    return BROKEN


_RANK_NAMES: Final = frozenset({"ace", "jack", "queen", "king", "ten"})


def _scalar(node: Node, name: str, wanted: str, report: Report) -> Scalar | None:
    if isinstance(node, Scalar) and node.value is not None:
        return node
    _wrong_kind(report, node, name, wanted)
    return None


def _wrong_kind(report: Report, node: Node, name: str, wanted: str) -> Broken:
    report.say("R101", node.place, f"{quoted(name)} takes {wanted}, not {kind_of(node)}")
    return BROKEN


def _choice(kind: Choice, node: Node, name: str, report: Report) -> Value:
    scalar = _scalar(node, name, "a word", report)
    if scalar is None:
        return BROKEN
    if isinstance(scalar.value, str) and scalar.value in kind.words:
        return scalar.value
    return unknown_word(report, scalar, name, kind.words)


def _number(kind: Number, node: Node, name: str, report: Report) -> Value:
    wanted = listed([f"a number from {kind.low} to {kind.high}", *kind.words])
    scalar = _scalar(node, name, wanted, report)
    if scalar is None:
        return BROKEN
    value = scalar.value
    if isinstance(value, str) and value in kind.words:
        return kind.words[value]
    if isinstance(value, int) and not isinstance(value, bool):
        if kind.low <= value <= kind.high:
            return value
        report.say("R104", scalar.place, f"{quoted(name)} can't be {scalar.text}", f"use {wanted}")
        return BROKEN
    near = _synonym(scalar.text, kind.words) or nearest(scalar.text, list(kind.words))
    meant = _number_meant(scalar.text)
    if near is not None:
        hint = f'did you mean "{near}"?'
    elif meant is not None and kind.low <= meant <= kind.high:
        hint = f"did you mean {meant}?"
    else:
        hint = f"use {wanted}"
    report.say("R104", scalar.place, f"{quoted(name)} can't be {kind_of(scalar)}", hint)
    return BROKEN


def _number_meant(text: str) -> int | None:
    """The number that text most likely stands for: ``010`` is 10, ``1_000`` is 1000, ``seven`` is 7."""
    plain = text.strip().lower().replace("_", "").replace(",", "").lstrip("+")
    if plain in _NUMBER_WORDS:
        return _NUMBER_WORDS.index(plain)
    whole, _, rest = plain.partition(".")
    if re.fullmatch("[0-9]{1,9}", whole) and not rest.strip("0"):
        return int(whole)
    return None


_NUMBER_WORDS: Final = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
]


def _flag(kind: Flag, node: Node, name: str, report: Report) -> Value:  # noqa: ARG001  # all readers take the same
    scalar = _scalar(node, name, "true or false", report)
    if scalar is None:
        return BROKEN
    if isinstance(scalar.value, bool):
        return scalar.value
    word = scalar.text.lower()
    hint = "use true or false"
    if word in _TRUE_WORDS:
        hint = "did you mean true?" if word != scalar.text or word != "true" else "write true without quotes"
    elif word in _FALSE_WORDS:
        hint = (
            "did you mean false?" if word != scalar.text or word != "false" else "write false without quotes"
        )
    report.say("R105", scalar.place, f"{quoted(name)} can't be {kind_of(scalar)}", hint)
    return BROKEN


def _text(kind: Text, node: Node, name: str, report: Report) -> Value:
    scalar = _scalar(node, name, "text", report)
    if scalar is None:
        return BROKEN
    if not isinstance(scalar.value, str):
        report.say(
            "R106",
            scalar.place,
            f"{quoted(name)} takes text, not {kind_of(scalar)}",
            f'put it in quotes: "{scalar.text}"',
        )
        return BROKEN
    text = scalar.value.strip()
    if not text:
        report.say("R106", scalar.place, f"{quoted(name)} is an empty text", "leave the key out")
        return BROKEN
    if len(text) > kind.longest:
        report.say(
            "R106", scalar.place, f"{quoted(name)} has {len(text)} characters", f"use at most {kind.longest}"
        )
        return BROKEN
    if any((ord(letter) < 32 and letter != "\n") or letter in "\x7f\u2028\u2029" for letter in text):
        report.say("R106", scalar.place, f"{quoted(name)} holds a control character", "leave it out")
        return BROKEN
    return text


def _list(kind: ListOf, node: Node, name: str, report: Report) -> Value:
    if not isinstance(node, Sequence):
        hint = (
            f"write [{node.text}]"
            if isinstance(node, Scalar) and node.is_plain and node.value is not None
            else ""
        )
        report.say("R101", node.place, f"{quoted(name)} takes a list, not {kind_of(node)}", hint)
        return BROKEN
    if not kind.fewest <= len(node.items) <= kind.most:
        bound = f"at least {kind.fewest}" if len(node.items) < kind.fewest else f"at most {kind.most}"
        report.say(
            "R110",
            node.place,
            f"{quoted(name)} has {plural(len(node.items), 'entry').replace('entrys', 'entries')}",
            f"use {bound}",
        )
        return BROKEN
    values: list[Value] = []
    is_whole = True
    for item in node.items:
        value = read_value(kind.item, item, name, report)
        if isinstance(value, Broken):
            is_whole = False
        elif value in values:
            report.say(
                "R110", item.place, f"{quoted(str(value))} is in {quoted(name)} twice", "leave one out"
            )
            is_whole = False
        else:
            values.append(value)
    if isinstance(kind.item, Choice):
        # Of words the order means nothing: files that mean the same game have the same rules.
        order = list(kind.item.words)
        values.sort(key=lambda value: order.index(str(value)))
    return tuple(values) if is_whole else BROKEN


def _id(kind: Id, node: Node, name: str, report: Report) -> Value:  # noqa: ARG001  # all readers take the same
    scalar = _scalar(node, name, "the id of a variant", report)
    if scalar is None:
        return BROKEN
    if re.fullmatch(ID_PATTERN, scalar.text) and isinstance(scalar.value, str):
        return scalar.text
    plain = re.sub("[^a-z0-9]+", "-", re.sub(r"^.*[/\\]|\.ya?ml$", "", scalar.text.lower())).strip("-")
    hint = "an id has lower-case letters, digits and hyphens, a letter first, at most 40 of them"
    if re.fullmatch(ID_PATTERN, plain):
        hint = f'did you mean "{plain}"? it is an id, never a path'
    report.say("R112", scalar.place, f"{kind_of(scalar)} is not the id of a variant", hint)
    return BROKEN


def _version(kind: Version, node: Node, name: str, report: Report) -> Value:  # noqa: ARG001  # all readers take the same
    scalar = _scalar(node, name, "a number", report)
    if scalar is None:
        return BROKEN
    if scalar.value == 1 and not isinstance(scalar.value, bool):
        return 1
    report.say(
        "R111",
        scalar.place,
        f"this program reads version 1 of the language, not {kind_of(scalar)}",
        'write "dsl: 1"',
    )
    return BROKEN


def _suits(kind: Suits, node: Node, name: str, report: Report) -> Value:  # noqa: ARG001  # all readers take the same
    scalar = _scalar(node, name, "letters of suits", report)
    if scalar is None:
        return BROKEN
    text = scalar.text
    if text and set(text) <= set(SUITS) and len(set(text)) == len(text) and isinstance(scalar.value, str):
        return "".join(suit for suit in SUITS if suit in text)
    meant = "".join(suit for suit in SUITS if suit in text.upper())
    hint = "use the letters C, D, H and S, each at most once"
    if meant and set(text.upper()) <= set(SUITS):
        hint = f'did you mean "{meant}"?'
    report.say("R113", scalar.place, f"{kind_of(scalar)} does not name suits", hint)
    return BROKEN


def _ranks(kind: Ranks, node: Node, name: str, report: Report) -> Value:  # noqa: ARG001  # all readers take the same
    if isinstance(node, Sequence):
        return _rank_list(node, name, report)
    scalar = _scalar(node, name, 'a range such as "6-A", or a list of ranks', report)
    if scalar is None:
        return BROKEN
    match = re.fullmatch(r"(10|[A2-9TJQK])\s*-\s*(10|[A2-9TJQK])", scalar.text)
    if match is None:
        report.say(
            "R107",
            scalar.place,
            f"{kind_of(scalar)} is not a range of ranks",
            f'write two ranks and "-", as in 6-A; ranks are {_RANK_LIST}',
        )
        return BROKEN
    first, last = (RANKS.index("T" if rank == "10" else rank) for rank in match.groups())
    return tuple((first + step) % 13 for step in range((last - first) % 13 + 1))


def _rank_list(node: Sequence, name: str, report: Report) -> Value:
    if not node.items:
        report.say("R110", node.place, f"{quoted(name)} is an empty list", "name at least one rank")
        return BROKEN
    ranks: list[int] = []
    is_whole = True
    for item in node.items:
        rank = BROKEN if report.is_hopeless else read_rank(item, name, report)
        if not isinstance(rank, int):
            is_whole = False
        elif rank in ranks:
            report.say(
                "R110", item.place, f"{quoted(RANKS[rank])} is in {quoted(name)} twice", "leave one out"
            )
            is_whole = False
        else:
            ranks.append(rank)
    return tuple(ranks) if is_whole else BROKEN


def _rank(kind: Rank, node: Node, name: str, report: Report) -> Value:
    return read_rank(node, name, report, kind.words)


def _accepts(kind: Accepts, node: Node, name: str, report: Report) -> Value:
    if isinstance(node, Sequence):
        ranks = _rank_list(node, name, report)
        return tuple(sorted(ranks)) if isinstance(ranks, tuple) else BROKEN
    rank = read_rank(node, name, report, kind.words)
    return (rank,) if isinstance(rank, int) else rank


def _goal(kind: Goal, node: Node, name: str, report: Report) -> Value:
    if isinstance(node, Scalar):
        if node.value is None:
            return _wrong_kind(report, node, name, "a word")
        if isinstance(node.value, str) and node.value in kind.words:
            return {"kind": node.value}
        if node.text == "cards_in_foundations":
            report.say(
                "R103",
                node.place,
                '"cards_in_foundations" needs a number',
                "write {cards_in_foundations: 26}",
            )
            return BROKEN
        return unknown_word(
            report, node, name, kind.words, wanted=listed([*kind.words, "{cards_in_foundations: n}"])
        )
    if isinstance(node, Mapping) and list(node.entries) == ["cards_in_foundations"]:
        cards = read_value(
            Number(1, 416), node.entries["cards_in_foundations"].value, "cards_in_foundations", report
        )
        return BROKEN if isinstance(cards, Broken) else {"kind": "cards_in_foundations", "cards": cards}
    if isinstance(node, Mapping) and node.entries:
        odd = next((entry for key, entry in node.entries.items() if key != "cards_in_foundations"), None)
        assert odd is not None
        near = nearest(odd.key.text, ["cards_in_foundations"])
        hint = (
            f'did you mean "{near}"?' if near else f"use {listed([*kind.words, '{cards_in_foundations: n}'])}"
        )
        report.say("R102", odd.key.place, f"unknown key {quoted(odd.key.text)} in {quoted(name)}", hint)
        return BROKEN
    return _wrong_kind(report, node, name, listed([*kind.words, "{cards_in_foundations: n}"]))


_Reader = Callable[..., Value]
_READERS: Final[dict[type, _Reader]] = {
    Choice: _choice,
    Number: _number,
    Flag: _flag,
    Text: _text,
    ListOf: _list,
    Id: _id,
    Version: _version,
    Suits: _suits,
    Ranks: _ranks,
    Rank: _rank,
    Accepts: _accepts,
    Goal: _goal,
}
