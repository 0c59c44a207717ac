"""The documents say what is true: what they show runs, what they list is complete, what they link to is there."""

import argparse
import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from websockets.asyncio.client import ClientConnection, connect

import chilkoot_client
from chilkoot.cli import program
from chilkoot.wire import COMMANDS, CloseCode, ErrorCode
from chilkoot.wire import messages as wire_messages
from chilkoot.wire.messages import Message
from servers import LiveServer, environment

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
PROTOCOL = ROOT / "clients" / "README.md"
PAGES = [README, PROTOCOL, ROOT / "CHANGELOG.md", ROOT / "SECURITY.md", ROOT / "rules" / "README.md"]
DEFAULT_ADDRESS = "ws://127.0.0.1:8640"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    # What an example waits for need not take as long here.
    flags = ("--limit", "race_countdown=0.1", "--limit", "connections_per_address=0")
    with LiveServer(tmp_path_factory.mktemp("server"), *flags) as running:
        yield running


def blocks(page: Path) -> list[tuple[str, str]]:
    """The fenced blocks of a page, each with its language."""
    return re.findall(r"^```(\w*)\n(.*?)^```$", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


def examples() -> list[Any]:
    """Each program that a page shows, with the output it promises in the `text` block that follows."""
    found = []
    for page in (README, PROTOCOL):
        shown = blocks(page)
        for number, (language, text) in enumerate(shown):
            pasted = re.search(r"<<'EOF'\n(.*)^EOF$", text, re.DOTALL | re.MULTILINE)
            if language == "python" or pasted:
                after, expected = shown[number + 1]
                assert after == "text", f"{page}: no output follows example {number}"
                name = f"{page.relative_to(ROOT)}-{number}"
                found.append(pytest.param(pasted[1] if pasted else text, expected, id=name))
    return found


@pytest.mark.parametrize(("code", "expected"), examples())
def test_an_example_prints_what_the_page_says(
    code: str, expected: str, server: LiveServer, tmp_path: Path
) -> None:
    ran = subprocess.run(
        [sys.executable, "-"],
        input=code.replace(DEFAULT_ADDRESS, f"ws://127.0.0.1:{server.port}"),
        capture_output=True,
        text=True,
        env=environment(tmp_path),
        check=False,
    )
    assert (ran.stdout, ran.stderr) == (expected, "")


def test_the_pages_have_examples() -> None:
    assert [str(example.id).rsplit("-", 1)[0] for example in examples()] == [
        "README.md",
        "clients/README.md",
        "clients/README.md",
        "clients/README.md",
    ]


def transcript() -> list[tuple[str, Any]]:
    """The conversation of the protocol page: what is sent, what is received, where the connection is lost."""
    steps: list[tuple[str, Any]] = []
    for language, text in blocks(PROTOCOL):
        if language == "transcript":
            for step in re.split(r"^(?=[-→←])", text, flags=re.MULTILINE)[1:]:
                steps.append((step[0], None if step[0] == "-" else json.loads(step[1:])))
    return steps


def matches(shown: Any, found: Any, known: dict[str, Any]) -> bool:
    """Whether a frame is as shown; a word in capitals stands for what it stood for before."""
    if isinstance(shown, str) and re.fullmatch(r"[A-Z]{3,}[0-9]?", shown):
        return bool(known.setdefault(shown, found) == found)
    if isinstance(shown, dict) and isinstance(found, dict):
        if "..." in shown:
            return True
        return shown.keys() == found.keys() and all(matches(shown[key], found[key], known) for key in shown)
    if isinstance(shown, list) and isinstance(found, list):
        return len(shown) == len(found) and all(
            matches(one, other, known) for one, other in zip(shown, found, strict=True)
        )
    return bool(shown == found) and isinstance(found, bool) == isinstance(shown, bool)


def filled(shown: Any, known: dict[str, Any]) -> str:
    text = json.dumps(shown)
    for word, value in known.items():
        text = text.replace(f'"{word}"', json.dumps(value))
    return text


async def test_the_conversation_of_the_protocol_page_is_a_real_one(server: LiveServer) -> None:
    steps = transcript()
    assert len(steps) == 24
    known: dict[str, Any] = {}
    socket: ClientConnection = await connect(server.url)
    try:
        for kind, shown in steps:
            if kind == "-":
                socket.transport.abort()
                socket = await connect(server.url)
            elif kind == "→":
                await socket.send(filled(shown, known))
            else:
                found = json.loads(await asyncio.wait_for(socket.recv(), 10))
                assert matches(shown, found, known), f"shown {shown}\nfound {found}"
    finally:
        await socket.close()


def table(heading: str, page: Path = PROTOCOL) -> dict[str, list[str]]:
    """A table of a page without its head: the other cells of each row by its first."""
    section = page.read_text(encoding="utf-8").split(f"\n{heading}\n", 1)[1].split("\n## ")[0]
    rows = [line.strip("| ").split("|") for line in section.splitlines() if line.startswith("|")]
    return {row[0].strip(" `"): [cell.strip() for cell in row[1:]] for row in rows[2:]}


def test_every_command_is_listed_with_all_its_fields() -> None:
    listed = table("## Commands")
    assert set(listed) == set(COMMANDS)
    for name, kind in COMMANDS.items():
        cell = re.sub(r"\([^()]*\)", "", listed[name][0])
        named = {field.rstrip("?"): field.endswith("?") for field in re.findall(r"`(\w+\??)`", cell)}
        known = {field.encode_name: not field.required for field in msgspec.structs.fields(kind)}
        del known["id"]
        assert named == known, name


def message_types() -> dict[str, type[Message]]:
    kinds = [getattr(wire_messages, name) for name in wire_messages.__all__]
    return {
        str(kind.__struct_config__.tag): kind
        for kind in kinds
        if isinstance(kind, type) and issubclass(kind, Message) and kind is not Message
    }


def test_every_message_is_listed_with_all_its_fields() -> None:
    listed = table("## What the server says")
    assert set(listed) == set(message_types())
    for name, kind in message_types().items():
        known = set(kind.__struct_encode_fields__) - {"re"}
        named = set(re.findall(r"`(\w+)\??`", " ".join(listed[name])))
        assert known <= named, (name, known - named)


def test_every_code_is_listed() -> None:
    sources = "\n".join(path.read_text() for path in (ROOT / "server" / "chilkoot").rglob("*.py"))
    refusals = set(re.findall(r'Refusal\(\s*"([a-z_]+)"', sources)) - set(ErrorCode)
    assert set(table("## Refusals")) == refusals
    assert set(table("## Errors")) == {str(code) for code in ErrorCode}
    assert set(table("## Close codes")) == {str(int(code)) for code in CloseCode}


def names(listed: dict[str, list[str]]) -> set[str]:
    return {name for cell in listed for name in re.findall(r"\w+", cell)}


async def test_the_limits_that_a_client_is_told_are_explained(server: LiveServer) -> None:
    async with connect(server.url) as socket:
        await socket.send('{"id": 1, "type": "hello"}')
        limits = json.loads(await socket.recv())["limits"]
    assert names(table("## Limits")) == set(limits)


def test_every_public_name_of_the_library_is_listed() -> None:
    assert names(table("## In Python")) == set(chilkoot_client.__all__)


def commands(parser: argparse.ArgumentParser, name: str) -> Iterator[str]:
    groups = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    if not groups:
        yield name
    for group in groups:
        for word, inner in group.choices.items():
            yield from commands(inner, f"{name} {word}")


def test_every_command_of_the_program_is_in_the_readme() -> None:
    listed = table("## The command `chilkoot`", README)
    assert list(listed) == list(commands(program._parser(), "chilkoot"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if target.startswith(("http://", "https://")):
            continue
        path, _, anchor = target.partition("#")
        linked = (page.parent / path).resolve() if path else page
        assert linked.exists(), f"{page}: {target}"
        if anchor:
            headings = re.findall(r"^#+ (.*)$", linked.read_text(encoding="utf-8"), re.MULTILINE)
            anchors = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
            assert anchor in anchors, f"{page}: {target}"


def test_the_promises_of_the_web_client_name_tests_that_there_are() -> None:
    folder = ROOT / "tests" / "browser"
    page = (folder / "README.md").read_text(encoding="utf-8")
    sources = {path.stem.removeprefix("test_browser_"): path.read_text() for path in folder.glob("test_*.py")}
    tests = {name for text in sources.values() for name in re.findall(r"^def test_(\w+)", text, re.MULTILINE)}
    named = {name.replace("…", "a_whole_game") for name in re.findall(r"`([a-z_…]+)`", page)}
    assert named - tests - set(sources) == {"status", "test_browser_"}
    for path in re.findall(r"`([a-z]+/[\w./]+\.py)`", page):
        assert (ROOT / path).is_file(), path
    assert len(re.findall(r"^\| \d+ \|", page, re.MULTILINE)) == 20
