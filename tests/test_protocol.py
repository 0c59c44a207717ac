"""The published protocol: the AsyncAPI document says exactly what is decoded and sent, and the page says the same."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from caller import Caller, Frame, calling
from chilkoot.host.metrics import Histogram
from chilkoot.host.reference import protocol_page
from chilkoot.wire import COMMANDS, CloseCode, ErrorCode
from chilkoot.wire.asyncapi import EVENTS, MESSAGES, REPLIES, protocol_document
from servers import LiveServer

README = Path(__file__).parents[1] / "clients" / "README.md"
DOCUMENT = protocol_document("test")
KINDS: dict[str, Any] = {
    "object": dict, "array": list, "string": str, "boolean": bool, "integer": int, "number": (int, float), "null": type(None)
}  # fmt: skip


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    with LiveServer(tmp_path_factory.mktemp("server")) as running:
        yield running


def found(reference: str) -> Any:
    """What a reference within the document leads to."""
    assert reference.startswith("#/"), reference
    place = DOCUMENT
    for step in reference[2:].split("/"):
        place = place[step]
    return place


def wrong(schema: dict[str, Any], value: Any, at: str = "$") -> list[str]:
    """What does not fit a schema; also what a schema does not speak of, which is what drift would look like."""
    if "$ref" in schema:
        return wrong(found(schema["$ref"]), value, at)
    if "anyOf" in schema:
        tried = [wrong(one, value, at) for one in schema["anyOf"]]
        return [] if [] in tried else [line for lines in tried for line in lines]
    if "enum" in schema:
        return [] if value in schema["enum"] else [f"{at}: {value!r} is none of {schema['enum']}"]
    kind = schema.get("type")
    if kind is not None and (
        not isinstance(value, KINDS[kind]) or isinstance(value, bool) != (kind == "boolean")
    ):
        return [f"{at}: {value!r} is no {kind}"]
    said: list[str] = []
    if kind == "array":
        for place, one in enumerate(value):
            said += wrong(schema.get("items", {}), one, f"{at}[{place}]")
    if kind == "object":
        known, others = schema.get("properties", {}), schema.get("additionalProperties")
        said += [f"{at}: {name} is missing" for name in schema.get("required", ()) if name not in value]
        for name, one in value.items():
            if name in known:
                said += wrong(known[name], one, f"{at}.{name}")
            elif isinstance(others, dict):
                said += wrong(others, one, f"{at}.{name}")
            elif known:
                said.append(f"{at}: nothing is said of {name}")
    return said


def payload(name: str) -> dict[str, Any]:
    schema: dict[str, Any] = DOCUMENT["components"]["messages"][name]["payload"]
    return schema


# the document


def test_every_reference_leads_somewhere_and_everything_is_referred_to() -> None:
    references = re.findall(r'"\$ref": "([^"]+)"', json.dumps(DOCUMENT))
    for one in references:
        found(one)
    for kind in ("messages", "schemas"):
        unused = {f"#/components/{kind}/{name}" for name in DOCUMENT["components"][kind]} - set(references)
        assert unused == set()


def test_the_document_has_the_parts_that_asyncapi_3_asks_for() -> None:
    allowed = {
        "": {"asyncapi", "id", "info", "servers", "defaultContentType", "channels", "operations", "components"},
        "info": {"title", "version", "description", "termsOfService", "contact", "license", "tags", "externalDocs"},
        "channel": {"address", "messages", "title", "summary", "description", "servers", "parameters", "tags", "externalDocs", "bindings"},
        "operation": {"action", "channel", "title", "summary", "description", "security", "tags", "externalDocs", "bindings", "traits", "messages", "reply"},
        "message": {"headers", "payload", "correlationId", "contentType", "name", "title", "summary", "description", "tags", "externalDocs", "bindings", "examples", "traits"},
    }  # fmt: skip

    def keeps_to(kind: str, part: dict[str, Any], *needed: str) -> None:
        assert {name for name in part if not name.startswith("x-")} <= allowed[kind]
        assert set(needed) <= set(part)

    assert DOCUMENT["asyncapi"] == "3.0.0"
    keeps_to("", DOCUMENT, "asyncapi", "info")
    keeps_to("info", DOCUMENT["info"], "title", "version")
    for channel in DOCUMENT["channels"].values():
        keeps_to("channel", channel)
    on_channel = {f"#/channels/table/messages/{name}" for name in DOCUMENT["channels"]["table"]["messages"]}
    for operation in DOCUMENT["operations"].values():
        keeps_to("operation", operation, "action", "channel")
        assert operation["action"] in {"send", "receive"}
        # Messages of an operation have to be named by way of its channel.
        assert {one["$ref"] for one in operation["messages"]} <= on_channel
        if "reply" in operation:
            assert {one["$ref"] for one in operation["reply"]["messages"]} <= on_channel
    # AsyncAPI's discriminator is a name, not the object that msgspec writes.
    assert '"propertyName"' not in json.dumps(DOCUMENT)
    for message in DOCUMENT["components"]["messages"].values():
        keeps_to("message", message, "name", "payload")


def test_every_command_and_message_is_there_with_its_answers() -> None:
    assert set(REPLIES) == set(COMMANDS)
    assert {answer for answers in REPLIES.values() for answer in answers} | set(EVENTS) == set(MESSAGES)
    assert set(DOCUMENT["components"]["messages"]) == {f"{name}.command" for name in COMMANDS} | set(MESSAGES)
    assert set(DOCUMENT["x-error-codes"]) == {str(code) for code in ErrorCode}
    assert set(DOCUMENT["x-close-codes"]) == {str(int(code)) for code in CloseCode}


def test_the_answers_are_those_that_the_page_for_client_authors_names() -> None:
    section = README.read_text().split("\n## Commands\n", 1)[1].split("\n## ")[0]
    rows = [line.strip("| ").split("|") for line in section.splitlines() if line.startswith("| `")]
    assert {row[0].strip(" `") for row in rows} == set(REPLIES)
    for name, _, answer in rows:
        named = set(re.findall(r"`(\w+)`", answer)) & set(MESSAGES)
        answers = set(REPLIES[name.strip(" `")])
        assert answers & named, name
        # What follows a reply is an event.
        assert named - answers <= set(EVENTS), name


def test_the_document_says_of_every_field_what_it_may_hold() -> None:
    untold = {
        f"{name}.{field}"
        for name, schema in DOCUMENT["components"]["schemas"].items()
        for field, told in schema.get("properties", {}).items()
        if not told
    }
    # What rules are compiled to and what a recording is are formats of their own.
    assert untold == {"RulesReply.compiled", "RecordingReply.recording"}
    hint, table = (found(f"#/components/schemas/{name}")["properties"] for name in ("HintReply", "Snapshot"))
    assert hint["action"]["enum"] == ["draw", "home", "move", "none"]
    assert table["winnable"]["enum"] == ["not_proved", "proved"]


def test_a_command_refuses_what_it_does_not_know_and_a_message_may_grow() -> None:
    for name in COMMANDS:
        assert found(payload(f"{name}.command")["$ref"])["additionalProperties"] is False
    for name in MESSAGES:
        assert "additionalProperties" not in found(payload(name)["$ref"])


class Checked(Caller):
    """A caller that holds every frame against the document, both ways."""

    seen: set[str]

    async def send(self, kind: str, number: int | None = None, **fields: Any) -> int:
        named = {key.rstrip("_"): value for key, value in fields.items()}
        assert wrong(payload(f"{kind}.command"), {"type": kind, "id": 1, **named}) == []
        return await super().send(kind, number, **fields)

    async def next(self) -> Frame:
        frame = await super().next()
        assert wrong(payload(frame["type"]), frame) == []
        self.seen.add(frame["type"])
        return frame

    async def asks(self, kind: str, **fields: Any) -> Frame:
        """Ask, and see that what answers is what the document says."""
        reply = await self.ask(kind, **fields)
        assert reply["type"] in (*REPLIES[kind], "error"), (kind, reply)
        return reply


async def test_a_whole_conversation_is_as_the_document_says(server: LiveServer) -> None:
    async with calling(server.url) as one, calling(server.url) as two:
        caller, other = Checked(one.socket, one.ids), Checked(two.socket, two.ids)
        caller.seen = other.seen = set()
        await caller.asks("hello", name="Ann")
        for kind in ("variants", "stats", "games", "ping", "watchable", "daily", "leaderboard"):
            await caller.asks(kind)
        await caller.asks("rules", variant="yukon-thicket")
        table = await caller.asks("new", variant="yukon", deal="ck:0")
        game = table["game"]
        await other.asks("join", game=game)
        await caller.event("presence")
        for kind in ("sync", "legal", "hint", "recording"):
            await caller.asks(kind, game=game)
        await caller.asks("tap", game=game, base=0, pile="t2", n=2)
        await caller.asks("move", game=game, base=0, from_="t3", to="f1")
        await caller.asks("move", game=game, base=0, from_="t3", to="f")
        await caller.asks("move", game=game, base=0, from_="t3", to="f")
        for seq, kind in enumerate(("undo", "redo", "home", "draw", "auto"), 1):
            await caller.asks(kind, game=game, base=seq)
        await other.event("diff")
        await caller.asks("watch", game=game, watch="key")
        await other.event("dismissed")
        seq = (await caller.asks("sync", game=game))["seq"]
        await caller.asks("give_up", game=game, base=seq)
        await caller.asks("replay", game=game, speed=1000)
        await caller.event("replay_end")
        await caller.asks("games")
        await caller.asks("restart", game=game)
        await caller.asks("leave", game=game)
        race = await caller.asks("race", variant="yukon", seats=2)
        joined = await other.asks("race_join", race=race["race"], key=race["key"])
        await caller.event("race_progress")
        await caller.asks("rematch", race=race["race"])
        for seated in (caller, other):
            await seated.asks("race_leave", race=joined["race"])
        await caller.asks("daily_start")
        # This server has no dailies and does not stop; an analysis takes its time.
        assert caller.seen >= set(MESSAGES) - {"draining", "daily", "leaderboard", "analysis"}


# the page


class Anchors(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        given = dict(attrs)
        self.ids += [given["id"]] if given.get("id") else []  # type: ignore[list-item]
        self.links += [given["href"]] if given.get("href") else []  # type: ignore[list-item]


def test_the_page_tells_of_everything_and_its_links_lead_somewhere() -> None:
    page = protocol_page("body{}")
    anchors = Anchors()
    anchors.feed(page)
    assert len(anchors.ids) == len(set(anchors.ids))
    assert {link.removeprefix("#") for link in anchors.links if link.startswith("#")} <= set(anchors.ids)
    assert {f"command-{name}" for name in COMMANDS} | {f"message-{name}" for name in MESSAGES} <= set(
        anchors.ids
    )
    assert all(f"<code>{code}</code>" in page for code in ErrorCode)
    assert "script" not in anchors.tags
    assert "base</code> integer" in page


async def test_document_and_page_are_served(server: LiveServer) -> None:
    def fetched(path: str) -> tuple[str, str, str]:
        with urlopen(f"http://127.0.0.1:{server.port}{path}") as response:
            policy = response.headers["Content-Security-Policy"]
            return response.headers["Content-Type"], policy, response.read().decode()

    kind, _, text = await asyncio.to_thread(fetched, "/protocol.json")
    assert kind == "application/json"
    given = json.loads(text)
    assert given["components"] == json.loads(json.dumps(DOCUMENT["components"]))
    kind, policy, text = await asyncio.to_thread(fetched, "/docs")
    assert kind == "text/html; charset=utf-8"
    assert "default-src 'none'" in policy
    assert "/protocol.json" in text


# what the server counts


def samples(text: str) -> dict[str, float]:
    """The numbers of an exposition, each by its name and labels; fails where a line is none."""
    pattern = re.compile(r'(chilkoot_[a-z_]+(?:\{[a-z]+="[^"\\]*"\})?) ([0-9.]+)')
    told: dict[str, float] = {}
    for line in text.splitlines():
        if line.startswith("# "):
            assert re.fullmatch(
                r"# (HELP chilkoot_[a-z_]+ .+|TYPE chilkoot_[a-z_]+ (gauge|counter|histogram))", line
            )
            continue
        match = pattern.fullmatch(line)
        assert match is not None, line
        assert match[1] not in told
        told[match[1]] = float(match[2])
    return told


async def test_the_numbers_rise_with_what_happens_and_name_nothing(server: LiveServer) -> None:
    def metrics() -> str:
        with urlopen(f"http://127.0.0.1:{server.port}/metrics") as response:
            assert response.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
            return str(response.read().decode())

    before = samples(await asyncio.to_thread(metrics))
    async with calling(server.url) as caller:
        welcome = await caller.ask("hello", name="Ann")
        table = await caller.ask("new", variant="yukon", deal="ck:0")
        await caller.move(table, "t3 1 f1")
        await caller.move(table, "t3 1 f")
        await caller.move(table, "t3 1 f")
        await caller.raw('{"type": "nwe", "id": 900}')
        text = await asyncio.to_thread(metrics)
    after = samples(text)

    def rise(name: str) -> float:
        return after.get(name, 0) - before.get(name, 0)

    assert rise("chilkoot_actions_total") == 1
    assert rise('chilkoot_refusals_total{code="wrong_suit"}') == 1
    assert rise('chilkoot_errors_total{code="stale"}') == 1
    assert rise('chilkoot_errors_total{code="unknown_type"}') == 1
    assert after["chilkoot_connections"] == 1
    assert after["chilkoot_games_in_memory"] >= 1
    # The hello, the game, the action and three answers that are kept.
    assert rise("chilkoot_commit_seconds_count") >= 4
    assert rise("chilkoot_commit_batch_units_count") >= 4
    assert not [
        one for one in (table["game"], table["key"], welcome["token"], welcome["session"]) if one in text
    ]
    assert "Ann" not in text


def test_a_histogram_counts_what_is_at_most_each_bound() -> None:
    histogram = Histogram((1, 2))
    for value in (0.5, 1, 1.5, 7):
        histogram.add(value)
    assert histogram.lines("n") == [
        'n_bucket{le="1"} 2',
        'n_bucket{le="2"} 3',
        'n_bucket{le="+Inf"} 4',
        "n_sum 10.000000",
        "n_count 4",
    ]
