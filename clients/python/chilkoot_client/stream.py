"""Events on their way to someone who reads them when they have time."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Final, Generic, Self, TypeVar

from chilkoot_client.errors import Closed

__all__ = ["LONGEST", "Stream"]

LONGEST: Final = 10_000
"""How many events may wait for their reader."""

Item = TypeVar("Item")


class Stream(Generic[Item]):
    """An asynchronous iterator that somebody else fills.

    A reader that falls more than `LONGEST` events behind gets Closed in their place: nothing is dropped in silence, and
    a forgotten reader cannot fill the memory.
    """

    def __init__(self) -> None:
        self._items: deque[Item] = deque()
        self._wake = asyncio.Event()
        self._end: Closed | None = None
        self._is_over = False

    def push(self, item: Item) -> None:
        """Add an event; nothing happens once the stream is over."""
        if self._is_over:
            return
        if len(self._items) >= LONGEST:
            self._items.clear()
            self.end(Closed(f"events were left unread until more than {LONGEST} waited"))
            return
        self._items.append(item)
        self._wake.set()

    def end(self, why: Closed | None = None) -> None:
        """Let the reader finish what waits, then stop, with `why` raised if it is given."""
        if not self._is_over:
            self._is_over = True
            self._end = why
            self._wake.set()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Item:
        while not self._items:
            if self._is_over:
                if self._end is not None:
                    raise self._end
                raise StopAsyncIteration
            self._wake.clear()
            await self._wake.wait()
        return self._items.popleft()
