import hashlib
import logging
import os
import signal
import sqlite3
import stat
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chilkoot.host.ledger import Ledger
from chilkoot.record import (
    REPLIES_KEPT,
    AddParticipant,
    CannotOpen,
    CloseGame,
    Conflict,
    DropReplies,
    NewSession,
    Outcome,
    PutRules,
    Reader,
    RenamePlayer,
    SetToken,
    Store,
    StoreBusy,
    StoreDoubtful,
    StoreFault,
    StoreFull,
    StoreUnavailable,
    TouchSession,
    Unwritable,
)
from chilkoot.record import sqlite as record_sqlite
from chilkoot.record.sqlite import database_path, has_wal_reset_bug, writing_engine
from record_examples import HASH, append, game, hint, opening, player, reply
from servers import lay_database

SERVER = Path(__file__).resolve().parents[1] / "server"


class Desk:
    """What a host does with outcomes: keeps them, and lets a test wait until a number of them has come."""

    def __init__(self) -> None:
        self.calls: list[list[Outcome]] = []
        self.fatal: list[StoreFault] = []
        self._news = threading.Condition()

    def deliver(self, outcomes: Sequence[Outcome]) -> None:
        with self._news:
            self.calls.append(list(outcomes))
            self._news.notify_all()

    @property
    def faults(self) -> dict[object, StoreFault | None]:
        return {token: fault for call in self.calls for token, fault in call}

    def wait_for(self, count: int) -> dict[object, StoreFault | None]:
        with self._news:
            assert self._news.wait_for(lambda: len(self.faults) >= count, timeout=20), self.faults
            return self.faults


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "games.db"


@pytest.fixture
def url(path: Path) -> str:
    return f"sqlite:///{path}"


@pytest.fixture
def desk() -> Desk:
    return Desk()


@pytest.fixture
def store(path: Path, url: str, desk: Desk) -> Iterator[Store]:
    lay_database(path)
    with closing(Store.open(url, deliver=desk.deliver, on_fatal=desk.fatal.append, busy_ms=100)) as opened:
        yield opened


def rows(path: Path, query: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        return connection.execute(query).fetchall()


class Faulty(sqlite3.Connection):
    """A connection to a disk that fails: the error that a statement, or a commit, gets instead of being done."""

    on_statement: ClassVar[sqlite3.Error | None] = None
    on_commit: ClassVar[sqlite3.Error | None] = None
    commits_first: ClassVar[bool] = False

    def cursor(self, *args: Any) -> Any:
        return super().cursor(FaultyCursor)

    def commit(self) -> None:
        if Faulty.on_commit is not None:
            if Faulty.commits_first:
                super().commit()
            raise Faulty.on_commit
        super().commit()


class FaultyCursor(sqlite3.Cursor):
    def executemany(self, *args: Any) -> Any:
        if Faulty.on_statement is not None:
            raise Faulty.on_statement
        return super().executemany(*args)


@pytest.fixture
def faulty(monkeypatch: pytest.MonkeyPatch) -> type[Faulty]:
    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *args, **named: connect(*args, factory=Faulty, **named))
    for name in ("on_statement", "on_commit"):
        monkeypatch.setattr(Faulty, name, None)
    monkeypatch.setattr(Faulty, "commits_first", False)
    return Faulty


def disk_error(code: int, message: str = "disk I/O error") -> sqlite3.OperationalError:
    error = sqlite3.OperationalError(message)
    error.sqlite_errorcode = code
    return error


# What is written can be read.


def test_a_game_reads_back_as_it_was_written(store: Store) -> None:
    store.write(opening(level=3, winnable="proved", watch="key", watch_key="w", result=None, score=2))
    store.write((append(1, text="t5 4 t2", score=5), reply(1)))
    store.write((append(2, by="auto", actor="bob", session=None, command_id=None), hint(1, 2, text="draw")))
    loaded = store.reader.load_game("g")
    assert loaded is not None
    assert loaded.rules == "{}"
    assert [
        (one.seq, one.text, one.by, one.actor, one.session, one.command_id) for one in loaded.actions
    ] == [
        (1, "t5 4 t2", "player", "ann", "tab", 1),
        (2, "t1 1 t2", "auto", "bob", None, None),
    ]
    assert [(one.n, one.seq, one.text) for one in loaded.hints] == [(1, 2, "draw")]
    header = loaded.header
    assert (header.player, header.level, header.winnable, header.watch, header.watch_key) == (
        "ann",
        3,
        "proved",
        "key",
        "w",
    )
    assert (header.seq, header.moves, header.hints, header.head_hash) == (2, 2, 1, HASH)
    assert store.reader.game_header("g") == header
    assert store.reader.rules("rules") == "{}"


