"""A client written from PROTOCOL.md alone, with `websockets` and nothing of ours, wins a game and misses nothing."""

import hashlib
import json
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect

from servers import LiveServer

LINE = [
    line.split()
    for line in (Path(__file__).parent / "data" / "yukon-ms-24.txt").read_text().splitlines()
    if not line.startswith("#")
]
Frame = dict[str, Any]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    with LiveServer(tmp_path_factory.mktemp("server")) as running:
        yield running


def apply(piles: dict[str, list[str]], ops: list[Frame]) -> None:
    """Ops as PROTOCOL.md explains them; no rule of any game is known here."""
    for op in ops:
        if op["op"] == "move":
            cards = piles[op["from"]][-op["n"] :]
            del piles[op["from"]][-op["n"] :]
            piles[op["to"]] += ["??"] * len(cards) if op.get("flip") else cards
        else:
            assert op["op"] == "turn"
            piles[op["pile"]][op["at"]] = op["card"]


def check(piles: dict[str, list[str]]) -> str:
    names = sorted(piles, key=lambda name: ("tcrfsw".index(name[0]), int(name[1:])))
    text = ";".join(f"{name}={' '.join(piles[name])}" for name in names)
    return hashlib.sha256(text.encode()).hexdigest()[:8]


class Caller:
    """Sends commands and waits for their replies; what arrives in between is kept."""

    def __init__(self, socket: ClientConnection, ids: Iterator[int]) -> None:
        self.socket = socket
        self.ids = ids
        self.events: list[Frame] = []

    async def ask(self, kind: str, **fields: Any) -> Frame:
        number = next(self.ids)
        await self.socket.send(json.dumps({"type": kind, "id": number, **fields}))
        while True:
            frame: Frame = json.loads(await self.socket.recv())
            if frame.get("re") == number:
                return frame
            self.events.append(frame)


async def test_a_scripted_client_wins_and_its_table_equals_the_servers_after_every_diff(
    server: LiveServer,
) -> None:
    ids = count(1)
    half = len(LINE) // 2
    async with connect(server.url) as socket:
        caller = Caller(socket, ids)
        welcome = await caller.ask("hello")
        table = await caller.ask("new", variant="yukon", deal="ms:24")
        game, piles, seq = table["game"], table["piles"], table["seq"]
        for source, n, target in LINE[:half]:
            seq = await play(caller, game, piles, seq, source, int(n), target)
        # The next move is sent, and the connection is gone before its reply is read.
        lost = next(ids)
        source, n, target = LINE[half]
        move = {
            "type": "move",
            "id": lost,
            "game": game,
            "base": seq,
            "from": source,
            "to": target,
            "n": int(n),
        }
        await socket.send(json.dumps(move))
        socket.transport.abort()

    async with connect(server.url) as socket:
        caller = Caller(socket, ids)
        resumed = {"token": welcome["token"], "session": welcome["session"], "games": {game: seq}}
        again = await caller.ask("hello", **resumed)
        assert again["resumed"]
        # Sent again by its id: carried out once, whether or not the server had read it before.
        await socket.send(json.dumps(move))
        while True:
            frame = json.loads(await socket.recv())
            if frame["type"] == "diff" and frame["seq"] == seq + 1:
                apply(piles, frame["ops"])
                seq += 1
            elif frame["type"] == "snapshot":
                piles, seq = frame["piles"], frame["seq"]
            if frame.get("re") == lost:
                assert frame["type"] == "diff"
                break
        assert seq == half + 1
        for source, n, target in LINE[half + 1 :]:
            seq = await play(caller, game, piles, seq, source, int(n), target)
        end = await caller.ask("sync", game=game)
        assert (end["status"], end["result"], end["score"], end["moves"]) == ("won", "home", 52, len(LINE))
        assert end["deal"] == "ms:24"
        assert all(len(piles[f"f{number}"]) == 13 for number in range(1, 5))
        assert not [event for event in caller.events if event["type"] not in {"presence", "snapshot"}]


async def play(
    caller: Caller, game: str, piles: dict[str, list[str]], seq: int, source: str, n: int, target: str
) -> int:
    fields: Frame = {"game": game, "base": seq, "from": source, "to": target, "n": n}
    diff = await caller.ask("move", **fields)
    assert diff["type"] == "diff", diff
    assert diff["seq"] == seq + 1
    apply(piles, diff["ops"])
    assert check(piles) == diff["check"]
    now = await caller.ask("sync", game=game)
    assert now["piles"] == piles
    assert now["check"] == diff["check"]
    return seq + 1
