"""What `python3 server` and `python3 tests` do first: make `.venv` from the hashed lock, then go on inside it.

It decides when `.venv` is good, when it is made anew and with which installer; nothing about the server or the tests.
It runs before anything is installed, so it may import the standard library only. Down to the version check, and in its
syntax everywhere, it stays readable to Python 3.6, so that an old Python can say what is wrong.
"""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 -- whoever starts an older one should read a sentence, not a traceback
    sys.exit(
        "Chilkoot needs Python 3.11 or newer, and this is Python %d.%d: "  # noqa: UP031 -- as above
        "start it with a newer one, for example `python3.12 server`." % sys.version_info[:2]
    )
if sys.platform == "win32":
    sys.exit("Chilkoot runs on Linux and macOS; on Windows, start it inside WSL.")

import fcntl
import hashlib
import os
import shlex
import shutil
import subprocess
import time
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple, NoReturn

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
SOURCE_ROOTS = (ROOT / "server", ROOT / "clients" / "python", ROOT / "clients" / "terminal")
TO_SERVE = ROOT / "requirements.lock"
TO_TEST = ROOT / "requirements-dev.lock"

# Its lines name the locks that are installed whole. It is written last and removed first, so whatever was interrupted
# in between is made again.
_STAMP = VENV / "chilkoot-ready"
# Held while `.venv` changes, by this process and by each installer that it starts.
_TURN = ROOT / ".venv.lock"

_NO_INSTALLER = """\
Chilkoot: this Python can't make a virtual environment: it has neither pip nor venv. Install them, then start again:
  Debian, Ubuntu  apt install python3-venv
  Fedora          dnf install python3-pip
  Alpine          apk add py3-pip
  elsewhere       a program named `uv` or `virtualenv` on the PATH does as well"""

_NO_LIBRARIES = """\
Chilkoot: the libraries could not be installed. uv and pip take them from the package index that they are set up for:
can this machine reach it? This is how it ended:"""

_COMMAND = """\
#!/bin/sh
'''exec' {python} "$0" "$@"
' '''
import sys

from chilkoot.cli import main

# Processes that it starts read this file as well, and are to do what they are told, not to begin a second server.
if __name__ == "__main__":
    sys.exit(main())
"""


class _Way(NamedTuple):
    """One way to make an environment, and to install into it."""

    name: str
    fetcher: str
    make: list[str]
    install: list[str]
    can_extend: bool


def serve(arguments: list[str]) -> NoReturn:
    """Become `chilkoot serve`, from this checkout, with its libraries."""
    _prepare([TO_SERVE])
    _become([str(PYTHON), "-P", str(VENV / "bin" / "chilkoot"), "serve", *arguments])


def run_tests(arguments: list[str]) -> NoReturn:
    """Become pytest over this checkout's tests; paths among the arguments count from the checkout."""
    _prepare([TO_SERVE, TO_TEST])
    os.chdir(ROOT)
    # Each of the many processes of a run would compile all modules for itself: half a minute in all.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    _become([str(PYTHON), "-P", "-m", "pytest", *arguments])


def _become(command: list[str]) -> NoReturn:
    os.execv(command[0], command)  # noqa: S606 -- no shell is what we want: signals and exit code are the server's own


