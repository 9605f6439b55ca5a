"""What is a fault of its own, and what only follows from one; and odd places of single rules."""

from __future__ import annotations

import io
import json
import sys
from typing import Any

import msgspec
import pytest
from check_streams import Named, encoded, found, header, strictly, told

from sessionref.checks.causes import Causes, root_causes
from sessionref.checks.run import OBSERVERS, check
from sessionref.checks.strict import faults_of_line
from sessionref.cli import _findings
from sessionref.findings import Finding
from sessionref.registry import Registry
from sessionref.scope.scope import StreamScope
from sessionref.streams.index import StreamIndex


def call(seq: int, call_id: str = "c1", **members: Any) -> dict[str, Any]:
    return {"type": "tool_call", "seq": seq, "id": f"r{seq}", "callId": call_id, **members}


def codes(*records: dict[str, Any]) -> list[tuple[str, str | None]]:
    return [(f.code, f.id) for f in found([header("s1"), *records])]


def test_a_record_that_is_not_read_costs_one_finding() -> None:
    """Neither what supersedes it nor what refers to it is at fault."""
    records = [
        {**call(1), "seq": "one"},
        call(2, supersedes="r1"),
        {"type": "tombstone", "seq": 3, "id": "r3", "targets": ["r1"]},
        {"type": "rewind", "seq": 4, "id": "r4", "to": "r9"},
    ]
    assert codes(*records) == [("bad-member", "r1"), ("no-such-record", "r4")]


def test_what_else_is_wrong_with_a_record_that_names_the_missing_is_said() -> None:
    """What follows from the fault is left out, not the whole line."""
    records = [{**call(1), "seq": "one"}, {**call(2, supersedes="r1"), "root": 4, "ts": 5}]
    assert codes(*records) == [("bad-member", "r1"), ("bad-member", "r2"), ("bad-member", "r2")]


def test_a_record_without_an_id_leaves_others_at_fault() -> None:
    """Which record it would have been is not known."""
    records = [
        {"type": "hook", "seq": 1},
        {"type": "tombstone", "seq": 2, "id": "r2", "targets": ["r1"]},
    ]
    assert codes(*records) == [("missing-member", None), ("no-such-record", "r2")]


def test_a_line_that_is_no_json_excuses_nothing() -> None:
    """It is a warning, and an error must not vanish behind it."""
    stream = b"oops\n" + encoded(
        [call(1), {"type": "tombstone", "seq": 2, "id": "r2", "targets": ["r9"]}]
    )
    assert [(f.code, f.severity) for f in found(stream)] == [
        ("no-header", "error"),
        ("not-json", "warning"),
        ("no-such-record", "error"),
    ]


@pytest.mark.parametrize("first", [b"[]\n", b"[" * 9000 + b"\n", b'{"type":"session"}\n'])
def test_a_header_that_is_no_record_is_the_one_fault(first: bytes) -> None:
    """That there is no header, and that nothing is declared, follows from it."""
    rest = encoded([{"type": "hook", "seq": 1, "id": "r1", "root": "lib"}])
    (finding,) = found(first + rest)
    assert finding.line == 1
    # Further down it is a line like any other.
    assert "no-header" in [f.code for f in found(rest + first)]
    assert [f.code for f in found(first)] == [finding.code]


def test_links_at_fault_split_chains_and_only_they_are_reported() -> None:
    """However far along the chain the fault is, and in every stream that refers to the entity."""
    target = [
        header("s1"),
        call(1),
        call(2, supersedes="r1"),
        call(3, supersedes="gone"),
        call(4, supersedes="r3"),
        {"type": "tombstone", "seq": 5, "id": "r5", "targets": ["callId=c1"]},
        {"type": "tombstone", "seq": 6, "id": "r6", "targets": ["callId=c1"]},
    ]
    assert told(found(target)) == [("ASR-063", "supersedes-unknown", "error", "r3", "$.supersedes")]
    fork = [header("s1"), call(1), call(2, supersedes="r1"), call(3, supersedes="r1")]
    copies = [
        header("s2"),
        {
            "type": "message",
            "seq": 1,
            "id": "r1",
            "messageId": "m",
            "copiedFrom": {"session": "codex:s1", "record": "callId=c1", "proof": "native_id"},
        },
    ]
    assert [f.code for f in found(fork, copies)] == ["supersedes-fork"]
    # Two chains that nobody joined are ambiguous to both.
    two = [header("s1"), call(1), call(2), *target[-1:]]
    assert told(found(two, copies)) == [
        ("ASR-064", "ambiguous", "notice", "r2", "$.callId"),
        ("ASR-064", "ambiguous", "error", "r6", "$.targets[0]"),
        ("ASR-064", "ambiguous", "notice", "r1", "$.copiedFrom.record"),
    ]


