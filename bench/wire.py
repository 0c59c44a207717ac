"""What a durable action costs the server: its CPU as a ratio to a bare `websockets` echo of the same sizes, and its bytes.

Run by hand: ``python bench/wire.py [GAMES [ACTIONS [ROUNDS]]]``, with the three source roots in PYTHONPATH. Both servers are
processes of their own, loaded by the same clients in turns. What counts is their processor time, so other work on the machine
disturbs little; still, compare ratios, not times. A third server shows the floor: it knows no rule and reads no frame, but puts
one row for each on disk, and changes one, before it answers, with bare `sqlite3` and group commit. Two loads: *busy*, where each client acts as soon as it was answered (the
echo then costs little, for many frames share one turn of its loop), and *quick*, where each acts ten times a second.

The aims: a ratio of at most 2 with 50 games, at most 150 bytes down for a plain move.
"""

from __future__ import annotations

import asyncio
import random
import statistics
import subprocess
import sys
import tempfile
import time
from functools import cache
from typing import Any

import msgspec
from websockets.asyncio.client import connect

from chilkoot.data import rules_folder
from chilkoot.engine import Game, Refusal
from chilkoot.events import Action, CardMove, Undo, format_action
from chilkoot.language.rules import Rules
from chilkoot.library import Library
from chilkoot.solver import advise
from chilkoot.table import Table, Terms

VARIANTS = ("yukon", "yakutat-bay", "yukon-cells", "yukon-thicket")
QUICK_SECONDS = 0.1
DEFAULTS = ["50", "60", "5"]

SERVER = [
    sys.executable,
    "-m",
    "chilkoot.cli",
    "serve",
    "--port",
    "0",
    "--limit",
    "rate=0",
    "--limit",
    "connections_per_address=0",
]

ECHO = """
import asyncio, sys
from websockets.asyncio.server import serve
async def echo(ws):
    async for message in ws:
        await ws.send(answer, text=True)
async def main():
    async with serve(echo, "127.0.0.1", 0, compression=None, max_size=32768, max_queue=4) as server:
        print(server.sockets[0].getsockname()[1], flush=True)
        await asyncio.get_running_loop().create_future()
answer = b"x" * int(sys.argv[1])
asyncio.run(main())
"""

DURABLE_ECHO = """
import asyncio, sqlite3, sys
from collections import deque
from queue import SimpleQueue
from threading import Thread
from websockets.asyncio.server import serve
def write(path, bell, loop):
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA journal_mode=wal")
    db.execute("PRAGMA synchronous=2")
    db.execute("CREATE TABLE game (n INTEGER PRIMARY KEY, seq INTEGER, head BLOB)")
    db.execute("CREATE TABLE action (game INTEGER, seq INTEGER, text TEXT, actor TEXT, at_ms INTEGER, hash BLOB, PRIMARY KEY (game, seq))")
    while True:
        bell.get()
        if batch := [queued.popleft() for _ in range(len(queued))]:
            db.execute("BEGIN IMMEDIATE")
            db.executemany("INSERT INTO action VALUES (?, ?, 'T1 T2 3', 'aaaaaaaaaaaaaaaaaaaaaa', 1764489600000, ?)", [(game, seq, HASH) for game, seq, _ in batch])
            db.executemany("UPDATE game SET seq = ?, head = ? WHERE n = ?", [(seq, HASH, game) for game, seq, _ in batch])
            db.execute("COMMIT")
            loop.call_soon_threadsafe(answer, [future for _, _, future in batch])
def answer(futures):
    for future in futures:
        if not future.done():
            future.set_result(None)
def hand_over():
    queued.extend(gathered)
    gathered.clear()
    bell.put(None)
async def echo(ws):
    loop, game = asyncio.get_running_loop(), next(numbers)
    seq = 0
    async for message in ws:
        seq += 1
        future = loop.create_future()
        if not gathered:
            loop.call_soon(hand_over)
        gathered.append((game, seq, future))
        await future
        await ws.send(reply, text=True)
async def main():
    Thread(target=write, args=(sys.argv[2], bell, asyncio.get_running_loop()), daemon=True).start()
    async with serve(echo, "127.0.0.1", 0, compression=None, max_size=32768, max_queue=4) as server:
        print(server.sockets[0].getsockname()[1], flush=True)
        await asyncio.get_running_loop().create_future()
HASH = bytes(32)
queued, gathered, bell, numbers = deque(), [], SimpleQueue(), iter(range(1, 1000000))
reply = b"x" * int(sys.argv[1])
asyncio.run(main())
"""


