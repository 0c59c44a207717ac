"""What the server says, as types. Fields that are not listed here are ignored, as PROTOCOL asks of every client.

Only what this library gives a meaning to has a type of its own; any other message arrives as `Other`.
"""

from __future__ import annotations

import contextlib
from typing import Any, Final, Literal

import msgspec

__all__ = [
    "Analysis",
    "Can",
    "Commitment",
    "Daily",
    "DailyOffer",
    "DailyResult",
    "Diff",
    "Dismissed",
    "Draining",
    "ErrorMessage",
    "GameEntry",
    "Games",
    "Hint",
    "Leaderboard",
    "Legal",
    "LegalMove",
    "Message",
    "Move",
    "Ok",
    "Op",
    "Other",
    "Pong",
    "Presence",
    "RaceMessage",
    "RaceProgress",
    "RaceSeat",
    "RefusedMessage",
    "ReplayEnd",
    "RulesPage",
    "Snapshot",
    "Standing",
    "Stats",
    "Status",
    "Targets",
    "Turn",
    "VariantEntry",
    "Variants",
    "Watch",
    "Watchable",
    "WatchableGame",
    "Welcome",
    "message_from",
]

Status = Literal["playing", "won", "lost", "stuck"]


class Move(msgspec.Struct, frozen=True, tag_field="op", tag="move"):
    """The last `n` cards of one pile go onto another, in order; with `flip` reversed and turned over."""

    source: str = msgspec.field(name="from")
    target: str = msgspec.field(name="to")
    n: int
    flip: bool = False


class Turn(msgspec.Struct, frozen=True, tag_field="op", tag="turn"):
    """The card at index `at` (0 is the bottom) of `pile` now shows `card`, ``??`` where it was turned down."""

    pile: str
    at: int
    card: str


Op = Move | Turn


class Can(msgspec.Struct, frozen=True):
    """Which commands the server would accept from the player right now."""

    undo: bool = False
    redo: bool = False
    home: bool = False
    auto: bool = False
    hint: bool = False
    draw: bool = False


class Welcome(msgspec.Struct, frozen=True, tag_field="type", tag="welcome"):
    """Who we are to the server. `token` is the identity (a secret), `session` the chain of connections."""

    token: str
    session: str
    resumed: bool = False
    player: Any = None
    limits: dict[str, Any] = {}
    heartbeat: float | None = None
    re: int | None = None


class Snapshot(msgspec.Struct, frozen=True, tag_field="type", tag="snapshot", kw_only=True):
    """A whole table at one moment."""

    game: str
    seq: int
    variant: str
    piles: dict[str, tuple[str, ...]]
    check: str
    level: int | None = None
    rules_hash: str = ""
    deal: str | None = None
    status: Status = "playing"
    score: int = 0
    moves: int = 0
    undos: int = 0
    can: Can = Can()
    result: str | None = None
    role: str = "spectator"
    key: str | None = None
    watch: str | None = None
    watch_key: str | None = None
    viewers: Any = None
    accepts: Any = None
    winnable: str | None = None
    contest: str | None = None
    re: int | None = None
    replay: int | None = None


class Diff(msgspec.Struct, frozen=True, tag_field="type", tag="diff", kw_only=True):
    """What one accepted action did. A field that is None did not change; `moves` None means one more."""

    game: str
    seq: int
    ops: tuple[Op, ...]
    check: str
    by: str | None = None
    cause: str | None = None
    status: Status | None = None
    score: int | None = None
    moves: int | None = None
    can: Can | None = None
    undos: int | None = None
    result: str | None = None
    re: int | None = None
    replay: int | None = None


class Targets(msgspec.Struct, frozen=True, tag_field="type", tag="targets"):
    """The piles that accept the cards which were tapped."""

    game: str
    seq: int
    targets: tuple[str, ...]
    re: int | None = None


class LegalMove(msgspec.Struct, frozen=True):
    """A move that the server would accept."""

    source: str = msgspec.field(name="from")
    n: int
    target: str = msgspec.field(name="to")


class Legal(msgspec.Struct, frozen=True, tag_field="type", tag="legal"):
    """Every move that the server would accept, and whether the stock may be turned."""

    game: str
    seq: int
    moves: tuple[LegalMove, ...]
    draw: bool = False
    re: int | None = None


class Hint(msgspec.Struct, frozen=True, tag_field="type", tag="hint"):
    """What the server's policy would do; `message` is a sentence for people."""

    game: str
    seq: int
    action: str
    message: str = ""
    move: LegalMove | None = None
    re: int | None = None


class GameEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the list of my games; `started` and `ended` are milliseconds since 1970, UTC."""

    game: str
    variant: str
    level: int | None = None
    seq: int = 0
    status: Status = "playing"
    result: str | None = None
    score: int = 0
    moves: int = 0
    undos: int = 0
    started: int = 0
    ended: int | None = None
    contest: str | None = None
    deal: str | None = None


class Games(msgspec.Struct, frozen=True, tag_field="type", tag="games"):
    """My games, newest first."""

    games: tuple[GameEntry, ...]
    more: bool = False
    re: int | None = None


class VariantEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A game that may be played here."""

    id: str
    name: str = ""
    family: str = ""
    levels: tuple[int, ...] = ()
    default_level: int | None = None
    summary: str = ""
    cards: int = 52
    rules_hash: str = ""


class Variants(msgspec.Struct, frozen=True, tag_field="type", tag="variants"):
    """The games that may be played here."""

    variants: tuple[VariantEntry, ...]
    re: int | None = None


class RulesPage(msgspec.Struct, frozen=True, tag_field="type", tag="rules", kw_only=True):
    """How a variant is written down (`source`), what was read from it, and how it is played (`text`, Markdown)."""

    variant: str
    source: str = ""
    rules_hash: str = ""
    text: str = ""
    re: int | None = None


class Stats(msgspec.Struct, frozen=True, tag_field="type", tag="stats", kw_only=True):
    """My record."""

    started: int = 0
    finished: int = 0
    won: int = 0
    best: int | None = None
    streak: int = 0
    re: int | None = None


class DailyOffer(msgspec.Struct, frozen=True, kw_only=True):
    """A game that has a deal a day."""

    variant: str
    level: int | None = None


class Commitment(msgspec.Struct, frozen=True, kw_only=True):
    """What was published of a day's deal before anybody could know it; ``clients/verify_daily.py`` checks it."""

    season: str
    days: int
    day: int
    root: str
    published: int = 0
    seed: str = ""
    beacon: str = ""
    announced: int = 0


class DailyResult(msgspec.Struct, frozen=True, kw_only=True):
    """How my attempt ended; `ms` is the server's time from the deal to the last action."""

    won: bool
    score: int
    help: str
    moves: int
    ms: int
    undos: int = 0
    hints: int = 0
    autos: int = 0
    ranked: bool = False
    rank: int | None = None


class Daily(msgspec.Struct, frozen=True, tag_field="type", tag="daily", kw_only=True):
    """The deal of a day, and mine of it; times are milliseconds since 1970, UTC."""

    date: str
    variant: str
    state: str
    commitment: Commitment
    level: int | None = None
    rules_hash: str = ""
    game: str | None = None
    result: DailyResult | None = None
    streak: int = 0
    best_streak: int = 0
    opens: int = 0
    closes: int = 0
    reveals: int = 0
    now: int = 0
    proof: str = "pending"
    nonce: int | None = None
    solver: int | None = None
    positions: int | None = None
    solution_hash: str | None = None
    revealed: bool = False
    key: str | None = None
    deal: str | None = None
    solution: tuple[str, ...] | None = None
    offered: tuple[DailyOffer, ...] = ()
    re: int | None = None


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a leaderboard; `player` has an `id` and, where there is one, a `name`."""

    rank: int
    player: dict[str, str]
    days: int = 1
    won: int = 0
    score: int = 0
    help: str = "clean"
    assisted: int = 0
    moves: int = 0
    ms: int = 0
    game: str | None = None


class Leaderboard(msgspec.Struct, frozen=True, tag_field="type", tag="leaderboard", kw_only=True):
    """A page of results, best first; `next` asks for the page after it, `around` are the lines about my own."""

    variant: str
    period: str
    entries: tuple[Standing, ...]
    level: int | None = None
    date: str | None = None
    total: int = 0
    next: str | None = None
    me: Standing | None = None
    around: tuple[Standing, ...] = ()
    re: int | None = None


class Ok(msgspec.Struct, frozen=True, tag_field="type", tag="ok"):
    """Done; there is nothing to say about it."""

    re: int | None = None


class Pong(msgspec.Struct, frozen=True, tag_field="type", tag="pong"):
    """The answer to a ping; `time` is the server's clock, milliseconds since 1970, UTC."""

    t: float | None = None
    time: int | None = None
    re: int | None = None


class RaceSeat(msgspec.Struct, frozen=True, kw_only=True):
    """How a seat of a race stands; `ms` is the time from the start to the end of its game."""

    seat: int
    status: str = "waiting"
    score: int = 0
    moves: int = 0
    player: dict[str, Any] | None = None
    ghost: bool = False
    place: int | None = None
    ms: int | None = None

    @property
    def name(self) -> str:
        """The player's name, or which seat it is."""
        named = (self.player or {}).get("name")
        return named if isinstance(named, str) and named else f"seat {self.seat}"


