"""The wheel, the locks, and what may stand in a committed file."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
import tomllib
import zipfile
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parents[1]
BARE_PYTHON = str(getattr(sys, "_base_executable", sys.executable))
# In halves, since this file is committed too.
ADDRESSES = ("pypi" + ".org", "python" + "hosted", "registry" + ".npmjs", "deb." + "debian", "/simple" + "/")
OPTIONS = ("--index" + "-url", "--extra-index" + "-url", "--find" + "-links", "--trusted" + "-host")


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def committed_files() -> list[Path]:
    """Every file of the checkout that is committed, or would be."""
    if not (ROOT / ".git").exists() or not shutil.which("git"):
        # An unpacked archive: what is hidden was made since, but for a few files that hardly matter.
        hidden = re.compile(r"^\.|^__pycache__$")
        found = (path for path in ROOT.rglob("*") if not any(map(hidden.match, path.relative_to(ROOT).parts)))
        return [path for path in found if path.is_file()]
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listing = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [ROOT / name for name in listing.stdout.split("\0") if name and (ROOT / name).is_file()]


def locked(name: str) -> dict[str, tuple[Version, frozenset[str]]]:
    """What a lock pins for this Python and this system: version and hashes by library."""
    pins: dict[str, tuple[Version, frozenset[str]]] = {}
    for entry in (ROOT / name).read_text(encoding="utf-8").replace("\\\n", " ").splitlines():
        if entry.startswith(("#", " ")):
            continue
        requirement = Requirement(entry.split("--hash")[0])
        if requirement.marker is not None and not requirement.marker.evaluate():
            continue
        (pin,) = requirement.specifier
        assert pin.operator == "=="
        pins[canonicalize_name(requirement.name)] = (
            Version(pin.version),
            frozenset(re.findall(r"--hash=(sha256:[0-9a-f]{64})", entry)),
        )
    return pins


def build(folder: Path, *targets: str, source: Path = ROOT) -> None:
    # Without isolation, which would fetch hatchling: the lock has it.
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    command += [option for target in targets for option in ("-t", target)]
    result = subprocess.run(command, cwd=source, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A freshly built wheel."""
    folder = tmp_path_factory.mktemp("dist")
    build(folder, "wheel")
    (path,) = folder.glob("*.whl")
    return path


def contents(archive: Path) -> set[str]:
    with zipfile.ZipFile(archive) as opened:
        return set(opened.namelist())


def test_the_wheel_holds_the_packages_and_their_data(wheel: Path) -> None:
    names = contents(wheel)
    for package in ("chilkoot", "chilkoot_client", "chilkoot_terminal"):
        assert f"{package}/__init__.py" in names
        assert f"{package}/py.typed" in names
    for source, target in (("rules", "rules"), ("clients/web", "web"), ("alembic", "alembic")):
        expected = {
            f"chilkoot/_data/{target}/{path.relative_to(ROOT / source)}"
            for path in committed_files()
            if path.is_relative_to(ROOT / source)
        }
        assert expected
        assert expected <= names


def test_the_wheel_holds_nothing_else(wheel: Path) -> None:
    tops = {name.split("/")[0] for name in contents(wheel)}
    distribution = f"chilkoot-{version_in_source()}.dist-info"
    assert tops == {"chilkoot", "chilkoot_client", "chilkoot_terminal", distribution}
    assert not [name for name in contents(wheel) if "__pycache__" in name or name.endswith((".pyc", ".db"))]


def version_in_source() -> str:
    text = (ROOT / "server" / "chilkoot" / "__init__.py").read_text(encoding="utf-8")
    return text.split('__version__ = "')[1].split('"')[0]


