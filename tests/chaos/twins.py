"""Twin deals: two games that differ only in cards nobody has seen, played the same way, in houses that are alike otherwise.

Every byte that either house sends to anybody, and every line of its log, must be the same. That catches whatever could tell of
a hidden card, in any message, for any reason. Houses run in this process, on sockets that are not there; time and chance are
the same for both. Many games are played in one house, since making one takes longer than playing in it.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
import random
import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from websockets.datastructures import Headers
from websockets.http11 import Request

from chilkoot.cards import DOWN
from chilkoot.config import Config, Limits
from chilkoot.engine import Game, Refusal, is_no_op, name_move
from chilkoot.events import CardMove, parse_action
from chilkoot.host import entering
from chilkoot.host.connection import Connection
from chilkoot.host.dispatch import take
from chilkoot.host.house import House
from chilkoot.host.ledger import Ledger
from chilkoot.host.pages import Pages
from chilkoot.host.socket import Socket
from chilkoot.language.rules import Rules
from chilkoot.solver import advise
from chilkoot.table import Entropy
from chilkoot.wire import JSON
from variants import library

__all__ = ["Script", "outputs", "twins_of"]

MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None
"""A folder on no disk: thousands of databases are made here."""


class Script:
    """A game to be played twice: the deals of both, and the actions with what else is asked between them."""

    def __init__(
        self,
        seed: int,
        variant: str,
        level: int | None,
        boards: tuple[str, str],
        steps: list[list[dict[str, Any]]],
    ) -> None:
        self.seed = seed
        self.variant = variant
        self.level = level
        self.boards = boards
        self.steps = steps


def twins_of(variant: str, level: int | None, rules: Rules, seed: int, *, actions: int = 12) -> Script | None:
    """A line of play from a seed, and two deals that it can't tell apart; None where nothing stays hidden."""
    chance = random.Random(seed)
    game = Game.start(rules, f"ck:{seed}")
    board = game.board()
    hidden = dict.fromkeys(_covered(game))
    # Played from the board, for what is shuffled later is shuffled by the deal's own key.
    game = Game.start(rules, board)
    start = [list(pile) for pile in game.position.piles]
    tracked = _Tracker(game)
    steps: list[list[dict[str, Any]]] = []
    while len(steps) < actions and not game.is_over:
        step, action = _step(game, chance)
        if action is None or isinstance(game.act(action), Refusal):
            break
        tracked.look(game)
        steps.append(step)
    unseen = [place for place in hidden if tracked.is_unseen(start[place[0]][place[1]])]
    cards = [start[pile][at] for pile, at in unseen]
    if len(set(cards)) < 2:
        return None
    while True:
        other = chance.sample(cards, len(cards))
        if other != cards:
            break
    for (pile, at), card in zip(unseen, other, strict=True):
        start[pile][at] = card
    # The base of some games is fixed by cards that lie open, so the board of the twin is written like the first.
    twin = Game.start(rules, board)
    twin.position.piles[:] = start
    return Script(seed, variant, level, (board, twin.board()), steps)


class _Tracker:
    """Which cards were face up at any time; where two packs are used a card counts as seen when either copy was."""

    def __init__(self, game: Game) -> None:
        self.seen: set[int] = set()
        self.look(game)

    def look(self, game: Game) -> None:
        self.seen |= {card for pile in game.position.piles for card in pile if not card & DOWN}

    def is_unseen(self, card: int) -> bool:
        return card & 63 not in self.seen


def _covered(game: Game) -> Iterator[tuple[int, int]]:
    for number, pile in enumerate(game.position.piles):
        for at, card in enumerate(pile):
            if card & DOWN:
                yield number, at


def _step(game: Game, chance: random.Random) -> tuple[list[dict[str, Any]], Any]:
    """Questions, refused moves, and then one action, as commands without a game and a base."""
    names = game.piles()
    asked: list[dict[str, Any]] = [{"type": "sync"}, {"type": "legal"}]
    if chance.random() < 0.4:
        asked.append({"type": "hint"})
    for _ in range(4):
        move = CardMove(chance.choice(names), chance.randint(1, 8), chance.choice([*names, "f"]))
        if game.why_not(move) is not None:
            asked.append(_command(str(move)))
        # From a table that was left long ago.
        asked.append({"type": "tap", "pile": chance.choice(names), "n": chance.randint(1, 4), "base": -1})
    tables = game.position.tables
    texts = [str(name_move(tables, move)) for move in game.legal_piles() if not is_no_op(game.position, move)]
    texts += ["draw"] * (2 * game.can_draw()) + [f"turn {pile}" for pile in game.can_turn()]
    texts += ["undo"] * (chance.random() < 0.3 and game.moves > 0) + ["home"] * game.can()["home"]
    dice = chance.random()
    if dice < 0.15 and game.can()["auto"]:
        found = advise(game).action
        return [*asked, {"type": "auto"}], found
    if not texts:
        return asked, None
    text = chance.choice(texts)
    return [*asked, _command(text)], parse_action(text)


