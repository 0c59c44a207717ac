"""No key of the language is ignored: each, given another value, changes how some variant deals, plays, ends or is offered.

The keys and their values come from the schema table, so a key that is added there and does nothing is a survivor here.
"""

from __future__ import annotations

from typing import Any

import pytest

from chilkoot.guide import as_markdown, guide_to, run_tests
from chilkoot.language import KEYS, Key, Severity, Source, check_text, compile_variant
from chilkoot.language.schema import Section
from chilkoot.table.catalogue import variant_list
from mutants import OK, RULE_KEYS, Mutant, is_told, mutants, named, originals, touched
from variants import QUICK, library

QUICKLY = [one for one in originals() if one.id in QUICK or library().variant(one.id) is None]
ABOUT = "extends: yukon\nname: Ours\n"


@pytest.mark.parametrize("key", RULE_KEYS, ids=lambda key: key.path)
def test_another_value_of_a_key_changes_what_can_be_seen_of_some_variant(key: Key) -> None:
    tried = 0
    for mutant in mutants(key, QUICKLY):
        if is_told(mutant):
            return
        tried += 1
    pytest.fail(f"{key.path} survives: {tried} variants with another value of it play as before")


@pytest.mark.slow
@pytest.mark.parametrize("key", [key for key in RULE_KEYS if named(key)], ids=lambda key: key.path)
def test_each_word_of_a_key_makes_a_difference_to_some_variant(key: Key) -> None:
    survivors = named(key)
    if key.path.endswith(".from"):
        # The checker says so wherever it is written.
        survivors -= {"stock"}
    for mutant in mutants(key, originals()):
        if not survivors:
            return
        words = touched(mutant) & survivors
        if words and is_told(mutant):
            survivors -= words
    assert survivors == set()


def copies() -> list[Mutant]:
    """Variants that differ from their originals in nothing."""
    made = []
    for one in QUICKLY[:8]:
        copy, _ = compile_variant(
            Source("mutant.yaml", "mutant", f"extends: {one.id}\n"), library().loader(OK)
        )
        assert copy is not None
        made.append(Mutant(one, copy, "", None, None))
    return made


@pytest.mark.parametrize("mutant", copies(), ids=lambda mutant: mutant.before.id)
def test_a_variant_in_which_nothing_was_changed_can_not_be_told_from_its_original(mutant: Mutant) -> None:
    assert not is_told(mutant)


# What a file says about itself, its levels and its tests: what can be seen of each.


def offered(text: str) -> Any:
    """What players are told of a variant: its place in the list, and the page on how it is played."""
    variant, said = compile_variant(Source("mutant.yaml", "mutant", text), library().loader())
    if variant is None:
        return [one.code for one in said if one.severity is Severity.ERROR]
    (entry,) = variant_list([variant], 1).variants
    return (
        entry,
        as_markdown(guide_to(variant)),
        [level.hash for level in variant.levels],
        run_tests(variant, "-"),
    )


TEST = '{board: "t2: TH | t5: <AD> 9S 4D QC 7H", move: t5 4 t2, expect: legal}'
LEVELS = "levels: {1: {cells: {count: 1}}, 2: {cells: {count: 2}}}\n"
SEEN = (
    ("dsl", ABOUT + "dsl: 1\n", ABOUT + "dsl: 2\n"),
    ("name", ABOUT, "extends: yukon\nname: Theirs\n"),
    ("family", ABOUT, ABOUT + "family: ours\n"),
    ("aka", ABOUT, ABOUT + "aka: [Mine]\n"),
    ("summary", ABOUT, ABOUT + "summary: A game.\n"),
    ("credits", ABOUT, ABOUT + "credits: Somebody\n"),
    ("source", ABOUT, ABOUT + "source: A book\n"),
    ("extends", ABOUT, "extends: alaska\nname: Ours\n"),
    ("levels", ABOUT, ABOUT + LEVELS),
    ("default_level", ABOUT + LEVELS, ABOUT + LEVELS + "default_level: 2\n"),
    ("tests.board", ABOUT + f"tests: [{TEST}]\n", ABOUT + f"tests: [{TEST.replace('TH', 'TC')}]\n"),
    ("tests.move", ABOUT + f"tests: [{TEST}]\n", ABOUT + f"tests: [{TEST.replace('t5 4', 't5 3')}]\n"),
    (
        "tests.expect",
        ABOUT + f"tests: [{TEST}]\n",
        ABOUT + f"tests: [{TEST.replace('legal', 'same_color')}]\n",
    ),
    (
        "tests.level",
        ABOUT + LEVELS + 'tests: [{board: "t1: 7H", move: t1 1 c2, expect: legal, level: 2}]\n',
        ABOUT + LEVELS + 'tests: [{board: "t1: 7H", move: t1 1 c2, expect: legal, level: 1}]\n',
    ),
)


@pytest.mark.parametrize(("key", "one", "other"), SEEN, ids=[key for key, _, _ in SEEN])
def test_what_a_file_says_about_itself_is_seen_too(key: str, one: str, other: str) -> None:
    assert offered(one) != offered(other)


def test_every_key_is_either_changed_by_the_table_or_by_hand() -> None:
    leaves = {key.path for key in KEYS if not isinstance(key.kind, Section)} - {"tests"}
    assert {key.path for key in RULE_KEYS} | {key for key, _, _ in SEEN} == leaves
    assert check_text(f"deal: [UUUUUUU *7, UUU....]\ntests: [{TEST}]\n") == []
