"""`chilkoot survey`: what share of a variant's deals is winnable, how long and how hard they are; a file to go on from."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Final

import msgspec

from chilkoot.cli.compiling import make_ready_to_search
from chilkoot.cli.faults import ERRORS, USAGE, CommandFailed
from chilkoot.cli.json_lines import print_json
from chilkoot.cli.solving import asked_by
from chilkoot.cli.variants import find_level
from chilkoot.language.rules import canonical_text
from chilkoot.solver.certify import REVISION
from chilkoot.solver.survey import Answer, Question, Survey
from chilkoot.solver.verdict import Difficulty

__all__ = ["survey"]

_KINDS: Final = ("winnable", "lost", "unknown")


def survey(flags: argparse.Namespace) -> int:
    """Ask the deals ck:1 … ck:N and say what share of all deals is winnable."""
    make_ready_to_search()
    variant, level = find_level(flags.variant, flags.level, flags.rules)
    rules = canonical_text(level.rules)
    known = _resumed(flags, level.hash)
    wanted = [f"ck:{number}" for number in range(1, flags.n + 1)]
    questions = (
        Question(rules, deal, flags.positions, flags.memory << 20, difficulty=flags.difficulty)
        for deal in wanted
        if deal not in known
    )
    counts, answers = Survey(), list[Answer]()
    old = (known[deal] for deal in wanted if deal in known)
    for answer in chain(old, _kept(asked_by(flags, questions), flags, level.hash)):
        counts = counts.with_answer(answer)
        answers.append(answer)
        _show_progress(counts, flags.n)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    name = variant.id if level.number is None else f"{variant.id}, level {level.number}"
    if flags.json:
        print_json(variant=variant.id, level=level.number, **_numbers(flags, counts, answers))
    else:
        _tell(flags, name, counts, answers)
    return 0


def _numbers(flags: argparse.Namespace, counts: Survey, answers: list[Answer]) -> dict[str, Any]:
    low, high = counts.winnability()
    lengths = [len(one.line) for one in answers if one.kind == "winnable"]
    numbers: dict[str, Any] = {
        "deals": counts.deals,
        "winnable": counts.winnable,
        "lost": counts.lost,
        "unknown": counts.unknown,
        "low": round(low, 4),
        "high": round(high, 4),
        "median_positions": _share(sorted(one.positions for one in answers), 0.5) or 0,
        "median_actions": _share(sorted(lengths), 0.5),
        "positions": flags.positions,
        "solver": REVISION,
    }
    if flags.difficulty:
        numbers["difficulty"] = _difficulties(answers)
    return numbers


def _difficulties(answers: list[Answer]) -> dict[str, Any]:
    found = [one.difficulty for one in answers if one.difficulty is not None]
    levels = Counter(one.level for one in found)
    return {
        "levels": [levels[level] for level in range(1, 6)],
        "actions": [_share(sorted(one.actions for one in found), at) for at in (0.1, 0.5, 0.9)],
        "branching": _share(sorted(one.branching for one in found), 0.5),
        "losing": _ratio(sum(one.losing for one in found), sum(one.tried for one in found)),
        "forced": _ratio(sum(one.forced for one in found), sum(one.known for one in found)),
    }


def _tell(flags: argparse.Namespace, name: str, counts: Survey, answers: list[Answer]) -> None:
    numbers = _numbers(flags, counts, answers)
    print(
        f"{name}: of {counts.deals} deals {counts.winnable} are winnable, {counts.lost} lost (proved), "
        f"{counts.unknown} not decided within {flags.positions} positions each."
    )
    low, high = counts.winnability()
    print(f"Between {100 * low:.1f} % and {100 * high:.1f} % of all deals are winnable (95 % interval).")
    if not counts.winnable:
        return
    print(
        f"Half of the deals took at most {numbers['median_positions']} positions; "
        f"half of the lines have at most {numbers['median_actions']} actions."
    )
    if flags.difficulty:
        found = numbers["difficulty"]
        shares = ", ".join(
            f"{level}: {100 * count / counts.winnable:.0f} %"
            for level, count in enumerate(found["levels"], 1)
        )
        tenth, half, most = found["actions"]
        print(f"Difficulty of those that can be won, from 1 to 5: {shares}.")
        print(
            f"Their shortened lines have {half} actions (nine in ten between {tenth} and {most}); on the way there are "
            f"{found['branching']} moves to choose from, of which {100 * found['losing']:.1f} % lose."
        )


def _share(ordered: Sequence[Any], share: float) -> Any:
    """The value below which this share of the others lies."""
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)] if ordered else None


def _ratio(part: int, whole: int) -> float:
    return round(part / whole, 4) if whole else 0.0


class _Kept(msgspec.Struct, omit_defaults=True):
    """One line of a survey's file."""

    rules_hash: str
    budget: int
    deal: str
    verdict: str
    positions: int
    line: list[str] = []
    difficulty: Difficulty | None = None
    solver: int = 0


def _resumed(flags: argparse.Namespace, rules_hash: str) -> dict[str, Answer]:
    """Answers that an earlier survey kept, with the same rules, budget and search, and all that is asked now."""
    path: Path | None = flags.resume
    if path is None or not path.exists():
        return {}
    known: dict[str, Answer] = {}
    decode = msgspec.json.Decoder(_Kept).decode
    try:
        lines = path.read_bytes().split(b"\n")
        for number, line in enumerate(lines, start=1):
            if not line:
                continue
            try:
                kept = decode(line)
            except (msgspec.MsgspecError, UnicodeError, RecursionError):
                if number == len(lines):
                    # The survey was ended while it wrote its last line: that deal is asked again.
                    break
                raise CommandFailed(f"{path}:{number}: this is no line of a survey", ERRORS) from None
            if (kept.rules_hash, kept.budget, kept.solver) != (rules_hash, flags.positions, REVISION):
                continue
            if kept.verdict == "winnable" and (kept.difficulty is not None) != flags.difficulty:
                continue
            if kept.verdict in _KINDS:
                known[kept.deal] = Answer(
                    kept.deal,
                    kept.verdict,  # type: ignore[arg-type]
                    kept.positions,
                    tuple(kept.line),
                    kept.difficulty,
                )
    except OSError as error:
        raise CommandFailed(f"{path}: {(error.strerror or 'it cannot be read').lower()}", USAGE) from None
    return known


def _kept(answers: Iterator[Answer], flags: argparse.Namespace, rules_hash: str) -> Iterator[Answer]:
    """The answers, each written to the survey's file as soon as it is there."""
    if flags.resume is None:
        yield from answers
        return
    try:
        with flags.resume.open("ab") as file:
            # What was begun when the last survey was ended.
            file.truncate(flags.resume.read_bytes().rfind(b"\n") + 1)
            for answer in answers:
                kept = _Kept(
                    rules_hash,
                    flags.positions,
                    answer.deal,
                    answer.kind,
                    answer.positions,
                    list(answer.line),
                    answer.difficulty,
                    REVISION,
                )
                file.write(msgspec.json.encode(kept) + b"\n")
                file.flush()
                yield answer
    except OSError as error:
        raise CommandFailed(
            f"{flags.resume}: {(error.strerror or 'it cannot be written').lower()}", USAGE
        ) from None


def _show_progress(counts: Survey, total: int) -> None:
    if sys.stderr.isatty():
        low, high = counts.winnability()
        share = f"{counts.winnable} winnable, {counts.lost} lost, {counts.unknown} undecided"
        print(
            f"\r{counts.deals} of {total}: {share}; {100 * low:.1f} to {100 * high:.1f} % ",
            end="",
            file=sys.stderr,
            flush=True,
        )
