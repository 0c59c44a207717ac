"""The program: its flags, which face it shows, which server it plays against, and how it ends."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import shutil
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

from chilkoot_client import ChilkootError, Closed, connect
from chilkoot_client.address import socket_url
from chilkoot_terminal.draw import Style
from chilkoot_terminal.embedded import ServerFailedError, embedded_server
from chilkoot_terminal.flags import add_flags
from chilkoot_terminal.identity import Identities, state_folder
from chilkoot_terminal.plain import PlainFace, read_lines
from chilkoot_terminal.play import NoSuchGameError, Play, Wish
from chilkoot_terminal.screen import Screen

__all__ = ["main", "run"]


def main() -> int:
    """The program by itself; `chilkoot play` is the same."""
    parser = argparse.ArgumentParser(
        prog="chilkoot_terminal", description="Play solitaire on a Chilkoot server."
    )
    add_flags(parser)
    return run(parser.parse_args())


def run(flags: argparse.Namespace) -> int:
    """Play as the flags say; the exit status."""
    problem = _contradiction(flags)
    if problem:
        print(f"chilkoot: {problem}", file=sys.stderr)
        return 2
    try:
        return asyncio.run(_main(flags))
    except KeyboardInterrupt:
        return 130


def _contradiction(flags: argparse.Namespace) -> str:
    if wrong := _no_such_race(flags):
        return wrong
    if flags.watch and flags.game is None and flags.url is None:
        return "--watch needs --url, the server where games are played"
    if flags.url is None and flags.game is not None:
        return "--game needs --url, the server where that game is"
    if flags.url is not None and (flags.private or flags.rules):
        return "--private and --rules are for the server that is started without --url"
    if flags.game is not None and (flags.variant or flags.deal or flags.board or flags.new):
        return "--game joins a game that is already there; a variant or a deal is for a new one"
    if flags.deal is not None and flags.board is not None:
        return "--deal and --board both say which cards; give one of them"
    if flags.daily and (flags.game or flags.deal or flags.board or flags.new or flags.private or flags.guest):
        return "--daily is one deal and one attempt a day for somebody known: no game, deal, board or guest goes with it"
    if flags.game is None and flags.key:
        return "--key goes with --game"
    if flags.url is not None:
        try:
            socket_url(flags.url)
        except Closed as wrong:
            return f"--url: {wrong}"
    return ""


def _no_such_race(flags: argparse.Namespace) -> str:
    if flags.url is None and (flags.join is not None or (flags.race or 0) > 1):
        return (
            f"--{'join' if flags.join is not None else 'race'} needs --url, the server where the others are"
        )
    if sum(one is not None for one in (flags.race, flags.join, flags.game)) > 1:
        return "--race, --join and --game are three ways to begin; give one of them"
    if flags.race is not None and not 1 <= flags.race <= 256:
        return f"--race {flags.race}: a race has 1 to 256 seats"
    if flags.join is not None and "/" not in flags.join:
        return f"--join {flags.join}: an invitation is written like RACE/KEY"
    if (flags.race or flags.join or flags.ghost) and (
        flags.deal or flags.board or flags.watch or flags.daily
    ):
        return "in a race the server deals, nobody watches, and it is no daily"
    if (flags.join or flags.ghost) and flags.variant:
        return "a race that is there already has its game; leave the variant out"
    return ""


async def _main(flags: argparse.Namespace) -> int:
    task = asyncio.current_task()
    assert task is not None
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, task.cancel)
    try:
        wish = Wish(
            variant=flags.variant,
            level=flags.level,
            deal=flags.deal,
            cards=_board(flags.board),
            is_new=flags.new,
            is_daily=flags.daily,
            game=flags.game,
            key=flags.key,
            seats=flags.race,
            invitation=flags.join,
            ghost=flags.ghost,
            role="spectator" if flags.watch else "player" if flags.key else None,
            # Set where the variant was given as a file: whoever changes it wants to play what it says now.
            rules=getattr(flags, "rules_hashes", None),
        )
        async with _server(flags) as (url, identity):
            return await _play(flags, wish, url, identity)
    except ServerFailedError as failure:
        print(f"chilkoot: {failure}", file=sys.stderr)
        if not flags.private:
            print("chilkoot: `--private` plays without keeping games, `--url` on a server", file=sys.stderr)
        return 1
    except NoSuchGameError as failure:
        print(f"chilkoot: {failure}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        # Whoever read what we say has heard enough.
        raise
    except OSError as failure:
        print(
            f"chilkoot: {failure.filename or ''}: {(failure.strerror or str(failure)).lower()}",
            file=sys.stderr,
        )
        return 2
    except UnicodeDecodeError:
        print(f"chilkoot: {flags.board}: this is no text", file=sys.stderr)
        return 2
    except asyncio.CancelledError:
        return 130


def _board(path: Path | None) -> str | None:
    if path is None:
        return None
    text = sys.stdin.read() if str(path) == "-" else path.read_text("utf-8")
    return " | ".join(line.strip() for line in text.splitlines() if line.strip())


@contextlib.asynccontextmanager
async def _server(flags: argparse.Namespace) -> AsyncIterator[tuple[str, str]]:
    """The address to play at, and the name under which its token is kept."""
    if flags.url is not None:
        yield flags.url, socket_url(flags.url)
        return
    async with embedded_server(is_private=flags.private, rules=flags.rules, dailies=_dailies(flags)) as url:
        # Its port is another one each time, its games are the same.
        yield url, "embedded"


def _dailies(flags: argparse.Namespace) -> list[str] | None:
    """The games whose deals of the day a server of one's own is to choose."""
    if not flags.daily:
        return None
    if flags.variant is None:
        return []
    return [flags.variant if flags.level is None else f"{flags.variant}@{flags.level}"]


