"""Codex rollouts: identity, record IDs, turns, entities, model calls."""

from __future__ import annotations

from typing import Any

import pytest
from native_rows import convert, counts, jsonl, meta, rollout, token_count

from sessionref.native import detect, read
from sessionref.refs import EntityRef, TurnRef
from sessionref.streams.outcomes import Ambiguous

VENDOR = "com.openai.codex."


def item(kind: str, **members: Any) -> dict[str, Any]:
    return rollout("response_item", {"type": kind, **members})


def event(kind: str, **members: Any) -> dict[str, Any]:
    return rollout("event_msg", {"type": kind, **members})


def turn_context(turn: str, **members: Any) -> dict[str, Any]:
    return rollout("turn_context", {"turn_id": turn, **members})


# -- Which session -------------------------------------------------------------------------------


def test_header_says_what_the_first_meta_says():
    """Identity, version, start, workspace; of lineage only that nothing was inherited."""
    log = convert(
        meta(
            "t1",
            timestamp="2026-08-20T08:00:00.000Z",
            cwd="/home/user/app",
            cli_version="0.153.4",
            git={"branch": "main", "commit_hash": "0"},
        )
    )
    header = log.header
    assert header["agent"] == {"name": "codex", "version": "0.153.4"}
    assert header["sessionId"] == "t1"
    assert header["startedAt"] == "2026-08-20T08:00:00.000Z"
    assert header["producer"]["source"] == {"format": "codex-rollout"}
    assert header["workspace"]["roots"][0]["vcs"] == {"type": "git", "branch": "main"}
    assert header["lineage"] == {"inherits": {"mode": "none", "evidence": "native_structure"}}
    assert log.codes == []


def test_I_10_the_first_meta_names_the_session():
    """A later one is copied history and renames nothing."""
    log = convert(
        meta("C", forked_from_id="P"),
        meta("P"),
        token_count(counts(10), counts(10)),
        turn_context("t1"),
    )
    assert log.keys() == ["codex:C"]
    assert [record["type"] for record in log.records[:2]] == [VENDOR + "session_meta"] * 2


def test_I_11_the_root_of_the_agent_tree_is_no_identity():
    """`id` is the thread's own ID, `session_id` the root's."""
    source = {"subagent": {"thread_spawn": {"parent_thread_id": "P", "depth": 1}}}
    log = convert(meta("C", session_id="P", parent_thread_id="P", source=source))
    assert log.keys() == ["codex:C"]
    assert log.header["scope"] == "subagent"


@pytest.mark.parametrize(
    ("members", "scope"),
    [
        ({"thread_source": "user", "source": "unheard of"}, "primary"),
        ({"source": "vscode"}, "primary"),
        ({"thread_source": "subagent"}, "subagent"),
        ({"thread_source": "guardian_review", "source": "cli"}, "subagent"),
        ({"source": {"subagent": "review"}}, "subagent"),
        ({"source": {"other": 1}}, None),
        ({"source": "unknown"}, None),
        ({"source": None}, None),
    ],
)
def test_scope_is_what_the_source_says(members: dict[str, Any], scope: str | None):
    """Scope is set from the source, never from a parent or a role (ASR-410)."""
    assert convert(meta("C", parent_thread_id="P", **members)).header.get("scope") == scope


def test_I_13_an_archived_rollout_is_the_same_session(tmp_path):
    """Moving a file changes neither its key nor its record IDs (ASR-053)."""
    data = jsonl(meta("X"), item("message", role="user", content=[]))
    streams = []
    for folder in ("sessions/2026/01/01", "archived_sessions"):
        path = tmp_path / folder / "rollout-x.jsonl"
        path.parent.mkdir(parents=True)
        path.write_bytes(data)
        streams.append([record.id for stream in read(path, print) for record in stream])
    assert streams[0] == streams[1]


def test_I_19_ids_do_not_hold_the_file_name(tmp_path):
    """Equal rows in two files have equal IDs; whether one is a copy is not said by that."""
    data = jsonl(meta("X"), turn_context("t"), token_count(counts(5), counts(5)))
    ids = []
    for name in ("a.jsonl", "b.jsonl"):
        (tmp_path / name).write_bytes(data)
        ids.append([r.id for s in read(tmp_path / name, print) for r in s])
    assert ids[0] == ids[1] == ["h", "line/1", "line/2", "line/3"]


