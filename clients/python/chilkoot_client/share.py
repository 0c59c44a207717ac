"""What may be shown to others of a day's game before its day is over: a line, squares and an address, and no card."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from chilkoot_client.messages import Daily

__all__ = ["Progress", "share_text"]

_RANKS: Final = "A23456789TJQK"
_CLEAN, _UNDONE, _OPEN = "🟩", "🟨", "⬜"


class Progress:
    """Which ranks are home in all suits, and for which of them undo was used since the one before.

    It sees every table that a game comes to; what was completed while nobody looked counts with the undos of that time.
    """

    def __init__(self) -> None:
        self._done: dict[str, bool] = {}
        self._undos = 0

    def see(self, piles: Mapping[str, Sequence[str]], undos: int) -> None:
        """Take note of a table and of how many actions were taken back so far."""
        foundations = [cards for name, cards in piles.items() if name[0] == "f"]
        home = Counter(card[0] for cards in foundations for card in cards)
        complete = {rank for rank in _RANKS if foundations and home[rank] >= len(foundations)}
        # A card that was taken back from its foundation takes the square along.
        self._done = {rank: undone for rank, undone in self._done.items() if rank in complete}
        for rank in sorted(complete - self._done.keys(), key=_RANKS.index):
            self._done[rank] = undos > self._undos
            self._undos = undos

    def squares(self) -> str:
        """One square a rank from ace to king: green for a rank that is home, amber where undo was used on the way."""
        shown = {None: _OPEN, False: _CLEAN, True: _UNDONE}
        return "".join(shown[self._done.get(rank)] for rank in _RANKS)


def share_text(name: str, daily: Daily, progress: Progress, *, url: str | None = None) -> str:
    """The text to share of a day's game that is over; `name` is what people call the variant.

    The first line says everything in words, for those who are read to. Raises ValueError while the game goes on.
    """
    result = daily.result
    if result is None:
        raise ValueError("a game is shared when it is over")
    level = "" if daily.level is None else f" level {daily.level}"
    moves = f"{result.moves} move{'s' * (result.moves != 1)}"
    end = "solved" if result.won else f"{result.score} home"
    lines = [f"{name}{level} daily {daily.date} · {end} · {moves} · {result.help}", progress.squares()]
    if url is not None:
        lines.append(url)
    return "\n".join(lines)
