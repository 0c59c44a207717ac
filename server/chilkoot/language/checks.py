"""Whether what a file says makes a game: pictures fit the table, every card is accounted for, the goal can be reached.

Decides errors only, from rules that could be read; a check whose input is broken keeps silent, for all has been said.
Keys that merely don't matter are for ``effects``.
"""

from __future__ import annotations

from collections import Counter
from typing import Final

from chilkoot.cards import RANKS
from chilkoot.language.codes import Report
from chilkoot.language.diagnostics import Place
from chilkoot.language.pictures import WrittenPass
from chilkoot.language.read import Given
from chilkoot.language.rules import Foundations, Rules
from chilkoot.language.words import plural, quoted

__all__ = ["check_rules"]

_MAX_COLUMNS: Final = 32
_MAX_FOUNDATIONS: Final = 32
_DECK: Final = ("deck.packs", "deck.suits", "deck.ranks", "deck.low")


def check_rules(given: Given, rules: Rules, top: Place, report: Report) -> None:
    """Report everything that keeps these rules from being a game; `top` is the place of what is not written anywhere."""
    check = _Check(given, rules, top, report)
    check.bounds()
    check.ranks()
    check.pictures()
    check.deal()
    check.foundation_passes()
    check.setup()
    check.heights()
    check.bases()
    check.stock()
    check.goal()


