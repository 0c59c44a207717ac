"""A page as Markdown. Whatever stands in a text stays text: signs that mean something in Markdown are escaped."""

from __future__ import annotations

import re
from typing import Final

from chilkoot.guide.page import Block, Bullets, Page, Paragraph, Question, Table

__all__ = ["as_markdown"]

_SIGNS: Final = re.compile(r"([\\`*_\[\]<>|&#~])")
_LIST_MARK: Final = re.compile(r"^(\d{1,9})([.)])|^([-+=])")


def as_markdown(page: Page) -> str:
    """The page as a Markdown text that ends in a line break."""
    parts = [f"# {_text(page.title)}", _join(page.lead)]
    for section in page.sections:
        parts.append(f"## {_text(section.title)}")
        parts += [_block(block) for block in section.blocks]
    if page.foot:
        parts += ["---", _join(page.foot)]
    return "\n\n".join(parts) + "\n"


def _text(text: str) -> str:
    escaped = _SIGNS.sub(r"\\\1", " ".join(text.split()))
    return _LIST_MARK.sub(lambda match: f"{match[1]}\\{match[2]}" if match[1] else f"\\{match[3]}", escaped)


def _join(sentences: tuple[str, ...]) -> str:
    return _text(" ".join(sentences))


def _block(block: Block) -> str:
    if isinstance(block, Paragraph):
        return _join(block.sentences)
    if isinstance(block, Bullets):
        return "\n".join(
            f"{f'{at}.' if block.is_numbered else '-'} "
            + (f"**{_text(item.term)}:** " if item.term else "")
            + _join(item.sentences)
            for at, item in enumerate(block.items, 1)
        )
    if isinstance(block, Table):
        return "\n".join([_row(block.head), "|" + "---|" * len(block.head), *map(_row, block.rows)])
    assert isinstance(block, Question)
    return f"### {_text(block.question)}\n\n{_join(block.answer)}"


def _row(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(map(_text, cells))} |"
