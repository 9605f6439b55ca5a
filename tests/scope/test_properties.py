"""Random scopes against a slow model, and what must not matter."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from scope_streams import shown, stream

import sessionref as sr
from sessionref.refs import Ref
from sessionref.scope.scope import StreamScope

SESSIONS = ("p", "q", "s")
IDS = st.sampled_from(["r1", "r2", "r3", "x", "messageId=m", "callId=m", "turnId=t", "messageId=n"])
SESSION = st.sampled_from([f"codex:{sid}" for sid in (*SESSIONS, "gone")])


def record(draw: st.DrawFn) -> dict[str, Any]:
    kind = draw(st.sampled_from(["message", "tool_call", "rewind", "tombstone", "state", "note"]))
    made: dict[str, Any] = {"type": kind}
    if kind == "message":
        made["messageId"] = draw(st.sampled_from(["m", "n"]))
    if kind == "tool_call":
        made["callId"] = "m"
    if draw(st.integers(0, 3)) == 0:
        made["id"] = draw(st.sampled_from(["x", "r1"]))
    if draw(st.integers(0, 3)) == 0:
        made["turnId"] = "t"
    if draw(st.integers(0, 3)) == 0:
        made["supersedes"] = draw(IDS.filter(lambda ref: "=" not in ref))
    if kind == "rewind":
        made["to"] = draw(st.none() | IDS)
    if kind == "tombstone":
        made["targets"] = draw(st.lists(IDS, max_size=2))
    if kind == "state":
        made["continuationOf"] = draw(IDS)
    if draw(st.integers(0, 3)) == 0:
        made["copiedFrom"] = {"session": draw(SESSION), "record": draw(IDS)}
    return made


@st.composite
def histories(draw: st.DrawFn) -> dict[str, list[bytes]]:
    """Some sessions, each as the lines of one stream."""
    made = {}
    for sid in draw(st.lists(st.sampled_from(SESSIONS), unique=True, min_size=1)):
        records = [record(draw) for _ in range(draw(st.integers(0, 5)))]
        made[sid] = stream(*records, sid=sid).splitlines(keepends=True)
    return made


def answers(scope: StreamScope) -> dict[str | None, list[Any]]:
    """What every reference means, by session."""
    return {
        session.canonical: [
            (r.at.id, r.at.seq, *shown(r), r.faults) for r in scope.resolutions(session)
        ]
        for session in scope
    }


# -- A model that knows nothing of indexes ---------------------------------------------------------


def latest(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The records that no valid link supersedes; a link that breaks a rule is none (ASR-065)."""
    keys = {"message": "messageId", "tool_call": "callId"}
    links = []
    for one in records:
        named = [r for r in records if r["id"] == one.get("supersedes")]
        if len(named) != 1 or named[0] is one:
            continue
        other = named[0]
        key = keys.get(one["type"])
        if other["type"] != one["type"] or (key and other[key] != one[key]):
            continue
        links.append((one, other))
    in_circle = []
    for one, _ in links:
        here, steps = one, 0
        while steps <= len(records):
            following = [b for a, b in links if a is here]
            if not following:
                break
            here, steps = following[0], steps + 1
            if here is one:
                in_circle.append(one)
                break
    superseded = [b for a, b in links if not any(a is c for c in in_circle) and b["seq"] < a["seq"]]
    return [one for one in records if not any(one is other for other in superseded)]


def meant(records: list[dict[str, Any]], ref: str) -> tuple[str, Any]:
    """State and records of a raw ref, by section 3 of the rules and by looking everywhere."""
    key, equals, value = ref.partition("=")
    if not equals:
        found, reason = [r for r in records if r["id"] == ref], "no-such-record"
    elif key == "turnId":
        found, reason = [r for r in records if r.get("turnId") == value], "no-such-turn"
    else:
        kind = {"messageId": "message", "callId": "tool_call"}[key]
        found = [r for r in latest(records) if r["type"] == kind and r[key] == value]
        reason = "no-such-entity"
    ids = [r["id"] for r in found]
    if not found:
        return "unresolved", reason
    return ("resolved" if len(found) == 1 or key == "turnId" else "ambiguous"), ids


@given(histories())
def test_every_reference_means_what_a_slow_model_says(history):
    """Local and foreign references, over random streams with every kind of fault."""
    scope = StreamScope.of([[b"".join(lines)] for lines in history.values()])
    for sid, lines in history.items():
        records = [json.loads(line) for line in lines]
        for r in scope.resolutions(scope.session(f"codex:{sid}")):
            if r.field.target == "session":
                expected = ("resolved", ["h"])
                if r.value.partition(":")[2] not in history:
                    expected = ("unresolved", "no-such-session")
            elif r.value is None:
                expected = ("resolved", [])
            elif r.value.startswith("turnId=") and r.field.target != "turn-or-record":
                expected = ("unresolved", "invalid")
            elif r.field.path == "copiedFrom.record":
                own = next(one for one in records if one["seq"] == r.at.seq)
                other = history.get(own["copiedFrom"]["session"].partition(":")[2])
                expected = ("unresolved", "no-such-session")
                if other is not None:
                    expected = meant([json.loads(line) for line in other], r.value)
            else:
                expected = meant(records, r.value)
            assert shown(r)[1:] == expected


