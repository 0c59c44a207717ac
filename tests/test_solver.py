"""The solver: right, by the engine's word and by brute force; the same answer every time."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Literal

import numpy as np
import pytest
from msgspec.structs import replace
from numpy.typing import NDArray

from chilkoot.engine import Game
from chilkoot.engine.outcome import is_won
from chilkoot.engine.position import Position
from chilkoot.events import DRAW
from chilkoot.language.rules import DealPass, Goal, Rules
from chilkoot.solver import keys
from chilkoot.solver.chance import numbers_from
from chilkoot.solver.dead import is_dead, is_dead_by_turns, is_dead_step_by_step
from chilkoot.solver.plain import search_plainly
from chilkoot.solver.problem import FITS, KINGS, QUICK, START, problem_of, state_of, why_unsupported
from chilkoot.solver.solve import CompiledSearch, replay, solve
from chilkoot.solver.turns import BASES, FIRST_KING, FREE, HOME_FIRST
from chilkoot.solver.verdict import Budget
from variants import all_levels, fragment, library, rules_of

KPAT_POSITION = """
f1: AC 2C | f2: AD 2D | f3: AH | f4: AS 2S
t1: KC QD JC TH 9C 8H 7S 6D 5C 4H 3S 7H 6C
t2: <5D> 2H 5S 4D
t3: KS QH KD QC JH TC 9D 8C 7D 6S 5H 4S
t4: JS TD 9S 8D 7C
t5: QS
t6: <6H> <8S> <JD> 4C 3D TS 9H
t7: <3C> <KH> 3H
"""
"""Called unsolvable by a program that sends cards home by FreeCell's rule; the 2 of hearts still carries others."""


def small(rules: Rules, ranks: int, columns: int) -> Rules | None:
    """The same rules for a pack of the lowest ranks on few columns; None where they make no game of it."""
    columns_rules, foundations = rules.tableau[0], rules.foundations
    plain = (
        len(rules.tableau) == 1 and rules.deck.ranks == tuple(range(13)) and not rules.setup and foundations
    )
    if not plain or any(one.base != 0 for one in foundations) or why_unsupported(rules):
        return None
    deck = replace(rules.deck, packs=1, ranks=tuple(range(ranks)))
    empty = columns_rules.empty
    if empty.accepts == (12,):
        empty = replace(empty, accepts=(ranks - 1,))
    spare = columns if rules.stock.deal_to != "none" else 0
    reserve = 1 if rules.reserve.piles else 0
    rows: list[DealPass] = []
    left = deck.size() - spare - reserve
    while left > 0:
        width = min(columns, left)
        letter = (
            "D"
            if len(rows) == 0 and any("D" in one.picture for one in rules.deal) and left > columns
            else "U"
        )
        rows.append(DealPass(picture=letter * width + "." * (columns - width)))
        left -= width
    if reserve:
        rows.append(DealPass(zone="reserve", picture="U"))
    return replace(
        rules,
        deck=deck,
        deal=tuple(rows),
        tableau=(replace(columns_rules, columns=columns, empty=empty),),
        cells=replace(rules.cells, count=min(rules.cells.count, 1)),
        reserve=replace(rules.reserve, piles=reserve),
        foundations=tuple(
            replace(one, count=len(deck.suits), run=replace(one.run, length=ranks)) for one in foundations[:1]
        ),
        goal=Goal(),
    )


def agree_by_brute_force(
    name: str, level: int | None, seeds: range, *, ranks: int = 4, columns: int = 3
) -> Counter[str]:
    """Verdicts on small packs by the rules of a variant, each held against brute force."""
    rules = small(rules_of(name, level), ranks, columns)
    return Counter() if rules is None else verdicts_by_brute_force(rules, seeds)


def verdicts_by_brute_force(rules: Rules, seeds: range) -> Counter[str]:
    """Verdicts of the compiled search, each held against the plain one and against itself without its prunings."""
    kinds: Counter[str] = Counter()
    for seed in seeds:
        position = Game.start(rules, f"ck:{seed}").position
        judge = search_plainly(position, Budget(positions=3000))
        if judge.kind == "unknown":
            continue
        quick = CompiledSearch(position, Budget(positions=100_000)).decide()
        slow = CompiledSearch(position, Budget(positions=100_000), dead_test=False, swaps=False).decide()
        assert quick.kind == slow.kind == judge.kind, (seed, position.board())
        kinds[judge.kind] += 1
    return kinds


