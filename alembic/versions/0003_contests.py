"""Games that count in a contest, and are sealed until it is over.

Revision 0003.
"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # A new column without a default rewrites no row.
    op.add_column("game", sa.Column("contest", sa.Text()))
    op.add_column("game", sa.Column("sealed_until_ms", sa.BigInteger()))


def downgrade() -> None:
    op.drop_column("game", "sealed_until_ms")
    op.drop_column("game", "contest")
