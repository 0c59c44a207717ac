"""Dailies in the text client and in the library: play the deal of the day, see the board, share without giving a card away."""

import asyncio
import re
import subprocess
from pathlib import Path

import pytest

from chilkoot.daily import opens_ms, reveals_ms
from chilkoot_client import Client, Daily, Error, Leaderboard, Progress, Standing, connect, share_text
from chilkoot_client.messages import Commitment, DailyResult
from chilkoot_terminal.commands import Daily as DailyCommand
from chilkoot_terminal.commands import Leaders, Unclear, parse
from chilkoot_terminal.daily import board_lines, daily_words
from chilkoot_terminal.words import time_words
from day_houses import DayHouse, SetClock, day_house
from servers import command, environment

DAY = "2026-11-29"
COMMITMENT = Commitment(season=DAY, days=365, day=1, root="00")


def result(**changed: object) -> DailyResult:
    fields: dict[str, object] = {"won": True, "score": 52, "help": "clean", "moves": 113, "ms": 250_000}
    return DailyResult(**fields | changed)  # type: ignore[arg-type]


def daily(**changed: object) -> Daily:
    fields: dict[str, object] = {
        "date": DAY, "variant": "yukon", "state": "over", "commitment": COMMITMENT, "result": result(),
    }  # fmt: skip
    return Daily(**fields | changed)  # type: ignore[arg-type]


def foundations(*ranks: str) -> dict[str, list[str]]:
    piles = {f"f{number}": [f"{rank}{suit}" for rank in ranks] for number, suit in enumerate("CDHS", 1)}
    return piles | {"t1": ["??", "9S"]}


def test_shared_text_has_words_first_then_squares_then_the_address_and_no_card() -> None:
    progress = Progress()
    progress.see(foundations(), 0)
    progress.see(foundations("A"), 0)
    progress.see(foundations("A", "2"), 3)
    progress.see(foundations("A", "2", "3"), 3)
    text = share_text("Yukon", daily(), progress, url="https://example.org/daily")
    assert text == (
        "Yukon daily 2026-11-29 · solved · 113 moves · clean\n🟩🟨🟩⬜⬜⬜⬜⬜⬜⬜⬜⬜⬜\nhttps://example.org/daily"
    )
    assert not re.search(r"[A23456789TJQK][CDHS]\b", text)
    lost = daily(level=2, result=result(won=False, score=1, moves=1, help="assisted"))
    assert share_text("Yukon Thicket", lost, progress).splitlines()[0] == (
        "Yukon Thicket level 2 daily 2026-11-29 · 1 home · 1 move · assisted"
    )
    with pytest.raises(ValueError, match="when it is over"):
        share_text("Yukon", daily(result=None), progress)


def test_a_square_goes_when_its_cards_are_taken_back() -> None:
    progress = Progress()
    progress.see(foundations("A", "2"), 0)
    progress.see(foundations("A"), 1)
    assert progress.squares() == "🟩" + "⬜" * 12
    progress.see(foundations("A", "2"), 1)
    assert progress.squares() == "🟩🟨" + "⬜" * 11


@pytest.mark.parametrize(
    ("line", "meant"),
    (
        ("daily", DailyCommand()),
        ("daily yukon-thicket 2", DailyCommand("yukon-thicket", 2)),
        ("leaderboard", Leaders()),
        ("lb week", Leaders("week")),
        ("Leaderboard all time", Leaders("all")),
        ("leaderboard 2026-11-29 week", Leaders("week", "2026-11-29")),
    ),
)
def test_commands_about_dailies_are_read(line: str, meant: object) -> None:
    assert parse(line) == meant


@pytest.mark.parametrize(
    "line", ("daily ms:24", "daily a b c", "leaderboard yukon", "lb 2026-11-29 2026-11-30")
)
def test_what_is_no_command_about_dailies_says_what_is_one(line: str) -> None:
    unclear = parse(line)
    assert isinstance(unclear, Unclear)
    assert "such as" in unclear.message


def test_times_and_what_is_left_of_the_day_are_said_as_people_say_them() -> None:
    assert [time_words(ms) for ms in (0, 999, 61_000, 3_723_999)] == ["0:00", "0:00", "1:01", "1:02:03"]
    running = daily(state="playing", result=None, closes=1000 + 3_660_000, now=1000, streak=1)
    assert daily_words("Yukon", running).endswith(
        "in 1 h 1 min; what was begun before may be played on; 1 day in a row won."
    )
    assert "The day ends in 0 min" in daily_words("Yukon", daily(state="not_started", closes=5, now=10))
    assert "Won, 113 moves, 4:10, clean, not ranked." in daily_words("Yukon", daily())


