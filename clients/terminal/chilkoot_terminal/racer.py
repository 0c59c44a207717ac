"""A person's side of a race: taking a seat, waiting for the start, hearing how the others stand."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

from chilkoot_client import ChilkootError, Client, Game, Race, RaceMessage, RaceProgress, RaceSeat
from chilkoot_terminal.racing import invitation_words, line_words, news_words, standings_words

__all__ = ["Racer"]


class Racer:
    """The race that a person is in, if any. What is said and shown goes out through what it was given."""

    def __init__(
        self,
        client: Client,
        *,
        say: Callable[[str], None],
        page: Callable[[str], None],
        line: Callable[[str], None],
        place: Callable[[Game, str], Awaitable[None]],
    ) -> None:
        self._client = client
        self._say = say
        self._page = page
        self._line = line
        self._place = place
        self._race: Race | None = None
        self._seats: dict[int, RaceSeat] = {}
        self._starting: asyncio.Task[None] | None = None

    async def begin(self, race: Race) -> None:
        """Be in a race before there is any game: nothing else can be done until it starts."""
        self._take(race)
        try:
            await self._sit(race)
        except asyncio.CancelledError:
            # Nobody should wait for somebody who has gone.
            with contextlib.suppress(ChilkootError, TimeoutError):
                async with asyncio.timeout(1):
                    await race.leave()
            raise

    def enter(self, race: Race) -> None:
        """Be in a race from now on; its game comes to the table when it starts."""
        self.stop()
        self._take(race)
        if race.state == "over":
            self._page(standings_words(race))
        else:
            self._starting = asyncio.create_task(self._sit_later(race))

    def stop(self) -> None:
        """Wait for no start any more."""
        if self._starting is not None:
            self._starting.cancel()
            self._starting = None

    def hear(self, event: RaceMessage | RaceProgress) -> None:
        """Tell what happened in the race that we are in."""
        race = self._race
        if race is None or event.race != race.id:
            return
        before, self._seats = self._seats, dict(race.seats)
        if news := news_words(race, before):
            self._say(news)
        if isinstance(event, RaceMessage) and event.re is None:
            seconds = race.seconds_to_start
            if seconds is not None:
                self._say(f"All seats are taken: the cards are dealt in {seconds:.0f} seconds.")
            elif race.state == "over":
                rematch = " The others ask for another: `rematch`." if event.next is not None else ""
                self._page(standings_words(race))
                self._say(f"The race is over.{rematch}")
        self._line(line_words(race) if race.state == "running" else "")

    async def word(self, word: str) -> None:
        """Do what `standings` or `rematch` asks for."""
        if self._race is None:
            self._say("You are in no race; `race 2` makes one for two players.")
        elif word == "rematch":
            self.enter(await self._race.rematch())
        else:
            self._page(standings_words(self._race))

    def _take(self, race: Race) -> None:
        self._race, self._seats = race, dict(race.seats)
        if race.state == "waiting":
            self._say(invitation_words(race, self._client.url))

    async def _sit(self, race: Race) -> None:
        await self._place(await race.started(), "Go!")
        self._line(line_words(race))

    async def _sit_later(self, race: Race) -> None:
        try:
            await self._sit(race)
        except ChilkootError as failure:
            self._say(str(failure))
