"""The variants of the rules folder, for tests: compiled once."""

from __future__ import annotations

from functools import cache

from chilkoot.data import rules_folder
from chilkoot.engine import Game
from chilkoot.language.rules import Rules, Variant
from chilkoot.library import Library


@cache
def library() -> Library:
    """The shipped rules folder."""
    return Library([rules_folder()])


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


def all_levels() -> list[tuple[str, int | None]]:
    """Every shipped variant with each of its levels."""
    return [(one.id, level.number) for one in library().variants() for level in one.levels]


def fragment(name: str, board: str, level: int | None = None) -> Game:
    """A game on a made-up board that may lack cards."""
    return Game.start(rules_of(name, level), board, fragment=True)
