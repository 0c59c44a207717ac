"""What is read from the record: the same things as in ``writes``, seen from the other side."""

from __future__ import annotations

import msgspec

from chilkoot.discretion import discreet
from chilkoot.events import By, Result, Status
from chilkoot.record.writes import Contest, Origin, Role, SeatStatus, Watch

__all__ = [
    "Counts",
    "FreeDeal",
    "GameHeader",
    "Stats",
    "StoredAction",
    "StoredCommand",
    "StoredGame",
    "StoredHint",
    "StoredPlayer",
    "StoredRace",
    "StoredReply",
    "StoredSeat",
    "StoredSession",
]


class StoredPlayer(msgspec.Struct, frozen=True):
    """An identity."""

    id: str
    name: str
    token_hash: bytes | None
    previous_hash: bytes | None
    previous_until_ms: int | None
    created_ms: int


class StoredSession(msgspec.Struct, frozen=True):
    """A session and the player it belongs to."""

    id: str
    player: str
    created_ms: int
    seen_ms: int


class GameHeader(msgspec.Struct, frozen=True):
    """A game without its actions: what was settled at its start, and how it stands. `hints` counts those given."""

    id: str
    player: str
    variant: str
    level: int | None
    rules_hash: str
    semantics: int
    deal: str
    origin: Origin
    winnable: str | None
    watch: Watch
    key: str
    watch_key: str | None
    created_ms: int
    start_hash: bytes
    status: Status
    result: Result | None
    seq: int
    score: int
    moves: int
    undos: int
    hints: int
    head_hash: bytes
    ended_ms: int | None
    closed_ms: int | None
    imported_ms: int | None
    contest: Contest | None
    sealed_until_ms: int | None

    __repr__ = discreet


class StoredAction(msgspec.Struct, frozen=True):
    """One accepted action."""

    seq: int
    text: str
    by: By
    actor: str
    session: str | None
    command_id: int | None
    at_ms: int
    hash: bytes


class StoredHint(msgspec.Struct, frozen=True):
    """One hint."""

    n: int
    seq: int
    text: str
    actor: str
    at_ms: int
    hash: bytes


class StoredGame(msgspec.Struct, frozen=True):
    """A whole game: header, canonical rules, every action and hint in order, and who else takes part."""

    header: GameHeader
    rules: str
    actions: tuple[StoredAction, ...]
    hints: tuple[StoredHint, ...]
    participants: dict[str, Role]


class StoredReply(msgspec.Struct, frozen=True):
    """The reply that a command got, and the fingerprint of the command."""

    command_id: int
    fingerprint: bytes
    body: bytes

    __repr__ = discreet


class StoredCommand(msgspec.Struct, frozen=True):
    """A command that was done as an action: the fingerprint it came with, and the action."""

    command_id: int
    fingerprint: bytes
    game: str
    seq: int


class FreeDeal(msgspec.Struct, frozen=True):
    """A certified deal that no game has taken yet."""

    rules_hash: str
    deal: str
    difficulty: int

    __repr__ = discreet


class Stats(msgspec.Struct, frozen=True):
    """A player's games in numbers.

    `best` is the highest score of a finished game, `streak` how many games were won since the last one that was lost.
    Games that were imported do not count: this server did not see them played.
    """

    started: int
    finished: int
    won: int
    best: int | None
    streak: int


class Counts(msgspec.Struct, frozen=True):
    """How much is on record."""

    players: int
    games: int
    unfinished: int


class StoredSeat(msgspec.Struct, frozen=True):
    """Who sits at a seat of a race, and how it stands: for good, or as its game does; all None before the race began."""

    number: int
    player: str
    name: str
    game: str | None
    deal: str | None
    status: Status | SeatStatus | None
    score: int | None
    moves: int | None
    ended_ms: int | None

    __repr__ = discreet


class StoredRace(msgspec.Struct, frozen=True):
    """A race with its seats; `next` is the race that is its rematch."""

    id: str
    player: str
    variant: str
    level: int | None
    rules_hash: str
    seats: int
    key: str
    created_ms: int
    starts_ms: int | None
    ends_ms: int | None
    ended_ms: int | None
    ghost: str | None
    previous: str | None
    next: str | None
    taken: tuple[StoredSeat, ...]

    __repr__ = discreet
