"""Everything around the table: first page, new games, replay, sharing, settings, words, and what others may try to put in."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

pytest.importorskip("playwright")

from playwright.sync_api import expect

from browser.conftest import OpenWindow
from browser.test_browser_layout import LONG_COLUMN, WEB
from browser.window import NEAR_THE_END, TO_THE_END, Window, wait_until

pytestmark = pytest.mark.needs("chromium")

CARD = re.compile(r"\b[A23456789TJQK][CDHS]\b")


def won(window: Window) -> Window:
    """A game that is won by one group move and what goes home after it."""
    window.deal("Yukon", NEAR_THE_END)
    window.move_by_tap(TO_THE_END[0])
    expect(window.page.locator("#moves")).to_have_text("1")
    window.page.keyboard.press("s")
    window.is_won()
    return window


def test_the_first_page_offers_games_and_keeps_mine(open_window: OpenWindow) -> None:
    window = open_window().open()
    page = window.page
    expect(page.locator(".variant h4")).to_have_text(["Yukon", "Yakutat Bay", "Yukon Cells", "Yukon Thicket"])
    expect(page.locator("#mine")).to_have_text("No games yet.")
    page.get_by_role("button", name="Deal: Yakutat Bay").click()
    expect(page.locator("#vname")).to_have_text("Yakutat Bay")
    expect(page.locator("#table .card")).to_have_count(52)
    page.locator("#brand").click()
    entry = page.locator(".entry")
    expect(entry).to_have_count(1)
    expect(entry).to_have_attribute("aria-label", "Yakutat Bay, going on, 0 home, 0 moves")
    wait_until(lambda: entry.locator("img").evaluate("image => image.complete && image.naturalWidth > 0"))
    entry.click()
    expect(page.locator("#table .card")).to_have_count(52)
    page.go_back()
    expect(page.locator(".entry")).to_have_count(1)


@pytest.mark.slow
def test_the_page_of_how_to_play_is_a_link(open_window: OpenWindow) -> None:
    window = open_window().open()
    window.page.get_by_role("link", name="How to play: Yukon", exact=True).click()
    expect(window.page.get_by_role("heading", level=1)).to_have_text("Yukon")


def test_a_deal_is_named_copied_typed_and_dealt_again(open_window: OpenWindow) -> None:
    window = open_window()
    window.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=window.url)
    window.deal("Yukon Thicket", "24", level=3)
    page = window.page
    expect(page.locator("#vname")).to_have_text("Yukon Thicket 3")
    expect(page.locator("#deal")).to_have_text("Deal ck:24")
    first = window.piles()
    page.locator("#deal").click()
    expect(window.status).to_have_text("Copied.")
    assert page.evaluate("navigator.clipboard.readText()") == "ck:24"
    window.deal("Yukon Thicket", "ck:24", level=3)
    assert window.piles() == first
    page.get_by_role("button", name="Menu", exact=True).click()
    page.get_by_role("button", name="Restart this deal").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.locator("#moves")).to_have_text("0")
    assert window.piles() == first


@pytest.mark.slow
def test_a_deal_that_cannot_be_is_told_in_the_dialog(open_window: OpenWindow) -> None:
    window = open_window().open()
    page = window.page
    page.keyboard.press("n")
    expect(page.locator("#new-variant option").first).to_be_attached()
    page.fill("#new-deal", "t1: AC AC")
    page.press("#new-deal", "Enter")
    expect(page.get_by_role("alert")).not_to_be_empty()
    expect(page.get_by_role("dialog")).to_be_visible()


@pytest.mark.slow
def test_a_fresh_deal_is_not_named_before_the_end(open_window: OpenWindow) -> None:
    window = open_window().deal("Yukon")
    expect(window.page.locator("#deal")).to_be_hidden()


def test_a_finished_game_opens_in_its_replay(open_window: OpenWindow) -> None:
    window = won(open_window())
    page, game = window.page, window.game
    window.open(f"/games/{game}")
    expect(page.locator("#re-pos")).to_have_text("2 / 2")
    assert f"/replay/{game}" in page.url
    window.open(f"/replay/{game}#at=1")
    expect(page.locator("#re-pos")).to_have_text("1 / 2")
    assert window.count("t6") == 2
    page.get_by_role("button", name="One action back").click()
    assert window.count("t6") == 0
    assert window.page.url.endswith("#at=0")
    page.locator("#re-at").fill("2")
    assert window.count("f4") == 13
    expect(page.locator("#score")).to_have_text("52")
    # Another player may see it too: it is over, and was open to all.
    guest = open_window().open(f"/replay/{game}#at=1")
    expect(guest.page.locator("#re-pos")).to_have_text("1 / 2")


@pytest.mark.slow
def test_a_replay_at_eight_times_shows_every_action(open_window: OpenWindow) -> None:
    window = open_window().deal("Yukon", NEAR_THE_END)
    for move in TO_THE_END:
        window.move_by_tap(move)
    window.is_won()
    page = window.page
    page.get_by_role("link", name="Watch replay").click()
    expect(page.locator("#re-pos")).to_have_text("13 / 13")
    page.keyboard.press("Home")
    for shown in ("2×", "4×", "8×"):
        page.get_by_role("button", name="Speed").click()
        expect(page.locator("#re-speed")).to_have_text(shown)
    page.evaluate("""() => { const pos = document.getElementById('re-pos'); window.seen = [pos.textContent];
        new MutationObserver(() => { if (window.seen.at(-1) !== pos.textContent) window.seen.push(pos.textContent); })
            .observe(pos, {childList: true, subtree: true, characterData: true}); }""")
    page.get_by_role("button", name="Play", exact=True).click()
    expect(page.locator("#re-pos")).to_have_text("13 / 13")
    assert page.evaluate("window.seen") == [f"{at} / 13" for at in range(14)]
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()
    page.get_by_role("button", name="Speed").click()
    expect(page.locator("#re-speed")).to_have_text("0.5×")


@pytest.mark.slow
def test_a_live_game_can_be_looked_back_on(open_window: OpenWindow) -> None:
    window = open_window().deal("Yukon", NEAR_THE_END)
    window.move_by_tap(TO_THE_END[0])
    expect(window.page.locator("#moves")).to_have_text("1")
    window.page.get_by_role("button", name="Menu", exact=True).click()
    window.page.get_by_role("link", name="Replay").click()
    expect(window.page.locator("#re-pos")).to_have_text("1 / 1")
    window.page.keyboard.press("ArrowLeft")
    assert window.count("t6") == 0
    assert window.piles()["t1"] == ["??", "KS", "QH"]


@pytest.mark.slow
def test_a_replay_shows_where_the_game_could_still_be_won(open_window: OpenWindow) -> None:
    window = open_window()
    asked: list[int] = []

    def searched(route: Any) -> None:
        server = route.connect_to_server()

        def to_server(text: str | bytes) -> None:
            frame = json.loads(text)
            if frame["type"] != "analyse":
                server.send(text)
                return
            # A search takes its time: the first answer is to ask again.
            asked.append(frame["id"])
            reply: dict[str, Any] = {
                "re": frame["id"],
                "type": "error",
                "code": "busy",
                "message": "…",
                "retry_after_ms": 50,
            }
            if len(asked) > 12:
                verdicts = ["winnable", "unknown", "lost"]
                reply = {"re": frame["id"], "type": "analysis", "game": frame["game"], "solver": 1, "verdicts": verdicts,
                         "last_winnable": 0}  # fmt: skip
            route.send(json.dumps(reply))

        route.on_message(to_server)
        server.on_message(route.send)

    window.page.route_web_socket(re.compile("/ws$"), searched)
    won(window)
    page = window.page
    page.get_by_role("link", name="Watch replay").click()
    verdict = page.locator("#re-verdict")
    expect(verdict).to_have_text("✕ is lost")
    expect(page.locator("#re-at")).to_have_attribute("aria-valuetext", "action 2 of 2 ✕ is lost")
    expect(page.locator("#re-marks i")).to_have_count(3)
    # What is lost differs by its pattern, not by its colour alone.
    lost = page.locator("#re-marks .lost")
    assert "repeating-linear-gradient" in lost.evaluate("(node) => getComputedStyle(node).backgroundImage")
    page.keyboard.press("ArrowLeft")
    expect(verdict).to_have_text("? not known")
    verdict.click()
    expect(verdict).to_have_text("✓ can be won")
    expect(page.locator("#re-pos")).to_have_text("0 / 2")


def test_what_is_shared_names_no_card(open_window: OpenWindow) -> None:
    window = open_window()
    window.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=window.url)
    won(window)
    page = window.page
    blocks = page.locator("dialog .sq")
    expect(blocks).to_have_attribute("aria-hidden", "true")
    page.get_by_role("button", name="Copy result").click()
    expect(window.status).to_have_text("Copied.")
    text = page.evaluate("navigator.clipboard.readText()")
    lines = text.split("\n")
    assert lines[0] == "Yukon · solved · 2 moves · no undo"
    assert lines[1] == "🟩" * 13
    assert lines[2] == f"{window.url}/replay/{window.game}"
    assert not CARD.search(text.replace(window.game, ""))
    with page.expect_download() as download:
        page.get_by_role("button", name="Save picture").click()
    assert download.value.suggested_filename == f"chilkoot-{window.game}.png"
    assert download.value.path().read_bytes()[:4] == b"\x89PNG"


@pytest.mark.slow
def test_watchers_and_players_come_by_links(open_window: OpenWindow) -> None:
    window = open_window().deal("Yukon", NEAR_THE_END)
    page = window.page
    page.get_by_role("button", name="Menu", exact=True).click()
    page.get_by_role("button", name="Share", exact=True).click()
    watch = page.get_by_label("Link to watch").input_value()
    play = page.get_by_label("Link to play together").input_value()
    page.keyboard.press("Escape")
    watcher, partner = open_window(), open_window()
    watcher.open(watch.removeprefix(window.url))
    watcher.wait_for_cards("t5", 3)
    expect(watcher.page.locator("#viewers")).to_contain_text("watching")
    expect(watcher.page.locator("#do-hint")).to_have_attribute("aria-disabled", "true")
    watcher.tap("t2")
    expect(watcher.status).to_have_text("You are watching; only players may move.")
    partner.open(play.removeprefix(window.url))
    partner.wait_for_cards("t5", 3)
    partner.move_by_tap(TO_THE_END[0])
    for one in (window, watcher):
        one.wait_for_cards("t6", 2)
        expect(one.status).to_have_text("King of spades and 1 card to column 6. Turned up queen of clubs.")
    assert window.piles() == watcher.piles() == partner.piles()


@pytest.mark.slow
def test_a_private_game_is_shown_to_nobody_else(open_window: OpenWindow) -> None:
    window = open_window().open()
    page = window.page
    page.keyboard.press("n")
    expect(page.locator("#new-variant option").first).to_be_attached()
    page.select_option("#new-watch", "closed")
    page.get_by_role("button", name="Deal", exact=True).click()
    expect(page.locator("#table .card")).to_have_count(52)
    game = window.game
    stranger = open_window().open(f"/games/{game}")
    expect(stranger.status).to_have_text("There is no such game, or it is not yours to see.")
    # In the list it has no picture, for none is served.
    page.locator("#brand").click()
    expect(page.locator(".entry")).to_have_count(1)
    expect(page.locator(".entry img")).to_have_count(0)


@pytest.mark.slow
def test_the_way_back_leads_past_a_game_that_is_not_there(open_window: OpenWindow) -> None:
    window = open_window().open()
    window.page.goto(f"{window.url}/rules/yukon")
    window.page.goto(f"{window.url}/games/none")
    expect(window.status).to_have_text("There is no such game, or it is not yours to see.")
    window.page.go_back()
    expect(window.page.get_by_role("heading", level=1)).to_have_text("Yukon")


@pytest.mark.slow
def test_nothing_can_be_pressed_before_there_is_a_table(open_window: OpenWindow) -> None:
    window = open_window()
    window.page.route_web_socket(re.compile("/ws$"), lambda route: None)
    for view, button in (("games", "#do-undo"), ("replay", "#re-play")):
        window.page.goto(f"{window.url}/{view}/none")
        expect(window.page.locator("html[data-view=lobby]")).to_have_count(0)
        expect(window.page.locator(button)).to_be_hidden()
        for key in ("u", "ArrowLeft", "End", " "):
            window.page.keyboard.press(key)


@pytest.mark.slow
def test_settings_are_kept(open_window: OpenWindow) -> None:
    window = open_window().deal("Yukon", NEAR_THE_END)
    page = window.page
    page.get_by_role("button", name="Menu", exact=True).click()
    page.get_by_role("button", name="Settings").click()
    page.select_option("#set-theme", "light")
    page.select_option("#set-deck", "4")
    page.select_option("#set-speed", "0")
    for name in ("mark", "large", "left"):
        page.check(f"#set-{name}")
    page.uncheck("#set-letters")
    page.keyboard.press("Escape")
    page.reload()
    window.wait_for_cards("t5", 3)
    data = page.evaluate("({...document.documentElement.dataset})")
    assert (data["theme"], data["deck"], data["mark"], data["hand"]) == ("light", "4", "1", "left")
    table, foundation = (
        window.page.locator("#table").bounding_box(),
        window.pile("f1").locator(".slot").bounding_box(),
    )
    assert table is not None
    assert foundation is not None
    assert foundation["x"] < table["x"] + table["width"] / 2
    assert page.locator("#table").get_attribute("data-size") == "s"
    page.get_by_role("button", name="Menu", exact=True).click()
    page.get_by_role("button", name="Settings").click()
    page.select_option("#set-language", "de")
    expect(page.locator("html")).to_have_attribute("lang", "de")
    expect(page.get_by_role("button", name="Aufgeben")).to_be_visible()


@pytest.mark.slow
def test_a_card_may_need_two_taps_to_go_home(open_window: OpenWindow) -> None:
    window = open_window().settings(tap=False).deal("Yukon", NEAR_THE_END)
    window.tap("t2")
    expect(window.page.locator(".card.lift")).to_have_count(1)
    window.tap("t2")
    window.wait_for_cards("f1", 11)


@pytest.mark.slow
def test_a_game_that_builds_in_suit_has_four_colours(open_window: OpenWindow) -> None:
    window = open_window().deal("Russian Solitaire", "7")
    expect(window.page.locator("html")).to_have_attribute("data-deck", "4")
    window.deal("Yukon", "7")
    expect(window.page.locator("html")).to_have_attribute("data-deck", "2")


def test_german_is_spoken_too(open_window: OpenWindow) -> None:
    window = open_window(locale="de-DE").open()
    page = window.page
    expect(page.locator("html")).to_have_attribute("lang", "de")
    expect(page.get_by_role("heading", name="Meine Spiele")).to_be_visible()
    window.deal("Yukon", NEAR_THE_END)
    window.tap("t3", 2)
    expect(window.status).to_have_text("Karo Dame und 1 Karte darauf aufgenommen – 0 Ziele")
    window.tap("t6")
    expect(window.status).to_have_text("In eine leere Spalte kommt nur ein König.")
    expect(page.get_by_role("button", name="Aufgeben")).to_be_visible()


def table_of_words() -> dict[str, list[str]]:
    """Each message's words, a text a language."""
    lines = (WEB / "words.js").read_text().partition("const TABLE = `\n")[2].partition("\n`;")[0].split("\n")
    table = {}
    for line in lines:
        name, is_there, text = line.partition(" = ")
        assert is_there, line
        assert name not in table, name
        table[name] = text.split(" / ")
    return table


