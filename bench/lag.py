"""How late the server's event loop is while searches run: at rest, and with everything that searches asked at once.

Run by hand: ``python bench/lag.py [SECONDS]``, with the three source roots in PYTHONPATH. The server is in this process, where a
task wakes every 5 ms and notes how late; the clients are another process, so that their work does not count. Between the
phases nothing differs but what they ask. The aim: p99 at most 20 ms while solving. On a machine with other work to do
read the difference to the first phase.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from collections.abc import Callable
from typing import Any

from websockets.asyncio.client import connect

from chilkoot.config import Config, Limits
from chilkoot.data import keep_compiled_solver, rules_folder
from chilkoot.host.house import House
from chilkoot.host.ledger import Ledger
from chilkoot.host.server import listen, listening_sockets
from chilkoot.library import Library

EVERY = 0.005
UNLIMITED = dict.fromkeys(
    ("rate", "flood", "new_per_second", "hint_per_second", "active_games", "connections_per_address"), 0
)
PHASES = ("rest", "play", "deals", "analyses", "hints", "everything")


async def measure(seconds: float) -> list[float]:
    """Milliseconds by which a task was woken too late, again and again."""
    loop = asyncio.get_running_loop()
    late = []
    end = loop.time() + seconds
    while loop.time() < end:
        due = loop.time() + EVERY
        await asyncio.sleep(EVERY)
        late.append((loop.time() - due) * 1000)
    return sorted(late)


async def serve(seconds: float) -> None:
    """All phases, one after the other, a line for each."""
    with tempfile.TemporaryDirectory() as folder:
        config = Config(dailies=(), limits=Limits(**UNLIMITED, pool_after_seconds=0, certify_seconds=60))  # type: ignore[arg-type]
        library = Library([rules_folder()])
        library.variants()
        house = House(config, Ledger(f"sqlite:///{folder}/games.db", on_fatal=print), library)
        sockets = listening_sockets("127.0.0.1", 0)
        port = sockets[0].getsockname()[1]
        servers = await listen(house, sockets)
        # What is compiled once should not count.
        await house.certifier.graded(*_easy(library))
        if (warming := house.adviser.warm_up()) is not None:
            await warming
        print(f"{'phase':12}{'p50 ms':>9}{'p99 ms':>9}{'max ms':>9}{'answers/s':>11}")
        for phase in PHASES:
            filling = (
                asyncio.create_task(house.deal_pool.look_after(after=0))
                if phase in ("deals", "everything")
                else None
            )
            client = await asyncio.create_subprocess_exec(
                sys.executable,
                __file__,
                "client",
                str(port),
                phase,
                str(seconds),
                stdout=asyncio.subprocess.PIPE,
            )
            assert client.stdout is not None
            await client.stdout.readline()
            late = await measure(seconds)
            answers = int((await client.stdout.read()) or 0)
            await client.wait()
            if filling is not None:
                filling.cancel()
            share: Callable[[float], float] = lambda at: late[int(at * (len(late) - 1))]  # noqa: B023, E731 - used at once
            print(
                f"{phase:12}{share(0.5):9.2f}{share(0.99):9.2f}{late[-1]:9.2f}{answers / seconds:11.1f}",
                flush=True,
            )
        house.searcher.close()
        house.adviser.close()
        for server in servers:
            server.close()
        house.ledger.close(5)


def _easy(library: Library) -> tuple[str, str]:
    from chilkoot.language.rules import canonical_text  # noqa: PLC0415

    found = library.variant("yukon")
    assert found is not None
    return canonical_text(found.levels[0].rules), "ms:1"


async def ask(port: int, phase: str, seconds: float) -> None:
    """The clients: what the phase asks, as fast as it is answered."""
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    kinds = {"rest": (), "everything": ("play", "deals", "analyses", "hints")}.get(phase, (phase,))
    answers = 0

    async def client(kind: str, number: int) -> None:
        nonlocal answers
        async with connect(f"ws://127.0.0.1:{port}/ws") as socket:
            ids = iter(range(1, 10**9))

            async def say(**fields: Any) -> dict[str, Any]:
                mine = next(ids)
                await socket.send(json.dumps({"id": mine, **fields}))
                while (frame := json.loads(await socket.recv())).get("re") != mine:
                    pass
                return frame  # type: ignore[no-any-return]

            while loop.time() < end:
                fields = {"winnable": True} if kind == "deals" else {}
                table = await say(type="new", variant=("yukon", "yukon-thicket")[number % 2], **fields)
                game, seq = table["game"], table["seq"]
                if kind in ("play", "hints"):
                    for _ in range(10):
                        if kind == "hints":
                            await say(type="hint", game=game)
                        done = await say(type="auto", game=game, base=seq)
                        seq = done.get("seq", seq)
                        answers += 1
                await say(type="give_up", game=game, base=seq)
                if kind == "analyses":
                    await say(type="analyse", game=game)
                answers += 1

    print("ready", flush=True)
    try:
        async with asyncio.timeout(seconds):
            await asyncio.gather(*(client(kind, number) for kind in kinds for number in range(4)))
            await asyncio.sleep(end - loop.time())
    except TimeoutError:
        pass
    print(answers)


if __name__ == "__main__":
    keep_compiled_solver()
    if sys.argv[1:2] == ["client"]:
        asyncio.run(ask(int(sys.argv[2]), sys.argv[3], float(sys.argv[4])))
    else:
        asyncio.run(serve(float(sys.argv[1]) if len(sys.argv) > 1 else 10.0))
