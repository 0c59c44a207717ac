"""What is not shown of a value in a log, a traceback or a test's report: deals, keys and tokens.

A type that has a field of one of these names takes `discreet` for its ``__repr__``; a test looks at all of them.
"""

from __future__ import annotations

from typing import Any, Final

__all__ = ["SECRETS", "discreet"]

SECRETS: Final = frozenset({"body", "cards", "deal", "key", "snapshot", "tip", "token", "watch_key"})
"""Names of fields that hold what would give away a hidden card, or let somebody in; a body is a message that has some."""


def discreet(one: Any) -> str:
    """A struct or named tuple as it is shown: its fields, and of the secret ones only that they are there."""
    names = getattr(one, "__struct_fields__", None) or one._fields
    fields = (
        f"{name}={'…' if name in SECRETS and getattr(one, name) else repr(getattr(one, name))}"
        for name in names
    )
    return f"{type(one).__name__}({', '.join(fields)})"
