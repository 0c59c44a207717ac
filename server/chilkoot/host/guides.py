"""How-to-play pages: each made once, in a thread, for it takes some hundredths of a second."""

from __future__ import annotations

import asyncio
from typing import NamedTuple

from chilkoot.guide import as_html, as_markdown, guide_to
from chilkoot.host.ledger import Ledger
from chilkoot.language import Variant

__all__ = ["Guide", "Guides"]


class Guide(NamedTuple):
    """How a variant is played, as Markdown and as a page."""

    text: str
    page: str


class Guides:
    """The pages that were asked for so far; no more of them than there are variants."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._made: dict[str, tuple[Variant, Guide]] = {}
        # One after the other: a flood of questions for pages that nobody asked for yet must not take all threads.
        self._making = asyncio.Lock()

    async def of(self, variant: Variant) -> Guide:
        """The guide to a variant, made anew when its rules have changed."""
        if (made := self._found(variant)) is None:
            async with self._making:
                if (made := self._found(variant)) is None:
                    made = await self._ledger.ask(_make, variant)
                    self._made[variant.id] = (variant, made)
        return made

    def _found(self, variant: Variant) -> Guide | None:
        kept, made = self._made.get(variant.id, (None, None))
        return made if kept is variant else None


def _make(variant: Variant) -> Guide:
    page = guide_to(variant)
    return Guide(as_markdown(page), as_html(page, source=variant.text, home="/"))
