"""From a file's text to a variant, or to everything that is wrong with it.

Decides the order of the steps: nodes, what the file extends, keys, levels, checks, and what changes nothing. It opens no
file: a loader finds the files that others extend.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

import msgspec

from chilkoot.language.codes import Report
from chilkoot.language.diagnostics import Diagnostic, Place, Severity, Source, in_order
from chilkoot.language.effective import Setting, settings, write_rules
from chilkoot.language.levels import Tree, default_level, level_tree, read_levels
from chilkoot.language.merge import Loader, merge, resolve
from chilkoot.language.nodes import Mapping, parse
from chilkoot.language.overrides import check_overrides
from chilkoot.language.read import Given, read_keys, read_rules
from chilkoot.language.rules import Rules, Variant, VariantTest
from chilkoot.language.samples import read_tests
from chilkoot.language.schema import ID_PATTERN
from chilkoot.language.words import quoted

__all__ = ["check_text", "compile_variant", "effective_rules", "effective_settings", "name_of_id"]

_NAMES: Final = frozenset({"name", "family", "aka", "summary", "credits", "source", "default_level"})


def compile_variant(
    source: Source, loader: Loader, *, ids: Collection[str] = (), errors_only: bool = False
) -> tuple[Variant | None, list[Diagnostic]]:
    """Compile a file; no variant when there is an error. Diagnostics are in the order of their places, own file first.

    `ids` are variants that there are to extend, to suggest one where the name is misspelt. With `errors_only` nothing is
    looked for that does not refuse the file, which takes a third of the time.
    """
    report = Report(errors_only=errors_only)
    variant = _compile(source, loader, ids, report)
    kept = [
        one
        for one in report.diagnostics
        # Warnings about an extended file are told to whoever checks that file.
        if one.severity is Severity.ERROR or one.place.file == source.name
    ]
    return variant, in_order(kept, source.name)


def check_text(
    text: str, *, name: str = "-", variant: str = "variant", loader: Loader | None = None
) -> list[Diagnostic]:
    """The diagnostics of a text that is no file, such as standard input."""
    return compile_variant(Source(name, variant, text), loader or _no_files)[1]


def effective_rules(
    source: Source, loader: Loader, *, level: int | None = None, origins: bool = False
) -> tuple[str | None, list[Diagnostic]]:
    """The rules that hold at a level (the default one for None), as YAML with every key; `origins` adds where from.

    None where the file has errors or no such level.
    """
    found, diagnostics = _effective(source, loader, level)
    if found is None:
        return None, diagnostics
    given, rules = found
    return write_rules(rules, given if origins else None), diagnostics


def effective_settings(
    source: Source, loader: Loader, *, level: int | None = None
) -> tuple[list[Setting] | None, list[Diagnostic]]:
    """The same as plain data: each key with its value and where that is written."""
    found, diagnostics = _effective(source, loader, level)
    if found is None:
        return None, diagnostics
    given, rules = found
    return settings(rules, given), diagnostics


def _effective(
    source: Source, loader: Loader, level: int | None
) -> tuple[tuple[Given, Rules] | None, list[Diagnostic]]:
    variant, diagnostics = compile_variant(source, loader)
    at = variant.level(level) if variant is not None else None
    if at is None:
        return None, diagnostics
    quiet = Report()
    own = parse(source, quiet)
    assert own is not None
    merged = merge(resolve(own, source, loader, quiet) or Mapping({}, own.place), own, None)
    return read_rules(level_tree(merged, at.number), quiet, meant=set()), diagnostics


def name_of_id(variant: str) -> str:
    """What a variant is called that has no name: ``yukon-cells`` is Yukon Cells."""
    return " ".join(word.capitalize() for word in variant.split("-") if word)


def _no_files(_variant: str) -> Source | None:
    return None


def _compile(source: Source, loader: Loader, ids: Collection[str], report: Report) -> Variant | None:
    if not re.fullmatch(ID_PATTERN, source.id):
        report.say(
            "R015",
            Place(source.name, 1, 1, 2),
            f"{quoted(source.id)} can't be the id of a variant",
            "name the file with lower-case letters, digits and hyphens, a letter first",
        )
    own = parse(source, report)
    if own is None:
        return None
    below = resolve(own, source, loader, report, ids)
    tree = Tree(
        own,
        below or Mapping({}, own.place),
        merge(below or Mapping({}, own.place), own, report),
        below is not None,
    )
    about = read_keys(tree.merged, _NAMES, report)
    levels = read_levels(tree, report)
    default = default_level(about, tree, levels, report)
    tests: tuple[VariantTest, ...] = ()
    if "tests" in tree.merged.entries and tree.is_whole:
        tests = read_tests(tree.merged.entries["tests"].value, levels, default, report)
    if report.errors or not tree.is_whole:
        return None
    if not report.errors_only:
        check_overrides(tree, levels, default, report)
    values = about.values
    return Variant(
        id=source.id,
        name=str(values.get("name", name_of_id(source.id))),
        family=str(values.get("family", "")),
        aka=msgspec.convert(values.get("aka", ()), tuple[str, ...]),
        summary=str(values.get("summary", "")),
        credits=str(values.get("credits", "")),
        source=str(values.get("source", "")),
        levels=levels,
        default_level=default,
        tests=tests,
        text=source.text,
    )
