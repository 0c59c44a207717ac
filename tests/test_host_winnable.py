"""Winnable deals, as a client meets them: the search runs beside the server, and the game says what it found."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import websockets

from chilkoot.language.rules import canonical_text, rules_hash
from chilkoot.record import AddCertified, PutRules, Reader, Store
from servers import LiveServer
from variants import rules_of

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
    flags = (
        "--daily",
        "none",
        "--limit",
        "new_per_second=0",
        "--limit",
        "certify_seconds=120",
        "--limit",
        "pool_deals=0",
    )
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


def kept_ready(live: LiveServer, variant: str, *deals: str) -> None:
    """Put certified deals on record for a server that does not run."""
    rules = rules_of(variant)
    with closing(Store.open(live.database)) as store:
        store.write(
            (
                PutRules(hash=rules_hash(rules), text=canonical_text(rules)),
                *(
                    AddCertified(
                        rules_hash=rules_hash(rules),
                        deal=deal,
                        solver=1,
                        positions=80,
                        actions=90,
                        difficulty=1,
                        found_ms=1000,
                    )
                    for deal in deals
                ),
            )
        )


def deal_on_record(live: LiveServer, game: Frame) -> str:
    with closing(Reader.open(live.database)) as reader:
        header = reader.game_header(game["game"])
    assert header is not None
    return header.deal


async def test_deals_kept_ready_are_dealt_at_once_each_to_one_game_also_after_a_kill(tmp_path: Path) -> None:
    first, second = f"ck:{'1' * 64}", f"ck:{'2' * 64}"
    live = LiveServer(
        tmp_path, "--daily", "none", "--limit", "certify_seconds=0", "--limit", "new_per_second=0"
    )
    kept_ready(live, "yukon-thicket", first, second)
    live.start()
    try:
        (one,) = await new_games(live, {"variant": "yukon-thicket"})
        live.kill()
        live.start()
        two, three = await new_games(
            live, {"variant": "yukon-thicket", "winnable": True}, {"variant": "yukon-thicket"}
        )
        assert [one["winnable"], two["winnable"], three["winnable"]] == ["proved", "proved", "not_proved"]
        assert [deal_on_record(live, game) for game in (one, two)] == [first, second]
        assert deal_on_record(live, three) not in (first, second)
        said = json.dumps([one, two, three])
        assert "1" * 64 not in said
        assert "2" * 64 not in said
    finally:
        live.kill()


@pytest.fixture(scope="module")
def without_search(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    """A server that looks for nothing, with one deal kept ready, and rules that require one."""
    folder = tmp_path_factory.mktemp("server")
    rules = folder / "rules"
    rules.mkdir()
    (rules / "sure.yaml").write_text("dsl: 1\nname: Sure\nextends: yukon\ndeal_policy: {winnable: require}\n")
    limits = ("certify_seconds=0", "new_per_second=0")
    flags = ("--daily", "none", "--rules", str(rules), *(part for one in limits for part in ("--limit", one)))
    live = LiveServer(folder, *flags)
    kept_ready(live, "yukon-thicket", f"ck:{'1' * 64}")
    yield live.start()
    live.kill()


async def test_a_game_that_is_not_asked_to_be_winnable_takes_no_deal_that_was_kept_ready(
    without_search: LiveServer,
) -> None:
    plain, named, asked = await new_games(
        without_search,
        {"variant": "yukon-thicket", "winnable": False},
        {"variant": "yukon-thicket", "deal": "ms:1", "winnable": True},
        {"variant": "yukon-thicket"},
    )
    assert "winnable" not in plain
    assert (named["winnable"], named["deal"]) == ("not_proved", "ms:1")
    assert asked["winnable"] == "proved"


async def test_without_a_search_a_game_that_wants_a_winnable_deal_begins_and_says_so(
    without_search: LiveServer,
) -> None:
    (game,) = await new_games(without_search, {"variant": "yukon", "winnable": True})
    assert game["winnable"] == "not_proved"


async def test_rules_that_require_a_winnable_deal_begin_no_other_game(without_search: LiveServer) -> None:
    refused, false, named = await new_games(
        without_search,
        {"variant": "sure"},
        {"variant": "sure", "winnable": False},
        {"variant": "sure", "deal": "ms:1"},
    )
    assert (refused["code"], false["code"]) == ("busy", "busy")
    assert refused["retry_after_ms"] > 0
    assert named["winnable"] == "not_proved", "a deal that was named is labelled, not refused"


async def test_others_are_served_while_a_search_runs(tmp_path: Path) -> None:
    limits = ("certify_seconds=600", "certify_positions=1000000000", "pool_deals=0")
    live = LiveServer(
        tmp_path, "--daily", "none", *(part for limit in limits for part in ("--limit", limit))
    ).start()
    try:
        async with websockets.connect(live.url) as waiting, websockets.connect(live.url) as other:
            # Open after ten million positions and more: the search is still at it when the others have been served.
            hard = {"type": "new", "id": 1, "variant": "yukon", "deal": "ms:91", "winnable": True}
            await waiting.send(json.dumps(hard))
            for number in range(1, 16):
                await other.send(json.dumps({"type": "ping", "id": number}))
                assert json.loads(await other.recv())["re"] == number
            await other.send(json.dumps({"type": "new", "id": 90, "variant": "yukon"}))
            assert json.loads(await other.recv())["type"] == "snapshot"
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(waiting.recv(), 0)
    finally:
        live.kill()
