"""`chilkoot rules show`: a deal as a picture, drawn as the terminal client draws the table."""

from __future__ import annotations

import argparse
import os
import shutil
import sys

import msgspec

from chilkoot.cli.faults import USAGE, CommandFailed
from chilkoot.cli.json_lines import print_json
from chilkoot.cli.variants import find_level
from chilkoot.engine import DealError, Game
from chilkoot_terminal.draw import Style, draw_table

__all__ = ["SIGNS", "Picture", "can_write", "show"]

SIGNS = "♣♦♥♠·"
"""What the table is drawn with, where standard output knows it."""


class Picture(msgspec.Struct, frozen=True):
    """A table as it is drawn."""

    piles: dict[str, list[str]]


def show(flags: argparse.Namespace) -> int:
    """Show a deal as the player sees it."""
    variant, level = find_level(flags.variant, flags.level, flags.rules)
    try:
        game = Game.start(level.rules, flags.deal)
    except DealError as error:
        raise CommandFailed(error.message, USAGE) from None
    if flags.json:
        print_json(variant=variant.id, level=level.number, deal=game.deal, piles=game.view())
        return 0
    style = Style(
        symbols=not flags.ascii and can_write(SIGNS),
        colour=sys.stdout.isatty() and not os.environ.get("NO_COLOR"),
    )
    at_level = f", level {level.number}" if level.number is not None else ""
    print(f"{variant.name}{at_level}, deal {flags.deal}\n")
    width = shutil.get_terminal_size((80, 24)).columns if sys.stdout.isatty() else 80
    print("\n".join(draw_table(Picture(game.view()), style, width=width)))
    return 0


def can_write(text: str) -> bool:
    """Whether standard output knows these characters."""
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
