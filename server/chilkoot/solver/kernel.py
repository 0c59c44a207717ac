"""The compiled inner part of the search: moves, what they set off, the state as a key, and one best-first run.

Mirrors ``engine.moves`` and ``engine.play`` over the flat arrays of ``solver.problem``; every line that comes out is played
again by the engine before anyone sees it. Keys are exact: a state is the same as another only if every card lies the same
(columns that have the same rules in any order), so an exhausted run is a proof and no hash can spoil it.

The functions are compiled by numba on first use (kept on disk), hold no lock while they run, and read no clock.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chilkoot.solver import problem as p
from chilkoot.solver.compiled import Bits, Cards, Ints, compiled
from chilkoot.solver.dead import FREE, is_dead, is_dead_by_turns

__all__ = ["CONTINUE", "EXHAUSTED", "FULL", "WON", "line_of", "run", "words_of"]

CONTINUE, WON, EXHAUSTED, FULL = 0, 1, 2, 3

NEVER = 1 << 40

# A move is draws << 24 | source << 18 | cards << 9 | target; DRAW_ONLY as source is a draw by itself.
DRAW_ONLY = 63
BUCKETS = 4096

COLUMNS, CELLS, RESERVES, FOUNDATIONS = p.COLUMNS, p.CELLS, p.RESERVES, p.FOUNDATIONS
ONE = np.uint64(1)


@compiled
def shift(held: Cards, sizes: Ints, log: Ints, at: int, source: int, target: int, n: int, flip: bool) -> int:
    """Move the last n cards; with flip reversed and turned over. Logged at `at`; returns the next place in the log."""
    start = sizes[source] - n
    there = sizes[target]
    if flip:
        for i in range(n):
            held[target, there + i] = held[source, start + n - 1 - i] ^ 64
    else:
        for i in range(n):
            held[target, there + i] = held[source, start + i]
    sizes[source] = start
    sizes[target] = there + n
    log[at, 0] = source
    log[at, 1] = target
    log[at, 2] = n
    log[at, 3] = 1 if flip else 0
    return at + 1


@compiled
def turn_up(held: Cards, sizes: Ints, log: Ints, at: int, pile: int) -> int:
    """Turn the last card of a pile over, logged."""
    held[pile, sizes[pile] - 1] ^= 64
    log[at, 0] = pile
    log[at, 3] = 2
    return at + 1


@compiled
def take_back(held: Cards, sizes: Ints, log: Ints, at: int) -> None:
    """Undo everything in the log."""
    while at > 0:
        at -= 1
        source, target, n, kind = log[at, 0], log[at, 1], log[at, 2], log[at, 3]
        if kind == 2:
            held[source, sizes[source] - 1] ^= 64
            continue
        start = sizes[target] - n
        there = sizes[source]
        if kind == 1:
            for i in range(n):
                held[source, there + i] = held[target, start + n - 1 - i] ^ 64
        else:
            for i in range(n):
                held[source, there + i] = held[target, start + i]
        sizes[target] = start
        sizes[source] = there + n


@compiled
def alike(ints: Ints, sizes: Ints) -> bool:
    """Whether columns may change places: they have the same rules, and no stock is still to be dealt onto them."""
    stock = ints[p.STOCK]
    return ints[p.ALIKE] != 0 and (stock < 0 or sizes[stock] == 0 or ints[p.DEAL_TO] < 2)


@compiled
def lowest_movable(ints: Ints, bits: Bits, held: Cards, sizes: Ints, column: int) -> int:
    """Index of the lowest card of a column that could be picked up, limits aside; its size where none can."""
    size = sizes[column]
    if size == 0 or held[column, size - 1] & 64:
        return size
    unit = ints[p.COLUMN + p.COLUMN_FIELDS * ints[p.GROUP + column] + p.UNIT]
    low = size - 1
    if unit == 2:
        return low
    if unit in (0, 3):
        while low > 0 and not held[column, low - 1] & 64:
            low -= 1
    else:
        g = ints[p.GROUP + column]
        while (
            low > 0
            and not held[column, low - 1] & 64
            and (bits[p.GLUED + g, held[column, low - 1]] >> np.uint64(held[column, low])) & ONE
        ):
            low -= 1
    if unit == 3 and low > 0:
        return size
    return low


@compiled
def ends_in_run(ints: Ints, bits: Bits, held: Cards, sizes: Ints, column: int, f: int) -> bool:
    """Whether a column ends in a complete run that foundation f takes."""
    length = ints[p.FOUNDED + p.FOUNDATION_FIELDS * f + p.RUN_LENGTH]
    size = sizes[column]
    if size < length:
        return False
    suit = ints[p.FOUNDED + p.FOUNDATION_FIELDS * f + p.SUIT]
    for i in range(size - length, size):
        card = held[column, i]
        if card & 64 or (suit >= 0 and card // 13 != suit):
            return False
        if i > size - length and not (bits[p.RUN_NEXT + f, held[column, i - 1]] >> np.uint64(card)) & ONE:
            return False
    return True


@compiled
def takes(ints: Ints, bits: Bits, held: Cards, sizes: Ints, f: int, card: int) -> bool:
    """Whether foundation f takes a single card."""
    if ints[p.FOUNDED + p.FOUNDATION_FIELDS * f + p.ACCEPTS_RUNS]:
        return False
    pile = ints[COLUMNS] + ints[CELLS] + ints[RESERVES] + f
    size = sizes[pile]
    if size == 0:
        return (bits[p.F_START, f] >> np.uint64(card)) & ONE == ONE
    return (
        size < ints[p.FOUNDED + p.FOUNDATION_FIELDS * f + p.CAPACITY]
        and (bits[p.F_ON + f, held[pile, size - 1]] >> np.uint64(card)) & ONE == ONE
    )


@compiled
def wanted_cards(ints: Ints, bits: Bits, held: Cards, sizes: Ints) -> np.uint64:
    """The cards that some foundation takes now, its capacity aside."""
    first = ints[COLUMNS] + ints[CELLS] + ints[RESERVES]
    wanted = np.uint64(0)
    for f in range(ints[FOUNDATIONS]):
        if ints[p.FOUNDED + p.FOUNDATION_FIELDS * f + p.ACCEPTS_RUNS] == 0:
            size = sizes[first + f]
            if size == 0:
                wanted |= bits[p.F_START, f]
            else:
                wanted |= bits[p.F_ON + f, held[first + f, size - 1]]
    return wanted


@compiled
def foundation_of(ints: Ints, bits: Bits, held: Cards, sizes: Ints, card: int) -> int:
    """The first foundation that takes a card, -1 where none does."""
    for f in range(ints[FOUNDATIONS]):
        if takes(ints, bits, held, sizes, f, card):
            return f
    return -1


@compiled
def is_safe(ints: Ints, bits: Bits, held: Cards, sizes: Ints, card: int) -> bool:
    """Whether all cards that could still need this one are home, all packs' copies."""
    if ints[p.NEVER_SAFE]:
        return False
    needed = bits[p.NEEDS, card]
    if needed == 0:
        return True
    first = ints[COLUMNS] + ints[CELLS] + ints[RESERVES]
    copies = ints[p.COPIES]
    if copies == 1:
        home = np.uint64(0)
        for pile in range(first, first + ints[FOUNDATIONS]):
            for i in range(sizes[pile]):
                home |= ONE << np.uint64(held[pile, i])
        return needed & ~home == 0
    for other in range(52):
        if (needed >> np.uint64(other)) & ONE:
            found = 0
            for pile in range(first, first + ints[FOUNDATIONS]):
                for i in range(sizes[pile]):
                    if held[pile, i] == other:
                        found += 1
            if found < copies:
                return False
    return True


