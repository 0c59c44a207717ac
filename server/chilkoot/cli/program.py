"""Flags of all sub-commands, and the frame around each run: signals, broken pipes, bugs."""

from __future__ import annotations

import argparse
import gc
import importlib
import io
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final, NoReturn

from chilkoot import __version__
from chilkoot.cli.faults import USAGE, CommandFailed

__all__ = ["main"]

_INTERRUPTED: Final = 130
_BROKEN_PIPE: Final = 141
_BUG: Final = 70
_CANNOT_OPEN: Final = 78

_ABOUT: Final = "A server for the Yukon family of solitaire games: rules in YAML, play over WebSocket, every game on record."
_VARIANT_HELP: Final = "the id of a variant, or a YAML file"
_DATABASE_HELP: Final = "sqlite:///FILE (default: chilkoot.db in your data folder)"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal or a file name that knows no UTF-8 is no reason to fail.
            stream.reconfigure(errors="backslashreplace")
    try:
        status = _run(sys.argv[1:] if arguments is None else list(arguments))
        if sys.stdout is not None:
            sys.stdout.flush()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has seen enough. What is still in the buffer must not be tried again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _BROKEN_PIPE
    return status


def _run(arguments: list[str]) -> int:
    try:
        flags = _parser().parse_args(arguments)
        module, name = flags.run.split(":")
        # Code that is loaded stays: to look for garbage in it as it comes took an eighth of a start.
        gc.disable()
        try:
            loaded = importlib.import_module(f"chilkoot.cli.{module}")
        finally:
            gc.enable()
        status: int = getattr(loaded, name)(flags)
    except CommandFailed as failure:
        sys.stdout.flush()
        for line in failure.message.splitlines():
            print(f"chilkoot: {line}", file=sys.stderr)
        return failure.status
    except BrokenPipeError:
        raise
    except OSError as error:
        where = f"{error.filename}: " if error.filename is not None else ""
        print(f"chilkoot: {where}{(error.strerror or str(error)).lower()}", file=sys.stderr)
        return 1
    except Exception as bug:  # noqa: BLE001 - the last resort: a sentence in place of a traceback
        # Imported by whatever raised it, if it is one of those; most commands need no database.
        record = sys.modules.get("chilkoot.record.faults")
        if record is None or not isinstance(bug, record.StoreFault):
            return _report(bug)
        print(f"chilkoot: {bug}", file=sys.stderr)
        return _CANNOT_OPEN if isinstance(bug, record.CannotOpen) else 1
    return status


def _report(bug: Exception) -> int:
    # Imported here: what only bugs need is a tenth of the time that it takes to start.
    import tempfile  # noqa: PLC0415
    import traceback  # noqa: PLC0415

    what = "".join(traceback.format_exception(bug))
    said = " ".join(str(bug).split())[:200]
    print(f"chilkoot: this is a mistake in Chilkoot itself ({type(bug).__name__}: {said})", file=sys.stderr)
    try:
        handle, name = tempfile.mkstemp(prefix="chilkoot-", suffix=".txt")
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as file:
            file.write(f"chilkoot {__version__}, Python {sys.version}\n{what}")
        print(f"chilkoot: please report it with the file {name}", file=sys.stderr)
    except OSError:
        print(what, file=sys.stderr)
    return _BUG


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in our own way: no abbreviations, the reason first, then what may be meant."""

    def __init__(self, **more: Any) -> None:
        super().__init__(allow_abbrev=False, **more)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """As the library's, but what a sub-command does not know is an error of that sub-command, with its usage."""
        flags, unknown = super().parse_known_args(args, namespace)
        if unknown:
            word = unknown[0].partition("=")[0]
            what = "no such flag" if word.startswith("-") else "one word too many"
            self.error(f"{what}: {word[:60]}{_near(word, self._option_string_actions)}")
        return flags, unknown

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is None or value in action.choices:
            return
        words = [str(choice) for choice in action.choices]
        hint = _near(str(value), words) or f"; it is one of {', '.join(words)}"
        if isinstance(action, argparse._SubParsersAction):
            self.error(f"there is no command `{str(value)[:60]}`{hint}")
        raise argparse.ArgumentError(action, f"`{str(value)[:60]}` is none of its values{hint}")

    def error(self, message: str) -> NoReturn:
        print(
            f"chilkoot: {message.removeprefix('argument ')}\n{self.format_usage().strip()}", file=sys.stderr
        )
        raise SystemExit(USAGE)


