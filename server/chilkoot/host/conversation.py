"""What one client says, command by command: the next is begun when the one before was answered and the peer keeps up."""

from __future__ import annotations

import asyncio

from websockets.exceptions import ConnectionClosed

from chilkoot.host.atonce import run_at_once
from chilkoot.host.connection import Connection
from chilkoot.host.dispatch import take
from chilkoot.host.house import House
from chilkoot.host.log import log
from chilkoot.host.request import Ended
from chilkoot.wire import CloseCode, ErrorCode, encode
from chilkoot.wire.replies import error

__all__ = ["Conversation"]


class Conversation:
    """Takes the messages of a connection from its socket."""

    __slots__ = ("_connection", "_house", "_is_busy")

    def __init__(self, house: House, connection: Connection) -> None:
        self._house = house
        self._connection = connection
        self._is_busy = False
        connection.socket.listen(self._hear)

    def _hear(self) -> None:
        if not self._is_busy:
            self._is_busy = True
            self._begin()

    def _begin(self) -> None:
        if self._connection.is_lost or not self._connection.socket.has_message:
            # Gone, or refused: what waited does not count any more.
            return
        message = self._connection.socket.next_message()
        run_at_once(take(self._house, self._connection, message), self._answered)

    def _answered(self, fault: BaseException | None) -> None:
        connection = self._connection
        if fault is None:
            if connection.is_behind:
                self._house.spawn(asyncio.create_task(self._wait()))
            else:
                self._go_on()
        elif isinstance(fault, Ended):
            self._house.metrics.cuts[fault.reason.partition(" error ")[0]] += 1
            self._end(fault.code, fault.reason)
        elif not isinstance(fault, ConnectionClosed):
            log.error("a connection failed", exc_info=fault)
            connection.send(encode(error(ErrorCode.INTERNAL)))
            self._end(CloseCode.INTERNAL, "internal error")

    def _go_on(self) -> None:
        if self._connection.socket.has_message:
            # What came in one packet is taken in turns of its own: others must have theirs.
            self._connection.loop.call_soon(self._begin)
        else:
            self._is_busy = False

    async def _wait(self) -> None:
        await self._connection.drained()
        self._go_on()

    def _end(self, code: CloseCode, reason: str) -> None:
        self._connection.socket.stop_listening()
        self._house.spawn(asyncio.create_task(self._connection.end(code, reason)))
