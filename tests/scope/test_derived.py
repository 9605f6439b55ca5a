"""Derived identifiers: what they are made of, and what is refused (ASR-067 to 071)."""

from __future__ import annotations

import datetime as dt
import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sessionref as sr
from sessionref.registry import Registry
from sessionref.scope.derived import (
    REFUSALS,
    Derivation,
    Derived,
    Documented,
    Index,
    Line,
    NativeId,
    NativeTime,
    Observed,
    Ordinal,
    Refused,
    Row,
    Tag,
)

CODEX = Registry.default()["codex"]
ONE = Derivation("1")

texts = st.text(min_size=1)
numbers = st.integers(min_value=0, max_value=10**6)
parts = st.one_of(
    st.builds(NativeId, texts),
    st.builds(Tag, texts),
    *(st.builds(kind, numbers, st.booleans()) for kind in (Ordinal, Line, Row, Index)),
    st.builds(Observed, numbers),
)


def refused(*given_parts, version="1"):
    with pytest.raises(Refused) as caught:
        Derivation(version).id(*given_parts)
    assert str(caught.value) == REFUSALS[caught.value.code]
    return caught.value.code


def test_the_same_parts_give_the_same_id():
    """An ID says its version and its parts, and is marked derived (ASR-067, 069)."""
    made = ONE.id(NativeId("msg 01"), Ordinal(3, rewritable=False), Tag("tool_call"))
    assert str(made) == "1/id.msg~2001/ordinal.3/tag.tool_call"
    assert made.members() == {"idSource": "derived"}
    assert str(ONE.id(NativeId("a\u00a0b\ud800"))) == "1/id.a~C2~A0b~ED~A0~80"
    assert Derivation("2").id(NativeId("msg 01"), Ordinal(3), Tag("tool_call")) != made
    assert pickle.loads(pickle.dumps(made)) == made


@given(st.lists(parts, min_size=1, max_size=4), st.lists(parts, min_size=1, max_size=4))
def test_other_parts_give_another_id(one, other):
    """Two IDs are equal exactly where all parts are; rewritability aside."""

    def shape(of):
        return [(type(part), part.value) for part in of]

    try:
        first, second = ONE.id(*one), ONE.id(*other)
    except Refused as error:
        assert error.code == "no-basis"
        return
    assert (first.value == second.value) == (shape(one) == shape(other))


@given(st.lists(parts, min_size=1, max_size=4))
def test_a_derived_id_can_stand_in_a_reference(made_of):
    """It needs no encoding as a record ID, so that it is one everywhere."""
    try:
        made = ONE.id(*made_of).value
    except Refused:
        return
    if any(0xD800 <= ord(c) <= 0xDFFF for c in made):  # pragma: no cover - none are left
        raise AssertionError
    ref = sr.parse(f"codex:s#{made}")
    assert ref.ref == sr.RecordRef(made)


def test_positions_that_the_source_rewrites_hold_for_one_capture():
    """Rewritable and observed positions make the ID capture-scoped (ASR-070)."""
    lasting = Line(3, rewritable=False)
    assert ONE.id(lasting).scope == lasting.scope == "session"
    for part in (Line(3), Row(1), Index(0), Ordinal(2), Observed(0)):
        made = ONE.id(NativeId("x"), part)
        assert made.members() == {"idSource": "derived", "idScope": "capture"}


@pytest.mark.parametrize(
    "part",
    [
        "text",
        7,
        1.5,
        b"bytes",
        Path("logs/x"),
        dt.datetime(2026, 1, 1, tzinfo=dt.UTC),
        None,
        ("a", "b"),
    ],
)
def test_what_has_no_kind_is_refused(part):
    """Paths, times, bare texts and numbers say nothing of what they are (ASR-068)."""
    assert refused(NativeId("x"), part) == "forbidden-part"


