"""Legal moves and refusals, the four games to the letter (worked examples of the variants' descriptions)."""

from __future__ import annotations

import pytest

from chilkoot.engine import Game, Refusal
from chilkoot.engine.refusals import why_not
from chilkoot.events import CardMove, Turn, Undo, parse_action
from variants import all_levels, fragment, rules_of

YUKON_EXAMPLE = "t2: TH | t3: TS | t5: <AD> 9S 4D QC 7H"


def reason(game: Game, move: str) -> str:
    action = parse_action(move)
    assert isinstance(action, CardMove)
    refusal = why_not(game.position, action)
    return "legal" if refusal is None else refusal.code


@pytest.mark.parametrize(
    ("name", "level", "board", "move", "expected"),
    (
        # Yukon: the group moves whole, only its first card has to fit.
        ("yukon", None, YUKON_EXAMPLE, "t5 4 t2", "legal"),
        ("yukon", None, YUKON_EXAMPLE, "t5 4 t3", "same_color"),
        ("yukon", None, "t1: 2C KC 3D 7H | t2: 5C", "t1 3 t3", "legal"),
        ("yukon", None, "t1: 2C KC 3D 7H | t2: 5C", "t1 1 t3", "needs_king"),
        ("yukon", None, "t1: KC 3D | t2: 5C", "t1 2 t3", "whole_column"),
        ("yukon", None, "t1: 7H 3D | t2: 5C", "t1 2 t3", "whole_column"),
        ("yukon", None, "t1: <5D> KC 3D | t2: 5C", "t1 2 t3", "legal"),
        ("yukon", None, YUKON_EXAMPLE, "t5 5 t2", "face_down"),
        ("yukon", None, YUKON_EXAMPLE, "t5 6 t2", "not_available"),
        ("yukon", None, YUKON_EXAMPLE, "t5 1 t5", "not_available"),
        ("yukon", None, YUKON_EXAMPLE, "t8 1 t2", "not_available"),
        ("yukon", None, YUKON_EXAMPLE, "t5 1 c1", "not_available"),
        ("yukon", None, YUKON_EXAMPLE, "t1 1 t2", "not_available"),
        ("yukon", None, "t1: 9H | t2: JC", "t1 1 t2", "wrong_rank"),
        ("yukon", None, "t1: QH | t2: JC", "t1 1 t2", "wrong_rank"),
        ("yukon", None, "t1: AH | t2: KC", "t1 1 t2", "wrong_rank"),
        ("yukon", None, "f1: AC | t1: 2D 2C", "t1 1 f", "legal"),
        ("yukon", None, "f1: AC | t1: 2D 2C", "t1 1 f1", "legal"),
        ("yukon", None, "f1: AC | t1: 2D 2C", "t1 1 f2", "foundation_order"),
        ("yukon", None, "f1: AC | t1: 2D", "t1 1 f1", "wrong_suit"),
        ("yukon", None, "t1: AD", "t1 1 f1", "wrong_suit"),
        ("yukon", None, "f4: AS | t1: 5S", "t1 1 f", "foundation_order"),
        ("yukon", None, "t1: 3S", "t1 1 f4", "foundation_order"),
        ("yukon", None, "f1: AC | t1: 2D 2C", "t1 2 f1", "one_card_only"),
        ("yukon", None, "f1: AC | t1: 2D", "f1 1 t1", "no_return"),
        ("yukon", None, "f1: AC | t1: 2D", "f1 1 f2", "not_available"),
        # Yakutat Bay: the top card of a foundation comes back, on a column that accepts it.
        ("yakutat-bay", None, "f4: AS 2S 3S 4S | t1: 5H", "f4 1 t1", "legal"),
        ("yakutat-bay", None, "f4: AS 2S 3S 4S | t1: 5S", "t1 1 f4", "legal"),
        ("yakutat-bay", None, "f4: AS 2S 3S 4S | t1: 5H", "t1 1 f4", "wrong_suit"),
        ("yakutat-bay", None, "f4: AS 2S 3S 4S | t1: 5H", "f4 2 t1", "one_card_only"),
        ("yakutat-bay", None, "f4: AS 2S 3S 4S | t1: 5C", "f4 1 t1", "same_color"),
        ("yakutat-bay", None, "f4: AS | t1: 5C", "f4 1 t2", "needs_king"),
        ("yakutat-bay", None, "f4: AS 2S 3S 4S 5S 6S 7S 8S 9S TS JS QS KS | t1: 5C", "f4 1 t2", "legal"),
        ("yakutat-bay", None, "t1: JH | t2: TS | t3: TC | t4: TD", "t2 1 t1", "legal"),
        ("yakutat-bay", None, "t1: JH | t2: TS | t3: TC | t4: TD", "t3 1 t1", "legal"),
        ("yakutat-bay", None, "t1: JH | t2: TS | t3: TC | t4: TD", "t4 1 t1", "same_color"),
        ("yakutat-bay", None, "t1: KC 3D | t2: 5C", "t1 2 t3", "legal"),
        # Yukon Cells: one available card a cell, never a group; from a cell to a column, a king to an empty one, home.
        ("yukon-cells", None, "t1: 9S 4D", "t1 1 c1", "legal"),
        ("yukon-cells", None, "t1: 9S 4D", "t1 2 c1", "one_card_only"),
        ("yukon-cells", None, "t1: 9S 4D | c1: KH", "t1 1 c1", "cell_full"),
        ("yukon-cells", None, "t1: 9S 4D | c1: KH", "c1 1 t2", "legal"),
        ("yukon-cells", None, "t1: 9S 4D | c1: QH", "c1 1 t2", "needs_king"),
        ("yukon-cells", None, "t1: 9S 4D | c1: 3S", "c1 1 t1", "legal"),
        ("yukon-cells", None, "t1: 9S 4D | c1: AS", "c1 1 f", "legal"),
        ("yukon-cells", None, "t1: 9S 4D | c1: AS", "c1 1 c2", "not_available"),
        ("yukon-cells", None, "f1: AC | t1: 9S", "f1 1 c1", "not_available"),
        ("yukon-cells", None, "t1: KC 3D | t2: 5C", "t1 2 t3", "legal"),
        # Yukon Thicket: what the levels change.
        ("yukon-thicket", 1, "t1: 8C | t2: 5D 7H 2S QD", "t2 3 t1", "legal"),
        ("yukon-thicket", 2, "t1: 8C | t2: 5D 7H 2S QD", "t2 3 t1", "legal"),
        ("yukon-thicket", 3, "t1: 8C | t2: 5D 7H 2S QD", "t2 3 t1", "wrong_suit"),
        ("yukon-thicket", 3, "t1: 8H | t2: 5D 7H 2S QD", "t2 3 t1", "legal"),
        ("yukon-thicket", 1, "t2: 5D 7H 2S QD", "t2 3 t1", "legal"),
        ("yukon-thicket", 2, "t2: 5D 7H 2S QD", "t2 3 t1", "needs_king"),
        ("yukon-thicket", 3, "t2: 5D 7H 2S QD", "t2 3 t1", "needs_king"),
        ("yukon-thicket", 3, "t1: 8S | t2: 5D 7S", "t2 1 t1", "legal"),
    ),
)
def test_the_rules_of_the_four_games(
    name: str, level: int | None, board: str, move: str, expected: str
) -> None:
    assert reason(fragment(name, board, level), move) == expected


