"""How many games each policy wins, seeing only what a player sees: run by hand, on a range of deals.

    python bench/policy.py                                     # Yukon, ms:20001-20100, all policies
    python bench/policy.py yakutat-bay yukon-thicket:3         # other variants, a level after a colon
    python bench/policy.py --deals 20001-21000 --processes 2   # the deals the documentation speaks of
    python bench/policy.py --policy sampled --playouts 100     # one policy, another amount of work

Nothing is taken back. Prints, a line a policy: games won with the 95 % interval (Wilson), CPU milliseconds a move (mean, 99th
percentile), moves a game.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "server"))

from chilkoot.data import keep_compiled_solver, rules_folder
from chilkoot.engine import Game
from chilkoot.library import Library

keep_compiled_solver()

from chilkoot.engine.moves import is_no_op  # noqa: E402 - compiled code is kept where the line above says
from chilkoot.events import DRAW, Action  # noqa: E402
from chilkoot.language.rules import Rules, canonical_text, from_canonical  # noqa: E402
from chilkoot.solver.foresight import PLAYOUTS, foresee  # noqa: E402
from chilkoot.solver.policy import advise  # noqa: E402
from chilkoot.solver.sight import sight_of  # noqa: E402
from chilkoot.solver.survey import wilson_interval  # noqa: E402

POLICIES = ("random", "first", "sampled")
RANDOM_MOVES = 300


def rules_of(word: str) -> Rules:
    """The rules that a word as ``yukon-thicket:1`` means."""
    name, _, number = word.partition(":")
    variant = Library([rules_folder()]).variant(name)
    level = variant.level(int(number) if number else None) if variant else None
    if level is None:
        raise SystemExit(f"there is no variant {word}")
    return level.rules


def at_random(game: Game, choice: random.Random) -> Action | None:
    """Any legal move that changes something, or a draw."""
    moves: list[Action] = [
        action
        for move, action in zip(game.legal_piles(), game.legal(), strict=True)
        if not is_no_op(game.position, move)
    ]
    if game.can_draw():
        moves.append(DRAW)
    return choice.choice(moves) if moves and game.moves < RANDOM_MOVES else None


def play(rules: str, policy: str, playouts: int, deal: str) -> tuple[bool, list[float]]:
    """Whether a policy wins a deal, and the CPU seconds of each of its moves."""
    game, choice, times = Game.start(from_canonical(rules), deal), random.Random(deal), []
    while not game.is_over:
        begun = time.process_time()
        if policy == "random":
            action = at_random(game, choice)
        else:
            advice = foresee(sight_of(game), playouts) if policy == "sampled" else None
            action = (advice or advise(game)).action
        times.append(time.process_time() - begun)
        if action is None:
            break
        game.act(action)
    return game.status == "won", times


def warm(rules: str, deal: str) -> None:
    """Compile, or read from the disk, what the sampled policy needs: that is no move's time."""
    foresee(sight_of(Game.start(from_canonical(rules), deal)), 1)


def report(word: str, policy: str, *, playouts: int, deals: list[str], processes: int) -> None:
    """Play all deals with a policy and print a line."""
    rules = canonical_text(rules_of(word))
    asked = partial(play, rules, policy, playouts)
    with ProcessPoolExecutor(processes, initializer=warm, initargs=(rules, deals[0])) as pool:
        games = list(pool.map(asked, deals))
    won = sum(wins for wins, _ in games)
    times = sorted(seconds for _, game in games for seconds in game)
    low, high = wilson_interval(won, len(deals))
    print(
        f"{word}, {policy}: {won} of {len(deals)} won, {100 * won / len(deals):.1f} %"
        f" ({100 * low:.1f}–{100 * high:.1f} %);"
        f" {1e3 * sum(times) / len(times):.1f} ms a move, 99th percentile {1e3 * times[len(times) * 99 // 100]:.1f} ms;"
        f" {len(times) / len(deals):.0f} moves a game",
        flush=True,
    )


def main() -> None:
    """Read the flags and run."""
    flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    flags.add_argument("variants", nargs="*", default=["yukon"], help="ids, a level after a colon")
    flags.add_argument("--deals", default="20001-20100", help="a range of ms: numbers")
    flags.add_argument("--policy", choices=POLICIES, action="append", help="repeatable; default: all")
    flags.add_argument("--playouts", type=int, default=PLAYOUTS)
    flags.add_argument("--processes", type=int, default=1)
    given = flags.parse_args()
    first, _, last = given.deals.partition("-")
    deals = [f"ms:{number}" for number in range(int(first), int(last or first) + 1)]
    for word in given.variants:
        for policy in given.policy or POLICIES:
            report(word, policy, playouts=given.playouts, deals=deals, processes=given.processes)


if __name__ == "__main__":
    main()
