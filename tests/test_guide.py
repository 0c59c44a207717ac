"""How-to-play pages: what they say of every variant, of any combination of keys, and that nothing is left out."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import chilkoot.guide
from chilkoot.guide import STYLE, Page, as_html, as_markdown, guide_to
from chilkoot.guide.page import Bullets, Paragraph, Question, Section, Table, sentences_of
from chilkoot.language import KEYS, Source, compile_variant
from chilkoot.language.effects import _idle_keys
from chilkoot.language.rules import Level, Rules, Variant, rules_hash
from chilkoot.language.schema import Accepts, Choice, Flag, Goal, Key, ListOf, Number, Rank, Ranks, Suits
from variants import library, variant

GOLDEN = Path(__file__).parent / "guide"
GOLDEN_PAGES = (
    "yukon", "yakutat-bay", "yukon-cells", "yukon-thicket", "canfield", "spider", "freecell", "klondike",
)  # fmt: skip
# Between them these use every kind of rule.
BASES = (
    "yukon", "klondike-draw-3", "canfield", "freecell", "spider", "yakutat-bay-calving", "cruel", "usk", "nine-across",
    "agnes-bernauer", "bear-river", "yukon-cells", "swiss-patience", "simple-simon", "wake-robin", "giant", "martha", "bisley",
)  # fmt: skip


def page_of(name: str) -> Page:
    return guide_to(variant(name), with_examples=False)


def text_of(one: Variant) -> str:
    """A page without its title, which is no rule."""
    return as_markdown(guide_to(one, with_examples=False)).split("\n", 2)[2]


def section(page: Page, title: str) -> str:
    return next(" ".join(sentences_of(one.blocks)) for one in page.sections if one.title == title)


def words_of(page: Page) -> Iterator[str]:
    """Every piece of text that a page shows."""
    yield page.title
    yield from (*page.lead, *page.foot)
    for one in page.sections:
        yield one.title
        yield from sentences_of(one.blocks)
        for block in one.blocks:
            if isinstance(block, Table):
                yield from (*block.head, *(cell for row in block.rows for cell in row))
            elif isinstance(block, Question):
                yield block.question


def faults_of(page: Page) -> list[str]:
    """What no page may have, whatever its rules."""
    found = []
    for text in words_of(page):
        if re.search(r"None|[{}]|  |\.\.| ,|,,|\bno one\b|^\s|\s$", text):
            found.append(f"odd signs: {text}")
        if re.search(r"\b[AKQJT2-9][CDHS]\b|\b[tcrfsw][1-9]\b", text):
            found.append(f"a card or a pile by its letters: {text}")
        if re.search(r"\bone (?:cards|columns|piles|packs|cells|foundations|points)\b", text):
            found.append(f"a plural of one: {text}")
        if re.search(r"\b(?:two|three|four|[0-9]+) (?:card|column|pile|pack|cell|foundation|point)\b", text):
            found.append(f"a singular of many: {text}")
        if re.search(r"\b(an [2-79kqj1]|a [8a]ce|a 8)\b", text):
            found.append(f"the wrong article: {text}")
    for one in page.sections:
        if not one.title or not one.blocks:
            found.append(f"an empty section: {one.title}")
        for sentence in sentences_of(one.blocks):
            if not re.fullmatch(r"[A-Z0-9“].*[.:]", sentence):
                found.append(f"no whole sentence: {sentence}")
        for block in one.blocks:
            if isinstance(block, Paragraph) and not block.sentences:
                found.append(f"an empty paragraph in {one.title}")
            elif isinstance(block, Bullets) and not all(item.sentences for item in block.items):
                found.append(f"an empty entry in {one.title}")
            elif isinstance(block, Table) and any(len(row) != len(block.head) for row in block.rows):
                found.append(f"a ragged table in {one.title}")
            elif isinstance(block, Question) and not block.question.endswith("?"):
                found.append(f"no question: {block.question}")
    titles = [one.title for one in page.sections]
    if len(set(titles)) != len(titles):
        found.append(f"a section twice: {titles}")
    return found


# the pages


@pytest.mark.parametrize("name", GOLDEN_PAGES)
def test_the_page_reads_as_it_did_when_somebody_last_read_it(name: str, updates: bool) -> None:
    text = as_markdown(guide_to(variant(name)))
    path = GOLDEN / f"{name}.md"
    if updates:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def test_every_expected_page_belongs_to_a_variant() -> None:
    assert {path.stem for path in GOLDEN.glob("*")} == set(GOLDEN_PAGES)


def test_every_variant_has_a_page_without_faults() -> None:
    faults = {one.id: faults_of(guide_to(one, with_examples=False)) for one in library().variants()}
    assert {name: found for name, found in faults.items() if found} == {}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in GOLDEN_PAGES + BASES else pytest.mark.slow)
        for name in library().ids()
    ],
)
def test_the_page_with_its_examples_has_no_faults(name: str) -> None:
    page = guide_to(variant(name))
    assert faults_of(page) == []
    assert "Moves that are allowed, and moves that are not" in [one.title for one in page.sections]
    assert guide_to(variant(name)) == page


def test_the_page_tells_the_levels_apart() -> None:
    page = page_of("yukon-thicket")
    (levels,) = [one for one in page.sections if one.title == "Levels"]
    (table,) = [block for block in levels.blocks if isinstance(block, Table)]
    assert table.head == ("", "Level 1", "Level 2", "Level 3")
    rows = {row[0]: row[1:] for row in table.rows}
    assert set(rows) == {"What goes on a column", "Empty columns", "Cards that go home by themselves"}
    assert [cell.startswith("Any card") for cell in rows["Empty columns"]] == [True, False, False]
    assert ["the same suit" in cell for cell in rows["What goes on a column"]] == [False, False, True]
    assert "this page describes level 2" in page.lead[-1]


def test_a_level_that_only_says_more_is_told_whole() -> None:
    text = "extends: yukon\nlevels: {1: {}, 2: {cells: {count: 1}}, 3: {tableau: {max_cards: 20}}}\n"
    compiled, _ = compile_variant(Source("x.yaml", "x", text), library().loader())
    assert compiled is not None
    (levels,) = [one for one in guide_to(compiled, with_examples=False).sections if one.title == "Levels"]
    (table,) = [block for block in levels.blocks if isinstance(block, Table)]
    rows = {row[0]: row[1:] for row in table.rows}
    assert rows["The cells"] == ("There is none.", rows["The cells"][1], "There is none.")
    assert all("one rank lower" in cell for cell in rows["What goes on a column"])
    assert "at most 20 cards" in rows["What goes on a column"][2]


# nothing is left out


def values_of(key: Key) -> list[str]:
    """Some values that a key can take, as they are written."""
    kind = key.kind
    if isinstance(kind, Choice):
        return list(kind.words)
    if isinstance(kind, Flag):
        return ["true", "false"]
    if isinstance(kind, Number):
        numbers = sorted({kind.low, kind.low + 1, 3, 7, kind.high})
        return [*(str(one) for one in numbers if kind.low <= one <= kind.high), *kind.words]
    if isinstance(kind, Rank):
        return ["A", "2", "7", "K", *kind.words]
    if isinstance(kind, Accepts):
        return ["A", "K", "7", "[Q, K]", *kind.words]
    if isinstance(kind, Ranks):
        return ["A-9", "6-A", "2-K"]
    if isinstance(kind, Suits):
        return ["S", "HS", "CDH"]
    if isinstance(kind, Goal):
        return [*kind.words, "{cards_in_foundations: 26}"]
    if isinstance(kind, ListOf) and isinstance(kind.item, Choice):
        return [f"[{word}]" for word in kind.item.words]
    return []


GAME_KEYS = [
    key
    for key in KEYS
    if not key.is_about
    and not key.path.startswith("tests.")
    and values_of(key)
    and key.path != "default_level"
]
CHANGES = [(key.path, value) for key in GAME_KEYS for value in values_of(key)]


def written(path: str, value: str) -> str:
    names = path.split(".")
    if path == "tableau.columns":
        # The pictures of the deal are as wide as the table.
        rows, rest = divmod(52, int(value))
        last = f", {'U' * rest}{'.' * (int(value) - rest)}" if rest else ""
        return f"deal: [{'U' * int(value)} *{rows}{last}]\ntableau: {{columns: {value}}}\n"
    lines = [f"{'  ' * depth}{name}:" for depth, name in enumerate(names)]
    return "\n".join(lines) + f" {value}\n"


def changed(base: str, *changes: tuple[str, str]) -> Variant | None:
    """A variant that differs from another in some keys; None where that is no game or a key has no effect in it."""
    one = variant(base)
    about = f"name: {json.dumps(one.name)}\nsummary: {json.dumps(one.summary)}\nsource: {json.dumps(one.source)}\n"
    about += f"aka: {json.dumps(list(one.aka))}\nfamily: {json.dumps(one.family)}\n"
    texts = [about + f"extends: {base}\n", *(written(path, value) for path, value in changes)]
    # Each change extends the one before, for two of them may stand under one key.
    sources = {f"x{at}": Source(f"x{at}.yaml", f"x{at}", text) for at, text in enumerate(texts)}
    for at in range(1, len(texts)):
        sources[f"x{at}"] = Source(f"x{at}.yaml", f"x{at}", f"extends: x{at - 1}\n{about}{texts[at]}")
    load = library().loader()
    last = f"x{len(texts) - 1}"
    compiled, said = compile_variant(sources[last], lambda name: sources.get(name) or load(name))
    if compiled is None or {one.code for one in said} & {"R501", "R502"}:
        return None
    return compiled


def is_same_in_play(path: str, value: str, rules: Rules) -> bool:
    """Whether a changed key leaves the game as it was, for a reason that no warning names."""
    foundations = any(group.returns != "never" for group in rules.foundations)
    others = rules.cells.count or rules.reserve.piles or rules.stock_size() or foundations
    any_accepts = any(columns.empty.accepts == "any" for columns in rules.tableau)
    accepts_king = any(columns.empty.accepts in ("base_high", (12,)) for columns in rules.tableau)
    return (
        # Only columns have cards to give.
        (path == "tableau.empty.from" and value == "[tableau]" and not others)
        # Without a stock it is always empty.
        or (path == "foundations.return" and value == "when_stock_empty" and not rules.stock_size())
        # Columns that take only some cards double nothing.
        or (path == "tableau.group.limit" and value in ("supermove", "cells") and not any_accepts)
        # Kings are one below aces.
        or (path == "tableau.empty.accepts" and value in ("base_high", "K") and accepts_king)
        or (path == "aids.send_home" and not rules.foundation_count())
    )


@pytest.mark.parametrize("key", GAME_KEYS, ids=lambda key: key.path)
def test_a_changed_key_changes_the_page(key: Key, request: pytest.FixtureRequest) -> None:
    tried = 0
    for value in values_of(key):
        for base in BASES:
            one = changed(base, (key.path, value))
            before, after = variant(base).level(), one.level() if one is not None else None
            if one is None or before is None or after is None or before.hash == after.hash:
                continue
            tried += 1
            if not is_same_in_play(key.path, value, after.rules):
                assert text_of(one) != text_of(variant(base)), f"{base} with {key.path}: {value}"
                break
        if tried > 1 and not request.config.getoption("--all"):
            return
    assert tried


def parts_of(rules: Rules) -> Iterator[tuple[str, Rules]]:
    """The rules with each key, one after the other, put back to its default."""
    for name in ("cells", "reserve", "stock", "redeal", "goal", "loss", "score", "aids", "deal_policy"):
        part = getattr(rules, name)
        for field in msgspec.structs.fields(type(part)):
            value = msgspec.structs.replace(part, **{field.name: field.default})
            if value != part:
                yield f"{name}.{field.encode_name}", msgspec.structs.replace(rules, **{name: value})
    for name in ("tableau", "foundations"):
        for at, group in enumerate(getattr(rules, name)):
            for field in msgspec.structs.fields(type(group)):
                inner = getattr(group, field.name)
                if isinstance(inner, msgspec.Struct):
                    for deeper in msgspec.structs.fields(type(inner)):
                        value = msgspec.structs.replace(
                            inner, **{deeper.name: getattr(type(inner)(), deeper.name)}
                        )
                        new = msgspec.structs.replace(group, **{field.name: value})
                        if new != group:
                            yield (
                                f"{name}[{at}].{field.encode_name}.{deeper.encode_name}",
                                with_group(rules, name, at, new),
                            )
                elif field.name not in ("columns", "count"):
                    new = msgspec.structs.replace(group, **{field.name: getattr(type(group)(), field.name)})
                    if new != group:
                        yield f"{name}[{at}].{field.encode_name}", with_group(rules, name, at, new)


def with_group(rules: Rules, name: str, at: int, group: msgspec.Struct) -> Rules:
    groups = list(getattr(rules, name))
    groups[at] = group
    return msgspec.structs.replace(rules, **{name: tuple(groups)})


def with_rules(one: Variant, rules: Rules) -> Variant:
    level = Level(number=None, rules=rules, hash=rules_hash(rules))
    return msgspec.structs.replace(one, levels=(level,), default_level=None)


def test_every_key_that_differs_from_its_default_is_told(request: pytest.FixtureRequest) -> None:
    silent = []
    everything = request.config.getoption("--all")
    for one in library().variants():
        if not everything and one.id not in BASES:
            continue
        level = one.level() or one.levels[0]
        text = text_of(with_rules(one, level.rules))
        idle = {key.path for key in _idle_keys(level.rules)}
        for path, plain in parts_of(level.rules):
            if path not in idle | {key.path for key in _idle_keys(plain)}:
                silent += [f"{one.id}: {path}"] if text_of(with_rules(one, plain)) == text else []
    assert silent == []


@given(
    st.sampled_from(BASES),
    st.lists(st.sampled_from(CHANGES), min_size=1, max_size=4, unique_by=lambda pair: pair[0]),
)
def test_any_combination_of_keys_gives_a_page_without_faults(
    base: str, changes: list[tuple[str, str]]
) -> None:
    one = changed(base, *changes)
    assume(one is not None)
    assert one is not None
    assert faults_of(guide_to(one, with_examples=False)) == []


# what the pages say


@pytest.mark.parametrize(
    ("name", "title", "said"),
    (
        ("yukon", "The goal", "built up from the ace to the king"),
        ("yukon", "Moving cards", "whether they are in order or not"),
        ("yukon", "Moving cards", "the 9 of clubs or the 9 of spades goes on the 10 of hearts"),
        ("yukon", "Empty columns", "A whole column may not be moved into an empty one"),
        ("yukon", "The foundations", "A card on a foundation stays there."),
        ("yakutat-bay", "The foundations", "You may take the last card of a foundation back"),
        ("yukon-thicket", "The foundations", "the 7 of hearts goes home by itself only when the 6 of clubs and the 6 of spades are home"),
        ("yukon-cells", "The cells", "The last card of a column may be put into an empty cell"),
        ("canfield", "Empty columns", "filled at once, without your doing, with the last card of the reserve"),
        ("canfield", "The stock and the waste", "next three cards, or as many as are left"),
        ("freecell", "Moving cards", "with two empty cells three cards may move, and with one empty column besides, six"),
        ("spider", "The stock", "The stock cannot be turned while a column is empty."),
        ("spider", "The foundations", "13 cards of one suit, from the king down to the ace"),
        ("yakutat-bay-calving", "Empty columns", "from the next column to its right"),
        ("cruel", "Dealing again", "100 times in a game"),
        ("bisley", "The foundations", "is built down"),
        ("simple-simon", "Moving cards", "count together as one run"),
        ("nine-across", "Empty columns", "one rank below the base rank"),
        ("spider-one-suit", "Setting up", "Eight packs are shuffled together (only spades), 104 cards in all."),
    ),
)  # fmt: skip
def test_a_page_says(name: str, title: str, said: str) -> None:
    assert said in section(page_of(name), title)


def test_what_does_not_apply_is_not_mentioned() -> None:
    page = page_of("yukon")
    titles = {one.title for one in page.sections}
    assert not titles & {"The cells", "The reserve", "The stock", "Dealing again", "Levels"}
    text = as_markdown(page)
    assert "stock" not in text.split("## The goal")[1]
    assert "cell" not in text


def test_the_safe_cards_follow_from_the_rules() -> None:
    text = "extends: yukon\ntableau: {build: {suit: same}}\nfoundations: {auto: safe}\n"
    one, _ = compile_variant(Source("x.yaml", "x", text), library().loader())
    assert one is not None
    assert "the 7 of hearts goes home by itself as soon as it fits" in as_markdown(
        guide_to(one, with_examples=False)
    )
    one, _ = compile_variant(
        Source("x.yaml", "x", "extends: yukon\nfoundations: {auto: safe, return: always}\n"),
        library().loader(),
    )
    assert one is not None
    said = as_markdown(guide_to(one, with_examples=False))
    assert "only when the 3 of clubs, the 2 of diamonds and the 3 of spades are home" in said


def test_groups_of_columns_are_told_apart() -> None:
    text = """
