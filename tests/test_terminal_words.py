"""What the text client reads and what it says, without a server."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chilkoot_client import Diff, Snapshot, Table, Turn, check_of
from chilkoot_client import Move as MoveOp
from chilkoot_terminal.commands import (
    HELP,
    Fit,
    Move,
    New,
    Open,
    Pick,
    ReadColumn,
    Steps,
    Tap,
    Unclear,
    Word,
    parse,
)
from chilkoot_terminal.draw import Style, board_text, draw_table
from chilkoot_terminal.editor import Editor
from chilkoot_terminal.words import column_words, diff_words, outcome_words

PILES = {
    "t1": ["??", "??", "9S", "4D", "QC", "7H"],
    "t2": ["TH"],
    "t3": [],
    "f1": ["AC"],
    "f2": [],
    "c1": ["KS"],
    "c2": [],
}


def table(piles: dict[str, list[str]] = PILES, **more: Any) -> Table:
    fields: dict[str, Any] = {
        "game": "g",
        "seq": 0,
        "variant": "yukon",
        "role": "player",
        "check": check_of(piles),
    } | more
    return Table(Snapshot(piles={name: tuple(cards) for name, cards in piles.items()}, **fields))


@pytest.mark.parametrize(
    ("line", "meant"),
    (
        ("t5 4 t2", Move("t5", 4, "t2")),
        ("  T5   4  to T2 ", Move("t5", 4, "t2")),
        ("5 4 2", Move("t5", 4, "t2")),
        ("t5 1 f", Move("t5", 1, "f")),
        ("5 f", Move("t5", 1, "f")),
        ("5 home", Move("t5", 1, "f")),
        ("c1 3", Move("c1", 1, "t3")),
        ("5 c", Move("t5", 1, "c")),
        ("5 c2", Move("t5", 1, "c2")),
        ("f3 1 t2", Move("f3", 1, "t2")),
        ("10 4 2", Move("t10", 4, "t2")),
        ("5 2", Fit("t5", "t2")),
        ("9s 2", Pick("9S", "t2")),
        ("9♠ th", Pick("9S", "TH")),
        ("10h f", Pick("TH", "f")),
        ("9S", Pick("9S")),
        ("5", Tap("t5")),
        ("w1", Tap("w1")),
        ("undo", Steps("undo")),
        ("u 3", Steps("undo", 3)),
        ("redo 2", Steps("redo", 2)),
        ("draw", Word("draw")),
        ("give up", Word("give up")),
        ("GIVE_UP", Word("give up")),
        ("?", Word("help")),
        ("", Word("table")),
        ("column 5", ReadColumn("t5")),
        ("new", New()),
        ("new yukon-thicket 3", New("yukon-thicket", 3)),
        ("new yukon level 2 ms:24", New("yukon", 2, "ms:24")),
        ("open 2", Open("2")),
    ),
)
def test_what_is_typed_is_read_as_meant(line: str, meant: object) -> None:
    assert parse(line) == meant


@pytest.mark.parametrize(
    ("line", "part"),
    (
        ("hnit", "did you mean `hint`"),
        ("t5 4 t2 t3", "is no command"),
        ("0 4 2", "is no command"),
        ("5 0 2", "is no command"),
        ("new a b", "`new` takes"),
        ("x" * 500, "too long"),
        ("\x1b[31mred", "`?[31mred`"),
    ),
)
def test_what_is_not_understood_is_said_with_what_would_be(line: str, part: str) -> None:
    said = parse(line)
    assert isinstance(said, Unclear)
    assert part in said.message


@given(st.text(max_size=300))
def test_no_line_at_all_is_too_strange(line: str) -> None:
    parse(line)


def test_every_command_of_the_help_is_understood() -> None:
    samples = ["t5 4 t2", "5 4 2", "9s th", "open 2", "column 5"]
    samples += [word for line in HELP.splitlines() for word in re.split(r" {2,}", line)[:1]]
    for sample in samples:
        first = re.sub(r" \[.*", "", sample)
        assert not isinstance(parse(first), Unclear), first


def test_a_move_is_told_with_what_it_turned_up_and_the_score() -> None:
    ops = (MoveOp("t1", "t2", 4), Turn("t1", 1, "6D"), MoveOp("t1", "f2", 1))
    diff = Diff(game="g", seq=1, ops=ops, check="", score=2)
    assert diff_words(PILES, diff, by_me=True) == (
        "9 of spades and 3 cards to column 2 on 10 of hearts. Turned up 6 of diamonds. "
        "6 of diamonds went home by itself. 2 home."
    )


@pytest.mark.parametrize(
    ("ops", "more", "said"),
    (
        ((MoveOp("c1", "t3", 1),), {}, "King of spades to empty column 3."),
        ((MoveOp("t1", "c2", 1),), {}, "7 of hearts to cell 2."),
        ((MoveOp("t1", "f2", 1),), {"score": 2}, "7 of hearts home. 2 home."),
        (
            (MoveOp("t1", "f2", 1), MoveOp("t2", "f2", 1)),
            {"cause": "home", "score": 3},
            "7 of hearts and 10 of hearts went home. 3 home.",
        ),
        ((MoveOp("t2", "t1", 1),), {"cause": "undo", "moves": 0}, "Taken back."),
        (
            (MoveOp("c1", "t3", 1),),
            {"by": "auto"},
            "The server plays: king of spades to empty column 3.",
        ),
        ((), {"cause": "give_up", "status": "lost"}, "Given up."),
        ((), {"cause": "concede", "by": "auto"}, "The server sees no way on and concedes."),
    ),
)
def test_each_kind_of_action_has_its_sentence(
    ops: tuple[MoveOp, ...], more: dict[str, Any], said: str
) -> None:
    assert diff_words(PILES, Diff(game="g", seq=1, ops=ops, check="", **more), by_me=True) == said


def test_what_others_do_is_told_as_theirs() -> None:
    diff = Diff(game="g", seq=1, ops=(MoveOp("c1", "t3", 1),), check="")
    assert diff_words(PILES, diff, by_me=False).startswith("From elsewhere: king of spades")


def test_a_draw_names_the_cards() -> None:
    piles = {"s1": ["??", "??"], "w1": []}
    ops = (MoveOp("s1", "w1", 1, flip=True), Turn("w1", 0, "4S"))
    assert diff_words(piles, Diff(game="g", seq=1, ops=ops, check="", cause="draw"), by_me=True) == (
        "Drew 4 of spades."
    )
    back = Diff(game="g", seq=2, ops=(MoveOp("w1", "s1", 2, flip=True),), check="", cause="draw")
    assert "2 cards" in diff_words({"s1": [], "w1": ["4S", "5S"]}, back, by_me=True)


def test_a_column_is_read_from_the_bottom() -> None:
    assert column_words(PILES, "t1") == (
        "Column 1: 2 face-down, 9 of spades, 4 of diamonds, queen of clubs, 7 of hearts."
    )
    assert column_words(PILES, "t3") == "Column 3: empty."
    assert "no column 9" in column_words(PILES, "t9")


@pytest.mark.parametrize(
    ("more", "part"),
    (
        ({"status": "won", "result": "home", "moves": 113}, "in 113 moves"),
        ({"status": "lost", "result": "no_moves"}, "no move is left"),
        ({"status": "lost", "result": "gave_up"}, "you gave it up"),
        ({"status": "stuck"}, "Stuck"),
        ({}, ""),
    ),
)
def test_how_a_game_stands_is_a_sentence(more: dict[str, Any], part: str) -> None:
    said = outcome_words(table(**more))
    assert part in said
    assert bool(said) == bool(part)


def test_the_table_has_four_characters_a_column() -> None:
    lines = draw_table(table(), Style())
    assert lines == [
        " f1  A♣  f2  --    c1  K♠  c2  --",
        "  t1  t2  t3",
        "  ·· 10♥  --",
        "  ··",
        "  9♠",
        "  4♦",
        "  Q♣",
        "  7♥",
    ]


def test_without_signs_for_suits_the_table_has_letters_only() -> None:
    assert "\n".join(draw_table(table(), Style(symbols=False))).isascii()


def test_colour_changes_nothing_but_colour() -> None:
    coloured = "\n".join(draw_table(table(), Style(colour=True)))
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == "\n".join(draw_table(table(), Style()))


@pytest.mark.parametrize("height", (24, 19, 12, 8))
@pytest.mark.parametrize("columns", (7, 10, 24))
def test_a_column_of_any_length_fits(height: int, columns: int) -> None:
    longest = ["??"] * 6 + ["9S"] * 33
    piles = {f"t{number}": longest[:number] if number % 2 else longest for number in range(1, columns + 1)}
    lines = draw_table(table(piles), Style(), width=80, height=height)
    assert len(lines) <= height
    assert max(map(len, lines)) <= 80
    assert "9♠" in lines[-1]


def test_the_board_reads_as_rules_writes_it() -> None:
    assert board_text(PILES) == "t1: ?? ?? 9S 4D QC 7H\nt2: TH\nc1: KS\nf1: AC"


def test_a_line_is_edited_as_in_a_shell() -> None:
    editor = Editor()
    assert editor.feed(b"t5 4 t3\x7f2\r") == ["t5 4 t2"]
    assert editor.feed(b"hint\n") == ["hint"]
    assert editor.feed(b"\x1b[A\x1b[A") == []
    assert editor.text == "t5 4 t2"
    assert editor.feed(b"\x1b[D\x1b[D\x1b[3~x\x01>\x05<\x15undo\r") == ["undo"]
    assert editor.feed(b"give upp\x17\x17\x04") == [None]


def test_keys_that_come_in_pieces_are_put_together() -> None:
    editor = Editor()
    done = [editor.feed(piece) for piece in (b"9", b"\xe2\x99", b"\xa0", b"\x1b", b"[", b"D", b"x\r")]
    assert done[-1] == ["9x♠"]


@given(st.binary(max_size=200))
def test_no_key_at_all_breaks_the_line(data: bytes) -> None:
    editor = Editor()
    for line in editor.feed(data):
        assert line is None or line.isprintable()
    assert 0 <= editor.cursor <= len(editor.text)
