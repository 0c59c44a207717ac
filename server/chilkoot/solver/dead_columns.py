"""The dead test for games in which all cards lie on columns and foundations: the same answer as ``dead.is_dead``, much sooner.

The facts are sets of cards, and each new one is followed up once, where the general test goes over the table again and again
until nothing changes. The rules must be of the kind that `QUICK` stands for: one pack, one kind of columns, any card moves
with all that lies on it.
"""

from __future__ import annotations

import numpy as np

from chilkoot.solver import problem as p
from chilkoot.solver.compiled import Bits, Cards, Ints, compiled
from chilkoot.solver.sets import lowest_of
from chilkoot.solver.turns import FIRST_KING, may_use, starters_now

__all__ = ["comes_home", "lay_out"]

ONE = np.uint64(1)
NO_CARDS = np.uint64(0)

BELOW, UNDER, SETS = 0, 1, 2
"""Rows of what ``lay_out`` makes: of each card the one below it (`NONE` where there is none), and all below it; the sets."""

UP, BOTTOMS, ENDS, HOME, WANTED, HELD = 0, 1, 2, 3, 4, 5
"""In the row `SETS`: cards face up, first and last cards of columns, cards at home, wanted there, on columns."""

NONE = 63


@compiled
def follows(ints: Ints, bits: Bits, card: int) -> np.uint64:
    """The cards that some foundation takes on a card."""
    cards = np.uint64(0)
    for f in range(ints[p.FOUNDATIONS]):
        if ints[p.FOUNDED + p.FOUNDATION_FIELDS * f + p.ACCEPTS_RUNS] == 0:
            cards |= bits[p.F_ON + f, card]
    return cards


@compiled
def lay_out(ints: Ints, bits: Bits, held: Cards, sizes: Ints) -> Bits:
    """What the test asks of a table, in rows by card and as sets."""
    facts = np.empty((3, 64), dtype=np.uint64)
    up, bottoms, ends, on_columns = np.uint64(0), np.uint64(0), np.uint64(0), np.uint64(0)
    for column in range(ints[p.COLUMNS]):
        size = sizes[column]
        if size == 0:
            continue
        below = np.uint64(NONE)
        under = np.uint64(0)
        for i in range(size):
            card = held[column, i]
            plain = np.uint64(card & 63)
            bit = ONE << plain
            facts[BELOW, plain] = below
            facts[UNDER, plain] = under
            if not card & 64:
                up |= bit
            under |= bit
            below = plain
        bottoms |= ONE << np.uint64(held[column, 0] & 63)
        ends |= ONE << below
        on_columns |= under
    home, wanted = np.uint64(0), np.uint64(0)
    first = ints[p.COLUMNS] + ints[p.CELLS] + ints[p.RESERVES]
    for f in range(ints[p.FOUNDATIONS]):
        size = sizes[first + f]
        for i in range(size):
            home |= ONE << np.uint64(held[first + f, i])
        if size:
            wanted |= follows(ints, bits, held[first + f, size - 1])
        if size == 0 or ints[p.RETURNS]:
            wanted |= bits[p.F_START, f]
    facts[SETS, UP], facts[SETS, BOTTOMS], facts[SETS, ENDS] = up, bottoms, ends
    facts[SETS, HOME], facts[SETS, WANTED], facts[SETS, HELD] = home, wanted, on_columns
    return facts


