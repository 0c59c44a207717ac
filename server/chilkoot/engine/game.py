"""One game under its rules: the position, what was done, what was taken back, and how it stands.

The only place where actions meet: moves, draws, send home, undo, redo, giving up. Pure: no clock, no randomness, no I/O;
the same rules, deal and actions give the same game for ever.
"""

from __future__ import annotations

from typing import Final

from chilkoot.engine.deal import deal
from chilkoot.engine.moves import PileMove, can_send_home, can_turn, foundation_for, legal_moves, name_move
from chilkoot.engine.outcome import judge
from chilkoot.engine.play import play_draw, play_home, play_move, play_turn
from chilkoot.engine.position import Change, Position, Shuffled, State, check_of
from chilkoot.engine.refusals import Refusal, can_draw, resolve, why_no_draw, why_not
from chilkoot.events import Action, CardMove, Move, Op, Result, Simple, Status, Turn, TurnUp, Undo
from chilkoot.language.rules import Rules

__all__ = ["MAX_ACTIONS", "SEMANTICS", "Game"]

SEMANTICS: Final = 1
"""Raised when the meaning of an action changes; the old meaning then stays for recordings that carry the old number."""

MAX_ACTIONS: Final = 5000
"""Accepted actions a game may have; the last is kept for giving up."""


class Step:
    """One action on the undo stack: its changes, the state before and after it, and the `check` of where it began."""

    __slots__ = ("after", "before", "changes", "check")

    def __init__(self, changes: list[Change], before: State, after: State, check: str) -> None:
        self.changes = changes
        self.before = before
        self.after = after
        self.check = check


