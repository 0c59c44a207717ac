import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy.exc import OperationalError

from caller import calling
from chilkoot.data import migrations_folder
from chilkoot.record import (
    CannotOpen,
    Reader,
    SchemaMismatch,
    Store,
    StoreBusy,
    export_game,
    migrations,
    upgrade_database,
    verify,
)
from chilkoot.record.sqlite import create_file, reading_engine, writing_engine
from chilkoot.record.tables import REVISION, metadata
from record_examples import append, game, hint, opening, reply
from servers import LiveServer

ROOT = Path(__file__).resolve().parents[1]

OLD_GAMES = ROOT / "tests" / "data" / "games-0001.sql"
"""A database as the first schema had it, played by a server of that time: never made anew."""
OLD_GAME = "gQLnpotpcU7V6shEENAaCB"
OLD_TOKEN = "RRJLZRbmD_OV-xiZX8Fbq3-shJnKmHLmZJEi9S75DLk"
OLD_SESSION = "bZZbKPArWAczNwdzMPzvBG"

REBUILDS_A_TABLE = """
def upgrade():
    with op.batch_alter_table("game", recreate="always") as table:
        table.add_column(sa.Column("note", sa.Text()))
        table.alter_column("variant", type_=sa.String(40))


def downgrade():
    with op.batch_alter_table("game", recreate="always") as table:
        table.drop_column("note")
        table.alter_column("variant", type_=sa.Text())
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "games.db"


@pytest.fixture
def url(path: Path) -> str:
    return f"sqlite:///{path}"


def played(url: str, games: int = 20) -> None:
    """Put games on record, with everything that may refer to them."""
    with closing(Store.open(url)) as store:
        store.write(opening("g0"))
        for number in range(1, games):
            store.write((game(f"g{number}"),))
        for number in range(games):
            for seq in range(1, 6):
                command = 10 * number + seq
                store.write((append(seq, f"g{number}", command_id=command), reply(command)))
            store.write((hint(1, 5, f"g{number}"),))


def contents(path: Path) -> dict[str, list[tuple[Any, ...]]]:
    with closing(sqlite3.connect(path)) as connection:
        columns = {
            name: ", ".join(f'"{column.name}"' for column in table.columns)
            for name, table in metadata.tables.items()
        }
        return {
            name: connection.execute(f'SELECT {of} FROM "{name}"').fetchall() for name, of in columns.items()
        }


def schema(path: Path) -> dict[str, str]:
    with closing(sqlite3.connect(path)) as connection:
        found = connection.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
    return {name: " ".join(sql.replace('"', "").split()) for name, sql in found if "alembic" not in name}


def old_games(path: Path) -> None:
    """Put the database of the first schema where a path says."""
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(OLD_GAMES.read_text("utf-8"))


def dump(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as connection:
        return [line for line in connection.iterdump() if line.startswith("INSERT")]


def migrations_with(folder: Path, name: str, body: str) -> Path:
    """The project's migrations and one more."""
    if not folder.exists():
        shutil.copytree(migrations_folder(), folder)
    (folder / "versions" / f"{name}_more.py").write_text(
        f'import sqlalchemy as sa\n\nfrom alembic import op\n\nrevision = "{name}"\ndown_revision = "{REVISION}"\n{body}'
    )
    return folder


def migrate(path: Path, *, foreign_keys: bool = True, **how: Any) -> None:
    engine = writing_engine(path, foreign_keys=foreign_keys)
    migrations.migrate(engine, **how)
    engine.dispose()


def test_the_migrations_make_the_tables_that_the_code_uses(path: Path, tmp_path: Path) -> None:
    create_file(path)
    migrate(path)
    from_code = tmp_path / "code.db"
    create_file(from_code)
    metadata.create_all(writing_engine(from_code))
    made, wanted = schema(path), schema(from_code)
    assert sorted(made) == sorted(wanted)
    # Columns and constraints stand in another order here and there; compare them as sets.
    parts = {name: sorted(part.strip() for part in sql.split(", ")) for name, sql in made.items()}
    assert parts == {name: sorted(part.strip() for part in sql.split(", ")) for name, sql in wanted.items()}
    with reading_engine(path).connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []


