"""The effective lineage is what header and declarations have said by the end of the stream."""

from __future__ import annotations

import pytest
from lineage_streams import NF, Stream, copied, findings, lineage_of, named, none

from sessionref.findings import Place
from sessionref.lineage.effective import Declared, effective_lineage


def effective(*lineages, **last):
    declared = [Declared(Place(None, at, "h", None, 1), one) for at, one in enumerate(lineages)]
    declared[-1] = declared[-1]._replace(**last)
    return effective_lineage(declared)


def test_nothing_said_is_nothing_known():
    """Absent is unknown, and never a root (ASR-401)."""
    found = effective(None)
    assert found.claims == ()
    assert found.root is None
    assert found.inherits is found.spawned_by is found.forked_from is None
    assert found.continues is found.related_unknown is found.role is None
    assert found.executed_by == ()
    assert found.findings == ()


def test_every_facet_is_given_under_its_name():
    """Those that name a session, the inheritance, the role and the root."""
    found = effective(
        {
            "role": "x",
            "spawnedBy": named("a"),
            "forkedFrom": named("b"),
            "continues": named("c", reason="idle"),
            "inherits": {"mode": "referenced", "from": "codex:d", "evidence": NF},
            "relatedUnknown": named("e"),
            "executedBy": [named("f")],
        }
    )
    facets = (
        found.spawned_by,
        found.forked_from,
        found.continues,
        found.inherits,
        found.related_unknown,
        *found.executed_by,
    )
    assert [str(one.session) for one in facets] == [f"codex:{name}" for name in "abcdef"]
    assert found.role == "x"


def test_a_declaration_replaces_a_facet_and_no_other():
    """Replacement goes facet by facet, in the order of `seq`."""
    found = effective(
        {"spawnedBy": named("p"), "role": "x"},
        {"spawnedBy": named("q")},
        {"continues": named("o", reason="idle")},
    )
    assert str(found.spawned_by.session) == "codex:q"
    assert found.claim("spawnedBy").place.seq == 1
    assert found.role == "x"
    assert found.continues.reason == "idle"


def test_a_facet_that_cannot_be_read_replaces_too():
    """What is said last counts; where it cannot be read nothing is known any more."""
    found = effective(none(), {"inherits": 5})
    assert found.inherits is None
    assert found.claim("inherits").value is None
    assert [one.rule for one in found.findings] == ["ASR-400"]


def test_a_lineage_that_is_no_object_replaces_nothing():
    """It is a finding, and what was said before stays."""
    found = effective(none(), [])
    assert found.inherits.mode == "none"
    assert [(one.rule, one.code) for one in found.findings] == [("ASR-400", "wrong-shape")]


def test_executed_by_is_a_union_by_session_key():
    """Two spellings of one session are one entry; the first stays (ASR-420)."""
    found = effective(
        {
            "executedBy": [
                named("b"),
                {"session": "com.openai.codex:b", "evidence": "native_structure"},
            ]
        },
        {"executedBy": [named("c")]},
    )
    assert [str(one.session) for one in found.executed_by] == ["codex:b", "codex:c"]
    assert found.executed_by[0].evidence == NF


@pytest.mark.parametrize(
    ("facet", "value"),
    [
        ("spawnedBy", named("p")),
        ("forkedFrom", named("p")),
        ("continues", named("p", reason="idle")),
        ("relatedUnknown", named("p")),
        ("inherits", {"mode": "copied", "from": "codex:p", "evidence": NF}),
        ("inherits", {"mode": "referenced", "from": "codex:p", "evidence": NF}),
        ("inherits", {"mode": "rendered", "from": "codex:p", "evidence": NF}),
    ],
)
def test_a_root_has_no_parent(facet, value):
    """`root: true` beside a parent is an error, and then nobody knows (ASR-402)."""
    found = effective({"root": True, facet: value})
    assert found.root is None
    (finding,) = found.findings
    assert (finding.rule, finding.code) == ("ASR-402", "root-with-parent")
    assert finding.path == "$.lineage.root"
    later = effective({"root": True}, {facet: value}, {"role": "x"})
    assert [(one.code, one.seq) for one in later.findings] == [("root-with-parent", 1)]


def test_a_root_may_be_executed_and_start_afresh():
    """`executedBy` names no parent, and modes none and unknown inherit nothing known."""
    found = effective({"root": True, "executedBy": [named("b")], **none()})
    assert found.root is True
    assert found.findings == ()
    assert effective({"root": True, "inherits": 5}).root is True


def test_a_mirror_names_exactly_one_session():
    """ASR-422."""
    one = {"executedBy": [named("b")]}
    assert effective(one, authority="mirror").findings == ()
    assert effective(one, authority="mirror").is_mirror
    for wrong in (None, {"executedBy": []}, {"executedBy": [named("b"), named("c")]}):
        (finding,) = effective(wrong, authority="mirror").findings
        assert (finding.rule, finding.code) == ("ASR-422", "mirror-of-many")
    unreadable = effective({"executedBy": [{"evidence": NF}, named("b")]}, authority="mirror")
    assert [f.rule for f in unreadable.findings] == ["ASR-400", "ASR-422"]


def test_scope_follows_from_no_facet():
    """A spawned session may be primary; nobody says, so nobody knows (ASR-410)."""
    assert effective({"spawnedBy": named("p")}).scope is None
    assert effective({"spawnedBy": named("p")}, scope="primary").scope == "primary"


@pytest.mark.parametrize(
    ("producer", "lossy"),
    [
        ({"lossy": ["lineage"]}, True),
        ({"lossy": ["x", "lineage.spawnedBy"]}, True),
        ({"lossy": ["lineages", 5]}, False),
        ({"lossy": "lineage"}, False),
        ({}, False),
        (None, False),
        ("x", False),
    ],
)
def test_a_declared_loss_of_lineage(producer, lossy):
    """`producer.lossy` holds `lineage`, or a member under it."""
    assert effective(None, producer=producer).lineage_is_lossy is lossy


def test_declarations_count_by_seq_not_by_place():
    """A stream out of order is read in the order of `seq`."""
    stream = Stream("a", {"role": "header"})
    stream.add("declaration", seq=9, lineage={"role": "late"})
    stream.add("declaration", seq=4, lineage={"role": "early"})
    assert lineage_of(stream).sessions[0].lineage.role == "late"


def test_lineage_beside_other_claims():
    """The page's examples: a root that others execute; a subagent that references its parent."""
    wrapper = Stream("t3-code:th", {"root": True, "executedBy": [named("b")]})
    child = Stream(
        "b",
        {
            "spawnedBy": named("p"),
            "forkedFrom": named("p", ordinal=411),
            "inherits": {
                "mode": "referenced",
                "from": "codex:p",
                "throughOrdinal": 411,
                "evidence": NF,
            },
            "role": "worker",
        },
        scope="subagent",
    )
    lineage = lineage_of(wrapper, child, Stream("f", copied("r1")))
    assert lineage.by_key["t3-code:th"].lineage.root is True
    assert lineage.by_key["codex:b"].lineage.scope == "subagent"
    assert findings(lineage) == []
