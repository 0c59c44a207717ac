"""The command line as a program sees it: what it prints, where, and with which exit status."""

import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from chilkoot import cli
from runs import Run

ROOT = Path(__file__).resolve().parents[1]
ROOTS = [ROOT / "server", ROOT / "clients" / "python", ROOT / "clients" / "terminal"]
GOLDENS = ROOT / "tests" / "goldens"
BOARD = """\
t1: 7C
t2: <4C> KH 5C 3H 8S JD
t3: <5H> <AH> 6S TC 3S 4S 9D
t4: <QC> <7S> <2S> 7D TS JH 4H 2H
t5: <5D> <2C> <KD> <6C> 8C AD TD KS QD
t6: <2D> <QH> <JS> <9C> <6H> AC 4D KC 6D 3D
t7: <7H> <9S> <5S> <3C> <JC> <TH> 9H QS 8H 8D AS
"""
MOVES = [
    "t2 2 t3",
    "t3 4 t2",
    "t4 4 t2",
    "t5 5 t3",
    "t6 2 t1",
    "t6 5 t4",
    "t7 1 t4",
    "t7 1 f",
]


def spawn(*arguments: str, **more: Any) -> subprocess.Popen[str]:
    """Starts the command as a process of its own."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, ROOTS))}
    command = [sys.executable, "-m", "chilkoot.cli", *arguments]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=environment, **more)


def test_a_deal_is_printed_one_pile_a_line(run: Run) -> None:
    assert run("deal", "yukon", "ms:24").out == BOARD


def test_a_fresh_deal_is_another_each_time_and_says_its_name_beside_the_board(run: Run) -> None:
    first, second = run("deal", "yukon"), run("deal", "yukon")
    assert first.out != second.out
    name = first.err.split()[-1]
    assert run("deal", "yukon", name).out == first.out


def test_a_deal_as_json_names_everything_that_makes_it(run: Run) -> None:
    (deal,) = run("deal", "yukon-thicket", "ms:24", "--level", "3", "--json").objects
    assert (deal["variant"], deal["level"], deal["deal"]) == ("yukon-thicket", 3, "ms:24")
    assert deal["board"]["t1"] == "7C"


def test_legal_moves_are_one_a_line_and_nothing_else(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "board.txt"
    file.write_text(BOARD)
    one = run("legal", "yukon", "--board", file)
    assert sorted(one.lines) == sorted(MOVES)
    assert one.err == ""
    assert run("legal", "yukon", "--board", "-", given=BOARD).lines == one.lines
    assert run("legal", "yukon", "--board", "-", given=BOARD.replace("\n", " | ")).lines == one.lines
    assert run("legal", "yukon", "--deal", "ms:24").lines == one.lines
    (found,) = run("legal", "yukon", "--board", file, "--json").objects
    assert found == {"moves": one.lines, "status": "playing"}


def test_draw_is_the_last_move_where_the_stock_may_be_turned(run: Run) -> None:
    assert run("legal", "klondike", "--deal", "ms:1").lines[-1] == "draw"


def piles(board: str) -> dict[str, str]:
    return dict(line.split(": ", 1) for line in board.splitlines())


def test_many_boards_give_a_line_out_for_each_line_in(run: Run) -> None:
    lines = [
        json.dumps({"board": piles(BOARD)}),
        json.dumps({"board": BOARD, "name": "a text, and a field that is nobody's business"}),
        "{nonsense",
        json.dumps({"board": {"t1": "7C"}}),
        json.dumps({"board": {"t1": 7}}),
        json.dumps({"boards": {}}),
        json.dumps([]),
        json.dumps({"board": BOARD, "base": "11"}),
        json.dumps({"board": BOARD, "pass": 0}),
        json.dumps({"board": BOARD, "level": 9}),
        json.dumps({"board": BOARD, "variant": "russian"}),
        json.dumps({"board": piles(BOARD) | {"t1 | t2": ""}}),
        "[" * 5000,
        "x" * (1 << 21),
        '{"board": 1e999}',
        json.dumps({"board": piles(BOARD)}),
    ]
    ran = run("legal", "yukon", "--boards", "-", given="\n".join(lines))
    assert ran.status == 1
    assert len(ran.objects) == len(lines)
    good = {0, 1, len(lines) - 1}
    for number, found in enumerate(ran.objects):
        assert ("error" in found) == (number not in good), found
        if number in good:
            assert sorted(found["moves"]) == sorted(MOVES)


def test_a_base_that_the_deck_lacks_is_one_bad_line_among_many(run: Run, tmp_path: Path) -> None:
    rules = tmp_path / "short.yaml"
    rules.write_text(
        "deck: {ranks: 6-A, low: dealt}\nsetup: [base_card]\ndeal: [UUUUUUU *5]\n"
        "tableau: {columns: 7, empty: {accepts: base_high}}\nfoundations: {base: dealt}\n"
    )
    suits, ranks = "CDHS", "6789TJQKA"
    board = {f"t{at + 1}": " ".join(rank + suit for rank in ranks) for at, suit in enumerate(suits)}
    lines = [json.dumps({"board": board, "base": base}) for base in ("7", "2", "T")]
    ran = run("legal", str(rules), "--boards", "-", given="\n".join(lines))
    assert ran.status == 1
    assert ["error" in found for found in ran.objects] == [False, True, False]


def test_all_that_is_wrong_with_a_board_is_said_at_once(run: Run) -> None:
    wrong = BOARD.replace("7C", "7X").replace("t7: <7H>", "t9: <7H>")
    ran = run("legal", "yukon", "--board", "-", given=wrong)
    assert ran.status == 1
    assert '"7X" in t1 is no card' in ran.err
    assert 'no pile "t9"' in ran.err
    assert "missing from the board" in ran.err


def golden(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (GOLDENS / f"{name}.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("variant", sorted({record["variant"] for record in golden("moves")}))
def test_the_goldens_are_answered_in_a_batch(run: Run, variant: str) -> None:
    records = [record for record in golden("moves") if record["variant"] == variant]
    ran = run("legal", variant, "--boards", "-", given="\n".join(map(json.dumps, records)))
    assert ran.status == 0
    for record, found in zip(records, ran.objects, strict=True):
        legal = set(found["moves"])
        assert ("draw" in legal) == record.get("draw", "draw" in legal)
        assert legal - {"draw"} - set(record["noop"]) == set(record["moves"])
        assert not any(move.startswith("f") and move.endswith(" f") for move in legal)
        assert found["moves"].index("draw") == len(legal) - 1 if "draw" in legal else True


def test_the_board_is_printed_after_each_action(run: Run) -> None:
    ran = run("apply", "yukon", "--board", "-", "t7 1 f", "t2 2 t3", "undo", given=BOARD)
    boards = ran.out.split("\n\n")
    assert len(boards) == 3
    assert boards[0].splitlines()[-1] == "f4: AS"
    assert boards[2].strip() == boards[0].strip()
    steps = run("apply", "yukon", "--deal", "ms:24", "--json", "t7 1 f").objects
    assert steps[0]["action"] == "t7 1 f"
    assert steps[0]["board"]["f4"] == "AS"
    assert steps[0]["score"] == 1


def test_an_action_that_is_refused_says_why_and_ends_the_run(run: Run) -> None:
    ran = run("apply", "yukon", "--deal", "ms:24", "t7 1 f", "t3 1 f", "t2 2 t3")
    assert ran.status == 1
    assert "[foundation_order]" in ran.err
    assert ran.out.count("t1:") == 1


def test_a_variant_may_be_a_file(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("extends: yukon\ntableau: {empty: {whole_column: allow, accepts: any}}\n")
    assert run("deal", file, "ms:24").out == BOARD
    assert run("deal", "mine", "ms:24", "--rules", tmp_path).out == BOARD
    ran = run("deal", "-", "ms:24", given=file.read_text())
    assert ran.out == BOARD


def test_a_broken_file_of_rules_is_explained_wherever_it_is_named(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("extends: yukon\ntableau: {colums: 7}\n")
    for command in (
        ("rules", "check", file),
        ("deal", file),
        ("legal", file, "--deal", "ms:1"),
        ("apply", file, "--deal", "ms:1", "draw"),
    ):
        ran = run(*command)
        assert ran.status == 1
        assert "mine.yaml:2:11" in ran.out + ran.err
        assert "[R102]" in ran.out + ran.err


@pytest.mark.parametrize(
    "arguments",
    (
        (),
        ("frobnicate",),
        ("deal",),
        ("deal", "yukno"),
        ("deal", "../../etc/nowhere"),
        ("deal", "yukon", "ms:0"),
        ("deal", "yukon", "nonsense"),
        ("deal", "yukon", "--level", "1"),
        ("deal", "yukon-thicket", "--level", "4"),
        ("deal", "yukon", "--rules", "/nowhere"),
        ("legal", "yukon"),
        ("legal", "yukon", "--board", "/nowhere"),
        ("legal", "yukon", "--board", "/"),
        ("legal", "yukon", "--boards", "/nowhere"),
        ("legal", "yukon", "--boards", "/"),
        ("legal", "yukon", "--board", "-", "--boards", "-"),
        ("apply", "yukon", "--deal", "ms:1"),
        ("apply", "yukon", "--deal", "ms:1", "t5 four t2"),
        ("rules",),
        ("rules", "check", "/nowhere.yaml"),
        ("replay", "verify", "/nowhere.json"),
        ("replay", "import", "/nowhere.json"),
        ("serve", "--port", "99999"),
        ("serve", "--limit", "rat=3"),
        ("play", "--url", "ws://localhost:1", "--private"),
        ("play", "--url", "ftp://localhost"),
        ("play", "--url", "ws://["),
        ("play", "--game", "x"),
        ("play", "--url", "localhost", "--key", "x"),
        ("play", "--deal", "ms:1", "--board", "-"),
        ("deal", "yukon", "--js"),
    ),
    ids=" ".join,
)
def test_a_command_line_that_asks_for_what_cannot_be_ends_with_2_and_a_sentence(
    run: Run, arguments: tuple[str, ...]
) -> None:
    ran = run(*arguments)
    assert ran.status == 2
    assert ran.out == ""
    assert ran.err.startswith("chilkoot: ")


@pytest.mark.parametrize(
    ("arguments", "said", "usage"),
    (
        (("server",), "there is no command `server`; did you mean `serve`?", "chilkoot ["),
        (("rules", "chck"), "there is no command `chck`; did you mean `check`?", "chilkoot rules"),
        (("frob",), "there is no command `frob`; it is one of serve, play, rules, ", "chilkoot ["),
        (
            ("deal", "yukon", "--levl=2"),
            "no such flag: --levl; did you mean `--level`?",
            "chilkoot deal",
        ),
        (("deal", "yukon", "ms:1", "ms:2"), "one word too many: ms:2\n", "chilkoot deal"),
        (("deal", "yukon", "--level", "two"), "--level: 'two' is no whole number\n", "chilkoot deal"),
        (
            ("rules", "check", "--format", "jsn"),
            "--format: `jsn` is none of its values; did you mean `json`?",
            "",
        ),
        (("serve", "--port", "abc"), "--port: 'abc': a port is a number from 0 to 65535\n", "chilkoot serve"),
        (("serve", "--port", "0008765"), "--port: '0008765': a port is a number from 0 to 65535\n", ""),
        (("play", "--race", "two"), "--race: 'two' is no whole number\n", "chilkoot play"),
    ),
    ids=str,
)
def test_a_word_that_a_command_does_not_know_is_named_with_the_usage_of_that_command_and_what_may_be_meant(
    run: Run, arguments: tuple[str, ...], said: str, usage: str
) -> None:
    ran = run(*arguments)
    assert ran.status == 2
    assert ran.err.startswith(f"chilkoot: {said}")
    assert f"\nusage: {usage}" in ran.err


@pytest.mark.parametrize(
    "data", (b"", b"\x00\xff\xfe" * 400, b"{}", b"null", b"[" * 100_000, b"\n\n", b'{"a":' * 9000)
)
@pytest.mark.parametrize(
    "arguments",
    (
        ("rules", "check", "-"),
        ("deal", "-"),
        ("legal", "yukon", "--board", "-"),
        ("legal", "yukon", "--boards", "-"),
        ("apply", "yukon", "--board", "-", "draw"),
        ("replay", "show", "-"),
        ("replay", "verify", "-"),
        ("replay", "import", "-"),
    ),
    ids=" ".join,
)
def test_junk_is_answered_by_a_sentence(run: Run, arguments: tuple[str, ...], data: bytes) -> None:
    ran = run(*arguments, given=data)
    if "--boards" not in arguments:
        assert ran.status == 1
        assert ran.out + ran.err


def test_rules_check_tells_everything_in_each_format(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("extends: yukno\ntableau: {colums: 7}\n")
    text = run("rules", "check", file)
    assert text.out.count("[R") == 2
    assert "2 errors" in text.err
    assert [found["line"] for found in run("rules", "check", file, "--json").objects] == [1, 2]
    assert run("rules", "check", file, "--format", "github").lines[0].startswith("::error file=")
    assert run("rules", "check", tmp_path).status == 1


def test_the_tests_of_a_variant_are_asked_of_the_engine(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(
        "extends: yukon\ntableau: {empty: {whole_column: allow}}\ntests:\n"
        '  - {board: "t2: TH | t5: <AD> 9S 4D", move: t5 2 t2, expect: legal}\n'
        '  - {board: "t2: TS | t5: <AD> 9S 4D", move: t5 2 t2, expect: legal}\n'
        '  - {board: "t5: KC", move: t5 1 t2, expect: whole_column}\n'
        '  - {board: "t5: QC", move: t5 1 t2, expect: needs_king}\n'
    )
    ran = run("rules", "check", file, "--json")
    assert ran.status == 1
    assert [(found["line"], found["code"]) for found in ran.objects] == [(5, "R404"), (6, "R404")]
    assert "same colour" in ran.objects[0]["help"]
    assert run("rules", "check", "-", given=file.read_text()).out.count("[R404]") == 2


def test_a_warning_is_an_error_only_when_strict(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("extends: yukon\ntableau: {columns: 7}\n")
    assert run("rules", "check", file).status == 0
    assert run("rules", "check", file, "--strict").status == 1


def test_the_variants_that_come_with_chilkoot_are_all_well(run: Run) -> None:
    ran = run("rules", "check", "--strict")
    assert (ran.status, ran.out) == (0, "")
    listed = {entry["id"] for entry in run("rules", "list", "--json").objects}
    assert {"yukon", "yakutat-bay", "yakutat-bay-calving", "yukon-cells", "yukon-thicket"} <= listed
    assert "yukon-thicket" in run("rules", "list").out


def test_the_database_is_made_and_checked(run: Run, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'games.db'}"
    assert run("db", "check", "--database", url).status == 78
    assert run("db", "upgrade", "--database", url).status == 0
    assert "is now" not in run("db", "upgrade", "--database", url).out
    assert run("db", "check", "--database", url).out.startswith("0 games checked")
    assert run("replay", "verify", "--database", url).out == ""
    assert run("replay", "export", "nothing", "--database", url).status == 2
    assert run("replay", "show", "nothing", "--database", url).status == 2
    (tmp_path / "games.db").write_bytes(b"no database at all" * 100)
    assert run("db", "check", "--database", url).status == 78
    assert run("db", "upgrade", "--database", "mysql://x").status == 78


def test_a_mistake_of_our_own_goes_to_a_file_and_a_sentence_to_the_user(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("chilkoot.cli.boards.find_level", lambda *_: 1 / 0)
    assert cli.main(["deal", "yukon"]) == 70
    said = capsys.readouterr().err
    assert "mistake in Chilkoot itself (ZeroDivisionError" in said
    assert "Traceback" not in said
    (report,) = tmp_path.iterdir()
    assert "ZeroDivisionError" in report.read_text()


def test_whoever_stops_reading_ends_the_program_quietly() -> None:
    process = spawn("rules", "list")
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == ""
    assert process.wait(20) in {0, 141}
    process.stderr.close()


def test_an_interrupt_ends_the_program_quietly(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    # The pipe opens once the program has opened it too: from then on it waits for us.
    with spawn("legal", "yukon", "--boards", str(pipe)) as process, pipe.open("w"):
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=20)
    assert (process.returncode, errors) == (130, "")


@pytest.mark.slow
def test_checking_a_file_takes_less_than_300_milliseconds() -> None:
    times = []
    for _ in range(5):
        began = time.perf_counter()
        with spawn("rules", "check", str(ROOT / "rules" / "yukon.yaml")) as process:
            assert process.wait(20) == 0
        times.append(time.perf_counter() - began)
    assert min(times) < 0.3


def test_checking_rules_imports_no_database_and_no_sockets() -> None:
    code = (
        "import sys; from chilkoot.cli import main; main(['rules', 'list']); "
        "print(sorted({'sqlalchemy', 'alembic', 'websockets', 'asyncio'} & set(sys.modules)), file=sys.stderr)"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, ROOTS))}
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True
    )
    assert ran.stderr.strip() == "[]"


def test_a_huge_board_is_refused_without_reading_it_all(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "huge"
    with file.open("wb") as opened:
        opened.truncate(1 << 34)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert run("legal", "yukon", "--board", file).status == 1
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000