def _near(word: str, known: Iterable[str]) -> str:
    # Imported here: only mistakes need it.
    import difflib  # noqa: PLC0415

    near = difflib.get_close_matches(word, known, 1)
    return f"; did you mean `{near[0]}`?" if near else ""


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="chilkoot", description=_ABOUT)
    parser.add_argument("--version", action="version", version=f"chilkoot {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for add in (
        _add_serve,
        _add_play,
        _add_rules,
        _add_deal,
        _add_legal,
        _add_apply,
        _add_solve,
        _add_survey,
        _add_replay,
        _add_daily,
        _add_games,
        _add_database,
        _add_operating,
    ):
        add(commands)
    return parser


_Commands = argparse._SubParsersAction


def _command(commands: _Commands[_Parser], name: str, run: str, about: str) -> argparse.ArgumentParser:
    command = commands.add_parser(name, help=about, description=about[:1].upper() + about[1:] + ".")
    command.set_defaults(run=run)
    return command


def _group(commands: _Commands[_Parser], name: str, about: str) -> _Commands[_Parser]:
    group = commands.add_parser(name, help=about, description=about[:1].upper() + about[1:] + ".")
    return group.add_subparsers(title="commands", metavar="COMMAND", required=True)


def _add_serve(commands: _Commands[_Parser]) -> None:
    from chilkoot.config import add_serve_flags  # noqa: PLC0415 - its own flags, read by itself

    command = _command(commands, "serve", "serving:serve", "run the server")
    add_serve_flags(command)
    command.add_argument("--until-eof", action="store_true", help="stop when standard input ends")


def _add_play(commands: _Commands[_Parser]) -> None:
    from chilkoot_terminal.flags import add_flags  # noqa: PLC0415 - as above

    add_flags(_command(commands, "play", "playing:play", "play in the terminal, or in a pipe"))


def _add_rules(commands: _Commands[_Parser]) -> None:
    group = _group(commands, "rules", "write, check, show and list variants")
    _add_rules_new(group)
    _add_rules_check(group)
    show = _command(group, "show", "showing:show", "show a deal as a picture")
    _add_variant(show)
    show.add_argument(
        "deal", nargs="?", metavar="DEAL", default="ck:0", help="ck:N, ms:N or a board (default: %(default)s)"
    )
    show.add_argument("--ascii", action="store_true", help="9S in place of the suit's sign")
    describe = _command(
        group, "describe", "authoring:describe", "print how a variant is played, as its rules have it"
    )
    _add_variant(describe)
    describe.add_argument("--html", action="store_true", help="a page for the browser in place of Markdown")
    effective = _command(
        group, "effective", "authoring:effective", "print every key with the value that holds"
    )
    _add_variant(effective)
    effective.add_argument("--origins", action="store_true", help="with the file and line of each value")
    explain = _command(group, "explain", "authoring:explain_codes", "explain the codes of diagnostics")
    explain.add_argument("codes", nargs="*", metavar="CODE", help="R102, … (default: list them all)")
    schema = _command(
        group, "schema", "authoring:schema", "print the JSON Schema of the language, for editors"
    )
    listing = _command(group, "list", "rules:show_list", "list the variants")
    _add_rules_folder(listing)
    for command in (show, effective, explain, schema, listing):
        _add_json(command)


def _add_rules_new(group: _Commands[_Parser]) -> None:
    new = _command(group, "new", "authoring:new", "write the file that a new variant begins with")
    new.add_argument(
        "name",
        metavar="NAME",
        help="the id of the variant, or the file to write: my-game, games/my-game.yaml",
    )
    new.add_argument(
        "--from", dest="base", metavar="VARIANT", default="yukon", help="build on it (default: %(default)s)"
    )
    _add_rules_folder(new)


def _add_rules_check(group: _Commands[_Parser]) -> None:
    check = _command(
        group, "check", "rules:check", "check files of rules, and say everything that is wrong with them"
    )
    check.add_argument(
        "files",
        nargs="*",
        metavar="FILE",
        help="YAML files, folders or ids of variants, - for standard input (default: all variants)",
    )
    check.add_argument("--strict", action="store_true", help="warnings count as errors")
    check.add_argument("--watch", action="store_true", help="check again when a file changes; Ctrl-C ends it")
    check.add_argument(
        "--format",
        choices=("text", "json", "github"),
        default="text",
        help="how to say it (default: %(default)s)",
    )
    check.add_argument(
        "--json", action="store_const", const="json", dest="format", help="the same as --format json"
    )
    _add_rules_folder(check)


def _add_deal(commands: _Commands[_Parser]) -> None:
    command = _command(commands, "deal", "boards:deal", "print the board of a deal")
    _add_variant(command)
    command.add_argument(
        "deal", nargs="?", metavar="DEAL", help="ck:N, ms:N or a board (default: a fresh deal)"
    )
    _add_json(command)


