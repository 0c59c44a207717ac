"""`chilkoot rules new`, `describe`, `effective`, `explain` and `schema`: what an author of variants writes with and looks things up in."""

from __future__ import annotations

import argparse
import difflib
import re
import sys
from pathlib import Path
from typing import Final

import msgspec

from chilkoot.cli.faults import USAGE, CommandFailed
from chilkoot.cli.json_lines import print_json
from chilkoot.cli.variants import (
    find_level,
    find_source,
    find_variant,
    is_file_name,
    level_of,
    library,
    refused,
)
from chilkoot.language import (
    CODES,
    ID_PATTERN,
    Variant,
    effective_rules,
    effective_settings,
    explain,
    json_schema,
    name_of_id,
    starter,
)

__all__ = ["describe", "effective", "explain_codes", "new", "schema"]

SCHEMA_FILE: Final = "rules.schema.json"
"""Beside a new variant, for the editor."""


def new(flags: argparse.Namespace) -> int:
    """Write the file that a new variant begins with, and never over one that is there."""
    path = Path(flags.name)
    if path.suffix not in {".yaml", ".yml"}:
        path = path.parent / f"{path.name}.yaml"
    variant, folder = path.stem, path.parent
    _check_id(variant, path)
    if not folder.is_dir():
        raise CommandFailed(f"{folder}: there is no such folder", USAGE)
    if path.exists():
        raise CommandFailed(f"{path} is there already; nothing was written", USAGE)
    taken = library(flags.rules).path(variant)
    if taken is not None:
        raise CommandFailed(f"there is a variant `{variant}` already, {taken}; choose another name", USAGE)
    base = _base(flags.base, folder, flags.rules)
    text = starter(variant, name_of_id(variant), base, file=str(path), schema=SCHEMA_FILE)
    with path.open("x", encoding="utf-8") as file:
        file.write(text)
    print(path)
    _write_schema(folder / SCHEMA_FILE)
    print(f"chilkoot: now edit it; `chilkoot rules check {path} --watch` says what is wrong", file=sys.stderr)
    return 0


def _check_id(variant: str, path: Path) -> None:
    if path.suffix == ".yml":
        raise CommandFailed(f"files of rules end in .yaml; try `{path.with_suffix('.yaml')}`", USAGE)
    if re.fullmatch(ID_PATTERN, variant):
        return
    near = re.sub("[^a-z0-9]+", "-", variant.lower()).strip("-").lstrip("0123456789-")[:40].rstrip("-")
    hint = f"; try `{path.parent / near}`" if near else ""
    raise CommandFailed(
        f"`{variant[:60]}` can't be the id of a variant: lower-case letters, digits and hyphens, a letter first, "
        f"at most 40{hint}",
        USAGE,
    )


def _base(word: str, folder: Path, folders: list[Path]) -> Variant:
    """The variant to build on, as the new file will find it: beside it, or in the folders of rules."""
    if is_file_name(word):
        if Path(word).parent.resolve() != folder.resolve():
            raise CommandFailed("--from names a variant by its id, or a file in the same folder", USAGE)
        word = Path(word).stem
    return find_variant(word, [folder, *folders])


def _write_schema(path: Path) -> None:
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(_schema_text())
    except FileExistsError:
        return
    print(f"chilkoot: {path} lets editors complete and explain keys", file=sys.stderr)


def describe(flags: argparse.Namespace) -> int:
    """Print how a variant is played."""
    # The other commands here need no engine.
    from chilkoot.guide import as_html, as_markdown, guide_to  # noqa: PLC0415

    variant, level = find_level(flags.variant, flags.level, flags.rules)
    page = guide_to(variant, level=level.number)
    print(as_html(page, source=variant.text) if flags.html else as_markdown(page), end="")
    return 0


def effective(flags: argparse.Namespace) -> int:
    """Print every key with the value that holds."""
    variants, source, beside = find_source(flags.variant, flags.rules)
    variant, diagnostics = variants.check_source(source, beside=beside)
    if variant is None:
        raise refused(diagnostics)
    level_of(variant, flags.level)
    loader = variants.loader(beside)
    if not flags.json:
        text, _ = effective_rules(source, loader, level=flags.level, origins=flags.origins)
        print(text, end="")
        return 0
    found, _ = effective_settings(source, loader, level=flags.level)
    for one in found or []:
        place = one.place
        origin = {
            "file": None if place is None else place.file,
            "line": None if place is None else place.line,
        }
        print_json(key=one.path, value=one.value, **origin)
    return 0


def explain_codes(flags: argparse.Namespace) -> int:
    """Explain codes of diagnostics, or list them all."""
    if not flags.codes and not flags.json:
        for code, one in CODES.items():
            print(f"{code}  {one.title}")
        return 0
    codes = [code.strip().upper() for code in flags.codes] or list(CODES)
    for code in codes:
        if code not in CODES:
            near = difflib.get_close_matches(code, CODES, 1)
            hint = f"did you mean {near[0]}?" if near else "`chilkoot rules explain` lists them all"
            raise CommandFailed(f"there is no code `{code[:20]}`; {hint}", USAGE)
    for number, code in enumerate(codes):
        if flags.json:
            one = CODES[code]
            print_json(code=code, severity=one.severity, title=one.title, explanation=one.explanation)
        else:
            print(f"{chr(10) * (number > 0)}{explain(code)}", end="")
    return 0


def schema(flags: argparse.Namespace) -> int:
    """Print the schema for editors."""
    if flags.json:
        print_json(**json_schema())
    else:
        print(_schema_text(), end="")
    return 0


def _schema_text() -> str:
    return msgspec.json.format(msgspec.json.encode(json_schema()), indent=2).decode() + "\n"
