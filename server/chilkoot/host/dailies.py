"""Commands about dailies: the deal of a day, its one ranked attempt, the boards. Times are the server's and no one else's."""

from __future__ import annotations

from typing import Any, Final

from msgspec import UNSET

from chilkoot.daily import (
    Place,
    closes_ms,
    date_after,
    day_of,
    opens_ms,
    place_of,
    ranks_of,
    read_date,
    read_place,
    reveals_ms,
    streaks,
    week_of,
)
from chilkoot.host.almanac import DailyGame
from chilkoot.host.clock import fresh_entropy
from chilkoot.host.entering import may_open, new_player, show
from chilkoot.host.hub import Live, game_of
from chilkoot.host.request import Request
from chilkoot.language.rules import from_canonical
from chilkoot.record import (
    AddAttempt,
    AddResult,
    BoardPage,
    Conflict,
    EndAttempt,
    PutRules,
    StoredAttempt,
    StoredDaily,
    StoreDoubtful,
    StoredStanding,
    Write,
)
from chilkoot.table import Table, open_daily
from chilkoot.wire import ErrorCode, commands, encode
from chilkoot.wire.commands import Period
from chilkoot.wire.messages import (
    Commitment,
    DailyOffer,
    DailyReply,
    DailyResult,
    Error,
    LeaderboardReply,
    Player,
    Standing,
)
from chilkoot.wire.replies import error

__all__ = ["ALL_TIME", "attempt_end", "ending_of", "on_daily", "on_daily_start", "on_leaderboard"]

ALL_TIME: Final = "all"

_RETRY_MS: Final = 2000

_AnyOfDay = commands.Daily | commands.DailyStart | commands.Leaderboard


async def on_daily(request: Request) -> None:
    """The deal of a day, as far as it may be known, and what the player made of it."""
    command, almanac = request.command, request.house.almanac
    assert isinstance(command, commands.Daily)
    date = _date(request, command, command.date)
    if isinstance(date, Error):
        await request.tell(date)
        return
    game = _game(request, command)
    if isinstance(game, Error):
        await request.tell(game)
        return
    daily = await almanac.wait_for(date, game, chosen=False)
    if daily is not None:
        await request.tell(await _reply(request, daily))
    elif game in almanac.offered() and date == almanac.today():
        request.not_now(ErrorCode.BUSY, retry_after_ms=_RETRY_MS, message="The day is not announced yet.")
    else:
        await request.tell(_no_daily(request, f"There is no daily of this game on {date}."))


async def on_daily_start(request: Request) -> None:
    """Today's attempt: begun where there is none, else the same one again, from wherever it is asked for."""
    command, house = request.command, request.house
    assert isinstance(command, commands.DailyStart)
    game = _game(request, command)
    if isinstance(game, Error):
        await request.decline(game)
        return
    date = house.almanac.today()
    if await _go_on(request, date, game):
        return
    daily = await house.almanac.wait_for(date, game, chosen=True)
    if game not in house.almanac.offered() and daily is None:
        await request.decline(_no_daily(request, "This game has no daily."))
    elif daily is None or daily.nonce is None or house.almanac.today() != date:
        request.not_now(
            ErrorCode.BUSY, retry_after_ms=_RETRY_MS, message="The deal of the day is being chosen."
        )
    elif await may_open(request, counted=False):
        await _begin(request, daily)


async def _go_on(request: Request, date: str, game: DailyGame) -> bool:
    """Show the attempt that the player has begun; False where there is none."""
    house = request.house
    if not request.session.is_player_stored:
        return False
    attempt = await house.ledger.ask(house.ledger.reader.days.attempt, request.player, date, *game)
    live = None if attempt is None else await house.hub.find(attempt.game)
    if live is None:
        return False
    async with live.lock:
        show(request, live, await house.hub.table_of(live))
    return True


