"""Sets of cards as the bits of a number."""

from __future__ import annotations

import numpy as np

from chilkoot.solver.compiled import compiled

__all__ = ["lowest_of", "size_of"]

ONE = np.uint64(1)
_SPREAD = np.uint64(0x03F79D71B4CB0A89)
_PLACES = np.zeros(64, dtype=np.int64)
for _number in range(64):
    _PLACES[((1 << _number) * int(_SPREAD) & (1 << 64) - 1) >> 58] = _number


@compiled
def lowest_of(cards: np.uint64) -> int:
    """The card with the lowest number of a set that is not empty, by a de Bruijn multiplication."""
    return int(_PLACES[np.int64(((cards & (~cards + ONE)) * _SPREAD) >> np.uint64(58))])


@compiled
def size_of(cards: np.uint64) -> int:
    """How many cards a set has; soon where they are few."""
    count = 0
    while cards:
        cards &= cards - ONE
        count += 1
    return count
