"""The games that are in memory, who looks at each, and the order in which things happen to it.

All that concerns one game happens under its lock: an action from its check to its commit and its publishing, a snapshot, a
viewer's arrival. So nobody sees what is not on record, and nobody misses what comes after a snapshot. A game here is a plain
object; it may be dropped at any time, since the log brings it back.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import TYPE_CHECKING, Final
from weakref import WeakValueDictionary

from msgspec import UNSET

from chilkoot.engine import SEMANTICS
from chilkoot.host.clock import Clock
from chilkoot.host.ledger import Ledger
from chilkoot.host.log import log
from chilkoot.language.rules import from_canonical
from chilkoot.record import CloseGame, GameHeader, NewGame, StoredGame, StoreDoubtful, StoreFault, start_hash
from chilkoot.record.verification import GOING_ON
from chilkoot.table import LogEntry, Table, Terms, lay_from_log
from chilkoot.wire import encode
from chilkoot.wire.messages import Dismissed, Presence, WatchableGame

if TYPE_CHECKING:
    from chilkoot.host.connection import Connection

__all__ = ["Hub", "Live"]


WATCHABLE_SECONDS: Final = 1.0


class Live:
    """A game in memory. `table` is None when it must be read again; `head` and `hints` continue the record's chain."""

    __slots__ = ("head", "hints", "id", "lock", "table", "used", "viewers")

    def __init__(self, game: str) -> None:
        self.id = game
        self.lock = asyncio.Lock()
        self.table: Table | None = None
        self.head = b""
        self.hints = 0
        self.used = 0.0
        self.viewers: dict[Connection, int] = {}
        """Who looks on, and of how many viewers each was told."""


class Hub:
    """All live games by id."""

    def __init__(self, ledger: Ledger, clock: Clock, *, history: int, watched: int) -> None:
        self._ledger = ledger
        self._clock = clock
        self._history = history
        self._watched = watched
        self._games: OrderedDict[str, Live] = OrderedDict()
        self._readings: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        """Held, by game, while it is brought into memory."""
        self._crowds_changed: set[Live] = set()
        self._loop = asyncio.get_running_loop()
        self._watchable: list[WatchableGame] = []
        self._watchable_until = 0.0

    def __len__(self) -> int:
        return len(self._games)

    def get(self, game: str) -> Live | None:
        """The live game of that id where it is in memory."""
        return self._games.get(game)

    async def find(self, game: str) -> Live | None:
        """The live game of that id, brought into memory if need be; None where there is none. Raises StoreFault."""
        live = self._games.get(game)
        if live is None:
            if not (1 <= len(game) <= 64 and game.isascii() and game.isprintable()):
                return None
            # After a start all who look on come at once: one of them reads it for all.
            async with self._readings.setdefault(game, asyncio.Lock()):
                live = self._games.get(game) or await self._read(game)
        if live is not None:
            live.used = self._loop.time()
        return live

    async def _read(self, game: str) -> Live | None:
        stored = await self._ledger.ask(self._ledger.reader.load_game, game)
        if stored is None:
            return None
        table = await self._ledger.ask(lay_table, stored, self._history)
        # It may have been put on record, and added, while this waited.
        live = self._games.get(game)
        if live is None:
            live = self._games[game] = Live(game)
            self._take(live, stored, table)
        return live

    async def table_of(self, live: Live) -> Table:
        """The table of a live game as it stands now: read again where it was dropped, closed where a day has gone by.

        To be called under its lock. Raises StoreFault.
        """
        if live.table is None:
            stored = await self._ledger.ask(self._ledger.reader.load_game, live.id)
            if stored is None:
                raise LookupError(f"game {live.id} is no longer on record")
            self._take(live, stored, await self._ledger.ask(lay_table, stored, self._history))
        table = live.table
        assert table is not None
        if table.is_sealed:
            table.unseal_if_due(self._clock.ms())
        if table.game.is_over and table.close_if_due(now_ms := self._clock.ms()):
            self._ledger.post((CloseGame(game=live.id, closed_ms=now_ms),))
        return table

    def add(self, table: Table, head: bytes) -> Live:
        """A game that was just put on record."""
        live = Live(table.terms.id)
        live.table, live.head, live.used = table, head, self._loop.time()
        self._games[live.id] = live
        return live

    async def survived(self, live: Live, head: bytes, fault: StoreFault) -> bool:
        """After a commit that failed: drop what memory says, and tell whether the link `head` is on record after all.

        To be called under the game's lock.
        """
        live.table = None
        if not isinstance(fault, StoreDoubtful):
            return False
        await self.table_of(live)
        return live.head == head

    def watch(self, connection: Connection, live: Live, *, told: bool = False) -> None:
        """Send a connection the events of a game from now on; of too many games the first is let go.

        `told` says that it gets a snapshot now, which has the number of viewers.
        """
        if connection not in live.viewers:
            live.viewers[connection] = 0
            connection.watching[live.id] = live
            self._crowds_changed.add(live)
            if self._watched and len(connection.watching) > self._watched:
                self.unwatch(connection, next(iter(connection.watching.values())))
        if told:
            live.viewers[connection] = len(live.viewers)

    def unwatch(self, connection: Connection, live: Live) -> None:
        """Send a connection no more events of a game."""
        connection.watching.pop(live.id, None)
        if connection in live.viewers:
            del live.viewers[connection]
            self._crowds_changed.add(live)

    def publish(self, live: Live, diff: bytes, actor: Connection) -> None:
        """Send a diff to all who look on, but to the actor, whose copy is a reply."""
        for viewer in live.viewers:
            if viewer is not actor:
                viewer.publish(live, diff)

    def dismiss(self, live: Live, table: Table) -> None:
        """Let go of all who look on and may not any more. Under the game's lock."""
        self._watchable_until = 0.0
        text = encode(Dismissed(game=live.id, seq=table.game.seq))
        for viewer in list(live.viewers):
            if table.role_of(viewer.session.player) is None:
                # No event that a snapshot may take the place of: to who may not look on none is sent.
                viewer.send(text)
                self.unwatch(viewer, live)

    def watchable(self) -> list[WatchableGame]:
        """The games that are played now and open to all, newest first; made anew once a second at most."""
        now = self._loop.time()
        if now >= self._watchable_until:
            found = [entry for live in self._games.values() if (entry := _watchable(live)) is not None]
            found.sort(key=lambda entry: entry.started, reverse=True)
            self._watchable, self._watchable_until = found, now + WATCHABLE_SECONDS
        return self._watchable

    def tell_crowds(self) -> None:
        """Tell viewers how many they are, where that changed; called now and then, however many come and go."""
        changed, self._crowds_changed = self._crowds_changed, set()
        for live in changed:
            if live.table is None or live.lock.locked():
                # What the table says may not be on record yet; the next time will do.
                self._crowds_changed.add(live)
                continue
            count = len(live.viewers)
            text = encode(Presence(game=live.id, seq=live.table.game.seq, viewers=count))
            for viewer, told in live.viewers.items():
                if told != count:
                    live.viewers[viewer] = count
                    viewer.publish(live, text)

    def tidy(self, limit: int, idle_seconds: float) -> None:
        """Forget games nobody looks at: those idle for long, and the oldest where there are too many."""
        now = self._loop.time()
        unwatched = [live for live in self._games.values() if not live.viewers and not live.lock.locked()]
        unwatched.sort(key=lambda live: live.used)
        surplus = max(0, len(unwatched) - limit) if limit else 0
        for number, live in enumerate(unwatched):
            if number < surplus or now - live.used > idle_seconds:
                del self._games[live.id]

    def _take(self, live: Live, stored: StoredGame, table: Table) -> None:
        live.table, live.head, live.hints = table, stored.header.head_hash, stored.header.hints


