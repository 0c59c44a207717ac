"""A game from deal to end: undo and redo, how it ends, what is refused afterwards."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chilkoot.cards import DOWN
from chilkoot.engine import MAX_ACTIONS, Game, Refusal
from chilkoot.engine.moves import can_turn
from chilkoot.engine.position import Position
from chilkoot.engine.refusals import can_draw
from chilkoot.events import CONCEDE, DRAW, GIVE_UP, HOME, Action, CardMove, Move, Op, TurnUp, Undo
from chilkoot.language import Source, compile_variant
from variants import all_levels, fragment, rules_of

PLAY = st.lists(st.integers(0, 10_000), min_size=1, max_size=60)


def options(game: Game) -> list[Action]:
    found: list[Action] = sorted(game.legal(), key=str)
    found += [TurnUp(pile) for pile in game.can_turn()]
    if game.can_draw():
        found.append(DRAW)
    if game.can()["home"]:
        found.append(HOME)
    return found


def apply_ops(view: dict[str, list[str]], ops: list[Op]) -> dict[str, list[str]]:
    """What a client without rules does with a diff, written from the protocol's page alone."""
    for op in ops:
        if isinstance(op, Move):
            moved = view[op.source][-op.n :]
            assert len(moved) == op.n
            del view[op.source][-op.n :]
            view[op.target] += ["??"] * op.n if op.flip else moved
        else:
            view[op.pile][op.at] = op.card
    return view


def cards(position: Position) -> Counter[int]:
    return Counter(card & ~DOWN for pile in position.piles for card in pile)


@pytest.mark.parametrize(("name", "level"), all_levels(every=8))
@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 2**64 - 1), choices=PLAY)
def test_laws_of_play_hold_in_every_game(name: str, level: int | None, seed: int, choices: list[int]) -> None:
    game = Game.start(rules_of(name, level), f"ck:{seed}")
    deal_view, deal_status, pack = game.view(), game.status, cards(game.position)
    mirror = game.view()
    for choice in choices:
        actions = options(game)
        if not actions:
            break
        before = (game.view(), game.status, game.score, game.can(), game.moves)
        ops = game.act(actions[choice % len(actions)])
        assert not isinstance(ops, Refusal)
        after = (game.view(), game.status, game.score, game.moves)
        mirror = apply_ops(mirror, ops)
        assert mirror == game.view(), "a diff applied is the next snapshot"
        assert game.check() == game.position.check()
        assert cards(game.position) == pack, "no card is lost or made"
        if game.can()["undo"]:
            undone = game.act(Undo())
            assert not isinstance(undone, Refusal)
            mirror = apply_ops(mirror, undone)
            assert game.check() == game.position.check()
            assert (mirror, game.status, game.score, game.moves) == (
                before[0],
                before[1],
                before[2],
                before[4],
            )
            redone = game.act(Undo(redo=True))
            assert not isinstance(redone, Refusal)
            mirror = apply_ops(mirror, redone)
            assert (mirror, game.status, game.score, game.moves) == after
            assert game.check() == game.position.check()
        if game.is_over:
            break
    if game.moves and game.can()["undo"]:
        ops = game.act(Undo(count=game.moves + 5))
        assert not isinstance(ops, Refusal)
        assert apply_ops(mirror, ops) == game.view() == deal_view
        assert game.status == deal_status
        assert game.moves == 0


def has_a_move_that_counts(game: Game) -> bool:
    """Whether anything is left but no-ops, by the rules' page: what moves from where onto what, and how it lies now."""
    piles = dict(zip(game.piles(), game.position.piles, strict=True))
    for move in game.legal_piles():
        source, n, target = (game.piles()[move[0]], move[1], game.piles()[move[2]])
        is_whole = source[0] == target[0] == "t" and n == len(piles[source]) and not piles[target]
        if not is_whole and not (source[0] == target[0] and source[0] in "cf"):
            return True
    return can_draw(game.position) or bool(can_turn(game.position))


