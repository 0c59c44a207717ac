"""What an action does to a position, with everything it sets off (RULES.md, meanings 3, 6, 7 and 8).

Each function changes a position that the caller knows to allow it, and appends every change to a list, so that the whole
action can be taken back at once.
"""

from __future__ import annotations

import hmac

from chilkoot.cards import DOWN, rank_of
from chilkoot.engine.deal import shuffle
from chilkoot.engine.moves import PileMove, foundation_for, homeward, movable, runs_homeward
from chilkoot.engine.position import Change, Position, Shuffled

__all__ = ["play_draw", "play_home", "play_move", "play_turn", "settle", "uncovered"]


def play_move(position: Position, move: PileMove, changes: list[Change]) -> None:
    """Move cards by hand, then settle."""
    source, n, target = move
    zones = position.tables.layout.zones
    position.returned = position.piles[source][-1] if zones[source] == "foundations" else -1
    changes.append(position.move(source, target, n))
    _first_played(position, target)
    settle(position, changes)


def play_turn(position: Position, column: int, changes: list[Change]) -> None:
    """Turn a covered last card up by hand, then settle."""
    position.returned = -1
    changes.append(position.turn_card(column, len(position.piles[column]) - 1))
    settle(position, changes)


def play_home(position: Position, changes: list[Change]) -> None:
    """Send home every card that can legally go, repeatedly, until none can."""
    position.returned = -1
    while _send_one(position, changes):
        settle(position, changes)


def _send_one(position: Position, changes: list[Change]) -> bool:
    for source in homeward(position):
        target = foundation_for(position, source)
        if target is not None:
            changes.append(position.move(source, target, 1))
            _first_played(position, target)
            return True
    return _runs_home(position, changes)


def play_draw(position: Position, changes: list[Change]) -> None:
    """Turn the stock, turn the waste over, or redeal the tableau; then settle."""
    position.returned = -1
    layout, piles, rules = position.tables.layout, position.piles, position.rules
    stock = layout.stock
    if stock >= 0 and rules.stock.deal_to != "none" and piles[stock]:
        _deal_stock(position, changes)
    elif (
        stock >= 0
        and rules.stock.deal_to == "waste"
        and piles[layout.waste]
        and (rules.stock.passes is None or position.turn < rules.stock.passes)
    ):
        changes.append(position.move(layout.waste, stock, len(piles[layout.waste]), flip=True))
        position.turn += 1
        if rules.stock.shuffle:
            key = _later_key(position, "stock", position.turn)
            changes.append(position.shuffle_pile(stock, shuffle(key, len(piles[stock]))))
    else:
        _redeal_tableau(position, changes)
    settle(position, changes)


def _later_key(position: Position, what: str, count: int) -> bytes:
    r"""The key of a shuffle after the deal: HMAC-SHA-256(deal key, "chilkoot-<what>/1\0" ‖ count as 8 bytes)."""
    return hmac.digest(position.key, f"chilkoot-{what}/1\0".encode() + count.to_bytes(8, "big"), "sha256")


def _deal_stock(position: Position, changes: list[Change]) -> None:
    layout, piles, stock_rules = position.tables.layout, position.piles, position.rules.stock
    stock = layout.stock
    if stock_rules.deal_to == "waste":
        n = min(stock_rules.draw, len(piles[stock]))
        changes.append(position.move(stock, layout.waste, n, flip=True))
        held = len(piles[layout.waste])
        changes += [position.turn_card(layout.waste, at) for at in range(held - n, held)]
        return
    if stock_rules.deal_to == "reserve":
        places = list(range(layout.first_reserve, layout.first_foundation))
    else:
        places = list(range(layout.columns))
    if stock_rules.deal_to == "tableau_nonempty":
        # Where no column holds a card the first one gets one, or the stock could never be played.
        places = [place for place in places if piles[place]] or places[:1]
    for place in places[: len(piles[stock])]:
        changes.append(position.move(stock, place, 1, flip=True))
        changes.append(position.turn_card(place, len(piles[place]) - 1))


def _redeal_tableau(position: Position, changes: list[Change]) -> None:
    """Gather the columns, bottom card first, and deal them again, in that order or shuffled, by the pictures or in packets."""
    layout, piles, rules = position.tables.layout, position.piles, position.rules
    position.redealt += 1
    columns = list(range(layout.columns))
    if rules.redeal.gather != "order":
        columns.reverse()
    order = [card | DOWN for column in columns for card in piles[column]]
    if rules.redeal.shuffle:
        order = [order[at] for at in shuffle(_later_key(position, "redeal", position.redealt), len(order))]
    for column in columns:
        changes += [
            position.turn_card(column, at) for at, card in enumerate(piles[column]) if not card & DOWN
        ]
    # All lie face down now, so how they are gathered shows nothing: the last column holds the pack, put in order unseen.
    pack = layout.columns - 1
    changes += [position.move(column, pack, len(piles[column])) for column in range(pack) if piles[column]]
    by_packets = rules.redeal.gather == "packets"
    places = (_packet_places if by_packets else _redeal_places)(position, len(order))
    arranged = [card for card, (place, _) in zip(order, places, strict=True) if place == pack]
    arranged += [
        card for card, (place, _) in reversed(list(zip(order, places, strict=True))) if place != pack
    ]
    before, piles[pack] = piles[pack], arranged
    changes.append(Shuffled(pack, before, arranged[:]))
    changes += [position.move(pack, place, 1) for place, _ in places if place != pack]
    dealt = [0] * layout.columns
    for place, letter in places:
        if letter == "U":
            changes.append(position.turn_card(place, dealt[place]))
        dealt[place] += 1


