"""How games begin: a fresh deal, a named one, a board, and the same deal once more.

Chance and time come in as arguments: `Entropy` is what the system drew for this one game.
"""

from __future__ import annotations

import msgspec

from chilkoot.discretion import discreet
from chilkoot.engine import DealError, Game, looks_like_board
from chilkoot.language.rules import Level, Rules, Variant
from chilkoot.table.table import Origin, Proof, Table, Terms
from chilkoot.wire import ErrorCode, commands
from chilkoot.wire.messages import Error
from chilkoot.wire.replies import error

__all__ = ["Entropy", "Opened", "no_such_level", "open_again", "open_daily", "open_new", "wants_proof"]


class Entropy(msgspec.Struct, frozen=True):
    """What makes a game unlike every other: its id, its keys (a co-player's, a watcher's), 64 hex digits for the deal."""

    game: str
    key: str
    watch_key: str
    deal: str

    __repr__ = discreet


class Opened(msgspec.Struct, frozen=True):
    """A table just laid, with the rules it is played by for ever."""

    table: Table
    rules: Rules


def wants_proof(command: commands.New, variant: Variant | None) -> Level | None:
    """The level whose deal is to be one that a search found a winning line for; None where that is not asked."""
    level = variant.level(command.level) if variant is not None else None
    if level is None or command.winnable:
        return level
    policy = level.rules.deal_policy.winnable
    if policy == "prefer":
        is_fresh = command.deal is None and command.cards is None
        return level if is_fresh and command.winnable is None else None
    # Where the rules know only games that can be won a player can't ask for others, and is told of a deal of their own.
    return level if policy == "require" else None


def open_new(
    command: commands.New,
    variant: Variant | None,
    owner: str,
    *,
    entropy: Entropy,
    now_ms: int,
    history: int,
    winnable: Proof | None = None,
) -> Opened | Error:
    """Lay the table that `new` asks for; `winnable` is what a search found of its deal, None where none was asked."""
    if variant is None:
        return error(ErrorCode.NO_SUCH_VARIANT, command.id, detail={"variant": command.variant})
    level = variant.level(command.level)
    if level is None:
        return no_such_level(command.id, variant)
    if command.deal is not None and command.cards is not None:
        return _bad_deal(command.id, "give a deal or cards, not both")
    if command.deal is not None and looks_like_board(command.deal):
        return _bad_deal(command.id, "a board is given in `cards`")
    origin: Origin = "fresh"
    deal = f"ck:{entropy.deal}"
    if command.cards is not None:
        origin, deal = "cards", command.cards
        if not looks_like_board(deal):
            return _bad_deal(command.id, 'a board is written like "t1: 5H | t2: <3H> 2S"')
    elif command.deal is not None:
        origin, deal = "named", command.deal
    terms = Terms(
        id=entropy.game,
        owner=owner,
        variant=variant.id,
        level=level.number,
        rules_hash=level.hash,
        origin=origin,
        watch=command.watch,
        key=entropy.key,
        watch_key=entropy.watch_key if command.watch == "key" else None,
        started_ms=now_ms,
        winnable=winnable,
    )
    return _lay(terms, level, deal, answers=command.id, history=history)


def open_again(
    command: commands.Restart, table: Table, player: str, *, entropy: Entropy, now_ms: int, history: int
) -> Opened | Error:
    """Lay the deal of a game once more, by the rules that game was played by."""
    role = table.role_of(player)
    if player != table.terms.owner:
        return error(ErrorCode.NO_SUCH_GAME if role is None else ErrorCode.FORBIDDEN, command.id)
    if table.is_sealed:
        return error(
            ErrorCode.NOT_OVER,
            command.id,
            message="Others still play this deal; it can be played again after that.",
        )
    old = table.terms
    terms = msgspec.structs.replace(
        old,
        id=entropy.game,
        key=entropy.key,
        watch_key=entropy.watch_key if old.watch == "key" else None,
        started_ms=now_ms,
        contest=None,
        sealed_until_ms=None,
    )
    level = Level(number=old.level, rules=table.game.rules, hash=old.rules_hash)
    return _lay(terms, level, table.game.deal, answers=command.id, history=history)


def open_daily(
    rules: Rules,
    deal: str,
    *,
    owner: str,
    variant: str,
    level: int | None,
    rules_hash: str,
    proof: Proof | None,
    entropy: Entropy,
    now_ms: int,
    sealed_until_ms: int,
    history: int,
) -> Table:
    """Lay the deal of a day, which nobody but its player sees before it is revealed. Raises DealError."""
    terms = Terms(
        id=entropy.game,
        owner=owner,
        variant=variant,
        level=level,
        rules_hash=rules_hash,
        origin="fresh",
        watch="open",
        key=entropy.key,
        watch_key=None,
        started_ms=now_ms,
        winnable=proof,
        contest="daily",
        sealed_until_ms=sealed_until_ms,
    )
    return Table(terms, Game.start(rules, deal), history=history)


def _lay(terms: Terms, level: Level, deal: str, *, answers: int, history: int) -> Opened | Error:
    try:
        game = Game.start(level.rules, deal)
    except DealError as wrong:
        return _bad_deal(answers, *wrong.problems)
    return Opened(Table(terms, game, history=history), level.rules)


def _bad_deal(answers: int, *problems: str) -> Error:
    shown = [problem[:200] for problem in problems[:20]]
    return error(ErrorCode.BAD_DEAL, answers, message="; ".join(shown), detail={"problems": shown})


def no_such_level(answers: int, variant: Variant) -> Error:
    """The error for a level that a variant does not have."""
    levels = [level.number for level in variant.levels if level.number is not None]
    if levels:
        message = f"{variant.name} has the levels {', '.join(map(str, levels))}."
    else:
        message = f"{variant.name} has no levels."
    return error(
        ErrorCode.NO_SUCH_VARIANT,
        answers,
        message=message,
        detail={"variant": variant.id, "levels": levels},
    )
