"""Whether a game is won, lost or stuck, from the position alone.

``lost`` comes from the move generator (no legal move but no-ops is left), never from a hint. ``stuck`` is weaker and ends
nothing; it is blind to hidden cards (``stuck``).
"""

from __future__ import annotations

from collections.abc import Callable

from chilkoot.engine.moves import PileMove, can_turn, ends_in_run, is_no_op
from chilkoot.engine.position import Position
from chilkoot.engine.refusals import can_draw
from chilkoot.engine.stuck import is_stuck, shows_progress
from chilkoot.events import Result, Status

__all__ = ["is_lost", "is_won", "judge"]


def judge(
    position: Position,
    legal: Callable[[], list[PileMove]],
    *,
    can_home: bool,
    looks_for_stuck: bool = True,
) -> tuple[Status, Result | None]:
    """Status and result of a position; `can_home` says whether any card can go home now.

    `legal` lists the moves, and is asked only where it must be. Whether a game is stuck takes by far the longest to say.
    """
    if is_won(position):
        return "won", "home"
    if shows_progress(position, can_home=can_home):
        return "playing", None
    moves = legal()
    if position.rules.loss.when == "no_legal_move" and is_lost(position, moves):
        return "lost", "no_moves"
    return ("stuck" if looks_for_stuck and is_stuck(position, moves) else "playing"), None


def is_lost(position: Position, moves: list[PileMove]) -> bool:
    """Whether nothing legal is left but no-ops (RULES.md, meaning 4); turning the stock or a card counts as legal."""
    for move in moves:
        if not is_no_op(position, move):
            return False
    return not can_draw(position) and not can_turn(position)


def is_won(position: Position) -> bool:
    """Whether the goal of the rules is reached."""
    goal = position.rules.goal
    if goal.kind == "runs_in_tableau":
        return _runs_in_tableau(position)
    return position.foundations().held >= (
        goal.cards if goal.kind == "cards_in_foundations" else position.rules.deck.size()
    )


def _runs_in_tableau(position: Position) -> bool:
    """Whether every card not on a foundation lies in a column that is one complete run."""
    tables, piles = position.tables, position.piles
    layout = tables.layout
    first, after = layout.first_foundation, layout.first_foundation + layout.foundations
    elsewhere = [*piles[layout.columns : first], *piles[after:]]
    return not any(elsewhere) and all(
        not cards or (len(cards) == tables.run.run_length and ends_in_run(tables.run, cards))
        for cards in piles[: layout.columns]
    )
