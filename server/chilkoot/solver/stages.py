"""Runs for games that deal their stock onto the columns: from one deal to the next with a choice of the best tables.

A best-first run never deals, for a deal makes every table look worse. So a run of stages explores what can be reached
without a deal, deals at the best tables of all it saw, and explores again from there. It finds wins and proves nothing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chilkoot.solver import problem as p
from chilkoot.solver.compiled import Bits, Cards, Ints, compiled
from chilkoot.solver.keys import find, pack, unpack
from chilkoot.solver.moves import DRAW_ONLY, is_won, legal, play
from chilkoot.solver.settle import can_draw, take_back

__all__ = ["BUCKETS", "CONTINUE", "EXHAUSTED", "FULL", "WON", "begin", "deal_on", "explore", "line_up"]

ONE = np.uint64(1)

CONTINUE, WON, EXHAUSTED, FULL = 0, 1, 2, 3

BUCKETS = 4096
MIDDLE = 2000
"""The bucket of a table that looks like the best with which a stage begins."""

DRAW = DRAW_ONLY << 18


@compiled
def grade(ints: Ints, bits: Bits, held: Cards, sizes: Ints, weights: Ints) -> int:
    """How far a table looks from the goal: a weighted sum of eight counts; lower is nearer.

    They are cards face down; a card on one it can't be built on; a card built on another suit; a card above a lower one of its column,
    where a run ends; empty columns; columns with cards face down; cards not home; the squares of the lengths of runs.
    """
    columns, base = ints[p.COLUMNS], ints[p.BASE]
    first = columns + ints[p.CELLS] + ints[p.RESERVES]
    home = 0
    for f in range(ints[p.FOUNDATIONS]):
        home += sizes[first + f]
    score = weights[6] * (ints[p.CARDS] - home)
    for column in range(columns):
        size = sizes[column]
        if size == 0:
            score -= weights[4]
            continue
        g = ints[p.GROUP + column]
        length, low, down = 1, 99, 0
        for i in range(size):
            card = held[column, i]
            plain = card & 63
            rank = (plain % 13 - base + 13) % 13
            if card & 64:
                down += 1
                score += weights[0]
            elif i > 0:
                below = held[column, i - 1]
                if not below & 64 and (bits[p.CONTINUES + g, below] >> np.uint64(plain)) & ONE:
                    length += 1
                else:
                    score -= weights[7] * (length - 1) * (length - 1) // 4
                    length = 1
                    fits = not below & 64 and (bits[p.FITS + g, below] >> np.uint64(plain)) & ONE
                    score += weights[2] if fits else weights[1]
                    if rank > low:
                        score += weights[3]
            low = min(low, rank)
        score -= weights[7] * (length - 1) * (length - 1) // 4
        score += weights[5] * (down > 0)
    return score


@compiled
def begin(
    ints: Ints,
    bits: Bits,
    held: Cards,
    sizes: Ints,
    weights: Ints,
    keys: Bits,
    parents: NDArray[np.int32],
    moves_made: Ints,
    table: NDArray[np.int32],
    state: Ints,
    scores: Ints,
) -> None:
    """Make the table that is given the first node; `state` and `table` are clear."""
    order = np.zeros(ints[p.PILES], dtype=np.int64)
    octets = np.zeros(8 * keys.shape[1], dtype=np.uint8)
    pack(ints, held, sizes, octets, order)
    keys[0] = octets.view(np.uint64)
    table[find(keys, table, keys[0])] = 0
    parents[0], moves_made[0] = -1, 0
    scores[0] = grade(ints, bits, held, sizes, weights)
    state[0] = 1


@compiled
def line_up(
    scores: Ints, after: NDArray[np.int32], heads: NDArray[np.int32], state: Ints, start: int, end: int
) -> int:
    """Put the nodes with which a stage begins into their buckets; returns what a score lacks to be a bucket's number."""
    heads[:] = -1
    offset = MIDDLE - scores[start:end].min()
    for node in range(end - 1, start - 1, -1):
        bucket = min(max(scores[node] + offset, 0), BUCKETS - 1)
        after[node] = heads[bucket]
        heads[bucket] = node
    state[1] = 0
    return offset


