"""Watching: which games are listed, what watchers see, and how a player closes a game to them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AsyncExitStack
from itertools import count
from pathlib import Path

import pytest

from caller import Caller, Frame, calling
from lines import random_line
from servers import NO_LIMITS, LiveServer


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    flags = [part for name in NO_LIMITS for part in ("--limit", f"{name}=0")]
    with LiveServer(
        tmp_path_factory.mktemp("server"), *flags, "--limit", "race_countdown=0.05", "--daily", "none"
    ) as running:
        yield running


async def listed(caller: Caller, game: str, *, wanted: bool = True, variant: str = "yukon") -> Frame:
    """The entry of a game in the list, as soon as it is there; or an empty one as soon as it is not."""
    while True:
        games = (await caller.ask("watchable", variant=variant, limit=100))["games"]
        found: Frame = next((one for one in games if one["game"] == game), {})
        if bool(found) == wanted:
            return found


async def everything(caller: Caller) -> list[Frame]:
    """All events that have come, presence aside."""
    await caller.ask("ping")
    return [one for one in caller.events if one["type"] != "presence"]


async def test_an_open_game_is_listed_while_its_player_is_there(server: LiveServer) -> None:
    async with calling(server.url) as watcher:
        async with calling(server.url) as player:
            await player.ask("hello", name="Ann")
            table = await player.ask("new", variant="yukon", deal="ck:0")
            entry = await listed(watcher, table["game"])
            assert (entry["player"], entry["viewers"], entry["moves"]) == ("Ann", 1, 0)
            assert set(entry) == {
                "game", "variant", "player", "seq", "status", "score", "moves", "undos", "viewers", "started"
            }  # fmt: skip
            await player.move(table, "t3 1 f")
            await watcher.ask("join", game=table["game"])
            while (entry := await listed(watcher, table["game"]))["viewers"] < 2:
                pass
            assert (entry["seq"], entry["moves"], entry["score"]) == (1, 1, 1)
        assert await listed(watcher, table["game"], wanted=False) == {}


async def test_the_newest_is_listed_first_and_only_what_everybody_may_watch(server: LiveServer) -> None:
    async with calling(server.url) as player, calling(server.url) as watcher:
        hidden = [
            (await player.ask("new", variant="russian", watch=watch))["game"] for watch in ("key", "closed")
        ]
        over = await player.ask("new", variant="russian")
        await player.ask("give_up", game=over["game"], base=0)
        raced = await player.ask("race", variant="russian")
        while (await player.event("race"))["state"] != "running":
            pass
        games = [(await player.ask("new", variant="russian"))["game"] for _ in range(3)]
        await listed(watcher, games[-1], variant="russian")
        found = [one["game"] for one in (await watcher.ask("watchable", variant="russian"))["games"]]
        assert found == games[::-1]
        assert not {*hidden, over["game"], raced["race"]} & set(found)
        assert [
            one["game"] for one in (await watcher.ask("watchable", variant="russian", limit=2))["games"]
        ] == [
            games[2],
            games[1],
        ]


async def test_a_player_closes_a_game_and_who_watched_is_let_go(server: LiveServer) -> None:
    async with AsyncExitStack() as stack:
        player, watcher, helper = [await stack.enter_async_context(calling(server.url)) for _ in range(3)]
        table = await player.ask("new", variant="yukon", deal="ck:0")
        game = table["game"]
        await watcher.ask("join", game=game)
        await helper.ask("join", game=game, role="player", key=table["key"])
        closed = await player.ask("watch", game=game, watch="closed")
        assert closed == {"type": "watch", "re": closed["re"], "game": game, "seq": 0, "watch": "closed"}
        assert await watcher.event("dismissed") == {"type": "dismissed", "game": game, "seq": 0}
        await player.move(table, "t3 1 f")
        assert (await helper.event("diff"))["seq"] == 1
        assert await everything(watcher) == []
        absent = await watcher.ask("join", game="A" * 22)
        for kind in ("join", "sync", "recording", "watch"):
            fields: Frame = {"watch": "open"} if kind == "watch" else {}
            told = await watcher.ask(kind, game=game, **fields)
            assert {**told, "re": 0} == {**absent, "re": 0}
        assert (await player.ask("sync", game=game))["watch"] == "closed"
        assert "watch" not in await helper.ask("sync", game=game)
        await player.ask("watch", game=game, watch="open")
        assert (await watcher.ask("join", game=game))["seq"] == 1


async def test_a_new_key_is_asked_of_those_who_had_the_old_one(tmp_path: Path) -> None:
    with LiveServer(tmp_path) as server:
        ids = count(1)
        async with calling(server.url, ids) as player, calling(server.url) as watcher:
            welcome = await player.ask("hello")
            table = await player.ask("new", variant="yukon", watch="key")
            game, old = table["game"], table["watch_key"]
            await watcher.ask("join", game=game, key=old)
            # Shown once, the key is remembered.
            assert (await watcher.ask("sync", game=game))["role"] == "spectator"
            new = (await player.ask("watch", game=game, watch="key"))["watch_key"]
            assert new != old
            await watcher.event("dismissed")
            assert (await watcher.ask("join", game=game, key=old))["code"] == "no_such_game"
            assert (await watcher.ask("join", game=game, key=new))["role"] == "spectator"
            await player.ask("watch", game=game, watch="closed")
            await watcher.event("dismissed")
        server.kill()
        server.start()
        async with calling(server.url, ids) as player, calling(server.url) as watcher:
            await player.ask("hello", token=welcome["token"], session=welcome["session"])
            assert (await player.ask("sync", game=game))["watch"] == "closed"
            assert (await watcher.ask("join", game=game, key=new))["code"] == "no_such_game"


async def test_who_only_watches_does_not_say_who_else_may(server: LiveServer) -> None:
    async with calling(server.url) as player, calling(server.url) as watcher:
        table = await player.ask("new", variant="yukon")
        await watcher.ask("join", game=table["game"])
        refused = await watcher.ask("watch", game=table["game"], watch="closed")
        assert refused["code"] == "forbidden"
        wrong = await player.ask("watch", game=table["game"], watch="nobody")
        assert (wrong["code"], wrong["detail"]["path"]) == ("bad_message", "$.watch")


async def test_forty_watchers_get_every_diff_once_in_order_and_the_same(server: LiveServer) -> None:
    line = random_line("yukon", "ck:7", 25)
    async with AsyncExitStack() as stack:
        player = await stack.enter_async_context(calling(server.url))
        table = await player.ask("new", variant="yukon", deal="ck:7")
        watchers = [await stack.enter_async_context(calling(server.url)) for _ in range(40)]
        for watcher in watchers:
            await watcher.ask("join", game=table["game"])
        mine = []
        for text in line:
            table = await player.move(table, text)
            mine.append({key: value for key, value in table.items() if key != "re"})
        for watcher in watchers:
            diffs = [await watcher.event("diff") for _ in line]
            assert diffs == mine
        presence: list[int] = []
        while 41 not in presence:
            presence.append((await watchers[0].event("presence"))["viewers"])
        assert len(presence) < 40
