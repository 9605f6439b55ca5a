"""What users of other tools reported about lineage (L) and copies (C), as streams.

Each test is named by its entry. What only a native log can show stands with the native readers.
"""

from __future__ import annotations

import pytest
from lineage_streams import (
    NF,
    Stream,
    copied,
    edges,
    findings,
    lineage_of,
    named,
    none,
    notes,
    row,
    total,
    usage,
    verdicts,
)

from sessionref.lineage.gather import Gathered
from sessionref.lineage.lineage import Lineage
from sessionref.lineage.subagents import delegations
from sessionref.scope.scope import StreamScope


def test_L_01_a_cleared_session_is_unknown_and_no_root():
    """No pointer: no edge, no root, nothing from time or folder (401, 402, 403)."""
    old = Stream("old", startedAt="2026-10-26T10:00:00Z", workspace={"roots": [{"path": "/srv"}]})
    new = Stream("new", startedAt="2026-10-26T10:00:01Z", workspace={"roots": [{"path": "/srv"}]})
    new.message(role="user", content="/clear")
    lineage = lineage_of(old, new)
    assert edges(lineage) == set()
    assert {node.root for node in lineage.forest.nodes.values()} == {None}
    assert [family.sessions for family in lineage.forest.families] == [
        ("codex:new",),
        ("codex:old",),
    ]


def test_L_02_carried_history_with_its_own_id_is_unknown():
    """Without proof all 55 records may be copies, and totals say so (416)."""
    old, new = Stream("claude-code:A"), Stream("claude-code:B")
    for number in range(50):
        for stream in (old, new):
            stream.call(1, inferenceId=f"m{number}")
    for number in range(5):
        new.call(1, inferenceId=f"n{number}")
    lineage = lineage_of(old, new)
    assert lineage.by_key["claude-code:B"].records == (0, 0, 55)
    assert lineage.totals.may_include_copies
    assert "no-inherits" in notes(lineage)


def test_L_04_compaction_says_continues_or_nothing():
    """Where the source says compaction it is `continues`, else `relatedUnknown` (405, 408)."""
    said = Stream("a", {"continues": named("old", reason="compaction")})
    unsaid = Stream("b", {"relatedUnknown": named("old")})
    lineage = lineage_of(said, unsaid)
    assert edges(lineage) == {("a", "continues", "old"), ("b", "relatedUnknown", "old")}
    assert findings(lineage) == []


def test_L_05_facets_are_independent():
    """Three subsets of fields: each facet by its own evidence, a missing one unknown (400, 401)."""
    streams = [
        Stream("openclaw:a", {"forkedFrom": named("openclaw:k")}),
        Stream("openclaw:b", {"relatedUnknown": named("openclaw:k")}),
        Stream("openclaw:c", {"continues": named("openclaw:k", reason="daily")}),
        Stream("openclaw:d", {"continues": named("openclaw:k", reason="idle")}),
        Stream("openclaw:e"),
    ]
    lineage = lineage_of(*streams)
    assert findings(lineage) == []
    assert len(lineage.forest.edges) == 4
    assert lineage.by_key["openclaw:e"].lineage.claims == ()


def test_L_07_a_fork_is_no_owned_child():
    """Spawn, fork, continuation and execution are edges of different facets; a fork is primary."""
    fork = Stream("f", {"forkedFrom": named("p")}, scope="primary")
    lineage = lineage_of(Stream("p"), fork)
    assert edges(lineage) == {("f", "forkedFrom", "p")}
    assert lineage.forest.children("codex:p", {"spawnedBy", "announces"}) == ()
    assert lineage.by_key["codex:f"].lineage.scope == "primary"


