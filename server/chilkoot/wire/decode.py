"""From a frame to a command, strictly: what is not exactly a command is answered with what was wrong and where.

The fast path is one typed decode. Only when that fails is the frame looked at again, for the id that an error should carry,
the place, and what was probably meant. Nothing here builds untyped values, so a hostile frame costs no more than its bytes.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from typing import Final

import msgspec
from msgspec import Raw

from chilkoot.wire.codes import ERROR_TEXTS, ErrorCode
from chilkoot.wire.commands import COMMANDS, MAX_ID, AnyCommand, Command, command_fields
from chilkoot.wire.messages import Error
from chilkoot.wire.packed import packed_field
from chilkoot.wire.replies import error

__all__ = ["JSON", "MSGPACK", "Form", "decode"]

_FAILURES: Final = (msgspec.MsgspecError, RecursionError, UnicodeError, ValueError)
"""Everything msgspec raises over bad input; the last three are not MsgspecErrors."""

_PLACE: Final = re.compile(r"(?P<what>.*?)(?: - at `(?P<path>[^`]*)`)?", re.DOTALL)
_FIELD: Final = re.compile(
    r"Object (?P<kind>contains unknown|missing required) field `(?P<name>.*)`", re.DOTALL
)
_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+')


class Form(msgspec.Struct, frozen=True):
    """One of the two ways in which the same objects are written."""

    name: str
    command: Callable[[bytes | str], AnyCommand]
    fields: Callable[[bytes | str], dict[str, Raw]]
    scalar: Callable[[Raw], int | str]


JSON: Final = Form(
    "JSON",
    msgspec.json.Decoder(AnyCommand).decode,
    msgspec.json.Decoder(dict[str, Raw]).decode,
    msgspec.json.Decoder(int | str).decode,
)
MSGPACK: Final = Form(
    "MessagePack",
    msgspec.msgpack.Decoder(AnyCommand).decode,  # type: ignore[arg-type]  # never called with str
    msgspec.msgpack.Decoder(dict[str, Raw]).decode,  # type: ignore[arg-type]
    msgspec.msgpack.Decoder(int | str).decode,
)


def decode(frame: bytes | str, form: Form) -> Command | Error:
    """Read one frame; what is no command comes back as the error to answer it with."""
    try:
        return form.command(frame)
    except _FAILURES as failure:
        return _explain(frame, form, failure)


def _explain(frame: bytes | str, form: Form, failure: Exception) -> Error:
    try:
        fields = form.fields(frame)
    except RecursionError:
        return _bad_message("$", "nested too deeply", _shallow_id(frame))
    except msgspec.ValidationError:
        # No object; or a MessagePack map with keys that are no text, in which there may be an id all the same.
        return _bad_message("$", "a frame holds one object", _shallow_id(frame))
    except _FAILURES:
        text = ERROR_TEXTS[ErrorCode.BAD_JSON] if form is JSON else "This frame is not a MessagePack object."
        return error(ErrorCode.BAD_JSON, _shallow_id(frame), message=text)
    number = _scalar(fields.get("id"), form)
    answers = number if isinstance(number, int) and 1 <= number <= MAX_ID else None
    kind = _scalar(fields.get("type"), form)
    if isinstance(kind, str) and kind not in COMMANDS:
        return _unknown_type(kind, answers)
    return _misshapen(failure, kind if isinstance(kind, str) else None, answers)


def _scalar(raw: Raw | None, form: Form) -> int | str | None:
    if raw is None:
        return None
    try:
        return form.scalar(raw)
    except _FAILURES:
        return None


def _misshapen(failure: Exception, kind: str | None, answers: int | None) -> Error:
    if isinstance(failure, RecursionError):
        return _bad_message("$", "nested too deeply", answers)
    match = _PLACE.fullmatch(str(failure))
    what, path = (match["what"], match["path"] or "$") if match else ("not understood", "$")
    if field := _FIELD.fullmatch(what):
        name = _short(field["name"])
        path = f"{path}.{name}"
        if field["kind"] == "missing required":
            what = f"the field `{name}` is missing"
        else:
            known = command_fields(COMMANDS[kind]) if kind else ()
            near = _nearest(field["name"], known)
            what = f"unknown field `{name}`" + (f"; did you mean `{near}`?" if near else "")
            return _bad_message(path, what, answers, near)
    else:
        what = what[:1].lower() + what[1:]
    return _bad_message(path, what, answers)


def _bad_message(path: str, what: str, answers: int | None, near: str | None = None) -> Error:
    detail = {"path": path} | ({"did_you_mean": near} if near else {})
    return error(ErrorCode.BAD_MESSAGE, answers, message=f"{what} (at {path})", detail=detail)


def _unknown_type(kind: str, answers: int | None) -> Error:
    near = _nearest(kind, COMMANDS)
    detail = {"path": "$.type", "type": _short(kind)} | ({"did_you_mean": near} if near else {})
    message = f"unknown type `{_short(kind)}`" + (f"; did you mean `{near}`?" if near else "")
    return error(ErrorCode.UNKNOWN_TYPE, answers, message=message, detail=detail)


def _nearest(word: str, known: object) -> str | None:
    # difflib is quadratic in the length, and no name is long
    near = difflib.get_close_matches(word[:40].lower(), list(known), 1, 0.6)  # type: ignore[call-overload]
    return str(near[0]) if near else None


def _short(text: str) -> str:
    """A client's own text, fit to be shown back to it."""
    plain = "".join(letter if letter.isprintable() else "?" for letter in text[:40])
    return plain + ("..." if len(text) > 40 else "")


def _shallow_id(frame: bytes | str) -> int | None:
    """The `id` of an object that can't be decoded: nested too deeply, or spoiled somewhere else."""
    if isinstance(frame, bytes):
        packed = packed_field(frame, "id")
        number = None if packed is None else _scalar(Raw(packed), MSGPACK)
        return number if isinstance(number, int) and 1 <= number <= MAX_ID else None
    depth = 0
    last: list[str] = []
    for match in _TOKEN.finditer(frame):
        word = match[0]
        if depth == 1 and last[-2:] == ['"id"', ":"]:
            return int(word) if word.isdecimal() and len(word) <= 16 and 1 <= int(word) <= MAX_ID else None
        depth += (word in "{[") - (word in "}]")
        last = [*last[-1:], word] if depth == 1 else []
    return None
