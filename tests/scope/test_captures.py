"""Several captures of one session: one, the beginning of another, segments, or a conflict."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path

import pytest
from scope_streams import of_record, scope, shown, stream

import sessionref as sr
from sessionref.registry import Registry
from sessionref.scope import capture as capture_module
from sessionref.scope.capture import Fingerprint, Segment
from sessionref.scope.scope import StreamScope
from sessionref.scope.sources import open_streams

A = {"type": "message", "messageId": "a"}
B = {"type": "message", "messageId": "b"}
C = {"type": "message", "messageId": "c"}


def files(folder, **contents):
    for name, content in contents.items():
        (folder / f"{name}.jsonl").write_bytes(content)
    return StreamScope.of([folder])


def codes(found):
    return sorted(finding.code for finding in found.findings)


@pytest.fixture(params=["files", "inputs"])
def read(request, tmp_path):
    """Reads streams from files, which can be read again, or from inputs that cannot."""

    def from_files(*contents, **options):
        for number, content in enumerate(contents):
            (tmp_path / f"{number}.jsonl").write_bytes(content)
        return StreamScope.of([tmp_path], **options)

    return from_files if request.param == "files" else scope


def test_equal_captures_are_one_session(read):
    """The same stream twice counts once, and nothing is wrong with that (ASR-050)."""
    found = read(stream(A, B), stream(A, B))
    (session,) = found
    assert (len(session.accounts), len(session), len(session.captures)) == (1, 3, 2)
    assert (codes(found), session.conflict) == ([], False)


def test_the_longest_capture_is_read(read):
    """A capture that another goes on from is not read; the order of inputs does not matter."""
    for contents in ([stream(A), stream(A, B, C), stream(A, B)],):
        for turned in (contents, contents[::-1], contents[1:] + contents[:1]):
            (session,) = read(*turned)
            assert [len(account) for account in session.accounts] == [4]


def test_contradicting_captures_are_kept_apart(read):
    """Neither is preferred, and the conflict is one warning (ASR-050)."""
    found = read(stream(A, B), stream(A, C), stream(A))
    (session,) = found
    assert session.conflict
    assert sorted(len(account) for account in session.accounts) == [3, 3]
    assert sum(len(account.repeats) for account in session.accounts) == 1
    assert codes(found) == ["identity-conflict"]
    (finding,) = found.findings
    assert (finding.severity, finding.rule, finding.session) == ("warning", "ASR-050", "codex:s")
    assert finding.message.endswith(", ".join(session.files) or "inputs without a name")
    assert not found.is_exact(session)


def test_refs_into_a_conflict_are_ambiguous(read):
    """What any side has is a candidate; what none has is absent (ASR-079)."""
    child = stream(
        {"type": "subagent", "childSession": "codex:s"},
        {"copiedFrom": {"session": "codex:s", "record": "messageId=b"}},
        {"copiedFrom": {"session": "codex:s", "record": "messageId=zz"}},
        sid="child",
    )
    found = read(stream(A, B), stream(A, C), child)
    records = [r for n in (1, 2, 3) for r in of_record(found, f"r{n}", session="codex:child")]
    assert [shown(r)[1:] for r in records] == [
        ("ambiguous", ["h", "h"]),
        ("ambiguous", ["h", "h"]),
        ("ambiguous", ["r2"]),
        ("ambiguous", ["h", "h"]),
        ("unresolved", "no-such-entity"),
    ]
    assert [r.at.id for r in found.problems() if r.at.session == "codex:child"] == [
        r.at.id for r in records
    ]
    assert found.resolve("codex:s#messageId=a").state == "ambiguous"
    assert found.resolve("codex:s").state == "ambiguous"
    assert found.resolve("codex:s#nothing") == sr.Unresolved("no-such-record", "codex:s")
    assert [found.resolve(f"messageId={m}").state for m in "abc"] == ["ambiguous"] * 3


def test_candidates_of_an_ambiguous_side_are_candidates_of_the_conflict(read):
    """Where one side itself has several records, all of them and those of the others are."""
    found = read(stream(A, A), stream(A, B))
    assert [hit.id for hit in found.resolve("codex:s#messageId=a").candidates] == ["r1", "r2", "r1"]


def test_each_side_of_a_conflict_resolves_its_own_references(read):
    """References inside a capture mean records of that capture."""
    found = read(stream(A, {"type": "rewind", "to": "messageId=a"}), stream(A, B))
    (resolution,) = found.resolutions()
    assert shown(resolution)[1:] == ("resolved", ["r1"])
    assert resolution.exact
    first, second = next(iter(found)).accounts
    assert found.is_exact(first)
    assert found.is_exact(second)


def test_the_sides_of_a_conflict_stand_in_the_order_of_their_files(tmp_path):
    """Whichever is longer, and in whatever order they are read (ASR-050)."""
    for name, content in (("a", stream(A)), ("b", stream(B, C)), ("c", stream(C))):
        (tmp_path / f"{name}.jsonl").write_bytes(content)
    paths = sorted(tmp_path.iterdir())
    for turned in (paths, paths[::-1], paths[1:] + paths[:1]):
        (session,) = StreamScope.of(turned)
        names = [Path(account.captures[0].file).name for account in session.accounts]
        assert names == ["a.jsonl", "b.jsonl", "c.jsonl"]
    named = io.BytesIO(stream(A))
    named.name = "A"
    for inputs in ([named, [stream(B)]], [[stream(B)], io.BytesIO(stream(C)), named]):
        named.seek(0)
        (session,) = StreamScope.of(inputs)
        assert session.accounts[-1].captures[0].file == "A"


def test_three_sides_and_their_beginnings(read):
    """Any number of sides is told apart in one pass over each."""
    sides = [stream(A, {"type": "message", "messageId": f"x{n}"}, B) for n in range(20)]
    (session,) = read(*sides, *sides)
    assert len(session.accounts) == 20
    assert all(len(account.repeats) == 1 for account in session.accounts)


def test_an_export_again_is_the_same(read):
    """Member order, white space, escapes and the producer are not what a record says."""
    record = {"type": "message", "seq": 1, "id": "r1", "messageId": "ä", "n": [1, {"x": 2, "y": 3}]}
    turned = {"n": [1, {"y": 3, "x": 2}], "messageId": "ä", "id": "r1", "seq": 1, "type": "message"}
    compact = json.dumps(turned, ensure_ascii=False, separators=(",", ":")).encode()
    one = stream(record, producer={"version": "1"})
    other = stream(producer={"version": "2"}) + compact + b"\n"
    (session,) = read(one, other)
    assert not session.conflict


@pytest.mark.parametrize("pair", [(1, 1.0), (1, True), (None, 0), ("1", 1), (0, -1)])
def test_values_of_other_types_are_other_values(read, pair):
    """Numbers that compare equal in Python may be written differently, and are not one."""
    one, other = ({"x": value} for value in pair)
    (session,) = read(stream(one), stream(other))
    assert session.conflict


@pytest.mark.parametrize(
    "members",
    [
        ({"scope": "primary"}, {"scope": "subagent"}),
        (
            {"agent": {"name": "codex", "version": "1"}},
            {"agent": {"name": "codex", "version": "2"}},
        ),
        ({"startedAt": "2026-01-01T00:00:00Z"}, {"startedAt": 5}),
        ({"namespace": None}, {}),
    ],
)
def test_headers_may_differ_in_what_is_no_lineage(read, members):
    """Another version of the agent, or another export, does not make another session."""
    (session,) = read(*(stream(A, **one) for one in members))
    assert not session.conflict


def test_headers_that_claim_other_lineage_are_a_conflict(read):
    """No claim is preferred."""
    one, other = ({"lineage": {"role": role}} for role in ("a", "b"))
    (session,) = read(stream(A, **one), stream(A, **other))
    assert session.conflict


def test_neither_names_nor_order_of_files_decide_whose_header_stands(tmp_path):
    """The capture with most records, then the later start, then the greater header."""
    early = stream(A, startedAt="2026-01-01T00:00:00Z", scope="primary")
    late = stream(A, startedAt="2026-01-02T00:00:00Z", scope="subagent")
    for number, pair in enumerate([(early, late), (late, early)]):
        folder = tmp_path / str(number)
        folder.mkdir()
        for name, content in zip(("a.jsonl", "b.jsonl"), pair, strict=True):
            (folder / name).write_bytes(content)
        (session,) = StreamScope.of([folder])
        assert b"2026-01-02" in session.accounts[0].index.header.content


def test_lines_that_no_decoder_takes_are_compared_too(read):
    """Lone surrogates and invalid UTF-8 are compared, never replaced."""
    odd = b'{"type":"x","seq":1,"id":"r1","t":"\\ud800"}\n'
    also = b'{"seq":1,"type":"x","id":"r1","t":"\\ud800"}\n'
    other = b'{"seq":1,"type":"x","id":"r1","t":"\\udfff"}\n'
    (session,) = read(stream() + odd, stream() + also)
    assert not session.conflict
    (session,) = read(stream() + odd, stream() + other, stream() + other)
    assert session.conflict


def test_records_of_hostile_depth_are_compared_as_they_stand(read):
    """What cannot be decoded is equal where its bytes are."""
    deep = b'{"type":"x","seq":1,"id":"r1","t":' + b"[" * 3000 + b"]" * 3000 + b"}\n"
    (session,) = read(stream() + deep, stream() + deep, stream() + deep + b'{"type":"y"}\n')
    assert not session.conflict


def test_headers_without_key_are_sessions_of_their_own():
    """Nothing is joined where no key says so; their references still resolve inside."""
    nameless = stream(A, {"type": "rewind", "to": "r1"}, sid="")
    found = scope(nameless, nameless, nameless.split(b"\n", 1)[1])
    assert [session.key for session in found] == [None, None, None]
    assert [shown(r)[1] for r in found.resolutions()] == ["resolved"] * 3
    assert [session.canonical for session in found] == [None] * 3
    assert list(found)[2].accounts[0].header is None
    assert next(iter(found)).accounts[0].header is not None


def test_agents_are_compared_under_the_registry():
    """An overlay that gives two names to one agent makes one session of two (ASR-058)."""
    short = stream(A, agent={"name": "acme"})
    long = stream(A, agent={"name": "com.acme.agent"})
    assert len(scope(short, long)) == 2
    entry = {
        "short_name": {"value": "acme", "source": "assumed"},
        "reverse_dns_name": {"value": "com.acme.agent", "source": "assumed"},
    }
    found = scope(short, long, registry=Registry.default().with_agent(entry))
    (session,) = found
    assert not session.conflict
    assert found.session("com.acme.agent:s") is found.session("acme:s") is session


def test_sessions_are_found_by_key_reference_and_text():
    """A session is asked for by any form of its key."""
    found = scope(stream(A))
    (session,) = found
    key = sr.SessionKey("codex", None, "s")
    assert found.session(key) is found.session(key.at()) is found.session("codex:s#x") is session
    assert found.session("codex:t") is None
    with pytest.raises(sr.InvalidReference):
        found.session("codex")
    assert repr(session) == "<Session codex:s, 1 account(s)>"
    assert repr(session.captures[0]) == "<Capture codex:s in None, 2 records>"


def test_fingerprints_take_what_no_decoder_takes():
    """Bytes that are no record at all are equal where they are the same bytes."""
    one, two = Fingerprint(), Fingerprint()
    for fingerprint, contents in ((one, [b"x", b"y"]), (two, [b"x", b"z"])):
        fingerprint.see(0, ["note", "note"], [], contents)
    assert (one.alike[0], one.exact[0]) == (two.alike[0], two.exact[0])
    assert one.alike[1] != two.alike[1]


def test_a_header_whose_agent_is_no_object_is_compared_as_it_is():
    """Such a header gives no key, and its fingerprint is still one."""
    one = Fingerprint()
    one.see(0, ["session"], [], [b'{"type":"session","agent":"codex"}\n'])
    assert len(one.alike) == 1


# -- Resolving what is asked for ----------------------------------------------------------------


def test_raw_refs_are_looked_for_in_every_session():
    """A ref without session is ambiguous where several sessions have it."""
    found = scope(stream(A, B), stream(A, sid="t"))
    assert found.resolve("messageId=b").state == "resolved"
    assert found.resolve(sr.EntityRef("messageId", "b")).state == "resolved"
    both = found.resolve("messageId=a")
    assert [hit.session for hit in both.candidates] == ["codex:s", "codex:t"]
    assert found.resolve("r9") == sr.Unresolved("no-such-record")
    assert found.resolve("callId=x") == sr.Unresolved("no-such-entity")
    assert found.resolve("turnId=x") == sr.Unresolved("no-such-turn")
    with pytest.raises(sr.InvalidReference):
        found.resolve("nokey=x")


def test_a_turn_may_have_several_records():
    """A turn of one session resolves to all its records, of two sessions it is ambiguous."""
    turn = {"turnId": "t"}
    found = scope(stream(turn, turn))
    assert len(found.resolve("turnId=t").records) == 2
    assert scope(stream(turn), stream(turn, sid="t")).resolve("turnId=t").state == "ambiguous"


def test_an_ambiguity_inside_one_session_stays_one():
    """Two records of one key are candidates of a raw ref as well."""
    found = scope(stream(A, A), stream(sid="t"))
    assert [hit.id for hit in found.resolve("messageId=a").candidates] == ["r1", "r2"]
    assert set(next(iter(found)).accounts[0].index.superseded) == set()


def test_session_references_resolve_in_their_session():
    """A session reference outside the scope is unresolved with the key it names."""
    found = scope(stream(A))
    assert found.resolve("codex:s#messageId=a").first.id == "r1"
    assert found.resolve(sr.parse("com.openai.codex:s")).first.id == "h"
    assert found.resolve("codex:x#r1") == sr.Unresolved("no-such-session", "codex:x")


# -- Capture-scoped IDs -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("members", "ref", "expected"),
    [
        ({"idScope": "capture"}, "r1", "capture-scoped"),
        ({"idScope": "session"}, "r1", ["r1"]),
        ({}, "r1", ["r1"]),
        ({"idScope": "capture"}, "messageId=a", ["r1"]),
        ({"idScope": "capture", "idSource": "derived"}, "messageId=a", "capture-scoped"),
        (
            {"idScope": "capture", "idSource": "derived", "messageIdSource": "native"},
            "messageId=a",
            ["r1"],
        ),
    ],
)
def test_capture_scoped_ids_mean_nothing_to_other_streams(members, ref, expected):
    """An ID that holds for one capture is not assumed to be what another stream means (ASR-071)."""
    child = stream({"copiedFrom": {"session": "codex:s", "record": ref}}, sid="child")
    found = scope(stream(A | members), child)
    assert shown(of_record(found, "r1", session="codex:child")[1])[2] == expected


def test_capture_scoped_calls_say_so_of_the_call():
    """On a tool call `callIdSource` says whether the key is derived."""
    child = stream({"copiedFrom": {"session": "codex:s", "record": "callId=c"}}, sid="child")
    call = {"type": "tool_call", "callId": "c", "idScope": "capture", "idSource": "derived"}
    for members, expected in (({}, ["r1"]), ({"callIdSource": "derived"}, "capture-scoped")):
        found = scope(stream(call | members), child)
        assert shown(of_record(found, "r1", session="codex:child")[1])[2] == expected


def test_capture_scoped_ids_are_good_inside_their_capture():
    """References of the same stream, and of the session to itself, mean what they say."""
    scoped = {"idScope": "capture", "idSource": "derived"}
    own = {"copiedFrom": {"session": "codex:s", "record": "r1"}}
    found = scope(stream({"type": "note"} | scoped, {"type": "rewind", "to": "r1"}, own))
    assert [shown(r)[1] for r in found.resolutions()] == ["resolved"] * 3
    assert found.resolve("codex:s#r1").state == "resolved"


def test_only_what_is_marked_is_capture_scoped():
    """The mark is about one record; those behind it, up to the last, have none."""
    scoped = {"idScope": "capture"}
    target = stream({}, scoped, {}, scoped, {})
    copies = [{"copiedFrom": {"session": "codex:s", "record": f"r{n}"}} for n in range(1, 6)]
    found = scope(target, stream(*copies, sid="child"))
    records = [of_record(found, f"r{n}", session="codex:child")[1] for n in range(1, 6)]
    assert [shown(r)[2] for r in records] == [
        ["r1"],
        "capture-scoped",
        ["r3"],
        "capture-scoped",
        ["r5"],
    ]


def test_turns_are_not_capture_scoped():
    """`idScope` is about record IDs and entity keys."""
    child = stream({"type": "state", "executedBy": ["codex:s#turnId=t"]}, sid="child")
    found = scope(stream({"turnId": "t", "idScope": "capture"}), child)
    assert shown(of_record(found, "r1", session="codex:child")[0])[1] == "resolved"


# -- Segments -----------------------------------------------------------------------------------


def page(*records, number, after=None, **header):
    segment = {"id": f"p{number}", "after": after, "firstOrdinal": None}
    return stream(*records, segment=segment, **header)


def test_linked_segments_are_one_session():
    """Pages that go on from each other are one account, in their order, whatever the file order."""
    first = page(A | {"turnId": "t"}, number=1)
    second = page({"id": "q1", "turnId": "t"}, B | {"id": "q2"}, number=2, after="p1")
    for contents in ((first, second), (second, first)):
        found = scope(*contents)
        (session,) = found
        assert (session.conflict, len(session.accounts)) == (False, 1)
        account = session.accounts[0]
        assert [capture.segment.id for capture in account.captures] == ["p1", "p2"]
        assert [hit.id for hit in account.index] == ["h", "r1", "h", "q1", "q2"]
        assert found.resolve("codex:s#messageId=a").first.id == "r1"
        assert [hit.id for hit in found.resolve("codex:s#turnId=t").records] == ["r1", "q1"]
        assert found.resolve("codex:s#r9") == sr.Unresolved("no-such-record", "codex:s")
        # The header of the second page is the session's header once more.
        assert found.resolve("codex:s#h") == found.resolve("codex:s")
        assert found.resolve("codex:s#callId=9") == sr.Unresolved("no-such-entity", "codex:s")
        assert found.resolve("codex:s#turnId=9") == sr.Unresolved("no-such-turn", "codex:s")
        assert found.resolve("codex:s").first.id == "h"


def test_the_records_of_a_segment_stand_in_the_order_of_seq():
    """Not in that of its lines."""
    second = page({"id": "q1", "seq": 5}, {"id": "q2", "seq": 2}, number=2, after="p1")
    (session,) = scope(page(A, number=1), second)
    assert [hit.id for hit in session.accounts[0].index] == ["h", "r1", "h", "q2", "q1"]


def test_references_of_segments_mean_what_they_mean_in_one_stream():
    """Elements of arrays, records in other sessions, and IDs that hold in one capture only."""
    replaces = {
        "type": "compaction",
        "id": "q1",
        "compactionId": "c",
        "replaces": {"ids": ["r1", "r9"]},
    }
    copied = {
        "id": "q2",
        "copiedFrom": {"session": "codex:p", "record": "r1", "proof": "native_id"},
    }
    scoped = {
        "id": "q3",
        "type": "tool_call",
        "callId": "x",
        "idSource": "derived",
        "idScope": "capture",
    }
    joined = scope(
        page(A, number=1), page(replaces, copied, scoped, number=2, after="p1"), stream(A, sid="p")
    )
    whole = scope(stream(A, replaces, copied, scoped), stream(A, sid="p"))
    expected = [shown(resolution) for resolution in whole.resolutions()]
    assert len(expected) == 4
    assert [shown(resolution) for resolution in joined.resolutions()] == expected


def test_records_of_segments_are_fetched_from_their_place(tmp_path):
    """Also where two segments stand in one file; a record of another session has no row."""
    first, second = page(A, number=1), page(B | {"id": "q1"}, number=2, after="p1")
    (tmp_path / "s.jsonl").write_bytes(first + second)
    (tmp_path / "p.jsonl").write_bytes(stream(A, sid="p"))
    found = StreamScope.of([tmp_path])
    index = found.session("codex:s").accounts[0].index
    for name in ("r1", "q1"):
        hit = found.resolve(f"codex:s#{name}").first
        assert index.row(hit) == index.find(hit)
        assert json.loads(index.fetch(hit))["id"] == name
    assert index.find(found.resolve("codex:p#r1").first) is None


def test_a_record_with_the_id_of_the_headers_is_ambiguous():
    """The headers of all segments are one; what else has their ID is not."""
    found = scope(page(A, number=1), page({"id": "h"}, number=2, after="p1"))
    assert found.resolve("codex:s#h").state == "ambiguous"


def test_a_revision_may_supersede_a_record_of_an_earlier_segment():
    """A chain goes over segments, and the link is no fault of the page that has it."""
    first = page(A, {"type": "rewind", "to": "messageId=a"}, number=1)
    second = page(A | {"id": "q1", "supersedes": "r1"}, number=2, after="p1")
    found = scope(first, second)
    assert found.resolve("codex:s#messageId=a").first.id == "q1"
    assert list(found.findings) == []
    (account,) = next(iter(found)).accounts
    assert set(account.index.superseded) == {1}
    assert [shown(r)[1:] for r in found.resolutions()] == [
        ("resolved", ["q1"]),
        ("resolved", ["r1"]),
    ]
    assert list(found.problems()) == []


def test_a_revision_inside_a_segment_follows_the_order_there():
    """In one page `seq` says what is earlier, as in a stream that is all there is (ASR-065)."""
    first = page({"type": "note"}, number=1)
    forward = page(A | {"id": "q1"}, A | {"id": "q2", "supersedes": "q1"}, number=2, after="p1")
    found = scope(first, forward)
    assert found.resolve("codex:s#messageId=a").first.id == "q2"
    assert codes(found) == []
    back = page(A | {"id": "q1", "supersedes": "q2"}, A | {"id": "q2"}, number=2, after="p1")
    assert codes(scope(first, back)) == ["supersedes-later"]


def test_broken_links_over_segments_join_nothing():
    """Another type, another key, a later page, an ID that is nowhere or twice: all are faults."""
    first = page(A, {"id": "x"}, {"id": "r9", "supersedes": "q1"}, number=1)
    second = page(
        {"id": "q1", "supersedes": "r1"},
        B | {"id": "q2", "supersedes": "r1"},
        A | {"id": "q3", "supersedes": "nowhere"},
        {"id": "x"},
        {"id": "q5", "supersedes": "x"},
        number=2,
        after="p1",
    )
    found = scope(first, second)
    assert found.resolve("codex:s#messageId=a").state == "ambiguous"
    faults = {r.at.id: r.faults or shown(r)[1] for r in found.problems()}
    assert faults == {
        "r9": ("not-lower-seq",),
        "q1": ("other-type",),
        "q2": ("other-key",),
        "q3": "unresolved",
        "q5": "ambiguous",
    }
    assert codes(found) == [
        "supersedes-ambiguous",
        "supersedes-later",
        "supersedes-other-key",
        "supersedes-other-type",
        "supersedes-unknown",
    ]
    assert {f.path for f in found.findings} == {"$.supersedes"}


def test_declarations_reach_over_segments():
    """What an earlier page declares is declared earlier."""
    by = {"type": "message", "messageId": "m", "authorActor": {"participant": "u"}}
    first = page({"type": "declaration", "participants": [{"id": "u"}]}, number=1)
    found = scope(first, page(by, number=2, after="p1"))
    assert [shown(r)[1] for r in found.resolutions()] == ["resolved", "resolved"]


def test_what_any_header_declares_holds_in_all_segments():
    """A declaration holds from where it stands, a header from the beginning (ASR-077)."""
    by = {"type": "message", "messageId": "m", "authorActor": {"participant": "u"}}
    declaration = {"type": "declaration", "participants": [{"id": "u"}]}
    declared = {"participants": [{"id": "u"}]}
    for first, second, state in (
        (page(by, number=1), page(number=2, after="p1", **declared), "resolved"),
        (page(by, number=1), page(declaration, number=2, after="p1"), "unresolved"),
        (page(by, declaration, number=1), page(number=2, after="p1"), "unresolved"),
        # Of two the one counts that holds earlier, whichever is met first.
        (page(by, declaration, number=1), page(number=2, after="p1", **declared), "resolved"),
    ):
        found = scope(first, second)
        (named,) = [r for r in found.resolutions() if r.path == "$.authorActor.participant"]
        assert named.outcome.state == state


def test_an_ordinal_on_two_pages_is_ambiguous():
    """Pages whose ordinals overlap give no boundary (ASR-409)."""
    first, second = (
        page({"id": "ordinal/5"}, number=1),
        page({"id": "ordinal/5"}, number=2, after="p1"),
    )
    child = stream(lineage={"forkedFrom": {"session": "codex:s", "ordinal": 5}}, sid="child")
    found = scope(first, second, child)
    resolution = list(found.resolutions(found.session("codex:child")))[-1]
    assert shown(resolution)[1:] == ("ambiguous", ["ordinal/5", "ordinal/5"])


def test_a_page_captured_twice_counts_once():
    """Each segment may itself have several captures."""
    first, grown = page(A, number=1), page(A, C, number=1)
    second = page(B | {"id": "q1"}, number=2, after="p1")
    (session,) = scope(first, second, grown, second)
    (account,) = session.accounts
    assert [len(capture.index) for capture in account.captures] == [3, 2]
    assert len(account.repeats) == 2


@pytest.mark.parametrize(
    "pages",
    [
        (page(A, number=1), page(B, number=2)),  # both are the first
        (page(A, number=1), page(B, number=3, after="p2")),  # the second is missing
        (page(A, number=1, after="p2"), page(B, number=2, after="p1")),  # a circle
        (page(A, number=1), page(B, number=2, after="p1"), page(C, number=3, after="p1")),
        (page(A, number=1), page(B, number=1), page(C, number=2, after="p1")),
        (page(A, number=1), stream(B)),
        (stream(A, segment=7), stream(B, segment={"id": 7})),
    ],
)
def test_segments_that_do_not_join_are_a_conflict(pages):
    """Nothing is put in order that does not say its order."""
    for contents in (pages, pages[::-1]):
        (session,) = scope(*contents)
        assert session.conflict
        assert len(session.accounts) == len(pages)


def test_the_first_page_may_be_missing():
    """Pages that are linked are one session though the page before them is not there."""
    (session,) = scope(page(B, number=3, after="p2"), page(A, number=2, after="p1"))
    assert not session.conflict
    assert session.captures[0].segment == Segment("p2", "p1")


def test_a_header_that_cannot_be_read_has_no_segment():
    """A header of hostile depth is kept, without segment."""
    deep = json.dumps({"type": "session", "seq": 0, "id": "h", "agent": {"name": "codex"}})
    content = deep[:-1].encode() + b',"segment":' + b"[" * 3000 + b"]" * 3000 + b"}\n"
    assert all(capture.segment is None for capture in scope(content).captures)
    assert capture_module._segment(b'{"segment":') is None


# -- Inputs ---------------------------------------------------------------------------------------


def test_one_file_with_two_sessions(tmp_path):
    """A second header begins another stream, in scope as any other (ASR-051, 053)."""
    (tmp_path / "both.jsonl").write_bytes(stream(A) + stream(B, sid="t"))
    found = StreamScope.of([tmp_path / "both.jsonl"])
    assert [session.canonical for session in found] == ["codex:s", "codex:t"]
    assert [capture.number for capture in found.captures] == [0, 1]
    assert len({capture.file for capture in found.captures}) == 1


def test_captures_in_one_file_are_compared(tmp_path):
    """The same session twice in one file is compared like in two."""
    path = tmp_path / "both.jsonl"
    path.write_bytes(stream(A) + stream(B, sid="t") + stream(A, C))
    found = StreamScope.of([path])
    assert [len(session) for session in found] == [3, 2]
    path.write_bytes(stream(A) + stream(C))
    assert next(iter(StreamScope.of([path]))).conflict


def test_the_same_file_by_several_names_is_read_once(tmp_path):
    """Links and repeated paths lead to one file (X-11)."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(stream(A))
    (tmp_path / "b.jsonl").symlink_to(path)
    (tmp_path / "c.jsonl").hardlink_to(path)
    found = StreamScope.of([path, tmp_path, tmp_path / "b.jsonl", str(path)])
    (session,) = found
    assert len(session.captures) == 1


