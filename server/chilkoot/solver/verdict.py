"""What a search may use and what it found: values, without any search."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from chilkoot.events import Action

__all__ = ["Budget", "Verdict"]


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
    """What a search found: `winnable` with a line of actions, `lost` for certain, or `unknown`; positions opened."""

    kind: Literal["winnable", "lost", "unknown"]
    positions: int
    line: tuple[Action, ...] = ()
