"""Plain HTTP on the same port: who may open a WebSocket, and the few pages there are. GET and HEAD only."""

from __future__ import annotations

import asyncio
import base64
import email.utils
import hashlib
import html
import json
from functools import cache
from http import HTTPStatus
from typing import Final
from urllib.parse import unquote

from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from chilkoot.guide import STYLE
from chilkoot.host.asking import is_sealed, recording_of
from chilkoot.host.house import House
from chilkoot.host.metrics import METRICS_KIND, exposition
from chilkoot.host.picture import art_of, picture_of
from chilkoot.host.published import published
from chilkoot.host.reference import protocol_json, protocol_page
from chilkoot.host.shell import HTML, File, file_of, is_page, web_files
from chilkoot.host.socket import Socket
from chilkoot.language import json_schema
from chilkoot.record import GameHeader, StoreFault

__all__ = ["SUBPROTOCOLS", "Pages"]

SUBPROTOCOLS: Final = ("chilkoot.v1.json", "chilkoot.v1.msgpack")

_TEXT: Final = "text/plain; charset=utf-8"
_JSON: Final = "application/json"

_STYLE: Final = (
    "body{font:1rem/1.5 system-ui,sans-serif;max-width:44rem;margin:2rem auto;padding:0 1rem}"
    "pre{padding:.75rem;overflow:auto;background:#8882;border-radius:.25rem}"
    "@media(prefers-color-scheme:dark){body{background:#16181d;color:#e8e6e3}a{color:#8ab4f8}}"
)
_STYLE_HASHES: Final = " ".join(
    f"'sha256-{base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()}'"
    for style in (_STYLE, STYLE)
)
_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self' {styles}; img-src 'self'; font-src 'self'; "
    "manifest-src 'self'; connect-src 'self'{sockets}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types chilkoot"
)

_PAGE: Final = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Chilkoot</title>
<style>{style}</style>
<h1>Chilkoot</h1>
<p>A server for the solitaire games of the Yukon family. Games are played over a WebSocket, one JSON object a frame,
at <code>{socket}</code>; <a href="/docs">the protocol</a>.</p>
<p>With the <code>websockets</code> library for Python:</p>
<pre>import asyncio, json, websockets

async def main():
    async with websockets.connect("{socket}") as ws:
        await ws.send(json.dumps({{"type": "new", "id": 1, "variant": "yukon"}}))
        print(await ws.recv())

