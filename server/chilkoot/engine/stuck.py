"""Whether a game is stuck: no sequence of moves from what is visible can turn up a card or raise the score above its best.

Exact when it says so, silent (False) where the bounded search could not tell. It is blind: the cards that lie face down are
replaced before anything is looked at, so the answer can't depend on them. Two steps, the cheap one first:

1. a relaxation that forgets every obstacle but "this card must be able to leave first" (after the deadlock tests of
   Paul & Helmert, "Optimal Solitaire Game Solutions using A* Search and Deadlock Analysis"): where even that can't
   progress, nothing can;
2. a search of the positions that can be reached without progress, closed under "seen already", within a budget.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Final

from chilkoot.cards import DOWN
from chilkoot.engine.moves import (
    PileMove,
    can_send_home,
    can_turn,
    heads_of,
    is_no_op,
    legal_moves,
    movable,
    wanted_by_columns,
)
from chilkoot.engine.play import play_draw, play_move, uncovered
from chilkoot.engine.position import Change, Position
from chilkoot.engine.refusals import can_draw
from chilkoot.engine.relaxed import may_progress
from chilkoot.engine.tables import Tables
from chilkoot.events import Turn

__all__ = ["POSITIONS", "blind", "is_stuck", "position_key", "reveals", "shows_progress"]

POSITIONS: Final = 120
"""Positions the search generates before it stays silent; about 1.5 ms of one core, for the loop waits for it."""

FEW_MOVES: Final = 5
"""Legal moves above which no search is made: what can be reached is then more than it could look at.

