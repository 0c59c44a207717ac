"""A player who never thinks ahead: cards go home when they can, covered cards are uncovered, nothing is done twice.

It is quick, and blind to what is hidden. What it can win needs no skill; what it can't win says nothing.
"""

from __future__ import annotations

from chilkoot.cards import DOWN
from chilkoot.engine import Position, deal, is_no_op, legal_moves
from chilkoot.engine.moves import PileMove, can_turn
from chilkoot.engine.outcome import is_won
from chilkoot.engine.play import play_draw, play_move, play_turn
from chilkoot.engine.refusals import can_draw
from chilkoot.language.rules import Rules

__all__ = ["deal_of", "has_first_move", "wins"]


def deal_of(rules: Rules, text: str) -> Position:
    """The position that a deal begins with."""
    return Position(rules, deal(rules, text))


def has_first_move(position: Position) -> bool:
    """Whether anything but a no-op can be done."""
    if can_draw(position) or can_turn(position):
        return True
    return any(not is_no_op(position, move) for move in legal_moves(position))


def wins(position: Position, *, within: int) -> bool:
    """Play on from a position: whether the game is won within so many actions."""
    done: set[tuple[object, ...]] = set()
    for _ in range(within):
        if is_won(position):
            return True
        if turns := can_turn(position):
            play_turn(position, turns[0], [])
            continue
        move = _choose(position, done)
        if move is not None:
            done.add((position.check(), move))
            play_move(position, move, [])
            continue
        draw = (position.check(), "draw")
        if draw in done or not can_draw(position):
            return False
        done.add(draw)
        play_draw(position, [])
    return is_won(position)


def _choose(position: Position, done: set[tuple[object, ...]]) -> PileMove | None:
    """The best move at first sight that was not made from here before; None where turning the stock is as good."""
    draws = can_draw(position)
    check = position.check()
    dug = _column_to_dig(position)
    moves = [
        (worth, move)
        for move in legal_moves(position)
        if not is_no_op(position, move) and (worth := _worth(position, move, dug)) > (1 if draws else 0)
    ]
    for _, move in sorted(moves, key=lambda pair: -pair[0]):
        if (check, move) not in done:
            return move
    return None


def _column_to_dig(position: Position) -> int:
    """The column in which a card that could go home lies nearest to the end, though not at it; -1 where there is none."""
    first = position.tables.layout.first_foundation
    wanted = 0
    for number, table in enumerate(position.tables.foundations):
        there = position.piles[first + number]
        wanted |= table.on[there[-1]] if there else table.start
    depths = [
        (depth, column)
        for column, cards in enumerate(position.piles[: position.tables.layout.columns])
        for depth, card in enumerate(reversed(cards))
        if depth and not card & DOWN and wanted >> card & 1
    ]
    return min(depths, default=(0, -1))[1]


def _worth(position: Position, move: PileMove, dug: int) -> int:
    source, n, target = move
    zones = position.tables.layout.zones
    if zones[source] == "foundations":
        return 0
    if zones[target] == "foundations":
        return 10
    cards = position.piles[source]
    if zones[source] == "tableau" and len(cards) > n and cards[-n - 1] & DOWN:
        return 8
    if source == dug:
        return (
            7
            if zones[target] == "tableau" and position.piles[target]
            else 5
            if zones[target] == "cells"
            else 4
        )
    if zones[target] == "cells" or target == dug:
        return 1
    if zones[source] == "tableau":
        return 6 if len(cards) == n else 2
    return 6 if position.piles[target] else 3
