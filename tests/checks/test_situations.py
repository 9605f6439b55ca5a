"""Reported situations, as `check` meets them; each test is named by its entry."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from check_streams import encoded, found, header, told
from click.testing import CliRunner

from sessionref.cli._app import program

if TYPE_CHECKING:
    from pathlib import Path


def call(seq: int, call_id: str, **members: Any) -> dict[str, Any]:
    return {"type": "tool_call", "seq": seq, "id": f"r{seq}", "callId": call_id, **members}


def checked(*paths: object) -> list[dict[str, Any]]:
    result = CliRunner().invoke(program, ["check", *map(str, paths), "--json"])
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_situation_I_01_a_short_subagent_id_needs_its_container() -> None:
    """Two parents, one short ID: without the namespace each stream is told (ASR-054)."""
    findings = found(
        [header("ab12cd3", "claude-code"), call(1, "c")],
        [header("ab12cd3", "claude-code"), call(1, "d")],
    )
    assert [(f.rule, f.code) for f in findings] == [
        ("ASR-050", "identity-conflict"),
        ("ASR-054", "missing-namespace"),
        ("ASR-054", "missing-namespace"),
    ]
    apart = [header("ab12cd3", "claude-code", namespace=parent) for parent in ("S1", "S2")]
    assert found([apart[0]], [apart[1]]) == []


def test_situation_I_02_and_I_22_equal_keys_with_other_content_conflict(tmp_path: Path) -> None:
    """Folders and times decide nothing; both are kept, in one finding (ASR-050, 053)."""
    for place, text in (("project", "a"), ("worktree", "b")):
        (tmp_path / place).mkdir()
        records = [header("s1"), {"type": "hook", "seq": 1, "id": "r1", "text": text}]
        (tmp_path / place / "log.jsonl").write_bytes(encoded(records))
    assert [(f["code"], f["session"]) for f in checked(tmp_path)] == [
        ("identity-conflict", "codex:s1")
    ]


def test_situation_I_13_an_archived_copy_is_the_same_session(tmp_path: Path) -> None:
    for place in ("sessions", "archived_sessions"):
        (tmp_path / place).mkdir()
        (tmp_path / place / "x.jsonl").write_bytes(encoded([header("s1"), call(1, "c1")]))
    assert checked(tmp_path) == []


def test_situation_E_02_and_E_03_a_call_id_used_again_is_ambiguous() -> None:
    """Two calls, no link: what names the ID names neither (ASR-064)."""
    target = {"type": "tombstone", "seq": 3, "id": "r3", "targets": ["callId=edit:22"]}
    assert told(found([header("s1"), call(1, "edit:22"), call(2, "edit:22"), target])) == [
        ("ASR-064", "ambiguous", "notice", "r2", "$.callId"),
        ("ASR-064", "ambiguous", "error", "r3", "$.targets[0]"),
    ]


def test_situation_E_04_revisions_are_one_call() -> None:
    target = {"type": "tombstone", "seq": 3, "id": "r3", "targets": ["callId=c1", "r1"]}
    assert found([header("s1"), call(1, "c1"), call(2, "c1", supersedes="r1"), target]) == []


def test_situation_E_08_an_absent_id_is_no_empty_key() -> None:
    """Two calls without an ID are not the same call; each is told that it has none (ASR-065)."""
    records = [{"type": "inference", "seq": n, "id": f"r{n}"} for n in (1, 2)]
    assert [(f.rule, f.id) for f in found([header("s1"), *records])] == [
        ("ASR-065", "r1"),
        ("ASR-065", "r2"),
    ]


def test_situation_E_10_a_pointer_to_what_was_never_written_is_reported() -> None:
    hook = {"type": "hook", "seq": 2, "id": "r2", "branchesFrom": {"record": "u7"}}
    assert told(found([header("s1"), hook])) == [
        ("ASR-063", "no-such-record", "error", "r2", "$.branchesFrom.record")
    ]


def test_situation_E_11_circles_end_and_long_chains_are_whole() -> None:
    """One finding for a circle; 100,000 revisions are no depth that anything is afraid of."""
    circle = [call(1, "c1", supersedes="r2"), call(2, "c1", supersedes="r1")]
    assert [f.code for f in found([header("s1"), *circle])] == ["supersedes-cycle"]
    chain = [call(n, "c1", supersedes=f"r{n - 1}") for n in range(2, 100_001)]
    target = {"type": "tombstone", "seq": 100_001, "id": "t", "targets": ["callId=c1"]}
    assert found([header("s1"), call(1, "c1"), *chain, target]) == []


def test_situation_T_01_a_turn_of_which_no_record_is_there() -> None:
    state = {"type": "state", "seq": 1, "id": "r1", "continuationOf": "turnId=p-9"}
    assert told(found([header("s1"), state])) == [
        ("ASR-075", "no-such-turn", "notice", "r1", "$.continuationOf")
    ]


def test_situation_X_01_and_X_14_runs_of_nul_bytes_cost_their_line_only() -> None:
    """A hole between two lines, and one behind a record: what stands whole is read."""
    stream = encoded([header("s1"), call(1, "c1")])
    hole = b"\0" * 200_000
    rest = encoded([call(2, "c1", supersedes="r1")])
    assert [(f.code, f.line) for f in found(stream + hole + b"\n" + rest)] == [("nul-bytes", 3)]
    assert [(f.code, f.line) for f in found(stream[:-1] + hole + b"\n" + rest)] == [
        ("nul-bytes", 2)
    ]


def test_situation_X_02_and_X_04_a_cut_line_costs_itself_only() -> None:
    whole = [header("s1"), call(1, "c1"), call(2, "c2"), call(3, "c3")]
    torn = encoded(whole[:2]) + encoded([call(9, "c9")])[:20] + b"\n" + encoded(whole[2:])
    assert [(f.code, f.severity, f.line) for f in found(torn)] == [("not-json", "warning", 3)]


def test_situation_X_05_an_empty_file_has_no_header(tmp_path: Path) -> None:
    """Named by hand; nothing else is wrong with it."""
    (tmp_path / "empty.jsonl").write_bytes(b"")
    assert [f["code"] for f in checked(tmp_path / "empty.jsonl")] == ["no-header"]


def test_situation_X_07_and_X_08_marks_and_endings_change_no_identity() -> None:
    stream = encoded([header("s1"), call(1, "c1")])
    marked = found(b"\xef\xbb\xbf" + stream)
    assert [(f.code, f.session) for f in marked] == [("byte-order-mark", "codex:s1")]
    assert [f.code for f in found(stream.replace(b"\n", b"\r\n"))] == ["crlf"]
    assert found(stream.rstrip(b"\n")) == []


def test_situation_X_10_and_X_11_links_lead_to_each_file_once(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    bad = [header("s1"), {"type": "rewind", "seq": 1, "id": "r1", "to": "r9"}]
    (tmp_path / "d" / "a.jsonl").write_bytes(encoded(bad))
    (tmp_path / "d" / "loop").symlink_to(tmp_path)
    (tmp_path / "shared").symlink_to(tmp_path / "d")
    assert [f["code"] for f in checked(tmp_path)] == ["no-such-record"]


def test_situation_S_11_a_long_line_between_small_ones_drops_nothing() -> None:
    long = {"type": "message", "seq": 1, "id": "r1", "messageId": "m", "content": "x" * 8_000_000}
    rewind = {"type": "rewind", "seq": 2, "id": "r2", "to": "r1"}
    assert found([header("s1"), long, rewind]) == []


def test_situation_R_17_an_id_with_no_utf8_form_is_one_finding_and_the_rest_goes_on() -> None:
    """Never replaced, never repaired (ASR-060, 072)."""
    first = b'{"type":"session","seq":0,"id":"h","agent":{"name":"codex"},"sessionId":"s\\ud800"}\n'
    rewind = {"type": "rewind", "seq": 1, "id": "r1", "to": "r9"}
    assert told(found(first + encoded([rewind]))) == [
        ("ASR-060", "surrogate", "error", "h", "$.sessionId"),
        ("ASR-063", "no-such-record", "error", "r1", "$.to"),
    ]


def test_many_tiny_streams_are_one_scope(tmp_path: Path) -> None:
    """A child in one file names its parent in another; nothing is wrong with any."""
    (tmp_path / "0.jsonl").write_bytes(encoded([header("s0", producer={"lossy": ["lineage"]})]))
    for number in range(1, 300):
        lineage = {"spawnedBy": {"session": f"codex:s{number // 2}", "evidence": "native_field"}}
        top = header(f"s{number}", lineage=lineage, producer={"lossy": ["lineage"]})
        (tmp_path / f"{number}.jsonl").write_bytes(encoded([top]))
    assert checked(tmp_path) == []
