"""How soon watchers see what a player does, and racers each other: 500 watchers of one game, 200 players on one deal.

Run by hand: ``python bench/watching.py [WATCHERS [ACTIONS_A_SECOND [SECONDS [RACERS]]]]``, with the three source roots in
PYTHONPATH. The server is a process of its own; all clients are in this one, and read frames with as little work as will do. A
delivery is counted from the moment at which the player sends an action, which is put on record in between, to the moment
at which a watcher's copy arrives. What this process itself cannot take in time counts as late too, so read p99 on a machine that
does little else. The aim: p99 at most 100 ms.
"""

from __future__ import annotations

import asyncio
import json
import os
import struct
import subprocess
import sys
import tempfile
import time
from itertools import count
from pathlib import Path
from typing import Any

SERVER = [sys.executable, "-m", "chilkoot.cli", "serve", "--port", "0", "--database"]
LIMITS = ("rate", "flood", "new_per_second", "connections_per_address", "active_games")
DEFAULTS = ["500", "20", "10", "200"]


class Client(asyncio.Protocol):
    """A WebSocket client that hands on the text of each frame and the time at which it came."""

    def __init__(self) -> None:
        self.frames: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()
        self.ids = count(1)
        self.bytes = 0
        self._data = bytearray()
        self._is_open = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Ask for a WebSocket."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        lines = (
            "GET /ws HTTP/1.1",
            "Host: localhost",
            "Upgrade: websocket",
            "Connection: Upgrade",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
            "Sec-WebSocket-Version: 13",
        )
        transport.write("\r\n".join([*lines, "", ""]).encode())

    def data_received(self, data: bytes) -> None:
        """Take the frames apart."""
        now = time.perf_counter()
        self.bytes += len(data)
        held = self._data
        held += data
        if not self._is_open:
            head, found, rest = held.partition(b"\r\n\r\n")
            if not found:
                return
            assert b" 101 " in head, head
            self._is_open = True
            held[:] = rest
        while len(held) >= 2:
            size, start = held[1], 2
            if size == 126:
                size, start = struct.unpack_from("!H", held, 2)[0] if len(held) >= 4 else 1 << 30, 4
            elif size == 127:
                size, start = struct.unpack_from("!Q", held, 2)[0] if len(held) >= 10 else 1 << 30, 10
            if len(held) < start + size:
                return
            if held[0] == 0x81:
                self.frames.put_nowait((now, bytes(held[start : start + size])))
            del held[: start + size]

    def send(self, kind: str, **fields: Any) -> int:
        """Send a command; its id."""
        number = next(self.ids)
        text = json.dumps({"type": kind, "id": number, **fields}).encode()
        size = struct.pack("!BB", 0x81, 0x80 | len(text)) if len(text) < 126 else None
        head = size or struct.pack("!BBH", 0x81, 0x80 | 126, len(text))
        self.transport.write(head + b"\0\0\0\0" + text)
        return number

    async def until(self, kind: str, **wanted: Any) -> dict[str, Any]:
        """The next frame of a type that says this."""
        while True:
            _, text = await self.frames.get()
            frame: dict[str, Any] = json.loads(text)
            assert frame["type"] != "error", frame
            if frame["type"] == kind and wanted.items() <= frame.items():
                return frame

    async def ask(self, kind: str, **fields: Any) -> dict[str, Any]:
        """Send a command and wait for its reply."""
        number = self.send(kind, **fields)
        while True:
            _, text = await self.frames.get()
            frame: dict[str, Any] = json.loads(text)
            if frame.get("re") == number:
                assert frame["type"] != "error", frame
                return frame


async def connected(port: int, number: int) -> list[Client]:
    """So many clients."""
    loop = asyncio.get_running_loop()
    return [(await loop.create_connection(Client, "127.0.0.1", port))[1] for _ in range(number)]


def shown(name: str, seconds: list[float]) -> None:
    """Print how a number of times are spread."""
    seconds.sort()
    parts = [f"p{part} {seconds[int(len(seconds) * part / 100)] * 1000:.1f} ms" for part in (50, 90, 99)]
    print(f"{name}: {len(seconds)} deliveries, {', '.join(parts)}, longest {seconds[-1] * 1000:.1f} ms")


