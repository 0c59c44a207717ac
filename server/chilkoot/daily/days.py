"""Which day a moment belongs to. Dates are UTC and nothing else: no zone, no summer time, no calendar of the machine.

A date is its text, ``2026-11-29``: it sorts as days do, and is what a database, a client and a person are told.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

__all__ = [
    "ANNOUNCED_DAYS",
    "DAY_MS",
    "GRACE_MS",
    "RENEWAL_DAYS",
    "closes_ms",
    "date_after",
    "day_of",
    "days_between",
    "opens_ms",
    "read_date",
    "reveals_ms",
    "streaks",
    "week_of",
]

DAY_MS: Final = 86_400_000

GRACE_MS: Final = 6 * 3_600_000
"""After the day its key stays secret for so long: for games that were begun before midnight and count for their day."""

ANNOUNCED_DAYS: Final = 7
"""How many days ahead a day's rules and the hash of its seed are published."""

RENEWAL_DAYS: Final = 30
"""How many days before a season ends the root of the next one is published."""

_DATE: Final = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})", re.ASCII)
_LAST: Final = 2_932_896
"""9999-12-31, the last day that this way of writing has."""


def day_of(ms: int) -> str:
    """The date of a moment, in milliseconds since 1970."""
    return _text(ms // DAY_MS)


def read_date(text: str) -> str | None:
    """The date that a text is; None for what is no date between 1970 and 9999."""
    match = _DATE.fullmatch(text)
    if match is None or not (1 <= int(match[2]) <= 12 and 1 <= int(match[3]) <= 31 and int(match[1]) >= 1970):
        return None
    # The 31st of a short month would come back as another day.
    return text if _text(_number(text)) == text else None


def date_after(date: str, days: int) -> str:
    """The date so many days later, or earlier; never beyond those that can be written."""
    return _text(_number(date) + days)


def days_between(first: str, last: str) -> int:
    """How many days later the second date is."""
    return _number(last) - _number(first)


def week_of(date: str) -> str:
    """The Monday of the week that a date lies in."""
    number = _number(date)
    # 1970-01-01 was a Thursday; the days before the first Monday belong to the first day there is.
    return _text(max(0, number - (number + 3) % 7))


def opens_ms(date: str) -> int:
    """When a day begins."""
    return _number(date) * DAY_MS


def closes_ms(date: str) -> int:
    """When a day ends: nobody begins its daily any more."""
    return opens_ms(date) + DAY_MS


def reveals_ms(date: str) -> int:
    """When a day's key, deals and recordings are told, and what is still played counts no longer."""
    return closes_ms(date) + GRACE_MS


def streaks(won: Iterable[str], today: str) -> tuple[int, int]:
    """Of days won, in any order: how many in a row up to today, or to yesterday; and the longest row there was."""
    days = sorted({_number(date) for date in won if date <= today})
    longest = row = 0
    before: int | None = None
    for day in days:
        row = row + 1 if before is not None and day == before + 1 else 1
        longest = max(longest, row)
        before = day
    is_going_on = before is not None and _number(today) - before <= 1
    return (row if is_going_on else 0), longest


def _number(date: str) -> int:
    """Days since 1970-01-01 of a date in the Gregorian calendar."""
    year, month, day = int(date[:4]), int(date[5:7]), int(date[8:10])
    # A year that begins in March has its leap day at its end.
    year -= month <= 2
    day_of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    return 365 * year + year // 4 - year // 100 + year // 400 + day_of_year - 719_468


def _text(number: int) -> str:
    number = max(0, min(number, _LAST)) + 719_468
    era, day = divmod(number, 146_097)
    year = (day - day // 1460 + day // 36_524 - day // 146_096) // 365
    day -= 365 * year + year // 4 - year // 100
    month = (5 * day + 2) // 153
    day -= (153 * month + 2) // 5
    year += 400 * era + (month >= 10)
    return f"{year:04d}-{month + 3 if month < 10 else month - 9:02d}-{day + 1:02d}"
