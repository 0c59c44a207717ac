"""Frames that come whole take a short way; however the bytes of a connection are cut, what was said is the same."""

from __future__ import annotations

import asyncio
import json
import random
import re
from collections.abc import Iterator
from itertools import accumulate

import pytest
from websockets.client import ClientProtocol
from websockets.frames import Frame, Opcode, apply_mask  # type: ignore[attr-defined]
from websockets.uri import parse_uri

from caller import calling
from chilkoot.host.frames import BINARY, TEXT, frame_of, missing_after, payload_of
from servers import LiveServer

SIZES = (0, 1, 125, 126, 127, 1000, 4000, 5000, 70_000)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    with LiveServer(tmp_path_factory.mktemp("server")) as running:
        yield running


def masked(data: bytes, opcode: Opcode = Opcode.TEXT, *, fin: bool = True) -> bytes:
    return Frame(opcode, data, fin).serialize(mask=True)


@pytest.mark.parametrize("size", SIZES)
def test_a_frame_is_written_as_the_library_writes_it(size: int) -> None:
    payload = bytes(size)
    assert frame_of(TEXT, payload) == Frame(Opcode.TEXT, payload).serialize(mask=False)
    assert frame_of(BINARY, payload) == Frame(Opcode.BINARY, payload).serialize(mask=False)


@pytest.mark.parametrize("size", SIZES)
def test_only_one_small_whole_message_takes_the_short_way(size: int) -> None:
    payload = random.Random(size).randbytes(size)
    whole = masked(payload)
    for opcode in (Opcode.TEXT, Opcode.BINARY):
        whole = masked(payload, opcode)
        assert payload_of(whole) == (payload if len(whole) <= 4096 else None)
        for cut in (whole[:-1], whole + b"\x81", whole[:1], masked(payload, opcode, fin=False)):
            assert payload_of(cut) is None
    assert payload_of(frame_of(TEXT, payload)) is None
    assert payload_of(bytes([whole[0] | 0x40]) + whole[1:]) is None
    if size <= 125:
        assert payload_of(masked(payload, Opcode.PING)) is None


def test_a_length_in_more_bytes_than_it_takes_is_read_as_the_library_reads_it_or_left_to_it() -> None:
    mask = b"mask"
    for size in range(300):
        payload = random.Random(size).randbytes(size)
        for marker, length in ((126, size.to_bytes(2, "big")), (127, size.to_bytes(8, "big"))):
            whole = bytes((TEXT, 0x80 | marker)) + length + mask + apply_mask(payload, mask)
            assert payload_of(whole) in (payload, None)


@pytest.mark.parametrize("seed", range(20))
def test_the_end_of_a_frame_is_known_wherever_its_bytes_are_cut(seed: int) -> None:
    chance = random.Random(seed)
    frames = [masked(bytes(chance.choice(SIZES))) for _ in range(8)]
    data, ends = b"".join(frames), list(accumulate(map(len, frames)))
    missing, at = 0, 0
    while at < len(data):
        size = chance.choice((1, 2, 5, 100, 5000, 100_000))
        missing, at = missing_after(data[at : at + size], missing), min(len(data), at + size)
        if missing < 0:
            begins = max([end for end in ends if end <= at], default=0)
            assert 0 < at - begins < 10, "only where a head was cut"
            return
        assert missing == min(end for end in [0, *ends] if end >= at) - at


@pytest.mark.parametrize("seed", range(6))
async def test_what_is_said_does_not_depend_on_how_its_bytes_are_cut(server: LiveServer, seed: int) -> None:
    chance = random.Random(seed)
    protocol = ClientProtocol(parse_uri(server.url))
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    protocol.send_request(protocol.connect())
    # Half of them speak at once, without waiting for the answer to the handshake.
    said = b"".join(protocol.data_to_send())
    if seed % 2:
        writer.write(said)
        await reader.readuntil(b"\r\n\r\n")
        said = b""
    for number in range(1, 40):
        text = json.dumps({"type": "ping", "id": number}) + " " * chance.choice((0, 60, 300, 5000))
        if chance.random() < 0.2:
            half = len(text) // 2
            said += masked(text[:half].encode(), fin=False) + masked(b"!", Opcode.PING)
            said += masked(text[half:].encode(), Opcode.CONT)
        else:
            said += masked(text.encode())
        while said and chance.random() < 0.8:
            size = chance.choice((1, 3, 10, len(said)))
            writer.write(said[:size])
            said = said[size:]
            await asyncio.sleep(0)
    writer.write(said)
    heard = b""
    async with asyncio.timeout(10):
        while b'"re":39,' not in heard:
            heard += await reader.read(65536)
    writer.close()
    assert [int(number) for number in re.findall(rb'"re":(\d+)', heard)] == list(range(1, 40))


async def test_what_lies_in_a_frame_that_came_with_the_handshake_is_no_frame(server: LiveServer) -> None:
    inner = masked(b'{"type":"ping","id":9}')
    mask = apply_mask(b"\r\n\r\n", b"    ")
    head = bytes((TEXT, 0x80 | len(inner) + 8)) + mask + b"\r\n\r\n" * 2
    protocol = ClientProtocol(parse_uri(server.url))
    protocol.send_request(protocol.connect())
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(b"".join(protocol.data_to_send()) + head)
    await reader.readuntil(b"\r\n\r\n")
    writer.write(inner)
    async with asyncio.timeout(10):
        heard = await reader.read()
    writer.close()
    # As a text it is none.
    assert b'"re":9' not in heard
    assert b"invalid start byte" in heard


@pytest.mark.parametrize(
    ("frames", "code"),
    (
        ((masked(b"\xff"),), 1007),
        ((masked(b"{", fin=False), masked(b"\xc3", Opcode.CONT)), 1007),
        ((masked(b"{", fin=False), masked(b"{}")), 1002),
        ((masked(b"", Opcode.CONT),), 1002),
        ((masked(b"", fin=False), *[masked(b"", Opcode.CONT, fin=False)] * 4096), 1009),
        ((masked(bytes(16_000), fin=False), masked(bytes(20_000), Opcode.CONT)), 1009),
        ((masked(b"{}", Opcode.BINARY),), 1003),
        ((frame_of(TEXT, b"{}"),), 1002),
    ),
)
async def test_frames_that_are_wrong_end_the_connection_with_their_code(
    server: LiveServer, frames: tuple[bytes, ...], code: int
) -> None:
    async with calling(server.url) as caller, calling(server.url) as other:
        await caller.ask("ping")
        caller.socket.transport.write(b"".join(frames))
        assert await caller.closed() == code
        assert (await other.ask("ping"))["type"] == "pong"
