"""Facets are read one by one; what is wrong with one is a finding and costs that one."""

from __future__ import annotations

import pytest
from lineage_streams import NF, Stream, findings, lineage_of, named

from sessionref.findings import Place
from sessionref.lineage.facets import REASONS, read_facets, root_conflicts
from sessionref.lineage.places import Faults
from sessionref.refs import EntityRef, RecordRef, TurnRef


def read(lineage):
    faults = Faults(Place("codex:a", 0, "h", "a.jsonl", 1))
    facets = read_facets(lineage, faults)
    return facets, [(one.rule, one.code, one.path) for one in faults.found]


def test_every_facet_of_the_page_is_read():
    """All eight facets at once, each with its own evidence."""
    facets, found = read(
        {
            "root": True,
            "role": "worker",
            "spawnedBy": named("p", record="callId=a=b"),
            "forkedFrom": named("p", ordinal=411),
            "continues": named("o", reason="compaction"),
            "inherits": {
                "mode": "copied",
                "from": "codex:p",
                "throughOrdinal": 411,
                "localThroughId": "r9",
                "evidence": "converter_inference",
            },
            "executedBy": [named("b"), named("c")],
            "relatedUnknown": named("q"),
            "somethingElse": 5,
        }
    )
    assert found == []
    assert facets["root"] is True
    assert facets["role"] == "worker"
    assert facets["spawnedBy"].record == EntityRef("callId", "a=b")
    assert facets["forkedFrom"].ordinal == 411
    assert facets["continues"].reason == "compaction"
    assert facets["inherits"].mode == "copied"
    assert facets["inherits"].through_ordinal == 411
    assert facets["inherits"].local_through_id == "r9"
    assert facets["inherits"].evidence == "converter_inference"
    assert [str(one.session) for one in facets["executedBy"]] == ["codex:b", "codex:c"]
    assert str(facets["relatedUnknown"].session) == "codex:q"


@pytest.mark.parametrize(
    ("lineage", "expected"),
    [
        ([], [("ASR-400", "wrong-shape", "$.lineage")]),
        ({"spawnedBy": 5}, [("ASR-400", "wrong-shape", "$.lineage.spawnedBy")]),
        ({"forkedFrom": []}, [("ASR-400", "wrong-shape", "$.lineage.forkedFrom")]),
        ({"continues": "x"}, [("ASR-400", "wrong-shape", "$.lineage.continues")]),
        ({"inherits": "none"}, [("ASR-400", "wrong-shape", "$.lineage.inherits")]),
        ({"relatedUnknown": None}, [("ASR-400", "bad-facet", "$.lineage.relatedUnknown")]),
        ({"role": 5}, [("ASR-400", "bad-facet", "$.lineage.role")]),
        ({"root": False}, [("ASR-402", "bad-root", "$.lineage.root")]),
        ({"executedBy": named("b")}, [("ASR-420", "wrong-shape", "$.lineage.executedBy")]),
        ({"executedBy": None}, [("ASR-420", "bad-facet", "$.lineage.executedBy")]),
        ({"executedBy": ["codex:b"]}, [("ASR-400", "wrong-shape", "$.lineage.executedBy[0]")]),
        (
            {"spawnedBy": {"session": "codex:p"}},
            [("ASR-400", "missing-evidence", "$.lineage.spawnedBy")],
        ),
        (
            {"spawnedBy": {"evidence": NF}},
            [("ASR-400", "bad-session-reference", "$.lineage.spawnedBy.session")],
        ),
        (
            {"spawnedBy": {"session": 5, "evidence": NF}},
            [("ASR-400", "bad-member", "$.lineage.spawnedBy.session")],
        ),
        (
            {"spawnedBy": {"session": "p", "evidence": NF}},
            [("ASR-061", "missing-session-id", "$.lineage.spawnedBy.session")],
        ),
        (
            {"spawnedBy": {"session": "codex:p#r1", "evidence": NF}},
            [("ASR-400", "unexpected-ref", "$.lineage.spawnedBy.session")],
        ),
        (
            {"relatedUnknown": {"session": "codex:p", "evidence": "similar text"}},
            [("ASR-404", "bad-evidence", "$.lineage.relatedUnknown.evidence")],
        ),
        (
            {"relatedUnknown": {"session": "codex:p", "evidence": ["native_field"]}},
            [("ASR-404", "bad-evidence", "$.lineage.relatedUnknown.evidence")],
        ),
        (
            {"spawnedBy": named("p", record="key=x")},
            [("ASR-062", "unknown-entity-key", "$.lineage.spawnedBy.record")],
        ),
        (
            {"spawnedBy": named("p", record=7)},
            [("ASR-079", "bad-member", "$.lineage.spawnedBy.record")],
        ),
        (
            {"forkedFrom": named("p", record="r1", ordinal=4)},
            [("ASR-407", "two-fork-points", "$.lineage.forkedFrom")],
        ),
        (
            {"forkedFrom": named("p", ordinal=True)},
            [("ASR-407", "bad-member", "$.lineage.forkedFrom.ordinal")],
        ),
        ({"continues": named("p")}, [("ASR-408", "bad-reason", "$.lineage.continues.reason")]),
        (
            {"continues": named("p", reason="because")},
            [("ASR-408", "bad-reason", "$.lineage.continues.reason")],
        ),
        ({"inherits": {"evidence": NF}}, [("ASR-409", "bad-mode", "$.lineage.inherits.mode")]),
        (
            {"inherits": {"mode": "some", "evidence": NF}},
            [("ASR-409", "bad-mode", "$.lineage.inherits.mode")],
        ),
        (
            {"inherits": {"mode": "rendered", "evidence": NF}},
            [("ASR-409", "bad-session-reference", "$.lineage.inherits.from")],
        ),
        (
            {"inherits": {"mode": "none", "localThroughId": "r1", "evidence": NF}},
            [("ASR-409", "out-of-place", "$.lineage.inherits.localThroughId")],
        ),
        (
            {"inherits": {"mode": "none", "throughId": "", "evidence": NF}},
            [("ASR-062", "empty-ref", "$.lineage.inherits.throughId")],
        ),
        (
            {"inherits": {"mode": "none", "throughId": "r", "throughOrdinal": 1, "evidence": NF}},
            [("ASR-409", "two-boundaries", "$.lineage.inherits")],
        ),
        (
            {"inherits": {"mode": "none", "throughOrdinal": "1", "evidence": NF}},
            [("ASR-409", "bad-member", "$.lineage.inherits.throughOrdinal")],
        ),
    ],
)
def test_each_wrong_shape_is_one_finding(lineage, expected):
    """One fault, one finding, under its rule and at its path."""
    assert read(lineage)[1] == expected


