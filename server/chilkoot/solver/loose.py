"""Proofs by a looser game, in which it is left open where the cards lie that were moved.

A table of it says of each card only whether it still lies where the search began (``dealt``), went home, or was built: lies on
any of its bases, or where a starter began a column. So one of its tables stands for many of the game's, and a game that can't
be won even so is lost. It can be played whenever the game can: each move of the game is one of these, or changes nothing here.

A *place* is a card that nothing dealt lies on. Cards with the same bases ride together: each of them that is built lies on a place
of its own, so another one can be built only where the places are more than they, and a card that others ride can go home only where
the others' places do for them. A card can't be built on what lies above it: on what was dealt there, and on cards built
on places that all lie there. Columns are empty but for those whose first card was dealt there or is a starter that was built.

Safe cards go home first: those whose riders are all home. Sooner than in the line that wins, nothing in it is hindered: their places
are of no use to anyone, they need none themselves, and what they lay on is free.

No cards come back, so this search ends, and needs no more of a table than two sets. Where all was looked at and the looser game
can be won, the tables in which it can't still help: the real search leaves out what they stand for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from chilkoot.solver import problem as p
from chilkoot.solver.compiled import Bits, Cards, Ints, compiled
from chilkoot.solver.sets import lowest_of, size_of

__all__ = ["LooseSearch", "comes_home", "is_lost_loosely", "lay_out", "list_moves", "table_of"]

ONE = np.uint64(1)
NONE = np.uint64(0)

CONTINUE, EXHAUSTED, FULL = 0, 1, 2

CHUNK: Final = 4000

_FIRST_SLOTS: Final = 1 << 10

_DEPTH: Final = 128
"""Tables on the way to one at most: each card is built once, and goes home once."""

UNUSED: Final = np.uint64((1 << 64) - 1)
"""In a slot where no table is kept."""

CARDS: Final = np.uint64((1 << 62) - 1)
LOSES: Final = np.uint64(1 << 62)
WINS: Final = np.uint64(1 << 63)
"""Of a table that was left, above its cards at home."""

RIDERS, BASES, NEXT, NUMBERS, SETS = 0, 1, 2, 3, 4
"""Rows of what ``lay_out`` makes: by card what it carries, what it rides on, what follows it at home; the number of a card; the sets."""

BUILT, UP, BOTTOMS, STARTERS, WANTED, ALL, COLUMNS = 0, 1, 2, 3, 4, 5, 6
"""In the row `SETS`: cards built, face up, first in columns, that start columns, wanted at home, on columns; how many columns."""


@compiled
def lay_out(ints: Ints, bits: Bits, held: Cards, sizes: Ints) -> Bits:
    """A table for ``explore``. Its cards have numbers of their own: along the columns, so that the next one lies on each."""
    facts = np.zeros((5, 64), dtype=np.uint64)
    cards = np.zeros(52, dtype=np.int64)
    count = 0
    sets = facts[SETS]
    for column in range(ints[p.COLUMNS]):
        for i in range(sizes[column]):
            card = held[column, i]
            plain = card & 63
            bit = ONE << np.uint64(count)
            if not card & 64:
                sets[UP] |= bit
                if i == 0:
                    built = (bits[p.START, 0] >> np.uint64(plain)) & ONE == ONE
                else:
                    below = held[column, i - 1]
                    built = not below & 64 and (bits[p.BASES, plain] >> np.uint64(below)) & ONE == ONE
                if built:
                    sets[BUILT] |= bit
            if i == 0:
                sets[BOTTOMS] |= bit
            if (bits[p.START, 0] >> np.uint64(plain)) & ONE:
                sets[STARTERS] |= bit
            facts[NUMBERS, plain] = np.uint64(count)
            cards[count] = plain
            count += 1
    home = NONE
    first = ints[p.COLUMNS] + ints[p.CELLS] + ints[p.RESERVES]
    for f in range(ints[p.FOUNDATIONS]):
        for i in range(sizes[first + f]):
            home |= ONE << np.uint64(held[first + f, i])
    started = NONE
    for f in range(ints[p.FOUNDATIONS]):
        started |= bits[p.F_START, f]
    for i in range(count):
        bit = ONE << np.uint64(i)
        card = cards[i]
        if (started >> np.uint64(card)) & ONE or bits[p.FOLLOWS, card] & home:
            sets[WANTED] |= bit
        for j in range(count):
            other = cards[j]
            if (bits[p.FITS, card] >> np.uint64(other)) & ONE:
                facts[RIDERS, i] |= ONE << np.uint64(j)
                facts[BASES, j] |= bit
            if (bits[p.FOLLOWS, other] >> np.uint64(card)) & ONE:
                facts[NEXT, i] |= ONE << np.uint64(j)
    sets[ALL] = (ONE << np.uint64(count)) - ONE
    sets[COLUMNS] = np.uint64(ints[p.COLUMNS])
    return facts


@compiled
def wanted_after(facts: Bits, home: np.uint64) -> np.uint64:
    """The cards that foundations take when those in `home` went there."""
    wanted = facts[SETS, WANTED]
    cards = home
    while cards:
        wanted |= facts[NEXT, lowest_of(cards)]
        cards &= cards - ONE
    return np.uint64(wanted & ~home)


@compiled
def places_of(facts: Bits, dealt: np.uint64, home: np.uint64) -> np.uint64:
    """The cards on columns that no card lies on as dealt."""
    return np.uint64(facts[SETS, ALL] & ~home & ~((dealt & ~facts[SETS, BOTTOMS]) >> ONE))


@compiled
def taken(facts: Bits, built: np.uint64, places: np.uint64) -> np.uint64:
    """The places of cards that ride together where there are no more of them than riders built."""
    full = NONE
    riders = built & ~facts[SETS, STARTERS]
    while riders:
        bases = facts[BASES, lowest_of(riders)] & places
        together = riders & facts[RIDERS, lowest_of(bases)]
        if size_of(together) == size_of(bases):
            full |= bases
        riders &= ~together
    return full


@compiled
def empty_columns(facts: Bits, dealt: np.uint64, built: np.uint64) -> int:
    """How many columns no card lies in."""
    sets = facts[SETS]
    return int(sets[COLUMNS]) - size_of(dealt & sets[BOTTOMS]) - size_of(built & sets[STARTERS])


@compiled
def comes_home(facts: Bits, dealt: np.uint64, home: np.uint64) -> bool:
    """Whether all cards can go home where each that can leave its place is at all its bases, and leaves what it lay on free."""
    sets = facts[SETS]
    bottoms, starters = sets[BOTTOMS], sets[STARTERS]
    built = sets[ALL] & ~dealt & ~home
    places = places_of(facts, dealt, home)
    full = taken(facts, built, places)
    clear = places & ~full
    up = sets[UP] | places
    vacant = empty_columns(facts, dealt, built) > 0
    wanted = wanted_after(facts, home)
    homed, moved, left, seen, waiting = home, NONE, NONE, NONE, NONE
    if vacant:
        moved = starters & dealt & up & ~bottoms
    while True:
        arrivals = clear & wanted
        if arrivals:
            card = lowest_of(arrivals)
            bit = ONE << np.uint64(card)
            homed |= bit
            moved |= bit
            wanted = (wanted | facts[NEXT, card]) & ~homed
            continue
        movers = NONE
        fresh = clear & ~seen
        if fresh:
            card = lowest_of(fresh)
            bit = ONE << np.uint64(card)
            seen |= bit
            riders = facts[RIDERS, card]
            movers = riders & up
            if riders & built and not full & bit:
                # Cards that had no place to spare have one now.
                clear |= facts[BASES, lowest_of(riders & built)] & full
            if not up & bit:
                up |= bit
                movers |= bit
                if vacant and starters & bit & ~bottoms:
                    moved |= bit
        else:
            fresh = moved & ~left
            if fresh == NONE:
                return bool(homed == sets[ALL])
            card = lowest_of(fresh)
            bit = ONE << np.uint64(card)
            left |= bit
            if bit & (bottoms if dealt & bit else starters):
                if not vacant:
                    vacant = True
                    moved |= starters & dealt & up & ~bottoms
            elif dealt & bit:
                clear |= bit >> ONE
            else:
                clear |= facts[BASES, card] & places
            movers = waiting
            waiting = NONE
        movers &= dealt & ~moved
        while movers:
            card = lowest_of(movers)
            bit = ONE << np.uint64(card)
            movers &= ~bit
            bases = facts[BASES, card] & clear
            while bases:
                base = bases & (~bases + ONE)
                bases &= ~base
                # All cards above this one up to the base, which are there if no column begins among them.
                between = (base << ONE) - (bit << ONE)
                if base > bit and dealt & ~moved & ~bottoms & between == between:
                    waiting |= bit
                else:
                    moved |= bit
                    break


@compiled
def lies_above(facts: Bits, dealt: np.uint64, built: np.uint64, places: np.uint64, card: int) -> np.uint64:
    """The cards that lie above one wherever the cards lie that were built."""
    own = ONE << np.uint64(card)
    follow = dealt & ~facts[SETS, BOTTOMS]
    above = NONE
    todo = own
    while todo:
        bit = todo & (~todo + ONE)
        todo &= ~bit
        while follow & (bit << ONE):
            bit <<= ONE
            above |= bit
        riders = facts[RIDERS, lowest_of(bit)] & built & ~above
        if riders and facts[BASES, lowest_of(riders)] & places & ~(above | own) == NONE:
            todo |= riders
            above |= riders
    return above


@compiled
def send_safe_home(facts: Bits, dealt: np.uint64, home: np.uint64) -> tuple[np.uint64, np.uint64]:
    """The table after all safe cards went home."""
    wanted = wanted_after(facts, home)
    cards = wanted & places_of(facts, dealt, home)
    while cards:
        card = lowest_of(cards)
        bit = ONE << np.uint64(card)
        cards &= ~bit
        if facts[RIDERS, card] & ~home == NONE:
            home |= bit
            dealt &= ~bit
            wanted |= facts[NEXT, card]
            cards = wanted & ~home & places_of(facts, dealt, home)
    return dealt, home


@compiled
def list_moves(facts: Bits, dealt: np.uint64, home: np.uint64, moves: Bits) -> int:
    """The cards that can be built, then those that can go home; returns how many, 64 added where one goes home."""
    sets = facts[SETS]
    built = sets[ALL] & ~dealt & ~home
    places = places_of(facts, dealt, home)
    count = 0
    cards = dealt & (sets[UP] | places)
    if empty_columns(facts, dealt, built) <= 0:
        cards &= ~sets[STARTERS]
    else:
        cards &= ~(sets[STARTERS] & sets[BOTTOMS])
    full = taken(facts, built, places)
    while cards:
        card = lowest_of(cards)
        bit = ONE << np.uint64(card)
        cards &= ~bit
        if not bit & sets[STARTERS]:
            bases = facts[BASES, card] & places & ~full
            if bases == NONE or bases & ~lies_above(facts, dealt, built, places, card) == NONE:
                continue
        moves[count] = card
        count += 1
    cards = wanted_after(facts, home) & places & ~full
    while cards:
        moves[count] = 64 + lowest_of(cards)
        count += 1
        cards &= cards - ONE
    return count


@compiled
def slot_of(known: Bits, dealt: np.uint64, home: np.uint64) -> np.int64:
    """The slot in which a table is kept, or where it belongs."""
    mask = np.uint64(known.shape[0] - 1)
    mixed = (dealt ^ np.uint64(0x9E3779B97F4A7C15)) * np.uint64(0xFF51AFD7ED558CCD)
    mixed = (mixed ^ (mixed >> np.uint64(32)) ^ home) * np.uint64(0xC4CEB9FE1A85EC53)
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xFF51AFD7ED558CCD)
    slot = (mixed ^ (mixed >> np.uint64(32))) & mask
    while known[slot, 0] != UNUSED and (known[slot, 0] != dealt or known[slot, 1] & CARDS != home):
        slot = (slot + ONE) & mask
    return np.int64(slot)


@compiled
def refill(old: Bits, known: Bits) -> None:
    """Put the tables that are kept into a new, larger array of slots."""
    for i in range(old.shape[0]):
        if old[i, 0] != UNUSED:
            slot = slot_of(known, old[i, 0], old[i, 1] & CARDS)
            known[slot, 0], known[slot, 1] = old[i, 0], old[i, 1]


@compiled
def enter(known: Bits, path: Bits, turns: Ints, state: Ints, dealt: np.uint64, home: np.uint64) -> None:
    """Go on with a table that was not known."""
    slot = slot_of(known, dealt, home)
    known[slot, 0], known[slot, 1] = dealt, home
    depth = state[0]
    path[depth, 0], path[depth, 1] = dealt, home
    turns[depth, 0], turns[depth, 1] = -1, 0
    state[0] += 1
    state[1] += 1


@compiled
def explore(facts: Bits, known: Bits, path: Bits, turns: Ints, state: Ints, expansions: int) -> int:
    """Depth-first search, a chunk of it: at most so many more tables are opened.

    `known` (slots × 2) begins all `UNUSED`, `state` (4) as zeros: depth, tables known, opened, and how many can be won. `path` and
    `turns` (`DEPTH` × 66, × 2) hold the tables on the way with their moves, how many of these are left, and whether one wins. Of each
    table that was left `known` says whether it can be won. Returns CONTINUE, EXHAUSTED, or FULL.
    """
    if state[1] == 0:
        dealt, home = send_safe_home(facts, facts[SETS, ALL] & ~facts[SETS, BUILT], NONE)
        enter(known, path, turns, state, dealt, home)
    opened = 0
    while state[0]:
        depth = state[0] - 1
        dealt, home, moves = path[depth, 0], path[depth, 1], path[depth, 2:]
        if turns[depth, 0] < 0:
            if opened >= expansions:
                return CONTINUE
            opened += 1
            state[2] += 1
            turns[depth, 0] = 0
            if home == facts[SETS, ALL]:
                turns[depth, 1] = 1
            elif comes_home(facts, dealt, home):
                turns[depth, 0] = list_moves(facts, dealt, home, moves)
        is_left = True
        while turns[depth, 0]:
            move = moves[turns[depth, 0] - 1]
            bit = ONE << (move & np.uint64(63))
            next_dealt, next_home = send_safe_home(facts, dealt & ~bit, home | bit if move >= 64 else home)
            slot = slot_of(known, next_dealt, next_home)
            if known[slot, 0] == UNUSED:
                if 3 * state[1] > 2 * known.shape[0]:
                    return FULL
                enter(known, path, turns, state, next_dealt, next_home)
                is_left = False
                break
            turns[depth, 1] |= known[slot, 1] & WINS != NONE
            turns[depth, 0] -= 1
        if is_left:
            known[slot_of(known, dealt, home), 1] |= WINS if turns[depth, 1] else LOSES
            state[3] += turns[depth, 1]
            state[0] -= 1
    return EXHAUSTED


@compiled
def table_of(bits: Bits, held: Cards, sizes: Ints, facts: Bits) -> tuple[np.uint64, np.uint64]:
    """The table of the looser game that stands for one of the real game: the cards as dealt, and those at home."""
    sets = facts[SETS]
    dealt, on_columns = NONE, NONE
    for column in range(int(sets[COLUMNS])):
        lower = -1
        for i in range(sizes[column]):
            card = held[column, i]
            plain = card & 63
            number = int(facts[NUMBERS, plain])
            bit = ONE << np.uint64(number)
            on_columns |= bit
            if i == 0:
                if sets[BOTTOMS] & ~sets[BUILT] & bit:
                    dealt |= bit
            elif number == lower + 1 and not sets[BOTTOMS] & bit:
                # A card that came back to where it was dealt was built there.
                below = held[column, i - 1]
                if card & 64 or below & 64 or not (bits[p.BASES, plain] >> np.uint64(below)) & ONE:
                    dealt |= bit
            lower = number
    return dealt, sets[ALL] & ~on_columns


@compiled
def is_lost_loosely(bits: Bits, held: Cards, sizes: Ints, facts: Bits, known: Bits) -> bool:
    """Whether a table of the real game can't be won in the looser game, as far as `known` says."""
    dealt, home = table_of(bits, held, sizes, facts)
    dealt, home = send_safe_home(facts, dealt, home)
    slot = slot_of(known, dealt, home)
    return bool(known[slot, 0] != UNUSED and known[slot, 1] & LOSES)


