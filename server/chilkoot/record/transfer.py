"""Recordings out of a database and into one, and what may be shown of a game that goes on."""

from __future__ import annotations

import secrets

import msgspec

from chilkoot.engine import Game, Refusal
from chilkoot.events import parse_action
from chilkoot.language.rules import from_canonical
from chilkoot.record.faults import StoreFault
from chilkoot.record.reader import Reader
from chilkoot.record.recording import (
    Finding,
    LiveAction,
    LiveRecording,
    RecordedAction,
    RecordedHint,
    Recording,
    entries,
)
from chilkoot.record.rows import StoredGame
from chilkoot.record.store import Store
from chilkoot.record.verification import replay, verify
from chilkoot.record.writes import AddHint, Append, NewGame, NewPlayer, PutRules, Write

__all__ = ["Imported", "export_game", "import_recording", "recorded", "redacted"]


class Imported(msgspec.Struct, frozen=True):
    """A recording is in the database now; `is_new` says whether it was not before."""

    is_new: bool


def export_game(reader: Reader, game_id: str) -> Recording | None:
    """The whole recording of a game, hidden cards and deal included: only for games that are closed, or for the operator."""
    stored = reader.load_game(game_id)
    return None if stored is None else recorded(stored)


def recorded(stored: StoredGame) -> Recording:
    """The whole recording of a game. A damaged game is told as it stands; ``verify`` says what is wrong with it."""
    header = stored.header
    recording = Recording(
        semantics=header.semantics,
        game=header.id,
        player=header.player,
        variant=header.variant,
        level=header.level,
        rules_hash=header.rules_hash,
        rules=stored.rules,
        deal=header.deal,
        origin=header.origin,
        created_ms=header.created_ms,
        start=header.start_hash.hex(),
        actions=tuple(
            RecordedAction(
                seq=one.seq,
                text=one.text,
                at_ms=one.at_ms,
                hash=one.hash.hex(),
                by=one.by,
                actor=_unless(header.player, one.actor),
            )
            for one in stored.actions
        ),
        hints=tuple(
            RecordedHint(
                n=one.n,
                seq=one.seq,
                text=one.text,
                at_ms=one.at_ms,
                hash=one.hash.hex(),
                actor=_unless(header.player, one.actor),
            )
            for one in stored.hints
        ),
        status=header.status,
        result=header.result,
        score=header.score,
        moves=header.moves,
        undos=header.undos,
        table="",
        head=header.head_hash.hex(),
    )
    game = replay(recording)
    return recording if isinstance(game, Finding) else msgspec.structs.replace(recording, table=game.board())


def redacted(stored: StoredGame) -> LiveRecording:
    """What a viewer saw of a game that goes on: it is made of the same views and operations that were sent.

    Raises StoreFault for a game whose record can't be played.
    """
    header = stored.header
    game = Game.start(from_canonical(stored.rules), header.deal)
    start = game.view()
    actions = []
    for one in stored.actions:
        action = parse_action(one.text)
        ops = None if action is None else game.act(action)
        if ops is None or isinstance(ops, Refusal):
            raise StoreFault(f"the record of the game can't be played beyond action {one.seq - 1}")
        actions.append(
            LiveAction(
                seq=one.seq,
                text=one.text,
                at_ms=one.at_ms,
                ops=ops,
                by=one.by,
                actor=_unless(header.player, one.actor),
            )
        )
    return LiveRecording(
        semantics=header.semantics,
        game=header.id,
        player=header.player,
        variant=header.variant,
        level=header.level,
        rules_hash=header.rules_hash,
        rules=stored.rules,
        created_ms=header.created_ms,
        start=start,
        actions=actions,
        status=game.status,
        result=game.result,
        score=game.score,
        moves=game.moves,
        undos=game.undos,
        piles=game.view(),
        check=game.check(),
    )


def import_recording(store: Store, recording: Recording, *, now_ms: int) -> Imported | list[Finding]:
    """Put a recording that verifies into a database; again changes nothing. A list of Findings where it is refused.

    Nobody can act in an imported game: its player comes without a token unless the database knows the player already.
    """
    present = store.reader.game_header(recording.game)
    if present is not None and present.head_hash.hex() == recording.head:
        return Imported(is_new=False)
    if present is not None:
        return [Finding(code="exists", message=f"there is another game {recording.game} already")]
    if findings := verify(recording):
        return findings
    unit: list[Write] = []
    if store.reader.player(recording.player) is None:
        unit.append(NewPlayer(id=recording.player, name="", token_hash=None, created_ms=now_ms))
    is_over = recording.status in ("won", "lost")
    last = recording.actions[-1].at_ms if recording.actions else recording.created_ms
    ended = last if is_over else None
    unit += (
        PutRules(hash=recording.rules_hash, text=recording.rules),
        NewGame(
            id=recording.game,
            player=recording.player,
            variant=recording.variant,
            level=recording.level,
            rules_hash=recording.rules_hash,
            semantics=recording.semantics,
            deal=recording.deal,
            origin=recording.origin,
            watch="open",
            # A key that nobody is told.
            key=secrets.token_urlsafe(24),
            watch_key=None,
            created_ms=recording.created_ms,
            start_hash=bytes.fromhex(recording.start),
            status=recording.status,
            result=recording.result,
            score=recording.score,
            ended_ms=ended,
            closed_ms=ended,
            imported_ms=now_ms,
        ),
        *(_write(recording, entry, ended) for entry in entries(recording)),
    )
    store.write(tuple(unit))
    return Imported(is_new=True)


def _write(recording: Recording, entry: RecordedAction | RecordedHint, ended_ms: int | None) -> Write:
    actor = entry.actor or recording.player
    if isinstance(entry, RecordedHint):
        return AddHint(
            game=recording.game,
            n=entry.n,
            seq=entry.seq,
            text=entry.text,
            actor=actor,
            at_ms=entry.at_ms,
            hash=bytes.fromhex(entry.hash),
        )
    # How the game stood in between is asked of the engine by whoever loads it; the last action says how it ended.
    return Append(
        game=recording.game,
        seq=entry.seq,
        text=entry.text,
        by=entry.by,
        actor=actor,
        session=None,
        command_id=None,
        at_ms=entry.at_ms,
        hash=bytes.fromhex(entry.hash),
        status=recording.status,
        result=recording.result,
        score=recording.score,
        moves=recording.moves,
        undos=recording.undos,
        ended_ms=ended_ms,
        closed_ms=ended_ms,
    )


def _unless(usual: str, actor: str) -> str | None:
    return None if actor == usual else actor
