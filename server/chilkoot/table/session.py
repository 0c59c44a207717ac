"""A session: one client over all the connections that resumed it, and what it was answered.

Commands are dealt with exactly once: an id that comes again with the same content gets the first reply again, whatever
happened since; with other content it is an error. Replies that only say "not now" are not kept, so that the same command
may be tried again.
"""

from __future__ import annotations

from typing import Final

import msgspec

from chilkoot.discretion import discreet

__all__ = ["KEPT_BYTES", "REPLIES", "Kept", "Session"]

REPLIES: Final = 64
"""How many replies a session keeps."""

KEPT_BYTES: Final = 64 * 1024
"""The largest reply that is kept word for word; a larger one, always a reading, is made anew when it is asked for again."""

LARGE_BYTES: Final = 4 * 1024
LARGE_KEPT: Final = 4
"""Replies of some size that are kept word for word: a session must not be a place to put things."""


class Kept(msgspec.Struct, frozen=True):
    """The fingerprint of a command and the reply it got; None where that was too large to keep.

    With `place`, a game and the `seq` of an action in it, the command was done before the server started, and its reply is
    found there when it is asked for.
    """

    fingerprint: bytes
    body: bytes | None
    place: tuple[str, int] | None = None

    __repr__ = discreet


class Session:
    """Who is at the other end, and the last replies.

    A guest's session lives as long as its connection: nobody has a token to resume it with, so it is put on record only when
    the client says `hello` (`is_stored`); the player is as soon as there is a game (`is_player_stored`). `unsaved` are
    replies that the record does not have yet: they go along with the next write.
    """

    __slots__ = (
        "hellos",
        "id",
        "is_player_stored",
        "is_stored",
        "large",
        "name",
        "player",
        "replies",
        "unsaved",
    )

    def __init__(self, session: str, player: str) -> None:
        self.id = session
        self.player = player
        self.name = ""
        self.is_stored = False
        self.is_player_stored = False
        self.replies: dict[int, Kept] = {}
        self.hellos: dict[int, Kept] = {}
        self.large: list[int] = []
        self.unsaved: dict[int, Kept] = {}

    def known(self, command_id: int) -> Kept | None:
        """What the session remembers of a command with this id."""
        return self.replies.get(command_id) or self.hellos.get(command_id)

    def keep(self, command_id: int, kept: Kept, *, is_saved: bool) -> None:
        """Remember a reply, and forget the oldest where there are too many."""
        if kept.body is not None and len(kept.body) > LARGE_BYTES:
            if len(kept.body) > KEPT_BYTES:
                kept = Kept(kept.fingerprint, None)
            else:
                self._make_room(command_id)
        replies = self.replies
        replies[command_id] = kept
        if len(replies) > REPLIES:
            oldest = next(iter(replies))
            del replies[oldest]
            self.unsaved.pop(oldest, None)
        if not is_saved and kept.body is not None:
            self.unsaved[command_id] = kept

    def recall(self, commands: dict[int, Kept]) -> None:
        """Add what is known of actions of before; they are forgotten first, one for each new reply."""
        self.replies = commands | self.replies

    def _make_room(self, command_id: int) -> None:
        """Forget the words of the oldest large reply where there are too many."""
        self.large.append(command_id)
        if len(self.large) > LARGE_KEPT:
            oldest = self.large.pop(0)
            self.unsaved.pop(oldest, None)
            if oldest in self.replies:
                self.replies[oldest] = Kept(self.replies[oldest].fingerprint, None)

    def keep_hello(self, command_id: int, kept: Kept) -> None:
        """Remember the reply to a `hello` as long as the connection lives: it holds a token, which is never stored."""
        self.hellos[command_id] = kept
        if len(self.hellos) > 8:
            del self.hellos[next(iter(self.hellos))]

    def forget_tokens(self) -> None:
        """Of the replies to `hello` keep only for what their ids were used."""
        self.hellos = {number: Kept(kept.fingerprint, None) for number, kept in self.hellos.items()}
