"""The chapter on foundations: what they take, what goes there by itself, what comes back."""

from __future__ import annotations

from typing import Final

from chilkoot.cards import RANK_WORDS, SUIT_WORDS, SUITS, card_words, rank_of, suit_of
from chilkoot.engine.tables import Tables, deck_set, tables_for
from chilkoot.guide.english import capital, count, listed, number, rank_with_article, said
from chilkoot.guide.page import Block, Bullets, Item, Paragraph
from chilkoot.guide.relations import around, fits_on, is_free
from chilkoot.guide.setting import Setting
from chilkoot.language.rules import Foundations

__all__ = ["automatic", "foundations", "returning"]

_UP: Final = {"up": "up", "down": "down", "up2": "up in steps of two", "down2": "down in steps of two"}


def foundations(setting: Setting) -> tuple[Block, ...]:
    """Which cards the foundations take, and in which order."""
    groups = setting.foundation_groups()
    if not groups:
        return ()
    told = [(name, tuple(map(said, _takes(setting, group)))) for name, group in groups]
    blocks: list[Block] = []
    if len(told) == 1:
        blocks.append(Paragraph(told[0][1]))
    else:
        blocks.append(Bullets(tuple(Item(sentences, capital(name)) for name, sentences in told)))
    if setting.takes_cards:
        blocks.append(Paragraph(tuple(map(said, _which_cards(setting)))))
    return tuple(blocks)


def _which_cards(setting: Setting) -> list[str]:
    sources = setting.sources(("tableau", "cells", "waste", "reserve"))
    return [f"only {listed(sources, 'or')} can go to a foundation, one card at a time"]


def _takes(setting: Setting, group: Foundations) -> list[str]:
    told = [_suits(setting, group)]
    if group.accept == "run":
        told.append(
            f"{_subject(group)} only a complete run from the end of a column, all at once: {setting.run_words(group)}"
        )
        told.append("A run that is complete goes home by itself after the move that completes it")
        told.append("A run that is home stays there")
        return told
    return [*told, *_begins(group), *_goes_on(setting, group)]


def _subject(group: Foundations) -> str:
    return "it takes" if group.count == 1 else "each of them takes"


def _suits(setting: Setting, group: Foundations) -> str:
    rules = setting.rules
    suits = rules.deck.suits
    there_are = f"there {'is' if group.count == 1 else 'are'} {count(group.count, 'foundation')}"
    if group.suits == "any":
        if group.accept == "card" and group.build.suit == "same" and len(suits) > 1:
            return f"{there_are}, {'' if group.count == 1 else 'each '}for the suit of the first card that is put there"
        return f"{there_are}, open to every suit" if len(suits) > 1 else there_are
    names = [SUIT_WORDS[SUITS.index(suits[at % len(suits)])] for at in range(group.count)]
    if len(set(names)) == 1:
        return f"{there_are} for {names[0]}"
    each, rest = divmod(group.count, len(suits))
    if rest:
        return f"{there_are}, each for one suit: {listed(names)}"
    order = listed(names[: len(suits)])
    if each == 1:
        return f"{there_are}, one for each suit: {order}"
    return f"{there_are}, {number(each)} for each suit: {order}"


def _begins(group: Foundations) -> list[str]:
    each = "it" if group.count == 1 else "each"
    if isinstance(group.base, int):
        return [f"{each} begins with {rank_with_article(group.base)}"]
    if group.base == "first_played":
        return [
            f"The first card that is put on a foundation may be of any rank; its rank is then the base rank, with which {each} has to begin"
        ]
    return [
        f"{each} begins with the base rank, the rank of the first card that the deal puts on a foundation"
    ]


def _goes_on(setting: Setting, group: Foundations) -> list[str]:
    relation, order = group.build, setting.order
    step = {"up": 1, "down": -1, "up2": 2, "down2": -2}.get(relation.rank)
    if is_free(relation):
        return ["after that any card may follow"]
    # A foundation of one suit makes "of the same suit" and "of the same colour" mean the same.
    plain = relation.suit == "same" or (group.suits == "one_each" and relation.suit in ("any", "color"))
    if step is None or not plain:
        told = [f"after that each card has to be {fits_on(relation, 'the one before it')}"]
        return [*told, *([around(relation, setting.rules)] if around(relation, setting.rules) else [])]
    in_suit = "" if group.suits == "one_each" or relation.suit != "same" else " in the same suit"
    told = [f"from there it is built {_UP[relation.rank]}{in_suit}, one card after the other"]
    low, high = RANK_WORDS[order[0]], RANK_WORDS[order[-1]]
    if relation.wrap:
        after = (low, high) if step > 0 else (high, low)
        told.append(
            f"the ranks go round: after the {after[1]} comes the {after[0]}"
            if abs(step) == 1
            else around(relation, setting.rules)
        )
        told.append(f"a foundation is complete with {count(_capacity(setting), 'card')}")
    elif isinstance(group.base, int) and group.base in order:
        at = order.index(group.base)
        way = order[at::step]
        told[0] += f": {listed(RANK_WORDS[rank] for rank in way)}" if len(way) > 1 else ""
    elif setting.rules.deck.low == "dealt":
        told.append("a foundation is complete when every rank lies on it")
    return told


