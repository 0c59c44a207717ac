"""A position as flat arrays: what the compiled search reads in place of rules and piles.

The arrays hold the engine's own lookup tables (``engine.tables``), so that engine and search share their truth as data.
Rules whose meaning the search does not know are named by ``why_unsupported``; for those ``solver.plain`` searches with the
engine itself.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np

from chilkoot.cards import rank_of
from chilkoot.engine.position import Position
from chilkoot.engine.tables import ColumnTable, Tables, deck_set
from chilkoot.language.rules import Rules
from chilkoot.solver.compiled import Bits, Cards, Ints

__all__ = ["Problem", "problem_of", "state_of", "why_unsupported"]

# Single values, at the beginning of `Problem.ints`.
COLUMNS: Final = 0
CELLS: Final = 1
RESERVES: Final = 2
FOUNDATIONS: Final = 3
STOCK: Final = 4  # pile number or -1
WASTE: Final = 5  # pile number or -1
PILES: Final = 6
CARDS: Final = 7
DEAL_TO: Final = 8  # 0 none, 1 waste, 2 tableau, 3 non-empty columns, 4 reserve
DRAW: Final = 9
PASSES: Final = 10  # -1 without limit
REQUIRE_FULL: Final = 11
PLAY_RESERVE: Final = 12
CELL_SOURCES: Final = 13
COPIES: Final = 14
NEVER_SAFE: Final = 15
GOAL_CARDS: Final = 16  # cards on the foundations that win; -1: complete runs in the tableau
ALIKE: Final = 17  # all columns have the same rules and may change places
RETURNS: Final = 18
RUNS: Final = 19
FILLS: Final = 20
AUTO: Final = 21  # 0 never, 1 safe, 2 always
FORCE_SAFE: Final = 22  # safe cards go home unasked: 0 no, 1 yes, 2 yes and no win is lost by it
MACRO_DRAW: Final = 23  # draws are made only to reach a card of the waste
DEAD_TEST: Final = 24
BASE: Final = 25  # the rank that counts as the lowest
GROUPS: Final = 26
TWINS: Final = 27  # some foundations may change places
SWAPS: Final = 28  # a card may move between two bases and back, whatever lies on it
KINGS: Final = 29  # what starts an empty column stays there until it goes home
QUICK: Final = 30  # all cards lie on columns and foundations, any moves with what lies on it
LOOSE: Final = 31  # what is lost can be proved by the looser game of ``loose``
GIVES: Final = 32  # what a foundation gives back, or takes so that it could, makes no other table
INFO: Final = 36

# Fields of a group of columns.
UNIT: Final = 0  # 0 any, 1 run, 2 single, 3 whole, 4 top or whole
LIMIT: Final = 1  # 0 none, 1 cells, 2 supermove, 3 the number
LIMIT_NUMBER: Final = 2
SUIT_RUNS: Final = 3
REFUSE_WHOLE: Final = 4
MAX_CARDS: Final = 5  # -1 none
EMPTY_MAX: Final = 6  # -1 none
SOURCES: Final = 7  # bit set of zones
FILL: Final = 8  # 0 none, 1 reserve, 2 waste, 3 stock, 4 waste then stock, 5 next column
EMPTY_ANY: Final = 9
COLUMN_FIELDS: Final = 10

# Fields of a foundation.
CAPACITY: Final = 0
ACCEPTS_RUNS: Final = 1
RUN_LENGTH: Final = 2
RETURN_KIND: Final = 3  # 0 never, 1 always, 2 when the stock is empty
AUTO_KIND: Final = 4
SUIT: Final = 5  # -1 any
KIND: Final = 6  # foundations of one kind may change places
FOUNDATION_FIELDS: Final = 7

_MOST: Final = 32  # columns, groups of columns, foundations

# Where the parts of `Problem.ints` begin, and the rows of `Problem.bits`.
GROUP: Final = INFO
COLUMN: Final = GROUP + _MOST
FOUNDED: Final = COLUMN + _MOST * COLUMN_FIELDS
NEEDS: Final = 0
BASES: Final = 1
FOLLOWS: Final = 2
START: Final = 3
F_START: Final = 4
FITS: Final = 5
GLUED: Final = FITS + _MOST
F_ON: Final = GLUED + _MOST
RUN_NEXT: Final = F_ON + _MOST
CONTINUES: Final = RUN_NEXT + _MOST

ZONES: Final = ("tableau", "cells", "reserve", "foundations", "stock", "waste")


class Problem(NamedTuple):
    """The rules as two arrays, few because each that a compiled function is given costs it time.

    `ints`: `INFO` single values; from `GROUP` the group of each column; from `COLUMN` the fields of each group of columns;
    from `FOUNDED` those of each foundation. `bits` (rows of 52): bit sets by card in the rows `NEEDS` (must be home before a
    card is safe), `BASES` (what a card can be built on), `FOLLOWS` (what it follows on a foundation), `FITS`, `GLUED`,
    `CONTINUES` (a row a group of columns), `F_ON`, `RUN_NEXT` (a row a foundation); by group in `START`, by foundation in `F_START`.
    """

    ints: Ints
    bits: Bits


def why_unsupported(rules: Rules) -> str | None:
    """What of these rules the compiled search does not know; None where it knows all."""
    if any(group.base == "first_played" for group in rules.foundations):
        return "a base card chosen by play"
    if rules.stock.shuffle or rules.redeal.times:
        return "a redeal that shuffles or gathers the tableau"
    if any(group.expose == "manual" for group in rules.tableau):
        return "cards turned up by hand"
    if rules.goal.kind == "runs_in_tableau":
        return "a goal within the tableau"
    if rules.deck.size() > 208:
        return "more than four packs"
    return None


@lru_cache(maxsize=256)
def problem_of(tables: Tables) -> Problem:
    """The arrays of a variant's tables, built once."""
    rules, layout = tables.rules, tables.layout
    groups = list(dict.fromkeys(tables.columns))
    rows = [[0] * COLUMN_FIELDS for _ in groups]
    for row, table in zip(rows, groups, strict=True):
        group, empty = table.group, table.empty
        row[UNIT] = ("any", "run", "single", "whole", "top_or_whole").index(group.unit)
        if isinstance(group.limit, int):
            row[LIMIT], row[LIMIT_NUMBER] = 3, group.limit
        else:
            row[LIMIT] = ("none", "cells", "supermove").index(group.limit)
        row[SUIT_RUNS] = group.count == "suit_runs"
        row[REFUSE_WHOLE] = empty.whole_column == "refuse"
        row[MAX_CARDS] = -1 if table.max_cards is None else table.max_cards
        row[EMPTY_MAX] = -1 if empty.max_cards is None else empty.max_cards
        row[SOURCES] = sum(1 << ZONES.index(zone) for zone in empty.sources)
        row[FILL] = ("none", "reserve", "waste", "stock", "waste_then_stock", "next_column").index(
            empty.auto_fill
        )
        row[EMPTY_ANY] = empty.accepts == "any"
    founded = [[0] * FOUNDATION_FIELDS for _ in tables.foundations]
    kinds = [group for group in rules.foundations for _ in range(group.count)]
    for row, pile, kind in zip(founded, tables.foundations, kinds, strict=True):
        row[CAPACITY] = pile.capacity
        row[ACCEPTS_RUNS] = pile.accepts_runs
        row[RUN_LENGTH] = pile.run_length
        row[RETURN_KIND] = (
            0 if pile.accepts_runs else ("never", "always", "when_stock_empty").index(pile.returns)
        )
        row[AUTO_KIND] = ("never", "safe", "always").index(kind.auto)
        row[SUIT] = -1 if pile.suit is None else pile.suit
    same = [
        (tuple(row), pile.start, tuple(pile.on))
        for row, pile in zip(founded, tables.foundations, strict=True)
    ]
    for row, kind_of in zip(founded, same, strict=True):
        row[KIND] = same.index(kind_of)
    ints = np.zeros(FOUNDED + _MOST * FOUNDATION_FIELDS, dtype=np.int64)
    ints[:INFO] = _info(tables, groups=len(groups))
    ints[TWINS] = len(set(same)) < len(same)
    ints[GROUP : GROUP + layout.columns] = [groups.index(table) for table in tables.columns]
    ints[COLUMN : COLUMN + len(groups) * COLUMN_FIELDS] = [field for row in rows for field in row]
    ints[FOUNDED : FOUNDED + layout.foundations * FOUNDATION_FIELDS] = [
        field for row in founded for field in row
    ]
    return Problem(ints, _bit_rows(tables, groups))