def test_the_revision_in_the_code_is_the_newest_migration() -> None:
    config = Config()
    config.set_main_option("script_location", str(migrations_folder()))
    assert ScriptDirectory.from_config(config).get_heads() == [REVISION]


def test_nothing_deletes_along_a_reference() -> None:
    rules = {key.ondelete for table in metadata.tables.values() for key in table.foreign_keys}
    assert rules == {"RESTRICT"}


def test_a_migration_goes_back_and_forth(path: Path, url: str) -> None:
    played(url)
    migrate(path, to="base", down=True)
    assert schema(path) == {}
    migrate(path)
    assert migrations.stored_revision(path) == REVISION
    played(url)


def test_a_migration_that_databases_have_been_made_with_never_changes(path: Path, tmp_path: Path) -> None:
    old = tmp_path / "old.db"
    old_games(old)
    create_file(path)
    migrate(path, to="0001")
    assert schema(path) == schema(old)


def test_the_first_games_stay_true_through_every_migration_and_back(path: Path, url: str) -> None:
    old_games(path)
    before = dump(path)
    assert upgrade_database(url) == ("0001", REVISION)
    with closing(Reader.open(url)) as reader:
        found = [export_game(reader, game_id) for game_id in reader.game_ids()]
    assert len(found) == 3
    assert [verify(one) if one is not None else None for one in found] == [[], [], []]
    migrate(path, to="0001", down=True)
    assert dump(path) == before


async def test_who_played_before_all_migrations_goes_on_in_the_same_session(path: Path) -> None:
    old_games(path)
    with LiveServer(path.parent) as server:
        async with calling(server.url) as caller:
            welcome = await caller.ask(
                "hello", 100, token=OLD_TOKEN, session=OLD_SESSION, games={OLD_GAME: 3}
            )
            assert (welcome["type"], welcome["resumed"]) == ("welcome", True)
            again = await caller.ask("undo", 6, game=OLD_GAME, base=2)
            assert (again["type"], again["seq"]) == ("diff", 3)
            redone = await caller.ask("redo", 101, game=OLD_GAME, base=3)
            assert (redone["type"], redone["seq"]) == ("diff", 4)


def test_a_database_that_has_a_column_already_which_a_migration_adds_is_fine(path: Path, url: str) -> None:
    old_games(path)
    migrate(path, to="0005")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("ALTER TABLE action ADD COLUMN fingerprint BLOB")
    assert upgrade_database(url) == ("0005", REVISION)
    with closing(Store.open(url)) as store:
        assert store.reader.commands_of(OLD_SESSION) == []


@pytest.mark.parametrize("foreign_keys", (True, False))
def test_rebuilding_a_table_keeps_every_row_that_refers_to_it(
    path: Path, url: str, tmp_path: Path, foreign_keys: bool
) -> None:
    played(url)
    before, tables = contents(path), schema(path)
    folder = migrations_with(tmp_path / "migrations", "9000", REBUILDS_A_TABLE)
    migrate(path, folder=folder, foreign_keys=foreign_keys)
    assert "note" in schema(path)["game"]
    assert contents(path) == before
    migrate(path, to=REVISION, down=True, folder=folder, foreign_keys=foreign_keys)
    assert contents(path) == before
    assert sorted(schema(path)) == sorted(tables)
    with closing(Store.open(url)) as store:
        store.write((append(6, "g0", command_id=999),))


@pytest.mark.parametrize(
    ("body", "says"),
    (
        (
            'def upgrade():\n    op.execute("DELETE FROM hint WHERE n = 1")\n',
            r"hint \(20 rows before, 0 after\)",
        ),
        (
            'def upgrade():\n    op.execute("UPDATE game SET player = 77")\n',
            "would leave references to nothing and was taken back: game",
        ),
        ('def upgrade():\n    op.drop_column("hint", "hash")\n    raise ZeroDivisionError\n', None),
    ),
    ids=("loses rows", "leaves references to nothing", "fails half-way"),
)
def test_a_migration_that_does_harm_is_taken_back(
    path: Path, url: str, tmp_path: Path, body: str, says: str | None
) -> None:
    played(url)
    before, tables = contents(path), schema(path)
    folder = migrations_with(tmp_path / "migrations", "9000", body)
    with pytest.raises(CannotOpen if says else ZeroDivisionError, match=says):
        migrate(path, folder=folder)
    assert contents(path) == before
    assert schema(path) == tables
    assert migrations.stored_revision(path) == REVISION


