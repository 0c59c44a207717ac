"""When to send and when to connect again: pure arithmetic, no clock and no chance of its own."""

from __future__ import annotations

from typing import Final

__all__ = ["FINAL_CODES", "Bucket", "reconnect_delay"]

FINAL_CODES: Final = frozenset({1003, 1008, 1009, 4002, 4005})
"""Close codes after which connecting again cannot help."""

_NOT_AT_ONCE: Final = frozenset({1012, 1013, 4008})
_FIRST_DELAY: Final = 1.0
_LONGEST_DELAY: Final = 30.0


class Bucket:
    """A token bucket like the server's own, so that a well-behaved client is never told that it is too fast."""

    def __init__(self, rate: float, burst: float, now: float) -> None:
        self._rate = rate
        self._burst = max(burst, 1.0)
        self._level = self._burst
        self._then = now

    def take(self, now: float) -> float:
        """Take one token; the seconds to wait before using it."""
        if self._rate <= 0:
            return 0.0
        self._level = min(self._burst, self._level + (now - self._then) * self._rate)
        self._then = now
        self._level -= 1
        return max(0.0, -self._level / self._rate)


def reconnect_delay(attempt: int, *, code: int | None, announced: float | None, chance: float) -> float:
    """Seconds to wait before attempt number `attempt` (from 0); `chance` is a random number in [0, 1).

    Full jitter: a thousand clients which lost one server must not come back as one. After a restart (1012), an overload
    (1013), or as one who was too slow or too fast (4008) at least a second; never before the time that was announced.
    """
    if code in _NOT_AT_ONCE and attempt == 0:
        delay = 1.0 + 9.0 * chance
    else:
        delay = min(_LONGEST_DELAY, _FIRST_DELAY * 2.0 ** min(attempt, 10)) * chance
    return delay if announced is None else announced + delay
