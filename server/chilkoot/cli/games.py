"""`chilkoot games`: what is on record, as an operator needs to see it, and the end of what nobody plays any more."""

from __future__ import annotations

import argparse
import time
from datetime import UTC, datetime
from typing import Final

from chilkoot.cli.faults import ERRORS, USAGE, CommandFailed
from chilkoot.cli.json_lines import print_json
from chilkoot.config import default_database
from chilkoot.engine import Refusal
from chilkoot.events import GIVE_UP, format_action
from chilkoot.host.dailies import attempt_end
from chilkoot.host.hub import log_of, terms_of
from chilkoot.language import from_canonical
from chilkoot.record import Append, CloseGame, GameHeader, Reader, Store, StoredGame, Write, action_hash
from chilkoot.table import Table, lay_from_log

__all__ = ["close", "list_games", "show"]

OPERATOR = "operator"
"""The actor of what an operator does to a game: no player has such an id."""


_SHOWN: Final = (
    *("id", "player", "variant", "level", "rules_hash", "semantics", "origin", "winnable", "watch"),
    *("created_ms", "status", "result", "seq", "score", "moves", "undos", "hints"),
    *("ended_ms", "closed_ms", "imported_ms", "contest", "sealed_until_ms"),
)
"""What may be told of a game without giving its cards away, or letting anybody in."""


def list_games(flags: argparse.Namespace) -> int:
    """List games, the newest first."""
    reader = Reader.open(flags.database or default_database())
    try:
        found = reader.games(state=flags.state, variant=flags.variant, player=flags.player, limit=flags.limit)
    finally:
        reader.close()
    for header in found:
        if flags.json:
            print_json(**_fields(header))
        else:
            print(_line(header))
    return 0


def _fields(header: GameHeader) -> dict[str, object]:
    return {name: getattr(header, name) for name in _SHOWN}


def _line(header: GameHeader) -> str:
    level = f" level {header.level}" if header.level is not None else ""
    contest = f", {header.contest}" if header.contest is not None else ""
    return (
        f"{header.id:22}  {_time(header.created_ms)}  {header.variant}{level}: {header.status}, {header.score} home, "
        f"{header.moves} moves{contest}"
    )


def _time(ms: int) -> str:
    return f"{datetime.fromtimestamp(ms / 1000, UTC):%Y-%m-%d %H:%M:%S}"


def show(flags: argparse.Namespace) -> int:
    """Tell all of a game but its cards, deal and keys."""
    stored = _game(flags)
    last = stored.actions[-1].at_ms if stored.actions else stored.header.created_ms
    fields = _fields(stored.header) | {"last_ms": last, "participants": len(stored.participants)}
    if flags.json:
        print_json(**fields)
        return 0
    for name, value in fields.items():
        shown = _time(value) + " UTC" if name.endswith("_ms") and isinstance(value, int) else value
        if value is not None:
            print(f"{name.removesuffix('_ms'):14}{shown}")
    return 0


def _game(flags: argparse.Namespace) -> StoredGame:
    reader = Reader.open(flags.database or default_database())
    try:
        stored = reader.load_game(flags.game)
    finally:
        reader.close()
    if stored is None:
        raise CommandFailed(f"there is no game `{flags.game[:80]}` in the database", USAGE)
    return stored


def close(flags: argparse.Namespace) -> int:
    """End games as given up, or close losses to undo; the server must not be running."""
    store = Store.open(flags.database or default_database())
    status = 0
    try:
        for game in flags.games:
            said, is_done = _close(store, game, time.time_ns() // 1_000_000)
            print(f"{game[:80]}: {said}")
            status = status if is_done else ERRORS
    finally:
        store.close()
    return status


def _close(store: Store, game: str, now_ms: int) -> tuple[str, bool]:
    stored = store.reader.load_game(game)
    if stored is None:
        return "there is no such game", False
    header = stored.header
    if header.sealed_until_ms is not None and now_ms < header.sealed_until_ms:
        return f"it counts in a {header.contest} that goes on", False
    if header.closed_ms is not None:
        return "is closed already", True
    if header.ended_ms is not None:
        store.write((CloseGame(game=game, closed_ms=now_ms),))
        return "closed", True
    table = _table(stored)
    # Time does not run backwards in a record, whatever this machine's clock says.
    now_ms = max(now_ms, stored.actions[-1].at_ms if stored.actions else header.created_ms)
    if isinstance(done := table.act(GIVE_UP, by="player", now_ms=now_ms), Refusal):
        return done.message, False
    text, seq, standing = format_action(GIVE_UP), table.game.seq, table.standing
    store.write(
        (
            Append(
                game=game,
                seq=seq,
                text=text,
                by="player",
                actor=OPERATOR,
                session=None,
                command_id=None,
                at_ms=now_ms,
                hash=action_hash(
                    header.head_hash, seq=seq, text=text, by="player", at_ms=now_ms, actor=OPERATOR
                ),
                status=standing.status,
                result=standing.result,
                score=standing.score,
                moves=standing.moves,
                undos=standing.undos,
                ended_ms=now_ms,
                closed_ms=now_ms,
            ),
            *_ending(store, table, now_ms),
        )
    )
    return "given up", True


def _table(stored: StoredGame) -> Table:
    return lay_from_log(
        terms_of(stored.header),
        from_canonical(stored.rules),
        stored.header.deal,
        log_of(stored),
        history=1,
        participants=stored.participants,
    )


def _ending(store: Store, table: Table, now_ms: int) -> list[Write]:
    """The end of an attempt at a daily that was still open; it is closed after its day, and counts for nothing."""
    attempt = store.reader.days.attempt_of_game(table.terms.id)
    if attempt is None or attempt.ended_ms is not None:
        return []
    return [attempt_end(table, now_ms, is_ranked=False)]
