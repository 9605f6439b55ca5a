"""Wrapper or backing session, per turn, never both (ASR-425); aggregates and children (ASR-419)."""

from __future__ import annotations

import pytest
from lineage_streams import (
    NF,
    Stream,
    copied,
    lineage_of,
    named,
    none,
    notes,
    row,
    total,
    usage,
)


def wrapper(*turns, lineage=None, **aggregate):
    """A T3 thread run by the Codex session `b`: for each turn its aggregate, and who ran it."""
    stream = Stream("t3-code:w", none(executedBy=[named("b")]) if lineage is None else lineage)
    for turn, ran, out in turns:
        if ran is not None:
            stream.add("state", turnId=turn, executedBy=ran)
        if out is not None:
            stream.add(
                "usage",
                turnId=turn,
                covers="turn",
                includesChildren=False,
                usage=usage(out),
                **aggregate,
            )
    return stream


def backing(*turns):
    stream = Stream("b", none())
    for turn, out in turns:
        stream.call(out, turnId=turn)
    return stream


W = "t3-code:w"


def test_the_backing_sessions_records_win_where_they_are_in_scope():
    """A covered turn counts once, from the calls themselves."""
    lineage = lineage_of(
        wrapper(("w1", ["codex:b#turnId=b1"], 100)), backing(("b1", 60), ("b2", 7))
    )
    assert total(lineage) == (67, 0, 0)
    assert row(lineage, W) == (0, 0, 0)
    assert row(lineage, "b") == (67, 0, 0)
    assert "aggregate-covered" in notes(lineage)


def test_without_the_backing_session_the_wrapper_counts():
    """And says that it counts aggregates."""
    lineage = lineage_of(wrapper(("w1", ["codex:b#turnId=b1"], 100)))
    assert total(lineage) == (100, 0, 0)
    assert lineage.totals.total.original.calls == 0
    assert notes(lineage) == {"aggregates-only"}


def test_a_turn_that_the_backing_session_does_not_have_counts_from_the_wrapper():
    """Only the turns that it covers are replaced; nothing unassigned is dropped (ASR-427)."""
    turns = ("w1", ["codex:b#turnId=b1"], 100), ("w2", ["codex:b#turnId=gone"], 20)
    lineage = lineage_of(wrapper(*turns), backing(("b1", 60)))
    assert total(lineage) == (80, 0, 0)


@pytest.mark.parametrize("turns", [(("b1", 60),), ((None, 60),)])
def test_a_session_named_without_turn_covers_what_it_reports(turns):
    """And a call of no turn may be of any."""
    for ran in ("codex:b", ["codex:b"], ["codex:b#turnId=b1"], ["codex:b#turnId=b1", 5, "no ref"]):
        lineage = lineage_of(wrapper(("w1", ran, 100)), backing(*turns))
        assert total(lineage) == (60, 0, 0)


def test_a_backing_session_that_reports_nothing_covers_nothing():
    """A file without calls is no account of the use."""
    lineage = lineage_of(wrapper(("w1", ["codex:b"], 100)), backing())
    assert total(lineage) == (100, 0, 0)
    lineage = lineage_of(wrapper((None, ["codex:b"], None), ("w1", None, 100)), backing())
    assert total(lineage) == (100, 0, 0)


def test_without_turns_the_backing_session_counts():
    """The wrapper's side stands under unknown in its row; whose the calls are is certain."""
    lineage = lineage_of(wrapper(("w1", None, 100)), backing(("b1", 60)))
    assert row(lineage, W) == (0, 0, 100)
    assert row(lineage, "b") == total(lineage) == (60, 0, 0)
    assert lineage.totals.of([W]).original.output_tokens == 100
    assert "wrapper-or-backing" in notes(lineage)
    assert not lineage.totals.may_include_copies


