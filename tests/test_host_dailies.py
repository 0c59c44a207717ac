"""Dailies as a client meets them: one deal and one attempt a day, whatever clocks, connections and cheats do."""

from __future__ import annotations

import asyncio
import json
import logging
import sqlite3
import time
import urllib.error
import urllib.request
from contextlib import AsyncExitStack, closing
from pathlib import Path
from typing import Any

import pytest

from caller import Caller, Frame, calling
from chilkoot.daily import DAY_MS, GRACE_MS, closes_ms, date_after, opens_ms, reveals_ms
from chilkoot.host.almanac import Almanac, DailyGame
from chilkoot.host.certifier import CertifierFailed
from chilkoot.host.clock import Clock
from chilkoot.record import Recording, StoreUnavailable, parse_recording, verify
from day_houses import DayHouse, SetClock, day_house, win

DAY = "2026-11-29"
NOON = opens_ms(DAY) + DAY_MS // 2
HOUR = 3_600_000


@pytest.fixture
def clock() -> SetClock:
    return SetClock(NOON)


def rows(folder: Path, query: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(folder / "games.db")) as connection:
        return connection.execute(query).fetchall()


def secrets_of(folder: Path) -> list[str]:
    """What must not be told of the days: season secrets, and the deals of attempts."""
    tips = [tip.hex() for (tip,) in rows(folder, "SELECT tip FROM season_secret")]
    deals = [
        deal.removeprefix("ck:") for (deal,) in rows(folder, "SELECT deal FROM game WHERE contest = 'daily'")
    ]
    assert tips
    return tips + deals


class Hearing(Caller):
    """A caller that keeps every frame."""

    heard: list[str]

    async def next(self) -> Frame:
        frame = await super().next()
        self.heard.append(json.dumps(frame))
        return frame


async def known(stack: AsyncExitStack, house: DayHouse, name: str) -> Caller:
    """Somebody with an identity."""
    caller = await stack.enter_async_context(calling(house.url))
    assert (await caller.ask("hello", name=name))["type"] == "welcome"
    return caller


async def get(url: str) -> tuple[int, bytes]:
    def fetch() -> tuple[int, bytes]:
        try:
            with urllib.request.urlopen(url, timeout=10) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read()

    return await asyncio.to_thread(fetch)


async def test_a_day_is_told_before_it_is_played_and_revealed_when_it_is_over(
    tmp_path: Path, clock: SetClock
) -> None:
    async with day_house(tmp_path, clock) as house, calling(house.url) as caller:
        await house.house.almanac.prepare()
        told = await caller.ask("daily")
        assert told["offered"] == [{"variant": "stairs"}, {"variant": "yukon"}]
        assert (told["date"], told["variant"], told["state"]) == (DAY, "stairs", "not_started")
        assert (told["proof"], told["revealed"]) == ("pending", False)
        assert (told["opens"], told["closes"]) == (opens_ms(DAY), closes_ms(DAY))
        assert told["commitment"]["day"] == 1
        assert "nonce" not in told
        await house.ready()
        chosen = await caller.ask("daily")
        assert (chosen["proof"], chosen["commitment"]) == ("proved", told["commitment"])
        assert {"nonce", "solver", "positions", "solution_hash"} < set(chosen)
        assert not {"key", "deal", "solution"} & set(chosen)
        clock.now = reveals_ms(DAY) - 1
        assert not (await caller.ask("daily", date=DAY))["revealed"]
        clock.now = reveals_ms(DAY)
        over = await caller.ask("daily", date=DAY)
        assert over["solution"][-1] == "home"
        assert over["nonce"] == chosen["nonce"]
        again = await caller.ask("new", variant="stairs", deal=over["deal"])
        assert (again["type"], again["deal"]) == ("snapshot", over["deal"])


async def test_commitments_of_the_week_ahead_are_published_and_nothing_more(
    tmp_path: Path, clock: SetClock
) -> None:
    async with day_house(tmp_path, clock) as house:
        await house.ready()
        base = f"http://127.0.0.1:{house.port}/daily"
        for days in range(8):
            status, body = await get(f"{base}/{date_after(DAY, days)}.json")
            assert status == 200
            file = json.loads(body)
            assert (file["date"], file["day"], file["key"]) == (date_after(DAY, days), 1 + days, None)
            assert [one["variant"] for one in file["dailies"]] == ["stairs", "yukon"]
            for one in file["dailies"]:
                assert ("nonce" in one) == (days == 0)
                assert not {"deal", "board", "solution"} & set(one)
        for nothing in (date_after(DAY, 8), date_after(DAY, -1), "2026-02-30", "x", "..", "%2e%2e"):
            assert (await get(f"{base}/{nothing}.json"))[0] == 404


