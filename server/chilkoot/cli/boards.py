"""`chilkoot deal`, `legal` and `apply`: boards in, boards and moves out. The engine decides; this reads and prints."""

from __future__ import annotations

import argparse
import secrets
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

from chilkoot.cards import RANKS
from chilkoot.cli.faults import ERRORS, USAGE, CommandFailed
from chilkoot.cli.json_lines import print_json
from chilkoot.cli.variants import find_level, find_variant, level_of, read_standard_input
from chilkoot.engine import DealError, Game, Refusal, format_pile, looks_like_board, name_move
from chilkoot.engine.moves import can_turn
from chilkoot.engine.refusals import can_draw
from chilkoot.events import Action, format_action, parse_action
from chilkoot.language import Rules, Variant

__all__ = ["apply", "deal", "legal"]

_MAX_BOARD: Final = 1024 * 1024


class Board(msgspec.Struct, frozen=True):
    """A board as it is given: its text, and what a text can't say: the base rank, and the pass through the stock."""

    text: str
    base: int | None = None
    turn: int = 1
    level: int | None = None


class BadBoard(Exception):  # noqa: N818
    """A board that can't be read; the text says why, in one sentence or several lines."""


def deal(flags: argparse.Namespace) -> int:
    """Print the board of a deal."""
    variant, level = find_level(flags.variant, flags.level, flags.rules)
    text = flags.deal if flags.deal is not None else f"ck:{secrets.token_hex(32)}"
    game = _start(level.rules, Board(text))
    if flags.json:
        print_json(
            variant=variant.id, level=level.number, deal=game.deal, board=_piles(game), status=game.status
        )
        return 0
    if flags.deal is None:
        print(f"chilkoot: this is the deal {game.deal}", file=sys.stderr)
    print(game.board())
    return 0


def legal(flags: argparse.Namespace) -> int:
    """List the legal moves of one board, or of many."""
    if flags.boards is not None:
        return _legal_of_many(find_variant(flags.variant, flags.rules), flags)
    game = _given(flags)
    moves = _moves(game)
    if flags.json:
        print_json(moves=moves, status=game.status)
    else:
        for move in moves:
            print(move)
    return 0


def apply(flags: argparse.Namespace) -> int:
    """Print the board after each action; the first that is refused ends it."""
    actions = [_action(text) for text in flags.actions]
    game = _given(flags)
    for number, action in enumerate(actions):
        done = game.act(action)
        if isinstance(done, Refusal):
            raise CommandFailed(f"`{format_action(action)}`: {done.message} [{done.code}]")
        if flags.json:
            print_json(action=format_action(action), board=_piles(game), status=game.status, score=game.score)
        else:
            print(f"{chr(10) * (number > 0)}{game.board()}")
    return 0


def _legal_of_many(variant: Variant, flags: argparse.Namespace) -> int:
    """A line out for each line in, so that the two files can be laid side by side; bad lines say what is wrong."""
    level_of(variant, flags.level)
    status = 0
    for line in _lines(flags.boards):
        try:
            board = _board_of_json(line, variant.id)
            rules = _rules_for(variant, flags.level if board.level is None else board.level)
            game = _laid_out(rules, board)
        except BadBoard as bad:
            status = ERRORS
            print_json(error=str(bad))
        else:
            print_json(moves=_moves(game), status=game.status)
        sys.stdout.flush()
    return status


def _rules_for(variant: Variant, number: int | None) -> Rules:
    level = variant.level(number)
    if level is None:
        raise BadBoard(f"{variant.id} has no level {number}")
    return level.rules


def _given(flags: argparse.Namespace) -> Game:
    """The game that begins on the board which the flags name."""
    variant = find_variant(flags.variant, flags.rules)
    if flags.deal is not None:
        return _start(level_of(variant, flags.level).rules, Board(flags.deal))
    text = _text_of(flags.board)
    try:
        board = _board_of_json(text, variant.id) if text.lstrip().startswith("{") else Board(text)
        number = flags.level if board.level is None else board.level
        return _laid_out(level_of(variant, number).rules, board)
    except BadBoard as bad:
        name = "standard input" if flags.board == "-" else flags.board
        raise CommandFailed("\n".join(f"{name}: {line}" for line in str(bad).splitlines())) from None


def _start(rules: Rules, board: Board) -> Game:
    """The game of a deal from the command line."""
    try:
        return _laid_out(rules, board, or_deal=True)
    except BadBoard as bad:
        raise CommandFailed(str(bad), ERRORS if looks_like_board(board.text) else USAGE) from None


