"""Deals kept ready: found by a task beside the games, as many as are wanted, promised to one game at a time."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from chilkoot.config import Limits
from chilkoot.data import rules_folder
from chilkoot.engine import Game
from chilkoot.host.certifier import Certifier
from chilkoot.host.clock import Clock
from chilkoot.host.deal_pool import DealPool
from chilkoot.host.ledger import Ledger
from chilkoot.host.searcher import Searcher, SearchFailed, Urgency
from chilkoot.language.rules import from_canonical
from chilkoot.library import Library
from chilkoot.solver.certify import Certificate
from chilkoot.solver.verdict import Difficulty
from servers import lay_database
from variants import library, variant

FOUND = Certificate(("t1 1 f",), 70, Difficulty(2, 70, 1, 0, 9, 0, 9, 6.0, 90))


class Oracle(Certifier):
    """A certifier that says without a search: every second deal is good."""

    def __init__(self) -> None:
        super().__init__(Searcher(), Limits())
        self.asked: list[str] = []

    async def graded(self, rules: str, deal: str) -> Certificate | None:
        Game.start(from_canonical(rules), deal)
        self.asked.append(deal)
        return FOUND if len(self.asked) % 2 else None


@pytest.fixture
async def ledger(tmp_path: Path) -> AsyncIterator[Ledger]:
    lay_database(tmp_path / "games.db")
    opened = Ledger(f"sqlite:///{tmp_path / 'games.db'}", on_fatal=lambda _: None)
    yield opened
    opened.close(5)


def pool_of(ledger: Ledger, oracle: Oracle, *, deals: int = 2, games: int = 50) -> DealPool:
    return DealPool(ledger, library(), oracle, Clock(), deals=deals, games=games)


async def filled(pool: DealPool, ledger: Ledger, counts: dict[str, int]) -> None:
    """Let the task work until so many deals are free of each of these rules."""
    task = asyncio.create_task(pool.look_after(after=0))
    try:
        async with asyncio.timeout(20):
            while {one: await ledger.ask(ledger.reader.free_count, one) for one in counts} != counts:
                assert not task.done()
    finally:
        task.cancel()


def thicket() -> list[str]:
    return [level.hash for level in variant("yukon-thicket").levels]


async def test_rules_that_want_winnable_deals_get_as_many_as_are_kept(ledger: Ledger) -> None:
    oracle = Oracle()
    pool = pool_of(ledger, oracle)
    await filled(pool, ledger, dict.fromkeys(thicket(), 2))
    assert len(oracle.asked) == 11, "six that are good, and the others in between"
    assert len(set(oracle.asked)) == 11
    yukon = variant("yukon").levels[0]
    known = await ledger.ask(ledger.reader.certified_rules)
    assert sorted(known) == sorted(thicket()), "nobody asked for any other"
    assert await pool.promise(yukon) is None
    await filled(pool, ledger, {yukon.hash: 2})


async def test_what_was_asked_for_once_is_kept_ready_by_the_next_server_too(ledger: Ledger) -> None:
    yukon = variant("yukon").levels[0]
    first = pool_of(ledger, Oracle())
    await first.promise(yukon)
    await filled(first, ledger, {yukon.hash: 2})
    await filled(pool_of(ledger, Oracle(), deals=3), ledger, {yukon.hash: 3})


async def test_a_deal_is_promised_to_one_game_at_a_time(ledger: Ledger) -> None:
    pool = pool_of(ledger, Oracle())
    await filled(pool, ledger, dict.fromkeys(thicket(), 2))
    level = variant("yukon-thicket").levels[0]
    promised = await asyncio.gather(*(pool.promise(level) for _ in range(3)))
    deals = [one.deal for one in promised if one is not None]
    assert len(set(deals)) == len(deals) == 2, "whoever of the three was first"
    pool.let_go(deals[0])
    again = await pool.promise(level)
    assert again is not None
    assert again.deal == deals[0]


async def test_the_most_urgent_question_is_asked_first_and_one_that_is_late_is_let_go() -> None:
    searcher = Searcher()
    try:
        first = asyncio.create_task(searcher.ask(Urgency.STORE, None, str.upper, "first"))
        await asyncio.sleep(0)
        order: list[str] = []

        async def ask(urgency: Urgency, word: str) -> None:
            order.append(await searcher.ask(urgency, None, str.upper, word))

        others = [ask(Urgency.STORE, "c"), ask(Urgency.PLAYER, "a"), ask(Urgency.DAY, "b")]
        waiting = [asyncio.create_task(one) for one in others]
        with pytest.raises(TimeoutError):
            await searcher.ask(Urgency.PLAYER, 0, str.upper, "too late")
        assert await first == "FIRST"
        await asyncio.gather(*waiting)
        assert order == ["A", "B", "C"]
    finally:
        searcher.close()


async def test_a_search_that_dies_is_said_so_and_the_next_one_has_a_new_process() -> None:
    searcher = Searcher()
    try:
        with pytest.raises(SearchFailed):
            await searcher.ask(Urgency.PLAYER, 60, _die)
        assert await searcher.ask(Urgency.PLAYER, 60, str.upper, "alive") == "ALIVE"
    finally:
        searcher.close()


def _die() -> None:
    os._exit(1)


def test_a_search_whose_server_ended_before_it_had_begun_ends_too() -> None:
    program = "from chilkoot.host.searcher import _be_modest; import time; _be_modest(0, 10); time.sleep(100)"
    assert subprocess.run([sys.executable, "-c", program], timeout=60, check=False).returncode == 0


def test_the_shipped_rules_that_prefer_winnable_deals_are_thickets() -> None:
    wants = {
        one.id
        for one in Library([rules_folder()]).variants()
        if any(level.rules.deal_policy.winnable != "none" for level in one.levels)
    }
    assert wants == {"yukon-thicket"}