def _add_legal(commands: _Commands[_Parser]) -> None:
    command = _command(commands, "legal", "boards:legal", "list the legal moves of a board, or of many")
    _add_variant(command)
    _add_board(command).add_argument(
        "--boards", metavar="FILE", help='many boards, one JSON object a line: {"board": {"t1": "<7H> 9S"}}'
    )
    _add_json(command)


def _add_apply(commands: _Commands[_Parser]) -> None:
    command = _command(commands, "apply", "boards:apply", "print the board after each action")
    _add_variant(command)
    _add_board(command)
    command.add_argument(
        "actions", nargs="+", metavar="MOVE", help='"t5 4 t2", "t5 1 f", draw, home, undo, …'
    )
    _add_json(command)


def _add_solve(commands: _Commands[_Parser]) -> None:
    command = _command(commands, "solve", "solving:solve", "say of deals whether they are winnable")
    _add_variant(command)
    command.add_argument("deals", nargs="+", metavar="DEAL", help="ck:N, ms:N, ranges as ms:1-1000")
    command.add_argument("--seconds", type=_seconds, metavar="S", help="a wall limit a deal as well")
    command.add_argument(
        "--as-found", action="store_true", help="show lines as they were found, not shortened (quicker)"
    )
    _add_search(command)


def _add_survey(commands: _Commands[_Parser]) -> None:
    command = _command(
        commands, "survey", "surveying:survey", "measure how many deals of a variant are winnable"
    )
    _add_variant(command)
    command.add_argument(
        "-n",
        type=_positive,
        default=1000,
        metavar="N",
        help="ask the deals ck:1 to ck:N (default: %(default)s)",
    )
    command.add_argument("--resume", type=Path, metavar="FILE", help="keep answers there, and go on from it")
    _add_search(command)


def _add_search(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--positions", type=_positive, default=1_000_000, metavar="N",
        help="positions a deal may take, which is the same on every machine (default: %(default)s)",
    )  # fmt: skip
    command.add_argument(
        "--memory",
        type=_positive,
        default=256,
        metavar="MIB",
        help="memory a deal may take (default: %(default)s)",
    )
    command.add_argument(
        "--jobs", type=_positive, default=1, metavar="N", help="processes (default: %(default)s)"
    )
    command.add_argument(
        "--difficulty", action="store_true", help="say how hard deals are that can be won, from 1 to 5"
    )
    command.add_argument(
        "--executor", metavar="URL", help="a Dask cluster in their place, as dask://HOST:PORT"
    )
    _add_json(command)


def _whole(text: str) -> int:
    if not (text.isascii() and text.removeprefix("-").isdigit() and len(text) < 20):
        raise argparse.ArgumentTypeError(f"{text[:60]!r} is no whole number")
    return int(text)


def _positive(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= 10**12):
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 1 up")
    return int(text)


