"""A table as a picture: one SVG of its own, in the web client's art, with nothing in it that a viewer could not see.

It draws what a table's view names, for any number of piles; it knows no rule. Pure: piles and art in, text out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

__all__ = ["art_of", "picture_of"]

_W, _H = 100, 140
_GAP, _FAN_DOWN, _FAN_UP = 16, 13, 34
_RED, _BLACK = "#c4262e", "#17212b"
_COLOURS: Final = {
    "--gold": "#b98a2f", "--gold-2": "#e9cf8f", "--skin": "#f4dfc6", "--ink": "#17212b", "--back-a": "#1f4d6e",
    "--back-b": "#123049", "--back-line": "#8fd3d1", "--back-rim": "#dfeeee",
}  # fmt: skip
_L, _M, _R = 32.0, 50.0, 68.0
_PIPS: Final[dict[str, tuple[tuple[float, float], ...]]] = {
    "A": ((_M, 72),),
    "2": ((_M, 42), (_M, 98)),
    "3": ((_M, 42), (_M, 70), (_M, 98)),
    "4": ((_L, 42), (_R, 42), (_L, 98), (_R, 98)),
    "5": ((_L, 42), (_R, 42), (_M, 70), (_L, 98), (_R, 98)),
    "6": ((_L, 42), (_R, 42), (_L, 70), (_R, 70), (_L, 98), (_R, 98)),
    "7": ((_L, 42), (_R, 42), (_M, 56), (_L, 70), (_R, 70), (_L, 98), (_R, 98)),
    "8": ((_L, 42), (_R, 42), (_M, 56), (_L, 70), (_R, 70), (_M, 84), (_L, 98), (_R, 98)),
    "9": ((_L, 42), (_R, 42), (_L, 60.7), (_R, 60.7), (_M, 70), (_L, 79.3), (_R, 79.3), (_L, 98), (_R, 98)),
    "T": ((_L, 42), (_R, 42), (_M, 51.3), (_L, 60.7), (_R, 60.7), (_L, 79.3), (_R, 79.3), (_M, 88.7), (_L, 98), (_R, 98)),
}  # fmt: skip


def art_of(page: str) -> str:
    """The drawings of suits, ranks, courts and the back, as the client's page has them, with their colours filled in."""
    found = re.search(r'<svg class="art".*?<defs>(.*?)</defs>', page, re.DOTALL)
    art = found[1] if found else ""
    kept = re.sub(r'<path id="ic-[^>]*/>\n?', "", art)
    return re.sub(r"var\((--[a-z0-9-]+)\)", lambda name: _COLOURS.get(name[1], _BLACK), kept)


