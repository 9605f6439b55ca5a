"""Totals count nothing twice, and say what they cannot know."""

from __future__ import annotations

import json
import random

import pytest
from lineage_streams import (
    NF,
    Stream,
    copied,
    findings,
    lineage_of,
    named,
    none,
    notes,
    row,
    total,
    usage,
)

import sessionref as sr
from sessionref.usage import Cost, Measure, Sum, agreed, read_cost

CLAUDE = "claude-code:"


def claude(name, lineage=None, **header):
    return Stream(CLAUDE + name, lineage, **header)


# -- Measures ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cost", "expected"),
    [
        ([], ()),
        ([{"amount": "0.1", "currency": "USD"}, {"amount": "0.2", "currency": "USD"}], ("0.3",)),
        ([{"amount": "00012.50", "currency": "USD"}], ("12.5",)),
        ([{"amount": "1" * 36 + "." + "2" * 36, "currency": "USD"}], ("1" * 36 + "." + "2" * 36,)),
        ([{"amount": "2", "currency": "USD"}, {"amount": "1", "currency": "EUR"}], ("1", "2")),
    ],
)
def test_money_is_exact(cost, expected):
    """Decimal strings are added without rounding, each currency by itself."""
    total = Sum()
    total.add([0] * 5, read_cost(json.dumps(cost).encode()))
    assert tuple(one.amount for one in total.measure().cost) == expected


@pytest.mark.parametrize(
    "cost",
    [
        5,
        {"amount": "1", "currency": "USD"},
        ["1"],
        [{"amount": 1, "currency": "USD"}],
        [{"amount": "1"}],
        [{"amount": "1", "currency": ""}],
        [{"amount": "1e9", "currency": "USD"}],
        [{"amount": "-1", "currency": "USD"}],
        [{"amount": "1.", "currency": "USD"}],
        [{"amount": "1" * 37, "currency": "USD"}],
        [{"amount": "١", "currency": "USD"}],
    ],
)
def test_what_is_no_exact_amount_is_refused(cost):
    """No amount is repaired."""
    assert read_cost(json.dumps(cost).encode()) is None


def test_a_measure_tells_whether_there_is_anything():
    """Zero of everything is nothing."""
    assert not Measure(0, 0, 0, 0, 0, 0)
    assert Measure(0, 0, 0, 0, 0, 1)
    assert Measure(0, 0, 0, 0, 0, 0, (Cost("0", "USD"),))
    assert Measure(1, 2, 3, 4, 5, 6).tokens == 10


def test_agreement_keeps_what_all_say():
    """No member-wise maximum, and nothing of one side alone."""
    one, other = Sum(), Sum()
    one.add([1, 2, 3, 4, 5], {"USD": 7, "EUR": 1}, 1)
    other.add([1, 9, 3, 4, 5], {"USD": 7}, 1)
    found, exact = agreed([one, other])
    assert (found.tokens, found.cost, exact) == ([1, 0, 3, 4, 5], {"USD": 7}, False)
    assert agreed([one, one])[1]


# -- One session -----------------------------------------------------------------------------------


def test_original_copied_and_unknown_stand_apart():
    """Copies never count (ASR-417); what may be a copy is said to be (ASR-416)."""
    own = Stream("a", none())
    own.call(5)
    own.copy("inference", inferenceId="x", usage=usage(100))
    open_ = Stream("b")
    open_.call(3)
    lineage = lineage_of(own, open_)
    assert row(lineage, "a") == (5, 100, 0)
    assert row(lineage, "b") == (0, 0, 3)
    assert total(lineage) == (5, 100, 3)
    assert lineage.totals.may_include_copies
    assert "no-inherits" in notes(lineage)
    assert total(lineage_of(own)) == (5, 100, 0)
    assert not lineage_of(own).totals.may_include_copies


