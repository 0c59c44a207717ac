"""Commands about who looks on: which games can be watched, and who may watch mine."""

from __future__ import annotations

from msgspec import UNSET

from chilkoot.host.clock import fresh_id
from chilkoot.host.request import Request
from chilkoot.record import SetWatch
from chilkoot.wire import ErrorCode, commands, encode
from chilkoot.wire.messages import WatchableList, WatchReply
from chilkoot.wire.replies import error

__all__ = ["on_watch", "on_watchable"]


async def on_watchable(request: Request) -> None:
    """Games that are played now and open to all."""
    command = request.command
    assert isinstance(command, commands.Watchable)
    games = [one for one in request.house.hub.watchable() if command.variant in {None, one.variant}]
    await request.tell(WatchableList(re=command.id, games=games[: command.limit]))


async def on_watch(request: Request) -> None:
    """Open my game to others, or close it: who may not look on any more is let go."""
    command, house = request.command, request.house
    assert isinstance(command, commands.SetWatch)
    live = await house.hub.find(command.game)
    if live is None:
        await request.decline(error(ErrorCode.NO_SUCH_GAME, command.id))
        return
    async with live.lock:
        table = await house.hub.table_of(live)
        if request.player == table.terms.owner:
            # A key that was given out before opens nothing any more.
            key = fresh_id() if command.watch == "key" else None
            reply = WatchReply(
                re=command.id,
                game=live.id,
                seq=table.game.seq,
                watch=command.watch,
                watch_key=UNSET if key is None else key,
            )
            body = encode(reply)
            change = SetWatch(game=live.id, watch=command.watch, watch_key=key)
            fault = await house.ledger.commit((change, *request.reply_writes(body)))
            if fault is not None:
                # Whatever is on record now is read again.
                live.table = None
                request.failed(fault)
                return
            table.open_to(command.watch, key)
            request.finish(body)
            house.hub.dismiss(live, table)
            return
        role = table.role_of(request.player)
    if role is None:
        await request.decline(error(ErrorCode.NO_SUCH_GAME, command.id))
    else:
        message = "Only who began a game says who may watch it."
        await request.decline(error(ErrorCode.FORBIDDEN, command.id, message=message))