def test_a_broken_link_explains_no_other_entity() -> None:
    """Two entities of one stream: only the one whose chain is broken is explained by it."""
    other = {"type": "tool_call", "callId": "c2"}
    records = [
        header("s1"),
        call(1),
        call(2, supersedes="gone"),
        {**other, "seq": 3, "id": "r3"},
        {**other, "seq": 4, "id": "r4"},
        {"type": "tombstone", "seq": 5, "id": "r5", "targets": ["callId=c1", "callId=c2"]},
    ]
    assert told(found(records)) == [
        ("ASR-063", "supersedes-unknown", "error", "r2", "$.supersedes"),
        ("ASR-064", "ambiguous", "notice", "r4", "$.callId"),
        ("ASR-064", "ambiguous", "error", "r5", "$.targets[1]"),
    ]


def test_an_unreadable_line_of_another_stream_joins_no_chains() -> None:
    """An ambiguity that a link at fault explains is not reported, whoever refers to it (063)."""
    copies = [
        header("s2"),
        {
            "type": "message",
            "seq": 1,
            "id": "r1",
            "messageId": "m",
            "copiedFrom": {"session": "codex:s1", "record": "callId=c1", "proof": "native_id"},
        },
    ]
    broken = [header("s1"), call(1), call(2, supersedes="gone")]
    assert told(found(broken, copies)) == [
        ("ASR-063", "supersedes-unknown", "error", "r2", "$.supersedes")
    ]
    # A link that is in order explains nothing, though another one of the stream is at fault.
    other = [
        header("s1"),
        call(1),
        call(2),
        call(3, supersedes="r1"),
        call(4, "c2", supersedes="gone"),
    ]
    assert told(found(other, copies)) == [
        ("ASR-064", "ambiguous", "notice", "r3", "$.callId"),
        ("ASR-063", "supersedes-unknown", "error", "r4", "$.supersedes"),
        ("ASR-064", "ambiguous", "notice", "r1", "$.copiedFrom.record"),
    ]


@pytest.mark.parametrize(
    ("agent", "expected"),
    [
        ("night-agent", [("ASR-057", "unregistered-agent-name", "error", "r1", "$.agent")]),
        ("Codex", [("ASR-056", "bad-agent-name", "error", "r1", "$.agent")]),
        ("com.example.night", []),
        ("com.openai.codex", []),
        ("codex", []),
    ],
)
def test_the_agent_of_a_delegation_is_looked_at_where_no_id_has_a_source(
    agent: str, expected: list[Any]
) -> None:
    """That is a mark of other rules; names that anybody may write are passed over."""
    delegation = {"type": "subagent", "seq": 1, "id": "r1", "childSession": "codex:s2"}
    named, other = {**delegation, "agent": agent}, {**delegation, "type": "note", "agent": agent}
    assert told(found([header("s1"), named], [header("s2")], strict=False)) == expected
    # On a record of another type the member is none that anybody reads.
    assert found([header("s1"), other], [header("s2")], strict=False) == []


def test_a_stream_without_a_session_is_one_fault() -> None:
    """Who the agent would be is not looked at while no session has it (ASR-051)."""
    nameless = header("s1", "night-agent")
    del nameless["sessionId"]
    assert told(found([nameless])) == [("ASR-051", "missing-member", "error", "h", "$.sessionId")]


