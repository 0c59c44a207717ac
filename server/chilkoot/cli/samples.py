"""What the engine answers to the tests that the author of a variant wrote into its file."""

from __future__ import annotations

from chilkoot.engine import DealError, Game
from chilkoot.events import parse_action
from chilkoot.language import Variant, VariantTest

__all__ = ["answer_to"]


def answer_to(variant: Variant, test: VariantTest) -> tuple[str, str]:
    """``legal``, or the code and the sentence with which the move of a test is refused."""
    level, action = variant.level(test.level), parse_action(test.move)
    # Reading the file has seen to both.
    assert level is not None
    assert action is not None
    try:
        game = Game.start(level.rules, test.board, fragment=True)
    except DealError as error:
        return "bad_deal", error.message
    # A few cards are no game: that nothing else could be moved is not what is asked.
    game.status, game.result = "playing", None
    reason = game.why_not(action)
    return ("legal", "") if reason is None else (reason.code, reason.message)
