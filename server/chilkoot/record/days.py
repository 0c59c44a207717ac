"""What is asked of the record about dailies: seasons, the deal of a day, attempts, leaderboards.

The secrets have questions of their own, which nothing that answers a client asks before their time.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import msgspec
from sqlalchemy import Connection, bindparam, func, select, tuple_

from chilkoot.events import Result, Status
from chilkoot.record.day_writes import DailyProof
from chilkoot.record.tables import (
    attempt,
    board,
    daily,
    daily_solution,
    game,
    player,
    season,
    season_secret,
    standing,
)

__all__ = ["BoardPage", "DayReader", "StoredAttempt", "StoredDaily", "StoredSeason", "StoredStanding"]

_AROUND = 2
"""Lines above and below the player's own."""


class StoredSeason(msgspec.Struct, frozen=True):
    """A season without its secret."""

    first: str
    days: int
    root: bytes
    published_ms: int


class StoredDaily(msgspec.Struct, frozen=True):
    """The deal of a day as it was announced, and, once it was chosen, which one it is."""

    date: str
    variant: str
    level: int | None
    season: StoredSeason
    day: int
    rules_hash: str
    beacon: str
    seed_hash: bytes
    announced_ms: int
    nonce: int | None
    proof: DailyProof | None
    solver: int | None
    positions: int | None
    solution_hash: bytes | None


class StoredAttempt(msgspec.Struct, frozen=True):
    """A player's attempt at a day's deal, with how its game stands; what follows `ended_ms` is there once it has ended."""

    date: str
    game: str
    status: Status
    result: Result | None
    score: int
    moves: int
    undos: int
    hints: int
    ended_ms: int | None
    won: bool | None
    autos: int | None
    ms: int | None
    is_ranked: bool | None


class StoredStanding(msgspec.Struct, frozen=True):
    """One line of a board; `number` tells lines of the same place apart, `game` is the newest that is no longer sealed."""

    number: int
    player: str
    name: str
    game: str | None
    days: int
    won: int
    score: int
    assisted: int
    moves: int
    ms: int
    high: int
    low: int


class BoardPage(msgspec.Struct, frozen=True):
    """Lines of a board, with how many players it has; and of one player the line, those about it, and their ranks."""

    players: int
    lines: list[StoredStanding]
    is_last: bool
    around: list[StoredStanding]
    before_around: int
    rank_around: int
    """How many lines come before the first of `around`, and its rank."""


_Reading = Callable[[], AbstractContextManager[Connection]]

_SEASON = (season.c.first, season.c.days, season.c.root, season.c.published_ms)
_DAILY_NAMES = StoredDaily.__struct_fields__[4:]
_DAILY = select(
    daily.c.date, daily.c.variant, daily.c.level, *_SEASON, *(daily.c[name] for name in _DAILY_NAMES)
).join_from(daily, season, daily.c.season == season.c.n)
_ATTEMPT = (
    select(
        daily.c.date,
        game.c.id,
        *(game.c[name] for name in ("status", "result", "score", "moves", "undos", "hints")),
        *(attempt.c[name] for name in ("ended_ms", "won", "autos", "ms", "is_ranked")),
    )
    .select_from(attempt)
    .join(daily, attempt.c.daily == daily.c.n)
    .join(game, attempt.c.game == game.c.n)
)
_PLACE = (standing.c.high, standing.c.low)
_TOLD = (
    select(game.c.id)
    .select_from(attempt)
    .join(daily, attempt.c.daily == daily.c.n)
    .join(game, attempt.c.game == game.c.n)
    .where(
        attempt.c.player == standing.c.player,
        attempt.c.is_ranked == 1,
        daily.c.variant == bindparam("told_variant"),
        daily.c.level == bindparam("told_level"),
        # No bare column: the player's attempts are to be gone through from the newest on, not all the days there were.
        func.coalesce(daily.c.date, "").between(bindparam("told_first"), bindparam("told_last")),
        game.c.sealed_until_ms <= bindparam("told_now"),
    )
    .order_by(attempt.c.daily.desc())
    .limit(1)
    .correlate(standing)
    .scalar_subquery()
)
_LINE = (
    select(
        standing.c.n,
        player.c.id,
        player.c.name,
        _TOLD,
        *(standing.c[name] for name in StoredStanding.__struct_fields__[4:]),
    )
    .select_from(standing)
    .join(player, standing.c.player == player.c.n)
)
_FORWARD = (*_PLACE, standing.c.n)
_BACKWARD = tuple(column.desc() for column in _FORWARD)