@given(histories())
def test_problems_are_the_resolutions_that_are_not_exact(history):
    """The fast way finds exactly what the slow way finds."""
    scope = StreamScope.of([[b"".join(lines)] for lines in history.values()])
    assert list(scope.problems()) == [r for r in scope.resolutions() if not r.exact]
    for session in scope:
        broken = [r for r in scope.resolutions(session) if r.required and not r.exact]
        assert scope.is_exact(session) == (not broken)


@given(histories(), st.randoms())
def test_the_order_of_inputs_does_not_matter(history, random):
    """Streams mean the same in any order."""
    streams = [b"".join(lines) for lines in history.values()]
    one = StreamScope.of([[content] for content in streams])
    random.shuffle(streams)
    other = StreamScope.of([[content] for content in streams])
    assert answers(one) == answers(other)
    together = StreamScope.of([[b"".join(streams)]])
    assert answers(one) == answers(together)


@given(histories(), st.data())
def test_a_beginning_beside_the_whole_changes_nothing(history, data):
    """A capture that another goes on from is as if it were not there (ASR-050)."""
    inputs = [b"".join(lines) for lines in history.values()]
    alone = StreamScope.of([[content] for content in inputs])
    for lines in history.values():
        cut = data.draw(st.integers(1, len(lines)))
        inputs.insert(data.draw(st.integers(0, len(inputs))), b"".join(lines[:cut]))
    both = StreamScope.of([[content] for content in inputs])
    assert answers(alone) == answers(both)
    assert not any(session.conflict for session in both)


@given(histories())
def test_taking_a_session_away_only_leaves_references_without_target(history):
    """What resolved into it is unresolved then; all else stays as it was (ASR-406)."""
    before = answers(StreamScope.of([[b"".join(lines)] for lines in history.values()]))
    for gone in history:
        rest = [[b"".join(lines)] for sid, lines in history.items() if sid != gone]
        after = answers(StreamScope.of(rest))
        for session, found in after.items():
            for old, new in zip(before[session], found, strict=True):
                assert new == old or (
                    new[:3] == old[:3] and new[3:5] == ("unresolved", "no-such-session")
                )


@given(histories(), st.data())
def test_two_sides_never_resolve_into_one(history, data):
    """Where captures contradict each other, no reference into the session is resolved."""
    sid = data.draw(st.sampled_from(sorted(history)))
    lines = history[sid]
    other = stream({"type": "note", "id": "other"}, sid=sid)
    inputs = [b"".join(found) for found in history.values()]
    scope = StreamScope.of([[content] for content in (*inputs, other)])
    session = scope.session(f"codex:{sid}")
    assert session.conflict == (len(lines) > 1)
    if session.conflict:
        for ref in ("r1", "messageId=m", "turnId=t", None):
            asked = session.key.at(None if ref is None else Ref.from_raw(ref))
            assert not isinstance(scope.resolve(asked), sr.Resolved)


@given(histories())
def test_a_session_in_segments_means_what_it_means_in_one(history):
    """Cut into pages that go on from each other, a stream resolves as if it were whole."""
    lines = next(iter(history.values()))
    sid = next(iter(history))
    ids = [json.loads(line)["id"] for line in lines]
    whole = StreamScope.of([[b"".join(lines)]])
    pages = []
    for number, line in enumerate(lines[1:] or lines[:1]):
        header = json.loads(lines[0])
        after = f"p{number - 1}" if number else None
        header |= {
            "id": "h" if not number else f"h{number}",
            "segment": {"id": f"p{number}", "after": after},
        }
        pages.append([json.dumps(header).encode() + b"\n" + (line if len(lines) > 1 else b"")])
    cut = StreamScope.of(pages)
    (session,) = cut
    assert not session.conflict
    for ref in {*ids, "messageId=m", "messageId=n", "callId=m", "turnId=t"}:
        asked = session.key.at(Ref.from_raw(ref))
        one, other = whole.resolve(asked), cut.resolve(asked)
        assert one.state == other.state
        if one.state == "resolved":
            assert [hit.id for hit in one.records] == [hit.id for hit in other.records]
    assert sid == session.key.session_id
    index = session.accounts[0].index
    assert all(a <= b for a, b in pairwise(index.order))
