"""Deciding a position with all cards known: won with a line, lost with a proof, or not decided within the budget.

A portfolio after the observation that run time is heavy-tailed: short best-first runs with weights from a fixed list, runs of
stages between them where a stock is dealt onto the columns, a looser game that may prove a loss, then one complete run. The budget counts positions opened, so the same question has the same answer on every machine; a wall limit
or a cancel comes in as ``stop``, asked between chunks. Every line is replayed by the engine before it is returned.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Final

import numpy as np
from msgspec import structs

from chilkoot.engine.deal import Dealt
from chilkoot.engine.outcome import is_won
from chilkoot.engine.play import play_draw, play_move
from chilkoot.engine.position import Position
from chilkoot.engine.refusals import can_draw, resolve, why_not
from chilkoot.events import DRAW, Action, CardMove
from chilkoot.solver import kernel, stages
from chilkoot.solver.chance import numbers_from
from chilkoot.solver.compiled import Ints
from chilkoot.solver.loose import LooseSearch
from chilkoot.solver.plain import search_plainly
from chilkoot.solver.problem import (
    DEAL_TO,
    FORCE_SAFE,
    GIVES,
    LOOSE,
    MACRO_DRAW,
    PASSES,
    RETURNS,
    STOCK,
    SWAPS,
    WASTE,
    Problem,
    problem_of,
    state_of,
    why_unsupported,
)
from chilkoot.solver.problem import DRAW as DRAW_BY
from chilkoot.solver.turns import BASES
from chilkoot.solver.verdict import Budget, Verdict

__all__ = ["CompiledSearch", "replay", "solve"]

RESTARTS: Final = 60
RESTART_POSITIONS: Final = 600
CHEAP_RESTARTS: Final = 20
PLAIN_RESTARTS: Final = 3
FIRST_LOOSE_POSITIONS: Final = 10_000
"""Tables of the looser game that are opened after the cheap restarts, if it isn't won before."""
LOOSE_POSITIONS: Final = (250_000, 1_000_000, 4_000_000)
"""Tables of the looser game that are opened in all, by and by where it can be won, before short runs that leave out what is lost there."""
GUIDED_RESTARTS: Final = 40
"""Such short runs each time."""
LONG_RUNS: Final = 5
LONG_POSITIONS: Final = 20_000
"""Runs of so many positions before the complete one, where nothing better is known and the budget is more than twice that."""
KEEPING_POSITIONS: Final = 300_000
"""Positions for a win in which foundations keep what they have, where the budget is more than twice that."""
CHUNK: Final = 2000
STAGE_POSITIONS: Final = 3000
LAST_STAGE_POSITIONS: Final = 10_000
DEALT_AT: Final = 200
"""Of the tables of a stage, those at which the stock is dealt."""

_FIRST_NODES: Final = 1 << 14
_NOTHING_LOOSE: Final = np.zeros((5, 64), dtype=np.uint64), np.zeros((0, 2), dtype=np.uint64)
_MOST_STAGED: Final = 1 << 19


def solve(position: Position, budget: Budget | None = None) -> Verdict:
    """Decide a position: by the compiled search where it knows the rules, else by the plain one.

    A line ends where the game is won; every action of it was played by the engine.
    """
    given = budget or Budget()
    if why_unsupported(position.rules) is not None:
        return search_plainly(position, given)
    return CompiledSearch(position, given).decide()


_SPANS: Final = ((4, 14), (1, 8), (1, 8), (0, 6), (0, 16), (0, 8), (0, 8))
_FIRST: Final = (8, 3, 4, 2, 6, 3, 3)

_STAGE_SPANS: Final = ((8, 14), (4, 12), (9, 16), (0, 5), (0, 20), (0, 6), (0, 4), (0, 3))
_STAGE_FIRST: Final = (10, 9, 11, 3, 14, 3, 4, 3)


def _weights(first: tuple[int, ...] = _FIRST, spans: tuple[tuple[int, int], ...] = _SPANS) -> Iterator[Ints]:
    """Weights for run after run: the same list for every deal."""
    yield np.array(first, dtype=np.int64)
    numbers = numbers_from(0x1F2E3D4C5B6A7988)
    while True:
        drawn = [low + next(numbers) % (high - low + 1) for low, high in spans]
        yield np.array(drawn, dtype=np.int64)


