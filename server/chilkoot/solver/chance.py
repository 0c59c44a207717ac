"""Chance numbers that are the same everywhere: what a search or a policy does by chance, it does again from the same seed."""

from __future__ import annotations

from collections.abc import Iterator

__all__ = ["numbers_from"]


def numbers_from(seed: int) -> Iterator[int]:
    """Numbers of 64 bits without end, by splitmix64."""
    while True:
        seed = (seed + 0x9E3779B97F4A7C15) & (2**64 - 1)
        mixed = ((seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9) & (2**64 - 1)
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & (2**64 - 1)
        yield mixed ^ (mixed >> 31)
