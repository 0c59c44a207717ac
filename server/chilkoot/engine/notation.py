"""The text of a board, both ways: one line a pile, bottom card first, ``<7H>`` face down (RULES.md).

Reading says everything that is wrong with a board at once. Whether its cards could ever come to lie like that is not
asked: people test their variants on made-up positions.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from chilkoot.cards import CARD_NAMES, DOWN, parse_card
from chilkoot.engine.tables import Layout, deck_set, layout_of
from chilkoot.language.rules import Rules

__all__ = ["DealError", "format_board", "format_pile", "looks_like_board", "parse_board"]

_PILE_LINE = re.compile(r"\s*([A-Za-z][0-9]*)\s*:(.*)", re.DOTALL)


class DealError(Exception):
    """A deal that can't be dealt; `problems` holds every reason, one sentence each."""

    def __init__(self, *problems: str) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems

    @property
    def message(self) -> str:
        """All problems, one a line."""
        return "\n".join(self.problems)


def looks_like_board(text: str) -> bool:
    """Whether a deal's text is meant as a board: some pile is named before a colon."""
    return re.search(r"(?:^|\n|\|)\s*[tcrfsw][0-9]+\s*:", text) is not None


def format_pile(cards: Iterable[int]) -> str:
    """One pile's cards, ``<JD> AS``."""
    return " ".join(f"<{CARD_NAMES[card & 63]}>" if card & DOWN else CARD_NAMES[card] for card in cards)


def format_board(layout: Layout, piles: list[list[int]]) -> str:
    """The text of a board, one line a pile in wire order, empty piles left out."""
    return "\n".join(
        f"{name}: {format_pile(cards)}" for name, cards in zip(layout.names, piles, strict=True) if cards
    )


def parse_board(rules: Rules, board: str | Mapping[str, str], *, fragment: bool = False) -> list[list[int]]:
    """Read a board into piles in wire order.

    With `fragment` cards may be missing (inline tests of a variant). Raises DealError with all that is wrong.
    """
    layout = layout_of(rules)
    problems: list[str] = []
    piles: list[list[int]] = [[] for _ in layout.names]
    seen: set[str] = set()
    for name, text in _pile_texts(board, problems):
        number = layout.index.get(name)
        if number is None:
            problems.append(f'there is no pile "{name}" here; the piles are {_pile_ranges(layout)}')
        elif name in seen:
            problems.append(f'pile "{name}" is named twice')
        else:
            seen.add(name)
            piles[number] = _parse_pile(name, text, problems)
            _check_pile(layout, number, piles[number], problems)
    problems += _count_cards(rules, piles, fragment=fragment)
    if problems:
        raise DealError(*problems)
    return piles


def _pile_texts(board: str | Mapping[str, str], problems: list[str]) -> list[tuple[str, str]]:
    if not isinstance(board, str):
        return [(name.strip(), text) for name, text in board.items()]
    found = []
    for line in re.split(r"[\n|]", board):
        if not line.strip():
            continue
        match = _PILE_LINE.fullmatch(line)
        if match is None:
            problems.append(f'"{line.strip()[:40]}" names no pile; write for example "t1: <JD> AS"')
        else:
            found.append((match[1].lower(), match[2]))
    return found


def _parse_pile(name: str, text: str, problems: list[str]) -> list[int]:
    cards = []
    for word in text.split():
        covered = word.startswith("<") and word.endswith(">")
        card = parse_card(word[1:-1] if covered else word)
        if card is None:
            problems.append(
                f'"{word[:20]}" in {name} is no card; a card is a rank A23456789TJQK and a suit CDHS, as in 9S'
            )
        else:
            cards.append(card | DOWN if covered or name.startswith("s") else card)
    return cards


def _check_pile(layout: Layout, number: int, cards: list[int], problems: list[str]) -> None:
    name, zone = layout.names[number], layout.zones[number]
    if zone == "cells" and len(cards) > 1:
        problems.append(f"cell {name} holds one card, not {len(cards)}")
    if zone in ("cells", "foundations", "waste") and any(card & DOWN for card in cards):
        problems.append(f"no card lies face down in {name}")


def _count_cards(rules: Rules, piles: list[list[int]], *, fragment: bool) -> list[str]:
    held = Counter(card & 63 for cards in piles for card in cards)
    in_deck, packs = deck_set(rules), rules.deck.packs
    problems = []
    strangers = [CARD_NAMES[card] for card in sorted(held) if not in_deck >> card & 1]
    if strangers:
        problems.append(f"not in this deck: {' '.join(strangers)}")
    extra = [f"{CARD_NAMES[card]} ({held[card]} times)" for card in sorted(held) if held[card] > packs]
    if extra:
        problems.append(f"too often on the board: {', '.join(extra)}; there are {packs} of each")
    missing = [CARD_NAMES[card] for card in range(52) if in_deck >> card & 1 and held[card] < packs]
    if missing and not fragment:
        problems.append(f"missing from the board: {' '.join(missing)}")
    return problems


def _pile_ranges(layout: Layout) -> str:
    groups: dict[str, int] = {}
    for name in layout.names:
        groups[name[0]] = int(name[1:])
    return ", ".join(
        f"{letter}1" if count == 1 else f"{letter}1–{letter}{count}" for letter, count in groups.items()
    )