class _Check:
    def __init__(self, given: Given, rules: Rules, top: Place, report: Report) -> None:
        self.given = given
        self.rules = rules
        self.top = top
        self.report = report

    def _is_known(self, section: str, *names: str) -> bool:
        """Whether these keys of every group of a section could be read; other mistakes in it don't matter."""
        groups = range(self.given.groups[section])
        return self.given.is_sound(*(f"{section}[{number}].{name}" for number in groups for name in names))

    def _place(self, *paths: str) -> Place:
        return self.given.nearest_place(*paths) or self.top

    def _key_place(self, *paths: str) -> Place:
        return next((self.given.key_place(path) for path in paths if self.given.has(path)), self.top)

    def bounds(self) -> None:
        columns, foundations = self.rules.column_count(), self.rules.foundation_count()
        if columns > _MAX_COLUMNS and self._is_known("tableau", "columns"):
            self.report.say(
                "R304", self._key_place("tableau"), f"{columns} columns in all", f"use at most {_MAX_COLUMNS}"
            )
        if (
            foundations > _MAX_FOUNDATIONS
            and self._is_known("foundations", "count")
            and self.given.is_sound(*_DECK)
        ):
            self.report.say(
                "R304",
                self._key_place("foundations"),
                f"{foundations} foundations in all",
                f"use at most {_MAX_FOUNDATIONS}",
            )

    def ranks(self) -> None:
        if not self.given.is_sound("deck.ranks", "deck.low"):
            return
        deck = self.rules.deck
        if isinstance(deck.low, int):
            self._require_rank(deck.low, "deck.low")
        for number, columns in enumerate(self.rules.tableau):
            if isinstance(columns.empty.accepts, tuple):
                for rank in columns.empty.accepts:
                    self._require_rank(rank, f"tableau[{number}].empty.accepts")
        for number, foundations in enumerate(self.rules.foundations):
            # A base that is not given is the lowest rank, about which the deck has been asked already.
            if isinstance(foundations.base, int) and self.given.has(f"foundations[{number}].base"):
                self._require_rank(foundations.base, f"foundations[{number}].base")

    def _require_rank(self, rank: int, path: str) -> None:
        if rank not in self.rules.deck.ranks:
            name = path.rpartition(".")[2]
            has = " ".join(RANKS[one] for one in self.rules.deck.ranks)
            self.report.say(
                "R305",
                self._place(path),
                f"{quoted(name)} names {RANKS[rank]}, which the deck lacks",
                f"its ranks are {has}",
            )

    def pictures(self) -> None:
        taken: Counter[int] = Counter()
        for one in self.given.passes:
            zone, width = one.rule.zone, len(one.rule.picture)
            if zone == "tableau" and self._is_known("tableau", "columns"):
                self._require_width(one, self.rules.column_count(), "column")
            elif zone == "cells" and self.given.is_sound("cells.count"):
                if self._has_places(one, self.rules.cells.count, "cells.count"):
                    self._require_width(one, self.rules.cells.count, "cell")
                    taken.update(at for at, letter in enumerate(one.rule.picture) if letter == "U")
                    self._require_single_cards(one, taken)
            elif zone == "reserve" and self.given.is_sound("reserve.piles"):
                piles = self.rules.reserve.piles
                if not self._has_places(one, piles, "reserve.piles"):
                    continue
                if piles > 1:
                    self._require_width(one, piles, "reserve pile")
                elif "." in one.rule.picture:
                    at = one.start + one.rule.picture.index(".")
                    self.report.say(
                        "R114",
                        one.written.part(at, at + 1),
                        "a single reserve pile has no places to skip",
                        f"it takes all {width} cards of the picture",
                    )

    def _require_width(self, one: WrittenPass, places: int, noun: str) -> None:
        width = len(one.rule.picture)
        if width == places:
            return
        if width < places:
            hint = f'add "{"." * min(places - width, 32)}" where no card goes'
        else:
            hint = f"leave out {plural(width - places, 'letter')}, or mend the number of {noun}s"
        self.report.say(
            "R301",
            one.written.part(one.start, one.start + width),
            f"a picture of {plural(width, 'place')} for {plural(places, noun)}",
            hint,
        )

    def _has_places(self, one: WrittenPass, places: int, path: str) -> bool:
        if places:
            return True
        zone = path.partition(".")[0]
        self.report.say(
            "R307",
            one.written.place,
            f"cards are dealt to {quoted(zone)}, and there are none",
            f"say how many with {path}",
        )
        return False

    def _require_single_cards(self, one: WrittenPass, taken: Counter[int]) -> None:
        full = [at for at, cards in taken.items() if cards > 1]
        if full:
            at = min(full)
            self.report.say(
                "R310",
                one.written.part(one.start + at, one.start + at + 1),
                f"cell {at + 1} gets a second card",
                "a cell holds one card",
            )

    def deal(self) -> None:
        if not self.given.is_sound(*_DECK, "deal", "setup"):
            return
        size = self.rules.deck.size()
        left = size - self._set_aside()
        if any(
            one.rule.rank is not None and one.rule.rank not in self.rules.deck.ranks
            for one in self.given.passes
        ):
            return
        for one in self.given.passes:
            cards = (
                one.rule.take
                if one.rule.rank is not None
                else sum(letter != "." for letter in one.rule.picture)
            )
            if cards > left:
                self.report.say(
                    "R302",
                    one.written.place,
                    f"this pass deals {plural(cards, 'card')}, and {left} of the deck's {size} are left",
                    f"the whole deal has {plural(size - self.rules.stock_size(), 'card')}",
                )
                return
            left -= cards
        if left and not self._deals_from_stock() and self._knows_who_deals():
            self.report.say(
                "R303",
                self._key_place("deal"),
                f"{plural(left, 'card')} of {size} {'is' if left == 1 else 'are'} left over",
                'deal all cards, or say where the stock goes with "stock.deal_to"',
            )

    def _set_aside(self) -> int:
        deck = self.rules.deck
        aces = deck.packs * len(deck.suits) if "aces_to_foundations" in self.rules.setup else 0
        return aces + ("base_card" in self.rules.setup)

    def _deals_from_stock(self) -> bool:
        fills = {columns.empty.auto_fill for columns in self.rules.tableau}
        return (
            self.rules.stock.deal_to != "none"
            or not fills.isdisjoint({"stock", "waste_then_stock"})
            or (self.rules.cells.count > 0 and "stock" in self.rules.cells.sources)
        )

    def _knows_who_deals(self) -> bool:
        return self._is_known("tableau", "empty.auto_fill") and self.given.is_sound(
            "stock.deal_to", "cells.count", "cells.from"
        )

    def foundation_passes(self) -> None:
        if not self._is_known("foundations", "count", "base") or not self.given.is_sound(*_DECK):
            return
        copies = self.rules.deck.packs * len(self.rules.deck.suits)
        taken: Counter[int] = Counter({0: copies if "aces_to_foundations" in self.rules.setup else 0})
        single = int("base_card" in self.rules.setup)
        for one in self.given.passes:
            if one.rule.zone != "foundations":
                continue
            place = one.written.place
            if one.rule.rank is None:
                single += len(one.rule.picture)
                if not any(group.base in {"dealt", "first_played"} for group in self.rules.foundations):
                    self.report.say(
                        "R308",
                        place,
                        '"U" deals a card of any rank to a foundation',
                        "set foundations.base: dealt",
                    )
                elif single > 1:
                    self.report.say(
                        "R308",
                        place,
                        "a second card of any rank for the foundations",
                        "deal one; it fixes the base",
                    )
                continue
            rank = one.rule.rank
            taken[rank] += one.rule.take
            takers = sum(
                group.count
                for group in self.rules.foundations
                if group.base in {rank, "dealt", "first_played"}
            )
            if rank not in self.rules.deck.ranks:
                self.report.say("R305", place, f"the deck has no {RANKS[rank]}")
            elif taken[rank] > copies:
                self.report.say(
                    "R308",
                    place,
                    f"{taken[rank]} cards of rank {RANKS[rank]}, and the deck has {copies}",
                    f"take at most {copies}",
                )
            elif taken[rank] > takers:
                begin = f"{takers or 'no'} foundation{'' if takers == 1 else 's'} begin{'s' if takers == 1 else ''} with {RANKS[rank]}"
                self.report.say(
                    "R308",
                    place,
                    f"{plural(taken[rank], 'card')} of rank {RANKS[rank]}, and {begin}",
                    "see foundations.base",
                )

    def setup(self) -> None:
        if not self._is_known("foundations", "count", "base") or not self.given.is_sound(*_DECK, "setup"):
            return
        place = self._place("setup")
        bases = {group.base for group in self.rules.foundations}
        if "aces_to_foundations" in self.rules.setup:
            copies = self.rules.deck.packs * len(self.rules.deck.suits)
            takers = sum(
                group.count for group in self.rules.foundations if group.base in {0, "dealt", "first_played"}
            )
            if 0 not in self.rules.deck.ranks:
                self.report.say("R309", place, '"aces_to_foundations", and the deck has no aces')
            elif takers < copies:
                self.report.say(
                    "R309",
                    place,
                    f"{copies} aces, and {takers or 'no'} foundations that begin with one",
                    "set foundations.base: A",
                )
        if "base_card" in self.rules.setup and bases.isdisjoint({"dealt", "first_played"}):
            self.report.say(
                "R309",
                place,
                '"base_card" deals a card of any rank to a foundation',
                "set foundations.base: dealt",
            )
        if "low_to_bottom" in self.rules.setup and self.rules.deck.low == "dealt":
            self.report.say("R309", place, '"low_to_bottom" needs a lowest rank, and deck.low is dealt')

    def heights(self) -> None:
        if not self._is_known("tableau", "columns", "max_cards") or not self.given.is_sound("deal"):
            return
        height = [0] * max(self.rules.column_count(), 1)
        for one in self.given.passes:
            if one.rule.zone == "tableau" and len(one.rule.picture) == len(height):
                for at, letter in enumerate(one.rule.picture):
                    height[at] += letter != "."
        first = 0
        for number, columns in enumerate(self.rules.tableau):
            for at in range(first, first + columns.columns):
                if columns.max_cards is not None and height[at] > columns.max_cards:
                    self.report.say(
                        "R310",
                        self._place(f"tableau[{number}].max_cards"),
                        f"column {at + 1} is dealt {plural(height[at], 'card')}, and may hold {columns.max_cards}",
                        f"use at least {max(height[first : first + columns.columns])}, or deal fewer",
                    )
                    break
            first += columns.columns

    def bases(self) -> None:
        if not self._is_known("foundations", "base") or not self.given.is_sound(*_DECK, "deal", "setup"):
            return
        bases = [group.base for group in self.rules.foundations]
        if self.rules.deck.low == "dealt" and "dealt" not in bases:
            self.report.say(
                "R311",
                self._place("deck.low"),
                '"low: dealt" needs foundations whose base is dealt',
                "set foundations.base: dealt",
            )
        is_dealt = any(one.rule.zone == "foundations" for one in self.given.passes)
        if (
            "dealt" in bases
            and not is_dealt
            and not {"base_card", "aces_to_foundations"} & set(self.rules.setup)
        ):
            number = bases.index("dealt")
            self.report.say(
                "R311",
                self._place(f"foundations[{number}].base", "deck.low"),
                "the base is dealt, and no card is dealt to a foundation",
                "begin the deal with {foundations: U}",
            )
        for number, columns in enumerate(self.rules.tableau):
            if columns.empty.accepts == "base_high" and len(set(bases)) > 1:
                self.report.say(
                    "R311",
                    self._place(f"tableau[{number}].empty.accepts"),
                    '"base_high" needs one base, and the groups of foundations have several',
                    "name the ranks",
                )

    def stock(self) -> None:
        if (
            self.rules.stock.deal_to == "reserve"
            and self.given.is_sound("stock.deal_to", "reserve.piles")
            and not self.rules.reserve.piles
        ):
            self.report.say(
                "R307",
                self._place("stock.deal_to"),
                "the stock is dealt to the reserve, and there is none",
                "set reserve.piles",
            )

    def goal(self) -> None:
        counted = ("count", "base", "suits", "build", "accept", "run")
        if not self._is_known("foundations", *counted) or not self.given.is_sound(*_DECK, "goal"):
            return
        goal, size = self.rules.goal, self.rules.deck.size()
        self._check_runs()
        if goal.kind == "runs_in_tableau":
            length = self.rules.foundations[0].run.length
            if size % length:
                self.report.say(
                    "R306",
                    self._place("goal"),
                    f"{size} cards can't all lie in runs of {length}",
                    "see foundations.run.length",
                )
            return
        wanted = size if goal.kind == "foundations_full" else goal.cards
        places = ("goal", "foundations", "foundations[0].count")
        if not self.rules.foundation_count():
            self.report.say(
                "R306",
                self._place("foundations[0].count", "goal"),
                f'"{goal.kind}" needs foundations',
                "use goal: runs_in_tableau, or add some",
            )
            return
        if wanted > size:
            self.report.say(
                "R306", self._place("goal"), f"the goal asks for {wanted} cards, and the deck has {size}"
            )
            return
        if goal.kind == "foundations_full":
            self._check_suits()
        room = sum(group.count * _room(group, self.rules) for group in self.rules.foundations)
        if room < wanted:
            hint = 'see "base", "wrap" and "count" of the foundations'
            if any(group.base == "dealt" and not group.build.wrap for group in self.rules.foundations):
                hint = "a base that is dealt needs foundations.build.wrap: true"
            place = self.given.nearest_place(*_foundation_paths(self.rules), *places) or self.top
            self.report.say("R306", place, f"the foundations have room for {room} of {wanted} cards", hint)

    def _check_suits(self) -> None:
        suits = len(self.rules.deck.suits)
        for number, group in enumerate(self.rules.foundations):
            if group.suits == "one_each" and group.count % suits:
                self.report.say(
                    "R306",
                    self._place(f"foundations[{number}].count", "foundations"),
                    f"{plural(group.count, 'foundation')} can't be one for each of {plural(suits, 'suit')}",
                    f"use a multiple of {suits}, or suits: any",
                )

    def _check_runs(self) -> None:
        ranks = len(self.rules.deck.ranks)
        uses = self.rules.goal.kind == "runs_in_tableau"
        for number, group in enumerate(self.rules.foundations):
            run = group.run
            if (
                (group.accept == "run" or uses)
                and run.rank in {"up", "down"}
                and not run.wrap
                and run.length > ranks
            ):
                self.report.say(
                    "R306",
                    self._place(f"foundations[{number}].run.length"),
                    f"a run of {run.length} cards, and there are {plural(ranks, 'rank')}",
                    f"use at most {ranks}",
                )


