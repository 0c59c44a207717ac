"""What the server would do on a table: asked of a process of its own, which is told what the player sees and nothing else.

That process is started a while after the server, or when it is first wanted, and reads or compiles what it needs before it is
asked anything. Until then, and where it has no answer in time, the first policy answers. So which of the two did may depend on
how busy the machine is, but on nothing that lies face down: neither is told it.
"""

from __future__ import annotations

import asyncio
from typing import Final

from chilkoot.engine import Game
from chilkoot.host.ledger import Ledger
from chilkoot.host.log import log
from chilkoot.host.searcher import Searcher, SearchFailed, Urgency
from chilkoot.solver import Advice, advise, sight_of
from chilkoot.solver.remote import foresee, get_ready

__all__ = ["Adviser"]

_AGAIN_SECONDS: Final = 60
"""How long the process is left alone after it failed."""


class Adviser:
    """Finds advice on games within a fixed time."""

    def __init__(self, ledger: Ledger, *, ms: float) -> None:
        self._ledger = ledger
        self._seconds = ms / 1000
        self._searcher = Searcher(niceness=5)
        self._loop = asyncio.get_running_loop()
        self._warming: asyncio.Task[None] | None = None
        self._not_before = 0.0
        self.is_ready = False

    async def look_after(self, *, after: float) -> None:
        """Get the process ready, from so many seconds on."""
        await asyncio.sleep(after)
        self.warm_up()

    def warm_up(self) -> asyncio.Task[None] | None:
        """Begin to get the process ready, where that is wanted and not under way; the task that does it."""
        is_wanted = self._seconds and not self.is_ready and self._loop.time() >= self._not_before
        if is_wanted and (self._warming is None or self._warming.done()):
            self._warming = asyncio.create_task(self._warm_up())
        return self._warming

    async def _warm_up(self) -> None:
        try:
            await self._searcher.ask(Urgency.STORE, None, get_ready)
        except (SearchFailed, ImportError, OSError) as failure:
            self._failed(failure)
        else:
            self.is_ready = True

    def _failed(self, failure: Exception) -> None:
        log.warning("the process that advises failed, the first policy answers: %s", failure)
        self.is_ready = False
        self._not_before = self._loop.time() + _AGAIN_SECONDS

    async def advise(self, game: Game) -> Advice:
        """What to do in a game, as soon as it is found. The game must not change meanwhile."""
        self.warm_up()
        if self.is_ready:
            try:
                async with asyncio.timeout(self._seconds):
                    sight = await self._ledger.ask(sight_of, game)
                    found = await self._searcher.ask(Urgency.PLAYER, None, foresee, sight)
                if found is not None:
                    return found
            except TimeoutError:
                pass
            except SearchFailed as failure:
                self._failed(failure)
        return await self._ledger.ask(advise, game)

    async def advise_on_time(self, game: Game) -> Advice:
        """What to do in a game, told at a fixed time after it was asked: how long it took to find says nothing."""
        due = self._loop.time() + self._seconds
        advice = await self.advise(game)
        await asyncio.sleep(due - self._loop.time())
        return advice

    def close(self) -> None:
        """End the process."""
        if self._warming is not None:
            self._warming.cancel()
        self._searcher.close()
