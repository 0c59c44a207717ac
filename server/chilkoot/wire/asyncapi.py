"""The protocol as an AsyncAPI 3 document, made of the very types that are decoded and encoded.

What is written here by hand is only which message answers which command, and which come unasked; all names, fields, types and
bounds come from the structs, all sentences from their docstrings and from the codes.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any, Final

import msgspec

from chilkoot.wire import messages
from chilkoot.wire.codes import ERROR_TEXTS, RECONNECT, CloseCode
from chilkoot.wire.commands import COMMANDS
from chilkoot.wire.messages import Message

__all__ = ["EVENTS", "MESSAGES", "PROTOCOL", "REPLIES", "protocol_document"]

PROTOCOL: Final = 1
"""The version of the protocol."""

MESSAGES: Final[dict[str, type[Message]]] = {
    str(kind.__struct_config__.tag): kind
    for kind in (getattr(messages, name) for name in messages.__all__)
    if isinstance(kind, type) and issubclass(kind, Message) and kind is not Message
}
"""Everything that the server says, by its `type`."""

_DONE: Final = ("diff", "refused")
REPLIES: Final[dict[str, tuple[str, ...]]] = {
    "hello": ("welcome",),
    "variants": ("variants",),
    "rules": ("rules",),
    "new": ("snapshot",),
    "join": ("snapshot",),
    "sync": ("snapshot",),
    "leave": ("ok",),
    "games": ("games",),
    "move": _DONE,
    "tap": ("diff", "targets", "refused"),
    "draw": _DONE,
    "undo": _DONE,
    "redo": _DONE,
    "home": _DONE,
    "auto": _DONE,
    "hint": ("hint", "refused"),
    "legal": ("legal",),
    "give_up": _DONE,
    "restart": ("snapshot",),
    "recording": ("recording",),
    "replay": ("snapshot",),
    "analyse": ("analysis",),
    "daily": ("daily",),
    "daily_start": ("snapshot",),
    "leaderboard": ("leaderboard",),
    "race": ("race",),
    "race_join": ("race",),
    "race_leave": ("ok",),
    "rematch": ("race",),
    "watchable": ("watchable",),
    "watch": ("watch",),
    "stats": ("stats",),
    "ping": ("pong",),
}
"""What may answer each command, beside `error`, which may answer any."""

EVENTS: Final = (
    "snapshot",
    "diff",
    "presence",
    "dismissed",
    "race",
    "race_progress",
    "replay_end",
    "draining",
    "error",
)
"""What also comes without having been asked for."""

_SCHEMAS: Final = "#/components/schemas/"
_RENAMED: Final = {"chilkoot.wire.commands.Move": "Move", "chilkoot.events.Move": "MoveOp", "Turn": "TurnOp"}

_ABOUT: Final = """\
Solitaire over a WebSocket: one object a frame, tagged by `type`. Text frames hold JSON; with the subprotocol
`chilkoot.v1.msgpack` the same objects are MessagePack in binary frames. Every command carries an `id` and gets exactly one reply
whose `re` is that id; everything else is an event. The server refuses fields it does not know, a client ignores them."""


@cache
def protocol_document(version: str) -> dict[str, Any]:
    """The document for a server of that version; not to be changed by its readers."""
    kinds = {**{f"{name}.command": kind for name, kind in COMMANDS.items()}, **MESSAGES}
    references, schemas = msgspec.json.schema_components(kinds.values(), ref_template=_SCHEMAS + "{name}")
    renamed = {_renamed(name): _with_new_names(schema) for name, schema in schemas.items()}
    told = {
        name: {
            "name": name.removesuffix(".command"),
            "title": name.removesuffix(".command"),
            "summary": _sentence(kind),
            "contentType": "application/json",
            "payload": _with_new_names(reference),
        }
        for (name, kind), reference in zip(kinds.items(), references, strict=True)
    }
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "Chilkoot",
            "version": f"{PROTOCOL}",
            "description": _ABOUT,
            "license": {"name": "Apache-2.0"},
            "x-server-version": version,
        },
        "defaultContentType": "application/json",
        "channels": {
            "table": {
                "address": "/ws",
                "title": "The one endpoint",
                "messages": {name: {"$ref": f"#/components/messages/{name}"} for name in told},
                "bindings": {"ws": {"method": "GET"}},
            }
        },
        "operations": {
            **{name: _command(name, kind) for name, kind in COMMANDS.items()},
            "events": {
                "action": "send",
                "channel": {"$ref": "#/channels/table"},
                "summary": "What comes without having been asked for.",
                "messages": [_on_channel(name) for name in EVENTS],
            },
        },
        "components": {"messages": told, "schemas": dict(sorted(renamed.items()))},
        "x-error-codes": {str(code): text for code, text in ERROR_TEXTS.items()},
        "x-close-codes": {
            str(int(code)): f"{code.name.lower().replace('_', ' ')}; connect again? {RECONNECT[code]}"
            for code in CloseCode
        },
    }


def _command(name: str, kind: type[msgspec.Struct]) -> dict[str, Any]:
    # What an AsyncAPI document calls its application is the server here: it receives commands.
    return {
        "action": "receive",
        "channel": {"$ref": "#/channels/table"},
        "summary": _sentence(kind),
        "messages": [_on_channel(f"{name}.command")],
        "reply": {
            "channel": {"$ref": "#/channels/table"},
            "messages": [_on_channel(answer) for answer in (*REPLIES[name], "error")],
        },
    }


def _on_channel(name: str) -> dict[str, str]:
    return {"$ref": f"#/channels/table/messages/{name}"}


def _sentence(kind: type[msgspec.Struct]) -> str:
    """The first sentence of a type's docstring, in one line."""
    return re.sub(r"\s+", " ", (kind.__doc__ or "").strip().split("\n\n")[0])


def _renamed(name: str) -> str:
    return _RENAMED.get(name, name)


def _with_new_names(schema: Any) -> Any:
    """A schema whose references are to the names of the document.

    A discriminator is left out: AsyncAPI knows it in another form, and the tags are told apart by what they may be anyway.
    """
    if isinstance(schema, dict):
        return {
            key: _SCHEMAS + _renamed(value.removeprefix(_SCHEMAS))
            if key == "$ref" and isinstance(value, str)
            else _with_new_names(value)
            for key, value in schema.items()
            if key != "discriminator" or not isinstance(value, dict) or "propertyName" not in value
        }
    return [_with_new_names(one) for one in schema] if isinstance(schema, list) else schema
