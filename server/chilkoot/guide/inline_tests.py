"""The tests that a variant's file carries, run: each move is asked of the engine on its board."""

from __future__ import annotations

from chilkoot.engine import DealError, Position, Refusal, deal, legal_moves
from chilkoot.engine.moves import can_turn
from chilkoot.engine.refusals import why_no_draw, why_not
from chilkoot.events import CardMove, TurnUp, parse_action
from chilkoot.language import Diagnostic, failed_test
from chilkoot.language.rules import Rules, Variant, VariantTest

__all__ = ["answer_to", "run_tests"]


def run_tests(variant: Variant, file: str) -> list[Diagnostic]:
    """One error for each test of a variant, which was read from `file`, that the engine answers otherwise than it expects."""
    answers = [(test, *answer_to(variant, test)) for test in variant.tests]
    return [
        failed_test(file, variant, test, found, reason)
        for test, found, reason in answers
        if found != test.expect
    ]


def answer_to(variant: Variant, test: VariantTest) -> tuple[str, str]:
    """``legal``, or the code and the sentence with which the move of a test is refused.

    ``bad_deal`` where the board can't be laid out, most often for want of a base card. A few cards are no game: whether anything else
    could be moved, so that the game would be lost, is not asked.
    """
    level = variant.level(test.level)
    assert level is not None, "a test names one of the variant's own levels"
    try:
        reason = _why_not(level.rules, test)
    except DealError as error:
        return "bad_deal", error.message
    return ("legal", "") if reason is None else (reason.code, reason.message)


def _why_not(rules: Rules, test: VariantTest) -> Refusal | None:
    position = Position(rules, deal(rules, test.board, fragment=True))
    action = parse_action(test.move)
    assert action is not None, "the move of a test was checked when it was read"
    if isinstance(action, CardMove):
        return why_not(position, action)
    layout = position.tables.layout
    if isinstance(action, TurnUp):
        if layout.index.get(action.pile) in can_turn(position):
            return None
        return Refusal("not_available", "There is no card to turn up there.")
    if str(action) == "draw":
        return why_no_draw(position)
    if any(layout.zones[target] == "foundations" for _, _, target in legal_moves(position)):
        return None
    return Refusal("nothing_to_send_home", "No card can go home now.")
