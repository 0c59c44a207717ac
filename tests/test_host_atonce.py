"""Commands that run without a task: what they wait for reaches them, and what one does wrong reaches no other."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable
from functools import partial

import pytest

from chilkoot.host.atonce import Commit, run_at_once
from chilkoot.record import StoreUnavailable


class Run:
    """A coroutine run at once; `said` is what it came to, `ends` with what it ended."""

    def __init__(self, *waits: Awaitable[object]) -> None:
        self.said: list[object] = []
        self.ends: list[BaseException | None] = []
        self._is_over = asyncio.Event()
        run_at_once(self._work(waits), self._end)

    async def _work(self, waits: tuple[Awaitable[object], ...]) -> None:
        for one in waits:
            try:
                self.said.append(await one)
            except StoreUnavailable as fault:
                self.said.append(fault)

    def _end(self, fault: BaseException | None) -> None:
        self.ends.append(fault)
        self._is_over.set()

    async def over(self) -> None:
        """Wait for its end."""
        async with asyncio.timeout(5):
            await self._is_over.wait()


async def beginning_in_a_callback(*waits: Awaitable[object]) -> Run:
    """As it is for a message that comes: no task is there."""
    begun: asyncio.Future[Run] = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().call_soon(lambda: begun.set_result(Run(*waits)))
    return await begun


async def test_what_waits_for_nothing_or_a_commit_needs_no_other_turn() -> None:
    commits = [Commit(0), Commit(0)]
    run = await beginning_in_a_callback(*commits)
    fault = StoreUnavailable("no disk")

    def settle() -> None:
        for commit, outcome in zip(commits, (None, fault), strict=True):
            assert not run.ends
            commit.settle(outcome)
        assert run.ends == [None]

    asyncio.get_running_loop().call_soon(settle)
    await run.over()
    assert run.said == [None, fault]
    assert (await beginning_in_a_callback()).ends == [None]


@pytest.mark.parametrize("place", (0, 1, 2))
async def test_a_fault_of_what_is_waited_for_comes_to_who_waits_wherever_that_is(place: int) -> None:
    loop = asyncio.get_running_loop()
    waits: list[asyncio.Future[object]] = [loop.create_future() for _ in range(3)]
    run = await beginning_in_a_callback(*waits)
    fault = StoreUnavailable("no disk")
    for number, one in enumerate(waits):
        if number == place:
            one.set_exception(fault)
        else:
            one.set_result(number)
    await run.over()
    assert run.ends == [None]
    assert run.said == [fault if number == place else number for number in range(3)]


async def test_a_fault_that_nobody_expects_is_told_at_the_end() -> None:
    waited: asyncio.Future[object] = asyncio.get_running_loop().create_future()
    run = await beginning_in_a_callback(waited)
    bug = LookupError("a bug")
    waited.set_exception(bug)
    await run.over()
    assert run.ends == [bug]
    assert not run.said


async def test_what_one_who_waited_does_wrong_keeps_no_other_from_its_outcome(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.getLogger("chilkoot"), "propagate", True)
    commits = [Commit(0) for _ in range(3)]
    told: list[int] = []

    def wake(number: int) -> None:
        if number == 1:
            raise LookupError("a bug")
        told.append(number)

    for number, commit in enumerate(commits):
        commit.wake = partial(wake, number)
    for commit in commits:
        commit.settle(None)
    assert told == [0, 2]
    assert "a bug" in caplog.text
