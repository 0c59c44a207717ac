"""`chilkoot solve` and `survey`: deals to the solver, verdicts out, with progress and an executor of the user's choice."""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from functools import partial
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final

import msgspec

from chilkoot.cli.faults import ERRORS, USAGE, CommandFailed
from chilkoot.cli.variants import find_level
from chilkoot.data import keep_compiled_solver
from chilkoot.engine import DealError, normal_deal
from chilkoot.language.rules import canonical_text
from chilkoot.solver.survey import Answer, Question, Survey, answer_to
from chilkoot.solver.verdict import Budget

__all__ = ["solve", "survey"]

_RANGE: Final = re.compile(r"(ck|ms):([0-9]{1,20})-([0-9]{1,20})")
_MOST_DEALS: Final = 10_000_000


def solve(flags: argparse.Namespace) -> int:
    """Say of each deal whether it is winnable, with a line; lost, which is proved; or unknown within the budget."""
    keep_compiled_solver()
    _, level = find_level(flags.variant, flags.level, flags.rules)
    rules = canonical_text(level.rules)
    questions = (Question(rules, deal, flags.positions, flags.memory << 20) for deal in _deals(flags.deals))
    for answer in _answers(questions, flags.jobs, flags.seconds, flags.executor):
        if flags.json:
            _print_json(
                deal=answer.deal, verdict=answer.kind, positions=answer.positions, line=list(answer.line)
            )
            continue
        actions = f", {len(answer.line)} actions" if answer.line else ""
        print(f"{answer.deal}: {answer.kind} ({answer.positions} positions{actions})")
        if answer.line:
            print("  " + ", ".join(answer.line))
    return 0


def survey(flags: argparse.Namespace) -> int:
    """Ask the deals ck:1 … ck:N and say what share of all deals is winnable."""
    keep_compiled_solver()
    variant, level = find_level(flags.variant, flags.level, flags.rules)
    rules = canonical_text(level.rules)
    known = _resumed(flags.resume, level.hash, flags.positions)
    counts, positions, lengths = Survey(), [], []
    questions = (
        Question(rules, f"ck:{number}", flags.positions, flags.memory << 20)
        for number in range(1, flags.n + 1)
        if f"ck:{number}" not in known
    )
    wanted = {f"ck:{number}" for number in range(1, flags.n + 1)}
    old = (answer for deal, answer in known.items() if deal in wanted)
    for answer in _chain(
        old, _kept(_answers(questions, flags.jobs, None, flags.executor), flags, level.hash)
    ):
        counts = counts.with_answer(answer)
        positions.append(answer.positions)
        if answer.line:
            lengths.append(len(answer.line))
        _show_progress(counts, flags.n)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    _report(flags, variant.id, level.number, counts, positions, lengths)
    return 0


