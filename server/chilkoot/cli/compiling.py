"""What a command does that is about to search: say where compiled code is kept, and why the first search waits."""

import os
import sys
from pathlib import Path

from chilkoot.data import keep_compiled_solver

__all__ = ["make_ready_to_search"]


def make_ready_to_search() -> None:
    """Keep the solver's compiled code; where there is none yet, tell a person that the first search waits for it."""
    keep_compiled_solver()
    if sys.stderr.isatty() and not any(Path(os.environ["NUMBA_CACHE_DIR"]).rglob("*.nbc")):
        print("chilkoot: the search is compiled first, once; that takes about a minute ...", file=sys.stderr)
