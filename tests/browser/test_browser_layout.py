"""Where things lie, at every size: no card outside the table, nothing to scroll, everything large enough to be touched."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("playwright")

from playwright.sync_api import expect

from browser.conftest import OpenWindow
from browser.window import NEAR_THE_END, TO_THE_END, Window

pytestmark = pytest.mark.needs("chromium")

SIZES = [
    (320, 568), (360, 640), (360, 740), (390, 844), (412, 915), (768, 1024), (568, 320), (740, 360), (844, 390), (1024, 768),
    (1280, 720), (1440, 900), (1920, 1080), (2560, 1440),
]  # fmt: skip
WEB = Path(__file__).resolve().parents[2] / "clients" / "web"

_DECK = [rank + suit for suit in "CDHS" for rank in "A23456789TJQK"]
_LONG = _DECK[::-1][:39]
LONG_COLUMN = (
    "t1: " + " ".join(_DECK[:3]) + " | t2: " + " ".join(_DECK[3:6]) + " | t3: " + " ".join(_DECK[6:13])
    + " | t7: " + " ".join(f"<{card}>" for card in _LONG[:6]) + " " + " ".join(_LONG[6:])
)  # fmt: skip

MEASURE = """() => {
  const box = (node) => { const r = node.getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom]; };
  const table = box(document.getElementById('table'));
  const outside = [...document.querySelectorAll('#table .card, #table .slot')].filter((node) => {
    const [left, top, right, bottom] = box(node);
    return left < table[0] - .5 || top < table[1] - .5 || right > table[2] + .5 || bottom > table[3] + .5;
  }).map((node) => node.getAttribute('aria-label') || node.className);
  const buttons = [...document.querySelectorAll('.tools button, .bar button, .bar a')].map(box).filter(([l, t, r, b]) => r > l);
  const strips = {};
  for (const pile of document.querySelectorAll('#table .p-t')) {
    const tops = [...pile.querySelectorAll('.card:not(.down)')].map((node) => box(node)[1]);
    const gaps = tops.slice(1).map((top, at) => top - tops[at]);
    if (gaps.length) strips[pile.dataset.pile] = Math.min(...gaps);
  }
  const names = (list) => list.map(([l, t, r, b]) => [r - l, b - t]);
  const overlaps = [];
  const slots = [...document.querySelectorAll('#table .slot')];
  slots.forEach((one, i) => slots.slice(i + 1).forEach((other) => {
    const a = box(one), b = box(other);
    if (a[0] < b[2] - 1 && b[0] < a[2] - 1 && a[1] < b[3] - 1 && b[1] < a[3] - 1) overlaps.push([one.pile, other.pile]);
  }));
  const slot = box(slots[0]);
  return { outside, strips, overlaps, buttons: names(buttons), card: [slot[2] - slot[0], slot[3] - slot[1]], table,
    scrolls: [document.scrollingElement.scrollWidth > innerWidth, document.scrollingElement.scrollHeight > innerHeight],
    status: document.getElementById('status').getBoundingClientRect().height,
    cut: [...document.querySelectorAll('.tools button')].filter((node) => node.scrollWidth > node.clientWidth + 1).map((node) => node.id) };
}"""


def measure(window: Window, width: int, height: int) -> dict[str, Any]:
    """What lies where at this size."""
    window.page.set_viewport_size({"width": width, "height": height})
    window.page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    found: dict[str, Any] = window.page.evaluate(MEASURE)
    return found


def is_sound(window: Window, width: int, height: int) -> dict[str, Any]:
    """Everything that has to hold at every size."""
    found = measure(window, width, height)
    where = f"{width}x{height}: {found}"
    assert found["outside"] == [], where
    assert found["overlaps"] == [], where
    assert found["scrolls"] == [False, False], where
    assert found["cut"] == [], where
    assert all(min(size) >= 24 for size in found["buttons"]), where
    return found


def test_every_size_shows_the_whole_table(open_window: OpenWindow) -> None:
    window = open_window().deal("Yukon", "ms:24")
    for size in SIZES:
        found = is_sound(window, *size)
        tools = window.page.locator(".tools button:visible").all()
        for tool in tools:
            box = tool.bounding_box()
            assert box is not None
            assert box["width"] >= 48, size
            assert box["height"] >= 44, size
        assert found["card"][0] >= 38, (size, found["card"])


@pytest.mark.slow
@pytest.mark.parametrize("hand", ("right", "left"))
def test_the_sizes_of_the_reference(open_window: OpenWindow, hand: str) -> None:
    window = open_window().settings(left=hand == "left").deal("Yukon", "ms:24")
    for (width, height), card in {
        (320, 568): 40, (360, 640): 46, (390, 844): 50, (768, 1024): 99, (1024, 768): 98, (1440, 900): 119, (1920, 1080): 148,
    }.items():  # fmt: skip
        found = is_sound(window, width, height)
        assert abs(found["card"][0] - card) <= 4, (width, height, found["card"])


@pytest.mark.slow
def test_strips_are_large_enough_to_be_touched(open_window: OpenWindow) -> None:
    # Nineteen cards, six of them face down: the longest column of a usual game.
    deck = [card for card in _DECK if card not in _LONG[:19]]
    board = (
        "t1: " + " ".join(deck[:3]) + " | t2: " + " ".join(deck[3:9]) + " | t3: " + " ".join(deck[9:20]) + " | t4: "
        + " ".join(deck[20:]) + " | t7: " + " ".join(f"<{card}>" for card in _LONG[:6]) + " " + " ".join(_LONG[6:19])
    )  # fmt: skip
    window = open_window(360, 640).deal("Yukon", board)
    assert is_sound(window, 360, 640)["strips"]["t7"] >= 23.5
    assert is_sound(window, 1440, 900)["strips"]["t7"] >= 35
    assert is_sound(window, 1280, 720)["strips"]["t7"] >= 27


def test_thirty_nine_cards_lie_inside_the_table(open_window: OpenWindow) -> None:
    window = open_window(740, 360, has_touch=True).deal("Yukon", LONG_COLUMN)
    assert window.count("t7") == 39
    for size in SIZES:
        found = is_sound(window, *size)
        assert found["strips"]["t7"] >= 4, (size, found["strips"])
    # Turned to the other side, everything finds its place again.
    is_sound(window, 360, 740)
    is_sound(window, 740, 360)
    # Strips as small as these are listed on a long press.
    x, y = window.strip("t7", 12)
    session = window.context.new_cdp_session(window.page)
    session.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
    dialog = window.page.get_by_role("dialog")
    expect(dialog).to_contain_text("Cards of Column 7")
    session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    rows = dialog.locator("li button")
    assert rows.count() == 33
    box = rows.first.bounding_box()
    assert box is not None
    assert box["height"] >= 44
    dialog.get_by_role("button", name="5 of hearts", exact=True).click()
    expect(window.page.locator(".card.lift").first).to_be_attached()
    expect(window.status).to_have_text(re.compile("^Picked up 5 of hearts and the"))


@pytest.mark.slow
@pytest.mark.parametrize(
    "variant",
    ("Yukon Cells", "Klondike", "FreeCell", "Spider", "Canfield", "La Belle Lucie", "Flower Garden", "Triple Klondike",
     "Cell 11", "Eight Off", "Hawaiian", "Castle of Indolence", "Forty Thieves", "Half Klondike"),
)  # fmt: skip
def test_any_variant_finds_its_place_at_every_size(open_window: OpenWindow, variant: str) -> None:
    window = open_window().deal(variant, "ck:7")
    for size in SIZES:
        is_sound(window, *size)


@pytest.mark.slow
def test_another_game_of_the_same_size_finds_its_places(open_window: OpenWindow) -> None:
    window = open_window(360, 640).deal("Yukon", "ms:24")
    before = is_sound(window, 360, 640)
    window.deal("Yukon Cells", "ms:24")
    assert is_sound(window, 360, 640)["card"] == before["card"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings", ({"large": True}, {"left": True}, {"mark": True, "theme": "light"}, {"theme": "contrast"})
)
def test_settings_keep_the_table_whole(open_window: OpenWindow, settings: dict[str, Any]) -> None:
    window = open_window().settings(**settings).deal("Yukon Cells", "ck:7")
    for size in SIZES:
        is_sound(window, *size)


@pytest.mark.slow
def test_the_table_does_not_jump_whatever_is_said(open_window: OpenWindow) -> None:
    for size in ((1024, 768), (360, 640), (740, 360)):
        window = open_window(*size).deal("Yukon", "ms:24")
        before = measure(window, *size)
        window.page.keyboard.press("t")
        after = measure(window, *size)
        assert (before["status"], before["table"]) == (after["status"], after["table"])


def _luminance(colour: str) -> float:
    if len(colour) == 4:
        colour = "#" + "".join(digit * 2 for digit in colour[1:])
    red, green, blue = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    linear = [one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in (red, green, blue)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(one: str, other: str) -> float:
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_the_family_of_a_suit_is_seen_without_colours(open_window: OpenWindow) -> None:
    window = open_window().open()
    script = """([deck, theme]) => { const root = document.documentElement; Object.assign(root.dataset, { deck, theme });
        return Object.fromEntries(['c', 'd', 'h', 's', 'face'].map((name) => [name, getComputedStyle(root).getPropertyValue(`--${name}`).trim()])); }"""
    for deck in "24":
        for theme in ("light", "dark", "contrast"):
            colours: dict[str, str] = window.page.evaluate(script, [deck, theme])
            face = colours.pop("face")
            reds, blacks = [[_contrast(colours[suit], face) for suit in suits] for suits in ("dh", "cs")]
            # On the face every suit is read; and what is red is by far the lighter, whoever looks at it.
            assert min(reds) >= 4.5, (deck, theme)
            assert min(blacks) >= 1.5 * max(reds), (deck, theme)


def test_an_empty_place_is_seen_and_says_what_it_takes(open_window: OpenWindow) -> None:
    window = open_window().deal("Yukon", NEAR_THE_END)
    script = """([pile, theme]) => {
        const root = document.documentElement, slot = document.querySelector(`[data-pile=${pile}] .slot`);
        root.dataset.theme = theme;
        const probe = document.body.appendChild(document.createElement('i'));
        const parts = (value) => { probe.style.color = value; const read = getComputedStyle(probe).color; return read.match(/[\\d.]+/g).map(Number); };
        const style = getComputedStyle(slot), [line] = style.boxShadow.match(/rgba?\\([^)]+\\)/);
        const label = slot.querySelector('.k, .mark'), own = getComputedStyle(label);
        return { opacity: Number(style.opacity), lines: [parts(line), parts(label.matches('.k') ? own.color : own.fill)],
            felts: ['a', 'b', 'c'].map((name) => parts(`var(--felt-${name})`)), label: label.textContent };
    }"""
    for theme in ("light", "dark", "contrast"):
        seen = window.page.evaluate(script, ["t6", theme])
        assert "K" in seen["label"]
        for line in seen["lines"]:
            alpha = (line[3] if len(line) == 4 else 1) * seen["opacity"]
            for felt in seen["felts"]:
                mixed = [top * alpha + under * (1 - alpha) for top, under in zip(line, felt, strict=False)]
                shown, ground = (
                    "#" + "".join(f"{round(part):02x}" for part in colour[:3]) for colour in (mixed, felt)
                )
                assert _contrast(shown, ground) >= 3, (theme, shown, ground)


def test_no_gesture_of_the_browser_and_no_hover_of_a_finger_comes_between(open_window: OpenWindow) -> None:
    window = open_window().deal("Yukon", NEAR_THE_END)
    style = "(node, name) => getComputedStyle(node)[name]"
    # Pulling down reloads no page, dragging scrolls none.
    for name in ("html", "body"):
        assert (
            window.page.locator(name).evaluate(f"(node) => ({style})(node, 'overscrollBehaviorY')") == "none"
        )
    for name in ("#table", "#table .card"):
        assert window.page.locator(name).first.evaluate(f"(node) => ({style})(node, 'touchAction')") == "none"
    # A finger's first tap is spent on a hover style where there is one.
    hovers = window.page.evaluate("""() => {
        const found = [];
        const walk = (rules, allowed) => { for (const rule of rules) {
            if (rule.selectorText?.includes(':hover')) found.push([rule.selectorText, allowed]);
            if (rule.cssRules) walk(rule.cssRules, allowed || /\\(hover: ?hover\\)/.test(rule.media?.mediaText ?? ''));
        } };
        for (const sheet of document.styleSheets) walk(sheet.cssRules, false);
        return found;
    }""")
    assert hovers
    assert all(allowed for _, allowed in hovers), hovers


@pytest.mark.slow
@pytest.mark.parametrize("deck", ("2", "4"))
def test_every_eye_tells_red_from_black(open_window: OpenWindow, deck: str) -> None:
    # A card of each suit ends a column; in its corner are its rank and suit, in its colour.
    window = open_window(1440, 900).settings(deck=deck, theme="light").deal("Yukon", NEAR_THE_END)
    window.at_rest()
    areas = {}
    for suit, name in (("H", "t1"), ("C", "t2"), ("S", "t3"), ("D", "t4")):
        box = window.cards(name).last.bounding_box()
        assert box is not None
        areas[suit] = (box["x"] + 6, box["y"] + 4, box["width"] * 0.45, box["height"] * 0.16)
    for deficiency in ("none", "deuteranopia", "protanopia", "tritanopia", "achromatopsia"):
        seen = window.luminances(deficiency, areas)
        reds, blacks = (seen["D"], seen["H"]), (seen["C"], seen["S"])
        assert min(reds) + 0.05 >= 1.5 * (max(blacks) + 0.05), (deficiency, seen)


@pytest.mark.slow
def test_forced_colours_leave_cards_and_states_to_be_seen(open_window: OpenWindow) -> None:
    window = open_window(forced_colors="active").deal("Yukon", NEAR_THE_END)
    assert window.page.evaluate("matchMedia('(forced-colors: active)').matches")
    window.tap("t5", 2)
    expect(window.page.locator(".target")).to_have_count(1)
    style = "(node, name) => getComputedStyle(node.querySelector('.in'), name)"
    # A card keeps its own colours, red ones too; what is picked up and where it may go differ by their lines.
    face = window.cards("t2").last
    assert face.evaluate(f"(node) => ({style})(node).backgroundColor") == "rgb(255, 255, 255)"
    assert face.evaluate(f"(node) => ({style})(node).borderTopStyle") == "solid"
    red = window.cards("t1").last.evaluate(f"(node) => ({style})(node).color")
    assert red == "rgb(196, 38, 46)"
    assert window.page.locator(".lift.first").evaluate(f"(node) => ({style})(node).outlineStyle") == "solid"
    assert (
        window.page.locator(".target").evaluate(f"(node) => ({style})(node, '::after').borderTopStyle")
        == "dashed"
    )
    for button in window.page.locator(".tools button:visible").all():
        assert button.evaluate("(node) => getComputedStyle(node).borderTopWidth") != "0px"


@pytest.mark.slow
def test_a_page_that_is_read_from_right_to_left_keeps_its_table(open_window: OpenWindow) -> None:
    window = open_window().deal("Yukon Cells", "ms:24")
    window.page.evaluate("document.documentElement.dir = 'rtl'")
    for size in ((360, 640), (740, 360), (1440, 900)):
        is_sound(window, *size)
        # Columns are numbered from the left, as they are on the wire.
        left = [window.strip(f"t{number}")[0] for number in range(1, 8)]
        assert left == sorted(left)
    window.deal("Yukon", NEAR_THE_END)
    window.move_by_drag(TO_THE_END[0])
    window.move_by_tap(TO_THE_END[1])


@pytest.mark.slow
def test_states_differ_by_their_lines(open_window: OpenWindow) -> None:
    window = open_window().deal("Yukon", NEAR_THE_END)
    window.tap("t5", 2)
    expect(window.page.locator(".target")).to_have_count(1)
    style = "(node) => getComputedStyle(node.querySelector('.in'), '::after').borderTopStyle"
    assert window.page.locator(".target").evaluate(style) == "dashed"
    assert window.page.locator(".lift.first").evaluate(
        "(node) => getComputedStyle(node.querySelector('.in')).boxShadow.includes('4px')"
    )
    # Its face stays what it was.
    assert window.page.locator(".lift.first").evaluate(
        "(node) => getComputedStyle(node.querySelector('.in')).backgroundImage.includes('gradient')"
    )


@pytest.mark.slow
def test_an_animation_of_no_time_is_none(open_window: OpenWindow) -> None:
    for options, settings in (({}, {"speed": 0}), ({"reduced_motion": "reduce"}, {})):
        window = open_window(**options).settings(**settings).deal("Yukon", NEAR_THE_END)
        window.page.evaluate("""() => { window.moved = 0; const animate = Element.prototype.animate;
            Element.prototype.animate = function (...given) { window.moved += 1; return animate.apply(this, given); }; }""")
        window.move_by_tap(("t1", 2, "t6"))
        assert window.page.evaluate("window.moved") == 0


def test_the_client_is_small() -> None:
    import gzip  # noqa: PLC0415

    sizes = {path.name: len(gzip.compress(path.read_bytes(), 9)) for path in WEB.iterdir() if path.is_file()}
    assert sum(sizes.values()) < 60_000, sizes


def test_scripts_write_text_and_no_markup() -> None:
    for path in WEB.glob("*.js"):
        text = path.read_text()
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|DOMParser", text
        ), path
        assert "://" not in text.replace("http://www.w3.org/2000/svg", "").replace("'wss' : 'ws'}://", ""), (
            path
        )
