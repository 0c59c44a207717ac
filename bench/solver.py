"""What the solver decides, how fast: run by hand, on fixed deals, with a wall limit a deal.

    python bench/solver.py                       # Yukon and its family, ms:1-100, 10 s a deal
    python bench/solver.py --deals 1000 yukon    # one variant, as many deals as you like
    python bench/solver.py --curve yukon         # decided by budgets of positions in place of seconds

Prints, a line a variant: won, proved lost, open; CPU milliseconds (median, 90th percentile), the share decided within 0.1 s and
1 s; positions opened a second; the peak memory of the process so far.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "server"))

from chilkoot.data import keep_compiled_solver, rules_folder
from chilkoot.engine import Game
from chilkoot.language import Level
from chilkoot.library import Library

keep_compiled_solver()

from chilkoot.solver.solve import solve  # noqa: E402 - compiled code is kept where the line above says
from chilkoot.solver.verdict import Budget, Verdict  # noqa: E402

FAMILY = (
    "yukon", "yakutat-bay", "yukon-cells", "yukon-thicket:1", "yukon-thicket:2", "yukon-thicket:3", "russian", "alaska",
    "freecell", "klondike-draw-3", "spider",
)  # fmt: skip
CURVE = (1_000, 10_000, 100_000, 1_000_000)


def level_of(word: str) -> Level:
    """The rules that a word as ``yukon-thicket:1`` means."""
    name, _, number = word.partition(":")
    variant = Library([rules_folder()]).variant(name)
    level = variant.level(int(number) if number else None) if variant else None
    if level is None:
        raise SystemExit(f"there is no variant {word}")
    return level


def ask(level: Level, number: int, *, seconds: float | None, positions: int) -> tuple[Verdict, float]:
    """The verdict of one deal and the CPU seconds it took."""
    position = Game.start(level.rules, f"ms:{number}").position
    begun, end = time.process_time(), time.monotonic() + (seconds or 1e9)
    verdict = solve(position, Budget(positions, 1 << 30, lambda: time.monotonic() > end))
    return verdict, time.process_time() - begun


def report(word: str, deals: int, *, seconds: float | None, positions: int) -> None:
    """Ask deals ms:1 … ms:N and print a line."""
    level = level_of(word)
    # Once before, so that nothing is compiled while the clock runs.
    ask(level, 1, seconds=1.0, positions=2000)
    answers = [ask(level, number, seconds=seconds, positions=positions) for number in range(1, deals + 1)]
    kinds = [verdict.kind for verdict, _ in answers]
    times = sorted(taken for _, taken in answers)
    opened = sum(verdict.positions for verdict, _ in answers)
    decided = [taken for (verdict, taken) in answers if verdict.kind != "unknown"]
    budget = f"{seconds:g} s" if seconds else f"{positions} positions"
    print(
        f"{word}: {deals} deals, {budget} each: {kinds.count('winnable')} won, {kinds.count('lost')} lost,"
        f" {kinds.count('unknown')} open ({100 * len(decided) / deals:.1f} % decided);"
        f" median {1e3 * times[deals // 2]:.1f} ms, p90 {1e3 * times[deals * 9 // 10]:.1f} ms,"
        f" {100 * sum(taken <= 0.1 for taken in decided) / deals:.0f} % in 0.1 s,"
        f" {100 * sum(taken <= 1 for taken in decided) / deals:.0f} % in 1 s;"
        f" {opened / max(sum(times), 1e-9):.0f} positions/s;"
        f" peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MiB",
        flush=True,
    )


def main() -> None:
    """Read the flags and run."""
    flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    flags.add_argument("variants", nargs="*", default=FAMILY, help="ids, a level after a colon")
    flags.add_argument("--deals", type=int, default=100)
    flags.add_argument("--seconds", type=float, default=10.0)
    flags.add_argument("--curve", action="store_true", help="budgets of positions in place of seconds")
    given = flags.parse_args()
    for word in given.variants:
        if given.curve:
            for positions in CURVE:
                report(word, given.deals, seconds=None, positions=positions)
        else:
            report(word, given.deals, seconds=given.seconds, positions=10**9)


if __name__ == "__main__":
    main()