class LooseSearch:
    """The looser game from a table on, in arrays that grow to so many bytes. It can be gone on with."""

    def __init__(self, problem: p.Problem, held: Cards, sizes: Ints, memory: int) -> None:
        self.facts = lay_out(*problem, held, sizes)
        # While they grow the slots are held one and a half times.
        self.most_slots = 1 << max(memory // 32, 1024).bit_length() - 1
        self.known = self._slots(min(_FIRST_SLOTS, self.most_slots))
        self.path = np.empty((_DEPTH, 66), dtype=np.uint64)
        self.turns = np.empty((_DEPTH, 2), dtype=np.int64)
        self.state = np.zeros(4, dtype=np.int64)
        # So that nothing is compiled later, when a clock may run.
        self.code = self._explore(0)

    @property
    def opened(self) -> int:
        """How many tables were opened."""
        return int(self.state[2])

    @property
    def is_over(self) -> bool:
        """Whether there is nothing more to open, or no room."""
        return self.code != CONTINUE

    @property
    def is_won(self) -> bool:
        """Whether a way to win was found, which says nothing of the real game."""
        return bool(self.state[3])

    @property
    def is_lost(self) -> bool:
        """Whether all was looked at and nothing wins: then the real game is lost."""
        return self.is_whole and not self.is_won

    @property
    def is_whole(self) -> bool:
        """Whether all was looked at."""
        return self.code == EXHAUSTED

    def go_on(self, most: int, stop: Callable[[], bool]) -> None:
        """Open so many tables more."""
        end = self.opened + most
        while self.code == CONTINUE and self.opened < end and not stop():
            self.code = self._explore(min(CHUNK, end - self.opened))
            if self.code == FULL and len(self.known) < self.most_slots:
                known = self._slots(2 * len(self.known))
                refill(self.known, known)
                self.known = known
                self.code = CONTINUE

    def _explore(self, expansions: int) -> int:
        return explore(self.facts, self.known, self.path, self.turns, self.state, expansions)

    @staticmethod
    def _slots(count: int) -> Bits:
        return np.full((count, 2), UNUSED, dtype=np.uint64)
