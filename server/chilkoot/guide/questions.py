"""Questions that people ask about such games, answered from the rules; a question that does not apply is not asked."""

from __future__ import annotations

from collections.abc import Iterator

from chilkoot.guide.ending import idle_moves
from chilkoot.guide.english import capital, count, listed, number, rank_with_article, said, times
from chilkoot.guide.moving import starts
from chilkoot.guide.page import Question
from chilkoot.guide.relations import is_free
from chilkoot.guide.setting import Setting
from chilkoot.language.rules import Columns, Relation

__all__ = ["questions"]


def questions(setting: Setting) -> tuple[Question, ...]:
    """The questions with their answers."""
    asked = [
        *_on_groups(setting),
        *_on_ranks(setting),
        *_on_empty_columns(setting),
        *_on_foundations(setting),
        *_on_piles(setting),
        *_on_ending(setting),
    ]
    return tuple(Question(question, tuple(map(said, answer))) for question, answer in asked)


_Asked = Iterator[tuple[str, list[str]]]


def _one_kind(setting: Setting) -> Columns | None:
    """The rules of the columns where all have the same."""
    groups = {(each.build, each.group, each.empty) for each in setting.rules.tableau}
    return setting.rules.tableau[0] if len(groups) == 1 else None


def _on_groups(setting: Setting) -> _Asked:
    columns = _one_kind(setting)
    if columns is None or setting.columns < 2:
        return
    group = columns.group
    free = is_free(Relation(suit=group.suit, rank=group.rank, wrap=group.wrap))
    if group.unit == "any" or (group.unit == "run" and free):
        limited = "" if group.limit == "none" else ", up to the number of cards that may move at once"
        yield (
            "May I move cards that are not in order?",
            [
                f"Yes. A face-up card takes along every card that lies on it{limited}",
                "Only the card that you pick up has to fit",
            ],
        )
        if setting.covers_cards:
            yield (
                "How do I get at the face-down cards?",
                [
                    "Move away the face-up cards that lie on them: pick up the lowest face-up card of the column, with all cards on it"
                ],
            )
    elif group.unit == "single":
        yield (
            "May I move several cards at once?",
            ["No. Only one card moves at a time, even if several lie in sequence"],
        )
    elif group.unit == "run":
        yield (
            "May I move several cards at once?",
            [
                "Yes, if they are in sequence and lie at the end of a column",
                "A card under a card that does not follow it in the sequence cannot be moved",
            ],
        )
    elif group.unit == "top_or_whole":
        yield (
            "May I move a part of a column?",
            ["No. Only its last card, or the whole column"],
        )


def _on_ranks(setting: Setting) -> _Asked:
    columns = _one_kind(setting)
    if columns is None or setting.columns < 2:
        return
    build, order = columns.build, setting.order
    if build.rank not in ("down", "up") or setting.rules.deck.low == "dealt" or len(order) < 3:
        return
    lower, upper = (order[0], order[-1]) if build.rank == "down" else (order[-1], order[0])
    suit = {
        "same": " of the same suit",
        "different": " of another suit",
        "color": " of the same colour",
        "alternate": " of the other colour",
        "any": "",
    }[build.suit]
    question = f"May {rank_with_article(upper)} be put on {rank_with_article(lower)} in a column?"
    if build.wrap:
        yield question, [f"Yes, on {rank_with_article(lower)}{suit}: the ranks go round"]
    elif setting.takes_cards and all(
        group.base == lower and group.accept == "card" for group in setting.rules.foundations if group.count
    ):
        yield (
            question,
            [
                f"No. Nothing is put on {rank_with_article(lower)} in a column",
                f"But {rank_with_article(lower)} is the first card of its foundation and can go home whenever no card lies on it",
            ],
        )
    else:
        yield question, [f"No. Nothing is put on {rank_with_article(lower)} in a column"]


def _on_empty_columns(setting: Setting) -> _Asked:
    columns = _one_kind(setting)
    if columns is None:
        return
    empty = columns.empty
    subject, may_start = starts(setting, columns)
    by_itself = empty.auto_fill != "none"
    if not may_start and not by_itself:
        yield "What is an empty column good for?", ["Nothing: it stays empty to the end of the game"]
    elif isinstance(empty.accepts, tuple) and not by_itself and setting.columns > 1:
        wanted = [rank for rank in reversed(setting.order) if rank not in empty.accepts]
        if wanted:
            yield (
                f"May I put {rank_with_article(wanted[0])} into an empty column?",
                [f"No. {capital(subject)} may start one"],
            )
    if empty.whole_column == "refuse" and may_start and "tableau" in empty.sources and setting.columns > 1:
        # A king that heads its column is what people try to move.
        yield (
            "Why can I not move this column into the empty one?",
            [
                "Because you picked up the whole column: the other one would be empty instead and nothing would have changed"
            ],
        )


