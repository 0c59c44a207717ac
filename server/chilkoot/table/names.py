"""Which names players may have: one check for every way in, so that no name is ever markup, control text or a disguise."""

from __future__ import annotations

import unicodedata
from typing import Final

__all__ = ["NAME_RULE", "clean_name"]

NAME_RULE: Final = "a name has 2 to 20 letters, digits, spaces, `_`, `-` or `.`"

_MARKS: Final = frozenset(" _-.")


def clean_name(text: str) -> str | None:
    """The name as it will be shown, in Unicode's composed form; None where it breaks `NAME_RULE`."""
    name = unicodedata.normalize("NFC", text).strip(" ")
    if not 2 <= len(name) <= 20 or "  " in name or not any(map(_counts, name)):
        return None
    return name if all(letter in _MARKS or _counts(letter) for letter in name) else None


def _counts(letter: str) -> bool:
    """Letters and decimal digits, and the marks that some scripts write their vowels with."""
    kind = unicodedata.category(letter)
    return kind[0] == "L" or kind in {"Nd", "Mn", "Mc"}