def test_all_members_and_cost_are_added():
    """Five token counts, calls, cost."""
    stream = Stream("a", none())
    for _ in range(2):
        stream.call(usage=usage(4, 1, 2, 3, 5), cost=[{"amount": "0.05", "currency": "USD"}])
    assert lineage_of(stream).totals.total.original == Measure(
        2, 4, 6, 8, 10, 2, (Cost("0.1", "USD"),)
    )


def test_the_latest_revision_counts_whole():
    """Growing snapshots of one call: the last as it is, not the first and no maximum."""
    stream = Stream("a", none())
    first = stream.call(usage=usage(5, fresh=9), inferenceId="x")
    second = stream.call(usage=usage(7, fresh=1), inferenceId="x", supersedes=first)
    stream.call(usage=usage(6, fresh=2), inferenceId="x", supersedes=second)
    found = lineage_of(stream).totals.total.original
    assert (found.output_tokens, found.input_tokens, found.calls) == (6, 2, 1)


def test_records_of_one_call_that_agree_are_one():
    """Two chains of one inference ID that say the same need no choice."""
    stream = Stream("a", none())
    stream.call(5, inferenceId="x", model={"id": "m"}, ts="2026-01-01T00:00:00Z")
    stream.call(5, inferenceId="x", model={"id": "n"}, ts="2026-01-01T01:00:00Z")
    lineage = lineage_of(stream)
    assert total(lineage) == (5, 0, 0)
    assert lineage.totals.total.original.calls == 1
    assert [one.name for one in lineage.totals.by("model")] == [None]
    assert [one.name for one in lineage.totals.by("day")] == ["2026-01-01"]
    assert notes(lineage) == set()


def test_records_of_one_call_that_differ_are_unknown():
    """None is chosen by position: what they agree on counts, under unknown, and a note says so."""
    stream = Stream("a", none())
    stream.call(usage=usage(5, fresh=3), inferenceId="x")
    stream.call(usage=usage(7, fresh=3), inferenceId="x")
    lineage = lineage_of(stream)
    unknown = lineage.totals.total.unknown
    assert (unknown.output_tokens, unknown.input_tokens, unknown.calls) == (0, 3, 1)
    assert total(lineage) == (0, 0, 0)
    assert notes(lineage) == {"call-records-differ"}


def test_a_copy_gives_way_to_its_original_in_the_same_stream():
    """A local copy of a call is not a second record of it."""
    stream = Stream("a", none())
    stream.call(5, inferenceId="x")
    stream.call(5, inferenceId="x", copiedFrom={"record": "r1", "proof": NF})
    assert total(lineage_of(stream)) == (5, 0, 0)
    only = Stream("b", none())
    only.copy("inference", inferenceId="x", usage=usage(5))
    only.copy("inference", inferenceId="x", usage=usage(5))
    assert total(lineage_of(only)) == (0, 5, 0)


def test_unknown_records_of_one_call_stay_unknown():
    """Agreement makes no original of what may be a copy."""
    stream = Stream("a")
    stream.call(5, inferenceId="x")
    stream.call(5, inferenceId="x")
    assert total(lineage_of(stream)) == (0, 0, 5)


def test_a_call_written_again_counts_once():
    """The second writing never wins as the latest."""
    stream = Stream("a", none())
    stream.call(5, inferenceId="x")
    stream.call(5, inferenceId="y", native={"repeats": "r1"})
    assert total(lineage_of(stream)) == (5, 0, 0)


def test_calls_without_an_id_are_calls_of_their_own():
    """Two absent values are never equal."""
    stream = Stream("a", none())
    stream.call(5, inferenceId=None)
    stream.call(5, inferenceId=None)
    assert total(lineage_of(stream)) == (10, 0, 0)


def test_records_that_tell_of_uncounted_calls_make_the_total_a_lower_bound():
    """The registry says which types do: for Codex the compaction, whose own call nothing counts."""
    stream = Stream("a", none())
    stream.call(5)
    stream.add("compaction", compactionId="k1", replaces={"state": "unknown"})
    lineage = lineage_of(stream)
    assert [note.code for note in lineage.totals.notes] == ["uncounted-calls"]
    assert str(lineage.totals.notes[0]).endswith("so the total is a lower bound")


