"""What larger tests pass over: one fact each."""

from __future__ import annotations

from array import array

import pytest
from lineage_streams import (
    Stream,
    copied,
    edges,
    findings,
    findings_under,
    lineage_of,
    named,
    none,
    notes,
    row,
    total,
    usage,
)

from sessionref.findings import Place
from sessionref.lineage.calls import position
from sessionref.lineage.explain import explain
from sessionref.lineage.faults import usage as usage_faults
from sessionref.lineage.forest import Edge
from sessionref.usage import Sum


def counts(lineage, name, record):
    (stream,) = lineage.by_key[name].accounts
    (at,) = stream.index.rows_of(None, record)
    return explain(lineage, stream.index.hit(at)).counts


def report(stream, out, **members):
    members = {"covers": "session", "includesChildren": False, "usage": usage(out), **members}
    return stream.add("usage", **members)


# -- Aggregates ----------------------------------------------------------------------------------


def test_a_copied_aggregate_casts_no_doubt():
    """A wrapper that only holds a copy of a report reports nothing of the backing session's."""
    wrapper = Stream("w", none(executedBy=[named("b")]))
    report(wrapper, 9, copiedFrom={"session": "codex:x", "proof": "native_id"})
    backing = Stream("b", none())
    backing.call(5)
    lineage = lineage_of(wrapper, backing)
    assert row(lineage, "b") == (5, 0, 0)
    assert total(lineage) == (5, 9, 0)


def test_both_groups_of_an_unclear_aggregate_are_left_out():
    """Tokens and cost stand by themselves, also where neither counts."""
    stream = Stream("a", none())
    report(stream, 9, covers="day", cost=[{"amount": "1", "currency": "USD"}])
    lineage = lineage_of(stream)
    assert [
        (item.group, item.left_out)
        for item in lineage.totals.items(lineage.sessions[0].accounts[0])
    ] == [
        ("tokens", "no-coverage"),
        ("cost", "no-coverage"),
    ]


@pytest.mark.parametrize(("second", "expected"), [(9, "counted"), (8, "unknown")])
def test_two_aggregates_of_one_thing_are_explained_alike(second, expected):
    """What they agree on counts, as unknown where they differ; each of both is asked."""
    stream = Stream("a", none())
    report(stream, 9)
    report(stream, second)
    lineage = lineage_of(stream)
    assert counts(lineage, "codex:a", "r1") == expected
    assert counts(lineage, "codex:a", "r2") == expected


@pytest.mark.parametrize(
    ("days", "expected"), [("11", ["2026-05-01"]), ("12", [None]), ("21", [None])]
)
def test_an_aggregate_told_twice_has_the_day_of_both(days, expected):
    """A day that they do not share is none."""
    stream = Stream("a", none())
    for day in days:
        report(stream, 9, ts=f"2026-05-0{day}T10:00:00Z")
    assert [group.name for group in lineage_of(stream).totals.by("day")] == expected


def test_an_unreadable_aggregate_is_noted():
    """Also where every call can be read."""
    stream = Stream("a", none())
    stream.call(1)
    assert "unreadable-usage" not in notes(lineage_of(stream))
    report(stream, 1, usage={"outputTokens": "many"})
    assert "unreadable-usage" in notes(lineage_of(stream))


# -- Wrappers ------------------------------------------------------------------------------------


def test_a_session_that_names_itself_is_no_backing_session():
    """Its own calls are no second report of its aggregate."""
    stream = Stream("a", none(executedBy=[named("a")]))
    stream.call(5, usage=None, cost=[{"amount": "1", "currency": "USD"}])
    report(stream, 9)
    assert row(lineage_of(stream), "a") == (9, 0, 0)


def test_a_wrapper_without_a_key_reports_for_itself():
    """Nothing can say of which session its turns are."""
    wrapper = Stream("w", none(executedBy=[named("b")]), sessionId=None)
    report(wrapper, 9)
    backing = Stream("b", none())
    backing.call(5)
    lineage = lineage_of(wrapper, backing)
    assert total(lineage) == (14, 0, 0)
    assert row(lineage, "b") == (5, 0, 0)


def test_a_mirror_without_a_key_counts_its_calls():
    """Nothing can say of which session it is the mirror."""
    mirror = Stream("w", {"executedBy": [named("b")]}, sessionId=None, authority="mirror")
    mirror.call(7)
    backing = Stream("b", none())
    backing.call(5)
    assert total(lineage_of(mirror, backing)) == (5, 0, 7)


