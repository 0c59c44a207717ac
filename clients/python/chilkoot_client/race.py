"""A race in which we have a seat: how everybody stands, and our own game in it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any, Protocol

import msgspec

from chilkoot_client.errors import Closed
from chilkoot_client.game import Game
from chilkoot_client.messages import Message, RaceMessage, RaceProgress, RaceSeat

__all__ = ["Race"]


class Runs(Protocol):
    """What a race needs of its client."""

    games: dict[str, Game]
    races: dict[str, Race]

    @property
    def ended(self) -> Closed | None:
        """Why the client will not come back, None while it may."""
        ...

    async def request(self, command: str, **fields: Any) -> Message:
        """Send a command and wait for its one reply."""
        ...


class Race:
    """One race: its `seats` by number, its `state` (``waiting``, ``running``, ``over``), and our `game` once it runs.

    All of it follows what the server tells. `invitation` is what others need to take a seat.
    """

    def __init__(self, client: Runs, message: RaceMessage) -> None:
        self._client = client
        self._news = asyncio.Event()
        self._ahead_ms = 0.0
        self.told = message
        self.seats: dict[int, RaceSeat] = {}
        self.take(message)

    @property
    def id(self) -> str:
        """The race's id."""
        return self.told.race

    @property
    def state(self) -> str:
        """Whether it waits for players or counts down, runs, or is over."""
        return self.told.state

    @property
    def invitation(self) -> str:
        """What others need to take a seat, in one word: `Client.join_race` reads it."""
        return f"{self.told.race}/{self.told.key}"

    @property
    def mine(self) -> RaceSeat | None:
        """My own seat."""
        return self.seats.get(self.told.seat or 0)

    @property
    def game(self) -> Game | None:
        """My own game, once the cards are dealt."""
        return self._client.games.get(self.told.game or "")

    @property
    def seconds_to_start(self) -> float | None:
        """How long the countdown still takes; None where there is none."""
        if self.told.starts is None or self.state != "waiting":
            return None
        return max(0.0, (self.told.starts + self._ahead_ms) / 1000 - time.monotonic())

    async def started(self) -> Game:
        """Wait for the start; my game. Raises Closed where the race is over before, or the connection for good."""
        await self._until(lambda: self.state != "waiting")
        if self.told.game is None:
            raise Closed("this race was over before it began")
        if self.game is None:
            # We were away at the start.
            await self._client.request("sync", game=self.told.game)
        game = self.game
        assert game is not None
        return game

    async def over(self) -> list[RaceSeat]:
        """Wait until the race is over; all seats, the first place first."""
        await self._until(lambda: self.state == "over")
        return self.standings()

    def standings(self) -> list[RaceSeat]:
        """All seats in the order in which they are placed now, or would be."""
        return sorted(self.seats.values(), key=_order)

    async def leave(self) -> None:
        """Give the seat back, or the race up where it runs."""
        await self._client.request("race_leave", race=self.id)

    async def rematch(self) -> Race:
        """Another race in the same room: the one that another player has asked for already, or a new one."""
        reply = await self._client.request("rematch", race=self.id)
        if not isinstance(reply, RaceMessage):
            raise Closed(f"the server answered with {type(reply).__name__} where a race was expected")
        return self._client.races[reply.race]

    # For the client, which hears what the server says.

    def take(self, message: RaceMessage) -> None:
        """Take over the whole state; what is older than what is known is not news."""
        if message.time < self.told.time:
            return
        if message.time > 0:
            self._ahead_ms = time.monotonic() * 1000 - message.time
        self.told = message
        self.seats = {seat.seat: seat for seat in message.players}
        self._news.set()

    def merge(self, progress: RaceProgress) -> None:
        """Take over how some seats stand."""
        for seat in progress.players:
            known = self.seats.get(seat.seat)
            if known is not None and seat.player is None:
                seat = msgspec.structs.replace(seat, player=known.player)  # noqa: PLW2901 - the same seat, named
            self.seats[seat.seat] = seat
        self._news.set()

    def wake(self) -> None:
        """The client has ended, or is another player's from now on: who waits is told so."""
        self._news.set()

    async def _until(self, is_so: Callable[[], bool]) -> None:
        while not is_so():
            ended = self._client.ended
            if ended is not None:
                raise Closed(ended.reason, code=ended.code)
            if self._client.races.get(self.id) is not self:
                raise Closed("the server no longer knows this player")
            self._news.clear()
            await self._news.wait()

    def __repr__(self) -> str:
        return f"<Race {self.id} {self.state}, {len(self.seats)} of {self.told.seats} seats>"


def _order(seat: RaceSeat) -> tuple[float, bool, int, int, int]:
    place = seat.place if seat.place is not None else float("inf")
    return (place, seat.status == "left", -seat.score, seat.moves, seat.seat)
