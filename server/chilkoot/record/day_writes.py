"""What is put on record about dailies: seasons, a day's deal, attempts and results. Units are made of these as of any write."""

from __future__ import annotations

from typing import Literal

import msgspec

from chilkoot.discretion import discreet

__all__ = ["AddAttempt", "AddResult", "AnnounceDaily", "ChooseDeal", "DailyProof", "EndAttempt", "NewSeason"]

DailyProof = Literal["proved", "not_proved"]
"""Whether a search found a winning line for a day's deal."""


class NewSeason(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A season from the date `first` on: its published root, and the secret that all its keys follow from."""

    first: str
    days: int
    root: bytes
    tip: bytes
    published_ms: int

    __repr__ = discreet


class AnnounceDaily(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A day of a season has a deal for a game; announcing it again changes nothing. The rules must be on record."""

    date: str
    variant: str
    level: int | None
    season: str
    day: int
    rules_hash: str
    beacon: str
    seed_hash: bytes
    announced_ms: int


class ChooseDeal(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Which candidate an announced day plays, and the line that proves it winnable; the first choice stands."""

    date: str
    variant: str
    level: int | None
    nonce: int
    proof: DailyProof
    solver: int
    positions: int
    solution_hash: bytes | None
    line: str | None
    chosen_ms: int

    def __repr__(self) -> str:
        return f"ChooseDeal({self.date!r}, {self.variant!r}, {self.level!r}, …)"


class AddAttempt(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A player's game is their attempt at a day's deal; each player has one for each."""

    date: str
    variant: str
    level: int | None
    player: str
    game: str


class EndAttempt(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """An attempt is over, once and for all."""

    game: str
    ended_ms: int
    won: bool
    autos: int
    ms: int
    is_ranked: bool


class AddResult(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A result counts on a board, and is added to what the player has there. `high` and `low` are its place."""

    period: str
    variant: str
    level: int | None
    player: str
    won: bool
    score: int
    assisted: bool
    moves: int
    ms: int
    high: int
    low: int