def test_L_17_any_originator_is_codex():
    """An app that drives Codex names itself there; that is no other agent (ASR-050)."""
    assert convert(meta("X", originator="t3code_desktop")).keys() == ["codex:X"]


@pytest.mark.parametrize(
    "rows",
    [
        [event("task_started", turn_id="t")],
        [rollout("session_meta", {"cwd": "/x"}), event("task_started")],
        [rollout("session_meta", "x")],
        [rollout("session_meta", {"cwd": "/x"}), meta("P")],
        [{"id": "x", "timestamp": "2025-06-01T00:00:00Z", "instructions": None}],
    ],
)
def test_a_rollout_without_a_named_session_gives_no_stream_and_one_finding(rows: list[Any]):
    """A copied meta is not asked where the first one names nothing."""
    log = convert(event("turn.completed"), *rows) if "id" not in rows[0] else convert(*rows)
    assert (log.streams, log.codes) == ([], ["no-session"])


def test_a_thread_id_that_cannot_be_one_is_the_only_finding():
    """A lone surrogate, or a number, where the ID should be."""
    surrogate = convert('{"type":"session_meta","payload":{"id":"t\\udcff"}}')
    assert (surrogate.streams, surrogate.codes) == ([], ["lone-surrogate"])
    number = convert(rollout("session_meta", {"id": 7}))
    assert [(f.code, f.path) for f in number.findings] == [("bad-member", "$.payload.id")]


# -- Record IDs ----------------------------------------------------------------------------------


def test_records_are_named_by_ordinal_or_line():
    """Ordinals hold in every capture; lines in one, since the source may rewrite them (ASR-070)."""
    log = convert(meta("t", ordinal=10), rollout("world_state", {}, 11), rollout("world_state", {}))
    assert [record["id"] for record in log.records] == ["ordinal/10", "ordinal/11", "line/3"]
    assert all(record["idSource"] == "derived" for record in log.records)
    assert [record.get("idScope") for record in log.records] == [None, None, "capture"]


def test_E_13_a_repeated_ordinal_names_its_first_row_only():
    """The rows that repeat it are told apart by their number."""
    rows = [rollout("world_state", {}, ordinal) for ordinal in (2650, 2650, 2650, 2651)]
    log = convert(meta("t", ordinal=2649), *rows)
    assert [record["id"] for record in log.records] == [
        "ordinal/2649",
        "ordinal/2650",
        "ordinal/2650/row/1",
        "ordinal/2650/row/2",
        "ordinal/2651",
    ]
    assert log.index.findings == ()


def test_I_17_equal_times_are_no_identity():
    """Rows of one instant are told apart by position (ASR-068)."""
    log = convert(meta("t"), event("user_message"), event("user_message"))
    assert len({record["id"] for record in log.records}) == 3


# -- Turns ---------------------------------------------------------------------------------------


def test_a_turn_lasts_from_the_row_that_opens_it_to_the_one_that_closes_it():
    """Rows between carry it in the envelope; rows outside any turn carry none."""
    log = convert(
        meta("t"),
        event("task_started", turn_id="t1"),
        item("message", role="user"),
        event("task_complete", turn_id="t1"),
        event("thread_name_updated"),
        turn_context("t2"),
        item("message", role="user"),
        turn_context("t3"),
        event("turn_aborted", turn_id="t3"),
        item("message", role="user"),
    )
    turns = [record.get("turnId") for record in log.records]
    assert turns == [None, "t1", "t1", "t1", None, "t2", "t2", "t3", "t3", None]
    outcome = log.index.resolve(TurnRef("t1"))
    assert [hit.id for hit in outcome.records] == ["line/2", "line/3", "line/4"]


