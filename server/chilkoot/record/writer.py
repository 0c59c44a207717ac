"""The one thread that writes: units in, one outcome for each, as many in a transaction as came during the last one.

It owns the only connection that writes. It outlives every fault of the database: what could not be written is answered so,
and the next unit finds a new connection. It never keeps a unit for a second try, since only its sender knows whether that
is still wanted. It does not linger for more units either: under load the last commit is linger enough.
"""

from __future__ import annotations

import logging
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Sequence
from itertools import groupby
from queue import SimpleQueue
from threading import Thread
from typing import Final

from sqlalchemy import Engine, PoolProxiedConnection
from sqlalchemy.engine.interfaces import DBAPICursor

from chilkoot.failpoint import reach
from chilkoot.record.faults import Conflict, StoreDoubtful, StoreFault, StoreUnavailable, Taken, Unwritable
from chilkoot.record.sqlite import (
    BEGIN,
    is_conflict,
    is_fatal,
    is_fault_of_data,
    is_fault_of_database,
    is_locked,
)
from chilkoot.record.statements import ONE_BY_ONE, compile_pruning, compile_statements
from chilkoot.record.writes import PutReply, TakeCertified, Unit, Write

__all__ = ["Outcome", "Writer"]

_log = logging.getLogger("chilkoot.record")

Outcome = tuple[object, StoreFault | None]
"""The token that came with a unit, and what went wrong with the unit."""

_PRUNE_EVERY: Final = 1024
"""Replies between two prunings. Rarely and many at once, for old replies of all sessions lie on the same pages."""

_PRUNE_FROM: Final = 32
"""New replies since its last pruning with which a session takes part in one."""

_SESSIONS_COUNTED: Final = 8192

_Batch = list[tuple[Unit, object]]


class _CommitFailed(Exception):  # noqa: N818  never leaves this module
    """The commit itself raised its cause."""


