"""A window of a real browser on the web client: what a player sees and does, in the words of the table."""

from __future__ import annotations

import base64
import contextlib
import json
import time
from typing import Any

from playwright.sync_api import BrowserContext, Locator, Page, Request, Response, expect

Move = tuple[str, int, str]

NEAR_THE_END = (
    "t1: <QC> KS QH | t2: <JD> JC | t3: KC QD JS | t4: KD | t5: KH QS JH"
    " | f1: AC 2C 3C 4C 5C 6C 7C 8C 9C TC | f2: AD 2D 3D 4D 5D 6D 7D 8D 9D TD"
    " | f3: AH 2H 3H 4H 5H 6H 7H 8H 9H TH | f4: AS 2S 3S 4S 5S 6S 7S 8S 9S TS"
)
"""A board of Yukon that is thirteen moves from its end."""

TO_THE_END: list[Move] = [
    ("t1", 2, "t6"), ("t2", 1, "f1"), ("t1", 1, "f1"), ("t2", 1, "f2"), ("t3", 1, "f4"), ("t3", 1, "f2"), ("t3", 1, "f1"),
    ("t4", 1, "f2"), ("t5", 1, "f3"), ("t5", 1, "f4"), ("t6", 1, "f3"), ("t5", 1, "f3"), ("t6", 1, "f4"),
]  # fmt: skip
"""Thirteen moves that win it: a group into an empty column, cards that turn up, and every card home."""


LAST_MOVE = (
    "t1: 6C 5D QD JC | t2: <5C> 2H AS | t3: <3S> <9C> QC KC 2D KS 4C 3D 9H 4D | t4: <TC> <8S> JD TS 9D QS"
    " | t5: <5H> <TD> <KD> <TH> 8C 7H 7C 6D 9S | t6: <AC> <3C> <JS> <JH> <2S> 7D QH 6S 7S 5S 4H"
    " | t7: <6H> <AH> <KH> <8H> <2C> <8D> AD 4S 3H"
)
"""A board of Yukon on which after the one move that sends the ace of spades home there is none left."""


