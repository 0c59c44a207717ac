"""Addresses that people type, and what is wrong with one in words."""

from __future__ import annotations

import contextlib
import ipaddress
from urllib.parse import urlsplit, urlunsplit

from chilkoot_client.errors import Closed

__all__ = ["failure_words", "is_local", "page_url", "socket_url"]


def socket_url(url: str) -> str:
    """The WebSocket's address for what a person may type: a bare host, an http address, a missing path.

    Raises Closed where it can't be one.
    """
    try:
        parts = urlsplit(url if "://" in url else f"ws://{url}")
        # Reading the port is what checks it.
        has_port = parts.port != 0
    except ValueError:
        raise Closed(f"{url} is not the address of a server; write ws://HOST:PORT") from None
    scheme = {"http": "ws", "https": "wss"}.get(parts.scheme, parts.scheme)
    if scheme not in {"ws", "wss"} or not parts.hostname or not has_port:
        raise Closed(f"{url} is not the address of a server; write ws://HOST:PORT")
    path = parts.path if parts.path not in {"", "/"} else "/ws"
    return urlunsplit((scheme, parts.netloc, path, parts.query, ""))


def page_url(url: str, path: str) -> str:
    """The address of a page of the server that is at the address of a WebSocket."""
    parts = urlsplit(url)
    return urlunsplit(("https" if parts.scheme == "wss" else "http", parts.netloc, path, "", ""))


def is_local(url: str) -> bool:
    """Whether the server is on this machine, where no proxy has a say."""
    host = urlsplit(url).hostname or ""
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return host == "localhost" or host.endswith(".localhost")


def failure_words(error: Exception) -> str:
    """Why a connection could not be made."""
    if isinstance(error, TimeoutError):
        return "no answer in time"
    if isinstance(error, ConnectionRefusedError):
        return "nothing listens there"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    return str(error) or type(error).__name__
