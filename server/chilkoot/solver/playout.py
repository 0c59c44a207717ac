"""Playing a table to its end by rules of thumb, compiled: what the fair policy judges its choices by.

A move is chosen by what can be seen: what lies under it and on its target, never by the face of a card that it uncovers. So a
player who knows nothing hidden could play like this, and how often it wins in sampled worlds says something about a table that
a search with all cards known would not.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from chilkoot.solver import problem as p
from chilkoot.solver.compiled import Bits, Cards, Floats, Ints, compiled
from chilkoot.solver.dead import is_dead
from chilkoot.solver.moves import DRAW_ONLY, is_won, legal, play
from chilkoot.solver.settle import is_safe, wanted_cards
from chilkoot.solver.turns import BASES, FREE

__all__ = ["SCANNED", "WEIGHTS", "choose", "playout", "scan", "score"]

COLUMNS, CELLS, RESERVES, FOUNDATIONS = p.COLUMNS, p.CELLS, p.RESERVES, p.FOUNDATIONS
ONE = np.uint64(1)

WEIGHTS: Final[Floats] = np.array([
    -0.3,  # a draw that comes first
    0,  # a draw by itself
    0.9,  # a column is emptied
    6.7,  # ... that a card waits for
    3.8,  # a covered card is uncovered
    9.5,  # ... for each that is covered in the column
    -6.7,  # a card leaves one that it fits on
    2.3,  # a card leaves one that it does not fit on
    7.1,  # the card laid open can go home
    13.3,  # ... takes one that lies on a covered card
    4.4,  # ... takes one that lies on a wrong card
    0.2,  # a wanted card lies under less
    -0.15,  # a card lies no longer over a lower one of its suit (over one more, below zero)
    -0.1,  # each covered card in the column it leaves
    3,  # it leaves a cell
    6,  # ... a reserve
    -8,  # ... a foundation
    4,  # ... the waste
    18.9,  # it goes home, needed by none
    4,  # ... needed perhaps
    -4,  # it goes to a cell
    2.4,  # it goes to an empty column
    -6.1,  # the card it covers would take one that lies on a covered card
    -0.4,  # ... one that lies on a wrong card
    -1.3,  # each covered card in the column it goes to
    0.3,  # a wanted card lies under more
    -0.26,  # each card laid onto a column with covered cards
])  # fmt: skip
"""What each feature of a move is worth: found by evolution (CMA-ES) over the share of Yukon games won, those that Yukon lacks by hand."""

STEPS = 400
"""Moves after which a game that goes on is given up."""

# Rows of what `scan` finds.
WANTED, BLOCKERS, LOOSE, STARTERS = 0, 1, 2, 3
SCANNED = 4


@compiled
def scan(ints: Ints, bits: Bits, held: Cards, sizes: Ints, found: Bits, downs: Ints) -> int:
    """What is to be seen at once: cards that foundations want, that lie on covered ones, on wrong ones; covered cards a column.

    Returns how many cards lie covered in columns and reserves.
    """
    columns = ints[COLUMNS]
    found[WANTED] = wanted_cards(ints, bits, held, sizes)
    blockers, loose, starters = np.uint64(0), np.uint64(0), np.uint64(0)
    hidden = 0
    for column in range(columns):
        g = ints[p.GROUP + column]
        count = 0
        for i in range(sizes[column]):
            card = held[column, i]
            if card & 64:
                count += 1
            elif i > 0:
                below = held[column, i - 1]
                bit = ONE << np.uint64(card)
                if below & 64:
                    blockers |= bit
                elif not bits[p.FITS + g, below] & bit:
                    loose |= bit
        downs[column] = count
        hidden += count
        starters |= bits[p.START, g]
    for pile in range(columns + ints[CELLS], columns + ints[CELLS] + ints[RESERVES]):
        for i in range(sizes[pile]):
            hidden += (held[pile, i] & 64) != 0
    found[BLOCKERS], found[LOOSE] = blockers, loose
    found[STARTERS] = starters & (blockers | loose)
    return hidden


@compiled
def higher(card: int) -> np.uint64:
    """The cards of a card's suit that are above it."""
    end = np.uint64(card // 13 * 13 + 13)
    return ((ONE << end) - ONE) & ~((ONE << np.uint64(card + 1)) - ONE)


@compiled
def score(
    ints: Ints, bits: Bits, held: Cards, sizes: Ints, move: int, found: Bits, downs: Ints, weights: Floats
) -> float:
    """How good a move looks from what can be seen."""
    columns = ints[COLUMNS]
    reserve = columns + ints[CELLS]
    first = reserve + ints[RESERVES]
    after = first + ints[FOUNDATIONS]
    source, n, target = (move >> 18) & 63, (move >> 9) & 511, move & 511
    worth = float(weights[0] * (move >> 24))
    if source == DRAW_ONLY:
        return float(worth + weights[1])
    blockers, loose = found[BLOCKERS], found[LOOSE]
    size = sizes[source]
    if (move >> 24) or source >= columns:
        # The card that a draw will lay open is not named: only that it fits is known.
        card = -1 if move >> 24 else int(held[source, size - 1]) & 63
    else:
        card = int(held[source, size - n]) & 63
    group = np.uint64(0)
    if source < columns:
        for i in range(size - n, size):
            group |= ONE << np.uint64(held[source, i] & 63)
        if size == n:
            worth += weights[2]
            if found[STARTERS] & ~group:
                worth += weights[3]
        else:
            below = held[source, size - n - 1]
            if below & 64:
                worth += weights[4] + weights[5] * downs[source]
            else:
                g = ints[p.GROUP + source]
                riders = bits[p.FITS + g, below]
                bit = ONE << np.uint64(below)
                if riders & (ONE << np.uint64(card)):
                    worth += weights[6]
                else:
                    worth += weights[7]
                if found[WANTED] & bit:
                    worth += weights[8]
                if riders & blockers & ~group:
                    worth += weights[9]
                if riders & loose & ~group:
                    worth += weights[10]
                inverted = 0
                for i in range(downs[source], size - n):
                    under = held[source, i] & 63
                    if group & higher(under):
                        inverted += 1
                    if found[WANTED] & (ONE << np.uint64(under)):
                        worth += weights[11]
                worth += weights[12] * inverted
            worth += weights[13] * downs[source]
    elif source < reserve:
        worth += weights[14]
    elif source < first:
        worth += weights[15]
    elif source < after:
        worth += weights[16]
    else:
        worth += weights[17]
    if first <= target < after:
        if card >= 0 and is_safe(ints, bits, held, sizes, card):
            worth += weights[18]
        else:
            worth += weights[19]
        return float(worth)
    if target >= columns:
        return float(worth + weights[20])
    there = sizes[target]
    if there == 0:
        return float(worth + weights[21])
    if group == 0 and card >= 0:
        group = ONE << np.uint64(card)
    base = held[target, there - 1]
    g = ints[p.GROUP + target]
    if bits[p.FITS + g, base] & ~group & blockers:
        worth += weights[22]
    if bits[p.FITS + g, base] & ~group & loose:
        worth += weights[23]
    worth += weights[24] * downs[target]
    inverted = 0
    for i in range(downs[target], there):
        under = held[target, i] & 63
        if group & higher(under):
            inverted += 1
        if found[WANTED] & (ONE << np.uint64(under)):
            worth += weights[25]
    if downs[target]:
        worth += weights[26] * n
    return float(worth - weights[12] * inverted)


@compiled
def choose(
    ints: Ints, bits: Bits, held: Cards, sizes: Ints, moves: Ints, count: int, tabu: np.uint64,
    found: Bits, downs: Ints, weights: Floats,
) -> int:  # fmt: skip
    """The number of the move that looks best; -1 where each is one of a card that was moved and gained nothing."""
    first = ints[COLUMNS] + ints[CELLS] + ints[RESERVES]
    after = first + ints[FOUNDATIONS]
    best, best_worth = -1, -1e18
    for number in range(count):
        move = moves[number]
        if not first <= move & 511 < after and card_moved(held, sizes, move) & tabu:
            continue
        worth = score(ints, bits, held, sizes, move, found, downs, weights)
        if worth > best_worth:
            best, best_worth = number, worth
    return best


@compiled
def card_moved(held: Cards, sizes: Ints, move: int) -> np.uint64:
    """The card that a move names, as a set; none where a draw comes first."""
    source, n = (move >> 18) & 63, (move >> 9) & 511
    if source == DRAW_ONLY or move >> 24:
        return np.uint64(0)
    return ONE << np.uint64(held[source, sizes[source] - n] & 63)


@compiled
def playout(
    ints: Ints, bits: Bits, world: Cards, lengths: Ints, move: int, weights: Floats, progress: float
) -> float:
    """Make a move and play on: 1 for a win, else at most `progress`, by how many cards were turned up and went home.

    Once nothing is covered any more a table is taken for won, unless it can't be: from there the rules of thumb hardly fail.
    """
    piles, cards = ints[p.PILES], ints[p.CARDS]
    held, sizes = world.copy(), lengths.copy()
    found, downs = np.zeros(SCANNED, dtype=np.uint64), np.zeros(piles, dtype=np.int64)
    facts, riders = np.zeros((3, piles, cards), dtype=np.int8), np.full(BASES, FREE, dtype=np.int64)
    log, moves = np.empty((4 * cards + 512, 4), dtype=np.int64), np.empty(8192, dtype=np.int64)
    no_line = np.empty(0, dtype=np.int64)
    first = ints[COLUMNS] + ints[CELLS] + ints[RESERVES]
    stock = ints[p.STOCK]
    tabu = np.uint64(0)
    best = -1000
    hidden, home = 0, 0
    covered = scan(ints, bits, held, sizes, found, downs) > 0
    for _ in range(STEPS):
        tabu |= card_moved(held, sizes, move)
        play(ints, bits, held, sizes, move, log, no_line, 0)
        if is_won(ints, sizes):
            return 1.0
        hidden = scan(ints, bits, held, sizes, found, downs)
        if stock >= 0:
            hidden += sizes[stock]
        if hidden == 0 and covered and ints[p.DEAD_TEST]:
            if is_dead(ints, bits, held, sizes, facts, riders, np.uint64(0)):
                break
            return 1.0
        home = 0
        for pile in range(first, first + ints[FOUNDATIONS]):
            home += sizes[pile]
        # A card that was moved moves again only after something was gained.
        if home - hidden > best:
            tabu = np.uint64(0)
            best = home - hidden
        count = legal(ints, bits, held, sizes, moves, log)
        number = choose(ints, bits, held, sizes, moves, count, tabu, found, downs, weights)
        if number < 0:
            break
        move = moves[number]
    return progress * float(cards - hidden + home) / float(2 * cards)
