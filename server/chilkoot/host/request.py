"""One command being dealt with: who asked, and every way in which it can be answered."""

from __future__ import annotations

from typing import Any

from chilkoot.host.connection import Connection
from chilkoot.host.house import House
from chilkoot.host.hub import diff_of
from chilkoot.record import PutReply, StoreFault, StoreFull, Unwritable, Write
from chilkoot.table import Kept
from chilkoot.wire import CloseCode, Command, ErrorCode, Message, content_hash, encode, with_re
from chilkoot.wire.messages import Error, Refused
from chilkoot.wire.replies import error

__all__ = ["Ended", "Request"]


class Ended(Exception):  # noqa: N818 - an end, not an error
    """The connection is to be closed with a code."""

    def __init__(self, code: CloseCode, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


class Request:
    """A command on its way to its one reply.

    A reply is *kept* when the same command sent again must get it again; what only says "not now" is not kept.
    """

    __slots__ = ("command", "connection", "fingerprint", "house", "session")

    def __init__(self, house: House, connection: Connection, command: Command) -> None:
        self.house = house
        self.connection = connection
        self.session = connection.session
        self.command = command
        self.fingerprint = content_hash(command)

    @property
    def player(self) -> str:
        """Who asks."""
        return self.session.player

    async def tell(self, message: Message) -> None:
        """Answer a reading: the reply is kept, and goes on record with the next thing that does."""
        self._count(message)
        body = encode(message)
        self._keep_reading(body)
        await self.connection.reply(body)

    def _count(self, message: Message) -> None:
        if isinstance(message, Error):
            self.house.metrics.errors[message.code] += 1
        elif isinstance(message, Refused):
            self.house.metrics.refusals[message.code] += 1

    def told(self, body: bytes) -> None:
        """The same for a reply that is not large, and must go out now: a snapshot, before what follows it."""
        self._keep_reading(body)
        self.connection.send(body)

    def _keep_reading(self, body: bytes) -> None:
        self.session.keep(self.command.id, Kept(self.fingerprint, body), is_saved=not self.session.is_stored)

    async def decline(self, message: Message) -> None:
        """Answer a command that would have changed something, and did not: the reply is on record before it is sent."""
        self._count(message)
        body = encode(message)
        if self.session.is_stored:
            # Where it can't be stored the answer is still true: nothing was changed.
            await self.house.ledger.commit(tuple(self.reply_writes(body)))
        self.finish(body)

    def save_readings(self) -> None:
        """Put the replies to readings on record that were not yet, before what is done now."""
        if self.session.unsaved and self.session.is_stored:
            # A unit of their own: a reading's reply must never be what an action fails for.
            self.house.save_replies([self.session])

    def reply_writes(self, body: bytes) -> list[Write]:
        """The writes which put the reply on record, to go into one unit with what it speaks of."""
        session = self.session
        if not session.is_stored:
            return []
        self.save_readings()
        return [
            PutReply(session=session.id, command_id=self.command.id, fingerprint=self.fingerprint, body=body)
        ]

    def finish(self, body: bytes) -> None:
        """Send the reply, which is on record, and keep it."""
        self.session.keep(self.command.id, Kept(self.fingerprint, body), is_saved=True)
        self.connection.send(body)

    def not_now(
        self,
        code: ErrorCode,
        *,
        retry_after_ms: int | None = None,
        message: str | None = None,
        detail: dict[str, Any] | None = None,
    ) -> None:
        """Answer that nothing was done, and that the same command may be sent again."""
        self.house.metrics.errors[code] += 1
        self.connection.send(
            encode(
                error(code, self.command.id, message=message, detail=detail, retry_after_ms=retry_after_ms)
            )
        )

    def failed(self, fault: StoreFault) -> None:
        """Answer that nothing was done because of the database."""
        if isinstance(fault, Unwritable):
            raise fault
        if isinstance(fault, StoreFull):
            self.not_now(ErrorCode.BUSY, retry_after_ms=500)
        else:
            self.not_now(ErrorCode.UNAVAILABLE, retry_after_ms=1000)

    async def again(self, kept: Kept) -> bytes | None:
        """What to send where the id is known already; None where the command must be carried out. Raises StoreFault."""
        if kept.fingerprint != self.fingerprint:
            return encode(error(ErrorCode.ID_REUSED, self.command.id))
        if kept.place is None:
            return kept.body
        game, seq = kept.place
        ledger = self.house.ledger
        stored = await ledger.ask(ledger.reader.load_game, game)
        if stored is None:
            raise LookupError(f"game {game} is no longer on record")
        body = with_re(await ledger.ask(diff_of, stored, seq), self.command.id)
        self.session.replies[self.command.id] = Kept(kept.fingerprint, body)
        return body