def test_L_08_grandchildren_hang_on_their_spawner():
    """B hangs on A, whatever else is called like its call."""
    top, middle = Stream("p", none()), Stream("a", none(spawnedBy=named("p", record="callId=c1")))
    top.add("tool_call", callId="c1")
    top.add("tool_call", callId="c2")
    top.subagent("a", callId="c1")
    middle.add("tool_call", callId="c2")
    middle.subagent("b", callId="c2")
    last = Stream("b", none(spawnedBy=named("a", record="callId=c2")))
    lineage = lineage_of(top, middle, last)
    assert list(lineage.forest.ancestors("codex:b")) == ["codex:a", "codex:p"]
    assert all(edge.exact for edge in lineage.forest.edges)
    assert findings(lineage) == []


@pytest.mark.parametrize("evidence", ["native_field", "native_structure"])
def test_L_10_spawned_children_are_no_top_level_sessions(evidence):
    """Either evidence makes the edge (404)."""
    child = Stream("c", {"spawnedBy": {"session": "codex:p", "evidence": evidence}})
    (edge,) = lineage_of(Stream("p"), child).forest.edges
    assert (edge.facet, edge.evidence) == ("spawnedBy", evidence)


def test_L_11_a_receipt_is_no_status():
    """Status comes from a statement of the source only; absent is unknown (411, 424)."""
    parent = Stream("p", none())
    parent.add("tool_call", callId="c1", ts="2026-01-01T00:00:05Z")
    parent.subagent("k", callId="c1", **{"async": True}, awaited=False)
    parent.add("tool_result", callId="c1", ts="2026-01-01T00:00:07Z", content="launched")
    (stream,) = lineage_of(parent).sessions[0].accounts
    assert [one.status for one in delegations(stream)] == [None]


def test_L_13_an_orphan_is_valid_and_no_root():
    """The parent is a placeholder (401, 406)."""
    lineage = lineage_of(Stream("c", {"spawnedBy": named("gone")}))
    assert findings(lineage) == []
    assert lineage.forest.nodes["codex:gone"].is_placeholder
    assert lineage.forest.nodes["codex:c"].root is None
    assert lineage.forest.parents("codex:c") == ("codex:gone",)


def test_L_14_a_copied_announcement_spawns_nobody():
    """K's parent stays P; F's copy is a copy and no second delegation (412, 414, 415)."""
    parent = Stream("p", none())
    parent.subagent("k", callId="c1")
    fork = Stream("f", copied("r1", "p", forkedFrom=named("p")))
    fork.subagent("k", callId="c1")
    child = Stream("k", none(spawnedBy=named("p", record="callId=c1")))
    lineage = lineage_of(parent, fork, child)
    assert lineage.forest.parents("codex:k") == ("codex:p",)
    assert ("f", "announces", "k") not in edges(lineage)
    assert findings(lineage) == []
    unmarked = Stream("f")
    unmarked.subagent("k", callId="c1")
    lineage = lineage_of(parent, unmarked, child)
    assert lineage.forest.parents("codex:k") == ("codex:p",)
    assert findings(lineage) == []


def test_L_16_what_is_inherited_is_said_by_each_session():
    """A fork with history and a subagent without, of one agent (409)."""
    fork, child = Stream("f", copied("r1", "p")), Stream("c", none(spawnedBy=named("p")))
    for stream in (fork, child):
        stream.call(5)
        stream.call(2)
    lineage = lineage_of(fork, child)
    assert row(lineage, "f") == (2, 5, 0)
    assert row(lineage, "c") == (7, 0, 0)


def test_L_17_a_session_is_of_its_agent_whoever_started_it():
    """An originator's name is no evidence; a stored ID is (421)."""
    driven = Stream("s", client={"name": "t3code_desktop"})
    driven.call(5)
    lineage = lineage_of(driven)
    assert edges(lineage) == set()
    assert [one.name for one in lineage.totals.by("agent")] == ["codex"]
    assert total(lineage) == (0, 0, 5)


def test_L_19_one_side_per_turn_never_a_mixture():
    """The wrapper's zeros do not stand beside the backing session's numbers (425)."""
    wrapper = Stream("openclaw:w", none(executedBy=[named("b")]))
    for turn, out in (("w1", 0), ("w2", 40)):
        wrapper.add("state", turnId=turn, executedBy=[f"codex:b#turnId={turn}"])
        wrapper.add("usage", covers="turn", turnId=turn, includesChildren=False, usage=usage(out))
    backing = Stream("b", none())
    backing.call(30, turnId="w1")
    backing.call(45, turnId="w2")
    assert total(lineage_of(wrapper, backing)) == (75, 0, 0)
    assert total(lineage_of(wrapper)) == (40, 0, 0)