def test_each_wrapper_has_turns_of_its_own():
    """Turns of one are not taken for those of another that calls its turns alike."""
    streams = []
    for name in "vw":
        wrapper = Stream(name, none(executedBy=[named(f"b{name}")]))
        wrapper.add("state", turnId="t1", executedBy=[f"codex:b{name}#turnId=n1"])
        report(wrapper, 9, covers="turn", turnId="t1")
        backing = Stream(f"b{name}", none())
        if name == "w":
            backing.call(5, turnId="n1")
        streams += [wrapper, backing]
    lineage = lineage_of(*streams)
    assert row(lineage, "v") == (9, 0, 0)
    assert row(lineage, "w") == (0, 0, 0)
    assert total(lineage) == (14, 0, 0)


# -- The forest ----------------------------------------------------------------------------------


def test_edges_stand_in_the_order_of_facets():
    """Not in the order of the records that claim them."""
    stream = Stream("a", {"relatedUnknown": named("c"), "forkedFrom": named("b")})
    stream.declare(spawnedBy=named("d"))
    assert [edge.facet for edge in lineage_of(stream).forest.edges] == [
        "spawnedBy",
        "forkedFrom",
        "relatedUnknown",
    ]


def test_an_announcement_is_exact_only_of_a_child_that_is_there():
    """And only from a session whose streams agree."""
    parent = Stream("p", none())
    parent.subagent("k")
    (edge,) = lineage_of(parent).forest.edges
    assert (edge.state, edge.exact) == ("unresolved", False)
    (edge,) = lineage_of(parent, Stream("k")).forest.edges
    assert (edge.state, edge.exact) == ("resolved", True)
    other = Stream("p", none())
    other.message()
    assert {e.exact for e in lineage_of(parent, other, Stream("k")).forest.edges} == {False}


def at(seq: int, file: str | None, line: int) -> Place:
    """The place of a record."""
    return Place("codex:a", seq, "h", file, line)


def test_edges_that_claim_the_same_stand_in_the_order_of_their_places():
    """By `seq`, then file, then line; what has no file is first."""
    places = [
        at(0, None, 1),
        at(0, None, 2),
        at(0, "A", 1),
        at(0, "B", 1),
        at(1, None, 1),
        at(1, "A", 1),
    ]
    edges = [
        Edge("codex:a", "codex:b", "spawnedBy", "native_field", "resolved", True, place, "$")
        for place in reversed(places)
    ]
    assert [edge.place for edge in sorted(edges, key=Edge.order)] == places


def test_what_makes_no_edge_hides_no_other():
    """A faulty claim before a good one; an announcement without a child before one with it."""
    stream = Stream("a", {"spawnedBy": {"session": "codex:p"}, "forkedFrom": named("f")})
    stream.add("subagent", capture={"childSession": "unavailable"})
    stream.copy("subagent", childSession="codex:b")
    stream.subagent("c")
    nothing = {"mode": "none", "from": "codex:a", "evidence": "native_field"}
    fresh = Stream("b", {"inherits": nothing, "relatedUnknown": named("u")})
    assert edges(lineage_of(stream, fresh)) == {
        ("a", "forkedFrom", "f"),
        ("a", "announces", "c"),
        ("b", "relatedUnknown", "u"),
    }


def test_a_family_is_found_from_its_children_and_from_its_parents():
    """Whichever name comes first."""
    child, parent = Stream("a", {"spawnedBy": named("b")}), Stream("d", {"spawnedBy": named("c")})
    assert [family.sessions for family in lineage_of(child, parent).forest.families] == [
        ("codex:a", "codex:b"),
        ("codex:c", "codex:d"),
    ]


def test_cycles_are_among_the_faults():
    """Under no rule."""
    first, second = Stream("a", {"forkedFrom": named("b")}), Stream("b", {"forkedFrom": named("a")})
    assert findings(lineage_of(first, second)) == [(None, "lineage-cycle")]


# -- Records and measures ------------------------------------------------------------------------


def test_tokens_that_are_not_told_are_none():
    """A call that tells one count has zero of the others."""
    stream = Stream("a", none())
    stream.call(usage={"outputTokens": 5})
    stream.call(usage={"inputTokens": 3})
    found = lineage_of(stream).totals.total.original
    assert (found.input_tokens, found.output_tokens) == (3, 5)
    assert (found.cache_read_tokens, found.cache_write_tokens, found.reasoning_tokens) == (0, 0, 0)


def test_nothing_falls_below_zero():
    """What is taken away is at most what is there, by token count and by currency."""
    one, other = Sum(), Sum()
    one.add([5, 1, 1, 1, 1], {"USD": 7, "EUR": 2, "CHF": 3}, 4)
    other.add([2, 3, 1, 0, 1], {"USD": 3, "EUR": 5}, 1)
    left = one.less(other)
    assert (left.tokens, left.calls) == ([3, 0, 0, 1, 0], 4)
    assert left.cost == {"USD": 4, "CHF": 3}


