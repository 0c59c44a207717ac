"""Recordings for ever: games recorded long ago replay to the same card, byte for byte, whatever has become of the code since.

`tests/recordings` only grows. `--update` writes what is missing and never touches what is there: a recording that no longer
verifies means that the engine changed the meaning of an old game, and then the engine is wrong (or SEMANTICS must rise, and the
old meaning stay beside the new one).
"""

from __future__ import annotations

import gzip
import hashlib
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from chilkoot.engine import Game
from chilkoot.record import Recording, Store, encode_recording, export_game, parse_recording, verify
from record_examples import play
from variants import library, rules_of

FOLDER = Path(__file__).parent / "recordings"
HEADS = FOLDER / "heads.txt"

MAIN = (
    ("yukon", None),
    ("yakutat-bay", None),
    ("yukon-cells", None),
    ("yukon-thicket", 1),
    ("yukon-thicket", 2),
    ("yukon-thicket", 3),
)
DEALS = ("ck:7", "ms:24", "ck:" + hashlib.sha256(b"corpus").hexdigest(), "board")
FAMILIES = (
    "canfield",
    "castle",
    "fan",
    "forty-thieves",
    "freecell",
    "gypsy",
    "klondike",
    "scorpion",
    "spider",
)


def wanted() -> list[tuple[str, str, int | None, str]]:
    """Name, variant, level and deal of every recording that there is to be."""
    found = [
        (f"{variant}{'' if level is None else f'-{level}'}-{number}", variant, level, deal)
        for variant, level in MAIN
        for number, deal in enumerate(DEALS, 1)
    ]
    for family in FAMILIES:
        first = next(one for one in library().variants() if one.family == family)
        found.append((f"{family}-family", first.id, None, "ck:7"))
    return found


def heads() -> dict[str, str]:
    return dict(line.split() for line in HEADS.read_text().splitlines())


def read(name: str) -> Recording:
    found = parse_recording(gzip.decompress((FOLDER / f"{name}.json.gz").read_bytes()))
    assert isinstance(found, Recording), found
    return found


def record(folder: Path, variant: str, level: int | None, deal: str) -> Recording:
    """A game as a player may play it who does not think, with hints between."""
    from test_record_recording import some_actions  # noqa: PLC0415 - for whoever adds a recording

    rules = rules_of(variant, level)
    if deal == "board":
        deal = Game.start(rules, "ck:99").board()
    actions = some_actions(rules, deal, len(variant), 60)
    with closing(Store.open(f"sqlite:///{folder / 'games.db'}")) as store:
        play(store, rules, deal, actions, variant=variant, level=level, hints_after=(0, 5, 5))
        found = export_game(store.reader, "played")
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("name", "variant", "level", "deal"), [pytest.param(*one, id=one[0]) for one in wanted()]
)
def test_a_recording_made_long_ago_replays_to_the_same_end(
    name: str, variant: str, level: int | None, deal: str, updates: bool, tmp_path: Path
) -> None:
    path = FOLDER / f"{name}.json.gz"
    if updates and not path.exists():
        made = record(tmp_path, variant, level, deal)
        path.write_bytes(gzip.compress(encode_recording(made), 9, mtime=0))
        with HEADS.open("a") as file:
            file.write(f"{name} {made.head}\n")
    found = read(name)
    assert verify(found) == []
    # What the list says was written when the recording was: nobody changed both the play and its chain.
    assert found.head == heads()[name]


def test_nothing_is_listed_that_is_not_there() -> None:
    assert sorted(heads()) == sorted(path.name.removesuffix(".json.gz") for path in FOLDER.glob("*.json.gz"))
    assert sorted(heads()) == sorted(name for name, *_ in wanted())


def places(recording: Recording, every: int) -> list[tuple[int, int]]:
    """Action and byte of the bytes to be changed."""
    found = [
        (number, at)
        for number, action in enumerate(recording.actions)
        for at in range(len(msgspec.json.encode(action)))
    ]
    return found[::every]


@pytest.mark.parametrize("every", (29, pytest.param(1, marks=pytest.mark.slow)))
def test_a_changed_byte_of_an_action_is_found_at_that_action(every: int) -> None:
    recording = read("yukon-1")
    recording = msgspec.structs.replace(recording, actions=recording.actions[:25])
    whole = msgspec.json.encode(recording.actions)
    for number, at in places(recording, every):
        text = bytearray(msgspec.json.encode(recording.actions[number]))
        text[at] ^= 1
        try:
            changed = msgspec.json.decode(bytes(text), type=type(recording.actions[0]))
        except (msgspec.MsgspecError, ValueError):
            # No recording at all any more: it is not even read.
            assert bytes(text) not in whole
            continue
        if changed == recording.actions[number]:
            continue
        actions = (*recording.actions[:number], changed, *recording.actions[number + 1 :])
        found = verify(msgspec.structs.replace(recording, actions=actions))
        assert found[0].seq == number + 1, (number, at, found)
