"""Announcements: their shape, their revisions, and what the child says of the same (ASR-411 ...)."""

from __future__ import annotations

import pytest
from lineage_streams import Stream, copied, findings, findings_under, lineage_of, named, none

from sessionref.lineage.subagents import delegations
from sessionref.refs import Ref


def test_an_announcement_names_the_child_or_says_why_not():
    """ASR-411."""
    parent = Stream("p", none())
    parent.subagent("a")
    parent.add("subagent", capture={"childSession": "unavailable"})
    assert findings(lineage_of(parent)) == []
    for wrong in (
        {},
        {"capture": {"other": "x"}},
        {"capture": 5},
        {"childSession": "codex:a#r1"},
        {"childSession": 5},
    ):
        stream = Stream("p", none())
        stream.add("subagent", **wrong)
        ((rule, _),) = findings(lineage_of(stream))
        assert rule == "ASR-411"


def test_a_delegation_is_its_latest_revision():
    """ASR-424: status comes from the source; absent is unknown."""
    parent = Stream("p", none())
    first = parent.subagent("a", callId="c1", status="running", **{"async": True})
    parent.subagent("a", callId="c1", status="failed", supersedes=first)
    parent.subagent("b")
    (stream,) = lineage_of(parent).sessions[0].accounts
    assert [(one.row, one.status, one.call_id) for one in delegations(stream)] == [
        (2, "failed", "c1"),
        (3, None, None),
    ]


@pytest.mark.parametrize(
    ("first", "second", "twice"),
    [
        ({"callId": "c1"}, {"callId": "c1"}, True),
        ({}, {}, True),
        ({"callId": "c1"}, {"callId": "c2"}, False),
        ({"callId": "c1"}, {}, True),
        ({}, {"callId": "c1"}, False),
        ({"callId": "c1"}, {"callId": "c1", "supersedes": "r1"}, False),
        (
            {"callId": "c1"},
            {"callId": "c1", "copiedFrom": {"record": "r1", "proof": "native_field"}},
            False,
        ),
    ],
)
def test_a_change_of_state_is_no_second_announcement(first, second, twice):
    """ASR-424: one child and one call are one delegation; a copy announces nothing."""
    parent = Stream("p", none())
    parent.subagent("a", status="running", **first)
    parent.subagent("a", status="completed", **second)
    found = findings(lineage_of(parent))
    assert found == ([("ASR-424", "second-announcement")] if twice else [])


def test_children_without_a_transcript_are_told_apart_by_their_calls():
    """Without child and call nothing says that two announcements are of one delegation."""
    parent = Stream("p", none())
    state = {"childSession": "unavailable"}
    for call in ("c1", "c2", None, None):
        parent.add("subagent", callId=call, capture=state)
    assert findings(lineage_of(parent)) == []
    parent.add("subagent", callId="c2", capture=state)
    assert findings(lineage_of(parent)) == [("ASR-424", "second-announcement")]


def family(announced, claimed, **child):
    parent = Stream("p", none())
    parent.add("tool_call", callId="c1")
    parent.add("tool_call", callId="c2")
    parent.add("message", messageId="m")
    if announced is not None:
        parent.subagent("k", callId=announced or None)
    return parent, Stream("k", {"spawnedBy": named("p", record=claimed, **child)})


@pytest.mark.parametrize(
    ("announced", "claimed", "expected"),
    [
        ("c1", "callId=c1", []),
        ("c1", "r1", []),
        ("c1", "callId=c2", [("ASR-412", "calls-differ")]),
        ("c1", "r2", [("ASR-412", "calls-differ")]),
        ("c1", None, []),
        ("", "callId=c2", []),
        ("c1", "r3", []),
        ("c1", "gone", []),
        ("c1", "messageId=m", []),
        (None, "callId=c1", [("ASR-412", "no-announcement")]),
    ],
)
def test_both_sides_agree_on_the_call(announced, claimed, expected):
    """ASR-412: incompatible positive claims are a warning; one-sided evidence is none."""
    assert findings(lineage_of(*family(announced, claimed))) == expected


def test_a_silent_parent_is_one_notice():
    """However many children it is silent about, unless it declares the loss (ASR-412)."""
    children = [Stream(name, {"spawnedBy": named("p")}) for name in "abc"]
    lineage = lineage_of(Stream("p"), *children)
    (notice,) = findings_under(lineage, "ASR-412")
    assert (notice.severity, notice.session, notice.line) == ("notice", "codex:p", 1)
    lossy = Stream("p", producer={"name": "x", "lossy": ["lineage.subagents"]})
    assert findings(lineage_of(lossy, *children)) == []
    assert findings(lineage_of(*children)) == []


def test_any_agreeing_announcement_is_enough():
    """A child that was called again has two delegations."""
    parent = Stream("p", none())
    parent.subagent("k", callId="c1")
    parent.subagent("k", callId="c2")
    child = Stream("k", {"spawnedBy": named("p", record="callId=c1")})
    assert findings(lineage_of(parent, child)) == []


