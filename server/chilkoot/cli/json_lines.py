"""What `--json` prints: one object a line."""

from __future__ import annotations

import json
from typing import Any

import msgspec

__all__ = ["print_json"]


def print_json(**fields: Any) -> None:
    """Print one object on a line.

    In ASCII: a file's name need be no text of any kind, and half a character can be escaped, but not written.
    """
    print(json.dumps(msgspec.to_builtins(fields), separators=(",", ":")))