def test_what_carries_no_count_is_a_gap():
    """A call without usage counts as a call; nothing is estimated."""
    stream = Stream("a", none())
    stream.call(5)
    stream.call(usage=None)
    stream.call(usage={})
    stream.call(usage={"other": 1})
    lineage = lineage_of(stream)
    assert lineage.totals.total.original.calls == 4
    assert total(lineage) == (5, 0, 0)
    assert notes(lineage) == {"calls-without-usage"}
    assert findings(lineage) == []


@pytest.mark.parametrize(
    "wrong",
    [
        5,
        [],
        {"outputTokens": "5"},
        {"outputTokens": -1},
        {"outputTokens": 1.5},
        {"outputTokens": 2**63},
    ],
)
def test_usage_of_the_wrong_shape_is_a_finding(wrong):
    """And counts nowhere."""
    stream = Stream("a", none())
    stream.call(usage=wrong, cost=5)
    stream.call(5)
    stream.add("usage", covers="session", usage=wrong, cost="x")
    lineage = lineage_of(stream)
    assert total(lineage) == (5, 0, 0)
    assert findings(lineage) == [(None, "bad-member")] * 4
    assert {"unreadable-usage", "calls-without-usage"} <= notes(lineage)


def test_null_says_nothing():
    """A null usage or cost is an absent one."""
    stream = Stream("a", none())
    stream.call(5)
    text = stream.text().replace(b'"inferenceId"', b'"cost": null, "inferenceId"')
    lineage = lineage_of(text)
    assert findings(lineage) == []
    text = stream.text().replace(b'"usage": {', b'"usage": null, "x": {')
    lineage = lineage_of(text)
    assert findings(lineage) == []
    assert notes(lineage) == {"calls-without-usage"}


# -- Several sessions ------------------------------------------------------------------------------


def test_a_call_of_the_provider_counts_once():
    """Message and request ID together identify a Claude call everywhere."""
    streams = [claude(name) for name in "ab"]
    for stream in streams:
        stream.call(5, inferenceId="msg1", request="req1")
    lineage = lineage_of(*streams)
    assert row(lineage, "claude-code:a") == row(lineage, "claude-code:b") == (0, 0, 5)
    assert total(lineage) == (0, 0, 5)
    assert lineage.totals.total.unknown.calls == 1
    assert "shared-calls" in notes(lineage)


def test_original_somewhere_wins():
    """A call that is original in one session and unknown in another counts once, as original."""
    own, other = claude("a", none()), claude("b")
    own.call(5, inferenceId="msg1", request="req1")
    other.call(5, inferenceId="msg1", request="req1")
    other.call(1, inferenceId="msg2", request="req2")
    lineage = lineage_of(own, other)
    assert total(lineage) == (5, 0, 1)
    assert row(lineage, "claude-code:b") == (0, 0, 6)
    assert "shared-calls" not in notes(lineage)


def test_the_original_counts_whatever_others_say_of_it():
    """Also where they come first, and say other numbers."""
    other, own = claude("a"), claude("b", none())
    other.call(6, inferenceId="m", request="q")
    own.call(5, inferenceId="m", request="q")
    assert total(lineage_of(other, own)) == (5, 0, 0)


def test_calls_that_nothing_identifies_stand_beside_shared_ones():
    """A call without its request, and those of an agent of which nothing is known, count each."""
    streams = [claude("a"), claude("b"), Stream("goose:g")]
    for stream in streams:
        stream.call(5, inferenceId="m", request="q")
        stream.call(1, inferenceId="n")
    assert total(lineage_of(*streams)) == (0, 0, 5 + 1 + 1 + 5 + 1)


