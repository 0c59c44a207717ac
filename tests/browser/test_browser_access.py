"""For those who do not see the table, or do not point at it: names, one voice, order, focus, and what axe-core finds."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("playwright")

from playwright.sync_api import expect

from browser.conftest import OpenWindow
from browser.window import NEAR_THE_END, Window

pytestmark = pytest.mark.needs("chromium")

AXE = "4.14.1"
GOLDENS = Path(__file__).with_name("goldens")


def test_the_table_reads_as_columns_of_named_cards(open_window: OpenWindow, updates: bool) -> None:
    window = open_window().deal("Yukon Cells", "ms:24")
    expect(window.page.locator("#do-hint")).to_have_attribute("aria-disabled", "false")
    tree = named(window.page.locator("body").aria_snapshot())
    golden = GOLDENS / "table.yaml"
    if updates:
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(tree + "\n")
    assert tree == named(golden.read_text())


def named(tree: str) -> str:
    """The tree without the drawings in it, which say nothing to a reader and are counted otherwise by each browser."""
    lines = [line.rstrip().removesuffix(":") for line in tree.splitlines()]
    return "\n".join(line for line in lines if line.strip() and line.strip() != "- img")


def test_one_voice_says_one_sentence_for_each_action(open_window: OpenWindow) -> None:
    window = open_window().deal("Yukon", NEAR_THE_END)
    page = window.page
    assert page.locator("[aria-live=polite]").count() == 1
    page.evaluate("""() => { window.voice = document.getElementById('status'); window.said = [];
        new MutationObserver(() => window.said.push(window.voice.textContent)).observe(window.voice, {childList: true, characterData: true, subtree: true}); }""")
    page.keyboard.press("s")
    window.is_won()
    page.keyboard.press("Escape")
    assert page.evaluate("window.voice === document.getElementById('status') && window.voice.isConnected")
    assert page.evaluate("window.said.length") <= 3
    said = page.evaluate("window.said")
    page.keyboard.press("l")
    page.keyboard.press("l")
    again = page.evaluate("window.said")
    # The same words are said again, and are heard, since they are not quite the same.
    assert len(again) == len(said) + 2
    assert len({again[-1], again[-2]}) == 2


@pytest.mark.slow
def test_what_happens_is_said_while_the_focus_is_in_a_field(open_window: OpenWindow) -> None:
    window = open_window().deal("Yukon", NEAR_THE_END)
    other = Window(window.context, window.url)
    other.open(f"/games/{window.game}")
    window.page.keyboard.press("n")
    window.page.focus("#new-deal")
    other.move_by_tap(("t2", 1, "f1"))
    expect(window.status).to_have_text(re.compile("^Jack of clubs to Clubs foundation"))
    expect(window.page.locator("#new-deal")).to_be_focused()


def test_one_tab_stop_leads_to_the_table_and_the_arrows_to_every_card(open_window: OpenWindow) -> None:
    window = open_window().deal("Yukon", "ms:24")
    assert window.page.locator('#table [tabindex="0"]').count() == 1
    window.focus_table()
    heard: set[str] = set()
    for column in range(1, 8):
        window.page.keyboard.press(str(column))
        window.go_to_column(f"t{column}")
        for _ in range(20):
            heard.add(window.page.evaluate("document.activeElement.getAttribute('aria-label')"))
            window.page.keyboard.press("ArrowUp")
    shown = window.piles()
    for name, cards in shown.items():
        hidden = cards.count("??")
        if hidden:
            assert f"Column {name[1:]}, {hidden} face-down" in heard
    assert len(heard) == 31 + 6
    assert "6 of spades, 3 of 7, column 3, 4 cards on it" in heard
    window.page.keyboard.press("Shift+Digit3")
    assert (
        window.page.evaluate("document.activeElement.getAttribute('aria-label')")
        == "Hearts foundation, empty"
    )
    window.page.keyboard.press("5")
    window.page.keyboard.press("Home")
    assert window.focused_pile() == "t5"


@pytest.mark.slow
def test_the_focus_is_seen_and_goes_with_the_card(open_window: OpenWindow) -> None:
    window = open_window().deal("Yukon", NEAR_THE_END)
    window.move_by_keys(("t1", 2, "t6"))
    window.page.wait_for_timeout(250)
    assert window.focused_pile() in {"t6", "t1"}
    ring = window.page.locator(".ring")
    expect(ring).to_be_visible()
    focused = window.page.locator("#table :focus").bounding_box()
    box = ring.bounding_box()
    assert focused is not None
    assert box is not None
    assert abs(focused["x"] - box["x"]) < 2
    assert abs(focused["y"] - box["y"]) < 2


@pytest.mark.slow
def test_the_table_the_column_and_the_score_are_read(open_window: OpenWindow) -> None:
    window = open_window().deal("Yukon", NEAR_THE_END)
    page = window.page
    page.keyboard.press("q")
    assert window.says == "40 of 52 cards home, 0 moves, 0 undos."
    window.focus_table()
    window.go_to_column("t1")
    page.keyboard.press("c")
    assert window.says == "Column 1: 1 face-down, king of spades, queen of hearts."
    page.keyboard.press("t")
    assert "Column 6: empty." in window.says
    assert "Spades foundation: 10 of spades." in window.says


def test_every_button_and_the_replay_have_names_and_keys(open_window: OpenWindow) -> None:
    window = open_window().deal("Yukon", NEAR_THE_END)
    page = window.page
    for name in ("Undo", "Redo", "Hint", "Auto", "Send home", "Give up", "Menu"):
        expect(page.get_by_role("button", name=name, exact=True)).to_be_visible()
    window.move_by_tap(("t1", 2, "t6"))
    expect(page.locator("#moves")).to_have_text("1")
    page.keyboard.press("s")
    window.is_won()
    page.get_by_role("link", name="Watch replay").click()
    expect(page.locator("#re-pos")).to_have_text("2 / 2")
    for name in ("To the start", "One action back", "Play", "One action on", "To the end", "Speed 1×"):
        expect(page.get_by_role("button", name=name, exact=True)).to_be_visible()
    page.keyboard.press("Home")
    expect(page.locator("#re-pos")).to_have_text("0 / 2")
    page.keyboard.press("ArrowRight")
    expect(window.status).to_have_text(re.compile("^King of spades and 1 card to column 6"))
    page.keyboard.press("End")
    expect(page.locator("#re-pos")).to_have_text("2 / 2")


@pytest.mark.slow
def test_dialogs_hold_the_focus_and_give_it_back(open_window: OpenWindow) -> None:
    window = open_window().deal("Yukon", NEAR_THE_END)
    page = window.page
    menu = page.get_by_role("button", name="Menu", exact=True)
    menu.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog", name="Menu")).to_be_visible()
    for _ in range(30):
        page.keyboard.press("Tab")
        assert page.evaluate(
            "document.activeElement === document.body || !!document.activeElement.closest('dialog')"
        )
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(menu).to_be_focused()


@pytest.fixture(scope="module")
def axe(pytestconfig: pytest.Config) -> str:
    """axe-core's text, from npm; kept in the cache folder of pytest."""
    assert pytestconfig.cache is not None
    folder = Path(pytestconfig.cache.mkdir("axe-core"))
    script = folder / "node_modules" / "axe-core" / "axe.min.js"
    if not script.is_file():
        try:
            subprocess.run(
                ["npm", "install", "--no-save", "--ignore-scripts", "--prefix", str(folder), f"axe-core@{AXE}"],
                check=True, capture_output=True, timeout=120,
            )  # fmt: skip
        except (OSError, subprocess.SubprocessError) as error:
            lack = f"needs axe-core {AXE} from npm: {error}"
            if os.environ.get("CI"):
                pytest.fail(f"{lack} (nothing is skipped where CI is set)", pytrace=False)
            pytest.skip(lack)
    return script.read_text()


