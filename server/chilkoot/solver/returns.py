"""Tables that are the same but for cards that a foundation gave back, or that lie on the other of two bases: one class.

Where foundations give their cards back, a card that lies on one it can be built on, or that began an empty column, may go
home and come back to where it lay, so both tables are won or lost together; and so is a table in which it lies on its other
base. The search keeps one table of such a class, in which all that may go home so is home (``represent``), and looks at the
moves of all of them (``moves_with_returns``): of each table that a step within the class leads to, those moves that need this
step, because they could not be made before it. Any other move could come before the step as well, which then leads to a
table of the same class.

Nothing but the waste changes where a stock is turned, and where it may be turned without end, so tables are the same too
that differ in where between two turns it stands (``turn_over``).
"""

from __future__ import annotations

import numpy as np

from chilkoot.solver import problem as p
from chilkoot.solver.compiled import Bits, Cards, Ints, compiled
from chilkoot.solver.moves import DRAW_ONLY, column_moves, force_home, forces_safe, single_moves
from chilkoot.solver.sets import lowest_of
from chilkoot.solver.settle import (
    can_draw,
    foundation_of,
    is_safe,
    lowest_movable,
    shift,
    take_back_to,
    wanted_cards,
)

__all__ = ["apply_step", "moves_with_returns", "represent", "waste_cards"]

ONE = np.uint64(1)
NO_CARDS = np.uint64(0)

FOUNDATION, WASTE = 3, 5
"""Zones, as `ZONES` numbers them."""


@compiled
def apply_step(
    held: Cards, sizes: Ints, step: int, log: Ints, at: int, line: Ints, length: int
) -> tuple[int, int]:
    """Make a step within a class: a move that sets nothing off; logged, and into `line`."""
    if length < line.shape[0]:
        line[length] = step
        length += 1
    return shift(held, sizes, log, at, step >> 18, step & 511, (step >> 9) & 511, False), length


@compiled
def turn_over(
    ints: Ints, held: Cards, sizes: Ints, log: Ints, at: int, line: Ints, length: int
) -> tuple[int, int]:
    """Turn the stock till all of it lies face down again, where it then goes on as it would have without that."""
    stock, waste = ints[p.STOCK], ints[p.WASTE]
    if not ints[p.MACRO_DRAW] or ints[p.PASSES] >= 0 or sizes[waste] == 0:
        return at, length
    if sizes[stock] > 0 and sizes[waste] % ints[p.DRAW]:
        return at, length
    turns = (sizes[stock] + ints[p.DRAW] - 1) // ints[p.DRAW] + 1
    if sizes[stock]:
        at = shift(held, sizes, log, at, stock, waste, sizes[stock], True)
    at = shift(held, sizes, log, at, waste, stock, sizes[waste], True)
    for _ in range(turns):
        if length < line.shape[0]:
            line[length] = DRAW_ONLY << 18
            length += 1
    return at, length


@compiled
def may_come_back(ints: Ints, bits: Bits, held: Cards, column: int, i: int) -> bool:
    """Whether a foundation could put the card at `i` of a column where it lies."""
    card = held[column, i]
    g = ints[p.GROUP + column]
    if i == 0:
        sources = ints[p.COLUMN + p.COLUMN_FIELDS * g + p.SOURCES]
        return bool((bits[p.START, g] >> np.uint64(card)) & ONE) and bool((sources >> FOUNDATION) & 1)
    below = held[column, i - 1]
    return not below & 64 and bool((bits[p.FITS + g, below] >> np.uint64(card)) & ONE)


@compiled
def send_home(
    ints: Ints, bits: Bits, held: Cards, sizes: Ints, log: Ints, at: int, line: Ints, length: int
) -> tuple[int, int]:
    """Send home what could come back to where it lies."""
    first = ints[p.COLUMNS] + ints[p.CELLS] + ints[p.RESERVES]
    again = True
    while again:
        again = False
        wanted = wanted_cards(ints, bits, held, sizes)
        for column in range(ints[p.COLUMNS]):
            size = sizes[column]
            if size == 0 or held[column, size - 1] & 64:
                continue
            card = held[column, size - 1]
            if (wanted >> np.uint64(card)) & ONE and may_come_back(ints, bits, held, column, size - 1):
                f = foundation_of(ints, bits, held, sizes, card)
                if f >= 0:
                    step = column << 18 | 1 << 9 | (first + f)
                    at, length = apply_step(held, sizes, step, log, at, line, length)
                    again = True
                    break
    return at, length


