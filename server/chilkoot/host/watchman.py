"""The one task that goes round: connections that do not take what they are sent, idle ones, games nobody looks at.

The library's keepalive can't cut off a peer that stopped reading, and a flood of pings fills the write buffer past every
other bound; so buffers are looked at here, twice a second.
"""

from __future__ import annotations

import asyncio
from typing import Final

from chilkoot.host.connection import Connection
from chilkoot.host.house import House
from chilkoot.host.log import log
from chilkoot.record import CloseGame, DropReplies, StoreFault
from chilkoot.table import DAY_MS
from chilkoot.wire import CloseCode

__all__ = ["go_round"]

ROUND_SECONDS: Final = 0.5
_TIDY_ROUNDS: Final = 20
_CLOSING_ROUNDS: Final = 1200
_IDLE_GAME_SECONDS: Final = 600
_SESSION_DAYS: Final = 30


async def go_round(house: House) -> None:
    """Go round until cancelled."""
    loop = asyncio.get_running_loop()
    number = 0
    while True:
        due = loop.time() + ROUND_SECONDS
        await asyncio.sleep(ROUND_SECONDS)
        house.metrics.lag.add(max(0.0, loop.time() - due))
        try:
            _look_at_connections(house)
            house.hub.tell_crowds()
            await house.races.go_round()
            if number % _TIDY_ROUNDS == 0:
                house.hub.tidy(house.limits.cached_games, _IDLE_GAME_SECONDS)
                house.tidy_sessions()
            if number % _CLOSING_ROUNDS == 0:
                await _close_old_losses(house)
        except StoreFault as fault:
            log.warning("the record could not be tidied: %s", fault)
        except Exception:  # noqa: BLE001 - logged; the next round comes
            log.exception("a round was not finished")
        number += 1


def _look_at_connections(house: House) -> None:
    limits = house.limits
    now = asyncio.get_running_loop().time()
    for connection in list(house.connections):
        buffered = connection.socket.transport.get_write_buffer_size()
        if limits.buffer_bytes and buffered > limits.buffer_bytes:
            house.metrics.cuts["full buffer"] += 1
            connection.socket.transport.abort()
        elif _is_stalled(connection, buffered, now, limits.stall_seconds):
            _end(house, connection, CloseCode.TOO_SLOW, "too slow")
        elif limits.idle_seconds and now - connection.last_command > limits.idle_seconds:
            _end(house, connection, CloseCode.IDLE, "idle")


def _end(house: House, connection: Connection, code: CloseCode, reason: str) -> None:
    if not connection.is_ending:
        house.metrics.cuts[reason] += 1
        house.spawn(asyncio.create_task(connection.end(code, reason)))


def _is_stalled(connection: Connection, buffered: int, now: float, allowed: float) -> bool:
    """Whether a connection has been behind for too long without taking anything."""
    if not connection.is_behind:
        connection.blocked_since = None
    elif connection.blocked_since is None or buffered < connection.buffered:
        connection.blocked_since = now
    connection.buffered = buffered
    return bool(allowed and connection.blocked_since is not None and now - connection.blocked_since > allowed)


async def _close_old_losses(house: House) -> None:
    """Close what was lost a day ago and not taken back; forget the replies of sessions long gone."""
    ledger, now_ms = house.ledger, house.clock.ms()
    for game in await ledger.ask(ledger.reader.unclosed_before, now_ms - DAY_MS):
        live = house.hub.get(game)
        if live is None:
            ledger.post((CloseGame(game=game, closed_ms=now_ms),))
            continue
        async with live.lock:
            # It may have been taken back while this waited.
            await house.hub.table_of(live)
    ledger.post((DropReplies(before_ms=now_ms - _SESSION_DAYS * DAY_MS),))
