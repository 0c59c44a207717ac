"""What a person types, read into what is meant. Knows the words, not the table: whether a move fits is not decided here."""

from __future__ import annotations

import difflib
import re
from typing import Final, Literal

import msgspec

__all__ = [
    "HELP",
    "Command",
    "Daily",
    "Fit",
    "Join",
    "Leaders",
    "Move",
    "New",
    "Open",
    "Pick",
    "RaceFor",
    "ReadColumn",
    "Steps",
    "Tap",
    "Unclear",
    "Watch",
    "Watchers",
    "Word",
    "parse",
]

Words = Literal[
    "auto", "board", "draw", "games", "give up", "help", "hint", "home", "legal", "quit", "read", "repeat", "restart", "rules",
    "rematch", "score", "share", "standings", "table", "variants", "watchable",
]  # fmt: skip


class Move(msgspec.Struct, frozen=True):
    """The last `n` cards of a pile onto another; target ``f`` is the foundation that takes the card, ``c`` a free cell."""

    source: str
    n: int
    target: str


class Fit(msgspec.Struct, frozen=True):
    """Whichever cards of a column fit on the other."""

    source: str
    target: str


class Pick(msgspec.Struct, frozen=True):
    """A card by its name, with all that lies on it, onto a pile or a card; without a target only ask where it may go."""

    card: str
    target: str | None = None


class Tap(msgspec.Struct, frozen=True):
    """The last card of a pile: home if it fits there, else tell where it may go."""

    pile: str


class Steps(msgspec.Struct, frozen=True):
    """Take back, or do again, so many actions."""

    word: Literal["undo", "redo"]
    count: int = 1


class New(msgspec.Struct, frozen=True):
    """Deal another game; what is None stays as it is."""

    variant: str | None = None
    level: int | None = None
    deal: str | None = None


class Daily(msgspec.Struct, frozen=True):
    """The deal of the day; without a variant the first that the server has."""

    variant: str | None = None
    level: int | None = None


class Leaders(msgspec.Struct, frozen=True):
    """The best of a day, of its week, or of all time."""

    period: Literal["day", "week", "all"] = "day"
    date: str | None = None


class Open(msgspec.Struct, frozen=True):
    """Take up one of my games: its number in the last list, or its id."""

    game: str


class RaceFor(msgspec.Struct, frozen=True):
    """Make a race for so many players."""

    seats: int


class Join(msgspec.Struct, frozen=True):
    """Take a seat in a race."""

    invitation: str


class Watch(msgspec.Struct, frozen=True):
    """Watch a game: its number in the last list, or its id."""

    game: str


class Watchers(msgspec.Struct, frozen=True):
    """Say who may watch my game."""

    watch: str


class ReadColumn(msgspec.Struct, frozen=True):
    """Say what lies in a column."""

    pile: str


class Word(msgspec.Struct, frozen=True):
    """A command that is a single word."""

    word: Words


class Unclear(msgspec.Struct, frozen=True):
    """Not understood; the message says what would be."""

    message: str


Command = (
    Move
    | Fit
    | Pick
    | Tap
    | Steps
    | New
    | Daily
    | Leaders
    | Open
    | RaceFor
    | Join
    | Watch
    | Watchers
    | ReadColumn
    | Word
    | Unclear
)

HELP: Final = """\
t5 4 t2     the last 4 cards of column 5 onto column 2 (short: 5 4 2)
5 2         whatever fits of column 5 onto column 2
9s 2        the 9 of spades and all on it onto column 2; 9s th: onto the 10♥
9s          where may the 9 of spades go?
5 f   c1 f  the last card of a pile home; a pile alone (5, c1) does so if it can
5 c   c1 3  into a free cell; from a cell to column 3
draw        turn the stock
undo [n]    take back; redo [n]: do it again
home        send home every card that can go
hint  auto  what would the server do?  let it do it
legal       list every move; table, board, read, column 5, score: look at the table
give up     end the game as lost (asks once more)
restart     the same deal again, as a new game
new         another game; also new yakutat-bay, new yukon-thicket 3, new ms:24
games       my games; open 2 takes up the second
daily       the deal of the day; leaders [week]: the best of it; share: a text
race 2      a race for 2 players; standings; rematch; join RACE/KEY: take a seat
watchable   games to watch; watch 2: the second; watchers open, key, closed: of mine
variants    the games that may be played here; rules: how to play this one
repeat      the last message again
quit        leave; the game is kept"""

_WORDS: Final[dict[str, Words]] = {
    "a": "auto", "auto": "auto",
    "b": "board", "board": "board",
    "d": "draw", "draw": "draw", "deal": "draw", "stock": "draw",
    "g": "games", "games": "games",
    "give up": "give up", "giveup": "give up", "give_up": "give up", "resign": "give up",
    "help": "help", "?": "help", "commands": "help",
    "h": "hint", "hint": "hint",
    "s": "home", "home": "home", "send home": "home",
    "m": "legal", "legal": "legal", "moves": "legal",
    "q": "quit", "quit": "quit", "exit": "quit", "bye": "quit",
    "read": "read", "read table": "read",
    "l": "repeat", "repeat": "repeat", "again": "repeat",
    "rematch": "rematch",
    "restart": "restart",
    "rules": "rules", "how to play": "rules",
    "score": "score", "status": "score",
    "share": "share",
    "standings": "standings", "race": "standings", "places": "standings",
    "t": "table", "table": "table", "look": "table",
    "v": "variants", "variants": "variants",
    "watchable": "watchable", "watch": "watchable",
}  # fmt: skip
_STEPS: Final[dict[str, Literal["undo", "redo"]]] = {"u": "undo", "undo": "undo", "r": "redo", "redo": "redo"}
_PILE: Final = re.compile(r"[tcrfsw][1-9][0-9]{0,2}")
_NUMBER: Final = re.compile(r"[1-9][0-9]{0,2}")
_CARD: Final = re.compile(r"(a|[2-9]|t|10|j|q|k)([cdhs♣♦♥♠])")
_SUITS: Final = {"♣": "c", "♦": "d", "♥": "h", "♠": "s"}
_DEAL: Final = re.compile(r"(ck|ms):[0-9a-f]{1,64}")
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_PERIODS: Final[dict[str, Literal["day", "week", "all"]]] = {
    "day": "day", "today": "day", "daily": "day", "week": "week", "all": "all", "ever": "all", "all time": "all",
}  # fmt: skip
_HOME: Final = frozenset({"f", "home"})
_LONGEST: Final = 200


