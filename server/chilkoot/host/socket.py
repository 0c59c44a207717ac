"""A TCP connection before anything is known of it: counted per address, watched while it does not take what it is sent.

Adds four things to the library's connection: plain HTTP methods that it would drop without a word are answered, the
connections of one address are bounded before they cost a handshake, whoever writes is told when the peer falls behind
(the library's own keepalive waits for ever behind a peer that does not read), and whoever listens is told of a message in
the turn of the loop in which it came (the library's `recv` takes another one).
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
from collections import Counter
from collections.abc import Callable
from typing import Any, Final, cast

from websockets.asyncio.server import ServerConnection
from websockets.frames import CloseCode, Frame, Opcode
from websockets.protocol import Event, State

from chilkoot.config import Limits
from chilkoot.host.frames import TEXT, missing_after, payload_of

__all__ = ["Addresses", "Socket", "socket_type"]

WRITE_LIMIT: Final = 64 * 1024
"""Bytes that may wait in the program before a connection counts as full; the system holds about as many again."""

_MOST_WAITING: Final = 4
"""Messages that may wait before no more is read from the peer."""

_MOST_FRAGMENTS: Final = 4096
"""Fragments of one message: empty ones cost memory that no limit of bytes sees."""

_ENDED: Final = frozenset({State.CLOSING, State.CLOSED})
_DATA: Final = frozenset({Opcode.TEXT, Opcode.BINARY, Opcode.CONT})

_REQUEST_LINE: Final = re.compile(rb"([A-Z]{3,16}) ")
_SORRY: Final = b"Only GET and HEAD are served here.\n"
_NOT_ALLOWED: Final = (
    b"HTTP/1.1 405 Method Not Allowed\r\nAllow: GET, HEAD\r\nContent-Type: text/plain; charset=utf-8\r\n"
    b"Content-Length: %d\r\nConnection: close\r\n\r\n%s" % (len(_SORRY), _SORRY)
)


class Addresses:
    """How many connections there are, in all and per address; an IPv6 network of 2^64 addresses counts as one."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._by_address: Counter[str] = Counter()
        self.total = 0

    def enter(self, address: str) -> None:
        """A connection was made."""
        self._by_address[address] += 1
        self.total += 1

    def leave(self, address: str) -> None:
        """A connection is gone."""
        self.total -= 1
        self._by_address[address] -= 1
        if not self._by_address[address]:
            del self._by_address[address]

    def is_crowded(self, address: str, *, factor: float = 1) -> bool:
        """Whether there are more than may be, this one included."""
        limits = self._limits
        return bool(
            (limits.connections and self.total > limits.connections * factor)
            or (
                limits.connections_per_address
                and self._by_address[address] > limits.connections_per_address * factor
            )
        )


def _counted(address: str) -> str:
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if ip.version == 6 and ip.ipv4_mapped is None:
        return str(ipaddress.ip_network((ip, 64), strict=False))
    return str(ip)