def test_every_language_fills_in_the_same_values() -> None:
    for name, texts in table_of_words().items():
        assert 1 <= len(texts) <= 2, name
        # Reasons come in English from the server.
        assert texts[0].strip() or name.startswith("no."), name
        found = [set(re.findall(r"\{(\w+)", text)) for text in texts if text.strip()]
        assert all(values == found[0] for values in found), name


def test_every_message_that_is_said_has_its_words() -> None:
    ids = set(table_of_words())
    assert {
        "no.same_color",
        "no.needs_king",
        "no.wrong_rank",
        "no.no_return",
        "no.face_down",
        "no.stale",
    } <= ids
    said = {
        word
        for path in WEB.glob("*.js")
        for word in re.findall(r"(?<![\w.$])t\('([\w.]+)'", path.read_text())
    }
    assert said
    assert said <= ids, said - ids


NAMES = (
    "<script>x=1</script>", "<svg/onload=alert()>", "<img src=x onerror=x=1>", "\"><b>", "{{7*7}}", "javascript:x=1",
    "'-alert(1)-'", "</title><script>x=1</script>",
)  # fmt: skip


def test_what_others_write_is_never_markup(open_window: OpenWindow) -> None:
    window = open_window()
    page = window.page
    page.on("dialog", lambda dialog: window.troubles.append(f"dialog: {dialog.message}"))

    def poisoned(route: Any) -> None:
        server = route.connect_to_server()

        def to_page(text: str | bytes) -> None:
            frame = json.loads(text)
            if frame["type"] == "variants":
                for number, one in enumerate(frame["variants"]):
                    one["name"] = one["summary"] = one["family"] = NAMES[number % len(NAMES)]
            if frame["type"] == "hint":
                frame["message"] = NAMES[2]
            if frame["type"] == "snapshot":
                frame["deal"] = NAMES[1]
            route.send(json.dumps(frame))

        route.on_message(server.send)
        server.on_message(to_page)

    page.route_web_socket(re.compile("/ws$"), poisoned)
    window.open()
    expect(page.locator(".variant")).to_have_count(4)
    page.locator("#play-yukon").click()
    expect(page.locator("#table .card")).to_have_count(52)
    expect(page.locator("#deal")).to_have_text(f"Deal {NAMES[1]}")
    page.keyboard.press("h")
    expect(window.status).to_have_text(f"Hint: {NAMES[2]}")
    page.keyboard.press("n")
    expect(page.get_by_role("dialog")).to_be_visible()
    assert page.locator("b b, script:not([src]), img, dialog svg[onload]").count() == 0
    assert page.evaluate("window.x") is None


