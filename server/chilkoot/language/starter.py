"""The file that a new variant begins with: what it builds on, and the keys changed most often as comments to take out.

Decides which keys those are. Their values are those of the variant built on, so a comment taken out changes nothing yet.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from chilkoot.language.effective import Line, rule_lines
from chilkoot.language.reference import takes
from chilkoot.language.rules import Rules, Variant, VariantTest
from chilkoot.language.schema import Section

__all__ = ["MARK", "starter"]

MARK: Final = '# Take away "# "'
"""What the line begins with after which each comment is YAML."""

_OFTEN: Final = frozenset(
    {
        "deck.packs",
        "deal",
        "tableau.columns",
        "tableau.build.suit",
        "tableau.build.rank",
        "tableau.build.wrap",
        "tableau.group.unit",
        "tableau.group.limit",
        "tableau.empty.accepts",
        "tableau.empty.whole_column",
        "tableau.empty.auto_fill",
        "cells.count",
        "reserve.piles",
        "foundations.accept",
        "foundations.return",
        "foundations.auto",
        "stock.deal_to",
        "stock.draw",
        "stock.passes",
        "aids.undo",
        "aids.hints",
        "deal_policy.winnable",
    }
)
_COMMENTED_AT: Final = 30
_TESTS: Final = 3


def starter(variant: str, name: str, built_on: Variant, *, file: str, schema: str) -> str:
    """The text of the file for a new variant; `schema` is where editors find the schema, as seen from the file."""
    level = built_on.level() or built_on.levels[0]
    levels = [str(one.number) for one in built_on.levels if one.number is not None]
    head = f"""\
# yaml-language-server: $schema={schema}
#
# {name}: {built_on.name}, but for what this file says otherwise.
#
#   chilkoot rules check {file} --watch    what is wrong with it, while you write
#   chilkoot rules show {file}             a deal
#   chilkoot rules describe {file}         how it is played
#   chilkoot play {file}                   the game itself
#
# The file's name is the game's id: {variant}.
dsl: 1
name: {_text(name)}
extends: {built_on.id}

{MARK} in front of a line that you change, and of the lines above it that it stands in. These are the keys that are
# changed most often, with what {_text(built_on.name)} says; `chilkoot rules effective {built_on.id}` shows them all.
"""
    if levels:
        head += f"# {built_on.name} has the levels {', '.join(levels)}, which may say otherwise; this is level {level.number}.\n"
    lines = [*_blocks(level.rules), *_tests(built_on.tests, level.number)]
    return head + "".join(f"# {line}".rstrip() + "\n" if line else "\n" for line in lines)


def _blocks(rules: Rules) -> Iterator[str]:
    """The lines of the keys changed often, each section after an empty line."""
    block: list[Line] = []
    for line in rule_lines(rules):
        if not line.text.startswith((" ", "- ")):
            yield from _block(block)
            block = []
        if rules.stock_size() or not line.path.startswith("stock"):
            block.append(line)
    yield from _block(block)


def _block(block: list[Line]) -> Iterator[str]:
    # Of several groups none can be changed alone: a list replaces the whole list.
    is_list = any(line.text.lstrip().startswith("- ") and line.key is not None for line in block)
    kept = [line for line in block if is_list or line.value is None or _path(line) in _OFTEN]
    # A section none of whose keys are left goes too, from the inside out.
    for at in reversed(range(len(kept))):
        is_section = kept[at].key is not None and kept[at].value is None
        following = kept[at + 1] if at + 1 < len(kept) else None
        if is_section and (following is None or not following.path.startswith(f"{kept[at].path}")):
            del kept[at]
    if kept:
        yield ""
        yield from (_commented(line) for line in kept)


def _path(line: Line) -> str:
    return line.key.path if line.key is not None else ""


def _commented(line: Line) -> str:
    if line.key is None or isinstance(line.key.kind, Section):
        return line.text
    return f"{line.text:<{_COMMENTED_AT}} # {takes(line.key.kind).replace('`', '')}"


def _tests(tests: tuple[VariantTest, ...], level: int | None) -> Iterator[str]:
    shown = [one for one in tests if one.level in {None, level}][:_TESTS]
    if shown:
        yield ""
        yield "tests:"
        for one in shown:
            board = one.board.strip().replace("\n", " | ")
            yield f'  - {{board: "{board}", move: {one.move}, expect: {one.expect}}}'


def _text(text: str) -> str:
    """A name as YAML has it, in quotes where it needs them."""
    is_plain = text.replace(" ", "").replace("'", "").replace("-", "").isalnum() and text[0].isalpha()
    return text if is_plain else '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