def test_a_row_that_names_its_own_turn_is_in_that():
    """Wherever the source writes it: on the payload, in either spelling, or passed through."""
    passed = {"internal_chat_message_metadata_passthrough": {"turn_id": "t3"}}
    log = convert(
        meta("t"),
        turn_context("t0"),
        event("exec_command_end", turn_id="t1", call_id="c"),
        event("dynamic_tool_call_request", turnId="t2", callId="c"),
        item("message", role="user", **passed),
    )
    assert [record["turnId"] for record in log.records[1:]] == ["t0", "t1", "t2", "t3"]
    assert [record["callId"] for record in log.records[2:4]] == ["c", "c"]


def test_T_01_a_turn_that_no_row_carries_is_unresolved():
    """Usage under a turn names it; nothing else does (ASR-075)."""
    log = convert(meta("t"), token_count(counts(5), counts(5)))
    assert log.index.resolve(TurnRef("p-9")).state == "unresolved"
    usage = {"turn_id": "p-9", "response_id": "resp_1", "usage": counts(5)}
    named = convert(meta("t"), rollout("token_usage_record", usage))
    assert [hit.type for hit in named.index.resolve(TurnRef("p-9")).records] == ["inference"]


def test_T_02_a_turn_id_with_colons_is_encoded_in_references_only():
    """The value stays as it is (ASR-072)."""
    log = convert(meta("t"), turn_context("th1:fork-turn:2"))
    assert log.records[1]["turnId"] == "th1:fork-turn:2"
    assert TurnRef("th1:fork-turn:2").fragment() == "turnId=th1%3Afork-turn%3A2"


# -- Entities ------------------------------------------------------------------------------------


def test_messages_keep_their_native_id_where_they_have_one():
    """Older messages have none, and get the record's."""
    log = convert(
        meta("t"),
        item("message", id="msg_1", role="assistant", content=[{"type": "output_text"}]),
        item("message", role="user"),
        rollout("response_item", {"role": "user", "content": []}),
        rollout("response_item", {"content": []}),
    )
    first, second, third = log.of("message")
    assert (first["messageId"], first["messageIdSource"]) == ("msg_1", "native")
    assert (first["role"], first["content"]) == ("assistant", [{"type": "output_text"}])
    assert second["messageId"] == second["id"] == "line/3"
    assert not {"messageIdSource", "content"} & set(second)
    assert third["role"] == "user"
    assert log.records[-1]["type"] == VENDOR + "response_item"


def test_tool_calls_and_results():
    """Whatever the tool, the call's ID is native where the source gives one."""
    log = convert(
        meta("t"),
        item("function_call", call_id="c1", name="exec_command", arguments='{"cmd":"ls"}'),
        item("function_call_output", call_id="c1", output="main.py"),
        item("custom_tool_call", call_id="c2", name="apply_patch", input="*** Begin Patch"),
        item("web_search_call", id="ws_1", action={}),
        item("local_shell_call", id="x"),
        item("tool_search_output"),
    )
    calls = log.of("tool_call")
    assert [(c["callId"], c["name"], c.get("callIdSource")) for c in calls] == [
        ("c1", "exec_command", None),
        ("c2", "apply_patch", None),
        ("ws_1", "web_search", None),
        ("line/6", "local_shell", "derived"),
    ]
    assert [call.get("input") for call in calls[:2]] == ['{"cmd":"ls"}', "*** Begin Patch"]
    results = log.of("tool_result")
    assert (results[0]["callId"], results[0]["content"]) == ("c1", "main.py")
    assert "callId" not in results[1]
    assert log.index.resolve(EntityRef("callId", "c1")).first.type == "tool_call"


def test_a_call_id_used_twice_is_ambiguous():
    """The log itself uses one ID for two calls (ASR-064)."""
    call = item("function_call", call_id="c1", name="x", arguments="")
    log = convert(meta("t"), call, call)
    assert isinstance(log.index.resolve(EntityRef("callId", "c1")), Ambiguous)


def test_compactions_get_a_derived_key_and_claim_no_replacement():
    """The source names none; the event that announces it is kept beside it."""
    log = convert(
        meta("t"),
        rollout("compacted", {"message": "s", "replacement_history": []}),
        event("context_compacted"),
    )
    (compaction,) = log.of("compaction")
    assert compaction["compactionId"] == compaction["id"] == "line/2"
    assert compaction["replaces"] == {"state": "unknown"}
    assert log.records[-1]["type"] == VENDOR + "event_msg.context_compacted"


