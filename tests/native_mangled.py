"""Rows of native logs that hypothesis takes members out of, and replaces them."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st
from native_rows import (
    assistant,
    counts,
    meta,
    rollout,
    token_count,
    tool_result,
    tool_use,
    user,
)

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
