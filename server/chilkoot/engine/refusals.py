"""Whether one action is legal, and if not why: the first reason in PROTOCOL.md's order, as a sentence for people.

It looks at one move or draw and lists none; that is for ``moves``, which a property test holds to the same answer.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from chilkoot.cards import CARD_NAMES, DOWN, RANK_WORDS, card_words, is_red, rank_of, suit_of
from chilkoot.engine.moves import PileMove, ends_in_run, group_limit, group_size, may_return, starts_of
from chilkoot.engine.position import Position
from chilkoot.engine.tables import ColumnTable, FoundationTable, Tables
from chilkoot.events import CardMove

__all__ = ["Refusal", "can_draw", "resolve", "why_no_draw", "why_not"]


@dataclass(frozen=True)
class Refusal:
    """Why an action is refused: a code of PROTOCOL.md, a sentence for people, details for programs."""

    code: str
    message: str
    detail: dict[str, Any] = field(default_factory=dict)


def can_draw(position: Position) -> bool:
    """Whether the stock may be turned, or else the tableau redealt."""
    # Most games have no stock; this is asked after every action.
    return (position.tables.layout.stock >= 0 or _redeals_left(position)) and why_no_draw(position) is None


def why_no_draw(position: Position) -> Refusal | None:
    """Why the stock can't be turned; None where it can."""
    rules, layout, piles = position.rules, position.tables.layout, position.piles
    if layout.stock < 0 or rules.stock.deal_to == "none":
        return None if _redeals_left(position) else _no_redeal_or_stock(position)
    if piles[layout.stock]:
        if rules.stock.require == "no_empty_column" and not all(piles[: layout.columns]):
            return Refusal("empty_column", "The stock is not dealt while a column is empty.")
        return None
    passes_left = rules.stock.passes is None or position.turn < rules.stock.passes
    if rules.stock.deal_to == "waste" and piles[layout.waste] and passes_left:
        return None
    if _redeals_left(position):
        return None
    if rules.stock.deal_to == "waste" and rules.stock.passes is not None and piles[layout.waste]:
        times = "once" if rules.stock.passes == 1 else f"{rules.stock.passes} times"
        return Refusal(
            "no_redeal", f"The stock may be gone through {times}, and it was.", {"passes": rules.stock.passes}
        )
    return Refusal("no_stock", "The stock is empty.")


def _redeals_left(position: Position) -> bool:
    return position.redealt < position.rules.redeal.times


def _no_redeal_or_stock(position: Position) -> Refusal:
    if position.rules.redeal.times:
        return Refusal("no_redeal", "No redeal is left.", {"times": position.rules.redeal.times})
    return Refusal("no_stock", "There is no stock in this game.")


def why_not(position: Position, move: CardMove) -> Refusal | None:
    """Why a move is refused, by the first reason in PROTOCOL.md's order; None where it is legal."""
    layout = position.tables.layout
    source = layout.index.get(move.source)
    if source is None:
        return _not_available(f"There is no pile {move.source} in this game.")
    if move.target == "f" and layout.foundations:
        return _why_not_home(position, source, move)
    target = layout.index.get(move.target)
    if target is None:
        return _not_available(f"There is no pile {move.target} in this game.")
    return _why_not(position, source, move.n, target)


def resolve(position: Position, move: CardMove) -> PileMove | None:
    """The numbered piles of a legal move; None where it is refused."""
    layout = position.tables.layout
    source = layout.index.get(move.source)
    if source is None:
        return None
    if move.target != "f":
        target = layout.index.get(move.target)
        if target is None or _why_not(position, source, move.n, target) is not None:
            return None
        return (source, move.n, target)
    first = layout.first_foundation
    for target in range(first, first + layout.foundations):
        if _why_not(position, source, move.n, target) is None:
            return (source, move.n, target)
    return None


def _why_not_home(position: Position, source: int, move: CardMove) -> Refusal | None:
    """The reason of the foundation nearest to taking the card: its suit's where there is one."""
    first = position.tables.layout.first_foundation
    reasons: list[tuple[int, Refusal]] = []
    cards = position.piles[source]
    for number, table in enumerate(position.tables.foundations):
        reason = _why_not(position, source, move.n, first + number)
        if reason is None:
            return None
        own = bool(cards) and (table.suit is None or table.suit == suit_of(cards[-1]))
        reasons.append((0 if own else 1, reason))
    return min(reasons, key=lambda one: one[0])[1]


