"""What a client may say: one frozen struct a command, written once; the union of all of them is what is decoded.

Types and bounds only. Whether a pile exists, a game may be seen or a move fits is decided at the table; so piles and ids
are any short text here, counts any machine integer. No field may be untyped, and no map may have integer keys (both can be
made expensive by whoever writes the frame).
"""

from __future__ import annotations

import re
import sys
from typing import Annotated, Final, Literal

import msgspec

from chilkoot.discretion import discreet

__all__ = [
    "COMMANDS",
    "Act",
    "Analyse",
    "Auto",
    "Command",
    "Daily",
    "DailyStart",
    "Draw",
    "Games",
    "GiveUp",
    "Hello",
    "Hint",
    "Home",
    "Join",
    "Leaderboard",
    "Leave",
    "Legal",
    "Move",
    "New",
    "Period",
    "Ping",
    "Race",
    "RaceJoin",
    "RaceLeave",
    "Recording",
    "Redo",
    "Rematch",
    "Replay",
    "Restart",
    "Rules",
    "SetWatch",
    "Stats",
    "Sync",
    "Tap",
    "Undo",
    "Variants",
    "Watch",
    "Watchable",
    "command_fields",
]

MAX_ID: Final = 2**53 - 1

Id = Annotated[int, msgspec.Meta(ge=1, le=MAX_ID)]
Int = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
"""An integer that any database and language can hold; what lies outside of what makes sense is answered by its rule."""
Float = Annotated[float, msgspec.Meta(ge=-sys.float_info.max, le=sys.float_info.max)]
"""A number that JSON can write, too: MessagePack has some that are none."""
GameId = Annotated[str, msgspec.Meta(max_length=64)]
Pile = Annotated[str, msgspec.Meta(max_length=64)]
VariantId = Annotated[str, msgspec.Meta(max_length=64)]
Secret = Annotated[str, msgspec.Meta(max_length=200)]
Date = Annotated[str, msgspec.Meta(max_length=32)]
Watch = Literal["open", "key", "closed"]
Period = Literal["day", "week", "all"]


