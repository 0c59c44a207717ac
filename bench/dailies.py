"""What a leaderboard costs: pages of a board of 100,000 results on SQLite, from the top, from the middle, from the end.

Run by hand: ``python bench/dailies.py``. Each page is asked for by somebody who has a place on the board, so that it comes with that
place and the lines about it. The goal is 20 ms a page.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "server"))

from chilkoot.daily import place_of
from chilkoot.record import (
    AddAttempt,
    AddResult,
    AnnounceDaily,
    EndAttempt,
    NewGame,
    NewPlayer,
    NewSeason,
    PutRules,
    Reader,
    Store,
    Write,
)

DAY = "2026-11-29"
CHUNK = 2000


def fill(store: Store, results: int) -> None:
    """A day that so many players have finished."""
    chance = random.Random(7)
    store.write(
        (
            NewSeason(first=DAY, days=365, root=bytes(32), tip=bytes(32), published_ms=1),
            PutRules(hash="0" * 64, text="{}"),
            AnnounceDaily(
                date=DAY, variant="yukon", level=None, season=DAY, day=1, rules_hash="0" * 64, beacon="",
                seed_hash=bytes(32), announced_ms=1,
            ),
        )
    )  # fmt: skip
    for first in range(0, results, CHUNK):
        writes: list[Write] = []
        for number in range(first, min(results, first + CHUNK)):
            writes += one_result(chance, number)
        store.write(tuple(writes))


def one_result(chance: random.Random, number: int) -> list[Write]:
    """A player with a game that is over, and its place."""
    who, name, won = f"player {number}", f"game {number}", chance.random() < 0.6
    score, assisted = 52 if won else chance.randrange(52), chance.random() < 0.5
    moves, ms = chance.randrange(70, 250), chance.randrange(60_000, 3_600_000)
    high, low = place_of(won=won, score=score, assisted=assisted, moves=moves, ms=ms)
    return [
        NewPlayer(id=who, name="Ann", token_hash=None, created_ms=number),
        NewGame(
            id=name, player=who, variant="yukon", level=None, rules_hash="0" * 64, semantics=1, deal="ck:7", origin="fresh",
            watch="open", key="", watch_key=None, created_ms=number, start_hash=bytes(32), contest="daily", sealed_until_ms=5,
        ),
        AddAttempt(date=DAY, variant="yukon", level=None, player=who, game=name),
        EndAttempt(game=name, ended_ms=number, won=won, autos=0, ms=ms, is_ranked=True),
        AddResult(
            period=DAY, variant="yukon", level=None, player=who, won=won, score=score, assisted=assisted, moves=moves, ms=ms,
            high=high, low=low,
        ),
    ]  # fmt: skip


def measure(reader: Reader, results: int, rounds: int) -> None:
    """Pages of twenty from three places, asked for by players from everywhere."""
    page = reader.days.page
    chance = random.Random(3)
    fields = {"limit": 20, "days": (DAY, DAY), "now_ms": 10}
    starts: dict[str, tuple[int, int, int] | None] = {"top": None}
    for name, wanted in (("middle", 0.5), ("end", 0.999)):
        # The place of somebody about there.
        best = None
        for _ in range(40):
            me = f"player {chance.randrange(results)}"
            found = page(DAY, "yukon", None, after=None, player_id=me, **fields)  # type: ignore[arg-type]
            distance = abs(found.before_around / results - wanted)
            if best is None or distance < best[0]:
                line = found.around[0]
                best = (distance, (line.high, line.low, line.number))
        assert best is not None
        starts[name] = best[1]
    for name, after in starts.items():
        times = []
        for _ in range(rounds):
            me = f"player {chance.randrange(results)}"
            begun = time.perf_counter()
            found = page(DAY, "yukon", None, after=after, player_id=me, **fields)  # type: ignore[arg-type]
            times.append(1000 * (time.perf_counter() - begun))
            assert found.players == results
        times.sort()
        print(
            f"page from the {name:<7} median {statistics.median(times):5.1f} ms   "
            f"nine in ten {times[int(0.9 * rounds)]:5.1f} ms   longest {times[-1]:5.1f} ms"
        )


def main() -> None:
    """Fill a board and ask for its pages."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--results", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=200)
    flags = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store = Store.open(f"sqlite:///{folder}/games.db")
        begun = time.perf_counter()
        fill(store, flags.results)
        print(f"{flags.results} results put on record in {time.perf_counter() - begun:.1f} s")
        measure(store.reader, flags.results, flags.rounds)
        store.close()


if __name__ == "__main__":
    main()
