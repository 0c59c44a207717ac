"""The rules language as a JSON Schema, for completion, hover texts and errors while a person types.

Made from the schema table. It knows one key at a time: what keys mean together is told by ``chilkoot rules check``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from chilkoot.cards import RANKS
from chilkoot.language.pictures import CARDS_OF_RANK_FORM, PICTURE_FORM, ZONES
from chilkoot.language.read import RULE_KEYS
from chilkoot.language.samples import MAX_TESTS
from chilkoot.language.schema import (
    ID_PATTERN,
    Accepts,
    Choice,
    Deal,
    Flag,
    Goal,
    Id,
    Key,
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

__all__ = ["json_schema"]

Schema = dict[str, object]

# Numbers are ranks too, for who writes 7 means the seven.
_RANK_VALUES: Final[list[object]] = [
    *(rank for rank in RANKS if rank not in "23456789"),
    *map(str, range(2, 11)),
    *range(2, 11),
]
_NULL: Final = "removes what the variant built on says"


def json_schema() -> Schema:
    """The schema of a file of rules, draft 7, as plain data."""
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Rules of a solitaire",
        "description": "One file is one game. See rules/README.md.",
        **_mapping("", list(keys_of(""))),
        "definitions": {"level": _mapping("", [name for name in keys_of("") if name in RULE_KEYS])},
    }


def _mapping(section: str, names: list[str], *, is_nullable: bool = True) -> Schema:
    known = keys_of(section)
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": {name: _described(known[name], is_nullable=is_nullable) for name in names},
    }


def _described(key: Key, *, is_nullable: bool) -> Schema:
    schema = _value(key)
    told = f"{key.meaning}\n\nDefault: {key.default}" if key.default else key.meaning
    # Editors show a description as it is written, and only this one as Markdown.
    marked: Schema = {"markdownDescription": told} if "`" in told else {}
    return {"description": told, **marked, **(_or_null(schema) if is_nullable else schema)}


def _or_null(schema: Schema) -> Schema:
    # `null` removes what an extended variant says.
    null: Schema = {"type": "null"}
    match schema:
        case {"enum": list(values), "enumDescriptions": list(told)}:
            return {**schema, "enum": [*values, None], "enumDescriptions": [*told, _NULL]}
        case {"enum": list(values)}:
            return {**schema, "enum": [*values, None]}
        case {"anyOf": list(either)}:
            return {**schema, "anyOf": [*either, null]}
        case {"type": str(kind)}:
            return {**schema, "type": [kind, "null"]}
    return {"anyOf": [schema, null]}


def _words(words: Mapping[str, object], *, also: Sequence[object] = ()) -> Schema:
    """One of a few words, each with its meaning for completion and hover texts; or one of the values in `also`."""
    meanings = [meaning if isinstance(meaning, str) else "" for meaning in words.values()]
    return {"enum": [*also, *words], "enumDescriptions": [*[""] * len(also), *meanings]}


def _value(key: Key) -> Schema:
    kind = key.kind
    match kind:
        case Section():
            one = _mapping(key.path, list(keys_of(key.path)))
            return (
                {"anyOf": [one, {"type": "array", "items": one, "minItems": 1, "maxItems": 32}]}
                if kind.many
                else one
            )
        case Choice():
            return _words(kind.words)
        case Number():
            number: Schema = {"type": "integer", "minimum": kind.low, "maximum": kind.high}
            return {"anyOf": [number, {"enum": list(kind.words)}]} if kind.words else number
        case Flag():
            return {"type": "boolean"}
        case Text():
            return {"type": "string", "maxLength": kind.longest}
        case ListOf():
            item = _words(kind.item.words) if isinstance(kind.item, Choice) else {"type": "string"}
            return {
                "type": "array",
                "items": item,
                "minItems": kind.fewest,
                "maxItems": kind.most,
                "uniqueItems": True,
            }
        case Id():
            return {"type": "string", "pattern": f"^{ID_PATTERN}$"}
        case Version():
            return {"enum": [1]}
        case Suits():
            return {"type": "string", "pattern": "^[CDHS]{1,4}$"}
        case Ranks():
            either = [{"type": "string", "pattern": r"^(10|[A2-9TJQK])\s*-\s*(10|[A2-9TJQK])$"}, _rank_list()]
            return {"anyOf": either}
        case Rank():
            return _words(kind.words, also=_RANK_VALUES)
        case Accepts():
            return {"anyOf": [_words(kind.words, also=_RANK_VALUES), _rank_list()]}
        case Deal():
            return {"type": "array", "items": _pass()}
        case Goal():
            cards = {"cards_in_foundations": {"type": "integer", "minimum": 1, "maximum": 416}}
            goal = {
                "type": "object",
                "additionalProperties": False,
                "properties": cards,
                "required": list(cards),
            }
            return {"anyOf": [_words(kind.words), goal]}
        case Levels():
            level = {"$ref": "#/definitions/level"}
            return {
                "type": "object",
                "additionalProperties": False,
                "patternProperties": {"^[1-9][0-9]?$": level},
            }
        case SampleTests():
            test = _mapping("tests", list(keys_of("tests")), is_nullable=False)
            return {
                "type": "array",
                "maxItems": MAX_TESTS,
                "items": {**test, "required": ["board", "move", "expect"]},
            }


def _rank_list() -> Schema:
    return {"type": "array", "items": {"enum": _RANK_VALUES}, "minItems": 1, "uniqueItems": True}


def _pass() -> Schema:
    picture: Schema = {"type": "string", "pattern": f"^{PICTURE_FORM}$"}
    of_rank = {"type": "string", "pattern": f"^({PICTURE_FORM}|{CARDS_OF_RANK_FORM})$"}
    zones: Schema = {zone: of_rank if zone == "foundations" else picture for zone in ZONES}
    zone = {
        "type": "object",
        "additionalProperties": False,
        "properties": zones,
        "minProperties": 1,
        "maxProperties": 1,
    }
    return {"anyOf": [picture, zone]}