def _bit_rows(tables: Tables, groups: list[ColumnTable]) -> Bits:
    bits = np.zeros((CONTINUES + _MOST, 52), dtype=np.uint64)
    bases, follows = [0] * 52, [0] * 52
    for lower in range(52):
        for upper in range(52):
            if any(table.fits[lower] >> upper & 1 for table in groups):
                bases[upper] |= 1 << lower
            if any(pile.on[lower] >> upper & 1 for pile in tables.foundations if not pile.accepts_runs):
                follows[upper] |= 1 << lower
    bits[NEEDS], bits[BASES], bits[FOLLOWS] = tables.needs, bases, follows
    for number, table in enumerate(groups):
        bits[START, number] = table.start
        bits[FITS + number], bits[GLUED + number] = table.fits, table.glued
        bits[CONTINUES + number] = table.continues
    for number, pile in enumerate(tables.foundations):
        bits[F_START, number] = pile.start
        bits[F_ON + number], bits[RUN_NEXT + number] = pile.on, pile.run_next
    return bits


def _info(tables: Tables, *, groups: int) -> Ints:
    rules, layout = tables.rules, tables.layout
    stock = rules.stock
    info = [0] * INFO
    info[GROUPS] = groups
    info[COLUMNS], info[CELLS], info[RESERVES] = layout.columns, layout.cells, layout.reserves
    info[FOUNDATIONS], info[STOCK], info[WASTE] = layout.foundations, layout.stock, layout.waste
    info[PILES], info[CARDS] = len(layout.names), rules.deck.size()
    info[DEAL_TO] = ("none", "waste", "tableau", "tableau_nonempty", "reserve").index(stock.deal_to)
    if layout.stock < 0:
        info[DEAL_TO] = 0
    info[DRAW] = stock.draw if stock.deal_to == "waste" else 1
    info[PASSES] = -1 if stock.passes is None else stock.passes
    info[REQUIRE_FULL] = stock.require == "no_empty_column"
    info[PLAY_RESERVE] = rules.reserve.playable == "top"
    info[CELL_SOURCES] = sum(1 << ZONES.index(zone) for zone in rules.cells.sources)
    info[COPIES], info[NEVER_SAFE] = tables.copies, tables.unsafe_always
    info[GOAL_CARDS] = rules.goal.cards if rules.goal.kind == "cards_in_foundations" else rules.deck.size()
    info[ALIKE] = groups == 1 and not tables.fills
    returns = {group.returns for group in rules.foundations if group.accept == "card"}
    info[RETURNS] = returns - {"never"} != set()
    info[RUNS], info[FILLS] = tables.run_homes, tables.fills
    info[AUTO] = ("never", "safe", "always").index(tables.auto_home)
    # A safe card that goes home could only hurt where emptying a column sets something off or keeps the stock shut, where
    # cards that are not safe follow it by themselves, and where it takes another's place.
    if not tables.fills and not info[REQUIRE_FULL] and rules.goal.kind == "foundations_full":
        exact = tables.auto_home != "always" and _has_own_places(tables)
        info[FORCE_SAFE] = 2 if exact else 1
    # Nothing but the waste changes with a draw, so it can wait until a card of the waste is wanted.
    info[MACRO_DRAW] = (
        info[DEAL_TO] == 1
        and tables.auto_home == "never"
        and not tables.fills
        and not info[REQUIRE_FULL]
        and "when_stock_empty" not in returns
    )
    info[DEAD_TEST] = not tables.run_homes
    info[KINGS] = _has_kings(tables, alike=bool(info[ALIKE]))
    # What a swap lays open may be sent home by the rules: then it must be safe there.
    swaps_stand = tables.auto_home == "never" or info[FORCE_SAFE] == 2
    info[SWAPS] = swaps_stand and _has_swaps(tables, alike=bool(info[ALIKE]))
    info[GIVES] = _gives_back(tables, draws_wait=bool(info[MACRO_DRAW])) and bool(info[ALIKE])
    info[QUICK] = _has_only_columns(tables, groups=groups)
    info[LOOSE] = info[QUICK] and info[KINGS] and not info[RETURNS] and _rides_together(tables)
    low = tables.base if tables.base is not None else rules.deck.low
    info[BASE] = low if isinstance(low, int) else 0
    return np.array(info, dtype=np.int64)