@compiled
def ends_of(ints: Ints, held: Cards, sizes: Ints, column_of: Ints) -> np.uint64:
    """The last cards of columns, face up; of each its column into `column_of`."""
    ends = np.uint64(0)
    for column in range(ints[p.COLUMNS]):
        size = sizes[column]
        if size and not held[column, size - 1] & 64:
            ends |= ONE << np.uint64(held[column, size - 1])
            column_of[held[column, size - 1]] = column
    return ends


@compiled
def is_built(bits: Bits, held: Cards, column: int, i: int) -> bool:
    """Whether the card at `i` of a column lies on one it could be built on, face up."""
    if i == 0 or held[column, i - 1] & 64:
        return False
    return bool((bits[p.FITS, held[column, i - 1]] >> np.uint64(held[column, i])) & ONE)


@compiled
def next_swap(ints: Ints, bits: Bits, held: Cards, sizes: Ints, column_of: Ints) -> int:
    """The next swap of bases towards the table that stands for its class; -1 where there is none.

    It lets a card go home, or takes the lowest card there is to a lower base.
    """
    ends = ends_of(ints, held, sizes, column_of)
    wanted = wanted_cards(ints, bits, held, sizes)
    forced = forces_safe(ints, sizes)
    best, best_card = -1, 99
    for column in range(ints[p.COLUMNS]):
        size = sizes[column]
        if size < 2 or held[column, size - 1] & 64:
            continue
        others = ends & ~(ONE << np.uint64(held[column, size - 1]))
        for i in range(size - 1, max(lowest_movable(ints, bits, held, sizes, column), 1) - 1, -1):
            card = held[column, i]
            bases = bits[p.BASES, card] & others
            if bases == NO_CARDS or not is_built(bits, held, column, i):
                continue
            base, below = lowest_of(bases), held[column, i - 1]
            step = column << 18 | (size - i) << 9 | column_of[base]
            if (wanted >> np.uint64(below)) & ONE and (
                may_come_back(ints, bits, held, column, i - 1)
                or (forced and is_safe(ints, bits, held, sizes, below))
            ):
                return int(step)
            if base < below and card < best_card:
                best, best_card = step, card
    return best


@compiled
def represent(
    ints: Ints, bits: Bits, held: Cards, sizes: Ints, log: Ints, at: int, line: Ints, length: int
) -> tuple[int, int]:
    """Make of a table the one that stands for its class; logged, and into `line`.

    Each step brings a card home or lowers the sum of the bases. Where two tables of a class come to stand for it, it is
    looked at twice, and nothing else is lost by that.
    """
    column_of = np.empty(64, dtype=np.int64)
    at, length = turn_over(ints, held, sizes, log, at, line, length)
    while True:
        at, length = send_home(ints, bits, held, sizes, log, at, line, length)
        swap = next_swap(ints, bits, held, sizes, column_of)
        if swap < 0:
            return at, length
        at, length = apply_step(held, sizes, swap, log, at, line, length)
        if forces_safe(ints, sizes):
            at, length = force_home(ints, bits, held, sizes, log, at, line, length)


@compiled
def waste_cards(ints: Ints, held: Cards, sizes: Ints, cards: Ints) -> int:
    """The cards that turning the stock lays open on the waste, as draws << 8 | card, each once with the fewest draws."""
    stock, waste, by = ints[p.STOCK], ints[p.WASTE], ints[p.DRAW]
    if waste < 0:
        return 0
    shown = sizes[waste]
    total = shown + sizes[stock]
    seen = np.uint64(0)
    count, draws, last = 0, 0, shown
    for turn in range(2):
        if turn == 1:
            if total == 0 or (ints[p.PASSES] >= 0 and sizes[ints[p.PILES]] >= ints[p.PASSES]):
                return count
            draws += 1
            last = 0
        while True:
            if last > 0 and not (seen >> np.uint64(last)) & ONE:
                seen |= ONE << np.uint64(last)
                card = held[waste, last - 1] if last <= shown else held[stock, total - last]
                cards[count] = draws << 8 | int(card & 63)
                count += 1
            if last == total:
                break
            last = min(last + by, total)
            draws += 1
    return count


