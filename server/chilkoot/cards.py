"""Cards: what they are called and how they compare, nothing about any game.

A card is an int, ``suit * 13 + rank``: suits are clubs, diamonds, hearts, spades (0–3), ranks ace to king (0–12). Copies
from several packs are the same int. A card that lies face down carries the bit ``DOWN``, so a pile is a plain list of
ints, bottom card first, and a table needs no second list to say which way the cards lie.
"""

from __future__ import annotations

from typing import Final

__all__ = [
    "ALL_CARDS",
    "CARD_NAMES",
    "DOWN",
    "HIDDEN",
    "RANKS",
    "RANK_WORDS",
    "SUITS",
    "SUIT_WORDS",
    "card_name",
    "card_words",
    "is_red",
    "parse_card",
    "rank_of",
    "suit_of",
]

RANKS: Final = "A23456789TJQK"
SUITS: Final = "CDHS"
RANK_WORDS: Final = ("ace", "2", "3", "4", "5", "6", "7", "8", "9", "10", "jack", "queen", "king")
SUIT_WORDS: Final = ("clubs", "diamonds", "hearts", "spades")

DOWN: Final = 64
"""Set in a card that lies face down; ``card & 63`` is the card itself, ``card ^ DOWN`` the card turned over."""

HIDDEN: Final = "??"
"""How a card is written for a viewer who may not see it."""

CARD_NAMES: Final = tuple(rank + suit for suit in SUITS for rank in RANKS)
ALL_CARDS: Final = (1 << 52) - 1
"""The bit set of all cards: bit *i* stands for card *i*."""

_CARD_OF_NAME: Final = {name: card for card, name in enumerate(CARD_NAMES)}


def suit_of(card: int) -> int:
    """Suit 0–3 (clubs, diamonds, hearts, spades), whichever way the card lies."""
    return (card & 63) // 13


def rank_of(card: int) -> int:
    """Rank 0–12 (ace to king), whichever way the card lies."""
    return (card & 63) % 13


def is_red(card: int) -> bool:
    """Whether the card is a diamond or a heart."""
    return 13 <= (card & 63) < 39


def card_name(card: int) -> str:
    """The two letters of a card, ``9S``; a card that lies face down is named too."""
    return CARD_NAMES[card & 63]


def card_words(card: int) -> str:
    """A card in words, ``9 of spades``."""
    return f"{RANK_WORDS[rank_of(card)]} of {SUIT_WORDS[suit_of(card)]}"


def parse_card(name: str) -> int | None:
    """The card that two letters name, or None; lower case and ``10S`` are understood, since people type them."""
    text = name.strip().upper()
    return _CARD_OF_NAME.get("T" + text[2:] if text.startswith("10") else text)
