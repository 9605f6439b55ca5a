"""The forest: edges with evidence, placeholders, walks that end."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lineage_streams import NF, Stream, copied, edges, findings, lineage_of, named, none

from sessionref.lineage import graph
from sessionref.lineage.forest import EDGE_FACETS
from sessionref.lineage.gather import Gathered
from sessionref.lineage.lineage import Lineage
from sessionref.registry import Registry
from sessionref.scope.scope import StreamScope


def forest_of(*streams, **options):
    return lineage_of(*streams, **options).forest


def test_facets_stay_apart_as_edges():
    """Spawned, forked, continued, inherited, executed and unclear are edges of their own."""
    stream = Stream(
        "a",
        {
            "spawnedBy": named("p"),
            "forkedFrom": named("p"),
            "continues": named("o", reason="idle"),
            "relatedUnknown": named("u"),
            "executedBy": [named("b"), named("c")],
            "inherits": {"mode": "referenced", "from": "codex:p", "evidence": NF},
            "role": "worker",
        },
    )
    forest = forest_of(stream)
    assert [edge.facet for edge in forest.edges] == [
        "spawnedBy",
        "forkedFrom",
        "continues",
        "inherits",
        "relatedUnknown",
        "executedBy",
        "executedBy",
    ]
    assert {edge.source for edge in forest.edges} == {"codex:a"}
    assert all(edge.evidence for edge in forest.edges)
    assert forest.parents("codex:a") == ("codex:p", "codex:o", "codex:u")
    assert forest.parents("codex:a", {"continues"}) == ("codex:o",)


def test_what_names_no_session_is_no_edge():
    """`inherits: none`, a role, a root and a copied record make no edge."""
    stream = Stream("a", none(root=True, role="x"))
    stream.copy()
    from_none = Stream("b", {"inherits": {"mode": "none", "from": "codex:a", "evidence": NF}})
    assert edges(lineage_of(stream, from_none)) == set()


def test_no_edge_without_evidence():
    """A claim that says not on what it rests gives a finding and no edge."""
    stream = Stream("a", {"spawnedBy": {"session": "codex:p"}, "relatedUnknown": 5})
    lineage = lineage_of(stream)
    assert edges(lineage) == set()
    assert len(findings(lineage)) == 2


def test_a_missing_parent_is_a_placeholder():
    """ASR-406: the child is valid, the parent unresolved; nobody becomes a root (ASR-401)."""
    lineage = lineage_of(Stream("a", {"spawnedBy": named("p")}), Stream("r", {"root": True}))
    forest = lineage.forest
    assert findings(lineage) == []
    (edge,) = forest.edges
    assert (edge.state, edge.exact) == ("unresolved", False)
    assert [name for name, node in forest.nodes.items() if node.is_placeholder] == ["codex:p"]
    assert {name: node.root for name, node in forest.nodes.items()} == {
        "codex:a": None,
        "codex:p": None,
        "codex:r": True,
    }
    assert not forest.nodes["codex:p"].conflict


def test_an_edge_into_a_conflict_is_ambiguous():
    """Of contradicting captures none is the parent; their own claims are inexact too."""
    one, other = Stream("p", {"relatedUnknown": named("z")}), Stream("p")
    one.message()
    other.message(role="user")
    child = Stream("a", {"spawnedBy": named("p", record="r1")})
    forest = forest_of(one, other, child, Stream("z"))
    by_facet = {edge.facet: edge for edge in forest.edges}
    assert (by_facet["spawnedBy"].state, by_facet["spawnedBy"].exact) == ("ambiguous", False)
    assert (by_facet["relatedUnknown"].state, by_facet["relatedUnknown"].exact) == (
        "resolved",
        False,
    )
    assert forest.nodes["codex:p"].conflict


@pytest.mark.parametrize(
    ("record", "exact"), [("callId=c1", True), ("r1", True), ("callId=c9", False), (None, True)]
)
def test_an_edge_is_exact_where_its_record_is_there(record, exact):
    """The session resolves either way; the named record has to as well (ASR-080)."""
    parent = Stream("p")
    parent.add("tool_call", callId="c1")
    forest = forest_of(parent, Stream("a", {"spawnedBy": named("p", record=record)}))
    (edge,) = forest.edges
    assert (edge.state, edge.exact, edge.record) == ("resolved", exact, record)


@pytest.mark.parametrize(
    ("through", "exact"),
    [
        ({"throughId": "r1"}, True),
        ({"throughId": "gone"}, False),
        ({"throughId": "a=b"}, False),
        ({}, True),
    ],
)
def test_an_inherited_end_is_part_of_the_edge(through, exact):
    """`through` is in the ancestor's ID space; an ID that no ref can hold does not resolve."""
    parent = Stream("p")
    parent.message()
    child = Stream(
        "a", {"inherits": {"mode": "referenced", "from": "codex:p", "evidence": NF, **through}}
    )
    (edge,) = forest_of(parent, child).edges
    assert (edge.mode, edge.through, edge.exact, edge.record) == (
        "referenced",
        through.get("throughId"),
        exact,
        None,
    )


