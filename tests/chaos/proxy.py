"""A TCP proxy that treats connections as a bad network does: cut at any byte, delayed, heard in one direction only, silent.

What becomes of a connection is drawn when it is accepted, from the proxy's own seeded chance; `faults` may be switched off.
"""

from __future__ import annotations

import asyncio
import random
from collections import deque
from dataclasses import dataclass
from typing import Self, cast

__all__ = ["Proxy", "Weather"]


@dataclass
class Weather:
    """How bad the network is. Shares of connections, the rest are only cut; bytes until a cut are drawn around `bytes`."""

    bytes: float = 14_000
    delayed: float = 0.1
    one_way: float = 0.02
    black_hole: float = 0.01


class Proxy:
    """Stands before one port of this machine. Counts what it did."""

    def __init__(self, target: int, seed: int, weather: Weather | None = None) -> None:
        self.target = target
        self.port = 0
        self.weather = weather
        self.chance = random.Random(seed)
        self.cuts = 0
        self.silences = 0
        self._server: asyncio.Server | None = None
        self._pipes: set[_Pipe] = set()

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: _Pipe(self), "127.0.0.1", 0, backlog=1024)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for pipe in list(self._pipes):
            pipe.end()

    def calm(self) -> None:
        """No faults from now on, for the connections that there are too."""
        self.weather = None
        for pipe in list(self._pipes):
            pipe.left = -1
            if pipe.is_silent:
                pipe.end()

    def entered(self, pipe: _Pipe) -> None:
        self._pipes.add(pipe)

    def left(self, pipe: _Pipe) -> None:
        self._pipes.discard(pipe)


class _Pipe(asyncio.Protocol):
    """One connection: the side of the client; `_Far` is the side of the server."""

    def __init__(self, proxy: Proxy) -> None:
        self.proxy = proxy
        self.near: asyncio.Transport | None = None
        self.far: asyncio.Transport | None = None
        self.waiting: list[bytes] = []
        self.left = -1
        self.delay = 0.0
        self.deaf: str = ""
        self.late: deque[tuple[asyncio.Transport, bytes]] = deque()
        self._loop = asyncio.get_running_loop()
        self._connecting: asyncio.Task[None] | None = None
        if (weather := proxy.weather) is not None:
            chance = proxy.chance
            self.left = int(chance.expovariate(1 / weather.bytes)) + 1
            kind = chance.random()
            if kind < weather.black_hole:
                self.deaf = "both"
            elif kind < weather.black_hole + weather.one_way:
                self.deaf = chance.choice(("up", "down"))
            elif kind < weather.black_hole + weather.one_way + weather.delayed:
                self.delay = chance.uniform(0.001, 0.03)

    @property
    def is_silent(self) -> bool:
        return bool(self.deaf) and self.left <= 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.near = cast("asyncio.Transport", transport)
        self.proxy.entered(self)
        self._connecting = self._loop.create_task(self._connect())

    async def _connect(self) -> None:
        try:
            far, _ = await self._loop.create_connection(lambda: _Far(self), "127.0.0.1", self.proxy.target)
        except OSError:
            self.end()
            return
        self.far = far
        if self.near is None or self.near.is_closing():
            self.end()
            return
        waiting, self.waiting = self.waiting, []
        for data in waiting:
            self.pass_on("up", data)

    def data_received(self, data: bytes) -> None:
        if self.far is None:
            self.waiting.append(data)
        else:
            self.pass_on("up", data)

    def pass_on(self, way: str, data: bytes) -> None:
        """Hand bytes on, as far as this connection goes."""
        out = self.far if way == "up" else self.near
        if out is None or out.is_closing():
            return
        is_spared = self.deaf != "" and self.deaf not in {way, "both"}
        if self.left < 0 or is_spared:
            self._write(out, data)
            return
        if self.left == 0:
            # Nothing follows a gap: no network leaves bytes out and goes on.
            return
        kept = data[: self.left]
        self.left -= len(kept)
        self._write(out, kept)
        if self.left == 0:
            if self.deaf:
                self.proxy.silences += 1
            else:
                self.proxy.cuts += 1
                # What was let through arrives; then the end comes without a word.
                self._loop.call_later(self.delay, self.end)

    def _write(self, out: asyncio.Transport, data: bytes) -> None:
        if self.delay:
            # Two timers of one moment may go off in any order; bytes never do.
            self.late.append((out, data))
            self._loop.call_later(self.delay, self._write_first)
        else:
            out.write(data)

    def _write_first(self) -> None:
        out, data = self.late.popleft()
        if not out.is_closing():
            out.write(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self.end()

    def end(self) -> None:
        """Both sides are closed, what is under way is lost."""
        self.proxy.left(self)
        for side in (self.near, self.far):
            if side is not None and not side.is_closing():
                # A cut on the way to the server may have brought it a whole command, whose answer is lost.
                if self.left == 0:
                    side.close()
                else:
                    side.abort()


class _Far(asyncio.Protocol):
    def __init__(self, pipe: _Pipe) -> None:
        self.pipe = pipe

    def data_received(self, data: bytes) -> None:
        self.pipe.pass_on("down", data)

    def connection_lost(self, exc: Exception | None) -> None:
        self.pipe.end()
