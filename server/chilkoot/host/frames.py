"""WebSocket frames as most of them are: whole, small, one to a packet. All others are left to the library.

A third of what a message cost went into the library's parser and writer, which are made for every frame there is.
"""

from __future__ import annotations

from typing import Final

from websockets.frames import apply_mask  # type: ignore[attr-defined]  # which of two, the library knows

__all__ = ["BINARY", "TEXT", "frame_of", "missing_after", "payload_of"]

TEXT: Final = 0x81
BINARY: Final = 0x82
"""The first byte of a whole message: its last fragment, and what it holds."""

_LARGEST: Final = 4096


def payload_of(data: bytes) -> bytes | None:
    """The payload of the message that these bytes are; None where they are anything but one small masked whole one."""
    size = len(data)
    # A second byte below 0x80 is of a frame without a mask, 0xFF of one whose length takes eight bytes.
    if not 6 <= size <= _LARGEST or data[0] not in (TEXT, BINARY) or not 0x80 <= data[1] < 0xFF:
        return None
    length, at = data[1] - 0x80, 2
    if length == 126:
        length, at = data[2] << 8 | data[3], 4
    if size != at + 4 + length:
        return None
    return apply_mask(data[at + 4 :], data[at : at + 4])


def missing_after(data: bytes, begun: int) -> int:
    """How much of the last frame is missing, where `begun` bytes still belong to a frame before; −1 where a head is cut."""
    at, size = begun, len(data)
    while at < size:
        head = data[at : at + 10]
        if len(head) < 2:
            return -1
        length, more = head[1] & 0x7F, 4 if head[1] & 0x80 else 0
        if length > 125:
            width = 2 if length == 126 else 8
            if len(head) < 2 + width:
                return -1
            length, more = int.from_bytes(head[2 : 2 + width], "big"), more + width
        at += 2 + more + length
    return at - size


def frame_of(kind: int, payload: bytes) -> bytes:
    """A whole message as a server sends it."""
    length = len(payload)
    if length < 126:
        return bytes((kind, length)) + payload
    if length < 0x10000:
        return bytes((kind, 126, length >> 8, length & 0xFF)) + payload
    return bytes((kind, 127)) + length.to_bytes(8, "big") + payload
