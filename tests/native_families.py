"""Rows of native logs that belong together, for the tests of lineage."""

from __future__ import annotations

from typing import Any

from native_rows import assistant, counts, meta, rollout, token_count, tool_result, tool_use, user


def result(agent: str, call: str | None = "toolu_1", **members: Any) -> dict[str, Any]:
    """A row with the result of a delegating call."""
    said = {"status": "completed", "agentId": agent, **members.pop("said", {})}
    blocks = [tool_result(call)] if call else "done"
    return user(members.pop("uuid", "r1"), blocks, toolUseResult=said, **members)


def marked(row: dict[str, Any], source: str = "A", uuid: str | None = None) -> dict[str, Any]:
    mark = {"sessionId": source, "messageUuid": row["uuid"] if uuid is None else uuid}
    return {**row, "sessionId": "B", "forkedFrom": mark}


COPIES = [
    user("u1"),
    assistant("a1", "m1", tool_use("t1"), request="q1"),
    user("u2", [tool_result("t1")]),
]


def continued(source: str = "A", target: str = "B") -> dict[str, Any]:
    return {"type": "continued-in", "sessionId": source, "continuedInSessionId": target}


def of(session: str, *rows: dict[str, Any]) -> list[dict[str, Any]]:
    return [{**row, "sessionId": session} for row in rows]


def item(text: str, **members: Any) -> dict[str, Any]:
    content = [{"type": "input_text", "text": text}]
    return rollout(
        "response_item", {"type": "message", "role": "user", "content": content}, **members
    )


def started(turn: str) -> dict[str, Any]:
    return rollout("event_msg", {"type": "task_started", "turn_id": turn})


def copied(*rows: dict[str, Any]) -> list[dict[str, Any]]:
    """Rows as a fork has them: stamped anew."""
    return [{**row, "timestamp": "2026-08-21T10:00:00.000Z"} for row in rows]


OLD = [
    started("t1"),
    rollout("turn_context", {"turn_id": "t1", "model": "m"}),
    item("One."),
    token_count(counts(100), counts(100)),
    token_count(counts(250), counts(150)),
]


OWN = [started("t9"), item("Mine."), token_count(counts(300), counts(50))]


def fork(*rows: dict[str, Any], **members: Any) -> list[dict[str, Any]]:
    return [meta("C", forked_from_id="P", **members), *rows]


def numbered(*rows: dict[str, Any], start: int = 0) -> list[dict[str, Any]]:
    return [{**row, "ordinal": start + n} for n, row in enumerate(rows)]


def base(thread: str, end: int | None) -> dict[str, Any]:
    return {"history_base": {"thread_id": thread, "end_ordinal_exclusive": end}}
