"""Writes for tests of the record, with everything filled in that a test does not care about."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

from chilkoot.engine import Game, Refusal
from chilkoot.events import parse_action
from chilkoot.language.rules import Rules, canonical_text, rules_hash
from chilkoot.record import (
    AddHint,
    Append,
    NewGame,
    NewPlayer,
    NewSession,
    PutReply,
    PutRules,
    Store,
    Unit,
    action_hash,
    hint_hash,
    start_hash,
)

HASH = hashlib.sha256(b"anything").digest()


def player(name: str = "ann", /, **fields: Any) -> NewPlayer:
    usual: dict[str, Any] = {
        "id": name,
        "name": name.title(),
        "token_hash": hashlib.sha256(name.encode()).digest(),
        "created_ms": 1_000,
    }
    return NewPlayer(**usual | fields)


def game(name: str = "g", /, **fields: Any) -> NewGame:
    usual: dict[str, Any] = {
        "id": name,
        "player": "ann",
        "variant": "yukon",
        "level": None,
        "rules_hash": "rules",
        "semantics": 1,
        "deal": "ck:7",
        "origin": "named",
        "watch": "open",
        "key": f"key of {name}",
        "watch_key": None,
        "created_ms": 2_000,
        "start_hash": HASH,
    }
    return NewGame(**usual | fields)


def append(seq: int, name: str = "g", /, **fields: Any) -> Append:
    usual: dict[str, Any] = {
        "game": name,
        "seq": seq,
        "text": "t1 1 t2",
        "by": "player",
        "actor": "ann",
        "session": "tab",
        "command_id": seq,
        "at_ms": 3_000 + seq,
        "hash": HASH,
        "status": "playing",
        "result": None,
        "score": 0,
        "moves": seq,
        "undos": 0,
    }
    return Append(**usual | fields)


def hint(n: int, seq: int, name: str = "g", /, **fields: Any) -> AddHint:
    usual: dict[str, Any] = {
        "game": name,
        "n": n,
        "seq": seq,
        "text": "t1 1 t2",
        "actor": "ann",
        "at_ms": 4_000 + n,
        "hash": HASH,
    }
    return AddHint(**usual | fields)


def reply(command_id: int, session: str = "tab", body: bytes = b"{}") -> PutReply:
    return PutReply(session=session, command_id=command_id, fingerprint=b"fingerprint", body=body)


def opening(name: str = "g", /, **fields: Any) -> Unit:
    """Everything that a first game needs: a player, a session, rules, the game."""
    return (
        player(),
        NewSession(id="tab", player="ann", created_ms=1_500),
        PutRules(hash="rules", text="{}"),
        game(name, **fields),
    )


def play(
    store: Store,
    rules: Rules,
    deal: str,
    actions: Iterable[str],
    *,
    name: str = "played",
    variant: str = "yukon",
    level: int | None = None,
    actor: str = "ann",
    hints_after: Iterable[int] = (),
) -> Game:
    """Play a game as the server does, every action and hint put on record with its link of the chain."""
    table = Game.start(rules, deal)
    if store.reader.player("ann") is None:
        store.write((player(),))
    header: dict[str, Any] = {
        "semantics": 1,
        "player": "ann",
        "variant": variant,
        "level": level,
        "rules_hash": rules_hash(rules),
        "deal": table.deal,
        "origin": "fresh",
        "created_ms": 2_000,
    }
    head = start_hash(game=name, **header)
    store.write(
        (
            PutRules(hash=rules_hash(rules), text=canonical_text(rules)),
            game(
                name, **header, start_hash=head, status=table.status, result=table.result, score=table.score
            ),
        )
    )
    helped = list(hints_after)
    given = 0
    for seq, text in enumerate(["", *actions]):
        if text:
            action = parse_action(text)
            assert action is not None
            done = table.act(action)
            assert not isinstance(done, Refusal), done
            link = {"seq": seq, "text": text, "by": "player", "at_ms": 3_000 + seq, "actor": actor}
            head = action_hash(head, **link)  # type: ignore[arg-type]
            ended = 3_000 + seq if table.is_over else None
            store.write(
                (
                    Append(
                        game=name,
                        session=None,
                        command_id=None,
                        hash=head,
                        status=table.status,
                        result=table.result,
                        score=table.score,
                        moves=table.moves,
                        undos=table.undos,
                        ended_ms=ended,
                        closed_ms=ended if table.closed else None,
                        **link,  # type: ignore[arg-type]
                    ),
                )
            )
        for _ in range(helped.count(seq)):
            given += 1
            advice = {"n": given, "seq": seq, "text": "none", "at_ms": 3_000 + seq, "actor": actor}
            head = hint_hash(head, **advice)  # type: ignore[arg-type]
            store.write((AddHint(game=name, hash=head, **advice),))  # type: ignore[arg-type]
    return table