class _Nodes:
    """The nodes of one run in growing arrays."""

    def __init__(self, words: int, room: int) -> None:
        self.words = words
        self.keys = np.empty((room, words), dtype=np.uint64)
        self.parents = np.empty(room, dtype=np.int32)
        self.moves = np.empty(room, dtype=np.int64)
        self.after = np.empty(room, dtype=np.int32)
        self.table = np.full(_table_size(room), -1, dtype=np.int32)
        self.heads = np.full(kernel.BUCKETS, -1, dtype=np.int32)
        self.state = np.zeros(7, dtype=np.int64)

    @staticmethod
    def bytes_per_node(words: int) -> int:
        """What a node takes at most: its share of the table, and of what is held twice while the keys grow, included."""
        return 12 * words + 4 + 8 + 4 + 16

    def clear(self) -> None:
        """Begin again in the same arrays."""
        self.table.fill(-1)
        self.heads.fill(-1)
        self.state.fill(0)

    def grow(self, room: int) -> None:
        """Make room for more nodes, keeping those there are."""
        count = int(self.state[0])
        for name in ("keys", "parents", "moves", "after"):
            old = getattr(self, name)
            new = np.empty((room, *old.shape[1:]), dtype=old.dtype)
            new[:count] = old[:count]
            setattr(self, name, new)
        self.table = np.full(_table_size(room), -1, dtype=np.int32)
        kernel.refill(self.keys, self.table, count)


def _without(problem: Problem, *prunings: int) -> Problem:
    """The same rules for a search that does not leave out so much."""
    ints = problem.ints.copy()
    ints[list(prunings)] = 0
    return problem._replace(ints=ints)


def _table_size(room: int) -> int:
    return 1 << (2 * room - 1).bit_length()