def test_a_card_turns_up_the_moment_the_last_card_on_it_leaves() -> None:
    game = fragment("yukon", YUKON_EXAMPLE)
    ops = game.act(CardMove("t5", 4, "t2"))
    assert not isinstance(ops, Refusal)
    assert ops[-1] == Turn("t5", 0, "AD")
    assert game.view()["t2"] == ["TH", "9S", "4D", "QC", "7H"]


def test_a_refusal_says_why_in_a_sentence_and_names_the_cards() -> None:
    refusal = fragment("yukon", YUKON_EXAMPLE).act(CardMove("t5", 4, "t3"))
    assert isinstance(refusal, Refusal)
    assert refusal.message == "The 9 of spades and the 10 of spades have the same colour."
    assert refusal.detail == {"card": "9S", "onto": "TS"}


@pytest.mark.parametrize("target", ("t2", "f", "f1"))
@pytest.mark.parametrize(
    ("n", "message"),
    ((6, "t5 holds 5 cards."), (0, "At least one card is moved."), (-1, "At least one card is moved.")),
)
def test_a_count_that_does_not_apply_is_told_what_would(target: str, n: int, message: str) -> None:
    refusal = fragment("yukon", YUKON_EXAMPLE).act(CardMove("t5", n, target))
    assert refusal == Refusal("not_available", message)


