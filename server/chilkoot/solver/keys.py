"""The key of a table in flat arrays: exact, the same however piles that are alike are ordered, and found again in a table.

A state is the same as another only if every card lies the same, so an exhausted search is a proof and no hash can spoil it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chilkoot.solver import problem as p
from chilkoot.solver.compiled import Bits, Cards, Ints, compiled
from chilkoot.solver.settle import alike

__all__ = ["before", "find", "hash_of", "pack", "refill", "unpack", "words_of"]

COLUMNS, CELLS, RESERVES, FOUNDATIONS = p.COLUMNS, p.CELLS, p.RESERVES, p.FOUNDATIONS
ONE = np.uint64(1)


def words_of(piles: int, cards: int) -> int:
    """64-bit words that a state's key takes: the pile sizes, pass, returned card, and every card."""
    return (piles + 2 + cards + 7) // 8


@compiled
def before(held: Cards, sizes: Ints, left: int, right: int) -> bool:
    """Whether one column comes before another in a key: by its cards, bottom first."""
    for i in range(min(sizes[left], sizes[right])):
        if held[left, i] != held[right, i]:
            return held[left, i] < held[right, i]
    return sizes[left] < sizes[right]


@compiled
def pack(ints: Ints, held: Cards, sizes: Ints, octets: NDArray[np.uint8], order: Ints) -> None:
    """The state as the bytes of a key: piles in order, those that are alike sorted among themselves."""
    piles = ints[p.PILES]
    columns, cells = ints[COLUMNS], ints[CELLS]
    for pile in range(piles):
        order[pile] = pile
    if alike(ints, sizes):
        for i in range(1, columns):
            j = i
            while j > 0 and before(held, sizes, order[j], order[j - 1]):
                order[j], order[j - 1] = order[j - 1], order[j]
                j -= 1
    for i in range(columns + 1, columns + cells):
        j = i
        while j > columns and before(held, sizes, order[j], order[j - 1]):
            order[j], order[j - 1] = order[j - 1], order[j]
            j -= 1
    if ints[p.TWINS]:
        first = columns + cells + ints[RESERVES]
        kinds = p.FOUNDED + p.KIND
        for f in range(ints[FOUNDATIONS]):
            for g in range(f + 1, ints[FOUNDATIONS]):
                same = ints[kinds + p.FOUNDATION_FIELDS * f] == ints[kinds + p.FOUNDATION_FIELDS * g]
                if same and before(held, sizes, order[first + g], order[first + f]):
                    order[first + f], order[first + g] = order[first + g], order[first + f]
    for number in range(piles):
        octets[number] = sizes[order[number]]
    octets[piles] = sizes[piles] if ints[p.PASSES] >= 0 else 1
    octets[piles + 1] = sizes[piles + 1] + 1 if ints[p.AUTO] else 0
    at = piles + 2
    for number in range(piles):
        pile = order[number]
        for i in range(sizes[pile]):
            octets[at] = held[pile, i]
            at += 1


@compiled
def unpack(ints: Ints, key: Bits, held: Cards, sizes: Ints) -> None:
    """The state of a key, its columns and cells in the key's order."""
    piles = ints[p.PILES]
    octets = key.view(np.uint8)
    for number in range(piles + 2):
        sizes[number] = octets[number]
    sizes[piles + 1] -= 1
    at = piles + 2
    for pile in range(piles):
        for i in range(sizes[pile]):
            held[pile, i] = octets[at]
            at += 1


@compiled
def hash_of(key: Bits) -> np.uint64:
    """A 64-bit mix of a key's words; only spreads the keys over the table, which compares them in full."""
    mixed = np.uint64(0x9E3779B97F4A7C15)
    for word in key:
        mixed = (mixed ^ word) * np.uint64(0xFF51AFD7ED558CCD)
        mixed ^= mixed >> np.uint64(32)
    return mixed


@compiled
def find(keys: Bits, table: NDArray[np.int32], key: Bits) -> np.int64:
    """The slot of a key in the table: of the node that has it, else the free one where it belongs."""
    mask = np.uint64(table.shape[0] - 1)
    slot = hash_of(key) & mask
    while True:
        node = table[np.int64(slot)]
        if node < 0:
            return np.int64(slot)
        same = True
        for i in range(key.shape[0]):
            if keys[node, i] != key[i]:
                same = False
                break
        if same:
            return np.int64(slot)
        slot = (slot + ONE) & mask


@compiled
def refill(keys: Bits, table: NDArray[np.int32], count: int) -> None:
    """Put the first `count` nodes into a new, empty table."""
    for node in range(count):
        table[find(keys, table, keys[node])] = node