async def _begin(request: Request, daily: StoredDaily) -> None:
    """Put an attempt on record, with its game, and only then let its player see the deal."""
    house = request.house
    rules = await house.ledger.ask(house.ledger.reader.rules, daily.rules_hash)
    assert rules is not None, "rules are on record before a day is announced"
    deal = await house.almanac.deal(daily)
    now_ms = house.clock.ms()
    if day_of(now_ms) != daily.date:
        request.not_now(
            ErrorCode.BUSY, retry_after_ms=1, message="The day has just ended; another has begun."
        )
        return
    table = open_daily(
        from_canonical(rules),
        deal,
        owner=request.player,
        variant=daily.variant,
        level=daily.level,
        rules_hash=daily.rules_hash,
        proof=daily.proof,
        entropy=fresh_entropy(),
        now_ms=now_ms,
        sealed_until_ms=reveals_ms(daily.date),
        history=house.limits.history,
    )
    game = game_of(table, now_ms)
    body = encode(table.snapshot(request.player, 1, answers=request.command.id))
    writes: list[Write] = [
        *new_player(request, now_ms),
        PutRules(hash=daily.rules_hash, text=rules),
        game,
        AddAttempt(
            date=daily.date,
            variant=daily.variant,
            level=daily.level,
            player=request.player,
            game=game.id,
        ),
        *request.reply_writes(body),
    ]
    fault = await house.ledger.commit(tuple(writes))
    if isinstance(fault, Conflict):
        # Another connection of this player was quicker: its game is the one. Else the command's id was used before.
        if not await _go_on(request, daily.date, DailyGame(daily.variant, daily.level)):
            request.not_now(ErrorCode.ID_REUSED)
        return
    if fault is not None and not (isinstance(fault, StoreDoubtful) and await house.hub.find(game.id)):
        request.failed(fault)
        return
    request.session.is_player_stored = True
    live = house.hub.add(table, game.start_hash)
    house.hub.watch(request.connection, live, told=True)
    request.finish(body)


async def ending_of(request: Request, live: Live, table: Table, now_ms: int) -> list[Write]:
    """What goes on record together with the action that ended an attempt: its result, and where that counts."""
    if table.terms.contest != "daily" or not table.game.is_over:
        return []
    house, game = request.house, table.game
    attempt = await house.ledger.ask(house.ledger.reader.days.attempt_of_game, live.id)
    if attempt is None or attempt.ended_ms is not None:
        return []
    terms = table.terms
    assisted = bool(game.undos or live.hints or table.autos)
    # Who is nobody, and comes back as somebody else, could play as often as they like.
    is_ranked = table.is_sealed and request.session.is_stored
    end = attempt_end(table, now_ms, is_ranked=is_ranked)
    ending: list[Write] = [end]
    if is_ranked:
        score, moves = game.score, game.moves
        high, low = place_of(won=end.won, score=score, assisted=assisted, moves=moves, ms=end.ms)
        ending += (
            AddResult(
                period=period,
                variant=terms.variant,
                level=terms.level,
                player=terms.owner,
                won=end.won,
                score=score,
                assisted=assisted,
                moves=moves,
                ms=end.ms,
                high=high,
                low=low,
            )
            for period in (attempt.date, _week(attempt.date), ALL_TIME)
        )
    return ending


def attempt_end(table: Table, now_ms: int, *, is_ranked: bool) -> EndAttempt:
    """What is told of an attempt whose game has just ended."""
    return EndAttempt(
        game=table.terms.id,
        ended_ms=now_ms,
        won=table.game.status == "won",
        autos=table.autos,
        ms=max(0, now_ms - table.terms.started_ms),
        is_ranked=is_ranked,
    )


async def on_leaderboard(request: Request) -> None:
    """A page of a board, and where the player is on it."""
    command = request.command
    assert isinstance(command, commands.Leaderboard)
    date = _date(request, command, command.date)
    if isinstance(date, Error):
        await request.tell(date)
        return
    after = None if command.after is None else read_place(command.after)
    if command.after is not None and after is None:
        await request.tell(_misshapen(command, "after", "`after` is the `next` of a page"))
        return
    game = _game(request, command)
    if isinstance(game, Error):
        await request.tell(game)
        return
    page = await _page(request, game, date, command.period, limit=command.limit, after=after)
    await request.tell(_board(request, command, game, date, page, after))