@pytest.mark.parametrize("mode", ["none", "unknown", "referenced"])
def test_an_ancestor_is_read_in_every_mode(mode):
    """Also where none has to be named."""
    facets, found = read({"inherits": {"mode": mode, "from": "codex:p", "evidence": NF}})
    assert str(facets["inherits"].session) == "codex:p"
    assert found == []


def test_a_faulty_facet_leaves_the_others():
    """The facets are independent."""
    facets, found = read({"spawnedBy": 5, "forkedFrom": named("p", record="r1")})
    assert facets["spawnedBy"] is None
    assert facets["forkedFrom"].record == RecordRef("r1")
    assert len(found) == 1


def test_neither_of_two_boundaries_is_taken():
    """Where only one may stand, none is chosen."""
    facets, _ = read(
        {
            "forkedFrom": named("p", record="r1", ordinal=4),
            "inherits": {
                "mode": "copied",
                "from": "codex:p",
                "throughId": "r",
                "throughOrdinal": 1,
                "evidence": NF,
            },
        }
    )
    assert (facets["forkedFrom"].record, facets["forkedFrom"].ordinal) == (None, None)
    assert (facets["inherits"].through_id, facets["inherits"].through_ordinal) == (None, None)


@pytest.mark.parametrize("reason", [*sorted(REASONS), "openclaw.archive", "openclaw:x", "a/b"])
def test_reasons_of_the_page_and_of_vendors_are_taken(reason):
    """A vendor's value holds a namespace separator (ASR-408)."""
    facets, found = read({"continues": named("p", reason=reason)})
    assert found == []
    assert facets["continues"].reason == reason


def test_what_stands_beside_a_root_is_told_in_the_order_of_the_page():
    """ASR-402: of `inherits` only the modes that have an ancestor; without a root nothing."""
    both = {"continues": None, "spawnedBy": None}
    assert root_conflicts({"root": True, **both}) == ("spawnedBy", "continues")
    assert root_conflicts({"root": True}) == root_conflicts(both) == ()
    for mode, expected in (("rendered", ("inherits",)), ("unknown", ())):
        facets, _ = read({"root": True, "inherits": {"mode": mode, "from": "codex:p"}})
        assert root_conflicts(facets) == expected


def test_a_ref_of_a_kind_that_is_not_allowed_is_a_fault_and_is_kept():
    """A turn is no record (ASR-075), so the edge that names it is not exact."""
    facets, found = read({"forkedFrom": named("p", record="turnId=t")})
    assert facets["forkedFrom"].record == TurnRef("t")
    assert found == [("ASR-075", "turn-ref", "$.lineage.forkedFrom.record")]
    facets, found = read({"inherits": {"mode": "none", "throughId": "callId=c", "evidence": NF}})
    assert facets["inherits"].through_id == "callId=c"
    assert found == [("ASR-409", "entity-ref", "$.lineage.inherits.throughId")]


def test_findings_say_where():
    """A finding has the session, the record and the line."""
    stream = Stream("a")
    stream.add("declaration", lineage={"root": 1})
    lineage = lineage_of(stream)
    (finding,) = lineage.sessions[0].lineage.findings
    assert (finding.session, finding.seq, finding.id, finding.line) == ("codex:a", 1, "r1", 2)
    assert findings(lineage) == [("ASR-402", "bad-root")]
