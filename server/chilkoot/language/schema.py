"""The one table of the rules language: every key, what it takes, what it is where it is not given, what it means.

The reader, the tables of ``rules/README.md`` and the schema for editors are made from it, so a key or a word that is not here
does not exist. What keys mean together is decided by ``checks``, what they do by the engine.
"""

from __future__ import annotations

from typing import Final

import msgspec

__all__ = [
    "ID_PATTERN",
    "KEYS",
    "REFUSAL_CODES",
    "Accepts",
    "Choice",
    "Deal",
    "Flag",
    "Goal",
    "Id",
    "Key",
    "Kind",
    "Levels",
    "ListOf",
    "Number",
    "Rank",
    "Ranks",
    "Section",
    "Suits",
    "Tests",
    "Text",
    "Version",
    "keys_of",
]

ID_PATTERN: Final = "[a-z][a-z0-9-]{0,39}"


class Choice(msgspec.Struct, frozen=True):
    """One of a few words, each with its meaning."""

    words: dict[str, str]


class Number(msgspec.Struct, frozen=True):
    """A whole number from `low` to `high`, or a word that stands for a value of its own."""

    low: int
    high: int
    words: dict[str, int | str | None] = {}


class Flag(msgspec.Struct, frozen=True):
    """``true`` or ``false``."""


class Text(msgspec.Struct, frozen=True):
    """Text for people, at most `longest` characters."""

    longest: int


class ListOf(msgspec.Struct, frozen=True):
    """A list of values of one kind, none of them twice, from `fewest` to `most`."""

    item: Choice | Text
    most: int
    fewest: int = 0


class Id(msgspec.Struct, frozen=True):
    """The id of a variant."""


class Version(msgspec.Struct, frozen=True):
    """The version of the language."""


class Suits(msgspec.Struct, frozen=True):
    """Letters of suits."""


class Ranks(msgspec.Struct, frozen=True):
    """A range of ranks, ``6-A``, or a list of them."""


class Rank(msgspec.Struct, frozen=True):
    """A rank, or one of a few words."""

    words: dict[str, str]


class Accepts(msgspec.Struct, frozen=True):
    """A rank, a list of ranks, or one of a few words."""

    words: dict[str, str]


class Section(msgspec.Struct, frozen=True):
    """A mapping of further keys; with `many` also a list of such mappings."""

    many: bool = False


class Deal(msgspec.Struct, frozen=True):
    """The pictures of the deal."""


class Goal(msgspec.Struct, frozen=True):
    """The goal: a word, or a mapping with one number."""

    words: dict[str, str]


class Levels(msgspec.Struct, frozen=True):
    """Numbers of levels with what differs on each."""


class Tests(msgspec.Struct, frozen=True):
    """Small positions with what is expected of a move."""


Kind = (
    Choice
    | Number
    | Flag
    | Text
    | ListOf
    | Id
    | Version
    | Suits
    | Ranks
    | Rank
    | Accepts
    | Section
    | Deal
    | Goal
    | Levels
    | Tests
)


class Key(msgspec.Struct, frozen=True):
    """One key. `is_about` marks what a file says about itself: not part of the rules, not inherited, the same on all levels."""

    path: str
    kind: Kind
    default: str
    meaning: str
    since: int = 1
    is_about: bool = False


_SUIT_WORDS: Final = {
    "same": "the same suit",
    "different": "another suit",
    "color": "the same colour",
    "alternate": "the other colour",
    "any": "any suit",
}
_RANK_WORDS: Final = {
    "down": "one rank lower than the card below it",
    "up": "one rank higher",
    "updown": "one rank lower or higher",
    "equal": "the same rank",
    "down2": "two ranks lower",
    "up2": "two ranks higher",
    "any": "any rank",
}
_ZONE_WORDS: Final = {
    "tableau": "the last card of a column",
    "cells": "a card in a cell",
    "waste": "the last card of the waste",
    "reserve": "the last card of a reserve pile",
    "foundations": "the last card of a foundation, where `foundations.return` lets it go",
    "stock": "the next card of the stock",
}

REFUSAL_CODES: Final = (
    "not_available",
    "face_down",
    "not_a_sequence",
    "too_many_cards",
    "one_card_only",
    "cell_full",
    "no_return",
    "whole_column",
    "needs_king",
    "wrong_start",
    "empty_column",
    "foundation_order",
    "column_full",
    "same_color",
    "wrong_color",
    "wrong_suit",
    "wrong_rank",
    "no_stock",
    "no_redeal",
    "nothing_to_send_home",
)
"""The reasons for which a move can be refused on a board, as the protocol names them and `tests` may expect them."""


