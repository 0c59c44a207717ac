"""Tables that are the same but for a card that lies on one of two bases: looked at once, as one class.

A card that lies on a base it was built on, with everything on it, may move to its other base and back again, so two tables
that differ only in this are won or lost together. The search keeps one table of such a class (``canonical``) and looks at
the moves of all of them (``moves_of_class``). Of these, a move is left out where one of the swaps before it could as well
come after it: where the base that the swap laid open takes no part in the move, both orders end in the same class.
"""

from __future__ import annotations

import numpy as np

from chilkoot.solver import problem as p
from chilkoot.solver.compiled import Bits, Cards, Ints, compiled
from chilkoot.solver.moves import force_home, forces_safe, legal
from chilkoot.solver.settle import alike, is_safe, settle, shift, take_back_to, wanted_cards

__all__ = ["MOST_MEMBERS", "canonical", "canonical_swap", "moves_of_class", "swap_to"]

ONE = np.uint64(1)

MOST_MEMBERS = 2048
"""Tables of a class that are looked at; where there are more, an exhausted search proves nothing."""


@compiled
def ends_of(ints: Ints, held: Cards, sizes: Ints) -> np.uint64:
    """The last cards of columns, face up."""
    ends = np.uint64(0)
    for column in range(ints[p.COLUMNS]):
        size = sizes[column]
        if size and not held[column, size - 1] & 64:
            ends |= ONE << np.uint64(held[column, size - 1])
    return ends


@compiled
def lowest_card(cards: np.uint64) -> int:
    """The card with the lowest number of a set that is not empty."""
    number = 0
    while not (cards >> np.uint64(number)) & ONE:
        number += 1
    return number


@compiled
def swap_to(
    ints: Ints,
    bits: Bits,
    held: Cards,
    sizes: Ints,
    rider: int,
    base: int,
    log: Ints,
    at: int,
    line: Ints,
    length: int,
) -> tuple[int, int]:
    """Move a card with all on it to a base at the end of a column, with what that sets off; logged, and into `line`."""
    source, n, target = 0, 0, 0
    for column in range(ints[p.COLUMNS]):
        size = sizes[column]
        if size and held[column, size - 1] == base:
            target = column
        for i in range(size):
            if held[column, i] == rider:
                source = column
                n = size - i
    sizes[ints[p.PILES] + 1] = -1
    at = shift(held, sizes, log, at, source, target, n, False)
    if length < line.shape[0]:
        line[length] = source << 18 | n << 9 | target
        length += 1
    if ints[p.AUTO]:
        at = settle(ints, bits, held, sizes, log, at)
    if forces_safe(ints, sizes):
        at, length = force_home(ints, bits, held, sizes, log, at, line, length)
    return at, length


@compiled
def canonical_swap(ints: Ints, bits: Bits, held: Cards, sizes: Ints) -> int:
    """The next swap towards the table that stands for its class, as rider << 8 | base; -1 where there is none.

    The lowest card that could lie on a lower base moves there, so every swap lowers the sum of the bases, or frees a card
    that is safe at home.
    """
    ends = ends_of(ints, held, sizes)
    wanted = np.uint64(0)
    if forces_safe(ints, sizes):
        wanted = wanted_cards(ints, bits, held, sizes)
    best = -1
    for column in range(ints[p.COLUMNS]):
        size = sizes[column]
        if size < 2:
            continue
        others = ends & ~(ONE << np.uint64(held[column, size - 1] & 63))
        for i in range(size - 1, 0, -1):
            card, below = held[column, i], held[column, i - 1]
            if card & 64 or below & 64:
                break
            bases = bits[p.BASES, card]
            if not (bases >> np.uint64(below)) & ONE or not bases & others:
                continue
            base = lowest_card(bases & others)
            frees = (wanted >> np.uint64(below)) & ONE and is_safe(ints, bits, held, sizes, below)
            if frees:
                return int(card) << 8 | base
            if base < below and (best < 0 or card < best >> 8):
                best = int(card) << 8 | base
    return best


@compiled
def canonical(
    ints: Ints, bits: Bits, held: Cards, sizes: Ints, log: Ints, at: int, line: Ints, length: int
) -> tuple[int, int]:
    """Make of a table the one that stands for its class; the swaps are logged, and go into `line`."""
    if not ints[p.SWAPS] or not alike(ints, sizes) or sizes[ints[p.PILES] + 1] >= 0:
        return at, length
    while True:
        swap = canonical_swap(ints, bits, held, sizes)
        if swap < 0:
            return at, length
        at, length = swap_to(ints, bits, held, sizes, swap >> 8, swap & 255, log, at, line, length)


@compiled
def list_swaps(
    ints: Ints, bits: Bits, held: Cards, sizes: Ints, but: np.uint64, swaps: Ints, count: int
) -> int:
    """Every card, those in `but` aside, that may move from one base to its other one, as rider << 8 | base."""
    ends = ends_of(ints, held, sizes)
    for column in range(ints[p.COLUMNS]):
        size = sizes[column]
        if size < 2:
            continue
        others = ends & ~(ONE << np.uint64(held[column, size - 1] & 63))
        for i in range(size - 1, 0, -1):
            card, below = held[column, i], held[column, i - 1]
            if card & 64 or below & 64:
                break
            bases = bits[p.BASES, card]
            if (bases >> np.uint64(below)) & ONE and bases & others and not (but >> np.uint64(card)) & ONE:
                swaps[count] = int(card) << 8 | lowest_card(bases & others)
                count += 1
    return count


