"""What can go wrong with the record, told apart by what its user must do next.

Nothing here is a player's mistake: those are refusals, and never come this far.
"""

from __future__ import annotations

__all__ = [
    "CannotOpen",
    "Conflict",
    "OlderSchema",
    "SchemaMismatch",
    "StoreBusy",
    "StoreDoubtful",
    "StoreFault",
    "StoreFull",
    "StoreUnavailable",
    "Taken",
    "Unwritable",
]


class StoreFault(Exception):  # noqa: N818  a caller acts on which fault it is: the names say what happened
    """The record could not do what it was asked; the text is one sentence for people."""


class CannotOpen(StoreFault):
    """The database can't be used as it is, and trying again changes nothing: the command line exits with 78."""


class StoreBusy(CannotOpen):
    """Another process holds the database."""


class SchemaMismatch(CannotOpen):
    """The database was made by another version of Chilkoot, or by another program; it was not touched."""


class OlderSchema(SchemaMismatch):
    """The database is of an older schema, or still empty: an upgrade, or the start of a server, brings it up to date."""


class StoreFull(StoreFault):
    """Too many units wait to be written; nothing of this one was kept, the same unit may be sent again later."""


class StoreUnavailable(StoreFault):
    """The database could not be written; nothing of this unit was kept, the same unit may be sent again later."""


class StoreDoubtful(StoreFault):
    """The commit itself failed: the unit may be on record or not, read again what it was about before you answer."""


class Conflict(StoreFault):
    """The unit contradicts what is on record (a taken `seq` or command id, an unknown game); nothing of it was kept."""


class Taken(Conflict):
    """The certified deal is another game's already; nothing of the unit was kept, it may be sent again with another deal."""


class Unwritable(StoreFault):
    """The unit holds a value that no database can keep; nothing of it was kept, trying again changes nothing."""
