"""What a player knows of a game: all that the fair policy is told, so that it can't know more.

A sight holds the visible table, which cards were not seen yet, and what of the game's history tells where it has been. It
can be sent to another process; the order of the hidden cards is not in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from chilkoot.cards import DOWN
from chilkoot.engine.deal import Dealt
from chilkoot.engine.game import Game
from chilkoot.engine.moves import PileMove
from chilkoot.engine.position import Position, State
from chilkoot.engine.stuck import blind
from chilkoot.language.rules import Rules, canonical_text, from_canonical

__all__ = ["Sight", "sight_of"]


@dataclass(frozen=True)
class Sight:
    """One moment of a game as its player sees it.

    `rules` is the canonical text. `piles` are those of ``stuck.blind``; `places` (pile, place) are where cards lie that were
    not seen, `unseen` which cards those are, in order of the cards. `tried` are the moves that were made from here before;
    `seen` the `check` of every table that there was, `line` of those on the way here; `idle` the actions since something was
    gained.
    """

    rules: str
    state: State
    piles: tuple[tuple[int, ...], ...]
    places: tuple[tuple[int, int], ...]
    unseen: tuple[int, ...]
    check: str
    seen: frozenset[str]
    line: frozenset[str]
    tried: frozenset[PileMove]
    idle: int
    is_over: bool
    is_stuck: bool

    def position(self) -> Position:
        """The table with every card that was not seen the same, face down."""
        rules = _rules_of(self.rules)
        piles = [list(cards) for cards in self.piles]
        position = Position(rules, Dealt(piles, self.state[0], b"", ""))
        position.restore(self.state)
        return position


def sight_of(game: Game) -> Sight:
    """What the player of a game knows now."""
    position, check = blind(game.position), game.check()
    known = position.tables.layout.stock if game.position.turn > 1 and not game.rules.stock.shuffle else -1
    places = tuple(
        (pile, place)
        for pile, cards in enumerate(game.position.piles)
        if pile != known
        for place, card in enumerate(cards)
        if card & DOWN
    )
    return Sight(
        rules=_text_of(game.rules),
        state=position.state,
        piles=tuple(map(tuple, position.piles)),
        places=places,
        # Sorted, so that where each of them lies is not told.
        unseen=tuple(sorted(game.position.piles[pile][place] & ~DOWN for pile, place in places)),
        check=check,
        seen=frozenset(game.seen),
        line=frozenset(game.line()),
        tried=frozenset(move for where, move in game.tried if where == check),
        idle=game.idle(),
        is_over=game.is_over,
        is_stuck=game.status == "stuck",
    )


@lru_cache(maxsize=64)
def _rules_of(text: str) -> Rules:
    return from_canonical(text)


@lru_cache(maxsize=64)
def _text_of(rules: Rules) -> str:
    return canonical_text(rules)
