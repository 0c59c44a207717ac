import json
import random
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from chilkoot.cards import CARD_NAMES
from chilkoot.engine import Game
from chilkoot.events import Action, Turn, format_action, parse_action
from chilkoot.language.rules import Rules, canonical_text, rules_hash
from chilkoot.record import (
    Finding,
    Imported,
    Reader,
    RecordedAction,
    Recording,
    Store,
    StoreFault,
    action_hash,
    encode_recording,
    export_game,
    import_recording,
    parse_recording,
    recorded,
    redacted,
    start_hash,
    verify,
)
from chilkoot.record.recording import MAX_BYTES
from chilkoot.record.verification import begin
from record_examples import play, player
from runs import Run
from servers import lay_database
from variants import all_levels, rules_of

YUKON = rules_of("yukon")


def some_actions(rules: Rules, deal: str, seed: int, count: int) -> list[str]:
    """What a player might do who does not think: any legal move, draws, undos, redos, and gives up at last."""
    chance = random.Random(seed)
    table = Game.start(rules, deal)
    done: list[str] = []
    while len(done) < count and not table.is_over:
        can = table.can()
        choices = [format_action(move) for move in table.legal()]
        choices += [word for word in ("undo", "undo 2", "redo", "home", "draw") if can[word.split()[0]]]
        text = chance.choice(choices or ["give_up"])
        table.act(_parsed(text))
        done.append(text)
    return done if table.is_over else [*done, "give_up"]


def _parsed(text: str) -> Action:
    action = parse_action(text)
    assert action is not None
    return action


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    url = f"sqlite:///{tmp_path_factory.mktemp('record') / 'games.db'}"
    with closing(Store.open(url)) as opened:
        yield opened


@pytest.fixture(scope="module")
def recording(store: Store) -> Recording:
    actions = some_actions(YUKON, "ck:7", 1, 40)
    play(store, YUKON, "ck:7", actions, name="whole", hints_after=(0, 3, 3, 20))
    found = export_game(store.reader, "whole")
    assert found is not None
    return found


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Store]:
    lay_database(tmp_path / "empty.db")
    with closing(Store.open(f"sqlite:///{tmp_path / 'empty.db'}")) as opened:
        yield opened


def change(recording: Recording, **fields: Any) -> Recording:
    return msgspec.structs.replace(recording, **fields)


def with_action(recording: Recording, at: int, **fields: Any) -> Recording:
    changed = list(recording.actions)
    changed[at] = msgspec.structs.replace(changed[at], **fields)
    return change(recording, actions=tuple(changed))


def told_by(actions: list[str], rules: Rules = YUKON, deal: str = "ck:7") -> Recording:
    """A recording whose hashes fit, whatever it tells."""
    header: dict[str, Any] = {
        "semantics": 1,
        "game": "told",
        "player": "ann",
        "variant": "yukon",
        "level": None,
        "rules_hash": rules_hash(rules),
        "deal": deal,
        "origin": "cards",
        "created_ms": 1,
    }
    head = start_hash(**header)
    start = head.hex()
    told = []
    for seq, text in enumerate(actions, 1):
        head = action_hash(head, seq=seq, text=text, by="player", at_ms=seq, actor="ann")
        told.append(RecordedAction(seq=seq, text=text, at_ms=seq, hash=head.hex()))
    return Recording(
        **header,
        rules=canonical_text(rules),
        start=start,
        actions=tuple(told),
        hints=(),
        status="playing",
        result=None,
        score=0,
        moves=0,
        undos=0,
        table="",
        head=head.hex(),
    )


# A true recording.


def test_a_finished_game_verifies(recording: Recording) -> None:
    assert recording.status == "lost"
    assert len(recording.hints) == 4
    assert verify(recording) == []


def test_a_recording_reads_back_as_it_was_written(recording: Recording) -> None:
    data = encode_recording(recording)
    assert parse_recording(data) == recording
    assert json.loads(data)["format"] == "chilkoot-recording/1"


@pytest.mark.parametrize(("variant", "level"), all_levels(), ids=str)
def test_a_game_of_every_variant_verifies(store: Store, variant: str, level: int | None) -> None:
    rules = rules_of(variant, level)
    name = f"{variant}-{level}"
    play(store, rules, "ck:3", some_actions(rules, "ck:3", 5, 25), name=name, hints_after=(7,))
    found = export_game(store.reader, name)
    assert found is not None
    assert verify(found) == []


