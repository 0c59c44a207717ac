"""Deals of which it is certain that they can be won: the search found a line within a number of positions.

Whoever runs the same revision with the same number of positions gets the same answer, on any machine and Python: daily
deals are chosen by it, so that anybody can choose them again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from chilkoot.solver.survey import Question, answer_to
from chilkoot.solver.verdict import Difficulty

__all__ = ["CERTIFY_POSITIONS", "REVISION", "Certificate", "certify", "first_winnable"]

REVISION: Final = 7
"""Which search this is: raised with every change by which a deal gets another answer within the same number of positions."""

CERTIFY_POSITIONS: Final = 30_000
"""Positions a deal may take: of the Yukon deals that can be won half take a hundred, nine in ten a few thousand."""

_MEMORY: Final = 64 << 20
"""Bytes for one search. Part of the revision, for a search that ran out of memory gives up."""


@dataclass(frozen=True)
class Certificate:
    """A winning line in action texts, which the engine has played, and the positions that were opened to find it.

    With its difficulty, where that was wanted, the line is a shortened one.
    """

    line: tuple[str, ...]
    positions: int
    difficulty: Difficulty | None = None


def certify(
    rules: str, deal: str, positions: int = CERTIFY_POSITIONS, *, difficulty: bool = False
) -> Certificate | None:
    """The certificate of a deal; None where the search found no line within so many positions, whether there is one or not.

    `rules` is the canonical text. Takes up to some seconds: it belongs into another process than the server's. Raises
    DealError for what is no deal of these rules.
    """
    answer = answer_to(Question(rules, deal, positions, _MEMORY, difficulty=difficulty))
    if answer.kind != "winnable":
        return None
    return Certificate(answer.line, answer.positions, answer.difficulty)


def first_winnable(rules: str, deals: Sequence[str], positions: int = CERTIFY_POSITIONS) -> int | None:
    """The place of the first of these deals that has a certificate; None where none has.

    The first is taken, not the easiest, so nothing is told about it but that it can be won.
    """
    return next((number for number, deal in enumerate(deals) if certify(rules, deal, positions)), None)
