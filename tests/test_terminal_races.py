"""The text client in races and as a watcher: two of them at one server, and the sentences they say."""

from __future__ import annotations

import re
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from chilkoot_client import Race, RaceMessage, RaceProgress, RaceSeat
from chilkoot_terminal.commands import Join, RaceFor, Unclear, Watch, Watchers, Word, parse
from chilkoot_terminal.racing import line_words, news_words, standings_words
from servers import NO_LIMITS, LiveServer, command, environment


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    flags = [part for name in NO_LIMITS for part in ("--limit", f"{name}=0")]
    with LiveServer(
        tmp_path_factory.mktemp("house"), *flags, "--limit", "race_countdown=0.1", "--daily", "none"
    ) as running:
        yield running


class Typist:
    """The program in a pipe, with somebody who reads what it says before typing on."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self.heard = ""

    def type(self, *lines: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write("".join(f"{line}\n" for line in lines))
        self._process.stdin.flush()

    def hear(self, pattern: str) -> re.Match[str]:
        """Read on until this has been said."""
        assert self._process.stdout is not None
        while (found := re.search(pattern, self.heard)) is None:
            line = self._process.stdout.readline()
            assert line, f"{pattern!r} was not said: {self.heard}"
            self.heard += line
        self.heard = self.heard[found.end() :]
        return found


@contextmanager
def playing(home: Path, *flags: str) -> Iterator[Typist]:
    with subprocess.Popen(
        command("play", "--plain", "--brief", "--guest", *flags),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment(home),
    ) as process:
        # What is never said must not be waited for.
        guard = threading.Timer(30, process.kill)
        guard.start()
        try:
            yield Typist(process)
        finally:
            guard.cancel()
            process.kill()


def test_two_people_race_and_ask_for_another(tmp_path: Path, house: LiveServer) -> None:
    there = ("--url", house.url)
    with playing(tmp_path, "yukon", "--race", "2", "--name", "Ann", *there) as ann:
        invitation = ann.hear(r"--join (\w+/\w+)`")[1]
        with playing(tmp_path, "--join", invitation, "--name", "Bob", *there) as bob:
            ann.hear("Bob took a seat; no seats are free")
            ann.hear("the cards are dealt in")
            ann.hear("Go!")
            bob.hear("Go!")
            bob.type("hint")
            bob.hear("In a race nobody is helped")
            bob.type("give up", "give up")
            ann.hear("Bob has lost")
            ann.type("standings")
            ann.hear(r"you: 0 home, playing, 0 moves")
            ann.type("give up", "give up")
            bob.hear(r"1\.  (you|Ann): 0 home, lost")
            bob.hear("The race is over")
            bob.type("rematch")
            ann.hear("The others ask for another")
            ann.type("rematch")
            ann.hear("Go!")
            bob.hear("Go!")
            ann.type("quit")
            ann.hear("Bye")


def test_a_watcher_sees_the_newest_game_until_it_is_closed(tmp_path: Path, house: LiveServer) -> None:
    there = ("--url", house.url)
    with playing(tmp_path, "russian", "--deal", "ms:24", "--name", "Ann", *there) as ann:
        ann.hear("lists the commands")
        with playing(tmp_path, "russian", "--watch", *there) as watcher:
            watcher.hear("You are watching Russian")
            watcher.type("watchable")
            watcher.hear("1  Russian Solitaire, Ann: 0 home, 0 moves")
            watcher.type("watch 7", "undo")
            watcher.hear("lists the games that can be watched")
            watcher.hear("You may watch this game, not play it")
            ann.type("watchers key")
            ann.hear(r"Whoever has this key may watch: \w{22}")
            watcher.hear("has closed this game to those who watch")
            ann.type("watchers open")
            ann.hear("Everybody may watch")


@pytest.mark.parametrize(
    ("flags", "says"),
    (
        (["--race", "2"], "--race needs --url"),
        (["--join", "a/b"], "--join needs --url"),
        (["--race", "300", "--url", "ws://h"], "1 to 256 seats"),
        (["--join", "a", "--url", "ws://h"], "RACE/KEY"),
        (["--race", "2", "--game", "g", "--url", "ws://h"], "give one of them"),
        (["--race", "2", "--deal", "ms:1", "--url", "ws://h"], "the server deals"),
        (["yukon", "--ghost", "g"], "leave the variant out"),
        (["--watch"], "--watch needs --url"),
    ),
)
def test_flags_that_contradict_each_other_are_told(tmp_path: Path, flags: list[str], says: str) -> None:
    ran = subprocess.run(
        command("play", *flags), capture_output=True, text=True, env=environment(tmp_path), check=False
    )
    assert ran.returncode == 2
    assert says in ran.stderr


# words


class Nobody:
    """A client that is never asked."""

    def __init__(self) -> None:
        self.games: dict[str, Any] = {}
        self.races: dict[str, Race] = {}
        self.ended = None

    async def request(self, command: str, **fields: Any) -> Any:
        raise AssertionError(command)


def race(**more: Any) -> Race:
    seats = (
        RaceSeat(seat=1, player={"id": "a", "name": "Ann"}, status="playing", score=7, moves=20),
        RaceSeat(seat=2, player={"id": "b"}, status="playing", score=9, moves=30),
    )
    usual: dict[str, Any] = {
        "race": "r",
        "state": "running",
        "seats": 2,
        "players": seats,
        "seat": 1,
        "time": 1,
    }
    return Race(Nobody(), RaceMessage(**usual | more))


def test_the_line_names_who_is_ahead_first() -> None:
    assert line_words(race()) == "Race: seat 2 9 · you 7"


def test_who_ends_is_news_and_cards_sent_home_are_none() -> None:
    one = race()
    before = dict(one.seats)
    one.merge(RaceProgress("r", (RaceSeat(seat=2, status="playing", score=12, moves=40),)))
    assert news_words(one, before) == ""
    won = RaceSeat(seat=2, status="won", score=52, moves=90, place=1, ms=133_000)
    one.merge(RaceProgress("r", (won, RaceSeat(seat=1, status="stuck", score=7, moves=21))))
    assert news_words(one, before) == "You are stuck. Seat 2 has won, 1st, in 2:13."
    assert standings_words(one).splitlines() == [
        "1.  seat 2: won in 2:13, 90 moves",
        "–   you: 7 home, stuck, 21 moves",
    ]


@pytest.mark.parametrize(
    ("line", "command"),
    (
        ("race 3", RaceFor(3)),
        ("race", Word("standings")),
        ("Join aB3/xY9", Join("aB3/xY9")),
        ("watch 2", Watch("2")),
        ("watch", Word("watchable")),
        ("Watchers Key", Watchers("key")),
        ("rematch", Word("rematch")),
    ),
)
def test_words_about_races_are_understood(line: str, command: Any) -> None:
    assert parse(line) == command


def test_who_may_watch_is_one_of_three() -> None:
    assert isinstance(parse("watchers nobody"), Unclear)