@pytest.mark.parametrize(("name", "level"), all_levels())
def test_a_game_is_lost_exactly_when_nothing_but_no_ops_is_left(name: str, level: int | None) -> None:
    rules, chance = rules_of(name, level), random.Random(name)
    is_lost_by_moves = rules.loss.when == "no_legal_move"
    for seed in range(2):
        game = Game.start(rules, f"ck:{seed}")
        for _ in range(60):
            assert (game.status == "lost") == (
                is_lost_by_moves and game.status != "won" and not has_a_move_that_counts(game)
            ), game.board()
            if game.is_over or not (actions := options(game)):
                break
            game.act(chance.choice(actions))


@given(seed=st.integers(0, 1000), choices=PLAY)
@settings(max_examples=25, deadline=None)
def test_the_same_actions_make_the_same_game(seed: int, choices: list[int]) -> None:
    first, second = (Game.start(rules_of("yukon-thicket"), f"ck:{seed}") for _ in range(2))
    for choice in choices:
        actions = options(first)
        if not actions:
            break
        assert first.act(actions[choice % len(actions)]) == second.act(actions[choice % len(actions)])
        assert (first.check(), first.status, first.seq) == (second.check(), second.status, second.seq)


def test_undo_without_limit_goes_back_to_the_deal_and_redo_all_the_way_forward() -> None:
    game = Game.start(rules_of("yukon"), "ck:3")
    start = game.board()
    while game.moves < 30 and not game.is_over:
        game.act(options(game)[0])
    end, moves = game.board(), game.moves
    game.act(Undo(count=moves))
    assert game.board() == start
    assert game.undos == moves
    game.act(Undo(count=moves, redo=True))
    assert game.board() == end
    assert game.undos == moves
    assert game.seq == moves + 2


def test_a_new_move_forgets_what_could_be_redone() -> None:
    game = Game.start(rules_of("yukon"), "ck:3")
    game.act(options(game)[0])
    game.act(Undo())
    assert game.can()["redo"]
    game.act(options(game)[1])
    refusal = game.act(Undo(redo=True))
    assert isinstance(refusal, Refusal)
    assert refusal.code == "nothing_to_redo"


def test_the_game_is_won_when_all_cards_are_home() -> None:
    suits = " | ".join(
        f"f{n}: " + " ".join(r + s for r in "A23456789TJQK") for n, s in ((1, "C"), (2, "D"), (3, "H"))
    )
    board = suits + " | f4: " + " ".join(r + "S" for r in "A23456789TJ") + " | t1: KS QS"
    game = Game.start(rules_of("yukon"), board)
    assert (game.status, game.score) == ("playing", 50)
    game.act(HOME)
    assert (game.status, game.result, game.score, game.moves) == ("won", "home", 52, 1)
    for action in (Undo(), HOME, GIVE_UP, CardMove("t1", 1, "f")):
        refusal = game.act(action)
        assert isinstance(refusal, Refusal)
        assert refusal.code == "game_over"


def test_a_game_without_a_legal_move_is_lost_and_may_be_undone_out_of() -> None:
    game = fragment("yukon", "t1: <2C> 9S | t2: TH | t3: 5D | t4: 5H | t5: 7C | t6: 7S | t7: QD")
    assert game.status == "playing"
    game.act(CardMove("t1", 1, "t2"))
    assert (game.status, game.result) == ("lost", "no_moves")
    assert game.may_be_undone
    refusal = game.act(CardMove("t3", 1, "t4"))
    assert isinstance(refusal, Refusal)
    assert refusal.code == "game_over"
    assert not isinstance(game.act(Undo()), Refusal)
    assert game.status == "playing"
    assert game.result is None


def test_a_lost_game_that_was_closed_stays_lost() -> None:
    game = fragment("yukon", "t1: 9S | t2: 9H | t3: 5D | t4: 5H | t5: 7C | t6: 7S | t7: JC")
    assert (game.status, game.result) == ("lost", "no_moves")
    assert not isinstance(game.act(GIVE_UP), Refusal)
    assert game.closed
    assert game.result == "no_moves"
    assert isinstance(game.act(Undo()), Refusal)
    assert isinstance(game.act(GIVE_UP), Refusal)


def test_whole_columns_between_empty_ones_and_cell_shuffles_do_not_keep_a_game_alive() -> None:
    # Yakutat Bay lets a king walk between empty columns for ever; that counts as no move.
    walking = fragment("yakutat-bay", "t1: KC | t2: KD")
    assert (walking.status, walking.result) == ("lost", "no_moves")


