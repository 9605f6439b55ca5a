"""Which members records are decoded with, and that nobody can tell from what is read."""

from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessionref.streams import kinds
from sessionref.streams.decode import LineDecoder
from sessionref.streams.index import read_streams
from sessionref.streams.lines import Lines
from sessionref.streams.observe import attribute, held

WANTED = frozenset({"copiedFrom", "x y", "type"})


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    """Each test begins as the first stream of a process does."""
    monkeypatch.setattr(kinds, "_handed_on", {})


def decode(*lines: bytes, decoder: LineDecoder | None = None):
    decoder = LineDecoder(members=WANTED) if decoder is None else decoder
    return decoder.decode(Lines(list(lines), 2, 0, True)).records


def members(record) -> dict[str, bytes]:
    found = {name: getattr(record, attribute(name)) for name in sorted(WANTED - {"type"})}
    return {name: bytes(raw) for name, raw in found.items() if raw is not msgspec.UNSET}


def test_what_no_record_has_is_no_field(line, record):
    """A member that is looked for is absent from records, and costs nothing until one has it."""
    decoder = LineDecoder(members=WANTED)
    plain, marked = line(record("n", 1, "r1")), line(record("n", 2, "r2", copiedFrom={}))
    (first,) = decode(plain, decoder=decoder)
    assert (members(first), "copiedFrom" in held([first])) == ({}, False)
    assert (first.plan_id, first.supersedes, "planId" in held([first])) == (
        msgspec.UNSET,
        msgspec.UNSET,
        False,
    )
    second, third = decode(plain, marked, decoder=decoder)
    assert (members(second), members(third)) == ({}, {"copiedFrom": b"{}"})
    assert "copiedFrom" in held([first, third])


def test_a_stream_begins_with_the_names_of_the_last_one(line, record):
    """Names are handed on to readers that look for the same members, and to no others."""
    decode(line(record("n", 1, "r1", copiedFrom={}, colour="red")))
    (seen,) = decode(line(record("n", 1, "r1")))
    assert {"copiedFrom", "colour"} <= held([seen])
    (other,) = decode(line(record("n", 1, "r1")), decoder=LineDecoder())
    assert "colour" not in held([other])


def test_too_many_names_are_not_handed_on(line, record):
    """A stream of very many different members does not make those after it slow."""
    decode(*(line(record("n", i, f"r{i}", **{f"m{i}": 1})) for i in range(200)))
    (seen,) = decode(line(record("n", 1, "r1")))
    assert len(held([seen])) < 20


def test_many_kinds_of_readers_are_not_all_remembered(line, record):
    """Names are kept for so many sets of wanted members, and no more."""
    for number in range(100):
        wanted = LineDecoder(members=frozenset({f"w{number}"}))
        decode(line(record("n", 1, "r1", colour=1)), decoder=wanted)
    assert len(kinds._handed_on) == 64


def test_names_stand_behind_their_predecessors():
    """New names are put where the first record that has them has them."""
    names = ("type", "seq", "id", "content")
    records = [["type", "at", "seq", "odd"], ["id", "more", "content", "end"], ["at", "begin"]]
    new = frozenset({"at", "more", "end", "begin"})
    assert kinds.extended(names, records, new) == (
        *("type", "at", "begin", "seq", "id", "more", "content", "end"),
    )


def test_a_wanted_member_is_seen_among_names_that_are_not_learned(line, record):
    """Where no more names are learned, what somebody looks for is still not passed over."""
    decoder = LineDecoder(members=WANTED)
    decode(*(line(record("n", i, f"r{i}", **{f"m{i}": 1})) for i in range(400)), decoder=decoder)
    last = line(record("plan", 1, "r1", **{"m 399": 1, "x y": [7], "copiedFrom": 1, "planId": "p"}))
    (seen,) = decode(last, decoder=decoder)
    assert (members(seen), seen.plan_id) == ({"copiedFrom": b"1", "x y": b"[7]"}, "p")


NAMES = ["turnId", "messageId", "supersedes", "copiedFrom", "x y", "a", "b", "\ud800", "ts"]
RECORDS = st.lists(st.dictionaries(st.sampled_from(NAMES), st.sampled_from(["r1", "", None, 7])))


def written(record) -> bytes:
    return json.dumps(record, separators=(",", ":")).encode() + b"\n"


class Watch:
    members = WANTED

    def __init__(self):
        self.seen = []

    def see(self, row, types, records, contents):
        assert row == len(self.seen)
        assert len(types) == len(records) == len(contents)
        assert held(records) >= {"type", "seq", "id"}
        self.seen += [members(record) for record in records]


def read(data: bytes):
    (index,) = read_streams([data], observe=lambda: [Watch()])
    return index.observers[0].seen, list(index), index.findings, index.turns, index.values


@given(before=RECORDS, records=RECORDS)
def test_what_was_read_before_changes_nothing(before, records):
    """A stream is read the same after any other, and as the first."""

    def stream(members):
        header = {"type": "session", "seq": 0, "id": "h", "agent": {"name": "codex"}}
        lines = [{**header, "sessionId": "s"}]
        lines += [{"type": "message", "seq": n, "id": f"r{n}", **m} for n, m in enumerate(members)]
        return b"".join(written(one) for one in lines)

    kinds._handed_on.clear()
    first = read(stream(records))
    kinds._handed_on.clear()
    read(stream(before))
    assert read(stream(records)) == first
