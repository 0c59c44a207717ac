import hashlib
import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from chilkoot.record import action_hash, hint_hash, start_hash

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
NUMBER = st.integers(0, 2**53 - 1)


def in_other_words(before: bytes, *values: Any) -> bytes:
    """A link as the documentation tells another program to compute it."""
    line = json.dumps(values, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(before + line.encode()).digest()


@given(TEXT, TEXT, st.none() | NUMBER, TEXT, NUMBER)
def test_another_program_computes_the_same_start(
    game: str, player: str, level: int | None, deal: str, created_ms: int
) -> None:
    ours = start_hash(
        semantics=1,
        game=game,
        player=player,
        variant="yukon",
        level=level,
        rules_hash="00",
        deal=deal,
        origin="fresh",
        created_ms=created_ms,
    )
    header = ("chilkoot-game/1", 1, game, player, "yukon", level, "00", deal, "fresh", created_ms)
    assert ours == in_other_words(b"", *header)


@given(st.binary(min_size=32, max_size=32), NUMBER, TEXT, NUMBER, TEXT)
def test_another_program_computes_the_same_links(
    head: bytes, number: int, text: str, at_ms: int, actor: str
) -> None:
    action = action_hash(head, seq=number, text=text, by="auto", at_ms=at_ms, actor=actor)
    assert action == in_other_words(head, "action", number, text, "auto", at_ms, actor)
    hint = hint_hash(head, n=1, seq=number, text=text, at_ms=at_ms, actor=actor)
    assert hint == in_other_words(head, "hint", 1, number, text, at_ms, actor)


def test_the_links_of_a_known_game_never_change() -> None:
    start = start_hash(
        semantics=1,
        game="g1",
        player="p1",
        variant="yukon",
        level=None,
        rules_hash="ab" * 32,
        deal="ck:7",
        origin="named",
        created_ms=1_790_000_000_000,
    )
    assert start.hex() == "62751533300c2ca5d228a40d8a2af708a220321e82f1acf8c769c7ed2163c8ec"
    action = action_hash(start, seq=1, text="t5 4 t2", by="player", at_ms=1_790_000_001_000, actor="p1")
    assert action.hex() == "781cb610b29ded9092f87df83d8276b778b1cd6e87694d8ce2af0aeac2a0c081"
    hint = hint_hash(action, n=1, seq=1, text="none", at_ms=1_790_000_002_000, actor="p1")
    assert hint.hex() == "d4e300a8add83d3c4203301f083684788fa986dae24c8022ecec0288a19c69ca"
