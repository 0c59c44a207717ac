"""`hello`: who a connection is, which session it goes on with, and what it missed."""

from __future__ import annotations

import asyncio

import msgspec
from msgspec import UNSET

from chilkoot.discretion import discreet
from chilkoot.host.clock import fresh_id, fresh_token
from chilkoot.host.connection import Connection
from chilkoot.host.house import GivenOut, House
from chilkoot.host.request import Ended, Request
from chilkoot.record import (
    NewPlayer,
    NewSession,
    PutReply,
    Reader,
    RenamePlayer,
    SetToken,
    StoredCommand,
    StoreDoubtful,
    StoredPlayer,
    StoredReply,
    StoredSession,
    TouchSession,
    Write,
)
from chilkoot.table import NAME_RULE, Kept, Session, Tokens, clean_name, token_hash
from chilkoot.wire import CloseCode, ErrorCode, commands, encode
from chilkoot.wire.messages import Player, Welcome
from chilkoot.wire.replies import error

__all__ = ["on_hello"]

PROTOCOL = 1


class _Plan(msgspec.Struct):
    """What a hello comes to, once it is on record."""

    session: Session
    token: str
    writes: list[Write]
    replaced: bytes | None = None
    resumed: bool = False

    __repr__ = discreet


async def on_hello(request: Request) -> None:
    """Say who is at the other end."""
    command, house, connection = request.command, request.house, request.connection
    assert isinstance(command, commands.Hello)
    name = None if command.name is None else clean_name(command.name)
    if command.name is not None and name is None:
        _misshapen(request, "$.name", NAME_RULE)
        return
    if command.session is not None and command.token is None:
        _misshapen(request, "$.session", "a session is resumed with its token")
        return
    try:
        if command.token is None:
            is_welcome = await _enter(request, await _plan_newcomer(request, name), name)
        else:
            is_welcome = await _return(request, command.token, name)
    except TimeoutError:
        request.not_now(ErrorCode.BUSY, retry_after_ms=1000)
        return
    if not is_welcome:
        return
    for game, seen in (command.games or {}).items():
        await _bring_up_to_date(request, game, seen)
    await house.races.come_back(connection)


async def _return(request: Request, token: str, name: str | None) -> bool:
    """Somebody with a token. Of one player's hellos at once each must know which token the one before it left in force."""
    house, given = request.house, token_hash(token)
    stored = await _owner_of(house, given)
    if stored is not None:
        turn = house.hellos.setdefault(stored.id, asyncio.Lock())
        async with asyncio.timeout(5):
            await turn.acquire()
        try:
            # Another may have been carried out while this one read, or waited.
            stored = await _owner_of(house, given)
            if stored is not None:
                return await _enter(request, await _plan_return(request, stored, given, name), name)
        finally:
            turn.release()
    request.connection.send(encode(error(ErrorCode.BAD_TOKEN, request.command.id)))
    raise Ended(CloseCode.BAD_TOKEN, "bad token")


async def _enter(request: Request, plan: _Plan, name: str | None) -> bool:
    """Carry a plan out; whether it was."""
    house, connection = request.house, request.connection
    if not _has_room(house, connection, plan.session):
        request.not_now(ErrorCode.BUSY, retry_after_ms=5000, message="You have too many connections open.")
        return False
    return await _go_on_with(request, plan, name)


async def _go_on_with(request: Request, plan: _Plan, name: str | None) -> bool:
    """Put the hello on record, then let the connection speak for the session."""
    house = request.house
    old = house.attached.get(plan.session.id)
    if old is None or old is request.connection:
        return await _commit(request, plan, name)
    # What the session's other connection is just doing is finished first. Two that want each other's session
    # would wait for ever.
    async with asyncio.timeout(5):
        await old.lock.acquire()
    try:
        return await _commit(request, plan, name)
    finally:
        old.lock.release()


async def _commit(request: Request, plan: _Plan, name: str | None) -> bool:
    fault = await request.house.ledger.commit(tuple(plan.writes))
    if fault is None or (isinstance(fault, StoreDoubtful) and await _is_in_force(request.house, plan)):
        _settle(request, plan, name)
        _welcome(request, plan)
        return True
    request.failed(fault)
    return False


