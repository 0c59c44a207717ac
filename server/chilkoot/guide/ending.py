"""The chapters on what a game is for: the goal, how it ends, its points, what helps the player, which deals there are."""

from __future__ import annotations

from chilkoot.guide.english import count, listed, number, rank_with_article, said, times
from chilkoot.guide.page import Block, Bullets, Item, Paragraph
from chilkoot.guide.setting import Setting
from chilkoot.language.rules import Foundations, Run

__all__ = ["aids", "deals", "goal", "idle_moves", "losing", "score", "winning_run"]


def winning_run(setting: Setting) -> str:
    """What counts as a complete run where the goal is to have only such runs in the columns."""
    groups = setting.rules.foundations
    return setting.run_words(
        groups[0] if groups else Foundations(run=Run(length=len(setting.rules.deck.ranks)))
    )


def goal(setting: Setting) -> tuple[Block, ...]:
    """When the game is won."""
    rules = setting.rules
    size = rules.deck.size()
    kind = rules.goal.kind
    if kind == "runs_in_tableau":
        home = ", apart from those on the foundations" if setting.foundations else ""
        told = [
            f"Bring all {number(size)} cards{home} into columns that are each exactly one complete run: {winning_run(setting)}",
            "The game is won as soon as that is so",
        ]
    else:
        piles = (
            "the foundation" if setting.foundations == 1 else f"the {number(setting.foundations)} foundations"
        )
        if kind == "cards_in_foundations" and rules.goal.cards < size:
            told = [
                f"Bring {count(rules.goal.cards, 'card')} of the {number(size)} home, that is, onto {piles}{_ways(setting)}",
                "The game is won as soon as so many cards are home",
            ]
        else:
            told = [
                f"Bring all {number(size)} cards home, that is, onto {piles}{_ways(setting)}",
                "The game is won when the last card is home",
            ]
    return (Paragraph(tuple(map(said, told))),)


def _ways(setting: Setting) -> str:
    """How the foundations are built, where that fits into half a sentence."""
    groups = [group for group in setting.rules.foundations if group.count]
    if len(groups) != 1:
        return ""
    group = groups[0]
    if group.accept == "run":
        return f", in complete runs of {count(group.run.length, 'card')}"
    order, suits = setting.order, setting.rules.deck.suits
    each = group.count // len(suits)
    if group.build.suit != "same" or group.count % len(suits) or len(suits) == 1:
        return ""
    which = f", {number(each)} for each suit"
    if isinstance(group.base, int) and not group.build.wrap and group.base in (order[0], order[-1]):
        first, last = (order[0], order[-1]) if group.base == order[0] else (order[-1], order[0])
        way = {(True, "up"): "up", (False, "down"): "down"}.get((first == order[0], group.build.rank))
        if way:
            return f"{which}, which {'are' if group.count > 1 else 'is'} built {way} from {_the(first)} to {_the(last)}"
    return which


def _the(rank: int) -> str:
    return "the " + rank_with_article(rank).split(" ", 1)[1]


def idle_moves(setting: Setting) -> list[str]:
    """The moves that the rules allow although they change nothing."""
    rules = setting.rules
    told = []
    if setting.columns > 1 and any(
        columns.empty.accepts != "none"
        and columns.empty.whole_column == "allow"
        and "tableau" in columns.empty.sources
        for columns in rules.tableau
    ):
        told.append("a whole column into an empty one")
    if setting.cells > 1 and "cells" in rules.cells.sources:
        told.append("a card from cell to cell")
    return told


def losing(setting: Setting) -> tuple[Block, ...]:
    """How a game ends, what may still be done when it is lost, and what being stuck means."""
    items = [Item(("The game is won as soon as the goal is reached.",), "Won"), *_lost(setting)]
    if (progress := _progress(setting)) and setting.rules.score.per_foundation_card:
        items.append(
            Item(
                (
                    said(f"the game is called stuck when no sequence of moves{progress}"),
                    "It is not over then: take back some moves, or give up.",
                ),
                "Stuck",
            )
        )
    return (Bullets(tuple(items)),)


