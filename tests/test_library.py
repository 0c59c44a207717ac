"""Variants found in folders: ids, what is beside a file, changes on disk."""

from __future__ import annotations

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from chilkoot.data import rules_folder
from chilkoot.language import Source
from chilkoot.library import Library, read_source, shown_path
from variants import said_of


def write(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.yaml"
    path.write_text(text, encoding="utf-8")
    return path


DEAL = "deal: [UUUUUUU *7, UUU....]\n"


def test_all_files_that_ship_compile_within_two_seconds_without_a_word() -> None:
    before = time.process_time()
    library = Library([rules_folder()])
    assert len(library.variants()) == len(library.ids())
    assert said_of(library) == []
    assert time.process_time() - before < 2


def test_a_variant_is_found_by_its_id_and_by_nothing_else(tmp_path: Path) -> None:
    write(tmp_path / "rules", "one", DEAL)
    write(tmp_path, "secret", DEAL)
    library = Library([tmp_path / "rules"])
    assert library.ids() == ["one"]
    for name in ("secret", "../secret", "one.yaml", "", "ONE", "/etc/passwd"):
        assert library.variant(name) is None
    variant = library.variant("one")
    assert variant is not None
    assert library.variant("one") is variant
    assert library.path("one") == tmp_path / "rules" / "one.yaml"


def test_what_a_file_extends_is_looked_for_beside_it_first(tmp_path: Path) -> None:
    write(tmp_path / "rules", "base", DEAL)
    write(tmp_path / "rules", "other", DEAL + "cells: {count: 5}\n")
    write(tmp_path / "mine", "base", DEAL + "cells: {count: 3}\n")
    library = Library([tmp_path / "rules"])
    for base, count in (("base", 3), ("other", 5)):
        variant, said = library.check(
            write(
                tmp_path / "mine",
                "my",
                f"extends: {base}\nreserve: {{piles: 0}}\ntableau: {{max_cards: 9}}\n",
            )
        )
        assert variant is not None
        assert [one.code for one in said] == ["R502"]
        assert variant.levels[0].rules.cells.count == count
    typed, _ = library.check_source(Source("-", "typed", "extends: base\ncells: {count: 1}\n"))
    assert typed is not None


def test_of_two_files_with_one_id_the_one_in_the_first_folder_counts(tmp_path: Path) -> None:
    write(tmp_path / "a", "same", DEAL + "cells: {count: 1}\n")
    write(tmp_path / "b", "same", DEAL + "cells: {count: 2}\n")
    library = Library([tmp_path / "a", tmp_path / "b"])
    variant = library.variant("same")
    assert variant is not None
    assert variant.levels[0].rules.cells.count == 1
    assert [one.code for one in said_of(library)] == ["R017"]
    assert said_of(Library([tmp_path / "a", tmp_path / "a"])) == []


def test_a_file_that_can_not_be_read_is_told_of(tmp_path: Path) -> None:
    (tmp_path / "folder.yaml").mkdir()
    library = Library([tmp_path])
    assert library.variant("folder") is None
    assert [(one.code, one.message) for one in said_of(library)] == [("R016", "this is not a plain file")]
    _, said = library.check(tmp_path / "absent.yaml")
    assert [one.code for one in said] == ["R016"]


def test_no_more_is_read_of_a_file_than_it_may_have(tmp_path: Path) -> None:
    path = tmp_path / "big.yaml"
    with path.open("wb") as file:
        file.truncate(2**34)
    source = read_source(path)
    assert isinstance(source, Source)
    assert len(source.text) < 70_000


def test_paths_are_shown_from_where_the_program_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert shown_path(tmp_path / "rules" / "a.yaml") == "rules/a.yaml"
    assert shown_path(tmp_path.parent / "a.yaml") == str(tmp_path.parent / "a.yaml")


def test_new_changed_and_removed_files_are_found_with_what_extends_them(tmp_path: Path) -> None:
    base = write(tmp_path, "base", DEAL)
    child = write(tmp_path, "child", "extends: base\ncells: {count: 1}\n")
    write(tmp_path, "alone", DEAL)
    library = Library([tmp_path])
    assert library.refresh() == library.refresh()
    old = library.variant("child")
    write(tmp_path, "base", DEAL + "tableau: {max_cards: 12}\n")
    write(tmp_path, "fresh", DEAL)
    changes = library.refresh()
    assert (changes.added, changes.changed, changes.removed, changes.broken) == (
        ("fresh",),
        ("base", "child"),
        (),
        (),
    )
    new = library.variant("child")
    assert new is not None
    assert old is not None
    assert (old.levels[0].rules.tableau[0].max_cards, new.levels[0].rules.tableau[0].max_cards) == (None, 12)
    child.unlink()
    assert library.refresh().removed == ("child",)
    assert library.variant("child") is None
    assert base.exists()


def test_a_file_that_breaks_keeps_the_last_good_variant_and_says_so_once(tmp_path: Path) -> None:
    write(tmp_path, "one", DEAL)
    library = Library([tmp_path])
    good = library.variant("one")
    path = write(tmp_path, "one", DEAL + "colums: 8\n")
    changes = library.refresh()
    assert changes.broken == ("one",)
    assert [one.code for one in changes.diagnostics] == ["R102"]
    assert library.variant("one") is good
    assert library.refresh().broken == ()
    assert library.variant("one") is good
    path.write_text(DEAL, encoding="utf-8")
    mended = library.refresh()
    assert (mended.broken, mended.changed) == ((), ())
    assert said_of(library) == []


def test_only_what_a_change_concerns_is_compiled_again(tmp_path: Path) -> None:
    base = write(tmp_path, "base", DEAL)
    write(tmp_path, "child", "extends: base\ncells: {count: 1}\n")
    write(tmp_path, "alone", DEAL)
    library = Library([tmp_path])
    before = {one.id: one for one in library.variants()}
    # In its place comes a file of the same size and with the same times, as version control does it.
    other = write(tmp_path / "other", "base", DEAL.replace("*7", "*6").replace("UUU.", "UU.."))
    other.write_text(base.read_text().replace("UUU....", "U.U.U.."), encoding="utf-8")
    times = base.stat()
    os.utime(other, ns=(times.st_atime_ns, times.st_mtime_ns))
    other.replace(base)
    assert library.refresh().changed == ("base", "child")
    after = {one.id: one for one in library.variants()}
    assert after["alone"] is before["alone"]
    assert after["child"].levels != before["child"].levels


def test_a_base_that_comes_goes_or_is_put_before_another_concerns_what_extends_it(tmp_path: Path) -> None:
    write(tmp_path / "b", "child", "extends: base\ncells: {count: 1}\n")
    library = Library([tmp_path / "a", tmp_path / "b"])
    assert library.variant("child") is None
    base = write(tmp_path / "b", "base", DEAL)
    found = library.refresh()
    assert (found.added, found.mended) == (("base",), ("child",))
    assert library.variant("child") is not None
    first = write(tmp_path / "a", "base", DEAL + "tableau: {max_cards: 20}\n")
    assert library.refresh().changed == ("base",), "what lies beside a file is what it extends"
    base.unlink()
    assert library.refresh().changed == ("child",)
    first.unlink()
    found = library.refresh()
    assert (found.removed, found.broken) == (("base",), ("child",))
    assert library.variant("child") is not None, "the last good one stays"


def test_variants_can_be_asked_for_while_another_thread_looks(tmp_path: Path) -> None:
    """A reader must see all of the old variants or all of the new ones, and must never have to compile one."""
    for number in range(20):
        write(tmp_path, f"v{number}", DEAL)
    library = Library([tmp_path])
    library.variants()
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            counts = {one.levels[0].rules.cells.count for one in library.variants()}
            assert len(counts) == 1

    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(read)
        try:
            for count in range(1, 6):
                for number in range(20):
                    write(tmp_path, f"v{number}", DEAL + f"cells: {{count: {count}}}\n")
                library.refresh()
        finally:
            done.set()
        reading.result(10)
    assert library.variants()[0].levels[0].rules.cells.count == 5
