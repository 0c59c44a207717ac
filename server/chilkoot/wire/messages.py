"""What the server says: replies and events, each written once as a frozen struct.

Optional fields are UNSET where there is nothing to say, so they are absent on the wire. Nothing is computed here; in
particular, what a viewer may see was decided before one of these was made (`table.view`).
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

from chilkoot.discretion import discreet
from chilkoot.events import By, Op, Result, Status
from chilkoot.wire.commands import Period, Watch, _snake

__all__ = [
    "AnalysisReply",
    "Can",
    "CardMoves",
    "Commitment",
    "Contest",
    "DailyOffer",
    "DailyReply",
    "DailyResult",
    "Diff",
    "Dismissed",
    "Draining",
    "Error",
    "GameEntry",
    "GameList",
    "Help",
    "HintAction",
    "HintReply",
    "LeaderboardReply",
    "LegalReply",
    "Message",
    "Ok",
    "Player",
    "Pong",
    "Presence",
    "RaceProgress",
    "RaceReply",
    "RaceSeat",
    "RaceState",
    "RecordingReply",
    "Refused",
    "ReplayEnd",
    "Role",
    "RulesReply",
    "SeatStatus",
    "Snapshot",
    "Standing",
    "StatsReply",
    "Targets",
    "VariantEntry",
    "VariantList",
    "WatchReply",
    "WatchableGame",
    "WatchableList",
    "Welcome",
]

Role = Literal["player", "spectator"]
Help = Literal["clean", "assisted"]
"""Whether a game was played without undo, hint and auto."""

RaceState = Literal["waiting", "running", "over"]
SeatStatus = Literal["waiting", "playing", "stuck", "won", "lost", "left", "late"]
HintAction = Literal["move", "draw", "home", "none"]
Verdict = Literal["winnable", "lost", "unknown"]
Contest = Literal["daily", "race"]
"""What a game counts in, where others play the same deal."""

Cause = Literal["draw", "home", "undo", "redo", "turn", "give_up", "concede"]


class Message(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True, tag_field="type", tag=_snake):
    """What every message has: `re`, the id of the command it answers, absent in events."""

    re: int | UnsetType = UNSET


class Player(msgspec.Struct, frozen=True, omit_defaults=True):
    """Who somebody is: a public id and, where one was given, a name."""

    id: str
    name: str | UnsetType = UNSET


class Welcome(Message, frozen=True, kw_only=True):
    """The reply to `hello`."""

    player: Player
    token: str
    session: str
    resumed: bool
    limits: dict[str, int | float]
    heartbeat: float
    protocol: int

    __repr__ = discreet


class VariantEntry(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One variant in a list; `rules_hash` is that of the default level, `cards` how many are played with."""

    id: str
    name: str
    family: str
    levels: list[int]
    summary: str
    cards: int
    rules_hash: str
    default_level: int | UnsetType = UNSET
    winnable: Literal["prefer", "require"] | UnsetType = UNSET

    __repr__ = discreet


class VariantList(Message, frozen=True, kw_only=True, tag="variants"):
    """The reply to `variants`."""

    variants: list[VariantEntry]


class RulesReply(Message, frozen=True, kw_only=True, tag="rules"):
    """The reply to `rules`: the YAML, the compiled rules of the default level (and of each level), how to play."""

    variant: str
    source: str
    rules_hash: str
    compiled: msgspec.Raw
    text: str
    levels: dict[str, msgspec.Raw] | UnsetType = UNSET


class Can(msgspec.Struct, frozen=True):
    """Which of the player's commands would be accepted now."""

    undo: bool
    redo: bool
    home: bool
    auto: bool
    hint: bool
    draw: bool


class Snapshot(Message, frozen=True, kw_only=True):
    """A whole table as one viewer may see it."""

    game: str
    seq: int
    variant: str
    level: int | UnsetType = UNSET
    rules_hash: str
    deal: str | UnsetType = UNSET
    piles: dict[str, list[str]]
    status: Status
    score: int
    moves: int
    undos: int
    can: Can
    result: Result | UnsetType = UNSET
    accepts: str | list[str] | UnsetType = UNSET
    winnable: Literal["proved", "not_proved"] | UnsetType = UNSET
    contest: Contest | UnsetType = UNSET
    role: Role
    key: str | UnsetType = UNSET
    watch: Watch | UnsetType = UNSET
    watch_key: str | UnsetType = UNSET
    viewers: int
    check: str
    replay: int | UnsetType = UNSET

    __repr__ = discreet


