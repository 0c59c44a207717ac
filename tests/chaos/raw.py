"""A WebSocket by hand: sends any bytes, frames that no library would, and reads frames as they come."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

__all__ = ["Raw", "close", "connect", "frame", "handshake"]

KEY = b"dGhlIHNhbXBsZSBub25jZQ=="


def handshake(*more: bytes, path: bytes = b"/ws") -> bytes:
    """The request that opens a WebSocket, with more header lines."""
    lines = (
        b"GET " + path + b" HTTP/1.1", b"Host: x", b"Upgrade: websocket", b"Connection: Upgrade",
        b"Sec-WebSocket-Key: " + KEY, b"Sec-WebSocket-Version: 13", *more, b"", b"",
    )  # fmt: skip
    return b"\r\n".join(lines)


def frame(
    payload: bytes = b"",
    opcode: int = 1,
    *,
    fin: bool = True,
    rsv: int = 0,
    masked: bool = True,
    length: int | None = None,
) -> bytes:
    """One frame; `length` is what it says of itself where that is not the truth."""
    size = len(payload) if length is None else length
    mark = 0x80 if masked else 0
    if size < 126:
        head = bytes([mark | size])
    elif size < 1 << 16:
        head = bytes([mark | 126]) + struct.pack(">H", size)
    else:
        head = bytes([mark | 127]) + struct.pack(">Q", size)
    first = bytes([opcode | rsv << 4 | (0x80 if fin else 0)])
    if not masked:
        return first + head + payload
    mask = b"\x11\x22\x33\x44"
    return first + head + mask + bytes(byte ^ mask[at % 4] for at, byte in enumerate(payload))


def close(code: int | None = None, reason: bytes = b"") -> bytes:
    """A closing frame."""
    return frame(b"" if code is None else struct.pack(">H", code) + reason, 8)


class Raw:
    """One TCP connection to a server."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def say(self, data: bytes, *, chopped: bool = False) -> None:
        """Send bytes, all at once or each in a packet of its own."""
        for part in (data[at : at + 1] for at in range(len(data))) if chopped else (data,):
            self.writer.write(part)
            with suppress(ConnectionError):
                await self.writer.drain()
            if chopped:
                await asyncio.sleep(0)

    async def head(self) -> bytes:
        """The head of an HTTP response, b"" where there is none."""
        try:
            async with asyncio.timeout(10):
                return await self.reader.readuntil(b"\r\n\r\n")
        except (asyncio.IncompleteReadError, ConnectionError):
            return b""

    async def next(self) -> tuple[int, bytes] | None:
        """Opcode and payload of the next message or control frame, None at the end."""
        message = b""
        while True:
            try:
                async with asyncio.timeout(10):
                    first, size = await self.reader.readexactly(2)
                    if size in {126, 127}:
                        size = int.from_bytes(await self.reader.readexactly(2 if size == 126 else 8))
                    message += await self.reader.readexactly(size)
            except (asyncio.IncompleteReadError, ConnectionError):
                return None
            if first & 0x80:
                return first & 15, message

    async def answers(self, count: int | None = None) -> list[str]:
        """Everything until the end, or so many answers: messages as text, pongs as ``pong …``, the closing frame as ``close CODE``."""
        found: list[str] = []
        while len(found) != count and (got := await self.next()) is not None:
            opcode, payload = got
            if opcode == 8:
                found.append(f"close {int.from_bytes(payload[:2]) if payload else '-'}")
            elif opcode == 10:
                found.append(f"pong {payload.hex()}")
            else:
                found.append(payload.decode())
        return found


@asynccontextmanager
async def connect(port: int, *, opened: bool = True) -> AsyncIterator[Raw]:
    """A connection, after the handshake or before it."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    raw = Raw(reader, writer)
    try:
        if opened:
            await raw.say(handshake())
            assert b" 101 " in await raw.head()
        yield raw
    finally:
        writer.transport.abort()
