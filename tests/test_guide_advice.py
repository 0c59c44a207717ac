"""Advice on rules that make no good game: given where it is due, and not on what ships. Its texts are in `tests/rules/bad`."""

from __future__ import annotations

import time

import pytest

from chilkoot.guide import advise_on
from chilkoot.guide.thoughtless import deal_of, has_first_move, wins
from chilkoot.language import Severity, Source, Variant, compile_variant, render_text
from variants import QUICK, fragment, library, rules_of


def compiled(text: str) -> Variant:
    one, said = compile_variant(Source("x.yaml", "x", text), library().loader())
    assert one is not None, render_text(said)
    return one


def codes(text: str) -> list[str]:
    return [one.code for one in advise_on(compiled(text), "x.yaml")]


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in library().ids()]
)
def test_nothing_is_to_be_said_of_what_ships(name: str) -> None:
    one = library().variant(name)
    assert one is not None
    assert advise_on(one, name) == []


def test_advice_is_never_more_than_advice() -> None:
    said = advise_on(compiled("extends: yukon\nloss: {when: never}\n"), "x.yaml")
    assert [one.severity for one in said] == [Severity.ADVICE]


@pytest.mark.parametrize(
    ("text", "code", "old", "new"),
    (
        # Each file gets the advice, and none with the words changed.
        ("extends: scorpion\ntableau: {max_cards: 12}\n", "R904", "12", "30"),
        ("extends: scorpion\nfoundations: {run: {suit: alternate}}\n", "R904", "alternate", "any"),
        ("extends: yukon\ntableau: {group: {limit: 52}}\n", "R905", "52", "51"),
        ("extends: klondike\ntableau: {group: {limit: 13}}\n", "R905", "13", "12"),
        ("extends: klondike\ntableau: {empty: {accepts: any, max_cards: 13}}\n", "R905", "13", "12"),
        (
            "extends: klondike\ntableau: {empty: {accepts: [A, 2, 3, 4, 5, 6, 7, 8, 9, 10, J, Q, K]}}\n",
            "R905",
            "A, 2,",
            "A,",
        ),
        ("extends: klondike\nstock: {shuffle: true}\n", "R906", "{", "{passes: 3, "),
        (
            "extends: northwest-territory\nreserve: {playable: none}\n",
            "R904",
            "none}",
            "none}\ntableau: {empty: {auto_fill: reserve}}",
        ),
    ),
)
def test_advice_ends_with_its_reason(text: str, code: str, old: str, new: str) -> None:
    assert codes(text) == [code]
    assert codes(text.replace(old, new, 1)) == []


def test_each_level_is_looked_at_and_nothing_is_said_twice() -> None:
    text = "extends: yukon\nlevels: {1: {}, 2: {loss: {when: never}}, 3: {loss: {when: never}, cells: {count: 1}}}\n"
    (said,) = advise_on(compiled(text), "x.yaml")
    assert said.code == "R906"
    assert said.place.line == 1


def test_advice_stands_at_the_key_it_is_about_or_the_nearest_above() -> None:
    (one,) = advise_on(compiled("name: X\nextends: klondike\nstock:\n  shuffle: true\n"), "f")
    assert (one.place.line, one.place.column, one.place.text) == (4, 3, "  shuffle: true")


def test_the_largest_games_are_looked_at_within_a_bound() -> None:
    text = """
deck: {packs: 8}
deal: ["UUUUUUUUUUUUUUUUUUUUUUUUUUUUUUUU *13"]
tableau: {columns: 32, group: {unit: any}}
cells: {count: 12}
foundations: {count: 32, return: always}
"""
    before = time.process_time()
    advise_on(compiled(text), "x.yaml")
    assert time.process_time() - before < 3


# the player who never thinks


def test_it_sends_home_what_fits_and_digs_for_what_would() -> None:
    game = fragment("yukon", "f1: AC | t1: 2C 9H 9D | t2: TS | t3: TC")
    assert wins(game.position, within=0) is False
    position = game.position
    wins(position, within=3)
    assert len(position.piles[position.tables.layout.first_foundation]) == 2


def test_it_knows_when_a_game_is_won() -> None:
    suits = " | ".join(
        f"f{at}: " + " ".join(f"{rank}{suit}" for rank in "A23456789TJQK"[: 12 if suit == "S" else 13])
        for at, suit in enumerate("CDHS", 1)
    )
    position = fragment("yukon", f"{suits} | t1: KS").position
    assert wins(position, within=1)


def test_a_deal_without_a_first_move_is_known() -> None:
    assert has_first_move(deal_of(rules_of("yukon"), "ck:1"))
    assert not has_first_move(fragment("yukon", "t1: 2C | t2: 2S").position)
