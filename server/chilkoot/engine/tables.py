"""Lookup tables: what a variant's rules come to for each card and pile, so that play has no branch per kind of rule.

A bit set of cards is an int whose bit *i* stands for card *i* (``cards``). Piles are numbered in the order of the wire:
columns, cells, reserves, foundations, stock, waste. Tables are built once per rules and base rank and never change; the
solver reads the same values as arrays.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, Literal

from chilkoot.cards import ALL_CARDS, rank_of, suit_of
from chilkoot.language.rules import Columns, Foundations, Relation, Rules, Run, SuitRelation

__all__ = ["ColumnTable", "FoundationTable", "Layout", "Tables", "Zone", "layout_of", "tables_for"]

Zone = Literal["tableau", "cells", "reserve", "foundations", "stock", "waste"]

_SAME_COLOR: Final = (0, 1, 1, 0)


class Layout:
    """Which piles a variant has: their names in wire order, and where each zone begins."""

    __slots__ = (
        "cells",
        "columns",
        "first_cell",
        "first_foundation",
        "first_reserve",
        "foundations",
        "index",
        "names",
        "reserves",
        "stock",
        "waste",
        "zones",
    )

    def __init__(self, rules: Rules) -> None:
        self.columns = rules.column_count()
        self.cells = rules.cells.count
        self.reserves = rules.reserve.piles
        self.foundations = rules.foundation_count()
        self.first_cell = self.columns
        self.first_reserve = self.first_cell + self.cells
        self.first_foundation = self.first_reserve + self.reserves
        has_stock = rules.stock_size() > 0
        has_waste = (has_stock and rules.stock.deal_to == "waste") or any(
            one.zone == "waste" for one in rules.deal
        )
        names: list[str] = []
        zones: list[Zone] = []
        parts: tuple[tuple[str, Zone, int], ...] = (
            ("t", "tableau", self.columns),
            ("c", "cells", self.cells),
            ("r", "reserve", self.reserves),
            ("f", "foundations", self.foundations),
            ("s", "stock", int(has_stock)),
            ("w", "waste", int(has_waste)),
        )
        for letter, zone, count in parts:
            names += [f"{letter}{number}" for number in range(1, count + 1)]
            zones += [zone] * count
        self.names = tuple(names)
        self.zones = tuple(zones)
        self.index = {name: number for number, name in enumerate(names)}
        self.stock = self.index.get("s1", -1)
        self.waste = self.index.get("w1", -1)


class ColumnTable:
    """The rules of one column as tables.

    ``fits[c]``: cards that may be built on card *c*; ``glued[c]``: cards that hold on card *c* while they move;
    ``continues[c]``: cards that go on the suit run which ends in *c*, where a limit counts suit runs;
    ``start``: cards that may start the column when it is empty (of no zone outside ``sources``).
    """

    __slots__ = (
        "build",
        "continues",
        "empty",
        "fits",
        "glued",
        "group",
        "manual",
        "max_cards",
        "sources",
        "start",
    )

    def __init__(self, columns: Columns, rules: Rules, base: int | None) -> None:
        order = rank_order(rules, base)
        self.fits = relation_table(columns.build, order)
        self.build = columns.build
        group = columns.group
        self.glued = relation_table(Relation(suit=group.suit, rank=group.rank, wrap=group.wrap), order)
        self.continues = relation_table(Relation(suit="same", rank=group.rank, wrap=group.wrap), order)
        self.group = group
        self.empty = columns.empty
        self.start = _start_set(columns, rules, base)
        self.sources = frozenset(columns.empty.sources)
        self.max_cards = columns.max_cards
        self.manual = columns.expose == "manual"


class FoundationTable:
    """The rules of one foundation as tables.

    ``start``: cards that may lie on it first; ``on[c]``: cards that may follow card *c*; ``capacity``: cards it can hold;
    ``base_is_open``: the first card on it fixes the base rank of the game, where nothing has yet.
    For foundations that take whole runs, ``run_next[c]`` holds the cards that continue a run upon *c*.
    """

    __slots__ = (
        "accepts_runs",
        "base_is_open",
        "capacity",
        "on",
        "returns",
        "run_length",
        "run_next",
        "start",
        "suit",
    )

    def __init__(self, foundations: Foundations, suit: int | None, rules: Rules, base: int | None) -> None:
        order = rank_order(rules, base)
        own_suit = ALL_CARDS if suit is None else 0x1FFF << (13 * suit)
        in_deck = deck_set(rules)
        self.suit = suit
        self.accepts_runs = foundations.accept == "run"
        self.on = [cards & own_suit & in_deck for cards in relation_table(foundations.build, order)]
        self.base_is_open = isinstance(foundations.base, str)
        first = base if isinstance(foundations.base, str) else foundations.base
        if first is None:
            self.start = own_suit & in_deck
        else:
            self.start = own_suit & in_deck & sum(1 << (13 * each + first) for each in range(4))
        self.returns = foundations.returns
        total = rules.foundation_count()
        self.capacity = max(len(rules.deck.ranks), -(-rules.deck.size() // total)) if total else 0
        run = foundations.run
        self.run_next = relation_table(Relation(suit=run.suit, rank=run.rank, wrap=run.wrap), order)
        self.run_length = run.length
        if self.accepts_runs:
            self.capacity = run.length

    def wants(self, there: list[int]) -> int:
        """The cards that it takes next, one at a time, upon those that lie there."""
        if not there:
            return self.start
        return self.on[there[-1]] if len(there) < self.capacity else 0


class Tables:
    """Everything play reads of the rules, for one base rank (None where the rules have none, or not yet)."""

    __slots__ = (
        "auto_home",
        "base",
        "columns",
        "copies",
        "fills",
        "follows",
        "foundations",
        "home_sources",
        "layout",
        "manual",
        "moves_anything",
        "needs",
        "returns",
        "rules",
        "run",
        "run_homes",
        "takes_run",
        "unsafe_always",
    )

    def __init__(self, rules: Rules, base: int | None) -> None:
        self.rules = rules
        self.base = base
        self.layout = layout = layout_of(rules)
        self.columns: list[ColumnTable] = []
        for group in rules.tableau:
            table = ColumnTable(group, rules, base)
            self.columns += [table] * group.columns
        self.foundations: list[FoundationTable] = []
        for foundations in rules.foundations:
            suits = rules.deck.suits
            for number in range(foundations.count):
                one_each = foundations.suits == "one_each"
                suit = "CDHS".index(suits[number % len(suits)]) if one_each else None
                self.foundations.append(FoundationTable(foundations, suit, rules, base))
        whole = (
            rules.foundations[0] if rules.foundations else Foundations(run=Run(length=len(rules.deck.ranks)))
        )
        self.run = FoundationTable(whole, None, rules, base)
        self.follows = [0] * 52
        for pile in self.foundations:
            if not pile.accepts_runs:
                for top in range(52):
                    for card in range(52):
                        if pile.on[top] >> card & 1:
                            self.follows[card] |= 1 << top
        self.copies = rules.deck.packs
        self.moves_anything = all(
            table.group.unit == "any" and table.group.limit == "none" and not table.max_cards
            for table in self.columns
        )
        # Whose last card may be sent home.
        played = layout.first_foundation if rules.reserve.playable == "top" else layout.first_reserve
        self.home_sources = (*range(played), *([layout.waste] if layout.waste >= 0 else ()))
        self.manual = any(table.manual for table in self.columns)
        self.fills = any(group.empty.auto_fill != "none" for group in rules.tableau)
        self.takes_run = [number for number, pile in enumerate(self.foundations) if pile.accepts_runs]
        self.run_homes = bool(self.takes_run)
        self.returns = any(foundations.returns != "never" for foundations in rules.foundations)
        autos = {foundations.auto for foundations in rules.foundations}
        self.auto_home = "always" if "always" in autos else "safe" if "safe" in autos else "never"
        self.unsafe_always = any(group.build.rank == "updown" for group in rules.tableau)
        self.needs = _needs(self, rules)


def deck_set(rules: Rules) -> int:
    """The bit set of the cards in the deck."""
    suits = ["CDHS".index(letter) for letter in rules.deck.suits]
    return sum(1 << (13 * suit + rank) for suit in suits for rank in rules.deck.ranks)


def rank_order(rules: Rules, base: int | None) -> tuple[int, ...]:
    """The deck's ranks from low to high; where `low` is dealt the base rank is the lowest."""
    ranks = rules.deck.ranks
    low = base if rules.deck.low == "dealt" else rules.deck.low
    if isinstance(low, int) and low in ranks:
        at = ranks.index(low)
        return ranks[at:] + ranks[:at]
    return ranks