def _tableau_passes(position: Position) -> list[list[tuple[int, str]]]:
    """Column and letter (U or D) of each card of the deal's passes over the tableau; a row face up where it has none."""
    passes = []
    for one in position.rules.deal:
        if one.zone == "tableau" and one.rank is None:
            across = [(place, letter) for place, letter in enumerate(one.picture) if letter != "."]
            passes.append(across[::-1] if one.leftward else across)
    row = [(place, "U") for place in range(position.tables.layout.columns)]
    return [across for across in passes if across] or [row]


def _redeal_places(position: Position, count: int) -> list[tuple[int, str]]:
    """Column and letter of each card of a redeal: the pictures once, then their last pass again and again."""
    passes = _tableau_passes(position)
    places = [place for one in passes for place in one]
    while len(places) < count:
        places += passes[-1]
    return places[:count]


def _packet_places(position: Position, count: int) -> list[tuple[int, str]]:
    """Column and letter of each card where packets as high as the columns were at first come off the top.

    The first column gets the first packet, so what was gathered first, at the bottom, makes up the last one.
    """
    letters: dict[int, list[str]] = {}
    for one in _tableau_passes(position):
        for place, letter in one:
            letters.setdefault(place, []).append(letter)
    columns = sorted(letters)
    for extra in range(count - sum(map(len, letters.values()))):
        column = columns[extra % len(columns)]
        letters[column].append(letters[column][-1])
    places: list[tuple[int, str]] = []
    for column in columns:
        held = letters[column][: count - len(places)]
        places = [(column, letter) for letter in held] + places
    return places


def settle(position: Position, changes: list[Change]) -> None:
    """Everything an action sets off, until nothing changes: runs home, columns filled, cards turned up, safe cards home."""
    tables = position.tables
    automatic = tables.auto_home != "never"
    while True:
        before = len(changes)
        if tables.run_homes:
            while _runs_home(position, changes):
                pass
        if tables.fills:
            _fill_columns(position, changes)
        _turn_up(position, changes)
        if automatic:
            _auto_home(position, changes)
        if len(changes) == before or not (tables.run_homes or tables.fills or automatic):
            break
    position.best = max(position.best, position.score())


def _runs_home(position: Position, changes: list[Change]) -> bool:
    for source, n, target in runs_homeward(position):
        changes.append(position.move(source, target, n))
        return True
    return False


def _fill_columns(position: Position, changes: list[Change]) -> None:
    tables, piles = position.tables, position.piles
    layout = tables.layout
    for column in range(layout.columns):
        kind = tables.columns[column].empty.auto_fill
        if piles[column] or kind == "none":
            continue
        if kind == "next_column":
            neighbour = column + 1
            if neighbour < layout.columns and piles[neighbour]:
                n = len(piles[neighbour]) - movable(tables, neighbour, piles[neighbour])
                if n:
                    changes.append(position.move(neighbour, column, n))
            continue
        source = _fill_source(position, kind)
        if source == layout.stock and source >= 0:
            changes.append(position.move(source, column, 1, flip=True))
            changes.append(position.turn_card(column, 0))
        elif source >= 0:
            changes.append(position.move(source, column, 1))


def _fill_source(position: Position, kind: str) -> int:
    layout, piles = position.tables.layout, position.piles
    if kind == "reserve":
        return next(
            (pile for pile in range(layout.first_reserve, layout.first_foundation) if piles[pile]), -1
        )
    if kind in ("waste", "waste_then_stock") and layout.waste >= 0 and piles[layout.waste]:
        return layout.waste
    if kind in ("stock", "waste_then_stock") and layout.stock >= 0 and piles[layout.stock]:
        return layout.stock
    return -1


def uncovered(position: Position) -> list[int]:
    """Piles whose last card lies face down and is turned up with the next action: before the first one there may be some."""
    tables, layout = position.tables, position.tables.layout
    return [
        number
        for number, cards in enumerate(position.piles[: layout.first_foundation])
        if cards
        and cards[-1] & DOWN
        and (not tables.columns[number].manual if number < layout.columns else number >= layout.first_reserve)
    ]


def _turn_up(position: Position, changes: list[Change]) -> None:
    changes += [position.turn_card(number, len(position.piles[number]) - 1) for number in uncovered(position)]


def _auto_home(position: Position, changes: list[Change]) -> None:
    piles = position.piles
    if not homeward(position):
        return
    for source in position.tables.home_sources:
        cards = piles[source]
        if not cards or cards[-1] & DOWN or cards[-1] == position.returned:
            continue
        target = foundation_for(position, source)
        if target is None:
            continue
        foundations = _foundation_auto(position, target)
        if foundations == "always" or (foundations == "safe" and is_safe(position, cards[-1])):
            changes.append(position.move(source, target, 1))
            _first_played(position, target)


def _foundation_auto(position: Position, target: int) -> str:
    at = target - position.tables.layout.first_foundation
    for group in position.rules.foundations:
        if at < group.count:
            return group.auto
        at -= group.count
    return "never"


def is_safe(position: Position, card: int) -> bool:
    """Whether no other card can still need this one: all that could be built on it are home, all packs' copies."""
    tables = position.tables
    if tables.unsafe_always:
        return False
    needed = tables.needs[card]
    if not needed:
        return True
    layout = tables.layout
    first = layout.first_foundation
    home: dict[int, int] = {}
    for cards in position.piles[first : first + layout.foundations]:
        for each in cards:
            home[each] = home.get(each, 0) + 1
    while needed:
        bit = needed & -needed
        if home.get(bit.bit_length() - 1, 0) < tables.copies:
            return False
        needed ^= bit
    return True


def _first_played(position: Position, target: int) -> None:
    tables = position.tables
    if position.base is not None or tables.layout.zones[target] != "foundations":
        return
    if tables.foundations[target - tables.layout.first_foundation].base_is_open:
        position.set_base(rank_of(position.piles[target][0]))
