"""Worked examples: moves on real deals, one of each kind that the rules allow and one for each reason to refuse one.

The engine answers every one of them, in its own words. Deals are played with moves drawn from a fixed sequence of numbers, so
the same rules always give the same examples; only what a player would see is ever named.
"""

from __future__ import annotations

import re
from typing import Final

import msgspec

from chilkoot.cards import CARD_NAMES, DOWN, HIDDEN, SUIT_WORDS, card_words, rank_of
from chilkoot.engine import Position, Refusal, deal, name_move
from chilkoot.engine.moves import PileMove, can_turn, is_no_op, legal_moves
from chilkoot.engine.play import play_draw, play_move, play_turn
from chilkoot.engine.position import Change
from chilkoot.engine.refusals import can_draw, why_no_draw, why_not
from chilkoot.events import CardMove, Move, Turn
from chilkoot.guide.english import capital, count, listed, said
from chilkoot.language.rules import Rules

__all__ = ["Example", "find_examples"]

DEALS: Final = 8
"""Deals that are played for examples at most, ``ck:1`` and so on; no more once a deal has shown nothing new."""

ENOUGH: Final = 3
"""Deals that are played at least."""

PLIES: Final = 60
"""Moves played of each of them at most."""

TRIES: Final = 16
"""Moves asked about at each position that the rules may refuse; all in all this takes some hundredths of a second."""

MOST_CONSEQUENCES: Final = 3
"""So much of what a move sets off is told; where cards go home by themselves it can be a long story."""

_LEGAL_KINDS: Final = (
    "build", "group", "empty", "home", "run_home", "to_cell", "from_cell", "from_waste", "from_reserve", "back",
    "turn_up", "draw", "turn_waste", "redeal",
)  # fmt: skip

_CODES: Final = (
    "face_down", "not_a_sequence", "too_many_cards", "same_color", "wrong_color", "wrong_suit", "wrong_rank", "needs_king",
    "wrong_start", "empty_column", "whole_column", "column_full", "foundation_order", "one_card_only", "cell_full", "no_return",
    "not_available", "no_redeal", "no_stock",
)  # fmt: skip


class Example(msgspec.Struct, frozen=True):
    """One move on one board: what is asked for, whether it is allowed, and what is said of it.

    `kind` is the kind of a legal move or the code of the refusal. `deal`, `board`, `base` and `turn` are where it was asked, for whoever
    wants to ask again; `move` is None where the stock is turned or a card is turned up.
    """

    kind: str
    is_legal: bool
    request: str
    answer: str
    deal: str
    board: str
    base: int | None
    turn: int
    move: CardMove | None


class _Found(msgspec.Struct):
    """The best example of a kind so far."""

    worth: int
    example: Example


def find_examples(rules: Rules) -> list[Example]:
    """Examples in the order in which they are told, legal ones first."""
    search = _Search(rules)
    search.run()
    found = search.found
    order = [("legal", kind) for kind in _LEGAL_KINDS] + [("refused", code) for code in _CODES]
    return [found[key].example for key in order if key in found]


