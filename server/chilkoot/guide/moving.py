"""The chapters on columns: what may be built on them, what moves together, what an empty one takes."""

from __future__ import annotations

from collections.abc import Callable

from chilkoot.cards import RANK_WORDS
from chilkoot.engine.tables import rank_below
from chilkoot.guide.english import count, listed, number, rank_with_article, said
from chilkoot.guide.page import Block, Bullets, Item, Paragraph
from chilkoot.guide.relations import around, dead_ends, example, fits_on, is_free
from chilkoot.guide.setting import Setting, same_relation
from chilkoot.language.rules import Columns, Relation

__all__ = ["building", "empty_columns", "starts", "together", "turning"]


def _by_group(setting: Setting, tell: Callable[[Setting, Columns], list[str]]) -> tuple[Block, ...]:
    """What there is to tell of all columns, or of each group of columns under its name where they differ."""
    told = [(name, tuple(map(said, tell(setting, group)))) for name, group in setting.column_groups()]
    if len({sentences for _, sentences in told}) == 1:
        return (Paragraph(told[0][1]),) if told[0][1] else ()
    return (
        Bullets(
            tuple(
                Item(
                    sentences or ("There is nothing more to say about these columns.",),
                    name[:1].upper() + name[1:],
                )
                for name, sentences in told
            )
        ),
    )


def building(setting: Setting) -> tuple[Block, ...]:
    """Which card may be put on the last card of a column."""
    return _by_group(setting, _build)


def _build(setting: Setting, columns: Columns) -> list[str]:
    relation, rules = columns.build, setting.rules
    if is_free(relation):
        told = ["Any card may be put on the last card of a column"]
    else:
        told = [f"A card may be put on the last card of a column if it is {fits_on(relation, 'that card')}"]
        if shown := example(relation, rules):
            told.append(shown)
    if turned := around(relation, rules):
        told.append(turned)
    if ends := dead_ends(relation, rules):
        told.append(f"nothing can be put on {listed((rank_with_article(rank) for rank in ends), 'or')}")
    if columns.max_cards is not None:
        told.append(f"a column holds at most {count(columns.max_cards, 'card')}")
    return told


def together(setting: Setting) -> tuple[Block, ...]:
    """Which cards move together from column to column, and how many."""
    return _by_group(setting, _group)


def _group(setting: Setting, columns: Columns) -> list[str]:
    group = columns.group
    relation = Relation(suit=group.suit, rank=group.rank, wrap=group.wrap)
    in_order = _sequence(setting, columns, relation)
    if group.unit == "single":
        return ["Cards move one at a time: only the last card of a column can be taken"]
    if group.unit == "whole":
        told = [
            "From column to column, only whole columns move: all cards of a column at once",
            f"A whole column moves only if all its cards are face up and {in_order[0]}",
            *in_order[1:],
            "The bottom card of the column has to fit where it is put",
        ]
        if setting.foundations or setting.cells:
            told.append("only to other places does the last card go by itself")
    elif group.unit == "top_or_whole":
        told = [
            "The last card of a column moves by itself, or else the whole column at once",
            f"A whole column moves only if all its cards are face up and {in_order[0]}",
            *in_order[1:],
            "its bottom card has to fit where it is put",
        ]
    elif group.unit == "any" or is_free(relation):
        told = [
            "You may pick up any face-up card, together with all the cards that lie on it, whether they are in order or not",
            "only the card you pick up has to fit where you put it",
        ]
        if group.unit == "run" and setting.covers_cards:
            told.append("the cards that move must all be face up")
    else:
        told = [
            f"Several cards at the end of a column move together if they are face up and {in_order[0]}",
            *in_order[1:],
            "You may also take only some of them, as long as no card is left lying on those you take",
            "the first of the cards, the one that lies under the others, has to fit where you put it",
        ]
    return told + _limit(setting, columns)


