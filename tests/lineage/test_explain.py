"""Any record can be asked whether it counts, and by which rule."""

from __future__ import annotations

import pytest
from lineage_streams import NF, Stream, copied, lineage_of, named, none, usage

from sessionref.lineage.explain import explain
from sessionref.registry import Registry


def explained(lineage, name, record):
    (stream,) = lineage.by_key[name].accounts[:1]
    (row,) = stream.index.rows_of(None, record)
    found = explain(lineage, stream.index.hit(row))
    return found.counts, found.rule, found.reason


def test_records_without_use_do_not_count():
    """A message, the header, a declaration, an aggregate of nothing."""
    stream = Stream("a", none())
    stream.message()
    stream.declare(role="x")
    stream.add("usage", covers="session")
    lineage = lineage_of(stream)
    assert explained(lineage, "codex:a", "h") == ("not counted", "ASR-415", "declaration")
    assert explained(lineage, "codex:a", "r1") == ("not counted", "ASR-417", "no-usage")
    assert explained(lineage, "codex:a", "r2") == ("not counted", "ASR-415", "declaration")
    assert explained(lineage, "codex:a", "r3") == ("not counted", "ASR-417", "no-usage")


def test_calls_by_their_originality():
    """Original counts, unknown counts apart, copies do not (ASR-416, 417)."""
    stream = Stream("a", copied("r1"))
    stream.call()
    stream.call()
    stream.copy("inference", inferenceId="z", usage=usage(1))
    mirror = Stream("m", {"executedBy": [named("gone")]}, authority="mirror")
    mirror.call()
    open_ = Stream("o")
    open_.call()
    lineage = lineage_of(stream, mirror, open_)
    assert explained(lineage, "codex:a", "r1") == ("not counted", "ASR-417", "inherited-prefix")
    assert explained(lineage, "codex:a", "r2") == ("counted", "ASR-416", "after-prefix")
    assert explained(lineage, "codex:a", "r3") == ("not counted", "ASR-417", "copied-from")
    assert explained(lineage, "codex:m", "r1") == ("unknown", "ASR-423", "mirror")
    assert explained(lineage, "codex:o", "r1") == ("unknown", "ASR-416", "no-inherits")


def test_records_of_one_call():
    """Earlier revisions, second writings, disputed and lost ones."""
    stream = Stream("claude-code:a", none())
    first = stream.call(1, inferenceId="m", request="q")
    stream.call(2, inferenceId="m", request="q", supersedes=first)
    stream.call(2, inferenceId="m", request="q", native={"repeats": "r2"})
    stream.copy("inference", inferenceId="m", requestId="q", usage=usage(2))
    stream.call(5, inferenceId="n", request="q1")
    stream.call(6, inferenceId="n", request="q1")
    stream.call(7, inferenceId="n", request="q2")
    stream.call(7, inferenceId="n")
    stream.call(3, inferenceId="k")
    stream.call(3, inferenceId="k")
    lineage = lineage_of(stream)
    name = "claude-code:a"
    assert explained(lineage, name, "r1") == ("not counted", "ASR-064", "superseded")
    assert explained(lineage, name, "r2") == ("counted", "ASR-416", "inherits-none")
    assert explained(lineage, name, "r3") == ("not counted", "ASR-417", "written-again")
    assert explained(lineage, name, "r4") == ("not counted", "ASR-417", "copied-from")
    assert explained(lineage, name, "r5") == ("unknown", "ASR-064", "disputed")
    assert explained(lineage, name, "r6") == ("unknown", "ASR-064", "disputed")
    assert explained(lineage, name, "r7") == ("counted", "ASR-416", "inherits-none")
    assert explained(lineage, name, "r8") == ("not counted", "ASR-064", "call-of-several")
    assert explained(lineage, name, "r9") == ("counted", "ASR-416", "inherits-none")


def test_calls_that_several_sessions_hold():
    """Original somewhere, or nobody knows whose."""
    streams = [
        Stream(f"claude-code:{name}", lineage)
        for name, lineage in (("a", none()), ("b", None), ("c", None))
    ]
    for stream in streams:
        stream.call(1, inferenceId="m", request="q")
    for stream in streams[1:]:
        stream.call(1, inferenceId="n", request="q")
    streams[1].call(1, inferenceId="o", request="q")
    lineage = lineage_of(*streams)
    assert explained(lineage, "claude-code:a", "r1") == ("counted", "ASR-416", "inherits-none")
    assert explained(lineage, "claude-code:b", "r1") == (
        "not counted",
        "ASR-416",
        "original-elsewhere",
    )
    assert explained(lineage, "claude-code:b", "r2") == ("unknown", "ASR-416", "shared")
    assert explained(lineage, "claude-code:b", "r3") == ("unknown", "ASR-416", "no-inherits")


