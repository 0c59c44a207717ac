"""What bounds a client: rates, sizes, junk, silence, slowness, numbers; and that others do not notice it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import struct
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from caller import Caller, calling
from lines import random_line
from servers import LiveServer

LINE = random_line("yukon", "ck:0", 40)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    """A server as it comes."""
    with LiveServer(tmp_path_factory.mktemp("server"), "--limit", "connections_per_address=0") as running:
        yield running


@asynccontextmanager
async def limited(folder: Path, **limits: float) -> AsyncIterator[LiveServer]:
    """A server with limits of its own, and none on the rest."""
    values = dict.fromkeys(("rate", "new_per_second", "hint_per_second", "connections_per_address"), 0.0)
    flags = [part for name, value in (values | limits).items() for part in ("--limit", f"{name}={value:g}")]
    with LiveServer(folder, *flags) as running:
        yield running


def memory_of(server: LiveServer) -> int:
    """Bytes of memory that the server's process holds."""
    pages = int(Path(f"/proc/{server.pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


async def delays(server: LiveServer, seconds: float) -> list[float]:
    """How long a well-behaved client waits for its pongs, while something else goes on."""
    times: list[float] = []
    async with calling(server.url) as caller:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            began = time.monotonic()
            await caller.ask("ping")
            times.append(time.monotonic() - began)
            await asyncio.sleep(0.15)
    return times


def open_socket(server: LiveServer, *, receive: int | None = None) -> socket.socket:
    """A WebSocket by hand, for clients that do what no library does."""
    plain = socket.socket()
    if receive is not None:
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive)
    plain.settimeout(10)
    plain.connect(("127.0.0.1", server.port))
    plain.sendall(
        b"GET /ws HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
    )
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        head += plain.recv(1)
    assert b"101" in head
    return plain


def frame(payload: bytes, opcode: int = 1, *, fin: bool = True) -> bytes:
    """A masked frame, the mask being zero."""
    length = len(payload)
    size = bytes([0x80 | length]) if length < 126 else bytes([0x80 | 126]) + struct.pack(">H", length)
    return bytes([opcode | (0x80 if fin else 0)]) + size + b"\0\0\0\0" + payload


# how fast


async def test_too_many_commands_are_answered_and_told_when_to_come_again(server: LiveServer) -> None:
    async with calling(server.url) as caller:
        for number in range(1, 46):
            await caller.send("ping", number)
        replies = [await caller.reply(number) for number in range(1, 46)]
        kinds = [reply["type"] for reply in replies]
        assert kinds.count("pong") in range(30, 34)
        limited_ones = [reply for reply in replies if reply["type"] == "error"]
        assert {reply["code"] for reply in limited_ones} == {"rate_limited"}
        assert all(0 < reply["retry_after_ms"] <= 1000 for reply in limited_ones)
        # What was not done may be sent again by its id.
        await asyncio.sleep(0.3)
        assert (await caller.ask("ping", limited_ones[0]["re"]))["type"] == "pong"


async def test_a_client_that_waits_as_it_is_told_is_never_closed(server: LiveServer) -> None:
    async with calling(server.url) as caller:
        for _ in range(31):
            await caller.send("ping")
        for _ in range(12):
            reply = await caller.ask("ping")
            if reply["type"] == "error":
                await asyncio.sleep(reply["retry_after_ms"] / 1000)
        assert (await caller.ask("ping"))["type"] in {"pong", "error"}


async def test_a_flood_is_closed_and_nobody_else_notices(server: LiveServer) -> None:
    waiting = asyncio.create_task(delays(server, 2))
    for _ in range(2):
        plain = open_socket(server)
        burst = b"".join(frame(b'{"type":"ping","id":%d}' % number) for number in range(1, 5000))
        with contextlib.suppress(OSError):
            await asyncio.to_thread(plain.sendall, burst)
            received = b""
            while data := await asyncio.to_thread(plain.recv, 65536):
                received += data
            assert struct.pack(">H", 4008) in received
        plain.close()
    times = sorted(await waiting)
    assert times[len(times) // 2] < 0.05
    assert times[-1] < 0.5


async def test_without_a_limit_a_burst_is_answered_in_full(tmp_path: Path) -> None:
    async with limited(tmp_path) as server, calling(server.url) as caller:

        async def read() -> list[int]:
            return [(await caller.next())["re"] for _ in range(2000)]

        reading = asyncio.create_task(read())
        for number in range(1, 2001):
            await caller.send("ping", number)
        assert await reading == list(range(1, 2001))


async def test_hints_and_new_games_have_a_pace_of_their_own(tmp_path: Path) -> None:
    async with (
        limited(tmp_path, new_per_second=0.5, hint_per_second=0.5) as server,
        calling(server.url) as caller,
    ):
        table = await caller.ask("new", variant="yukon")
        assert (await caller.ask("hint", game=table["game"]))["type"] == "hint"
        error = await caller.ask("hint", game=table["game"])
        assert (error["code"], 0 < error["retry_after_ms"] <= 2000) == ("rate_limited", True)
        replies = [await caller.ask("new", variant="yukon") for _ in range(6)]
        assert [reply["type"] for reply in replies] == ["snapshot"] * 4 + ["error"] * 2
        assert replies[-1]["code"] == "rate_limited"


async def test_a_player_has_so_many_games_at_once(tmp_path: Path) -> None:
    async with limited(tmp_path, active_games=3) as server, calling(server.url) as caller:
        games = [(await caller.ask("new", variant="yukon"))["game"] for _ in range(3)]
        refused = await caller.ask("new", 900, variant="yukon")
        assert (refused["type"], refused["code"]) == ("error", "too_many_games")
        assert (await caller.ask("restart", game=games[0]))["code"] == "too_many_games"
        await caller.ask("give_up", game=games[1], base=0)
        assert (await caller.ask("new", 900, variant="yukon"))["type"] == "snapshot"


# junk


@pytest.mark.parametrize("junk", ("{", "[]", '{"type":"nonsense"}', '{"type":"ping","id":"1"}'))
async def test_ten_malformed_frames_in_a_row_are_the_last(server: LiveServer, junk: str) -> None:
    async with calling(server.url) as caller:
        for _ in range(9):
            assert (await caller.raw(junk))["type"] == "error"
        # One that is well-formed starts the count again, whatever comes of it.
        await caller.ask("sync", 5000, game="nowhere")
        for _ in range(9):
            await caller.raw(junk)
        await caller.socket.send(junk)
        assert await caller.closed() == 4002
        assert [event["type"] for event in caller.events] == ["error"]


async def test_commands_with_mistakes_in_them_are_no_malformed_frames(server: LiveServer) -> None:
    async with calling(server.url) as caller:
        for number in range(1, 26):
            wrong = ('{"type":"nonsense","id":%d}', '{"type":"ping","id":%d,"x":1}')[number % 2] % number
            assert (await caller.raw(wrong))["re"] == number
        assert (await caller.ask("ping", 900))["type"] == "pong"


async def test_binary_where_text_is_spoken_is_closed(server: LiveServer) -> None:
    async with calling(server.url) as caller:
        await caller.socket.send(b'{"type":"ping","id":1}')
        assert await caller.closed() == 1003
    async with connect(server.url, subprotocols=["chilkoot.v1.msgpack"]) as other:  # type: ignore[list-item]
        await other.send('{"type":"ping","id":1}')
        assert await Caller(other).closed() == 1003


@pytest.mark.parametrize("more", (-1, 0, 1, 2, 5000))
async def test_a_frame_has_so_many_bytes(server: LiveServer, more: int) -> None:
    async with calling(server.url) as caller:
        shell = '{"type":"hello","id":77,"name":"%s"}'
        text = shell % ("ä" * ((16384 + more - len(shell) + 2) // 2))
        text += " " * (16384 + more - len(text.encode()))
        assert len(text.encode()) == 16384 + more
        reply = await caller.raw(text)
        if more <= 0:
            assert reply["code"] == "bad_message"
            assert (await caller.ask("ping"))["type"] == "pong"
        else:
            assert reply["code"] == "too_large"
            assert await caller.closed() == 1009


async def test_a_frame_far_too_large_is_not_even_read(server: LiveServer) -> None:
    before = memory_of(server)
    for length in (40_000, 2**40, 2**62):
        plain = open_socket(server)
        plain.sendall(bytes([0x81, 0x80 | 127]) + struct.pack(">Q", length) + b"\0\0\0\0" + b"x" * 1000)
        received = await asyncio.to_thread(plain.recv, 65536)
        assert received[2:4] == struct.pack(">H", 1009)
        plain.close()
    assert memory_of(server) - before < 10 << 20


async def test_text_that_is_no_utf8_is_closed_with_1007(server: LiveServer) -> None:
    plain = open_socket(server)
    plain.sendall(frame(b'{"type":"ping","id":1,"t":"\xff"}'))
    received = await asyncio.to_thread(plain.recv, 65536)
    assert received[2:4] == struct.pack(">H", 1007)
    plain.close()


async def test_deep_and_strange_frames_are_answered_each(server: LiveServer) -> None:
    async with calling(server.url) as caller:
        for text, code in (
            ('{"type":"ping","id":1,"x":' + "[" * 7000 + "]" * 7000 + "}", "bad_message"),
            ('{"type":"ping","id":' + "9" * 6000 + "}", "bad_message"),
            ('{"type":"move","id":2,"game":"g","base":1e400,"from":"t1","to":"t2"}', "bad_message"),
            ('{"type":"sync","id":3,"game":"' + "g" * 9000 + '"}', "bad_message"),
            ('{"type":"new","id":4,"variant":"\\u0000"}', "no_such_variant"),
            ('{"type":"new","id":5,"variant":"yukon","cards":"' + "t1: <" * 1500 + '"}', "bad_deal"),
            ('{"type":"new","id":6,"variant":"yukon","deal":"ck:' + "9" * 90 + '"}', "bad_deal"),
            ("\0" * 500, "bad_json"),
        ):
            assert (await caller.raw(text))["code"] == code
        assert (await caller.ask("ping"))["type"] == "pong"


async def test_bytes_that_are_no_websocket_harm_nobody(tmp_path: Path) -> None:
    async with limited(tmp_path, open_seconds=0.5) as server:
        await send_junk(server)
    assert "Traceback" not in read_log(tmp_path)


def read_log(folder: Path) -> str:
    return (folder / "log").read_text()


async def send_junk(server: LiveServer) -> None:
    for junk in (
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + os.urandom(200),
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET /" + b"x" * 9000 + b" HTTP/1.1\r\n\r\n",
        b"GET /ws HTTP/1.1\r\n" + b"".join(b"H%d: x\r\n" % number for number in range(2000)) + b"\r\n",
        b"GET /ws HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
        os.urandom(5000),
    ):
        plain = socket.create_connection(("127.0.0.1", server.port), timeout=10)
        with contextlib.suppress(OSError):
            plain.sendall(junk)
            while await asyncio.to_thread(plain.recv, 65536):
                pass
        plain.close()
    for opcodes in ((3,), (11,), (0,), (1, 1), (9,) * 3):
        plain = open_socket(server)
        with contextlib.suppress(OSError):
            plain.sendall(b"".join(frame(b"x", opcode, fin=opcode != 1) for opcode in opcodes))
            await asyncio.to_thread(plain.recv, 65536)
        plain.close()
    async with calling(server.url) as caller:
        assert (await caller.ask("ping"))["type"] == "pong"


# silence and slowness


async def test_a_connection_that_says_nothing_is_closed_as_idle(tmp_path: Path) -> None:
    async with limited(tmp_path, idle_seconds=0.7) as server, calling(server.url) as caller:
        began = time.monotonic()
        await caller.ask("ping")
        assert await caller.closed() == 4011
        assert 0.6 < time.monotonic() - began < 5


async def test_a_handshake_that_does_not_end_is_dropped(tmp_path: Path) -> None:
    async with limited(tmp_path, open_seconds=0.5) as server:
        silent = [socket.create_connection(("127.0.0.1", server.port), timeout=10) for _ in range(50)]
        silent[0].sendall(b"GET /ws HTTP/1.1\r\nHost:")
        async with calling(server.url) as caller:
            assert (await caller.ask("ping"))["type"] == "pong"
        for one in silent:
            with contextlib.suppress(ConnectionError):
                assert await asyncio.to_thread(one.recv, 100) == b""
            one.close()


async def test_the_server_pings(tmp_path: Path) -> None:
    async with limited(tmp_path, ping_seconds=0.5) as server:
        plain = open_socket(server)
        assert (await asyncio.to_thread(plain.recv, 100))[0] == 0x89
        plain.close()


async def play_on(caller: Caller, table: dict[str, Any], moves: int) -> dict[str, Any]:
    for number in range(moves):
        if number % 2 == 0:
            table = await caller.move(table, LINE[0])
        else:
            table = await caller.ask("undo", game=table["game"], base=table["seq"])
        assert table["type"] == "diff", table
    return table


async def swing(caller: Caller, table: dict[str, Any], times: int) -> dict[str, Any]:
    """Take all moves back and make them again, so many times: a large diff each."""
    for number in range(times):
        kind = "redo" if number % 2 else "undo"
        table = await caller.ask(kind, game=table["game"], base=table["seq"], count=1000)
        assert table["type"] == "diff", table
    return table


async def play_line(caller: Caller) -> dict[str, Any]:
    table = await caller.ask("new", variant="yukon", deal="ck:0")
    for text in LINE:
        table = await caller.move(table, text)
        assert table["type"] == "diff", table
    return table


async def test_a_watcher_who_does_not_read_gets_one_snapshot_in_place_of_what_it_missed(
    tmp_path: Path,
) -> None:
    async with limited(tmp_path) as server, calling(server.url) as player:
        table = await play_line(player)
        plain = open_socket(server, receive=4096)
        plain.sendall(frame(json.dumps({"type": "join", "id": 1, "game": table["game"]}).encode()))
        # Enough for its buffers and ours; and then more than may wait.
        last = await swing(player, table, 250)
        received = await asyncio.to_thread(read_until_quiet, plain)
        plain.close()
        texts = payloads(received)
        frames = [json.loads(text) for text in texts]
        diffs = [one["seq"] for one in frames if one["type"] == "diff"]
        snapshots = [one["seq"] for one in frames if one["type"] == "snapshot"]
        assert len(snapshots) >= 2
        assert len(diffs) < 250
        # What it ends with is the table as it is, and every gap is closed by a snapshot.
        seen = frames[0]["seq"]
        for one in frames:
            if one["type"] == "snapshot":
                assert one["seq"] >= seen
            elif one["type"] == "diff":
                assert one["seq"] == seen + 1
            else:
                continue
            seen = one["seq"]
        assert seen == last["seq"]


def read_until_quiet(plain: socket.socket) -> bytes:
    plain.settimeout(1.5)
    received = b""
    with contextlib.suppress(TimeoutError):
        while data := plain.recv(65536):
            received += data
    return received


def payloads(data: bytes) -> list[bytes]:
    """The texts in what a server sent, put together where they came in pieces."""
    found: list[bytes] = []
    at = 0
    while at + 2 <= len(data):
        head, length = data[at], data[at + 1] & 127
        at += 2
        if length >= 126:
            size = 2 if length == 126 else 8
            length = int.from_bytes(data[at : at + size], "big")
            at += size
        if head & 15 == 1:
            found.append(b"")
        if head & 15 <= 1:
            found[-1] += data[at : at + length]
        at += length
    return found


async def test_watchers_who_never_read_are_cut_off_and_cost_little(tmp_path: Path) -> None:
    async with limited(tmp_path, stall_seconds=1.5, watched_games=0) as server, calling(server.url) as player:
        table = await play_line(player)
        before = memory_of(server)
        stuck = [open_socket(server, receive=4096) for _ in range(30)]
        for one in stuck:
            one.sendall(frame(json.dumps({"type": "join", "id": 1, "game": table["game"]}).encode()))
        table = await swing(player, table, 250)
        assert memory_of(server) - before < 30 << 20
        while (await player.event("presence"))["viewers"] != 1:
            pass
        table = await swing(player, table, 10)
        for one in stuck:
            one.close()


async def test_pings_without_reading_the_pongs_are_cut_off(server: LiveServer) -> None:
    before = memory_of(server)
    plain = open_socket(server, receive=4096)
    ping = frame(b"x" * 100, 9) * 500
    began = time.monotonic()

    def flood() -> None:
        with contextlib.suppress(OSError):
            while time.monotonic() - began < 15:
                plain.sendall(ping)

    plain.settimeout(3)
    await asyncio.to_thread(flood)
    plain.close()
    assert time.monotonic() - began < 10
    assert memory_of(server) - before < 20 << 20
    async with calling(server.url) as caller:
        assert (await caller.ask("ping"))["type"] == "pong"


async def test_a_burst_of_events_does_not_disconnect_a_healthy_watcher(tmp_path: Path) -> None:
    async with limited(tmp_path) as server, calling(server.url) as player, calling(server.url) as watcher:
        table = await player.ask("new", variant="yukon", deal="ck:0")
        seen = await watcher.ask("join", game=table["game"])
        seqs: list[int] = []

        async def watch() -> None:
            while len(seqs) < 200:
                frame = await watcher.next()
                if frame["type"] == "diff":
                    seqs.append(frame["seq"])
                    if len(seqs) % 50 == 0:
                        await asyncio.sleep(0.05)

        watching = asyncio.create_task(watch())
        await play_on(player, table, 200)
        await watching
        assert seqs == list(range(seen["seq"] + 1, 201))


async def test_several_large_replies_reach_a_client_that_reads_slowly_in_order(server: LiveServer) -> None:
    plain = open_socket(server, receive=4096)
    plain.sendall(b"".join(frame(b'{"type":"variants","id":%d}' % number) for number in range(1, 7)))
    await asyncio.sleep(0.7)
    replies = [json.loads(text) for text in payloads(await asyncio.to_thread(read_until_quiet, plain))]
    plain.close()
    assert [reply["re"] for reply in replies] == list(range(1, 7))
    assert replies[0]["variants"] == replies[5]["variants"]


@pytest.mark.slow
async def test_a_large_reply_goes_out_in_pieces_to_a_client_that_reads_slowly(tmp_path: Path) -> None:
    async with limited(tmp_path, buffer_bytes=100_000) as server, calling(server.url) as player:
        table = await player.ask("new", variant="yukon", deal="ck:0")
        last = await play_on(player, table, 2000)
        end = await player.ask("give_up", game=table["game"], base=last["seq"])
        plain = open_socket(server, receive=4096)
        plain.sendall(frame(json.dumps({"type": "recording", "id": 1, "game": table["game"]}).encode()))
        plain.sendall(frame(json.dumps({"type": "join", "id": 2, "game": table["game"]}).encode()))
        await asyncio.sleep(1.2)
        received = await asyncio.to_thread(read_until_quiet, plain)
        plain.close()
        assert len(received) > 200_000
        assert b'"head"' in received
        assert b'"re":2' in received
        assert end["type"] == "diff"


# how many


async def test_one_address_has_so_many_connections(tmp_path: Path) -> None:
    async with limited(tmp_path, connections_per_address=3) as server:
        callers = [await connect(server.url) for _ in range(3)]
        with pytest.raises(InvalidStatus) as refused:
            await connect(server.url)
        assert refused.value.response.status_code == 503
        assert refused.value.response.headers["Retry-After"] == "5"
        await callers[0].close()
        for _ in range(50):
            try:
                callers[0] = await connect(server.url)
                break
            except InvalidStatus:
                await asyncio.sleep(0.02)
        for one in callers:
            await Caller(one).ask("ping")
            await one.close()


async def test_all_together_have_so_many_connections(tmp_path: Path) -> None:
    async with limited(tmp_path, connections=2) as server, calling(server.url), calling(server.url):
        with pytest.raises(InvalidStatus) as refused:
            await connect(server.url)
        assert refused.value.response.status_code == 503


async def test_one_player_has_so_many_connections(tmp_path: Path) -> None:
    async with (
        limited(tmp_path, connections_per_player=2) as server,
        calling(server.url) as one,
        calling(server.url) as two,
        calling(server.url) as three,
    ):
        welcome = await one.ask("hello")
        again = await two.ask("hello", token=welcome["token"])
        assert again["type"] == "welcome"
        error = await three.ask("hello", token=again["token"])
        assert (error["type"], error["code"]) == ("error", "busy")
        # The refused one is a guest as before, and the session of one of the others may move to it.
        assert (await three.ask("ping"))["type"] == "pong"
        moved = await three.ask("hello", token=again["token"], session=welcome["session"])
        assert moved["resumed"]
        assert await one.closed() == 4005


async def test_a_connection_that_watches_many_games_lets_the_first_go(tmp_path: Path) -> None:
    async with (
        limited(tmp_path, watched_games=2) as server,
        calling(server.url) as player,
        calling(server.url) as watcher,
    ):
        games = [await player.ask("new", variant="yukon", deal="ck:0") for _ in range(3)]
        for table in games:
            await watcher.ask("join", game=table["game"])
        for table in games:
            await player.move(table, LINE[0])
        await watcher.ask("ping")
        seen = [event["game"] for event in watcher.events if event["type"] == "diff"]
        assert seen == [games[1]["game"], games[2]["game"]]


async def test_games_nobody_looks_at_leave_no_trace_in_memory(tmp_path: Path) -> None:
    async with limited(tmp_path, cached_games=1, active_games=0) as server:
        async with calling(server.url) as caller:
            games = [(await caller.ask("new", variant="yukon"))["game"] for _ in range(60)]
            for game in games[:-1]:
                await caller.ask("leave", game=game)
        async with calling(server.url) as caller:
            for number in range(500):
                await caller.send("join", game=f"x{number}")
                await caller.next()
            assert (await caller.ask("sync", game=games[0]))["seq"] == 0


async def test_an_idle_connection_takes_little_memory(server: LiveServer) -> None:
    with contextlib.ExitStack() as opened:

        def open_many(count: int) -> int:
            for _ in range(count):
                opened.enter_context(open_socket(server))
            return memory_of(server)

        # The first ones fill what was left free by others.
        before = open_many(100)
        # 13.5 KiB; 18 bring ten thousand to 250 MiB.
        assert open_many(400) - before < 400 * 18 << 10


async def test_many_connections_lost_at_once_do_not_stop_the_server(tmp_path: Path) -> None:
    async with limited(tmp_path) as server:
        sockets = [open_socket(server) for _ in range(300)]
        waiting = asyncio.create_task(delays(server, 1.5))
        await asyncio.sleep(0.3)
        for one in sockets:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            one.close()
        assert max(await waiting) < 0.6


async def test_an_end_without_a_word_is_the_end(server: LiveServer) -> None:
    async with calling(server.url) as caller:
        await caller.ask("ping")
        await caller.socket.close(4321, "bye")
        with pytest.raises(ConnectionClosed):
            await caller.ask("ping")
