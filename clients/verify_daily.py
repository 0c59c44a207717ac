#!/usr/bin/env python3
"""Works out a day's deals from what a Chilkoot server has published, and says whether they are what was committed to.

    python3 verify_daily.py https://example.org/daily/2026-11-29.json
    python3 verify_daily.py day.json --root 0623bc… --announced kept.json --recording game.json

The file is what `/daily/DATE.json` gives once the day is revealed. What makes the check worth something is what you kept from before:
the season's root (`--root`), the same file fetched before the day opened (`--announced`), a recording of a game that somebody played (`--recording`).

Python's standard library and nothing else: no line of this is shared with the server. docs/daily.md is what it follows.
"""

import argparse
import hashlib
import hmac
import json
import sys
import urllib.request
from collections.abc import Iterator
from http.client import HTTPException
from typing import Any

RANKS = "A23456789TJQK"
TIMEOUT = 30
MOST_BYTES = 4 << 20

Json = dict[str, Any]


LONGEST_SEASON = 4000
"""Days. A file with more of them only wants to keep a reader busy."""


class Wrong(Exception):  # noqa: N818 - it is told to people as it is
    """Something is not as it was committed to, or can't be read."""


def sha256(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def hmac_sha256(key: bytes, message: bytes) -> bytes:
    return hmac.new(key, message, hashlib.sha256).digest()


def u64(number: int) -> bytes:
    return number.to_bytes(8, "big")


def season_root(key: bytes, day: int) -> bytes:
    """The key of a day, hashed as often as its day says."""
    for _ in range(day):
        key = sha256(key)
    return key


def seed_of(key: bytes, date: str, entry: Json) -> bytes:
    level = "" if entry["level"] is None else str(entry["level"])
    fields = ("daily/1", date, entry["variant"], level, entry["rules_hash"], entry["beacon"])
    return hmac_sha256(key, b"\0".join(field.encode() for field in fields))


def deal_key(seed: bytes, nonce: int) -> bytes:
    return hmac_sha256(seed, b"daily-deal/1\0" + u64(nonce))


def words(key: bytes) -> Iterator[int]:
    block = 0
    while True:
        digest = hmac_sha256(key, b"chilkoot-deal/1\0" + u64(block))
        for at in range(0, 32, 4):
            yield int.from_bytes(digest[at : at + 4], "big")
        block += 1


def shuffled(key: bytes, count: int) -> list[int]:
    order, stream = list(range(count)), words(key)
    for last in range(count - 1, 0, -1):
        choices = last + 1
        bound = 2**32 - 2**32 % choices
        word = next(stream)
        while word >= bound:
            word = next(stream)
        other = word % choices
        order[last], order[other] = order[other], order[last]
    return order


def pack_of(rules: Json, key: bytes) -> list[str]:
    """The shuffled pack, the card that is dealt first in front; a card is its two letters."""
    deck = rules.get("deck", {})
    suits, ranks = deck.get("suits", "CDHS"), sorted(deck.get("ranks", range(13)))
    pack = [RANKS[rank] + suit for suit in suits for rank in ranks] * deck.get("packs", 1)
    return [pack[at] for at in shuffled(key, len(pack))]


def board_of(rules: Json, key: bytes) -> dict[str, list[str]] | None:
    """The piles after the deal, `<` `>` about a card that lies face down; None for ways of dealing that are not known here."""
    zones = {"tableau": "t", "cells": "c", "reserve": "r", "waste": "w"}
    passes = rules.get("deal", [])
    if rules.get("setup") or any(one.get("zone", "tableau") not in zones or "rank" in one for one in passes):
        return None
    pack = pack_of(rules, key)
    piles: dict[str, list[str]] = {}
    for one in passes:
        zone, picture = one.get("zone", "tableau"), one["picture"]
        stacked = zone == "waste" or (zone == "reserve" and rules.get("reserve", {}).get("piles", 0) == 1)
        places = range(len(picture))
        for place in reversed(places) if one.get("leftward") else places:
            if picture[place] != ".":
                card = pack.pop(0)
                name = f"{zones[zone]}{1 if stacked else place + 1}"
                piles.setdefault(name, []).append(f"<{card}>" if picture[place] == "D" else card)
    if pack:
        # The stock lies face down, and its last card is turned first.
        piles["s1"] = [f"<{card}>" for card in reversed(pack)]
    return piles


def piles_of(board: str) -> dict[str, list[str]]:
    """The piles of a board's text."""
    lines = (line.partition(":") for line in board.splitlines() if line.strip())
    return {name.strip(): cards.split() for name, _, cards in lines}


def name_of(entry: Json) -> str:
    """A game by its variant and level."""
    return str(entry["variant"]) + ("" if entry["level"] is None else f" level {entry['level']}")


def check_entry(date: str, key: bytes, entry: Json, kept: Json | None) -> str:
    """What is found of one deal; raises Wrong."""
    name = name_of(entry)
    if hashlib.sha256(entry["rules"].encode()).hexdigest() != entry["rules_hash"]:
        raise Wrong(f"{name}: the rules are not those of the hash")
    seed = seed_of(key, date, entry)
    if sha256(seed).hex() != entry["seed"]:
        raise Wrong(f"{name}: the seed that follows from the key is not the one that was announced")
    if kept is not None:
        before = [one for one in kept["dailies"] if name_of(one) == name]
        if not before:
            raise Wrong(f"{name}: it was not announced in the file you kept")
        for field in ("rules_hash", "beacon", "seed", "nonce", "solution_hash"):
            if field in before[0] and before[0][field] != entry[field]:
                raise Wrong(f"{name}: `{field}` is another one than in the file you kept")
    if "nonce" not in entry:
        return f"{name}: nobody asked for a deal on that day, so none was chosen"
    deal = deal_key(seed, entry["nonce"])
    if entry["deal"] != f"ck:{deal.hex()}":
        raise Wrong(
            f"{name}: the deal that follows from key and nonce is ck:{deal.hex()}, not {entry['deal']}"
        )
    if entry["solution"] is not None:
        line = "\n".join(entry["solution"]).encode()
        if sha256(b"daily-solution/1\0" + seed + b"\0" + line).hex() != entry["solution_hash"]:
            raise Wrong(f"{name}: the solution is not the one that was committed to")
    rules = json.loads(entry["rules"])
    piles = board_of(rules, deal)
    if piles is None:
        return (
            f"{name}: deal and solution are as committed; this program does not know how the variant is dealt"
        )
    if piles != piles_of(entry["board"]):
        raise Wrong(f"{name}: the cards do not lie as the server says")
    solved = "with a solution" if entry["solution"] is not None else "without a proof that it can be won"
    return f"{name}: the deal, {solved}, and every card on the board are as committed"


def check_recording(recording: Json, date: str, deals: dict[str, tuple[str, str]]) -> str:
    """What is found of a recording of one of the day's games; raises Wrong."""
    name = name_of(recording)
    if name not in deals:
        raise Wrong(f"the recording is of {name}, of which {date} has no deal")
    if (recording["rules_hash"], recording["deal"]) != deals[name]:
        raise Wrong("the recording is of another deal than the day's")
    return f"the recording {recording['game']} is of this deal"


def check_day(
    file: Json, *, root: str | None = None, kept: Json | None = None, recording: Json | None = None
) -> list[str]:
    """Sentences on what was found, all well; raises Wrong for the first thing that is not."""
    if file.get("format") != "chilkoot-daily/1":
        raise Wrong("this is not what /daily/DATE.json gives")
    date, season = file["date"], file["season"]
    if not file["key"]:
        raise Wrong(f"{date} is not revealed yet; ask again later")
    if root is not None and root.lower() != season["root"]:
        raise Wrong(f"the season's root is {season['root']}, not the one you kept")
    if kept is not None and (kept["date"], kept["season"]["root"], kept["day"]) != (
        date,
        season["root"],
        file["day"],
    ):
        raise Wrong("the file you kept is of another day or season")
    key = bytes.fromhex(file["key"])
    if not 1 <= file["day"] <= season["days"] <= LONGEST_SEASON:
        raise Wrong(f"day {file['day']} of {season['days']}: there is no such day, or no such season")
    if season_root(key, file["day"]).hex() != season["root"]:
        raise Wrong(f"the key, hashed {file['day']} times, is not the season's root")
    said = [f"the key of {date} belongs to the season from {season['first']}"]
    said += [check_entry(date, key, entry, kept) for entry in file["dailies"]]
    if recording is not None:
        deals = {name_of(one): (one["rules_hash"], one["deal"]) for one in file["dailies"] if "deal" in one}
        said.append(check_recording(recording, date, deals))
    return said


def read(place: str) -> Json:
    """The JSON of a file or an address."""
    try:
        if place.startswith(("http://", "https://")):
            with urllib.request.urlopen(place, timeout=TIMEOUT) as answer:  # noqa: S310 - one of these two schemes
                data = answer.read(MOST_BYTES)
        elif place == "-":
            data = sys.stdin.buffer.read(MOST_BYTES)
        else:
            with open(place, "rb") as file:  # noqa: PTH123 - nothing else of pathlib is needed here
                data = file.read(MOST_BYTES)
        found = json.loads(data)
    except (OSError, HTTPException, ValueError, RecursionError) as error:
        raise Wrong(f"{place} can't be read: {error}") from None
    if not isinstance(found, dict):
        raise Wrong(f"{place} holds no JSON object")
    return found


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Check a Chilkoot server's deals of a day.")
    parser.add_argument(
        "day", metavar="FILE_OR_URL", help="what /daily/DATE.json gives; - for standard input"
    )
    parser.add_argument("--root", metavar="HEX", help="the season's root as you kept it")
    parser.add_argument(
        "--announced", metavar="FILE", help="the same file, as you kept it from before the day"
    )
    parser.add_argument("--recording", metavar="FILE_OR_URL", help="a recording of one of the day's games")
    flags = parser.parse_args(arguments)
    try:
        kept = None if flags.announced is None else read(flags.announced)
        recording = None if flags.recording is None else read(flags.recording)
        for sentence in check_day(read(flags.day), root=flags.root, kept=kept, recording=recording):
            print(sentence)
    except Wrong as wrong:
        print(wrong, file=sys.stderr)
        return 1
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
        print(f"the file is not as it should be: {type(error).__name__}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
