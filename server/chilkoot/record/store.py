"""The record of a server: one database, one lock on it, one thread that writes, readers beside it.

Knows no event loop: outcomes come by a callback from the writing thread. What is written is decided elsewhere.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from threading import Event

from sqlalchemy import Engine

from chilkoot.record.faults import CannotOpen, StoreFault, StoreFull, StoreUnavailable
from chilkoot.record.migrations import prepare
from chilkoot.record.reader import Reader
from chilkoot.record.sqlite import (
    FileLock,
    create_file,
    database_path,
    hold,
    writing_engine,
)
from chilkoot.record.writer import Outcome, Writer
from chilkoot.record.writes import Unit

__all__ = ["Store"]

_log = logging.getLogger("chilkoot.record")


class _Waiter(Event):
    """The token of a unit whose sender waits for it."""

    fault: StoreFault | None = None


class Store:
    """An open database that this process alone writes to.

    `reader` reads from any thread; `submit` never blocks, and its unit's outcome is delivered later, all outcomes of one
    transaction in one call from the writing thread.
    """

    def __init__(
        self,
        lock: FileLock,
        engine: Engine,
        reader: Reader,
        *,
        deliver: Callable[[Sequence[Outcome]], None] | None,
        on_fatal: Callable[[StoreFault], None] | None,
        queue_limit: int,
    ) -> None:
        self.reader = reader
        self._lock = lock
        self._engine = engine
        self._deliver = deliver
        self._queue_limit = queue_limit
        self._is_closed = False
        self._writer = Writer(engine, self._hand_out, on_fatal or (lambda _: None))
        self._writer.start()

    @classmethod
    def open(
        cls,
        url: str,
        *,
        deliver: Callable[[Sequence[Outcome]], None] | None = None,
        on_fatal: Callable[[StoreFault], None] | None = None,
        busy_ms: int = 2000,
        queue_limit: int = 1024,
    ) -> Store:
        """Open the database of a URL, making it or bringing its schema up to date where needed.

        `on_fatal` is called, from the writing thread, when nothing more can be written until the process has been started
        again. Raises CannotOpen, with StoreBusy for a database that is in use and SchemaMismatch for one of a newer
        version or another program.
        """
        path = database_path(url)
        lock = hold(path)
        try:
            create_file(path)
            prepare(path)
            engine = writing_engine(path, busy_ms=busy_ms)
            try:
                engine.connect().close()
            except Exception as error:
                raise CannotOpen(f"can't open the database {path} for writing: {error}") from error
            reader = Reader.open(url)
        except BaseException:
            lock.release()
            raise
        return cls(lock, engine, reader, deliver=deliver, on_fatal=on_fatal, queue_limit=queue_limit)

    @property
    def queued(self) -> int:
        """How many units wait for the next transaction."""
        return self._writer.queued

    @property
    def fatal(self) -> StoreFault | None:
        """Why nothing can be written any more, None while all is well."""
        return self._writer.fatal

    def submit(self, unit: Unit, token: object) -> None:
        """Queue a unit; `deliver` gets `token` with its outcome. Raises StoreFull, or StoreUnavailable after `close`."""
        if self._is_closed:
            raise StoreUnavailable("the record is closed")
        if self._writer.queued >= self._queue_limit:
            raise StoreFull(f"{self._queue_limit} units wait to be written already")
        self._writer.put(unit, token)

    def write(self, unit: Unit) -> None:
        """Write a unit and wait for it; raises the fault where there was one."""
        waiter = _Waiter()
        self.submit(unit, waiter)
        waiter.wait()
        if waiter.fault is not None:
            raise waiter.fault

    def close(self, timeout: float = 2.0) -> bool:
        """Write what is queued and let go of the database; False where the writing did not end in time.

        Then the lock is still held, for a write may be under way; closing again waits again.
        """
        self._is_closed = True
        self.reader.close()
        if not self._writer.stop(timeout):
            return False
        self._engine.dispose()
        self._lock.release()
        return True

    def _hand_out(self, outcomes: Sequence[Outcome]) -> None:
        others = []
        for outcome in outcomes:
            token, fault = outcome
            if type(token) is _Waiter:
                token.fault = fault
                token.set()
            else:
                others.append(outcome)
        if others:
            if self._deliver is None:
                _log.error("%d outcomes had nobody to go to", len(others))
            else:
                self._deliver(others)
