"""From messages to bytes. JSON is what is stored and compared; MessagePack is made from it, so both say the same.

A diff is encoded once for all its viewers; the actor's copy is those bytes with `re` put in.
"""

from __future__ import annotations

import hashlib
from typing import Final

import msgspec

from chilkoot.wire.commands import Command

__all__ = ["content_hash", "encode", "to_msgpack", "with_re"]

_JSON: Final = msgspec.json.Encoder()
_MSGPACK: Final = msgspec.msgpack.Encoder()
_DIFF_HEAD: Final = b'{"type":"diff"'

encode = _JSON.encode
"""The JSON text of a message."""


def with_re(diff: bytes, answers: int) -> bytes:
    """A diff's bytes as the reply to the command with that id."""
    return b'%s,"re":%d%s' % (_DIFF_HEAD, answers, diff[len(_DIFF_HEAD) :])


def to_msgpack(text: bytes) -> bytes:
    """The same object as MessagePack."""
    return _MSGPACK.encode(msgspec.json.decode(text))


def content_hash(command: Command) -> bytes:
    """What tells a command sent twice from another one with its id: 16 bytes over all its fields."""
    return hashlib.blake2b(_JSON.encode(command), digest_size=16).digest()
