"""The chapter on how a game begins: its cards, its table, and the way in which they are dealt."""

from __future__ import annotations

from collections import Counter
from itertools import groupby

from chilkoot.cards import RANK_WORDS, SUIT_WORDS, SUITS
from chilkoot.guide.english import count, listed, number, numbered, ranks_of, said, times
from chilkoot.guide.page import Block, Bullets, Item, Paragraph, Table
from chilkoot.guide.setting import Setting
from chilkoot.language.rules import DealPass, Rules

__all__ = ["cards", "deal_by_hand", "layout", "shape_words", "table_of_columns"]


_UP_DOWN = {"D": "down", "U": "up"}


def cards(setting: Setting) -> tuple[Block, ...]:
    """Which cards are used, and how their ranks and colours are ordered."""
    rules, deck = setting.rules, setting.rules.deck
    size = len(deck.suits) * len(deck.ranks)
    told = []
    if deck.packs == 1:
        told.append(f"The game is played with one pack of {count(size, 'card')}{_only(rules)}.")
    else:
        told.append(
            f"{number(deck.packs)} packs are shuffled together{_only(rules)}, {deck.size()} cards in all."
        )
    names = setting.ranks_listed()
    if deck.low == "dealt":
        told.append(f"The ranks are {names}, and go on from the last to the first.")
        told.append("Which of them is the lowest, the base rank, is decided by the deal.")
    elif len(deck.ranks) > 1:
        told.append(f"From low to high the ranks are {names}.")
    if len(deck.suits) > 1:
        told.append(_colours(deck.suits))
    return (Paragraph(tuple(map(said, told))),)


def _only(rules: Rules) -> str:
    """What the packs lack of whole ones, as a clause."""
    deck = rules.deck
    suits = [SUIT_WORDS[SUITS.index(suit)] for suit in sorted(deck.suits, key=SUITS.index)]
    has_all_ranks = len(deck.ranks) == 13
    if len(suits) == 4 and has_all_ranks:
        return ""
    told = []
    if len(suits) < 4:
        told.append(f"only {listed(suits)}")
    if not has_all_ranks:
        told.append("without the " + listed(ranks_of(rank) for rank in range(13) if rank not in deck.ranks))
    return f" ({', '.join(told)})"


def _colours(suits: str) -> str:
    black = [SUIT_WORDS[SUITS.index(suit)] for suit in "CS" if suit in suits]
    red = [SUIT_WORDS[SUITS.index(suit)] for suit in "DH" if suit in suits]
    return listed(
        f"{listed(names)} are {colour}" for names, colour in ((black, "black"), (red, "red")) if names
    )


def _shapes(rules: Rules) -> list[str]:
    """For each column how its cards lie, ``D`` face down and ``U`` face up, bottom card first."""
    shapes = [""] * rules.column_count()
    for one in rules.deal:
        if one.zone == "tableau" and one.rank is None:
            for place, letter in enumerate(one.picture):
                shapes[place] += letter.strip(".")
    return shapes


def _alike(shapes: list[str]) -> list[tuple[list[int], str]]:
    """The places of each shape, in the order in which the shapes come first."""
    found: dict[str, list[int]] = {}
    for place, shape in enumerate(shapes):
        found.setdefault(shape, []).append(place)
    return [(places, shape) for shape, places in found.items()]


def _lie(shape: str) -> str:
    """How the cards of a pile lie: ``five cards face down and one face up on them``."""
    runs = [(letter, len(list(run))) for letter, run in groupby(shape)]
    if not runs:
        return "no card"
    words = {"D": "face down", "U": "face up"}
    first = f"{count(runs[0][1], 'card')} {words[runs[0][0]]}"
    if len(runs) == 1:
        return first
    if len(runs) > 3 and all(size == 1 for _, size in runs):
        return f"{count(len(runs), 'card')}, face {_UP_DOWN[runs[0][0]]} and face {_UP_DOWN[runs[1][0]]} in turn, the bottom one face {_UP_DOWN[runs[0][0]]}"
    rest = [f"{number(size)} {words[letter]}" for letter, size in runs[1:]]
    on_them = "on it" if runs[0][1] == 1 and len(runs) == 2 else "on them" if len(runs) == 2 else "on top"
    return f"{listed([first, *rest], 'and')} {on_them}"


def shape_words(setting: Setting) -> str:
    """The columns as they are dealt, in one sentence."""
    alike = _alike(_shapes(setting.rules))
    if len(alike) == 1:
        each = (
            "The column gets"
            if setting.columns == 1
            else f"Each of the {number(setting.columns)} columns gets"
        )
        return f"{each} {_lie(alike[0][1])}."
    return said("; ".join(f"{numbered('column', places)}: {_lie(shape)}" for places, shape in alike))


