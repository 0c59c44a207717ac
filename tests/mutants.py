"""Variants with one key changed, made from the schema table, and small plays by which they can be told from the original.

A key that the engine ignores has no mutant that plays otherwise: such a key survives.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

import msgspec

from chilkoot.data import rules_folder
from chilkoot.engine import DealError, Game, Refusal, is_no_op, name_move
from chilkoot.events import Undo, parse_action
from chilkoot.language import KEYS, Key, Source, Variant, compile_variant
from chilkoot.language.effective import Line, rule_lines
from chilkoot.language.rules import Rules
from chilkoot.language.schema import (
    Accepts,
    Choice,
    Deal,
    Flag,
    Goal,
    ListOf,
    Number,
    Rank,
    Ranks,
    Section,
    Suits,
)
from chilkoot.library import Library
from chilkoot.table.catalogue import variant_list
from variants import QUICK

__all__ = ["RULE_KEYS", "Mutant", "is_told", "mutants", "named", "originals", "touched"]

RULE_KEYS: Final = tuple(
    key
    for key in KEYS
    if not key.is_about
    and not isinstance(key.kind, Section)
    and key.path.partition(".")[0] not in {"family", "levels", "default_level", "tests"}
)
"""The keys that make the rules of a game; those which a file says about itself have tests of their own."""

OK: Final = Path(__file__).parent / "rules" / "ok"
_LIBRARY: Final = Library([rules_folder(), OK])


class Mutant(msgspec.Struct, frozen=True):
    """A variant with one key changed: the variants before and after, and what was changed to what."""

    before: Variant
    after: Variant
    key: str
    old: Any
    new: Any

    def __str__(self) -> str:
        return f"{self.before.id} with {self.key}: {json.dumps(self.new)} in place of {json.dumps(self.old)}"


def originals() -> list[Variant]:
    """Variants to be changed: one set of rules each. The first use every kind of rule between them."""
    plain = [one for one in _LIBRARY.variants() if len(one.levels) == 1 and one.levels[0].number is None]
    return sorted(plain, key=lambda one: (one.id not in QUICK, one.levels[0].rules.deck.size(), one.id))


def _words_of(key: Key) -> Iterator[Any]:
    """Values that a key may be given: every word, the neighbours of what is usual, the ends of what is allowed."""
    kind = key.kind
    match kind:
        case Choice():
            yield from kind.words
        case Flag():
            yield from (False, True)
        case Number():
            yield from kind.words
            yield from dict.fromkeys((kind.low, 1, 2, 3, 4, 5, 8, kind.high))
        case Rank():
            yield from kind.words
            yield from ("A", 2, 7, "Q", "K")
        case Accepts():
            yield from kind.words
            yield from ("A", "Q", "K", ["Q", "K"])
        case Ranks():
            yield from ("A-K", "A-Q", "2-K", "7-A", ["A", 2, 3, 4, 5, 6, 7, 8, 9, 10])
        case Suits():
            yield from ("CDHS", "CD", "HS", "CDS", "C", "S")
        case Goal():
            yield from kind.words
            yield from ({"cards_in_foundations": 1}, {"cards_in_foundations": 30})
        case _:
            raise AssertionError(f"say which values {key.path} may have")


def touched(mutant: Mutant) -> set[str]:
    """The words between which a mutant and its original differ."""
    old, new = mutant.old, mutant.new
    if isinstance(old, list) and isinstance(new, list):
        differ = {str(word) for word in old} ^ {str(word) for word in new}
        return differ if len(differ) == 1 else set()
    return {json.dumps(one) if isinstance(one, bool) else str(one) for one in (old, new)}


def named(key: Key) -> set[str]:
    """The words of a key that have a meaning of their own."""
    kind = key.kind.item if isinstance(key.kind, ListOf) else key.kind
    if isinstance(kind, Flag):
        return {"true", "false"}
    return set(kind.words) if isinstance(kind, Choice | Number | Rank | Accepts | Goal) else set()


def mutants(key: Key, variants: Sequence[Variant]) -> Iterator[Mutant]:
    """Every variant with that key changed to each value it may have, where that is a game and is said to matter."""
    for variant in variants:
        lines = {line.path: line for line in rule_lines(variant.levels[0].rules)}
        for path, line in lines.items():
            if line.key is key and line.value is not None:
                for value in _values(key, line.value, variant.levels[0].rules):
                    mutant = _mutant(variant, key, path, lines, value)
                    if mutant is not None:
                        yield mutant


def _values(key: Key, old: Any, rules: Rules) -> Iterator[Any]:
    match key.kind:
        case Deal():
            yield from _deals(old)
        case ListOf():
            for word in sorted(named(key)):
                if key.path.endswith(".from") and not _has(word, rules):
                    continue
                yield [one for one in old if one != word] if word in old else [*old, word]
        case _:
            yield from _words_of(key)


def _has(zone: str, rules: Rules) -> bool:
    """Whether there is such a zone to take cards from."""
    return {
        "tableau": True,
        "cells": rules.cells.count > 1,
        "waste": rules.stock.deal_to == "waste" and rules.stock_size() > 0,
        "reserve": rules.reserve.piles > 0 and rules.reserve.playable == "top",
        "foundations": any(group.returns == "always" for group in rules.foundations),
        "stock": False,
    }[zone]


def _deals(old: list[str]) -> Iterator[list[Any]]:
    """Other pictures: cards face up or down, passes in another order, from the other side."""
    passes = [_read(one) for one in old]
    yield passes[::-1]
    for at, one in enumerate(passes):
        if isinstance(one, str):
            for other in (
                one.translate(str.maketrans("UD", "DU")),
                one.removeprefix("<") if one[0] == "<" else f"<{one}",
            ):
                yield [*passes[:at], other, *passes[at + 1 :]]


def _read(one: str) -> Any:
    if not one.startswith("{"):
        return one
    zone, _, picture = one.strip("{}").partition(": ")
    return {zone: picture.strip('"')}


def _mutant(variant: Variant, key: Key, path: str, lines: dict[str, Line], value: Any) -> Mutant | None:
    old = lines[path].value
    if value == old or ("[" in path and "[0]" not in path):
        return None
    changes = _nested(key.path, value)
    _merge(changes, _companions(key, value, old, lines))
    text = f"extends: {variant.id}\n" + "".join(
        f"{name}: {json.dumps(one)}\n" for name, one in changes.items()
    )
    found, said = compile_variant(Source("mutant.yaml", "mutant", text), _LIBRARY.loader(OK))
    if found is None or found.levels[0].hash == variant.levels[0].hash:
        return None
    # Of a list one word may matter and others not.
    if any(one.code == "R501" for one in said) and not isinstance(value, list):
        return None
    return Mutant(variant, found, path, old, value)


def _companions(key: Key, value: Any, old: Any, lines: dict[str, Line]) -> dict[str, Any]:
    """What has to change too, for the pictures to be as wide as the places that they deal to."""
    zone = {"tableau.columns": "", "cells.count": "cells", "reserve.piles": "reserve"}.get(key.path)
    deal = lines["deal"].value
    if zone is None or not isinstance(value, int) or not isinstance(old, int) or not isinstance(deal, list):
        return {}
    if zone == "reserve" and old < 2:
        return {}
    return {"deal": [_widened(_read(one), zone, value - old) for one in deal]}


def _widened(one: Any, zone: str, by: int) -> Any:
    if isinstance(one, dict):
        return {name: _widened(text, "", by) if name == zone else text for name, text in one.items()}
    if zone or by < 0:
        return one
    picture, times, count = one.partition(" *")
    return f"{picture}{'.' * by}{times}{count}"


def _nested(path: str, value: Any) -> dict[str, Any]:
    for name in reversed(path.split(".")):
        value = {name: value}
    assert isinstance(value, dict)
    return value


def _merge(into: dict[str, Any], more: dict[str, Any]) -> None:
    for name, value in more.items():
        into.setdefault(name, value)


# What can be told of a game


class Seen(msgspec.Struct, frozen=True):
    """All that a player can see at one moment, the variant's name aside."""

    view: str
    status: str
    result: str | None
    score: int
    can: tuple[str, ...]
    legal: frozenset[str]
    accepts: tuple[str, ...]


