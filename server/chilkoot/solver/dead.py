"""Dead tests, compiled: positions that can't be won whatever is played.

A least fixpoint over facts that only ever become true: a card lies open or can come to (``clear``), can leave its place
(``moved``), can go home; some column can be empty. It ignores every obstacle but "what lies on a card must be able to leave
first", so each real sequence of moves is a sequence here, and a position whose cards can't all go home even so is lost.
The idea follows the deadlock analysis of Paul & Helmert, "Optimal Solitaire Game Solutions using A* Search and Deadlock
Analysis".
"""

from __future__ import annotations

import numpy as np

from chilkoot.solver import problem as p
from chilkoot.solver.compiled import Bits, Cards, Ints, compiled
from chilkoot.solver.dead_columns import comes_home, lay_out
from chilkoot.solver.sets import lowest_of
from chilkoot.solver.turns import BASES, FIRST_KING, FREE, HOME_FIRST, may_use, riders_of, starters_now

__all__ = ["is_dead", "is_dead_by_turns", "is_dead_step_by_step"]

ONE = np.uint64(1)


@compiled
def is_dead(
    ints: Ints, bits: Bits, held: Cards, sizes: Ints, facts: Cards, first: Ints, bound: np.uint64
) -> bool:
    """Whether the relaxation can't bring enough cards home. Never true of a position that can be won.

    `facts` (3 × piles × cards) is room to work in: what is clear, what moved, what went home. `first` (`BASES`) may name for a
    base the rider that is the first to be moved onto it, `bound` is the set of such bases (``is_dead_by_turns``).
    """
    return not survives(ints, bits, held, sizes, facts, sets_of(ints, bits, held, sizes), first, bound)


@compiled
def sets_of(ints: Ints, bits: Bits, held: Cards, sizes: Ints) -> Bits:
    """What ``survives`` wants to know of a table, for as many questions about it as there are; nothing where it asks otherwise."""
    return lay_out(ints, bits, held, sizes) if ints[p.QUICK] else bits[:0]


@compiled
def survives(
    ints: Ints, bits: Bits, held: Cards, sizes: Ints, facts: Cards, sets: Bits, first: Ints, bound: np.uint64
) -> bool:
    """The opposite of ``is_dead``, by the quicker of the two ways that the rules allow."""
    if ints[p.QUICK]:
        return comes_home(ints, bits, held, sizes, sets, first, bound)
    return not is_dead_step_by_step(ints, bits, held, sizes, facts, first, bound)


