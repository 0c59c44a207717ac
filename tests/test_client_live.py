"""The client library against real servers, through a network that cuts, and servers that die."""

import asyncio
import random
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

import chilkoot_client.client
from chilkoot_client import Client, Disconnected, Error, Game, Refused, connect
from servers import LiveServer

LINE = [
    line.split()
    for line in (Path(__file__).parent / "data" / "yukon-ms-24.txt").read_text().splitlines()
    if not line.startswith("#")
]


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    with LiveServer(tmp_path_factory.mktemp("house")) as running:
        yield running


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hardly any waiting before a connection is made again."""
    monkeypatch.setattr(chilkoot_client.client, "reconnect_delay", lambda *_, **__: 0.02)


class Wire:
    """Lets bytes through, and cuts a connection in the middle of a frame when its allowance is used up."""

    def __init__(self, port: int, seed: int) -> None:
        self._port = port
        self._chance = random.Random(seed)
        self.cuts = 0
        self.is_calm = False
        # Who can't be reached at all is told so; what is tested here is how one comes back.
        self._least = 1500

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._port)
        allowance = [1 << 60 if self.is_calm else self._chance.randrange(self._least, 6000)]
        self._least = 300

        async def carry(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
            while data := await source.read(4096):
                target.write(data[: max(0, allowance[0])])
                allowance[0] -= len(data)
                if allowance[0] <= 0:
                    return
                await target.drain()

        ways = [
            asyncio.create_task(carry(reader, far_writer)),
            asyncio.create_task(carry(far_reader, writer)),
        ]
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        self.cuts += allowance[0] <= 0
        for one in (writer, far_writer):
            # What was let through still arrives; then the connection is reset.
            with suppress(OSError):
                await one.drain()
            one.transport.abort()
        for way in ways:
            way.cancel()
        await asyncio.gather(*ways, return_exceptions=True)


@asynccontextmanager
async def bad_wire(server: LiveServer, seed: int) -> AsyncIterator[tuple[Wire, str]]:
    wire = Wire(server.port, seed)
    listening = await asyncio.start_server(wire.connected, "127.0.0.1", 0)
    async with listening:
        yield wire, f"ws://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
        listening.close()


async def win(game: Game, line: list[list[str]] = LINE) -> None:
    for source, n, target in line:
        diff = await game.move(source, target, int(n))
        assert game.table.seq == diff.seq
        assert game.table.check == diff.check


async def agrees(client: Client, game: Game) -> None:
    """The mirrored table is the one the server has."""
    before = {name: list(cards) for name, cards in game.table.piles.items()}
    seq = game.table.seq
    await game.sync()
    assert (game.table.piles, game.table.seq) == (before, seq)
    assert client.games[game.id] is game


@pytest.mark.parametrize("seed", (1, 2, 3, 4))
async def test_a_game_is_won_over_a_wire_that_is_cut_at_any_byte(house: LiveServer, seed: int) -> None:
    async with asyncio.timeout(60), bad_wire(house, seed) as (wire, url), connect(url) as client:
        game = await client.new("yukon", deal="ms:24")
        await win(game)
        assert wire.cuts >= 3
        assert (game.table.status, game.table.moves, game.table.seq) == ("won", len(LINE), len(LINE))
        await agrees(client, game)


async def test_several_games_on_one_connection_are_mirrored_each_by_itself(house: LiveServer) -> None:
    async with bad_wire(house, 9) as (wire, url), connect(url) as client:
        wire.is_calm = True
        games = [await client.new("yukon", deal="ms:24") for _ in range(4)]
        wire.is_calm = False
        await asyncio.gather(*(win(game, LINE[: 20 + 5 * number]) for number, game in enumerate(games)))
        for number, game in enumerate(games):
            assert game.table.seq == 20 + 5 * number
            await agrees(client, game)


async def test_the_game_goes_on_after_the_server_was_killed_and_started_again(tmp_path: Path) -> None:
    with LiveServer(tmp_path) as server:
        async with connect(server.url) as client, connect(server.url) as other:
            events = client.events()
            game = await client.new("yukon", deal="ms:24")
            watched = await other.join(game.id)
            await win(game, LINE[:50])
            playing = asyncio.create_task(win(game, LINE[50:]))
            await asyncio.sleep(0)
            await asyncio.to_thread(server.kill)
            await asyncio.to_thread(server.start)
            await playing
            assert game.table.status == "won"
            async for event in events:
                if isinstance(event, Disconnected):
                    break
            await agrees(client, game)
            # The watcher came back by itself too.
            await other.in_step(game.id, game.table.seq)
            await watched.sync()
            assert watched.table.piles == game.table.piles
        assert await asyncio.to_thread(server.stop) == 0


async def test_watchers_see_what_the_player_sees(house: LiveServer) -> None:
    async with connect(house.url) as client, connect(house.url) as other:
        game = await client.new("yukon-thicket", deal="ms:24", level=1)
        watched = await other.join(game.id)
        events = other.events()
        for _ in range(30):
            await game.auto()
        async for event in events:
            if getattr(event, "seq", 0) == game.table.seq:
                break
        assert watched.table.piles == game.table.piles
        assert watched.table.role == "spectator"
        with pytest.raises(Error, match="not play it"):
            await watched.undo()


async def test_two_players_of_one_game_race_and_end_with_the_same_table(house: LiveServer) -> None:
    async with connect(house.url) as client, connect(house.url) as other:
        mine = await client.new("yukon", deal="ms:24")
        theirs = await other.join(mine.id, role="player", key=mine.table.key)

        async def play(game: Game) -> int:
            done = 0
            for source, n, target in LINE[:15]:
                with suppress(Error, Refused):
                    await game.move(source, target, int(n))
                    done += 1
            return done

        done = await asyncio.gather(play(mine), play(theirs))
        await agrees(client, mine)
        await agrees(other, theirs)
        assert mine.table.piles == theirs.table.piles
        assert mine.table.seq == sum(done)


@pytest.mark.parametrize("msgpack", (False, True))
async def test_a_finished_game_is_replayed_to_the_same_table(house: LiveServer, msgpack: bool) -> None:
    async with connect(house.url, msgpack=msgpack) as client:
        game = await client.new("yukon", deal="ms:24")
        await win(game)
        shown: list[Any] = [
            (table.seq, table.score) async for table in client.replay(game.id, from_seq=90, speed=1000)
        ]
        assert shown == [(90, 47), (91, 48), (92, 49), (93, 50), (94, 51), (95, 52)]
        with pytest.raises(Error, match="no such game"):
            [_ async for _ in client.replay("nothing")]


async def test_a_patient_client_is_never_too_fast_for_the_limits(tmp_path: Path) -> None:
    with LiveServer(tmp_path, "--limit", "rate=50") as server:
        async with connect(server.url) as client:
            assert client.limits["rate"] == 50
            await asyncio.gather(*(client.request("ping") for _ in range(60)))
            game = await client.new("yukon", deal="ms:24")
            await win(game, LINE[:20])


async def test_commands_that_wait_for_a_limit_are_asked_again(tmp_path: Path) -> None:
    with LiveServer(tmp_path, "--limit", "hint_per_second=5") as server:
        async with connect(server.url) as client:
            game = await client.new("yukon")
            for _ in range(3):
                assert (await game.hint()).message


async def test_lists_and_numbers_are_typed(house: LiveServer) -> None:
    async with connect(house.url, name="Skagway") as client:
        game = await client.new("yukon", deal="ms:24")
        await win(game)
        (entry,) = (await client.my_games(state="over")).games
        assert (entry.game, entry.status, entry.score, entry.deal) == (game.id, "won", 52, "ms:24")
        assert entry.ended is not None
        assert entry.ended >= entry.started > 1_600_000_000_000
        ids = {one.id: one for one in (await client.variants()).variants}
        assert ids["yukon-thicket"].levels == (1, 2, 3)
        assert ids["yukon-thicket"].default_level == 2
        again = await game.restart()
        assert again.table.piles["t1"] == ["7C"]
        legal = await again.legal()
        assert ("t7", 1, "f4") in {(move.source, move.n, move.target) for move in legal.moves}
        await again.give_up()
        assert again.table.result == "gave_up"
        await again.leave()
        assert again.id not in client.games
