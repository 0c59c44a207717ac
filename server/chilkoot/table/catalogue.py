"""The house's games as the wire tells of them: the list, and one variant's rules with a text on how to play."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from msgspec import UNSET

from chilkoot.cards import RANK_WORDS
from chilkoot.language.rules import Rules, Variant, canonical_text
from chilkoot.wire.messages import RulesReply, VariantEntry, VariantList

__all__ = ["how_to_play", "rules_reply", "variant_list"]


def variant_list(variants: Iterable[Variant], answers: int) -> VariantList:
    """The reply to `variants`."""
    return VariantList(re=answers, variants=[_entry(variant) for variant in variants])


def _entry(variant: Variant) -> VariantEntry:
    level = variant.level() or variant.levels[0]
    policy = level.rules.deal_policy.winnable
    return VariantEntry(
        id=variant.id,
        name=variant.name,
        family=variant.family,
        levels=[level.number for level in variant.levels if level.number is not None],
        default_level=UNSET if level.number is None else level.number,
        summary=variant.summary,
        rules_hash=level.hash,
        winnable=UNSET if policy == "none" else policy,
    )


def rules_reply(variant: Variant, answers: int) -> RulesReply:
    """The reply to `rules`."""
    default = variant.level() or variant.levels[0]
    numbered = {
        str(level.number): msgspec.Raw(canonical_text(level.rules).encode())
        for level in variant.levels
        if level.number is not None
    }
    return RulesReply(
        re=answers,
        variant=variant.id,
        source=variant.text,
        rules_hash=default.hash,
        compiled=msgspec.Raw(canonical_text(default.rules).encode()),
        text=how_to_play(variant),
        levels=numbered or UNSET,
    )


_BUILD = {"same": "of the same suit", "alternate": "of the other colour", "color": "of the same colour",
          "different": "of another suit", "any": "of any suit"}  # fmt: skip
_RANK = {"down": "one rank lower", "up": "one rank higher", "updown": "one rank lower or higher", "equal": "of the same rank",
         "down2": "two ranks lower", "up2": "two ranks higher", "any": "of any rank"}  # fmt: skip


def how_to_play(variant: Variant) -> str:
    """A short text in Markdown, made from the rules."""
    parts = [f"# {variant.name}", *([variant.summary] if variant.summary else [])]
    for level in variant.levels:
        if level.number is not None:
            parts.append(f"## Level {level.number}")
        parts.append("\n".join(f"- {sentence}" for sentence in _sentences(level.rules)))
    return "\n\n".join(parts) + "\n"


def _sentences(rules: Rules) -> list[str]:
    deck = "One pack" if rules.deck.packs == 1 else f"{rules.deck.packs} packs"
    told = [f"{deck}, {rules.deck.size()} cards, {rules.column_count()} columns."]
    for columns in rules.tableau:
        told.append(
            f"A card goes onto one {_BUILD[columns.build.suit]} and {_RANK[columns.build.rank]} than that one."
            if columns.build.rank in {"down", "up", "updown", "down2", "up2"}
            else f"A card goes onto one {_BUILD[columns.build.suit]}, {_RANK[columns.build.rank]}."
        )
        if columns.group.unit == "any":
            told.append("Any face-up card moves with every card lying on it, in order or not.")
        told.append(f"An empty column takes {_accepted(columns.empty.accepts)}.")
        if columns.empty.whole_column == "refuse":
            told.append("A whole column does not move into an empty one.")
    if rules.cells.count:
        told.append(f"There are {rules.cells.count} cells, each for one card.")
    for foundations in rules.foundations:
        if foundations.returns != "never":
            told.append("The last card of a foundation may come back to a column.")
        if foundations.auto == "safe":
            told.append("Cards that no other card can need go home by themselves.")
    told.append(
        "You win when every card is home."
        if rules.goal.kind == "foundations_full"
        else "Reach the goal to win."
    )
    return told


def _accepted(accepts: tuple[int, ...] | str) -> str:
    if isinstance(accepts, tuple):
        return " or ".join(f"{RANK_WORDS[rank]}s" for rank in accepts) + ", with the cards on them"
    return {"any": "any card", "none": "nothing", "base_high": "the rank below the base"}[accepts]
