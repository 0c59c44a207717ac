"""When the database fails, or we do: an honest answer, nothing half done, and everybody else plays on."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from itertools import count
from pathlib import Path

import pytest

from caller import calling
from chilkoot.config import Config, Limits
from chilkoot.host.atonce import Commit
from chilkoot.host.clock import Clock
from chilkoot.host.house import House
from chilkoot.host.ledger import Ledger
from chilkoot.host.server import listen, listening_sockets
from chilkoot.record import StoreDoubtful, StoreFault, StoreFull, StoreUnavailable, Unit
from lines import losing_line, random_line
from servers import LiveServer
from variants import library

LINE = random_line("yukon", "ck:0", 40)


async def test_while_the_database_is_locked_moves_are_answered_and_nothing_is_changed(tmp_path: Path) -> None:
    with LiveServer(tmp_path) as server:
        async with calling(server.url) as one, calling(server.url) as two:
            await one.ask("hello")
            table = await one.ask("new", variant="yukon", deal="ck:0")
            await two.ask("join", game=table["game"])
            with closing(sqlite3.connect(tmp_path / "games.db", isolation_level=None)) as other:
                other.execute("BEGIN IMMEDIATE")
                began = time.monotonic()
                moving = asyncio.create_task(one.move(table, LINE[0], number=700))
                pongs = 0
                while not moving.done():
                    assert (await two.ask("ping"))["type"] == "pong"
                    pongs += 1
                    await asyncio.sleep(0.05)
                error = await moving
                assert (error["type"], error["code"]) == ("error", "unavailable")
                assert error["retry_after_ms"] > 0
                assert 1 < time.monotonic() - began < 6
                assert pongs > 10
                assert (await two.ask("sync", game=table["game"]))["seq"] == 0
                other.execute("ROLLBACK")
            assert not [event for event in two.events if event["type"] == "diff"]
            # The same command again, by its id: now it is done.
            diff = await one.move(table, LINE[0], number=700)
            assert (diff["type"], diff["seq"]) == ("diff", 1)
            assert (await two.event("diff"))["seq"] == 1


async def test_readiness_is_told(tmp_path: Path) -> None:
    with LiveServer(tmp_path) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(b"GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b"200 OK" in await reader.read()
        writer.close()


async def test_a_record_that_its_rules_do_not_bear_out_is_an_error_of_ours_with_a_reference(
    tmp_path: Path,
) -> None:
    with LiveServer(tmp_path) as server:
        async with calling(server.url) as caller:
            welcome = await caller.ask("hello")
            games = [await caller.ask("new", variant="yukon", deal="ck:0") for _ in range(2)]
            for table in games:
                await caller.move(table, LINE[0])
        server.stop()
        with closing(sqlite3.connect(tmp_path / "games.db")) as database:
            database.execute("UPDATE action SET text = 't1 1 t1' WHERE game = 1")
            database.commit()
        server.start()
        async with calling(server.url, count(100)) as caller, calling(server.url) as other:
            again = await caller.ask("hello", token=welcome["token"])
            error = await caller.ask("sync", game=games[0]["game"])
            assert (error["type"], error["code"]) == ("error", "internal")
            assert await caller.closed() == 1011
            assert (await other.ask("sync", game=games[1]["game"]))["seq"] == 1
            assert (await other.ask("ping"))["type"] == "pong"
        assert error["detail"]["reference"] in log_of(tmp_path)
        assert again["token"] not in log_of(tmp_path)


def log_of(folder: Path) -> str:
    return (folder / "log").read_text()


Fault = Callable[[], StoreFault]


class FailingLedger(Ledger):
    """A record whose next commit comes to a given end: refused, or in doubt with the unit written or not."""

    fault: StoreFault | None = None
    is_written = False

    def commit(self, unit: Unit) -> Commit:
        fault, self.fault = self.fault, None
        if fault is None:
            return super().commit(unit)
        commit = Commit(0)
        if self.is_written:
            super().commit(unit).wake = lambda: commit.settle(fault)
        else:
            commit.settle(fault)
        return commit

    def fail(self, fault: StoreFault, *, is_written: bool = False) -> None:
        self.fault, self.is_written = fault, is_written


@asynccontextmanager
async def house_in_this_process(folder: Path) -> AsyncIterator[tuple[str, FailingLedger]]:
    limits = Limits(rate=0, new_per_second=0, hint_per_second=0, ping_seconds=0)
    config = Config(database=f"sqlite:///{folder / 'games.db'}", limits=limits)
    ledger = FailingLedger(config.database, on_fatal=lambda _: None)
    house = House(config, ledger, library())
    servers = await listen(house, listening_sockets("127.0.0.1", 0))
    port = servers[0].sockets[0].getsockname()[1]
    try:
        yield f"ws://127.0.0.1:{port}/ws", ledger
    finally:
        for server in servers:
            server.close()
            await server.wait_closed()
        await asyncio.to_thread(ledger.close, 2.0)


FAULTS = (
    (StoreUnavailable("no disk"), False, "unavailable"),
    (StoreFull("too many"), False, "busy"),
    (StoreDoubtful("who knows"), False, "unavailable"),
    (StoreDoubtful("who knows"), True, None),
)


@pytest.mark.parametrize(("fault", "is_written", "code"), FAULTS)
@pytest.mark.parametrize("is_guest", (True, False))
async def test_a_commit_that_fails_is_told_as_it_is(
    tmp_path: Path, fault: StoreFault, is_written: bool, code: str | None, is_guest: bool
) -> None:
    async with house_in_this_process(tmp_path) as (url, ledger), calling(url) as one, calling(url) as two:
        if not is_guest:
            await one.ask("hello")
        table = await one.ask("new", variant="yukon", deal="ck:0")
        await two.ask("join", game=table["game"])
        ledger.fail(fault, is_written=is_written)
        reply = await one.move(table, LINE[0], number=700)
        if code is None:
            # It is on record after all: then that is what everybody is told.
            assert (reply["type"], reply["seq"]) == ("diff", 1)
        else:
            assert (reply["type"], reply["code"]) == ("error", code)
            assert (await two.ask("sync", game=table["game"]))["seq"] == 0
            assert not [event for event in two.events if event["type"] == "diff"]
            reply = await one.move(table, LINE[0], number=700)
            assert (reply["type"], reply["seq"]) == ("diff", 1)
        assert (await two.event("diff"))["seq"] == 1
        assert (await one.move(reply, LINE[1]))["seq"] == 2


@pytest.mark.parametrize(("fault", "is_written", "code"), FAULTS)
async def test_a_game_that_may_not_have_begun_is_told_as_it_is(
    tmp_path: Path, fault: StoreFault, is_written: bool, code: str | None
) -> None:
    async with house_in_this_process(tmp_path) as (url, ledger), calling(url) as caller:
        ledger.fail(fault, is_written=is_written)
        reply = await caller.ask("new", 700, variant="yukon", deal="ck:0")
        if code is not None:
            assert reply["code"] == code
            reply = await caller.ask("new", 700, variant="yukon", deal="ck:0")
        assert reply["type"] == "snapshot"
        assert len((await caller.ask("games"))["games"]) == 1
        assert (await caller.move(reply, LINE[0]))["type"] == "diff"


@pytest.mark.parametrize(("fault", "is_written", "code"), FAULTS)
async def test_a_hint_that_may_not_be_on_record_is_not_shown(
    tmp_path: Path, fault: StoreFault, is_written: bool, code: str | None
) -> None:
    async with house_in_this_process(tmp_path) as (url, ledger), calling(url) as caller:
        table = await caller.ask("new", variant="yukon", deal="ck:0")
        ledger.fail(fault, is_written=is_written)
        reply = await caller.ask("hint", game=table["game"])
        assert reply.get("code") == code
        assert ("move" in reply) == (code is None)
        assert (await caller.ask("hint", game=table["game"]))["type"] == "hint"
        await caller.ask("give_up", game=table["game"], base=0)
        recording = (await caller.ask("recording", game=table["game"]))["recording"]
        assert len(recording["hints"]) == (2 if code is None else 1)


@pytest.mark.parametrize(("fault", "is_written", "code"), FAULTS)
async def test_a_hello_that_may_not_be_on_record_is_told_as_it_is(
    tmp_path: Path, fault: StoreFault, is_written: bool, code: str | None
) -> None:
    async with house_in_this_process(tmp_path) as (url, ledger):
        async with calling(url) as caller:
            welcome = await caller.ask("hello", name="Ann")
        async with calling(url, count(100)) as caller:
            ledger.fail(fault, is_written=is_written)
            hello = {"token": welcome["token"], "session": welcome["session"]}
            reply = await caller.ask("hello", **hello)
            assert reply.get("code") == code
            if code is not None:
                reply = await caller.ask("hello", **hello)
            assert (reply["type"], reply["resumed"]) == ("welcome", True)


@pytest.mark.parametrize("kind", ("move", "legal", "sync"))
async def test_a_game_that_can_not_be_read_just_now_is_unavailable_and_the_connection_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    def unreadable(_: str) -> None:
        raise StoreUnavailable("no disk")

    move = {"base": 0, "from": "t1", "to": "t2"} if kind == "move" else {}
    async with house_in_this_process(tmp_path) as (url, ledger), calling(url) as caller:
        with monkeypatch.context() as patch:
            patch.setattr(ledger.reader, "load_game", unreadable)
            error = await caller.ask(kind, 700, game="A" * 22, **move)
            assert (error["type"], error["code"]) == ("error", "unavailable")
        assert (await caller.ask(kind, 700, game="A" * 22, **move))["code"] == "no_such_game"


async def test_a_bug_in_one_command_is_told_with_a_reference_and_stays_with_its_connection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("a bug of ours")

    async with house_in_this_process(tmp_path) as (url, _), calling(url) as one, calling(url) as two:
        table = await one.ask("new", variant="yukon", deal="ck:0")
        await two.ask("join", game=table["game"])
        with monkeypatch.context() as patch:
            patch.setattr("chilkoot.host.playing.act", broken)
            error = await one.move(table, LINE[0])
            assert (error["type"], error["code"]) == ("error", "internal")
            assert "bug" not in str(error)
            assert error["detail"]["reference"] in caplog.text
            assert await one.closed() == 1011
        snapshot = await two.ask("sync", game=table["game"])
        assert (snapshot["seq"], snapshot["check"]) == (0, table["check"])


async def test_a_day_after_a_loss_its_secrets_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deal, line = losing_line()
    async with house_in_this_process(tmp_path) as (url, _), calling(url) as caller, calling(url) as other:
        board = last = await caller.ask("new", variant="yukon", deal=deal)
        for text in line:
            last = await caller.move(last, text)
        assert last["result"] == "no_moves"
        assert "deal" not in await other.ask("join", game=board["game"])
        now = Clock().ms()
        monkeypatch.setattr(Clock, "ms", lambda _: now + 24 * 3600 * 1000)
        assert (await caller.ask("undo", game=board["game"], base=last["seq"]))["code"] == "game_over"
        assert (await other.ask("sync", game=board["game"]))["deal"] == deal
        assert (await other.ask("replay", game=board["game"], speed=1000))["type"] == "snapshot"
