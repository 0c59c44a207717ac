"""The engine against an independent program: deals, legal moves, what a move does (tests/goldens/README.md)."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from chilkoot.cards import RANKS
from chilkoot.engine import Game, Refusal, name_move, parse_board
from chilkoot.events import parse_action
from chilkoot.language.rules import Rules
from variants import rules_of, variant

GOLDENS = Path(__file__).parent / "goldens"
Case = dict[str, Any]


def load(name: str) -> dict[str, list[Case]]:
    """The cases of a file by variant, levels apart."""
    cases: dict[str, list[Case]] = {}
    for line in (GOLDENS / name).read_text().splitlines():
        case = json.loads(line)
        level = f" {case['level']}" if "level" in case else ""
        cases.setdefault(case["variant"] + level, []).append(case)
    return cases


DEALS, MOVES, TRANSITIONS = load("deals.jsonl"), load("moves.jsonl"), load("transitions.jsonl")


def rules_for(name: str) -> Rules:
    word, _, level = name.partition(" ")
    return rules_of(word, int(level) if level else None)


def board_text(board: dict[str, str]) -> str:
    return "\n".join(f"{pile}: {cards}" for pile, cards in board.items())


def begin(rules: Rules, case: Case, board: str) -> Game:
    base = RANKS.index(case["base"]) if "base" in case else None
    turn = case.get("pass", 1)
    return Game.start(
        rules, board_text(case[board]), base=base, turn=turn[0] if isinstance(turn, list) else turn
    )


@pytest.mark.parametrize("name", DEALS)
def test_a_numbered_deal_is_the_same_as_in_the_independent_program(name: str) -> None:
    rules = rules_for(name)
    for case in DEALS[name]:
        assert Game.start(rules, case["deal"]).position.piles == parse_board(rules, case["board"]), case[
            "deal"
        ]


@pytest.mark.parametrize("name", MOVES)
def test_the_legal_moves_are_those_of_the_independent_program(name: str) -> None:
    rules = rules_for(name)
    refuses_whole_column = rules.tableau[0].empty.whole_column == "refuse"
    for case in MOVES[name]:
        game = begin(rules, case, "board")
        # A position is judged as it stands: no-ops are legal moves of a lost game's table too.
        tables = game.position.tables
        named = [name_move(tables, move) for move in game.legal_piles()]
        moves = {f"{move.source} {move.n} {'f' if move.target[0] == 'f' else move.target}" for move in named}
        noops = set(case["noop"])
        assert moves - noops == set(case["moves"]), case["board"]
        assert not any(move.startswith("f") and move.endswith(" f") for move in moves)
        whole = {move for move in noops if move[0] == "t"}
        assert whole & moves == (set() if refuses_whole_column else whole)
        if "draw" in case:
            assert game.can_draw() == case["draw"]


@pytest.mark.parametrize("name", TRANSITIONS)
def test_an_action_leaves_the_table_that_the_independent_program_left(name: str) -> None:
    rules = rules_for(name)
    for case in TRANSITIONS[name]:
        game = begin(rules, case, "before")
        action = parse_action(case["action"])
        assert action is not None
        played = game.act(action)
        assert not isinstance(played, Refusal), (case["action"], played)
        ours, theirs = game.position.piles, parse_board(rules, case["after"])
        layout = game.position.tables.layout
        first, last = layout.first_foundation, layout.first_foundation + layout.foundations
        assert ours[:first] + ours[last:] == theirs[:first] + theirs[last:], case
        # Foundations of one suit are interchangeable.
        assert Counter(map(tuple, ours[first:last])) == Counter(map(tuple, theirs[first:last]))
        if "pass" in case:
            assert game.position.turn == case["pass"][1]


def test_the_goldens_cover_the_main_games_and_the_variants_cover_the_goldens() -> None:
    assert {"yukon", "yukon-cells"} <= DEALS.keys() & MOVES.keys() & TRANSITIONS.keys()
    assert {"yakutat-bay", "yukon-thicket 1", "yukon-thicket 3"} <= MOVES.keys()
    # Every record of the files is asked; levels and Yakutat Bay have no deals of their own, for they are Yukon's.
    assert [len(cases) for cases in (DEALS, MOVES, TRANSITIONS)] == [33, 36, 33]
    assert [sum(map(len, cases.values())) for cases in (DEALS, MOVES, TRANSITIONS)] == [99, 1063, 272]
    assert all(variant(name.partition(" ")[0]) for name in DEALS.keys() | MOVES.keys() | TRANSITIONS.keys())
