"""From a frame to its one reply: decode, pace, exactly once, and the function that deals with the command."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from typing import Final

from websockets.exceptions import ConnectionClosed

from chilkoot.host.asking import (
    on_analyse,
    on_games,
    on_ping,
    on_recording,
    on_replay,
    on_rules,
    on_stats,
    on_variants,
)
from chilkoot.host.connection import Connection
from chilkoot.host.dailies import on_daily, on_daily_start, on_leaderboard
from chilkoot.host.entering import on_join, on_leave, on_new, on_restart, on_sync
from chilkoot.host.greeting import on_hello
from chilkoot.host.house import House
from chilkoot.host.log import log
from chilkoot.host.playing import on_action, on_hint, on_legal
from chilkoot.host.racing import on_race, on_race_join, on_race_leave, on_rematch
from chilkoot.host.request import Ended, Request
from chilkoot.host.watching import on_watch, on_watchable
from chilkoot.record import StoreFault, Unwritable
from chilkoot.wire import JSON, CloseCode, Command, ErrorCode, commands, decode, encode
from chilkoot.wire.messages import Error
from chilkoot.wire.replies import error

__all__ = ["take"]

_Handler = Callable[[Request], Awaitable[None]]

_HANDLERS: Final[dict[type[Command], _Handler]] = {
    commands.Hello: on_hello,
    commands.Variants: on_variants,
    commands.Rules: on_rules,
    commands.New: on_new,
    commands.Join: on_join,
    commands.Sync: on_sync,
    commands.Leave: on_leave,
    commands.Games: on_games,
    commands.Move: on_action,
    commands.Tap: on_action,
    commands.Draw: on_action,
    commands.Undo: on_action,
    commands.Redo: on_action,
    commands.Home: on_action,
    commands.Auto: on_action,
    commands.GiveUp: on_action,
    commands.Hint: on_hint,
    commands.Legal: on_legal,
    commands.Restart: on_restart,
    commands.Recording: on_recording,
    commands.Replay: on_replay,
    commands.Analyse: on_analyse,
    commands.Stats: on_stats,
    commands.Ping: on_ping,
    commands.Daily: on_daily,
    commands.DailyStart: on_daily_start,
    commands.Leaderboard: on_leaderboard,
    commands.Race: on_race,
    commands.RaceJoin: on_race_join,
    commands.RaceLeave: on_race_leave,
    commands.Rematch: on_rematch,
    commands.Watchable: on_watchable,
    commands.SetWatch: on_watch,
}

_CHANGING: Final = frozenset(
    {
        commands.Hello,
        commands.New,
        commands.Join,
        commands.Restart,
        commands.Hint,
        commands.DailyStart,
        commands.Race,
        commands.RaceJoin,
        commands.RaceLeave,
        commands.Rematch,
        commands.SetWatch,
    }
) | {kind for kind, handler in _HANDLERS.items() if handler is on_action}
"""What is not begun any more once the server is about to stop."""

_AT_ONCE: Final = frozenset(
    {
        commands.Move,
        commands.Tap,
        commands.Draw,
        commands.Undo,
        commands.Redo,
        commands.Home,
        commands.GiveUp,
    }
)
"""What waits for nothing but its commit, as a rule."""


async def take(house: House, connection: Connection, frame: str | bytes) -> None:
    """Deal with one frame. Raises Ended where the connection has had its last."""
    is_text = connection.form is JSON
    if isinstance(frame, str) is not is_text:
        raise Ended(CloseCode.UNSUPPORTED, "text is spoken here" if is_text else "MessagePack is spoken here")
    connection.last_command = now = connection.loop.time()
    command = decode(frame, connection.form)
    answers = _answers(command)
    if _is_too_large(frame, house.limits.message_bytes):
        connection.send(encode(error(ErrorCode.TOO_LARGE, answers)))
        raise Ended(CloseCode.TOO_BIG, "frame too large")
    wait = connection.pace.take(now)
    if wait:
        house.metrics.errors[ErrorCode.RATE_LIMITED] += 1
        _limit(connection, answers, wait)
        return
    if isinstance(command, Error):
        house.metrics.errors[command.code] += 1
        connection.send(encode(command))
        # A frame whose id can be read is a command with a mistake in it, which its author was told; not a malformed frame.
        connection.malformed = 0 if answers is not None else connection.malformed + 1
        if house.limits.malformed and connection.malformed >= house.limits.malformed:
            raise Ended(CloseCode.MALFORMED, "malformed frames in a row")
        return
    connection.malformed = 0
    async with connection.lock:
        if not connection.is_replaced:
            await _deal_with(Request(house, connection, command))


def _answers(command: Command | Error) -> int | None:
    if isinstance(command, Command):
        return command.id
    return command.re if isinstance(command.re, int) else None


def _is_too_large(frame: str | bytes, limit: int) -> bool:
    # A text's bytes are counted only where its letters could be too many.
    if not limit or len(frame) <= limit // 4:
        return False
    return (len(frame) if isinstance(frame, bytes) else len(frame.encode())) > limit


def _limit(connection: Connection, answers: int | None, wait: float) -> None:
    retry = int(wait * 1000) + 1
    connection.send(encode(error(ErrorCode.RATE_LIMITED, answers, retry_after_ms=retry)))
    if connection.pace.is_flood:
        raise Ended(CloseCode.TOO_SLOW, "too many commands")


async def _deal_with(request: Request) -> None:
    command, session = request.command, request.session
    kind = type(command)
    known = session.known(command.id)
    try:
        if known is not None:
            body = await request.again(known)
            if body is not None:
                await request.connection.reply(body)
                return
        if request.house.is_draining and kind in _CHANGING:
            request.not_now(ErrorCode.DRAINING, retry_after_ms=1000)
            return
        if kind not in _AT_ONCE:
            # From here on in a task, which others may need: `asyncio.timeout` works in nothing else.
            await asyncio.sleep(0)
        await _HANDLERS[kind](request)
    except StoreFault as fault:
        if isinstance(fault, Unwritable):
            _internal(request, fault)
        request.failed(fault)
    except (ConnectionClosed, Ended):
        raise
    except Exception as bug:  # noqa: BLE001 - one connection's trouble must stay its own
        _internal(request, bug)


def _internal(request: Request, bug: Exception) -> None:
    """Say that something is wrong with us, under a reference that the log has too."""
    reference = secrets.token_hex(4)
    request.house.metrics.errors[ErrorCode.INTERNAL] += 1
    log.error("internal error %s in `%s`", reference, type(request.command).__name__, exc_info=bug)
    request.connection.send(
        encode(error(ErrorCode.INTERNAL, request.command.id, detail={"reference": reference}))
    )
    raise Ended(CloseCode.INTERNAL, f"internal error {reference}")