In random play of the 48 variants where any face-up card moves a search found 66 tables stuck that the relaxation had not; 62
of them had no more moves, while those with 6 to 8 took four fifths of the time.
"""


def is_stuck(position: Position, moves: list[PileMove], *, positions: int = POSITIONS) -> bool:
    """Whether progress is impossible from what is visible; `moves` are the position's legal moves.

    Dear where progress shows: `shows_progress` is asked first. False also where the search ended without an answer.
    """
    if _progresses_at_once(position, moves) or can_turn(position):
        return False
    if uncovered(position) and (moves or can_draw(position)):
        # A board stands as it was laid: whatever is done first turns these up.
        return False
    if can_draw(position) and (position.turn == 1 or position.rules.stock.shuffle):
        # What the stock holds was not seen yet, or its order will be new.
        stock = position.tables.layout.stock
        if position.piles[stock] or position.rules.stock.shuffle:
            return False
    seen = blind(position)
    if not may_progress(seen):
        return True
    # On 6,400 tables of random play in the Yukon games the relaxation had found all but 2 of 5,042 that were stuck.
    return len(moves) <= FEW_MOVES and _search(seen, positions) is True


def blind(position: Position) -> Position:
    """A copy in which every card that the player does not know is the same card, face down.

    A stock that was gone through once is known: all its cards lay in the waste.
    """
    copy = position.copy()
    known = {copy.tables.layout.stock} if position.turn > 1 and not position.rules.stock.shuffle else set()
    for number, cards in enumerate(copy.piles):
        if number not in known:
            copy.piles[number] = [DOWN if card & DOWN else card for card in cards]
    return copy


def shows_progress(position: Position, *, can_home: bool) -> bool:
    """Whether a few moves raise the score above its best or uncover a card, where the ends of the piles show as much.

    False says nothing. A short cut past the list of moves, the relaxation and the search: it answers for nine tables in ten
    of the games in which any face-up card moves with all on it.
    """
    tables = position.tables
    scores = position.rules.score.per_foundation_card > 0 and position.score() >= position.best
    if scores and can_home:
        return True
    # Where cards go home by themselves without scoring, those that are counted on below might be gone.
    goes_away = tables.fills or (not scores and (tables.auto_home != "never" or tables.run_homes))
    if not tables.moves_anything or goes_away:
        return False
    piles, columns = position.piles, tables.layout.columns
    # What each column takes, where its lowest group begins, and the card that lies on one face down.
    wanted = wanted_by_columns(tables, piles)
    lows, covering = [], []
    covers = 0
    for column in range(columns):
        cards = piles[column]
        if not cards:
            wanted[column] = _start(tables, column)
        low = movable(tables, column, cards)
        cover = 1 << cards[low] if 0 < low < len(cards) else 0
        covers |= cover
        lows.append(low)
        covering.append(cover)
    for column, wants in enumerate(wanted):
        if wants & covers and _uncovers(covering, column, wants):
            return True
    return _Ends(position, scores, wanted, lows, covering).show_progress()


def _start(tables: Tables, column: int) -> int:
    """The cards that may start a column with all that lies on them."""
    table = tables.columns[column]
    return table.start if "tableau" in table.sources and table.empty.max_cards is None else 0


def _uncovers(covering: list[int], base: int, wants: int) -> bool:
    """Whether a card that lies on one face down could go onto a column that wants these."""
    for column, cover in enumerate(covering):  # noqa: SIM110 - any() of a generator takes twice as long
        if cover & wants and column != base:
            return True
    return False


class _Ends:
    """The columns of a table where any face-up card moves with all on it, and no card that lies on one face down can move."""

    __slots__ = ("covering", "heads", "home", "lows", "piles", "tables", "wanted")

    def __init__(
        self, position: Position, scores: bool, wanted: list[int], lows: list[int], covering: list[int]
    ) -> None:
        self.tables, self.piles = tables, piles = position.tables, position.piles
        self.wanted, self.lows, self.covering = wanted, lows, covering
        self.heads = [
            heads_of(tables.columns[column], piles[column]) if low < len(piles[column]) else 0
            for column, low in enumerate(lows)
        ]
        self.home = position.foundations().any if scores else 0

    def show_progress(self) -> bool:
        """Whether after one move or two a card can go home, or one that lies on another face down can move."""
        opened: list[tuple[int, int]] = []
        for target, wants in enumerate(self.wanted):
            for source, card in self._riders(target, wants):
                takes = self._left(source, card, onto_empty=not self.piles[target])
                if takes is None:
                    return True
                opened.append((source, takes))
        for base, takes in opened:
            for source, card in self._riders(base, takes):
                if self._left(source, card, onto_empty=True) is None:
                    return True
        return False

    def _riders(self, base: int, wants: int) -> list[tuple[int, int]]:
        """The cards that could go onto a column that wants these, each with its own column."""
        riders = []
        for column, heads in enumerate(self.heads):
            fitting = heads & wants
            while fitting and column != base:
                bit = fitting & -fitting
                fitting ^= bit
                riders.append((column, bit.bit_length() - 1))
        return riders

    def _left(self, column: int, card: int, *, onto_empty: bool) -> int | None:
        """What a column takes once a card and all on it have left; None where that leads to progress at once."""
        cards = self.piles[column]
        at = cards.index(card, self.lows[column])
        if at:
            below = cards[at - 1]
            if below & DOWN or self.home >> below & 1:
                return None
            takes = self.tables.columns[column].fits[below]
        else:
            # From one empty column to another nothing changes.
            takes = 0 if onto_empty else _start(self.tables, column)
        return None if takes and _uncovers(self.covering, column, takes) else takes


def _progresses_at_once(position: Position, moves: list[PileMove]) -> bool:
    """Whether one of the moves raises the score above its best, or uncovers a card that lies face down."""
    layout, piles = position.tables.layout, position.piles
    first, after = layout.first_foundation, layout.first_foundation + layout.foundations
    scores = position.rules.score.per_foundation_card > 0 and position.score() >= position.best
    for source, n, target in moves:
        if scores and first <= target < after:
            return True
        cards = piles[source]
        if len(cards) > n and cards[-n - 1] & DOWN and source < first:
            return True
    return False


def position_key(position: Position) -> tuple[object, ...]:
    """What tells two positions apart for the search.

    Columns with the same rules may change places, but not while a stock is still to be dealt onto them.
    """
    return _key_of(position, [bytes(cards) for cards in position.piles])


def _key_of(position: Position, piles: list[bytes]) -> tuple[object, ...]:
    """The key of a position with these piles in place of its own."""
    tables, layout = position.tables, position.tables.layout
    columns = piles[: layout.columns]
    dealt_onto = layout.stock >= 0 and piles[layout.stock] and position.rules.stock.deal_to != "waste"
    if not tables.fills and len(position.rules.tableau) == 1 and not dealt_onto:
        columns.sort()
    cells = sorted(piles[layout.first_cell : layout.first_reserve]) if layout.cells else ()
    turn = position.turn if position.rules.stock.passes is not None else 0
    return (*columns, *cells, *piles[layout.first_reserve :], turn)


def _search(root: Position, budget: int) -> bool | None:
    """True when every position reachable without progress was looked at, False on progress, None at the budget."""
    best = root.best
    seen = {position_key(root)}
    pending = deque([root])
    while pending:
        position = pending.popleft()
        if shows_progress(position, can_home=can_send_home(position)):
            return False
        moves = legal_moves(position)
        if _progresses_at_once(position, moves):
            return False
        for child in _children(position, moves, seen):
            if child is None or child.score() > best:
                return False
            if budget == 0:
                return None
            budget -= 1
            if child is not position and (key := position_key(child)) not in seen:
                seen.add(key)
                pending.append(child)
    return True


def _children(
    position: Position, moves: list[PileMove], seen: set[tuple[object, ...]]
) -> Iterator[Position | None]:
    """The positions one action on; None stands for one that turns up a card, the position itself for one seen before."""
    if can_turn(position):
        yield None
        return
    piles = [bytes(cards) for cards in position.piles]
    for move in moves:
        if not is_no_op(position, move) or position.tables.fills:
            # Most moves lead to what was seen already, in another order; what was seen has settled.
            if not position.tables.returns and _key_of(position, _moved(piles, move)) in seen:
                yield position
                continue
            child = position.copy()
            changes: list[Change] = []
            play_move(child, move, changes)
            yield None if reveals(child, changes) else child
    if can_draw(position):
        child = position.copy()
        changes = []
        play_draw(child, changes)
        yield None if reveals(child, changes) else child


def _moved(piles: list[bytes], move: PileMove) -> list[bytes]:
    source, n, target = move
    after = piles[:]
    after[source] = piles[source][:-n]
    after[target] += piles[source][-n:]
    return after


def reveals(position: Position, changes: list[Change]) -> bool:
    """Whether a card was turned up that the player did not know. Cards drawn from a known stock were known."""
    known = position.turn > 1 and position.tables.layout.stock >= 0
    for change in changes:
        if isinstance(change, Turn) and change.card != "??" and not (known and change.pile == "w1"):
            return True
    return False