def test_turns_that_are_named_stay_certain():
    """What one state record says of its turn is not undone by another turn without one."""
    turns = ("w1", ["codex:b#turnId=b1"], 100), ("w2", None, 30)
    lineage = lineage_of(wrapper(*turns), backing(("b1", 60), ("b2", 7), (None, 1)))
    assert row(lineage, "b") == total(lineage) == (68, 0, 0)
    assert row(lineage, W) == (0, 0, 30)


def test_a_session_without_a_turn_makes_no_turn_certain():
    """Nor does a turn of another session."""
    turns = ("w1", ["codex:b"], None), ("w2", ["codex:z#turnId=b1"], None), ("w3", None, 30)
    lineage = lineage_of(wrapper(*turns), backing(("b1", 60)))
    assert row(lineage, "b") == (60, 0, 0)
    assert row(lineage, W) == (0, 0, 30)


def test_only_the_latest_state_of_a_turn_says_who_ran_it():
    """A superseded state record says nothing."""
    stream = wrapper()
    first = stream.add("state", turnId="w1", executedBy=["codex:b#turnId=b1"])
    stream.add("state", turnId="w1", supersedes=first, executedBy=["codex:z#turnId=z1"])
    stream.add("state", executedBy=["codex:b"])
    stream.add("state", turnId="w1")
    stream.add("usage", turnId="w1", covers="turn", includesChildren=False, usage=usage(100))
    lineage = lineage_of(stream, backing(("b1", 60)))
    assert total(lineage) == (160, 0, 0)


def test_a_wrappers_own_calls_are_its_own():
    """Being in a wrapper's stream makes no copy (ASR-423); in a covered turn they do not count."""
    stream = wrapper(("w1", ["codex:b#turnId=b1"], None))
    stream.call(3, turnId="w1")
    stream.call(4, turnId="w2")
    lineage = lineage_of(stream, backing(("b1", 60)))
    assert row(lineage, W) == (4, 0, 0)
    assert total(lineage) == (64, 0, 0)


def test_covered_calls_of_the_provider_are_not_shared():
    """A wrapper's record of the very call that the backing session records."""
    stream = Stream("codex:w", none(executedBy=[named("b")]))
    stream.add("state", turnId="w1", executedBy=["codex:b#turnId=b1"])
    for _ in range(2):
        stream.call(60, turnId="w1", inferenceId="resp")
    run = Stream("b", none())
    run.call(60, turnId="b1", inferenceId="resp")
    lineage = lineage_of(stream, run)
    assert total(lineage) == (60, 0, 0)
    assert row(lineage, "w") == (0, 0, 0)


def test_a_mirror_counts_where_its_session_is_missing_only():
    """A stream that is wholly a copy has no original records (ASR-422, 423)."""
    mirror = Stream("openclaw:m", {"executedBy": [named("b")]}, authority="mirror")
    mirror.call(60)
    mirror.add("usage", covers="session", includesChildren=False, usage=usage(60))
    assert total(lineage_of(mirror)) == (0, 0, 60)
    assert total(lineage_of(mirror, backing(("b1", 60)))) == (60, 0, 0)


def session_sum(lineage, out=100, **members):
    stream = Stream("t3-code:w", lineage)
    members = {"covers": "session", "includesChildren": False, "usage": usage(out), **members}
    stream.add("usage", **members)
    return stream


def test_a_session_aggregate_of_a_wrapper():
    """Less the turns that are named; doubtful where none is."""
    stream = wrapper(("w1", ["codex:b#turnId=b1"], None))
    stream.add("usage", covers="session", includesChildren=False, usage=usage(100))
    assert total(lineage_of(stream, backing(("b1", 60)))) == (60, 0, 40)
    lineage = lineage_of(session_sum(none(executedBy=[named("b")])), backing(("b1", 60)))
    assert total(lineage) == (60, 0, 0)
    assert row(lineage, W) == (0, 0, 100)


def test_the_turns_alone_can_say_who_ran_a_wrapper():
    """Without the facet: what they used is taken away from its aggregate over the session."""
    stream = wrapper(("w1", ["codex:b#turnId=b1"], None), lineage=none())
    stream.add("usage", covers="session", includesChildren=False, usage=usage(100))
    assert total(lineage_of(stream)) == (100, 0, 0)
    assert total(lineage_of(stream, backing(("b1", 60)))) == (60, 0, 40)