async def _page(
    request: Request,
    game: DailyGame,
    date: str,
    period: Period,
    *,
    limit: int,
    after: Place | None,
) -> BoardPage:
    house = request.house
    monday = week_of(date)
    name, days = {
        "day": (date, (date, date)),
        "week": (_week(date), (monday, date_after(monday, 6))),
        "all": (ALL_TIME, ("", "9999-12-31")),
    }[period]
    return await house.ledger.ask(
        house.ledger.reader.days.page,
        name,
        *game,
        limit=limit,
        after=None if after is None else (after.high, after.low, after.number),
        player_id=request.player if request.session.is_player_stored else None,
        days=days,
        now_ms=house.clock.ms(),
    )


def _board(
    request: Request,
    command: commands.Leaderboard,
    game: DailyGame,
    date: str,
    page: BoardPage,
    after: Place | None,
) -> LeaderboardReply:
    before = 0 if after is None else after.count
    last = None if after is None else ((after.high, after.low), after.rank)
    ranks = ranks_of([(one.high, one.low) for one in page.lines], before=before, last=last)
    more: Any = UNSET
    if not page.is_last:
        end = page.lines[-1]
        more = Place(end.high, end.low, end.number, ranks[-1], before + len(ranks)).text()
    around = _around(page)
    shown = {"day": date, "week": week_of(date)}.get(command.period)
    return LeaderboardReply(
        re=command.id,
        variant=game.variant,
        level=_level(game.level),
        period=command.period,
        date=UNSET if shown is None else shown,
        total=page.players,
        entries=[_standing(line, rank) for line, rank in zip(page.lines, ranks, strict=True)],
        next=more,
        me=_mine(request, around) or UNSET,
        around=around or UNSET,
    )


def _around(page: BoardPage) -> list[Standing]:
    if not page.around:
        return []
    first, *others = page.around
    ranks = ranks_of(
        [(one.high, one.low) for one in others],
        before=page.before_around + 1,
        last=((first.high, first.low), page.rank_around),
    )
    ranks.insert(0, page.rank_around)
    return [_standing(line, rank) for line, rank in zip(page.around, ranks, strict=True)]


def _mine(request: Request, lines: list[Standing]) -> Standing | None:
    return next((line for line in lines if line.player.id == request.player), None)


def _standing(line: StoredStanding, rank: int) -> Standing:
    return Standing(
        rank=rank,
        player=Player(id=line.player, name=line.name or UNSET),
        days=line.days,
        won=line.won,
        score=line.score,
        help="assisted" if line.assisted else "clean",
        assisted=line.assisted,
        moves=line.moves,
        ms=line.ms,
        game=line.game or UNSET,
    )


