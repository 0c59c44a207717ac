"""Every diagnostic by a pair of files: a bad file of rules and all that is said of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from chilkoot.data import rules_folder
from chilkoot.language import (
    CODES,
    Diagnostic,
    Place,
    Severity,
    check_text,
    explain,
    has_errors,
    in_order,
    render_github,
    render_json,
    render_text,
)
from chilkoot.language.codes import MAX_DIAGNOSTICS
from chilkoot.library import Library

BAD = Path(__file__).parent / "rules" / "bad"

# Files that are large, for what they show, are written when they are needed.
MADE = {
    "r003-too-large": b"#" * (64 * 1024 + 1),
    "r010-too-many-values": b"setup: [" + b"a," * 20_001 + b"]\n",
    "r018-too-many-problems": b"extends: yukon\n" + b"".join(b"key%d: 1\n" % number for number in range(300)),
}
NAMES = sorted({path.stem for path in BAD.glob("r*.yaml")} | MADE.keys() | {"r016-no-such-file"})


def said_of(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    monkeypatch.chdir(BAD)
    path = BAD / f"{name}.yaml"
    if name in MADE:
        monkeypatch.chdir(tmp_path)
        path = tmp_path / f"{name}.yaml"
        path.write_bytes(MADE[name])
    library = Library([BAD / "more", BAD, rules_folder()])
    if name.startswith("r017"):
        return render_text(one for one in library.diagnostics if one.code == "R017")
    said = library.check(path)[1]
    if name.startswith("r018"):
        assert len(said) == MAX_DIAGNOSTICS + 1
        return render_text(said[-2:])
    return render_text(said)


@pytest.mark.parametrize("name", NAMES)
def test_a_bad_file_is_answered_with_all_that_is_wrong(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, updates: bool
) -> None:
    said = said_of(name, monkeypatch, tmp_path)
    expected = BAD / f"{name}.txt"
    if updates:
        expected.write_text(said, encoding="utf-8")
    assert said == expected.read_text(encoding="utf-8")
    assert f"[{name[:4].upper()}]" in said


def test_every_code_has_a_pair_of_files() -> None:
    shown = {name[:4].upper() for name in NAMES}
    assert shown == CODES.keys()


def test_every_expected_text_belongs_to_a_file() -> None:
    assert {path.stem for path in BAD.glob("*.txt")} == set(NAMES)