@compiled
def waste_moves(
    ints: Ints, bits: Bits, held: Cards, sizes: Ints, waste: Ints, moves: Ints, count: int
) -> int:
    """The moves of cards that turning the stock lays open, to columns, foundations and cells."""
    columns = ints[p.COLUMNS]
    first = columns + ints[p.CELLS] + ints[p.RESERVES]
    empty, cell = -1, -1
    for column in range(columns):
        if sizes[column] == 0:
            empty = column
            break
    if (ints[p.CELL_SOURCES] >> WASTE) & 1:
        for pile in range(columns, columns + ints[p.CELLS]):
            if sizes[pile] == 0:
                cell = pile
                break
    wanted = wanted_cards(ints, bits, held, sizes)
    starts = (ints[p.COLUMN + p.SOURCES] >> WASTE) & 1
    for one in waste:
        card = np.uint64(one & 255)
        code = (one >> 8) << 24 | ints[p.WASTE] << 18 | 1 << 9
        for column in range(columns):
            size = sizes[column]
            if (
                size
                and not held[column, size - 1] & 64
                and (bits[p.FITS, held[column, size - 1]] >> card) & ONE
            ):
                moves[count] = code | column
                count += 1
        if empty >= 0 and starts and (bits[p.START, 0] >> card) & ONE:
            moves[count] = code | empty
            count += 1
        if (wanted >> card) & ONE:
            f = foundation_of(ints, bits, held, sizes, int(card))
            if f >= 0:
                moves[count] = code | (first + f)
                count += 1
        if cell >= 0:
            moves[count] = code | cell
            count += 1
    return count


@compiled
def own_moves(ints: Ints, bits: Bits, held: Cards, sizes: Ints, waste: Ints, moves: Ints) -> int:
    """The moves of the table that stands for its class, less those that stay within the class."""
    columns = ints[p.COLUMNS]
    reserve = columns + ints[p.CELLS]
    first = reserve + ints[p.RESERVES]
    wanted = wanted_cards(ints, bits, held, sizes)
    count = 0
    covered = False
    for source in range(columns):
        size = sizes[source]
        if size == 0:
            continue
        if held[source, size - 1] & 64:
            covered = True
            continue
        begun = count
        until = column_moves(ints, bits, held, sizes, source, moves, count)
        for number in range(begun, until):
            i = size - ((moves[number] >> 9) & 511)
            if sizes[moves[number] & 511] == 0 or not is_built(bits, held, source, i):
                moves[count] = moves[number]
                count += 1
        count = single_moves(ints, bits, held, sizes, source, 0, 0, moves, count, wanted)
    for pile in range(columns, first):
        if sizes[pile] and (
            pile < reserve or (ints[p.PLAY_RESERVE] and not held[pile, sizes[pile] - 1] & 64)
        ):
            zone = 1 if pile < reserve else 2
            count = single_moves(ints, bits, held, sizes, pile, zone, 0, moves, count, wanted)
    if covered and can_draw(ints, sizes):
        # A table as it was given: a draw would turn up what a deal left covered.
        moves[count] = DRAW_ONLY << 18
        count += 1
    return waste_moves(ints, bits, held, sizes, waste, moves, count)