def test_one_path_need_not_stand_in_a_list(tmp_path):
    """A path alone is not taken for a sequence of characters."""
    (tmp_path / "a.jsonl").write_bytes(stream(A))
    assert len(StreamScope.of(str(tmp_path))) == len(StreamScope.of(tmp_path / "a.jsonl")) == 1


class Nobody:
    """An observer that looks at nothing."""

    members = frozenset()

    def see(self, row, types, records, contents):
        """Do nothing."""


def when_read(count, then):
    """Makes observers, and does something when the last of so many is made."""

    def made():
        nonlocal count
        count -= 1
        if not count:
            then()
        return Nobody()

    return made


def test_a_file_that_is_gone_when_captures_are_compared(tmp_path):
    """Two captures that cannot be compared are kept apart, and it is said why."""
    for name in "ab":
        (tmp_path / f"{name}.jsonl").write_bytes(stream(A))
    gone = when_read(2, (tmp_path / "a.jsonl").unlink)
    found = StreamScope.of([tmp_path], observers=[gone])
    assert set(codes(found)) == {"unreadable", "identity-conflict"}


def test_a_file_that_is_another_when_captures_are_compared(tmp_path):
    """A stream that is no longer in its file is kept apart from its other capture."""
    for name in "ab":
        (tmp_path / f"{name}.jsonl").write_bytes(stream(sid="t") + stream(A))
    other = when_read(4, lambda: (tmp_path / "a.jsonl").write_bytes(stream(sid="t")))
    found = StreamScope.of([tmp_path], observers=[other])
    assert found.session("codex:s").conflict
    assert not found.session("codex:t").conflict


