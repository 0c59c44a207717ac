"""The tests in a variant's file: what the engine answers to them, and what is said of those that fail."""

from __future__ import annotations

import pytest

from chilkoot.guide import answer_to, run_tests
from chilkoot.language import Source, Variant, compile_variant, render_text
from variants import library


def compiled(text: str) -> Variant:
    one, said = compile_variant(Source("x.yaml", "x", text), library().loader())
    assert one is not None, render_text(said)
    return one


@pytest.mark.parametrize(
    ("rules", "board", "move", "answer"),
    (
        ("extends: yukon", "t2: TH | t5: <AD> 9S 4D QC 7H", "t5 4 t2", "legal"),
        ("extends: yukon", "t2: TS | t5: <AD> 9S 4D QC 7H", "t5 4 t2", "same_color"),
        ("extends: yukon", "t2: TH | t5: <AD> 9S 4D QC 7H", "t5 5 t2", "face_down"),
        ("extends: yukon", "t5: KC 4D 7H", "t5 3 t1", "whole_column"),
        ("extends: yukon", "t5: AC", "home", "legal"),
        ("extends: yukon", "t5: 2C", "home", "nothing_to_send_home"),
        ("extends: yukon", "t5: 2C", "draw", "no_stock"),
        ("extends: klondike", "s1: <2C>", "draw", "legal"),
        ("extends: spider", "t1: 3H | s1: <2C>", "draw", "empty_column"),
        ("extends: yukon\ntableau: {expose: manual}", "t1: <2C>", "turn t1", "legal"),
        ("extends: yukon\ntableau: {expose: manual}", "t1: <2C> 3H", "turn t1", "not_available"),
        ("extends: canfield", "f1: 5C | t1: 6C", "t1 1 f", "legal"),
    ),
)
def test_a_move_is_answered_by_the_engine(rules: str, board: str, move: str, answer: str) -> None:
    expected = answer if answer != "not_available" else "face_down"
    text = f'{rules}\ntests: [{{board: "{board}", move: "{move}", expect: {expected}}}]\n'
    one = compiled(text)
    assert answer_to(one, one.tests[0])[0] == answer
    assert (run_tests(one, "x.yaml") == []) == (answer == expected)


def test_a_test_is_asked_at_its_level() -> None:
    one = compiled(
        "extends: yukon-thicket\n"
        "tests:\n"
        '  - {level: 1, board: "t4: <AD> 2S", move: t4 1 t1, expect: legal}\n'
        '  - {level: 3, board: "t4: <AD> 2S", move: t4 1 t1, expect: legal}\n'
    )
    (said,) = run_tests(one, "x.yaml")
    assert (said.code, said.place.line, said.place.column) == ("R404", 4, 61)
    assert said.message == 'the move "t4 1 t1" is refused as needs_king, and the test expects legal'
    assert said.help == "Only a king may start an empty column, not the 2 of spades."


def test_a_board_without_its_base_card_fails_with_the_reason() -> None:
    one = compiled('extends: canfield\ntests: [{board: "t1: 6C | t2: 5H", move: t2 1 t1, expect: legal}]\n')
    (said,) = run_tests(one, "x.yaml")
    assert "refused as bad_deal" in said.message
    assert "base card" in said.help


def test_that_a_few_cards_make_a_lost_game_is_not_asked() -> None:
    one = compiled('extends: yukon\ntests: [{board: "t1: 6C | t2: 5C", move: t2 1 t1, expect: same_color}]\n')
    assert run_tests(one, "x.yaml") == []
