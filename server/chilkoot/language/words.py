"""Words in messages: the nearest known word, quoted words, lists of them."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["listed", "nearest", "plural", "quoted", "shortened"]

_LONGEST = 40


def shortened(text: str) -> str:
    """Text short enough for a message, on one line, without characters that a terminal would obey."""
    line = "".join(letter if letter.isprintable() else " " for letter in text)
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"


def quoted(text: str) -> str:
    """A word of the file in double quotes."""
    return f'"{shortened(text)}"'


def listed(words: Iterable[str], joint: str = "or") -> str:
    """Words as a sentence lists them: ``any, none or single``."""
    every = list(words)
    return every[0] if len(every) == 1 else f"{', '.join(every[:-1])} {joint} {every[-1]}"


def plural(number: int, noun: str) -> str:
    """A number and its noun: ``1 card``, ``7 cards``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that `word` most likely stands for, or None where none is near."""
    if len(word) > _LONGEST:
        return None
    plain = _plain(word)
    best, least = None, _LONGEST
    for one in known:
        # A third of the letters may differ: "colums" is columns, "no" is not none.
        most = min(max(len(plain), len(one)) // 3, least - 1)
        if abs(len(plain) - len(one)) > most or len(set(plain) - set(other := _plain(one))) > most:
            continue
        if (distance := _distance(plain, other)) <= most:
            best, least = one, distance
    return best


def _plain(word: str) -> str:
    return word.lower().replace("-", "_").replace(" ", "_")


def _distance(one: str, other: str) -> int:
    """Letters to change, add, leave out or swap with their neighbour."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        two_before, before, row = before, row, [i]
        for j, wanted in enumerate(other, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != wanted))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == wanted:
                cost = min(cost, two_before[j - 2] + 1)
            row.append(cost)
    return row[-1]
