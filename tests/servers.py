"""Real servers for tests: the command `chilkoot serve` in a process of its own, on a free port, with its own database."""

import atexit
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import threading
from functools import cache
from pathlib import Path
from typing import Any, Self

from chilkoot.record import upgrade_database

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


class Nursery:
    """A process that forks servers (`nursery.py`): so one takes a tenth of the time that the command takes to start."""

    def __init__(self, *flags: str, **more: str) -> None:
        paths = os.pathsep.join(map(str, (*SOURCE_ROOTS, ROOT / "tests")))
        self._turn = threading.Lock()
        self._process = subprocess.Popen(
            [sys.executable, "-W", "error", "-m", "nursery", *flags],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment(Path(os.devnull), **more) | {"PYTHONPATH": paths},
        )
        self._answer()

    def start(
        self, folder: Path, *arguments: str, failpoints: dict[str, int] | None = None
    ) -> tuple[int, str]:
        """Start `chilkoot serve` with its home and its log in a folder: the process, and the line that it says first."""
        answer = self._order(
            do="start",
            arguments=["serve", *arguments],
            home=str(folder),
            where=str(Path.cwd()),
            log=str(folder / "log"),
            failpoints=failpoints or {},
        )
        return answer["pid"], answer["said"]

    def wait(self, pid: int) -> int:
        """The exit status of a server, once it has ended."""
        status: int = self._order(do="wait", pid=pid)["status"]
        return status

    def close(self) -> None:
        """End it, and with it the servers that are left."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(10)
        self._process.stdout.close()

    def _order(self, **order: Any) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with self._turn:
            self._process.stdin.write(json.dumps(order) + "\n")
            self._process.stdin.flush()
            if order["do"] == "wait" and not select.select([self._process.stdout], [], [], 20)[0]:
                os.kill(order["pid"], signal.SIGKILL)
                self._answer()
                raise AssertionError("the server did not end within 20 seconds")
            return self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer


@cache
def nursery() -> Nursery:
    """The one that serves this whole run."""
    one = Nursery()
    atexit.register(one.close)
    return one


@cache
def _new_database() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "new.db")
        upgrade_database(f"sqlite:///{path}")
        return path.read_bytes()


def lay_database(path: Path) -> None:
    """Put a new database there, where there is none. Its schema is made once a run: the migrations cost as much as most tests."""
    if not path.exists():
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(_new_database())


class LiveServer:
    """A server that can be killed and started again on the same port and database."""

    def __init__(self, folder: Path, *flags: str) -> None:
        self.folder = folder
        self.database = f"sqlite:///{folder / 'games.db'}"
        # Deals of the day, deals for later and advice are found by processes that are busy for minutes: tests that want some say so.
        limits = ("pool_deals", "advice_ms", *(NO_LIMITS if not flags else ()))
        quiet = tuple(part for name in limits for part in ("--limit", f"{name}=0"))
        self._flags = quiet + (NO_DAILIES if "--daily" not in flags else ()) + flags
        self._pid = 0
        self.port = 0
        lay_database(folder / "games.db")

    @property
    def url(self) -> str:
        """Where the WebSocket is."""
        return f"ws://127.0.0.1:{self.port}/ws"

    @property
    def pid(self) -> int:
        """The process that runs now."""
        assert self._pid
        return self._pid

    def start(self) -> Self:
        """Start it, on the port it had before."""
        self._pid, line = nursery().start(
            self.folder, "--port", str(self.port), "--database", self.database, *self._flags
        )
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
        pid, self._pid = self._pid, 0
        if not pid:
            return 0
        os.kill(pid, number)
        return nursery().wait(pid)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()
