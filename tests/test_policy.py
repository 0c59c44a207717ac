"""The policy behind hints and Auto: legal, fair, never in circles."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from chilkoot.engine import Game, Refusal
from chilkoot.events import CardMove, Undo
from chilkoot.solver import Advice, advise
from test_foresight import advice_for
from test_stuck import with_hidden_cards_shuffled
from variants import all_levels, fragment, rules_of


@pytest.mark.parametrize(("name", "level"), all_levels(every=16))
def test_its_advice_is_legal_and_following_it_ends(name: str, level: int | None) -> None:
    for seed in range(1):
        game = Game.start(rules_of(name, level), f"ck:{seed}")
        tables = {game.check()}
        for _ in range(1500):
            advice = advise(game)
            if advice.action is None:
                break
            assert advice.message.endswith(".")
            played = game.act(advice.action)
            assert not isinstance(played, Refusal), (advice, played)
            assert game.check() not in tables, "a table seen before comes back"
            tables.add(game.check())
        else:
            pytest.fail("it goes on for ever")
        assert game.is_over or advice.action is None


def test_it_wins_a_good_part_of_yukon() -> None:
    won = 0
    for seed in range(20):
        game = Game.start(rules_of("yukon"), f"ck:{seed}")
        while (action := advise(game).action) is not None:
            game.act(action)
        won += game.status == "won"
    assert won >= 6, "random play wins fewer than 4 of 20"


@pytest.mark.parametrize("name", ("yukon", "yakutat-bay", "yukon-cells", "yukon-thicket"))
def test_it_does_not_depend_on_hidden_cards(name: str) -> None:
    for seed in range(5):
        choice = random.Random(seed)
        game = Game.start(rules_of(name), f"ck:{seed}")
        for _ in range(30):
            twin = Game(game.rules, with_hidden_cards_shuffled(game.position, choice), game.deal)
            twin.seen, twin.tried = game.seen, game.tried
            mine, other = advise(game), advise(twin)
            assert mine == other
            if mine.action is None:
                break
            game.act(mine.action)


@pytest.mark.parametrize("policy", (advise, advice_for))
def test_it_does_not_repeat_a_move_that_was_taken_back(policy: Callable[[Game], Advice]) -> None:
    game = Game.start(rules_of("yukon"), "ck:1")
    advised = set()
    for _ in range(4):
        action = policy(game).action
        assert action is not None
        assert action not in advised
        advised.add(action)
        game.act(action)
        game.act(Undo())


@pytest.mark.parametrize("policy", (advise, advice_for))
def test_what_was_taken_back_is_advised_again_where_nothing_else_is_left(
    policy: Callable[[Game], Advice],
) -> None:
    game = fragment("yukon", "t1: <2C> 9S | t2: <4D> TH")
    only = CardMove("t1", 1, "t2")
    assert policy(game).action == only
    game.act(only)
    game.act(Undo())
    assert policy(game).action == only


def test_it_says_so_where_there_is_no_way_on() -> None:
    game = fragment(
        "yakutat-bay", "f4: AS 2S | t1: <5H> 3D | t2: <4D> 7C | t3: <8C> 9H | t4: <KC> JS | t5: <6D> 5C"
    )
    assert advise(game).action is None