def _command(text: str) -> dict[str, Any]:
    words = text.split()
    if words[0] == "turn":
        return {"type": "tap", "pile": words[1]}
    if len(words) == 3:
        return {"type": "move", "from": words[0], "n": int(words[1]), "to": words[2]}
    return {"type": words[0]}


# a house without a network


class _Still:
    """A transport and a socket that take everything at once."""

    is_full = False
    address = "test"
    local_address = ("127.0.0.1", 1)

    def get_write_buffer_size(self) -> int:
        return 0

    @property
    def transport(self) -> _Still:
        return self


class Ear(Connection):
    """A connection that keeps what it is sent."""

    __slots__ = ("heard",)

    heard: list[bytes]

    def _write(self, text: bytes) -> None:
        self.heard.append(text)

    async def reply(self, text: bytes) -> None:
        self.heard.append(text)


class _Times:
    """A clock that goes on by a millisecond whenever it is looked at."""

    def __init__(self) -> None:
        self.now = 1_700_000_000_000

    def ms(self) -> int:
        self.now += 1
        return self.now


def _chances() -> Iterator[Entropy]:
    for number in itertools.count():
        yield Entropy(game=f"game{number}", key=f"key{number}", watch_key=f"watch{number}", deal="0" * 64)


class _Log(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())

    def taken(self) -> list[bytes]:
        """What was logged since this was asked last."""
        lines, self.lines = self.lines, []
        return [re.sub(r"/\S*games\.db\S*", "DATABASE", line).encode() for line in lines]


@contextmanager
def _listening() -> Iterator[_Log]:
    handler, logger = _Log(), logging.getLogger("chilkoot")
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    try:
        yield handler
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)


async def outputs(scripts: Sequence[Script], side: int) -> list[list[bytes]]:
    """Everything a house gives out, script by script, while each is played on its first board (0) or its second (1)."""
    limits = Limits(rate=0, new_per_second=0, hint_per_second=0, certify_seconds=0, advice_ms=0)
    chances = _chances()
    with (
        tempfile.TemporaryDirectory(dir=MEMORY) as folder,
        patch.object(entering, "fresh_entropy", lambda: next(chances)),
        _listening() as log,
    ):
        ledger = Ledger(f"sqlite:///{folder}/games.db", on_fatal=lambda _: None)
        house = House(Config(limits=limits), ledger, library())
        # The hub has the clock too: by the real one a game that ended by this one would have ended long ago, and be closed.
        vars(house)["clock"] = vars(house.hub)["_clock"] = _Times()
        vars(house)["guest"] = _guests(house)
        try:
            pages = Pages(house, 1)
            return [
                [*await _play(house, pages, script, script.boards[side]), *log.taken()] for script in scripts
            ]
        finally:
            await asyncio.to_thread(ledger.close, 5.0)


def _guests(house: House) -> Any:
    numbers = itertools.count()

    def guest() -> Any:
        from chilkoot.table import Session  # noqa: PLC0415

        number = next(numbers)
        return Session(f"session{number}", f"player{number}")

    return guest


async def _play(house: House, pages: Pages, script: Script, board: str) -> list[bytes]:
    heard: list[bytes] = []
    player, watcher = (_ear(house, heard) for _ in range(2))
    ids = itertools.count(1)

    async def say(who: Ear, command: dict[str, Any]) -> dict[str, Any]:
        number = next(ids)
        await take(house, who, json.dumps(command | {"id": number}))
        reply: dict[str, Any] = next(
            frame for text in reversed(heard) if (frame := json.loads(text)).get("re") == number
        )
        return reply

    level = {} if script.level is None else {"level": script.level}
    table = await say(player, {"type": "new", "variant": script.variant, "cards": board, **level})
    assert table["type"] == "snapshot", table
    game = table["game"]
    await say(watcher, {"type": "join", "game": game})
    seq = 0
    for step in script.steps:
        for command in step:
            is_question = command["type"] in {"sync", "legal", "hint"}
            more = {} if is_question else {"base": seq}
            reply = await say(player, {"game": game} | more | command)
            seq = reply["seq"] if reply["type"] == "diff" else seq
        for kind in ("sync", "legal", "recording"):
            await say(watcher, {"type": kind, "game": game})
    await say(player, {"type": "games"})
    await say(player, {"type": "stats"})
    for path in (f"/recordings/{game}.json", f"/deals/{game}.svg", "/metrics", "/readyz", f"/games/{game}"):
        response = await pages.answer(player.socket, Request(path, Headers()))
        assert response is not None
        # How long a disk takes is no property of the cards.
        body = re.sub(rb"chilkoot_(commit|loop)_.*", b"TIMES", bytes(response.body or b""))
        heard.append(str(response.status_code).encode() + body)
    for ear in (player, watcher):
        house.leave(ear)
    return heard


def _ear(house: House, heard: list[bytes]) -> Ear:
    socket: Any = _Still()
    assert isinstance(socket, _Still)
    ear = Ear(_as_socket(socket), house.guest(), JSON, house.limits, house.catch_up, house.metrics)
    ear.heard = heard
    house.connections.add(ear)
    return ear


def _as_socket(still: Any) -> Socket:
    socket: Socket = still
    return socket
