"""The compiled inner loop: how far a state looks from the goal, one best-first run, and the line that led to a node.

Every line that comes out is played again by the engine before anyone sees it. The functions are compiled on first use,
hold no lock while they run, and read no clock.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chilkoot.solver import problem as p
from chilkoot.solver.classes import MOST_MEMBERS, canonical, moves_of_class, to_member
from chilkoot.solver.compiled import Bits, Cards, Ints, compiled
from chilkoot.solver.dead import is_dead, is_dead_by_turns
from chilkoot.solver.keys import find, pack, refill, unpack, words_of
from chilkoot.solver.loose import is_lost_loosely
from chilkoot.solver.moves import DRAW_ONLY, force_home, forces_safe, is_won, play
from chilkoot.solver.settle import take_back_to, wanted_cards
from chilkoot.solver.turns import BASES, FREE

__all__ = [
    "BUCKETS",
    "CONTINUE",
    "DRAW_ONLY",
    "EXHAUSTED",
    "FULL",
    "NEVER",
    "WON",
    "line_of",
    "refill",
    "run",
    "words_of",
]

COLUMNS, CELLS, RESERVES, FOUNDATIONS = p.COLUMNS, p.CELLS, p.RESERVES, p.FOUNDATIONS
ONE = np.uint64(1)

CONTINUE, WON, EXHAUSTED, FULL = 0, 1, 2, 3

NEVER = 1 << 40
MOVE = (1 << 32) - 1
BUCKETS = 4096


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
    loose_facts: Bits,
    loose_known: Bits,
    expansions: int,
    every: int,
) -> int:
    """Best-first search, a chunk of it: at most `expansions` more positions are opened.

    `state` (7) holds nodes, lowest bucket that may be filled, positions opened, goal node, dearer dead tests made and those
    that said dead; all zero begins a run, for which `heads` and `table` must hold -1. Without `every` no dead test is
    made; NEVER means the cheap one alone, else the one by turns is made too, in full at one position in `every`. `loose_known` has slots
    where tables that are lost in the looser game are left out (``loose``). Returns CONTINUE, WON, EXHAUSTED (nothing left: a proof), or FULL (no room for more).
    """
    piles = ints[p.PILES]
    cards = ints[p.CARDS]
    held = root_held.copy()
    sizes = root_sizes.copy()
    log = np.zeros((4 * cards + 512, 4), dtype=np.int64)
    moves = np.zeros(8192, dtype=np.int64)
    members = np.zeros((MOST_MEMBERS, 4), dtype=np.int64)
    order = np.zeros(piles, dtype=np.int64)
    octets = np.zeros(8 * keys.shape[1], dtype=np.uint8)
    key = octets.view(np.uint64)
    no_line = np.zeros(0, dtype=np.int64)
    lowest = np.zeros(4, dtype=np.int64)
    first = np.full(BASES, FREE, dtype=np.int64)
    facts = np.zeros((3, piles, cards), dtype=np.int8)
    room = keys.shape[0]
    if state[0] == 0:
        if forces_safe(ints, sizes):
            force_home(ints, bits, held, sizes, log, 0, no_line, 0)
        canonical(ints, bits, held, sizes, log, 0, no_line, 0)
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
        dead = loose_known.shape[0] > 0 and is_lost_loosely(bits, held, sizes, loose_facts, loose_known)
        if not dead and every and ints[p.DEAD_TEST]:
            dead = is_dead(ints, bits, held, sizes, facts, first, np.uint64(0))
            # The argument about turns with all its bases is dear: at the root and at one position in `every`; elsewhere
            # with the few that decide most.
            if not dead and every < NEVER and ints[p.COPIES] == 1:
                most = (
                    BASES
                    if state[2] == 0 or state[4] % 256 == 0
                    else BASES - 1
                    if state[4] % every == 0
                    else 2
                )
                dead = is_dead_by_turns(ints, bits, held, sizes, facts, first, worth, most)
                state[4] += 1
                state[5] += dead
        if dead:
            heads[bucket] = after[node]
            opened += 1
            state[2] += 1
            continue
        count, complete = moves_of_class(ints, bits, held, sizes, moves, log, members)
        if not complete:
            state[6] = 1
        if state[0] + count >= room:
            return FULL
        heads[bucket] = after[node]
        opened += 1
        state[2] += 1
        turn, returned = sizes[piles], sizes[piles + 1]
        member, base = 0, 0
        for number in range(count):
            if moves[number] >> 32 != member:
                member = moves[number] >> 32
                take_back_to(held, sizes, log, base, 0)
                base, _ = to_member(ints, bits, held, sizes, members, member, log, 0, no_line, 0)
                returned = -1
            at, _ = play(ints, bits, held, sizes, moves[number] & MOVE, log[base:], no_line, 0)
            at, _ = canonical(ints, bits, held, sizes, log, base + at, no_line, 0)
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
            take_back_to(held, sizes, log, at, base)
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
    moves = np.zeros(8192, dtype=np.int64)
    members = np.zeros((MOST_MEMBERS, 4), dtype=np.int64)
    path = np.zeros(depth + 1, dtype=np.int64)
    node = goal
    for i in range(depth, -1, -1):
        path[i] = node
        node = parents[node]
    length = 0
    if forces_safe(ints, sizes):
        _, length = force_home(ints, bits, held, sizes, log, 0, line, 0)
    _, length = canonical(ints, bits, held, sizes, log, 0, line, length)
    pack(ints, held, sizes, octets, order)
    actual = order.copy()
    for i in range(depth):
        unpack(ints, keys[path[i]], held, sizes)
        start = length
        move = moves_made[path[i + 1]]
        if move >> 32:
            moves_of_class(ints, bits, held, sizes, moves, log, members)
            _, length = to_member(ints, bits, held, sizes, members, move >> 32, log, 0, line, length)
        _, length = play(ints, bits, held, sizes, move & MOVE, log, line, length)
        _, length = canonical(ints, bits, held, sizes, log, 0, line, length)
        for at in range(start, length):
            source, n, target = (line[at] >> 18) & 63, (line[at] >> 9) & 511, line[at] & 511
            if source != DRAW_ONLY:
                line[at] = actual[source] << 18 | n << 9 | actual[target]
        pack(ints, held, sizes, octets, order)
        actual = actual[order]
    return length