def test_a_position_behind_the_last_is_none():
    """Columns end."""
    column = array("q", [2, 5])
    assert [position(column, number) for number in (2, 3, 5, 6)] == [0, None, 1, None]


def test_a_record_that_names_itself_as_its_first_writing_counts():
    """It was written once."""
    stream = Stream("a", none())
    stream.call(5, native={"repeats": "r1"})
    assert row(lineage_of(stream), "a") == (5, 0, 0)


def test_a_marked_record_at_the_end_of_a_prefix_is_one_copy():
    """It is a copy for two reasons, and counts once among the records."""
    stream = Stream("a", copied("r2"))
    stream.message()
    stream.copy()
    stream.message()
    assert lineage_of(stream).sessions[0].records == (1, 2, 0)


# -- Findings and notes ----------------------------------------------------------------------------


def test_findings_about_announcements_stand_at_their_members():
    """ASR-411, 412 and 424: code and path of each."""
    parent = Stream("p", none())
    parent.add("subagent")
    parent.subagent("a", callId="c")
    parent.subagent("a", callId="c")
    lineage = lineage_of(parent, Stream("k", {"spawnedBy": named("p")}))
    found = [
        one for rule in ("411", "412", "424") for one in findings_under(lineage, f"ASR-{rule}")
    ]
    assert [(one.code, one.path) for one in found] == [
        ("missing-child-session", "$.childSession"),
        ("no-announcement", "$"),
        ("second-announcement", "$.supersedes"),
    ]


def test_a_session_without_records_may_hold_no_copies():
    """There is nothing of which to say so."""
    assert notes(lineage_of(Stream("a"))) == set()
    stream = Stream("a")
    stream.copy()
    assert notes(lineage_of(stream)) == set()


def test_notes_on_aggregates_say_how_many():
    """Of those that are left out for one reason."""
    stream = Stream("a", none())
    report(stream, 1, covers="day")
    report(stream, 2, covers="week")
    (note,) = lineage_of(stream).totals.notes
    assert note.message.startswith("2 aggregate(s): each counts nowhere, because it does not say")


@pytest.mark.parametrize(
    ("includes", "verb"), [(True, "includes"), (None, "may include"), ("yes", "may include")]
)
def test_a_note_says_whether_children_are_included_or_may_be(includes, verb):
    """What the source does not say is not asserted."""
    stream = Stream("a", none())
    report(stream, 1, includesChildren=includes)
    found = {note.code: note.message for note in lineage_of(stream).totals.notes}
    assert found["includes-children"].startswith(f"the aggregate {verb} the work of children")


def test_a_mark_without_a_proof_is_a_fault_under_its_rule():
    """ASR-413, at the proof."""
    stream = Stream("a", none())
    stream.message(copiedFrom={"session": "codex:b", "proof": "looks alike"})
    (finding,) = findings_under(lineage_of(stream), "ASR-413")
    assert (finding.code, finding.path, finding.severity) == (
        "bad-proof",
        "$.copiedFrom.proof",
        "error",
    )


def test_claims_after_other_facets_are_compared():
    """ASR-412: a spawner that a declaration names, with other facets before it."""
    parent = Stream("p", none())
    parent.subagent("k", callId="c1")
    child = Stream("k", {"forkedFrom": named("x")})
    child.declare(spawnedBy=named("p", record="callId=c2"))
    (finding,) = findings_under(lineage_of(parent, child), "ASR-412")
    assert (finding.code, finding.severity, finding.seq) == ("calls-differ", "warning", 1)
    assert finding.path == "$.lineage.spawnedBy.record"
    assert "'c2'" in finding.message
    assert finding.message.endswith("'c1'")


def test_notes_come_by_session():
    """Those about no single session come last."""
    keyless = Stream("z", sessionId=None)
    keyless.call(1)
    one, other = Stream("claude-code:a"), Stream("claude-code:b")
    for stream in (other, one):
        stream.call(1, inferenceId="m", request="q")
    found = [note.session for note in lineage_of(keyless, other, one).totals.notes]
    named_ = [name for name in found if name is not None]
    assert named_ == sorted(named_)
    assert found == [*named_, *[None] * (len(found) - len(named_))]
    assert None in found


def test_notes_of_lower_bounds_stand_among_the_others():
    """By session, and in a session by code."""
    parent, first = Stream("p", none()), Stream("a")
    report(parent, 2, includesChildren=True)
    first.call(1)
    child = Stream("c", none(spawnedBy=named("p")))
    child.call(3)
    found = lineage_of(parent, child, first).totals.notes
    assert [(note.session, note.code) for note in found] == [
        ("codex:a", "no-inherits"),
        ("codex:p", "aggregates-only"),
        ("codex:p", "children-larger"),
        ("codex:p", "includes-children"),
    ]


