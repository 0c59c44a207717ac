"""The page that checks a day's deals: opened from a disk, in a browser that no server has told anything."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("playwright")

from playwright.sync_api import expect

from day_houses import published_day

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.needs("chromium")

PAGE = Path(__file__).resolve().parents[2] / "clients" / "verify_daily.html"


def test_a_browser_works_a_day_out_and_finds_what_was_changed(browser: Browser) -> None:
    context = browser.new_context(offline=True)
    page = context.new_page()
    troubles: list[str] = []
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.goto(PAGE.as_uri())
    lines = page.locator("#said li")

    def check(file: Any, *, root: str = "", kept: Any = None) -> None:
        page.fill("#day", file if isinstance(file, str) else json.dumps(file))
        page.fill("#root", root)
        page.fill("#kept", json.dumps(kept) if kept else "")
        page.get_by_role("button").click()

    day = json.loads(published_day("yukon", "yukon-thicket", "klondike", "spiderette"))
    check(day, root=day["season"]["root"], kept=day)
    expect(lines.last).to_have_text("All is as it was committed to.")
    expect(lines).to_have_count(8)
    expect(lines.nth(1)).to_have_text(re.compile("^yukon: the deal, with a solution, and every card"))
    for change, says in (
        ({"key": "00" * 32}, "is not the season's root"),
        ({"key": None}, "is not revealed yet"),
        ({"date": "2026-07-20"}, "is not the one that was announced"),
        ({"format": "x"}, "this is not what"),
    ):
        check(day | change)
        expect(lines.last).to_have_text(re.compile(says))
    for field, value, says in (
        ("nonce", 10, "the deal that follows from key and nonce"),
        ("beacon", "x", "is not the one that was announced"),
        ("solution", ["draw"], "the solution is not the one"),
        ("board", day["dailies"][1]["board"], "the cards do not lie"),
        ("rules", "{}", "the rules are not those"),
    ):
        check(day | {"dailies": [day["dailies"][0] | {field: value}]})
        expect(lines.last).to_have_text(re.compile(says))
    check(day, root="11" * 32)
    expect(lines.last).to_have_text(re.compile("not the one you kept"))
    check("<script>alert(1)</script>")
    expect(lines.last).to_have_text(re.compile("This can't be read"))
    assert troubles == []
    context.close()
