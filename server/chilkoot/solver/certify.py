"""Choosing a deal that a search found a winning line for, out of some that chance gave."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from chilkoot.solver.survey import Question, answer_to

__all__ = ["CERTIFY_POSITIONS", "first_winnable"]

CERTIFY_POSITIONS: Final = 30_000
"""Positions a deal may take: of the Yukon deals that can be won half take a hundred, nine in ten a few thousand."""


def first_winnable(rules: str, deals: Sequence[str], positions: int = CERTIFY_POSITIONS) -> int | None:
    """The place of the first of these deals that is winnable; None where the search found no line for any.

    `rules` is the canonical text. The first is taken, not the easiest, so nothing is told about it but that it can be won.
    """
    for number, deal in enumerate(deals):
        if answer_to(Question(rules, deal, positions)).kind == "winnable":
            return number
    return None
