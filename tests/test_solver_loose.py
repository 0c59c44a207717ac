"""The looser game: it never calls lost what can be won, and can be played along with every game."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice

import numpy as np
import pytest
from numpy.typing import NDArray

from chilkoot.engine import Game
from chilkoot.engine.position import Position
from chilkoot.events import CardMove
from chilkoot.language.rules import Rules
from chilkoot.solver import loose
from chilkoot.solver.chance import numbers_from
from chilkoot.solver.loose import LooseSearch
from chilkoot.solver.plain import search_plainly
from chilkoot.solver.problem import LOOSE, problem_of, state_of
from chilkoot.solver.solve import CompiledSearch, replay, solve
from chilkoot.solver.verdict import Budget
from test_solver import small
from variants import library, rules_of

MEMORY = 16 << 20


def search_of(position: Position, memory: int = MEMORY) -> LooseSearch:
    return LooseSearch(problem_of(position.tables), *state_of(position), memory)


def never() -> bool:
    return False


def is_proved(position: Position, most: int) -> bool:
    search = search_of(position)
    search.go_on(most, never)
    return search.is_lost


def walk(game: Game, numbers: Iterator[int], steps: int) -> Iterator[Position]:
    """A game played by chance, after each move."""
    game.looks_for_stuck = False
    yield game.position
    for _ in range(steps):
        if not (moves := game.legal()):
            return
        game.act(moves[next(numbers) % len(moves)])
        yield game.position


def agree_by_brute_force(rules: Rules, seeds: range) -> Counter[tuple[str, bool]]:
    """What the looser game says of small packs, and then of positions by chance, held against a search that leaves out nothing."""
    found: Counter[tuple[str, bool]] = Counter()
    numbers = numbers_from(3)
    for seed in seeds:
        game = Game.start(rules, f"ck:{seed}")
        search = search_of(game.position)
        search.go_on(100_000, never)
        assert search.is_whole
        for after in islice(walk(game, numbers, 24), 0, None, 6):
            judge = search_plainly(after, Budget(positions=3000))
            if judge.kind != "unknown":
                bits, table = problem_of(after.tables).bits, state_of(after)
                proved = bool(loose.is_lost_loosely(bits, *table, search.facts, search.known))
                assert not proved or judge.kind == "lost", (seed, after.board())
                found[judge.kind, proved] += 1
    return found


def test_it_proves_nothing_that_brute_force_can_win() -> None:
    found: Counter[tuple[str, bool]] = Counter()
    for ranks, columns in ((4, 2), (5, 3)):
        rules = small(rules_of("yukon"), ranks, columns)
        assert rules is not None
        found += agree_by_brute_force(rules, range(25))
    assert found["winnable", False] >= 20
    assert found["lost", True] >= 10


@pytest.mark.slow
def test_it_proves_nothing_that_brute_force_can_win_in_any_game_it_is_for() -> None:
    found: Counter[tuple[str, bool]] = Counter()
    for one in library().variants():
        for level in one.levels:
            for ranks, columns in ((4, 2), (4, 3), (5, 3)):
                rules = small(level.rules, ranks, columns)
                if rules and problem_of(Game.start(rules, "ck:1").position.tables).ints[LOOSE]:
                    found += agree_by_brute_force(rules, range(100, 140))
    assert found["winnable", False] >= 200
    assert found["lost", True] >= 200


def test_it_proves_no_position_on_a_winning_line() -> None:
    looked = 0
    for number in range(1, 9):
        position = Game.start(rules_of("yukon"), f"ms:{number}").position
        for after in islice(replay(position, solve(position, Budget(positions=30_000)).line), 0, None, 3):
            looked += 1
            assert not is_proved(after, 300), after.board()
    assert looked > 100


def numbers_along_columns(position: Position) -> dict[int, int]:
    columns = position.piles[: position.tables.layout.columns]
    return {card & 63: number for number, card in enumerate(card for column in columns for card in column)}


def classes_after(facts: NDArray[np.uint64], dealt: int, home: int) -> set[tuple[int, int]]:
    """The tables of the looser game one move on."""
    moves = np.zeros(128, dtype=np.uint64)
    count = loose.list_moves(facts, np.uint64(dealt), np.uint64(home), moves)
    after = set()
    for move in moves[:count].tolist():
        bit = 1 << (move & 63)
        after.add((dealt & ~bit, home | bit if move >= 64 else home))
    return after


def test_every_move_of_a_game_is_one_of_the_looser_game_or_changes_nothing_there() -> None:
    numbers = numbers_from(7)
    played: Counter[str] = Counter()
    for rules in (rules_of("yukon"), rules_of("russian"), small(rules_of("yukon"), 6, 4)):
        assert rules is not None
        for seed in range(1, 13):
            game = Game.start(rules, f"ck:{seed}")
            game.looks_for_stuck = False
            position, names = game.position, game.position.tables.layout.names
            facts = loose.lay_out(*problem_of(position.tables), *state_of(position))
            number_of = numbers_along_columns(position)
            sets = facts[loose.SETS].tolist()
            dealt, home = sets[loose.ALL] & ~sets[loose.BUILT], 0
            for _ in range(300):
                if not (moves := game.legal()):
                    break
                move = moves[next(numbers) % len(moves)]
                assert isinstance(move, CardMove)
                source, target = position.piles[names.index(move.source)], names.index(move.target)
                card, goes_home = source[-move.n], target >= position.tables.layout.columns
                is_same_column = not goes_home and move.n == len(source) and not position.piles[target]
                game.act(move)
                if is_same_column:
                    continue
                bit = 1 << number_of[card]
                after = (dealt & ~bit, home | bit if goes_home else home)
                if after == (dealt, home):
                    played["between places"] += 1
                    continue
                assert after in classes_after(facts, dealt, home), (seed, str(move), position.board())
                dealt, home = after
                bits, table = problem_of(position.tables).bits, state_of(position)
                assert tuple(map(int, loose.table_of(bits, *table, facts))) == after
                played["home" if goes_home else "built"] += 1
    assert min(played["home"], played["built"], played["between places"]) >= 100


def test_it_settles_deals_that_the_search_of_single_tables_does_not() -> None:
    for number, kind in ((274, "lost"), (988, "lost"), (469, "winnable")):
        position = Game.start(rules_of("yukon"), f"ms:{number}").position
        assert is_proved(position, 250_000) == (kind == "lost")
        verdict = CompiledSearch(position, Budget(positions=60_000), loose=False).decide(restarts=0)
        assert verdict.kind == "unknown"
        assert solve(position, Budget(positions=600_000)).kind == kind


def test_a_search_may_be_gone_on_with_and_stays_within_its_memory() -> None:
    position = Game.start(rules_of("yukon"), "ms:988").position
    at_once, by_and_by = search_of(position), search_of(position)
    at_once.go_on(200_000, never)
    assert at_once.is_lost
    by_and_by.go_on(30_001, never)
    by_and_by.go_on(200_000, lambda: True)
    assert by_and_by.opened == 30_001, "told to stop"
    assert not by_and_by.is_whole
    by_and_by.go_on(200_000, never)
    assert by_and_by.is_lost
    assert by_and_by.opened == at_once.opened
    narrow = search_of(position, 1 << 20)
    narrow.go_on(200_000, never)
    assert not narrow.is_whole
    assert narrow.known.nbytes <= 1 << 20


def test_it_takes_no_part_where_its_argument_does_not_hold() -> None:
    for name, expected in (
        ("yukon", True),
        ("russian", True),
        ("yakutat-bay", False),
        ("yukon-cells", False),
        ("alaska", False),
        ("klondike", False),
    ):
        tables = Game.start(rules_of(name), "ck:1").position.tables
        assert bool(problem_of(tables).ints[LOOSE]) == expected, name
