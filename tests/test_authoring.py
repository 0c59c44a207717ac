"""The way of an author from nothing to a game: new, check, watch, show, effective, explain, schema, play."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import pytest

from chilkoot.data import rules_folder
from chilkoot.language import CODES, ID_PATTERN, KEYS, check_text, json_schema
from chilkoot.language.schema import Section
from chilkoot.language.starter import MARK
from chilkoot.library import Library
from runs import Run
from servers import command, environment
from variants import QUICK, library

MINE = "extends: yukon\ncells: {count: 3}\ntableau: {empty: {accepts: any}}\n"
BROKEN = "extends: yukon\ntableau: {colums: 8}\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that the author works in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def put(path: Path, text: str) -> None:
    """Write a file as editors do that take no risk."""
    new = path.with_suffix(".new")
    new.write_text(text, encoding="utf-8")
    new.replace(path)


# new


def test_a_new_file_is_in_order_as_it_is_and_plays_like_what_it_builds_on(run: Run, folder: Path) -> None:
    ran = run("rules", "new", "my-yukon")
    assert (ran.status, ran.lines) == (0, ["my-yukon.yaml"])
    assert "my-yukon.yaml --watch" in ran.err
    assert run("rules", "check", "my-yukon.yaml", "--strict").out == ""
    listed = {one["id"]: one for one in run("rules", "list", "--rules", ".", "--json").objects}
    assert listed["my-yukon"]["name"] == "My Yukon"
    assert listed["my-yukon"]["rules_hashes"] == listed["yukon"]["rules_hashes"]


@pytest.mark.parametrize(
    "base",
    [
        pytest.param(one, marks=() if one in {*QUICK, "bear-river"} else pytest.mark.slow)
        for one in library().ids()
    ],
)
def test_each_comment_of_a_new_file_may_be_taken_out_and_says_what_the_base_says(
    run: Run, folder: Path, base: str
) -> None:
    assert run("rules", "new", "mine", "--from", base).status == 0
    path = folder / "mine.yaml"
    head, _, tail = path.read_text().partition(MARK)
    _, _, comments = tail.partition("\n\n")
    path.write_text(head + "\n" + re.sub("^# ", "", comments, flags=re.MULTILINE))
    ran = run("rules", "check", path, "--json")
    # What a comment says is no news, and some of it can't matter in this game; nothing else may be said.
    assert {one["code"] for one in ran.objects} <= {"R501", "R502"}
    assert "R502" in {one["code"] for one in ran.objects}
    ours, base_variant = Library([folder, rules_folder()]).check(path)[0], library().variant(base)
    assert ours is not None
    assert base_variant is not None
    at = base_variant.default_level
    assert ours.level(at) == base_variant.level(at)


def test_an_author_takes_one_comment_out_and_has_another_game(run: Run, folder: Path) -> None:
    run("rules", "new", "mine", "--from", "klondike")
    path = folder / "mine.yaml"
    text = path.read_text().replace("# stock:\n", "stock:\n")
    path.write_text(re.sub("^#   draw: 1 ", "  draw: 3 ", text, flags=re.MULTILINE))
    assert run("rules", "check", "mine.yaml", "--strict").status == 0
    assert run("legal", "mine.yaml", "--deal", "ck:1").lines[-1] == "draw"
    assert "  draw: 3   " in run("rules", "effective", "mine.yaml", "--origins").out


def test_no_file_is_written_over(run: Run, folder: Path) -> None:
    for name in ("mine.yaml", "rules.schema.json"):
        (folder / name).write_text("precious")
    ran = run("rules", "new", "mine")
    assert (ran.status, ran.out) == (2, "")
    assert "mine.yaml is there already" in ran.err
    assert run("rules", "new", "other").status == 0
    assert {(folder / name).read_text() for name in ("mine.yaml", "rules.schema.json")} == {"precious"}


@pytest.mark.parametrize(
    ("name", "said"),
    (
        ("My Game", "try `my-game`"),
        ("7up", "try `up`"),
        ("sub/Ünder_World", "try `sub/nder-world`"),
        ("x" * 50, "at most 40; try"),
        ("!", "can't be the id"),
        ("mine.yml", "try `mine.yaml`"),
        ("yukon", "there is a variant `yukon` already"),
        ("nowhere/mine", "nowhere: there is no such folder"),
        ("", "can't be the id"),
    ),
)
def test_a_name_that_can_not_be_is_answered_with_one_that_can(
    run: Run, folder: Path, name: str, said: str
) -> None:
    (folder / "sub").mkdir()
    ran = run("rules", "new", name)
    assert (ran.status, ran.out) == (2, "")
    assert said in ran.err
    assert sorted(folder.rglob("*.*")) == []
    if near := re.search("try `(.*)`", ran.err):
        assert re.fullmatch(ID_PATTERN, Path(near[1]).stem)
        assert run("rules", "new", near[1]).status == 0


def test_a_game_is_built_on_another_of_ones_own(run: Run, folder: Path) -> None:
    (folder / "mine.yaml").write_text(MINE)
    assert run("rules", "new", "second", "--from", "mine").status == 0
    assert run("rules", "new", "third", "--from", "./second.yaml").status == 0
    assert "extends: second\n" in (folder / "third.yaml").read_text()
    assert "#   count: 3  " in (folder / "third.yaml").read_text()
    (folder / "sub").mkdir()
    assert run("rules", "new", "sub/fourth", "--from", "mine.yaml").status == 2
    assert run("rules", "new", "fourth", "--from", "mien").status == 2
    (folder / "bad.yaml").write_text(BROKEN)
    ran = run("rules", "new", "fourth", "--from", "bad")
    assert ran.status == 1
    assert "[R102]" in ran.err


# check --watch


class Watch:
    """The command as it watches; what it says is read as it comes."""

    def __init__(self, *arguments: str, home: Path, terminal: bool = False) -> None:
        ours, theirs = pty.openpty() if terminal else os.pipe()
        self._process = subprocess.Popen(
            command("rules", "check", "--watch", *arguments),
            stdin=subprocess.DEVNULL,
            stdout=theirs,
            stderr=theirs,
            env=environment(home, TERM="xterm"),
            cwd=home,
        )
        os.close(theirs)
        self._out = ours
        self.text = ""

    def until(self, words: str) -> str:
        """What was said up to these words, and not read before."""
        deadline = time.monotonic() + 20
        while words not in self.text:
            assert time.monotonic() < deadline, f"{words!r} was not said, but {self.text!r}"
            if select.select([self._out], [], [], 1)[0]:
                self.text += os.read(self._out, 65536).decode()
        before, _, self.text = self.text.partition(words)
        return before

    def interrupt(self) -> int:
        """Press Ctrl-C; the exit status."""
        self._process.send_signal(signal.SIGINT)
        return self._process.wait(20)

    def end(self) -> str:
        """All that was said after what was read."""
        while True:
            try:
                more = os.read(self._out, 65536)
            except OSError:
                # That is how a terminal ends.
                more = b""
            if not more:
                return self.text
            self.text += more.decode()

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._out)


class Watching(Protocol):
    """Begins to watch."""

    def __call__(self, *arguments: str, terminal: bool = False) -> Watch: ...


@pytest.fixture
def watching(folder: Path) -> Iterator[Watching]:
    """What begins to watch, and is ended after the test."""
    made: list[Watch] = []

    def begin(*arguments: str, terminal: bool = False) -> Watch:
        made.append(Watch(*arguments, home=folder, terminal=terminal))
        return made[-1]

    yield begin
    for one in made:
        one.close()


def test_a_watched_file_is_checked_each_time_it_changes(watching: Watching, folder: Path) -> None:
    put(folder / "mine.yaml", BROKEN)
    watch = watching("mine.yaml")
    assert "mine.yaml:2:11" in watch.until("Ctrl-C ends\n")
    put(folder / "mine.yaml", MINE)
    said = watch.until("Ctrl-C ends\n")
    assert "1 file checked: all is well" in said
    assert "[R" not in said
    # Gone, and back again: some editors save like this.
    (folder / "mine.yaml").unlink()
    assert "there is no such file" in watch.until("Ctrl-C ends\n")
    put(folder / "mine.yaml", BROKEN)
    assert "[R102]" in watch.until("Ctrl-C ends\n")
    assert watch.interrupt() == 1
    assert watch.end() == ""


def test_what_a_watched_file_builds_on_is_watched_too(watching: Watching, folder: Path) -> None:
    put(folder / "base.yaml", MINE)
    put(folder / "mine.yaml", "extends: base\ncells: {count: 1}\n")
    watch = watching("mine.yaml")
    assert "all is well" in watch.until("Ctrl-C ends\n")
    put(folder / "base.yaml", BROKEN)
    assert "base.yaml:2:11" in watch.until("Ctrl-C ends\n")
    put(folder / "base.yaml", MINE)
    assert "all is well" in watch.until("Ctrl-C ends\n")
    assert watch.interrupt() == 0


def test_a_file_that_is_new_in_a_watched_folder_is_checked(watching: Watching, folder: Path) -> None:
    put(folder / "mine.yaml", MINE)
    watch = watching(".", "--format", "json")
    put(folder / "other.yaml", BROKEN)
    line = watch.until("\n")
    assert json.loads(line)["file"] == "other.yaml"
    # It may be interrupted before the check has ended.
    assert watch.interrupt() in {0, 1}
    assert watch.end() == ""


def test_the_screen_is_cleared_on_a_terminal_only(watching: Watching, folder: Path) -> None:
    put(folder / "mine.yaml", MINE)
    on_terminal = watching("mine.yaml", terminal=True)
    assert on_terminal.until("Ctrl-C ends").startswith("\x1b[2J\x1b[H1 file checked")
    assert on_terminal.interrupt() == 0
    in_pipe = watching("mine.yaml")
    assert "\x1b" not in in_pipe.until("Ctrl-C ends")
    assert in_pipe.interrupt() == 0


def test_what_can_not_be_watched_is_said_at_once(run: Run) -> None:
    assert run("rules", "check", "--watch", "-").status == 2
    assert run("rules", "check", "--watch", "nowhere.yaml").status == 2


# show


def test_a_deal_is_shown_as_a_picture(run: Run) -> None:
    ran = run("rules", "show", "yukon", "ms:24")
    assert ran.err == ""
    assert (
        ran.out
        == """\
