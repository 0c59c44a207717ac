"""`stuck`: exact when it is said, blind to hidden cards, silent where a bounded search can't tell."""

from __future__ import annotations

import random

import pytest

from chilkoot.cards import DOWN
from chilkoot.engine import Game
from chilkoot.engine.position import Position
from chilkoot.engine.relaxed import may_progress
from chilkoot.engine.stuck import _search, blind, is_stuck
from chilkoot.events import CardMove, Undo
from variants import all_levels, fragment, rules_of


def test_a_dead_yakutat_position_with_endless_moves_is_stuck_and_not_lost() -> None:
    # The 2 of spades can go up and down for ever, and nothing else can move.
    game = fragment(
        "yakutat-bay", "f4: AS 2S | t1: <5H> 3D | t2: <4D> 7C | t3: <8C> 9H | t4: <KC> JS | t5: <6D> 5C"
    )
    assert game.status == "stuck"
    assert game.result is None
    assert game.legal() == [CardMove("f4", 1, "t1")]
    game.act(CardMove("f4", 1, "t1"))
    assert game.status == "stuck"
    game.act(CardMove("t1", 1, "f4"))
    assert game.status == "stuck", "a score that was reached before is no progress"


def test_groups_that_only_shuttle_between_equal_places_are_stuck() -> None:
    game = fragment(
        "yukon", "t1: <2C> 9S 8H | t2: <3D> 9C | t3: <4D> KH | t4: <4H> KD | t5: <6C> QD | t6: 5D JC | t7: 5S"
    )
    assert game.status == "stuck"
    assert CardMove("t1", 1, "t2") in game.legal()


def test_a_move_that_uncovers_a_card_is_progress() -> None:
    game = fragment("yukon", "t1: <2C> 9S 8H | t2: <3D> TH | t3: <4D> KH")
    assert game.status == "playing"


@pytest.mark.parametrize("name", ("yukon", "yakutat-bay", "yukon-cells"))
def test_a_board_that_was_laid_with_a_column_face_down_is_not_stuck_for_any_move_turns_it_up(
    name: str,
) -> None:
    game = fragment(name, "t1: <5D> <KS> | t3: 2S | t5: 3H")
    assert game.status == "playing"
    game.act(CardMove("t3", 1, "t5"))
    assert game.view()["t1"] == ["??", "KS"]
    assert fragment("yukon", "t1: <5D> <KS> | t3: 3S | t5: 3H").status == "lost"


def test_an_undo_may_bring_playing_back() -> None:
    game = fragment("yukon", "t1: <2C> 9S | t2: 4H TH | t3: <4D> KH | t4: <4S> 9C | t5: <6C> JS")
    assert game.status == "playing"
    game.act(CardMove("t1", 1, "t2"))
    game.act(Undo())
    assert game.status == "playing"


@pytest.mark.parametrize(("name", "level"), all_levels(every=8))
def test_the_relaxation_never_calls_a_position_dead_that_a_search_gets_out_of(
    name: str, level: int | None
) -> None:
    dead = 0
    for seed in range(6):
        choice = random.Random(seed)
        game = Game.start(rules_of(name, level), f"ck:{seed}")
        found, row = None, 0
        for _ in range(60):
            legal = game.legal()
            if not legal:
                break
            game.act(choice.choice(legal))
            seen = blind(game.position)
            if not game.is_over and not may_progress(seen):
                dead += 1
                # A search that came to its end has judged all positions after this one too; one that was given up has
                # seen most of what the next ones see.
                if found is None and row % 8 == 0:
                    found = _search(seen, 30_000)
                    assert found is not False, game.board()
                row += 1
    if (name, level) == ("yukon", None):
        assert dead > 20, "the test has something to judge"


@pytest.mark.parametrize(("name", "level"), all_levels(every=8))
def test_stuck_does_not_depend_on_hidden_cards(name: str, level: int | None) -> None:
    for seed in range(4):
        choice = random.Random(seed)
        game = Game.start(rules_of(name, level), f"ck:{seed}")
        for _ in range(40):
            legal = game.legal()
            if not legal:
                break
            game.act(choice.choice(legal))
            if not game.is_over:
                twin = with_hidden_cards_shuffled(game.position, choice)
                assert is_stuck(twin, game.legal_piles()) == is_stuck(game.position, game.legal_piles())


def with_hidden_cards_shuffled(position: Position, choice: random.Random) -> Position:
    twin = position.copy()
    hidden = [card for pile in twin.piles for card in pile if card & DOWN]
    choice.shuffle(hidden)
    for number, pile in enumerate(twin.piles):
        twin.piles[number] = [hidden.pop() if card & DOWN else card for card in pile]
    return twin


def test_a_card_that_goes_home_off_a_covered_one_is_progress_at_any_score() -> None:
    cells = "c1: KH | c2: KD | c3: KC | c4: QH"
    game = fragment("panopticon", f"f4: AS 2S 3S | t1: <5C> AD | t2: 4S | {cells}")
    game.act(CardMove("f4", 1, "t2"))
    assert game.score < game.position.best
    assert game.status == "playing"


def test_columns_of_whole_suits_that_can_no_longer_come_together_are_stuck() -> None:
    # Aces lie open beside kings, but a foundation takes whole suits only; the 9 of hearts is never laid open.
    game = fragment(
        "scorpion",
        "t1: <KS> <TS> <9H> 8D 7D 6D 5D 4D 3S 2S AS QD JD TD 9D JC TC 9C 8C 7C 8H 7H 3D 2D AD 8S 7S 6S 5S"
        " | t2: <AH> <4H> <TH> 6H 5H 9S | t4: <4S> <QH> <3H> 2H AC | t5: KH"
        " | t6: KC QC QS JS 6C 5C 4C 3C 2C JH | t7: KD",
    )
    assert game.legal()
    assert game.status == "stuck"


def test_a_suit_that_can_come_together_is_progress() -> None:
    game = fragment("scorpion", "t1: KC QC JC TC 9C 8C 7C 6C 5C 4C 3C | t2: KD 2C AC")
    assert game.status == "playing"
