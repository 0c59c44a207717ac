"""Days, keys and places: the pure part of dailies."""

import datetime
import hashlib
import hmac
import pickle
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chilkoot.daily import (
    DAY_MS,
    GRACE_MS,
    SEASON_DAYS,
    Place,
    Secret,
    closes_ms,
    date_after,
    day_of,
    days_between,
    deal_of,
    key_of_day,
    opens_ms,
    place_of,
    ranks_of,
    read_date,
    read_place,
    reveals_ms,
    root_of,
    seed_commitment,
    seed_of,
    solution_hash,
    streaks,
    week_of,
)

EPOCH = datetime.date(1970, 1, 1)
TIP = Secret(bytes(range(32)))


@given(st.integers(0, 2_932_896))
def test_a_day_has_the_date_that_the_calendar_gives_it(number: int) -> None:
    day = EPOCH + datetime.timedelta(number)
    date = day.isoformat()
    assert day_of(number * DAY_MS) == day_of((number + 1) * DAY_MS - 1) == date
    assert opens_ms(date) == number * DAY_MS
    assert read_date(date) == date
    assert days_between("1970-01-01", date) == number
    if number > 3:
        assert week_of(date) == (day - datetime.timedelta(day.weekday())).isoformat()


def test_a_leap_day_is_a_day() -> None:
    assert [date_after("2028-02-28", days) for days in (0, 1, 2)] == [
        "2028-02-28",
        "2028-02-29",
        "2028-03-01",
    ]
    assert date_after("2027-02-28", 1) == "2027-03-01"
    assert date_after("2100-02-28", 1) == "2100-03-01"
    assert streaks(["2028-02-28", "2028-02-29", "2028-03-01"], "2028-03-01") == (3, 3)


@pytest.mark.parametrize(
    "text",
    (
        "",
        "today",
        "2026-11-31",
        "2026-02-29",
        "2026-13-01",
        "2026-00-10",
        "2026-1-1",
        "1969-12-31",
        "2026-11-30T00:00",
        " 2026-11-30",
        "2026-11-30\n",
        "２０２６-11-30",
        "10000-01-01",
        "20261130",
    ),
)
def test_what_is_no_date_is_none(text: str) -> None:
    assert read_date(text) is None


def test_a_moment_before_midnight_belongs_to_the_day_and_midnight_to_the_next() -> None:
    assert day_of(closes_ms("2026-11-29") - 1) == "2026-11-29"
    assert day_of(closes_ms("2026-11-29")) == "2026-11-30"
    assert reveals_ms("2026-11-29") == closes_ms("2026-11-29") + GRACE_MS
    assert day_of(10**18) == "9999-12-31"
    assert day_of(-5) == "1970-01-01"


def test_a_streak_is_counted_by_dates() -> None:
    assert streaks([], "2026-11-30") == (0, 0)
    assert streaks(["2026-11-30"], "2026-11-30") == (1, 1)
    assert streaks(["2026-11-29"], "2026-11-30") == (1, 1)
    assert streaks(["2026-11-28"], "2026-11-30") == (0, 1)
    row = ["2026-12-31", "2027-01-01", "2027-01-02", "2026-12-20", "2026-12-21"]
    assert streaks(row, "2027-01-03") == (3, 3)
    assert streaks(row * 2, "2027-01-05") == (0, 3)
    assert streaks(["2026-12-02", "2026-12-01"], "2026-12-01") == (1, 1)


def test_a_key_hashed_as_often_as_its_day_says_is_the_root() -> None:
    root = root_of(TIP, SEASON_DAYS)
    for day in (1, 2, 200, SEASON_DAYS):
        key = key_of_day(TIP, SEASON_DAYS, day).tell()
        for _ in range(day):
            key = hashlib.sha256(key).digest()
        assert key == root
    assert key_of_day(TIP, SEASON_DAYS, SEASON_DAYS) == TIP
    for day in (-1, SEASON_DAYS + 1):
        with pytest.raises(ValueError, match="no day"):
            key_of_day(TIP, SEASON_DAYS, day)


def seed(**changed: object) -> Secret:
    fields: dict[str, object] = {
        "date": "2026-11-29",
        "variant": "yukon",
        "level": None,
        "rules_hash": "a" * 64,
        "beacon": "",
    }
    return seed_of(key_of_day(TIP, SEASON_DAYS, 1), **fields | changed)  # type: ignore[arg-type]


