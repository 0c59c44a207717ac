"""From a deal's text to the cards on the table: ``ck:N``, ``ck:<64 hex digits>``, ``ms:N`` or a board.

The shuffle is our own and specified, so that a deal number names the same cards on every machine for ever and a browser
can check it: Fisher–Yates with rejection over an HMAC-SHA-256 stream. No randomness is drawn here; keys come in.
"""

from __future__ import annotations

import hmac
import re
from collections import Counter
from collections.abc import Iterator
from hashlib import sha256

from chilkoot.cards import DOWN, RANKS, rank_of
from chilkoot.engine.notation import DealError, looks_like_board, parse_board
from chilkoot.engine.tables import layout_of, tables_for
from chilkoot.language.rules import DealPass, Rules

__all__ = ["Dealt", "deal", "deal_key", "normal_deal", "pack_order", "shuffle"]

_STREAM_LABEL = b"chilkoot-deal/1\x00"
_NUMBER = re.compile(r"(ck|ms)\s*:\s*([0-9]{1,20}|[0-9a-fA-F]{64})")


class Dealt:
    """What a deal comes to: the piles in wire order, the base rank (None without one), the key of later shuffles."""

    __slots__ = ("base", "key", "piles", "text")

    def __init__(self, piles: list[list[int]], base: int | None, key: bytes, text: str) -> None:
        self.piles = piles
        self.base = base
        self.key = key
        self.text = text


def shuffle(key: bytes, count: int) -> list[int]:
    r"""The numbers 0 … `count` − 1 in the order that a 32-byte key gives.

    Block *i* of the stream is HMAC-SHA-256(key, "chilkoot-deal/1\0" ‖ *i* as 8 bytes, big-endian), cut into eight
    big-endian 32-bit words. For i = count − 1 … 1 a word below the largest multiple of i + 1 gives j = word mod (i + 1),
    and i and j change places.
    """
    order = list(range(count))
    words = _words(key)
    for last in range(count - 1, 0, -1):
        choices = last + 1
        bound = (1 << 32) - (1 << 32) % choices
        word = next(words)
        while word >= bound:
            word = next(words)
        other = word % choices
        order[last], order[other] = order[other], order[last]
    return order


def _words(key: bytes) -> Iterator[int]:
    block = 0
    while True:
        digest = hmac.digest(key, _STREAM_LABEL + block.to_bytes(8, "big"), "sha256")
        for at in range(0, 32, 4):
            yield int.from_bytes(digest[at : at + 4], "big")
        block += 1


def normal_deal(text: str) -> str:
    """The one way to write a deal number (``ck:7``, ``ck:<64 hex>``, ``ms:24``). Raises DealError."""
    match = _NUMBER.fullmatch(text.strip())
    if match is None:
        raise DealError(
            f'"{text.strip()[:40]}" is no deal; write ck:7, ms:24 or a board as "t1: 5H | t2: <3H> 2S …"'
        )
    scheme, number = match[1], match[2]
    if len(number) == 64:
        if scheme == "ms":
            raise DealError("an ms deal has a number from 1 to 2147483647")
        return f"ck:{number.lower()}"
    value = int(number)
    if scheme == "ck" and value >= 1 << 64:
        raise DealError("a ck deal has a number from 0 to 18446744073709551615, or 64 hex digits")
    if scheme == "ms" and not 1 <= value < 1 << 31:
        raise DealError("an ms deal has a number from 1 to 2147483647")
    return f"{scheme}:{value}"


def deal_key(text: str) -> bytes:
    """The 32-byte key of a normal deal text; an ms deal's serves only shuffles after the deal."""
    scheme, number = text.split(":")
    if scheme == "ms":
        return sha256(text.encode()).digest()
    return bytes.fromhex(number) if len(number) == 64 else int(number).to_bytes(32, "big")


def pack_order(rules: Rules, text: str) -> list[int]:
    """The shuffled pack of a normal deal text, the card dealt first at index 0."""
    suits = ["CDHS".index(letter) for letter in rules.deck.suits]
    ranks = sorted(rules.deck.ranks)
    scheme, number = text.split(":")
    if scheme == "ck":
        pack = [13 * suit + rank for suit in suits for rank in ranks] * rules.deck.packs
        return [pack[at] for at in shuffle(deal_key(text), len(pack))]
    if rules.deck.packs == 1 and rules.deck.size() == 52:
        pack = [13 * suit + rank for rank in ranks for suit in sorted(suits)]
    else:
        # All other decks lie suit by suit as clubs, spades, hearts, diamonds (goldens/README.md).
        pack = [
            13 * suit + rank for suit in (0, 3, 2, 1) if suit in suits for rank in ranks
        ] * rules.deck.packs
    seed = int(number)
    for last in range(len(pack) - 1, 0, -1):
        seed = (214013 * seed + 2531011) % (1 << 31)
        other = (seed >> 16) % (last + 1)
        pack[last], pack[other] = pack[other], pack[last]
    pack.reverse()
    return pack


