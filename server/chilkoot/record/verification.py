"""Whether a recording is true: its hashes fit, every action was legal, and the table ended as it says.

A clean result means that nobody changed the file without computing its chain anew, and that what it tells could have
happened; who keeps the head of a game can also tell that it is the same game. Pure, and bounded by the bounds of the format.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from typing import Final

import msgspec

from chilkoot.engine import SEMANTICS, DealError, Game, Refusal
from chilkoot.events import parse_action
from chilkoot.language.rules import Rules, from_canonical
from chilkoot.record.chain import action_hash, hint_hash, start_hash
from chilkoot.record.recording import Finding, RecordedAction, RecordedHint, Recording, entries

__all__ = ["GOING_ON", "begin", "replay", "verify"]

GOING_ON: Final = frozenset({"playing", "stuck"})
"""One and the same for a record: a later engine may tell of more tables that they are stuck, and it ends nothing."""

# RULES.md's bounds. Rules that were compiled keep them; those of a file may say anything.
_MAX_PACKS = 8
_MAX_COLUMNS = 32
_MAX_FOUNDATIONS = 32
_MAX_CELLS = 12
_MAX_DEALT = 416


def verify(recording: Recording) -> list[Finding]:
    """Everything that is wrong with a recording; of the chain, and of the play, only where it breaks first."""
    return [*_check_header(recording), *_check_chain(recording), *_check_play(recording)]


def _check_header(recording: Recording) -> Iterator[Finding]:
    if sha256(recording.rules.encode()).hexdigest() != recording.rules_hash:
        yield Finding(code="rules", seq=0, message="the rules are not those of the rules hash")
    first = start_hash(
        semantics=recording.semantics,
        game=recording.game,
        player=recording.player,
        variant=recording.variant,
        level=recording.level,
        rules_hash=recording.rules_hash,
        deal=recording.deal,
        origin=recording.origin,
        created_ms=recording.created_ms,
    )
    if first.hex() != recording.start:
        yield Finding(
            code="header", seq=0, message="the header (game, player, variant, deal …) does not fit its hash"
        )


def _check_chain(recording: Recording) -> Iterator[Finding]:
    head = bytes.fromhex(recording.start)
    numbers = {RecordedAction: 0, RecordedHint: 0}
    for entry in entries(recording):
        actor = entry.actor or recording.player
        seq = numbers[RecordedAction]
        numbers[type(entry)] += 1
        if isinstance(entry, RecordedAction):
            seq += 1
            is_next = entry.seq == seq
            head = action_hash(
                head, seq=entry.seq, text=entry.text, by=entry.by, at_ms=entry.at_ms, actor=actor
            )
        else:
            is_next = entry.n == numbers[RecordedHint] and entry.seq == seq
            head = hint_hash(head, n=entry.n, seq=entry.seq, text=entry.text, at_ms=entry.at_ms, actor=actor)
        name = f"action {seq}" if isinstance(entry, RecordedAction) else f"hint {numbers[RecordedHint]}"
        if not is_next:
            yield Finding(code="order", seq=seq, message=f"{name} is not numbered as the next")
            return
        if head.hex() != entry.hash:
            yield Finding(
                code="chain", seq=seq, message=f"{name} does not fit its hash: something was changed here"
            )
            return
    if head.hex() != recording.head:
        last = numbers[RecordedAction]
        yield Finding(code="chain", seq=last, message="the head is not the hash of the last entry")


def _check_play(recording: Recording) -> Iterator[Finding]:
    game = replay(recording)
    if isinstance(game, Finding):
        yield game
        return
    last = len(recording.actions)
    for name, told, found in (
        ("status", recording.status, game.status),
        ("result", recording.result, game.result),
        ("score", recording.score, game.score),
        ("number of moves", recording.moves, game.moves),
        ("number of undos", recording.undos, game.undos),
    ):
        if told != found and {told, found} != GOING_ON:
            yield Finding(
                code="outcome",
                seq=last,
                message=f"the {name} at the end is {found}, the recording says {told}",
            )
    if game.board() != recording.table:
        yield Finding(code="outcome", seq=last, message="the final table is another than the recording says")


def replay(recording: Recording) -> Game | Finding:
    """Play a recorded game again; a Finding where its rules, its deal or an action do not allow that."""
    game = begin(recording)
    if isinstance(game, Finding):
        return game
    try:
        return _play(game, recording)
    except Exception as error:  # noqa: BLE001  rules that no compiler made may be nonsense in any way
        return _unplayable(error)


def begin(recording: Recording) -> Game | Finding:
    """A recorded game as it was dealt; a Finding where its rules or its deal do not allow that."""
    if recording.semantics != SEMANTICS:
        return Finding(
            code="header",
            seq=0,
            message=f"the game was played by the rules of engine {recording.semantics}, this one knows {SEMANTICS}",
        )
    try:
        rules = from_canonical(recording.rules)
    except (msgspec.MsgspecError, RecursionError, ValueError) as error:
        return Finding(code="rules", seq=0, message=f"the rules can't be read: {error}")
    if not _is_within_bounds(rules):
        return Finding(code="rules", seq=0, message="the rules are beyond the bounds of the rules language")
    try:
        return Game.start(rules, recording.deal)
    except DealError as error:
        return Finding(code="deal", seq=0, message=f"the deal can't be dealt: {error.message}")
    except Exception as error:  # noqa: BLE001  as in `replay`
        return _unplayable(error)


def _unplayable(error: Exception) -> Finding:
    return Finding(code="rules", seq=0, message=f"the rules can't be played ({type(error).__name__})")


def _play(game: Game, recording: Recording) -> Game | Finding:
    for number, entry in enumerate(recording.actions, 1):
        action = parse_action(entry.text)
        if action is None:
            return Finding(code="illegal", seq=number, message=f"{entry.text!r} is no action")
        done = game.act(action)
        if isinstance(done, Refusal):
            return Finding(
                code="illegal", seq=number, message=f"{entry.text!r} was not allowed: {done.message}"
            )
    return game


def _is_within_bounds(rules: Rules) -> bool:
    return (
        1 <= rules.deck.packs <= _MAX_PACKS
        and all(0 < group.columns <= _MAX_COLUMNS for group in rules.tableau)
        and 0 < rules.column_count() <= _MAX_COLUMNS
        and all(0 <= group.count <= _MAX_FOUNDATIONS for group in rules.foundations)
        and rules.foundation_count() <= _MAX_FOUNDATIONS
        and 0 <= rules.cells.count <= _MAX_CELLS
        and 0 <= rules.reserve.piles <= _MAX_COLUMNS
        and sum(max(one.take, len(one.picture)) for one in rules.deal) <= 2 * _MAX_DEALT
    )
