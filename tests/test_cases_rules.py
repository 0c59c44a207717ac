"""Faults in rules and play that were reported against programs like ours, one row a case, by the number of its list."""

from __future__ import annotations

import random

import pytest

from chilkoot.data import rules_folder
from chilkoot.engine import Game, Refusal
from chilkoot.engine.refusals import why_not
from chilkoot.events import CardMove, Simple, parse_action
from chilkoot.language import Source, compile_variant
from chilkoot.language.rules import Rules
from chilkoot.solver import advise
from variants import fragment, library, rules_of

ROWS = "deal: [UUUUUUU *7, UUU....]\n"
"""A deal without a stock, for rules of a test's own."""

RUNS = "build: {suit: any, %s}, group: {limit: 2, count: suit_runs}"

CALVING = "yakutat-bay-calving"
KING_RUN = "KH QH JH TH 9H 8H 7H 6H 5H 4H 3H 2H"
SPADES = "AS 2S 3S 4S 5S 6S 7S 8S 9S TS JS QS KS"


def own(text: str) -> Rules:
    """The rules of a file of a test's own."""
    variant, said = compile_variant(Source("own.yaml", "own", text), lambda _: None)
    assert variant is not None, said
    return variant.levels[0].rules


def reason(game: Game, move: str) -> str:
    """``legal``, or the code of the refusal, by the rules of moving alone."""
    action = parse_action(move)
    assert isinstance(action, CardMove)
    refusal = why_not(game.position, action)
    return "legal" if refusal is None else refusal.code


def played(game: Game, *actions: str) -> Game:
    """The game after these actions, every one of which must be accepted."""
    for text in actions:
        action = parse_action(text)
        assert action is not None, text
        done = game.act(action)
        assert not isinstance(done, Refusal), (text, done)
    return game


def board(game: Game) -> str:
    """The board in one line."""
    return game.board().replace("\n", " | ")


