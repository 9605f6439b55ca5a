"""Chunks to lines."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from sessionref.streams.lines import Lines, Oversize, cut_lines


def flat(pieces):
    """One (number, offset, content or length, complete) for each line."""
    for piece in pieces:
        if isinstance(piece, Oversize):
            yield piece.number, piece.offset, piece.length, piece.complete
            continue
        offset = piece.offset
        for number, line in enumerate(piece.lines, piece.number):
            yield number, offset, line, piece.complete
            offset += len(line)


def model(data: bytes, max_line: int):
    offset = 0
    for number, line in enumerate(data.split(b"\n"), 1):
        complete = offset + len(line) < len(data)
        if complete or line:
            whole = line + b"\n" * complete
            yield number, offset, len(line) if len(line) > max_line else whole, complete
        offset += len(line) + 1


@given(
    data=st.lists(st.sampled_from([b"\n", b"a", b"bc", b"\r\n", b"\0" * 9])).map(b"".join),
    cuts=st.lists(st.integers(1, 9)),
    max_line=st.sampled_from([0, 1, 3, 5, 1000]),
)
def test_where_chunks_are_cut_does_not_matter(data, cuts, max_line):
    """Number, offset and content of each line are those of the whole, whatever the chunks."""
    chunks, rest = [], data
    for cut in cuts:
        chunks.append(rest[:cut])
        rest = rest[cut:]
    chunks.append(rest)
    wanted = list(model(data, max_line))
    assert list(flat(cut_lines(chunks, max_line=max_line))) == wanted
    assert list(flat(cut_lines([data], max_line=max_line))) == wanted


def test_one_byte_at_a_time():
    """Single bytes give the same lines."""
    data = b"one\n\ntwo\r\nthree"
    single = [data[i : i + 1] for i in range(len(data))]
    assert list(flat(cut_lines(single))) == list(model(data, 1000))


def test_reading_can_begin_anywhere():
    """Line and offset count on from where they are told to."""
    assert list(cut_lines([b"x\n"], number=7, offset=90)) == [Lines([b"x\n"], 7, 90, True)]


def test_many_lines_come_in_batches():
    """A large chunk is handed on in pieces, in order and without a gap."""
    data = b"0123456789\n" * 50_000
    batches = list(cut_lines([data]))
    assert len(batches) > 1
    assert [line for batch in batches for line in batch.lines] == data.splitlines(keepends=True)
    assert all(a.offset + sum(map(len, a.lines)) == b.offset for a, b in pairwise(batches))