def test_a_recording_of_no_game_is_none(store: Store) -> None:
    assert export_game(store.reader, "no such game") is None


def test_an_actor_is_named_where_it_is_not_the_player(store: Store) -> None:
    play(store, YUKON, "ck:9", some_actions(YUKON, "ck:9", 2, 5), name="helped", actor="bob")
    found = export_game(store.reader, "helped")
    assert found is not None
    assert {one.actor for one in found.actions} == {"bob"}
    assert verify(found) == []
    assert verify(with_action(found, 2, actor=None))[0].seq == 3


def test_a_recording_holds_no_key_and_no_session(recording: Recording) -> None:
    text = encode_recording(recording).decode()
    assert "key of" not in text
    assert "session" not in text


# A false one.


@given(st.data())
def test_a_flipped_byte_is_found(recording: Recording, data: st.DataObject) -> None:
    whole = bytearray(encode_recording(recording))
    at = data.draw(st.integers(0, len(whole) - 1))
    byte = data.draw(st.integers(0, 255))
    assume(byte != whole[at])
    whole[at] = byte
    found = parse_recording(bytes(whole))
    if isinstance(found, Recording):
        # Another way to write the same, as \u0041 for A, is the same recording.
        assert found == recording or verify(found)
    else:
        assert "\n" not in found.message


CHANGES: dict[str, Callable[[RecordedAction], Any]] = {
    "text": lambda one: "give_up" if one.text != "give_up" else "concede",
    "at_ms": lambda one: one.at_ms ^ 1,
    "by": lambda one: "auto" if one.by == "player" else "player",
    "actor": lambda one: "eve",
    "hash": lambda one: one.hash[:-1] + ("0" if one.hash[-1] != "0" else "1"),
    "seq": lambda one: one.seq + 1,
}


@given(st.data(), st.sampled_from(sorted(CHANGES)))
def test_a_changed_action_is_found_where_it_was_changed(
    recording: Recording, data: st.DataObject, field: str
) -> None:
    at = data.draw(st.integers(0, len(recording.actions) - 1))
    changed = with_action(recording, at, **{field: CHANGES[field](recording.actions[at])})
    # A hint that comes before an action may look misplaced where the action's number was changed.
    assert verify(changed)[0].seq == at + 1


@given(st.data(), st.sampled_from(["text", "at_ms", "actor", "hash", "n", "seq"]))
def test_a_changed_hint_is_found(recording: Recording, data: st.DataObject, field: str) -> None:
    at = data.draw(st.integers(0, len(recording.hints) - 1))
    hint = recording.hints[at]
    other = {"text": "draw", "at_ms": hint.at_ms + 1, "actor": "eve", "hash": "0" * 64, "n": hint.n + 1}
    changed = list(recording.hints)
    changed[at] = msgspec.structs.replace(hint, **{field: other.get(field, hint.seq + 1)})
    assert verify(change(recording, hints=tuple(changed)))


def test_a_hint_can_not_be_taken_out(recording: Recording) -> None:
    without = change(recording, hints=recording.hints[:1] + recording.hints[2:])
    assert verify(without)[0].code == "order"
    none = change(recording, hints=())
    assert verify(none)[0] == Finding(
        code="chain", seq=1, message="action 1 does not fit its hash: something was changed here"
    )


@pytest.mark.parametrize("at", (0, 5, 39))
def test_an_action_can_not_be_taken_out_doubled_or_moved(recording: Recording, at: int) -> None:
    actions = recording.actions
    for changed in (
        actions[:at] + actions[at + 1 :],
        actions[: at + 1] + actions[at:],
        (*actions[:at], actions[at + 1], actions[at], *actions[at + 2 :]),
    ):
        first = next(
            one for one in verify(change(recording, actions=changed)) if one.code in ("order", "chain")
        )
        assert first.seq in (at + 1, at + 2)


