"""Fairness: nothing that the server gives out depends on a card that nobody has seen, and every deal is as likely as any other."""

from __future__ import annotations

import ast
import os
import random
import secrets
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import count, islice, pairwise
from pathlib import Path

import pytest

from chaos.twins import Script, outputs, twins_of
from chilkoot import host
from chilkoot.engine import Game, shuffle
from chilkoot.host.clock import fresh_entropy
from chilkoot.solver import advise
from variants import QUICK, library

TWINS = int(os.environ.get("CHAOS_TWINS", "60"))
IN_ONE_HOUSE = 40
SEED = int(os.environ.get("CHAOS_SEED") or random.randrange(10**6))
LEVELS = [(one.id, level) for one in library().variants() for level in one.levels]


async def compare(scripts: Sequence[Script]) -> None:
    first, second = [await outputs(scripts, side) for side in (0, 1)]
    for script, here, there in zip(scripts, first, second, strict=True):
        for one, other in zip(here, there, strict=True):
            assert one == other, (
                f"{script.variant}, level {script.level}; CHAOS_SEED={script.seed} begins with these twins: {script.boards}"
            )


def scripts(seed: int, only: set[str] | None = None) -> Iterator[Script]:
    """Twins of all variants in turn, without end."""
    levels = [(name, level) for name, level in LEVELS if only is None or name in only]
    for number in count(seed):
        name, level = levels[number % len(levels)]
        script = twins_of(name, level.number, level.rules, number)
        if script is not None:
            yield script


async def test_hidden_cards_have_no_influence_on_anything_that_is_sent_or_logged() -> None:
    print(f"CHAOS_SEED={SEED}")  # noqa: T201 - shown where it fails
    await compare([*islice(scripts(SEED, QUICK), 6)])


@pytest.mark.slow
@pytest.mark.parametrize("part", range(-(-TWINS // IN_ONE_HOUSE)))
async def test_hidden_cards_of_all_variants_have_no_influence_on_anything_that_is_sent_or_logged(
    part: int,
) -> None:
    print(f"CHAOS_SEED={SEED} CHAOS_TWINS={TWINS}")  # noqa: T201 - shown where it fails
    wanted = min(IN_ONE_HOUSE, TWINS - part * IN_ONE_HOUSE)
    await compare([*islice(scripts(SEED + 1000 * part), wanted)])


async def test_the_twins_would_show_a_leak(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Game, "check", lambda self: f"{hash(self.board()) & 0xFFFFFFFF:08x}")
    with pytest.raises(AssertionError):
        await compare([next(scripts(1, {"yukon"}))])


def work_of(game: Game) -> int:
    """How many functions are called to find advice: what a stopwatch would say, without the noise."""
    calls = 0

    def count(*_: object) -> None:
        nonlocal calls
        calls += 1

    sys.setprofile(count)
    try:
        advise(game)
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.parametrize(
    "name", ("yukon", "yakutat-bay", "yukon-cells", "yukon-thicket", "klondike", "spiderette")
)
def test_a_hint_takes_as_long_whatever_lies_face_down(name: str) -> None:
    script = next(scripts(11, {name}))
    rules = next(level.rules for one, level in LEVELS if one == name and level.number == script.level)
    games = [Game.start(rules, board) for board in script.boards]
    for game in games:
        advise(game)
    again = [Game.start(rules, board) for board in script.boards]
    first, second = map(work_of, again)
    assert first == second > 10


# deals


def z_of(deal: Callable[[int], Sequence[int]], deals: int) -> float:
    """How far from chance the places of 52 cards are, in standard deviations of chi-square over all card and place pairs."""
    seen: Counter[tuple[int, int]] = Counter()
    for number in range(deals):
        seen.update(enumerate(deal(number)))
    expected = deals / 52
    chi = sum((seen[place, card] - expected) ** 2 / expected for place in range(52) for card in range(52))
    freedom = 51 * 51
    return float((chi - freedom) / (2 * freedom) ** 0.5)


def naive_shuffle(number: int) -> list[int]:
    """The one everybody writes first: each card changes places with any other."""
    chance, cards = random.Random(number), list(range(52))
    for at in range(52):
        other = chance.randrange(52)
        cards[at], cards[other] = cards[other], cards[at]
    return cards


def sattolo_shuffle(number: int) -> list[int]:
    """No card stays where it was."""
    chance, cards = random.Random(number), list(range(52))
    for at in range(51, 0, -1):
        other = chance.randrange(at)
        cards[at], cards[other] = cards[other], cards[at]
    return cards


def our_shuffle(number: int) -> list[int]:
    return shuffle(number.to_bytes(32, "big"), 52)


def test_every_card_lands_on_every_place_as_often_and_the_test_would_show_otherwise() -> None:
    deals = 6000
    assert abs(z_of(our_shuffle, deals)) < 5
    assert z_of(naive_shuffle, deals) > 50
    assert z_of(sattolo_shuffle, deals) > 50


def test_one_deal_says_nothing_about_the_next() -> None:
    keys = [bytes.fromhex(fresh_entropy().deal) for _ in range(2000)]
    assert len(set(keys)) == len(keys)
    bits = 8 * 32 * (len(keys) - 1)
    changed = sum((int.from_bytes(one) ^ int.from_bytes(other)).bit_count() for one, other in pairwise(keys))
    assert abs(changed - bits / 2) < 6 * (bits / 4) ** 0.5
    ones = sum(int.from_bytes(key).bit_count() for key in keys)
    assert abs(ones - 4 * 32 * len(keys)) < 6 * (8 * 32 * len(keys) / 4) ** 0.5


def imports_of(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{name.name}" for name in node.names)}
    return names


def test_chance_comes_from_the_system_and_from_nowhere_else() -> None:
    package = Path(host.__file__).parents[1]
    for path in package.rglob("*.py"):
        found = imports_of(path) & {"random", "numpy.random", "uuid"}
        assert not found, f"{path} imports {found}: chance is drawn from `secrets`, in host/clock.py"
    source = Path(fresh_entropy.__code__.co_filename).read_text()
    tree = ast.parse(source)
    entropy = next(
        node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "fresh_entropy"
    )
    called = {ast.unparse(node.func) for node in ast.walk(entropy) if isinstance(node, ast.Call)}
    assert called == {"Entropy", "fresh_id", "secrets.token_hex"}
    assert len(bytes.fromhex(fresh_entropy().deal)) == 32 == len(secrets.token_bytes(32))