def _not_available(message: str) -> Refusal:
    return Refusal("not_available", message)


def _why_not(position: Position, source: int, n: int, target: int) -> Refusal | None:
    layout, piles = position.tables.layout, position.piles
    cards = piles[source]
    zone, onto = layout.zones[source], layout.zones[target]
    names = layout.names
    if source == target:
        return _not_available("The cards are there already.")
    if zone == "stock" or onto in ("stock", "waste", "reserve"):
        where = "from the stock" if zone == "stock" else f"to {names[target]}"
        return _not_available(f"Cards can't be moved {where} by hand.")
    if zone == "foundations" and onto == "foundations":
        return _not_available("Cards don't move from foundation to foundation.")
    if n < 1 and cards:
        return _not_available("At least one card is moved.")
    if n > len(cards) or not cards:
        held = f"{len(cards)} card{'' if len(cards) == 1 else 's'}" if cards else "no cards"
        return _not_available(f"{names[source]} holds {held}.")
    if zone == "reserve" and position.rules.reserve.playable == "none":
        return _not_available("The reserve is not played from; it fills columns.")
    if onto == "cells" and zone not in position.rules.cells.sources:
        return _not_available(f"Cards from {names[source]} don't go to a cell.")
    if onto == "tableau" and not piles[target] and zone not in position.tables.columns[target].sources:
        return _not_available(f"Cards from {names[source]} don't start an empty column.")
    if max(cards[-n:]) & DOWN:
        return Refusal("face_down", "That card lies face down.")
    return (
        _why_not_lifted(position, source, n, target)
        or _why_not_sized(position, source, n, target)
        or _why_not_taken(position, source, n, target)
    )


def _why_not_lifted(position: Position, source: int, n: int, target: int) -> Refusal | None:
    """Whether the cards hold together while they move."""
    tables, cards = position.tables, position.piles[source]
    zone = tables.layout.zones[source]
    if zone in ("reserve", "waste") and n > 1:
        return Refusal(
            "one_card_only", f"Only the last card of {_zone_words(tables, source)} moves.", {"n": n}
        )
    if zone != "tableau" or n == 1:
        between = zone == tables.layout.zones[target] == "tableau"
        if between and len(cards) > 1 and tables.columns[source].group.unit == "whole":
            return Refusal("not_a_sequence", "Only a whole column moves.")
        return None
    if tables.layout.zones[target] == "foundations" and tables.run_homes:
        return None
    table = tables.columns[source]
    if len(cards) - n not in starts_of(tables, source, cards):
        head = card_words(cards[-n])
        if table.group.unit == "single":
            return Refusal("too_many_cards", "Only one card moves at a time.", {"n": n, "limit": 1})
        if table.group.unit in ("whole", "top_or_whole") and n < len(cards):
            return Refusal("not_a_sequence", f"The {head} moves only alone or with its whole column.")
        return Refusal("not_a_sequence", f"The {head} and the cards on it are no sequence.")
    if tables.layout.zones[target] != "tableau":
        return None
    limit = group_limit(position, source, target)
    size = group_size(table, cards[-n:])
    if limit is not None and size > limit:
        what = "cards" if table.group.count == "cards" else "runs"
        return Refusal(
            "too_many_cards",
            f"{size} {what} at once, the limit is {limit} here.",
            {"n": size, "limit": limit},
        )
    return None


def _zone_words(tables: Tables, pile: int) -> str:
    return "the waste" if tables.layout.zones[pile] == "waste" else tables.layout.names[pile]


def _why_not_sized(position: Position, source: int, n: int, target: int) -> Refusal | None:
    """Whether the number of cards suits the target, and whether the source gives them up."""
    tables, piles = position.tables, position.piles
    layout = tables.layout
    onto = layout.zones[target]
    if onto == "cells":
        if n > 1:
            return Refusal("one_card_only", "A cell holds one card.", {"n": n})
        if piles[target]:
            return Refusal("cell_full", f"The cell already holds the {card_words(piles[target][-1])}.")
    if (
        onto == "foundations"
        and n > 1
        and not tables.foundations[target - layout.first_foundation].accepts_runs
    ):
        return Refusal("one_card_only", "Cards go to a foundation one at a time.", {"n": n})
    if layout.zones[source] == "foundations":
        if n > 1:
            return Refusal("one_card_only", "Only the top card leaves a foundation.", {"n": n})
        if not may_return(position, tables.foundations[source - layout.first_foundation]):
            return Refusal("no_return", "A card on a foundation stays there.")
    if onto != "tableau":
        return None
    table = tables.columns[target]
    if not piles[target]:
        whole = layout.zones[source] == "tableau" and n == len(piles[source])
        if whole and table.empty.whole_column == "refuse":
            return Refusal("whole_column", "Moving a whole column into an empty one changes nothing.")
        if table.empty.max_cards is not None and n > table.empty.max_cards:
            most = table.empty.max_cards
            return Refusal(
                "too_many_cards", f"An empty column takes at most {most} at once.", {"n": n, "limit": most}
            )
    if table.max_cards is not None and len(piles[target]) + n > table.max_cards:
        most = table.max_cards
        return Refusal("column_full", f"A column holds at most {most} cards.", {"limit": most})
    return None


