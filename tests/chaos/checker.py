"""Judges a run: a function of its history, its database and its log, which gives every promise that was broken.

It shares no code with the server: the chain, the check and the rules of the games are written a second time, here and in
`naive`. A saved history can be judged again at any time. The numbers in brackets are those of the harness's description:

    (1) an action that was acknowledged is on record once, at that place    (6) no frame names a card hidden at that moment
    (2) one that was refused is not, one without an answer at most once      (8) the server ends with what it began with
    (3) places are contiguous, the chain and the header are right            (9) the log holds no traceback and no secret
    (4) every table that anybody saw is what a second engine says
    (5) what one client sees never goes back, and has no gap without a snapshot

Invariant (7), ranked results, comes with ranked games.
"""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from chaos.history import Entry
from chaos.naive import NaiveGame, Wrong, check_of

__all__ = ["Judgement", "check"]

Frame = dict[str, Any]

NOT_NOW: Final = {"unavailable", "busy", "draining", "rate_limited", "too_many_games"}
ACTIONS: Final = {"move", "tap", "undo", "redo", "home", "auto", "give_up"}
SUIT_WORDS: Final = {"clubs": "C", "diamonds": "D", "hearts": "H", "spades": "S"}
RANK_WORDS: Final = {"ace": "A", "10": "T", "jack": "J", "queen": "Q", "king": "K"}

_CARD: Final = re.compile(r"(?<![A-Za-z0-9_-])([A23456789TJQK][CDHS])(?![A-Za-z0-9_-])")
_WORDS: Final = re.compile(
    r"\b(ace|[2-9]|10|jack|queen|king) of (clubs|diamonds|hearts|spades)\b", re.IGNORECASE
)


@dataclass
class Judgement:
    """What a checker found; `figures` says how much it looked at."""

    violations: list[str] = field(default_factory=list)
    figures: Counter[str] = field(default_factory=Counter)

    def find(self, number: int, what: str) -> None:
        self.violations.append(f"({number}) {what}")


@dataclass
class _Seen:
    """A game at one place: what a viewer sees there."""

    view: dict[str, list[str]]
    check: str
    hidden: frozenset[str]
    score: int
    moves: int
    undos: int
    is_closed: bool


@dataclass
class _Recorded:
    """A game as the database has it."""

    row: dict[str, Any]
    owner: str
    actions: list[dict[str, Any]]
    hints: list[dict[str, Any]]
    seen: list[_Seen] = field(default_factory=list)


@dataclass
class _Asked:
    """One command of one session: what was asked, over which connections, and what it was told."""

    command: Frame
    connections: set[int] = field(default_factory=set)
    replies: list[Frame] = field(default_factory=list)
    dropped: bool = False


@dataclass
class _Eyes:
    """What one tab sees of one game."""

    seq: int
    piles: dict[str, list[str]]
    standing: dict[str, Any]
    is_old: bool = False
    """Whether it came with the first reply to a command that was sent again: then nobody said that events follow."""


def check(history: Iterable[Entry], database: Path, log: str) -> Judgement:
    """Judge a run."""
    found = Judgement()
    games = _read_games(database, found)
    for game in games.values():
        _check_record(game, found)
    entries = list(history)
    asked = _follow_tabs(entries, games, found)
    _check_commands(asked, games, found)
    _check_log(entries, games, log, found)
    _check_resources(entries, found)
    return found


# the record


def _read_games(database: Path, found: Judgement) -> dict[str, _Recorded]:
    connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    connection.row_factory = sqlite3.Row
    try:
        for pragma in ("integrity_check", "foreign_key_check"):
            said = [tuple(row) for row in connection.execute(f"PRAGMA {pragma}")]
            if said not in ([], [("ok",)]):
                found.find(3, f"{pragma}: {said[:3]}")
        players = dict(connection.execute("SELECT n, id FROM player"))
        sessions = dict(connection.execute("SELECT n, id FROM session"))
        games: dict[int, _Recorded] = {}
        for row in connection.execute("SELECT * FROM game"):
            games[row["n"]] = _Recorded(dict(row), players[row["player"]], [], [])
        for row in connection.execute("SELECT * FROM action ORDER BY game, seq"):
            games[row["game"]].actions.append(dict(row) | {"session": sessions.get(row["session"])})
        for row in connection.execute("SELECT * FROM hint ORDER BY game, n"):
            games[row["game"]].hints.append(dict(row))
    finally:
        connection.close()
    return {game.row["id"]: game for game in games.values()}


