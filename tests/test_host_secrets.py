"""No frame, log line or page holds a hidden card, a deal, a token or a key that its reader must not know."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from caller import Caller, Frame, calling
from chilkoot.cards import DOWN, card_name, card_words
from chilkoot.engine import Game
from chilkoot.events import parse_action
from lines import random_line
from servers import LiveServer
from variants import rules_of


def hidden_words(game: Game) -> list[str]:
    """The cards that lie face down, in every way in which a frame might name them."""
    cards = [card for pile in game.position.piles for card in pile if card & DOWN]
    return [
        form for card in cards for form in (f'"{card_name(card)}"', f"<{card_name(card)}>", card_words(card))
    ]


class Listener(Caller):
    """A caller that keeps the text of every frame with the number of actions there had been."""

    heard: list[str]

    async def next(self) -> Frame:
        frame = await super().next()
        self.heard.append(json.dumps(frame))
        return frame


@pytest.mark.parametrize(
    "name", ("yukon", "yakutat-bay", "yukon-cells", "yukon-thicket", "klondike", "spiderette")
)
async def test_no_frame_names_a_card_that_lies_face_down(tmp_path: Path, name: str) -> None:
    deal = "ck:31"
    game = Game.start(rules_of(name), deal)
    with LiveServer(tmp_path) as server:
        async with calling(server.url) as one, calling(server.url) as two:
            player, watcher = Listener(one.socket), Listener(two.socket)
            player.heard = watcher.heard = []
            table = await player.ask("new", variant=name, cards=game.board())
            await watcher.ask("join", game=table["game"])
            seq = 0
            for text in random_line(name, deal, 30):
                for frame in player.heard:
                    for word in hidden_words(game):
                        assert word not in frame, (word, frame)
                player.heard.clear()
                for kind in ("sync", "legal", "recording"):
                    await watcher.ask(kind, game=table["game"])
                for kind in ("sync", "hint", "legal"):
                    await player.ask(kind, game=table["game"])
                for pile in table["piles"]:
                    # Refusals speak in sentences that name cards.
                    await player.ask("tap", game=table["game"], base=-1, pile=pile)
                    for target in ("t1", "t2", "f1", "c1"):
                        await player.ask("move", game=table["game"], base=-1, from_=pile, to=target)
                action = parse_action(text)
                assert action is not None
                fields: Frame = (
                    {"from_": text.split()[0], "n": int(text.split()[1]), "to": text.split()[2]}
                    if " " in text
                    else {}
                )
                kind = "move" if fields else text
                diff = await player.ask(kind, game=table["game"], base=seq, **fields)
                assert diff["type"] == "diff", diff
                game.act(action)
                seq = diff["seq"]


async def test_refused_moves_of_every_kind_name_no_hidden_card(tmp_path: Path) -> None:
    game = Game.start(rules_of("yukon-cells"), "ck:8")
    words = hidden_words(game)
    with LiveServer(tmp_path) as server:
        async with calling(server.url) as caller:
            table = await caller.ask("new", variant="yukon-cells", cards=game.board())
            for source in table["piles"]:
                for target in [*table["piles"], "f"]:
                    for n in (1, 2, 5, 11, 99):
                        reply = await caller.move(table, f"{source} {n} {target}")
                        if reply["type"] == "diff":
                            # It may have turned a card up, which is taken back at once.
                            table["seq"] = (await caller.ask("undo", game=table["game"], base=reply["seq"]))[
                                "seq"
                            ]
                        else:
                            assert not [word for word in words if word in json.dumps(reply)]


def everything_stored(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.glob("games.db*"))


async def test_the_log_holds_no_secret(tmp_path: Path) -> None:
    secrets: list[str] = []
    with LiveServer(tmp_path) as server:
        async with calling(server.url) as caller:
            welcome = await caller.ask("hello", name="Ann")
            table = await caller.ask("new", variant="yukon", watch="key")
            await caller.ask("undo", game=table["game"], base=5)
            await caller.raw("{" + welcome["token"])
            end = await caller.ask("give_up", game=table["game"], base=0)
            assert end["type"] == "diff"
            deal = (await caller.ask("sync", game=table["game"]))["deal"]
            secrets = [
                welcome["token"],
                welcome["session"],
                table["key"],
                table["watch_key"],
                deal.removeprefix("ck:"),
            ]
        async with calling(server.url) as caller:
            again = await caller.ask("hello", token=welcome["token"], session=welcome["session"])
            secrets.append(again["token"])
        async with calling(server.url) as caller:
            await caller.ask("hello", token="x" + welcome["token"])
    log = (tmp_path / "log").read_text()
    assert "stopped" in log
    assert not [secret for secret in secrets if secret in log]
    assert "Traceback" not in log
    stored = everything_stored(tmp_path)
    assert welcome["token"].encode() not in stored
    assert again["token"].encode() not in stored
