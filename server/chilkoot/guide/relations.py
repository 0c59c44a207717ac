"""The relations of the rules in words: which card may lie on which, where that ends, and an example from the very tables."""

from __future__ import annotations

from typing import Final

from chilkoot.cards import RANK_WORDS, card_words, rank_of, suit_of
from chilkoot.engine.tables import deck_set, rank_order, relation_table
from chilkoot.guide.english import listed, rank_with_article
from chilkoot.language.rules import RankRelation, Relation, Rules, SuitRelation

__all__ = ["around", "dead_ends", "example", "fits_on", "is_free"]

_RANK: Final[dict[RankRelation, str]] = {
    "down": "one rank lower than",
    "up": "one rank higher than",
    "updown": "one rank lower or one rank higher than",
    "down2": "two ranks lower than",
    "up2": "two ranks higher than",
    "equal": "of the same rank as",
    "any": "",
}

_SUIT: Final[dict[SuitRelation, str]] = {
    "same": "of the same suit",
    "different": "of another suit",
    "color": "of the same colour",
    "alternate": "of the other colour",
    "any": "",
}

_STEPS: Final[dict[RankRelation, tuple[int, ...]]] = {
    "down": (-1,),
    "up": (1,),
    "updown": (-1, 1),
    "down2": (-2,),
    "up2": (2,),
    "equal": (),
    "any": (),
}


def fits_on(relation: Relation, card: str) -> str:
    """What a card has to be to lie on `card`: ``one rank lower than that card and of the other colour``.

    Empty where any card will do.
    """
    rank, suit = _RANK[relation.rank], _SUIT[relation.suit]
    if not rank:
        joint = {"different": "than", "alternate": "than"}.get(relation.suit, "as")
        return f"{suit} {joint} {card}, whatever its rank" if suit else ""
    return f"{rank} {card} and {suit}" if suit else f"{rank} {card}, whatever its suit"


def is_free(relation: Relation) -> bool:
    """Whether any card may lie on any other."""
    return relation.rank == "any" and relation.suit == "any"


def _order(rules: Rules) -> tuple[int, ...]:
    return rank_order(rules, None)


def dead_ends(relation: Relation, rules: Rules) -> list[int]:
    """The ranks on which nothing can lie, since the ranks do not go round; none where that is fixed by the deal."""
    order = _order(rules)
    steps = _STEPS[relation.rank]
    if relation.wrap or not steps or rules.deck.low == "dealt":
        return []
    return [rank for at, rank in enumerate(order) if not any(0 <= at + step < len(order) for step in steps)]


def around(relation: Relation, rules: Rules) -> str:
    """Whether a card at one end of the ranks may lie on one at the other; empty where that is no question."""
    order = _order(rules)
    steps = _STEPS[relation.rank]
    if not steps or len(order) < 3:
        return ""
    pairs = [
        (order[(at + step) % len(order)], rank)
        for at, rank in enumerate(order)
        for step in steps
        if not 0 <= at + step < len(order)
    ]
    if relation.wrap:
        told = [f"{rank_with_article(upper)} may lie on {rank_with_article(lower)}" for upper, lower in pairs]
        return f"the ranks go round, so {listed(told)}"
    if rules.deck.low == "dealt":
        return "the ranks do not go round past the base rank"
    if relation.rank == "updown":
        return (
            f"the ranks do not go round: {RANK_WORDS[order[0]]} and {RANK_WORDS[order[-1]]} are no neighbours"
        )
    return ""


def example(relation: Relation, rules: Rules) -> str:
    """Which cards go on one card of the middle, or that no two cards of the deck fit; empty where that says nothing."""
    if is_free(relation):
        return ""
    table = relation_table(relation, _order(rules))
    in_deck = deck_set(rules)
    fitting = {card: table[card] & in_deck for card in range(52) if in_deck >> card & 1}
    if not any(fitting.values()):
        return "In this deck no two cards are like that, so no card can ever be put on another."
    if rules.deck.low == "dealt" and not relation.wrap:
        return ""
    # A red ten shows colour and rank best; the suit in the middle of the deck where there is no red.
    wishes = sorted(fitting, key=lambda card: (abs(rank_of(card) - 9), suit_of(card) != 2, -card))
    lower = next(card for card in wishes if fitting[card])
    upper = [card for card in range(52) if fitting[lower] >> card & 1]
    ranks = sorted({rank_of(card) for card in upper})
    if len(ranks) * len(rules.deck.suits) == len(upper) and len(rules.deck.suits) > 1 and len(ranks) < 3:
        return f"For example, {listed((f'any {RANK_WORDS[rank]}' for rank in ranks), 'or')} goes on the {card_words(lower)}."
    if len(upper) > 4:
        return ""
    names = [f"the {card_words(card)}" for card in upper]
    if len(names) == 1:
        return f"For example, only {names[0]} goes on the {card_words(lower)}."
    return f"For example, {listed(names, 'or')} goes on the {card_words(lower)}."
