"""Claude Code transcripts: identity, record IDs, entities, model calls."""

from __future__ import annotations

import functools
import json
import operator
from typing import Any

import pytest
from native_rows import (
    OTHER,
    SESSION,
    Converted,
    assistant,
    convert,
    jsonl,
    tool_result,
    tool_use,
    user,
)

from sessionref.native import detect, read
from sessionref.native.claude_code.records import streams as read_transcript
from sessionref.native.claude_code.survey import survey_of
from sessionref.refs import EntityRef, RecordRef
from sessionref.streams.outcomes import Ambiguous, Resolved

VENDOR = "com.anthropic.claude-code."


# -- Which session -------------------------------------------------------------------------------


def test_header_says_what_the_rows_say():
    """The header carries identity, agent, producer, start and workspace. A plain session claims no lineage."""
    log = convert(user("u1"), assistant("a1"))
    header = log.header
    assert header["agent"] == {"name": "claude-code", "version": "2.1.210"}
    assert header["sessionId"] == SESSION
    assert "namespace" not in header
    assert header["formatVersion"] == "0.1"
    assert header["scope"] == "primary"
    assert header["startedAt"] == "2026-08-20T09:00:00.000Z"
    assert header["producer"]["name"] == "sessionref"
    assert header["producer"]["method"] == "converter"
    assert header["producer"]["source"] == {"format": "claude-code-jsonl"}
    assert header["producer"]["lossy"] == []
    assert header["workspace"]["roots"] == [
        {"id": "cwd", "path": "/home/user/app", "vcs": {"type": "git", "branch": "main"}}
    ]
    assert "lineage" not in header
    assert log.codes == []


def test_header_leaves_out_what_the_rows_do_not_say():
    """A member that no row has is absent, not made up."""
    log = convert({"type": "user", "sessionId": "s"})
    assert not {"startedAt", "workspace"} & set(log.header)
    assert log.header["agent"] == {"name": "claude-code"}
    assert "vcs" not in convert(user("u1", gitBranch="")).header["workspace"]["roots"][0]


def test_I_01_short_agent_ids_have_the_container_as_namespace():
    """Equal short IDs under two parents are two sessions (ASR-054)."""
    one = convert(user("u1", sessionId="S1", agentId="ab12cd3"))
    two = convert(user("u9", sessionId="S2", agentId="ab12cd3"))
    assert one.keys() == ["claude-code:S1:ab12cd3"]
    assert two.keys() == ["claude-code:S2:ab12cd3"]
    assert one.header["scope"] == "subagent"


@pytest.mark.parametrize(
    ("agent_id", "namespace"),
    [
        ("a1b2c3", "S"),
        ("A1B2C3D4", "S"),
        ("acompact-946d2b", "S"),
        ("a1b2c", None),
        ("a1b2c3d4e", None),
        ("a7c41e09b2d35f867", None),
        ("worker", None),
    ],
)
def test_only_ids_that_repeat_have_a_namespace(agent_id: str, namespace: str | None):
    """6 to 8 hexadecimal digits, and side agents of a compaction; all others stand alone."""
    header = convert(user("u1", sessionId="S", agentId=agent_id)).header
    assert header.get("namespace") == namespace
    assert header["sessionId"] == agent_id


def test_side_agents_of_a_compaction_claim_no_scope():
    """Such an agent was not delegated to, so it is not called a subagent (ASR-410)."""
    assert "scope" not in convert(user("u1", agentId="acompact-946d2b")).header


def test_I_02_the_folder_is_no_identity(tmp_path):
    """Two files of one name in two folders are told apart by their content alone (ASR-053)."""
    sessions = []
    for folder, rows in (("app", [user("u1")]), ("app-worktree", [user("u1"), user("u2")])):
        path = tmp_path / folder / "agent-x.jsonl"
        path.parent.mkdir()
        path.write_bytes(jsonl(*rows))
        sessions += [stream.header.session_id for stream in read(path, lambda _: None)]
    assert sessions == [SESSION, SESSION]


def test_I_07_ids_are_never_cut():
    """IDs that begin alike are two sessions, and file names made of their digests differ."""
    rows = (user("u1", agentId="agent-aa11"), user("u2", agentId="agent-aa22"))
    keys = [index.key for row in rows for index in convert(row).indexes]
    assert [key.session_id for key in keys if key] == ["agent-aa11", "agent-aa22"]
    assert len({key.file_stem() for key in keys if key}) == 2