def test_a_backing_session_reports_by_aggregates_too():
    """Of a turn of which it has a sum and no calls, that sum counts."""
    ran = Stream("b", none())
    ran.add("usage", turnId="b1", covers="turn", includesChildren=False, usage=usage(60))
    lineage = lineage_of(wrapper(("w1", ["codex:b#turnId=b1"], 100)), ran)
    assert total(lineage) == (60, 0, 0)


def test_a_session_that_executes_itself_covers_nothing():
    """A claim about itself takes nothing away."""
    stream = wrapper(("w1", [W], 100), lineage=none(executedBy=[named(W)]))
    assert total(lineage_of(stream)) == (100, 0, 0)


# -- Aggregates beside calls -------------------------------------------------------------------------


def test_aggregates_count_where_no_calls_are_recorded():
    """Calls before turns, turns before the session."""
    stream = session_sum(none())
    assert total(lineage_of(stream)) == (100, 0, 0)
    stream.add("usage", covers="turn", turnId="t1", includesChildren=False, usage=usage(30))
    lineage = lineage_of(stream)
    assert total(lineage) == (30, 0, 0)
    assert "aggregate-turns-reported" in notes(lineage)
    stream.call(25, turnId="t1")
    stream.call(9, turnId="t2")
    lineage = lineage_of(stream)
    assert total(lineage) == (34, 0, 0)
    assert "aggregate-calls-recorded" in notes(lineage)


def test_a_call_of_no_turn_may_be_of_any():
    """Then no turn's aggregate counts beside it."""
    stream = Stream("a", none())
    stream.add("usage", covers="turn", turnId="t1", includesChildren=False, usage=usage(30))
    stream.call(25)
    assert total(lineage_of(stream)) == (25, 0, 0)


def test_tokens_and_cost_are_known_apart():
    """Calls with tokens and no cost leave the cost to the aggregate."""
    stream = Stream("a", none())
    stream.call(25)
    stream.add(
        "usage",
        covers="session",
        includesChildren=False,
        usage=usage(25),
        cost=[{"amount": "0.5", "currency": "USD"}],
        ts="2026-10-26T00:00:00Z",
    )
    lineage = lineage_of(stream)
    assert total(lineage) == (25, 0, 0)
    assert [one.amount for one in lineage.totals.total.original.cost] == ["0.5"]
    assert "2026-10-26" in [one.name for one in lineage.totals.by("day")]
    stream.call(1, cost=[{"amount": "0.1", "currency": "USD"}])
    assert [one.amount for one in lineage_of(stream).totals.total.original.cost] == ["0.1"]


def test_calls_without_tokens_leave_them_to_the_aggregate():
    """What the calls do not say, the session may."""
    stream = session_sum(none())
    stream.call(usage=None)
    lineage = lineage_of(stream)
    assert total(lineage) == (100, 0, 0)
    assert lineage.totals.total.original.calls == 1


def test_a_superseded_call_reports_no_turn():
    """Only the latest revision says in which turn a call was."""
    stream = Stream("a", none())
    stream.add("usage", covers="turn", turnId="t1", includesChildren=False, usage=usage(30))
    first = stream.call(5, turnId="t1", inferenceId="x")
    stream.call(6, turnId="t2", inferenceId="x", supersedes=first)
    assert total(lineage_of(stream)) == (36, 0, 0)


@pytest.mark.parametrize(
    "members", [{"covers": "week"}, {"covers": "turn"}, {"covers": 5}, {"covers": None}]
)
def test_an_aggregate_over_nothing_counts_nowhere(members):
    """It has to say what it covers."""
    lineage = lineage_of(session_sum(none(), **members))
    assert total(lineage) == (0, 0, 0)
    assert "aggregate-no-coverage" in notes(lineage)


