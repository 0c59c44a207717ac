"""Winnable deals for new games: the search runs in a process of its own, so that no game waits for it.

The process is started when it is first wanted. Where it has no answer in time the game begins all the same, and says that
its deal is not proved.
"""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import threading
import time
from collections.abc import Sequence
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
from multiprocessing import get_context
from typing import Final

from chilkoot.data import keep_compiled_solver
from chilkoot.host.log import log
from chilkoot.solver.certify import Certificate, certify, first_winnable

__all__ = ["Certifier", "CertifierFailed"]

_ROOM: Final = 4 << 30
"""Bytes of address space for the process; the compiler's libraries reserve much that they never use."""


_LONGEST: Final = 600
"""Seconds for one deal whose answer must not depend on the clock: only for a search that hangs."""


class CertifierFailed(Exception):  # noqa: N818 - what failed was the asking: nothing is known of the deal
    """A search ended without an answer."""


class Certifier:
    """Asks the solver about deals, within a time limit."""

    def __init__(self, *, seconds: float) -> None:
        self._seconds = seconds
        self._pool: ProcessPoolExecutor | None = None

    async def first_winnable(self, rules: str, deals: Sequence[str]) -> int | None:
        """The place of the first of these deals for which a winning line was found in time; None where there is none."""
        if not self._seconds:
            return None
        try:
            asked = self._started().submit(first_winnable, rules, list(deals))
            return await asyncio.wait_for(asyncio.wrap_future(asked), self._seconds)
        except TimeoutError:
            return None
        except BrokenExecutor:
            log.warning(
                "the process that looks for winnable deals ended; it is started again when it is wanted"
            )
            self._pool = None
            return None

    @property
    def is_on(self) -> bool:
        """Whether deals are searched at all."""
        return bool(self._seconds)

    async def certificate(self, rules: str, deal: str) -> Certificate | None:
        """The certificate of a deal, however long that takes; None where it has none. Raises CertifierFailed."""
        try:
            asked = self._started().submit(certify, rules, deal)
            return await asyncio.wait_for(asyncio.wrap_future(asked), _LONGEST)
        except (TimeoutError, BrokenExecutor) as failure:
            self.close()
            raise CertifierFailed("the search ended without an answer") from failure

    def _started(self) -> ProcessPoolExecutor:
        if self._pool is None:
            keep_compiled_solver()
            self._pool = ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=_be_modest)
        return self._pool

    def close(self) -> None:
        """End the process, whatever it does."""
        if self._pool is not None:
            processes = list((self._pool._processes or {}).values())
            self._pool.shutdown(wait=False, cancel_futures=True)
            for process in processes:
                process.kill()
            self._pool = None


def _be_modest() -> None:
    """In the process: behind the server in the queue for a core, bounded in memory, ended with the server and not before."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    os.nice(10)
    resource.setrlimit(resource.RLIMIT_AS, (_ROOM, _ROOM))


def _end_with(parent: int) -> None:
    """A server that was killed can't end this process: it sees for itself that it is alone."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(0)
