"""Which tables the search takes for one, by what the rules let a card do and undo: the one place that chooses."""

from __future__ import annotations

import numpy as np

from chilkoot.solver import problem as p
from chilkoot.solver import returns, swaps
from chilkoot.solver.compiled import Bits, Cards, Ints, compiled
from chilkoot.solver.moves import legal

__all__ = ["MOST_MEMBERS", "canonical", "moves_of_class", "to_member"]

MOST_MEMBERS = swaps.MOST_MEMBERS
"""Tables of a class that are looked at; where there are more, an exhausted search proves nothing."""


@compiled
def canonical(
    ints: Ints, bits: Bits, held: Cards, sizes: Ints, log: Ints, at: int, line: Ints, length: int
) -> tuple[int, int]:
    """Make of a table the one that stands for its class; what that takes is logged, and goes into `line`."""
    if ints[p.GIVES]:
        return returns.represent(ints, bits, held, sizes, log, at, line, length)
    return swaps.canonical(ints, bits, held, sizes, log, at, line, length)


@compiled
def moves_of_class(
    ints: Ints, bits: Bits, held: Cards, sizes: Ints, moves: Ints, log: Ints, members: Ints
) -> tuple[int, bool]:
    """The moves of all tables of a class, member << 32 | move, into `moves`: how many, and whether these are all.

    `members` (`MOST_MEMBERS` × 4) gets for each table the one it comes from and the step that leads from there to it.
    """
    if ints[p.GIVES]:
        return returns.moves_with_returns(ints, bits, held, sizes, moves, log, members)
    count = swaps.moves_of_class(ints, bits, held, sizes, moves, log, members)
    if count < 0:
        return legal(ints, bits, held, sizes, moves, log), False
    return count, True


@compiled
def to_member(
    ints: Ints,
    bits: Bits,
    held: Cards,
    sizes: Ints,
    members: Ints,
    member: int,
    log: Ints,
    at: int,
    line: Ints,
    length: int,
) -> tuple[int, int]:
    """Make the steps that lead to a table of a class; logged, and into `line`."""
    path = np.empty(128, dtype=np.int64)
    steps = 0
    while member:
        path[steps] = members[member, 1]
        member = members[member, 0]
        steps += 1
    for i in range(steps - 1, -1, -1):
        if ints[p.GIVES]:
            at, length = returns.apply_step(held, sizes, path[i], log, at, line, length)
        else:
            at, length = swaps.swap_to(
                ints, bits, held, sizes, path[i] >> 8, path[i] & 255, log, at, line, length
            )
    return at, length
