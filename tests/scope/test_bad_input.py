"""Folders and files as nobody wants them: findings, and everything else is done."""

from __future__ import annotations

import os
import socket
import tracemalloc

import pytest
from scope_streams import of_record, scope, stream

import sessionref as sr
from sessionref.scope.scope import StreamScope
from sessionref.scope.sources import is_lasting, open_streams
from sessionref.streams.observe import nobody

NOTE = {"type": "note"}


def codes(found):
    return sorted(finding.code for finding in found.findings)


@pytest.fixture(params=[StreamScope.of, sr.Scope.read], ids=["streams", "any log"])
def kind(request):
    return request.param


def test_a_folder_with_everything_in_it(kind, tmp_path):
    """Devices, sockets, dead links, empty files and other files cost a notice or nothing."""
    (tmp_path / "good.jsonl").write_bytes(stream(NOTE))
    (tmp_path / "empty.jsonl").write_bytes(b"")
    (tmp_path / "README.md").write_text("no stream\n")
    (tmp_path / "blob").write_bytes(bytes(range(256)) * 10)
    (tmp_path / "dead").symlink_to("nowhere")
    (tmp_path / "null").symlink_to("/dev/null")
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "socket"))
        found = kind([tmp_path])
    assert [session.canonical for session in found] == ["codex:s"]
    assert codes(found) == ["special-file"] * 3 + ["unreadable"]
    assert found.passed_over == 3


def test_a_file_that_may_not_be_read(kind, tmp_path, monkeypatch):
    """An unreadable file is one finding, and the others are read."""
    (tmp_path / "a.jsonl").write_bytes(stream(NOTE))
    (tmp_path / "b.jsonl").write_bytes(stream(NOTE, sid="t"))
    really = os.open

    def refuse(path, *args, **options):
        if os.fspath(path).endswith("a.jsonl"):
            raise PermissionError(13, "Permission denied")
        return really(path, *args, **options)

    monkeypatch.setattr(os, "open", refuse)
    found = kind([tmp_path])
    assert [session.canonical for session in found] == ["codex:t"]
    assert [(f.code, f.severity, f.file) for f in found.findings] == [
        ("unreadable", "error", str(tmp_path / "a.jsonl"))
    ]


def test_what_was_named_is_never_passed_over(kind, tmp_path):
    """A file named by hand that is nothing, or not there, is an error; an empty one has no header."""
    (tmp_path / "empty.jsonl").write_bytes(b"")
    found = kind([tmp_path / "empty.jsonl", tmp_path / "gone", "a\0b"])
    assert codes(found) == ["no-header", "unreadable", "unreadable"]
    assert found.passed_over == 0


def test_an_unknown_file_that_was_named_is_an_error(tmp_path):
    """What is no known kind of log says so where it was named."""
    (tmp_path / "x").write_text("no log\n")
    found = sr.Scope.read([tmp_path / "x"])
    assert codes(found) == ["unknown-format"]
    assert codes(sr.Scope.read([tmp_path])) == []


def test_a_stream_with_a_broken_header_is_still_a_stream(tmp_path):
    """A header without session ID costs findings and not the stream."""
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'{"type":"session","seq":0,"id":"h"}\n{"type":"note","seq":1,"id":"r1"}\n')
    found = sr.Scope.read([path])
    assert [len(session) for session in found] == [2]
    assert codes(found) == ["missing-member", "missing-member"]


def test_a_log_of_broken_lines_is_unknown(tmp_path):
    """JSON that is no record decides nothing, however much of it there is."""
    (tmp_path / "x.jsonl").write_bytes(b'{"a":1}\n' * 300)
    assert codes(sr.Scope.read([tmp_path / "x.jsonl"])) == ["unknown-format"]
    (tmp_path / "x.jsonl").write_bytes(b'{"a":1}\n' * 3)
    assert codes(sr.Scope.read([tmp_path / "x.jsonl"])) == ["unknown-format"]


@pytest.mark.slow
def test_fifteen_thousand_tiny_streams(tmp_path):
    """Many small files are read one at a time; what each costs is small."""
    for number in range(15_000):
        (tmp_path / f"{number}.jsonl").write_bytes(stream(NOTE, sid=str(number)))
    tracemalloc.start()
    found = StreamScope.of([tmp_path])
    size = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert (len(found), codes(found)) == (15_000, [])
    assert size < 15_000 * 10_000


@pytest.mark.slow
def test_a_sparse_file_is_never_read_whole(kind, tmp_path):
    """Of a run of NULs longer than memory no more is kept than the bound on lines."""
    path = tmp_path / "sparse.jsonl"
    with path.open("wb") as writing:
        writing.write(stream(NOTE))
        writing.truncate(1 << 28)
        writing.seek(0, os.SEEK_END)
        writing.write(b'\n{"type":"note","seq":2,"id":"r2"}\n')
    tracemalloc.start()
    found = kind([tmp_path], max_line=1 << 20)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 32 << 20
    (session,) = found
    assert len(session) == 3
    assert codes(found) == ["line-too-long"]


