"""The table as lines of text: four characters a column, face-down cards as ``··``, never wider or higher than asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Protocol

import msgspec

from chilkoot_client import HIDDEN, Table

__all__ = ["HasPiles", "Style", "board_text", "draw_table", "size_of"]

_SYMBOLS: Final = {"C": "♣", "D": "♦", "H": "♥", "S": "♠"}
_RED: Final = "\x1b[31;1m"
_DIM: Final = "\x1b[2m"
_PLAIN: Final = "\x1b[0m"

Piles = Mapping[str, Sequence[str]]


class HasPiles(Protocol):
    """Anything with piles on it, such as a table."""

    @property
    def piles(self) -> Piles:
        """The piles by name."""
        ...


class Style(msgspec.Struct, frozen=True):
    """How cards are written. Colour only repeats what the suit's sign says."""

    symbols: bool = True
    colour: bool = False

    def card(self, card: str, width: int = 3) -> str:
        """A card, right-aligned."""
        if card == HIDDEN:
            text = "··" if self.symbols else ".."
            return self._paint(text.rjust(width), _DIM)
        rank = "10" if card[0] == "T" else card[0]
        text = (rank + (_SYMBOLS.get(card[1], card[1]) if self.symbols else card[1])).rjust(width)
        return self._paint(text, _RED) if card[1] in "DH" else text

    def faint(self, text: str) -> str:
        """Something that is not a card."""
        return self._paint(text, _DIM)

    def _paint(self, text: str, how: str) -> str:
        return f"{how}{text}{_PLAIN}" if self.colour else text


def size_of(table: Table) -> int:
    """How many cards there are on the table."""
    return sum(map(len, table.piles.values()))


def draw_table(table: HasPiles, style: Style, *, width: int = 80, height: int | None = None) -> list[str]:
    """The piles that are no columns on one line (or more), then the columns side by side."""
    columns = _zone(table.piles, "t")
    lines = _edge_lines(table.piles, style, width)
    shelf = 4 if 4 * len(columns) <= width else 3
    per_row = max(1, width // shelf)
    rows = -(-len(columns) // per_row)
    room = None if height is None else max(3, (height - len(lines)) // max(rows, 1) - 1)
    for start in range(0, len(columns), per_row):
        part = columns[start : start + per_row]
        lines.append(style.faint("".join(name.rjust(shelf) for name in part)))
        stacks = [_stack(table.piles[name], style, shelf, room) for name in part]
        for row in range(max(map(len, stacks), default=0)):
            cells = [stack[row] if row < len(stack) else " " * shelf for stack in stacks]
            lines.append("".join(cells).rstrip())
    return lines


def _zone(piles: Piles, letter: str) -> list[str]:
    return sorted((name for name in piles if name[0] == letter), key=lambda name: int(name[1:]))


def _edge_lines(piles: Piles, style: Style, width: int) -> list[str]:
    """Foundations, cells, reserve, stock and waste, each with its name; wrapped where they are many."""
    parts: list[tuple[int, str]] = []
    for letter in "fcr":
        for name in _zone(piles, letter):
            cards = piles[name]
            top = style.card(cards[-1]) if cards else style.faint(" --")
            more = f"({len(cards)})" if letter == "r" and len(cards) > 1 else ""
            parts.append((len(name) + 1 + 3 + len(more), f"{style.faint(name)} {top}{more}"))
        if parts and letter == "f":
            parts.append((0, ""))
    for name in _zone(piles, "s"):
        text = f"{name} {len(piles[name])} cards"
        parts.append((len(text), text))
    for name in _zone(piles, "w"):
        shown = piles[name][-3:]
        text = "".join(style.card(card, 4) for card in shown) or style.faint("  --")
        parts.append((len(name) + 4 * max(1, len(shown)), f"{style.faint(name)}{text}"))
    lines, used = [""], 0
    for length, text in parts:
        if used and used + length + 2 > width:
            lines, used = [*lines, ""], 0
        gap = "  " if used else " "
        lines[-1] += gap + text
        used += len(gap) + length
    return [line.rstrip() for line in lines if line.strip()]


def _stack(cards: Sequence[str], style: Style, shelf: int, room: int | None) -> list[str]:
    """One column, top to bottom, in at most `room` rows: face-down cards shrink to a count first, then the oldest rows."""
    if not cards:
        return [style.faint(" --".rjust(shelf))]
    rows = [style.card(card, shelf) for card in cards]
    if room is None or len(rows) <= room:
        return rows
    down = next((at for at, card in enumerate(cards) if card != HIDDEN), len(cards))
    if down > 1:
        rows = [style.faint(f"{'·' if style.symbols else '.'}{down}".rjust(shelf)), *rows[down:]]
    if len(rows) <= room:
        return rows
    hidden = len(cards) - (room - 1)
    return [style.faint(f"+{hidden}".rjust(shelf)), *rows[-(room - 1) :]]


def board_text(piles: Piles) -> str:
    """The board as RULES writes it, one pile a line, with ``??`` for what is face down."""
    order = [name for letter in "tcrfsw" for name in _zone(piles, letter)]
    return "\n".join(f"{name}: {' '.join(piles[name])}" for name in order if piles[name])
