"""Small logs, written for the tests of the command."""

from __future__ import annotations

import json


def lines(*records: object) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def header(session_id: str, agent: str = "codex", **members: object) -> dict[str, object]:
    return {
        "type": "session",
        "seq": 0,
        "id": "h",
        "agent": {"name": agent},
        "sessionId": session_id,
    } | members


def stream(session_id: str, *records: dict[str, object], agent: str = "codex") -> bytes:
    numbered = [{"seq": seq, **record} for seq, record in enumerate(records, 1)]
    return lines(header(session_id, agent), *numbered)


#: A message, a call revised once, a call ID used twice, and a turn.
STREAM = stream(
    "s1",
    {"type": "message", "id": "r1", "messageId": "m1", "turnId": "t1"},
    {"type": "tool_call", "id": "r2", "callId": "c1", "turnId": "t1"},
    {"type": "tool_call", "id": "r3", "callId": "c1", "turnId": "t1", "supersedes": "r2"},
    {"type": "tool_call", "id": "r4", "callId": "twice"},
    {"type": "tool_call", "id": "r5", "callId": "twice"},
)

CODEX_ID = "019f0000-0000-7000-8000-00000000c0de"


def codex_log(session_id: str = CODEX_ID) -> bytes:
    def row(kind: str, **payload: object) -> dict[str, object]:
        return {"timestamp": "2026-10-26T18:00:00.000Z", "type": kind, "payload": payload}

    return lines(
        row(
            "session_meta",
            id=session_id,
            cwd="/srv/app",
            originator="codex_cli",
            cli_version="0.140.0",
        ),
        row("turn_context", turn_id="turn-1", cwd="/srv/app", model="gpt-6-codex"),
        row(
            "response_item",
            type="message",
            role="user",
            content=[{"type": "input_text", "text": "hi"}],
        ),
        row("response_item", type="function_call", name="shell", arguments="{}", call_id="call_1"),
    )


CLAUDE_ID = "0f000000-0000-4000-8000-00000000c1a0"


def claude_row(uuid: str, session_id: str = CLAUDE_ID, **members: object) -> dict[str, object]:
    return {
        "type": "user",
        "uuid": uuid,
        "parentUuid": None,
        "sessionId": session_id,
        "timestamp": "2026-10-26T18:00:00.000Z",
        "cwd": "/srv/app",
        "version": "2.2.0",
        "message": {"role": "user", "content": "hi"},
    } | members


def claude_log(session_id: str = CLAUDE_ID) -> bytes:
    return lines(
        claude_row("u-1", session_id),
        claude_row(
            "u-2",
            session_id,
            type="assistant",
            parentUuid="u-1",
            requestId="req_1",
            message={
                "id": "msg_1",
                "role": "assistant",
                "model": "claude-9",
                "content": [{"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {}}],
                "usage": {"input_tokens": 3, "output_tokens": 5},
            },
        ),
    )
