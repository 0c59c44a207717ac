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
from chilkoot.library import Library, read_source

__all__ = [
    "find_level",
    "find_source",
    "find_variant",
    "is_file_name",
    "level_of",
    "library",
    "read_standard_input",
    "refused",
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
    variants, source, beside = find_source(word, folders)
    return _compiled(*variants.check_source(source, beside=beside))


def find_source(word: str, folders: Sequence[Path]) -> tuple[Library, Source, Path]:
    """The text of a variant by its id, its file or ``-``, with the folder where what it extends is looked for first."""
    variants = library(folders)
    if word == "-":
        return variants, source_of_input(), Path.cwd()
    path = _path_of(word, variants)
    source = read_source(path)
    if isinstance(source, Diagnostic):
        raise refused([source])
    return variants, source, path.parent


def _path_of(word: str, variants: Library) -> Path:
    if is_file_name(word):
        if not Path(word).exists():
            raise CommandFailed(f"{word}: there is no such file", USAGE)
        return Path(word)
    path = variants.path(word)
    if path is None:
        near = difflib.get_close_matches(word, variants.ids(), 1)
        hint = f"did you mean `{near[0]}`?" if near else "`chilkoot rules list` names them all"
        raise CommandFailed(f"there is no variant `{word[:60]}`; {hint}", USAGE)
    return path


def is_file_name(word: str) -> bool:
    """Whether a word means a file rather than an id."""
    return word.endswith((".yaml", ".yml")) or "/" in word


def _compiled(variant: Variant | None, diagnostics: list[Diagnostic]) -> Variant:
    if variant is None or has_errors(diagnostics):
        raise refused(diagnostics)
    return variant


def refused(diagnostics: list[Diagnostic]) -> CommandFailed:
    """What ends a command whose rules have errors, once it has said which."""
    print(render_text(diagnostics), end="", file=sys.stderr)
    return CommandFailed("these rules can't be played", ERRORS)


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