class _Search:
    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.found: dict[tuple[str, str], _Found] = {}
        self.deal = ""
        self.state = 1
        self.finds = 0

    def run(self) -> None:
        for number in range(1, DEALS + 1):
            before = self.finds
            self.deal = f"ck:{number}"
            position = Position(self.rules, deal(self.rules, self.deal))
            for _ in range(PLIES):
                if not self._play(position):
                    break
            if number >= ENOUGH and self.finds == before:
                break

    def _pick(self, below: int) -> int:
        """The next number of a fixed sequence (a linear congruential one), below a bound."""
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % (1 << 64)
        return (self.state >> 33) % below

    def _play(self, position: Position) -> bool:
        """Look at a position for examples, then play a move; False where there is none."""
        moves = legal_moves(position)
        for move in moves:
            if not is_no_op(position, move):
                self._legal(position, move)
        self._refused(position, moves)
        if turns := can_turn(position):
            self._turned_up(position, turns[0])
            play_turn(position, turns[0], [])
            return True
        draws = can_draw(position)
        if draws:
            self._drawn(position)
        else:
            self._not_drawn(position)
        useful = [move for move in moves if not is_no_op(position, move)]
        weighed = [move for move in useful for _ in range(_weight(position, move))]
        if draws and (not weighed or self._pick(3) == 0):
            play_draw(position, [])
            return True
        if not weighed:
            return False
        play_move(position, weighed[self._pick(len(weighed))], [])
        return True

    def _keep(
        self,
        key: tuple[str, str],
        worth: int,
        position: Position,
        request: str,
        answer: str,
        move: CardMove | None,
    ) -> None:
        if key in self.found and self.found[key].worth >= worth:
            return
        example = Example(
            kind=key[1],
            is_legal=key[0] == "legal",
            request=request,
            answer=answer,
            deal=self.deal,
            board=position.board(),
            base=position.base,
            turn=position.turn,
            move=move,
        )
        self.found[key] = _Found(worth, example)
        self.finds += 1

    def _wants(self, key: tuple[str, str], worth: int) -> bool:
        return key not in self.found or self.found[key].worth < worth

    def _legal(self, position: Position, move: PileMove) -> None:
        kind, worth = _kind(position, move)
        key = ("legal", kind)
        if not self._wants(key, worth):
            return
        child, changes = position.copy(), list[Change]()
        play_move(child, move, changes)
        answer = " ".join(["Allowed.", *_consequences(position, changes, first=1)])
        named = name_move(position.tables, move)
        self._keep(key, worth, position, _request(position, named), answer, named)

    def _turned_up(self, position: Position, column: int) -> None:
        if not self._wants(("legal", "turn_up"), 1):
            return
        child, changes = position.copy(), list[Change]()
        play_turn(child, column, changes)
        request = said(f"turn up the last card of column {column + 1}")
        answer = " ".join(["Allowed.", *_consequences(position, changes, first=0)])
        self._keep(("legal", "turn_up"), 1, position, request, answer, None)

    def _drawn(self, position: Position) -> None:
        stock = position.tables.layout.stock
        turns = stock >= 0 and position.rules.stock.deal_to != "none"
        if turns and position.piles[stock]:
            kind = "draw"
        elif (
            turns
            and position.turn < (position.rules.stock.passes or 1 << 30)
            and position.rules.stock.deal_to == "waste"
            and position.piles[position.tables.layout.waste]
        ):
            kind = "turn_waste"
        else:
            kind = "redeal"
        if not self._wants(("legal", kind), 1):
            return
        child, changes = position.copy(), list[Change]()
        play_draw(child, changes)
        request = {
            "draw": "Turn the stock.",
            "turn_waste": "Turn the stock, which is empty.",
            "redeal": "Have the columns dealt again.",
        }[kind]
        result = {
            "draw": _dealt(changes),
            "turn_waste": ["The waste is turned over and is the stock again."],
            "redeal": ["The cards of the columns are gathered and dealt again."],
        }[kind]
        self._keep(("legal", kind), 1, position, request, " ".join(["Allowed.", *result]), None)

    def _not_drawn(self, position: Position) -> None:
        layout = position.tables.layout
        turns = layout.stock >= 0 and position.rules.stock.deal_to != "none"
        reason = why_no_draw(position)
        if reason is None or not (turns or position.rules.redeal.times):
            return
        key = ("refused", reason.code)
        if self._wants(key, 5):
            request = "Turn the stock." if turns else "Have the columns dealt again."
            self._keep(key, 5, position, request, f"Refused. {reason.message}", None)

    def _refused(self, position: Position, moves: list[PileMove]) -> None:
        """Ask about moves that a person might try and that are not legal."""
        legal = set(moves)
        layout, piles = position.tables.layout, position.piles
        sources = [pile for pile, cards in enumerate(piles) if cards and layout.zones[pile] != "stock"]
        cells = range(layout.first_cell, layout.first_reserve)
        targets = [*range(layout.columns), *([layout.first_foundation] if layout.foundations else [])]
        for is_full in (True, False):
            targets += [cell for cell in cells if bool(piles[cell]) == is_full][:1]
        for _ in range(TRIES):
            source = sources[self._pick(len(sources))]
            target = targets[self._pick(len(targets))]
            zone = layout.zones[source]
            n = 1 + self._pick(_reach(piles[source])) if zone == "tableau" else 1
            move = (source, n, target)
            if move in legal or source == target or (zone == layout.zones[target] != "tableau"):
                continue
            named = name_move(position.tables, move)
            if layout.zones[target] == "foundations":
                named = CardMove(named.source, named.n, "f")
            reason = why_not(position, named)
            if reason is None:
                continue
            worth = _instructive(position, move, reason)
            key = ("refused", reason.code)
            if worth > 0 and self._wants(key, worth):
                answer = f"Refused. {_plain(position, reason.message)}"
                self._keep(key, worth, position, _request(position, named), answer, named)


