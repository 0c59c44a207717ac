"""Keys without effect: each reason with a file in which the key matters not, and one in which it does."""

from __future__ import annotations

import pytest

from chilkoot.language import Severity, check_text

DEAL = "deal: [UUUUUUU *7, UUU....]\n"
STOCK = "deal: [UUUUUUU]\n"
WASTE = STOCK + "stock: {deal_to: waste, passes: 2}\n"

# Each file warns of the key that stands in it after the first line and of nothing else; with the words added it does not.
IDLE = (
    (DEAL + "tableau: {build: {rank: any, wrap: true}}", "wrap", "rank: any", "rank: up"),
    (DEAL + "tableau: {group: {unit: any, suit: same}}", "suit", "unit: any", "unit: run"),
    (DEAL + "tableau: {group: {unit: any, rank: up}}", "rank", "unit: any", "unit: whole"),
    (DEAL + "tableau: {group: {unit: single, wrap: true}}", "wrap", "unit: single", "unit: run"),
    (DEAL + "tableau: {group: {rank: equal, wrap: true}}", "wrap", "rank: equal", "rank: up"),
    (DEAL + "tableau: {group: {unit: single, limit: cells}}", "limit", "unit: single", "unit: run"),
    (DEAL + "tableau: {group: {limit: none, count: suit_runs}}", "count", "limit: none", "limit: 3"),
    (
        DEAL + "tableau: {group: {unit: single}, empty: {max_cards: 1}}",
        "max_cards",
        "unit: single",
        "unit: run",
    ),
    (DEAL + "tableau: {empty: {accepts: none, from: [tableau]}}", "from", "accepts: none", "accepts: K"),
    (DEAL + "tableau: {empty: {accepts: none, max_cards: 1}}", "max_cards", "accepts: none", "accepts: K"),
    (
        DEAL + "tableau: {empty: {accepts: none, whole_column: refuse}}",
        "whole_column",
        "accepts: none",
        "accepts: K",
    ),
    (DEAL + "tableau: {empty: {from: [cells]}}", "from: cells", "deal", "cells: {count: 1}\ndeal"),
    (DEAL + "tableau: {empty: {from: [waste]}}", "from: waste", DEAL, WASTE),
    (
        DEAL + "tableau: {empty: {from: [reserve]}}",
        "from: reserve",
        DEAL,
        "deal: [UUUUUUU *7, {reserve: UUU}]\nreserve: {piles: 1}\n",
    ),
    (
        DEAL + "tableau: {empty: {from: [foundations]}}",
        "from: foundations",
        "deal",
        "foundations: {return: always}\ndeal",
    ),
    (
        DEAL + "tableau: {empty: {auto_fill: reserve}}",
        "auto_fill",
        DEAL,
        "deal: [UUUUUUU *7, {reserve: UUU}]\nreserve: {piles: 1}\n",
    ),
    (DEAL + "tableau: {empty: {auto_fill: waste}}", "auto_fill", DEAL, WASTE),
    (DEAL + "tableau: {empty: {auto_fill: stock}}", "auto_fill", DEAL, STOCK),
    (DEAL + "tableau: {empty: {auto_fill: waste_then_stock}}", "auto_fill", DEAL, STOCK),
    (
        "deal: [U *52]\ntableau: {columns: 1, empty: {auto_fill: next_column}}",
        "auto_fill",
        "U *52]\ntableau: {columns: 1",
        "UU *26]\ntableau: {columns: 2",
    ),
    (DEAL + "tableau: {max_cards: 52}", "max_cards", "52}", "51}"),
    (DEAL + "tableau: {expose: manual}", "expose", "UUU....", "DUU...."),
    (DEAL + "cells: {count: 0, from: [tableau]}", "from", "count: 0", "count: 1"),
    (DEAL + "cells: {count: 1, from: [tableau, cells]}", "from: cells", "count: 1", "count: 2"),
    (DEAL + "cells: {count: 1, from: [waste]}", "from: waste", DEAL, WASTE),
    (
        DEAL + "cells: {count: 1, from: [foundations]}",
        "from: foundations",
        "deal",
        "foundations: {return: always}\ndeal",
    ),
    (
        DEAL + "reserve: {playable: none}",
        "playable",
        "UUU....]\nreserve: {",
        "{reserve: UUU}]\nreserve: {piles: 1, ",
    ),
    (DEAL + "reserve: {piles: 1}", "piles", DEAL, "deal: [UUUUUUU *7, {reserve: UUU}]\n"),
    (DEAL + "foundations: {accept: run, base: A}", "base", "accept: run", "accept: card"),
    (DEAL + "foundations: {accept: run, build: {suit: any}}", "suit", "accept: run", "accept: card"),
    (DEAL + "foundations: {accept: run, build: {rank: up}}", "rank", "accept: run", "accept: card"),
    (DEAL + "foundations: {accept: run, return: always}", "return", "accept: run", "accept: card"),
    (DEAL + "foundations: {accept: run, auto: always}", "auto", "accept: run", "accept: card"),
    (DEAL + "foundations: {accept: card, run: {suit: any}}", "suit", "accept: card", "accept: run"),
    (
        DEAL + "foundations: {accept: card, run: {length: 4}}",
        "length",
        DEAL,
        DEAL + "goal: runs_in_tableau\n",
    ),
    (DEAL + "foundations: {build: {rank: any, wrap: true}}", "wrap", "rank: any", "rank: down"),
    (DEAL + "foundations: {build: {wrap: true}}", "wrap", "foundations: {", "foundations: {base: 7, "),
    (
        "deck: {packs: 2}\ndeal: [UUUUUUU *14, UUUUUU.]\nfoundations: {build: {wrap: true}}",
        "wrap",
        "foundations: {",
        "foundations: {count: 4, ",
    ),
    (DEAL + "foundations: {accept: run, run: {rank: equal, wrap: true}}", "wrap", "rank: equal", "rank: up"),
    (
        DEAL + "goal: runs_in_tableau\nfoundations: {count: 0, return: always}",
        "return",
        "count: 0",
        "count: 4",
    ),
    (
        DEAL + "goal: runs_in_tableau\nfoundations: {count: 0}\nscore: {per_foundation_card: 2}",
        "per_foundation_card",
        "count: 0",
        "count: 4",
    ),
    (
        DEAL + "tableau: {build: {rank: updown}}\nfoundations: {auto: safe}",
        "auto",
        "rank: updown",
        "rank: down",
    ),
    (DEAL + "stock: {deal_to: waste}", "deal_to", DEAL, STOCK),
    (
        STOCK + "tableau: {empty: {auto_fill: stock}}\nstock: {draw: 3}",
        "draw",
        "draw",
        "deal_to: waste, draw",
    ),
    (STOCK + "stock: {deal_to: tableau, draw: 2}", "draw", "tableau,", "waste,"),
    (STOCK + "stock: {deal_to: tableau, passes: 2}", "passes", "tableau,", "waste,"),
    (STOCK + "stock: {deal_to: waste, passes: 1, shuffle: true}", "shuffle", "passes: 1", "passes: 2"),
    (DEAL + "redeal: {times: 0, gather: reverse}", "gather", "times: 0", "times: 1"),
    (DEAL + "redeal: {times: 0, shuffle: true}", "shuffle", "times: 0", "times: 1"),
    (DEAL + "redeal: {times: 1, shuffle: true, gather: order}", "gather", "shuffle: true", "shuffle: false"),
    (
        "deck: {ranks: A-9}\ndeal: [UUUUUUU *5, U......]\nsetup: [kings_to_bottom]",
        "setup: kings_to_bottom",
        "A-9}\ndeal: [UUUUUUU *5, U......]",
        "A-K}\ndeal: [UUUUUUU *7, UUU....]",
    ),
)