def test_records_are_fetched_whole(tmp_path):
    """A record can be had again as it stands in the input, for those that have one."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(stream(A) + stream(B, C, sid="t"))
    found = StreamScope.of([path])
    capture = found.session("codex:t").captures[0]
    fetched = found.records(capture, [1, 2, 7])
    assert sorted(fetched) == [1, 2]
    assert json.loads(fetched[1])["messageId"] == "b"
    once = scope(stream(A))
    with pytest.raises(sr.StreamError, match="twice") as caught:
        once.records(next(once.captures), [0])
    assert caught.value.code == "no-file"


def test_captures_are_compared_whole_as_what_was_named(tmp_path):
    """Reading again leaves nothing out and passes nothing over, wherever the file was found."""
    asked = []

    def opened(source, *, whole, found, **options):
        asked.append((Path(source).name, whole, found))
        return open_streams(source, whole=whole, found=found, **options)

    for name in "ab":
        (tmp_path / f"{name}.jsonl").write_bytes(stream(A))
    (session,) = StreamScope.of([tmp_path], open=opened)
    assert not session.conflict
    assert asked[:2] == [("a.jsonl", False, True), ("b.jsonl", False, True)]
    assert set(asked[2:]) == {("a.jsonl", True, False), ("b.jsonl", True, False)}


def test_an_input_of_no_known_kind_that_was_given_is_said():
    """Only what was found in a folder is passed over; it is read once, so nothing is left out."""

    def refuse(_source, *, whole, found, **_options):
        assert (whole, found) == (True, False)
        raise sr.StreamError("unknown-format", "no stream")

    found = StreamScope.of([[b"x"]], open=refuse)
    assert (codes(found), found.passed_over) == (["unknown-format"], 0)


def test_what_cannot_be_read_has_the_name_of_its_file(tmp_path):
    """The name that the error has, else the one that was given, else none."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(stream(A))
    for source, named, file in (
        (path, None, str(path)),
        (path, "inside.jsonl", "inside.jsonl"),
        ([b"x"], None, None),
        ([b"x"], "inside.jsonl", "inside.jsonl"),
    ):

        def fail(_source, *, error=named, **_options):
            raise sr.StreamError("unreadable", "gone", error)

        (finding,) = StreamScope.of([source], open=fail).findings
        assert (finding.code, finding.file) == ("unreadable", file)


