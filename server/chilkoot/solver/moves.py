"""The moves of a table in flat arrays: the compiled mirror of ``engine.moves``, less what a search need not look at.

Left out are moves that differ from another one only in which of several equal places they use. A move is a number:
draws << 24 | source << 18 | cards << 9 | target, with DRAW_ONLY as the source of a draw by itself.
"""

from __future__ import annotations

import numpy as np

from chilkoot.solver import problem as p
from chilkoot.solver.compiled import Bits, Cards, Ints, compiled
from chilkoot.solver.settle import (
    alike,
    can_draw,
    draw,
    ends_in_run,
    foundation_of,
    home_piles,
    is_safe,
    lowest_movable,
    settle,
    shift,
    take_back,
    takes,
    wanted_cards,
)

__all__ = [
    "DRAW_ONLY",
    "column_moves",
    "column_room",
    "drawn_moves",
    "force_home",
    "forces_safe",
    "group_size",
    "is_won",
    "legal",
    "play",
    "single_moves",
]

COLUMNS, CELLS, RESERVES, FOUNDATIONS = p.COLUMNS, p.CELLS, p.RESERVES, p.FOUNDATIONS
ONE = np.uint64(1)

KINDS = p.FOUNDED + p.KIND

DRAW_ONLY = 63


@compiled
def column_room(ints: Ints, sizes: Ints, source: int, target: int) -> int:
    """How many cards (or suit runs) may move at once between two columns; -1 without limit."""
    g = ints[p.GROUP + source]
    kind = ints[p.COLUMN + p.COLUMN_FIELDS * g + p.LIMIT]
    if kind == 0:
        return -1
    if kind == 3:
        return ints[p.COLUMN + p.COLUMN_FIELDS * g + p.LIMIT_NUMBER]
    room = 1
    columns = ints[COLUMNS]
    for cell in range(columns, columns + ints[CELLS]):
        if sizes[cell] == 0:
            room += 1
    if kind == 2:
        for other in range(columns):
            if (
                other != target
                and sizes[other] == 0
                and ints[p.COLUMN + p.COLUMN_FIELDS * ints[p.GROUP + other] + p.EMPTY_ANY]
                and room < 512
            ):
                room *= 2
    return room


@compiled
def group_size(ints: Ints, bits: Bits, held: Cards, sizes: Ints, source: int, at: int) -> int:
    """The size of a group for its limit: cards, or runs of one suit."""
    size, g = sizes[source], ints[p.GROUP + source]
    if not ints[p.COLUMN + p.COLUMN_FIELDS * g + p.SUIT_RUNS]:
        return size - at
    runs = 1
    for i in range(at, size - 1):
        if not (bits[p.CONTINUES + g, held[source, i]] >> np.uint64(held[source, i + 1])) & ONE:
            runs += 1
    return runs


@compiled
def single_moves(
    ints: Ints,
    bits: Bits,
    held: Cards,
    sizes: Ints,
    source: int,
    zone: int,
    draws: int,
    moves: Ints,
    count: int,
    wanted: np.uint64,
) -> int:
    """Moves of the last card of a pile that is no column, and of a column's to cells and foundations."""
    columns = ints[COLUMNS]
    first = columns + ints[CELLS] + ints[RESERVES]
    card = held[source, sizes[source] - 1]
    bit = ONE << np.uint64(card)
    code = draws << 24 | source << 18 | 1 << 9
    if zone != 0:
        tried_empty = False
        for target in range(columns):
            g = ints[p.GROUP + target]
            limit = ints[p.COLUMN + p.COLUMN_FIELDS * g + p.MAX_CARDS]
            if limit >= 0 and sizes[target] >= limit:
                continue
            if sizes[target] == 0:
                if tried_empty and alike(ints, sizes):
                    continue
                if bits[p.START, g] & bit and (ints[p.COLUMN + p.COLUMN_FIELDS * g + p.SOURCES] >> zone) & 1:
                    tried_empty = True
                    moves[count] = code | target
                    count += 1
            elif (
                not held[target, sizes[target] - 1] & 64
                and bits[p.FITS + g, held[target, sizes[target] - 1]] & bit
            ):
                moves[count] = code | target
                count += 1
    if zone != 3 and wanted & bit:
        last = -1
        for f in range(ints[FOUNDATIONS]):
            if takes(ints, bits, held, sizes, f, card):
                # Foundations of one kind that hold the same are the same foundation twice.
                if (
                    last >= 0
                    and ints[KINDS + p.FOUNDATION_FIELDS * last] == ints[KINDS + p.FOUNDATION_FIELDS * f]
                    and sizes[first + last] == sizes[first + f]
                ):
                    top = sizes[first + f]
                    if top == 0 or (
                        not ints[p.RETURNS] and held[first + last, top - 1] == held[first + f, top - 1]
                    ):
                        continue
                moves[count] = code | (first + f)
                count += 1
                last = f
    if zone != 1 and ints[CELLS] and (ints[p.CELL_SOURCES] >> zone) & 1:
        for cell in range(columns, columns + ints[CELLS]):
            if sizes[cell] == 0:
                moves[count] = code | cell
                count += 1
                break
    return count


