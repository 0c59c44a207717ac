"""What is said about dailies and leaderboards: sentences and lines, made of the server's messages."""

from __future__ import annotations

from collections.abc import Sequence

from chilkoot_client import Daily, Leaderboard, Standing
from chilkoot_terminal.words import time_words

__all__ = ["board_lines", "daily_words", "result_words"]


def daily_words(title: str, daily: Daily) -> str:
    """What to say when a daily comes onto the table."""
    if daily.state == "over":
        return f"{title} daily {daily.date}. {result_words(daily)}"
    left = max(0, daily.closes - daily.now) // 60_000
    until = f"{left // 60} h {left % 60} min" if left >= 60 else f"{left} min"
    return (
        f"{title} daily {daily.date}: everybody has this deal today, and one attempt. The day ends in {until}; "
        f"what was begun before may be played on{_streak(daily)}."
    )


def result_words(daily: Daily) -> str:
    """How an attempt ended, and where it stands."""
    result = daily.result
    if result is None:
        return "You have not finished it."
    end = "Won" if result.won else f"{result.score} home"
    place = f", place {result.rank}" if result.rank is not None else ""
    counts = "" if result.ranked else ", not ranked"
    return (
        f"{end}, {result.moves} moves, {time_words(result.ms)}, {result.help}{place}{counts}{_streak(daily)}."
        " `share` makes a text to send, `leaderboard` shows the others."
    )


def _streak(daily: Daily) -> str:
    return f"; {daily.streak} day{'s' * (daily.streak != 1)} in a row won" if daily.streak else ""


def board_lines(title: str, board: Leaderboard) -> list[str]:
    """A leaderboard, one line a result, the player's own marked."""
    when = {"day": f"daily {board.date}", "week": f"week from {board.date}", "all": "of all time"}
    players = f"{board.total} player{'s' * (board.total != 1)}"
    lines = [f"{title} {when.get(board.period, board.period)} · {players}"]
    if not board.entries:
        return [*lines, "Nobody has finished yet."]
    mine = None if board.me is None else board.me.player.get("id")
    lines += _lines(board.entries, mine, is_day=board.period == "day")
    if mine is not None and all(line.player.get("id") != mine for line in board.entries):
        lines += ["  …", *_lines(board.around, mine, is_day=board.period == "day")]
    return lines


def _lines(entries: Sequence[Standing], mine: str | None, *, is_day: bool) -> list[str]:
    lines = []
    for line in entries:
        name = line.player.get("name") or "a guest"
        mark = ">" if line.player.get("id") == mine else " "
        if is_day:
            end = "won" if line.won else f"{line.score} home"
            helped = line.help
        else:
            end = f"{line.won} of {line.days} won"
            helped = f"{line.assisted} assisted"
        lines.append(
            f"{mark}{line.rank:4}  {name:20} {end:>13}  {line.moves:5} moves  {time_words(line.ms):>8}  {helped}"
        )
    return lines
