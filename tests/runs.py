"""How a run of the command ended, for tests; the fixture `run` of conftest.py runs it within this process."""

from __future__ import annotations

import json
from typing import Any, Protocol


class Ran:
    """How a run of the command ended."""

    def __init__(self, status: int, out: str, err: str) -> None:
        self.status = status
        self.out = out
        self.err = err
        assert "Traceback" not in err
        assert "mistake in Chilkoot" not in err

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()

    @property
    def objects(self) -> list[Any]:
        return [json.loads(line) for line in self.lines]


class Run(Protocol):
    """Runs the command within this process; `given` is what it reads from standard input."""

    def __call__(self, *arguments: object, given: str | bytes = "") -> Ran: ...