@compiled
def moves_needing(
    ints: Ints,
    bits: Bits,
    held: Cards,
    sizes: Ints,
    step: int,
    idle: int,
    waste: Ints,
    moves: Ints,
    count: int,
    code: int,
) -> int:
    """The moves that a step just made possible, `code` added, and that need all steps before it.

    A card that came from a foundation, and the base that a swap laid open, can be built on; that base may go, and what
    lies below it may be moved onto the cards that left. With cards from foundations that lie `idle` (they could go back at
    once) a move needs all steps only if it builds on the only one.
    """
    columns = ints[p.COLUMNS]
    reserve = columns + ints[p.CELLS]
    first = reserve + ints[p.RESERVES]
    source, target = step >> 18, step & 511
    is_swap = source < columns
    bare = source if is_swap else target
    if is_swap:
        size = sizes[bare]
        fitting = bits[p.FITS, held[target, sizes[target] - 1]]
        for i in range(lowest_movable(ints, bits, held, sizes, bare), size):
            if (fitting >> np.uint64(held[bare, i])) & ONE and not is_built(bits, held, bare, i):
                moves[count] = code | bare << 18 | (size - i) << 9 | target
                count += 1
    if idle != (0 if is_swap else 1):
        return count
    base = held[bare, sizes[bare] - 1]
    fitting = bits[p.FITS, base]
    for column in range(columns):
        size = sizes[column]
        if column == bare or size == 0 or held[column, size - 1] & 64:
            continue
        for i in range(lowest_movable(ints, bits, held, sizes, column), size):
            if (fitting >> np.uint64(held[column, i])) & ONE and not is_built(bits, held, column, i):
                moves[count] = code | column << 18 | (size - i) << 9 | bare
                count += 1
    for pile in range(columns, first):
        size = sizes[pile]
        if (
            size
            and (pile < reserve or (ints[p.PLAY_RESERVE] and not held[pile, size - 1] & 64))
            and (fitting >> np.uint64(held[pile, size - 1])) & ONE
        ):
            moves[count] = code | pile << 18 | 1 << 9 | bare
            count += 1
    for one in waste:
        if (fitting >> np.uint64(one & 255)) & ONE:
            moves[count] = code | (one >> 8) << 24 | ints[p.WASTE] << 18 | 1 << 9 | bare
            count += 1
    if not is_swap:
        return count
    f = foundation_of(ints, bits, held, sizes, base)
    if f >= 0:
        moves[count] = code | bare << 18 | 1 << 9 | (first + f)
        count += 1
    if ints[p.CELL_SOURCES] & 1:
        for cell in range(columns, reserve):
            if sizes[cell] == 0:
                moves[count] = code | bare << 18 | 1 << 9 | cell
                count += 1
                break
    return count


@compiled
def parts(ints: Ints, bits: Bits, held: Cards, sizes: Ints, column: int, i: int) -> bool:
    """Whether a swap that begins at `i` of a column takes a base off a card that could then be moved onto it.

    The base is the last card there, or the one that the swap lays open, which another swap may take off.
    """
    if ints[p.COLUMN + p.UNIT] == 1:
        return False
    fitting = bits[p.FITS, held[column, i - 1]] | bits[p.FITS, held[column, sizes[column] - 1]]
    for lower in range(i - 1, -1, -1):
        card = held[column, lower]
        if card & 64:
            return False
        if (fitting >> np.uint64(card)) & ONE:
            return True
    return False


