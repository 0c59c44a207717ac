"""Races: rooms with a key, and who sits where with which game.

Revision 0005.
"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_is_open = sa.text("ended_ms IS NULL")


def upgrade() -> None:
    op.create_table(
        "race",
        sa.Column("n", _number, nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("player", sa.BigInteger(), nullable=False),
        sa.Column("variant", sa.Text(), nullable=False),
        sa.Column("level", sa.Integer()),
        sa.Column("rules_hash", sa.Text(), nullable=False),
        sa.Column("seats", sa.Integer(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("ghost", sa.BigInteger()),
        sa.Column("previous", sa.BigInteger()),
        sa.Column("created_ms", sa.BigInteger(), nullable=False),
        sa.Column("starts_ms", sa.BigInteger()),
        sa.Column("ends_ms", sa.BigInteger()),
        sa.Column("ended_ms", sa.BigInteger()),
        sa.PrimaryKeyConstraint("n", name="pk_race"),
        sa.UniqueConstraint("id", name="uq_race_id"),
        sa.UniqueConstraint("previous", name="uq_race_previous"),
        sa.ForeignKeyConstraint(["player"], ["player.n"], name="fk_race_player_player", ondelete="RESTRICT"),
        sa.ForeignKeyConstraint(
            ["rules_hash"], ["rules.hash"], name="fk_race_rules_hash_rules", ondelete="RESTRICT"
        ),
        sa.ForeignKeyConstraint(["ghost"], ["game.n"], name="fk_race_ghost_game", ondelete="RESTRICT"),
        sa.ForeignKeyConstraint(["previous"], ["race.n"], name="fk_race_previous_race", ondelete="RESTRICT"),
    )
    op.create_index("ix_race_open", "race", ["n"], sqlite_where=_is_open, postgresql_where=_is_open)
    op.create_table(
        "seat",
        sa.Column("race", sa.BigInteger(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("player", sa.BigInteger(), nullable=False),
        sa.Column("game", sa.BigInteger()),
        sa.Column("joined_ms", sa.BigInteger(), nullable=False),
        sa.Column("status", sa.Text()),
        sa.Column("score", sa.Integer()),
        sa.Column("moves", sa.Integer()),
        sa.Column("ended_ms", sa.BigInteger()),
        sa.PrimaryKeyConstraint("race", "number", name="pk_seat"),
        sa.UniqueConstraint("race", "player", name="uq_seat_race_player"),
        sa.UniqueConstraint("game", name="uq_seat_game"),
        sa.ForeignKeyConstraint(["race"], ["race.n"], name="fk_seat_race_race", ondelete="RESTRICT"),
        sa.ForeignKeyConstraint(["player"], ["player.n"], name="fk_seat_player_player", ondelete="RESTRICT"),
        sa.ForeignKeyConstraint(["game"], ["game.n"], name="fk_seat_game_game", ondelete="RESTRICT"),
    )


def downgrade() -> None:
    for name in ("seat", "race"):
        op.drop_table(name)
