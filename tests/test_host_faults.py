"""When the database fails, or we do: an honest answer, nothing half done, and everybody else plays on."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from itertools import count
from pathlib import Path
from typing import NoReturn

import pytest

from caller import Caller, Frame, calling
from chilkoot.config import Config, Limits
from chilkoot.host.atonce import Commit
from chilkoot.host.clock import Clock
from chilkoot.host.house import House
from chilkoot.host.ledger import Ledger
from chilkoot.host.server import listen, listening_sockets
from chilkoot.record import (
    StoredGame,
    StoreDoubtful,
    StoredRace,
    StoreFault,
    StoreFull,
    StoreUnavailable,
    Unit,
)
from lines import losing_line, random_line
from servers import LiveServer, lay_database
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


class Held:
    """A commit whose outcome its asker is told when a test says so."""

    def __init__(self) -> None:
        self.commit = Commit(0)
        self.is_written = asyncio.Event()


class FailingLedger(Ledger):
    """A record whose next commit comes to a given end: held, refused, or in doubt with the unit written or not."""

    fault: StoreFault | None = None
    is_written = False
    held: Held | None = None

    def hold(self, *, kept: bool = True) -> Held:
        """Hold the next commit; where it is not kept, it never comes to the record."""
        self.held, self.is_written = Held(), kept
        return self.held

    def commit(self, unit: Unit) -> Commit:
        held, self.held = self.held, None
        if held is not None:
            if self.is_written:
                super().commit(unit).wake = held.is_written.set
            else:
                held.is_written.set()
            return held.commit
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
    async with house_of(folder) as (url, house):
        assert isinstance(house.ledger, FailingLedger)
        yield url, house.ledger


@asynccontextmanager
async def house_of(folder: Path) -> AsyncIterator[tuple[str, House]]:
    # advice_ms: else a process that searches is started by the first hint, and outlives the house.
    limits = Limits(
        rate=0, new_per_second=0, hint_per_second=0, ping_seconds=0, race_countdown=0.05, advice_ms=0
    )
    config = Config(database=f"sqlite:///{folder / 'games.db'}", limits=limits)
    lay_database(folder / "games.db")
    ledger = FailingLedger(config.database, on_fatal=lambda _: None)
    house = House(config, ledger, library())
    servers = await listen(house, listening_sockets("127.0.0.1", 0))
    port = servers[0].sockets[0].getsockname()[1]
    try:
        yield f"ws://127.0.0.1:{port}/ws", house
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


async def test_a_guest_who_may_be_on_record_while_that_can_not_be_read_begins_a_game_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with house_in_this_process(tmp_path) as (url, ledger), calling(url) as caller:
        with monkeypatch.context() as patch:
            patch.setattr(ledger.reader, "load_game", unreadable)
            ledger.fail(StoreDoubtful("who knows"), is_written=True)
            assert (await caller.ask("new", 700, variant="yukon"))["code"] == "unavailable"
        assert (await caller.ask("new", 700, variant="yukon"))["type"] == "snapshot"


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


def unreadable(_: str) -> NoReturn:
    raise StoreUnavailable("no disk")


@pytest.mark.parametrize("kind", ("move", "legal", "sync"))
async def test_a_game_that_can_not_be_read_just_now_is_unavailable_and_the_connection_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    move = {"base": 0, "from": "t1", "to": "t2"} if kind == "move" else {}
    async with house_in_this_process(tmp_path) as (url, ledger), calling(url) as caller:
        with monkeypatch.context() as patch:
            patch.setattr(ledger.reader, "load_game", unreadable)
            error = await caller.ask(kind, 700, game="A" * 22, **move)
            assert (error["type"], error["code"]) == ("error", "unavailable")
        assert (await caller.ask(kind, 700, game="A" * 22, **move))["code"] == "no_such_game"


async def test_a_game_that_many_come_to_at_once_is_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with house_of(tmp_path) as (url, house):
        async with calling(url) as caller:
            game = (await caller.ask("new", variant="yukon", deal="ck:0"))["game"]
            await caller.ask("leave", game=game)
        house.hub.tidy(0, -1)
        assert house.hub.get(game) is None
        asked: list[str] = []
        read = house.ledger.reader.load_game

        def counted(name: str) -> StoredGame | None:
            asked.append(name)
            return read(name)

        monkeypatch.setattr(house.ledger.reader, "load_game", counted)
        found = await asyncio.gather(*(house.hub.find(game) for _ in range(20)))
        assert found == [house.hub.get(game)] * 20
        assert asked == [game]


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


# races


@asynccontextmanager
async def racers(folder: Path) -> AsyncIterator[tuple[House, FailingLedger, Caller, Caller]]:
    """Two players who have said who they are, of a house in this process."""
    async with house_of(folder) as (url, house), calling(url) as ann, calling(url) as bob:
        await ann.ask("hello", name="Ann")
        await bob.ask("hello", name="Bob")
        assert isinstance(house.ledger, FailingLedger)
        yield house, house.ledger, ann, bob


async def running(ann: Caller, bob: Caller) -> tuple[str, list[Frame]]:
    """A race of two that runs: its id, and the table of each."""
    race = await ann.ask("race", variant="yukon", seats=2)
    await bob.ask("race_join", race=race["race"], key=race["key"])
    return race["race"], [await one.event("snapshot") for one in (ann, bob)]


async def on_record(ledger: Ledger, race: str) -> StoredRace:
    stored = await ledger.ask(ledger.reader.race, race)
    assert stored is not None
    return stored


@pytest.mark.parametrize(("fault", "is_written", "code"), FAULTS)
async def test_a_race_that_may_not_be_on_record_is_told_as_it_is(
    tmp_path: Path, fault: StoreFault, is_written: bool, code: str | None
) -> None:
    async with racers(tmp_path) as (_, ledger, ann, bob):
        ledger.fail(fault, is_written=is_written)
        race = await ann.ask("race", 700, variant="yukon", seats=2)
        assert race.get("code") == code
        if code is not None:
            race = await ann.ask("race", 700, variant="yukon", seats=2)
        assert len(await ledger.ask(ledger.reader.open_races)) == 1
        assert (await bob.ask("race_join", race=race["race"], key=race["key"]))["seat"] == 2
        assert (await ann.event("snapshot"))["role"] == "player"


@pytest.mark.parametrize(("fault", "is_written", "code"), FAULTS)
async def test_a_seat_that_may_not_be_on_record_is_told_as_it_is(
    tmp_path: Path, fault: StoreFault, is_written: bool, code: str | None
) -> None:
    async with racers(tmp_path) as (_, ledger, ann, bob):
        race = await ann.ask("race", variant="yukon", seats=2)
        join = {"race": race["race"], "key": race["key"]}
        ledger.fail(fault, is_written=is_written)
        seated = await bob.ask("race_join", 700, **join)
        assert seated.get("code") == code
        if code is not None:
            assert len((await ann.ask("race_join", race=race["race"]))["players"]) == 1
            seated = await bob.ask("race_join", 700, **join)
        assert seated["seat"] == 2
        tables = [await one.event("snapshot") for one in (ann, bob)]
        assert tables[0]["piles"] == tables[1]["piles"]


@pytest.mark.parametrize(("fault", "is_written", "code"), FAULTS)
async def test_a_seat_that_may_still_be_on_record_is_told_as_it_is(
    tmp_path: Path, fault: StoreFault, is_written: bool, code: str | None
) -> None:
    async with racers(tmp_path) as (_, ledger, ann, bob):
        race = await ann.ask("race", variant="yukon", seats=3)
        await bob.ask("race_join", race=race["race"], key=race["key"])
        ledger.fail(fault, is_written=is_written)
        reply = await bob.ask("race_leave", 700, race=race["race"])
        assert reply.get("code") == code
        told = await ann.ask("race_join", race=race["race"])
        assert len(told["players"]) == len((await on_record(ledger, race["race"])).taken)
        assert (await bob.ask("race_leave", 700, race=race["race"]))["type"] == "ok"
        assert len((await on_record(ledger, race["race"])).taken) == 1


async def test_who_may_have_sat_down_while_the_record_can_not_be_read_finds_the_seat_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with racers(tmp_path) as (_, ledger, ann, bob):
        race = await ann.ask("race", variant="yukon", seats=2)
        join = {"race": race["race"], "key": race["key"]}
        with monkeypatch.context() as patch:
            patch.setattr(ledger.reader, "race", unreadable)
            ledger.fail(StoreDoubtful("who knows"), is_written=True)
            assert (await bob.ask("race_join", 700, **join))["code"] == "unavailable"
            assert (await ann.ask("race_join", 700, race=race["race"]))["code"] == "unavailable"
        assert len((await ann.ask("race_join", 700, race=race["race"]))["players"]) == 2
        assert (await bob.ask("race_join", 700, **join))["seat"] == 2
        tables = [await one.event("snapshot") for one in (ann, bob)]
        assert tables[0]["piles"] == tables[1]["piles"]


async def test_a_seat_that_may_be_free_is_looked_up_before_the_cards_are_dealt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with racers(tmp_path) as (_, ledger, ann, bob):
        race = await ann.ask("race", variant="yukon", seats=2)
        with monkeypatch.context() as patch:
            patch.setattr(ledger.reader, "race", unreadable)
            await bob.ask("race_join", race=race["race"], key=race["key"])
            ledger.fail(StoreDoubtful("who knows"), is_written=True)
            assert (await bob.ask("race_leave", race=race["race"]))["code"] == "unavailable"
        while len((await ann.event("race"))["players"]) != 1:
            pass
        again = await bob.ask("race_join", race=race["race"], key=race["key"])
        assert (again["type"], again["seat"]) == ("race", 2)
        tables = [await one.event("snapshot") for one in (ann, bob)]
        assert tables[0]["piles"] == tables[1]["piles"]


@pytest.mark.parametrize(("fault", "is_written", "code"), FAULTS)
async def test_who_may_have_left_a_race_that_runs_is_told_as_it_is(
    tmp_path: Path, fault: StoreFault, is_written: bool, code: str | None
) -> None:
    async with racers(tmp_path) as (_, ledger, ann, bob):
        race, _ = await running(ann, bob)
        ledger.fail(fault, is_written=is_written)
        assert (await bob.ask("race_leave", race=race)).get("code") == code
        told = await ann.ask("race_join", race=race)
        assert told["players"][1]["status"] == ("playing" if code else "left")


async def test_a_rematch_that_may_be_on_record_is_the_one_that_all_are_told_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with racers(tmp_path) as (_, ledger, ann, bob):
        first, tables = await running(ann, bob)
        for player, table in zip((ann, bob), tables, strict=True):
            await player.ask("give_up", game=table["game"], base=0)
        while (await ann.event("race"))["state"] != "over":
            pass
        real, asked = ledger.reader.race, count()

        def second_time_unreadable(race: str) -> StoredRace | None:
            return real(race) if next(asked) == 0 else unreadable(race)

        with monkeypatch.context() as patch:
            patch.setattr(ledger.reader, "race", second_time_unreadable)
            ledger.fail(StoreDoubtful("who knows"), is_written=True)
            assert (await ann.ask("rematch", 700, race=first))["code"] == "unavailable"
        again = await ann.ask("rematch", 700, race=first)
        assert (again["previous"], again["seat"]) == (first, 1)
        assert (await bob.ask("rematch", race=first))["race"] == again["race"]


async def test_who_comes_back_is_not_told_of_a_seat_that_is_not_on_record(tmp_path: Path) -> None:
    async with house_in_this_process(tmp_path) as (url, ledger), calling(url) as ann, calling(url) as bob:
        welcome = await ann.ask("hello", name="Ann")
        await bob.ask("hello", name="Bob")
        race = await ann.ask("race", variant="yukon", seats=3)
        held = ledger.hold(kept=False)
        joining = await bob.send("race_join", race=race["race"], key=race["key"])
        await held.is_written.wait()
        async with calling(url, count(100)) as back:
            await back.ask("hello", token=welcome["token"])
            held.commit.settle(StoreUnavailable("no disk"))
            assert (await bob.reply(joining))["code"] == "unavailable"
            assert len((await back.event("race"))["players"]) == 1


async def test_who_left_before_the_game_was_over_has_left_whatever_came_of_it(tmp_path: Path) -> None:
    async with house_of(tmp_path) as (url, house), calling(url) as ann, calling(url) as bob:
        ledger = house.ledger
        assert isinstance(ledger, FailingLedger)
        token = (await bob.ask("hello", name="Bob"))["token"]
        race, (_, theirs) = await running(ann, bob)
        async with calling(url, count(100)) as tab:
            await tab.ask("hello", token=token)
            held = ledger.hold()
            leaving = await bob.send("race_leave", race=race)
            await held.is_written.wait()
            over = await tab.ask("give_up", game=theirs["game"], base=0)
            held.commit.settle(None)
        assert over["status"] == "lost"
        assert (await bob.reply(leaving))["type"] == "ok"
        told = await ann.ask("race_join", race=race)
        assert told["players"][1]["status"] == "left"
        assert (await on_record(ledger, race)).taken[1].status == "left"


async def test_what_is_done_while_a_race_is_ended_comes_too_late(tmp_path: Path) -> None:
    async with racers(tmp_path) as (house, ledger, ann, bob):
        race, (mine, _) = await running(ann, bob)
        room = await house.races.find(race)
        assert room is not None
        held = ledger.hold()
        ending = asyncio.create_task(house.races.end(room))
        await held.is_written.wait()
        over = await ann.ask("give_up", game=mine["game"], base=0)
        held.commit.settle(None)
        await ending
        assert over["status"] == "lost"
        told = await ann.ask("race_join", race=race)
        assert [one["status"] for one in told["players"]] == ["late", "late"]
        assert [one.status for one in (await on_record(ledger, race)).taken] == ["late", "late"]


async def test_who_acts_while_an_idle_seat_is_looked_at_has_not_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with racers(tmp_path) as (house, _, ann, bob):
        race, (_, theirs) = await running(ann, bob)
        room = await house.races.find(race)
        assert room is not None
        now = house.clock.ms() + 1000 * int(house.limits.race_idle_seconds) + 1000
        monkeypatch.setattr(Clock, "ms", lambda _: now)
        async with room.lock:
            looking = asyncio.create_task(house.races.go_round())
            legal = (await bob.ask("legal", game=theirs["game"]))["moves"][0]
            await bob.move(theirs, f"{legal['from']} {legal['n']} {legal['to']}")
        await looking
        told = await ann.ask("race_join", race=race)
        assert [one["status"] for one in told["players"]] == ["left", "playing"]


async def test_a_race_whose_record_its_rules_do_not_bear_out_keeps_no_server_from_its_start(
    tmp_path: Path,
) -> None:
    async with racers(tmp_path) as (_, _, ann, bob):
        old = await ann.ask("new", variant="yukon", deal="ck:0")
        await ann.move(old, LINE[0])
        await ann.ask("give_up", game=old["game"], base=1)
        haunted = await ann.ask("race", ghost=old["game"], seats=2)
        waits = await bob.ask("race", variant="yukon", seats=2)
    with closing(sqlite3.connect(tmp_path / "games.db")) as database:
        database.execute("UPDATE action SET text = 't1 1 t1' WHERE seq = 1")
        database.commit()
    async with house_of(tmp_path) as (url, house), calling(url) as cid:
        await house.races.load()
        assert (await cid.ask("race_join", race=waits["race"], key=waits["key"]))["seat"] == 2
        join = {"race": haunted["race"], "key": haunted["key"]}
        assert (await cid.ask("race_join", **join))["code"] == "internal"
