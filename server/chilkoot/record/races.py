"""Races as they are read from the record: a room, who sits where, and how each game stands."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Select, case, select

from chilkoot.record.rows import StoredRace, StoredSeat
from chilkoot.record.tables import game, player, race, seat

__all__ = ["OPEN_RACES", "race_of"]

_PREVIOUS = race.alias("before")
_NEXT = race.alias("after")

_RACE: Select[Any] = (
    select(
        race.c.n,
        race.c.id,
        player.c.id,
        *(race.c[name] for name in ("variant", "level", "rules_hash", "seats", "key")),
        *(race.c[name] for name in ("created_ms", "starts_ms", "ends_ms", "ended_ms")),
        game.c.id,
        _PREVIOUS.c.id,
        _NEXT.c.id,
    )
    .select_from(race)
    .join(player, race.c.player == player.c.n)
    .outerjoin(game, race.c.ghost == game.c.n)
    .outerjoin(_PREVIOUS, race.c.previous == _PREVIOUS.c.n)
    .outerjoin(_NEXT, _NEXT.c.previous == race.c.n)
)

_SEATS: Select[Any] = (
    select(
        seat.c.number,
        player.c.id,
        player.c.name,
        game.c.id,
        game.c.deal,
        *(
            case((seat.c.status.is_not(None), seat.c[name]), else_=game.c[name])
            for name in ("status", "score", "moves", "ended_ms")
        ),
    )
    .select_from(seat)
    .join(player, seat.c.player == player.c.n)
    .outerjoin(game, seat.c.game == game.c.n)
    .order_by(seat.c.number)
)

OPEN_RACES: Select[Any] = select(race.c.id).where(race.c.ended_ms.is_(None)).order_by(race.c.n)
"""Ids of the races that are not over, oldest first."""


def race_of(connection: Connection, race_id: str) -> StoredRace | None:
    """A race by its id."""
    row = connection.execute(_RACE.where(race.c.id == race_id)).one_or_none()
    if row is None:
        return None
    number, *values = row
    found = connection.execute(_SEATS.where(seat.c.race == number)).all()
    return StoredRace(*[*values, tuple(StoredSeat(*one) for one in found)])
