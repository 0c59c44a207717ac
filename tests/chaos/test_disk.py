"""A disk that is full, slow, failing, or loses what was not synced: what the system calls say, and what the server answers."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from caller import Frame, calling
from chaos.nemesis import can_trace, small_disk
from chilkoot.record import Store
from lines import random_line
from servers import NO_LIMITS, LiveServer, environment

LINE = random_line("yukon", "ck:0", 20)

needs_strace = pytest.mark.skipif(
    not can_trace(), reason="needs strace, and leave to trace other programs: apt install strace"
)

# Writes one unit after the other and says of each whether it is durable; a fault that can't be trusted ends it with 75.
WRITING = """
import sys
sys.path.insert(0, sys.argv[3])
from chilkoot.record import Store, StoreFault
from record_examples import append, opening
store = Store.open(sys.argv[1])
store.write(opening())
print("ready", flush=True)
seq = 0
for number in range(int(sys.argv[2])):
    try:
        store.write((append(seq + 1),))
    except StoreFault as fault:
        print("failed", number, flush=True)
    else:
        seq += 1
        print("kept", seq, flush=True)
    if store.fatal:
        sys.exit(75)
print("closed", store.close(), flush=True)
"""


def write_under(folder: Path, *tracing: str, units: int = 30) -> tuple[list[str], int]:
    """What the program said while its system calls were watched or spoilt, and its exit status."""
    tests = str(Path(__file__).parents[1])
    done = subprocess.run(
        ["strace", "-f", "-qq", *tracing, sys.executable, "-c", WRITING, f"sqlite:///{folder}/games.db", str(units), tests],
        env=environment(folder), capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    return done.stdout.splitlines(), done.returncode


def kept_of(said: list[str]) -> int:
    return sum(line.startswith("kept") for line in said)


def stored(folder: Path) -> int:
    with closing(sqlite3.connect(folder / "games.db")) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        found: int = database.execute("SELECT count(*) FROM action").fetchone()[0]
        return found


@needs_strace
def test_nothing_is_acknowledged_before_the_disk_was_told_to_keep_it(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    said, status = write_under(tmp_path, "-o", str(trace), "-e", "trace=fdatasync,fsync,write", "-s", "40")
    assert status == 0
    assert kept_of(said) == 30
    # Between two acknowledgements there is a sync, each time.
    is_synced = True
    for line in trace.read_text().splitlines():
        if ("sync(" in line and "= 0" in line) or "sync resumed" in line:
            is_synced = True
        elif '"kept' in line:
            assert is_synced, line
            is_synced = False


@needs_strace
@pytest.mark.parametrize("fault", ("pwrite64:error=ENOSPC", "pwrite64:error=EIO", "fdatasync:error=EIO"))
@pytest.mark.parametrize("when", (3, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 8, 17))))
def test_a_system_call_that_fails_costs_no_acknowledged_action(tmp_path: Path, fault: str, when: int) -> None:
    # The calls of each thread are counted by themselves: opening takes a few of the main one, writing those of the other.
    Store.open(f"sqlite:///{tmp_path}/games.db").close()
    call, _, error = fault.partition(":")
    first = 5 + when if call == "fdatasync" else 40 + 5 * when
    said, status = write_under(
        tmp_path,
        "-o",
        "/dev/null",
        "-e",
        f"trace={call}",
        "-e",
        f"inject={call}:{error}:when={first}..{first + 3}",
    )
    assert "ready" in said
    assert any(line.startswith("failed") for line in said)
    if call == "fdatasync":
        # The system's cache can't be trusted any more: whoever starts next reads what is really there.
        assert status == 75
    else:
        assert status == 0
        assert said[-2].startswith("kept"), "with the disk in order again, play goes on"
    assert kept_of(said) <= stored(tmp_path) <= 30


async def test_a_full_disk_is_told_readings_go_on_and_with_room_so_does_play(tmp_path: Path) -> None:
    with small_disk(tmp_path, 6) as is_small:
        if not is_small:
            pytest.skip("needs to mount a file system: run as root")
        with LiveServer(tmp_path) as server:
            async with calling(server.url) as caller:
                table = await caller.ask("new", variant="yukon", deal="ck:0")
                for text in LINE[:5]:
                    table = await caller.move(table, text)
                fill(tmp_path / "filler")
                error: Frame = {}
                for number in range(50):
                    # Some room is left in the files that are there.
                    reply = await caller.ask(
                        "undo" if number % 2 == 0 else "redo", game=table["game"], base=table["seq"]
                    )
                    if reply["type"] == "error":
                        error = reply
                        break
                    table = reply
                assert error["code"] == "unavailable"
                assert (await caller.ask("sync", game=table["game"]))["seq"] == table["seq"]
                assert (await caller.ask("legal", game=table["game"]))["moves"]
                (tmp_path / "filler").unlink()
                reply = error
                for _ in range(50):
                    reply = await caller.ask("undo", game=table["game"], base=table["seq"])
                    if reply["type"] == "diff":
                        break
                    await asyncio.sleep(0.1)
                assert reply["seq"] == table["seq"] + 1


def fill(path: Path) -> None:
    for size in (1 << 16, 1):
        with path.open("ab", buffering=0) as file:
            try:
                while file.write(bytes(size)) == size:
                    pass
            except OSError:
                continue


@pytest.fixture
def slow(tmp_path: Path) -> Iterator[LiveServer]:
    """A server whose disk takes a quarter of a second to sync."""
    flags = [part for name in NO_LIMITS for part in ("--limit", f"{name}=0")]
    with LiveServer(tmp_path, *flags) as server:
        tracer = subprocess.Popen(
            ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=fdatasync", "-e", "inject=fdatasync:delay_enter=250000",
             "-p", str(server.pid)], stderr=subprocess.DEVNULL,
        )  # fmt: skip
        time.sleep(0.3)
        yield server
        tracer.terminate()
        tracer.wait(10)


@needs_strace
@pytest.mark.slow
async def test_a_slow_disk_delays_acknowledgements_and_nothing_else(slow: LiveServer) -> None:
    async with calling(slow.url) as player, calling(slow.url) as other:
        table = await player.ask("new", variant="yukon", deal="ck:0")
        acks, pongs = [], []

        async def play() -> None:
            seen = table
            for text in LINE[:8]:
                began = time.monotonic()
                seen = await player.move(seen, text)
                acks.append(time.monotonic() - began)

        playing = asyncio.create_task(play())
        while not playing.done():
            began = time.monotonic()
            await other.ask("ping")
            pongs.append(time.monotonic() - began)
            await asyncio.sleep(0.01)
        await playing
    assert min(acks) > 0.2
    # Under a tracer every call of the server is slower, by little.
    assert sorted(pongs)[len(pongs) * 9 // 10] < 0.1
