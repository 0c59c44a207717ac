"""Seasons and their secrets, the deal of each day, ranked attempts, and leaderboards.

Revision 0004.
"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def _refers(table: str, column: str, to: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        [column], [f"{to}.n"], name=f"fk_{table}_{column}_{to}", ondelete="RESTRICT"
    )


def upgrade() -> None:
    op.create_table(
        "season",
        sa.Column("n", _number, nullable=False),
        sa.Column("first", sa.Text(), nullable=False),
        sa.Column("days", sa.Integer(), nullable=False),
        sa.Column("root", sa.LargeBinary(), nullable=False),
        sa.Column("published_ms", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("n", name="pk_season"),
        sa.UniqueConstraint("first", name="uq_season_first"),
    )
    op.create_table(
        "season_secret",
        sa.Column("season", sa.BigInteger(), nullable=False),
        sa.Column("tip", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("season", name="pk_season_secret"),
        _refers("season_secret", "season", "season"),
    )
    op.create_table(
        "daily",
        sa.Column("n", _number, nullable=False),
        sa.Column("date", sa.Text(), nullable=False),
        sa.Column("variant", sa.Text(), nullable=False),
        sa.Column("level", sa.Integer(), nullable=False),
        sa.Column("season", sa.BigInteger(), nullable=False),
        sa.Column("day", sa.Integer(), nullable=False),
        sa.Column("rules_hash", sa.Text(), nullable=False),
        sa.Column("beacon", sa.Text(), nullable=False),
        sa.Column("seed_hash", sa.LargeBinary(), nullable=False),
        sa.Column("announced_ms", sa.BigInteger(), nullable=False),
        sa.Column("nonce", sa.Integer()),
        sa.Column("proof", sa.Text()),
        sa.Column("solver", sa.Integer()),
        sa.Column("positions", sa.BigInteger()),
        sa.Column("solution_hash", sa.LargeBinary()),
        sa.Column("chosen_ms", sa.BigInteger()),
        sa.PrimaryKeyConstraint("n", name="pk_daily"),
        sa.UniqueConstraint("date", "variant", "level", name="uq_daily_date_variant_level"),
        _refers("daily", "season", "season"),
        sa.ForeignKeyConstraint(
            ["rules_hash"], ["rules.hash"], name="fk_daily_rules_hash_rules", ondelete="RESTRICT"
        ),
    )
    op.create_table(
        "daily_solution",
        sa.Column("daily", sa.BigInteger(), nullable=False),
        sa.Column("line", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("daily", name="pk_daily_solution"),
        _refers("daily_solution", "daily", "daily"),
    )
    op.create_table(
        "attempt",
        sa.Column("player", sa.BigInteger(), nullable=False),
        sa.Column("daily", sa.BigInteger(), nullable=False),
        sa.Column("game", sa.BigInteger(), nullable=False),
        sa.Column("ended_ms", sa.BigInteger()),
        sa.Column("won", sa.Integer()),
        sa.Column("autos", sa.Integer()),
        sa.Column("ms", sa.BigInteger()),
        sa.Column("is_ranked", sa.Integer()),
        sa.PrimaryKeyConstraint("player", "daily", name="pk_attempt"),
        sa.UniqueConstraint("game", name="uq_attempt_game"),
        _refers("attempt", "player", "player"),
        _refers("attempt", "daily", "daily"),
        _refers("attempt", "game", "game"),
    )
    op.create_table(
        "board",
        sa.Column("n", _number, nullable=False),
        sa.Column("period", sa.Text(), nullable=False),
        sa.Column("variant", sa.Text(), nullable=False),
        sa.Column("level", sa.Integer(), nullable=False),
        sa.Column("players", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("n", name="pk_board"),
        sa.UniqueConstraint("period", "variant", "level", name="uq_board_period_variant_level"),
    )
    op.create_table(
        "standing",
        sa.Column("n", _number, nullable=False),
        sa.Column("board", sa.BigInteger(), nullable=False),
        sa.Column("player", sa.BigInteger(), nullable=False),
        sa.Column("days", sa.Integer(), nullable=False),
        sa.Column("won", sa.Integer(), nullable=False),
        sa.Column("score", sa.Integer(), nullable=False),
        sa.Column("assisted", sa.Integer(), nullable=False),
        sa.Column("moves", sa.Integer(), nullable=False),
        sa.Column("ms", sa.BigInteger(), nullable=False),
        sa.Column("high", sa.BigInteger(), nullable=False),
        sa.Column("low", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("n", name="pk_standing"),
        sa.UniqueConstraint("board", "player", name="uq_standing_board_player"),
        _refers("standing", "board", "board"),
        _refers("standing", "player", "player"),
    )
    op.create_index("ix_standing_place", "standing", ["board", "high", "low", "n"])


def downgrade() -> None:
    for name in (
        "standing",
        "board",
        "attempt",
        "daily_solution",
        "daily",
        "season_secret",
        "season",
    ):
        op.drop_table(name)
