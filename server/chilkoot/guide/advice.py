"""Advice on rules that make no good game: no first move, won without thinking, never won, options without effect, no end.

Such rules are a game all the same, so this is advice and never refuses a file. Reasons that follow from the rules are found in
them; the others are measured on a few fixed deals, within a bounded number of actions.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from chilkoot.engine.tables import deck_set, rank_order, relation_table
from chilkoot.guide.english import count
from chilkoot.guide.thoughtless import deal_of, has_first_move, wins
from chilkoot.language import Diagnostic, Place, Source, in_order
from chilkoot.language.codes import Report
from chilkoot.language.nodes import Entry, Mapping, Sequence, parse
from chilkoot.language.rules import Columns, Foundations, Relation, Rules, Run, Variant

__all__ = ["DEALS", "advise_on"]

DEALS: Final = 10
"""Deals that are tried, ``ck:1`` and so on."""

MOST_LEVELS: Final = 8
"""Levels on which games are played; what follows from the rules is found on all."""

MOST_CARDS: Final = 208
"""Games with more cards are not played for advice: that would take seconds, and nobody wins them without thinking."""


class _Advice(msgspec.Struct, frozen=True):
    """A code, the path of the key it is about, what is said, and what may help."""

    code: str
    path: str
    message: str
    help: str


def advise_on(variant: Variant, file: str) -> list[Diagnostic]:
    """Advice on a variant that was read from `file`, each piece at the line of that file it is about."""
    report = Report()
    places = _Places(variant, file)
    for number, level in enumerate(variant.levels):
        for one in _advice(level.rules, measures=number < MOST_LEVELS):
            report.say(one.code, places.of(one.path), one.message, one.help)
    return in_order(report.diagnostics)


def _advice(rules: Rules, *, measures: bool) -> Iterator[_Advice]:
    lost = list(_never_won(rules))
    yield from lost
    yield from _idle_options(rules)
    yield from _endless(rules)
    if measures:
        yield from _measured(rules, is_winnable=not lost)


class _Places:
    """Where in its own file a variant says something; the nearest key above where it does not say it."""

    def __init__(self, variant: Variant, file: str) -> None:
        tree = parse(Source(file, variant.id, variant.text), Report())
        first = variant.text.replace("\r\n", "\n").split("\n", 1)[0]
        self._entries = {} if tree is None else tree.entries
        self._top = Place(file, 1, 1, max(2, len(first) + 1), first)

    def of(self, path: str) -> Place:
        """The place of the deepest key of a dotted path that is there; of the first key where none is."""
        found = next(iter(self._entries.values()), None)
        entries: dict[str, Entry] = self._entries
        for name in path.split("."):
            entry = entries.get(name)
            if entry is None:
                break
            found = entry
            value = entry.value
            # Of several groups the first is shown: which of them it is about, the message says if it matters.
            if isinstance(value, Sequence) and value.items and isinstance(value.items[0], Mapping):
                value = value.items[0]
            entries = value.entries if isinstance(value, Mapping) else {}
        return self._top if found is None else found.key.place


def _measured(rules: Rules, *, is_winnable: bool) -> Iterator[_Advice]:
    positions = [deal_of(rules, f"ck:{number}") for number in range(1, DEALS + 1)]
    dead = sum(not has_first_move(position) for position in positions)
    if dead > DEALS // 2:
        yield _Advice(
            "R902",
            "deal",
            f"{dead} of {DEALS} deals have no first move",
            "deal more cards face up, or let more cards fit on each other in tableau.build",
        )
        return
    size = rules.deck.size()
    if (
        is_winnable
        and size <= MOST_CARDS
        and all(wins(position, within=3 * size // 2) for position in positions)
    ):
        # For most rules that ends at the first deal, which is not won so soon.
        yield _Advice(
            "R903",
            "tableau",
            f"all of {DEALS} deals are won nearly at once by a player who never thinks ahead",
            "deal more cards face down, or build more strictly",
        )


def _never_won(rules: Rules) -> Iterator[_Advice]:
    if rules.reserve.piles and any(one.zone == "reserve" for one in rules.deal):
        fills = any(columns.empty.auto_fill == "reserve" for columns in rules.tableau)
        if rules.reserve.playable == "none" and not fills and rules.goal.kind != "cards_in_foundations":
            yield _Advice(
                "R904",
                "reserve.playable",
                "no deal can be won: the cards of the reserve can never be played",
                "set reserve.playable: top, or tableau.empty.auto_fill: reserve",
            )
    for path, run in _wanted_runs(rules):
        yield from _impossible_run(rules, path, run)
    if rules.goal.kind == "runs_in_tableau" and not rules.foundation_count():
        needed, there = rules.deck.size() // _winning_run(rules).length, rules.column_count()
        if needed > there:
            yield _Advice(
                "R904",
                "tableau.columns",
                f"no deal can be won: {needed} complete runs are needed, and there {'is' if there == 1 else 'are'} {count(there, 'column')}",
                "use more columns, or let runs go to foundations",
            )


def _winning_run(rules: Rules) -> Run:
    groups = rules.foundations
    return groups[0].run if groups else Foundations(run=Run(length=len(rules.deck.ranks))).run


def _wanted_runs(rules: Rules) -> Iterator[tuple[str, Run]]:
    """The runs that have to be built in columns for a win."""
    if rules.goal.kind == "runs_in_tableau":
        yield "foundations.run", _winning_run(rules)
    elif all(group.accept == "run" for group in rules.foundations if group.count):
        for group in rules.foundations:
            yield "foundations.run", group.run


def _impossible_run(rules: Rules, path: str, run: Run) -> Iterator[_Advice]:
    heights = [columns.max_cards for columns in rules.tableau]
    highest = max((height for height in heights if height is not None), default=None)
    if None not in heights and highest is not None and highest < run.length:
        yield _Advice(
            "R904",
            "tableau.max_cards",
            f"no deal can be won: a complete run has {count(run.length, 'card')}, and a column holds at most {highest}",
            f"set tableau.max_cards: {run.length} or more",
        )
    elif _longest_run(rules, run) < run.length:
        yield _Advice(
            "R904",
            path,
            "no deal can be won: what is a complete run can't be built in a column",
            "see tableau.build: each card of a run has to fit on the one below it",
        )


def _longest_run(rules: Rules, run: Run) -> int:
    """How many cards of a run can be built upon each other in columns; no more than a run has."""
    order = rank_order(rules, None)
    in_deck = deck_set(rules)
    wanted = relation_table(Relation(suit=run.suit, rank=run.rank, wrap=run.wrap), order)
    built = [0] * 52
    for columns in rules.tableau:
        for card, cards in enumerate(relation_table(columns.build, order)):
            built[card] |= cards
    reached, length = in_deck, 1
    while length < run.length:
        further = 0
        for card in range(52):
            if reached >> card & 1:
                further |= wanted[card] & built[card] & in_deck
        if not further:
            break
        reached, length = further, length + 1
    return length


def _idle_options(rules: Rules) -> Iterator[_Advice]:
    for columns in rules.tableau:
        yield from _idle_in_columns(rules, columns)
    stock = rules.stock
    refills = all(columns.empty.auto_fill in ("stock", "waste_then_stock") for columns in rules.tableau)
    if stock.require == "no_empty_column" and refills and rules.stock_size():
        yield _Advice(
            "R905",
            "stock.require",
            '"require" can\'t matter: while there is a stock no column stays empty',
            "leave it out, or leave tableau.empty.auto_fill out",
        )


def _idle_in_columns(rules: Rules, columns: Columns) -> Iterator[_Advice]:
    longest, group = _longest_group(rules, columns), columns.group
    if (
        isinstance(group.limit, int)
        and group.count == "cards"
        and group.unit != "single"
        and group.limit >= longest
    ):
        yield _Advice(
            "R905",
            "tableau.group.limit",
            f'"limit" can\'t matter: no more than {count(longest, "card")} ever move together',
            f"use less than {longest}, or leave it out",
        )
    most = columns.empty.max_cards
    if most is not None and group.unit != "single" and columns.empty.accepts != "none" and most >= longest:
        yield _Advice(
            "R905",
            "tableau.empty.max_cards",
            f'"max_cards" can\'t matter: no more than {count(longest, "card")} ever move together',
            f"use less than {longest}, or leave it out",
        )
    accepts = columns.empty.accepts
    if isinstance(accepts, tuple) and set(accepts) >= set(rules.deck.ranks):
        yield _Advice(
            "R905",
            "tableau.empty.accepts",
            '"accepts" can\'t matter: it names every rank of the deck',
            "write any",
        )
    relation = Relation(suit=group.suit, rank=group.rank, wrap=group.wrap)
    if group.unit in ("run", "top_or_whole") and relation != columns.build and _is_empty(rules, relation):
        yield _Advice(
            "R905",
            "tableau.group",
            "no two cards of this deck hold together, so only single cards move",
            "write unit: single, or mend suit and rank of the group",
        )


def _is_empty(rules: Rules, relation: Relation) -> bool:
    in_deck = deck_set(rules)
    table = relation_table(relation, rank_order(rules, None))
    return not any(table[card] & in_deck for card in range(52) if in_deck >> card & 1)


def _longest_group(rules: Rules, columns: Columns) -> int:
    """The most cards that can ever move together: a sequence ends with the ranks where these do not go round."""
    group, size = columns.group, rules.deck.size()
    directed = group.rank in ("down", "up", "down2", "up2") and not group.wrap
    if group.unit in ("run", "top_or_whole") and directed:
        steps = 2 if group.rank.endswith("2") else 1
        return min(size, -(-len(rules.deck.ranks) // steps))
    return size


def _endless(rules: Rules) -> Iterator[_Advice]:
    stock = rules.stock
    if rules.loss.when == "never":
        yield _Advice(
            "R906",
            "loss.when",
            "a game that can't be won has no end but giving up",
            "set loss.when: no_legal_move",
        )
    elif stock.shuffle and stock.passes is None and stock.deal_to == "waste" and rules.stock_size():
        yield _Advice(
            "R906",
            "stock.shuffle",
            "a game may go on for ever: the stock never ends and always comes in a new order",
            "set stock.passes to a number, or shuffle: false",
        )
