"""Dailies on record: a day's deal is chosen once, an attempt is made once and ends once, a board is in order."""

import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import event

from chilkoot.daily import place_of
from chilkoot.record import (
    AddAttempt,
    AddResult,
    AnnounceDaily,
    ChooseDeal,
    Conflict,
    EndAttempt,
    NewSeason,
    PutRules,
    Store,
    StoredStanding,
    Unit,
    Write,
)
from record_examples import game, opening, player
from servers import lay_database

DAY = "2026-11-29"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "games.db"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    lay_database(path)
    with closing(Store.open(f"sqlite:///{path}")) as opened:
        opened.write((NewSeason(first=DAY, days=365, root=b"root", tip=b"tip", published_ms=5),))
        opened.write(opening("g"))
        yield opened


def announce(date: str = DAY, level: int | None = None, seed_hash: bytes = b"seed") -> AnnounceDaily:
    return AnnounceDaily(
        date=date,
        variant="yukon",
        level=level,
        season=DAY,
        day=1,
        rules_hash="rules",
        beacon="",
        seed_hash=seed_hash,
        announced_ms=7,
    )


def choose(nonce: int = 3, line: str | None = "t1 1 f") -> ChooseDeal:
    return ChooseDeal(
        date=DAY,
        variant="yukon",
        level=None,
        nonce=nonce,
        proof="proved" if line else "not_proved",
        solver=1,
        positions=100,
        solution_hash=b"hash" if line else None,
        line=line,
        chosen_ms=9,
    )


def attempt(name: str, who: str = "ann") -> AddAttempt:
    return AddAttempt(date=DAY, variant="yukon", level=None, player=who, game=name)


def result(
    name: str,
    who: str,
    period: str = DAY,
    *,
    won: bool = True,
    score: int = 52,
    moves: int = 90,
    ms: int = 5,
    assisted: bool = False,
) -> AddResult:
    high, low = place_of(won=won, score=score, assisted=assisted, moves=moves, ms=ms)
    return AddResult(
        period=period,
        variant="yukon",
        level=None,
        player=who,
        won=won,
        score=score,
        assisted=assisted,
        moves=moves,
        ms=ms,
        high=high,
        low=low,
    )


def test_a_season_is_made_once_and_its_secret_is_told_only_when_asked_for(store: Store) -> None:
    days = store.reader.days
    with pytest.raises(Conflict):
        store.write((NewSeason(first=DAY, days=365, root=b"other", tip=b"other", published_ms=6),))
    assert [(one.first, one.root) for one in days.seasons()] == [(DAY, b"root")]
    assert days.tip(DAY) == b"tip"
    assert days.tip("2025-01-01") is None
    season = NewSeason(first="2027-01-01", days=1, root=b"r", tip=b"hush-hush", published_ms=1)
    assert "hush" not in repr((season, [season]))
    assert "t1 1 f" not in repr(choose())


def test_a_day_is_announced_once(store: Store) -> None:
    days = store.reader.days
    for seed_hash in (b"seed", b"another"):
        store.write((announce(seed_hash=seed_hash), announce(level=2, seed_hash=seed_hash)))
    found = days.daily(DAY, "yukon", None)
    assert found is not None
    assert (found.seed_hash, found.season.root, found.nonce, found.proof) == (b"seed", b"root", None, None)
    assert [one.level for one in days.dailies(DAY)] == [None, 2]
    assert days.daily(DAY, "yukon", 1) is None
    assert days.dailies("2026-11-30") == []


def test_a_deal_is_chosen_once_with_its_solution(store: Store) -> None:
    store.write((announce(),))
    store.write((choose(),))
    store.write((choose(9, "t2 1 f"),))
    days = store.reader.days
    found = days.daily(DAY, "yukon", None)
    assert found is not None
    assert (found.nonce, found.proof, found.solution_hash) == (3, "proved", b"hash")
    assert days.solution(DAY, "yukon", None) == "t1 1 f"


def test_a_deal_without_a_proof_has_no_solution(store: Store) -> None:
    store.write((announce(), choose(0, None)))
    store.write((choose(),))
    assert store.reader.days.solution(DAY, "yukon", None) is None


def test_a_player_has_one_attempt_a_day_and_the_second_game_is_not_kept(store: Store) -> None:
    store.write((announce(), choose()))
    store.write((game("one"), attempt("one")))
    with pytest.raises(Conflict):
        store.write((game("two"), attempt("two")))
    assert store.reader.game_header("two") is None
    store.write((player("bob"), game("three", player="bob"), attempt("three", "bob")))
    days = store.reader.days
    found = days.attempt("ann", DAY, "yukon", None)
    assert found is not None
    assert (found.date, found.game, found.won, found.is_ranked) == (DAY, "one", None, None)
    assert days.attempt("ann", DAY, "yukon", 2) is None


def test_there_is_no_attempt_at_a_day_that_was_not_announced(store: Store) -> None:
    with pytest.raises(Conflict):
        store.write((game("one"), attempt("one")))


def end(name: str, *, won: bool = True, is_ranked: bool = True) -> EndAttempt:
    return EndAttempt(game=name, ended_ms=50, won=won, autos=0, ms=40, is_ranked=is_ranked)


