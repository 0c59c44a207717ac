"""Winning lines made shorter before anybody sees them: a search finds some way to win, seldom a straight one.

Each step keeps the line a winning one by the engine's own word, and gives up when nothing is gained any more or the
positions it may open are used up: the same line is shortened the same way everywhere. The result is short, not shortest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from chilkoot.engine.moves import can_send_home, can_turn, is_no_op, legal_moves, name_move
from chilkoot.engine.outcome import is_won
from chilkoot.engine.play import play_draw, play_home, play_move, play_turn
from chilkoot.engine.position import Position
from chilkoot.engine.refusals import can_draw, resolve
from chilkoot.events import DRAW, HOME, Action, CardMove, TurnUp
from chilkoot.solver.problem import why_unsupported
from chilkoot.solver.solve import CompiledSearch, solve
from chilkoot.solver.verdict import Budget

__all__ = ["SHORTEN_POSITIONS", "play", "shorten"]

SHORTEN_POSITIONS: Final = 40_000
"""Positions that are opened for one line."""

_RUNS: Final = 40
"""Short runs that look for other lines: on Yukon's deals the shortest of them has nine actions of a hundred less."""

_SEARCHES: Final = 24
"""Places of a line from which the rest is looked for anew."""

_PER_SEARCH: Final = 400
"""Positions for the rest of a line: half of the lines that are found at all are found within a hundred."""


def shorten(position: Position, line: Sequence[Action], budget: Budget | None = None) -> tuple[Action, ...]:
    """A line that wins from the same position as `line`, which must win, and is at most as long."""
    budget = budget or Budget(positions=SHORTEN_POSITIONS)
    positions, best = budget.positions, list(line)
    if why_unsupported(position.rules) is None:
        search = CompiledSearch(position, budget)
        best = min((best, *map(list, search.lines(_RUNS))), key=len)
        positions -= search.used
    best = _straightened(position, best)
    while positions > 0 and not budget.stop():
        shorter, used = _searched_anew(position, best, positions)
        positions -= used
        if len(shorter) >= len(best):
            break
        best = _straightened(position, shorter)
    return tuple(best)


def play(position: Position, action: Action) -> bool:
    """Do an action that changes a position, in place, if the rules allow it; False where they do not."""
    if isinstance(action, CardMove):
        move = resolve(position, action)
        if move is None:
            return False
        play_move(position, move, [])
    elif isinstance(action, TurnUp):
        column = position.tables.layout.index.get(action.pile)
        if column is None or column not in can_turn(position):
            return False
        play_turn(position, column, [])
    elif action == DRAW and can_draw(position):
        play_draw(position, [])
    elif action == HOME and can_send_home(position):
        play_home(position, [])
    else:
        return False
    return True


def _straightened(position: Position, line: list[Action]) -> list[Action]:
    """The line without loops, detours and moves that nothing depends on."""
    while True:
        shorter = _without_detours(position, _with_shortcuts(position, line))
        if len(shorter) >= len(line):
            return line
        line = shorter


def _with_shortcuts(position: Position, line: list[Action]) -> list[Action]:
    """From each position on to the last one of the line that it reaches in no or one action."""
    passed = list(_positions(position, line))
    last = {_key(one): number for number, one in enumerate(passed)}
    at, taken = 0, list[Action]()
    while at < len(line):
        beyond = last[_key(passed[at])]
        if beyond > at:
            at = beyond
            continue
        to, action = at + 1, line[at]
        for other, child in _children(passed[at]):
            reached = last.get(_key(child), -1)
            if reached > to:
                to, action = reached, other
        taken.append(action)
        at = to
    return taken


def _without_detours(position: Position, line: list[Action]) -> list[Action]:
    """Cards that move twice move once where that does as well; moves that nothing depends on are left out."""
    before, at = position.copy(), 0
    while at < len(line):
        rest = next(filter(None, (_winning_part(before, one) for one in _fewer(line[at:]))), None)
        if rest is None:
            play(before, line[at])
            at += 1
        else:
            line = line[:at] + rest
    return line


def _fewer(line: list[Action]) -> Iterator[list[Action]]:
    """Lines without the first action of a line, or with it and a later move of the same cards made one."""
    first, rest = line[0], line[1:]
    yield rest
    if not isinstance(first, CardMove):
        return
    for number, later in enumerate(rest):
        if isinstance(later, CardMove) and later.source == first.target:
            if later.n == first.n:
                at_once = CardMove(first.source, first.n, later.target)
                yield [at_once, *rest[:number], *rest[number + 1 :]]
                yield [*rest[:number], at_once, *rest[number + 1 :]]
            return


def _winning_part(position: Position, line: list[Action]) -> list[Action]:
    """As much of a line as is needed to win; nothing where it does not, or can't be played."""
    copy = position.copy()
    for count, action in enumerate(line, start=1):
        if not play(copy, action):
            return []
        if is_won(copy):
            return line[:count]
    return []


def _searched_anew(position: Position, line: list[Action], positions: int) -> tuple[list[Action], int]:
    """The line with the shortest end that a search from some places of it finds, and the positions that were opened."""
    best, used = line, 0
    step = max(len(line) // _SEARCHES, 1)
    for at, one in enumerate(_positions(position, line[:-1])):
        if at % step == 0 and used < positions:
            found = solve(one, Budget(positions=min(_PER_SEARCH, positions - used)))
            used += found.positions
            if found.line and at + len(found.line) < len(best):
                best = [*line[:at], *found.line]
    return best, used


def _positions(position: Position, line: Sequence[Action]) -> Iterator[Position]:
    """The position before a line and after each of its actions."""
    position = position.copy()
    yield position.copy()
    for action in line:
        if not play(position, action):
            raise AssertionError(f"the engine refuses {action}")
        yield position.copy()


def _children(position: Position) -> Iterator[tuple[Action, Position]]:
    actions: list[Action] = [
        name_move(position.tables, move) for move in legal_moves(position) if not is_no_op(position, move)
    ]
    if can_draw(position):
        actions.append(DRAW)
    for action in actions:
        child = position.copy()
        play(child, action)
        yield action, child


def _key(position: Position) -> tuple[object, ...]:
    """All that play depends on, piles in their places: a line goes on from one position as from another of the same key."""
    returned = position.returned if position.tables.auto_home != "never" else -1
    piles = (bytes(cards) for cards in position.piles)
    return (*piles, position.base, position.turn, position.redealt, returned)
