"""Plain HTTP on the port: pages, who may open a WebSocket from where, and a clear word to everything else."""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import json
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPResponse
from typing import Any
from xml.etree import ElementTree

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from caller import Caller, calling
from chilkoot.language import json_schema
from servers import LiveServer


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    flags = (
        "--origin",
        "https://play.example.org",
        "--limit",
        "connections_per_address=0",
        "--limit",
        "new_per_second=0",
    )
    with LiveServer(tmp_path_factory.mktemp("server"), *flags) as running:
        yield running


def fetch(server: LiveServer, path: str, method: str = "GET", **headers: str) -> tuple[HTTPResponse, bytes]:
    connection = HTTPConnection("127.0.0.1", server.port, timeout=10)
    connection.request(method, path, headers=headers)
    response = connection.getresponse()
    body = response.read()
    connection.close()
    return response, body


def test_the_front_page_says_what_this_is_and_how_to_connect(server: LiveServer) -> None:
    response, body = fetch(server, "/")
    assert response.status == 200
    assert response.headers["Content-Type"] == "text/html; charset=utf-8"
    policy = response.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert int(response.headers["Content-Length"]) == len(body)
    text = body.decode()
    assert '<script type="module" src="/app.js">' in text
    assert '<a href="/plain">' in text


def test_who_has_no_scripts_is_told_how_to_connect(server: LiveServer) -> None:
    text = fetch(server, "/plain")[1].decode()
    assert f"ws://127.0.0.1:{server.port}/ws" in text
    assert '<a href="/rules/yukon">' in text


