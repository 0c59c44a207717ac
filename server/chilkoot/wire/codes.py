"""Error codes and close codes: the names a client may switch on, each with the sentence that people read.

Codes never change meaning. Refusal codes belong to the rules of a game and come from the engine.
"""

from __future__ import annotations

from enum import IntEnum, StrEnum
from typing import Final

__all__ = ["ERROR_TEXTS", "RECONNECT", "CloseCode", "ErrorCode"]


class ErrorCode(StrEnum):
    """Why a command could not be dealt with at all (a *refused* one is the rules' business)."""

    BAD_JSON = "bad_json"
    BAD_MESSAGE = "bad_message"
    UNKNOWN_TYPE = "unknown_type"
    TOO_LARGE = "too_large"
    RATE_LIMITED = "rate_limited"
    FORBIDDEN = "forbidden"
    NO_SUCH_GAME = "no_such_game"
    UNAVAILABLE = "unavailable"
    BUSY = "busy"
    TOO_MANY_GAMES = "too_many_games"
    AUTO_NOT_ALLOWED = "auto_not_allowed"
    HOME_NOT_ALLOWED = "home_not_allowed"
    HINT_NOT_ALLOWED = "hint_not_allowed"
    UNDO_NOT_ALLOWED = "undo_not_allowed"
    NO_SUCH_VARIANT = "no_such_variant"
    BAD_DEAL = "bad_deal"
    STALE = "stale"
    ID_REUSED = "id_reused"
    BAD_TOKEN = "bad_token"  # noqa: S105 - a code, not a secret
    NOT_OVER = "not_over"
    NOT_OFFERED = "not_offered"
    NO_SUCH_RACE = "no_such_race"
    RACE_FULL = "race_full"
    RACE_OVER = "race_over"
    TOO_MANY_RACES = "too_many_races"
    NO_DAILY = "no_daily"
    NOT_YET = "not_yet"
    DRAINING = "draining"
    INTERNAL = "internal"


ERROR_TEXTS: Final[dict[ErrorCode, str]] = {
    ErrorCode.BAD_JSON: "This frame is not a JSON object.",
    ErrorCode.BAD_MESSAGE: "This message does not have the form that its type asks for.",
    ErrorCode.UNKNOWN_TYPE: "There is no command of this type.",
    ErrorCode.TOO_LARGE: "This frame is larger than the server reads.",
    ErrorCode.RATE_LIMITED: "Too many commands in a short time; wait a moment.",
    ErrorCode.FORBIDDEN: "You may watch this game, not play it.",
    ErrorCode.NO_SUCH_GAME: "There is no such game, or it is not yours to see.",
    ErrorCode.UNAVAILABLE: "The game could not be stored or read just now; nothing was changed. Try again.",
    ErrorCode.BUSY: "The server has more to store than it can take in; try again in a moment.",
    ErrorCode.TOO_MANY_GAMES: "You have as many games going as one player may have; finish or give up one of them.",
    ErrorCode.AUTO_NOT_ALLOWED: "The rules of this game do not allow the server's moves.",
    ErrorCode.HOME_NOT_ALLOWED: "The rules of this game do not allow sending cards home all at once.",
    ErrorCode.HINT_NOT_ALLOWED: "The rules of this game do not allow hints.",
    ErrorCode.UNDO_NOT_ALLOWED: "The rules of this game do not allow taking moves back.",
    ErrorCode.NO_SUCH_VARIANT: "There is no such game in this house.",
    ErrorCode.BAD_DEAL: "This deal can't be dealt.",
    ErrorCode.STALE: "The table has changed since what you saw; your move was not made.",
    ErrorCode.ID_REUSED: "This id was used before in this session, for something else.",
    ErrorCode.BAD_TOKEN: "This token is not valid; start without one.",
    ErrorCode.NOT_OVER: "This game is not over.",
    ErrorCode.NOT_OFFERED: "This server does not offer that.",
    ErrorCode.NO_DAILY: "There is no daily of this game on that day.",
    ErrorCode.NOT_YET: "That day has not begun.",
    ErrorCode.NO_SUCH_RACE: "There is no such race, or this is not its key.",
    ErrorCode.RACE_FULL: "All seats of this race are taken.",
    ErrorCode.RACE_OVER: "This race is over.",
    ErrorCode.TOO_MANY_RACES: "You are in as many races as one player may be; finish or leave one of them.",
    ErrorCode.DRAINING: "The server is about to restart; connect again in a moment.",
    ErrorCode.INTERNAL: "Something went wrong in the server.",
}


class CloseCode(IntEnum):
    """Why the server ended a connection."""

    GOING_AWAY = 1001
    UNSUPPORTED = 1003
    POLICY = 1008
    TOO_BIG = 1009
    INTERNAL = 1011
    RESTART = 1012
    TRY_LATER = 1013
    MALFORMED = 4002
    BAD_TOKEN = 4004
    REPLACED = 4005
    TOO_SLOW = 4008
    IDLE = 4011


RECONNECT: Final[dict[CloseCode, str]] = {
    CloseCode.GOING_AWAY: "yes, after the announced delay",
    CloseCode.UNSUPPORTED: "no: binary where text is spoken, or the other way round",
    CloseCode.POLICY: "no",
    CloseCode.TOO_BIG: "no",
    CloseCode.INTERNAL: "yes",
    CloseCode.RESTART: "yes, after the announced delay",
    CloseCode.TRY_LATER: "yes, backing off",
    CloseCode.MALFORMED: "no: ten malformed frames in a row",
    CloseCode.BAD_TOKEN: "start fresh",
    CloseCode.REPLACED: "no: this session goes on elsewhere",
    CloseCode.TOO_SLOW: "yes, backing off",
    CloseCode.IDLE: "yes",
}
"""What a client should do after each close code."""