def rank_below(rules: Rules, rank: int) -> int:
    """The rank below `rank` among the deck's ranks, going round: ``base_high`` of a base rank."""
    ranks = list(rules.deck.ranks)
    return ranks[ranks.index(rank) - 1]


def _suits_agree(relation: SuitRelation, upper: int, lower: int) -> bool:
    if relation == "same":
        return upper == lower
    if relation == "different":
        return upper != lower
    if relation == "color":
        return _SAME_COLOR[upper] == _SAME_COLOR[lower]
    if relation == "alternate":
        return _SAME_COLOR[upper] != _SAME_COLOR[lower]
    return True


def _ranks_agree(relation: Relation, upper: int, lower: int, count: int) -> bool:
    """`upper` and `lower` are places in the rank order, `count` how many ranks there are."""
    if relation.rank == "any":
        return True
    steps = {"down": (-1,), "up": (1,), "updown": (-1, 1), "equal": (0,), "down2": (-2,), "up2": (2,)}[
        relation.rank
    ]
    if relation.wrap:
        return any((upper - lower - step) % count == 0 for step in steps)
    return upper - lower in steps


@lru_cache(maxsize=1024)
def relation_table(relation: Relation, order: tuple[int, ...]) -> tuple[int, ...]:
    """For each card the set of cards that may be the upper one on it; built once for all piles that are alike in this."""
    upper_ranks = {
        rank: sum(
            1 << upper for at, upper in enumerate(order) if _ranks_agree(relation, at, place, len(order))
        )
        for place, rank in enumerate(order)
    }
    return tuple(
        sum(
            upper_ranks.get(rank_of(lower), 0) << 13 * suit
            for suit in range(4)
            if _suits_agree(relation.suit, suit, suit_of(lower))
        )
        for lower in range(52)
    )