def _on_foundations(setting: Setting) -> _Asked:
    groups = [group for group in setting.rules.foundations if group.count and group.accept == "card"]
    if not groups:
        if setting.takes_runs and setting.rules.goal.kind == "foundations_full":
            yield "May I send single cards home?", ["No. Only a complete run goes home"]
        return
    if setting.returns:
        partly = " of some of them" if any(group.returns == "never" for group in groups) else ""
        waits = setting.stock and all(group.returns != "always" for group in groups)
        yield (
            "May I take a card back from a foundation?",
            [
                f"Yes, the last one{partly}{', once the stock is empty' if waits else ''}, if it fits where you put it"
            ],
        )
    else:
        yield (
            "May I take a card back from a foundation?",
            [
                "No. A card that is home stays there"
                + (", unless you undo the move" if setting.rules.aids.undo != 0 else "")
            ],
        )
    autos = {group.auto for group in groups}
    if autos == {"never"}:
        yield (
            "Must a card go home as soon as it fits?",
            [
                "No. You may leave it where it is for as long as you like, for instance to put other cards on it"
            ],
        )
    elif autos == {"always"}:
        yield "Must a card go home as soon as it fits?", ["Yes. It goes there by itself after your move"]
    elif autos == {"safe"} and not any(columns.build.rank == "updown" for columns in setting.rules.tableau):
        yield (
            "Why did a card go home by itself?",
            ["Because no other card could need it any more: every card that could be put on it was home"],
        )
        yield (
            "Must a card go home as soon as it fits?",
            [
                "No. Only cards that no other card can need go by themselves; you may leave all others where they are"
            ],
        )
    suits = len(setting.rules.deck.suits)
    if (
        setting.rules.deck.packs > 1
        and len(groups) == 1
        and groups[0].suits == "one_each"
        and groups[0].count > suits
    ):
        yield (
            "To which foundation of its suit does a card go?",
            ["To whichever of them takes it"],
        )


def _on_piles(setting: Setting) -> _Asked:
    rules = setting.rules
    if setting.cells:
        many = (
            f", so with {count(setting.cells, 'cell')} at most {count(setting.cells, 'card')} can wait there"
        )
        yield (
            "May I put several cards into a cell?",
            [f"No. A cell holds one card{many if setting.cells > 1 else ''}"],
        )
    if setting.reserves and rules.reserve.playable == "none":
        yield "May I play a card of the reserve?", ["No. The reserve only fills columns"]
    if setting.turns_stock and setting.has_waste and rules.stock.deal_to == "waste":
        passes = rules.stock.passes
        answer = "As often as you like" if passes is None else f"{capital(times(passes))}"
        more = [] if passes != 1 else ["When it is empty, the waste stays as it is"]
        yield "How often may I go through the stock?", [answer, *more]
        if rules.stock.draw > 1:
            yield (
                "May I play the cards under the last card of the waste?",
                [
                    f"Only when those on them have gone. Each turn shows {number(rules.stock.draw)} cards, but only the last one is free"
                ],
            )
    if setting.turns_stock and rules.stock.require == "no_empty_column":
        yield (
            "Why can I not turn the stock?",
            ["Because a column is empty. Put a card into every empty column first"],
        )
    if any(columns.expose == "manual" for columns in rules.tableau) and setting.covers_cards:
        yield (
            "Why does a face-down card not turn up by itself?",
            ["In this game you turn it up yourself. It counts as a move"],
        )


def _on_ending(setting: Setting) -> _Asked:
    rules = setting.rules
    idle = idle_moves(setting)
    if rules.loss.when == "no_legal_move" and idle:
        yield (
            "Why is the game lost although I could still move something?",
            [f"Because the only moves left changed nothing: moving {listed(idle, 'or')} does not count"],
        )
    if rules.aids.undo == 0:
        yield "May I take a move back?", ["No. In this game every move stands"]
    elif rules.aids.undo is None:
        yield "May I take a move back?", ["Yes, as many as you like, and it costs no points"]
    else:
        yield "May I take a move back?", [f"Yes, {times(rules.aids.undo)} in a game"]
    can_win = {
        "none": ["Perhaps not. Deals are random, and nobody has checked whether yours can be won"],
        "prefer": [
            "Not every one. New deals are chosen so that a way to win is known whenever one was found in time, and the game tells you which kind yours is"
        ],
        "require": [
            "Every new deal can: a way to win was found before it was dealt. Deals that you name yourself were not checked"
        ],
    }[rules.deal_policy.winnable]
    yield "Can every deal be won?", can_win
    yield (
        "May I play the same deal again?",
        ["Yes. “Restart” deals the same cards again; “Play again” deals others"],
    )