def test_an_error_elsewhere_hides_no_missing_announcement() -> None:
    """Only a record that may have been the announcement does (ASR-412)."""
    child = [
        header("s2", lineage={"spawnedBy": {"session": "codex:s1", "evidence": "native_field"}}),
        {"type": "message", "seq": 1, "id": "r1", "messageId": "m"},
    ]
    tombstone = {"type": "tombstone", "seq": 1, "id": "r1", "targets": ["r9"]}
    assert [(f.code, f.severity) for f in found([header("s1"), tombstone], child)] == [
        ("no-announcement", "notice"),
        ("no-such-record", "error"),
    ]
    absent = {"type": "subagent", "seq": 1, "id": "r1", "childSession": "codex:gone"}
    assert [(f.code, f.severity) for f in found([header("s1"), absent], child)] == [
        ("no-announcement", "notice"),
        ("no-such-session", "notice"),
    ]
    unreadable = {**absent, "childSession": "codex"}
    assert "no-announcement" not in [f.code for f in found([header("s1"), unreadable], child)]


def test_nameless_inputs_have_each_their_strict_pass() -> None:
    """Each is read for itself, and its findings stand with its own streams."""
    twice = b'{"type":"note","seq":1,"id":"r1","x":1,"x":2}\n'
    inputs = [io.BytesIO(encoded([header(session)]) + twice) for session in ("s1", "s2")]
    scope = StreamScope.of(inputs, observers=OBSERVERS)
    assert [(f.code, f.session, f.line) for f in check(scope, strict=strictly)] == [
        ("duplicate-member", "codex:s1", 2),
        ("duplicate-member", "codex:s2", 2),
    ]


def test_a_fault_of_another_entity_explains_no_ambiguity() -> None:
    records = [
        call(1),
        call(2),
        call(3, "c2", supersedes="gone"),
        {"type": "tombstone", "seq": 4, "id": "r4", "targets": ["callId=c1", "r9"]},
    ]
    assert codes(*records) == [
        ("ambiguous", "r2"),
        ("supersedes-unknown", "r3"),
        ("no-such-record", "r4"),
        ("ambiguous", "r4"),
    ]


def test_an_absent_session_is_one_notice_for_each_stream() -> None:
    """However often it is named; another session is another notice."""
    copy = {"session": "codex:gone", "proof": "native_field"}
    records = [
        {"type": "message", "seq": n, "id": f"r{n}", "messageId": f"m{n}", "copiedFrom": copy}
        for n in range(1, 9)
    ]
    other = {"type": "subagent", "seq": 9, "id": "r9", "childSession": "codex:elsewhere"}
    findings = found([header("s1"), *records, other], [header("s2"), records[0]])
    assert [(f.session, f.id) for f in findings] == [
        ("codex:s1", "r1"),
        ("codex:s1", "r9"),
        ("codex:s2", "r1"),
    ]


def test_a_derivation_must_resolve_where_it_names_no_session() -> None:
    """In the stream itself each target must be there; another session may be absent (079)."""
    message = {"type": "message", "seq": 1, "id": "r1", "messageId": "m"}
    derived = {**message, "derivedFrom": ["codex:gone", "codex:gone", "r8", "r9"]}
    assert [(f.code, f.severity) for f in found([header("s1"), derived])] == [
        ("no-such-record", "error"),
        ("no-such-record", "error"),
        ("no-such-session", "notice"),
    ]


def test_what_is_no_part_of_any_stream_is_no_finding() -> None:
    """External bytes may be unavailable (ASR-079)."""
    top = header("s1", derivedFrom={"digest": "sha256:00"})
    assert found([top]) == []
    top = header("s1", derivedFrom={"digest": 7})
    assert told(found([top])) == [("ASR-079", "bad-member", "error", "h", "$.derivedFrom.digest")]


def test_situation_E_13_a_native_position_that_stands_twice() -> None:
    """A boundary that cannot be mapped to one record is a notice (ASR-079)."""
    child = header(
        "s2",
        lineage={"forkedFrom": {"session": "codex:s1", "ordinal": 2, "evidence": "native_field"}},
    )
    parent = [
        header("s1"),
        *(
            {"type": "hook", "seq": seq, "id": record_id, "idSource": "derived"}
            for seq, record_id in enumerate(("ordinal/1", "ordinal/2", "ordinal/2/row/1"), 1)
        ),
    ]
    assert told(found([child], parent)) == [
        ("ASR-079", "ambiguous", "notice", "h", "$.lineage.forkedFrom.ordinal")
    ]


