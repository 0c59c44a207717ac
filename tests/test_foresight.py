"""The policy that plays on in sampled worlds: legal, fair, never in circles, and better than the first one."""

from __future__ import annotations

import os
import pickle
import random
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from chilkoot.engine import Game, Refusal
from chilkoot.engine.position import Position
from chilkoot.solver import Advice, advise
from chilkoot.solver.foresight import foresee
from chilkoot.solver.sight import sight_of
from test_stuck import with_hidden_cards_shuffled
from variants import all_levels, fragment, rules_of

SERVER = Path(__file__).resolve().parents[1] / "server"


def advice_for(game: Game, playouts: int = 16) -> Advice:
    return foresee(sight_of(game), playouts) or advise(game)


def with_unseen_cards_shuffled(game: Game, choice: random.Random) -> Position:
    """Another game that looks the same: a stock that was gone through once is known, and stays."""
    known, stock = game.position.copy(), game.position.tables.layout.stock
    if game.position.turn > 1 and not game.rules.stock.shuffle:
        known.piles[stock] = []
    twin = with_hidden_cards_shuffled(known, choice)
    if not known.piles[stock]:
        twin.piles[stock] = game.position.piles[stock]
    return twin


@pytest.mark.parametrize(("name", "level"), all_levels(every=32))
def test_its_advice_is_legal_and_following_it_ends(name: str, level: int | None) -> None:
    game = Game.start(rules_of(name, level), "ck:3")
    tables = {game.check()}
    while not game.is_over and (advice := advice_for(game, 2)).action is not None:
        assert advice.message.endswith(".")
        played = game.act(advice.action)
        assert not isinstance(played, Refusal), (advice, played)
        assert game.check() not in tables, "a table seen before comes back"
        tables.add(game.check())
        assert len(tables) < 1500, "it goes on for ever"


@pytest.mark.parametrize(("name", "level"), all_levels(every=8))
def test_it_is_told_nothing_of_where_hidden_cards_lie(name: str, level: int | None) -> None:
    choice = random.Random(1)
    game = Game.start(rules_of(name, level), "ck:1")
    for _ in range(12):
        mine = sight_of(game)
        twin = Game(game.rules, with_unseen_cards_shuffled(game, choice), game.deal)
        twin.seen, twin.tried = game.seen, game.tried
        assert replace(sight_of(twin), line=mine.line, idle=mine.idle) == mine
        if (action := advise(game).action) is None:
            break
        game.act(action)


def test_the_same_sight_has_the_same_advice_in_another_process() -> None:
    game = Game.start(rules_of("yukon"), "ck:1")
    sights = []
    for _ in range(4):
        sights.append(sight_of(game))
        game.act(advice_for(game).action or pytest.fail("no way on"))
    program = (
        "import pickle, sys\nfrom chilkoot.solver.foresight import foresee\n"
        "for sight in pickle.load(sys.stdin.buffer):\n    print(foresee(sight, 40).message)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(SERVER), "PYTHONHASHSEED": "12"}
    there = subprocess.run(
        [sys.executable, "-c", program],
        input=pickle.dumps(sights),
        capture_output=True,
        env=environment,
        check=True,
    )
    here = [foresee(sight, 40) for sight in sights]
    assert there.stdout.decode().splitlines() == [advice.message for advice in here if advice is not None]


def test_it_wins_more_of_yukon_than_the_first_policy() -> None:
    won = 0
    for seed in range(20):
        game = Game.start(rules_of("yukon"), f"ck:{seed}")
        while not game.is_over and (action := advice_for(game, 24).action) is not None:
            game.act(action)
        won += game.status == "won"
    assert won >= 10, "the first policy wins 7 of these 20"


def test_a_table_that_is_stuck_is_left_at_once() -> None:
    game = fragment(
        "yakutat-bay", "f4: AS 2S | t1: <5H> 3D | t2: <4D> 7C | t3: <8C> 9H | t4: <KC> JS | t5: <6D> 5C"
    )
    assert game.status == "stuck"
    assert advice_for(game).action is None


def test_where_every_card_is_known_it_follows_a_line_that_wins() -> None:
    game = Game.start(rules_of("freecell"), "ms:2")
    moves = 0
    while not game.is_over and moves < 300:
        game.act(advice_for(game).action or pytest.fail("no way on"))
        moves += 1
    assert game.status == "won"


def test_it_names_cards_and_says_why() -> None:
    game = fragment("yukon", "t1: 2C 9D | t2: 3D 7H | t3: <4S> 8C 5D | t4: <6H> TC")
    advice = advice_for(game)
    assert (
        advice.message == "Move the 8 of clubs with the card on it to column 1: it uncovers a face-down card."
    )
