"""What a variant's rules are once its YAML has been read: frozen values with a canonical text and a hash.

Decides nothing about syntax (``language.read``) and nothing about play (``engine``). Fields carry the names of
RULES.md's keys; ranks are ints 0–12 in place of letters, and everything optional is spelled out, so two YAML files which
mean the same game have the same canonical text. A recorded game keeps that text: never rename a field or change what a
value means; add fields with a default that means "as before" (``omit_defaults`` keeps old hashes valid).
"""

from __future__ import annotations

import hashlib
from typing import Literal

import msgspec

from chilkoot.cards import RANKS

__all__ = [
    "Aids",
    "Cells",
    "Columns",
    "DealPass",
    "DealPolicy",
    "Deck",
    "Empty",
    "Foundations",
    "Goal",
    "Group",
    "Level",
    "Loss",
    "Redeal",
    "Relation",
    "Reserve",
    "Rules",
    "Run",
    "Score",
    "Stock",
    "Variant",
    "VariantTest",
    "canonical_text",
    "from_canonical",
    "rules_hash",
]

SuitRelation = Literal["same", "different", "color", "alternate", "any"]
RankRelation = Literal["down", "up", "updown", "equal", "down2", "up2", "any"]
Zone = Literal["tableau", "cells", "waste", "reserve", "foundations", "stock"]


class Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """A part of the rules: frozen, compared by value, its defaults left out of the canonical text."""


class Relation(Part, frozen=True):
    """How the upper of two cards relates to the one below it."""

    suit: SuitRelation = "alternate"
    rank: RankRelation = "down"
    wrap: bool = False


class Deck(Part, frozen=True):
    """The cards of the game. `ranks` in ascending order beginning with `low`, or with the ace where `low` is dealt."""

    packs: int = 1
    suits: str = "CDHS"
    ranks: tuple[int, ...] = tuple(range(13))
    low: int | Literal["dealt"] = 0

    def size(self) -> int:
        """Cards in all packs together."""
        return self.packs * len(self.suits) * len(self.ranks)


class DealPass(Part, frozen=True):
    """One pass of the deal over a zone.

    `picture` has one letter a place (``U`` up, ``D`` down, ``.`` skip), repeats already expanded into passes of their own.
    With `rank` the picture is not read: `take` cards of that rank are taken out of the shuffled pack before the deal.
    """

    zone: Literal["tableau", "foundations", "cells", "reserve", "waste"] = "tableau"
    picture: str = ""
    leftward: bool = False
    rank: int | None = None
    take: int = 0


class Group(Part, frozen=True):
    """Which cards of a column move together."""

    unit: Literal["any", "run", "single", "whole", "top_or_whole"] = "run"
    suit: SuitRelation = "alternate"
    rank: RankRelation = "down"
    wrap: bool = False
    limit: int | Literal["none", "cells", "supermove"] = "none"
    count: Literal["cards", "suit_runs"] = "cards"


class Empty(Part, frozen=True):
    """What an empty column takes; `sources` are the zones it takes cards from, `max_cards` the largest group."""

    accepts: tuple[int, ...] | Literal["any", "none", "base_high"] = "any"
    sources: tuple[Zone, ...] = msgspec.field(
        name="from", default=("tableau", "cells", "waste", "reserve", "foundations", "stock")
    )
    max_cards: int | None = None
    whole_column: Literal["allow", "refuse"] = "allow"
    auto_fill: Literal["none", "reserve", "waste", "stock", "waste_then_stock", "next_column"] = "none"


class Columns(Part, frozen=True):
    """A group of neighbouring columns with the same rules."""

    columns: int = 7
    build: Relation = Relation()
    group: Group = Group()
    empty: Empty = Empty()
    max_cards: int | None = None
    expose: Literal["auto", "manual"] = "auto"


class Cells(Part, frozen=True):
    """Free cells and the zones whose last cards may go there."""

    count: int = 0
    sources: tuple[Zone, ...] = msgspec.field(name="from", default=("tableau",))


class Reserve(Part, frozen=True):
    """Reserve piles; with `playable` none they only fill columns."""

    piles: int = 0
    playable: Literal["top", "none"] = "top"


class Run(Part, frozen=True):
    """A complete run, as foundations that take whole runs and the goal `runs_in_tableau` mean it."""

    suit: SuitRelation = "same"
    rank: RankRelation = "down"
    wrap: bool = False
    length: int = 13


class Foundations(Part, frozen=True):
    """A group of neighbouring foundations with the same rules."""

    count: int = 4
    base: int | Literal["dealt", "first_played"] = 0
    suits: Literal["one_each", "any"] = "one_each"
    build: Relation = Relation(suit="same", rank="up")
    accept: Literal["card", "run"] = "card"
    run: Run = Run()
    returns: Literal["never", "always", "when_stock_empty"] = msgspec.field(name="return", default="never")
    auto: Literal["never", "safe", "always"] = "never"


class Stock(Part, frozen=True):
    """What turning the stock does; `passes` None is without limit."""

    deal_to: Literal["none", "waste", "tableau", "tableau_nonempty", "reserve"] = "none"
    draw: int = 1
    passes: int | None = 1
    require: Literal["none", "no_empty_column"] = "none"
    shuffle: bool = False


