"""Coroutines that begin in the very turn of the loop that gave rise to them, and go on in the one that brings what they wait for.

A task begins in the next turn, and again takes a turn to hear of what it waited for. Nearly all commands need neither: they
are dealt with on the spot, or wait for nothing but a commit. So a coroutine is run here without a task until it waits for
something else; then a task takes it over. What needs a task of its own (``asyncio.timeout``, ``current_task``) may be used
only after such a wait.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Generator
from types import coroutine as generator_coroutine
from typing import Any

from chilkoot.host.log import log
from chilkoot.record import StoreFault

__all__ = ["Commit", "run_at_once"]

_Then = Callable[[BaseException | None], None]

_in_tasks: set[asyncio.Task[None]] = set()


class Commit:
    """A unit on its way to the record. Awaiting it gives None once the unit is durable, else what went wrong."""

    __slots__ = ("_fault", "_is_settled", "began", "wake")

    def __init__(self, began: float) -> None:
        self.began = began
        self.wake: Callable[[], None] | None = None
        """What goes on when the outcome is known."""
        self._is_settled = False
        self._fault: StoreFault | None = None

    def settle(self, fault: StoreFault | None) -> None:
        """The outcome is known: whoever waits goes on at once. What goes wrong there is theirs: others wait for theirs."""
        self._fault, self._is_settled = fault, True
        if self.wake is not None:
            try:
                self.wake()
            except Exception:  # noqa: BLE001 - logged; nobody else may be left waiting for it
                log.exception("what waited for a commit failed")

    def __await__(self) -> Generator[Any, None, StoreFault | None]:
        if not self._is_settled:
            if asyncio.current_task() is None:
                yield self
            else:
                waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
                self.wake = lambda: None if waiter.done() else waiter.set_result(None)
                yield from waiter
        return self._fault


def run_at_once(work: Coroutine[Any, None, None], then: _Then) -> None:
    """Run a coroutine from here; `then` is called at its end, with the exception that it raised, if any."""
    try:
        waited = work.send(None)
    except StopIteration:
        then(None)
    except Exception as error:  # noqa: BLE001 - handed on
        then(error)
    else:
        if type(waited) is Commit:
            waited.wake = lambda: run_at_once(work, then)
        else:
            task = asyncio.get_running_loop().create_task(_go_on(work, waited, then))
            _in_tasks.add(task)
            task.add_done_callback(_in_tasks.discard)


async def _go_on(work: Coroutine[Any, None, None], waited: object, then: _Then) -> None:
    try:
        await _resumed(work, waited)
    except Exception as error:  # noqa: BLE001 - handed on
        then(error)
    else:
        then(None)


@generator_coroutine
def _resumed(work: Coroutine[Any, None, None], waited: object) -> Generator[Any, None, None]:
    """The rest of a coroutine that waits for this already: what comes of the waiting, a fault as well, comes to it."""
    with contextlib.suppress(StopIteration):
        while True:
            try:
                yield waited
            except BaseException as fault:  # noqa: BLE001 - handed on
                waited = work.throw(fault)
            else:
                waited = work.send(None)
