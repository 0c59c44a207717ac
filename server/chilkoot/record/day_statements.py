"""The SQL of the writes about dailies, in the form in which ``statements`` has all others."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import (
    BindParameter,
    Executable,
    Integer,
    Table,
    bindparam,
    exists,
    func,
    insert,
    literal_column,
    select,
    update,
)
from sqlalchemy.dialects.sqlite import insert as upsert
from sqlalchemy.sql.elements import ColumnElement

from chilkoot.record.day_writes import AddAttempt, AddResult, AnnounceDaily, ChooseDeal, EndAttempt, NewSeason
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

__all__ = ["DAY_STATEMENTS"]


def _w(field: str) -> BindParameter[Any]:
    return bindparam(f"w_{field}")


def _fields(*names: str) -> dict[str, BindParameter[Any]]:
    return {name: _w(name) for name in names}


def _number_of(table: Table, field: str) -> ColumnElement[Any]:
    return select(table.c.n).where(table.c.id == _w(field)).scalar_subquery()


_ZERO = literal_column("0", Integer)
_ONE = literal_column("1", Integer)
_LEVEL = func.coalesce(_w("level"), literal_column("-1", Integer))
_SEASON = {
    field: select(season.c.n).where(season.c.first == _w(field)).scalar_subquery()
    for field in ("first", "season")
}
_OF_DAY = (daily.c.date == _w("date"), daily.c.variant == _w("variant"), daily.c.level == _LEVEL)
_DAILY = select(daily.c.n).where(*_OF_DAY).scalar_subquery()
_BOARD = (
    select(board.c.n)
    .where(board.c.period == _w("period"), board.c.variant == _w("variant"), board.c.level == _LEVEL)
    .scalar_subquery()
)
_SUMMED: Final = ("won", "score", "assisted", "moves", "ms", "high", "low")

_result = upsert(standing).values(
    _fields(*_SUMMED)
    | {
        "board": _BOARD,
        "player": _number_of(player, "player"),
        "days": _ONE,
    }
)

DAY_STATEMENTS: Final[dict[type[Any], tuple[tuple[Executable, bool], ...]]] = {
    NewSeason: (
        (insert(season).inline().values(_fields("first", "days", "root", "published_ms")), True),
        (insert(season_secret).inline().values(_fields("tip") | {"season": _SEASON["first"]}), True),
    ),
    AnnounceDaily: (
        (
            upsert(daily)
            .inline()
            .values(
                _fields("date", "variant", "day", "rules_hash", "beacon", "seed_hash", "announced_ms")
                | {"level": _LEVEL, "season": _SEASON["season"]}
            )
            .on_conflict_do_nothing(index_elements=["date", "variant", "level"]),
            False,
        ),
    ),
    ChooseDeal: (
        # The solution first, as long as it can be told that nobody has chosen before.
        (
            upsert(daily_solution)
            .inline()
            .from_select(
                ["daily", "line"],
                select(daily.c.n, _w("line")).where(
                    *_OF_DAY, daily.c.nonce.is_(None), _w("line").is_not(None)
                ),
            ),
            False,
        ),
        (
            update(daily)
            .where(*_OF_DAY, daily.c.nonce.is_(None))
            .values(_fields("nonce", "proof", "solver", "positions", "solution_hash", "chosen_ms")),
            False,
        ),
    ),
    AddAttempt: (
        (
            insert(attempt)
            .inline()
            .values(
                {
                    "player": _number_of(player, "player"),
                    "daily": _DAILY,
                    "game": _number_of(game, "game"),
                }
            ),
            True,
        ),
    ),
    EndAttempt: (
        (
            update(attempt)
            .where(attempt.c.game == _number_of(game, "game"), attempt.c.ended_ms.is_(None))
            .values(_fields("ended_ms", "won", "autos", "ms", "is_ranked")),
            True,
        ),
    ),
    AddResult: (
        (
            upsert(board)
            .inline()
            .values(_fields("period", "variant") | {"level": _LEVEL, "players": _ZERO})
            .on_conflict_do_nothing(index_elements=["period", "variant", "level"]),
            False,
        ),
        (
            update(board)
            .where(
                board.c.period == _w("period"),
                board.c.variant == _w("variant"),
                board.c.level == _LEVEL,
                ~exists().where(
                    standing.c.board == board.c.n, standing.c.player == _number_of(player, "player")
                ),
            )
            .values(players=board.c.players + _ONE),
            False,
        ),
        (
            _result.inline().on_conflict_do_update(
                index_elements=["board", "player"],
                set_={name: standing.c[name] + _result.excluded[name] for name in _SUMMED}
                | {"days": standing.c.days + _ONE},
            ),
            True,
        ),
    ),
}
"""After all other statements: what they refer to is written by those."""