@compiled
def column_moves(
    ints: Ints, bits: Bits, held: Cards, sizes: Ints, source: int, moves: Ints, count: int
) -> int:
    """Moves of groups of a column to other columns, and of complete runs home."""
    columns = ints[COLUMNS]
    first = columns + ints[CELLS] + ints[RESERVES]
    size = sizes[source]
    low = lowest_movable(ints, bits, held, sizes, source)
    unit = ints[p.COLUMN + p.COLUMN_FIELDS * ints[p.GROUP + source] + p.UNIT]
    heads = np.uint64(0)
    for i in range(low, size):
        heads |= ONE << np.uint64(held[source, i])
    tried_empty = False
    for target in range(columns):
        if target == source:
            continue
        g = ints[p.GROUP + target]
        there = sizes[target]
        if there == 0:
            if tried_empty and alike(ints, sizes):
                continue
            tried_empty = True
            fitting = bits[p.START, g] & heads
            if not ints[p.COLUMN + p.COLUMN_FIELDS * g + p.SOURCES] & 1:
                continue
        elif held[target, there - 1] & 64:
            continue
        else:
            fitting = bits[p.FITS + g, held[target, there - 1]] & heads
        if fitting == 0:
            continue
        room = column_room(ints, sizes, source, target)
        for i in range(low, size):
            if not (fitting >> np.uint64(held[source, i])) & ONE:
                continue
            n = size - i
            if (unit == 3 and i > 0) or (unit == 4 and i > 0 and n > 1):
                continue
            if there == 0:
                if i == 0 and (
                    ints[p.COLUMN + p.COLUMN_FIELDS * g + p.REFUSE_WHOLE]
                    or (g == ints[p.GROUP + source] and not ints[p.FILLS] and alike(ints, sizes))
                ):
                    continue
                if (
                    ints[p.COLUMN + p.COLUMN_FIELDS * g + p.EMPTY_MAX] >= 0
                    and n > ints[p.COLUMN + p.COLUMN_FIELDS * g + p.EMPTY_MAX]
                ):
                    continue
            if (
                ints[p.COLUMN + p.COLUMN_FIELDS * g + p.MAX_CARDS] >= 0
                and there + n > ints[p.COLUMN + p.COLUMN_FIELDS * g + p.MAX_CARDS]
            ):
                continue
            if room >= 0 and n > 1 and group_size(ints, bits, held, sizes, source, i) > room:
                continue
            moves[count] = source << 18 | n << 9 | target
            count += 1
    if ints[p.RUNS]:
        for f in range(ints[FOUNDATIONS]):
            if (
                ints[p.FOUNDED + p.FOUNDATION_FIELDS * f + p.ACCEPTS_RUNS]
                and sizes[first + f] == 0
                and ends_in_run(ints, bits, held, sizes, source, f)
            ):
                moves[count] = (
                    source << 18 | ints[p.FOUNDED + p.FOUNDATION_FIELDS * f + p.RUN_LENGTH] << 9 | (first + f)
                )
                count += 1
                break
    return count


@compiled
def legal(ints: Ints, bits: Bits, held: Cards, sizes: Ints, moves: Ints, log: Ints) -> int:
    """All moves worth looking at, into `moves`; returns how many. The state is as before afterwards."""
    columns = ints[COLUMNS]
    reserve = columns + ints[CELLS]
    first = reserve + ints[RESERVES]
    count = 0
    wanted = wanted_cards(ints, bits, held, sizes)
    for source in range(columns):
        size = sizes[source]
        if size and not held[source, size - 1] & 64:
            count = column_moves(ints, bits, held, sizes, source, moves, count)
            count = single_moves(ints, bits, held, sizes, source, 0, 0, moves, count, wanted)
    for cell in range(columns, reserve):
        if sizes[cell]:
            count = single_moves(ints, bits, held, sizes, cell, 1, 0, moves, count, wanted)
    if ints[p.PLAY_RESERVE]:
        for pile in range(reserve, first):
            if sizes[pile] and not held[pile, sizes[pile] - 1] & 64:
                count = single_moves(ints, bits, held, sizes, pile, 2, 0, moves, count, wanted)
    if ints[p.RETURNS]:
        stocked = ints[p.STOCK] >= 0 and sizes[ints[p.STOCK]] > 0
        for f in range(ints[FOUNDATIONS]):
            kind = ints[p.FOUNDED + p.FOUNDATION_FIELDS * f + p.RETURN_KIND]
            if sizes[first + f] and (kind == 1 or (kind == 2 and not stocked)):
                count = single_moves(ints, bits, held, sizes, first + f, 3, 0, moves, count, wanted)
    waste = ints[p.WASTE]
    if waste >= 0 and sizes[waste]:
        count = single_moves(ints, bits, held, sizes, waste, 5, 0, moves, count, wanted)
    if not ints[p.MACRO_DRAW]:
        if can_draw(ints, sizes):
            moves[count] = DRAW_ONLY << 18
            count += 1
        return count
    for column in range(columns):
        # A table as it was given: a draw would turn up what a deal left covered.
        if sizes[column] and held[column, sizes[column] - 1] & 64 and can_draw(ints, sizes):
            moves[count] = DRAW_ONLY << 18
            count += 1
            break
    return drawn_moves(ints, bits, held, sizes, moves, count, log, wanted)


