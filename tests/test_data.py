"""Bundled files: found in a wheel first, else in the checkout."""

import os
from pathlib import Path

import pytest

from chilkoot import data

ROOT = Path(__file__).resolve().parents[1]


def test_in_a_checkout_the_folders_are_those_at_the_top() -> None:
    assert data.rules_folder() == ROOT / "rules"
    assert data.web_folder() == ROOT / "clients" / "web"
    assert data.migrations_folder() == ROOT / "alembic"


def test_in_a_wheel_the_folder_beside_the_code_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "rules").mkdir()
    monkeypatch.setattr(data, "_IN_WHEEL", tmp_path)
    assert data.rules_folder() == tmp_path / "rules"
    assert data.web_folder() == ROOT / "clients" / "web"


def test_a_copy_without_its_files_says_which_are_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(data, "_IN_WHEEL", tmp_path / "a")
    monkeypatch.setattr(data, "_CHECKOUT", tmp_path / "b")
    with pytest.raises(FileNotFoundError, match="not complete: clients/web is neither in"):
        data.web_folder()


def test_compiled_code_is_kept_apart_for_each_text_of_the_solver(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "chilkoot" / "solver"
    folder.mkdir(parents=True)
    (folder / "kernel.py").write_text("one")
    monkeypatch.setattr(data, "__file__", str(folder.parent / "data.py"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    kept = []
    for text in ("one", "two", "one"):
        (folder / "kernel.py").write_text(text)
        monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
        data.keep_compiled_solver()
        kept.append(os.environ["NUMBA_CACHE_DIR"])
    assert kept[0] == kept[2] != kept[1]
    assert Path(kept[0]).parent == tmp_path / "cache" / "chilkoot"
    monkeypatch.setenv("NUMBA_CACHE_DIR", "mine")
    data.keep_compiled_solver()
    assert os.environ["NUMBA_CACHE_DIR"] == "mine", "an operator's own choice stands"
