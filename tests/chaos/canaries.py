"""Servers that are broken on purpose, each in one way that has happened to somebody: the checker must find every one out.

A canary changes functions of the server in the process that starts it (`nursery.py`); the server's own code knows none of them.
`CANARIES` says which of the checker's invariants has to notice.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable
from typing import Any, Final

import msgspec

from chilkoot.cards import CARD_NAMES
from chilkoot.events import Turn
from chilkoot.host import entering, greeting, playing, request
from chilkoot.host.connection import Connection
from chilkoot.host.house import House
from chilkoot.host.hub import Hub, Live, lay_table
from chilkoot.host.ledger import Ledger
from chilkoot.host.log import log
from chilkoot.record import Append, writer
from chilkoot.table import Acted, Session, acting
from chilkoot.wire import encode

__all__ = ["CANARIES", "release"]

# Every canary replaces something of the server by something of another shape.
Broken = Any


def _swap(owner: Broken, name: str, new: Broken) -> None:
    """Put something else in the place of a name that must be there."""
    if name not in vars(owner):
        raise LookupError(f"{owner} has no {name}: this canary no longer fits the server")
    setattr(owner, name, new)


def _slow_disk(seconds: float = 0.05) -> None:
    """Commits take long enough for somebody to die in the meantime."""
    write: Broken = writer.Writer._write

    def slowly(self: Broken, batch: Broken) -> None:
        time.sleep(seconds)
        write(self, batch)

    _swap(writer.Writer, "_write", slowly)


def no_dedupe() -> None:
    """A command sent again is done again; the record does not know whose command an action was."""
    _swap(Session, "known", lambda self, command_id: None)
    _swap(request.Request, "reply_writes", lambda self, body: [])
    nobody = {"session": None, "command_id": None, "fingerprint": None}
    _swap(playing, "Append", lambda **fields: Append(**(fields | nobody)))


def early_ack() -> None:
    """What is queued counts as written."""
    _slow_disk()

    async def commit(self: Broken, unit: Broken) -> None:
        self._store.submit(unit, None)

    _swap(Ledger, "commit", commit)


def publish_before_commit() -> None:
    """Those who look on see an action before it is on record."""
    _slow_disk()
    effect_of, publish = playing._effect, Hub.publish

    async def effect_shown(asked: Broken, table: Broken, now_ms: int) -> Broken:
        effect = await effect_of(asked, table, now_ms)
        if isinstance(effect, Acted):
            publish(asked.house.hub, asked.house.hub.get(asked.command.game), effect.diff, asked.connection)
        return effect

    _swap(playing, "_effect", effect_shown)
    _swap(Hub, "publish", lambda *_: None)


def broken_chain() -> None:
    """Each link is made from nothing, not from the one before."""
    link: Broken = vars(playing)["action_hash"]
    _swap(playing, "action_hash", lambda head, **fields: link(bytes(32), **fields))


def diff_before_snapshot() -> None:
    """Who comes back is sent events before it is told what it missed."""
    bring: Broken = greeting._bring_up_to_date

    async def too_soon(asked: Broken, game: str, seen: int) -> None:
        live = await asked.house.hub.find(game)
        if live is not None:
            asked.house.hub.watch(asked.connection, live)
            await asyncio.sleep(0.1)
        await bring(asked, game, seen)

    _swap(greeting, "_bring_up_to_date", too_soon)


def subscribe_late() -> None:
    """Between a snapshot and the first event there is a gap."""
    watch: Broken = Hub.watch

    def later(self: Broken, connection: Connection, live: Live, *, told: bool = False) -> None:
        connection.loop.call_later(
            0.1, lambda: connection.is_lost or watch(self, connection, live, told=told)
        )

    _swap(Hub, "watch", later)


def lost_update() -> None:
    """Two tables of one game, and whoever writes last wins."""
    compiled: Broken = vars(writer)["compile_statements"]

    def forgiving(dialect: Broken) -> Broken:
        statements = compiled(dialect)
        for one in statements[Append]:
            one.sql = one.sql.replace("INSERT INTO", "INSERT OR REPLACE INTO")
            one.is_exact = False
        return statements

    find: Broken = Hub.find

    async def find_another(self: Broken, game: str) -> Live | None:
        live: Live | None = await find(self, game)
        if live is None or random.random() < 0.7:
            return live
        stored = await self._ledger.ask(self._ledger.reader.load_game, game)
        other = Live(game)
        self._take(other, stored, await self._ledger.ask(lay_table, stored, self._history))
        return other

    _swap(writer, "compile_statements", forgiving)
    _swap(Hub, "find", find_another)


def cancelled_commit() -> None:
    """Who is gone takes its action along, half done."""
    _slow_disk()
    carry_out: Broken = playing._carry_out

    async def as_long_as_you_listen(asked: Broken, *rest: Broken) -> None:
        task = asyncio.ensure_future(carry_out(asked, *rest))
        while not task.done():
            await asyncio.wait({task}, timeout=0.002)
            if asked.connection.is_lost:
                task.cancel()
                return

    _swap(playing, "_carry_out", as_long_as_you_listen)


def rehide_leak() -> None:
    """A card that an undo turns down again keeps its name."""
    from chilkoot.engine import Game  # noqa: PLC0415 - the one canary that goes as far down

    undo: Broken = Game._undo_steps

    def told(self: Broken, count: int) -> Broken:
        index = self.position.tables.layout.index
        return [
            Turn(op.pile, op.at, CARD_NAMES[self.position.piles[index[op.pile]][op.at] & 63])
            if isinstance(op, Turn)
            else op
            for op in undo(self, count)
        ]

    _swap(Game, "_undo_steps", told)


def talkative_refusal() -> None:
    """A refusal explains itself with the cards that lie in the way, covered ones too."""
    refused: Broken = acting._refused

    def told(table: Broken, answers: int, why: Broken) -> Broken:
        reply = refused(table, answers, why)
        return msgspec.structs.replace(reply, message=f"{reply.message} ({table.game.board()})")

    _swap(acting, "_refused", told)


def no_base_check() -> None:
    """A move meant for another table is done on this one."""
    may_act = acting.may_act
    _swap(acting, "_why_not_now", lambda table, command, player: may_act(table, player, command.id))


def lost_diff() -> None:
    """Now and then an event does not reach those who look on."""
    publish: Broken = Hub.publish

    def mostly(self: Broken, live: Live, diff: bytes, actor: Connection) -> None:
        if random.random() < 0.95:
            publish(self, live, diff, actor)

    _swap(Hub, "publish", mostly)


def free_hint() -> None:
    """A hint is shown and not put on record."""

    async def give(asked: Broken, _: Live, advised: Broken) -> None:
        asked.finish(encode(advised.reply))

    _swap(playing, "_give_hint", give)


def talkative_log() -> None:
    """The log tells who came, by their token."""
    welcome: Broken = greeting._welcome

    def logged(asked: Broken, plan: Broken) -> None:
        log.info("welcome %s", plan.token)
        welcome(asked, plan)

    _swap(greeting, "_welcome", logged)


def forgotten_files() -> None:
    """Every connection leaves an open file behind."""
    attach: Broken = House.attach
    kept: list[Broken] = []

    def attach_and_keep(self: Broken, connection: Connection, session: Session) -> None:
        kept.append(open("/dev/null"))  # noqa: PTH123, SIM115 - that is the fault
        attach(self, connection, session)

    _swap(House, "attach", attach_and_keep)


def forgotten_game() -> None:
    """A new game is shown before it is on record."""
    _slow_disk(0.4)
    open_game: Broken = entering._open

    async def shown_first(asked: Broken, *rest: Broken) -> None:
        ledger = asked.house.ledger
        commit = ledger.commit

        async def no_commit(unit: Broken) -> None:
            ledger._store.submit(unit, None)

        ledger.commit = no_commit
        try:
            await open_game(asked, *rest)
        finally:
            ledger.commit = commit

    _swap(entering, "_open", shown_first)


CANARIES: Final[dict[str, tuple[Callable[[], None], set[int]]]] = {
    one.__name__: (one, noticed)
    for one, noticed in (
        (no_dedupe, {2}),
        (early_ack, {1, 4}),
        (publish_before_commit, {4, 5}),
        (broken_chain, {3}),
        (diff_before_snapshot, {5}),
        (subscribe_late, {5}),
        (lost_update, {1, 3, 4}),
        (cancelled_commit, {3, 5}),
        (rehide_leak, {4, 6}),
        (talkative_refusal, {6}),
        (no_base_check, {1}),
        (lost_diff, {5}),
        (free_hint, {1}),
        (talkative_log, {9}),
        (forgotten_files, {8}),
        (forgotten_game, {1}),
    )
}
"""Each with the invariants of which at least one must be seen broken."""


def release(name: str) -> None:
    """Break the server of this process in the named way."""
    CANARIES[name][0]()
