"""Files: fetching records, and reading a header alone."""

from __future__ import annotations

import gzip
import io
import os

import pytest
import zstandard

import sessionref as sr
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


def test_what_is_no_path_is_not_fetched(stream, note):
    """Chunks and file objects are read once."""
    read = sr.StreamIndex.read(io.BytesIO(stream(note(1))), file="given")
    assert read.file == "given"
    with pytest.raises(sr.StreamError) as caught:
        read.fetch(next(iter(read)))
    assert caught.value.code == "no-file"


def test_a_record_of_the_second_stream_of_a_file_is_fetched(path, stream, note):
    """Offsets count from the beginning of the file."""
    path.write_bytes(stream(note(1)) + stream(note(2)))
    _, second = read_streams(path)
    assert second.fetch(list(second)[1]) == b'{"type":"note","seq":2,"id":"r2"}'


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