def test_L_20_a_log_without_usage_is_a_gap():
    """Nothing is estimated into originals."""
    stream = Stream("t3-code:w", none())
    for _ in range(3):
        stream.call(usage=None)
    lineage = lineage_of(stream)
    assert total(lineage) == (0, 0, 0)
    assert notes(lineage) == {"calls-without-usage"}


def test_L_22_a_child_never_waits_for_its_parent():
    """A parent that ended long before, or goes on, or is not there, changes nothing (406)."""
    child = Stream("c", none(spawnedBy=named("p")), startedAt="2026-01-01T22:00:00Z")
    child.call(5, ts="2026-01-01T22:00:00Z")
    parent = Stream("p", none(), producer={"lossy": ["lineage"]})
    parent.message(ts="2026-01-01T10:00:00Z")
    for streams in ((child,), (child, parent)):
        lineage = lineage_of(*streams)
        assert row(lineage, "c") == (5, 0, 0)
        assert findings(lineage) == []


def test_L_23_a_copied_header_is_no_stream_of_the_ancestor():
    """G stays unresolved, though F holds a copy of G's metadata (052, 406, 415)."""
    fork = Stream("f", copied("r2", "p", forkedFrom=named("p")))
    fork.add("session_info", native={"session_meta": {"id": "G"}})
    fork.call(5)
    middle = {"session": "codex:g", "evidence": NF}
    fork.declare(relatedUnknown=middle)
    lineage = lineage_of(fork)
    assert lineage.forest.nodes["codex:g"].is_placeholder
    assert lineage.forest.nodes["codex:p"].is_placeholder
    assert total(lineage) == (0, 5, 0)


def fork_of(parent, name, through, *own):
    stream = Stream(name, copied(through, "p", forkedFrom=named("p")))
    stream.records += [{**record, "ts": "2026-10-27T00:00:00Z"} for record in parent.records[1:]]
    for out in own:
        stream.call(out)
    return stream


def parent_with(*outs):
    stream = Stream("p", none())
    for out in outs:
        stream.call(out, ts="2026-10-26T00:00:00Z")
    return stream


def test_C_01_replayed_history_counts_once():
    """e1, e2 and e3 once, though the fork holds e1 and e2 again (415, 417)."""
    parent = parent_with(10, 20)
    lineage = lineage_of(parent, fork_of(parent, "c", "r2", 5))
    assert total(lineage) == (35, 30, 0)
    assert row(lineage, "c") == (5, 30, 0)


def test_C_02_new_calls_over_inherited_context_are_own():
    """150 in all: A's 100, and B's new 50 though they read A's context (417, 418)."""
    parent = parent_with(100)
    fork = fork_of(parent, "b", "r1")
    fork.call(usage=usage(50, read=100_000))
    lineage = lineage_of(parent, fork)
    assert total(lineage) == (150, 100, 0)
    assert lineage.totals.total.original.cache_read_tokens == 100_000


def test_C_04_each_fork_contributes_its_own_tail():
    """Three forks of one parent, one of them archived."""
    parent = parent_with(10)
    forks = [fork_of(parent, name, "r1", out) for name, out in (("x", 1), ("y", 2), ("z", 3))]
    archived = forks[0].text()
    assert total(lineage_of(parent, *forks, archived)) == (16, 30, 0)


@pytest.mark.parametrize("second", ["00", "09"])
def test_C_05_time_proves_nothing(second):
    """A slow replay is still copied, a first event in the same second still own (403, 414)."""
    parent = parent_with(10, 20)
    fork = fork_of(parent, "f", "r2")
    fork.records[2]["ts"] = f"2026-10-27T00:00:{second}Z"
    fork.call(5, ts=fork.records[2]["ts"])
    assert row(lineage_of(parent, fork), "f") == (5, 30, 0)