def test_only_what_may_be_another_record_of_a_call_is_shared():
    """A copy of it is not, whoever holds the call."""
    own, fork = claude("a", none()), claude("b", none())
    own.call(5, inferenceId="m", request="q")
    fork.copy("inference", inferenceId="m", requestId="q", usage=usage(5))
    fork.call(5, inferenceId="m", request="q")
    lineage = lineage_of(own, fork)
    first, second = lineage.sessions
    shared, mine = lineage.totals.shared_call(first, first.accounts[0], 0)
    again, other = lineage.totals.shared_call(second, second.accounts[0], 1)
    assert shared == again
    assert shared.entries == [mine, other]
    assert [one.account for one in shared.entries] == [first.accounts[0], second.accounts[0]]
    assert lineage.totals.shared_call(second, second.accounts[0], 0) is None


def test_a_copy_is_no_second_holder():
    """A marked copy counts under copied, whatever else holds the call."""
    own, fork = claude("a"), claude("b", none())
    own.call(5, inferenceId="msg1", request="req1")
    fork.copy("inference", inferenceId="msg1", requestId="req1", usage=usage(5))
    lineage = lineage_of(own, fork)
    assert total(lineage) == (0, 5, 5)
    assert total(lineage_of(fork)) == (0, 5, 0)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({}, {}),
        ({"request": "q1"}, {}),
        ({"request": "q1"}, {"request": "q2"}),
        (
            {"request": "q1", "idSource": "derived"},
            {"request": "q1", "idSource": "derived"},
        ),
    ],
)
def test_without_both_ids_calls_of_two_sessions_are_two(one, other):
    """An absent request ID equals none, and a derived ID is not the provider's."""
    streams = [claude(name) for name in "ab"]
    streams[0].call(5, inferenceId="msg1", **one)
    streams[1].call(5, inferenceId="msg1", **other)
    assert total(lineage_of(*streams)) == (0, 0, 10)


def test_a_native_inference_id_on_a_derived_record_is_native():
    """`inferenceIdSource` says of the key what `idSource` says of the record."""
    streams = [claude(name) for name in "ab"]
    for stream in streams:
        stream.call(5, inferenceId="m", request="q", idSource="derived", inferenceIdSource="native")
    assert total(lineage_of(*streams)) == (0, 0, 5)


def test_where_the_registry_asks_for_no_request_the_id_is_enough():
    """Codex: the response ID alone."""
    streams = [Stream("a"), Stream("b")]
    for stream in streams:
        stream.call(5, inferenceId="resp_1")
    assert total(lineage_of(*streams)) == (0, 0, 5)


@pytest.mark.parametrize("agent", ["goose", "com.example.other", "openclaw"])
def test_where_the_registry_says_nothing_ids_are_the_sessions_own(agent):
    """Equal IDs of an agent whose IDs are not known to be unique are two calls."""
    streams = [Stream(f"{agent}:a"), Stream(f"{agent}:b")]
    for stream in streams:
        stream.call(5, inferenceId="x", request="q")
    assert total(lineage_of(*streams)) == (0, 0, 10)


def test_a_row_without_its_request_joins_its_message_in_its_session():
    """And only there; with several calls of that message nothing says which it is of."""
    joined = claude("a", none())
    joined.call(5, inferenceId="m", request="q")
    joined.call(5, inferenceId="m")
    assert total(lineage_of(joined)) == (5, 0, 0)
    alone = claude("a", none())
    alone.call(5, inferenceId="m")
    alone.call(5, inferenceId="m")
    assert total(lineage_of(alone)) == (5, 0, 0)
    torn = claude("a", none())
    torn.call(5, inferenceId="m", request="q1")
    torn.call(6, inferenceId="m", request="q2")
    torn.call(7, inferenceId="m")
    lineage = lineage_of(torn)
    assert total(lineage) == (11, 0, 0)
    assert notes(lineage) == {"call-of-several"}


def test_an_earlier_snapshot_elsewhere_gives_way():
    """A copy made while the call went on holds what is superseded in the other session."""
    grown, early = claude("a"), claude("b")
    first = grown.call(5, inferenceId="m", request="q")
    grown.call(9, inferenceId="m", request="q", supersedes=first)
    early.call(5, inferenceId="m", request="q")
    lineage = lineage_of(grown, early)
    assert total(lineage) == (0, 0, 9)
    assert "shared-calls-differ" not in notes(lineage)


