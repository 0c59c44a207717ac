"""Real servers for tests: the command `chilkoot serve` in a process of its own, on a free port, with its own database."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Self

ROOT = Path(__file__).resolve().parents[1]
SOURCE_ROOTS = (ROOT / "server", ROOT / "clients" / "python", ROOT / "clients" / "terminal")
# A test is one client that never waits; the limits have tests of their own.
NO_LIMITS = ("rate", "flood", "new_per_second", "hint_per_second", "active_games", "connections_per_address")

NO_DAILIES = ("--daily", "none")


def environment(home: Path, **more: str) -> dict[str, str]:
    """Where a program finds our sources, and nothing of the user who runs the tests."""
    # NUMBA_CACHE_DIR: what is compiled once will do for all servers of a run.
    names = ("PATH", "LANG", "LC_ALL", "TMPDIR", "NUMBA_CACHE_DIR")
    kept = {name: os.environ[name] for name in names if name in os.environ}
    paths = os.pathsep.join(map(str, SOURCE_ROOTS))
    return kept | {"HOME": str(home), "PYTHONPATH": paths, "PYTHONUNBUFFERED": "1"} | more


def command(*arguments: str) -> list[str]:
    """The command line of `chilkoot` with these arguments."""
    return [sys.executable, "-W", "error", "-m", "chilkoot.cli", *arguments]


class LiveServer:
    """A server that can be killed and started again on the same port and database."""

    def __init__(self, folder: Path, *flags: str) -> None:
        self.folder = folder
        self.database = f"sqlite:///{folder / 'games.db'}"
        # Deals of the day, deals for later and advice are found by processes that are busy for minutes: tests that want some say so.
        limits = ("pool_deals", "advice_ms", *(NO_LIMITS if not flags else ()))
        quiet = tuple(part for name in limits for part in ("--limit", f"{name}=0"))
        self._flags = quiet + (NO_DAILIES if "--daily" not in flags else ()) + flags
        self._process: subprocess.Popen[str] | None = None
        self.port = 0

    @property
    def url(self) -> str:
        """Where the WebSocket is."""
        return f"ws://127.0.0.1:{self.port}/ws"

    @property
    def pid(self) -> int:
        """The process that runs now."""
        assert self._process is not None
        return self._process.pid

    def start(self) -> Self:
        """Start it, on the port it had before."""
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                command("serve", "--port", str(self.port), "--database", self.database, *self._flags),
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env=environment(self.folder),
            )
        assert self._process.stdout is not None
        line = self._process.stdout.readline().strip()
        if not line.startswith("http://"):
            self.kill()
            raise AssertionError((self.folder / "log").read_text())
        self.port = int(line.rsplit(":", 1)[1])
        return self

    def kill(self) -> None:
        """End it as a power cut does."""
        self._end(signal.SIGKILL)

    def stop(self) -> int:
        """End it as an operator does; its exit status."""
        return self._end(signal.SIGTERM)

    def _end(self, number: int) -> int:
        process, self._process = self._process, None
        if process is None:
            return 0
        process.send_signal(number)
        status = process.wait(20)
        assert process.stdout is not None
        process.stdout.close()
        return status

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()
