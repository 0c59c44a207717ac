"""The SQL of every write: SQLAlchemy statements, compiled once, each with the function that makes its row of a write.

The compiled text goes straight to the driver's ``executemany``: with SQLAlchemy's own execution a transaction of one action
cost twice the CPU (``bench/record.py`` compares). Only bound parameters carry values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, Final

from sqlalchemy import (
    BindParameter,
    Dialect,
    Executable,
    FromClause,
    Integer,
    Text,
    bindparam,
    case,
    delete,
    func,
    insert,
    literal_column,
    null,
    select,
    update,
)
from sqlalchemy.dialects.sqlite import insert as upsert
from sqlalchemy.sql.elements import ColumnElement, CompilerElement

from chilkoot.record.day_statements import DAY_STATEMENTS
from chilkoot.record.day_writes import AddResult, ChooseDeal
from chilkoot.record.tables import (
    action,
    analysis,
    certified,
    game,
    hint,
    participant,
    player,
    race,
    reply,
    rules,
    seat,
    session,
)
from chilkoot.record.writes import (
    AddCertified,
    AddHint,
    AddParticipant,
    Append,
    CloseGame,
    DropReplies,
    DropSeat,
    EndRace,
    EndSeat,
    NewGame,
    NewPlayer,
    NewRace,
    NewSession,
    PutAnalysis,
    PutReply,
    PutRules,
    RenamePlayer,
    SeatGame,
    SetToken,
    SetWatch,
    StartRace,
    TakeCertified,
    TakeSeat,
    TouchSession,
    Unseal,
    Write,
)

__all__ = ["ONE_BY_ONE", "REPLIES_KEPT", "Statement", "compile_pruning", "compile_statements"]

REPLIES_KEPT: Final = 64
"""How many replies of a session may be asked for again."""

ONE_BY_ONE: Final = frozenset({AddResult, ChooseDeal})
"""Writes whose statements look at what the ones before them did, so that two are not run side by side."""

_Row = tuple[Any, ...]


class Statement:
    """A compiled statement. `is_exact` says that every row must change exactly one row of the database."""

    __slots__ = ("is_exact", "rows", "sql")

    def __init__(self, sql: str, rows: Callable[[Sequence[Write]], list[_Row]], *, is_exact: bool) -> None:
        self.sql = sql
        self.rows = rows
        self.is_exact = is_exact


def _w(field: str) -> BindParameter[Any]:
    # The prefix keeps a write's field apart from a column of that name, which SQLAlchemy claims for itself.
    return bindparam(f"w_{field}")


def _number_of(table: FromClause, field: str) -> ColumnElement[Any]:
    return select(table.c.n).where(table.c.id == _w(field)).scalar_subquery()


def _fields(*names: str) -> dict[str, BindParameter[Any]]:
    return {name: _w(name) for name in names}


_ZERO = literal_column("0", Integer)
_ONE = literal_column("1", Integer)

# An unknown session must not pass as none: no session has the number -1, so the reference fails.
_SESSION_OR_NONE = case(
    (_w("session").is_(None), null()),
    else_=func.coalesce(_number_of(session, "session"), literal_column("-1")),
)

_FIRST = race.alias("first")

_SPECTATOR = literal_column("'spectator'", Text)

_STANDING = ("status", "result", "score", "ended_ms", "closed_ms")

# In the order in which a transaction runs them: what others refer to comes first.
_STATEMENTS: Final[dict[type[Write], tuple[tuple[Executable, bool], ...]]] = {
    NewPlayer: ((insert(player).inline().values(_fields("id", "name", "token_hash", "created_ms")), True),),
    RenamePlayer: ((update(player).where(player.c.id == _w("id")).values(name=_w("name")), True),),
    SetToken: (
        (
            update(player)
            .where(player.c.id == _w("player"))
            .values(_fields("token_hash", "previous_hash", "previous_until_ms")),
            True,
        ),
    ),
    NewSession: (
        (
            insert(session)
            .inline()
            .values(
                _fields("id", "created_ms")
                | {"player": _number_of(player, "player"), "seen_ms": _w("created_ms")}
            ),
            True,
        ),
    ),
    TouchSession: ((update(session).where(session.c.id == _w("id")).values(seen_ms=_w("seen_ms")), True),),
    PutRules: ((upsert(rules).inline().values(_fields("hash", "text")).on_conflict_do_nothing(), False),),
    NewGame: (
        (
            insert(game)
            .inline()
            .values(
                _fields("id", "variant", "level", "rules_hash", "semantics", "deal", "origin", "watch", "key")
                | _fields("winnable", "watch_key", "created_ms", "start_hash", "imported_ms", *_STANDING)
                | _fields("contest", "sealed_until_ms")
                | dict.fromkeys(("seq", "moves", "undos", "hints"), _ZERO)
                | {"player": _number_of(player, "player"), "head_hash": _w("start_hash")}
            ),
            True,
        ),
    ),
    AddCertified: (
        (
            upsert(certified)
            .inline()
            .values(_fields("rules_hash", "deal", "solver", "positions", "actions", "difficulty", "found_ms"))
            .on_conflict_do_nothing(),
            False,
        ),
    ),
    TakeCertified: (
        (
            update(certified)
            .where(
                certified.c.deal == _w("deal"),
                certified.c.rules_hash == _w("rules_hash"),
                certified.c.game.is_(None),
            )
            .values(game=_number_of(game, "game")),
            True,
        ),
    ),
    AddParticipant: (
        (
            upsert(participant)
            .inline()
            .values(
                _fields("role", "since_ms")
                | {"game": _number_of(game, "game"), "player": _number_of(player, "player")}
            )
            .on_conflict_do_update(index_elements=["game", "player"], set_={"role": _w("role")}),
            True,
        ),
    ),
    Append: (
        (
            insert(action)
            .inline()
            .values(
                _fields("seq", "text", "by", "actor", "command_id", "fingerprint", "at_ms", "hash")
                | {"game": _number_of(game, "game"), "session": _SESSION_OR_NONE}
            ),
            True,
        ),
        (
            update(game)
            .where(game.c.id == _w("game"), game.c.seq + _ONE == _w("seq"))
            .values(_fields("seq", "moves", "undos", *_STANDING) | {"head_hash": _w("hash")}),
            True,
        ),
    ),
    AddHint: (
        (
            insert(hint)
            .inline()
            .values(
                _fields("n", "seq", "text", "actor", "at_ms", "hash") | {"game": _number_of(game, "game")}
            ),
            True,
        ),
        (
            update(game)
            .where(game.c.id == _w("game"), game.c.seq == _w("seq"), game.c.hints + _ONE == _w("n"))
            .values(hints=_w("n"), head_hash=_w("hash")),
            True,
        ),
    ),
    CloseGame: (
        (
            update(game)
            .where(game.c.id == _w("game"), game.c.ended_ms.is_not(None), game.c.closed_ms.is_(None))
            .values(closed_ms=_w("closed_ms")),
            False,
        ),
    ),
    PutAnalysis: (
        (
            upsert(analysis)
            .inline()
            .values(_fields("solver", "body") | {"game": _number_of(game, "game")})
            .on_conflict_do_nothing(),
            False,
        ),
    ),
    SetWatch: (
        (
            update(game).where(game.c.id == _w("game")).values(_fields("watch", "watch_key")),
            True,
        ),
        (
            delete(participant).where(
                participant.c.game == _number_of(game, "game"), participant.c.role == _SPECTATOR
            ),
            False,
        ),
    ),
    Unseal: (
        (
            update(game)
            .where(game.c.id == _w("game"), game.c.sealed_until_ms > _w("at_ms"))
            .values(sealed_until_ms=_w("at_ms")),
            False,
        ),
    ),
    NewRace: (
        (
            insert(race)
            .inline()
            .values(
                _fields("id", "variant", "level", "rules_hash", "seats", "key", "created_ms")
                | {"player": _number_of(player, "player"), "ghost": _number_of(game, "ghost")}
                | {"previous": _number_of(_FIRST, "previous")}
            ),
            True,
        ),
    ),
    DropSeat: (
        (
            delete(seat).where(
                seat.c.race == _number_of(race, "race"),
                seat.c.player == _number_of(player, "player"),
                seat.c.game.is_(None),
            ),
            True,
        ),
    ),
    TakeSeat: (
        (
            insert(seat)
            .inline()
            .values(
                _fields("number", "joined_ms")
                | {"race": _number_of(race, "race"), "player": _number_of(player, "player")}
            ),
            True,
        ),
    ),
    StartRace: (
        (
            update(race)
            .where(race.c.id == _w("race"), race.c.starts_ms.is_(None), race.c.ended_ms.is_(None))
            .values(_fields("starts_ms", "ends_ms")),
            True,
        ),
    ),
    SeatGame: (
        (
            update(seat)
            .where(
                seat.c.race == _number_of(race, "race"),
                seat.c.number == _w("number"),
                seat.c.game.is_(None),
            )
            .values(game=_number_of(game, "game")),
            True,
        ),
    ),
    EndSeat: (
        (
            update(seat)
            .where(
                seat.c.race == _number_of(race, "race"),
                seat.c.number == _w("number"),
                seat.c.status.is_(None),
            )
            .values(_fields("status", "score", "moves", "ended_ms")),
            False,
        ),
    ),
    EndRace: (
        (
            update(race)
            .where(race.c.id == _w("race"), race.c.ended_ms.is_(None))
            .values(ended_ms=_w("ended_ms")),
            False,
        ),
    ),
    PutReply: (
        (
            insert(reply)
            .inline()
            .values(
                _fields("command_id", "fingerprint", "body") | {"session": _number_of(session, "session")}
            ),
            True,
        ),
    ),
    DropReplies: (
        (
            delete(reply).where(
                reply.c.session.in_(select(session.c.n).where(session.c.seen_ms < _w("before_ms")))
            ),
            False,
        ),
    ),
}


def compile_statements(dialect: Dialect) -> dict[type[Write], tuple[Statement, ...]]:
    """Every write's statements for one kind of database, in the order in which a transaction runs them."""
    return {
        kind: tuple(_compile(statement, is_exact, dialect) for statement, is_exact in statements)
        for kind, statements in (_STATEMENTS | DAY_STATEMENTS).items()
    }


