"""Commands that bring a connection to a table, or away from it: new, restart, join, sync, leave."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from msgspec import structs

from chilkoot.failpoint import reach
from chilkoot.host.clock import fresh_entropy
from chilkoot.host.hub import Live, game_of
from chilkoot.host.request import Request
from chilkoot.language.rules import Level, canonical_text
from chilkoot.record import (
    AddParticipant,
    CloseGame,
    Conflict,
    NewPlayer,
    PutRules,
    StoreDoubtful,
    TakeCertified,
    Taken,
    Write,
)
from chilkoot.table import Entropy, Opened, Proof, Table, open_again, open_new, wants_proof
from chilkoot.wire import ErrorCode, commands, encode
from chilkoot.wire.messages import Error, Ok, Role
from chilkoot.wire.replies import error

_RETRIES: Final = 3
"""Times that another server may be quicker to take a deal before this one looks for one of its own."""

__all__ = ["may_open", "new_player", "on_join", "on_leave", "on_new", "on_restart", "on_sync", "show"]


async def on_new(request: Request) -> None:
    """A new game. The player's losses that could still be taken back are closed with it."""
    command, house = request.command, request.house
    assert isinstance(command, commands.New)
    now_ms = house.clock.ms()
    variant = house.library.variant(command.variant)

    def lay(entropy: Entropy, proof: Proof | None) -> Opened | Error:
        return open_new(
            command,
            variant,
            request.player,
            entropy=entropy,
            now_ms=now_ms,
            history=house.limits.history,
            winnable=proof,
        )

    opened = lay(fresh_entropy(), None)
    if isinstance(opened, Error):
        await request.decline(opened)
    elif await may_open(request):
        closing = await _unclosed(request)
        level = wants_proof(command, variant)
        if level is None:
            await _open(request, opened, closing, now_ms)
            return
        is_named = command.deal is not None or command.cards is not None
        if not is_named and await _open_from_pool(request, level, lay, closing, now_ms):
            return
        entropy, proof = await _choose_deal(request, command, level)
        if proof == "not_proved" and not is_named and level.rules.deal_policy.winnable == "require":
            # Not kept: these rules know no other game, so the same command may be sent again.
            request.not_now(
                ErrorCode.BUSY,
                retry_after_ms=2000,
                message="No deal that can be won was found in time; try again.",
            )
            return
        await _open(request, _laid(lay(entropy, proof)), closing, now_ms)


async def _open_from_pool(
    request: Request,
    level: Level,
    lay: Callable[[Entropy, Proof | None], Opened | Error],
    closing: list[str],
    now_ms: int,
) -> bool:
    """Begin with a deal that was certified before; False where none is left, and nothing was answered."""
    pool = request.house.deal_pool
    for _ in range(_RETRIES):
        found = await pool.promise(level)
        if found is None:
            return False
        try:
            opened = _laid(
                lay(structs.replace(fresh_entropy(), deal=found.deal.removeprefix("ck:")), "proved")
            )
            taken = TakeCertified(rules_hash=level.hash, deal=found.deal, game=opened.table.terms.id)
            if await _open(request, opened, closing, now_ms, taken):
                return True
        finally:
            pool.let_go(found.deal)
    return False


def _laid(opened: Opened | Error) -> Opened:
    assert isinstance(opened, Opened), "the same command was good a moment ago"
    return opened


async def _choose_deal(request: Request, command: commands.New, level: Level) -> tuple[Entropy, Proof]:
    """Of several deals that chance gives the first that is found to be winnable; of a deal that was named, whether it is."""
    named = command.cards or command.deal
    tried = [fresh_entropy() for _ in range(1 if named else max(request.house.limits.certify_deals, 1))]
    deals = [named or f"ck:{one.deal}" for one in tried]
    found = await request.house.certifier.first_winnable(canonical_text(level.rules), deals)
    return (tried[0], "not_proved") if found is None else (tried[found], "proved")


async def on_restart(request: Request) -> None:
    """The same deal once more, as a new game."""
    command, house = request.command, request.house
    assert isinstance(command, commands.Restart)
    live = await house.hub.find(command.game)
    if live is None:
        await request.decline(error(ErrorCode.NO_SUCH_GAME, command.id))
        return
    now_ms = house.clock.ms()
    async with live.lock:
        table = await house.hub.table_of(live)
        opened = open_again(
            command,
            table,
            request.player,
            entropy=fresh_entropy(),
            now_ms=now_ms,
            history=house.limits.history,
        )
        closing = [live.id] if table.game.may_be_undone else []
    if isinstance(opened, Error):
        await request.decline(opened)
    elif await may_open(request):
        await _open(request, opened, closing, now_ms)


async def may_open(request: Request, *, counted: bool = True) -> bool:
    """Whether the player may have another game now; answers where not. `counted`: the games they have going matter."""
    house, connection = request.house, request.connection
    if house.ledger.is_busy:
        request.not_now(ErrorCode.BUSY, retry_after_ms=500)
        return False
    wait = connection.new_games.take(connection.loop.time())
    if wait:
        request.not_now(ErrorCode.RATE_LIMITED, retry_after_ms=int(wait * 1000) + 1)
        return False
    most = house.limits.active_games
    if counted and most and request.session.is_player_stored:
        going = await house.ledger.ask(
            house.ledger.reader.games_of, request.player, state="playing", limit=most
        )
        if len(going) >= most:
            # Not kept: the same command may be sent again when a game has ended.
            request.not_now(ErrorCode.TOO_MANY_GAMES)
            return False
    return True