def _misshapen(request: Request, path: str, what: str) -> None:
    request.connection.send(
        encode(
            error(
                ErrorCode.BAD_MESSAGE,
                request.command.id,
                message=f"{what} (at {path})",
                detail={"path": path},
            )
        )
    )


async def _owner_of(house: House, given: bytes) -> StoredPlayer | None:
    stored = await house.ledger.ask(house.ledger.reader.player_by_token_hash, given)
    return stored if stored is not None and _tokens_of(stored).standing(given, house.clock.ms()) else None


def _tokens_of(stored: StoredPlayer) -> Tokens:
    return Tokens(stored.token_hash, stored.previous_hash, stored.previous_until_ms)


def _set_tokens(player: str, tokens: Tokens) -> SetToken:
    return SetToken(
        player=player,
        token_hash=tokens.current,
        previous_hash=tokens.previous,
        previous_until_ms=tokens.previous_until_ms,
    )


async def _plan_newcomer(request: Request, name: str | None) -> _Plan:
    """No token: the connection's own session goes on, and from now on it can be resumed."""
    session, ledger, now_ms = request.session, request.house.ledger, request.house.clock.ms()
    token = fresh_token()
    hashed = token_hash(token)
    writes: list[Write] = []
    if not session.is_player_stored:
        writes.append(NewPlayer(id=session.player, name=name or "", token_hash=hashed, created_ms=now_ms))
    else:
        stored = await ledger.ask(ledger.reader.player, session.player)
        known = None if stored is None else stored.token_hash
        writes.append(_set_tokens(session.player, Tokens(hashed, known)))
        if name is not None:
            writes.append(RenamePlayer(id=session.player, name=name))
    if not session.is_stored:
        writes += _new_session(session, now_ms)
    return _Plan(session, token, writes)


def _new_session(session: Session, now_ms: int) -> list[Write]:
    """A session with all it has answered so far."""
    return [
        NewSession(id=session.id, player=session.player, created_ms=now_ms),
        *(
            PutReply(session=session.id, command_id=number, fingerprint=kept.fingerprint, body=kept.body)
            for number, kept in session.replies.items()
            if kept.body is not None
        ),
    ]


async def _plan_return(request: Request, stored: StoredPlayer, given: bytes, name: str | None) -> _Plan:
    """A token: its player, in the session that is asked for, in the present one, or in a new one."""
    command, house = request.command, request.house
    assert isinstance(command, commands.Hello)
    now_ms = house.clock.ms()
    found = await _session_of(house, command.session, stored.id)
    assert command.token is not None
    plan = _Plan(found or Session(fresh_id(), stored.id), command.token, [], resumed=found is not None)
    if found is None and request.session.player == stored.id:
        plan.session = request.session
    session = plan.session
    if session.is_stored:
        plan.writes.append(TouchSession(id=session.id, seen_ms=now_ms))
    else:
        plan.writes += _new_session(session, now_ms)
    if name is not None and name != stored.name:
        plan.writes.append(RenamePlayer(id=stored.id, name=name))
    session.name = stored.name
    _plan_token(house, plan, stored, given, now_ms)
    return plan


def _plan_token(house: House, plan: _Plan, stored: StoredPlayer, given: bytes, now_ms: int) -> None:
    """The token that the player has from now on: the present one where that may be lost or is young, else a new one."""
    tokens = _tokens_of(stored)
    given_out = house.given_out.get(tokens.previous or b"")
    if given_out is not None and token_hash(given_out.token) != tokens.current:
        given_out = None
    if tokens.standing(given, now_ms) == "current":
        kept = tokens.used(now_ms, replaced_ms=given_out.at_ms if given_out else None)
        if kept is not None:
            if kept != tokens:
                plan.writes.append(_set_tokens(stored.id, kept))
            return
    elif given_out is not None:
        # Told once more: with yet another one, two tabs would take turns locking each other out.
        plan.token = given_out.token
        return
    plan.token = fresh_token()
    after = tokens.replaced(token_hash(plan.token), given)
    plan.replaced = after.previous
    plan.writes.append(_set_tokens(stored.id, after))


