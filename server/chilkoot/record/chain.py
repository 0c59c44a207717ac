r"""The hash chain that makes a change of a recorded game visible, as pure functions over plain values.

Any program can recompute it. Each step is SHA-256; a list is written as JSON in one line without spaces, in UTF-8 with
nothing escaped but ``"``, ``\`` and control characters (RFC 8785 writes lists of texts, integers and null the same way):

    h_0 = SHA-256( ["chilkoot-game/1", semantics, game, player, variant, level, rules_hash, deal, origin, created_ms] )
    h_n = SHA-256( h_n-1 ‖ ["action", seq, text, by, at_ms, actor] )     for an action
    h_n = SHA-256( h_n-1 ‖ ["hint", n, seq, text, at_ms, actor] )        for a hint given after action `seq`

`h_n-1` goes in as its 32 bytes. Hints are links of the same chain, in the order in which things happened, so that help can't
be taken out of a record. The last link is the game's head: who kept a head can tell whether anything before it was changed.
Never change what is hashed; a new kind of link gets a new first word.
"""

from __future__ import annotations

from hashlib import sha256

import msgspec

__all__ = ["action_hash", "hint_hash", "start_hash"]

_encode = msgspec.json.Encoder().encode


def start_hash(
    *,
    semantics: int,
    game: str,
    player: str,
    variant: str,
    level: int | None,
    rules_hash: str,
    deal: str,
    origin: str,
    created_ms: int,
) -> bytes:
    """The first link, made of everything that is settled when a game begins."""
    header = (
        "chilkoot-game/1",
        semantics,
        game,
        player,
        variant,
        level,
        rules_hash,
        deal,
        origin,
        created_ms,
    )
    return sha256(_encode(header)).digest()


def action_hash(head: bytes, *, seq: int, text: str, by: str, at_ms: int, actor: str) -> bytes:
    """The link of an action after `head`."""
    return sha256(head + _encode(("action", seq, text, by, at_ms, actor))).digest()


def hint_hash(head: bytes, *, n: int, seq: int, text: str, at_ms: int, actor: str) -> bytes:
    """The link of a hint after `head`."""
    return sha256(head + _encode(("hint", n, seq, text, at_ms, actor))).digest()
