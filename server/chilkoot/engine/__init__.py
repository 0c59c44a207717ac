"""The engine: deals, legal moves, refusals, what an action does, undo, outcome. Pure, for any compiled rules."""

from chilkoot.engine.deal import Dealt, deal, normal_deal, shuffle
from chilkoot.engine.game import MAX_ACTIONS, SEMANTICS, Game
from chilkoot.engine.moves import is_no_op, legal_moves, name_move
from chilkoot.engine.notation import DealError, format_board, format_pile, looks_like_board, parse_board
from chilkoot.engine.position import Position
from chilkoot.engine.refusals import Refusal
from chilkoot.engine.tables import Tables, tables_for

__all__ = [
    "MAX_ACTIONS",
    "SEMANTICS",
    "DealError",
    "Dealt",
    "Game",
    "Position",
    "Refusal",
    "Tables",
    "deal",
    "format_board",
    "format_pile",
    "is_no_op",
    "legal_moves",
    "looks_like_board",
    "name_move",
    "normal_deal",
    "parse_board",
    "shuffle",
    "tables_for",
]
