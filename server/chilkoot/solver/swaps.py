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
from chilkoot.solver.links import column_of, end_over, is_built, lies_over, link, move_in_columns, relink
from chilkoot.solver.moves import force_home, forces_safe, legal
from chilkoot.solver.sets import lowest_of
from chilkoot.solver.settle import alike, is_safe, settle, shift, takes, wanted_cards

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
            base = lowest_of(bases & others)
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
    bits: Bits, below: Ints, ends: np.uint64, up: np.uint64, but: np.uint64, swaps: Ints, count: int
) -> int:
    """Every card, those in `but` aside, that may move from one base to its other one, as rider << 8 | base."""
    while ends:
        end = lowest_of(ends)
        ends &= ends - ONE
        riders = bits[p.FITS, end] & up & ~but
        while riders:
            rider = lowest_of(riders)
            riders &= riders - ONE
            if below[rider] != end and is_built(bits, below, up, rider) and not lies_over(below, end, rider):
                swaps[count] = rider << 8 | end
                count += 1
    return count


@compiled
def list_singles(ints: Ints, held: Cards, sizes: Ints, singles: Ints) -> int:
    """The cards that cells, reserves and foundations would let onto a column, as pile << 8 | card; how many."""
    count = 0
    reserve = ints[p.COLUMNS] + ints[p.CELLS]
    first = reserve + ints[p.RESERVES]
    for pile in range(ints[p.COLUMNS], first + ints[p.FOUNDATIONS]):
        size = sizes[pile]
        if size == 0:
            continue
        card = held[pile, size - 1]
        if pile >= first:
            playable = ints[p.FOUNDED + p.FOUNDATION_FIELDS * (pile - first) + p.RETURN_KIND] != 0
        else:
            playable = pile < reserve or (ints[p.PLAY_RESERVE] != 0 and not card & 64)
        if playable:
            singles[count] = pile << 8 | card
            count += 1
    return count


@compiled
def needs(below: Ints, above: Ints, card: int, target: int, rider: int, base: int) -> bool:
    """Whether a move was not possible before a rider left a base: it takes place there, or its target lay on the base."""
    return target == base or (
        lies_over(below, base, card) and (target >= 64 or target == end_over(above, rider))
    )


