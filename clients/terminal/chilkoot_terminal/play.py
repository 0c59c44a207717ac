"""A person's side of a game: typed commands in, sentences and tables out. Where they come from and go to is a `Face`.

What the server does arrives as one stream, whoever caused it; each diff of the game on the table is told once, in order,
and a command is done when what it caused has been told.
"""

from __future__ import annotations

import asyncio
import contextlib
import difflib
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from typing import Final, Protocol

from chilkoot_client import (
    HIDDEN,
    ChilkootError,
    Client,
    Closed,
    Connected,
    Diff,
    Disconnected,
    Dismissed,
    Error,
    Event,
    Game,
    GameEntry,
    Message,
    Race,
    RaceMessage,
    RaceProgress,
    Snapshot,
    Table,
    Targets,
    Variants,
    WatchableGame,
    Welcome,
    apply_ops,
    share_text,
)
from chilkoot_client import Move as MoveOp
from chilkoot_client.address import is_local, page_url
from chilkoot_client.messages import RulesPage
from chilkoot_terminal import commands as typed
from chilkoot_terminal.daily import board_lines, daily_words
from chilkoot_terminal.draw import board_text, size_of
from chilkoot_terminal.racer import Racer
from chilkoot_terminal.racing import watchable_lines
from chilkoot_terminal.words import (
    card_words,
    column_words,
    diff_words,
    move_words,
    outcome_words,
    pile_words,
    score_words,
)

__all__ = ["Face", "NoSuchGameError", "Play", "Wish"]

_MOST_LISTED: Final = 20
_LONGEST_CHOICE: Final = 900
"""Seconds for a day's deal to be chosen; the first time on a machine the search is compiled."""


class NoSuchGameError(Exception):
    """The game that the person named when starting the program is none that this server has; the text says which may be meant."""


class Face(Protocol):
    """Where sentences and tables are shown."""

    def say(self, text: str) -> None:
        """Show a sentence or two."""
        ...

    def show(self, table: Table, title: str, *, asked: bool) -> None:
        """Show the table: because it was asked for, or because it has changed."""
        ...

    def page(self, text: str) -> None:
        """Show a longer text, to be read at leisure."""
        ...

    def race(self, text: str) -> None:
        """Show how a race stands, in one line that is always there."""
        ...

    def link(self, text: str) -> None:
        """Say how the connection is; empty when it is fine."""
        ...


class Wish:
    """What the person asked for when starting the program: which game to sit down at."""

    def __init__(
        self,
        *,
        variant: str | None = None,
        level: int | None = None,
        deal: str | None = None,
        cards: str | None = None,
        is_new: bool = False,
        is_daily: bool = False,
        game: str | None = None,
        key: str | None = None,
        role: str | None = None,
        seats: int | None = None,
        invitation: str | None = None,
        ghost: str | None = None,
        rules: frozenset[str] | None = None,
    ) -> None:
        self.variant = variant
        self.level = level
        self.deal = deal
        self.cards = cards
        self.is_new = is_new or deal is not None or cards is not None
        self.is_daily = is_daily
        self.game = game
        self.key = key
        self.role = role
        self.seats = seats
        self.invitation = invitation
        self.ghost = ghost
        self.rules = rules
        """Hashes of rules, where an unfinished game that is played by others is not the one that is meant."""


