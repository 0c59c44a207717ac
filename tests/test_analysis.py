"""Analyses: of each position of a game that is over whether it could be won, and a way from the last one that could."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from chilkoot.engine import Game, Refusal
from chilkoot.events import HOME, Action, Undo, parse_action
from chilkoot.language.rules import Rules, canonical_text
from chilkoot.record import Recording, Store, encode_recording, export_game
from chilkoot.solver.analysis import AnalysisError, analyse
from chilkoot.solver.solve import solve
from chilkoot.solver.verdict import Budget
from record_examples import play
from runs import Run
from variants import rules_of

Frame = dict[str, Any]


def wandering(rules: Rules, deal: str, actions: int) -> list[str]:
    """A game without a plan, with undos, redos and cards sent home."""
    game, chance = Game.start(rules, deal), random.Random(deal)
    made: list[str] = []
    while len(made) < actions and not game.is_over:
        choices: list[Action] = [*game.legal()]
        if chance.random() < 0.3:
            choices = [Undo(chance.randint(1, 4)), Undo(redo=True), HOME, *choices[:1]]
        action = chance.choice(choices or [Undo()])
        if not isinstance(game.act(action), Refusal):
            made.append(str(action))
    return made


def positions(rules: Rules, deal: str, actions: list[str]) -> Iterator[Game]:
    game = Game.start(rules, deal)
    yield game
    for text in actions:
        action = parse_action(text)
        assert action is not None
        assert not isinstance(game.act(action), Refusal)
        yield game


def assert_wins(rules: Rules, deal: str, actions: list[str], found: tuple[str, ...]) -> None:
    """Whether a game that goes on with other actions is won by the last of them."""
    *_, game = positions(rules, deal, actions)
    assert not found or not game.is_over
    *_, end = positions(rules, deal, [*actions, *found])
    assert end.status == "won"


@pytest.mark.parametrize(("name", "deal"), (("alaska", "ck:2"), ("alaska", "ck:4"), ("russian", "ck:13")))
def test_every_verdict_is_what_the_search_says_of_that_position(name: str, deal: str) -> None:
    rules = rules_of(name)
    actions = wandering(rules, deal, 40)
    found = analyse(canonical_text(rules), deal, actions)
    known = [solve(game.position, Budget(positions=30_000)).kind for game in positions(rules, deal, actions)]
    assert len(found.verdicts) == len(actions) + 1
    for mine, theirs in zip(found.verdicts, known, strict=True):
        assert mine == theirs or "unknown" in (mine, theirs)
    assert found.is_whole
    if found.last_winnable is not None:
        assert found.verdicts[found.last_winnable] == "winnable"
        assert "winnable" not in found.verdicts[found.last_winnable + 1 :]
        assert_wins(rules, deal, actions[: found.last_winnable], found.line)


def test_halving_asks_few_of_the_positions() -> None:
    rules = rules_of("russian")
    actions = wandering(rules, "ck:7", 120)
    alone = sum(
        solve(game.position, Budget(positions=30_000)).positions for game in positions(rules, "ck:7", actions)
    )
    found = analyse(canonical_text(rules), "ck:7", actions)
    assert found.positions <= alone
    assert set(found.verdicts) == {"lost"}
    assert (found.last_winnable, found.line) == (None, ())


def test_a_game_that_was_won_could_be_won_wherever_it_led_to_that() -> None:
    rules = rules_of("yukon")
    line = list(map(str, solve(Game.start(rules, "ms:2").position).line))
    actions = [*line[:9], "undo 2", "redo 2", *line[9:]]
    found = analyse(canonical_text(rules), "ms:2", actions)
    assert set(found.verdicts) == {"winnable"}
    assert (found.last_winnable, found.line, found.positions) == (len(actions), (), 0)


def test_an_analysis_made_bit_by_bit_is_the_same() -> None:
    rules = rules_of("alaska")
    actions = wandering(rules, "ck:4", 40)
    asked = canonical_text(rules), "ck:4", actions
    whole = analyse(*asked)
    part, bits = analyse(*asked, most=1), 1
    while not part.is_whole:
        assert part.line == ()
        part, bits = analyse(*asked, most=1, known=part.verdicts), bits + 1
    assert bits > 2
    assert (part.verdicts, part.last_winnable) == (whole.verdicts, whole.last_winnable)
    assert part.last_winnable is not None
    assert_wins(rules, "ck:4", actions[: part.last_winnable], part.line)


def test_without_positions_to_spend_nothing_is_claimed() -> None:
    rules = rules_of("yukon")
    actions = wandering(rules, "ck:4", 20)
    found = analyse(canonical_text(rules), "ck:4", actions, positions=0)
    assert set(found.verdicts) == {"unknown"}
    assert (found.last_winnable, found.line) == (None, ())


def test_what_is_no_game_is_said_with_its_place() -> None:
    rules = canonical_text(rules_of("yukon"))
    with pytest.raises(AnalysisError, match="action 1, `t1 1 f`, was not allowed"):
        analyse(rules, "ms:24", ["t1 1 f"])
    with pytest.raises(AnalysisError, match="action 1, `fly`, is no action"):
        analyse(rules, "ms:24", ["fly"])


def recorded(folder: Path, actions: list[str]) -> Recording:
    with closing(Store.open(f"sqlite:///{folder / 'games.db'}")) as store:
        play(store, rules_of("alaska"), "ck:4", actions)
        found = export_game(store.reader, "played")
    assert found is not None
    return found


def test_a_recording_is_marked_at_each_action(run: Run, tmp_path: Path) -> None:
    actions = wandering(rules_of("alaska"), "ck:4", 40)
    recording = recorded(tmp_path, actions)
    file = tmp_path / "game.json"
    file.write_bytes(encode_recording(recording))
    lines = [json.loads(line) for line in run("replay", "analyse", str(file), "--json").out.splitlines()]
    found = analyse(recording.rules, recording.deal, actions)
    assert [line["verdict"] for line in lines[:-1]] == list(found.verdicts)
    assert [line.get("action") for line in lines[:-1]] == [None, *actions]
    assert (lines[-1]["last_winnable"], lines[-1]["line"]) == (found.last_winnable, list(found.line))
    told = run("replay", "analyse", "played", "--database", f"sqlite:///{tmp_path / 'games.db'}").out
    assert f"The last position that could be won is that after action {found.last_winnable}." in told
    assert ", ".join(found.line) in told
    assert ": the game was lost" in told


def test_what_can_not_be_analysed_is_one_sentence(run: Run, tmp_path: Path) -> None:
    recording = recorded(tmp_path, [])
    file = tmp_path / "game.json"
    for old, new in ((b"ck:4", b"ck:x"), (b"tableau", b"tablets"), (b"{", b"[")):
        file.write_bytes(encode_recording(recording).replace(old, new))
        done = run("replay", "analyse", str(file))
        assert done.status == 1
        assert done.err.startswith(f"chilkoot: {file}: ")
        assert "Traceback" not in done.err
    assert run("replay", "analyse", "nobody", "--database", f"sqlite:///{tmp_path / 'games.db'}").status == 2
