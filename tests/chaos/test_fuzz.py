"""Fuzzing: bytes at the decoder, frames at a live server, and the protocol step by step against a model of it.

How much is tried is set by the environment, and what was drawn is drawn from one seed, which is printed where a test fails:

    FUZZ_DECODER=2000000 FUZZ_FRAMES=20000 FUZZ_STEPS=10000 FUZZ_SEED=7 python3 tests tests/chaos/test_fuzz.py

The language's files are fuzzed in tests/test_language_fuzz.py.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import time
from itertools import count
from typing import Any, ClassVar

import hypothesis
import msgspec
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection
from websockets.sync.client import connect as connect_now

from chaos.checker import NOT_NOW
from chaos.naive import MAIN_GAMES, NaiveGame, Wrong, check_of
from chilkoot.wire import COMMANDS, JSON, MSGPACK, Command, decode
from chilkoot.wire.messages import Error
from servers import LiveServer

Frame = dict[str, Any]

SEED = int(os.environ.get("FUZZ_SEED") or random.randrange(10**6))
INPUTS = int(os.environ.get("FUZZ_DECODER", "15000"))
FRAMES = int(os.environ.get("FUZZ_FRAMES", "400"))
STEPS = int(os.environ.get("FUZZ_STEPS", "200"))


def told(name: str, amount: int) -> None:
    print(f"{name}={amount} FUZZ_SEED={SEED} reproduces it")  # noqa: T201 - shown where a test fails


# what is sent

VALUES: tuple[Any, ...] = (
    0, 1, -1, 2**31, 2**53, 2**63, -(2**63), 10**30, 1.5, 1e308, True, None, "", "t1", "f", "ck:7", "x" * 70, "\u0000", "\u202e",
    [], {}, [[]], {"a": 1}, "yukon", ["t1"], {"type": "ping"}, "key", "player", "🂡" * 40,
)  # fmt: skip
WORDS: tuple[bytes, ...] = (
    b'"', b"{", b"}", b"[", b"]", b":", b",", b"\\", b"\\u", b"\\ud800", b"\x00", b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"9" * 40,
    b"1e999", b"NaN", b"-", b"null", b"true", b" ", b"\xef\xbb\xbf", b"[" * 300, b'"type":', b'"id":', b"\x81", b"\xdf\xff\xff\xff\xff",
)  # fmt: skip


def seeds() -> list[Frame]:
    """A good command of every type."""
    usual: Frame = {"game": "gameofnobody", "base": 0, "from": "t1", "to": "t2", "pile": "t1", "variant": "yukon", "seats": 2,
                    "race": "r", "key": "k"}  # fmt: skip
    found = []
    for name, kind in COMMANDS.items():
        known = set(kind.__struct_encode_fields__)
        fields = {
            key: value
            for key, value in usual.items()
            if key in known and not (name == "replay" and key == "from")
        }
        found.append({"type": name, "id": 7, **fields})
    return found


def spoil(chance: random.Random, commands: list[Frame]) -> bytes:
    """A command with something wrong in it, as JSON: another value, a field too many, bytes changed, put in or left out."""
    command = dict(chance.choice(commands))
    for _ in range(chance.randrange(3)):
        key = chance.choice(
            [*command, "extra", "deal", "cards", "level", "token", "session", "games", "n", "count", "role"]
        )
        if chance.random() < 0.2:
            command.pop(key, None)
        else:
            command[key] = chance.choice(VALUES)
    data = bytearray(json.dumps(command).encode())
    for _ in range(chance.choice((0, 0, 1, 2, 5))):
        at = chance.randrange(len(data) + 1)
        match chance.randrange(4):
            case 0:
                data[at:at] = chance.choice(WORDS)
            case 1:
                del data[at : at + chance.randrange(1, 9)]
            case 2 if at < len(data):
                data[at] = chance.randrange(256)
            case _:
                other = chance.randrange(len(data) + 1)
                data[at:at] = data[other : other + 20]
    return bytes(data)


def pack(chance: random.Random, data: bytes) -> bytes:
    """The same as MessagePack where it is JSON, with bytes of its own changed."""
    with contextlib.suppress(msgspec.MsgspecError, RecursionError, OverflowError, ValueError):
        data = msgspec.msgpack.encode(msgspec.json.decode(data))
    packed = bytearray(data)
    for _ in range(chance.choice((0, 1, 3))):
        if packed:
            packed[chance.randrange(len(packed))] = chance.randrange(256)
    return bytes(packed)


def check_decoder(inputs: int) -> None:
    chance, commands = random.Random(SEED), seeds()
    good = 0
    for number in range(inputs):
        data = spoil(chance, commands)
        if number % 3:
            found = decode(data.decode("utf-8", "replace"), JSON)
        else:
            data = pack(chance, data)
            found = decode(data, MSGPACK)
        assert isinstance(found, Command | Error), data
        if isinstance(found, Command):
            good += 1
            assert 1 <= found.id < 2**53, data
        else:
            assert len(found.message) < 400, data
    # Of what is tried neither all nor nothing gets through.
    assert 0.02 < good / inputs < 0.9


def test_spoilt_bytes_are_a_command_or_an_error() -> None:
    told("FUZZ_DECODER", INPUTS)
    began = time.monotonic()
    check_decoder(INPUTS)
    print(f"{(INPUTS / (time.monotonic() - began)):.0f} inputs a second")  # noqa: T201


@pytest.mark.slow
def test_many_spoilt_bytes_are_a_command_or_an_error() -> None:
    told("FUZZ_DECODER", max(INPUTS, 200_000))
    check_decoder(max(INPUTS, 200_000))


# a live server


async def throw_frames(server: LiveServer, frames: int) -> None:
    """Throw frames at a server over many connections, each until it is closed; every reply is one of ours."""
    chance, commands = random.Random(SEED), [one for one in seeds() if one["type"] not in {"new", "rules"}]
    pid, thrown = server.pid, 0
    late: list[float] = []

    async def watch() -> None:
        async with connect(server.url, compression=None) as socket:
            for number in count(1):
                began = time.monotonic()
                await socket.send(json.dumps({"type": "ping", "id": number}))
                await socket.recv()
                late.append(time.monotonic() - began)
                await asyncio.sleep(0.02)

    watching = asyncio.create_task(watch())
    while thrown < frames:
        packed = chance.random() < 0.3
        offered: Any = ["chilkoot.v1.msgpack"] if packed else None
        with contextlib.suppress(ConnectionClosed):
            async with connect(server.url, compression=None, subprotocols=offered, max_size=None) as socket:
                for _ in range(60):
                    data = spoil(chance, commands)
                    thrown += 1
                    sent: str | bytes = pack(chance, data) if packed else data.decode("utf-8", "replace")
                    await socket.send(sent)
                    text = await socket.recv()
                    reply = msgspec.msgpack.decode(text) if isinstance(text, bytes) else json.loads(text)
                    assert reply["type"] in {"error", "refused"} or "re" in reply or "game" in reply, (
                        sent,
                        reply,
                    )
                    assert reply.get("code") != "internal", (sent, reply)
    watching.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await watching
    assert server.pid == pid
    assert sorted(late)[len(late) * 9 // 10] < 0.3
    log = (server.folder / "log").read_text()
    assert "Traceback" not in log
    assert "internal" not in log


async def test_spoilt_frames_are_answered_and_nobody_else_waits(server: LiveServer) -> None:
    told("FUZZ_FRAMES", FRAMES)
    await throw_frames(server, FRAMES)


@pytest.mark.slow
async def test_many_spoilt_frames_are_answered_and_nobody_else_waits(server: LiveServer) -> None:
    told("FUZZ_FRAMES", max(FRAMES, 5000))
    await throw_frames(server, max(FRAMES, 5000))


# the protocol, step by step


class Tab:
    """A connection in the model: its session, what it sees, and the commands that it sent."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.open = contextlib.ExitStack()
        self.socket = self.connect()
        self.ids = count(1)
        self.welcome: Frame = {}
        self.piles: dict[str, list[str]] | None = None
        self.seq = -1
        self.sent: list[tuple[Frame, Frame]] = []

    def connect(self) -> ClientConnection:
        """A new connection in place of the one there was."""
        self.open.close()
        self.socket = self.open.enter_context(connect_now(self.url, compression=None))
        return self.socket

    def ask(self, **command: Any) -> Frame:
        command = {"id": next(self.ids)} | command
        self.socket.send(json.dumps(command))
        while True:
            frame: Frame = json.loads(self.socket.recv(timeout=15))
            if frame.get("re") == command["id"]:
                return frame
            self.see(frame)

    def do(self, **command: Any) -> Frame:
        """Ask, take in what comes, and remember it to send it again."""
        command = {"id": next(self.ids)} | command
        frame = self.ask(**command)
        self.see(frame)
        self.sent.append((command, frame))
        return frame

    def recent(self) -> list[tuple[Frame, Frame]]:
        """The commands whose replies the server must still remember: the last 64, those to pings and the like counted."""
        newest = next(self.ids)
        return [(command, frame) for command, frame in self.sent if newest - command["id"] < 64]

    def see(self, frame: Frame) -> None:
        if frame["type"] == "snapshot":
            self.piles, self.seq = {name: list(cards) for name, cards in frame["piles"].items()}, frame["seq"]
        elif frame["type"] == "diff" and self.piles is not None:
            assert frame["seq"] == self.seq + 1, frame
            self.seq = frame["seq"]
            for op in frame["ops"]:
                if op["op"] == "move":
                    cards = self.piles[op["from"]][-op["n"] :]
                    del self.piles[op["from"]][-op["n"] :]
                    self.piles[op["to"]] += cards
                else:
                    self.piles[op["pile"]][op["at"]] = op["card"]
            assert frame["check"] == check_of(self.piles)

    def catch_up(self) -> None:
        """Whatever came by itself is read before the answer to a ping."""
        self.ask(type="ping")


