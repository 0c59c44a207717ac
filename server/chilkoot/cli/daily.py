"""`chilkoot daily`: what is published and announced, a day worked out again from its key, and a new season."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator

from chilkoot.cli.faults import ERRORS, USAGE, CommandFailed
from chilkoot.cli.json_lines import print_json
from chilkoot.config import default_database
from chilkoot.daily import (
    ANNOUNCED_DAYS,
    Secret,
    date_after,
    day_of,
    days_between,
    deal_of,
    key_of_day,
    read_date,
    reveals_ms,
    root_of,
    seed_commitment,
    seed_of,
    solution_hash,
)
from chilkoot.data import keep_compiled_solver
from chilkoot.engine import Game
from chilkoot.events import parse_action
from chilkoot.host.almanac import new_season
from chilkoot.language.rules import from_canonical
from chilkoot.record import Conflict, Reader, Store, StoredDaily
from chilkoot.solver.certify import REVISION, certify

__all__ = ["preview", "rotate", "verify"]


def preview(flags: argparse.Namespace) -> int:
    """Tell the seasons, and what is announced of today and the days to come. No secret is told."""
    reader = Reader.open(flags.database or default_database())
    try:
        days, today = reader.days, day_of(_now_ms())
        for season in days.seasons():
            last = date_after(season.first, season.days - 1)
            if flags.json:
                print_json(
                    season=season.first, last=last, root=season.root.hex(), published=season.published_ms
                )
            elif last >= today:
                print(f"season {season.first} to {last}: root {season.root.hex()}")
        for ahead in range(ANNOUNCED_DAYS + 1):
            date = date_after(today, ahead)
            for daily in days.dailies(date):
                state = daily.proof or "announced"
                if flags.json:
                    print_json(
                        date=date,
                        variant=daily.variant,
                        level=daily.level,
                        state=state,
                        seed=daily.seed_hash.hex(),
                    )
                else:
                    print(f"{date}  {_name(daily):<20} {state:<11} seed {daily.seed_hash.hex()}")
    finally:
        reader.close()
    return 0


def verify(flags: argparse.Namespace) -> int:
    """Work the deals of a day out again: from the season's secret to every card of every attempt."""
    date = read_date(flags.date)
    if date is None:
        raise CommandFailed(f"{flags.date}: a date is written like 2026-11-29", USAGE)
    keep_compiled_solver()
    reader = Reader.open(flags.database or default_database())
    wrong = 0
    try:
        dailies = reader.days.dailies(date)
        if not dailies:
            raise CommandFailed(f"no daily was announced for {date}")
        for daily in dailies:
            problems = list(_problems(reader, daily, searching=not flags.quick))
            wrong += bool(problems)
            if flags.json:
                print_json(date=date, variant=daily.variant, level=daily.level, problems=problems)
                continue
            print(
                f"{_name(daily)} of {date}: {_verdict(daily) if not problems else 'not as it was committed to'}"
            )
            for problem in problems:
                print(f"  {problem}")
        is_revealed = _now_ms() >= reveals_ms(date)
        if is_revealed and not flags.json:
            print(f"key {_key(reader, dailies[0]).tell().hex()}")
    finally:
        reader.close()
    return ERRORS if wrong else 0


def rotate(flags: argparse.Namespace) -> int:
    """Publish a new season that begins after the days that are announced already; the server must not be running."""
    store = Store.open(flags.database or default_database())
    try:
        now_ms = _now_ms()
        days, first = store.reader.days, day_of(now_ms)
        while days.dailies(first):
            first = date_after(first, 1)
        season = new_season(first, now_ms=now_ms)
        try:
            store.write((season,))
        except Conflict:
            raise CommandFailed(f"there is a new season from {first} already") from None
    finally:
        store.close()
    if flags.json:
        print_json(season=season.first, days=season.days, root=season.root.hex())
    else:
        print(f"the season from {season.first} is published: {season.root.hex()}")
    return 0


def _problems(reader: Reader, daily: StoredDaily, *, searching: bool) -> Iterator[str]:
    season, key = daily.season, _key(reader, daily)
    tip = _tip(reader, daily)
    if root_of(tip, season.days) != season.root:
        yield "the season's secret does not lead to its root"
    if days_between(season.first, daily.date) + 1 != daily.day:
        yield f"it is said to be day {daily.day} of its season, and is not"
    seed = seed_of(
        key,
        date=daily.date,
        variant=daily.variant,
        level=daily.level,
        rules_hash=daily.rules_hash,
        beacon=daily.beacon,
    )
    if seed_commitment(seed) != daily.seed_hash:
        yield "the seed that follows from the key is not the one that was announced"
    if daily.nonce is None:
        return
    deal = deal_of(seed, daily.nonce).tell().decode()
    rules = reader.rules(daily.rules_hash) or ""
    for game, played in reader.days.games(daily.date, daily.variant, daily.level):
        if played != deal:
            yield f"the game {game} was played on another deal"
    line = reader.days.solution(daily.date, daily.variant, daily.level)
    if line is not None:
        if solution_hash(seed, line) != daily.solution_hash:
            yield "the solution is not the one that was committed to"
        if not _wins(rules, deal, line):
            yield "the solution does not win"
    if searching and daily.solver == REVISION and daily.positions is not None:
        yield from _searched(daily, seed, rules)


def _searched(daily: StoredDaily, seed: Secret, rules: str) -> Iterator[str]:
    """Whether the search chooses the same candidate again."""
    assert daily.nonce is not None
    assert daily.positions is not None
    last = daily.nonce if daily.proof == "proved" else -1
    for nonce in range(last + 1):
        found = certify(rules, deal_of(seed, nonce).tell().decode(), daily.positions)
        if found is not None and nonce < last:
            yield f"candidate {nonce} can be won, and comes before candidate {last}, which was chosen"
        elif found is None and nonce == last:
            yield f"the search does not find candidate {last} to be winnable"


def _wins(rules: str, deal: str, line: str) -> bool:
    game = Game.start(from_canonical(rules), deal)
    for text in line.splitlines():
        action = parse_action(text)
        if action is None or not isinstance(game.act(action), list):
            return False
    return game.status == "won"


def _verdict(daily: StoredDaily) -> str:
    if daily.nonce is None:
        return "announced, no deal is chosen yet"
    if daily.proof == "not_proved":
        return "as committed, without a proof that it can be won"
    return "as committed" + ("" if daily.solver == REVISION else f", chosen by solver {daily.solver}")


def _key(reader: Reader, daily: StoredDaily) -> Secret:
    return key_of_day(_tip(reader, daily), daily.season.days, daily.day)


def _tip(reader: Reader, daily: StoredDaily) -> Secret:
    tip = reader.days.tip(daily.season.first)
    if tip is None:
        raise CommandFailed(f"the season from {daily.season.first} has no secret in this database")
    return Secret(tip)


def _name(daily: StoredDaily) -> str:
    return daily.variant if daily.level is None else f"{daily.variant}@{daily.level}"


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