class RaceMessage(msgspec.Struct, frozen=True, tag_field="type", tag="race", kw_only=True):
    """A whole race as one of its players sees it; times are milliseconds since 1970, UTC, by the server's clock."""

    race: str
    state: str
    key: str = ""
    variant: str = ""
    level: int | None = None
    seats: int = 0
    players: tuple[RaceSeat, ...] = ()
    seat: int | None = None
    game: str | None = None
    ghost: str | None = None
    starts: int | None = None
    ends: int | None = None
    ended: int | None = None
    deal: str | None = None
    previous: str | None = None
    next: str | None = None
    time: int = 0
    re: int | None = None


class RaceProgress(msgspec.Struct, frozen=True, tag_field="type", tag="race_progress"):
    """How the seats of a race stand that changed."""

    race: str
    players: tuple[RaceSeat, ...] = ()


class WatchableGame(msgspec.Struct, frozen=True, kw_only=True):
    """A game that is played now and open to all."""

    game: str
    variant: str = ""
    level: int | None = None
    player: str | None = None
    status: Status = "playing"
    score: int = 0
    moves: int = 0
    viewers: int = 0
    started: int = 0


class Watchable(msgspec.Struct, frozen=True, tag_field="type", tag="watchable"):
    """The games that are played now and open to all, newest first."""

    games: tuple[WatchableGame, ...] = ()
    re: int | None = None


class Watch(msgspec.Struct, frozen=True, tag_field="type", tag="watch", kw_only=True):
    """Who may watch a game of mine from now on."""

    game: str
    watch: str
    watch_key: str | None = None
    seq: int = 0
    re: int | None = None


class Dismissed(msgspec.Struct, frozen=True, tag_field="type", tag="dismissed"):
    """Its player has closed a game that we watched."""

    game: str
    seq: int = 0


class Presence(msgspec.Struct, frozen=True, tag_field="type", tag="presence"):
    """How many look at a game now."""

    game: str
    viewers: Any = None


class Draining(msgspec.Struct, frozen=True, tag_field="type", tag="draining"):
    """The server is about to go away; connecting again makes sense after that time."""

    retry_after_ms: int = 0


class Analysis(msgspec.Struct, frozen=True, tag_field="type", tag="analysis", kw_only=True):
    """Where a finished game could still be won.

    A verdict (`winnable`, `lost`, `unknown`) of the deal and of the position after each action, the last that could be won,
    and a winning line from there.
    """

    game: str
    solver: int = 0
    verdicts: list[str] = []
    last_winnable: int | None = None
    line: list[str] = []
    re: int | None = None


class ReplayEnd(msgspec.Struct, frozen=True, tag_field="type", tag="replay_end"):
    """A replay has shown all there is."""

    game: str | None = None
    replay: int | None = None


class RefusedMessage(msgspec.Struct, frozen=True, tag_field="type", tag="refused"):
    """The rules say no; the library raises it as `Refused`."""

    game: str
    seq: int
    code: str
    message: str
    detail: dict[str, Any] | None = None
    re: int | None = None


class ErrorMessage(msgspec.Struct, frozen=True, tag_field="type", tag="error"):
    """The server says no; the library raises it as `Error` where it answers a request."""

    code: str
    message: str
    detail: dict[str, Any] | None = None
    retry_after_ms: int | None = None
    re: int | None = None


class Other(msgspec.Struct, frozen=True):
    """A message of a type that this library gives no meaning to, with all its fields."""

    type: str
    fields: dict[str, Any]
    re: int | None = None


Message = (
    Welcome
    | Snapshot
    | Diff
    | Targets
    | Legal
    | Hint
    | Games
    | Variants
    | RulesPage
    | Stats
    | Daily
    | Leaderboard
    | Ok
    | Pong
    | Presence
    | RaceMessage
    | RaceProgress
    | Watchable
    | Watch
    | Dismissed
    | Draining
    | Analysis
    | ReplayEnd
    | RefusedMessage
    | ErrorMessage
    | Other
)

_TYPES: Final[dict[str, type[Any]]] = {
    str(kind.__struct_config__.tag): kind
    for kind in (
        Welcome,
        Snapshot,
        Diff,
        Targets,
        Legal,
        Hint,
        Games,
        Variants,
        RulesPage,
        Stats,
        Daily,
        Leaderboard,
        Ok,
        Pong,
        Presence,
        RaceMessage,
        RaceProgress,
        Watchable,
        Watch,
        Dismissed,
        Draining,
        Analysis,
        ReplayEnd,
        RefusedMessage,
        ErrorMessage,
    )
}


def message_from(fields: dict[str, Any]) -> Message:
    """The message that a decoded frame holds.

    A frame of a later protocol may have fields that look otherwise than we know them: it comes as `Other`, so that a
    reply still reaches its request and a diff that cannot be read shows as a gap.
    """
    name = fields.get("type")
    kind = _TYPES.get(name) if isinstance(name, str) else None
    if kind is not None:
        with contextlib.suppress(msgspec.ValidationError):
            message: Message = msgspec.convert(fields, kind)
            return message
    re = fields.get("re")
    return Other(str(name), fields, re if isinstance(re, int) else None)
