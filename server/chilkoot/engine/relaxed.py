"""Could any card be turned up, or the score rise, if nothing ever stood in the way.

Facts only ever become true here (a card can lie open, can leave its place, can go home; some column can be empty), as if
a card that moved were also still where it was. So a "no" is a proof that the real game, which has more obstacles, can't
progress either; a "yes" proves nothing. Soundness: each rule below mirrors a real move and drops conditions, never adds one.

Facts are drawn from facts, one at a time, and the first that means progress ends it: on most tables a few steps do.
"""

from __future__ import annotations

from itertools import pairwise

from chilkoot.cards import ALL_CARDS, DOWN
from chilkoot.engine.moves import movable
from chilkoot.engine.position import Position
from chilkoot.engine.tables import FoundationTable

__all__ = ["may_progress"]

_Place = tuple[int, int]
"""A card by its pile and its index in it."""

_ANYWHERE: _Place = (-1, -1)
"""Where a card of no column has gone: to the end of some column."""


def may_progress(position: Position) -> bool:
    """Whether the relaxation finds progress. True also for rules it does not model (columns filled with cards nobody saw)."""
    rules, stock = position.rules, position.tables.layout.stock
    if position.redealt < rules.redeal.times:
        return True
    if rules.score.per_foundation_card <= 0 or (position.tables.fills and _fills_unseen(position)):
        return True
    if stock >= 0 and position.piles[stock] and (position.turn == 1 or rules.stock.deal_to != "waste"):
        return rules.stock.deal_to != "none"
    return _Relaxed(position).progresses


def _fills_unseen(position: Position) -> bool:
    """Whether an empty column may be filled with what the player could not play and may not have seen."""
    layout, rules, piles = position.tables.layout, position.rules, position.piles
    kinds = {group.empty.auto_fill for group in rules.tableau}
    if layout.stock >= 0 and piles[layout.stock] and kinds & {"stock", "waste_then_stock"}:
        return True
    reserves = piles[layout.first_reserve : layout.first_foundation]
    return "reserve" in kinds and rules.reserve.playable != "top" and any(reserves)


