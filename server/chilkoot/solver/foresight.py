"""The better policy for hints and Auto: what can't be seen is dealt at random many times, and each move judged by how those games end.

It is told a ``Sight``, which names no hidden card's place. Its chance numbers come from what the player sees, its work is a
fixed number of playouts, so the same sight has the same advice everywhere and takes the same time whatever lies face down.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Final

from chilkoot.cards import DOWN, card_words
from chilkoot.engine.game import Game
from chilkoot.engine.moves import PileMove, is_no_op, legal_moves, name_move
from chilkoot.engine.play import is_safe, play_draw, play_move
from chilkoot.engine.position import Change, Position
from chilkoot.engine.refusals import can_draw
from chilkoot.engine.stuck import position_key, reveals
from chilkoot.events import DRAW, CardMove, Simple
from chilkoot.language.rules import Rules
from chilkoot.solver.moves import DRAW_ONLY, forces_safe
from chilkoot.solver.policy import DRAW_MOVE, WANDER, Advice, move_words, pile_words
from chilkoot.solver.problem import problem_of, state_of, why_unsupported
from chilkoot.solver.sight import Sight, sight_of
from chilkoot.solver.solve import solve
from chilkoot.solver.verdict import Budget
from chilkoot.solver.worlds import best_move

__all__ = ["PLAYOUTS", "foresee", "get_ready"]

PLAYOUTS: Final = 200
"""Games played out for one piece of advice."""

OPEN_POSITIONS: Final = 5000
"""Positions opened to look for a winning line where every card is known."""


def foresee(sight: Sight, playouts: int = PLAYOUTS) -> Advice | None:
    """What to do, by playing on in sampled worlds; None where the first policy is to be asked.

    That is where the rules are of a kind that the compiled code does not know, and where no move leads to a new table or many
    did without gain: whether there is a way on at all is the first policy's to say.
    """
    position = sight.position()
    if sight.is_over:
        return Advice(None, "The game is over.")
    if sight.is_stuck:
        return Advice(
            None, "Nothing more can be turned up or brought home from here, whatever lies face down."
        )
    if why_unsupported(position.rules) is not None:
        return None
    choices = _choices(sight, position)
    if not choices:
        return None
    problem, (held, sizes) = problem_of(position.tables), state_of(position)
    if forces_safe(problem.ints, sizes):
        for move in choices:
            if _goes_home(position, move) and is_safe(position, position.piles[move[0]][-1]):
                return _advice(position, move, "no other card needs it any more.")
    if len(choices) == 1:
        return _advice(position, choices[0], "nothing else leads to a new table.")
    if not sight.unseen and (sure := _winning_move(position, choices)) is not None:
        return _advice(position, sure, "every card is known now, and so does a line begin that wins.")
    if sight.idle >= WANDER:
        return None
    seed = int.from_bytes(sha256(sight.check.encode()).digest()[:8], "big")
    best = best_move(
        problem,
        held,
        sizes,
        hidden=sight.places,
        unseen=sight.unseen,
        moves=[_code(move) for move in choices],
        seed=seed,
        budget=playouts,
    )
    return _advice(position, choices[best], _reason(position, choices[best]))


def get_ready() -> None:
    """Compile, or read from the disk, all that advice takes."""
    game = Game.start(Rules(), "t1: <2C> 9S 5H | t2: <4D> TH 6S | t3: 8D", fragment=True)
    foresee(sight_of(game), 1)
    solve(game.position, Budget(1))


def _choices(sight: Sight, position: Position) -> list[PileMove]:
    """The moves that lead to a table not seen in this game, else to one not on the way here, each kind of them once."""
    moves = [move for move in legal_moves(position) if not is_no_op(position, move)]
    if can_draw(position):
        moves.append(DRAW_MOVE)
    new = _leading_to_others(position, [move for move in moves if move not in sight.tried], sight.seen)
    return new or _leading_to_others(position, moves, sight.line)


def _leading_to_others(position: Position, moves: list[PileMove], tables: frozenset[str]) -> list[PileMove]:
    choices: list[PileMove] = []
    keys: set[tuple[object, ...]] = set()
    for move in moves:
        after = position.copy()
        changes: list[Change] = []
        if move == DRAW_MOVE:
            play_draw(after, changes)
        else:
            play_move(after, move, changes)
        key = position_key(after)
        if key not in keys and (reveals(after, changes) or after.check() not in tables):
            keys.add(key)
            choices.append(move)
    return choices


def _winning_move(position: Position, choices: list[PileMove]) -> PileMove | None:
    verdict = solve(position, Budget(OPEN_POSITIONS))
    if not verdict.line:
        return None
    first = verdict.line[0]
    return next((move for move in choices if _named(position, move) == first), None)


def _code(move: PileMove) -> int:
    source, n, target = move
    return DRAW_ONLY << 18 if move == DRAW_MOVE else source << 18 | n << 9 | target


def _named(position: Position, move: PileMove) -> CardMove | Simple:
    return DRAW if move == DRAW_MOVE else name_move(position.tables, move)


def _advice(position: Position, move: PileMove, why: str) -> Advice:
    what = "Turn the stock" if move == DRAW_MOVE else move_words(position, move)
    return Advice(_named(position, move), f"{what}: {why}")


def _goes_home(position: Position, move: PileMove) -> bool:
    return position.tables.layout.zones[move[2]] == "foundations" and move != DRAW_MOVE


def _reason(position: Position, move: PileMove) -> str:
    """What a move brings, as far as that shows on the table; else how it was found."""
    layout, piles = position.tables.layout, position.piles
    source, n, _ = move
    if move == DRAW_MOVE:
        return (
            "it shows new cards."
            if piles[layout.stock] and position.turn == 1
            else "a card is wanted that comes round again."
        )
    if source < layout.columns:
        if len(piles[source]) == n:
            return f"it empties {pile_words(layout.names[source])}."
        under = piles[source][-n - 1]
        if under & DOWN:
            return "it uncovers a face-down card."
        opened = f"it lays the {card_words(under)} open"
        if any(
            pile.wants(piles[layout.first_foundation + number]) >> under & 1
            for number, pile in enumerate(position.tables.foundations)
        ):
            return f"{opened}, which can go home."
        riders = position.tables.columns[source].fits[under]
        for column in range(layout.columns):
            cards = piles[column]
            for place in range(1, len(cards)):
                card = cards[place]
                if cards[place - 1] & DOWN and not card & DOWN and riders >> card & 1 and column != source:
                    return f"{opened}, and the {card_words(card)} can go there, off a face-down card."
    if _goes_home(position, move):
        return "it brings a card home."
    return "with the hidden cards dealt at random many times, it won most often."
