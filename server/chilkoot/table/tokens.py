"""When a token opens an identity, and what takes its place: SHA-256 of it is kept, each use brings a new one.

The old token holds for 30 seconds or until the new one is used, since the reply that carries the new one may get lost.
"""

from __future__ import annotations

import hashlib
import hmac
from typing import Final, Literal

__all__ = ["OVERLAP_MS", "standing_of_token", "token_hash"]

OVERLAP_MS: Final = 30_000


def token_hash(token: str) -> bytes:
    """What is kept of a token."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


def standing_of_token(
    given: bytes, *, current: bytes | None, previous: bytes | None, previous_until_ms: int | None, now_ms: int
) -> Literal["current", "previous"] | None:
    """Whether a hash is that of the token in force, of the one before it (while that still holds), or of neither."""
    if current is not None and hmac.compare_digest(given, current):
        return "current"
    if (
        previous is not None
        and previous_until_ms is not None
        and hmac.compare_digest(given, previous)
        and now_ms <= previous_until_ms
    ):
        return "previous"
    return None
