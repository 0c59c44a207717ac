"""The schema for editors takes every file that the checker takes, and tells misspelt keys and values."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
import yaml

from chilkoot.data import rules_folder
from chilkoot.language import KEYS, json_schema
from chilkoot.language.schema import Section

SCHEMA: Any = json_schema()
FILES = sorted(rules_folder().glob("*.yaml"))
TYPES = {"object": dict, "array": list, "string": str, "integer": int, "boolean": bool, "null": type(None)}


def faults(schema: Any, value: Any, path: str = "") -> list[str]:
    """What a validator says, of the few keywords that the schema uses; an unknown keyword is a fault of this test."""
    unknown = schema.keys() - USED
    assert not unknown, f"the schema uses {unknown}"
    if "$ref" in schema:
        return faults(SCHEMA["definitions"][schema["$ref"].rpartition("/")[2]], value, path)
    if "anyOf" in schema and all(faults(one, value, path) for one in schema["anyOf"]):
        return [f"{path}: fits nothing"]
    if "enum" in schema and not any(value == one and type(value) is type(one) for one in schema["enum"]):
        return [f"{path}: {value!r} is not on the list"]
    types = schema.get("type", list(TYPES))
    fitting = [
        name for name in ([types] if isinstance(types, str) else types) if isinstance(value, TYPES[name])
    ]
    if not fitting or (isinstance(value, bool) and "boolean" not in fitting):
        return [f"{path}: {value!r} is no {types}"]
    if isinstance(value, dict):
        return _object_faults(schema, value, path)
    if isinstance(value, list):
        found = [
            fault
            for number, item in enumerate(value)
            for fault in faults(schema.get("items", {}), item, f"{path}[{number}]")
        ]
        return found + [f"{path}: too few or many"] * (
            not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", 999)
        )
    if isinstance(value, str):
        # A pattern of JSON Schema may match anywhere, so each has its own ends.
        fits = re.search(schema.get("pattern", ""), value) and len(value) <= schema.get("maxLength", 9999)
        return [] if fits else [f"{path}: {value!r}"]
    if isinstance(value, int) and not schema.get("minimum", value) <= value <= schema.get("maximum", value):
        return [f"{path}: {value}"]
    return []


USED = {
    *(
        "$schema",
        "title",
        "description",
        "definitions",
        "$ref",
        "anyOf",
        "enum",
        "enumDescriptions",
        "markdownDescription",
        "type",
        "properties",
        "required",
    ),
    *(
        "additionalProperties",
        "patternProperties",
        "minProperties",
        "maxProperties",
        "items",
        "minItems",
        "maxItems",
    ),
    *("uniqueItems", "pattern", "maxLength", "minimum", "maximum"),
}


def _object_faults(schema: Any, value: dict[str, Any], path: str) -> list[str]:
    found = [f"{path}.{name} is missing" for name in schema.get("required", ()) if name not in value]
    if not schema.get("minProperties", 0) <= len(value) <= schema.get("maxProperties", 999):
        found.append(f"{path}: too few or many keys")
    for name, one in value.items():
        patterns = [
            inner
            for pattern, inner in schema.get("patternProperties", {}).items()
            if re.search(pattern, str(name))
        ]
        inner = schema.get("properties", {}).get(name, patterns[0] if patterns else None)
        if inner is not None:
            found += faults(inner, one, f"{path}.{name}")
        elif schema.get("additionalProperties") is False:
            found.append(f"{path}.{name}: unknown")
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_file_fits_the_schema(path: Any) -> None:
    assert faults(SCHEMA, yaml.safe_load(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    ("text", "fault"),
    (
        ("colums: 8", ".colums: unknown"),
        ("tableau: {colums: 8}", ".tableau: fits nothing"),
        ("cells: {count: 13}", ".cells.count: 13"),
        ("foundations: [{count: 4}, {base: X}]", ".foundations: fits nothing"),
        ("deal: [UUX]", ".deal[0]: fits nothing"),
        ("deal: [{cells: U, waste: U}]", ".deal[0]: fits nothing"),
        ("loss: {when: sometimes}", ".loss.when: 'sometimes' is not on the list"),
        ("levels: {1: {name: x}}", ".levels.1.name: unknown"),
        ("levels: {easy: {}}", ".levels.easy: unknown"),
        ("tests: [{board: t1, move: x}]", ".tests[0].expect is missing"),
        ("extends: ../yukon", ".extends: '../yukon'"),
        ("aids: {hints: 1}", ".aids.hints: 1 is no ['boolean', 'null']"),
    ),
)
def test_the_schema_refuses_what_the_checker_refuses(text: str, fault: str) -> None:
    assert fault in faults(SCHEMA, yaml.safe_load(text))


def test_every_key_is_in_the_schema_with_its_meaning() -> None:
    text = json.dumps(SCHEMA)
    for key in KEYS:
        if not isinstance(key.kind, Section):
            assert json.dumps(key.meaning)[1:-1] in text


def test_null_may_stand_for_any_key_that_an_extended_variant_could_give() -> None:
    assert (
        faults(
            SCHEMA, yaml.safe_load("tableau: null\ncells: {count: null}\ngoal: null\nstock: {passes: null}")
        )
        == []
    )
