"""The server process: start, serve, drain, stop; never longer than the time it has for that."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import socket
import sys
import threading
from collections.abc import Sequence
from typing import Final

from websockets.asyncio.server import Server, ServerConnection
from websockets.asyncio.server import serve as serve_sockets
from websockets.typing import Subprotocol

from chilkoot.config import Config, default_database
from chilkoot.data import rules_folder
from chilkoot.failpoint import reach
from chilkoot.host.connection import Connection
from chilkoot.host.conversation import Conversation
from chilkoot.host.house import House
from chilkoot.host.ledger import Ledger
from chilkoot.host.librarian import look_after, tell_variants
from chilkoot.host.log import log, log_trouble, set_up_logging
from chilkoot.host.pages import SUBPROTOCOLS, Pages
from chilkoot.host.socket import WRITE_LIMIT, Socket, socket_type
from chilkoot.host.watchman import go_round
from chilkoot.library import Library
from chilkoot.record import CannotOpen, StoreFault
from chilkoot.wire import JSON, MSGPACK, CloseCode, encode
from chilkoot.wire.messages import Draining

__all__ = ["listen", "listening_sockets", "serve"]

EXIT_RESTART: Final = 75
"""The disk could not be trusted: start again, and read what is really there."""
EXIT_CONFIG: Final = 78
"""It can't work as it is set up."""

_RETRY_MS: Final = 1000


def serve(config: Config) -> int:
    """Serve until SIGTERM or SIGINT; the exit status."""
    set_up_logging()
    # Games live long and hold many small objects without cycles: looking through all of them often costs 5 % of the
    # processor and finds nothing.
    gc.set_threshold(20_000, 20, 50)
    try:
        return asyncio.run(_run(config))
    except CannotOpen as fault:
        log.error("%s", fault)
        return EXIT_CONFIG
    except OSError as fault:
        log.error("can't listen on %s:%d: %s", config.host, config.port, fault.strerror or fault)
        return EXIT_CONFIG


async def _run(config: Config) -> int:
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(log_trouble)
    stop: asyncio.Future[int] = loop.create_future()
    _stop_on_signals(stop, config.limits.shutdown_seconds)
    library = Library([*config.rules, rules_folder()])
    tell_variants(library)
    listener = listening_sockets(config.host, config.port)
    ledger = Ledger(config.database or default_database(), on_fatal=lambda fault: _give_up(stop, fault))
    house = House(config, ledger, library)
    for name in house.almanac.unknown():
        log.warning(
            "--daily %s: no variant or level here has that name, so it has no deal a day until one does", name
        )
    await house.races.load()
    server = await listen(house, listener)
    watchman = asyncio.create_task(go_round(house))
    librarian = asyncio.create_task(look_after(house))
    almanac = asyncio.create_task(house.almanac.look_after())
    filling = asyncio.create_task(house.deal_pool.look_after(after=config.limits.pool_after_seconds))
    advice = asyncio.create_task(house.adviser.look_after(after=config.limits.advice_after_seconds))
    gc.collect()
    gc.freeze()
    status = await stop
    librarian.cancel()
    almanac.cancel()
    filling.cancel()
    advice.cancel()
    await _drain(house, server)
    watchman.cancel()
    return status


def _stop_on_signals(stop: asyncio.Future[int], seconds: float) -> None:
    def on_signal() -> None:
        if stop.done():
            # Asked twice: nothing that was acknowledged can be lost any more.
            os._exit(0)
        stop.set_result(0)
        # Whatever hangs (a disk, a thread), this process ends in time.
        timer = threading.Timer(max(0.5, seconds - 0.3), os._exit, (0,))
        timer.daemon = True
        timer.start()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, on_signal)


def _give_up(stop: asyncio.Future[int], fault: StoreFault) -> None:
    log.critical("stopping: %s", fault)
    if not stop.done():
        stop.set_result(EXIT_RESTART)