class DayReader:
    """Questions about dailies; a part of the ``Reader``, and as blocking as that."""

    def __init__(self, reading: _Reading) -> None:
        self._reading = reading

    def seasons(self) -> list[StoredSeason]:
        """All seasons, the oldest first."""
        with self._reading() as connection:
            return [
                StoredSeason(*row) for row in connection.execute(select(*_SEASON).order_by(season.c.first))
            ]

    def tip(self, first: str) -> bytes | None:
        """The secret of a season."""
        query = select(season_secret.c.tip).join_from(
            season_secret, season, season_secret.c.season == season.c.n
        )
        with self._reading() as connection:
            return connection.execute(query.where(season.c.first == first)).scalar()

    def daily(self, date: str, variant: str, level: int | None) -> StoredDaily | None:
        """The deal of a day for a game."""
        query = _DAILY.where(*_is_daily(date, variant, level))
        with self._reading() as connection:
            row = connection.execute(query).one_or_none()
        return None if row is None else _daily(row)

    def dailies(self, date: str) -> list[StoredDaily]:
        """All deals of a day."""
        query = _DAILY.where(daily.c.date == date).order_by(daily.c.n)
        with self._reading() as connection:
            return [_daily(row) for row in connection.execute(query)]

    def solution(self, date: str, variant: str, level: int | None) -> str | None:
        """The line that the server knows for a day's deal; not to be told before the day is revealed."""
        query = select(daily_solution.c.line).join_from(
            daily_solution, daily, daily_solution.c.daily == daily.c.n
        )
        with self._reading() as connection:
            return connection.execute(query.where(*_is_daily(date, variant, level))).scalar()

    def attempt(self, player_id: str, date: str, variant: str, level: int | None) -> StoredAttempt | None:
        """A player's attempt at the deal of a day."""
        return self._attempt(attempt.c.player == _number_of(player_id), *_is_daily(date, variant, level))

    def attempt_of_game(self, game_id: str) -> StoredAttempt | None:
        """The attempt that a game is."""
        return self._attempt(game.c.id == game_id)

    def games(self, date: str, variant: str, level: int | None) -> list[tuple[str, str]]:
        """The attempts at the deal of a day: the id of each game, and the deal it was played on."""
        query = (
            select(game.c.id, game.c.deal)
            .select_from(attempt)
            .join(daily, attempt.c.daily == daily.c.n)
            .join(game, attempt.c.game == game.c.n)
            .where(*_is_daily(date, variant, level))
            .order_by(game.c.n)
        )
        with self._reading() as connection:
            return [(row[0], row[1]) for row in connection.execute(query)]

    def days_won(self, player_id: str, variant: str, level: int | None) -> list[str]:
        """The dates on which a player won the daily of a game, so that it counted."""
        query = (
            select(daily.c.date)
            .join_from(attempt, daily, attempt.c.daily == daily.c.n)
            .where(
                attempt.c.player == _number_of(player_id),
                attempt.c.won == 1,
                attempt.c.is_ranked == 1,
                daily.c.variant == variant,
                daily.c.level == _stored(level),
            )
        )
        with self._reading() as connection:
            return list(connection.scalars(query))

    def page(
        self,
        period: str,
        variant: str,
        level: int | None,
        *,
        limit: int,
        after: tuple[int, int, int] | None,
        player_id: str | None,
        days: tuple[str, str],
        now_ms: int,
    ) -> BoardPage:
        """Lines of a board from the best on, or `after` the place and number of one; and where a player is.

        `days` are the first and the last day that the board is about, of which a line's game may come.
        """
        with self._reading() as connection:
            found = connection.execute(
                select(board.c.n, board.c.players).where(
                    board.c.period == period, board.c.variant == variant, board.c.level == _stored(level)
                )
            ).one_or_none()
            if found is None:
                return BoardPage(0, [], True, [], 0, 0)
            number, players = found
            here = standing.c.board == number
            told = {
                "told_variant": variant,
                "told_level": _stored(level),
                "told_first": days[0],
                "told_last": days[1],
                "told_now": now_ms,
            }

            def lines(*conditions: Any, order: tuple[Any, ...] = _FORWARD, most: int) -> list[StoredStanding]:
                query = _LINE.where(here, *conditions).order_by(*order).limit(most)
                return [StoredStanding(*row) for row in connection.execute(query, told)]

            begun = () if after is None else (tuple_(*_FORWARD) > after,)
            page = lines(*begun, most=limit + 1)
            mine: list[StoredStanding] = []
            if player_id is not None:
                mine = lines(standing.c.player == _number_of(player_id), order=(), most=1)
            around: list[StoredStanding] = []
            before = rank = 0
            if mine:
                place = (mine[0].high, mine[0].low, mine[0].number)
                above = lines(tuple_(*_FORWARD) < place, order=_BACKWARD, most=_AROUND)
                below = lines(tuple_(*_FORWARD) > place, most=_AROUND)
                around = [*above[::-1], *mine, *below]
                before, rank = _count_before(connection, here, around[0])
            return BoardPage(players, page[:limit], len(page) <= limit, around, before, rank)

    def _attempt(self, *conditions: Any) -> StoredAttempt | None:
        with self._reading() as connection:
            row = connection.execute(_ATTEMPT.where(*conditions)).one_or_none()
        if row is None:
            return None
        found = StoredAttempt(*row)
        # A database may keep truth as a number.
        return msgspec.structs.replace(found, won=_truth(found.won), is_ranked=_truth(found.is_ranked))


def _count_before(connection: Connection, here: Any, line: StoredStanding) -> tuple[int, int]:
    """How many lines come before one, and its rank."""
    counted = select(func.count()).select_from(standing).where(here)
    # Better places are a range of the index; of the same place there are few.
    better = connection.scalar(counted.where(tuple_(*_PLACE) < (line.high, line.low))) or 0
    tied = counted.where(standing.c.high == line.high, standing.c.low == line.low, standing.c.n < line.number)
    return better + (connection.scalar(tied) or 0), better + 1


def _is_daily(date: str, variant: str, level: int | None) -> tuple[Any, ...]:
    return daily.c.date == date, daily.c.variant == variant, daily.c.level == _stored(level)


def _stored(level: int | None) -> int:
    return -1 if level is None else level


def _truth(value: object) -> bool | None:
    return None if value is None else bool(value)


def _daily(row: Any) -> StoredDaily:
    date, variant, level, first, days, root, published, *rest = row
    return StoredDaily(
        date, variant, None if level == -1 else level, StoredSeason(first, days, root, published), *rest
    )


def _number_of(player_id: str) -> Any:
    return select(player.c.n).where(player.c.id == player_id).scalar_subquery()