@compiled
def comes_home(
    ints: Ints, bits: Bits, held: Cards, sizes: Ints, facts: Bits, first: Ints, bound: np.uint64
) -> bool:
    """Whether enough cards can come home if obstacles are ignored; the opposite of ``dead.is_dead``, with its arguments.

    `facts` is what ``lay_out`` made of the table, and is left as it is.
    """
    sets = facts[SETS]
    up, bottoms, clear, homed, wanted = sets[UP], sets[BOTTOMS], sets[ENDS], sets[HOME], sets[WANTED]
    on_columns = sets[HELD]
    vacant = 0
    for column in range(ints[p.COLUMNS]):
        if sizes[column] == 0:
            vacant += 1
    goal = ints[p.GOAL_CARDS]
    starters = bits[p.START, 0]
    in_order = (bound >> np.uint64(FIRST_KING)) & ONE == ONE
    start = starters_now(first, starters, homed, vacant) if in_order else starters
    first_pile = ints[p.COLUMNS] + ints[p.CELLS] + ints[p.RESERVES]
    home = 0
    for f in range(ints[p.FOUNDATIONS]):
        home += sizes[first_pile + f]
    moved, left, seen = np.uint64(0), np.uint64(0), np.uint64(0)
    # Cards that wait until another above them has moved, or until it is their turn.
    under_base, in_turn = np.uint64(0), np.uint64(0)
    while True:
        arrivals = clear & wanted & ~homed
        if arrivals:
            while arrivals:
                card = lowest_of(arrivals)
                bit = ONE << np.uint64(card)
                arrivals &= ~bit
                homed |= bit
                moved |= bit
                wanted |= follows(ints, bits, card)
                home += 1
            if home >= goal:
                return True
            continue
        movers = np.uint64(0)
        fresh = clear & ~seen
        base_bit = NO_CARDS
        if fresh:
            # A card has come to lie open: others may be moved onto it, and it onto others if it lay face down.
            card = lowest_of(fresh)
            base_bit = ONE << np.uint64(card)
            seen |= base_bit
            movers = bits[p.FITS, card] & up
            if not up & base_bit:
                up |= base_bit
                movers |= base_bit
                if vacant and start & base_bit & ~bottoms:
                    moved |= base_bit
        else:
            fresh = moved & ~left & on_columns
            if fresh:
                # A card has left its place: what lay below it lies open.
                card = lowest_of(fresh)
                left |= ONE << np.uint64(card)
                if facts[BELOW, card] == np.uint64(NONE):
                    vacant += 1
                    if in_order:
                        start = starters_now(first, starters, homed, vacant)
                    moved |= start & up & on_columns & ~bottoms
                else:
                    clear |= ONE << facts[BELOW, card]
                movers = under_base & facts[UNDER, card]
            else:
                if in_order:
                    start = starters_now(first, starters, homed, vacant)
                if vacant:
                    moved |= start & up & on_columns & ~bottoms
                movers = in_turn
        movers &= on_columns & ~moved
        free_elsewhere = start if vacant else np.uint64(0)
        while movers:
            card = lowest_of(movers)
            bit = ONE << np.uint64(card)
            movers &= ~bit
            bases = bits[p.BASES, card] & clear & seen
            if facts[BELOW, card] != np.uint64(NONE):
                bases &= ~(ONE << facts[BELOW, card])
            while bases:
                base = lowest_of(bases)
                one = ONE << np.uint64(base)
                bases &= ~one
                if bound & one and not may_use(ints, bits, base, first, card, homed, clear, free_elsewhere):
                    in_turn |= bit
                    continue
                if facts[UNDER, base] & bit and on_columns & one:
                    between = (facts[UNDER, base] & ~facts[UNDER, card] & ~bit) | one
                    if between & moved == NO_CARDS:
                        under_base |= bit
                        continue
                moved |= bit
                break
        if fresh:
            continue
        if ints[p.RETURNS]:
            clear |= given_back(ints, bits, held, sizes, clear, start if vacant else np.uint64(0))
        if clear & ~seen == NO_CARDS and moved & ~left & on_columns == NO_CARDS:
            return bool(home >= goal)


@compiled
def given_back(
    ints: Ints, bits: Bits, held: Cards, sizes: Ints, clear: np.uint64, start: np.uint64
) -> np.uint64:
    """The cards that foundations can give back onto cards that lie open, or, as far as they are in `start`, to empty columns."""
    first = ints[p.COLUMNS] + ints[p.CELLS] + ints[p.RESERVES]
    given = np.uint64(0)
    for f in range(ints[p.FOUNDATIONS]):
        if ints[p.FOUNDED + p.FOUNDATION_FIELDS * f + p.RETURN_KIND] == 0:
            continue
        for i in range(sizes[first + f] - 1, -1, -1):
            card = held[first + f, i]
            bit = ONE << np.uint64(card)
            if not clear & bit:
                if bits[p.BASES, card] & clear == NO_CARDS and start & bit == NO_CARDS:
                    break
                given |= bit
    return given