def test_I_08_two_sessions_in_one_file():
    """Rows that another session appended belong to it, each session with its own stream."""
    log = convert(user("1", sessionId="A"), user("2", sessionId="B"), user("3", sessionId="A"))
    assert log.keys() == ["claude-code:A", "claude-code:B"]
    assert [[record["id"] for record in stream] for stream in log.streams] == [
        ["h", "1", "3"],
        ["h", "2"],
    ]
    assert [record["seq"] for record in log.streams[0]] == [0, 1, 2]


def test_I_14_the_rows_own_session_id_counts():
    """What another member says of the session is no identity (ASR-052, 072)."""
    log = convert(user("u1", env_session="A", sessionId="B"))
    assert log.keys() == ["claude-code:B"]


def test_I_20_subagents_that_carry_the_parents_id_are_sessions_of_their_own():
    """One parent and two subagents in one folder are three sessions (ASR-052)."""
    rows = (
        user("1", sessionId="S1"),
        user("2", sessionId="S1", agentId="aa11bb22cc33dd44e"),
        user("3", sessionId="S1", agentId="aa11bb22cc33dd44f"),
    )
    keys = functools.reduce(operator.iadd, (convert(row).keys() for row in rows), [])
    assert len(set(keys)) == 3
    assert convert(*rows).keys() == keys


def test_rows_without_any_session_id_follow_the_row_before():
    """A summary or a file snapshot stands with what precedes it, at the head with what follows."""
    snapshot = {"type": "file-history-snapshot", "messageId": "m", "snapshot": {}}
    log = convert(
        {"type": "summary", "summary": "s", "leafUuid": "l"},
        user("1", sessionId="A"),
        user("2", sessionId="B"),
        snapshot,
    )
    assert [[record["type"] for record in stream[1:]] for stream in log.streams] == [
        [VENDOR + "summary", "message"],
        ["message", VENDOR + "file-history-snapshot"],
    ]


def test_leading_rows_that_the_files_own_rows_hang_on_are_its_copied_head():
    """An old resume copies its first row under the old session ID; that is no second session."""
    log = convert(
        {"type": "summary", "summary": "s", "leafUuid": "a1"},
        user("u1", sessionId=OTHER),
        assistant("a1", parentUuid="u1"),
        user("u2", parentUuid="a1"),
    )
    assert log.keys() == [f"claude-code:{SESSION}"]
    assert [record["id"] for record in log.records[:2]] == ["line/1", "u1"]


def test_a_head_is_one_although_a_row_without_uuid_comes_first():
    """Rows that stand in no chain leave the question open."""
    log = convert(
        user("u1", sessionId=OTHER),
        {"type": "mode", "mode": "default", "sessionId": SESSION},
        user("u2", parentUuid="u1"),
    )
    assert log.keys() == [f"claude-code:{SESSION}"]
    assert len(log.records) == 3


def test_rows_of_the_head_session_after_own_rows_are_its_own():
    """Only what leads is a copied head; what follows belongs to the session that it names."""
    log = convert(
        user("u1", sessionId=OTHER), user("u2", parentUuid="u1"), user("u3", sessionId=OTHER)
    )
    assert [[r["id"] for r in stream[1:]] for stream in log.streams] == [["u1", "u2"], ["u3"]]
    assert log.keys() == [f"claude-code:{SESSION}", f"claude-code:{OTHER}"]


def test_no_head_where_the_first_session_goes_on_before_anything_hangs_on_it():
    """Interleaved sessions are two sessions, whatever a later row hangs on."""
    log = convert(
        user("u1", sessionId=OTHER),
        {"type": "mode", "mode": "default", "sessionId": SESSION},
        user("u3", sessionId=OTHER),
        user("u2", parentUuid="u1"),
    )
    assert log.keys() == [f"claude-code:{OTHER}", f"claude-code:{SESSION}"]


def test_a_third_session_is_no_heir():
    """Only the first two sessions of a file can be a head and its heir."""
    log = convert(
        user("u1", sessionId="A"),
        user("u2", sessionId="B"),
        user("u3", sessionId="C", parentUuid="u1"),
    )
    assert log.keys() == ["claude-code:A", "claude-code:B", "claude-code:C"]


