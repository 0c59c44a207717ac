"""The order of a leaderboard: won, cards home, less help, fewer moves, less time.

A place is two integers, smaller is better, and places add up: the place of a week is the sum of its days'. That makes every board one
index and one comparison, and lets a database add a day to a player's line without anybody reading it first.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import msgspec

__all__ = ["Place", "place_of", "ranks_of", "read_place"]

_HELP_BITS: Final = 16
_SCORE_BITS: Final = 24
_MS_BITS: Final = 38
"""Room for 65,535 days with help, 16 million cards and eight years on the clock: what one player could ever sum up."""

_CURSOR: Final = re.compile(
    r"(-?[0-9]{1,19})\.([0-9]{1,19})\.([0-9]{1,19})\.([0-9]{1,10})\.([0-9]{1,10})", re.ASCII
)
_MOST: Final = 2**63 - 1


def place_of(*, won: int, score: int, assisted: int, moves: int, ms: int) -> tuple[int, int]:
    """Where a result stands."""
    return (
        -(won << (_HELP_BITS + _SCORE_BITS)) - (score << _HELP_BITS) + assisted,
        (moves << _MS_BITS) + max(0, ms),
    )


class Place(msgspec.Struct, frozen=True):
    """Where a page of a board ended: the place, the number of the line, its rank, and the lines up to it."""

    high: int
    low: int
    number: int
    rank: int
    count: int

    def text(self) -> str:
        """What a client is given to ask for the next page with."""
        return f"{self.high}.{self.low}.{self.number}.{self.rank}.{self.count}"


def read_place(text: str) -> Place | None:
    """The end of a page that a client names; None for a text that was not given out."""
    match = _CURSOR.fullmatch(text)
    if match is None:
        return None
    numbers = [int(one) for one in match.groups()]
    return Place(*numbers) if all(abs(one) <= _MOST for one in numbers) else None


def ranks_of(
    places: Sequence[tuple[int, int]], *, before: int, last: tuple[tuple[int, int], int] | None
) -> list[int]:
    """The ranks of lines that follow each other: equal places share one, and the next one is as much lower.

    `before` lines come before them; `last` is the place and the rank of the last of those, None where there is none.
    """
    ranks = []
    for number, place in enumerate(places):
        rank = last[1] if last is not None and last[0] == place else before + number + 1
        ranks.append(rank)
        last = (place, rank)
    return ranks
