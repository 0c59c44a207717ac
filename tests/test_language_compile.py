"""What a file means: defaults, merging, levels, and that equal games have equal rules."""

from __future__ import annotations

import pytest

from chilkoot.language import (
    Diagnostic,
    Rules,
    Source,
    Variant,
    canonical_text,
    compile_variant,
    effective_rules,
    from_canonical,
    render_text,
    write_rules,
)
from variants import library, said_of

LIBRARY = library()
FILES = {
    "base": "name: Base\nfamily: b\naka: [B]\nsource: s\ndeal: [UUUUUUU *7, UUU....]\ntests: [{board: 't1: KS', move: t1 1 t2, expect: legal}]\n"
    "tableau: {columns: 7, build: {suit: same}, max_cards: 20}\ncells: {count: 2, from: [tableau, cells]}\n",
    "groups": "deal: [UUUUUUU *7, UUU....]\ntableau:\n  - {columns: 3}\n  - {columns: 4, build: {suit: same}}\n",
    "leveled": "extends: base\nlevels: {1: {cells: null}, 2: {cells: {count: 1}}, 3: {}}\ndefault_level: 2\n",
}


def load(name: str) -> Source | None:
    return Source(f"{name}.yaml", name, FILES[name]) if name in FILES else LIBRARY.loader()(name)


def compiled(text: str) -> tuple[Variant, list[Diagnostic]]:
    variant, said = compile_variant(Source("my.yaml", "my", text), load)
    assert variant is not None, render_text(said)
    return variant, said


def rules(text: str, level: int | None = None) -> Rules:
    found = compiled(text)[0].level(level)
    assert found is not None
    return found.rules


DEAL = "deal: [UUUUUUU *7, UUU....]\n"


def test_a_file_with_nothing_but_a_deal_has_all_defaults() -> None:
    variant, said = compiled(DEAL)
    assert said == []
    assert variant.name == "My"
    rest = rules(DEAL)
    assert canonical_text(rest) == canonical_text(Rules(deal=rest.deal))


def test_what_holds_together_is_what_may_be_built_where_nothing_else_is_said() -> None:
    (columns,) = rules(
        DEAL + "tableau: {build: {suit: same, rank: updown, wrap: true}, group: {rank: up}}"
    ).tableau
    assert (columns.group.suit, columns.group.rank, columns.group.wrap) == ("same", "up", True)


def test_foundations_and_runs_take_their_number_from_the_deck() -> None:
    short = rules("deck: {packs: 2, suits: HS, ranks: 7-A}\ndeal: [UUUUUUU *4, UUUU...]\n")
    assert short.deck.ranks == (0, 6, 7, 8, 9, 10, 11, 12)
    assert (short.foundations[0].count, short.foundations[0].base, short.foundations[0].run.length) == (
        4,
        0,
        8,
    )


@pytest.mark.parametrize(
    ("deck", "ranks", "low"),
    (
        ("{ranks: 7-K}", (6, 7, 8, 9, 10, 11, 12), 6),
        ("{ranks: 10-A}", (0, 9, 10, 11, 12), 0),
        ("{ranks: 10-A, low: 10}", (9, 10, 11, 12, 0), 9),
        ("{ranks: [K, 3, A, T]}", (0, 2, 9, 12), 0),
        ("{ranks: Q-2}", (0, 1, 11, 12), 0),
        ("{ranks: [5, 9], low: 9}", (8, 4), 8),
    ),
)
def test_ranks_ascend_from_the_lowest(deck: str, ranks: tuple[int, ...], low: int) -> None:
    found = rules(f"deck: {deck}\ndeal: []\nstock: {{deal_to: waste}}\n")
    assert found.deck.ranks == ranks
    assert found.deck.low == low
    assert found.foundations[0].base == low


def test_a_base_is_dealt_where_the_lowest_rank_is() -> None:
    found = rules("deck: {low: dealt}\ndeal: [{foundations: U}, UUUUUUU *7, UU.....]\n")
    assert found.foundations[0].base == "dealt"
    assert found.deck.ranks == tuple(range(13))


@pytest.mark.parametrize(
    ("one", "other"),
    (
        (
            "cells: {count: 1, from: [waste, tableau, cells]}",
            "cells: {from: [cells, tableau, waste], count: 1}",
        ),
        ("deck: {suits: SHDC}", "deck: {suits: CDHS}"),
        ("deck: {ranks: A-K}", "deck: {ranks: [K, Q, J, T, 9, 8, 7, 6, 5, 4, 3, 2, A]}"),
        ("tableau: {empty: {accepts: K}}", "tableau: {empty: {accepts: [K]}}"),
        ("tableau: {empty: {accepts: [K, 2]}}", "tableau: {empty: {accepts: [2, K]}}"),
        ("tableau: {columns: 7}", "tableau: [{columns: 7}]"),
        ("tableau: {max_cards: unlimited}", "aids: {undo: unlimited}"),
        ("name: A", "name: B"),
    ),
)
def test_files_that_mean_the_same_game_have_the_same_hash(one: str, other: str) -> None:
    assert compiled(DEAL + one)[0].levels[0].hash == compiled(DEAL + other)[0].levels[0].hash


def test_equal_rules_have_one_canonical_text_that_reads_back() -> None:
    for variant in LIBRARY.variants():
        for level in variant.levels:
            text = canonical_text(level.rules)
            assert from_canonical(text) == level.rules
            assert canonical_text(from_canonical(text)) == text
            assert text.isascii()


