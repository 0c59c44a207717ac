"""Commands about races: make one, take a seat, leave, another one with the same people."""

from __future__ import annotations

from chilkoot.host.asking import may_be_shown
from chilkoot.host.clock import fresh_id
from chilkoot.host.entering import may_open, new_player
from chilkoot.host.races import Room
from chilkoot.host.request import Request
from chilkoot.language.rules import Level, Rules, canonical_text, from_canonical
from chilkoot.record import (
    Conflict,
    DropSeat,
    NewRace,
    PutRules,
    StoreDoubtful,
    StoreFault,
    TakeSeat,
    Write,
)
from chilkoot.table import Ghost, Race, Seat, no_such_level, race_reply
from chilkoot.wire import ErrorCode, commands, encode
from chilkoot.wire.messages import Error, Ok
from chilkoot.wire.replies import error

__all__ = ["on_race", "on_race_join", "on_race_leave", "on_rematch"]


async def on_race(request: Request) -> None:
    """A new race, with the one who asks in its first seat."""
    command = request.command
    assert isinstance(command, commands.Race)
    ghost: Ghost | None = None
    if command.ghost is not None:
        found = await _ghost_of(request, command)
        if isinstance(found, Error):
            await request.decline(found)
            return
        ghost, race, rules = found
    else:
        chosen = _level_of(request, command)
        if isinstance(chosen, Error):
            await request.decline(chosen)
            return
        race, rules = chosen
    if await may_open(request) and _may_race(request):
        race.ghost = ghost
        await _open(request, race, rules)


def _level_of(request: Request, command: commands.Race) -> tuple[Race, Rules] | Error:
    if command.variant is None:
        return error(
            ErrorCode.BAD_MESSAGE,
            command.id,
            message="a race is of a `variant`, or has a `ghost` (at $.variant)",
            detail={"path": "$.variant"},
        )
    found = _rules_of(request, command.variant, command.level)
    if isinstance(found, Error):
        return found
    return _new_race(request, found, command.variant, command.seats), found.rules


def _rules_of(request: Request, variant_id: str, number: int | None) -> Level | Error:
    variant = request.house.library.variant(variant_id)
    if variant is None:
        return error(ErrorCode.NO_SUCH_VARIANT, request.command.id, detail={"variant": variant_id})
    level = variant.level(number)
    return no_such_level(request.command.id, variant) if level is None else level


def _new_race(
    request: Request, level: Level, variant: str, seats: int, *, previous: Race | None = None
) -> Race:
    return Race(
        id=fresh_id(),
        key=fresh_id() if previous is None else previous.key,
        variant=variant,
        level=level.number,
        rules_hash=level.hash,
        seats=seats,
        created_ms=request.house.clock.ms(),
        previous=None if previous is None else previous.id,
    )


async def _ghost_of(request: Request, command: commands.Race) -> tuple[Ghost, Race, Rules] | Error:
    """The finished game whose deal is played once more, by the rules that it was played by."""
    assert command.ghost is not None
    if command.variant is not None or command.level is not None:
        field = "variant" if command.variant is not None else "level"
        return error(
            ErrorCode.BAD_MESSAGE,
            command.id,
            message=f"a ghost's race is of the ghost's game; leave `{field}` out (at $.{field})",
            detail={"path": f"$.{field}"},
        )
    stored = await may_be_shown(request, command.ghost)
    if isinstance(stored, Error):
        return stored
    ghost = await request.house.races.ghost(command.ghost)
    assert ghost is not None
    header = stored.header
    rules = from_canonical(stored.rules)
    level = Level(number=header.level, rules=rules, hash=header.rules_hash)
    return ghost, _new_race(request, level, header.variant, command.seats), rules


def _may_race(request: Request) -> bool:
    """Whether the player may be in another race; answers where not."""
    most = request.house.limits.active_races
    if most and len(request.house.races.open_of(request.player)) >= most:
        request.not_now(ErrorCode.TOO_MANY_RACES)
        return False
    return True


async def _open(request: Request, race: Race, rules: Rules) -> bool:
    """Put a new race on record and show it; whether that was done."""
    house, session = request.house, request.session
    seat = race.sit(request.player, session.name)
    now_ms = house.clock.ms()
    body = encode(race_reply(race, request.player, now_ms, answers=request.command.id))
    made = NewRace(
        id=race.id,
        player=request.player,
        variant=race.variant,
        level=race.level,
        rules_hash=race.rules_hash,
        seats=race.seats,
        key=race.key,
        ghost=None if race.ghost is None else race.ghost.game,
        previous=race.previous,
        created_ms=race.created_ms,
    )
    writes: list[Write] = [*new_player(request, now_ms)]
    writes.append(PutRules(hash=race.rules_hash, text=canonical_text(rules)))
    writes.append(made)
    writes.append(TakeSeat(race=race.id, number=seat.number, player=request.player, joined_ms=now_ms))
    fault = await house.ledger.commit((*writes, *request.reply_writes(body)))
    if fault is not None and not (
        isinstance(fault, StoreDoubtful)
        and await house.ledger.ask(house.ledger.reader.race, race.id) is not None
    ):
        _failed(request, fault)
        return False
    session.is_player_stored = True
    room = house.races.add(race)
    house.races.watch(request.connection, room)
    request.finish(body)
    if race.is_full:
        house.races.begin(room)
    return True