@pytest.mark.parametrize(
    ("field", "value", "code", "seq"),
    (
        ("game", "another", "header", 0),
        ("player", "eve", "header", 0),
        ("variant", "russian", "header", 0),
        ("level", 3, "header", 0),
        ("deal", "ck:8", "header", 0),
        ("origin", "cards", "header", 0),
        ("created_ms", 5, "header", 0),
        ("start", "0" * 64, "header", 0),
        ("rules", canonical_text(rules_of("russian")), "rules", 0),
        ("rules_hash", "0" * 64, "rules", 0),
        ("semantics", 2, "header", 0),
        ("head", "0" * 64, "chain", 41),
        ("status", "won", "outcome", 41),
        ("result", "conceded", "outcome", 41),
        ("score", 52, "outcome", 41),
        ("moves", 1, "outcome", 41),
        ("undos", 0, "outcome", 41),
        ("table", "t1: KS", "outcome", 41),
    ),
)
def test_a_change_of_anything_else_is_found(
    recording: Recording, field: str, value: Any, code: str, seq: int
) -> None:
    assert len(recording.actions) == 41
    findings = verify(change(recording, **{field: value}))
    assert (code, seq) in {(one.code, one.seq) for one in findings}


def test_an_action_that_was_not_legal_is_found_though_its_hashes_fit() -> None:
    findings = verify(told_by(["t1 1 t1"]))
    assert findings[0].code == "illegal"
    assert findings[0].seq == 1
    assert "'t1 1 t1' was not allowed: " in findings[0].message
    assert verify(told_by(["home sweet home"]))[0].message == "'home sweet home' is no action"
    assert verify(told_by(["give_up", "undo"]))[0].seq == 2


def test_a_deal_that_can_not_be_dealt_is_found() -> None:
    assert [one.code for one in verify(told_by([], deal="t1: KS KS"))] == ["deal"]


@pytest.mark.parametrize(
    "rules",
    (
        '{"tableau":[{"columns":1000000000}]}',
        '{"tableau":[' + ",".join(['{"columns":2}'] * 2000) + "]}",
        '{"deck":{"packs":1000000}}',
        '{"foundations":[{"count":100000000}]}',
        '{"cells":{"count":100000000}}',
        '{"deck":{"ranks":[99]}}',
        '{"deck":{"suits":"XX"}}',
        '{"tableau":[]}',
        '{"tableau":7}',
        "[" * 60_000,
        "",
    ),
    ids=lambda value: value[:30],
)
def test_rules_that_no_compiler_made_are_found_and_do_no_harm(rules: str) -> None:
    hostile = change(told_by(["t1 1 t2"]), rules=rules)
    begun = begin(hostile)
    assert not isinstance(begun, Finding) or begun in verify(hostile)
    findings = verify(hostile)
    assert findings
    assert all("\n" not in one.message and len(one.message) < 500 for one in findings)


def test_a_change_in_the_database_is_found(tmp_path: Path) -> None:
    path = tmp_path / "games.db"
    with closing(Store.open(f"sqlite:///{path}")) as store:
        play(store, YUKON, "ck:7", some_actions(YUKON, "ck:7", 1, 10))
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE action SET at_ms = at_ms - 1000 WHERE seq = 4")
        connection.commit()
    with closing(Reader.open(f"sqlite:///{path}")) as reader:
        found = export_game(reader, "played")
    assert found is not None
    assert [(one.code, one.seq) for one in verify(found)] == [("chain", 4)]


# Files that are no recordings.


@pytest.mark.parametrize(
    ("data", "says"),
    (
        (b"", "this is not a recording: "),
        (b"\xff\xfe\x00", "this is not a recording: "),
        (b"null", "this is not a recording: "),
        (b"[]", "this is not a recording: "),
        (b"{}", "format"),
        (b'{"format":"chilkoot-recording/2"}', "chilkoot-recording/2"),
        (b'{"format":1}', "format"),
        (b"[" * 100_000, "this is not a recording: "),
        (b'{"format":"chilkoot-recording/1","x":' + b"[" * 100_000, "`x`"),
        (b" " * (MAX_BYTES + 1), "larger than"),
        (b"Dear diary, today I played Yukon.", "this is not a recording: "),
    ),
    ids=lambda value: repr(value)[:40],
)
def test_a_file_that_is_no_recording_gets_one_clear_sentence(data: bytes, says: str) -> None:
    found = parse_recording(data)
    assert isinstance(found, Finding)
    assert found.code == "format"
    assert says in found.message
    assert "\n" not in found.message