@compiled
def is_dead_step_by_step(
    ints: Ints, bits: Bits, held: Cards, sizes: Ints, facts: Cards, first: Ints, bound: np.uint64
) -> bool:
    """``is_dead`` for any rules: over the table again and again until no fact is new."""
    columns, cells = ints[p.COLUMNS], ints[p.CELLS]
    reserve = columns + cells
    home_pile = reserve + ints[p.RESERVES]
    piles = ints[p.PILES]
    goal = ints[p.GOAL_CARDS]
    single = ints[p.COPIES] == 1
    fills = ints[p.FILLS]
    clear, moved, homed = facts[0], facts[1], facts[2]
    # How many cards of a reserve could come to lie open beside its last one, in the place its first card has in `moved`.
    for pile in range(piles):
        for i in range(max(sizes[pile], 1)):
            clear[pile, i] = 0
            moved[pile, i] = 0
            homed[pile, i] = 0
    clear_bits = np.uint64(0)
    homed_bits = np.uint64(0)
    tops = np.uint64(0)
    startable = np.uint64(0)
    home = 0
    empty = False
    for column in range(columns):
        size = sizes[column]
        if size == 0:
            empty = True
        else:
            clear[column, size - 1] = 1
            clear_bits |= ONE << np.uint64(held[column, size - 1] & 63)
    free_cell = False
    for cell in range(columns, reserve):
        if sizes[cell] == 0:
            free_cell = True
    for f in range(ints[p.FOUNDATIONS]):
        size = sizes[home_pile + f]
        home += size
        for i in range(size):
            homed_bits |= ONE << np.uint64(held[home_pile + f, i])
        if size:
            tops |= ONE << np.uint64(held[home_pile + f, size - 1])
        if size == 0 or ints[p.RETURNS]:
            startable |= bits[p.F_START, f]
    # The loosest start of any column, and whether cells take cards of columns and of foundations.
    start = np.uint64(0)
    for g in range(ints[p.GROUPS]):
        start |= bits[p.START, g]
    if fills:
        start = ~np.uint64(0)
    cells_take = cells > 0 and ints[p.CELL_SOURCES] & 1
    cells_take_home = cells > 0 and (ints[p.CELL_SOURCES] >> 3) & 1
    starters = start
    in_order = (bound >> np.uint64(FIRST_KING)) & ONE == ONE
    vacant = vacated(ints, sizes, moved)
    changed = True
    while changed:
        changed = False
        if in_order:
            start = starters_now(first, starters, homed_bits, vacant)
        for column in range(columns):
            g = ints[p.GROUP + column]
            unit = ints[p.COLUMN + p.COLUMN_FIELDS * g + p.UNIT]
            size = sizes[column]
            blocked = np.uint64(0)
            lifts = False
            for i in range(size - 1, -1, -1):
                card = held[column, i]
                plain = card & 63
                bit = ONE << np.uint64(plain)
                is_clear = clear[column, i] != 0
                if unit == 1:
                    lifts = is_clear or (
                        lifts
                        and i + 1 < size
                        and not card & 64
                        and (bits[p.GLUED + g, plain] >> np.uint64(held[column, i + 1] & 63)) & ONE == ONE
                    )
                elif unit == 2:
                    lifts = is_clear
                else:
                    lifts = is_clear or not card & 64
                if is_clear and not homed[column, i] and (bits[p.FOLLOWS, plain] & tops or startable & bit):
                    homed[column, i] = 1
                    homed_bits |= bit
                    moved[column, i] = 1
                    tops |= bit
                    home += 1
                    changed = True
                if not moved[column, i] and lifts:
                    bases = bits[p.BASES, plain] & clear_bits
                    if bases & bound:
                        free_elsewhere = (start if empty else np.uint64(0)) | (
                            ~np.uint64(0) if free_cell and cells_take else np.uint64(0)
                        )
                        waiting = bases & bound
                        while waiting:
                            base = lowest_of(waiting)
                            waiting &= ~(ONE << np.uint64(base))
                            if not may_use(
                                ints, bits, base, first, plain, homed_bits, clear_bits, free_elsewhere
                            ):
                                bases &= ~(ONE << np.uint64(base))
                    if single:
                        if i > 0:
                            bases &= ~(ONE << np.uint64(held[column, i - 1] & 63))
                        bases &= ~blocked
                    if (
                        bases
                        or (empty and start & bit and (i > 0 or fills))
                        or (is_clear and free_cell and cells_take)
                    ):
                        moved[column, i] = 1
                        changed = True
                if moved[column, i]:
                    blocked = np.uint64(0)
                    if i == 0:
                        if not empty:
                            empty = True
                            changed = True
                    elif not clear[column, i - 1]:
                        clear[column, i - 1] = 1
                        clear_bits |= ONE << np.uint64(held[column, i - 1] & 63)
                        changed = True
                else:
                    blocked |= bit
        for pile in range(columns, piles):
            if home_pile <= pile < home_pile + ints[p.FOUNDATIONS]:
                continue
            size = sizes[pile]
            low = 0
            if reserve <= pile < home_pile:
                low = max(size - 1 - moved[pile, 0], 0)
            for i in range(low, size):
                if homed[pile, i]:
                    continue
                plain = held[pile, i] & 63
                bit = ONE << np.uint64(plain)
                if bits[p.FOLLOWS, plain] & tops or startable & bit:
                    homed[pile, i] = 1
                    homed_bits |= bit
                    tops |= bit
                    home += 1
                    changed = True
            # What may leave a cell, the waste, the stock or a reserve can lie at the end of a column.
            for i in range(low, size):
                plain = held[pile, i] & 63
                bit = ONE << np.uint64(plain)
                stock_dealt = pile == ints[p.STOCK] and ints[p.DEAL_TO] != 1
                lands = bits[p.BASES, plain] & clear_bits or (empty and start & bit) or stock_dealt
                if homed[pile, i] or lands:
                    if lands and not clear_bits & bit:
                        clear_bits |= bit
                        changed = True
                    if pile < reserve and not free_cell:
                        free_cell = True
                        changed = True
                    if reserve <= pile < home_pile and i == low and i > 0:
                        moved[pile, 0] += 1
                        changed = True
                elif reserve <= pile < home_pile and i == low and i > 0 and free_cell and cells > 0:
                    moved[pile, 0] += 1
                    changed = True
        if ints[p.RETURNS]:
            for f in range(ints[p.FOUNDATIONS]):
                if ints[p.FOUNDED + p.FOUNDATION_FIELDS * f + p.RETURN_KIND] == 0:
                    continue
                for i in range(sizes[home_pile + f] - 1, -1, -1):
                    plain = held[home_pile + f, i]
                    bit = ONE << np.uint64(plain)
                    if clear_bits & bit and single:
                        continue
                    if (
                        bits[p.BASES, plain] & clear_bits
                        or (empty and start & bit)
                        or (free_cell and cells_take_home)
                    ):
                        if not clear_bits & bit:
                            clear_bits |= bit
                            changed = True
                        if i > 0:
                            tops |= ONE << np.uint64(held[home_pile + f, i - 1])
                    else:
                        break
        if home >= goal:
            return False
        if in_order and vacated(ints, sizes, moved) != vacant:
            vacant = vacated(ints, sizes, moved)
            changed = True
    return home < goal