@compiled
def steps_of(
    ints: Ints,
    bits: Bits,
    held: Cards,
    sizes: Ints,
    given: np.uint64,
    freed: np.uint64,
    column_of: Ints,
    steps: Ints,
) -> int:
    """The steps within a class from one of its tables, as card << 32 | base << 40 | move (base 63: an empty column).

    Only the cards in `given` come back from foundations, and only the bases in `freed` are laid open by a swap.
    """
    columns = ints[p.COLUMNS]
    first = columns + ints[p.CELLS] + ints[p.RESERVES]
    count = 0
    ends = ends_of(ints, held, sizes, column_of)
    empty = -1
    for column in range(columns):
        size = sizes[column]
        if size == 0:
            empty = column
            continue
        if held[column, size - 1] & 64:
            continue
        others = ends & ~(ONE << np.uint64(held[column, size - 1]))
        for i in range(max(lowest_movable(ints, bits, held, sizes, column), 1), size):
            card = held[column, i]
            bases = bits[p.BASES, card] & others
            if (
                bases
                and is_built(bits, held, column, i)
                and (
                    (freed >> np.uint64(held[column, i - 1])) & ONE
                    or parts(ints, bits, held, sizes, column, i)
                )
            ):
                base = lowest_of(bases)
                steps[count] = int(card) << 32 | base << 40 | column << 18 | (size - i) << 9 | column_of[base]
                count += 1
    for f in range(ints[p.FOUNDATIONS]):
        if sizes[first + f] == 0:
            continue
        card = held[first + f, sizes[first + f] - 1]
        if not (given >> np.uint64(card)) & ONE:
            continue
        code = int(card) << 32 | (first + f) << 18 | 1 << 9
        bases = bits[p.BASES, card] & ends
        while bases:
            base = lowest_of(bases)
            bases &= bases - ONE
            steps[count] = code | base << 40 | column_of[base]
            count += 1
        if (
            empty >= 0
            and (ints[p.COLUMN + p.SOURCES] >> FOUNDATION) & 1
            and (bits[p.START, 0] >> np.uint64(card)) & ONE
        ):
            steps[count] = code | 63 << 40 | empty
            count += 1
    return count


@compiled
def idle_returns(ints: Ints, bits: Bits, held: Cards, sizes: Ints, given: np.uint64) -> int:
    """How many of the cards that foundations gave back could go there again at once."""
    wanted = wanted_cards(ints, bits, held, sizes)
    count = 0
    for column in range(ints[p.COLUMNS]):
        size = sizes[column]
        if size and ((given & wanted) >> np.uint64(held[column, size - 1] & 63)) & ONE:
            count += 1
    return count


@compiled
def comers(ints: Ints, bits: Bits, held: Cards, sizes: Ints, waste: Ints) -> tuple[np.uint64, np.uint64]:
    """The cards that may be moved onto a base, if it is free: by a move, and by a swap of bases."""
    columns = ints[p.COLUMNS]
    first = columns + ints[p.CELLS] + ints[p.RESERVES]
    cards, built = np.uint64(0), np.uint64(0)
    for column in range(columns):
        size = sizes[column]
        for i in range(lowest_movable(ints, bits, held, sizes, column), size):
            if is_built(bits, held, column, i):
                built |= ONE << np.uint64(held[column, i])
            else:
                cards |= ONE << np.uint64(held[column, i])
    for pile in range(columns, first):
        if sizes[pile] and not held[pile, sizes[pile] - 1] & 64:
            cards |= ONE << np.uint64(held[pile, sizes[pile] - 1])
    for one in waste:
        cards |= ONE << np.uint64(one & 255)
    return cards, built


@compiled
def worth_a_step(
    ints: Ints, bits: Bits, held: Cards, sizes: Ints, waste: Ints
) -> tuple[np.uint64, np.uint64]:
    """The cards at home that some move could need on a column, and the bases that it could need to be free.

    A base is needed for a card that comes to it, for one given back, as the other base of a card that lies on one that is
    needed, and for its own way home or to a cell; a card at home is needed as a base, or for one that lies under it there.
    One that is safe at home nobody needs.
    """
    first = ints[p.COLUMNS] + ints[p.CELLS] + ints[p.RESERVES]
    home = np.uint64(0)
    for pile in range(first, first + ints[p.FOUNDATIONS]):
        for i in range(sizes[pile]):
            home |= ONE << np.uint64(held[pile, i])
    cards, built = comers(ints, bits, held, sizes, waste)
    bases = wanted_cards(ints, bits, held, sizes)
    if ints[p.CELLS] and ints[p.CELL_SOURCES] & 1:
        bases = ~np.uint64(0)
    while cards:
        card = lowest_of(cards)
        cards &= cards - ONE
        bases |= bits[p.BASES, card]
    if ints[p.COLUMN + p.UNIT] == 0:
        # Where a swap may part a card from one that lies over it (``parts``), any other base may be needed for that.
        cards = built
        while cards:
            card = lowest_of(cards)
            cards &= cards - ONE
            bases |= bits[p.BASES, card]
    given = np.uint64(0)
    again = True
    while again:
        again = False
        cards = built
        while cards:
            card = lowest_of(cards)
            cards &= cards - ONE
            if bits[p.BASES, card] & bases and bits[p.BASES, card] & ~bases:
                bases |= bits[p.BASES, card]
                again = True
        for pile in range(first, first + ints[p.FOUNDATIONS]):
            wanted = False
            for i in range(sizes[pile]):
                card = held[pile, i]
                bit = ONE << np.uint64(card)
                if not bits[p.NEEDS, card] & ~home:
                    continue
                wanted = wanted or bases & bit != NO_CARDS
                if wanted and not given & bit:
                    given |= bit
                    bases |= bits[p.BASES, card]
                    again = True
    return given, bases