@pytest.mark.parametrize(
    ("case", "name", "level", "position", "move", "expected"),
    (
        ("8", "wasp", None, "t1: 5H 7C", "t1 1 t2", "legal"),
        ("9", "yukon", None, "f1: AC 2C | t1: 3D", "f1 1 t1", "no_return"),
        ("9", "klondike", None, "f1: AC 2C | t1: 3D", "f1 1 t1", "legal"),
        ("9", "freecell", None, "f1: AC 2C | t1: 3D", "f1 1 t1", "legal"),
        ("11", "scorpion", None, "t1: 2C 8S KD 3H | t2: 9S | t3: 9H", "t1 3 t2", "legal"),
        ("11", "scorpion", None, "t1: 2C 8S KD 3H | t2: 9S | t3: 9H", "t1 3 t3", "wrong_suit"),
        ("19", "whitehead", None, "t1: 9C 8S | t2: TS", "t1 2 t2", "not_a_sequence"),
        ("19", "whitehead", None, "t1: 9C 8C | t2: TS", "t1 2 t2", "legal"),
        ("25", "klondike", None, "t1: 6S <4C> 3D | t2: 5D", "t1 2 t2", "face_down"),
        ("34", "yukon-thicket", 1, "t1: KC 2H", "t1 1 t2", "legal"),
        ("37", "klondike", None, "t1: 3S", "t1 1 f4", "foundation_order"),
        ("38", "klondike", None, "f4: AS | t1: 5S", "t1 1 f4", "foundation_order"),
        ("E1", "yukon", None, "t1: <4C> 3D | t2: 5D", "t1 2 t2", "face_down"),
        ("E1", "yukon", None, "t1: 3D", "t1 2 t2", "not_available"),
        ("E1", "yukon", None, "t1: 3D", "t1 1 t1", "not_available"),
        ("E1", "yukon", None, "t1: 3D", "t1 1 t8", "not_available"),
        ("E1", "yukon", None, "f1: AC | t1: 2D", "f1 1 t1", "no_return"),
        ("E2", "yukon", None, "t1: AC 3D", "t1 2 f1", "one_card_only"),
        ("E2", "yukon-cells", None, "t1: AC 3D", "t1 2 c1", "one_card_only"),
        ("E2", "scorpion", None, f"t1: 9S {KING_RUN} AH", "t1 13 f", "legal"),
        ("E2", "scorpion", None, f"t1: 9S {KING_RUN} AH", "t1 1 f", "not_a_sequence"),
        ("E3", "yukon", None, "t1: <2S> KC 3D", "t1 2 t2", "legal"),
        ("E3", "yukon", None, "t1: KC 3D", "t1 2 t2", "whole_column"),
        ("E3", "yakutat-bay", None, "t1: KC 3D", "t1 2 t2", "legal"),
        ("E4", "alaska", None, "t1: 2C 9S | t2: TS", "t1 1 t2", "legal"),
        ("E4", "alaska", None, "t1: 2C 9S | t2: 8S", "t1 1 t2", "legal"),
        ("E4", "alaska", None, "t1: 2C KS | t2: AS", "t1 1 t2", "wrong_rank"),
        ("E4", "roslin", None, "t1: 2C AS | t2: KH", "t1 1 t2", "wrong_rank"),
        ("E4", "roslin", None, "t1: 2C 9S | t2: 8H", "t1 1 t2", "legal"),
        ("E4", "russian", None, "t1: 2C 9S | t2: TC", "t1 1 t2", "wrong_suit"),
        ("E4", "moosehide", None, "t1: 2C 9S | t2: TC", "t1 1 t2", "legal"),
        ("E4", "moosehide", None, "t1: 2C 9S | t2: TS", "t1 1 t2", "wrong_suit"),
        ("E5", "yukon-thicket", 2, "t1: KC 2H", "t1 1 t2", "needs_king"),
        ("E5", "yukon-thicket", 3, "t1: KC 2H", "t1 1 t2", "needs_king"),
        ("E5", "yukon-thicket", 3, "t1: KC 7H | t2: 8S", "t1 1 t2", "wrong_suit"),
        ("E5", "yukon-thicket", 3, "t1: KC 7S | t2: 8S", "t1 1 t2", "legal"),
        ("E6", "yakutat-bay", None, "f1: AC 2C 3C | t1: 4H | t2: 3H", "f1 1 t1", "legal"),
        ("E6", "yakutat-bay", None, "f1: AC 2C 3C | t1: 4H | t2: 3H", "f1 2 t2", "one_card_only"),
        ("E6", "yakutat-bay", None, f"f4: {SPADES} | t1: 5C", "f4 1 t2", "legal"),
        ("E8", "yukon-cells", None, "c1: 7H | t1: 5C", "c1 1 t2", "needs_king"),
        ("E8", "yukon-cells", None, "c1: KH | t1: 5C", "c1 1 t2", "legal"),
        ("E8", "yukon-cells", None, "c1: KH | c2: 2D | t1: 5C", "t1 1 c1", "cell_full"),
        ("E8", "yukon-cells", None, "c1: KH | t1: 5C", "c1 1 c2", "not_available"),
        ("E9", "scorpion", None, "t1: KH QD JH TH 9H 8H 7H 6H 5H 4H 3H 2H AH", "t1 13 f", "not_a_sequence"),
        ("E10", "double-yukon", None, "f1: AC | t1: AC", "t1 1 f5", "legal"),
    ),
)
def test_a_move_is_judged_as_the_case_says(
    case: str, name: str, level: int | None, position: str, move: str, expected: str
) -> None:
    assert reason(fragment(name, position, level), move) == expected, case


