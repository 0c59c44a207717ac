"""Races and watching in words: who is where in a race, what has just changed, which games can be watched."""

from __future__ import annotations

from collections.abc import Iterable

from chilkoot_client import Race, RaceSeat, WatchableGame
from chilkoot_terminal.words import time_words

__all__ = ["invitation_words", "line_words", "news_words", "standings_words", "watchable_lines"]

_ENDS = {
    "won": "has won",
    "lost": "has lost",
    "left": "has left",
    "late": "is too late",
    "stuck": "is stuck",
}


def _who(race: Race, seat: RaceSeat) -> str:
    if seat.ghost:
        return f"{seat.name}'s ghost"
    return "you" if race.mine is not None and seat.seat == race.mine.seat else seat.name


def _ordinal(number: int) -> str:
    ending = "th" if number % 100 in {11, 12, 13} else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def line_words(race: Race) -> str:
    """The race in one line: who is ahead, with cards home; marks for who is no longer playing."""
    marks = {"won": "✓", "lost": "×", "left": "–", "late": "–", "stuck": "?"}
    parts = [f"{_who(race, seat)} {seat.score}{marks.get(seat.status, '')}" for seat in race.standings()]
    return f"Race: {' · '.join(parts)}"


def news_words(race: Race, before: dict[int, RaceSeat]) -> str:
    """What has changed that is worth a sentence; cards sent home are not."""
    said = []
    for number, seat in race.seats.items():
        was = before.get(number)
        if was is None and race.state == "waiting":
            free = race.told.seats - len(race.seats)
            said.append(
                f"{_who(race, seat)} took a seat; {free or 'no'} seat{'s are' if free != 1 else ' is'} free."
            )
        elif was is not None and was.status != seat.status and seat.status in _ENDS:
            who = _who(race, seat)
            what = (
                _ENDS[seat.status].replace("has ", "have ").replace("is ", "are ")
                if who == "you"
                else _ENDS[seat.status]
            )
            place = (
                f", {_ordinal(seat.place)}, in {time_words(seat.ms or 0)}"
                if seat.status == "won" and seat.place
                else ""
            )
            said.append(f"{who} {what}{place}.")
    return " ".join(f"{sentence[:1].upper()}{sentence[1:]}" for sentence in said)


def standings_words(race: Race) -> str:
    """All seats, one a line, the first place first."""
    lines = []
    for seat in race.standings():
        place = f"{seat.place}." if seat.place is not None else "–"
        how = (
            f"won in {time_words(seat.ms or 0)}"
            if seat.status == "won"
            else f"{seat.score} home, {seat.status}"
        )
        lines.append(f"{place:3} {_who(race, seat)}: {how}, {seat.moves} moves")
    if race.state == "over":
        lines.append("The race is over; `rematch` asks for another.")
    return "\n".join(lines)


def invitation_words(race: Race, url: str) -> str:
    """How others come in."""
    free = race.told.seats - len(race.seats)
    if not free:
        return "All seats are taken."
    them = "player" if free == 1 else f"{free} players"
    return f"Waiting for {them}: `chilkoot play --url {url} --join {race.invitation}`, or `join {race.invitation}`."


def watchable_lines(games: Iterable[WatchableGame], names: dict[str, str]) -> list[str]:
    """The games that can be watched, numbered."""
    return [
        f"{number:3}  {names.get(one.variant, one.variant)}{f' level {one.level}' if one.level is not None else ''}"
        f"{f', {one.player}' if one.player else ''}: {one.score} home, {one.moves} moves, {one.viewers - 1} watching"
        for number, one in enumerate(games, 1)
    ]
