"""Brings a database to the present schema, carefully: it holds every game that anybody played.

What a migration may do is written in ``alembic/versions``; here is what holds for all of them. References are off while it
runs (with them on, rebuilding a table deletes what refers to it), it is one transaction, no table may lose or gain a row,
no reference may dangle, and a copy of the database is made first. alembic is imported only where there is work to do.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, Engine, inspect, select, table
from sqlalchemy.exc import DatabaseError
from sqlalchemy.sql import func

from chilkoot.data import migrations_folder
from chilkoot.record.faults import CannotOpen, SchemaMismatch
from chilkoot.record.sqlite import (
    copy_file,
    create_file,
    database_path,
    free_name,
    hold,
    reading_engine,
    writing_engine,
)
from chilkoot.record.tables import REVISION

__all__ = ["assert_known", "migrate", "migrating", "prepare", "stored_revision", "upgrade_database"]

_log = logging.getLogger("chilkoot.record")

_VERSION_TABLE: Final = "alembic_version"


def upgrade_database(url: str) -> tuple[str | None, str]:
    """Bring the database of a URL to the present schema: the revision it had (None: it was empty) and the one it has."""
    path = database_path(url)
    lock = hold(path)
    try:
        create_file(path)
        before = stored_revision(path)
        prepare(path)
        return before, REVISION
    finally:
        lock.release()


def prepare(path: Path) -> None:
    """Make the present schema in a new database, or bring an older one to it; the caller holds the lock.

    Raises SchemaMismatch for a database that a newer Chilkoot or another program made, before anything is changed.
    """
    found = stored_revision(path)
    if found == REVISION:
        return
    if found is not None:
        assert_known(path, found)
        _log.warning(
            "the schema of %s goes from %s to %s; the copy before it is %s",
            path,
            found,
            REVISION,
            _copy(path),
        )
    engine = writing_engine(path)
    try:
        migrate(engine)
    except DatabaseError as error:
        raise CannotOpen(f"can't bring the schema of {path} up to date: {error.orig}") from error
    finally:
        engine.dispose()


def stored_revision(path: Path) -> str | None:
    """The revision of a database's schema, None for an empty one. Raises SchemaMismatch for what is none of ours."""
    engine = reading_engine(path)
    try:
        with engine.connect() as connection:
            tables = inspect(connection).get_table_names()
            if not tables:
                return None
            if _VERSION_TABLE in tables:
                revision = connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar()
                if revision is not None:
                    return str(revision)
    except DatabaseError as error:
        if getattr(error.orig, "sqlite_errorname", "") == "SQLITE_NOTADB":
            raise SchemaMismatch(f"{path} is not a SQLite database") from None
        raise CannotOpen(f"can't read the database {path}: {error.orig}") from error
    finally:
        engine.dispose()
    raise SchemaMismatch(
        f"{path} is a database of another program: it has tables, but none of a Chilkoot schema"
    )


def migrate(engine: Engine, *, to: str = "head", down: bool = False, folder: Path | None = None) -> None:
    """Run the migrations of a folder up to a revision, or with `down` back to an older one."""
    from alembic import command  # noqa: PLC0415  100 ms that a start on a current database need not spend
    from alembic.config import Config  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", str(folder or migrations_folder()).replace("%", "%%"))
    with engine.connect() as connection:
        config.attributes["connection"] = connection
        (command.downgrade if down else command.upgrade)(config, to)


@contextmanager
def migrating(connection: Connection) -> Iterator[None]:
    """What holds around every migration: wraps the transaction in which ``alembic/env.py`` runs them."""
    raw = connection.connection.driver_connection
    assert isinstance(raw, sqlite3.Connection)
    had_foreign_keys = raw.execute("PRAGMA foreign_keys").fetchone()[0]
    # Inside a transaction SQLite ignores this without a word.
    raw.execute("PRAGMA foreign_keys=OFF")
    try:
        with connection.begin():
            before = _row_counts(connection)
            yield
            after = _row_counts(connection)
            changed = [
                f"{name} ({before[name]} rows before, {after[name]} after)"
                for name in sorted(before.keys() & after.keys())
                if before[name] != after[name]
            ]
            if changed:
                raise CannotOpen(f"the migration would change rows and was taken back: {', '.join(changed)}")
            if dangling := connection.exec_driver_sql("PRAGMA foreign_key_check").fetchall():
                names = ", ".join(sorted({str(row[0]) for row in dangling}))
                raise CannotOpen(
                    f"the migration would leave references to nothing and was taken back: {names}"
                )
    finally:
        raw.execute(f"PRAGMA foreign_keys={had_foreign_keys:d}")


def _row_counts(connection: Connection) -> dict[str, int]:
    names = [name for name in inspect(connection).get_table_names() if name != _VERSION_TABLE]
    return {name: connection.scalar(select(func.count()).select_from(table(name))) or 0 for name in names}


def assert_known(path: Path, revision: str | None) -> None:
    """Raise SchemaMismatch for a revision that is none of those there have been; None is that of an empty database."""
    from alembic.script import ScriptDirectory  # noqa: PLC0415

    known = {script.revision for script in ScriptDirectory(str(migrations_folder())).walk_revisions()}
    if revision is not None and revision not in known:
        raise SchemaMismatch(
            f"the database {path} has the schema {revision}, which this Chilkoot does not know (its own is {REVISION}): "
            "it was used by a newer version; install that one, or choose another database"
        )


def _copy(path: Path) -> Path:
    copy = free_name(path, f"before-{REVISION}")
    part = copy.with_name(f"{copy.name}.part")
    part.unlink(missing_ok=True)
    copy_file(path, part)
    part.rename(copy)
    return copy
