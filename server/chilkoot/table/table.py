"""One game being played: who may do what, how it is shown, and what each action changed. Pure: no clock, no I/O.

This is the only module that turns a game into something for a viewer. What a face-down card is, which deal it was and which
keys there are never leaves by another way; all viewers get the same diffs.
"""

from __future__ import annotations

import hmac
from collections import deque
from typing import Final, Literal, NamedTuple

import msgspec
from msgspec import UNSET, UnsetType

from chilkoot.discretion import discreet
from chilkoot.engine import Game, Refusal
from chilkoot.events import CONCEDE, GIVE_UP, Action, By, CardMove, Result, Status, TurnUp, Undo
from chilkoot.wire import encode
from chilkoot.wire.commands import Watch
from chilkoot.wire.messages import Can, Cause, Contest, Diff, Role, Snapshot

__all__ = ["DAY_MS", "Contest", "Origin", "Standing", "Table", "Terms"]

DAY_MS: Final = 24 * 60 * 60 * 1000
"""After this time a game lost for want of moves is closed."""

_ENDS: Final = (GIVE_UP, CONCEDE)

Origin = Literal["fresh", "named", "cards"]

Proof = Literal["proved", "not_proved"]
"""Whether a search found a winning line for the deal before it was dealt."""
"""Where the deal came from: ``fresh``, ``named`` by the player, or laid out in ``cards``."""


class Terms(msgspec.Struct, frozen=True, kw_only=True):
    """What was settled when the game began.

    Before `sealed_until_ms` the game is its owner's alone, and nothing of its deal is told even if it is over: others still
    play the same one.
    """

    id: str
    owner: str
    variant: str
    level: int | None
    rules_hash: str
    origin: Origin
    watch: Watch
    key: str
    watch_key: str | None
    started_ms: int
    winnable: Proof | None = None
    contest: Contest | None = None
    sealed_until_ms: int | None = None

    __repr__ = discreet


class Standing(NamedTuple):
    """How a game stands: what a diff mentions where it changed."""

    status: Status
    result: Result | None
    score: int
    moves: int
    undos: int
    can: dict[str, bool]


