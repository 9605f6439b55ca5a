"""What counts where sessions, or calls and aggregates, report one thing: one situation each."""

from __future__ import annotations

import pytest
from lineage_streams import NF, Stream, copied, lineage_of, named, none, notes, row, total, usage

T3 = "t3-code:e:"


def thread(name, lineage=None, **states):
    """A T3 thread; `states` name for its turns who ran them."""
    stream = Stream(f"t3-code:{name}", lineage if lineage is not None else none(), namespace="e")
    for turn, ran in states.items():
        stream.add("state", turnId=turn, executedBy=ran)
    return stream


def sums(stream, out, turn=None, *, children=False, **members):
    """Add an aggregate over a turn, or over the session."""
    covers = "session" if turn is None else "turn"
    members.setdefault("usage", usage(out))
    return stream.add("usage", covers=covers, turnId=turn, includesChildren=children, **members)


def backing(name, lineage=None, **turns):
    """A Codex session with a call in each turn."""
    stream = Stream(name, lineage if lineage is not None else none())
    for turn, out in turns.items():
        stream.call(out, turnId=turn)
    return stream


# -- Calls on both sides -----------------------------------------------------------------------------


def test_calls_of_a_wrapper_beside_those_of_its_backing_session():
    """01-wrapper-calls, 40-lineage/6: without a state only the backing session's count."""
    wrapper = Stream("openclaw:w", none(executedBy=[named("run")]))
    wrapper.call(70, turnId="turn-1")
    lineage = lineage_of(wrapper, backing("run", n1=70))
    assert total(lineage) == (70, 0, 0)
    assert row(lineage, "openclaw:w") == (0, 0, 70)
    assert "wrapper-or-backing" in notes(lineage)
    assert any("lower bound" in note.message for note in lineage.totals.notes)


def test_a_call_that_provably_no_backing_session_made_counts():
    """ASR-423: both agents' call IDs are unique, and the backing session does not hold it."""
    wrapper = Stream("w", none(executedBy=[named("run")]))
    wrapper.call(5, inferenceId="mine")
    wrapper.call(60, inferenceId="theirs")
    run = Stream("run", none())
    run.call(60, inferenceId="theirs")
    assert total(lineage_of(wrapper, run)) == (65, 0, 0)
    run.call(1, inferenceId="other", idSource="derived")
    assert total(lineage_of(wrapper, run)) == (61, 0, 0)


def test_two_sessions_that_name_each_other():
    """The side with calls counts; without that the larger, once, under unknown."""
    one = Stream("openclaw:a", none(executedBy=[named("b")]))
    other = Stream("b", none(executedBy=[named("openclaw:a")]))
    sums(one, 50)
    other.call(40)
    assert total(lineage_of(one, other)) == (40, 0, 0)
    one.call(45)
    lineage = lineage_of(one, other)
    assert total(lineage) == (0, 0, 45)
    assert "mutual" in notes(lineage)


# -- Which side of a turn ----------------------------------------------------------------------------


def test_every_session_that_a_state_names_has_to_be_there():
    """Else the wrapper counts, and what is there of the turn does not."""
    wrapper = thread("w", w1=["codex:a#turnId=n1", "codex:b#turnId=n2"])
    sums(wrapper, 100, "w1")
    first, second = backing("a", n1=60, n9=5), backing("b", n2=40)
    assert total(lineage_of(wrapper, first, second)) == (105, 0, 0)
    assert total(lineage_of(wrapper, first)) == (105, 0, 0)
    lineage = lineage_of(wrapper, first)
    assert row(lineage, "t3-code:e:w") == (100, 0, 0)
    assert row(lineage, "a") == (5, 0, 0)
    assert total(lineage_of(wrapper)) == (100, 0, 0)


def test_two_turns_of_a_wrapper_that_one_turn_ran():
    """If one of them has to count itself, so has the other."""
    wrapper = thread(
        "w", w1=["codex:a#turnId=n1", "codex:gone#turnId=n2"], w2=["codex:a#turnId=n1"]
    )
    sums(wrapper, 50, "w1")
    sums(wrapper, 30, "w2")
    assert total(lineage_of(wrapper, backing("a", n1=60))) == (80, 0, 0)