@compiled
def explore(
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
    scores: Ints,
    expansions: int,
    offset: int,
) -> int:
    """Best-first search without a deal: at most `expansions` more tables are opened.

    `state` is as in ``kernel.run``; `scores` gets the grade of each node. Returns CONTINUE, WON, EXHAUSTED (of this stage alone: no
    proof), or FULL.
    """
    piles = ints[p.PILES]
    held, sizes = root_held.copy(), root_sizes.copy()
    log = np.zeros((4 * ints[p.CARDS] + 512, 4), dtype=np.int64)
    moves = np.zeros(8192, dtype=np.int64)
    order = np.zeros(piles, dtype=np.int64)
    octets = np.zeros(8 * keys.shape[1], dtype=np.uint8)
    key = octets.view(np.uint64)
    no_line = np.zeros(0, dtype=np.int64)
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
        count = legal(ints, bits, held, sizes, moves, log)
        if state[0] + count >= keys.shape[0]:
            return FULL
        heads[bucket] = after[node]
        opened += 1
        state[2] += 1
        turn, returned = sizes[piles], sizes[piles + 1]
        for number in range(count):
            if moves[number] == DRAW:
                continue
            at, _ = play(ints, bits, held, sizes, moves[number], log, no_line, 0)
            pack(ints, held, sizes, octets, order)
            slot = find(keys, table, key)
            if table[slot] < 0:
                child = state[0]
                table[slot] = child
                keys[child] = key
                parents[child], moves_made[child] = node, moves[number]
                state[0] = child + 1
                if is_won(ints, sizes):
                    state[3] = child
                    return WON
                scores[child] = grade(ints, bits, held, sizes, weights)
                place = min(max(scores[child] + offset, 0), BUCKETS - 1)
                after[child] = heads[place]
                heads[place] = child
                state[1] = min(state[1], place)
            take_back(held, sizes, log, at)
            sizes[piles] = turn
            sizes[piles + 1] = returned


@compiled
def deal_on(
    ints: Ints,
    bits: Bits,
    root_held: Cards,
    root_sizes: Ints,
    weights: Ints,
    keys: Bits,
    parents: NDArray[np.int32],
    moves_made: Ints,
    table: NDArray[np.int32],
    state: Ints,
    scores: Ints,
    chosen: Ints,
    most: int,
) -> int:
    """Deal at the first `most` of the chosen nodes where that may be done; their tables follow as new nodes.

    Returns how many those are; where a deal wins the game, the node is `state[3]`.
    """
    held, sizes = root_held.copy(), root_sizes.copy()
    log = np.zeros((4 * ints[p.CARDS] + 512, 4), dtype=np.int64)
    order = np.zeros(ints[p.PILES], dtype=np.int64)
    octets = np.zeros(8 * keys.shape[1], dtype=np.uint8)
    key = octets.view(np.uint64)
    no_line = np.zeros(0, dtype=np.int64)
    made = 0
    for node in chosen:
        if made == most or state[0] == keys.shape[0]:
            break
        unpack(ints, keys[node], held, sizes)
        if not can_draw(ints, sizes):
            continue
        play(ints, bits, held, sizes, DRAW, log, no_line, 0)
        pack(ints, held, sizes, octets, order)
        slot = find(keys, table, key)
        if table[slot] < 0:
            child = state[0]
            table[slot] = child
            keys[child] = key
            parents[child], moves_made[child] = node, DRAW
            scores[child] = grade(ints, bits, held, sizes, weights)
            state[0] = child + 1
            made += 1
            if is_won(ints, sizes):
                state[3] = child
                break
    return made
