"""Frames of every kind that Autobahn's test-suite sends, against a server as it is configured, whole and byte by byte.

That suite wants a Python that no longer exists, so its kinds stand here as a table: sizes, pings, reserved bits and opcodes,
fragments, UTF-8, closing. Where Autobahn's echo server would send a text back, ours answers a `ping` with a `pong`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from chaos.raw import close, connect, frame
from servers import LiveServer

PING = b'{"type":"ping","id":%d}'
ASK = frame(PING % 7)
PONG = '"type":"pong","re":7'
PROTOCOL, UTF8, TOO_BIG, BINARY = ["close 1002"], ["close 1007"], ["close 1009"], ["close 1003"]
BYE = close(1000)
STRAY = frame(b"x", 0)
DONE = ["close 1000"]

Row = tuple[bytes, list[str]]


def padded(size: int) -> bytes:
    """A ping of so many bytes."""
    text = PING % 7
    return text + b" " * (size - len(text))


def in_parts(payload: bytes, *sizes: int) -> bytes:
    """One message in frames of these sizes, the last taking the rest."""
    parts, at = [], 0
    for size in sizes:
        parts.append(payload[at : at + size])
        at += size
    parts.append(payload[at:])
    return b"".join(
        frame(part, 1 if number == 0 else 0, fin=number == len(parts) - 1)
        for number, part in enumerate(parts)
    )


def with_text(text: bytes) -> bytes:
    """A ping in which a text stands that the server does not know, so that it is an error if it is a text at all."""
    return b'{"type":"ping","id":7,"x":"' + text + b'"}'


def text_frames(text: bytes) -> Iterator[bytes]:
    whole = with_text(text)
    yield frame(whole)
    yield in_parts(whole, 28)
    yield in_parts(whole, *[1] * (len(whole) - 1))


VALID = [text.encode() for text in ("", "Hello-µ@ßöäüàá-UTF-8!!", "\u0000"[1:], "κόσμε", "\u07ff\u0800\uffff", "\U00010000\U0010ffff",
                                    "\ud7ff\ue000\ufffd", "\ufffe\uffff")]  # fmt: skip
INVALID = [
    b"\xce\xba\xe1\xbd\xb9\xed\xa0\x80edited", b"\xf8\x88\x80\x80\x80", b"\xfc\x84\x80\x80\x80\x80", b"\xf7\xbf\xbf\xbf",
    b"\xf4\x90\x80\x80", b"\x80", b"\xbf", b"\x80\xbf\x80", b"\xc0 \xc1 ", b"\xe0 \xef ", b"\xf0 \xf7 ", b"\xfe", b"\xff",
    b"\xc0\xaf", b"\xe0\x80\xaf", b"\xf0\x80\x80\xaf", b"\xc1\xbf", b"\xe0\x9f\xbf", b"\xf0\x8f\xbf\xbf", b"\xc0\x80",
    b"\xed\xa0\x80", b"\xed\xad\xbf", b"\xed\xbf\xbf", b"\xed\xa0\x80\xed\xb0\x80", b"\xce", b"\xce\xba\xe1",
]  # fmt: skip


def rows() -> Iterator[tuple[str, bytes, list[str]]]:
    """Name, what is sent, what comes back: texts must begin the answers in order, the last says how it ends."""
    for size in (30, 125, 126, 127, 128, 8192, 16384):
        yield f"1.1 text of {size}", frame(padded(size)) + BYE, [PONG, *DONE]
    for size in (16385, 32768):
        yield f"1.1 text of {size}", frame(padded(size)), ["too_large", *TOO_BIG]
    yield "1.1 text of 65536", frame(padded(65536)), TOO_BIG
    for size in (0, 125, 126, 8192):
        yield f"1.2 binary of {size}", frame(b"x" * size, 2), BINARY
    for size in (0, 1, 125):
        yield f"2 ping of {size}", frame(b"\xfe" * size, 9) + BYE, [f"pong {'fe' * size}", *DONE]
    yield "2.5 ping of 126", frame(b"x" * 126, 9), PROTOCOL
    for payload in (b"", b"unasked"):
        yield f"2.7 a pong that nobody asked for, {payload!r}", frame(payload, 10) + ASK + BYE, [PONG, *DONE]
    yield "2.10 ten pings", b"".join(frame(b"%d" % n, 9) for n in range(10)) + BYE, [
        *(f"pong {b'%d'.__mod__(n).hex()}" for n in range(10)), *DONE,
    ]  # fmt: skip
    for rsv in range(1, 8):
        yield f"3 reserved bits {rsv}", ASK + frame(PING % 8, rsv=rsv), [PONG, *PROTOCOL]
        yield f"3 reserved bits {rsv} on a ping", frame(b"", 9, rsv=rsv), PROTOCOL
    for opcode in (3, 4, 5, 6, 7, 11, 12, 13, 14, 15):
        for payload in (b"", b"reserved"):
            yield f"4 opcode {opcode} with {payload!r}", ASK + frame(payload, opcode), [PONG, *PROTOCOL]
    yield "5.1 a ping in fragments", frame(b"a", 9, fin=False) + frame(b"b", 0), PROTOCOL
    yield "5.2 a pong in fragments", frame(b"a", 10, fin=False) + frame(b"b", 0), PROTOCOL
    yield "5.3 a text in two", in_parts(PING % 7, 9) + BYE, [PONG, *DONE]
    yield "5.6 a ping between", frame((PING % 7)[:9], fin=False) + frame(b"p", 9) + frame((PING % 7)[9:], 0) + BYE, [
        "pong 70", PONG, *DONE,
    ]  # fmt: skip
    yield "5.9 a continuation of nothing", frame(b"x", 0) + ASK, PROTOCOL
    yield "5.10 an unfinished continuation of nothing", frame(b"x", 0, fin=False) + ASK, PROTOCOL
    yield "5.15 a continuation after the end", ASK + in_parts(PING % 7, 9) + STRAY, [PONG, PONG, *PROTOCOL]
    yield "5.18 a text within a text", frame(b"{", fin=False) + frame(b"}"), PROTOCOL
    yield (
        "5.19 five fragments with pings",
        frame((PING % 7)[:3], fin=False)
        + frame((PING % 7)[3:5], 0, fin=False)
        + frame(b"1", 9)
        + frame(b"", 0, fin=False)
        + frame(b"2", 9)
        + frame((PING % 7)[5:], 0)
        + BYE,
        ["pong 31", "pong 32", PONG, *DONE],
    )
    yield "5 an empty text in three", in_parts(b"", 0, 0) + BYE, ["bad_json", *DONE]
    for text in VALID:
        for number, sent in enumerate(text_frames(text)):
            yield f"6 valid {text!r}, way {number}", sent + BYE, ["bad_message", *DONE]
    for text in INVALID:
        for number, sent in enumerate(text_frames(text)):
            yield f"6 invalid {text!r}, way {number}", sent, UTF8
    yield "7.1 closing twice", BYE + BYE, DONE
    yield "7.1 a text after closing", BYE + ASK, DONE
    yield "7.1 a ping after closing", BYE + frame(b"x", 9), DONE
    yield "7.3 closing without a code", close(), ["close -"]
    yield "7.3 closing with half a code", frame(b"\x03", 8), PROTOCOL
    yield "7.3 a reason", close(1000, b"Hello"), DONE
    yield "7.3 a reason of 123 bytes", close(1000, b"*" * 123), DONE
    yield "7.3 a reason of 124 bytes", close(1000, b"*" * 124), PROTOCOL
    yield "7.5 a reason that is no UTF-8", close(1000, b"\xce\xba\xe1\xbd\xb9\xed\xa0\x80"), UTF8
    for code in (1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999):
        yield f"7.7 code {code}", close(code), [f"close {code}"]
    for code in (0, 999, 1004, 1005, 1006, 1016, 1100, 2000, 2999, 5000, 65535):
        yield f"7.9 code {code}", close(code), PROTOCOL
    yield "an unmasked frame", frame(PING % 7, masked=False), PROTOCOL
    for length in (2**31, 2**62, 2**63, 2**64 - 1):
        yield f"9 a frame that says it has {length} bytes", frame(b"x", length=length), TOO_BIG
    yield "9 fragments that come to too much", in_parts(padded(40_000), *[4000] * 9), TOO_BIG
    yield "12 a compressed frame, which nobody agreed on", frame(b"\xaa\x56\x2a\xa9", rsv=4), PROTOCOL


async def ask(port: int, sent: bytes, expected: list[str], *, chopped: bool) -> list[str]:
    """Send a row; what is to be answered is waited for before a closing frame or a fault follows."""
    got: list[str] = []
    first = ASK if sent.startswith(ASK) else b""
    last = next((end for end in (BYE, STRAY) if sent.endswith(end) and len(expected) > 1), b"")
    middle = sent[len(first) : len(sent) - len(last)]
    async with connect(port) as raw:
        for part, answers in ((first, 1), (middle, len(expected) - 1 if last else 0)):
            await raw.say(part, chopped=chopped)
            while part and len(got) < answers:
                got += await raw.answers(1)
        await raw.say(last, chopped=chopped)
        return got + await raw.answers()


@pytest.mark.parametrize(
    "chopped", (False, pytest.param(True, marks=pytest.mark.slow)), ids=("whole", "byte by byte")
)
async def test_each_kind_of_frame_is_answered_as_the_standard_says(server: LiveServer, chopped: bool) -> None:
    at_once = asyncio.Semaphore(16)

    async def try_row(name: str, sent: bytes, expected: list[str]) -> str | None:
        async with at_once:
            got = await ask(server.port, sent, expected, chopped=chopped)
        if len(got) == len(expected) and all(part in one for part, one in zip(expected, got, strict=True)):
            return None
        return f"{name}: {[one[:100] for one in got]} instead of {expected}"

    table = [row for row in rows() if not chopped or len(row[1]) <= 600]
    assert len(table) >= 200
    wrong = [found for found in await asyncio.gather(*(try_row(*row) for row in table)) if found]
    assert not wrong, "\n".join(wrong)
    assert PONG in (await ask(server.port, ASK + BYE, [PONG, *DONE], chopped=False))[0]
    assert "Traceback" not in (server.folder / "log").read_text()
