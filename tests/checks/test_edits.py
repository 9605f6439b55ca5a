"""Good streams, each broken by one edit: what is found is the fault, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from check_streams import CHILD, MAIN, PARENT, SUBAGENT, WRAPPER, edited, found, told

if TYPE_CHECKING:
    from check_streams import Stream

Told = tuple[str | None, str, str, str | None, str | None]

STREAMS = (PARENT, SUBAGENT, WRAPPER)

#: A stream, the record and the member that is replaced (`...`: taken out), and what is then found.
EDITS: list[tuple[Stream, str, str, Any, list[Told]]] = [
    (
        PARENT,
        "h",
        "agent.name",
        "Claude Code",
        [("ASR-056", "bad-agent-name", "error", "h", "$.agent.name")],
    ),
    (
        PARENT,
        "h",
        "agent.name",
        "night-agent",
        [("ASR-057", "unregistered-agent-name", "error", "h", "$.agent.name")],
    ),
    (PARENT, "h", "agent", ..., [("ASR-056", "missing-member", "error", "h", "$.agent.name")]),
    (
        PARENT,
        "h",
        "agent",
        "claude-code",
        [("ASR-056", "bad-member", "error", "h", "$.agent.name")],
    ),
    (PARENT, "h", "agent.name", ..., [("ASR-056", "missing-member", "error", "h", "$.agent.name")]),
    (PARENT, "h", "sessionId", ..., [("ASR-051", "missing-member", "error", "h", "$.sessionId")]),
    (PARENT, "h", "sessionId", "", [("ASR-051", "empty-component", "error", "h", "$.sessionId")]),
    (PARENT, "h", "sessionId", 7, [("ASR-051", "bad-member", "error", "h", "$.sessionId")]),
    (
        PARENT,
        "h",
        "sessionId",
        "ab12cd3",
        [("ASR-054", "missing-namespace", "error", "h", "$.namespace")],
    ),
    (PARENT, "h", "namespace", "", [("ASR-054", "empty-component", "error", "h", "$.namespace")]),
    (PARENT, "h", "namespace", 5, [("ASR-054", "bad-member", "error", "h", "$.namespace")]),
    (PARENT, "h", "seq", ..., [(None, "missing-member", "error", "h", "$.seq")]),
    (PARENT, "h", "seq", "0", [(None, "bad-member", "error", "h", "$.seq")]),
    (PARENT, "h", "id", ..., [(None, "missing-member", "error", None, "$.id")]),
    (
        PARENT,
        "h",
        "producer.lossy",
        "all",
        [(None, "bad-member", "error", "h", "$.producer.lossy")],
    ),
    (PARENT, "h", "workspace.roots", {}, [(None, "bad-member", "error", "h", "$.workspace.roots")]),
    (
        PARENT,
        "h",
        "participants",
        {"id": "ada"},
        [(None, "bad-member", "error", "h", "$.participants")],
    ),
    (
        PARENT,
        "h",
        "participants",
        [],
        [("ASR-077", "not-declared", "error", "r1", "$.authorActor.participant")],
    ),
    (
        WRAPPER,
        "h",
        "namespace",
        ...,
        [
            ("ASR-054", "missing-namespace", "error", "h", "$.namespace"),
            ("ASR-079", "no-such-session", "notice", "w1", "$.causedBy.session"),
        ],
    ),
    (
        WRAPPER,
        "h",
        "lineage.executedBy.0.session",
        f"claude-code:{MAIN}#m1",
        [("ASR-400", "unexpected-ref", "error", "h", "$.lineage.executedBy[0].session")],
    ),
    (
        WRAPPER,
        "h",
        "lineage.executedBy.0.session",
        7,
        [("ASR-400", "bad-member", "error", "h", "$.lineage.executedBy[0].session")],
    ),
    (
        WRAPPER,
        "w1",
        "executedBy.0",
        f"claude-code:{MAIN}#turnId=t9",
        [("ASR-075", "no-such-turn", "notice", "w1", "$.executedBy[0]")],
    ),
    (
        WRAPPER,
        "w1",
        "executedBy.0",
        f"claude-code:{MAIN}#m1",
        [("ASR-079", "unexpected-ref", "error", "w1", "$.executedBy[0]")],
    ),
    (WRAPPER, "w1", "executedBy", "x", [("ASR-079", "wrong-shape", "error", "w1", "$.executedBy")]),
    (
        WRAPPER,
        "w1",
        "causedBy.session",
        "t3-code:c2a7:thread:9%25",
        [("ASR-061", "too-many-components", "error", "w1", "$.causedBy.session")],
    ),
    (
        WRAPPER,
        "w1",
        "causedBy.session",
        "t3-code:c2a7:thread%3a9%25",
        [("ASR-059", "lower-case-digits", "warning", "w1", "$.causedBy.session")],
    ),
    (
        WRAPPER,
        "w1",
        "causedBy.session",
        "t3-code:c2a7:thread%FF",
        [("ASR-060", "invalid-utf8", "error", "w1", "$.causedBy.session")],
    ),
    (
        WRAPPER,
        "w1",
        "causedBy.session",
        "t3-code:c2a7:thread%3A9%25#m1",
        [("ASR-076", "unexpected-ref", "error", "w1", "$.causedBy.session")],
    ),
    (WRAPPER, "w1", "causedBy", {}, [("ASR-076", "empty-actor", "error", "w1", "$.causedBy")]),
    (WRAPPER, "w1", "causedBy", "ada", [("ASR-076", "bad-actor", "error", "w1", "$.causedBy")]),
    (
        WRAPPER,
        "w1",
        "causedBy",
        {"address": 7},
        [("ASR-076", "bad-actor", "error", "w1", "$.causedBy")],
    ),
    (
        WRAPPER,
        "w1",
        "causedBy.session",
        7,
        [("ASR-076", "bad-member", "error", "w1", "$.causedBy.session")],
    ),
    (
        PARENT,
        "r1",
        "authorActor.participant",
        "bo",
        [("ASR-077", "not-declared", "error", "r1", "$.authorActor.participant")],
    ),
    (
        PARENT,
        "r1",
        "authorActor.participant",
        "zed",
        [("ASR-077", "not-declared", "error", "r1", "$.authorActor.participant")],
    ),
    (
        PARENT,
        "r1",
        "authorActor.participant",
        7,
        [("ASR-077", "bad-member", "error", "r1", "$.authorActor.participant")],
    ),
    (PARENT, "r1", "root", "app", [("ASR-079", "not-declared", "error", "r1", "$.root")]),
    (PARENT, "r1", "root", None, []),
    (
        PARENT,
        "r1",
        "messageId",
        ...,
        [("ASR-065", "missing-entity-key", "error", "r1", "$.messageId")],
    ),
    (
        PARENT,
        "r1",
        "messageId",
        "",
        [("ASR-065", "missing-entity-key", "error", "r1", "$.messageId")],
    ),
    (PARENT, "r1", "messageId", 7, [(None, "bad-member", "error", "r1", "$.messageId")]),
    (PARENT, "r1", "turnId", 7, [(None, "bad-member", "error", "r1", "$.turnId")]),
    (PARENT, "r1", "messageId", "m9", []),
    (
        PARENT,
        "r2",
        "inferenceId",
        "m1",
        [
            ("ASR-074", "message-id-as-inference-id", "warning", "r2", "$.inferenceId"),
            ("ASR-079", "no-such-entity", "notice", "r3", "$.inferenceId"),
        ],
    ),
    (
        PARENT,
        "r2",
        "inferenceId",
        ...,
        [
            ("ASR-065", "missing-entity-key", "error", "r2", "$.inferenceId"),
            ("ASR-079", "no-such-entity", "notice", "r3", "$.inferenceId"),
        ],
    ),
    (
        PARENT,
        "r2",
        "usage.inputTokens",
        -1,
        [(None, "bad-member", "error", "r2", "$.usage.inputTokens")],
    ),
    (
        PARENT,
        "r2",
        "usage.inputTokens",
        "12",
        [(None, "bad-member", "error", "r2", "$.usage.inputTokens")],
    ),
    (PARENT, "r2", "cost", {}, [(None, "bad-member", "error", "r2", "$.cost")]),
    (
        PARENT,
        "r2",
        "cost.0.amount",
        0.01,
        [(None, "bad-member", "error", "r2", "$.cost[0].amount")],
    ),
    (
        PARENT,
        "r2",
        "inferenceId",
        "msg_2",
        [("ASR-079", "no-such-entity", "notice", "r3", "$.inferenceId")],
    ),
    (
        PARENT,
        "r3",
        "inferenceId",
        "msg_9",
        [("ASR-079", "no-such-entity", "notice", "r3", "$.inferenceId")],
    ),
    (
        PARENT,
        "r4",
        "callId",
        "toolu_8",
        [("ASR-065", "supersedes-other-key", "error", "r7", "$.supersedes")],
    ),
    (
        PARENT,
        "r4",
        "id",
        "r3",
        [
            ("ASR-017", "duplicate-id", "warning", "r3", "$.id"),
            ("ASR-063", "supersedes-unknown", "error", "r7", "$.supersedes"),
            ("ASR-063", "no-such-record", "notice", "r11", "$.retains[0]"),
            ("ASR-079", "ambiguous", "error", "r11", "$.insertAt.afterId"),
            ("ASR-079", "ambiguous", "error", "r13", "$.heads[1]"),
            ("ASR-079", "ambiguous", "error", "r14", "$.targets[0]"),
            ("ASR-079", "ambiguous", "error", "r16", "$.derivedFrom[0]"),
        ],
    ),
    (
        PARENT,
        "r5",
        "childSession",
        f"claude-code:{CHILD}#c1",
        [("ASR-411", "unexpected-ref", "error", "r5", "$.childSession")],
    ),
    (
        PARENT,
        "r5",
        "childSession",
        f"{CHILD}",
        [("ASR-061", "missing-session-id", "error", "r5", "$.childSession")],
    ),
    (
        PARENT,
        "r5",
        "childSession",
        "claude-code:nobody",
        [("ASR-079", "no-such-session", "notice", "r5", "$.childSession")],
    ),
    (PARENT, "r5", "childSession", 5, [("ASR-411", "bad-member", "error", "r5", "$.childSession")]),
    (
        PARENT,
        "r5",
        "callId",
        "toolu_1",
        [("ASR-079", "no-such-entity", "notice", "r5", "$.callId")],
    ),
    (PARENT, "r5", "agent", "Codex", [("ASR-056", "bad-agent-name", "error", "r5", "$.agent")]),
    (
        PARENT,
        "r5",
        "agent",
        "night-agent",
        [("ASR-057", "unregistered-agent-name", "error", "r5", "$.agent")],
    ),
    (PARENT, "r5", "agent", {"name": "codex"}, [(None, "bad-member", "error", "r5", "$.agent")]),
    (
        PARENT,
        "r6",
        "supersedes",
        "r99",
        [("ASR-063", "supersedes-unknown", "error", "r6", "$.supersedes")],
    ),
    (
        PARENT,
        "r6",
        "supersedes",
        "r6",
        [(None, "supersedes-itself", "error", "r6", "$.supersedes")],
    ),
    (
        PARENT,
        "r6",
        "supersedes",
        "r4",
        [(None, "supersedes-other-type", "error", "r6", "$.supersedes")],
    ),
    (
        PARENT,
        "r6",
        "supersedes",
        "r12",
        [(None, "supersedes-other-type", "error", "r6", "$.supersedes")],
    ),
    (PARENT, "r6", "supersedes", 5, [(None, "bad-member", "error", "r6", "$.supersedes")]),
    (
        PARENT,
        "r7",
        "supersedes",
        "r99",
        [("ASR-063", "supersedes-unknown", "error", "r7", "$.supersedes")],
    ),
    (
        PARENT,
        "r7",
        "supersedes",
        ...,
        [
            ("ASR-064", "ambiguous", "notice", "r5", "$.callId"),
            ("ASR-064", "ambiguous", "notice", "r6", "$.callId"),
            ("ASR-064", "ambiguous", "notice", "r7", "$.callId"),
        ],
    ),
    (
        PARENT,
        "r7",
        "callId",
        "toolu_8",
        [("ASR-065", "supersedes-other-key", "error", "r7", "$.supersedes")],
    ),
    (
        PARENT,
        "r7",
        "supersedes",
        "r5",
        [(None, "supersedes-other-type", "error", "r7", "$.supersedes")],
    ),
    (PARENT, "r7", "seq", 1, [(None, "supersedes-later", "error", "r7", "$.supersedes")]),
    (
        PARENT,
        "r7",
        "type",
        "message",
        [
            ("ASR-065", "missing-entity-key", "error", "r7", "$.messageId"),
            (None, "supersedes-other-type", "error", "r7", "$.supersedes"),
        ],
    ),
    (
        PARENT,
        "r8",
        "idSource",
        "made",
        [("ASR-067", "bad-id-source", "warning", "r8", "$.idSource")],
    ),
    (PARENT, "r8", "idSource", "native", []),
    (PARENT, "r8", "idScope", "capture", []),
    (PARENT, "r8", "resolvedBy", {}, [("ASR-076", "empty-actor", "error", "r8", "$.resolvedBy")]),
    (
        PARENT,
        "r9",
        "participants",
        [],
        [("ASR-077", "not-declared", "error", "r10", "$.answeredBy.participant")],
    ),
    (
        PARENT,
        "r9",
        "seq",
        11,
        [("ASR-077", "not-declared", "error", "r10", "$.answeredBy.participant")],
    ),
    (
        PARENT,
        "r11",
        "insertAt.afterId",
        "r99",
        [("ASR-063", "no-such-record", "error", "r11", "$.insertAt.afterId")],
    ),
    (
        PARENT,
        "r11",
        "insertAt.afterId",
        "messageId=m1",
        [("ASR-079", "entity-ref", "error", "r11", "$.insertAt.afterId")],
    ),
    (PARENT, "r11", "insertAt", [], [("ASR-079", "wrong-shape", "error", "r11", "$.insertAt")]),
    (PARENT, "r11", "insertAt.afterId", None, []),
    (
        PARENT,
        "r11",
        "replaces.ids.0",
        "r99",
        [("ASR-063", "no-such-record", "error", "r11", "$.replaces.ids[0]")],
    ),
    (
        PARENT,
        "r11",
        "replaces.ids.1",
        "turnId=t1",
        [("ASR-075", "turn-ref", "error", "r11", "$.replaces.ids[1]")],
    ),
    (
        PARENT,
        "r11",
        "replaces.ids",
        "r1",
        [("ASR-079", "wrong-shape", "error", "r11", "$.replaces.ids")],
    ),
    (
        PARENT,
        "r11",
        "replaces.ids.1",
        "messageID=m2",
        [("ASR-062", "unknown-entity-key", "error", "r11", "$.replaces.ids[1]")],
    ),
    (
        PARENT,
        "r11",
        "retains.0",
        "r99",
        [("ASR-063", "no-such-record", "notice", "r11", "$.retains[0]")],
    ),
    (
        PARENT,
        "r11",
        "compactionId",
        None,
        [("ASR-065", "missing-entity-key", "error", "r11", "$.compactionId")],
    ),
    (
        PARENT,
        "r11",
        "replaces.ids.0",
        None,
        [("ASR-079", "null-reference", "error", "r11", "$.replaces.ids[0]")],
    ),
    (PARENT, "r11", "kind", "branch_summary", []),
    (PARENT, "r12", "to", "r99", [("ASR-063", "no-such-record", "error", "r12", "$.to")]),
    (PARENT, "r12", "to", "turnId=t1", [("ASR-075", "turn-ref", "error", "r12", "$.to")]),
    (PARENT, "r12", "to", ..., []),
    (PARENT, "r12", "to", 4, [("ASR-079", "bad-member", "error", "r12", "$.to")]),
    (
        PARENT,
        "r13",
        "heads",
        ["r3", None],
        [("ASR-079", "null-reference", "error", "r13", "$.heads[1]")],
    ),
    (
        PARENT,
        "r13",
        "heads.1",
        "callId=toolu_1",
        [("ASR-079", "no-such-entity", "error", "r13", "$.heads[1]")],
    ),
    (
        PARENT,
        "r14",
        "targets.0",
        "r15",
        [("ASR-079", "not-lower-seq", "error", "r14", "$.targets[0]")],
    ),
    (PARENT, "r14", "targets.0", "", [("ASR-062", "empty-ref", "error", "r14", "$.targets[0]")]),
    (PARENT, "r14", "targets", "r3", [("ASR-079", "wrong-shape", "error", "r14", "$.targets")]),
    (
        PARENT,
        "r15",
        "continuationOf",
        "turnId=t9",
        [("ASR-075", "no-such-turn", "notice", "r15", "$.continuationOf")],
    ),
    (
        PARENT,
        "r15",
        "continuationOf",
        "",
        [("ASR-062", "empty-ref", "error", "r15", "$.continuationOf")],
    ),
    (
        PARENT,
        "r16",
        "branchesFrom.record",
        "r99",
        [("ASR-063", "no-such-record", "error", "r16", "$.branchesFrom.record")],
    ),
    (
        PARENT,
        "r16",
        "branchesFrom",
        "r1",
        [("ASR-079", "wrong-shape", "error", "r16", "$.branchesFrom")],
    ),
    (
        PARENT,
        "r16",
        "copiedFrom.record",
        "messageId=m9",
        [("ASR-079", "no-such-entity", "error", "r16", "$.copiedFrom.record")],
    ),
    (
        PARENT,
        "r16",
        "copiedFrom.record",
        "r16",
        [("ASR-413", "not-lower-seq", "error", "r16", "$.copiedFrom.record")],
    ),
    (
        PARENT,
        "r16",
        "copiedFrom",
        "r3",
        [("ASR-413", "wrong-shape", "error", "r16", "$.copiedFrom")],
    ),
    (
        PARENT,
        "r16",
        "derivedFrom.0",
        "r99",
        [("ASR-063", "no-such-record", "error", "r16", "$.derivedFrom[0]")],
    ),
    (
        PARENT,
        "r16",
        "derivedFrom.1",
        "claude-code:x",
        [("ASR-079", "no-such-session", "notice", "r16", "$.derivedFrom[1]")],
    ),
    (
        PARENT,
        "r16",
        "derivedFrom",
        "r3",
        [("ASR-079", "wrong-shape", "error", "r16", "$.derivedFrom")],
    ),
    (
        SUBAGENT,
        "h",
        "lineage.spawnedBy.record",
        "callId=nope",
        [("ASR-412", "calls-differ", "warning", "h", "$.lineage.spawnedBy.record")],
    ),
    (
        SUBAGENT,
        "h",
        "lineage.spawnedBy.session",
        "nobody",
        [("ASR-061", "missing-session-id", "error", "h", "$.lineage.spawnedBy.session")],
    ),
    (
        SUBAGENT,
        "h",
        "lineage.inherits.localThroughId",
        "c9",
        [("ASR-063", "no-such-record", "error", "h", "$.lineage.inherits.localThroughId")],
    ),
    (
        SUBAGENT,
        "h",
        "lineage.inherits.mode",
        "none",
        [("ASR-409", "out-of-place", "error", "h", "$.lineage.inherits.localThroughId")],
    ),
    (
        SUBAGENT,
        "h",
        "lineage.inherits.throughId",
        "r99",
        [("ASR-063", "no-such-record", "notice", "h", "$.lineage.inherits.throughId")],
    ),
    (SUBAGENT, "h", "lineage", [], [("ASR-400", "wrong-shape", "error", "h", "$.lineage")]),
    (
        SUBAGENT,
        "c1",
        "copiedFrom.record",
        "messageId=m9",
        [("ASR-079", "no-such-entity", "notice", "c1", "$.copiedFrom.record")],
    ),
    (
        SUBAGENT,
        "c1",
        "copiedFrom.session",
        "claude-code:x",
        [("ASR-079", "no-such-session", "notice", "c1", "$.copiedFrom.session")],
    ),
    (
        SUBAGENT,
        "c1",
        "copiedFrom.session",
        ...,
        [("ASR-079", "no-such-entity", "error", "c1", "$.copiedFrom.record")],
    ),
    (
        SUBAGENT,
        "c1",
        "id",
        "c2",
        [
            ("ASR-063", "no-such-record", "error", "h", "$.lineage.inherits.localThroughId"),
            ("ASR-017", "duplicate-id", "warning", "c2", "$.id"),
        ],
    ),
    (SUBAGENT, "c1", "seq", None, [(None, "bad-member", "error", "c1", "$.seq")]),
    (SUBAGENT, "c1", "type", ..., [(None, "missing-member", "error", "c1", "$.type")]),
]


def test_the_streams_check_clean() -> None:
    """Rebuilt examples of headers, subagent records, copies and wrappers keep every rule."""
    assert found(*STREAMS) == []


@pytest.mark.parametrize("alone", STREAMS, ids=["parent", "subagent", "wrapper"])
def test_what_is_not_in_scope_is_a_notice(alone: Stream) -> None:
    """Each stream alone is valid; a session that is not there costs one notice (ASR-079)."""
    findings = found(alone)
    assert {(f.code, f.severity) for f in findings} == {("no-such-session", "notice")}
    assert len({f.session for f in findings}) == 1


@pytest.mark.parametrize(
    ("stream", "record", "path", "value", "expected"),
    EDITS,
    ids=[f"{edit[1]}.{edit[2]}={edit[3]!r}"[:60] for edit in EDITS],
)
def test_one_edit_gives_the_one_finding(
    stream: Stream, record: str, path: str, value: Any, expected: list[Told]
) -> None:
    """One fault is one finding, under its rule and at its place."""
    broken = edited(stream, record, path, value)
    number = STREAMS.index(stream)
    findings = found(*(broken if s is stream else s for s in STREAMS))
    here = f"{number + 1}.jsonl"
    assert told([f for f in findings if f.file == here]) == expected
    # What other streams say of it is that something is not there any more.
    assert {f.severity for f in findings if f.file != here} <= {"notice"}


@pytest.mark.parametrize("edit", EDITS, ids=[f"{e[1]}.{e[2]}={e[3]!r}"[:60] for e in EDITS])
def test_the_fast_way_finds_no_more(edit: tuple[Stream, str, str, Any, list[Told]]) -> None:
    """Without the strict pass nothing is found that it would not have found, but for other words
    about the same fault, and what only follows from a type that nobody looked at.
    """
    broken = edited(*edit[:4])
    strict = {(f.line, f.id) for f in found(broken)}
    for finding in found(broken, strict=False):
        assert (finding.line, finding.id) in strict or finding.code == "not-declared"
