"""Files: fetching records, and following a file that grows or is replaced."""

from __future__ import annotations

import gzip
import io
import os
from itertools import pairwise

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

import sessionref as sr
from sessionref.streams import index as index_module
from sessionref.streams.index import read_header, read_streams


def state(read):
    """All that an index says."""
    return list(read), read.findings, {ref: read.resolve(ref) for ref in read.refs()}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "stream"


@pytest.fixture(scope="session")
def note(record):
    return lambda seq, **members: record("note", seq, f"r{seq}", **members)


@pytest.mark.parametrize("compress", [bytes, gzip.compress, zstandard.ZstdCompressor().compress])
def test_a_record_is_fetched_from_its_place(path, stream, note, line, compress):
    """The bytes of the record and nothing else, from plain and compressed files."""
    records = [note(i, text="é" * i * 3000) for i in range(1, 40)]
    path.write_bytes(compress(stream(*records)))
    read = sr.StreamIndex.read(path)
    assert read.file == str(path)
    for record, hit in zip(records, list(read)[1:], strict=True):
        assert read.fetch(hit) + b"\n" == line(record)


def test_fetching_reads_no_more_than_the_record(path, stream, note, monkeypatch):
    """A record of a plain file costs one read at its offset."""
    path.write_bytes(stream(*[note(i) for i in range(1, 5000)]))
    read = sr.StreamIndex.read(path)
    hit = list(read)[4000]
    reads = []
    real = os.read
    monkeypatch.setattr("os.read", lambda fd, size: reads.append(size) or real(fd, size))
    read.fetch(hit)
    assert reads == [hit.length]


def test_a_record_that_is_gone_is_not_fetched(path, stream, note):
    """Another record at the place, or none, is an error and never given for the one asked."""
    path.write_bytes(gzip.compress(stream(note(1))))
    read = sr.StreamIndex.read(path)
    path.write_bytes(gzip.compress(b"short"))
    with pytest.raises(sr.StreamError, match="no longer"):
        read.fetch(list(read)[1])
    path.write_bytes(stream(note(1)))
    read = sr.StreamIndex.read(path)
    hit = list(read)[1]
    for data in (stream(note(2)), stream()):
        path.write_bytes(data)
        with pytest.raises(sr.StreamError) as caught:
            read.fetch(hit)
        assert caught.value.code == "replaced"


def test_what_is_no_path_is_not_fetched_nor_extended(stream, note):
    """Chunks and file objects are read once."""
    read = sr.StreamIndex.read(io.BytesIO(stream(note(1))), file="given")
    assert read.file == "given"
    for use in (read.extend, lambda: read.fetch(next(iter(read)))):
        with pytest.raises(sr.StreamError) as caught:
            use()
        assert caught.value.code == "no-file"


@given(data=st.data())
def test_extending_equals_reading_again(tmp_path_factory, stream, note, data):
    """However a file grows, the extended index says what a new one would."""
    whole = stream(
        note(1, turnId="t"),
        b"\n",
        b"oops\n",
        note(2, supersedes="r1", turnId="t"),
        note(3, supersedes="r9"),
        b'{"type":"message","seq":4,"id":"r4","messageId":"m"}\r\n',
        b"\0\0\n",
        b'{"type":"note","seq":5,"id":"\xff"}\n',
        b"x" * 300 + b"\n",
        note(3),
    )
    stops = sorted(data.draw(st.sets(st.integers(0, len(whole)), min_size=1)) | {len(whole)})
    path = tmp_path_factory.mktemp("grows") / "stream"
    path.write_bytes(whole[: stops[0]])
    read = sr.StreamIndex.read(path, max_line=250)
    for start, stop in pairwise(stops):
        with path.open("ab") as file:
            file.write(whole[start:stop])
        before = state(read)
        grown = read.extend()
        again = sr.StreamIndex.read(path, max_line=250)
        assert state(read) == state(again)
        assert grown in ("extended", "replaced") or before == state(again)
        assert read.extend() == "unchanged"


def test_only_what_was_appended_is_read(path, stream, note, line, monkeypatch):
    """S-02, S-04: the work follows what changed, not the size of the file."""
    path.write_bytes(stream(*[note(i, text="x" * 1000) for i in range(1, 3000)]))
    read = sr.StreamIndex.read(path)
    with path.open("ab") as file:
        file.write(line(note(3000)))
    sizes = []
    real = os.read

    def count(fd, size):
        data = real(fd, size)
        sizes.append(len(data))
        return data

    monkeypatch.setattr("os.read", count)
    assert read.extend() == "extended"
    assert sum(sizes) < 300_000 < path.stat().st_size
    assert read.resolve(sr.RecordRef("r3000")).exact


def test_an_unchanged_file_is_not_opened(path, stream, monkeypatch):
    """S-01: nothing but one call for its status."""
    path.write_bytes(stream())
    read = sr.StreamIndex.read(path)

    def refuse(*_):
        raise AssertionError

    monkeypatch.setattr(index_module, "OpenFile", refuse)
    assert read.extend() == "unchanged"


def test_a_touched_file_is_unchanged(path, stream, note):
    """A new time alone is no change."""
    path.write_bytes(stream(note(1)))
    read = sr.StreamIndex.read(path)
    os.utime(path, (1, 1))
    assert read.extend() == "unchanged"
    assert len(read) == 2