class _Relaxed:
    """The facts about every card that the player sees."""

    def __init__(self, position: Position) -> None:
        self.position = position
        self.tables = position.tables
        layout = self.tables.layout
        self.columns = position.piles[: layout.columns]
        self.up: dict[int, list[_Place]] = {}
        self.liftable: set[_Place] = set()
        self.moved: set[_Place] = set()
        self.clear: dict[int, list[_Place]] = {}
        self.clear_bits = 0
        self.pending: list[tuple[_Place, int]] = []
        self.waiting: list[tuple[_Place, int, int]] = []
        self.loose: list[_Place] = []
        self.left: set[_Place] = set()
        self.homed: set[_Place] = set()
        self.empty = False
        self.free_cell = False
        self.progresses = False
        # What an empty column takes, by the hand of a player or by itself.
        self.start = ALL_CARDS if self.tables.fills else 0
        for table in self.tables.columns:
            self.start |= table.start
        self._see_foundations()
        self._see_table()
        while not self.progresses and (self.pending or self._go_on()):
            if self.pending:
                self._opened(*self.pending.pop())
        if self.tables.run_homes and not self.progresses:
            self.progresses = self._run_forms()

    def _see_foundations(self) -> None:
        layout = self.tables.layout
        self.tops = 0
        self.startable = 0
        self.returnable: list[list[int]] = []
        home = 0
        for number, table in enumerate(self.tables.foundations):
            cards = self.position.piles[layout.first_foundation + number]
            home += len(cards)
            if cards:
                self.tops |= 1 << cards[-1]
            if table.accepts_runs:
                continue
            if not cards or table.returns != "never":
                self.startable |= table.start
            if cards and table.returns != "never":
                self.returnable.append(cards[:])
        worth = self.position.rules.score.per_foundation_card
        # So many cards must come home for the score to pass its best.
        self.missing = self.position.best // worth - home + 1

    def _see_table(self) -> None:
        layout, piles = self.tables.layout, self.position.piles
        for number, cards in enumerate(self.columns):
            low = movable(self.tables, number, cards)
            for at in range(len(cards) - 1, -1, -1):
                card = cards[at]
                if card & DOWN:
                    break
                self.up.setdefault(card, []).append((number, at))
                if at >= low:
                    self.liftable.add((number, at))
            if cards and not cards[-1] & DOWN:
                self._open((number, len(cards) - 1), cards[-1])
        rules = self.position.rules
        self.cell_sources = rules.cells.sources if layout.cells else ()
        for number in range(layout.columns, len(piles)):
            zone, cards = layout.zones[number], piles[number]
            if zone in ("waste", "stock") or (zone == "cells" and cards):
                self.loose += [(number, at) for at in range(len(cards))]
            elif zone == "cells":
                self.free_cell = True
            elif zone == "reserve" and cards and rules.reserve.playable == "top" and not cards[-1] & DOWN:
                self.loose.append((number, len(cards) - 1))
        if any(not cards for cards in self.columns):
            self._emptied()

    def _open(self, place: _Place, card: int) -> None:
        """A card can lie open: what follows is drawn later."""
        known = self.clear.setdefault(card, [])
        if place not in known:
            known.append(place)
            self.clear_bits |= 1 << card
            self.pending.append((place, card))

    def _opened(self, place: _Place, card: int) -> None:
        number = place[0]
        if number >= 0:
            self._try_home(place, card)
            if self.free_cell and "tableau" in self.cell_sources:
                self._move(place)
            self._lift(place)
            riders = self.tables.columns[number].fits[card]
        else:
            riders = 0
            for table in self.tables.columns:
                riders |= table.fits[card]
        while riders:
            bit = riders & -riders
            riders ^= bit
            for rider in self.up.get(bit.bit_length() - 1, ()):
                if rider in self.liftable and rider not in self.moved:
                    self._try_base(rider, place)

    def _lift(self, place: _Place) -> None:
        """A card that lies open can be picked up, and with it those below that it holds on to."""
        number, at = place
        cards, table = self.columns[number], self.tables.columns[number]
        while (number, at) not in self.liftable:
            self.liftable.add((number, at))
            if (number, at) not in self.moved:
                self._try_land((number, at), cards[at])
            held = at > 0 and not cards[at - 1] & DOWN and table.glued[cards[at - 1]] >> cards[at] & 1
            if not held or table.group.unit == "single":
                break
            at -= 1

    def _try_land(self, place: _Place, card: int) -> None:
        """A card that can be picked up: does any base lie open for it already."""
        if self.empty and place[1] > 0 and self.start >> card & 1:
            self._move(place)
        for base, places in list(self.clear.items()):
            for there in places:
                tables = self.tables.columns if there[0] < 0 else (self.tables.columns[there[0]],)
                if place not in self.moved and any(table.fits[base] >> card & 1 for table in tables):
                    self._try_base(place, there)

    def _try_base(self, rider: _Place, base: _Place) -> None:
        """A rider may leave for a base that can lie open, unless that is where it lies, or on top of the rider itself."""
        number, at = rider
        if base[0] != number or base[1] < at - 1:
            self._move(rider)
        elif base[1] > at:
            if any((number, between) in self.moved for between in range(at + 1, base[1] + 1)):
                self._move(rider)
            else:
                self.waiting.append((rider, at, base[1]))

    def _move(self, place: _Place) -> None:
        """A card can leave its place in a column."""
        if place in self.moved:
            return
        self.moved.add(place)
        number, at = place
        if at == 0:
            self._emptied()
        else:
            below = self.columns[number][at - 1]
            if below & DOWN:
                self.progresses = True
                return
            self._open((number, at - 1), below)
        for rider, low, high in [one for one in self.waiting if one[0][0] == number]:
            if low < at <= high:
                self._move(rider)

    def _emptied(self) -> None:
        if self.empty:
            return
        self.empty = True
        for card, places in self.up.items():
            if self.start >> card & 1:
                for place in places:
                    if place in self.liftable and place[1] > 0:
                        self._move(place)

    def _try_home(self, place: _Place, card: int) -> bool:
        """Whether a card that can lie open can go home; where that is progress it ends the search."""
        if place in self.homed:
            return True
        if not (self.startable >> card & 1 or self.tables.follows[card] & self.tops):
            return False
        self.homed.add(place)
        self.tops |= 1 << card
        if len(self.homed) >= self.missing:
            self.progresses = True
        if place[0] >= 0 and place[0] < self.tables.layout.columns:
            self._move(place)
        return True

    def _go_on(self) -> bool:
        """What depends on facts of many kinds: whether anything new came of it."""
        before = self._known()
        piles = self.position.piles
        for place in self.loose:
            number, at = place
            card = piles[number][at] & ~DOWN
            home = self._try_home(place, card)
            if place not in self.left and (home or self._lands(card)):
                self.left.add(place)
                self._leave(place)
                self._open(_ANYWHERE, card)
        for places in list(self.clear.values()):
            for place in places:
                if place[0] >= 0:
                    card = self.columns[place[0]][place[1]]
                    self._try_home(place, card)
                    if self.free_cell and "tableau" in self.cell_sources:
                        self._move(place)
        for cards in self.returnable:
            while cards:
                cell = self.free_cell and "foundations" in self.cell_sources
                if not cell and not self._lands(cards[-1]):
                    break
                self._open(_ANYWHERE, cards.pop())
                if cards:
                    self.tops |= 1 << cards[-1]
        return before != self._known()

    def _run_forms(self) -> bool:
        """Whether a complete run could come to lie together, to go to a foundation that takes one.

        Each of its cards must lie on the next already, or be able to come there: the lower one can lie open, and the upper one
        can be picked up and may be built on it.
        """
        first = self.tables.layout.first_foundation
        free = [n for n in self.tables.takes_run if not self.position.piles[first + n]]
        if not free:
            return False
        mobile = 0
        for card, places in self.up.items():
            if any(place in self.liftable for place in places):
                mobile |= 1 << card
        for number, at in self.loose:
            mobile |= 1 << (self.position.piles[number][at] & ~DOWN)
        for number, cards in enumerate(self.position.piles[first : first + self.tables.layout.foundations]):
            if self.tables.foundations[number].returns != "never":
                for card in cards:
                    mobile |= 1 << card
        joins = [0] * 52
        for table in self.tables.columns if len(self.position.rules.tableau) > 1 else self.tables.columns[:1]:
            for lower in range(52):
                if self.clear_bits >> lower & 1:
                    joins[lower] |= table.fits[lower] & mobile
        for cards in self.columns:
            for lower, upper in pairwise(cards):
                if not lower & DOWN and not upper & DOWN:
                    joins[lower] |= 1 << upper
        return any(_makes_run(self.tables.foundations[n], joins) for n in free)

    def _known(self) -> tuple[int, ...]:
        return len(self.homed), len(self.moved), len(self.left), self.clear_bits, self.tops, self.free_cell

    def _leave(self, place: _Place) -> None:
        """A card of no column can leave: its cell is free, the reserve's next card lies open."""
        number, at = place
        zone = self.tables.layout.zones[number]
        if zone == "cells":
            self.free_cell = True
        elif zone == "reserve" and at > 0:
            self.progresses = True

    def _lands(self, card: int) -> bool:
        """Whether a card of no column could be put on some column."""
        if self.empty and self.start >> card & 1:
            return True
        return any(
            table.fits[base] >> card & 1
            for base in self.clear
            for table in (
                self.tables.columns[:1] if len(self.position.rules.tableau) == 1 else self.tables.columns
            )
        )


def _makes_run(table: FoundationTable, joins: list[int]) -> bool:
    """Whether cards that can lie on each other, ``joins[lower]`` the upper ones, make a run long enough for a foundation."""
    ends = ALL_CARDS
    for _ in range(table.run_length - 1):
        after = 0
        for lower in range(52):
            if ends >> lower & 1:
                after |= joins[lower] & table.run_next[lower]
        ends = after
    return ends != 0