class CompiledSearch:
    """One question: the root, the budget, and what was used of it."""

    def __init__(
        self,
        position: Position,
        budget: Budget,
        *,
        dead_test: bool = True,
        swaps: bool = True,
        loose: bool = True,
    ) -> None:
        self.position = position
        self.budget = budget
        self.dead_test = dead_test
        # Three readings of the rules: one table at a time, a class of them, and one by which nothing left is a proof.
        self.problem = problem_of(position.tables)
        self.plain = _without(self.problem, SWAPS, GIVES)
        if not swaps:
            self.problem = self.plain
        self.exact = self.problem
        if self.problem.ints[FORCE_SAFE] == 1:
            self.exact = _without(self.problem, FORCE_SAFE)
        self.held, self.sizes = state_of(position)
        self.used = 0
        self.loose = loose and bool(self.problem.ints[LOOSE])
        self.lost_loosely = _NOTHING_LOOSE
        self.worth = np.zeros(BASES, dtype=np.int64)
        words = kernel.words_of(len(position.piles), position.rules.deck.size())
        self.most_nodes = max(budget.memory // _Nodes.bytes_per_node(words), 1024)
        self.nodes = _Nodes(words, min(_FIRST_NODES, self.most_nodes))
        stock = self.problem.ints[STOCK]
        self.has_stages = stock >= 0 and self.problem.ints[DEAL_TO] in (2, 3) and self.sizes[stock] > 0

    def decide(self, restarts: int = RESTARTS, positions: int = RESTART_POSITIONS) -> Verdict:
        """So many short runs of so many positions, then the complete one with what is left of the budget.

        Runs of stages may use a third of it: they prove nothing.
        """
        weights = _weights()
        first = next(weights)
        stage_weights = _weights(_STAGE_FIRST, _STAGE_SPANS)
        loose = (
            LooseSearch(self.problem, self.held, self.sizes, self.budget.memory)
            if self.loose and restarts > CHEAP_RESTARTS
            else None
        )
        for number in range(restarts):
            if number == CHEAP_RESTARTS and loose and self._is_lost_loosely(loose, FIRST_LOOSE_POSITIONS, 0):
                return Verdict("lost", self.used, runs=number)
            every = kernel.NEVER if number < CHEAP_RESTARTS else 16
            # One table at a time is quicker where a deal is easy, a class of them where it is hard.
            problem = self.plain if number < PLAIN_RESTARTS else self.problem
            verdict = self._run(problem, first if number == 0 else next(weights), positions, every)
            if verdict is not None:
                return replace(verdict, runs=number + 1)
            if self._is_spent():
                return Verdict("unknown", self.used, runs=number + 1)
            if self.has_stages and self.used < self.budget.positions // 3:
                verdict = self._run_in_stages(next(stage_weights))
                if verdict is not None:
                    return replace(verdict, runs=number + 1)
        for most_if_won in LOOSE_POSITIONS:
            if loose is None or loose.is_over:
                break
            if self._is_lost_loosely(loose, LOOSE_POSITIONS[-1], most_if_won):
                return Verdict("lost", self.used, runs=restarts)
            if verdict := self._decide_by(islice(weights, GUIDED_RESTARTS), positions, 16, restarts):
                return verdict
            restarts += GUIDED_RESTARTS
        if restarts > CHEAP_RESTARTS:
            if line := self._line_that_takes_nothing_back():
                return Verdict("winnable", self.used, line, runs=restarts)
            longer = self._long_runs()
            if verdict := self._decide_by(islice(_weights(), longer), LONG_POSITIONS, kernel.NEVER, restarts):
                return verdict
            restarts += longer
        complete = self._run(self.exact, first, None, 16)
        return replace(complete or Verdict("unknown", self.used), runs=restarts + 1)

    def _decide_by(self, weights: Iterable[Ints], positions: int, every: int, runs: int) -> Verdict | None:
        """A run of so many positions with each of the weights, `runs` having been made; None where they end without a verdict."""
        for number, one in enumerate(weights, runs + 1):
            verdict = self._run(self.problem, one, positions, every)
            if verdict is not None:
                return replace(verdict, runs=number)
            if self._is_spent():
                return Verdict("unknown", self.used, runs=number)
        return None

    def lines(self, runs: int, positions: int = RESTART_POSITIONS) -> Iterator[tuple[Action, ...]]:
        """The winning lines that so many short runs find, each run with weights of its own."""
        for weights in islice(_weights(), runs):
            if self._is_spent():
                return
            verdict = self._run(self.plain, weights, positions, kernel.NEVER)
            if verdict is not None and verdict.kind == "winnable":
                yield verdict.line

    def _is_lost_loosely(self, loose: LooseSearch, most: int, most_if_won: int) -> bool:
        """Whether the looser game shows that the position is lost. It may use half of what is left: it finds no win."""
        opened = loose.opened
        most = min(most, opened + (self.budget.positions - self.used) // 2)
        here = opened
        while True:
            end = min(most, most_if_won) if loose.is_won else most
            loose.go_on(min(end - here, CHUNK), self.budget.stop)
            if loose.opened == here:
                break
            here = loose.opened
        self.used += here - opened
        self.lost_loosely = loose.facts, loose.known
        room = self.budget.memory - loose.known.nbytes
        self.most_nodes = max(room // _Nodes.bytes_per_node(self.nodes.words), len(self.nodes.keys))
        return loose.is_lost

    def _long_runs(self) -> int:
        """How many longer runs come before the complete one: none where classes, stages or the looser game lead further."""
        if self.loose or self.has_stages or self.problem.ints[GIVES]:
            return 0
        return LONG_RUNS if self.budget.positions - self.used >= 2 * LONG_RUNS * LONG_POSITIONS else 0

    def _line_that_takes_nothing_back(self) -> tuple[Action, ...]:
        """A line that wins though foundations keep what they have, if one is soon found; empty where none is.

        For such games there is the looser game. That they are lost proves nothing here.
        """
        rules = self.position.rules
        if not self.problem.ints[RETURNS] or self.budget.positions - self.used < 2 * KEEPING_POSITIONS:
            return ()
        keeping = tuple(structs.replace(pile, returns="never") for pile in rules.foundations)
        dealt = Dealt(self.position.piles, self.position.base, self.position.key, "")
        position = Position(structs.replace(rules, foundations=keeping), dealt, turn=self.position.turn)
        budget = Budget(KEEPING_POSITIONS, self.budget.memory, self.budget.stop)
        search = CompiledSearch(position, budget, dead_test=self.dead_test)
        if not search.loose:
            return ()
        line = search.decide().line
        self.used += search.used
        return _checked(self.position, list(line)) if line else ()

    def _is_spent(self) -> bool:
        return self.used >= self.budget.positions or self.budget.stop()

    def _run(self, problem: Problem, weights: Ints, positions: int | None, every: int) -> Verdict | None:
        """One run of at most so many positions; None where it ends without a verdict."""
        nodes = self.nodes
        nodes.clear()
        most = self.budget.positions - self.used
        most = most if positions is None else min(positions, most)
        while True:
            opened = int(nodes.state[2])
            code = kernel.run(
                *problem, self.held, self.sizes, weights, nodes.keys, nodes.parents, nodes.moves, nodes.after,
                nodes.heads, nodes.table, nodes.state, self.worth, *self.lost_loosely, min(CHUNK, most - opened),
                every if self.dead_test else 0,
            )  # fmt: skip
            self.used += int(nodes.state[2]) - opened
            if code == kernel.WON:
                return Verdict("winnable", self.used, self._line(problem, int(nodes.state[3])))
            if code == kernel.EXHAUSTED:
                proves = problem.ints[FORCE_SAFE] != 1 and not nodes.state[6]
                return Verdict("lost", self.used) if proves else None
            if code == kernel.FULL:
                if len(nodes.keys) >= self.most_nodes or self.budget.stop():
                    return None
                nodes.grow(min(2 * len(nodes.keys), self.most_nodes))
            elif nodes.state[2] >= most or self.budget.stop():
                return None

    def _run_in_stages(self, weights: Ints) -> Verdict | None:
        """One run from deal to deal of the stock; None where it finds no win."""
        nodes = self.nodes
        nodes.clear()
        if len(nodes.keys) < (room := min(self.most_nodes, _MOST_STAGED)):
            nodes.grow(room)
        state, scores = nodes.state, np.zeros(len(nodes.keys), dtype=np.int64)
        given = (*self.plain, self.held, self.sizes, weights, nodes.keys, nodes.parents, nodes.moves)
        stages.begin(*given, nodes.table, state, scores)
        start, end = 0, 1
        while not self._is_spent():
            offset = stages.line_up(scores, nodes.after, nodes.heads, state, start, end)
            last_stage = not self._stock_of(start)
            left = LAST_STAGE_POSITIONS if last_stage else STAGE_POSITIONS
            code = stages.CONTINUE
            while code == stages.CONTINUE and left > 0 and not self._is_spent():
                opened = int(state[2])
                code = stages.explore(
                    *given, nodes.after, nodes.heads, nodes.table, state, scores,
                    min(CHUNK, left, self.budget.positions - self.used), offset,
                )  # fmt: skip
                self.used += int(state[2]) - opened
                left -= int(state[2]) - opened
            if code == stages.WON:
                return Verdict("winnable", self.used, self._line(self.plain, int(state[3])))
            if last_stage or code == stages.FULL:
                return None
            seen = int(state[0])
            chosen = start + np.argsort(scores[start:seen], kind="stable")
            made = stages.deal_on(*given, nodes.table, state, scores, chosen, DEALT_AT)
            if state[3]:
                return Verdict("winnable", self.used, self._line(self.plain, int(state[3])))
            if not made:
                return None
            start, end = seen, seen + made
        return None

    def _stock_of(self, node: int) -> int:
        """How many cards the stock has at a node."""
        return int(self.nodes.keys[node].view(np.uint8)[self.problem.ints[STOCK]])

    def _line(self, problem: Problem, goal: int) -> tuple[Action, ...]:
        nodes = self.nodes
        line = np.zeros(5000, dtype=np.int64)
        length = kernel.line_of(
            *problem, self.held, self.sizes, nodes.keys, nodes.parents, nodes.moves, goal, line
        )
        names = self.position.tables.layout.names
        actions: list[Action] = []
        for move in line[:length].tolist():
            source, n, target = (move >> 18) & 63, (move >> 9) & 511, move & 511
            actions.append(DRAW if source == kernel.DRAW_ONLY else CardMove(names[source], n, names[target]))
        return _checked(self.position, self._with_fewer_draws(actions))

    def _with_fewer_draws(self, actions: list[Action]) -> list[Action]:
        """A line in which the stock isn't turned till it stands where it stood, no card taken."""
        ints = self.problem.ints
        if not ints[MACRO_DRAW] or ints[PASSES] >= 0:
            return actions
        waste = self.position.tables.layout.names[ints[WASTE]]
        shown = int(self.sizes[ints[WASTE]])
        left = shown + int(self.sizes[ints[STOCK]])
        kept: list[Action] = []
        stood = [shown]
        for action in actions:
            if action != DRAW:
                kept.append(action)
                if isinstance(action, CardMove) and action.source == waste:
                    shown, left = shown - 1, left - 1
                stood = [shown]
                continue
            shown = 0 if shown == left else min(shown + int(ints[DRAW_BY]), left)
            if shown in stood:
                back = stood.index(shown) + 1
                del kept[len(kept) - (len(stood) - back) :]
                del stood[back:]
            else:
                kept.append(action)
                stood.append(shown)
        return kept


def replay(position: Position, actions: Iterable[Action]) -> Iterator[Position]:
    """Play a line by the engine's rules, yielding the position after each action (one object, changed in place).

    Raises AssertionError where the engine refuses an action: no line that it refuses may reach anyone.
    """
    position = position.copy()
    for action in actions:
        if isinstance(action, CardMove):
            move = resolve(position, action)
            if move is None:
                raise AssertionError(f"the engine refuses {action}: {why_not(position, action)}")
            play_move(position, move, [])
        elif action == DRAW and can_draw(position):
            play_draw(position, [])
        else:
            raise AssertionError(f"the engine refuses {action}")
        yield position


def _checked(position: Position, actions: list[Action]) -> tuple[Action, ...]:
    """A line as the engine plays it, ended where the game is won."""
    for count, after in enumerate(replay(position, actions), start=1):
        if is_won(after):
            return tuple(actions[:count])
    if is_won(position):
        return ()
    raise AssertionError("a solver's line does not win")
