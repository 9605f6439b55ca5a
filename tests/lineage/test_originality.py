"""Originality: the four conditions of the page, and nothing else."""

from __future__ import annotations

import pytest
from lineage_streams import NF, Stream, copied, lineage_of, named, none, verdicts

from sessionref.lineage.explain import label
from sessionref.lineage.lineage import Lineage
from sessionref.scope.scope import StreamScope


def reasons(lineage, name="codex:a"):
    (stream,) = lineage.by_key[name].accounts
    return [
        None if (one := stream.verdict(at)) is None else one.reason
        for at in range(len(stream.index))
    ]


@pytest.mark.parametrize(
    ("inherits", "value", "reason"),
    [
        (None, "unknown", "no-inherits"),
        ({"mode": "unknown"}, "unknown", "inherits-unknown"),
        ({"mode": "vague"}, "unknown", "inherits-unknown"),
        (5, "unknown", "inherits-unknown"),
        ({"mode": "none"}, "original", "inherits-none"),
        ({"mode": "referenced", "from": "codex:p"}, "original", "inherits-referenced"),
        ({"mode": "rendered", "from": "codex:p"}, "original", "inherits-rendered"),
        ({"mode": "copied", "from": "codex:p"}, "unknown", "no-boundary"),
        (
            {"mode": "copied", "from": "codex:p", "localThroughId": "nowhere"},
            "unknown",
            "boundary-unresolved",
        ),
    ],
)
def test_the_effective_mode_decides_for_unmarked_records(inherits, value, reason):
    """ASR-416: no lineage, an unknown mode and copies without an end leave it unknown."""
    lineage = None
    if inherits is not None:
        if isinstance(inherits, dict):
            inherits = {**inherits, "evidence": NF}
        lineage = {"inherits": inherits}
    stream = Stream("a", lineage)
    stream.message()
    found = lineage_of(stream)
    assert verdicts(found, "a") == [None, value]
    assert reasons(found) == [None, reason]


def test_root_alone_makes_nothing_original():
    """The page asks for an effective `inherits.mode`."""
    stream = Stream("a", {"root": True})
    stream.message()
    assert verdicts(lineage_of(stream), "a") == [None, "unknown"]


def test_a_marked_record_is_a_copy_in_every_stream():
    """`copiedFrom` decides before anything else, however little of it can be read."""
    for lineage in (None, none(), copied(None), copied("r1")):
        stream = Stream("a", lineage)
        stream.message()
        stream.copy()
        stream.message(copiedFrom={"proof": 1})
        assert verdicts(lineage_of(stream), "a")[2:] == ["copy", "copy"]


def test_null_is_no_mark():
    """A null member is an absent one."""
    stream = Stream("a", none())
    stream.message()
    text = stream.text().replace(b'"messageId"', b'"copiedFrom": null, "messageId"')
    assert verdicts(lineage_of(text), "a") == [None, "original"]


def test_a_declared_prefix_is_copied_but_for_declarations():
    """ASR-415: every record at or below the boundary's `seq`, marked or not."""
    stream = Stream("a", copied("r3"))
    stream.message()
    stream.declare(role="x")
    stream.message()
    stream.message()
    stream.copy()
    found = lineage_of(stream)
    assert verdicts(found, "a") == [None, "copy", None, "copy", "original", "copy"]
    assert reasons(found)[1:] == [
        "inherited-prefix",
        None,
        "inherited-prefix",
        "after-prefix",
        "copied-from",
    ]
    assert found.sessions[0].records == (1, 3, 0)


def test_the_prefix_goes_by_seq_not_by_place():
    """A record that stands later and has a lower `seq` lies in the prefix."""
    stream = Stream("a", copied("end"))
    stream.add("message", id="end", seq=10)
    stream.add("message", id="own", seq=11)
    stream.add("message", id="late", seq=5)
    assert verdicts(lineage_of(stream), "a") == [None, "copy", "original", "copy"]


def test_a_boundary_that_two_records_have_is_none():
    """Nothing is chosen by position; originality is unknown then."""
    stream = Stream("a", copied("twice"))
    stream.add("message", id="twice")
    stream.add("message", id="twice")
    found = lineage_of(stream)
    assert verdicts(found, "a") == [None, "unknown", "unknown"]
    assert reasons(found)[1] == "boundary-unresolved"


def test_only_the_effective_inherits_declares_a_prefix():
    """A declaration that takes the boundary back takes the prefix back, and the other way round."""
    stream = Stream("a", copied("r1"))
    stream.message()
    stream.message()
    stream.declare(**none())
    assert verdicts(lineage_of(stream), "a") == [None, "original", "original", None]
    stream = Stream("a", none())
    stream.message()
    stream.message()
    stream.declare(**copied("r1"))
    assert verdicts(lineage_of(stream), "a") == [None, "copy", "original", None]


