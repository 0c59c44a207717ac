"""When a token opens an identity, and what takes its place: SHA-256 of it is kept, a resume brings a new one.

The reply that carries a new token may get lost, and nobody can tell after how long its player comes back with the old one.
So the old token holds until the new one was used, and for 30 seconds in any case, since two tabs may start at once.
"""

from __future__ import annotations

import hashlib
import hmac
from typing import Final, Literal

import msgspec

__all__ = ["OVERLAP_MS", "Tokens", "token_hash"]

OVERLAP_MS: Final = 30_000


def token_hash(token: str) -> bytes:
    """What is kept of a token."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


class Tokens(msgspec.Struct, frozen=True):
    """The hashes of a player's token and of the one before it.

    `previous_until_ms` is set once the current one was used: then the previous one holds that long, before without limit.
    """

    current: bytes | None
    previous: bytes | None = None
    previous_until_ms: int | None = None

    def standing(self, given: bytes, now_ms: int) -> Literal["current", "previous"] | None:
        """Whether a hash is that of the token in force, of the one before it (while that still holds), or of neither."""
        if self.current is not None and hmac.compare_digest(given, self.current):
            return "current"
        is_previous = self.previous is not None and hmac.compare_digest(given, self.previous)
        holds = self.previous_until_ms is None or now_ms <= self.previous_until_ms
        return "previous" if is_previous and holds else None

    def used(self, now_ms: int, *, replaced_ms: int | None) -> Tokens | None:
        """After a use of the current token: what holds where it stays in force; None where its time has come to be replaced.

        It is not replaced within 30 seconds of having replaced another (at `replaced_ms`; None where that is not known any
        more), for then three would have to hold.
        """
        if self.previous is None:
            return None
        until = self.previous_until_ms
        if until is None:
            until = (now_ms if replaced_ms is None else replaced_ms) + OVERLAP_MS
        return None if now_ms > until else Tokens(self.current, self.previous, until)

    def replaced(self, new: bytes, given: bytes) -> Tokens:
        """After the token `given` was answered with a new one: of the two until now the one that surely arrived stays."""
        is_current_used = self.previous is None or self.previous_until_ms is not None
        return Tokens(new, self.current if is_current_used else given)
