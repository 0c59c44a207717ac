"""The table: one game being played, one session. Requests in, what follows from them out; no clock, chance or I/O."""

from chilkoot.table.acting import (
    Acted,
    Advised,
    Answer,
    Effect,
    act,
    auto,
    hint,
    legal,
    may_act,
    why_no_advice,
)
from chilkoot.table.catalogue import rules_reply, variant_list
from chilkoot.table.names import NAME_RULE, clean_name
from chilkoot.table.opening import (
    Entropy,
    Opened,
    no_such_level,
    open_again,
    open_daily,
    open_new,
    wants_proof,
)
from chilkoot.table.race import Ghost, Race, Seat, all_told, ghost_of, race_progress, race_reply
from chilkoot.table.session import Kept, Session
from chilkoot.table.table import DAY_MS, Contest, Proof, Table, Terms
from chilkoot.table.telling import Frames, LogEntry, ReplayError, frames_of, lay_from_log
from chilkoot.table.tokens import OVERLAP_MS, Tokens, token_hash

__all__ = [
    "DAY_MS",
    "NAME_RULE",
    "OVERLAP_MS",
    "Acted",
    "Advised",
    "Answer",
    "Contest",
    "Effect",
    "Entropy",
    "Frames",
    "Ghost",
    "Kept",
    "LogEntry",
    "Opened",
    "Proof",
    "Race",
    "ReplayError",
    "Seat",
    "Session",
    "Table",
    "Terms",
    "Tokens",
    "act",
    "all_told",
    "auto",
    "clean_name",
    "frames_of",
    "ghost_of",
    "hint",
    "lay_from_log",
    "legal",
    "may_act",
    "no_such_level",
    "open_again",
    "open_daily",
    "open_new",
    "race_progress",
    "race_reply",
    "rules_reply",
    "token_hash",
    "variant_list",
    "wants_proof",
    "why_no_advice",
]
