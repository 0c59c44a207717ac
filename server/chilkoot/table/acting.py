"""One command about one table in, what follows from it out; nothing is stored, sent or published here.

The order of the questions is part of the protocol: may you see the game, may you act, is your picture of it the present one,
and only then what the rules say.
"""

from __future__ import annotations

import msgspec

from chilkoot.cards import HIDDEN
from chilkoot.engine import Refusal
from chilkoot.events import (
    CONCEDE,
    DRAW,
    GIVE_UP,
    HOME,
    Action,
    By,
    CardMove,
    Simple,
    TurnUp,
    Undo,
    format_action,
)
from chilkoot.solver import Advice
from chilkoot.table.table import Table
from chilkoot.wire import ErrorCode, commands
from chilkoot.wire.messages import (
    CardMoves,
    Error,
    HintAction,
    HintReply,
    LegalReply,
    Message,
    Refused,
    Targets,
)
from chilkoot.wire.replies import error

__all__ = ["Acted", "Advised", "Answer", "Effect", "act", "auto", "hint", "legal", "may_act", "why_no_advice"]


class Answer(msgspec.Struct, frozen=True):
    """Nothing changed; this is the reply."""

    reply: Message


class Acted(msgspec.Struct, frozen=True):
    """The table changed: an action to put on record, then the diff to publish, which is also the reply."""

    action: str
    by: By
    diff: bytes


class Advised(msgspec.Struct, frozen=True):
    """A hint, to put on record as `text` (where there is anything to put) before its reply is sent."""

    reply: HintReply
    text: str | None


Effect = Answer | Acted | Advised

_AS_ERRORS = {"undo_not_allowed", "home_not_allowed"}
"""Refusals of the engine that concern what the game offers at all; on the wire they are errors."""


def may_act(table: Table, player: str, answers: int) -> Error | None:
    """The error for somebody who may not act here."""
    role = table.role_of(player)
    if role == "player":
        return None
    return error(ErrorCode.NO_SUCH_GAME if role is None else ErrorCode.FORBIDDEN, answers)


def act(table: Table, command: commands.Act, player: str, now_ms: int) -> Effect:
    """Deal with an action on a table, `auto` aside."""
    if (wrong := _why_not_now(table, command, player)) is not None:
        return Answer(wrong)
    if isinstance(command, commands.Tap):
        return _tap(table, command, now_ms)
    if isinstance(command, commands.Undo | commands.Redo) and command.count < 1:
        # A game that is over says so first.
        why = table.game.why_not(_action(table, command))
        if why is None or why.code != "game_over":
            why = Refusal("not_available", "At least one action is taken back or done again.")
        return Answer(_refused(table, command.id, why))
    return _do(table, command, _action(table, command), now_ms=now_ms)


def why_no_advice(table: Table, command: commands.Auto | commands.Hint, player: str) -> Message | None:
    """Why the policy is not to be asked; None where it is.

    Asking takes so long that others would notice: whoever calls does it aside, and comes back with what was found.
    """
    if isinstance(command, commands.Auto):
        if (wrong := _why_not_now(table, command, player)) is not None:
            return wrong
        allowed, code = table.game.rules.aids.auto, ErrorCode.AUTO_NOT_ALLOWED
    else:
        if (wrong := may_act(table, player, command.id)) is not None:
            return wrong
        allowed, code = table.game.rules.aids.hints, ErrorCode.HINT_NOT_ALLOWED
    if not allowed:
        return error(code, command.id)
    if table.terms.contest == "race":
        return error(code, command.id, message="In a race nobody is helped.")
    reason = table.game.why_not(CONCEDE)
    return None if reason is None else _refused(table, command.id, reason)


def auto(table: Table, command: commands.Auto, found: Advice, now_ms: int) -> Effect:
    """Do what the policy found, or concede."""
    return _do(table, command, found.action or CONCEDE, now_ms=now_ms, by="auto")