def test_a_free_cell_always_keeps_yukon_cells_going() -> None:
    game = fragment("yukon-cells", "t1: 9S | t2: 9H | t3: 5D | t4: 5H | t5: 7C | t6: 7S | t7: JC")
    assert game.status in ("playing", "stuck")


def test_giving_up_and_conceding_end_the_game_for_good() -> None:
    for action, result in ((GIVE_UP, "gave_up"), (CONCEDE, "conceded")):
        game = Game.start(rules_of("yukon"), "ck:5")
        assert game.act(action) == []
        assert (game.status, game.result, game.closed) == ("lost", result, True)
        assert isinstance(game.act(Undo()), Refusal)


def test_send_home_sends_all_that_can_go_as_one_action() -> None:
    game = fragment("yukon", "t1: 3C 2C AC | t2: 5D AD | t3: 2D | t4: 9C | t5: TD")
    game.act(HOME)
    view = game.view()
    assert view["f1"] == ["AC", "2C", "3C"]
    assert view["f2"] == ["AD", "2D"]
    assert game.moves == 1
    refusal = game.act(HOME)
    assert isinstance(refusal, Refusal)
    assert refusal.code == "nothing_to_send_home"


def test_a_game_ends_at_its_bound_and_may_still_be_given_up() -> None:
    game = fragment("yakutat-bay", "t1: 3D | f4: AS 2S | t2: 5C")
    up, down = CardMove("f4", 1, "t1"), CardMove("t1", 1, "f4")
    while game.seq < MAX_ACTIONS - 1:
        assert not isinstance(game.act(up if game.seq % 2 == 0 else down), Refusal)
    for action in (up, down, Undo(), HOME):
        refusal = game.act(action)
        assert isinstance(refusal, Refusal)
        assert refusal.code == "game_too_long", action
    assert not any(game.can()[what] for what in ("undo", "redo", "home", "auto", "draw"))
    assert game.act(GIVE_UP) == []


def test_what_can_says_is_what_happens() -> None:
    game = Game.start(rules_of("yukon-thicket"), "ck:8")
    for _ in range(20):
        can = game.can()
        actions: dict[str, Action] = {"undo": Undo(), "redo": Undo(redo=True), "home": HOME, "draw": DRAW}
        for what, action in actions.items():
            assert can[what] == (game.why_not(action) is None), what
        game.act(options(game)[-1])
        if game.is_over:
            break


def test_packets_come_off_the_top_of_the_gathered_columns_and_what_is_left_makes_the_last() -> None:
    game = fragment("cruel", "t1: 9C 8D | t2: 4S QS JS TS 5D | t4: 2D KH")
    assert not isinstance(game.act(DRAW), Refusal)
    view = game.view()
    assert view["t1"] == ["TS", "5D", "9C", "8D"]
    assert view["t2"] == ["KH", "4S", "QS", "JS"]
    assert view["t3"] == ["2D"]
    assert not any(view[f"t{column}"] for column in range(4, 13))


def test_a_redeal_that_nothing_was_moved_before_leaves_the_columns_as_they_were() -> None:
    game = Game.start(rules_of("cruel"), "ck:1")
    before = game.view()
    game.act(DRAW)
    assert game.view() == before


@pytest.mark.parametrize("gather", ("order", "reverse", "packets"))
def test_a_redeal_deals_every_card_where_the_deal_had_no_columns(gather: str) -> None:
    text = f"deal: [{{reserve: UUU}}]\nreserve: {{piles: 1}}\nstock: {{deal_to: tableau}}\nredeal: {{times: 1, gather: {gather}}}\n"
    variant, said = compile_variant(Source("x.yaml", "x", text), lambda _: None)
    assert variant is not None, said
    game = Game.start(variant.levels[0].rules, "ck:1")
    for _ in range(8):
        assert not isinstance(game.act(DRAW), Refusal)
    assert game.position.redealt == 1
    assert [len(game.view()[f"t{column}"]) for column in range(1, 8)] == [7] * 7


def test_a_stock_for_columns_that_hold_cards_goes_to_the_first_where_none_does() -> None:
    game = fragment("grounds-for-a-divorce", "s1: <4C> <5S>")
    game.act(DRAW)
    assert game.view()["t1"] == ["5S"]
    game.act(DRAW)
    assert game.view()["t1"] == ["5S", "4C"]