def test_an_attempt_ends_once_and_its_result_counts_once(store: Store) -> None:
    store.write((announce(), choose(), game("one"), attempt("one")))
    store.write((end("one"), result("one", "ann"), result("one", "ann", "all")))
    with pytest.raises(Conflict):
        store.write((end("one"), result("one", "ann"), result("one", "ann", "all")))
    with pytest.raises(Conflict):
        store.write((end("g"),))
    days = store.reader.days
    found = days.attempt_of_game("one")
    assert found is not None
    assert (found.won, found.is_ranked, found.ms) == (True, True, 40)
    page = days.page("all", "yukon", None, limit=5, after=None, player_id="ann", days=(DAY, DAY), now_ms=0)
    assert [(one.player, one.days, one.won) for one in page.lines] == [("ann", 1, 1)]


def test_only_ranked_wins_count_as_days_won(store: Store) -> None:
    dates = [f"2026-12-0{day}" for day in range(1, 5)]
    for number, date in enumerate(dates):
        name = f"d{number}"
        store.write((announce(date), game(name)))
        store.write((AddAttempt(date=date, variant="yukon", level=None, player="ann", game=name),))
        if number < 3:
            store.write((end(name, won=number != 1, is_ranked=number != 2),))
    assert store.reader.days.days_won("ann", "yukon", None) == dates[:1]
    assert store.reader.days.days_won("ann", "yukon", 1) == []


def test_days_are_summed_whoever_writes_them_together(store: Store) -> None:
    store.write((player("bob"), game("b", player="bob")))
    unit: Unit = (
        result("g", "ann", "all", moves=90),
        result("b", "bob", "all", moves=80),
        result("g", "ann", "all", moves=70, assisted=True),
    )
    store.write(unit)
    page = store.reader.days.page(
        "all", "yukon", None, limit=5, after=None, player_id=None, days=(DAY, DAY), now_ms=0
    )
    assert page.players == 2
    assert [(one.player, one.days, one.won, one.moves, one.assisted) for one in page.lines] == [
        ("ann", 2, 2, 160, 1),
        ("bob", 1, 1, 80, 0),
    ]


def filled(store: Store, count: int, seed: int = 7) -> None:
    """A board of so many players, many of them in the same place."""
    chance = random.Random(seed)
    writes: list[Write] = [PutRules(hash="rules", text="{}")]
    for number in range(count):
        who = f"p{number}"
        writes += [player(who, token_hash=None), game(f"g{number}", player=who)]
        won = chance.random() < 0.5
        writes.append(
            result(
                f"g{number}", who, won=won, score=52 if won else chance.randrange(52),
                moves=chance.randrange(60, 70), ms=chance.randrange(3), assisted=chance.random() < 0.3,
            )
        )  # fmt: skip
    store.write(tuple(writes))


def key(line: StoredStanding) -> tuple[int, int, int, int, int]:
    return -line.won, -line.score, line.assisted, line.moves, line.ms


def test_pages_are_stable_and_each_line_comes_once(store: Store) -> None:
    filled(store, 300)
    days = store.reader.days
    lines: list[StoredStanding] = []
    after: tuple[int, int, int] | None = None
    while True:
        page = days.page(DAY, "yukon", None, limit=7, after=after, player_id=None, days=(DAY, DAY), now_ms=0)
        lines += page.lines
        assert page.players == 300
        if page.is_last:
            break
        after = (lines[-1].high, lines[-1].low, lines[-1].number)
    assert len({line.player for line in lines}) == len(lines) == 300
    assert lines == sorted(lines, key=lambda line: (key(line), line.number))
    for place in (0, 1, 2, 150, 298, 299):
        mine = days.page(
            DAY, "yukon", None, limit=1, after=None, player_id=lines[place].player, days=(DAY, DAY), now_ms=0
        )
        first = max(0, place - 2)
        assert mine.around == lines[first : place + 3]
        assert mine.before_around == first
        assert mine.rank_around == 1 + sum(key(one) < key(lines[first]) for one in lines)


def test_a_board_that_nobody_is_on_is_empty(store: Store) -> None:
    page = store.reader.days.page(
        DAY, "yukon", None, limit=5, after=None, player_id="ann", days=(DAY, DAY), now_ms=0
    )
    assert (page.players, page.lines, page.is_last, page.around) == (0, [], True, [])
    filled(store, 3)
    page = store.reader.days.page(
        DAY, "yukon", None, limit=5, after=None, player_id="ann", days=(DAY, DAY), now_ms=0
    )
    assert (page.players, len(page.lines), page.around) == (3, 3, [])


def test_no_question_about_a_board_reads_all_of_it(store: Store, path: Path) -> None:
    filled(store, 20)
    asked: list[tuple[str, object]] = []

    def listen(_: object, __: object, statement: str, parameters: object, *___: object) -> None:
        if statement != "BEGIN":
            asked.append((statement, parameters))

    engine = store.reader._engine
    event.listen(engine, "before_cursor_execute", listen)
    try:
        store.reader.days.page(
            DAY, "yukon", None, limit=5, after=(0, 0, 0), player_id="p3", days=(DAY, DAY), now_ms=0
        )
    finally:
        event.remove(engine, "before_cursor_execute", listen)
    assert len(asked) == 7
    with closing(sqlite3.connect(path)) as connection:
        for statement, parameters in asked:
            plan = connection.execute(f"EXPLAIN QUERY PLAN {statement}", parameters).fetchall()  # type: ignore[arg-type]
            steps = " / ".join(str(step[3]) for step in plan)
            assert "SCAN" not in steps, (statement, steps)
            assert "TEMP B-TREE" not in steps, (statement, steps)