def table_of_columns(setting: Setting) -> Table | None:
    """How many cards each column has and how they lie; None where all columns are alike or a sentence says it better."""
    alike = _alike(_shapes(setting.rules))
    if len(alike) == 1:
        return None
    shapes = [shape for _, shape in alike]
    if any("UD" in shape for shape in shapes):
        rows = [(_places(places), str(len(shape)), _lie(shape)) for places, shape in alike]
        return Table(("Column", "Cards", "How they lie, from the bottom"), tuple(rows))
    if any("D" in shape for shape in shapes):
        split = [
            (_places(places), str(shape.count("D")), str(shape.count("U")), str(len(shape)))
            for places, shape in alike
        ]
        return Table(("Column", "Face down", "Face up, on top", "Cards"), tuple(split))
    return Table(
        ("Column", "Cards, all face up"), tuple((_places(places), str(len(shape))) for places, shape in alike)
    )


def _places(places: list[int]) -> str:
    return numbered("", places).removeprefix("s").strip()


def layout(setting: Setting) -> tuple[Block, ...]:
    """The piles on the table, what lies on them at the start, and the table of the columns."""
    items = [
        Item(tuple(map(said, sentences)), term)
        for term, sentences in (
            ("Columns", _columns(setting)),
            ("Foundations", _foundations(setting)),
            ("Cells", _cells(setting)),
            ("Reserve", _reserve(setting)),
            ("Stock", _stock(setting)),
            ("Waste", _waste(setting)),
        )
        if sentences
    ]
    table = table_of_columns(setting)
    blocks: list[Block] = [Bullets(tuple(items))]
    if table is not None:
        blocks += [Paragraph(("The columns are dealt like this:",)), table]
        shapes = "".join(_shapes(setting.rules))
        down, up = shapes.count("D"), shapes.count("U")
        if down and up:
            blocks.append(
                Paragraph(
                    (
                        said(
                            f"in all, {count(down, 'card')} of the columns lie face down and {number(up)} face up"
                        ),
                    )
                )
            )
    return tuple(blocks)


def _columns(setting: Setting) -> list[str]:
    told = [
        f"{count(setting.columns, 'column')} of cards that overlap, so that every face-up card can be seen"
    ]
    if table_of_columns(setting) is None:
        told.append(shape_words(setting))
    told.append("The last card of a column is the one that no other card lies on")
    for rule, which in (
        ("kings_to_bottom", "every king"),
        ("low_to_bottom", "every card of the lowest rank"),
    ):
        if rule in setting.rules.setup:
            told.append(f"After the deal {which} is moved to the bottom of its column")
    return told


def _dealt(rules: Rules, zone: str) -> list[DealPass]:
    return [one for one in rules.deal if one.zone == zone and one.rank is None]


def _foundations(setting: Setting) -> list[str]:
    if not setting.foundations:
        return []
    rules = setting.rules
    piles = f"{count(setting.foundations, 'pile')}{_by_suit(setting)}, to which cards go home"
    taken: Counter[int] = Counter()
    for one in rules.deal:
        if one.rank is not None:
            taken[one.rank] += one.take
    if "aces_to_foundations" in rules.setup:
        taken[0] += rules.deck.packs * len(rules.deck.suits)
    turned = sum(len(one.picture) for one in _dealt(rules, "foundations")) + ("base_card" in rules.setup)
    begun = [_of_rank(number, rank) for rank, number in taken.items()]
    if turned:
        begun.append(f"{count(turned, 'card')} from the top of the shuffled pack")
    if not begun:
        return [f"{piles}; {'it is' if setting.foundations == 1 else 'they are'} empty at the start"]
    verb = "lies" if sum(taken.values()) + turned == 1 else "lie"
    return [piles, f"{listed(begun)} {verb} there at the start"]


def _of_rank(many: int, rank: int) -> str:
    return f"one {RANK_WORDS[rank]}" if many == 1 else f"{number(many)} {ranks_of(rank)}"


def _by_suit(setting: Setting) -> str:
    groups = [group for group in setting.rules.foundations if group.count]
    if any(group.suits != "one_each" for group in groups):
        return ""
    suits = len(setting.rules.deck.suits)
    if any(group.count % suits for group in groups) or suits == 1:
        return ""
    return f", {number(setting.foundations // suits)} for each suit"


def _cells(setting: Setting) -> list[str]:
    if not setting.cells:
        return []
    filled = sum(one.picture.count("U") + one.picture.count("D") for one in _dealt(setting.rules, "cells"))
    told = (
        "a place for a single card"
        if setting.cells == 1
        else f"{count(setting.cells, 'place')} for single cards"
    )
    if not filled:
        return [f"{told}; {'it is' if setting.cells == 1 else 'they are'} empty at the start"]
    if filled == setting.cells:
        return [
            told,
            "Each of them gets a card at the start" if filled > 1 else "It gets a card at the start",
        ]
    return [told, f"At the start {number(filled)} of them {'has' if filled == 1 else 'have'} a card"]


