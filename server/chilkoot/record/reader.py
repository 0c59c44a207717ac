"""Everything that is asked of the record, without being able to change it.

Each question is one short read transaction on a connection of its own, callable from any thread; it blocks, so an event
loop asks through a thread pool.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any, Final, Literal, TypeVar

import msgspec
from sqlalchemy import BindParameter, Connection, Engine, Select, bindparam, case, func, or_, select, tuple_
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from chilkoot.record.days import DayReader
from chilkoot.record.faults import OlderSchema, SchemaMismatch, StoreFault, StoreUnavailable
from chilkoot.record.migrations import assert_known, stored_revision
from chilkoot.record.races import OPEN_RACES, race_of
from chilkoot.record.rows import (
    Counts,
    FreeDeal,
    GameHeader,
    Stats,
    StoredAction,
    StoredCommand,
    StoredGame,
    StoredHint,
    StoredPlayer,
    StoredRace,
    StoredReply,
    StoredSession,
)
from chilkoot.record.sqlite import database_path, reading_engine
from chilkoot.record.statements import REPLIES_KEPT
from chilkoot.record.tables import (
    REVISION,
    action,
    analysis,
    certified,
    game,
    hint,
    participant,
    player,
    reply,
    rules,
    session,
)

__all__ = ["GameState", "Reader"]

GameState = Literal["playing", "over"]
"""What a list of games may be narrowed to: those that go on (stuck ones too), those that are won or lost."""

_Struct = TypeVar("_Struct", bound=msgspec.Struct)

# Columns in the order of the struct's fields, so that a row's values are the struct's.
_PLAYER = select(*(player.c[name] for name in StoredPlayer.__struct_fields__))
_SESSION = select(
    *(player.c.id if name == "player" else session.c[name] for name in StoredSession.__struct_fields__)
).join_from(session, player, session.c.player == player.c.n)
_GAME = select(
    *(player.c.id if name == "player" else game.c[name] for name in GameHeader.__struct_fields__)
).join_from(game, player, game.c.player == player.c.n)
_ACTIONS = (
    select(
        *(session.c.id if name == "session" else action.c[name] for name in StoredAction.__struct_fields__)
    )
    .select_from(action.outerjoin(session, action.c.session == session.c.n))
    .order_by(action.c.seq)
)
_HINTS = select(*(hint.c[name] for name in StoredHint.__struct_fields__)).order_by(hint.c.n)
_REPLIES = (
    select(*(reply.c[name] for name in StoredReply.__struct_fields__))
    .join_from(reply, session, reply.c.session == session.c.n)
    .order_by(reply.c.n)
)
_COMMANDS = (
    select(action.c.command_id, action.c.fingerprint, game.c.id, action.c.seq)
    .select_from(action)
    .join(session, action.c.session == session.c.n)
    .join(game, action.c.game == game.c.n)
    .where(action.c.fingerprint.is_not(None))
    .order_by(action.c.at_ms.desc(), action.c.command_id.desc())
)

# Whoever comes back asks these: put together here once, they take a third of the time.
_WANTED: Final[BindParameter[Any]] = bindparam("wanted")
_PLAYER_OF_TOKEN = _PLAYER.where(or_(player.c.token_hash == _WANTED, player.c.previous_hash == _WANTED))
_ONE_SESSION = _SESSION.where(session.c.id == _WANTED)
_REPLIES_OF_SESSION = _REPLIES.where(session.c.id == _WANTED)
_COMMANDS_OF_SESSION = _COMMANDS.where(session.c.id == _WANTED).limit(REPLIES_KEPT)
_ONE_GAME = _GAME.add_columns(game.c.n).where(game.c.id == _WANTED)
_RULES_TEXT = select(rules.c.text).where(rules.c.hash == _WANTED)
_ACTIONS_OF_GAME = _ACTIONS.where(action.c.game == _WANTED)
_HINTS_OF_GAME = _HINTS.where(hint.c.game == _WANTED)
_ROLES_OF_GAME = (
    select(player.c.id, participant.c.role)
    .join_from(participant, player, participant.c.player == player.c.n)
    .where(participant.c.game == _WANTED)
)


class Reader:
    """The reading side of a database. Every question raises StoreUnavailable where the database can't be read."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.days = DayReader(self._reading)

    @classmethod
    def open(cls, url: str) -> Reader:
        """Read the database of a URL, beside a server that uses it or without one. Raises CannotOpen."""
        path = database_path(url)
        if not path.exists():
            raise SchemaMismatch(f"there is no database {path}")
        found = stored_revision(path)
        if found != REVISION:
            assert_known(path, found)
            raise OlderSchema(
                f"the database {path} has the schema {found or 'of an empty file'}, this Chilkoot reads {REVISION}: "
                f"`chilkoot db upgrade --database {url}` brings an older one up to date"
            )
        return cls(reading_engine(path))

    def close(self) -> None:
        """Let go of the database; a question that is being answered ends first."""
        self._engine.dispose()

    def game_header(self, game_id: str) -> GameHeader | None:
        """A game without its actions."""
        with self._reading() as connection:
            return _one(connection, _GAME.where(game.c.id == game_id), GameHeader)

    def load_game(self, game_id: str) -> StoredGame | None:
        """A game with everything that happened in it."""
        with self._reading() as connection:
            row = connection.execute(_ONE_GAME, {"wanted": game_id}).one_or_none()
            if row is None:
                return None
            *values, number = row
            header = GameHeader(*values)
            return StoredGame(
                header=header,
                rules=connection.execute(_RULES_TEXT, {"wanted": header.rules_hash}).scalar_one(),
                actions=tuple(_all(connection, _ACTIONS_OF_GAME, StoredAction, wanted=number)),
                hints=tuple(_all(connection, _HINTS_OF_GAME, StoredHint, wanted=number)),
                participants={
                    row[0]: row[1] for row in connection.execute(_ROLES_OF_GAME, {"wanted": number})
                },
            )

    def games_of(
        self, player_id: str, *, state: GameState | None = None, limit: int = 20, before: str | None = None
    ) -> list[GameHeader]:
        """Games that a player began, newest first; `before` is the id of a game of this list to go on after."""
        query = _GAME.where(game.c.player == _number_of_player(player_id))
        if state is not None:
            query = query.where(
                game.c.ended_ms.is_(None) if state == "playing" else game.c.ended_ms.is_not(None)
            )
        if before is not None:
            last = game.alias("last")
            place = select(last.c.created_ms, last.c.n).where(last.c.id == before)
            query = query.where(tuple_(game.c.created_ms, game.c.n) < place.scalar_subquery())
        query = query.order_by(game.c.created_ms.desc(), game.c.n.desc()).limit(limit)
        with self._reading() as connection:
            return _all(connection, query, GameHeader)

    def games(
        self,
        *,
        state: GameState | None = None,
        variant: str | None = None,
        player: str | None = None,
        limit: int = 20,
    ) -> list[GameHeader]:
        """Games of everybody, newest first."""
        query = _GAME
        if state is not None:
            query = query.where(
                game.c.ended_ms.is_(None) if state == "playing" else game.c.ended_ms.is_not(None)
            )
        if variant is not None:
            query = query.where(game.c.variant == variant)
        if player is not None:
            query = query.where(game.c.player == _number_of_player(player))
        with self._reading() as connection:
            return _all(connection, query.order_by(game.c.n.desc()).limit(limit), GameHeader)

    def unclosed_of(self, player_id: str) -> list[str]:
        """Ids of a player's games that are over but may still be undone out of."""
        return self._unclosed(game.c.player == _number_of_player(player_id))

    def unclosed_before(self, ended_ms: int) -> list[str]:
        """Ids of all games that ended before a time and may still be undone out of."""
        return self._unclosed(game.c.ended_ms < ended_ms)

    def player(self, player_id: str) -> StoredPlayer | None:
        """An identity by its id."""
        with self._reading() as connection:
            return _one(connection, _PLAYER.where(player.c.id == player_id), StoredPlayer)

    def player_by_token_hash(self, token_hash: bytes) -> StoredPlayer | None:
        """The identity whose token, or previous token, has this SHA-256; whether that one still holds is not asked here."""
        with self._reading() as connection:
            return _one(connection, _PLAYER_OF_TOKEN, StoredPlayer, wanted=token_hash)

    def session(self, session_id: str) -> StoredSession | None:
        """A session by its id."""
        with self._reading() as connection:
            return _one(connection, _ONE_SESSION, StoredSession, wanted=session_id)

    def reply(self, session_id: str, command_id: int) -> StoredReply | None:
        """The reply that a command of a session got, if it is still kept."""
        query = _REPLIES.where(session.c.id == session_id, reply.c.command_id == command_id)
        with self._reading() as connection:
            return _one(connection, query, StoredReply)

    def replies_of(self, session_id: str) -> list[StoredReply]:
        """The replies that a session may ask for again, oldest first; there may be more than the promised number."""
        with self._reading() as connection:
            return _all(connection, _REPLIES_OF_SESSION, StoredReply, wanted=session_id)

    def commands_of(self, session_id: str) -> list[StoredCommand]:
        """The last commands of a session that were done as actions, oldest first: their replies may be asked for again."""
        with self._reading() as connection:
            return _all(connection, _COMMANDS_OF_SESSION, StoredCommand, wanted=session_id)[::-1]

    def rules(self, rules_hash: str) -> str | None:
        """The canonical text of rules."""
        with self._reading() as connection:
            return connection.execute(_RULES_TEXT, {"wanted": rules_hash}).scalar()

    def stats_of(self, player_id: str, *, variant: str | None = None, level: int | None = None) -> Stats:
        """A player's games in numbers, all of them or those of a variant or level."""
        counted = [game.c.player == _number_of_player(player_id), game.c.imported_ms.is_(None)]
        if variant is not None:
            counted.append(game.c.variant == variant)
        if level is not None:
            counted.append(game.c.level == level)
        is_over, is_won = game.c.ended_ms.is_not(None), game.c.status == "won"
        last_lost = select(func.max(game.c.ended_ms)).where(*counted, is_over, ~is_won).scalar_subquery()
        streak = select(func.count()).where(*counted, is_won, game.c.ended_ms > func.coalesce(last_lost, -1))
        query = select(
            func.count(),
            func.count(game.c.ended_ms),
            func.count(case((is_won, 1))),
            func.max(case((is_over, game.c.score))),
            streak.scalar_subquery(),
        ).where(*counted)
        with self._reading() as connection:
            return Stats(*connection.execute(query).one())

    def free_deal(self, rules_hash: str, *, but: Collection[str] = ()) -> FreeDeal | None:
        """The oldest certified deal of these rules that no game has taken, and that is none of some."""
        query = (
            select(*(certified.c[name] for name in FreeDeal.__struct_fields__))
            .where(certified.c.rules_hash == rules_hash, certified.c.game.is_(None))
            .order_by(certified.c.n)
            .limit(len(but) + 1)
        )
        with self._reading() as connection:
            return next((one for one in _all(connection, query, FreeDeal) if one.deal not in but), None)

    def free_count(self, rules_hash: str) -> int:
        """How many certified deals of these rules no game has taken."""
        query = select(func.count()).where(certified.c.rules_hash == rules_hash, certified.c.game.is_(None))
        with self._reading() as connection:
            return connection.scalar(query) or 0

    def certified_rules(self) -> list[str]:
        """The hashes of all rules that certified deals were ever kept for."""
        with self._reading() as connection:
            return list(connection.scalars(select(certified.c.rules_hash).distinct()))

    def analysis(self, game_id: str, solver: int) -> bytes | None:
        """What a revision of the solver said of a game that is over."""
        query = (
            select(analysis.c.body)
            .join(game, analysis.c.game == game.c.n)
            .where(game.c.id == game_id, analysis.c.solver == solver)
        )
        with self._reading() as connection:
            body: bytes | None = connection.execute(query).scalar()
            return body

    def unfinished_of(self, player_id: str) -> int:
        """How many games of a player are neither won nor lost."""
        query = select(func.count()).where(
            game.c.player == _number_of_player(player_id), game.c.ended_ms.is_(None)
        )
        with self._reading() as connection:
            return connection.scalar(query) or 0

    def race(self, race_id: str) -> StoredRace | None:
        """A race with its seats."""
        with self._reading() as connection:
            return race_of(connection, race_id)

    def open_races(self) -> list[str]:
        """Ids of the races that are not over, oldest first."""
        with self._reading() as connection:
            return list(connection.scalars(OPEN_RACES))

    def game_ids(self) -> list[str]:
        """Ids of all games, oldest first."""
        with self._reading() as connection:
            return list(connection.scalars(select(game.c.id).order_by(game.c.n)))

    def damage(self) -> list[str]:
        """What SQLite finds wrong with the file, and references to nothing; empty when all is well."""
        with self._reading() as connection:
            found = connection.exec_driver_sql("PRAGMA integrity_check(20)").scalars().all()
            dangling = connection.exec_driver_sql("PRAGMA foreign_key_check").all()
        said = [str(one) for one in found if one != "ok"]
        return said + [f"row {row[1]} of {row[0]} refers to no row of {row[2]}" for row in dangling]

    def answers(self) -> bool:
        """Whether the database can be read now."""
        try:
            with self._reading() as connection:
                connection.execute(select(player.c.n).limit(1))
        except StoreUnavailable:
            return False
        return True

    def counts(self) -> Counts:
        """How much is on record."""
        unfinished = select(func.count()).select_from(game).where(game.c.ended_ms.is_(None))
        query = select(
            select(func.count()).select_from(player).scalar_subquery(),
            select(func.count()).select_from(game).scalar_subquery(),
            unfinished.scalar_subquery(),
        )
        with self._reading() as connection:
            return Counts(*connection.execute(query).one())

    def _unclosed(self, condition: Any) -> list[str]:
        query = select(game.c.id).where(game.c.ended_ms.is_not(None), game.c.closed_ms.is_(None), condition)
        with self._reading() as connection:
            return list(connection.scalars(query))

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        try:
            with self._engine.connect() as connection:
                yield connection
        except (DBAPIError, PoolTimeoutError) as error:
            cause = error.orig if isinstance(error, DBAPIError) else error
            raise StoreUnavailable(f"the database can't be read: {cause}") from error
        except UnicodeEncodeError:
            # Half a character, of a command line for instance: nothing on record has such an id.
            raise StoreFault("what is asked for is no text that a database can hold") from None


def _number_of_player(player_id: str) -> Any:
    return select(player.c.n).where(player.c.id == player_id).scalar_subquery()


def _one(connection: Connection, query: Select[Any], kind: type[_Struct], **values: object) -> _Struct | None:
    row = connection.execute(query, values).one_or_none()
    return None if row is None else kind(*row)


def _all(connection: Connection, query: Select[Any], kind: type[_Struct], **values: object) -> list[_Struct]:
    return [kind(*row) for row in connection.execute(query, values).all()]