Script = tuple[str, int, list[Action]]


@cache
def rules_of(variant: str) -> Rules:
    """The rules of a shipped variant at its default level."""
    found = Library([rules_folder()]).variant(variant)
    level = None if found is None else found.level()
    assert level is not None
    return level.rules


@cache
def sensible_line(variant: str, number: int) -> tuple[CardMove, ...]:
    """What the server's own policy plays, up to the move before the end."""
    game = Game.start(rules_of(variant), f"ck:{number}")
    line: list[CardMove] = []
    while isinstance(action := advise(game).action, CardMove) and len(line) < 150:
        game.act(action)
        if game.is_over:
            break
        line.append(action)
    return tuple(line)


def script(variant: str, number: int, length: int) -> list[Action]:
    """A game as people play: sensible moves, one in ten taken back, and from the end back to the deal."""
    line, chance = sensible_line(variant, number), random.Random(number)
    actions: list[Action] = []
    at = 0
    while len(actions) < length:
        if at == len(line):
            actions.append(Undo(1000))
            at = 0
        elif at and chance.random() < 0.1:
            actions.append(Undo())
            at -= 1
        else:
            actions.append(line[at])
            at += 1
    return actions


def command(action: Action, game: str, base: int) -> str:
    """The frame of an action."""
    frame: dict[str, Any] = {"id": base + 10, "game": game, "base": base}
    if isinstance(action, CardMove):
        frame = {"type": "move", **frame, "from": action.source, "to": action.target, "n": action.n}
    elif isinstance(action, Undo):
        frame = {"type": "undo", **frame, "count": action.count}
    else:
        frame = {"type": format_action(action), **frame}
    return msgspec.json.encode(frame).decode()


class Load:
    """Clients that start together, and what they saw."""

    def __init__(self, pause: float) -> None:
        self.pause = pause
        self.start = asyncio.Event()
        self.latencies: list[float] = []
        self.sizes: list[int] = []
        self.plain: list[int] = []

    async def exchange(self, ws: Any, frames: list[str]) -> None:
        """Send one frame after the other, each when the one before was answered and thought about."""
        await self.start.wait()
        await asyncio.sleep(random.random() * self.pause)
        for frame in frames:
            began = time.perf_counter()
            await ws.send(frame)
            reply = await ws.recv()
            self.latencies.append(time.perf_counter() - began)
            self.sizes.append(len(reply))
            if (
                '"diff"' in reply[:16]
                and '"move"' in frame
                and '"turn"' not in reply
                and '"can"' not in reply
            ):
                self.plain.append(len(reply))
            if self.pause:
                await asyncio.sleep(max(0.0, self.pause - (time.perf_counter() - began)))

    async def play(self, url: str, variant: str, number: int, actions: list[Action]) -> None:
        """One game from its deal on."""
        async with connect(url, compression=None) as ws:
            await ws.send('{"type":"hello","id":1}')
            await ws.recv()
            await ws.send(f'{{"type":"new","id":2,"variant":"{variant}","deal":"ck:{number}"}}')
            game = msgspec.json.decode(await ws.recv())["game"]
            await self.exchange(ws, [command(action, game, base) for base, action in enumerate(actions)])

    async def echo(self, url: str, actions: list[Action]) -> None:
        """Frames of the same sizes for a server that does nothing."""
        async with connect(url, compression=None) as ws:
            await self.exchange(ws, [command(action, "x" * 22, base) for base, action in enumerate(actions)])


def cpu_seconds(pid: int) -> float:
    """Processor time of a process so far, all its threads, in nanoseconds: /proc counts hundredths, a whole round is a few."""
    # What clock_getcpuclockid(3) gives on Linux, which Python does not offer for other processes.
    return time.clock_gettime((~pid << 3) | 2)