def _recorded(
    reader: Reader, session: str
) -> tuple[StoredSession | None, list[StoredReply], list[StoredCommand]]:
    """What is on record of a session. In one question: after a start everybody's is asked for at once."""
    return reader.session(session), reader.replies_of(session), reader.commands_of(session)


async def _session_of(house: House, wanted: str | None, player: str) -> Session | None:
    """The session that is to be resumed, if it is this player's."""
    if wanted is None:
        return None
    session = house.sessions.get(wanted)
    if session is None:
        stored, replies, acts = await house.ledger.ask(_recorded, house.ledger.reader, wanted)
        if stored is None or stored.player != player:
            return None
        session = house.sessions.get(wanted)
        if session is None:
            session = Session(wanted, player)
            session.is_stored = session.is_player_stored = True
            for reply in replies:
                session.keep(reply.command_id, Kept(reply.fingerprint, reply.body), is_saved=True)
            session.recall({one.command_id: Kept(one.fingerprint, None, (one.game, one.seq)) for one in acts})
            house.sessions[wanted] = session
    return session if session.player == player else None


def _has_room(house: House, connection: Connection, session: Session) -> bool:
    most = house.limits.connections_per_player
    others = house.by_player[session.player] - (house.attached.get(connection.session.id) is connection)
    return not most or session.id in house.attached or others < most


async def _is_in_force(house: House, plan: _Plan) -> bool:
    reader = house.ledger.reader
    stored = await house.ledger.ask(reader.player_by_token_hash, token_hash(plan.token))
    return stored is not None and await house.ledger.ask(reader.session, plan.session.id) is not None


def _settle(request: Request, plan: _Plan, name: str | None) -> None:
    """Make memory agree with the record."""
    house, connection, session = request.house, request.connection, plan.session
    session.is_stored = session.is_player_stored = True
    if name is not None:
        session.name = name
    if plan.replaced is not None:
        house.given_out[plan.replaced] = GivenOut(plan.token, house.clock.ms())
    assert isinstance(request.command, commands.Hello)
    named = request.command.games or {}
    old = house.attached.get(session.id)
    if session is not connection.session:
        for live in list(connection.watching.values()):
            house.hub.unwatch(connection, live)
        for room in list(connection.racing):
            house.races.unwatch(connection, room)
    if old is not None and old is not connection:
        old.is_replaced = True
        for live in list(old.watching.values()):
            house.hub.unwatch(old, live)
            if live.id not in named:
                # Of a game that it names it is told first what it missed, and from there on every event.
                house.hub.watch(connection, live)
        house.detach(old)
        house.spawn(asyncio.create_task(old.end(CloseCode.REPLACED, "replaced by another connection")))
    house.attach(connection, session)
    request.session = session


def _welcome(request: Request, plan: _Plan) -> None:
    session, limits = plan.session, request.house.limits
    body = encode(
        Welcome(
            re=request.command.id,
            player=Player(id=session.player, name=session.name or UNSET),
            token=plan.token,
            session=session.id,
            resumed=plan.resumed,
            limits={
                "rate": limits.rate,
                "burst": limits.burst,
                "new_per_second": limits.new_per_second,
                "hint_per_second": limits.hint_per_second,
                "message_bytes": limits.message_bytes,
                "active_games": limits.active_games,
                "watched_games": limits.watched_games,
                "history": limits.history,
                "idle_seconds": limits.idle_seconds,
            },
            heartbeat=limits.ping_seconds,
            protocol=PROTOCOL,
        )
    )
    session.keep_hello(request.command.id, Kept(request.fingerprint, body))
    request.connection.send(body)


async def _bring_up_to_date(request: Request, game: str, seen: int) -> None:
    """The diffs that were missed, or a snapshot; and from here on every event."""
    house, connection = request.house, request.connection
    live = await house.hub.find(game)
    if live is not None:
        async with live.lock:
            table = await house.hub.table_of(live)
            if table.role_of(request.player) is not None:
                missed = table.missed(seen)
                house.hub.watch(connection, live, told=not missed)
                for text in missed or [encode(table.snapshot(request.player, len(live.viewers)))]:
                    connection.send(text)
                return
    connection.send(encode(error(ErrorCode.NO_SUCH_GAME, detail={"game": game})))
