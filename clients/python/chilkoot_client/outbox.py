"""Commands on their way: what has no reply yet, in the order in which it was asked for, and what is still to be sent.

After a lost connection everything without a reply goes out again in that order, with the same ids and the same content.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import deque
from collections.abc import Iterable
from typing import Any

from chilkoot_client.errors import Closed
from chilkoot_client.messages import Message

__all__ = ["Outbox", "Pending"]


class Pending:
    """A command that has no reply yet."""

    __slots__ = ("frame", "future", "id", "is_sent", "is_sent_again", "type")

    def __init__(self, number: int, kind: str, frame: dict[str, Any]) -> None:
        self.id = number
        self.type = kind
        self.frame = frame
        self.future: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        self.is_sent = False
        self.is_sent_again = False


class Outbox:
    """All commands of a session that wait, for the wire or for their reply."""

    def __init__(self) -> None:
        self._pending: dict[int, Pending] = {}
        self._unsent: deque[Pending] = deque()
        self._wake = asyncio.Event()
        # Ids must never repeat within a session, also where a program takes up a session after a restart of its own.
        self._last_id = secrets.randbelow(2**52)

    def next_id(self) -> int:
        """An id that was not used before."""
        self._last_id += 1
        return self._last_id

    def add(self, kind: str, fields: dict[str, Any]) -> Pending:
        """Queue a command; fields that are None are left out, a trailing ``_`` keeps a name from being a Python word."""
        pending = self.prepare(kind, fields)
        self._unsent.append(pending)
        self._wake.set()
        return pending

    def prepare(self, kind: str, fields: dict[str, Any]) -> Pending:
        """A command that waits for its reply and is not queued yet."""
        number = self.next_id()
        frame: dict[str, Any] = {"type": kind, "id": number}
        frame |= {name.rstrip("_"): value for name, value in fields.items() if value is not None}
        pending = self._pending[number] = Pending(number, kind, frame)
        return pending

    def find(self, number: int | None) -> Pending | None:
        """The command of that id, while it waits."""
        return None if number is None else self._pending.get(number)

    def forget(self, pending: Pending) -> None:
        """Nobody waits for a reply any more: the command is not sent (again)."""
        self._pending.pop(pending.id, None)
        if not pending.future.done():
            pending.future.cancel()

    def answer(self, number: int, message: Message) -> None:
        """Hand a reply to whoever waits for it."""
        pending = self._pending.pop(number, None)
        if pending is not None and not pending.future.done():
            pending.future.set_result(message)

    def requeue(self, first: Iterable[Pending]) -> None:
        """A new connection: these go out first, then all that has no reply."""
        before = [*first]
        ahead = {pending.id for pending in before}
        self._unsent = deque([*before, *(one for one in self._pending.values() if one.id not in ahead)])
        self._wake.set()

    async def next(self) -> Pending:
        """The next command to send; it stays queued until `sent`."""
        while True:
            while self._unsent and self._unsent[0].future.done():
                self._unsent.popleft()
            if self._unsent:
                return self._unsent[0]
            self._wake.clear()
            await self._wake.wait()

    def sent(self, pending: Pending) -> None:
        """A command goes out."""
        if self._unsent and self._unsent[0] is pending:
            self._unsent.popleft()
        pending.is_sent_again, pending.is_sent = pending.is_sent, True

    def fail_sent(self, why: str) -> None:
        """What was sent and not answered will never be: whoever waits is told that its fate is unknown."""
        for pending in [*self._pending.values()]:
            if pending.is_sent and not pending.future.done():
                del self._pending[pending.id]
                pending.future.set_exception(
                    Closed(f"{why}; {pending.type} may or may not have been carried out")
                )

    def fail_all(self, reason: str, code: int | None) -> None:
        """Nothing will be answered any more."""
        for pending in self._pending.values():
            if not pending.future.done():
                pending.future.set_exception(Closed(reason, code=code))
        self._pending.clear()
        self._unsent.clear()
