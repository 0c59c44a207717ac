"""A second engine for the four main games, written from the rules alone: slow, plain, and not sharing a line with ours.

It plays a recorded game again and says what a viewer saw after each action, which cards lay face down, and how the game
stood. Cards are their two letters; a pile is a list of them with whether each lies face up.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterator
from typing import Final

__all__ = ["MAIN_GAMES", "NaiveGame", "Wrong"]

RANKS = "A23456789TJQK"
SUITS = "CDHS"
PACK = [rank + suit for suit in SUITS for rank in RANKS]
ROWS = (".DDDDDD", "..DDDDD", "...DDDD", "....DDD", ".....DD", "......D", *[".UUUUUU"] * 4, "UUUUUUU")

MAIN_GAMES: Final[tuple[tuple[str, int | None], ...]] = (
    ("yukon", None),
    ("yakutat-bay", None),
    ("yukon-cells", None),
    ("yukon-thicket", 1),
    ("yukon-thicket", 2),
    ("yukon-thicket", 3),
)

Card = tuple[str, bool]
Piles = dict[str, list[Card]]


class Wrong(Exception):  # noqa: N818 - a finding
    """An action that the rules forbid."""


class NaiveGame:
    """One game. `moves` and `undos` count as PROTOCOL.md says."""

    def __init__(self, variant: str, level: int | None, deal: str) -> None:
        self.variant = variant
        # What the four games differ in.
        self.accepts_any = variant == "yukon-thicket" and level == 1
        self.same_suit = variant == "yukon-thicket" and level == 3
        self.moves_whole_columns = variant != "yukon"
        self.gives_back = variant == "yakutat-bay"
        self.sends_safe_cards = variant == "yukon-thicket"
        cells = 2 if variant == "yukon-cells" else 0
        names = [f"t{n}" for n in range(1, 8)] + [f"c{n}" for n in range(1, cells + 1)]
        self.piles: Piles = {name: [] for name in [*names, "f1", "f2", "f3", "f4"]}
        self.ended = ""
        self.undos = 0
        self.seq = 0
        self._before: list[Piles] = []
        self._after: list[Piles] = []
        pack = iter(shuffled(deal))
        for row in ROWS:
            for column, face in enumerate(row, 1):
                if face != ".":
                    self.piles[f"t{column}"].append((next(pack), face == "U"))

    # what is seen

    @property
    def moves(self) -> int:
        return len(self._before)

    @property
    def score(self) -> int:
        return sum(len(self.piles[f"f{n}"]) for n in range(1, 5))

    def view(self) -> dict[str, list[str]]:
        return {
            name: [card if is_up else "??" for card, is_up in cards] for name, cards in self.piles.items()
        }

    def hidden(self) -> frozenset[str]:
        return frozenset(card for cards in self.piles.values() for card, is_up in cards if not is_up)

    def standing(self) -> tuple[str, str | None]:
        """Status and result; `stuck` is one way of playing here, for it ends nothing."""
        if self.score == 52:
            return "won", "home"
        if self.ended:
            return "lost", self.ended
        return ("playing", None) if next(self.real_moves(), None) else ("lost", "no_moves")

    # what is done

    def act(self, text: str) -> None:
        """Do a recorded action. Raises Wrong."""
        words = text.split()
        if words[0] in {"undo", "redo"}:
            self._go_back(int(words[1]) if len(words) > 1 else 1, is_redo=words[0] == "redo")
        elif words[0] in {"give_up", "concede"}:
            if self.standing()[0] != "lost":
                self.ended = "gave_up" if words[0] == "give_up" else "conceded"
        else:
            before = {name: list(cards) for name, cards in self.piles.items()}
            if words == ["home"]:
                if not self._send_home():
                    raise Wrong("nothing to send home")
            else:
                self._move(words[0], int(words[1]), words[2])
            self._before.append(before)
            self._after.clear()
        self.seq += 1

    def _go_back(self, count: int, *, is_redo: bool) -> None:
        source, target = (self._after, self._before) if is_redo else (self._before, self._after)
        if not source:
            raise Wrong("nothing to go back to")
        for _ in range(min(count, len(source))):
            target.append(self.piles)
            self.piles = source.pop()
            self.undos += not is_redo

    def _move(self, source: str, n: int, target: str) -> None:
        cards = self.piles.get(source, [])
        if not 1 <= n <= len(cards):
            raise Wrong("no such cards")
        if target == "f":
            target = f"f{SUITS.index(cards[-1][0][1]) + 1}"
        if not self.allows(source, n, target):
            raise Wrong(f"{source} {n} {target}")
        self.piles[target] += cards[-n:]
        del cards[-n:]
        self._settle()

    def allows(self, source: str, n: int, target: str) -> bool:
        """Whether the last `n` cards of a pile may go to another."""
        if source == target or source not in self.piles or target not in self.piles:
            return False
        cards, onto = self.piles[source], self.piles[target]
        if not 1 <= n <= len(cards) or not all(is_up for _, is_up in cards[-n:]):
            return False
        if source[0] != "t" and n > 1:
            return False
        if source[0] == "f" and (not self.gives_back or target[0] != "t"):
            return False
        head = cards[-n][0]
        if target[0] == "f":
            suit = SUITS[int(target[1]) - 1]
            return n == 1 and head == (RANKS[len(onto)] if len(onto) < 13 else "") + suit
        if target[0] == "c":
            return n == 1 and not onto
        if not onto:
            is_whole = source[0] == "t" and n == len(cards)
            return (head[0] == "K" or self.accepts_any) and (self.moves_whole_columns or not is_whole)
        top, is_up = onto[-1]
        if not is_up or RANKS.index(head[0]) + 1 != RANKS.index(top[0]):
            return False
        return head[1] == top[1] if self.same_suit else is_red(head) != is_red(top)

    def real_moves(self) -> Iterator[str]:
        """Every move that changes something that matters."""
        for source, cards in self.piles.items():
            for n in range(1, len(cards) + 1):
                for target in self.piles:
                    if self.allows(source, n, target):
                        is_idle = source[0] == target[0] and (
                            source[0] == "c" or (n == len(cards) and not self.piles[target])
                        )
                        if not is_idle:
                            yield f"{source} {n} {target}"

    def _settle(self) -> None:
        while True:
            for cards in self.piles.values():
                if cards and not cards[-1][1]:
                    cards[-1] = (cards[-1][0], True)
            if not (self.sends_safe_cards and self._send_one(only_safe=True)):
                return

    def _send_home(self) -> bool:
        sent = False
        while self._send_one(only_safe=False):
            sent = True
            self._settle()
        return sent

    def _send_one(self, *, only_safe: bool) -> bool:
        for name, cards in self.piles.items():
            if name[0] == "f" or not cards:
                continue
            card = cards[-1][0]
            home = f"f{SUITS.index(card[1]) + 1}"
            if self.allows(name, 1, home) and (not only_safe or self._is_safe(card)):
                self.piles[home].append(cards.pop())
                return True
        return False

    def _is_safe(self, card: str) -> bool:
        """Whether every card that could be built on this one is home."""
        lower = RANKS[: RANKS.index(card[0])][-1:]
        if self.same_suit or not lower:
            return True
        home = {name for n in range(1, 5) for name, _ in self.piles[f"f{n}"]}
        return all(lower + suit in home for suit in SUITS if is_red(lower + suit) != is_red(card))


def is_red(card: str) -> bool:
    return card[1] in "DH"


def shuffled(deal: str) -> list[str]:
    """The pack in the order of a deal ``ck:N`` or ``ck:<64 hex digits>``."""
    number = deal.removeprefix("ck:")
    key = bytes.fromhex(number) if len(number) == 64 else int(number).to_bytes(32, "big")
    words = stream(key)
    pack = list(PACK)
    for i in range(len(pack) - 1, 0, -1):
        m = i + 1
        while (word := next(words)) >= (1 << 32) // m * m:
            pass
        pack[i], pack[word % m] = pack[word % m], pack[i]
    return pack


def stream(key: bytes) -> Iterator[int]:
    block = 0
    while True:
        digest = hmac.new(key, b"chilkoot-deal/1\0" + block.to_bytes(8, "big"), hashlib.sha256).digest()
        yield from (int.from_bytes(digest[at : at + 4], "big") for at in range(0, 32, 4))
        block += 1


def check_of(view: dict[str, list[str]]) -> str:
    """PROTOCOL.md's `check` of what a viewer sees."""
    order = sorted(view, key=lambda name: ("tcrfsw".index(name[0]), int(name[1:])))
    return hashlib.sha256(";".join(f"{name}={' '.join(view[name])}" for name in order).encode()).hexdigest()[
        :8
    ]
