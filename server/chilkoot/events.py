"""What can happen to a table, in the words that engine, record, wire, replay and clients share.

An action is something that raises a game's ``seq`` by one; its text reads back (``parse_action``). Everything an action
does to the cards is a list of two kinds of operations, ``Move`` and ``Turn``, which a client can apply without knowing any
rule. Nothing here may depend on a game's rules.
"""

from __future__ import annotations

import re
from typing import Final, Literal

import msgspec

__all__ = [
    "CONCEDE",
    "DRAW",
    "GIVE_UP",
    "HOME",
    "Action",
    "By",
    "CardMove",
    "Move",
    "Op",
    "Result",
    "Simple",
    "Status",
    "Turn",
    "TurnUp",
    "Undo",
    "format_action",
    "parse_action",
]

Status = Literal["playing", "won", "lost", "stuck"]
Result = Literal["home", "no_moves", "gave_up", "conceded"]
By = Literal["player", "auto"]


class Move(msgspec.Struct, frozen=True, tag_field="op", tag="move", omit_defaults=True):
    """The last `n` cards of one pile go onto another, in order; with `flip` reversed and turned over."""

    source: str = msgspec.field(name="from")
    target: str = msgspec.field(name="to")
    n: int
    flip: bool = False


class Turn(msgspec.Struct, frozen=True, tag_field="op", tag="turn"):
    """The card at index `at` (0 is the bottom) of `pile` now shows `card`; ``??`` when it was turned down."""

    pile: str
    at: int
    card: str


Op = Move | Turn


class CardMove(msgspec.Struct, frozen=True):
    """A player's move: the last `n` cards of `source` onto `target`, a pile or ``f`` for the foundation that takes it."""

    source: str
    n: int
    target: str

    def __str__(self) -> str:
        return f"{self.source} {self.n} {self.target}"


class TurnUp(msgspec.Struct, frozen=True):
    """The player turns the covered last card of a column up, where the rules leave that to the player."""

    pile: str

    def __str__(self) -> str:
        return f"turn {self.pile}"


class Undo(msgspec.Struct, frozen=True):
    """The last `count` actions are taken back, or done again when `redo` is set."""

    count: int = 1
    redo: bool = False

    def __str__(self) -> str:
        word = "redo" if self.redo else "undo"
        return word if self.count == 1 else f"{word} {self.count}"


class Simple(msgspec.Struct, frozen=True):
    """An action that is a single word."""

    word: Literal["draw", "home", "give_up", "concede"]

    def __str__(self) -> str:
        return self.word


Action = CardMove | TurnUp | Undo | Simple

DRAW: Final = Simple("draw")
HOME: Final = Simple("home")
GIVE_UP: Final = Simple("give_up")
CONCEDE: Final = Simple("concede")
_SIMPLE: Final = {str(action): action for action in (DRAW, HOME, GIVE_UP, CONCEDE)}

_PILE = r"[tcrfsw][1-9][0-9]{0,2}"
_MOVE: Final = re.compile(rf"({_PILE})\s+([1-9][0-9]{{0,2}})\s+({_PILE}|f)")
_TURN: Final = re.compile(rf"turn\s+({_PILE})")
_UNDO: Final = re.compile(r"(undo|redo)(?:\s+([1-9][0-9]{0,3}))?")


def format_action(action: Action) -> str:
    """The text of an action: ``t5 4 t2``, ``draw``, ``turn t3``, ``home``, ``undo 2``, ``give_up``, ``concede``."""
    return str(action)


def parse_action(text: str) -> Action | None:
    """Read the text of an action; None where it is no action at all."""
    words = text.strip()
    if words in _SIMPLE:
        return _SIMPLE[words]
    if match := _MOVE.fullmatch(words):
        return CardMove(match[1], int(match[2]), match[3])
    if match := _TURN.fullmatch(words):
        return TurnUp(match[1])
    if match := _UNDO.fullmatch(words):
        return Undo(int(match[2] or 1), redo=match[1] == "redo")
    return None
