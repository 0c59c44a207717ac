"""Games on record: players, sessions, rules, games, actions, hints, replies.

Revision 0001, the first.
"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_is_playing = sa.text("ended_ms IS NULL")
_is_unclosed = sa.text("ended_ms IS NOT NULL AND closed_ms IS NULL")


def upgrade() -> None:
    op.create_table(
        "player",
        sa.Column("n", _number, nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("token_hash", sa.LargeBinary()),
        sa.Column("previous_hash", sa.LargeBinary()),
        sa.Column("previous_until_ms", sa.BigInteger()),
        sa.Column("created_ms", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("n", name="pk_player"),
        sa.UniqueConstraint("id", name="uq_player_id"),
        sa.UniqueConstraint("token_hash", name="uq_player_token_hash"),
        sa.UniqueConstraint("previous_hash", name="uq_player_previous_hash"),
    )
    op.create_table(
        "session",
        sa.Column("n", _number, nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("player", sa.BigInteger(), nullable=False),
        sa.Column("created_ms", sa.BigInteger(), nullable=False),
        sa.Column("seen_ms", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("n", name="pk_session"),
        sa.UniqueConstraint("id", name="uq_session_id"),
        sa.ForeignKeyConstraint(
            ["player"], ["player.n"], name="fk_session_player_player", ondelete="RESTRICT"
        ),
    )
    op.create_table(
        "rules",
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("hash", name="pk_rules"),
    )
    op.create_table(
        "game",
        sa.Column("n", _number, nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("player", sa.BigInteger(), nullable=False),
        sa.Column("variant", sa.Text(), nullable=False),
        sa.Column("level", sa.Integer()),
        sa.Column("rules_hash", sa.Text(), nullable=False),
        sa.Column("semantics", sa.Integer(), nullable=False),
        sa.Column("deal", sa.Text(), nullable=False),
        sa.Column("origin", sa.Text(), nullable=False),
        sa.Column("winnable", sa.Text()),
        sa.Column("watch", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("watch_key", sa.Text()),
        sa.Column("created_ms", sa.BigInteger(), nullable=False),
        sa.Column("start_hash", sa.LargeBinary(), nullable=False),
        sa.Column("imported_ms", sa.BigInteger()),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("result", sa.Text()),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("score", sa.Integer(), nullable=False),
        sa.Column("moves", sa.Integer(), nullable=False),
        sa.Column("undos", sa.Integer(), nullable=False),
        sa.Column("hints", sa.Integer(), nullable=False),
        sa.Column("head_hash", sa.LargeBinary(), nullable=False),
        sa.Column("ended_ms", sa.BigInteger()),
        sa.Column("closed_ms", sa.BigInteger()),
        sa.PrimaryKeyConstraint("n", name="pk_game"),
        sa.UniqueConstraint("id", name="uq_game_id"),
        sa.ForeignKeyConstraint(["player"], ["player.n"], name="fk_game_player_player", ondelete="RESTRICT"),
        sa.ForeignKeyConstraint(
            ["rules_hash"], ["rules.hash"], name="fk_game_rules_hash_rules", ondelete="RESTRICT"
        ),
    )
    op.create_index("ix_game_newest", "game", ["player", "created_ms", "n"])
    op.create_index(
        "ix_game_playing",
        "game",
        ["player", "created_ms", "n"],
        sqlite_where=_is_playing,
        postgresql_where=_is_playing,
    )
    op.create_index(
        "ix_game_unclosed", "game", ["ended_ms"], sqlite_where=_is_unclosed, postgresql_where=_is_unclosed
    )
    op.create_table(
        "participant",
        sa.Column("game", sa.BigInteger(), nullable=False),
        sa.Column("player", sa.BigInteger(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("since_ms", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("game", "player", name="pk_participant"),
        sa.ForeignKeyConstraint(["game"], ["game.n"], name="fk_participant_game_game", ondelete="RESTRICT"),
        sa.ForeignKeyConstraint(
            ["player"], ["player.n"], name="fk_participant_player_player", ondelete="RESTRICT"
        ),
    )
    op.create_table(
        "action",
        sa.Column("game", sa.BigInteger(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("session", sa.BigInteger()),
        sa.Column("command_id", sa.BigInteger()),
        sa.Column("at_ms", sa.BigInteger(), nullable=False),
        sa.Column("hash", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("game", "seq", name="pk_action"),
        sa.UniqueConstraint("session", "command_id", name="uq_action_session_command_id"),
        sa.ForeignKeyConstraint(["game"], ["game.n"], name="fk_action_game_game", ondelete="RESTRICT"),
        sa.ForeignKeyConstraint(
            ["session"], ["session.n"], name="fk_action_session_session", ondelete="RESTRICT"
        ),
    )
    op.create_table(
        "hint",
        sa.Column("game", sa.BigInteger(), nullable=False),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("at_ms", sa.BigInteger(), nullable=False),
        sa.Column("hash", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("game", "n", name="pk_hint"),
        sa.ForeignKeyConstraint(["game"], ["game.n"], name="fk_hint_game_game", ondelete="RESTRICT"),
    )
    op.create_table(
        "reply",
        sa.Column("n", _number, nullable=False),
        sa.Column("session", sa.BigInteger(), nullable=False),
        sa.Column("command_id", sa.BigInteger(), nullable=False),
        sa.Column("fingerprint", sa.LargeBinary(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("n", name="pk_reply"),
        sa.UniqueConstraint("session", "command_id", name="uq_reply_session_command_id"),
        sa.ForeignKeyConstraint(
            ["session"], ["session.n"], name="fk_reply_session_session", ondelete="RESTRICT"
        ),
    )


def downgrade() -> None:
    for name in ("reply", "hint", "action", "participant", "game", "rules", "session", "player"):
        op.drop_table(name)