deal: [UUUUUUU *7, UUU....]
tableau:
  - {columns: 4, empty: {accepts: K}}
  - {columns: 3, build: {suit: same}, empty: {accepts: none}}
"""
    one, _ = compile_variant(Source("x.yaml", "x", text), library().loader())
    assert one is not None
    page = guide_to(one, with_examples=False)
    assert faults_of(page) == []
    (moving,) = [part for part in page.sections if part.title == "Empty columns"]
    (bullets,) = moving.blocks
    assert isinstance(bullets, Bullets)
    assert [item.term for item in bullets.items] == ["Columns 1 to 4", "Columns 5 to 7"]


# how the pages look

HOSTILE = Variant(
    id="x",
    name="<script>alert(1)</script> *a* [b](javascript:c)",
    summary="# one\n- two | three `four` &lt; <b>",
    aka=("</pre><img src=x>",),
    source="1. dot | --- _x_ ![y](z)",
    text="</pre><script>1</script>",
    levels=variant("yukon").levels,
)


class Reader(HTMLParser):
    """Which tags a page opens and closes, and in which order."""

    def __init__(self) -> None:
        super().__init__()
        self.opened: list[str] = []
        self.open: list[str] = []
        self.headings: list[str] = []
        self.attributes: dict[str, dict[str, str | None]] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.opened.append(tag)
        self.attributes.setdefault(tag, dict(attrs))
        if tag not in {"meta", "br"}:
            self.open.append(tag)
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def read(text: str) -> Reader:
    reader = Reader()
    reader.feed(text)
    reader.close()
    assert reader.open == []
    return reader


@pytest.mark.parametrize("name", ("yukon", "yukon-thicket", "canfield"))
def test_the_html_is_a_whole_page_with_its_headings_in_order(name: str) -> None:
    one = variant(name)
    text = as_html(guide_to(one, with_examples=False), source=one.text, home="/")
    assert text.startswith("<!doctype html>\n")
    reader = read(text)
    assert reader.attributes["html"] == {"lang": "en"}
    assert f"<title>How to play {one.name}</title>" in text
    assert reader.headings[0] == "h1"
    assert reader.headings.count("h1") == 1
    levels = [int(tag[1]) for tag in reader.headings]
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert {"header", "main", "footer", "nav", "details"} <= set(reader.opened)
    assert reader.opened.count("style") == 1
    assert f"<style>{STYLE}</style>" in text


def test_html_keeps_a_hostile_text_a_text() -> None:
    text = as_html(guide_to(HOSTILE, with_examples=False), source=HOSTILE.text, home='/"><script>')
    reader = read(text)
    assert not {"script", "img", "b"} & set(reader.opened)


def test_the_html_names_nothing_from_elsewhere() -> None:
    text = as_html(page_of("yukon"))
    assert "http" not in text
    assert "url(" not in text
    assert "<" not in STYLE


def test_markdown_keeps_a_hostile_text_a_text() -> None:
    text = as_markdown(guide_to(HOSTILE, with_examples=False))
    lines = text.splitlines()
    assert lines[0] == r"# \<script\>alert(1)\</script\> \*a\* \[b\](javascript:c)"
    assert lines[2].startswith(r"\# one - two \| three \`four\` \&lt; \<b\>")
    assert not re.search(r"(?<!\\)[<>`]", text)
    assert r"1\. dot" not in lines[-1] or r"\_x\_ !\[y\](z)" in lines[-1]


def test_a_table_in_markdown_has_as_many_cells_in_every_line() -> None:
    page = Page("t", ("L.",), (Section("S", (Table(("a|b", ""), (("1", "x|y"), ("2", "z"))),)),))
    rows = [line for line in as_markdown(page).splitlines() if line.startswith("|")]
    assert [len(re.findall(r"(?<!\\)\|", row)) for row in rows] == [3, 3, 3, 3]


def test_what_the_room_offers_is_documented() -> None:
    offered = [getattr(chilkoot.guide, name) for name in chilkoot.guide.__all__]
    assert [one for one in offered if callable(one) and not one.__doc__] == []


def test_another_level_than_the_usual_one_can_be_described() -> None:
    page = guide_to(variant("yukon-thicket"), level=3, with_examples=False)
    assert page.lead[-1] == "There are three levels; this page describes level 3."
    assert "of the same suit" in section(page, "Moving cards")
