"""`python3 tests`: run the tests of this checkout; `--all` runs the slow kinds too."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "server"))

from bootstrap import run_tests

run_tests(sys.argv[1:])