@compiled
def vacated(ints: Ints, sizes: Ints, moved: Cards) -> int:
    """How many columns are empty or can become so."""
    vacant = 0
    for column in range(ints[p.COLUMNS]):
        if sizes[column] == 0 or moved[column, 0]:
            vacant += 1
    return vacant


@compiled
def is_dead_by_turns(
    ints: Ints, bits: Bits, held: Cards, sizes: Ints, facts: Cards, first: Ints, worth: Ints, most: int
) -> bool:
    """The dead test with an argument about turns: stronger, and some fifty times dearer.

    A base carries one card at a time. Of the cards that fit on it (its riders) that are not home, one is the first to be
    moved onto it; until that one has gone home, or to another place that can take it, no other can be. So too with kings, and
    the first and the second column that becomes empty. For each base: if the position is dead for every choice of the first
    rider it is dead; if it is dead for all but one, that one is the first, which then holds for the tests of all other bases
    too, until nothing new follows.

    `worth` (`BASES`) counts how often a base decided something. At `most` so many bases are asked, the worthiest first; fewer
    than all only of those that ever decided anything.
    """
    home_pile = ints[p.COLUMNS] + ints[p.CELLS] + ints[p.RESERVES]
    homed = np.uint64(0)
    for f in range(ints[p.FOUNDATIONS]):
        for i in range(sizes[home_pile + f]):
            homed |= ONE << np.uint64(held[home_pile + f, i])
    for base in range(BASES):
        first[base] = FREE
    bound = np.uint64(0)
    starters = np.uint64(0)
    if ints[p.KINGS] and homed & bits[p.START, 0] == 0:
        starters = bits[p.START, 0]
        for column in range(ints[p.COLUMNS]):
            if sizes[column]:
                starters &= ~(ONE << np.uint64(held[column, 0] & 63))
    sets = sets_of(ints, bits, held, sizes)
    again = True
    while again:
        again = False
        asked = np.uint64(0)
        for _ in range(most):
            base = -1
            for other in range(BASES):
                if not ((homed | bound | asked) >> np.uint64(other)) & ONE and (
                    base < 0 or worth[other] > worth[base]
                ):
                    base = other
            if base < 0 or (worth[base] == 0 and most < BASES):
                break
            base_bit = ONE << np.uint64(base)
            asked |= base_bit
            if base < FIRST_KING:
                riders = riders_of(ints, bits, base) & ~homed
            elif base == FIRST_KING:
                riders = starters
            elif first[FIRST_KING] != FREE:
                riders = starters & ~(ONE << np.uint64(first[FIRST_KING]))
            else:
                riders = np.uint64(0)
            if riders & (riders - ONE) == 0:
                continue
            first[base] = HOME_FIRST
            is_free = survives(ints, bits, held, sizes, facts, sets, first, bound | base_bit)
            first[base] = FREE
            if is_free:
                continue
            alive = 0
            the_one = FREE
            for rider in range(52):
                if (riders >> np.uint64(rider)) & ONE:
                    first[base] = rider
                    if survives(ints, bits, held, sizes, facts, sets, first, bound | base_bit):
                        alive += 1
                        the_one = rider
                        if alive == 2:
                            break
            first[base] = FREE
            if alive < 2:
                worth[base] += 1
            if alive == 0:
                return True
            if alive == 1:
                first[base] = the_one
                bound |= base_bit
                again = True
    return False
