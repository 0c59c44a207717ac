"""What the web client costs a browser: its first picture on a slow machine, an action at a column of 40 cards, memory, bytes.

Run by hand: ``python bench/web.py [ROUNDS]``, with the three source roots and `tests` in PYTHONPATH and Chromium installed. Times
depend on the machine and on what else it does; so each is printed beside the same of an empty page, or of short columns.

The aims: the first picture within a second where the processor is slowed down four times; from the arrival of a diff to the
painted frame at most two frames, at a column of 40 cards too; memory that does not grow over 1,000 actions; less than 60 kB to load.
"""

from __future__ import annotations

import shutil
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, CDPSession, sync_playwright

from browser.window import NEAR_THE_END, Window
from servers import NO_LIMITS, LiveServer

FRAME_MS = 1000 / 60
SLOWER = 4

_DECK = [rank + suit for suit in "CDHS" for rank in "A23456789TJQK"]
_REST = [card for card in _DECK if card not in {"KS", "QH", "AC"}]
FORTY = (
    "t1: KS QH | t2: <AC> " + " ".join(_REST[:38]) + " | t3: " + " ".join(_REST[38:])
)  # fmt: skip
"""A board with 39 cards in one column, to which others may come."""

WATCH = """() => {
  window.waits = [];
  const native = Object.getOwnPropertyDescriptor(WebSocket.prototype, 'onmessage');
  Object.defineProperty(WebSocket.prototype, 'onmessage', { set(run) {
    native.set.call(this, (event) => {
      const isDiff = event.data.startsWith('{"type":"diff"'), came = performance.now();
      run(event);
      if (isDiff) requestAnimationFrame(() => { const channel = new MessageChannel();
        channel.port1.onmessage = () => window.waits.push(performance.now() - came);
        channel.port2.postMessage(0); });
    });
  } });
}"""
"""Notes how long after a diff's arrival the frame that shows it is done."""


def first_paint(browser: Browser, url: str, rounds: int) -> float:
    """Milliseconds from the request to the first picture, the processor slowed down."""
    times = []
    for _ in range(rounds):
        context = browser.new_context()
        page = context.new_page()
        context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
        page.goto(url)
        page.wait_for_timeout(300)
        times.append(
            page.evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? -1")
        )
        context.close()
    return float(statistics.median(times))


def to_paint(browser: Browser, url: str, board: str, actions: int) -> list[float]:
    """Milliseconds from a diff's arrival to the frame that shows it."""
    window = Window(browser.new_context(viewport={"width": 1440, "height": 900}), url)
    window.page.add_init_script(f"({WATCH})()")
    window.deal("Yukon", board)
    for key in "au" * (actions // 2):
        before = window.page.evaluate("window.waits.length")
        window.page.keyboard.press(key)
        while window.page.evaluate("window.waits.length") == before:
            window.page.wait_for_timeout(10)
        window.page.wait_for_timeout(200)
    waits: list[float] = window.page.evaluate("window.waits")
    window.close()
    return waits


def memory(browser: Browser, url: str, actions: int) -> tuple[float, float]:
    """How many bytes of script memory and how many nodes a thousand actions leave behind."""
    window = Window(browser.new_context(), url).settings(speed=0)
    window.deal("Yukon", NEAR_THE_END)
    session = window.context.new_cdp_session(window.page)
    session.send("Performance.enable")

    def turns(count: int) -> None:
        for number in range(count):
            window.page.keyboard.press("ua"[number % 2])
            moves = number % 2
            while window.page.inner_text("#moves") != str(moves):
                window.page.wait_for_timeout(1)

    window.page.keyboard.press("a")
    while window.page.inner_text("#moves") != "1":
        window.page.wait_for_timeout(5)
    turns(40)
    before = _held(session)
    turns(actions)
    after = _held(session)
    window.close()
    return after[0] - before[0], after[1] - before[1]


def _held(session: CDPSession) -> tuple[float, float]:
    session.send("HeapProfiler.collectGarbage")
    named: dict[str, Any] = {
        one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]
    }
    return float(named["JSHeapUsedSize"]), float(named["Nodes"])


def loaded(browser: Browser, url: str) -> tuple[int, int]:
    """How many files the first page loads, and how many bytes of content come over the line."""
    context = browser.new_context(service_workers="block")
    page = context.new_page()
    session = context.new_cdp_session(page)
    sizes: list[int] = []
    session.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
    session.send("Network.enable")
    page.goto(url)
    page.wait_for_timeout(1000)
    context.close()
    return len(sizes), sum(sizes)


def main(rounds: int) -> None:
    """Measure all of it."""
    program = shutil.which("chromium") or shutil.which("google-chrome")
    flags = [part for name in NO_LIMITS for part in ("--limit", f"{name}=0")]
    with (
        tempfile.TemporaryDirectory() as folder,
        LiveServer(Path(folder), *flags) as server,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=program)
        url = f"http://127.0.0.1:{server.port}"
        files, size = loaded(browser, url)
        print(f"{files} files, {size} bytes with their headers")
        ours, bare = first_paint(browser, url, rounds), first_paint(browser, f"{url}/plain", rounds)
        print(f"first picture at {SLOWER}x slower: {ours:.0f} ms; a page of text alone: {bare:.0f} ms")
        for name, board in (("short columns", NEAR_THE_END), ("a column of 39 cards", FORTY)):
            waits = sorted(to_paint(browser, url, board, 20))
            middle, worst = statistics.median(waits), waits[-2]
            print(
                f"diff to painted frame, {name}: {middle / FRAME_MS:.1f} frames ({middle:.1f} ms), all but one {worst:.1f} ms"
            )
        held, nodes = memory(browser, url, 1000)
        print(f"after 1,000 actions: {held / 1000:+.0f} kB, {nodes:+.0f} nodes")
        browser.close()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
