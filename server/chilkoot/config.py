"""What an operator may set: where to listen, where games are kept, and limits by name.

Defaults are those of the reliability page of the design; a limit of 0 is switched off. Reads no environment and opens
nothing: the command line fills a `Config`, and `host` acts on it.
"""

from __future__ import annotations

import argparse
import difflib
import os
import re
import sys
from pathlib import Path
from typing import Final

import msgspec

__all__ = [
    "DEFAULT_PORT",
    "Config",
    "ConfigError",
    "Limits",
    "add_serve_flags",
    "default_database",
    "read_serve_flags",
]

DEFAULT_PORT: Final = 8640

DEFAULT_DAILIES: Final = (
    "yukon",
    "yakutat-bay",
    "yukon-cells",
    "yukon-thicket@1",
    "yukon-thicket@2",
    "yukon-thicket@3",
)

_DAILY: Final = re.compile(r"[a-z][a-z0-9-]{0,39}(@[0-9]{1,9})?", re.ASCII)


class ConfigError(Exception):
    """A setting that can't be used; the text says which and why."""


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Every bound by name; 0 is no bound."""

    # commands
    rate: float = 10
    """Commands a second, per connection."""
    burst: float = 30
    """Commands at once before `rate` counts."""
    flood: float = 120
    """Commands at once, the refused ones included, after which the connection is closed."""
    new_per_second: float = 0.5
    new_burst: float = 5
    """New games at once: looking for a deal one likes is no attack, and the games of one player are bounded anyway."""
    hint_per_second: float = 0.5
    malformed: int = 10
    """Malformed frames in a row."""
    message_bytes: int = 16 * 1024
    # games
    active_games: int = 20
    """Unfinished games of one player."""
    certify_deals: int = 8
    """Deals that are tried, one after the other, for a new game that is to be winnable."""
    certify_positions: int = 30_000
    """Positions that the search may open for each of them: the same answer on every machine."""
    certify_seconds: float = 3
    """How long a new game waits for all of that at most, on a machine that is slow or busy; 0: none is looked for."""
    advice_ms: float = 250
    """Milliseconds after which a hint is told, and in which a move of the server is found; 0: the first policy alone."""
    advice_after_seconds: float = 10
    """How long after its start a server gets its better policy ready, where nobody asked for a hint before."""
    analyse_positions: int = 500_000
    """Positions the search may open for the analysis of one finished game; 0: none is made."""
    pool_deals: int = 20
    """Winnable deals kept ready for each game that deals them; 0: none."""
    pool_games: int = 50
    """Games for which deals are kept ready: those whose rules ask for it, and those that were asked for last."""
    pool_after_seconds: float = 20
    """How long after its start a server begins to look for deals to keep ready."""
    watched_games: int = 50
    """Games one connection receives events of."""
    cached_games: int = 2000
    """Games kept in memory although nobody looks at them."""
    # races
    active_races: int = 5
    """Unfinished races of one player."""
    race_countdown: float = 3
    """Seconds from the word that all seats are taken to the deal."""
    race_seconds: float = 60 * 60
    """After this time a race is over for those who still play."""
    race_idle_seconds: float = 10 * 60
    """Who does nothing for so long has left the race."""
    race_wait_seconds: float = 60 * 60
    """How long a race waits for its players."""
    # connections
    connections: int = 10_000
    connections_per_address: int = 20
    connections_per_player: int = 5
    open_seconds: float = 5
    idle_seconds: float = 30 * 60
    ping_seconds: float = 20
    stall_seconds: float = 10
    """How long a connection may not take what it is sent."""
    buffer_bytes: int = 256 * 1024
    outbox: int = 32
    """Events waiting for one connection before they become one snapshot a game."""
    history: int = 64
    """Diffs of a game kept for those who come back."""
    shutdown_seconds: float = 5


_WHOLE: Final = frozenset(
    field.name for field in msgspec.structs.fields(Limits) if field.type in {int, "int"}
)


class Config(msgspec.Struct, frozen=True, kw_only=True):
    """Everything `serve` needs to know."""

    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT
    database: str = ""
    """A URL; empty is the default database of this user."""
    rules: tuple[Path, ...] = ()
    """Folders with more variants; the first that has an id wins."""
    dailies: tuple[str, ...] = DEFAULT_DAILIES
    """Games that have a deal a day: ids of variants, with `@` and a level where not the default one is meant."""
    beacon: str = ""
    """A public value that goes into the deals of days that are announced from now on."""
    origins: tuple[str, ...] = ()
    """Origins of web pages that may connect, besides this server's own."""
    limits: Limits = Limits()


