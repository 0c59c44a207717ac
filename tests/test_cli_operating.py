"""What an operator does at the command line: copies of the database, games on record, settings, a look at the machine."""

from __future__ import annotations

import socket
import sqlite3
import stat
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from caller import calling
from chilkoot.record import AddAttempt, AnnounceDaily, GameHeader, NewSeason, Reader, Store, restore_database
from lines import losing_line
from record_examples import opening, play
from runs import Run
from servers import LiveServer
from variants import rules_of


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'games.db'}"


def recorded(
    url: str, name: str = "played", actions: tuple[str, ...] = ("t3 1 f",), deal: str = "ck:0"
) -> None:
    with closing(Store.open(url)) as store:
        play(store, rules_of("yukon"), deal, actions, name=name)


def rules_of_game(store: Store, name: str) -> str:
    header = store.reader.game_header(name)
    assert header is not None
    return header.rules_hash


def beside(path: Path) -> list[str]:
    """The files whose names begin as this one's does."""
    return [one.name for one in path.parent.iterdir() if one.name.startswith(path.stem)]


# copies


async def test_a_copy_taken_beside_a_running_server_holds_every_acknowledged_action(
    run: Run, tmp_path: Path
) -> None:
    copy, restored = tmp_path / "copy.db", f"sqlite:///{tmp_path / 'new' / 'games.db'}"
    with LiveServer(tmp_path) as server:
        async with calling(server.url) as caller:
            table = await caller.ask("new", variant="yukon", deal="ck:0")
            await caller.move(table, "t3 1 f")
            made = run("db", "backup", copy, "--database", server.database)
            assert (made.status, made.err) == (0, "")
            assert "1 games" in made.out
            again = await caller.ask("undo", game=table["game"], base=1)
            assert again["seq"] == 2
        assert run("db", "restore", copy, "--database", server.database).status == 78
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    # One file, and nothing beside it.
    assert beside(copy) == ["copy.db"]
    assert run("db", "restore", copy, "--database", restored).status == 0
    assert run("db", "check", "--database", restored).out.startswith("1 game checked: no problems")
    shown = run("games", "show", table["game"], "--json", "--database", restored).objects[0]
    assert (shown["seq"], shown["score"]) == (1, 1)


def test_what_a_copy_takes_the_place_of_is_kept(run: Run, url: str, tmp_path: Path) -> None:
    recorded(url, "first")
    copy = tmp_path / "copy.db"
    assert run("db", "backup", copy, "--database", url).status == 0
    recorded(url, "second")
    done = run("db", "restore", copy, "--json", "--database", url)
    kept = done.objects[0]["kept"]
    listed = run("games", "list", "--json", "--database", url).objects
    assert [one["id"] for one in listed] == ["first"]
    before = run("games", "list", "--json", "--database", f"sqlite:///{kept}").objects
    assert [one["id"] for one in before] == ["second", "first"]
    # And once more, under yet another name.
    again = run("db", "restore", copy, "--json", "--database", url).objects[0]
    assert again["kept"] != kept
    assert run("db", "check", "--database", url).status == 0


def test_a_log_that_a_killed_server_left_behind_does_not_get_into_the_copy_that_is_put_back(
    run: Run, url: str, tmp_path: Path
) -> None:
    recorded(url, "first")
    copy = tmp_path / "copy.db"
    run("db", "backup", copy, "--database", url)
    (tmp_path / "games.db-wal").write_bytes(b"what was not yet in the file")
    (tmp_path / "games.db-shm").write_bytes(b"")
    assert run("db", "restore", copy, "--database", url).status == 0
    assert not (tmp_path / "games.db-wal").exists()
    assert (tmp_path / "games.db.before-restore-wal").exists()
    assert run("db", "check", "--database", url).status == 0