def test_C_07_a_child_with_its_parents_id_and_history():
    """Two captures of one key that differ are a conflict; none of it is anybody's for sure."""
    parent = parent_with(10, 20)
    child = Stream("p", none())
    child.call(10)
    child.call(7)
    child.call(8)
    lineage = lineage_of(parent, child)
    assert lineage.by_key["codex:p"].conflict
    assert lineage.totals.total.original.calls == 0
    assert lineage.totals.may_include_copies


def test_C_08_an_empty_fork_contributes_nothing():
    """All its records are copies."""
    parent = parent_with(10, 20)
    lineage = lineage_of(parent, fork_of(parent, "f", "r2"))
    assert row(lineage, "f") == (0, 30, 0)
    assert total(lineage) == (30, 30, 0)


def test_C_10_a_new_request_is_another_call():
    """`{m1,q1}` and `{m1,q2}`: the registry asks for both IDs; what is unsure stays unknown (416)."""
    parent, child = Stream("claude-code:p"), Stream("claude-code:c")
    parent.call(5, inferenceId="m1", request="q1")
    child.call(5, inferenceId="m1", request="q2", isSidechain=True)
    lineage = lineage_of(parent, child)
    assert total(lineage) == (0, 0, 10)
    assert lineage.totals.may_include_copies


def test_C_11_an_equal_head_proves_nothing():
    """A helper that starts with the main conversation: unknown, and its own calls are its own."""
    parent, helper = parent_with(10), Stream("h2", {"relatedUnknown": named("p")})
    helper.records += parent.records[1:]
    helper.call(5)
    lineage = lineage_of(parent, helper)
    assert verdicts(lineage, "h2") == [None, "unknown", "unknown"]
    fresh = Stream("h3", {"inherits": {"mode": "referenced", "from": "codex:p", "evidence": NF}})
    fresh.call(usage=usage(5, read=1000))
    assert row(lineage_of(parent, fresh), "h3") == (5, 0, 0)


def test_C_13_equal_numbers_are_no_copies():
    """Two unrelated sessions whose first call has the same size both count."""
    streams = [Stream(name, none()) for name in "ab"]
    for stream in streams:
        stream.call(1200)
    assert total(lineage_of(*streams)) == (2400, 0, 0)


def test_C_14_siblings_of_one_size_both_count():
    """Two forks that did one equal turn each: both are original."""
    parent = parent_with(10)
    forks = [fork_of(parent, name, "r1", 7) for name in "xy"]
    assert total(lineage_of(parent, *forks)) == (24, 20, 0)


def test_C_16_a_checkpoint_is_no_second_session():
    """The beginning of a capture is the same session; a stream that is all copy has no original."""
    stream = Stream("openclaw:x", none())
    stream.call(5)
    checkpoint = stream.text()
    stream.call(6)
    assert total(lineage_of(stream, checkpoint)) == (11, 0, 0)
    mirror = Stream("openclaw:y", {"executedBy": [named("openclaw:x")]}, authority="mirror")
    mirror.call(5)
    lineage = lineage_of(stream, mirror)
    assert lineage.by_key["openclaw:y"].records == (0, 0, 1)
    assert total(lineage) == (11, 0, 0)


def test_C_17_a_renamed_file_is_still_its_session(tmp_path):
    """A path says where bytes are, and nothing else (053)."""
    old, new = Stream("openclaw:a", none()), Stream("openclaw:b", none())
    old.call(5)
    new.call(6)
    (tmp_path / "x.jsonl.reset.t1").write_bytes(old.text())
    (tmp_path / "x.jsonl").write_bytes(new.text())
    lineage = Lineage(StreamScope.of([tmp_path], observers=(Gathered,)))
    assert total(lineage) == (11, 0, 0)