def _prepare(locks: list[Path]) -> None:
    if _is_ready(locks):
        return
    if sys.prefix != sys.base_prefix:
        # An active environment may be the one to be replaced; the Python that it was made with can do that.
        base = getattr(sys, "_base_executable", sys.executable)
        _become([base, *sys.orig_argv[1:]])
    try:
        with _TURN.open("w") as turn:
            try:
                fcntl.flock(turn, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                _say("waiting for another process that makes .venv ...")
                fcntl.flock(turn, fcntl.LOCK_EX)
            if not _is_ready(locks):
                _make(locks, turn.fileno())
    except OSError as error:
        sys.exit(f"Chilkoot: can't make {VENV}: {error}")
    except KeyboardInterrupt:
        sys.exit("Chilkoot: stopped; the next start makes .venv again.")


def _is_ready(locks: list[Path]) -> bool:
    return os.access(PYTHON, os.X_OK) and {_fingerprint(lock) for lock in locks} <= _installed()


def _fingerprint(lock: Path) -> str:
    """Everything that makes an environment another one: lock, place, Python, machine, and how this file makes it."""
    facts = hashlib.sha256(lock.read_bytes())
    facts.update(Path(__file__).read_bytes())
    facts.update(os.fsencode(VENV))
    facts.update(f"{sys.implementation.cache_tag} {sys.platform} {os.uname().machine}".encode())
    return f"{lock.name} {facts.hexdigest()}"


def _installed() -> set[str]:
    try:
        return set(_STAMP.read_text().splitlines())
    except OSError:
        return set()


def _make(locks: list[Path], turn: int) -> None:
    started = time.monotonic()
    ways = _ways()
    if not ways:
        sys.exit(_NO_INSTALLER)
    done = _installed() if os.access(PYTHON, os.X_OK) else set()
    extending = [way for way in ways if way.can_extend]
    extends = bool(done and extending) and done <= {_fingerprint(TO_SERVE), _fingerprint(TO_TEST)}
    if extends:
        # What is there stays good while more is added, also when that fails: a server may be running on it.
        ways = extending
    failures = []
    fruitless = set()
    for way in ways:
        if way.fetcher in fruitless:
            continue
        count = sum(1 for line in locks[-1].read_text().splitlines() if "==" in line)
        _say(f"installing {count} libraries into .venv with {way.name}; this is done once ...")
        failure = "" if extends else _make_afresh(way, turn)
        if not failure:
            failure = _run([*way.install, "--require-hashes", "-r", str(locks[-1])], turn)
            if not failure:
                break
            fruitless.add(way.fetcher)
        failures.append(f"{way.name}:\n{failure}")
    else:
        sys.exit("\n".join([_NO_LIBRARIES, *failures]))
    _link_sources()
    _STAMP.with_suffix(".new").write_text("".join(f"{_fingerprint(lock)}\n" for lock in locks))
    _STAMP.with_suffix(".new").replace(_STAMP)
    _say(f"ready after {time.monotonic() - started:.0f} s.")


def _make_afresh(way: _Way, turn: int) -> str:
    _STAMP.unlink(missing_ok=True)
    if VENV.is_symlink() or VENV.is_file():
        VENV.unlink()
    elif VENV.exists():
        shutil.rmtree(VENV)
    return _run(way.make, turn)


def _ways() -> list[_Way]:
    ways = []
    pip = ["install", "--quiet", "--disable-pip-version-check", "--no-input"]
    inner_pip = [str(PYTHON), "-m", "pip", *pip]
    has_inner_pip = any(VENV.glob("lib/*/site-packages/pip"))
    uv = shutil.which("uv")
    if uv:
        make = [uv, "venv", "--quiet", "--python", sys.executable, str(VENV)]
        uv_pip = [uv, "pip", "install", "--quiet", "--python", str(PYTHON)]
        ways.append(_Way("uv", "uv", make, uv_pip, can_extend=True))
    # Debian's python3 has venv without ensurepip, until python3-venv comes.
    if find_spec("venv") and find_spec("ensurepip"):
        ways.append(_Way("pip", "pip", [sys.executable, "-m", "venv", str(VENV)], inner_pip, has_inner_pip))
    if find_spec("venv") and find_spec("pip"):
        make = [sys.executable, "-m", "venv", "--without-pip", str(VENV)]
        outer_pip = [sys.executable, "-m", "pip", "--python", str(PYTHON), *pip]
        ways.append(_Way("the system's pip", "pip", make, outer_pip, can_extend=True))
    virtualenv = shutil.which("virtualenv")
    if virtualenv:
        make = [virtualenv, "--quiet", "--python", sys.executable, str(VENV)]
        ways.append(_Way("virtualenv", "pip", make, inner_pip, has_inner_pip))
    return ways


def _run(command: list[str], turn: int) -> str:
    """Run an installer; the answer is the end of what it printed if it failed, else nothing."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment["PIP_USER"] = "0"  # a configured `user = true` can't work inside an environment
    # The installer holds the turn too: if this process dies, nobody else starts before the installer has ended.
    result = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment,
        pass_fds=(turn,),
        check=False,
        text=True,
        errors="replace",
    )
    if result.returncode == 0:
        return ""
    # pip's warnings tell each of five tries; its errors, at the end, tell what was wanted.
    lines = [
        line for line in result.stdout.splitlines() if line.strip() and not line.startswith("WARNING: Retry")
    ]
    return "\n".join(f"  {line[:300]}" for line in lines[-8:]) or f"  it ended with {result.returncode}"


def _link_sources() -> None:
    """Let the environment find this checkout's packages and give it a `chilkoot` command."""
    paths = b"".join(os.fsencode(f"{path}\n") for path in SOURCE_ROOTS)
    for site_packages in VENV.glob("lib/*/site-packages"):
        (site_packages / "chilkoot.pth").write_bytes(paths)
    command = VENV / "bin" / "chilkoot"
    # By way of the shell, since the first line of a script can't hold a path with spaces or a long one.
    command.write_text(_COMMAND.format(python=shlex.quote(str(PYTHON))), errors="surrogateescape")
    command.chmod(0o755)


def _say(sentence: str) -> None:
    # Standard output belongs to the server: its first line is the address.
    print(f"Chilkoot: {sentence}", file=sys.stderr, flush=True)  # noqa: T201 -- there is no log yet
