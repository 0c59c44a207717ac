"""`python tests/chaos`: a run as long as one likes, with its figures; for measuring, and for a night.

python tests/chaos --seconds 120                 the run that a release needs
python tests/chaos --seed 7 --canary no_dedupe   a broken server, which must be found out
python tests/chaos --judge FOLDER                a saved run judged again
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / part) for part in ("tests", "server", "clients/python", "clients/terminal")]

from chaos.checker import check  # noqa: E402 - found by the paths above
from chaos.history import read_history  # noqa: E402
from chaos.run import Plan, run  # noqa: E402

flags = argparse.ArgumentParser(description="Play against a server that is plagued, and judge what it did.")
flags.add_argument("--seconds", type=float, default=30)
flags.add_argument("--seed", type=int, default=int(os.environ.get("CHAOS_SEED", random.randrange(10**6))))
flags.add_argument("--groups", type=int, default=12)
flags.add_argument("--pause", type=float, default=1.0, help="how long between two plagues, 1 is a second")
flags.add_argument("--canary", default="", help="break the server in this way (canaries.py)")
flags.add_argument(
    "--small-disk", action="store_true", help="on a disk of 200 MB, which may become full (as root)"
)
flags.add_argument("--judge", type=Path, metavar="FOLDER", help="judge a saved run again")
given = flags.parse_args()
if given.judge:
    judgement = check(
        read_history(given.judge / "history.jsonl"),
        given.judge / "games.db",
        (given.judge / "log").read_text(),
    )
else:
    folder = Path(tempfile.mkdtemp(prefix="chaos-"))
    plan = Plan(
        seconds=given.seconds, seed=given.seed, groups=given.groups, pause=given.pause, canary=given.canary,
        is_small_disk=given.small_disk,
    )  # fmt: skip
    report = asyncio.run(run(folder, plan))
    judgement = report.judgement
    print(f"seed {given.seed}, in {folder}\n{report}")  # noqa: T201
for violation in judgement.violations[:20]:
    print(violation[:1200])  # noqa: T201
sys.exit(bool(judgement.violations))