def test_a_conversation_and_a_root_that_nothing_declares() -> None:
    top = header("s1", conversation={"id": "a", "parent": "b"})
    hook = {"type": "hook", "seq": 1, "id": "r1", "root": "lib"}
    assert told(found([top, hook])) == [
        ("ASR-079", "not-declared", "notice", "h", "$.conversation.parent"),
        ("ASR-079", "not-declared", "error", "r1", "$.root"),
    ]


def test_segments_of_one_session_are_checked_as_one() -> None:
    """A revision may be of a record in an earlier file; each file has its own findings."""
    first = [header("s1", segment={"id": "a"}), call(1), call(2, "c2", supersedes="gone")]
    second = [
        header("s1", segment={"id": "b", "after": "a"}),
        {"type": "rewind", "seq": 3, "id": "r3", "to": "r1"},
        {"type": "rewind", "seq": 4, "id": "r4", "to": "r9"},
    ]
    told_of = [(f.file, f.code, f.id) for f in found(first, second)]
    assert told_of == [
        ("1.jsonl", "supersedes-unknown", "r2"),
        ("2.jsonl", "no-such-record", "r4"),
    ]


def test_a_repeated_capture_is_checked_once() -> None:
    """What a moved or resumed file says again is no second fault."""
    stream = [header("s1"), {"type": "rewind", "seq": 1, "id": "r1", "to": "r9"}]
    longer = [*stream, {"type": "hook", "seq": 2, "id": "r2"}]
    assert [(f.file, f.code) for f in found(stream, longer)] == [("2.jsonl", "no-such-record")]


def test_captures_that_contradict_each_other_are_all_checked() -> None:
    streams = [
        [header("s1"), {"type": "rewind", "seq": 1, "id": "r1", "to": f"r{n}"}] for n in (8, 9)
    ]
    assert [(f.file, f.code) for f in found(*streams)] == [
        ("1.jsonl", "identity-conflict"),
        ("1.jsonl", "no-such-record"),
        ("2.jsonl", "no-such-record"),
    ]


def test_lower_case_digits_are_looked_for_in_references_only() -> None:
    """A raw ref is not encoded, and what is no reference has its own finding."""
    records = [
        call(1, "%3a"),
        {"type": "tombstone", "seq": 2, "id": "r2", "targets": ["callId=%3a"]},
        {"type": "subagent", "seq": 3, "id": "r3", "childSession": "%3a"},
        {"type": "subagent", "seq": 4, "id": "r4", "childSession": "codex:a%3A%2f"},
    ]
    findings = found([header("s1"), *records])
    assert told([f for f in findings if f.severity != "notice"]) == [
        ("ASR-056", "bad-agent-name", "error", "r3", "$.childSession"),
        ("ASR-059", "lower-case-digits", "warning", "r4", "$.childSession"),
    ]
    assert [f.span for f in findings if f.rule == "ASR-059"] == [(10, 13)]


def test_a_bad_reference_says_where() -> None:
    subagent = {"type": "subagent", "seq": 1, "id": "r1", "childSession": "codex:a b"}
    (finding,) = found([header("s1"), subagent])
    assert (finding.component, finding.span) == ("session-id", (7, 8))


def test_marks_of_ids_are_texts() -> None:
    """A mark of another type is a matter of types, and no ASR-067."""
    records = [
        call(1, callIdSource=5),
        call(2, "c2", callIdSource="derived", idSource="native", idScope="session"),
        call(3, "c3", callIdSource="x", idSource="y"),
    ]
    assert told(found([header("s1"), *records])) == [
        (None, "bad-member", "error", "r1", "$.callIdSource"),
        ("ASR-067", "bad-id-source", "warning", "r3", "$.idSource"),
        ("ASR-067", "bad-id-source", "warning", "r3", "$.callIdSource"),
    ]