@compiled
def settle(ints: Ints, bits: Bits, held: Cards, sizes: Ints, log: Ints, at: int) -> int:
    """Runs home, columns filled, cards turned up, safe cards home, until nothing changes."""
    columns = ints[COLUMNS]
    first = columns + ints[CELLS] + ints[RESERVES]
    auto = ints[p.AUTO]
    while True:
        before = at
        if ints[p.RUNS]:
            again = True
            while again:
                again = False
                for column in range(columns):
                    for f in range(ints[FOUNDATIONS]):
                        if (
                            ints[p.FOUNDED + p.FOUNDATION_FIELDS * f + p.ACCEPTS_RUNS]
                            and sizes[first + f] == 0
                            and ends_in_run(ints, bits, held, sizes, column, f)
                        ):
                            at = shift(
                                held,
                                sizes,
                                log,
                                at,
                                column,
                                first + f,
                                ints[p.FOUNDED + p.FOUNDATION_FIELDS * f + p.RUN_LENGTH],
                                False,
                            )
                            again = True
                            break
                    if again:
                        break
        if ints[p.FILLS]:
            at = fill_columns(ints, bits, held, sizes, log, at)
        for column in range(columns):
            size = sizes[column]
            if size and held[column, size - 1] & 64:
                at = turn_up(held, sizes, log, at, column)
        for pile in range(columns + ints[CELLS], first):
            size = sizes[pile]
            if size and held[pile, size - 1] & 64:
                at = turn_up(held, sizes, log, at, pile)
        if auto:
            at = auto_home(ints, bits, held, sizes, log, at)
        if at == before or not (auto or ints[p.RUNS] or ints[p.FILLS]):
            return at


