"""The deal of the day, its boards, and races, as the page shows what a server would say."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("playwright")

from playwright.sync_api import expect

from browser.conftest import OpenWindow
from browser.window import NEAR_THE_END, Window, wait_until
from servers import NO_LIMITS, LiveServer

if TYPE_CHECKING:
    from playwright.sync_api import WebSocketRoute

pytestmark = [pytest.mark.slow, pytest.mark.needs("chromium")]

HOUR = 3_600_000
RESULT = {
    "won": True, "score": 52, "help": "clean", "moves": 113, "undos": 0, "hints": 0, "autos": 0, "ms": 412_000, "ranked": True,
    "rank": 17,
}  # fmt: skip
NAMES = ("Ann", "Bo", "Chandra", "Dmitri", "Élodie")


class Contest:
    """Stands between a page and its server, and answers what is asked about days and races."""

    def __init__(self, window: Window, *, state: str = "not_started", **result: Any) -> None:
        self.state = state
        self.result = RESULT | result
        self.race: dict[str, Any] = {}
        self.asked: list[dict[str, Any]] = []
        self.route: WebSocketRoute | None = None
        window.page.route_web_socket(re.compile("/ws$"), self._opened)

    def _opened(self, route: WebSocketRoute) -> None:
        self.route = route
        server = route.connect_to_server()

        def to_server(text: str | bytes) -> None:
            frame = json.loads(text)
            reply = self._reply(frame)
            if reply is None:
                server.send(text)
                return
            self.asked.append(frame)
            route.send(json.dumps({"re": frame["id"], **reply}))

        route.on_message(to_server)
        server.on_message(route.send)

    def tell(self, **news: Any) -> None:
        """Send an event to the page."""
        assert self.route is not None
        self.route.send(json.dumps(news))

    def _reply(self, frame: dict[str, Any]) -> dict[str, Any] | None:
        match frame["type"]:
            case "daily":
                return self._daily(frame)
            case "leaderboard":
                return self._board(frame)
            case "race_join" if not self.race or frame["race"] != "r1":
                return {"type": "error", "code": "no_such_race", "message": "There is no such race."}
            case "race" | "race_join" | "rematch":
                return self.race
            case _:
                return None

    def _daily(self, frame: dict[str, Any]) -> dict[str, Any]:
        now = int(time.time() * 1000)
        date = frame.get("date", "2026-11-30")
        is_past = date < "2026-11-30"
        told = {
            "type": "daily", "date": date, "variant": frame.get("variant", "yukon"), "rules_hash": "x", "streak": 4, "best_streak": 11,
            "state": "over" if is_past else self.state, "opens": now - HOUR, "closes": now - HOUR if is_past else now + 13 * HOUR,
            "reveals": now + 19 * HOUR, "now": now, "commitment": {}, "proof": "proved", "revealed": is_past,
            "offered": [{"variant": "yukon"}, {"variant": "yukon-thicket", "level": 3}],
        }  # fmt: skip
        if "level" in frame:
            told["level"] = frame["level"]
        if told["state"] == "over":
            told |= {"game": "abc", "result": self.result}
        return told | ({"deal": "ck:7"} if is_past else {})

    def _board(self, frame: dict[str, Any]) -> dict[str, Any]:
        entries = [
            {"rank": number, "player": {"id": f"p{number}", "name": name}, "days": 7, "won": 1, "score": 52, "help": "clean",
             "assisted": 0, "moves": 100 + number, "ms": 60_000 * number, "game": f"g{number}"}
            for number, name in enumerate(NAMES, 1)
        ]  # fmt: skip
        me = entries[0] | {"rank": 17, "player": {"id": "mine"}}
        del me["game"]
        page = {"type": "leaderboard", "variant": "yukon", "period": frame["period"], "total": 40}
        if "after" in frame:
            return page | {"entries": [entries[4] | {"rank": 6, "player": {"id": "p6", "name": "Fatima"}}]}
        return page | {"entries": entries, "next": "6", "me": me, "around": [me]}

    def seats(self, *scores: int) -> list[dict[str, Any]]:
        """Three seats with their scores."""
        return [
            {"seat": seat, "player": {"id": f"p{seat}", "name": NAMES[seat]}, "status": "playing", "score": score, "moves": score}
            for seat, score in enumerate(scores)
        ]  # fmt: skip


def test_the_day_is_named_counted_down_and_begun(open_window: OpenWindow) -> None:
    window = open_window()
    contest = Contest(window)
    window.open()
    page = window.page
    page.get_by_role("link", name="Daily deal").click()
    expect(page.get_by_role("heading", level=2)).to_have_text("Daily deal of 2026-11-30 (UTC)")
    timer = page.get_by_role("timer")
    first = timer.inner_text()
    assert re.fullmatch(r"1[23]:\d\d:\d\d", first)
    wait_until(lambda: timer.inner_text() != first)
    expect(page.get_by_text("Streak: 4 days, best 11")).to_be_visible()
    expect(page.get_by_role("button", name="Play today’s deal")).to_be_visible()
    page.select_option("#daily-game", label="Yukon Thicket 3")
    expect(page.locator("#daily-game option:checked")).to_have_text("Yukon Thicket 3")
    assert contest.asked[-2]["level"] == 3


@pytest.mark.parametrize("zone", ("Pacific/Kiritimati", "Etc/GMT+12"))
def test_the_day_is_the_servers_wherever_the_player_lives(open_window: OpenWindow, zone: str) -> None:
    window = open_window(timezone_id=zone)
    Contest(window)
    window.open("/daily")
    page = window.page
    expect(page.get_by_role("heading", level=2)).to_have_text("Daily deal of 2026-11-30 (UTC)")
    before = page.get_by_role("link", name="The day before")
    assert (before.get_attribute("href") or "").startswith("/daily#2026-11-29/")


def test_a_day_that_is_over_is_shared_without_a_card_and_past_days_are_played_again(
    open_window: OpenWindow,
) -> None:
    window = open_window()
    window.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=window.url)
    Contest(window, state="over")
    window.open("/daily")
    page = window.page
    page.get_by_role("button", name="Copy result").click()
    expect(window.status).to_have_text("Copied.")
    line, squares, address = page.evaluate("navigator.clipboard.readText()").split("\n")
    assert line == "Yukon daily 2026-11-30 · solved · 113 moves · clean"
    assert squares == "🟩" * 13
    assert address == f"{window.url}/daily#2026-11-30/yukon"
    page.get_by_role("link", name="The day before").click()
    expect(page.get_by_role("heading", level=2)).to_have_text("Daily deal of 2026-11-29 (UTC)")
    page.get_by_role("button", name="Play this deal (it does not count)").click()
    expect(page.locator("#deal")).to_have_text("Deal ck:7")


def test_a_day_of_two_packs_is_shared_as_one_of_a_hundred_and_four_cards(open_window: OpenWindow) -> None:
    window = open_window()
    window.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=window.url)
    Contest(window, state="over", won=False, score=52)
    window.open("/daily#2026-11-29/double-freecell")
    window.page.get_by_role("button", name="Copy result").click()
    expect(window.status).to_have_text("Copied.")
    line, squares, _ = window.page.evaluate("navigator.clipboard.readText()").split("\n")
    assert line == "Double FreeCell daily 2026-11-29 · 52/104 · 113 moves · clean"
    assert squares == "🟩" * 7 + "⬜" * 6


def test_the_board_has_my_place_its_neighbours_and_the_games(open_window: OpenWindow) -> None:
    window = open_window(360, 640)
    contest = Contest(window)
    window.open("/daily")
    page = window.page
    lines = page.locator(".board tbody tr")
    expect(lines).to_have_count(7)
    expect(page.locator(".board [aria-current=true]")).to_contain_text("Guest mine")
    expect(page.get_by_role("link", name="Chandra")).to_have_attribute("href", "/replay/g3")
    page.get_by_role("button", name="Show more").click()
    expect(lines).to_have_count(8)
    page.get_by_role("button", name="All time").click()
    expect(page.get_by_role("button", name="All time")).to_have_attribute("aria-pressed", "true")
    assert contest.asked[-1]["period"] == "all"
    assert "date" not in contest.asked[-1]
    assert page.evaluate("document.querySelector('.lobby').scrollWidth <= innerWidth")


def test_a_race_is_joined_by_a_link_begins_for_all_and_shows_how_the_others_stand(
    open_window: OpenWindow,
) -> None:
    window = open_window()
    contest = Contest(window)
    window.deal("Yukon", NEAR_THE_END)
    page = window.page
    race = {"type": "race", "race": "r1", "key": "KEY", "state": "waiting", "variant": "yukon", "rules_hash": "x", "seats": 3,
            "players": contest.seats(0, 0), "seat": 1, "time": int(time.time() * 1000)}  # fmt: skip
    contest.race = race
    game = window.game
    window.open("/races/r1#key=KEY")
    expect(page.get_by_text("2 of 3 players are here.")).to_be_visible()
    assert "KEY" in {frame.get("key") for frame in contest.asked}
    expect(page.get_by_label("Link to join")).to_have_value(f"{window.url}/races/r1#key=KEY")
    contest.race = race | {"state": "running", "game": game, "players": contest.seats(12, 30, 7)}
    contest.tell(**contest.race)
    page.wait_for_url(f"**/games/{game}")
    strip = page.locator("#race")
    expect(strip).to_have_text("1. you 302. Ann 123. Chandra 7")
    contest.tell(
        type="race_progress", race="r1", players=[{"seat": 2, "status": "playing", "score": 51, "moves": 9}]
    )
    expect(strip).to_have_text("1. Chandra 512. you 303. Ann 12")
    # After a reload the seat is still there.
    page.reload()
    expect(strip).to_have_text("1. you 302. Ann 123. Chandra 7")
    contest.race |= {"state": "over"}
    contest.tell(**contest.race)
    strip.click()
    expect(page.get_by_text("The race is over.")).to_be_visible()
    page.get_by_role("button", name="Rematch").click()
    wait_until(lambda: contest.asked[-1]["type"] in {"rematch", "race_join"})


def test_nothing_of_it_is_shown_where_it_is_not_offered(open_window: OpenWindow) -> None:
    window = open_window()

    def refuses(route: WebSocketRoute) -> None:
        server = route.connect_to_server()

        def to_server(text: str | bytes) -> None:
            frame = json.loads(text)
            if frame["type"] in {"daily", "race_join"}:
                reply = {
                    "type": "error",
                    "re": frame["id"],
                    "code": "not_offered",
                    "message": "This server does not offer that.",
                }
                route.send(json.dumps(reply))
            else:
                server.send(text)

        route.on_message(to_server)
        server.on_message(route.send)

    window.page.route_web_socket(re.compile("/ws$"), refuses)
    window.open()
    expect(window.page.locator(".variant")).to_have_count(4)
    expect(window.page.locator("#daily")).to_be_hidden()
    window.page.keyboard.press("n")
    expect(window.page.locator("#new-deal")).to_be_visible()
    expect(window.page.locator("#new-seats")).to_have_count(0)


@pytest.fixture(scope="module")
def races(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    """A server on which races begin at once."""
    flags = [part for name in (*NO_LIMITS, "race_countdown") for part in ("--limit", f"{name}=0")]
    with LiveServer(tmp_path_factory.mktemp("races"), *flags) as running:
        yield running


def make_a_move(window: Window) -> None:
    """Make some move that the rules allow."""
    for name in [f"t{number}" for number in range(1, 8)]:
        for n in range(1, 6):
            if n > window.count(name):
                break
            window.tap(name, n)
            window.page.wait_for_timeout(60)
            if window.page.inner_text("#moves") == "1":
                return
            if window.page.locator(".target").count():
                target = window.page.locator(".target").first
                window.tap(target.evaluate("(node) => node.closest('[data-pile]').dataset.pile"))
                expect(window.page.locator("#moves")).to_have_text("1")
                return
            window.page.keyboard.press("Escape")
    raise AssertionError("no card could be moved")


def test_two_players_race_on_one_deal_and_have_their_revenge(
    open_window: OpenWindow, races: LiveServer
) -> None:
    first, second = open_window(), open_window(390, 844)
    for window, name in ((first, "Ann"), (second, "Bo")):
        window.url = f"http://127.0.0.1:{races.port}"
        window.settings(name=name).open()
    page, other = first.page, second.page
    page.keyboard.press("n")
    expect(page.locator("#new-variant option").first).to_be_attached()
    page.fill("#new-seats", "2")
    page.get_by_role("button", name="Deal", exact=True).click()
    expect(page.get_by_text("1 of 2 players are here.")).to_be_visible()
    link = page.get_by_label("Link to join").input_value()
    second.open(link.removeprefix(second.url))
    for window in (first, second):
        window.page.wait_for_url("**/games/*")
        expect(window.page.locator("#table .card")).to_have_count(52)
    assert first.piles() == second.piles()
    assert first.game != second.game
    expect(page.locator("#race")).to_have_text(re.compile("you 0.*Bo 0|Bo 0.*you 0"))
    # Neither hints nor Auto are there; a move of one's own is seen by the other, who looks at the standings meanwhile.
    expect(page.locator("#do-auto")).to_have_attribute("aria-disabled", "true")
    other.locator("#race").click()
    expect(other.locator(".board tbody tr")).to_have_text(
        [re.compile("Ann00going on"), re.compile("you00going on")]
    )
    make_a_move(first)
    expect(other.locator(".board tbody tr").filter(has_text="Ann")).to_have_text(
        re.compile("Ann[01]1going on")
    )
    other.get_by_role("link", name="To my table").click()
    for window in (first, second):
        window.page.locator("#do-giveup").click()
        window.page.get_by_role("button", name="Yes, give up").click()
    for window in (first, second):
        window.page.get_by_role("dialog").get_by_role("link", name="Leaderboard").click()
        expect(window.page.get_by_text("The race is over.")).to_be_visible()
    expect(page.locator(".board [aria-current=true]")).to_contain_text("you")
    old = page.url
    for window in (first, second):
        window.page.get_by_role("button", name="Rematch").click()
    for window in (first, second):
        window.page.wait_for_url("**/games/*")
    assert page.url != old
    for window in (first, second):
        expect(window.page.locator("#table .card")).to_have_count(52)
    assert first.piles() == second.piles()


def test_games_that_are_played_are_listed_and_may_be_closed(open_window: OpenWindow) -> None:
    player, watcher = open_window().settings(name="Ann"), open_window()
    player.deal("Yukon Cells", "ms:24")
    watcher.open()
    page = watcher.page
    # The server makes its list anew once a second.
    heading = page.get_by_role("heading", name="Watch others play")
    while not heading.count():
        page.reload()
        expect(page.locator("#mine")).to_contain_text("No games yet.")
        page.wait_for_timeout(300)
    entry = page.locator(f".entry[href='/games/{player.game}']")
    expect(entry).to_contain_text("Ann")
    entry.click()
    expect(page.locator("#viewers")).to_contain_text("watching")
    player.page.get_by_role("button", name="Menu", exact=True).click()
    player.page.get_by_role("button", name="Share", exact=True).click()
    player.page.select_option("#share-watch", "closed")
    expect(watcher.status).to_have_text("Its player has closed this game to watchers.")
    expect(page.locator("#table .card")).to_have_count(0)
    # By a link with a key the game is seen again.
    player.page.select_option("#share-watch", "key")
    expect(player.page.get_by_label("Link to watch")).to_have_value(re.compile("#watch=."))
    link = player.page.get_by_label("Link to watch").input_value()
    watcher.open(link.removeprefix(watcher.url))
    expect(page.locator("#table .card")).to_have_count(52)


def test_a_finished_game_is_raced_against_its_recording(open_window: OpenWindow, races: LiveServer) -> None:
    window = open_window()
    window.url = f"http://127.0.0.1:{races.port}"
    window.deal("Yukon", NEAR_THE_END)
    window.page.keyboard.press("s")
    window.is_won()
    window.page.get_by_role("link", name="Watch replay").click()
    window.page.get_by_role("button", name="Menu", exact=True).click()
    window.page.get_by_role("button", name="Race against this game").click()
    window.page.wait_for_url("**/games/*")
    expect(window.page.locator("#race")).to_contain_text("the recording")


@pytest.fixture(scope="module")
def days(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    """A server with the deal of a day, which it has to search for."""
    flags = [part for name in (*NO_LIMITS, "pool_deals", "advice_ms") for part in ("--limit", f"{name}=0")]
    with LiveServer(tmp_path_factory.mktemp("days"), *flags, "--daily", "yukon-cells") as running:
        yield running


@pytest.mark.slow
def test_the_deal_of_a_day_is_played_on_a_real_server(open_window: OpenWindow, days: LiveServer) -> None:
    window = open_window().settings(name="Ann")
    window.url = f"http://127.0.0.1:{days.port}"
    window.open("/daily")
    page = window.page
    expect(page.locator("#daily-game option:checked")).to_have_text("Yukon Cells", timeout=30_000)
    start = page.get_by_role("button", name="Play today’s deal")
    start.click()
    expect(window.status).to_have_text("Dealing…")

    def is_dealt() -> bool:
        # Where the search takes longer than the page asks again by itself.
        if window.says.startswith("The deal of the day is being chosen"):
            start.click()
        page.wait_for_timeout(200)
        return "/games/" in page.url

    wait_until(is_dealt, seconds=400)
    expect(page.locator("#table .card")).to_have_count(52)
    make_a_move(window)
    shown = window.piles()
    page.reload()
    expect(page.locator("#table .card")).to_have_count(52)
    assert window.piles() == shown
    # In another tab the same attempt goes on; to others it is as if it were not there.
    second = Window(window.context, window.url).open("/daily")
    second.page.get_by_role("link", name="Continue").click()
    expect(second.page.locator("#moves")).to_have_text("1")
    stranger = open_window()
    stranger.url = window.url
    stranger.open(f"/games/{window.game}")
    expect(stranger.status).to_have_text("There is no such game, or it is not yours to see.")
    page.locator("#do-giveup").click()
    page.get_by_role("button", name="Yes, give up").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text(re.compile(r"Yukon Cells daily \d{4}-\d\d-\d\d · \d/52 · 1 move · clean"))
    dialog.get_by_role("link", name="Leaderboard").click()
    expect(page.locator(".board tbody tr")).to_have_text(re.compile("^1Ann[01]clean1"))
    # Of a game that counts no picture is served, and none is asked for.
    page.locator("#brand").click()
    expect(page.locator(".entry")).to_have_count(1)
    expect(page.locator(".entry img")).to_have_count(0)
    second.has_no_troubles()