def _seen(game: Game) -> Seen:
    return Seen(
        view=game.check(),
        status=game.status,
        result=game.result,
        score=game.score,
        can=tuple(name for name, may in game.can().items() if may),
        legal=frozenset([*map(str, game.legal()), *(f"turn {pile}" for pile in game.can_turn())]),
        accepts=tuple(game.accepts()),
    )


class Play(msgspec.Struct, frozen=True):
    """A line of play of the original, with all that was seen on the way."""

    deal: str
    actions: tuple[str, ...]
    seen: tuple[Seen, ...]


def is_told(mutant: Mutant) -> bool:
    """Whether a mutant can be told from its original: by how it is offered, by a deal, or in the course of a play."""
    before, after = (
        msgspec.structs.replace(
            variant_list([one], 1).variants[0], id="", name="", summary="", family="", rules_hash=""
        )
        for one in (mutant.before, mutant.after)
    )
    rules = mutant.after.levels[0].rules
    return before != after or any(_differs(play, rules) for play in _plays(mutant.before.id))


def _differs(play: Play, rules: Rules) -> bool:
    try:
        game = Game.start(rules, play.deal)
    except DealError:
        return True
    if _seen(game) != play.seen[0]:
        return True
    for text, seen in zip(play.actions, play.seen[1:], strict=True):
        action = parse_action(text)
        assert action is not None
        if isinstance(game.act(action), Refusal) or _seen(game) != seen:
            return True
    return False