def test_the_last_action_says_how_the_game_stands(store: Store) -> None:
    store.write(opening())
    store.write((append(1, status="lost", result="no_moves", score=9, moves=1, undos=0, ended_ms=3_001),))
    lost = store.reader.game_header("g")
    assert lost is not None
    assert (lost.status, lost.result, lost.score, lost.ended_ms, lost.closed_ms) == (
        "lost",
        "no_moves",
        9,
        3_001,
        None,
    )
    store.write((append(2, text="undo", moves=0, undos=1),))
    reopened = store.reader.game_header("g")
    assert reopened is not None
    assert (reopened.status, reopened.result, reopened.moves, reopened.undos, reopened.ended_ms) == (
        "playing",
        None,
        0,
        1,
        None,
    )


def test_what_is_not_on_record_is_none(store: Store) -> None:
    reader = store.reader
    assert reader.load_game("g") is None
    assert reader.game_header("g") is None
    assert reader.player("ann") is None
    assert reader.player_by_token_hash(HASH) is None
    assert reader.session("tab") is None
    assert reader.reply("tab", 1) is None
    assert reader.rules("rules") is None
    assert reader.games_of("ann") == []
    assert reader.unfinished_of("ann") == 0
    assert reader.answers()


def test_an_identity_is_found_by_its_token_and_by_the_one_before(store: Store) -> None:
    store.write((player(name="ann"), player("bob")))
    first = hashlib.sha256(b"ann").digest()
    second = hashlib.sha256(b"next").digest()
    store.write((SetToken(player="ann", token_hash=second, previous_hash=first, previous_until_ms=9),))
    found = store.reader.player_by_token_hash(second)
    assert found is not None
    assert (found.id, found.token_hash, found.previous_hash, found.previous_until_ms) == (
        "ann",
        second,
        first,
        9,
    )
    assert store.reader.player_by_token_hash(first) == found
    store.write((SetToken(player="ann", token_hash=second), RenamePlayer(id="ann", name="Anna")))
    assert store.reader.player_by_token_hash(first) is None
    renamed = store.reader.player("ann")
    assert renamed is not None
    assert renamed.name == "Anna"


def test_a_session_knows_its_player_and_when_it_was_seen(store: Store) -> None:
    store.write(opening())
    store.write((TouchSession(id="tab", seen_ms=7_000),))
    found = store.reader.session("tab")
    assert found is not None
    assert (found.player, found.created_ms, found.seen_ms) == ("ann", 1_500, 7_000)


def test_a_participant_has_the_role_written_last(store: Store) -> None:
    store.write((*opening(), player("bob"), player("cat")))
    store.write((AddParticipant(game="g", player="bob", role="spectator", since_ms=1),))
    store.write((AddParticipant(game="g", player="cat", role="spectator", since_ms=1),))
    store.write((AddParticipant(game="g", player="bob", role="player", since_ms=2),))
    loaded = store.reader.load_game("g")
    assert loaded is not None
    assert loaded.participants == {"bob": "player", "cat": "spectator"}


