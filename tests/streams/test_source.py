"""Files, file objects and iterables to plain bytes."""

from __future__ import annotations

import gzip
import io
import os
import tracemalloc
import zlib

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

import sessionref as sr
from sessionref.streams.source import OpenFile, plain_chunks, read_chunks

TEXT = b'{"some":"text"}\n' * 5000


def plain(data: bytes, size: int = 1 << 20) -> tuple[bytes, list[str]]:
    findings: list[sr.Finding] = []
    chunks = (data[i : i + size] for i in range(0, len(data), size))
    return b"".join(plain_chunks(chunks, findings, "f")), [f.code for f in findings]


def zstd(data: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(data)


SKIPPABLE = b"\x53\x2a\x4d\x18" + (5).to_bytes(4, "little") + b"ABCDE"


@pytest.mark.parametrize("size", [1, 7, 1 << 20])
@pytest.mark.parametrize(
    "data",
    [
        TEXT,
        gzip.compress(TEXT),
        gzip.compress(TEXT[:999]) + gzip.compress(TEXT[999:]),
        gzip.compress(TEXT) + b"\0" * 3000,
        zstd(TEXT),
        zstd(TEXT[:999]) + zstd(TEXT[999:]),
        SKIPPABLE + zstd(TEXT),
        zstd(TEXT) + SKIPPABLE,
    ],
    ids=["plain", "gzip", "members", "padded", "zstd", "frames", "skippable", "skippable-last"],
)
def test_what_is_compressed_is_told_by_content(data, size):
    """Plain, gzip and zstd data, of one part or several, in chunks of any size, give the text."""
    assert plain(data, size) == (TEXT, [])


@pytest.mark.parametrize("compress", [gzip.compress, zstd])
def test_truncated_data_keep_what_came_before(compress):
    """A file whose end is missing gives its beginning and one finding."""
    noise = b"".join(zlib.crc32(bytes([i % 251, i // 251])).to_bytes(4) for i in range(60_000))
    text, codes = plain(compress(noise)[:-5000])
    assert codes == ["truncated-compression"]
    assert 0 < len(text) < len(noise)
    assert noise.startswith(text)


@pytest.mark.parametrize("compress", [gzip.compress, zstd])
def test_damaged_data_keep_what_came_before(compress):
    """What stands before a damaged place is given, with one finding."""
    good = compress(TEXT)
    assert plain(good + good[:4] + b"\xff" * 40) == (TEXT, ["corrupt-compression"])
    assert plain(good + b"no magic here") == (TEXT, ["corrupt-compression"])


@given(st.binary(max_size=60), st.sampled_from([b"", b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd"]))
def test_no_bytes_raise(data, magic):
    """Arbitrary bytes are given as they are, or give a finding, whatever magic they begin with."""
    text, codes = plain(magic + data)
    assert magic or text == data or codes


@pytest.mark.parametrize("compress", [gzip.compress, zstd])
def test_a_bomb_takes_little_memory(compress):
    """Data that grow a thousandfold are given in pieces."""
    bomb = compress(bytes(100_000_000))
    tracemalloc.start()
    length = sum(len(chunk) for chunk in plain_chunks([bomb], []))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert length == 100_000_000
    assert peak < 50_000_000


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda folder: folder / "absent", "no-such-file"),
        (lambda folder: folder, "not-a-file"),
        (lambda _: "/dev/null", "not-a-file"),
        (lambda _: "nul\0inside", "unreadable"),
    ],
)
def test_what_is_no_file_is_refused(tmp_path, make, code):
    """A path that cannot be read raises our error with a code and the name."""
    with pytest.raises(sr.StreamError) as caught:
        sr.StreamIndex.read(make(tmp_path))
    assert caught.value.code == code
    assert caught.value.file == str(make(tmp_path))


def test_a_pipe_is_not_waited_for(tmp_path):
    """A named pipe that nobody writes to is refused at once."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(sr.StreamError, match="no regular file"):
        sr.StreamIndex.read(tmp_path / "pipe")


def test_a_folder_that_the_system_does_not_open(tmp_path, monkeypatch):
    """Where opening a folder is refused, it is still called one; other refusals have their words."""

    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    (tmp_path / "secret").touch()
    monkeypatch.setattr("os.open", refuse)
    with pytest.raises(sr.StreamError) as caught:
        OpenFile(tmp_path)
    assert caught.value.code == "not-a-file"
    with pytest.raises(sr.StreamError, match="Permission denied") as caught:
        OpenFile(tmp_path / "secret")
    assert caught.value.code == "unreadable"


def test_a_file_that_fails_while_it_is_read(tmp_path, monkeypatch):
    """An error of the disk becomes ours."""
    (tmp_path / "f").write_bytes(b"x")

    def fail(*_):
        raise OSError(5, "Input/output error")

    with OpenFile(tmp_path / "f") as opened:
        monkeypatch.setattr("os.read", fail)
        with pytest.raises(sr.StreamError, match="Input/output error"):
            opened.read_at(0, 1)


class Broken(io.RawIOBase):
    def read(self, _size=-1):
        raise EOFError


@pytest.mark.parametrize("source", [Broken(), io.StringIO("text"), ["text"], [1]])
def test_a_source_that_gives_no_bytes(source):
    """What a file object or an iterable does wrong becomes our error."""
    with pytest.raises(sr.StreamError) as caught:
        list(read_chunks(source))
    assert caught.value.code == "unreadable"


def test_buffers_are_bytes_and_nothing_is_the_end():
    """Any buffer is a chunk, an empty one is passed over, and None ends what has no more."""
    assert list(read_chunks([bytearray(b"a"), b"", memoryview(b"b")])) == [b"a", b"b"]
    assert list(read_chunks(io.BytesIO(b"ab"))) == [b"ab"]
    assert list(read_chunks([b"a", None, b"b"])) == [b"a"]