def _has_own_places(tables: Tables) -> bool:
    """Whether every card has one place at home, so that none goes there in another's stead; runs go by themselves."""
    singly = [pile for pile in tables.foundations if not pile.accepts_runs]
    if not singly:
        return True
    if tables.copies != 1 or tables.run_homes:
        return False
    deck = deck_set(tables.rules)
    kinds = [(pile.start & deck, tuple(pile.on)) for pile in singly]
    starts = 0
    for kind in kinds:
        start = kind[0]
        if start.bit_count() > kinds.count(kind) or any(start & one[0] and kind != one for one in kinds):
            return False
        starts |= start
    return len({rank_of(card) for card in range(52) if starts >> card & 1}) == 1 and all(
        tables.follows[card].bit_count() <= 1 for card in range(52) if not starts >> card & 1
    )


def _has_swaps(tables: Tables, *, alike: bool) -> bool:
    """Whether no waste is there, every card has two bases at most, some have two, and a card moves with whatever lies on it."""
    if not alike or tables.copies != 1 or tables.run_homes or tables.layout.waste >= 0:
        return False
    table = tables.columns[0]
    bases = [sum(table.fits[lower] >> upper & 1 for lower in range(52)) for upper in range(52)]
    return (
        table.group.unit == "any"
        and table.group.limit == "none"
        and table.max_cards is None
        and table.empty.max_cards is None
        and max(bases) == 2
    )


