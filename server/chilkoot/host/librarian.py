"""The one task that looks after the folders of rules: new and changed files count for new games from the next look on.

A file that is broken now is told of once, and the last good variant stays. Games that run keep the rules they began with,
games on record those that are stored with them; neither is this task's affair.
"""

from __future__ import annotations

import asyncio
from typing import Final

from chilkoot.host.house import House
from chilkoot.host.log import log
from chilkoot.library import Changes, Library

__all__ = ["look_after", "tell_variants"]

LOOK_SECONDS: Final = 1.0


def tell_variants(library: Library) -> None:
    """Compile every variant before anybody waits for one, and say what is wrong with those that do not."""
    for said in library.errors:
        log.warning("%s", said)
    log.info("%d variants", len(library.variants()))


async def look_after(house: House) -> None:
    """Look at the folders again and again until cancelled."""
    trouble = ""
    while True:
        await asyncio.sleep(LOOK_SECONDS)
        try:
            # In a thread: a folder may be on a disk that is slow today.
            changes = await house.ledger.ask(house.library.refresh)
        except OSError as error:
            if str(error) != trouble:
                trouble = str(error)
                log.warning(
                    "the folders of rules can't be looked at, all variants stay as they are: %s", error
                )
        except Exception:  # noqa: BLE001 - logged; the next look comes
            log.exception("a look at the folders of rules failed")
        else:
            trouble = ""
            _tell(changes, house.library)


def _tell(changes: Changes, library: Library) -> None:
    for said in changes.diagnostics:
        log.warning("%s", said)
    for one in changes.broken:
        stays = "the last good version stays" if library.variant(one) is not None else "it is not offered"
        log.warning("variant %s is broken, %s", one, stays)
    for word, variants in (
        ("new", changes.added),
        ("changed", changes.changed),
        ("removed", changes.removed),
    ):
        for one in variants:
            log.info("variant %s is %s", one, word)
    for one in changes.mended:
        if one not in changes.changed:
            log.info("variant %s is in order again", one)