def test_my_games_come_newest_first_and_page_by_page(store: Store) -> None:
    store.write((*opening("g0"), player("bob"), game("other", player="bob")))
    for number in range(1, 7):
        # Two of them began in the same millisecond.
        store.write((game(f"g{number}", created_ms=2_000 + number // 2),))
    everything = [one.id for one in store.reader.games_of("ann")]
    assert everything == ["g6", "g5", "g4", "g3", "g2", "g1", "g0"]
    pages = []
    before = None
    while page := store.reader.games_of("ann", limit=3, before=before):
        pages.append([one.id for one in page])
        before = page[-1].id
    assert pages == [everything[:3], everything[3:6], everything[6:]]
    assert store.reader.games_of("ann", before="no such game") == []


def test_games_that_are_over_are_listed_apart_from_those_that_go_on(store: Store) -> None:
    store.write((*opening("playing"), game("stuck"), game("won"), game("lost")))
    store.write((append(1, "stuck", status="stuck"),))
    store.write((append(1, "won", command_id=2, status="won", result="home", ended_ms=1, closed_ms=1),))
    store.write((append(1, "lost", command_id=3, status="lost", result="no_moves", ended_ms=1),))
    reader = store.reader
    assert {one.id for one in reader.games_of("ann", state="playing")} == {"playing", "stuck"}
    assert {one.id for one in reader.games_of("ann", state="over")} == {"won", "lost"}
    assert reader.unfinished_of("ann") == 2
    counts = reader.counts()
    assert (counts.players, counts.games, counts.unfinished) == (1, 4, 2)


def test_a_lost_game_that_may_be_undone_is_known_until_it_is_closed(store: Store) -> None:
    store.write((*opening("a"), game("b"), game("c")))
    store.write((append(1, "a", status="lost", result="no_moves", ended_ms=50),))
    store.write((append(1, "b", command_id=2, status="lost", result="no_moves", ended_ms=60),))
    assert store.reader.unclosed_of("ann") == ["a", "b"]
    assert store.reader.unclosed_before(60) == ["a"]
    store.write((CloseGame(game="a", closed_ms=70), CloseGame(game="c", closed_ms=70)))
    store.write((CloseGame(game="a", closed_ms=80),))
    assert store.reader.unclosed_of("ann") == ["b"]
    closed, playing = store.reader.game_header("a"), store.reader.game_header("c")
    assert closed is not None
    assert closed.closed_ms == 70
    assert playing is not None
    assert playing.closed_ms is None


def test_statistics_count_what_was_played_here(store: Store) -> None:
    store.write((*opening("w1"), *(game(name) for name in ("l1", "w2", "w3", "open"))))
    store.write((game("thicket", variant="yukon-thicket", level=2), game("elsewhere", imported_ms=1)))
    for at, (name, status, score) in enumerate(
        (
            ("w1", "won", 52),
            ("l1", "lost", 30),
            ("w2", "won", 50),
            ("thicket", "lost", 60),
            ("w3", "won", 49),
            ("elsewhere", "won", 99),
        ),
        1,
    ):
        write = append(
            1, name, command_id=at, status=status, score=score, ended_ms=10 * at, closed_ms=10 * at
        )
        store.write((write,))
    reader = store.reader

    def stats(**which: Any) -> tuple[int, int, int, int | None, int]:
        found = reader.stats_of("ann", **which)
        return (found.started, found.finished, found.won, found.best, found.streak)

    assert stats() == (6, 5, 3, 60, 1)
    assert stats(variant="yukon") == (5, 4, 3, 52, 2)
    assert stats(variant="yukon-thicket", level=2) == (1, 1, 0, 60, 0)
    assert stats(variant="yukon-thicket", level=1) == (0, 0, 0, None, 0)


def test_the_same_rules_are_kept_once(store: Store, path: Path) -> None:
    store.write(opening())
    store.write((PutRules(hash="rules", text="{}"), game("g2")))
    assert rows(path, "SELECT hash, text FROM rules") == [("rules", "{}")]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.one_of(
            st.text(st.characters(exclude_categories=["Cs"])),
            st.sampled_from(
                [
                    "'; DROP TABLE game; --",
                    '"',
                    "\\",
                    "%s ?1 :a",
                    "a\0b",
                    "\u202e",
                    "<svg/onload=alert()>",
                    "𝕐" * 999,
                ]
            ),
        ),
        min_size=12,
        max_size=12,
    )
)
def test_any_text_comes_back_as_it_went_in(store: Store, texts: list[str]) -> None:
    mark = os.urandom(8).hex()
    who, tab, name, code = (f"{text}{mark}" for text in texts[:4])
    variant, deal, key, watch_key, text, actor, called, canonical = texts[4:]
    store.write(
        (
            player(who, name=called, token_hash=os.urandom(32)),
            NewSession(id=tab, player=who, created_ms=1),
            PutRules(hash=code, text=canonical),
            game(
                name,
                player=who,
                variant=variant,
                rules_hash=code,
                deal=deal,
                key=key,
                watch_key=watch_key,
                winnable=watch_key,
            ),
            append(1, name, session=tab, text=text, actor=actor),
            hint(1, 1, name, text=text, actor=actor),
            reply(1, tab, body=called.encode()),
        )
    )
    loaded = store.reader.load_game(name)
    assert loaded is not None
    header, action, advice = loaded.header, loaded.actions[0], loaded.hints[0]
    assert (header.id, header.player, header.variant, header.rules_hash) == (name, who, variant, code)
    assert (header.deal, header.key, header.watch_key, header.winnable) == (deal, key, watch_key, watch_key)
    assert (action.text, action.actor, action.session) == (text, actor, tab)
    assert (advice.text, advice.actor) == (text, actor)
    assert loaded.rules == canonical
    found = store.reader.player(who)
    assert found is not None
    assert found.name == called
    answered = store.reader.reply(tab, 1)
    assert answered is not None
    assert answered.body == called.encode()


# A unit is kept whole or not at all, and its faults are its own.


def test_a_unit_is_kept_whole_or_not_at_all(store: Store) -> None:
    store.write(opening())
    store.write((append(1), reply(1)))
    with pytest.raises(Conflict):
        store.write((append(2), reply(1)))
    loaded = store.reader.load_game("g")
    assert loaded is not None
    assert loaded.header.seq == len(loaded.actions) == 1


WRONG: dict[str, tuple[Any, type[StoreFault]]] = {
    "a taken seq": (append(1, command_id=77), Conflict),
    "a seq left out": (append(3), Conflict),
    "a taken command id": (append(2, command_id=1), Conflict),
    "an action of an unknown session": (append(2, session="unknown"), Conflict),
    "an action in an unknown game": (append(1, "unknown"), Conflict),
    "a taken game id": (game("g"), Conflict),
    "a game of nobody": (game("h", player="nobody"), Conflict),
    "a game by unknown rules": (game("h", rules_hash="unknown"), Conflict),
    "a taken player id": (player("ann", token_hash=HASH), Conflict),
    "a taken token": (player("eve", token_hash=hashlib.sha256(b"ann").digest()), Conflict),
    "a taken session id": (NewSession(id="tab", player="ann", created_ms=1), Conflict),
    "a session of nobody": (NewSession(id="new", player="nobody", created_ms=1), Conflict),
    "a name for nobody": (RenamePlayer(id="nobody", name="x"), Conflict),
    "a token for nobody": (SetToken(player="nobody", token_hash=HASH), Conflict),
    "an unknown session seen": (TouchSession(id="unknown", seen_ms=1), Conflict),
    "a part in an unknown game": (
        AddParticipant(game="unknown", player="ann", role="player", since_ms=1),
        Conflict,
    ),
    "a hint for a table that is gone": (hint(1, 0), Conflict),
    "a hint left out": (hint(2, 1), Conflict),
    "a hint in an unknown game": (hint(1, 1, "unknown"), Conflict),
    "a second reply to a command": (reply(1), Conflict),
    "a reply in an unknown session": (reply(5, "unknown"), Conflict),
    "half a character": (RenamePlayer(id="ann", name="\ud800"), Unwritable),
    "a number too large": (append(2, at_ms=2**63), Unwritable),
    "a value of no kind": (append(2, score=object()), Unwritable),
    "no write at all": ("nothing", Unwritable),
}


@pytest.mark.parametrize(("write", "fault"), WRONG.values(), ids=WRONG.keys())
def test_a_unit_with_a_fault_fails_alone(
    store: Store, desk: Desk, path: Path, write: Any, fault: type[StoreFault]
) -> None:
    store.write((*opening(), game("other"), append(1), reply(1)))
    before = {
        name: rows(path, f'SELECT * FROM "{name}"') for name in ("player", "session", "participant", "hint")
    }
    with closing(sqlite3.connect(path, isolation_level=None)) as elsewhere:
        elsewhere.execute("BEGIN IMMEDIATE")
        store.submit((append(1, "other", command_id=101), reply(101)), "first")
        store.submit((reply(102), write), "faulty")
        store.submit((append(2, "other", command_id=103), reply(103)), "last")
        elsewhere.execute("COMMIT")
    outcomes = desk.wait_for(3)
    assert isinstance(outcomes["faulty"], fault)
    assert (outcomes["first"], outcomes["last"]) == (None, None)
    assert [one.command_id for one in store.reader.replies_of("tab")] == [1, 101, 103]
    assert {name: rows(path, f'SELECT * FROM "{name}"') for name in before} == before
    for name, seq in (("g", 1), ("other", 2)):
        loaded = store.reader.load_game(name)
        assert loaded is not None
        assert loaded.header.seq == len(loaded.actions) == seq


def test_a_unit_is_written_in_its_own_order(store: Store) -> None:
    store.write(opening())
    store.write((hint(1, 0), append(1), hint(2, 1, hash=b"2" * 32), append(2, hash=b"3" * 32)))
    header = store.reader.game_header("g")
    assert header is not None
    assert (header.seq, header.hints, header.head_hash) == (2, 2, b"3" * 32)


def test_an_unwritable_value_is_not_told_to_the_log(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(Unwritable) as caught:
        store.write((player("ann", name="secret \ud800"),))
    assert "secret" not in caplog.text + str(caught.value)


# Many units, one transaction.


def test_what_queued_during_a_transaction_goes_into_the_next_one(
    store: Store, desk: Desk, path: Path
) -> None:
    store.write(opening())
    with closing(sqlite3.connect(path, isolation_level=None)) as elsewhere:
        elsewhere.execute("BEGIN IMMEDIATE")
        for seq in range(1, 51):
            store.submit((append(seq), reply(seq)), seq)
        elsewhere.execute("COMMIT")
    assert set(desk.wait_for(50).values()) == {None}
    # The first transaction took what was there when it began to wait for the lock.
    assert len(desk.calls) <= 2
    assert [token for call in desk.calls for token, _ in call] == list(range(1, 51))


def test_a_full_queue_says_so_at_once(url: str, desk: Desk, path: Path) -> None:
    with closing(Store.open(url, deliver=desk.deliver, queue_limit=3)) as store:
        store.write(opening())
        taken = 0
        with closing(sqlite3.connect(path, isolation_level=None)) as elsewhere:
            elsewhere.execute("BEGIN IMMEDIATE")
            while store.queued < 3:
                taken += 1
                store.submit((append(taken),), taken)
            with pytest.raises(StoreFull):
                store.submit((append(taken + 1),), taken + 1)
            assert store.queued == 3
            elsewhere.execute("COMMIT")
        assert set(desk.wait_for(taken).values()) == {None}
        store.submit((append(taken + 1),), "later")
        assert desk.wait_for(taken + 1)["later"] is None


def test_the_writer_outlives_a_host_that_fails_to_listen(url: str, caplog: pytest.LogCaptureFixture) -> None:
    def deliver(_: Sequence[Outcome]) -> None:
        raise ZeroDivisionError

    with closing(Store.open(url, deliver=deliver)) as store:
        store.submit(opening(), None)
        store.write((append(1),))
        assert store.reader.game_header("g") is not None
    assert "ZeroDivisionError" in caplog.text


def test_closing_writes_what_is_queued(url: str, desk: Desk) -> None:
    store = Store.open(url, deliver=desk.deliver)
    store.write(opening())
    for seq in range(1, 101):
        store.submit((append(seq),), seq)
    assert store.close()
    assert set(desk.faults.values()) == {None}
    assert len(desk.faults) == 100
    assert store.close()
    with pytest.raises(StoreUnavailable):
        store.submit((append(101),), 101)
    with closing(Store.open(url)) as again:
        loaded = again.reader.load_game("g")
        assert loaded is not None
        assert [one.seq for one in loaded.actions] == list(range(1, 101))


def test_closing_does_not_wait_for_ever(url: str, path: Path, desk: Desk) -> None:
    store = Store.open(url, deliver=desk.deliver, busy_ms=20_000)
    with closing(sqlite3.connect(path, isolation_level=None)) as elsewhere:
        elsewhere.execute("BEGIN IMMEDIATE")
        store.submit(opening(), "late")
        assert not store.close(timeout=0.02)
        # A write may still be under way, so nobody else may have the database.
        with pytest.raises(StoreBusy):
            Store.open(url)
        elsewhere.execute("COMMIT")
    assert store.close(timeout=20)
    assert desk.faults == {"late": None}
    Store.open(url).close()


# The database fails, and heals.


def test_a_locked_database_is_unavailable_and_heals(store: Store, desk: Desk, path: Path) -> None:
    store.write(opening())
    with closing(sqlite3.connect(path, isolation_level=None)) as elsewhere:
        elsewhere.execute("BEGIN IMMEDIATE")
        for seq in range(1, 6):
            store.submit((append(seq), reply(seq)), seq)
        outcomes = desk.wait_for(5)
        assert {type(fault) for fault in outcomes.values()} == {StoreUnavailable}
        # All of them waited no longer than one wait for the lock.
        assert len(desk.calls) == 1
        assert store.reader.answers()
        elsewhere.execute("COMMIT")
    store.write((append(1), reply(1)))
    loaded = store.reader.load_game("g")
    assert loaded is not None
    assert [one.seq for one in loaded.actions] == [1]


@pytest.mark.parametrize("code", (10, 13, 522, 778), ids=("IOERR", "FULL", "SHORT_READ", "WRITE"))
def test_a_failing_disk_keeps_nothing_and_heals(
    faulty: type[Faulty], url: str, code: int, caplog: pytest.LogCaptureFixture
) -> None:
    with closing(Store.open(url)) as store:
        store.write(opening())
        faulty.on_statement = disk_error(code)
        for _ in range(3):
            with pytest.raises(StoreUnavailable):
                store.write((append(1), reply(1)))
        faulty.on_statement = None
        store.write((append(1), reply(1)))
        assert store.fatal is None
    told = [record.message for record in caplog.records if record.levelno >= logging.ERROR]
    assert len(told) == 1
    assert "after 3 failed transactions" in caplog.text


@pytest.mark.parametrize("commits_first", (False, True))
def test_a_failed_commit_is_doubtful(faulty: type[Faulty], url: str, commits_first: bool) -> None:
    with closing(Store.open(url)) as store:
        store.write(opening())
        faulty.on_commit = disk_error(10)
        faulty.commits_first = commits_first
        with pytest.raises(StoreDoubtful):
            store.write((append(1), reply(1)))
        faulty.on_commit = None
        # Whoever reads again finds out, and the next action fits.
        loaded = store.reader.load_game("g")
        assert loaded is not None
        assert loaded.header.seq == len(loaded.actions) == int(commits_first)
        store.write((append(loaded.header.seq + 1), reply(9)))


def test_after_a_failed_fsync_nothing_more_is_written(faulty: type[Faulty], url: str, desk: Desk) -> None:
    with closing(Store.open(url, deliver=desk.deliver, on_fatal=desk.fatal.append)) as store:
        store.write(opening())
        faulty.on_commit = disk_error(1034)
        with pytest.raises(StoreDoubtful):
            store.write((append(1),))
        faulty.on_commit = None
        assert isinstance(store.fatal, StoreDoubtful)
        with pytest.raises(StoreUnavailable):
            store.write((append(1),))
        store.submit((append(1),), "later")
        assert isinstance(desk.wait_for(1)["later"], StoreUnavailable)
        assert desk.fatal == [store.fatal]


def test_a_full_disk_is_answered_honestly_and_heals(tmp_path: Path) -> None:
    program = """
        import resource, sys
        from record_examples import append, opening, reply
        from chilkoot.record import Store, StoreDoubtful, StoreUnavailable

        store = Store.open(sys.argv[1])
        store.write(opening())
        resource.setrlimit(resource.RLIMIT_FSIZE, (500_000, resource.RLIM_INFINITY))
        kept, fault = 0, None
        while fault is None and kept < 2_000:
            try:
                store.write((append(kept + 1), reply(kept + 1, body=b"x" * 2_000)))
                kept += 1
            except (StoreDoubtful, StoreUnavailable) as error:
                fault = error
        game = store.reader.load_game("g")
        assert fault is not None and store.fatal is None, (fault, store.fatal)
        assert len(game.actions) == kept > 5, (len(game.actions), kept)
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        store.write((append(kept + 1), reply(kept + 1)))
        assert store.close()
    """
    run_program(program, f"sqlite:///{tmp_path / 'games.db'}")
    assert rows(tmp_path / "games.db", "PRAGMA integrity_check") == [("ok",)]


def program_command(program: str, *arguments: str) -> tuple[list[str], dict[str, str]]:
    places = [SERVER, Path(__file__).parent]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, places))}
    return [sys.executable, "-c", textwrap.dedent(program), *arguments], environment