@pytest.mark.parametrize(("name", "level"), all_levels(every=100))
def test_verdicts_are_those_of_brute_force_on_small_packs(name: str, level: int | None) -> None:
    agree_by_brute_force(name, level, range(6))


def test_one_table_stands_for_all_that_differ_in_which_of_two_bases_a_card_lies_on() -> None:
    kinds: Counter[str] = Counter()
    for name in ("yukon", "yakutat-bay", "yukon-cells", "alaska"):
        kinds += agree_by_brute_force(name, None, range(12), columns=2)
    assert min(kinds["winnable"], kinds["lost"]) >= 5


@pytest.mark.slow
def test_verdicts_are_those_of_brute_force_where_columns_are_few_and_much_is_lost() -> None:
    kinds: Counter[str] = Counter()
    for one in library().variants():
        for level in one.levels:
            kinds += agree_by_brute_force(one.id, level.number, range(100, 120), columns=2)
    assert min(kinds["winnable"], kinds["lost"]) >= 400


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_verdicts_are_those_of_brute_force_on_five_thousand_small_deals(part: int) -> None:
    seeds = range(100 + 8 * part, 108 + 8 * part)
    kinds: Counter[str] = Counter()
    for one in library().variants():
        for level in one.levels:
            kinds += agree_by_brute_force(one.id, level.number, seeds)
    assert sum(kinds.values()) >= 1250
    assert min(kinds["winnable"], kinds["lost"]) >= 125


def test_the_position_that_a_known_solver_gets_wrong_is_winnable() -> None:
    position = Game.start(rules_of("yukon"), KPAT_POSITION).position
    verdict = solve(position, Budget(positions=100_000))
    assert verdict.kind == "winnable"
    assert is_won(list(replay(position, verdict.line))[-1])


@pytest.mark.parametrize(("name", "level"), all_levels(every=8))
def test_every_line_is_played_by_the_engine_to_a_win(name: str, level: int | None) -> None:
    rules = rules_of(name, level)
    for number in range(1, 4):
        position = Game.start(rules, f"ck:{number}").position
        verdict = solve(position, Budget(positions=1500))
        if verdict.kind == "winnable":
            assert is_won(list(replay(position, verdict.line))[-1])


def test_the_same_question_has_the_same_answer() -> None:
    for number in (1, 10, 64):
        position = Game.start(rules_of("yukon"), f"ms:{number}").position
        first, second = (solve(position, Budget(positions=20_000)) for _ in range(2))
        assert first == second


def test_a_budget_is_kept() -> None:
    verdict = solve(Game.start(rules_of("yukon"), "ms:91").position, Budget(positions=1000))
    assert verdict.kind == "unknown"
    assert verdict.positions <= 1000


def test_a_search_stays_within_its_memory() -> None:
    position = Game.start(rules_of("yukon"), "ms:91").position
    search = CompiledSearch(position, Budget(positions=60_000, memory=4 << 20))
    assert search.decide(restarts=0).kind == "unknown"
    nodes = search.nodes
    held = (nodes.keys, nodes.parents, nodes.moves, nodes.after, nodes.table, nodes.heads)
    assert 2 << 20 < sum(array.nbytes for array in held) <= 4 << 20


def test_a_lost_position_stays_lost_and_what_leads_to_a_win_is_never_lost() -> None:
    position = Game.start(rules_of("yukon"), "ms:3").position
    line = solve(position, Budget(positions=200_000)).line
    assert line
    for after in islice(replay(position, line), 0, None, 7):
        assert solve(after.copy(), Budget(positions=3000)).kind != "lost"
    lost = Game.start(rules_of("russian"), "ms:1")
    assert solve(lost.position).kind == "lost"
    for move in lost.legal():
        child = Game.start(rules_of("russian"), "ms:1")
        child.act(move)
        assert solve(child.position).kind == "lost", str(move)


def is_flagged(position: Position) -> bool:
    """Whether either dead test calls a position lost."""
    problem, (held, sizes) = problem_of(position.tables), state_of(position)
    facts = np.zeros((3, len(position.piles), position.rules.deck.size() + 1), dtype=np.int8)
    first = np.full(BASES, FREE, dtype=np.int64)
    worth = np.zeros(BASES, dtype=np.int64)
    return bool(
        is_dead(*problem, held, sizes, facts, first, np.uint64(0))
        or is_dead_by_turns(*problem, held, sizes, facts, first, worth, BASES)
    )


