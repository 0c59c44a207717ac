"""Where the values of a MessagePack object begin and end, found without building any of them, however deep they are."""

from __future__ import annotations

from typing import Final

__all__ = ["packed_field"]

_PLAIN: Final = {0xC0: 0, 0xC2: 0, 0xC3: 0, 0xCA: 4, 0xCB: 8} | {
    first + power: more + 2**power
    for first, powers, more in ((0xCC, 4, 0), (0xD0, 4, 0), (0xD4, 5, 1))
    for power in range(powers)
}
"""Bytes that follow the first one: constants, floats, integers, extensions of fixed size."""

_SIZED: Final = {
    first + power: (2**power, more) for first, more in ((0xC4, 0), (0xC7, 1), (0xD9, 0)) for power in range(3)
}
"""Bytes, extensions, strings: in how many bytes their length is written, and what they have beyond it."""

_NESTED: Final = {0xDC: (2, 1), 0xDD: (4, 1), 0xDE: (2, 2), 0xDF: (4, 2)}
"""Arrays and maps: in how many bytes their number of items is written, and how many values an item is."""


def packed_field(frame: bytes, name: str) -> bytes | None:
    """The bytes of one field's value, where the frame begins with a map that has it, whole as far as that."""
    try:
        at, left = _head(frame, 0)
        if not 0x80 <= frame[0] <= 0x8F and frame[0] not in (0xDE, 0xDF):
            return None
        key = bytes([0xA0 + len(name), *name.encode()])
        for _ in range(left // 2):
            middle = _after(frame, at)
            end = _after(frame, middle)
            if frame[at:middle] == key:
                return frame[middle:end]
            at = end
    except IndexError:
        pass
    return None


def _after(frame: bytes, at: int) -> int:
    """Where the value that begins there ends. Raises IndexError where it does not."""
    waiting = 1
    while waiting:
        at, nested = _head(frame, at)
        waiting += nested - 1
    return at


def _head(frame: bytes, at: int) -> tuple[int, int]:
    """Where a value's own bytes end, and how many values belong to it. Raises IndexError where the frame ends before."""
    first, at, nested = frame[at], at + 1, 0
    if 0x80 <= first <= 0x9F:
        nested = (first & 0x0F) * (2 if first < 0x90 else 1)
    elif 0xA0 <= first <= 0xBF:
        at += first & 0x1F
    elif first in _PLAIN:
        at += _PLAIN[first]
    elif first in _SIZED or first in _NESTED:
        width, more = _SIZED.get(first) or _NESTED[first]
        number = int.from_bytes(frame[at : at + width], "big")
        at += width
        if first in _NESTED:
            nested = number * more
        else:
            at += number + more
    elif first == 0xC1:
        raise IndexError(at)
    if at > len(frame):
        raise IndexError(at)
    return at, nested