def test_wrappers_and_backing_sessions():
    """ASR-425 from both sides."""
    stream = Stream("t3-code:w", none(executedBy=[named("b")]))
    stream.add("state", turnId="w1", executedBy=["codex:b#turnId=b1"])
    stream.add("usage", turnId="w1", covers="turn", includesChildren=False, usage=usage(9))
    stream.add("usage", turnId="w2", covers="turn", includesChildren=False, usage=usage(9))
    stream.call(9, turnId="w1")
    run = Stream("b", none())
    run.call(5, turnId="b1")
    run.call(5, turnId="b2")
    stream.call(9, turnId="w3")
    lineage = lineage_of(stream, run)
    assert explained(lineage, "t3-code:w", "r2") == ("not counted", "ASR-321", "calls-recorded")
    assert explained(lineage, "t3-code:w", "r3") == (
        "not counted",
        "ASR-425",
        "wrapper-or-backing",
    )
    assert explained(lineage, "t3-code:w", "r4") == ("not counted", "ASR-425", "covered")
    assert explained(lineage, "t3-code:w", "r5") == (
        "not counted",
        "ASR-425",
        "wrapper-or-backing",
    )
    assert explained(lineage, "codex:b", "r1") == ("counted", "ASR-416", "inherits-none")
    assert explained(lineage, "codex:b", "r2") == ("counted", "ASR-416", "inherits-none")


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ({"includesChildren": False}, ("counted", "ASR-416", "inherits-none")),
        ({"includesChildren": True}, ("unknown", "ASR-419", "includes-children")),
        ({}, ("unknown", "ASR-419", "includes-children")),
        ({"covers": "week"}, ("not counted", "ASR-321", "no-coverage")),
        (
            {"copiedFrom": {"session": "codex:b", "proof": NF}},
            ("not counted", "ASR-417", "copied-from"),
        ),
    ],
)
def test_aggregates(members, expected):
    """Counted, not counted, or of unknown credit."""
    stream = Stream("a", none())
    stream.add("usage", **{"covers": "session", "usage": usage(9), **members})
    assert explained(lineage_of(stream), "codex:a", "r1") == expected


def test_aggregates_of_unknown_originality_and_revised_ones():
    """As calls."""
    stream = Stream("a")
    members = {"covers": "session", "usage": usage(9), "includesChildren": False}
    stream.add("usage", **members)
    stream.add("usage", supersedes="r1", **members)
    lineage = lineage_of(stream)
    assert explained(lineage, "codex:a", "r1") == ("not counted", "ASR-064", "superseded")
    assert explained(lineage, "codex:a", "r2") == ("unknown", "ASR-416", "no-inherits")


def test_a_record_of_another_scope_is_refused():
    """Nothing is said about what is not here."""
    one, other = Stream("a", none()), Stream("b", none())
    one.call()
    other.call()
    lineage, foreign = lineage_of(one), lineage_of(other)
    hit = foreign.sessions[0].accounts[0].index.hit(1)
    with pytest.raises(LookupError):
        explain(lineage, hit)
    longer = Stream("a", none())
    longer.call()
    longer.call()
    hit = lineage_of(longer).sessions[0].accounts[0].index.hit(2)
    with pytest.raises(LookupError):
        explain(lineage, hit)


def test_a_stream_without_a_session_can_be_asked():
    """The hit says the file, and that is looked at."""
    broken = Stream("a", none())
    del broken.records[0]["sessionId"]
    broken.call()
    lineage = lineage_of(broken, Stream("z"))
    hit = lineage.sessions[-1].accounts[0].index.hit(1)
    assert explain(lineage, hit).counts == "counted"


def test_names_of_a_users_registry_are_understood():
    """A session can have another name in the scope than its stream gives it."""
    registry = Registry.default().with_agent(
        {
            "short_name": {"value": "ours", "source": "assumed"},
            "reverse_dns_name": {"value": "com.example.ours", "source": "assumed"},
        }
    )
    stream = Stream("com.example.ours:a", none())
    stream.call()
    lineage = lineage_of(stream, registry=registry)
    hit = lineage.by_key["ours:a"].accounts[0].index.hit(1)
    found = explain(lineage, hit)
    assert found.counts == "counted"
    assert found.originality == lineage.verdict(hit)


def test_records_with_one_id_are_told_apart():
    """A hit is a place, not an ID."""
    stream = Stream("a", none())
    stream.add("inference", id="x", inferenceId="m", usage=usage(1))
    stream.add("message", id="x")
    lineage = lineage_of(stream)
    index = lineage.sessions[0].accounts[0].index
    assert [explain(lineage, index.hit(row)).reason for row in (1, 2)] == [
        "inherits-none",
        "no-usage",
    ]