def run_program(program: str, *arguments: str) -> str:
    command, environment = program_command(program, *arguments)
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert result.returncode == 0, result.stderr
    return result.stdout


WRITES_UNTIL_KILLED = """
    import sys, threading
    from record_examples import append, opening, reply
    from chilkoot.record import Store

    under_way = threading.Semaphore(100)

    def deliver(outcomes):
        for token, fault in outcomes:
            assert fault is None, fault
            print(token, flush=True)
        under_way.release(len(outcomes))

    store = Store.open(sys.argv[1], deliver=deliver)
    if store.reader.game_header("g") is None:
        store.write(opening())
    seq = store.reader.game_header("g").seq
    print("ready", flush=True)
    while True:
        under_way.acquire()
        seq += 1
        store.submit((append(seq), reply(seq)), seq)
"""


def test_a_killed_process_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'games.db'}"
    for lines in (1, 40, 300):
        command, environment = program_command(WRITES_UNTIL_KILLED, url)
        with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            acknowledged = [process.stdout.readline() for _ in range(lines + 1)][1:]
            process.send_signal(signal.SIGKILL)
            acknowledged += process.stdout.readlines()
        last = max(int(line) for line in acknowledged if line.endswith("\n"))
        with closing(Store.open(url)) as store:
            loaded = store.reader.load_game("g")
            assert loaded is not None
            seqs = [one.seq for one in loaded.actions]
            assert seqs == list(range(1, len(seqs) + 1))
            assert len(seqs) >= last
            assert loaded.header.seq == len(seqs)
            # An action and its reply are one unit.
            newest = store.reader.replies_of("tab")[-1]
            assert newest.command_id == len(seqs)
    assert rows(tmp_path / "games.db", "PRAGMA integrity_check") == [("ok",)]