async def measure(pid: int, load: Load, clients: list[Any]) -> float:
    """The processor time that a server takes for all that the clients do after the start."""
    load.start.clear()
    tasks = [asyncio.create_task(client) for client in clients]
    await asyncio.sleep(1)
    before = cpu_seconds(pid)
    load.start.set()
    await asyncio.gather(*tasks)
    return cpu_seconds(pid) - before


def engine_seconds(scripts: list[Script]) -> float:
    """What the rules alone take for the same actions: position, legal moves, status, diff."""
    used = 0.0
    for variant, number, actions in scripts:
        terms = Terms(
            id="x" * 22, owner="", variant=variant, level=None, rules_hash="", origin="named", watch="open", key="k",
            watch_key=None, started_ms=0,
        )  # fmt: skip
        table = Table(terms, Game.start(rules_of(variant), f"ck:{number}"), history=64)
        before = time.process_time()
        for action in actions:
            assert not isinstance(table.act(action, by="player", now_ms=0), Refusal)
        used += time.process_time() - before
    return used


async def serving(arguments: list[str]) -> tuple[subprocess.Popen[str], str]:
    """A server process and the first line it printed."""
    server = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)  # noqa: ASYNC220
    assert server.stdout is not None
    return server, (await asyncio.to_thread(server.stdout.readline)).strip()


async def compare(name: str, scripts: list[Script], pause: float, rounds: int) -> None:
    """Load the servers in turns, print the ratios: the medians of the rounds, for what else runs here comes and goes."""
    total = sum(len(actions) for _, _, actions in scripts)
    ours, others = Load(pause), Load(pause)
    spent: list[tuple[float, float, float]] = []
    with tempfile.TemporaryDirectory() as folder:
        server, said = await serving([*SERVER, "--database", f"sqlite:///{folder}/g.db"])
        url = said.replace("http", "ws") + "/ws"
        echoes: list[tuple[subprocess.Popen[str], str]] = []
        for _ in range(rounds):
            used = [await measure(server.pid, ours, [ours.play(url, *one) for one in scripts])]
            if not echoes:
                down = round(statistics.mean(ours.sizes))
                echoes.append(await serving([sys.executable, "-c", ECHO, str(down)]))
                echoes.append(
                    await serving([sys.executable, "-c", DURABLE_ECHO, str(down), f"{folder}/echo.db"])
                )
            for process, port in echoes:
                clients = [others.echo(f"ws://127.0.0.1:{port}", actions) for _, _, actions in scripts]
                used.append(await measure(process.pid, others, clients))
            spent.append((used[0], used[1], used[2]))
        for process in (server, *(process for process, _ in echoes)):
            process.terminate()
            process.wait()
    ratios = sorted(seconds / bare for seconds, bare, _ in spent)
    floors = [durable / bare for _, bare, durable in spent]
    seconds, bare, durable = (statistics.median(column) / total * 1e6 for column in zip(*spent, strict=True))
    latencies = sorted(ours.latencies)
    print(
        f"{name}: ratio {statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f} in {rounds} rounds); "
        f"server {seconds:.0f} µs of CPU an action, echo {bare:.0f} µs a message; "
        f"latency p50 {latencies[len(latencies) // 2] * 1e3:.1f} ms, p99 {latencies[len(latencies) * 99 // 100] * 1e3:.1f} ms"
    )
    print(
        f"  a durable echo: ratio {statistics.median(floors):.2f} ({min(floors):.2f} to {max(floors):.2f}), {durable:.0f} µs; "
        f"the server takes {statistics.median(mine / durable for mine, _, durable in spent):.2f} times that"
    )
    print(f"  bytes down: {statistics.mean(ours.plain):.0f} for a plain move, {down} on average")


async def main(games: int, length: int, rounds: int) -> None:
    """Both loads, and what of it are the rules."""
    scripts = [(VARIANTS[n % 4], n % 12, script(VARIANTS[n % 4], n % 12, length)) for n in range(games)]
    total = games * length
    print(
        f"{games} games, {total} durable actions; the rules alone: {engine_seconds(scripts) / total * 1e6:.0f} µs an action"
    )
    await compare("busy", scripts, 0, rounds)
    await compare("quick", scripts, QUICK_SECONDS, rounds)


if __name__ == "__main__":
    asyncio.run(main(*[int(one) for one in [*sys.argv[1:], *DEFAULTS[len(sys.argv) - 1 :]]]))
