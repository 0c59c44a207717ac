"""The sampled policy as another process is asked for it: nothing here needs the compiler before it is called.

A server hands these functions to a process of its own, and does not load the compiled code itself.
"""

from __future__ import annotations

from chilkoot.solver.policy import Advice
from chilkoot.solver.sight import Sight

__all__ = ["foresee", "get_ready"]


def foresee(sight: Sight) -> Advice | None:
    """``foresight.foresee``: what to do by playing on in sampled worlds, None where the first policy is to be asked."""
    from chilkoot.solver import foresight  # noqa: PLC0415 - loads the compiler

    return foresight.foresee(sight)


def get_ready() -> None:
    """Compile, or read from the disk, all that advice takes."""
    from chilkoot.solver import foresight  # noqa: PLC0415 - loads the compiler

    foresight.get_ready()