def _compile(statement: Executable, is_exact: bool, dialect: Dialect) -> Statement:
    assert isinstance(statement, CompilerElement)
    compiled = statement.compile(dialect=dialect)
    names = [name.removeprefix("w_") for name in compiled.positiontup or ()]  # type: ignore[attr-defined]
    get = attrgetter(*names)
    if len(names) == 1:
        return Statement(str(compiled), lambda writes: [(get(write),) for write in writes], is_exact=is_exact)
    return Statement(str(compiled), lambda writes: list(map(get, writes)), is_exact=is_exact)


_OLD = reply.alias("old")
_OLDEST_KEPT = (
    select(_OLD.c.n)
    .where(_OLD.c.session == _number_of(session, "session"))
    .order_by(_OLD.c.n.desc())
    .limit(_ONE)
    .offset(literal_column(str(REPLIES_KEPT - 1), Integer))
    .scalar_subquery()
)
_PRUNE = delete(reply).where(reply.c.session == _number_of(session, "session"), reply.c.n < _OLDEST_KEPT)


def compile_pruning(dialect: Dialect) -> str:
    """The statement that deletes what a session may no longer ask for; the row is the session's id, twice."""
    compiled = _PRUNE.compile(dialect=dialect, compile_kwargs={"render_postcompile": True})
    assert compiled.positiontup == ["w_session", "w_session"]
    return str(compiled)