@pytest.mark.parametrize(
    ("case", "name", "position", "actions", "after"),
    (
        ("28", "klondike", "t1: 9S | s1: <5C> <4C>", ("draw", "undo"), "t1: 9S | s1: <5C> <4C>"),
        ("E3", "yukon", "t1: <2S> KC 3D", ("t1 2 t2",), "t1: 2S | t2: KC 3D"),
        (
            "E7 a chain",
            CALVING,
            "t1: 7H | t2: 8S | t3: 9H | t4: TC",
            ("t1 1 t2",),
            "t1: 8S 7H | t2: 9H | t3: TC",
        ),
        ("E7 a gap", CALVING, "t1: 7H | t2: 8S | t4: TC", ("t1 1 t2",), "t1: 8S 7H | t2: TC"),
        ("E7 the last", CALVING, "t6: 8S | t7: 7H", ("t7 1 t6",), "t1: 8S 7H"),
        (
            "E7 a flip",
            CALVING,
            "t1: 7H | t2: <3D> 8S 2C | t3: 8C",
            ("t1 1 t3",),
            "t1: 8S 2C | t2: 3D | t3: 8C 7H",
        ),
        ("E7 undo", CALVING, "t1: 7H | t2: 8S | t3: 9H", ("t1 1 t2", "undo"), "t1: 7H | t2: 8S | t3: 9H"),
        ("E7 back again", CALVING, "t1: 8S | t2: KS 7H", ("t2 2 t3",), "t1: 8S | t2: KS 7H"),
        (
            "E9 onto spaces",
            "scorpion",
            "t2: 8S | s1: <3C> <4C> <5C>",
            ("draw",),
            "t1: 5C | t2: 8S 4C | t3: 3C",
        ),
        (
            "E9 a run by its ace",
            "scorpion",
            f"t1: 9S {KING_RUN} | t2: 3C AH",
            ("t2 1 t1",),
            f"t1: 9S | t2: 3C | f1: {KING_RUN} AH",
        ),
        (
            "E9 a run by the last deal",
            "spider",
            f"t1: {KING_RUN} | t2: 3C | t3: 3C | t4: 4C | t5: 4C | t6: 5C | t7: 5C | t8: 6C | t9: 6C | t10: 7C | s1: <7C> <AH>",
            ("draw",),
            f"t2: 3C 7C | t3: 3C | t4: 4C | t5: 4C | t6: 5C | t7: 5C | t8: 6C | t9: 6C | t10: 7C | f1: {KING_RUN} AH",
        ),
        (
            "E11 draw three of two",
            "klondike-draw-3",
            "t1: 9S | s1: <5C> <4C>",
            ("draw",),
            "t1: 9S | w1: 4C 5C",
        ),
        (
            "E11 the order of pass 2",
            "klondike",
            "t1: 9S | s1: <5C> <4C>",
            ("draw", "draw", "draw", "draw"),
            "t1: 9S | s1: <5C> | w1: 4C",
        ),
        (
            "15 a redeal undone",
            "klondike",
            "t1: 9S | w1: 4C 5C | s1: ",
            ("draw", "undo"),
            "t1: 9S | w1: 4C 5C",
        ),
    ),
)
def test_actions_lead_where_the_case_says(
    case: str, name: str, position: str, actions: tuple[str, ...], after: str
) -> None:
    game = played(fragment(name, position), *actions)
    assert board(game) == after, case


@pytest.mark.parametrize(
    ("case", "name", "position", "status"),
    (
        ("1", "yukon", "t1: 2C TH 9S | t2: 2D TD", "stuck"),
        ("2", "freecell", "t1: 9C | c1: 2D | c2: 4D | c3: 6D", "not lost"),
        ("3", "spider", "t1: 5H 4H | t2: 9C 8C | s1: <2C>", "not lost"),
        ("5", "scorpion", "t1: 2H 3C | t2: 4D | s1: <2C>", "not lost"),
        ("6", "klondike", "t1: 9S | t2: 9C | t3: 7S | t4: 7C | t5: 5S | t6: 5C | t7: 3S | w1: 3C", "stuck"),
        ("8", "wasp", "t1: 5H 7C", "not lost"),
        ("48", "yukon", "t1: 5H 7C | t2: 2D", "lost"),
        ("E3", "yukon", "t1: KC 3D", "lost"),
        ("E3", "yakutat-bay", "t1: KC 3D", "lost"),
        ("E8", "yukon-cells", "t1: 5H 7C | c1: 9D | c2: 2H", "lost"),
        ("E8", "yukon-cells", "t1: 5H 7C | c1: 9D", "not lost"),
    ),
)
def test_a_position_stands_as_the_case_says(case: str, name: str, position: str, status: str) -> None:
    game = fragment(name, position)
    assert game.status != "lost" if status == "not lost" else game.status == status, case
    if status == "stuck":
        assert game.legal() or game.can_draw(), case


@pytest.mark.parametrize("text", ("t1 0 t2", "t1 -1 t2", "t1 1.5 t2", "t1 t2", "1 1 t2", ""))
def test_case_e1_a_number_of_cards_below_one_is_no_move_at_all(text: str) -> None:
    assert parse_action(text) is None


def test_case_5_and_12_hints_are_legal_and_name_the_stock() -> None:
    stock = fragment("scorpion", "t1: 2H 3C | t2: 4D | t3: 6D | t4: 8D | t5: TD | t6: QD | t7: QC | s1: <2C>")
    assert not stock.legal()
    assert advise(stock).action == Simple("draw")
    game = fragment("yukon", "t1: <AC> 9S 4D | t2: 2H TH | t3: 5C")
    action = advise(game).action
    assert isinstance(action, CardMove)
    assert game.why_not(action) is None


