"""Numbers, cards and lists as a sentence has them. Nothing here knows a rule."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Final

from chilkoot.cards import RANK_WORDS

__all__ = [
    "capital",
    "count",
    "listed",
    "number",
    "numbered",
    "rank_with_article",
    "ranks_of",
    "said",
    "times",
]

_NUMBERS: Final = (
    "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
)  # fmt: skip
_PLURALS: Final = (
    "aces", "twos", "threes", "fours", "fives", "sixes", "sevens", "eights", "nines", "tens", "jacks", "queens", "kings",
)  # fmt: skip


def number(value: int) -> str:
    """A number in words up to twelve, beyond that in digits; ``no`` for 0."""
    return _NUMBERS[value] if 0 <= value < len(_NUMBERS) else str(value)


def count(value: int, noun: str) -> str:
    """A number and its noun: ``one card``, ``two cards``, ``no cards``."""
    return f"{number(value)} {noun}" if value == 1 else f"{number(value)} {noun}s"


def times(value: int) -> str:
    """``once``, ``twice``, ``three times``."""
    return {1: "once", 2: "twice"}.get(value) or f"{number(value)} times"


def rank_with_article(rank: int) -> str:
    """``an ace``, ``a 2``, ``an 8``, ``a king``."""
    article = "an" if rank in (0, 7) else "a"
    return f"{article} {RANK_WORDS[rank]}"


def ranks_of(rank: int) -> str:
    """Several cards of a rank: ``aces``, ``sevens``."""
    return _PLURALS[rank]


def listed(words: Iterable[str], joint: str = "and") -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    every = list(words)
    return every[0] if len(every) == 1 else f"{', '.join(every[:-1])} {joint} {every[-1]}"


def numbered(noun: str, places: Sequence[int]) -> str:
    """Things by their numbers: ``column 1``, ``columns 2 to 7``, ``columns 1, 4 and 6 to 8``. Numbers count from 0."""
    runs = []
    for _, run in groupby(enumerate(places), key=lambda pair: pair[1] - pair[0]):
        first, *rest = [place + 1 for _, place in run]
        if not rest:
            runs.append(str(first))
        elif len(rest) == 1:
            runs += [str(first), str(rest[0])]
        else:
            runs.append(f"{first} to {rest[-1]}")
    return f"{noun}{'s' * (len(places) != 1)} {listed(runs)}"


def capital(text: str) -> str:
    """The text with its first letter large."""
    return text[:1].upper() + text[1:]


def said(text: str) -> str:
    """A sentence: the first letter large, a full stop where it has no other end."""
    text = capital(" ".join(text.split()))
    return text if text.endswith((".", "?", "!", ":")) else f"{text}."