def _link(head: bytes, *parts: object) -> bytes:
    text = json.dumps(parts, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(head + text.encode()).digest()


def _check_record(game: _Recorded, found: Judgement) -> None:
    """Places, chain, header (3); what the second engine makes of it (4)."""
    row, name = game.row, game.row["id"]
    found.figures["games"] += 1
    found.figures["actions"] += len(game.actions)
    head = _link(b"", "chilkoot-game/1", row["semantics"], name, game.owner, row["variant"], row["level"],
                 row["rules_hash"], row["deal"], row["origin"], row["created_ms"])  # fmt: skip
    if head != row["start_hash"]:
        found.find(3, f"game {name}: its first link is not that of its header")
    hints = defaultdict(list)
    for hint in game.hints:
        hints[hint["seq"]].append(hint)
    naive = NaiveGame(row["variant"], row["level"], row["deal"])
    game.seen.append(_look(naive))
    for place, action in enumerate([None, *game.actions]):
        if action is not None:
            if action["seq"] != place:
                found.find(3, f"game {name}: place {place} has the action {action['seq']}")
                return
            head = _link(
                head, "action", place, action["text"], action["by"], action["at_ms"], action["actor"]
            )
            if head != action["hash"]:
                found.find(3, f"game {name}: the link of action {place} is wrong")
                return
            try:
                naive.act(action["text"])
            except Wrong as wrong:
                found.find(4, f"game {name}, action {place} `{action['text']}`: {wrong}")
                return
            game.seen.append(_look(naive))
        for hint in hints[place]:
            head = _link(head, "hint", hint["n"], hint["seq"], hint["text"], hint["at_ms"], hint["actor"])
            if head != hint["hash"]:
                found.find(3, f"game {name}: the link of hint {hint['n']} is wrong")
                return
    status, result = naive.standing()
    told = ("playing" if row["status"] == "stuck" else row["status"], row["result"])
    if (told, row["seq"], row["score"], row["moves"], row["undos"], row["hints"]) != (
        (status, result), len(game.actions), naive.score, naive.moves, naive.undos, len(game.hints)
    ):  # fmt: skip
        found.find(3, f"game {name}: the header says {told}, {row['seq']} actions, {row['score']} points")
    if row["head_hash"] != head:
        found.find(3, f"game {name}: the header's head is not the last link")


def _look(naive: NaiveGame) -> _Seen:
    view = naive.view()
    is_closed = bool(naive.ended) or naive.score == 52
    return _Seen(view, check_of(view), naive.hidden(), naive.score, naive.moves, naive.undos, is_closed)


# what the clients saw


def _follow_tabs(
    entries: list[Entry], games: dict[str, _Recorded], found: Judgement
) -> dict[tuple[str, int], _Asked]:
    """Go through every tab's frames in order (4) (5) (6); gives all commands with their answers."""
    asked: dict[tuple[str, int], _Asked] = {}
    eyes: dict[str, dict[str, _Eyes]] = defaultdict(dict)
    sessions: dict[str, str] = {}
    connection: Counter[str] = Counter()
    for entry in entries:
        tab = entry["tab"]
        match entry["event"]:
            case "open":
                connection[tab] += 1
            case "sent":
                key = (tab, entry["id"])
                asked.setdefault(key, _Asked(entry["command"])).connections.add(connection[tab])
            case "dropped":
                asked[tab, entry["id"]].dropped = True
            case "lost":
                found.find(2, f"{tab} lost its {entry['what']}")
            case "got":
                frame = json.loads(entry["text"])
                found.figures["frames"] += 1
                if frame["type"] == "welcome":
                    sessions[tab] = frame["session"]
                one = asked.get((tab, frame.get("re", 0)))
                if one is not None:
                    one.replies.append(frame)
                _take(tab, frame, entry["text"], one, eyes[tab], games, found)
            case "nemesis":
                found.figures[f"nemesis {entry['what']}"] += 1
    for tab, session in sessions.items():
        for (owner, _), one in asked.items():
            if owner == tab:
                one.command["session"] = session
    return asked


def _take(
    tab: str,
    frame: Frame,
    text: str,
    asked: _Asked | None,
    eyes: dict[str, _Eyes],
    games: dict[str, _Recorded],
    found: Judgement,
) -> None:
    kind = frame["type"]
    if kind == "error" and frame["code"] in {"internal", "id_reused"}:
        found.find(2, f"{tab}: {frame['code']} for {asked and asked.command}")
    missed = frame.get("detail", {}).get("missed", []) if kind == "error" else []
    game = frame.get("game") or (asked.command.get("game") if asked is not None and missed else None)
    if kind == "recording":
        _check_recording(tab, frame["recording"], text, games.get(frame["game"]), found)
        return
    for diff in missed:
        _check_seen(tab, diff, games, found)
        _check_leak(tab, json.dumps(diff), diff["seq"], games.get(diff["game"]), found)
    if missed:
        return
    if game is None or "seq" not in frame or "replay" in frame:
        return
    recorded, seq = games.get(game), frame["seq"]
    if recorded is None:
        found.find(1, f"{tab} was shown the game {game}, which is not on record")
        return
    if seq >= len(recorded.seen):
        found.find(4, f"{tab} was shown action {seq} of game {game}, which is not on record")
        return
    _check_leak(tab, text, seq, recorded, found)
    is_repeated = asked is not None and len(asked.connections) > 1
    before = eyes.get(game)
    if kind == "snapshot":
        if before is not None and seq < before.seq:
            if not is_repeated:
                found.find(5, f"{tab}: game {game} went back from {before.seq} to {seq}")
            return
        standing = {name: frame[name] for name in ("score", "moves", "undos")}
        piles = {name: list(cards) for name, cards in frame["piles"].items()}
        eyes[game] = _Eyes(seq, piles, standing, is_repeated)
    elif kind == "diff":
        if before is None:
            found.find(5, f"{tab}: a diff {seq} of game {game} before its snapshot")
            return
        if seq <= before.seq:
            if not is_repeated:
                found.find(5, f"{tab}: the diff {seq} of game {game} came after {before.seq}")
            return
        if seq != before.seq + 1:
            if before.is_old:
                return
            found.find(5, f"{tab}: game {game} has a gap between {before.seq} and {seq}")
            return
        try:
            _apply(before, frame)
        except LookupError:
            found.find(5, f"{tab}: the diff {seq} of game {game} does not fit the table that it was sent for")
            return
    else:
        return
    _check_table(tab, eyes[game], frame, recorded.seen[seq], found)


def _apply(eyes: _Eyes, diff: Frame) -> None:
    piles = eyes.piles
    for op in diff["ops"]:
        if op["op"] == "move":
            cards = piles[op["from"]][-op["n"] :]
            del piles[op["from"]][-op["n"] :]
            piles[op["to"]] += cards
        else:
            piles[op["pile"]][op["at"]] = op["card"]
    eyes.seq = diff["seq"]
    eyes.standing["moves"] = diff.get("moves", eyes.standing["moves"] + 1)
    for name in ("score", "undos"):
        eyes.standing[name] = diff.get(name, eyes.standing[name])


def _check_table(tab: str, eyes: _Eyes, frame: Frame, seen: _Seen, found: Judgement) -> None:
    if eyes.piles != seen.view or frame["check"] != seen.check:
        found.find(4, f"{tab}: game {frame['game']} at {eyes.seq} is not the table of the second engine")
    standing = {"score": seen.score, "moves": seen.moves, "undos": seen.undos}
    if eyes.standing != standing:
        found.find(4, f"{tab}: game {frame['game']} at {eyes.seq} stands {eyes.standing}, not {standing}")
    found.figures["tables"] += 1


def _check_seen(tab: str, diff: Frame, games: dict[str, _Recorded], found: Judgement) -> None:
    """A diff that was told beside the stream: it is on record, with this outcome."""
    recorded = games.get(diff["game"])
    if recorded is None or diff["seq"] >= len(recorded.seen):
        found.find(
            4, f"{tab} was told of action {diff['seq']} of game {diff['game']}, which is not on record"
        )
    elif diff["check"] != recorded.seen[diff["seq"]].check:
        found.find(4, f"{tab} was told of another action {diff['seq']} of game {diff['game']}")


def _check_recording(tab: str, recording: Frame, text: str, game: _Recorded | None, found: Judgement) -> None:
    """A recording of a game that goes on names only cards that somebody saw by then."""
    if game is None or "deal" in recording:
        return
    never = frozenset.intersection(*(seen.hidden for seen in game.seen[: len(recording["actions"]) + 1]))
    leaked = set(_CARD.findall(text)) & never
    if leaked or game.row["deal"].removeprefix("ck:") in text:
        found.find(
            6, f"{tab}: the live recording of game {game.row['id']} names {sorted(leaked)} or the deal"
        )


def _check_leak(tab: str, text: str, seq: int, game: _Recorded | None, found: Judgement) -> None:
    if game is None or seq >= len(game.seen) or game.seen[seq].is_closed:
        return
    if seq == len(game.actions) and game.row["closed_ms"] is not None:
        # Lost for want of moves, and closed by the player's next game: from then on all may be told.
        return
    named = set(_CARD.findall(text))
    named |= {
        RANK_WORDS.get(rank.lower(), rank) + SUIT_WORDS[suit.lower()] for rank, suit in _WORDS.findall(text)
    }
    leaked = named & game.seen[seq].hidden
    if leaked:
        found.find(
            6, f"{tab}: a frame at {seq} of game {game.row['id']} names {sorted(leaked)}: {text[:200]}"
        )
    if game.row["deal"].removeprefix("ck:") in text:
        found.find(6, f"{tab}: a frame at {seq} of game {game.row['id']} tells the deal")


# what was asked and what was done


def _check_commands(
    asked: dict[tuple[str, int], _Asked], games: dict[str, _Recorded], found: Judgement
) -> None:
    """Acknowledged once and there once (1), refused and not there, unanswered at most once (2)."""
    done: dict[tuple[str, int], list[tuple[_Recorded, dict[str, Any]]]] = defaultdict(list)
    for game in games.values():
        for action in game.actions:
            if action["command_id"] is not None:
                done[action["session"], action["command_id"]].append((game, action))
    matched = 0
    for (tab, number), one in asked.items():
        kind = one.command["type"]
        here = done.get((one.command.get("session", ""), number), [])
        final = [reply for reply in one.replies if reply.get("code") not in NOT_NOW]
        if kind not in {"hello", "ping"} and len({json.dumps(reply, sort_keys=True) for reply in final}) > 1:
            found.find(2, f"{tab}: two different answers to {one.command}: {[str(r)[:150] for r in final]}")
        if kind not in ACTIONS:
            continue
        matched += len(here)
        if len(here) > 1:
            found.find(2, f"{tab}: {one.command} was done {len(here)} times")
        diffs = [reply for reply in final if reply["type"] == "diff"]
        if diffs:
            found.figures["acknowledged"] += 1
            _check_acknowledged(tab, one.command, diffs[0], here, found)
        elif here and (final or one.dropped):
            found.find(
                2, f"{tab}: {one.command} was answered {(final or one.replies)[-1]} and done nevertheless"
            )
        elif here:
            found.figures["done without an answer"] += 1
    total = sum(len(game.actions) for game in games.values())
    if matched != total:
        found.find(2, f"{total} actions are on record, {matched} of them belong to a command")
    _check_games_and_hints(asked, games, found)


def _check_acknowledged(
    tab: str, command: Frame, diff: Frame, here: list[tuple[_Recorded, dict[str, Any]]], found: Judgement
) -> None:
    if not here:
        found.find(1, f"{tab}: {command} was acknowledged at {diff['seq']} and is not on record")
        return
    game, action = here[0]
    if (game.row["id"], action["seq"]) != (diff["game"], diff["seq"]):
        found.find(1, f"{tab}: {command} was acknowledged at {diff['seq']} and is at {action['seq']}")
    if diff["seq"] != command["base"] + 1:
        found.find(1, f"{tab}: {command} was done at {diff['seq']}, which is not the table it was meant for")
    if diff["seq"] < len(game.seen) and diff["check"] != game.seen[diff["seq"]].check:
        found.find(1, f"{tab}: {command} was acknowledged with another outcome than is on record")
    kind, text = command["type"], action["text"]
    expected = {
        "move": f"{command.get('from')} {command.get('n', 1)} {command.get('to')}",
        "home": "home",
        "give_up": "give_up",
    }.get(kind)
    is_right = (
        text == expected
        if expected is not None
        else kind == "tap" or (action["by"] == "auto" if kind == "auto" else text.split()[0] == kind)
    )
    if not is_right:
        found.find(1, f"{tab}: {command} is on record as `{text}`")


def _check_games_and_hints(
    asked: dict[tuple[str, int], _Asked], games: dict[str, _Recorded], found: Judgement
) -> None:
    acknowledged, unanswered = set(), 0
    hints: Counter[tuple[str, int]] = Counter()
    for one in asked.values():
        final = [reply for reply in one.replies if reply.get("code") not in NOT_NOW]
        if one.command["type"] == "new":
            acknowledged |= {reply["game"] for reply in final if reply["type"] == "snapshot"}
            unanswered += not final and not one.dropped
        given = final[0] if final and final[0]["type"] == "hint" else None
        if given is not None and given["action"] != "none":
            hints[given["game"], given["seq"]] += 1
    extra = set(games) - acknowledged
    if len(extra) > unanswered:
        found.find(2, f"{len(extra)} games are on record that nobody was told of")
    for name in acknowledged - set(games):
        found.find(1, f"the game {name} was shown and is not on record")
    for (name, seq), count in hints.items():
        kept = sum(hint["seq"] == seq for hint in games[name].hints) if name in games else 0
        if kept < count:
            found.find(1, f"game {name}: {count} hints were given at {seq}, {kept} are on record")
        found.figures["hints"] += count


# everything else


def _check_log(entries: list[Entry], games: dict[str, _Recorded], log: str, found: Judgement) -> None:
    """The log holds no traceback, no token, no key, no deal (9)."""
    for word in ("Traceback", "internal error", "Exception"):
        if word in log:
            at = log.index(word)
            found.find(9, f"the log has `{word}`: …{log[max(0, at - 200) : at + 1500]}")
    secrets = {game.row["deal"].removeprefix("ck:") for game in games.values()}
    secrets |= {key for game in games.values() for key in (game.row["key"], game.row["watch_key"]) if key}
    for entry in entries:
        if entry["event"] == "got" and '"welcome"' in entry["text"]:
            frame = json.loads(entry["text"])
            secrets |= {frame["token"], frame["session"]}
    for secret in secrets:
        if secret in log:
            found.find(9, f"the log holds the secret {secret[:6]}…")


def _check_resources(entries: list[Entry], found: Judgement) -> None:
    """With everybody gone the server holds what it held before they came (8)."""
    told = {entry["when"]: entry for entry in entries if entry["event"] == "resources"}
    if {"start", "end"} <= told.keys():
        start, end = told["start"], told["end"]
        found.figures["memory at the end, MiB"] = end["memory"] >> 20
        # Readers keep a few connections to the database.
        if end["files"] > start["files"] + 16:
            found.find(8, f"{start['files']} open files became {end['files']}")
        if end["memory"] > start["memory"] + (150 << 20):
            found.find(8, f"{start['memory'] >> 20} MiB became {end['memory'] >> 20} MiB")
