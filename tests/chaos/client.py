"""Players who follow PROTOCOL.md and nothing else, over a bad network, against a server that dies; all they see is noted.

A group shares one game after another: two tabs of the owner's identity, a co-player with the game's key, and in some groups a
spectator. They race for the table. A tab that lost its connection resumes its session and sends what was not answered again,
by the same id; a command that was answered "not now" is sent again or given up for good, and then must never have been done.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
from itertools import count
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidMessage

from chaos.history import History
from chaos.naive import MAIN_GAMES

__all__ = ["Group", "Tab"]

Frame = dict[str, Any]

LOST = (ConnectionClosed, InvalidHandshake, InvalidMessage, OSError, TimeoutError, EOFError)
NOT_NOW = {"unavailable", "busy", "draining", "rate_limited", "too_many_games"}
ACTIONS = {"move", "tap", "undo", "redo", "home", "auto", "give_up"}
PATIENCE = 5.0
"""Seconds without an answer after which a connection is taken for dead."""

GAME_LENGTH = 120


class Group:
    """Those who play together, and what they tell each other aside: which game it is, its key, the owner's newest token."""

    def __init__(self, url: str, number: int, seed: int, history: History, *, pace: float) -> None:
        self.url = url
        self.name = f"g{number}"
        self.variant, self.level = MAIN_GAMES[number % len(MAIN_GAMES)]
        self.history = history
        self.game = ""
        self.key = ""
        self.tokens: list[str] = []
        self.pace = pace
        roles = ["owner", "owner", "mate", *["spectator"] * (number % 3 == 0)]
        self.tabs = [
            Tab(self, place, role, seed * 1000 + number * 10 + place) for place, role in enumerate(roles)
        ]