def test_rows_of_every_other_kind_are_kept_under_a_vendor_type():
    """Each row gives a record, with the row itself."""
    rows = [
        meta("t"),
        item("reasoning", summary=[]),
        event("agent_message", message="done"),
        rollout("inter_agent_communication_metadata", {}),
        rollout("new kind", None),
        {"payload": {}},
    ]
    log = convert(*rows)
    assert [record["type"] for record in log.records] == [
        VENDOR + "session_meta",
        VENDOR + "response_item.reasoning",
        VENDOR + "event_msg.agent_message",
        VENDOR + "inter_agent_communication_metadata",
        VENDOR + "new kind",
        VENDOR + "row",
    ]
    assert [record["native"]["row"] for record in log.records] == rows


# -- Model calls ---------------------------------------------------------------------------------


def test_a_call_is_a_count_whose_total_differs_from_the_one_before():
    """Repeats of one total, and events without counts, are no calls."""
    log = convert(
        meta("t"),
        turn_context("t1", model="gpt-5"),
        token_count(counts(100), counts(100)),
        token_count(counts(100), counts(100)),
        event("token_count", info=None),
        token_count(counts(250), counts(150)),
        token_count(counts(100), counts(100)),
    )
    calls = log.of("inference")
    assert [call["id"] for call in calls] == ["line/3", "line/6", "line/7"]
    assert [call["inferenceId"] for call in calls] == ["line/3", "line/6", "line/7"]
    assert all(call["idSource"] == "derived" for call in calls)
    assert not any("supersedes" in call for call in calls)
    assert calls[0]["model"] == {"id": "gpt-5"}
    assert calls[0]["turnId"] == "t1"


def test_input_tokens_are_those_that_no_cache_had():
    """Codex counts cached tokens among the input ones."""
    last = {**counts(100, output=30, cached=60), "cache_write_input_tokens": 5}
    last["reasoning_output_tokens"] = 20
    log = convert(meta("t"), token_count(counts(100), last))
    assert log.of("inference")[0]["usage"] == {
        "inputTokens": 35,
        "cacheReadTokens": 60,
        "cacheWriteTokens": 5,
        "outputTokens": 30,
        "reasoningTokens": 20,
    }


def test_counts_that_contradict_each_other_leave_the_input_unknown():
    """More cached tokens than input ones: what was fresh is not said."""
    log = convert(meta("t"), token_count(counts(10), counts(10, cached=60)))
    assert "inputTokens" not in log.of("inference")[0]["usage"]
    bare = convert(meta("t"), token_count(counts(10), {"output_tokens": 3}))
    assert bare.of("inference")[0]["usage"] == {"outputTokens": 3}


def test_counts_of_zero_are_no_call():
    """What changed is the size of the context, which nobody answered for."""
    zero = {**counts(0, 0), "total_tokens": 900}
    log = convert(
        meta("t"),
        token_count(counts(10), counts(10)),
        token_count(zero, {**counts(0, 0), "total_tokens": 890}),
        token_count(None, counts(0, 0)),
        token_count(counts(30), counts(20)),
    )
    assert [call["usage"]["inputTokens"] for call in log.of("inference")] == [10, 20]


def test_a_call_without_its_own_counts_has_no_usage():
    """The total alone says that there was a call, not what it took."""
    log = convert(meta("t"), token_count(counts(10), None))
    assert "usage" not in log.of("inference")[0]


def test_counts_without_a_total_are_calls_of_their_own():
    """Two absent totals are not equal."""
    info = {"last_token_usage": counts(5), "model": "gpt-5"}
    log = convert(
        meta("t"),
        event("token_count", info=info),
        event("token_count", info=info),
        event("token_count", info={"prompt": 4}),
    )
    assert [call["id"] for call in log.of("inference")] == ["line/2", "line/3"]
    assert log.of("inference")[0]["model"] == {"id": "gpt-5"}


def usage_record(response: str | None, usage: Any, thread: Any = None) -> dict[str, Any]:
    payload = {"response_id": response, "usage": usage, "thread_token_usage": thread}
    return rollout("token_usage_record", {k: v for k, v in payload.items() if v is not None})