def _why_not_taken(position: Position, source: int, n: int, target: int) -> Refusal | None:
    """Whether the target takes the first card of the group."""
    tables, piles = position.tables, position.piles
    layout = tables.layout
    card, there, onto = piles[source][-n], piles[target], layout.zones[target]
    if onto == "cells":
        return None
    if onto == "foundations":
        table = tables.foundations[target - layout.first_foundation]
        return _why_not_founded(table, piles[source], n, there)
    column = tables.columns[target]
    if there:
        return _why_not_built(column, card, there[-1])
    if column.start >> card & 1:
        return None
    if column.empty.accepts == "none":
        return Refusal("empty_column", "An empty column stays empty.")
    if column.empty.accepts == (12,):
        return Refusal("needs_king", f"Only a king may start an empty column, not the {card_words(card)}.")
    ranks = sorted({rank_of(each) for each in range(52) if column.start >> each & 1})
    names = " or ".join(RANK_WORDS[rank] for rank in ranks)
    return Refusal("wrong_start", f"An empty column is started by: {names}; not by the {card_words(card)}.")


def _why_not_built(column: ColumnTable, card: int, end: int) -> Refusal | None:
    if end & DOWN:
        return Refusal("face_down", "The last card of that column lies face down.")
    if column.fits[end] >> card & 1:
        return None
    build = column.build
    cards = {"card": CARD_NAMES[card], "onto": CARD_NAMES[end]}
    upper, lower = card_words(card), card_words(end)
    same_suit, same_color = suit_of(card) == suit_of(end), is_red(card) == is_red(end)
    if build.suit == "alternate" and same_color:
        return Refusal("same_color", f"The {upper} and the {lower} have the same colour.", cards)
    if build.suit == "color" and not same_color:
        return Refusal("wrong_color", f"The {upper} and the {lower} differ in colour.", cards)
    if build.suit == "same" and not same_suit:
        return Refusal("wrong_suit", f"The {upper} and the {lower} differ in suit.", cards)
    if build.suit == "different" and same_suit:
        return Refusal("wrong_suit", f"The {upper} and the {lower} have the same suit.", cards)
    wanted = {
        "down": "one rank lower than",
        "up": "one rank higher than",
        "updown": "one rank lower or higher than",
        "equal": "of the same rank as",
        "down2": "two ranks lower than",
        "up2": "two ranks higher than",
        "any": "of any rank on",
    }[build.rank]
    return Refusal("wrong_rank", f"A card {wanted} the {lower} is wanted, not the {upper}.", cards)


def _why_not_founded(table: FoundationTable, cards: list[int], n: int, there: list[int]) -> Refusal | None:
    if table.accepts_runs:
        if n == table.run_length and not there and ends_in_run(table, cards):
            return None
        return Refusal(
            "not_a_sequence", f"This foundation takes a complete run of {table.run_length} cards at once."
        )
    card = cards[-1]
    if table.wants(there) >> card & 1:
        return None
    word = card_words(card)
    any_suit = 0
    for each in range(52):
        if rank_of(each) == rank_of(card):
            any_suit |= 1 << each
    if not there:
        starts = table.start
        if not starts & any_suit:
            rank = RANK_WORDS[rank_of(starts.bit_length() - 1)] if starts else "card"
            return Refusal("foundation_order", f"A foundation starts with the {rank}, not with the {word}.")
    elif len(there) >= table.capacity or not _rank_follows(table, there[-1], any_suit):
        return Refusal("foundation_order", f"The {word} does not follow the {card_words(there[-1])}.")
    return Refusal("wrong_suit", f"The {word} belongs on another suit's foundation.")


def _rank_follows(table: FoundationTable, top: int, same_rank: int) -> bool:
    return table.on[top] & same_rank != 0
