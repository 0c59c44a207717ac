"""How-to-play pages in a running house: made once, made anew when the rules change, and never in the way of the loop."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

from chilkoot.host.guides import Guides
from chilkoot.host.ledger import Ledger
from variants import variant


@pytest.fixture
async def guides(tmp_path: Path) -> AsyncIterator[Guides]:
    ledger = Ledger(f"sqlite:///{tmp_path / 'games.db'}", on_fatal=lambda _: None)
    yield Guides(ledger)
    assert ledger.close(10)


async def test_a_guide_is_made_once_however_many_ask_at_once(guides: Guides) -> None:
    made = await asyncio.gather(*(guides.of(variant("yukon")) for _ in range(5)))
    assert all(one is made[0] for one in made)
    assert made[0].text.startswith("# Yukon\n")
    assert "<h1>Yukon</h1>" in made[0].page


async def test_a_guide_is_made_anew_when_the_rules_change(guides: Guides) -> None:
    before = await guides.of(variant("yukon"))
    renamed = msgspec.structs.replace(variant("yukon"), name="Yukon by another name")
    after = await guides.of(renamed)
    assert after.text.startswith("# Yukon by another name\n")
    assert before.text.startswith("# Yukon\n")


async def test_the_loop_goes_on_while_a_guide_is_made(guides: Guides) -> None:
    making = asyncio.create_task(guides.of(variant("canfield")))
    turns = 0
    before = time.monotonic()
    while not making.done():
        turns += 1
        await asyncio.sleep(0)
    assert turns > 5 * (time.monotonic() - before)
    assert "<h1>Canfield</h1>" in (await making).page
