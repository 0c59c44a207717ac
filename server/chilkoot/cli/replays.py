"""`chilkoot replay`: recordings shown, verified, taken out of the database and into it."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from chilkoot.cli.faults import ERRORS, USAGE, CommandFailed
from chilkoot.cli.json_lines import print_json
from chilkoot.cli.showing import SIGNS, Picture, can_write
from chilkoot.cli.variants import read_standard_input
from chilkoot.config import default_database
from chilkoot.engine import Game, Refusal, format_pile
from chilkoot.events import parse_action
from chilkoot.record import (
    Finding,
    Reader,
    Recording,
    Store,
    encode_recording,
    export_game,
    import_recording,
    parse_recording,
    verify,
)
from chilkoot.record.recording import MAX_BYTES
from chilkoot.record.verification import begin
from chilkoot.table.telling import LONGEST_PAUSE_MS
from chilkoot_terminal.draw import Style, draw_table

CLEAR = "\x1b[H\x1b[2J"

__all__ = ["export", "headline", "play", "recording_of", "show", "take_in", "verify_games"]


def show(flags: argparse.Namespace) -> int:
    """Tell a recorded game: its header, each action, the table at the end."""
    recording, game = _dealt(flags)
    if flags.json:
        print_json(
            game=recording.game,
            variant=recording.variant,
            level=recording.level,
            deal=recording.deal,
            created_ms=recording.created_ms,
            status=recording.status,
            result=recording.result,
            board=_piles(game),
        )
    else:
        print(f"{headline(recording)}\n\n{game.board()}\n")
    _show_actions(flags, recording, game)
    if not flags.json:
        print(f"{'' if flags.boards else chr(10) + game.board() + chr(10) + chr(10)}{_outcome(recording)}")
    return 0


def _dealt(flags: argparse.Namespace) -> tuple[Recording, Game]:
    """A recording and its game before the first action."""
    recording = recording_of(flags.game, flags.database)
    if isinstance(recording, Finding):
        raise CommandFailed(f"{flags.game}: {recording.message}")
    if isinstance(game := begin(recording), Finding):
        raise CommandFailed(f"{flags.game}: {game.message}")
    return recording, game


def _show_actions(flags: argparse.Namespace, recording: Recording, game: Game) -> None:
    for one in recording.actions:
        action = parse_action(one.text)
        done = None if action is None else game.act(action)
        if done is None or isinstance(done, Refusal):
            why = f": {done.message}" if done is not None else ""
            raise CommandFailed(f"action {one.seq}, `{one.text}`, could not have been made{why}")
        if flags.json:
            print_json(
                seq=one.seq, action=one.text, by=one.by, at_ms=one.at_ms, board=_piles(game), score=game.score
            )
        else:
            by = "" if one.by == "player" else f"  by {one.by}"
            print(f"{one.seq:4}  {one.text:12}{game.score:3} home{by}")
            if flags.boards:
                print(f"\n{game.board()}\n")


def headline(recording: Recording) -> str:
    """A recording in one line: what was played, and when."""
    level = f" level {recording.level}" if recording.level is not None else ""
    began = datetime.fromtimestamp(recording.created_ms / 1000, UTC)
    deal = recording.deal if len(recording.deal) < 80 else "a board"
    return f"{recording.variant}{level}, {deal}, begun {began:%Y-%m-%d %H:%M:%S} UTC, game {recording.game}"


def _outcome(recording: Recording) -> str:
    why = f" ({recording.result.replace('_', ' ')})" if recording.result else ""
    undone = f", {recording.undos} taken back" if recording.undos else ""
    return f"{recording.status}{why}, {recording.score} home, {recording.moves} moves{undone}"


def play(flags: argparse.Namespace) -> int:
    """Show a recorded game in time: the table after each action, as the player saw it."""
    recording, game = _dealt(flags)
    is_screen = sys.stdout.isatty()
    _draw(game, headline(recording), is_screen=is_screen)
    before = recording.created_ms
    for one in recording.actions:
        if flags.speed:
            time.sleep(max(0, min(one.at_ms - before, LONGEST_PAUSE_MS)) / 1000 / flags.speed)
        before = one.at_ms
        action = parse_action(one.text)
        done = None if action is None else game.act(action)
        if done is None or isinstance(done, Refusal):
            raise CommandFailed(f"action {one.seq}, `{one.text}`, could not have been made")
        by = "" if one.by == "player" else f" by {one.by}"
        _draw(
            game,
            f"{one.seq} of {len(recording.actions)}: {one.text}{by}, {game.score} home",
            is_screen=is_screen,
        )
    print(_outcome(recording))
    return 0


def _draw(game: Game, title: str, *, is_screen: bool) -> None:
    columns, lines = shutil.get_terminal_size((80, 24)) if is_screen else (80, None)
    style = Style(symbols=can_write(SIGNS), colour=is_screen and not os.environ.get("NO_COLOR"))
    height = None if lines is None else max(8, lines - 3)
    table = draw_table(Picture(game.view()), style, width=columns, height=height)
    # On a screen each table takes the place of the one before it.
    print("\n".join([f"{CLEAR if is_screen else ''}{title}", *table, ""]), flush=True)


def verify_games(flags: argparse.Namespace) -> int:
    """Check that recordings are true; without names, every game in the database."""
    names = flags.games
    if not names:
        reader = _reader(flags.database)
        names = reader.game_ids()
        reader.close()
    status = 0
    for name, recording in _recordings(names, flags.database):
        findings = [recording] if isinstance(recording, Finding) else verify(recording)
        status = ERRORS if findings else status
        if flags.json:
            print_json(game=name, ok=not findings, findings=findings)
        elif findings:
            for one in findings:
                print(f"{name}: {one.message} [{one.code}]")
        elif isinstance(recording, Recording):
            print(
                f"{name}: true, {len(recording.actions)} actions, {recording.status}, head {recording.head}"
            )
    return status


def export(flags: argparse.Namespace) -> int:
    """Write a game of the database to a file, or to standard output."""
    reader = _reader(flags.database)
    try:
        recording = export_game(reader, flags.game)
    finally:
        reader.close()
    if recording is None:
        raise CommandFailed(f"there is no game `{flags.game[:80]}` in the database", USAGE)
    if recording.status in ("playing", "stuck"):
        print("chilkoot: this game goes on; the file holds its hidden cards", file=sys.stderr)
    data = encode_recording(recording) + b"\n"
    if flags.output is None:
        sys.stdout.buffer.write(data)
    else:
        flags.output.write_bytes(data)
    return 0


def take_in(flags: argparse.Namespace) -> int:
    """Take recordings into the database, which no server may be using meanwhile."""
    status = 0
    recordings = [(name, _from_file(name)) for name in flags.files]
    store = _opened(flags.database)
    try:
        for name, recording in recordings:
            done = (
                [recording]
                if isinstance(recording, Finding)
                else import_recording(store, recording, now_ms=time.time_ns() // 1_000_000)
            )
            if isinstance(done, list):
                status = ERRORS
                for one in done:
                    print(f"chilkoot: {name}: {one.message} [{one.code}]", file=sys.stderr)
            elif isinstance(recording, Recording):
                print(f"{recording.game}{'' if done.is_new else ' (was there already)'}")
    finally:
        store.close()
    return status


def _recordings(names: list[str], database: str) -> Iterator[tuple[str, Recording | Finding]]:
    for name in names:
        yield name, recording_of(name, database)


def recording_of(name: str, database: str) -> Recording | Finding:
    """The recording in a file, else the game of that id in the database."""
    if name == "-" or Path(name).is_file():
        return _from_file(name)
    if "/" in name or name.endswith(".json"):
        raise CommandFailed(f"{name}: there is no such file", USAGE)
    reader = _reader(database)
    try:
        recording = export_game(reader, name)
    finally:
        reader.close()
    if recording is None:
        raise CommandFailed(f"`{name[:80]}` is neither a file nor a game in the database", USAGE)
    return recording


def _from_file(name: str) -> Recording | Finding:
    if name == "-":
        return parse_recording(read_standard_input(MAX_BYTES + 1))
    try:
        with Path(name).open("rb") as file:
            return parse_recording(file.read(MAX_BYTES + 1))
    except OSError as error:
        raise CommandFailed(f"{name}: {(error.strerror or str(error)).lower()}", USAGE) from None


def _reader(database: str) -> Reader:
    return Reader.open(database or default_database())


def _opened(database: str) -> Store:
    return Store.open(database or default_database())


def _piles(game: Game) -> dict[str, str]:
    cards = game.position.piles
    return {name: format_pile(pile) for name, pile in zip(game.piles(), cards, strict=True) if pile}
