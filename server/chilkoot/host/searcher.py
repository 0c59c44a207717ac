"""The process that searches: one question at a time, the most urgent first, none of them in the way of the event loop.

It is started when it is first wanted, stands behind the server in the queue for a core, is bounded in memory, and ends with
the server. Who waits may stop waiting; the search then ends by its own budget, and only one that hangs is ended by force.
"""

from __future__ import annotations

import asyncio
import contextlib
import heapq
import os
import resource
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from enum import IntEnum
from itertools import count
from multiprocessing import get_context
from typing import Final, ParamSpec, TypeVar

from chilkoot.data import keep_compiled_solver
from chilkoot.host.log import log

__all__ = ["SearchFailed", "Searcher", "Urgency"]

_P = ParamSpec("_P")
_T = TypeVar("_T")

_ROOM: Final = 4 << 30
"""Bytes of address space for the process; the compiler's libraries reserve much that they never use."""

_LONGEST: Final = 600
"""Seconds after which a search is taken to hang, compiling included; budgets of positions end all others."""


class Urgency(IntEnum):
    """Who is served first."""

    PLAYER = 0
    """Somebody waits for a game to begin."""
    READER = 1
    """Somebody waits for an analysis."""
    DAY = 2
    """The deal of a day that is to come."""
    STORE = 3
    """A deal for later."""


class SearchFailed(Exception):  # noqa: N818 - what failed was the asking: nothing is known of what was asked
    """A search ended without an answer."""


class Searcher:
    """Asks questions of a process of its own, which stands so far behind the server as `niceness` says."""

    def __init__(self, *, niceness: int = 10) -> None:
        self._niceness = niceness
        self._pool: ProcessPoolExecutor | None = None
        self._loop = asyncio.get_running_loop()
        self._is_busy = False
        self._waiting: list[tuple[int, int, asyncio.Future[None]]] = []
        self._numbers = count()

    async def ask(
        self,
        urgency: Urgency,
        seconds: float | None,
        question: Callable[_P, _T],
        *args: _P.args,
        **kwargs: _P.kwargs,
    ) -> _T:
        """What a function of the solver says; waits for its turn and the answer, both within `seconds`.

        Raises TimeoutError, and SearchFailed where the process ended.
        """
        async with asyncio.timeout(seconds):
            await self._turn(urgency)
            try:
                asked = self._started().submit(question, *args, **kwargs)
            except BaseException:
                self._next()
                raise
            hangs = self._loop.call_later(_LONGEST, self.close)
            asked.add_done_callback(lambda done: self._in_loop(self._done, done, hangs))
            try:
                return await asyncio.wrap_future(asked)
            except BrokenExecutor as failure:
                self._restart()
                raise SearchFailed("the process that searches ended") from failure

    def close(self) -> None:
        """End the process, whatever it does; it is started again when it is wanted."""
        pool, self._pool = self._pool, None
        if pool is not None:
            processes = list((pool._processes or {}).values())
            pool.shutdown(wait=False, cancel_futures=True)
            for process in processes:
                process.kill()

    def _started(self) -> ProcessPoolExecutor:
        if self._pool is None:
            keep_compiled_solver()
            self._pool = ProcessPoolExecutor(
                1,
                mp_context=get_context("spawn"),
                initializer=_be_modest,
                initargs=(os.getpid(), self._niceness),
            )
        return self._pool

    def _restart(self) -> None:
        if self._pool is not None:
            log.warning("the process that searches ended; it is started again when it is wanted")
            self.close()

    async def _turn(self, urgency: Urgency) -> None:
        """Wait until the process is free and nothing more urgent waits."""
        if not self._is_busy:
            self._is_busy = True
            return
        turn: asyncio.Future[None] = self._loop.create_future()
        heapq.heappush(self._waiting, (urgency, next(self._numbers), turn))
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._next()
            raise

    def _done(self, _: Future[object], hangs: asyncio.TimerHandle) -> None:
        hangs.cancel()
        self._next()

    def _next(self) -> None:
        """The process is free: let the next one ask."""
        while self._waiting:
            _, _, turn = heapq.heappop(self._waiting)
            if not turn.done():
                turn.set_result(None)
                return
        self._is_busy = False

    def _in_loop(self, call: Callable[..., None], *arguments: object) -> None:
        # The loop may have ended before the process did: then nobody is left to be told.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(call, *arguments)


def _be_modest(server: int, niceness: int) -> None:
    """In the process: so far behind the server in the queue for a core, bounded in memory, ended with the server and not before.

    `server` is the server's process id, which must be told: it may have ended before this process could ask for its parent's.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(server,), daemon=True).start()
    os.nice(niceness)
    resource.setrlimit(resource.RLIMIT_AS, (_ROOM, _ROOM))


def _end_with(server: int) -> None:
    """A server that was killed can't end this process: it sees for itself that it is alone."""
    while os.getppid() == server:
        time.sleep(1)
    os._exit(0)