def deal(rules: Rules, text: str, *, base: int | None = None, fragment: bool = False) -> Dealt:
    """Deal a deal number or lay out a board.

    `base` names a base rank that a board does not show; with `fragment` a board may lack cards.

    Raises DealError with all that is wrong.
    """
    if looks_like_board(text):
        piles = parse_board(rules, text, fragment=fragment)
        return Dealt(piles, _base_of_board(rules, piles, base), bytes(32), text)
    normal = normal_deal(text)
    dealer = _Dealer(rules, pack_order(rules, normal))
    return Dealt(dealer.deal(), dealer.base, deal_key(normal), normal)


def needs_base(rules: Rules) -> bool:
    """Whether the base rank is fixed by the deal."""
    return rules.deck.low == "dealt" or any(group.base == "dealt" for group in rules.foundations)


def _base_of_board(rules: Rules, piles: list[list[int]], base: int | None) -> int | None:
    if needs_base(rules) or any(group.base == "first_played" for group in rules.foundations):
        if base is not None:
            if base not in rules.deck.ranks:
                raise DealError(f"the base rank {RANKS[base]} is not in this deck")
            return base
        # Only foundations whose own base is open show it; others may stand beside them.
        first = layout_of(rules).first_foundation
        for group in rules.foundations:
            if isinstance(group.base, str):
                for cards in piles[first : first + group.count]:
                    if cards:
                        return rank_of(cards[0])
            first += group.count
        if needs_base(rules):
            raise DealError("the base rank can't be told from this board; put a base card on a foundation")
    return None


class _Dealer:
    """Lays a shuffled pack out by the pictures of the rules."""

    def __init__(self, rules: Rules, pack: list[int]) -> None:
        self.rules = rules
        self.layout = layout_of(rules)
        self.pack = pack
        self.next = 0
        self.piles: list[list[int]] = [[] for _ in self.layout.names]
        self.base: int | None = None

    def deal(self) -> list[list[int]]:
        if "aces_to_foundations" in self.rules.setup:
            self._take_out(0)
        for one in self.rules.deal:
            if one.rank is not None:
                self._take_out(one.rank, one.take)
        if "base_card" in self.rules.setup:
            self._to_foundation(self._draw())
        for one in self.rules.deal:
            if one.rank is None:
                self._deal_pass(one)
        self._sink_cards()
        if self.layout.stock >= 0:
            self.piles[self.layout.stock] = [card | DOWN for card in reversed(self.pack[self.next :])]
        return self.piles

    def _draw(self) -> int:
        card = self.pack[self.next]
        self.next += 1
        return card

    def _take_out(self, rank: int, count: int | None = None) -> None:
        # Fewer than all: one of each suit before a second of any, so that each finds a foundation of its own.
        copies: Counter[int] = Counter()
        found = []
        for at, card in enumerate(self.pack):
            if rank_of(card) == rank:
                found.append((copies[card], at, card))
                copies[card] += 1
        taken = [card for _, _, card in sorted(found)]
        for card in sorted(taken[:count]):
            self.pack.remove(card)
            self._to_foundation(card)

    def _to_foundation(self, card: int) -> None:
        first = self.layout.first_foundation
        tables = tables_for(self.rules, self.base)
        for number, pile in enumerate(tables.foundations):
            if not self.piles[first + number] and pile.start >> card & 1:
                self.piles[first + number].append(card)
                if self.base is None and pile.base_is_open:
                    self.base = rank_of(card)
                return
        raise DealError(f"no foundation is free for the {RANKS[rank_of(card)]} that the deal puts there")

    def _deal_pass(self, one: DealPass) -> None:
        if one.zone == "foundations":
            for letter in one.picture:
                if letter != ".":
                    self._to_foundation(self._draw())
            return
        starts = {
            "tableau": 0,
            "cells": self.layout.first_cell,
            "reserve": self.layout.first_reserve,
            "waste": self.layout.waste,
        }
        stacked = one.zone == "waste" or (one.zone == "reserve" and self.layout.reserves == 1)
        places = range(len(one.picture))
        for place in reversed(places) if one.leftward else places:
            letter = one.picture[place]
            if letter != ".":
                card = self._draw()
                self.piles[starts[one.zone] + (0 if stacked else place)].append(
                    card | DOWN if letter == "D" else card
                )

    def _sink_cards(self) -> None:
        """Kings, or the lowest rank, go to the bottom of their columns, in the order in which they lie."""
        low = self.base if self.rules.deck.low == "dealt" else self.rules.deck.low
        for rule, rank in (("kings_to_bottom", 12), ("low_to_bottom", low)):
            if rule in self.rules.setup:
                for column in range(self.layout.columns):
                    cards = self.piles[column]
                    sunk = [card for card in cards if rank_of(card) == rank]
                    rest = [card for card in cards if rank_of(card) != rank]
                    # The way a place lies (up or down) belongs to the picture, not to the card.
                    faces = [card & DOWN for card in cards]
                    self.piles[column] = [
                        card & 63 | face for card, face in zip(sunk + rest, faces, strict=True)
                    ]