def _watchable(live: Live) -> WatchableGame | None:
    """A game as it is listed; None where it is not open to all, or its player is not there."""
    table = live.table
    if table is None or live.lock.locked() or table.is_sealed or table.game.is_over:
        # What happens under the lock may not be on record yet.
        return None
    terms, standing = table.terms, table.standing
    players = [one.session for one in live.viewers if one.session.player == terms.owner]
    if terms.watch != "open" or not players:
        return None
    return WatchableGame(
        game=live.id,
        variant=terms.variant,
        level=UNSET if terms.level is None else terms.level,
        player=players[0].name or UNSET,
        seq=table.game.seq,
        status=standing.status,
        score=standing.score,
        moves=standing.moves,
        undos=standing.undos,
        viewers=len(live.viewers),
        started=terms.started_ms,
    )


def lay_table(stored: StoredGame, history: int) -> Table:
    """The table that a stored game comes to, by the rules it was played by. Raises ReplayError."""
    header = stored.header
    table = lay_from_log(
        terms_of(header),
        from_canonical(stored.rules),
        header.deal,
        log_of(stored),
        history=history,
        participants=stored.participants,
    )
    if header.closed_ms is not None:
        table.close()
    status = table.game.status
    is_as_told = status == header.status or {status, header.status} == GOING_ON
    if table.game.seq != header.seq or not is_as_told:
        log.error(
            "game %s: the log gives %s, the record says %s", header.id, table.game.status, header.status
        )
    return table


def diff_of(stored: StoredGame, seq: int) -> bytes:
    """The diff of one action of a stored game, as its viewers got it. Raises ReplayError."""
    missed = lay_table(stored, stored.header.seq - seq + 1).missed(seq - 1)
    assert missed is not None
    return missed[0]


def terms_of(header: GameHeader) -> Terms:
    """What was settled when a stored game began."""
    return Terms(
        id=header.id,
        owner=header.player,
        variant=header.variant,
        level=header.level,
        rules_hash=header.rules_hash,
        origin=header.origin,
        watch=header.watch,
        key=header.key,
        watch_key=header.watch_key,
        started_ms=header.created_ms,
        contest=header.contest,
        sealed_until_ms=header.sealed_until_ms,
        winnable="proved" if header.winnable == "proved" else "not_proved" if header.winnable else None,
    )


def game_of(table: Table, now_ms: int) -> NewGame:
    """What is put on record of a table just laid."""
    terms, game = table.terms, table.game
    return NewGame(
        id=terms.id,
        player=terms.owner,
        variant=terms.variant,
        level=terms.level,
        rules_hash=terms.rules_hash,
        semantics=SEMANTICS,
        deal=game.deal,
        origin=terms.origin,
        winnable=terms.winnable,
        watch=terms.watch,
        key=terms.key,
        watch_key=terms.watch_key,
        created_ms=now_ms,
        start_hash=start_hash(
            semantics=SEMANTICS,
            game=terms.id,
            player=terms.owner,
            variant=terms.variant,
            level=terms.level,
            rules_hash=terms.rules_hash,
            deal=game.deal,
            origin=terms.origin,
            created_ms=now_ms,
        ),
        status=game.status,
        result=game.result,
        score=game.score,
        ended_ms=now_ms if game.is_over else None,
        closed_ms=now_ms if game.closed else None,
        contest=terms.contest,
        sealed_until_ms=terms.sealed_until_ms,
    )


def log_of(stored: StoredGame) -> list[LogEntry]:
    """The actions of a stored game."""
    return [LogEntry(text=action.text, by=action.by, at_ms=action.at_ms) for action in stored.actions]