@compiled
def fill_columns(ints: Ints, bits: Bits, held: Cards, sizes: Ints, log: Ints, at: int) -> int:
    """Fill empty columns from left to right by their rule."""
    columns = ints[COLUMNS]
    reserve = columns + ints[CELLS]
    first = reserve + ints[RESERVES]
    for column in range(columns):
        kind = ints[p.COLUMN + p.COLUMN_FIELDS * ints[p.GROUP + column] + p.FILL]
        if sizes[column] or kind == 0:
            continue
        if kind == 5:
            if column + 1 < columns and sizes[column + 1]:
                n = sizes[column + 1] - lowest_movable(ints, bits, held, sizes, column + 1)
                if n:
                    at = shift(held, sizes, log, at, column + 1, column, n, False)
            continue
        source = -1
        if kind == 1:
            for pile in range(reserve, first):
                if sizes[pile]:
                    source = pile
                    break
        elif kind in (2, 4) and ints[p.WASTE] >= 0 and sizes[ints[p.WASTE]]:
            source = ints[p.WASTE]
        elif kind in (3, 4) and ints[p.STOCK] >= 0 and sizes[ints[p.STOCK]]:
            source = ints[p.STOCK]
        if source >= 0:
            at = shift(held, sizes, log, at, source, column, 1, source == ints[p.STOCK])
    return at


@compiled
def home_piles(ints: Ints) -> int:
    """How many piles from 0 on may send cards home (the waste may too)."""
    if ints[p.PLAY_RESERVE]:
        return ints[COLUMNS] + ints[CELLS] + ints[RESERVES]
    return ints[COLUMNS] + ints[CELLS]


@compiled
def auto_home(ints: Ints, bits: Bits, held: Cards, sizes: Ints, log: Ints, at: int) -> int:
    """What the rules send home by themselves: one sweep over the piles."""
    first = ints[COLUMNS] + ints[CELLS] + ints[RESERVES]
    returned = sizes[ints[p.PILES] + 1]
    last = home_piles(ints)
    for number in range(last + 1):
        pile = number
        if number == last:
            pile = ints[p.WASTE]
            if pile < 0:
                break
        size = sizes[pile]
        if size == 0:
            continue
        card = held[pile, size - 1]
        if card & 64 or card == returned:
            continue
        f = foundation_of(ints, bits, held, sizes, card)
        if f < 0:
            continue
        kind = ints[p.FOUNDED + p.FOUNDATION_FIELDS * f + p.AUTO_KIND]
        if kind == 2 or (kind == 1 and is_safe(ints, bits, held, sizes, card)):
            at = shift(held, sizes, log, at, pile, first + f, 1, False)
    return at


@compiled
def can_draw(ints: Ints, sizes: Ints) -> bool:
    """Whether the stock may be turned."""
    kind = ints[p.DEAL_TO]
    if kind == 0:
        return False
    if sizes[ints[p.STOCK]]:
        if ints[p.REQUIRE_FULL]:
            for column in range(ints[COLUMNS]):
                if sizes[column] == 0:
                    return False
        return True
    if kind == 1 and sizes[ints[p.WASTE]]:
        return ints[p.PASSES] < 0 or sizes[ints[p.PILES]] < ints[p.PASSES]
    return False