def test_a_board_marks_ones_own_line_also_where_it_is_on_another_page() -> None:
    def line(rank: int, name: str, **more: object) -> Standing:
        return Standing(rank=rank, player={"id": name, "name": name}, won=1, moves=90, ms=1000, **more)  # type: ignore[arg-type]

    board = Leaderboard(
        variant="yukon", period="day", date=DAY, entries=(line(1, "Ann"), line(1, "Bob")), total=9,
        me=line(7, "Me"), around=(line(6, "Eve"), line(7, "Me")),
    )  # fmt: skip
    lines = board_lines("Yukon", board)
    assert lines[0] == "Yukon daily 2026-11-29 · 9 players"
    assert [text[:10].split() for text in lines[1:]] == [
        ["1", "Ann"],
        ["1", "Bob"],
        ["…"],
        ["6", "Eve"],
        [">", "7", "Me"],
    ]
    week = Leaderboard(variant="yukon", period="week", date=DAY, entries=(line(1, "Ann", days=3),), total=1)
    assert "1 of 3 won" in board_lines("Yukon", week)[1]
    empty = Leaderboard(variant="yukon", period="all", entries=())
    assert board_lines("Yukon", empty) == ["Yukon of all time · 0 players", "Nobody has finished yet."]


async def play(house: DayHouse, home: Path, *flags: str, lines: list[str]) -> str:
    process = await asyncio.create_subprocess_exec(
        *command("play", "--url", house.url, "--plain", *flags),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment(home) | {"PYTHONIOENCODING": "utf-8"},
    )
    out, _ = await asyncio.wait_for(process.communicate("".join(f"{line}\n" for line in lines).encode()), 60)
    text = out.decode()
    assert "Traceback" not in text
    return text


async def test_a_daily_is_played_in_a_pipe_and_shared(tmp_path: Path) -> None:
    clock = SetClock(opens_ms(DAY) + 1000)
    async with day_house(tmp_path, clock) as house:
        await house.ready()
        lines = [
            "share",
            *[f"t{column} 1 c" for column in range(1, 5)] * 2,
            "home",
            "home",
            "share",
            "leaderboard",
            "daily",
        ]
        said = await play(house, tmp_path, "--daily", "--name", "Ann", lines=lines)
        assert f"Stairs daily {DAY}: everybody has this deal today" in said
        assert "It can be shared when it is over." in said
        assert re.search(rf"Stairs daily {DAY} · solved · \d+ moves · clean\n🟩🟩⬜", said), said
        assert re.search(r">   1  Ann +won", said)
        # The same game again, from another start of the program, and no second attempt.
        again = await play(house, tmp_path, "--daily", "stairs", lines=["restart", "undo"])
        assert "place 1; 1 day in a row won." in again
        assert "Others still play this deal" in again
        assert "The game is over." in again
        none = await play(house, tmp_path, "--daily", "klondike", lines=[])
        assert "There is no daily of Klondike." in none
        both = await play(house, tmp_path, "--daily", "--deal", "ms:24", lines=[])
        assert "--daily is one deal" in both
        other = await play(house, tmp_path, "yukon", "--new", lines=["share", "leaderboard", "daily"])
        assert "This is not a daily" in other
        assert "Nobody has finished yet." in other


async def test_the_library_knows_dailies(tmp_path: Path) -> None:
    clock = SetClock(opens_ms(DAY) + 1000)
    async with day_house(tmp_path, clock) as house:
        await house.ready()
        async with connect(house.url, name="Ann") as client:
            assert isinstance(client, Client)
            before = await client.daily()
            assert (before.state, [offer.variant for offer in before.offered]) == (
                "not_started",
                ["stairs", "yukon"],
            )
            game = await client.daily_start()
            assert (await client.daily_start()).id == game.id
            await game.give_up()
            told = await client.daily("stairs", date=DAY)
            assert told.result is not None
            assert (told.result.won, told.result.rank) == (False, 1)
            board = await client.leaderboard("stairs", period="week", limit=5)
            assert [line.player.get("name") for line in board.entries] == ["Ann"]
            assert board.me == board.entries[0] == board.around[0]
            with pytest.raises(Error, match="has not begun"):
                await client.daily(date="2027-01-01")
            clock.now = reveals_ms(DAY)
            over = await client.daily("stairs", date=DAY)
            assert over.revealed
            assert over.deal is not None
            assert (await client.new("stairs", deal=over.deal)).table.deal == over.deal


def test_only_a_daily_has_a_server_of_ones_own_search_for_deals(tmp_path: Path) -> None:
    ran = subprocess.run(
        command("play", "--plain", "yukon"), input="daily\nquit\n", capture_output=True, text=True,
        env=environment(tmp_path), timeout=60, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert "This server has no dailies." in ran.stdout or "There is no daily of" in ran.stdout
