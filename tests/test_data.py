"""Bundled files: found in a wheel first, else in the checkout."""

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
