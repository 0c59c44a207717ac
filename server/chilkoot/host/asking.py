"""Commands that change nothing: variants, rules, lists, numbers, recordings, replays, ping."""

from __future__ import annotations

import asyncio

import msgspec
from msgspec import UNSET

from chilkoot.host.analyst import Progress
from chilkoot.host.connection import Connection
from chilkoot.host.hub import log_of, terms_of
from chilkoot.host.request import Request
from chilkoot.host.searcher import SearchFailed
from chilkoot.language.rules import from_canonical
from chilkoot.record import GameHeader, StoredGame, encode_recording, recorded, redacted
from chilkoot.solver.certify import REVISION
from chilkoot.table import DAY_MS, Frames, frames_of, rules_reply, variant_list
from chilkoot.wire import ErrorCode, commands, encode
from chilkoot.wire.messages import (
    AnalysisReply,
    Error,
    GameEntry,
    GameList,
    Pong,
    RecordingReply,
    ReplayEnd,
    StatsReply,
)
from chilkoot.wire.replies import error

__all__ = [
    "is_sealed",
    "may_be_shown",
    "on_analyse",
    "on_games",
    "on_ping",
    "on_recording",
    "on_replay",
    "on_rules",
    "on_stats",
    "on_variants",
    "recording_of",
]

_REPLAYS = 4
"""Replays that one connection may have at once."""


async def on_variants(request: Request) -> None:
    """Which games there are."""
    await request.tell(variant_list(request.house.library.variants(), request.command.id))


async def on_rules(request: Request) -> None:
    """One variant's rules."""
    command = request.command
    assert isinstance(command, commands.Rules)
    variant = request.house.library.variant(command.variant)
    if variant is None:
        await request.tell(error(ErrorCode.NO_SUCH_VARIANT, command.id, detail={"variant": command.variant}))
    else:
        guide = await request.house.guides.of(variant)
        await request.tell(rules_reply(variant, command.id, text=guide.text))


async def on_games(request: Request) -> None:
    """My games, newest first."""
    command, ledger = request.command, request.house.ledger
    assert isinstance(command, commands.Games)
    found: list[GameHeader] = []
    if request.session.is_player_stored:
        found = await ledger.ask(
            ledger.reader.games_of,
            request.player,
            state=command.state,
            limit=command.limit + 1,
            before=command.before,
        )
    now_ms = request.house.clock.ms()
    games = [_entry(header, now_ms) for header in found[: command.limit]]
    await request.tell(GameList(re=command.id, games=games, more=len(found) > command.limit))


def _entry(header: GameHeader, now_ms: int) -> GameEntry:
    names_deal = _is_closed(header, now_ms) or (header.origin == "named" and not is_sealed(header, now_ms))
    return GameEntry(
        game=header.id,
        variant=header.variant,
        level=UNSET if header.level is None else header.level,
        seq=header.seq,
        status=header.status,
        result=header.result or UNSET,
        score=header.score,
        moves=header.moves,
        undos=header.undos,
        started=header.created_ms,
        ended=UNSET if header.ended_ms is None else header.ended_ms,
        contest=header.contest or UNSET,
        deal=header.deal if names_deal else UNSET,
    )


def _is_closed(header: GameHeader, now_ms: int) -> bool:
    """Whether nothing of a game needs to be hidden any more."""
    if is_sealed(header, now_ms):
        return False
    if header.closed_ms is not None:
        return True
    return header.ended_ms is not None and now_ms - header.ended_ms >= DAY_MS


async def on_stats(request: Request) -> None:
    """My record."""
    command, ledger = request.command, request.house.ledger
    assert isinstance(command, commands.Stats)
    stats = await ledger.ask(
        ledger.reader.stats_of, request.player, variant=command.variant, level=command.level
    )
    await request.tell(
        StatsReply(
            re=command.id,
            started=stats.started,
            finished=stats.finished,
            won=stats.won,
            best=stats.best,
            streak=stats.streak,
        )
    )


async def on_ping(request: Request) -> None:
    """Is anybody there."""
    command = request.command
    assert isinstance(command, commands.Ping)
    t = UNSET if command.t is None else command.t
    request.told(encode(Pong(re=command.id, time=request.house.clock.ms(), t=t)))


async def on_recording(request: Request) -> None:
    """The portable record of a game: whole once it is closed, before that what its viewers saw."""
    command = request.command
    assert isinstance(command, commands.Recording)
    stored = await _visible(request, command.game)
    if isinstance(stored, Error):
        await request.tell(stored)
        return
    if stored.header.contest == "daily" and is_sealed(stored.header, request.house.clock.ms()):
        await request.tell(
            error(
                ErrorCode.NOT_OVER,
                command.id,
                message="Others still play this deal: its recording is given out when its day is revealed.",
                detail={"reveals": stored.header.sealed_until_ms},
            )
        )
        return
    recording = await request.house.ledger.ask(recording_of, stored, request.house.clock.ms())
    await request.tell(RecordingReply(re=command.id, game=command.game, recording=msgspec.Raw(recording)))


