"""The server under test as a process: started, killed, stopped, paused, and looked at from outside."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Self

from servers import NO_LIMITS, Nursery

__all__ = ["ServerProcess"]

FLAGS = tuple(
    part
    for setting in (
        *(f"{name}=0" for name in NO_LIMITS),
        "connections_per_player=0",
        "certify_seconds=0",
        "advice_ms=0",
    )
    for part in ("--limit", setting)
)


class ServerProcess:
    """A server on one database and port, killed and started again as often as one likes."""

    def __init__(self, folder: Path, *, canary: str = "") -> None:
        self.folder = folder
        self.database = folder / "games.db"
        self.log = folder / "log"
        self.port = 0
        self.pid = 0
        self._nursery = Nursery(*([canary] if canary else []), PYTHONHASHSEED="0")

    def start(self, failpoints: dict[str, int] | None = None) -> Self:
        """Start it, perhaps to die at a failpoint when that is reached for the n-th time; returns when it says where it is."""
        self.pid, said = self._nursery.start(
            self.folder,
            "--port",
            str(self.port),
            "--database",
            f"sqlite:///{self.database}",
            *FLAGS,
            failpoints=failpoints,
        )
        if not said.startswith("http://"):
            self.wait()
            raise AssertionError(self.log.read_text())
        self.port = int(said.rsplit(":", 1)[1])
        return self

    def signal(self, number: signal.Signals) -> None:
        """Send a signal."""
        os.kill(self.pid, number)

    def kill(self) -> int:
        """End it as a power cut does."""
        self.signal(signal.SIGKILL)
        return self.wait()

    def dies_within(self, seconds: float) -> bool:
        """Whether it ends by itself in that time."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            # The process that forked it has not asked for its status yet, so it stays as a zombie.
            if Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
            time.sleep(0.01)
        return False

    def stop(self) -> int:
        """End it as an operator does; its exit status."""
        self.signal(signal.SIGTERM)
        return self.wait()

    def wait(self) -> int:
        """Its exit status, once it has ended."""
        pid, self.pid = self.pid, 0
        return self._nursery.wait(pid)

    def open_files(self) -> int:
        """How many file descriptors it has open."""
        return len(list(Path(f"/proc/{self.pid}/fd").iterdir()))

    def memory(self) -> int:
        """Bytes of memory that it holds."""
        return int(Path(f"/proc/{self.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def close(self) -> None:
        """End everything."""
        if self.pid:
            self.kill()
        self._nursery.close()