def test_a_recording_is_read_strictly(recording: Recording) -> None:
    good = json.loads(encode_recording(recording))

    def says(**fields: Any) -> str:
        found = parse_recording(json.dumps(good | fields).encode())
        assert isinstance(found, Finding)
        return found.message

    assert "extra" in says(extra=1)
    assert "$.score" in says(score=1.5)
    assert "$.score" in says(score=-1)
    assert "$.score" in says(score=2**70)
    assert "$.score" in says(score=True)
    assert "$.game" in says(game="../../etc/passwd")
    assert "$.game" in says(game="x\n")
    assert "$.status" in says(status="cheated")
    assert "$.head" in says(head="AB" * 32)
    assert "$.actions" in says(actions=good["actions"] * 200)
    found = parse_recording(json.dumps(good | {"actions": [*good["actions"][:6], {"seq": 7}]}).encode())
    assert isinstance(found, Finding)
    assert found.seq == 7


@given(st.binary(max_size=200) | st.text(max_size=60).map(lambda text: json.dumps({"format": text}).encode()))
def test_any_bytes_are_answered(data: bytes) -> None:
    assert isinstance(parse_recording(data), Finding)


# Out of one database, into another.


def test_a_game_moves_to_an_empty_database_and_out_again(empty: Store, recording: Recording) -> None:
    assert import_recording(empty, recording, now_ms=9_000) == Imported(is_new=True)
    assert export_game(empty.reader, "whole") == recording
    assert import_recording(empty, recording, now_ms=9_001) == Imported(is_new=False)
    header = empty.reader.game_header("whole")
    assert header is not None
    assert (header.imported_ms, header.closed_ms, header.hints) == (9_000, recording.actions[-1].at_ms, 4)
    owner = empty.reader.player("ann")
    assert owner is not None
    assert owner.token_hash is None
    assert empty.reader.stats_of("ann").started == 0


def test_an_imported_game_of_a_known_player_is_theirs(empty: Store, recording: Recording) -> None:
    empty.write((player("ann"),))
    assert import_recording(empty, recording, now_ms=9_000) == Imported(is_new=True)
    assert [one.id for one in empty.reader.games_of("ann")] == ["whole"]


def test_another_game_of_the_same_id_is_refused(empty: Store, recording: Recording) -> None:
    play(empty, YUKON, "ck:8", ["give_up"], name="whole")
    before = empty.reader.load_game("whole")
    findings = import_recording(empty, recording, now_ms=9_000)
    assert isinstance(findings, list)
    assert [one.code for one in findings] == ["exists"]
    assert empty.reader.load_game("whole") == before


def test_a_recording_that_does_not_verify_is_not_imported(empty: Store, recording: Recording) -> None:
    findings = import_recording(empty, with_action(recording, 3, at_ms=1), now_ms=9_000)
    assert isinstance(findings, list)
    assert findings[0].seq == 4
    counts = empty.reader.counts()
    assert (counts.players, counts.games) == (0, 0)


def test_a_game_that_goes_on_can_be_moved_too(store: Store, empty: Store) -> None:
    play(store, YUKON, "ck:11", some_actions(YUKON, "ck:11", 3, 12)[:-1], name="goes-on")
    found = export_game(store.reader, "goes-on")
    assert found is not None
    assert found.status in ("playing", "stuck")
    assert import_recording(empty, found, now_ms=9_000) == Imported(is_new=True)
    header = empty.reader.game_header("goes-on")
    assert header is not None
    assert (header.ended_ms, header.seq) == (None, 12)
    # An earlier engine may have told less of the same table.
    for status in ("playing", "stuck"):
        assert verify(msgspec.structs.replace(found, status=status)) == []
    assert [one.code for one in verify(msgspec.structs.replace(found, status="lost"))] == ["outcome"]


def test_a_game_of_no_actions_moves_too(store: Store, empty: Store) -> None:
    play(store, YUKON, "ck:12", [], name="untouched", hints_after=(0,))
    found = export_game(store.reader, "untouched")
    assert found is not None
    assert verify(found) == []
    assert import_recording(empty, found, now_ms=9_000) == Imported(is_new=True)
    assert export_game(empty.reader, "untouched") == found


# What may be shown of a game that goes on.


def live(store: Store, name: str) -> Any:
    loaded = store.reader.load_game(name)
    assert loaded is not None
    return redacted(loaded)


