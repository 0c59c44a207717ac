"""`chilkoot solve`: deals to the solver, verdicts out; and how many deals are asked at once, by an executor of the user's choice."""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    wait,
)
from functools import partial
from itertools import islice
from multiprocessing import get_context
from typing import Final

from chilkoot.cli.compiling import make_ready_to_search
from chilkoot.cli.faults import ERRORS, USAGE, CommandFailed
from chilkoot.cli.json_lines import print_json
from chilkoot.cli.variants import find_level
from chilkoot.engine import DealError, normal_deal
from chilkoot.language.rules import canonical_text
from chilkoot.solver.survey import Answer, Question, answer_to
from chilkoot.solver.verdict import Difficulty

__all__ = ["answers", "asked_by", "solve"]

_RANGE: Final = re.compile(r"(ck|ms):([0-9]{1,20})-([0-9]{1,20})")
_MOST_DEALS: Final = 10_000_000
_AHEAD: Final = 4
"""Questions a worker has waiting, so that it is never idle for want of one."""

Ask = Callable[[Question], Answer]


def solve(flags: argparse.Namespace) -> int:
    """Say of each deal whether it is winnable, with a line; lost, which is proved; or unknown within the budget."""
    make_ready_to_search()
    _, level = find_level(flags.variant, flags.level, flags.rules)
    rules = canonical_text(level.rules)
    questions = (
        Question(
            rules,
            deal,
            flags.positions,
            flags.memory << 20,
            short=not flags.as_found,
            difficulty=flags.difficulty,
        )
        for deal in _deals(flags.deals)
    )
    for answer in asked_by(flags, questions, seconds=flags.seconds):
        if flags.json:
            more = {} if answer.difficulty is None else {"difficulty": answer.difficulty}
            print_json(
                deal=answer.deal,
                verdict=answer.kind,
                positions=answer.positions,
                line=list(answer.line),
                **more,
            )
            continue
        actions = f", {len(answer.line)} actions" if answer.line else ""
        print(f"{answer.deal}: {answer.kind} ({answer.positions} positions{actions})")
        if answer.difficulty is not None:
            print(f"  {_told(answer.difficulty)}")
        if answer.line:
            print("  " + ", ".join(answer.line))
    return 0


def _told(found: Difficulty) -> str:
    runs = "the first run" if found.runs == 1 else f"run {found.runs}"
    return (
        f"difficulty {found.level} of 5: won in {runs} of the search; of the other moves along the line {found.losing} "
        f"of {found.tried} lose, {found.forced} of {found.known} places have no other move; "
        f"{found.branching} moves to choose from"
    )


def _deals(words: Iterable[str]) -> Iterator[str]:
    """The deals that the words name, ranges as ms:1-1000 in order."""
    for word in words:
        match = _RANGE.fullmatch(word)
        try:
            if match is None:
                yield normal_deal(word)
                continue
            first, last = int(match[2]), int(match[3])
            if last < first or last - first >= _MOST_DEALS:
                raise CommandFailed(
                    f"{word}: a range goes from a number to a higher one, by {_MOST_DEALS} at most", USAGE
                )
            normal_deal(f"{match[1]}:{last}")
            for number in range(first, last + 1):
                yield normal_deal(f"{match[1]}:{number}")
        except DealError as error:
            raise CommandFailed(f"{word}: {error.message}", USAGE) from None


def asked_by(
    flags: argparse.Namespace, questions: Iterator[Question], *, seconds: float | None = None
) -> Iterator[Answer]:
    """The answers to questions in their order, by the processes or the cluster that the flags name."""
    ask: Ask = answer_to if seconds is None else partial(_answer_in_time, seconds=seconds)
    if flags.jobs == 1 and flags.executor is None:
        yield from map(ask, questions)
        return
    executor, workers = _executor(flags.jobs, flags.executor)
    with executor:
        try:
            yield from answers(questions, ask, executor, at_once=_AHEAD * workers)
        except BrokenExecutor:
            raise CommandFailed(
                "a process that searched was ended by the system, for want of memory perhaps: try fewer --jobs or less --memory",
                ERRORS,
            ) from None


def answers(questions: Iterator[Question], ask: Ask, executor: Executor, *, at_once: int) -> Iterator[Answer]:
    """The answers in the order of the questions, of which so many are with the executor at a time, whichever it is."""
    waiting: dict[Future[Answer], int] = {}
    done: dict[int, Answer] = {}
    asked = given = 0
    while True:
        for question in islice(questions, max(at_once - len(waiting), 0)):
            waiting[executor.submit(ask, question)] = asked
            asked += 1
        if not waiting:
            return
        for future in wait(waiting, return_when=FIRST_COMPLETED).done:
            done[waiting.pop(future)] = future.result()
        while given in done:
            yield done.pop(given)
            given += 1


def _answer_in_time(question: Question, *, seconds: float) -> Answer:
    """Search with a wall limit besides the budget: the verdict then depends on the machine."""
    end = time.monotonic() + seconds
    return answer_to(question, lambda: time.monotonic() > end)


def _executor(jobs: int, address: str | None) -> tuple[Executor, int]:
    """An executor, and how many questions it answers at a time."""
    if address is None:
        return ProcessPoolExecutor(max_workers=jobs, mp_context=get_context("spawn")), jobs
    if not address.startswith("dask://"):
        raise CommandFailed(f"--executor {address}: write dask://HOST:PORT", USAGE)
    try:
        from distributed import Client  # noqa: PLC0415 - there only for those who installed it
    except ImportError:
        raise CommandFailed("--executor dask://…: install the package distributed first", USAGE) from None
    try:
        client = Client("tcp://" + address.removeprefix("dask://"))
    except OSError as error:
        raise CommandFailed(f"--executor {address}: no scheduler answers there ({error})", USAGE) from None
    return client.get_executor(), max(jobs, sum(client.ncores().values()))
