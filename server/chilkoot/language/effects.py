"""Keys that are spelt right and change nothing, because what they need is not there: warnings, and some advice.

Decides nothing that refuses a file. Every reason is one line of a table, so that it can be read and tested as one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import msgspec

from chilkoot.language.codes import Report
from chilkoot.language.nodes import Sequence
from chilkoot.language.read import Given
from chilkoot.language.rules import Columns, Foundations, Rules, Zone
from chilkoot.language.words import quoted

__all__ = ["check_effects"]

_RED, _BLACK = frozenset("DH"), frozenset("CS")


class _Idle(msgspec.Struct, frozen=True):
    """A key without effect, and why. With `item` only that word of a list has none."""

    path: str
    reason: str
    item: str = ""


def check_effects(given: Given, rules: Rules, file: str, report: Report, *, is_game: bool = True) -> None:
    """Report the keys of a game that change nothing in it, as far as what they depend on could be read.

    `is_game` says whether the rules have passed all checks; where they have not, nothing is concluded from the deal.
    Advice is given where `file` has a say in it, not where it was only extended.
    """

    def is_known(*sections: str) -> bool:
        return given.is_sound(*sections) and (is_game or "deal" not in sections)

    for idle in _idle_keys(rules, is_known):
        if not given.has(idle.path):
            continue
        name = idle.path.rpartition(".")[2]
        place = given.key_place(idle.path)
        if idle.item:
            node = given.entries[idle.path].value
            items = node.items if isinstance(node, Sequence) else ()
            place = next((item.place for item in items if getattr(item, "text", "") == idle.item), place)
            name = f"{name}: {idle.item}"
        report.say("R501", place, f"{quoted(name)} has no effect here", idle.reason)
    if is_known("deck", "deal", "tableau"):
        _advise(given, rules, file, report)


_DEALT: Final = ("deck", "deal", "setup", "stock")
"""What decides whether there is a stock or a waste."""


def _is_known(*_sections: str) -> bool:
    return True


def _idle_keys(rules: Rules, is_known: Callable[..., bool] = _is_known) -> Iterator[_Idle]:
    """The keys of a game without effect; `is_known` says whether the sections of which that follows could be read."""
    if is_known(*_DEALT, "reserve", "foundations", "tableau", "cells"):
        for number, columns in enumerate(rules.tableau):
            yield from _in_columns(f"tableau[{number}]", columns, number, rules)
    if is_known(*_DEALT, "reserve", "foundations", "cells"):
        yield from _in_cells(rules)
    if is_known("reserve", "deal", "stock"):
        yield from _in_reserve(rules)
    if is_known("foundations", "goal", "tableau", "deck"):
        for number, foundations in enumerate(rules.foundations):
            yield from _in_foundations(f"foundations[{number}]", foundations, rules, first=number == 0)
    if is_known(*_DEALT):
        yield from _in_stock(rules)
    if is_known("redeal"):
        yield from _in_redeal(rules)
    if is_known("foundations") and not rules.foundation_count():
        yield _Idle("score.per_foundation_card", "there are no foundations")
    if is_known("setup", "deck") and "kings_to_bottom" in rules.setup and 12 not in rules.deck.ranks:
        yield _Idle("setup", "the deck has no kings", "kings_to_bottom")


def _in_redeal(rules: Rules) -> Iterator[_Idle]:
    if not rules.redeal.times:
        yield from (_Idle(f"redeal.{name}", "redeal.times is 0") for name in ("gather", "shuffle"))
    elif rules.redeal.shuffle and rules.redeal.gather != "packets":
        yield _Idle("redeal.gather", "the gathered cards are shuffled")


def _in_columns(path: str, columns: Columns, number: int, rules: Rules) -> Iterator[_Idle]:
    group, empty = columns.group, columns.empty
    if columns.build.rank in {"any", "equal"}:
        yield _Idle(f"{path}.build.wrap", f"rank: {columns.build.rank} goes neither up nor down")
    if group.unit in {"any", "single"}:
        why = "any face-up card moves with all on it" if group.unit == "any" else "cards move one at a time"
        yield from (_Idle(f"{path}.group.{name}", why) for name in ("suit", "rank", "wrap"))
    elif group.rank in {"any", "equal"}:
        yield _Idle(f"{path}.group.wrap", f"rank: {group.rank} goes neither up nor down")
    if group.unit == "single":
        yield _Idle(f"{path}.group.limit", "cards move one at a time")
        yield _Idle(f"{path}.empty.max_cards", "cards move one at a time")
    if group.limit == "none" or group.unit == "single":
        yield _Idle(f"{path}.group.count", "nothing limits how many cards move")
    if empty.accepts == "none":
        why = "empty columns accept no card"
        yield from (_Idle(f"{path}.empty.{name}", why) for name in ("from", "max_cards", "whole_column"))
    yield from _absent_zones(f"{path}.empty.from", empty.sources, rules)
    if reason := _why_not_filled(columns, number, rules):
        yield _Idle(f"{path}.empty.auto_fill", reason)
    if columns.max_cards is not None and columns.max_cards >= rules.deck.size():
        yield _Idle(f"{path}.max_cards", "the deck has no more cards")
    if columns.expose == "manual" and not _has_covered_cards(number, rules):
        yield _Idle(f"{path}.expose", "no card of these columns is dealt face down")


def _why_not_filled(columns: Columns, number: int, rules: Rules) -> str:
    fill = columns.empty.auto_fill
    if fill == "reserve" and not rules.reserve.piles:
        return "there is no reserve"
    if fill == "stock" and not rules.stock_size():
        return "the deal leaves no stock"
    if fill == "waste" and not _has_waste(rules):
        return "there is no waste"
    if fill == "waste_then_stock" and not _has_waste(rules) and not rules.stock_size():
        return "there is neither waste nor stock"
    is_last = number == len(rules.tableau) - 1
    if fill == "next_column" and columns.columns == 1 and is_last:
        return "there is no column to the right"
    return ""


def _has_covered_cards(number: int, rules: Rules) -> bool:
    first = sum(columns.columns for columns in rules.tableau[:number])
    last = first + rules.tableau[number].columns
    return any(one.zone == "tableau" and "D" in one.picture[first:last] for one in rules.deal)


def _has_waste(rules: Rules) -> bool:
    is_dealt = any(one.zone == "waste" for one in rules.deal)
    return is_dealt or (rules.stock.deal_to == "waste" and rules.stock_size() > 0)


def _absent_zones(path: str, sources: tuple[Zone, ...], rules: Rules) -> Iterator[_Idle]:
    absent: Final = {
        "cells": "" if rules.cells.count else "there are no cells",
        "waste": "" if _has_waste(rules) else "there is no waste",
        "reserve": "" if rules.reserve.piles else "there is no reserve",
        "foundations": ""
        if any(_gives_back(group) for group in rules.foundations)
        else "foundations never give back",
        "stock": "cards of the stock are turned, or fill columns by themselves",
    }
    for zone in sources:
        if absent.get(zone):
            yield _Idle(path, absent[zone], zone)


def _gives_back(group: Foundations) -> bool:
    return group.count > 0 and group.accept == "card" and group.returns != "never"


def _in_cells(rules: Rules) -> Iterator[_Idle]:
    if not rules.cells.count:
        yield _Idle("cells.from", "there are no cells")
        return
    yield from _absent_zones("cells.from", rules.cells.sources, rules)
    if rules.cells.count == 1 and "cells" in rules.cells.sources:
        yield _Idle("cells.from", "there is only one cell", "cells")


def _in_reserve(rules: Rules) -> Iterator[_Idle]:
    if not rules.reserve.piles:
        yield _Idle("reserve.playable", "there is no reserve")
    elif rules.stock.deal_to != "reserve" and not any(one.zone == "reserve" for one in rules.deal):
        yield _Idle("reserve.piles", "no card is ever dealt to the reserve")
        yield _Idle("reserve.playable", "no card is ever dealt to the reserve")


def _in_foundations(path: str, group: Foundations, rules: Rules, *, first: bool) -> Iterator[_Idle]:
    is_run_wanted = rules.goal.kind == "runs_in_tableau" and first
    run = tuple(f"run.{name}" for name in ("suit", "rank", "wrap", "length"))
    if not group.count:
        every = ("base", "suits", "build.suit", "build.rank", "build.wrap", "accept", "return", "auto")
        yield from (_Idle(f"{path}.{name}", "there are no foundations") for name in every)
        if not is_run_wanted:
            yield from (_Idle(f"{path}.{name}", "there are no foundations") for name in run)
        return
    if group.accept == "run":
        names = ("base", "build.suit", "build.rank", "build.wrap")
        yield from (_Idle(f"{path}.{name}", "these foundations take whole runs; see run") for name in names)
        yield _Idle(f"{path}.return", "foundations that take whole runs never give back")
        yield _Idle(f"{path}.auto", "whole runs always go home by themselves")
    elif not is_run_wanted:
        yield from (_Idle(f"{path}.{name}", "these foundations take single cards") for name in run)
    if group.accept == "card" and group.build.rank in {"any", "equal"}:
        yield _Idle(f"{path}.build.wrap", f"rank: {group.build.rank} goes neither up nor down")
    elif group.accept == "card" and group.build.wrap and _ends_where_ranks_end(group, rules):
        yield _Idle(f"{path}.build.wrap", "a foundation is full at the last rank")
    if (group.accept == "run" or is_run_wanted) and group.run.rank in {"any", "equal"}:
        yield _Idle(f"{path}.run.wrap", f"rank: {group.run.rank} goes neither up nor down")
    if (
        group.auto == "safe"
        and group.accept == "card"
        and any(one.build.rank == "updown" for one in rules.tableau)
    ):
        yield _Idle(f"{path}.auto", "where columns are built up and down no card is safe")


def _ends_where_ranks_end(group: Foundations, rules: Rules) -> bool:
    """Whether foundations begin at one end of the ranks, and have their share of the deck at the other."""
    ranks = rules.deck.ranks
    end = {"up": ranks[0], "down": ranks[-1]}.get(group.build.rank)
    return group.base == end and len(ranks) * rules.foundation_count() >= rules.deck.size()


def _in_stock(rules: Rules) -> Iterator[_Idle]:
    stock = rules.stock
    turns_waste = stock.deal_to == "waste" and _has_waste(rules) and stock.passes != 1
    policy = ("draw", "passes", "require", "shuffle")
    if not rules.stock_size() and not turns_waste:
        if stock.deal_to != "none":
            yield _Idle("stock.deal_to", "the deal leaves no stock")
        yield from (_Idle(f"stock.{name}", "the deal leaves no stock") for name in policy)
    elif stock.deal_to == "none":
        yield from (_Idle(f"stock.{name}", "stock.deal_to is none") for name in policy)
    elif stock.deal_to != "waste":
        names = ("draw", "passes", "shuffle")
        yield from (_Idle(f"stock.{name}", "the stock is not dealt to a waste") for name in names)
    elif stock.passes == 1:
        yield _Idle("stock.shuffle", "the stock is gone through only once")


def _advise(given: Given, rules: Rules, file: str, report: Report) -> None:
    suits = frozenset(rules.deck.suits)
    for number, columns in enumerate(rules.tableau):
        paths = (f"tableau[{number}].build.suit", "deck.suits")
        places = [given.value_place(path) for path in paths if given.has(path)]
        place = next((place for place in places if place.file == file), None)
        if place is None:
            continue
        if columns.build.suit == "alternate" and (suits <= _RED or suits <= _BLACK):
            report.say(
                "R901",
                place,
                "no card can be built: all suits of the deck are of one colour",
                "set tableau.build.suit: same or any",
            )
        elif columns.build.suit == "different" and len(suits) == 1:
            report.say(
                "R901",
                place,
                "no card can be built: the deck has one suit only",
                "set tableau.build.suit: same or any",
            )