def _laid_out(rules: Rules, board: Board, *, or_deal: bool = False) -> Game:
    if not or_deal and not looks_like_board(board.text):
        raise BadBoard('this is no board; a board is written like "t1: 5H | t2: <3H> 2S"')
    try:
        return Game.start(rules, board.text, base=board.base, turn=board.turn)
    except DealError as error:
        raise BadBoard(error.message) from None


def _board_of_json(line: str, variant: str) -> Board:
    """A board from JSON: ``{"board": …, "base"?: "7", "pass"?: 2, "level"?: 3}``, or the map of piles alone.

    Fields of other names are ignored, so that a line may say more about itself.
    """
    try:
        fields = msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError, UnicodeError, ValueError) as error:
        raise BadBoard(f"this is no JSON object: {str(error)[:200]}") from None
    if not isinstance(fields, dict):
        raise BadBoard("this is no JSON object")
    if "board" not in fields and any(looks_like_board(f"{name}:") for name in fields):
        fields = {"board": fields}
    if "board" not in fields:
        raise BadBoard('there is no "board" in this object')
    if fields.get("variant", variant) != variant:
        raise BadBoard(f"this board is for the variant {str(fields['variant'])[:60]}, not for {variant}")
    return Board(
        _board_text(fields["board"]),
        _base(fields.get("base")),
        _whole(fields, "pass", at_least=1) or 1,
        _whole(fields, "level", at_least=0),
    )


def _board_text(board: Any) -> str:
    if isinstance(board, str):
        return board
    if not isinstance(board, dict) or not all(isinstance(text, str) for text in board.values()):
        raise BadBoard(
            '"board" is a map from piles to text, as {"t1": "<7H> 9S"}, or a text as "t1: <7H> 9S | t2: TH"'
        )
    # A name that holds a colon or a bar would read as two piles.
    strange = [name for name in board if not name.isalnum()]
    if strange:
        raise BadBoard(f'"{strange[0][:40]}" is no pile')
    return "\n".join(f"{name}: {' '.join(text.split())}" for name, text in board.items()) or "t1:"


def _base(value: Any) -> int | None:
    if value is None:
        return None
    text = "T" if value in (10, "10") else str(value).upper()
    if isinstance(value, bool) or len(text) != 1 or text not in RANKS:
        raise BadBoard(f'"base" is a rank, one of {RANKS}, not {str(value)[:40]}')
    return RANKS.index(text)


def _whole(fields: dict[str, Any], name: str, *, at_least: int) -> int | None:
    value = fields.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not at_least <= value < 10_000:
        raise BadBoard(f'"{name}" is a whole number from {at_least} on, not {str(value)[:40]}')
    return value


def _moves(game: Game) -> list[str]:
    """Every legal move, no-ops included; onto any foundation once, as ``f``; then cards to turn, then the stock."""
    tables = game.position.tables
    zones = tables.layout.zones
    moves: dict[str, None] = {}
    for move in game.legal_piles():
        _, n, target = move
        name = name_move(tables, move)
        moves[f"{name.source} {n} f" if zones[target] == "foundations" else str(name)] = None
    turns = [f"turn {tables.layout.names[column]}" for column in can_turn(game.position)]
    return [*moves, *turns, *(["draw"] if can_draw(game.position) else [])]


def _piles(game: Game) -> dict[str, str]:
    position = game.position
    return {
        name: format_pile(cards) for name, cards in zip(game.piles(), position.piles, strict=True) if cards
    }


def _action(text: str) -> Action:
    action = parse_action(text)
    if action is None:
        raise CommandFailed(
            f'`{text[:60]}` is no move; write "t5 4 t2", "t5 1 f", draw, home, undo, redo or give_up', USAGE
        )
    return action


def _text_of(name: str) -> str:
    if name == "-":
        data = read_standard_input(_MAX_BOARD + 1)
    else:
        try:
            with Path(name).open("rb") as file:
                data = file.read(_MAX_BOARD + 1)
        except OSError as error:
            raise CommandFailed(f"{name}: {(error.strerror or str(error)).lower()}", USAGE) from None
    if len(data) > _MAX_BOARD:
        raise CommandFailed(f"{name}: this is too large for a board")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise CommandFailed(f"{name}: this is no text") from None


def _lines(name: str) -> Iterator[str]:
    """The lines of a file that are not empty, as they come."""
    try:
        with sys.stdin.buffer if name == "-" else Path(name).open("rb") as file:
            while line := file.readline(_MAX_BOARD):
                # What is too long for a board is one bad line, not several.
                rest = line
                while len(rest) == _MAX_BOARD and not rest.endswith(b"\n"):
                    rest = file.readline(_MAX_BOARD)
                if line.strip():
                    yield line.decode("utf-8", "replace")
    except OSError as error:
        raise CommandFailed(f"{name}: {(error.strerror or str(error)).lower()}", USAGE) from None