def test_a_row_written_again_after_the_head_is_seen():
    """Record IDs of the copied head and of the own rows are one space."""
    head = user("u1", sessionId=OTHER)
    log = convert(head, user("u2", parentUuid="u1"), user("u1", parentUuid="u2"))
    assert log.codes == ["record-id-conflict"]


def test_inline_sidechains_stay_in_the_parents_session():
    """Rows of version 1.0 sidechains have no agent ID, so nothing names a session of their own."""
    log = convert(user("u1"), user("s1", isSidechain=True, version="1.0.60"))
    assert log.keys() == [f"claude-code:{SESSION}"]
    assert [record["id"] for record in log.records] == ["u1", "s1"]


def test_embedded_messages_of_progress_rows_make_no_records():
    """They are the subagent's; its own file has them."""
    inner = {"type": "assistant", "uuid": "x", "message": {"id": "msg_x", "content": []}}
    data = {"type": "agent_progress", "agentId": "ab12cd3", "message": inner}
    row = {"type": "progress", "uuid": "p1", "sessionId": SESSION, "data": data}
    log = convert(user("u1"), row)
    assert [record["type"] for record in log.records] == [
        "message",
        VENDOR + "progress",
        "subagent",
    ]


def test_a_session_id_that_repeats_the_agent_id_changes_nothing():
    """Some writers put `agent-<id>` into the session ID of a subagent's rows."""
    log = convert(user("u1", sessionId="agent-a0ad4f44468bdf20d", agentId="a0ad4f44468bdf20d"))
    assert log.keys() == ["claude-code:a0ad4f44468bdf20d"]


def test_a_short_agent_id_whose_container_stands_on_another_row():
    """A first row without session ID joins the session of the only container that is named."""
    reference = {"type": "fork-context-ref", "agentId": "ab12cd3", "parentSessionId": "P"}
    log = convert({**reference, "uuid": "r1"}, user("u1", sessionId="S", agentId="ab12cd3"))
    assert log.keys() == ["claude-code:S:ab12cd3"]
    assert [record["id"] for record in log.records] == ["r1", "u1"]


def test_a_short_agent_id_without_any_container_has_no_session():
    """No namespace is made up (ASR-054, 055): one finding, and the rest is read."""
    reference = {"type": "fork-context-ref", "agentId": "ab12cd3", "parentSessionId": "P"}
    alone = convert(reference, reference)
    assert (alone.streams, alone.codes) == ([], ["no-namespace"])
    two = convert(
        reference,
        user("u1", sessionId="S", agentId="ab12cd3"),
        user("u2", sessionId="T", agentId="ab12cd3"),
    )
    assert two.codes == ["no-namespace"]
    assert sum(map(len, two.streams)) == 4


def test_a_file_without_a_session_gives_no_stream_and_one_finding():
    """A file of summaries names no session."""
    log = convert({"type": "summary", "summary": "s", "leafUuid": "l"})
    assert log.streams == []
    assert log.codes == ["no-session"]
    assert log.findings[0].rule == "ASR-051"


def test_R_17_a_session_id_with_a_lone_surrogate_has_no_reference():
    """It is reported in an escaped form, and the other sessions are read."""
    bad = '{"type":"user","uuid":"u%d","sessionId":"s\\ud800","message":{"content":"x"}}'
    log = convert(bad % 1, bad % 2, user("u3"))
    assert log.codes == ["lone-surrogate"]
    assert "s\\ud800" in log.findings[0].message
    assert log.findings[0].rule == "ASR-060"
    assert log.keys() == [f"claude-code:{SESSION}"]
    alone = convert('{"type":"summary","leafUuid":"x"}', bad % 1)
    assert (alone.streams, alone.codes) == ([], ["lone-surrogate"])


def test_a_session_id_of_another_type_is_none():
    """The row is not given to the session before it."""
    log = convert(user("u1"), user("u2", sessionId=42))
    assert [record["id"] for record in log.records] == ["u1"]
    assert [(f.code, f.path, f.line) for f in log.findings] == [("bad-member", "$.sessionId", 2)]


# -- Record IDs ----------------------------------------------------------------------------------