class Table:
    """A game with its viewers' side: roles, snapshots, and the last diffs for those who come back.

    `participants` are the roles given to others than the owner. `ended_ms` is the time at which it was over, None before.
    """

    __slots__ = ("autos", "diffs", "ended_ms", "game", "is_sealed", "participants", "standing", "terms")

    def __init__(
        self, terms: Terms, game: Game, *, history: int, participants: dict[str, Role] | None = None
    ) -> None:
        self.terms = terms
        self.game = game
        self.participants = participants or {}
        self.ended_ms: int | None = terms.started_ms if game.is_over else None
        self.autos = 0
        """Moves that the server's policy made."""
        self.is_sealed = terms.sealed_until_ms is not None
        if terms.contest is not None:
            game.close()
        self.standing = self._stand()
        self.diffs: deque[bytes] = deque(maxlen=history)

    # who

    def role_of(self, player: str) -> Role | None:
        """What a player may do here without a key; None where the game is not theirs to see."""
        if player == self.terms.owner:
            return "player"
        if self.is_sealed:
            return None
        return self.participants.get(player) or ("spectator" if self.terms.watch == "open" else None)

    def role_by_key(self, player: str, wanted: Role, key: str | None) -> Role | None:
        """What a player who shows a key may do; None where that is not enough."""
        role = self.role_of(player)
        if role == "player" or self.is_sealed:
            return role
        if key is not None and _same(key, self.terms.key):
            return wanted
        if (
            wanted == "spectator"
            and key is not None
            and self.terms.watch == "key"
            and _same(key, self.terms.watch_key)
        ):
            return "spectator"
        return role if wanted == "spectator" else None

    def open_to(self, watch: Watch, watch_key: str | None) -> None:
        """Others may watch from now on than before; who watched with a key has to show the new one."""
        self.terms = msgspec.structs.replace(self.terms, watch=watch, watch_key=watch_key)
        self.participants = {one: role for one, role in self.participants.items() if role == "player"}

    # when

    def close(self) -> None:
        """Let a loss be taken back no longer."""
        self.game.close()
        self.standing = self._stand()

    def close_if_due(self, now_ms: int) -> bool:
        """Close a loss that was left alone for a day; True where that happened now."""
        if self.game.may_be_undone and self.ended_ms is not None and now_ms - self.ended_ms >= DAY_MS:
            self.close()
            return True
        return False

    def unseal_if_due(self, now_ms: int) -> None:
        """Once the time of its contest is over a game is like any other."""
        until = self.terms.sealed_until_ms
        if until is not None and now_ms >= until:
            self.is_sealed = False

    def unseal(self, now_ms: int) -> None:
        """What the game counts in is over before its time."""
        self.terms = msgspec.structs.replace(self.terms, sealed_until_ms=now_ms)
        self.is_sealed = False

    # what

    def snapshot(
        self, player: str, viewers: int, *, answers: int | None = None, role: Role | None = None
    ) -> Snapshot:
        """The table as this player may see it."""
        terms, game, standing = self.terms, self.game, self.standing
        is_owner = player == terms.owner
        names_deal = not self.is_sealed and (game.closed or (is_owner and terms.origin == "named"))
        groups = zip(game.rules.tableau, game.accepts(), strict=True)
        accepts = [word for group, word in groups for _ in range(group.columns)]
        return Snapshot(
            re=UNSET if answers is None else answers,
            game=terms.id,
            seq=game.seq,
            variant=terms.variant,
            level=UNSET if terms.level is None else terms.level,
            rules_hash=terms.rules_hash,
            deal=game.deal if names_deal else UNSET,
            piles=game.view(),
            status=standing.status,
            score=standing.score,
            moves=standing.moves,
            undos=standing.undos,
            can=Can(**standing.can),
            result=standing.result or UNSET,
            accepts=accepts[0] if len(set(accepts)) == 1 else accepts,
            winnable=terms.winnable or UNSET,
            contest=terms.contest or UNSET,
            role=role or self.role_of(player) or "spectator",
            key=terms.key if is_owner else UNSET,
            watch=terms.watch if is_owner and terms.watch != "open" else UNSET,
            watch_key=terms.watch_key if is_owner and terms.watch_key else UNSET,
            viewers=viewers,
            check=game.check(),
        )

    def missed(self, seen: int) -> list[bytes] | None:
        """The diffs after `seen`, oldest first; None where they are no longer there, or `seen` is none of this game's."""
        gap = self.game.seq - seen
        if not 0 <= gap <= len(self.diffs):
            return None
        return list(self.diffs)[len(self.diffs) - gap :]

    def act(self, action: Action, *, by: By, now_ms: int) -> bytes | Refusal:
        """Do an action: the diff that all viewers get, or why it is refused."""
        game, before = self.game, self.standing
        ops = game.act(action)
        if isinstance(ops, Refusal):
            return ops
        self.autos += by == "auto"
        if self.terms.contest is not None:
            # What counts is final: a loss, too.
            game.close()
        after = self.standing = self._stand()
        if not game.is_over:
            self.ended_ms = None
        elif self.ended_ms is None:
            self.ended_ms = now_ms
        diff = encode(
            Diff(
                game=self.terms.id,
                seq=game.seq,
                ops=ops,
                check=game.check(),
                by=UNSET if by == "player" else by,
                cause=_cause(action),
                # Who gives up a game that is lost already, to close it, is told so all the same.
                status=after.status if after.status != before.status or action in _ENDS else UNSET,
                score=after.score if after.score != before.score else UNSET,
                moves=after.moves if after.moves != before.moves + 1 else UNSET,
                undos=after.undos if after.undos != before.undos else UNSET,
                can=Can(**after.can) if after.can != before.can else UNSET,
                result=after.result if after.result != before.result else UNSET,
            )
        )
        self.diffs.append(diff)
        return diff

    def _stand(self) -> Standing:
        game = self.game
        can = game.can()
        if self.terms.contest == "race":
            # Players race each other, not the server's policy.
            can["auto"] = can["hint"] = False
        return Standing(game.status, game.result, game.score, game.moves, game.undos, can)


def _cause(action: Action) -> Cause | UnsetType:
    if isinstance(action, CardMove):
        return UNSET
    if isinstance(action, Undo):
        return "redo" if action.redo else "undo"
    return "turn" if isinstance(action, TurnUp) else action.word


def _same(given: str, key: str | None) -> bool:
    # An imported game has an empty key, which nobody can show.
    return key is not None and key != "" and hmac.compare_digest(_bytes(given), _bytes(key))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
