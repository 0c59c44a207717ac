"""`chilkoot solve` and `survey`, as a person at a terminal meets them; the interval that a survey reports."""

from __future__ import annotations

import json
from math import isclose
from pathlib import Path

from chilkoot.engine import Game, Refusal
from chilkoot.events import parse_action
from chilkoot.solver.survey import Answer, Survey, wilson_interval
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