def listening_sockets(host: str, port: int) -> list[socket.socket]:
    """Listening sockets whose connections inherit bounds of the system's own: it must not hide who is slow."""
    found = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    listening: list[socket.socket] = []
    for family, _, _, _, address in dict.fromkeys(found):
        one = socket.socket(family, socket.SOCK_STREAM)
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 64 * 1024)
        one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if sys.platform == "linux":
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 20_000)
        if family == socket.AF_INET6:
            one.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        # Of several addresses of one name all get the port that the first was given.
        one.bind((address[0], listening[0].getsockname()[1] if listening else port, *address[2:]))
        one.setblocking(False)
        listening.append(one)
    return listening


async def listen(house: House, listening: Sequence[socket.socket]) -> list[Server]:
    """Serve a house at listening sockets, and say where."""
    limits = house.limits
    port = listening[0].getsockname()[1]
    pages = Pages(house, port)

    async def process_request(connection: ServerConnection, request: object) -> object:
        assert isinstance(connection, Socket)
        return await pages.answer(connection, request)  # type: ignore[arg-type]

    servers = [
        await serve_sockets(
            lambda connection: _converse(house, connection),
            sock=one,
            backlog=1024,
            subprotocols=[Subprotocol(name) for name in SUBPROTOCOLS],
            select_subprotocol=_select_subprotocol,
            compression=None,
            process_request=process_request,  # type: ignore[arg-type]
            server_header="chilkoot",
            open_timeout=limits.open_seconds or None,
            ping_interval=limits.ping_seconds or None,
            ping_timeout=limits.ping_seconds or None,
            close_timeout=2,
            # Frames a little too large are answered; far too large ones are not even read.
            max_size=2 * limits.message_bytes or None,
            write_limit=WRITE_LIMIT,
            create_connection=socket_type(house.addresses),
        )
        for one in listening
    ]
    shown = house.config.host or "localhost"
    shown = f"[{shown}]" if ":" in shown else shown
    print(f"http://{shown}:{port}", flush=True)  # noqa: T201 - the first line, for people and programs that started us
    log.info("serving at http://%s:%d", shown, port)
    return servers


def _select_subprotocol(_: ServerConnection, offered: Sequence[Subprotocol]) -> Subprotocol | None:
    return next((name for name in offered if name in SUBPROTOCOLS), None)


async def _converse(house: House, connection: ServerConnection) -> None:
    """One client, from the handshake to the end. What it does wrong is its own affair."""
    assert isinstance(connection, Socket)
    for head in (connection.request, connection.response):
        if head is not None:
            # Nobody asks for it any more, and a browser's is as large as all else that a connection holds.
            head.headers.clear()
    form = MSGPACK if connection.subprotocol == SUBPROTOCOLS[1] else JSON
    client = Connection(connection, house.guest(), form, house.limits, house.catch_up, house.metrics)
    house.connections.add(client)
    Conversation(house, client)
    try:
        await connection.wait_closed()
        # What it began is finished: until then it may come to look at one more game.
        async with client.lock:
            pass
    finally:
        house.leave(client)


async def _drain(house: House, servers: Sequence[Server]) -> None:
    """Stop: nobody new, nothing new begun, what was begun is stored and told, and then everybody out."""
    log.info("stopping, %d connections", len(house.connections))
    house.is_draining = True
    for server in servers:
        server.close(close_connections=False)
    reach("during_shutdown")
    news = encode(Draining(retry_after_ms=_RETRY_MS))
    for connection in list(house.connections):
        connection.send(news)
    deadline = house.clock.ms() + 2000
    while not house.ledger.is_quiet and house.clock.ms() < deadline:  # noqa: ASYNC110 - once in a life
        await asyncio.sleep(0.01)
    reach("during_shutdown")
    house.save_replies(list(house.sessions.values()))
    reach("during_shutdown")
    closing = [
        asyncio.create_task(connection.end(CloseCode.RESTART, "restarting"))
        for connection in list(house.connections)
    ]
    if closing:
        await asyncio.wait(closing, timeout=1.5)
    for connection in list(house.connections):
        connection.socket.transport.abort()
    for server in servers:
        for left in list(server.all_connections):
            left.transport.abort()
    house.searcher.close()
    house.adviser.close()
    reach("during_shutdown")
    house.ledger.hand_over()
    stored = await asyncio.get_running_loop().run_in_executor(None, house.ledger.close, 1.0)
    reach("during_shutdown")
    log.info("stopped" if stored else "stopped, although the record did not answer")
