"""What a durable action costs the server: its CPU as a ratio to a bare `websockets` echo of the same sizes, and its bytes.

Run by hand: ``python bench/wire.py [GAMES [ACTIONS [ROUNDS]]]``, with the three source roots in PYTHONPATH. Both servers are
processes of their own, loaded by the same clients in turns. What counts is their processor time, so other work on the machine
disturbs little; still, compare ratios, not times. Two loads: *busy*, where each client acts as soon as it was answered (the
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
    """Load both servers in turns, print the ratio: the median of the rounds, for what else runs here comes and goes."""
    total = sum(len(actions) for _, _, actions in scripts)
    ours, bare = Load(pause), Load(pause)
    spent: list[tuple[float, float]] = []
    with tempfile.TemporaryDirectory() as folder:
        server, said = await serving([*SERVER, "--database", f"sqlite:///{folder}/g.db"])
        url = said.replace("http", "ws") + "/ws"
        echo = None
        for _ in range(rounds):
            seconds = await measure(server.pid, ours, [ours.play(url, *one) for one in scripts])
            if echo is None:
                down = round(statistics.mean(ours.sizes))
                echo, port = await serving([sys.executable, "-c", ECHO, str(down)])
            bare_url = f"ws://127.0.0.1:{port}"
            bare_seconds = await measure(
                echo.pid, bare, [bare.echo(bare_url, actions) for _, _, actions in scripts]
            )
            spent.append((seconds, bare_seconds))
        for process in (server, echo):
            if process is not None:
                process.terminate()
                process.wait()
    ratios = sorted(seconds / bare_seconds for seconds, bare_seconds in spent)
    seconds, bare_seconds = (statistics.median(column) / total * 1e6 for column in zip(*spent, strict=True))
    latencies = sorted(ours.latencies)
    print(
        f"{name}: ratio {statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f} in {rounds} rounds); "
        f"server {seconds:.0f} µs of CPU an action, echo {bare_seconds:.0f} µs a message; "
        f"latency p50 {latencies[len(latencies) // 2] * 1e3:.1f} ms, p99 {latencies[len(latencies) * 99 // 100] * 1e3:.1f} ms"
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
