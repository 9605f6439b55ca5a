"""Observers see the records of a stream while it is indexed."""

from __future__ import annotations

import msgspec
import pytest

from sessionref.streams.index import read_streams
from sessionref.streams.json import value
from sessionref.streams.observe import attribute


class Watch:
    """Collects what it sees of some members."""

    members = frozenset({"copiedFrom", "x y", "turnId"})

    def __init__(self):
        self.seen = []

    def see(self, row, types, records, contents):
        assert len(types) == len(records) == len(contents)
        for at, (kind, record, content) in enumerate(zip(types, records, contents, strict=True)):
            assert record.id.encode() in content or record.id == "\\ud800"
            found = {name: getattr(record, attribute(name)) for name in sorted(self.members)}
            self.seen.append(
                (
                    row + at,
                    kind,
                    {
                        name: value(raw) if isinstance(raw, msgspec.Raw) else raw
                        for name, raw in found.items()
                        if raw is not msgspec.UNSET
                    },
                )
            )


def watch(data: bytes):
    return [read.observers[0].seen for read in read_streams([data], observe=lambda: [Watch()])]


def test_each_record_is_seen_once_in_its_stream(stream, record):
    """Rows count from the header of each stream; the members asked for are there, others not."""
    one = record("note", 1, "r1", copiedFrom={"record": "r0"}, turnId="t")
    data = stream(one) + b'{"type":"note","no seq":1}\n' + stream(one, {**one, "x y": [1]})
    first = [(0, "session", {}), (1, "note", {"copiedFrom": {"record": "r0"}, "turnId": "t"})]
    last = (2, "note", {"copiedFrom": {"record": "r0"}, "turnId": "t", "x y": [1]})
    assert watch(data) == [first, [*first, last]]


@pytest.mark.parametrize(
    ("line", "seen"),
    [
        (rb'{"type":"n","seq":1,"id":"r1","copiedFrom":"\ud800"}', {"copiedFrom": "\ud800"}),
        (b'{"type":"n","seq":1,"id":"r1","copiedFrom":"\xff"}', {"copiedFrom": "\udcff"}),
        (b'{"type":"n","seq":1,"id":"r1","id":"r1","copiedFrom":2}', {"copiedFrom": 2}),
        (rb'{"type":"n","seq":1,"id":"\ud800","copiedFrom":2}', {"copiedFrom": 2}),
        (rb'{"type":"n","seq":1,"id":"\ud800"}', {}),
        (rb'{"type":"n","seq":1,"id":"r1","\ud800":1,"copiedFrom":[2]}', {"copiedFrom": [2]}),
    ],
)
def test_records_of_bad_lines_are_seen_too(stream, line, seen):
    """The careful way of reading gives the same members."""
    assert [found for _, _, found in watch(stream(line + b"\n"))[0]][1:] == [seen]


def test_the_columns_of_an_index(index, record):
    """What is built on an index sees rows: of an ID, an entity, a turn; and what each record is."""
    read = index(
        record("tool_call", 1, "r1", callId="c", turnId="t"),
        record("tool_call", 2, "r2", callId="c", turnId="t", supersedes="r1"),
    )
    assert list(read.rows_of(None, "r1")) == [1]
    assert list(read.rows_of("callId", "c")) == [2]
    assert list(read.rows_of("noId", "c")) == []
    assert list(read.rows_of("turnId", "t")) == [1, 2]
    assert (list(read.seqs), read.turns, read.values) == (
        [0, 1, 2],
        [None, "t", "t"],
        [None, "c", "c"],
    )
    assert read.place(2) == read.hit(2).place == ("codex:s1", 2, "r2", None, 3)
    assert (dict(read.supersedes()), dict(read.superseded)) == ({2: "r1"}, {1: [2]})
    assert read.row(read.hit(2)) == 2