def test_first_record_carries_the_native_id_and_the_others_a_place_in_the_row():
    """`<uuid>/<type>/<n>`, marked as derived; n is the block's index."""
    log = convert(
        assistant(
            "a1", "msg_1", {"type": "text", "text": "x"}, tool_use("toolu_1"), tool_use("toolu_2")
        )
    )
    assert [(r["id"], r["type"], r.get("idSource")) for r in log.records] == [
        ("a1", "message", None),
        ("a1/inference/0", "inference", "derived"),
        ("a1/tool_call/1", "tool_call", "derived"),
        ("a1/tool_call/2", "tool_call", "derived"),
    ]
    assert not any("idScope" in record for record in log.records)


def test_rows_without_native_id_are_named_by_their_line_for_this_capture():
    """Positions that the source may rewrite hold for one capture (ASR-070)."""
    log = convert(user("u1"), assistant(None, None, request=None, model=None))
    message, inference = log.records[1:]
    assert (message["id"], message["messageId"]) == ("line/2", "line/2")
    assert inference["inferenceId"] == inference["id"] == "line/2/inference/0"
    for record in (message, inference):
        assert (record["idSource"], record["idScope"]) == ("derived", "capture")


@pytest.mark.parametrize("uuid", ["a=b", "a/b", "h"])
def test_native_ids_that_cannot_be_record_ids_stay_entity_keys(uuid: str):
    """`=` makes an entity ref, `/` a derived ID, and `h` is the header's."""
    (record,) = convert(user(uuid)).records
    assert (record["id"], record["messageId"]) == ("line/1", uuid)
    assert (record["idSource"], record["messageIdSource"]) == ("derived", "native")


def test_an_empty_uuid_is_no_identity():
    """Absent and empty are the same: nothing names the row."""
    (record,) = convert(user("")).records
    assert (record["id"], record["messageId"]) == ("line/1", "line/1")
    assert "messageIdSource" not in record


def test_E_01_a_row_written_again_with_other_bookkeeping_is_a_conflict():
    """Two rows of one uuid whose content differs are two records; the call is ambiguous."""
    log = convert(
        assistant("u1", "m1", tool_use("toolu_x")),
        assistant("u1", "m1", tool_use("toolu_x"), slug="later"),
    )
    assert log.codes == ["record-id-conflict"]
    finding = log.findings[0]
    assert (finding.rule, finding.severity, finding.line, finding.id) == (
        "ASR-017",
        "warning",
        2,
        "u1/row/1",
    )
    first, second = log.of("message")
    assert (first["id"], first["messageId"]) == ("u1", "u1")
    assert (second["id"], second["messageId"]) == ("u1/row/1", "u1/row/1")
    assert (second["idSource"], second["idScope"]) == ("derived", "capture")
    assert second["native"]["id"] == "u1"
    assert [call["callId"] for call in log.of("tool_call")] == ["toolu_x", "toolu_x"]
    assert isinstance(log.index.resolve(EntityRef("callId", "toolu_x")), Ambiguous)
    assert isinstance(log.index.resolve(EntityRef("messageId", "u1")), Resolved)


def test_a_row_written_again_with_the_same_content_is_the_same_record():
    """It is kept, names the first writing, and gives no second entity and no second call."""
    row = assistant("a1", "m1", tool_use("toolu_x"), output=9)
    again = {"forkedFrom": {"sessionId": OTHER, "messageUuid": "a1"}, **dict(reversed(row.items()))}
    log = convert(row, assistant("a2", "m1", output=12), again, row)
    assert log.codes == []
    repeats = log.of(VENDOR + "repeated-row")
    assert [(r["id"], r["native"]["repeats"]) for r in repeats] == [
        ("a1/row/1", "a1"),
        ("a1/row/2", "a1"),
    ]
    outcome = log.index.resolve(EntityRef("inferenceId", "m1"))
    assert isinstance(outcome, Resolved)
    assert outcome.first.id == "a2/inference/0"
    assert isinstance(log.index.resolve(EntityRef("callId", "toolu_x")), Resolved)


def test_a_conflicting_row_written_again_repeats_itself():
    """Each content has its own first writing."""
    log = convert(user("u1", "a"), user("u1", "b"), user("u1", "b"), user("u1", "c"))
    assert log.codes == ["record-id-conflict", "record-id-conflict"]
    assert [record["id"] for record in log.records] == ["u1", "u1/row/1", "u1/row/2", "u1/row/3"]
    assert log.records[2]["native"]["repeats"] == "u1/row/1"


def test_equal_ids_in_two_sessions_of_a_file_are_no_conflict():
    """Record IDs are unique within a stream (ASR-017)."""
    log = convert(user("u1", sessionId="A"), user("u1", sessionId="B"))
    assert log.codes == []