@compiled
def draw(ints: Ints, held: Cards, sizes: Ints, log: Ints, at: int) -> int:
    """Turn the stock or turn the waste over, without settling."""
    stock, waste, piles = ints[p.STOCK], ints[p.WASTE], ints[p.PILES]
    kind = ints[p.DEAL_TO]
    if sizes[stock] == 0:
        sizes[piles] += 1
        return shift(held, sizes, log, at, waste, stock, sizes[waste], True)
    if kind == 1:
        return shift(held, sizes, log, at, stock, waste, min(ints[p.DRAW], sizes[stock]), True)
    start, stop = 0, ints[COLUMNS]
    if kind == 4:
        start = ints[COLUMNS] + ints[CELLS]
        stop = start + ints[RESERVES]
    filled = np.zeros(64, dtype=np.bool_)
    for pile in range(start, stop):
        filled[pile] = kind != 3 or sizes[pile] > 0
    for _ in range(ints[p.DRAW]):
        for pile in range(start, stop):
            if filled[pile]:
                if sizes[stock] == 0:
                    return at
                at = shift(held, sizes, log, at, stock, pile, 1, True)
    return at


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
                # Foundations that take the card on the same top are the same foundation twice.
                if (
                    last >= 0
                    and bits[p.F_START, last] == bits[p.F_START, f]
                    and sizes[first + last] == sizes[first + f]
                ):
                    top = sizes[first + f]
                    if top == 0 or held[first + last, top - 1] == held[first + f, top - 1]:
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


def words_of(piles: int, cards: int) -> int:
    """64-bit words that a state's key takes: the pile sizes, pass, returned card, and every card."""
    return (piles + 2 + cards + 7) // 8


@compiled
def before(held: Cards, sizes: Ints, left: int, right: int) -> bool:
    """Whether one column comes before another in a key: by its cards, bottom first."""
    for i in range(min(sizes[left], sizes[right])):
        if held[left, i] != held[right, i]:
            return held[left, i] < held[right, i]
    return sizes[left] < sizes[right]


@compiled
def pack(ints: Ints, held: Cards, sizes: Ints, octets: NDArray[np.uint8], order: Ints) -> None:
    """The state as the bytes of a key: piles in order, those that are alike sorted among themselves."""
    piles = ints[p.PILES]
    columns, cells = ints[COLUMNS], ints[CELLS]
    for pile in range(piles):
        order[pile] = pile
    if alike(ints, sizes):
        for i in range(1, columns):
            j = i
            while j > 0 and before(held, sizes, order[j], order[j - 1]):
                order[j], order[j - 1] = order[j - 1], order[j]
                j -= 1
    for i in range(columns + 1, columns + cells):
        j = i
        while j > columns and before(held, sizes, order[j], order[j - 1]):
            order[j], order[j - 1] = order[j - 1], order[j]
            j -= 1
    if ints[p.TWINS]:
        first = columns + cells + ints[RESERVES]
        kinds = p.FOUNDED + p.KIND
        for f in range(ints[FOUNDATIONS]):
            for g in range(f + 1, ints[FOUNDATIONS]):
                same = ints[kinds + p.FOUNDATION_FIELDS * f] == ints[kinds + p.FOUNDATION_FIELDS * g]
                if same and before(held, sizes, order[first + g], order[first + f]):
                    order[first + f], order[first + g] = order[first + g], order[first + f]
    for number in range(piles):
        octets[number] = sizes[order[number]]
    octets[piles] = sizes[piles] if ints[p.PASSES] >= 0 else 1
    octets[piles + 1] = sizes[piles + 1] + 1 if ints[p.AUTO] else 0
    at = piles + 2
    for number in range(piles):
        pile = order[number]
        for i in range(sizes[pile]):
            octets[at] = held[pile, i]
            at += 1


@compiled
def unpack(ints: Ints, key: Bits, held: Cards, sizes: Ints) -> None:
    """The state of a key, its columns and cells in the key's order."""
    piles = ints[p.PILES]
    octets = key.view(np.uint8)
    for number in range(piles + 2):
        sizes[number] = octets[number]
    sizes[piles + 1] -= 1
    at = piles + 2
    for pile in range(piles):
        for i in range(sizes[pile]):
            held[pile, i] = octets[at]
            at += 1


@compiled
def hash_of(key: Bits) -> np.uint64:
    """A 64-bit mix of a key's words; only spreads the keys over the table, which compares them in full."""
    mixed = np.uint64(0x9E3779B97F4A7C15)
    for word in key:
        mixed = (mixed ^ word) * np.uint64(0xFF51AFD7ED558CCD)
        mixed ^= mixed >> np.uint64(32)
    return mixed


