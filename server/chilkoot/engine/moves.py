"""Which moves of cards the rules allow in a position: all of them, in a fixed order.

Why one of them is refused is told by ``refusals``; a property test holds the two to the same answer. No-ops that the rules
allow (a whole column onto an empty one, cell to cell) are legal moves here; ``is_no_op`` tells them for the loss test.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from chilkoot.cards import DOWN, suit_of
from chilkoot.engine.position import Position
from chilkoot.engine.tables import ColumnTable, FoundationTable, Tables, Zone
from chilkoot.events import CardMove

__all__ = [
    "PileMove",
    "can_send_home",
    "can_turn",
    "ends_in_run",
    "foundation_for",
    "group_limit",
    "group_size",
    "heads_of",
    "homeward",
    "is_no_op",
    "legal_moves",
    "may_return",
    "movable",
    "name_move",
    "runs_homeward",
    "starts_of",
    "wanted_by_columns",
]

_BITS: Final = [1 << card for card in range(52)]

PileMove = tuple[int, int, int]
"""A move between numbered piles: source, how many cards, target."""


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
    if low and unit in ("whole", "top_or_whole"):
        return len(cards) if unit == "whole" else len(cards) - 1
    return low


def starts_of(tables: Tables, column: int, cards: list[int]) -> range | tuple[int, ...]:
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


def group_size(table: ColumnTable, group: list[int]) -> int:
    """What a group counts towards the limit: its cards, or its runs of one suit."""
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
            if piles[pile] and may_return(position, table)
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
            starts = [at for at in starts_of(tables, source, cards) if fitting & _BITS[cards[at]]]
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
        if limit is not None and group_size(tables.columns[source], cards[at:]) > limit:
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


def may_return(position: Position, table: FoundationTable) -> bool:
    """Whether a foundation's top card may be taken back now."""
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
