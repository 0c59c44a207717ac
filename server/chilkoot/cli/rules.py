"""`chilkoot rules`: check files of rules, list the variants."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from chilkoot.cli.faults import ERRORS, USAGE, CommandFailed
from chilkoot.cli.json_lines import print_json
from chilkoot.cli.variants import library, source_of_input
from chilkoot.language import (
    Diagnostic,
    Severity,
    Variant,
    has_errors,
    in_order,
    render_github,
    render_json,
    render_text,
)
from chilkoot.library import Library, shown_path

__all__ = ["check", "show_list"]

_RENDER = {"text": render_text, "json": render_json, "github": render_github}


def check(flags: argparse.Namespace) -> int:
    """Check files of rules; everything that is wrong with them goes to standard output."""
    if not flags.watch:
        return _check(flags)
    if "-" in flags.files:
        raise CommandFailed("--watch needs files to watch; standard input comes but once", USAGE)
    from chilkoot.cli.watching import watch  # noqa: PLC0415 - one check needs no clock

    return watch(lambda: _check(flags), flags.files, flags.rules, is_text=flags.format == "text")


def _check(flags: argparse.Namespace) -> int:
    variants = library(flags.rules)
    files = flags.files or [str(path) for one in variants.ids() if (path := variants.path(one)) is not None]
    # Advice is for whoever writes a file: games are played for it, which takes too long for whole folders.
    named = {variants.path(name) or Path(name) for name in flags.files}
    found: list[Diagnostic] = []
    count = 0
    for path in _paths(files, variants):
        count += 1
        found += _check_one(variants, path, advises=path in named)
    if not flags.files:
        found = in_order([*found, *variants.hidden])
    print(_RENDER[flags.format](found), end="")
    if flags.format == "text":
        print(_summary(count, found), file=sys.stderr)
    return ERRORS if has_errors(found, strict=flags.strict) else 0


def _paths(files: list[str], variants: Library) -> list[Path]:
    paths: list[Path] = []
    for name in files:
        path = Path(name)
        known = None if path.exists() else variants.path(name)
        if name != "-" and path.is_dir():
            inside = sorted(path.glob("*.yaml"))
            if not inside:
                raise CommandFailed(f"{name}: no YAML file is in this folder", USAGE)
            paths += inside
        elif known is not None:
            paths.append(known)
        elif name != "-" and not path.exists():
            raise CommandFailed(f"{name}: there is no such file", USAGE)
        else:
            paths.append(path)
    return paths


def _check_one(variants: Library, path: Path, *, advises: bool) -> list[Diagnostic]:
    """Everything to be said of a file, with advice or without."""
    if str(path) == "-":
        variant, said = variants.check_source(source_of_input(), beside=Path.cwd())
    else:
        variant, said = variants.check(path)
    if variant is None:
        return said
    file = "-" if str(path) == "-" else shown_path(path)
    if variant.tests or advises:
        # Most variants have no tests, and checking them all must not wait for the engine.
        from chilkoot.guide import advise_on, run_tests  # noqa: PLC0415

        said = [*said, *run_tests(variant, file), *(advise_on(variant, file) if advises else ())]
    return in_order(said, file)


def _summary(files: int, found: list[Diagnostic]) -> str:
    counts = {severity: sum(one.severity is severity for one in found) for severity in Severity}
    words = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.ADVICE: "piece of advice"}
    plural = {Severity.ERROR: "errors", Severity.WARNING: "warnings", Severity.ADVICE: "pieces of advice"}
    said = [
        f"{count} {words[kind] if count == 1 else plural[kind]}" for kind, count in counts.items() if count
    ]
    checked = f"{files} file{'s' * (files != 1)} checked"
    return f"{checked}: {', '.join(said)}" if said else f"{checked}: all is well"


def show_list(flags: argparse.Namespace) -> int:
    """List the variants that can be played."""
    variants = library(flags.rules)
    found = variants.variants()
    if flags.json:
        for one in found:
            print_json(**_entry(one))
    else:
        width = max((len(one.id) for one in found), default=0)
        for one in found:
            levels = [str(level.number) for level in one.levels if level.number is not None]
            about = f"{one.name}{f' (levels {chr(44).join(levels)})' if levels else ''}"
            print(f"{one.id:{width}}  {about}{f' – {one.summary}' if one.summary else ''}")
    broken = [name for name in variants.ids() if variants.variant(name) is None]
    for name in broken:
        print(
            f"chilkoot: {variants.path(name)} has errors; `chilkoot rules check` says which", file=sys.stderr
        )
    return ERRORS if broken else 0


def _entry(variant: Variant) -> dict[str, object]:
    return {
        "id": variant.id,
        "name": variant.name,
        "family": variant.family,
        "summary": variant.summary,
        "levels": [level.number for level in variant.levels if level.number is not None],
        "default_level": variant.default_level,
        "rules_hashes": {str(level.number or 0): level.hash for level in variant.levels},
    }