class Tab:
    """One client: a session over many connections."""

    def __init__(self, group: Group, place: int, role: str, seed: int) -> None:
        self.group = group
        self.role = role
        self.is_first = place == 0
        self.name = f"{group.name}.{place}"
        self.history = group.history
        self.chance = random.Random(seed)
        self.ids = count(1)
        self.session = ""
        # The owner's tabs share an identity as tabs of a browser do.
        self.tokens = group.tokens if role == "owner" else []
        self.pending: dict[int, tuple[str, Frame]] = {}
        self.repeated: set[int] = set()
        self.table: Frame | None = None
        self.legal: tuple[int, list[Frame]] = (-1, [])
        self.acknowledged = 0
        self.is_done = False

    # one connection after the other

    async def play_until(self, done: asyncio.Event) -> None:
        """Play, and come back after every loss; at the end finish what is under way and look at the table once more."""
        while not self.is_done:
            pause = 0.25
            with contextlib.suppress(*LOST):
                async with asyncio.timeout(PATIENCE):
                    socket = await connect(
                        self.group.url,
                        compression=None,
                        ping_interval=None,
                        close_timeout=0.2,
                        max_queue=64,
                        proxy=None,
                    )
                pause = 0.05
                self.history.note("open", self.name)
                try:
                    await self._converse(socket, done)
                finally:
                    self.history.note("close", self.name)
                    socket.transport.abort()
            if not self.is_done:
                await asyncio.sleep(self.chance.uniform(0.1, 1) * pause)

    async def _converse(self, socket: ClientConnection, done: asyncio.Event) -> None:
        if not await self._greet(socket):
            return
        self.repeated = set(self.pending)
        for number, (kind, fields) in list(self.pending.items()):
            await self._send(socket, kind, fields, number)
        while True:
            await self._await_answers(socket)
            if self.pending:
                # Some were answered "not now": again in a moment.
                await self._listen(socket, self.chance.uniform(0.05, 0.2))
                for number, (kind, fields) in list(self.pending.items()):
                    await self._send(socket, kind, fields, number)
                continue
            if done.is_set():
                if self.group.game and self.table is not None:
                    await self._send(socket, "sync", {"game": self.table["game"]})
                    await self._await_answers(socket)
                self.is_done = not self.pending
                return
            for kind, fields in self._choose():
                await self._send(socket, kind, fields)
            await self._await_answers(socket)
            await self._listen(socket, self.chance.expovariate(1 / self.group.pace))

    async def _greet(self, socket: ClientConnection) -> bool:
        """Say hello, with the newest token there is; an older one where a newer came too late to count."""
        if self.role == "owner" and not self.is_first and not self.tokens:
            await asyncio.sleep(0.05)
            return False
        fields: Frame = {}
        tried = len(self.tokens)
        if self.tokens:
            # The last ones that were told: the very last may have come late, over a connection that was dead already.
            fields["token"] = self.tokens[-1 - self._refused_tokens % min(len(self.tokens), 4)]
            if self.session:
                fields["session"] = self.session
            if self.table is not None:
                fields["games"] = {self.table["game"]: self.table["seq"]}
        number = next(self.ids)
        await self._send(socket, "hello", fields, number, is_kept=False)
        while True:
            frame = await self._receive(socket)
            if frame.get("re") != number:
                continue
            if frame["type"] == "welcome":
                if self.session and not frame["resumed"]:
                    self.history.note("lost", self.name, what="session")
                self.session = frame["session"]
                if frame["token"] not in self.tokens:
                    self.tokens.append(frame["token"])
                self._refused_tokens = 0
                return True
            if frame.get("code") == "bad_token":
                self._refused_tokens += 1
                if self._refused_tokens > 12 and len(self.tokens) == tried:
                    self.history.note("lost", self.name, what="identity")
                    self.tokens.clear()
                    self.session = ""
                    self._refused_tokens = 0
            return False

    _refused_tokens = 0

    async def _send(
        self,
        socket: ClientConnection,
        kind: str,
        fields: Frame,
        number: int | None = None,
        *,
        is_kept: bool = True,
    ) -> None:
        number = next(self.ids) if number is None else number
        if is_kept:
            self.pending[number] = (kind, fields)
        command = {"type": kind, "id": number, **fields}
        self.history.note("sent", self.name, session=self.session, id=number, command=command)
        await socket.send(json.dumps(command))

    async def _receive(self, socket: ClientConnection) -> Frame:
        async with asyncio.timeout(PATIENCE):
            text = await socket.recv()
        assert isinstance(text, str)
        self.history.note("got", self.name, text=text)
        frame: Frame = json.loads(text)
        self._take(frame)
        return frame

    async def _await_answers(self, socket: ClientConnection) -> None:
        """Read until every command was answered, the answer "not now" included."""
        waiting = set(self.pending)
        while waiting & set(self.pending):
            frame = await self._receive(socket)
            waiting.discard(frame.get("re", 0))

    async def _listen(self, socket: ClientConnection, seconds: float) -> None:
        """Read what comes by itself for a while."""
        end = asyncio.get_running_loop().time() + seconds
        while (left := end - asyncio.get_running_loop().time()) > 0:
            try:
                async with asyncio.timeout(left):
                    text = await socket.recv()
            except TimeoutError:
                return
            assert isinstance(text, str)
            self.history.note("got", self.name, text=text)
            self._take(json.loads(text))

    # what a frame says

    def _take(self, frame: Frame) -> None:
        kind, answers = frame["type"], frame.get("re")
        command = self.pending.get(answers) if isinstance(answers, int) else None
        if kind == "error" and frame["code"] in NOT_NOW:
            if command is not None and self.chance.random() < 0.4:
                # Given up for good: it was said not to have been done.
                self.history.note("dropped", self.name, id=answers)
                del self.pending[answers]  # type: ignore[arg-type]
            return
        if command is not None:
            del self.pending[answers]  # type: ignore[arg-type]
        if kind == "snapshot":
            self._take_snapshot(frame, command, is_repeated=answers in self.repeated)
        elif kind == "diff":
            if command is not None and command[0] in ACTIONS:
                self.acknowledged += 1
            self._take_diff(frame)
        elif kind == "legal" and self.table is not None and frame["game"] == self.table["game"]:
            self.legal = (frame["seq"], frame["moves"])
        elif kind == "error" and command is not None and command[0] in {"join", "sync"}:
            self.table = None

    def _take_snapshot(self, frame: Frame, command: tuple[str, Frame] | None, *, is_repeated: bool) -> None:
        if command is not None and command[0] == "new":
            self.group.key, self.group.game = frame["key"], frame["game"]
        if is_repeated:
            # The first reply, which may be old, and no word that events follow: ask for the table as it is.
            self.table = None
            return
        elif (
            self.table is not None
            and self.table["game"] == frame["game"]
            and self.table["seq"] > frame["seq"]
        ):
            # The first answer to a command that was sent again: older than what is known.
            return
        self.table = {key: frame[key] for key in ("game", "seq", "status", "can", "moves")}
        self.table["result"] = frame.get("result")

    def _take_diff(self, frame: Frame) -> None:
        table = self.table
        if table is None or frame["game"] != table["game"] or frame["seq"] != table["seq"] + 1:
            return
        table["seq"] = frame["seq"]
        table["moves"] = frame.get("moves", table["moves"] + 1)
        for key in ("status", "can", "result"):
            if key in frame:
                table[key] = frame[key]

    # what to do

    def _choose(self) -> list[tuple[str, Frame]]:
        """Some commands, sent in one go; each counts on those before it."""
        group, chance, table = self.group, self.chance, self.table
        if not group.game:
            return [self._new()] if self.is_first else []
        if table is None or table["game"] != group.game:
            if self.role == "owner":
                return [("sync", {"game": group.game})]
            more = {"role": "player", "key": group.key} if self.role == "mate" else {}
            return [("join", {"game": group.game, **more})]
        game = {"game": table["game"]}
        base = game | {"base": table["seq"]}
        if self.role == "spectator":
            # It may look, and is told that it may not touch.
            return self._look(game, base)
        is_over = table["status"] in {"won", "lost"}
        if is_over or table["seq"] >= GAME_LENGTH:
            if not self.is_first:
                return []
            if is_over and table["can"]["undo"] and chance.random() < 0.5:
                return [("undo", base | {"count": chance.randint(1, 3)})]
            return [self._new()] if is_over and not table["can"]["undo"] else [("give_up", base), self._new()]
        dice = chance.random()
        if dice < 0.5:
            return self._seesaw(table, game)
        if dice < 0.85:
            at, moves = self.legal
            if at != table["seq"] or not moves:
                return [("legal", game)]
            self.legal = (-1, [])
            move = chance.choice(moves)
            first = ("move", base | {"from": move["from"], "n": move["n"], "to": move["to"]})
            return [
                first,
                ("undo", base | {"base": table["seq"] + 1}),
                ("redo", base | {"base": table["seq"] + 2}),
            ]
        odd: tuple[tuple[str, Frame], ...] = (
            ("hint", game),
            ("auto", base),
            ("home", base),
            ("tap", base | {"pile": f"t{chance.randint(1, 8)}"}),
            ("tap", base | {"pile": f"t{chance.randint(1, 7)}", "n": chance.randint(1, 9)}),
            (
                "move",
                base
                | {
                    "from": f"t{chance.randint(1, 7)}",
                    "to": f"t{chance.randint(1, 7)}",
                    "n": chance.randint(1, 6),
                },
            ),
            ("move", base | {"from": f"t{chance.randint(1, 7)}", "to": "f"}),
            ("undo", base | {"count": chance.randint(2, 6)}),
            ("redo", base | {"count": chance.randint(2, 6)}),
            ("sync", game),
        )
        return [chance.choice(odd)]

    def _new(self) -> tuple[str, Frame]:
        level = {} if self.group.level is None else {"level": self.group.level}
        return ("new", {"variant": self.group.variant, **level})

    def _look(self, game: Frame, base: Frame) -> list[tuple[str, Frame]]:
        return [
            self.chance.choice(
                (("ping", {}), ("sync", game), ("undo", base), ("legal", game), ("recording", game))
            )
        ]

    def _seesaw(self, table: Frame, game: Frame) -> list[tuple[str, Frame]]:
        """Back and forth: actions that are always there."""
        can = table["can"]
        if not can["undo"] and not can["redo"]:
            return [("legal", game)]
        kinds = (("undo", "redo") if can["undo"] else ("redo", "undo")) * self.chance.choice((1, 2, 4))
        return [(kind, game | {"base": table["seq"] + place}) for place, kind in enumerate(kinds)]
