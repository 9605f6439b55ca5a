"""Reported situations of identity, entities and turns, each a test by its name."""

from __future__ import annotations

import json

import pytest
from scope_streams import of_record, scope, shown, stream

import sessionref as sr
from sessionref.scope.derived import Derivation, NativeTime, Refused
from sessionref.scope.scope import StreamScope

PROMPT_A = {"type": "message", "messageId": "a"}
PROMPT_B = {"type": "message", "messageId": "b"}


def claude(**row):
    message = {"type": "user", "message": {"role": "user", "content": "x"}}
    return json.dumps(message | row).encode() + b"\n"


def codes(found):
    return sorted(finding.code for finding in found.findings)


def test_I_01_short_subagent_ids_of_two_parents_are_two_sessions(tmp_path):
    """Short agent IDs need the parent as namespace; with it their keys differ."""
    for parent, uuid in (("S1", "u1"), ("S2", "u9")):
        folder = tmp_path / parent / "subagents"
        folder.mkdir(parents=True)
        row = claude(sessionId=parent, agentId="ab12cd3", uuid=uuid, isSidechain=True)
        (folder / "agent-ab12cd3.jsonl").write_bytes(row)
    found = sr.Scope.read([tmp_path])
    assert [session.canonical for session in found] == [
        "claude-code:S1:ab12cd3",
        "claude-code:S2:ab12cd3",
    ]


def test_I_01_without_namespace_equal_keys_are_a_conflict():
    """Where nobody gave a namespace the two are one key, reported and not merged."""
    found = scope(stream(PROMPT_A, sid="ab12cd3"), stream(PROMPT_B, sid="ab12cd3"))
    assert codes(found) == ["identity-conflict"]


def test_I_02_the_same_id_in_two_folders_is_a_conflict_at_a_fixed_point(tmp_path):
    """Folders are no identity; reading twice gives the same answer."""
    for folder, records in (("main", [PROMPT_A]), ("worktree", [PROMPT_B] * 12)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "agent-x.jsonl").write_bytes(stream(*records, sid="x"))
    first, second = StreamScope.of([tmp_path]), StreamScope.of([tmp_path])
    assert codes(first) == ["identity-conflict"]
    assert list(first.findings) == list(second.findings)


def test_I_04_two_stores_of_one_app_are_told_apart_by_namespace():
    """The same ID in two containers is two sessions where the container is the namespace."""
    stores = [stream(PROMPT_A, sid="t-1", namespace=name) for name in ("workspace", "global")]
    assert len(scope(*stores)) == 2


def test_I_05_a_reused_id_is_never_spliced():
    """Two captures that contradict each other stay two, and a stored ref is ambiguous."""
    found = scope(stream(PROMPT_A, sid="20260101_3"), stream(PROMPT_B, sid="20260101_3"))
    (session,) = found
    assert (session.conflict, [len(account) for account in session.accounts]) == (True, [2, 2])
    assert found.resolve("codex:20260101_3#messageId=a").state == "ambiguous"


def test_I_07_long_ids_are_compared_whole():
    """IDs that agree in their first characters are different sessions."""
    found = scope(stream(sid="agent-aa11"), stream(sid="agent-aa22"))
    assert len({session.key.file_stem() for session in found}) == 2


def test_I_08_a_file_may_hold_two_sessions(tmp_path):
    """The native field is the identity, not the file."""
    rows = claude(sessionId="A", uuid="1") + claude(sessionId="B", uuid="2")
    (tmp_path / "A.jsonl").write_bytes(rows)
    found = sr.Scope.read([tmp_path])
    assert [session.canonical for session in found] == ["claude-code:A", "claude-code:B"]
    assert [capture.number for capture in found.captures] == [0, 1]


def test_I_13_an_archived_file_counts_once(tmp_path):
    """The same rollout in two folders is one session, compressed or not."""
    import gzip  # noqa: PLC0415

    for folder in ("sessions", "archived_sessions"):
        (tmp_path / folder).mkdir()
    (tmp_path / "sessions" / "rollout-x.jsonl").write_bytes(stream(PROMPT_A, PROMPT_B))
    archived = gzip.compress(stream(PROMPT_A))
    (tmp_path / "archived_sessions" / "rollout-x.jsonl.gz").write_bytes(archived)
    found = StreamScope.of([tmp_path])
    (session,) = found
    assert (len(session), session.conflict, codes(found)) == (3, False, [])


