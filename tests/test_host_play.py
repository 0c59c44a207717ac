"""What a client meets at a real server: every command, answered once, and what others see of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from websockets.asyncio.client import connect

from caller import Caller, Frame, apply, calling
from lines import losing_line, random_line
from servers import LiveServer


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    with LiveServer(tmp_path_factory.mktemp("server")) as running:
        yield running


async def play(caller: Caller, table: Frame, line: Iterator[str] | tuple[str, ...]) -> Frame:
    """Play moves; the last diff."""
    for text in line:
        table = await caller.move(table, text)
        assert table["type"] == "diff", table
    return table


async def test_a_guest_plays_without_a_handshake(server: LiveServer) -> None:
    async with calling(server.url) as caller:
        table = await caller.ask("new", variant="yukon", deal="ck:0")
        assert (table["type"], table["re"], table["seq"], table["role"]) == ("snapshot", 1, 0, "player")
        assert table["piles"]["t1"] == ["5H"]
        assert table["piles"]["t2"] == ["??", "2S", "8D", "3S", "6S", "JH"]
        assert table["piles"]["f4"] == []
        diff = await caller.move(table, "t2 2 t6")
        assert diff["ops"] == [{"op": "move", "from": "t2", "to": "t6", "n": 2}]
        assert (diff["re"], diff["seq"], diff["can"]["undo"]) == (2, 1, True)


async def test_every_command_has_exactly_one_reply_with_its_id(server: LiveServer) -> None:
    async with calling(server.url) as caller:
        table = await caller.ask("new", 1000, variant="yukon")
        game = table["game"]
        commands: list[tuple[str, Frame]] = [
            ("variants", {}),
            ("rules", {"variant": "yukon"}),
            ("join", {"game": game}),
            ("sync", {"game": game}),
            ("games", {}),
            ("legal", {"game": game}),
            ("hint", {"game": game}),
            ("recording", {"game": game}),
            ("replay", {"game": game}),
            ("stats", {}),
            ("ping", {}),
            ("daily", {}),
            ("daily_start", {}),
            ("leaderboard", {}),
            ("race", {"variant": "yukon", "seats": 2}),
            ("race_join", {"race": "r", "key": "k"}),
            ("draw", {"game": game, "base": 0}),
            ("undo", {"game": game, "base": 0}),
            ("redo", {"game": game, "base": 0}),
            ("move", {"game": game, "base": 0, "from": "t1", "to": "t1"}),
            ("tap", {"game": game, "base": 0, "pile": "t1"}),
            ("home", {"game": game, "base": 9}),
            ("auto", {"game": game, "base": 9}),
            ("give_up", {"game": game, "base": 9}),
            ("restart", {"game": game}),
            ("leave", {"game": game}),
            ("hello", {}),
        ]
        # All at once: none is dropped, and they are answered in order.
        numbers = [
            await caller.send(kind, 7_000_000 - place, **fields)
            for place, (kind, fields) in enumerate(commands)
        ]
        frames: list[Frame] = []
        while len([frame for frame in frames if "re" in frame]) < len(numbers):
            frames.append(await caller.next())
        await caller.ask("ping")
        assert [frame["re"] for frame in [*frames, *caller.events] if "re" in frame] == numbers


async def test_the_actors_copy_is_the_reply_and_others_get_it_without_re(server: LiveServer) -> None:
    async with calling(server.url) as player, calling(server.url) as watcher:
        table = await player.ask("new", variant="yukon", deal="ck:0")
        seen = await watcher.ask("join", game=table["game"])
        assert (seen["role"], seen["viewers"]) == ("spectator", 2)
        assert not {"key", "watch_key", "deal"} & set(seen)
        mine = await player.move(table, "t2 2 t6")
        theirs = await watcher.event("diff")
        assert {key: value for key, value in mine.items() if key != "re"} == theirs


async def test_a_move_goes_to_the_foundation_that_takes_it(server: LiveServer) -> None:
    async with calling(server.url) as caller:
        table = await caller.ask("new", variant="yukon", deal="ck:0")
        refused = await caller.move(table, "t3 1 f1")
        assert (refused["type"], refused["code"], refused["seq"]) == ("refused", "wrong_suit", 0)
        diff = await caller.move(table, "t3 1 f")
        assert diff["ops"][0]["to"] == "f3"
        assert diff["score"] == 1


async def test_legal_is_what_move_accepts(server: LiveServer) -> None:
    async with calling(server.url) as caller:
        for variant in ("yukon", "yukon-cells", "yakutat-bay"):
            table = await caller.ask("new", variant=variant, deal="ck:21")
            legal = await caller.ask("legal", game=table["game"])
            listed = {(move["from"], move["n"], move["to"]) for move in legal["moves"]}
            for source, cards in table["piles"].items():
                for n in range(1, len(cards) + 1):
                    for target in table["piles"]:
                        reply = await caller.move(table, f"{source} {n} {target}")
                        assert (reply["type"] == "diff") == ((source, n, target) in listed)
                        if reply["type"] == "diff":
                            table["seq"] = (await caller.ask("undo", game=table["game"], base=reply["seq"]))[
                                "seq"
                            ]


async def test_tap_sends_home_or_tells_targets(server: LiveServer) -> None:
    async with calling(server.url) as caller:
        table = await caller.ask("new", variant="yukon", deal="ck:0")
        told = await caller.ask("tap", game=table["game"], base=0, pile="t2", n=2)
        assert (told["type"], told["targets"], told["seq"]) == ("targets", ["t6"], 0)
        diff = await caller.ask("tap", game=table["game"], base=0, pile="t3")
        assert (diff["type"], diff["seq"]) == ("diff", 1)


async def test_undo_and_redo_take_a_count_and_end_where_they_began(server: LiveServer) -> None:
    async with calling(server.url) as caller:
        table = await caller.ask("new", variant="yukon", deal="ck:0")
        line = random_line("yukon", "ck:0", 12)
        last = await play(caller, table, line)
        there = await caller.ask("sync", game=table["game"])
        back = await caller.ask("undo", game=table["game"], base=last["seq"], count=1000)
        assert (back["seq"], back["moves"], back["undos"]) == (13, 0, 12)
        assert back["check"] == table["check"]
        again = await caller.ask("redo", game=table["game"], base=13, count=1000)
        assert (again["seq"], again["moves"], again["check"]) == (14, 12, there["check"])
        assert "undos" not in again


async def test_a_stale_move_is_answered_with_what_was_missed(server: LiveServer) -> None:
    async with calling(server.url) as one, calling(server.url) as two:
        table = await one.ask("new", variant="yukon", deal="ck:0")
        await two.ask("join", game=table["game"], role="player", key=table["key"])
        # Both act on the same picture: one is first, the other is told.
        replies = await asyncio.gather(one.move(table, "t2 2 t6"), two.move(table, "t7 2 t5"))
        kinds = sorted(reply["type"] for reply in replies)
        assert kinds == ["diff", "error"]
        stale = next(reply for reply in replies if reply["type"] == "error")
        assert stale["code"] == "stale"
        assert stale["detail"]["seq"] == 1
        assert [diff["seq"] for diff in stale["detail"]["missed"]] == [1]
        ends = [await caller.ask("sync", game=table["game"]) for caller in (one, two)]
        assert ends[0]["check"] == ends[1]["check"]


async def test_two_moves_in_one_packet_are_carried_out_in_order(server: LiveServer) -> None:
    async with calling(server.url) as caller:
        table = await caller.ask("new", variant="yukon", deal="ck:0")
        first = await caller.send("move", game=table["game"], base=0, from_="t2", to="t6", n=2)
        second = await caller.send("undo", game=table["game"], base=1)
        assert (await caller.reply(first))["seq"] == 1
        assert (await caller.reply(second))["seq"] == 2


async def test_the_same_command_twice_at_once_is_carried_out_once(server: LiveServer) -> None:
    async with calling(server.url) as caller:
        table = await caller.ask("new", variant="yukon", deal="ck:0")
        fields = {"game": table["game"], "base": 0, "from_": "t2", "to": "t6", "n": 2}
        await caller.send("move", 50, **fields)
        await caller.send("move", 50, **fields)
        replies = [await caller.reply(50), await caller.reply(50)]
        assert replies[0] == replies[1]
        assert replies[0]["seq"] == 1
        assert (await caller.ask("sync", game=table["game"]))["seq"] == 1
        reused = await caller.ask("move", 50, **fields | {"n": 3})
        assert (reused["type"], reused["code"]) == ("error", "id_reused")


@pytest.mark.parametrize(
    ("kind", "fields"),
    (
        ("ping", {}),
        ("ping", {"t": 5}),
        ("sync", {}),
        ("legal", {}),
        ("variants", {}),
        ("stats", {}),
        ("games", {}),
    ),
)
async def test_readings_too_are_answered_once(server: LiveServer, kind: str, fields: Frame) -> None:
    async with calling(server.url) as caller:
        table = await caller.ask("new", variant="yukon", deal="ck:0")
        fields = fields | ({"game": table["game"]} if kind in {"sync", "legal"} else {})
        first = await caller.ask(kind, 99, **fields)
        await caller.move(table, "t2 2 t6")
        assert await caller.ask(kind, 99, **fields) == first
        assert (await caller.ask("leave", 99, game="x"))["code"] == "id_reused"


async def test_what_was_refused_stays_refused_for_the_same_id(server: LiveServer) -> None:
    async with calling(server.url) as caller:
        table = await caller.ask("new", variant="yukon", deal="ck:0")
        fields = {"game": table["game"], "base": 0, "from_": "t7", "to": "t6", "n": 1}
        first = await caller.ask("move", 60, **fields)
        assert first["type"] == "refused"
        assert await caller.ask("move", 60, **fields) == first


async def test_hello_gives_a_name_and_the_limits(server: LiveServer) -> None:
    async with calling(server.url) as caller:
        welcome = await caller.ask("hello", name="Zoë")
        assert welcome["player"]["name"] == "Zoë"
        assert welcome["heartbeat"] == 20
        assert {"rate", "burst", "message_bytes"} <= set(welcome["limits"])
        assert len(welcome["token"]) >= 43
        assert not welcome["resumed"]


@pytest.mark.parametrize("name", ("x", "<svg/onload=alert()>", "a\0b", "x" * 21, ""))
async def test_a_name_that_is_no_name_is_answered_with_its_place(server: LiveServer, name: str) -> None:
    async with calling(server.url) as caller:
        error = await caller.ask("hello", name=name)
        assert (error["code"], error["detail"]["path"]) == ("bad_message", "$.name")


async def test_home_and_auto_are_one_action_each(server: LiveServer) -> None:
    async with calling(server.url) as caller:
        table = await caller.ask("new", variant="yukon", deal="ck:0")
        home = await caller.ask("home", game=table["game"], base=0)
        assert (home["seq"], home["cause"], home["score"]) == (1, "home", 1)
        none = await caller.ask("home", game=table["game"], base=1)
        assert (none["type"], none["code"]) == ("refused", "nothing_to_send_home")
        auto = await caller.ask("auto", game=table["game"], base=1)
        assert (auto["type"], auto["seq"], auto["by"]) == ("diff", 2, "auto")


async def test_auto_alone_brings_a_game_to_its_end(server: LiveServer) -> None:
    async with calling(server.url) as caller:
        table = await caller.ask("new", variant="yukon", deal="ck:2")
        piles, seq = table["piles"], 0
        for _ in range(400):
            diff = await caller.ask("auto", game=table["game"], base=seq)
            seq = diff["seq"]
            apply(piles, diff["ops"])
            if diff.get("status") in {"won", "lost"}:
                break
        end = await caller.ask("sync", game=table["game"])
        assert end["status"] in {"won", "lost"}
        assert end["piles"] == piles
        assert end["deal"] == "ck:2"


async def test_a_hint_changes_nothing_and_is_put_on_record(server: LiveServer) -> None:
    async with calling(server.url) as caller:
        table = await caller.ask("new", variant="yukon", deal="ck:0")
        hint = await caller.ask("hint", game=table["game"])
        assert (hint["type"], hint["action"], hint["seq"]) == ("hint", "move", 0)
        assert hint["move"] == {"from": "t3", "n": 1, "to": "f3"}
        assert (await caller.ask("hint", game=table["game"]))["move"] == hint["move"]
        await caller.ask("give_up", game=table["game"], base=0)
        recording = (await caller.ask("recording", game=table["game"]))["recording"]
        assert [one["text"] for one in recording["hints"]] == ["t3 1 f3"] * 2


async def test_a_watcher_acts_on_nothing_and_sees_what_the_player_sees(server: LiveServer) -> None:
    async with calling(server.url) as player, calling(server.url) as watcher:
        table = await player.ask("new", variant="yukon", deal="ck:0")
        seen = await watcher.ask("join", game=table["game"])
        assert seen["piles"] == table["piles"]
        for kind in ("draw", "undo", "home", "auto", "give_up"):
            error = await watcher.ask(kind, game=table["game"], base=0)
            assert (error["type"], error["code"]) == ("error", "forbidden")
        assert (await watcher.ask("hint", game=table["game"]))["code"] == "forbidden"
        assert (await watcher.ask("restart", game=table["game"]))["code"] == "forbidden"
        assert (await watcher.ask("join", game=table["game"], role="player"))["code"] == "forbidden"
        assert (await watcher.ask("legal", game=table["game"]))["type"] == "legal"
        assert (await watcher.ask("leave", game=table["game"]))["type"] == "ok"
        await player.move(table, "t2 2 t6")
        await watcher.ask("ping")
        assert not [event for event in watcher.events if event["type"] == "diff"]


async def test_a_watcher_who_comes_late_sees_the_same_as_one_from_the_start(server: LiveServer) -> None:
    async with calling(server.url) as player, calling(server.url) as early, calling(server.url) as late:
        table = await player.ask("new", variant="yukon-thicket", deal="ck:9")
        piles = (await early.ask("join", game=table["game"]))["piles"]
        line = random_line("yukon-thicket", "ck:9", 15)
        for text in line:
            table = await player.move(table, text)
            apply(piles, (await early.event("diff"))["ops"])
        assert (await late.ask("join", game=table["game"]))["piles"] == piles


@pytest.mark.parametrize("watch", ("key", "closed"))
async def test_a_game_that_is_not_open_is_not_there_for_strangers(server: LiveServer, watch: str) -> None:
    async with calling(server.url) as player, calling(server.url) as stranger:
        table = await player.ask("new", variant="yukon", watch=watch)
        absent = await stranger.ask("sync", game="A" * 22)
        for kind in ("sync", "join", "legal", "recording", "replay", "leave", "hint", "restart"):
            error = await stranger.ask(kind, game=table["game"])
            assert error == absent | {"re": error["re"]}
        error = await stranger.ask("undo", game=table["game"], base=0)
        assert error == absent | {"re": error["re"]}
        if watch == "key":
            assert (await stranger.ask("join", game=table["game"], key=table["watch_key"]))[
                "role"
            ] == "spectator"
            assert (await stranger.ask("sync", game=table["game"]))["type"] == "snapshot"
            assert (await stranger.ask("undo", game=table["game"], base=0))["code"] == "forbidden"
        assert (await stranger.ask("join", game=table["game"], key="wrong", role="player"))["type"] == "error"
        mate = await stranger.ask("join", game=table["game"], key=table["key"], role="player")
        assert mate["role"] == "player"
        assert (await stranger.ask("home", game=table["game"], base=0))["type"] in {"diff", "refused"}


@pytest.mark.parametrize(
    "game", ("", "x", "A" * 22, "A" * 64, "'; drop table game; --", "\0", "../x", "ä", "\U0001f0a1")
)
async def test_a_game_that_is_not_there_is_told_so(server: LiveServer, game: str) -> None:
    async with calling(server.url) as caller:
        for kind in ("sync", "join", "legal", "recording", "replay", "leave", "hint", "restart"):
            error = await caller.ask(kind, game=game)
            assert (error["type"], error["code"]) == ("error", "no_such_game")
        assert (await caller.ask("undo", game=game, base=0))["code"] == "no_such_game"


async def test_viewers_are_counted_for_those_who_do_not_know(server: LiveServer) -> None:
    async with calling(server.url) as player:
        table = await player.ask("new", variant="yukon")
        assert table["viewers"] == 1
        async with calling(server.url) as watcher:
            assert (await watcher.ask("join", game=table["game"]))["viewers"] == 2
            told = await player.event("presence")
            assert (told["viewers"], told["game"], told["seq"]) == (2, table["game"], 0)
        assert (await player.event("presence"))["viewers"] == 1
        assert not [event for event in player.events if event["type"] == "presence"]


async def test_a_game_that_is_over_refuses_every_action(server: LiveServer) -> None:
    async with calling(server.url) as caller:
        table = await caller.ask("new", variant="yukon", deal="ck:0")
        diff = await caller.ask("give_up", game=table["game"], base=0)
        assert (diff["status"], diff["result"], diff["ops"]) == ("lost", "gave_up", [])
        for kind in ("undo", "redo", "draw", "home", "auto", "give_up"):
            refused = await caller.ask(kind, game=table["game"], base=1)
            assert (refused["type"], refused["code"]) == ("refused", "game_over")
        assert (await caller.move(diff, "t2 2 t6"))["code"] == "game_over"
        assert (await caller.ask("hint", game=table["game"]))["code"] == "game_over"
        assert (await caller.ask("legal", game=table["game"]))["moves"] == []


async def lose(caller: Caller) -> tuple[Frame, Frame]:
    """A game lost for want of moves: its first snapshot and its last diff."""
    deal, line = losing_line()
    board = await caller.ask("new", variant="yukon", deal=deal)
    last = await play(caller, board, line)
    assert (last["status"], last["result"]) == ("lost", "no_moves")
    return board, last


async def is_closed(caller: Caller, game: str) -> bool:
    """Whether a game tells what it hides while it may still be taken back, and says no more that it may."""
    replay = await caller.ask("replay", game=game)
    can = (await caller.ask("sync", game=game))["can"]
    recording = (await caller.ask("recording", game=game))["recording"]
    told = "deal" in recording
    assert told == (replay["type"] == "snapshot")
    assert can == dict.fromkeys(can, False) | {"undo": not told}
    if not told:
        assert replay["code"] == "not_over"
        assert "may still be taken back" in replay["message"]
    return told


async def test_a_loss_for_want_of_moves_stays_secret_until_it_is_closed(server: LiveServer) -> None:
    async with calling(server.url) as caller, calling(server.url) as watcher:
        table, last = await lose(caller)
        game = table["game"]
        assert "deal" not in await watcher.ask("join", game=game)
        assert not await is_closed(caller, game)
        assert (await caller.ask("redo", game=game, base=last["seq"]))["code"] == "game_over"
        back = await caller.ask("undo", game=game, base=last["seq"])
        assert back["status"] in {"playing", "stuck"}
        assert back["result"] is None
        again = await caller.ask("redo", game=game, base=back["seq"])
        assert (again["status"], again["result"]) == ("lost", "no_moves")
        end = await caller.ask("give_up", game=game, base=again["seq"])
        assert (end["type"], end["status"], end["ops"]) == ("diff", "lost", [])
        assert await is_closed(caller, game)
        assert (await watcher.ask("sync", game=game))["deal"] == table["deal"]


@pytest.mark.parametrize("kind", ("new", "restart"))
async def test_a_loss_is_closed_by_the_next_game(server: LiveServer, kind: str) -> None:
    async with calling(server.url) as caller:
        table, last = await lose(caller)
        assert not await is_closed(caller, table["game"])
        fields = {"variant": "yukon"} if kind == "new" else {"game": table["game"]}
        assert (await caller.ask(kind, **fields))["type"] == "snapshot"
        assert await is_closed(caller, table["game"])
        assert (await caller.ask("undo", game=table["game"], base=last["seq"]))["code"] == "game_over"


async def test_restart_lays_the_same_deal_as_a_new_game(server: LiveServer) -> None:
    async with calling(server.url) as caller:
        table = await caller.ask("new", variant="yukon-thicket", level=3)
        assert "deal" not in table
        again = await caller.ask("restart", game=table["game"])
        assert again["game"] != table["game"]
        assert (again["piles"], again["level"], again["rules_hash"]) == (
            table["piles"],
            3,
            table["rules_hash"],
        )
        listed = await caller.ask("games")
        assert [entry["game"] for entry in listed["games"]] == [again["game"], table["game"]]


async def test_my_games_come_newest_first_in_pages(server: LiveServer) -> None:
    async with calling(server.url) as caller:
        games = [(await caller.ask("new", variant="yukon"))["game"] for _ in range(5)]
        await caller.ask("give_up", game=games[1], base=0)
        pages: list[str] = []
        before: Frame = {}
        while True:
            page = await caller.ask("games", limit=2, **before)
            pages += [entry["game"] for entry in page["games"]]
            if not page["more"]:
                break
            before = {"before": pages[-1]}
        assert pages == games[::-1]
        playing = await caller.ask("games", state="playing")
        over = await caller.ask("games", state="over")
        assert [entry["game"] for entry in playing["games"]] == [games[4], games[3], games[2], games[0]]
        assert [entry["game"] for entry in over["games"]] == [games[1]]
        assert over["games"][0]["status"] == "lost"
        stats = await caller.ask("stats")
        assert (stats["started"], stats["finished"], stats["won"]) == (5, 1, 0)


async def test_nobody_lists_the_games_of_another(server: LiveServer) -> None:
    async with calling(server.url) as one, calling(server.url) as two:
        await one.ask("new", variant="yukon")
        assert (await two.ask("games"))["games"] == []
        assert (await two.ask("stats"))["started"] == 0


async def test_a_replay_shows_a_finished_game_in_frames_of_its_own(server: LiveServer) -> None:
    async with calling(server.url) as caller, calling(server.url) as other:
        table = await caller.ask("new", variant="yukon", deal="ck:0")
        last = await play(caller, table, random_line("yukon", "ck:0", 6))
        assert (await caller.ask("replay", game=table["game"]))["code"] == "not_over"
        await caller.ask("give_up", game=table["game"], base=last["seq"])
        number = await other.send("replay", game=table["game"], speed=1000, from_=2)
        first = await other.reply(number)
        assert (first["seq"], first["replay"], first["re"], first["deal"]) == (2, number, number, "ck:0")
        piles = first["piles"]
        for seq in range(3, 8):
            diff = await other.event("diff")
            assert (diff["seq"], diff["replay"]) == (seq, number)
            apply(piles, diff["ops"])
        end = await other.event("replay_end")
        assert (end["replay"], end["seq"]) == (number, 7)
        assert piles == (await caller.ask("sync", game=table["game"]))["piles"]


@pytest.mark.parametrize("speed", (0, -1, "fast"))
async def test_a_replay_needs_a_speed_above_nothing(server: LiveServer, speed: Any) -> None:
    async with calling(server.url) as caller:
        error = await caller.ask("replay", game="g", speed=speed)
        assert (error["code"], error["detail"]["path"]) == ("bad_message", "$.speed")


@pytest.mark.parametrize("speed", (1e9, 1e300))
async def test_a_replay_may_be_as_fast_as_one_likes(server: LiveServer, speed: float) -> None:
    async with calling(server.url) as caller:
        table = await caller.ask("new", variant="yukon")
        await caller.ask("give_up", game=table["game"], base=0)
        number = await caller.send("replay", game=table["game"], speed=speed)
        assert (await caller.reply(number))["replay"] == number
        assert (await caller.event("replay_end"))["replay"] == number


async def test_a_recording_of_a_live_game_hides_what_the_table_hides(server: LiveServer) -> None:
    async with calling(server.url) as caller:
        table = await caller.ask("new", variant="yukon", deal="ck:0")
        await play(caller, table, random_line("yukon", "ck:0", 5))
        text = json.dumps(await caller.ask("recording", game=table["game"]))
        assert "ck:0" not in text
        recording = json.loads(text)["recording"]
        assert recording["start"] == table["piles"]
        assert len(recording["actions"]) == 5


async def test_rules_are_told_in_three_forms(server: LiveServer) -> None:
    async with calling(server.url) as caller:
        rules = await caller.ask("rules", variant="yukon-thicket")
        assert rules["source"].startswith("dsl: 1")
        assert rules["levels"]["2"] == rules["compiled"]
        assert "# Yukon Thicket" in rules["text"]
        assert (await caller.ask("rules", variant="nope"))["code"] == "no_such_variant"
        assert (await caller.ask("new", variant="nope"))["code"] == "no_such_variant"
        listed = await caller.ask("variants")
        entry = next(entry for entry in listed["variants"] if entry["id"] == "yukon-thicket")
        assert (entry["levels"], entry["rules_hash"]) == ([1, 2, 3], rules["rules_hash"])


async def test_a_ping_is_answered_with_its_own_time_and_the_servers(server: LiveServer) -> None:
    async with calling(server.url) as caller:
        for t in (0, 12.5, 2**53, -7):
            pong = await caller.ask("ping", t=t)
            assert pong["t"] == t
            assert pong["time"] > 1_600_000_000_000
        assert "t" not in await caller.ask("ping")


async def test_a_house_without_dailies_says_so(server: LiveServer) -> None:
    async with calling(server.url) as caller:
        for kind in ("daily", "daily_start", "leaderboard"):
            reply = await caller.ask(kind)
            assert (reply["code"], reply["detail"]) == ("no_daily", {"offered": []})


async def test_messagepack_speaks_of_the_same_objects(server: LiveServer) -> None:
    async with (
        connect(server.url, subprotocols=["chilkoot.v1.msgpack"], compression=None) as socket,  # type: ignore[list-item]
        calling(server.url, subprotocols=["chilkoot.v1.json"]) as other,
    ):
        assert socket.subprotocol == "chilkoot.v1.msgpack"

        async def ask(**fields: Any) -> Frame:
            await socket.send(msgspec.msgpack.encode(fields))
            while True:
                data = await socket.recv()
                assert isinstance(data, bytes)
                frame: Frame = msgspec.msgpack.decode(data)
                if frame.get("re") == fields["id"]:
                    return frame

        table = await ask(type="new", id=1, variant="yukon", deal="ck:0")
        seen = await other.ask("join", game=table["game"])
        assert seen["piles"] == table["piles"]
        move = {"type": "move", "id": 2, "game": table["game"], "base": 0, "from": "t2", "to": "t6", "n": 2}
        diff = await ask(**move)
        assert diff.pop("re") == 2
        assert diff == await other.event("diff")
        assert await ask(**move) == diff | {"re": 2}
        assert (await ask(type="ping", id=3, x=1))["code"] == "bad_message"


async def test_each_variant_of_the_house_can_be_opened_and_played(server: LiveServer) -> None:
    async with calling(server.url) as caller:
        for entry in (await caller.ask("variants"))["variants"]:
            table = await caller.ask("new", variant=entry["id"])
            assert table["type"] == "snapshot", table
            legal = await caller.ask("legal", game=table["game"])
            if legal["moves"]:
                move = legal["moves"][0]
                assert (await caller.move(table, f"{move['from']} {move['n']} {move['to']}"))[
                    "type"
                ] == "diff"
            elif legal["draw"]:
                assert (await caller.ask("draw", game=table["game"], base=0))["type"] == "diff"


async def test_what_a_variant_does_not_allow_is_an_error_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "bare.yaml").write_text(
        "dsl: 1\nname: Bare\nfamily: yukon\nsummary: No help at all.\nextends: yukon\n"
        "aids: {undo: none, hints: false, send_home: false, auto: false}\n"
    )
    with LiveServer(tmp_path, "--rules", str(tmp_path / "rules")) as server:
        async with calling(server.url) as caller:
            table = await caller.ask("new", variant="bare", deal="ck:0")
            assert [name for name, may in table["can"].items() if may] == []
            diff = await caller.move(table, "t2 2 t6")
            for kind in ("undo", "home", "auto"):
                error = await caller.ask(kind, game=table["game"], base=diff["seq"])
                assert (error["type"], error["code"]) == ("error", f"{kind}_not_allowed")
            assert (await caller.ask("hint", game=table["game"]))["code"] == "hint_not_allowed"