@compiled
def moves_with_returns(
    ints: Ints, bits: Bits, held: Cards, sizes: Ints, moves: Ints, log: Ints, members: Ints
) -> tuple[int, bool]:
    """The moves of all tables of a class, member << 32 | move, into `moves`: how many, and whether these are all.

    `members` gets for each table the one it comes from, the step that leads from there to it, and in two sets where the
    cards lie that moved.
    """
    waste = np.empty(64, dtype=np.int64)
    waste = waste[: waste_cards(ints, held, sizes, waste)]
    count = own_moves(ints, bits, held, sizes, waste, moves)
    column_of = np.empty(64, dtype=np.int64)
    steps = np.empty(256, dtype=np.int64)
    path = np.empty(128, dtype=np.int64)
    no_line = np.empty(0, dtype=np.int64)
    columns = ints[p.COLUMNS]
    in_runs = ints[p.COLUMN + p.UNIT] == 1
    given, bases = worth_a_step(ints, bits, held, sizes, waste)
    members[0, 0], members[0, 1], members[0, 2], members[0, 3] = -1, 0, 0, 0
    known, here = 1, 0
    at = 0
    complete = True
    while here < known:
        freed, bare = -1, -1
        if here:
            take_back_to(held, sizes, log, at, 0)
            at, length, member = 0, 0, here
            while member:
                path[length] = members[member, 1]
                member = members[member, 0]
                length += 1
            while length:
                length -= 1
                at, _ = apply_step(held, sizes, path[length], log, at, no_line, 0)
            if count + 256 > moves.shape[0]:
                complete = False
                break
            on_columns = np.uint64(members[here, 2] | members[here, 3]) & given
            idle = idle_returns(ints, bits, held, sizes, on_columns)
            if idle < 2:
                count = moves_needing(ints, bits, held, sizes, path[0], idle, waste, moves, count, here << 32)
            if path[0] >> 18 < columns:
                bare = -1 if in_runs else path[0] >> 18
                freed = held[path[0] >> 18, sizes[path[0] >> 18] - 1]
        for number in range(steps_of(ints, bits, held, sizes, given, bases, column_of, steps)):
            card, base = np.uint64((steps[number] >> 32) & 63), (steps[number] >> 40) & 63
            source = (steps[number] >> 18) & 63
            if freed >= 0 and source != bare and (source < columns or base != freed):
                continue
            bit = ONE << card
            on_other, on_two = np.uint64(members[here, 2]), np.uint64(members[here, 3])
            if source < columns:
                on_other ^= bit
            else:
                # Of a card given back: on its lower base, on its higher one, or in an empty column.
                if base == 63 or bits[p.BASES, card] & ((ONE << np.uint64(base)) - ONE):
                    on_other |= bit
                if base != 63:
                    on_two |= bit
            met = False
            for other in range(known):
                if np.uint64(members[other, 2]) == on_other and np.uint64(members[other, 3]) == on_two:
                    met = True
                    break
            if met:
                continue
            if known == members.shape[0]:
                complete = False
                break
            members[known, 0], members[known, 1] = here, steps[number] & ((1 << 32) - 1)
            members[known, 2], members[known, 3] = np.int64(on_other), np.int64(on_two)
            known += 1
        here += 1
    take_back_to(held, sizes, log, at, 0)
    return count, complete
