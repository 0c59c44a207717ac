"""A client for Chilkoot servers: play, watch and replay over a WebSocket, from Python.

It needs nothing but `websockets` and `msgspec`, and nothing of the server. ``clients/README.md`` tells the protocol.
"""

from chilkoot_client.client import Client, Connected, Disconnected, Event, connect
from chilkoot_client.errors import ChilkootError, Closed, Error, Refused
from chilkoot_client.game import Game
from chilkoot_client.messages import (
    Analysis,
    Can,
    Diff,
    Draining,
    GameEntry,
    Games,
    Hint,
    Legal,
    LegalMove,
    Message,
    Move,
    Op,
    Other,
    Presence,
    Snapshot,
    Status,
    Targets,
    Turn,
    Variants,
    Welcome,
)
from chilkoot_client.stream import Stream
from chilkoot_client.table import HIDDEN, Desync, Table, apply_ops, check_of

__all__ = [
    "HIDDEN",
    "Analysis",
    "Can",
    "ChilkootError",
    "Client",
    "Closed",
    "Connected",
    "Desync",
    "Diff",
    "Disconnected",
    "Draining",
    "Error",
    "Event",
    "Game",
    "GameEntry",
    "Games",
    "Hint",
    "Legal",
    "LegalMove",
    "Message",
    "Move",
    "Op",
    "Other",
    "Presence",
    "Refused",
    "Snapshot",
    "Status",
    "Stream",
    "Table",
    "Targets",
    "Turn",
    "Variants",
    "Welcome",
    "apply_ops",
    "check_of",
    "connect",
]
