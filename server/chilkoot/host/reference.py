"""The protocol as it is published: the AsyncAPI document, and a page to read that is made of that very document."""

from __future__ import annotations

import html
import json
import sys
from functools import cache
from typing import Any

from chilkoot import __version__
from chilkoot.wire.asyncapi import EVENTS, MESSAGES, REPLIES, protocol_document

__all__ = ["protocol_json", "protocol_page"]

_BOUNDS = (
    ("minimum", "at least {}"),
    ("exclusiveMinimum", "more than {}"),
    ("maximum", "at most {}"),
    ("maxLength", "at most {} characters"),
    ("maxProperties", "at most {} entries"),
)
_BOUNDLESS = {-(2**63), 2**63 - 1, 2**53 - 1, -sys.float_info.max, sys.float_info.max}
"""What any machine number keeps to anyway."""

_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Chilkoot: the protocol</title>
<style>{style}</style>
<h1>The protocol</h1>
<p>{about}</p>
<p>This page is made from <a href="/protocol.json">/protocol.json</a>, an AsyncAPI 3 document, which is made from the types that the server
decodes and encodes. Version {version}; the endpoint is <code>/ws</code>. Fields marked <code>?</code> may be left out.</p>
<nav><p><a href="#commands">Commands</a> · <a href="#messages">What the server says</a> · <a href="#parts">Parts</a> ·
<a href="#errors">Errors</a> · <a href="#closing">Close codes</a></p></nav>
<h2 id="commands">Commands</h2>
{commands}
<h2 id="messages">What the server says</h2>
{messages}
<h2 id="parts">Parts</h2>
{parts}
<h2 id="errors">Errors</h2>
{errors}
<h2 id="closing">Close codes</h2>
{closing}
</html>
"""


@cache
def protocol_json() -> bytes:
    """The AsyncAPI document."""
    return (json.dumps(protocol_document(__version__), indent=1, ensure_ascii=False) + "\n").encode()


@cache
def protocol_page(style: str) -> str:
    """The same as a page."""
    document = protocol_document(__version__)
    told, schemas = document["components"]["messages"], document["components"]["schemas"]
    commands, said, used = [], [], set()
    for name, entry in told.items():
        kind = entry["payload"]["$ref"].rpartition("/")[2]
        used.add(kind)
        word = html.escape(entry["name"])
        fields = _fields(schemas[kind])
        if name.endswith(".command"):
            answers = ", ".join(_link(f"message-{one}", one) for one in REPLIES[entry["name"]])
            commands.append(
                f'<h3 id="command-{word}"><code>{word}</code></h3>\n<p>{html.escape(entry["summary"])} '
                f"Answered by {answers}.</p>\n{fields}"
            )
        else:
            comes = " Comes as an event, too." if name in EVENTS else ""
            said.append(
                f'<h3 id="message-{word}"><code>{word}</code></h3>\n<p>{html.escape(entry["summary"])}{comes}</p>\n{fields}'
            )
    parts = [
        f'<h3 id="part-{name}">{name}</h3>\n<p>{html.escape(schema.get("description", ""))}</p>\n{_fields(schema)}'
        for name, schema in schemas.items()
        if name not in used
    ]
    assert len(said) == len(MESSAGES)
    return _PAGE.format(
        style=style,
        about=html.escape(document["info"]["description"]),
        version=document["info"]["version"],
        commands="\n".join(commands),
        messages="\n".join(said),
        parts="\n".join(parts),
        errors=_meanings(document["x-error-codes"]),
        closing=_meanings(document["x-close-codes"]),
    )


def _meanings(texts: dict[str, str]) -> str:
    rows = "".join(
        f"<dt><code>{html.escape(code)}</code></dt><dd>{html.escape(text)}</dd>\n"
        for code, text in texts.items()
    )
    return f"<dl>\n{rows}</dl>"


def _fields(schema: dict[str, Any]) -> str:
    needed = set(schema.get("required", ()))
    rows = [
        f"<li><code>{html.escape(name)}{'' if name in needed else '?'}</code> {_kind(field)}</li>"
        for name, field in schema.get("properties", {}).items()
        if name not in {"type", "re"}
    ]
    return f"<ul>\n{chr(10).join(rows)}\n</ul>" if rows else ""


def _kind(schema: dict[str, Any]) -> str:
    """What a field may hold, in words."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return _link(f"part-{name}", name)
    if "anyOf" in schema:
        return " or ".join(_kind(one) for one in schema["anyOf"])
    if "enum" in schema:
        return " or ".join(f"<code>{html.escape(json.dumps(one))}</code>" for one in schema["enum"])
    kind = schema.get("type", "anything")
    if kind == "array":
        return f"list of {_kind(schema.get('items', {}))}"
    if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
        kind = f"object of {_kind(schema['additionalProperties'])}"
    bounds = [
        text.format(schema[key]) for key, text in _BOUNDS if schema.get(key, 2**63 - 1) not in _BOUNDLESS
    ]
    if schema.get("default") is not None:
        bounds.append(f"else <code>{html.escape(json.dumps(schema['default']))}</code>")
    return ", ".join([kind, *bounds])


def _link(anchor: str, text: str) -> str:
    return f'<a href="#{anchor}">{html.escape(text)}</a>'
