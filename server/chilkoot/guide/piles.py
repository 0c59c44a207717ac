"""The chapters on cells, the reserve, the stock with its waste, and on dealing the columns again."""

from __future__ import annotations

from chilkoot.guide.english import count, listed, number, said, times
from chilkoot.guide.page import Block, Paragraph
from chilkoot.guide.setting import Setting

__all__ = ["cells", "redeal", "reserve", "stock", "stock_title"]


def _paragraph(told: list[str]) -> tuple[Block, ...]:
    return (Paragraph(tuple(map(said, told))),) if told else ()


def cells(setting: Setting) -> tuple[Block, ...]:
    """What goes into a cell and out again."""
    if not setting.cells:
        return ()
    rules = setting.rules
    one = setting.cells == 1
    told = ["The cell holds one card" if one else "Each cell holds one card"]
    sources = setting.sources([zone for zone in rules.cells.sources if zone != "cells"])
    if sources:
        told.append(
            f"{listed(sources, 'or')} may be put into {'the cell when it is empty' if one else 'an empty cell'}, whatever it is"
        )
        told.append("Several cards never go there at once")
    else:
        told.append("No card may be put there")
    told.append(
        f"From {'the' if one else 'a'} cell a card may be put {listed(setting.places('cells'), 'or')}"
    )
    if "cells" in rules.cells.sources and not one:
        told.append("It may also change over to another empty cell, which changes nothing")
    return _paragraph(told)


def reserve(setting: Setting) -> tuple[Block, ...]:
    """What is played from the reserve."""
    if not setting.reserves:
        return ()
    rules = setting.rules
    nothing = "No card may be put there by hand"
    if rules.reserve.playable == "none":
        told = ["Cards of the reserve cannot be moved by hand", nothing]
        if any(columns.empty.auto_fill == "reserve" for columns in rules.tableau):
            told.insert(1, "They only fill columns that become empty")
        return _paragraph(told)
    told = [f"{setting.reserve_card()} may be put {listed(setting.places('reserve'), 'or')}", nothing]
    if any(one.zone == "reserve" and "D" in one.picture for one in rules.deal):
        told.append("When it leaves, the card under it is turned face up")
    return _paragraph(told)


def stock_title(setting: Setting) -> str:
    """What the chapter on the stock is called."""
    return "The stock and the waste" if setting.has_waste else "The stock"


def stock(setting: Setting) -> tuple[Block, ...]:
    """What turning the stock does, how often it is gone through, what is played from the waste."""
    if not setting.stock and not setting.has_waste:
        return ()
    told = _turning(setting) if setting.stock else []
    blocks = _paragraph(told)
    if setting.has_waste:
        blocks += _paragraph(_waste(setting))
    return blocks


def _turning(setting: Setting) -> list[str]:
    rules = setting.rules
    rule = rules.stock
    rounds = (
        f"{count(rule.draw, 'card')} face up" if rule.draw == 1 else f"{number(rule.draw)} cards, face up,"
    )
    if rule.deal_to == "none":
        fills = any("stock" in columns.empty.auto_fill for columns in rules.tableau)
        told = ["The stock cannot be turned"]
        return [f"{told[0]}; its cards only fill columns that become empty"] if fills else told
    if rule.deal_to == "waste":
        if rule.draw == 1:
            told = ["Turning the stock puts its next card face up on the waste"]
        else:
            told = [
                f"Turning the stock puts its next {count(rule.draw, 'card')}, or as many as are left, face up on the waste, one on the other",
                "Only the last of them can be played at first; the others follow as those on them leave",
            ]
    elif rule.deal_to == "reserve":
        told = [
            f"Turning the stock puts {rounds} on each reserve pile, from left to right, as long as there are cards"
        ]
    elif rule.deal_to == "tableau_nonempty":
        told = [
            f"Turning the stock puts {rounds} on each column that is not empty, from left to right, as long as there are cards",
            "If all columns are empty, only the first gets a card",
        ]
    else:
        told = [
            f"Turning the stock puts {rounds} on each column, empty ones included, from left to right, as long as there are cards",
            "The cards need not fit where they fall",
        ]
    if rule.deal_to == "tableau_nonempty":
        told.append("The cards need not fit where they fall")
    if rule.require == "no_empty_column":
        told.append("The stock cannot be turned while a column is empty")
        if rule.deal_to == "tableau":
            told[0] = told[0].replace(", empty ones included,", ",")
    return told + _passes(setting)


def _passes(setting: Setting) -> list[str]:
    rule = setting.rules.stock
    if rule.deal_to != "waste":
        return []
    if rule.passes == 1:
        return ["The stock is gone through only once"]
    order = "The cards are shuffled each time" if rule.shuffle else "The cards come again in the same order"
    turned = "When the stock is empty, the waste is turned over and becomes the stock again"
    if rule.passes is None:
        return [f"{turned}, as often as you like", order]
    return [f"{turned}: the stock may be gone through {times(rule.passes)} in all", order]


def _waste(setting: Setting) -> list[str]:
    return [
        f"The last card of the waste may be put {listed(setting.places('waste'), 'or')}",
        "No card may be put on the waste by hand",
    ]


def redeal(setting: Setting) -> tuple[Block, ...]:
    """Gathering the columns and dealing them again."""
    rule = setting.rules.redeal
    if not rule.times:
        return ()
    when = "when the stock is used up" if setting.turns_stock else "whenever you like"
    told = [
        f"{when}, you may have all cards of the columns gathered and dealt again, {times(rule.times)} in a game"
    ]
    if rule.gather == "packets":
        order = "The columns are put on each other, the last column at the bottom and the first on top"
        told.append(f"{order}, and are {'shuffled' if rule.shuffle else 'not shuffled'}")
        told.append(
            "From the top of that pile each column, from left to right, gets as many cards at once as it had at the start, as long as there are cards"
        )
    else:
        order = "from right to left" if rule.gather == "reverse" else "from left to right"
        if rule.shuffle:
            told.append("The gathered cards are shuffled")
        else:
            told.append(
                f"The columns are gathered {order} and put together unshuffled, so that the first card dealt is the bottom card of the first column gathered"
            )
        told.append("They are dealt to the columns as at the start, as far as they go")
    if setting.foundations:
        told.append("Cards on the foundations stay there")
    return _paragraph(told)
