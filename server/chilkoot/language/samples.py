"""The `tests` of a variant: boards and moves that an author pins down, checked for their spelling.

Decides whether a test can be run: piles that the variant has, cards of its deck, a move, something to expect. Whether the
move really is legal is asked of the engine, which is above this room.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

from chilkoot import events
from chilkoot.cards import SUITS, parse_card, rank_of, suit_of
from chilkoot.language.codes import Report
from chilkoot.language.diagnostics import Diagnostic, Place, Severity
from chilkoot.language.nodes import Entry, Mapping, Node, Scalar, Sequence
from chilkoot.language.read import report_unknown
from chilkoot.language.rules import Level, Rules, Variant, VariantTest
from chilkoot.language.schema import keys_of
from chilkoot.language.values import Broken, kind_of, read_value
from chilkoot.language.words import plural, quoted

__all__ = ["MAX_TESTS", "failed_test", "read_tests"]

MAX_TESTS: Final = 200
_CARD: Final = re.compile(r"<[^<>\s]+>|[^\s]+")
_PILE: Final = re.compile(r"\s*([a-z][0-9]*)\s*:\s*")
_NEEDED: Final = ("board", "move", "expect")


def read_tests(
    node: Node, levels: tuple[Level, ...], default: int | None, report: Report
) -> tuple[VariantTest, ...]:
    """The tests of a variant; what is wrong with them is in `report`."""
    if not isinstance(node, Sequence):
        report.say(
            "R101", node.place, f'"tests" takes a list, not {kind_of(node)}', 'begin each test with "- "'
        )
        return ()
    if len(node.items) > MAX_TESTS:
        report.say("R110", node.place, f'"tests" has {len(node.items)} entries', f"use at most {MAX_TESTS}")
        return ()
    tests = [_read_test(item, levels, default, report) for item in node.items]
    return tuple(test for test in tests if test is not None)


def failed_test(file: str, variant: Variant, test: VariantTest, found: str, reason: str = "") -> Diagnostic:
    """What is said of a test when its move is answered with `found`, ``legal`` or a refusal's code, for that `reason`."""
    lines = variant.text.replace("\r\n", "\n").split("\n")
    text = lines[test.line - 1] if 0 < test.line <= len(lines) else ""
    answer = "is legal" if found == "legal" else f"is refused as {found}"
    return Diagnostic(
        code="R404",
        severity=Severity.ERROR,
        place=Place(file, test.line, test.column, test.column + len(test.expect), text),
        message=f"the move {quoted(test.move)} {answer}, and the test expects {test.expect}",
        help=reason,
    )


def _read_test(
    item: Node, levels: tuple[Level, ...], default: int | None, report: Report
) -> VariantTest | None:
    if not isinstance(item, Mapping):
        report.say(
            "R101",
            item.place,
            f"a test is a mapping, not {kind_of(item)}",
            "write {board: …, move: …, expect: …}",
        )
        return None
    before = report.errors
    values = {name: _read_field(name, entry, report) for name, entry in item.entries.items()}
    for name in _NEEDED:
        if name not in values:
            report.say(
                "R109", item.place, f'"{name}" is missing', "a test has a board, a move and what to expect"
            )
    level = values.get("level", default)
    rules = next((one.rules for one in levels if one.number == level), None)
    if rules is None and "level" in values and not isinstance(level, Broken):
        report.say("R205", item.entries["level"].value.place, f"there is no level {level}")
    if rules is not None:
        board, move = item.entries.get("board"), item.entries.get("move")
        if board is not None and isinstance(values["board"], str) and isinstance(board.value, Scalar):
            _check_board(board.value, rules, report)
        if move is not None and isinstance(values["move"], str) and isinstance(move.value, Scalar):
            _check_move(move.value, rules, report)
    if report.errors > before or rules is None:
        return None
    return VariantTest(
        board=str(values["board"]),
        move=str(values["move"]),
        expect=str(values["expect"]),
        level=level if isinstance(level, int) and "level" in values else None,
        line=item.entries["expect"].value.place.line,
        column=item.entries["expect"].value.place.column,
    )


