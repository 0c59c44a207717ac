"""A crowd on one server: idle connections, stalled ones that never read, and players who must not notice. By hand, on a quiet machine.

    python bench/crowd.py                                     2,000 idle, 100 stalled, 20 active, then a restart that all come back from
    python bench/crowd.py --idle 10000 --stalled 0 --active 5

Prints what the players waited for the reply to an action and to a `ping` (which is the server's loop lag, and what the
network and the player add to it), and the server's memory. A search for winnable deals is kept running beside.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import random
import resource
import socket
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Self

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / part) for part in ("tests", "server")]

from caller import Caller, calling  # noqa: E402 - found by the path above
from servers import NO_LIMITS, LiveServer, command, environment  # noqa: E402

HANDSHAKE = (
    b"GET /ws HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)
PING, PONG = 0x89, 0x8A


def share(times: list[float], part: float) -> float:
    """The time in ms that so many of hundred stay below."""
    ordered = sorted(times)
    return 1000 * ordered[min(len(ordered) - 1, int(len(ordered) * part))] if ordered else 0.0


def told(name: str, times: list[float]) -> None:
    """Print what a measurement comes to."""
    print(
        f"{name:28} n={len(times):<6} p50 {share(times, 0.5):6.1f} ms   p99 {share(times, 0.99):6.1f} ms   "
        f"max {share(times, 1):6.1f} ms"
    )


def memory(server: LiveServer) -> float:
    """MiB that the server holds."""
    pages = int(Path(f"/proc/{server.pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / (1 << 20)


class StartedServer(LiveServer):
    """The command as an operator starts it: of a forked server, as the tests have them, not all memory would be counted."""

    def start(self) -> Self:
        """Start it, on the port it had before."""
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                command("serve", "--port", str(self.port), "--database", self.database, *self._flags),
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env=environment(self.folder),
            )
        assert self._process.stdout is not None
        self.port = int(self._process.stdout.readline().rsplit(":", 1)[1])
        self._pid = self._process.pid
        return self

    def _end(self, number: int) -> int:
        self._process.send_signal(number)
        return self._process.wait(20)


class Idle(asyncio.Protocol):
    """A connection that says nothing after its handshake, but that it is still there."""

    def __init__(self) -> None:
        self.is_open = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin the handshake."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        transport.write(HANDSHAKE)

    def data_received(self, data: bytes) -> None:
        """Answer pings."""
        if not self.is_open.done():
            self.is_open.set_result(None)
        elif data[0] == PING:
            self.transport.write(bytes([PONG, 0x80 | data[1]]) + bytes(4) + data[2:])


async def idle(port: int, gate: asyncio.Semaphore) -> asyncio.Transport:
    """An idle connection, open."""
    async with gate:
        transport, one = await asyncio.get_running_loop().create_connection(Idle, "127.0.0.1", port)
        await one.is_open
        return transport


def stalled(port: int, game: str) -> socket.socket:
    """A watcher that never reads."""
    one = socket.socket()
    one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    one.connect(("127.0.0.1", port))
    one.sendall(HANDSHAKE)
    while not one.recv(4096).endswith(b"\r\n\r\n"):
        pass
    text = json.dumps({"type": "join", "id": 1, "game": game}).encode()
    one.sendall(bytes([0x81, 0x80 | 126]) + struct.pack(">H", len(text)) + bytes(4) + text)
    return one


async def play(caller: Caller, table: dict[str, Any], end: float, times: list[float], pause: float) -> None:
    """Move back and forth, and note how long each reply took."""
    move = (await caller.ask("legal", game=table["game"]))["moves"][0]
    seen = await caller.move(table, f"{move['from']} {move['n']} {move['to']}")
    kind = "undo"
    while time.monotonic() < end:
        began = time.monotonic()
        seen = await caller.ask(kind, game=table["game"], base=seen["seq"])
        times.append(time.monotonic() - began)
        kind = "redo" if kind == "undo" else "undo"
        await asyncio.sleep(pause * random.uniform(0.5, 1.5))


async def listen(url: str, end: float, times: list[float]) -> None:
    """Ask whether anybody is there, again and again."""
    async with calling(url) as caller:
        while time.monotonic() < end:
            began = time.monotonic()
            await caller.ask("ping")
            times.append(time.monotonic() - began)
            await asyncio.sleep(0.02)


async def search(url: str, end: float) -> None:
    """Keep the solver busy."""
    async with calling(url) as caller:
        while time.monotonic() < end:
            with contextlib.suppress(TimeoutError):
                await caller.ask("new", variant="yukon", winnable=True)


async def measure(server: LiveServer, flags: argparse.Namespace, name: str, crowd: list[Any]) -> None:
    """Let some play for a while beside the crowd."""
    replies: list[float] = []
    pongs: list[float] = []
    async with contextlib.AsyncExitStack() as opened:
        callers = [await opened.enter_async_context(calling(server.url)) for _ in range(flags.active)]
        tables = [
            await caller.ask("new", variant="yukon", deal=f"ck:{n}") for n, caller in enumerate(callers)
        ]
        stuck = [stalled(server.port, tables[n % len(tables)]["game"]) for n in range(flags.stalled)]
        end = time.monotonic() + flags.seconds
        await asyncio.gather(
            listen(server.url, end, pongs),
            *([search(server.url, end)] if flags.search else []),
            *(
                play(caller, table, end, replies, flags.pause)
                for caller, table in zip(callers, tables, strict=True)
            ),
        )
        print(
            f"-- {name}: {len(crowd)} idle, {flags.stalled} stalled, {flags.active} active, {flags.seconds:.0f} s"
        )
        told("action to its diff", replies)
        told("ping to pong", pongs)
        print(f"{'memory of the server':28} {memory(server):.0f} MiB")
        for one in stuck:
            one.close()


async def come_back(server: LiveServer, count: int, seconds: float) -> list[float]:
    """Everybody connects again within some seconds; how long each handshake took."""
    gate = asyncio.Semaphore(count)
    times: list[float] = []

    async def one() -> asyncio.Transport:
        await asyncio.sleep(random.uniform(0, seconds))
        began = time.monotonic()
        transport = await idle(server.port, gate)
        times.append(time.monotonic() - began)
        return transport

    crowd = await asyncio.gather(*(one() for _ in range(count)))
    for transport in crowd:
        transport.abort()
    return times


async def main(flags: argparse.Namespace) -> None:
    """Measure, restart, measure those who come back."""
    with tempfile.TemporaryDirectory() as folder:
        names = [*NO_LIMITS, "connections", "connections_per_player", "idle_seconds"]
        limits = [part for name in names for part in ("--limit", f"{name}=0")]
        with StartedServer(Path(folder), *limits) as server:
            print(f"{'memory of an empty server':28} {memory(server):.0f} MiB")
            gate = asyncio.Semaphore(50)
            crowd = await asyncio.gather(*(idle(server.port, gate) for _ in range(flags.idle)))
            await measure(server, flags, "crowd", crowd)
            began = time.monotonic()
            status = await asyncio.to_thread(server.stop)
            print(f"{'stopped':28} {time.monotonic() - began:.1f} s, status {status}")
            for one in crowd:
                one.abort()
            began = time.monotonic()
            await asyncio.to_thread(server.start)
            print(f"{'started again':28} {time.monotonic() - began:.1f} s")
            pongs: list[float] = []
            times, _ = await asyncio.gather(
                come_back(server, flags.idle, flags.back),
                listen(server.url, time.monotonic() + flags.back, pongs),
            )
            told(f"handshakes, all in {flags.back:.0f} s", times)
            told("ping to pong meanwhile", pongs)


if __name__ == "__main__":
    asked = argparse.ArgumentParser(description="A crowd on one server.")
    asked.add_argument("--idle", type=int, default=2000)
    asked.add_argument("--stalled", type=int, default=100)
    asked.add_argument("--active", type=int, default=20)
    asked.add_argument("--seconds", type=float, default=20)
    asked.add_argument("--pause", type=float, default=0.3, help="seconds between two actions of a player")
    asked.add_argument(
        "--back", type=float, default=9, help="seconds in which all come back after the restart"
    )
    asked.add_argument("--no-search", dest="search", action="store_false", help="without the solver beside")
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, 1 << 16) if most > 0 else 1 << 16, most))
    asyncio.run(main(asked.parse_args()))