def test_dead_tests_never_flag_a_position_on_a_winning_line() -> None:
    flagged = looked = 0
    for name in ("yukon", "yakutat-bay", "yukon-cells", "alaska", "klondike", "freecell"):
        rules = rules_of(name)
        for number in range(1, 6):
            position = Game.start(rules, f"ms:{number}").position
            for after in replay(position, solve(position, Budget(positions=30_000)).line):
                looked += 1
                flagged += is_flagged(after)
    assert looked > 500
    assert flagged == 0


def turns_by_chance(position: Position, numbers: Iterator[int]) -> tuple[NDArray[np.int64], np.uint64]:
    """Some bases with the rider that comes first, as the argument about turns tries them."""
    ints, bits = problem_of(position.tables)
    first = np.full(BASES, FREE, dtype=np.int64)
    bound = 0
    for _ in range(next(numbers) % 4):
        base = next(numbers) % (FIRST_KING + 1)
        if base == FIRST_KING:
            riders = [card for card in range(52) if int(bits[START, 0]) >> card & 1] if ints[KINGS] else []
        else:
            riders = [card for card in range(52) if int(bits[FITS, base]) >> card & 1]
            riders += [HOME_FIRST] if riders else []
        if riders:
            first[base] = riders[next(numbers) % len(riders)]
            bound |= 1 << base
    return first, np.uint64(bound)


def test_the_quick_dead_test_says_what_the_one_for_all_rules_says() -> None:
    numbers = numbers_from(5)
    verdicts: Counter[bool] = Counter()
    for name, level in (("yukon", None), ("yakutat-bay", None), ("yukon-thicket", 1), ("alaska", None)):
        for rules in (rules_of(name, level), small(rules_of(name, level), 5, 4)):
            assert rules is not None
            for seed in range(6):
                game = Game.start(rules, f"ck:{seed}")
                game.looks_for_stuck = False
                for _ in range(50):
                    if not (moves := game.legal()):
                        break
                    game.act(moves[next(numbers) % len(moves)])
                    position = game.position
                    problem, (held, sizes) = problem_of(position.tables), state_of(position)
                    assert problem.ints[QUICK]
                    facts = np.zeros((3, len(position.piles), rules.deck.size()), dtype=np.int8)
                    first, bound = turns_by_chance(position, numbers)
                    quick = bool(is_dead(*problem, held, sizes, facts, first, bound))
                    assert quick == is_dead_step_by_step(*problem, held, sizes, facts, first, bound)
                    verdicts[quick] += 1
    assert min(verdicts[True], verdicts[False]) >= 50


def test_dead_tests_know_what_each_group_of_columns_lets_be_built() -> None:
    rules = small(rules_of("freecell"), 5, 3)
    assert rules is not None
    strict = replace(rules.tableau[0], columns=1)
    loose = replace(strict, columns=2, build=replace(strict.build, suit="any"))
    rules = replace(rules, tableau=(strict, loose), cells=replace(rules.cells, count=0))
    for board in (
        "t1: 4S 5S 5D 4H 3D 5C 2D | t2: 4C 3S 5H 2C 3C 4D | t3: AD 2H AC 2S 3H AH | f4: AS",
        "t1: 3S AH 2S AC AS 3D 3C | t2: 4D 5C 4S 5S 5H 4C 2D | t3: 3H 4H 5D 2C 2H | f2: AD",
    ):
        position = Game.start(rules, board).position
        line = search_plainly(position, Budget(positions=3000)).line
        assert line
        assert not any(is_flagged(after) for after in replay(position, line))


def test_what_a_dead_test_found_out_about_one_table_says_nothing_about_another() -> None:
    one = """t1: KH QS JD | t2: <TH> 6C | t3: <QC> <2C> 7H 4C 3D | t4: <AS> <TD> <6S> 6D 9H JC
        t5: <KD> <TS> <QD> 9C 8H 7S JH TC 9D 8C 8D 9S 4D 5S 4H 3C | t6: <5C> <5D> <8S> <7C> <6H> 2D 7D 3S 2H KC 4S 3H 2S
        t7: <5H> <AD> <AH> KS QH JS | f1: AC"""
    other = re.sub("[CDHS](?=[ >\n]|$)", lambda suit: "SHDC"["CDHS".index(suit[0])], one).replace("f1", "f4")
    first = np.full(BASES, FREE, dtype=np.int64)
    worth = np.zeros(BASES, dtype=np.int64)
    facts = np.zeros((3, 11, 53), dtype=np.int8)
    flagged = []
    for board in (one, other):
        position = Game.start(rules_of("yukon"), board).position
        problem, (held, sizes) = problem_of(position.tables), state_of(position)
        flagged.append(bool(is_dead(*problem, held, sizes, facts, first, np.uint64(0))))
        is_dead_by_turns(*problem, held, sizes, facts, first, worth, BASES)
    assert flagged == [False, False], "they are the same but for the names of the suits"


