"""The one task that looks after the days: seasons are published, days announced, and deals chosen ahead of time.

Everything it does is a row that can be there only once, so that a restart, a second server or a clock that jumps doubles nothing and
leaves nothing out: it looks at what is there, and adds what is missing. Searching takes seconds and goes on in another process;
whoever wants a day that is not ready waits a moment, and is told to come again.

Secrets stay in here: they are read, turned into a commitment or a deal, and forgotten.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from chilkoot.daily import (
    ANNOUNCED_DAYS,
    NONCES,
    RENEWAL_DAYS,
    SEASON_DAYS,
    Secret,
    date_after,
    day_of,
    days_between,
    deal_of,
    key_of_day,
    reveals_ms,
    root_of,
    seed_commitment,
    seed_of,
    solution_hash,
)
from chilkoot.discretion import discreet
from chilkoot.host.certifier import Certifier, CertifierFailed
from chilkoot.host.clock import Clock
from chilkoot.host.ledger import Ledger
from chilkoot.host.log import log
from chilkoot.language.rules import Level, canonical_text
from chilkoot.library import Library
from chilkoot.record import (
    AnnounceDaily,
    ChooseDeal,
    Conflict,
    NewSeason,
    PutRules,
    StoredDaily,
    StoredSeason,
    StoreFault,
    Write,
)
from chilkoot.solver.certify import CERTIFY_POSITIONS, REVISION, Certificate

__all__ = ["Almanac", "DailyGame", "Revealed", "new_season"]

EAGER_SECONDS: Final = 15
"""After this time deals are chosen although nobody has asked for one: a server that was just started has better things to do."""

LOOK_SECONDS: Final = 5.0
WAIT_SECONDS: Final = 2.5
"""How long who wants a day that is not ready yet waits for it."""

_FAILURES: Final = 5
"""After so many searches that ended without an answer a day goes without a proof."""


class DailyGame(NamedTuple):
    """A game that has a deal a day."""

    variant: str
    level: int | None


class Revealed(NamedTuple):
    """What may be told of a day when it is over."""

    key: bytes
    deal: str
    solution: str | None

    def __repr__(self) -> str:
        return discreet(self)


class Almanac:
    """The days of one house."""

    def __init__(
        self,
        names: Iterable[str],
        *,
        beacon: str,
        ledger: Ledger,
        library: Library,
        certifier: Certifier,
        clock: Clock,
        draw: Callable[[int], bytes] = secrets.token_bytes,
    ) -> None:
        self._names = tuple(names)
        self._beacon = beacon
        self._ledger = ledger
        self._library = library
        self._certifier = certifier
        self._clock = clock
        self._draw = draw
        self._wanted: DailyGame | None = None
        self._bell = asyncio.Event()
        self._news = asyncio.Condition()
        self._chosen: dict[tuple[str, DailyGame], StoredDaily] = {}
        self._failures: dict[tuple[str, DailyGame], int] = {}

    # what there is

    def today(self) -> str:
        """The date that it is now."""
        return day_of(self._clock.ms())

    def offered(self) -> list[DailyGame]:
        """The games that have dailies, as the operator names them; those that the house does not have are left out."""
        return [DailyGame(level_of[0], level_of[1].number) for level_of in self._levels()]

    def unknown(self) -> list[str]:
        """The names that the operator gave and that no variant or level in the house has."""
        return [name for name in self._names if self._level_named(name) is None]

    def level_of(self, variant: str, level: int | None) -> int | None:
        """The level that is meant: the one that was named, else the variant's own default, else the first that is offered."""
        if level is not None:
            return level
        levels = [one.level for one in self.offered() if one.variant == variant]
        known = self._library.variant(variant)
        default = None if known is None else known.default_level
        return default if default in levels or not levels else levels[0]

    async def find(self, date: str, game: DailyGame) -> StoredDaily | None:
        """The deal of a day as far as it is known. Raises StoreFault."""
        found = self._chosen.get((date, game))
        if found is None:
            found = await self._ledger.ask(self._ledger.reader.days.daily, date, game.variant, game.level)
            if found is not None and found.nonce is not None:
                if len(self._chosen) > 200:
                    self._chosen.clear()
                self._chosen[date, game] = found
        return found

    async def wait_for(self, date: str, game: DailyGame, *, chosen: bool) -> StoredDaily | None:
        """The deal of a day, after a moment's wait where it is not announced, or with `chosen` not chosen, yet."""

        def is_ready(daily: StoredDaily | None) -> bool:
            return daily is not None and (daily.nonce is not None or not chosen)

        found = await self.find(date, game)
        if is_ready(found) or date < self.today() or game not in self.offered():
            return found
        self._wanted = game
        self._bell.set()
        try:
            async with asyncio.timeout(WAIT_SECONDS), self._news:
                while not is_ready(found := await self.find(date, game)):
                    await self._news.wait()
        except TimeoutError:
            pass
        return found

    async def revealed(self, daily: StoredDaily) -> Revealed | None:
        """Key, deal and solution of a day that is over; None before. Raises StoreFault."""
        if self._clock.ms() < reveals_ms(daily.date) or daily.nonce is None:
            return None
        key, seed = await self._secrets(daily)
        days = self._ledger.reader.days
        solution = await self._ledger.ask(days.solution, daily.date, daily.variant, daily.level)
        return Revealed(key.tell(), deal_of(seed, daily.nonce).tell().decode(), solution)

    async def deal(self, daily: StoredDaily) -> str:
        """The deal of a day, for its games alone. Raises StoreFault."""
        assert daily.nonce is not None
        _, seed = await self._secrets(daily)
        return deal_of(seed, daily.nonce).tell().decode()

    # the task

    async def look_after(self) -> None:
        """Keep the days ready until cancelled."""
        await self._look(choosing=False)
        await self._pause(EAGER_SECONDS)
        while True:
            await self._look(choosing=True)
            await self._pause(LOOK_SECONDS)

    async def _pause(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._bell.wait()
        except TimeoutError:
            pass
        self._bell.clear()

    async def _look(self, *, choosing: bool) -> None:
        try:
            await self.prepare()
            if choosing:
                await self.choose()
        except StoreFault as fault:
            log.warning("the days could not be looked after: %s", fault)
        except Exception:  # noqa: BLE001 - logged; the next look comes
            log.exception("the days could not be looked after")

    async def prepare(self) -> None:
        """Publish the seasons and announce the days that are due. Raises StoreFault."""
        levels = self._levels()
        if not levels:
            return
        today = self.today()
        seasons = await self._seasons(today)
        for ahead in range(ANNOUNCED_DAYS + 1):
            date = date_after(today, ahead)
            season = season_on(seasons, date)
            if season is None:
                continue
            known = await self._ledger.ask(self._ledger.reader.days.dailies, date)
            there = {(one.variant, one.level) for one in known}
            missing = [one for one in levels if (one[0], one[1].number) not in there]
            if missing:
                await self._announce(date, season, missing)
        await self._tell()

    async def choose(self) -> None:
        """Choose the deals of today and tomorrow that are not chosen yet, what somebody waits for first. Raises StoreFault."""
        today = self.today()
        while True:
            waiting: list[tuple[str, StoredDaily]] = []
            for date in (today, date_after(today, 1)):
                known = await self._ledger.ask(self._ledger.reader.days.dailies, date)
                waiting += [(date, one) for one in known if one.nonce is None]
            wanted, self._wanted = self._wanted, None
            waiting.sort(key=lambda one: one[0] != today or (one[1].variant, one[1].level) != wanted)
            if not waiting or not await self._choose(waiting[0][1]):
                return

    async def _choose(self, daily: StoredDaily) -> bool:
        """Choose one deal; False where there was no answer, and the others should wait as well."""
        game = DailyGame(daily.variant, daily.level)
        key = (daily.date, game)
        _, seed = await self._secrets(daily)
        try:
            found = await self._first_certified(daily, seed)
        except CertifierFailed as failure:
            self._failures[key] = self._failures.get(key, 0) + 1
            if self._failures[key] < _FAILURES:
                log.warning("no deal was chosen for %s of %s, it is tried again: %s", *_named(daily), failure)
                return False
            found = None
        nonce, certificate = (0, None) if found is None else found
        if certificate is None:
            log.warning("the deal for %s of %s has no proof that it can be won", *_named(daily))
        line = None if certificate is None else "\n".join(certificate.line)
        fault = await self._ledger.commit(
            (
                ChooseDeal(
                    date=daily.date,
                    variant=daily.variant,
                    level=daily.level,
                    nonce=nonce,
                    proof="not_proved" if certificate is None else "proved",
                    solver=REVISION,
                    positions=CERTIFY_POSITIONS,
                    solution_hash=None if line is None else solution_hash(seed, line),
                    line=line,
                    chosen_ms=self._clock.ms(),
                ),
            )
        )
        if fault is not None:
            raise fault
        self._failures.pop(key, None)
        log.info("the deal for %s of %s is chosen", *_named(daily))
        await self._tell()
        return True

    async def _first_certified(self, daily: StoredDaily, seed: Secret) -> tuple[int, Certificate] | None:
        rules = await self._ledger.ask(self._ledger.reader.rules, daily.rules_hash)
        if rules is None or not self._certifier.is_on:
            return None
        for nonce in range(NONCES):
            # One by one: games that ask for a winnable deal have their turn in between.
            found = await self._certifier.certificate(rules, deal_of(seed, nonce).tell().decode())
            if found is not None:
                return nonce, found
        return None

    async def _seasons(self, today: str) -> list[StoredSeason]:
        """All seasons, after those that are due were published."""
        days = self._ledger.reader.days
        seasons = await self._ledger.ask(days.seasons)
        while True:
            # Without a season for today (the first there is, or a clock was set back) there is one from today on; the next
            # one comes while the last still runs.
            first = today
            if season_on(seasons, today) is not None:
                first = date_after(seasons[-1].first, seasons[-1].days)
                if days_between(today, first) > RENEWAL_DAYS:
                    return seasons
            made = new_season(first, now_ms=self._clock.ms(), draw=self._draw)
            fault = await self._ledger.commit((made,))
            if fault is not None and not isinstance(fault, Conflict):
                raise fault
            if fault is None:
                log.info("the season from %s is published: %s", made.first, made.root.hex())
            seasons = await self._ledger.ask(days.seasons)

    async def _announce(self, date: str, season: StoredSeason, levels: list[tuple[str, Level]]) -> None:
        day = days_between(season.first, date) + 1
        key = key_of_day(await self._tip(season), season.days, day)
        writes: list[Write] = []
        for variant, level in levels:
            seed = seed_of(
                key,
                date=date,
                variant=variant,
                level=level.number,
                rules_hash=level.hash,
                beacon=self._beacon,
            )
            writes += (
                PutRules(hash=level.hash, text=canonical_text(level.rules)),
                AnnounceDaily(
                    date=date,
                    variant=variant,
                    level=level.number,
                    season=season.first,
                    day=day,
                    rules_hash=level.hash,
                    beacon=self._beacon,
                    seed_hash=seed_commitment(seed),
                    announced_ms=self._clock.ms(),
                ),
            )
        fault = await self._ledger.commit(tuple(writes))
        if fault is not None:
            raise fault

    async def _secrets(self, daily: StoredDaily) -> tuple[Secret, Secret]:
        """Key and seed of a day's deal."""
        key = key_of_day(await self._tip(daily.season), daily.season.days, daily.day)
        seed = seed_of(
            key,
            date=daily.date,
            variant=daily.variant,
            level=daily.level,
            rules_hash=daily.rules_hash,
            beacon=daily.beacon,
        )
        return key, seed

    async def _tip(self, season: StoredSeason) -> Secret:
        tip = await self._ledger.ask(self._ledger.reader.days.tip, season.first)
        if tip is None:
            raise LookupError(f"the season from {season.first} has no secret")
        return Secret(tip)

    def _levels(self) -> list[tuple[str, Level]]:
        found = [(name.partition("@")[0], self._level_named(name)) for name in self._names]
        return [(variant, level) for variant, level in found if level is not None]

    def _level_named(self, name: str) -> Level | None:
        variant_id, _, number = name.partition("@")
        variant = self._library.variant(variant_id)
        return None if variant is None else variant.level(int(number) if number else None)

    async def _tell(self) -> None:
        """Wake those who wait for a day."""
        async with self._news:
            self._news.notify_all()


def new_season(first: str, *, now_ms: int, draw: Callable[[int], bytes] = secrets.token_bytes) -> NewSeason:
    """A season from a date on, with a secret of its own."""
    tip = Secret(draw(32))
    return NewSeason(
        first=first, days=SEASON_DAYS, root=root_of(tip, SEASON_DAYS), tip=tip.tell(), published_ms=now_ms
    )


def season_on(seasons: Iterable[StoredSeason], date: str) -> StoredSeason | None:
    """The season that a date belongs to: the last that has begun by then, while it lasts."""
    found: StoredSeason | None = None
    for season in seasons:
        if season.first <= date < date_after(season.first, season.days):
            found = season
    return found


def _named(daily: StoredDaily) -> tuple[str, str]:
    level = "" if daily.level is None else f" level {daily.level}"
    return f"{daily.variant}{level}", daily.date