def test_a_backing_turn_that_is_a_copy():
    """40-lineage/4: the session that it was copied from stands in its place, if it is there."""
    wrapper = thread("w", w1=["codex:b#turnId=n1"])
    sums(wrapper, 90, "w1")
    fork = backing("b", copied("r1", "a"), n1=90)
    assert total(lineage_of(wrapper, fork)) == (90, 90, 0)
    lineage = lineage_of(wrapper, fork, backing("a", n1=90))
    assert total(lineage) == (90, 90, 0)
    assert row(lineage, "t3-code:e:w") == (0, 0, 0)
    marked = Stream("b", none())
    marked.copy("inference", "a", turnId="n1", inferenceId="x", usage=usage(90))
    assert total(lineage_of(wrapper, marked, backing("a", n1=90))) == (90, 90, 0)


def test_a_copied_state_claims_nothing():
    """40-lineage/7: who ran the turns of the original says nothing of the fork's."""
    fork = thread("f", copied("r2", f"{T3}w"), w1=["codex:b#turnId=n1"])
    sums(fork, 60, "w1")
    sums(fork, 40, "w2")
    lineage = lineage_of(fork, backing("b", n1=60))
    assert total(lineage) == (100, 60, 0)


def test_two_wrappers_of_one_turn():
    """Their reports are of one thing; the larger counts where they differ, under unknown."""
    one = thread("v", w1=["codex:b#turnId=n1"])
    sums(one, 60, "w1")
    other = thread("w", {}, w1=["codex:b#turnId=n1"])
    sums(other, 60, "w1")
    assert total(lineage_of(one, other)) == (60, 0, 0)
    other.records[-1]["usage"] = usage(70)
    lineage = lineage_of(one, other)
    assert total(lineage) == (0, 0, 70)
    assert "rivals" in notes(lineage)


def test_a_wrapper_of_a_wrapper():
    """The session that made the calls counts, or the nearest that reports them."""
    outer = thread("o", o1=[f"{T3}w#turnId=w1"])
    sums(outer, 60, "o1")
    inner = thread("w", w1=["codex:b#turnId=n1"])
    run = backing("b", n1=60)
    assert total(lineage_of(outer, inner, run)) == (60, 0, 0)
    assert total(lineage_of(outer, inner)) == (60, 0, 0)
    sums(inner, 60, "w1")
    assert row(lineage_of(outer, inner), f"{T3}w") == (60, 0, 0)
    assert row(lineage_of(outer, inner, run), "b") == (60, 0, 0)
    outer.records[1]["executedBy"].append("codex:gone#turnId=n3")
    lineage = lineage_of(outer, inner, run)
    assert (total(lineage), row(lineage, f"{T3}o")) == ((60, 0, 0), (60, 0, 0))


def test_a_turn_that_a_wrapper_ran_itself():
    """An empty list says so; so does a backing session of which nothing is left to name."""
    wrapper = thread("w", none(executedBy=[named("b")]), w1=["codex:b#turnId=n1"], w2=[])
    sums(wrapper, 60, "w1")
    sums(wrapper, 7, "w2")
    assert total(lineage_of(wrapper, backing("b", n1=60, n2=5))) == (72, 0, 0)
    sums(wrapper, 9, "w3")
    assert total(lineage_of(wrapper, backing("b", n1=60))) == (76, 0, 0)
    lineage = lineage_of(wrapper, backing("b", n1=60, n2=5))
    assert total(lineage) == (72, 0, 0)
    assert row(lineage, f"{T3}w") == (7, 0, 9)


def test_a_turn_that_does_not_count_for_another_wrapper_either():
    """Also where that one names it through a third, which reports nothing."""
    partial = thread("v", v1=["codex:b#turnId=n1", "codex:gone#turnId=n2"])
    sums(partial, 100, "v1")
    outer = thread("o", o1=[f"{T3}w#turnId=w1"])
    sums(outer, 60, "o1")
    silent = thread("w", w1=["codex:b#turnId=n1"])
    lineage = lineage_of(partial, outer, silent, backing("b", n1=60))
    assert total(lineage) == (160, 0, 0)
    assert row(lineage, f"{T3}o") == (60, 0, 0)