def _capacity(setting: Setting) -> int:
    tables = tables_for(setting.rules, None)
    return next(table.capacity for table in tables.foundations if not table.accepts_runs)


def returning(setting: Setting) -> tuple[Block, ...]:
    """Whether a card comes back from a foundation."""
    groups = [(name, group) for name, group in setting.foundation_groups() if group.accept == "card"]
    if not groups:
        return ()
    told = [(name, tuple(map(said, _returns(setting, group)))) for name, group in groups]
    if len({sentences for _, sentences in told}) == 1:
        return (Paragraph(told[0][1]),)
    return (Bullets(tuple(Item(sentences, capital(name)) for name, sentences in told)),)


def _returns(setting: Setting, group: Foundations) -> list[str]:
    if group.returns == "never":
        return ["A card on a foundation stays there"]
    when = ""
    if group.returns == "when_stock_empty" and setting.stock:
        when = ", but only when the stock is empty"
    places = listed(setting.places("foundations"), "or")
    return [f"You may take the last card of a foundation back and put it {places}{when}"]


def automatic(setting: Setting) -> tuple[Block, ...]:
    """Which cards go home by themselves."""
    groups = [(name, group) for name, group in setting.foundation_groups() if group.accept == "card"]
    if not groups:
        return ()
    told = [(name, tuple(map(said, _auto(setting, group)))) for name, group in groups]
    same = len({sentences for _, sentences in told}) == 1
    blocks: list[Block] = [
        Paragraph(told[0][1])
        if same
        else Bullets(tuple(Item(sentences, capital(name)) for name, sentences in told))
    ]
    goes = any(group.auto != "never" for _, group in groups)
    if goes and setting.returns:
        blocks.append(
            Paragraph(
                (
                    "A card that you have just taken back from a foundation stays until you have made another move.",
                )
            )
        )
    return tuple(blocks)


def _auto(setting: Setting, group: Foundations) -> list[str]:
    if group.auto == "never":
        return ["No card goes home by itself; when a card goes there is for you to decide"]
    if group.auto == "always":
        return ["After each of your moves every card that fits on a foundation goes home by itself"]
    tables = tables_for(setting.rules, None)
    if tables.unsafe_always:
        return [
            "No card goes home by itself: since columns are built both up and down, another card could still need any of them"
        ]
    told = [
        "After each of your moves, cards that no other card can still need go home by themselves",
        "A card may still be needed as long as a card that could be put on it is not home yet",
    ]
    if shown := _safe_example(setting, tables, group):
        told.append(shown)
    told.append("All other cards wait until you move them")
    return told


def _safe_example(setting: Setting, tables: Tables, group: Foundations) -> str:
    """When one card goes home by itself, from the table by which the engine decides it."""
    if setting.has_base or group.build.suit != "same" or group.build.rank != "up" or group.build.wrap:
        return ""
    in_deck = deck_set(setting.rules)
    order = setting.order
    at = min(3 if setting.returns else 6, len(order) - 1)
    suit = 2 if "H" in setting.rules.deck.suits else SUITS.index(setting.rules.deck.suits[0])
    card = 13 * suit + order[at]
    below = {13 * suit + rank for rank in order[:at]}
    copies = setting.rules.deck.packs
    needed = [
        other
        for other in range(52)
        if (tables.needs[card] & in_deck) >> other & 1 and (other not in below or copies > 1)
    ]
    name = card_words(card)
    if not needed:
        return f"For example, the {name} goes home by itself as soon as it fits, since the only card that could be put on it is home by then"
    highest: dict[int, int] = {}
    for other in needed:
        place = order.index(rank_of(other))
        highest[suit_of(other)] = max(highest.get(suit_of(other), -1), place)
    if max(highest.values()) > at:
        return ""
    both = "both copies of " if copies == 2 else f"all {number(copies)} copies of " if copies > 1 else ""
    lie = listed(f"{both}the {card_words(13 * of + order[place])}" for of, place in sorted(highest.items()))
    verb = "is" if len(highest) == 1 and copies == 1 else "are"
    return f"For example, the {name} goes home by itself only when {lie} {verb} home"