Yukon, deal ms:24

 f1  --  f2  --  f3  --  f4  --
  t1  t2  t3  t4  t5  t6  t7
  7♣  ··  ··  ··  ··  ··  ··
      K♥  ··  ··  ··  ··  ··
      5♣  6♠  ··  ··  ··  ··
      3♥ 10♣  7♦  ··  ··  ··
      8♠  3♠ 10♠  8♣  ··  ··
      J♦  4♠  J♥  A♦  A♣  ··
          9♦  4♥ 10♦  4♦  9♥
              2♥  K♠  K♣  Q♠
                  Q♦  6♦  8♥
                      3♦  8♦
                          A♠
"""
    )


def test_a_picture_without_signs_is_the_same_in_plain_letters(run: Run, folder: Path) -> None:
    signs, letters = run("rules", "show", "canfield"), run("rules", "show", "canfield", "--ascii")
    assert letters.out.isascii()
    assert signs.out.translate(str.maketrans("♣♦♥♠·", "CDHS.")) == letters.out
    ran = subprocess.run(
        command("rules", "show", "canfield"),
        capture_output=True,
        env=environment(folder, PYTHONIOENCODING="latin-1"),
        check=True,
    )
    assert ran.stdout.decode("ascii") == letters.out


def test_colour_only_repeats_what_the_signs_say_and_is_for_terminals(folder: Path) -> None:
    shown = {}
    for name, more in (("coloured", {}), ("plain", {"NO_COLOR": "1"})):
        ours, theirs = pty.openpty()
        with subprocess.Popen(
            command("rules", "show", "yukon"), stdout=theirs, env=environment(folder, TERM="xterm", **more)
        ):
            os.close(theirs)
            text = b""
            while True:
                try:
                    text += os.read(ours, 65536)
                except OSError:
                    break
        os.close(ours)
        shown[name] = text.decode()
    assert "\x1b[31" in shown["coloured"]
    assert re.sub(r"\x1b\[[0-9;]*m", "", shown["coloured"]) == shown["plain"]


def test_a_picture_shows_no_card_that_lies_face_down(run: Run) -> None:
    (told,) = run("rules", "show", "yukon", "ck:0", "--json").objects
    (deal,) = run("deal", "yukon", "ck:0", "--json").objects
    for pile, cards in told["piles"].items():
        expected = ["??" if card.startswith("<") else card for card in deal["board"].get(pile, "").split()]
        assert cards == expected
    assert (told["variant"], told["level"], told["deal"]) == ("yukon", None, "ck:0")


def test_each_level_and_file_has_its_picture_and_what_is_no_deal_is_said(run: Run, folder: Path) -> None:
    (folder / "mine.yaml").write_text(MINE)
    assert " c3  --" in run("rules", "show", "mine.yaml").out
    assert run("rules", "show", "-", given=MINE).out.count("\n") > 5
    assert (
        run("rules", "show", "yukon-thicket", "--level", "3").lines[0] == "Yukon Thicket, level 3, deal ck:0"
    )
    assert run("rules", "show", "yukon-thicket", "--level", "9").status == 2
    assert run("rules", "show", "yukon", "nonsense").status == 2
    assert run("rules", "show", "yukon", "t1: KH").status == 2


@pytest.mark.parametrize(
    "variant",
    [pytest.param(one, marks=() if one in QUICK else pytest.mark.slow) for one in library().ids()],
)
def test_every_variant_that_ships_can_be_shown(run: Run, variant: str) -> None:
    ran = run("rules", "show", variant)
    assert ran.status == 0
    assert max(map(len, ran.lines)) <= 80


# describe


def test_how_a_game_is_played_is_told_as_text_and_as_a_page(run: Run, folder: Path) -> None:
    put(folder / "mine.yaml", MINE)
    text = run("rules", "describe", "mine.yaml").out
    assert text.startswith("# Mine\n")
    assert "Any card may be put into an empty column" in text
    assert "Each cell holds one card." in text
    page = run("rules", "describe", "mine.yaml", "--html").out
    assert "<h1>Mine</h1>" in page
    assert "cells: {count: 3}" in page
    assert "this page describes level 3" in run("rules", "describe", "yukon-thicket", "--level", "3").out


# effective


def test_each_value_has_the_file_and_line_that_it_comes_from(run: Run, folder: Path) -> None:
    (folder / "mine.yaml").write_text(MINE)
    found = {one["key"]: one for one in run("rules", "effective", "mine.yaml", "--json").objects}
    yukon = library().path("yukon")
    assert yukon is not None
    lines = yukon.read_text().splitlines()
    assert found["cells.count"] == {"key": "cells.count", "value": 3, "file": "mine.yaml", "line": 2}
    assert (found["tableau.empty.accepts"]["value"], found["tableau.empty.accepts"]["line"]) == ("any", 3)
    unit = found["tableau.group.unit"]
    assert (unit["value"], unit["file"]) == ("any", str(yukon))
    assert "unit: any" in lines[unit["line"] - 1]
    assert found["foundations.base"] == {"key": "foundations.base", "value": "A", "file": None, "line": None}
    assert found["deal"]["value"][0] == ".DDDDDD"
    text = run("rules", "effective", "mine.yaml", "--origins").lines
    assert any(re.fullmatch(r"  count: 3 +# mine\.yaml:2", line) for line in text)
    assert any(
        re.fullmatch(rf"    unit: any +# {re.escape(str(yukon))}:{unit['line']}", line) for line in text
    )
    assert any(re.fullmatch(r"    base: A +# default|  base: A +# default", line) for line in text)


def test_every_key_of_the_rules_is_listed_once_for_each_group(run: Run) -> None:
    keys = [one["key"] for one in run("rules", "effective", "bear-river", "--json").objects]
    assert len(set(keys)) == len(keys)
    known = {
        key.path
        for key in KEYS
        if not key.is_about
        and not isinstance(key.kind, Section)
        and key.path.partition(".")[0] not in {"tests", "family", "levels", "default_level"}
    }
    assert {re.sub(r"\[\d+\]", "", key) for key in keys} == known
    assert "tableau[1].columns" in keys


@pytest.mark.parametrize("variant", sorted(QUICK))
def test_what_is_printed_as_effective_is_the_same_game(run: Run, folder: Path, variant: str) -> None:
    (folder / "mine.yaml").write_text(run("rules", "effective", variant, "--origins").out)
    found, _ = Library([folder, rules_folder()]).check(folder / "mine.yaml")
    shipped = library().variant(variant)
    assert found is not None
    assert shipped is not None
    level = shipped.level()
    assert level is not None
    assert found.levels[0].hash == level.hash


def test_levels_differ_and_what_has_errors_has_no_effective_rules(run: Run, folder: Path) -> None:
    easy, hard = (run("rules", "effective", "yukon-thicket", "--level", str(level)).out for level in (1, 3))
    assert "    accepts: any\n" in easy
    assert "    accepts: K\n" in hard
    assert run("rules", "effective", "yukon-thicket", "--level", "7").status == 2
    (folder / "bad.yaml").write_text(BROKEN)
    ran = run("rules", "effective", "bad.yaml")
    assert (ran.status, ran.out) == (1, "")
    assert "[R102]" in ran.err


# explain, schema


def test_every_code_is_explained_and_listed(run: Run) -> None:
    assert [line.split()[0] for line in run("rules", "explain").lines] == list(CODES)
    assert [one["code"] for one in run("rules", "explain", "--json").objects] == list(CODES)
    ran = run("rules", "explain", "r102", "R501")
    assert ran.out.startswith("R102 (error): ")
    assert "\n\nR501 (warning): " in ran.out
    wrong = run("rules", "explain", "R1002")
    assert wrong.status == 2
    assert "did you mean R102?" in wrong.err
    assert run("rules", "explain", "colums").status == 2


def test_the_schema_is_printed_as_it_is(run: Run) -> None:
    assert json.loads(run("rules", "schema").out) == json_schema()
    assert run("rules", "schema", "--json").objects == [json_schema()]


# check


def test_ids_of_variants_can_be_checked_too(run: Run) -> None:
    assert run("rules", "check", "yukon", "klondike").err.startswith("2 files checked")
    assert run("rules", "check", "yukno").status == 2


def test_the_exit_status_tells_clean_from_wrong_from_misused(run: Run, folder: Path) -> None:
    (folder / "mine.yaml").write_text(MINE)
    (folder / "bad.yaml").write_text(BROKEN)
    (folder / "warned.yaml").write_text("extends: yukon\ntableau: {columns: 7}\n")
    for arguments, status in (
        (("mine.yaml",), 0),
        (("bad.yaml",), 1),
        (("mine.yaml", "bad.yaml"), 1),
        (("warned.yaml",), 0),
        (("warned.yaml", "--strict"), 1),
        ((".",), 1),
        (("absent.yaml",), 2),
        (("mine.yaml", "--format", "xml"), 2),
    ):
        assert run("rules", "check", *arguments).status == status, arguments
    assert run("rules", "check", "-", given=MINE).status == 0
    said = run("rules", "check", "-", "--format", "github", given=BROKEN)
    assert said.lines[0].startswith("::error file=-,line=2,col=11,")
    (one,) = run("rules", "check", "bad.yaml", "--json").objects
    assert (one["line"], one["column"], one["end_column"], one["help"]) == (
        2,
        11,
        17,
        'did you mean "columns"?',
    )
    assert check_text("deal: [UU]\n") != []


def processor_seconds(*arguments: str, folder: Path) -> float:
    """What a run of the command takes of the processor, at best."""
    found = []
    for _ in range(3):
        with subprocess.Popen(
            command(*arguments), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment(folder)
        ) as process:
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0
        found.append(used.ru_utime + used.ru_stime)
    return min(found)


def test_a_check_is_mostly_start_up(folder: Path) -> None:
    start = processor_seconds("rules", "explain", "R102", folder=folder)
    for name in ("yukon", "spider-web"):
        assert processor_seconds("rules", "check", name, folder=folder) < 2.5 * start


# play


def play(folder: Path, *arguments: str, given: str) -> str:
    """What the text client says in a pipe, with its own server and the games that this user left."""
    ran = subprocess.run(
        command("play", *arguments),
        input=given,
        capture_output=True,
        text=True,
        env=environment(folder),
        check=True,
        timeout=60,
    )
    assert ran.stderr == ""
    return ran.stdout


def test_a_file_is_played_by_what_it_says_now_and_a_game_of_its_goes_on_while_it_says_the_same(
    folder: Path,
) -> None:
    path = folder / "mine.yaml"
    path.write_text(MINE)
    assert "c3" in play(folder, "mine.yaml", "--deal", "ck:0", given="2 2 6\n")
    assert "taken up again" in play(folder, "mine.yaml", given="undo\n")
    path.write_text(MINE.replace("count: 3", "count: 4"))
    said = play(folder, "mine.yaml", given="")
    assert "The rules are others than those of your unfinished game, so this is a new one." in said
    assert "c4" in said
    path.write_text(MINE)
    assert "taken up again" not in play(folder, "mine.yaml", given="")


def test_what_can_not_be_played_is_said(run: Run, folder: Path) -> None:
    (folder / "mine.yml").write_text(MINE)
    ran = run("play", "mine.yml")
    assert ran.status == 2
    assert "ends in .yaml" in ran.err
    (folder / "My Game.yaml").write_text(MINE)
    ran = run("play", "My Game.yaml")
    assert ran.status == 1
    assert "[R015]" in ran.err


# the five minutes of rules/README.md


def test_the_five_minutes_of_the_readme_go_as_they_are_told(run: Run, folder: Path) -> None:
    """Somebody with nothing but that page: its commands are run, its changes are made, its answers come."""
    page = (rules_folder() / "README.md").read_text(encoding="utf-8")
    told = page.partition("\n## Five minutes\n")[2].partition("\n## ")[0]
    begin, check, look, at_play = re.findall(r"```sh\n(.*?)```", told, re.DOTALL)
    (wanted, *_) = re.findall(r"```yaml\n(.*?)```", told, re.DOTALL)
    assert run(*begin.split()[1:]).status == 0
    path = folder / "my-yukon.yaml"
    text = path.read_text(encoding="utf-8")
    changes = 0
    for line in wanted.splitlines():
        if line in text.splitlines():
            continue
        # "Take away `# ` and change the value": each line stands there once, as a comment.
        key, _, value = line.partition(":")
        text, count = re.subn(rf"^# {key}:( \S+)?", f"{key}:{value}", text, flags=re.MULTILINE)
        assert count == 1, line
        changes += 1
    assert changes == 5
    path.write_text(text, encoding="utf-8")
    assert "1 file checked: all is well" in run(*check.replace("--watch", "").split()[1:]).err
    assert "1 file checked: all is well" in told
    show, describe = look.splitlines()
    assert f"```text\n{run(*show.split()[1:]).out}```" in told
    assert run(*describe.split()[1:]).out.startswith("# My Yukon\n")
    said = play(folder, *at_play.split()[2:], "--deal", "ck:0", given="2 2 6\n1 1 c1\n4 1 1\n")
    assert "5 of hearts to cell 1." in said
    assert "Jack of diamonds to empty column 1." in said
    (folder / "wanted.yaml").write_text(wanted, encoding="utf-8")
    ours, theirs = (
        Library([rules_folder()]).check(folder / f"{name}.yaml")[0] for name in ("my-yukon", "wanted")
    )
    assert ours is not None
    assert theirs is not None
    assert ours.levels == theirs.levels