@cache
def _plays(variant: str) -> tuple[Play, ...]:
    """A few plays of a variant, each in a manner of its own, and some that begin shortly before the end."""
    found = _LIBRARY.variant(variant)
    assert found is not None
    rules = found.levels[0].rules
    steps = 45 if rules.deck.packs == 1 else 25
    starts = [
        ("ck:0", "moves", steps),
        ("ck:1", "draws", steps),
        ("ck:2", "home", steps),
        ("ck:3", "undo", steps),
    ]
    starts += [(board, "home", 8) for board in _late_boards(rules)]
    return tuple(play for start in starts if (play := _play(rules, *start)) is not None)


def _play(rules: Rules, deal: str, manner: str, steps: int) -> Play | None:
    try:
        game = Game.start(rules, deal)
    except DealError:
        return None
    chance, seen = random.Random(f"{deal}:{manner}"), [_seen(game)]
    actions: list[str] = []
    while len(actions) < steps and not game.is_over:
        action = parse_action(_choose(game, manner, chance))
        assert action is not None
        if isinstance(game.act(action), Refusal):
            continue
        actions.append(str(action))
        seen.append(_seen(game))
    return Play(deal, tuple(actions), tuple(seen))


def _choose(game: Game, manner: str, chance: random.Random) -> str:
    tables = game.position.tables
    moves = [name_move(tables, move) for move in game.legal_piles() if not is_no_op(game.position, move)]
    home = [str(move) for move in moves if move.target[0] == "f"]
    others = [*map(str, moves), *(f"turn {pile}" for pile in game.can_turn())]
    if manner == "undo" and chance.random() < 0.25:
        return str(Undo())
    if manner == "home" and home and chance.random() < 0.8:
        return chance.choice([*home, "home"])
    if game.can_draw() and (not others or chance.random() < {"draws": 0.9}.get(manner, 0.2)):
        return "draw"
    return chance.choice(others or ["give_up"])


def _late_boards(rules: Rules) -> Iterator[str]:
    """Boards shortly before the end: all but a few cards home, or nearly all of them in runs."""
    deck = rules.deck
    if not isinstance(deck.low, int):
        return
    letters = ["A23456789TJQK"[rank] for rank in deck.ranks]
    suits = [suit for _ in range(deck.packs) for suit in deck.suits]
    if len(suits) <= rules.foundation_count():
        base = rules.foundations[0].base
        # Where the base is any rank, it is one in the middle, and what is left goes on beyond the last rank.
        home, left = (letters[:-1], letters[-1:]) if isinstance(base, int) else (letters[6:], letters[:6])
        yield _board("f", suits, home) + " | " + _board("t", suits, left[::-1], rules.column_count())
    if len(suits) < rules.column_count():
        orders = [letters[::-1]]
        if rules.goal.kind == "runs_in_tableau" or rules.foundations[0].accept == "run":
            round_the_end = letters[6:] + letters[:6]
            orders += [letters, round_the_end, round_the_end[::-1]]
        for order in orders:
            for partner in (0, 1):
                yield from _runs(deck.suits, deck.packs, order, partner)


def _board(letter: str, suits: Sequence[str], ranks: Sequence[str], piles: int = 99) -> str:
    found: dict[int, list[str]] = {}
    for number, suit in enumerate(suits):
        found.setdefault(number % piles, []).extend(rank + suit for rank in ranks)
    return " | ".join(f"{letter}{number + 1}: {' '.join(cards)}" for number, cards in found.items())


def _runs(suits: str, packs: int, order: Sequence[str], partner: int) -> Iterator[str]:
    """Runs of one suit, or of a suit and its neighbour in turn, one in each column; then with the last card aside."""
    runs = [
        [
            rank + suits[(at + partner * (-1) ** at * (number % 2)) % len(suits)]
            for number, rank in enumerate(order)
        ]
        for _ in range(packs)
        for at in range(len(suits))
    ]
    for columns in (runs, [*runs[:-1], runs[-1][:-1], runs[-1][-1:]]):
        yield " | ".join(f"t{number}: {' '.join(run)}" for number, run in enumerate(columns, 1))