def _lost(setting: Setting) -> list[Item]:
    rules = setting.rules
    if rules.loss.when == "never":
        return [Item(("The game is lost only when you give up, which you may do at any time.",), "Lost")]
    told = ["The game is lost as soon as no legal move is left"]
    if idle := idle_moves(setting):
        told.append(f"Moving {listed(idle, 'or')} changes nothing and does not count as a legal move here")
    others = []
    if setting.turns_stock:
        others.append("turning the stock")
    if rules.redeal.times:
        others.append("dealing the columns again")
    if setting.covers_cards and any(columns.expose == "manual" for columns in rules.tableau):
        others.append("turning up a card")
    if others:
        told.append(f"As long as {listed(others, 'or')} is possible, the game is not lost")
    if rules.aids.undo != 0:
        left = "" if rules.aids.undo is None else ", if you have undos left"
        told.append(f"After such a loss you may still undo your last moves and play on{left}")
    given_up = Item(("You may give up at any time, which loses the game for good.",), "Given up")
    return [Item(tuple(map(said, told)), "Lost"), given_up]


def _progress(setting: Setting) -> str:
    """What no sequence of moves can do where a game is stuck."""
    if not setting.foundations:
        return ""
    hidden = setting.covers_cards or setting.stock or _covers_reserve(setting)
    if hidden:
        return ", as far as you can see the cards, can turn up another card or bring another card home"
    return " can bring another card home"


def _covers_reserve(setting: Setting) -> bool:
    return any(one.zone == "reserve" and "D" in one.picture for one in setting.rules.deal)


def score(setting: Setting) -> tuple[Block, ...]:
    """How points are counted."""
    worth = setting.rules.score.per_foundation_card
    if not setting.foundations or not worth:
        return (Paragraph(("There are no points in this game: it is won or lost.",)),)
    each = (
        "the score is the number of cards on the foundations"
        if worth == 1
        else f"each card on a foundation counts {count(worth, 'point')}"
    )
    goal_rule, size = setting.rules.goal, setting.rules.deck.size()
    if goal_rule.kind == "cards_in_foundations" and goal_rule.cards < size:
        most = f"reaching the goal is worth {count(goal_rule.cards * worth, 'point')} or more"
    else:
        most = f"the most there is to win is {count(size * worth, 'point')}"
    return (Paragraph((said(f"{each}, whether the game is won or lost"), said(most))),)


def aids(setting: Setting) -> tuple[Block, ...]:
    """What helps the player: undo, hint, send home, auto."""
    rules = setting.rules.aids
    items = [Item(_undo(rules.undo), "Undo")]
    if rules.hints:
        items.append(
            Item(
                ("Shows a move that looks good from the cards that you can see.", "It costs nothing."), "Hint"
            )
        )
    else:
        items.append(Item(("There are no hints in this game.",), "Hint"))
    if setting.foundations:
        if rules.send_home:
            items.append(
                Item(
                    ("Sends every card home that can go there, one after the other, until none can.",),
                    "Send home",
                )
            )
        else:
            items.append(
                Item(("There is no such command in this game: each card is sent home by hand.",), "Send home")
            )
    if rules.auto:
        items.append(
            Item(
                (
                    "Lets the program make one move for you.",
                    "It sees only the cards that you see, and where it finds no way on it concedes the game.",
                ),
                "Auto",
            )
        )
    else:
        items.append(Item(("The program makes no moves for you in this game.",), "Auto"))
    return (Bullets(tuple(items)),)


def _undo(allowed: int | None) -> tuple[str, ...]:
    if allowed == 0:
        return ("No move can be taken back in this game.",)
    what = "Takes back your last move, together with all that it set off"
    if allowed is None:
        return (f"{what}.", "You may do so as often as you like, back to the deal.")
    return (f"{what}.", said(f"You may do so {times(allowed)} in a game"))


def deals(setting: Setting) -> tuple[Block, ...]:
    """How new deals are chosen, and how one is named."""
    policy = setting.rules.deal_policy.winnable
    told = {
        "none": ["A new game is dealt at random, so it may be one that cannot be won"],
        "prefer": [
            "A new game is, whenever possible, a deal for which the program has found a way to win",
            "Where it found none in time, the game says so",
        ],
        "require": ["A new game is always a deal for which the program has found a way to win"],
    }[policy]
    told.append(
        "Every deal has a name, such as ck:7, and the same name always gives the same cards in this game, so you can play a deal again or let a friend try it"
    )
    if policy != "none":
        told.append("A deal that you name yourself may be one that cannot be won")
    return (Paragraph(tuple(map(said, told))),)
