"""One table and one session, as pure functions: what each command comes to, and what each viewer may see."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from caller import apply
from chilkoot.engine import MAX_ACTIONS, Game
from chilkoot.events import By, CardMove, parse_action
from chilkoot.solver import Advice, advise
from chilkoot.table import (
    DAY_MS,
    OVERLAP_MS,
    Acted,
    Advised,
    Answer,
    Effect,
    Entropy,
    Kept,
    LogEntry,
    Opened,
    ReplayError,
    Session,
    Table,
    Terms,
    Tokens,
    act,
    auto,
    clean_name,
    frames_of,
    hint,
    lay_from_log,
    legal,
    open_again,
    open_new,
    rules_reply,
    token_hash,
    variant_list,
    wants_proof,
    why_no_advice,
)
from chilkoot.wire import JSON, commands, decode, encode
from chilkoot.wire.commands import Watch
from chilkoot.wire.messages import Can, Error, Refused
from lines import losing_line, random_line
from variants import all_levels, library, rules_of, variant

OWNER, OTHER = "owner", "other"
ENTROPY = Entropy(game="g", key="player-key", watch_key="watch-key", deal="5" * 64)
Frame = dict[str, Any]
FIELDS: dict[str, Frame] = {"move": {"from_": "t2", "to": "t6", "n": 2}, "tap": {"pile": "t3"}}


def laid(
    name: str = "yukon", deal: str = "ck:0", *, watch: Watch = "open", history: int = 64, **more: Any
) -> Table:
    terms = {"id": "g", "owner": OWNER, "variant": name, "level": None, "rules_hash": "h", "origin": "fresh"}
    keys = {"key": "player-key", "watch_key": "watch-key" if watch == "key" else None}
    return Table(
        Terms(**terms | keys | {"watch": watch, "started_ms": 1000} | more),
        Game.start(rules_of(name, more.get("level")), deal),
        history=history,
    )


def do(table: Table, text: str, *, by: By = "player", now_ms: int = 2000) -> Frame:
    action = parse_action(text)
    assert action is not None
    done = table.act(action, by=by, now_ms=now_ms)
    assert isinstance(done, bytes), done
    frame: Frame = json.loads(done)
    return frame


def ask(table: Table, kind: str, player: str = OWNER, **fields: Any) -> Effect:
    frame = {"type": kind, "id": 9, "game": "g", "base": table.game.seq} | {
        key.rstrip("_"): value for key, value in fields.items()
    }
    command = decode(json.dumps(frame), JSON)
    assert isinstance(command, commands.Act)
    return act(table, command, player, 2000)


def shown(table: Table, player: str = OWNER) -> Frame:
    frame: Frame = json.loads(encode(table.snapshot(player, 1)))
    return frame


def refused(effect: Effect) -> str:
    assert isinstance(effect, Answer)
    assert isinstance(effect.reply, Refused | Error), effect
    return effect.reply.code


# what is shown


@pytest.mark.parametrize(("name", "level"), all_levels())
def test_a_snapshot_plus_the_diffs_is_the_next_snapshot(name: str, level: int | None) -> None:
    table = laid(name, "ck:3", level=level)
    piles, facts = shown(table)["piles"], shown(table)
    for number, text in enumerate(random_line(name, "ck:3", 40, level)):
        undoes = number % 5 == 0 and rules_of(name, level).aids.undo is None
        for step in (text, "undo", "redo") if undoes else (text,):
            diff = do(table, step)
            apply(piles, diff["ops"])
            now = shown(table)
            assert piles == now["piles"]
            assert diff["check"] == now["check"]
            # What is not mentioned has not changed; `moves` has gone up by one.
            for fact in ("status", "score", "undos", "can", "result"):
                assert diff.get(fact, facts.get(fact)) == now.get(fact)
            assert diff.get("moves", facts["moves"] + 1) == now["moves"]
            facts = now


@pytest.mark.parametrize(("name", "level"), all_levels())
def test_what_an_action_costs_on_the_wire_is_what_it_changed_and_never_the_table(
    name: str, level: int | None
) -> None:
    table = laid(name, "ck:3", level=level)
    for text in random_line(name, "ck:3", 40, level):
        action = parse_action(text)
        assert action is not None
        diff = table.act(action, by="player", now_ms=2000)
        assert isinstance(diff, bytes)
        assert len(diff) <= 260 + 60 * len(json.loads(diff)["ops"]), diff


def test_an_action_late_in_a_game_costs_no_more_than_an_early_one() -> None:
    table = laid()
    sizes = []
    for _ in range(300):
        action = parse_action("t7 2 t5")
        assert action is not None
        diff = table.act(action, by="player", now_ms=2000)
        assert isinstance(diff, bytes)
        sizes.append(len(diff))
        do(table, "undo")
    assert max(sizes[1:]) - min(sizes[1:]) <= 4, "only its number has more digits"


def test_a_plain_move_mentions_nothing_else() -> None:
    table = laid()
    do(table, "t2 2 t6")
    diff = do(table, "t7 2 t5")
    assert set(diff) - {"can"} == {"type", "game", "seq", "ops", "check"}


def test_where_empty_columns_differ_each_is_told_what_it_takes() -> None:
    assert shown(laid())["accepts"] == "K"
    assert shown(laid("bear-river"))["accepts"] == ["none", "none", "none", "none", "none", "any"] * 3


def test_undo_says_how_many_moves_are_left_and_how_many_were_taken_back() -> None:
    table = laid()
    do(table, "t2 2 t6")
    diff = do(table, "undo")
    assert (diff["cause"], diff["moves"], diff["undos"]) == ("undo", 0, 1)
    assert diff["ops"] == [{"op": "move", "from": "t6", "to": "t2", "n": 2}]


@pytest.mark.parametrize("watch", ("open", "key"))
def test_nobody_is_shown_a_hidden_card_or_a_fresh_deal_before_the_end(watch: Watch) -> None:
    table = laid(watch=watch)
    for player in (OWNER, OTHER):
        frame = shown(table, player)
        assert "deal" not in frame
        assert sum(card == "??" for cards in frame["piles"].values() for card in cards) == 21


def test_only_the_player_who_named_a_deal_is_told_it_before_the_end() -> None:
    table = laid(origin="named")
    table.participants["mate"] = "player"
    assert shown(table)["deal"] == "ck:0"
    assert "deal" not in shown(table, OTHER)
    assert "deal" not in shown(table, "mate")
    do(table, "give_up")
    assert {shown(table, one)["deal"] for one in (OWNER, OTHER, "mate")} == {"ck:0"}


def test_cards_stay_face_down_after_the_end() -> None:
    table = laid()
    before = shown(table)["piles"]
    do(table, "give_up")
    assert shown(table)["piles"] == before


def test_keys_are_told_to_the_owner_alone() -> None:
    table = laid(watch="key")
    assert (shown(table)["key"], shown(table)["watch_key"]) == ("player-key", "watch-key")
    assert not {"key", "watch_key"} & set(shown(table, OTHER))


def all_that_can_be_told(table: Table) -> list[bytes]:
    """What every viewer is shown, and the answer to every command that changes nothing."""
    told = [encode(table.snapshot(who, 1)) for who in (OWNER, OTHER)]
    told.append(encode(legal(table, commands.Legal(id=1, game="g"), OTHER)))
    for source in table.game.piles():
        for n in range(13):
            for target in (*table.game.piles(), "f"):
                told.append(repr(table.game.why_not(CardMove(source, n, target))).encode())
            told.append(repr(table.game.targets(source, n)).encode())
    return told


@pytest.mark.parametrize("name", ("yukon", "yakutat-bay", "yukon-cells", "yukon-thicket"))
def test_twin_deals_that_differ_in_hidden_cards_alone_look_the_same(name: str) -> None:
    table = laid(name, "ck:11")
    board = table.game.board()
    hidden = [card for card in board.split() if card.startswith("<")]
    twin = board
    for place, card in enumerate(hidden):
        twin = twin.replace(card, f"[{place}]")
    for place, card in enumerate([*hidden[1:], hidden[0]]):
        twin = twin.replace(f"[{place}]", card)
    tables = [laid(name, board, origin="cards"), laid(name, twin, origin="cards")]
    for text in random_line(name, "ck:11", 60):
        told = [all_that_can_be_told(one) for one in tables]
        assert told[0] == told[1]
        assert advise(tables[0].game) == advise(tables[1].game)
        action = parse_action(text)
        assert action is not None
        diffs = [one.act(action, by="player", now_ms=1) for one in tables]
        if b'"turn"' in (diffs[0] if isinstance(diffs[0], bytes) else b""):
            # A card was turned up: from here on they are different games.
            break
        assert diffs[0] == diffs[1]
    else:
        pytest.fail("no card was turned up")


# who may do what


@pytest.mark.parametrize(
    ("watch", "key", "wanted", "role"),
    (
        ("open", None, "spectator", "spectator"),
        ("open", "wrong", "spectator", "spectator"),
        ("open", None, "player", None),
        ("open", "wrong", "player", None),
        ("open", "player-key", "player", "player"),
        ("open", "watch-key", "player", None),
        ("key", None, "spectator", None),
        ("key", "wrong", "spectator", None),
        ("key", "watch-key", "spectator", "spectator"),
        ("key", "player-key", "spectator", "spectator"),
        ("key", "watch-key", "player", None),
        ("key", "player-key", "player", "player"),
        ("closed", None, "spectator", None),
        ("closed", "watch-key", "spectator", None),
        ("closed", "player-key", "player", "player"),
        ("closed", "\ud800", "player", None),
    ),
)
def test_a_role_takes_what_the_game_asks_for(
    watch: Watch, key: str | None, wanted: Any, role: str | None
) -> None:
    table = laid(watch=watch)
    assert table.role_by_key(OTHER, wanted, key) == role
    assert table.role_by_key(OWNER, wanted, None) == "player"


def test_a_game_without_keys_is_entered_with_none() -> None:
    table = laid(watch="closed", key="", watch_key=None)
    assert table.role_by_key(OTHER, "player", "") is None
    assert table.role_by_key(OTHER, "spectator", "") is None


def test_a_sealed_game_is_its_owners_alone() -> None:
    for watch in ("open", "key"):
        table = laid(watch=watch, contest="daily", sealed_until_ms=9000)
        assert table.role_of(OWNER) == "player"
        assert table.role_of(OTHER) is None
        assert table.role_by_key(OTHER, "player", "player-key") is None
        assert table.role_by_key(OTHER, "spectator", "watch-key") is None
        table.unseal_if_due(8999)
        assert table.role_of(OTHER) is None
        table.unseal_if_due(9000)
        assert table.role_of(OTHER) == ("spectator" if watch == "open" else None)
        assert table.role_by_key(OTHER, "player", "player-key") == "player"


def test_a_sealed_game_that_is_over_tells_no_deal_and_is_not_dealt_again() -> None:
    table = laid(contest="daily", sealed_until_ms=9000)
    do(table, "give_up")
    again = commands.Restart(id=1, game="g")
    assert "deal" not in shown(table, OWNER)
    refused = open_again(again, table, OWNER, entropy=ENTROPY, now_ms=1, history=1)
    assert isinstance(refused, Error)
    assert refused.code == "not_over"
    table.unseal(5000)
    assert shown(table, OWNER)["deal"] == "ck:0"
    opened = open_again(again, table, OWNER, entropy=ENTROPY, now_ms=6000, history=1)
    assert isinstance(opened, Opened)
    assert (opened.table.terms.contest, opened.table.is_sealed) == (None, False)


def test_what_counts_in_a_contest_is_final() -> None:
    deal, line = losing_line("yukon")
    table = laid(deal=deal, contest="daily", sealed_until_ms=9000)
    for text in line:
        do(table, text)
    assert (table.game.status, table.game.closed, table.standing.can["undo"]) == ("lost", True, False)


def test_nobody_is_helped_in_a_race() -> None:
    table = laid(contest="race", sealed_until_ms=9000)
    assert not table.standing.can["auto"]
    assert not table.standing.can["hint"]
    hinted = why_no_advice(table, commands.Hint(id=1, game="g"), OWNER)
    moved = why_no_advice(table, commands.Auto(id=1, game="g", base=0), OWNER)
    assert isinstance(hinted, Error)
    assert isinstance(moved, Error)
    assert (hinted.code, moved.code) == ("hint_not_allowed", "auto_not_allowed")


@pytest.mark.parametrize("kind", ("move", "tap", "draw", "undo", "redo", "home", "give_up"))
def test_a_watcher_may_not_act_and_a_stranger_sees_no_game(kind: str) -> None:
    fields = FIELDS.get(kind, {})
    assert refused(ask(laid(), kind, OTHER, **fields)) == "forbidden"
    assert refused(ask(laid(watch="closed"), kind, OTHER, **fields)) == "no_such_game"


def test_somebody_who_was_given_the_key_plays_like_the_owner() -> None:
    table = laid(watch="closed")
    table.participants[OTHER] = "player"
    assert isinstance(ask(table, "move", OTHER, from_="t2", to="t6", n=2), Acted)


# what is answered


def test_a_picture_of_the_past_is_answered_with_what_was_missed() -> None:
    table = laid()
    diffs = [do(table, "t2 2 t6"), do(table, "undo")]
    effect = ask(table, "move", base=0, from_="t2", to="t6", n=2)
    assert refused(effect) == "stale"
    assert isinstance(effect, Answer)
    assert json.loads(encode(effect.reply))["detail"] == {"seq": 2, "missed": diffs}


@pytest.mark.parametrize("base", (-1, 3, 2**53, -(2**63)))
def test_a_base_that_never_was_is_stale_without_a_list(base: int) -> None:
    table = laid()
    do(table, "t2 2 t6")
    effect = ask(table, "undo", base=base)
    assert refused(effect) == "stale"
    assert isinstance(effect, Answer)
    assert json.loads(encode(effect.reply))["detail"] == {"seq": 1}


def test_what_is_stale_is_told_before_what_the_rules_say() -> None:
    table = laid()
    do(table, "give_up")
    assert refused(ask(table, "undo", base=0)) == "stale"
    assert refused(ask(table, "undo")) == "game_over"


def test_more_diffs_than_are_kept_are_not_listed() -> None:
    table = laid(history=3)
    for text in ("t2 2 t6", "undo", "redo", "undo"):
        do(table, text)
    assert [len(table.missed(seen) or ()) for seen in (0, 1, 2, 3, 4)] == [0, 3, 2, 1, 0]
    assert table.missed(0) is None
    assert table.missed(5) is None


def test_a_refusal_changes_nothing() -> None:
    table = laid()
    before = shown(table)
    assert refused(ask(table, "move", from_="t1", to="t2")) == "same_color"
    assert refused(ask(table, "move", from_="t99", to="nowhere", n=-5)) == "not_available"
    assert refused(ask(table, "undo")) == "nothing_to_undo"
    assert refused(ask(table, "draw")) == "no_stock"
    assert shown(table) == before
    assert not table.diffs


def test_undo_takes_back_no_more_than_there_is() -> None:
    table = laid()
    do(table, "t2 2 t6")
    effect = ask(table, "undo", count=1000)
    assert isinstance(effect, Acted)
    assert effect.action == "undo"
    assert table.game.moves == 0


@pytest.mark.parametrize("kind", ("undo", "redo"))
@pytest.mark.parametrize("count", (0, -1))
def test_a_count_below_one_is_refused_whatever_there_is_to_take_back(kind: str, count: int) -> None:
    table = laid()
    do(table, "t2 2 t6")
    before = shown(table)
    assert refused(ask(table, kind, count=count)) == "not_available"
    assert shown(table) == before
    do(table, "give_up")
    assert refused(ask(table, kind, count=count)) == "game_over"


def test_the_worked_example_of_yukon_is_refused_with_a_sentence_that_names_the_cards() -> None:
    effect = ask(laid(), "move", from_="t1", to="t2")
    assert isinstance(effect, Answer)
    assert isinstance(effect.reply, Refused)
    assert "5 of hearts" in effect.reply.message
    assert effect.reply.seq == 0


# tap


def test_tapping_a_card_that_fits_sends_it_home() -> None:
    table = laid()
    effect = ask(table, "tap", pile="t3")
    assert isinstance(effect, Acted)
    assert effect.action == "t3 1 f"
    assert table.game.score == 1


def test_tapping_another_card_tells_where_it_may_go() -> None:
    table = laid()
    effect = ask(table, "tap", pile="t2", n=2)
    assert isinstance(effect, Answer)
    assert json.loads(encode(effect.reply)) == {
        "type": "targets",
        "re": 9,
        "game": "g",
        "seq": 0,
        "targets": ["t6"],
    }


def test_targets_may_be_none_and_cells_are_among_them() -> None:
    effect = ask(laid(), "tap", pile="t1")
    assert isinstance(effect, Answer)
    assert json.loads(encode(effect.reply))["targets"] == []
    effect = ask(laid("yukon-cells"), "tap", pile="t1")
    assert isinstance(effect, Answer)
    assert json.loads(encode(effect.reply))["targets"] == ["c1", "c2"]


@pytest.mark.parametrize(
    ("pile", "n", "code"),
    (("t2", 6, "face_down"), ("t2", 7, "not_available"), ("t2", 0, "not_available"), ("f1", 1, "not_available"),
     ("x", 1, "not_available"), ("t9", 1, "not_available")),
)  # fmt: skip
def test_tapping_nothing_or_a_covered_card_is_refused(pile: str, n: int, code: str) -> None:
    assert refused(ask(laid(), "tap", pile=pile, n=n)) == code


def test_tap_tells_the_same_targets_as_legal() -> None:
    table = laid("yukon-cells", "ck:4")
    moves = json.loads(encode(legal(table, commands.Legal(id=1, game="g"), OTHER)))["moves"]
    for pile, cards in table.game.view().items():
        for n in range(1, len(cards) + 1):
            effect = ask(table, "tap", pile=pile, n=n)
            if isinstance(effect, Acted):
                table = laid("yukon-cells", "ck:4")
                continue
            told = json.loads(encode(effect.reply)) if isinstance(effect, Answer) else {}
            expected = [move["to"] for move in moves if (move["from"], move["n"]) == (pile, n)]
            assert told.get("targets", []) == expected


def by_hand() -> Table:
    """A table whose covered cards the player turns up."""
    rules = rules_of("yukon")
    columns = tuple(msgspec.structs.replace(group, expose="manual") for group in rules.tableau)
    table = laid()
    table.game = Game.start(msgspec.structs.replace(rules, tableau=columns), "ck:0")
    return table


def uncovers(table: Table, move: CardMove) -> bool:
    return table.game.view()[move.source][: -move.n][-1:] == ["??"]


def test_tapping_a_card_that_waits_to_be_turned_up_turns_it() -> None:
    table = by_hand()
    for text in random_line("yukon", "ck:0", 30):
        action = parse_action(text)
        assert isinstance(action, CardMove)
        if uncovers(table, action):
            break
        do(table, text)
    else:
        pytest.fail("no move lays a covered card bare")
    told = do(table, str(action))["ops"]
    assert told == [{"op": "move", "from": action.source, "to": action.target, "n": action.n}]
    effect = ask(table, "tap", pile=action.source)
    assert isinstance(effect, Acted)
    diff = json.loads(effect.diff)
    assert (diff["cause"], diff["ops"][0]["op"], diff["ops"][0]["pile"]) == ("turn", "turn", action.source)
    assert refused(ask(table, "tap", pile=action.source, n=2)) == "face_down"


# hints and auto


def test_auto_does_what_the_policy_found_and_says_who_did_it() -> None:
    table = laid()
    command = commands.Auto(id=9, game="g", base=0)
    assert why_no_advice(table, command, OWNER) is None
    effect = auto(table, command, advise(table.game), 2000)
    assert isinstance(effect, Acted)
    assert effect.by == "auto"
    assert json.loads(effect.diff)["by"] == "auto"


def test_auto_concedes_where_there_is_no_way_on() -> None:
    deal, line = losing_line()
    table = laid(deal=deal)
    for text in line[:-1]:
        do(table, text)
    effect = auto(table, commands.Auto(id=9, game="g", base=table.game.seq), Advice(None, "no way"), 2000)
    assert isinstance(effect, Acted)
    assert effect.action == "concede"
    diff = json.loads(effect.diff)
    assert (diff["ops"], diff["status"], diff["result"], diff["by"]) == ([], "lost", "conceded", "auto")


def test_a_hint_names_its_move_and_changes_nothing() -> None:
    table = laid()
    before = shown(table)
    command = commands.Hint(id=9, game="g")
    assert why_no_advice(table, command, OWNER) is None
    effect = hint(table, command, advise(table.game))
    assert isinstance(effect, Advised)
    assert effect.text == "t3 1 f3"
    told = json.loads(encode(effect.reply))
    assert (told["action"], told["move"]) == ("move", {"from": "t3", "n": 1, "to": "f3"})
    assert shown(table) == before


def test_a_hint_that_found_nothing_is_no_help_that_was_taken() -> None:
    table = laid()
    effect = hint(table, commands.Hint(id=9, game="g"), Advice(None, "There is no way on."))
    assert effect.text is None, "what goes on record counts as help"
    told = json.loads(encode(effect.reply))
    assert told["action"] == "none"
    assert "move" not in told


def test_advice_is_for_those_who_play_and_for_games_that_go_on() -> None:
    table = laid()
    for command in (commands.Hint(id=9, game="g"), commands.Auto(id=9, game="g", base=0)):
        answer = why_no_advice(table, command, OTHER)
        assert isinstance(answer, Error)
        assert answer.code == "forbidden"
    do(table, "give_up")
    answer = why_no_advice(table, commands.Hint(id=9, game="g"), OWNER)
    assert isinstance(answer, Refused)
    assert answer.code == "game_over"


# over


def lost() -> Table:
    deal, line = losing_line()
    table = laid(deal=deal)
    for text in line[:-1]:
        do(table, text)
    last = do(table, line[-1])
    assert (last["status"], last["result"]) == ("lost", "no_moves")
    return table


def test_a_loss_for_want_of_moves_may_be_undone_out_of() -> None:
    table = lost()
    assert "deal" not in shown(table)
    assert shown(table)["can"]["undo"]
    assert table.ended_ms == 2000
    diff = do(table, "undo")
    assert diff["status"] in {"playing", "stuck"}
    assert diff["result"] is None
    assert "result" not in shown(table)
    assert table.ended_ms is None


def test_a_loss_stays_closed_to_everything_else() -> None:
    table = lost()
    for kind in ("draw", "home", "redo"):
        assert refused(ask(table, kind)) == "game_over"


def test_giving_up_closes_a_loss() -> None:
    table = lost()
    assert isinstance(ask(table, "give_up"), Acted)
    assert shown(table)["deal"] == table.game.deal
    assert shown(table)["result"] == "no_moves"
    assert refused(ask(table, "undo")) == "game_over"


def test_a_day_closes_a_loss() -> None:
    table = lost()
    assert not table.close_if_due(2000 + DAY_MS - 1)
    assert table.close_if_due(2000 + DAY_MS)
    assert not table.close_if_due(2000 + DAY_MS)
    assert "deal" in shown(table)
    assert refused(ask(table, "undo")) == "game_over"


def test_a_day_closes_nothing_that_goes_on() -> None:
    table = laid()
    assert not table.close_if_due(10 * DAY_MS)


@pytest.mark.parametrize("kind", ("move", "tap", "draw", "undo", "redo", "home", "give_up"))
def test_a_game_given_up_refuses_every_action(kind: str) -> None:
    table = laid()
    do(table, "t2 2 t6")
    diff = do(table, "give_up")
    assert (diff["status"], diff["result"], diff["ops"], diff["cause"]) == ("lost", "gave_up", [], "give_up")
    assert not any(shown(table)["can"].values())
    fields = FIELDS.get(kind, {})
    assert refused(ask(table, kind, **fields)) == "game_over"


def test_a_game_of_too_many_actions_can_only_be_given_up() -> None:
    table = laid()
    table.game.seq = MAX_ACTIONS - 2
    assert do(table, "t2 2 t6")["can"] == dict.fromkeys(Can.__struct_fields__, False)
    for kind in ("undo", "home", "move"):
        assert refused(ask(table, kind, **FIELDS.get(kind, {}))) == "game_too_long"
    answer = why_no_advice(table, commands.Auto(id=9, game="g", base=table.game.seq), OWNER)
    assert isinstance(answer, Refused)
    assert answer.code == "game_too_long"
    answer = why_no_advice(table, commands.Hint(id=9, game="g"), OWNER)
    assert isinstance(answer, Refused)
    assert answer.code == "game_too_long"
    effect = ask(table, "give_up")
    assert isinstance(effect, Acted)
    assert table.game.seq == MAX_ACTIONS


# how games begin


def opened(entropy: Entropy = ENTROPY, **fields: Any) -> Opened | Error:
    command = decode(json.dumps({"type": "new", "id": 9, "variant": "yukon"} | fields), JSON)
    assert isinstance(command, commands.New)
    found = library().variant(command.variant)
    return open_new(command, found, OWNER, entropy=entropy, now_ms=1000, history=64)


def opening_error(**fields: Any) -> Error:
    error = opened(**fields)
    assert isinstance(error, Error)
    assert error.re == 9
    return error


def opened_table(**fields: Any) -> Table:
    done = opened(**fields)
    assert isinstance(done, Opened), done
    return done.table


def test_a_fresh_deal_comes_from_the_entropy_alone() -> None:
    assert opened_table().game.deal == "ck:" + "5" * 64
    other = opened_table(entropy=msgspec.structs.replace(ENTROPY, deal="6" * 64))
    assert other.game.board() != opened_table().game.board()


@pytest.mark.parametrize("deal", ("ck:7", "ms:24", " ck:7 ", "ck:" + "ab" * 32))
def test_a_named_deal_is_dealt(deal: str) -> None:
    table = opened_table(deal=deal)
    assert table.terms.origin == "named"
    assert table.game.deal == deal.strip()


@pytest.mark.parametrize(
    "fields",
    (
        {"deal": ""},
        {"deal": "ck:-1"},
        {"deal": "ck:18446744073709551616"},
        {"deal": "ms:0"},
        {"deal": "x:1"},
        {"deal": "t1: 5H"},
        {"deal": "../../etc/passwd"},
        {"cards": ""},
        {"cards": "ck:7"},
        {"cards": "t1: 5H"},
        {"cards": "t1: 5H 5H | t99: 2S"},
        {"deal": "ck:1", "cards": "t1: 5H"},
    ),
)
def test_a_deal_that_cannot_be_dealt_is_answered_with_what_is_wrong(fields: Frame) -> None:
    error = opening_error(**fields)
    assert error.code == "bad_deal"
    assert isinstance(error.detail, dict)
    assert error.detail["problems"]


def test_a_board_is_laid_as_it_is_given() -> None:
    board = Game.start(rules_of("yukon"), "ck:5").board()
    for text in (board, board.replace("\n", " | ")):
        table = opened_table(cards=text)
        assert table.game.board() == board
        assert "deal" not in shown(table)


@pytest.mark.parametrize(
    ("fields", "levels"),
    (({"variant": "nope"}, None), ({"variant": "../yukon"}, None), ({"level": 1}, []),
     ({"variant": "yukon-thicket", "level": 4}, [1, 2, 3]), ({"variant": "yukon-thicket", "level": -1}, [1, 2, 3])),
)  # fmt: skip
def test_a_variant_or_level_that_is_not_there_is_told(fields: Frame, levels: list[int] | None) -> None:
    error = opening_error(**fields)
    assert error.code == "no_such_variant"
    assert isinstance(error.detail, dict)
    assert error.detail.get("levels") == levels


def test_the_default_level_is_played_where_none_is_named() -> None:
    assert shown(opened_table(variant="yukon-thicket"))["level"] == 2
    assert shown(opened_table(variant="yukon-thicket", level=3))["level"] == 3
    assert "level" not in shown(opened_table())


def test_a_table_says_what_a_search_found_of_its_deal_and_nothing_where_none_was_made() -> None:
    table = opened_table(variant="yukon-thicket")
    assert "winnable" not in shown(table)
    for proof in ("proved", "not_proved"):
        table.terms = msgspec.structs.replace(table.terms, winnable=proof)
        assert shown(table)["winnable"] == proof


@pytest.mark.parametrize(
    ("fields", "wanted"),
    (({"variant": "yukon"}, False), ({"variant": "yukon", "winnable": True}, True), ({"variant": "yukon-thicket"}, True),
     ({"variant": "yukon-thicket", "winnable": False}, False), ({"variant": "yukon-thicket", "deal": "ms:1"}, False),
     ({"variant": "yukon", "deal": "ms:1", "winnable": True}, True), ({"variant": "yukon-thicket", "level": 9}, False)),
)  # fmt: skip
def test_a_winnable_deal_is_looked_for_where_the_player_or_the_variant_wants_one(
    fields: Frame, wanted: bool
) -> None:
    command = commands.New(id=1, **fields)
    assert (wants_proof(command, variant(fields["variant"])) is not None) == wanted


def test_a_restart_lays_the_same_deal_as_a_new_game_with_new_keys() -> None:
    table = opened_table(watch="key")
    do(table, "give_up")
    other = Entropy(game="g2", key="k2", watch_key="w2", deal="7" * 64)
    again = open_again(commands.Restart(id=9, game="g"), table, OWNER, entropy=other, now_ms=5000, history=64)
    assert isinstance(again, Opened)
    assert again.table.game.board() == opened_table().game.board()
    told = shown(again.table)
    assert (told["game"], told["key"], told["watch_key"], told["seq"]) == ("g2", "k2", "w2", 0)
    assert "deal" not in told


@pytest.mark.parametrize(("watch", "code"), (("open", "forbidden"), ("closed", "no_such_game")))
def test_only_its_owner_restarts_a_game(watch: Watch, code: str) -> None:
    table = laid(watch=watch)
    table.participants["mate"] = "player"
    command = commands.Restart(id=9, game="g")
    for player, expected in ((OTHER, code), ("mate", "forbidden")):
        error = open_again(command, table, player, entropy=ENTROPY, now_ms=1, history=1)
        assert isinstance(error, Error)
        assert error.code == expected


# logs and replays


def logged(table: Table, actions: list[str]) -> list[LogEntry]:
    for place, text in enumerate(actions):
        do(table, text, now_ms=1000 + 700 * place)
    return [LogEntry(text=text, by="player", at_ms=1000 + 700 * place) for place, text in enumerate(actions)]


def test_a_table_from_its_log_is_the_table_that_was() -> None:
    table = laid()
    log = logged(table, [*random_line("yukon", "ck:0", 8), "undo 2", "redo", "undo"])
    again = lay_from_log(
        table.terms, rules_of("yukon"), "ck:0", log, history=64, participants={OTHER: "player"}
    )
    assert shown(again) == shown(table)
    assert again.diffs == table.diffs
    assert again.role_of(OTHER) == "player"


@pytest.mark.parametrize("history", (0, 1, 4, 64))
def test_a_table_from_its_log_has_the_last_diffs_word_for_word(history: int) -> None:
    table = laid(history=history)
    line: list[str] = []
    while (action := advise(table.game).action) is not None:
        line += logged_one(table, str(action))
    # Into a dead end, and in and out of it.
    assert table.game.status == "stuck"
    for text in ("undo 3", "redo", "redo 2", "undo"):
        line += logged_one(table, text)
    log = [LogEntry(text=text, by="player", at_ms=2000) for text in line]
    again = lay_from_log(table.terms, rules_of("yukon"), "ck:0", log, history=history, participants={})
    assert again.diffs == table.diffs
    assert len(again.diffs) == min(history, len(log))
    assert shown(again) == shown(table)


def logged_one(table: Table, text: str) -> list[str]:
    do(table, text)
    return [text]


@pytest.mark.parametrize("text", ("t1 1 t2", "nonsense", "draw"))
def test_a_log_that_its_rules_do_not_bear_out_is_refused_loudly(text: str) -> None:
    log = [LogEntry(text="t2 2 t6", by="player", at_ms=1), LogEntry(text=text, by="player", at_ms=2)]
    with pytest.raises(ReplayError, match="action 2"):
        lay_from_log(laid().terms, rules_of("yukon"), "ck:0", log, history=1, participants={})


@pytest.mark.parametrize("start", (-5, 0, 3, 9, 500))
def test_a_replay_shows_every_action_from_where_it_starts(start: int) -> None:
    table = laid(watch="key")
    log = logged(table, [*random_line("yukon", "ck:0", 8), "give_up"])
    frames = frames_of(table.terms, rules_of("yukon"), "ck:0", log, OWNER, start=start, answers=77)
    first = json.loads(frames.snapshot)
    at = max(0, min(start, 9))
    assert (first["seq"], first["re"], first["replay"], first["deal"]) == (at, 77, 77, "ck:0")
    assert not {"key", "watch_key"} & set(first)
    piles = first["piles"]
    diffs = [json.loads(diff) for _, diff in frames.diffs]
    assert [diff["seq"] for diff in diffs] == list(range(at + 1, 10))
    assert all(diff["replay"] == 77 and "re" not in diff for diff in diffs)
    for diff in diffs:
        apply(piles, diff["ops"])
    assert piles == shown(table)["piles"]
    assert [pause for pause, _ in frames.diffs[1:]] == [700] * max(0, 9 - at - 1)


# sessions, tokens, names


def test_a_session_remembers_its_last_64_replies() -> None:
    session = Session("s", "p")
    for number in range(1, 100):
        session.keep(number, Kept(b"%d" % number, b"reply"), is_saved=True)
    assert session.known(35) is None
    assert session.known(36) == Kept(b"36", b"reply")
    assert len(session.replies) == 64


def test_a_reply_too_large_to_keep_is_remembered_by_its_command() -> None:
    session = Session("s", "p")
    session.keep(1, Kept(b"1", b"x" * 100_000), is_saved=False)
    assert session.known(1) == Kept(b"1", None)
    assert not session.unsaved


def test_a_session_is_no_place_to_put_things() -> None:
    session = Session("s", "p")
    for number in range(60):
        session.keep(number, Kept(b"%d" % number, b"x" * 60_000), is_saved=False)
    kept = [one for one in session.replies.values() if one.body is not None]
    assert len(kept) == len(session.unsaved) <= 4
    assert len(session.replies) == 60


def test_a_session_does_not_grow_with_hellos() -> None:
    session = Session("s", "p")
    for number in range(100):
        session.keep_hello(number, Kept(b"", b""))
    assert len(session.hellos) <= 8


FIRST, SECOND, THIRD = (token_hash(text) for text in ("first", "second", "third"))
LATE = 10**12


def test_the_old_token_holds_without_limit_as_long_as_the_new_one_was_not_used() -> None:
    tokens = Tokens(FIRST).replaced(SECOND, FIRST)
    assert [tokens.standing(given, LATE) for given in (SECOND, FIRST, THIRD)] == ["current", "previous", None]
    # Its welcome was lost too: the one that is known to have arrived goes on holding.
    assert tokens.replaced(THIRD, FIRST) == Tokens(THIRD, FIRST)


def test_the_old_token_ends_with_the_use_of_the_new_one_but_not_before_thirty_seconds() -> None:
    tokens = Tokens(FIRST).replaced(SECOND, FIRST)
    used = tokens.used(1000, replaced_ms=500)
    assert used is not None
    assert used.standing(FIRST, 500 + OVERLAP_MS) == "previous"
    assert used.standing(FIRST, 501 + OVERLAP_MS) is None
    assert used.standing(SECOND, LATE) == "current"
    # Later than that a use brings a new token, and the old one is none any more.
    for later in (used, tokens):
        assert later.used(501 + OVERLAP_MS, replaced_ms=500) is None
        assert later.replaced(THIRD, SECOND) == Tokens(THIRD, SECOND)


def test_the_thirty_seconds_hold_where_nobody_knows_any_more_when_they_began() -> None:
    used = Tokens(SECOND, FIRST).used(1000, replaced_ms=None)
    assert used == Tokens(SECOND, FIRST, 1000 + OVERLAP_MS)


def test_a_new_token_for_who_came_with_the_old_one_does_not_end_one_that_is_in_use() -> None:
    assert Tokens(SECOND, FIRST, LATE).replaced(THIRD, FIRST) == Tokens(THIRD, SECOND)


def test_a_player_without_a_token_is_opened_by_none() -> None:
    assert Tokens(None).standing(token_hash(""), 0) is None


@pytest.mark.parametrize(
    "name", ("Ann", "Zoë", "Дарья", "三木", "a_b-c.d 9", "नमस्ते", "x" * 20, "12", " Ann ")
)
def test_a_name_of_letters_and_digits_is_taken(name: str) -> None:
    assert clean_name(name) == name.strip()


@pytest.mark.parametrize(
    "name",
    ("", "a", "x" * 21, "<svg/onload=alert()>", "a\0b", "a\u202eb", "a\u200bb", "\ud800\ud800", "a\nb", "  ", "--", "a  b",
     "<b>", "a&b", "a'b", "☃☃", "a/b", "\u0301\u0301"),
)  # fmt: skip
def test_a_name_that_is_no_name_is_refused(name: str) -> None:
    assert clean_name(name) is None or clean_name(name) == name.strip()
    if name != "\u0301\u0301":
        assert clean_name(name) is None


@given(st.text(max_size=30))
def test_a_name_that_is_taken_is_short_composed_and_plain(text: str) -> None:
    name = clean_name(text)
    if name is not None:
        assert 2 <= len(name) <= 20
        assert clean_name(name) == name
        assert not set(name) & set("<>&\"'`\0\n\r\t")


# the catalogue


def test_every_variant_is_listed_with_its_levels() -> None:
    told = json.loads(encode(variant_list(library().variants(), 5)))
    entries = {entry["id"]: entry for entry in told["variants"]}
    assert entries["yukon-thicket"]["levels"] == [1, 2, 3]
    assert entries["yukon-thicket"]["default_level"] == 2
    assert entries["yukon"]["levels"] == []
    assert (entries["yukon"]["cards"], entries["double-freecell"]["cards"]) == (52, 104)
    assert {"yukon", "yakutat-bay", "yukon-cells", "yukon-thicket"} <= set(entries)


def test_rules_are_told_as_they_are_written_and_as_they_are_understood() -> None:
    told = json.loads(encode(rules_reply(variant("yukon-thicket"), 5, text="# How")))
    assert told["source"] == variant("yukon-thicket").text
    assert told["levels"]["2"] == told["compiled"] != told["levels"]["3"]
    assert told["text"] == "# How"
