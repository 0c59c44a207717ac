"""A game at which we sit or which we watch: its mirrored table and the commands about it."""

from __future__ import annotations

import asyncio
from typing import Any, Final, Protocol

from chilkoot_client.errors import Closed, Error
from chilkoot_client.messages import Analysis, Diff, Hint, Legal, Message, Snapshot, Targets, Watch
from chilkoot_client.table import Table

__all__ = ["Game"]


class Asks(Protocol):
    """What a game needs of its client."""

    games: dict[str, Game]

    async def request(self, command: str, **fields: Any) -> Message:
        """Send a command and wait for its one reply."""
        ...

    async def in_step(self, game: str, seq: int) -> None:
        """Wait until the mirrored table is at `seq` or later."""
        ...


class Game:
    """One game and its mirrored `table`.

    Every action returns the diff that the server answered with, after the table has been brought up to it. Actions that
    are asked for at the same time are sent one after the other, each from the table that the one before it left.
    """

    def __init__(self, client: Asks, table: Table) -> None:
        self.table: Final = table
        self.joined_with: tuple[str | None, str | None] = (None, None)
        self._client = client
        self._turn = asyncio.Lock()

    @property
    def id(self) -> str:
        """The game's id, the same for everybody."""
        return self.table.game

    async def act(self, command: str, **fields: Any) -> Message:
        """Send a command that changes the game, from the table as it is mirrored when its turn comes."""
        async with self._turn:
            reply = await self._client.request(command, game=self.id, base=self.table.seq, **fields)
            if isinstance(reply, Diff):
                await self._client.in_step(self.id, reply.seq)
            return reply

    async def move(self, source: str, target: str, n: int = 1) -> Diff:
        """Move the last `n` cards of one pile onto another; ``f`` is the foundation that takes the card."""
        return _diff(await self.act("move", from_=source, to=target, n=n))

    async def tap(self, pile: str, n: int = 1) -> Diff | Targets:
        """Pick up cards: a card that fits its foundation goes home, else the piles that accept the cards are named."""
        reply = await self.act("tap", pile=pile, n=n)
        return reply if isinstance(reply, Targets) else _diff(reply)

    async def draw(self) -> Diff:
        """Turn the stock."""
        return _diff(await self.act("draw"))

    async def undo(self, count: int | None = None) -> Diff:
        """Take back the last action, or the last `count`."""
        return _diff(await self.act("undo", count=count))

    async def redo(self, count: int | None = None) -> Diff:
        """Do again what was taken back."""
        return _diff(await self.act("redo", count=count))

    async def home(self) -> Diff:
        """Send home every card that can go."""
        return _diff(await self.act("home"))

    async def auto(self) -> Diff:
        """Let the server's policy make one move; it may concede."""
        return _diff(await self.act("auto"))

    async def give_up(self) -> Diff:
        """End the game as lost."""
        return _diff(await self.act("give_up"))

    async def hint(self) -> Hint:
        """Ask what the server's policy would do."""
        reply = await self._client.request("hint", game=self.id)
        return reply if isinstance(reply, Hint) else _unexpected(reply)

    async def legal(self) -> Legal:
        """Ask for every legal move."""
        reply = await self._client.request("legal", game=self.id)
        return reply if isinstance(reply, Legal) else _unexpected(reply)

    async def analyse(self) -> Analysis:
        """Ask where the game, which must be over, could still be won; waits while the server makes its analysis."""
        while True:
            try:
                reply = await self._client.request("analyse", game=self.id)
            except Error as error:
                # As long as it goes on, the server says how far it is.
                if error.code != "busy" or not error.detail:
                    raise
            else:
                return reply if isinstance(reply, Analysis) else _unexpected(reply)

    async def sync(self) -> Table:
        """Ask for the whole table again."""
        await self._client.request("sync", game=self.id)
        return self.table

    async def restart(self) -> Game:
        """A new game on the same deal."""
        reply = await self._client.request("restart", game=self.id)
        return self._client.games[reply.game] if isinstance(reply, Snapshot) else _unexpected(reply)

    async def let_watch(self, watch: str) -> Watch:
        """Say who may watch from now on: ``open`` (all), ``key`` (who has the `watch_key` of the answer), ``closed``."""
        reply = await self._client.request("watch", game=self.id, watch=watch)
        return reply if isinstance(reply, Watch) else _unexpected(reply)

    async def leave(self) -> None:
        """Watch no longer; the game stays as it is."""
        await self._client.request("leave", game=self.id)
        self._client.games.pop(self.id, None)

    def __repr__(self) -> str:
        return f"<Game {self.table!r}>"


def _diff(reply: Message) -> Diff:
    return reply if isinstance(reply, Diff) else _unexpected(reply)


def _unexpected(reply: Message) -> Any:
    raise Closed(f"the server answered with {type(reply).__name__}, which this library does not expect there")