@pytest.mark.parametrize(
    "name", ("yukon", "double-yukon", "scorpion", "klondike", "freecell", "spider", "canfield")
)
def test_case_13_17_18_40_in_random_play_cards_stay_targets_agree_and_all_can_be_undone(name: str) -> None:
    choose = random.Random(name)
    game = Game.start(rules_of(name), "ck:40")
    first, deck = board(game), sorted(card & 63 for pile in game.position.piles for card in pile)
    for _ in range(40):
        moves = game.legal()
        for move in moves[:3]:
            assert move.target in game.targets(move.source, move.n)
            assert game.why_not(move) is None
        if game.is_over or not (moves or game.can_draw()):
            break
        if not moves or (game.can_draw() and choose.random() < 0.2):
            played(game, "draw")
        else:
            move = choose.choice(moves)
            played(game, f"{move.source} {move.n} {move.target}")
        assert sorted(card & 63 for pile in game.position.piles for card in pile) == deck
    while game.can()["undo"]:
        played(game, "undo")
    assert board(game) == first


def test_case_16_and_47_a_deal_number_is_the_same_deal_every_time() -> None:
    for text in ("ms:24", "ck:7"):
        assert board(Game.start(rules_of("yukon"), text)) == board(Game.start(rules_of("yukon"), text))
    assert board(Game.start(rules_of("yukon"), "ms:24")) != board(Game.start(rules_of("yukon"), "ms:25"))


BASE_GROUPS = """deck: {packs: 2}
deal: ["UUUUUUUU *12", {foundations: "A*4"}, {foundations: U}, "UUU....."]
foundations: [{count: 4, base: A}, {count: 4, base: %s, build: {wrap: true}}]
tableau: {columns: 8}
"""


def test_case_20_groups_of_foundations_have_bases_and_suits_of_their_own() -> None:
    game = Game.start(own(BASE_GROUPS % "dealt"), "ck:3")
    aces, bases = game.position.piles[8:12], game.position.piles[12:]
    assert [len(pile) for pile in aces] == [1, 1, 1, 1]
    assert [card % 13 for pile in bases for card in pile] == [game.position.base]
    shown = Game.start(own(BASE_GROUPS % "dealt"), "f1: AC | f5: 7C | t1: 7H | t2: AH", fragment=True)
    assert [reason(shown, move) for move in ("t1 1 f7", "t2 1 f3", "t1 1 f3")] == [
        "legal",
        "legal",
        "foundation_order",
    ]


def test_case_20_an_ace_on_a_foundation_of_aces_leaves_the_base_of_the_others_open() -> None:
    rules = own(
        'deck: {packs: 2}\ndeal: ["UUUUUUUU *13"]\ntableau: {columns: 8}\n'
        "foundations: [{count: 4, base: A}, {count: 4, base: first_played, build: {wrap: true}}]\n"
    )
    game = played(Game.start(rules, "t1: 7H | t2: AC | t3: 7S | t4: 8D", fragment=True), "t2 1 f1")
    assert reason(game, "t1 1 f7") == "legal"
    played(game, "t1 1 f7")
    assert [reason(game, move) for move in ("t3 1 f8", "t4 1 f6")] == ["legal", "foundation_order"]
    played(game, "undo")
    assert reason(game, "t4 1 f6") == "legal"


def test_case_24_what_an_empty_column_takes_is_said() -> None:
    assert [fragment(name, "t1: 2C").accepts() for name in ("yukon", "freecell")] == [["K"], ["any"]]


FIVE = "c1: KS | t1: 8S 7H 6S 5H 4S | t2: 9D | t4: 9H | t5: 3C | t6: 2D"
"""One of two cells free; with t3 and t7 empty eight cards may go onto a card, four into a space."""


