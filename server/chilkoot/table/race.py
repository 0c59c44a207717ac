"""A race: who sits where, how each game stands, who is ahead; and a recording that runs along. Pure: times come in.

What is told here are scores, never cards: no place in this module knows a position. The deal is told once the race is over.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable
from typing import Literal, TypeVar

import msgspec
from msgspec import UNSET

from chilkoot.discretion import discreet
from chilkoot.engine import Game
from chilkoot.events import Status
from chilkoot.language.rules import Rules
from chilkoot.table.table import Table, Terms
from chilkoot.table.telling import LogEntry, repeat
from chilkoot.wire.messages import Player, RaceProgress, RaceReply, RaceSeat, RaceState, SeatStatus

FinalStatus = Literal["won", "lost", "left", "late"]

_T = TypeVar("_T")

__all__ = ["Ghost", "Mark", "Race", "Seat", "all_told", "ghost_of", "race_progress", "race_reply"]


class Mark(msgspec.Struct, frozen=True):
    """How a recorded game stood from so many milliseconds after its start on."""

    after_ms: int
    status: Status
    score: int
    moves: int


class Ghost(msgspec.Struct, frozen=True):
    """A recorded game that runs along: which, whose, what it was dealt, and how it went."""

    game: str
    player: str
    name: str
    deal: str
    marks: tuple[Mark, ...]

    __repr__ = discreet


class Seat(msgspec.Struct, kw_only=True):
    """A seat that is taken. `ended_ms` is when its game was over, or when its player left."""

    number: int
    player: str
    name: str
    game: str | None = None
    status: SeatStatus = "waiting"
    score: int = 0
    moves: int = 0
    ended_ms: int | None = None
    acted_ms: int = 0

    @property
    def final_status(self) -> FinalStatus:
        """How it stands if the race is over now."""
        return self.status if self.status in ("won", "lost", "left") else "late"

    @property
    def is_done(self) -> bool:
        """Whether nothing that happens in this game can change the race any more."""
        return self.status in {"won", "lost", "left", "late"}

    def stands(self, status: Status, score: int, moves: int, *, ended_ms: int | None, now_ms: int) -> bool:
        """Take over how its game stands; whether that is news."""
        if self.is_done:
            return False
        self.status, self.score, self.moves = status, score, moves
        self.ended_ms, self.acted_ms = ended_ms, now_ms
        return True

    def ends(self, status: SeatStatus, score: int, moves: int, *, ended_ms: int | None) -> None:
        """How it stands for good; what happens in its game counts no longer."""
        self.status, self.score, self.moves, self.ended_ms = status, score, moves, ended_ms


class Race(msgspec.Struct, kw_only=True):
    """A room and everybody in it.

    `starts_ms` is set when all seats are taken, `ends_ms` when the cards are dealt; then every seat has a game.
    """

    id: str
    key: str
    variant: str
    level: int | None
    rules_hash: str
    seats: int
    created_ms: int
    starts_ms: int | None = None
    ends_ms: int | None = None
    ended_ms: int | None = None
    deal: str | None = None
    ghost: Ghost | None = None
    previous: str | None = None
    next: str | None = None
    taken: dict[str, Seat] = msgspec.field(default_factory=dict)
    """Seats by player."""

    __repr__ = discreet

    @property
    def state(self) -> RaceState:
        """Whether it waits for players (or counts down), runs, or is over."""
        if self.ended_ms is not None:
            return "over"
        return "waiting" if self.ends_ms is None else "running"

    @property
    def is_full(self) -> bool:
        """Whether all seats are taken."""
        return len(self.taken) >= self.seats

    @property
    def is_decided(self) -> bool:
        """Whether it runs, and nothing more can happen in it."""
        return self.state == "running" and all(seat.is_done for seat in self.taken.values())

    def opens_to(self, key: str | None) -> bool:
        """Whether somebody who shows this key may know of the race."""
        return key is not None and hmac.compare_digest(_bytes(key), _bytes(self.key))

    def sit(self, player: str, name: str) -> Seat:
        """Take the first free seat."""
        used = {seat.number for seat in self.taken.values()}
        number = next(one for one in range(1, self.seats + 1) if one not in used)
        seat = self.taken[player] = Seat(number=number, player=player, name=name)
        return seat

    def end(self, now_ms: int) -> None:
        """It is over; who still plays is too late."""
        self.ended_ms = now_ms
        for seat in self.taken.values():
            if self.ends_ms is not None:
                seat.status = seat.final_status

    def all_seats(self, now_ms: int) -> list[Seat]:
        """The taken seats in order, and after them that of the ghost."""
        seats = sorted(self.taken.values(), key=lambda seat: seat.number)
        return seats if self.ghost is None else [*seats, self._ghost_seat(self.ghost, now_ms)]

    def _ghost_seat(self, ghost: Ghost, now_ms: int) -> Seat:
        seat = Seat(number=self.seats + 1, player=ghost.player, name=ghost.name)
        if self.ends_ms is not None and self.starts_ms is not None:
            # Once the race is over the ghost shows where it would have got to.
            mark = ghost.marks[-1] if self.ended_ms is not None else ghost_at(ghost, now_ms - self.starts_ms)
            seat.status, seat.score, seat.moves = mark.status, mark.score, mark.moves
            if mark.status in {"won", "lost"}:
                seat.ended_ms = self.starts_ms + mark.after_ms
        return seat

    def places(self, seats: Iterable[Seat]) -> dict[int, int]:
        """Places by seat: of those who won as soon as they did, of the others when the race is over.

        Who won is placed by the server's time. The others follow by cards home, then fewer moves; who left comes after
        those who stayed. Equal results share a place.
        """
        ranked = sorted(
            (_rank(seat), seat.number)
            for seat in seats
            if seat.status == "won" or (self.state == "over" and self.ends_ms is not None)
        )
        ranks = [rank for rank, _ in ranked]
        return {number: ranks.index(rank) + 1 for rank, number in ranked}


def _rank(seat: Seat) -> tuple[int, int, int]:
    if seat.status == "won":
        return (0, seat.ended_ms or 0, 0)
    return (2 if seat.status == "left" else 1, -seat.score, seat.moves)


def ghost_at(ghost: Ghost, after_ms: int) -> Mark:
    """How a recorded game stood so long after its start."""
    return max((mark for mark in ghost.marks if mark.after_ms <= after_ms), key=lambda mark: mark.after_ms)


def ghost_of(terms: Terms, name: str, rules: Rules, deal: str, log: Iterable[LogEntry]) -> Ghost:
    """A finished game as one that runs along. Raises ReplayError."""
    table = Table(terms, Game.start(rules, deal), history=1)
    # Whether it was stuck on the way costs much to tell, and is no news to anybody who races it.
    table.game.looks_for_stuck = False
    marks = {0: _mark(table, 0)}
    for entry in log:
        repeat(table, entry)
        after = max(0, entry.at_ms - terms.started_ms)
        marks[after] = _mark(table, after)
    return Ghost(game=terms.id, player=terms.owner, name=name, deal=deal, marks=tuple(marks.values()))


def _mark(table: Table, after_ms: int) -> Mark:
    return Mark(after_ms, table.game.status, table.game.score, table.game.moves)


def all_told(race: Race, now_ms: int) -> list[RaceSeat]:
    """All seats with their players."""
    seats = race.all_seats(now_ms)
    return _told(race, seats, seats, with_players=True)


def race_reply(
    race: Race,
    player: str,
    now_ms: int,
    *,
    answers: int | None = None,
    seats: list[RaceSeat] | None = None,
) -> RaceReply:
    """A race as one of its players sees it; `seats` are those of `all_told`, where they were asked for before."""
    mine = race.taken.get(player)
    return RaceReply(
        re=UNSET if answers is None else answers,
        race=race.id,
        key=race.key,
        state=race.state,
        variant=race.variant,
        level=_given(race.level),
        rules_hash=race.rules_hash,
        seats=race.seats,
        players=all_told(race, now_ms) if seats is None else seats,
        seat=_given(None if mine is None else mine.number),
        game=_given(None if mine is None else mine.game),
        ghost=_given(None if race.ghost is None else race.ghost.game),
        starts=_given(race.starts_ms),
        ends=_given(race.ends_ms),
        ended=_given(race.ended_ms),
        deal=_given(race.deal if race.state == "over" else None),
        previous=_given(race.previous),
        next=_given(race.next),
        time=now_ms,
    )


def race_progress(race: Race, numbers: set[int], now_ms: int, *, with_players: bool = False) -> RaceProgress:
    """How some of its seats stand now."""
    seats = race.all_seats(now_ms)
    chosen = [seat for seat in seats if seat.number in numbers]
    return RaceProgress(race=race.id, players=_told(race, seats, chosen, with_players=with_players))


def _told(race: Race, seats: list[Seat], chosen: list[Seat], *, with_players: bool) -> list[RaceSeat]:
    places = race.places(seats)
    return [
        RaceSeat(
            seat=seat.number,
            player=Player(id=seat.player, name=seat.name or UNSET) if with_players else UNSET,
            ghost=seat.number > race.seats,
            status=seat.status,
            score=seat.score,
            moves=seat.moves,
            place=_given(places.get(seat.number)),
            ms=_given(None if seat.ended_ms is None else max(0, seat.ended_ms - (race.starts_ms or 0))),
        )
        for seat in chosen
    ]


def _given(value: _T | None) -> _T | msgspec.UnsetType:
    return UNSET if value is None else value


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
