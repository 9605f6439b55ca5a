"""Streams to be checked, and a way to check them in memory."""

from __future__ import annotations

import copy
import io
import json
from typing import TYPE_CHECKING, Any

from sessionref.checks.run import OBSERVERS, check
from sessionref.checks.strict import strict_findings
from sessionref.scope.scope import StreamScope

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sessionref.findings import Finding

Record = dict[str, Any]
Stream = list[Record]


class Named(io.BytesIO):
    """Bytes as a file with a name."""

    def __init__(self, name: str, content: bytes) -> None:
        super().__init__(content)
        self.name = name


def encoded(stream: Stream) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in stream)


def found(*streams: Stream | bytes, strict: bool = True) -> list[Finding]:
    """All findings about streams that are in scope together."""
    contents = [s if isinstance(s, bytes) else encoded(s) for s in streams]
    scope = StreamScope.of(
        [Named(f"{number}.jsonl", content) for number, content in enumerate(contents, 1)],
        observers=OBSERVERS,
    )
    return list(check(scope, strict=strictly if strict else None))


def strictly(source: Any, file: str | None) -> Iterator[Finding]:
    """The strict pass over what is kept in memory."""
    return strict_findings([source.getvalue()], file)


def told(findings: Sequence[Finding]) -> list[tuple[str | None, str, str, str | None, str | None]]:
    """What of findings a test compares."""
    return [(f.rule, f.code, f.severity, f.id, f.path) for f in findings]


def header(session: str = "s1", agent: str = "codex", **members: Any) -> Record:
    return {
        "type": "session",
        "seq": 0,
        "id": "h",
        "agent": {"name": agent},
        "sessionId": session,
        **members,
    }


MAIN = "4be1d0a6-7f3c-4a52-9d08-c61f2e5b7a90"
CHILD = "e19c04d7ab3852f6"

#: A main session that asks a subagent, which was resumed and finished, and rewinds.
PARENT: Stream = [
    {
        "type": "session",
        "seq": 0,
        "id": "h",
        "formatVersion": "0.1",
        "agent": {"name": "claude-code", "version": "2.4.0"},
        "sessionId": MAIN,
        "producer": {
            "name": "night-exporter",
            "version": "3.0",
            "method": "converter",
            "source": {"format": "claude-code-jsonl"},
            "lossy": [],
        },
        "scope": "primary",
        "participants": [{"id": "ada"}],
        "workspace": {"roots": [{"id": "lib", "path": "/srv/lib"}]},
    },
    {
        "type": "message",
        "seq": 1,
        "id": "r1",
        "messageId": "m1",
        "turnId": "t1",
        "role": "user",
        "authorActor": {"participant": "ada", "device": "laptop"},
        "root": "lib",
    },
    {
        "type": "inference",
        "seq": 2,
        "id": "r2",
        "inferenceId": "msg_1",
        "turnId": "t1",
        "usage": {"inputTokens": 12, "outputTokens": 7},
        "cost": [{"amount": "0.01", "currency": "USD"}],
    },
    {
        "type": "message",
        "seq": 3,
        "id": "r3",
        "messageId": "m2",
        "turnId": "t1",
        "inferenceId": "msg_1",
        "role": "assistant",
    },
    {"type": "tool_call", "seq": 4, "id": "r4", "callId": "toolu_9", "turnId": "t1"},
    {
        "type": "subagent",
        "seq": 5,
        "id": "r5",
        "childSession": f"claude-code:{CHILD}",
        "callId": "toolu_9",
        "async": True,
        "status": "running",
        "agent": "codex",
        "model": {"id": "m"},
    },
    {
        "type": "subagent",
        "seq": 6,
        "id": "r6",
        "supersedes": "r5",
        "childSession": f"claude-code:{CHILD}",
        "callId": "toolu_9",
        "status": "completed",
    },
    {"type": "tool_call", "seq": 7, "id": "r7", "callId": "toolu_9", "supersedes": "r4"},
    {
        "type": "permission",
        "seq": 8,
        "id": "r8",
        "requestId": "line/8/permission",
        "idSource": "derived",
        "resolvedBy": {"address": "/lead/worker"},
    },
    {"type": "declaration", "seq": 9, "id": "r9", "participants": [{"id": "bo"}]},
    {
        "type": "question",
        "seq": 10,
        "id": "r10",
        "requestId": "q1",
        "answeredBy": {"participant": "bo"},
    },
    {
        "type": "compaction",
        "seq": 11,
        "id": "r11",
        "compactionId": "k1",
        "insertAt": {"afterId": "r3"},
        "replaces": {"ids": ["r1", "messageId=m2"]},
        "retains": ["r4", {"blob": "x"}],
    },
    {"type": "rewind", "seq": 12, "id": "r12", "to": None},
    {"type": "session_info", "seq": 13, "id": "r13", "heads": [None, "r3"]},
    {"type": "tombstone", "seq": 14, "id": "r14", "targets": ["r3"]},
    {"type": "state", "seq": 15, "id": "r15", "continuationOf": "turnId=t1"},
    {
        "type": "message",
        "seq": 16,
        "id": "r16",
        "messageId": "m3",
        "branchesFrom": {"record": "r1"},
        "copiedFrom": {"record": "messageId=m2", "proof": "native_field"},
        "derivedFrom": ["r3", f"claude-code:{CHILD}"],
    },
]

#: The subagent, which began with copies of what its parent had.
SUBAGENT: Stream = [
    {
        "type": "session",
        "seq": 0,
        "id": "h",
        "agent": {"name": "claude-code"},
        "sessionId": CHILD,
        "lineage": {
            "spawnedBy": {
                "session": f"claude-code:{MAIN}",
                "record": "callId=toolu_9",
                "evidence": "native_field",
            },
            "inherits": {
                "mode": "copied",
                "from": f"claude-code:{MAIN}",
                "throughId": "r3",
                "localThroughId": "c1",
                "evidence": "native_structure",
            },
            "role": "Reviewer",
        },
        "scope": "subagent",
    },
    {
        "type": "message",
        "seq": 1,
        "id": "c1",
        "messageId": "x1",
        "copiedFrom": {
            "session": f"claude-code:{MAIN}",
            "record": "messageId=m1",
            "proof": "native_field",
        },
    },
    {"type": "message", "seq": 2, "id": "c2", "messageId": "x2"},
]

#: An app that drives the main session, under a namespace and with an ID that has to be encoded.
WRAPPER: Stream = [
    {
        "type": "session",
        "seq": 0,
        "id": "h",
        "agent": {"name": "t3-code"},
        "namespace": "c2a7",
        "sessionId": "thread:9%",
        "lineage": {
            "root": True,
            "executedBy": [{"session": f"claude-code:{MAIN}", "evidence": "native_field"}],
        },
    },
    {
        "type": "state",
        "seq": 1,
        "id": "w1",
        "turnId": "wt1",
        "executedBy": [f"com.anthropic.claude-code:{MAIN}#turnId=t1"],
        "causedBy": {"session": "t3-code:c2a7:thread%3A9%25"},
    },
]


def edited(stream: Stream, record_id: str, path: str, value: Any) -> Stream:
    """A copy of a stream with one member of one record replaced, or taken out where `...`."""
    new = copy.deepcopy(stream)
    here: Any = next(record for record in new if record["id"] == record_id)
    *way, last = path.split(".")
    for step in way:
        here = here[int(step) if isinstance(here, list) else step]
    if isinstance(here, list):
        here[int(last)] = value
    elif value is ...:
        del here[last]
    else:
        here[last] = value
    return new