asyncio.run(main())</pre>
<p>Then, with the <code>game</code> and the <code>seq</code> of the snapshot that came:
<code>{{"type": "legal", "id": 2, "game": "…"}}</code> lists the moves, and
<code>{{"type": "move", "id": 3, "game": "…", "base": 0, "from": "t1", "to": "t2"}}</code> makes one.</p>
<h2>Games</h2>
<ul>
{games}
</ul>
</html>
"""


class Pages:
    """What is served over HTTP by one house."""

    def __init__(self, house: House, port: int) -> None:
        self._house = house
        self._port = port
        self._origins = _own_origins(house.config.host, port) | set(house.config.origins)
        self._files = web_files()
        page, icon = self._files.get("/index.html"), self._files.get("/icon.svg")
        if icon is not None:
            # Asked for by browsers on pages that name no icon.
            self._files["/favicon.ico"] = icon
        self._art = art_of(page.body.decode()) if page is not None else ""

    async def answer(self, socket: Socket, request: Request) -> Response | None:
        """The response to a request; None where it opens a WebSocket."""
        path = unquote(request.path.partition("?")[0])
        if path == "/ws":
            refusal = self._why_no_socket(socket, request)
            if refusal is None:
                return None
            response = _response(*refusal)
            if refusal[0] == HTTPStatus.SERVICE_UNAVAILABLE:
                response.headers["Retry-After"] = "5"
            elif refusal[0] == HTTPStatus.UPGRADE_REQUIRED:
                response.headers["Upgrade"] = "websocket"
        else:
            response = await self._page(path, request)
        if request.method == "HEAD":
            response.body = b""
        return response

    def _why_no_socket(self, socket: Socket, request: Request) -> tuple[HTTPStatus, str, str] | None:
        headers = request.headers
        if "websocket" not in ",".join(headers.get_all("Upgrade")).lower():
            return (
                HTTPStatus.UPGRADE_REQUIRED,
                _TEXT,
                "This is where WebSockets connect; a browser can't show it. / says how it is used.\n",
            )
        origins = headers.get_all("Origin")
        if len(origins) > 1:
            return HTTPStatus.BAD_REQUEST, _TEXT, "More than one Origin.\n"
        if origins and not self._is_welcome(origins[0], socket):
            return HTTPStatus.FORBIDDEN, _TEXT, "Pages of this origin may not connect; see --origin.\n"
        offered = [
            one.strip() for line in headers.get_all("Sec-WebSocket-Protocol") for one in line.split(",")
        ]
        if offered and not set(offered) & set(SUBPROTOCOLS):
            known = " and ".join(SUBPROTOCOLS)
            return HTTPStatus.BAD_REQUEST, _TEXT, f"None of these subprotocols is spoken here; {known} are.\n"
        if self._house.is_draining:
            return HTTPStatus.SERVICE_UNAVAILABLE, _TEXT, "The server is about to restart.\n"
        if self._house.addresses.is_crowded(socket.address):
            return HTTPStatus.SERVICE_UNAVAILABLE, _TEXT, "Too many connections; try again in a moment.\n"
        return None

    def _is_welcome(self, origin: str, socket: Socket) -> bool:
        """Whether a page of this origin may connect: our own pages, and those that the operator names."""
        if origin.lower() in self._origins:
            return True
        # A page from the very address that this connection was made to is ours. A name in the Host header proves
        # nothing, since any name can be made to lead here.
        here = socket.local_address
        return isinstance(here, tuple) and origin in _at(str(here[0]), self._port)

    async def _page(self, path: str, request: Request) -> Response:
        if path == "/healthz":
            return _response(HTTPStatus.OK, _TEXT, "ok\n")
        if path == "/readyz":
            return await self._readiness()
        if path == "/metrics":
            return _response(HTTPStatus.OK, METRICS_KIND, exposition(self._house))
        if path == "/protocol.json":
            return self._send(_protocol_file(), request)
        if path == "/docs":
            return self._send(_docs_file(), request)
        if path == "/rules.schema.json":
            return self._send(_rules_schema_file(), request)
        if path.startswith("/rules/"):
            return await self._rules(path.removeprefix("/rules/"))
        if path.startswith("/recordings/") and path.endswith(".json"):
            return await self._recording(path.removeprefix("/recordings/").removesuffix(".json"))
        if path.startswith("/deals/") and path.endswith(".svg"):
            return await self._picture(path.removeprefix("/deals/").removesuffix(".svg"), request)
        if path.startswith("/daily/") and path.endswith(".json"):
            return await self._day(path.removeprefix("/daily/").removesuffix(".json"))
        if (file := self._files.get("/index.html" if is_page(path) else path)) is not None:
            if path.startswith(("/games/", "/replay/")):
                file = await self._named(file, path.split("/")[2])
            return self._send(file, request)
        if path in {"/", "/plain"}:
            return _response(HTTPStatus.OK, HTML, self._front(request))
        return _response(HTTPStatus.NOT_FOUND, _TEXT, "There is no such page; / says what there is.\n")

    def _send(self, file: File, request: Request) -> Response:
        """A file, or the word that it has not changed since the browser got it."""
        sockets = self._socket_sources(request)
        if file.tag in _listed(request, "If-None-Match"):
            response = _response(HTTPStatus.NOT_MODIFIED, file.kind, b"", sockets=sockets)
            del response.headers["Content-Length"]
        else:
            is_packed = "gzip" in _listed(request, "Accept-Encoding")
            body = file.packed if is_packed else file.body
            response = _response(HTTPStatus.OK, file.kind, body, sockets=sockets)
            if is_packed:
                response.headers["Content-Encoding"] = "gzip"
        response.headers["ETag"] = file.tag
        response.headers["Vary"] = "Accept-Encoding"
        return response

    def _front(self, request: Request) -> str:
        games = "\n".join(
            f'<li><a href="/rules/{one.id}">{html.escape(one.name)}</a> {html.escape(one.summary)}</li>'
            for one in self._house.library.variants()
        )
        socket = html.escape(f"ws://{self._host(request)}/ws")
        return _PAGE.format(style=_STYLE, socket=socket, games=games)

    def _host(self, request: Request) -> str:
        named = request.headers.get_all("Host")
        host = named[0] if len(named) == 1 else ""
        is_plain = host.isascii() and all(letter.isalnum() or letter in ".-:[]" for letter in host)
        return host if host and is_plain else f"localhost:{self._port}"

    def _socket_sources(self, request: Request) -> str:
        # Some browsers do not count ws: as 'self'.
        host = self._host(request)
        return f" ws://{host} wss://{host}"

    async def _readiness(self) -> Response:
        house = self._house
        ready = not house.is_draining and house.ledger.fatal is None
        if ready:
            try:
                async with asyncio.timeout(2):
                    await house.ledger.ask(house.ledger.reader.counts)
            except (TimeoutError, StoreFault):
                ready = False
        if ready:
            return _response(HTTPStatus.OK, _TEXT, "ready\n")
        return _response(HTTPStatus.SERVICE_UNAVAILABLE, _TEXT, "not ready\n")

    async def _rules(self, name: str) -> Response:
        variant = self._house.library.variant(name)
        if variant is None:
            return _response(HTTPStatus.NOT_FOUND, _TEXT, "There is no such game in this house.\n")
        guide = await self._house.guides.of(variant)
        return _response(HTTPStatus.OK, HTML, guide.page)

    async def _recording(self, game: str) -> Response:
        ledger = self._house.ledger
        try:
            stored = None
            if _may_be_id(game):
                stored = await ledger.ask(ledger.reader.load_game, game)
            # A request over HTTP has no identity: it may see what everybody may.
            if stored is None or not self._is_public(stored.header):
                return _no_game()
            recording = await ledger.ask(recording_of, stored, self._house.clock.ms())
        except StoreFault:
            return _unreadable()
        return _response(HTTPStatus.OK, _JSON, recording)

    async def _day(self, date: str) -> Response:
        """What is published of a day."""
        house = self._house
        try:
            file = await published(
                house.almanac,
                house.ledger.reader,
                date,
                ask=house.ledger.ask,
                now_ms=house.clock.ms(),
            )
        except StoreFault:
            return _unreadable()
        if file is None:
            return _response(HTTPStatus.NOT_FOUND, _TEXT, "Nothing is published of that day.\n")
        response = _response(HTTPStatus.OK, _JSON, file)
        # Public, and meant to be checked by pages that are not ours.
        response.headers["Access-Control-Allow-Origin"] = "*"
        return response

    def _is_public(self, header: GameHeader) -> bool:
        return header.watch == "open" and not is_sealed(header, self._house.clock.ms())

    async def _named(self, page: File, game: str) -> File:
        """The page of a game that is open to all, with what those who are sent a link to it are shown of it: no card."""
        ledger = self._house.ledger
        try:
            header = await ledger.ask(ledger.reader.game_header, game) if _may_be_id(game) else None
        except StoreFault:
            return page
        if header is None or not self._is_public(header):
            return page
        variant = self._house.library.variant(header.variant)
        name = variant.name if variant is not None else header.variant
        told = html.escape(name if header.level is None else f"{name} {header.level}")
        tags = (
            f'<meta property="og:title" content="{told}"><meta property="og:site_name" content="Chilkoot">'
            f'<meta property="og:type" content="website"><meta property="og:description" content="A game of solitaire">'
        )
        return file_of(page.kind, page.body.replace(b"</head>", tags.encode() + b"</head>", 1))

    async def _picture(self, game: str, request: Request) -> Response:
        """The table of a game as all who look on see it."""
        house = self._house
        try:
            header = None
            if _may_be_id(game):
                header = await house.ledger.ask(house.ledger.reader.game_header, game)
            live = await house.hub.find(game) if header is not None and self._is_public(header) else None
            if header is None or live is None:
                return _no_game()
            async with live.lock:
                view = (await house.hub.table_of(live)).game.view()
        except StoreFault:
            return _unreadable()
        variant = house.library.variant(header.variant)
        drawn = picture_of(view, self._art, title=variant.name if variant is not None else header.variant)
        return self._send(file_of("image/svg+xml; charset=utf-8", drawn.encode()), request)


@cache
def _protocol_file() -> File:
    return file_of(_JSON, protocol_json())


@cache
def _docs_file() -> File:
    return file_of(HTML, protocol_page(_STYLE).encode())


@cache
def _rules_schema_file() -> File:
    return file_of(_JSON, json.dumps(json_schema(), indent=1, ensure_ascii=False).encode())


def _listed(request: Request, header: str) -> set[str]:
    """The values of a header that is a list, those aside that are expressly not wanted."""
    values = (one for line in request.headers.get_all(header) for one in line.split(","))
    named = (value.replace(" ", "").partition(";") for value in values)
    return {name.removeprefix("W/") for name, _, weight in named if weight not in {"q=0", "q=0.0"}}


def _may_be_id(game: str) -> bool:
    return 1 <= len(game) <= 64 and game.isascii() and game.isprintable()


def _no_game() -> Response:
    return _response(HTTPStatus.NOT_FOUND, _TEXT, "There is no such game, or it is not open to all.\n")


def _unreadable() -> Response:
    return _response(HTTPStatus.SERVICE_UNAVAILABLE, _TEXT, "The record can't be read just now.\n")


def _response(status: HTTPStatus, kind: str, body: str | bytes, *, sockets: str = "") -> Response:
    data = body.encode() if isinstance(body, str) else body
    return Response(
        status.value,
        status.phrase,
        Headers(
            {
                "Date": email.utils.formatdate(usegmt=True),
                "Content-Type": kind,
                "Content-Length": str(len(data)),
                "Connection": "close",
                "Cache-Control": "no-cache",
                "Content-Security-Policy": _POLICY.format(styles=_STYLE_HASHES, sockets=sockets),
                "X-Content-Type-Options": "nosniff",
                "Referrer-Policy": "no-referrer",
            }
        ),
        data,
    )


def _at(host: str, port: int) -> set[str]:
    name = f"[{host}]" if ":" in host else host
    with_port = {f"http://{name}:{port}", f"https://{name}:{port}"}
    return with_port | ({f"http://{name}"} if port == 80 else {f"https://{name}"} if port == 443 else set())


def _own_origins(host: str, port: int) -> set[str]:
    origins: set[str] = set()
    for name in ("localhost", "127.0.0.1", "::1", host.lower()):
        origins |= _at(name, port)
    return origins