class Play:
    """One person at one client: the game on the table, and what was said about it."""

    def __init__(self, client: Client, face: Face, *, keep_token: Callable[[str], None]) -> None:
        self._client = client
        self._face = face
        self._keep_token = keep_token
        self._game: Game | None = None
        self._names: dict[str, str] = {}
        # The table as it was last told: what a diff means can only be said from the table before it.
        self._told: dict[str, list[str]] = {}
        self._seq = -1
        self._moved = asyncio.Condition()
        self._listed: tuple[GameEntry, ...] = ()
        self._watchable: tuple[WatchableGame, ...] = ()
        self._racer = Racer(client, say=self._say, page=face.page, line=face.race, place=self._place)
        self._last = "Nothing has been said yet."
        self._gives_up = False
        self._mine = 0
        self._leaves = False
        self._talking: asyncio.Task[bool] | None = None

    @property
    def game(self) -> Game:
        """The game on the table."""
        assert self._game is not None
        return self._game

    @property
    def has_game(self) -> bool:
        """Whether a game is on the table."""
        return self._game is not None

    async def run(self, lines: AsyncIterator[str], wish: Wish) -> bool:
        """Sit down as wished, then do what each line says, until the lines end or one says quit; False: cut off."""
        events = self._client.events()
        listening = asyncio.create_task(self._listen(events))
        talking = self._talking = asyncio.create_task(self._talk(lines, wish))
        try:
            await asyncio.wait((listening, talking), return_when=asyncio.FIRST_COMPLETED)
            if talking.done():
                return self._leaves if talking.cancelled() else talking.result()
            # Either the face can no longer show anything, or there is no server any more.
            listening.result()
            ended = self._client.ended
            if ended is not None:
                self._say(f"The connection is over: {ended.reason}.")
            return False
        finally:
            self._racer.stop()
            for task in (listening, talking):
                task.cancel()
            await asyncio.gather(listening, talking, return_exceptions=True)

    def leave(self) -> None:
        """Stop at once, also where a command waits for a server that is away."""
        self._leaves = True
        if self._talking is not None:
            self._talking.cancel()

    async def _talk(self, lines: AsyncIterator[str], wish: Wish) -> bool:
        await self._sit_down(wish)
        async for line in lines:
            command = typed.parse(line)
            if command == typed.Word("quit"):
                break
            if not await self._try(command):
                return False
        return True

    def parting(self, again: str | None) -> str:
        """What to say when the person leaves; `again` is the command that takes the game up again, if one does."""
        if self._game is None or self.game.table.is_over or self.game.table.role != "player":
            return "Bye."
        if again is None:
            return "Bye. This game is not kept for you."
        return f"Bye. The game is kept: `{again}` takes it up again."

    async def _sit_down(self, wish: Wish) -> None:
        with contextlib.suppress(Error):
            variants: Variants = await self._client.variants()
            self._names = {entry.id: entry.name for entry in variants.variants}
        if wish.seats is not None or wish.invitation is not None or wish.ghost is not None:
            await self._racer.begin(await self._wished_race(wish))
            return
        if wish.role == "spectator" and wish.game is None:
            games = (await self._client.watchable(wish.variant, limit=1)).games
            if games:
                await self._place(await self._client.join(games[0].game), "")
                return
            self._say("Nobody plays a game that is open to all just now.")
        if wish.game is not None:
            await self._place(await self._client.join(wish.game, role=wish.role, key=wish.key), "")
            return
        if wish.is_daily:
            self._must_be_here(wish.variant)
            await self._daily(wish.variant, wish.level)
            return
        sentence = ""
        if not wish.is_new:
            mine = (await self._client.my_games(state="playing", limit=100)).games
            wanted = [
                entry
                for entry in mine
                if wish.variant in {None, entry.variant} and wish.level in {None, entry.level}
            ]
            if wanted:
                game = await self._client.join(wanted[0].game, role="player")
                if wish.rules is None or game.table.rules_hash in wish.rules:
                    await self._place(game, "Your game is taken up again; `new` deals another.")
                    return
                await game.leave()
                sentence = "The rules are others than those of your unfinished game, so this is a new one."
        self._must_be_here(wish.variant)
        game = await self._deal(wish.variant or "yukon", wish.level, wish.deal, wish.cards)
        await self._place(game, sentence)

    async def _deal(
        self, variant: str, level: int | None, deal: str | None, cards: str | None = None
    ) -> Game:
        return await self._client.new(variant, level=level, deal=deal, cards=cards)

    async def _place(self, game: Game, sentence: str) -> None:
        """Put a game on the table, in place of the one that lay there."""
        before = self._game
        self._game = game
        self._take(game.table)
        if before is not None and before.id != game.id:
            with contextlib.suppress(ChilkootError):
                await before.leave()
        self._show(asked=True)
        self._say(
            " ".join(part for part in (sentence, outcome_words(game.table)) if part) or self._greeting()
        )
        async with self._moved:
            self._moved.notify_all()

    def _greeting(self) -> str:
        table = self.game.table
        if table.role != "player":
            return f"You are watching {self._title()}."
        return f"{self._title()}. `help` lists the commands."

    def _title(self) -> str:
        table = self.game.table
        level = f" level {table.level}" if table.level is not None else ""
        deal = f" {table.deal}" if table.deal is not None and len(table.deal) < 30 else ""
        daily = " daily" if table.contest == "daily" else ""
        return f"{self._names.get(table.variant, table.variant)}{level}{daily}{deal}"

    def _headline(self) -> str:
        table = self.game.table
        status = "" if table.status == "playing" else f" · {table.status}"
        watching = "" if table.role == "player" else " · watching"
        moves = f"{table.moves} move{'s' * (table.moves != 1)}"
        return f"{self._title()} · {table.score}/{size_of(table)} home · {moves}{status}{watching}"

    def _show(self, *, asked: bool) -> None:
        self._face.show(self.game.table, self._headline(), asked=asked)

    def _say(self, text: str) -> None:
        self._last = text
        self._face.say(text)

    # What the server says.

    async def _listen(self, events: AsyncIterator[Event]) -> None:
        async for event in events:
            if isinstance(event, Disconnected):
                when = "" if event.retry_in < 1 else f" in {event.retry_in:.0f} s"
                self._face.link(f"connection lost ({event.reason}); trying again{when}")
            elif isinstance(event, Connected) and event.again:
                self._face.link("")
            elif isinstance(event, Welcome):
                # At once: this program may be killed, and the token before this one is good for seconds only.
                self._keep_token(event.token)
            elif isinstance(event, Diff | Snapshot) and event.replay is None:
                await self._hear(event)
            elif isinstance(event, RaceMessage | RaceProgress):
                self._racer.hear(event)
            elif isinstance(event, Dismissed) and self._game is not None and event.game == self._game.id:
                self._say("Its player has closed this game to those who watch.")

    async def _hear(self, event: Diff | Snapshot) -> None:
        """Tell what happened to the game on the table."""
        if self._game is None or event.game != self._game.id or event.seq <= self._seq:
            return
        table = self._game.table
        outcome = outcome_words(table) if event.seq == table.seq and event.status is not None else ""
        if isinstance(event, Diff) and event.seq == self._seq + 1:
            sentence = diff_words(self._told, event, by_me=event.re is not None or self._mine > 0)
            self._seq, self._told = event.seq, apply_ops(self._told, event.ops)
        elif table.seq >= event.seq:
            sentence = "The table is up to date again."
            self._take(table)
        else:
            # A diff is missing; the client asks for the whole table, and that snapshot comes by here.
            return
        if self._seq == table.seq:
            self._show(asked=False)
        self._say(f"{sentence} {outcome}".strip())
        async with self._moved:
            self._moved.notify_all()

    def _take(self, table: Table) -> None:
        self._seq = table.seq
        self._told = {name: list(cards) for name, cards in table.piles.items()}

    async def _until_told(self, reply: Message) -> None:
        if isinstance(reply, Diff) and reply.game == self.game.id:
            async with self._moved:
                # A race may put another game on the table meanwhile.
                await self._moved.wait_for(lambda: self.game.id != reply.game or self._seq >= reply.seq)

    # What the person says.

    async def _try(self, command: typed.Command) -> bool:
        """Do what was asked and say what came of it; whether to go on."""
        confirmed, self._gives_up = self._gives_up, False
        try:
            await self._do(command, confirmed=confirmed)
        except Closed as closed:
            # Either the connection is over for good, or only this command's fate is unknown.
            self._say(f"{closed.reason[:1].upper()}{closed.reason[1:]}.")
            try:
                await self._client.request("ping")
            except ChilkootError:
                return False
            self._show(asked=True)
        except Error as error:
            stale = " Look at the table and try again." if error.code == "stale" else ""
            self._say(f"{error}{stale}")
        except ChilkootError as refused:
            self._say(str(refused))
        return True

    async def _do(self, command: typed.Command, *, confirmed: bool) -> None:
        match command:
            case typed.Unclear(message):
                self._say(message)
            case typed.Word(word):
                await self._word(word, confirmed=confirmed)
            case typed.Move(source, n, target):
                await self._move(source, n, target)
            case typed.Fit(source, target):
                await self._fit(source, target)
            case typed.Pick(card, target):
                await self._pick(card, target)
            case typed.Tap(pile):
                await self._tap(pile, 1)
            case typed.Steps(word, count):
                await self._act(word, count=count)
            case typed.New(variant, level, deal):
                await self._new(variant, level, deal)
            case typed.Daily(variant, level):
                await self._daily(None if variant is None else self._full_id(variant), level)
            case typed.Leaders(period, date):
                await self._leaders(period, date)
            case typed.Open(game):
                await self._open(game)
            case typed.RaceFor(seats):
                table = self.game.table
                self._racer.enter(await self._client.race(table.variant, level=table.level, seats=seats))
            case typed.Join(invitation):
                self._racer.enter(await self._client.join_race(invitation))
            case typed.Watch(game):
                await self._watch(game)
            case typed.Watchers(watch):
                await self._let_watch(watch)
            case typed.ReadColumn(pile):
                self._say(column_words(self.game.table.piles, pile))

    async def _word(self, word: str, *, confirmed: bool) -> None:
        table = self.game.table
        texts: dict[str, Callable[[], str]] = {
            "board": lambda: board_text(table.piles),
            "help": lambda: typed.HELP,
            "read": lambda: "\n".join(column_words(table.piles, pile) for pile in table.piles),
        }
        if word in {"draw", "home", "auto"}:
            await self._act(word)
        elif word in texts:
            self._face.page(texts[word]())
        elif word == "table":
            self._show(asked=True)
        elif word == "score":
            self._say(f"{score_words(table, size_of(table))} {outcome_words(table)}".strip())
        elif word == "repeat":
            self._face.say(self._last)
        elif word == "give up":
            await self._give_up(confirmed=confirmed)
        elif word == "restart":
            await self._place(await self.game.restart(), "The same deal again.")
        elif word == "hint":
            hint = await self.game.hint()
            move = f" (`{hint.move.source} {hint.move.n} {hint.move.target}`)" if hint.move else ""
            self._say(f"{hint.message or hint.action}{move}")
        elif word == "legal":
            await self._legal()
        elif word == "games":
            await self._games()
        elif word == "share":
            await self._share()
        elif word == "watchable":
            await self._list_watchable()
        elif word in {"standings", "rematch"}:
            await self._racer.word(word)
        elif word == "variants":
            await self._variants()
        elif word == "rules":
            reply = await self._client.request("rules", variant=table.variant)
            self._face.page(
                (reply.text if isinstance(reply, RulesPage) else "").strip() or "There is no page about it."
            )

    async def _act(self, command: str, **fields: object) -> None:
        self._mine += 1
        try:
            await self._until_told(await self.game.act(command, **fields))
        finally:
            self._mine -= 1

    async def _move(self, source: str, n: int, target: str) -> None:
        if target == "c":
            cells = sorted(name for name in self.game.table.piles if name[0] == "c")
            if not cells:
                self._say("There are no cells in this game.")
                return
            target = next((name for name in cells if not self.game.table.piles[name]), cells[0])
        await self._act("move", from_=source, to=target, n=n)

    async def _fit(self, source: str, target: str) -> None:
        """Whichever cards of one column fit onto another."""
        legal = await self.game.legal()
        counts = [move.n for move in legal.moves if (move.source, move.target) == (source, target)]
        piles = self.game.table.piles
        if len(counts) == 1:
            await self._move(source, counts[0], target)
        elif counts:
            ways = [f"{card_words(piles[source][-n])} (`{source} {n} {target}`)" for n in sorted(counts)]
            self._say(f"Which one: {', '.join(ways)}?")
        elif not piles.get(source) or target not in piles:
            # The server has a sentence for what is wrong with these piles.
            await self._move(source, 1, target)
        else:
            under = piles[target][-1:]
            onto = card_words(under[0]) if under else f"empty {pile_words(target)}"
            self._say(f"Nothing in {pile_words(source)} goes onto {onto if not under else f'the {onto}'}.")

    async def _pick(self, card: str, target: str | None) -> None:
        """A card by its name: find where it lies, and where the card lies onto which it shall go."""
        places = self._places(card)
        if len(places) != 1:
            what = f"The {card_words(card)}"
            if places:
                where = " and ".join(f"{pile} ({n} deep)" for pile, n in places)
                self._say(f"{what} lies in {where}: say which, such as `{places[0][0]} {places[0][1]} …`.")
            else:
                self._say(f"{what} does not lie face up on this table.")
            return
        (source, n) = places[0]
        if target is None:
            await self._tap(source, n)
            return
        if target[0] in "A23456789TJQK":
            onto = [
                name
                for name, cards in self.game.table.piles.items()
                if name[0] in "tcf" and cards[-1:] == [target]
            ]
            if not onto:
                self._say(f"The {card_words(target)} is not the last card of a pile.")
                return
            target = onto[0]
        await self._move(source, n, target)

    def _places(self, card: str) -> list[tuple[str, int]]:
        """Where a card lies: the pile and how many cards would move; outside of the columns only last cards count."""
        return [
            (name, len(cards) - at)
            for name, cards in sorted(self.game.table.piles.items())
            for at, found in enumerate(cards)
            if found == card and (name[0] == "t" or at == len(cards) - 1)
        ]

    async def _tap(self, pile: str, n: int) -> None:
        self._mine += 1
        try:
            reply = await self.game.tap(pile, n)
            await self._until_told(reply)
        finally:
            self._mine -= 1
        if isinstance(reply, Targets):
            cards = self.game.table.piles.get(pile, [])[-n:]
            what = f"the {card_words(cards[0])}" if cards and cards[0] != HIDDEN else pile_words(pile)
            piles = ", ".join(f"{pile_words(target)} (`{pile} {n} {target}`)" for target in reply.targets)
            self._say(
                f"{what[:1].upper()}{what[1:]} may go to {piles}." if piles else f"No pile takes {what}."
            )

    async def _give_up(self, *, confirmed: bool) -> None:
        if confirmed or self.game.table.is_over:
            await self._act("give_up")
        else:
            self._gives_up = True
            self._say(
                "Giving up ends the game as lost. Say `give up` once more to do so; anything else goes on."
            )

    async def _new(self, variant: str | None, level: int | None, deal: str | None) -> None:
        table = self.game.table
        chosen = table.variant if variant is None else self._full_id(variant)
        if not self._is_here(chosen):
            self._say(self._no_such_game(chosen))
            return
        kept = table.level if level is None and chosen == table.variant else level
        await self._place(await self._deal(chosen, kept, deal), "")

    def _must_be_here(self, variant: str | None) -> None:
        if variant is not None and not self._is_here(variant):
            raise NoSuchGameError(self._no_such_game(variant, "`variants` within the program lists them."))

    def _is_here(self, variant: str) -> bool:
        return not self._names or variant in self._names

    def _no_such_game(self, variant: str, listing: str = "`variants` lists them.") -> str:
        near = [name for name in self._names if variant in name][:5]
        near = near or difflib.get_close_matches(variant, self._names, 3)
        hint = f"did you mean {' or '.join(f'`{name}`' for name in near)}?" if near else listing
        return f"There is no game `{variant}` here; {hint}"

    async def _daily(self, variant: str | None, level: int | None) -> None:
        """Sit down at today's attempt; its deal may still have to be chosen, which takes longest the first time."""
        game = await self._attempt(variant, level)
        daily = await self._client.daily(game.table.variant, level=game.table.level)
        await self._place(game, daily_words(self._names.get(daily.variant, daily.variant), daily))

    async def _attempt(self, variant: str | None, level: int | None) -> Game:
        loop = asyncio.get_running_loop()
        until = loop.time() + _LONGEST_CHOICE
        while True:
            try:
                return await self._client.daily_start(variant, level=level)
            except Error as error:
                if error.code != "busy" or loop.time() > until:
                    raise
                self._say("The deal of the day is still being chosen; this takes a while the first time.")

    async def _leaders(self, period: str, date: str | None) -> None:
        table = self.game.table
        board = await self._client.leaderboard(table.variant, level=table.level, period=period, date=date)
        self._face.page("\n".join(board_lines(self._title_of(board.variant, board.level), board)))

    async def _share(self) -> None:
        """A text about the daily on the table that gives no card away."""
        table = self.game.table
        daily = await self._client.daily(table.variant, level=table.level)
        if daily.game != table.game:
            # Begun before midnight, perhaps.
            before = datetime.fromtimestamp(daily.opens / 1000 - 1, UTC).date().isoformat()
            with contextlib.suppress(Error):
                daily = await self._client.daily(table.variant, level=table.level, date=before)
        if daily.game != table.game:
            self._say("This is not a daily: only the deal of a day is shared, which others have played too.")
        elif daily.result is None:
            self._say("It can be shared when it is over.")
        else:
            url = None if is_local(self._client.url) else page_url(self._client.url, "/daily")
            name = self._names.get(table.variant, table.variant)
            self._face.page(share_text(name, daily, table.progress, url=url))

    def _title_of(self, variant: str, level: int | None) -> str:
        return f"{self._names.get(variant, variant)}{f' level {level}' if level is not None else ''}"

    def _full_id(self, word: str) -> str:
        """The variant that a word names: an id, or the only one that the word is a part of."""
        near = [name for name in self._names if word in name]
        return near[0] if len(near) == 1 and word not in self._names else word

    async def _open(self, word: str) -> None:
        game = word
        if word.isdecimal() and len(word) < 4:
            if not 1 <= int(word) <= len(self._listed):
                self._say("`games` lists your games; `open 2` takes up the second of them.")
                return
            game = self._listed[int(word) - 1].game
        await self._place(await self._client.join(game, role="player"), "Taken up again.")

    async def _games(self) -> None:
        self._listed = (await self._client.my_games(limit=_MOST_LISTED)).games
        lines = [
            f"{number:3}  {self._names.get(entry.variant, entry.variant)}"
            f"{f' level {entry.level}' if entry.level is not None else ''}: {entry.score} home, {entry.moves} moves, "
            f"{entry.status}{' (on the table)' if entry.game == self.game.id else ''}"
            for number, entry in enumerate(self._listed, 1)
        ]
        self._face.page(
            "\n".join([*lines, "`open 2` takes up the second."]) if lines else "You have no games yet."
        )

    # Races and watching.

    async def _wished_race(self, wish: Wish) -> Race:
        if wish.invitation is not None:
            return await self._client.join_race(wish.invitation)
        if wish.ghost is not None:
            return await self._client.race(ghost=wish.ghost, seats=wish.seats)
        self._must_be_here(wish.variant)
        return await self._client.race(wish.variant or "yukon", level=wish.level, seats=wish.seats)

    async def _list_watchable(self) -> None:
        self._watchable = (await self._client.watchable(limit=_MOST_LISTED)).games
        lines = watchable_lines(self._watchable, self._names)
        self._face.page(
            "\n".join([*lines, "`watch 2` watches the second."])
            if lines
            else "Nobody plays a game that is open to all just now."
        )

    async def _watch(self, word: str) -> None:
        game = word
        if word.isdecimal() and len(word) < 4:
            if not 1 <= int(word) <= len(self._watchable):
                self._say(
                    "`watchable` lists the games that can be watched; `watch 2` watches the second of them."
                )
                return
            game = self._watchable[int(word) - 1].game
        await self._place(await self._client.join(game), "")

    async def _let_watch(self, watch: str) -> None:
        answer = await self.game.let_watch(watch)
        if answer.watch_key is not None:
            self._say(f"Whoever has this key may watch: {answer.watch_key} (the game is {answer.game}).")
        else:
            self._say("Everybody may watch." if answer.watch == "open" else "Nobody may watch.")

    async def _variants(self) -> None:
        entries = (await self._client.variants()).variants
        lines = [
            f"{entry.id:20}  {entry.name}{f', levels {entry.levels[0]}–{entry.levels[-1]}' if entry.levels else ''}"
            for entry in entries
        ]
        self._face.page("\n".join([*lines, "`new` with one of these deals it."]))

    async def _legal(self) -> None:
        legal = await self.game.legal()
        piles = self.game.table.piles
        lines = [
            f"{move.source} {move.n} {move.target}".ljust(11)
            + move_words(piles, MoveOp(move.source, move.target, move.n))
            for move in legal.moves
        ]
        self._face.page("\n".join(lines + ["draw"] * legal.draw) or "No move is legal.")
