"""What every test may ask for: the options `--all` and `--update`, the markers `slow` and `needs`, Hypothesis' profiles."""

from __future__ import annotations

import fcntl
import io
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import hypothesis
import pytest

from chilkoot.data import keep_compiled_solver

if TYPE_CHECKING:
    from runs import Ran, Run

# What a test may need that no Python package brings: the programs that will do, and how to get one.
PROGRAMS = {
    "chromium": (("chromium", "chromium-browser", "google-chrome"), "apt install chromium"),
    "git": (("git",), "apt install git"),
    "nats": (("nats-server",), "apt install nats-server"),
    "node": (("node",), "apt install nodejs"),
    "npm": (("npm",), "apt install npm"),
    "postgresql": (("postgres", "pg_ctlcluster"), "apt install postgresql"),
}

COMPILING = pytest.StashKey["subprocess.Popen[bytes]"]()

hypothesis.settings.register_profile("quick", max_examples=60, deadline=None, print_blob=True)
hypothesis.settings.register_profile("all", max_examples=200, deadline=None, print_blob=True)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--all", action="store_true", help="run the slow kinds of tests too")
    parser.addoption("--update", action="store_true", help="rewrite the expected files, for review by eye")


def pytest_configure(config: pytest.Config) -> None:
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # A shell that begins the tests in its background has Ctrl-C ignored, and what the tests start would ignore it too.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    keep_compiled_solver()
    runs_all = config.getoption("--all")
    hypothesis.settings.load_profile("all" if runs_all else "quick")
    # A test that is asked for by name, or by a marker, runs whatever kind it is.
    if not runs_all and not config.option.markexpr and not any("::" in argument for argument in config.args):
        config.option.markexpr = "not slow"
    if config.getoption("numprocesses", None) and not hasattr(config, "workerinput"):
        _compile_solver(config)


def _compiling() -> Path:
    """A file that is locked while the solver is compiled."""
    folder = Path(os.environ["NUMBA_CACHE_DIR"])
    folder.mkdir(parents=True, exist_ok=True)
    return folder / "compiling"


def _compile_solver(config: pytest.Config) -> None:
    """Begin to compile the solver: each worker, and each server that one starts, would do it for itself, a minute long."""
    with _compiling().open("w") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        program = [sys.executable, "-P", str(Path(__file__).with_name("compiled.py"))]
        # The process inherits the lock, which ends with it.
        config.stash[COMPILING] = subprocess.Popen(program, pass_fds=[turn.fileno()])


def pytest_unconfigure(config: pytest.Config) -> None:
    if (process := config.stash.get(COMPILING, None)) is not None:
        process.wait()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    if hasattr(session.config, "workerinput"):
        with _compiling().open() as turn:
            fcntl.flock(turn, fcntl.LOCK_SH)


def pytest_runtest_setup(item: pytest.Item) -> None:
    for marker in item.iter_markers("needs"):
        for name in marker.args:
            programs, how = PROGRAMS[name]
            if any(shutil.which(program) for program in programs):
                continue
            lack = f"needs {name}: {how}"
            if item.config.getoption("--all") and os.environ.get("CI"):
                pytest.fail(f"{lack} (nothing is skipped where CI is set)", pytrace=False)
            pytest.skip(lack)


@pytest.fixture
def updates(pytestconfig: pytest.Config) -> bool:
    """Whether expected files are to be rewritten."""
    return bool(pytestconfig.getoption("--update"))


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Run:
    """Runs the command within this process, as a user whose home is `tmp_path`."""
    # Imported here: most tests need neither, and this file serves test-suites that have none of our sources.
    from chilkoot import cli  # noqa: PLC0415
    from runs import Ran  # noqa: PLC0415

    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("HOME", str(tmp_path))

    def runs(*arguments: object, given: str | bytes = "") -> Ran:
        data = given.encode() if isinstance(given, str) else given
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        status = cli.main([str(argument) for argument in arguments])
        said = capsys.readouterr()
        return Ran(status, said.out, said.err)

    return runs