def _relation(path: str, what: str, suit: str, rank: str, wrap: str = "false") -> tuple[Key, Key, Key]:
    return (
        Key(f"{path}.suit", Choice(_SUIT_WORDS), suit, f"Suit of {what}."),
        Key(f"{path}.rank", Choice(_RANK_WORDS), rank, f"Rank of {what}."),
        Key(f"{path}.wrap", Flag(), wrap, "Whether the ranks go round, so that ace and king are neighbours."),
    )


KEYS: Final[tuple[Key, ...]] = (
    Key("dsl", Version(), "1", "Version of the language that the file is written in.", is_about=True),
    Key(
        "name",
        Text(60),
        "the id in words",
        "What people call the game. Its id is the name of the file.",
        is_about=True,
    ),
    Key("family", Text(40), "none", "The family that the game is listed under."),
    Key("aka", ListOf(Text(60), 20), "[]", "Other names of the game.", is_about=True),
    Key("summary", Text(400), "none", "The game in a sentence.", is_about=True),
    Key("credits", Text(400), "none", "Who invented or described it.", is_about=True),
    Key("source", Text(400), "none", "Where these rules were taken from.", is_about=True),
    Key(
        "extends",
        Id(),
        "none",
        "Another variant to build on: mappings merge, lists and values replace, `null` removes.",
        is_about=True,
    ),
    Key("deck", Section(), "", "The cards of the game."),
    Key("deck.packs", Number(1, 8), "1", "How many packs are shuffled together."),
    Key("deck.suits", Suits(), "CDHS", "The suits of each pack, by their letters."),
    Key(
        "deck.ranks",
        Ranks(),
        "A-K",
        "The ranks of each suit: a range (`6-A` is six to king and the ace) or a list.",
    ),
    Key(
        "deck.low",
        Rank({"dealt": "the rank of the card that the deal puts on the first foundation"}),
        "A, or else the lowest rank given",
        "The lowest rank, from which the others count upwards.",
    ),
    Key(
        "deal",
        Deal(),
        "has to be given",
        "How the cards are dealt: pictures, one for each pass over the columns.",
    ),
    Key(
        "setup",
        ListOf(
            Choice(
                {
                    "aces_to_foundations": "the aces are taken out of the pack before the deal",
                    "base_card": "one card is dealt to its foundation before the first pass",
                    "kings_to_bottom": "after the deal kings go to the bottom of their columns",
                    "low_to_bottom": "after the deal cards of the lowest rank go to the bottom of their columns",
                }
            ),
            4,
        ),
        "[]",
        "Special steps of the deal.",
    ),
    Key(
        "tableau",
        Section(many=True),
        "",
        "The columns; as a list, groups of columns with rules of their own, left to right.",
    ),
    Key("tableau.columns", Number(1, 32), "7", "How many columns there are (in this group)."),
    Key("tableau.build", Section(), "", "Which card may be put on a column's last card."),
    *_relation("tableau.build", "a card that is put on a column's last card", "alternate", "down"),
    Key("tableau.group", Section(), "", "Which cards of a column move together."),
    Key(
        "tableau.group.unit",
        Choice(
            {
                "any": "any face-up card with all cards on it, in order or not",
                "run": "cards that lie in sequence",
                "single": "one card at a time",
                "whole": "only the whole column",
                "top_or_whole": "the last card, or the whole column",
            }
        ),
        "run",
        "What moves together.",
    ),
    *_relation(
        "tableau.group", "cards that hold together while they move", "as build", "as build", "as build"
    ),
    Key(
        "tableau.group.limit",
        Number(1, 416, {"none": "none", "cells": "cells", "supermove": "supermove"}),
        "none",
        "The most cards in one move: a number, `cells` (free cells + 1), or `supermove` (also doubled for each empty column).",
    ),
    Key(
        "tableau.group.count",
        Choice({"cards": "each card counts", "suit_runs": "each run of one suit counts once"}),
        "cards",
        "What `limit` counts.",
    ),
    Key("tableau.empty", Section(), "", "What an empty column takes."),
    Key(
        "tableau.empty.accepts",
        Accepts(
            {"any": "every card", "none": "no card", "base_high": "the rank below the foundations' base"}
        ),
        "any",
        "The ranks that may go into an empty column (with the cards on them).",
    ),
    Key(
        "tableau.empty.from",
        ListOf(Choice(_ZONE_WORDS), 6, 1),
        "all of them",
        "Where the cards for an empty column may come from.",
    ),
    Key(
        "tableau.empty.max_cards",
        Number(1, 416, {"unlimited": None}),
        "unlimited",
        "The most cards that may start an empty column.",
    ),
    Key(
        "tableau.empty.whole_column",
        Choice(
            {
                "allow": "a whole column may move into an empty one",
                "refuse": "it may not, for it changes nothing",
            }
        ),
        "allow",
        "Whether a whole column may move into an empty one.",
    ),
    Key(
        "tableau.empty.auto_fill",
        Choice(
            {
                "none": "nothing; the player fills it",
                "reserve": "the last card of the reserve",
                "waste": "the last card of the waste",
                "stock": "the next card of the stock",
                "waste_then_stock": "the last card of the waste, or of the stock where the waste is empty",
                "next_column": "the movable part of the next column to the right",
            }
        ),
        "none",
        "What fills an empty column at once.",
    ),
    Key(
        "tableau.max_cards",
        Number(1, 416, {"unlimited": None}),
        "unlimited",
        "The most cards that a column may hold.",
    ),
    Key(
        "tableau.expose",
        Choice(
            {
                "auto": "a covered last card turns up by itself",
                "manual": "the player turns it up, which is an action",
            }
        ),
        "auto",
        "How covered cards turn up.",
    ),
    Key("cells", Section(), "", "Free cells, one card each."),
    Key("cells.count", Number(0, 12), "0", "How many cells there are."),
    Key(
        "cells.from",
        ListOf(Choice(_ZONE_WORDS), 6, 1),
        "[tableau]",
        "Where cards for the cells may come from.",
    ),
    Key("reserve", Section(), "", "Piles that are dealt at the start and played from."),
    Key("reserve.piles", Number(0, 32), "0", "How many reserve piles there are."),
    Key(
        "reserve.playable",
        Choice({"top": "the last card of each pile", "none": "no card; the reserve only fills columns"}),
        "top",
        "Which of its cards may be played.",
    ),
    Key(
        "foundations",
        Section(many=True),
        "",
        "Where the cards go home; as a list, groups of foundations with rules of their own.",
    ),
    Key(
        "foundations.count", Number(0, 32), "suits × packs", "How many foundations there are (in this group)."
    ),
    Key(
        "foundations.base",
        Rank(
            {
                "dealt": "the rank of the card that the deal puts there",
                "first_played": "the rank of the first card played there",
            }
        ),
        "the lowest rank",
        "The rank that begins a foundation.",
    ),
    Key(
        "foundations.suits",
        Choice(
            {"one_each": "pile 1 clubs, pile 2 diamonds, and so on round", "any": "every pile takes any suit"}
        ),
        "one_each",
        "Which suits a foundation takes.",
    ),
    Key("foundations.build", Section(), "", "Which card may follow on a foundation."),
    *_relation("foundations.build", "the next card on a foundation", "same", "up"),
    Key(
        "foundations.accept",
        Choice(
            {"card": "one card at a time", "run": "only whole completed runs, which go home by themselves"}
        ),
        "card",
        "What goes home.",
    ),
    Key("foundations.run", Section(), "", "What a complete run is."),
    *_relation("foundations.run", "a card on the one below it in a complete run", "same", "down"),
    Key("foundations.run.length", Number(1, 104), "all ranks", "The number of cards in a complete run."),
    Key(
        "foundations.return",
        Choice(
            {
                "never": "no card comes back",
                "always": "the last card may come back onto a column that takes it",
                "when_stock_empty": "it may when the stock is empty",
            }
        ),
        "never",
        "Whether cards come back from a foundation.",
    ),
    Key(
        "foundations.auto",
        Choice(
            {
                "never": "none",
                "safe": "those which no other card can still need",
                "always": "all that fit",
            }
        ),
        "never",
        "Which cards go home by themselves after an action.",
    ),
    Key("stock", Section(), "", "What is left after the deal."),
    Key(
        "stock.deal_to",
        Choice(
            {
                "none": "nowhere",
                "waste": "onto the waste",
                "tableau": "one card onto each column",
                "tableau_nonempty": "one card onto each column that is not empty",
                "reserve": "one card onto each reserve pile",
            }
        ),
        "none",
        "Where turning the stock puts cards.",
    ),
    Key("stock.draw", Number(1, 52), "1", "How many cards are turned onto the waste at a time."),
    Key(
        "stock.passes", Number(1, 1000, {"unlimited": None}), "1", "How often the stock may be gone through."
    ),
    Key(
        "stock.require",
        Choice({"none": "nothing", "no_empty_column": "no column may be empty"}),
        "none",
        "What must hold before the stock may be turned.",
    ),
    Key("stock.shuffle", Flag(), "false", "Whether the waste is shuffled when it becomes the stock again."),
    Key("redeal", Section(), "", "Gathering the whole tableau and dealing it again."),
    Key(
        "redeal.gather",
        Choice(
            {
                "order": "columns left to right, each from its bottom card, and dealt by the pictures",
                "reverse": "columns right to left, and dealt by the pictures",
                "packets": "the first column on top, and dealt off the top in packets as high as the columns were at first",
            }
        ),
        "order",
        "How the columns are gathered and dealt again.",
    ),
    Key("redeal.shuffle", Flag(), "false", "Whether the gathered cards are shuffled."),
    Key("redeal.times", Number(0, 100), "0", "How often the player may do so."),
    Key(
        "goal",
        Goal(
            {
                "foundations_full": "all cards are on the foundations",
                "runs_in_tableau": "all cards lie in complete runs in the columns or are home",
            }
        ),
        "foundations_full",
        "When the game is won; `{cards_in_foundations: 26}` asks for so many cards at home.",
    ),
    Key("loss", Section(), "", "When the game is lost."),
    Key(
        "loss.when",
        Choice({"no_legal_move": "as soon as no legal move is left", "never": "only by giving up"}),
        "no_legal_move",
        "When the game is lost.",
    ),
    Key("score", Section(), "", "Points."),
    Key("score.per_foundation_card", Number(0, 1000), "1", "Points for each card on a foundation."),
    Key("aids", Section(), "", "What helps the player."),
    Key(
        "aids.undo",
        Number(1, 5000, {"unlimited": None, "none": 0}),
        "unlimited",
        "How many actions may be taken back in a game.",
    ),
    Key("aids.hints", Flag(), "true", "Whether the player may ask for a hint."),
    Key("aids.send_home", Flag(), "true", "Whether the player may send all cards home that fit."),
    Key("aids.auto", Flag(), "true", "Whether the player may let the program make a move."),
    Key("deal_policy", Section(), "", "How fresh deals are chosen."),
    Key(
        "deal_policy.winnable",
        Choice(
            {
                "none": "any deal",
                "prefer": "one for which a search found a winning line, whenever it can",
                "require": "only such deals",
            }
        ),
        "none",
        "Whether fresh deals are known to be winnable.",
    ),
    Key(
        "levels",
        Levels(),
        "none",
        "Levels of difficulty: a number each, with what differs from the rest of the file.",
    ),
    Key("default_level", Number(1, 99), "the lowest", "The level that is played where none is named."),
    Key(
        "tests",
        Tests(),
        "[]",
        "Small positions that pin what a move does, run by `chilkoot rules check`.",
        is_about=True,
    ),
    Key("tests.board", Text(4000), "has to be given", "The cards that matter: `t2: TH | t5: <AD> 9S 4D`."),
    Key("tests.move", Text(40), "has to be given", "The move: `t5 2 t2`, `t5 1 f`, `draw`."),
    Key(
        "tests.expect",
        Choice(
            {"legal": "the move is legal", **dict.fromkeys(REFUSAL_CODES, "it is refused for this reason")}
        ),
        "has to be given",
        "`legal`, or the reason for which the move is refused.",
    ),
    Key("tests.level", Number(1, 99), "the default level", "The level that the test is about."),
)

_CHILDREN: Final[dict[str, dict[str, Key]]] = {}
for _key in KEYS:
    _parent, _, _name = _key.path.rpartition(".")
    _CHILDREN.setdefault(_parent, {})[_name] = _key


def keys_of(section: str) -> dict[str, Key]:
    """The keys directly below a section by their names; the keys of the file itself for an empty path."""
    return _CHILDREN[section]