@pytest.mark.parametrize(
    ("name", "auto"),
    (("klondike", "safe"), ("klondike-draw-3", "always"), ("yukon", "always"), ("yakutat-bay", "safe")),
)
def test_verdicts_are_right_where_cards_go_home_by_themselves(
    name: str, auto: Literal["safe", "always"]
) -> None:
    rules = small(rules_of(name), 4, 3)
    assert rules is not None
    rules = replace(rules, foundations=tuple(replace(one, auto=auto) for one in rules.foundations))
    assert verdicts_by_brute_force(rules, range(10))["winnable"] >= 2


@pytest.mark.parametrize("unit", ("top_or_whole", "whole"))
def test_verdicts_are_right_where_part_of_the_next_column_fills_an_empty_one(
    unit: Literal["top_or_whole", "whole"],
) -> None:
    rules = small(rules_of("yukon"), 4, 3)
    assert rules is not None
    columns = rules.tableau[0]
    empty = replace(columns.empty, auto_fill="next_column")
    rules = replace(rules, tableau=(replace(columns, group=replace(columns.group, unit=unit), empty=empty),))
    assert verdicts_by_brute_force(rules, range(10)).total() >= 5


def test_in_two_packs_a_safe_card_may_have_to_wait_for_its_twin() -> None:
    rules = small(rules_of("freecell"), 5, 4)
    assert rules is not None
    rules = replace(
        rules,
        deck=replace(rules.deck, packs=2, suits="CD"),
        cells=replace(rules.cells, count=0),
        tableau=(replace(rules.tableau[0], empty=replace(rules.tableau[0].empty, accepts=(4,))),),
    )
    board = "t1: <3C> AD 5C AC 3C | t2: <5C> 4D 3D 2C 4D | t3: <2C> 4C AC 3D 2D | t4: <5D> 4C 5D AD 2D"
    position = Game.start(rules, board).position
    assert search_plainly(position, Budget(positions=3000)).kind == "winnable"
    assert solve(position, Budget(positions=100_000)).kind == "winnable"


def test_a_state_reads_back_from_its_key() -> None:
    position = Game.start(rules_of("yukon-cells"), "ms:5").position
    problem, (held, sizes) = problem_of(position.tables), state_of(position)
    words = keys.words_of(len(position.piles), 52)
    octets = np.zeros(8 * words, dtype=np.uint8)
    order = np.zeros(len(position.piles), dtype=np.int64)
    keys.pack(problem.ints, held, sizes, octets, order)
    again, sizes_again = held.copy(), sizes.copy()
    keys.unpack(problem.ints, octets.view(np.uint64), again, sizes_again)
    columns = {tuple(again[pile, : sizes_again[pile]]) for pile in range(7)}
    assert columns == {tuple(held[pile, : sizes[pile]]) for pile in range(7)}


def test_rules_that_the_compiled_search_does_not_know_are_searched_with_the_engine() -> None:
    unknown = [one.id for one in library().variants() if why_unsupported(one.levels[0].rules)]
    assert unknown
    position = Game.start(rules_of(unknown[0]), "ck:1").position
    assert solve(position, Budget(positions=20)).positions <= 20
    game = fragment("yukon", "t1: 2C AC | t2: AD")
    assert search_plainly(game.position, Budget(positions=100)).kind == "lost", "fifty cards are nowhere"


def test_spider_in_four_suits_is_won_from_deal_to_deal_of_the_stock() -> None:
    position = Game.start(rules_of("spider"), "ms:4").position
    verdict = solve(position, Budget(positions=400_000))
    assert verdict.kind == "winnable"
    assert sum(action == DRAW for action in verdict.line) == 5


@pytest.mark.parametrize(
    ("name", "level", "deal"), (("yukon-thicket", 1, "ms:783"), ("freecell", None, "ms:454"))
)
def test_longer_runs_win_what_short_ones_leave_open(name: str, level: int | None, deal: str) -> None:
    verdict = solve(Game.start(rules_of(name, level), deal).position, Budget(positions=300_000))
    assert verdict.kind == "winnable"
    assert verdict.positions < 150_000
