"""Races between record and memory: a race read back, the same deal laid once for each seat, what is written of a seat's end.

Nothing here waits, sends or changes a room.
"""

from __future__ import annotations

import msgspec

from chilkoot.discretion import discreet
from chilkoot.engine import Game
from chilkoot.host.clock import fresh_id
from chilkoot.host.hub import game_of, log_of, terms_of
from chilkoot.language.rules import Rules, from_canonical
from chilkoot.record import EndSeat, NewGame, SeatStatus, StoredGame, StoredRace, StoredSeat
from chilkoot.table import Ghost, Race, Seat, Table, Terms, ghost_of
from chilkoot.wire import encode

__all__ = ["Dealt", "end_of", "ghost_from", "lay_seats", "race_from"]


class Dealt(msgspec.Struct):
    """One seat's table, ready to be put on record and shown."""

    seat: Seat
    table: Table
    game: NewGame
    snapshot: bytes

    __repr__ = discreet


def lay_seats(race: Race, rules: Rules, deal: str, *, longest_ms: int, history: int) -> list[Dealt]:
    """The same deal once for each seat. Takes long for many seats, so it is done ahead, aside, and in memory only."""
    starts_ms = race.starts_ms or 0
    sealed_ms = starts_ms + longest_ms
    dealt = []
    for seat in list(race.taken.values()):
        terms = Terms(
            id=fresh_id(),
            owner=seat.player,
            variant=race.variant,
            level=race.level,
            rules_hash=race.rules_hash,
            origin="fresh" if race.ghost is None else "named",
            watch="open",
            key=fresh_id(),
            watch_key=None,
            started_ms=starts_ms,
            contest="race",
            sealed_until_ms=sealed_ms,
        )
        table = Table(terms, Game.start(rules, deal), history=history)
        snapshot = encode(table.snapshot(seat.player, 1))
        dealt.append(Dealt(seat, table, game_of(table, starts_ms), snapshot))
    return dealt


def end_of(race: Race, seat: Seat, status: SeatStatus, ended_ms: int | None) -> EndSeat:
    """The write which says how a seat stands for good."""
    return EndSeat(
        race=race.id,
        number=seat.number,
        status=status,
        score=seat.score,
        moves=seat.moves,
        ended_ms=ended_ms,
    )


def ghost_from(stored: StoredGame, name: str) -> Ghost:
    """A game on record as one that runs along. Raises ReplayError."""
    header = stored.header
    return ghost_of(terms_of(header), name, from_canonical(stored.rules), header.deal, log_of(stored))


def race_from(stored: StoredRace, ghost: Ghost | None, now_ms: int) -> Race:
    """A race as it goes on from the record."""
    race = Race(
        id=stored.id,
        key=stored.key,
        variant=stored.variant,
        level=stored.level,
        rules_hash=stored.rules_hash,
        seats=stored.seats,
        created_ms=stored.created_ms,
        starts_ms=stored.starts_ms,
        ends_ms=stored.ends_ms,
        deal=stored.taken[0].deal if stored.taken else None,
        ghost=ghost,
        previous=stored.previous,
        next=stored.next,
        taken={one.player: _seat_of(one, now_ms) for one in stored.taken},
    )
    if stored.ended_ms is not None:
        race.end(stored.ended_ms)
    return race


def _seat_of(stored: StoredSeat, now_ms: int) -> Seat:
    return Seat(
        number=stored.number,
        player=stored.player,
        name=stored.name,
        game=stored.game,
        status=stored.status or "waiting",
        score=stored.score or 0,
        moves=stored.moves or 0,
        ended_ms=stored.ended_ms,
        # Who idled before the restart is given as long again.
        acted_ms=now_ms,
    )