def _snake(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


class Command(
    msgspec.Struct,
    frozen=True,
    forbid_unknown_fields=True,
    omit_defaults=True,
    kw_only=True,
    tag_field="type",
    tag=_snake,
):
    """What every command has: the id that its one reply carries as `re`."""

    id: Id


class Act(Command, frozen=True, kw_only=True):
    """What every action on a table has; `base` is the last `seq` the client saw."""

    game: GameId
    base: Int


class Hello(Command, frozen=True, kw_only=True):
    """A name, an identity, a session to resume, and the last `seq` seen of each game."""

    name: Annotated[str, msgspec.Meta(max_length=200)] | None = None
    token: Secret | None = None
    session: Secret | None = None
    # Any integer: a client that lost count gets a snapshot, not an error.
    games: Annotated[dict[GameId, int], msgspec.Meta(max_length=32)] | None = None

    __repr__ = discreet


class Variants(Command, frozen=True, kw_only=True):
    """Which games there are."""


class Rules(Command, frozen=True, kw_only=True):
    """One variant's rules."""

    variant: VariantId


class New(Command, frozen=True, kw_only=True):
    """A new game: a fresh deal, a numbered one, or a board."""

    variant: VariantId
    level: Int | None = None
    deal: Annotated[str, msgspec.Meta(max_length=100)] | None = None
    cards: Annotated[str, msgspec.Meta(max_length=8000)] | None = None
    winnable: bool | None = None
    watch: Watch = "open"

    __repr__ = discreet


class Join(Command, frozen=True, kw_only=True):
    """Look at a game, or play it together with its owner."""

    game: GameId
    role: Literal["spectator", "player"] = "spectator"
    key: Secret | None = None

    __repr__ = discreet


class Sync(Command, frozen=True, kw_only=True):
    """The table as it is now."""

    game: GameId


class Leave(Command, frozen=True, kw_only=True):
    """No more events of this game."""

    game: GameId


class Games(Command, frozen=True, kw_only=True):
    """My games, newest first; `before` is the last game of the page before."""

    state: Literal["playing", "over"] | None = None
    limit: Annotated[int, msgspec.Meta(ge=1, le=100)] = 20
    before: GameId | None = None


class Move(Act, frozen=True, kw_only=True):
    """The last `n` cards of one pile onto another, or ``f`` for the foundation that takes it."""

    source: Pile = msgspec.field(name="from")
    target: Pile = msgspec.field(name="to")
    n: Int = 1


class Tap(Act, frozen=True, kw_only=True):
    """A card is touched: it goes home, turns up, or its targets are told."""

    pile: Pile
    n: Int = 1


class Draw(Act, frozen=True, kw_only=True):
    """Turn the stock."""


class Undo(Act, frozen=True, kw_only=True):
    """Take back the last `count` actions."""

    count: Int = 1


class Redo(Act, frozen=True, kw_only=True):
    """Do again what was taken back."""

    count: Int = 1


class Home(Act, frozen=True, kw_only=True):
    """Send home whatever fits."""


class Auto(Act, frozen=True, kw_only=True):
    """One move of the server's policy."""


class GiveUp(Act, frozen=True, kw_only=True):
    """End the game."""


class Hint(Command, frozen=True, kw_only=True):
    """What the policy would do."""

    game: GameId


class Legal(Command, frozen=True, kw_only=True):
    """Every move that would be accepted."""

    game: GameId


class Restart(Command, frozen=True, kw_only=True):
    """A new game on the same deal."""

    game: GameId


class Recording(Command, frozen=True, kw_only=True):
    """The portable record of a game."""

    game: GameId


class Replay(Command, frozen=True, kw_only=True):
    """A finished game, shown in time, from the `seq` in `start` on."""

    game: GameId
    start: Int = msgspec.field(name="from", default=0)
    speed: Annotated[float, msgspec.Meta(gt=0, le=sys.float_info.max)] = 1.0


class Analyse(Command, frozen=True, kw_only=True):
    """Where a finished game could still be won."""

    game: GameId


class Daily(Command, frozen=True, kw_only=True):
    """The deal of a day: today's, or that of a day gone by."""

    variant: VariantId | None = None
    level: Int | None = None
    date: Date | None = None


class DailyStart(Command, frozen=True, kw_only=True):
    """Today's ranked attempt."""

    variant: VariantId | None = None
    level: Int | None = None


class Leaderboard(Command, frozen=True, kw_only=True):
    """The results of a day, of the week it lies in, or of all time; `after` is `next` of the page before."""

    variant: VariantId | None = None
    level: Int | None = None
    date: Date | None = None
    period: Period = "day"
    limit: Annotated[int, msgspec.Meta(ge=1, le=100)] = 20
    after: Annotated[str, msgspec.Meta(max_length=100)] | None = None


class Race(Command, frozen=True, kw_only=True):
    """A deal for several players at once: of a variant, or that of a finished game, against its recording."""

    variant: VariantId | None = None
    level: Int | None = None
    seats: Annotated[int, msgspec.Meta(ge=1, le=256)] = 1
    ghost: GameId | None = None


class RaceJoin(Command, frozen=True, kw_only=True):
    """A seat in a race; who has one already needs no key."""

    race: GameId
    key: Secret | None = None

    __repr__ = discreet


class RaceLeave(Command, frozen=True, kw_only=True):
    """My seat in a race is free again, or what I play counts there no longer."""

    race: GameId


class Rematch(Command, frozen=True, kw_only=True):
    """Another race with those of a race that is over."""

    race: GameId


class Watchable(Command, frozen=True, kw_only=True):
    """Games that are played now and open to all, newest first."""

    variant: VariantId | None = None
    limit: Annotated[int, msgspec.Meta(ge=1, le=100)] = 20


class SetWatch(Command, frozen=True, kw_only=True, tag="watch"):
    """Who may watch my game from now on."""

    game: GameId
    watch: Watch


class Stats(Command, frozen=True, kw_only=True):
    """My results."""

    variant: VariantId | None = None
    level: Int | None = None


class Ping(Command, frozen=True, kw_only=True):
    """Is anybody there; `t` comes back as it was."""

    t: Int | Float | None = None


AnyCommand = (
    Hello | Variants | Rules | New | Join | Sync | Leave | Games | Move | Tap | Draw | Undo | Redo | Home | Auto | Hint
    | Legal | GiveUp | Restart | Recording | Replay | Analyse | Daily | DailyStart | Leaderboard | Race | RaceJoin | RaceLeave | Rematch | Watchable
    | SetWatch | Stats
    | Ping
)  # fmt: skip

COMMANDS: Final[dict[str, type[Command]]] = {
    str(kind.__struct_config__.tag): kind
    for kind in (
        Hello, Variants, Rules, New, Join, Sync, Leave, Games, Move, Tap, Draw, Undo, Redo, Home, Auto, Hint, Legal,
        GiveUp, Restart, Recording, Replay, Analyse, Daily, DailyStart, Leaderboard, Race, RaceJoin, RaceLeave, Rematch, Watchable, SetWatch,
        Stats, Ping,
    )
}  # fmt: skip
"""Every command by its `type`."""


def command_fields(kind: type[Command]) -> tuple[str, ...]:
    """The names of a command's fields as they are on the wire."""
    return ("type", *kind.__struct_encode_fields__)
