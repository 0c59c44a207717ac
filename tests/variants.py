"""The variants of the rules folder, for tests: compiled once."""

from __future__ import annotations

from functools import cache

import pytest
from _pytest.mark.structures import ParameterSet

from chilkoot.data import rules_folder
from chilkoot.engine import Game
from chilkoot.language import Diagnostic
from chilkoot.language.rules import Rules, Variant
from chilkoot.library import Library


@cache
def library() -> Library:
    """The shipped rules folder."""
    return Library([rules_folder()])


def said_of(folders: Library) -> list[Diagnostic]:
    """Everything there is to say about all files of a library."""
    paths = filter(None, map(folders.path, folders.ids()))
    return [*folders.hidden, *(said for path in paths for said in folders.check(path)[1])]


def variant(name: str) -> Variant:
    """One shipped variant."""
    found = library().variant(name)
    assert found is not None, f"{name} does not compile"
    return found


def rules_of(name: str, level: int | None = None) -> Rules:
    """The rules of a shipped variant, at its default level or another."""
    found = variant(name).level(level)
    assert found is not None, f"{name} has no level {level}"
    return found.rules


QUICK = {
    "yukon", "yakutat-bay", "yakutat-bay-calving", "yukon-cells", "yukon-thicket", "alaska", "double-yukon", "scorpion",
    "three-blind-mice", "klondike-draw-3", "canfield", "freecell", "spiderette", "forty-thieves", "beleaguered-castle",
    "nine-across", "la-belle-lucie", "agnes-bernauer", "trillium", "corona", "bear-river",
}  # fmt: skip
"""Variants that between them use every kind of rule; the others are tried with the slow kinds."""


def all_levels(*, every: int = 1) -> list[ParameterSet]:
    """Every shipped variant with each of its levels, as parameters; those that add no kind of rule are slow.

    Of the slow ones a dear test takes one in `every`: what they have in common is tried by the cheaper ones.
    """
    others = [one.id for one in library().variants() if one.id not in QUICK][::every]
    return [
        pytest.param(one.id, level.number, marks=() if one.id in QUICK else pytest.mark.slow)
        for one in library().variants()
        if one.id in QUICK or one.id in others
        for level in one.levels
    ]


def fragment(name: str, board: str, level: int | None = None) -> Game:
    """A game on a made-up board that may lack cards."""
    return Game.start(rules_of(name, level), board, fragment=True)
