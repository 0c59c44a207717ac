"""A running server picks up files of rules for new games only: a real server, files that come, change, break and go."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from caller import Caller, Frame, calling
from servers import NO_LIMITS, LiveServer, command, environment

GAME = """\
name: Mine
extends: yukon
tableau: {{empty: {{accepts: {accepts}}}}}
"""
BROKEN = "name: Mine\nextends: yukon\ntableau: {colums: 8}\n"


class House:
    """A server with a folder of rules."""

    def __init__(self, folder: Path) -> None:
        self.rules = folder / "rules"
        self.rules.mkdir()
        limits = (part for name in NO_LIMITS for part in ("--limit", f"{name}=0"))
        self.server = LiveServer(folder, *limits, "--rules", str(self.rules))

    def write(self, name: str, text: str) -> None:
        """Write a file as careful programs do: it is there as a whole, or not at all."""
        new = self.rules / f"{name}.new"
        new.write_text(text, encoding="utf-8")
        new.replace(self.rules / f"{name}.yaml")

    @property
    def log(self) -> list[str]:
        return (self.server.folder / "log").read_text("utf-8").splitlines()

    def said(self, words: str) -> int:
        """How many lines of the log have these words in them."""
        return sum(words in line for line in self.log)

    async def says(self, words: str, times: int = 1) -> None:
        """Wait until the log has said it."""
        await until(lambda: self.said(words) >= times)


async def until(holds: Callable[[], bool | Awaitable[bool]]) -> None:
    """Wait until something holds; a look at the folders is due within seconds."""
    async with asyncio.timeout(20):
        while True:
            found = holds()
            if found if isinstance(found, bool) else await found:
                return
            await asyncio.sleep(0.05)


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    made = House(tmp_path)
    try:
        yield made
    finally:
        made.server.stop()


async def entry(caller: Caller, variant: str) -> Frame | None:
    """What the list of variants says of one."""
    listed = await caller.ask("variants")
    return next((one for one in listed["variants"] if one["id"] == variant), None)


async def rules(caller: Caller, variant: str) -> dict[str, Any]:
    reply = await caller.ask("rules", variant=variant)
    compiled: dict[str, Any] = reply["compiled"]
    assert reply["rules_hash"] == (await entry(caller, variant) or {})["rules_hash"]
    return compiled


async def accepted(caller: Caller, game: str) -> str:
    """What the empty columns of a game take."""
    word: str = (await caller.ask("sync", game=game))["accepts"]
    return word


async def test_a_file_counts_for_new_games_and_never_for_those_that_run(house: House) -> None:
    house.server.start()
    async with calling(house.server.url) as caller:
        assert (await caller.ask("new", variant="mine"))["code"] == "no_such_variant"

        house.write("mine", GAME.format(accepts="any"))
        await house.says("variant mine is new")
        first = await caller.ask("new", variant="mine", deal="ck:0")
        assert first["accepts"] == "any"
        assert (await rules(caller, "mine"))["tableau"][0]["empty"] == {"whole_column": "refuse"}

        house.write("mine", GAME.format(accepts="Q"))
        await house.says("variant mine is changed")
        second = await caller.ask("new", variant="mine", deal="ck:0")
        assert second["accepts"] == "Q"
        assert second["piles"] == first["piles"]
        assert second["rules_hash"] != first["rules_hash"]
        listed = await entry(caller, "mine")
        assert listed is not None
        assert listed["rules_hash"] == second["rules_hash"]

        assert await accepted(caller, first["game"]) == "any"
        assert (await caller.move(first, "t2 2 t6"))["type"] == "diff"
        again = await caller.ask("restart", game=first["game"])
        assert (again["accepts"], again["rules_hash"]) == ("any", first["rules_hash"])

    # A process that has never seen the first version takes its rules from the record.
    house.server.stop()
    house.server.start()
    async with calling(house.server.url) as caller:
        fresh = await caller.ask("new", variant="mine", deal="ck:0")
        assert fresh["rules_hash"] == second["rules_hash"]
    verified = await told("replay", "verify", "--json", "--database", house.server.database, house=house)
    assert {line["ok"] for line in verified} == {True}
    assert len(verified) == 4


async def test_who_plays_on_after_a_restart_plays_by_the_rules_the_game_began_with(house: House) -> None:
    house.write("mine", GAME.format(accepts="any"))
    house.server.start()
    async with calling(house.server.url) as caller:
        welcome = await caller.ask("hello")
        table = await caller.ask("new", variant="mine", deal="ck:0")
        assert (await caller.move(table, "t2 2 t6"))["type"] == "diff"
    house.server.kill()
    (house.rules / "mine.yaml").unlink()
    house.server.start()
    async with calling(house.server.url) as caller:
        await caller.ask("hello", token=welcome["token"])
        assert (await caller.ask("new", variant="mine"))["code"] == "no_such_variant"
        back = await caller.ask("join", game=table["game"])
        assert (back["type"], back["seq"]) == ("snapshot", 1)
        assert (back["accepts"], back["rules_hash"]) == ("any", table["rules_hash"])
        assert (await caller.ask("undo", game=table["game"], base=1))["type"] == "diff"


async def test_a_broken_file_keeps_the_last_good_one_and_says_so_once(house: House) -> None:
    house.write("mine", GAME.format(accepts="any"))
    house.write("broken", BROKEN)
    house.server.start()
    async with calling(house.server.url) as caller:
        assert await entry(caller, "broken") is None
        good = await caller.ask("new", variant="mine", deal="ck:0")

        house.write("mine", BROKEN)
        house.write("child", "extends: mine\ncells: {count: 1}\n")
        await house.says("variant mine is broken, the last good version stays")
        await house.says("variant child is broken, it is not offered")
        assert house.said('mine.yaml:3:11: unknown key "colums" in "tableau" [R102]') == 1
        after = await caller.ask("new", variant="mine", deal="ck:0")
        assert (after["accepts"], after["rules_hash"]) == ("any", good["rules_hash"])
        assert (await caller.ask("new", variant="child"))["code"] == "no_such_variant"

        # Something else changes, so there was another look.
        house.write("other", GAME.format(accepts="J"))
        await house.says("variant other is new")
        assert house.said("variant mine is broken") == 1
        assert house.said("mine.yaml:3:11") == 1
        assert house.said("broken.yaml:3:11") == 1

        house.write("mine", GAME.format(accepts="J"))
        await house.says("variant mine is changed")
        mended = await caller.ask("new", variant="mine", deal="ck:0")
        assert mended["accepts"] == "J"
        child = await caller.ask("new", variant="child", deal="ck:0")
        assert child["accepts"] == "J"
        assert "c1" in child["piles"]

        (house.rules / "mine.yaml").unlink()
        await house.says("variant mine is removed")
        assert await entry(caller, "mine") is None
        assert await accepted(caller, mended["game"]) == "J"
        assert (await caller.move(mended, "t2 2 t6"))["type"] == "diff"
        # What was built on it has lost its base, and stays as it was.
        assert (await caller.ask("new", variant="child", deal="ck:0"))["accepts"] == "J"
    assert house.said("Traceback") == 0


async def test_a_file_that_ships_gives_way_to_one_of_the_same_id(house: House) -> None:
    house.server.start()
    async with calling(house.server.url) as caller:
        shipped = await entry(caller, "alaska")
        house.write("alaska", "extends: yukon\nname: Our Alaska\ncells: {count: 3}\n")
        await house.says("variant alaska is changed")
        ours = await entry(caller, "alaska")
        assert ours is not None
        assert ours["name"] == "Our Alaska"
        (house.rules / "alaska.yaml").unlink()
        await house.says("variant alaska is changed", 2)
        assert await entry(caller, "alaska") == shipped


async def told(*arguments: str, house: House) -> list[Frame]:
    """What the command says as JSON, in a process of its own."""
    process = await asyncio.create_subprocess_exec(
        *command(*arguments),
        stdout=asyncio.subprocess.PIPE,
        env=environment(house.server.folder),
    )
    out, _ = await process.communicate()
    return [json.loads(line) for line in out.decode().splitlines()]
