"""What an editor shows of a file of rules: the schema in the real YAML language server, asked as an editor asks."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from chilkoot.language import KEYS, check_text
from chilkoot.language.schema import Choice, keys_of
from lsp import VERSION, LanguageServer, install
from runs import Run
from variants import library

# npm brings the server; it is kept in the cache folder of pytest.
pytestmark = [pytest.mark.slow, pytest.mark.needs("node", "npm")]

ROOT = Path(__file__).resolve().parents[1]
MODELINE = "# yaml-language-server: $schema=rules.schema.json\n"


@pytest.fixture(scope="module")
def server(pytestconfig: pytest.Config) -> Iterator[LanguageServer]:
    assert pytestconfig.cache is not None
    try:
        program = install(Path(pytestconfig.cache.mkdir("yaml-language-server")))
    except (OSError, subprocess.SubprocessError) as error:
        lack = f"needs yaml-language-server {VERSION} from npm: {error}"
        if os.environ.get("CI"):
            pytest.fail(f"{lack} (nothing is skipped where CI is set)", pytrace=False)
        pytest.skip(lack)
    with LanguageServer(program) as running:
        yield running


class Editor:
    """One document. Places are where ``|`` stands in the text."""

    def __init__(self, server: LanguageServer, path: Path) -> None:
        self._server = server
        self._path = path

    def _put(self, text: str) -> tuple[int, int]:
        before, mark, after = text.partition("|")
        assert mark
        self._server.open(self._path, MODELINE + before + after)
        lines = (MODELINE + before).split("\n")
        return len(lines) - 1, len(lines[-1])

    def offered(self, text: str) -> dict[str, str]:
        """What is offered at the mark, with what is told of it."""
        return self._server.completion(self._path, *self._put(text))

    def told(self, text: str) -> str:
        """What is told of the word behind the mark."""
        return self._server.hover(self._path, *self._put(text))

    def marked(self, text: str) -> set[str]:
        """The parts of the text that are marked as wrong."""
        lines = (MODELINE + text).split("\n")
        found = set()
        for one in self._server.open(self._path, MODELINE + text):
            start, end = one["range"]["start"], one["range"]["end"]
            assert start["line"] == end["line"], one
            found.add(lines[start["line"]][start["character"] : end["character"]])
        return found


@pytest.fixture
def editor(server: LanguageServer, run: Run, tmp_path: Path) -> Editor:
    """A document beside the schema that the command prints."""
    (tmp_path / "rules.schema.json").write_text(run("rules", "schema").out)
    return Editor(server, tmp_path / "mine.yaml")


def test_every_key_is_offered_where_it_may_stand_with_its_meaning(editor: Editor) -> None:
    offered = editor.offered("|\n")
    assert offered.keys() >= keys_of("").keys()
    assert offered["extends"].startswith("Another variant to build on")
    assert editor.offered("cells:\n  |\n").keys() == keys_of("cells").keys()
    assert editor.offered("tableau:\n  empty:\n    accepts: K\n    |\n").keys() == keys_of(
        "tableau.empty"
    ).keys() - {"accepts"}
    assert editor.offered("foundations:\n  - count: 4\n    |\n").keys() == keys_of("foundations").keys() - {
        "count"
    }
    assert editor.offered("deal:\n  - |\n").keys() >= {"cells", "foundations", "reserve", "waste"}
    assert editor.offered("tests:\n  - |\n").keys() >= keys_of("tests").keys()
    level = editor.offered("levels:\n  1:\n    |\n").keys()
    assert level >= {"tableau", "cells", "deal"}
    assert not level & {"name", "extends", "levels", "tests"}


def test_every_word_is_offered_as_a_value_with_its_meaning(editor: Editor) -> None:
    for key in KEYS:
        section, _, name = key.path.rpartition(".")
        if not isinstance(key.kind, Choice) or section == "tests":
            continue
        text, depth = "", 0
        for part in section.split("."):
            text += f"{'  ' * depth}{part}:\n"
            depth += 1
        offered = editor.offered(f"{text}{'  ' * depth}{name}: |\n")
        assert offered.keys() >= key.kind.words.keys(), key.path
        for word, meaning in key.kind.words.items():
            assert offered[word] == meaning


def test_a_hover_tells_what_a_key_means_what_it_takes_and_what_it_is_by_default(editor: Editor) -> None:
    told = editor.told("tableau:\n  empty:\n    whole_|column: refuse\n")
    assert "Whether a whole column may move into an empty one." in told
    assert "`refuse`: it may not, for it changes nothing" in told
    assert "Default: allow" in told
    assert "How many cells there are." in editor.told("cells:\n  cou|nt: 2\n")
    assert "`{cards_in_foundations: 26}` asks for so many cards at home" in editor.told(
        "go|al: runs_in_tableau\n"
    )
    assert "The rank that begins a foundation." in editor.told("foundations:\n  - ba|se: dealt\n")
    assert "How many cells there are." in editor.told("levels:\n  1:\n    cells: {cou|nt: 2}\n")


@pytest.mark.parametrize(
    ("text", "marked"),
    (
        ("extends: yukon\ntableau:\n  colums: 8\n", {"colums"}),
        ("extends: yukon\ntableau:\n  empty: {whole_column: maybe}\n", {"maybe"}),
        ("extends: yukon\ncells: {count: 13}\n", {"13"}),
        ("extends: yukno!\n", {"yukno!"}),
        ("deal: [UUX, UUU]\n", {"UUX"}),
        ("levels:\n  1: {tests: []}\n", {"tests"}),
        ("foundations:\n  - {count: 4}\n  - {base: king}\n", {"king"}),
        ("tests:\n  - {board: x, move: y, expect: ilegal}\n", {"ilegal"}),
        ("extends: yukon\naids: {hints: 1}\ncells: {count: many}\n", {"1", "many"}),
    ),
)
def test_what_is_wrong_is_marked_where_the_checker_marks_it(
    editor: Editor, text: str, marked: set[str]
) -> None:
    assert editor.marked(text) == marked
    lines = text.split("\n")
    said = check_text(text)
    underlined = {lines[one.place.line - 1][one.place.column - 1 : one.place.end - 1] for one in said}
    assert all(any(token in one or one in token for token in underlined) for one in marked)


def test_an_editor_has_nothing_against_what_the_checker_accepts(
    server: LanguageServer, editor: Editor, tmp_path: Path
) -> None:
    paths = [path for one in library().ids() if (path := library().path(one)) is not None]
    paths += sorted((ROOT / "tests" / "rules" / "ok").glob("*.yaml"))
    texts = {tmp_path / path.name: MODELINE + path.read_text(encoding="utf-8") for path in paths}
    found = server.open_all(texts)
    assert {path.name: said for path, said in found.items() if said} == {}
    assert len(found) == len(paths)


def test_a_file_that_rules_new_has_written_is_known_to_the_editor_at_once(
    server: LanguageServer, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("rules", "new", "mine").status == 0
    path = tmp_path / "mine.yaml"
    assert server.open(path, path.read_text()) == []
    text = path.read_text() + "cells:\n  count: 99\n"
    (fault,) = server.open(path, text)
    assert fault["range"]["start"] == {"line": text.count("\n") - 1, "character": 9}