def default_database() -> str:
    """The URL of `chilkoot.db` in the user's data folder."""
    if sys.platform == "darwin":
        folder = Path.home() / "Library" / "Application Support"
    else:
        folder = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return f"sqlite:///{folder / 'chilkoot' / 'chilkoot.db'}"


def add_serve_flags(parser: argparse.ArgumentParser) -> None:
    """Give a parser the flags of `serve`."""
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    parser.add_argument(
        "--port", type=_read_port, default=DEFAULT_PORT, help="port, 0 picks one (default: %(default)s)"
    )
    parser.add_argument(
        "--database", metavar="URL", default="", help="sqlite:///FILE (default: in your data folder)"
    )
    parser.add_argument(
        "--rules",
        metavar="DIR",
        type=Path,
        action="append",
        default=[],
        help="a folder with more variants; repeatable",
    )
    parser.add_argument(
        "--origin",
        metavar="ORIGIN",
        action="append",
        default=[],
        help="an origin (https://example.org) whose pages may connect; repeatable",
    )
    parser.add_argument(
        "--daily",
        metavar="VARIANT[@LEVEL]",
        action="append",
        default=[],
        help=f"a game that has a deal a day; repeatable, none: no dailies (default: {', '.join(DEFAULT_DAILIES)})",
    )
    parser.add_argument(
        "--beacon",
        metavar="TEXT",
        default="",
        help="a public value that nobody could know before, for the days announced from now on (docs/daily.md)",
    )
    names = ", ".join(field.name for field in msgspec.structs.fields(Limits))
    parser.add_argument(
        "--limit",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help=f"set a limit, 0 switches it off; repeatable; names: {names}",
    )


def _read_port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 5 and int(text) <= 65535):
        raise argparse.ArgumentTypeError(f"{text[:60]!r}: a port is a number from 0 to 65535")
    return int(text)


def read_serve_flags(flags: argparse.Namespace) -> Config:
    """The configuration that the flags describe; raises ConfigError."""
    for folder in flags.rules:
        if not folder.is_dir():
            raise ConfigError(f"--rules {folder}: there is no such folder")
    return Config(
        host=flags.host,
        port=flags.port,
        database=flags.database or default_database(),
        rules=tuple(flags.rules),
        dailies=_read_dailies(flags.daily),
        beacon=_read_beacon(flags.beacon),
        origins=tuple(_read_origin(text) for text in flags.origin),
        limits=read_limits(flags.limit),
    )


def read_limits(settings: list[str]) -> Limits:
    """The limits after settings of the form NAME=VALUE; raises ConfigError."""
    values: dict[str, float] = {}
    known = [field.name for field in msgspec.structs.fields(Limits)]
    for setting in settings:
        name, sign, text = setting.partition("=")
        if not sign:
            raise ConfigError(f"--limit {setting}: expected NAME=VALUE")
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            hint = f"did you mean `{near[0]}`?" if near else f"the limits are {', '.join(known)}"
            raise ConfigError(f"--limit {setting}: unknown limit `{name}`; {hint}")
        try:
            value = int(text) if name in _WHOLE else float(text)
        except ValueError:
            kind = "a whole number" if name in _WHOLE else "a number"
            raise ConfigError(f"--limit {setting}: `{text}` is not {kind}") from None
        if not 0 <= value < 1e12:
            raise ConfigError(f"--limit {setting}: a limit is 0 (off) or more")
        values[name] = value
    return Limits(**values)  # type: ignore[arg-type]  # whole where the field is


def _read_dailies(names: list[str]) -> tuple[str, ...]:
    if not names:
        return DEFAULT_DAILIES
    if "none" in names:
        if len(names) > 1:
            raise ConfigError("--daily none: there are either dailies or none")
        return ()
    for name in names:
        if not _DAILY.fullmatch(name):
            raise ConfigError(
                f"--daily {name}: a daily is written like yukon, or yukon-thicket@2 for another level than the default"
            )
    return tuple(dict.fromkeys(names))


def _read_beacon(text: str) -> str:
    if len(text) > 200 or not text.isascii() or not all(letter.isprintable() for letter in text):
        raise ConfigError("--beacon: at most 200 printable ASCII characters")
    return text


def _read_origin(text: str) -> str:
    scheme, sign, rest = text.rstrip("/").partition("://")
    if not sign or scheme not in {"http", "https"} or not rest or "/" in rest:
        raise ConfigError(
            f"--origin {text}: an origin is written like https://example.org or http://host:8080"
        )
    return f"{scheme}://{rest}".lower()
