"""`chilkoot solve` and `survey`, as a person at a terminal meets them; the interval that a survey reports."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import Executor, Future
from functools import partial
from math import isclose
from pathlib import Path
from typing import Any

from chilkoot.cli.solving import answers
from chilkoot.engine import Game, Refusal
from chilkoot.events import parse_action
from chilkoot.language.rules import canonical_text
from chilkoot.solver.survey import Answer, Question, Survey, answer_to, wilson_interval
from runs import Run
from variants import rules_of


def test_solve_says_what_is_winnable_and_how(run: Run) -> None:
    done = run("solve", "yukon", "ms:1-3", "ms:64", "--json")
    assert done.status == 0
    answers = [json.loads(line) for line in done.out.splitlines()]
    assert [answer["deal"] for answer in answers] == ["ms:1", "ms:2", "ms:3", "ms:64"]
    assert [answer["verdict"] for answer in answers] == ["winnable", "winnable", "winnable", "lost"]
    game = Game.start(rules_of("yukon"), "ms:2")
    for text in answers[1]["line"]:
        action = parse_action(text)
        assert action is not None
        assert not isinstance(game.act(action), Refusal)
    assert game.status == "won"


def test_solve_in_words(run: Run) -> None:
    done = run("solve", "russian", "ms:1")
    assert done.out.startswith("ms:1: lost (")


def test_solve_refuses_what_is_no_deal_in_one_sentence(run: Run) -> None:
    for words in (("zz:5",), ("ms:5-3",), ("ms:0-4",), ("ms:1", "--jobs", "0"), ("ms:1", "--executor", "x")):
        done = run("solve", "yukon", *words)
        assert done.status == 2, words
        assert "Traceback" not in done.err


def test_an_undecided_deal_is_unknown_and_costs_no_more_than_its_budget(run: Run) -> None:
    answer = json.loads(run("solve", "yukon", "ms:91", "--positions", "500", "--json").out)
    assert answer["verdict"] == "unknown"
    assert answer["positions"] <= 500
    assert answer["line"] == []


def test_a_survey_goes_on_from_its_file(run: Run, tmp_path: Path) -> None:
    kept = tmp_path / "russian.jsonl"
    first = json.loads(run("survey", "russian", "-n", "10", "--resume", str(kept), "--json").out)
    lines = kept.read_text().splitlines()
    assert len(lines) == 10
    second = json.loads(run("survey", "russian", "-n", "15", "--resume", str(kept), "--json").out)
    assert kept.read_text().splitlines()[:10] == lines
    assert len(kept.read_text().splitlines()) == 15
    whole = json.loads(run("survey", "russian", "-n", "15", "--json").out)
    assert second == whole
    assert first["deals"] == 10
    kept.write_text("nonsense\n")
    broken = run("survey", "russian", "-n", "3", "--resume", str(kept))
    assert broken.status == 1
    assert "russian.jsonl:1" in broken.err


def test_a_survey_that_was_ended_while_it_wrote_asks_the_last_deal_again(run: Run, tmp_path: Path) -> None:
    kept = tmp_path / "russian.jsonl"
    words = ("survey", "russian", "-n", "6", "--resume", str(kept), "--json")
    whole = run(*words)
    lines = kept.read_text()
    kept.write_text(lines[:-30])
    assert run(*words).out == whole.out
    assert kept.read_text() == lines


def test_a_survey_tells_lengths_branching_and_difficulty(run: Run, tmp_path: Path) -> None:
    kept = tmp_path / "alaska.jsonl"
    words = ("survey", "alaska", "-n", "6", "--positions", "5000", "--resume", str(kept))
    plain = json.loads(run(*words, "--json").out)
    assert "difficulty" not in plain
    found = json.loads(run(*words, "--json", "--difficulty").out)
    assert found["winnable"] == plain["winnable"]
    told = found["difficulty"]
    assert sum(told["levels"]) == found["winnable"] > 0
    assert told["actions"] == sorted(told["actions"])
    assert told["branching"] > 1
    assert 0 <= told["losing"] <= 1
    again = run(*words, "--difficulty")
    assert "Difficulty of those that can be won, from 1 to 5:" in again.out
    assert len(kept.read_text().splitlines()) == 6 + found["winnable"], (
        "what had all that was asked is not asked again"
    )


class Backwards(Executor):
    """An executor like none of the library's: it does the last first, in the thread that waits."""

    def __init__(self) -> None:
        self.tasks: list[tuple[Future[Any], Callable[[], Any]]] = []

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.tasks.append((future, partial(function, *args, **kwargs)))
        if len(self.tasks) == 3:
            for done, task in reversed(self.tasks):
                done.set_result(task())
            self.tasks.clear()
        return future


def test_any_executor_answers_and_the_order_is_that_of_the_questions() -> None:
    rules = canonical_text(rules_of("russian"))
    questions = [Question(rules, f"ck:{number}", 500) for number in range(9)]
    found = list(answers(iter(questions), answer_to, Backwards(), at_once=3))
    assert [one.deal for one in found] == [one.deal for one in questions]
    assert found == [answer_to(question) for question in questions]


def test_difficulty_is_told_with_a_line_that_is_shortened_unless_it_is_wanted_as_found(run: Run) -> None:
    words = ("solve", "yukon", "ms:2", "--json")
    short, as_found = json.loads(run(*words, "--difficulty").out), json.loads(run(*words, "--as-found").out)
    assert len(short["line"]) < len(as_found["line"])
    assert short["positions"] == as_found["positions"]
    assert short["difficulty"]["actions"] == len(short["line"])
    assert 1 <= short["difficulty"]["level"] <= 5


def test_the_interval_is_wilsons() -> None:
    low, high = wilson_interval(8, 10)
    assert isclose(low, 0.4902, abs_tol=1e-4)
    assert isclose(high, 0.9433, abs_tol=1e-4)
    assert wilson_interval(0, 0) == (0.0, 1.0)
    counts = Survey()
    for kind in ("winnable", "winnable", "lost", "unknown"):
        counts = counts.with_answer(Answer("ck:1", kind, 1))
    low, high = counts.winnability()
    assert low == wilson_interval(2, 4)[0], "the undecided count as lost below"
    assert high == wilson_interval(3, 4)[1], "and as won above"


def test_no_answer_depends_on_the_hash_seed_or_on_how_many_processes_search() -> None:
    answers = set()
    for seed, jobs in (("1", "1"), ("4711", "2")):
        words = f"solve yukon ms:1-6 ms:64 --positions 9000 --as-found --json --jobs {jobs}"
        ran = subprocess.run(
            [sys.executable, "-m", "chilkoot.cli", *words.split()],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            timeout=300,
            check=True,
        )
        answers.add(ran.stdout)
    [told] = answers
    assert len(told.splitlines()) == 7
