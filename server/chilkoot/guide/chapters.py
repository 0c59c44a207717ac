"""The how-to-play page of a variant, put together from its chapters; what levels change, as a table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec

from chilkoot.guide import ending, homing, moving, piles, setup
from chilkoot.guide.english import capital, count, listed, said
from chilkoot.guide.page import Block, Page, Paragraph, Section, Table, sentences_of
from chilkoot.guide.questions import questions
from chilkoot.guide.setting import Setting
from chilkoot.guide.worked import find_examples
from chilkoot.language.rules import Level, Rules, Variant

__all__ = ["guide_to"]

_Tell = Callable[[Setting], tuple[Block, ...]]


class _Topic(msgspec.Struct, frozen=True):
    """Something told under the title of a section, and what it is called where levels differ in it."""

    section: str
    name: str
    tell: _Tell


_TOPICS: Final = (
    _Topic("The goal", "The goal", ending.goal),
    _Topic("Setting up", "The cards", setup.cards),
    _Topic("Setting up", "The table", setup.layout),
    _Topic("Moving cards", "What goes on a column", moving.building),
    _Topic("Moving cards", "What moves together", moving.together),
    _Topic("Moving cards", "Face-down cards", moving.turning),
    _Topic("Empty columns", "Empty columns", moving.empty_columns),
    _Topic("The foundations", "The foundations", homing.foundations),
    _Topic("The foundations", "Cards that come back", homing.returning),
    _Topic("The foundations", "Cards that go home by themselves", homing.automatic),
    _Topic("The cells", "The cells", piles.cells),
    _Topic("The reserve", "The reserve", piles.reserve),
    _Topic("The stock", "The stock", piles.stock),
    _Topic("Dealing again", "Dealing again", piles.redeal),
    _Topic("How a game ends", "How a game ends", ending.losing),
    _Topic("The score", "The score", ending.score),
    _Topic("Help while playing", "Help", ending.aids),
    _Topic("Deals", "Deals", ending.deals),
    _Topic("Dealing by hand", "The deal", setup.deal_by_hand),
)


def guide_to(variant: Variant, *, level: int | None = None, with_examples: bool = True) -> Page:
    """The page on how to play a variant at a level (the default one for None), made from its compiled rules alone.

    The examples take most of the time.
    """
    usual = variant.level() or variant.levels[0]
    shown = variant.level(level) or usual
    setting = Setting(shown.rules)
    sections = _sections(setting)
    if len(variant.levels) > 1:
        sections.append(_levels(variant, usual))
    if with_examples and (examples := _examples(shown.rules)) is not None:
        sections.append(examples)
    sections.append(Section("Questions", questions(setting)))
    return Page(variant.name, _lead(variant, shown, setting), tuple(sections), _foot(variant))


def _lead(variant: Variant, level: Level, setting: Setting) -> tuple[str, ...]:
    told = [variant.summary] if variant.summary.strip() else [_summary(setting)]
    if len(variant.levels) > 1:
        is_usual = level.number == variant.default_level
        usual = ", the one that is played unless you choose another" if is_usual else ""
        told.append(
            f"There are {count(len(variant.levels), 'level')}; this page describes level {level.number}{usual}"
        )
    return tuple(map(said, told))


def _summary(setting: Setting) -> str:
    packs = "one pack" if setting.rules.deck.packs == 1 else count(setting.rules.deck.packs, "pack")
    parts = [count(setting.columns, "column")]
    if setting.cells:
        parts.append(count(setting.cells, "cell"))
    if setting.reserves:
        parts.append("a reserve")
    if setting.stock:
        parts.append("a stock")
    return f"A solitaire game with {packs}, {listed(parts)}"


def _sections(setting: Setting) -> list[Section]:
    sections: dict[str, list[Block]] = {}
    for topic in _TOPICS:
        blocks = topic.tell(setting)
        if blocks:
            title = piles.stock_title(setting) if topic.section == "The stock" else topic.section
            sections.setdefault(title, []).extend(blocks)
    return [Section(title, tuple(blocks)) for title, blocks in sections.items()]


def _levels(variant: Variant, usual: Level) -> Section:
    settings = [Setting(level.rules) for level in variant.levels]
    rows = []
    for topic in _TOPICS:
        told = [_told(topic, setting) for setting in settings]
        if len(set(told)) > 1:
            common = set.intersection(*map(set, told))
            apart = [tuple(one for one in sentences if one not in common) for sentences in told]
            # Where one level only says more than another, the sentences that differ make no sense by themselves.
            shown = apart if all(apart) else told
            rows.append((topic.name, *(" ".join(one) or "There is none." for one in shown)))
    head = ("", *(f"Level {level.number}" for level in variant.levels))
    intro = f"The levels are alike but for what this table shows. Level {usual.number} is played unless you choose another."
    if not rows:
        return Section("Levels", (Paragraph(("All levels have the same rules.",)),))
    return Section("Levels", (Paragraph((intro,)), Table(head, tuple(rows))))


def _told(topic: _Topic, setting: Setting) -> tuple[str, ...]:
    told = tuple(sentences_of(topic.tell(setting)))
    if topic.tell is setup.layout and setup.table_of_columns(setting) is not None:
        # The table in the middle of that chapter as a sentence.
        return (*told, setup.shape_words(setting))
    return told


def _examples(rules: Rules) -> Section | None:
    examples = find_examples(rules)
    if not examples:
        return None
    deals = sorted({example.deal for example in examples}, key=lambda deal: int(deal.removeprefix("ck:")))
    where = f"deal {deals[0]}" if len(deals) == 1 else f"deals {listed(deals)}"
    intro = (
        f"The program found these moves by playing {where} of this game, and answers as it would answer you.",
        "Each row is a moment of its own.",
    )
    rows = tuple((example.request, example.answer) for example in examples)
    return Section(
        "Moves that are allowed, and moves that are not",
        (Paragraph(intro), Table(("The move", "The answer"), rows)),
    )


def _foot(variant: Variant) -> tuple[str, ...]:
    told = []
    if variant.aka:
        told.append(f"Also called {listed(variant.aka)}")
    if variant.family:
        told.append(f"Family: {capital(variant.family)}")
    if variant.credits:
        told.append(f"Credits: {variant.credits}")
    if variant.source:
        told.append(f"Source of the rules: {variant.source}")
    told.append("This page was made from the rules that the program plays by")
    return tuple(map(said, told))