class Diff(Message, frozen=True, kw_only=True):
    """What one action did; beyond `ops` and `check` only what changed."""

    game: str
    seq: int
    ops: list[Op]
    check: str
    by: By | UnsetType = UNSET
    cause: Cause | UnsetType = UNSET
    status: Status | UnsetType = UNSET
    score: int | UnsetType = UNSET
    moves: int | UnsetType = UNSET
    undos: int | UnsetType = UNSET
    can: Can | UnsetType = UNSET
    # null where a loss was undone
    result: Result | UnsetType | None = UNSET
    replay: int | UnsetType = UNSET


class Ok(Message, frozen=True, kw_only=True):
    """Done, and nothing to tell."""


class GameEntry(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One of my games."""

    game: str
    variant: str
    level: int | UnsetType = UNSET
    seq: int
    status: Status
    result: Result | UnsetType = UNSET
    score: int
    moves: int
    undos: int
    started: int
    ended: int | UnsetType = UNSET
    contest: Contest | UnsetType = UNSET
    deal: str | UnsetType = UNSET

    __repr__ = discreet


class GameList(Message, frozen=True, kw_only=True, tag="games"):
    """The reply to `games`; `more` says that the next page is not empty."""

    games: list[GameEntry]
    more: bool


class Targets(Message, frozen=True, kw_only=True):
    """The piles that accept the tapped group."""

    game: str
    seq: int
    targets: list[str]


class CardMoves(msgspec.Struct, frozen=True):
    """One legal move with its piles named."""

    source: str = msgspec.field(name="from")
    n: int
    target: str = msgspec.field(name="to")


class HintReply(Message, frozen=True, kw_only=True, tag="hint"):
    """What the policy would do, and why."""

    game: str
    seq: int
    action: HintAction
    message: str
    move: CardMoves | UnsetType = UNSET


class LegalReply(Message, frozen=True, kw_only=True, tag="legal"):
    """Every card move that would be accepted, and whether the stock may be turned."""

    game: str
    seq: int
    moves: list[CardMoves]
    draw: bool


class RecordingReply(Message, frozen=True, kw_only=True, tag="recording"):
    """The portable record of a game."""

    game: str
    recording: msgspec.Raw


class AnalysisReply(Message, frozen=True, kw_only=True, tag="analysis"):
    """Where a finished game could still be won: of the deal, and of the position after each action, whether it could."""

    game: str
    solver: int
    verdicts: list[Verdict]
    last_winnable: int | UnsetType = UNSET
    line: list[str] | UnsetType = UNSET


class ReplayEnd(Message, frozen=True, kw_only=True):
    """A replay has shown its last diff."""

    game: str
    seq: int
    replay: int


class StatsReply(Message, frozen=True, kw_only=True, tag="stats"):
    """The player's record."""

    started: int
    finished: int
    won: int
    best: int | None
    streak: int


class DailyOffer(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A game that has a deal a day."""

    variant: str
    level: int | UnsetType = UNSET


class Commitment(msgspec.Struct, frozen=True, kw_only=True):
    """What was published before anybody could know the deal; ``docs/daily.md`` says how a deal follows from it.

    `root` is the published end of the season's chain, `day` the place of this day's key in it, `seed` the SHA-256 of the seed.
    """

    season: str
    days: int
    day: int
    root: str
    published: int
    seed: str
    beacon: str
    announced: int


class DailyResult(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """How my attempt ended. It is ranked unless it ended too late, or by somebody without an identity."""

    won: bool
    score: int
    help: Help
    moves: int
    undos: int
    hints: int
    autos: int
    ms: int
    ranked: bool
    rank: int | UnsetType = UNSET


class DailyReply(Message, frozen=True, kw_only=True, tag="daily"):
    """The deal of a day, and mine of it. Key, deal and solution are told when the day is revealed."""

    date: str
    variant: str
    level: int | UnsetType = UNSET
    rules_hash: str
    state: Literal["not_started", "playing", "over"]
    game: str | UnsetType = UNSET
    result: DailyResult | UnsetType = UNSET
    streak: int
    best_streak: int
    opens: int
    closes: int
    reveals: int
    now: int
    commitment: Commitment
    proof: Literal["proved", "not_proved", "pending"]
    nonce: int | UnsetType = UNSET
    solver: int | UnsetType = UNSET
    positions: int | UnsetType = UNSET
    solution_hash: str | UnsetType = UNSET
    revealed: bool
    key: str | UnsetType = UNSET
    deal: str | UnsetType = UNSET
    solution: list[str] | UnsetType = UNSET
    offered: list[DailyOffer]

    __repr__ = discreet


class Standing(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One line of a leaderboard; over more than a day everything is summed. `game` can be replayed by all."""

    rank: int
    player: Player
    days: int
    won: int
    score: int
    help: Help
    assisted: int
    moves: int
    ms: int
    game: str | UnsetType = UNSET


class LeaderboardReply(Message, frozen=True, kw_only=True, tag="leaderboard"):
    """A page of results, and where I am among them."""

    variant: str
    level: int | UnsetType = UNSET
    period: Period
    date: str | UnsetType = UNSET
    total: int
    entries: list[Standing]
    next: str | UnsetType = UNSET
    me: Standing | UnsetType = UNSET
    around: list[Standing] | UnsetType = UNSET


class Pong(Message, frozen=True, kw_only=True):
    """The reply to `ping`; `time` is the server's clock, milliseconds since 1970 UTC."""

    time: int
    t: int | float | UnsetType = UNSET


class Presence(Message, frozen=True, kw_only=True):
    """How many connections look at a game now."""

    game: str
    seq: int
    viewers: int


class WatchableGame(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A game that is played now and open to all; `player` is the name, where there is one."""

    game: str
    variant: str
    level: int | UnsetType = UNSET
    player: str | UnsetType = UNSET
    seq: int
    status: Status
    score: int
    moves: int
    undos: int
    viewers: int
    started: int


class WatchableList(Message, frozen=True, kw_only=True, tag="watchable"):
    """The reply to `watchable`."""

    games: list[WatchableGame]


class WatchReply(Message, frozen=True, kw_only=True, tag="watch"):
    """The reply to `watch`: who may watch now, and with which key."""

    game: str
    seq: int
    watch: Watch
    watch_key: str | UnsetType = UNSET

    __repr__ = discreet


class Dismissed(Message, frozen=True, kw_only=True):
    """Its player has closed a game to who watched it: no more events of it come."""

    game: str
    seq: int


class RaceSeat(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """How a seat of a race stands; `player` only where it is news, `ms` from the start to the end of its game."""

    seat: int
    player: Player | UnsetType = UNSET
    ghost: bool = False
    status: SeatStatus
    score: int
    moves: int
    place: int | UnsetType = UNSET
    ms: int | UnsetType = UNSET


class RaceReply(Message, frozen=True, kw_only=True, tag="race"):
    """A race as one of its players sees it: the reply to what is asked about it, and an event where its state changed.

    All times are milliseconds since 1970 UTC by the server's clock, which says `time` now.
    """

    race: str
    key: str
    state: RaceState
    variant: str
    level: int | UnsetType = UNSET
    rules_hash: str
    seats: int
    players: list[RaceSeat]
    seat: int | UnsetType = UNSET
    game: str | UnsetType = UNSET
    ghost: str | UnsetType = UNSET
    starts: int | UnsetType = UNSET
    ends: int | UnsetType = UNSET
    ended: int | UnsetType = UNSET
    deal: str | UnsetType = UNSET
    previous: str | UnsetType = UNSET
    next: str | UnsetType = UNSET
    time: int

    __repr__ = discreet


class RaceProgress(Message, frozen=True, kw_only=True):
    """The seats of a race that changed."""

    race: str
    players: list[RaceSeat]


class Draining(Message, frozen=True, kw_only=True):
    """The server is about to stop."""

    retry_after_ms: int


class Refused(Message, frozen=True, kw_only=True):
    """The rules say no."""

    game: str
    seq: int
    code: str
    message: str
    detail: dict[str, Any]


class Error(Message, frozen=True, kw_only=True):
    """The command could not be dealt with."""

    code: str
    message: str
    detail: dict[str, Any] | UnsetType = UNSET
    retry_after_ms: int | UnsetType = UNSET
