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
    can_draw,
    can_send_home,
    can_turn,
    foundation_wants,
    is_no_op,
    legal_moves,
    movable,
    wanted_by_columns,
)
from chilkoot.engine.play import play_draw, play_move
from chilkoot.engine.position import Change, Position
from chilkoot.engine.relaxed import may_progress
from chilkoot.events import Turn

__all__ = ["POSITIONS", "blind", "is_stuck", "position_key", "shows_progress"]

POSITIONS: Final = 120
"""Positions the search generates before it stays silent; about 1.5 ms of one core, for the loop waits for it."""

FEW_MOVES: Final = 5
"""Legal moves above which no search is made: what can be reached is then more than it could look at.

In random play of the 48 variants where any face-up card moves a search found 66 tables stuck that the relaxation had not; 62
of them had no more moves, while those with 6 to 8 took four fifths of the time.
"""


def is_stuck(position: Position, moves: list[PileMove], *, positions: int = POSITIONS) -> bool:
    """Whether progress is impossible from what is visible; `moves` are the position's legal moves.

    False also where the search ended without an answer.
    """
    if _progresses_at_once(position, moves) or _progresses_in_two(position, moves) or can_turn(position):
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


def shows_progress(position: Position) -> bool:
    """Whether some move raises the score above its best or uncovers a card, where that shows without a list of the moves.

    On most tables it does, and a list costs six times as much. False says nothing.
    """
    tables, piles = position.tables, position.piles
    scores = position.rules.score.per_foundation_card > 0 and position.score() >= position.best
    if scores and can_send_home(position):
        return True
    if not tables.moves_anything:
        return False
    wanted = wanted_by_columns(tables, piles)
    for source, cards in enumerate(piles[: tables.layout.columns]):
        if not cards or not cards[0] & DOWN or cards[-1] & DOWN:
            continue
        card = 1 << cards[movable(tables, source, cards)]
        for target, wants in enumerate(wanted):
            if wants & card and target != source:
                table = tables.columns[target]
                if piles[target] or ("tableau" in table.sources and table.empty.max_cards is None):
                    return True
    return False


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


def _progresses_in_two(position: Position, moves: list[PileMove]) -> bool:
    """Whether some move lays a card (or an empty column) open that at once takes a card home or uncovers another.

    Only a short cut past the search for the commonest case, where any face-up card moves with all on it.
    """
    tables, piles = position.tables, position.piles
    columns = tables.layout.columns
    if tables.fills or not tables.moves_anything:
        return False
    # Of each column the card that lies on one face down.
    covering = [0] * columns
    covers = 0
    for column in range(columns):
        cards = piles[column]
        if cards and not cards[-1] & DOWN and (low := movable(tables, column, cards)):
            covering[column] = 1 << cards[low]
            covers |= covering[column]
    home = 0
    if position.score() >= position.best:
        for number, foundation in enumerate(tables.foundations, tables.layout.first_foundation):
            home |= foundation_wants(foundation, piles[number])
    for source, n, target in moves:
        if source >= columns or (target >= columns and not tables.layout.cells):
            continue
        cards = piles[source]
        table = tables.columns[source]
        if len(cards) > n:
            open_card = cards[-n - 1]
            takes = table.fits[open_card]
            if home >> open_card & 1:
                return True
        elif piles[target]:
            takes = 0 if "tableau" not in table.sources or table.empty.max_cards else table.start
        else:
            continue
        if takes & covers:
            for column in range(columns):
                if column != source and covering[column] & takes:
                    return True
    return False


def position_key(position: Position) -> tuple[object, ...]:
    """What tells two positions apart for the search.

    Columns with the same rules may change places, but not while a stock is still to be dealt onto them.
    """
    tables, layout = position.tables, position.tables.layout
    piles = [bytes(cards) for cards in position.piles]
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
        moves = legal_moves(position)
        if _progresses_at_once(position, moves) or _progresses_in_two(position, moves):
            return False
        for child in _children(position, moves):
            if child is None or child.score() > best:
                return False
            if budget == 0:
                return None
            budget -= 1
            key = position_key(child)
            if key not in seen:
                seen.add(key)
                pending.append(child)
    return True


def _children(position: Position, moves: list[PileMove]) -> Iterator[Position | None]:
    """The positions one action on; None stands for one that turns up a card."""
    if can_turn(position):
        yield None
        return
    for move in moves:
        if not is_no_op(position, move) or position.tables.fills:
            child = position.copy()
            changes: list[Change] = []
            play_move(child, move, changes)
            yield None if _reveals(child, changes) else child
    if can_draw(position):
        child = position.copy()
        changes = []
        play_draw(child, changes)
        yield None if _reveals(child, changes) else child


def _reveals(position: Position, changes: list[Change]) -> bool:
    """Whether a card was turned up that the player did not know. Cards drawn from a known stock were known."""
    known = position.turn > 1 and position.tables.layout.stock >= 0
    for change in changes:
        if isinstance(change, Turn) and change.card != "??" and not (known and change.pile == "w1"):
            return True
    return False
