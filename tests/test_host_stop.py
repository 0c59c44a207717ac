"""Stopping: nobody new, nothing new begun, nothing acknowledged lost, and never more than five seconds."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import time
from itertools import count
from pathlib import Path

import pytest
from websockets.asyncio.client import connect

from caller import Caller, calling
from lines import random_line
from servers import LiveServer, command, environment
from test_host_limits import frame, open_socket

LINE = random_line("yukon", "ck:0", 40)


async def stop(server: LiveServer) -> tuple[int, float]:
    began = time.monotonic()
    status = await asyncio.to_thread(server.stop)
    return status, time.monotonic() - began


@pytest.mark.parametrize("number", (signal.SIGTERM, signal.SIGINT))
async def test_all_are_told_and_closed_with_restart(tmp_path: Path, number: signal.Signals) -> None:
    with LiveServer(tmp_path) as server:
        async with calling(server.url) as one, calling(server.url) as two:
            await one.ask("new", variant="yukon")
            await two.ask("hello")
            os.kill(server.pid, number)
            for caller in (one, two):
                draining = await caller.event("draining")
                assert draining["retry_after_ms"] > 0
                assert await caller.closed() == 1012
        assert await asyncio.to_thread(stopped_in, tmp_path, 3)


def stopped_in(folder: Path, seconds: float) -> bool:
    """Whether the log says so within that time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if "host: stopped\n" in (folder / "log").read_text():
            return True
        time.sleep(0.02)
    return False


async def test_stopping_under_load_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    with LiveServer(tmp_path) as server:
        seen: dict[str, int] = {}
        refused: list[str] = []
        started = asyncio.Event()

        async def play(number: int) -> None:
            with contextlib.suppress(Exception):
                async with calling(server.url) as caller:
                    table = await caller.ask("new", variant="yukon", deal="ck:0")
                    seq = 0
                    while True:
                        for text in (*LINE, "undo"):
                            if text == "undo":
                                reply = await caller.ask("undo", game=table["game"], base=seq, count=1000)
                            else:
                                reply = await caller.move(table | {"seq": seq}, text)
                            if reply["type"] == "error":
                                refused.append(reply["code"])
                                continue
                            seq = seen[table["game"]] = reply["seq"]
                        if seq > 60:
                            started.set()
            del number

        players = [asyncio.create_task(play(number)) for number in range(12)]
        await started.wait()
        status, took = await stop(server)
        assert status == 0
        assert took < 5
        await asyncio.wait(players, timeout=10)
        assert set(refused) <= {"draining"}
        assert len(seen) == 12
        server.start()
        async with calling(server.url) as caller:
            for game, seq in seen.items():
                now = (await caller.ask("sync", game=game))["seq"]
                # One action of each may have been stored without its reply arriving.
                assert seq <= now <= seq + 1


async def test_clients_that_do_not_read_cannot_hold_the_server(tmp_path: Path) -> None:
    with LiveServer(tmp_path) as server:
        async with calling(server.url) as caller:
            table = await caller.ask("new", variant="yukon", deal="ck:0")
            stuck = [open_socket(server, receive=4096) for _ in range(50)]
            for one in stuck:
                one.sendall(frame(b'{"type":"variants","id":1}') + frame(b'{"type":"variants","id":2}'))
                one.sendall(frame(b'{"type":"variants","id":3}') + frame(b'{"type":"variants","id":4}'))
            half_open = open_socket(server)
            half_open.sendall(b"\x81\xfe")
            assert (await caller.move(table, LINE[0]))["type"] == "diff"
        status, took = await stop(server)
        assert (status, took < 5) == (0, True)
        for one in [*stuck, half_open]:
            one.close()


async def test_asked_twice_it_stops_at_once(tmp_path: Path) -> None:
    with LiveServer(tmp_path) as server:
        stuck = [open_socket(server, receive=4096) for _ in range(5)]
        for one in stuck:
            one.sendall(frame(b'{"type":"variants","id":1}') + frame(b'{"type":"variants","id":2}') * 5)
        await asyncio.sleep(0.3)
        os.kill(server.pid, signal.SIGTERM)
        await asyncio.sleep(0.2)
        status, took = await stop(server)
        assert (status, took < 0.5) == (0, True)
        for one in stuck:
            one.close()


async def test_nothing_new_is_begun_while_it_stops_but_readings_are_answered(tmp_path: Path) -> None:
    with LiveServer(tmp_path) as server:
        async with calling(server.url, count(100)) as caller:
            table = await caller.ask("new", 1, variant="yukon", deal="ck:0")
            # Somebody who does not close keeps the server waiting for a moment.
            stuck = open_socket(server, receive=4096)
            stuck.sendall(frame(b'{"type":"variants","id":1}') * 6)
            await asyncio.sleep(0.3)
            os.kill(server.pid, signal.SIGTERM)
            await caller.send("move", 2, game=table["game"], base=0, from_="t2", to="t6", n=2)
            await caller.send("ping", 3)
            await caller.send("new", 1, variant="yukon", deal="ck:0")
            assert await caller.closed() == 1012
            replies = {event["re"]: event for event in caller.events if "re" in event}
            if 2 in replies:
                assert replies[2].get("code", "diff") in {"draining", "diff"}
            if 1 in replies:
                assert replies[1] == table
            stuck.close()
            await stop(server)


async def test_the_port_is_free_again_at_once(tmp_path: Path) -> None:
    with LiveServer(tmp_path) as server:
        port = server.port
        for _ in range(3):
            async with connect(server.url) as opened:
                await Caller(opened).ask("ping")
            assert server.stop() == 0
            server.start()
            assert server.port == port


def test_a_daily_of_a_game_that_is_not_there_is_told_at_the_start(tmp_path: Path) -> None:
    flags = ("--daily", "yukn", "--daily", "yukon@7", "--daily", "yukon")
    with LiveServer(tmp_path, *flags, "--limit", "certify_positions=1"):
        told = [line for line in (tmp_path / "log").read_text().splitlines() if "--daily" in line]
    assert [line.partition("--daily ")[2].partition(":")[0] for line in told] == ["yukn", "yukon@7"]


def test_a_port_that_is_taken_is_told_in_one_line(tmp_path: Path) -> None:
    with LiveServer(tmp_path) as server:
        done = run_second(
            tmp_path, "--port", str(server.port), "--database", f"sqlite:///{tmp_path / 'other.db'}"
        )
        assert done.returncode == 78
        assert f"can't listen on 127.0.0.1:{server.port}" in done.stderr
        assert "Traceback" not in done.stderr
        assert done.stdout == ""


def test_a_database_that_is_in_use_is_told_in_one_line(tmp_path: Path) -> None:
    with LiveServer(tmp_path) as server:
        done = run_second(tmp_path, "--port", "0", "--database", server.database)
        assert done.returncode == 78
        assert "Traceback" not in done.stderr
        assert done.stdout == ""


def test_a_limit_that_is_not_there_is_told_with_the_one_that_was_meant(tmp_path: Path) -> None:
    done = run_second(tmp_path, "--limit", "rat=5")
    assert done.returncode == 2
    assert "did you mean `rate`?" in done.stderr


def run_second(folder: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command("serve", *flags),
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
        env=environment(folder),
    )