def _speed(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if value != 0 and not 1e-3 <= value <= 1e6:
        raise argparse.ArgumentTypeError(f"{text!r} is no speed: 1 is the player's own, 10 ten times as fast")
    return value


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= 1e6:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds")
    return value


def _add_replay(commands: _Commands[_Parser]) -> None:
    group = _group(commands, "replay", "show, verify, analyse, export and import recorded games")
    show = _command(group, "show", "replays:show", "tell a recorded game, action by action")
    show.add_argument(
        "game",
        metavar="GAME",
        help="a recording's file, - for standard input, or the id of a game in the database",
    )
    show.add_argument("--boards", action="store_true", help="show the board after each action")
    _add_json(show)
    verify = _command(group, "verify", "replays:verify_games", "check that recordings are true")
    verify.add_argument(
        "games", nargs="*", metavar="GAME", help="files or ids of games (default: every game in the database)"
    )
    _add_json(verify)
    analyse = _command(
        group, "analyse", "analysing:analyse_game", "say where a recorded game could still be won"
    )
    analyse.add_argument(
        "game",
        metavar="GAME",
        help="a recording's file, - for standard input, or the id of a game in the database",
    )
    analyse.add_argument(
        "--positions",
        type=_positive,
        default=1_000_000,
        metavar="N",
        help="positions the search may open in all (default: %(default)s)",
    )
    _add_json(analyse)
    export = _command(group, "export", "replays:export", "write a game of the database to a file")
    export.add_argument("game", metavar="GAME", help="the id of the game")
    export.add_argument("-o", "--output", type=Path, metavar="FILE", help="default: standard output")
    take = _command(group, "import", "replays:take_in", "take recordings into the database")
    take.add_argument("files", nargs="+", metavar="FILE", help="recordings, - for standard input")
    play = _command(group, "play", "replays:play", "show a recorded game in time")
    play.add_argument(
        "game",
        metavar="GAME",
        help="a recording's file, - for standard input, or the id of a game in the database",
    )
    play.add_argument(
        "--speed",
        type=_speed,
        default=1.0,
        metavar="S",
        help="how many times as fast, 0: without pauses (default: 1)",
    )
    for command in (show, verify, analyse, export, take, play):
        command.add_argument("--database", metavar="URL", default="", help=_DATABASE_HELP)


def _add_daily(commands: _Commands[_Parser]) -> None:
    group = _group(commands, "daily", "look after the deals of the day")
    preview = _command(group, "preview", "daily:preview", "tell the seasons and what is announced")
    verify = _command(group, "verify", "daily:verify", "work the deals of a day out again and compare")
    verify.add_argument("date", metavar="DATE", help="a day in UTC, as 2026-11-29")
    verify.add_argument("--quick", action="store_true", help="do not search the candidates again")
    rotate = _command(
        group, "rotate", "daily:rotate", "publish a new season, from the first day not announced yet"
    )
    for command in (preview, verify, rotate):
        command.add_argument("--database", metavar="URL", default="", help=_DATABASE_HELP)
        _add_json(command)


def _add_database(commands: _Commands[_Parser]) -> None:
    group = _group(commands, "db", "look after the database")
    upgrade = _command(group, "upgrade", "database:upgrade", "bring the database to the present schema")
    check = _command(group, "check", "database:check", "check the database and every game in it")
    backup = _command(
        group, "backup", "database:backup", "copy the database to a file, also beside a running server"
    )
    backup.add_argument("file", type=Path, metavar="FILE", help="the copy, which must not be there yet")
    restore = _command(
        group, "restore", "database:restore", "put a copy in the database's place, while no server runs"
    )
    restore.add_argument("file", type=Path, metavar="FILE", help="the copy")
    for command in (backup, restore):
        _add_json(command)
    for command in (upgrade, check, backup, restore):
        command.add_argument("--database", metavar="URL", default="", help=_DATABASE_HELP)
    _add_json(check)


def _add_games(commands: _Commands[_Parser]) -> None:
    group = _group(commands, "games", "look after the games on record")
    listing = _command(group, "list", "games:list_games", "list games, the newest first")
    listing.add_argument("--state", choices=("playing", "over"), help="only those that go on, or are over")
    listing.add_argument("--variant", metavar="ID", help="only those of a variant")
    listing.add_argument("--player", metavar="ID", help="only those of a player")
    listing.add_argument("--limit", type=_positive, default=20, metavar="N", help="(default: %(default)s)")
    show = _command(group, "show", "games:show", "tell of a game all but its cards and keys")
    show.add_argument("game", metavar="GAME", help="the id of a game")
    close = _command(group, "close", "games:close", "end games as given up, while no server runs")
    close.add_argument("games", nargs="+", metavar="GAME", help="ids of games")
    for command in (listing, show):
        _add_json(command)
    for command in (listing, show, close):
        command.add_argument("--database", metavar="URL", default="", help=_DATABASE_HELP)


def _add_operating(commands: _Commands[_Parser]) -> None:
    from chilkoot.config import add_serve_flags  # noqa: PLC0415 - as for `serve`

    config = _command(commands, "config", "operating:show_config", "tell what a server would run with")
    doctor = _command(commands, "doctor", "operating:doctor", "see whether a server could run here")
    for command in (config, doctor):
        add_serve_flags(command)
        _add_json(command)


def _add_variant(command: argparse.ArgumentParser) -> None:
    command.add_argument("variant", metavar="VARIANT", help=_VARIANT_HELP)
    command.add_argument("--level", type=_whole, metavar="N", help="the level, where the variant has levels")
    _add_rules_folder(command)


def _add_board(command: argparse.ArgumentParser) -> argparse._MutuallyExclusiveGroup:
    either = command.add_mutually_exclusive_group(required=True)
    either.add_argument("--board", metavar="FILE", help="one board, as text or as JSON; - for standard input")
    either.add_argument("--deal", metavar="DEAL", help="the board of a deal, ck:N or ms:N")
    return either


def _add_rules_folder(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--rules",
        type=Path,
        metavar="DIR",
        action="append",
        default=[],
        help="a folder with more variants; repeatable",
    )


def _add_json(command: argparse.ArgumentParser) -> None:
    command.add_argument("--json", action="store_true", help="as JSON, one object a line")
