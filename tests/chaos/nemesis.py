"""What befalls the server, drawn from one seed: kills, stops, pauses, a locked, full or slow database."""

from __future__ import annotations

import asyncio
import contextlib
import random
import shutil
import signal
import sqlite3
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Final

from chaos.history import History
from chaos.server_proc import ServerProcess

__all__ = ["PLAGUES", "Nemesis", "can_trace", "small_disk"]

PLAGUES: Final = {"kill": 60, "term": 4, "pause": 3, "lock": 3, "full": 2, "slow": 2}
"""What may happen, and how often of hundred."""
_FEWEST: Final = 4


class Nemesis:
    """Does one thing after the other to a server until it is told to stop. `done` counts them."""

    def __init__(
        self, server: ServerProcess, history: History, seed: int, *, plagues: dict[str, int], pause: float
    ) -> None:
        self.server = server
        self.history = history
        self.chance = random.Random(seed)
        self.done: Counter[str] = Counter()
        self.pause = pause
        self.slowest_stop = 0.0
        possible = set(PLAGUES)
        if not can_trace():
            possible.discard("slow")
        if not _is_small(server.folder):
            possible.discard("full")
        self.plagues = {name: weight for name, weight in plagues.items() if name in possible}

    async def rage_until(self, end: float) -> None:
        """Plague the server until a moment of the loop's clock; it runs afterwards."""
        loop = asyncio.get_running_loop()
        ahead: list[str] = []
        # Where a machine is so slow that a start takes seconds, the time may hold less than a run is to have.
        while loop.time() < end or (self.plagues and self.done.total() < _FEWEST):
            await asyncio.sleep(min(self.chance.uniform(0.4, 1.6) * self.pause, max(0.1, end - loop.time())))
            if not self.plagues:
                continue
            # Drawn without putting back: so a short run, too, has of each about what it is to have.
            ahead = ahead or [name for name, weight in self.plagues.items() for _ in range(weight)]
            name = ahead.pop(self.chance.randrange(len(ahead)))
            amount = self.chance.random()
            self.history.note("nemesis", what=name, amount=round(amount, 3))
            await asyncio.to_thread(_DEEDS[name], self, amount)
            self.done[name] += 1

    async def sweep(self, points: list[tuple[str, int]]) -> list[tuple[str, int]]:
        """Let the server die once at each failpoint; those at which it did not. It runs afterwards."""
        survived = []
        await asyncio.to_thread(self.server.kill)
        for name, count in points:
            self.history.note("nemesis", what="failpoint", name=name, count=count)
            if not await asyncio.to_thread(self._die_at, name, count):
                survived.append((name, count))
        await asyncio.to_thread(self.server.start)
        return survived

    def _die_at(self, name: str, count: int) -> bool:
        self.server.start({name: count})
        if name == "during_shutdown":
            time.sleep(0.2)
            self.server.signal(signal.SIGTERM)
        has_died = self.server.dies_within(8)
        self.done["kill"] += has_died
        if has_died:
            assert self.server.wait() == -signal.SIGKILL
        else:
            self.server.kill()
        return has_died

    def kill(self, _: float) -> None:
        """As a power cut."""
        self.server.kill()
        self.server.start()

    def term(self, _: float) -> None:
        """As an operator."""
        began = time.monotonic()
        status = self.server.stop()
        self.slowest_stop = max(self.slowest_stop, time.monotonic() - began)
        self.history.note("nemesis", what="stopped", status=status, seconds=time.monotonic() - began)
        self.server.start()

    def stand_still(self, amount: float) -> None:
        """As a machine that has too much to do, or a laptop that sleeps."""
        self.server.signal(signal.SIGSTOP)
        time.sleep(0.2 + 1.5 * amount)
        self.server.signal(signal.SIGCONT)

    def lock(self, amount: float) -> None:
        """Another program holds the database, at times for longer than the server waits."""
        with (
            contextlib.closing(
                sqlite3.connect(self.server.database, isolation_level=None, timeout=2)
            ) as other,
            contextlib.suppress(sqlite3.OperationalError),
        ):
            other.execute("BEGIN IMMEDIATE")
            time.sleep(0.2 + 2.6 * amount)
            other.execute("ROLLBACK")

    def fill(self, amount: float) -> None:
        """The disk is full for a while."""
        filler = self.server.folder / "filler"
        with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
            while True:
                file.write(bytes(1 << 16))
        with contextlib.suppress(OSError), filler.open("ab", buffering=0) as file:
            while True:
                file.write(b"x")
        time.sleep(0.3 + amount)
        filler.unlink()

    def slow(self, amount: float) -> None:
        """Every sync of the disk takes long."""
        tracer = subprocess.Popen(
            ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=fdatasync,fsync", "-e",
             f"inject=fdatasync,fsync:delay_enter={int(50_000 + 200_000 * amount)}", "-p", str(self.server.pid)],
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        time.sleep(1.0)
        tracer.terminate()
        tracer.wait(10)


_DEEDS: Final[dict[str, Callable[[Nemesis, float], None]]] = {
    "kill": Nemesis.kill,
    "term": Nemesis.term,
    "pause": Nemesis.stand_still,
    "lock": Nemesis.lock,
    "full": Nemesis.fill,
    "slow": Nemesis.slow,
}


@cache
def can_trace() -> bool:
    """Whether another program's system calls can be held up and spoilt here: strace is there, and the system lets it."""
    if shutil.which("strace") is None:
        return False
    return (
        subprocess.run(["strace", "-o", "/dev/null", "true"], capture_output=True, check=False).returncode
        == 0
    )


def _is_small(folder: Path) -> bool:
    """Whether a file system may be filled: one made for that."""
    return shutil.disk_usage(folder).total <= 256 << 20


@contextlib.contextmanager
def small_disk(folder: Path, megabytes: int) -> Iterator[bool]:
    """A file system of its own at a folder, where this machine lets us; else the folder as it is."""
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(folder)],
        capture_output=True,
        check=False,
    )
    try:
        yield made.returncode == 0
    finally:
        if made.returncode == 0:
            subprocess.run(["umount", "-l", str(folder)], check=False)
