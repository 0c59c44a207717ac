"""`chilkoot play`: the terminal client, which is a program of its own and knows nothing of this one.

A variant that is a YAML file is checked here, where its mistakes can be explained, and its folder given to the server.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from chilkoot.cli.faults import USAGE, CommandFailed
from chilkoot.cli.variants import find_variant, is_file_name
from chilkoot_terminal.app import run

__all__ = ["play"]


def play(flags: argparse.Namespace) -> int:
    """Play in the terminal, or in a pipe."""
    if flags.variant is not None and flags.url is None and is_file_name(flags.variant):
        if not flags.variant.endswith(".yaml"):
            raise CommandFailed(f"{flags.variant}: a file that is to be played ends in .yaml", USAGE)
        variant = find_variant(flags.variant, flags.rules)
        flags.rules = [Path(flags.variant).resolve().parent, *flags.rules]
        flags.variant = variant.id
        flags.rules_hashes = frozenset(level.hash for level in variant.levels)
    return run(flags)