@pytest.mark.parametrize("renames", range(4))
def test_a_copy_that_was_being_put_back_when_the_machine_stopped_is_put_back_and_nothing_is_lost(
    run: Run, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, renames: int
) -> None:
    recorded(url, "first")
    copy, path, log = tmp_path / "copy.db", tmp_path / "games.db", tmp_path / "games.db-wal"
    run("db", "backup", copy, "--database", url)
    with closing(Store.open(url)) as store:
        play(store, rules_of("yukon"), "ck:0", ("t3 1 f",), name="second")
        left_by_a_kill = path.read_bytes(), log.read_bytes()
    path.write_bytes(left_by_a_kill[0])
    log.write_bytes(left_by_a_kill[1])
    rename, left = Path.rename, iter(range(renames))

    def stopping(self: Path, target: Path) -> Path:
        if next(left, None) is None:
            raise KeyboardInterrupt
        return rename(self, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", stopping)
        with pytest.raises(KeyboardInterrupt):
            restore_database(url, copy)

    def games(database: Path) -> list[str]:
        return [
            one["id"] for one in run("games", "list", "--json", "--database", f"sqlite:///{database}").objects
        ]

    # Who only reads may come first.
    run("games", "list", "--database", url)
    with closing(Store.open(url)):
        pass
    assert games(path) == (["first"] if renames else ["second", "first"])
    if renames:
        assert games(tmp_path / "games.db.before-restore") == ["second", "first"]
    assert not (tmp_path / "games.db.restored").exists()


def test_what_is_no_copy_is_not_put_anywhere(run: Run, url: str, tmp_path: Path) -> None:
    recorded(url)
    whole = (tmp_path / "games.db").read_bytes()
    wrong = tmp_path / "wrong.db"
    for content, says in ((b"a diary" * 1000, "not a SQLite database"), (b"", "empty"), (whole[:-9000], "")):
        wrong.write_bytes(content)
        refused = run("db", "restore", wrong, "--database", url)
        assert refused.status == 78
        assert says in refused.err
        assert (tmp_path / "games.db").read_bytes() == whole
    assert run("db", "restore", tmp_path / "nothing", "--database", url).status == 78
    assert "the database itself" in run("db", "restore", tmp_path / "games.db", "--database", url).err
    assert "there already" in run("db", "backup", wrong, "--database", url).err
    assert run("db", "backup", tmp_path / "b.db", "--database", f"{url}.none").status == 78
    assert not list(tmp_path.glob("*.part"))


# games


def test_games_are_listed_without_cards_deals_or_keys(run: Run, url: str) -> None:
    recorded(url, "first")
    recorded(url, "second", ("t3 1 f", "give_up"))
    listed = run("games", "list", "--json", "--database", url).objects
    assert [(one["id"], one["status"]) for one in listed] == [("second", "lost"), ("first", "playing")]
    secret = {"deal", "key", "watch_key", "start_hash", "head_hash"}
    assert set(listed[0]) == set(GameHeader.__struct_fields__) - secret
    assert [
        one["id"] for one in run("games", "list", "--state", "over", "--json", "--database", url).objects
    ] == ["second"]
    for none in (("--variant", "russian"), ("--player", "nobody")):
        assert run("games", "list", *none, "--database", url).out == ""
    assert len(run("games", "list", "--limit", "1", "--database", url).lines) == 1
    text = run("games", "show", "first", "--database", url).out
    assert "playing" in text
    assert "ck:" not in text
    assert run("games", "show", "third", "--database", url).status == 2


def test_a_game_that_nobody_plays_any_more_is_ended_and_stays_true(run: Run, url: str) -> None:
    deal, line = losing_line("yukon")
    recorded(url, "first")
    recorded(url, "lost", line, deal)
    done = run("games", "close", "first", "lost", "none", "--database", url)
    assert done.lines == ["first: given up", "lost: closed", "none: there is no such game"]
    assert done.status == 1
    again = run("games", "close", "first", "--database", url)
    assert (again.lines, again.status) == (["first: is closed already"], 0)
    shown = run("games", "show", "first", "--json", "--database", url).objects[0]
    assert (shown["status"], shown["result"], shown["seq"]) == ("lost", "gave_up", 2)
    assert run("replay", "verify", "first", "lost", "--database", url).status == 0


def test_an_attempt_at_a_daily_ends_with_the_game_that_is_closed_after_its_day(run: Run, url: str) -> None:
    recorded(url, "first")
    day: dict[str, Any] = {"date": "2026-11-29", "variant": "yukon", "level": None}
    with closing(Store.open(url)) as store:
        rules_hash = rules_of_game(store, "first")
        season = NewSeason(first="2026-11-29", days=365, root=b"root", tip=b"tip", published_ms=1)
        announced = AnnounceDaily(
            **day, season="2026-11-29", day=1, rules_hash=rules_hash, beacon="", seed_hash=b"", announced_ms=2
        )
        store.write((season, announced, AddAttempt(**day, player="ann", game="first")))
    assert run("games", "close", "first", "--database", url).lines == ["first: given up"]
    with closing(Reader.open(url)) as reader:
        attempt = reader.days.attempt_of_game("first")
    assert attempt is not None
    assert attempt.ended_ms is not None
    assert (attempt.status, attempt.won, attempt.is_ranked) == ("lost", False, False)
    assert run("replay", "verify", "first", "--database", url).status == 0


def test_a_game_that_counts_in_something_that_goes_on_is_left_alone(run: Run, url: str) -> None:
    with closing(Store.open(url)) as store:
        store.write(opening("raced", contest="race", sealed_until_ms=10**14))
    done = run("games", "close", "raced", "--database", url)
    assert (done.lines, done.status) == (["raced: it counts in a race that goes on"], 1)


def test_a_recorded_game_is_shown_in_time_with_hidden_cards_hidden(run: Run, url: str) -> None:
    recorded(url, "first", ("t3 1 f", "undo", "give_up"))
    shown = run("replay", "play", "first", "--speed", "0", "--database", url)
    assert shown.status == 0
    assert [line for line in shown.lines if " of 3: " in line] == [
        "1 of 3: t3 1 f, 1 home",
        "2 of 3: undo, 0 home",
        "3 of 3: give_up, 0 home",
    ]
    assert "··" in shown.out
    assert shown.lines[-1] == "lost (gave up), 0 home, 0 moves, 1 taken back"
    for speed in ("fast", "-1", "nan", "1e-300"):
        refused = run("replay", "play", "first", "--speed", speed, "--database", url)
        assert (refused.status, f"'{speed}' is no speed" in refused.err) == (2, True)


@pytest.mark.parametrize(
    "arguments",
    (
        ("games", "list", "--variant"),
        ("games", "show"),
        ("games", "close"),
        ("replay", "export"),
        ("replay", "play"),
    ),
    ids=" ".join,
)
def test_what_is_no_text_names_no_game(run: Run, url: str, arguments: tuple[str, ...]) -> None:
    recorded(url)
    # A byte of a command line that is no UTF-8 comes as half a character.
    refused = run(*arguments, "\udcff", "--database", url)
    assert (refused.status, len(refused.err.splitlines())) == (1, 1)
    assert "no text that a database can hold" in refused.err


def test_a_copy_may_have_a_name_that_is_no_text(run: Run, url: str, tmp_path: Path) -> None:
    recorded(url)
    copy = tmp_path / "caf\udce9.db"
    assert run("db", "backup", copy, "--database", url).status == 0
    assert run("db", "restore", copy, "--database", url).status == 0


# settings, and the machine


@pytest.mark.parametrize("flags", ((), ("--json",)))
def test_a_path_that_is_no_text_is_told(run: Run, tmp_path: Path, flags: tuple[str, ...]) -> None:
    folder = tmp_path / "caf\udce9"
    folder.mkdir()
    database = f"sqlite:///{folder / 'games.db'}"
    recorded(database)
    serving = ("--rules", folder, "--database", database, *flags)
    for command in (("config", *serving), ("doctor", *serving)):
        assert run(*command).out.count("caf\\udce9") >= 1
    copied = run("db", "backup", folder / "copy.db", "--database", database, *flags)
    assert "caf\\udce9" in copied.out
    if flags:
        assert Path(copied.objects[0]["path"]) == folder / "copy.db"
        told = {one["name"]: one["value"] for one in run("config", *serving).objects}
        assert told["rules"] == [str(folder)]


def test_every_setting_is_told_with_the_value_that_holds(run: Run, url: str) -> None:
    found = {
        one["name"]: (one["value"], one["set"])
        for one in run("config", "--limit", "rate=20", "--database", url, "--json").objects
    }
    assert found["limit rate"] == (20, True)
    assert found["limit burst"] == (30, False)
    assert found["database"] == (url, True)
    assert found["port"] == (8640, False)
    wrong = run("config", "--limit", "raet=20")
    assert (wrong.status, "did you mean `rate`" in wrong.err) == (2, True)


def test_the_doctor_says_what_is_fine_and_what_is_not(run: Run, url: str, tmp_path: Path) -> None:
    def verdicts(*flags: str) -> dict[str, tuple[str, str]]:
        ran = run("doctor", "--json", *flags)
        found = {one["check"]: (one["verdict"], one["message"]) for one in ran.objects}
        assert ran.status == int("wrong" in {verdict for verdict, _ in found.values()})
        return found

    fine = verdicts("--database", url, "--port", "0")
    assert {verdict for verdict, _ in fine.values()} <= {"ok", "warning"}
    assert "made at the first start" in fine["database"][1]
    recorded(url)
    rules = tmp_path / "rules"
    rules.mkdir()
    (rules / "mine.yaml").write_text("dsl: 1\nname: Mine\nextends: nothing\n")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        found = verdicts("--database", url, "--port", port, "--rules", str(rules))
    assert "1 games of 1 players, 1 unfinished" in found["database"][1]
    assert (found["port"][0], "is a server running there" in found["port"][1]) == ("wrong", True)
    assert (found["rules"][0], "mine.yaml" in found["rules"][1]) == ("warning", True)
    for revision, verdict in (("0001", "warning"), ("9999", "wrong")):
        with closing(sqlite3.connect(tmp_path / "games.db")) as connection:
            connection.execute("UPDATE alembic_version SET version_num = ?", (revision,))
            connection.commit()
        assert verdicts("--database", url, "--port", "0")["database"][0] == verdict
    (tmp_path / "games.db").write_bytes(b"a diary" * 1000)
    assert verdicts("--database", url, "--port", "0")["database"][0] == "wrong"
    assert verdicts("--database", f"{url}/below.db", "--port", "0")["database"][0] == "wrong"
    for host in ("nowhere.invalid", "\udcff"):
        verdict, said = verdicts("--database", url, "--host", host)["port"]
        assert (verdict, "running there" in said) == ("wrong", False)
