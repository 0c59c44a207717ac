"""The YAML language server as an editor uses it: a process, requests over its standard input, answers as they come."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path
from queue import Empty, Queue
from typing import Any, Final, Self

__all__ = ["VERSION", "LanguageServer", "install"]

VERSION: Final = "1.25.0"
_SETTINGS: Final = {
    "yaml": {
        "validate": True,
        "hover": True,
        "completion": True,
        # Nothing is fetched: the schema is the one that the file names.
        "schemaStore": {"enable": False},
        "kubernetesCRDStore": {"enable": False},
    }
}
_SECONDS: Final = 30


def install(folder: Path) -> Path:
    """The server's program, taken from npm once. Raises OSError or CalledProcessError where that can't be done."""
    place = folder / VERSION
    if not place.is_dir():
        with tempfile.TemporaryDirectory(dir=folder) as made:
            command = [
                "npm",
                "install",
                "--no-audit",
                "--no-fund",
                "--prefix",
                made,
                f"yaml-language-server@{VERSION}",
            ]
            subprocess.run(command, check=True, capture_output=True, timeout=120)
            try:
                Path(made).rename(place)
            except OSError:
                # Another process was faster.
                if not place.is_dir():
                    raise
            else:
                # The temporary folder is expected to be there in the end.
                Path(made).mkdir()
    return place / "node_modules" / "yaml-language-server" / "bin" / "yaml-language-server"


class LanguageServer:
    """One server with the documents that were opened in it. Places are line and character, counted from 0."""

    def __init__(self, program: Path) -> None:
        node = shutil.which("node")
        assert node is not None
        self._process = subprocess.Popen(
            [node, str(program), "--stdio"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={"PATH": os.environ.get("PATH", ""), "HOME": os.environ.get("HOME", "/")},
        )
        self._messages: Queue[dict[str, Any]] = Queue()
        self._diagnostics: dict[str, list[dict[str, Any]]] = {}
        self._versions: dict[str, int] = {}
        self._number = 0
        threading.Thread(target=self._read, daemon=True).start()
        capabilities = {
            "textDocument": {
                "completion": {"completionItem": {"documentationFormat": ["markdown"]}},
                "hover": {"contentFormat": ["markdown"]},
            },
            "workspace": {"configuration": True},
        }
        self._ask("initialize", {"processId": None, "rootUri": None, "capabilities": capabilities})
        self._send("initialized", {})
        self._send("workspace/didChangeConfiguration", {"settings": _SETTINGS})

    def open(self, path: Path, text: str) -> list[dict[str, Any]]:
        """Open a document, or change one that is open; what the server has to say about it."""
        return self.open_all({path: text})[path]

    def open_all(self, texts: Mapping[Path, str]) -> dict[Path, list[dict[str, Any]]]:
        """The same with many documents at once."""
        for path, text in texts.items():
            uri = path.as_uri()
            version = self._versions[uri] = self._versions.get(uri, 0) + 1
            self._diagnostics.pop(uri, None)
            if version == 1:
                document = {"uri": uri, "languageId": "yaml", "version": version, "text": text}
                self._send("textDocument/didOpen", {"textDocument": document})
            else:
                about = {"uri": uri, "version": version}
                self._send(
                    "textDocument/didChange", {"textDocument": about, "contentChanges": [{"text": text}]}
                )
        while not self._diagnostics.keys() >= {path.as_uri() for path in texts}:
            self._take()
        return {path: self._diagnostics[path.as_uri()] for path in texts}

    def completion(self, path: Path, line: int, character: int) -> dict[str, str]:
        """What the server offers at a place, with what it tells of it."""
        found = self._ask("textDocument/completion", _at(path, line, character))
        items = found["items"] if isinstance(found, dict) else found or []
        told = {item["label"]: item.get("documentation") or "" for item in items}
        return {label: text["value"] if isinstance(text, dict) else text for label, text in told.items()}

    def hover(self, path: Path, line: int, character: int) -> str:
        """What the server tells of the word at a place."""
        found = self._ask("textDocument/hover", _at(path, line, character))
        return "" if found is None else str(found["contents"]["value"])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()

    def _ask(self, method: str, params: dict[str, Any]) -> Any:
        self._number += 1
        number = self._number
        self._send(method, params, id=number)
        while True:
            message = self._take()
            if message.get("id") == number and "method" not in message:
                assert "error" not in message, message
                return message["result"]

    def _send(self, method: str, params: dict[str, Any], **more: Any) -> None:
        self._write({"jsonrpc": "2.0", "method": method, "params": params, **more})

    def _write(self, message: dict[str, Any]) -> None:
        body = json.dumps(message).encode()
        assert self._process.stdin is not None
        self._process.stdin.write(f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
        self._process.stdin.flush()

    def _take(self) -> dict[str, Any]:
        """The next message, once what it asks of an editor has been answered."""
        try:
            message = self._messages.get(timeout=_SECONDS)
        except Empty:
            raise AssertionError("the language server says nothing any more") from None
        if message.get("method") == "textDocument/publishDiagnostics":
            self._diagnostics[message["params"]["uri"]] = message["params"]["diagnostics"]
        elif "method" in message and "id" in message:
            result = None
            if message["method"] == "workspace/configuration":
                result = [_SETTINGS.get(item["section"]) for item in message["params"]["items"]]
            self._write({"jsonrpc": "2.0", "id": message["id"], "result": result})
        return message

    def _read(self) -> None:
        out = self._process.stdout
        assert out is not None
        while header := out.readline():
            length = int(header.partition(b":")[2])
            while out.readline().strip():
                pass
            self._messages.put(json.loads(out.read(length)))


def _at(path: Path, line: int, character: int) -> dict[str, Any]:
    return {"textDocument": {"uri": path.as_uri()}, "position": {"line": line, "character": character}}