def test_dailies_are_hidden_while_the_server_has_none(open_window: OpenWindow) -> None:
    window = open_window().open()
    expect(window.page.locator(".variant")).to_have_count(4)
    script = """() => new Promise((done) => { const socket = new WebSocket(`ws://${location.host}/ws`);
        socket.onopen = () => socket.send('{"type": "daily", "id": 1}');
        socket.onmessage = (event) => { done(JSON.parse(event.data)); socket.close(); }; })"""
    assert window.page.evaluate(script)["code"] == "no_daily"
    expect(window.page.locator("#daily")).to_be_hidden()


@pytest.mark.slow
def test_statistics_are_shown(open_window: OpenWindow) -> None:
    window = won(open_window())
    page = window.page
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Menu", exact=True).click()
    page.get_by_role("button", name="Statistics").click()
    expect(page.locator(".stats dd").nth(2)).to_have_text("1")
    expect(page.locator(".stats dd").nth(4)).to_have_text("52")


@pytest.mark.slow
def test_the_first_picture_waits_for_no_answer_of_the_server(open_window: OpenWindow) -> None:
    # How many milliseconds it takes depends on the machine: bench/web.py measures it. What it depends on is seen here.
    window = open_window()
    window.page.route_web_socket(re.compile("/ws$"), lambda route: None)
    window.page.goto(window.url)
    expect(window.page.get_by_role("button", name="Play Yukon")).to_be_visible()
    assert window.page.evaluate("performance.getEntriesByName('first-contentful-paint').length") == 1
    # One request leads to the next at most once: every script is named by the page itself.
    named = window.page.evaluate(
        "[...document.querySelectorAll('script[src], link[href]')].map((one) => one.src || one.href)"
    )
    scripts = {url for url in window.requests if url.endswith(".js") and not url.endswith("/sw.js")}
    assert scripts <= set(named)