@pytest.mark.parametrize(("name", "level"), all_levels(every=8))
def test_legal_moves_are_exactly_those_that_are_not_refused(name: str, level: int | None) -> None:
    game = Game.start(rules_of(name, level), "ck:11")
    for step in range(25):
        legal = set(game.legal())
        piles = game.piles()
        if not game.is_over:
            for source in piles:
                for target in piles:
                    for n in range(1, len(game.view()[source]) + 2):
                        move = CardMove(source, n, target)
                        assert (game.why_not(move) is None) == (move in legal), (step, str(move))
        options = sorted(legal, key=str)
        if not options:
            break
        game.act(options[step * 7 % len(options)])


def test_safe_cards_go_home_by_themselves_and_needed_ones_stay() -> None:
    # The ace of diamonds can be needed by none; 2H only while a black ace is out.
    board = "f3: AH | t1: 5C AD | t2: 2H | t3: AS | t4: 9C 8D | t5: TD"
    game = fragment("yukon-thicket", board, 2)
    game.act(CardMove("t4", 2, "t5"))
    view = game.view()
    assert view["f2"] == ["AD"]
    assert view["f4"] == ["AS"]
    assert view["t2"] == ["2H"], "the ace of clubs may still need the 2 of hearts"
    same_suit = fragment("yukon-thicket", board.replace("t5: TD", "t5: TC"), 3)
    same_suit.act(CardMove("t4", 2, "t5"))
    assert same_suit.view()["f3"] == ["AH", "2H"], "under same suit a card that fits is never needed"


def test_what_an_action_sets_off_is_taken_back_with_it() -> None:
    game = fragment("yukon-thicket", "f3: AH | t1: 5C AD | t2: 2H | t3: AS | t4: <KS> 9C 8D | t5: TD", 2)
    before = game.view()
    game.act(CardMove("t4", 2, "t5"))
    assert game.view()["t4"] == ["KS"]
    game.act(Undo())
    assert game.view() == before


def test_yukon_has_no_automatic_moves_and_a_fresh_deal_stands_as_it_is() -> None:
    game = fragment("yukon", "f2: AD | t1: 9C 2D | t2: TD | t3: 3C AH")
    assert game.view()["t1"] == ["9C", "2D"]
    game.act(CardMove("t1", 2, "t2"))
    assert game.view()["f2"] == ["AD"]
    assert game.view()["t3"] == ["3C", "AH"]


def test_a_card_just_taken_back_stays_until_another_move() -> None:
    name = "yakutat-bay"
    game = fragment(name, "f4: AS 2S | t1: 3D | t2: 5C 4H | t3: 5S")
    game.act(CardMove("f4", 1, "t1"))
    assert game.view()["t1"] == ["3D", "2S"]


def test_columns_are_filled_from_the_right_in_a_chain() -> None:
    game = fragment("yakutat-bay-calving", "t1: 9S | t2: <2C> TD JC | t3: 5H | t4: 6C | t6: TH | t7: QH")
    game.act(CardMove("t1", 1, "t6"))
    # Column 2 gives its face-up cards and turns one up; it does not become empty, so the chain ends there.
    assert game.view()["t1"] == ["TD", "JC"]
    assert game.view()["t2"] == ["2C"]
    chain = fragment("yakutat-bay-calving", "t1: 9S | t2: 5H | t3: 6C | t5: TH | t6: 4D | t7: QC")
    view_before = chain.view()
    chain.act(CardMove("t1", 1, "t5"))
    view = chain.view()
    assert [view[f"t{number}"] for number in range(1, 8)] == [
        ["5H"],
        ["6C"],
        ["TH", "9S"],
        ["4D"],
        ["QC"],
        [],
        [],
    ]
    chain.act(Undo())
    assert chain.view() == view_before


def test_an_empty_column_takes_the_rank_below_a_base_that_the_rules_name() -> None:
    game = fragment("swiss-patience", "t2: KC AD | t3: KD")
    assert game.why_not(CardMove("t2", 1, "t1")) is None
    refused = game.why_not(CardMove("t3", 1, "t1"))
    assert refused is not None
    assert refused.code == "wrong_start"


@pytest.mark.parametrize(
    ("name", "board", "move"),
    (
        ("klondike", "w1: 4D 8C 5H | t1: 9H", CardMove("w1", 2, "t1")),
        ("hawaiian", "r1: 4D 8C 5H | t1: 9H", CardMove("r1", 2, "t1")),
    ),
)
def test_waste_and_reserve_give_up_one_card_at_a_time(name: str, board: str, move: CardMove) -> None:
    game = fragment(name, board)
    refused = game.act(move)
    assert isinstance(refused, Refusal)
    assert refused.code == "one_card_only"
