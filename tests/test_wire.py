"""What is no command is answered with what was wrong and where; what is one reads back, in both forms."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chilkoot.events import Move, Turn
from chilkoot.wire import (
    COMMANDS,
    ERROR_TEXTS,
    JSON,
    MSGPACK,
    RECONNECT,
    CloseCode,
    Command,
    ErrorCode,
    commands,
    content_hash,
    decode,
    encode,
    messages,
    to_msgpack,
    with_re,
)
from chilkoot.wire.messages import Diff, Error
from chilkoot.wire.packed import packed_field

MOVE = {"type": "move", "id": 7, "game": "g", "base": 3, "from": "t5", "to": "t2"}
DIFF = Diff(game="g", seq=4, ops=[Move("t5", "t2", 4), Turn("t5", 4, "6D")], check="01234567")


def wrong(frame: Any) -> Error:
    """The error that a frame, given as text or as what to write, is answered with; the same in both forms."""
    text = frame if isinstance(frame, str) else json.dumps(frame)
    error = decode(text, JSON)
    assert isinstance(error, Error)
    if not isinstance(frame, str):
        packed = decode(msgspec.msgpack.encode(frame), MSGPACK)
        assert isinstance(packed, Error)
        assert (packed.re, packed.code, packed.detail) == (error.re, error.code, error.detail)
    return error


@pytest.mark.parametrize(
    ("change", "path"),
    (
        ({"id": "7"}, "$.id"),
        ({"id": 0}, "$.id"),
        ({"id": 2**53}, "$.id"),
        ({"id": True}, "$.id"),
        ({"id": 1.0}, "$.id"),
        ({"id": None}, "$.id"),
        ({"base": "3"}, "$.base"),
        ({"base": 2**63}, "$.base"),
        ({"base": None}, "$.base"),
        ({"n": 1.5}, "$.n"),
        ({"n": False}, "$.n"),
        ({"game": 5}, "$.game"),
        ({"game": "g" * 65}, "$.game"),
        ({"from": ["t5"]}, "$.from"),
        ({"to": {}}, "$.to"),
        ({"type": 5}, "$.type"),
    ),
)
def test_a_field_of_the_wrong_type_or_size_is_named(change: dict[str, Any], path: str) -> None:
    error = wrong(MOVE | change)
    assert error.code == "bad_message"
    assert error.detail is not msgspec.UNSET
    assert error.detail["path"] == path
    assert path in error.message
    assert error.re == (msgspec.UNSET if "id" in change else 7)


@pytest.mark.parametrize("field", ("id", "game", "base", "from", "to", "type"))
def test_a_field_that_is_missing_is_named(field: str) -> None:
    error = wrong({name: value for name, value in MOVE.items() if name != field})
    assert error.code == "bad_message"
    assert error.detail == {"path": f"$.{field}"}


def test_an_unknown_field_is_refused_with_the_one_that_was_meant() -> None:
    error = wrong(MOVE | {"form": "t5"})
    assert error.code == "bad_message"
    assert error.message == "unknown field `form`; did you mean `from`? (at $.form)"
    assert error.detail == {"path": "$.form", "did_you_mean": "from"}


def test_an_unknown_type_is_refused_with_the_one_that_was_meant() -> None:
    error = wrong(MOVE | {"type": "moev"})
    assert error == Error(
        re=7,
        code="unknown_type",
        message="unknown type `moev`; did you mean `move`?",
        detail={"path": "$.type", "type": "moev", "did_you_mean": "move"},
    )


def test_a_type_unlike_any_other_gets_no_suggestion() -> None:
    assert "did_you_mean" not in (wrong({"type": "xyzzy", "id": 1}).detail or {})


def test_a_long_or_strange_type_is_shown_short_and_plain() -> None:
    error = wrong({"type": "\x1b[31m" + "x" * 5000, "id": 1})
    assert len(error.message) < 100
    assert "\x1b" not in error.message


@pytest.mark.parametrize(
    "text",
    ("", " ", "{", '{"type":"ping","id":', "NaN", "nul", "'x'", "{,}", "\0"),
)
def test_what_is_no_json_is_bad_json_without_an_id(text: str) -> None:
    assert wrong(text) == Error(code="bad_json", message=ERROR_TEXTS[ErrorCode.BAD_JSON])


@pytest.mark.parametrize(
    "text", ('{"type":"ping","id":3', '{"type":"ping","id":3} x', '{"id":3,"x":"\\ud800"}', '{"id":3,}')
)
def test_what_is_no_json_carries_the_id_that_can_be_read(text: str) -> None:
    error = wrong(text)
    assert (error.code, error.re) == ("bad_json", 3)


@pytest.mark.parametrize("value", ([], 5, None, True, [MOVE], ["ping"]))
def test_a_frame_holds_one_object(value: Any) -> None:
    error = wrong(value)
    assert (error.code, error.detail) == ("bad_message", {"path": "$"})


@pytest.mark.parametrize("broken", (b"", b"\xc1", b"\x81", b"\xdf\xff\xff\xff\xff", b"\x82\xa2id"))
def test_what_is_no_messagepack_is_told_so(broken: bytes) -> None:
    error = decode(broken, MSGPACK)
    assert isinstance(error, Error)
    assert (error.code, error.message) == ("bad_json", "This frame is not a MessagePack object.")


@pytest.mark.parametrize("depth", (1000, 5000))
def test_an_object_nested_too_deeply_is_answered_and_its_id_read(depth: int) -> None:
    deep = "[" * depth + "]" * depth
    for text in (
        f'{{"type":"ping","id":7,"x":{deep}}}',
        f'{{"x":{deep},"y":{{"id":3}},"id": 7 ,"type":"ping"}}',
    ):
        error = wrong(text)
        assert (error.code, error.re) == ("bad_message", 7)


def test_deep_messagepack_is_answered_and_its_id_read() -> None:
    deep = b"\x91" * 5000 + b"\x01"
    for frame in (b"\x82\xa2id\x01\xa1x" + deep, b"\x82\xa1x" + deep + b"\xa2id\x01"):
        error = decode(frame, MSGPACK)
        assert isinstance(error, Error)
        assert (error.code, error.re) == ("bad_message", 1)


def test_the_id_of_messagepack_that_is_spoilt_elsewhere_is_read() -> None:
    for frame in (b"\x82\xa2id\x07\xa1x", b"\x81\xa2id\x07more"):
        error = decode(frame, MSGPACK)
        assert isinstance(error, Error)
        assert (error.code, error.re) == ("bad_json", 7)


@pytest.mark.parametrize("key", (5, b"more", None))
def test_the_id_is_read_beside_messagepack_keys_that_are_no_text(key: Any) -> None:
    error = decode(msgspec.msgpack.encode({key: 2, "type": "ping", "id": 7}), MSGPACK)
    assert isinstance(error, Error)
    assert (error.code, error.re) == ("bad_message", 7)


PACKED = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats() | st.text() | st.binary()
    | st.text(min_size=250, max_size=300) | st.builds(msgspec.msgpack.Ext, st.integers(0, 127), st.binary(max_size=40)),
    lambda inner: st.lists(inner, max_size=20) | st.dictionaries(st.text(max_size=40), inner, max_size=20),
    max_leaves=20,
)  # fmt: skip


@given(st.dictionaries(st.text(max_size=3), PACKED, max_size=20), PACKED, st.binary(max_size=3))
def test_a_field_of_messagepack_is_found_without_building_the_rest(
    fields: dict[str, Any], value: Any, tail: bytes
) -> None:
    encode_packed = msgspec.msgpack.encode
    others = {key: one for key, one in fields.items() if key != "id"}
    assert packed_field(encode_packed(others) + tail, "id") is None
    packed = encode_packed(others | {"id": value, "last": 1}) + tail
    assert packed_field(packed, "id") == encode_packed(value)


@pytest.mark.parametrize("number", ("9" * 5000, "1e999", "-" + "9" * 30, "1e5"))
def test_a_huge_number_is_an_error_like_any_other(number: str) -> None:
    error = wrong(f'{{"type":"move","id":7,"game":"g","base":{number},"from":"t1","to":"t2"}}')
    assert (error.code, error.re) == ("bad_message", 7)


def test_a_lost_count_of_any_size_may_be_named_in_a_hello() -> None:
    hello = {"type": "hello", "id": 1, "games": {"a": -1, "b": 2**63, "c": 2**80}}
    assert decode(json.dumps(hello), JSON) == commands.Hello(id=1, games={"a": -1, "b": 2**63, "c": 2**80})


@pytest.mark.parametrize("text", ('{"type":"ping","id":1,"t":NaN}', '{"type":"ping","id":1,"t":Infinity}'))
def test_not_a_number_is_not_json(text: str) -> None:
    assert wrong(text).code == "bad_json"


@pytest.mark.parametrize("number", (float("nan"), float("inf"), -float("inf")))
@pytest.mark.parametrize(("kind", "field"), (("ping", "t"), ("replay", "speed")))
def test_not_a_number_is_no_number_in_messagepack_either(kind: str, field: str, number: float) -> None:
    frame = {"type": kind, "id": 7, field: number} | ({"game": "g"} if kind == "replay" else {})
    error = decode(msgspec.msgpack.encode(frame), MSGPACK)
    assert isinstance(error, Error)
    assert (error.code, error.re, error.detail) == ("bad_message", 7, {"path": f"$.{field}"})


def test_the_last_of_two_fields_of_one_name_counts() -> None:
    assert decode('{"type":"ping","id":1,"id":2}', JSON) == commands.Ping(id=2)


@given(st.binary(max_size=200))
def test_no_bytes_end_in_anything_but_a_command_or_an_error(data: bytes) -> None:
    assert isinstance(decode(data, MSGPACK), Command | Error)
    assert isinstance(decode(data.decode("utf-8", "replace"), JSON), Command | Error)


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False), lambda inner:
    st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["type", "id", "game", "base"]) | st.text(), inner,
    max_size=5), max_leaves=12))  # fmt: skip
def test_no_json_value_ends_in_anything_but_a_command_or_an_error(value: Any) -> None:
    assert isinstance(decode(json.dumps(value), JSON), Command | Error)


@given(st.data())
def test_a_command_with_one_byte_changed_is_a_command_or_an_error(data: st.DataObject) -> None:
    frame = bytearray(json.dumps(MOVE).encode())
    frame[data.draw(st.integers(0, len(frame) - 1))] = data.draw(st.integers(0, 255))
    assert isinstance(decode(frame.decode("utf-8", "replace"), JSON), Command | Error)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_reads_the_same_in_both_forms(name: str) -> None:
    kind = COMMANDS[name]
    fields: dict[str, Any] = {"type": name, "id": 5, "game": "g", "base": 1, "from": "t1", "to": "t2", "pile": "t1",
              "variant": "yukon", "seats": 2, "race": "r", "key": "k", "watch": "open"}  # fmt: skip
    known = set(kind.__struct_encode_fields__) | {"type"}
    required = {
        key: value
        for key, value in fields.items()
        if key in known and not (name == "replay" and key == "from")
    }
    command = decode(json.dumps(required), JSON)
    assert type(command) is kind
    assert decode(msgspec.msgpack.encode(required), MSGPACK) == command


def types_in(kind: msgspec.inspect.Type) -> list[msgspec.inspect.Type]:
    inner = [getattr(kind, name, None) for name in ("types", "key_type", "value_type", "item_type")]
    flat = [one for part in inner for one in (part if isinstance(part, tuple) else [part]) if one is not None]
    return [kind, *(found for one in flat for found in types_in(one))]


@pytest.mark.parametrize("name", COMMANDS)
def test_no_field_is_untyped_and_no_map_has_integer_keys(name: str) -> None:
    kind = msgspec.inspect.type_info(COMMANDS[name])
    assert isinstance(kind, msgspec.inspect.StructType)
    for field in kind.fields:
        for one in types_in(field.type):
            assert not isinstance(one, msgspec.inspect.AnyType | msgspec.inspect.SetType)
            assert not isinstance(one, msgspec.inspect.DictType) or isinstance(
                one.key_type, msgspec.inspect.StrType
            )


def test_the_actors_copy_of_a_diff_is_the_diff_with_re() -> None:
    assert with_re(encode(DIFF), 12) == encode(msgspec.structs.replace(DIFF, re=12))


def test_messagepack_says_the_same_as_json() -> None:
    text = encode(DIFF)
    assert msgspec.msgpack.decode(to_msgpack(text)) == json.loads(text)


def test_a_plain_move_stays_small() -> None:
    diff = Diff(game="g" * 22, seq=123, ops=[Move("t5", "t2", 4)], check="01234567")
    assert len(with_re(encode(diff), 1234)) <= 150


def test_what_did_not_change_is_not_mentioned() -> None:
    assert set(json.loads(encode(DIFF))) == {"type", "game", "seq", "ops", "check"}


def test_the_same_content_has_one_fingerprint_however_it_is_written() -> None:
    one = decode('{"type":"move","id":7,"game":"g","base":3,"from":"t5","to":"t2"}', JSON)
    other = decode('{ "n":1, "to":"t2","from":"t5","game":"g","base":3,"id":7,"type":"move"}', JSON)
    changed = decode('{"type":"move","id":7,"game":"g","base":3,"from":"t5","to":"t2","n":2}', JSON)
    assert isinstance(one, Command)
    assert isinstance(other, Command)
    assert isinstance(changed, Command)
    assert content_hash(one) == content_hash(other) != content_hash(changed)


def test_two_commands_of_different_types_have_different_fingerprints() -> None:
    assert content_hash(commands.Sync(id=1, game="g")) != content_hash(commands.Leave(id=1, game="g"))


def test_every_code_has_a_sentence_and_every_close_code_advice() -> None:
    assert set(ERROR_TEXTS) == set(ErrorCode)
    assert set(RECONNECT) == set(CloseCode)
    assert all(text.endswith(".") for text in ERROR_TEXTS.values())


def test_every_message_type_has_a_name_of_its_own() -> None:
    kinds = [
        kind
        for kind in vars(messages).values()
        if isinstance(kind, type) and issubclass(kind, messages.Message)
    ]
    names = [kind.__struct_config__.tag for kind in kinds if kind is not messages.Message]
    assert len(names) == len(set(names)) >= 18