def test_I_13_an_archived_native_log_counts_once(tmp_path):
    """So is a native log that was moved and one that it went on from."""
    rows = [claude(sessionId="A", uuid=str(number)) for number in range(3)]
    (tmp_path / "a.jsonl").write_bytes(b"".join(rows))
    (tmp_path / "b.jsonl").write_bytes(b"".join(rows[:2]))
    found = sr.Scope.read([tmp_path])
    (session,) = found
    assert (len(session.accounts), len(session.captures)) == (1, 2)
    other = claude(sessionId="A", uuid="0", cwd="/x")
    (tmp_path / "b.jsonl").write_bytes(other)
    assert next(iter(sr.Scope.read([tmp_path]))).conflict


def test_I_17_a_clock_is_no_identity():
    """Items with one time get no ID from it."""
    with pytest.raises(Refused):
        Derivation("1").assign([[NativeTime("1700000000000")]] * 2)


def test_I_19_equal_lines_of_two_files_are_two_records():
    """IDs derived from lines hold in their stream only; nothing is joined by them."""
    usage = {"id": "line/3", "idScope": "capture", "idSource": "derived"}
    found = scope(stream(usage, sid="a"), stream(usage, sid="b"))
    assert found.resolve("line/3").state == "ambiguous"
    copy = stream({"copiedFrom": {"session": "codex:a", "record": "line/3"}}, sid="c")
    found = scope(stream(usage, sid="a"), copy)
    assert shown(of_record(found, "r1", session="codex:c")[1])[2] == "capture-scoped"


def test_I_20_a_parent_and_its_subagents_are_three_sessions(tmp_path):
    """The session ID in every record is the parent's; the agent ID is the child's own."""
    (tmp_path / "S1.jsonl").write_bytes(claude(sessionId="S1", uuid="u0"))
    for agent in ("a1234567890abcdef", "b1234567890abcdef"):
        row = claude(sessionId="S1", agentId=agent, uuid=f"u{agent}", isSidechain=True)
        (tmp_path / f"agent-{agent}.jsonl").write_bytes(row)
    assert len(sr.Scope.read([tmp_path])) == 3


def test_I_22_nothing_newer_wins():
    """Two sessions of one ID are both kept, whatever their times and order."""
    one = stream(PROMPT_A | {"ts": "2026-01-01T00:00:00Z"}, sid="ao-84")
    two = stream(PROMPT_B | {"ts": "2027-01-01T00:00:00Z"}, sid="ao-84")
    for contents in ((one, two), (two, one)):
        (session,) = scope(*contents)
        assert len(session.accounts) == 2


def test_E_02_one_call_id_for_two_calls_is_ambiguous():
    """Two chains match, none is chosen, both records stay."""
    read = {"type": "tool_call", "callId": "SR_0", "name": "read"}
    link = {"type": "subagent", "callId": "SR_0", "childSession": "codex:x"}
    found = scope(stream(read, read | {"name": "write"}, link))
    assert shown(of_record(found, "r3")[0])[1:] == ("ambiguous", ["r1", "r2"])


def test_E_03_a_reused_call_id_is_ambiguous_in_a_reference():
    """The value is encoded in the reference, and means two calls."""
    call = {"type": "tool_call", "callId": "edit:22"}
    found = scope(stream(call | {"turnId": "1"}, call | {"turnId": "7"}))
    assert found.resolve("codex:s#callId=edit%3A22").state == "ambiguous"


def test_E_04_snapshots_are_one_chain():
    """The entity is the latest revision, the record ID exactly that record."""
    call = {"type": "tool_call", "callId": "c1"}
    found = scope(stream(call, call | {"supersedes": "r1"}))
    assert found.resolve("codex:s#callId=c1").first.id == "r2"
    assert found.resolve("codex:s#r1").first.id == "r1"