def messages_and_calls(**of_call: Any) -> list[dict[str, Any]]:
    return [
        header("s1", "pi"),
        {"type": "message", "seq": 1, "id": "r1", "messageId": "x"},
        {"type": "inference", "seq": 2, "id": "r2", "inferenceId": "x", **of_call},
        {"type": "inference", "seq": 3, "id": "r3", "inferenceId": "y", **of_call},
    ]


def test_situation_E_16_equal_ids_of_message_and_call() -> None:
    """They are two entities, and a warning, unless the call's ID is derived from the message's."""
    assert told(found(messages_and_calls())) == [
        ("ASR-074", "message-id-as-inference-id", "warning", "r2", "$.inferenceId")
    ]
    assert found(messages_and_calls(idSource="derived")) == []
    assert found(messages_and_calls(inferenceIdSource="derived")) == []
    native = messages_and_calls(idSource="derived", inferenceIdSource="native")
    assert [f.id for f in found(native)] == ["r2"]


def test_an_agent_whose_message_id_is_documented_to_name_the_call() -> None:
    """The registry says so by naming one native member for both (ASR-074)."""
    entry = {**msgspec.to_builtins(Registry.default()["pi"]), "replaces": "pi"}
    entry["ids"]["message"] = entry["inference"]["id"] = {"value": "id", "source": "stated"}
    registry = Registry.default().with_agent(entry)
    scope = StreamScope.of(
        [Named("a", encoded(messages_and_calls()))], observers=OBSERVERS, registry=registry
    )
    assert list(check(scope)) == []


@pytest.mark.parametrize("agent", ["com.example.bot", "org.agent-session.acp.bot"])
def test_an_agent_without_an_entry_documents_nothing(agent: str) -> None:
    """So nothing says that its message IDs name calls (ASR-074)."""
    records = messages_and_calls()
    records[0]["agent"]["name"] = agent
    assert [f.code for f in found(records)] == ["message-id-as-inference-id"]


def test_a_header_further_down_is_part_of_its_own_stream() -> None:
    """What the strict pass finds in it belongs to what reading it found."""
    wrong = {**header("s2"), "sessionId": 7, "x": 1}
    stream = encoded([header("s1"), call(1), wrong, call(1)])
    assert told(found(stream)) == [("ASR-051", "bad-member", "error", "h", "$.sessionId")]


@pytest.mark.parametrize(
    ("agent", "session", "expected"),
    [
        ("goose", "20260304_1", ["missing-namespace"]),
        ("codex", "20260304_1", []),
        ("com.example.none", "1", []),
        ("claude-code", "acompact-1", ["missing-namespace"]),
        ("claude-code", "ABCDEF", ["missing-namespace"]),
        ("claude-code", "abcde", []),
        ("claude-code", "abcdef012", []),
        ("claude-code", "abcdefg", []),
        ("com.anthropic.claude-code", "abcdef01", ["missing-namespace"]),
    ],
)
def test_who_needs_a_namespace(agent: str, session: str, expected: list[str]) -> None:
    assert [f.code for f in found([header(session, agent)])] == expected
    assert found([header(session, agent, namespace="n")]) == []


def test_an_overlay_without_facts_asks_for_no_namespace() -> None:
    """And a rule that this package does not know asks for none either."""
    names = {
        "short_name": {"value": "nightly", "source": "stated"},
        "reverse_dns_name": {"value": "com.example.nightly", "source": "stated"},
    }
    need = {"needed": {"value": "rule", "source": "stated"}, "rule": "theirs"}
    for entry in (names, {**names, "namespace": need}):
        registry = Registry.default().with_agent(entry)
        source = Named("a", encoded([header("s1", "nightly")]))
        scope = StreamScope.of([source], observers=OBSERVERS, registry=registry)
        assert list(check(scope)) == []