def _start_set(columns: Columns, rules: Rules, base: int | None) -> int:
    accepts = columns.empty.accepts
    if accepts == "any":
        return ALL_CARDS
    if accepts == "none":
        return 0
    if accepts == "base_high":
        named = rules.foundations[0].base if rules.foundations else None
        first = named if isinstance(named, int) else base
        if first is None:
            return 0
        accepts = (rank_below(rules, first),)
    return sum(1 << (13 * suit + rank) for suit in range(4) for rank in accepts)


def _needs(tables: Tables, rules: Rules) -> list[int]:
    """For each card the cards that must all be home before it is safe to send it home (RULES.md, meaning 6).

    Without return those that may be built on it. With return a card that is home may come back and carry others, so the
    relation is followed through: the closure of "may be built on".
    """
    direct = [0] * 52
    for table in tables.columns:
        for card in range(52):
            direct[card] |= table.fits[card]
    in_deck = deck_set(rules)
    direct = [cards & in_deck for cards in direct]
    if all(foundations.returns == "never" for foundations in rules.foundations):
        return direct
    closed = []
    for card in range(52):
        reached, frontier = 0, direct[card]
        while frontier:
            reached |= frontier
            grown = 0
            for other in range(52):
                if frontier >> other & 1:
                    grown |= direct[other]
            frontier = grown & ~reached
        closed.append(reached & ~(1 << card))
    return closed


@lru_cache(maxsize=1024)
def layout_of(rules: Rules) -> Layout:
    """The layout of these rules, built once."""
    return Layout(rules)


@lru_cache(maxsize=1024)
def tables_for(rules: Rules, base: int | None) -> Tables:
    """The tables of these rules for a base rank, built once."""
    return Tables(rules, base)
