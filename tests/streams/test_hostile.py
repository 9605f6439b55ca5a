"""Input made to hurt: linear time, no recursion, no crash."""

from __future__ import annotations

import pytest

import sessionref as sr

MANY = 100_000


def hostile(index, lines):
    return index(b"".join(lines))


def revision(n: int, supersedes: str | None, id_: str | None = None) -> bytes:
    text = f'{{"type":"tool_call","seq":{n},"id":"{id_ or f"r{n}"}","callId":"c"'
    if supersedes is not None:
        text += f',"supersedes":"{supersedes}"'
    return text.encode() + b"}\n"


def test_a_line_of_forty_megabytes(index):
    """It is read like any other, in one chunk and in many."""
    line = b'{"type":"note","seq":1,"id":"r1","text":"' + b"x" * 40_000_000 + b'"}\n'
    assert [hit.length for hit in index(line)][1:] == [len(line) - 1]
    pieces = (line[i : i + 1000] for i in range(0, len(line), 1000))
    assert [hit.length for hit in sr.StreamIndex.from_chunks(pieces)] == [len(line) - 1]


def test_large_bad_lines(index, codes):
    """Neither quotes, brackets nor escapes without end cost more than their length."""
    for piece in (b'"', b"[", b"\\u", b'{"a":', b"\0{", b"\0" + b"{" * 26 + b"}", b"[],"):
        line = b'{"type":"note","seq":1,"id":"r1","x":[' + piece * (4_000_000 // len(piece)) + b"\n"
        assert [line for _, line in codes(index(line))] == [2]


def test_a_hundred_thousand_revisions(index):
    """The deepest chain resolves to its last, and is walked without recursion."""
    read = hostile(index, (revision(n, f"r{n - 1}" if n > 1 else None) for n in range(1, MANY + 1)))
    latest = read.resolve(sr.EntityRef("callId", "c"))
    assert [hit.id for hit in latest.records] == [f"r{MANY}"]
    assert len(read.revisions(latest.first)) == MANY
    assert read.findings == ()


def test_revisions_in_reverse_order(index):
    """The order of lines is not the order of `seq`."""
    lines = [revision(n, f"r{n - 1}" if n > 1 else None) for n in range(1, MANY + 1)]
    read = hostile(index, reversed(lines))
    assert read.resolve(sr.EntityRef("callId", "c")).first.id == f"r{MANY}"
    assert read.findings == ()


def test_a_circle_of_a_hundred_thousand(index):
    """One finding, and nothing is joined."""
    read = hostile(index, (revision(n, f"r{(n - 1) or MANY}") for n in range(1, MANY + 1)))
    assert [(f.code, f.id) for f in read.findings] == [("supersedes-cycle", "r1")]
    assert len(read.resolve(sr.EntityRef("callId", "c")).candidates) == MANY


def test_a_hundred_thousand_that_supersede_one(index):
    """All are latest: ambiguous, one finding."""
    read = hostile(index, (revision(n, "r1" if n > 1 else None) for n in range(1, MANY + 1)))
    assert [f.code for f in read.findings] == ["supersedes-fork"]
    assert len(read.resolve(sr.EntityRef("callId", "c")).candidates) == MANY - 1


@pytest.mark.parametrize("supersedes", [None, "same"])
def test_a_hundred_thousand_records_of_one_id(index, supersedes):
    """All are kept; what names the ID is ambiguous, each once."""
    read = hostile(index, (revision(n, supersedes, "same") for n in range(1, MANY + 1)))
    assert len(read.resolve(sr.RecordRef("same")).candidates) == MANY
    assert len(read.findings) == (MANY - 1) + (MANY if supersedes else 0)


def test_headers_without_end():
    """Each is a stream of its own; one more costs no more than the first."""
    header = b'{"type":"session","seq":0,"id":"h","agent":{"name":"codex"},"sessionId":"s"}\n'
    from sessionref.streams.index import read_streams  # noqa: PLC0415

    assert sum(len(read) for read in read_streams([header * 20_000])) == 20_000


def test_faults_without_end(index):
    """A finding for each line, in linear time."""
    read = index(b"{\n" * MANY, b'{"id":1,"id":2,"seq":1,"type":"n"}\n' * 1000)
    assert len(read.findings) == MANY + 2000


def test_one_byte_at_a_time(stream):
    """Chunks of single bytes cost no more than linear time."""
    line = b'{"type":"note","seq":1,"id":"r1","text":"' + b"x" * 1_000_000 + b'"}\n'
    data = stream(line)
    read = sr.StreamIndex.from_chunks(data[i : i + 1] for i in range(len(data)))
    assert len(read) == 2
