"""`python3 tests`: run the tests of this checkout; `--all` runs the slow kinds too, other arguments are pytest's."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "server"))

from bootstrap import run_tests

arguments = sys.argv[1:]
if set(arguments) <= {"--all", "-q", "-v"}:
    # Two cores bring the whole suite from 21 s to 15; a single test would only wait for its worker.
    arguments += ["-n", "auto", "--maxprocesses=8", "--dist=worksteal"]
run_tests(arguments)
