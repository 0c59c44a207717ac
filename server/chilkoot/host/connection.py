"""One client's connection: what may still be written to it, what waits, and what becomes of a client that is too slow.

Everything goes out through one ordered outbox. As long as the peer keeps up it is empty and messages are written at once.
When it does not, replies wait (no further command is read until they are gone, so there are few), and events wait up to a
bound; beyond that the events of each game or race give way to one snapshot of it, made when it can be sent.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from functools import lru_cache
from typing import Final

from chilkoot.config import Limits
from chilkoot.host.frames import BINARY, TEXT, frame_of
from chilkoot.host.hub import Live
from chilkoot.host.metrics import Metrics
from chilkoot.host.pacing import Bucket, Pace
from chilkoot.host.races import Room
from chilkoot.host.socket import Socket
from chilkoot.table import Session
from chilkoot.wire import JSON, CloseCode, Form, to_msgpack

__all__ = ["Connection"]

_CHUNK: Final = 16 * 1024
_LARGE: Final = 32 * 1024
"""Replies beyond this go out in pieces, each when the one before has been taken."""

_FAREWELL_SECONDS: Final = 2

_packed = lru_cache(maxsize=256)(to_msgpack)
"""For messages that are not large, since they are kept: a diff goes to many viewers."""

_Source = Live | Room
"""What events are about: a game, or a race."""

_Waiting = bytes | tuple[_Source, bytes] | _Source
"""What waits: a reply, an event, or the word that the state of its source is due instead."""

CatchUp = Callable[["Connection", _Source], Awaitable[bytes | None]]
"""Makes the snapshot of a game, or tells of a race, for a connection; called under the source's lock."""


class Connection:
    """A connection that speaks the protocol."""

    __slots__ = (
        "_catch_up",
        "_drained",
        "_due",
        "_events",
        "_flushing",
        "_is_flushing",
        "_metrics",
        "_outbox",
        "_outbox_limit",
        "blocked_since",
        "buffered",
        "form",
        "hints",
        "is_ending",
        "is_lost",
        "is_replaced",
        "last_command",
        "lock",
        "loop",
        "malformed",
        "new_games",
        "pace",
        "racing",
        "replays",
        "session",
        "socket",
        "watching",
    )

    def __init__(
        self,
        socket: Socket,
        session: Session,
        form: Form,
        limits: Limits,
        catch_up: CatchUp,
        metrics: Metrics,
    ) -> None:
        self.loop = asyncio.get_running_loop()
        now = self.loop.time()
        self.socket = socket
        self.session = session
        self.form = form
        self.watching: dict[str, Live] = {}
        self.racing: set[Room] = set()
        """Races it is told of."""
        self.lock = asyncio.Lock()
        """Held while a command is dealt with: who takes the session over waits for it."""
        self.is_lost = False
        """Whether the peer is gone."""
        self.is_ending = False
        self.is_replaced = False
        """Whether the session goes on in another connection."""
        self.last_command = now
        self.malformed = 0
        self.pace = Pace(limits.rate, limits.burst, limits.flood, now)
        self.hints = Bucket(limits.hint_per_second, 1, now)
        self.new_games = Bucket(limits.new_per_second, limits.new_burst, now)
        self.replays: dict[int, asyncio.Task[None]] = {}
        self.blocked_since: float | None = None
        self.buffered = 0
        self._outbox: list[_Waiting] = []
        self._outbox_limit = limits.outbox
        self._events = 0
        self._due: set[_Source] = set()
        self._is_flushing = False
        self._flushing: asyncio.Task[None] | None = None
        self._catch_up = catch_up
        self._metrics = metrics
        self._drained: asyncio.Future[None] | None = None
        socket.on_writable = self._writable
        socket.on_lost = self._lost

    # out

    def send(self, text: bytes) -> None:
        """Send a message that must arrive: a reply, or news of the whole server."""
        if self._is_clear():
            self._write(text)
        else:
            self._outbox.append(text)

    async def reply(self, text: bytes) -> None:
        """Send a reply of any size."""
        if len(text) <= _LARGE:
            self.send(text)
            return
        await self.drained()
        self._is_flushing = True
        try:
            data = text if self.form is JSON else to_msgpack(text)
            await self.socket.send(_pieces(data), text=self.form is JSON)
        finally:
            self._is_flushing = False
        self._writable()

    def publish(self, source: _Source, text: bytes) -> None:
        """Send an event of a game or race, or let a snapshot take its place."""
        if self._is_clear():
            self._write(text)
        elif source not in self._due:
            self._outbox.append((source, text))
            self._events += 1
            if self._outbox_limit and self._events > self._outbox_limit:
                self._collapse()

    async def drained(self) -> None:
        """Wait until nothing waits any more, or the connection is gone."""
        while (self._outbox or self._is_flushing or self.socket.is_full) and not self.is_lost:
            if self._drained is None or self._drained.done():
                self._drained = self.loop.create_future()
            await self._drained

    @property
    def is_behind(self) -> bool:
        """Whether something waits that the peer did not take yet."""
        return bool(self._outbox) or self._is_flushing or self.socket.is_full

    async def end(self, code: CloseCode, reason: str) -> None:
        """Close with a code, after what waits; by force where the peer does not take part. Only the first call counts."""
        if self.is_ending:
            return
        self.is_ending = True
        try:
            async with asyncio.timeout(_FAREWELL_SECONDS):
                await self.drained()
                await self.socket.close(code, reason)
        except TimeoutError:
            self.socket.transport.abort()

    def _is_clear(self) -> bool:
        return not (self._outbox or self._is_flushing or self.socket.is_full)

    def _write(self, text: bytes) -> None:
        if self.form is JSON:
            self.socket.write(frame_of(TEXT, text))
        else:
            self.socket.write(frame_of(BINARY, _packed(text)))

    def _collapse(self) -> None:
        """Let one snapshot a game take the place of all events that wait."""
        self._metrics.collapses += 1
        kept: list[_Waiting] = []
        for item in self._outbox:
            if isinstance(item, tuple):
                self._due.add(item[0])
            elif isinstance(item, bytes):
                kept.append(item)
        kept.extend(self._due)
        self._outbox = kept
        self._events = 0

    def _writable(self) -> None:
        if self._outbox and not self._is_flushing and not self.socket.is_full:
            self._is_flushing = True
            self._flushing = self.loop.create_task(self._flush())
        elif self._is_clear():
            self._wake()

    async def _flush(self) -> None:
        try:
            while self._outbox and not self.socket.is_full and not self.is_lost:
                item = self._outbox.pop(0)
                if isinstance(item, bytes):
                    self._write(item)
                elif isinstance(item, tuple):
                    self._events -= 1
                    self._write(item[1])
                else:
                    await self._send_snapshot(item)
        finally:
            self._is_flushing = False
        self._writable()

    async def _send_snapshot(self, source: _Source) -> None:
        async with source.lock:
            text = await self._catch_up(self, source)
            self._due.discard(source)
            if text is not None:
                self._write(text)

    def _lost(self) -> None:
        self.is_lost = True
        self._outbox.clear()
        self._due.clear()
        self._wake()

    def _wake(self) -> None:
        if self._drained is not None and not self._drained.done():
            self._drained.set_result(None)


def _pieces(data: bytes) -> Iterator[bytes]:
    return (data[at : at + _CHUNK] for at in range(0, len(data), _CHUNK))
