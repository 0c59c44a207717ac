"""The columns as links from card to card: a card with all that lies on it changes its place by one link."""

from __future__ import annotations

import numpy as np

from chilkoot.solver import problem as p
from chilkoot.solver.compiled import Bits, Cards, Ints, compiled

__all__ = ["column_of", "end_over", "is_built", "lies_over", "link", "move_in_columns", "relink"]

ONE = np.uint64(1)


@compiled
def link(ints: Ints, held: Cards, sizes: Ints, below: Ints, above: Ints) -> np.uint64:
    """Note of each card on a column what lies below it (64 + its column if nothing) and above it (-1 if nothing).

    Returns which of them lie face up.
    """
    up = np.uint64(0)
    for column in range(ints[p.COLUMNS]):
        lower = 64 + column
        for i in range(sizes[column]):
            card = int(held[column, i])
            plain = card & 63
            below[plain] = lower
            if lower < 64:
                above[lower] = plain
            if not card & 64:
                up |= ONE << np.uint64(plain)
            lower = plain
        if lower < 64:
            above[lower] = -1
    return up


@compiled
def relink(below: Ints, above: Ints, card: int, base: int) -> None:
    """Move a card that lies on another one, with all on it, to a base at the end of a column."""
    above[below[card]] = -1
    above[base] = card
    below[card] = base


@compiled
def lies_over(below: Ints, card: int, other: int) -> bool:
    """Whether one card lies above another in its column, or is that card."""
    while card < 64:
        if card == other:
            return True
        card = below[card]
    return False


@compiled
def end_over(above: Ints, card: int) -> int:
    """The last card of the column in which a card lies."""
    while above[card] >= 0:
        card = above[card]
    return card


@compiled
def column_of(below: Ints, card: int) -> int:
    """The column in which a card lies."""
    while card < 64:
        card = below[card]
    return card - 64


@compiled
def is_built(bits: Bits, below: Ints, up: np.uint64, card: int) -> bool:
    """Whether a card lies on one of its bases, face up."""
    lower = below[card]
    return lower < 64 and bool((bits[p.BASES, card] & up) >> np.uint64(lower) & ONE)


@compiled
def move_in_columns(below: Ints, above: Ints, card: int, target: int) -> int:
    """The move of a card with all on it to the column that ends in the card `target`, or to the pile `target` - 64."""
    n = 1
    higher = card
    while above[higher] >= 0:
        higher = above[higher]
        n += 1
    return column_of(below, card) << 18 | n << 9 | column_of(below, target)
