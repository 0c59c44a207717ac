"""`chilkoot db`: bring the database to the present schema, check it and every game in it."""

from __future__ import annotations

import argparse

import msgspec

from chilkoot.cli.faults import ERRORS, CommandFailed
from chilkoot.cli.json_lines import print_json
from chilkoot.config import default_database
from chilkoot.record import (
    Copied,
    Reader,
    StoreFault,
    backup_database,
    export_game,
    restore_database,
    upgrade_database,
    verify,
)

__all__ = ["backup", "check", "restore", "upgrade"]


def upgrade(flags: argparse.Namespace) -> int:
    """Bring the database to the present schema; an empty one is made where there is none."""
    url = flags.database or default_database()
    before, now = upgrade_database(url)
    print(
        f"the schema is {now}"
        if before == now
        else f"the schema was {before or 'not there yet'} and is {now} now"
    )
    return 0


def backup(flags: argparse.Namespace) -> int:
    """Copy the database to a file; a server may be using it."""
    _tell(flags, backup_database(flags.database or default_database(), flags.file))
    return 0


def restore(flags: argparse.Namespace) -> int:
    """Put a copy in the database's place, which no server may be using."""
    _tell(flags, restore_database(flags.database or default_database(), flags.file))
    return 0


def _tell(flags: argparse.Namespace, copied: Copied) -> None:
    if flags.json:
        print_json(**msgspec.structs.asdict(copied))
        return
    print(f"{copied.path}: {copied.games} games, {copied.bytes:,} bytes, schema {copied.revision}")
    if copied.kept is not None:
        print(f"what was there before is {copied.kept}")


def check(flags: argparse.Namespace) -> int:
    """Check the file, then that every game in it is true."""
    reader = Reader.open(flags.database or default_database())
    try:
        found = [{"game": None, "message": one} for one in reader.damage()]
        games = reader.game_ids()
        for game in games:
            found += [{"game": game, "message": one} for one in _wrong_with(reader, game)]
    finally:
        reader.close()
    if flags.json:
        for one in found:
            print_json(**one)
    else:
        for one in found:
            print(f"{one['game']}: {one['message']}" if one["game"] else one["message"])
        print(
            f"{len(games)} game{'s' * (len(games) != 1)} checked: {len(found) or 'no'} problem{'s' * (len(found) != 1)}"
        )
    return ERRORS if found else 0


def _wrong_with(reader: Reader, game: str) -> list[str]:
    try:
        recording = export_game(reader, game)
    except StoreFault as fault:
        return [str(fault)]
    if recording is None:
        raise CommandFailed(f"the game {game} went away while it was checked")
    return [f"{one.message} [{one.code}]" for one in verify(recording)]