def test_an_older_database_is_copied_and_brought_up_to_date(
    path: Path,
    url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    played(url)
    before = contents(path)
    folder = migrations_with(tmp_path / "migrations", "9000", REBUILDS_A_TABLE)
    monkeypatch.setattr(migrations, "migrations_folder", lambda: folder)
    monkeypatch.setattr(migrations, "REVISION", "9000")
    copies = [tmp_path / "games.db.before-9000", tmp_path / "games.db.before-9000.2"]
    for copy in copies:
        assert upgrade_database(url) == (REVISION, "9000")
        assert contents(copy) == contents(path) == before
        assert migrations.stored_revision(copy) == REVISION
        assert str(copy) in caplog.text
        assert upgrade_database(url) == ("9000", "9000")
        migrate(path, to=REVISION, down=True, folder=folder)
    assert not list(tmp_path.glob("*.part"))


def test_a_reader_says_how_to_bring_an_older_database_up_to_date(
    path: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    played(url, games=1)
    monkeypatch.setattr("chilkoot.record.reader.REVISION", "9000")
    with pytest.raises(SchemaMismatch, match=f"chilkoot db upgrade --database {url}"):
        Reader.open(url)
    assert migrations.stored_revision(path) == REVISION


def test_a_newer_database_is_refused_and_not_touched(path: Path, url: str) -> None:
    played(url, games=2)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
        connection.commit()
    before = path.read_bytes()
    for attempt in (Store.open, Reader.open, upgrade_database):
        with pytest.raises(SchemaMismatch, match="9999"):
            attempt(url)
    assert path.read_bytes() == before
    assert not list(path.parent.glob("*.before*"))


def test_a_database_of_another_program_is_refused_and_not_touched(path: Path, url: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE urls (id INTEGER)")
        connection.commit()
    before = path.read_bytes()
    with pytest.raises(SchemaMismatch, match="of another program"):
        Store.open(url)
    assert path.read_bytes() == before


def test_a_file_that_is_no_database_is_refused_and_not_touched(path: Path, url: str) -> None:
    path.write_text("Dear diary, today I played Yukon. " * 100)
    before = path.read_bytes()
    with pytest.raises(SchemaMismatch, match="is not a SQLite database"):
        Store.open(url)
    assert path.read_bytes() == before


def test_an_empty_file_becomes_a_database(path: Path, url: str) -> None:
    path.touch()
    played(url, games=1)
    assert migrations.stored_revision(path) == REVISION


def test_a_database_in_use_is_not_upgraded(url: str) -> None:
    with closing(Store.open(url)), pytest.raises(StoreBusy):
        upgrade_database(url)


def test_a_start_on_a_current_database_does_not_need_alembic(url: str) -> None:
    Store.open(url).close()
    program = f"import sys; from chilkoot.record import Store; Store.open({url!r}).close(); print('alembic' in sys.modules)"
    assert python("-c", program).stdout == "False\n"


def python(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(ROOT / "server")}
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


def test_alembics_own_command_takes_the_same_care(path: Path, url: str) -> None:
    assert "say which database" in python("-m", "alembic", "upgrade", "head").stderr
    done = python("-m", "alembic", "-x", f"database={url}", "upgrade", "head")
    assert done.returncode == 0, done.stderr
    assert migrations.stored_revision(path) == REVISION
    with closing(Store.open(url)):
        assert (
            "in use by another server" in python("-m", "alembic", "-x", f"database={url}", "current").stderr
        )


def test_a_migration_that_can_not_be_written_is_said_in_one_sentence(
    path: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: Any, **__: Any) -> None:
        raise OperationalError("", None, sqlite3.OperationalError("database or disk is full"))

    monkeypatch.setattr(migrations, "migrate", fails)
    with pytest.raises(
        CannotOpen, match=f"can't bring the schema of {path} up to date: database or disk is full"
    ):
        Store.open(url)
