"""One run: a server, a bad network, players, a nemesis; then the checker's judgement, and all of it kept where it is red."""

from __future__ import annotations

import asyncio
import shutil
import time
from dataclasses import dataclass, field
from pathlib import Path

from chaos.checker import Judgement, check
from chaos.client import Group
from chaos.history import History
from chaos.nemesis import PLAGUES, Nemesis, small_disk
from chaos.proxy import Proxy, Weather
from chaos.server_proc import ServerProcess

__all__ = ["Plan", "Report", "run"]


@dataclass(frozen=True)
class Plan:
    """What a run is made of; everything that is drawn is drawn from `seed`."""

    seconds: float
    seed: int
    groups: int = 12
    plagues: dict[str, int] = field(default_factory=lambda: dict(PLAGUES))
    pause: float = 1.0
    pace: float = 0.03
    weather: Weather | None = field(default_factory=Weather)
    patience: float = 40
    """Seconds in which everything must come to its end when the faults are over."""
    canary: str = ""
    failpoints: list[tuple[str, int]] = field(default_factory=list)
    """Instead of plagues: the points at which the server dies, one after the other."""
    is_small_disk: bool = False


@dataclass
class Report:
    """What came of a run."""

    judgement: Judgement
    kills: int
    cuts: int
    silences: int
    seconds: float
    slowest_stop: float

    def __str__(self) -> str:
        figures = ", ".join(f"{name} {count}" for name, count in sorted(self.judgement.figures.items()))
        return (
            f"{self.seconds:.0f} s, {self.kills} kills, {self.cuts} cuts, {self.silences} silences, "
            f"slowest stop {self.slowest_stop:.1f} s; {figures}; {len(self.judgement.violations)} violations"
        )


async def run(folder: Path, plan: Plan) -> Report:
    """Carry a plan out in a folder; history, database and log stay there."""
    disk = folder / "disk"
    disk.mkdir()
    with small_disk(disk, 200) if plan.is_small_disk else _no_disk():
        report = await _run(folder, disk, plan)
        for path in disk.iterdir() if report.judgement.violations else ():
            shutil.copy(path, folder)
        return report


class _no_disk:  # noqa: N801 - stands beside a function
    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None: ...


async def _run(folder: Path, disk: Path, plan: Plan) -> Report:
    began = time.monotonic()
    history = History(folder / "history.jsonl")
    server = await asyncio.to_thread(ServerProcess, disk, canary=plan.canary)
    try:
        await asyncio.to_thread(server.start)
        history.note("resources", when="start", files=server.open_files(), memory=server.memory())
        async with Proxy(server.port, plan.seed, plan.weather) as proxy:
            url = f"ws://127.0.0.1:{proxy.port}/ws"
            groups = [Group(url, number, plan.seed, history, pace=plan.pace) for number in range(plan.groups)]
            nemesis = Nemesis(server, history, plan.seed, plagues=plan.plagues, pause=plan.pause)
            done = asyncio.Event()
            playing = [asyncio.create_task(tab.play_until(done)) for group in groups for tab in group.tabs]
            survived = await nemesis.sweep(plan.failpoints) if plan.failpoints else []
            await nemesis.rage_until(asyncio.get_running_loop().time() + plan.seconds)
            proxy.calm()
            done.set()
            _, late = await asyncio.wait(playing, timeout=plan.patience)
            for task in late:
                task.cancel()
            await asyncio.gather(*playing, return_exceptions=bool(late))
        await asyncio.sleep(0.3)
        history.note("resources", when="end", files=server.open_files(), memory=server.memory())
        await asyncio.to_thread(server.stop)
    finally:
        await asyncio.to_thread(server.close)
        history.close()
    seconds = time.monotonic() - began
    judgement = await asyncio.to_thread(check, history.entries, server.database, server.log.read_text())
    if late:
        judgement.violations.append(
            f"(0) {len(late)} players could not finish though nothing disturbed them any more"
        )
    judgement.violations += [
        f"(0) the server did not die at {name}, time {count}" for name, count in survived
    ]
    return Report(judgement, nemesis.done["kill"], proxy.cuts, proxy.silences, seconds, nemesis.slowest_stop)