# Replies are kept as long as a session may ask for them.


def test_a_reply_survives_a_restart(url: str) -> None:
    with closing(Store.open(url)) as store:
        store.write((*opening(), reply(2**53 - 1, body=b'{"re":1}')))
    with closing(Store.open(url)) as store:
        found = store.reader.reply("tab", 2**53 - 1)
        assert found is not None
        assert (found.fingerprint, found.body) == (b"fingerprint", b'{"re":1}')


def test_the_last_commands_of_a_session_that_were_done_are_known_by_their_actions(store: Store) -> None:
    store.write((*opening(), game("other"), NewSession(id="new", player="ann", created_ms=1)))
    for seq in range(1, 41):
        # Ids come in any order, so the newest is not the largest.
        store.write((append(seq, command_id=1000 - 2 * seq, fingerprint=b"%d" % seq, at_ms=2 * seq),))
        store.write((append(seq, "other", command_id=seq, fingerprint=b"other", at_ms=2 * seq + 1),))
    store.write((append(41, session="new", command_id=1, fingerprint=b"new"),))
    store.write((append(42, session=None, command_id=None),))
    known = store.reader.commands_of("tab")
    assert len(known) == REPLIES_KEPT
    assert [(one.game, one.seq) for one in known] == [
        (name, seq) for seq in range(9, 41) for name in ("g", "other")
    ]
    assert [(one.command_id, one.fingerprint) for one in known[:2]] == [(982, b"9"), (9, b"other")]
    assert [one.seq for one in store.reader.commands_of("new")] == [41]
    assert store.reader.commands_of("nobody") == []