class Socket(ServerConnection):
    """One connection; `on_writable` is called when a full one can be written to again, `on_lost` when it is gone."""

    # Few attributes, all set at once, lie in 300 bytes; more, or the library's two that come late, in a dict of 1.5 KB.
    __slots__ = (
        "_closing",
        "_fragments",
        "_has_spoken",
        "_is_deaf",
        "_is_paused",
        "_is_text",
        "_messages",
        "_missing",
        "_on_message",
        "address",
        "is_full",
        "on_lost",
        "on_writable",
        "recv_messages",
        "transport",
    )

    addresses: Addresses

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.address = ""
        self.is_full = False
        self.on_writable: Callable[[], None] | None = None
        self.on_lost: Callable[[], None] | None = None
        self._has_spoken = False
        self._missing = 0
        """What is missing of a frame that the library has the beginning of; −1 where that is not known any more."""
        self._is_deaf = False
        self._is_paused = False
        # A list, here and in `Connection`: ten thousand deques would take 7 MB to hold nothing.
        self._messages: list[str | bytes] = []
        self._fragments: list[bytes | bytearray | memoryview] = []
        self._is_text = True
        self._on_message: Callable[[], None] | None = None
        self._closing: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Count the connection; one far too many is not even listened to."""
        peer = transport.get_extra_info("peername")
        self.address = _counted(str(peer[0])) if isinstance(peer, tuple) else "local"
        self.addresses.enter(self.address)
        super().connection_made(transport)
        if self.addresses.is_crowded(self.address, factor=2):
            cast("asyncio.Transport", transport).abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Count it out. Kept tiny: thousands may be lost in one turn of the loop."""
        self.addresses.leave(self.address)
        super().connection_lost(exc)
        if self.on_lost is not None:
            self.on_lost()

    def data_received(self, data: bytes) -> None:
        """Answer at once what is HTTP, but not GET or HEAD."""
        if not self._has_spoken:
            self._has_spoken = True
            method = _REQUEST_LINE.match(data)
            if method is not None and method[1] not in {b"GET", b"HEAD"}:
                self.transport.write(_NOT_ALLOWED)
                self.transport.close()
                return
            _, end, begun = data.partition(b"\r\n\r\n")
            self._missing = 0 if end and not begun else -1
        elif self._is_between_frames() and (payload := payload_of(data)) is not None:
            self._deliver(payload, is_text=data[0] == TEXT)
            return
        elif self._missing >= 0:
            self._missing = missing_after(data, self._missing)
        super().data_received(data)

    def listen(self, on_message: Callable[[], None]) -> None:
        """From now on call this for each message that comes; and now, if there is one."""
        self._on_message = on_message
        if self._messages:
            on_message()

    def stop_listening(self) -> None:
        """What the peer still says does not matter any more."""
        self._is_deaf = True
        self._messages.clear()
        self._read_on()

    @property
    def has_message(self) -> bool:
        """Whether a message waits to be taken."""
        return bool(self._messages)

    def next_message(self) -> str | bytes:
        """Take the message that has waited longest."""
        message = self._messages.pop(0)
        if self._is_paused and not self._messages:
            self._read_on()
        return message

    def process_event(self, event: Event) -> None:
        """Put messages together here; leave the handshake and what belongs to the protocol itself to the library."""
        if isinstance(event, Frame) and event.opcode in _DATA:
            self._receive(event)
        else:
            super().process_event(event)

    def _is_between_frames(self) -> bool:
        """Whether what comes next is the beginning of a message that is to be heard."""
        return self._missing == 0 and not self._fragments and not self._is_deaf and self.state is State.OPEN

    def _receive(self, frame: Frame) -> None:
        if self._is_deaf or self.state in _ENDED:
            return
        data = frame.data
        if frame.opcode is not Opcode.CONT:
            self._is_text = frame.opcode is Opcode.TEXT
        if self._fragments or not frame.fin:
            self._fragments.append(data)
            if len(self._fragments) > _MOST_FRAGMENTS:
                self._refuse(CloseCode.MESSAGE_TOO_BIG, "too many fragments")
                return
            if not frame.fin:
                return
            data = b"".join(self._fragments)
            self._fragments.clear()
        self._deliver(bytes(data), is_text=self._is_text)

    def _deliver(self, data: bytes, *, is_text: bool) -> None:
        try:
            self._messages.append(data.decode() if is_text else data)
        except UnicodeDecodeError as fault:
            self._refuse(CloseCode.INVALID_DATA, f"{fault.reason} at position {fault.start}")
            return
        if len(self._messages) > _MOST_WAITING and not self._is_paused:
            self._is_paused = True
            self.transport.pause_reading()
        if self._on_message is not None:
            self._on_message()

    def write(self, frame: bytes) -> None:
        """Write a whole frame, wherever the connection is open."""
        if self.state is State.OPEN:
            self.transport.write(frame)

    def _refuse(self, code: CloseCode, reason: str) -> None:
        self.stop_listening()
        self._fragments.clear()
        self._closing = self.loop.create_task(self.close(code, reason))

    def _read_on(self) -> None:
        if self._is_paused:
            self._is_paused = False
            self.transport.resume_reading()

    def pause_writing(self) -> None:
        """The peer is behind."""
        super().pause_writing()
        self.is_full = True

    def resume_writing(self) -> None:
        """The peer has caught up."""
        super().resume_writing()
        self.is_full = False
        if self.on_writable is not None:
            self.on_writable()


def socket_type(addresses: Addresses) -> type[Socket]:
    """The type of the connections of one server, which are counted together."""
    return type("CountedSocket", (Socket,), {"addresses": addresses})