def test_C_19_a_delivery_mirror_is_labelled_and_does_not_count():
    """Search may collapse it, totals must not count it (417)."""
    stream = Stream("openclaw:a", none())
    stream.message()
    stream.message(copiedFrom={"record": "messageId=m1", "proof": NF})
    stream.call(5)
    stream.add(
        "inference", inferenceId="again", usage=usage(5), copiedFrom={"record": "r3", "proof": NF}
    )
    lineage = lineage_of(stream)
    assert verdicts(lineage, "openclaw:a") == [None, "original", "copy", "original", "copy"]
    assert total(lineage) == (5, 5, 0)


def test_C_20_tokens_without_children_and_cost_with_them():
    """Each member by what it includes: 10 + 40 tokens, and 5.0, not 8.0 (419)."""
    parent = Stream("p", none())
    parent.add("usage", covers="session", includesChildren=False, usage=usage(10))
    parent.add(
        "usage",
        covers="session",
        includesChildren=True,
        cost=[{"amount": "5.0", "currency": "USD"}],
    )
    child = Stream("c", none(spawnedBy=named("p")))
    child.call(40, cost=[{"amount": "3.0", "currency": "USD"}])
    sums = lineage_of(parent, child).totals.total
    assert sums.counted_once.output_tokens == 50
    assert [one.amount for one in sums.counted_once.cost] == ["5"]
    assert [one.amount for one in sums.original.cost] == ["3"]


def test_C_22_usage_on_the_result_and_in_the_childs_file():
    """The parent's aggregate of the child's work and the child's calls are one (419, 425)."""
    parent = Stream("pi:p", none())
    parent.add("usage", covers="turn", turnId="t1", includesChildren=True, usage=usage(40))
    parent.subagent("pi:c")
    child = Stream("pi:c", none(spawnedBy=named("pi:p")))
    child.call(40)
    assert total(lineage_of(parent, child)) == (40, 0, 0)


def test_C_23_a_family_has_one_total():
    """Forks are walked through, their copies kept out, and what is unknown stands apart."""
    parent = parent_with(10)
    fork = fork_of(parent, "f", "r1", 5)
    grandchild = Stream("g", none(spawnedBy=named("f")))
    grandchild.call(3)
    open_ = Stream("u", {"relatedUnknown": named("p")})
    open_.call(2)
    (family,) = lineage_of(parent, fork, grandchild, open_).totals.by("family")
    assert family.name == "codex:p"
    assert family.total.counted_once.output_tokens == 20
    assert family.total.unknown.output_tokens == 2
    assert family.total.copied.output_tokens == 10


def test_C_25_two_mirrors_of_one_record_are_two_copies():
    """Chains of copies are allowed, each target earlier (413)."""
    stream = Stream("openclaw:a", none())
    stream.message()
    stream.message(copiedFrom={"record": "messageId=m1", "proof": NF})
    stream.message(copiedFrom={"record": "messageId=m2", "proof": NF})
    lineage = lineage_of(stream)
    assert verdicts(lineage, "openclaw:a") == [None, "original", "copy", "copy"]
    assert findings(lineage) == []


def test_T_04_ownership_is_decided_turn_by_turn():
    """A wrapper's aggregate stands for the turns it ran, and for no other (421, 425, 427)."""
    wrapper = Stream("t3-code:w", none(executedBy=[named("b")]))
    wrapper.add("state", turnId="w1", executedBy=["codex:b#turnId=t1"])
    wrapper.add("usage", turnId="w1", covers="turn", includesChildren=False, usage=usage(99))
    backing = Stream("b", none())
    backing.call(30, turnId="t1")
    backing.call(7, turnId="t2")
    assert total(lineage_of(wrapper, backing)) == (37, 0, 0)


def test_T_01_a_copied_turn_id_owns_nothing():
    """A turn ID alone does not say whose a fact is (427)."""
    stream = Stream("a")
    stream.add("usage", turnId="p-9", covers="turn", includesChildren=False, usage=usage(9))
    lineage = lineage_of(stream)
    assert total(lineage) == (0, 0, 9)
    assert edges(lineage) == set()