def hint(table: Table, command: commands.Hint, found: Advice) -> Advised:
    """Tell what the policy found."""
    action = found.action
    reply = HintReply(
        re=command.id,
        game=command.game,
        seq=table.game.seq,
        action=_hint_word(action),
        message=found.message,
        move=_named(action) if isinstance(action, CardMove) else msgspec.UNSET,
    )
    # An empty hint helped nobody.
    return Advised(reply, None if action is None else format_action(action))


def _why_not_now(table: Table, command: commands.Act, player: str) -> Error | None:
    if (wrong := may_act(table, player, command.id)) is not None:
        return wrong
    return None if command.base == table.game.seq else _stale(table, command)


def _action(table: Table, command: commands.Act) -> Action:
    match command:
        case commands.Move():
            return CardMove(command.source, command.n, command.target)
        case commands.Undo():
            return Undo(max(1, min(command.count, table.game.moves)))
        case commands.Redo():
            return Undo(max(1, min(command.count, 9999)), redo=True)
        case commands.Draw():
            return DRAW
        case commands.Home():
            return HOME
        case commands.GiveUp():
            return GIVE_UP
    raise TypeError(f"{type(command).__name__} is no action of its own")


def _do(table: Table, command: commands.Act, action: Action, *, now_ms: int, by: By = "player") -> Effect:
    done = table.act(action, by=by, now_ms=now_ms)
    if isinstance(done, Refusal):
        return Answer(_refused(table, command.id, done))
    return Acted(format_action(action), by, done)


def _tap(table: Table, command: commands.Tap, now_ms: int) -> Effect:
    game, pile, n = table.game, command.pile, command.n
    if game.is_over:
        return Answer(_refused(table, command.id, Refusal("game_over", "The game is over.")))
    cards = game.view().get(pile, [])
    if not 1 <= n <= len(cards):
        return Answer(_refused(table, command.id, Refusal("not_available", "There is no such card.")))
    if n == 1 and pile in game.can_turn():
        return _do(table, command, TurnUp(pile), now_ms=now_ms)
    if cards[-n] == HIDDEN:
        return Answer(_refused(table, command.id, Refusal("face_down", "That card lies face down.")))
    if n == 1 and game.home_target(pile) is not None:
        return _do(table, command, CardMove(pile, 1, "f"), now_ms=now_ms)
    return Answer(Targets(re=command.id, game=command.game, seq=game.seq, targets=game.targets(pile, n)))


def _hint_word(action: CardMove | TurnUp | Simple | None) -> HintAction:
    if isinstance(action, CardMove):
        return "move"
    if action == DRAW:
        return "draw"
    # A card that waits to be turned up is told in words: a client that can't read them can't be helped.
    return "home" if action == HOME else "none"


def legal(table: Table, command: commands.Legal, player: str) -> Message:
    """Every move that would be accepted."""
    if table.role_of(player) is None:
        return error(ErrorCode.NO_SUCH_GAME, command.id)
    game = table.game
    moves = [_named(move) for move in game.legal()]
    return LegalReply(re=command.id, game=command.game, seq=game.seq, moves=moves, draw=game.can_draw())


def _named(move: CardMove) -> CardMoves:
    return CardMoves(source=move.source, n=move.n, target=move.target)


def _stale(table: Table, command: commands.Act) -> Error:
    detail: dict[str, object] = {"seq": table.game.seq}
    missed = table.missed(command.base)
    if missed is not None:
        detail["missed"] = [msgspec.Raw(diff) for diff in missed]
    return error(ErrorCode.STALE, command.id, detail=detail)


def _refused(table: Table, answers: int, why: Refusal) -> Message:
    if why.code in _AS_ERRORS:
        return error(ErrorCode(why.code), answers, message=why.message, detail=why.detail)
    return Refused(
        re=answers,
        game=table.terms.id,
        seq=table.game.seq,
        code=why.code,
        message=why.message,
        detail=why.detail,
    )
