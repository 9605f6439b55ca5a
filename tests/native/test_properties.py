"""What holds for any bytes: nothing raises, nothing is lost silently, all that is written reads."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from native_rows import (
    Converted,
    assistant,
    counts,
    jsonl,
    meta,
    rollout,
    token_count,
    tool_result,
    tool_use,
    user,
)

from sessionref.native import detect, read

if TYPE_CHECKING:
    from sessionref.findings import Finding

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec=None), max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=6,
)

CLAUDE_ROWS = [
    user("u1"),
    user("u1", "other"),
    user("u2", [tool_result("t1")], parentUuid="u1"),
    user("u3", sessionId="S2", parentUuid="u1"),
    user("u4", agentId="ab12cd3"),
    user("u5", agentId="a7c41e09b2d35f867"),
    assistant("a1", "m1", tool_use("t1"), tool_use(None)),
    assistant("a2", "m1", request=None),
    assistant("a3", None),
    {"type": "summary", "summary": "s", "leafUuid": "a1"},
    {"type": "system", "subtype": "compact_boundary", "uuid": "c", "sessionId": "S2"},
    {"type": "fork-context-ref", "agentId": "ab12cd3", "parentSessionId": "S2"},
]
CODEX_ROWS = [
    meta("t", ordinal=0),
    meta("p"),
    rollout("turn_context", {"turn_id": "t1", "model": "m"}, 1),
    rollout("response_item", {"type": "message", "id": "msg", "role": "user", "content": []}, 1),
    rollout("response_item", {"type": "function_call", "call_id": "c", "arguments": "{}"}),
    rollout("response_item", {"type": "function_call_output", "call_id": "c", "output": "x"}),
    rollout("event_msg", {"type": "task_complete", "turn_id": "t1"}),
    token_count(counts(5), counts(5)),
    rollout("token_usage_record", {"response_id": "r", "usage": counts(5)}),
    rollout("compacted", {"message": "s"}),
]


@st.composite
def mangled(draw: st.DrawFn, rows: list[dict[str, Any]]) -> str:
    """A row with members taken out or replaced, at the top or one level down."""
    row = json.loads(json.dumps(draw(st.sampled_from(rows))))
    for _ in range(draw(st.integers(0, 3))):
        inner = [value for value in row.values() if isinstance(value, dict) and value]
        target = draw(st.sampled_from([row, *inner]))
        if not target:
            break
        name = draw(st.sampled_from(sorted(target)))
        if draw(st.booleans()):
            del target[name]
        else:
            target[name] = draw(json_values)
    return json.dumps(row)


def check(data: bytes, number_of_lines: int) -> None:
    log = Converted(data)
    for stream, index in zip(log.streams, log.indexes, strict=True):
        assert [record["seq"] for record in stream] == list(range(len(stream)))
        assert len({record["id"] for record in stream}) == len(stream)
        assert not [f for f in index.findings if f.code not in {"lone-surrogate", "bad-member"}]
        for ref in index.refs():
            assert index.resolve(ref).state in {"resolved", "ambiguous"}
    if log.streams:
        rows = sum("row" in r.get("native", {}) for stream in log.streams for r in stream)
        without = [f for f in log.findings if f.path in {None, "$.sessionId", "$.agentId"}]
        assert rows == number_of_lines or without
    else:
        assert log.findings
    assert Converted(data).text == log.text


@given(st.lists(mangled(CLAUDE_ROWS), min_size=1, max_size=12))
def test_any_rows_of_claude_code_give_records_or_findings(rows: list[str]):
    """Members taken out or of another type cost what they carried and nothing else."""
    check(jsonl(user("u0"), *rows), len(rows) + 1)


@given(st.lists(mangled(CODEX_ROWS), min_size=1, max_size=12))
def test_any_rows_of_codex_give_records_or_findings(rows: list[str]):
    """Members taken out or of another type cost what they carried and nothing else."""
    check(jsonl(meta("t"), *rows), len(rows) + 1)


@given(st.lists(st.binary(max_size=40) | mangled(CLAUDE_ROWS) | mangled(CODEX_ROWS), max_size=8))
def test_any_bytes_are_read_without_raising(rows: list[bytes | str]):
    """Whatever stands in a file, the reader reports and goes on; every record can be written."""
    found: list[Finding] = []
    data = jsonl(*rows)
    detect(data)
    for stream in read([data], found.append):
        for record in stream:
            msgspec.json.encode(record)


@given(st.lists(mangled(CLAUDE_ROWS) | mangled(CODEX_ROWS), max_size=6), st.integers(1, 50))
def test_how_bytes_are_cut_makes_no_difference(rows: list[str], size: int):
    """Chunks of any length give the same records."""
    data = jsonl(*rows)
    chunks = [data[n : n + size] for n in range(0, len(data), size)]
    whole = [msgspec.json.encode(r) for s in read([data], lambda _: None) for r in s]
    assert whole == [msgspec.json.encode(r) for s in read(chunks, lambda _: None) for r in s]
