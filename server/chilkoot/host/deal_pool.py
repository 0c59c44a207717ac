"""Deals that are certified before anybody asks for one, kept on record, so that a game that wants one begins at once.

Each is drawn by chance like any fresh deal, and as secret: its text is in this process, on record and in the process that
searches, and reaches nobody before the game that took it is over. A game takes its deal in the transaction that puts the
game on record, so a crash neither loses a deal nor deals it twice.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Iterable
from typing import Final

from chilkoot.host.certifier import Certifier, CertifierFailed
from chilkoot.host.clock import Clock
from chilkoot.host.ledger import Ledger
from chilkoot.host.log import log
from chilkoot.language.rules import Level, canonical_text
from chilkoot.library import Library
from chilkoot.record import AddCertified, FreeDeal, PutRules, StoreFault
from chilkoot.solver.certify import REVISION

__all__ = ["DealPool"]

_PATIENCE: Final = 100
"""Deals in a row without a line after which rules are left alone until somebody asks for them again."""

_LOOK_SECONDS: Final = 60
"""How often it is looked whether something is missing that nobody here took: another server may use the same record."""


class DealPool:
    """The free deals of each game that deals them, and the task that adds what is missing."""

    def __init__(
        self, ledger: Ledger, library: Library, certifier: Certifier, clock: Clock, *, deals: int, games: int
    ) -> None:
        self._ledger = ledger
        self._library = library
        self._certifier = certifier
        self._clock = clock
        self._deals = deals
        self._games = games
        self._promised: set[str] = set()
        self._asked: dict[str, None] = {}
        """Hashes of rules that somebody wanted a winnable deal of, the last one last."""
        self._hopeless: dict[str, int] = {}
        self._news = asyncio.Event()

    async def promise(self, level: Level) -> FreeDeal | None:
        """A free deal for a game that is about to be put on record; None where there is none. To be let go of afterwards."""
        self._asked.pop(level.hash, None)
        self._asked[level.hash] = None
        self._hopeless.pop(level.hash, None)
        self._news.set()
        while True:
            found = await self._ledger.ask(
                self._ledger.reader.free_deal, level.hash, but=frozenset(self._promised)
            )
            # Somebody else may have been quicker while this waited.
            if found is None or found.deal not in self._promised:
                break
        if found is not None:
            self._promised.add(found.deal)
        return found

    def let_go(self, deal: str) -> None:
        """The game that a deal was promised to is on record, or will not be."""
        self._promised.discard(deal)
        self._news.set()

    async def look_after(self, *, after: float) -> None:
        """Add what is missing, from so many seconds on, until cancelled."""
        if not self._deals or not self._certifier.is_on:
            return
        # Who has just started is busy, and whoever starts a server for a moment needs no deals for later.
        await asyncio.sleep(after)
        while True:
            try:
                known = await self._ledger.ask(self._ledger.reader.certified_rules)
                self._asked = dict.fromkeys([*(one for one in known if one not in self._asked), *self._asked])
                break
            except StoreFault:
                await asyncio.sleep(_LOOK_SECONDS)
        while True:
            self._news.clear()
            try:
                is_full = not await self._add_one()
            except (StoreFault, CertifierFailed) as failure:
                log.warning("no deal was kept for later: %s", failure)
                is_full = True
            except Exception:  # noqa: BLE001 - logged; the next look comes
                log.exception("a deal for later was not found")
                is_full = True
            if is_full:
                try:
                    async with asyncio.timeout(_LOOK_SECONDS):
                        await self._news.wait()
                except TimeoutError:
                    pass

    async def _add_one(self) -> bool:
        """Look for one deal of the rules that have fewest; False where nothing is missing."""
        levels = self._wanted()
        counts = {
            one.hash: await self._ledger.ask(self._ledger.reader.free_count, one.hash) for one in levels
        }
        short = [one for one in levels if counts[one.hash] < self._deals]
        if not short:
            return False
        level = min(short, key=lambda one: counts[one.hash])
        rules, deal = canonical_text(level.rules), f"ck:{secrets.token_hex(32)}"
        began = self._clock.ms()
        found = await self._certifier.graded(rules, deal)
        if found is None:
            missed = self._hopeless[level.hash] = self._hopeless.get(level.hash, 0) + 1
            if missed == _PATIENCE:
                log.info("of %d deals none was found to be winnable; no more are tried", missed)
        else:
            self._hopeless.pop(level.hash, None)
            assert found.difficulty is not None
            kept = AddCertified(
                rules_hash=level.hash,
                deal=deal,
                solver=REVISION,
                positions=found.positions,
                actions=len(found.line),
                difficulty=found.difficulty.level,
                found_ms=self._clock.ms(),
            )
            if (
                fault := await self._ledger.commit((PutRules(hash=level.hash, text=rules), kept))
            ) is not None:
                raise fault
        # At most half of a core, whatever there is to do.
        await asyncio.sleep((self._clock.ms() - began) / 1000)
        return True

    def _wanted(self) -> list[Level]:
        """The rules for which deals are kept: those that ask for it themselves, and those that players asked for last."""
        levels = {level.hash: level for one in self._library.variants() for level in one.levels}
        by_policy = [one for one, level in levels.items() if level.rules.deal_policy.winnable != "none"]
        hashes = dict.fromkeys([*by_policy, *_newest(self._asked)])
        wanted = [levels[one] for one in hashes if one in levels]
        wanted = [one for one in wanted if self._hopeless.get(one.hash, 0) < _PATIENCE]
        return wanted[: self._games] if self._games else wanted


def _newest(hashes: Iterable[str]) -> list[str]:
    return list(hashes)[::-1]
