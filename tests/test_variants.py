"""The files of `rules/`: all of them right, each with a playthrough and counts of positions, all of them playable to the end."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from chilkoot.cards import DOWN
from chilkoot.data import rules_folder
from chilkoot.engine import MAX_ACTIONS, Game, Refusal, legal_moves
from chilkoot.engine.moves import can_turn
from chilkoot.engine.play import play_draw, play_move, play_turn
from chilkoot.engine.position import Position
from chilkoot.engine.refusals import can_draw
from chilkoot.events import DRAW, GIVE_UP, Action, CardMove, Simple, TurnUp, Undo, format_action
from chilkoot.guide import answer_to
from chilkoot.language.rules import Level, Variant
from variants import QUICK, all_levels, library, rules_of, said_of

PLAYTHROUGHS = Path(__file__).parent / "playthroughs"
COUNTS = Path(__file__).parent / "counts" / "counts.json"
FAMILIES = {
    "yukon", "scorpion", "klondike", "gypsy", "freecell", "spider", "forty-thieves", "canfield", "fan", "castle",
}  # fmt: skip
DEAL = "ck:1"
ACTIONS = 25
DEPTH = 3

VARIANTS = library().variants()
IDS = [pytest.param(one.id, marks=() if one.id in QUICK else pytest.mark.slow, id=one.id) for one in VARIANTS]


def variant(name: str) -> Variant:
    return next(one for one in VARIANTS if one.id == name)


def test_every_file_compiles_without_a_diagnostic() -> None:
    assert [f"{one.place.file}: {one.message}" for one in said_of(library())] == []
    assert [one.id for one in VARIANTS] == library().ids()


def test_what_the_authors_pinned_holds() -> None:
    wrong = [
        f"{one.id}: {test.move} on {test.board}: {found}, not {test.expect}"
        for one in VARIANTS
        for test in one.tests
        if (found := answer_to(one, test)[0]) != test.expect
    ]
    assert wrong == []


def test_there_are_more_than_a_hundred_variants_and_some_of_every_family() -> None:
    assert len(VARIANTS) > 100
    sizes = Counter(one.family for one in VARIANTS)
    assert set(sizes) == FAMILIES
    assert min(sizes.values()) > 5


def test_names_are_unique_and_no_two_variants_are_the_same_game() -> None:
    names = Counter(one.name.casefold() for one in VARIANTS)
    assert [name for name, count in names.items() if count > 1] == []
    games: dict[str, set[str]] = {}
    for one in VARIANTS:
        for level in one.levels:
            games.setdefault(level.hash, set()).add(one.id)
    assert [sorted(ids) for ids in games.values() if len(ids) > 1] == []


def test_every_variant_says_what_it_is_and_where_it_is_from() -> None:
    silent = [one.id for one in VARIANTS if not (one.summary.endswith(".") and one.source)]
    assert silent == []
    assert [one.id for one in VARIANTS if len(one.summary) > 120] == []


def test_no_variant_is_more_than_four_steps_from_its_ancestor() -> None:
    parents = {}
    for path in rules_folder().glob("*.yaml"):
        lines = path.read_text(encoding="utf-8").splitlines()
        parents[path.stem] = next(
            (line.split(":")[1].strip() for line in lines if line.startswith("extends:")), None
        )

    def steps(name: str) -> int:
        parent = parents[name]
        return 0 if parent is None else 1 + steps(parent)

    far = {name: steps(name) for name in parents if steps(name) > 4}
    assert far == {}


def options(game: Game) -> list[Action]:
    found: list[Action] = list(game.legal())
    found += [TurnUp(pile) for pile in game.can_turn()]
    return [*found, DRAW] if game.can_draw() else found


def cards(position: Position) -> Counter[int]:
    return Counter(card & ~DOWN for pile in position.piles for card in pile)


@pytest.mark.parametrize(("name", "level"), all_levels())
def test_random_play_keeps_the_cards_and_undoes_to_the_deal(name: str, level: int | None) -> None:
    rules = rules_of(name, level)
    for seed in range(2):
        choice = random.Random(f"{name} {seed}")
        game = Game.start(rules, f"ck:{seed}")
        deal, pack = game.board(), cards(game.position)
        for _ in range(80):
            actions = options(game)
            if not actions:
                break
            assert not isinstance(game.act(choice.choice(actions)), Refusal)
            assert cards(game.position) == pack, seed
        if rules.aids.undo is None and (game.moves and not game.closed):
            assert not isinstance(game.act(Undo(count=game.moves)), Refusal)
            assert game.board() == deal, seed


@pytest.mark.parametrize(("name", "level"), all_levels())
def test_random_play_ends_at_the_latest_with_the_last_action_a_game_may_have(
    name: str, level: int | None
) -> None:
    choice = random.Random(name)
    game = Game.start(rules_of(name, level), DEAL)
    # As if most of a game's actions had been played.
    game.seq = MAX_ACTIONS - 20
    while actions := options(game):
        played = game.act(choice.choice(actions))
        if isinstance(played, Refusal):
            assert played.code == "game_too_long"
            assert not isinstance(game.act(GIVE_UP), Refusal)
            break
    assert game.is_over
    assert game.seq <= MAX_ACTIONS


def transcript(level: Level) -> Iterator[str]:
    """25 actions chosen by a fixed rule, with what a player sees before, after, and the check of each step."""
    game = Game.start(level.rules, DEAL)
    yield from seen(game)
    for number in range(1, ACTIONS + 1):
        actions = options(game)
        if not actions:
            break
        # Steps through the list unevenly, so that long and short moves, draws and turns all come up.
        action = actions[number * number * 7 % len(actions)]
        assert not isinstance(game.act(action), Refusal)
        # Whether a game is seen to be stuck depends on how far is looked, which is nothing of the variant.
        status = "playing" if game.status == "stuck" else game.status
        yield f"{number:2} {spelt(action):10} {game.check()} {status}, score {game.score}"
    yield from seen(game)


def spelt(action: Action) -> str:
    assert isinstance(action, CardMove | TurnUp | Simple)
    return format_action(action)


def seen(game: Game) -> Iterator[str]:
    yield ""
    yield from (f"{name}: {' '.join(pile)}" for name, pile in game.view().items() if pile)
    yield ""


def playthrough(name: str) -> str:
    lines = [f"{variant(name).name}, deal {DEAL}"]
    for level in variant(name).levels:
        if level.number is not None:
            lines += ["", f"Level {level.number}"]
        lines += transcript(level)
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("name", IDS)
def test_a_variant_plays_as_its_playthrough_shows(name: str, updates: bool) -> None:
    path = PLAYTHROUGHS / f"{name}.txt"
    fresh = playthrough(name)
    if updates:
        path.write_text(fresh, encoding="utf-8")
    assert path.is_file(), f"{name} has no playthrough: run the tests with --update, and read what they write"
    assert path.read_text(encoding="utf-8") == fresh


def test_every_variant_has_a_playthrough_and_every_playthrough_its_variant(updates: bool) -> None:
    ids = {one.id for one in VARIANTS}
    if updates:
        for path in PLAYTHROUGHS.glob("*.txt"):
            if path.stem not in ids:
                path.unlink()
    written = {path.stem for path in PLAYTHROUGHS.glob("*.txt")}
    assert written == ids, "run the tests with --all --update, and read what they write"


def reachable(level: Level) -> list[int]:
    """How many different positions 0, 1, 2 … actions lead to."""
    start = Game.start(level.rules, DEAL).position
    counts, frontier = [], [start]
    for _ in range(DEPTH):
        found: dict[tuple[tuple[int, ...], ...], Position] = {}
        for position in frontier:
            for child in children(position):
                found.setdefault(tuple(map(tuple, child.piles)), child)
        frontier = list(found.values())
        counts.append(len(frontier))
    return counts


def children(position: Position) -> Iterator[Position]:
    for move in legal_moves(position):
        child = position.copy()
        play_move(child, move, [])
        yield child
    for column in can_turn(position):
        child = position.copy()
        play_turn(child, column, [])
        yield child
    if can_draw(position):
        child = position.copy()
        play_draw(child, [])
        yield child


def counted(name: str) -> dict[str, list[int]]:
    levels = variant(name).levels
    return {name if one.number is None else f"{name} {one.number}": reachable(one) for one in levels}


@pytest.mark.parametrize("name", IDS)
def test_as_many_positions_can_be_reached_as_were_counted(name: str, updates: bool) -> None:
    if updates:
        # The one file is written by the test below, for tests may run side by side.
        return
    known: dict[str, list[int]] = json.loads(COUNTS.read_text())
    assert {key: value for key, value in known.items() if key.partition(" ")[0] == name} == counted(name)


def test_every_variant_and_level_has_counts_and_nothing_else_has(updates: bool) -> None:
    if updates:
        fresh = {key: value for one in VARIANTS for key, value in counted(one.id).items()}
        rows = [f"  {json.dumps(key)}: {json.dumps(fresh[key])}" for key in sorted(fresh)]
        COUNTS.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")
    levels = {
        one.id if level.number is None else f"{one.id} {level.number}"
        for one in VARIANTS
        for level in one.levels
    }
    assert set(json.loads(COUNTS.read_text())) == levels, "run the tests with --update"
