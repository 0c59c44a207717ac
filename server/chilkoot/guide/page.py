"""A page as data: sections of paragraphs, lists, tables and questions. How it looks is decided by ``markdown`` and ``webpage``.

Text is plain: no markup is ever in it, so that whatever an author wrote into a file of rules stays text on every page.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

__all__ = ["Block", "Bullets", "Item", "Page", "Paragraph", "Question", "Section", "Table", "sentences_of"]


class Paragraph(msgspec.Struct, frozen=True):
    """Sentences that belong together."""

    sentences: tuple[str, ...]


class Item(msgspec.Struct, frozen=True):
    """One entry of a list; `term` is what it is about, empty where it needs no name."""

    sentences: tuple[str, ...]
    term: str = ""


class Bullets(msgspec.Struct, frozen=True):
    """A list, with numbers where the order counts."""

    items: tuple[Item, ...]
    is_numbered: bool = False


class Table(msgspec.Struct, frozen=True):
    """A table: every row has as many cells as the head; the first cell names its row."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


class Question(msgspec.Struct, frozen=True):
    """A question with its answer."""

    question: str
    answer: tuple[str, ...]


Block = Paragraph | Bullets | Table | Question


class Section(msgspec.Struct, frozen=True):
    """A titled part of a page; never without blocks."""

    title: str
    blocks: tuple[Block, ...]


class Page(msgspec.Struct, frozen=True):
    """A whole page: the title, what the game is in a sentence, the sections, and what stands at the foot."""

    title: str
    lead: tuple[str, ...]
    sections: tuple[Section, ...]
    foot: tuple[str, ...] = ()


def sentences_of(blocks: tuple[Block, ...]) -> Iterator[str]:
    """Every sentence of some blocks, those in lists and answers included; what stands in tables is none."""
    for block in blocks:
        if isinstance(block, Paragraph):
            yield from block.sentences
        elif isinstance(block, Bullets):
            for item in block.items:
                yield from item.sentences
        elif isinstance(block, Question):
            yield from block.answer
