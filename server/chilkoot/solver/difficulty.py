"""How hard a winnable deal is: numbers that a search and its line give, and a scale from 1 to 5 made of them.

What is measured is how hard the deal is for this search with all cards known, which goes with how hard it is for people but
is not the same. All of it is counted, nothing timed: the same deal has the same difficulty everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log2
from typing import Final

from chilkoot.engine.moves import is_no_op, legal_moves, name_move
from chilkoot.engine.position import Position
from chilkoot.engine.refusals import can_draw
from chilkoot.events import DRAW, Action
from chilkoot.solver.shorten import play
from chilkoot.solver.solve import solve
from chilkoot.solver.verdict import Budget, Difficulty, Verdict

__all__ = ["SCALE", "difficulty_of", "level_of"]

SCALE: Final = ((6.5, 1), (8, 2), (10, 3), (12.5, 4))
"""Up to so many points a deal is of this level; of more it is of level 5. Of Yukon's deals half are of level 1."""

_PLACES: Final = 24
"""Positions of the line at which the other moves are tried."""

_PER_MOVE: Final = 300
"""Positions that may be opened to tell whether another move loses."""


def difficulty_of(position: Position, verdict: Verdict, line: Sequence[Action]) -> Difficulty:
    """How hard the winnable deal of a position is, of which `verdict` is the search's and `line` its line, shortened."""
    losing = tried = forced = known = moves = places = 0
    step = max(-(-len(line) // _PLACES), 1)
    place = position.copy()
    for number, action in enumerate(line):
        if number % step == 0:
            kinds = [_kind_after(place, other) for other in _actions(place) if other != action]
            places += 1
            moves += len(kinds) + 1
            losing += kinds.count("lost")
            tried += len(kinds) - kinds.count("unknown")
            forced += kinds.count("lost") == len(kinds)
            known += "winnable" in kinds or "unknown" not in kinds
        play(place, action)
    return Difficulty(
        level=level_of(verdict.positions, losing / max(tried, 1), forced / max(known, 1)),
        positions=verdict.positions,
        runs=verdict.runs,
        losing=losing,
        tried=tried,
        forced=forced,
        known=known,
        branching=round(moves / places, 1) if places else 0.0,
        actions=len(line),
    )


def level_of(positions: int, losing: float, forced: float) -> int:
    """The level of a deal: a point for each doubling of the positions, 8 for the share of moves that lose, 4 for the forced."""
    points = log2(max(positions, 1)) + 8 * losing + 4 * forced
    return next((level for most, level in SCALE if points <= most), 5)


def _kind_after(position: Position, action: Action) -> str:
    child = position.copy()
    play(child, action)
    return solve(child, Budget(positions=_PER_MOVE)).kind


def _actions(position: Position) -> list[Action]:
    """What a player can choose from: no-ops aside, moves to several empty piles of a kind counted once."""
    actions: list[Action] = []
    seen = set()
    for move in legal_moves(position):
        source, n, target = move
        kind = (source, n, target if position.piles[target] else position.tables.layout.zones[target])
        if kind not in seen and not is_no_op(position, move):
            seen.add(kind)
            actions.append(name_move(position.tables, move))
    if can_draw(position):
        actions.append(DRAW)
    return actions
