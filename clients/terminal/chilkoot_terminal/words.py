"""Sentences about the table, for people: card names, what an action did, how a game ended. One sentence a thing said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from chilkoot_client import HIDDEN, Diff, Move, Table, Turn, apply_ops

__all__ = [
    "card_words",
    "column_words",
    "diff_words",
    "move_words",
    "outcome_words",
    "pile_words",
    "score_words",
    "time_words",
]

_RANKS: Final = {"A": "ace", "T": "10", "J": "jack", "Q": "queen", "K": "king"}
_SUITS: Final = {"C": "clubs", "D": "diamonds", "H": "hearts", "S": "spades"}
_ZONES: Final = {"t": "column", "f": "foundation", "c": "cell", "r": "reserve"}

Piles = Mapping[str, Sequence[str]]


def card_words(card: str) -> str:
    """``9S`` as "9 of spades"."""
    if len(card) != 2 or card[1] not in _SUITS:
        return "a face-down card"
    return f"{_RANKS.get(card[0], card[0])} of {_SUITS[card[1]]}"


def pile_words(pile: str) -> str:
    """``t5`` as "column 5"."""
    if pile == "f":
        return "its foundation"
    if pile[0] in "sw":
        return "the stock" if pile[0] == "s" else "the waste"
    return f"{_ZONES.get(pile[0], pile)} {pile[1:]}"


def group_words(cards: Sequence[str]) -> str:
    """A card with its riders: "9 of spades and 3 cards"."""
    riders = len(cards) - 1
    return card_words(cards[0]) + (f" and {riders} card{'s' * (riders > 1)}" if riders else "")


def _list(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def move_words(piles: Piles, move: Move) -> str:
    """A move that is about to be made: "9 of spades and 3 cards to column 2 on 10 of hearts"."""
    cards = piles[move.source][-move.n :]
    if move.target[0] == "f":
        return f"{_list([card_words(card) for card in cards]) if len(cards) < 4 else group_words(cards)} home"
    where = pile_words(move.target)
    under = piles[move.target][-1:]
    if move.target[0] == "t":
        where = f"{where} on {card_words(under[0])}" if under else f"empty {where}"
    return f"{group_words(cards)} to {where}"


def diff_words(piles: Piles, diff: Diff, *, by_me: bool) -> str:
    """What an action did to the table as it was before."""
    text = {
        "undo": "Taken back.",
        "redo": "Done again.",
        "give_up": "Given up.",
        "concede": "The server sees no way on and concedes.",
    }.get(diff.cause or "") or _action_words(piles, diff)
    if diff.by == "auto" and diff.ops:
        text = f"The server plays: {text[:1].lower()}{text[1:]}"
    elif not by_me:
        text = f"From elsewhere: {text[:1].lower()}{text[1:]}"
    if diff.cause not in {"undo", "redo"} and diff.score is not None:
        text += f" {diff.score} home."
    return text


def _action_words(piles: Piles, diff: Diff) -> str:
    if diff.cause == "draw":
        return _draw_words(piles, diff)
    sentences: list[str] = []
    homeward: list[str] = []
    # What a player's own move does comes first; everything after it was set off by it.
    is_own = diff.cause != "home"
    for op in diff.ops:
        if isinstance(op, Move):
            if is_own:
                sentences.append(f"{_capital(move_words(piles, op))}.")
            elif op.target[0] == "f":
                homeward += piles[op.source][-op.n :]
            else:
                sentences.append(f"Then {move_words(piles, op)}.")
            is_own = False
        elif op.card != HIDDEN:
            sentences.append(f"Turned up {card_words(op.card)}.")
        piles = apply_ops(piles, (op,))
    if homeward:
        names = _list([card_words(card) for card in homeward])
        many = f"{len(homeward)} cards went home" if len(homeward) > 4 else f"{names} went home"
        sentences.append(
            f"{_capital(many)}{'' if diff.cause == 'home' else ' by itself' if len(homeward) == 1 else ' by themselves'}."
        )
    return " ".join(sentences) or "Done."


def _draw_words(piles: Piles, diff: Diff) -> str:
    turned = [op.card for op in diff.ops if isinstance(op, Turn) and op.card != HIDDEN]
    if turned:
        return f"Drew {_list([card_words(card) for card in turned]) if len(turned) < 5 else f'{len(turned)} cards'}."
    if any(isinstance(op, Move) and op.target[0] == "s" for op in diff.ops):
        return f"Turned the waste over: {len(piles.get('w1', ()))} cards in the stock again."
    return "Dealt again."


def outcome_words(table: Table) -> str:
    """How a game stands or ended, as a sentence; empty while it just goes on."""
    cards = f"{table.score} card{'s' * (table.score != 1)} home"
    moves = f"{table.moves} move{'s' * (table.moves != 1)}"
    if table.status == "won":
        return f"Won: every card is home, in {moves}. `new` deals another game."
    if table.status == "lost":
        why = {
            "no_moves": "no move is left",
            "gave_up": "you gave it up",
            "conceded": "the server conceded",
        }.get(table.result or "", "it is over")
        way_out = "`undo` takes the last move back; " if table.can.undo else ""
        return f"Lost, for {why}: {cards}, in {moves}. {way_out}`restart` deals the same cards, `new` others."
    if table.status == "stuck":
        return (
            "Stuck: no moves from what can be seen turn up a card or bring more cards home. `undo` may help."
        )
    return ""


def score_words(table: Table, size: int) -> str:
    """The score and the moves."""
    undone = f", {table.undos} taken back" if table.undos else ""
    return f"{table.score} of {size} home, {table.moves} move{'s' * (table.moves != 1)}{undone}."


def column_words(piles: Piles, pile: str) -> str:
    """What lies in a pile, bottom first; a run of face-down cards is one thing."""
    cards = piles.get(pile)
    if cards is None:
        return f"There is no {pile_words(pile)} in this game."
    down = len([card for card in cards if card == HIDDEN])
    names = [f"{down} face-down"] * bool(down) + [card_words(card) for card in cards if card != HIDDEN]
    return f"{_capital(pile_words(pile))}: {', '.join(names) or 'empty'}."


def time_words(ms: int) -> str:
    """Time on the server's clock: ``4:07``, ``1:04:07``."""
    seconds = ms // 1000
    hours, minutes = seconds // 3600, seconds // 60 % 60
    return f"{hours}:{minutes:02d}:{seconds % 60:02d}" if hours else f"{minutes}:{seconds % 60:02d}"
