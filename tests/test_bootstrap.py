"""`python3 server` from a bare checkout, with an empty lock in place of the real one: no test here needs a network.

The real locks are installed by tests/test_packaging.py.
"""

import ast
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
BARE_PYTHON = str(getattr(sys, "_base_executable", sys.executable))
CLI = """\
import sys
from multiprocessing import get_context

def main():
    print("serving", *sys.argv[1:], flush=True)
    if "--search" in sys.argv:
        search = get_context("spawn").Process(target=print, args=("searching",))
        search.start()
        search.join()
        return search.exitcode
"""
# Stands in for uv: makes an environment without an installer in it, notes that it ran, and fails or dawdles when told to.
UV = """\
#!{python}
import os, pathlib, sys, time, venv
notes = pathlib.Path(os.environ["NOTES"])
with notes.open("a") as file:
    print(sys.argv[1], file=file)
if sys.argv[1] == "venv":
    venv.create(sys.argv[-1])
else:
    assert "--require-hashes" in sys.argv
    time.sleep(float(os.environ.get("DAWDLE", "0")))
    if os.environ.get("BREAK"):
        sys.exit("no such index")
"""


class Checkout:
    """A copy of what the bootstrap needs, with an installer that it can be told about."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.notes = folder.parent / "notes"
        self.programs = folder.parent / "bin"

    def command(self, *arguments: str, python: str = BARE_PYTHON, where: str = "server") -> list[str]:
        return [python, str(self.folder / where), *arguments]

    def environment(self, **more: str) -> dict[str, str]:
        # A bare PATH, as in a container or a cron job: no uv of the machine's, no variable of the tests' own.
        return {"PATH": f"{self.programs}:/usr/bin:/bin", "NOTES": str(self.notes), **more}

    def start(
        self, *arguments: str, python: str = BARE_PYTHON, **more: str
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(*arguments, python=python),
            cwd="/",
            env=self.environment(**more),
            capture_output=True,
            text=True,
            check=False,
        )

    def installs(self) -> int:
        return self.notes.read_text().split().count("pip") if self.notes.exists() else 0


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    folder = tmp_path / "a check'out"
    (folder / "server" / "chilkoot").mkdir(parents=True)
    for name in ("__main__.py", "bootstrap.py"):
        shutil.copy(ROOT / "server" / name, folder / "server")
    (folder / "server" / "chilkoot" / "__init__.py").touch()
    (folder / "server" / "chilkoot" / "cli.py").write_text(CLI)
    (folder / "requirements.lock").write_text("# nothing\n")
    (folder / "requirements-dev.lock").write_text("# nothing\n")
    made = Checkout(folder)
    made.programs.mkdir()
    uv = made.programs / "uv"
    uv.write_text(UV.format(python=BARE_PYTHON))
    uv.chmod(0o755)
    return made


def test_arguments_pass_through_and_standard_output_belongs_to_the_server(checkout: Checkout) -> None:
    first = checkout.start("--port", "0", "a b")
    assert (first.returncode, first.stdout) == (0, "serving serve --port 0 a b\n")
    assert "installing 0 libraries into .venv with uv" in first.stderr
    second = checkout.start()
    assert (second.stdout, second.stderr) == ("serving serve\n", "")
    assert checkout.installs() == 1


def test_the_environment_gets_a_command_that_works_from_anywhere(checkout: Checkout) -> None:
    checkout.start()
    command = checkout.folder / ".venv" / "bin" / "chilkoot"
    link = checkout.folder.parent / "link"
    link.symlink_to(command)
    for path in (command, link):
        result = subprocess.run([path, "deal", "a b"], cwd="/", capture_output=True, text=True, check=True)
        assert result.stdout == "serving deal a b\n"


def test_what_the_command_starts_beside_itself_is_no_second_server(checkout: Checkout) -> None:
    result = checkout.start("--search")
    assert (result.returncode, result.stdout) == (0, "serving serve --search\nsearching\n"), result.stderr
    command = checkout.folder / ".venv" / "bin" / "chilkoot"
    result = subprocess.run([command, "--search"], cwd="/", capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout) == (0, "serving --search\nsearching\n"), result.stderr


def test_through_a_symbolic_link_it_is_the_same_environment(checkout: Checkout) -> None:
    checkout.start()
    link = checkout.folder.parent / "link"
    link.symlink_to(checkout.folder)
    result = subprocess.run(
        [BARE_PYTHON, str(link / "server")],
        env=checkout.environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert (result.stdout, result.stderr) == ("serving serve\n", "")


@pytest.mark.parametrize("change", ("lock", "moved", "no python", "interrupted", "not ours"))
def test_an_environment_that_is_no_longer_right_is_made_anew(checkout: Checkout, change: str) -> None:
    checkout.start()
    if change == "lock":
        (checkout.folder / "requirements.lock").write_text("# nothing, but other\n")
    elif change == "moved":
        moved = checkout.folder.with_name("moved")
        checkout.folder.rename(moved)
        checkout.folder = moved
    elif change == "no python":
        python = checkout.folder / ".venv" / "bin" / "python"
        python.unlink()
        python.symlink_to("/no/such/python")
    elif change == "interrupted":
        (checkout.folder / ".venv" / "chilkoot-ready").unlink()
    else:
        shutil.rmtree(checkout.folder / ".venv")
        (checkout.folder / ".venv").symlink_to(checkout.programs)
    assert checkout.start().stdout == "serving serve\n"
    assert checkout.installs() == 2
    assert checkout.start().stderr == ""
    assert (checkout.programs / "uv").exists()


def test_another_version_of_python_gets_its_own_environment(checkout: Checkout) -> None:
    checkout.start()
    stamp = checkout.folder / ".venv" / "chilkoot-ready"
    ours = stamp.read_text()
    bootstrap = checkout.folder / "server" / "bootstrap.py"
    text = bootstrap.read_text()
    # As another Python would see it; a second one is not on every machine.
    bootstrap.write_text(
        text.replace("import sys\n", "import sys\nsys.implementation.cache_tag = 'cpython-399'\n", 1)
    )
    assert checkout.start().returncode == 0
    assert checkout.installs() == 2
    assert stamp.read_text() != ours


def test_started_from_its_own_environment_it_can_still_replace_it(checkout: Checkout) -> None:
    checkout.start()
    (checkout.folder / "requirements.lock").write_text("# nothing, but other\n")
    inner = str(checkout.folder / ".venv" / "bin" / "python")
    assert checkout.start("x", python=inner).stdout == "serving serve x\n"
    assert checkout.installs() == 2


def test_two_at_once_make_one_environment(checkout: Checkout) -> None:
    processes = [
        subprocess.Popen(
            checkout.command(),
            env=checkout.environment(DAWDLE="1"),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    answers = [process.communicate() for process in processes]
    assert [out for out, _ in answers] == ["serving serve\n"] * 2
    assert sum("waiting for another process" in err for _, err in answers) == 1
    assert checkout.installs() == 1


def test_killed_half_way_it_starts_afresh_once_the_installer_has_ended(checkout: Checkout) -> None:
    with subprocess.Popen(
        checkout.command(), env=checkout.environment(DAWDLE="1"), stderr=subprocess.DEVNULL
    ) as process:
        while checkout.installs() == 0:
            time.sleep(0.01)  # polling a file is all that a program from outside can do
        process.send_signal(signal.SIGKILL)
    second = checkout.start()
    assert second.stdout == "serving serve\n"
    assert "waiting for another process" in second.stderr
    assert checkout.installs() == 2


# Slow, for pip itself is installed for it; what a failure leaves is tried by the next one too.
@pytest.mark.slow
def test_a_failing_installer_is_followed_by_the_next_and_then_by_the_reason(checkout: Checkout) -> None:
    (checkout.folder / "requirements.lock").write_text("no-such-library==1 --hash=sha256:00\n")
    result = checkout.start(BREAK="1", PIP_NO_INDEX="1", PIP_FIND_LINKS="")
    assert result.returncode == 1
    assert result.stdout == ""
    assert "the libraries could not be installed" in result.stderr
    assert "uv:\n  no such index" in result.stderr
    assert "no-such-library" in result.stderr
    # Only pip's first way is tried: the others would ask the same index again.
    assert result.stderr.count("No matching distribution") == 1
    assert "Traceback" not in result.stderr


def test_a_failing_addition_leaves_the_server_as_it_was(checkout: Checkout) -> None:
    checkout.start()
    (checkout.folder / "tests").mkdir()
    shutil.copy(ROOT / "tests" / "__main__.py", checkout.folder / "tests")
    (checkout.folder / "requirements-dev.lock").write_text("no-such-library==1 --hash=sha256:00\n")
    tests = subprocess.run(
        checkout.command(where="tests"),
        env=checkout.environment(BREAK="1", PIP_NO_INDEX="1", PIP_FIND_LINKS=""),
        capture_output=True,
        text=True,
        check=False,
    )
    assert tests.returncode == 1
    assert "could not be installed" in tests.stderr
    again = checkout.start()
    assert (again.stdout, again.stderr) == ("serving serve\n", "")


def test_without_pip_and_venv_it_says_what_to_install(checkout: Checkout) -> None:
    (checkout.programs / "uv").unlink()
    bootstrap = checkout.folder / "server" / "bootstrap.py"
    # A Python without them can't be had everywhere: hide them from the search, as their absence would.
    hidden = "from importlib.util import find_spec\nfind_spec = lambda name: None\n"
    bootstrap.write_text(bootstrap.read_text().replace("from importlib.util import find_spec\n", hidden, 1))
    environment = checkout.environment(PATH=str(checkout.programs))
    result = subprocess.run(checkout.command(), env=environment, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.startswith("Chilkoot: this Python can't make a virtual environment")
    assert "apt install python3-venv" in result.stderr
    assert "Traceback" not in result.stderr


def test_an_old_python_reads_one_sentence(checkout: Checkout) -> None:
    bootstrap = checkout.folder / "server" / "bootstrap.py"
    bootstrap.write_text(
        bootstrap.read_text().replace("import sys\n", "import sys\nsys.version_info = (3, 6, 9)\n", 1)
    )
    result = checkout.start()
    assert result.returncode == 1
    assert result.stderr.count("\n") == 1
    assert result.stderr.startswith("Chilkoot needs Python 3.11 or newer, and this is Python 3.6:")


def test_an_old_python_can_read_that_far() -> None:
    for path in ("server/__main__.py", "server/bootstrap.py", "tests/__main__.py"):
        ast.parse((ROOT / path).read_text(), feature_version=(3, 7))


def test_where_it_can_not_write_it_says_so(checkout: Checkout) -> None:
    # A folder in the way refuses root too; missing permission would not.
    (checkout.folder / ".venv.lock").mkdir()
    result = checkout.start()
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.startswith("Chilkoot: can't make")
    assert "Traceback" not in result.stderr