def test_observers_see_each_stream_for_themselves():
    """Each factory makes one observer for each stream, found by the factory's name."""

    class Counter:
        members = frozenset({"vendor"})

        def __init__(self):
            self.types = []

        def see(self, row, types, records, contents):  # noqa: ARG002
            assert row == len(self.types)
            self.types += types

    def other():
        return Counter()

    found = StreamScope.of([[stream(A) + stream(B, C, sid="t")]], observers=[Counter, other])
    for capture in found.captures:
        assert sorted(capture.observed) == ["Counter", "other"]
        assert len(capture.observed["Counter"].types) == len(capture.index)


def test_binary_files_and_iterables_are_inputs(tmp_path):
    """File objects keep their name; iterables have none."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(stream(A))
    with path.open("rb") as opened:
        found = StreamScope.of([opened, io.BytesIO(stream(B, sid="t")), [stream(C, sid="u")]])
    assert [capture.file for capture in found.captures] == [str(path), None, None]


def test_standard_input_is_a_dash(monkeypatch):
    """`-` is standard input, which can be read once."""

    class Standard:
        buffer = io.BytesIO(stream(A) + stream(A))

    monkeypatch.setattr("sys.stdin", Standard)
    found = StreamScope.of(["-"])
    (session,) = found
    assert (session.conflict, session.files) == (False, ("-",))


def test_a_pipe_that_is_named_is_read(tmp_path):
    """A pipe named by hand is read; in a folder it is passed over with a notice."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    child = os.fork()
    if child == 0:  # pragma: no cover - another process
        with pipe.open("wb") as writing:
            writing.write(stream(A))
        os._exit(0)
    found = StreamScope.of([pipe])
    os.waitpid(child, 0)
    assert [session.canonical for session in found] == ["codex:s"]
    found = StreamScope.of([tmp_path])
    assert (len(found), codes(found)) == (0, ["special-file"])


def test_a_scope_that_was_read_without_references_has_none_to_give():
    """Who asks all the same made a mistake in the program."""
    header = b'{"type":"session","seq":0,"id":"h","agent":{"name":"codex"},"sessionId":"s"}\n'
    (session,) = StreamScope.of([iter([header])], references=False)
    ((capture,),) = (account.captures for account in session.accounts)
    with pytest.raises(TypeError):
        capture.references  # noqa: B018