def test_an_earlier_snapshot_is_one_in_everything():
    """With the tokens of a superseded revision and another cost it is none."""
    grown, early = claude("a"), claude("b")
    costs = [[{"amount": amount, "currency": "USD"}] for amount in "123"]
    first = grown.call(5, inferenceId="m", request="q", cost=costs[0])
    grown.call(9, inferenceId="m", request="q", supersedes=first, cost=costs[1])
    early.call(5, inferenceId="m", request="q", cost=costs[2])
    assert total(lineage_of(grown, early)) == (0, 0, 0)


def test_unlike_snapshots_count_for_what_they_agree_on():
    """Where none is a revision of the other, nothing is chosen."""
    one, other = claude("a"), claude("b")
    one.call(usage=usage(5, fresh=2), inferenceId="m", request="q")
    other.call(usage=usage(6, fresh=2), inferenceId="m", request="q")
    lineage = lineage_of(one, other)
    found = lineage.totals.total.unknown
    assert (found.output_tokens, found.input_tokens, found.calls) == (0, 2, 1)
    assert "shared-calls-differ" in notes(lineage)


def test_snapshots_that_supersede_each_other_crosswise_are_not_chosen():
    """If each is an earlier one somewhere, both stay."""
    one, other = claude("a"), claude("b")
    first = one.call(5, inferenceId="m", request="q")
    one.call(9, inferenceId="m", request="q", supersedes=first)
    first = other.call(9, inferenceId="m", request="q")
    other.call(5, inferenceId="m", request="q", supersedes=first)
    assert total(lineage_of(one, other)) == (0, 0, 0)


def test_disputed_calls_are_shared_too():
    """A call of several records in one session and one in another is still one."""
    one, other = claude("a"), claude("b")
    for _ in range(2):
        one.call(5, inferenceId="m", request="q")
    other.call(5, inferenceId="m", request="q")
    lineage = lineage_of(one, other)
    assert total(lineage) == (0, 0, 5)
    assert row(lineage, "claude-code:a") == (0, 0, 5)
    for _ in range(2):
        one.call(3, inferenceId="n", request="q")
        one.call(4, inferenceId="o")
    assert total(lineage_of(one, other)) == (0, 0, 5 + 3 + 4)


@pytest.mark.parametrize(
    ("agent", "members"),
    [
        ("claude-code", {"idSource": "derived"}),
        ("claude-code", {"request": None}),
        ("goose", {}),
        ("com.example.other", {}),
    ],
)
def test_disputed_calls_of_the_sessions_own_are_not_shared(agent, members):
    """A derived ID, or one that is not known to be unique, is another in another session."""
    streams = [Stream(f"{agent}:{name}", none()) for name in "ab"]
    for stream in streams:
        for _ in range(2):
            stream.call(5, inferenceId="m", **{"request": "q", **members})
    lineage = lineage_of(*streams)
    assert total(lineage) == (10, 0, 0)
    assert lineage.totals.total.original.calls == 2


def test_the_registry_says_whether_requests_tell_calls_apart():
    """Of Claude they do; of Codex the ID alone says which call it is."""
    for agent, expected in (("claude-code", 10), ("codex", 5)):
        stream = Stream(f"{agent}:a", none())
        for request in ("q1", "q2"):
            stream.call(5, inferenceId="m", request=request)
        assert total(lineage_of(stream)) == (expected, 0, 0)


def test_both_sides_of_a_conflict_are_unknown():
    """Neither capture is preferred, and what the provider identifies counts once."""
    one, other = claude("a", none()), claude("a", none())
    for stream, out in ((one, 3), (other, 4)):
        stream.call(5, inferenceId="m", request="q")
        stream.call(out, inferenceId=f"own{out}", request="q")
    lineage = lineage_of(one, other)
    assert row(lineage, "claude-code:a") == total(lineage) == (0, 0, 12)
    assert lineage.totals.total.unknown.calls == 3
    assert "identity-conflict" in notes(lineage)