@compiled
def swapped_back(ints: Ints, bits: Bits, held: Cards, sizes: Ints, swapped: np.uint64, freed: Ints) -> int:
    """Of the cards swapped, those that could be swapped back now: their columns and the bases' columns, into `freed`."""
    count = 0
    columns = ints[p.COLUMNS]
    for column in range(columns):
        for i in range(1, sizes[column]):
            card = held[column, i]
            if card & 64 or not (swapped >> np.uint64(card)) & ONE:
                continue
            below = held[column, i - 1]
            bases = bits[p.BASES, card] & ~(ONE << np.uint64(below & 63))
            if below & 64 or not (bits[p.BASES, card] >> np.uint64(below)) & ONE:
                continue
            for other in range(columns):
                size = sizes[other]
                if other != column and size and (bases >> np.uint64(held[other, size - 1] & 63)) & ONE:
                    freed[2 * count] = column
                    freed[2 * count + 1] = other
                    count += 1
                    break
    return count


@compiled
def is_swap(ints: Ints, bits: Bits, held: Cards, sizes: Ints, source: int, n: int, target: int) -> bool:
    """Whether a move takes a card from one base to another one."""
    columns = ints[p.COLUMNS]
    at = sizes[source] - n
    if source >= columns or target >= columns or sizes[target] == 0 or at == 0:
        return False
    below = held[source, at - 1]
    return not below & 64 and (bits[p.BASES, held[source, at]] >> np.uint64(below)) & ONE == ONE


@compiled
def moves_of_class(
    ints: Ints,
    bits: Bits,
    held: Cards,
    sizes: Ints,
    moves: Ints,
    log: Ints,
    members: Ints,
    scratch: Ints,
) -> int:
    """The moves of all tables of a class, member << 32 | move, into `moves`; returns how many, -1 where there are too many.

    `members` (`MOST_MEMBERS` × 3) gets for each table the one it comes from, the swap that leads from there to it, and the
    set of cards swapped. The table is as before afterwards. `scratch` is room for moves.
    """
    columns = ints[p.COLUMNS]
    count = legal(ints, bits, held, sizes, moves, log)
    members[0, 0], members[0, 1], members[0, 2] = -1, 0, 0
    if not ints[p.SWAPS] or not alike(ints, sizes):
        return count
    kept = 0
    for number in range(count):
        move = moves[number]
        if move >> 24 or not is_swap(
            ints, bits, held, sizes, (move >> 18) & 63, (move >> 9) & 511, move & 511
        ):
            moves[kept] = move
            kept += 1
    if kept == count:
        return count
    count = kept
    turn, returned = sizes[ints[p.PILES]], sizes[ints[p.PILES] + 1]
    no_line = scratch[:0]
    swaps = np.empty(4096, dtype=np.int64)
    freed = np.empty(128, dtype=np.int64)
    # A walk over the members, depth first: at each depth its member, the swaps still to be tried, the log before it.
    walk = np.empty((64, 4), dtype=np.int64)
    known, depth, at = 1, 0, 0
    walk[0, 0], walk[0, 1], walk[0, 3] = 0, 0, 0
    walk[0, 2] = list_swaps(ints, bits, held, sizes, np.uint64(0), swaps, 0)
    while depth >= 0:
        if walk[depth, 1] == walk[depth, 2]:
            take_back_to(held, sizes, log, at, walk[depth, 3])
            at = walk[depth, 3]
            depth -= 1
            continue
        swap = swaps[walk[depth, 1]]
        walk[depth, 1] += 1
        here = walk[depth, 0]
        swapped = np.uint64(members[here, 2]) | ONE << np.uint64(swap >> 8)
        met = False
        for other in range(known):
            if np.uint64(members[other, 2]) == swapped:
                met = True
                break
        if met:
            continue
        if known == MOST_MEMBERS or depth == 62:
            take_back_to(held, sizes, log, at, 0)
            sizes[ints[p.PILES]], sizes[ints[p.PILES] + 1] = turn, returned
            return -1
        members[known, 0], members[known, 1], members[known, 2] = here, swap, np.int64(swapped)
        before = at
        at, _ = swap_to(ints, bits, held, sizes, swap >> 8, swap & 255, log, at, no_line, 0)
        back = swapped_back(ints, bits, held, sizes, swapped, freed)
        # A move has one target and one source: it can be the reason for two swaps at most.
        if back <= 2:
            found = legal(ints, bits, held, sizes, scratch, log[at:])
            for number in range(found):
                move = scratch[number]
                source, n, target = (move >> 18) & 63, (move >> 9) & 511, move & 511
                if not move >> 24 and is_swap(ints, bits, held, sizes, source, n, target):
                    continue
                touched = True
                for other in range(back):
                    rider, base = freed[2 * other], freed[2 * other + 1]
                    if target != base and not (source == base and (target == rider or columns <= target)):
                        touched = False
                if touched:
                    if count == moves.shape[0]:
                        take_back_to(held, sizes, log, at, 0)
                        sizes[ints[p.PILES]], sizes[ints[p.PILES] + 1] = turn, returned
                        return -1
                    moves[count] = known << 32 | move
                    count += 1
        depth += 1
        walk[depth, 0], walk[depth, 3] = known, before
        walk[depth, 1] = walk[depth - 1, 2]
        walk[depth, 2] = list_swaps(ints, bits, held, sizes, swapped, swaps, walk[depth - 1, 2])
        known += 1
    sizes[ints[p.PILES]], sizes[ints[p.PILES] + 1] = turn, returned
    return count
