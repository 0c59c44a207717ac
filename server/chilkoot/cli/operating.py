"""`chilkoot config` and `chilkoot doctor`: what a server would run with, and whether it could."""

from __future__ import annotations

import argparse
import errno
import importlib.metadata
import os
import resource
import socket
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

import msgspec

from chilkoot.cli.faults import ERRORS, USAGE, CommandFailed
from chilkoot.cli.json_lines import print_json
from chilkoot.config import Config, ConfigError, read_serve_flags
from chilkoot.data import keep_compiled_solver, rules_folder, web_folder
from chilkoot.library import Library
from chilkoot.record import CannotOpen, OlderSchema, Reader, StoreFault, database_file, has_wal_reset_bug

__all__ = ["doctor", "show_config"]

_LIBRARIES = ("alembic", "msgspec", "numba", "PyYAML", "SQLAlchemy", "websockets")
_SPARE_FILES = 64
"""Files a server has open beside its connections."""


def _config(flags: argparse.Namespace) -> Config:
    try:
        return read_serve_flags(flags)
    except ConfigError as error:
        raise CommandFailed(str(error), USAGE) from None


def show_config(flags: argparse.Namespace) -> int:
    """Tell every setting with the value that holds, and which of them the flags have set."""
    config, usual = _config(flags), Config()
    for name, value, default in _settings(config, usual):
        is_set = value != default and name != "database"
        is_set = is_set or (name == "database" and bool(flags.database))
        if flags.json:
            print_json(name=name, value=value, set=is_set)
        else:
            shown = (
                " ".join(map(str, value))
                if isinstance(value, list)
                else f"{value:g}"
                if isinstance(value, float)
                else value
            )
            print(f"{name:32}{shown}{'  (set)' if is_set else ''}")
    return 0


def _settings(config: Config, usual: Config) -> Iterator[tuple[str, object, object]]:
    for field in msgspec.structs.fields(Config):
        value, default = getattr(config, field.name), getattr(usual, field.name)
        if field.name == "limits":
            for limit in msgspec.structs.fields(type(config.limits)):
                yield f"limit {limit.name}", getattr(value, limit.name), getattr(default, limit.name)
        elif isinstance(value, tuple):
            yield field.name, [str(one) for one in value], [str(one) for one in default]
        else:
            yield field.name, value, default


Verdict = tuple[Literal["ok", "warning", "wrong"], str]


def doctor(flags: argparse.Namespace) -> int:
    """See whether a server could run here with these flags."""
    config = _config(flags)
    checks: dict[str, Callable[[Config], Verdict]] = {
        "Python": _python,
        "libraries": _libraries,
        "SQLite": _sqlite,
        "database": _database,
        "port": _port,
        "rules": _rules,
        "web client": _web_client,
        "solver": _solver,
        "open files": _open_files,
    }
    status = 0
    for name, check in checks.items():
        verdict, said = check(config)
        status = ERRORS if verdict == "wrong" else status
        if flags.json:
            print_json(check=name, verdict=verdict, message=said)
        else:
            print(f"{verdict:9}{name}: {said}")
    return status


def _python(_: Config) -> Verdict:
    found = ".".join(map(str, sys.version_info[:3]))
    return (
        ("ok", found) if sys.version_info >= (3, 11) else ("wrong", f"{found}; Chilkoot needs 3.11 or later")
    )


def _libraries(_: Config) -> Verdict:
    found, missing = [], []
    for name in _LIBRARIES:
        try:
            found.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            missing.append(name)
    return ("wrong", f"{', '.join(missing)} not installed") if missing else ("ok", ", ".join(found))


def _sqlite(_: Config) -> Verdict:
    if has_wal_reset_bug(sqlite3.sqlite_version_info):
        lack = f"{sqlite3.sqlite_version} can lose commits when two programs write to one database (mended in 3.51.3)"
        return "warning", f"{lack}: let the server alone write to it; `chilkoot db backup` only reads"
    return "ok", sqlite3.sqlite_version


def _database(config: Config) -> Verdict:
    try:
        path = database_file(config.database)
    except CannotOpen as wrong:
        return "wrong", str(wrong)
    if not path.exists():
        folder = next(one for one in path.parents if one.exists())
        if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
            return "wrong", f"{path} can't be made: {folder} can't be written to"
        return "ok", f"{path} is made at the first start"
    if not os.access(path, os.W_OK) or not os.access(path.parent, os.W_OK):
        return "wrong", f"{path}, or its folder, can't be written to"
    try:
        reader = Reader.open(config.database)
    except OlderSchema as older:
        # The server brings it up to date by itself.
        return "warning", str(older)
    except StoreFault as wrong:
        return "wrong", str(wrong)
    try:
        counts = reader.counts()
    except StoreFault as wrong:
        return "wrong", str(wrong)
    finally:
        reader.close()
    return "ok", f"{path}: {counts.games} games of {counts.players} players, {counts.unfinished} unfinished"


def _port(config: Config) -> Verdict:
    where = f"{config.host or '*'}:{config.port}"
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            config.host or None, config.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        with socket.socket(family, kind, protocol) as one:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            one.bind(address)
    except UnicodeError:
        return "wrong", "what --host says is no name of a host"
    except OSError as error:
        hint = "; is a server running there already?" if error.errno == errno.EADDRINUSE else ""
        return "wrong", f"{where}: {(error.strerror or str(error)).lower()}{hint}"
    return "ok", f"{where} is free"


def _rules(config: Config) -> Verdict:
    library = Library([*config.rules, rules_folder()])
    broken = [str(one) for one in library.errors]
    if broken:
        return "warning", f"{len(broken)} files are not offered, `chilkoot rules check` says why; {broken[0]}"
    return "ok", f"{len(library.variants())} variants"


def _web_client(_: Config) -> Verdict:
    try:
        folder = web_folder()
    except FileNotFoundError as missing:
        return "warning", str(missing)
    if not (folder / "index.html").is_file():
        return "warning", f"{folder} has no page; /plain is served in its place"
    return "ok", str(folder)


def _solver(_: Config) -> Verdict:
    keep_compiled_solver()
    folder = Path(os.environ["NUMBA_CACHE_DIR"])
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        return "warning", f"{folder}: {why}; the solver is compiled anew at each start, which takes a minute"
    return "ok", f"compiled code is kept in {folder}"


def _open_files(config: Config) -> Verdict:
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = config.limits.connections + _SPARE_FILES
    if soft != resource.RLIM_INFINITY and soft < wanted:
        fitting = max(1, soft - _SPARE_FILES)
        lack = f"{soft} files may be open, {wanted} are needed for {config.limits.connections} connections"
        return "warning", f"{lack}: `ulimit -n {wanted}`, or `--limit connections={fitting}`"
    return "ok", "unlimited" if soft == resource.RLIM_INFINITY else str(soft)
