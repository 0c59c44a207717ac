"""Many deals asked at once: picklable questions and answers for any executor, and what their counts say.

Pure: the executor, the clock and the progress bar are the caller's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import sqrt
from typing import Final, Literal

from chilkoot.engine.game import Game
from chilkoot.events import format_action
from chilkoot.language.rules import from_canonical
from chilkoot.solver.verdict import Budget, Difficulty

__all__ = ["Answer", "Question", "Survey", "answer_to", "wilson_interval"]

_Z: Final = 1.959963984540054
"""Standard normal quantile of a 95 % interval."""


@dataclass(frozen=True)
class Question:
    """Is this deal winnable: the canonical text of the rules, the deal, positions and bytes the search may use.

    Of a winnable deal the line may be wanted as short as it is easily made, and the difficulty.
    """

    rules: str
    deal: str
    positions: int
    memory: int = 64 << 20
    short: bool = False
    difficulty: bool = False


@dataclass(frozen=True)
class Answer:
    """What the search found for a deal; `line` in action texts, for a winnable deal."""

    deal: str
    kind: Literal["winnable", "lost", "unknown"]
    positions: int
    line: tuple[str, ...] = ()
    difficulty: Difficulty | None = None


@dataclass(frozen=True)
class Survey:
    """Counts over many deals."""

    winnable: int = 0
    lost: int = 0
    unknown: int = 0

    @property
    def deals(self) -> int:
        """All deals asked."""
        return self.winnable + self.lost + self.unknown

    def with_answer(self, answer: Answer) -> Survey:
        """The counts with one answer more."""
        return Survey(
            self.winnable + (answer.kind == "winnable"),
            self.lost + (answer.kind == "lost"),
            self.unknown + (answer.kind == "unknown"),
        )

    def winnability(self) -> tuple[float, float]:
        """Bounds on the share of winnable deals: a 95 % interval, the undecided counted as lost below, as won above."""
        if not self.deals:
            return 0.0, 1.0
        low, _ = wilson_interval(self.winnable, self.deals)
        _, high = wilson_interval(self.winnable + self.unknown, self.deals)
        return low, high


def wilson_interval(hits: int, tries: int) -> tuple[float, float]:
    """The 95 % score interval of a share (Wilson, "Probable Inference, the Law of Succession", 1927)."""
    if tries == 0:
        return 0.0, 1.0
    share, weight = hits / tries, _Z * _Z / tries
    centre = share + weight / 2
    spread = _Z * sqrt(share * (1 - share) / tries + weight / (4 * tries))
    return max((centre - spread) / (1 + weight), 0.0), min((centre + spread) / (1 + weight), 1.0)


def answer_to(question: Question, stop: Callable[[], bool] | None = None) -> Answer:
    """Search one deal; `stop` is a wall limit besides the budget. Raises DealError for a bad deal."""
    # Whoever only counts answers needs no compiler.
    from chilkoot.solver.difficulty import difficulty_of  # noqa: PLC0415
    from chilkoot.solver.shorten import SHORTEN_POSITIONS, shorten  # noqa: PLC0415
    from chilkoot.solver.solve import solve  # noqa: PLC0415

    game = Game.start(from_canonical(question.rules), question.deal)
    budget = Budget(positions=question.positions, memory=question.memory)
    budget = budget if stop is None else replace(budget, stop=stop)
    verdict = solve(game.position, budget)
    line, difficulty = verdict.line, None
    if line and (question.short or question.difficulty):
        line = shorten(game.position, line, replace(budget, positions=SHORTEN_POSITIONS))
    if verdict.kind == "winnable" and question.difficulty:
        difficulty = difficulty_of(game.position, verdict, line)
    return Answer(game.deal, verdict.kind, verdict.positions, tuple(map(format_action, line)), difficulty)
