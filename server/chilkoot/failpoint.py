"""Named points at which a test may end the process as a power cut does; everywhere else they do nothing.

A point is armed by two variables of the environment: ``CHILKOOT_TEST=1`` and ``CHILKOOT_FAILPOINT=name:n``, which ends the
process by SIGKILL when point `name` is reached for the n-th time. No flag, file or message can arm one.
"""

from __future__ import annotations

import os
import signal
from typing import Final

__all__ = ["POINTS", "reach"]

POINTS: Final = (
    "before_begin",
    "in_transaction",
    "after_commit",
    "before_ack",
    "during_snapshot",
    "during_shutdown",
)

_left: dict[str, int] = {}
if os.environ.get("CHILKOOT_TEST") == "1":
    _name, _, _count = os.environ.get("CHILKOOT_FAILPOINT", "").partition(":")
    if _name:
        _left[_name] = int(_count or 1)


def reach(name: str) -> None:
    """A point is reached: where it is armed and its time has come, the process ends here."""
    if _left and name in _left:
        _left[name] -= 1
        if _left[name] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
