"""Who is at the other end: identities, sessions that go on over connections and restarts, and commands done once."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import AsyncExitStack, closing
from itertools import count
from pathlib import Path

import pytest

from caller import Caller, Frame, calling
from lines import random_line
from servers import LiveServer

LINE = random_line("yukon", "ck:0", 90)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    with LiveServer(tmp_path_factory.mktemp("server")) as running:
        yield running


def credentials(welcome: Frame) -> Frame:
    return {"token": welcome["token"], "session": welcome["session"]}


async def play(caller: Caller, table: Frame, line: tuple[str, ...]) -> Frame:
    for text in line:
        table = await caller.move(table, text)
        assert table["type"] == "diff", table
    return table


async def test_a_session_goes_on_in_a_new_connection_with_what_it_missed(server: LiveServer) -> None:
    ids = count(1)
    async with calling(server.url, ids) as one:
        welcome = await one.ask("hello")
        table = await one.ask("new", variant="yukon", deal="ck:0")
        await one.send("move", game=table["game"], base=0, from_="t2", to="t6", n=2)
        lost = await one.send("undo", game=table["game"], base=1)
        one.socket.transport.abort()
    async with calling(server.url, ids) as two:
        again = await two.ask("hello", **credentials(welcome), games={table["game"]: 0})
        assert again["resumed"]
        # What was sent is done, whoever still listens; sent again, it is not done again.
        repeated = await two.ask("undo", lost, game=table["game"], base=1)
        assert (repeated["re"], repeated["seq"]) == (lost, 2)
        missed = [frame for frame in two.events if frame["type"] in {"diff", "snapshot"}]
        assert [frame["seq"] for frame in missed] in ([1], [1, 2])
        assert all("re" not in frame for frame in missed)
        # From here on its events come as before.
        async with calling(server.url) as mate:
            await mate.ask("join", game=table["game"], role="player", key=table["key"])
            await mate.ask("redo", game=table["game"], base=2)
        two.events.clear()
        assert (await two.event("diff"))["seq"] == 3


@pytest.mark.parametrize("seen", (-1, 3, 2**31, 2**63, -(2**63), 10**30, 2))
async def test_a_count_that_never_was_is_answered_with_a_snapshot(server: LiveServer, seen: int) -> None:
    ids = count(1)
    async with calling(server.url, ids) as caller:
        welcome = await caller.ask("hello")
        table = await caller.ask("new", variant="yukon", deal="ck:0")
        last = await play(caller, table, LINE[:2])
    async with calling(server.url, ids) as caller:
        await caller.ask("hello", **credentials(welcome), games={table["game"]: seen})
        snapshot = await caller.event("snapshot")
        assert (snapshot["seq"], snapshot["check"]) == (2, last["check"])
        assert "re" not in snapshot


async def test_more_than_is_kept_is_answered_with_a_snapshot(server: LiveServer) -> None:
    ids = count(1)
    async with calling(server.url, ids) as caller:
        welcome = await caller.ask("hello")
        table = await caller.ask("new", variant="yukon", deal="ck:0")
        seq = 0
        for _ in range(35):
            seq = (await caller.move(table | {"seq": seq}, "t2 2 t6"))["seq"]
            seq = (await caller.ask("undo", game=table["game"], base=seq))["seq"]
        welcome = await caller.ask("hello", **credentials(welcome))
    for seen, kind in ((5, "snapshot"), (6, "diff")):
        async with calling(server.url, ids) as caller:
            welcome = await caller.ask("hello", **credentials(welcome), games={table["game"]: seen})
            first = await caller.next()
            assert (first["type"], first["seq"]) == (kind, 70 if kind == "snapshot" else 7)
            await caller.ask("ping")


async def test_a_game_of_somebody_else_is_not_told_in_a_resume(server: LiveServer) -> None:
    async with calling(server.url) as owner:
        table = await owner.ask("new", variant="yukon", watch="closed")
    async with calling(server.url) as caller:
        await caller.ask("hello", games={table["game"]: 0, "nowhere": 3})
        errors = [await caller.event("error"), await caller.event("error")]
        assert [error["code"] for error in errors] == ["no_such_game"] * 2
        assert [error["detail"]["game"] for error in errors] == [table["game"], "nowhere"]


async def test_a_session_and_its_replies_survive_a_kill(tmp_path: Path) -> None:
    ids = count(1)
    with LiveServer(tmp_path) as server:
        async with calling(server.url, ids) as caller:
            welcome = await caller.ask("hello", name="Ann")
            opened = await caller.ask("new", 500, variant="yukon", deal="ck:0")
            done = await caller.move(opened, LINE[0], number=501)
            refused = await caller.ask("draw", 502, game=opened["game"], base=1)
            stale = await caller.ask("undo", 503, game=opened["game"], base=0)
        server.kill()
        server.start()
        async with calling(server.url, ids) as caller:
            again = await caller.ask("hello", **credentials(welcome), games={opened["game"]: 0})
            assert (again["resumed"], again["player"]["name"]) == (True, "Ann")
            assert (await caller.event("diff"))["seq"] == 1
            source, n, target = LINE[0].split()
            move = {"game": opened["game"], "base": 0, "from_": source, "to": target, "n": int(n)}
            assert await caller.ask("new", 500, variant="yukon", deal="ck:0") == opened
            assert await caller.ask("move", 501, **move) == done
            assert await caller.ask("draw", 502, game=opened["game"], base=1) == refused
            assert await caller.ask("undo", 503, game=opened["game"], base=0) == stale
            assert (await caller.ask("draw", 501, game=opened["game"], base=1))["code"] == "id_reused"
            assert (await caller.ask("sync", game=opened["game"]))["seq"] == 1
            assert len((await caller.ask("games"))["games"]) == 1


async def test_the_replies_to_all_kinds_of_actions_are_found_again_however_far_the_game_went_on(
    tmp_path: Path,
) -> None:
    with LiveServer(tmp_path) as server:
        async with calling(server.url, count(1)) as caller, calling(server.url) as mate:
            welcome = await caller.ask("hello")
            opened = await caller.ask("new", variant="yukon", deal="ck:0")
            game = opened["game"]
            source, n, target = LINE[0].split()
            asked: list[tuple[str, Frame]] = [
                ("move", {"from_": source, "to": target, "n": int(n)}),
                ("undo", {"count": 5}),
                ("redo", {}),
                ("auto", {}),
                ("undo", {}),
            ]
            asked = [(kind, {"game": game, "base": base, **more}) for base, (kind, more) in enumerate(asked)]
            told = [await caller.ask(kind, 500 + base, **fields) for base, (kind, fields) in enumerate(asked)]
            assert [reply["type"] for reply in told] == ["diff"] * len(asked)
            await mate.ask("join", game=game, role="player", key=opened["key"])
            seq = len(asked)
            for _ in range(40):
                await mate.ask("redo", game=game, base=seq)
                seq = (await mate.ask("undo", game=game, base=seq + 1))["seq"]
            told.append(await caller.ask("give_up", 500 + len(asked), game=game, base=seq))
            asked.append(("give_up", {"game": game, "base": seq}))
        server.kill()
        server.start()
        async with calling(server.url) as caller:
            await caller.ask("hello", **credentials(welcome))
            for _ in range(2):
                for number, ((kind, fields), reply) in enumerate(zip(asked, told, strict=True), 500):
                    assert await caller.ask(kind, number, **fields) == reply
            other = await caller.ask("undo", 501, game=game, base=1, count=4)
            assert (other["type"], other["code"]) == ("error", "id_reused")


async def test_readings_survive_a_restart_too(tmp_path: Path) -> None:
    ids = count(1)
    with LiveServer(tmp_path) as server:
        async with calling(server.url, ids) as caller:
            welcome = await caller.ask("hello")
            pong = await caller.ask("ping", 600, t=4)
        server.stop()
        server.start()
        async with calling(server.url, ids) as caller:
            await caller.ask("hello", **credentials(welcome))
            assert await caller.ask("ping", 600, t=4) == pong


async def test_what_a_guest_did_belongs_to_the_session_once_it_says_hello(tmp_path: Path) -> None:
    with LiveServer(tmp_path) as server:
        async with calling(server.url) as caller:
            opened = await caller.ask("new", 500, variant="yukon", deal="ck:0")
            done = await caller.move(opened, LINE[0], number=501)
            welcome = await caller.ask("hello", 502)
        server.kill()
        server.start()
        async with calling(server.url) as caller:
            await caller.ask("hello", 1, **credentials(welcome))
            assert await caller.ask("new", 500, variant="yukon", deal="ck:0") == opened
            source, n, target = LINE[0].split()
            move = {"game": opened["game"], "base": 0, "from_": source, "to": target, "n": int(n)}
            assert await caller.ask("move", 501, **move) == done


async def test_ids_belong_to_a_session_so_two_tabs_do_not_collide(server: LiveServer) -> None:
    async with calling(server.url) as one, calling(server.url) as two:
        first = await one.ask("hello", 1)
        second = await two.ask("hello", 1, token=first["token"])
        assert second["session"] != first["session"]
        assert second["player"] == first["player"]
        games = [(await tab.ask("new", 2, variant="yukon"))["game"] for tab in (one, two)]
        assert games[0] != games[1]
        # The identity that made a game acts in it without joining.
        assert (await two.ask("home", 3, game=games[0], base=0))["type"] in {"diff", "refused"}


async def test_a_bad_token_is_told_once_and_the_connection_closed(server: LiveServer) -> None:
    async with calling(server.url) as owner:
        welcome = await owner.ask("hello")
        table = await owner.ask("new", variant="yukon", deal="ck:0")
        for token in (
            "",
            "x",
            welcome["token"] + "x",
            welcome["token"][:-1],
            "'; --",
            welcome["session"],
        ):
            async with calling(server.url) as thief:
                error = await thief.ask(
                    "hello", token=token, session=welcome["session"], games={table["game"]: 0}
                )
                assert (error["type"], error["code"]) == ("error", "bad_token")
                assert await thief.closed() == 4004
                assert not thief.events
        # The owner was not disturbed.
        assert (await owner.move(table, LINE[0]))["seq"] == 1


async def test_a_session_is_not_taken_without_its_token(server: LiveServer) -> None:
    async with calling(server.url) as owner, calling(server.url) as thief:
        welcome = await owner.ask("hello")
        await thief.ask("hello")
        own = await thief.ask("hello")
        error = await thief.ask("hello", session=welcome["session"])
        assert (error["code"], error["detail"]["path"]) == ("bad_message", "$.session")
        # With another identity's token it is a session of one's own.
        other = await thief.ask("hello", token=own["token"], session=welcome["session"])
        assert (other["resumed"], other["player"]) == (False, own["player"])
        assert other["session"] != welcome["session"]
        assert (await owner.ask("ping"))["type"] == "pong"


async def resume(server: LiveServer, ids: Iterator[int], welcome: Frame) -> Frame:
    async with calling(server.url, ids) as caller:
        return await caller.ask("hello", **credentials(welcome))


def half_a_minute_passes(server: LiveServer) -> None:
    """With the server stopped: no token is in use for the first time so long."""
    with closing(sqlite3.connect(server.folder / "games.db")) as database, database:
        database.execute("UPDATE player SET previous_until_ms = 1 WHERE previous_until_ms IS NOT NULL")


async def test_a_resume_brings_a_new_token_and_ends_the_one_before_the_last(tmp_path: Path) -> None:
    ids = count(1)
    with LiveServer(tmp_path) as server:
        async with calling(server.url, ids) as caller:
            first = await caller.ask("hello")
        second = await resume(server, ids, first)
        assert second["token"] != first["token"]
        # Used at once it stays, and for half a minute the first one brings it too: two tabs may start together.
        for tab in (second, first, second, first):
            assert (await resume(server, ids, tab))["token"] == second["token"]
        server.stop()
        half_a_minute_passes(server)
        server.start()
        assert (await resume(server, ids, first))["code"] == "bad_token"
        third = await resume(server, ids, second)
        assert third["token"] not in (first["token"], second["token"])
        assert third["resumed"]


async def test_a_welcome_that_never_arrived_costs_nothing(tmp_path: Path) -> None:
    ids = count(1)
    with LiveServer(tmp_path) as server:
        async with calling(server.url, ids) as caller:
            first = await caller.ask("hello", name="Ann")
            table = await caller.ask("new", variant="yukon", deal="ck:0")
        again = lost = await resume(server, ids, first)
        # Nothing tells that it was lost, however long ago; the server may have been started anew since.
        for _ in range(2):
            server.kill()
            half_a_minute_passes(server)
            server.start()
            again = await resume(server, ids, first)
            assert (again["player"], again["resumed"]) == (first["player"], True)
            assert again["token"] not in (first["token"], lost["token"])
            # Who has it already is told the same one.
            assert (await resume(server, ids, first))["token"] == again["token"]
        async with calling(server.url, ids) as caller:
            await caller.ask("hello", **credentials(again))
            assert (await caller.move(table, LINE[0]))["type"] == "diff"


async def test_a_second_hello_without_a_token_leaves_the_first_token_good(server: LiveServer) -> None:
    ids = count(1)
    async with calling(server.url, ids) as caller:
        first = await caller.ask("hello")
        second = await caller.ask("hello")
    assert second["token"] != first["token"]
    assert (await resume(server, ids, first))["player"] == first["player"]


async def test_many_tabs_that_say_hello_at_once_are_all_told_a_token_that_holds(server: LiveServer) -> None:
    async with calling(server.url) as caller:
        first = await caller.ask("hello")

    async def come_back() -> Frame:
        async with calling(server.url) as tab:
            return await tab.ask("hello", token=first["token"])

    told = await asyncio.gather(*(come_back() for _ in range(4)))
    assert {welcome["type"] for welcome in told} == {"welcome"}
    # One token, not the last of several: each tab keeps what it was told.
    assert len({welcome["token"] for welcome in told}) == 1
    async with calling(server.url) as caller:
        assert (await caller.ask("hello", token=told[0]["token"]))["type"] == "welcome"


async def test_a_resumed_session_replaces_the_connection_it_had(server: LiveServer) -> None:
    ids = count(1)
    async with calling(server.url, ids) as old:
        welcome = await old.ask("hello")
        table = await old.ask("new", variant="yukon", deal="ck:0")
        async with calling(server.url, ids) as new:
            again = await new.ask("hello", **credentials(welcome))
            assert (again["resumed"], again["session"]) == (True, welcome["session"])
            assert await old.closed() == 4005
            assert (await new.move(table, LINE[0]))["type"] == "diff"
            # What the old connection watched, the new one watches.
            async with calling(server.url) as mate:
                await mate.ask("join", game=table["game"], role="player", key=table["key"])
                await mate.ask("undo", game=table["game"], base=1)
            assert (await new.event("diff"))["seq"] == 2


async def test_who_takes_a_session_over_while_others_play_misses_nothing(server: LiveServer) -> None:
    ids = count(1)
    async with calling(server.url) as mate, calling(server.url, ids) as first, AsyncExitStack() as opened:
        welcome = await first.ask("hello")
        table = await first.ask("new", variant="yukon", deal="ck:0")
        await mate.ask("join", game=table["game"], role="player", key=table["key"])
        await mate.move(table, LINE[0])
        seen, base = 1, 1
        for _ in range(4):
            for place in range(20):
                await mate.send("redo" if place % 2 else "undo", game=table["game"], base=base + place)
            base += 20
            # The session's last connection is still there, and still looks on.
            caller = await opened.enter_async_context(calling(server.url, ids))
            welcome = await caller.ask("hello", **credentials(welcome), games={table["game"]: seen})
            while seen < base:
                frame = await caller.next()
                if frame["type"] == "snapshot":
                    assert frame["seq"] >= seen
                    seen = frame["seq"]
                elif frame["type"] == "diff":
                    assert frame["seq"] == seen + 1
                    seen += 1


async def test_a_session_may_be_resumed_by_its_own_connection(server: LiveServer) -> None:
    async with calling(server.url) as caller:
        welcome = await caller.ask("hello")
        again = await caller.ask("hello", **credentials(welcome))
        assert (again["resumed"], again["session"]) == (True, welcome["session"])
        assert (await caller.ask("ping"))["type"] == "pong"


async def test_two_connections_that_want_each_others_session_do_not_wait_for_ever(server: LiveServer) -> None:
    async with calling(server.url, count(10**6)) as one, calling(server.url, count(2 * 10**6)) as two:
        first = await one.ask("hello")
        second = await two.ask("hello", token=first["token"])
        await one.send("hello", token=second["token"], session=second["session"])
        await two.send("hello", token=second["token"], session=first["session"])
        async with calling(server.url) as other:
            assert (await other.ask("ping"))["type"] == "pong"


async def test_the_same_hello_again_gets_the_same_welcome(server: LiveServer) -> None:
    async with calling(server.url) as caller:
        first = await caller.ask("hello", 5, name="Ann")
        assert await caller.ask("hello", 5, name="Ann") == first
        assert (await caller.ask("hello", 5, name="Bob"))["code"] == "id_reused"
        assert (await caller.ask("ping", 5))["code"] == "id_reused"


async def test_the_id_of_a_hello_is_used_for_nothing_else_in_its_session(server: LiveServer) -> None:
    async with calling(server.url) as caller:
        welcome = await caller.ask("hello", 7, name="Skagway")
        assert (await caller.ask("ping", 7))["code"] == "id_reused"
    async with calling(server.url) as caller:
        resumed = await caller.ask("hello", 8, **credentials(welcome))
        assert resumed["resumed"]
        assert (await caller.ask("ping", 7))["code"] == "id_reused"
        # The first reply had a token of long ago: sent again, the hello is told the one that holds now.
        again = await caller.ask("hello", 7, name="Skagway")
        assert (again["session"], again["token"] != welcome["token"]) == (welcome["session"], True)


async def test_an_id_of_long_ago_does_nothing_twice(server: LiveServer) -> None:
    async with calling(server.url, count(1000)) as caller:
        await caller.ask("hello")
        table = await caller.ask("new", variant="yukon", deal="ck:0")
        source, n, target = LINE[0].split()
        fields = {"game": table["game"], "from_": source, "to": target, "n": int(n)}
        assert (await caller.ask("move", 7, base=0, **fields))["seq"] == 1
        assert (await caller.ask("undo", game=table["game"], base=1))["seq"] == 2
        for _ in range(70):
            await caller.ask("ping")
        error = await caller.ask("move", 7, base=2, **fields)
        assert error["code"] == "id_reused"
        assert (await caller.ask("sync", game=table["game"]))["seq"] == 2
        assert (await caller.ask("redo", game=table["game"], base=2))["seq"] == 3


async def test_a_reading_with_an_id_of_long_ago_does_not_spoil_a_move(server: LiveServer) -> None:
    async with calling(server.url, count(1000)) as caller:
        await caller.ask("hello")
        table = await caller.ask("new", variant="yukon", deal="ck:0")
        seq = 0
        for _ in range(3):
            await caller.ask("ping", 7)
            for _ in range(35):
                seq = (await caller.move(table | {"seq": seq}, LINE[0]))["seq"]
                seq = (await caller.ask("undo", game=table["game"], base=seq))["seq"]
        assert seq == 210


async def test_a_co_players_seat_survives_a_restart(tmp_path: Path) -> None:
    with LiveServer(tmp_path) as server:
        async with calling(server.url) as owner, calling(server.url) as mate:
            table = await owner.ask("new", variant="yukon", deal="ck:0", watch="closed")
            welcome = await mate.ask("hello")
            await mate.ask("join", game=table["game"], role="player", key=table["key"])
        server.stop()
        server.start()
        async with calling(server.url, count(100)) as mate:
            await mate.ask("hello", **credentials(welcome), games={table["game"]: 0})
            assert (await mate.event("snapshot"))["role"] == "player"
            assert (await mate.move(table, LINE[0]))["type"] == "diff"