@compiled
def evaluate(ints: Ints, bits: Bits, held: Cards, sizes: Ints, weights: Ints, lowest: Ints) -> int:
    """How far a state looks from the goal: a weighted sum of seven counts; lower is nearer."""
    columns = ints[COLUMNS]
    first = columns + ints[CELLS] + ints[RESERVES]
    base = ints[p.BASE]
    wanted = wanted_cards(ints, bits, held, sizes)
    home = 0
    for f in range(ints[FOUNDATIONS]):
        home += sizes[first + f]
    runs = ints[p.RUNS]
    down, bad, inverted, empty, covering = 0, 0, 0, 0, 0
    for column in range(columns):
        size = sizes[column]
        if size == 0:
            empty += 1
            continue
        g = ints[p.GROUP + column]
        for suit in range(4):
            lowest[suit] = 99
        seen_wanted = False
        for i in range(size):
            card = held[column, i]
            plain = card & 63
            if card & 64:
                down += 1
            elif i > 0:
                below = held[column, i - 1]
                if below & 64:
                    bad += 1
                elif runs:
                    bad += 0 if (bits[p.GLUED + g, below] >> np.uint64(plain)) & ONE else 1
                elif not (bits[p.FITS + g, below] >> np.uint64(plain)) & ONE:
                    bad += 1
            if seen_wanted:
                covering += 1
            elif (wanted >> np.uint64(plain)) & ONE:
                seen_wanted = True
            rank = (plain % 13 - base + 13) % 13
            suit = plain // 13
            if rank > lowest[suit]:
                inverted += 1
            else:
                lowest[suit] = rank
    used = 0
    for cell in range(columns, columns + ints[CELLS]):
        used += sizes[cell] > 0
    return (
        weights[0] * down
        + weights[1] * bad
        + weights[2] * (ints[p.CARDS] - home)
        + weights[3] * inverted
        - weights[4] * empty
        + weights[5] * covering
        + weights[6] * used
    )


@compiled
def find(keys: Bits, table: NDArray[np.int32], key: Bits) -> np.int64:
    """The slot of a key in the table: of the node that has it, else the free one where it belongs."""
    mask = np.uint64(table.shape[0] - 1)
    slot = hash_of(key) & mask
    while True:
        node = table[np.int64(slot)]
        if node < 0:
            return np.int64(slot)
        same = True
        for i in range(key.shape[0]):
            if keys[node, i] != key[i]:
                same = False
                break
        if same:
            return np.int64(slot)
        slot = (slot + ONE) & mask