def test_E_14_history_written_again_under_fresh_ids_stays_separate():
    """Equal text is no proof that two records are one (ASR-414)."""
    log = convert(user("u1", "m1"), user("u2", "m1"), user("u3", "m2"))
    assert [record["messageId"] for record in log.records] == ["u1", "u2", "u3"]


# -- Entities ------------------------------------------------------------------------------------


def test_messages_hold_the_content_verbatim():
    """Role and content as written; a tool result points at its call and has no key of its own."""
    log = convert(user("u1", "Say  hi\u2028"), user("u2", [tool_result("toolu_1")]))
    first, second, result = log.records
    assert (first["role"], first["content"]) == ("user", "Say  hi\u2028")
    assert second["content"] == [tool_result("toolu_1")]
    assert (result["type"], result["callId"], result["content"]) == (
        "tool_result",
        "toolu_1",
        "main.py",
    )
    assert log.index.resolve(EntityRef("callId", "toolu_1")).state == "unresolved"


def test_the_role_is_the_rows_type_where_the_message_has_none():
    """A message without a role still says who wrote it: its row."""
    assert convert(user("u1", message={"content": "x"})).records[0]["role"] == "user"


def test_tool_calls_carry_name_and_input_and_point_at_their_model_call():
    """The model call behind a message and its tool calls stands in their envelope."""
    log = convert(assistant("a1", "msg_1", tool_use("toolu_1", "Agent")))
    message, inference, call = log.records
    assert (call["callId"], call["name"], call["input"]) == ("toolu_1", "Agent", {"command": "ls"})
    assert message["inferenceId"] == call["inferenceId"] == inference["inferenceId"] == "msg_1"
    assert "callIdSource" not in call


def test_a_tool_call_without_id_gets_a_derived_one():
    """ASR-065 asks for a key, ASR-067 for the mark."""
    log = convert(
        assistant("a1", "m1", tool_use(None)), user("u1", [tool_result(None), {"type": 7}, "x"])
    )
    (call,) = log.of("tool_call")
    assert (call["callId"], call["callIdSource"]) == ("a1/tool_call/0", "derived")
    (result,) = log.of("tool_result")
    assert "callId" not in result
    assert [finding.path for finding in log.findings] == [
        "$.message.content[1].type",
        "$.message.content[2]",
    ]


def test_server_side_tools_are_tools():
    """Blocks of tools that the provider runs have the same shape under longer names."""
    log = convert(
        assistant(
            "a1",
            "m1",
            {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}},
            {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []},
        )
    )
    assert [r["callId"] for r in log.of("tool_call") + log.of("tool_result")] == ["srvtoolu_1"] * 2


def test_E_02_E_03_one_call_id_for_two_calls_is_ambiguous():
    """Both records stay; neither is chosen by position (ASR-064)."""
    log = convert(
        assistant("a1", "m1", tool_use("edit:22", "read")),
        assistant("a7", "m7", tool_use("edit:22", "write"), request="req_7"),
    )
    outcome = log.index.resolve(EntityRef("callId", "edit:22"))
    assert isinstance(outcome, Ambiguous)
    assert len(outcome.candidates) == 2


def test_E_16_a_message_and_a_model_call_of_one_name_are_two_entities():
    """Values of different keys are never compared (ASR-066)."""
    log = convert(assistant("x", "x"))
    assert log.index.resolve(EntityRef("messageId", "x")).first.id == "x"
    assert log.index.resolve(EntityRef("inferenceId", "x")).first.id == "x/inference/0"


def test_compactions_get_a_derived_key_and_claim_no_replacement():
    """The source names no compaction and does not list what it replaced (ASR-067, 079)."""
    boundary = {
        "type": "system",
        "subtype": "compact_boundary",
        "uuid": "c1",
        "sessionId": SESSION,
        "compactMetadata": {"trigger": "manual", "preTokens": 9},
    }
    log = convert(user("u1"), boundary, {**boundary, "uuid": "c2", "compactMetadata": "x"})
    first, second = log.of("compaction")
    assert (first["id"], first["compactionId"], first["idSource"]) == ("c1", "c1", "derived")
    assert first["replaces"] == {"state": "unknown"}
    assert first["trigger"] == "manual"
    assert "trigger" not in second
    bare = {name: value for name, value in boundary.items() if name != "compactMetadata"}
    assert "trigger" not in convert(bare).records[0]
    assert log.index.resolve(EntityRef("compactionId", "c1")).state == "resolved"