async def _unclosed(request: Request) -> list[str]:
    if not request.session.is_player_stored:
        return []
    return await request.house.ledger.ask(request.house.ledger.reader.unclosed_of, request.player)


async def _open(
    request: Request, opened: Opened, closing: list[str], now_ms: int, taken: TakeCertified | None = None
) -> bool:
    """Put a new game on record and show it; False, and no answer, only where its certified deal is another game's."""
    house, session, table = request.house, request.session, opened.table
    game = game_of(opened.table, now_ms)
    writes: list[Write] = [*new_player(request, now_ms)]
    writes.append(PutRules(hash=game.rules_hash, text=canonical_text(opened.rules)))
    writes.append(game)
    if taken is not None:
        writes.append(taken)
    writes += [CloseGame(game=one, closed_ms=now_ms) for one in closing]
    # One viewer, this connection: nobody else knows the game yet.
    body = encode(table.snapshot(request.player, 1, answers=request.command.id))
    writes += request.reply_writes(body)
    fault = await house.ledger.commit(tuple(writes))
    if isinstance(fault, Taken):
        return False
    if isinstance(fault, Conflict):
        request.not_now(ErrorCode.ID_REUSED)
        return True
    if fault is not None and not (isinstance(fault, StoreDoubtful) and await house.hub.find(game.id)):
        request.failed(fault)
        return True
    session.is_player_stored = True
    await _close(request, closing)
    live = house.hub.add(table, game.start_hash)
    house.hub.watch(request.connection, live, told=True)
    request.finish(body)
    return True


async def _close(request: Request, games: list[str]) -> None:
    """What is closed on record is closed in memory too."""
    for one in games:
        live = request.house.hub.get(one)
        if live is not None:
            async with live.lock:
                if live.table is not None:
                    live.table.close()


def new_player(request: Request, now_ms: int) -> list[Write]:
    """The write that puts a player on record who is not yet."""
    session = request.session
    if session.is_player_stored:
        return []
    return [NewPlayer(id=session.player, name=session.name, token_hash=None, created_ms=now_ms)]


async def on_join(request: Request) -> None:
    """Look on, or play together with the owner; a role that took a key is remembered."""
    command, house = request.command, request.house
    assert isinstance(command, commands.Join)
    live = await house.hub.find(command.game)
    if live is None:
        await request.tell(error(ErrorCode.NO_SUCH_GAME, command.id))
        return
    async with live.lock:
        table = await house.hub.table_of(live)
        role = table.role_by_key(request.player, command.role, command.key)
        if role is None:
            sees = table.role_of(request.player) is not None
            wrong = error(ErrorCode.FORBIDDEN if sees else ErrorCode.NO_SUCH_GAME, command.id)
        elif role == table.role_of(request.player) or await _remember(request, table, role):
            show(request, live, table)
            return
        else:
            return
    await request.tell(wrong)


async def _remember(request: Request, table: Table, role: Role) -> bool:
    """Put a role on record; answers where that fails."""
    now_ms = request.house.clock.ms()
    part = AddParticipant(game=table.terms.id, player=request.player, role=role, since_ms=now_ms)
    fault = await request.house.ledger.commit((*new_player(request, now_ms), part))
    if fault is not None:
        request.failed(fault)
        return False
    request.session.is_player_stored = True
    table.participants[request.player] = role
    return True


def show(request: Request, live: Live, table: Table) -> None:
    """Send the snapshot, and from here on every event: in one step, so that nothing falls between."""
    request.house.hub.watch(request.connection, live, told=True)
    reach("during_snapshot")
    snapshot = table.snapshot(request.player, len(live.viewers), answers=request.command.id)
    request.told(encode(snapshot))


async def on_sync(request: Request) -> None:
    """The table as it is now; who plays there gets its events from now on."""
    command, house = request.command, request.house
    assert isinstance(command, commands.Sync)
    live = await house.hub.find(command.game)
    if live is not None:
        async with live.lock:
            table = await house.hub.table_of(live)
            role = table.role_of(request.player)
            if role == "player":
                show(request, live, table)
                return
            if role == "spectator":
                snapshot = table.snapshot(request.player, len(live.viewers), answers=command.id)
                request.told(encode(snapshot))
                return
    await request.tell(error(ErrorCode.NO_SUCH_GAME, command.id))


async def on_leave(request: Request) -> None:
    """No more events of a game; roles are kept."""
    command, house = request.command, request.house
    assert isinstance(command, commands.Leave)
    live = await house.hub.find(command.game)
    role = None
    if live is not None:
        async with live.lock:
            role = (await house.hub.table_of(live)).role_of(request.player)
    if live is None or role is None:
        await request.tell(error(ErrorCode.NO_SUCH_GAME, command.id))
        return
    house.hub.unwatch(request.connection, live)
    replay = [task for task in request.connection.replays.values() if task.get_name() == live.id]
    for task in replay:
        task.cancel()
    await request.tell(Ok(re=command.id))
