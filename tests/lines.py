"""Lines of play for tests, found once by random play and kept while the tests run."""

from __future__ import annotations

import random
from functools import cache

from chilkoot.engine import Game, Refusal, is_no_op, name_move
from chilkoot.events import parse_action
from variants import rules_of


@cache
def random_line(name: str, deal: str, length: int, level: int | None = None) -> tuple[str, ...]:
    """Legal actions of a game, as text, until it is over or there are enough."""
    game, chance = Game.start(rules_of(name, level), deal), random.Random(deal)
    line: list[str] = []
    while len(line) < length and not game.is_over:
        tables = game.position.tables
        moves = [name_move(tables, move) for move in game.legal_piles() if not is_no_op(game.position, move)]
        texts = [*map(str, moves), *["draw"] * game.can_draw(), *(f"turn {pile}" for pile in game.can_turn())]
        action = parse_action(chance.choice(texts))
        assert action is not None
        assert not isinstance(game.act(action), Refusal)
        line.append(str(action))
    return tuple(line)


@cache
def losing_line(name: str = "yukon") -> tuple[str, tuple[str, ...]]:
    """A deal and moves after which no legal move is left, with a face-down card still on the table."""
    for number in range(1000):
        deal = f"ck:{number}"
        line = random_line(name, deal, 60)
        game = Game.start(rules_of(name), deal)
        for move in line:
            action = parse_action(move)
            assert action is not None
            game.act(action)
        if game.may_be_undone and any("??" in cards for cards in game.view().values()):
            return deal, line
    raise AssertionError(f"no lost game of {name} was found")