def warnings(text: str) -> list[str]:
    said = check_text(text)
    assert all(one.severity is Severity.WARNING and one.code == "R501" for one in said), said
    return [one.message for one in said]


@pytest.mark.parametrize(("text", "key", "old", "new"), IDLE, ids=lambda text: text.replace("\n", " ")[-40:])
def test_a_key_warns_where_it_has_no_effect_and_not_where_it_has(
    text: str, key: str, old: str, new: str
) -> None:
    assert warnings(text) == [f'"{key}" has no effect here']
    assert old in text
    changed = text.replace(old, new)
    assert warnings(changed) == []


def test_defaults_written_out_for_mechanisms_that_are_absent_are_no_mistake() -> None:
    text = (
        DEAL
        + "cells: {count: 0}\nreserve: {piles: 0}\nstock: {deal_to: none}\nredeal: {times: 0}\ntableau: {empty: {auto_fill: none}}\n"
    )
    assert check_text(text) == []


@pytest.mark.parametrize(
    "text",
    (
        DEAL + "tableau: {empty: {from: [tableau, stock]}}",
        WASTE + "tableau: {empty: {from: [tableau, stock]}}",
        WASTE + "tableau: {empty: {from: [tableau, stock], auto_fill: stock}}",
        WASTE + "cells: {count: 2, from: [tableau, stock]}",
    ),
)
def test_cards_of_the_stock_are_turned_and_no_list_lets_a_player_move_them(text: str) -> None:
    assert warnings(text) == ['"from: stock" has no effect here']