def test_a_conflict_is_named_with_its_files(tmp_path):
    """Whatever the sessions claim; inputs without a name are called inputs."""
    one, other = Stream("a", None), Stream("a", None)
    one.call(3)
    other.call(4)
    for name, stream in (("x.jsonl", one), ("y.jsonl", other)):
        (tmp_path / name).write_bytes(stream.text())
    found = sr.Scope.read([tmp_path]).totals().notes
    (note,) = (note for note in found if note.code == "identity-conflict")
    assert "x.jsonl" in note.message
    assert "y.jsonl" in note.message
    assert "identity-conflict" in notes(lineage_of(one, other))


def test_a_capture_again_counts_once():
    """Equal captures and beginnings of one are one session, the longest of which is read."""
    stream = Stream("a", none())
    stream.call(5)
    early = stream.text()
    stream.call(3)
    assert total(lineage_of(stream, early, stream)) == (8, 0, 0)


def test_segments_are_one_session():
    """Pages of one session share its lineage, its prefix and its calls."""
    first = Stream("a", copied("r2"), segment={"id": "s1"})
    first.call(1, inferenceId="x")
    first.call(2, inferenceId="y")
    first.call(3, inferenceId="z")
    second = Stream("a", None, segment={"id": "s2", "after": "s1"})
    second.records[0]["id"] = "h2"
    second.add("inference", id="n1", inferenceId="z", supersedes="r3", usage=usage(4))
    second.add("inference", id="n2", inferenceId="w", usage=usage(5))
    lineage = lineage_of(first, second)
    session = lineage.by_key["codex:a"]
    assert len(session.accounts[0].account.captures) == 2
    assert not session.conflict
    assert row(lineage, "a") == (9, 3, 0)
    assert session.records == (3, 2, 0)
    reverse = Stream("a", copied("n1"), segment={"id": "s1"})
    reverse.call(1, inferenceId="x")
    assert row(lineage_of(reverse, second), "a") == (5, 5, 0)
    lost = Stream("a", copied("gone"), segment={"id": "s1"})
    lost.call(1, inferenceId="x")
    assert row(lineage_of(lost, second), "a") == (0, 0, 10)
    plain = Stream("a", none(), segment={"id": "s1"})
    plain.call(1, inferenceId="x")
    assert row(lineage_of(plain, second), "a") == (10, 0, 0)
    unsaid = Stream("a", None, segment={"id": "s1"})
    unsaid.call(1, inferenceId="x")
    assert row(lineage_of(unsaid, second), "a") == (0, 0, 10)


def test_streams_without_a_session_count_as_unknown():
    """They are in no session's row, and in the total."""
    broken = Stream("a", none())
    del broken.records[0]["sessionId"]
    broken.call(5)
    broken.add("usage", covers="turn", turnId="t9", usage=usage(2))
    lineage = lineage_of(broken)
    assert [one.session for one in lineage.totals.sessions] == [None]
    assert total(lineage) == (5, 0, 0)
    assert [one.name for one in lineage.totals.by("family")] == [None]


# -- Groups ----------------------------------------------------------------------------------------


def grouped(lineage, by):
    return {
        one.name: (one.total.original.output_tokens, one.total.unknown.output_tokens)
        for one in lineage.totals.by(by)
    }