def _failed(request: Request, fault: StoreFault) -> None:
    if isinstance(fault, Conflict):
        request.not_now(ErrorCode.ID_REUSED)
    else:
        request.failed(fault)


async def on_race_join(request: Request) -> None:
    """A seat, or the race as it is for who has one."""
    command = request.command
    assert isinstance(command, commands.RaceJoin)
    room = await request.house.races.find(command.race)
    if room is None:
        await request.tell(error(ErrorCode.NO_SUCH_RACE, command.id))
        return
    async with room.lock:
        wrong = await _join(request, room, command.key)
    if wrong is not None:
        await request.tell(wrong)


async def _join(request: Request, room: Room, key: str | None) -> Error | None:
    """Take a seat, or tell who has one how the race is; the error where neither can be. Under the room's lock."""
    race, house = room.race, request.house
    await house.races.make_sure(room)
    if request.player in race.taken:
        house.races.watch(request.connection, room)
        request.told(house.races.reply(room, request.player, request.command.id))
        return None
    if not race.opens_to(key):
        return error(ErrorCode.NO_SUCH_RACE, request.command.id)
    if race.state == "over":
        return error(ErrorCode.RACE_OVER, request.command.id)
    if race.is_full:
        return error(ErrorCode.RACE_FULL, request.command.id)
    if await may_open(request) and _may_race(request):
        await _sit(request, room)
    return None


async def _sit(request: Request, room: Room) -> None:
    race, house = room.race, request.house
    now_ms = house.clock.ms()
    seat = race.sit(request.player, request.session.name)
    body = encode(race_reply(race, request.player, now_ms, answers=request.command.id))
    taking = TakeSeat(race=race.id, number=seat.number, player=request.player, joined_ms=now_ms)
    fault = await house.ledger.commit((*new_player(request, now_ms), taking, *request.reply_writes(body)))
    if fault is not None:
        del race.taken[request.player]
        await house.races.doubt(room, fault)
        if request.player not in race.taken:
            _failed(request, fault)
            return
        seat = race.taken[request.player]
    request.session.is_player_stored = True
    house.races.watch(request.connection, room)
    request.finish(body)
    house.races.sat_down(room, seat)
    if race.is_full:
        house.races.begin(room)


async def on_race_leave(request: Request) -> None:
    """A seat is free again, or counts no longer."""
    command, house = request.command, request.house
    assert isinstance(command, commands.RaceLeave)
    room = await house.races.find(command.race)
    if room is not None:
        async with room.lock:
            await house.races.make_sure(room)
            seat = room.race.taken.get(request.player)
            if seat is not None:
                await _get_up(request, room, seat)
                return
    await request.tell(error(ErrorCode.NO_SUCH_RACE, command.id))


async def _get_up(request: Request, room: Room, seat: Seat) -> None:
    """Leave, as far as there is something to be left. Under the room's lock."""
    race, races = room.race, request.house.races
    body = encode(Ok(re=request.command.id))
    if race.state == "waiting":
        leaving = DropSeat(race=race.id, player=request.player)
        fault = await request.house.ledger.commit((leaving, *request.reply_writes(body)))
        if fault is None:
            races.got_up(room, request.player)
        else:
            await races.doubt(room, fault)
            if request.player in race.taken:
                _failed(request, fault)
                return
        request.finish(body)
        return
    if race.state == "running" and not seat.is_done:
        fault = await races.leave(room, seat)
        if fault is not None:
            request.failed(fault)
            return
    request.told(body)


async def on_rematch(request: Request) -> None:
    """The next race of the same people: who asks first makes it, the others are told, and take a seat by asking too."""
    command, house = request.command, request.house
    assert isinstance(command, commands.Rematch)
    room = await house.races.find(command.race)
    if room is None or request.player not in room.race.taken:
        await request.tell(error(ErrorCode.NO_SUCH_RACE, command.id))
        return
    while True:
        async with room.lock:
            race = room.race
            if race.state != "over":
                wrong: Error | None = error(ErrorCode.NOT_OVER, command.id, message="This race is not over.")
                if race.id != command.race:
                    wrong = await _join(request, room, race.key)
                if wrong is not None:
                    await request.tell(wrong)
                return
            known = await house.races.next_of(race)
            if known is None:
                await _open_next(request, room)
                return
        # Somebody was quicker: theirs is the race, or the one after it where that is over already.
        following = await house.races.find(known)
        assert following is not None, "a race that has a successor on record"
        room = following


async def _open_next(request: Request, room: Room) -> None:
    """Make the race that follows one that is over. Under that one's lock."""
    race, house = room.race, request.house
    if race.ghost is not None:
        ledger = house.ledger
        text = await ledger.ask(ledger.reader.rules, race.rules_hash)
        assert text is not None, "the rules of a race are on record"
        level = Level(number=race.level, rules=from_canonical(text), hash=race.rules_hash)
    else:
        found = _rules_of(request, race.variant, race.level)
        if isinstance(found, Error):
            await request.decline(found)
            return
        level = found
    if not (await may_open(request) and _may_race(request)):
        return
    following = _new_race(request, level, race.variant, race.seats, previous=race)
    following.ghost = race.ghost
    if await _open(request, following, level.rules):
        race.next = following.id
        house.races.tell(room, but=request.connection)