def is_sealed(header: GameHeader, now_ms: int) -> bool:
    """Whether a game counts in something that is not over: then it is its player's alone, and so is its deal."""
    return header.sealed_until_ms is not None and now_ms < header.sealed_until_ms


def recording_of(stored: StoredGame, now_ms: int) -> bytes:
    """The recording that may be given out now. Replays the whole game."""
    return encode_recording(recorded(stored) if _is_closed(stored.header, now_ms) else redacted(stored))


async def _visible(request: Request, game: str) -> StoredGame | Error:
    """A game as it stands on record, if the one who asks may see it."""
    house = request.house
    live = await house.hub.find(game)
    if live is not None:
        async with live.lock:
            role = (await house.hub.table_of(live)).role_of(request.player)
        stored = await house.ledger.ask(house.ledger.reader.load_game, game)
        if role is not None and stored is not None:
            return stored
    return error(ErrorCode.NO_SUCH_GAME, request.command.id)


async def may_be_shown(request: Request, game: str) -> StoredGame | Error:
    """A game that is over and may be shown from its beginning to the one who asks."""
    stored, now_ms = await _visible(request, game), request.house.clock.ms()
    if isinstance(stored, Error) or _is_closed(stored.header, now_ms):
        return stored
    return error(ErrorCode.NOT_OVER, request.command.id, message=_why_not_shown(stored.header, now_ms))


def _why_not_shown(header: GameHeader, now_ms: int) -> str | None:
    """What is to be said of a game that its player takes to be over; None where it is not."""
    if header.ended_ms is None:
        return None
    if is_sealed(header, now_ms):
        return "Others still play this deal; the game is shown after that."
    return (
        "This loss may still be taken back; the game is shown once it is given up, or another one is begun."
    )


async def on_replay(request: Request) -> None:
    """A finished game in time; it goes on beside whatever else the connection does."""
    command, house, connection = request.command, request.house, request.connection
    assert isinstance(command, commands.Replay)
    if len(connection.replays) >= _REPLAYS:
        request.not_now(ErrorCode.BUSY, retry_after_ms=5000, message="Four replays at once are enough.")
        return
    stored = await may_be_shown(request, command.game)
    if isinstance(stored, Error):
        await request.tell(stored)
        return
    frames = await house.ledger.ask(_frames, stored, command, request.player)
    request.told(frames.snapshot)
    task = asyncio.create_task(_show(connection, command, frames), name=command.game)
    connection.replays[command.id] = task
    task.add_done_callback(lambda _: connection.replays.pop(command.id, None))
    house.spawn(task)


async def on_analyse(request: Request) -> None:
    """Where a finished game could still be won: from the record, or made now; it takes some seconds the first time."""
    command, analyst = request.command, request.house.analyst
    assert isinstance(command, commands.Analyse)
    if not analyst.is_on:
        await request.tell(error(ErrorCode.NOT_OFFERED, command.id))
        return
    stored = await may_be_shown(request, command.game)
    if isinstance(stored, Error):
        await request.tell(stored)
        return
    try:
        found = await analyst.analysis_of(stored)
    except SearchFailed:
        request.not_now(ErrorCode.BUSY, retry_after_ms=5000)
        return
    if isinstance(found, Progress):
        request.not_now(
            ErrorCode.BUSY,
            retry_after_ms=1000,
            message=f"The analysis is being made: {found.settled} of {found.positions} positions are settled.",
            detail={"settled": found.settled, "positions": found.positions},
        )
        return
    await request.tell(
        AnalysisReply(
            re=command.id,
            game=command.game,
            solver=REVISION,
            verdicts=[kind or "unknown" for kind in found.verdicts],
            last_winnable=UNSET if found.last_winnable is None else found.last_winnable,
            line=list(found.line) or UNSET,
        )
    )


def _frames(stored: StoredGame, command: commands.Replay, player: str) -> Frames:
    header = stored.header
    return frames_of(
        terms_of(header),
        from_canonical(stored.rules),
        header.deal,
        log_of(stored),
        player,
        start=command.start,
        answers=command.id,
    )


async def _show(connection: Connection, command: commands.Replay, frames: Frames) -> None:
    for pause_ms, diff in frames.diffs:
        await asyncio.sleep(pause_ms / 1000 / command.speed)
        await connection.drained()
        if connection.is_lost:
            return
        connection.send(diff)
    connection.send(encode(ReplayEnd(game=command.game, seq=frames.seq, replay=command.id)))