@compiled
def drawn_moves(
    ints: Ints, bits: Bits, held: Cards, sizes: Ints, moves: Ints, count: int, log: Ints, wanted: np.uint64
) -> int:
    """Moves of waste cards that some draws would lay open."""
    waste, stock, piles = ints[p.WASTE], ints[p.STOCK], ints[p.PILES]
    turn = sizes[piles]
    at = 0
    draws = 0
    most = 2 * (sizes[stock] + sizes[waste]) // ints[p.DRAW] + 4
    turned = False
    while draws < most and draws < 120 and can_draw(ints, sizes):
        if sizes[stock] == 0:
            if turned:
                break
            turned = True
        at = draw(ints, held, sizes, log, at)
        draws += 1
        if sizes[waste]:
            count = single_moves(ints, bits, held, sizes, waste, 5, draws, moves, count, wanted)
    take_back(held, sizes, log, at)
    sizes[piles] = turn
    return count


@compiled
def forces_safe(ints: Ints, sizes: Ints) -> bool:
    """Whether safe cards may go home without a look at other moves.

    A safe card is in nobody's way but where a stock is still to be dealt onto the columns: what would have covered it then
    covers another.
    """
    stock = ints[p.STOCK]
    return ints[p.FORCE_SAFE] != 0 and (stock < 0 or sizes[stock] == 0 or ints[p.DEAL_TO] < 2)


@compiled
def force_home(
    ints: Ints, bits: Bits, held: Cards, sizes: Ints, log: Ints, at: int, line: Ints, length: int
) -> tuple[int, int]:
    """Send safe cards home by hand, each settled; into `line` too (from `length` on) where that is given."""
    first = ints[COLUMNS] + ints[CELLS] + ints[RESERVES]
    # A card that leaves the waste changes which cards a draw of several lays open.
    with_waste = ints[p.WASTE] >= 0 and ints[p.DRAW] == 1
    last = home_piles(ints)
    again = True
    while again:
        again = False
        wanted = wanted_cards(ints, bits, held, sizes)
        for number in range(last + (1 if with_waste else 0)):
            pile = number if number < last else ints[p.WASTE]
            size = sizes[pile]
            if size == 0:
                continue
            card = held[pile, size - 1]
            if card & 64 or not (wanted >> np.uint64(card)) & ONE:
                continue
            f = foundation_of(ints, bits, held, sizes, card)
            if f >= 0 and is_safe(ints, bits, held, sizes, card):
                sizes[ints[p.PILES] + 1] = -1
                at = shift(held, sizes, log, at, pile, first + f, 1, False)
                at = settle(ints, bits, held, sizes, log, at)
                if length < line.shape[0]:
                    line[length] = pile << 18 | 1 << 9 | (first + f)
                    length += 1
                again = True
                break
    return at, length


@compiled
def play(
    ints: Ints, bits: Bits, held: Cards, sizes: Ints, move: int, log: Ints, line: Ints, length: int
) -> tuple[int, int]:
    """Play a move with its draws, what it sets off and the safe cards sent home after it; the moves go into `line`."""
    at = 0
    piles = ints[p.PILES]
    draws = move >> 24
    source, n, target = (move >> 18) & 63, (move >> 9) & 511, move & 511
    if source == DRAW_ONLY:
        draws += 1
    for _ in range(draws):
        at = draw(ints, held, sizes, log, at)
        if length < line.shape[0]:
            line[length] = DRAW_ONLY << 18
            length += 1
    sizes[piles + 1] = -1
    if source != DRAW_ONLY:
        first = ints[COLUMNS] + ints[CELLS] + ints[RESERVES]
        if first <= source < first + ints[FOUNDATIONS]:
            sizes[piles + 1] = held[source, sizes[source] - 1]
        at = shift(held, sizes, log, at, source, target, n, False)
        if length < line.shape[0]:
            line[length] = source << 18 | n << 9 | target
            length += 1
    at = settle(ints, bits, held, sizes, log, at)
    if forces_safe(ints, sizes) and sizes[piles + 1] < 0:
        at, length = force_home(ints, bits, held, sizes, log, at, line, length)
    return at, length


@compiled
def is_won(ints: Ints, sizes: Ints) -> bool:
    """Whether enough cards are home."""
    first = ints[COLUMNS] + ints[CELLS] + ints[RESERVES]
    home = 0
    for pile in range(first, first + ints[FOUNDATIONS]):
        home += sizes[pile]
    return home >= ints[p.GOAL_CARDS]
