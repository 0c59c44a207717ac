"""What the network may bring before and beside frames: dribbled bytes, heads of every size, no more files, hostile words."""

from __future__ import annotations

import asyncio
import contextlib
import re
import resource
import socket
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
import pytest

from caller import calling
from chaos.raw import KEY, connect, frame, handshake
from chilkoot import record
from chilkoot.host.clock import Clock
from chilkoot.wire import COMMANDS
from lines import random_line
from servers import NO_LIMITS, LiveServer

LINE = random_line("yukon", "ck:0", 20)


def log_of(server: LiveServer) -> str:
    return (server.folder / "log").read_text()


def memory_of(server: LiveServer) -> int:
    return int(Path(f"/proc/{server.pid}/statm").read_text().split()[1]) * resource.getpagesize()


HEADS = (
    (handshake(*(b"H%d: x" % number for number in range(100))), b"101"),
    (handshake(*(b"H%d: x" % number for number in range(129))), b"431"),
    (handshake(*(b"H%d: x" % number for number in range(2000))), b"431"),
    (handshake(b"Long: " + b"x" * 9000), b"431"),
    (handshake(path=b"/" + b"x" * 9000), b"414"),
    (handshake(path=b"/nowhere"), b"404"),
    (handshake(b"Sec-WebSocket-Key: " + KEY), b"400"),
    (handshake(b"Sec-WebSocket-Version: 12"), b"400"),
    (handshake(b"Origin: http://evil.example"), b"403"),
    (handshake(b"Origin: null"), b"403"),
    (handshake(b"Origin: http://localhost", b"Origin: http://localhost"), b"400"),
    (handshake().replace(b"GET", b"POST"), b"405"),
    (handshake().replace(b"HTTP/1.1", b"HTTP/1.0"), b"505"),
    (handshake().replace(b"Version: 13", b"Version: 99"), b"400"),
    (handshake().replace(b"Upgrade: websocket", b"Upgrade: h2c"), b"426"),
    (handshake(b"Content-Length: 99999999999999999999"), b"400"),
    (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"405"),
    (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200) + b"\r\n\r\n", b""),
    (b"GET /ws HTTP/1.1\r\nHost: x\r\n folded: y\r\n\r\n", b"400"),
    (b"GET /ws HTTP/1.1\r\nB\xc3\xa4d: x\r\n\r\n", b"400"),
)


async def test_a_head_of_any_kind_is_answered_or_closed(server: LiveServer) -> None:
    wrong = []
    for request_head, status in HEADS:
        async with connect(server.port, opened=False) as raw:
            await raw.say(request_head)
            found = re.match(rb"HTTP/1\.1 (\d{3}) ", await raw.head())
        # What the library does not take the trouble to answer, it closes.
        if (found[1] if found else b"") not in {status, b""}:
            wrong.append((request_head[-60:], status, found and found[1]))
    assert not wrong
    async with connect(server.port):
        assert "Traceback" not in log_of(server)


async def test_who_dribbles_a_handshake_is_cut_off_in_time_and_holds_nobody_up(tmp_path: Path) -> None:
    with LiveServer(tmp_path, "--limit", "open_seconds=1", "--limit", "connections_per_address=0") as server:

        async def dribble() -> float:
            async with connect(server.port, opened=False) as raw:
                began = time.monotonic()
                for byte in handshake() * 50:
                    raw.writer.write(bytes([byte]))
                    await asyncio.sleep(0.05)
                    if raw.reader.at_eof() or raw.writer.is_closing():
                        break
                return time.monotonic() - began

        dribbling = [asyncio.create_task(dribble()) for _ in range(40)]
        async with calling(server.url) as caller:
            assert (await caller.ask("ping"))["type"] == "pong"
        assert max(await asyncio.gather(*dribbling)) < 6


async def test_fragments_without_end_and_without_bytes_cost_nothing(server: LiveServer) -> None:
    before = memory_of(server)
    async with connect(server.port) as raw:
        await raw.say(frame(b"", fin=False))
        with contextlib.suppress(ConnectionError):
            for _ in range(200):
                await raw.say(frame(b"", 0, fin=False) * 500)
        answers = await raw.answers()
    assert answers[-1:] in ([], ["close 1009"], ["close 1008"], ["close 1002"])
    assert memory_of(server) - before < 20 << 20
    async with calling(server.url) as caller:
        assert (await caller.ask("ping"))["type"] == "pong"


async def test_without_free_files_those_who_are_in_play_on_and_the_others_come_in_later(
    tmp_path: Path,
) -> None:
    flags = [part for name in NO_LIMITS for part in ("--limit", f"{name}=0")]
    with LiveServer(tmp_path, *flags) as server:
        async with calling(server.url) as caller:
            table = await caller.ask("new", variant="yukon", deal="ck:0")
            for text in LINE[:3]:
                table = await caller.move(table, text)
            resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (64, 4096))
            crowd = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(100)]
            try:
                ticks = ticks_of(server)
                for text in LINE[3:9]:
                    table = await caller.move(table, text)
                    assert table["type"] == "diff"
                    await asyncio.sleep(0.1)
                # The loop does not spin over what it can't accept.
                assert ticks_of(server) - ticks < 100
            finally:
                for one in crowd:
                    one.close()
            async with asyncio.timeout(10):
                while True:
                    with contextlib.suppress(OSError, TimeoutError, EOFError):
                        async with calling(server.url, open_timeout=2) as late:
                            assert (await late.ask("ping"))["type"] == "pong"
                            break
        assert log_of(server).count("\n") < 60
        assert "Traceback" not in log_of(server)