def test_E_10_a_pointer_to_a_record_that_was_never_written():
    """The pointer is kept and marked, and the session is not exact (ASR-080)."""
    found = scope(stream({"branchesFrom": {"record": "u7"}}, {"type": "note"}))
    (session,) = found
    (problem,) = found.problems()
    assert (problem.value, problem.exact, problem.required) == ("u7", False, True)
    account = session.accounts[0]
    assert not found.is_exact(session)
    rows = {hit.id: row for row, hit in enumerate(account.index)}
    assert not found.is_exact(account, rows["r1"])
    assert found.is_exact(account, rows["r2"])


def test_E_11_circles_end():
    """A circle of `supersedes`, and of sessions, is no loop of ours."""
    records = [{"id": "u1", "supersedes": "u2"}, {"id": "u2", "supersedes": "u1"}]
    ring = {"lineage": {"continues": {"session": "codex:t"}}}
    back = {"lineage": {"continues": {"session": "codex:s"}}}
    found = scope(stream(*records, **ring), stream(sid="t", **back))
    assert "supersedes-cycle" in codes(found)
    assert not found.is_exact(found.session("codex:s"))
    assert found.is_exact(found.session("codex:t"))


def test_E_13_a_repeated_native_ordinal_is_no_boundary():
    """An ordinal that the writer repeats maps to no record: a notice and no guess (ASR-409)."""
    ids = ["ordinal/2649", "ordinal/2650", "ordinal/2650/row/1", "ordinal/2651"]
    parent = stream(*({"id": i} for i in ids), sid="p")
    inherits = {"mode": "referenced", "from": "codex:p", "throughOrdinal": 2650}
    forked = {"session": "codex:p", "ordinal": 2651}
    found = scope(stream(lineage={"forkedFrom": forked, "inherits": inherits}), parent)
    by_path = {r.path: r for r in of_record(found, "h")}
    assert shown(by_path["$.lineage.forkedFrom.ordinal"])[1:] == ("resolved", ["ordinal/2651"])
    repeated = by_path["$.lineage.inherits.throughOrdinal"]
    assert shown(repeated)[1:] == ("ambiguous", ["ordinal/2650", "ordinal/2650/row/1"])
    assert not repeated.required


def test_E_16_a_message_and_a_model_call_of_one_value_are_two():
    """Values of different entity keys are never the same entity (ASR-066)."""
    found = scope(
        stream({"type": "message", "messageId": "x"}, {"type": "inference", "inferenceId": "x"})
    )
    assert found.resolve("codex:s#messageId=x").first.id == "r1"
    assert found.resolve("codex:s#inferenceId=x").first.id == "r2"


def test_T_01_a_turn_without_records_is_unresolved():
    """A copied turn ID in another member names no turn of this stream (ASR-075)."""
    found = scope(stream({"type": "usage", "covers": {"turnId": "p-9"}}))
    assert found.resolve("codex:s#turnId=p-9") == sr.Unresolved("no-such-turn", "codex:s")


def test_T_02_a_synthetic_turn_id_is_encoded():
    """Its colons are encoded in a reference, and it resolves to the records that carry it."""
    found = scope(stream({"turnId": "th1:fork-turn:2"}))
    assert found.resolve("codex:s#turnId=th1%3Afork-turn%3A2").first.id == "r1"


def test_T_04_a_turn_of_the_backing_session_is_named_by_the_state():
    """`state.executedBy` names the turn that was run for the wrapper, and no other."""
    wrapper = stream({"type": "state", "executedBy": ["codex:b#turnId=t1"]}, sid="w")
    backing = stream({"turnId": "t1"}, {"turnId": "t2"}, sid="b")
    found = scope(wrapper, backing)
    assert shown(of_record(found, "r1", session="codex:w")[0])[2] == ["r1"]


def test_X_10_link_loops_end(tmp_path):
    """A link to the folder above is walked once."""
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "loop").symlink_to("..")
    (tmp_path / "a.jsonl").write_bytes(stream(PROMPT_A))
    found = StreamScope.of([tmp_path])
    assert (len(found), codes(found)) == (1, [])


def test_X_11_a_shared_folder_counts_once(tmp_path):
    """The same file through two folders is one capture."""
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a.jsonl").write_bytes(stream(PROMPT_A))
    (tmp_path / "shared").symlink_to("real")
    (session,) = StreamScope.of([tmp_path / "shared", tmp_path / "real"])
    assert len(session.captures) == 1