def _reach(cards: list[int]) -> int:
    """How many cards of a column a person might try to take: those that lie face up, and one below them."""
    up = next((n for n, card in enumerate(reversed(cards)) if card & DOWN), len(cards))
    return min(len(cards), up + 1)


def _weight(position: Position, move: PileMove) -> int:
    """How gladly a move is played: such that a game gets somewhere, yet foundations stay low and cells get used."""
    source, n, target = move
    zones = position.tables.layout.zones
    if zones[target] == "foundations":
        return 3
    if zones[source] == "foundations":
        return 0
    cards = position.piles[source]
    if zones[source] == "tableau" and (len(cards) == n or cards[-n - 1] & DOWN):
        return 6
    return 1 if zones[target] == "cells" else 2


def _kind(position: Position, move: PileMove) -> tuple[str, int]:
    """What kind of legal move it is, and how well it shows that kind."""
    source, n, target = move
    tables, zones = position.tables, position.tables.layout.zones
    cards, there = position.piles[source], position.piles[target]
    if zones[source] == "foundations":
        return "back", 1
    if zones[target] == "foundations":
        if n > 1:
            return "run_home", 1
        return "home", 2 if there else 1
    if zones[target] == "cells":
        return "to_cell", 1
    if zones[source] != "tableau":
        return {"cells": "from_cell", "waste": "from_waste", "reserve": "from_reserve"}[
            zones[source]
        ], 2 if there else 1
    uncovers = len(cards) > n and bool(cards[-n - 1] & DOWN)
    if not there:
        return "empty", 1 + (1 < n < 6) + uncovers
    if n == 1:
        return "build", 1 + uncovers
    column = tables.columns[source]
    in_order = all(
        column.fits[lower] >> upper & 1 for lower, upper in zip(cards[-n:], cards[-n + 1 :], strict=False)
    )
    # Cards out of order show best that order does not matter, where it does not.
    return "group", 1 + 2 * (column.group.unit == "any" and not in_order) + (n in (3, 4)) + uncovers


def _instructive(position: Position, move: PileMove, reason: Refusal) -> int:
    """How well a refused move shows its reason: 0 is not at all; best is wrong in one way only."""
    source, n, target = move
    code, layout = reason.code, position.tables.layout
    cards, there = position.piles[source], position.piles[target]
    zone, onto = layout.zones[source], layout.zones[target]
    card = cards[-n]
    few = 1 if n < 5 else 0
    if code == "not_available":
        # Only where a zone is closed does the reason say something about the game.
        closed = zone in ("reserve", "waste", "cells") and (onto == "cells" or zone == "reserve" or not there)
        return int(closed or (zone == "foundations" and onto == "cells" and _returns(position, source)))
    if code == "face_down":
        return 1 if len(cards) > n - 1 and card & DOWN and there and not there[-1] & DOWN else 0
    if card & DOWN:
        return 0
    fits = 0
    if onto == "tableau" and there and not there[-1] & DOWN:
        fitting = position.tables.columns[target].fits[there[-1]]
        same_rank = sum(1 << (13 * suit + rank_of(card)) for suit in range(4))
        fits = 2 if fitting >> card & 1 else 1 if fitting & same_rank else 0
    if onto == "tableau" and not there:
        fits = 2 if position.tables.columns[target].start >> card & 1 else 0
    if code in ("same_color", "wrong_color", "wrong_suit"):
        return 1 + 4 * (fits == 1) + few + (onto == "tableau")
    if code in ("not_a_sequence", "too_many_cards", "column_full"):
        return 1 + 4 * (fits == 2) + few
    if code == "foundation_order":
        return 1 + 2 * ("follow" in reason.message) + (rank_of(card) in (1, 2, 3))
    if code == "no_return":
        return 1 + 3 * (fits == 2)
    if code == "wrong_rank":
        near = onto == "tableau" and abs(rank_of(card) - rank_of(there[-1])) <= 2
        return 1 + 2 * near + 2 * (rank_of(there[-1]) not in (0, 12)) + few
    if code == "one_card_only":
        return 1 + few + (onto == "cells")
    if code in ("needs_king", "wrong_start", "whole_column"):
        return 1 + few + (1 < n < 5)
    return 1 + few


def _returns(position: Position, source: int) -> bool:
    """Whether a foundation gives its cards back."""
    return position.tables.foundations[source - position.tables.layout.first_foundation].returns != "never"


