"""Deals that are certain to be winnable: asked of the search while a player waits, or ahead of time.

Budgets are positions, so that a deal has the same answer on every machine. Where the search has no answer in time the game
begins all the same, and says that its deal is not proved.
"""

from __future__ import annotations

from collections.abc import Sequence

from chilkoot.config import Limits
from chilkoot.host.searcher import Searcher, SearchFailed, Urgency
from chilkoot.solver.certify import CERTIFY_POSITIONS, Certificate, certify, first_winnable

__all__ = ["Certifier", "CertifierFailed"]


class CertifierFailed(Exception):  # noqa: N818 - what failed was the asking: nothing is known of the deal
    """A search ended without an answer."""


class Certifier:
    """Asks the search about deals."""

    def __init__(self, searcher: Searcher, limits: Limits) -> None:
        self._searcher = searcher
        self._seconds = limits.certify_seconds
        self._positions = limits.certify_positions or 10**12

    @property
    def is_on(self) -> bool:
        """Whether deals are searched at all."""
        return bool(self._seconds)

    async def first_winnable(self, rules: str, deals: Sequence[str]) -> int | None:
        """The place of the first of these deals for which a winning line was found in time; None where there is none."""
        if not self.is_on:
            return None
        try:
            return await self._searcher.ask(
                Urgency.PLAYER, self._seconds, first_winnable, rules, list(deals), self._positions
            )
        except (TimeoutError, SearchFailed):
            return None

    async def certificate(self, rules: str, deal: str) -> Certificate | None:
        """The certificate of the deal of a day, however long that takes; None where it has none. Raises CertifierFailed.

        What a limit says has no part in it: anybody can search the same number of positions.
        """
        try:
            return await self._searcher.ask(Urgency.DAY, None, certify, rules, deal, CERTIFY_POSITIONS)
        except SearchFailed as failure:
            raise CertifierFailed("the search ended without an answer") from failure

    async def graded(self, rules: str, deal: str) -> Certificate | None:
        """The certificate of a deal for later, with its difficulty; None where it has none. Raises CertifierFailed."""
        try:
            return await self._searcher.ask(
                Urgency.STORE, None, certify, rules, deal, self._positions, difficulty=True
            )
        except SearchFailed as failure:
            raise CertifierFailed("the search ended without an answer") from failure
