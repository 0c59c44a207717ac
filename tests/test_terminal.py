"""The text client against real servers: in a pipe, in a terminal, and when the server goes away."""

import asyncio
import fcntl
import json
import os
import pty
import re
import select
import signal
import stat
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from chilkoot_client import connect
from servers import LiveServer, command, environment

LINE = [
    line
    for line in (Path(__file__).parent / "data" / "yukon-ms-24.txt").read_text().splitlines()
    if not line.startswith("#")
]


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    """A server that goes on while the tests come and go, each as another guest."""
    with LiveServer(tmp_path_factory.mktemp("house")) as running:
        yield running


@pytest.fixture
def server(tmp_path: Path) -> Iterator[LiveServer]:
    """A server of the test's own, which it may kill."""
    folder = tmp_path / "server"
    folder.mkdir()
    with LiveServer(folder) as running:
        yield running


def play(home: Path, *flags: str, lines: list[str]) -> subprocess.CompletedProcess[str]:
    ran = subprocess.run(
        command("play", *flags),
        input="".join(f"{line}\n" for line in lines),
        capture_output=True,
        text=True,
        env=environment(home),
        timeout=60,
        check=False,
    )
    assert "Traceback" not in ran.stderr
    return ran


def identities(home: Path) -> Path:
    places = ("Library/Application Support", ".local/state")
    return home / places[sys.platform != "darwin"] / "chilkoot" / "identities.json"


def test_a_whole_game_is_won_in_a_pipe_with_a_server_of_ones_own(tmp_path: Path) -> None:
    ran = play(tmp_path, "yukon", "--deal", "ms:24", lines=LINE)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "Won: every card is home, in 95 moves." in ran.stdout
    assert ran.stdout.count("> t") == len(LINE)
    assert "\x1b" not in ran.stdout
    # Its server has gone, and the game is on record.
    verified = subprocess.run(
        command("replay", "verify"), capture_output=True, text=True, env=environment(tmp_path), check=True
    )
    assert "true, 95 actions, won" in verified.stdout


def test_an_unfinished_game_is_taken_up_again(tmp_path: Path, house: LiveServer) -> None:
    first = play(tmp_path, "yukon", "--deal", "ms:24", "--url", house.url, lines=LINE[:10])
    assert f"The game is kept: `chilkoot play --url {house.url}` takes it up again." in first.stdout
    second = play(tmp_path, "--url", house.url, lines=["score", *LINE[10:]])
    assert "taken up again" in second.stdout
    assert ", 10 moves." in second.stdout
    assert "Won: every card is home, in 95 moves." in second.stdout
    third = play(tmp_path, "--url", house.url, lines=["games"])
    assert "taken up again" not in third.stdout
    assert re.search(r"Yukon: 52 home, 95 moves, won", third.stdout)


def test_the_identity_is_readable_by_its_owner_only_and_its_loss_only_makes_a_new_guest(
    tmp_path: Path, house: LiveServer
) -> None:
    play(tmp_path, "--url", house.url, lines=[])
    file = identities(tmp_path)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    kept = json.loads(file.read_text())
    file.write_text(json.dumps({house.url: "a token that nobody gave out"}))
    assert play(tmp_path, "--url", house.url, lines=["quit"]).returncode == 0
    assert json.loads(file.read_text())[house.url] not in {"a token that nobody gave out", *kept.values()}
    file.write_bytes(b"\x00 no JSON")
    assert play(tmp_path, "--url", house.url, lines=["quit"]).returncode == 0


def test_a_guest_leaves_nothing_behind(tmp_path: Path, house: LiveServer) -> None:
    ran = play(tmp_path, "--guest", "--url", house.url, lines=["quit"])
    assert ran.returncode == 0
    assert not identities(tmp_path).exists()


def test_every_refusal_is_a_sentence_and_changes_nothing(tmp_path: Path, house: LiveServer) -> None:
    said = [
        ("5 1 2", "have the same colour"),
        ("t3 1 f", "A foundation starts with the ace"),
        ("t9 1 t2", "no pile t9"),
        ("5 8 1", "lies face down"),
        ("draw", "no stock in this game"),
        ("undo", "Nothing was done yet"),
        ("redo", "Nothing was taken back"),
        ("5 c", "no cells in this game"),
        ("5 1", "Nothing in column 5 goes onto the 7 of clubs"),
        ("9d kd", "is not the last card"),
        ("2s 3", "does not lie face up"),
        ("hnit", "did you mean `hint`"),
        ("open 7", "`games` lists your games"),
        ("new nothing", "There is no game `nothing` here"),
        ("new yukon ms:0", "1 to 2147483647"),
    ]
    lines = [line for line, _ in said]
    ran = play(tmp_path, "yukon", "--deal", "ms:24", "--brief", "--url", house.url, lines=[*lines, "score"])
    answers = [part.split("\n", 1)[1] for part in f"\n{ran.stdout}".split("\n> ")[1:]]
    assert len(answers) == len(said) + 1
    for (line, part), answer in zip(said, answers, strict=False):
        assert part in answer, (line, answer)
    assert "0 of 52 home, 0 moves." in answers[-1]
    assert ran.returncode == 0