def test_ordinals_stand_as_they_are():
    """A native ordinal is no `seq`, and is only shown."""
    child = Stream(
        "a",
        {
            "forkedFrom": named("p", ordinal=411),
            "inherits": {
                "mode": "referenced",
                "from": "codex:p",
                "throughOrdinal": 411,
                "evidence": NF,
            },
        },
    )
    fork, inherits = forest_of(child).edges
    assert (fork.ordinal, fork.record) == (411, None)
    assert inherits.through == 411


def test_announcements_are_edges_too():
    """From the announcing session to the child; the record is the evidence."""
    parent = Stream("p", none())
    parent.subagent("a", callId="c1")
    parent.subagent("b")
    parent.add("subagent", capture={"childSession": "unavailable"}, callId="c2")
    forest = forest_of(parent, Stream("a"))
    one, other = forest.edges
    assert (one.source, one.target, one.evidence, one.record) == (
        "codex:p",
        "codex:a",
        "record",
        "callId=c1",
    )
    assert (one.originality, one.exact) == ("original", True)
    assert (other.record, other.state) == (None, "unresolved")
    assert forest.children("codex:p") == ("codex:a", "codex:b")
    assert forest.parents("codex:a") == ("codex:p",)


def test_an_announcement_is_one_edge_however_often_it_is_revised():
    """ASR-424: revisions of one delegation are one."""
    parent = Stream("p", none())
    first = parent.subagent("a", status="running")
    parent.subagent("a", status="completed", supersedes=first)
    lineage = lineage_of(parent)
    (edge,) = lineage.forest.edges
    assert edge.place.id == "r2"
    assert findings(lineage) == []


def test_the_childs_claim_is_the_childs():
    """An announcement by another session than the child's own spawner makes no parent."""
    parent, other = Stream("p", none()), Stream("q")
    parent.subagent("k")
    other.subagent("k")
    child = Stream("k", {"spawnedBy": named("p")})
    forest = forest_of(parent, other, child)
    assert forest.parents("codex:k") == ("codex:p",)
    assert forest.children("codex:q") == ()
    assert len(forest.edges_to("codex:k")) == 2
    assert [edge.facet for edge in forest.edges_from("codex:k")] == ["spawnedBy"]


def test_any_edge_can_be_asked_why():
    """Evidence, record, file and line."""
    parent = Stream("p")
    parent.subagent("a")
    child = Stream("a", {"spawnedBy": named("p")})
    said = [edge.why() for edge in forest_of(parent, child).edges]
    assert said == [
        "codex:a claims spawnedBy (native_field) in record 'h', $.lineage.spawnedBy, line 1",
        "codex:p announces the child in record 'r1', $.childSession, line 2",
    ]


def test_why_names_the_file(tmp_path):
    """Where a file was read, the edge says which."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(Stream("a", {"spawnedBy": named("p")}).text())
    lineage = Lineage(StreamScope.of([path], observers=(Gathered,)))
    assert f"{path}, line 1" in lineage.forest.edges[0].why()


def test_walks_up_and_down():
    """Ancestors and descendants: nearest first, each once."""
    forest = forest_of(
        Stream("a", {"spawnedBy": named("b"), "forkedFrom": named("c")}),
        Stream("b", {"continues": named("d", reason="idle")}),
        Stream("c", {"continues": named("d", reason="idle")}),
        Stream("x"),
    )
    assert list(forest.ancestors("codex:a")) == ["codex:b", "codex:c", "codex:d"]
    assert list(forest.descendants("codex:d")) == ["codex:b", "codex:c", "codex:a"]
    assert list(forest.ancestors("codex:a", {"spawnedBy"})) == ["codex:b"]


def test_families_hang_together_by_any_edge():
    """Delegation, forks, execution; a family is named by its top."""
    forest = forest_of(
        Stream("z"),
        Stream("a", {"spawnedBy": named("z")}),
        Stream("w", {"executedBy": [named("a")]}),
        Stream("lone"),
    )
    assert [(one.name, one.sessions) for one in forest.families] == [
        ("codex:lone", ("codex:lone",)),
        ("codex:w", ("codex:a", "codex:w", "codex:z")),
    ]
    assert forest.family_of["codex:z"].name == "codex:w"


def test_cycles_are_found_and_named():
    """Each other's ancestors are a cycle; walks enter nothing twice."""
    lineage = lineage_of(
        Stream("a", {"spawnedBy": named("b")}),
        Stream("b", {"forkedFrom": named("c")}),
        Stream("c", {"continues": named("a", reason="idle")}),
        Stream("s", {"relatedUnknown": named("s")}),
        Stream("v", {"executedBy": [named("w")]}),
        Stream("w", {"executedBy": [named("v")]}),
        Stream("t", {"spawnedBy": named("a")}),
    )
    forest = lineage.forest
    assert sorted(cycle.sessions for cycle in forest.cycles) == [
        ("codex:a", "codex:b", "codex:c"),
        ("codex:s",),
        ("codex:v", "codex:w"),
    ]
    assert sorted(len(cycle.edges) for cycle in forest.cycles) == [1, 2, 3]
    assert list(forest.ancestors("codex:a")) == ["codex:b", "codex:c"]
    assert [one.code for one in forest.findings] == ["lineage-cycle"] * 3
    assert forest.family_of["codex:a"].name == "codex:a"