def test_another_spawner_contradicts_only_where_its_announcement_is_its_own():
    """ASR-412: what is or may be a copy is no positive claim."""
    parent = Stream("p", none())
    parent.subagent("k", callId="c1")
    child = Stream("k", {"spawnedBy": named("p")})

    def other(lineage):
        stream = Stream("q", lineage)
        stream.subagent("k", callId="c1")
        return stream

    assert findings(lineage_of(parent, child, other(none()))) == [("ASR-412", "spawners-differ")]
    assert findings(lineage_of(parent, child, other(None))) == []
    assert findings(lineage_of(parent, child, other(copied("r1", "p")))) == []


def test_a_copied_announcement_alone_names_no_call():
    """The copy's call is no claim of its spawner's."""
    parent = Stream("p", none())
    parent.copy("subagent", "q", childSession="codex:k", callId="c9")
    child = Stream("k", {"spawnedBy": named("p", record="callId=c1")})
    assert findings(lineage_of(parent, child)) == []


def test_marks_of_copies_are_read():
    """ASR-413: session or record or both, and a proof."""
    stream = Stream("a", none())
    stream.message(copiedFrom={"session": "codex:b", "record": "r1", "proof": "native_id"})
    stream.message(copiedFrom={"record": "messageId=m1", "proof": "prefix_contract"})
    stream.message(copiedFrom={"session": "codex:b#r1", "proof": "native_id"})
    stream.message(copiedFrom={"record": "key=x", "proof": "same text"})
    stream.message(copiedFrom={"proof": "native_id"})
    stream.message(copiedFrom=[])
    stream.message()
    lineage = lineage_of(stream)
    (one,) = lineage.sessions[0].accounts
    marks = [one.copied_from(row) for row in range(1, 8)]
    assert (str(marks[0].session), marks[0].record.raw(), marks[0].proof) == (
        "codex:b",
        "r1",
        "native_id",
    )
    assert (marks[1].session, marks[1].record.raw()) == (None, "messageId=m1")
    assert (marks[2].session, marks[3].record, marks[3].proof) == (None, None, None)
    assert marks[6] is None
    assert [code for _, code in findings(lineage)] == [
        "unexpected-ref",
        "bad-proof",
        "unknown-entity-key",
        "copied-from-nowhere",
        "wrong-shape",
    ]


def test_a_mark_that_is_no_text_is_still_a_mark():
    """What cannot be decoded is reported, and the record is no original."""
    stream = Stream("a", none())
    stream.message()
    broken = b'"copiedFrom": {"session": "codex:\xff", "proof": "native_id"}, "messageId"'
    lineage = lineage_of(stream.text().replace(b'"messageId"', broken))
    assert [code for _, code in findings(lineage)] == ["surrogate"]
    assert lineage.sessions[0].records == (0, 1, 0)


def test_a_ref_into_a_session_in_conflict_has_no_certain_target():
    """Whatever one of the captures has is a candidate."""
    one, other = Stream("p"), Stream("p")
    one.message(role="x")
    one.message()
    other.message(role="y")
    other.add("message", id="twice", messageId="m1")
    session = lineage_of(one, other).by_key["codex:p"]
    refs = ("r1", "r2", "r9", "messageId=m1")
    outcomes = [session.resolve(Ref.from_raw(ref)) for ref in refs]
    assert [outcome.state for outcome in outcomes] == [
        "ambiguous",
        "ambiguous",
        "unresolved",
        "ambiguous",
    ]
    assert [len(outcomes[at].candidates) for at in (0, 1, 3)] == [2, 1, 3]


def test_two_latest_revisions_of_one_announcement_are_no_second_one():
    """40-lineage/11: the fork of the chain is the only fault (ASR-064)."""
    parent = Stream("p", none())
    first = parent.subagent("a", callId="c1", status="running")
    parent.subagent("a", callId="c1", status="completed", supersedes=first)
    parent.subagent("a", callId="c1", status="failed", supersedes=first)
    assert findings(lineage_of(parent)) == []


@pytest.mark.parametrize(
    ("claim", "silent"),
    [({"record": "callId=c7"}, False), ({"record": "callId=c8"}, True), ({}, True)],
)
def test_a_call_whose_child_has_no_transcript_is_an_announcement(claim, silent):
    """40-lineage/18: the spawner announces the call that the child names, without the child."""
    parent = Stream("p", none())
    parent.add("tool_call", callId="c7")
    parent.add("subagent", callId="c7", capture={"childSession": "unavailable"})
    child = Stream("k", none(spawnedBy=named("p", **claim)))
    wanted = [("ASR-412", "no-announcement")] if silent else []
    assert findings(lineage_of(parent, child)) == wanted