def _foundation_paths(rules: Rules) -> list[str]:
    return [
        f"foundations[{number}].{name}"
        for number in range(len(rules.foundations))
        for name in ("base", "build.rank", "count", "run.length")
    ]


def _room(group: Foundations, rules: Rules) -> int:
    """How many cards one foundation of the group can hold."""
    if group.accept == "run":
        return group.run.length
    ranks = rules.deck.ranks
    step = {"up": 1, "down": -1, "up2": 2, "down2": -2}.get(group.build.rank)
    if step is None:
        return rules.deck.size()
    # Where the lowest rank is dealt it is the base, whichever that is.
    if group.base == "dealt":
        starts = [0] if rules.deck.low == "dealt" else list(range(len(ranks)))
    elif group.base == "first_played":
        return max(_walk(start, step, len(ranks), wrap=group.build.wrap) for start in range(len(ranks)))
    elif group.base in ranks:
        starts = [ranks.index(group.base)]
    else:
        return rules.deck.size()
    room = min(_walk(start, step, len(ranks), wrap=group.build.wrap) for start in starts)
    if group.build.wrap and room == len(ranks):
        # Past the last rank a foundation goes on round, as far as its share of the deck.
        return max(room, -(-rules.deck.size() // rules.foundation_count()))
    return room


def _walk(start: int, step: int, length: int, *, wrap: bool) -> int:
    seen: set[int] = set()
    at = start
    while at not in seen and (wrap or 0 <= at < length):
        seen.add(at)
        at = (at + step) % length if wrap else at + step
    return len(seen)
