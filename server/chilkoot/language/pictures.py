"""The pictures of a deal: ``.UUUUUU *4``, ``<UUU``, ``{foundations: "A*4"}``.

Decides what a picture may hold and turns it into passes, repeats written out. Whether a picture is as wide as the table and
the deck has the cards is decided by ``checks``, which needs to know where each pass was written.
"""

from __future__ import annotations

import re
from typing import Final, Literal, get_args

import msgspec

from chilkoot.cards import RANKS
from chilkoot.language.codes import Report
from chilkoot.language.nodes import Mapping, Node, Scalar, Sequence
from chilkoot.language.rules import DealPass
from chilkoot.language.values import kind_of
from chilkoot.language.words import listed, nearest, quoted

__all__ = ["CARDS_OF_RANK_FORM", "MAX_PASSES", "PICTURE_FORM", "ZONES", "WrittenPass", "read_deal"]

MAX_PASSES: Final = 416
"""Each pass deals a card or more, and no deck has more cards."""

_Zone = Literal["tableau", "foundations", "cells", "reserve", "waste"]
ZONES: Final[dict[str, _Zone]] = {zone: zone for zone in get_args(_Zone)}
"""Where cards can be dealt."""

PICTURE_FORM: Final = r"<? *[UD.]+( *\* *[1-9][0-9]{0,2})?"
CARDS_OF_RANK_FORM: Final = r"(10|[A2-9TJQK]) *\* *[1-9][0-9]?"
"""What a pass looks like, as editors can check it too."""

_PICTURE: Final = re.compile(r"(?P<left><?) *(?P<letters>[UD.]+)(?: *\* *(?P<times>[1-9][0-9]{0,2}))?")
_OF_RANK: Final = re.compile(r"(?P<rank>10|[A2-9TJQK]) *\* *(?P<times>[1-9][0-9]?)")


class WrittenPass(msgspec.Struct, frozen=True):
    """A pass of the deal, the text it was written in, and where in that text its letters begin."""

    rule: DealPass
    written: Scalar
    start: int = 0


def read_deal(node: Node, report: Report) -> tuple[list[WrittenPass], bool]:
    """The passes of a deal in order, and whether all of it could be read."""
    if not isinstance(node, Sequence):
        hint = (
            f"write [{node.text}]"
            if isinstance(node, Scalar) and _PICTURE.fullmatch(node.text)
            else 'begin each pass with "- "'
        )
        report.say("R101", node.place, f'"deal" takes a list of pictures, not {kind_of(node)}', hint)
        return [], False
    passes: list[WrittenPass] = []
    is_whole = True
    for item in node.items:
        more = _read_item(item, report)
        if more is None:
            is_whole = False
        elif len(passes) + len(more) > MAX_PASSES:
            report.say("R114", item.place, f"the deal has more than {MAX_PASSES} passes")
            return passes, False
        else:
            passes += more
    return passes, is_whole


def _read_item(item: Node, report: Report) -> list[WrittenPass] | None:
    if report.is_hopeless:
        return None
    if isinstance(item, Scalar):
        return _read_picture("tableau", item, report)
    if isinstance(item, Sequence) or len(item.entries) != 1:
        report.say(
            "R101",
            item.place,
            f"a pass is a picture or one zone with its picture, not {_shape(item)}",
            "write {cells: .UU.}",
        )
        return None
    ((name, entry),) = item.entries.items()
    if name not in ZONES:
        near = nearest(name, list(ZONES))
        if name == "stock":
            hint = "what is not dealt is the stock; leave this out"
        else:
            hint = f'did you mean "{near}"?' if near else f"cards are dealt to {listed(ZONES)}"
        report.say("R102", entry.key.place, f'unknown key {quoted(name)} in "deal"', hint)
        return None
    if not isinstance(entry.value, Scalar):
        report.say("R101", entry.value.place, f"{quoted(name)} takes a picture, not {kind_of(entry.value)}")
        return None
    zone: _Zone = ZONES[name]
    return _read_picture(zone, entry.value, report)


def _shape(item: Sequence | Mapping) -> str:
    if isinstance(item, Sequence):
        return "a list"
    return "an empty mapping" if not item.entries else "several zones at once"


def _read_picture(zone: _Zone, node: Scalar, report: Report) -> list[WrittenPass] | None:
    if zone == "foundations" and (match := _OF_RANK.fullmatch(node.text)):
        rank = RANKS.index("T" if match["rank"] == "10" else match["rank"])
        return [WrittenPass(DealPass(zone=zone, rank=rank, take=int(match["times"])), node)]
    match = _PICTURE.fullmatch(node.text)
    if match is None or not isinstance(node.value, str):
        _report_letters(zone, node, report)
        return None
    letters, start = match["letters"], match.start("letters")
    if match["left"] and zone != "tableau":
        report.say(
            "R114",
            node.part(0, 1),
            f'only columns are dealt from right to left, not "{zone}"',
            'leave "<" out',
        )
        return None
    if zone in {"waste", "cells", "foundations"} and "D" in letters:
        at = start + letters.index("D")
        report.say("R114", node.part(at, at + 1), f'cards in "{zone}" lie face up', "write U")
        return None
    if zone in {"waste", "foundations"} and "." in letters:
        at = start + letters.index(".")
        report.say(
            "R114", node.part(at, at + 1), f'"{zone}" has no places to skip', "write one U for each card"
        )
        return None
    if not letters.strip("."):
        report.say("R114", node.place, "this pass deals no card", "leave it out")
        return None
    one = WrittenPass(DealPass(zone=zone, picture=letters, leftward=bool(match["left"])), node, start)
    times = int(match["times"] or 1)
    if times > MAX_PASSES:
        report.say("R114", node.place, f"more than {MAX_PASSES} passes")
        return None
    return [one] * times


def _report_letters(zone: str, node: Scalar, report: Report) -> None:
    if node.value is None or not node.text:
        report.say(
            "R114", node.place, "a picture without letters", "write one letter for each place: U, D or ."
        )
        return
    if zone == "foundations":
        hint = 'write U for one card of any rank, or a rank and how many cards of it, as in "A*4"'
        report.say("R114", node.place, f"{quoted(node.text)} is not a picture for the foundations", hint)
        return
    upper = node.text.upper()
    if upper != node.text and _PICTURE.fullmatch(upper):
        report.say("R114", node.place, f"{quoted(node.text)} is not a picture", f'did you mean "{upper}"?')
        return
    odd = re.search("[^UD.]", node.text.removeprefix("<"))
    at = odd.start() + node.text.startswith("<") if odd else 0
    rest = node.text[at:].lstrip()
    if rest[:1] and rest[0] in "*x×0123456789" and at:
        hint = 'a picture is dealt four times with " *4" behind it'
    else:
        hint = "a picture has one letter for each place: U face up, D face down, . none"
    report.say("R114", node.part(at, at + 1), f"{quoted(node.text[at])} can't stand in a picture", hint)