def is_clean(window: Window, axe: str) -> None:
    """Axe-core finds nothing, best practices included."""
    window.page.evaluate(axe)
    found: dict[str, Any] = window.page.evaluate("axe.run()")
    faults = [(one["id"], [node["html"][:150] for node in one["nodes"][:3]]) for one in found["violations"]]
    assert not faults, faults


@pytest.mark.slow
@pytest.mark.needs("npm")
@pytest.mark.parametrize("theme", ("dark", "light", "contrast"))
def test_axe_finds_nothing(open_window: OpenWindow, axe: str, theme: str) -> None:
    window = open_window(bypass_csp=True).settings(theme=theme).open()
    page = window.page
    expect(page.locator(".variant")).to_have_count(4)
    is_clean(window, axe)
    window.deal("Yukon Cells", "ms:24")
    is_clean(window, axe)
    window.tap("t3")
    is_clean(window, axe)
    for key in ("n", "?"):
        page.keyboard.press("Escape")
        page.keyboard.press(key)
        expect(page.get_by_role("dialog")).to_be_visible()
        is_clean(window, axe)
    page.keyboard.press("Escape")
    for name in ("Settings", "Statistics", "Share"):
        page.get_by_role("button", name="Menu", exact=True).click()
        is_clean(window, axe)
        page.get_by_role("dialog").get_by_text(name, exact=True).click()
        expect(page.get_by_role("dialog", name=name)).to_be_visible()
        is_clean(window, axe)
        page.keyboard.press("Escape")
    page.locator("#do-giveup").click()
    is_clean(window, axe)
    page.get_by_role("button", name="Yes, give up").click()
    expect(page.get_by_role("dialog")).to_contain_text("Given up")
    is_clean(window, axe)
    page.get_by_role("link", name="Watch replay").click()
    expect(page.locator("#re-pos")).to_have_text("1 / 1")
    is_clean(window, axe)


@pytest.mark.slow
def test_every_text_has_contrast_enough(open_window: OpenWindow) -> None:
    for theme in ("dark", "light"):
        window = open_window().settings(theme=theme).deal("Yukon", NEAR_THE_END)
        colours = window.page.evaluate("""() => { const probe = document.body.appendChild(document.createElement('i'));
            const read = (value) => { probe.style.color = value; return getComputedStyle(probe).color.match(/[\\d.]+/g).slice(0, 3).map(Number); };
            return Object.fromEntries(['text', 'muted', 'accent', 'accent-ink', 'felt-b', 'bar', 'danger', 'focus'].map((name) => [name, read(`var(--${name})`)])); }""")
        for front, back, least in (
            ("text", "felt-b", 7), ("text", "bar", 7), ("muted", "felt-b", 4.5), ("muted", "bar", 4.5), ("accent-ink", "accent", 4.5),
            ("danger", "bar", 4.5), ("accent", "felt-b", 3), ("focus", "felt-b", 3),
        ):  # fmt: skip
            assert _contrast(colours[front], colours[back]) >= least, (theme, front, back)


def _contrast(one: list[float], other: list[float]) -> float:
    def luminance(colour: list[float]) -> float:
        linear = [
            part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
            for part in (value / 255 for value in colour)
        ]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)
