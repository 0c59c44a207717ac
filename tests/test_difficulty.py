"""Lines made shorter, and how hard a deal is said to be: counted, never timed, the same every time."""

from __future__ import annotations

import pytest

from chilkoot.engine import Game
from chilkoot.engine.outcome import is_won
from chilkoot.events import Action, CardMove
from chilkoot.solver.difficulty import SCALE, difficulty_of, level_of
from chilkoot.solver.shorten import play, shorten
from chilkoot.solver.solve import solve
from chilkoot.solver.verdict import Budget
from variants import rules_of


def wins(game: Game, line: tuple[Action, ...]) -> bool:
    """Whether the engine plays a line to a win that comes with its last action and not before."""
    position = game.position.copy()
    for action in line:
        assert not is_won(position)
        assert play(position, action), action
    return is_won(position)


@pytest.mark.parametrize("name", ("yukon", "klondike-draw-3", "american-toad"))
def test_a_shortened_line_wins_and_is_no_longer(name: str) -> None:
    for number in range(1, 3):
        game = Game.start(rules_of(name), f"ck:{number}")
        found = solve(game.position, Budget(positions=2000))
        if found.line:
            shorter = shorten(game.position, found.line)
            assert len(shorter) <= len(found.line)
            assert wins(game, shorter)
            assert shorten(game.position, found.line) == shorter


def test_cards_that_go_round_by_a_cell_go_straight() -> None:
    game = Game.start(rules_of("yukon-cells"), "ms:2")
    straight = shorten(game.position, solve(game.position).line)
    first = straight[0]
    assert isinstance(first, CardMove)
    assert first.n == 1
    round_about = (CardMove(first.source, 1, "c2"), CardMove("c2", 1, first.target), *straight[1:])
    assert wins(game, round_about)
    assert len(shorten(game.position, round_about, Budget(positions=0))) <= len(straight)


def test_difficulty_grows_with_the_search_and_with_what_loses() -> None:
    assert [level_of(positions, 0, 0) for positions in (1, 50, 200, 900, 5000, 100_000)] == [1, 1, 2, 3, 4, 5]
    assert level_of(50, 0.5, 0) > level_of(50, 0, 0)
    assert level_of(50, 0, 1) > level_of(50, 0, 0)
    assert [level for _, level in SCALE] == [1, 2, 3, 4]


def test_a_deals_difficulty_is_counted_along_its_line() -> None:
    game = Game.start(rules_of("alaska"), "ck:2")
    verdict = solve(game.position)
    line = shorten(game.position, verdict.line)
    found = difficulty_of(game.position, verdict, line)
    assert found == difficulty_of(game.position, verdict, line)
    assert (found.positions, found.runs, found.actions) == (verdict.positions, verdict.runs, len(line))
    assert 0 <= found.losing <= found.tried
    assert 0 <= found.forced <= found.known <= 24
    assert found.branching >= 1
    assert found.level == level_of(found.positions, found.losing / found.tried, found.forced / found.known)