class Game:
    """A game being played.

    `seq` counts accepted actions, undo and redo among them; `moves` the actions on the undo stack, `undos` all that were
    taken back. `closed` is set once nothing more can happen; a game lost by `no_moves` stays open for an undo. `seen` holds the
    `check` of every position that was on the table, `tried` the moves that were made and where. While a log is played again
    `looks_for_stuck` may be off, for nothing that can be done depends on it.
    """

    __slots__ = (
        "_can_send_home",
        "_check",
        "_judged",
        "_legal",
        "_redo",
        "_shown",
        "_undo",
        "closed",
        "deal",
        "looks_for_stuck",
        "position",
        "result",
        "rules",
        "seen",
        "seq",
        "status",
        "tried",
        "undos",
    )

    def __init__(self, rules: Rules, position: Position, deal_text: str) -> None:
        self.rules = rules
        self.position = position
        self.deal = deal_text
        self._undo: list[Step] = []
        self._redo: list[Step] = []
        self._legal: list[PileMove] | None = None
        self.seq = 0
        self.undos = 0
        self.closed = False
        self.looks_for_stuck = True
        self._judged: dict[tuple[str, State], tuple[Status, Result | None]] = {}
        self.status: Status = "playing"
        self.result: Result | None = None
        self._shown = [position.shown(pile) for pile in range(len(position.piles))]
        self._check = check_of(self._shown)
        self.seen = {self._check}
        self.tried: set[tuple[str, PileMove]] = set()
        self._judge()

    @classmethod
    def start(
        cls, rules: Rules, deal_text: str, *, base: int | None = None, turn: int = 1, fragment: bool = False
    ) -> Game:
        """Deal a game.

        `base` and `turn` complete a board that does not show its base rank or its pass; with `fragment` a board may lack
        cards, as the inline tests of a variant do.

        Raises DealError with all that is wrong with the deal.
        """
        dealt = deal(rules, deal_text, base=base, fragment=fragment)
        return cls(rules, Position(rules, dealt, turn=turn), dealt.text)

    @property
    def moves(self) -> int:
        """Actions on the undo stack."""
        return len(self._undo)

    @property
    def score(self) -> int:
        """Points now."""
        return self.position.score()

    @property
    def is_over(self) -> bool:
        """Whether the game is won or lost."""
        return self.status in ("won", "lost")

    @property
    def may_be_undone(self) -> bool:
        """Whether an undo may reopen a game that is lost because no legal move was left."""
        return self.status == "lost" and self.result == "no_moves" and not self.closed

    def idle(self) -> int:
        """Actions since one last turned up a card or raised the score above its best."""
        for count, step in enumerate(reversed(self._undo)):
            if step.before[-1] != step.after[-1] or any(isinstance(change, Turn) for change in step.changes):
                return count
        return len(self._undo)

    def piles(self) -> tuple[str, ...]:
        """The names of the piles in wire order."""
        return self.position.tables.layout.names

    def view(self) -> dict[str, list[str]]:
        """What the player sees: every pile by name in wire order, ``??`` for a card that lies face down."""
        return self.position.view()

    def check(self) -> str:
        """PROTOCOL.md's `check` of what the player sees."""
        return self._check

    def line(self) -> set[str]:
        """The `check` of every position on the way from the deal to here, this one included."""
        return {step.check for step in self._undo} | {self._check}

    def board(self) -> str:
        """The board's text, hidden cards named: never for a client of a live game."""
        return self.position.board()

    def legal(self) -> list[CardMove]:
        """Every legal move with its piles by name, no-ops included; none once the game is over."""
        tables = self.position.tables
        return [] if self.is_over else [name_move(tables, move) for move in self.legal_piles()]

    def legal_piles(self) -> list[PileMove]:
        """Every move that the rules allow in this position, by pile numbers."""
        if self._legal is None:
            self._legal = legal_moves(self.position)
        return self._legal

    def can_draw(self) -> bool:
        """Whether the stock may be turned, or the tableau redealt."""
        return not self.is_over and can_draw(self.position)

    def can_turn(self) -> list[str]:
        """Columns whose covered last card the player may turn up."""
        names = self.position.tables.layout.names
        return [] if self.is_over else [names[column] for column in can_turn(self.position)]

    def can(self) -> dict[str, bool]:
        """Which of the player's commands would be accepted now."""
        playing = not self.is_over
        room = self.seq < MAX_ACTIONS - 1
        aids = self.rules.aids
        return {
            "undo": room and (playing or self.may_be_undone) and self._may_undo(),
            "redo": room and playing and bool(self._redo),
            "home": playing and room and aids.send_home and self._can_send_home,
            "auto": playing and room and aids.auto,
            "hint": playing and room and aids.hints,
            "draw": playing and room and can_draw(self.position),
        }

    def _may_undo(self) -> bool:
        allowed = self.rules.aids.undo
        return bool(self._undo) and (allowed is None or self.undos < allowed)

    def accepts(self) -> list[str]:
        """What an empty column takes, one word a column group: ``any``, ``none``, ``K``, ``base_high`` or ranks."""
        words = []
        for group in self.rules.tableau:
            accepts = group.empty.accepts
            words.append(
                accepts if isinstance(accepts, str) else "".join("A23456789TJQK"[rank] for rank in accepts)
            )
        return words

    def targets(self, pile: str, n: int) -> list[str]:
        """The piles that accept the last `n` cards of a pile."""
        return [move.target for move in self.legal() if move.source == pile and move.n == n]

    def home_target(self, pile: str) -> str | None:
        """The foundation that takes the last card of a pile of t, c, w or r; None where none does."""
        layout = self.position.tables.layout
        source = layout.index.get(pile)
        if source is None or self.is_over or source not in self.position.tables.home_sources:
            return None
        target = foundation_for(self.position, source)
        return None if target is None else layout.names[target]

    def why_not(self, action: Action) -> Refusal | None:
        """Why an action is refused now; None where it would be accepted."""
        reopening = isinstance(action, Undo) and not action.redo and self.may_be_undone
        closing = action == Simple("give_up") and self.may_be_undone
        if self.is_over and not reopening and not closing:
            return Refusal("game_over", "The game is over.")
        if self.seq >= MAX_ACTIONS - (action != Simple("give_up")):
            return Refusal(
                "game_too_long", f"A game has at most {MAX_ACTIONS} actions.", {"limit": MAX_ACTIONS}
            )
        if isinstance(action, CardMove):
            return why_not(self.position, action)
        if isinstance(action, Undo):
            return self._why_no_undo(action)
        if isinstance(action, TurnUp):
            if action.pile in self.can_turn():
                return None
            return Refusal("not_available", "There is no card to turn up there.")
        if action.word == "draw":
            return why_no_draw(self.position)
        if action.word == "home":
            if not self.rules.aids.send_home:
                return Refusal("home_not_allowed", "This game has no Send home.")
            if self._can_send_home:
                return None
            return Refusal("nothing_to_send_home", "No card can go home now.")
        return None

    def _why_no_undo(self, action: Undo) -> Refusal | None:
        allowed = self.rules.aids.undo
        if action.redo:
            return None if self._redo else Refusal("nothing_to_redo", "Nothing was taken back.")
        if allowed is not None and self.undos >= allowed:
            none = "This game has no undo." if allowed == 0 else f"This game's undos ({allowed}) are used up."
            return Refusal("undo_not_allowed", none, {"limit": allowed})
        return None if self._undo else Refusal("nothing_to_undo", "Nothing was done yet.")

    def act(self, action: Action) -> list[Op] | Refusal:
        """Play an action: the operations on the cards, in order, or the reason why it is refused."""
        if isinstance(action, CardMove) and not self.is_over:
            return self._act_move(action)
        reason = self.why_not(action)
        if reason is not None:
            return reason
        if isinstance(action, Undo):
            return self._redo_steps(action.count) if action.redo else self._undo_steps(action.count)
        if isinstance(action, Simple) and action.word in ("give_up", "concede"):
            return self._end(action)
        return self._do(action) if isinstance(action, TurnUp | Simple) else self._act_move(action)

    def _act_move(self, action: CardMove) -> list[Op] | Refusal:
        """A move takes the short way: found among the legal moves it needs no reason why not."""
        if self.seq < MAX_ACTIONS - 1:
            index = self.position.tables.layout.index
            move: PileMove | None = (index.get(action.source, -1), action.n, index.get(action.target, -1))
            if self._legal is None or move not in self._legal:
                move = resolve(self.position, action)
            if move is not None:
                return self._do(move)
        return self.why_not(action) or Refusal("not_available", "There is no such move here.")

    def _do(self, action: PileMove | TurnUp | Simple) -> list[Op]:
        position = self.position
        before = position.state
        changes: list[Change] = []
        if isinstance(action, tuple):
            self.tried.add((self._check, action))
            play_move(position, action, changes)
        elif isinstance(action, TurnUp):
            play_turn(position, position.tables.layout.index[action.pile], changes)
        elif action.word == "draw":
            play_draw(position, changes)
        else:
            play_home(position, changes)
        self._undo.append(Step(changes, before, position.state, self._check))
        self._redo.clear()
        # What was shuffled lies face down.
        ops = [change for change in changes if not isinstance(change, Shuffled)]
        self._acted(ops)
        return ops

    def _undo_steps(self, count: int) -> list[Op]:
        allowed = self.rules.aids.undo
        if allowed is not None:
            count = min(count, allowed - self.undos)
        ops: list[Op] = []
        for _ in range(min(count, len(self._undo))):
            step = self._undo.pop()
            for change in reversed(step.changes):
                ops += self.position.take_back(change)
            self.position.restore(step.before)
            self._redo.append(step)
            self.undos += 1
        self._acted(ops)
        return ops

    def _redo_steps(self, count: int) -> list[Op]:
        ops: list[Op] = []
        for _ in range(min(count, len(self._redo))):
            step = self._redo.pop()
            for change in step.changes:
                done = self.position.repeat(change)
                if not isinstance(done, Shuffled):
                    ops.append(done)
            self.position.restore(step.after)
            self._undo.append(step)
        self._acted(ops)
        return ops

    def _end(self, action: Simple) -> list[Op]:
        self.seq += 1
        if not self.is_over:
            self.status = "lost"
            self.result = "gave_up" if action.word == "give_up" else "conceded"
        self.closed = True
        return []

    def close(self) -> None:
        """Close a game that is over: nothing can be undone any more, and its cards may be shown."""
        self.closed = self.closed or self.is_over

    def _acted(self, ops: list[Op]) -> None:
        self.seq += 1
        self._legal = None
        index, shown = self.position.tables.layout.index, self._shown
        piles: set[str] = set()
        for op in ops:
            piles.update((op.source, op.target) if isinstance(op, Move) else (op.pile,))
        for name in piles:
            shown[index[name]] = self.position.shown(index[name])
        self._check = check_of(shown)
        self.seen.add(self._check)
        self._judge()

    def _judge(self) -> None:
        """How the game stands: a function of the table alone, so what was found on this one before still holds.

        It would be cheaper to say that what follows a stuck table is stuck, but then a game read back from its log, which
        does not judge every table on the way, could stand otherwise than the live one.
        """
        self._can_send_home = can_send_home(self.position)
        key = (self._check, self.position.state)
        known = self._judged.get(key)
        if known is None:
            known = judge(
                self.position,
                self.legal_piles,
                can_home=self._can_send_home,
                looks_for_stuck=self.looks_for_stuck,
            )
            if self.looks_for_stuck:
                self._judged[key] = known
        self.status, self.result = known
        self.closed = self.status == "won"
