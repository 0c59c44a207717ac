"""`chilkoot play`: the terminal client, which is a program of its own and knows nothing of this one."""

from __future__ import annotations

import argparse

from chilkoot_terminal.app import run

__all__ = ["play"]


def play(flags: argparse.Namespace) -> int:
    """Play in the terminal, or in a pipe."""
    return run(flags)
