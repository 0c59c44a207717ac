"""From a season's secret to a day's deal. ``docs/daily.md`` specifies every byte; never change what is hashed.

A key fixes all keys before it and tells none after it: ``key(d − 1) = SHA-256(key(d))``. The root, ``key(0)``, is published when the
season is made, and commits to every day of it.
"""

from __future__ import annotations

import hmac
from hashlib import sha256
from typing import Final

__all__ = [
    "NONCES",
    "SEASON_DAYS",
    "Secret",
    "deal_of",
    "key_of_day",
    "root_of",
    "seed_commitment",
    "seed_of",
    "solution_hash",
]

SEASON_DAYS: Final = 365

NONCES: Final = 100
"""How many candidates are searched before a day goes without a proof."""


class Secret:
    """Bytes that never show in a log, a traceback or a test's output."""

    __slots__ = ("_bytes",)

    def __init__(self, data: bytes) -> None:
        self._bytes = data

    def tell(self) -> bytes:
        """The bytes; whoever calls this answers for where they go."""
        return self._bytes

    def __repr__(self) -> str:
        return "Secret(…)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and hmac.compare_digest(self._bytes, other._bytes)

    def __hash__(self) -> int:
        return hash(self._bytes)

    def __reduce__(self) -> str:
        raise TypeError("a secret is not pickled")


def key_of_day(tip: Secret, days: int, day: int) -> Secret:
    """The key of day 1 … `days` of the season whose last key is `tip`; of day 0 it is the root."""
    if not 0 <= day <= days:
        raise ValueError(f"a season of {days} days has no day {day}")
    key = tip.tell()
    for _ in range(days - day):
        key = sha256(key).digest()
    return Secret(key)


def root_of(tip: Secret, days: int) -> bytes:
    """What is published of a season."""
    return key_of_day(tip, days, 0).tell()


def seed_of(
    key: Secret, *, date: str, variant: str, level: int | None, rules_hash: str, beacon: str
) -> Secret:
    """The seed of one game's deal on one day."""
    fields = ("daily/1", date, variant, "" if level is None else str(level), rules_hash, beacon)
    return Secret(hmac.digest(key.tell(), "\0".join(fields).encode(), "sha256"))


def seed_commitment(seed: Secret) -> bytes:
    """What is announced of a seed."""
    return sha256(seed.tell()).digest()


def deal_of(seed: Secret, nonce: int) -> Secret:
    """The text, as bytes, of the deal that a nonce gives: ``ck:`` and 64 hex digits."""
    key = hmac.digest(seed.tell(), b"daily-deal/1\0" + nonce.to_bytes(8, "big"), "sha256")
    return Secret(b"ck:" + key.hex().encode())


def solution_hash(seed: Secret, line: str) -> bytes:
    """What is told of a solution before the end; the seed in it makes it useless for trying out where cards may lie."""
    return sha256(b"daily-solution/1\0" + seed.tell() + b"\0" + line.encode()).digest()
