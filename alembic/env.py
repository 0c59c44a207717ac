"""What alembic runs to migrate a database; the care that is taken is in ``chilkoot.record.migrations``.

Chilkoot migrates by itself when it starts. To write a migration: ``alembic -x database=sqlite:///some.db revision -m "..."``.
"""

from alembic import context
from sqlalchemy import Connection

from chilkoot.record.migrations import migrating
from chilkoot.record.sqlite import FileLock, create_file, database_path, writing_engine
from chilkoot.record.tables import metadata


def run(connection: Connection) -> None:
    """Run the migrations that alembic was asked for, in one transaction."""
    with migrating(connection):
        context.configure(
            connection=connection, target_metadata=metadata, transactional_ddl=True, render_as_batch=True
        )
        context.run_migrations()


def run_alone() -> None:
    """Started by alembic's own command: find the database, and keep every server away from it."""
    url = context.get_x_argument(as_dictionary=True).get("database")
    if not isinstance(url, str):
        raise SystemExit("say which database: alembic -x database=sqlite:///path/to/games.db ...")
    path = database_path(url)
    create_file(path)
    lock = FileLock(path)
    try:
        with writing_engine(path).connect() as connection:
            run(connection)
    finally:
        lock.release()


given = context.config.attributes.get("connection")
if given is None:
    run_alone()
else:
    run(given)
