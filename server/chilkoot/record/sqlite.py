"""SQLite as the record uses it: where the file is, how connections are set up, what this SQLite is known to lose.

The only module that knows which database is behind SQLAlchemy; another kind gets a module beside it. It decides nothing
about tables.
"""

from __future__ import annotations

import fcntl
import logging
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from sqlalchemy import Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError
from sqlalchemy.pool import NullPool, QueuePool

from chilkoot.record.faults import CannotOpen, StoreBusy

__all__ = [
    "BEGIN",
    "FileLock",
    "copy_file",
    "create_file",
    "database_path",
    "file_uri",
    "free_name",
    "has_wal_reset_bug",
    "hold",
    "is_conflict",
    "is_fatal",
    "is_fault_of_data",
    "is_fault_of_database",
    "is_locked",
    "put_in_place",
    "reading_engine",
    "waiting_copy",
    "warn_of_known_bugs",
    "writing_engine",
]

_log = logging.getLogger("chilkoot.record")

_PRAGMAS: Final[dict[str, int | str]] = {
    "journal_mode": "wal",
    # FULL: an acknowledged action survives a power cut, not only the end of the process.
    "synchronous": 2,
    "foreign_keys": 1,
    "trusted_schema": 0,
    "wal_autocheckpoint": 1000,
}

BEGIN: Final = "BEGIN IMMEDIATE"
"""How a transaction that writes begins: one that began by reading could fail to get the write lock later, without waiting."""

# SQLITE_IOERR_FSYNC and SQLITE_IOERR_DIR_FSYNC
_FATAL: Final = frozenset({1034, 1290})
# SQLITE_BUSY and SQLITE_LOCKED, whatever their reason
_LOCKED: Final = frozenset({5, 6})


def database_path(url: str) -> Path:
    """The file that a database URL names. Raises CannotOpen for any URL that is not one of a SQLite file."""
    try:
        parsed = make_url(url)
    except ArgumentError:
        raise CannotOpen(f"{url!r} is not a database URL: write sqlite:///path/to/games.db") from None
    if parsed.get_backend_name() == "postgresql":
        raise CannotOpen("PostgreSQL is not supported yet: write sqlite:///path/to/games.db")
    if parsed.drivername != "sqlite":
        raise CannotOpen(f"{parsed.drivername}:// is not supported: write sqlite:///path/to/games.db")
    if parsed.host or parsed.query or parsed.username or parsed.password:
        raise CannotOpen(
            "a SQLite URL has three slashes and a path, nothing else: sqlite:///path/to/games.db"
        )
    if not parsed.database or parsed.database.startswith((":memory:", "file:")):
        raise CannotOpen(
            "the record needs a file, it can't be kept in memory: write sqlite:///path/to/games.db"
        )
    return Path(parsed.database).expanduser().absolute()


def create_file(path: Path) -> None:
    """Make an empty database file that only its owner may read: it holds keys and hidden cards."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError as error:
        raise CannotOpen(f"can't create the database {path}: {error.strerror}") from error


class FileLock:
    """An exclusive hold on a database for the life of the process, in the file ``<database>.lock``.

    SQLite itself would let two servers write in turns, and until version 3.51.3 loses commits when they do.
    """

    def __init__(self, path: Path) -> None:
        """Take the lock. Raises StoreBusy where another process has it."""
        name = path.with_name(path.name + ".lock")
        try:
            self._file = name.open("a+")
        except OSError as error:
            raise CannotOpen(f"can't create the lock file {name}: {error.strerror}") from error
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if not isinstance(error, BlockingIOError):
                self._file.close()
                raise CannotOpen(f"can't lock {name}: {error.strerror}") from error
            self._file.seek(0)
            holder = self._file.read(20).strip()
            self._file.close()
            by = f" (process {holder})" if holder.isdecimal() else ""
            raise StoreBusy(f"the database {path} is in use by another server or command{by}") from None
        self._file.truncate(0)
        self._file.write(f"{os.getpid()}\n")
        self._file.flush()

    def release(self) -> None:
        """Let go; the file stays, for removing it could take it from under another process that waits to lock it."""
        self._file.close()


def hold(path: Path) -> FileLock:
    """Take the lock on a database, which need not be there yet. Raises CannotOpen, StoreBusy.

    A copy that was being put in its place when that was broken off is put there now.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CannotOpen(f"can't create the database {path}: {error.strerror}") from error
    lock = FileLock(path)
    try:
        if waiting_copy(path).exists():
            kept = put_in_place(path)
            _log.warning("%s is the copy that was being restored; what was there is %s", path, kept)
    except OSError as error:
        lock.release()
        raise CannotOpen(f"can't put {waiting_copy(path)} where {path} is: {error.strerror}") from error
    return lock


def waiting_copy(path: Path) -> Path:
    """Where a whole copy waits to be put in a database's place."""
    return path.with_name(f"{path.name}.restored")


def put_in_place(path: Path) -> Path | None:
    """Put the copy that waits where a database is; where that is kept. Under the lock.

    The same again goes on where it was broken off: until the last step the copy still waits.
    """
    kept = _set_aside(path)
    waiting_copy(path).rename(path)
    return kept


def _set_aside(path: Path) -> Path | None:
    """Keep the database that is there under another name, together with what its log still holds."""
    if not path.exists():
        return None
    kept = free_name(path, "before-restore")
    log, index = (path.with_name(f"{path.name}{suffix}") for suffix in ("-wal", "-shm"))
    # SQLite would read the old log into the new file. Who only reads may have left an empty one.
    if log.exists() and log.stat().st_size:
        log.rename(kept.with_name(f"{kept.name}-wal"))
    log.unlink(missing_ok=True)
    index.unlink(missing_ok=True)
    path.rename(kept)
    return kept


