"""The same question asked of the engine itself: slow, without a trick, for rules that the compiled search does not know.

Also the judge of the compiled search in the tests: it has no dominance, no dead test and no flat arrays, only the engine's
moves and a set of the positions seen.
"""

from __future__ import annotations

import heapq

from chilkoot.cards import DOWN
from chilkoot.engine.moves import can_turn, is_no_op, legal_moves, name_move
from chilkoot.engine.outcome import is_won
from chilkoot.engine.play import play_draw, play_move, play_turn
from chilkoot.engine.position import Position
from chilkoot.engine.refusals import can_draw
from chilkoot.engine.stuck import position_key
from chilkoot.events import DRAW, Action, TurnUp
from chilkoot.solver.verdict import Budget, Verdict

__all__ = ["search_plainly"]

_Node = tuple[Position, int, Action | None]


def search_plainly(root: Position, budget: Budget) -> Verdict:
    """Decide a position by best-first search over the engine's own positions, each looked at once."""
    nodes: list[_Node] = [(root, -1, None)]
    if is_won(root):
        return Verdict("winnable", 0)
    seen = {_key(root)}
    open_: list[tuple[int, int]] = [(_distance(root), 0)]
    opened = 0
    while open_:
        if opened >= budget.positions or (opened % 256 == 0 and budget.stop()):
            return Verdict("unknown", opened)
        opened += 1
        _, number = heapq.heappop(open_)
        for action, child in _children(nodes[number][0]):
            key = _key(child)
            if key in seen:
                continue
            seen.add(key)
            nodes.append((child, number, action))
            if is_won(child):
                return Verdict("winnable", opened, _line(nodes))
            heapq.heappush(open_, (_distance(child), len(nodes) - 1))
    return Verdict("lost", opened)


def _line(nodes: list[_Node]) -> tuple[Action, ...]:
    actions: list[Action] = []
    number = len(nodes) - 1
    while number > 0:
        _, parent, action = nodes[number]
        if action is not None:
            actions.append(action)
        number = parent
    return tuple(reversed(actions))


def _children(position: Position) -> list[tuple[Action, Position]]:
    """Every position one action on. Cell to cell is left out; a whole column onto an empty one is not, for rules may differ."""
    layout = position.tables.layout
    children: list[tuple[Action, Position]] = []
    for move in legal_moves(position):
        if is_no_op(position, move) and layout.zones[move[0]] == "cells":
            continue
        child = position.copy()
        play_move(child, move, [])
        children.append((name_move(position.tables, move), child))
    for column in can_turn(position):
        child = position.copy()
        play_turn(child, column, [])
        children.append((TurnUp(layout.names[column]), child))
    if can_draw(position):
        child = position.copy()
        play_draw(child, [])
        children.append((DRAW, child))
    return children


def _key(position: Position) -> tuple[object, ...]:
    automatic = position.returned if position.tables.auto_home != "never" else -1
    return (*position_key(position), position.base, position.redealt, automatic)


def _distance(position: Position) -> int:
    down = sum(card >= DOWN for cards in position.piles for card in cards)
    return 2 * down - 3 * position.score()