def test_copies_in_a_backing_session_that_name_no_other_session():
    """A copy within the session, and two that tell of one call, stand in nobody's place."""
    wrapper = thread("w", w1=["codex:b#turnId=n1"])
    sums(wrapper, 90, "w1")
    run = Stream("b", none())
    first = run.message(turnId="n0")
    local = {"record": first, "proof": NF}
    for _ in range(2):
        run.call(90, turnId="n1", inferenceId="x", copiedFrom=local)
    run.call(5, turnId="n2")
    assert total(lineage_of(wrapper, run)) == (95, 90, 0)


def test_a_session_named_without_a_turn_that_does_not_count():
    """Nothing that it reports of no certain turn counts beside the wrapper's side."""
    wrapper = thread("w", w1=["codex:b", "codex:gone"])
    sums(wrapper, 100, "w1")
    lineage = lineage_of(wrapper, backing("b", n1=60))
    assert total(lineage) == (100, 0, 0)


def test_what_is_left_out_and_larger_makes_a_lower_bound():
    """A wrapper's report that is more than what counts in its place; and the other way round."""
    wrapper = thread("w", w1=["codex:b#turnId=n1"])
    sums(wrapper, 100, "w1")
    lineage = lineage_of(wrapper, backing("b", n1=60))
    assert total(lineage) == (60, 0, 0)
    assert "aggregate-larger" in notes(lineage)
    wrapper.records[1]["executedBy"].append("codex:gone#turnId=n2")
    lineage = lineage_of(wrapper, backing("b", n1=160))
    assert total(lineage) == (100, 0, 0)
    assert "backing-larger" in notes(lineage)


def test_tokens_and_cost_of_a_turn_are_decided_apart():
    """A backing session that states no cost leaves it to the wrapper."""
    wrapper = thread("w", w1=["codex:b#turnId=n1"])
    sums(wrapper, 60, "w1", cost=[{"amount": "2", "currency": "USD"}])
    found = lineage_of(wrapper, backing("b", n1=60)).totals.total.original
    assert (found.output_tokens, found.calls, found.cost[0].amount) == (60, 1, "2")


def test_a_mirror_of_a_session_that_holds_copies():
    """What these were copied from stands in their place."""
    mirror = Stream("openclaw:m", {"executedBy": [named("b")]}, authority="mirror")
    mirror.call(60)
    fork = backing("b", copied("r1", "a"), n1=60)
    assert total(lineage_of(mirror, fork)) == (0, 60, 60)
    assert total(lineage_of(mirror, fork, backing("a", n1=60))) == (60, 60, 0)


# -- Aggregates within a session ---------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["call", "turn"])
def test_an_aggregate_beside_copies_only(kind):
    """40-lineage/3, 3b: it competes with what counts, and copies do not."""
    fork = Stream("pi:f", copied("r1", "pi:p", forkedFrom=named("pi:p")))
    if kind == "call":
        fork.call(60)
    else:
        sums(fork, 60, "t1")
    sums(fork, 25)
    assert total(lineage_of(fork)) == (0, 60, 25)


def test_an_aggregate_that_states_more_than_its_calls():
    """It counts nowhere, and a note says that something is missing."""
    stream = Stream("a", none())
    stream.call(10, turnId="t1")
    sums(stream, 10, "t1")
    assert not any("lower bound" in note.message for note in lineage_of(stream).totals.notes)
    sums(stream, 30)
    lineage = lineage_of(stream)
    assert total(lineage) == (10, 0, 0)
    assert "aggregate-larger" in notes(lineage)


def test_an_aggregate_beside_calls_includes_children():
    """With these it states no more than what counts."""
    stream = Stream("p", none())
    stream.call(10)
    stream.subagent("k")
    sums(stream, 40, children=True)
    lineage = lineage_of(stream, backing("k", none(spawnedBy=named("p")), t=30))
    assert total(lineage) == (40, 0, 0)
    assert "aggregate-larger" not in notes(lineage)
    assert "aggregate-larger" in notes(lineage_of(stream))


