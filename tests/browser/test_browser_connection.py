"""Connections that break, servers that are killed, windows that share a player: nothing is lost, and nothing done twice."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("playwright")

from playwright.sync_api import expect

from browser.conftest import OpenWindow
from browser.window import NEAR_THE_END, TO_THE_END, Window, wait_until
from servers import LiveServer

if TYPE_CHECKING:
    from playwright.sync_api import WebSocketRoute

pytestmark = pytest.mark.needs("chromium")


class Line:
    """The line between a page and its server: it can be cut at any frame, and frames on it can be lost or counted."""

    def __init__(self, window: Window) -> None:
        self.sent: list[dict[str, Any]] = []
        self.came: list[dict[str, Any]] = []
        self.on_send: Callable[[dict[str, Any]], bool] = lambda frame: True
        self.on_come: Callable[[dict[str, Any]], bool] = lambda frame: True
        self.is_cut = False
        self.routes: list[WebSocketRoute] = []
        # The page's own origin, since a socket that is opened for it has none.
        window.page.route_web_socket(re.compile("/ws$"), self._opened)

    def _opened(self, route: WebSocketRoute) -> None:
        if self.is_cut:
            route.close(code=1013, reason="the line is cut")
            return
        self.routes.append(route)
        server = route.connect_to_server()

        def to_server(text: str | bytes) -> None:
            frame = json.loads(text)
            if self.on_send(frame):
                self.sent.append(frame)
                server.send(text)
            else:
                self.cut(route, server)

        def to_page(text: str | bytes) -> None:
            frame = json.loads(text)
            if self.on_come(frame):
                self.came.append(frame)
                route.send(text)
            elif frame.get("lost") is None:
                self.cut(route, server)

        route.on_message(to_server)
        server.on_message(to_page)

    def cut(self, route: WebSocketRoute, server: WebSocketRoute) -> None:
        """Both ends are told that the other is gone; what was on its way is lost."""
        server.close(code=1000)
        route.close(code=1011)


def share_key(window: Window) -> str:
    """The key of a co-player, from the link in the dialog."""
    window.page.get_by_role("button", name="Menu", exact=True).click()
    window.page.get_by_role("button", name="Share", exact=True).click()
    link = window.page.get_by_label("Link to play together").input_value()
    window.page.keyboard.press("Escape")
    return link.rpartition("#key=")[2]


def once(fits: Callable[[dict[str, Any]], bool]) -> Callable[[dict[str, Any]], bool]:
    """Let everything pass but the first frame that fits."""
    left = [True]

    def passes(frame: dict[str, Any]) -> bool:
        if left[0] and fits(frame):
            left[0] = False
            return False
        return True

    return passes


@pytest.mark.parametrize(
    "where",
    (
        "before the diff is read",
        pytest.param("before the move is sent", marks=pytest.mark.slow),
        pytest.param("before the list of moves", marks=pytest.mark.slow),
    ),
)
def test_a_cut_line_loses_no_move_and_makes_none_twice(open_window: OpenWindow, where: str) -> None:
    window = open_window(calm=False)
    line = Line(window)
    window.deal("Yukon", NEAR_THE_END)
    match where:
        case "before the move is sent":
            line.on_send = once(lambda frame: frame["type"] == "move")
        case "before the diff is read":
            line.on_come = once(lambda frame: frame["type"] == "diff")
        case _:
            line.on_come = once(lambda frame: frame["type"] == "legal")
    window.tap("t1", 2)
    window.tap("t6")
    window.wait_for_cards("t6", 2)
    expect(window.page.locator("#moves")).to_have_text("1", timeout=10_000)
    expect(window.page.locator("html[data-net=online]")).to_be_attached()
    line.on_send = line.on_come = lambda frame: True
    moves = {frame["id"] for frame in line.sent if frame["type"] == "move"}
    assert len(moves) == 1
    window.move_by_tap(TO_THE_END[1])
    expect(window.page.locator("#moves")).to_have_text("2")


@pytest.mark.slow
def test_the_line_may_break_at_every_step_of_a_game(open_window: OpenWindow) -> None:
    window = open_window(calm=False)
    line = Line(window)
    window.deal("Yukon", NEAR_THE_END)
    for number, move in enumerate(TO_THE_END):
        if number % 2:
            line.on_come = once(lambda frame: frame["type"] == "diff")
        else:
            line.on_send = once(lambda frame: frame["type"] == "move")
        window.move_by_tap(move)
        expect(window.page.locator("#moves")).to_have_text(str(number + 1), timeout=15_000)
    window.is_won()
    expect(window.page.get_by_role("dialog")).to_contain_text("Solved in 13 moves")


@pytest.mark.slow
def test_a_diff_that_never_came_is_noticed_and_the_table_brought_up_to_date(open_window: OpenWindow) -> None:
    window = open_window()
    line = Line(window)
    window.deal("Yukon", NEAR_THE_END)
    other = open_window()
    key = share_key(window)
    other.open(f"/games/{window.game}#key={key}")
    other.wait_for_cards("t5", 3)

    def loses(frame: dict[str, Any]) -> bool:
        if frame["type"] == "diff":
            frame["lost"] = True
            return False
        return True

    line.on_come = loses
    other.move_by_tap(TO_THE_END[0])
    window.page.wait_for_timeout(300)
    line.on_come = lambda frame: True
    other.move_by_tap(TO_THE_END[1])
    window.wait_for_cards("f1", 11)
    assert window.piles() == other.piles()
    assert [frame["type"] for frame in line.sent].count("sync") == 1


@pytest.mark.slow
def test_two_windows_of_one_player_stay_equal(open_window: OpenWindow) -> None:
    first = open_window().deal("Yukon", NEAR_THE_END)
    second = Window(first.context, first.url)
    second.open(f"/games/{first.game}")
    second.wait_for_cards("t5", 3)
    for number, move in enumerate(TO_THE_END[:6]):
        (first, second)[number % 2].move_by_tap(move)
        for window in (first, second):
            expect(window.page.locator("#moves")).to_have_text(str(number + 1))
    assert first.piles() == second.piles()
    # Both were greeted one after the other and hold the same, latest token.
    for window in (first, second):
        window.page.reload()
        window.wait_for_cards("f4", 11)
        expect(window.page.locator("#do-undo")).to_have_attribute("aria-disabled", "false")
    # At the same moment, both act: one is told that the table has changed, none is made on another table than was seen.
    first.page.keyboard.press("u")
    second.page.keyboard.press("u")
    wait_until(
        lambda: (
            first.piles() == second.piles()
            and first.page.inner_text("#moves") == second.page.inner_text("#moves")
        )
    )
    second.has_no_troubles()


@pytest.mark.slow
def test_a_copied_window_is_a_window_of_its_own(open_window: OpenWindow) -> None:
    first = open_window().deal("Yukon", NEAR_THE_END)
    session = first.page.evaluate("sessionStorage['chilkoot.session']")
    second = Window(first.context, first.url)
    second.page.add_init_script(f"sessionStorage['chilkoot.session'] ||= {json.dumps(session)}")
    second.open(f"/games/{first.game}")
    second.move_by_tap(TO_THE_END[0])
    expect(first.page.locator("#moves")).to_have_text("1")
    first.move_by_tap(TO_THE_END[1])
    expect(second.page.locator("#moves")).to_have_text("2")
    sessions = [window.page.evaluate("sessionStorage['chilkoot.session']") for window in (first, second)]
    assert sessions[0] != sessions[1]


def test_a_reload_brings_back_the_table_and_what_may_be_undone(open_window: OpenWindow) -> None:
    window = open_window().deal("Yukon", NEAR_THE_END)
    start = window.piles()
    window.move_by_tap(TO_THE_END[0])
    expect(window.page.locator("#moves")).to_have_text("1")
    after = window.piles()
    window.tap("t5", 2)
    window.page.reload()
    window.wait_for_cards("t6", 2)
    assert window.piles() == after
    expect(window.page.locator(".lift")).to_have_count(0)
    window.page.keyboard.press("u")
    expect(window.status).to_have_text(re.compile("^Taken back"))
    assert window.piles() == start


@pytest.mark.slow
def test_a_closed_window_is_taken_up_in_another(open_window: OpenWindow) -> None:
    window = open_window().deal("Yukon", NEAR_THE_END)
    window.move_by_tap(TO_THE_END[0])
    expect(window.page.locator("#moves")).to_have_text("1")
    shown = window.piles()
    again = Window(window.context, window.url)
    window.page.close()
    again.open()
    again.page.locator("#continue").click()
    again.wait_for_cards("t6", 2)
    assert again.piles() == shown
    expect(again.page.locator("#do-undo")).to_have_attribute("aria-disabled", "false")


@pytest.fixture
def own_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    with LiveServer(tmp_path_factory.mktemp("killed")) as running:
        yield running


@pytest.mark.slow
def test_a_killed_server_costs_nothing(open_window: OpenWindow, own_server: LiveServer) -> None:
    window = open_window(calm=False)
    window.url = f"http://127.0.0.1:{own_server.port}"
    window.deal("Yukon", NEAR_THE_END)
    window.move_by_tap(TO_THE_END[0])
    expect(window.page.locator("#moves")).to_have_text("1")
    own_server.kill()
    expect(window.page.locator("#banner")).to_be_visible()
    # What is done meanwhile is shown, said to wait, and carried out once the server is back.
    window.tap("t2")
    window.wait_for_cards("f1", 11)
    expect(window.status).to_have_text(re.compile("Not sent yet|connection"))
    own_server.start()
    expect(window.page.locator("html[data-net=online]")).to_be_attached(timeout=20_000)
    expect(window.page.locator("#moves")).to_have_text("2")
    expect(window.page.locator("#banner")).to_be_hidden()
    window.move_by_tap(TO_THE_END[2])


@pytest.mark.slow
def test_the_state_of_the_connection_is_seen_in_every_view(
    open_window: OpenWindow, own_server: LiveServer
) -> None:
    window = open_window(calm=False)
    window.url = f"http://127.0.0.1:{own_server.port}"
    window.deal("Yukon", NEAR_THE_END)
    game = window.game
    window.page.keyboard.press("s")
    window.is_won()
    window.page.goto(f"{window.url}/replay/{game}")
    expect(window.page.locator("#re-pos")).to_have_text("1 / 1")
    lobby = Window(window.context, window.url).open()
    # The page and its parts are kept while there is a server; `ready` never comes where that fails.
    kept = "new Promise((is, no) => { navigator.serviceWorker.ready.then(() => is(0)); setTimeout(no, 20000, 'not kept'); })"
    lobby.page.evaluate(kept)
    own_server.stop()
    for shown in (window, lobby):
        expect(shown.page.locator("#banner")).to_be_visible()
        expect(shown.page.locator("#banner")).to_have_text(
            "The connection was lost. Play goes on when it is back."
        )
    # What is kept of the page opens without a server, and says how things are.
    lobby.page.goto(lobby.url)
    expect(lobby.page.get_by_role("heading", name="Yukon and its family")).to_be_visible()
    own_server.start()
    expect(window.page.locator("html[data-net=online]")).to_be_attached(timeout=20_000)
