"""A position: the cards on the table and the little else that play depends on, with the two operations that change it.

A position is changed in place; every change is kept as an operation, so that taking it back is reading the list
backwards. Hidden cards are named here: nothing of a position may reach a client but through ``view``.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Final, NamedTuple

from chilkoot.cards import CARD_NAMES, DOWN, HIDDEN
from chilkoot.engine.deal import Dealt
from chilkoot.engine.notation import format_board
from chilkoot.engine.tables import Tables, tables_for
from chilkoot.events import Move, Op, Turn
from chilkoot.language.rules import Rules

__all__ = ["Change", "Foundations", "Position", "Shuffled", "State", "check_of"]

State = tuple[int | None, int, int, int, int]
"""What a position holds besides its cards: base rank, pass, redeals used, card just returned (−1: none), best score."""


class Shuffled:
    """The order of a pile that lies face down was changed: nobody sees it, undo must know it."""

    __slots__ = ("after", "before", "pile")

    def __init__(self, pile: int, before: list[int], after: list[int]) -> None:
        self.pile = pile
        self.before = before
        self.after = after


Change = Op | Shuffled


class Foundations(NamedTuple):
    """What the foundations take one card at a time, each and any of them, and how many cards they hold."""

    each: list[int]
    any: int
    held: int


_SHOWN: Final = [*CARD_NAMES, *[""] * 12, *[HIDDEN] * 64]


class Position:
    """The cards on the table.

    `piles` are in wire order, bottom card first; `turn` is the pass through the stock (1 is the first), `redealt` how often
    the tableau was redealt, `returned` the card that just came back from a foundation, `best` the highest score so far.
    """

    __slots__ = (
        "_foundations",
        "base",
        "best",
        "key",
        "piles",
        "redealt",
        "returned",
        "rules",
        "tables",
        "turn",
    )

    def __init__(self, rules: Rules, dealt: Dealt, *, turn: int = 1) -> None:
        self.rules = rules
        self.base = dealt.base
        self.tables: Tables = tables_for(rules, dealt.base)
        self.piles = dealt.piles
        self.key = dealt.key
        self.turn = turn
        self.redealt = 0
        self.returned = -1
        self._foundations: Foundations | None = None
        self.best = self.score()

    def __repr__(self) -> str:
        return self.board()

    def copy(self) -> Position:
        """A position of its own with the same cards."""
        twin = object.__new__(Position)
        twin.rules, twin.base, twin.tables, twin.key = self.rules, self.base, self.tables, self.key
        twin.turn, twin.redealt, twin.returned, twin.best = self.turn, self.redealt, self.returned, self.best
        twin._foundations = self._foundations
        twin.piles = [cards[:] for cards in self.piles]
        return twin

    @property
    def state(self) -> State:
        """What `restore` needs besides the cards."""
        return (self.base, self.turn, self.redealt, self.returned, self.best)

    def restore(self, state: State) -> None:
        """Put back what `state` gave."""
        base, self.turn, self.redealt, self.returned, self.best = state
        self.set_base(base)

    def set_base(self, base: int | None) -> None:
        """Change the base rank, and with it the tables."""
        if base != self.base:
            self.base = base
            self.tables = tables_for(self.rules, base)
            self._foundations = None

    def foundations(self) -> Foundations:
        """The foundations as they stand: asked for many times between two changes of theirs."""
        if self._foundations is None:
            each: list[int] = []
            union = held = 0
            for table, there in zip(
                self.tables.foundations, self.piles[self.tables.layout.first_foundation :], strict=False
            ):
                wants = 0 if table.accepts_runs else table.wants(there)
                each.append(wants)
                union |= wants
                held += len(there)
            self._foundations = Foundations(each, union, held)
        return self._foundations

    def score(self) -> int:
        """Points: cards on the foundations times what each is worth."""
        return self.foundations().held * self.rules.score.per_foundation_card

    def move(self, source: int, target: int, n: int, *, flip: bool = False) -> Move:
        """Move the last `n` cards of one pile onto another; returns the operation.

        With `flip` they are reversed and lie face down, whichever way they lay: what shows is said by turns.
        """
        cards = self.piles[source]
        moved = cards[-n:]
        del cards[-n:]
        if flip:
            moved = [card | DOWN for card in reversed(moved)]
        self.piles[target] += moved
        layout = self.tables.layout
        names = layout.names
        if target >= layout.first_foundation or source >= layout.first_foundation:
            self._foundations = None
        return Move(names[source], names[target], n, flip)

    def turn_card(self, pile: int, at: int) -> Turn:
        """Turn the card at `at` over; returns the operation, which names the card only where it lies face up now."""
        card = self.piles[pile][at] ^ DOWN
        self.piles[pile][at] = card
        return Turn(self.tables.layout.names[pile], at, HIDDEN if card & DOWN else CARD_NAMES[card])

    def shuffle_pile(self, pile: int, order: list[int]) -> Shuffled:
        """Put the cards of a pile in another order; `order` names the old place of each."""
        before = self.piles[pile]
        after = [before[at] for at in order]
        self.piles[pile] = after[:]
        return Shuffled(pile, before, after)

    def repeat(self, change: Change) -> Change:
        """Do a change again that was taken back."""
        index = self.tables.layout.index
        if isinstance(change, Move):
            return self.move(index[change.source], index[change.target], change.n, flip=change.flip)
        if isinstance(change, Turn):
            return self.turn_card(index[change.pile], change.at)
        self.piles[change.pile] = change.after[:]
        return change

    def take_back(self, change: Change) -> list[Op]:
        """Undo a change, the last one first; returns the operations that undid it, none for what nobody saw."""
        layout = self.tables.layout
        if isinstance(change, Move):
            source, target = layout.index[change.source], layout.index[change.target]
            ops: list[Op] = [self.move(target, source, change.n, flip=change.flip)]
            if change.flip and source == layout.waste:
                # A waste turned over lay face up: say again what each card is.
                held = len(self.piles[source])
                ops += [self.turn_card(source, at) for at in range(held - change.n, held)]
            return ops
        if isinstance(change, Turn):
            return [self.turn_card(layout.index[change.pile], change.at)]
        self.piles[change.pile] = change.before[:]
        return []

    def view(self) -> dict[str, list[str]]:
        """What a player sees: every pile by name in wire order, ``??`` for a card that lies face down."""
        return {
            name: [_SHOWN[card] for card in cards]
            for name, cards in zip(self.tables.layout.names, self.piles, strict=True)
        }

    def board(self) -> str:
        """The text of the board, hidden cards named."""
        return format_board(self.tables.layout, self.piles)

    def check(self) -> str:
        """PROTOCOL.md's `check`: the first 8 hex digits of SHA-256 over what a player sees."""
        return check_of([self.shown(pile) for pile in range(len(self.piles))])

    def shown(self, pile: int) -> str:
        """One pile as a player sees it, ``t1=?? 9S``: its part of what `check` is made of."""
        return f"{self.tables.layout.names[pile]}={' '.join([_SHOWN[card] for card in self.piles[pile]])}"


def check_of(shown: list[str]) -> str:
    """The `check` of the piles that are shown like this."""
    return sha256(";".join(shown).encode()).hexdigest()[:8]