async def test_twenty_starts_at_once_begin_one_game(tmp_path: Path, clock: SetClock) -> None:
    async with day_house(tmp_path, clock) as house, AsyncExitStack() as stack:
        await house.ready()
        first = await stack.enter_async_context(calling(house.url))
        token = (await first.ask("hello", name="Ann"))["token"]
        tabs = [first]
        for _ in range(4):
            tab = await stack.enter_async_context(calling(house.url))
            token = (await tab.ask("hello", token=token))["token"]
            tabs.append(tab)
        sent = [(tab, await tab.send("daily_start")) for _ in range(4) for tab in tabs]
        replies = [await tab.reply(number) for tab, number in sent]
        assert {reply["type"] for reply in replies} == {"snapshot"}
        assert len({reply["game"] for reply in replies}) == 1
    assert len(rows(tmp_path, "SELECT * FROM attempt")) == 1
    assert len(rows(tmp_path, "SELECT * FROM game")) == 1


async def test_an_attempt_goes_on_after_a_restart_and_a_reconnect(tmp_path: Path, clock: SetClock) -> None:
    async with day_house(tmp_path, clock) as house, calling(house.url) as caller:
        await house.ready()
        token = (await caller.ask("hello", name="Ann"))["token"]
        table = await caller.ask("daily_start")
        moved = await caller.move(table, "t1 1 c1")
    clock.now += HOUR
    async with day_house(tmp_path, clock) as house, calling(house.url) as caller:
        token = (await caller.ask("hello", token=token))["token"]
        # No look at the days is needed: they are on record.
        again = await caller.ask("daily_start")
        assert (again["game"], again["seq"]) == (table["game"], moved["seq"])
        await win(caller, again)
        told = await caller.ask("daily")
        assert (told["state"], told["result"]["ms"], told["streak"]) == ("over", HOUR, 1)


async def test_a_game_begun_before_midnight_counts_for_its_day(tmp_path: Path, clock: SetClock) -> None:
    async with day_house(tmp_path, clock) as house, AsyncExitStack() as stack:
        await house.ready()
        ann, bob = [await known(stack, house, name) for name in ("Ann", "Bob")]
        clock.now = closes_ms(DAY) - 200
        tables = [await caller.ask("daily_start") for caller in (ann, bob)]
        clock.now = closes_ms(DAY) + 5000
        await house.ready()
        await win(ann, tables[0])
        board = await ann.ask("leaderboard", date=DAY)
        assert [(line["player"]["name"], line["won"], line["ms"]) for line in board["entries"]] == [
            ("Ann", 1, 5200)
        ]
        today = await ann.ask("leaderboard")
        assert (today["date"], today["entries"]) == (date_after(DAY, 1), [])
        # Another day, another game; the streak goes on where the new day is won too.
        assert (await ann.ask("daily"))["streak"] == 1
        fresh = await ann.ask("daily_start")
        assert fresh["game"] != tables[0]["game"]
        await win(ann, fresh)
        assert (await ann.ask("daily"))["streak"] == 2
        # Who ends after the key was told is not ranked, and has lost nothing else.
        clock.now = reveals_ms(DAY)
        await win(bob, tables[1])
        late = await bob.ask("daily", date=DAY)
        assert late["result"]["won"]
        assert (late["result"]["ranked"], late["streak"], late["best_streak"]) == (False, 0, 0)
        assert "rank" not in late["result"]
        assert (await bob.ask("leaderboard", date=DAY))["total"] == 1


@pytest.mark.parametrize("first", ("2026-12-31", "2028-02-28", "2027-03-27"))
async def test_days_about_midnight_have_one_deal_and_one_attempt_each(
    tmp_path: Path, clock: SetClock, first: str
) -> None:
    """Half-hour steps over two midnights: the turn of a year, a leap day, the night in which Europe's clocks change."""
    clock.now = opens_ms(first) + 12 * HOUR
    token = None
    games: dict[str, set[str]] = {}
    for _ in range(4):
        # The house is shut and opened in between, too.
        async with day_house(tmp_path, clock) as house, calling(house.url) as caller:
            who: Frame = {"token": token} if token else {"name": "Ann"}
            token = (await caller.ask("hello", **who))["token"]
            for _ in range(24):
                await house.ready()
                table = await caller.ask("daily_start")
                date = (await caller.ask("daily"))["date"]
                games.setdefault(date, set()).add(table["game"])
                if table["status"] == "playing" and clock.now % DAY_MS > 20 * HOUR:
                    await win(caller, table)
                clock.now += HOUR // 2
    dates = [date_after(first, days) for days in range(3)]
    assert sorted(games) == dates
    assert all(len(ids) == 1 for ids in games.values())
    announced = rows(tmp_path, "SELECT date, variant, count(*) FROM daily GROUP BY date, variant, level")
    assert {count for *_, count in announced} == {1}
    assert len(rows(tmp_path, "SELECT * FROM attempt")) == 3
    assert len(rows(tmp_path, "SELECT * FROM season")) == 1
    clock.now = opens_ms(dates[2]) + DAY_MS - 1
    async with day_house(tmp_path, clock) as house, calling(house.url) as caller:
        await caller.ask("hello", token=token)
        assert (await caller.ask("daily"))["streak"] == 2