def _reserve(setting: Setting) -> list[str]:
    if not setting.reserves:
        return []
    rules = setting.rules
    shapes = [""] * setting.reserves
    for one in _dealt(rules, "reserve"):
        for place, letter in enumerate(one.picture):
            shapes[0 if setting.reserves == 1 else place] += letter.strip(".")
    told = "a pile" if setting.reserves == 1 else count(setting.reserves, "pile")
    if len(set(shapes)) == 1:
        each = "" if setting.reserves == 1 else "each "
        return [f"{told} {each}with {_lie(shapes[0])}"]
    alike = _alike(shapes)
    return [told, "; ".join(f"{numbered('pile', places)}: {_lie(shape)}" for places, shape in alike)]


def _stock(setting: Setting) -> list[str]:
    if not setting.stock:
        return []
    return [
        f"the {count(setting.stock, 'card')} that {'is' if setting.stock == 1 else 'are'} left, face down"
    ]


def _waste(setting: Setting) -> list[str]:
    if not setting.has_waste:
        return []
    lie = sum(len(one.picture) for one in _dealt(setting.rules, "waste"))
    if not lie:
        return ["the pile on which cards from the stock lie face up; it is empty at the start"]
    face_up = f"{count(lie, 'card')} {'lies' if lie == 1 else 'lie'} there face up at the start"
    if setting.turns_stock:
        return [f"the pile on which cards from the stock lie face up; {face_up}"]
    return [f"a pile of face-up cards; {face_up}"]


def deal_by_hand(setting: Setting) -> tuple[Block, ...]:
    """The steps of the deal in their order, which a numbered deal depends on."""
    rules = setting.rules
    steps = [*_taken_out(rules)]
    if "base_card" in rules.setup:
        steps.append("turn up one card and put it on a foundation")
    for _, run in groupby(one for one in rules.deal if one.rank is None):
        same = list(run)
        again = "" if len(same) == 1 else f"; do this {times(len(same))}"
        if same[0].zone in ("foundations", "waste") and len(same) > 1:
            whole = DealPass(zone=same[0].zone, picture="".join(one.picture for one in same))
            steps.append(_step(setting, whole))
        else:
            steps.append(_step(setting, same[0]) + again)
    for rule, which in (("kings_to_bottom", "king"), ("low_to_bottom", "card of the lowest rank")):
        if rule in rules.setup:
            steps.append(
                f"move every {which} to the bottom of its column; as many cards of the column lie face down as before"
            )
    if setting.stock:
        what = "the card that is left" if setting.stock == 1 else "the cards that are left"
        steps.append(f"put {what} face down as the stock")
    return (
        Paragraph(
            (
                "To deal by hand, shuffle the cards and hold the pack face down.",
                "A numbered deal puts its cards in the same order.",
            )
        ),
        Bullets(tuple(Item((said(step),)) for step in steps), is_numbered=True),
    )


def _taken_out(rules: Rules) -> list[str]:
    steps = []
    if "aces_to_foundations" in rules.setup:
        steps.append("take all aces out of the pack and put each on a foundation")
    for one in rules.deal:
        if one.rank is None:
            continue
        if one.take == rules.deck.packs * len(rules.deck.suits):
            steps.append(f"take all {ranks_of(one.rank)} out of the pack and put each on a foundation")
        else:
            which = _of_rank(one.take, one.rank)
            each = "put it on a foundation" if one.take == 1 else "put each on a foundation"
            apart = ", as far as possible of different suits," if one.take > 1 else ""
            steps.append(f"take {which}{apart} out of the pack and {each}")
    return steps


def _step(setting: Setting, one: DealPass) -> str:
    """One pass in words: ``deal one card face down to each of columns 2 to 7``."""
    if one.zone == "foundations":
        cards = count(len(one.picture), "card")
        return f"turn up {cards} and put {'it on a foundation' if len(one.picture) == 1 else 'each on a foundation'}"
    if one.zone == "waste":
        return f"deal {count(len(one.picture), 'card')} face up to the waste"
    if one.zone == "reserve" and setting.reserves == 1:
        return f"deal to the reserve {_lie(one.picture)}"
    nouns = {"tableau": ("column", setting.columns), "cells": ("cell", setting.cells)}
    noun, total = nouns.get(one.zone, ("reserve pile", setting.reserves))
    down = [place for place, letter in enumerate(one.picture) if letter == "D"]
    up = [place for place, letter in enumerate(one.picture) if letter == "U"]
    everywhere = sorted(down + up)
    where = _where(noun, everywhere, total)
    order = ", from right to left" if one.leftward and len(everywhere) > 1 else ""
    if down and up:
        faces = f"face down to {numbered(noun, down)}, face up to {numbered(noun, up)}"
        return f"deal one card to {where}{order}: {faces}"
    return f"deal one card face {'down' if down else 'up'} to {where}{order}"


def _where(noun: str, places: list[int], total: int) -> str:
    if len(places) == total and total > 1:
        return f"each {noun}"
    return numbered(noun, places) if len(places) == 1 else f"each of {numbered(noun, places)}"
