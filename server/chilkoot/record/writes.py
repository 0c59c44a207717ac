"""What can be put on record: small frozen values, put together into units that are kept whole or not at all.

A unit is a tuple of writes which belong together, a new player and the first game for instance. Ids are text and
chosen by the caller, times are milliseconds since 1970 in UTC, hashes 32 bytes. Nothing here knows SQL or a rule of a game.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from chilkoot.discretion import discreet
from chilkoot.events import By, Result, Status
from chilkoot.record.day_writes import AddAttempt, AddResult, AnnounceDaily, ChooseDeal, EndAttempt, NewSeason

__all__ = [
    "AddCertified",
    "AddHint",
    "AddParticipant",
    "Append",
    "CloseGame",
    "Contest",
    "DropReplies",
    "DropSeat",
    "EndRace",
    "EndSeat",
    "NewGame",
    "NewPlayer",
    "NewRace",
    "NewSession",
    "Origin",
    "PutAnalysis",
    "PutReply",
    "PutRules",
    "RenamePlayer",
    "Role",
    "SeatGame",
    "SeatStatus",
    "SetToken",
    "SetWatch",
    "StartRace",
    "TakeCertified",
    "TakeSeat",
    "TouchSession",
    "Unit",
    "Unseal",
    "Watch",
    "Write",
]

Origin = Literal["fresh", "named", "cards"]
"""Where a deal came from: drawn by the server, named by the player, or laid out card by card."""

Watch = Literal["open", "key", "closed"]
"""Who may watch a game: everybody, those who hold the watch key, nobody."""

Contest = Literal["daily", "race"]
"""What a game counts in, where others play the same deal."""

Role = Literal["player", "spectator"]
"""What a participant may do besides the creator: act, or watch."""


SeatStatus = Literal["won", "lost", "left", "late"]
"""How a seat of a race stands in the end."""


class NewPlayer(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A new identity; of its token only the SHA-256 is kept. Without one nobody can ever act as this player.

    Who has none yet may be written again, since a commit in doubt may have done it already.
    """

    id: str
    name: str
    token_hash: bytes | None
    created_ms: int


