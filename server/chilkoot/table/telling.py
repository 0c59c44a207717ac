"""Stored things told again: a table laid from its log, a finished game as frames to be shown in time."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from chilkoot.discretion import discreet
from chilkoot.engine import Game, Refusal
from chilkoot.events import By, parse_action
from chilkoot.language.rules import Rules
from chilkoot.table.table import Table, Terms
from chilkoot.wire import encode
from chilkoot.wire.messages import Role

__all__ = ["Frames", "LogEntry", "ReplayError", "frames_of", "lay_from_log", "repeat"]

LONGEST_PAUSE_MS = 3000
"""Nobody wants to watch somebody think."""


class ReplayError(Exception):
    """A log that its own rules and deal do not bear out: the record or the engine is at fault, never the player."""


class LogEntry(msgspec.Struct, frozen=True):
    """One recorded action."""

    text: str
    by: By
    at_ms: int


class Frames(msgspec.Struct, frozen=True):
    """A replay: the first frame, then pauses in milliseconds and the diffs that follow them, and where it ends."""

    snapshot: bytes
    diffs: list[tuple[int, bytes]]
    seq: int

    __repr__ = discreet


def lay_from_log(
    terms: Terms,
    rules: Rules,
    deal: str,
    log: Iterable[LogEntry],
    *,
    history: int,
    participants: dict[str, Role],
) -> Table:
    """The table as the log leaves it. Raises ReplayError."""
    entries = list(log)
    table = Table(terms, Game.start(rules, deal), history=history, participants=participants)
    # Whether a game was stuck on the way matters only for the diffs that are kept, and for what the first of them changed.
    kept = len(entries) - history - 1
    for number, entry in enumerate(entries):
        table.game.looks_for_stuck = number >= kept
        repeat(table, entry)
    return table


def frames_of(
    terms: Terms, rules: Rules, deal: str, log: list[LogEntry], player: str, *, start: int, answers: int
) -> Frames:
    """A closed game shown to a player from the `seq` in `start` on. Raises ReplayError."""
    table = Table(terms, Game.start(rules, deal), history=1)
    start = max(0, min(start, len(log)))
    for entry in log[:start]:
        repeat(table, entry)
    first = table.snapshot(player, 0, answers=answers)
    # The keys belong to the live table; the deal may be told, for the game is closed.
    first = msgspec.structs.replace(
        first, deal=deal, key=msgspec.UNSET, watch_key=msgspec.UNSET, replay=answers, role="spectator"
    )
    tail = b',"replay":%d}' % answers
    diffs: list[tuple[int, bytes]] = []
    before = log[start - 1].at_ms if start else terms.started_ms
    for entry in log[start:]:
        diff = repeat(table, entry)
        pause = max(0, min(entry.at_ms - before, LONGEST_PAUSE_MS))
        diffs.append((pause, diff[:-1] + tail))
        before = entry.at_ms
    return Frames(encode(first), diffs, table.game.seq)


def repeat(table: Table, entry: LogEntry) -> bytes:
    """Do a recorded action once more: its diff. Raises ReplayError."""
    action = parse_action(entry.text)
    done = table.act(action, by=entry.by, now_ms=entry.at_ms) if action is not None else None
    if done is None or isinstance(done, Refusal):
        why = "is no action" if done is None else f"is refused: {done.code}"
        raise ReplayError(f"game {table.terms.id}, action {table.game.seq + 1}: `{entry.text}` {why}")
    return done
