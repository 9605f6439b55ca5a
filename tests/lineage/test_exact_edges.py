"""Which edges are exact: those whose every reference means one thing (04, 40-lineage/15 and 16)."""

from __future__ import annotations

import pytest
from lineage_streams import Stream, edges, findings, lineage_of, named, none, verdicts


def exact(*streams: Stream, references: bool = True) -> dict[str, bool]:
    """By facet, whether its edge is exact."""
    forest = lineage_of(*streams, references=references).forest
    return {edge.facet: edge.exact for edge in forest.edges}


def origin(**members: object) -> Stream:
    """A session with one tool call in turn t4."""
    stream = Stream("old", none())
    stream.add("tool_call", callId="c5", turnId="t4", **members)
    return stream


@pytest.mark.parametrize("references", [True, False])
@pytest.mark.parametrize(
    ("record", "wanted"), [("r1", True), ("callId=c5", True), ("turnId=t4", False), ("r9", False)]
)
def test_a_fork_point_is_one_record(record, wanted, references):
    """04: a turn ref names no record, in whatever way the scope was read (ASR-075, 080)."""
    fork = Stream("new", none(forkedFrom=named("old", record=record)))
    assert exact(origin(), fork, references=references) == {"forkedFrom": wanted}


def test_a_capture_scoped_id_names_nothing_elsewhere():
    """40-lineage/15: an ID of one capture means nothing in another session (ASR-071)."""
    fork = Stream("new", none(forkedFrom=named("old", record="r1")))
    old = origin(idSource="derived", idScope="capture")
    assert exact(old, fork) == {"forkedFrom": False}


def test_an_ordinal_that_maps_to_nothing_is_not_exact():
    """40-lineage/21: a negative ordinal is an integer, and no record comes from there."""
    fork = Stream("new", none(forkedFrom=named("old", ordinal=-1)))
    lineage = lineage_of(origin(), fork)
    (edge,) = lineage.forest.edges
    assert (edge.ordinal, edge.exact, findings(lineage)) == (-1, False, [])


def test_a_lost_local_boundary_makes_the_edge_inexact():
    """40-lineage/15: `localThroughId` names no record of the session."""
    inherits = {"mode": "copied", "from": "codex:old", "evidence": "native_field"}
    fork = Stream("new", {"inherits": {**inherits, "localThroughId": "r9"}})
    assert exact(origin(), fork) == {"inherits": False}


def test_an_unreadable_mode_puts_no_record_on_the_edge():
    """40-lineage/16: `throughId` is the end of what is inherited, whatever the mode."""
    inherits = {"mode": "Copied", "from": "codex:old", "evidence": "native_field"}
    fork = Stream("new", {"inherits": {**inherits, "throughId": "r1"}})
    (edge,) = lineage_of(origin(), fork).forest.edges
    assert (edge.record, edge.through) == (None, "r1")


@pytest.mark.parametrize("evidence", [{}, {"evidence": "a guess"}])
def test_inherits_without_evidence_makes_nothing_original(evidence):
    """40-lineage/17: what may be inherited is unknown (ASR-400, 404)."""
    stream = Stream("one", {"inherits": {"mode": "none", **evidence}})
    stream.message()
    assert verdicts(lineage_of(stream), "one") == [None, "unknown"]


def test_what_follows_a_prefix_without_evidence_is_unknown():
    """The declared prefix stays a copy."""
    inherits = {"mode": "copied", "from": "codex:old", "localThroughId": "r1"}
    stream = Stream("one", {"inherits": inherits})
    stream.message()
    stream.message()
    assert verdicts(lineage_of(stream), "one") == [None, "copy", "unknown"]


def test_an_entry_with_evidence_counts_before_one_without():
    """40-lineage/20: entries of `executedBy` about one session are one claim (ASR-420)."""
    wrapper = Stream("w", {"executedBy": [{"session": "codex:b"}]})
    wrapper.declare(executedBy=[named("b")])
    wrapper.declare(executedBy=[{"session": "codex:b"}])
    assert edges(lineage_of(wrapper, Stream("b", none()))) == {("w", "executedBy", "b")}


def test_an_announcement_joins_families_whatever_the_child_claims():
    """40-lineage/24: the child names another spawner, and the announcement is a claim too."""
    parent = Stream("p", none())
    parent.subagent("k")
    child = Stream("k", none(spawnedBy=named("q")))
    (family,) = lineage_of(parent, child).forest.families
    assert family.sessions == ("codex:k", "codex:p", "codex:q")
