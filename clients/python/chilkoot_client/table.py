"""The mirror of one game, kept exact by applying diffs. It knows no rule of any game and does no I/O."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Final

from chilkoot_client.messages import Can, Diff, Move, Op, Snapshot, Status
from chilkoot_client.share import Progress

__all__ = ["HIDDEN", "Desync", "Table", "apply_ops", "check_of"]

HIDDEN: Final = "??"
"""A card that the viewer may not see."""

_ORDER: Final = "tcrfsw"


class Desync(ValueError):  # noqa: N818 - a state, and what to do about it is a sync
    """A diff does not continue the mirrored table; a snapshot is needed."""


class Table:
    """One game as its viewer sees it.

    Built from a snapshot; `apply` takes it from one `seq` to the next and changes nothing where it raises.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self.game: Final = snapshot.game
        self.variant: Final = snapshot.variant
        self.level: Final = snapshot.level
        self.contest: Final = snapshot.contest
        self.progress: Final = Progress()
        self.key: str | None = None
        self.watch_key: str | None = None
        self.take(snapshot)

    def take(self, snapshot: Snapshot) -> None:
        """Replace everything by what a snapshot of the same game says."""
        self.seq = snapshot.seq
        self.piles: dict[str, list[str]] = {name: list(cards) for name, cards in snapshot.piles.items()}
        self.rules_hash = snapshot.rules_hash
        self.deal = snapshot.deal
        self.status: Status = snapshot.status
        self.result = snapshot.result
        self.score = snapshot.score
        self.moves = snapshot.moves
        self.undos = snapshot.undos
        self.can: Can = snapshot.can
        self.role = snapshot.role
        # A later snapshot need not repeat the keys.
        self.key = snapshot.key or self.key
        self.watch_key = snapshot.watch_key or self.watch_key
        self.progress.see(self.piles, self.undos)

    def apply(self, diff: Diff) -> None:
        """Go on by one action. Raises Desync where the diff is not the next one or leads to another table."""
        if diff.seq != self.seq + 1:
            raise Desync(f"diff {diff.seq} does not follow {self.seq}")
        piles = apply_ops(self.piles, diff.ops)
        if check_of(piles) != diff.check:
            raise Desync(f"diff {diff.seq} gives a table with another check")
        self.piles = piles
        self.seq = diff.seq
        self.moves = self.moves + 1 if diff.moves is None else diff.moves
        self.undos = self.undos if diff.undos is None else diff.undos
        self.score = self.score if diff.score is None else diff.score
        self.can = self.can if diff.can is None else diff.can
        if diff.status is not None:
            self.status = diff.status
            if not self.is_over:
                self.result = None
        self.result = self.result if diff.result is None else diff.result
        if diff.score is not None or diff.undos is not None:
            self.progress.see(self.piles, self.undos)

    @property
    def is_over(self) -> bool:
        """Whether the game is won or lost."""
        return self.status in {"won", "lost"}

    @property
    def check(self) -> str:
        """PROTOCOL's checksum of what is mirrored."""
        return check_of(self.piles)

    def __repr__(self) -> str:
        return f"<Table {self.game} of {self.variant}, seq {self.seq}, {self.status}>"


def apply_ops(piles: Mapping[str, Sequence[str]], ops: Sequence[Op]) -> dict[str, list[str]]:
    """The piles after the operations, as a new dict. Raises Desync where an operation does not fit."""
    after = {name: list(cards) for name, cards in piles.items()}
    for op in ops:
        if isinstance(op, Move):
            source, target = after.get(op.source), after.get(op.target)
            if source is None or target is None or not 1 <= op.n <= len(source):
                raise Desync(f"cannot move {op.n} of {op.source} to {op.target}")
            moving = source[-op.n :]
            del source[-op.n :]
            # Turned over, every card is unknown until a turn says more.
            target.extend([HIDDEN] * op.n if op.flip else moving)
        else:
            pile = after.get(op.pile)
            if pile is None or not 0 <= op.at < len(pile):
                raise Desync(f"there is no card {op.at} in {op.pile}")
            pile[op.at] = op.card
    return after


def check_of(piles: Mapping[str, Sequence[str]]) -> str:
    """The first 8 hex digits of SHA-256 over all piles, in the order t, c, r, f, s, w, then by number."""
    names = sorted(
        piles, key=lambda name: (_ORDER.find(name[:1]), int(name[1:]) if name[1:].isdecimal() else 0)
    )
    text = ";".join(f"{name}={' '.join(piles[name])}" for name in names)
    return hashlib.sha256(text.encode()).hexdigest()[:8]