@pytest.mark.parametrize(
    ("case", "rules", "position", "move", "expected"),
    (
        ("30", "group: {limit: supermove}", FIVE, "t1 5 t2", "legal"),
        ("29", "group: {limit: supermove}", FIVE, "t1 5 t3", "too_many_cards"),
        ("30", "group: {limit: supermove}", FIVE, "t1 4 t3", "legal"),
        ("30", "group: {limit: supermove}, empty: {accepts: K}", FIVE, "t1 5 t2", "too_many_cards"),
        ("30", "group: {limit: cells}", FIVE, "t1 5 t2", "too_many_cards"),
        ("30", "group: {limit: cells}", FIVE, "t1 2 t3", "legal"),
        ("30", "group: {limit: 3}", FIVE, "t1 3 t3", "legal"),
        ("30", "group: {limit: 3}", FIVE, "t1 4 t3", "too_many_cards"),
        # A suit run is what holds together by the group's own relation and has one suit, whichever way it goes.
        ("30", RUNS % "rank: down", "t1: 8S 7S 6H 5H 4H | t2: 9D", "t1 5 t2", "legal"),
        ("30", RUNS % "rank: down", "t1: 8S 7H 6S 5H 4H | t2: 9D", "t1 5 t2", "too_many_cards"),
        ("30", RUNS % "rank: up", "t1: 4S 5S 6H 7H 8H | t2: 3D", "t1 5 t2", "legal"),
        ("30", RUNS % "rank: down, wrap: true", "t1: 2S AS KS QH JH | t2: 3D", "t1 5 t2", "legal"),
    ),
)
def test_case_29_and_30_a_limit_counts_cells_and_empty_columns_but_not_the_target(
    case: str, rules: str, position: str, move: str, expected: str
) -> None:
    game = Game.start(
        own(f"{ROWS}cells: {{count: 2}}\ntableau: {{columns: 7, {rules}}}\n"), position, fragment=True
    )
    assert reason(game, move) == expected, case
    action = parse_action(move)
    assert isinstance(action, CardMove)
    assert (action in game.legal()) == (expected == "legal")


@pytest.mark.parametrize(
    ("position", "move", "expected"),
    (
        ("t1: 8S 7H | t2: 9D", "t1 2 t2", "legal"),
        ("t1: 8S 7S | t2: 9D", "t1 2 t2", "not_a_sequence"),
        ("t1: <2C> 8S 7H | t2: 9D", "t1 2 t2", "not_a_sequence"),
        ("t1: 8S 7H | t2: 8C", "t1 1 t2", "not_a_sequence"),
    ),
)
def test_a_whole_column_moves_where_it_holds_together(position: str, move: str, expected: str) -> None:
    rules = own(f"{ROWS}tableau: {{columns: 7, group: {{unit: whole}}}}\n")
    game = Game.start(rules, position, fragment=True)
    assert reason(game, move) == expected
    assert (parse_action(move) in game.legal()) == (expected == "legal")


def test_case_29_the_refusal_tells_the_limit() -> None:
    rules = own(f"{ROWS}cells: {{count: 2}}\ntableau: {{columns: 7, group: {{limit: supermove}}}}\n")
    refusal = Game.start(rules, FIVE, fragment=True).act(CardMove("t1", 5, "t3"))
    assert isinstance(refusal, Refusal)
    assert "5" in refusal.message
    assert "4" in refusal.message


def test_case_31_a_king_moved_from_space_to_space_scores_nothing() -> None:
    assert played(fragment("yakutat-bay", "t1: KC | t2: 2H 9S | t3: TH"), "t1 1 t4", "t4 1 t1").score == 0


def test_case_32_the_stock_waits_for_full_columns_only_where_the_rules_say_so() -> None:
    position = "t1: 5H | t2: 9C | s1: <2C> <3C>"
    assert (fragment("spider", position).can_draw(), fragment("relaxed-spider", position).can_draw()) == (
        False,
        True,
    )


def test_case_35_and_44_two_lines_change_a_deal_and_a_stock() -> None:
    gypsy = library().check_source(
        Source("x.yaml", "x", "extends: gypsy\ndeal: [UUUUUUUU]\n"), beside=rules_folder()
    )
    once = library().check_source(
        Source("y.yaml", "y", "extends: klondike\nstock: {passes: 1}\n"), beside=rules_folder()
    )
    assert gypsy[0] is not None
    assert once[0] is not None
    assert len(Game.start(gypsy[0].levels[0].rules, "ck:1").view()["s1"]) == 96
    game = played(Game.start(once[0].levels[0].rules, "t1: 9S | s1: <4C>", fragment=True), "draw")
    assert not game.can_draw()


def test_case_42_what_goes_home_by_itself_belongs_to_the_action_and_its_undo() -> None:
    game = fragment("yukon-thicket", "f1: AC | t1: <9H> 2C 7D | t2: 8S | f2: AD | f3: AH")
    before = board(game)
    played(game, "t1 1 t2")
    assert (board(game), game.seq) == ("t1: 9H | t2: 8S 7D | f1: AC 2C | f2: AD | f3: AH", 1)
    assert board(played(game, "undo")) == before