# -- Children ----------------------------------------------------------------------------------------


def child(name, out, up="p", **members):
    stream = Stream(name, none(spawnedBy=named(up)))
    stream.call(out, **members)
    return stream


def test_an_aggregate_over_a_child_that_another_session_ran():
    """40-lineage/1: the turns that other sessions ran for a child are part of it."""
    parent = thread("p")
    parent.subagent(f"{T3}w")
    sums(parent, 100, children=True)
    wrapper = thread("w", none(spawnedBy=named(f"{T3}p")), w1=["codex:b#turnId=n1"])
    sums(wrapper, 30, "w1")
    assert total(lineage_of(parent, wrapper, backing("b", n1=30, n2=4))) == (34, 0, 70)


def test_an_aggregate_over_a_child_of_a_missing_backing_session():
    """40-lineage/2: the backing session's children belong to the wrapper's turn."""
    wrapper = thread("w", w1=["codex:gone#turnId=n1"])
    sums(wrapper, 100, "w1", children=True)
    assert total(lineage_of(wrapper, child("k", 30, "gone"))) == (30, 0, 70)


def test_a_child_of_another_turn():
    """The aggregate of a turn includes the children announced in it; a revision moves none."""
    parent = Stream("p", none())
    sums(parent, 100, "t1", children=True)
    first = parent.subagent("k", turnId="t3")
    parent.subagent("k", turnId="t1", supersedes=first)
    parent.call(10, turnId="t3")
    assert total(lineage_of(parent, child("k", 30))) == (40, 0, 100)


def test_a_child_that_names_another_spawner():
    """It belongs to that one, whoever announces it."""
    parent = Stream("p", none())
    parent.subagent("j")
    parent.subagent("k")
    sums(parent, 100, children=True)
    lineage = lineage_of(parent, child("j", 30), child("k", 20, "q"))
    assert total(lineage) == (50, 0, 70)


def test_one_child_under_two_aggregates():
    """40-lineage/5: announced in one of both turns; or in no turn, so that it is of both."""
    parent = Stream("p", none())
    parent.subagent("k", turnId="t1")
    sums(parent, 100, "t1", children=True)
    sums(parent, 50, "t2", children=True)
    assert total(lineage_of(parent, child("k", 30))) == (30, 0, 120)
    del parent.records[1]["turnId"]
    lineage = lineage_of(parent, child("k", 30))
    assert total(lineage) == (30, 0, 120)
    parent.call(1, turnId="t2")
    assert "included-elsewhere" in notes(lineage_of(parent, child("k", 30)))


def test_two_children_that_hold_one_call():
    """40-lineage/9: it is taken away once, as it counts once."""
    parent = Stream("p", none())
    children = [Stream(name, {"spawnedBy": named("p")}) for name in "jk"]
    for one in children:
        parent.subagent(one.name)
        one.call(30, inferenceId="same")
    sums(parent, 100, children=True)
    assert total(lineage_of(parent, *children)) == (0, 0, 100)


def test_what_may_not_include_children_makes_a_lower_bound():
    """The children are taken away all the same."""
    parent = Stream("p", none())
    sums(parent, 100, children=None)
    lineage = lineage_of(parent, child("k", 30))
    assert total(lineage) == (30, 0, 70)
    assert "may-not-include" in notes(lineage)


def test_a_backing_session_of_a_child_without_named_turns():
    """The whole counts once, under unknown."""
    parent = thread("p")
    sums(parent, 100, children=True)
    wrapper = thread("w", none(spawnedBy=named(f"{T3}p"), executedBy=[named("b")]))
    lineage = lineage_of(parent, wrapper, backing("b", n1=30))
    assert total(lineage) == (0, 0, 100)
    assert "no-named-turns" in notes(lineage)
    wrapper.add("state", turnId="w1", executedBy=["codex:b"])
    assert total(lineage_of(parent, wrapper, backing("b", n1=30))) == (0, 0, 100)


