"""The first policy for hints and Auto, quick and for any rules: it answers where ``foresight`` does not, or not in time.

It sees what the player sees, and never goes in circles: it looks for the shortest ways to progress (a card turned up, a
higher score) among the positions that can be reached from what is visible, and prefers the one that leaves the better
table. It is a function of the visible table and the game's visible history: hidden cards are replaced before anything is
looked at, and no clock or randomness is read, so neither its content nor how long it takes depends on them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from chilkoot.cards import DOWN, card_words
from chilkoot.engine.game import Game
from chilkoot.engine.moves import PileMove, can_turn, is_no_op, legal_moves, name_move
from chilkoot.engine.play import is_safe, play_draw, play_move
from chilkoot.engine.position import Change, Position
from chilkoot.engine.refusals import can_draw
from chilkoot.engine.stuck import blind, position_key
from chilkoot.events import DRAW, CardMove, Simple, Turn, TurnUp

__all__ = ["DRAW_MOVE", "WANDER", "Advice", "advise", "move_words", "pile_words"]

POSITIONS: Final = 400
"""Positions looked at for one piece of advice."""

WANDER: Final = 40
"""Actions in a row without progress before a step without known use is no longer advised."""

DRAW_MOVE: Final[PileMove] = (-1, 0, -1)
"""Stands for turning the stock."""


@dataclass(frozen=True)
class Advice:
    """What the policy would do, and why in a sentence; `action` is None where it finds no way on."""

    action: CardMove | TurnUp | Simple | None
    message: str


@dataclass(frozen=True)
class _Way:
    """A way to progress: its first move, its worth, what it brings."""

    first: PileMove
    worth: float
    brings: str


def advise(game: Game) -> Advice:
    """What to do now. A move that was tried from here before and taken back is advised only where nothing else is left."""
    if game.is_over:
        return Advice(None, "The game is over.")
    position = blind(game.position)
    turns = can_turn(position)
    if turns:
        column = position.tables.layout.names[turns[0]]
        return Advice(TurnUp(column), f"Turn up the last card of {pile_words(column)}.")
    way = _find(game, position, avoid=game.seen, tried=True) or _find(
        game, position, avoid=game.line(), tried=False
    )
    if way is None:
        return Advice(None, "No way on was found from what can be seen.")
    if way.first == DRAW_MOVE:
        return Advice(DRAW, "Turn the stock: " + way.brings)
    move = name_move(position.tables, way.first)
    return Advice(move, f"{move_words(position, way.first)}: {way.brings}")


def _find(game: Game, root: Position, *, avoid: set[str], tried: bool) -> _Way | None:
    """The best of the shortest ways to progress; else the best first step to a position not seen; else None."""
    seen = {position_key(root)}
    level: list[tuple[Position, PileMove | None]] = [(root, None)]
    budget = POSITIONS
    steps: list[_Way] = []
    while level and budget > 0:
        ways: list[_Way] = []
        deeper: list[tuple[Position, PileMove | None]] = []
        for position, first in level:
            for move in _moves(position):
                start = first or move
                if first is None and tried and (game.check(), move) in game.tried:
                    continue
                budget -= 1
                way, child = _try_move(position, move, start)
                if way is not None:
                    ways.append(way)
                elif child is not None and position_key(child) not in seen and child.check() not in avoid:
                    seen.add(position_key(child))
                    deeper.append((child, start))
                    if first is None:
                        steps.append(_Way(start, _worth(child), "it may open a way on."))
        if ways:
            return max(ways, key=lambda way: way.worth)
        level = deeper
    # Only where the search ran out of positions, not of moves, is a step without known use worth a try, and not for ever.
    wanders = bool(level) and game.idle() < WANDER
    return max(steps, key=lambda way: way.worth, default=None) if wanders else None


def _moves(position: Position) -> list[PileMove]:
    moves = [move for move in legal_moves(position) if not is_no_op(position, move)]
    return [*moves, DRAW_MOVE] if can_draw(position) else moves


def _try_move(position: Position, move: PileMove, first: PileMove) -> tuple[_Way | None, Position | None]:
    """A way where the move progresses, else the position after it. An uncovered card's face is never looked at."""
    child = position.copy()
    changes: list[Change] = []
    if move == DRAW_MOVE:
        play_draw(child, changes)
        if child.redealt > position.redealt:
            hidden = any(
                card & DOWN for cards in position.piles[: position.tables.layout.columns] for card in cards
            )
            new = position.rules.redeal.shuffle or hidden
        else:
            new = position.turn == 1 or position.rules.stock.shuffle
        if new and any(isinstance(change, Turn) for change in changes):
            return _Way(first, _worth(position) - 4, "it shows new cards."), None
        return None, child
    source, n, target = move
    zones = child.tables.layout.zones
    moved = position.copy()
    moved.move(source, target, n)
    left = moved.piles[source]
    if zones[source] in ("tableau", "reserve") and left and left[-1] & DOWN:
        # Emptying a column with few covered cards left is worth more than scratching a deep one.
        return _Way(first, _worth(moved) + 6 - 0.5 * len(left), "it uncovers a face-down card."), None
    card = position.piles[source][-1]
    play_move(child, move, changes)
    if child.score() > position.best:
        safe = zones[target] != "foundations" or is_safe(position, card)
        return _Way(first, _worth(moved) + (20 if safe else 1), "it brings a card home."), None
    return None, child


def _worth(position: Position) -> float:
    """How good a table looks: fewer covered cards, fewer cards out of order, more empty columns and cells."""
    tables, layout, piles = position.tables, position.tables.layout, position.piles
    worth = 1.0 * position.score()
    for column in range(layout.columns):
        cards = piles[column]
        if not cards:
            worth += 3
            continue
        fits = tables.columns[column].fits
        for below, card in enumerate(cards[1:]):
            if card & DOWN:
                worth -= 3
            elif cards[below] & DOWN or not fits[cards[below]] >> card & 1:
                worth -= 1
        if cards[0] & DOWN:
            worth -= 3
    return worth - 2 * sum(bool(piles[cell]) for cell in range(layout.first_cell, layout.first_reserve))


def pile_words(name: str) -> str:
    """A pile in words, ``column 3``."""
    words = {
        "t": "column",
        "c": "cell",
        "r": "reserve",
        "f": "foundation",
        "s": "the stock",
        "w": "the waste",
    }
    return words[name[0]] if name[0] in "sw" else f"{words[name[0]]} {name[1:]}"


def move_words(position: Position, move: PileMove) -> str:
    """A move in words, without a full stop."""
    source, n, target = move
    names = position.tables.layout.names
    card = card_words(position.piles[source][-n])
    riders = "" if n == 1 else " with the card on it" if n == 2 else f" with the {n - 1} cards on it"
    where = "home" if names[target][0] == "f" else f"to {pile_words(names[target])}"
    return f"Move the {card}{riders} {where}"