class Protocol(RuleBasedStateMachine):
    """The promises of PROTOCOL.md about one game and those who look at it, with a second engine as the model."""

    url: ClassVar[str]

    def __init__(self) -> None:
        super().__init__()
        self.tabs: list[Tab] = []
        self.game = ""

    @initialize(place=st.integers(0, len(MAIN_GAMES) - 1), deal=st.integers(0, 10**6))
    def begin(self, place: int, deal: int) -> None:
        variant, level = MAIN_GAMES[place]
        self.model = NaiveGame(variant, level, f"ck:{deal}")
        owner, mate, watcher = (Tab(self.url) for _ in range(3))
        self.tabs = [owner, mate, watcher]
        for tab in self.tabs:
            tab.welcome = tab.ask(type="hello")
        more = {} if level is None else {"level": level}
        table = owner.do(type="new", variant=variant, deal=f"ck:{deal}", **more)
        self.game, self.owner_key = table["game"], table["key"]
        assert mate.do(type="join", game=self.game, role="player", key=self.owner_key)["role"] == "player"
        assert watcher.do(type="join", game=self.game)["role"] == "spectator"

    def is_over(self) -> bool:
        return self.model.standing()[0] != "playing"

    def act(self, who: int, text: str, **command: Any) -> Frame:
        """Do an action that the model knows the outcome of."""
        tab = self.tabs[who]
        tab.catch_up()
        reply = tab.do(game=self.game, base=self.model.seq, **command)
        is_refused = self.is_over()
        with contextlib.suppress(Wrong):
            if not is_refused:
                is_refused = True
                self.model.act(text)
                is_refused = False
        if is_refused:
            assert reply["type"] == "refused", (text, reply)
        else:
            assert (reply["type"], reply["seq"]) == ("diff", self.model.seq), (text, reply)
        return reply

    @precondition(lambda self: not self.is_over())
    @rule(who=st.integers(0, 1), data=st.data())
    def make_a_legal_move(self, who: int, data: st.DataObject) -> None:
        source, n, target = data.draw(st.sampled_from(list(self.model.real_moves()))).split()
        self.act(who, f"{source} {n} {target}", type="move", **{"from": source, "n": int(n), "to": target})

    @rule(who=st.integers(0, 1), source=st.integers(1, 7), n=st.integers(1, 6), onto=st.integers(1, 7))
    def try_any_move(self, who: int, source: int, n: int, onto: int) -> None:
        self.act(
            who, f"t{source} {n} t{onto}", type="move", **{"from": f"t{source}", "n": n, "to": f"t{onto}"}
        )

    @rule(who=st.integers(0, 1), source=st.integers(1, 7))
    def try_to_send_home(self, who: int, source: int) -> None:
        if self.model.piles[f"t{source}"]:
            self.act(who, f"t{source} 1 f", type="move", **{"from": f"t{source}", "to": "f"})

    @precondition(lambda self: not self.is_over())
    @rule(who=st.integers(0, 1), times=st.integers(1, 4), kind=st.sampled_from(("undo", "redo")))
    def go_back_and_forth(self, who: int, times: int, kind: str) -> None:
        self.act(who, f"{kind} {times}", type=kind, count=times)

    @rule(who=st.integers(0, 1))
    def send_all_home(self, who: int) -> None:
        self.act(who, "home", type="home")

    @rule(who=st.integers(0, 1), back=st.integers(1, 5))
    def act_on_an_old_table(self, who: int, back: int) -> None:
        tab = self.tabs[who]
        tab.catch_up()
        reply = tab.do(type="undo", game=self.game, base=self.model.seq - back)
        assert reply["code"] == "stale"
        assert reply["detail"]["seq"] == self.model.seq

    @rule(kind=st.sampled_from(("undo", "home", "give_up", "auto")))
    def touch_as_a_spectator(self, kind: str) -> None:
        self.tabs[2].catch_up()
        assert self.tabs[2].do(type=kind, game=self.game, base=self.model.seq)["code"] == "forbidden"

    @rule(who=st.integers(0, 2), data=st.data())
    def send_a_command_again(self, who: int, data: st.DataObject) -> None:
        tab = self.tabs[who]
        if recent := tab.recent():
            command, first = data.draw(st.sampled_from(recent))
            again = tab.ask(**command)
            assert again == first or first.get("code") in NOT_NOW

    @rule(who=st.integers(0, 2), data=st.data())
    def use_an_id_twice(self, who: int, data: st.DataObject) -> None:
        tab = self.tabs[who]
        known = [command for command, first in tab.recent() if first.get("code") not in NOT_NOW]
        if known:
            command = data.draw(st.sampled_from(known))
            assert tab.ask(type="leave", id=command["id"], game="another")["code"] == "id_reused"

    @rule(who=st.integers(0, 2), is_known=st.booleans())
    def lose_the_connection(self, who: int, is_known: bool) -> None:
        tab = self.tabs[who]
        tab.connect()
        seen = {self.game: tab.seq} if is_known else {}
        fields = {"token": tab.welcome["token"], "session": tab.welcome["session"]}
        tab.welcome = tab.ask(type="hello", **fields, games=seen)
        assert tab.welcome["resumed"]
        if not is_known:
            tab.do(type="sync" if who < 2 else "join", game=self.game)

    @rule(who=st.integers(0, 2))
    def ask_for_legal_moves(self, who: int) -> None:
        tab = self.tabs[who]
        tab.catch_up()
        reply = tab.do(type="legal", game=self.game)
        found = {f"{move['from']} {move['n']} {move['to']}" for move in reply["moves"]}
        assert self.is_over() or set(self.model.real_moves()) <= found
        assert reply["seq"] == self.model.seq

    @invariant()
    def all_see_the_same_table(self) -> None:
        for tab in self.tabs:
            tab.catch_up()
            assert tab.seq == self.model.seq
            assert tab.piles == self.model.view()

    def teardown(self) -> None:
        for tab in self.tabs:
            tab.open.close()


def walk(server: LiveServer, steps: int) -> None:
    """So many steps, in games of forty."""
    each = 40
    machine = type("LiveProtocol", (Protocol,), {"url": server.url})
    hypothesis.seed(SEED)(machine)
    run_state_machine_as_test(
        machine,
        settings=hypothesis.settings(
            max_examples=max(1, steps // each), stateful_step_count=each, deadline=None, database=None, print_blob=True,
            suppress_health_check=list(hypothesis.HealthCheck),
        ),
    )  # fmt: skip


def test_the_protocol_keeps_its_promises_step_by_step(server: LiveServer) -> None:
    told("FUZZ_STEPS", STEPS)
    walk(server, STEPS)


@pytest.mark.slow
def test_the_protocol_keeps_its_promises_for_many_steps(server: LiveServer) -> None:
    told("FUZZ_STEPS", max(STEPS, 2000))
    walk(server, max(STEPS, 2000))
