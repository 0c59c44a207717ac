"""Commands on a table: actions, hints, legal moves. Check, commit, and only then let anybody see it."""

from __future__ import annotations

from chilkoot.engine import MAX_ACTIONS
from chilkoot.host.dailies import ending_of
from chilkoot.host.hub import Live
from chilkoot.host.request import Request
from chilkoot.record import AddHint, Append, Conflict, StoreFault, Write, action_hash, hint_hash
from chilkoot.table import (
    Acted,
    Advised,
    Answer,
    Effect,
    Table,
    act,
    auto,
    hint,
    legal,
    why_no_advice,
)
from chilkoot.wire import ErrorCode, Message, commands, encode, with_re
from chilkoot.wire.replies import error

__all__ = ["on_action", "on_hint", "on_legal"]


async def on_action(request: Request) -> None:
    """Everything that raises a game's `seq`, and `tap`, which may."""
    command = request.command
    assert isinstance(command, commands.Act)
    house = request.house
    if house.ledger.is_busy:
        request.not_now(ErrorCode.BUSY, retry_after_ms=500)
        return
    live = await house.hub.find(command.game)
    if live is None:
        await request.decline(error(ErrorCode.NO_SUCH_GAME, command.id))
        return
    async with live.lock:
        table = await house.hub.table_of(live)
        now_ms = house.clock.ms()
        try:
            effect = await _effect(request, table, now_ms)
            if isinstance(effect, Acted):
                await _carry_out(request, live, table, effect, now_ms)
                return
        except BaseException:
            # Half an action must not stay in memory, whatever happened.
            live.table = None
            raise
    assert isinstance(effect, Answer)
    await request.decline(effect.reply)


async def _effect(request: Request, table: Table, now_ms: int) -> Effect:
    command, player = request.command, request.player
    assert isinstance(command, commands.Act)
    if not isinstance(command, commands.Auto):
        return act(table, command, player, now_ms)
    if (wrong := why_no_advice(table, command, player)) is not None:
        return Answer(wrong)
    found = await request.house.adviser.advise(table.game)
    return auto(table, command, found, now_ms)


async def _carry_out(request: Request, live: Live, table: Table, effect: Acted, now_ms: int) -> None:
    """Put an action on record, then publish it. Under the game's lock."""
    house, session, game, standing = request.house, request.session, table.game, table.standing
    reply = with_re(effect.diff, request.command.id)
    head = action_hash(
        live.head, seq=game.seq, text=effect.action, by=effect.by, at_ms=now_ms, actor=session.player
    )
    append = Append(
        game=live.id,
        seq=game.seq,
        text=effect.action,
        by=effect.by,
        actor=session.player,
        session=session.id if session.is_stored else None,
        command_id=request.command.id if session.is_stored else None,
        at_ms=now_ms,
        hash=head,
        fingerprint=request.fingerprint if session.is_stored else None,
        status=standing.status,
        result=standing.result,
        score=standing.score,
        moves=standing.moves,
        undos=standing.undos,
        ended_ms=table.ended_ms,
        closed_ms=now_ms if game.closed else None,
    )
    request.save_readings()
    fault = await house.ledger.commit((append, *await ending_of(request, live, table, now_ms)))
    if fault is None:
        live.head = head
    elif not await _survived(request, live, head, fault):
        return
    house.metrics.actions += 1
    house.hub.publish(live, effect.diff, request.connection)
    request.finish(reply)
    house.races.on_action(live, table, now_ms)
    house.hub.watch(request.connection, live)


async def _survived(request: Request, live: Live, head: bytes, fault: StoreFault) -> bool:
    """Answer for a commit that failed; True where it is on record in spite of that."""
    try:
        if await request.house.hub.survived(live, head, fault):
            return True
    except StoreFault as worse:
        fault = worse
    if isinstance(fault, Conflict):
        # One process writes, so the taken place is the command's: an id from long ago, used once more.
        request.not_now(ErrorCode.ID_REUSED)
    else:
        request.failed(fault)
    return False


async def on_hint(request: Request) -> None:
    """A hint: on record before it is shown."""
    command, house = request.command, request.house
    assert isinstance(command, commands.Hint)
    live = await house.hub.find(command.game)
    if live is None:
        await request.decline(error(ErrorCode.NO_SUCH_GAME, command.id))
        return
    async with live.lock:
        table = await house.hub.table_of(live)
        wrong: Message | None = why_no_advice(table, command, request.player)
        if wrong is None:
            wait = request.connection.hints.take(request.connection.loop.time())
            if wait:
                request.not_now(ErrorCode.RATE_LIMITED, retry_after_ms=int(wait * 1000) + 1)
                return
            advised = hint(table, command, await house.adviser.advise_on_time(table.game))
            if live.hints >= MAX_ACTIONS and advised.text is not None:
                wrong = error(
                    ErrorCode.HINT_NOT_ALLOWED, command.id, message="This game has had all its hints."
                )
            else:
                await _give_hint(request, live, advised)
                return
    await request.decline(wrong)


async def _give_hint(request: Request, live: Live, advised: Advised) -> None:
    house = request.house
    body = encode(advised.reply)
    writes: list[Write] = request.reply_writes(body)
    head = live.head
    if advised.text is not None:
        number, now_ms, seq = live.hints + 1, house.clock.ms(), advised.reply.seq
        head = hint_hash(head, n=number, seq=seq, text=advised.text, at_ms=now_ms, actor=request.player)
        given = AddHint(
            game=live.id,
            n=number,
            seq=seq,
            text=advised.text,
            actor=request.player,
            at_ms=now_ms,
            hash=head,
        )
        writes.insert(0, given)
    fault = await house.ledger.commit(tuple(writes)) if writes else None
    if fault is not None:
        if not await _survived(request, live, head, fault):
            return
    elif advised.text is not None:
        live.head = head
        live.hints += 1
    request.finish(body)


async def on_legal(request: Request) -> None:
    """Every move that would be accepted."""
    command = request.command
    assert isinstance(command, commands.Legal)
    live = await request.house.hub.find(command.game)
    if live is None:
        await request.tell(error(ErrorCode.NO_SUCH_GAME, command.id))
        return
    async with live.lock:
        table = await request.house.hub.table_of(live)
        reply = legal(table, command, request.player)
    await request.tell(reply)
