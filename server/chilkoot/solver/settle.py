"""Changes of a table in flat arrays, and what they set off: the compiled mirror of ``engine.play``.

Every change is logged, so that the search can take an action back. Nothing here chooses a move.
"""

from __future__ import annotations

import numpy as np

from chilkoot.solver import problem as p
from chilkoot.solver.compiled import Bits, Cards, Ints, compiled

__all__ = [
    "alike",
    "auto_home",
    "can_draw",
    "draw",
    "ends_in_run",
    "fill_columns",
    "foundation_of",
    "home_piles",
    "is_safe",
    "lowest_movable",
    "settle",
    "shift",
    "take_back",
    "take_back_to",
    "takes",
    "turn_up",
    "wanted_cards",
]

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
    take_back_to(held, sizes, log, at, 0)


@compiled
def take_back_to(held: Cards, sizes: Ints, log: Ints, at: int, floor: int) -> None:
    """Undo what is in the log from `floor` on."""
    while at > floor:
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
    if unit == 0:
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
    if low > 0 and unit >= 3:
        return size if unit == 3 else size - 1
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