def test_at_one_place_the_graver_and_the_earlier_cause_stays() -> None:
    """Of findings about one line: usable or not, under a rule or not, above or below."""
    index = StreamIndex.from_chunks([encoded([header("s1")])])

    def said(
        code: str, path: str | None, severity: Any = "error", rule: str | None = None
    ) -> Finding:
        return Finding(code=code, severity=severity, message="", path=path, rule=rule, line=1)

    def kept(*findings: Finding) -> list[tuple[str, str | None]]:
        return [(f.code, f.path) for f in root_causes(findings, Causes(index))]

    wrong = said("bad-member", "$.a")
    assert kept(said("x", "$.a.b"), wrong) == [("bad-member", "$.a")]
    assert kept(said("x", "$.a[0]"), wrong) == [("bad-member", "$.a")]
    assert kept(said("x", "$.ab"), wrong) == [("x", "$.ab"), ("bad-member", "$.a")]
    assert kept(said("x", None), wrong) == [("x", None), ("bad-member", "$.a")]
    assert kept(said("x", "$.a"), said("y", "$.a")) == [("x", "$.a")]
    assert kept(said("x", "$.a"), said("y", "$.a", "warning")) == [("x", "$.a"), ("y", "$.a")]
    weak = said("duplicate-member", "$.a", "warning")
    assert kept(said("x", "$.a.b", "notice"), weak) == [("duplicate-member", "$.a")]
    assert kept(said("x", "$.a.b"), weak) == [("x", "$.a.b"), ("duplicate-member", "$.a")]
    ruled = said("bad-member", "$.a.b", rule="ASR-056")
    assert kept(wrong, ruled) == [("bad-member", "$.a.b")]
    assert kept(said("bad-member", "$.a", rule="ASR-051"), wrong) == [("bad-member", "$.a")]
    assert kept(said("wrong-shape", "$.a", rule="ASR-079"), wrong) == [("wrong-shape", "$.a")]
    assert kept(said("duplicate-member", "$.a"), said("bad-member", "$.a", rule="R")) == [
        ("duplicate-member", "$.a")
    ]
    assert kept(wrong, said("x", "$.a.b", rule="R")) == [("bad-member", "$.a")]
    assert kept(wrong, said("x", "$.a.b"), said("y", "$.z")) == [
        ("bad-member", "$.a"),
        ("y", "$.z"),
    ]
    alone = said("no-session-named", "$.a.b", "notice")
    assert kept(alone, said("x", "$.a.c")) == [("x", "$.a.c")]
    assert kept(alone, said("x", "$.c")) == [("no-session-named", "$.a.b"), ("x", "$.c")]


def test_what_is_too_deep_is_left_to_the_reader() -> None:
    """It is not read, so nothing is said of what it holds, valid UTF-8 or not."""
    deep = b"[" * 512 + b"]" * 512
    assert faults_of_line(b'{"a":' + deep + b',"x":1,"x":2}') == []
    assert faults_of_line(b'{"x":"\xff","a":' + deep + b"}") == []
    assert [f.code for f in faults_of_line(b'{"x":"\xff","a":' + deep[1:-1] + b"}")] == ["bad-utf8"]


def test_sarif_of_a_finding_without_a_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """A result without locations, and one with a session alone, are valid too."""
    out = io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    sarif = _findings.writer("sarif", [], {})
    sarif.write(Finding(code="c", severity="notice", message="m"))
    sarif.write(Finding(code="c", severity="notice", message="m", session="codex:s"))
    sarif.end()
    results = json.loads(out.getvalue())["runs"][0]["results"]
    assert [result.get("locations") for result in results] == [
        None,
        [{"logicalLocations": [{"fullyQualifiedName": "codex:s"}]}],
    ]
    assert {result["level"] for result in results} == {"note"}


@pytest.mark.parametrize("value", [["r1"], [], {"a": 1}, 7, True])
def test_any_value_may_stand_for_a_ref_beside_a_record_that_is_not_read(value: Any) -> None:
    """A list or an object is a member of the wrong type, and does not stop the check."""
    lost = {"type": "message", "seq": "late", "id": "r1"}
    stream = [header(), lost, {"type": "rewind", "seq": 2, "id": "r2", "to": value}]
    assert ("bad-member", "$.to") in [(f.code, f.path) for f in found(stream)]