def test_a_boundary_beside_another_mode_is_no_boundary():
    """ASR-415 asks for mode copied."""
    stream = Stream("a", {"inherits": {"mode": "none", "localThroughId": "r1", "evidence": NF}})
    stream.message()
    assert verdicts(lineage_of(stream), "a") == [None, "original"]


@pytest.mark.parametrize("lineage", [{}, none(), copied("r1")])
def test_in_a_mirror_only_marks_count(lineage):
    """ASR-423: unknown without a mark, whatever `inherits` says."""
    stream = Stream("a", {**lineage, "executedBy": [named("b")]}, authority="mirror")
    stream.message()
    stream.copy()
    found = lineage_of(stream)
    assert verdicts(found, "a") == [None, "unknown", "copy"]
    assert reasons(found)[1] == "mirror"


def test_being_in_a_wrapper_makes_no_copy():
    """ASR-423: a wrapper's records keep their originality under the normal rule."""
    stream = Stream("a", none(executedBy=[named("b")]))
    stream.message()
    stream.copy()
    assert verdicts(lineage_of(stream), "a") == [None, "original", "copy"]


def test_a_rendering_of_inherited_context_is_new_content():
    """ASR-426: a message with `derivedFrom` is no copy."""
    stream = Stream("a", none())
    stream.message(derivedFrom=["codex:b#messageId=m1"])
    assert verdicts(lineage_of(stream), "a") == [None, "original"]


def repeat(first):
    return {"native": {"repeats": first, "row": {"any": "thing"}}}


def test_a_record_written_again_takes_the_first_writing():
    """What the source wrote twice is as original as its first writing, not as its second place."""
    stream = Stream("a", copied("r1"))
    stream.add("message")
    stream.add("message", **repeat("r1"))
    stream.add("message", **repeat("r2"))
    stream.add("message", **repeat("nowhere"))
    stream.add("message", native={"row": {"repeats": "r1"}})
    stream.add("message", native=["repeats"])
    stream.add("message", **repeat("h"))
    stream.declare(role="x")
    stream.add("message", **repeat("r7"))
    found = lineage_of(stream)
    assert verdicts(found, "a")[1:] == [
        "copy",
        "copy",
        "copy",
        "original",
        "original",
        "original",
        "original",
        None,
        "original",
    ]
    assert found.sessions[0].records == (5, 3, 0)


def test_marks_of_repeated_records_without_a_prefix():
    """The second writing of a marked copy is a copy."""
    stream = Stream("a", none())
    stream.copy()
    stream.message(**repeat("r1"))
    found = lineage_of(stream)
    assert verdicts(found, "a") == [None, "copy", "copy"]
    assert found.sessions[0].records == (0, 2, 0)


def test_records_are_counted_as_they_are_judged():
    """The counts of a stream agree with the verdict on each record."""
    stream = Stream("a", none())
    stream.copy()
    stream.add("declaration", copiedFrom={"session": "codex:b", "proof": NF})
    stream.message()
    found = lineage_of(stream)
    assert verdicts(found, "a") == [None, "copy", None, "original"]
    assert found.sessions[0].records == (1, 1, 0)


def test_a_conflict_leaves_no_original():
    """Of two captures that contradict each other neither is preferred; copies stay copies."""
    one, other = Stream("a", none()), Stream("a", none())
    one.message()
    one.copy()
    other.message(role="user")
    found = lineage_of(one, other)
    session = found.by_key["codex:a"]
    assert session.conflict
    assert session.records == (0, 1, 2)
    values = {stream.verdict(1).reason for stream in session.accounts}
    assert values == {"identity-conflict"}
    assert session.lineage.inherits is None
    assert len(session.lineages) == 2


def test_labels_for_displays():
    """ASR-417: copies can be shown, and are labelled."""
    stream = Stream("a", copied("r1"))
    stream.message()
    stream.message()
    found = lineage_of(stream, Stream("b"))
    (index,) = (one.index for one in found.by_key["codex:a"].accounts)
    assert [label(found.verdict(index.hit(at))) for at in range(3)] == [None, "copy", None]
    other = Stream("b")
    other.message()
    found = lineage_of(other)
    assert label(found.verdict(found.sessions[0].accounts[0].index.hit(1))) == "may be a copy"


def test_a_scope_that_nobody_observed_is_refused():
    """Lineage is gathered while streams are read."""
    with pytest.raises(TypeError, match="Gathered"):
        Lineage(StreamScope.of([[Stream("a").text()]]))


def test_a_session_shows_itself():
    """For people who debug."""
    assert repr(lineage_of(Stream("a")).sessions[0]) == "<SessionLineage codex:a, 1 account(s)>"
