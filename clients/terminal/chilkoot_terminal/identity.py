"""Who the player is, kept between two games: one secret token a server, in a file that nobody else may read."""

from __future__ import annotations

import contextlib
import fcntl
import os
import sys
import tempfile
from pathlib import Path
from typing import Final

import msgspec

__all__ = ["Identities", "state_folder"]

_FILE: Final = "identities.json"


def state_folder() -> Path:
    """Where this player's state is kept."""
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "chilkoot"
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "chilkoot"


class Identities:
    """The tokens by server. A file that cannot be read is as good as none; it is replaced when a token is kept."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / _FILE

    def token(self, server: str) -> str | None:
        """The token kept for a server."""
        return self._read().get(server)

    def keep(self, server: str, token: str) -> None:
        """Keep a token. Raises OSError where the folder cannot be written."""
        folder = self._path.parent
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with (folder / "identities.lock").open("a") as lock:
            # Another game, on another server, may be keeping its token at the same moment.
            fcntl.flock(lock, fcntl.LOCK_EX)
            tokens = self._read()
            if tokens.get(server) != token:
                self._write(tokens | {server: token})

    def _write(self, tokens: dict[str, str]) -> None:
        # Made for the owner alone, complete before it gets its name.
        handle, name = tempfile.mkstemp(dir=self._path.parent, prefix=".identities-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(msgspec.json.format(msgspec.json.encode(tokens)))
            Path(name).replace(self._path)
        except BaseException:
            with contextlib.suppress(OSError):
                Path(name).unlink()
            raise

    def _read(self) -> dict[str, str]:
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=dict[str, str])
        except (OSError, msgspec.DecodeError):
            return {}
