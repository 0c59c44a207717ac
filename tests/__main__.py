"""`python3 tests`: run the tests of this checkout; `--all` runs the slow kinds too, other arguments are pytest's."""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "server"))

from bootstrap import run_tests

arguments = sys.argv[1:]
if set(arguments) <= {"--all", "-q", "-v"}:
    # One worker more than there are cores, for many tests wait for servers and browsers (two left a third of two cores idle).
    # Where single tests are asked for, they would only wait for their worker.
    arguments += ["-n", str(min((os.cpu_count() or 1) + 1, 8)), "--dist=worksteal"]
run_tests(arguments)
