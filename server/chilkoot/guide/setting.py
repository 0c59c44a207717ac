"""What the chapters ask of some rules again and again: which zones there are, and what they are called."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from chilkoot.cards import RANK_WORDS
from chilkoot.engine.tables import layout_of, rank_order
from chilkoot.guide.english import count, listed, numbered, rank_with_article
from chilkoot.language.rules import Columns, Foundations, Relation, Rules, Zone

__all__ = ["Setting"]


class Setting:
    """Some rules, with what follows from them for the table on which they are played."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.layout = layout_of(rules)

    @property
    def columns(self) -> int:
        """How many columns there are."""
        return self.layout.columns

    @property
    def foundations(self) -> int:
        """How many foundations there are."""
        return self.layout.foundations

    @property
    def cells(self) -> int:
        """How many cells there are."""
        return self.layout.cells

    @property
    def reserves(self) -> int:
        """How many reserve piles there are."""
        return self.layout.reserves

    @cached_property
    def stock(self) -> int:
        """How many cards the deal leaves."""
        return self.rules.stock_size()

    @property
    def has_waste(self) -> bool:
        """Whether there is a waste."""
        return self.layout.waste >= 0

    @property
    def turns_stock(self) -> bool:
        """Whether the player can turn the stock."""
        return self.stock > 0 and self.rules.stock.deal_to != "none"

    @cached_property
    def returns(self) -> bool:
        """Whether any foundation gives cards back."""
        return any(
            group.count and group.accept == "card" and group.returns != "never"
            for group in self.rules.foundations
        )

    @cached_property
    def takes_cards(self) -> bool:
        """Whether any foundation takes single cards."""
        return any(group.count and group.accept == "card" for group in self.rules.foundations)

    @cached_property
    def takes_runs(self) -> bool:
        """Whether any foundation takes whole runs."""
        return any(group.count and group.accept == "run" for group in self.rules.foundations)

    @cached_property
    def has_base(self) -> bool:
        """Whether the base rank is known only once cards lie on the table."""
        return self.rules.deck.low == "dealt" or any(
            isinstance(group.base, str) and group.count for group in self.rules.foundations
        )

    @cached_property
    def plays_reserve(self) -> bool:
        """Whether cards of the reserve can be played."""
        return self.reserves > 0 and self.rules.reserve.playable == "top"

    @cached_property
    def moves_groups(self) -> bool:
        """Whether several cards can ever move at once between columns."""
        return self.columns > 1 and any(
            group.group.unit != "single" and group.group.limit != 1 for group in self.rules.tableau
        )

    @cached_property
    def covers_cards(self) -> bool:
        """Whether any card of a column is dealt face down."""
        return any(one.zone == "tableau" and "D" in one.picture for one in self.rules.deal)

    @cached_property
    def order(self) -> tuple[int, ...]:
        """The ranks from low to high, from the ace where the lowest is fixed by the deal."""
        return rank_order(self.rules, None)

    def ranks_listed(self) -> str:
        """The ranks from low to high in words."""
        return listed(RANK_WORDS[rank] for rank in self.order)

    def sources(self, zones: Sequence[Zone]) -> list[str]:
        """Which cards may come from some zones by hand, in words, as far as there are such zones."""
        words = {
            "tableau": "the last card of a column",
            "cells": "a card in a cell" if self.cells else "",
            "waste": "the last card of the waste" if self.has_waste else "",
            "reserve": self.reserve_card() if self.plays_reserve else "",
            "foundations": "the last card of a foundation" if self.returns else "",
        }
        return [words[zone] for zone in words if zone in zones and words[zone]]

    def places(self, zone: Zone) -> list[str]:
        """Where the last card of a pile of some zone may go, in words."""
        found = ["on a column where it fits"]
        if place := self._empty_column(zone):
            found.append(place)
        if self.takes_cards and zone != "foundations":
            found.append("on a foundation where it fits")
        if self.cells and zone != "cells" and zone in self.rules.cells.sources:
            found.append("into an empty cell")
        return found

    def _empty_column(self, zone: Zone) -> str:
        """The empty columns as a place for cards of a zone; nothing where these cards can never come there by hand."""
        takes = []
        for group in self.rules.tableau:
            empty = group.empty
            # A column that is filled from a zone stays empty only when that zone is.
            is_filled = zone in empty.auto_fill.split("_")
            if empty.accepts != "none" and zone in empty.sources and not is_filled:
                takes.append(empty.accepts)
        if not takes:
            return ""
        is_open = len(takes) == len(self.rules.tableau) and set(takes) == {"any"}
        return "into an empty column" if is_open else "into an empty column that takes it"

    def reserve_card(self) -> str:
        """The card of the reserve that can be played."""
        return "the last card of the reserve" if self.reserves == 1 else "the last card of a reserve pile"

    def column_groups(self) -> list[tuple[str, Columns]]:
        """The groups of columns with what they are called; no name where there is only one group."""
        if len(self.rules.tableau) == 1:
            return [("", self.rules.tableau[0])]
        named, first = [], 0
        for group in self.rules.tableau:
            named.append((numbered("column", range(first, first + group.columns)), group))
            first += group.columns
        return named

    def foundation_groups(self) -> list[tuple[str, Foundations]]:
        """The groups of foundations with what they are called; no name where there is only one group."""
        groups = [group for group in self.rules.foundations if group.count]
        if len(groups) == 1:
            return [("", groups[0])]
        named, first = [], 0
        for group in groups:
            named.append((numbered("foundation", range(first, first + group.count)), group))
            first += group.count
        return named

    def run_words(self, group: Foundations) -> str:
        """What a complete run is: ``13 cards of one suit, from the king down to the ace``."""
        run = group.run
        size = count(run.length, "card")
        suit = {
            "same": " of one suit",
            "color": " of one colour",
            "alternate": ", red and black in turn",
            "different": ", no two of a suit on each other",
            "any": ", of whatever suits",
        }[run.suit]
        low, high = self.order[0], self.order[-1]
        is_whole = run.length == len(self.order) and not run.wrap and self.rules.deck.low != "dealt"
        if run.rank in ("down", "up"):
            if is_whole:
                first, last = (high, low) if run.rank == "down" else (low, high)
                return f"{size}{suit}, from the {RANK_WORDS[first]} {run.rank} to the {RANK_WORDS[last]}"
            step = "lower" if run.rank == "down" else "higher"
            goes_round = ""
            if run.wrap:
                upper, lower = (high, low) if run.rank == "down" else (low, high)
                goes_round = f" (the ranks go round, so {rank_with_article(upper)} may lie on {rank_with_article(lower)})"
            return f"{size}{suit}, each after the first one rank {step} than the card it lies on{goes_round}"
        how = {
            "updown": "each after the first one rank lower or one rank higher than the card it lies on",
            "down2": "each after the first two ranks lower than the card it lies on",
            "up2": "each after the first two ranks higher than the card it lies on",
            "equal": "all of one rank",
            "any": "of whatever ranks",
        }[run.rank]
        goes_round = ", where the ranks go round" if run.wrap and run.rank not in ("equal", "any") else ""
        return f"{size}{suit}, {how}{goes_round}"


def same_relation(columns: Columns) -> bool:
    """Whether cards hold together by the very relation by which they are built."""
    group = columns.group
    return Relation(suit=group.suit, rank=group.rank, wrap=group.wrap) == columns.build
