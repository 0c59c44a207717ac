"""The server is killed at random moments under many clients: every acknowledged action is there once, and in order."""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

from caller import Caller, Frame, apply
from chilkoot.engine import Game, Refusal
from chilkoot.events import parse_action
from chilkoot.language.rules import from_canonical
from chilkoot.record import Reader, export_game, verify
from lines import random_line
from servers import LiveServer

NAMES = ("yukon", "yakutat-bay", "yukon-cells", "yukon-thicket")
LOST = (ConnectionClosed, InvalidHandshake, OSError, TimeoutError)


class Player:
    """A client that follows PROTOCOL.md: one action after the other, each sent again by its id until it is answered."""

    def __init__(self, url: str, number: int) -> None:
        self.url = url
        self.name = NAMES[number % 4]
        self.deal = f"ck:{number}"
        self.line = random_line(self.name, self.deal, 30)
        self.ids = count(1)
        self.chance = random.Random(number)
        self.welcome: Frame = {}
        self.game = ""
        self.piles: dict[str, list[str]] = {}
        self.seq = 0
        self.acknowledged: list[tuple[int, str]] = []
        self.resent = 0

    async def play_until(self, done: asyncio.Event) -> None:
        """Play, and come back after every loss of the connection."""
        pending: tuple[int, str, Frame] | None = None
        while not done.is_set():
            with contextlib.suppress(*LOST):
                async with connect(self.url, compression=None, open_timeout=3) as socket:
                    caller = Caller(socket, self.ids)
                    await self.greet(caller)
                    while not done.is_set():
                        if pending is None:
                            pending = (next(self.ids), *self.choose())
                        else:
                            self.resent += 1
                        number, kind, fields = pending
                        if kind == "new":
                            self.take(await caller.ask(kind, number, **fields))
                        else:
                            self.note(await caller.ask(kind, number, **fields), kind, fields)
                        pending = None
            await asyncio.sleep(self.chance.random() * 0.05)

    async def greet(self, caller: Caller) -> None:
        fields: Frame = {}
        if self.welcome:
            fields = {"token": self.welcome["token"], "session": self.welcome["session"]}
        reply = await caller.ask("hello", **fields)
        assert reply["type"] == "welcome", reply
        assert not self.welcome or reply["resumed"]
        self.welcome = reply

    def choose(self) -> tuple[str, Frame]:
        """The next action: along the line, now and then back; from its end all the way back."""
        if not self.game:
            return "new", {"variant": self.name, "deal": self.deal}
        at = self.moves()
        base = {"game": self.game, "base": self.seq}
        if at == len(self.line) or (at and self.chance.random() < 0.15):
            return "undo", base | {"count": 1 if at < len(self.line) else at}
        source, n, target = self.line[at].split()
        return "move", base | {"from": source, "to": target, "n": int(n)}

    def moves(self) -> int:
        return self.at

    at = 0

    def take(self, snapshot: Frame) -> None:
        assert snapshot["type"] == "snapshot", snapshot
        self.game, self.piles, self.seq = snapshot["game"], snapshot["piles"], 0

    def note(self, diff: Frame, kind: str, fields: Frame) -> None:
        """Take an acknowledgement down, and check it against what was known."""
        assert diff["type"] == "diff", (diff, kind, fields)
        assert diff["seq"] == self.seq + 1, (diff, self.seq)
        self.seq = diff["seq"]
        self.at = diff.get("moves", self.at + 1)
        apply(self.piles, diff["ops"])
        text = "undo" if kind == "undo" else f"{fields['from']} {fields['n']} {fields['to']}"
        self.acknowledged.append((self.seq, text))


async def kill_again_and_again(server: LiveServer, kills: int, seed: int) -> list[Player]:
    """Play with twenty clients while the server is killed and started again."""
    chance = random.Random(seed)
    players = [Player(server.url, number) for number in range(20)]
    done = asyncio.Event()
    tasks = [asyncio.create_task(player.play_until(done)) for player in players]
    for kill in range(1, kills + 1):
        await asyncio.sleep(chance.uniform(0.02, 0.6))
        # On a busy machine as much is at stake as on a quick one.
        while sum(len(player.acknowledged) for player in players) < 55 * kill:  # noqa: ASYNC110 - the tasks say nothing
            await asyncio.sleep(0.01)
        server.kill()
        await asyncio.to_thread(server.start)
    await asyncio.sleep(0.5)
    done.set()
    await asyncio.wait_for(asyncio.gather(*tasks), 30)
    return players


def check(server: LiveServer, players: list[Player]) -> None:
    """Compare what every client was told with what is on record."""
    reader = Reader.open(server.database)
    for player in players:
        stored = reader.load_game(player.game)
        assert stored is not None
        # Contiguous, in order, once; nothing acknowledged is missing.
        assert [action.seq for action in stored.actions] == list(range(1, len(stored.actions) + 1))
        told = dict(player.acknowledged)
        assert sorted(told) == list(range(1, player.seq + 1))
        recorded = {action.seq: action.text for action in stored.actions}
        assert {
            seq: "undo" if text.startswith("undo") else text for seq, text in recorded.items() if seq in told
        } == told
        # At most the one action that was under way is there without its acknowledgement.
        assert len(stored.actions) - player.seq in {0, 1}
        ids = [action.command_id for action in stored.actions]
        assert len(ids) == len(set(ids))
        # A second game, played from the record, is the table that the client sees.
        game = Game.start(from_canonical(stored.rules), stored.header.deal)
        for action in stored.actions[: player.seq]:
            parsed = parse_action(action.text)
            assert parsed is not None
            assert not isinstance(game.act(parsed), Refusal)
        assert game.view() == player.piles
        recording = export_game(reader, player.game)
        assert recording is not None
        assert verify(recording) == []
        assert len(reader.games_of(stored.header.player)) == 1
    reader.close()


async def run(folder: Path, kills: int, seed: int) -> dict[str, Any]:
    with LiveServer(folder) as server:
        began = time.monotonic()
        players = await kill_again_and_again(server, kills, seed)
        server.kill()
        check(server, players)
        log = (folder / "log").read_text()
        assert "Traceback" not in log
        assert "internal error" not in log
        return {
            "seconds": time.monotonic() - began,
            "acknowledged": sum(len(player.acknowledged) for player in players),
            "resent": sum(player.resent for player in players),
        }


async def test_kills_lose_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    figures = await run(tmp_path, 5, seed=1)
    assert figures["acknowledged"] > 100
    assert figures["resent"] > 0


@pytest.mark.slow
async def test_twenty_kills_under_twenty_clients_lose_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    seed = random.randrange(10**6)
    print(f"seed {seed}")  # noqa: T201 - shown where the test fails
    figures = await run(tmp_path, 20, seed)
    assert figures["acknowledged"] > 1000
