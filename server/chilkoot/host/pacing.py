"""How fast one connection may ask: token buckets."""

from __future__ import annotations

__all__ = ["Bucket", "Pace"]


class Bucket:
    """A bucket that fills at `rate` a second up to `burst`; a rate or burst of 0 is no limit."""

    __slots__ = ("burst", "level", "rate", "then")

    def __init__(self, rate: float, burst: float, now: float) -> None:
        self.rate = rate
        self.burst = burst
        self.level = burst
        self.then = now

    def take(self, now: float) -> float:
        """Take one; 0 where there was one, else the seconds until there is."""
        if not self.rate or not self.burst:
            return 0.0
        level = min(self.burst, self.level + (now - self.then) * self.rate)
        self.then = now
        if level >= 1:
            self.level = level - 1
            return 0.0
        self.level = level
        return (1 - level) / self.rate


class Pace:
    """All commands of a connection, and how many were refused without a pause: one is forgiven with each that was not."""

    __slots__ = ("_bucket", "_flood", "_refused")

    def __init__(self, rate: float, burst: float, flood: float, now: float) -> None:
        self._bucket = Bucket(rate, burst, now)
        self._flood = max(0.0, flood - burst) if flood else float("inf")
        self._refused = 0

    def take(self, now: float) -> float:
        """Take one; 0 where there was one, else the seconds until there is."""
        wait = self._bucket.take(now)
        if wait:
            self._refused += 1
        elif self._refused:
            self._refused -= 1
        return wait

    @property
    def is_flood(self) -> bool:
        """Whether this is no client that is a little fast, but one that does not listen."""
        return self._refused > self._flood
