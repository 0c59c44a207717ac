"""Certified deals on record: each is taken by one game, together with that game or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from chilkoot.record import (
    AddCertified,
    Conflict,
    FreeDeal,
    PutAnalysis,
    Store,
    StoreFault,
    TakeCertified,
    Taken,
    migrations,
)
from chilkoot.record.sqlite import create_file, writing_engine
from chilkoot.record.tables import REVISION
from record_examples import game, opening


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'games.db'}"


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    with closing(Store.open(url)) as opened:
        opened.write(opening())
        yield opened


def certified(deal: str, **fields: Any) -> AddCertified:
    usual: dict[str, Any] = {"rules_hash": "rules", "solver": 1, "positions": 90, "actions": 120}
    return AddCertified(**usual | {"deal": deal, "difficulty": 2, "found_ms": 5_000} | fields)


def taking(deal: str, name: str) -> tuple[Any, ...]:
    return game(name, deal=deal, winnable="proved"), TakeCertified(rules_hash="rules", deal=deal, game=name)


def test_a_certified_deal_is_taken_once_with_its_game(store: Store) -> None:
    store.write((certified("ck:a"), certified("ck:b", difficulty=4)))
    assert store.reader.free_deal("rules") == FreeDeal("rules", "ck:a", 2)
    store.write(taking("ck:a", "first"))
    assert store.reader.free_deal("rules") == FreeDeal("rules", "ck:b", 4)
    with pytest.raises(Taken):
        store.write(taking("ck:a", "second"))
    assert store.reader.game_header("second") is None
    assert store.reader.free_deal("rules", but=("ck:b",)) is None
    assert store.reader.free_count("rules") == 1
    store.write((certified("ck:a"),))
    assert store.reader.certified_rules() == ["rules"]
    assert store.reader.free_count("rules") == 1, "what was dealt once does not come back"


def test_a_deal_that_is_kept_ready_shows_in_no_message(store: Store) -> None:
    store.write((certified("ck:a"),))
    free = store.reader.free_deal("rules")
    assert free is not None
    shown = repr([free, certified("ck:a"), TakeCertified(rules_hash="rules", deal="ck:a", game="g")])
    assert "ck:" not in shown
    assert shown.count("…") == 3


def test_where_the_game_can_not_be_kept_the_deal_stays_free(store: Store) -> None:
    store.write((certified("ck:a"),))
    with pytest.raises(Conflict) as wrong:
        store.write(taking("ck:a", "g"))
    assert not isinstance(wrong.value, Taken), "a game of that id is there; the deal is not at fault"
    assert store.reader.free_count("rules") == 1
    store.write(taking("ck:a", "another"))
    assert store.reader.free_count("rules") == 0


def test_of_two_games_in_one_transaction_one_gets_the_deal(url: str) -> None:
    outcomes: dict[object, StoreFault | None] = {}
    with closing(Store.open(url, deliver=outcomes.update)) as store:
        store.write((*opening(), certified("ck:a")))
        store.submit(taking("ck:a", "one"), "one")
        store.submit(taking("ck:a", "two"), "two")
    assert outcomes["one"] is None
    assert isinstance(outcomes["two"], Taken)


def test_a_deal_of_rules_that_are_not_on_record_is_refused(store: Store) -> None:
    with pytest.raises(Conflict):
        store.write((certified("ck:a", rules_hash="others"),))


def test_an_analysis_is_found_by_game_and_revision(store: Store) -> None:
    store.write((PutAnalysis(game="g", solver=3, body=b"verdicts"),))
    store.write((PutAnalysis(game="g", solver=3, body=b"the same, computed twice"),))
    assert store.reader.analysis("g", 3) == b"verdicts"
    assert store.reader.analysis("g", 4) is None
    assert store.reader.analysis("no game", 3) is None


def test_a_database_from_before_the_pool_keeps_its_games_and_gets_one(url: str, tmp_path: Path) -> None:
    path = tmp_path / "games.db"
    create_file(path)
    engine = writing_engine(path)
    migrations.migrate(engine, to="0001")
    with engine.begin() as connection:
        connection.exec_driver_sql("INSERT INTO rules (hash, text) VALUES ('rules', '{}')")
    engine.dispose()
    with closing(Store.open(url)) as store:
        assert store.reader.rules("rules") == "{}"
        store.write((certified("ck:a"),))
        assert store.reader.free_count("rules") == 1
    assert (tmp_path / f"games.db.before-{REVISION}").exists()