def _read_field(name: str, entry: Entry, report: Report) -> object:
    known = keys_of("tests")
    if name not in known:
        report_unknown(report, entry, "tests", list(known))
        return None
    if name == "expect" and isinstance(entry.value, Scalar) and isinstance(entry.value.value, str):
        return _read_expect(entry.value, report)
    return read_value(known[name].kind, entry.value, name, report)


def _read_expect(node: Scalar, report: Report) -> object:
    wrong = Report()
    value = read_value(keys_of("tests")["expect"].kind, node, "expect", wrong)
    for one in wrong.diagnostics:
        report.say("R403", one.place, one.message, one.help)
    return value


def pile_names(rules: Rules) -> dict[str, int]:
    """How many piles of each letter the rules have."""
    return {
        "t": rules.column_count(),
        "f": rules.foundation_count(),
        "c": rules.cells.count,
        "r": rules.reserve.piles,
        "s": 1,
        "w": 1,
    }


def _check_board(node: Scalar, rules: Rules, report: Report) -> None:
    seen: set[str] = set()
    cards: Counter[int] = Counter()
    at = 0
    for piece in re.split(r"([|\n])", node.text):
        if piece.strip() and piece != "|":
            _check_pile(node, at, piece, rules, seen, cards, report)
        at += len(piece)


def _check_pile(
    node: Scalar, at: int, piece: str, rules: Rules, seen: set[str], cards: Counter[int], report: Report
) -> None:
    match = _PILE.match(piece)
    if match is None:
        start = at + len(piece) - len(piece.lstrip())
        report.say(
            "R401",
            node.part(start, at + len(piece.rstrip())),
            "a pile is missing",
            'write the pile first: "t2: TH"',
        )
        return
    name = match[1]
    place = node.part(at + match.start(1), at + match.end(1))
    problem = _wrong_pile(name, rules)
    if problem:
        report.say("R401", place, *problem)
    elif name in seen:
        report.say("R401", place, f"{quoted(name)} is given twice", "write all its cards in one line")
    seen.add(name)
    for word in _CARD.finditer(piece, match.end()):
        _check_card(node, at + word.start(), word[0], rules, cards, report)


def _wrong_pile(name: str, rules: Rules) -> tuple[str, str] | None:
    letter, number = name[0], name[1:]
    most = pile_names(rules).get(letter)
    if most is None:
        return f"{quoted(name)} is no pile", "piles are t1, f1, c1, r1, s1, w1 and so on"
    if not number or number.startswith("0") or int(number[:4]) > most:
        hint = (
            f"{letter} goes from {letter}1 to {letter}{most}" if most else "there are no piles of that letter"
        )
        return f"there is no pile {quoted(name)}", hint
    return None


def _check_card(node: Scalar, at: int, word: str, rules: Rules, cards: Counter[int], report: Report) -> None:
    place = node.part(at, at + len(word))
    card = parse_card(word[1:-1] if word.startswith("<") and word.endswith(">") else word)
    if card is None:
        report.say(
            "R401",
            place,
            f"{quoted(word)} is not a card",
            "a rank (A 2-9 T J Q K) and a suit (C D H S); <9S> face down",
        )
        return
    deck = rules.deck
    if rank_of(card) not in deck.ranks or SUITS[suit_of(card)] not in deck.suits:
        report.say("R401", place, f"the deck has no {word.strip('<>')}")
        return
    cards[card] += 1
    if cards[card] == deck.packs + 1:
        report.say(
            "R401", place, f"{word.strip('<>')} once too often", f"the deck has {plural(deck.packs, 'pack')}"
        )


def _check_move(node: Scalar, rules: Rules, report: Report) -> None:
    action = events.parse_action(node.text)
    if isinstance(action, events.CardMove):
        for pile in (action.source, action.target):
            problem = _wrong_pile(pile, rules) if pile != "f" else None
            if problem:
                start = node.text.index(pile) if pile == action.source else node.text.rindex(pile)
                report.say("R402", node.part(start, start + len(pile)), *problem)
    elif isinstance(action, events.TurnUp):
        if problem := _wrong_pile(action.pile, rules):
            report.say("R402", node.place, *problem)
    elif action not in {events.DRAW, events.HOME}:
        report.say(
            "R402",
            node.place,
            f"{quoted(node.text)} is not a move",
            "write t5 4 t2 (four cards of t5 onto t2), t5 1 f, draw, home or turn t3",
        )
