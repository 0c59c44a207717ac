"""The pictures of the README: with ``--update`` they are taken anew, else it is only seen that they could be."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("playwright")

from playwright.sync_api import expect

from browser.conftest import OpenWindow
from browser.window import NEAR_THE_END, TO_THE_END, Window

pytestmark = [pytest.mark.slow, pytest.mark.needs("chromium")]

PICTURES = Path(__file__).resolve().parents[2] / "docs" / "pictures"


def _desktop(open_window: OpenWindow) -> Window:
    window = open_window(1440, 900).deal("Yukon", "ms:24")
    for _ in range(6):
        before = window.page.inner_text("#moves")
        window.page.keyboard.press("a")
        expect(window.page.locator("#moves")).not_to_have_text(before)
    # Some cards that have somewhere to go.
    for name in ("t7", "t6", "t5", "t4", "t3", "t2", "t1"):
        for n in range(min(5, window.count(name)), 1, -1):
            window.tap(name, n)
            expect(window.status).to_have_text(re.compile("^(Picked up|That card)"))
            if window.page.locator(".target").count():
                return window
    return window


def _phone(open_window: OpenWindow) -> Window:
    window = open_window(
        390, 844, device_scale_factor=2, has_touch=True, is_mobile=True, color_scheme="light"
    )
    window.deal("Yukon Cells", "ck:7")
    for _ in range(4):
        window.page.locator("#do-auto").click()
        expect(window.status).to_have_text(re.compile("^Auto: "))
        window.page.wait_for_timeout(300)
    return window


def _replay(open_window: OpenWindow) -> Window:
    window = open_window(1024, 640).deal("Yukon", NEAR_THE_END)
    for move in TO_THE_END:
        window.move_by_tap(move)
    window.is_won()
    window.page.get_by_role("link", name="Watch replay").click()
    expect(window.page.locator("#re-pos")).to_have_text("13 / 13")
    window.page.locator("#re-at").fill("5")
    return window


def _how_to_play(open_window: OpenWindow) -> Window:
    window = open_window(1024, 768, color_scheme="light")
    window.page.goto(f"{window.url}/rules/yukon")
    return window


@pytest.mark.parametrize(
    ("name", "view"),
    (("desktop", _desktop), ("phone", _phone), ("replay", _replay), ("how-to-play", _how_to_play)),
)
def test_the_pictures_can_be_taken(
    open_window: OpenWindow, updates: bool, name: str, view: Callable[[OpenWindow], Window]
) -> None:
    window = view(open_window)
    window.page.wait_for_timeout(400)
    taken = window.page.screenshot()
    if updates:
        PICTURES.mkdir(parents=True, exist_ok=True)
        (PICTURES / f"{name}.png").write_bytes(taken)
    assert (PICTURES / f"{name}.png").is_file()