def test_totals_by_anything():
    """Session, family, agent, UTC day, model; what is not said is None, last."""
    parent, child = claude("p", none()), Stream("c", none(spawnedBy=named("claude-code:p")))
    parent.call(1, ts="2026-10-26T23:59:59Z", model={"provider": "x", "id": "opus"})
    parent.call(2, ts="2026-10-26T23:59:59-02:00", model={"id": "opus"})
    child.call(4, ts="2026-10-27T00:00:00.5+00:00", model={"id": "gpt"})
    child.call(8, ts="2026-10-27T00:00:00", model={"id": 5})
    child.call(16, ts="yesterday", model="gpt")
    child.call(32, ts="0001-01-01T00:00:00+14:00")
    child.call(64, ts=5, model={})
    lineage = lineage_of(parent, child, Stream("lone"))
    assert grouped(lineage, "session") == {
        "claude-code:p": (3, 0),
        "codex:c": (124, 0),
        "codex:lone": (0, 0),
    }
    assert grouped(lineage, "family") == {"claude-code:p": (127, 0)}
    assert grouped(lineage, "agent") == {"claude-code": (3, 0), "codex": (124, 0)}
    assert grouped(lineage, "day") == {
        "2026-10-26": (1, 0),
        "2026-10-27": (6, 0),
        None: (120, 0),
    }
    assert grouped(lineage, "model") == {"gpt": (4, 0), "opus": (3, 0), None: (120, 0)}
    assert list(grouped(lineage, "day"))[-1] is None
    assert lineage.totals.of(["codex:c", "nobody"]).original.output_tokens == 124


def test_groups_count_a_shared_call_once_each():
    """In a family once, in a total once, in a day and a model only where all agree on it."""
    streams = [claude(name, {"spawnedBy": named(CLAUDE + up)}) for name, up in ("ap", "bp", "cq")]
    for at, stream in enumerate(streams):
        stream.call(
            5,
            inferenceId="m",
            request="q",
            model={"id": "opus"},
            ts=f"2026-10-2{at}T00:00:00Z",
        )
    lineage = lineage_of(*streams)
    assert grouped(lineage, "family") == {"claude-code:p": (0, 5), "claude-code:q": (0, 5)}
    assert grouped(lineage, "agent") == {"claude-code": (0, 5)}
    assert grouped(lineage, "model") == {"opus": (0, 5)}
    assert grouped(lineage, "day") == {None: (0, 5)}
    assert lineage.totals.of(["claude-code:a", "claude-code:b"]).unknown.output_tokens == 5
    assert lineage.totals.of(["codex:z"]).unknown.output_tokens == 0


def test_the_order_of_streams_does_not_matter():
    """Totals, rows and notes are the same however the streams come."""
    streams = [claude("a", none()), claude("b"), claude("c"), claude("d", copied("r1"))]
    for at, stream in enumerate(streams):
        stream.call(at, inferenceId="m", request="q")
        stream.call(7, inferenceId="n", request="q")
    first = lineage_of(*streams).totals
    for seed in range(6):
        random.Random(seed).shuffle(streams)  # noqa: S311
        again = lineage_of(*streams).totals
        assert again.total == first.total
        assert again.sessions == first.sessions
        assert again.notes == first.notes
        assert again.by("day") == first.by("day")


def test_notes_are_sentences():
    """With the session in front, where one is meant."""
    stream = Stream("a")
    stream.call(5)
    other = Stream("b")
    other.call(5, inferenceId="codex:a/1")
    texts = [str(note) for note in lineage_of(stream, other).totals.notes]
    assert texts[0] == (
        "codex:a: 1 record(s) may be copies: the session does not say what it inherits"
    )
    assert texts[-1].startswith("1 model call(s) stand in several sessions")


def test_times_and_models_that_are_no_text():
    """Bytes that are no UTF-8 are in no day and of no model; the call counts."""
    stream = Stream("a", none())
    stream.call(5, ts="X", model={"id": "Y"})
    stream.call(6, ts="2026-10-26T00:00:00Z", model={"id": "m"})
    stream.call(7, ts="2026-10-26T01:00:00+00:00", model={"id": "m", "provider": "p"})
    text = stream.text().replace(b'"X"', b'"\xff"').replace(b'"Y"', b'"\xff"')
    lineage = lineage_of(text)
    assert grouped(lineage, "day") == {"2026-10-26": (13, 0), None: (5, 0)}
    assert grouped(lineage, "model") == {"m": (13, 0), None: (5, 0)}