def _report(
    flags: argparse.Namespace,
    variant: str,
    level: int | None,
    counts: Survey,
    positions: list[int],
    lengths: list[int],
) -> None:
    low, high = counts.winnability()
    middle = sorted(positions)[len(positions) // 2] if positions else 0
    moves = sorted(lengths)[len(lengths) // 2] if lengths else None
    if flags.json:
        _print_json(
            variant=variant, level=level, deals=counts.deals, winnable=counts.winnable, lost=counts.lost,
            unknown=counts.unknown, low=round(low, 4), high=round(high, 4), median_positions=middle,
            median_actions=moves, positions=flags.positions,
        )  # fmt: skip
        return
    name = variant if level is None else f"{variant}, level {level}"
    print(
        f"{name}: of {counts.deals} deals {counts.winnable} are winnable, {counts.lost} lost (proved), ",
        end="",
    )
    print(f"{counts.unknown} not decided within {flags.positions} positions each.")
    print(f"Between {100 * low:.1f} % and {100 * high:.1f} % of all deals are winnable (95 % interval).")
    if moves is not None:
        print(
            f"Half of the deals took at most {middle} positions; half of the lines have at most {moves} actions."
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


def _answers(
    questions: Iterator[Question], jobs: int, seconds: float | None, address: str | None
) -> Iterator[Answer]:
    """The answers in the order of the questions."""
    ask: Callable[[Question], Answer] = (
        answer_to if seconds is None else partial(_answer_in_time, seconds=seconds)
    )
    if jobs == 1 and address is None:
        yield from map(ask, questions)
        return
    with _executor(jobs, address) as executor:
        waiting: dict[Future[Answer], int] = {}
        done: dict[int, Answer] = {}
        asked = given = 0
        while True:
            for question in islice(questions, max(4 * jobs - len(waiting), 0)):
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
    stop = Budget(question.positions, question.memory, lambda: time.monotonic() > end)
    return answer_to(question, stop)


def _executor(jobs: int, address: str | None) -> Executor:
    if address is None:
        return ProcessPoolExecutor(max_workers=jobs, mp_context=get_context("spawn"))
    if not address.startswith("dask://"):
        raise CommandFailed(f"--executor {address}: write dask://HOST:PORT", USAGE)
    try:
        from distributed import Client  # noqa: PLC0415 - there only for those who installed it
    except ImportError:
        raise CommandFailed("--executor dask://…: install the package distributed first", USAGE) from None
    executor: Executor = Client("tcp://" + address.removeprefix("dask://")).get_executor()
    return executor


class _Kept(msgspec.Struct):
    """One line of a survey's file."""

    rules_hash: str
    budget: int
    deal: str
    verdict: str
    positions: int
    line: list[str] = []


def _resumed(path: Path | None, rules_hash: str, positions: int) -> dict[str, Answer]:
    """Answers that an earlier survey with the same rules and budget kept."""
    if path is None or not path.exists():
        return {}
    known: dict[str, Answer] = {}
    decode = msgspec.json.Decoder(_Kept).decode
    try:
        for number, line in enumerate(path.read_bytes().splitlines(), start=1):
            try:
                kept = decode(line)
            except (msgspec.MsgspecError, UnicodeError, RecursionError):
                raise CommandFailed(f"{path}:{number}: this is no line of a survey", ERRORS) from None
            if (kept.rules_hash, kept.budget) == (rules_hash, positions) and kept.verdict in _KINDS:
                known[kept.deal] = Answer(kept.deal, kept.verdict, kept.positions, tuple(kept.line))  # type: ignore[arg-type]
    except OSError as error:
        raise CommandFailed(f"{path}: {(error.strerror or 'it cannot be read').lower()}", USAGE) from None
    return known


_KINDS: Final = ("winnable", "lost", "unknown")


def _kept(answers: Iterator[Answer], flags: argparse.Namespace, rules_hash: str) -> Iterator[Answer]:
    """The answers, each written to the survey's file as soon as it is there."""
    if flags.resume is None:
        yield from answers
        return
    try:
        with flags.resume.open("ab") as file:
            for answer in answers:
                kept = _Kept(
                    rules_hash, flags.positions, answer.deal, answer.kind, answer.positions, list(answer.line)
                )
                file.write(msgspec.json.encode(kept) + b"\n")
                file.flush()
                yield answer
    except OSError as error:
        raise CommandFailed(
            f"{flags.resume}: {(error.strerror or 'it cannot be written').lower()}", USAGE
        ) from None


def _chain(first: Iterator[Answer], second: Iterator[Answer]) -> Iterator[Answer]:
    yield from first
    yield from second


def _show_progress(counts: Survey, total: int) -> None:
    if sys.stderr.isatty():
        share = f"{counts.winnable} winnable, {counts.lost} lost, {counts.unknown} undecided"
        print(f"\r{counts.deals} of {total}: {share} ", end="", file=sys.stderr, flush=True)


def _print_json(**values: Any) -> None:
    print(msgspec.json.encode(values).decode())
