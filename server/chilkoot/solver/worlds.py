"""Which of some moves does best in sampled worlds: what can't be seen is dealt at random, and the game played out.

All moves are tried in the same worlds, so that luck falls on all alike, and moves that do badly in the first worlds are not
tried in the later ones. The work is a number of playouts: the same question takes the same steps and has the same answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from chilkoot.solver.chance import numbers_from
from chilkoot.solver.compiled import Cards, Ints
from chilkoot.solver.dead import is_dead
from chilkoot.solver.playout import SCANNED, WEIGHTS, playout, scan, score
from chilkoot.solver.problem import CARDS, DEAD_TEST, PILES, Problem
from chilkoot.solver.turns import BASES, FREE

__all__ = ["best_move"]

POINT: Final = 0.02
"""What a point of the rules of thumb is worth beside the share of games won."""

REACH: Final = 30.0
"""Points behind the best move that still count."""

PROGRESS: Final = 0.1
"""What a lost game is worth that was nearly won."""

_DEALS: Final = 8
"""Deals looked at for a world that can be won."""


def best_move(
    problem: Problem, held: Cards, sizes: Ints, *, hidden: Sequence[tuple[int, int]], unseen: Sequence[int],
    moves: Sequence[int], seed: int, budget: int,
) -> int:  # fmt: skip
    """The number of the best of some moves after about `budget` playouts.

    `hidden` (pile, place) are where cards lie that were not seen, `unseen` which cards those are.
    """
    prior = _prior(problem, held, sizes, moves)
    alive = sorted(range(len(moves)), key=lambda number: -prior[number])
    sums, tries = [0.0] * len(moves), [0] * len(moves)
    worlds = _worlds(problem, held, sizes, hidden=hidden, unseen=unseen, seed=seed)
    rounds = max((len(moves) - 1).bit_length(), 1)
    used = 0
    for stage in range(1, rounds + 1):
        for _ in range(max(1, (budget * stage // rounds - used) // len(alive))):
            world = next(worlds)
            for number in alive:
                sums[number] += playout(*problem, world, sizes, moves[number], WEIGHTS, PROGRESS)
                tries[number] += 1
            used += len(alive)
        # A stable sort: equals keep the order of the rules of thumb.
        alive.sort(key=lambda number: -(sums[number] / tries[number] + prior[number]))
        if stage < rounds:
            del alive[max(2, (len(alive) + 1) // 2) :]
    return alive[0]


def _prior(problem: Problem, held: Cards, sizes: Ints, moves: Sequence[int]) -> list[float]:
    """What the rules of thumb say of each move, the best of them 0."""
    found, downs = np.zeros(SCANNED, dtype=np.uint64), np.zeros(problem.ints[PILES], dtype=np.int64)
    scan(*problem, held, sizes, found, downs)
    points = [score(*problem, held, sizes, move, found, downs, WEIGHTS) for move in moves]
    return [POINT * max(each - max(points), -REACH) for each in points]


def _worlds(
    problem: Problem,
    held: Cards,
    sizes: Ints,
    *,
    hidden: Sequence[tuple[int, int]],
    unseen: Sequence[int],
    seed: int,
) -> Iterator[Cards]:
    """World after world, each the same array: the cards that were not seen in places drawn at random.

    Where it shows that a world is lost whatever is played, another is dealt in its place, a few times.
    """
    ints = problem.ints
    facts = np.zeros((3, int(ints[PILES]), int(ints[CARDS])), dtype=np.int8)
    riders = np.full(BASES, FREE, dtype=np.int64)
    world = held.copy()
    places = tuple(np.array(hidden, dtype=np.int64).reshape(-1, 2).T)
    cards = np.array(unseen, dtype=np.int8) | np.int8(64)
    numbers = numbers_from(seed)
    while True:
        for _ in range(_DEALS):
            for last in range(len(cards) - 1, 0, -1):
                other = next(numbers) % (last + 1)
                cards[last], cards[other] = cards[other], cards[last]
            world[places] = cards
            if not ints[DEAD_TEST] or not is_dead(*problem, world, sizes, facts, riders, np.uint64(0)):
                break
        yield world
