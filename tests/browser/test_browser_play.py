"""Whole games in a real browser, by every way there is to move a card, and what the table says on the way."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("playwright")

from playwright.sync_api import expect

from browser.conftest import OpenWindow
from browser.window import LAST_MOVE, NEAR_THE_END, TO_THE_END, wait_until

pytestmark = pytest.mark.needs("chromium")


@pytest.mark.slow
def test_a_whole_game_by_tapping(open_window: OpenWindow) -> None:
    window = open_window().deal("Yukon", NEAR_THE_END)
    for move in TO_THE_END:
        window.move_by_tap(move)
    window.is_won()
    expect(window.page.get_by_role("dialog")).to_contain_text("Solved in 13 moves")
    expect(window.page.locator("#score")).to_have_text("52")


@pytest.mark.slow
def test_a_whole_game_by_dragging_thirty_percent_off(open_window: OpenWindow) -> None:
    window = open_window(1440, 900).deal("Yukon", NEAR_THE_END)
    for move in TO_THE_END:
        window.move_by_drag(move)
    window.is_won()


def test_a_whole_game_by_finger_on_a_phone(open_window: OpenWindow) -> None:
    window = open_window(390, 844, has_touch=True, is_mobile=True, device_scale_factor=2)
    window.deal("Yukon", NEAR_THE_END)
    address = window.page.url
    for number, move in enumerate(TO_THE_END):
        if number % 2:
            window.move_by_tap(move, touch=True)
        else:
            window.move_by_drag(move, touch=True, off=0.1)
    window.is_won()
    # No gesture scrolled the page or led away from it.
    assert window.page.url == address
    assert window.page.evaluate("[scrollX, scrollY, visualViewport.pageTop]") == [0, 0, 0]


def test_a_whole_game_by_keyboard(open_window: OpenWindow) -> None:
    window = open_window().deal("Yukon", NEAR_THE_END)
    for move in TO_THE_END:
        window.move_by_keys(move)
    window.is_won()


@pytest.mark.slow
def test_enter_sends_a_card_home_and_space_only_picks_it_up(open_window: OpenWindow) -> None:
    window = open_window().deal("Yukon", NEAR_THE_END)
    window.focus_table()
    window.go_to_column("t2")
    window.page.keyboard.press("Space")
    expect(window.page.locator(".card.lift")).to_have_count(1)
    assert window.says == "Picked up jack of clubs – 2 places to go"
    window.page.keyboard.press("Escape")
    assert window.says == "Put back."
    window.page.keyboard.press("Enter")
    window.wait_for_cards("f1", 11)
    expect(window.status).to_have_text(
        "Jack of clubs to Clubs foundation. Turned up jack of diamonds. 41 home."
    )


def test_a_refused_move_returns_and_the_status_line_says_why(open_window: OpenWindow) -> None:
    window = open_window().deal("Yukon", NEAR_THE_END)
    before = window.piles()
    window.tap("t3", 2)
    expect(window.page.locator(".card.lift")).to_have_count(2)
    window.tap("t6")
    expect(window.status).to_have_text("Only a king may start an empty column, not the queen of diamonds.")
    expect(window.page.locator(".card.lift")).to_have_count(0)
    x, y = window.strip("t5")
    window.drag((x, y), window.strip("t3"))
    expect(window.status).to_have_text(re.compile("not the jack of hearts"))
    window.at_rest()
    assert window.piles() == before
    assert window.strip("t5") == (x, y)


@pytest.mark.slow
def test_a_card_that_is_let_go_over_nothing_returns(open_window: OpenWindow) -> None:
    window = open_window().deal("Yukon", NEAR_THE_END)
    start = window.strip("t5", 2)
    window.drag(start, (start[0], start[1] + 380))
    window.page.wait_for_timeout(500)
    assert window.strip("t5", 2) == start
    window.page.mouse.move(*start)
    window.page.mouse.down()
    window.page.mouse.move(start[0] + 90, start[1] + 90, steps=3)
    expect(window.page.locator(".card.lift")).to_have_count(2)
    window.page.evaluate(
        "document.getElementById('table').dispatchEvent(new PointerEvent('pointercancel', {pointerId: 1, bubbles: true}))"
    )
    window.page.wait_for_timeout(500)
    window.page.mouse.up()
    assert window.strip("t5", 2) == start


@pytest.mark.slow
def test_turning_the_screen_while_a_card_is_in_the_air_puts_it_back(open_window: OpenWindow) -> None:
    window = open_window(360, 640, has_touch=True).deal("Yukon", NEAR_THE_END)
    before = window.piles()
    session = window.context.new_cdp_session(window.page)
    x, y = window.strip("t5", 2)

    def finger(kind: str, *points: tuple[float, float]) -> None:
        touches = [{"x": x, "y": y} for x, y in points]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": touches})

    finger("touchStart", (x, y))
    for step in range(1, 5):
        finger("touchMove", (x + 10 * step, y + 20 * step))
    expect(window.page.locator(".card.lift")).to_have_count(2)
    window.page.set_viewport_size({"width": 640, "height": 360})
    expect(window.page.locator(".card.lift")).to_have_count(0)
    finger("touchMove", (x + 60, y + 90))
    finger("touchEnd")
    window.at_rest()
    assert window.piles() == before
    table = window.page.locator("#table").bounding_box()
    assert table is not None
    for card in window.cards("t5").all():
        box = card.bounding_box()
        assert box is not None
        assert table["y"] <= box["y"] <= table["y"] + table["height"] - box["height"]
    window.move_by_tap(TO_THE_END[0], touch=True)


def test_the_grabbed_card_keeps_its_offset(open_window: OpenWindow) -> None:
    window = open_window().deal("Yukon", NEAR_THE_END)
    card = window.cards("t5").nth(1)
    box = card.bounding_box()
    assert box is not None
    x, y = window.strip("t5", 2)
    window.page.mouse.move(x, y)
    window.page.mouse.down()
    window.page.mouse.move(x + 101, y + 57, steps=4)
    now = card.bounding_box()
    window.page.mouse.up()
    assert now is not None
    assert (round(now["x"] - box["x"]), round(now["y"] - box["y"])) == (101, 57)


@pytest.mark.slow
def test_a_long_group_lands_anywhere_on_a_long_column(open_window: OpenWindow) -> None:
    # Ten cards from a jack on, dropped at the top, the middle and the foot of the column that ends in a queen.
    board = (
        "t1: KC JH 9H 8C 7H 6C 5H 4C 3H 2C TS | t2: KD KH KS 5S 6S 7S 8S 9S JC JS 8D 6D 4D TD 3D TC TH QD QC"
        " | t3: QH QS JD 9D 9C 8H 7D 7C 6H 5D 5C 4H 3C 2D 2H | f1: AC | f2: AD | f3: AH | f4: AS 2S 3S 4S"
    )
    window = open_window().deal("Yukon", board)
    for part in (0.05, 0.5, 0.95):
        window.wait_for_cards("t2", 19)
        window.at_rest()
        table = window.page.locator("#table").bounding_box()
        column = window.pile("t2").locator(".slot").bounding_box()
        assert table is not None
        assert column is not None
        y = table["y"] + table["height"] * part
        window.drag(window.strip("t1", 10), (column["x"] + column["width"] * 0.7, y))
        window.wait_for_cards("t2", 29)
        window.page.keyboard.press("u")


def test_targets_are_what_the_server_calls_legal(open_window: OpenWindow) -> None:
    window = open_window().deal("Yukon", NEAR_THE_END)
    window.tap("t5", 2)
    expect(window.page.locator(".target")).to_have_count(1)
    assert window.page.locator(".target").evaluate("node => node.closest('[data-pile]').dataset.pile") == "t4"
    # Another card is picked up instead; the same again is put back.
    window.tap("t1", 2)
    expect(window.page.locator(".target")).to_have_count(2)
    window.tap("t1", 2)
    expect(window.page.locator(".target, .lift")).to_have_count(0)


@pytest.mark.slow
def test_hint_auto_and_send_home(open_window: OpenWindow) -> None:
    window = open_window().deal("Yukon", NEAR_THE_END)
    page = window.page
    page.keyboard.press("h")
    expect(window.status).to_have_text(re.compile("^Hint: .+"))
    expect(page.locator(".hint, .hinted")).not_to_have_count(0)
    page.keyboard.press("a")
    expect(window.status).to_have_text(re.compile("^Auto: .+"))
    expect(page.locator(".hint")).to_have_count(0)
    page.keyboard.press("s")
    window.is_won()


def test_what_was_done_is_taken_back_and_done_again(open_window: OpenWindow) -> None:
    window = open_window().deal("Yukon", NEAR_THE_END)
    page = window.page
    start = window.piles()
    window.move_by_tap(("t1", 2, "t6"))
    expect(window.status).to_have_text("King of spades and 1 card to column 6. Turned up queen of clubs.")
    after = window.piles()
    for back, again in (("u", "r"), ("Control+z", "Control+Shift+z"), ("Control+z", "Control+y")):
        page.keyboard.press(back)
        expect(window.status).to_have_text(re.compile("^Taken back"))
        assert window.piles() == start
        page.keyboard.press(again)
        expect(window.status).to_have_text(re.compile("^Done again"))
        assert window.piles() == after


@pytest.mark.slow
def test_letters_in_a_text_field_are_letters(open_window: OpenWindow) -> None:
    window = open_window().deal("Yukon", NEAR_THE_END)
    window.move_by_tap(("t2", 1, "f1"))
    window.page.keyboard.press("n")
    window.page.focus("#new-deal")
    window.page.keyboard.type("hausurnh")
    expect(window.page.locator("#new-deal")).to_have_value("hausurnh")
    window.page.keyboard.press("Escape")
    window.wait_for_cards("f1", 11)


@pytest.mark.slow
def test_single_letters_can_be_switched_off(open_window: OpenWindow) -> None:
    window = open_window().settings(letters=False).open()
    window.page.get_by_role("button", name="Play Yukon", exact=True).first.click()
    expect(window.page.locator("#table .card").first).to_be_attached()
    said = window.says
    window.page.keyboard.press("h")
    window.page.wait_for_timeout(200)
    assert window.says == said


@pytest.mark.slow
def test_giving_up_takes_two_steps_that_do_not_lie_over_each_other(open_window: OpenWindow) -> None:
    for size in ((1024, 768), (390, 844), (740, 360)):
        window = open_window(*size).deal("Yukon", "ms:24")
        first = window.page.locator("#do-giveup")
        box = first.bounding_box()
        assert box is not None
        first.click()
        confirm = window.page.get_by_role("button", name="Yes, give up")
        other = confirm.bounding_box()
        assert other is not None
        apart = (
            other["x"] >= box["x"] + box["width"] or other["x"] + other["width"] <= box["x"]
            or other["y"] >= box["y"] + box["height"] or other["y"] + other["height"] <= box["y"]
        )  # fmt: skip
        assert apart
        assert first.bounding_box() == box
        expect(window.page.get_by_role("button", name="Keep playing")).to_be_focused()
        confirm.click()
        expect(window.page.get_by_role("dialog")).to_contain_text("Given up")


@pytest.mark.slow
def test_after_the_end_a_new_deal_stands_where_giving_up_stood(open_window: OpenWindow) -> None:
    window = open_window().deal("Yukon", NEAR_THE_END)
    place = window.page.locator("#do-giveup").bounding_box()
    window.page.keyboard.press("s")
    window.is_won()
    window.page.get_by_role("button", name="Look at the table").click()
    expect(window.page.locator("#do-giveup")).to_be_hidden()
    again = window.page.locator("#do-again")
    box = again.bounding_box()
    assert box is not None
    assert place is not None
    assert abs(box["y"] - place["y"]) < 1
    game = window.game
    again.click()
    expect(window.page.locator("#moves")).to_have_text("0")
    assert window.game != game
    assert window.page.locator("#vname").inner_text() == "Yukon"


@pytest.mark.slow
def test_a_win_is_celebrated_and_everything_lies_at_home_after_it(open_window: OpenWindow) -> None:
    window = open_window().deal("Yukon", NEAR_THE_END)
    window.page.keyboard.press("s")
    wait_until(lambda: window.page.evaluate("document.getAnimations().length") >= 52)
    window.is_won()
    window.at_rest()
    assert {name: len(cards) for name, cards in window.piles().items() if cards} == {
        f"f{n}": 13 for n in range(1, 5)
    }
    place = window.pile("f1").locator(".slot").bounding_box()
    assert window.cards("f1").last.bounding_box() == place


def test_a_loss_may_be_undone_out_of_from_the_dialog(open_window: OpenWindow) -> None:
    window = open_window().deal("Yukon", LAST_MOVE)
    before = window.piles()
    window.tap("t2")
    dialog = window.page.get_by_role("dialog")
    expect(dialog).to_contain_text("No moves are left")
    dialog.get_by_role("button", name="Undo one move").click()
    expect(dialog).to_have_count(0)
    expect(window.status).to_have_text(re.compile("^Taken back"))
    assert window.piles() == before
    window.tap("t2")
    expect(dialog).to_contain_text("No moves are left")


@pytest.mark.slow
def test_a_click_on_the_right_lists_a_column_as_a_long_press_does(open_window: OpenWindow) -> None:
    window = open_window().deal("Yukon", NEAR_THE_END)
    x, y = window.strip("t3", 2)
    window.page.mouse.click(x, y, button="right")
    dialog = window.page.get_by_role("dialog", name="Cards of Column 3")
    expect(dialog.locator("li")).to_have_text(["King of clubs", "Queen of diamonds", "Jack of spades"])


@pytest.mark.slow
def test_nothing_is_moved_or_promised_that_the_server_did_not_offer(open_window: OpenWindow) -> None:
    # There is no button that would finish a game: what can go home does when it is asked to, and says how many went.
    window = open_window().deal("Yukon", NEAR_THE_END)
    names = window.page.locator(".tools button:visible .lg").all_inner_texts()
    assert names == ["Undo", "Redo", "Hint", "Auto", "Send home", "Give up"]
    window.move_by_tap(("t1", 2, "t6"))
    expect(window.page.locator("#moves")).to_have_text("1")
    window.page.wait_for_timeout(300)
    expect(window.page.locator("#moves")).to_have_text("1")


@pytest.mark.slow
def test_no_emoji_and_no_letter_is_drawn_as_a_card(open_window: OpenWindow) -> None:
    window = open_window().deal("Yukon", NEAR_THE_END)
    text = window.page.locator("#table").inner_text()
    assert not re.search("[♠-♦]", text)
    assert window.page.locator("#table .card").first.inner_text() == ""
