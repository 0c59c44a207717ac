"""A game's way from one server into a file, through verification, and into another server."""

import json
from pathlib import Path

import pytest

from chilkoot_client import connect
from runs import Run
from servers import LiveServer

LINE = [
    line.split()
    for line in (Path(__file__).parent / "data" / "yukon-ms-24.txt").read_text().splitlines()
    if not line.startswith("#")
]


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
    run: Run, folders: tuple[Path, Path], tmp_path: Path
) -> None:
    first, second = folders
    file = tmp_path / "game.json"
    with LiveServer(first) as server:
        game, piles = await played(server)
        # Beside the server that has the database open.
        assert run("replay", "export", game, "-o", file, "--database", server.database).status == 0
        source = server.database
    verified = run("replay", "verify", file)
    assert verified.status == 0
    assert verified.out.startswith(f"{file}: true, {len(LINE) + 2} actions, won, head ")
    assert run("replay", "verify", "--database", source).status == 0
    assert run("db", "check", "--database", source).out == "1 game checked: no problems\n"

    target = f"sqlite:///{second / 'games.db'}"
    assert run("replay", "import", file, "--database", target).out == f"{game}\n"
    assert run("replay", "import", file, "--database", target).out == (f"{game} (was there already)\n")
    assert run("db", "check", "--database", target).status == 0
    again = run("replay", "export", game, "--database", target)
    assert again.out == file.read_text()
    shown = run("replay", "show", game, "--database", target).out
    assert shown.splitlines()[0].startswith("yukon, ms:24, begun ")
    assert "  41  undo 3" in shown
    assert shown.splitlines()[-1] == "won (home), 52 home, 95 moves, 3 taken back"

    with LiveServer(second) as server:
        async with connect(server.url) as client:
            tables = [table async for table in client.replay(game, speed=1000)]
            assert tables[-1].piles == piles
            assert tables[-1].seq == len(LINE) + 2


async def test_a_changed_byte_is_found_at_its_action(
    run: Run, folders: tuple[Path, Path], tmp_path: Path
) -> None:
    first, second = folders
    with LiveServer(first) as server:
        game, _ = await played(server)
    file = tmp_path / "game.json"
    run("replay", "export", game, "-o", file, "--database", server.database)
    recording = json.loads(file.read_text())
    for seq in (1, 41, 97):
        changed = json.loads(file.read_text())
        action = changed["actions"][seq - 1]
        action["at_ms"] += 1
        file.write_text(json.dumps(changed))
        ran = run("replay", "verify", file, "--json")
        assert ran.status == 1
        (found,) = [json.loads(line) for line in ran.out.splitlines()]
        assert [(one["code"], one["seq"]) for one in found["findings"]] == [("chain", seq)]
        assert f"action {seq} " in run("replay", "verify", file).out
        target = f"sqlite:///{second / 'games.db'}"
        refused = run("replay", "import", file, "--database", target)
        assert refused.status == 1
        assert "[chain]" in refused.err
        file.write_text(json.dumps(recording))
    assert run("replay", "verify", file).status == 0


async def test_a_database_in_use_is_read_but_not_written(run: Run, tmp_path: Path) -> None:
    with LiveServer(tmp_path) as server:
        game, _ = await played(server)
        file = tmp_path / "game.json"
        assert run("replay", "export", game, "-o", file, "--database", server.database).status == 0
        assert run("replay", "verify", "--database", server.database).status == 0
        for arguments in (("replay", "import", str(file)), ("db", "upgrade")):
            ran = run(*arguments, "--database", server.database)
            assert ran.status == 78
            assert "is in use by another" in ran.err
