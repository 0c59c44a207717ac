"""Analyses of games that are over: made bit by bit by the process that searches, kept on record, made once.

Whoever asks waits a moment; where that was not enough the analysis goes on, and is there when they ask again. Between two
bits whoever waits for a game has their turn.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Final

import msgspec

from chilkoot.host.ledger import Ledger
from chilkoot.host.searcher import Searcher, Urgency
from chilkoot.record import PutAnalysis, StoredGame
from chilkoot.solver.analysis import Analysis, analyse
from chilkoot.solver.certify import REVISION

__all__ = ["Analyst", "Progress"]

_PATIENCE: Final = 1.0
"""Seconds for which one who asks is kept waiting."""

_BIT: Final = 60_000
"""Positions the search opens before others have their turn: a second at most."""

_AT_ONCE: Final = 16
"""Games that may be waiting for their analysis."""

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Analysis).decode


class Progress(msgspec.Struct, frozen=True):
    """An analysis that is not ready: of so many positions so many are settled; none of it is begun where there is no room."""

    settled: int
    positions: int


class Analyst:
    """Makes analyses, each once however many ask for it."""

    def __init__(self, ledger: Ledger, searcher: Searcher, *, positions: int) -> None:
        self._ledger = ledger
        self._searcher = searcher
        self._positions = positions
        self._tasks: dict[str, asyncio.Task[Analysis]] = {}
        self._settled: dict[str, int] = {}

    @property
    def is_on(self) -> bool:
        """Whether analyses are made at all."""
        return bool(self._positions)

    async def analysis_of(self, stored: StoredGame) -> Analysis | Progress:
        """The analysis of a game that is closed, or how far it is. Raises StoreFault, SearchFailed."""
        game, places = stored.header.id, stored.header.seq + 1
        kept = await self._ledger.ask(self._ledger.reader.analysis, game, REVISION)
        if kept is not None:
            return _decode(kept)
        task = self._tasks.get(game)
        if task is None:
            if len(self._tasks) >= _AT_ONCE:
                return Progress(0, places)
            task = self._tasks[game] = asyncio.create_task(self._make(stored))
            task.add_done_callback(lambda done: self._ended(game, done))
        await asyncio.wait((task,), timeout=_PATIENCE)
        return task.result() if task.done() else Progress(self._settled.get(game, 0), places)

    async def _make(self, stored: StoredGame) -> Analysis:
        game, actions = stored.header.id, [one.text for one in stored.actions]
        used = 0
        found = Analysis((), None, (), 0)
        while not found.verdicts or not found.is_whole:
            found = await self._searcher.ask(
                Urgency.READER,
                None,
                analyse,
                stored.rules,
                stored.header.deal,
                actions,
                positions=max(self._positions - used, 0),
                most=_BIT,
                known=found.verdicts,
            )
            used += found.positions
            self._settled[game] = len(found.verdicts) - found.verdicts.count(None)
        found = replace(found, positions=used)
        await self._ledger.commit((PutAnalysis(game=game, solver=REVISION, body=_encode(found)),))
        return found

    def _ended(self, game: str, task: asyncio.Task[Analysis]) -> None:
        del self._tasks[game]
        self._settled.pop(game, None)
        # Those who wait for it hear of what went wrong; where nobody does any more, the next one asks anew.
        if not task.cancelled():
            task.exception()
