"""What the record costs: CPU and time per durable action, as ratios to bare sqlite3.

Run by hand: ``python bench/record.py``. Every line does the same writes in the same schema with the same settings:
bare ``sqlite3.executemany``, SQLAlchemy filling in each row, and the store with its queue, thread and callbacks, where
as many units as a batch holds are under way at any time. A start and the loading of a game are timed too.
"""

from __future__ import annotations

import argparse
import os
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from threading import Event

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "server"))

from chilkoot.record import (
    Append,
    NewGame,
    NewPlayer,
    NewSession,
    Outcome,
    PutRules,
    Store,
    Unit,
    Write,
)
from chilkoot.record.sqlite import database_path, writing_engine
from chilkoot.record.statements import _STATEMENTS, compile_statements

HASH = os.urandom(32)
KINDS: tuple[type[Write], ...] = (Append,)


def new_game(number: int) -> Unit:
    """A player, a session and a game of their own, with ids that fall anywhere in an index as real ones do."""
    who = _id("p", number)
    return (
        NewPlayer(id=who, name="Ann", token_hash=_id("t", number).encode(), created_ms=number),
        NewSession(id=_id("s", number), player=who, created_ms=number),
        PutRules(hash="0" * 64, text="{}"),
        NewGame(
            id=_id("g", number),
            player=who,
            variant="yukon",
            level=None,
            rules_hash="0" * 64,
            semantics=1,
            deal="ck:" + "0" * 64,
            origin="fresh",
            watch="open",
            key=_id("k", number),
            watch_key=None,
            created_ms=number,
            start_hash=HASH,
        ),
    )


def _id(kind: str, number: int) -> str:
    return kind + f"{number * 2654435761 % 2**32:08x}" + "a" * 20


def action(number: int, seq: int) -> Unit:
    """An action of the usual size."""
    game, session = _id("g", number), _id("s", number)
    return (
        Append(
            game=game,
            seq=seq,
            text="t5 4 t2",
            by="player",
            actor=_id("p", number),
            session=session,
            command_id=seq,
            at_ms=1_790_000_000_000 + seq,
            hash=HASH,
            fingerprint=HASH[:16],
            status="playing",
            result=None,
            score=3,
            moves=seq,
            undos=0,
        ),
    )


def fresh_database(folder: Path, games: int) -> str:
    """The URL of a database with that many games of which nothing was played."""
    url = f"sqlite:///{folder / str(time.perf_counter_ns())}.db"
    store = Store.open(url)
    for first in range(0, games, 500):
        numbers = range(first, min(first + 500, games))
        store.write(tuple(write for number in numbers for write in new_game(number)))
    store.close()
    return url


def check(outcomes: Sequence[Outcome]) -> None:
    """Nothing may go wrong while we measure."""
    for _, fault in outcomes:
        if fault is not None:
            raise fault


def measure(run: Callable[[], None], actions: int) -> tuple[float, float]:
    """Microseconds of CPU, and of time, per action."""
    cpu, wall = time.process_time(), time.perf_counter()
    run()
    return (time.process_time() - cpu) / actions * 1e6, (time.perf_counter() - wall) / actions * 1e6


def batches(games: int, batch: int, count: int) -> list[list[Unit]]:
    """The same work for everybody: the newest `games` of the database play in turns."""
    seqs = [0] * games
    work = []
    at = 0
    for _ in range(count):
        units = []
        for _ in range(batch):
            seqs[at] += 1
            units.append(action(at, seqs[at]))
            at = (at + 1) % games
        work.append(units)
    return work


def by_sqlite(url: str, work: list[list[Unit]]) -> Callable[[], None]:
    """Bare sqlite3: the statements as text, the rows made by the same functions."""
    engine = writing_engine(database_path(url))
    statements = compile_statements(engine.dialect)
    held = engine.raw_connection()

    def run() -> None:
        connection = held.driver_connection
        assert isinstance(connection, sqlite3.Connection)
        for units in work:
            connection.execute("BEGIN IMMEDIATE")
            for at, kind in enumerate(KINDS):
                for statement in statements[kind]:
                    connection.executemany(statement.sql, statement.rows([unit[at] for unit in units]))
            connection.execute("COMMIT")

    return run


def by_sqlalchemy(url: str, work: list[list[Unit]]) -> Callable[[], None]:
    """SQLAlchemy Core as usual: statement objects, a mapping per row."""
    connection = writing_engine(database_path(url)).connect()

    def mapped(write: object) -> dict[str, object]:
        return {f"w_{name}": getattr(write, name) for name in type(write).__struct_fields__}  # type: ignore[attr-defined]

    def run() -> None:
        for units in work:
            with connection.begin():
                for at, kind in enumerate(KINDS):
                    for statement, _ in _STATEMENTS[kind]:
                        connection.execute(statement, [mapped(unit[at]) for unit in units])

    return run


def by_store(url: str, work: list[list[Unit]], *, sizes: list[int]) -> Callable[[], None]:
    """The store: a batch of units is under way, and as many follow as were answered."""
    units: Iterator[Unit] = iter([unit for batch in work for unit in batch])
    left = sum(len(batch) for batch in work)
    done = Event()

    def deliver(outcomes: Sequence[Outcome]) -> None:
        nonlocal left
        check(outcomes)
        sizes.append(len(outcomes))
        left -= len(outcomes)
        for _, unit in zip(outcomes, units, strict=False):
            store.submit(unit, None)
        if not left:
            done.set()

    store = Store.open(url, deliver=deliver)

    def run() -> None:
        for _, unit in zip(work[0], units, strict=False):
            store.submit(unit, None)
        done.wait()
        store.close()

    return run


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--batch", type=int, default=50)
    parser.add_argument("--transactions", type=int, default=200)
    parser.add_argument("--stored", type=int, default=10_000, help="games in the database")
    parser.add_argument("--playing", type=int, default=200, help="games that are played")
    parser.add_argument("--rounds", type=int, default=3, help="the best of so many counts")
    chosen = parser.parse_args()
    count = chosen.batch * chosen.transactions
    work = batches(chosen.playing, chosen.batch, chosen.transactions)
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as name:
        folder = Path(name)
        results: dict[str, list[tuple[float, float]]] = {}
        sizes: list[int] = []
        url = ""
        for _ in range(chosen.rounds):
            for kind, prepare in (
                ("bare sqlite3", by_sqlite),
                ("SQLAlchemy by rows", by_sqlalchemy),
                ("the store", partial(by_store, sizes=sizes)),
            ):
                url = fresh_database(folder, chosen.stored)
                results.setdefault(kind, []).append(measure(prepare(url, work), count))
        bare = min(results["bare sqlite3"])[0]
        print(f"{count} actions of {chosen.playing} games among {chosen.stored}, {chosen.batch} at once")
        for kind, rounds in results.items():
            cpu, wall = min(rounds)
            print(f"{kind:20} {cpu:6.1f} µs CPU an action, ratio {cpu / bare:4.2f}; {wall:6.1f} µs")
        print(f"actions in a transaction of the store: {sum(sizes) / len(sizes):.1f}")
        start = time.perf_counter()
        store = Store.open(url)
        print(f"a start on this database: {(time.perf_counter() - start) * 1e3:.1f} ms")
        start = time.perf_counter()
        game = store.reader.load_game(_id("g", 0))
        assert game is not None
        print(f"loading a game of {len(game.actions)} actions: {(time.perf_counter() - start) * 1e3:.1f} ms")
        store.close()


if __name__ == "__main__":
    main()