def test_the_latest_revision_of_an_aggregate_counts():
    """And neither what it supersedes nor what was written again."""
    stream = session_sum(none(), 10)
    stream.add("usage", covers="session", includesChildren=False, usage=usage(15), supersedes="r1")
    stream.add(
        "usage", covers="session", includesChildren=False, usage=usage(9), native={"repeats": "r1"}
    )
    assert total(lineage_of(stream)) == (15, 0, 0)


def test_aggregates_over_the_same():
    """Equal ones are one; of unequal ones counts what they agree on."""
    stream = session_sum(none(), 10)
    stream.add("usage", covers="session", includesChildren=False, usage=usage(10))
    assert total(lineage_of(stream)) == (10, 0, 0)
    stream.add("usage", covers="session", includesChildren=False, usage=usage(10, fresh=3))
    lineage = lineage_of(stream)
    assert total(lineage) == (0, 0, 10)
    assert lineage.totals.total.unknown.input_tokens == 0
    assert "aggregates-differ" in notes(lineage)
    stream.add("usage", covers="session", usage=usage(10), ts="2026-01-01T00:00:00Z")
    assert "includes-children" in notes(lineage_of(stream))


def test_copied_aggregates_are_copied():
    """ASR-417; an own one counts, as unknown: it may be a sum over the copies too."""
    own = {"covers": "session", "includesChildren": False, "usage": usage(10)}
    mark = {"copiedFrom": {"session": "codex:z", "proof": NF}}
    stream = Stream("a", none())
    stream.add("usage", **own, **mark)
    assert total(lineage_of(stream)) == (0, 10, 0)
    stream.add("usage", **{**own, "usage": usage(11)}, **mark)
    assert total(lineage_of(stream)) == (0, 0, 0)
    stream.add("usage", **{**own, "usage": usage(12)})
    assert total(lineage_of(stream)) == (0, 0, 12)
    stream.add("usage", **{**own, "usage": usage(13)}, **mark)
    assert total(lineage_of(stream)) == (0, 0, 12)
    assert total(lineage_of(session_sum(None))) == (0, 0, 100)


# -- Children ----------------------------------------------------------------------------------------


def parent_sum(out, includes, **members):
    stream = Stream("p", none())
    if includes is not None:
        members["includesChildren"] = includes
    stream.add("usage", covers="session", usage=usage(out), **members)
    return stream


def child(name, out, up="p", lineage=None):
    stream = Stream(name, none(spawnedBy=named(up)) if lineage is None else lineage)
    stream.call(out)
    return stream


@pytest.mark.parametrize(
    ("includes", "expected", "of_parent"),
    [
        (False, (80, 0, 0), (50, 0, 0)),
        (True, (30, 0, 20), (0, 0, 50)),
        (None, (30, 0, 20), (0, 0, 50)),
    ],
)
def test_children_are_never_added_to_what_includes_them(includes, expected, of_parent):
    """ASR-419: what is left of the aggregate is the parent's own."""
    lineage = lineage_of(parent_sum(50, includes), child("c", 30))
    assert total(lineage) == expected
    assert row(lineage, "p") == of_parent
    assert ("includes-children" in notes(lineage)) is (includes is not False)


def test_children_larger_than_the_aggregate_count_once_under_unknown():
    """One of both is wrong; nothing falls below zero."""
    lineage = lineage_of(parent_sum(10, True), child("c", 30))
    assert total(lineage) == (0, 0, 30)
    assert "children-larger" in notes(lineage)


def test_without_children_in_scope_the_aggregate_counts():
    """Whose work it is, is unknown."""
    assert total(lineage_of(parent_sum(50, True))) == (0, 0, 50)


def test_aggregates_include_each_other_from_below():
    """A child's aggregate is taken away from the parent's before that counts."""
    middle = Stream("m", none(spawnedBy=named("p")))
    middle.add("usage", covers="session", includesChildren=True, usage=usage(40))
    lineage = lineage_of(parent_sum(50, True), middle, child("c", 30, "m"))
    assert total(lineage) == (30, 0, 20)


