"""`chilkoot daily` and the verifier: a day is worked out again, and what was changed is found."""

from __future__ import annotations

import asyncio
import copy
import hashlib
import importlib.util
import json
import shutil
import sqlite3
import subprocess
import sys
from contextlib import AsyncExitStack, closing
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
import pytest

from caller import Frame, calling
from chilkoot.cli import daily as cli_daily
from chilkoot.cli import main
from chilkoot.daily import DAY_MS, date_after, opens_ms, reveals_ms
from chilkoot.data import rules_folder
from chilkoot.engine import Game
from chilkoot.host.published import publish
from chilkoot.language.rules import canonical_text
from chilkoot.library import Library
from day_houses import SetClock, day_house, published_day, told_of_a_day, win
from servers import LiveServer, command, environment
from test_host_dailies import get

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = ROOT / "clients" / "verify_daily.py"
DAY = "2026-11-29"


def verifier() -> ModuleType:
    spec = importlib.util.spec_from_file_location("verify_daily", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


async def play_a_day(folder: Path) -> dict[str, Frame]:
    """A day that is played and over: what was published before, while and after, and a recording."""
    clock = SetClock(opens_ms(DAY) - DAY_MS)
    files: dict[str, Frame] = {}
    async with day_house(folder, clock) as made, AsyncExitStack() as stack:
        web = f"http://127.0.0.1:{made.port}"

        async def keep(name: str) -> None:
            files[name] = json.loads((await get(f"{web}/daily/{DAY}.json"))[1])

        await made.ready()
        await keep("announced")
        clock.now = opens_ms(DAY) + 1000
        await made.ready()
        await keep("open")
        caller = await stack.enter_async_context(calling(made.url))
        await caller.ask("hello", name="Ann")
        table = await caller.ask("daily_start")
        await win(caller, table)
        clock.now = reveals_ms(DAY)
        await keep("revealed")
        files["recording"] = (await caller.ask("recording", game=table["game"]))["recording"]
    return files


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Frame]]:
    folder = tmp_path_factory.mktemp("day")
    return folder, asyncio.run(play_a_day(folder))


