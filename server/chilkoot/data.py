"""Where the files that ship beside the code are: rules, the web client, migrations.

It decides between two places only, a wheel's own `_data` folder and the folders of a checkout, and where the compiled solver
is kept. It knows no other path: where a player keeps a database or more rules is settled elsewhere.
"""

import os
from hashlib import sha256
from pathlib import Path

__all__ = ["keep_compiled_solver", "migrations_folder", "rules_folder", "web_folder"]

_IN_WHEEL = Path(__file__).resolve().parent / "_data"
_CHECKOUT = Path(__file__).resolve().parents[2]


def rules_folder() -> Path:
    """The folder with one YAML file per variant."""
    return _find("rules", "rules")


def web_folder() -> Path:
    """The folder with the web client's files."""
    return _find("web", "clients/web")


def migrations_folder() -> Path:
    """The folder that alembic calls its script location."""
    return _find("alembic", "alembic")


def keep_compiled_solver() -> None:
    """Say where the solver's compiled code is kept, for this process and those it starts; call it before the solver is imported.

    The compiler itself looks only at the file that a function stands in, and would go on using code that a change in another
    file made wrong. So the folder is named after the text of the whole solver.
    """
    if "NUMBA_CACHE_DIR" in os.environ:
        return
    text = sha256()
    for source in sorted((Path(__file__).resolve().parent / "solver").glob("*.py")):
        text.update(source.read_bytes())
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "chilkoot"
    os.environ["NUMBA_CACHE_DIR"] = str(folder / f"solver-{text.hexdigest()[:16]}")


def _find(in_wheel: str, in_checkout: str) -> Path:
    # The wheel first: beside an installed package there may be any folder of the same name.
    for folder in (_IN_WHEEL / in_wheel, _CHECKOUT / in_checkout):
        if folder.is_dir():
            return folder
    raise FileNotFoundError(
        f"this copy of Chilkoot is not complete: {in_checkout} is neither in {_IN_WHEEL} nor in {_CHECKOUT}"
    )
