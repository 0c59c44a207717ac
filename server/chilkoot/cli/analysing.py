"""`chilkoot replay analyse`: where a recorded game could still be won, and how."""

from __future__ import annotations

import argparse
import sys
from itertools import groupby

from chilkoot.cli.compiling import make_ready_to_search
from chilkoot.cli.faults import CommandFailed
from chilkoot.cli.json_lines import print_json
from chilkoot.cli.replays import headline, recording_of
from chilkoot.engine import DealError
from chilkoot.record import Finding, Recording
from chilkoot.record.verification import replay
from chilkoot.solver.analysis import Analysis, AnalysisError, analyse
from chilkoot.solver.certify import REVISION

__all__ = ["analyse_game"]

_SAID = {
    "winnable": "could be won",
    "lost": "was lost",
    "unknown": "is not known to be either",
}


def analyse_game(flags: argparse.Namespace) -> int:
    """Mark at each action of a game whether it could still be won, and tell a way from the last place that could."""
    recording = recording_of(flags.game, flags.database)
    if isinstance(recording, Finding):
        raise CommandFailed(f"{flags.game}: {recording.message}")
    # Rules of a file may say anything: they are tried as `replay verify` does, within its bounds.
    if isinstance(played := replay(recording), Finding):
        raise CommandFailed(f"{flags.game}: {played.message}")
    make_ready_to_search()
    try:
        found = analyse(
            recording.rules,
            recording.deal,
            [one.text for one in recording.actions],
            positions=flags.positions,
            told=_show_progress,
        )
    except (AnalysisError, DealError) as fault:
        raise CommandFailed(f"{flags.game}: {fault}") from None
    if sys.stderr.isatty():
        print(file=sys.stderr)
    if flags.json:
        _print_objects(recording, found)
    else:
        _tell(recording, found)
    return 0


def _print_objects(recording: Recording, found: Analysis) -> None:
    for seq, verdict in enumerate(found.verdicts):
        action = {} if seq == 0 else {"action": recording.actions[seq - 1].text}
        print_json(seq=seq, **action, verdict=verdict)
    print_json(
        game=recording.game,
        last_winnable=found.last_winnable,
        line=list(found.line),
        positions=found.positions,
        solver=REVISION,
    )


def _tell(recording: Recording, found: Analysis) -> None:
    print(f"{headline(recording)}\n")
    for verdict, seqs in groupby(range(len(found.verdicts)), key=lambda seq: found.verdicts[seq]):
        together = list(seqs)
        where = _where(together[0], together[-1])
        made = f" (`{recording.actions[together[0] - 1].text}`)" if together[0] else ""
        print(f"{where}{made}: the game {_SAID[verdict or 'unknown']}")
    print()
    if found.last_winnable is None:
        print("There is no position that is known to be winnable.")
    elif recording.status == "won" and found.last_winnable == len(recording.actions):
        print("The game was won.")
    else:
        print(
            f"The last position that could be won is that after action {found.last_winnable}. A way from there:"
        )
        print("  " + ", ".join(found.line))


def _where(first: int, last: int) -> str:
    if first == 0:
        return "the deal" if last == 0 else f"the deal, and up to action {last}"
    return f"after action {first}" if first == last else f"after actions {first} to {last}"


def _show_progress(settled: int, positions: int) -> None:
    if sys.stderr.isatty():
        print(f"\r{settled} of {positions} positions settled ", end="", file=sys.stderr, flush=True)
