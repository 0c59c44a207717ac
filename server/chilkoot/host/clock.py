"""Time and chance, the two things that the rooms below are given as arguments."""

from __future__ import annotations

import secrets
import time
from typing import Final

from chilkoot.table import Entropy

__all__ = ["Clock", "fresh_entropy", "fresh_id", "fresh_token"]

_LETTERS: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


# What a machine slept through counts: on Linux its monotonic clock alone leaves that out, and a server on a laptop would go on
# with the day on which the lid was closed.
_STEADY: Final = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


class Clock:
    """The wall clock as it was when the server started, carried on by one that never jumps."""

    def __init__(self) -> None:
        self._offset = time.time() - time.clock_gettime(_STEADY)

    def ms(self) -> int:
        """Milliseconds since 1970, UTC; never less than before."""
        return int((time.clock_gettime(_STEADY) + self._offset) * 1000)


def fresh_id() -> str:
    """An id nobody can guess: 131 bits, letters and digits only, so that a double click selects it."""
    # Drawn at once: a letter at a time would be 22 system calls, and a connection needs two ids.
    number = secrets.randbelow(len(_LETTERS) ** 22)
    letters = []
    for _ in range(22):
        number, letter = divmod(number, len(_LETTERS))
        letters.append(_LETTERS[letter])
    return "".join(letters)


def fresh_token() -> str:
    """A secret of 256 bits."""
    return secrets.token_urlsafe(32)


def fresh_entropy() -> Entropy:
    """What one new game needs."""
    return Entropy(game=fresh_id(), key=fresh_id(), watch_key=fresh_id(), deal=secrets.token_hex(32))
