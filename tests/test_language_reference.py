"""`rules/README.md` says what the program does: its tables are generated, its examples compile."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

import chilkoot.language
from chilkoot.data import rules_folder
from chilkoot.language import CODES, KEYS, Source, compile_variant, name_of_id, render_text
from chilkoot.language.reference import code_sections, key_tables, variant_tables, with_generated
from chilkoot.language.schema import Section
from variants import library

README = rules_folder() / "README.md"
BAD = Path(__file__).parent / "rules" / "bad"
PAGE = README.read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(yaml|yaml bad)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
LIBRARY = library()


def examples() -> dict[str, str]:
    """For each code what is said of the first file that shows it, as far as that code goes."""
    shown: dict[str, str] = {}
    for path in sorted(BAD.glob("*.txt")):
        code = path.stem[:4].upper()
        for said in re.split(r"\n(?=[^\n]*\[R\d{3}\]\n)", path.read_text(encoding="utf-8")):
            if f"[{code}]" in said.split("\n", 1)[0] and len(said) < 600:
                shown.setdefault(code, said)
    return shown


def test_the_tables_of_the_readme_are_the_schema(updates: bool) -> None:
    parts = {
        "variants": variant_tables(LIBRARY.variants()),
        "keys": key_tables(),
        "codes": code_sections(examples()),
    }
    fresh = with_generated(PAGE, parts)
    if updates:
        README.write_text(fresh, encoding="utf-8")
    else:
        assert fresh == PAGE, "rules/README.md is stale: run the tests with --update"


def test_every_variant_is_in_the_table_of_its_family() -> None:
    tables = "\n" + variant_tables(LIBRARY.variants())
    for one in LIBRARY.variants():
        family = tables.partition(f"\n### {name_of_id(one.family)}\n")[2].partition("\n### ")[0]
        assert f"| [`{one.id}`]({one.id}.yaml) | **{one.name}**" in family


def test_every_key_and_every_code_has_its_place_in_the_readme() -> None:
    tables = key_tables()
    for key in KEYS:
        if not isinstance(key.kind, Section):
            assert f"| `{key.path.partition('.')[2] or key.path}` |" in tables
    assert [code for code in CODES if f"### {code}: " not in PAGE] == []


@pytest.mark.parametrize("text", [text for kind, text in BLOCKS if kind == "yaml"])
def test_an_example_of_the_readme_compiles_without_a_warning(text: str) -> None:
    variant, said = compile_variant(Source("readme.yaml", "readme", text), LIBRARY.loader())
    assert variant is not None, render_text(said)
    assert said == []


def test_the_answer_to_the_bad_example_is_the_one_shown() -> None:
    (text,) = [text for kind, text in BLOCKS if kind == "yaml bad"]
    _, said = compile_variant(Source("my-yukon.yaml", "my-yukon", text), LIBRARY.loader(), ids=LIBRARY.ids())
    assert f"```text\n{render_text(said)}```" in PAGE


def test_what_the_room_offers_is_documented() -> None:
    offered = [getattr(chilkoot.language, name) for name in chilkoot.language.__all__]
    assert [
        one for one in offered if (inspect.isclass(one) or inspect.isfunction(one)) and not one.__doc__
    ] == []