def _gives_back(tables: Tables, *, draws_wait: bool) -> bool:
    """Whether all foundations give cards back, nothing is set off by that, and what lies on a card never keeps it from moving.

    Every card has two bases at most, and one place at home.
    """
    layout, table = tables.layout, tables.columns[0]
    bases = [sum(table.fits[lower] >> upper & 1 for lower in range(52)) for upper in range(52)]
    return (
        bool(tables.foundations)
        and all(pile.returns == "always" for pile in tables.foundations)
        and _has_own_places(tables)
        and tables.copies == 1
        and tables.auto_home == "never"
        and not (tables.fills or tables.run_homes)
        and (layout.stock < 0 or draws_wait)
        and "foundations" not in tables.rules.cells.sources
        and (
            table.group.unit == "any" or (table.group.unit == "run" and list(table.fits) == list(table.glued))
        )
        and table.group.limit == "none"
        and table.max_cards is None
        and table.empty.max_cards is None
        and max(bases) <= 2
    )


def _has_only_columns(tables: Tables, *, groups: int) -> bool:
    """Whether one pack lies on columns of one kind and on foundations, and a card moves with whatever lies on it."""
    layout = tables.layout
    return (
        groups == 1
        and tables.copies == 1
        and tables.columns[0].group.unit == "any"
        and not (tables.fills or tables.run_homes or layout.cells or layout.reserves)
        and layout.stock < 0
        and layout.waste < 0
    )


def _rides_together(tables: Tables) -> bool:
    """Whether cards that share a base have all their bases in common, and each card has one place at home."""
    fits = tables.columns[0].fits
    return (
        tables.rules.goal.kind == "foundations_full"
        and _has_own_places(tables)
        and all(one == other for one in fits for other in fits if one & other)
    )


def _has_kings(tables: Tables, *, alike: bool) -> bool:
    """Whether the cards that start an empty column fit nowhere else but at home."""
    if not alike or tables.copies != 1 or tables.run_homes or tables.layout.cells:
        return False
    table = tables.columns[0]
    starters = [card for card in range(52) if table.start >> card & 1]
    hosts = [lower for lower in range(52) if any(table.fits[lower] >> card & 1 for card in starters)]
    return 1 < len(starters) <= 4 and not hosts


def state_of(position: Position) -> tuple[Cards, Ints]:
    """The piles of a position (piles × cards) and their sizes, followed by the pass and the card just returned."""
    piles = position.piles
    cards = position.rules.deck.size()
    held = np.zeros((len(piles), cards + 1), dtype=np.int8)
    sizes = np.zeros(len(piles) + 2, dtype=np.int64)
    for number, pile in enumerate(piles):
        held[number, : len(pile)] = pile
        sizes[number] = len(pile)
    sizes[len(piles)] = position.turn
    sizes[len(piles) + 1] = position.returned
    return held, sizes
