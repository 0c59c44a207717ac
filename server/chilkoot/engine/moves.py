"""Which moves the rules allow in a position: all of them, and for one refused move the reason.

``legal_moves`` generates, ``why_not`` explains; a property test holds them to the same answer. No-ops that the rules
allow (a whole column onto an empty one, cell to cell) are legal moves here; ``is_no_op`` tells them for the loss test.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final

from chilkoot.cards import CARD_NAMES, DOWN, RANK_WORDS, card_words, is_red, rank_of, suit_of
from chilkoot.engine.position import Position
from chilkoot.engine.tables import ColumnTable, FoundationTable, Tables, Zone
from chilkoot.events import CardMove

__all__ = [
    "PileMove",
    "Refusal",
    "can_draw",
    "can_send_home",
    "can_turn",
    "foundation_for",
    "heads_of",
    "homeward",
    "is_no_op",
    "legal_moves",
    "movable",
    "name_move",
    "runs_homeward",
    "targets",
    "wanted_by_columns",
    "why_no_draw",
    "why_not",
]

_BITS: Final = [1 << card for card in range(52)]

PileMove = tuple[int, int, int]
"""A move between numbered piles: source, how many cards, target."""


@dataclass(frozen=True)
class Refusal:
    """Why an action is refused: a code of PROTOCOL.md, a sentence for people, details for programs."""

    code: str
    message: str
    detail: dict[str, Any] = field(default_factory=dict)


def movable(tables: Tables, column: int, cards: list[int]) -> int:
    """The index of the lowest card of a column that could be picked up, limits aside; ``len(cards)`` where none can."""
    low = len(cards)
    if not low or cards[-1] & DOWN:
        return low
    table = tables.columns[column]
    unit = table.group.unit
    if unit == "single":
        return low - 1
    low -= 1
    if unit == "any":
        low += 1
        for card in reversed(cards):
            if card & DOWN:
                break
            low -= 1
    else:
        glued = table.glued
        while low and not cards[low - 1] & DOWN and glued[cards[low - 1]] >> cards[low] & 1:
            low -= 1
    if unit == "whole" and low:
        return len(cards)
    return low


def _starts(tables: Tables, column: int, cards: list[int]) -> range | tuple[int, ...]:
    """The indices at which a group of this column may begin, limits aside."""
    low = movable(tables, column, cards)
    unit = tables.columns[column].group.unit
    if unit == "whole":
        return (low,) if low < len(cards) else ()
    if unit == "top_or_whole" and low < len(cards):
        last = len(cards) - 1
        return (0, last) if low == 0 and last else (last,)
    return range(low, len(cards))


def group_limit(position: Position, column: int, target: int) -> int | None:
    """How many cards (or suit runs) may move at once from a column onto a column; None is without limit."""
    tables = position.tables
    limit = tables.columns[column].group.limit
    if limit == "none":
        return None
    if isinstance(limit, int):
        return limit
    layout, piles = tables.layout, position.piles
    room = 1 + sum(not piles[cell] for cell in range(layout.first_cell, layout.first_reserve))
    if limit == "supermove":
        for other in range(layout.columns):
            if other != target and not piles[other] and tables.columns[other].empty.accepts == "any":
                room *= 2
    return room


def _group_size(table: ColumnTable, group: list[int]) -> int:
    if table.group.count == "cards":
        return len(group)
    return 1 + sum(not table.continues[lower] >> upper & 1 for lower, upper in pairwise(group))


def legal_moves(position: Position) -> list[PileMove]:
    """Every move of cards that the rules allow, no-ops included, in a fixed order."""
    tables, piles = position.tables, position.piles
    layout = tables.layout
    # Most cards fit nowhere, so what the piles would take is put together first, and few cards are looked at twice.
    wanted = wanted_by_columns(tables, piles)
    founded, home, _ = position.foundations()
    anywhere = _together(wanted)
    cells = [pile for pile in range(layout.first_cell, layout.first_reserve) if not piles[pile]]
    to_cells = position.rules.cells.sources if cells else ()
    moves: list[PileMove] = []
    for source in range(layout.columns):
        cards = piles[source]
        if not cards or cards[-1] & DOWN:
            continue
        heads = heads_of(tables.columns[source], cards)
        if heads & anywhere:
            _column_moves(position, source, heads, wanted, moves)
        if tables.run_homes or home & _BITS[cards[-1]]:
            _foundation_moves(position, source, founded, moves)
        if "tableau" in to_cells:
            moves += [(source, 1, cell) for cell in cells]
    for source, zone in _singles(position):
        card = _BITS[piles[source][-1]]
        if anywhere & card:
            _single_moves(position, source, zone, wanted, moves)
        if home & card and zone != "foundations":
            _foundation_moves(position, source, founded, moves)
        if zone in to_cells:
            moves += [(source, 1, cell) for cell in cells]
    return moves


def _together(sets: list[int]) -> int:
    union = 0
    for cards in sets:
        union |= cards
    return union


def heads_of(table: ColumnTable, cards: list[int]) -> int:
    """The cards of a column at which a group could begin, or more; its last card lies face up."""
    unit = table.group.unit
    heads = _BITS[cards[-1]]
    if unit == "run":
        upper = heads
        for card in cards[-2::-1]:
            if card & DOWN or not table.glued[card] & upper:
                break
            upper = _BITS[card]
            heads |= upper
    elif unit != "single":
        for card in reversed(cards):
            if card & DOWN:
                break
            heads |= _BITS[card]
    return heads


def wanted_by_columns(tables: Tables, piles: list[list[int]]) -> list[int]:
    """The cards that each column would take, sizes aside."""
    wanted = []
    for table, cards in zip(tables.columns, piles, strict=False):
        if not cards:
            wanted.append(table.start)
        else:
            wanted.append(0 if cards[-1] & DOWN else table.fits[cards[-1]])
    return wanted


def _singles(position: Position) -> list[tuple[int, Zone]]:
    """The piles besides the columns whose last card may move."""
    tables, piles = position.tables, position.piles
    layout = tables.layout
    singles: list[tuple[int, Zone]] = [
        (pile, "cells") for pile in range(layout.first_cell, layout.first_reserve) if piles[pile]
    ]
    if layout.reserves and position.rules.reserve.playable == "top":
        singles += [
            (pile, "reserve")
            for pile in range(layout.first_reserve, layout.first_foundation)
            if piles[pile] and not piles[pile][-1] & DOWN
        ]
    if layout.waste >= 0 and piles[layout.waste]:
        singles.append((layout.waste, "waste"))
    if tables.returns:
        singles += [
            (pile, "foundations")
            for pile, table in enumerate(tables.foundations, layout.first_foundation)
            if piles[pile] and _may_return(position, table)
        ]
    return singles


def _column_moves(
    position: Position,
    source: int,
    heads: int,
    wanted: list[int],
    moves: list[PileMove],
) -> None:
    tables, piles = position.tables, position.piles
    cards = piles[source]
    count = len(cards)
    group = tables.columns[source].group
    is_limited = group.limit != "none"
    is_found = tables.copies == 1 and group.unit in ("any", "run", "single")
    for target, wants in enumerate(wanted):
        fitting = heads & wants
        if not fitting or target == source:
            continue
        if is_found and not fitting & fitting - 1:
            starts = [cards.index(fitting.bit_length() - 1)]
        else:
            starts = [at for at in _starts(tables, source, cards) if fitting & _BITS[cards[at]]]
        if is_limited or not piles[target] or tables.columns[target].max_cards is not None:
            starts = [at for at in starts if _fits_in(position, source, at, target, is_limited)]
        moves += [(source, count - at, target) for at in starts]


def _fits_in(position: Position, source: int, at: int, target: int, limited: bool) -> bool:
    """Whether the sizes allow a group whose first card is accepted."""
    tables, piles = position.tables, position.piles
    cards, there = piles[source], piles[target]
    n = len(cards) - at
    table = tables.columns[target]
    if not there:
        if at == 0 and table.empty.whole_column == "refuse":
            return False
        if "tableau" not in table.sources or (
            table.empty.max_cards is not None and n > table.empty.max_cards
        ):
            return False
    if table.max_cards is not None and len(there) + n > table.max_cards:
        return False
    if limited and n > 1:
        limit = group_limit(position, source, target)
        if limit is not None and _group_size(tables.columns[source], cards[at:]) > limit:
            return False
    return True


def _single_moves(
    position: Position, source: int, zone: Zone, wanted: list[int], moves: list[PileMove]
) -> None:
    """Moves of the last card of a pile that is no column onto columns."""
    tables, piles = position.tables, position.piles
    card = _BITS[piles[source][-1]]
    for target, wants in enumerate(wanted):
        table = tables.columns[target]
        if (
            wants & card
            and (piles[target] or zone in table.sources)
            and (table.max_cards is None or len(piles[target]) < table.max_cards)
        ):
            moves.append((source, 1, target))


def _foundation_moves(position: Position, source: int, wanted: list[int], moves: list[PileMove]) -> None:
    tables, cards = position.tables, position.piles[source]
    card = _BITS[cards[-1]]
    for number, wants in enumerate(wanted, tables.layout.first_foundation):
        if wants & card:
            moves.append((source, 1, number))
        elif tables.run_homes and source < tables.layout.columns and not position.piles[number]:
            table = tables.foundations[number - tables.layout.first_foundation]
            if table.accepts_runs and ends_in_run(table, cards):
                moves.append((source, table.run_length, number))


def ends_in_run(table: FoundationTable, cards: list[int]) -> bool:
    """Whether a column ends in a complete run that this foundation takes."""
    length = table.run_length
    if len(cards) < length or any(card & DOWN for card in cards[-length:]):
        return False
    run = cards[-length:]
    if table.suit is not None and any(suit_of(card) != table.suit for card in run):
        return False
    return all(table.run_next[lower] >> upper & 1 for lower, upper in pairwise(run))


def _may_return(position: Position, table: FoundationTable) -> bool:
    if table.accepts_runs or table.returns == "never":
        return False
    return table.returns == "always" or not _stock_left(position)


def _stock_left(position: Position) -> bool:
    stock = position.tables.layout.stock
    return stock >= 0 and bool(position.piles[stock])


def foundation_for(position: Position, source: int) -> int | None:
    """The foundation that takes the last card of a pile, the first where several do; None where none does."""
    cards = position.piles[source]
    if not cards or cards[-1] & DOWN:
        return None
    for number, wants in enumerate(position.foundations().each, position.tables.layout.first_foundation):
        if wants >> cards[-1] & 1:
            return number
    return None


def homeward(position: Position) -> list[int]:
    """Those of the piles whose last card may be sent home that end in a card which a foundation takes now."""
    piles, home = position.piles, position.foundations().any
    return [
        source for source in position.tables.home_sources if piles[source] and home >> piles[source][-1] & 1
    ]


def can_send_home(position: Position) -> bool:
    """Whether any card, or any complete run, can go to a foundation."""
    return bool(homeward(position)) or next(runs_homeward(position), None) is not None


def runs_homeward(position: Position) -> Iterator[PileMove]:
    """The moves of complete runs to foundations that take them."""
    tables, piles = position.tables, position.piles
    if tables.run_homes:
        for column in range(tables.layout.columns):
            for number in tables.takes_run:
                table, target = tables.foundations[number], tables.layout.first_foundation + number
                if not piles[target] and ends_in_run(table, piles[column]):
                    yield column, table.run_length, target


def is_no_op(position: Position, move: PileMove) -> bool:
    """Whether a legal move changes nothing that matters (RULES.md, meaning 4): it never counts for the loss test."""
    source, n, target = move
    zones = position.tables.layout.zones
    if zones[source] == "tableau" and zones[target] == "tableau":
        return n == len(position.piles[source]) and not position.piles[target]
    return zones[source] == zones[target]


def targets(position: Position, source: int, n: int) -> list[int]:
    """The piles that accept the last `n` cards of a pile."""
    return [move[2] for move in legal_moves(position) if move[0] == source and move[1] == n]


def name_move(tables: Tables, move: PileMove) -> CardMove:
    """A move with its piles by name."""
    names = tables.layout.names
    return CardMove(names[move[0]], move[1], names[move[2]])


def can_turn(position: Position) -> list[int]:
    """Columns whose covered last card the player may turn up."""
    if not position.tables.manual:
        return []
    return [
        column
        for column, table in enumerate(position.tables.columns)
        if table.manual and position.piles[column] and position.piles[column][-1] & DOWN
    ]


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
    if n < 1 or n > len(cards):
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
    if len(cards) - n not in _starts(tables, source, cards):
        head = card_words(cards[-n])
        if table.group.unit == "single":
            return Refusal("too_many_cards", "Only one card moves at a time.", {"n": n, "limit": 1})
        if table.group.unit in ("whole", "top_or_whole") and n < len(cards):
            return Refusal("not_a_sequence", f"The {head} moves only alone or with its whole column.")
        return Refusal("not_a_sequence", f"The {head} and the cards on it are no sequence.")
    if tables.layout.zones[target] != "tableau":
        return None
    limit = group_limit(position, source, target)
    size = _group_size(table, cards[-n:])
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
        if not _may_return(position, tables.foundations[source - layout.first_foundation]):
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