@pytest.mark.parametrize(
    ("case", "level", "home", "goes"),
    (
        # 5H goes home once both black fours are there, and not before; under same suit nothing can need it.
        ("43", 2, "f1: AC 2C 3C 4C | f4: AS 2S 3S 4S", True),
        ("43", 2, "f1: AC 2C 3C 4C | f4: AS 2S 3S", False),
        ("E5", 1, "f1: AC 2C 3C 4C | f4: AS 2S 3S", False),
        ("E5", 3, "f1: AC | f4: AS", True),
    ),
)
def test_case_43_a_card_goes_home_by_itself_when_no_other_can_need_it(
    case: str, level: int, home: str, goes: bool
) -> None:
    game = fragment("yukon-thicket", f"{home} | f3: AH 2H 3H 4H | t1: 5H KC", level)
    played(game, "t1 1 t2")
    assert ("5H" in game.view()["f3"]) == goes, case


def test_case_45_no_tap_takes_a_card_off_a_foundation() -> None:
    assert fragment("yakutat-bay", "f1: AC 2C | t1: 3D").home_target("f1") is None


def test_case_e6_after_a_return_the_foundation_takes_the_card_again() -> None:
    game = played(fragment("yakutat-bay", "f1: AC 2C 3C | t1: 4H | t2: KS 9D"), "f1 1 t1")
    assert (game.score, reason(game, "t1 1 f1")) == (2, "legal")
    assert played(game, "t1 1 f1").position.best == 3


def test_case_e7_a_win_is_seen_after_a_chain() -> None:
    rules = own(
        f"{ROWS}tableau: {{columns: 7, empty: {{auto_fill: next_column}}}}\n"
        "foundations: {auto: always}\ngoal: {cards_in_foundations: 2}\n"
    )
    game = played(Game.start(rules, "t1: 7H | t2: 8S | t3: AC AD", fragment=True), "t1 1 t2")
    assert (game.status, game.score) == ("won", 2)


@pytest.mark.parametrize(
    ("unit", "position", "after"),
    (
        ("top_or_whole", "t1: 7H | t2: <2C> 9H 8S | t3: 8C", "t1: 8S | t2: <2C> 9H | t3: 8C 7H"),
        ("top_or_whole", "t1: 7H | t2: 9H 8S | t3: 8C", "t1: 9H 8S | t2: 8C 7H"),
        ("whole", "t1: 7H | t2: <2C> 9H 8S | t3: 8C", "t2: <2C> 9H 8S | t3: 8C 7H"),
        ("whole", "t1: 7H | t2: 9H 8S | t3: 8C", "t1: 9H 8S | t2: 8C 7H"),
        ("single", "t1: 7H | t2: 9H 8S | t3: 8C", "t1: 8S | t2: 9H | t3: 8C 7H"),
    ),
)
def test_case_e7_no_more_fills_a_column_by_itself_than_a_player_could_pick_up(
    unit: str, position: str, after: str
) -> None:
    rules = own(
        f"{ROWS}tableau: {{columns: 7, group: {{unit: {unit}}}, empty: {{auto_fill: next_column}}}}\n"
    )
    game = played(Game.start(rules, position, fragment=True), "t1 1 t3")
    assert board(game).startswith(after), board(game)


def test_case_e11_passes_end_and_an_empty_stock_with_an_empty_waste_deals_nothing() -> None:
    rules = own("deal: [UUUUUUU *7]\nstock: {deal_to: waste, passes: 2}\n")
    game = played(Game.start(rules, "t1: 9S | s1: <4C>", fragment=True), "draw", "draw", "draw")
    refusal = game.act(Simple("draw"))
    assert isinstance(refusal, Refusal)
    assert refusal.code == "no_redeal"
    nothing = fragment("klondike", "t1: 9S | t2: 3D").act(Simple("draw"))
    assert isinstance(nothing, Refusal)


@pytest.mark.parametrize("deal_to", ("tableau", "tableau_nonempty", "reserve"))
def test_only_a_waste_is_given_several_cards_at_once(deal_to: str) -> None:
    rules = own(f"deal: [UUUUUUU *6]\nreserve: {{piles: 2}}\nstock: {{deal_to: {deal_to}, draw: 2}}\n")
    game = Game.start(rules, "t1: 9S | t2: 9H | s1: <5C> <4C> <3C> <2C>", fragment=True)
    assert len(played(game, "draw").view()["s1"]) == (0 if deal_to == "tableau" else 2)


def test_case_e12_a_game_that_is_over_refuses_every_action() -> None:
    game = played(fragment("yukon", "t1: 9S | t2: TH"), "give_up")
    for text in ("t1 1 t2", "draw", "home", "undo", "redo", "give_up"):
        action = parse_action(text)
        assert action is not None
        refusal = game.act(action)
        assert isinstance(refusal, Refusal)
        assert refusal.code == "game_over"