def test_giving_up_takes_two_steps(tmp_path: Path, house: LiveServer) -> None:
    lines = ["give up", "score", "give up", "give up", "undo", "restart", "score"]
    ran = play(tmp_path, "yukon", "--deal", "ms:24", "--brief", "--url", house.url, lines=lines)
    assert ran.stdout.count("once more") == 2
    assert ran.stdout.count("you gave it up") == 1
    assert "The game is over." in ran.stdout
    assert "The same deal again." in ran.stdout
    assert ran.stdout.count("0 of 52 home, 0 moves.\n") == 2


def test_other_games_are_dealt_and_found_again(tmp_path: Path, house: LiveServer) -> None:
    lines = [
        "new yukon-thicket 3 ms:24",
        "new yukon-cells",
        "games",
        "open 2",
        "variants",
        "rules",
        "board",
        "legal",
    ]
    ran = play(tmp_path, "yukon", "--url", house.url, lines=lines)
    assert "Yukon Thicket level 3 ms:24" in ran.stdout
    assert "c1  --" in ran.stdout
    assert "(on the table)" in ran.stdout
    assert "Taken up again" in ran.stdout
    assert "t7: ?? ?? ?? ?? ?? ?? 9H QS 8H 8D AS" in ran.stdout
    assert ran.returncode == 0


def test_hint_auto_home_and_redo_say_what_they_did(tmp_path: Path, house: LiveServer) -> None:
    lines = ["hint", "auto", "home", "undo", "redo", "repeat"]
    ran = play(tmp_path, "yukon", "--deal", "ms:24", "--brief", "--url", house.url, lines=lines)
    assert "The server plays:" in ran.stdout
    assert "Taken back." in ran.stdout
    assert ran.stdout.count("Done again.") == 2
    assert ran.returncode == 0


def test_the_game_goes_on_after_the_server_was_killed(tmp_path: Path, server: LiveServer) -> None:
    flags = ("yukon", "--deal", "ms:24", "--brief", "--url", server.url)
    with subprocess.Popen(
        command("play", *flags),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment(tmp_path),
    ) as game:
        assert game.stdin is not None
        assert game.stdout is not None
        game.stdin.write("".join(f"{line}\n" for line in LINE[:40]))
        game.stdin.flush()
        while f"> {LINE[20]}" not in game.stdout.readline():
            pass
        server.kill()
        game.stdin.write("".join(f"{line}\n" for line in LINE[40:]))
        game.stdin.close()
        server.start()
        said = game.stdout.read()
        assert game.wait(30) == 0
    assert "[connection lost" in said
    assert "[connected again]" in said
    assert "Won: every card is home, in 95 moves." in said