def _sequence(setting: Setting, columns: Columns, relation: Relation) -> list[str]:
    """What holds cards together, as the end of a sentence, and further sentences."""
    if is_free(relation):
        return ["in whatever order"]
    told = [f"in sequence: each after the first is {fits_on(relation, 'the card it lies on')}"]
    if relation.wrap != columns.build.wrap or (relation.wrap and not same_relation(columns)):
        turned = around(relation, setting.rules)
        if turned:
            told.append(f"in such a sequence {turned}")
        elif not relation.wrap and relation.rank not in ("any", "equal"):
            low, high = setting.order[0], setting.order[-1]
            told.append(
                f"in such a sequence the ranks do not go round: {RANK_WORDS[low]} and {RANK_WORDS[high]} break it"
            )
    elif relation.wrap and relation.rank not in ("any", "equal"):
        told.append("here too the ranks go round")
    return told


def _limit(setting: Setting, columns: Columns) -> list[str]:
    group = columns.group
    if group.limit == "none":
        return []
    runs = group.count == "suit_runs"
    noun = "run" if runs else "card"
    what = ["cards of one suit that go down one rank at a time count together as one run"] if runs else []
    if isinstance(group.limit, int):
        return [f"at most {count(group.limit, noun)} may be moved from column to column at once", *what]
    doubles = group.limit == "supermove" and any(
        each.empty.accepts == "any" for each in setting.rules.tableau
    )
    if not setting.cells and not doubles:
        return [f"at most one {noun} may be moved from column to column at once", *what]
    if setting.cells:
        told = [
            f"at most one {noun} more than there are empty cells may be moved from column to column at once"
        ]
        shown = (
            f"with two empty cells three {noun}s may move"
            if setting.cells > 1
            else f"with the cell empty two {noun}s may move"
        )
    else:
        told, shown = [f"only one {noun} may be moved from column to column at once"], ""
    if doubles:
        which = (
            " that takes any card"
            if any(each.empty.accepts != "any" for each in setting.rules.tableau)
            else ""
        )
        told.append(
            f"Each empty column{which} doubles that number, not counting the column that the cards are moved to"
        )
        more = number(6 if setting.cells > 1 else 4 if setting.cells else 2)
        if shown:
            shown += f", and with one empty column besides, {more}"
        else:
            shown = f"with one empty column besides the one you move to, {more} {noun}s may move"
    return [*told, f"for example, {shown}", *what]


def turning(setting: Setting) -> tuple[Block, ...]:
    """What happens to cards that lie face down."""
    if not setting.covers_cards:
        return ()
    groups = setting.column_groups()
    manual = [name for name, group in groups if group.expose == "manual"]
    by_itself = "When a face-down card becomes the last card of its column, it is turned face up at once."
    by_hand = (
        "When a face-down card becomes the last card of its column, you turn it up yourself, which is a move of its own.",
        "Until you do, nothing can be put on it.",
    )
    told: tuple[str, ...] = ("Face-down cards never move.",)
    if not manual:
        told += (by_itself,)
    elif len(manual) == len(groups):
        told += by_hand
    else:
        told += (
            by_itself,
            f"In {listed(manual)}, however, you turn it up yourself, which is a move of its own.",
        )
        told += by_hand[1:]
    return (Paragraph(told),)


def empty_columns(setting: Setting) -> tuple[Block, ...]:
    """What an empty column takes, and what fills it by itself."""
    return _by_group(setting, _empty)


def _empty(setting: Setting, columns: Columns) -> list[str]:
    filled, by_hand = _fill(setting, columns), _by_hand(setting, columns)
    if filled and columns.empty.auto_fill != "next_column":
        # What the player may do begins only where filling ends.
        by_hand[0] = by_hand[0][:1].lower() + by_hand[0][1:]
        by_hand[0] = f"When nothing is left to fill it from, {by_hand[0]}"
    return filled + by_hand