def picture_of(piles: Mapping[str, Sequence[str]], art: str, *, title: str) -> str:
    """The picture of a table as it lies; `??` shows its back."""
    columns = _named(piles, "t")
    left, right = [*_named(piles, "scwr")], _named(piles, "f")
    rails_left, rails_right = -(-len(left) // 4), -(-len(right) // 4)
    start = rails_left * (_W + _GAP) + (_GAP if rails_left else 0)
    parts = [
        _pile(piles[name], (number // 4) * (_W + _GAP), (number % 4) * (_H + _GAP), fans=False)
        for number, name in enumerate(left)
    ]
    height: float = 4 * _H + 3 * _GAP
    for number, name in enumerate(columns):
        cards = piles[name]
        parts.append(_pile(cards, start + number * (_W + _GAP), 0, fans=True))
        height = max(height, _H + sum(_step(card) for card in cards[:-1]))
    edge = start + len(columns) * (_W + _GAP) + _GAP
    for number, name in enumerate(right):
        x, y = edge + (number // 4) * (_W + _GAP), (number % 4) * (_H + _GAP)
        mark = "" if piles[name] or len(right) % 4 else _suit("cdhs"[number % 4], 28, 48, 44, "#ffffff66")
        parts.append(_pile(piles[name], x, y, fans=False, mark=mark))
    width = edge + rails_right * (_W + _GAP) - _GAP
    # The frame is always 16 : 10, so that pictures stand well side by side.
    frame_w = max(width + 60.0, (height + 60) * 1.6)
    frame_h = frame_w / 1.6
    inset_x, inset_y = (frame_w - width) / 2, min(30.0, (frame_h - height) / 2)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {frame_w:.0f} {frame_h:.0f}" width="800" height="500" role="img">'
        f"<title>{_escaped(title)}</title><defs>{art}"
        f'<linearGradient id="felt" x1="0" y1="0" x2="0" y2="1"><stop offset="0" stop-color="#1a4a42"/>'
        f'<stop offset=".5" stop-color="#123630"/><stop offset="1" stop-color="#0a211e"/></linearGradient></defs>'
        f'<rect width="100%" height="100%" fill="url(#felt)"/><g transform="translate({inset_x:.0f} {inset_y:.0f})">{"".join(parts)}</g></svg>'
    )


def _named(piles: Mapping[str, Sequence[str]], kinds: str) -> list[str]:
    names = [name for name in piles if name[0] in kinds]
    return sorted(names, key=lambda name: (kinds.index(name[0]), int(name[1:])))


def _step(card: str) -> int:
    return _FAN_DOWN if card == "??" else _FAN_UP


def _pile(cards: Sequence[str], x: float, y: float, *, fans: bool, mark: str = "") -> str:
    if not cards:
        return (
            f'<g transform="translate({x:.0f} {y:.0f})"><rect x="1" y="1" width="98" height="138" rx="7" fill="#ffffff0d" '
            f'stroke="#d6f0e680" stroke-width="2"/>{mark}</g>'
        )
    if not fans:
        return _card(cards[-1], x, y, is_covered=False)
    parts: list[str] = []
    at = y
    for number, card in enumerate(cards):
        parts.append(_card(card, x, at, is_covered=number < len(cards) - 1))
        at += _step(card)
    return "".join(parts)


def _card(card: str, x: float, y: float, *, is_covered: bool) -> str:
    if card == "??":
        return f'<use href="#back" x="{x:.0f}" y="{y:.0f}" width="100" height="140"/>'
    rank, suit = card[0], card[1].lower()
    colour = _RED if suit in "dh" else _BLACK
    parts = [
        f'<g transform="translate({x:.0f} {y:.0f})" color="{colour}">',
        '<rect x=".5" y=".5" width="99" height="139" rx="7.5" fill="#fdfcf7" stroke="#101c1e66"/>',
        _index(rank, suit),
    ]
    if not is_covered:
        parts += [f'<g transform="rotate(180 50 70)">{_index(rank, suit)}</g>', _middle(rank, suit)]
    return "".join([*parts, "</g>"])


def _index(rank: str, suit: str) -> str:
    return (
        f'<g transform="translate(7 5) scale(.8)"><use href="#rk-{rank}" fill="none" stroke="currentColor" stroke-width="3.7" '
        f'stroke-linecap="round" stroke-linejoin="round"/></g>{_suit(suit, 36 if rank == "T" else 29, 6, 20, "currentColor")}'
    )


def _middle(rank: str, suit: str) -> str:
    if rank in _PIPS:
        size = 42.0 if rank == "A" else 16.5
        turned = ' transform="rotate(180 {} {})"'
        return "".join(
            _suit(
                suit, x - size / 2, y - size / 2, size, "currentColor", turned.format(x, y) if y > 75 else ""
            )
            for x, y in _PIPS[rank]
        )
    mark = _suit(suit, 24.3, 34, 10.5, "currentColor")
    return (
        f'<g transform="translate(50 70) scale(.95) translate(-50 -70)"><use href="#ct-{rank}" width="100" height="140"/>'
        f'{mark}<g transform="rotate(180 50 70)">{mark}</g></g>'
    )


def _suit(suit: str, x: float, y: float, size: float, fill: str, more: str = "") -> str:
    return (
        f'<use href="#su-{suit}" x="{x:g}" y="{y:g}" width="{size:g}" height="{size:g}" fill="{fill}"{more}/>'
    )


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
