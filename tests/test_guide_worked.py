"""Worked examples: what they say is what the engine answers, and nothing hidden is ever named."""

from __future__ import annotations

import re
import time
from itertools import pairwise

import pytest

from chilkoot.cards import DOWN, card_words
from chilkoot.engine import Position, Refusal, deal
from chilkoot.engine.deal import Dealt
from chilkoot.engine.moves import can_turn
from chilkoot.engine.refusals import can_draw, why_no_draw, why_not
from chilkoot.guide.worked import Example, find_examples
from chilkoot.language.rules import Rules
from variants import QUICK, all_levels, library, rules_of

CARD = re.compile(r"(?:ace|[2-9]|10|jack|queen|king) of (?:clubs|diamonds|hearts|spades)")


def position_of(rules: Rules, example: Example) -> Position:
    """The board on which an example was asked."""
    dealt: Dealt = deal(rules, example.board, base=example.base, fragment=False)
    return Position(rules, dealt, turn=example.turn)


def answer_to(position: Position, example: Example) -> Refusal | None:
    if example.move is not None:
        return why_not(position, example.move)
    if example.kind == "turn_up":
        return None if can_turn(position) else Refusal("not_available", "")
    return None if can_draw(position) else why_no_draw(position)


@pytest.mark.parametrize(("name", "level"), all_levels(every=8))
def test_the_engine_answers_each_example_as_the_page_says(name: str, level: int | None) -> None:
    rules = rules_of(name, level)
    examples = find_examples(rules)
    assert len(examples) > 3
    for example in examples:
        if rules.redeal.times and example.move is None and not example.is_legal:
            # A board does not show how often it was dealt again.
            continue
        reason = answer_to(position_of(rules, example), example)
        assert (reason is None) == example.is_legal
        assert example.answer.startswith("Allowed." if example.is_legal else "Refused. ")
        if reason is not None:
            assert reason.code == example.kind
            assert CARD.findall(reason.message) == CARD.findall(example.answer)


@pytest.mark.parametrize(("name", "level"), all_levels(every=8))
def test_no_example_names_a_card_that_lies_face_down(name: str, level: int | None) -> None:
    rules = rules_of(name, level)
    for example in find_examples(rules):
        position = position_of(rules, example)
        shown = {card_words(card) for cards in position.piles for card in cards if not card & DOWN}
        assert set(CARD.findall(example.request)) <= shown
        if not example.is_legal:
            assert set(CARD.findall(example.answer)) <= shown


@pytest.mark.parametrize(
    ("name", "kinds"),
    (
        (
            "yukon",
            {"build", "group", "empty", "home", "face_down", "same_color", "wrong_rank", "needs_king", "whole_column",
             "foundation_order", "one_card_only", "no_return"},
        ),
        ("yakutat-bay", {"build", "group", "empty", "home", "back", "same_color", "needs_king"}),
        ("yukon-cells", {"to_cell", "from_cell", "cell_full", "one_card_only", "no_return"}),
        ("yukon-thicket", {"build", "group", "empty", "home", "same_color", "needs_king"}),
        ("freecell", {"too_many_cards", "not_a_sequence", "to_cell", "from_cell", "back"}),
        ("spider", {"draw", "not_a_sequence", "no_stock"}),
        ("canfield", {"draw", "turn_waste", "from_waste", "home"}),
        ("cruel", {"redeal"}),
    ),
)  # fmt: skip
def test_there_is_an_example_of_each_kind(name: str, kinds: set[str]) -> None:
    found = [example.kind for example in find_examples(rules_of(name))]
    assert kinds <= set(found)
    assert len(set(found)) == len(found)


def test_an_example_shows_that_order_does_not_matter_where_it_does_not() -> None:
    (group,) = [example for example in find_examples(rules_of("yukon")) if example.kind == "group"]
    position = position_of(rules_of("yukon"), group)
    assert group.move is not None
    cards = position.piles[position.tables.layout.index[group.move.source]][-group.move.n :]
    fits = position.tables.columns[0].fits
    assert not all(fits[lower] >> upper & 1 for lower, upper in pairwise(cards))


def test_examples_are_the_same_each_time() -> None:
    assert find_examples(rules_of("yukon")) == find_examples(rules_of("yukon"))


def test_finding_examples_takes_a_moment_only() -> None:
    slowest = 0.0
    for one in library().variants():
        if one.id in QUICK:
            before = time.process_time()
            find_examples((one.level() or one.levels[0]).rules)
            slowest = max(slowest, time.process_time() - before)
    assert slowest < 2