def _fill(setting: Setting, columns: Columns) -> list[str]:
    fill = columns.empty.auto_fill
    waste, stock = setting.has_waste, setting.stock > 0
    if fill == "reserve" and setting.reserves:
        which = "" if setting.reserves == 1 else ", the first pile from the left that still has one"
        return [
            f"An empty column is filled at once, without your doing, with the last card of the reserve{which}"
        ]
    if fill == "waste" and waste:
        return ["An empty column is filled at once, without your doing, with the last card of the waste"]
    if (fill == "stock" and stock) or (fill == "waste_then_stock" and stock and not waste):
        return [
            "An empty column is filled at once, without your doing, with the next card of the stock, face up"
        ]
    if fill == "waste_then_stock" and waste:
        told = ["An empty column is filled at once, without your doing, with the last card of the waste"]
        if stock:
            told.append("When the waste is empty, the next card of the stock is used, face up")
        return told
    if fill == "next_column" and setting.columns > 1:
        return [
            "A column that becomes empty is filled at once, without your doing, from the next column to its right",
            "All the cards at the end of that column that can be moved together come over",
            "That may empty the next column in turn, which is then filled from the one to its right, and so on, from left to right",
            "An empty neighbour stops this, and the last column has no neighbour to be filled from",
        ]
    return []


def starts(setting: Setting, columns: Columns) -> tuple[str, bool]:
    """Which cards may start an empty column, as the subject of a sentence; and whether a card may at all."""
    accepts = columns.empty.accepts
    if accepts == "any":
        return "any card", True
    if accepts == "none":
        return "no card", False
    if accepts == "base_high":
        groups = setting.rules.foundations
        base = groups[0].base if groups else None
        if isinstance(base, int):
            return f"only {rank_with_article(rank_below(setting.rules, base))}", True
        return "only a card that is one rank below the base rank", True
    return f"only {listed((rank_with_article(rank) for rank in accepts), 'or')}", True


def _riders(setting: Setting, columns: Columns) -> str:
    """What comes along into an empty column, as a clause."""
    group, empty = columns.group, columns.empty
    if not setting.moves_groups or "tableau" not in empty.sources or empty.max_cards == 1:
        return ""
    if len(setting.rules.tableau) > 1:
        return ", together with the cards that move with it"
    if group.unit == "any":
        return ", together with all the cards that lie on it"
    if group.unit == "run":
        return ", by itself or with the cards in sequence that lie on it"
    return ", by itself or with its whole column" if group.unit == "top_or_whole" else ""


def _by_hand(setting: Setting, columns: Columns) -> list[str]:
    subject, may_start = starts(setting, columns)
    empty = columns.empty
    if not may_start:
        return ["An empty column stays empty: no card may be put there"]
    told = [f"{subject} may be put into an empty column{_riders(setting, columns)}"]
    if empty.accepts == "base_high" and subject.endswith("base rank"):
        low, high = setting.order[0], setting.order[-1]
        told.append(
            f"where the foundations start with {rank_with_article(high)}, that is "
            f"{rank_with_article(rank_below(setting.rules, high))}; where they start with "
            f"{rank_with_article(low)}, it is {rank_with_article(rank_below(setting.rules, low))}"
        )
        if (
            any(group.base == "first_played" for group in setting.rules.foundations)
            and setting.rules.deck.low != "dealt"
        ):
            told.append("as long as no card is on a foundation, nothing may be put there")
    if empty.max_cards is not None and setting.moves_groups and "tableau" in empty.sources:
        told.append(f"at most {count(empty.max_cards, 'card')} may be put there at once")
    whole = setting.sources(("tableau", "cells", "waste", "reserve", "foundations"))
    allowed = setting.sources(empty.sources)
    if len(allowed) < len(whole):
        if allowed:
            told.append(f"it may be only {listed(allowed, 'or')}")
        else:
            return ["An empty column stays empty: there is no card that may be put there"]
    if empty.whole_column == "refuse" and "tableau" in empty.sources:
        told.append("a whole column may not be moved into an empty one, since that would change nothing")
    return told
