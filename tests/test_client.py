"""The client library against a server that says what the test lets it say."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import pytest
from websockets.asyncio.server import ServerConnection, serve

import chilkoot_client.client
import chilkoot_client.stream
from chilkoot_client import Closed, Connected, Diff, Disconnected, Error, Refused, check_of, connect
from chilkoot_client.address import socket_url

Frame = dict[str, Any]
DEAL = {"t1": ["KS"], "t2": ["??", "9S"], "t3": []}


class Peer:
    """One connection as the test's server sees it."""

    def __init__(self, socket: ServerConnection, number: int) -> None:
        self.socket = socket
        self.number = number

    async def hear(self, kind: str | None = None) -> Frame:
        """The next command, which must be of that type."""
        frame: Frame = json.loads(await self.socket.recv())
        assert kind is None or frame["type"] == kind, frame
        return frame

    async def say(self, kind: str, **fields: Any) -> None:
        await self.socket.send(json.dumps({"type": kind, **fields}))

    async def welcome(self, session: str = "s", **more: Any) -> Frame:
        hello = await self.hear("hello")
        await self.say("welcome", re=hello["id"], token="t", session=session, limits={}, **more)
        return hello

    async def snapshot(self, seq: int = 0, piles: Any = DEAL, **more: Any) -> None:
        fields = {"status": "playing", "score": 0, "moves": seq, "undos": 0, "role": "player", "game": "g"}
        await self.say(
            "snapshot", **fields, seq=seq, variant="yukon", piles=piles, check=check_of(piles), **more
        )

    async def deal(self) -> None:
        await self.snapshot(re=(await self.hear("new"))["id"])

    async def diff(self, seq: int, piles: Any, *ops: Frame, **more: Any) -> None:
        await self.say("diff", game="g", seq=seq, ops=ops, check=check_of(piles), **more)

    async def drop(self, code: int = 1011, reason: str = "") -> None:
        await self.socket.close(code, reason)


Script = Callable[[Peer], Awaitable[None]]