def test_old_replies_go_and_the_last_ones_stay(store: Store, path: Path) -> None:
    store.write((*opening(), NewSession(id="quiet", player="ann", created_ms=1), reply(1, "quiet")))
    count = 2_500
    for first in range(0, count, 50):
        # Ids come in any order, so the newest is not the largest.
        store.write(tuple(reply(count - number) for number in range(first, first + 50)))
    kept = [one.command_id for one in store.reader.replies_of("tab")]
    assert kept[-REPLIES_KEPT:] == list(range(REPLIES_KEPT, 0, -1))
    assert len(kept) < 1_200
    assert len(store.reader.replies_of("quiet")) == 1


def test_replies_of_sessions_that_are_gone_can_be_dropped(store: Store) -> None:
    store.write((*opening(), NewSession(id="new", player="ann", created_ms=9_000)))
    store.write((reply(1), reply(1, "new")))
    store.write((DropReplies(before_ms=9_000),))
    assert store.reader.replies_of("tab") == []
    assert len(store.reader.replies_of("new")) == 1


# One database, one server.


def test_a_second_server_on_the_same_database_is_refused(store: Store, url: str) -> None:
    with pytest.raises(StoreBusy, match=f"in use by another server or command \\(process {os.getpid()}\\)"):
        Store.open(url)
    store.write(opening())


