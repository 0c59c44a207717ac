"""The races that are in memory: who looks on, the start signal, progress as it is told, and when a race is over.

What one race comes to follows from its seats and the games on record, so it goes on after a restart. All that changes who
sits where happens under the room's lock; how games stand is taken over from actions that are on record already.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from chilkoot.host.clock import fresh_entropy
from chilkoot.host.hub import Live
from chilkoot.host.log import log
from chilkoot.host.seats import Dealt, end_of, ghost_from, lay_seats, race_from
from chilkoot.language.rules import Rules, from_canonical
from chilkoot.record import (
    EndRace,
    SeatGame,
    StartRace,
    StoreDoubtful,
    StoreFault,
    Unseal,
    Write,
)
from chilkoot.table import Ghost, Race, Seat, Table, all_told, race_progress, race_reply
from chilkoot.wire import encode

if TYPE_CHECKING:
    from chilkoot.host.connection import Connection
    from chilkoot.host.house import House

__all__ = ["Races", "Room"]

PAUSE_SECONDS: Final = 0.1
"""Between two messages of progress in one race: 200 players are told of each other ten times a second, not a thousand."""

RETURN_SECONDS: Final = 10
"""The countdown after a restart of the server, so that everybody is back."""

_KEPT_MS: Final = 60 * 60 * 1000
"""How long those who were in a race hear of it when it is over: of a rematch."""

_DEALS_TRIED: Final = 8
_ROUNDS_TRIED: Final = 5
_LONGEST_MS: Final = 30 * 24 * 60 * 60 * 1000
"""What seals the games of a race that has no time limit, should it never be ended."""


class Room:
    """A race in memory and the connections that are told of it."""

    __slots__ = (
        "changed",
        "has_newcomers",
        "haunting",
        "id",
        "is_doubtful",
        "lock",
        "race",
        "run_up",
        "timer",
        "viewers",
    )

    def __init__(self, race: Race) -> None:
        self.id = race.id
        self.race = race
        self.lock = asyncio.Lock()
        self.is_doubtful = False
        """Whether a commit about who sits where may be on record or not."""
        self.viewers: set[Connection] = set()
        self.changed: set[int] = set()
        """Seats whose standing was not told yet."""
        self.has_newcomers = False
        self.timer: asyncio.TimerHandle | None = None
        self.haunting: asyncio.TimerHandle | None = None
        self.run_up: asyncio.Task[None] | None = None


class Races:
    """All rooms by id."""

    def __init__(self, house: House) -> None:
        self._house = house
        self._rooms: dict[str, Room] = {}
        self._seats: dict[str, tuple[Room, Seat]] = {}
        self._of_player: defaultdict[str, set[Room]] = defaultdict(set)
        self._loop = asyncio.get_running_loop()

    @property
    def _longest_ms(self) -> int:
        return int(self._house.limits.race_seconds * 1000) or _LONGEST_MS

    # rooms

    async def load(self) -> None:
        """Take up the races that went on when the server stopped. Raises StoreFault."""
        ledger = self._house.ledger
        for race in await ledger.ask(ledger.reader.open_races):
            try:
                await self.find(race)
            except StoreFault:
                raise
            except Exception:  # noqa: BLE001 - logged; one race must not be what a server does not start for
                log.exception("race %s can't go on", race)

    async def find(self, race: str) -> Room | None:
        """The room of that id; None where there is none. Raises StoreFault."""
        if (room := self._rooms.get(race)) is not None:
            return room
        if not (1 <= len(race) <= 64 and race.isascii() and race.isprintable()):
            return None
        ledger = self._house.ledger
        stored = await ledger.ask(ledger.reader.race, race)
        if stored is None:
            return None
        ghost = None if stored.ghost is None else await self.ghost(stored.ghost)
        # Somebody else may have been quicker while this waited.
        if (room := self._rooms.get(race)) is not None:
            return room
        room = self.add(race_from(stored, ghost, self._house.clock.ms()))
        if room.race.state == "waiting" and room.race.is_full:
            self.begin(room, RETURN_SECONDS)
        self._go_on(room)
        return room

    async def ghost(self, game: str) -> Ghost | None:
        """A game on record as one that runs along. Raises StoreFault."""
        ledger = self._house.ledger
        stored = await ledger.ask(ledger.reader.load_game, game)
        if stored is None:
            return None
        player = await ledger.ask(ledger.reader.player, stored.header.player)
        return await ledger.ask(ghost_from, stored, "" if player is None else player.name)

    def add(self, race: Race) -> Room:
        """Keep a race in memory."""
        room = self._rooms[race.id] = Room(race)
        if race.state != "over":
            for seat in race.taken.values():
                self._of_player[seat.player].add(room)
                if seat.game is not None:
                    self._seats[seat.game] = (room, seat)
        return room

    def sat_down(self, room: Room, seat: Seat) -> None:
        """Somebody took a seat."""
        self._of_player[seat.player].add(room)
        self.touch(room, seat.number, is_newcomer=True)

    async def doubt(self, room: Room, fault: StoreFault) -> None:
        """After a commit about who sits where that failed: make memory say what the record says. Under the room's lock.

        Raises StoreFault; then what may be wrong is read before anything else is done about the room.
        """
        room.is_doubtful |= isinstance(fault, StoreDoubtful)
        await self.make_sure(room)

    async def make_sure(self, room: Room) -> None:
        """Read again who sits where if memory may be wrong. Under the room's lock. Raises StoreFault."""
        if not room.is_doubtful:
            return
        ledger, race = self._house.ledger, room.race
        stored = await ledger.ask(ledger.reader.race, room.id)
        if stored is None:
            raise LookupError(f"race {room.id} is no longer on record")
        room.is_doubtful = False
        if race.state != "waiting":
            return
        seated = race_from(stored, race.ghost, self._house.clock.ms()).taken
        for player in seated.keys() - race.taken.keys():
            race.taken[player] = seated[player]
            self.sat_down(room, seated[player])
        for player in race.taken.keys() - seated.keys():
            self.got_up(room, player)
        if race.is_full:
            self.begin(room)

    async def next_of(self, race: Race) -> str | None:
        """The race that follows one that is over, as far as memory or the record know of one. Raises StoreFault."""
        if race.next is None:
            ledger = self._house.ledger
            stored = await ledger.ask(ledger.reader.race, race.id)
            race.next = None if stored is None else stored.next
        return race.next

    def open_of(self, player: str) -> list[Room]:
        """The races of a player that are not over."""
        return list(self._of_player.get(player, ()))

    def __len__(self) -> int:
        return len(self._rooms)

    # who looks on

    def watch(self, connection: Connection, room: Room) -> None:
        """Send a connection the events of a race from now on."""
        room.viewers.add(connection)
        connection.racing.add(room)

    def unwatch(self, connection: Connection, room: Room) -> None:
        """Send a connection no more events of a race."""
        room.viewers.discard(connection)
        connection.racing.discard(room)

    async def come_back(self, connection: Connection) -> None:
        """Tell a connection that has just said who it is of the races it is in."""
        player = connection.session.player
        for room in self.open_of(player):
            async with room.lock:
                # Somebody may have been sitting down, or the race have ended, while this waited.
                if player in room.race.taken and room.race.state != "over":
                    self.watch(connection, room)
                    connection.publish(room, self.reply(room, player))

    def reply(self, room: Room, player: str, answers: int | None = None) -> bytes:
        """A race as one player sees it."""
        return encode(race_reply(room.race, player, self._house.clock.ms(), answers=answers))

    def tell(self, room: Room, *, but: Connection | None = None) -> None:
        """Tell all who look on how a race is now."""
        room.changed.clear()
        now_ms = self._house.clock.ms()
        seats = all_told(room.race, now_ms)
        for viewer in list(room.viewers):
            if viewer is not but:
                reply = race_reply(room.race, viewer.session.player, now_ms, seats=seats)
                viewer.publish(room, encode(reply))

    def touch(self, room: Room, seat: int, *, is_newcomer: bool = False) -> None:
        """A seat's standing has changed: tell it at once, or with others a moment later."""
        room.changed.add(seat)
        room.has_newcomers |= is_newcomer
        if room.timer is None:
            self._tell_progress(room)

    def _tell_progress(self, room: Room) -> None:
        room.timer = None
        if not room.changed:
            return
        progress = race_progress(
            room.race, room.changed, self._house.clock.ms(), with_players=room.has_newcomers
        )
        room.changed.clear()
        room.has_newcomers = False
        text = encode(progress)
        for viewer in list(room.viewers):
            viewer.publish(room, text)
        room.timer = self._loop.call_later(PAUSE_SECONDS, self._tell_progress, room)

    # the start

    def begin(self, room: Room, seconds: float | None = None) -> None:
        """All seats are taken: count down, then deal."""
        if room.run_up is not None:
            return
        countdown = self._house.limits.race_countdown if seconds is None else seconds
        room.run_up = asyncio.create_task(self._run_up(room, countdown))
        self._house.spawn(room.run_up)

    def stop_run_up(self, room: Room) -> None:
        """A seat is free again. Under the room's lock."""
        if room.run_up is not None:
            room.run_up.cancel()
            room.run_up = None
        room.race.starts_ms = None

    async def _run_up(self, room: Room, seconds: float) -> None:
        race = room.race
        while (chosen := await self._choose_deal(race)) is None:  # noqa: ASYNC110 - until the record answers
            await asyncio.sleep(1)
        rules, deal = chosen
        async with room.lock:
            if race.state != "waiting":
                return
            race.starts_ms = self._house.clock.ms() + int(seconds * 1000)
            self.tell(room)
        dealt = await self._house.ledger.ask(
            lay_seats,
            race,
            rules,
            deal,
            longest_ms=self._longest_ms,
            history=self._house.limits.history,
        )
        await asyncio.sleep(max(0.0, (race.starts_ms - self._house.clock.ms()) / 1000))
        # Between two tries anybody may leave, which ends this.
        while not await self._started(room, dealt):  # noqa: ASYNC110 - until the record takes it
            await asyncio.sleep(1)

    async def _started(self, room: Room, dealt: Sequence[Dealt]) -> bool:
        """Whether nothing is left to be done for the start: it is made, or will never be."""
        async with room.lock:
            if self._house.is_draining or room.race.state != "waiting":
                return True
            try:
                await self.make_sure(room)
            except StoreFault:
                return False
            if room.run_up is not asyncio.current_task():
                # Somebody had got up; another countdown is another task.
                return True
            if not await self._start(room, dealt):
                return False
            self._go_on(room)
            return True

    async def _choose_deal(self, race: Race) -> tuple[Rules, str] | None:
        """The rules and the deal; None where the record can't be read now."""
        ledger = self._house.ledger
        try:
            text = await ledger.ask(ledger.reader.rules, race.rules_hash)
        except StoreFault as fault:
            log.warning("a race can't be dealt just now: %s", fault)
            return None
        if text is None:
            raise LookupError(f"the rules of race {race.id} are no longer on record")
        rules = from_canonical(text)
        if race.ghost is not None:
            return rules, race.ghost.deal
        deal = f"ck:{fresh_entropy().deal}"
        policy = rules.deal_policy.winnable
        for _ in range({"none": 0, "require": _ROUNDS_TRIED}.get(policy, 1)):
            deals = [f"ck:{fresh_entropy().deal}" for _ in range(_DEALS_TRIED)]
            found = await self._house.certifier.first_winnable(text, deals)
            if found is not None:
                return rules, deals[found]
        return rules, deal

    async def _start(self, room: Room, dealt: Sequence[Dealt]) -> bool:
        """Put the games on record, and only then let anybody see a card. Under the room's lock."""
        house, race = self._house, room.race
        starts_ms = race.starts_ms or 0
        ends_ms = starts_ms + self._longest_ms
        writes: list[Write] = [one.game for one in dealt]
        writes.append(StartRace(race=race.id, starts_ms=starts_ms, ends_ms=ends_ms))
        writes += [SeatGame(race=race.id, number=one.seat.number, game=one.game.id) for one in dealt]
        fault = await house.ledger.commit(tuple(writes))
        if fault is not None and not await self._is_started(race):
            log.warning("a race can't be started just now: %s", fault)
            return False
        race.ends_ms, race.deal = ends_ms, dealt[0].table.game.deal
        lives: dict[str, tuple[Live, bytes]] = {}
        for one in dealt:
            seat, table = one.seat, one.table
            seat.game = one.game.id
            game = table.game
            seat.stands(game.status, game.score, 0, ended_ms=table.ended_ms, now_ms=starts_ms)
            self._seats[seat.game] = (room, seat)
            lives[seat.player] = (house.hub.add(table, one.game.start_hash), one.snapshot)
        self.tell(room)
        for viewer in list(room.viewers):
            live, snapshot = lives[viewer.session.player]
            # The snapshot tells of one viewer: whoever has two windows open is told of that a moment later.
            house.hub.watch(viewer, live, told=not live.viewers)
            viewer.publish(live, snapshot)
        return True

    async def _is_started(self, race: Race) -> bool:
        try:
            ledger = self._house.ledger
            stored = await ledger.ask(ledger.reader.race, race.id)
        except StoreFault:
            return False
        return stored is not None and stored.ends_ms is not None

    # while it runs

    def on_action(self, live: Live, table: Table, now_ms: int) -> None:
        """An action is on record: if it was made in a race, that is news there."""
        found = self._seats.get(live.id)
        if found is None:
            return
        room, seat = found
        standing = table.standing
        if seat.stands(
            standing.status, standing.score, standing.moves, ended_ms=table.ended_ms, now_ms=now_ms
        ):
            self.touch(room, seat.number)
            self._go_on(room)

    async def leave(self, room: Room, seat: Seat) -> StoreFault | None:
        """A player of a race that runs leaves it. Under the room's lock."""
        end = end_of(room.race, seat, "left", self._house.clock.ms())
        fault = await self._house.ledger.commit((end,))
        if isinstance(fault, StoreDoubtful) and await self._has_left(room.race, seat):
            fault = None
        if fault is None:
            # Whatever its game has come to meanwhile: on record this was first.
            seat.ends(end.status, end.score, end.moves, ended_ms=end.ended_ms)
            self.touch(room, seat.number)
            self._go_on(room)
        return fault

    async def _has_left(self, race: Race, seat: Seat) -> bool:
        ledger = self._house.ledger
        stored = await ledger.ask(ledger.reader.race, race.id)
        return stored is not None and any(
            one.number == seat.number and one.status == "left" for one in stored.taken
        )

    def _go_on(self, room: Room) -> None:
        """End a race that is decided, and see to it that a ghost goes on."""
        if room.race.is_decided:
            self._house.spawn(asyncio.create_task(self.end(room)))
        elif room.race.ghost is not None and room.race.state == "running":
            self._haunt(room, room.race.ghost)

    def _haunt(self, room: Room, ghost: Ghost) -> None:
        """Tell how the recording stands, at the times at which that changed."""
        if room.race.state != "running" or room.haunting is not None:
            return
        now_ms, starts_ms = self._house.clock.ms(), room.race.starts_ms or 0
        later = [mark.after_ms for mark in ghost.marks if mark.after_ms > now_ms - starts_ms]
        if later:
            wait = (starts_ms + min(later) - now_ms) / 1000
            room.haunting = self._loop.call_later(wait, self._haunted, room, ghost)

    def _haunted(self, room: Room, ghost: Ghost) -> None:
        room.haunting = None
        if room.race.state == "running":
            self.touch(room, room.race.seats + 1)
            self._haunt(room, ghost)

    # the end

    async def end(self, room: Room) -> None:
        """A race is over: its games are like any others from now on."""
        house, race = self._house, room.race
        async with room.lock:
            if race.state == "over":
                return
            now_ms = house.clock.ms()
            played = [seat for seat in race.taken.values() if seat.game is not None]
            games = [seat.game for seat in played if seat.game is not None]
            ends = [end_of(race, seat, seat.final_status, seat.ended_ms) for seat in played]
            writes: list[Write] = [EndRace(race=race.id, ended_ms=now_ms)]
            writes += [Unseal(game=one, at_ms=now_ms) for one in games]
            writes += ends
            fault = await house.ledger.commit(tuple(writes))
            if fault is not None:
                # The next round tries again.
                log.warning("a race can't be ended just now: %s", fault)
                return
            for seat, end in zip(played, ends, strict=True):
                # What was done meanwhile came too late for the record.
                seat.ends(end.status, end.score, end.moves, ended_ms=end.ended_ms)
            race.end(now_ms)
            for seat in race.taken.values():
                self._forget(room, seat)
            for game in games:
                live = house.hub.get(game)
                if live is not None:
                    async with live.lock:
                        if live.table is not None:
                            live.table.unseal(now_ms)
            self.tell(room)

    def got_up(self, room: Room, player: str) -> None:
        """Somebody left a race that has not begun. Under the room's lock."""
        self._forget(room, room.race.taken.pop(player))
        for viewer in [one for one in room.viewers if one.session.player == player]:
            self.unwatch(viewer, room)
        self.stop_run_up(room)
        self.tell(room)
        if not room.race.taken:
            self._house.spawn(asyncio.create_task(self.end(room)))

    def _forget(self, room: Room, seat: Seat) -> None:
        self._seats.pop(seat.game or "", None)
        rooms = self._of_player.get(seat.player)
        if rooms is not None:
            rooms.discard(room)
            if not rooms:
                del self._of_player[seat.player]

    async def go_round(self) -> None:
        """End what is due, and let go of what is over."""
        limits, now_ms = self._house.limits, self._house.clock.ms()
        for room in list(self._rooms.values()):
            race = room.race
            if race.state == "over":
                if now_ms - (race.ended_ms or 0) > _KEPT_MS:
                    for viewer in list(room.viewers):
                        self.unwatch(viewer, room)
                if not room.viewers and not room.lock.locked():
                    del self._rooms[room.id]
                continue
            await self._see_who_idles(room, now_ms)
            if race.is_decided or _is_due(race, now_ms, limits.race_wait_seconds):
                await self.end(room)

    async def _see_who_idles(self, room: Room, now_ms: int) -> None:
        allowed = self._house.limits.race_idle_seconds * 1000
        if not allowed or room.race.state != "running":
            return
        for seat in list(room.race.taken.values()):
            if _idles(seat, now_ms, allowed):
                async with room.lock:
                    # While this waited it may have acted, or the race have ended.
                    if _idles(seat, now_ms, allowed):
                        await self.leave(room, seat)


def _idles(seat: Seat, now_ms: int, allowed_ms: float) -> bool:
    return not seat.is_done and now_ms - seat.acted_ms > allowed_ms


def _is_due(race: Race, now_ms: int, wait_seconds: float) -> bool:
    if race.ends_ms is not None:
        return now_ms >= race.ends_ms
    is_forgotten = bool(wait_seconds) and now_ms - race.created_ms > wait_seconds * 1000
    return not race.taken or (is_forgotten and race.starts_ms is None)
