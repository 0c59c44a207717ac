"""Starts servers quickly: a process that has imported everything and compiled the variants, and forks one for each start.

What runs in the fork is `chilkoot serve` with its flags; only the reading of files before it is done once. With the name of a
canary in its arguments the servers are broken in that way (`chaos.canaries`). Speaks lines of JSON on its own input and output;
when its input ends, so do the servers that are left.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
from typing import Any

from chilkoot import failpoint


def main() -> None:
    """Obey orders until the input ends."""
    import chilkoot.cli.serving  # noqa: PLC0415 - what is imported here is imported once for all servers
    import chilkoot.host.server as host  # noqa: PLC0415
    import chilkoot.solver.certify  # noqa: F401, PLC0415
    from chilkoot.cli import main as run  # noqa: PLC0415
    from chilkoot.data import rules_folder  # noqa: PLC0415
    from chilkoot.library import Library  # noqa: PLC0415

    shipped = Library([rules_folder()])
    shipped.variants()
    # The look at the folders that a start begins with is taken once, for all.
    vars(host)["Library"] = lambda folders: shipped if len(folders) == 1 else Library(folders)
    if len(sys.argv) > 1:
        from chaos.canaries import release  # noqa: PLC0415

        release(sys.argv[1])
    gc.freeze()
    print(json.dumps({"ready": True}), flush=True)  # noqa: T201 - how it answers
    running: set[int] = set()
    for line in sys.stdin:
        order = json.loads(line)
        if order["do"] == "start":
            answer = _start(order, run)
            running.add(answer["pid"])
        else:
            answer = _wait(order["pid"])
            running.discard(order["pid"])
        print(json.dumps(answer), flush=True)  # noqa: T201 - how it answers
    for left in running:
        os.kill(left, signal.SIGKILL)


def _start(order: dict[str, Any], run: Any) -> dict[str, Any]:
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        log = os.open(order["log"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        nothing = os.open(os.devnull, os.O_RDONLY)
        for ours, theirs in ((nothing, 0), (writing, 1), (log, 2)):
            os.dup2(ours, theirs)
            os.close(ours)
        os.close(reading)
        os.chdir(order["where"])
        os.environ["HOME"] = order["home"]
        status = 70
        failpoint._left.update(order["failpoints"])
        try:
            status = run(order["arguments"])
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
    os.close(writing)
    with os.fdopen(reading) as said:
        return {"pid": pid, "said": said.readline().strip()}


def _wait(pid: int) -> dict[str, Any]:
    _, status = os.waitpid(pid, 0)
    return {"status": os.waitstatus_to_exitcode(status)}


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    main()
