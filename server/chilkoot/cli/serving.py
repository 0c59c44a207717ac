"""`chilkoot serve`: the flags become a configuration, the host does the rest."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading

from chilkoot.cli.faults import USAGE, CommandFailed
from chilkoot.config import ConfigError, read_serve_flags
from chilkoot.host import serve as run_server

__all__ = ["serve"]


def serve(flags: argparse.Namespace) -> int:
    """Run the server until it is told to stop."""
    try:
        config = read_serve_flags(flags)
    except ConfigError as error:
        raise CommandFailed(str(error), USAGE) from None
    if flags.until_eof:
        threading.Thread(target=_stop_at_end_of_input, daemon=True).start()
    return run_server(config)


def _stop_at_end_of_input() -> None:
    # Raw reads: a thread inside `sys.stdin` at the end of the program would take the interpreter down with it.
    while os.read(sys.stdin.fileno(), 4096):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
