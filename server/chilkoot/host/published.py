"""What is published of a day, as one JSON object for whoever wants to check it: ``/daily/DATE.json``.

Before the day opens it has what was announced; from then on the nonce of each deal; and when the day is revealed, key, deals, boards and
solutions. ``docs/daily.md`` says what follows from what.
"""

from __future__ import annotations

from typing import Any

import msgspec

from chilkoot.daily import closes_ms, opens_ms, read_date, reveals_ms
from chilkoot.engine import Game
from chilkoot.host.almanac import Almanac, Revealed
from chilkoot.language.rules import from_canonical
from chilkoot.record import Reader, StoredDaily

__all__ = ["FORMAT", "publish", "published"]

FORMAT = "chilkoot-daily/1"


async def published(almanac: Almanac, reader: Reader, date: str, *, ask: Any, now_ms: int) -> bytes | None:
    """The file of a day; None where there is nothing to tell of it yet. Raises StoreFault."""
    if read_date(date) is None:
        return None
    dailies = await ask(reader.days.dailies, date)
    if not dailies:
        return None
    told = [(one, await almanac.revealed(one), await ask(reader.rules, one.rules_hash)) for one in dailies]
    file: bytes = await ask(publish, told, now_ms)
    return file


def publish(told: list[tuple[StoredDaily, Revealed | None, str]], now_ms: int) -> bytes:
    """The file of a day's deals, each with what may be told of it and its rules. Deals the boards."""
    first = told[0][0]
    season = first.season
    # A deal that was never chosen has nothing to reveal; the day's key is the same for all.
    revealed = next((one for _, one, _ in told if one is not None), None)
    file: dict[str, Any] = {
        "format": FORMAT,
        "date": first.date,
        "opens": opens_ms(first.date),
        "closes": closes_ms(first.date),
        "reveals": reveals_ms(first.date),
        "now": now_ms,
        "season": {
            "first": season.first,
            "days": season.days,
            "root": season.root.hex(),
            "published": season.published_ms,
        },
        "day": first.day,
        "key": None if revealed is None else revealed.key.hex(),
        "dailies": [_entry(*one, is_open=now_ms >= opens_ms(first.date)) for one in told],
    }
    return msgspec.json.encode(file)


def _entry(daily: StoredDaily, revealed: Revealed | None, rules: str, *, is_open: bool) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "variant": daily.variant,
        "level": daily.level,
        "rules_hash": daily.rules_hash,
        "rules": rules,
        "beacon": daily.beacon,
        "seed": daily.seed_hash.hex(),
        "announced": daily.announced_ms,
    }
    if is_open and daily.nonce is not None:
        entry |= {
            "proof": daily.proof,
            "nonce": daily.nonce,
            "solver": daily.solver,
            "positions": daily.positions,
            "solution_hash": None if daily.solution_hash is None else daily.solution_hash.hex(),
        }
    if revealed is not None:
        entry |= {
            "deal": revealed.deal,
            "board": Game.start(from_canonical(rules), revealed.deal).board(),
            "solution": None if revealed.solution is None else revealed.solution.splitlines(),
        }
    return entry
