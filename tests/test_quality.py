"""What holds for all code at once: lint, format, types, and which room may import which."""

import ast
import os
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "server" / "chilkoot"
SOURCE_ROOTS = (ROOT / "server", ROOT / "clients" / "python", ROOT / "clients" / "terminal")
# Rooms that meet the world: the only ones that the contract on clocks, files and sockets leaves out.
IMPURE = {"cli", "config", "data", "failpoint", "host", "library", "record"}


def run(*command: str) -> None:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, SOURCE_ROOTS)), "NO_COLOR": "1"}
    result = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, encoding="utf-8", check=False
    )
    if result.returncode:
        pytest.fail(f"{result.stdout}{result.stderr}", pytrace=False)


def contracts() -> dict[str, dict[str, Any]]:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    return {contract["name"]: contract for contract in settings["contracts"]}


def rooms() -> set[str]:
    modules = {path.stem for path in PACKAGE.glob("*.py")} - {"__init__"}
    return modules | {path.parent.name for path in PACKAGE.glob("*/__init__.py")}


def test_the_code_is_free_of_lint() -> None:
    run(sys.executable, "-m", "ruff", "check", "--quiet", ".")


def test_the_code_is_formatted() -> None:
    run(sys.executable, "-m", "ruff", "format", "--check", "--quiet", ".")


def test_the_types_hold_under_strict_mypy() -> None:
    run(sys.executable, "-m", "mypy")


def test_each_room_imports_only_what_it_may() -> None:
    run(str(Path(sysconfig.get_path("scripts")) / "lint-imports"), "--no-cache")


@pytest.mark.parametrize(
    ("contract", "field", "left_out"),
    (
        (
            "up to the table nothing knows a clock, chance, a file, a socket, a log or another thread",
            "source_modules",
            IMPURE,
        ),
        (
            "the terminal client knows the messages and nothing else of the server",
            "forbidden_modules",
            {"cards", "discretion", "events", "wire"},
        ),
        ("only the command line starts a client", "source_modules", {"cli"}),
    ),
)
def test_no_room_is_missing_from_a_contract_that_lists_them(
    contract: str, field: str, left_out: set[str]
) -> None:
    assert set(contracts()[contract][field]) == {f"chilkoot.{room}" for room in rooms() - left_out}


def test_no_pure_room_opens_prints_or_asks() -> None:
    # Builtins are not imported, so import-linter can't see them.
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}: {node.func.id}"
        for path in sorted(PACKAGE.rglob("*.py"))
        if path.relative_to(PACKAGE).parts[0].removesuffix(".py") not in IMPURE
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in {"breakpoint", "eval", "exec", "input", "open", "print"}
    ]
    assert found == []


def test_every_ignored_lint_has_its_reason() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    ignored = text.split("\nignore = [\n")[1].split("\n]")[0].splitlines()
    assert [line for line in ignored if "#" not in line] == []