def test_a_segment_without_calls_does_not_hide_the_next():
    """Segments of one session count together."""
    first = Stream("a", none(), segment={"id": "1"})
    second = Stream("a", segment={"id": "2", "after": "1"})
    second.records[0]["id"] = "h2"
    second.records[0]["seq"] = 5
    second.add("inference", inferenceId="i", usage=usage(4), seq=6)
    assert row(lineage_of(first, second), "a") == (4, 0, 0)


def test_only_what_counts_from_aggregates_is_noted():
    """What stands outside of the totals, or is a copy, is not counted from them."""
    wrapper = Stream("w", none(executedBy=[named("b")]))
    report(wrapper, 9)
    backing = Stream("b", none())
    backing.call(5)
    found = notes(lineage_of(wrapper, backing))
    assert "wrapper-or-backing" in found
    assert "aggregates-only" not in found
    copy = Stream("c", none())
    report(copy, 9, copiedFrom={"session": "codex:x", "proof": "native_id"})
    assert "aggregates-only" not in notes(lineage_of(copy))
    assert "aggregates-only" in notes(lineage_of(wrapper))


def test_groups_come_by_name():
    """Not in the order in which they were met; what has no name is last."""
    stream = Stream("a", none())
    for model in ("m2", None, "m1"):
        stream.call(1, model=model and {"id": model})
    assert [group.name for group in lineage_of(stream).totals.by("model")] == ["m1", "m2", None]


def test_children_come_by_name():
    """Whether they claim their parent, or it announces them."""
    parent = Stream("p", none())
    parent.subagent("a")
    forest = lineage_of(parent, Stream("b", {"spawnedBy": named("p")})).forest
    assert forest.children("codex:p") == ("codex:a", "codex:b")


def test_an_edge_has_the_reason_of_a_continuation():
    """Other edges have none."""
    stream = Stream("a", {"continues": named("b", reason="idle"), "forkedFrom": named("b")})
    assert {edge.facet: edge.reason for edge in lineage_of(stream).forest.edges} == {
        "continues": "idle",
        "forkedFrom": None,
    }


def test_another_spawner_is_a_warning_at_the_session_that_is_named():
    """ASR-412, in the child's stream."""
    parent = Stream("p", none())
    parent.subagent("k")
    other = Stream("q", none())
    other.subagent("k")
    child = Stream("k", {"spawnedBy": named("p")})
    (finding,) = findings_under(lineage_of(parent, other, child), "ASR-412")
    assert (finding.code, finding.severity) == ("spawners-differ", "warning")
    assert (finding.session, finding.path) == ("codex:k", "$.lineage.spawnedBy.session")


def test_a_mirror_of_many_is_a_fault_where_it_says_that_it_is_one():
    """ASR-422: also in a declaration."""
    stream = Stream("w", {"executedBy": [named("a"), named("b")]})
    stream.add("declaration", authority="mirror")
    (finding,) = findings_under(lineage_of(stream), "ASR-422")
    assert (finding.seq, finding.path, finding.severity) == (1, "$.authority", "error")


def test_findings_under_no_rule():
    """A cycle is a warning; use that cannot be read is an error at its place."""
    first, second = Stream("a", {"forkedFrom": named("b")}), Stream("b", {"forkedFrom": named("a")})
    second.call(usage={"outputTokens": "many"})
    second.add("subagent")
    lineage = lineage_of(first, second)
    (cycle,) = lineage.forest.findings
    assert (cycle.rule, cycle.code, cycle.severity) == (None, "lineage-cycle", "warning")
    (use,) = usage_faults(lineage)
    assert (use.rule, use.code, use.severity) == (None, "bad-member", "error")
    assert use.path == "$.usage.outputTokens"
    second.subagent("c#r1")
    missing, other = findings_under(lineage_of(first, second), "ASR-411")
    assert {(one.severity, one.path) for one in (missing, other)} == {("error", "$.childSession")}


def test_sessions_that_agree_with_each_other_do_not_give_way():
    """Only what another session has superseded is earlier; of two against one none is chosen."""
    streams = [Stream(f"claude-code:{name}") for name in "abc"]
    for stream, out in zip(streams, (5, 5, 7), strict=True):
        stream.call(out, inferenceId="m", request="q")
    assert total(lineage_of(*streams)) == (0, 0, 0)
    assert lineage_of(*streams).totals.total.unknown.calls == 1
