"""Deals that are certified winnable, kept ready for games to come; verdicts on games that are over.

Revision 0002.
"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_is_free = sa.text("game IS NULL")


def upgrade() -> None:
    op.create_table(
        "certified",
        sa.Column("n", _number, nullable=False),
        sa.Column("rules_hash", sa.Text(), nullable=False),
        sa.Column("deal", sa.Text(), nullable=False),
        sa.Column("solver", sa.Integer(), nullable=False),
        sa.Column("positions", sa.BigInteger(), nullable=False),
        sa.Column("actions", sa.Integer(), nullable=False),
        sa.Column("difficulty", sa.Integer(), nullable=False),
        sa.Column("found_ms", sa.BigInteger(), nullable=False),
        sa.Column("game", sa.BigInteger()),
        sa.PrimaryKeyConstraint("n", name="pk_certified"),
        sa.UniqueConstraint("deal", "rules_hash", name="uq_certified_deal_rules_hash"),
        sa.UniqueConstraint("game", name="uq_certified_game"),
        sa.ForeignKeyConstraint(
            ["rules_hash"], ["rules.hash"], name="fk_certified_rules_hash_rules", ondelete="RESTRICT"
        ),
        sa.ForeignKeyConstraint(["game"], ["game.n"], name="fk_certified_game_game", ondelete="RESTRICT"),
    )
    op.create_index(
        "ix_certified_free",
        "certified",
        ["rules_hash", "n"],
        sqlite_where=_is_free,
        postgresql_where=_is_free,
    )
    op.create_table(
        "analysis",
        sa.Column("game", sa.BigInteger(), nullable=False),
        sa.Column("solver", sa.Integer(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("game", "solver", name="pk_analysis"),
        sa.ForeignKeyConstraint(["game"], ["game.n"], name="fk_analysis_game_game", ondelete="RESTRICT"),
    )


def downgrade() -> None:
    for name in ("analysis", "certified"):
        op.drop_table(name)