def test_the_snippet_on_the_plain_page_works(server: LiveServer) -> None:
    text = fetch(server, "/plain")[1].decode()
    match = re.search(r"<pre>(.*?)</pre>", text, re.DOTALL)
    assert match is not None
    done = subprocess.run(
        [sys.executable, "-c", html.unescape(match[1])],
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    assert json.loads(done.stdout)["type"] == "snapshot"


@pytest.mark.parametrize("path", ("/games/x", "/replay/x", "/races/x", "/daily"))
def test_the_page_of_a_game_is_the_front_page(server: LiveServer, path: str) -> None:
    assert fetch(server, path)[1] == fetch(server, "/")[1]


@pytest.mark.parametrize(
    ("path", "kind"),
    (
        ("/app.js", "text/javascript; charset=utf-8"),
        ("/style.css", "text/css; charset=utf-8"),
        ("/icon.svg", "image/svg+xml; charset=utf-8"),
        ("/manifest.webmanifest", "application/manifest+json"),
    ),
)
def test_files_have_the_types_that_browsers_ask_for(server: LiveServer, path: str, kind: str) -> None:
    response, body = fetch(server, path)
    assert (response.status, response.headers["Content-Type"]) == (200, kind)
    tag = response.headers["ETag"]
    again, nothing = fetch(server, path, **{"If-None-Match": f'"other", W/{tag}'})
    assert (again.status, nothing, again.headers["ETag"]) == (304, b"", tag)
    packed, squeezed = fetch(server, path, **{"Accept-Encoding": "br, gzip;q=0.5"})
    assert packed.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(squeezed) == body
    plain, same = fetch(server, path, **{"Accept-Encoding": "gzip;q=0"})
    assert (plain.headers["Content-Encoding"], same) == (None, body)


def test_scripts_make_no_markup_and_come_from_here_only(server: LiveServer) -> None:
    policy = fetch(server, "/")[0].headers["Content-Security-Policy"]
    assert "script-src 'self';" in policy
    assert "require-trusted-types-for 'script'" in policy
    assert "unsafe" not in policy


async def test_the_picture_of_a_table_is_served_for_games_that_are_open_to_all(server: LiveServer) -> None:
    async with calling(server.url) as caller:
        for watch in ("open", "key", "closed"):
            table = await caller.ask("new", variant="yukon-cells", deal="ck:5", watch=watch)
            response, body = fetch(server, f"/deals/{table['game']}.svg")
            assert response.status == (200 if watch == "open" else 404)
            if watch != "open":
                continue
            assert response.headers["Content-Type"] == "image/svg+xml; charset=utf-8"
            root = ElementTree.fromstring(body)
            assert root.find("{http://www.w3.org/2000/svg}title").text == "Yukon Cells"  # type: ignore[union-attr]
            shown = [use.get("href") for use in root.iter("{http://www.w3.org/2000/svg}use")]
            hidden = sum(card == "??" for pile in table["piles"].values() for card in pile)
            assert shown.count("#back") == hidden == 21
            assert "var(" not in body.decode()
            names = {part.get("id") for part in root.iter()}
            assert {href.removeprefix("#") for href in shown if href} <= names


async def test_a_link_to_a_game_that_is_open_to_all_tells_its_name(server: LiveServer) -> None:
    async with connect(server.url) as socket:
        for number, watch in enumerate(("open", "closed"), 1):
            await socket.send(
                json.dumps(
                    {"id": number, "type": "new", "variant": "yukon-thicket", "level": 3, "watch": watch}
                )
            )
            game = json.loads(await socket.recv())["game"]
            for path in (f"/games/{game}", f"/replay/{game}"):
                page = fetch(server, path)[1].decode()
                is_named = '<meta property="og:title" content="Yukon Thicket 3">' in page
                assert is_named == (watch == "open")


def test_a_hostile_host_is_not_shown(server: LiveServer) -> None:
    _, body = fetch(server, "/", Host='x"><script>alert(1)</script>')
    assert b"alert" not in body


@pytest.mark.parametrize(
    ("path", "text"), (("/healthz", b"ok\n"), ("/readyz", b"ready\n"), ("/healthz?x=1", b"ok\n"))
)
def test_health_is_told(server: LiveServer, path: str, text: bytes) -> None:
    response, body = fetch(server, path)
    assert (response.status, body) == (200, text)


def test_the_schema_of_the_rules_language_is_served_for_editors(server: LiveServer) -> None:
    response, body = fetch(server, "/rules.schema.json")
    assert (response.status, response.headers["Content-Type"]) == (200, "application/json")
    assert json.loads(body) == json_schema()
    assert fetch(server, "/rules.schema.json", **{"If-None-Match": response.headers["ETag"]})[0].status == 304


def test_rules_are_shown_as_a_page(server: LiveServer) -> None:
    response, body = fetch(server, "/rules/yukon-thicket")
    assert response.status == 200
    assert response.headers["Content-Type"] == "text/html; charset=utf-8"
    page = body.decode()
    assert "<h1>Yukon Thicket</h1>" in page
    assert "dsl: 1" in page
    # The policy of the page lets its style in, and nothing else.
    style = page.split("<style>")[1].split("</style>")[0]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"'sha256-{digest}'" in response.headers["Content-Security-Policy"]
    assert fetch(server, "/rules/yukon-thicket")[1] == body


@pytest.mark.parametrize(
    "path",
    ("/nope", "/deals/x.svg", "/deals/.svg", "/.gitkeep", "/rules/nope", "/rules/../../etc/passwd", "/rules/%2e%2e%2fyukon", "/rules/", "/recordings/x.json",
     "/recordings/.json", "/recordings/%00.json", "/../config.py", "/%2e%2e/pyproject.toml", "//etc/passwd", "/index.html/..",
     "/recordings/" + "A" * 3000 + ".json"),
)  # fmt: skip
def test_what_is_not_there_is_told_so(server: LiveServer, path: str) -> None:
    response, body = fetch(server, path)
    assert response.status == 404
    assert response.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert b"There is no such" in body


@pytest.mark.parametrize("path", ("/", "/healthz", "/rules/yukon", "/nope", "/ws"))
def test_head_is_get_without_the_body(server: LiveServer, path: str) -> None:
    full, body = fetch(server, path)
    head, nothing = fetch(server, path, "HEAD")
    assert (head.status, nothing) == (full.status, b"")
    assert head.headers["Content-Length"] == str(len(body))


@pytest.mark.parametrize("method", ("POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "CONNECT"))
@pytest.mark.parametrize("path", ("/", "/ws", "/nope"))
def test_other_methods_are_not_allowed(server: LiveServer, method: str, path: str) -> None:
    response, body = fetch(server, path, method)
    assert response.status == 405
    assert response.headers["Allow"] == "GET, HEAD"
    assert body == b"Only GET and HEAD are served here.\n"


def test_a_post_with_a_body_is_answered_too(server: LiveServer) -> None:
    connection = HTTPConnection("127.0.0.1", server.port, timeout=10)
    connection.request("POST", "/", body=b"x" * 1000)
    assert connection.getresponse().status == 405
    connection.close()


def test_the_endpoint_says_that_it_is_for_websockets(server: LiveServer) -> None:
    response, body = fetch(server, "/ws")
    assert response.status == 426
    assert response.headers["Upgrade"] == "websocket"
    assert b"WebSockets connect" in body


async def test_recordings_are_served_for_games_that_are_open_to_all(server: LiveServer) -> None:
    async with calling(server.url) as caller:
        for watch in ("open", "key", "closed"):
            table = await caller.ask("new", variant="yukon", deal="ck:5", watch=watch)
            path = f"/recordings/{table['game']}.json"
            response, body = fetch(server, path)
            assert response.status == (200 if watch == "open" else 404)
            if watch == "open":
                live = json.loads(body)
                assert live["format"] == "chilkoot-live-recording/1"
                assert b"ck:5" not in body
                await caller.ask("give_up", game=table["game"], base=0)
                told = (await caller.ask("recording", game=table["game"]))["recording"]
                response, body = fetch(server, path)
                assert json.loads(body) == told
                assert told["deal"] == "ck:5"
                assert response.headers["Content-Type"] == "application/json"


def origins(port: int) -> list[tuple[str | None, bool]]:
    return [
        (None, True),
        (f"http://127.0.0.1:{port}", True),
        (f"http://localhost:{port}", True),
        (f"http://[::1]:{port}", True),
        ("https://play.example.org", True),
        ("https://PLAY.example.org", True),
        ("http://play.example.org", False),
        ("https://play.example.org.evil.example", False),
        ("https://evil.example", False),
        (f"http://localhost.evil.example:{port}", False),
        (f"http://evil.example:{port}", False),
        ("http://localhost:1", False),
        ("http://localhost", False),
        ("null", False),
        ("", False),
        ("file://", False),
    ]


async def test_only_pages_of_known_origins_may_connect(server: LiveServer) -> None:
    for origin, welcome in origins(server.port):
        headers = {} if origin is None else {"Origin": origin}
        if welcome:
            async with connect(server.url, additional_headers=headers) as opened:
                assert (await Caller(opened).ask("ping"))["type"] == "pong"
        else:
            with pytest.raises(InvalidStatus) as refused:
                await connect(server.url, additional_headers=headers)
            assert refused.value.response.status_code == 403, origin


async def test_a_name_that_was_made_to_lead_here_is_not_our_own(server: LiveServer) -> None:
    name = f"evil.example:{server.port}"
    with pytest.raises(InvalidStatus) as refused:
        await connect(server.url, additional_headers={"Origin": f"http://{name}", "Host": name})
    assert refused.value.response.status_code == 403


def upgrade(server: LiveServer, *lines: str) -> bytes:
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as plain:
        head = [
            "GET /ws HTTP/1.1", "Host: x", "Upgrade: websocket", "Connection: Upgrade",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version: 13", *lines, "", "",
        ]  # fmt: skip
        plain.sendall("\r\n".join(head).encode())
        return plain.recv(65536)


def test_two_origins_are_one_too_many(server: LiveServer) -> None:
    own = f"Origin: http://localhost:{server.port}"
    assert upgrade(server, own).startswith(b"HTTP/1.1 101")
    assert upgrade(server, own, "Origin: http://evil.example").startswith(b"HTTP/1.1 400")


@pytest.mark.parametrize(
    ("offered", "chosen"),
    (
        ([], None),
        (["chilkoot.v1.json"], "chilkoot.v1.json"),
        (["chilkoot.v1.msgpack"], "chilkoot.v1.msgpack"),
        (["chilkoot.v1.msgpack", "chilkoot.v1.json"], "chilkoot.v1.msgpack"),
        (["other", "chilkoot.v1.json"], "chilkoot.v1.json"),
    ),
)
async def test_a_known_subprotocol_is_chosen(server: LiveServer, offered: Any, chosen: str | None) -> None:
    async with connect(server.url, subprotocols=offered or None) as opened:
        assert opened.subprotocol == chosen


async def test_unknown_subprotocols_alone_are_refused(server: LiveServer) -> None:
    with pytest.raises(InvalidStatus) as refused:
        await connect(server.url, subprotocols=["chilkoot.v2.json", "graphql-ws"])  # type: ignore[list-item]
    assert refused.value.response.status_code == 400
    assert b"chilkoot.v1.json" in (refused.value.response.body or b"")


async def test_compression_is_never_agreed_on(server: LiveServer) -> None:
    async with connect(server.url, compression="deflate") as opened:
        assert opened.response is not None
        assert "Sec-WebSocket-Extensions" not in opened.response.headers


async def test_another_path_is_no_endpoint(server: LiveServer) -> None:
    with pytest.raises(InvalidStatus) as refused:
        await connect(server.url.removesuffix("/ws") + "/socket")
    assert refused.value.response.status_code == 404