def test_a_huge_sparse_file_in_a_folder_is_passed_over(kind, tmp_path):
    """A file of 40 GB that begins with nothing is no stream; it is not read to find that out."""
    with (tmp_path / "huge").open("wb") as writing:
        writing.truncate(40 << 30)
    found = kind([tmp_path])
    assert (len(found), found.passed_over, codes(found)) == (0, 1, [])


def test_a_file_that_grows_while_it_is_read(tmp_path):
    """Each read is of what was there; a torn tail is a notice, and captures still compare."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(stream(NOTE))
    (tmp_path / "b.jsonl").write_bytes(stream(NOTE))

    def grow():
        if path.stat().st_size < 100_000:
            with path.open("ab") as writing:
                writing.write(b'{"type":"note","seq":2,"id":"r2"}\n{"type":')
        return Nobody()

    class Nobody:
        members = frozenset()

        def see(self, row, types, records, contents):
            pass

    found = StreamScope.of([tmp_path], observers=[grow])
    (session,) = found
    assert not session.conflict
    assert set(codes(found)) <= {"torn-tail", "not-json"}


def test_damaged_compression_is_said_of_every_capture(tmp_path):
    """An input that is cut short is a finding although another capture is read instead."""
    import gzip  # noqa: PLC0415

    whole = stream(NOTE, NOTE)
    (tmp_path / "a.jsonl").write_bytes(whole)
    packed = gzip.compress(stream(NOTE) + os.urandom(2000).hex().encode())
    (tmp_path / "b.jsonl.gz").write_bytes(packed[:-400])
    found = StreamScope.of([tmp_path])
    assert "truncated-compression" in codes(found)


def test_observed_members_survive_every_kind_of_line():
    """Careful reading, NULs, a member name that is no UTF-8: references are found in all."""
    reference = b'"to":"r1"}'
    lines = [
        b'{"type":"note","seq":1,"id":"r1"}\n',
        b'{"type":"rewind","seq":2,"id":"a","seq":2,' + reference + b"\n",
        b"\0\0" + b'{"type":"rewind","seq":3,"id":"b",' + reference + b"\n",
        b'{"type":"rewind","seq":4,"id":"c","\xff":1,' + reference + b"\n",
        b'{ "type" : "rewind","seq":5 ,"id":"d",' + reference + b"\r\n",
        b'{"type":"rewind","seq":6,"id":"\\ud800","x":1,"x":2,' + reference + b"\n",
    ]
    found = scope(stream() + b"".join(lines))
    assert [r.outcome.state for r in found.resolutions()] == ["resolved"] * 5


def test_references_that_no_text_can_hold():
    """Lone surrogates and invalid UTF-8 in a reference are faults, and nothing is replaced."""
    lines = (
        b'{"type":"rewind","seq":1,"id":"r1","to":"\\ud800"}\n'
        b'{"type":"rewind","seq":2,"id":"r2","to":"\xff"}\n'
        b'{"type":"subagent","seq":3,"id":"r3","childSession":"codex:\xff"}\n'
    )
    found = scope(stream() + lines)
    assert [r.faults for r in found.resolutions()] == [("bad-reference",)] * 3
    assert [r.error.component for r in found.resolutions()][:2] == ["ref", "ref"]


def test_long_arrays_and_many_types_cost_no_more_than_they_are():
    """A hundred thousand targets in one record, and a type for each record."""
    targets = [f"r{number}" for number in range(100_000)]
    found = scope(stream({"type": "tombstone", "targets": targets}))
    assert sum(1 for _ in found.problems()) == 100_000
    found = scope(stream(*({"type": f"t{number}", "supersedes": "h"} for number in range(3000))))
    assert len(of_record(found, "r2999")) == 1


@pytest.mark.parametrize("path", ["gone", "a\0b"])
def test_what_is_gone_before_it_is_opened(path):
    """A path that cannot be opened any more says so."""
    with pytest.raises(sr.StreamError) as caught:
        list(open_streams(path, observe=nobody, report=print, whole=False, found=False))
    assert (caught.value.code, caught.value.file) == ("unreadable", path)


def test_a_stream_in_a_folder_is_known_by_any_of_its_first_lines(tmp_path):
    """One that begins as an object does is enough; a file without any is passed over."""
    (tmp_path / "a.jsonl").write_bytes(b"garbage\n" + stream())
    (tmp_path / "b.jsonl").write_bytes(b'_{"a":1}\n[1]\n')
    (tmp_path / "c.jsonl").write_bytes(b"\xef\xbb\xbf \t" + stream(sid="t"))
    found = StreamScope.of([tmp_path])
    assert [session.canonical for session in found] == ["codex:s", "codex:t"]
    assert found.passed_over == 1


def test_what_can_be_read_again():
    """Regular files can; pipes, inputs and standard input cannot."""
    assert is_lasting(__file__)
    assert not any(map(is_lasting, ["-", "/dev/null", [b""], "a\0b"]))