def test_a_reader_needs_no_lock_and_sees_what_was_committed(store: Store, url: str) -> None:
    store.write(opening())
    with closing(Reader.open(url)) as reader:
        assert reader.game_header("g") is not None
        store.write((append(1),))
        loaded = reader.load_game("g")
        assert loaded is not None
        assert len(loaded.actions) == 1


def test_a_reader_can_not_write(store: Store) -> None:
    with store.reader._engine.connect() as connection, pytest.raises(Exception, match="readonly"):
        connection.exec_driver_sql("DELETE FROM rules")


def test_a_reader_of_no_database_makes_none(tmp_path: Path) -> None:
    with pytest.raises(CannotOpen, match="there is no database"):
        Reader.open(f"sqlite:///{tmp_path / 'none.db'}")
    assert list(tmp_path.iterdir()) == []


def test_many_threads_read_while_one_writes(store: Store) -> None:
    store.write(opening())
    wrong: list[object] = []

    def read() -> None:
        for _ in range(40):
            loaded = store.reader.load_game("g")
            # Header and actions are of one moment.
            if loaded is None or loaded.header.seq != len(loaded.actions):
                wrong.append(loaded)

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for seq in range(1, 101):
        store.write((append(seq),))
    for thread in threads:
        thread.join()
    assert wrong == []