def test_aggregates_below_an_aggregate():
    """Each is entered as a whole; a turn's stands for the children of its turn."""
    top, middle = Stream("top", none()), Stream("m", none(spawnedBy=named("top")))
    sums(top, 100, children=True)
    middle.subagent("k", turnId="t1")
    middle.subagent("j", turnId="t2")
    sums(middle, 40, "t1", children=True)
    middle.call(5, turnId="t2")
    lineage = lineage_of(top, middle, child("k", 30, "m"), child("j", 20, "m"))
    assert total(lineage) == (55, 0, 45)
    sums(middle, 7, "t3", children=True)
    middle.subagent("i")
    lineage = lineage_of(top, middle, *(child(name, 10, "m") for name in "ijk"))
    assert total(lineage) == (35, 0, 65)


def test_what_ran_a_turn_and_is_told_of_no_turn():
    """It stands for the turn as far as it goes, and a note says so."""
    wrapper = thread("w", w1=["codex:b#turnId=n1"])
    sums(wrapper, 100)
    run = Stream("b", none())
    sums(run, 60)
    lineage = lineage_of(wrapper, run)
    assert total(lineage) == (60, 0, 40)
    assert "turns-not-apart" in notes(lineage)
    turn = thread("w", w1=["codex:b#turnId=n1"])
    sums(turn, 60, "w1")
    assert total(lineage_of(turn, run)) == (60, 0, 0)


def test_an_own_sum_above_one_with_children():
    """A wrapper's sum without children holds only the share of the turn that ran it."""
    wrapper = thread("w", w1=["codex:b#turnId=n1"])
    sums(wrapper, 60)
    run = Stream("b", none())
    run.subagent("k", turnId="n1")
    sums(run, 90, "n1", children=True)
    assert total(lineage_of(wrapper, run, child("k", 50, "b"))) == (50, 0, 60)


def test_a_child_whose_own_sum_leaves_its_children_out():
    """What these used is part of the aggregate above, beside that sum."""
    parent = thread("p")
    sums(parent, 100, children=True)
    wrapper = thread("w", none(spawnedBy=named(f"{T3}p")), w1=["codex:b#turnId=n1"])
    wrapper.subagent("k")
    sums(wrapper, 60)
    lineage = lineage_of(parent, wrapper, backing("b", n1=50), child("k", 20, f"{T3}w"))
    assert total(lineage) == (70, 0, 30)
    lineage = lineage_of(parent, wrapper, backing("b", n1=50), child("k", 90, f"{T3}w"))
    assert total(lineage) == (0, 0, 150)
    assert "children-larger" in notes(lineage)


# -- What is original, and what is one call ----------------------------------------------------------


@pytest.mark.parametrize("evidence", [None, "hearsay"])
def test_a_claim_without_evidence_makes_nothing_original(evidence):
    """40-lineage/17."""
    for facets in (none(), copied("r1")):
        facets["inherits"].pop("evidence")
        if evidence is not None:
            facets["inherits"]["evidence"] = evidence
        stream = Stream("a", facets)
        stream.call(5)
        stream.call(3)
        copies = 5 if "from" in facets["inherits"] else 0
        assert total(lineage_of(stream)) == (0, copies, 8 - copies)


@pytest.mark.parametrize("source", ['"derived"', '"d\\u0065rived"'])
@pytest.mark.parametrize("member", ["idSource", "inferenceIdSource"])
def test_a_derived_call_id_is_nobody_elses(member, source):
    """40-lineage/10, 13: whichever member says so, and however it is spelt."""
    texts = []
    for name in "ab":
        stream = Stream(name)
        stream.call(5, inferenceId="x", **{member: "SOURCE"})
        texts.append(stream.text().replace(b'"SOURCE"', source.encode()))
    assert total(lineage_of(*texts)) == (0, 0, 10)


def test_nobody_reports_use():
    """40-lineage/8: no groups, and no fault."""
    lineage = lineage_of(Stream("a"))
    assert [lineage.totals.by(by) for by in ("day", "model", "agent")] == [(), (), ()]
    assert (
        lineage_of(Stream("a", {"inherits": {"mode": "none", "evidence": NF}})).totals.by("day")
        == ()
    )
