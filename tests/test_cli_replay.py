"""A game's way from one server into a file, through verification, and into another server."""

import json
import subprocess
from pathlib import Path

import pytest

from chilkoot_client import connect
from servers import LiveServer, command, environment

LINE = [
    line.split()
    for line in (Path(__file__).parent / "data" / "yukon-ms-24.txt").read_text().splitlines()
    if not line.startswith("#")
]


def run(home: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    ran = subprocess.run(
        command(*map(str, arguments)), capture_output=True, text=True, env=environment(home), check=False
    )
    assert "Traceback" not in ran.stderr
    return ran


async def played(server: LiveServer) -> tuple[str, dict[str, list[str]]]:
    """A won game with an undo, a redo and a hint on the way: its id and its last table."""
    async with connect(server.url) as client:
        game = await client.new("yukon", deal="ms:24")
        for source, n, target in LINE[:40]:
            await game.move(source, target, int(n))
        await game.undo(3)
        await game.hint()
        await game.redo(3)
        for source, n, target in LINE[40:]:
            await game.move(source, target, int(n))
        assert game.table.status == "won"
        return game.id, game.table.piles


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    return first, second


async def test_a_game_goes_from_server_to_server_and_stays_the_same(
    folders: tuple[Path, Path], tmp_path: Path
) -> None:
    first, second = folders
    file = tmp_path / "game.json"
    with LiveServer(first) as server:
        game, piles = await played(server)
        # Beside the server that has the database open.
        assert run(first, "replay", "export", game, "-o", file, "--database", server.database).returncode == 0
        source = server.database
    verified = run(first, "replay", "verify", file)
    assert verified.returncode == 0
    assert verified.stdout.startswith(f"{file}: true, {len(LINE) + 2} actions, won, head ")
    assert run(first, "replay", "verify", "--database", source).returncode == 0
    assert run(first, "db", "check", "--database", source).stdout == "1 game checked: no problems\n"

    target = f"sqlite:///{second / 'games.db'}"
    assert run(second, "replay", "import", file, "--database", target).stdout == f"{game}\n"
    assert run(second, "replay", "import", file, "--database", target).stdout == (
        f"{game} (was there already)\n"
    )
    assert run(second, "db", "check", "--database", target).returncode == 0
    again = run(second, "replay", "export", game, "--database", target)
    assert again.stdout == file.read_text()
    shown = run(second, "replay", "show", game, "--database", target).stdout
    assert shown.splitlines()[0].startswith("yukon, ms:24, begun ")
    assert "  41  undo 3" in shown
    assert shown.splitlines()[-1] == "won (home), 52 home, 95 moves, 3 taken back"

    with LiveServer(second) as server:
        async with connect(server.url) as client:
            tables = [table async for table in client.replay(game, speed=1000)]
            assert tables[-1].piles == piles
            assert tables[-1].seq == len(LINE) + 2


async def test_a_changed_byte_is_found_at_its_action(folders: tuple[Path, Path], tmp_path: Path) -> None:
    first, second = folders
    with LiveServer(first) as server:
        game, _ = await played(server)
    file = tmp_path / "game.json"
    run(first, "replay", "export", game, "-o", file, "--database", server.database)
    recording = json.loads(file.read_text())
    for seq in (1, 41, 97):
        changed = json.loads(file.read_text())
        action = changed["actions"][seq - 1]
        action["at_ms"] += 1
        file.write_text(json.dumps(changed))
        ran = run(first, "replay", "verify", file, "--json")
        assert ran.returncode == 1
        (found,) = [json.loads(line) for line in ran.stdout.splitlines()]
        assert [(one["code"], one["seq"]) for one in found["findings"]] == [("chain", seq)]
        assert f"action {seq} " in run(first, "replay", "verify", file).stdout
        target = f"sqlite:///{second / 'games.db'}"
        refused = run(second, "replay", "import", file, "--database", target)
        assert refused.returncode == 1
        assert "[chain]" in refused.stderr
        file.write_text(json.dumps(recording))
    assert run(first, "replay", "verify", file).returncode == 0


async def test_a_database_in_use_is_read_but_not_written(tmp_path: Path) -> None:
    with LiveServer(tmp_path) as server:
        game, _ = await played(server)
        file = tmp_path / "game.json"
        assert (
            run(tmp_path, "replay", "export", game, "-o", file, "--database", server.database).returncode == 0
        )
        assert run(tmp_path, "replay", "verify", "--database", server.database).returncode == 0
        for arguments in (("replay", "import", str(file)), ("db", "upgrade")):
            ran = run(tmp_path, *arguments, "--database", server.database)
            assert ran.returncode == 78
            assert "is in use by another" in ran.stderr