def test_code_from_the_wheel_finds_its_data_there(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as opened:
        opened.extractall(tmp_path)
    code = "from chilkoot import data; print(data.rules_folder(), data.web_folder(), data.migrations_folder(), sep='\\n')"
    result = subprocess.run(
        [sys.executable, "-P", "-c", code],
        env={"PYTHONPATH": str(tmp_path)},
        cwd="/",
        capture_output=True,
        text=True,
        check=True,
    )
    data = tmp_path / "chilkoot" / "_data"
    assert result.stdout.splitlines() == [str(data / "rules"), str(data / "web"), str(data / "alembic")]


@pytest.mark.slow
def test_a_wheel_from_the_source_archive_is_the_same(wheel: Path, tmp_path: Path) -> None:
    build(tmp_path, "sdist")
    (archive,) = tmp_path.glob("*.tar.gz")
    shutil.unpack_archive(archive, tmp_path, filter="data")
    source = tmp_path / archive.name.removesuffix(".tar.gz")
    build(tmp_path, "wheel", source=source)
    (again,) = tmp_path.glob("*.whl")
    assert contents(again) == contents(wheel)
    for path in ("server/__main__.py", "server/bootstrap.py", "tests/__main__.py", "requirements.lock"):
        assert (source / path).is_file()


def test_no_folder_at_the_top_is_a_package() -> None:
    assert [path for path in ROOT.glob("*/__init__.py") if not path.parent.name.startswith(".")] == []
    assert list(ROOT.glob("*.py")) == []
    # From the top folder too `alembic` is the library, not the folder of migrations.
    result = subprocess.run(
        [sys.executable, "-c", "import alembic.config; print(alembic.__file__)"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "site-packages" in result.stdout


def test_no_committed_file_names_a_package_index() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {word}"
        for path in committed_files()
        for word in (*ADDRESSES, *OPTIONS)
        if word.encode() in path.read_bytes()
    ]
    assert found == []


@pytest.mark.parametrize("name", ("requirements.lock", "requirements-dev.lock"))
def test_a_lock_has_hashes_and_no_address(name: str) -> None:
    assert "://" not in (ROOT / name).read_text(encoding="utf-8")
    assert [library for library, (_, hashes) in locked(name).items() if not hashes] == []


def test_the_locks_hold_what_the_project_asks_for() -> None:
    runtime, development = locked("requirements.lock"), locked("requirements-dev.lock")
    settings = project()
    asked = [Requirement(text) for text in settings["project"]["dependencies"]]
    tools = [Requirement(text) for text in settings["dependency-groups"]["dev"]]
    build_needs = [Requirement(text) for text in settings["build-system"]["requires"]]
    for requirement in asked:
        assert runtime[canonicalize_name(requirement.name)][0] in requirement.specifier
    for requirement in (*tools, *build_needs):
        assert development[canonicalize_name(requirement.name)][0] in requirement.specifier
    assert runtime.items() <= development.items()


def test_the_tests_run_on_the_locked_versions() -> None:
    pins = locked("requirements-dev.lock")
    running = {name: Version(version(name)) for name in pins}
    assert running == {name: pin for name, (pin, _) in pins.items()}


@pytest.mark.parametrize(
    ("library", "unsafe", "safe"), (("websockets", "16.0", "17.0"), ("pyyaml", "6.0.3", "6.0.4"))
)
def test_versions_with_known_holes_are_refused(library: str, unsafe: str, safe: str) -> None:
    requirements = {item.name: item for item in map(Requirement, project()["project"]["dependencies"])}
    assert unsafe not in requirements[library].specifier
    assert safe in requirements[library].specifier
    assert Version(version(library)) >= Version(safe)


def test_one_licence_is_named_and_included(wheel: Path) -> None:
    assert project()["project"]["license"] == "Apache-2.0"
    assert "Apache License" in (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert any(name.endswith("/licenses/LICENSE") for name in contents(wheel))


@pytest.fixture(scope="module")
def bare_checkout(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """This checkout as a fresh clone has it, in a folder with a space in its name."""
    folder = tmp_path_factory.mktemp("clone") / "a clone"
    for path in committed_files():
        target = folder / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
    yield folder
    shutil.rmtree(folder)


def first_line_of_the_server(checkout: Path, tmp_path: Path) -> tuple[str, float]:
    """What `python3 server` prints first, and after how many seconds."""
    started = time.monotonic()
    arguments = ["--port", "0", "--database", f"sqlite:///{tmp_path}/games.db"]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    with subprocess.Popen(
        [BARE_PYTHON, str(checkout / "server"), *arguments],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        seconds = time.monotonic() - started
        process.send_signal(signal.SIGTERM)
    return line, seconds


@pytest.mark.slow
def test_a_fresh_clone_serves_within_a_minute_and_then_within_three_seconds(
    bare_checkout: Path, tmp_path: Path
) -> None:
    line, seconds = first_line_of_the_server(bare_checkout, tmp_path)
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+\n", line)
    assert seconds < 60
    line, seconds = first_line_of_the_server(bare_checkout, tmp_path)
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+\n", line)
    assert seconds < 3


@pytest.mark.slow
def test_a_fresh_clone_runs_its_tests(bare_checkout: Path) -> None:
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHONPATH", "PYTEST_"))
    }
    result = subprocess.run(
        [BARE_PYTHON, str(bare_checkout / "tests"), "-q", "tests/test_data.py"],
        cwd="/",
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert re.search(r"\d+ passed", result.stdout)
