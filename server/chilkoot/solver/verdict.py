"""What a search may use and what it found: values, without any search."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from chilkoot.events import Action

__all__ = ["Budget", "Difficulty", "Verdict"]


def _never() -> bool:
    return False


@dataclass(frozen=True)
class Budget:
    """What a search may use: positions opened, bytes of memory, and a call that says when to stop.

    Positions are the same on every machine; `stop` (asked every few milliseconds) serves wall limits and cancelling.
    """

    positions: int = 1_000_000
    memory: int = 64 << 20
    stop: Callable[[], bool] = _never


@dataclass(frozen=True)
class Verdict:
    """What a search found: `winnable` with a line of actions, `lost` for certain, or `unknown`; positions opened, in `runs` runs."""

    kind: Literal["winnable", "lost", "unknown"]
    positions: int
    line: tuple[Action, ...] = ()
    runs: int = 1


@dataclass(frozen=True)
class Difficulty:
    """A level from 1 (easy) to 5, and what it is made of.

    `positions` and `runs` are what the search took until its first win. At places of the shortened line all other moves were
    tried: of `tried` whose verdict is known, `losing` lose the game; of `known` places, `forced` have no other move that
    does not. `branching` is the mean number of moves to choose from, `actions` the length of the line.
    """

    level: int
    positions: int
    runs: int
    losing: int
    tried: int
    forced: int
    known: int
    branching: float
    actions: int