class Window:
    """One page in a context of its own, and all that went wrong in it."""

    def __init__(self, context: BrowserContext, url: str) -> None:
        self.context = context
        self.url = url
        self.page: Page = context.new_page()
        self.page.set_default_timeout(5_000)
        self.troubles: list[str] = []
        self.requests: list[str] = []
        self.is_calm = True
        self.page.on("console", lambda message: self._note(message.type, message.text))
        self.page.on("pageerror", lambda error: self.troubles.append(f"error: {error}"))
        self.page.on("request", self._requested)
        self.page.on("requestfailed", self._failed)
        self.page.on("response", self._answered)

    def _note(self, kind: str, text: str) -> None:
        if kind in {"error", "warning"}:
            self.troubles.append(f"{kind}: {text}")

    def _requested(self, request: Request) -> None:
        self.requests.append(request.url)

    def _failed(self, request: Request) -> None:
        # A picture that was still on its way when the page was left.
        if request.failure != "net::ERR_ABORTED":
            self.troubles.append(f"failed: {request.url} {request.failure}")

    def _answered(self, response: Response) -> None:
        if response.status >= 400:
            self.troubles.append(f"{response.status}: {response.url}")

    # going places

    def settings(self, **settings: Any) -> Window:
        """What the player has chosen, before the page is opened."""
        text = json.dumps(json.dumps(settings))
        self.page.add_init_script(
            f"localStorage.getItem('chilkoot.settings') || localStorage.setItem('chilkoot.settings', {text})"
        )
        return self

    def open(self, path: str = "/") -> Window:
        """Open an address and wait until the server has said hello."""
        self.page.goto(self.url + path)
        expect(self.page.locator("html[data-net=online]")).to_be_attached()
        return self

    def deal(self, variant: str = "Yukon", deal: str = "", *, level: int | None = None) -> Window:
        """Begin a game in the dialog."""
        if self.page.url == "about:blank":
            self.open()
        if self.page.locator("dialog[open]").count():
            self.page.keyboard.press("Escape")
        expect(self.page.locator("html[data-net=online]")).to_be_attached()
        self.page.locator("body").press("n")
        expect(self.page.locator("#new-variant option").first).to_be_attached()
        self.page.fill("#new-search", variant)
        self.page.fill("#new-deal", deal)
        if level is not None:
            self.page.select_option("#new-level", str(level))
        before = self.page.url
        self.page.press("#new-deal", "Enter")
        self.page.wait_for_url(lambda url: "/games/" in url and url != before)
        expect(self.page.locator("#table .pile").first).to_be_attached()
        return self

    @property
    def game(self) -> str:
        """The id of the game that is open."""
        return self.page.url.rsplit("/", 1)[1].partition("#")[0]

    # looking

    @property
    def status(self) -> Locator:
        """The line that says what happened."""
        return self.page.locator("#status")

    @property
    def says(self) -> str:
        """What the status line says."""
        return (self.status.text_content() or "").strip()

    def pile(self, name: str) -> Locator:
        """The group of a pile."""
        return self.page.locator(f"[data-pile={name}]")

    def cards(self, name: str) -> Locator:
        """The cards of a pile, bottom first."""
        return self.pile(name).locator(".card")

    def count(self, name: str) -> int:
        """How many cards a pile has."""
        return self.cards(name).count()

    def piles(self) -> dict[str, list[str]]:
        """Every pile by name as it is shown, `??` where a card is face down."""
        script = """() => Object.fromEntries([...document.querySelectorAll('#table .pile')].map((pile) =>
            [pile.dataset.pile, [...pile.querySelectorAll('.card')].map((node) => node.card.name)]))"""
        shown: dict[str, list[str]] = self.page.evaluate(script)
        return shown

    def strip(self, name: str, n: int = 1) -> tuple[float, float]:
        """A point on what is to be seen of the n-th last card of a pile; of the empty place where there is none."""
        cards = self.cards(name)
        count = cards.count()
        if count == 0:
            box = self.pile(name).locator(".slot").bounding_box()
            assert box is not None
            return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        box = cards.nth(count - n).bounding_box()
        assert box is not None
        height = box["height"]
        if n > 1:
            after = cards.nth(count - n + 1).bounding_box()
            assert after is not None
            height = after["y"] - box["y"]
        return box["x"] + box["width"] * 0.4, box["y"] + height * 0.5

    def at_rest(self) -> None:
        """Wait until nothing moves any more."""
        # The page's own policy forbids Playwright's way of waiting for a function.
        script = "document.getAnimations().some((one) => one.effect?.target?.closest?.('#table'))"
        wait_until(lambda: not self.page.evaluate(script))

    def wait_for_cards(self, name: str, count: int) -> None:
        """Wait until a pile has that many cards."""
        expect(self.cards(name)).to_have_count(count)

    # moving

    def tap(self, name: str, n: int = 1, *, touch: bool = False) -> None:
        """Tap a card."""
        self.at_rest()
        x, y = self.strip(name, n)
        if touch:
            self.page.touchscreen.tap(x, y)
        else:
            self.page.mouse.click(x, y)

    def move_by_tap(self, move: Move, *, touch: bool = False) -> None:
        """One tap where a card goes home; else one on the card, and one on its place."""
        source, n, target = move
        before = self.count(target)
        self.tap(source, n, touch=touch)
        if target[0] != "f":
            expect(self.page.locator(".card.lift")).to_have_count(n)
            self.tap(target, touch=touch)
        self.wait_for_cards(target, before + n)

    def move_by_drag(self, move: Move, *, touch: bool = False, off: float = 0.3) -> None:
        """Drag a card, and let it go `off` of a card's width beside its place."""
        source, n, target = move
        before = self.count(target)
        self.at_rest()
        x, y = self.strip(source, n)
        to_x, to_y = self.strip(target)
        width = self.width()
        self.drag((x, y), (to_x + width * off, to_y), touch=touch)
        self.wait_for_cards(target, before + n)

    def drag(self, start: tuple[float, float], end: tuple[float, float], *, touch: bool = False) -> None:
        """Press, move in some steps, let go."""
        if not touch:
            self.page.mouse.move(*start)
            self.page.mouse.down()
            self.page.mouse.move(*end, steps=5)
            self.page.mouse.up()
            return
        session = self.context.new_cdp_session(self.page)
        points = [tuple(a + (b - a) * step / 6 for a, b in zip(start, end, strict=True)) for step in range(7)]
        for number, (x, y) in enumerate(points):
            kind = "touchMove" if number else "touchStart"
            session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y}]})
        session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        session.detach()

    def move_by_keys(self, move: Move) -> None:
        """Go there, pick up, go there, drop."""
        source, n, target = move
        before = self.count(target)
        self.focus_table()
        keyboard = self.page.keyboard
        self.go_to_column(source)
        for _ in range(n - 1):
            keyboard.press("ArrowUp")
        keyboard.press("Space")
        expect(self.page.locator(".card.lift")).to_have_count(n)
        expect(self.page.locator(".target")).not_to_have_count(0)
        for _ in range(20):
            keyboard.press("ArrowRight")
            if self.focused_pile() == target:
                break
        keyboard.press("Enter")
        self.wait_for_cards(target, before + n)

    def go_to_column(self, name: str) -> None:
        """The digit of a column brings the focus to its last card."""
        self.page.keyboard.press(name[1:])
        for _ in range(30):
            if self.focused_pile() == name and self.page.evaluate(
                "document.activeElement === [...document.activeElement.parentNode.children].at(-1)"
            ):
                return
            self.page.keyboard.press(name[1:])
        raise AssertionError(f"the keys do not lead to {name}")

    def focus_table(self) -> None:
        """Bring the focus to the table by its one tab stop."""
        self.page.locator('#table [tabindex="0"]').focus()

    def focused_pile(self) -> str:
        """The pile in which the focus is."""
        pile: str = self.page.evaluate("document.activeElement.closest('[data-pile]')?.dataset.pile ?? ''")
        return pile

    def luminances(
        self, deficiency: str, areas: dict[str, tuple[float, float, float, float]]
    ) -> dict[str, float]:
        """The luminance of the darkest part of some areas of the page, as an eye with this deficiency sees them."""
        session = self.context.new_cdp_session(self.page)
        session.send("Emulation.setEmulatedVisionDeficiency", {"type": deficiency})
        taken = base64.b64encode(self.page.screenshot()).decode()
        session.send("Emulation.setEmulatedVisionDeficiency", {"type": "none"})
        session.detach()
        # An empty page has no policy that forbids it to read a picture.
        reader = self.context.new_page()
        found: dict[str, float] = reader.evaluate(
            """async ([taken, areas]) => {
              const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${taken}`)).blob());
              const context = new OffscreenCanvas(image.width, image.height).getContext('2d');
              context.drawImage(image, 0, 0);
              const part = (value) => value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4;
              const darkest = ([x, y, w, h]) => {
                const { data } = context.getImageData(x, y, w, h);
                let least = 1;
                for (let at = 0; at < data.length; at += 4) {
                  least = Math.min(least, 0.2126 * part(data[at]) + 0.7152 * part(data[at + 1]) + 0.0722 * part(data[at + 2]));
                }
                return least;
              };
              return Object.fromEntries(Object.entries(areas).map(([name, area]) => [name, darkest(area.map(Math.round))]));
            }""",
            [taken, {name: list(area) for name, area in areas.items()}],
        )
        reader.close()
        return found

    def width(self) -> float:
        """How wide a card is."""
        box = self.page.locator("#table .slot").first.bounding_box()
        assert box is not None
        return box["width"]

    def is_won(self) -> None:
        """Wait for the dialog that says so."""
        expect(self.page.get_by_role("dialog")).to_contain_text("Solved in")

    def close(self) -> None:
        """Close the window; anything that went wrong in it fails the test."""
        with contextlib.suppress(Exception):
            self.page.close()
        self.context.close()

    def has_no_troubles(self) -> None:
        """Nothing was complained of, and nobody but our server was asked for anything."""
        assert not self.troubles, self.troubles
        foreign = [
            url for url in self.requests if not url.startswith((self.url, "blob:" + self.url, "data:"))
        ]
        assert not foreign, foreign


def wait_until(happens: Any, seconds: float = 8) -> None:
    """Wait for something that the page itself cannot tell."""
    end = time.monotonic() + seconds
    while not happens():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)