@pytest.mark.slow
def test_an_action_at_a_long_column_styles_little_anew(open_window: OpenWindow) -> None:
    # Milliseconds are measured by bench/web.py; here is counted what they are spent on.
    window = open_window(1440, 900).deal("Yukon", LONG_COLUMN)
    browser = window.context.browser
    assert browser is not None
    cards = window.count("t7")
    browser.start_tracing(page=window.page, categories=["devtools.timeline"])
    window.page.keyboard.press("a")
    expect(window.page.locator("#moves")).to_have_text("1")
    window.at_rest()
    window.page.keyboard.press("u")
    expect(window.page.locator("#moves")).to_have_text("0")
    window.at_rest()
    events = json.loads(browser.stop_tracing())["traceEvents"]
    styled = [
        event["args"]["elementCount"]
        for event in events
        if event["name"] == "UpdateLayoutTree" and "elementCount" in event["args"]
    ]
    assert styled
    # A card has some fifteen parts; of those that stay where they are none is touched but the index.
    assert max(styled) < 8 * cards, styled


@pytest.mark.slow
def test_memory_stays_flat_over_a_thousand_moves(open_window: OpenWindow) -> None:
    window = open_window().settings(speed=0).deal("Yukon", NEAR_THE_END)
    session = window.context.new_cdp_session(window.page)

    def heap() -> tuple[float, float]:
        session.send("HeapProfiler.collectGarbage")
        metrics = session.send("Performance.getMetrics")["metrics"]
        named = {one["name"]: one["value"] for one in metrics}
        return named["JSHeapUsedSize"], named["Nodes"]

    session.send("Performance.enable")
    window.move_by_tap(TO_THE_END[0])

    def turns(count: int) -> None:
        for _ in range(count):
            for key, start in (("u", "Taken back"), ("r", "Done again")):
                window.page.keyboard.press(key)
                expect(window.status).to_have_text(re.compile(f"^{start}"))

    turns(50)
    before = heap()
    turns(450)
    after = heap()
    assert after[0] - before[0] < 1_500_000
    assert after[1] - before[1] < 500