class Redeal(Part, frozen=True):
    """How often, and how, the whole tableau may be gathered and dealt again."""

    gather: Literal["order", "reverse", "packets"] = "order"
    shuffle: bool = False
    times: int = 0


class Goal(Part, frozen=True):
    """When a game is won; `cards` belongs to ``cards_in_foundations``."""

    kind: Literal["foundations_full", "runs_in_tableau", "cards_in_foundations"] = "foundations_full"
    cards: int = 0


class Loss(Part, frozen=True):
    """When a game is lost, giving up aside."""

    when: Literal["no_legal_move", "never"] = "no_legal_move"


class Score(Part, frozen=True):
    """Points, of which there is one kind."""

    per_foundation_card: int = 1


class Aids(Part, frozen=True):
    """What helps the player; `undo` None is without limit, 0 is none."""

    undo: int | None = None
    hints: bool = True
    send_home: bool = True
    auto: bool = True


class DealPolicy(Part, frozen=True):
    """Whether fresh deals are chosen so that a search found a winning line."""

    winnable: Literal["none", "prefer", "require"] = "none"


class Rules(Part, frozen=True):
    """The rules of one variant at one level. The same value is the same game."""

    deck: Deck = Deck()
    deal: tuple[DealPass, ...] = ()
    setup: tuple[Literal["aces_to_foundations", "base_card", "kings_to_bottom", "low_to_bottom"], ...] = ()
    tableau: tuple[Columns, ...] = (Columns(),)
    cells: Cells = Cells()
    reserve: Reserve = Reserve()
    foundations: tuple[Foundations, ...] = (Foundations(),)
    stock: Stock = Stock()
    redeal: Redeal = Redeal()
    goal: Goal = Goal()
    loss: Loss = Loss()
    score: Score = Score()
    aids: Aids = Aids()
    deal_policy: DealPolicy = DealPolicy()

    def column_count(self) -> int:
        """Columns of all groups together."""
        return sum(group.columns for group in self.tableau)

    def foundation_count(self) -> int:
        """Foundations of all groups together."""
        return sum(group.count for group in self.foundations)

    def stock_size(self) -> int:
        """Cards left in the stock after the deal."""
        dealt = sum(
            one.take if one.rank is not None else sum(letter != "." for letter in one.picture)
            for one in self.deal
        )
        if "aces_to_foundations" in self.setup:
            dealt += self.deck.packs * len(self.deck.suits)
        return self.deck.size() - dealt - ("base_card" in self.setup)


class VariantTest(msgspec.Struct, frozen=True, kw_only=True):
    """One entry of a variant's `tests`: a board (a fragment is enough), a move, and ``legal`` or the refusal code.

    `line` and `column` are the place of what is expected.
    """

    board: str
    move: str
    expect: str
    level: int | None = None
    line: int = 0
    column: int = 0


class Level(msgspec.Struct, frozen=True, kw_only=True):
    """One level of a variant: its number (None where a variant has no levels), its rules and their hash."""

    number: int | None
    rules: Rules
    hash: str


class Variant(msgspec.Struct, frozen=True, kw_only=True):
    """A variant as read from its file: what people call it, and the rules of its levels."""

    id: str
    name: str
    family: str = ""
    aka: tuple[str, ...] = ()
    summary: str = ""
    credits: str = ""
    source: str = ""
    levels: tuple[Level, ...]
    default_level: int | None = None
    tests: tuple[VariantTest, ...] = ()
    text: str = ""

    def level(self, number: int | None = None) -> Level | None:
        """The level of that number, the default level for None; None where there is no such level."""
        wanted = self.default_level if number is None else number
        return next((level for level in self.levels if level.number == wanted), None)


_ENCODER = msgspec.json.Encoder(order="sorted")


def canonical_text(rules: Rules) -> str:
    """The canonical JSON of rules: sorted keys, defaults left out, ASCII only."""
    return _ENCODER.encode(_plain(rules)).decode()


def _plain(value: object) -> object:
    # `omit_defaults` alone compares nested parts by identity, so equal rules could get different texts.
    if isinstance(value, Part):
        names = zip(
            value.__struct_fields__, value.__struct_encode_fields__, value.__struct_defaults__, strict=True
        )
        given = ((encoded, getattr(value, name), default) for name, encoded, default in names)
        return {encoded: _plain(one) for encoded, one, default in given if one != default}
    return [_plain(one) for one in value] if isinstance(value, tuple) else value


def from_canonical(text: str) -> Rules:
    """Read a canonical text. Raises msgspec.ValidationError where it is not one."""
    return msgspec.json.decode(text, type=Rules)


def rules_hash(rules: Rules) -> str:
    """SHA-256 of the canonical text, in hex."""
    return hashlib.sha256(canonical_text(rules).encode()).hexdigest()


def rank_letters(ranks: tuple[int, ...]) -> str:
    """Ranks in letters, ``A23``."""
    return "".join(RANKS[rank] for rank in ranks)
