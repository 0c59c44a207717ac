"""The generated parts of ``rules/README.md``: tables of variants, tables of keys from the schema, a section for each code.

Decides how the tables look, never what is in them. A test fails when the file and these texts differ.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from chilkoot.language.codes import CODES
from chilkoot.language.compile import name_of_id
from chilkoot.language.rules import Variant
from chilkoot.language.schema import (
    KEYS,
    Accepts,
    Choice,
    Deal,
    Flag,
    Goal,
    Id,
    Key,
    Kind,
    Levels,
    ListOf,
    Number,
    Rank,
    Ranks,
    Section,
    Suits,
    Text,
    Version,
    keys_of,
)
from chilkoot.language.schema import Tests as SampleTests

__all__ = ["code_sections", "key_tables", "takes", "variant_tables", "with_generated"]

_HEAD: Final = "| key | takes | default | meaning |\n|---|---|---|---|\n"


def key_tables() -> str:
    """A table for each section of the language, in the order of the language."""
    plain = [key for key in keys_of("").values() if not isinstance(key.kind, Section)]
    parts = ["### The file itself\n\n" + _HEAD + "".join(_row(key) for key in plain)]
    for section in keys_of("").values():
        inner = [
            key
            for key in KEYS
            if key.path.startswith(f"{section.path}.") and not isinstance(key.kind, Section)
        ]
        if inner:
            parts.append(
                f"### `{section.path}`\n\n{section.meaning}\n\n{_HEAD}" + "".join(_row(key) for key in inner)
            )
    return "\n".join(parts)


def variant_tables(variants: Iterable[Variant]) -> str:
    """A table for each family of variants, Yukon's first."""
    families: dict[str, list[Variant]] = {}
    for one in variants:
        families.setdefault(one.family, []).append(one)
    parts = []
    for family, found in sorted(families.items(), key=lambda one: (one[0] != "yukon", one[0])):
        rows = "".join(_variant_row(one) for one in sorted(found, key=lambda one: one.name))
        parts.append(f"### {name_of_id(family)}\n\n| file | name | what it is |\n|---|---|---|\n{rows}")
    return "\n".join(parts)


def _variant_row(variant: Variant) -> str:
    names = ", ".join([f"**{variant.name}**", *variant.aka])
    levels = [str(level.number) for level in variant.levels if level.number is not None]
    told = f"{variant.summary} Levels {', '.join(levels)}." if levels else variant.summary
    cells = (f"[`{variant.id}`]({variant.id}.yaml)", names, told)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"


def code_sections(examples: Mapping[str, str]) -> str:
    """A section for each code with its explanation and an example, which is the text that the checker prints."""
    parts = []
    for code, one in CODES.items():
        example = examples.get(code, "").rstrip()
        shown = f"\n```text\n{example}\n```\n" if example else ""
        parts.append(f"### {code}: {one.title}\n\n*{one.severity}* – {one.explanation}\n{shown}")
    return "\n".join(parts)


def with_generated(page: str, parts: Mapping[str, str]) -> str:
    """The page with each part put between its marks, ``<!-- generated: NAME -->`` and ``<!-- end -->``."""
    for name, text in parts.items():
        mark = f"<!-- generated: {name} -->\n"
        pattern = re.compile(re.escape(mark) + ".*?(?=<!-- end -->)", re.DOTALL)
        page = pattern.sub(lambda _, whole=f"{mark}\n{text}\n": whole, page)  # type: ignore[misc]  # a default is no argument
    return page


def _row(key: Key) -> str:
    name = key.path.partition(".")[2] or key.path
    meaning = key.meaning
    words = _words(key.kind)
    if any(words.values()):
        meaning += " " + "; ".join(f"`{word}`: {what}" for word, what in words.items() if what) + "."
    cells = (f"`{name}`", takes(key.kind), _default(key), meaning)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"


def _default(key: Key) -> str:
    if not key.default:
        return ""
    is_value = re.fullmatch(r"\[.*\]|[a-zA-Z0-9_-]+", key.default) is not None
    return f"`{key.default}`" if is_value and not isinstance(key.kind, Text | Id | Levels) else key.default


def _words(kind: Kind) -> Mapping[str, str]:
    if isinstance(kind, ListOf):
        return _words(kind.item)
    if isinstance(kind, Choice | Rank | Accepts | Goal):
        # Where all words mean the same sort of thing, the sentence about the key has said it.
        return kind.words if len(set(kind.words.values())) > len(kind.words) // 2 else {}
    return {}


def takes(kind: Kind) -> str:
    """What a key takes, in Markdown."""
    if isinstance(kind, Choice):
        words = list(kind.words)
        return " · ".join(f"`{word}`" for word in words)
    if isinstance(kind, Number):
        return " · ".join([f"{kind.low}–{kind.high}", *(f"`{word}`" for word in kind.words)])
    if isinstance(kind, ListOf):
        return f"list of: {takes(kind.item)}"
    if isinstance(kind, Rank):
        return " · ".join(["a rank", *(f"`{word}`" for word in kind.words)])
    if isinstance(kind, Accepts):
        return " · ".join(["a rank", "list of ranks", *(f"`{word}`" for word in kind.words)])
    if isinstance(kind, Goal):
        return " · ".join([*(f"`{word}`" for word in kind.words), "`{cards_in_foundations: n}`"])
    if isinstance(kind, Text):
        return f"text, up to {kind.longest} characters"
    return _PLAIN[type(kind)]


_PLAIN: Final[dict[type, str]] = {
    Flag: "`true` · `false`",
    Version: "`1`",
    Id: "an id",
    Suits: "letters of `CDHS`",
    Ranks: "a range (`6-A`) or a list of ranks",
    Deal: "list of pictures",
    Levels: "mapping of 1–99 to what differs",
    SampleTests: "list of tests",
    Section: "mapping",
}