@compiled
def moves_of_member(
    ints: Ints,
    bits: Bits,
    held: Cards,
    sizes: Ints,
    below: Ints,
    above: Ints,
    up: np.uint64,
    ends: np.uint64,
    swapped: np.uint64,
    singles: Ints,
    moves: Ints,
    count: int,
    code: int,
) -> int:
    """The moves of a table of a class that need every swap which could be taken back, `code` added; -1 where none could be."""
    back = 0
    rider, base, other, other_base = 0, 0, -1, 0
    rest = swapped
    while rest:
        card = lowest_of(rest)
        rest &= rest - ONE
        freed = bits[p.BASES, card] & ends
        if below[card] < 64:
            freed &= ~(ONE << np.uint64(below[card]))
        if freed and not lies_over(below, lowest_of(freed), card):
            # A move has one target and one source: it can need two swaps at most.
            if back == 2:
                return count
            if back == 1:
                other, other_base = rider, base
            rider, base = card, lowest_of(freed)
            back += 1
    if back == 0:
        return -1
    columns = ints[p.COLUMNS]
    cards = bits[p.FITS, base] & up
    while cards:
        card = lowest_of(cards)
        cards &= cards - ONE
        if (
            not is_built(bits, below, up, card)
            and not lies_over(below, base, card)
            and (other < 0 or needs(below, above, card, base, other, other_base))
        ):
            moves[count] = code | move_in_columns(below, above, card, base)
            count += 1
    if other < 0:
        for single in singles:
            if (bits[p.FITS, base] >> np.uint64(single & 63)) & ONE:
                moves[count] = code | (single >> 8) << 18 | 1 << 9 | column_of(below, base)
                count += 1
        for f in range(ints[p.FOUNDATIONS]):
            if takes(ints, bits, held, sizes, f, base):
                home = columns + ints[p.CELLS] + ints[p.RESERVES] + f
                moves[count] = code | move_in_columns(below, above, base, 64 + home)
                count += 1
        if ints[p.CELL_SOURCES] & 1:
            for cell in range(columns, columns + ints[p.CELLS]):
                if sizes[cell] == 0:
                    moves[count] = code | move_in_columns(below, above, base, 64 + cell)
                    count += 1
                    break
    end = end_over(above, rider)
    cards = bits[p.FITS, end] & up
    while cards:
        card = lowest_of(cards)
        cards &= cards - ONE
        if (
            lies_over(below, base, card)
            and not is_built(bits, below, up, card)
            and (other < 0 or needs(below, above, card, end, other, other_base))
        ):
            moves[count] = code | move_in_columns(below, above, card, end)
            count += 1
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
) -> int:
    """The moves of all tables of a class, member << 32 | move, into `moves`; returns how many, -1 where there are too many.

    `members` (`MOST_MEMBERS` × 3) gets for each table the one it comes from, the swap that leads from there to it, and the
    set of cards swapped. A swap that frees a card which is safe at home leads out of the class: it is one of the moves.
    """
    count = legal(ints, bits, held, sizes, moves, log)
    members[0, 0], members[0, 1], members[0, 2] = -1, 0, 0
    if not ints[p.SWAPS] or not alike(ints, sizes):
        return count
    wanted = wanted_cards(ints, bits, held, sizes) if forces_safe(ints, sizes) else np.uint64(0)
    for pile in range(ints[p.COLUMNS] + ints[p.CELLS]):
        # A card that a foundation just gave back goes home with the next move, whichever that is: no swap comes alone.
        size = sizes[pile]
        if (
            size
            and not held[pile, size - 1] & 64
            and (wanted >> np.uint64(held[pile, size - 1])) & ONE
            and is_safe(ints, bits, held, sizes, held[pile, size - 1])
        ):
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
    below, above = np.empty(64, dtype=np.int64), np.empty(64, dtype=np.int64)
    up = link(ints, held, sizes, below, above)
    ends = ends_of(ints, held, sizes)
    singles = np.empty(64, dtype=np.int64)
    singles = singles[: list_singles(ints, held, sizes, singles)]
    swaps = np.empty(1024, dtype=np.int64)
    # A walk over the members, depth first: at each depth its member, the swaps still to be tried, where the last swap came from.
    walk = np.empty((64, 4), dtype=np.int64)
    known, depth = 1, 0
    walk[0, 0], walk[0, 1] = 0, 0
    walk[0, 2] = list_swaps(bits, below, ends, up, np.uint64(0), swaps, 0)
    while True:
        if walk[depth, 1] == walk[depth, 2]:
            if depth == 0:
                return count
            rider, base = members[walk[depth, 0], 1] >> 8, walk[depth, 3]
            ends ^= ONE << np.uint64(base) | ONE << np.uint64(below[rider])
            relink(below, above, rider, base)
            depth -= 1
            continue
        here = walk[depth, 0]
        swap = swaps[walk[depth, 1]]
        walk[depth, 1] += 1
        rider, base = swap >> 8, swap & 255
        swapped = np.uint64(members[here, 2]) | ONE << np.uint64(rider)
        met = False
        for other in range(known):
            if np.uint64(members[other, 2]) == swapped:
                met = True
                break
        if met:
            continue
        if count + 128 > moves.shape[0]:
            return -1
        freed = below[rider]
        if (wanted >> np.uint64(freed)) & ONE and is_safe(ints, bits, held, sizes, freed):
            moves[count] = here << 32 | move_in_columns(below, above, rider, base)
            count += 1
            continue
        if known == MOST_MEMBERS or depth == 62 or walk[depth, 2] + 128 > swaps.shape[0]:
            return -1
        members[known, 0], members[known, 1], members[known, 2] = here, swap, np.int64(swapped)
        ends ^= ONE << np.uint64(freed) | ONE << np.uint64(base)
        relink(below, above, rider, base)
        count = moves_of_member(
            ints, bits, held, sizes, below, above, up, ends, swapped, singles, moves, count, known << 32
        )
        if count < 0:
            return -1
        depth += 1
        walk[depth, 0], walk[depth, 3] = known, freed
        walk[depth, 1] = walk[depth - 1, 2]
        walk[depth, 2] = list_swaps(bits, below, ends, up, swapped, swaps, walk[depth - 1, 2])
        known += 1
