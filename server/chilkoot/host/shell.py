"""The web client's files, read once: a request names one of them or none, and never a path."""

from __future__ import annotations

import gzip
import hashlib
import mimetypes
from pathlib import Path
from typing import Final

import msgspec

from chilkoot.data import web_folder
from chilkoot.discretion import discreet

__all__ = ["HTML", "File", "file_of", "is_page", "web_files"]

HTML: Final = "text/html; charset=utf-8"

_KINDS: Final = {
    ".html": HTML,
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml; charset=utf-8",
    ".webmanifest": "application/manifest+json",
}
"""Types that must not depend on what the machine's own list says: a browser runs no script of another type."""


class File(msgspec.Struct, frozen=True):
    """What is sent for one address, plain and compressed, and the tag by which a browser asks whether it has changed."""

    kind: str
    body: bytes
    packed: bytes
    tag: str

    __repr__ = discreet


def file_of(kind: str, body: bytes) -> File:
    """A file made of its bytes."""
    return File(kind, body, gzip.compress(body, 9, mtime=0), f'"{hashlib.sha256(body).hexdigest()[:20]}"')


def web_files() -> dict[str, File]:
    """The web client's files by address; none where this copy has no web client."""
    try:
        folder = web_folder()
    except FileNotFoundError:
        return {}
    if not (folder / "index.html").is_file():
        return {}
    return {
        f"/{path.relative_to(folder).as_posix()}": file_of(_kind(path), path.read_bytes())
        for path in folder.rglob("*")
        if path.is_file() and not path.name.startswith(".")
    }


def is_page(path: str) -> bool:
    """Whether an address is one that the client's single page answers to."""
    return path in {"/", "/daily"} or path.startswith(("/games/", "/replay/", "/races/"))


def _kind(path: Path) -> str:
    return _KINDS.get(path.suffix) or mimetypes.guess_type(path.name)[0] or "application/octet-stream"