def cpu_seconds(pid: int) -> float:
    """The processor time of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def back_and_forth(player: Client, game: str, seq: int) -> int:
    """One action: the move that there was first, or its undo."""
    if seq % 2:
        reply = await player.ask("undo", game=game, base=seq)
    else:
        first = (await player.ask("legal", game=game))["moves"][0]
        reply = await player.ask("move", game=game, base=seq, **first)
    return int(reply["seq"])


async def watch(port: int, pid: int, watchers: int, rate: float, seconds: float) -> None:
    """Many watchers of one game."""
    player, *others = await connected(port, watchers + 1)
    table = await player.ask("new", variant="yukon", deal="ms:24")
    for other in others:
        other.send("join", game=table["game"])
    for other in others:
        await other.until("snapshot")
    before, sent, game, seq = cpu_seconds(pid), {}, table["game"], 0
    began = time.perf_counter()
    while (now := time.perf_counter()) < began + seconds:
        sent[seq + 1] = now
        seq = await back_and_forth(player, game, seq)
        await asyncio.sleep(max(0.0, began + seq / rate - time.perf_counter()))
    took = time.perf_counter() - began
    late: list[float] = []
    for other in others:
        seen = 0
        while seen < seq:
            came, text = await other.frames.get()
            frame = json.loads(text)
            if frame["type"] == "diff":
                seen += 1
                assert frame["seq"] == seen, "a diff is missing"
                late.append(came - sent[seen])
    shown(f"{watchers} watchers, {seq / took:.1f} actions/s", late)
    print(f"  the server used {(cpu_seconds(pid) - before) / took:.0%} of a processor")
    for one in (player, *others):
        one.transport.abort()


async def race(port: int, pid: int, racers: int, seconds: float) -> None:
    """Many players on one deal, each acting twice a second."""
    players = await connected(port, racers)
    room = await players[0].ask("race", variant="yukon", seats=racers)
    for player in players[1:]:
        await player.ask("race_join", race=room["race"], key=room["key"])
    tables = [await player.until("snapshot") for player in players]
    assert all(table["piles"] == tables[0]["piles"] for table in tables)
    before, began = cpu_seconds(pid), time.perf_counter()
    acked: list[float] = []

    async def play(player: Client, game: str, offset: float) -> int:
        await asyncio.sleep(offset)
        seq = 0
        while time.perf_counter() < began + seconds:
            then = time.perf_counter()
            seq = await back_and_forth(player, game, seq)
            acked.append(time.perf_counter() - then)
            await asyncio.sleep(max(0.0, 0.5 - (time.perf_counter() - then)))
        return seq

    done = await asyncio.gather(
        *(
            play(player, table["game"], number / racers / 2)
            for number, (player, table) in enumerate(zip(players, tables, strict=True))
        )
    )
    took = time.perf_counter() - began
    shown(f"{racers} players of one race, {sum(done) / took:.0f} actions/s, answered", acked)
    down = sum(player.bytes for player in players) / took / racers
    print(
        f"  {down / 1000:.1f} kB/s to each; the server used {(cpu_seconds(pid) - before) / took:.0%} of a processor"
    )


async def measure(port: int, pid: int) -> None:
    """Measure and print."""
    watchers, rate, seconds, racers = (float(one) for one in [*sys.argv[1:], *DEFAULTS[len(sys.argv) - 1 :]])
    await watch(port, pid, int(watchers), rate, seconds)
    await race(port, pid, int(racers), seconds)


def main() -> None:
    """Start a server and measure it."""
    with tempfile.TemporaryDirectory() as folder:
        limits = [part for name in LIMITS for part in ("--limit", f"{name}=0")]
        program = [*SERVER, f"sqlite:///{folder}/games.db", *limits]
        with subprocess.Popen(
            program, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        ) as server:
            assert server.stdout is not None
            port = int(server.stdout.readline().rsplit(":", 1)[1])
            try:
                asyncio.run(measure(port, server.pid))
            finally:
                server.terminate()


if __name__ == "__main__":
    main()
