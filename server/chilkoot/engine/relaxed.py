"""Could any card be turned up, or the score rise, if nothing ever stood in the way.

Facts only ever become true here (a card can lie open, can leave its place, can go home; some column can be empty), as if
a card that moved were also still where it was. So a "no" is a proof that the real game, which has more obstacles, can't
progress either; a "yes" proves nothing. Soundness: each rule below mirrors a real move and drops conditions, never adds one.
"""

from __future__ import annotations

from chilkoot.cards import DOWN
from chilkoot.engine.position import Position

__all__ = ["may_progress"]


def may_progress(position: Position) -> bool:
    """Whether the relaxation finds progress. True also for rules it does not model (auto-fill, runs to foundations)."""
    rules, stock = position.rules, position.tables.layout.stock
    if position.tables.fills or position.tables.run_homes or rules.score.per_foundation_card <= 0:
        return True
    if stock >= 0 and position.piles[stock] and (position.turn == 1 or rules.stock.deal_to != "waste"):
        return rules.stock.deal_to != "none"
    return _Relaxed(position).solve()


class _Relaxed:
    """The facts about every visible card, by (pile, index)."""

    def __init__(self, position: Position) -> None:
        self.position = position
        self.tables = position.tables
        layout = self.tables.layout
        piles = position.piles
        self.columns = piles[: layout.columns]
        self.moved: set[tuple[int, int]] = set()
        self.clear: set[tuple[int, int]] = set()
        self.empty = any(not cards for cards in self.columns)
        self.free_cell = any(not cards for cards in piles[layout.first_cell : layout.first_reserve])
        self.tops: list[int] = []
        self.home_count = 0
        for number in range(layout.foundations):
            cards = piles[layout.first_foundation + number]
            self.home_count += len(cards)
            self.tops.append(1 << cards[-1] if cards else 0)
        self.homed: set[tuple[int, int]] = set()
        self.returning = any(table.returns != "never" for table in self.tables.foundations)
        self.home_bits = 0

    def solve(self) -> bool:
        """Grow the facts until progress shows or nothing grows."""
        layout = self.tables.layout
        piles = self.position.piles
        for number in range(layout.columns):
            if self.columns[number]:
                self.clear.add((number, len(self.columns[number]) - 1))
        loose = [
            (number, at)
            for number in range(layout.first_cell, len(piles))
            if layout.zones[number] != "foundations"
            for at, card in enumerate(piles[number])
            if not card & DOWN or layout.zones[number] == "stock"
            if layout.zones[number] in ("cells", "waste", "stock") or at == len(piles[number]) - 1
        ]
        if self.position.rules.reserve.playable == "none":
            loose = [place for place in loose if layout.zones[place[0]] != "reserve"]
        while True:
            before = (
                len(self.moved),
                len(self.clear),
                len(self.homed),
                self.empty,
                self.free_cell,
                self.home_bits,
            )
            for place in loose:
                if self._try_loose(place):
                    return True
            for number in range(layout.columns):
                if self._try_column(number):
                    return True
            if self.returning:
                self._try_returns()
            after = (
                len(self.moved),
                len(self.clear),
                len(self.homed),
                self.empty,
                self.free_cell,
                self.home_bits,
            )
            if after == before:
                return False

    def _try_home(self, place: tuple[int, int], card: int) -> bool:
        """Whether a card that can lie open can go to a foundation; True as well when that is progress."""
        if place in self.homed:
            return False
        for number, table in enumerate(self.tables.foundations):
            tops = self.tops[number]
            can = table.start >> card & 1 if not tops or self.returning else 0
            if not can:
                rest = tops
                while rest:
                    bit = rest & -rest
                    if table.on[bit.bit_length() - 1] >> card & 1:
                        can = 1
                        break
                    rest ^= bit
            if can:
                self.homed.add(place)
                self.moved.add(place)
                for other, follow in enumerate(self.tables.foundations):
                    if follow.start >> card & 1 or follow.suit is None or follow.suit == table.suit:
                        self.tops[other] |= 1 << card
                return self._score_rises()
        return False

    def _score_rises(self) -> bool:
        worth = self.position.rules.score.per_foundation_card
        return (self.home_count + len(self.homed)) * worth > self.position.best

    def _try_loose(self, place: tuple[int, int]) -> bool:
        """A card in a cell, the waste, a known stock or on top of a reserve: it lies open; whether it can leave is asked."""
        number, at = place
        layout = self.tables.layout
        card = self.position.piles[number][at] & 63
        if self._try_home(place, card):
            return True
        if place not in self.moved and (self._lands(card, None, number) or place in self.homed):
            self.moved.add(place)
        if place in self.moved:
            if layout.zones[number] == "cells":
                self.free_cell = True
            if layout.zones[number] == "reserve" and at > 0:
                return True
        return False

    def _try_column(self, number: int) -> bool:
        cards = self.columns[number]
        group = self.tables.columns[number].group
        for at in range(len(cards) - 1, -1, -1):
            card = cards[at]
            if card & DOWN:
                break
            place = (number, at)
            if place in self.moved and place in self.homed:
                continue
            open_ = place in self.clear
            if open_ and self._try_home(place, card):
                return True
            if (
                place not in self.moved
                and self._lifts(group.unit, number, at)
                and (
                    self._lands(card, number, at)
                    or (open_ and self.free_cell and self._cells_take("tableau"))
                )
            ):
                self.moved.add(place)
            if place in self.moved:
                if at == 0:
                    self.empty = True
                elif cards[at - 1] & DOWN:
                    return True
                elif (number, at - 1) not in self.clear:
                    self.clear.add((number, at - 1))
        return False

    def _lifts(self, unit: str, number: int, at: int) -> bool:
        """Whether a card could be picked up: with all on it, or as the head of a sequence, or when it lies open."""
        if unit in ("any", "whole", "top_or_whole") or (number, at) in self.clear:
            return True
        if unit == "single":
            return False
        cards = self.columns[number]
        glued = self.tables.columns[number].glued
        return bool(glued[cards[at]] >> cards[at + 1] & 1) and self._lifts(unit, number, at + 1)

    def _lands(self, card: int, column: int | None, at: int) -> bool:
        """Whether some column could take a card, other than by lying where it lies. `at`: its index in `column`."""
        for number, table in enumerate(self.tables.columns):
            if self.empty and table.start >> card & 1 and not (column is not None and at == 0):
                return True
            if self._built_somewhere(table.fits, card, number, column, at):
                return True
        return False

    def _built_somewhere(self, fits: list[int], card: int, number: int, column: int | None, at: int) -> bool:
        cards = self.columns[number]
        for place in range(len(cards) - 1, -1, -1):
            other = cards[place]
            if other & DOWN:
                break
            if (number, place) in self.clear and fits[other] >> card & 1:
                if number != column:
                    return True
                if place != at - 1 and (place < at or self._parted(number, at, place)):
                    return True
        # A card that could come home, out of a cell or back from a foundation can be built on wherever it went.
        wanted = self.home_bits | self._loose_bits()
        while wanted:
            bit = wanted & -wanted
            if fits[bit.bit_length() - 1] >> card & 1:
                return True
            wanted ^= bit
        return False

    def _parted(self, number: int, low: int, high: int) -> bool:
        """Whether a card above `low` up to `high` could leave, so that the one no longer lies on the other."""
        return any((number, at) in self.moved for at in range(low + 1, high + 1))

    def _loose_bits(self) -> int:
        bits = 0
        layout = self.tables.layout
        for number, at in self.moved:
            if number >= layout.columns:
                bits |= 1 << (self.position.piles[number][at] & 63)
        return bits

    def _cells_take(self, zone: str) -> bool:
        return zone in self.position.rules.cells.sources

    def _try_returns(self) -> None:
        """Cards on foundations that could come back: each becomes one that others can be built on."""
        layout = self.tables.layout
        first = layout.first_foundation
        for number, table in enumerate(self.tables.foundations):
            if table.returns == "never":
                continue
            cards = self.position.piles[first + number]
            for card in reversed(cards):
                if not self.home_bits >> card & 1:
                    if not (
                        self._lands(card, None, -1) or (self.free_cell and self._cells_take("foundations"))
                    ):
                        break
                    self.home_bits |= 1 << card
                at = cards.index(card)
                self.tops[number] |= 1 << cards[at - 1] if at else 0
        for number, at in self.homed:
            # What went home in the relaxation may come back too.
            self.home_bits |= 1 << (self.position.piles[number][at] & 63)
