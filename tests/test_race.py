"""A race as plain data: seats, places, the ghost, and what each player is told."""

from __future__ import annotations

import json
from typing import Any

import pytest

from chilkoot.table import Ghost, LogEntry, Race, Terms, all_told, ghost_of, race_progress, race_reply
from chilkoot.table.race import Mark, ghost_at
from chilkoot.wire import encode
from lines import losing_line, random_line
from variants import rules_of

Frame = dict[str, Any]


def waiting(seats: int = 3, **more: Any) -> Race:
    usual: Frame = {"variant": "yukon", "level": None, "rules_hash": "h", "created_ms": 1000}
    return Race(id="r", key="the key", seats=seats, **usual | more)


def running(*players: str, **more: Any) -> Race:
    race = waiting(len(players), **more)
    for player in players:
        race.sit(player, player.title())
    race.starts_ms, race.ends_ms, race.deal = 10_000, 70_000, "ck:1"
    for seat in race.taken.values():
        seat.game = f"game of {seat.player}"
        seat.stands("playing", 0, 0, ended_ms=None, now_ms=10_000)
    return race


def told(race: Race, player: str = "ann", now_ms: int = 20_000) -> Frame:
    frame: Frame = json.loads(encode(race_reply(race, player, now_ms)))
    return frame


def places(race: Race) -> dict[str, int | None]:
    return {one["player"]["id"]: one.get("place") for one in told(race)["players"]}


def test_seats_are_taken_in_order_and_a_free_one_first() -> None:
    race = waiting()
    assert [race.sit(name, name).number for name in ("ann", "bob")] == [1, 2]
    del race.taken["ann"]
    assert race.sit("cid", "").number == 1
    assert not race.is_full
    assert race.sit("ann", "").number == 3
    assert race.is_full


@pytest.mark.parametrize("key", (None, "", "the ke", "the key ", "THE KEY", "\ud800"))
def test_only_its_key_opens_a_race(key: str | None) -> None:
    assert not waiting().opens_to(key)
    assert waiting().opens_to("the key")


def test_who_wins_first_is_first_by_the_servers_time_whatever_the_seat() -> None:
    race = running("ann", "bob", "cid")
    race.taken["cid"].stands("won", 52, 120, ended_ms=30_000, now_ms=30_000)
    race.taken["ann"].stands("won", 52, 90, ended_ms=40_000, now_ms=40_000)
    assert places(race) == {"cid": 1, "ann": 2, "bob": None}
    assert [one.get("ms") for one in told(race)["players"]] == [30_000, None, 20_000]


def test_those_who_did_not_win_are_placed_when_the_race_is_over() -> None:
    race = running("ann", "bob", "cid", "dan", "eve", "fay")
    race.taken["ann"].stands("lost", 20, 50, ended_ms=15_000, now_ms=15_000)
    race.taken["bob"].stands("playing", 30, 80, ended_ms=None, now_ms=15_000)
    race.taken["cid"].stands("won", 52, 200, ended_ms=16_000, now_ms=16_000)
    race.taken["dan"].stands("playing", 51, 80, ended_ms=None, now_ms=16_000)
    race.taken["dan"].ends("left", 51, 80, ended_ms=17_000)
    race.taken["eve"].stands("stuck", 20, 50, ended_ms=None, now_ms=17_000)
    race.taken["fay"].stands("playing", 30, 79, ended_ms=None, now_ms=17_000)
    assert places(race)["ann"] is None
    race.end(70_000)
    assert places(race) == {"cid": 1, "fay": 2, "bob": 3, "ann": 4, "eve": 4, "dan": 6}
    assert [one["status"] for one in told(race)["players"]] == ["lost", "late", "won", "left", "late", "late"]


def test_a_race_is_decided_when_nobody_plays_any_more() -> None:
    race = running("ann", "bob")
    race.taken["ann"].stands("won", 52, 90, ended_ms=20_000, now_ms=20_000)
    before = race.is_decided
    race.taken["bob"].ends("left", 0, 0, ended_ms=21_000)
    assert (before, race.is_decided, race.state) == (False, True, "running")