@pytest.fixture
def house(
    played: tuple[Path, dict[str, Frame]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> dict[str, Frame]:
    """The files of that day, and a copy of its database in this test's folder."""
    folder, files = played
    for path in folder.glob("games.db*"):
        shutil.copy(path, tmp_path / path.name)
    monkeypatch.setattr(cli_daily, "_now_ms", lambda: reveals_ms(DAY))
    return copy.deepcopy(files)


def run(tmp_path: Path, *arguments: str) -> int:
    return main(["daily", *arguments, "--database", f"sqlite:///{tmp_path / 'games.db'}"])


def test_the_verifier_confirms_a_day_that_was_dealt_as_committed(house: dict[str, Frame]) -> None:
    said = verifier().check_day(
        house["revealed"],
        root=house["announced"]["season"]["root"],
        kept=house["announced"],
        recording=house["recording"],
    )
    assert said == [
        f"the key of {DAY} belongs to the season from {date_after(DAY, -1)}",
        "stairs: the deal, with a solution, and every card on the board are as committed",
        "yukon: the deal, with a solution, and every card on the board are as committed",
        f"the recording {house['recording']['game']} is of this deal",
    ]
    assert verifier().check_day(house["revealed"], kept=house["open"]) == said[:-1]


def change_key(file: Frame) -> None:
    file["key"] = "00" * 32


def change_seed(file: Frame) -> None:
    file["dailies"][0]["seed"] = "00" * 32


def change_nonce(file: Frame) -> None:
    file["dailies"][1]["nonce"] += 1


def change_beacon(file: Frame) -> None:
    file["dailies"][0]["beacon"] = "x"


def change_date(file: Frame) -> None:
    file["date"] = date_after(DAY, 1)


def change_rules(file: Frame) -> None:
    file["dailies"][0]["rules"] = file["dailies"][1]["rules"]


def change_solution(file: Frame) -> None:
    file["dailies"][0]["solution"][0] = "t2 1 c1"


def change_board(file: Frame) -> None:
    board = file["dailies"][1]["board"]
    one, two = board.split()[1], board.split()[-1]
    file["dailies"][1]["board"] = board.replace(one, "X").replace(two, one).replace("X", two)


def change_format(file: Frame) -> None:
    file["format"] = "other"


def add_days(file: Frame) -> None:
    file["day"] = file["season"]["days"] = 10**15


def hide_key(file: Frame) -> None:
    file["key"] = None


@pytest.mark.parametrize(
    ("change", "says"),
    (
        (change_key, "is not the season's root"),
        (change_seed, "is not the one that was announced"),
        (change_nonce, "the deal that follows from key and nonce"),
        (change_beacon, "is not the one that was announced"),
        (change_date, "is not the one that was announced"),
        (change_rules, "the rules are not those of the hash"),
        (change_solution, "the solution is not the one"),
        (change_board, "the cards do not lie as the server says"),
        (change_format, "this is not what"),
        (add_days, "there is no such day, or no such season"),
        (hide_key, "is not revealed yet"),
    ),
)
def test_the_verifier_finds_what_was_changed(house: dict[str, Frame], change: Any, says: str) -> None:
    file = json.loads(json.dumps(house["revealed"]))
    change(file)
    module = verifier()
    with pytest.raises(module.Wrong, match=says):
        module.check_day(file)


def test_the_verifier_holds_a_day_against_what_was_kept(house: dict[str, Frame]) -> None:
    module = verifier()
    with pytest.raises(module.Wrong, match="not the one you kept"):
        module.check_day(house["revealed"], root="00" * 32)
    kept = json.loads(json.dumps(house["open"]))
    kept["dailies"][0]["solution_hash"] = "00" * 32
    with pytest.raises(module.Wrong, match="`solution_hash` is another one"):
        module.check_day(house["revealed"], kept=kept)
    kept["dailies"] = []
    with pytest.raises(module.Wrong, match="not announced in the file you kept"):
        module.check_day(house["revealed"], kept=kept)
    recording = house["recording"] | {"deal": "ck:" + "0" * 64}
    with pytest.raises(module.Wrong, match="another deal than the day's"):
        module.check_day(house["revealed"], recording=recording)


def test_the_verifier_is_a_program_that_needs_python_alone(house: dict[str, Frame], tmp_path: Path) -> None:
    day = tmp_path / "day.json"
    day.write_text(json.dumps(house["revealed"]))

    def verify(*arguments: str) -> subprocess.CompletedProcess[str]:
        # -I and -S: neither this checkout nor any installed package.
        command = [sys.executable, "-I", "-S", str(SCRIPT), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)

    done = verify(str(day))
    assert (done.returncode, done.stderr) == (0, "")
    assert "every card on the board" in done.stdout
    day.write_text('{"format": "chilkoot-daily/1"}')
    odd = copy.deepcopy(house["revealed"])
    odd["dailies"][0]["nonce"] = 2**64
    (tmp_path / "large.json").write_text(json.dumps(odd))
    odd["dailies"][0] |= {"nonce": 0, "rules": '{"deck": {"ranks": [99]}}'}
    odd["dailies"][0]["rules_hash"] = hashlib.sha256(odd["dailies"][0]["rules"].encode()).hexdigest()
    (tmp_path / "ranks.json").write_text(json.dumps(odd))
    (tmp_path / "deep.json").write_text("[" * 100_000)
    files = [str(tmp_path / name) for name in ("large.json", "ranks.json", "deep.json")]
    for arguments in ((str(day),), ("nosuch.json",), (str(SCRIPT),), ("http://a b/",), *zip(files)):
        done = verify(*arguments)
        assert done.returncode == 1
        assert len(done.stderr.splitlines()) == 1
        assert "Traceback" not in done.stderr


def test_the_verifier_deals_every_variant_as_the_engine_does_or_says_that_it_can_not() -> None:
    module = verifier()
    for variant in Library([rules_folder()]).variants():
        level = variant.level() or variant.levels[0]
        key = bytes(range(32))
        piles = module.board_of(json.loads(canonical_text(level.rules)), key)
        is_special = any(one.zone == "foundations" or one.rank is not None for one in level.rules.deal)
        assert (piles is None) == (is_special or bool(level.rules.setup)), variant.id
        if piles is None:
            continue
        board = Game.start(level.rules, f"ck:{key.hex()}").board()
        assert piles == module.piles_of(board), variant.id


def test_the_published_file_of_any_level_verifies() -> None:
    said = verifier().check_day(json.loads(published_day("yukon-thicket", "klondike")))
    assert [line.partition(":")[0] for line in said[1:]] == [
        *(f"yukon-thicket level {n}" for n in (1, 2, 3)),
        "klondike",
    ]


def test_a_day_of_which_one_deal_was_never_chosen_is_revealed_all_the_same() -> None:
    told = told_of_a_day("yukon", "yukon-cells")
    daily, _, rules = told[0]
    told[0] = (msgspec.structs.replace(daily, nonce=None, proof=None, solution_hash=None), None, rules)
    said = verifier().check_day(json.loads(publish(told, 2**42)))
    assert said[1:] == [
        "yukon: nobody asked for a deal on that day, so none was chosen",
        "yukon-cells: the deal, with a solution, and every card on the board are as committed",
    ]


def test_a_day_that_is_as_committed_verifies_on_the_command_line(
    house: dict[str, Frame], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, "verify", DAY, "--quick", "--json") == 1
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines() if line.startswith("{")]
    # What the test's search calls a solution of Yukon is none.
    assert [(line["variant"], line["problems"]) for line in lines] == [
        ("stairs", []),
        ("yukon", ["the solution does not win"]),
    ]
    run(tmp_path, "verify", DAY, "--quick")
    out = capsys.readouterr().out
    assert f"stairs of {DAY}: as committed" in out
    assert f"key {house['revealed']['key']}" in out
    # What is not over yet is checked too, and nothing of it is told.
    run(tmp_path, "verify", date_after(DAY, 1), "--quick")
    assert "key" not in capsys.readouterr().out
    assert run(tmp_path, "verify", date_after(DAY, 7), "--quick") == 0
    assert "announced, no deal is chosen yet" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("change", "says"),
    (
        ("UPDATE daily SET nonce = nonce + 1", "was played on another deal"),
        ("UPDATE daily SET seed_hash = x'00'", "is not the one that was announced"),
        ("UPDATE daily SET rules_hash = (SELECT max(hash) FROM rules), beacon = 'x'", "is not the one"),
        ("UPDATE season_secret SET tip = x'00'", "does not lead to its root"),
        ("UPDATE daily SET day = day + 1", "day 3 of its season, and is not"),
        ("UPDATE daily_solution SET line = 'home'", "the solution is not the one"),
        ("UPDATE game SET deal = 'ck:7'", "was played on another deal"),
    ),
)
def test_what_was_changed_in_the_database_is_found(
    house: dict[str, Frame], tmp_path: Path, capsys: pytest.CaptureFixture[str], change: str, says: str
) -> None:
    with closing(sqlite3.connect(tmp_path / "games.db")) as connection:
        connection.execute(change)
        connection.commit()
    assert run(tmp_path, "verify", DAY, "--quick") == 1
    assert says in capsys.readouterr().out


