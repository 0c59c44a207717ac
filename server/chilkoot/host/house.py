"""Everything one server process holds: the record, the library, live games, sessions, connections, and how it stands."""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict
from typing import Final, NamedTuple
from weakref import WeakValueDictionary

from chilkoot.config import Config
from chilkoot.discretion import discreet
from chilkoot.failpoint import reach
from chilkoot.host.adviser import Adviser
from chilkoot.host.almanac import Almanac
from chilkoot.host.analyst import Analyst
from chilkoot.host.certifier import Certifier
from chilkoot.host.clock import Clock, fresh_id
from chilkoot.host.connection import Connection
from chilkoot.host.deal_pool import DealPool
from chilkoot.host.guides import Guides
from chilkoot.host.hub import Hub, Live
from chilkoot.host.ledger import Ledger
from chilkoot.host.log import log
from chilkoot.host.races import Races, Room
from chilkoot.host.searcher import Searcher
from chilkoot.host.socket import Addresses
from chilkoot.library import Library
from chilkoot.record import PutReply, StoreFault, Write
from chilkoot.table import Session
from chilkoot.wire import encode

__all__ = ["GivenOut", "House"]

_DETACHED: Final = 5000
"""Sessions without a connection that are kept in memory; the others come back from the record."""

_GIVEN_OUT: Final = 10_000
"""Tokens that can be told once more; where one was forgotten, the old token brings another new one."""


class GivenOut(NamedTuple):
    """A token as it was given out, in place of another, and when."""

    token: str
    at_ms: int

    def __repr__(self) -> str:
        return discreet(self)


class House:
    """One server."""

    def __init__(
        self, config: Config, ledger: Ledger, library: Library, *, clock: Clock | None = None
    ) -> None:
        self.config = config
        self.limits = config.limits
        self.ledger = ledger
        self.metrics = ledger.metrics
        self.library = library
        self.guides = Guides(ledger)
        self.clock = clock or Clock()
        self.searcher = Searcher()
        self.adviser = Adviser(ledger, ms=self.limits.advice_ms)
        self.certifier = Certifier(self.searcher, self.limits)
        self.analyst = Analyst(ledger, self.searcher, positions=self.limits.analyse_positions)
        self.deal_pool = DealPool(
            ledger,
            library,
            self.certifier,
            self.clock,
            deals=self.limits.pool_deals,
            games=self.limits.pool_games,
        )
        self.hub = Hub(ledger, self.clock, history=self.limits.history, watched=self.limits.watched_games)
        self.almanac = Almanac(
            config.dailies,
            beacon=config.beacon,
            ledger=ledger,
            library=library,
            certifier=self.certifier,
            clock=self.clock,
        )
        self.races = Races(self)
        self.addresses = Addresses(self.limits)
        self.connections: set[Connection] = set()
        self.sessions: OrderedDict[str, Session] = OrderedDict()
        """Sessions that can be resumed, by id."""
        self.attached: dict[str, Connection] = {}
        """The connection of each of them that has one."""
        self.by_player: Counter[str] = Counter()
        """Connections of each known player."""
        self.given_out: OrderedDict[bytes, GivenOut] = OrderedDict()
        """The newest tokens by the hash of what still holds beside them: told again to those who come with the old one."""
        self.hellos: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        """Held, by player, while a token is replaced."""
        self.tasks: set[asyncio.Task[None]] = set()
        self.is_draining = False

    def guest(self) -> Session:
        """A session for a connection that has not said who it is."""
        return Session(fresh_id(), fresh_id())

    async def catch_up(self, connection: Connection, source: Live | Room) -> bytes | None:
        """The state of a game or a race for a viewer who fell behind. Under its lock."""
        if isinstance(source, Room):
            if connection not in source.viewers:
                return None
            return self.races.reply(source, connection.session.player)
        return await self._snapshot(connection, source)

    async def _snapshot(self, connection: Connection, live: Live) -> bytes | None:
        if live.id not in connection.watching:
            return None
        try:
            table = await self.hub.table_of(live)
        except StoreFault:
            # Without the table there is no honest way on; a new connection may find it.
            connection.socket.transport.abort()
            return None
        reach("during_snapshot")
        return encode(table.snapshot(connection.session.player, len(live.viewers)))

    def attach(self, connection: Connection, session: Session) -> None:
        """Let a connection speak for a session that can be resumed."""
        self.detach(connection)
        connection.session = session
        self.sessions[session.id] = session
        self.sessions.move_to_end(session.id)
        self.attached[session.id] = connection
        self.by_player[session.player] += 1

    def detach(self, connection: Connection) -> None:
        """A connection speaks for its session no longer."""
        session = connection.session
        if self.attached.get(session.id) is connection:
            del self.attached[session.id]
            self.by_player[session.player] -= 1
            if not self.by_player[session.player]:
                del self.by_player[session.player]
            session.forget_tokens()

    def leave(self, connection: Connection) -> None:
        """A connection is gone. No waiting, no record: thousands may go at once."""
        self.connections.discard(connection)
        for live in list(connection.watching.values()):
            self.hub.unwatch(connection, live)
        for room in list(connection.racing):
            self.races.unwatch(connection, room)
        for task in connection.replays.values():
            task.cancel()
        self.detach(connection)

    def tidy_sessions(self) -> None:
        """Forget detached sessions beyond a number, and tokens that were given out long ago."""
        surplus = len(self.sessions) - len(self.attached) - _DETACHED
        if surplus > 0:
            going = [one for one in self.sessions if one not in self.attached][:surplus]
            self.save_replies([self.sessions.pop(one) for one in going])
        while len(self.given_out) > _GIVEN_OUT:
            self.given_out.popitem(last=False)

    def save_replies(self, sessions: list[Session]) -> None:
        """Put replies on record that only memory has."""
        writes: list[Write] = []
        for session in sessions:
            if session.is_stored:
                writes += unsaved_replies(session)
        if writes:
            self.ledger.post(tuple(writes))

    def spawn(self, task: asyncio.Task[None]) -> None:
        """Keep a task that runs beside the connections, and hear of it when it fails."""
        self.tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self.tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("a task failed", exc_info=error)


def unsaved_replies(session: Session) -> list[Write]:
    """The writes that bring the record up to date with a session's replies; they are taken to be carried out."""
    writes: list[Write] = [
        PutReply(session=session.id, command_id=number, fingerprint=kept.fingerprint, body=kept.body)
        for number, kept in session.unsaved.items()
        if kept.body is not None
    ]
    session.unsaved.clear()
    return writes