def test_mappings_merge_lists_and_values_replace_and_null_removes() -> None:
    found = rules(
        "extends: base\ntableau: {build: {rank: up}, max_cards: null}\ncells: {from: [tableau]}\ndeal: [UUUUUUU *7, ....UUU]\n"
    )
    (columns,) = found.tableau
    assert (columns.build.suit, columns.build.rank, columns.max_cards) == ("same", "up", None)
    assert (found.cells.count, found.cells.sources) == (2, ("tableau",))
    assert found.deal[-1].picture == "....UUU"
    assert rules("extends: base\ncells: null\n").cells.count == 0


def test_groups_are_a_list_and_a_mapping_replaces_them() -> None:
    assert [group.columns for group in rules("extends: groups\nfamily: x\ncells: {count: 1}").tableau] == [
        3,
        4,
    ]
    assert [group.columns for group in rules("extends: groups\ntableau: {columns: 7}").tableau] == [7]
    assert len(rules("extends: base\ntableau: [{columns: 3}, {columns: 4}]").tableau) == 2


def test_what_a_file_says_about_itself_is_not_inherited_but_its_family_is() -> None:
    variant, said = compiled("extends: base\ncells: {count: 1}\n")
    assert said == []
    assert (variant.name, variant.family, variant.aka, variant.source, variant.tests) == (
        "My",
        "b",
        (),
        "",
        (),
    )


def test_levels_are_merged_over_the_rest_of_the_file() -> None:
    variant, said = compiled(
        "extends: leveled\ntableau: {columns: 7, max_cards: 13}\nlevels: {3: {cells: {count: 3}}}\n"
    )
    assert [one.code for one in said] == ["R502"]
    assert variant.default_level == 2
    found = [
        (level.number, level.rules.cells.count, level.rules.tableau[0].max_cards) for level in variant.levels
    ]
    assert found == [(1, 0, 13), (2, 1, 13), (3, 3, 13)]
    assert variant.level() is variant.levels[1]
    assert variant.level(4) is None


def test_levels_can_be_taken_away_with_their_default() -> None:
    variant, said = compiled("extends: leveled\nlevels: null\n")
    assert (said, [level.number for level in variant.levels], variant.default_level) == ([], [None], None)
    variant, said = compiled("extends: leveled\nlevels: {2: null}\n")
    assert (said, variant.default_level) == ([], 1)


def test_a_files_own_levels_may_name_the_lowest_as_the_default() -> None:
    levels = "levels: {1: {cells: {count: 5}}, 2: {cells: {count: 6}}}\ndefault_level: 1\n"
    variant, said = compiled(f"extends: base\n{levels}")
    assert (said, variant.default_level) == ([], 1), (
        "there is no level in the other file that would say the same"
    )


def test_tests_are_kept_with_their_places() -> None:
    variant, _ = compiled(
        "extends: leveled\ntests:\n  - {board: 't1: KS', move: t1 1 t2, expect: legal, level: 3}\n"
    )
    (test,) = variant.tests
    assert (test.board, test.move, test.expect, test.level, test.line, test.column) == (
        "t1: KS",
        "t1 1 t2",
        "legal",
        3,
        3,
        46,
    )


def test_an_error_in_an_extended_file_is_shown_there_and_a_warning_is_not_shown() -> None:
    FILES["ill"] = "deal: [UUUUUUU *8]\ncells: {count: 99}\nstock: {draw: 2}\n"
    variant, said = compile_variant(
        Source("my.yaml", "my", "extends: ill\nreserve: {playable: none}\n"), load
    )
    assert variant is None
    assert [(one.place.file, one.code) for one in said] == [("ill.yaml", "R302"), ("ill.yaml", "R104")]
    FILES["idle"] = DEAL + "stock: {draw: 2}\n"
    assert compile_variant(Source("my.yaml", "my", "extends: idle\ncells: {count: 1}\n"), load)[1] == []


def test_whatever_a_loader_is_asked_for_is_an_id() -> None:
    asked: list[str] = []

    def spy(name: str) -> Source | None:
        asked.append(name)
        return None

    for name in (
        "../../etc/passwd",
        "/etc/passwd",
        "yukon.yaml",
        "Yukon",
        "",
        "a" * 41,
        "con/aux",
        "..",
        "null",
        "7",
        "[a]",
    ):
        compile_variant(Source("x", "x", f"extends: {name}\n"), spy)
    assert asked == []


@pytest.mark.parametrize("variant", LIBRARY.variants(), ids=lambda variant: variant.id)
def test_rules_written_out_read_back_as_the_same_rules(variant: Variant) -> None:
    for level in variant.levels:
        text = write_rules(level.rules)
        assert rules(text) == level.rules


def test_groups_and_levels_written_out_read_back_with_their_origins() -> None:
    source = Source(
        "my.yaml",
        "my",
        "extends: groups\nlevels: {1: {cells: {count: 1}}, 2: {goal: {cards_in_foundations: 9}}}\n",
    )
    text, said = effective_rules(source, load, level=2, origins=True)
    assert said == []
    assert text is not None
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert "- columns: 3 # groups.yaml:3" in lines
    assert "suit: same # groups.yaml:4" in lines
    assert "goal: {cards_in_foundations: 9} # my.yaml:2" in lines
    assert "count: 0 # default" in lines
    variant, _ = compile_variant(source, load)
    assert variant is not None
    assert rules(text) == variant.levels[1].rules
    assert effective_rules(source, load, level=3) == (None, [])


def test_every_file_that_ships_has_a_name_a_family_and_a_source_and_no_warning() -> None:
    assert said_of(LIBRARY) == []
    for variant in LIBRARY.variants():
        assert "\nname: " in f"\n{variant.text}"
        assert variant.family
        assert variant.source


def test_null_for_what_nobody_gave_is_only_warned_of() -> None:
    variant, said = compiled("extends: null\ndsl: null\nname: null\n" + DEAL)
    assert [one.code for one in said] == ["R504"] * 3
    assert variant.name == "My"
