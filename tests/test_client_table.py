"""The mirror: what diffs do to it, without any server."""

import hashlib

import pytest

from chilkoot_client import Can, Desync, Diff, Move, Op, Snapshot, Table, Turn, apply_ops, check_of
from chilkoot_client.pace import Bucket, reconnect_delay

PILES = {"t1": ["??", "9S", "4D"], "t2": ["TH"], "f1": [], "s1": ["??"], "w1": []}


def snapshot() -> Snapshot:
    piles = {name: tuple(cards) for name, cards in PILES.items()}
    return Snapshot(game="g", seq=4, variant="yukon", piles=piles, check=check_of(piles), moves=4)


def diff(seq: int, *ops: Op, check: str | None = None, **more: object) -> Diff:
    found = check_of(apply_ops(PILES, ops)) if check is None else check
    return Diff(game="g", seq=seq, ops=ops, check=found, **more)  # type: ignore[arg-type]


def test_cards_move_in_order_and_turn_up() -> None:
    table = Table(snapshot())
    table.apply(diff(5, Move("t1", "t2", 2), Turn("t1", 0, "6D")))
    assert table.piles == {"t1": ["6D"], "t2": ["TH", "9S", "4D"], "f1": [], "s1": ["??"], "w1": []}
    assert (table.seq, table.moves) == (5, 5)


def test_cards_that_are_turned_over_as_one_are_unknown_until_a_turn_names_them() -> None:
    after = apply_ops(PILES, (Move("t1", "s1", 2, flip=True), Turn("s1", 2, "9S")))
    assert after["s1"] == ["??", "??", "9S"]


def test_what_a_diff_does_not_name_stays() -> None:
    table = Table(snapshot())
    table.apply(diff(5, Move("t2", "f1", 1), score=1, status="won", result="home", can=Can(undo=True)))
    table.apply(Diff(game="g", seq=6, ops=(), check=table.check, moves=3, undos=1))
    assert (table.score, table.status, table.result, table.can.undo) == (1, "won", "home", True)
    assert (table.moves, table.undos) == (3, 1)


def test_a_game_that_is_no_longer_over_has_no_result() -> None:
    table = Table(snapshot())
    table.apply(diff(5, status="lost", result="no_moves"))
    assert table.is_over
    table.apply(Diff(game="g", seq=6, ops=(), check=table.check, status="playing", moves=4))
    assert (table.is_over, table.result) == (False, None)


@pytest.mark.parametrize(
    "wrong",
    (
        diff(6),
        diff(4),
        diff(5, check="00000000"),
        diff(5, Move("t1", "t2", 4), check=""),
        diff(5, Move("t1", "t9", 1), check=""),
        diff(5, Move("t1", "t2", 0), check=""),
        diff(5, Move("t1", "t2", 1), Turn("t1", 2, "KS"), check=""),
        diff(5, Turn("t1", -1, "KS"), check=""),
    ),
    ids=repr,
)
def test_a_diff_that_does_not_fit_changes_nothing(wrong: Diff) -> None:
    table = Table(snapshot())
    with pytest.raises(Desync):
        table.apply(wrong)
    assert table.piles == PILES
    assert table.seq == 4


def test_the_check_is_the_protocols() -> None:
    piles = {"t10": ["AS"], "w1": [], "t2": ["??", "KD"], "f1": ["AC"], "s1": ["??"], "c1": [], "r1": []}
    text = "t2=?? KD;t10=AS;c1=;r1=;f1=AC;s1=??;w1="
    assert check_of(piles) == hashlib.sha256(text.encode()).hexdigest()[:8]


def test_a_snapshot_without_keys_does_not_make_us_forget_them() -> None:
    piles: dict[str, tuple[str, ...]] = {"t1": ("KS",)}
    table = Table(Snapshot(game="g", seq=0, variant="x", piles=piles, check="", key="k", watch_key="w"))
    table.take(Snapshot(game="g", seq=1, variant="x", piles=piles, check=""))
    assert (table.key, table.watch_key) == ("k", "w")


def test_a_burst_goes_at_once_and_then_each_command_waits_its_turn() -> None:
    bucket = Bucket(rate=10, burst=3, now=0)
    assert [round(bucket.take(0), 3) for _ in range(5)] == [0, 0, 0, 0.1, 0.2]
    assert bucket.take(10) == 0
    assert Bucket(rate=0, burst=0, now=0).take(0) == 0


def test_attempts_to_come_back_spread_out_and_stay_bounded() -> None:
    delays = [reconnect_delay(attempt, code=None, announced=None, chance=1) for attempt in range(12)]
    assert delays[:6] == [1, 2, 4, 8, 16, 30]
    assert max(delays) == 30
    assert reconnect_delay(0, code=None, announced=None, chance=0) == 0
    assert reconnect_delay(0, code=1012, announced=None, chance=0) == 1
    assert reconnect_delay(0, code=1012, announced=None, chance=1) == 10
    assert reconnect_delay(3, code=1001, announced=5, chance=0.5) == 9