def test_seed_deal_and_solution_are_made_as_the_page_says() -> None:
    key = key_of_day(TIP, SEASON_DAYS, 1).tell()
    message = b"daily/1\x002026-11-29\x00yukon-thicket\x002\x00" + b"a" * 64 + b"\x00noise"
    expected = hmac.digest(key, message, "sha256")
    made = seed(variant="yukon-thicket", level=2, beacon="noise")
    assert made.tell() == expected
    assert seed_commitment(made) == hashlib.sha256(expected).digest()
    deal = hmac.digest(expected, b"daily-deal/1\x00" + (7).to_bytes(8, "big"), "sha256")
    assert deal_of(made, 7).tell().decode() == "ck:" + deal.hex()
    solution = hashlib.sha256(b"daily-solution/1\x00" + expected + b"\x00t1 1 f\ndraw").digest()
    assert solution_hash(made, "t1 1 f\ndraw") == solution


def test_every_field_makes_another_deal() -> None:
    changes: list[dict[str, object]] = [
        {},
        {"date": "2026-11-30"},
        {"variant": "yakutat-bay"},
        {"level": 0},
        {"level": 1},
        {"rules_hash": "b" * 64},
        {"beacon": "x"},
    ]
    seeds = {seed(**change).tell() for change in changes}
    assert len(seeds) == len(changes)
    assert len({deal_of(seed(), nonce).tell() for nonce in range(50)}) == 50


def test_a_secret_shows_nowhere() -> None:
    secret = Secret(b"x" * 32)
    assert "x" not in repr([secret]).replace("Secret", "")
    assert "xx" not in f"{secret!r} {secret!s} {secret}"
    with pytest.raises(TypeError, match="not pickled"):
        pickle.dumps(secret)
    assert secret == Secret(b"x" * 32)
    assert secret != Secret(b"y" * 32)
    assert secret != b"x" * 32


Result = tuple[int, int, int, int, int]
results = st.tuples(
    st.integers(0, 1), st.integers(0, 416), st.integers(0, 1), st.integers(0, 5000), st.integers(0, 10**9)
)


def of(result: Result) -> tuple[int, int]:
    won, score, assisted, moves, ms = result
    return place_of(won=won, score=score, assisted=assisted, moves=moves, ms=ms)


def order(result: Result) -> Result:
    won, score, assisted, moves, ms = result
    return -won, -score, assisted, moves, ms


@given(results, results)
def test_places_are_ordered_as_results_are(one: Result, other: Result) -> None:
    assert (of(one) < of(other)) == (order(one) < order(other))
    assert (of(one) == of(other)) == (one == other)


@given(st.lists(results, min_size=1, max_size=40), st.lists(results, min_size=1, max_size=40))
def test_places_add_up(one: list[Result], other: list[Result]) -> None:
    def total(days: list[Result]) -> tuple[Result, tuple[int, int]]:
        sums = [sum(column) for column in zip(*days, strict=True)]
        high, low = (sum(column) for column in zip(*map(of, days), strict=True))
        return (sums[0], sums[1], sums[2], sums[3], sums[4]), (high, low)

    first, second = total(one), total(other)
    assert (first[1] < second[1]) == (order(first[0]) < order(second[0]))
    assert first[1] == of(first[0])


def test_ten_years_of_results_fit_into_a_place() -> None:
    worst = of((3650, 416 * 3650, 3650, 5000 * 3650, 3650 * 30 * 3_600_000 // 2))
    assert all(abs(number) < 2**63 for number in worst)


def test_time_on_the_server_is_never_less_than_none() -> None:
    assert of((1, 52, 0, 90, -5)) == of((1, 52, 0, 90, 0))


def test_equal_results_share_a_rank() -> None:
    places = [of((1, 52, 0, moves, 5)) for moves in (80, 90, 90, 90, 100)]
    assert ranks_of(places, before=0, last=None) == [1, 2, 2, 2, 5]
    for cut in range(1, 5):
        head = ranks_of(places[:cut], before=0, last=None)
        tail = ranks_of(places[cut:], before=cut, last=(places[cut - 1], head[-1]))
        assert head + tail == [1, 2, 2, 2, 5]


def test_the_end_of_a_page_reads_back() -> None:
    place = Place(-3, 5, 7, 2, 20)
    assert read_place(place.text()) == place
    chance = random.Random(5)
    for text in (
        "",
        "1.2.3.4",
        "1.2.3.4.5.6",
        "a.b.c.d.e",
        "9999999999999999999.1.1.1.1",
        "1.-2.3.4.5",
        "1.2.3.4.5\n",
    ):
        assert read_place(text) is None
    for _ in range(200):
        made = place_of(won=chance.randrange(9), score=chance.randrange(999), assisted=1, moves=3, ms=4)
        assert read_place(Place(*made, 1, 1, 1).text()) == Place(*made, 1, 1, 1)
