"""The wire: every type of message both ways, written once; strict decoding, encoding, error codes and close codes."""

from chilkoot.wire import commands, messages
from chilkoot.wire.codes import ERROR_TEXTS, RECONNECT, CloseCode, ErrorCode
from chilkoot.wire.commands import COMMANDS, Command
from chilkoot.wire.decode import JSON, MSGPACK, Form, decode
from chilkoot.wire.encode import content_hash, encode, to_msgpack, with_re
from chilkoot.wire.messages import Message

__all__ = [
    "COMMANDS",
    "ERROR_TEXTS",
    "JSON",
    "MSGPACK",
    "RECONNECT",
    "CloseCode",
    "Command",
    "ErrorCode",
    "Form",
    "Message",
    "commands",
    "content_hash",
    "decode",
    "encode",
    "messages",
    "to_msgpack",
    "with_re",
]
