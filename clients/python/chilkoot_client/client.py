"""One session with a server: requests and their replies, the mirrored tables, and coming back after a lost connection.

What this module decides: the order in which commands go out (the order in which they were asked for, also after a
reconnect), which of them are sent again (all that were not answered, by the same id, which the server carries out once),
and when a mirrored table needs a `sync`. It knows no rule of any game.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
import weakref
from collections.abc import AsyncIterator, Callable
from types import TracebackType
from typing import Any, Final, Self, TypeVar

import msgspec
from websockets.asyncio.client import ClientConnection
from websockets.asyncio.client import connect as connect_socket
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus
from websockets.typing import Subprotocol

from chilkoot_client.address import failure_words, is_local, socket_url
from chilkoot_client.errors import Closed, Error, Refused
from chilkoot_client.game import Game
from chilkoot_client.messages import (
    Daily,
    Diff,
    Dismissed,
    Draining,
    ErrorMessage,
    Games,
    Leaderboard,
    Message,
    RaceMessage,
    RaceProgress,
    RefusedMessage,
    ReplayEnd,
    Snapshot,
    Variants,
    Watchable,
    Welcome,
    message_from,
)
from chilkoot_client.outbox import Outbox, Pending
from chilkoot_client.pace import FINAL_CODES, Bucket, reconnect_delay
from chilkoot_client.race import Race
from chilkoot_client.stream import Stream
from chilkoot_client.table import Desync, Table

__all__ = ["Client", "Connected", "Disconnected", "Event", "connect"]

_MAX_FRAME: Final = 16 * 1024 * 1024
_OPENING: Final = frozenset({"new", "join", "restart", "daily_start"})
_ASK_LATER: Final = frozenset({"rate_limited", "busy", "draining"})
_PATIENT_TRIES: Final = 8
_BAD_TOKEN: Final = 4004
# More than these must not be named in a hello.
_MOST_GAMES: Final = 32
# A command must be answered or sent again within ten seconds, so a dead connection has to be noticed by then.
_PING_SECONDS: Final = 5
_GREETING_SECONDS: Final = 10
_STEADY_SECONDS: Final = 5


class Connected(msgspec.Struct, frozen=True):
    """The connection stands. `again` after it had been lost; the tables are brought up to date next."""

    again: bool


class Disconnected(msgspec.Struct, frozen=True):
    """The connection is lost; the next attempt is made after that many seconds."""

    code: int | None
    reason: str
    retry_in: float


Event = Message | Connected | Disconnected
Kind = TypeVar("Kind")


class Client:
    """One session with a server, over as many connections as it takes.

    Use it as ``async with connect("ws://localhost:8640") as client``. `token` is the identity kept from an earlier
    `client.token`; without it, or where the server does not know it any more, the player is a new guest. The server
    gives out a new token with each welcome: keep the latest. Where several programs share an identity, `spare_token`
    says the one that was kept last. After a lost connection the client comes back by itself, for at most `patience`
    seconds at a stretch.

    Raises Closed where the address can't be one.
    """

    def __init__(
        self,
        url: str,
        *,
        name: str | None = None,
        token: str | None = None,
        spare_token: Callable[[], str | None] | None = None,
        msgpack: bool = False,
        patience: float = 300.0,
    ) -> None:
        self.url: Final = socket_url(url)
        self.token = token
        self.session: str | None = None
        self.player: Any = None
        self.limits: dict[str, Any] = {}
        self.games: dict[str, Game] = {}
        self.races: dict[str, Race] = {}
        self._name = name
        self._spare_token = spare_token
        self._msgpack = msgpack
        self._patience = patience
        self._socket: ClientConnection | None = None
        self._outbox = Outbox()
        # A stream that nobody holds any more goes by itself.
        self._streams: weakref.WeakSet[Stream[Event]] = weakref.WeakSet()
        self._replays: dict[int, Stream[Message]] = {}
        self._syncing: dict[str, asyncio.Task[None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._bucket: Bucket | None = None
        self._announced: float | None = None
        self._was_welcome = False
        self._ended: Closed | None = None
        self._runner: asyncio.Task[None] | None = None
        self._ready: asyncio.Future[None] | None = None

    async def __aenter__(self) -> Self:
        self._ready = asyncio.get_running_loop().create_future()
        self._runner = asyncio.create_task(self._run())
        try:
            await asyncio.shield(self._ready)
        except BaseException:
            await self.close()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """End the session's connection; every request that waits raises Closed."""
        self._end("closed by this program")
        if self._runner is not None:
            self._runner.cancel()
            await asyncio.gather(self._runner, return_exceptions=True)
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def ended(self) -> Closed | None:
        """Why the client will not come back, None while it may."""
        return self._ended

    @property
    def is_connected(self) -> bool:
        """Whether a connection stands at this moment."""
        return self._socket is not None

    async def request(self, command: str, **fields: Any) -> Message:
        """Send a command and wait for its one reply.

        Fields that are None are left out; ``from_`` stands for ``from``. Raises Refused where the rules say no, Error
        where the server does, Closed where the connection ended for good.
        """
        tries = 1
        reply = await self._answer(self._command(command, fields))
        while isinstance(reply, ErrorMessage) and reply.code in _ASK_LATER and tries < _PATIENT_TRIES:
            # Nothing was done, and the server says when: asking again is what the caller wants.
            await asyncio.sleep((reply.retry_after_ms or 1000) / 1000)
            tries += 1
            reply = await self._answer(self._command(command, fields))
        return _accepted(reply)

    async def new(
        self, variant: str, *, level: int | None = None, deal: str | None = None, **more: Any
    ) -> Game:
        """Start a game; `more` are the other fields of PROTOCOL's `new` (`cards`, `watch`, …)."""
        return self._opened(await self.request("new", variant=variant, level=level, deal=deal, **more))

    async def join(self, game: str, *, role: str | None = None, key: str | None = None) -> Game:
        """Take a seat at a game that is already there, or watch it."""
        opened = self._opened(await self.request("join", game=game, role=role, key=key))
        opened.joined_with = (role, key)
        return opened

    async def daily(
        self, variant: str | None = None, *, level: int | None = None, date: str | None = None
    ) -> Daily:
        """The deal of a day (today's without a `date` such as ``2026-11-29``), and what I made of it."""
        return _expect(Daily, await self.request("daily", variant=variant, level=level, date=date))

    async def daily_start(self, variant: str | None = None, *, level: int | None = None) -> Game:
        """Begin today's one attempt, or go on with it; Error `busy` where the deal is still being chosen after a while."""
        return self._opened(await self.request("daily_start", variant=variant, level=level))

    async def leaderboard(
        self,
        variant: str | None = None,
        *,
        level: int | None = None,
        date: str | None = None,
        period: str | None = None,
        limit: int | None = None,
        after: str | None = None,
    ) -> Leaderboard:
        """The results of a day, of its ``week``, or of ``all`` time; `after` is `next` of the page before."""
        reply = await self.request(
            "leaderboard", variant=variant, level=level, date=date, period=period, limit=limit, after=after
        )
        return _expect(Leaderboard, reply)

    async def my_games(self, *, state: str | None = None, limit: int | None = None) -> Games:
        """My games, newest first."""
        return _expect(Games, await self.request("games", state=state, limit=limit))

    async def variants(self) -> Variants:
        """The games that may be played here."""
        return _expect(Variants, await self.request("variants"))

    async def race(
        self,
        variant: str | None = None,
        *,
        level: int | None = None,
        seats: int | None = None,
        ghost: str | None = None,
    ) -> Race:
        """Make a race of so many seats and take the first; `ghost` is a finished game to race against instead."""
        return self._raced(await self.request("race", variant=variant, level=level, seats=seats, ghost=ghost))

    async def join_race(self, invitation: str, *, key: str | None = None) -> Race:
        """Take a seat in a race: by its `invitation`, or by its id and key; or see how one stands that is ours."""
        race, _, given = invitation.partition("/")
        return self._raced(await self.request("race_join", race=race, key=key or given or None))

    async def watchable(self, variant: str | None = None, *, limit: int | None = None) -> Watchable:
        """The games that are played now and open to all, newest first; `join` watches one."""
        return _expect(Watchable, await self.request("watchable", variant=variant, limit=limit))

    def events(self) -> Stream[Event]:
        """Everything that arrives from now on, for ``async for``; tables are already updated when an event is read.

        The iterator ends when the client is closed. One that is left unread for too long raises Closed.
        """
        stream: Stream[Event] = Stream()
        self._streams.add(stream)
        if self._ended is not None:
            stream.end()
        return stream

    async def replay(
        self, game: str, *, from_seq: int | None = None, speed: float | None = None
    ) -> AsyncIterator[Table]:
        """A finished game from `from_seq` on, in time: the same table again and again, each time one action further."""
        command = self._command("replay", {"game": game, "from": from_seq, "speed": speed})
        frames = self._replays[command.id] = Stream[Message]()
        try:
            _accepted(await self._answer(command))
            table: Table | None = None
            async for frame in frames:
                if isinstance(frame, ReplayEnd):
                    return
                if isinstance(frame, Snapshot):
                    table = Table(frame)
                elif isinstance(frame, Diff) and table is not None:
                    table.apply(frame)
                if table is not None:
                    yield table
        finally:
            del self._replays[command.id]

    async def in_step(self, game: str, seq: int) -> None:
        """Wait until the mirrored table of a game is at `seq` or later."""
        while (
            game in self.games
            and self.games[game].table.seq < seq
            and (task := self._syncing.get(game)) is not None
        ):
            await asyncio.shield(task)

    # What follows runs a connection.

    async def _run(self) -> None:
        try:
            await self._connect_for_ever()
        finally:
            # Whatever stopped it: nobody must wait for replies that cannot come.
            self._end("the client has stopped")

    async def _connect_for_ever(self) -> None:
        attempt = 0
        lost_at: float | None = None
        while True:
            code, reason, announced = None, "the connection was cut", None
            stood_at = float("inf")
            try:
                async with self._dial() as socket:
                    await self._greet(socket)
                    stood_at, lost_at = time.monotonic(), None
                    await self._talk(socket)
            except ConnectionClosed as closed:
                if closed.rcvd is not None:
                    code, reason = (
                        closed.rcvd.code,
                        closed.rcvd.reason or f"the server closed it ({closed.rcvd.code})",
                    )
            except InvalidStatus as refused:
                status = refused.response.status_code
                reason = f"the server answered HTTP {status}"
                if status < 500:
                    self._end(f"{self.url} does not let us in: {reason}")
                announced = _seconds(refused.response.headers.get("Retry-After"))
            except msgspec.DecodeError:
                self._end(f"what answers at {self.url} does not speak our protocol")
            except (OSError, TimeoutError, InvalidHandshake) as failure:
                reason = failure_words(failure)
            finally:
                self._socket = None
            for number, frames in self._replays.items():
                if self._outbox.find(number) is None:
                    frames.end(Closed("the connection was lost during the replay"))
            is_fresh = code == _BAD_TOKEN and self.token is not None
            if is_fresh:
                self._start_fresh()
            elif code in FINAL_CODES or code == _BAD_TOKEN:
                self._end(reason, code)
            elif not self._was_welcome:
                # Who starts a program with a wrong address wants to know it now.
                self._end(f"could not connect to {self.url}: {reason}", code)
            now = time.monotonic()
            if now - stood_at > _STEADY_SECONDS:
                # One that is lost again at once is no reason to come back faster.
                attempt = 0
            lost_at = now if lost_at is None else lost_at
            if now - lost_at > self._patience:
                self._end(f"{self.url} did not come back: {reason}", code)
            if self._ended is not None:
                return
            announced = self._announced if announced is None else announced
            self._announced = None
            chance = 0.0 if is_fresh else random.random()  # noqa: S311 - no secret
            delay = reconnect_delay(attempt, code=code, announced=announced, chance=chance)
            attempt += 1
            self._tell(Disconnected(code, reason, delay))
            await asyncio.sleep(delay)

    def _dial(self) -> connect_socket:
        return connect_socket(
            self.url,
            subprotocols=[Subprotocol("chilkoot.v1.msgpack" if self._msgpack else "chilkoot.v1.json")],
            compression=None,
            max_size=_MAX_FRAME,
            open_timeout=_GREETING_SECONDS,
            close_timeout=2,
            ping_interval=_PING_SECONDS,
            ping_timeout=_PING_SECONDS,
            proxy=None if is_local(self.url) else True,
        )

    async def _greet(self, socket: ClientConnection) -> None:
        """Say who we are; what was missed follows the welcome and is read by `_talk`."""
        number = self._outbox.next_id()
        hello: dict[str, Any] = {"type": "hello", "id": number}
        known: dict[str, Any] = {"name": self._name, "token": self.token}
        if self.session is not None:
            tables = [*self.games.values()][-_MOST_GAMES:]
            known |= {"session": self.session, "games": {game.id: game.table.seq for game in tables}}
        hello |= {key: value for key, value in known.items() if value is not None}
        await socket.send(self._encode(hello))
        async with asyncio.timeout(_GREETING_SECONDS):
            while True:
                message = self._decode(await socket.recv())
                if isinstance(message, Welcome):
                    break
                if isinstance(message, ErrorMessage) and message.re == number:
                    await self._turned_away(socket, message)
                self._receive(message)
        self._socket = socket
        self._meet(welcome=message)

    async def _turned_away(self, socket: ClientConnection, error: ErrorMessage) -> None:
        """Our hello was answered by an error. Always raises ConnectionClosed."""
        if self._was_welcome and error.code in _ASK_LATER:
            self._announced = (error.retry_after_ms or 1000) / 1000
        else:
            # For a bad token the server closes with a code of its own; any other error would only come again.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(2):
                    while True:
                        await socket.recv()
            self._end(error.message)
        await socket.close()
        await socket.recv()

    def _meet(self, welcome: Welcome) -> None:
        """Take note of who we are, and of what has to be sent (again)."""
        is_same = welcome.resumed or welcome.session == self.session
        again, self._was_welcome = self._was_welcome, True
        self.token, self.session, self.player = welcome.token, welcome.session, welcome.player
        self.limits = welcome.limits
        rate, burst = welcome.limits.get("rate"), welcome.limits.get("burst")
        if isinstance(rate, int | float) and isinstance(burst, int | float):
            # A little less than what is allowed: the hello counts too, and the server's clock is not ours.
            self._bucket = Bucket(rate * 0.95, burst - 2, time.monotonic())
        if again and not is_same:
            self._outbox.fail_sent("the server has forgotten this session")
        lost = [*self.games.values()][: -_MOST_GAMES if is_same else None] if again else []
        self._outbox.requeue([self._rejoin(game) for game in lost])
        if self._ready is not None and not self._ready.done():
            self._ready.set_result(None)
        self._tell(welcome)
        self._tell(Connected(again=again))

    async def _talk(self, socket: ClientConnection) -> None:
        sender = asyncio.create_task(self._send_all(socket))
        try:
            while True:
                self._receive(self._decode(await socket.recv()))
        finally:
            sender.cancel()
            await asyncio.gather(sender, return_exceptions=True)

    async def _send_all(self, socket: ClientConnection) -> None:
        """Send what waits, in order, no faster than the server's limits allow."""
        with contextlib.suppress(ConnectionClosed):
            while True:
                command = await self._outbox.next()
                if self._bucket is not None and (wait := self._bucket.take(time.monotonic())) > 0:
                    await asyncio.sleep(wait)
                    # Whoever waited may have given up meanwhile.
                    command = await self._outbox.next()
                self._outbox.sent(command)
                await socket.send(self._encode(command.frame))

    def _receive(self, message: Message) -> None:
        replay = getattr(message, "replay", None)
        is_news = self._mirror(message) if replay is None else True
        if replay in self._replays:
            self._replays[replay].push(message)
        re = getattr(message, "re", None)
        if re is not None:
            self._outbox.answer(re, message)
        if is_news:
            self._tell(message)

    def _mirror(self, message: Message) -> bool:
        """Bring the mirrored table up to date; False where the message told what was known already."""
        if isinstance(message, Draining):
            self._announced = message.retry_after_ms / 1000
        elif isinstance(message, Snapshot):
            command = self._outbox.find(message.re)
            if message.game in self.games:
                table = self.games[message.game].table
                # The stored reply to a command that was sent twice may be older than what we know.
                if message.seq < table.seq:
                    return False
                table.take(message)
            elif (command is not None and command.type in _OPENING) or self._is_raced(message.game):
                self.games[message.game] = Game(self, Table(message))
        elif isinstance(message, Diff) and message.game in self.games:
            table = self.games[message.game].table
            if message.seq <= table.seq:
                return False
            try:
                table.apply(message)
            except Desync:
                self._start_sync(message.game)
        elif isinstance(message, RaceMessage):
            if message.race in self.races:
                self.races[message.race].take(message)
            else:
                self.races[message.race] = Race(self, message)
        elif isinstance(message, RaceProgress) and message.race in self.races:
            self.races[message.race].merge(message)
        elif isinstance(message, Dismissed):
            self.games.pop(message.game, None)
        elif isinstance(message, ErrorMessage) and message.code == "stale":
            for missed in map(message_from, (message.detail or {}).get("missed", ())):
                if isinstance(missed, Diff) and self._mirror(missed):
                    self._tell(missed)
        return True

    def _is_raced(self, game: str) -> bool:
        """Whether a game is ours in a race: it comes unasked, at the start."""
        return any(race.told.game == game for race in self.races.values())

    def _start_sync(self, game: str) -> None:
        if game not in self._syncing and self._ended is None:
            self._syncing[game] = asyncio.create_task(self._sync(game))
            self._keep(self._syncing[game])

    async def _sync(self, game: str) -> None:
        try:
            with contextlib.suppress(Error, Closed):
                await self.request("sync", game=game)
        finally:
            del self._syncing[game]

    def _rejoin(self, game: Game) -> Pending:
        """Sit down again at a table after the session was lost; the game itself is safe with the server."""
        role, key = game.joined_with
        command = self._outbox.add("join", {"game": game.id, "role": role or game.table.role, "key": key})
        # Nobody waits for it; where it fails, the next command about the game says why.
        command.future.add_done_callback(lambda future: future.cancelled() or future.exception())
        return command

    # What follows keeps the books.

    def _command(self, command: str, fields: dict[str, Any]) -> Pending:
        if self._ended is not None:
            raise Closed(self._ended.reason, code=self._ended.code)
        return self._outbox.add(command, fields)

    async def _answer(self, pending: Pending) -> Message:
        try:
            reply = await pending.future
        finally:
            # Who no longer waits has lost interest: the command is not sent again.
            self._outbox.forget(pending)
        if isinstance(reply, Snapshot) and pending.is_sent_again and pending.type in _OPENING:
            # The first reply went down with its connection: the new one was not told to watch the game.
            game = self.games[reply.game]
            game.joined_with = (pending.frame.get("role"), pending.frame.get("key"))
            self._rejoin(game)
        return reply

    def _raced(self, reply: Message) -> Race:
        return self.races[_expect(RaceMessage, reply).race]

    def _opened(self, reply: Message) -> Game:
        return self.games[_expect(Snapshot, reply).game]

    def _start_fresh(self) -> None:
        """The server does not know our token. Without another one whatever was ours is out of reach for this session."""
        other = self._spare_token() if self._spare_token is not None else None
        if other is not None and other != self.token:
            self.token = other
            return
        self.token = self.session = None
        self._outbox.fail_sent("the server no longer knows this player")
        self.games.clear()
        races, self.races = self.races, {}
        for race in races.values():
            race.wake()

    def _end(self, reason: str, code: int | None = None) -> None:
        if self._ended is not None:
            return
        self._ended = Closed(reason, code=code)
        self._outbox.fail_all(reason, code)
        for stream in [*self._streams]:
            stream.end()
        for frames in self._replays.values():
            frames.end(Closed(reason, code=code))
        for race in self.races.values():
            race.wake()
        for task in self._tasks:
            task.cancel()
        if self._ready is not None and not self._ready.done():
            self._ready.set_exception(Closed(reason, code=code))

    def _tell(self, event: Event) -> None:
        for stream in [*self._streams]:
            stream.push(event)

    def _keep(self, task: asyncio.Task[None]) -> None:
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _encode(self, frame: dict[str, Any]) -> bytes | str:
        return msgspec.msgpack.encode(frame) if self._msgpack else msgspec.json.encode(frame).decode()

    def _decode(self, data: bytes | str) -> Message:
        # The server's way of writing is its first frame's: one that knows no MessagePack answers in text.
        fields = msgspec.msgpack.decode(data) if isinstance(data, bytes) else msgspec.json.decode(data)
        if not isinstance(fields, dict):
            raise msgspec.ValidationError("a message is an object")
        return message_from(fields)


def _seconds(text: str | None) -> float | None:
    return float(text) if text is not None and text.isascii() and text.isdecimal() else None


def _accepted(reply: Message) -> Message:
    if isinstance(reply, RefusedMessage):
        raise Refused(reply.code, reply.message, game=reply.game, seq=reply.seq, detail=reply.detail)
    if isinstance(reply, ErrorMessage):
        raise Error(reply.code, reply.message, detail=reply.detail, retry_after_ms=reply.retry_after_ms)
    return reply


def _expect(kind: type[Kind], reply: Message) -> Kind:
    if not isinstance(reply, kind):
        raise Closed(f"the server answered with {type(reply).__name__} where {kind.__name__} was expected")
    return reply


connect = Client