def parse(line: str) -> Command:
    """Read one line; an empty one asks for the table."""
    text = " ".join(line.casefold().split())
    if len(text) > _LONGEST:
        return Unclear("That line is too long to be a command.")
    if not text:
        return Word("table")
    if text in _WORDS:
        return Word(_WORDS[text])
    words = text.split(" ")
    return _known_first(words, line.split()) or _piles(words) or Unclear(_unclear(text, words[0]))


def _known_first(words: list[str], written: list[str]) -> Command | None:
    first, rest = words[0], words[1:]
    if first in _STEPS and len(rest) <= 1 and all(_NUMBER.fullmatch(word) for word in rest):
        return Steps(_STEPS[first], int(rest[0]) if rest else 1)
    if first in {"n", "new"}:
        return _new(rest)
    if first == "daily":
        return _daily(rest)
    if first in {"leaderboard", "leaders", "lb"}:
        return _leaders(rest)
    if first in {"open", "o"} and len(rest) == 1:
        return Open(written[1])
    if first == "race" and len(rest) == 1 and _NUMBER.fullmatch(rest[0]):
        return RaceFor(int(rest[0]))
    if first == "join" and len(rest) == 1:
        # Ids and keys are not words: capitals count.
        return Join(written[1])
    if first == "watch" and len(rest) == 1:
        return Watch(written[1])
    if first == "watchers" and len(rest) == 1 and rest[0] in {"open", "key", "closed"}:
        return Watchers(rest[0])
    if first in {"column", "col"} and len(rest) == 1 and (pile := _pile(rest[0])):
        return ReadColumn(pile)
    return None


def _new(words: list[str]) -> Command:
    variant, level, deal = None, None, None
    for word in words:
        if _DEAL.fullmatch(word):
            deal = word
        elif word.isascii() and word.isdecimal() and len(word) < 4:
            level = int(word)
        elif word != "level" and variant is None:
            variant = word
        elif word != "level":
            return Unclear(
                f"`new` takes a variant, a level and a deal, such as `new yukon ms:24`, not `{word}`."
            )
    return New(variant, level, deal)


def _daily(words: list[str]) -> Command:
    found = _new(words)
    if isinstance(found, New) and found.deal is None:
        return Daily(found.variant, found.level)
    return Unclear("`daily` takes a variant and a level, such as `daily yukon-thicket 2`.")


def _leaders(words: list[str]) -> Command:
    dates = [word for word in words if _DATE.fullmatch(word)]
    period = " ".join(word for word in words if word not in dates)
    if len(dates) > 1 or (period and period not in _PERIODS):
        return Unclear("`leaderboard` takes `week`, `all` or a date, such as `leaderboard week 2026-11-29`.")
    return Leaders(_PERIODS.get(period, "day"), dates[0] if dates else None)


def _piles(words: list[str]) -> Command | None:
    # `to` and `onto` may be said, and mean nothing.
    words = [word for word in words if word not in {"to", "onto", "on"}]
    if len(words) == 1:
        if pile := _pile(words[0]):
            return Tap(pile)
        return Pick(card) if (card := _card(words[0])) else None
    if len(words) == 2:
        target = _target(words[1])
        if (pile := _pile(words[0])) and target:
            return Fit(pile, target) if pile[0] == "t" and target[0] == "t" else Move(pile, 1, target)
        if card := _card(words[0]):
            onto = target or _card(words[1])
            return Pick(card, onto) if onto else None
        return None
    if len(words) == 3 and _NUMBER.fullmatch(words[1]):
        pile, target = _pile(words[0]), _target(words[2])
        return Move(pile, int(words[1]), target) if pile and target else None
    return None


def _pile(word: str) -> str | None:
    if _PILE.fullmatch(word):
        return word
    return f"t{word}" if _NUMBER.fullmatch(word) and len(word) < 3 else None


def _target(word: str) -> str | None:
    if word in _HOME:
        return "f"
    return "c" if word in {"c", "cell"} else _pile(word)


def _card(word: str) -> str | None:
    match = _CARD.fullmatch(word)
    if match is None:
        return None
    rank = "t" if match[1] == "10" else match[1]
    return (rank + _SUITS.get(match[2], match[2])).upper()


def _unclear(text: str, first: str) -> str:
    known = [
        word
        for word in (*_WORDS, *_STEPS, "new", "open", "column", "daily", "leaderboard", "join", "watchers")
        if len(word) > 2
    ]
    near = difflib.get_close_matches(text, known, 1, 0.7) or difflib.get_close_matches(first, known, 1, 0.7)
    shown = text if len(text) <= 40 else f"{text[:40]}…"
    shown = "".join(letter if letter.isprintable() else "?" for letter in shown)
    if near:
        return f"`{shown}` is no command; did you mean `{near[0]}`?"
    return f"`{shown}` is no command; `help` lists them. A move is written like `t5 4 t2`."
