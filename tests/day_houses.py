"""A server in this process whose clock stands still until a test moves it, and whose search answers at once."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from caller import Caller, Frame
from chilkoot.config import Config, Limits
from chilkoot.daily import Secret, deal_of, key_of_day, root_of, seed_commitment, seed_of, solution_hash
from chilkoot.data import rules_folder
from chilkoot.engine import Game
from chilkoot.events import HOME, Action, format_action
from chilkoot.host.almanac import Revealed
from chilkoot.host.clock import Clock
from chilkoot.host.house import House
from chilkoot.host.ledger import Ledger
from chilkoot.host.published import publish
from chilkoot.host.server import listen, listening_sockets
from chilkoot.language.rules import canonical_text, from_canonical
from chilkoot.library import Library
from chilkoot.record import CannotOpen, StoredDaily, StoredSeason
from chilkoot.solver.certify import Certificate
from servers import lay_database

# Eight cards, won by anybody who puts what lies on top into the cells.
STAIRS = """\
dsl: 1
name: Stairs
family: freecell
summary: Eight cards, for tests.
deck: {ranks: A-2}
deal:
  - DDDD
  - UUUU
tableau: {columns: 4}
cells: {count: 4}
"""

NO_LIMITS = Limits(
    rate=0,
    flood=0,
    new_per_second=0,
    hint_per_second=0,
    connections_per_address=0,
    connections_per_player=0,
    advice_ms=0,
)


class SetClock(Clock):
    """A clock that a test sets."""

    def __init__(self, ms: int) -> None:
        super().__init__()
        self.now = ms

    def ms(self) -> int:
        return self.now


class DayHouse:
    """A house that listens, with its folder."""

    def __init__(self, house: House, clock: SetClock, port: int) -> None:
        self.house = house
        self.clock = clock
        self.port = port
        self.searched: list[str] = []

    @property
    def url(self) -> str:
        return f"ws://127.0.0.1:{self.port}/ws"

    async def certificate(self, rules: str, deal: str) -> Certificate | None:
        """Two deals in three have one; of stairs with a line that wins."""
        self.searched.append(deal)
        await asyncio.sleep(0)
        return Certificate(winning_line(rules, deal), 5) if is_winnable(deal) else None

    async def ready(self) -> None:
        """Do what the task of the days does now and then."""
        await self.house.almanac.prepare()
        await self.house.almanac.choose()


def is_winnable(deal: str) -> bool:
    return hashlib.sha256(deal.encode()).digest()[0] % 3 != 0


def winning_line(rules: str, deal: str) -> tuple[str, ...]:
    """What wins a deal of stairs; of another game any line will do for a test."""
    game = Game.start(from_canonical(rules), deal)
    line: list[str] = []
    while not game.is_over and game.position.tables.layout.cells == 4:
        moves = [move for move in game.legal() if move.source[0] == "t" and move.target[0] == "c"]
        action: Action = HOME if game.can()["home"] else moves[0]
        assert isinstance(game.act(action), list)
        line.append(format_action(action))
    return tuple(line) or ("draw",)


@asynccontextmanager
async def day_house(
    folder: Path,
    clock: SetClock,
    *,
    dailies: tuple[str, ...] = ("stairs", "yukon"),
    limits: Limits = NO_LIMITS,
) -> AsyncIterator[DayHouse]:
    """A house on the database of a folder."""
    rules = folder / "rules"
    rules.mkdir(exist_ok=True)
    (rules / "stairs.yaml").write_text(STAIRS)
    library = Library([rules, rules_folder()])
    config = Config(port=0, database=f"sqlite:///{folder / 'games.db'}", dailies=dailies, limits=limits)
    lay_database(folder / "games.db")
    ledger = await opened(config.database)
    house = House(config, ledger, library, clock=clock)
    [listener] = listening_sockets("127.0.0.1", 0)
    made = DayHouse(house, clock, listener.getsockname()[1])
    setattr(house.certifier, "certificate", made.certificate)  # noqa: B010 - mypy knows a method
    servers = await listen(house, [listener])
    try:
        yield made
    finally:
        for server in servers:
            server.close()
            await server.wait_closed()
        await asyncio.get_running_loop().run_in_executor(None, ledger.close, 2.0)


async def opened(url: str) -> Ledger:
    """The record, once the house before has let go of it."""
    while True:
        try:
            return Ledger(url, on_fatal=lambda _: None)
        except CannotOpen:
            await asyncio.sleep(0.01)


async def win(caller: Caller, table: Frame) -> Frame:
    """Win a game of stairs; the last diff."""
    piles = {name: list(cards) for name, cards in table["piles"].items()}
    game, seq = table["game"], table["seq"]
    cells = [name for name in piles if name.startswith("c") and not piles[name]]
    while True:
        diff = await caller.ask("home", game=game, base=seq)
        if diff["type"] != "diff":
            source = next(name for name in piles if name.startswith("t") and piles[name])
            diff = await caller.move({"game": game, "seq": seq}, f"{source} 1 {cells.pop(0)}")
        assert diff["type"] == "diff", diff
        seq = diff["seq"]
        if diff.get("status") == "won":
            return diff
        piles = (await caller.ask("sync", game=game))["piles"]
        cells = [name for name in piles if name.startswith("c") and not piles[name]]


def published_day(*variants: str) -> bytes:
    """What a server publishes of a day of these variants that is over."""
    return publish(told_of_a_day(*variants), 2**42)


def told_of_a_day(*variants: str) -> list[tuple[StoredDaily, Revealed | None, str]]:
    """A day of these variants that is over; made of the pure parts, no server had a hand in it."""
    library = Library([rules_folder()])
    tip = Secret(bytes(32))
    key = key_of_day(tip, 365, 200)
    season = StoredSeason("2026-01-01", 365, root_of(tip, 365), 1)
    date, beacon, nonce, line = "2026-07-19", "noise", 9, "home"
    told: list[tuple[StoredDaily, Revealed | None, str]] = []
    for name in variants:
        variant = library.variant(name)
        assert variant is not None
        for level in variant.levels:
            seed = seed_of(
                key, date=date, variant=name, level=level.number, rules_hash=level.hash, beacon=beacon
            )
            daily = StoredDaily(
                date, name, level.number, season, 200, level.hash, beacon, seed_commitment(seed), 1, nonce, "proved",
                1, 30_000, solution_hash(seed, line),
            )  # fmt: skip
            revealed = Revealed(key.tell(), deal_of(seed, nonce).tell().decode(), line)
            told.append((daily, revealed, canonical_text(level.rules)))
    return told
