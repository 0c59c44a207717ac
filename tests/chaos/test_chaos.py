"""Chaos: a real server that is killed, stopped, paused, locked out and filled up, players over a bad network, and a judge."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from chaos.canaries import CANARIES
from chaos.nemesis import PLAGUES
from chaos.proxy import Weather
from chaos.run import Plan, Report, run
from chilkoot.failpoint import POINTS
from servers import environment

# The times at which each point is reached; 20 by hand.
HITS = range(2, int(os.environ.get("CHAOS_HITS", "4")) + 1)
SEED = int(os.environ.get("CHAOS_SEED") or random.randrange(10**6))

# What a canary is broken in must come about: some need kills, all need tabs that race and come back.
TOUGH = Weather(bytes=2500, delayed=0.05, one_way=0, black_hole=0)


async def play(folder: Path, **plan: object) -> Report:
    report = await run(folder, Plan(seed=SEED, is_small_disk=True, **plan))  # type: ignore[arg-type]
    if report.judgement.violations:
        print(f"CHAOS_SEED={SEED} reproduces the schedule; the history is in {folder}\n{report}")  # noqa: T201
        for violation in report.judgement.violations[:10]:
            print(violation[:1500])  # noqa: T201
    return report


async def test_whatever_befalls_the_server_nothing_acknowledged_is_lost_doubled_or_leaked(
    tmp_path: Path,
) -> None:
    plagues = {"kill": 6, "term": 1, "pause": 1}
    report = await play(
        tmp_path, seconds=6, groups=8, plagues=plagues, pause=0.6, weather=Weather(bytes=4000)
    )
    assert report.judgement.violations == []
    assert report.kills >= 2
    assert report.cuts >= 20
    assert report.judgement.figures["acknowledged"] >= 20


@pytest.mark.parametrize("count", (1, *(pytest.param(n, marks=pytest.mark.slow) for n in HITS)))
async def test_a_server_that_dies_at_a_certain_point_leaves_nothing_half_done(
    tmp_path: Path, count: int
) -> None:
    # Shutting down has six steps at which it may die.
    points = [(name, count) for name in POINTS if name != "during_shutdown"] + [
        ("during_shutdown", (count - 1) % 6 + 1)
    ]
    report = await play(tmp_path, seconds=0.5, groups=8, plagues={}, failpoints=points, weather=None)
    assert report.judgement.violations == []
    assert report.kills == len(POINTS)


def test_a_failpoint_does_nothing_outside_tests() -> None:
    for marked, ending in ((False, 0), (True, -9)):
        variables = {"CHILKOOT_FAILPOINT": "before_ack:2"} | ({"CHILKOOT_TEST": "1"} if marked else {})
        program = "from chilkoot.failpoint import reach\nfor _ in range(5): reach('before_ack')"
        status = subprocess.run(
            [sys.executable, "-c", program], env=environment(Path.home(), **variables), check=False
        )
        assert status.returncode == ending


@pytest.mark.slow
async def test_half_a_minute_of_everything_breaks_no_promise(tmp_path: Path) -> None:
    report = await play(tmp_path, seconds=30, plagues=PLAGUES, weather=Weather(bytes=6000))
    print(report)  # noqa: T201 - shown where it fails
    assert report.judgement.violations == []
    assert report.kills >= 6
    assert report.cuts >= 100
    assert report.judgement.figures["acknowledged"] >= 100
    assert report.slowest_stop < 6


@pytest.mark.slow
@pytest.mark.parametrize("name", CANARIES)
async def test_a_server_that_is_broken_is_found_out(tmp_path: Path, name: str) -> None:
    noticed: set[int] = set()
    for attempt in range(4):
        folder = tmp_path / str(attempt)
        folder.mkdir()
        report = await run(
            folder,
            Plan(
                seconds=3, seed=SEED + attempt, groups=6, plagues={"kill": 1}, pause=0.8, pace=0.01,
                weather=TOUGH, patience=3, canary=name, is_small_disk=True,
            ),
        )  # fmt: skip
        noticed |= {int(found[1]) for found in report.judgement.violations}
        # Some faults need bad luck to show.
        if noticed & CANARIES[name][1]:
            return
    pytest.fail(f"{name} went unnoticed: {sorted(noticed)}; CHAOS_SEED={SEED}")