def ticks_of(server: LiveServer) -> int:
    """Hundredths of a second of processor time."""
    fields = Path(f"/proc/{server.pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


HOSTILE = (
    "'; DROP TABLE game; --", '" OR 1=1 --', "%s%n%x", "{0.__class__}", "${jndi:ldap://x}", "../../etc/passwd", "..\\..\\con",
    "a\u0000b", "\ud800", "\u202egnp", "\u200b\u200b", "\ufeff", "<svg/onload=alert()>", "x" * 63, "\r\nSet-Cookie: a=b",
    "-1", "1e999", "NaN", "null", "CON", "t1;t2", "ck:0'", "\U0001f0a1" * 20,
)  # fmt: skip


def fields_of(kind: str) -> Iterator[tuple[str, msgspec.inspect.Type]]:
    info = msgspec.inspect.type_info(COMMANDS[kind])
    assert isinstance(info, msgspec.inspect.StructType)
    for field in info.fields:
        yield field.encode_name, field.type


def is_text(kind: msgspec.inspect.Type) -> bool:
    if isinstance(kind, msgspec.inspect.UnionType):
        return any(is_text(one) for one in kind.types)
    return isinstance(kind, (msgspec.inspect.StrType | msgspec.inspect.Metadata, msgspec.inspect.LiteralType))


def harmless(kind: str, game: str) -> dict[str, Any]:
    values: dict[str, Any] = {"game": game, "base": 0, "from": "t1", "to": "t2", "pile": "t1", "variant": "yukon", "seats": 2,
                              "race": "r", "key": "k", "from_": 0}  # fmt: skip
    needed = {name for name, _ in fields_of(kind)}
    return {
        name: value
        for name, value in values.items()
        if name in needed and not (kind == "replay" and name == "from")
    }


async def test_hostile_words_in_any_field_are_words_and_nothing_more(server: LiveServer) -> None:
    async with calling(server.url) as caller:
        game = (await caller.ask("new", variant="yukon", deal="ck:0"))["game"]
    with closing(sqlite3.connect(server.folder / "games.db")) as database:
        before = counts(database)
        for kind in COMMANDS:
            for field, type_of_field in fields_of(kind):
                if not is_text(type_of_field):
                    continue
                async with calling(server.url) as caller:
                    for number, words in enumerate(HOSTILE, 1):
                        reply = await caller.ask(kind, number, **harmless(kind, game) | {field: words})
                        assert reply["type"] != "diff", (kind, field, words, reply)
                        if reply.get("code") == "bad_token":
                            break
                        assert reply.get("code") not in {"internal", "bad_json"} or "\ud800" in words
        assert counts(database)["game"] == before["game"]
    assert "Traceback" not in log_of(server)


def counts(database: sqlite3.Connection) -> dict[str, int]:
    tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    return {name: database.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for name in tables}


def test_no_sql_is_put_together_from_words() -> None:
    for path in Path(record.__file__).parent.rglob("*.py"):
        text = path.read_text()
        assert not re.search(
            r"\b(text|exec_driver_sql|execute|executescript)\(\s*f[\"']", text
        ) or path.name in {
            # Names of pragmas, savepoints and tables of our own; no word of a client comes as far.
            "sqlite.py",
            "migrations.py",
        }, path


async def test_what_was_recorded_on_the_wire_does_nothing_when_it_is_sent_again(server: LiveServer) -> None:
    sent: list[tuple[str, int, dict[str, Any]]] = []
    async with calling(server.url) as caller:
        welcome = await caller.ask("hello")
        table = await caller.ask("new", 2, variant="yukon", deal="ck:0")
        for number, text in enumerate(LINE[:12], 3):
            source, n, target = text.split()
            command = {"game": table["game"], "base": number - 3, "from": source, "to": target, "n": int(n)}
            sent.append(("move", number, command))
            assert (await caller.ask("move", number, **command))["type"] == "diff"
        sent.insert(0, ("new", 2, {"variant": "yukon", "deal": "ck:0"}))
    async with calling(server.url, count(1000)) as caller:
        await caller.ask("hello", 900, token=welcome["token"], session=welcome["session"])
        # Whole, backwards, and twice.
        for kind, number, command in (*sent, *reversed(sent), *sent):
            await caller.ask(kind, number, **command)
        assert (await caller.ask("sync", game=table["game"]))["seq"] == 12
        assert len((await caller.ask("games"))["games"]) == 1
    # Of another session the same frames are other commands, and all of them are late.
    async with calling(server.url) as caller:
        for kind, number, command in sent[1:]:
            assert (await caller.ask(kind, number, **command))["code"] in {"forbidden", "stale"}


def test_the_servers_clock_never_goes_back_whatever_the_systems_does(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    first = clock.ms()
    assert abs(first - time.time() * 1000) < 1000
    for jump in (-3600, 3600, -(10**9)):
        now = time.time()
        monkeypatch.setattr(time, "time", lambda now=now, jump=jump: now + jump)
        later = clock.ms()
        assert first <= later < first + 60_000
        first = later