_PILES: Final = {"t": "column", "c": "cell", "r": "reserve pile", "f": "foundation"}


def _pile(position: Position, name: str) -> str:
    """A pile in words; without a number where there is only one of its kind."""
    layout = position.tables.layout
    if name[0] in "sw":
        return "the stock" if name[0] == "s" else "the waste"
    many = {"t": layout.columns, "c": layout.cells, "r": layout.reserves, "f": layout.foundations}[name[0]]
    if many == 1:
        return "the reserve" if name[0] == "r" else f"the {_PILES[name[0]]}"
    if name[0] == "f":
        suit = position.tables.foundations[int(name[1:]) - 1].suit
        if suit is not None and many == len(position.rules.deck.suits):
            return f"the foundation of {SUIT_WORDS[suit]}"
    return f"{_PILES[name[0]]} {name[1:]}"


def _request(position: Position, move: CardMove) -> str:
    """A move in words: `Move the 9 of spades, with the two cards on it, from column 5 onto the 10 of hearts in column 2`."""
    layout = position.tables.layout
    cards = position.piles[layout.index[move.source]]
    card = cards[-move.n]
    on_it = (
        ""
        if move.n == 1
        else f", with the {count(move.n - 1, 'card')} on it,".replace("the one card", "one card")
    )
    what = "a face-down card" if card & DOWN else f"the {card_words(card)}"
    if card & DOWN and move.n > 1:
        on_it = on_it.replace("on it", "that lie on it" if move.n > 2 else "that lies on it")
    where = f"from {_pile(position, move.source)}"
    if move.target == "f":
        return said(f"move {what}{on_it} {where} home")
    there = position.piles[layout.index[move.target]]
    pile = _pile(position, move.target)
    zone = layout.zones[layout.index[move.target]]
    if zone == "tableau" and not there:
        return said(f"move {what}{on_it} {where} into the empty {pile}")
    if zone == "tableau":
        end = "a face-down card" if there[-1] & DOWN else f"the {card_words(there[-1])}"
        return said(f"move {what}{on_it} {where} onto {end} in {pile}")
    if zone == "foundations":
        return said(f"move {what}{on_it} {where} home")
    return said(f"move {what}{on_it} {where} into {pile}")


def _consequences(position: Position, changes: list[Change], *, first: int) -> list[str]:
    """What an action set off, in sentences, as a player sees it; the changes before `first` are the action itself."""
    told = []
    seen = position.copy()
    for number, change in enumerate(changes):
        if number >= first and isinstance(change, Move):
            told.append(_set_off(seen, change))
        elif number >= first and isinstance(change, Turn) and change.card != HIDDEN:
            card = card_words(CARD_NAMES.index(change.card))
            told.append(f"The {card} is turned up in {_pile(position, change.pile)}.")
        seen.repeat(change)
    return told[:MOST_CONSEQUENCES]


def _set_off(position: Position, change: Move) -> str:
    """Cards that move by themselves, on the board on which they do."""
    card = position.piles[position.tables.layout.index[change.source]][-change.n]
    one = change.n == 1
    what = "a card" if one and card & DOWN else f"the {card_words(card)}" if one else count(change.n, "card")
    where = _pile(position, change.source)
    if change.target[0] == "f":
        return said(
            f"{what} {'goes' if one else 'go'} home from {where} by {'itself' if one else 'themselves'}"
        )
    return said(f"{what} from {where} {'fills' if one else 'fill'} {_pile(position, change.target)}")


def _dealt(changes: list[Change]) -> list[str]:
    """Which cards turning the stock showed."""
    shown = [(one.pile, one.card) for one in changes if isinstance(one, Turn) and one.card != "??"]
    if not shown:
        return []
    names = [f"the {card_words(CARD_NAMES.index(card))}" for _, card in shown]
    if all(pile == "w1" for pile, _ in shown):
        return [said(f"{listed(names)} now {'lies' if len(names) == 1 else 'lie'} on the waste")]
    return [f"{capital(count(len(shown), 'card'))} {'is' if len(shown) == 1 else 'are'} dealt face up."]


def _plain(position: Position, message: str) -> str:
    """A reason of the engine with piles in words in place of their short names."""
    names = position.tables.layout.index
    words = re.sub(
        r"\b[tcrfsw][1-9][0-9]?\b",
        lambda match: _pile(position, match[0]) if match[0] in names else match[0],
        message,
    )
    return said(words)