def test_rows_of_every_other_type_are_kept_under_a_vendor_type():
    """Each row gives at least one record, with the row itself."""
    rows = [
        {"type": "custom-title", "customTitle": "t", "sessionId": SESSION},
        {"type": "system", "subtype": "turn_duration", "uuid": "s1", "sessionId": SESSION},
        {"type": "never seen", "uuid": "n1", "sessionId": SESSION},
        {"uuid": "n2", "sessionId": SESSION},
        user("u1", message="error"),
    ]
    log = convert(*rows)
    assert [record["type"] for record in log.records] == [
        VENDOR + "custom-title",
        VENDOR + "system",
        VENDOR + "never seen",
        VENDOR + "row",
        VENDOR + "user",
    ]
    assert [record["native"]["row"] for record in log.records[:4]] == rows[:4]
    assert [(f.code, f.path, f.line) for f in log.findings] == [("bad-member", "$.message", 5)]


# -- Model calls ---------------------------------------------------------------------------------


def test_E_05_E_07_snapshots_of_one_call_are_one_entity_and_the_latest_counts():
    """One line for each block, with growing counts: one chain, whose last record is the call."""
    log = convert(
        assistant("a1", "m1", request="q1", output=1),
        assistant("a2", "m1", request="q1", output=1),
        assistant("a3", "m1", request="q1", output=260),
    )
    calls = log.of("inference")
    assert [call.get("supersedes") for call in calls] == [None, "a1/inference/0", "a2/inference/0"]
    outcome = log.index.resolve(EntityRef("inferenceId", "m1"))
    assert isinstance(outcome, Resolved)
    assert outcome.first.id == "a3/inference/0"
    assert calls[-1]["usage"] == {
        "inputTokens": 4,
        "cacheReadTokens": 2000,
        "cacheWriteTokens": 100,
        "outputTokens": 260,
    }
    assert calls[-1]["inferenceIdSource"] == "native"
    assert [call["requestId"] for call in calls] == ["q1"] * 3
    assert log.index.findings == ()


def test_E_04_a_record_ref_names_one_snapshot_and_an_entity_ref_the_latest():
    """A record ID means exactly that revision (ASR-063, 064)."""
    log = convert(assistant("a1", "m1"), assistant("a2", "m1"))
    assert log.index.resolve(RecordRef("a1/inference/0")).first.id == "a1/inference/0"


def test_E_06_the_whole_latest_snapshot_is_taken():
    """Model and counts of one snapshot are never mixed with another's."""
    log = convert(
        assistant("a1", "m1", model="A", output=900), assistant("a2", "m1", model="B", output=260)
    )
    latest = log.of("inference")[-1]
    assert (latest["model"], latest["usage"]["outputTokens"]) == ({"id": "B"}, 260)


@pytest.mark.parametrize("empty", [..., None, {}, {"service_tier": "standard"}])
@pytest.mark.parametrize("content", [True, False])
def test_a_row_without_counts_keeps_those_of_its_call(empty: Any, content: bool):
    """The counts of a call are those of its latest row that has any, on its latest record."""
    last = assistant("a3", "m1", tool_use("t1"))
    if empty is ...:
        del last["message"]["usage"]
    else:
        last["message"]["usage"] = empty
    log = convert(
        assistant("a1", "m1", output=3), assistant("a2", "m1", output=41), last, content=content
    )
    calls = log.of("inference")
    assert [call["usage"]["outputTokens"] for call in calls] == [3, 41, 41]
    assert calls[-1]["usage"]["cacheReadTokens"] == 2000


def test_a_call_that_no_row_counts_has_no_counts():
    """What no row of a call counts is absent; another call's counts are not taken."""
    bare = assistant("a2", "m2", request="q2")
    del bare["message"]["usage"]
    calls = convert(assistant("a1", "m1"), bare).of("inference")
    assert ["usage" in call for call in calls] == [True, False]


