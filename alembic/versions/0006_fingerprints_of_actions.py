"""An action keeps the fingerprint of the command that asked for it, so that its reply takes no row of its own.

Revision 0006.
"""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    columns = {column["name"] for column in sa.inspect(op.get_bind()).get_columns("action")}
    # For some days before the first release 0001 made this column itself: databases of that time have it already.
    if "fingerprint" not in columns:
        op.add_column("action", sa.Column("fingerprint", sa.LargeBinary()))


def downgrade() -> None:
    op.drop_column("action", "fingerprint")