async def test_a_watcher_sees_the_moves_of_the_player(tmp_path: Path, house: LiveServer) -> None:
    async with connect(house.url) as client:
        game = await client.new("yukon", deal="ms:24")
        watcher = await asyncio.create_subprocess_exec(
            *command("play", "--url", house.url, "--game", game.id, "--watch", "--brief", "--guest"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env=environment(tmp_path),
        )
        assert watcher.stdout is not None
        while b"You are watching" not in await watcher.stdout.readline():
            pass
        await game.move("t7", "f")
        assert await watcher.stdout.readline() == b"From elsewhere: ace of spades home. 1 home.\n"
        out, _ = await watcher.communicate(b"5 5 3\n")
    assert b"You may watch this game, not play it." in out


def test_a_server_that_is_not_there_is_said(tmp_path: Path) -> None:
    ran = play(tmp_path, "--url", "ws://127.0.0.1:9", lines=[])
    assert ran.returncode == 1
    assert ran.stderr == "chilkoot: could not connect to ws://127.0.0.1:9/ws: nothing listens there\n"


def test_a_second_server_of_ones_own_is_refused_with_a_way_out(tmp_path: Path) -> None:
    with subprocess.Popen(
        command("play", "--plain"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment(tmp_path),
    ) as first:
        assert first.stdout is not None
        first.stdout.readline()
        second = play(tmp_path, lines=[])
        assert second.returncode == 1
        assert "in use by another" in second.stderr
        assert "--private" in second.stderr
        assert re.match(r"chilkoot: the database .* is in use by another server", second.stderr)
        private = play(tmp_path, "--private", lines=["score"])
        assert (private.returncode, private.stdout.splitlines()[-1]) == (
            0,
            "Bye. This game is not kept for you.",
        )
        first.communicate("quit\n")
        assert first.returncode == 0


def test_the_server_of_ones_own_ends_with_a_client_that_is_killed(tmp_path: Path) -> None:
    with subprocess.Popen(
        command("play", "--plain"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment(tmp_path)
    ) as first:
        assert first.stdout is not None
        first.stdout.readline()
        first.kill()
        first.communicate()
    # The database is free again as soon as its server has gone.
    deadline = time.monotonic() + 10
    while (ran := play(tmp_path, lines=["quit"])).returncode and time.monotonic() < deadline:
        pass
    assert ran.returncode == 0


def test_a_board_from_a_file_is_played(tmp_path: Path, house: LiveServer) -> None:
    dealt = subprocess.run(
        command("deal", "yukon", "ms:24"),
        capture_output=True,
        text=True,
        env=environment(tmp_path),
        check=True,
    )
    file = tmp_path / "board.txt"
    file.write_text(dealt.stdout)
    ran = play(tmp_path, "--board", str(file), "--brief", "--url", house.url, lines=[LINE[0]])
    assert ran.returncode == 0
    assert f"> {LINE[0]}" in ran.stdout
    file.write_text("t1: 7C")
    ran = play(tmp_path, "--board", str(file), "--url", house.url, lines=[])
    assert ran.returncode == 1
    assert "missing from the board" in ran.stderr
    assert play(tmp_path, "--board", "/nowhere", "--url", house.url, lines=[]).returncode == 2
    file.write_bytes(b"\xff\xfe")
    assert play(tmp_path, "--board", str(file), "--url", house.url, lines=[]).returncode == 2


class Terminal:
    """A terminal of 80 by 24 with the client in it."""

    def __init__(self, home: Path, *flags: str, rows: int = 24, columns: int = 80) -> None:
        self.pid, self.descriptor = pty.fork()
        if self.pid == 0:
            os.execve(
                sys.executable, command("play", *flags), environment(home, TERM="xterm", LANG="C.UTF-8")
            )
        self.resize(rows, columns)
        self.seen = ""

    def resize(self, rows: int, columns: int) -> None:
        fcntl.ioctl(self.descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, text: str) -> None:
        os.write(self.descriptor, text.encode())

    def wait_for(self, text: str) -> None:
        """Read until the screen has shown a text since the last wait."""
        deadline = time.monotonic() + 20
        while text not in self.seen:
            ready, _, _ = select.select([self.descriptor], [], [], max(0, deadline - time.monotonic()))
            assert ready, f"{text!r} never came; the last was {self.seen[-2000:]!r}"
            try:
                data = os.read(self.descriptor, 65536)
            except OSError:
                data = b""
            assert data, f"{text!r} never came before the end; the last was {self.seen[-2000:]!r}"
            self.seen += data.decode("utf-8", "replace")
        self.seen = self.seen.split(text, 1)[1]

    def end(self) -> int:
        """The exit status."""
        try:
            while os.read(self.descriptor, 65536):
                pass
        except OSError:
            pass
        os.close(self.descriptor)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def test_in_a_terminal_the_table_is_redrawn_and_left_clean(tmp_path: Path, house: LiveServer) -> None:
    terminal = Terminal(tmp_path, "yukon", "--deal", "ms:24", "--url", house.url)
    terminal.wait_for("\x1b[?1049h")
    terminal.wait_for("`help` lists the commands.")
    terminal.type("7 f\r")
    terminal.wait_for("1/52 home")
    terminal.wait_for("Ace of spades home.")
    terminal.type("help\r")
    terminal.wait_for("(Enter: more)")
    terminal.type("\r")
    terminal.wait_for("(Enter: back to the table)")
    terminal.type("variants\r")
    terminal.wait_for("(Enter: more)")
    terminal.type("\r" * 20)
    terminal.wait_for("f1")
    terminal.type("give up\r")
    terminal.wait_for("once more")
    # What is being typed stays when the table changes.
    terminal.type("unfinish")
    terminal.wait_for("> unfinish")
    terminal.resize(16, 60)
    terminal.wait_for("> unfinish")
    terminal.type("\x15\x1b[A\x1b[A\x03")
    assert terminal.end() == 130


def test_in_a_terminal_the_end_leaves_the_last_words(tmp_path: Path, house: LiveServer) -> None:
    terminal = Terminal(tmp_path, "yukon", "--deal", "ms:24", "--url", house.url)
    terminal.wait_for("`help` lists the commands.")
    terminal.type("7 f\rquit\r")
    terminal.wait_for("\x1b[?1049l")
    terminal.wait_for("Ace of spades home.")
    terminal.wait_for("The game is kept")
    assert terminal.end() == 0


def test_in_a_terminal_a_lost_connection_is_shown_at_the_top(tmp_path: Path, server: LiveServer) -> None:
    terminal = Terminal(tmp_path, "yukon", "--deal", "ms:24", "--url", server.url)
    terminal.wait_for("`help` lists the commands.")
    server.kill()
    terminal.wait_for("!! connection lost")
    server.start()
    terminal.type("7 f\r")
    terminal.wait_for("Ace of spades home.")
    terminal.type("\x04")
    assert terminal.end() == 0


def test_whoever_wants_to_leave_need_not_wait_for_a_server_that_is_away(
    tmp_path: Path, server: LiveServer
) -> None:
    terminal = Terminal(tmp_path, "yukon", "--deal", "ms:24", "--url", server.url)
    terminal.wait_for("`help` lists the commands.")
    server.kill()
    terminal.wait_for("!! connection lost")
    terminal.type("7 f\rquit\r")
    terminal.wait_for("The game is kept")
    assert terminal.end() == 0


def test_a_stopped_client_gives_the_terminal_back_and_takes_it_again(
    tmp_path: Path, house: LiveServer
) -> None:
    terminal = Terminal(tmp_path, "yukon", "--deal", "ms:24", "--url", house.url)
    terminal.wait_for("`help` lists the commands.")
    terminal.type("unfinish")
    terminal.wait_for("> unfinish")
    terminal.type("\x1a")
    terminal.wait_for("\x1b[?1049l")
    while not os.WIFSTOPPED(os.waitpid(terminal.pid, os.WUNTRACED)[1]):
        pass
    os.kill(terminal.pid, signal.SIGCONT)
    terminal.wait_for("\x1b[?1049h")
    terminal.wait_for("> unfinish")
    terminal.type("\x15quit\r")
    assert terminal.end() == 0


@pytest.mark.parametrize(("rows", "columns"), ((1, 1), (5, 20), (60, 300)))
def test_a_terminal_of_any_size_will_do(tmp_path: Path, house: LiveServer, rows: int, columns: int) -> None:
    terminal = Terminal(tmp_path, "yukon", "--url", house.url, rows=rows, columns=columns)
    terminal.wait_for("\x1b[?1049h")
    terminal.type("help\rlegal\r\rquit\r")
    assert terminal.end() == 0


def test_whoever_stops_reading_ends_the_client(tmp_path: Path, house: LiveServer) -> None:
    with subprocess.Popen(
        command("play", "--url", house.url),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(tmp_path),
    ) as game:
        assert game.stdout is not None
        game.stdout.readline()
        game.stdout.close()
        _, errors = game.communicate("table\nundo\nauto\n" * 1000, timeout=30)
        assert (game.returncode, errors) == (141, "")


def test_whoever_leaves_early_leaves_the_other_lines_unread(tmp_path: Path, house: LiveServer) -> None:
    ran = play(tmp_path, "--url", house.url, lines=["quit", *["hint"] * 5000])
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "> hint" not in ran.stdout


def test_a_file_of_rules_is_played_or_explained(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("name: My own\nextends: yukon\ntableau: {empty: {accepts: any}}\n")
    ran = play(tmp_path, str(file), "--private", lines=[])
    assert ran.returncode == 0
    assert "My own. `help`" in ran.stdout
    file.write_text("extends: yukon\ntableau: {colums: 7}\n")
    ran = play(tmp_path, str(file), "--private", lines=[])
    assert ran.returncode == 1
    assert "[R102]" in ran.stderr


def test_a_terminal_that_is_hung_up_ends_the_client(tmp_path: Path, house: LiveServer) -> None:
    terminal = Terminal(tmp_path, "yukon", "--url", house.url)
    terminal.wait_for("`help` lists the commands.")
    os.kill(terminal.pid, signal.SIGHUP)
    assert terminal.end() == 130


def test_a_game_that_there_is_not_ends_the_program_with_the_one_that_may_be_meant(tmp_path: Path) -> None:
    for wish in (["yukn"], ["yukn", "--daily"]):
        ran = play(tmp_path, *wish, "--private" if len(wish) == 1 else "--plain", lines=[])
        assert (ran.returncode, ran.stdout) == (2, "")
        assert ran.stderr.startswith("chilkoot: There is no game `yukn` here; did you mean `yukon`?\n")
