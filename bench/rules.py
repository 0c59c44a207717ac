"""What the rules language costs: a check from the command line, all files together, a look at folders, as ratios.

Run by hand: ``python bench/rules.py``. A check is compared with the start of Python itself, and told apart into what it is to
start and what it is to check; compiling is compared with reading the same files by PyYAML's C loader.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "server"))

import yaml

from chilkoot.data import rules_folder
from chilkoot.language import Source, compile_variant, json_schema
from chilkoot.library import Library

ROOT = Path(__file__).resolve().parents[1]
ROOTS = [ROOT / "server", ROOT / "clients" / "python", ROOT / "clients" / "terminal"]
TIMES = 7


def process(*arguments: str) -> float:
    """The seconds of a Python process, the best of some."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, ROOTS))}

    def run() -> None:
        subprocess.run([sys.executable, *arguments], env=environment, capture_output=True, check=True)

    return best(run)


def best(call: Callable[[], object], times: int = TIMES) -> float:
    """The seconds of the fastest of some calls."""
    found = []
    for _ in range(times):
        began = time.perf_counter()
        call()
        found.append(time.perf_counter() - began)
    return min(found)


def command_line() -> None:
    """A check of one file, beside the start of Python and the start of our command."""
    bare = process("-c", "pass")
    start = process("-m", "chilkoot.cli", "rules", "explain", "R102")
    print(f"python -c pass             {bare * 1000:6.0f} ms")
    print(f"chilkoot rules explain     {start * 1000:6.0f} ms  {start / bare:5.1f} times python")
    for name in ("yukon", "spider-web", "yukon-thicket"):
        taken = process("-m", "chilkoot.cli", "rules", "check", str(rules_folder() / f"{name}.yaml"))
        print(
            f"rules check {name:14} {taken * 1000:6.0f} ms  {taken / bare:5.1f} times python, {start / taken:4.0%} of it start-up"
        )


def all_files() -> None:
    """All variants that ship, compiled together, and a look at their folder."""
    files = sorted(rules_folder().glob("*.yaml"))
    texts = [path.read_text("utf-8") for path in files]
    plain = best(lambda: [yaml.load(text, yaml.CSafeLoader) for text in texts], 3)
    whole = best(lambda: Library([rules_folder()]).variants(), 3)
    print(
        f"all {len(files)} files             {whole * 1000:6.0f} ms  {whole / plain:5.1f} times PyYAML's C loader"
    )
    library = Library([rules_folder()])
    library.variants()
    look = best(library.refresh)
    print(f"a look that finds nothing  {look * 1000:6.1f} ms  {look / whole:5.1%} of compiling all")
    hostile = "deal: [" + "UUUUUUU, " * 7000 + "]\n"
    refused = best(lambda: compile_variant(Source("hostile.yaml", "hostile", hostile), lambda _: None), 3)
    print(f"63 KiB of pictures         {refused * 1000:6.0f} ms  {refused / whole:5.1%} of compiling all")
    print(f"the schema for editors     {best(json_schema) * 1000:6.1f} ms")


if __name__ == "__main__":
    command_line()
    all_files()
