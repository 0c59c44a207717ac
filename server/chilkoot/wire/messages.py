"""What the server says: replies and events, each written once as a frozen struct.

Optional fields are UNSET where there is nothing to say, so they are absent on the wire. Nothing is computed here; in
particular, what a viewer may see was decided before one of these was made (`table.view`).
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

from chilkoot.events import By, Op, Result, Status
from chilkoot.wire.commands import _snake

__all__ = [
    "Can",
    "CardMoves",
    "Diff",
    "Draining",
    "Error",
    "GameEntry",
    "GameList",
    "HintReply",
    "LegalReply",
    "Message",
    "Ok",
    "Player",
    "Pong",
    "Presence",
    "RecordingReply",
    "Refused",
    "ReplayEnd",
    "Role",
    "RulesReply",
    "Snapshot",
    "StatsReply",
    "Targets",
    "VariantEntry",
    "VariantList",
    "Welcome",
]

Role = Literal["player", "spectator"]
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


class VariantEntry(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One variant in a list; `rules_hash` is that of the default level."""

    id: str
    name: str
    family: str
    levels: list[int]
    summary: str
    rules_hash: str
    default_level: int | UnsetType = UNSET
    winnable: str | UnsetType = UNSET


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
    accepts: Any = UNSET
    winnable: str | UnsetType = UNSET
    role: Role
    key: str | UnsetType = UNSET
    watch_key: str | UnsetType = UNSET
    viewers: int
    check: str
    replay: int | UnsetType = UNSET


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
    deal: str | UnsetType = UNSET


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
    action: str
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


class Pong(Message, frozen=True, kw_only=True):
    """The reply to `ping`; `time` is the server's clock, milliseconds since 1970 UTC."""

    time: int
    t: int | float | UnsetType = UNSET


class Presence(Message, frozen=True, kw_only=True):
    """How many connections look at a game now."""

    game: str
    seq: int
    viewers: int


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
