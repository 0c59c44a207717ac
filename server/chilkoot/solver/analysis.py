"""A game that is over, looked at with all cards known: where it could still be won, and where no longer.

A position is asked of the search only where no other answer settles it: all that follows a lost position is lost, all that
led to one that can be won could be won. So along a line of play the place where a game was lost is found by halving. Undone
moves are branches of their own; a redo goes back to where they led.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from chilkoot.engine.game import Game
from chilkoot.engine.outcome import is_won
from chilkoot.engine.position import Position
from chilkoot.engine.refusals import Refusal
from chilkoot.events import Action, Undo, format_action, parse_action
from chilkoot.language.rules import from_canonical

__all__ = ["ANALYSE_POSITIONS", "Analysis", "AnalysisError", "Kind", "analyse"]

ANALYSE_POSITIONS: Final = 500_000
"""Positions the search opens for one game in all."""

_PER_QUESTION: Final = 30_000
"""Positions it opens for one position of the game."""

_MEMORY: Final = 64 << 20

Kind = Literal["winnable", "lost", "unknown"]


class AnalysisError(Exception):
    """A game that its own rules do not bear out; the text says where."""


@dataclass(frozen=True)
class Analysis:
    """What is known of a game: of the deal and of the position after each action whether it could be won.

    A verdict is None where nobody asked yet, for an analysis may be made bit by bit; then there is no line either.
    `last_winnable` is the `seq` of the last position that could be won, `line` a winning line from there in action texts,
    empty where the game was won. `positions` counts what the search opened.
    """

    verdicts: tuple[Kind | None, ...]
    last_winnable: int | None
    line: tuple[str, ...]
    positions: int

    @property
    def is_whole(self) -> bool:
        """Whether every position has its verdict."""
        return None not in self.verdicts


class _Place:
    """A position that was on the table: from where it was reached, where play went on to, and what is known of it."""

    __slots__ = ("after", "before", "depth", "kind", "line", "position", "way")

    def __init__(self, position: Position, depth: int) -> None:
        self.position = position
        self.depth = depth
        self.before: list[tuple[_Place, Action]] = []
        self.after: list[_Place] = []
        self.kind: Kind | None = None
        self.line: tuple[Action, ...] = ()
        """What the search found, where it was asked."""
        self.way: tuple[Action, _Place] | None = None
        """Else the action that was made, and where it led, where that can be won."""


def analyse(
    rules: str,
    deal: str,
    actions: Sequence[str],
    *,
    positions: int = ANALYSE_POSITIONS,
    most: int | None = None,
    known: Sequence[Kind | None] = (),
    told: Callable[[int, int], None] | None = None,
) -> Analysis:
    """Look at a game by its canonical rules, its deal and the actions of its record.

    The search opens `positions` in all, and then says no more than it knows; after `most` of them the analysis ends where
    it is, to be gone on with from its verdicts, which are then `known`. `told` hears how many of the positions are settled.
    Raises AnalysisError, and DealError for what is no deal of these rules.
    """
    places, log = _played(rules, deal, actions)
    for place, kind in zip(log, known, strict=False):
        if kind is not None and place.kind is None:
            _settle(place, kind)
    for place in places:
        if place.kind is None and is_won(place.position):
            _settle(place, "winnable")
    used = 0
    waiting = [place for place in places if place.kind is None]
    while waiting and (most is None or used < most):
        # The deepest first: most games are lost near their end, and what is won there settles all before it.
        chain = _chain_to(max(waiting, key=lambda place: place.depth))
        used += _ask(chain[len(chain) // 2], min(_PER_QUESTION, positions - used))
        waiting = [place for place in waiting if place.kind is None]
        if told is not None:
            told(len(places) - len(waiting), len(places))
    verdicts = tuple(place.kind for place in log)
    last = max((seq for seq, kind in enumerate(verdicts) if kind == "winnable"), default=None)
    line = () if last is None or waiting else _line_from(log[last])
    return Analysis(verdicts, last, tuple(map(format_action, line)), used)


def _played(rules: str, deal: str, actions: Sequence[str]) -> tuple[list[_Place], list[_Place]]:
    """Every place of a game once, and the place at which the game stood from the deal on after each action."""
    game = Game.start(from_canonical(rules), deal)
    game.looks_for_stuck = False
    here = _Place(game.position.copy(), 0)
    known = {_key(here.position): here}
    log = [here]
    for seq, text in enumerate(actions, start=1):
        action = parse_action(text)
        done = None if action is None else game.act(action)
        if action is None or done is None or isinstance(done, Refusal):
            why = "is no action" if action is None else "was not allowed"
            raise AnalysisError(f"action {seq}, `{text}`, {why}")
        key = _key(game.position)
        there = known.get(key)
        if there is None:
            there = known[key] = _Place(game.position.copy(), here.depth + 1)
        # What is undone or done again is no new way.
        if there is not here and not isinstance(action, Undo):
            there.before.append((here, action))
            here.after.append(there)
        here = there
        log.append(here)
    return list(known.values()), log


def _key(position: Position) -> tuple[object, ...]:
    return (*(bytes(cards) for cards in position.piles), *position.state[:4])


def _chain_to(place: _Place) -> list[_Place]:
    """The places on the way to a place that are not settled, up to the last one that is."""
    chain = []
    at: _Place | None = place
    while at is not None and at.kind is None:
        chain.append(at)
        at = at.before[0][0] if at.before else None
    return chain[::-1]


def _ask(place: _Place, positions: int) -> int:
    """Ask the search about a place, and settle what follows from its answer; the positions that were opened."""
    # Whoever only reads what an analysis is needs no compiler.
    from chilkoot.solver.solve import solve  # noqa: PLC0415
    from chilkoot.solver.verdict import Budget  # noqa: PLC0415

    if positions <= 0:
        place.kind = "unknown"
        return 0
    verdict = solve(place.position, Budget(positions=positions, memory=_MEMORY))
    if verdict.kind == "winnable":
        place.line = verdict.line
    _settle(place, verdict.kind)
    return verdict.positions


def _settle(place: _Place, kind: Kind) -> None:
    """Note a verdict, and what follows from it."""
    place.kind = kind
    beyond = [] if kind == "unknown" else [place]
    while beyond:
        one = beyond.pop()
        if kind == "lost":
            others = [after for after in one.after if after.kind != kind]
        else:
            others = [before for before, _ in one.before if before.kind != kind]
            for before, action in one.before:
                if before.kind != kind:
                    before.way = (action, one)
        for other in others:
            other.kind = kind
        beyond += others


def _line_from(place: _Place) -> tuple[Action, ...]:
    """A winning line from a place that can be won, as short as it is easily made."""
    from chilkoot.solver.shorten import shorten  # noqa: PLC0415

    made: list[Action] = []
    at = place
    while at.way is not None:
        action, at = at.way
        made.append(action)
    if not at.line and not is_won(at.position):
        # The search was asked when another part of this analysis was made.
        _ask(at, _PER_QUESTION)
    line = (*made, *at.line)
    return shorten(place.position, line) if line and (at.line or is_won(at.position)) else ()
