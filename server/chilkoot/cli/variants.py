"""Which variant a word on the command line means: an id in the folders of rules, or a YAML file."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Sequence
from pathlib import Path

from chilkoot.cli.faults import ERRORS, USAGE, CommandFailed
from chilkoot.data import rules_folder
from chilkoot.language import Diagnostic, Level, Source, Variant, has_errors, render_text
from chilkoot.language.nodes import MAX_BYTES
from chilkoot.library import Library

__all__ = [
    "find_level",
    "find_variant",
    "is_file_name",
    "level_of",
    "library",
    "read_standard_input",
    "source_of_input",
]


def library(folders: Sequence[Path]) -> Library:
    """The variants in the folders given, then those that come with Chilkoot."""
    for folder in folders:
        if not folder.is_dir():
            raise CommandFailed(f"--rules {folder}: there is no such folder", USAGE)
    return Library([*folders, rules_folder()])


def find_variant(word: str, folders: Sequence[Path]) -> Variant:
    """The variant with that id, or in that file."""
    variants = library(folders)
    if word == "-":
        return _compiled(*variants.check_source(source_of_input()))
    if is_file_name(word):
        path = Path(word)
        if not path.exists():
            raise CommandFailed(f"{word}: there is no such file", USAGE)
        return _compiled(*variants.check(path))
    path_of_id = variants.path(word)
    if path_of_id is None:
        near = difflib.get_close_matches(word, variants.ids(), 1)
        hint = f"did you mean `{near[0]}`?" if near else "`chilkoot rules list` names them all"
        raise CommandFailed(f"there is no variant `{word[:60]}`; {hint}", USAGE)
    return _compiled(*variants.check(path_of_id))


def is_file_name(word: str) -> bool:
    """Whether a word means a file rather than an id."""
    return word.endswith((".yaml", ".yml")) or "/" in word


def _compiled(variant: Variant | None, diagnostics: list[Diagnostic]) -> Variant:
    if variant is None or has_errors(diagnostics):
        print(render_text(diagnostics), end="", file=sys.stderr)
        raise CommandFailed("these rules can't be played", ERRORS)
    return variant


def level_of(variant: Variant, number: int | None) -> Level:
    """The level of that number, the default one for None."""
    level = variant.level(number)
    if level is None:
        numbers = [str(one.number) for one in variant.levels if one.number is not None]
        has = f"its levels are {', '.join(numbers)}" if numbers else "it has no levels"
        raise CommandFailed(f"{variant.id} has no level {number}; {has}", USAGE)
    return level


def find_level(word: str, number: int | None, folders: Sequence[Path]) -> tuple[Variant, Level]:
    """The variant that a word means, at a level."""
    variant = find_variant(word, folders)
    return variant, level_of(variant, number)


def source_of_input() -> Source:
    """Standard input as a file of rules, shown as ``-``."""
    return Source.from_bytes("-", "stdin", read_standard_input(MAX_BYTES + 1))


def read_standard_input(limit: int) -> bytes:
    """So many bytes of standard input at most."""
    return sys.stdin.buffer.read(limit)