async def test_a_clock_that_was_set_back_doubles_nothing(tmp_path: Path, clock: SetClock) -> None:
    clock.now = closes_ms(DAY) + HOUR // 2
    async with day_house(tmp_path, clock) as house, calling(house.url) as caller:
        await house.ready()
        token = (await caller.ask("hello", name="Ann"))["token"]
        table = await caller.ask("daily_start")
    before = rows(tmp_path, "SELECT * FROM daily ORDER BY n")
    clock.now -= HOUR
    async with day_house(tmp_path, clock) as house, calling(house.url) as caller:
        await house.ready()
        await caller.ask("hello", token=token)
        # It is the day before again; what was begun stays what it was, and takes no negative time.
        assert (await caller.ask("daily"))["date"] == DAY
        await win(caller, await caller.ask("sync", game=table["game"]))
        clock.now += 2 * HOUR
        told = await caller.ask("daily")
        assert (told["date"], told["game"], told["result"]["ms"]) == (
            date_after(DAY, 1),
            table["game"],
            0,
        )
    after = rows(tmp_path, "SELECT * FROM daily ORDER BY n")
    assert after[: len(before)] == before
    assert len({row[1:4] for row in after}) == len(after)


def test_a_wall_clock_that_jumps_moves_no_day(monkeypatch: pytest.MonkeyPatch) -> None:
    steady = 1000.0
    monkeypatch.setattr(time, "time", lambda: 1_796_000_000.0)
    monkeypatch.setattr(time, "clock_gettime", lambda _: steady)
    clock = Clock()
    before = clock.ms()
    assert before == 1_796_000_000_000
    for wall in (0.0, 1_796_000_000.0 - 3600, 2_000_000_000.0):
        monkeypatch.setattr(time, "time", lambda wall=wall: wall)
        assert clock.ms() == before
    # Time goes by, also while the machine sleeps.
    steady += 8 * 3600
    assert clock.ms() == before + 8 * HOUR


async def test_two_servers_choose_the_same_day_once(tmp_path: Path, clock: SetClock) -> None:
    async with day_house(tmp_path, clock) as house:
        one = house.house.almanac
        other = Almanac(
            ("stairs", "yukon"),
            beacon="another",
            ledger=house.house.ledger,
            library=house.house.library,
            certifier=house.house.certifier,
            clock=clock,
        )
        await asyncio.gather(*(almanac.prepare() for almanac in (one, other) * 3))
        await asyncio.gather(*(almanac.choose() for almanac in (one, other) * 3))
        game = DailyGame("stairs", None)
        assert await one.find(DAY, game) == await other.find(DAY, game)
    assert len(rows(tmp_path, "SELECT * FROM season")) == 1
    assert len(rows(tmp_path, "SELECT * FROM daily")) == 16
    assert len(rows(tmp_path, "SELECT * FROM daily_solution")) == 4


async def test_the_next_season_is_published_a_month_before_it_begins(tmp_path: Path, clock: SetClock) -> None:
    async with day_house(tmp_path, clock, dailies=("stairs",)) as house:
        almanac = house.house.almanac
        await almanac.prepare()
        for days, seasons in ((334, 1), (335, 2), (364, 2), (365, 2), (699, 2), (700, 3)):
            clock.now = NOON + days * DAY_MS
            await almanac.prepare()
            assert len(rows(tmp_path, "SELECT * FROM season")) == seasons, days
        # A server that was off for years begins anew on the day it comes back.
        clock.now = NOON + 5000 * DAY_MS
        await almanac.prepare()
    firsts = [first for (first,) in rows(tmp_path, "SELECT first FROM season ORDER BY first")]
    assert firsts == [*(date_after(DAY, days) for days in (0, 365, 730)), date_after(DAY, 5000)]
    known_days = rows(tmp_path, "SELECT date, first, day FROM daily JOIN season ON daily.season = season.n")
    assert all(date_after(first, day - 1) == date for date, first, day in known_days)