def test_E_08_without_request_id_the_message_id_joins():
    """An absent request ID is no key: not the empty string, not equal to another absence."""
    log = convert(
        assistant("a1", "m1", request=None),
        assistant("a2", "m1", request=None),
        assistant("a3", "m1", request="q1"),
        assistant("a4", "m1", request=None),
        assistant("a5", None, request=None),
        assistant("a6", None, request=None),
    )
    calls = log.of("inference")
    assert [call.get("supersedes") for call in calls] == [
        None,
        "a1/inference/0",
        "a2/inference/0",
        "a3/inference/0",
        None,
        None,
    ]
    assert "native" not in calls[0]
    assert [call["inferenceId"] for call in calls[4:]] == ["a5/inference/0", "a6/inference/0"]
    assert all(call["idSource"] == "derived" for call in calls)
    assert "inferenceIdSource" not in calls[4]


def test_two_requests_of_one_message_are_two_calls():
    """The log uses one ID for two calls, so the ref is ambiguous; a third row joins neither."""
    log = convert(
        assistant("a1", "m1", request="q1"),
        assistant("a2", "m1", request="q2"),
        assistant("a3", "m1", request=None),
        assistant("a4", "m1", request="q2"),
    )
    assert [call.get("supersedes") for call in log.of("inference")] == [
        None,
        None,
        None,
        "a2/inference/0",
    ]
    assert isinstance(log.index.resolve(EntityRef("inferenceId", "m1")), Ambiguous)


def test_a_call_that_only_its_request_names_is_derived_from_that():
    """The message ID is the inference ID; a request ID alone gives a derived one (ASR-073)."""
    log = convert(assistant("a1", None, request="q1"), assistant("a2", None, request="q1"))
    first, second = log.of("inference")
    assert first["inferenceId"] == second["inferenceId"] == "request/q1"
    assert second["supersedes"] == first["id"]
    assert "inferenceIdSource" not in first


def test_rows_that_show_no_call_give_none():
    """Synthetic models call nothing; neither does a row without ID, model and counts."""
    bare = {"role": "assistant", "content": [{"type": "text", "text": "x"}]}
    log = convert(
        assistant("a1", "m1", model="<synthetic>", isApiErrorMessage=True),
        assistant("a2", request=None, message=bare),
        user("u1", message={"id": "m9", "role": "user", "content": "x"}, requestId="q9"),
    )
    assert [record["type"] for record in log.records] == ["message"] * 3
    assert not any("inferenceId" in record for record in log.records)


def test_counts_that_the_row_does_not_give_are_absent():
    """Absent is not zero."""
    message = {"id": "m1", "role": "assistant", "content": "x", "usage": {"output_tokens": 3}}
    (call,) = convert(assistant("a1", message=message)).of("inference")
    assert call["usage"] == {"outputTokens": 3}
    assert "model" not in call
    del message["usage"]
    (call,) = convert(assistant("a1", message=message)).of("inference")
    assert "usage" not in call


@pytest.mark.parametrize(
    ("cost", "amount"),
    [
        ("0.125", "0.125"),
        ("1e-05", "0.00001"),
        ("-2", "-2"),
        ('"0.1"', None),
        ("1e400", None),
        ("null", None),
    ],
)
def test_costs_are_decimal_strings(cost: str, amount: str | None):
    """The number as it is written, never by way of a float."""
    row = json.dumps(assistant("a1"))[:-1] + f', "costUSD": {cost}}}'
    (call,) = convert(row).of("inference")
    expected = None if amount is None else [{"amount": amount, "currency": "USD"}]
    assert call.get("cost") == expected


# -- Content and determinism ---------------------------------------------------------------------


def test_nothing_of_a_row_is_lost():
    """The first record of each row holds the row, byte for byte; the others do not repeat it."""
    row = '{"type":"assistant",  "uuid":"a1","sessionId":"s","x":1.50,"message":{"id":"m","content":[]}}'
    records = [record for stream in read([row.encode() + b"\n"], print) for record in stream]
    assert bytes(records[1].native.row) == row.encode()
    assert records[2].native is None


def test_without_content_identity_calls_and_usage_remain():
    """`content=False` leaves out the text and the native rows, and the header says so."""
    rows = (user("u1"), assistant("a1", "m1", tool_use("t1")), user("u2", [tool_result("t1")]))
    lean, full = convert(*rows, content=False), convert(*rows)
    assert lean.header["producer"]["lossy"] == ["content"]
    assert lean.header["contentLevel"] == "metadata"
    assert [(r["type"], r["id"]) for r in lean.records] == [
        (r["type"], r["id"]) for r in full.records
    ]
    assert not any({"content", "input"} & set(record) for record in lean.records)
    assert b"Fix the parser" not in lean.text


