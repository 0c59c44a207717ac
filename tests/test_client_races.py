"""The client library in races and as a watcher: rooms mirrored, cards at the start, coming back, rematches."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager

import pytest

import chilkoot_client.client
from chilkoot_client import Client, Closed, Dismissed, Error, connect
from servers import NO_LIMITS, LiveServer


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    flags = [part for name in NO_LIMITS for part in ("--limit", f"{name}=0")]
    with LiveServer(
        tmp_path_factory.mktemp("house"),
        *flags,
        "--limit",
        "race_countdown=0.05",
        "--limit",
        "active_races=0",
    ) as running:
        yield running


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hardly any waiting before a connection is made again."""
    monkeypatch.setattr(chilkoot_client.client, "reconnect_delay", lambda *_, **__: 0.02)


@asynccontextmanager
async def two(house: LiveServer) -> AsyncIterator[tuple[Client, Client]]:
    async with (
        asyncio.timeout(20),
        connect(house.url, name="Ann") as ann,
        connect(house.url, name="Bob") as bob,
    ):
        yield ann, bob


async def until(client: Client, is_so: Callable[[], bool]) -> None:
    """Wait for the event after which this is so."""
    events = client.events()
    while not is_so():
        await anext(events)


async def cut(client: Client) -> None:
    """Lose the connection, and wait until there is another."""
    socket = client._socket
    assert socket is not None
    socket.transport.abort()
    await until(client, lambda: client._socket not in {None, socket})


async def test_a_race_from_the_invitation_to_the_places(house: LiveServer) -> None:
    async with two(house) as (ann, bob):
        race = await ann.race("yukon", seats=2)
        assert (race.state, race.told.seats, race.game) == ("waiting", 2, None)
        theirs = await bob.join_race(race.invitation)
        mine, other = await race.started(), await theirs.started()
        assert mine.table.piles == other.table.piles
        assert race.mine is not None
        assert (race.mine.seat, race.mine.name, race.state) == (1, "Ann", "running")
        first = (await other.legal()).moves[0]
        await other.move(first.source, first.target, first.n)
        await until(ann, lambda: race.seats[2].moves == 1)
        # The name was told when the seat was taken, and stays.
        assert race.seats[2].name == "Bob"
        await other.give_up()
        await race.leave()
        assert [(seat.name, seat.status, seat.place) for seat in await race.over()] == [
            ("Bob", "lost", 1),
            ("Ann", "left", 2),
        ]
        assert race.told.deal is not None


async def test_who_is_away_at_the_start_comes_back_to_the_table(house: LiveServer) -> None:
    async with two(house) as (ann, bob):
        race = await ann.race("yukon", seats=2)
        socket = ann._socket
        assert socket is not None
        socket.transport.abort()
        theirs = await bob.join_race(race.invitation)
        other = await theirs.started()
        mine = await race.started()
        assert mine.table.piles == other.table.piles
        await cut(ann)
        first = (await mine.legal()).moves[0]
        await mine.move(first.source, first.target, first.n)
        await other.give_up()
        await until(ann, lambda: race.seats[2].status == "lost")
        await mine.give_up()
        assert [seat.name for seat in await race.over()] == [seat.name for seat in await theirs.over()]


async def test_a_rematch_is_one_race_whoever_asks_first(house: LiveServer) -> None:
    async with two(house) as (ann, bob):
        race = await ann.race("yukon", seats=2)
        theirs = await bob.join_race(race.invitation)
        for one in (race, theirs):
            await (await one.started()).give_up()
        await race.over()
        await theirs.over()
        again, also = await asyncio.gather(race.rematch(), theirs.rematch())
        assert again.id == also.id != race.id
        assert (await again.started()).table.piles == (await also.started()).table.piles


async def test_a_ghost_is_a_seat_that_nobody_sits_on(house: LiveServer) -> None:
    async with asyncio.timeout(20), connect(house.url, name="Ann") as ann:
        old = await ann.new("yukon", deal="ms:24")
        await old.move("t7", "f")
        await old.give_up()
        race = await ann.race(ghost=old.id)
        game = await race.started()
        assert game.table.piles["t7"][-1] == "AS"
        await game.give_up()
        ghost = next(seat for seat in await race.over() if seat.ghost)
        assert (ghost.name, ghost.score, ghost.status, ghost.place) == ("Ann", 1, "lost", 1)


async def test_what_can_not_be_is_an_error_and_nobody_waits_for_ever(house: LiveServer) -> None:
    async with two(house) as (ann, bob):
        with pytest.raises(Error) as missing:
            await ann.join_race("nothing/at-all")
        assert missing.value.code == "no_such_race"
        race = await ann.race("yukon", seats=2)
        waiting = asyncio.create_task(race.started())
        await asyncio.sleep(0)
        await ann.close()
        with pytest.raises(Closed):
            await waiting
        theirs = await bob.race("yukon", seats=2)
        await theirs.leave()
        with pytest.raises(Error):
            await bob.join_race(theirs.invitation)


async def test_a_watcher_finds_a_game_and_is_let_go_when_it_is_closed(house: LiveServer) -> None:
    async with two(house) as (ann, bob):
        # With cells no deal is over before it begins, as some of Russian Solitaire are.
        game = await ann.new("yukon-cells")
        while not (listed := (await bob.watchable("yukon-cells")).games):
            pass
        assert (listed[0].game, listed[0].player) == (game.id, "Ann")
        await bob.join(listed[0].game)
        events = bob.events()
        assert (await game.let_watch("key")).watch_key is not None
        async for event in events:
            if isinstance(event, Dismissed):
                assert event.game == game.id
                break
        assert game.id not in bob.games
        assert (await game.sync()).seq == 0


async def test_who_waits_for_a_race_is_told_when_the_server_no_longer_knows_the_player(
    house: LiveServer,
) -> None:
    async with asyncio.timeout(20), connect(house.url, name="Ann") as ann:
        race = await ann.race("yukon", seats=2)
        waiting = asyncio.create_task(race.started())
        ann.token = "nobody's"
        await cut(ann)
        with pytest.raises(Closed, match="no longer knows this player"):
            await waiting
        assert ann.races == {}