async def test_who_comes_before_the_deal_is_chosen_waits_a_moment_or_is_told_to_come_again(
    tmp_path: Path, clock: SetClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chilkoot.host.almanac.WAIT_SECONDS", 0.05)
    async with day_house(tmp_path, clock) as house, calling(house.url) as caller:
        assert (await caller.ask("daily"))["code"] == "busy"
        busy = await caller.ask("daily_start")
        assert (busy["code"], busy["retry_after_ms"]) == ("busy", 2000)
        monkeypatch.setattr("chilkoot.host.almanac.WAIT_SECONDS", 10)
        task = asyncio.create_task(house.house.almanac.look_after())
        # The task has better things to do for a while, unless somebody asks.
        table = await caller.ask("daily_start", variant="yukon")
        assert (table["type"], table["variant"]) == ("snapshot", "yukon")
        task.cancel()


async def test_a_search_without_an_answer_is_tried_again_and_then_gone_without(
    tmp_path: Path, clock: SetClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with day_house(tmp_path, clock, dailies=("stairs",)) as house, calling(house.url) as caller:
        monkeypatch.setattr("chilkoot.host.almanac.WAIT_SECONDS", 0.01)

        async def fails(_: str, __: str) -> None:
            raise CertifierFailed("it ended")

        monkeypatch.setattr(house.house.certifier, "certificate", fails)
        for _ in range(4):
            await house.ready()
            assert (await caller.ask("daily_start"))["code"] == "busy"
        await house.ready()
        told = await caller.ask("daily")
        assert (told["proof"], told["nonce"]) == ("not_proved", 0)
        assert "solution_hash" not in told
        assert (await caller.ask("daily_start"))["winnable"] == "not_proved"


async def test_the_nonce_is_the_first_with_a_winning_line_and_none_of_a_hundred_is_said_to_be_none(
    tmp_path: Path, clock: SetClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with day_house(tmp_path, clock, dailies=("stairs",)) as house, calling(house.url) as caller:
        asked: list[str] = []

        async def seventh(rules: str, deal: str) -> Any:
            asked.append(deal)
            return await house.certificate(rules, deal) if len(asked) == 7 else None

        monkeypatch.setattr("day_houses.is_winnable", lambda _: True)
        monkeypatch.setattr(house.house.certifier, "certificate", seventh)
        await house.ready()
        assert (await caller.ask("daily"))["nonce"] == 6
        assert asked[0] != asked[6]
        clock.now += DAY_MS
        await house.ready()
        # Tomorrow was asked for as well: the hundred that followed found nothing.
        assert len(asked) >= 107
        told = await caller.ask("daily")
        assert (told["proof"], told["nonce"]) == ("not_proved", 0)


async def test_a_guests_game_counts_once_the_guest_has_said_hello(tmp_path: Path, clock: SetClock) -> None:
    async with day_house(tmp_path, clock) as house:
        await house.ready()
        for says_hello in (False, True):
            async with calling(house.url) as guest:
                table = await guest.ask("daily_start")
                if says_hello:
                    await guest.ask("hello", name="Late")
                await win(guest, table)
                result = (await guest.ask("daily"))["result"]
                assert (result["won"], result["ranked"]) == (True, says_hello)
        async with calling(house.url) as other:
            board = await other.ask("leaderboard")
    assert [line["player"]["name"] for line in board["entries"]] == ["Late"]
    assert "me" not in board


async def test_help_is_counted_also_when_the_page_is_loaded_again(tmp_path: Path, clock: SetClock) -> None:
    async def hint(caller: Caller, table: Frame) -> int:
        await caller.ask("hint", game=table["game"])
        return int(table["seq"])

    async def undo(caller: Caller, table: Frame) -> int:
        moved = await caller.move(table, "t1 1 c1")
        return int((await caller.ask("undo", game=table["game"], base=moved["seq"]))["seq"])

    async def auto(caller: Caller, table: Frame) -> int:
        return int((await caller.ask("auto", game=table["game"], base=table["seq"]))["seq"])

    async def nothing(_: Caller, table: Frame) -> int:
        return int(table["seq"])

    tokens: dict[str, str] = {}
    ways = {"hint": hint, "undo": undo, "auto": auto, "none": nothing}
    async with day_house(tmp_path, clock) as house:
        await house.ready()
        for name, way in ways.items():
            async with calling(house.url) as caller:
                tokens[name] = (await caller.ask("hello", name=name))["token"]
                await way(caller, await caller.ask("daily_start"))
    async with day_house(tmp_path, clock) as house:
        for name in ways:
            async with calling(house.url) as caller:
                await caller.ask("hello", token=tokens[name])
                await win(caller, await caller.ask("daily_start"))
                result = (await caller.ask("daily"))["result"]
                assert result["help"] == ("clean" if name == "none" else "assisted"), name
                assert [result[f"{kind}s"] for kind in ("hint", "undo", "auto")] == [
                    int(name == kind) for kind in ("hint", "undo", "auto")
                ]
        async with calling(house.url) as caller:
            board = await caller.ask("leaderboard")
    assert board["entries"][0]["player"]["name"] == "none"
    assert [line["help"] for line in board["entries"]] == ["clean"] + ["assisted"] * 3


async def test_nobody_else_sees_a_running_daily_by_any_way(tmp_path: Path, clock: SetClock) -> None:
    async with day_house(tmp_path, clock) as house, AsyncExitStack() as stack:
        await house.ready()
        ann, eve = [await known(stack, house, name) for name in ("Ann", "Eve")]
        table = await ann.ask("daily_start")
        game = table["game"]
        web = f"http://127.0.0.1:{house.port}"
        for is_over in (False, True):
            if is_over:
                await win(ann, table)
            for fields in ({}, {"key": table["key"]}, {"role": "player", "key": table["key"]}):
                assert (await eve.ask("join", game=game, **fields))["code"] == "no_such_game"
            for kind in ("sync", "recording", "replay", "legal", "hint", "restart", "leave", "analyse"):
                assert (await eve.ask(kind, game=game))["code"] == "no_such_game", kind
            assert (await eve.ask("race", ghost=game))["code"] == "no_such_game"
            # Nor where its player would let everybody look on.
            await ann.ask("watch", game=game, watch="open")
            assert (await eve.ask("watchable"))["games"] == []
            assert (await eve.ask("join", game=game))["code"] == "no_such_game"
            assert (await eve.ask("home", game=game, base=0))["code"] == "no_such_game"
            back = await eve.ask("hello", games={game: 0})
            assert back["type"] == "welcome"
            assert (await eve.next())["code"] == "no_such_game"
            for path in (f"recordings/{game}.json", f"deals/{game}.svg"):
                assert (await get(f"{web}/{path}"))[0] == 404
        # Not even for who has played it.
        for kind, field in (
            ("recording", "game"),
            ("replay", "game"),
            ("restart", "game"),
            ("analyse", "game"),
            ("race", "ghost"),
        ):
            refused = await ann.ask(kind, **{field: game})
            assert refused["code"] == "not_over", kind
            assert "Others still play this deal" in refused["message"], kind
        [entry], shown = (await ann.ask("games"))["games"], await ann.ask("sync", game=game)
        assert (entry["contest"], shown["contest"]) == ("daily", "daily")
        assert not {"deal"} & (set(entry) | set(shown))
        assert "game" not in (await eve.ask("leaderboard"))["entries"][0]
        clock.now = reveals_ms(DAY)
        line = (await eve.ask("leaderboard", date=DAY))["entries"][0]
        assert line["game"] == game
        assert (await eve.ask("replay", game=game, speed=1e6))["type"] == "snapshot"
        assert (await get(f"{web}/recordings/{game}.json"))[0] == 200
        assert (await ann.ask("restart", game=game))["type"] == "snapshot"
        deal = (await eve.ask("daily", date=DAY))["deal"]
        assert (await eve.ask("recording", game=game))["recording"]["deal"] == deal
    assert rows(tmp_path, "SELECT deal, contest FROM game") == [(deal, "daily"), (deal, None)]


async def test_a_daily_is_played_once_and_a_loss_is_final(tmp_path: Path, clock: SetClock) -> None:
    async with day_house(tmp_path, clock) as house, AsyncExitStack() as stack:
        await house.ready()
        ann = await known(stack, house, "Ann")
        table = await ann.ask("daily_start")
        lost = await ann.ask("give_up", game=table["game"], base=0)
        assert lost["status"] == "lost"
        again = await ann.ask("daily_start")
        assert (again["game"], again["status"]) == (table["game"], "lost")
        for kind, fields in (("undo", {"base": 1}), ("home", {"base": 1}), ("auto", {"base": 1})):
            refused = await ann.ask(kind, game=table["game"], **fields)
            assert refused["code"] == "game_over", kind
        board = await ann.ask("leaderboard")
        assert [(one["won"], one["rank"]) for one in board["entries"]] == [(0, 1)]
        assert (await ann.ask("daily"))["result"]["won"] is False


async def test_what_is_sent_again_or_says_its_own_time_changes_nothing(
    tmp_path: Path, clock: SetClock
) -> None:
    async with day_house(tmp_path, clock) as house, AsyncExitStack() as stack:
        await house.ready()
        ann = await known(stack, house, "Ann")
        table = await ann.ask("daily_start", 100)
        same = await ann.ask("daily_start", 100)
        assert same == table
        assert (await ann.ask("daily_start", 100, variant="yukon"))["code"] == "id_reused"
        for kind, more in (
            ("daily_start", {"date": DAY}),
            ("daily_start", {"at": 0}),
            ("daily", {"now": 0}),
            ("move", {"game": table["game"], "base": 0, "from": "t1", "to": "c1", "ms": 1}),
        ):
            assert (await ann.ask(kind, **more))["code"] == "bad_message"
        first = await ann.ask("move", 200, game=table["game"], base=0, from_="t1", to="c1")
        assert await ann.ask("move", 200, game=table["game"], base=0, from_="t1", to="c1") == first
        clock.now += 1000
        await win(ann, await ann.ask("sync", game=table["game"]))
        assert (await ann.ask("daily"))["result"]["ms"] == 1000


async def test_a_day_or_game_that_there_is_not_is_said_to_be_none(tmp_path: Path, clock: SetClock) -> None:
    wrong: list[tuple[Frame, str]] = [
        ({"date": "2026-11-30"}, "not_yet"),
        ({"date": "9999-12-31"}, "not_yet"),
        ({"date": "2026-11-28"}, "no_daily"),
        ({"date": "yesterday"}, "bad_message"),
        ({"date": "2026-11-31"}, "bad_message"),
        ({"variant": "klondike"}, "no_daily"),
        ({"variant": "nosuch"}, "no_daily"),
        ({"variant": "stairs", "level": 3}, "no_daily"),
        ({"variant": "stairs", "level": -1}, "no_daily"),
    ]
    async with day_house(tmp_path, clock) as house, calling(house.url) as caller:
        await house.ready()
        for fields, code in wrong:
            refused = await caller.ask("daily", **fields)
            assert refused["code"] == code, fields
            if code == "not_yet":
                assert refused["detail"] == {"today": DAY}
            if code == "no_daily":
                assert refused["detail"]["offered"]
            if "date" not in fields:
                assert (await caller.ask("daily_start", **fields))["code"] == code, fields
            elif code != "no_daily":
                assert (await caller.ask("leaderboard", **fields))["code"] == code, fields


async def test_every_line_of_a_board_leads_to_a_recording_that_verifies(
    tmp_path: Path, clock: SetClock
) -> None:
    async with day_house(tmp_path, clock) as house, AsyncExitStack() as stack:
        await house.ready()
        callers = [await known(stack, house, f"Player {number}") for number in range(5)]
        tables = [await caller.ask("daily_start") for caller in callers]
        for number, (caller, table) in enumerate(zip(callers, tables, strict=True)):
            clock.now += 1000
            if number == 3:
                await caller.ask("give_up", game=table["game"], base=0)
            else:
                await win(caller, table)
        clock.now = reveals_ms(DAY)
        await house.ready()
        board: Frame = {}
        for period in ("day", "week", "all"):
            board = await callers[0].ask("leaderboard", period=period, date=DAY)
            assert board["total"] == len(board["entries"]) == 5
            for line in board["entries"]:
                reply = await callers[1].ask("recording", game=line["game"])
                recording = parse_recording(json.dumps(reply["recording"]).encode())
                assert isinstance(recording, Recording)
                assert verify(recording) == []
                assert (recording.player, recording.moves, recording.score) == (
                    line["player"]["id"],
                    line["moves"],
                    line["score"],
                )
                last = recording.actions[-1].at_ms
                assert (recording.status == "won", last - recording.created_ms) == (
                    bool(line["won"]),
                    line["ms"],
                )
        # The same table for all, solved by the same moves: only the time tells them apart.
        assert [line["player"]["name"] for line in board["entries"]] == [
            f"Player {number}" for number in (0, 1, 2, 4, 3)
        ]


async def test_equal_results_share_a_rank_and_pages_hold_together(tmp_path: Path, clock: SetClock) -> None:
    async with day_house(tmp_path, clock) as house, AsyncExitStack() as stack:
        await house.ready()
        callers = [await known(stack, house, f"Player {number}") for number in range(7)]
        for number, caller in enumerate(callers):
            table = await caller.ask("daily_start")
            # Two, three and two of them take the same time.
            clock.now += (1000, 1000, 2000, 2000, 2000, 3000, 3000)[number]
            await win(caller, table)
        ranks: list[int] = []
        after: Frame = {}
        pages = 0
        while True:
            page = await callers[3].ask("leaderboard", limit=2, **after)
            ranks += [line["rank"] for line in page["entries"]]
            pages += 1
            assert page["total"] == 7
            assert (page["me"]["rank"], page["me"]["player"]["name"]) == (3, "Player 3")
            assert [line["rank"] for line in page["around"]] == [1, 3, 3, 3, 6]
            if "next" not in page:
                break
            after = {"after": page["next"]}
        assert (pages, ranks) == (4, [1, 1, 3, 3, 3, 6, 6])
        for wrong in ("x", "1.2.3", page.get("next", "") + "."):
            assert (await callers[0].ask("leaderboard", after=wrong))["code"] == "bad_message"


async def test_a_week_sums_its_days(tmp_path: Path, clock: SetClock) -> None:
    monday = "2026-11-30"
    clock.now = opens_ms(monday) + HOUR
    async with day_house(tmp_path, clock) as house, AsyncExitStack() as stack:
        ann, bob = [await known(stack, house, name) for name in ("Ann", "Bob")]
        for number in range(8):
            await house.ready()
            if number != 2:
                table = await ann.ask("daily_start")
                clock.now += 1000
                await win(ann, table)
            if number == 1:
                table = await bob.ask("daily_start")
                await win(bob, table)
            clock.now += DAY_MS
        week = await bob.ask("leaderboard", period="week", date="2026-12-06")
        assert week["date"] == monday
        assert [(one["player"]["name"], one["days"], one["won"], one["ms"]) for one in week["entries"]] == [
            ("Ann", 6, 6, 6000),
            ("Bob", 1, 1, 0),
        ]
        ever = await bob.ask("leaderboard", period="all")
        assert [(one["days"], one["won"]) for one in ever["entries"]] == [(7, 7), (1, 1)]
        told = await ann.ask("daily")
        assert (told["streak"], told["best_streak"]) == (5, 5)
        # The game of a line is the newest that is no longer sealed.
        clock.now = opens_ms("2026-12-08") + HOUR
        newest = (await ann.ask("leaderboard", period="all"))["entries"][0]["game"]
        assert (await ann.ask("daily", date="2026-12-06"))["game"] == newest


async def test_a_result_that_can_not_be_stored_is_not_told(
    tmp_path: Path, clock: SetClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with day_house(tmp_path, clock) as house, AsyncExitStack() as stack:
        await house.ready()
        ann = await known(stack, house, "Ann")
        table = await ann.ask("daily_start")
        with monkeypatch.context() as broken:

            async def fails(_: object) -> StoreUnavailable:
                return StoreUnavailable("the disk is full")

            broken.setattr(house.house.ledger, "commit", fails)
            assert (await ann.ask("give_up", game=table["game"], base=0))["code"] == "unavailable"
        assert (await ann.ask("daily"))["state"] == "playing"
        assert (await ann.ask("give_up", game=table["game"], base=0))["type"] == "diff"
        assert (await ann.ask("daily"))["state"] == "over"
        assert (await ann.ask("leaderboard"))["total"] == 1


async def test_no_frame_log_or_page_of_a_running_day_holds_a_secret(
    tmp_path: Path, clock: SetClock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    pages: list[str] = []
    async with day_house(tmp_path, clock) as house, calling(house.url) as socket:
        await house.ready()
        ann = Hearing(socket.socket)
        ann.heard = []
        await ann.ask("hello", name="Ann")
        table = await ann.ask("daily_start")
        for kind in ("daily", "leaderboard", "games", "stats"):
            await ann.ask(kind)
        for kind in ("sync", "hint", "legal", "recording"):
            await ann.ask(kind, game=table["game"])
        await win(ann, table)
        for kind in ("sync", "recording", "replay", "restart"):
            await ann.ask(kind, game=table["game"])
        for kind in ("daily", "leaderboard", "games"):
            await ann.ask(kind)
        for path in (f"daily/{DAY}.json", f"recordings/{table['game']}.json", f"deals/{table['game']}.svg"):
            pages.append((await get(f"http://127.0.0.1:{house.port}/{path}"))[1].decode())
    spoken = "\n".join([*ann.heard, *pages, caplog.text])
    secrets = secrets_of(tmp_path)
    assert len(secrets) == 2
    assert not [secret for secret in secrets if secret in spoken]
    assert '"solution":' not in spoken


def same_but_for_chance(frames: list[Frame], names: dict[str, str]) -> list[str]:
    """Frames with what is random in every game (ids, keys, tokens, hashes of chance) replaced by its place."""
    said = []
    for frame in frames:
        text = json.dumps(frame)
        for word, name in names.items():
            text = text.replace(word, name)
        said.append(text)
    return said


async def test_two_days_that_differ_only_in_hidden_cards_are_told_apart_by_nothing(
    tmp_path: Path, clock: SetClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The twin test: the same inputs, a hidden pair of cards exchanged, and every byte to everybody is the same."""
    boards = (
        "t1: 7C | t2: <AH> KH 5C 3H 8S JD | t3: <2C> <9C> 6S TC 3S 4S 9D | t4: <TH> <5S> <KD> 7D TS JH 4H 2H | "
        "t5: <3C> <QH> <2S> <6C> 8C AD TD KS QD | t6: <4C> <5D> <6H> <9S> <7S> AC 4D KC 6D 3D | "
        "t7: <JS> <2D> <JC> <7H> <QC> <5H> 9H QS 8H 8D AS"
    )
    twins = (boards, boards.replace("<AH>", "<x>").replace("<JS>", "<AH>").replace("<x>", "<JS>"))
    told: list[list[str]] = []
    for number, board in enumerate(twins):
        folder = tmp_path / str(number)
        folder.mkdir()
        clock.now = NOON
        async with day_house(folder, clock, dailies=("yukon",)) as house, AsyncExitStack() as stack:
            monkeypatch.setattr(house.house.almanac, "_draw", bytes)

            async def deal(_: object, board: str = board) -> str:
                return board

            monkeypatch.setattr(house.house.almanac, "deal", deal)
            await house.ready()
            ann, eve = [await known(stack, house, name) for name in ("Ann", "Eve")]
            welcome = await ann.ask("hello", name="Ann")
            other = await eve.ask("hello", name="Eve")
            table = await ann.ask("daily_start")
            game, frames = table["game"], [table]
            seq = 0

            async def do(who: Caller, kind: str, frames: list[Frame] = frames, **fields: Any) -> Frame:
                clock.now += 700
                frames.append(await who.ask(kind, **fields))
                return frames[-1]

            for kind in ("hint", "legal", "sync", "recording"):
                await do(ann, kind, game=game)
            for source in table["piles"]:
                for target in ("t1", "t3", "f", "t6"):
                    reply = await do(ann, "move", game=game, base=seq, from_=source, to=target, n=2)
                    seq = reply["seq"] if reply["type"] == "diff" else seq
                await do(eve, "tap", game=game, base=seq, pile=source)
            for kind in ("auto", "home", "auto", "undo"):
                reply = await do(ann, kind, game=game, base=seq)
                seq = reply["seq"] if reply["type"] == "diff" else seq
            for kind in ("daily", "leaderboard", "games", "stats"):
                await do(ann, kind)
                await do(eve, kind)
            await do(ann, "give_up", game=game, base=seq)
            for kind in ("sync", "legal", "hint", "recording", "replay", "restart"):
                await do(ann, kind, game=game)
                await do(eve, kind, game=game)
            for kind in ("daily", "leaderboard", "games", "daily_start"):
                await do(ann, kind)
            frames.append(
                {"page": (await get(f"http://127.0.0.1:{house.port}/daily/{DAY}.json"))[1].decode()}
            )
            names = {
                game: "GAME",
                table["key"]: "KEY",
                welcome["player"]["id"]: "ANN",
                other["player"]["id"]: "EVE",
            }
            told.append(same_but_for_chance(frames, names))
    assert len(told[0]) > 60
    for one, two in zip(*told, strict=True):
        assert one == two


async def test_the_days_are_kept_ready_by_the_task(
    tmp_path: Path, clock: SetClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chilkoot.host.almanac.EAGER_SECONDS", 0.01)
    monkeypatch.setattr("chilkoot.host.almanac.LOOK_SECONDS", 0.01)
    async with day_house(tmp_path, clock) as house, calling(house.url) as caller:
        task = asyncio.create_task(house.house.almanac.look_after())
        days = house.house.ledger.reader.days

        async def chosen(date: str) -> None:
            async with asyncio.timeout(10):
                while True:
                    found = await asyncio.to_thread(days.dailies, date)
                    if found and all(one.nonce is not None for one in found):
                        return
                    await asyncio.sleep(0.01)

        await chosen(date_after(DAY, 1))
        clock.now = closes_ms(DAY)
        # The new day was ready before it began.
        assert (await caller.ask("daily_start"))["type"] == "snapshot"
        await chosen(date_after(DAY, 2))
        task.cancel()


def test_the_hours_of_grace_are_what_the_page_says() -> None:
    page = (Path(__file__).resolve().parents[1] / "docs" / "daily.md").read_text()
    assert f"| {GRACE_MS // HOUR} hours after 24:00 UTC |" in page