def test_a_parent_that_announces_its_child_is_no_cycle():
    """Announcement and claim say the same thing from two sides."""
    parent = Stream("p")
    parent.subagent("a")
    forest = forest_of(parent, Stream("a", {"spawnedBy": named("p")}))
    assert forest.cycles == ()


def test_the_order_of_streams_does_not_show():
    """Edges, families and cycles are the same however the streams come."""
    streams = [
        Stream("a", {"spawnedBy": named("b"), "executedBy": [named("c")]}),
        Stream("b", {"spawnedBy": named("a")}),
        Stream("c", copied("r1", "a")),
        Stream("d"),
    ]
    streams[3].subagent("a")
    streams[3].subagent("c")
    first = forest_of(*streams)
    for seed in range(5):
        random.Random(seed).shuffle(streams)  # noqa: S311
        again = forest_of(*streams)
        assert [edge.order()[:4] for edge in again.edges] == [e.order()[:4] for e in first.edges]
        assert again.families == first.families
        assert {one.sessions for one in again.cycles} == {one.sessions for one in first.cycles}


def test_a_stream_without_a_session_makes_no_edge():
    """There is nobody whose claim it could be."""
    broken = Stream("a", {"spawnedBy": named("p")})
    del broken.records[0]["sessionId"]
    broken.subagent("c")
    lineage = lineage_of(broken)
    assert edges(lineage) == set()
    assert dict(lineage.forest.nodes) == {}


def test_names_go_by_the_registry_of_the_scope():
    """Two names that a user's registry calls one agent are one session."""
    registry = Registry.default().with_agent(
        {
            "short_name": {"value": "ours", "source": "assumed"},
            "reverse_dns_name": {"value": "com.example.ours", "source": "assumed"},
        }
    )
    parent = Stream("com.example.ours:p")
    child = Stream("a", {"spawnedBy": {"session": "ours:p", "evidence": NF}})
    forest = forest_of(parent, child, registry=registry)
    (edge,) = forest.edges
    assert (edge.target, edge.state) == ("ours:p", "resolved")
    assert edge.target in forest.nodes


def test_all_facets_of_edges_are_named():
    """Displays go by this list."""
    assert EDGE_FACETS[0] == "spawnedBy"
    assert EDGE_FACETS[-1] == "announces"


def test_a_chain_of_100000_sessions_is_walked():
    """No walk recurses, and none is quadratic."""
    count = 100_000
    onward = lambda node: (node + 1,) if node + 1 < count else ()  # noqa: E731
    assert sum(1 for _ in graph.reach(0, onward)) == count - 1
    assert len(graph.components(range(count), onward)) == 1
    assert len(graph.strong_components(range(count), onward)) == count
    round_trip = lambda node: ((node + 1) % count,)  # noqa: E731
    assert len(graph.strong_components(range(count), round_trip)) == 1


graphs = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=20)


@given(graphs)
def test_strong_components_agree_with_reachability(links):
    """Two nodes are in one component exactly when each reaches the other."""
    onward = lambda node: [b for a, b in links if a == node]  # noqa: E731
    reached = {node: {node, *graph.reach(node, onward)} for node in range(8)}
    found = graph.strong_components(range(8), onward)
    assert sorted(node for group in found for node in group) == list(range(8))
    for group in found:
        for node in range(8):
            mutual = node in reached[group[0]] and group[0] in reached[node]
            assert mutual is (node in group)
    order = {node: at for at, group in enumerate(found) for node in group}
    assert all(order[b] <= order[a] for a, b in links)
