"""Who comes first: what the dead tests may assume about the order in which cards are moved onto a base."""

from __future__ import annotations

import numpy as np

from chilkoot.solver import problem as p
from chilkoot.solver.compiled import Bits, Ints, compiled

__all__ = [
    "BASES",
    "FIRST_KING",
    "FREE",
    "HOME_FIRST",
    "SECOND_KING",
    "may_use",
    "riders_of",
    "starters_now",
]

ONE = np.uint64(1)
NO_CARDS = np.uint64(0)

FREE = -1
"""In `first`: the riders of this base may come in any order."""

HOME_FIRST = 99
"""In `first`: a rider may use this base only once all its other riders are home."""

FIRST_KING = 52
"""In `first`, behind the bases: the card that is the first to start an empty column; after it the second one."""

SECOND_KING = 53

BASES = 54
"""Bases with a turn: cards, and the first two columns that become empty."""


@compiled
def starters_now(first: Ints, starters: np.uint64, homed_bits: np.uint64, vacant: int) -> np.uint64:
    """The cards whose turn it can be to start an empty column, with so many columns that have been empty.

    They stay where they start until they go home, so without one at home the first two of them take the first two columns.
    """
    if homed_bits & starters:
        return starters
    one, two = first[FIRST_KING], first[SECOND_KING]
    allowed = np.uint64(0)
    if one >= 0 and one < 52:
        allowed |= ONE << np.uint64(one)
    if vacant < 2:
        return allowed
    if two == FREE:
        return starters
    if two < 52:
        allowed |= ONE << np.uint64(two)
    return starters if vacant > 2 else allowed


@compiled
def riders_of(ints: Ints, bits: Bits, base: int) -> np.uint64:
    """The cards that some column lets be built on a base."""
    riders = np.uint64(0)
    for g in range(ints[p.GROUPS]):
        riders |= bits[p.FITS + g, base]
    return riders


@compiled
def may_use(
    ints: Ints,
    bits: Bits,
    base: int,
    first: Ints,
    card: int,
    homed_bits: np.uint64,
    clear_bits: np.uint64,
    free_elsewhere: np.uint64,
) -> bool:
    """Whether it can be a card's turn to be moved onto a base whose riders come in order."""
    rider = first[base]
    if rider == HOME_FIRST:
        return bool(riders_of(ints, bits, base) & ~(ONE << np.uint64(card)) & ~homed_bits == NO_CARDS)
    if rider == card:
        return True
    bit = ONE << np.uint64(rider)
    elsewhere = bits[p.BASES, rider] & clear_bits & ~(ONE << np.uint64(base))
    return bool((homed_bits | free_elsewhere) & bit | elsewhere != NO_CARDS)
