"""The lineage page in streams like its examples: each clean, and each edit the one finding.

Unresolved targets, the order of local copies and boundaries are the table's, and stay with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from check_streams import Named, edited, encoded, found, header, told

from sessionref.checks.run import OBSERVERS, check
from sessionref.scope.scope import StreamScope

if TYPE_CHECKING:
    from check_streams import Stream

Told = tuple[str | None, str, str, str | None, str | None]

APP = "t3-code:lab-3:night%3Aqueue%257"
MAIN = "claude-code:52c0e1f7-8d34-4b6a-a9e2-06f17c3b5d88"
EXPLORER = "claude-code:d81f60a3c5e92b74"
THREAD = "codex:0198f2aa-31c7-7e05-b6d1-90a4e7c25f13"
WORKER = "codex:0198f2ab-7740-7a92-8c3e-5b1d06f9e284"
MIRROR = "openclaw:window-12"


def of(session: str, agent: str | None = None, **members: Any) -> dict[str, Any]:
    """The header of a session that a reference without encoding names."""
    name, *namespace, session_id = session.split(":")
    more = {"namespace": namespace[0]} if namespace else {}
    return header(session_id, agent or name, **more, **members)


def claim(session: str, **members: Any) -> dict[str, Any]:
    return {"session": session, "evidence": "native_field", **members}


#: The main session, which asks an explorer and delegates to a thread of the app.
MAIN_STREAM: Stream = [
    of(MAIN, scope="primary"),
    {"type": "tool_call", "seq": 1, "id": "r1", "callId": "toolu_5K"},
    {
        "type": "subagent",
        "seq": 2,
        "id": "r2",
        "childSession": EXPLORER,
        "callId": "toolu_5K",
        "async": False,
        "role": "Explore",
        "description": "List what calls the parser",
    },
]
#: The explorer, fresh, with the call that created it.
EXPLORER_STREAM: Stream = [
    of(
        EXPLORER,
        scope="subagent",
        lineage={
            "spawnedBy": claim(MAIN, record="callId=toolu_5K"),
            "inherits": {"mode": "none", "evidence": "native_structure"},
            "role": "Explore",
        },
    ),
    {"type": "message", "seq": 1, "id": "r1", "messageId": "e1"},
]
#: A thread with native positions.
THREAD_STREAM: Stream = [
    of(THREAD),
    {"type": "tool_call", "seq": 1, "id": "ordinal/8", "callId": "call_8", "idSource": "derived"},
    {
        "type": "subagent",
        "seq": 2,
        "id": "ordinal/9",
        "idSource": "derived",
        "childSession": WORKER,
        "callId": "call_8",
    },
]
#: A worker that was spawned, and works on its parent's history by reference.
WORKER_STREAM: Stream = [
    of(
        WORKER,
        scope="subagent",
        lineage={
            "spawnedBy": claim(THREAD),
            "forkedFrom": claim(THREAD, ordinal=8),
            "inherits": {
                "mode": "referenced",
                "from": THREAD,
                "throughOrdinal": 8,
                "evidence": "native_field",
            },
            "role": "worker",
        },
    ),
]
#: An app whose turns the thread ran, and that announced a child of its own, twice revised.
APP_STREAM: Stream = [
    {
        **of("t3-code:lab-3:x"),
        "sessionId": "night:queue%7",
        "scope": "primary",
        "client": {"name": "night-desk"},
        "lineage": {"root": True, "executedBy": [claim(THREAD)]},
    },
    {"type": "tool_call", "seq": 1, "id": "a1", "callId": "call_N"},
    {
        "type": "subagent",
        "seq": 2,
        "id": "a2",
        "childSession": APP + "%2F1",
        "callId": "call_N",
        "async": True,
        "awaited": False,
        "agent": "codex",
        "model": {"provider": "openai", "id": "m"},
        "status": "running",
    },
    {
        "type": "subagent",
        "seq": 3,
        "id": "a3",
        "supersedes": "a2",
        "childSession": APP + "%2F1",
        "callId": "call_N",
        "async": True,
        "status": "completed",
    },
    {
        "type": "declaration",
        "seq": 4,
        "id": "a4",
        "lineage": {"executedBy": [claim(MAIN, evidence="native_structure")]},
    },
    {
        "type": "message",
        "seq": 5,
        "id": "a5",
        "messageId": "w1",
        "copiedFrom": {"session": THREAD, "proof": "native_field"},
    },
    {
        "type": "message",
        "seq": 6,
        "id": "a6",
        "messageId": "w2",
        "copiedFrom": {"record": "messageId=w1", "proof": "native_field"},
    },
]
#: The child of the app.
CHILD_STREAM: Stream = [
    {
        **of("t3-code:lab-3:x"),
        "sessionId": "night:queue%7/1",
        "lineage": {"spawnedBy": claim(APP, record="a1")},
    },
]
#: A window that another program keeps of the thread.
MIRROR_STREAM: Stream = [
    of(
        MIRROR,
        authority="mirror",
        conversation={"key": "c1"},
        lineage={"executedBy": [claim(THREAD)]},
    ),
    {
        "type": "message",
        "seq": 1,
        "id": "o1",
        "messageId": "d1",
        "copiedFrom": {
            "session": THREAD,
            "record": "callId=call_8",
            "proof": "native_id",
        },
    },
]
#: The window after it, which goes on from a summary.
NEXT_STREAM: Stream = [
    of(
        "openclaw:window-13",
        lineage={
            "continues": claim(MIRROR, reason="rollover"),
            "relatedUnknown": claim(MAIN),
            "inherits": {"mode": "rendered", "from": MIRROR, "evidence": "native_structure"},
        },
    ),
    {"type": "message", "seq": 1, "id": "n1", "messageId": "n1", "derivedFrom": [MIRROR]},
]
#: A fork with copies at its head.
FORK_STREAM: Stream = [
    of(
        "codex:fork-1",
        lineage={
            "forkedFrom": claim(THREAD, record="ordinal/8"),
            "inherits": {
                "mode": "copied",
                "from": THREAD,
                "throughId": "ordinal/8",
                "localThroughId": "f1",
                "evidence": "converter_inference",
            },
        },
    ),
    {"type": "tool_call", "seq": 1, "id": "f1", "callId": "call_8"},
    {"type": "message", "seq": 2, "id": "f2", "messageId": "f2"},
]
STREAMS = (
    MAIN_STREAM,
    EXPLORER_STREAM,
    THREAD_STREAM,
    WORKER_STREAM,
    APP_STREAM,
    CHILD_STREAM,
    MIRROR_STREAM,
    NEXT_STREAM,
    FORK_STREAM,
)


def one(rule: str | None, code: str, severity: str, place: str, path: str) -> list[Told]:
    return [(rule, code, severity, place, path)]


def bad(rule: str, code: str, path: str, place: str = "h") -> list[Told]:
    return one(rule, code, "error", place, path)


#: A stream, the record and the member that is replaced (`...`: taken out), and what is then found.
EDITS: list[tuple[Stream, str, str, Any, list[Told]]] = [
    # ASR-400
    (EXPLORER_STREAM, "h", "lineage", 7, bad("ASR-400", "wrong-shape", "$.lineage")),
    (EXPLORER_STREAM, "h", "lineage", ..., []),
    (
        EXPLORER_STREAM,
        "h",
        "lineage.spawnedBy",
        [MAIN],
        bad("ASR-400", "wrong-shape", "$.lineage.spawnedBy"),
    ),
    (
        EXPLORER_STREAM,
        "h",
        "lineage.spawnedBy",
        None,
        bad("ASR-400", "bad-facet", "$.lineage.spawnedBy"),
    ),
    (
        EXPLORER_STREAM,
        "h",
        "lineage.inherits",
        "none",
        bad("ASR-400", "wrong-shape", "$.lineage.inherits"),
    ),
    (EXPLORER_STREAM, "h", "lineage.role", {}, bad("ASR-400", "bad-facet", "$.lineage.role")),
    (
        EXPLORER_STREAM,
        "h",
        "lineage.spawnedBy.evidence",
        ...,
        bad("ASR-400", "missing-evidence", "$.lineage.spawnedBy"),
    ),
    (
        EXPLORER_STREAM,
        "h",
        "lineage.spawnedBy.session",
        ...,
        bad("ASR-400", "bad-session-reference", "$.lineage.spawnedBy.session"),
    ),
    (
        EXPLORER_STREAM,
        "h",
        "lineage.spawnedBy.session",
        MAIN + "#r1",
        bad("ASR-400", "unexpected-ref", "$.lineage.spawnedBy.session"),
    ),
    (
        EXPLORER_STREAM,
        "h",
        "lineage.spawnedBy.session",
        MAIN.partition(":")[2],
        bad("ASR-061", "missing-session-id", "$.lineage.spawnedBy.session"),
    ),
    (
        EXPLORER_STREAM,
        "h",
        "lineage.spawnedBy.record",
        "callid=toolu_5K",
        bad("ASR-062", "unknown-entity-key", "$.lineage.spawnedBy.record"),
    ),
    (
        APP_STREAM,
        "h",
        "lineage.executedBy.0",
        THREAD,
        bad("ASR-400", "wrong-shape", "$.lineage.executedBy[0]"),
    ),
    (
        APP_STREAM,
        "a4",
        "lineage.executedBy.0.session",
        ...,
        bad("ASR-400", "bad-session-reference", "$.lineage.executedBy[0].session", "a4"),
    ),
    # ASR-402
    (APP_STREAM, "h", "lineage.root", False, bad("ASR-402", "bad-root", "$.lineage.root")),
    (
        APP_STREAM,
        "h",
        "lineage.relatedUnknown",
        claim(MAIN),
        bad("ASR-402", "root-with-parent", "$.lineage.root"),
    ),
    (
        APP_STREAM,
        "a4",
        "lineage.inherits",
        {"mode": "referenced", "from": THREAD, "evidence": "native_field"},
        bad("ASR-402", "root-with-parent", "$.lineage.root", "a4"),
    ),
    (
        APP_STREAM,
        "h",
        "lineage.inherits",
        {"mode": "unknown", "evidence": "native_field"},
        [],
    ),
    (
        NEXT_STREAM,
        "h",
        "lineage",
        {"root": True},
        one("ASR-402", "undocumented-root", "warning", "h", "$.lineage.root"),
    ),
    # ASR-404
    (
        EXPLORER_STREAM,
        "h",
        "lineage.inherits.evidence",
        "guess",
        bad("ASR-404", "bad-evidence", "$.lineage.inherits.evidence"),
    ),
    (
        EXPLORER_STREAM,
        "h",
        "lineage.spawnedBy.evidence",
        "converter_inference",
        one("ASR-404", "unpublished-rule", "warning", "h", "$.lineage.spawnedBy.evidence"),
    ),
    (
        APP_STREAM,
        "a4",
        "lineage.executedBy.0.evidence",
        "converter_inference",
        one("ASR-404", "unpublished-rule", "warning", "a4", "$.lineage.executedBy[0].evidence"),
    ),
    # ASR-407
    (
        WORKER_STREAM,
        "h",
        "lineage.forkedFrom.record",
        "ordinal/8",
        bad("ASR-407", "two-fork-points", "$.lineage.forkedFrom"),
    ),
    (
        WORKER_STREAM,
        "h",
        "lineage.forkedFrom.ordinal",
        8.5,
        bad("ASR-407", "bad-member", "$.lineage.forkedFrom.ordinal"),
    ),
    (
        WORKER_STREAM,
        "h",
        "lineage.forkedFrom.ordinal",
        4,
        one("ASR-079", "no-such-ordinal", "notice", "h", "$.lineage.forkedFrom.ordinal"),
    ),
    (WORKER_STREAM, "h", "lineage.forkedFrom.ordinal", ..., []),
    # ASR-408
    (
        NEXT_STREAM,
        "h",
        "lineage.continues.reason",
        "nap",
        bad("ASR-408", "bad-reason", "$.lineage.continues.reason"),
    ),
    (
        NEXT_STREAM,
        "h",
        "lineage.continues.reason",
        ...,
        bad("ASR-408", "bad-reason", "$.lineage.continues.reason"),
    ),
    (NEXT_STREAM, "h", "lineage.continues.reason", "ai.openclaw:nap", []),
    # ASR-409
    (
        EXPLORER_STREAM,
        "h",
        "lineage.inherits.mode",
        ...,
        bad("ASR-409", "bad-mode", "$.lineage.inherits.mode"),
    ),
    (
        WORKER_STREAM,
        "h",
        "lineage.inherits.from",
        ...,
        bad("ASR-409", "bad-session-reference", "$.lineage.inherits.from"),
    ),
    (
        WORKER_STREAM,
        "h",
        "lineage.inherits.throughId",
        "ordinal/8",
        bad("ASR-409", "two-boundaries", "$.lineage.inherits"),
    ),
    (
        FORK_STREAM,
        "h",
        "lineage.inherits.mode",
        "referenced",
        bad("ASR-409", "out-of-place", "$.lineage.inherits.localThroughId"),
    ),
    (
        FORK_STREAM,
        "h",
        "lineage.inherits.mode",
        "some",
        bad("ASR-409", "bad-mode", "$.lineage.inherits.mode"),
    ),
    (
        FORK_STREAM,
        "h",
        "lineage.inherits.localThroughId",
        "f9",
        bad("ASR-063", "no-such-record", "$.lineage.inherits.localThroughId"),
    ),
    (
        FORK_STREAM,
        "h",
        "lineage.inherits.throughId",
        "callId=call_8",
        bad("ASR-409", "entity-ref", "$.lineage.inherits.throughId"),
    ),
    # ASR-411
    (
        APP_STREAM,
        "a3",
        "childSession",
        ...,
        bad("ASR-411", "missing-child-session", "$.childSession", "a3"),
    ),
    (
        MAIN_STREAM,
        "r2",
        "childSession",
        EXPLORER + "#r1",
        bad("ASR-411", "unexpected-ref", "$.childSession", "r2"),
    ),
    (
        MAIN_STREAM,
        "r2",
        "capture",
        {"childSession": "partial"},
        [],
    ),
    # ASR-412
    (
        EXPLORER_STREAM,
        "h",
        "lineage.spawnedBy.record",
        "callId=toolu_0",
        one("ASR-412", "calls-differ", "warning", "h", "$.lineage.spawnedBy.record"),
    ),
    (
        EXPLORER_STREAM,
        "h",
        "lineage.spawnedBy.record",
        "r0",
        one("ASR-063", "no-such-record", "notice", "h", "$.lineage.spawnedBy.record"),
    ),
    (EXPLORER_STREAM, "h", "lineage.spawnedBy.record", ..., []),
    (EXPLORER_STREAM, "h", "lineage.spawnedBy", ..., []),
    # ASR-413
    (APP_STREAM, "a5", "copiedFrom", [], bad("ASR-413", "wrong-shape", "$.copiedFrom", "a5")),
    (
        APP_STREAM,
        "a5",
        "copiedFrom.proof",
        "same_words",
        bad("ASR-413", "bad-proof", "$.copiedFrom.proof", "a5"),
    ),
    (
        APP_STREAM,
        "a5",
        "copiedFrom.proof",
        ...,
        bad("ASR-413", "bad-proof", "$.copiedFrom.proof", "a5"),
    ),
    (
        APP_STREAM,
        "a5",
        "copiedFrom.session",
        ...,
        bad("ASR-413", "copied-from-nowhere", "$.copiedFrom", "a5"),
    ),
    (
        APP_STREAM,
        "a6",
        "copiedFrom.record",
        "a6",
        bad("ASR-413", "not-lower-seq", "$.copiedFrom.record", "a6"),
    ),
    (
        APP_STREAM,
        "a6",
        "copiedFrom.record",
        "messageId=w9",
        bad("ASR-079", "no-such-entity", "$.copiedFrom.record", "a6"),
    ),
    (
        MIRROR_STREAM,
        "o1",
        "copiedFrom.record",
        "callId=call_7",
        one("ASR-079", "no-such-entity", "notice", "o1", "$.copiedFrom.record"),
    ),
    # ASR-420
    (
        APP_STREAM,
        "h",
        "lineage.executedBy",
        claim(THREAD),
        bad("ASR-420", "wrong-shape", "$.lineage.executedBy"),
    ),
    (
        APP_STREAM,
        "a4",
        "lineage.executedBy",
        None,
        bad("ASR-420", "bad-facet", "$.lineage.executedBy", "a4"),
    ),
    (APP_STREAM, "a4", "lineage.executedBy", [], []),
    # ASR-422
    (
        MIRROR_STREAM,
        "h",
        "lineage.executedBy",
        [],
        bad("ASR-422", "mirror-of-many", "$.authority"),
    ),
    (MIRROR_STREAM, "h", "lineage", ..., bad("ASR-422", "mirror-of-many", "$.authority")),
    (
        MIRROR_STREAM,
        "h",
        "lineage.executedBy",
        [claim(THREAD), claim(MAIN)],
        bad("ASR-422", "mirror-of-many", "$.authority"),
    ),
    (
        MIRROR_STREAM,
        "h",
        "lineage.executedBy",
        {},
        bad("ASR-420", "wrong-shape", "$.lineage.executedBy"),
    ),
    (
        WORKER_STREAM,
        "h",
        "authority",
        "mirror",
        bad("ASR-422", "mirror-of-many", "$.authority"),
    ),
    # ASR-424
    (
        APP_STREAM,
        "a3",
        "supersedes",
        ...,
        bad("ASR-424", "second-announcement", "$.supersedes", "a3"),
    ),
    (
        APP_STREAM,
        "a3",
        "supersedes",
        "a9",
        bad("ASR-063", "supersedes-unknown", "$.supersedes", "a3"),
    ),
]


def test_streams_like_those_of_the_page_are_clean() -> None:
    """Headers, announcements, copies, wrapper and mirror, all in scope."""
    assert told(found(*STREAMS)) == []


@pytest.mark.parametrize(
    ("stream", "record", "path", "value", "expected"),
    EDITS,
    ids=[f"{edit[1]}.{edit[2]}={edit[3]!r}"[:60] for edit in EDITS],
)
@pytest.mark.parametrize("strict", [True, False], ids=["strict", "fast"])
def test_one_edit_gives_the_one_finding(
    stream: Stream, record: str, path: str, value: Any, expected: list[Told], *, strict: bool
) -> None:
    """In its own stream; with and without the strict pass it is the same fault."""
    broken = edited(stream, record, path, value)
    number = STREAMS.index(stream)
    findings = found(*(broken if s is stream else s for s in STREAMS), strict=strict)
    assert told([f for f in findings if f.file == f"{number + 1}.jsonl"]) == expected


def test_another_fault_of_a_parent_does_not_hide_that_it_announces_nothing() -> None:
    """ASR-412: only a parent that is not in scope gets no notice."""
    silent = edited(MAIN_STREAM[:2], "h", "lineage", {"role": 7})
    assert {f.code for f in found(silent, EXPLORER_STREAM)} == {"bad-facet", "no-announcement"}
    assert {f.code for f in found(EXPLORER_STREAM)} == {"no-such-session"}


def test_a_capture_that_is_no_object_is_the_fault_not_the_missing_child() -> None:
    """ASR-411: what only follows is left out."""
    broken = [of(MAIN), {"type": "subagent", "seq": 1, "id": "r1", "capture": "none"}]
    assert told(found(broken)) == one(None, "bad-member", "error", "r1", "$.capture")


def test_sessions_that_come_from_each_other_are_reported_once() -> None:
    """A cycle is no fault under a rule of the page."""
    first = [of("codex:a", lineage={"forkedFrom": claim("codex:b")})]
    second = [of("codex:b", lineage={"forkedFrom": claim("codex:a")})]
    (finding,) = found(first, second)
    assert (finding.rule, finding.code, finding.severity) == (None, "lineage-cycle", "warning")
    assert (finding.session, finding.file) == ("codex:a", "1.jsonl")


_CURRENCY = "$.cost[0].currency"


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ({"cost": [{"amount": "1e3", "currency": "EUR"}]}, [("bad-member", "$.cost[0].amount")]),
        ({"cost": [{"amount": 1, "currency": "EUR"}]}, [("bad-member", "$.cost[0].amount")]),
        ({"usage": {"outputTokens": 2**70}}, [("bad-member", "$.usage.outputTokens")]),
        ({"usage": {"outputTokens": -1}}, [("bad-member", "$.usage.outputTokens")]),
        ({"cost": [{"amount": "1", "currency": "\ud800"}]}, [("lone-surrogate", _CURRENCY)]),
        ({"usage": {"outputTokens": 1}}, []),
    ],
)
def test_use_that_counts_nowhere_is_reported(members: dict[str, Any], expected: list[Any]) -> None:
    """Where the strict pass has not said already what of it cannot be read."""
    stream = [of("codex:a"), {"type": "inference", "seq": 1, "id": "r1", "inferenceId": "i"}]
    stream[1] |= members
    assert [(f.code, f.path) for f in found(stream)] == expected


def test_findings_of_joined_segments_stand_in_their_own_files() -> None:
    """Segments share one lineage, and each fault is said once, where it stands."""
    bad_facet = {"spawnedBy": {"session": "codex:p"}}
    first = [
        of("codex:s", segment={"id": "1", "after": None}, lineage={"root": True}),
        {"type": "hook", "seq": 1, "id": "r1"},
    ]
    second = [
        of("codex:s", segment={"id": "2", "after": "1"}),
        {"type": "declaration", "seq": 3, "id": "r3", "lineage": bad_facet},
    ]
    findings = found(first, second)
    assert [(f.file, f.code) for f in findings if f.severity == "error"] == [
        ("2.jsonl", "missing-evidence"),
        ("2.jsonl", "root-with-parent"),
    ]
    assert [(f.file, f.code) for f in findings if f.rule == "ASR-402"] == [
        ("1.jsonl", "undocumented-root"),
        ("2.jsonl", "root-with-parent"),
    ]


def test_two_sessions_in_one_file_keep_their_findings_apart() -> None:
    """Also two captures of one session, which contradict each other."""
    broken = [of("codex:a", lineage={"continues": claim("codex:b", reason="nap")})]
    text = encoded(broken) + encoded([of("codex:b", lineage=5)]) + encoded(broken)
    findings = found(text)
    assert [(f.line, f.code) for f in findings] == [(1, "bad-reason"), (2, "wrong-shape")]
    other = [*broken, {"type": "hook", "seq": 1, "id": "r1"}]
    third = [*broken, {"type": "hook", "seq": 1, "id": "r2"}]
    findings = found(encoded(other) + encoded(third) + encoded([of("codex:b")]))
    assert [(f.line, f.code) for f in findings if f.rule == "ASR-408"] == [
        (1, "bad-reason"),
        (3, "bad-reason"),
    ]


def test_streams_without_records_or_observers_have_no_lineage() -> None:
    """A scope that was read without what lineage looks at is checked as far as that goes."""
    assert [f.code for f in found(b"", EXPLORER_STREAM[:1])] == ["no-header", "no-such-session"]
    scope = StreamScope.of([Named("a", encoded([of("codex:a", lineage={"root": False})]))])
    assert list(check(scope)) == []
    scope = StreamScope.of(
        [Named("a", encoded([of("codex:a", lineage={"root": False})]))], observers=OBSERVERS
    )
    assert [f.code for f in check(scope)] == ["bad-root"]
