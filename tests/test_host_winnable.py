"""Winnable deals, as a client meets them: the search runs beside the server, and the game says what it found."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import websockets

from servers import LiveServer

Frame = dict[str, Any]


async def new_games(server: LiveServer, *wanted: Frame) -> list[Frame]:
    """The replies to `new` with these fields, one after the other."""
    replies = []
    async with websockets.connect(server.url) as socket:
        for number, fields in enumerate(wanted, start=1):
            await socket.send(json.dumps({"type": "new", "id": number, **fields}))
            replies.append(json.loads(await socket.recv()))
    return replies


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[LiveServer]:
    flags = ("--limit", "new_per_second=0", "--limit", "certify_seconds=60")
    live = LiveServer(tmp_path, *flags).start()
    yield live
    live.kill()


async def test_a_deal_is_proved_winnable_where_that_is_asked_and_for_thicket_by_itself(
    server: LiveServer,
) -> None:
    asked, thicket, plain = await new_games(
        server, {"variant": "yukon", "winnable": True}, {"variant": "yukon-thicket"}, {"variant": "yukon"}
    )
    assert asked["winnable"] == "proved"
    assert thicket["winnable"] == "proved"
    assert "winnable" not in plain
    assert all("deal" not in one for one in (asked, thicket, plain)), "which deal it is stays the server's"


async def test_a_deal_that_was_named_is_said_to_be_what_it_is(server: LiveServer) -> None:
    won, lost, bad = await new_games(
        server,
        {"variant": "yukon", "deal": "ms:1", "winnable": True},
        {"variant": "russian", "deal": "ms:1", "winnable": True},
        {"variant": "yukon", "deal": "zz:1", "winnable": True},
    )
    assert (won["winnable"], won["deal"]) == ("proved", "ms:1")
    assert (lost["winnable"], lost["deal"]) == ("not_proved", "ms:1")
    assert bad["code"] == "bad_deal"


async def test_what_was_proved_is_still_said_after_a_restart_of_the_server(server: LiveServer) -> None:
    async with websockets.connect(server.url) as socket:
        await socket.send(json.dumps({"type": "new", "id": 1, "variant": "yukon", "winnable": True}))
        game = json.loads(await socket.recv())
    server.kill()
    server.start()
    async with websockets.connect(server.url) as socket:
        await socket.send(json.dumps({"type": "join", "id": 1, "game": game["game"]}))
        assert json.loads(await socket.recv())["winnable"] == "proved"


async def test_without_time_for_a_search_the_game_begins_and_says_so(tmp_path: Path) -> None:
    live = LiveServer(tmp_path, "--limit", "certify_seconds=0").start()
    try:
        (game,) = await new_games(live, {"variant": "yukon-thicket"})
        assert game["winnable"] == "not_proved"
    finally:
        live.kill()