def test_a_torn_tail_is_read_when_it_is_whole(path, stream, note, line):
    """A line without newline is not passed over before it has one."""
    whole = line(note(1))
    path.write_bytes(stream() + whole[:20])
    read = sr.StreamIndex.read(path)
    assert [(f.code, f.severity) for f in read.findings] == [("torn-tail", "notice")]
    with path.open("ab") as file:
        file.write(whole[20:-1])
    assert read.extend() == "extended"
    assert (len(read), read.findings) == (2, ())
    with path.open("ab") as file:
        file.write(b"\n")
    read.extend()
    assert (len(read), read.findings) == (2, ())


@pytest.mark.parametrize("way", ["renamed", "shorter", "same length", "longer"])
def test_X_13_a_replaced_file_is_noticed(path, stream, note, way):
    """X-13: another inode, a shorter file, or one that begins otherwise is read from its start."""
    path.write_bytes(stream(note(1), note(2)))
    read = sr.StreamIndex.read(path)
    data = {
        "renamed": stream(note(1), note(2), note(3)),
        "shorter": stream(note(3)),
        "same length": stream(note(1), note(3)),
        "longer": stream(note(4), note(5), note(6)),
    }[way]
    other = path.with_name("other")
    if way == "renamed":
        other.write_bytes(data)
        other.rename(path)
    else:
        path.write_bytes(data)
        os.utime(path, (1, 1))
    assert read.extend() == "replaced"
    assert state(read) == state(sr.StreamIndex.read(path))


def test_a_compressed_file_is_read_again(path, stream, note):
    """What was appended to compressed data cannot be read alone."""
    path.write_bytes(gzip.compress(stream(note(1))))
    read = sr.StreamIndex.read(path)
    with path.open("ab") as file:
        file.write(gzip.compress(b'{"type":"note","seq":2,"id":"r2"}\n'))
    assert read.extend() == "replaced"
    assert [hit.id for hit in read] == ["h", "r1", "r2"]


def test_an_empty_file_that_is_filled_was_extended(path, stream, note):
    """There was nothing to be replaced."""
    path.touch()
    read = sr.StreamIndex.read(path)
    assert [f.code for f in read.findings] == ["no-header"]
    path.write_bytes(stream(note(1)))
    assert read.extend() == "extended"
    assert read.session == "codex:s1"


def test_a_file_that_is_gone(path, stream):
    """The index stays as it was."""
    path.write_bytes(stream())
    read = sr.StreamIndex.read(path)
    path.unlink()
    with pytest.raises(sr.StreamError) as caught:
        read.extend()
    assert caught.value.code == "no-such-file"
    assert len(read) == 1


def test_a_tail_that_was_a_header(path, stream, note, line):
    """The header may be the line that is still being written."""
    path.write_bytes(b"\n" + stream()[:-1])
    read = sr.StreamIndex.read(path)
    assert read.session == "codex:s1"
    with path.open("ab") as file:
        file.write(b"\n" + line(note(1)))
    assert read.extend() == "extended"
    assert [hit.id for hit in read] == ["h", "r1"]


def test_an_appended_header_is_refused(path, stream, note):
    """The index keeps to its stream: records before the other header are added, the rest refused."""
    path.write_bytes(stream(note(1)))
    read = sr.StreamIndex.read(path)
    with path.open("ab") as file:
        file.write(b'{"type":"note","seq":2,"id":"r2"}\n' + stream(note(1)))
    for _ in range(2):
        with pytest.raises(sr.StreamError) as caught:
            read.extend()
        assert caught.value.code == "several-streams"
        assert [hit.id for hit in read] == ["h", "r1", "r2"]
    first, second = read_streams(path)
    assert [hit.id for hit in second] == ["h", "r1"]
    assert second.fetch(list(second)[1]) == b'{"type":"note","seq":1,"id":"r1"}'
    assert first.extend() == "unchanged"
    os.utime(path, (1, 1))
    with pytest.raises(sr.StreamError, match="second header"):
        first.extend()


def test_S_08_a_header_is_read_alone(path, stream, note, monkeypatch):
    """S-08: of a large file only its beginning is read; of an iterable no more than needed."""
    path.write_bytes(stream(*[note(i, text="x" * 1000) for i in range(1, 2000)]))
    sizes = []
    real = os.read
    monkeypatch.setattr("os.read", lambda fd, size: sizes.append(size) or real(fd, size))
    assert read_header(path).session == "codex:s1"
    assert sum(sizes) < 100_000

    def chunks():
        yield b"oops\n" + b"x" * 2000 + b"\n\n" + stream(note(1))
        raise AssertionError

    header = read_header(chunks(), file="f", max_line=1000)
    assert header.session == "codex:s1"
    assert [(f.code, f.line, f.file, f.session) for f in header.findings] == [
        ("not-json", 1, "f", "codex:s1"),
        ("line-too-long", 2, "f", "codex:s1"),
        ("blank-line", 3, "f", "codex:s1"),
    ]


@pytest.mark.parametrize("data", [b"", b"oops\n", b'{"type":"note","seq":1,"id":"r"}\n'])
def test_where_there_is_no_header(data):
    """It is a finding, whatever stands there instead."""
    header = read_header([data])
    assert header.key is None
    assert header.findings[-1].code == "no-header"
