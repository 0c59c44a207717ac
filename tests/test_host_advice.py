"""Hints and Auto as clients meet them: a process beside the server finds them, at a fixed time, and never in anybody's way."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from caller import calling
from chilkoot.engine import Game
from chilkoot.host.adviser import Adviser
from chilkoot.host.ledger import Ledger
from chilkoot.solver import advise, sight_of
from chilkoot.solver.foresight import foresee
from servers import NO_LIMITS, LiveServer
from variants import rules_of


@pytest.fixture
async def ledger(tmp_path: Path) -> AsyncIterator[Ledger]:
    opened = Ledger(f"sqlite:///{tmp_path / 'games.db'}", on_fatal=lambda fault: None)
    yield opened
    opened.close(5)


async def test_once_it_is_ready_the_better_policy_answers_and_where_it_was_killed_the_first_one(
    ledger: Ledger,
) -> None:
    adviser = Adviser(ledger, ms=60_000)
    await (adviser.warm_up() or pytest.fail("it is not wanted"))
    for variant, level in (("yukon", None), ("yukon-thicket", 1), ("klondike", None), ("freecell", None)):
        game = Game.start(rules_of(variant, level), "ms:2")
        assert await adviser.advise(game) == foresee(sight_of(game))
    game = Game.start(rules_of("yukon"), "ms:2")
    assert adviser._searcher._pool is not None
    for number in list(adviser._searcher._pool._processes or {}):
        os.kill(number, signal.SIGKILL)
    assert await adviser.advise(game) == advise(game)
    assert not adviser.is_ready
    adviser.close()


async def test_until_the_process_is_ready_and_where_it_is_late_the_first_policy_answers(
    ledger: Ledger,
) -> None:
    game = Game.start(rules_of("yukon"), "ms:2")
    for late in (True, False):
        adviser = Adviser(ledger, ms=0.001 if late else 60_000)
        adviser.is_ready = late
        assert await adviser.advise(game) == advise(game)
        adviser.close()


async def test_a_hint_is_told_at_a_fixed_time_whoever_found_it(ledger: Ledger) -> None:
    loop = asyncio.get_running_loop()
    adviser = Adviser(ledger, ms=100)
    for deal in ("ms:2", "ms:3"):
        game = Game.start(rules_of("yukon"), deal)
        begun = loop.time()
        await adviser.advise_on_time(game)
        assert loop.time() - begun >= 0.1
    adviser.close()


async def test_switched_off_nothing_is_started_and_the_first_policy_answers_at_once(ledger: Ledger) -> None:
    adviser = Adviser(ledger, ms=0)
    assert adviser.warm_up() is None
    game = Game.start(rules_of("yukon"), "ms:2")
    assert await adviser.advise_on_time(game) == advise(game)
    assert adviser._searcher._pool is None


async def test_a_hint_holds_up_its_own_game_alone(tmp_path: Path) -> None:
    limits = (*(f"{name}=0" for name in (*NO_LIMITS, "pool_deals")), "advice_ms=600")
    flags = ("--daily", "none", *(part for limit in limits for part in ("--limit", limit)))
    with LiveServer(tmp_path, *flags) as server:
        async with calling(server.url) as player, calling(server.url) as other:
            loop = asyncio.get_running_loop()
            table = await player.ask("new", variant="yukon", deal="ms:2")
            begun = loop.time()
            asked = await player.send("hint", game=table["game"])
            answered = 0
            waiting = asyncio.create_task(player.reply(asked))
            while not waiting.done():
                await other.ask("ping")
                answered += 1
            assert loop.time() - begun >= 0.6
            assert answered > 20
            hint = await waiting
            assert hint["action"] == "move"
            moved = await player.ask("auto", game=table["game"], base=0)
            assert (moved["by"], moved["seq"]) == ("auto", 1)


async def test_the_better_policy_gets_ready_a_while_after_the_start(ledger: Ledger) -> None:
    adviser = Adviser(ledger, ms=250)
    looking = asyncio.create_task(adviser.look_after(after=3600))
    await asyncio.sleep(0)
    assert adviser._searcher._pool is None
    looking.cancel()
    await adviser.look_after(after=0)
    await (adviser.warm_up() or pytest.fail("it is not under way"))
    assert adviser.is_ready
    adviser.close()
