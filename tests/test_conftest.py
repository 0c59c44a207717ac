"""The options and markers that all tests share, tried on a small suite of its own."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SUITE = """\
import pytest

def test_quick():
    pass

@pytest.mark.slow
def test_slow():
    pass

@pytest.mark.needs("node")
def test_with_node():
    pass

def test_update(updates):
    assert updates
"""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    shutil.copy(ROOT / "tests" / "conftest.py", tmp_path)
    (tmp_path / "test_suite.py").write_text(SUITE)
    (tmp_path / "pytest.toml").write_text('[pytest]\naddopts = ["-rs"]\nmarkers = ["slow", "needs"]\n')
    return tmp_path


def run(suite: Path, *arguments: str, **variables: str) -> str:
    """The suite's output on a machine without any program."""
    environment = {name: value for name, value in os.environ.items() if name not in {"CI", "PYTEST_ADDOPTS"}}
    result = subprocess.run(
        [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", "--update", *arguments],
        cwd=suite,
        env=environment | {"PATH": str(suite), **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    return result.stdout


def test_slow_tests_are_left_out_unless_all_are_asked_for(suite: Path) -> None:
    assert "2 passed, 1 skipped, 1 deselected" in run(suite)
    assert "3 passed, 1 skipped" in run(suite, "--all")


def test_a_slow_test_that_is_asked_for_by_name_or_marker_runs(suite: Path) -> None:
    assert "1 passed" in run(suite, "test_suite.py::test_slow")
    assert "1 passed, 3 deselected" in run(suite, "-m", "slow")


def test_what_a_machine_lacks_is_told_in_one_line(suite: Path) -> None:
    assert "SKIPPED [1] conftest.py" in run(suite)
    assert "needs node: apt install nodejs" in run(suite)
    (suite / "node").symlink_to(sys.executable)
    assert "3 passed" in run(suite)


def test_where_ci_runs_everything_nothing_is_skipped(suite: Path) -> None:
    assert "3 passed, 1 error" in run(suite, "--all", CI="true")
    assert "1 skipped" in run(suite, CI="true")


def test_expected_files_are_rewritten_only_on_request(suite: Path) -> None:
    (suite / "pytest.toml").write_text('[pytest]\nmarkers = ["slow", "needs"]\n')
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_suite.py::test_update"]
    result = subprocess.run(command, cwd=suite, capture_output=True, text=True, check=False)
    assert "1 failed" in result.stdout