def test_a_usage_record_and_its_count_are_one_call():
    """They are joined by the thread's total, in either order; the response ID names the call."""
    log = convert(
        meta("t"),
        token_count(counts(100), counts(100)),
        usage_record(
            "resp_1", counts(100), {"input_tokens": 100, "output_tokens": 10, "total_tokens": 110}
        ),
        usage_record("resp_2", counts(50), counts(150)),
        token_count(counts(150), counts(50)),
    )
    calls = log.of("inference")
    assert [(c["inferenceId"], c["inferenceIdSource"]) for c in calls] == [
        ("resp_1", "native"),
        ("resp_2", "native"),
    ]
    assert calls[0]["usage"]["inputTokens"] == 100


def test_a_usage_record_without_a_total_is_joined_by_the_count_before_it():
    """The same counts, written next: one call. With a total or without one in the count."""
    log = convert(
        meta("t"),
        token_count(counts(100), counts(100)),
        usage_record("resp_1", counts(100)),
        token_count(None, counts(50)),
        usage_record("resp_2", counts(50)),
        usage_record("resp_3", counts(7)),
    )
    assert [call["inferenceId"] for call in log.of("inference")] == ["resp_1", "resp_2", "resp_3"]


def test_a_usage_record_written_twice_is_one_call():
    """The second writing is a revision of the first."""
    record = usage_record("resp_1", counts(100), counts(100))
    log = convert(meta("t"), record, record)
    first, second = log.of("inference")
    assert second["supersedes"] == first["id"]
    assert log.index.resolve(EntityRef("inferenceId", "resp_1")).first.id == second["id"]


def test_a_usage_record_without_response_id_gets_a_derived_one():
    """The source identifies a call and gives it no identifier (ASR-073)."""
    (call,) = convert(meta("t"), usage_record(None, counts(1))).of("inference")
    assert call["inferenceId"] == call["id"]
    assert "inferenceIdSource" not in call


def test_without_content_identity_calls_and_usage_remain():
    """`content=False` leaves out the text and the native rows."""
    log = convert(
        meta("t"),
        item("message", role="user", content="secret"),
        item("function_call", call_id="c", arguments="secret"),
        item("function_call_output", call_id="c", output="secret"),
        content=False,
    )
    assert b"secret" not in log.text
    assert [r["type"] for r in log.records[1:]] == ["message", "tool_call", "tool_result"]


def test_pages_of_one_thread_are_streams_of_one_key():
    """Each page is read for itself; a larger scope joins them."""
    first = convert(meta("t", ordinal=0, history_mode="paginated"))
    base = {"thread_id": "t", "end_ordinal_exclusive": 1}
    second = convert(meta("t", ordinal=1, history_mode="paginated", history_base=base))
    assert first.keys() == second.keys()
    assert {r["id"] for r in first.records}.isdisjoint(r["id"] for r in second.records)


def test_the_line_of_each_record_is_known():
    """A stream says in which line of the log the last record stands."""
    streams = read([jsonl(meta("t"), "{", event("x"))], lambda _: None)
    places = [(record.id, stream.line) for stream in streams for record in stream]
    assert places == [("h", 0), ("line/1", 1), ("line/3", 3)]


def test_rows_that_repeat_between_nul_bytes_have_ids_of_their_own():
    """Two rows of one line are two records."""
    row = b'{"type":"event_msg","payload":{"type":"x"}}'
    log = convert(meta("t"), row + b"\0\0" + row)
    assert [record["id"] for record in log.records] == ["line/1", "line/2", "line/2/row/1"]


def test_detect_takes_rollouts_by_what_their_rows_hold():
    """Any row of Codex's; and what it wrote before rows had types."""
    assert detect(jsonl({"x": 1}, event("x"))) == "codex"
    assert detect(jsonl({"id": "x", "timestamp": "t", "instructions": None})) == "codex"
    assert detect(jsonl(rollout("session_meta", {"id": "x", "originator": 7}))) == "codex"


def test_other_products_of_the_same_shape_are_not_codex():
    """A rollout that another product wrote is unknown."""
    log = convert(meta("t", originator="TraeX CLI"), event("x"))
    assert (log.streams, log.codes) == ([], ["unknown-format"])