def applied(piles: dict[str, list[str]], ops: list[Any]) -> None:
    for op in ops:
        if isinstance(op, Turn):
            piles[op.pile][op.at] = op.card
            continue
        moved = piles[op.source][-op.n :]
        del piles[op.source][-op.n :]
        piles[op.target] += ["??"] * op.n if op.flip else moved


@pytest.mark.parametrize("variant", ("yukon", "yakutat-bay", "klondike"))
def test_a_client_without_rules_can_follow_a_live_recording(store: Store, variant: str) -> None:
    rules = rules_of(variant)
    name = f"live-{variant}"
    table = play(store, rules, "ck:5", some_actions(rules, "ck:5", 4, 30)[:-1], name=name)
    seen = live(store, name)
    piles = {pile: list(cards) for pile, cards in seen.start.items()}
    for action in seen.actions:
        applied(piles, action.ops)
    assert piles == seen.piles == table.view()
    assert seen.check == table.check()


def test_a_live_recording_tells_nothing_hidden(store: Store) -> None:
    table = play(store, YUKON, "ck:13", some_actions(YUKON, "ck:13", 4, 12)[:-1], name="secret")
    seen = live(store, "secret")
    data = encode_recording(seen).decode()
    shown = {card for cards in seen.start.values() for card in cards}
    shown |= {op.card for action in seen.actions for op in action.ops if isinstance(op, Turn)}
    hidden = set(CARD_NAMES) - shown
    assert hidden
    assert not [card for card in hidden if f'"{card}"' in data]
    header = store.reader.game_header("secret")
    assert header is not None
    for secret in (header.deal, header.key, header.head_hash.hex(), header.start_hash.hex(), table.board()):
        assert secret not in data
    whole = recorded(store.reader.load_game("secret") or pytest.fail("no game"))
    assert not [one.hash for one in whole.actions if one.hash in data]


def test_deals_that_differ_in_hidden_cards_alone_give_the_same_live_recording(tmp_path: Path) -> None:
    board = Game.start(YUKON, "ck:21").board()
    hidden = re.findall(r"<(..)>", board)
    # The lowest cards of the two highest columns.
    first, second = hidden[-6], hidden[-11]
    twin = board.replace(first, "@@").replace(second, first).replace("@@", second)
    assert twin != board
    actions: list[str] = []
    tables = [Game.start(YUKON, deal) for deal in (board, twin)]
    chance = random.Random(3)
    while len(actions) < 8:
        legal = [format_action(move) for move in tables[0].legal()]
        text = chance.choice(legal)
        done = [table.act(_parsed(text)) for table in tables]
        actions.append(text)
        assert done[0] == done[1]
    files = []
    for number, deal in enumerate((board, twin)):
        with closing(Store.open(f"sqlite:///{tmp_path / str(number)}.db")) as store:
            play(store, YUKON, deal, actions, hints_after=(2,))
            files.append(encode_recording(live(store, "played")))
    assert files[0] == files[1]


def test_a_live_recording_is_not_taken_for_a_whole_one(store: Store) -> None:
    play(store, YUKON, "ck:14", ["give_up"], name="shown")
    found = parse_recording(encode_recording(live(store, "shown")))
    assert isinstance(found, Finding)
    assert "goes on" in found.message


def test_a_damaged_record_is_not_shown(tmp_path: Path) -> None:
    path = tmp_path / "games.db"
    with closing(Store.open(f"sqlite:///{path}")) as store:
        play(store, YUKON, "ck:7", some_actions(YUKON, "ck:7", 1, 10))
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("UPDATE action SET text = 't1 9 t1' WHERE seq = 4")
            connection.commit()
        with pytest.raises(StoreFault, match="beyond action 3"):
            live(store, "played")


@pytest.mark.parametrize("word", ("show", "play"))
def test_a_recording_that_wants_too_much_is_one_sentence_on_the_command_line(
    word: str, run: Run, tmp_path: Path
) -> None:
    file = tmp_path / "large.json"
    file.write_bytes(
        encode_recording(change(told_by(["t1 1 t2"]), rules='{"tableau":[{"columns":1000000000}]}'))
    )
    ran = run("replay", word, file)
    assert ran.status == 1
    assert ran.err.strip() == f"chilkoot: {file}: the rules are beyond the bounds of the rules language"
