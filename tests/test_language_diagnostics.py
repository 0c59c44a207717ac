"""Every diagnostic by a pair of files: a bad file of rules and all that is said of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from chilkoot.data import rules_folder
from chilkoot.guide import advise_on, run_tests
from chilkoot.language import (
    CODES,
    Diagnostic,
    Place,
    Severity,
    Source,
    check_text,
    compile_variant,
    explain,
    has_errors,
    in_order,
    render_github,
    render_json,
    render_text,
)
from chilkoot.language.codes import MAX_DIAGNOSTICS
from chilkoot.library import Library, read_source

BAD = Path(__file__).parent / "rules" / "bad"

# Files that are large, for what they show, are written when they are needed.
MADE = {
    "r003-too-large": b"#" * (64 * 1024 + 1),
    "r010-too-many-values": b"setup: [" + b"a," * 20_001 + b"]\n",
    "r018-too-many-problems": b"extends: yukon\n" + b"".join(b"key%d: 1\n" % number for number in range(300)),
}
NAMES = sorted({path.stem for path in BAD.glob("r*.yaml")} | MADE.keys() | {"r016-no-such-file"})


# What is said of these the engine has to be asked for.
ENGINE = ("r404", "r902", "r903", "r904", "r905", "r906")


def said_of(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    monkeypatch.chdir(BAD)
    path = BAD / f"{name}.yaml"
    if name in MADE:
        monkeypatch.chdir(tmp_path)
        path = tmp_path / f"{name}.yaml"
        path.write_bytes(MADE[name])
    library = Library([BAD / "more", BAD, rules_folder()])
    if name.startswith("r017"):
        return render_text(library.hidden)
    variant, said = library.check(path)
    if name.startswith(ENGINE):
        assert variant is not None
        said = in_order([*said, *run_tests(variant, path.name), *advise_on(variant, path.name)])
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


def test_who_looks_for_errors_only_finds_the_same_ones_and_the_same_variants() -> None:
    library = Library([BAD / "more", BAD, rules_folder()])
    for path in sorted(BAD.glob("r*.yaml")):
        source = read_source(path)
        assert isinstance(source, Source)
        variant, said = library.check(path)
        alone, errors = compile_variant(source, library.loader(BAD), ids=library.ids(), errors_only=True)
        assert (alone, errors) == (variant, [one for one in said if one.severity is Severity.ERROR])


def test_every_code_has_a_pair_of_files() -> None:
    shown = {name[:4].upper() for name in NAMES}
    assert shown == CODES.keys()


def test_every_expected_text_belongs_to_a_file() -> None:
    assert {path.stem for path in BAD.glob("*.txt")} == set(NAMES)


PLACE = Place("a,b.yaml", 7, 3, 9, "  colums: 8")
ERROR = Diagnostic(
    code="R102", severity=Severity.ERROR, place=PLACE, message="unknown\nkey 100%", help="look"
)
WARNING = Diagnostic(code="R501", severity=Severity.WARNING, place=Place("a", 2, 1, 2), message="no effect")


def test_a_diagnostic_as_json_is_one_object_a_line() -> None:
    lines = render_json([ERROR, WARNING]).splitlines()
    assert json.loads(lines[0]) == {
        "file": "a,b.yaml",
        "line": 7,
        "column": 3,
        "end_column": 9,
        "severity": "error",
        "code": "R102",
        "message": "unknown\nkey 100%",
        "help": "look",
    }
    assert [json.loads(line)["severity"] for line in lines] == ["error", "warning"]


def test_a_diagnostic_as_an_annotation_escapes_what_github_would_read() -> None:
    assert render_github([ERROR]) == (
        "::error file=a%2Cb.yaml,line=7,col=3,endColumn=9,title=R102::unknown%0Akey 100%25; help: look\n"
    )
    assert render_github([WARNING]).startswith("::warning file=a,")


def test_only_errors_refuse_a_file_but_strictly_warnings_do_too() -> None:
    advice = Diagnostic(code="R901", severity=Severity.ADVICE, place=PLACE, message="x")
    assert [has_errors([one]) for one in (ERROR, WARNING, advice)] == [True, False, False]
    assert [has_errors([one], strict=True) for one in (ERROR, WARNING, advice)] == [True, True, False]


def test_diagnostics_come_in_the_order_of_their_places_and_each_once() -> None:
    other = Diagnostic(code="R102", severity=Severity.ERROR, place=Place("a", 1, 9, 10), message="x")
    assert in_order([ERROR, WARNING, other, ERROR]) == [other, WARNING, ERROR]
    assert in_order([WARNING, ERROR], "a,b.yaml") == [ERROR, WARNING]


def test_the_caret_stands_under_the_word_where_letters_are_wide_or_combine() -> None:
    (said,) = check_text("extends: yukon\nname: 日本e\u0301\n名前: x\n")[:1]
    assert said.place.line == 1
    wide = Diagnostic(
        code="R102", severity=Severity.ERROR, place=Place("a", 1, 7, 9, "日本e\u0301: no"), message="x"
    )
    assert render_text([wide]).splitlines()[2] == " " * 7 + "^~"


def test_a_very_long_line_is_shown_around_the_word() -> None:
    (said,) = [one for one in check_text("deal: [" + "U," * 300 + "X]") if "X" in one.message]
    line, caret = render_text([said]).splitlines()[1:3]
    assert len(line) <= 160
    assert line[caret.index("^")] == "X"


def test_a_code_is_explained_in_upper_and_lower_case() -> None:
    text = explain("r102")
    assert text is not None
    assert text.startswith("R102 (error): Unknown key")
    assert explain("R999") is None
