"""The house's games as the wire tells of them: the list, and one variant's rules with a text on how to play."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from msgspec import UNSET

from chilkoot.language.rules import Variant, canonical_text
from chilkoot.wire.messages import RulesReply, VariantEntry, VariantList

__all__ = ["rules_reply", "variant_list"]


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
        cards=level.rules.deck.size(),
        rules_hash=level.hash,
        winnable=UNSET if policy == "none" else policy,
    )


def rules_reply(variant: Variant, answers: int, *, text: str) -> RulesReply:
    """The reply to `rules`; `text` is how the variant is played, which takes a moment to make."""
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
        text=text,
        levels=numbered or UNSET,
    )