def writing_engine(path: Path, *, busy_ms: int = 2000, foreign_keys: bool = True) -> Engine:
    """An engine whose transactions hold the write lock from their first statement.

    One connection at a time, in the thread that uses it; its settings are read back, since SQLite ignores in silence what
    it can't do.
    """

    def connect() -> sqlite3.Connection:
        # No O_CREAT: a database that vanished must not come back empty.
        connection = sqlite3.connect(
            file_uri(path, "rw"), uri=True, timeout=busy_ms / 1000, isolation_level=None
        )
        try:
            for name, value in {
                **_PRAGMAS,
                "busy_timeout": busy_ms,
                "foreign_keys": int(foreign_keys),
            }.items():
                connection.execute(f"PRAGMA {name}={value}").close()
                _assert_pragma(connection, name, value)
        except BaseException:
            connection.close()
            raise
        return connection

    engine = create_engine("sqlite://", creator=connect, poolclass=NullPool, hide_parameters=True)
    event.listen(engine, "begin", _begin_immediate)
    return engine


def reading_engine(path: Path) -> Engine:
    """An engine that can't write, for use from several threads; a transaction sees one moment of the database."""

    def connect() -> sqlite3.Connection:
        connection = sqlite3.connect(
            file_uri(path, "ro"), uri=True, timeout=2, isolation_level=None, check_same_thread=False
        )
        connection.execute("PRAGMA trusted_schema=0").close()
        return connection

    engine = create_engine(
        "sqlite://", creator=connect, poolclass=QueuePool, pool_size=4, max_overflow=12, hide_parameters=True
    )
    event.listen(engine, "begin", _begin)
    return engine


def _assert_pragma(connection: sqlite3.Connection, name: str, value: int | str) -> None:
    found = connection.execute(f"PRAGMA {name}").fetchone()
    if found is None or found[0] != value:
        raise CannotOpen(f"SQLite refuses {name}={value} (it says {found and found[0]})")


def file_uri(path: Path, mode: str) -> str:
    """What SQLite opens a file by; its name need not be text."""
    return f"file:{quote(os.fsencode(path))}?mode={mode}"


def copy_file(source: Path, target: Path) -> None:
    """Copy a database to a file that is not there yet, as it is at one moment; others may go on using it.

    All pages go in one step: whoever writes meanwhile makes it neither begin again nor mix two moments. Raises CannotOpen.
    """
    if target.exists():
        raise CannotOpen(f"{target} is there already: an earlier copy did not end; remove it")
    create_file(target)
    try:
        with (
            closing(sqlite3.connect(file_uri(source, "ro"), uri=True, timeout=2)) as one,
            closing(sqlite3.connect(target)) as other,
        ):
            one.backup(other)
            # A copy is one file: what a log holds beside it would be left behind.
            other.execute("PRAGMA journal_mode=DELETE").close()
    except (sqlite3.Error, OSError) as error:
        target.unlink(missing_ok=True)
        raise CannotOpen(f"can't copy the database {source} to {target}: {error}") from error


def free_name(path: Path, what: str) -> Path:
    """A name beside a database that no file has yet: ``games.db.before-0006``, then ``games.db.before-0006.2``."""
    stem = f"{path.name}.{what}"
    names = (path.with_name(f"{stem}{suffix}") for suffix in ("", *(f".{n}" for n in range(2, 1000))))
    return next(name for name in names if not name.exists())


def _begin_immediate(connection: Any) -> None:
    connection.exec_driver_sql(BEGIN)


def _begin(connection: Any) -> None:
    connection.exec_driver_sql("BEGIN")


def is_fault_of_database(error: BaseException | None) -> bool:
    """Whether the database or its driver raised this."""
    return isinstance(error, sqlite3.Error)


def is_fault_of_data(error: Exception) -> bool:
    """Whether the fault lies in what was to be written, so that other data may do."""
    return not isinstance(error, sqlite3.Error) or isinstance(
        error, sqlite3.IntegrityError | sqlite3.DataError | sqlite3.ProgrammingError | sqlite3.InterfaceError
    )


def is_conflict(error: Exception) -> bool:
    """Whether what was to be written contradicts what is there."""
    return isinstance(error, sqlite3.IntegrityError)


def is_fatal(error: BaseException | None) -> bool:
    """Whether the system could not say if data reached the disk.

    After a failed fsync the kernel may hold pages as clean that were never written, so neither what is read nor the next
    fsync can be trusted by this process.
    """
    return getattr(error, "sqlite_errorcode", None) in _FATAL


def is_locked(error: BaseException | None) -> bool:
    """Whether another process held the database for too long."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in _LOCKED


def has_wal_reset_bug(version: tuple[int, ...]) -> bool:
    """Whether this SQLite may lose commits when two connections write or checkpoint at once."""
    # Some distributions mend older versions without a new number, which can't be told from here.
    return (3, 7, 0) <= version < (3, 51, 3)


def warn_of_known_bugs() -> None:
    """Say in the log what the operator must not do with this SQLite."""
    if has_wal_reset_bug(sqlite3.sqlite_version_info):
        _log.warning(
            "SQLite %s can lose commits when two programs write to one database: never write to it, nor checkpoint it, "
            "with another program while the server runs (mended in 3.51.3)",
            sqlite3.sqlite_version,
        )
