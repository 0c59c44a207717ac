"""The record as the event loop sees it: a commit that can be awaited, questions asked in a few threads beside.

The writing thread outlives connections: a unit that was handed over is written whoever still waits for it.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final, ParamSpec, TypeVar

from chilkoot.failpoint import reach
from chilkoot.host.atonce import Commit
from chilkoot.host.metrics import Metrics
from chilkoot.record import Reader, Store, StoreFault, StoreFull, StoreUnavailable, Unit, warn_of_known_bugs

__all__ = ["Ledger"]

_P = ParamSpec("_P")
_T = TypeVar("_T")

_THREADS: Final = 3
QUEUE_LIMIT: Final = 1024


class Ledger:
    """The open record."""

    def __init__(self, url: str, *, on_fatal: Callable[[StoreFault], None]) -> None:
        """Open the database; blocks. Raises CannotOpen."""
        self._loop = asyncio.get_running_loop()
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="chilkoot-reader")
        # Only here: a server stays, and whoever runs it may be tempted to open its database beside it.
        warn_of_known_bugs()
        self._store = Store.open(
            url,
            deliver=self._deliver,
            on_fatal=lambda fault: self._in_loop(on_fatal, fault),
            queue_limit=QUEUE_LIMIT,
        )
        self.reader: Reader = self._store.reader
        self.metrics = Metrics()
        """What the whole server counts; commits are counted here."""
        self._waiting = 0
        self._is_closed = False
        self._gathered: list[tuple[Unit, Commit | None]] = []

    @property
    def is_busy(self) -> bool:
        """Whether as much waits to be written as may."""
        return self._store.queued + len(self._gathered) >= QUEUE_LIMIT

    @property
    def is_quiet(self) -> bool:
        """Whether nobody waits for a commit."""
        return not self._waiting and not self._gathered and self._store.queued == 0

    @property
    def fatal(self) -> StoreFault | None:
        """Why nothing can be written any more."""
        return self._store.fatal

    def commit(self, unit: Unit) -> Commit:
        """Write a unit; to be awaited."""
        commit = Commit(self._loop.time())
        self._waiting += 1
        self._gather(unit, commit)
        return commit

    def post(self, unit: Unit) -> None:
        """Write a unit that nobody waits for; where it can't be written, it is not missed."""
        self._gather(unit, None)

    def _gather(self, unit: Unit, commit: Commit | None) -> None:
        """Keep a unit till the end of this turn of the loop, so that all of a turn go into one transaction.

        Handed over one by one, the first would wake the writing thread, which then takes turns with the loop for the rest.
        """
        if not self._gathered:
            self._loop.call_soon(self.hand_over)
        self._gathered.append((unit, commit))

    def hand_over(self) -> None:
        """Let the writing thread have what was gathered in this turn."""
        gathered, self._gathered = self._gathered, []
        for unit, commit in gathered:
            try:
                self._store.submit(unit, commit)
            except (StoreFull, StoreUnavailable) as fault:
                if commit is not None:
                    self._waiting -= 1
                    commit.settle(fault)

    async def ask(self, question: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
        """Ask in a thread what takes time: the database, or a long computation. Raises StoreUnavailable after `close`."""
        if self._is_closed:
            # A command may come while the last connections are being closed.
            raise StoreUnavailable("the record is closed")
        if kwargs:
            return await self._loop.run_in_executor(self._pool, lambda: question(*args, **kwargs))
        return await self._loop.run_in_executor(self._pool, question, *args)

    def close(self, timeout: float) -> bool:
        """Write what is queued and let go of the database; blocks. False where it did not end in time."""
        self._is_closed = True
        self._pool.shutdown(wait=False, cancel_futures=True)
        return self._store.close(timeout)

    def _deliver(self, outcomes: Sequence[tuple[object, StoreFault | None]]) -> None:
        self._in_loop(self._settle, outcomes)

    def _in_loop(self, call: Callable[[_T], None], argument: _T) -> None:
        # The loop may have ended before the last transaction: then nobody is left to be told.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(call, argument)

    def _settle(self, outcomes: Sequence[tuple[object, StoreFault | None]]) -> None:
        self.metrics.batches.add(len(outcomes))
        now = self._loop.time()
        for token, fault in outcomes:
            if isinstance(token, Commit):
                self._waiting -= 1
                self.metrics.commits.add(now - token.began)
                reach("before_ack")
                token.settle(fault)
