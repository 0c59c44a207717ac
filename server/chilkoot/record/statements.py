"""The SQL of every write: SQLAlchemy statements, compiled once, each with the function that makes its row of a write.

The compiled text goes straight to the driver's ``executemany``: with SQLAlchemy's own execution a transaction of one action
cost twice the CPU (``bench/record.py`` compares). Only bound parameters carry values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, Final

from sqlalchemy import (
    Dialect,
    Executable,
    Integer,
    Text,
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
from sqlalchemy.sql.elements import CompilerElement

from chilkoot.record.day_statements import DAY_STATEMENTS
from chilkoot.record.day_writes import AddResult, ChooseDeal
from chilkoot.record.parameters import ONE, PREFIX, ZERO, field, fields, number_of
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


# An unknown session must not pass as none: no session has the number -1, so the reference fails.
_SESSION_OR_NONE = case(
    (field("session").is_(None), null()),
    else_=func.coalesce(number_of(session, "session"), literal_column("-1")),
)

_FIRST = race.alias("first")

_SPECTATOR = literal_column("'spectator'", Text)

_STANDING = ("status", "result", "score", "ended_ms", "closed_ms")

# In the order in which a transaction runs them: what others refer to comes first.
_STATEMENTS: Final[dict[type[Write], tuple[tuple[Executable, bool], ...]]] = {
    NewPlayer: (
        (
            upsert(player)
            .inline()
            .values(fields("id", "name", "token_hash", "created_ms"))
            .on_conflict_do_update(
                index_elements=["id"],
                set_=fields("name", "token_hash"),
                where=player.c.token_hash.is_(None),
            ),
            True,
        ),
    ),
    RenamePlayer: ((update(player).where(player.c.id == field("id")).values(name=field("name")), True),),
    SetToken: (
        (
            update(player)
            .where(player.c.id == field("player"))
            .values(fields("token_hash", "previous_hash", "previous_until_ms")),
            True,
        ),
    ),
    NewSession: (
        (
            insert(session)
            .inline()
            .values(
                fields("id", "created_ms")
                | {"player": number_of(player, "player"), "seen_ms": field("created_ms")}
            ),
            True,
        ),
    ),
    TouchSession: (
        (update(session).where(session.c.id == field("id")).values(seen_ms=field("seen_ms")), True),
    ),
    PutRules: ((upsert(rules).inline().values(fields("hash", "text")).on_conflict_do_nothing(), False),),
    NewGame: (
        (
            insert(game)
            .inline()
            .values(
                fields("id", "variant", "level", "rules_hash", "semantics", "deal", "origin", "watch", "key")
                | fields("winnable", "watch_key", "created_ms", "start_hash", "imported_ms", *_STANDING)
                | fields("contest", "sealed_until_ms")
                | dict.fromkeys(("seq", "moves", "undos", "hints"), ZERO)
                | {"player": number_of(player, "player"), "head_hash": field("start_hash")}
            ),
            True,
        ),
    ),
    AddCertified: (
        (
            upsert(certified)
            .inline()
            .values(fields("rules_hash", "deal", "solver", "positions", "actions", "difficulty", "found_ms"))
            .on_conflict_do_nothing(),
            False,
        ),
    ),
    TakeCertified: (
        (
            update(certified)
            .where(
                certified.c.deal == field("deal"),
                certified.c.rules_hash == field("rules_hash"),
                certified.c.game.is_(None),
            )
            .values(game=number_of(game, "game")),
            True,
        ),
    ),
    AddParticipant: (
        (
            upsert(participant)
            .inline()
            .values(
                fields("role", "since_ms")
                | {"game": number_of(game, "game"), "player": number_of(player, "player")}
            )
            .on_conflict_do_update(index_elements=["game", "player"], set_={"role": field("role")}),
            True,
        ),
    ),
    Append: (
        (
            insert(action)
            .inline()
            .values(
                fields("seq", "text", "by", "actor", "command_id", "fingerprint", "at_ms", "hash")
                | {"game": number_of(game, "game"), "session": _SESSION_OR_NONE}
            ),
            True,
        ),
        (
            update(game)
            .where(game.c.id == field("game"), game.c.seq + ONE == field("seq"))
            .values(fields("seq", "moves", "undos", *_STANDING) | {"head_hash": field("hash")}),
            True,
        ),
    ),
    AddHint: (
        (
            insert(hint)
            .inline()
            .values(fields("n", "seq", "text", "actor", "at_ms", "hash") | {"game": number_of(game, "game")}),
            True,
        ),
        (
            update(game)
            .where(game.c.id == field("game"), game.c.seq == field("seq"), game.c.hints + ONE == field("n"))
            .values(hints=field("n"), head_hash=field("hash")),
            True,
        ),
    ),
    CloseGame: (
        (
            update(game)
            .where(game.c.id == field("game"), game.c.ended_ms.is_not(None), game.c.closed_ms.is_(None))
            .values(closed_ms=field("closed_ms")),
            False,
        ),
    ),
    PutAnalysis: (
        (
            upsert(analysis)
            .inline()
            .values(fields("solver", "body") | {"game": number_of(game, "game")})
            .on_conflict_do_nothing(),
            False,
        ),
    ),
    SetWatch: (
        (
            update(game).where(game.c.id == field("game")).values(fields("watch", "watch_key")),
            True,
        ),
        (
            delete(participant).where(
                participant.c.game == number_of(game, "game"), participant.c.role == _SPECTATOR
            ),
            False,
        ),
    ),
    Unseal: (
        (
            update(game)
            .where(game.c.id == field("game"), game.c.sealed_until_ms > field("at_ms"))
            .values(sealed_until_ms=field("at_ms")),
            False,
        ),
    ),
    NewRace: (
        (
            insert(race)
            .inline()
            .values(
                fields("id", "variant", "level", "rules_hash", "seats", "key", "created_ms")
                | {"player": number_of(player, "player"), "ghost": number_of(game, "ghost")}
                | {"previous": number_of(_FIRST, "previous")}
            ),
            True,
        ),
    ),
    DropSeat: (
        (
            delete(seat).where(
                seat.c.race == number_of(race, "race"),
                seat.c.player == number_of(player, "player"),
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
                fields("number", "joined_ms")
                | {"race": number_of(race, "race"), "player": number_of(player, "player")}
            ),
            True,
        ),
    ),
    StartRace: (
        (
            update(race)
            .where(race.c.id == field("race"), race.c.starts_ms.is_(None), race.c.ended_ms.is_(None))
            .values(fields("starts_ms", "ends_ms")),
            True,
        ),
    ),
    SeatGame: (
        (
            update(seat)
            .where(
                seat.c.race == number_of(race, "race"),
                seat.c.number == field("number"),
                seat.c.game.is_(None),
            )
            .values(game=number_of(game, "game")),
            True,
        ),
    ),
    EndSeat: (
        (
            update(seat)
            .where(
                seat.c.race == number_of(race, "race"),
                seat.c.number == field("number"),
                seat.c.status.is_(None),
            )
            .values(fields("status", "score", "moves", "ended_ms")),
            False,
        ),
    ),
    EndRace: (
        (
            update(race)
            .where(race.c.id == field("race"), race.c.ended_ms.is_(None))
            .values(ended_ms=field("ended_ms")),
            False,
        ),
    ),
    PutReply: (
        (
            insert(reply)
            .inline()
            .values(fields("command_id", "fingerprint", "body") | {"session": number_of(session, "session")}),
            True,
        ),
    ),
    DropReplies: (
        (
            delete(reply).where(
                reply.c.session.in_(select(session.c.n).where(session.c.seen_ms < field("before_ms")))
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
    names = [name.removeprefix(PREFIX) for name in compiled.positiontup or ()]  # type: ignore[attr-defined]
    get = attrgetter(*names)
    if len(names) == 1:
        return Statement(str(compiled), lambda writes: [(get(write),) for write in writes], is_exact=is_exact)
    return Statement(str(compiled), lambda writes: list(map(get, writes)), is_exact=is_exact)


_OLD = reply.alias("old")
_OLDEST_KEPT = (
    select(_OLD.c.n)
    .where(_OLD.c.session == number_of(session, "session"))
    .order_by(_OLD.c.n.desc())
    .limit(ONE)
    .offset(literal_column(str(REPLIES_KEPT - 1), Integer))
    .scalar_subquery()
)
_PRUNE = delete(reply).where(reply.c.session == number_of(session, "session"), reply.c.n < _OLDEST_KEPT)


def compile_pruning(dialect: Dialect) -> str:
    """The statement that deletes what a session may no longer ask for; the row is the session's id, twice."""
    compiled = _PRUNE.compile(dialect=dialect, compile_kwargs={"render_postcompile": True})
    assert compiled.positiontup == ["w_session", "w_session"]
    return str(compiled)