def test_a_time_alone_is_no_identity():
    """A time may stand in a documented tuple beside something else, and nowhere else (I-17)."""
    assert refused(NativeTime("1700000000000")) == "time-alone"
    assert refused(NativeId("x"), NativeTime("1700000000000")) == "time-alone"
    goal = Documented(CODEX, "goal", (NativeId("t1"), NativeTime("17")))
    assert str(ONE.id(goal)) == "1/tuple.goal.id.t1.time.17"
    with pytest.raises(Refused, match="time alone"):
        Documented(CODEX, "goal", (NativeTime("1"), NativeTime("2")))


def test_a_tuple_must_be_documented():
    """The registry entry names the item and how many values it takes."""
    for item, values in (("goal", (NativeId("t1"),)), ("other", (NativeId("a"), NativeId("b")))):
        with pytest.raises(Refused) as caught:
            Documented(CODEX, item, values)
        assert caught.value.code == "not-documented"
    with pytest.raises(Refused) as caught:
        Documented(CODEX, "goal", (NativeId("t1"), "17"))
    assert caught.value.code == "forbidden-part"


def test_a_tuple_holds_where_its_entry_and_its_values_do():
    """One value that the source rewrites makes it capture-scoped, and so may the entry."""
    goal = (NativeId("t1"), Line(3))
    assert ONE.id(Documented(CODEX, "goal", goal)).scope == "capture"
    lasting = Documented(CODEX, "goal", (NativeId("t1"), Line(3, rewritable=False)))
    assert ONE.id(lasting).scope == lasting.scope == "session"
    entry = {
        "short_name": {"value": "acme", "source": "assumed"},
        "reverse_dns_name": {"value": "com.acme.agent", "source": "assumed"},
        "derived_ids": [{"item": "row", "values": ["id"], "scope": "capture", "source": "assumed"}],
    }
    acme = Registry.default().with_agent(entry)["acme"]
    assert ONE.id(Documented(acme, "row", (NativeId("a"),))).scope == "capture"


def test_a_tuple_takes_the_scope_of_the_tuple_that_it_is():
    """Of two tuples for one item, the one with as many values is meant."""
    entry = {
        "short_name": {"value": "acme", "source": "assumed"},
        "reverse_dns_name": {"value": "com.acme.agent", "source": "assumed"},
        "derived_ids": [
            {"item": "row", "values": ["id"], "scope": "capture", "source": "assumed"},
            {"item": "row", "values": ["id", "part"], "scope": "session", "source": "assumed"},
        ],
    }
    acme = Registry.default().with_agent(entry)["acme"]
    assert Documented(acme, "row", (NativeId("a"),)).scope == "capture"
    assert Documented(acme, "row", (NativeId("a"), NativeId("b"))).scope == "session"


def test_tags_and_nothing_are_no_basis():
    """A record type alone, or no part at all, does not say which item is meant."""
    assert refused(Tag("tool_call")) == "no-basis"
    assert refused() == "no-basis"


def test_absent_and_wrong_values_are_refused():
    """Empty texts are no values, and positions are whole numbers from 0."""
    for make, code in (
        (lambda: NativeId(""), "empty-part"),
        (lambda: Tag(7), "forbidden-part"),
        (lambda: Line(-1), "bad-position"),
        (lambda: Index(True), "bad-position"),
        (lambda: Row(1.0), "bad-position"),
    ):
        with pytest.raises(Refused) as caught:
            make()
        assert caught.value.code == code


@pytest.mark.parametrize("version", ["", "a/b", "a b", "x" * 40, "-", 7])
def test_a_version_is_a_short_plain_text(version):
    """The version stands in every ID."""
    with pytest.raises(Refused) as caught:
        Derivation(version)
    assert caught.value.code == "bad-version"


def test_colliding_items_get_no_identity():
    """Items that would share an ID are not merged, and none of them gets it (I-17)."""
    made = ONE.assign([[NativeId("a")], [NativeId("b")], [NativeId("a")]])
    assert made == [None, Derived("1/id.b"), None]