class RenamePlayer(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A player is called otherwise from now on."""

    id: str
    name: str


class SetToken(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A player's tokens from now on: the one in force, and the one before it, which holds until `previous_until_ms`.

    None says that it holds without limit, as long as the one in force was not used.
    """

    player: str
    token_hash: bytes | None
    previous_hash: bytes | None = None
    previous_until_ms: int | None = None


class NewSession(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A new session of a player."""

    id: str
    player: str
    created_ms: int


class TouchSession(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A session was resumed."""

    id: str
    seen_ms: int


class PutRules(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The canonical text of rules under its hash; writing the same again changes nothing."""

    hash: str
    text: str


class NewGame(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A new game, as it stands right after the deal.

    `start_hash` is ``chain.start_hash`` of its header. A deal may be over at once: then `ended_ms` is set, and `closed_ms`
    too where nothing can be taken back. `imported_ms` is set where the game was played elsewhere. Before `sealed_until_ms` the
    game is its player's alone, and nothing of its deal is told even if it is over.
    """

    id: str
    player: str
    variant: str
    level: int | None
    rules_hash: str
    semantics: int
    deal: str
    origin: Origin
    winnable: str | None = None
    watch: Watch
    key: str
    watch_key: str | None
    created_ms: int
    start_hash: bytes
    status: Status = "playing"
    result: Result | None = None
    score: int = 0
    ended_ms: int | None = None
    closed_ms: int | None = None
    imported_ms: int | None = None
    contest: Contest | None = None
    sealed_until_ms: int | None = None

    __repr__ = discreet


class AddCertified(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A deal with a certificate, kept ready for a game to come; the same deal again changes nothing.

    `solver` is the revision of the search, `positions` what it opened, `actions` the length of the line it found.
    """

    rules_hash: str
    deal: str
    solver: int
    positions: int
    actions: int
    difficulty: int
    found_ms: int

    __repr__ = discreet


class TakeCertified(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A certified deal is that of a new game, which must be in the same unit: Taken where another game was quicker."""

    rules_hash: str
    deal: str
    game: str

    __repr__ = discreet


class AddParticipant(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A player besides the creator may act in a game, or watch it; a later write changes the role."""

    game: str
    player: str
    role: Role
    since_ms: int


class Append(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One accepted action, and how the game stands after it.

    `seq` must be the game's last + 1, `hash` is ``chain.action_hash``. `session` and `command_id` name the command that
    asked for it, and are None where there was none; `fingerprint` tells it from others, so that the same again gets the
    same reply, which follows from the game and takes no row of its own. `ended_ms` is set while the game is over,
    `closed_ms` while nothing can be taken back any more; None also reopens.
    """

    game: str
    seq: int
    text: str
    by: By
    actor: str
    session: str | None
    command_id: int | None
    at_ms: int
    hash: bytes
    fingerprint: bytes | None = None
    status: Status
    result: Result | None
    score: int
    moves: int
    undos: int
    ended_ms: int | None = None
    closed_ms: int | None = None


class AddHint(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One hint, put on record before it is shown.

    `n` must be the game's count of hints + 1 and `seq` its present one; `text` is what was advised (an action's text, or
    ``none``), `hash` is ``chain.hint_hash``.
    """

    game: str
    n: int
    seq: int
    text: str
    actor: str
    at_ms: int
    hash: bytes


class CloseGame(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Nothing can be taken back in a game that is over; closing it again changes nothing."""

    game: str
    closed_ms: int


class PutAnalysis(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What a revision of the solver says of a game that is over; writing it again changes nothing."""

    game: str
    solver: int
    body: bytes

    __repr__ = discreet


class SetWatch(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Others may watch a game from now on than before; spectators by key are spectators no longer."""

    game: str
    watch: Watch
    watch_key: str | None

    __repr__ = discreet


class Unseal(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What a game counts in is over, sooner than it might have been: its seal ends now."""

    game: str
    at_ms: int


class NewRace(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A room for a race; `ghost` is the game whose deal is played and whose recording runs along."""

    id: str
    player: str
    variant: str
    level: int | None
    rules_hash: str
    seats: int
    key: str
    ghost: str | None
    previous: str | None
    created_ms: int

    __repr__ = discreet


class TakeSeat(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A player takes a seat in a race."""

    race: str
    number: int
    player: str
    joined_ms: int


class DropSeat(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A player leaves a race that has not begun; the seat is free again."""

    race: str
    player: str


class StartRace(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A race begins; its games are in the same unit."""

    race: str
    starts_ms: int
    ends_ms: int


class SeatGame(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The game that is played at a seat."""

    race: str
    number: int
    game: str


class EndSeat(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """How a seat stands for good: its player left, or the race is over. The first word counts."""

    race: str
    number: int
    status: SeatStatus
    score: int
    moves: int
    ended_ms: int | None


class EndRace(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A race is over."""

    race: str
    ended_ms: int


class PutReply(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The reply to a command that was no action, with a fingerprint of the command: the same again gets the same reply.

    The last ``REPLIES_KEPT`` of a session are kept.
    """

    session: str
    command_id: int
    fingerprint: bytes
    body: bytes

    __repr__ = discreet


class DropReplies(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The replies of all sessions last seen before a time are no longer needed."""

    before_ms: int


Write = (
    NewPlayer
    | RenamePlayer
    | SetToken
    | NewSession
    | TouchSession
    | PutRules
    | NewGame
    | AddCertified
    | TakeCertified
    | AddParticipant
    | Append
    | AddHint
    | CloseGame
    | PutAnalysis
    | Unseal
    | SetWatch
    | NewRace
    | DropSeat
    | TakeSeat
    | StartRace
    | SeatGame
    | EndSeat
    | EndRace
    | PutReply
    | DropReplies
    | NewSeason
    | AnnounceDaily
    | ChooseDeal
    | AddAttempt
    | EndAttempt
    | AddResult
)

Unit = tuple[Write, ...]