async def _reply(request: Request, daily: StoredDaily) -> DailyReply:
    house, command = request.house, request.command
    days, game = house.ledger.reader.days, DailyGame(daily.variant, daily.level)
    attempt: StoredAttempt | None = None
    won: list[str] = []
    if request.session.is_player_stored:
        attempt = await house.ledger.ask(days.attempt, request.player, daily.date, *game)
        won = await house.ledger.ask(days.days_won, request.player, *game)
    streak, best = streaks(won, house.almanac.today())
    revealed = await house.almanac.revealed(daily)
    season = daily.season
    is_chosen = daily.nonce is not None
    return DailyReply(
        re=command.id,
        date=daily.date,
        variant=daily.variant,
        level=_level(daily.level),
        rules_hash=daily.rules_hash,
        state="not_started" if attempt is None else "playing" if attempt.ended_ms is None else "over",
        game=UNSET if attempt is None else attempt.game,
        result=UNSET if attempt is None else await _result(request, attempt, game),
        streak=streak,
        best_streak=best,
        opens=opens_ms(daily.date),
        closes=closes_ms(daily.date),
        reveals=reveals_ms(daily.date),
        now=house.clock.ms(),
        commitment=Commitment(
            season=season.first,
            days=season.days,
            day=daily.day,
            root=season.root.hex(),
            published=season.published_ms,
            seed=daily.seed_hash.hex(),
            beacon=daily.beacon,
            announced=daily.announced_ms,
        ),
        proof=daily.proof or "pending",
        nonce=_or_unset(daily.nonce),
        solver=_or_unset(daily.solver),
        positions=_or_unset(daily.positions),
        solution_hash=daily.solution_hash.hex() if is_chosen and daily.solution_hash else UNSET,
        revealed=revealed is not None,
        key=UNSET if revealed is None else revealed.key.hex(),
        deal=UNSET if revealed is None else revealed.deal,
        solution=UNSET if revealed is None or revealed.solution is None else revealed.solution.splitlines(),
        offered=[DailyOffer(variant=one.variant, level=_level(one.level)) for one in house.almanac.offered()],
    )


async def _result(request: Request, attempt: StoredAttempt, game: DailyGame) -> Any:
    if attempt.ended_ms is None:
        return UNSET
    autos = attempt.autos or 0
    rank: Any = UNSET
    if attempt.is_ranked:
        mine = _mine(request, _around(await _page(request, game, attempt.date, "day", limit=1, after=None)))
        rank = UNSET if mine is None else mine.rank
    return DailyResult(
        won=bool(attempt.won),
        score=attempt.score,
        help="assisted" if attempt.undos or attempt.hints or autos else "clean",
        moves=attempt.moves,
        undos=attempt.undos,
        hints=attempt.hints,
        autos=autos,
        ms=attempt.ms or 0,
        ranked=bool(attempt.is_ranked),
        rank=rank,
    )


def _date(request: Request, command: _AnyOfDay, text: str | None) -> str | Error:
    """The day that is asked for: today, or one that has begun."""
    today = request.house.almanac.today()
    if text is None:
        return today
    date = read_date(text)
    if date is None:
        return _misshapen(command, "date", "a date is written like 2026-11-29")
    if date > today:
        return error(
            ErrorCode.NOT_YET,
            command.id,
            message=f"The day {date} has not begun; today is {today}, UTC.",
            detail={"today": today},
        )
    return date


def _game(request: Request, command: _AnyOfDay) -> DailyGame | Error:
    """The game that is meant."""
    almanac, library = request.house.almanac, request.house.library
    if command.variant is None:
        offered = almanac.offered()
        if not offered:
            return _no_daily(request, "This server has no dailies.")
        if command.level is None:
            return offered[0]
        wanted = DailyGame(offered[0].variant, command.level)
    else:
        wanted = DailyGame(command.variant, almanac.level_of(command.variant, command.level))
    if wanted in almanac.offered():
        return wanted
    variant = library.variant(wanted.variant)
    if isinstance(command, commands.DailyStart) or (wanted.level or 0) < 0:
        return _no_daily(
            request, f"There is no daily of {wanted.variant if variant is None else variant.name}."
        )
    # It may have had dailies in the past.
    return wanted


def _no_daily(request: Request, message: str) -> Error:
    offered = [
        {"variant": one.variant} | ({} if one.level is None else {"level": one.level})
        for one in request.house.almanac.offered()
    ]
    return error(ErrorCode.NO_DAILY, request.command.id, message=message, detail={"offered": offered})


def _misshapen(command: _AnyOfDay, field: str, what: str) -> Error:
    path = f"$.{field}"
    return error(ErrorCode.BAD_MESSAGE, command.id, message=f"{what} (at {path})", detail={"path": path})


def _week(date: str) -> str:
    return f"week {week_of(date)}"


def _level(level: int | None) -> Any:
    return UNSET if level is None else level


def _or_unset(value: Any) -> Any:
    return UNSET if value is None else value
