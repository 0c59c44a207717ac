"""The SQL of the writes about dailies, in the form in which ``statements`` has all others."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import (
    Executable,
    Integer,
    exists,
    func,
    insert,
    literal_column,
    select,
    update,
)
from sqlalchemy.dialects.sqlite import insert as upsert

from chilkoot.record.day_writes import AddAttempt, AddResult, AnnounceDaily, ChooseDeal, EndAttempt, NewSeason
from chilkoot.record.parameters import ONE, ZERO, field, fields, number_of
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


_LEVEL = func.coalesce(field("level"), literal_column("-1", Integer))
_SEASON = {
    name: select(season.c.n).where(season.c.first == field(name)).scalar_subquery()
    for name in ("first", "season")
}
_OF_DAY = (daily.c.date == field("date"), daily.c.variant == field("variant"), daily.c.level == _LEVEL)
_DAILY = select(daily.c.n).where(*_OF_DAY).scalar_subquery()
_BOARD = (
    select(board.c.n)
    .where(board.c.period == field("period"), board.c.variant == field("variant"), board.c.level == _LEVEL)
    .scalar_subquery()
)
_SUMMED: Final = ("won", "score", "assisted", "moves", "ms", "high", "low")

_result = upsert(standing).values(
    fields(*_SUMMED)
    | {
        "board": _BOARD,
        "player": number_of(player, "player"),
        "days": ONE,
    }
)

DAY_STATEMENTS: Final[dict[type[Any], tuple[tuple[Executable, bool], ...]]] = {
    NewSeason: (
        (insert(season).inline().values(fields("first", "days", "root", "published_ms")), True),
        (insert(season_secret).inline().values(fields("tip") | {"season": _SEASON["first"]}), True),
    ),
    AnnounceDaily: (
        (
            upsert(daily)
            .inline()
            .values(
                fields("date", "variant", "day", "rules_hash", "beacon", "seed_hash", "announced_ms")
                | {"level": _LEVEL, "season": _SEASON["season"]}
            )
            .on_conflict_do_nothing(index_elements=["date", "variant", "level"]),
            False,
        ),
    ),
    ChooseDeal: (
        # The solution first, as long as it can be told that nobody has chosen before.
        (
            insert(daily_solution)
            .inline()
            .from_select(
                ["daily", "line"],
                select(daily.c.n, field("line")).where(
                    *_OF_DAY, daily.c.nonce.is_(None), field("line").is_not(None)
                ),
            ),
            False,
        ),
        (
            update(daily)
            .where(*_OF_DAY, daily.c.nonce.is_(None))
            .values(fields("nonce", "proof", "solver", "positions", "solution_hash", "chosen_ms")),
            False,
        ),
    ),
    AddAttempt: (
        (
            insert(attempt)
            .inline()
            .values(
                {
                    "player": number_of(player, "player"),
                    "daily": _DAILY,
                    "game": number_of(game, "game"),
                }
            ),
            True,
        ),
    ),
    EndAttempt: (
        (
            update(attempt)
            .where(attempt.c.game == number_of(game, "game"), attempt.c.ended_ms.is_(None))
            .values(fields("ended_ms", "won", "autos", "ms", "is_ranked")),
            True,
        ),
    ),
    AddResult: (
        (
            upsert(board)
            .inline()
            .values(fields("period", "variant") | {"level": _LEVEL, "players": ZERO})
            .on_conflict_do_nothing(index_elements=["period", "variant", "level"]),
            False,
        ),
        (
            update(board)
            .where(
                board.c.period == field("period"),
                board.c.variant == field("variant"),
                board.c.level == _LEVEL,
                ~exists().where(
                    standing.c.board == board.c.n, standing.c.player == number_of(player, "player")
                ),
            )
            .values(players=board.c.players + ONE),
            False,
        ),
        (
            _result.inline().on_conflict_do_update(
                index_elements=["board", "player"],
                set_={name: standing.c[name] + _result.excluded[name] for name in _SUMMED}
                | {"days": standing.c.days + ONE},
            ),
            True,
        ),
    ),
}
"""After all other statements: what they refer to is written by those."""
