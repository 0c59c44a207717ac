"""A recorded game as a file: what it holds, how it is written and read. Whether it is true is asked in ``verification``.

One JSON object. It says everything that is needed to play the game again without this server: the rules in full, the deal,
every action. A game that goes on has another format, with what a viewer may see and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Final, Literal

import msgspec

from chilkoot.discretion import discreet
from chilkoot.events import By, Op, Result, Status
from chilkoot.record.writes import Origin

__all__ = [
    "MAX_BYTES",
    "Finding",
    "LiveAction",
    "LiveRecording",
    "RecordedAction",
    "RecordedHint",
    "Recording",
    "encode_recording",
    "entries",
    "parse_recording",
]

MAX_BYTES: Final = 4 * 1024 * 1024
"""The largest file that is read: 5,000 actions and as many hints take three of its four MiB."""

_MAX_ENTRIES: Final = 5000

_Count = Annotated[int, msgspec.Meta(ge=0, le=2**53 - 1)]
_Number = Annotated[int, msgspec.Meta(ge=1, le=_MAX_ENTRIES)]
_Id = Annotated[str, msgspec.Meta(pattern=r"\A[A-Za-z0-9_-]{1,64}\Z")]
_Hash = Annotated[str, msgspec.Meta(pattern=r"\A[0-9a-f]{64}\Z")]
_Text = Annotated[str, msgspec.Meta(min_length=1, max_length=40)]


class _Part(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A part of a file: unknown fields are refused, for whoever wrote them meant something that would be lost."""


class RecordedAction(_Part, frozen=True, kw_only=True):
    """One accepted action; `actor` is left out where it is the game's `player`."""

    seq: _Number
    text: _Text
    at_ms: _Count
    hash: _Hash
    by: By = "player"
    actor: _Id | None = None


class RecordedHint(_Part, frozen=True, kw_only=True):
    """One hint, given after action `seq`; `actor` is left out where it is the game's `player`."""

    n: _Number
    seq: Annotated[int, msgspec.Meta(ge=0, le=_MAX_ENTRIES)]
    text: _Text
    at_ms: _Count
    hash: _Hash
    actor: _Id | None = None


class Recording(_Part, frozen=True, kw_only=True, tag_field="format", tag="chilkoot-recording/1"):
    """A whole game: header, rules, deal, what happened, how it ended.

    `start` is the hash of the header, `head` the last link of the chain (``chain`` says how to compute them), `table` the
    final board's text, `moves` the actions that were not taken back, `undos` those that were.
    """

    semantics: _Count
    game: _Id
    player: _Id
    variant: Annotated[str, msgspec.Meta(min_length=1, max_length=64)]
    level: _Count | None
    rules_hash: _Hash
    rules: Annotated[str, msgspec.Meta(max_length=65_536)]
    deal: Annotated[str, msgspec.Meta(max_length=16_384)]
    origin: Origin
    created_ms: _Count
    start: _Hash
    actions: Annotated[tuple[RecordedAction, ...], msgspec.Meta(max_length=_MAX_ENTRIES)]
    hints: Annotated[tuple[RecordedHint, ...], msgspec.Meta(max_length=_MAX_ENTRIES)]
    status: Status
    result: Result | None
    score: _Count
    moves: _Count
    undos: _Count
    table: Annotated[str, msgspec.Meta(max_length=16_384)]
    head: _Hash

    __repr__ = discreet


class LiveAction(_Part, frozen=True, kw_only=True):
    """An action of a game that goes on, with what it did to the cards that a viewer saw."""

    seq: int
    text: str
    at_ms: int
    ops: list[Op]
    by: By = "player"
    actor: str | None = None


class LiveRecording(_Part, frozen=True, kw_only=True, tag_field="format", tag="chilkoot-live-recording/1"):
    """A game that goes on, as a viewer saw it: no deal, no hidden card, and no hash, for a hash would tell of both.

    Applying every action's `ops` to `start` gives `piles`; both have ``??`` for a card that lies face down.
    """

    semantics: int
    game: str
    player: str
    variant: str
    level: int | None
    rules_hash: str
    rules: str
    created_ms: int
    start: dict[str, list[str]]
    actions: list[LiveAction]
    status: Status
    result: Result | None
    score: int
    moves: int
    undos: int
    piles: dict[str, list[str]]
    check: str


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """Something about a recording that is not as it should be: a code, a sentence, and the action where it shows.

    `seq` is 0 for what belongs to the start, and None for what belongs to no one action.
    """

    code: Literal["format", "header", "rules", "deal", "chain", "order", "illegal", "outcome", "exists"]
    message: str
    seq: int | None = None


_encoder = msgspec.json.Encoder()
_decoder: Final = msgspec.json.Decoder(Recording | LiveRecording)
_ACTION: Final = re.compile(r"\$\.actions\[([0-9]+)\]")


def encode_recording(recording: Recording | LiveRecording) -> bytes:
    """The file of a recording: compact JSON."""
    return _encoder.encode(recording)


def parse_recording(data: bytes) -> Recording | Finding:
    """Read a file; a Finding with one clear sentence where it is no recording."""
    if len(data) > MAX_BYTES:
        return Finding(code="format", message=f"the file is larger than {MAX_BYTES} bytes, no recording is")
    try:
        found = _decoder.decode(data)
    except (msgspec.MsgspecError, RecursionError, UnicodeError, ValueError) as error:
        why = " ".join(str(error).split())[:300]
        place = _ACTION.search(why)
        seq = None if place is None else int(place[1]) + 1
        return Finding(code="format", message=f"this is not a recording: {why}", seq=seq)
    if isinstance(found, LiveRecording):
        return Finding(
            code="format",
            message="this is the recording of a game that goes on; ask again when the game is over",
        )
    return found


def entries(recording: Recording) -> Iterator[RecordedAction | RecordedHint]:
    """Actions and hints as they happened: a hint after the action whose `seq` it names, a stray one at the end."""
    hints = list(reversed(recording.hints))
    for before, action in enumerate(recording.actions):
        while hints and hints[-1].seq <= before:
            yield hints.pop()
        yield action
    yield from reversed(hints)