class Writer:
    """Writes units in the order in which they are put; `deliver` is called with the outcomes of each transaction."""

    def __init__(
        self,
        engine: Engine,
        deliver: Callable[[Sequence[Outcome]], None],
        on_fatal: Callable[[StoreFault], None],
    ) -> None:
        self.fatal: StoreFault | None = None
        self._units: deque[tuple[Unit, object]] = deque()
        self._bell: SimpleQueue[None] = SimpleQueue()
        self._is_asleep = False
        self._is_stopping = False
        self._engine = engine
        self._deliver = deliver
        self._on_fatal = on_fatal
        self._statements = compile_statements(engine.dialect)
        self._pruning = compile_pruning(engine.dialect)
        self._order = {kind: place for place, kind in enumerate(self._statements)}
        self._connection: PoolProxiedConnection | None = None
        self._failures = 0
        self._replies: Counter[str] = Counter()
        self._replies_since_pruning = 0
        self._thread = Thread(target=self._run, name="chilkoot-record", daemon=True)

    @property
    def queued(self) -> int:
        """How many units wait for the next transaction."""
        return len(self._units)

    def put(self, unit: Unit, token: object) -> None:
        """Queue a unit for the next transaction."""
        self._units.append((unit, token))
        self._ring()

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self, timeout: float) -> bool:
        """Write what is queued, then end; False where that took longer than `timeout` seconds."""
        self._is_stopping = True
        self._ring()
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def _ring(self) -> None:
        """Wake the thread if it sleeps. It says so before it looks at the queue a last time, so nothing is overlooked."""
        if self._is_asleep:
            # Waking it costs as much as making a row: once a transaction, not once a unit.
            self._is_asleep = False
            self._bell.put(None)

    def _run(self) -> None:
        while True:
            self._is_asleep = True
            if not self._units and not self._is_stopping:
                self._bell.get()
            self._is_asleep = False
            if batch := self._take():
                self._write(batch)
            elif self._is_stopping:
                break
        self._disconnect()

    def _take(self) -> _Batch:
        """Everything that is queued; this thread alone takes, so nothing here waits."""
        return [self._units.popleft() for _ in range(len(self._units))]

    def _write(self, batch: _Batch) -> None:
        if self.fatal is not None:
            self._refuse(
                batch, StoreUnavailable("nothing can be written until the server has been started again")
            )
            return
        try:
            outcomes = self._transaction(batch)
        except _CommitFailed as failure:
            self._failed(batch, failure.__cause__, StoreDoubtful)
        except Exception as error:  # noqa: BLE001  logged there; whatever happened, the thread goes on
            self._failed(batch, error, StoreUnavailable)
        else:
            if self._failures:
                _log.warning(
                    "the database can be written again, after %d failed transactions", self._failures
                )
                self._failures = 0
            self._answer(outcomes)

    def _failed(self, batch: _Batch, error: BaseException | None, kind: type[StoreFault]) -> None:
        if not self._failures:
            is_known = is_fault_of_database(error) or isinstance(error, StoreFault)
            _log.error("can't write to the database: %s", error, exc_info=None if is_known else error)
        self._failures += 1
        self._disconnect()
        if is_locked(error):
            # What came while this transaction waited for the lock has waited too, and would wait as long again.
            batch = [*batch, *self._take()]
        fault = kind(f"the database can't be written: {error}")
        if is_fatal(error):
            _log.critical("the system could not say whether data reached the disk: nothing more is written")
            self.fatal = fault
        self._refuse(batch, fault)
        if self.fatal is not None:
            self._on_fatal(fault)

    def _refuse(self, batch: _Batch, fault: StoreFault) -> None:
        self._answer([(token, fault) for _, token in batch])

    def _answer(self, outcomes: Sequence[Outcome]) -> None:
        try:
            self._deliver(outcomes)
        except Exception:  # noqa: BLE001  logged; the thread goes on
            _log.exception("what was written could not be reported")

    def _transaction(self, batch: _Batch) -> list[Outcome]:
        connection = self._connected()
        cursor = connection.cursor()
        reach("before_begin")
        cursor.execute(BEGIN)
        try:
            self._apply(cursor, batch)
            outcomes: list[Outcome] = [(token, None) for _, token in batch]
        except Exception as error:
            if not is_fault_of_data(error):
                raise
            connection.rollback()
            cursor.execute(BEGIN)
            outcomes = [(token, self._try(cursor, unit)) for unit, token in batch]
        if self._replies_since_pruning >= _PRUNE_EVERY:
            self._prune(cursor)
        reach("in_transaction")
        try:
            connection.commit()
        except Exception as error:
            raise _CommitFailed from error
        reach("after_commit")
        return outcomes

    def _apply(self, cursor: DBAPICursor, batch: _Batch) -> None:
        """Apply all units at once, sorted by kind: few statements with many rows each."""
        rows: defaultdict[type[Write], list[Write]] = defaultdict(list)
        for unit, _ in batch:
            for write in unit:
                rows[type(write)].append(write)
        for kind in sorted(rows, key=self._order.__getitem__):
            self._run_kind(cursor, kind, rows[kind])

    def _try(self, cursor: DBAPICursor, unit: Unit) -> StoreFault | None:
        """Apply one unit by itself and in its own order, so that what is wrong with it is not held against the others."""
        cursor.execute("SAVEPOINT unit")
        try:
            for kind, writes in groupby(unit, type):
                self._run_kind(cursor, kind, list(writes))
        except Exception as error:
            if not is_fault_of_data(error):
                raise
            cursor.execute("ROLLBACK TO unit")
            return _fault_of(error)
        cursor.execute("RELEASE unit")
        return None

    def _run_kind(self, cursor: DBAPICursor, kind: type[Write], writes: list[Write]) -> None:
        if kind in ONE_BY_ONE and len(writes) > 1:
            for write in writes:
                self._run_kind(cursor, kind, [write])
            return
        for statement in self._statements[kind]:
            cursor.executemany(statement.sql, statement.rows(writes))
            if statement.is_exact and cursor.rowcount != len(writes):
                fault = Taken if kind is TakeCertified else Conflict
                raise fault(f"{kind.__name__}: what it refers to is not on record, or not as it says")
        if kind is PutReply:
            self._replies.update(write.session for write in writes if isinstance(write, PutReply))
            self._replies_since_pruning += len(writes)

    def _prune(self, cursor: DBAPICursor) -> None:
        due = [session for session, n in self._replies.items() if n >= _PRUNE_FROM]
        cursor.executemany(self._pruning, [(session, session) for session in due])
        for session in due:
            del self._replies[session]
        if len(self._replies) > _SESSIONS_COUNTED:
            # Forgetting a count only means that its session keeps some replies too many.
            self._replies.clear()
        self._replies_since_pruning = 0

    def _connected(self) -> PoolProxiedConnection:
        if self._connection is None:
            self._connection = self._engine.raw_connection()
        return self._connection

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            try:
                connection.close()
            except Exception:  # noqa: BLE001  logged; it is given up either way
                _log.exception("the connection to the database could not be closed")


def _fault_of(error: Exception) -> StoreFault:
    if isinstance(error, StoreFault):
        return error
    if is_conflict(error):
        return Conflict(str(error))
    # The text of such an error can hold what was to be written, which may be a secret.
    _log.error("a unit can't be written: %s", type(error).__name__)
    return Unwritable(f"a value can't be kept: {type(error).__name__}")