def test_a_child_is_known_by_announcement_too():
    """Either side's claim is enough."""
    parent = parent_sum(50, True)
    parent.subagent("c")
    assert total(lineage_of(parent, child("c", 30, lineage=none()))) == (30, 0, 20)


def test_children_that_nobody_read_take_nothing_away():
    """A placeholder has no numbers."""
    parent = parent_sum(50, True)
    parent.subagent("gone")
    assert total(lineage_of(parent)) == (0, 0, 50)


def test_forks_are_no_children():
    """Only delegated work can be part of a parent's aggregate."""
    fork = child("f", 30, lineage=none(forkedFrom=named("p")))
    assert total(lineage_of(parent_sum(50, True), fork)) == (30, 0, 50)


def test_children_of_several_parents_are_taken_away_once():
    """From the aggregates that include them, taken together."""
    one, other = parent_sum(50, True), Stream("q", none())
    for parent in (one, other):
        parent.subagent("c")
    lineage = lineage_of(one, other, child("c", 30, lineage=none()))
    assert total(lineage) == (30, 0, 20)
    other.add("usage", covers="session", includesChildren=True, usage=usage(40))
    assert total(lineage_of(one, other, child("c", 30, lineage=none()))) == (30, 0, 60)
    above = Stream("top", none())
    above.add("usage", covers="session", includesChildren=True, usage=usage(99))
    above.subagent("p")
    above.subagent("q")
    lineage = lineage_of(above, one, other, child("c", 30, lineage=none()))
    assert total(lineage) == (30, 0, 69)


def test_sessions_that_spawn_each_other_end():
    """Aggregates that include each other are one, the larger."""
    loop = parent_sum(50, True)
    loop.records[0]["lineage"]["spawnedBy"] = named("c")
    assert total(lineage_of(loop, child("c", 30))) == (30, 0, 20)
    back = Stream("c", none(spawnedBy=named("p")))
    back.add("usage", covers="session", includesChildren=True, usage=usage(60))
    assert total(lineage_of(loop, back)) == (0, 0, 60)


def test_a_stream_without_a_session_has_no_children():
    """Its aggregate counts as it is."""
    broken = parent_sum(50, True)
    del broken.records[0]["sessionId"]
    assert total(lineage_of(broken)) == (0, 0, 50)


def test_what_is_doubtful_and_includes_children_is_in_no_total():
    """Both rules leave it in the row."""
    stream = session_sum(none(executedBy=[named("b")]), includesChildren=True)
    lineage = lineage_of(stream, backing(("b1", 60)))
    assert (row(lineage, W), total(lineage)) == ((0, 0, 100), (60, 0, 0))


def test_a_copied_prefix_in_a_child_is_taken_from_nobody():
    """Copies are not in the parent's aggregate as the child's work."""
    fork = Stream("c", copied("r1", "p", spawnedBy=named("p")))
    fork.call(30)
    fork.call(5)
    assert total(lineage_of(parent_sum(50, True), fork)) == (5, 30, 45)


def test_aggregates_in_a_later_segment_count():
    """A segment without any does not hide the next one's."""
    first = Stream("a", none(), segment={"id": "s1"})
    second = Stream("a", segment={"id": "s2", "after": "s1"})
    second.records[0]["id"] = "h2"
    second.add("usage", id="u", covers="session", includesChildren=False, usage=usage(9))
    assert total(lineage_of(first, second)) == (9, 0, 0)


def test_a_note_says_how_much_is_doubtful():
    """Reasoning tokens are part of the output and are not added again."""
    stream = session_sum(none(executedBy=[named("b")]), usage=usage(10, 1, 2, 3, 4))
    messages = {
        note.code: note.message for note in lineage_of(stream, backing(("t", 1))).totals.notes
    }
    assert "what it reports (16 token(s)) stands under unknown" in messages["wrapper-or-backing"]
