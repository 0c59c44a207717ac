"""Deals: the shuffle's vectors, numbers, boards."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chilkoot.engine import DealError, Game, format_board, normal_deal, parse_board, shuffle
from chilkoot.engine.tables import layout_of
from variants import all_levels, rules_of

CK_0 = """t1: 5H
t2: <3H> 2S 8D 3S 6S JH
t3: <TC> <5S> 5D 6C 8H QS AH
t4: <KC> <8C> <9S> 7C TS 9D QD JD
t5: <2H> <KS> <7S> <AC> 9H 7D 4H 5C TD
t6: <6H> <2D> <4C> <QH> <TH> 2C 8S AS 4D 7H
t7: <6D> <KH> <3D> <QC> <KD> <4S> AD JS JC 9C 3C"""


def test_deal_ck_0_is_the_published_one() -> None:
    assert Game.start(rules_of("yukon"), "ck:0").board() == CK_0


DIGESTS = {
    1: "a73bb9687c6e8116",
    2: "7e9b04387b0f127e",
    3: "04cf591accf2fdd1",
    4: "619a76670577fc02",
    5: "aff3b56741146d24",
    6: "081284a557560bcd",
    7: "2bd4223cc0159e43",
    8: "b3a66d05347cea4e",
    9: "7daf50724ad4d370",
    10: "319186495030a8c1",
    11: "62bd89d8e6548111",
    12: "5fc332edf27bc4ce",
    13: "d48c526a45043aa6",
    14: "16b6c736a6c9e9bd",
    24: "2d90ba61264cdd3b",
    100: "0a63a91af657308e",
    1000000: "e0310c133d7d22f0",
    4294967296: "0abbb52ce1623061",
    9007199254740993: "75c490aa025ada5b",
    18446744073709551615: "2ae1ef594f0590e4",
}
"""Deals of Yukon by number: the beginning of the SHA-256 of the board's text, the same on every machine for ever."""


def test_twenty_numbers_name_the_same_boards_for_ever() -> None:
    boards = {number: Game.start(rules_of("yukon"), f"ck:{number}").board() for number in DIGESTS}
    assert {
        number: hashlib.sha256(text.encode()).hexdigest()[:16] for number, text in boards.items()
    } == DIGESTS


@pytest.mark.parametrize(
    ("key", "first", "digest"),
    (
        (bytes(32), [28, 9, 12, 27, 31, 18, 43, 7, 51, 14, 38, 47], "fb435ce0d498e691"),
        (bytes(range(32)), [34, 6, 40, 10, 9, 49, 38, 19, 21, 32, 4, 26], "1747a49955d3a631"),
    ),
)
def test_the_shuffle_gives_the_published_orders(key: bytes, first: list[int], digest: str) -> None:
    order = shuffle(key, 52)
    assert order[:12] == first
    assert hashlib.sha256(bytes(order)).hexdigest().startswith(digest)


@given(st.binary(min_size=32, max_size=32), st.integers(1, 416))
def test_a_shuffle_keeps_every_card_once(key: bytes, count: int) -> None:
    assert sorted(shuffle(key, count)) == list(range(count))


@pytest.mark.parametrize(
    ("text", "normal"),
    (
        ("ck:7", "ck:7"),
        (" ck:007 ", "ck:7"),
        ("ms:24", "ms:24"),
        ("ck:18446744073709551615", "ck:18446744073709551615"),
        ("ck:" + "AB" * 32, "ck:" + "ab" * 32),
    ),
)
def test_a_deal_number_has_one_spelling(text: str, normal: str) -> None:
    assert normal_deal(text) == normal


@pytest.mark.parametrize(
    "text",
    (
        "",
        "7",
        "ck:",
        "ck:-1",
        "ck:1.5",
        "ms:0",
        "ms:2147483648",
        "ck:18446744073709551616",
        "ms:" + "0" * 64,
        "pysol:3",
        "ck:٣",
    ),
)
def test_what_is_no_deal_number_is_refused(text: str) -> None:
    with pytest.raises(DealError):
        normal_deal(text)


def test_numbers_as_keys_and_as_hex_are_the_same_deal() -> None:
    rules = rules_of("yukon")
    assert Game.start(rules, "ck:258").board() == Game.start(rules, "ck:" + f"{258:064x}").board()


@pytest.mark.parametrize(("name", "level"), all_levels())
def test_every_deal_uses_each_card_of_its_pack_and_its_board_reads_back(name: str, level: int | None) -> None:
    rules = rules_of(name, level)
    for deal in ("ck:1", "ck:2", "ms:7"):
        game = Game.start(rules, deal)
        piles = game.position.piles
        assert sum(map(len, piles)) == rules.deck.size()
        assert parse_board(rules, format_board(layout_of(rules), piles)) == piles
        assert Game.start(rules, game.board()).view() == game.view() if game.position.base is None else True


def test_a_board_is_refused_with_everything_that_is_wrong_with_it_at_once() -> None:
    text = CK_0.replace("5H", "5X", 1).replace("<3H>", "2S").replace("t3:", "t9:") + "\nc1: AS\nnonsense"
    with pytest.raises(DealError) as caught:
        Game.start(rules_of("yukon"), text)
    message = caught.value.message
    for part in ('"5X" in t1', "t9", "c1", "nonsense", "2S (2 times)", "missing from the board"):
        assert part in message


def test_a_board_with_the_pipe_between_piles_is_the_same_board() -> None:
    rules = rules_of("yukon")
    assert Game.start(rules, CK_0.replace("\n", " | ")).board() == CK_0


def test_boards_lacking_or_repeating_a_card_are_refused_but_as_fragments() -> None:
    rules = rules_of("yukon")
    with pytest.raises(DealError, match="missing from the board: 2C"):
        Game.start(rules, "t1: AC")
    assert Game.start(rules, "t1: AC", fragment=True).board() == "t1: AC"
    with pytest.raises(DealError, match="too often"):
        Game.start(rules, "t1: AC AC", fragment=True)


def test_a_stripped_pack_has_the_numbered_deals_of_the_independent_program() -> None:
    game = Game.start(rules_of("thirty"), "ms:1")
    assert game.view()["t1"] == ["7S", "TS", "7C", "9S", "JD"]
    assert game.view()["r2"] == ["AD"]


@pytest.mark.parametrize("number", range(20))
def test_four_aces_of_two_packs_are_one_of_each_suit(number: int) -> None:
    view = Game.start(rules_of("flamenco"), f"ck:{number}").view()
    bases = [view[f"f{pile}"] for pile in range(1, 9)]
    assert bases == [["AC"], ["AD"], ["AH"], ["AS"], ["KC"], ["KD"], ["KH"], ["KS"]]