@asynccontextmanager
async def server(*scripts: Script) -> AsyncIterator[str]:
    """A server whose n-th connection follows the n-th script; the address. A script that fails fails the test."""
    failures: list[BaseException] = []
    waiting = [*enumerate(scripts)]

    async def handle(socket: ServerConnection) -> None:
        try:
            assert waiting, "one connection more than the test has a script for"
            number, script = waiting.pop(0)
            await script(Peer(socket, number))
        except Exception as failure:
            failures.append(failure)
            raise

    async with asyncio.timeout(20), serve(handle, "127.0.0.1", 0) as listening:
        port = next(iter(listening.sockets)).getsockname()[1]
        yield f"ws://127.0.0.1:{port}"
    if failures:
        raise failures[0]


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing here waits before it connects again."""
    monkeypatch.setattr(chilkoot_client.client, "reconnect_delay", lambda *_, **__: 0.0)


async def test_each_reply_reaches_the_request_that_it_answers() -> None:
    async def script(peer: Peer) -> None:
        await peer.welcome()
        first, second = await peer.hear("ping"), await peer.hear("stats")
        assert first["id"] != second["id"]
        await peer.say("stats", re=second["id"], started=3, something_new=True)
        await peer.say("tomorrow", whatever=1)
        await peer.say("pong", re=first["id"], t=7)
        await peer.socket.wait_closed()

    async with server(script) as url, connect(url) as client:
        pong, stats = await asyncio.gather(client.request("ping", t=7), client.request("stats"))
        assert (getattr(pong, "t", None), getattr(stats, "started", None)) == (7, 3)


async def test_what_the_rules_and_what_the_server_refuse_are_two_exceptions() -> None:
    async def script(peer: Peer) -> None:
        await peer.welcome()
        await peer.deal()
        move = await peer.hear("move")
        assert (move["from"], move["to"], move["n"], move["base"]) == ("t1", "t2", 1, 0)
        detail = {"card": "KS"}
        await peer.say(
            "refused", re=move["id"], game="g", seq=0, code="wrong_rank", message="No.", detail=detail
        )
        home = await peer.hear("home")
        await peer.say("error", re=home["id"], code="home_not_allowed", message="Not here.")
        await peer.socket.wait_closed()

    async with server(script) as url, connect(url) as client:
        game = await client.new("yukon")
        with pytest.raises(Refused, match="No") as refused:
            await game.move("t1", "t2")
        assert (refused.value.code, refused.value.detail) == ("wrong_rank", {"card": "KS"})
        with pytest.raises(Error, match="Not here") as error:
            await game.home()
        assert error.value.code == "home_not_allowed"


async def test_the_table_follows_the_diffs_of_others_too() -> None:
    after = {"t1": [], "t2": ["??", "9S"], "t3": ["KS"]}

    async def script(peer: Peer) -> None:
        await peer.welcome()
        await peer.deal()
        await peer.diff(1, after, {"op": "move", "from": "t1", "to": "t3", "n": 1})
        await peer.socket.wait_closed()

    async with server(script) as url, connect(url) as client:
        events = client.events()
        game = await client.new("yukon")
        async for event in events:
            if isinstance(event, Diff):
                break
        assert game.table.piles == after


@pytest.mark.parametrize("fault", ("gap", "other table", "unreadable"))
async def test_a_diff_that_does_not_continue_the_table_is_healed_by_a_sync(fault: str) -> None:
    truth = {"t1": [], "t2": ["??"], "t3": ["KS", "9S"]}

    async def script(peer: Peer) -> None:
        await peer.welcome()
        await peer.deal()
        move = await peer.hear("move")
        if fault == "gap":
            await peer.diff(2, truth, re=move["id"])
        elif fault == "other table":
            await peer.diff(
                1, truth, {"op": "move", "from": "t1", "to": "t3", "n": 1}, re=move["id"], moves=2
            )
        else:
            await peer.diff(1, truth, {"op": "swap", "of": "later"})
            await peer.diff(2, truth, re=move["id"])
        sync = await peer.hear("sync")
        await peer.snapshot(2, truth, re=sync["id"])
        await peer.socket.wait_closed()

    async with server(script) as url, connect(url) as client:
        game = await client.new("yukon")
        await game.move("t1", "t3")
        assert game.table.piles == truth
        assert game.table.seq == 2


async def test_actions_asked_for_at_once_go_one_after_the_other() -> None:
    async def script(peer: Peer) -> None:
        await peer.welcome()
        await peer.deal()
        for seq in range(1, 4):
            undo = await peer.hear("undo")
            assert undo["base"] == seq - 1
            await peer.diff(seq, DEAL, re=undo["id"], moves=0)
        await peer.socket.wait_closed()

    async with server(script) as url, connect(url) as client:
        game = await client.new("yukon")
        await asyncio.gather(*(game.undo() for _ in range(3)))
        assert game.table.seq == 3


async def test_a_lost_connection_is_resumed_and_unanswered_commands_go_again_by_their_ids() -> None:
    seen: list[Frame] = []
    after = {"t1": [], "t2": ["??", "9S"], "t3": ["KS"]}
    move = {"op": "move", "from": "t1", "to": "t3", "n": 1}

    async def first(peer: Peer) -> None:
        await peer.welcome()
        await peer.deal()
        seen.extend([await peer.hear("move"), await peer.hear("stats")])
        # It is carried out, but the connection is cut before a word is said.
        peer.socket.transport.abort()

    async def second(peer: Peer) -> None:
        hello = await peer.welcome(resumed=True)
        assert hello["token"] == "t"
        assert hello["session"] == "s"
        assert hello["games"] == {"g": 0}
        assert hello["id"] not in {frame["id"] for frame in seen}
        await peer.diff(1, after, move)
        assert [await peer.hear(), await peer.hear()] == seen
        await peer.diff(1, after, move, re=seen[0]["id"])
        await peer.say("stats", re=seen[1]["id"])
        await peer.socket.wait_closed()

    async with server(first, second) as url, connect(url) as client:
        events = client.events()
        game = await client.new("yukon")
        diff, _ = await asyncio.gather(game.move("t1", "t3"), client.request("stats"))
        assert diff.seq == 1
        assert game.table.seq == 1
        assert game.table.piles == after
        told = [type(event) for event in await _read(events, until=Connected)]
        assert Disconnected in told


async def test_a_stored_reply_that_is_older_than_the_table_does_not_turn_it_back() -> None:
    after = {"t1": [], "t2": ["??", "9S"], "t3": ["KS"]}
    old: list[int] = []

    async def first(peer: Peer) -> None:
        await peer.welcome()
        await peer.deal()
        old.append((await peer.hear("sync"))["id"])
        await peer.drop()

    async def second(peer: Peer) -> None:
        await peer.welcome(resumed=True)
        await peer.diff(1, after, {"op": "move", "from": "t1", "to": "t3", "n": 1})
        assert (await peer.hear("sync"))["id"] == old[0]
        await peer.snapshot(0, DEAL, re=old[0])
        await peer.socket.wait_closed()

    async with server(first, second) as url, connect(url) as client:
        table = await (await client.new("yukon")).sync()
        assert (table.seq, table.piles) == (1, after)


async def test_a_game_whose_first_reply_was_lost_is_joined_on_the_new_connection() -> None:
    after = {"t1": [], "t2": ["??", "9S"], "t3": ["KS"]}

    async def first(peer: Peer) -> None:
        await peer.welcome()
        await peer.hear("new")
        await peer.drop()

    async def second(peer: Peer) -> None:
        await peer.welcome(resumed=True)
        await peer.deal()
        join = await peer.hear("join")
        assert join["role"] == "player"
        await peer.snapshot(1, after, re=join["id"])
        await peer.say("pong", re=(await peer.hear("ping"))["id"])
        await peer.socket.wait_closed()

    async with server(first, second) as url, connect(url) as client:
        game = await client.new("yukon")
        await client.request("ping")
        assert game.table.piles == after


async def test_when_the_session_is_forgotten_doubtful_commands_fail_and_tables_are_joined_again() -> None:
    async def first(peer: Peer) -> None:
        await peer.welcome("old")
        await peer.deal()
        await peer.hear("move")
        await peer.drop()

    async def second(peer: Peer) -> None:
        await peer.welcome("new", resumed=False)
        join = await peer.hear("join")
        assert (join["game"], join["role"]) == ("g", "player")
        await peer.snapshot(re=join["id"])
        stats = await peer.hear("stats")
        await peer.say("stats", re=stats["id"])
        await peer.socket.wait_closed()

    async with server(first, second) as url, connect(url) as client:
        game = await client.new("yukon")
        with pytest.raises(Closed, match="may or may not"):
            await game.move("t1", "t3")
        await client.request("stats")


async def test_a_token_that_the_server_does_not_know_makes_a_new_guest() -> None:
    async def first(peer: Peer) -> None:
        hello = await peer.hear("hello")
        assert hello["token"] == "kept"
        await peer.say("error", re=hello["id"], code="bad_token", message="No.")
        await peer.drop(4004, "bad token")

    async def second(peer: Peer) -> None:
        assert "token" not in await peer.welcome()
        await peer.socket.wait_closed()

    async with server(first, second) as url, connect(url, token="kept") as client:
        assert client.token == "t"


async def test_a_token_that_another_program_kept_since_takes_the_session_up_again() -> None:
    async def first(peer: Peer) -> None:
        await peer.welcome()
        await peer.deal()
        await peer.drop()

    async def second(peer: Peer) -> None:
        hello = await peer.hear("hello")
        assert hello["token"] == "t"
        await peer.say("error", re=hello["id"], code="bad_token", message="No.")
        await peer.drop(4004)

    async def third(peer: Peer) -> None:
        hello = await peer.welcome(resumed=True)
        assert (hello["token"], hello["session"], hello["games"]) == ("newer", "s", {"g": 0})
        await peer.say("pong", re=(await peer.hear("ping"))["id"])
        await peer.socket.wait_closed()

    async with server(first, second, third) as url, connect(url, spare_token=lambda: "newer") as client:
        await client.new("yukon")
        await client.request("ping")
        assert "g" in client.games


@pytest.mark.parametrize("code", (1003, 1008, 1009, 4002, 4005))
async def test_after_a_final_close_code_nothing_is_tried_again(code: int) -> None:
    async def script(peer: Peer) -> None:
        await peer.welcome()
        await peer.hear("ping")
        await peer.drop(code, "go away")

    async with server(script) as url, connect(url) as client:
        with pytest.raises(Closed, match="go away") as closed:
            await client.request("ping")
        assert closed.value.code == code
        with pytest.raises(Closed):
            await client.request("ping")


async def test_the_announced_delay_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int | None, float | None]] = []

    def delay(_attempt: int, *, code: int | None, announced: float | None, chance: float) -> float:
        assert 0 <= chance < 1
        asked.append((code, announced))
        return 0.0

    monkeypatch.setattr(chilkoot_client.client, "reconnect_delay", delay)

    async def first(peer: Peer) -> None:
        await peer.welcome()
        await peer.say("draining", retry_after_ms=2500)
        await peer.drop(1012)

    async def second(peer: Peer) -> None:
        await peer.welcome(resumed=True)
        await peer.say("pong", re=(await peer.hear("ping"))["id"])
        await peer.socket.wait_closed()

    async with server(first, second) as url, connect(url) as client:
        await client.request("ping")
        assert asked == [(1012, 2.5)]


async def test_a_command_that_came_too_fast_is_asked_again_with_another_id() -> None:
    async def script(peer: Peer) -> None:
        await peer.welcome()
        first = await peer.hear("hint")
        await peer.say("error", re=first["id"], code="rate_limited", message="Slowly.", retry_after_ms=1)
        second = await peer.hear("hint")
        assert second["id"] != first["id"]
        await peer.say("hint", re=second["id"], game="g", seq=0, action="none", message="Nothing.")
        await peer.socket.wait_closed()

    async with server(script) as url, connect(url) as client:
        await client.request("hint", game="g")


async def test_the_diffs_that_came_with_stale_are_applied() -> None:
    after = {"t1": [], "t2": ["??", "9S"], "t3": ["KS"]}

    async def script(peer: Peer) -> None:
        await peer.welcome()
        await peer.deal()
        home = await peer.hear("home")
        missed = {
            "type": "diff",
            "game": "g",
            "seq": 1,
            "ops": [{"op": "move", "from": "t1", "to": "t3", "n": 1}],
            "check": check_of(after),
        }
        detail = {"seq": 1, "missed": [missed]}
        await peer.say("error", re=home["id"], code="stale", message="Late.", detail=detail)
        await peer.socket.wait_closed()

    async with server(script) as url, connect(url) as client:
        game = await client.new("yukon")
        with pytest.raises(Error, match="Late"):
            await game.home()
        assert game.table.piles == after


async def test_a_request_nobody_waits_for_any_more_is_not_sent_again() -> None:
    async def first(peer: Peer) -> None:
        await peer.welcome()
        await peer.hear("stats")
        await peer.hear("ping")
        await peer.drop()

    async def second(peer: Peer) -> None:
        await peer.welcome(resumed=True)
        await peer.say("pong", re=(await peer.hear("ping"))["id"])
        await peer.socket.wait_closed()

    async with server(first, second) as url, connect(url) as client:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(client.request("stats"), 0)
        stats = asyncio.create_task(client.request("stats"))
        await asyncio.sleep(0)
        ping = asyncio.create_task(client.request("ping"))
        await asyncio.sleep(0)
        stats.cancel()
        await ping


async def test_a_replay_does_not_touch_the_live_table_and_ends() -> None:
    after = {"t1": [], "t2": ["??", "9S"], "t3": ["KS"]}

    async def script(peer: Peer) -> None:
        await peer.welcome()
        await peer.deal()
        replay = await peer.hear("replay")
        assert (replay["game"], replay["speed"]) == ("g", 9)
        number = replay["id"]
        await peer.snapshot(0, DEAL, re=number, replay=number)
        await peer.diff(1, after, {"op": "move", "from": "t1", "to": "t3", "n": 1}, replay=number)
        await peer.say("replay_end", game="g", seq=1, replay=number)
        await peer.socket.wait_closed()

    async with server(script) as url, connect(url) as client:
        game = await client.new("yukon")
        shown = [(table.seq, table.piles["t3"]) async for table in client.replay("g", speed=9)]
        assert shown == [(0, []), (1, ["KS"])]
        assert game.table.seq == 0


async def test_messagepack_says_the_same() -> None:
    async def handle(socket: ServerConnection) -> None:
        assert socket.subprotocol == "chilkoot.v1.msgpack"
        hello = msgspec.msgpack.decode(await socket.recv(decode=False))
        welcome = {"type": "welcome", "re": hello["id"], "token": "t", "session": "s", "limits": {}}
        await socket.send(msgspec.msgpack.encode(welcome))
        ping = msgspec.msgpack.decode(await socket.recv(decode=False))
        await socket.send(msgspec.msgpack.encode({"type": "pong", "re": ping["id"]}))
        await socket.wait_closed()

    names = ["chilkoot.v1.msgpack"]
    async with serve(handle, "127.0.0.1", 0, subprotocols=names) as listening:  # type: ignore[arg-type]
        port = next(iter(listening.sockets)).getsockname()[1]
        async with connect(f"127.0.0.1:{port}", msgpack=True) as client:
            await client.request("ping")


async def test_an_address_where_nobody_answers_is_said_at_once() -> None:
    async with server() as url:
        pass
    with pytest.raises(Closed, match="nothing listens there"):
        async with connect(url):
            pass


async def test_something_that_is_no_chilkoot_server_is_said_at_once() -> None:
    async def script(peer: Peer) -> None:
        await peer.hear("hello")
        await peer.socket.send("HELO")
        await peer.socket.wait_closed()

    async with server(script) as url:
        with pytest.raises(Closed, match="does not speak our protocol"):
            async with connect(url):
                pass


@pytest.mark.parametrize(
    "wrong", ("ftp://localhost", "ws://", "ws://[::1", "ws://localhost:99999", "ws://localhost:x", "")
)
def test_an_address_that_can_not_be_one_is_said_at_once(wrong: str) -> None:
    with pytest.raises(Closed, match="is not the address of a server"):
        connect(wrong)


async def test_closing_ends_requests_and_events() -> None:
    heard = asyncio.Event()

    async def script(peer: Peer) -> None:
        await peer.welcome()
        await peer.hear("ping")
        heard.set()
        await peer.socket.wait_closed()

    async with server(script) as url, connect(url) as client:
        events = client.events()
        ping = asyncio.create_task(client.request("ping"))
        await heard.wait()
        await client.close()
        with pytest.raises(Closed, match="closed by this program"):
            await ping
        assert [event async for event in events] == []


async def test_events_that_nobody_reads_end_in_an_error_not_in_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(chilkoot_client.stream, "LONGEST", 5)

    async def script(peer: Peer) -> None:
        await peer.welcome()
        ping = await peer.hear("ping")
        for _ in range(6):
            await peer.say("presence", game="g", viewers=1)
        await peer.say("pong", re=ping["id"])
        await peer.socket.wait_closed()

    async with server(script) as url, connect(url) as client:
        events = client.events()
        await client.request("ping")
        with pytest.raises(Closed, match="left unread"):
            await anext(events)


@pytest.mark.parametrize(
    ("typed", "meant"),
    (
        ("localhost:8640", "ws://localhost:8640/ws"),
        ("http://example.org/", "ws://example.org/ws"),
        ("https://example.org/games/ws", "wss://example.org/games/ws"),
        ("ws://[::1]:1/ws", "ws://[::1]:1/ws"),
    ),
)
def test_an_address_may_be_typed_as_people_do(typed: str, meant: str) -> None:
    assert socket_url(typed) == meant


async def _read(events: AsyncIterator[Any], until: type[Any]) -> list[Any]:
    read: list[Any] = []
    async for event in events:
        read.append(event)
        if isinstance(event, until):
            break
    return read
