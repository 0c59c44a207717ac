"""A server of one's own for one player, in a child process: started, found by its first line, stopped afterwards."""

from __future__ import annotations

import asyncio
import contextlib
import re
import sys
import tempfile
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Final

__all__ = ["ServerFailedError", "embedded_server"]

_START_SECONDS: Final = 30
_STOP_SECONDS: Final = 10
# One player on their own machine needs no protection from themselves.
_NO_LIMITS: Final = ("rate", "burst", "flood", "new_per_second", "hint_per_second", "active_games")

# What stands before the sentence in a line of the log, or of the command.
_BEFORE: Final = re.compile(r"^(?:chilkoot: |\S+Z \w+ \w+: )")


class ServerFailedError(Exception):
    """The server did not start; the text is what it said."""


@contextlib.asynccontextmanager
async def embedded_server(
    *, is_private: bool, rules: list[Path], dailies: list[str] | None = None
) -> AsyncIterator[str]:
    """A server on a free port, stopped at the end; its address. With `is_private` its games vanish with it.

    `dailies` are games that have a deal a day; an empty list is the server's own choice, None is no game.
    """
    with tempfile.TemporaryDirectory(prefix="chilkoot-") as folder:
        command = ["serve", "--port", "0", "--until-eof"]
        command += [part for name in _NO_LIMITS for part in ("--limit", f"{name}=0")]
        command += [part for place in rules for part in ("--rules", str(place))]
        # A day's deals take a search to choose, which nobody needs who plays something else.
        command += [part for name in (["none"] if dailies is None else dailies) for part in ("--daily", name)]
        if is_private:
            command += ["--database", f"sqlite:///{Path(folder) / 'games.db'}"]
        log = Path(folder) / "log"
        with log.open("wb") as errors:
            child = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "chilkoot.cli",
                *command,
                # It ends when this pipe does, also where this process is killed.
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=errors,
                # Ctrl-C in the terminal is for the game, not for the server.
                start_new_session=True,
            )
        try:
            yield await _address(child, lambda: log.read_text("utf-8", "replace"))
        finally:
            await _stop(child)


async def _address(child: asyncio.subprocess.Process, log: Callable[[], str]) -> str:
    assert child.stdout is not None
    try:
        line = await asyncio.wait_for(child.stdout.readline(), _START_SECONDS)
    except TimeoutError:
        line = b""
    address = line.decode("utf-8", "replace").strip()
    if address.startswith("http://"):
        return address
    lines = log().strip().splitlines()
    raise ServerFailedError(_BEFORE.sub("", lines[-1]) if lines else "the server did not start")


async def _stop(child: asyncio.subprocess.Process) -> None:
    if child.stdin is not None:
        child.stdin.close()
    try:
        await asyncio.wait_for(child.wait(), _STOP_SECONDS)
    except TimeoutError:
        child.kill()
        await child.wait()