def test_what_counts_no_longer_changes_no_standing() -> None:
    race = running("ann", "bob")
    race.taken["bob"].ends("left", 0, 0, ended_ms=21_000)
    assert not race.taken["bob"].stands("won", 52, 90, ended_ms=22_000, now_ms=22_000)
    assert race.taken["bob"].status == "left"


def test_the_deal_is_told_when_the_race_is_over_and_not_before() -> None:
    race = running("ann", "bob")
    assert "deal" not in told(race)
    race.taken["ann"].stands("won", 52, 90, ended_ms=20_000, now_ms=20_000)
    assert "deal" not in told(race)
    race.end(30_000)
    assert told(race)["deal"] == "ck:1"


def test_each_player_is_told_of_their_own_game_alone() -> None:
    race = running("ann", "bob")
    assert (told(race, "ann")["seat"], told(race, "ann")["game"]) == (1, "game of ann")
    assert (told(race, "bob")["seat"], told(race, "bob")["game"]) == (2, "game of bob")
    assert "game of bob" not in json.dumps(told(race, "ann"))


def test_progress_tells_of_the_seats_that_changed() -> None:
    race = running("ann", "bob", "cid")
    race.taken["bob"].stands("playing", 4, 11, ended_ms=None, now_ms=12_000)
    news = json.loads(encode(race_progress(race, {2}, 12_000)))
    assert news == {
        "type": "race_progress",
        "race": "r",
        "players": [{"seat": 2, "status": "playing", "score": 4, "moves": 11}],
    }


def test_two_hundred_seats_are_told_in_one_frame_of_bounded_size() -> None:
    race = running(*(f"player {number:14}" for number in range(256)))
    assert len(encode(race_reply(race, "x", 20_000, seats=all_told(race, 20_000)))) < 64 * 1024


# ghosts


def recorded(deal: str, line: tuple[str, ...]) -> Ghost:
    log = [LogEntry(text=text, by="player", at_ms=5000 + 1000 * n) for n, text in enumerate(line, 1)]
    terms = Terms(
        id="old",
        owner="zoe",
        variant="yukon",
        level=None,
        rules_hash="h",
        origin="fresh",
        watch="open",
        key="k",
        watch_key=None,
        started_ms=5000,
    )
    return ghost_of(terms, "Zoe", rules_of("yukon"), deal, log)


def test_a_ghost_stands_as_the_recorded_game_stood_at_that_time() -> None:
    ghost = recorded("ck:31", random_line("yukon", "ck:31", 12))
    assert ghost_at(ghost, 0) == ghost_at(ghost, 999) == Mark(0, "playing", 0, 0)
    assert ghost_at(ghost, 4500).moves == 4
    assert ghost_at(ghost, 10**9).moves == 12


def test_a_ghost_races_along_and_tells_its_end_with_the_race() -> None:
    deal, line = losing_line("yukon")
    race = running("ann", ghost=recorded(deal, line))
    first = told(race, now_ms=10_000)["players"][1]
    assert (first["seat"], first["ghost"], first["player"]["name"]) == (2, True, "Zoe")
    assert (first["status"], first["moves"]) == ("playing", 0)
    assert told(race, now_ms=12_500)["players"][1]["moves"] == 2
    race.taken["ann"].stands("won", 52, 90, ended_ms=11_000, now_ms=11_000)
    race.end(11_000)
    last = told(race, now_ms=11_000)["players"][1]
    assert (last["status"], last["moves"], last["place"]) == ("lost", len(line), 2)


def test_a_ghost_that_won_in_less_time_comes_first() -> None:
    ghost = Ghost("old", "zoe", "Zoe", "ck:1", (Mark(0, "playing", 0, 0), Mark(900, "won", 52, 80)))
    race = running("ann", ghost=ghost)
    race.taken["ann"].stands("won", 52, 90, ended_ms=11_000, now_ms=11_000)
    race.end(11_000)
    assert places(race) == {"zoe": 1, "ann": 2}
