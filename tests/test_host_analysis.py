"""`analyse`, as a client meets it: of games that are over only, made once, kept."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from caller import calling
from chilkoot.record import Reader
from chilkoot.solver.certify import REVISION
from chilkoot_client import Error, connect
from servers import LiveServer


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    with LiveServer(tmp_path_factory.mktemp("server")) as running:
        yield running


async def test_a_game_that_is_over_is_analysed_for_whoever_may_see_it_and_the_answer_is_kept(
    server: LiveServer,
) -> None:
    async with connect(server.url) as client, connect(server.url) as other:
        game = await client.new("yukon", deal="ms:2")
        await game.move("t4", "f")
        with pytest.raises(Error) as early:
            await game.analyse()
        assert early.value.code == "not_over"
        await game.give_up()
        found = await (await other.join(game.id)).analyse()
        assert (found.game, found.solver) == (game.id, REVISION)
        assert found.verdicts == ["winnable"] * 3, "the deal, the move, and giving up"
        assert found.last_winnable == 2
        assert found.line
        with closing(Reader.open(server.database)) as reader:
            assert reader.analysis(game.id, REVISION) is not None
        assert (await game.analyse()).line == found.line
        replay = await other.new("yukon", deal="ms:2")
        await replay.move("t4", "f")
        for text in found.line:
            source, n, target = text.split()
            await replay.move(source, target, int(n))
        assert replay.table.status == "won"


async def test_a_game_that_goes_on_or_is_hidden_is_not_analysed(server: LiveServer) -> None:
    async with calling(server.url) as caller, calling(server.url) as other:
        table = await caller.ask("new", variant="yukon", watch="closed")
        assert (await caller.ask("analyse", game=table["game"]))["code"] == "not_over"
        await caller.ask("give_up", game=table["game"], base=0)
        assert (await other.ask("analyse", game=table["game"]))["code"] == "no_such_game"
        assert (await other.ask("analyse", game="nobody"))["code"] == "no_such_game"


async def test_while_an_analysis_is_made_the_server_says_how_far_it_is(server: LiveServer) -> None:
    async with calling(server.url) as caller:
        # A deal that takes the search far more than a moment, and what it may open with it.
        table = await caller.ask("new", variant="spider", deal="ck:1")
        await caller.ask("give_up", game=table["game"], base=0)
        reply = await caller.ask("analyse", game=table["game"])
        while reply["type"] == "error":
            assert reply["code"] == "busy"
            assert reply["retry_after_ms"] > 0
            assert 0 <= reply["detail"]["settled"] <= reply["detail"]["positions"] == 2
            # As a client does. Who asks again at once keeps the processor from the search, which stands behind.
            await asyncio.sleep(reply["retry_after_ms"] / 1000)
            reply = await caller.ask("analyse", game=table["game"])
        assert len(reply["verdicts"]) == 2


async def test_a_server_that_makes_none_says_so(tmp_path: Path) -> None:
    with LiveServer(tmp_path, "--daily", "none", "--limit", "analyse_positions=0") as running:
        async with calling(running.url) as caller:
            assert (await caller.ask("analyse", game="any"))["code"] == "not_offered"
