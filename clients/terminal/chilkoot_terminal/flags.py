"""The flags of `chilkoot play`, apart from the program so that naming them costs nothing."""

from __future__ import annotations

import argparse
from pathlib import Path

__all__ = ["add_flags"]


def _whole(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 20):
        raise argparse.ArgumentTypeError(f"{text[:60]!r} is no whole number")
    return int(text)


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Give a parser the flags of `chilkoot play`."""
    parser.add_argument("variant", nargs="?", metavar="VARIANT", help="which game (default: yours, or yukon)")
    parser.add_argument("--url", help="a server, ws://HOST:PORT; without it one is started for you alone")
    parser.add_argument("--level", type=_whole, help="the level, where the variant has levels")
    parser.add_argument("--deal", help="which deal, such as ck:7 or ms:24; begins a new game")
    parser.add_argument(
        "--board", type=Path, metavar="FILE", help="begin on the board in a file, - for standard input"
    )
    parser.add_argument(
        "--daily", action="store_true", help="the deal of the day, the same for everybody; once a day"
    )
    parser.add_argument("--new", action="store_true", help="begin a new game, although one is unfinished")
    parser.add_argument("--game", metavar="ID", help="join or watch a game that is already there")
    parser.add_argument("--key", help="the key of that game, where it needs one")
    parser.add_argument(
        "--watch", action="store_true", help="only watch it; without --game the newest that is open to all"
    )
    parser.add_argument(
        "--race", type=_whole, metavar="SEATS", help="make a race for so many players; --join lets them in"
    )
    parser.add_argument("--join", metavar="RACE/KEY", help="take a seat in a race")
    parser.add_argument("--ghost", metavar="ID", help="race against the recording of a finished game")
    parser.add_argument("--name", help="the name by which others see you")
    parser.add_argument("--guest", action="store_true", help="keep no identity, and use none")
    parser.add_argument("--private", action="store_true", help="without --url: keep no games either")
    parser.add_argument(
        "--rules", metavar="DIR", type=Path, action="append", default=[], help="without --url: more variants"
    )
    parser.add_argument("--plain", action="store_true", help="plain text line by line, as in a pipe")
    parser.add_argument("--brief", action="store_true", help="in plain text: show the table only when asked")
    parser.add_argument("--ascii", action="store_true", help="9S in place of the suit's sign")
