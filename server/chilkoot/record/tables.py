"""The tables of the record, as SQLAlchemy Core sees them. Migrations make them; a test says that the two agree.

Players, sessions and games have a short number beside their id, and other tables refer to the number: an action then costs
16 µs of SQLite's time where it cost 38 with random 32-letter keys, for the indexes it changes stay small and close together.
Actions are only ever added. Nothing is deleted but replies nobody can ask for any more, seats left before their race began, and
spectators that a game was closed to; and nothing deletes along a reference: a table that a migration copies and drops would take every recorded game with it.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import (
    BigInteger,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
)

__all__ = [
    "REVISION",
    "action",
    "analysis",
    "attempt",
    "board",
    "certified",
    "daily",
    "daily_solution",
    "game",
    "hint",
    "metadata",
    "participant",
    "player",
    "race",
    "reply",
    "rules",
    "season",
    "season_secret",
    "seat",
    "session",
    "standing",
]

REVISION: Final = "0006"
"""The alembic revision that these tables are. It stands here so that a start on a current database need not import alembic."""

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)

# SQLite numbers rows by itself only in a column whose type is exactly INTEGER.
_Number = BigInteger().with_variant(Integer(), "sqlite")


def _reference(column: str) -> ForeignKey:
    return ForeignKey(column, ondelete="RESTRICT")


player = Table(
    "player",
    metadata,
    Column("n", _Number, primary_key=True),
    Column("id", Text, nullable=False, unique=True),
    Column("name", Text, nullable=False),
    Column("token_hash", LargeBinary, unique=True),
    Column("previous_hash", LargeBinary, unique=True),
    Column("previous_until_ms", BigInteger),
    Column("created_ms", BigInteger, nullable=False),
)

session = Table(
    "session",
    metadata,
    Column("n", _Number, primary_key=True),
    Column("id", Text, nullable=False, unique=True),
    Column("player", BigInteger, _reference("player.n"), nullable=False),
    Column("created_ms", BigInteger, nullable=False),
    Column("seen_ms", BigInteger, nullable=False),
)

rules = Table(
    "rules",
    metadata,
    Column("hash", Text, primary_key=True),
    Column("text", Text, nullable=False),
)

game = Table(
    "game",
    metadata,
    Column("n", _Number, primary_key=True),
    Column("id", Text, nullable=False, unique=True),
    Column("player", BigInteger, _reference("player.n"), nullable=False),
    Column("variant", Text, nullable=False),
    Column("level", Integer),
    Column("rules_hash", Text, _reference("rules.hash"), nullable=False),
    Column("semantics", Integer, nullable=False),
    Column("deal", Text, nullable=False),
    Column("origin", Text, nullable=False),
    Column("winnable", Text),
    Column("watch", Text, nullable=False),
    Column("key", Text, nullable=False),
    Column("watch_key", Text),
    Column("created_ms", BigInteger, nullable=False),
    Column("start_hash", LargeBinary, nullable=False),
    Column("imported_ms", BigInteger),
    Column("contest", Text),
    Column("sealed_until_ms", BigInteger),
    # From here on: how the game stands, kept up by every action so that a list of games reads no action.
    Column("status", Text, nullable=False),
    Column("result", Text),
    Column("seq", Integer, nullable=False),
    Column("score", Integer, nullable=False),
    Column("moves", Integer, nullable=False),
    Column("undos", Integer, nullable=False),
    Column("hints", Integer, nullable=False),
    Column("head_hash", LargeBinary, nullable=False),
    Column("ended_ms", BigInteger),
    Column("closed_ms", BigInteger),
)
Index("ix_game_newest", game.c.player, game.c.created_ms, game.c.n)
Index(
    "ix_game_playing",
    game.c.player,
    game.c.created_ms,
    game.c.n,
    sqlite_where=game.c.ended_ms.is_(None),
)
_IS_UNCLOSED = game.c.ended_ms.is_not(None) & game.c.closed_ms.is_(None)
Index("ix_game_unclosed", game.c.ended_ms, sqlite_where=_IS_UNCLOSED)

# Deals that a search found a winning line for. A free one is a secret as great as a hidden card: nothing that answers
# a client reads this table, and a deal is told by the game that took it, when that is over.
certified = Table(
    "certified",
    metadata,
    Column("n", _Number, primary_key=True),
    Column("rules_hash", Text, _reference("rules.hash"), nullable=False),
    Column("deal", Text, nullable=False),
    Column("solver", Integer, nullable=False),
    Column("positions", BigInteger, nullable=False),
    Column("actions", Integer, nullable=False),
    Column("difficulty", Integer, nullable=False),
    Column("found_ms", BigInteger, nullable=False),
    # The one game that was dealt from it.
    Column("game", BigInteger, _reference("game.n"), unique=True),
    UniqueConstraint("deal", "rules_hash"),
)
_IS_FREE = certified.c.game.is_(None)
Index(
    "ix_certified_free",
    certified.c.rules_hash,
    certified.c.n,
    sqlite_where=_IS_FREE,
)

# What the solver says of the positions of a game that is over; made again at any time, so old ones may go.
analysis = Table(
    "analysis",
    metadata,
    Column("game", BigInteger, _reference("game.n"), nullable=False),
    Column("solver", Integer, nullable=False),
    Column("body", LargeBinary, nullable=False),
    PrimaryKeyConstraint("game", "solver"),
)

participant = Table(
    "participant",
    metadata,
    Column("game", BigInteger, _reference("game.n"), nullable=False),
    Column("player", BigInteger, _reference("player.n"), nullable=False),
    Column("role", Text, nullable=False),
    Column("since_ms", BigInteger, nullable=False),
    PrimaryKeyConstraint("game", "player"),
)

action = Table(
    "action",
    metadata,
    Column("game", BigInteger, _reference("game.n"), nullable=False),
    Column("seq", Integer, nullable=False),
    Column("text", Text, nullable=False),
    Column("by", Text, nullable=False),
    # No reference: an imported game names players of another server.
    Column("actor", Text, nullable=False),
    Column("session", BigInteger, _reference("session.n")),
    Column("command_id", BigInteger),
    Column("fingerprint", LargeBinary),
    Column("at_ms", BigInteger, nullable=False),
    Column("hash", LargeBinary, nullable=False),
    PrimaryKeyConstraint("game", "seq"),
    UniqueConstraint("session", "command_id"),
)

hint = Table(
    "hint",
    metadata,
    Column("game", BigInteger, _reference("game.n"), nullable=False),
    Column("n", Integer, nullable=False),
    Column("seq", Integer, nullable=False),
    Column("text", Text, nullable=False),
    Column("actor", Text, nullable=False),
    Column("at_ms", BigInteger, nullable=False),
    Column("hash", LargeBinary, nullable=False),
    PrimaryKeyConstraint("game", "n"),
)

reply = Table(
    "reply",
    metadata,
    # In the order of writing: tells the last ones of a session, and keeps what is written together close together.
    Column("n", _Number, primary_key=True),
    Column("session", BigInteger, _reference("session.n"), nullable=False),
    Column("command_id", BigInteger, nullable=False),
    Column("fingerprint", LargeBinary, nullable=False),
    Column("body", LargeBinary, nullable=False),
    UniqueConstraint("session", "command_id"),
)

season = Table(
    "season",
    metadata,
    Column("n", _Number, primary_key=True),
    Column("first", Text, nullable=False, unique=True),
    Column("days", Integer, nullable=False),
    Column("root", LargeBinary, nullable=False),
    Column("published_ms", BigInteger, nullable=False),
)

# By itself, so that nothing that tells of seasons can tell this by mistake.
season_secret = Table(
    "season_secret",
    metadata,
    Column("season", BigInteger, _reference("season.n"), primary_key=True, autoincrement=False),
    Column("tip", LargeBinary, nullable=False),
)

daily = Table(
    "daily",
    metadata,
    Column("n", _Number, primary_key=True),
    Column("date", Text, nullable=False),
    Column("variant", Text, nullable=False),
    # -1 where the variant has no levels: of two rows with NULL a database does not say that they are the same.
    Column("level", Integer, nullable=False),
    Column("season", BigInteger, _reference("season.n"), nullable=False),
    Column("day", Integer, nullable=False),
    Column("rules_hash", Text, _reference("rules.hash"), nullable=False),
    Column("beacon", Text, nullable=False),
    Column("seed_hash", LargeBinary, nullable=False),
    Column("announced_ms", BigInteger, nullable=False),
    # From here on: what is known once the deal is chosen.
    Column("nonce", Integer),
    Column("proof", Text),
    Column("solver", Integer),
    Column("positions", BigInteger),
    Column("solution_hash", LargeBinary),
    Column("chosen_ms", BigInteger),
    UniqueConstraint("date", "variant", "level"),
)

daily_solution = Table(
    "daily_solution",
    metadata,
    Column("daily", BigInteger, _reference("daily.n"), primary_key=True, autoincrement=False),
    Column("line", Text, nullable=False),
)

attempt = Table(
    "attempt",
    metadata,
    Column("player", BigInteger, _reference("player.n"), nullable=False),
    Column("daily", BigInteger, _reference("daily.n"), nullable=False),
    Column("game", BigInteger, _reference("game.n"), nullable=False, unique=True),
    Column("ended_ms", BigInteger),
    Column("won", Integer),
    Column("autos", Integer),
    Column("ms", BigInteger),
    Column("is_ranked", Integer),
    PrimaryKeyConstraint("player", "daily"),
)

board = Table(
    "board",
    metadata,
    Column("n", _Number, primary_key=True),
    # A date, `week ` and its Monday, or `all`.
    Column("period", Text, nullable=False),
    Column("variant", Text, nullable=False),
    Column("level", Integer, nullable=False),
    # Counted here, since counting a hundred thousand lines takes longer than showing twenty of them.
    Column("players", Integer, nullable=False),
    UniqueConstraint("period", "variant", "level"),
)

standing = Table(
    "standing",
    metadata,
    Column("n", _Number, primary_key=True),
    Column("board", BigInteger, _reference("board.n"), nullable=False),
    Column("player", BigInteger, _reference("player.n"), nullable=False),
    Column("days", Integer, nullable=False),
    Column("won", Integer, nullable=False),
    Column("score", Integer, nullable=False),
    Column("assisted", Integer, nullable=False),
    Column("moves", Integer, nullable=False),
    Column("ms", BigInteger, nullable=False),
    # `daily.place_of` of the sums.
    Column("high", BigInteger, nullable=False),
    Column("low", BigInteger, nullable=False),
    UniqueConstraint("board", "player"),
)
Index("ix_standing_place", standing.c.board, standing.c.high, standing.c.low, standing.c.n)

race = Table(
    "race",
    metadata,
    Column("n", _Number, primary_key=True),
    Column("id", Text, nullable=False, unique=True),
    Column("player", BigInteger, _reference("player.n"), nullable=False),
    Column("variant", Text, nullable=False),
    Column("level", Integer),
    Column("rules_hash", Text, _reference("rules.hash"), nullable=False),
    Column("seats", Integer, nullable=False),
    Column("key", Text, nullable=False),
    Column("ghost", BigInteger, _reference("game.n")),
    # The race that this is the rematch of; a race has one.
    Column("previous", BigInteger, _reference("race.n"), unique=True),
    Column("created_ms", BigInteger, nullable=False),
    Column("starts_ms", BigInteger),
    Column("ends_ms", BigInteger),
    Column("ended_ms", BigInteger),
)
Index(
    "ix_race_open",
    race.c.n,
    sqlite_where=race.c.ended_ms.is_(None),
)

seat = Table(
    "seat",
    metadata,
    Column("race", BigInteger, _reference("race.n"), nullable=False),
    Column("number", Integer, nullable=False),
    Column("player", BigInteger, _reference("player.n"), nullable=False),
    Column("game", BigInteger, _reference("game.n"), unique=True),
    Column("joined_ms", BigInteger, nullable=False),
    # How its game stood when that counted no longer: when the player left, or the race was over.
    Column("status", Text),
    Column("score", Integer),
    Column("moves", Integer),
    Column("ended_ms", BigInteger),
    PrimaryKeyConstraint("race", "number"),
    UniqueConstraint("race", "player"),
)
