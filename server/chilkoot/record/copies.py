"""Copies of a whole database: taken beside a running server, and put back where none runs.

A copy is one moment of the database, whole or not there at all, readable by its owner alone, for it holds keys and deals. A
database that a copy takes the place of is kept beside it.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import msgspec

from chilkoot.record.faults import CannotOpen, SchemaMismatch
from chilkoot.record.migrations import assert_known, stored_revision
from chilkoot.record.sqlite import copy_file, database_path, file_uri, hold, put_in_place, waiting_copy

__all__ = ["Copied", "backup_database", "restore_database"]


class Copied(msgspec.Struct, frozen=True):
    """A copy that was made: of which schema, how many games, how large; and where what it took the place of was kept."""

    path: str
    revision: str
    games: int
    bytes: int
    kept: str | None = None


def backup_database(url: str, target: Path) -> Copied:
    """Copy the database of a URL to a file that is not there yet; a server may go on using it. Raises CannotOpen."""
    path = database_path(url)
    if not path.exists():
        raise CannotOpen(f"there is no database {path}")
    revision = stored_revision(path)
    if revision is None:
        raise SchemaMismatch(f"the database {path} is empty")
    if target.exists():
        raise CannotOpen(f"{target} is there already: a copy takes the place of nothing")
    part = target.with_name(f"{target.name}.part")
    copy_file(path, part)
    try:
        games = _checked(part)
        _sync(part)
        part.rename(target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    return Copied(str(target), revision, games, target.stat().st_size)


def restore_database(url: str, source: Path) -> Copied:
    """Put a copy where the database of a URL is; no server may be using that. Raises CannotOpen, StoreBusy.

    What was there is kept as a copy of its own. Broken off at any point, it leaves the one or the other, and what else is to
    be done is done when the database is opened for writing next. An older schema is brought up to date when the server starts.
    """
    path = database_path(url)
    if not source.is_file():
        raise CannotOpen(f"there is no file {source}")
    if path.exists() and path.samefile(source):
        raise CannotOpen(f"{source} is the database itself")
    revision = stored_revision(source)
    if revision is None:
        raise SchemaMismatch(f"{source} is an empty file, no copy of a database")
    assert_known(source, revision)
    games = _checked(source)
    lock = hold(path)
    try:
        part = path.with_name(f"{path.name}.part")
        part.unlink(missing_ok=True)
        copy_file(source, part)
        _sync(part)
        part.rename(waiting_copy(path))
        kept = put_in_place(path)
        return Copied(str(path), revision, games, path.stat().st_size, None if kept is None else str(kept))
    finally:
        lock.release()


def _checked(path: Path) -> int:
    """How many games a file holds; raises CannotOpen where SQLite finds it damaged."""
    try:
        with closing(sqlite3.connect(file_uri(path, "ro"), uri=True, timeout=2)) as connection:
            found = [row[0] for row in connection.execute("PRAGMA integrity_check(3)")]
            if found != ["ok"]:
                raise CannotOpen(f"{path} is damaged: {'; '.join(found)}")
            return int(connection.execute("SELECT count(*) FROM game").fetchone()[0])
    except sqlite3.Error as error:
        raise CannotOpen(f"can't read {path}: {error}") from error


def _sync(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())
