"""SECURITY.md says what is true: its bounds are those of the server, and every test that it or the list of faults names is there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import msgspec

from chilkoot.config import Limits
from chilkoot.engine import MAX_ACTIONS
from chilkoot.host.ledger import QUEUE_LIMIT
from chilkoot.language.nodes import MAX_BYTES as RULES_BYTES
from chilkoot.record.recording import MAX_BYTES as RECORDING_BYTES
from chilkoot.table.session import REPLIES

ROOT = Path(__file__).resolve().parents[1]
SECURITY = ROOT / "SECURITY.md"
FAULTS = ROOT / "tests" / "chaos" / "README.md"

# What each bounds, in words, and the test that shows it.
BOUNDS = {
    "rate": ("commands a second, of one connection", "test_host_limits.py::test_too_many_commands_are_answered_and_told_when_to_come_again"),
    "burst": ("commands at once, before `rate` counts", "test_host_limits.py::test_too_many_commands_are_answered_and_told_when_to_come_again"),
    "flood": ("commands at once, refused ones too, before the connection is closed", "test_host_limits.py::test_a_flood_is_closed_and_nobody_else_notices"),
    "new_per_second": ("new games a second, of one connection", "test_host_limits.py::test_hints_and_new_games_have_a_pace_of_their_own"),
    "new_burst": ("new games at once", "test_host_limits.py::test_hints_and_new_games_have_a_pace_of_their_own"),
    "hint_per_second": ("hints a second, of one connection", "test_host_limits.py::test_hints_and_new_games_have_a_pace_of_their_own"),
    "malformed": ("malformed frames in a row", "test_host_limits.py::test_ten_malformed_frames_in_a_row_are_the_last"),
    "message_bytes": ("bytes of one message", "test_host_limits.py::test_a_frame_has_so_many_bytes"),
    "active_games": ("unfinished games of one player", "test_host_limits.py::test_a_player_has_so_many_games_at_once"),
    "certify_deals": ("deals tried for a game that is to be winnable", "test_host_winnable.py::test_a_deal_is_proved_winnable_where_that_is_asked_and_for_thicket_by_itself"),
    "certify_positions": ("positions looked at for each of them", "test_certify.py::test_no_certificate_without_a_line_within_the_positions"),
    "certify_seconds": ("seconds a new game waits for that", "test_host_winnable.py::test_without_a_search_a_game_that_wants_a_winnable_deal_begins_and_says_so"),
    "advice_ms": ("milliseconds after which a hint is told, and in which a move of the server is found", "test_host_advice.py::test_a_hint_holds_up_its_own_game_alone"),
    "advice_after_seconds": ("seconds after its start before a server gets its better policy ready", "test_host_advice.py::test_the_better_policy_gets_ready_a_while_after_the_start"),
    "analyse_positions": ("positions looked at for the analysis of a finished game", "test_host_analysis.py::test_a_server_that_makes_none_says_so"),
    "pool_deals": ("winnable deals kept ready for each game that deals them", "test_host_deal_pool.py::test_rules_that_want_winnable_deals_get_as_many_as_are_kept"),
    "pool_games": ("games for which deals are kept ready", "test_host_deal_pool.py::test_what_was_asked_for_once_is_kept_ready_by_the_next_server_too"),
    "pool_after_seconds": ("seconds after its start before a server looks for such deals", "test_host_winnable.py::test_deals_kept_ready_are_dealt_at_once_each_to_one_game_also_after_a_kill"),
    "watched_games": ("games one connection receives events of", "test_host_limits.py::test_a_connection_that_watches_many_games_lets_the_first_go"),
    "cached_games": ("games kept in memory although nobody looks at them", "test_host_limits.py::test_games_nobody_looks_at_leave_no_trace_in_memory"),
    "active_races": ("unfinished races of one player", "test_host_races.py::test_a_player_is_in_so_many_races_at_once"),
    "race_countdown": ("seconds from the last seat taken to the deal", "test_host_races.py::test_the_countdown_is_told_by_the_servers_clock"),
    "race_seconds": ("seconds after which a race is over", "test_host_races.py::test_after_its_time_a_race_is_over_for_those_who_still_play"),
    "race_idle_seconds": ("seconds of doing nothing after which a player has left a race", "test_host_races.py::test_who_does_nothing_for_long_has_left"),
    "race_wait_seconds": ("seconds a race waits for its players", "test_host_races.py::test_a_race_that_nobody_comes_to_is_over_after_a_while"),
    "connections": ("connections in all; more are answered 503", "test_host_limits.py::test_all_together_have_so_many_connections"),
    "connections_per_address": ("connections of one address, or one IPv6 network /64", "test_host_limits.py::test_one_address_has_so_many_connections"),
    "connections_per_player": ("connections of one player", "test_host_limits.py::test_one_player_has_so_many_connections"),
    "open_seconds": ("seconds for a handshake", "chaos/test_network.py::test_who_dribbles_a_handshake_is_cut_off_in_time_and_holds_nobody_up"),
    "idle_seconds": ("seconds without a command", "test_host_limits.py::test_a_connection_that_says_nothing_is_closed_as_idle"),
    "ping_seconds": ("seconds between two pings, and for their answer", "test_host_limits.py::test_the_server_pings"),
    "stall_seconds": ("seconds in which a connection may take nothing of what it is sent", "test_host_limits.py::test_watchers_who_never_read_are_cut_off_and_cost_little"),
    "buffer_bytes": ("bytes that may wait for one connection", "test_host_limits.py::test_pings_without_reading_the_pongs_are_cut_off"),
    "outbox": ("events that wait for one connection before they become a snapshot", "test_host_limits.py::test_a_watcher_who_does_not_read_gets_one_snapshot_in_place_of_what_it_missed"),
    "history": ("diffs of a game kept for those who come back", "test_host_sessions.py::test_more_than_is_kept_is_answered_with_a_snapshot"),
    "shutdown_seconds": ("seconds in which the server stops", "test_host_stop.py::test_clients_that_do_not_read_cannot_hold_the_server"),
}  # fmt: skip


def table() -> str:
    rows = ["| limit | default | what it bounds | tested by |", "|---|---|---|---|"]
    for field in msgspec.structs.fields(Limits):
        what, test = BOUNDS[field.name]
        rows.append(f"| `{field.name}` | {field.default:,g} | {what} | `{test}` |")
    return "\n".join(rows)


def test_every_limit_of_the_server_is_told_and_no_other() -> None:
    names = [field.name for field in msgspec.structs.fields(Limits)]
    assert set(BOUNDS) == set(names), "a limit is missing in BOUNDS, with its words and its test"


def test_the_table_of_limits_is_that_of_the_server(updates: bool) -> None:
    text = SECURITY.read_text(encoding="utf-8")
    head, _, rest = text.partition("configuration -->\n")
    _, end, tail = rest.partition("<!-- end of limits -->")
    wanted = f"{head}configuration -->\n{table()}\n{end}{tail}"
    if updates:
        SECURITY.write_text(wanted, encoding="utf-8")
    assert SECURITY.read_text(encoding="utf-8") == wanted


def test_the_fixed_bounds_are_those_of_the_code() -> None:
    text = SECURITY.read_text(encoding="utf-8")
    for words in (
        f"at most {MAX_ACTIONS:,} actions",
        f"rules {RULES_BYTES >> 10} KiB",
        f"imported {RECORDING_BYTES >> 20} MiB",
        f"{QUEUE_LIMIT:,} commits may wait",
        f"last {REPLIES} replies",
    ):
        assert words in " ".join(text.split()), words


def named_tests() -> list[tuple[str, str]]:
    return [
        match
        for page in (SECURITY, FAULTS)
        for match in re.findall(r"`([\w/]+\.py)::(test_\w+)`", page.read_text(encoding="utf-8"))
    ]


def test_every_test_that_is_named_is_there() -> None:
    found: dict[str, set[str]] = {}
    for file, name in named_tests():
        if file not in found:
            tree = ast.parse((ROOT / "tests" / file).read_text(encoding="utf-8"))
            found[file] = {
                node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            }
        assert name in found[file], f"{file}::{name}"
    assert len(named_tests()) > 100


def test_every_file_that_is_named_is_there() -> None:
    for name in re.findall(r"`(tests/[\w/.]+|bench/[\w/.]+)`", SECURITY.read_text(encoding="utf-8")):
        assert (ROOT / name).exists(), name


def test_the_list_of_faults_is_complete() -> None:
    numbers = [
        int(number)
        for number in re.findall(r"^\| (\d+) \|", FAULTS.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    assert numbers == list(range(1, 78))


def test_canaries_are_named_as_they_are() -> None:
    from chaos.canaries import CANARIES  # noqa: PLC0415 - the one test that needs the whole server

    text = FAULTS.read_text(encoding="utf-8")
    said = " ".join(re.findall(r"canar(?:y|ies) ((?:`\w+`(?:, )?)+)", text))
    assert set(re.findall(r"\w+", said)) <= set(CANARIES)
    assert len(CANARIES) == 16, "the page says how many there are"
