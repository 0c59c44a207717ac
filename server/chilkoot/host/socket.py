"""A TCP connection before anything is known of it: counted per address, watched while it does not take what it is sent.

Adds three things to the library's connection: plain HTTP methods that it would drop without a word are answered, the
connections of one address are bounded before they cost a handshake, and whoever writes is told when the peer falls behind
(the library's own keepalive waits for ever behind a peer that does not read).
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
from collections import Counter
from collections.abc import Callable
from typing import Any, Final, cast

from websockets.asyncio.server import ServerConnection

from chilkoot.config import Limits

__all__ = ["Addresses", "Socket", "socket_type"]

WRITE_LIMIT: Final = 64 * 1024
"""Bytes that may wait in the program before a connection counts as full; the system holds about as many again."""

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

    addresses: Addresses

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.address = ""
        self.is_full = False
        self.on_writable: Callable[[], None] | None = None
        self.on_lost: Callable[[], None] | None = None
        self._has_spoken = False

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
        super().data_received(data)

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
