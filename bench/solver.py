"""What the solver decides, how fast: run by hand, on fixed deals, with a limit of processor time a deal.

    python bench/solver.py                            # all games below, ms:1-100, 10 s a deal
    python bench/solver.py --deals 1000 yukon         # one variant, as many deals as you like; a level after a colon
    python bench/solver.py --curve yukon              # decided by budgets of positions in place of seconds
    python bench/solver.py --memory 64 yukon          # with the memory of a request that a player waits for

Prints a line a variant: won, proved lost, open, the share decided and the 95 % interval of the share that can be won (open
deals counted as lost below, as won above); CPU milliseconds (median, 90th percentile, the most); the share decided within
0.1 s, 1 s and the limit; positions opened a second; the peak memory of the process so far; and which deals stayed open.
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
from chilkoot.solver.survey import Survey  # noqa: E402
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


def ask(
    level: Level, number: int, *, seconds: float | None, positions: int, memory: int
) -> tuple[Verdict, float]:
    """The verdict of one deal and the CPU seconds it took."""
    position = Game.start(level.rules, f"ms:{number}").position
    begun = time.process_time()
    end = begun + (seconds or 1e9)
    verdict = solve(position, Budget(positions, memory, lambda: time.process_time() > end))
    return verdict, time.process_time() - begun


def report(word: str, deals: int, *, seconds: float | None, positions: int, memory: int) -> None:
    """Ask deals ms:1 … ms:N and print a line."""
    level = level_of(word)
    # Once before, so that nothing is compiled while the clock runs.
    ask(level, 1, seconds=1.0, positions=2000, memory=memory)
    answers = [
        ask(level, number, seconds=seconds, positions=positions, memory=memory)
        for number in range(1, deals + 1)
    ]
    kinds = [verdict.kind for verdict, _ in answers]
    times = sorted(taken for _, taken in answers)
    opened = sum(verdict.positions for verdict, _ in answers)
    decided = [taken for (verdict, taken) in answers if verdict.kind != "unknown"]
    counts = Survey(kinds.count("winnable"), kinds.count("lost"), kinds.count("unknown"))
    low, high = counts.winnability()
    within = ", ".join(
        f"{100 * sum(taken <= limit for taken in decided) / deals:.1f} % in {limit:g} s"
        for limit in (0.1, 1.0, *([seconds] if seconds and seconds > 1 else []))
    )
    still = [f"ms:{number}" for number, kind in enumerate(kinds, start=1) if kind == "unknown"]
    budget = f"{seconds:g} s" if seconds else f"{positions} positions"
    print(
        f"{word}: {deals} deals, {budget} each: {counts.winnable} won, {counts.lost} lost, {counts.unknown} open"
        f" ({100 * len(decided) / deals:.1f} % decided; {100 * low:.1f} to {100 * high:.1f} % can be won);"
        f" median {1e3 * times[deals // 2]:.1f} ms, p90 {1e3 * times[deals * 9 // 10]:.1f} ms, most {times[-1]:.2f} s;"
        f" {within}; {opened / max(sum(times), 1e-9):.0f} positions/s;"
        f" peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MiB; open: {' '.join(still) or 'none'}",
        flush=True,
    )


def main() -> None:
    """Read the flags and run."""
    flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    flags.add_argument("variants", nargs="*", default=FAMILY, help="ids, a level after a colon")
    flags.add_argument("--deals", type=int, default=100)
    flags.add_argument("--seconds", type=float, default=10.0)
    flags.add_argument("--memory", type=int, default=1024, help="MiB that a search may use")
    flags.add_argument("--curve", action="store_true", help="budgets of positions in place of seconds")
    given = flags.parse_args()
    for word in given.variants:
        if given.curve:
            for positions in CURVE:
                report(word, given.deals, seconds=None, positions=positions, memory=given.memory << 20)
        else:
            report(word, given.deals, seconds=given.seconds, positions=10**9, memory=given.memory << 20)


if __name__ == "__main__":
    main()