async def _play(flags: argparse.Namespace, wish: Wish, url: str, identity: str) -> int:
    is_kept = not (flags.guest or flags.private)
    keeper = _Keeper(Identities(state_folder()) if is_kept else None, identity)
    at = "" if flags.url is None else f" --url {flags.url}"
    again = f"chilkoot play{at}" if is_kept else None
    is_plain = (
        flags.plain
        or not (sys.stdin.isatty() and sys.stdout.isatty())
        or os.environ.get("TERM") in {None, "dumb"}
    )
    style = Style(
        symbols=not flags.ascii and _writes("♣♦♥♠·"), colour=not is_plain and not os.environ.get("NO_COLOR")
    )
    try:
        async with connect(url, name=flags.name, token=keeper.token(), spare_token=keeper.token) as client:
            keeper.keep(client.token or "")
            if is_plain:
                face = PlainFace(style, is_brief=flags.brief, width=_width())
                return await _play_plain(Play(client, face, keep_token=keeper.keep), face, wish, again)
            screen = Screen(style)
            return await _play_on_screen(Play(client, screen, keep_token=keeper.keep), screen, wish, again)
    except ChilkootError as failure:
        print(f"chilkoot: {failure}", file=sys.stderr)
        return 1
    finally:
        if keeper.problem:
            print(f"chilkoot: your identity could not be kept: {keeper.problem}", file=sys.stderr)


class _Keeper:
    """Keeps the token each time the server changes it; a folder that can't be written is said once, at the end."""

    def __init__(self, identities: Identities | None, identity: str) -> None:
        self._identities = identities
        self._identity = identity
        self.problem = ""

    def token(self) -> str | None:
        return None if self._identities is None else self._identities.token(self._identity)

    def keep(self, token: str) -> None:
        if self._identities is not None:
            try:
                self._identities.keep(self._identity, token)
            except OSError as failure:
                self.problem = (failure.strerror or str(failure)).lower()


async def _play_plain(play: Play, face: PlainFace, wish: Wish, again: str | None) -> int:
    is_typed = sys.stdin.isatty()
    lines = read_lines(sys.stdin.fileno(), prompt="> " if is_typed else "", echo=not is_typed)
    is_done = await play.run(lines, wish)
    if is_done:
        face.say(play.parting(again))
    return 0 if is_done else 1


async def _play_on_screen(play: Play, screen: Screen, wish: Wish, again: str | None) -> int:
    with screen.on(leave=play.leave):
        is_done = await play.run(screen.lines(), wish)
    print(screen.last_words())
    if is_done:
        print(play.parting(again))
    return 0 if is_done else 1


def _writes(text: str) -> bool:
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def _width() -> int:
    return shutil.get_terminal_size((80, 24)).columns if sys.stdout.isatty() else 80
