"""A client for tests that knows the frames of PROTOCOL.md and nothing else: ask, and look at what came."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from itertools import count
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

Frame = dict[str, Any]


class Caller:
    """One connection. `events` are the frames that answered nothing, in the order in which they came."""

    def __init__(self, socket: ClientConnection, ids: Iterator[int] | None = None) -> None:
        self.socket = socket
        self.ids = ids or count(1)
        self.events: list[Frame] = []

    async def send(self, kind: str, number: int | None = None, **fields: Any) -> int:
        """Send a command; its id."""
        number = next(self.ids) if number is None else number
        named = {key.rstrip("_"): value for key, value in fields.items()}
        await self.socket.send(json.dumps({"type": kind, "id": number, **named}))
        return number

    async def ask(self, kind: str, number: int | None = None, **fields: Any) -> Frame:
        """Send a command and wait for its reply."""
        return await self.reply(await self.send(kind, number, **fields))

    async def reply(self, number: int) -> Frame:
        """The reply to a command that was sent."""
        while True:
            frame = await self.next()
            if frame.get("re") == number:
                return frame
            self.events.append(frame)

    async def next(self) -> Frame:
        """The next frame, whatever it is."""
        async with asyncio.timeout(10):
            frame: Frame = json.loads(await self.socket.recv())
        return frame

    async def event(self, kind: str) -> Frame:
        """The next event of a type; one that came already counts."""
        for place, frame in enumerate(self.events):
            if frame["type"] == kind:
                return self.events.pop(place)
        while True:
            frame = await self.next()
            if frame["type"] == kind:
                return frame
            self.events.append(frame)

    async def raw(self, text: str | bytes) -> Frame:
        """Send a frame as it stands; the next frame that is no event of a game."""
        await self.socket.send(text)
        while True:
            frame = await self.next()
            if frame["type"] not in {"presence", "diff"}:
                return frame

    async def move(self, table: Frame, text: str, **more: Any) -> Frame:
        """Make a move written as ``t5 4 t2``; `table` is the snapshot or diff that was seen last."""
        source, n, target = text.split()
        fields = {"game": table["game"], "base": table["seq"], "from": source, "to": target, "n": int(n)}
        return await self.ask("move", **fields, **more)

    async def closed(self) -> int | None:
        """Wait for the end of the connection; its close code."""
        async with asyncio.timeout(20):
            try:
                while True:
                    frame = json.loads(await self.socket.recv())
                    self.events.append(frame)
            except ConnectionClosed:
                return self.socket.close_code


@asynccontextmanager
async def calling(url: str, ids: Iterator[int] | None = None, **options: Any) -> AsyncIterator[Caller]:
    """A connection to a server, as a caller."""
    async with connect(url, compression=None, **options) as socket:
        yield Caller(socket, ids)


def apply(piles: dict[str, list[str]], ops: list[Frame]) -> None:
    """Change a table by the ops of a diff."""
    for op in ops:
        if op["op"] == "move":
            cards = piles[op["from"]][-op["n"] :]
            del piles[op["from"]][-op["n"] :]
            piles[op["to"]] += ["??"] * len(cards) if op.get("flip") else cards
        else:
            piles[op["pile"]][op["at"]] = op["card"]