def test_what_is_no_day_is_said_in_one_sentence(
    house: dict[str, Frame], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for date, status in (("yesterday", 2), ("2026-02-30", 2), ("2025-01-01", 1)):
        assert run(tmp_path, "verify", date) == status
        assert len(capsys.readouterr().err.splitlines()) == 1


def test_preview_tells_roots_and_announcements_and_no_secret(
    house: dict[str, Frame], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert run(tmp_path, "preview") == 0
    out = capsys.readouterr().out
    assert f"root {house['announced']['season']['root']}" in out
    assert run(tmp_path, "preview", "--json") == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert lines[0]["season"] == date_after(DAY, -1)
    # It is the day after, in the morning: today and six more days are announced.
    assert {line["date"] for line in lines[1:]} == {date_after(DAY, days) for days in range(1, 8)}
    with closing(sqlite3.connect(tmp_path / "games.db")) as connection:
        [(tip,)] = connection.execute("SELECT tip FROM season_secret").fetchall()
    assert tip.hex() not in out


async def test_a_new_season_begins_after_what_is_announced(
    house: dict[str, Frame], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert run(tmp_path, "rotate", "--json") == 0
    first = json.loads(capsys.readouterr().out)["season"]
    assert first == date_after(DAY, 8)
    assert run(tmp_path, "rotate") == 1
    assert "there is a new season" in capsys.readouterr().err
    clock = SetClock(opens_ms(first))
    async with day_house(tmp_path, clock) as made, calling(made.url) as caller:
        await made.ready()
        told = await caller.ask("daily")
        assert (told["commitment"]["season"], told["commitment"]["day"]) == (first, 1)
        before = await caller.ask("daily", date=DAY)
        assert before["commitment"]["season"] == date_after(DAY, -1)
        assert before["revealed"]


@pytest.mark.slow
async def test_a_day_chosen_by_the_real_search_verifies_after_the_server_was_killed(tmp_path: Path) -> None:
    flags = ("--daily", "yukon", "--daily", "yukon-thicket@3", "--limit", "pool_deals=0")
    with LiveServer(tmp_path, *flags) as server:
        # It dies while it chooses, and nothing is there twice when it is back.
        async with calling(server.url) as caller:
            begun = await caller.ask("daily_start")
        server.kill()
        server.start()
        async with calling(server.url) as caller:
            for variant in ("yukon", "yukon-thicket"):
                while (begun := await caller.ask("daily_start", variant=variant))["type"] != "snapshot":
                    assert begun["code"] == "busy"
                    await asyncio.sleep(begun["retry_after_ms"] / 1000)
            told = await caller.ask("daily", variant="yukon-thicket")
            assert (told["level"], told["proof"]) == (3, "proved")
        date = told["date"]
    done = await asyncio.to_thread(
        subprocess.run,
        command("daily", "verify", date, "--database", server.database),
        capture_output=True, text=True, env=environment(tmp_path), check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        f"{name} of {date}: as committed" for name in ("yukon", "yukon-thicket@3")
    ]