def test_the_same_bytes_give_the_same_streams():
    """Derivation is deterministic (ASR-069)."""
    data = jsonl(user(None), assistant("a1"), user("u1", "x"), user("u1", "y"))
    assert Converted(data).text == Converted(data).text


def test_every_record_entity_and_turn_resolves():
    """What our reader writes, our index takes, with nothing to say about it."""
    log = convert(
        user("u1"), assistant("a1", "m1", tool_use("t1")), user("u2", [tool_result("t1")])
    )
    assert log.index.findings == ()
    for ref in log.index.refs():
        assert log.index.resolve(ref).state == "resolved", ref


def test_a_file_that_changes_between_the_passes_raises_nothing():
    """Rows of a session that the first pass did not see are passed over."""
    contents = iter([[user("u1")], [user("u1"), user("u2", sessionId=OTHER), "{", user("u3")]])

    def lines(_report):
        return [(n, json.dumps(r).encode()) for n, r in enumerate(next(contents), 1)]

    stream = next(read_transcript(survey_of(lines, "x", print), lines, "x", print))
    assert [record.id for record in stream.records] == ["u1", "u3"]


def test_streams_come_one_after_the_other_even_where_records_are_left_unread():
    """Asking for the next stream reads the rest of the one before."""
    data = jsonl(user("1", sessionId="A"), user("2", sessionId="B"), user("3", sessionId="A"))
    first, second = [
        (stream.header.session_id, [r.id for r in stream.records] if number else [])
        for number, stream in enumerate(read([data], print))
    ]
    assert (first, second) == (("A", []), ("B", ["2"]))


def test_many_sessions_in_one_file_are_read_in_two_passes():
    """The cost does not grow with the number of sessions."""
    passes = 0
    rows = [json.dumps(user(f"u{n}", sessionId=f"s{n}")).encode() for n in range(300)]

    def lines(_report):
        nonlocal passes
        passes += 1
        return enumerate(rows, 1)

    sessions = [
        s.header.session_id
        for s in read_transcript(survey_of(lines, "x", print), lines, "x", print)
        if list(s)
    ]
    assert sessions == [f"s{n}" for n in range(300)]
    assert passes == 2


def test_the_line_of_each_record_is_known():
    """A stream says in which line of the log the last record stands."""
    streams = read([jsonl(user("u1"), {}, assistant("a1"))], print)
    stream = next(streams)
    places = [(record.id, stream.line) for record in stream]
    assert places == [("h", 0), ("u1", 1), ("line/2", 2), ("a1", 3), ("a1/inference/0", 3)]


def test_detect_takes_transcripts_by_what_their_rows_hold():
    """Any row of Claude Code's that stands near the head tells."""
    for row in (
        user("u1"),
        {"type": "summary", "leafUuid": "x"},
        {"type": "file-history-snapshot", "snapshot": {}},
        {"type": "fork-context-ref", "agentId": "a", "parentSessionId": "p"},
        {"type": "mode", "sessionId": "s"},
    ):
        assert detect(jsonl({"silly": 1}, 42, "not json", row)) == "claude-code"


def test_rows_that_are_written_again_are_compared_whatever_they_hold():
    """Bytes that are no UTF-8 are compared too; what is nested too deeply is no row."""
    bad = json.dumps(user("u1", "?")).encode().replace(b"?", b"\xff")
    deep = json.dumps(user("u2", "?")).encode()
    deep = deep.replace(b'"?"', b"[" * 100_000 + b"]" * 100_000)
    log = Converted(jsonl(bad, bad, deep), content=False)
    assert [record["type"] for record in log.records] == ["message", VENDOR + "repeated-row"]
    assert log.codes == ["too-deep"]


def test_rows_that_cannot_be_compared_by_value_are_compared_by_bytes(monkeypatch):
    """Where the nesting is too deep for one decoder and not for the other."""

    def too_deep(*_args, **_kwargs):
        raise RecursionError

    found = []
    data = jsonl(user("u1"), user("u1"), user("u1", "Other words."))
    monkeypatch.setattr(json, "loads", too_deep)
    (kinds,) = ([r.type for r in s.records] for s in read([data], found.append))
    assert kinds == ["message", VENDOR + "repeated-row", "message"]
    assert [finding.code for finding in found] == ["record-id-conflict"]