def test_the_database_is_its_owners_alone(store: Store, path: Path) -> None:
    store.write(opening())
    modes = {name.name: stat.S_IMODE(name.stat().st_mode) for name in path.parent.iterdir()}
    assert {modes["games.db"], modes["games.db-wal"], modes["games.db-shm"]} == {0o600}


def test_the_writing_connection_has_the_settings_that_keep_promises(store: Store, path: Path) -> None:
    del store
    with writing_engine(path).connect() as connection:
        found = {
            name: connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in (
                "journal_mode",
                "synchronous",
                "foreign_keys",
                "busy_timeout",
                "wal_autocheckpoint",
                "trusted_schema",
            )
        }
    assert found == {
        "journal_mode": "wal",
        "synchronous": 2,
        "foreign_keys": 1,
        "busy_timeout": 2000,
        "wal_autocheckpoint": 1000,
        "trusted_schema": 0,
    }


def test_a_setting_that_does_not_take_is_no_silent_loss(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(record_sqlite._PRAGMAS, "journal_mode", "wall")
    with pytest.raises(CannotOpen, match="journal_mode"):
        Store.open(url)


@pytest.mark.parametrize(
    ("url", "says"),
    (
        ("sqlite://", "can't be kept in memory"),
        ("sqlite:///:memory:", "can't be kept in memory"),
        ("sqlite:///file:x?uri=true", "three slashes"),
        ("sqlite://host/x.db", "three slashes"),
        ("postgresql://user@host/games", "PostgreSQL is not supported yet"),
        ("postgresql+psycopg://host/games", "PostgreSQL is not supported yet"),
        ("mysql://host/games", "mysql:// is not supported"),
        ("games.db", "is not a database URL"),
        ("", "is not a database URL"),
    ),
)
def test_a_url_that_names_no_sqlite_file_is_refused_with_a_hint(url: str, says: str) -> None:
    with pytest.raises(CannotOpen, match=says) as caught:
        database_path(url)
    assert "sqlite:///path/to/games.db" in str(caught.value)


def test_a_path_may_hold_what_a_url_would_not(tmp_path: Path) -> None:
    folder = tmp_path / "50% of Ann's #1 games & more"
    with closing(Store.open(f"sqlite:///{folder / 'a b.db'}")) as store:
        store.write(opening())
        assert store.reader.game_header("g") is not None
    assert [name.name for name in folder.glob("*.db")] == ["a b.db"]


def test_a_folder_that_can_not_be_written_is_said_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CannotOpen, match="can't create the database"):
        Store.open(f"sqlite:///{tmp_path / 'file' / 'games.db'}")


@pytest.mark.parametrize(
    ("version", "has_bug"),
    (((3, 6, 23), False), ((3, 7, 0), True), ((3, 40, 1), True), ((3, 51, 2), True), ((3, 51, 3), False)),
)
def test_versions_of_sqlite_that_lose_commits_are_known(version: tuple[int, int, int], has_bug: bool) -> None:
    assert has_wal_reset_bug(version) is has_bug


async def test_a_servers_log_warns_of_a_sqlite_that_loses_commits_and_a_command_that_soon_ends_does_not(
    url: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 40, 1))
    Store.open(url).close()
    assert not caplog.text
    Ledger(url, on_fatal=lambda _: None).close(5)
    assert "can lose commits" in caplog.text