@compiled
def run(
    ints: Ints,
    bits: Bits,
    root_held: Cards,
    root_sizes: Ints,
    weights: Ints,
    keys: Bits,
    parents: NDArray[np.int32],
    moves_made: Ints,
    after: NDArray[np.int32],
    heads: NDArray[np.int32],
    table: NDArray[np.int32],
    state: Ints,
    worth: Ints,
    expansions: int,
    every: int,
) -> int:
    """Best-first search, a chunk of it: at most `expansions` more positions are opened.

    `state` (6) holds nodes, lowest bucket that may be filled, positions opened, goal node, dearer dead tests made and those
    that said dead; all zero begins a run, for which `heads` and `table` must hold -1. Without `every` no dead test is
    made; NEVER means the cheap one alone, else the one by turns is made too, in full at one position in `every`. Returns CONTINUE, WON, EXHAUSTED (nothing left: a proof), or FULL (no room for more).
    """
    piles = ints[p.PILES]
    cards = ints[p.CARDS]
    held = root_held.copy()
    sizes = root_sizes.copy()
    log = np.zeros((4 * cards + 512, 4), dtype=np.int64)
    moves = np.zeros(8192, dtype=np.int64)
    order = np.zeros(piles, dtype=np.int64)
    octets = np.zeros(8 * keys.shape[1], dtype=np.uint8)
    key = octets.view(np.uint64)
    no_line = np.zeros(0, dtype=np.int64)
    lowest = np.zeros(4, dtype=np.int64)
    first = np.full(52, FREE, dtype=np.int64)
    facts = np.zeros((3, piles, cards), dtype=np.int8)
    room = keys.shape[0]
    if state[0] == 0:
        if forces_safe(ints, sizes):
            force_home(ints, bits, held, sizes, log, 0, no_line, 0)
        pack(ints, held, sizes, octets, order)
        keys[0] = key
        table[find(keys, table, keys[0])] = 0
        parents[0] = -1
        moves_made[0] = 0
        after[0] = -1
        heads[0] = 0
        state[0] = 1
        state[1] = 0
        if is_won(ints, sizes):
            state[3] = 0
            return WON
    opened = 0
    while True:
        bucket = state[1]
        while bucket < BUCKETS and heads[bucket] < 0:
            bucket += 1
        state[1] = bucket
        if bucket == BUCKETS:
            return EXHAUSTED
        if opened >= expansions:
            return CONTINUE
        node = heads[bucket]
        unpack(ints, keys[node], held, sizes)
        dead = False
        if every and ints[p.DEAD_TEST]:
            dead = is_dead(ints, bits, held, sizes, facts, first, np.uint64(0))
            # The argument about turns with all its bases is dear: at the root and at one position in `every`; elsewhere
            # with the few that decide most.
            if not dead and every < NEVER and ints[p.COPIES] == 1:
                most = 52 if state[2] == 0 or state[4] % 256 == 0 else 51 if state[4] % every == 0 else 2
                dead = is_dead_by_turns(ints, bits, held, sizes, facts, first, worth, most)
                state[4] += 1
                state[5] += dead
        if dead:
            heads[bucket] = after[node]
            opened += 1
            state[2] += 1
            continue
        count = legal(ints, bits, held, sizes, moves, log)
        if state[0] + count >= room:
            return FULL
        heads[bucket] = after[node]
        opened += 1
        state[2] += 1
        turn, returned = sizes[piles], sizes[piles + 1]
        for number in range(count):
            at, _ = play(ints, bits, held, sizes, moves[number], log, no_line, 0)
            pack(ints, held, sizes, octets, order)
            slot = find(keys, table, key)
            if table[slot] < 0:
                child = state[0]
                table[slot] = child
                for i in range(key.shape[0]):
                    keys[child, i] = key[i]
                parents[child] = node
                moves_made[child] = moves[number]
                state[0] = child + 1
                if is_won(ints, sizes):
                    state[3] = child
                    return WON
                score = evaluate(ints, bits, held, sizes, weights, lowest)
                score = min(max(score, 0), BUCKETS - 1)
                after[child] = heads[score]
                heads[score] = child
                state[1] = min(state[1], score)
            take_back(held, sizes, log, at)
            sizes[piles] = turn
            sizes[piles + 1] = returned


@compiled
def line_of(
    ints: Ints,
    bits: Bits,
    root_held: Cards,
    root_sizes: Ints,
    keys: Bits,
    parents: NDArray[np.int32],
    moves_made: Ints,
    goal: int,
    line: Ints,
) -> int:
    """The moves from the root to a node, the forced ones included, into `line`; returns how many there are.

    Each move was made in a state whose piles a key had sorted; `actual` says which pile of the root each of them is.
    """
    piles = ints[p.PILES]
    held = root_held.copy()
    sizes = root_sizes.copy()
    log = np.zeros((4 * ints[p.CARDS] + 512, 4), dtype=np.int64)
    order = np.zeros(piles, dtype=np.int64)
    octets = np.zeros(8 * keys.shape[1], dtype=np.uint8)
    depth = 0
    node = goal
    while parents[node] >= 0:
        depth += 1
        node = parents[node]
    path = np.zeros(depth + 1, dtype=np.int64)
    node = goal
    for i in range(depth, -1, -1):
        path[i] = node
        node = parents[node]
    length = 0
    if forces_safe(ints, sizes):
        _, length = force_home(ints, bits, held, sizes, log, 0, line, 0)
    pack(ints, held, sizes, octets, order)
    actual = order.copy()
    for i in range(depth):
        unpack(ints, keys[path[i]], held, sizes)
        start = length
        _, length = play(ints, bits, held, sizes, moves_made[path[i + 1]], log, line, length)
        for at in range(start, length):
            source, n, target = (line[at] >> 18) & 63, (line[at] >> 9) & 511, line[at] & 511
            if source != DRAW_ONLY:
                line[at] = actual[source] << 18 | n << 9 | actual[target]
        pack(ints, held, sizes, octets, order)
        actual = actual[order]
    return length


@compiled
def refill(keys: Bits, table: NDArray[np.int32], count: int) -> None:
    """Put the first `count` nodes into a new, empty table."""
    for node in range(count):
        table[find(keys, table, keys[node])] = node
