"""The facade: streams and native logs under some paths, as one scope."""

from __future__ import annotations

import gzip
import io
import os
from pathlib import Path

import pytest
from cli_logs import CODEX_ID, claude_log, claude_row, codex_log, lines
from lineage_streams import Stream, named, none

import sessionref as sr
from sessionref.lineage.gather import Gathered
from sessionref.streams.index import read_streams

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_forest_and_totals_need_nothing_else():
    """`read`, then ask: what is needed is gathered in the same pass."""
    child = Stream("a", none(spawnedBy=named("p")))
    child.call(3)
    scope = sr.Scope.read([[child.text()]])
    (edge,) = scope.forest().edges
    assert (edge.source, edge.target) == ("codex:a", "codex:p")
    assert scope.totals().total.original.output_tokens == 3
    assert scope.forest() is scope.forest()
    assert scope.totals() is scope.totals()


def test_observers_are_not_doubled():
    """One that is gathered anyway may be named."""
    scope = sr.Scope.read([[Stream("a").text()]], observers=[Gathered])
    (capture,) = scope.captures
    assert isinstance(capture.observed["Gathered"], Gathered)
    assert scope.forest().edges == ()


@pytest.mark.skipif(not EXAMPLES.exists(), reason="needs the checkout")
@pytest.mark.parametrize("how", ["folder", "files", "twice", "objects", "bytes"])
def test_native_logs_say_what_only_the_others_show(how, tmp_path):
    """A fork's copied beginning shows only beside its parent, in whatever order they come."""
    files = sorted((EXAMPLES / "codex").rglob("*.jsonl"), reverse=True)
    if how == "folder":
        sources = EXAMPLES / "codex"
    elif how == "files":
        sources = files
    elif how == "twice":
        link = tmp_path / "again.jsonl"
        link.symlink_to(files[0])
        sources = [*files, files[1], link]
    elif how == "objects":
        sources = [io.BytesIO(file.read_bytes()) for file in files]
    else:
        sources = iter([[gzip.compress(file.read_bytes())] for file in files])
    scope = sr.Scope.read(sources)
    assert list(scope.findings) == []
    assert scope.totals().total.copied.calls == 2
    by_session = {one.session: one.records for one in scope.lineage.sessions}
    assert sum(counts.copied for counts in by_session.values()) == 13


def test_a_named_pipe_is_read_once(tmp_path):
    """It is kept, so that it can be looked at and then read."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    if os.fork() == 0:
        try:
            pipe.write_bytes(codex_log())
        finally:
            os._exit(0)
    scope = sr.Scope.read([pipe])
    os.wait()
    assert [session.canonical for session in scope] == [f"codex:{CODEX_ID}"]


def test_inputs_that_cannot_be_read_and_the_rest(tmp_path):
    """Each is one finding; of a folder what is no log is passed over and counted."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/picture").write_bytes(b"\x89PNG")
    (tmp_path / "folder/other.json").write_bytes(lines({"a": 1}))
    (tmp_path / "folder/good").write_bytes(claude_log())
    (tmp_path / "folder/cut.gz").write_bytes(gzip.compress(codex_log())[:40])

    class Broken:
        name = "broken"

        def read(self, _size: int = -1) -> bytes:
            raise OSError("no more")

    scope = sr.Scope.read([tmp_path / "folder", tmp_path / "gone", Broken()])
    assert len(scope) == 1
    assert scope.passed_over in {2, 3}
    files = {finding.file: finding.code for finding in scope.findings}
    assert files[str(tmp_path / "gone")] == "unreadable"
    assert files["broken"] == "unreadable"


def test_records_can_be_read_again_afterwards(tmp_path):
    """Of files, native or not, when all inputs are closed."""
    (tmp_path / "codex").write_bytes(codex_log())
    (tmp_path / "stream").write_bytes(Stream("a").text())
    scope = sr.Scope.read(tmp_path)
    for capture in scope.captures:
        (record,) = scope.fetch(capture, [0]).values()
        assert b'"type"' in record


def test_findings_of_native_logs_come_once(tmp_path):
    """What looking at a log found is said when it is read, and not again."""
    file = tmp_path / "log"
    file.write_bytes(codex_log() + b"{broken\n")
    scope = sr.Scope.read([file])
    assert len(list(scope.findings)) == 1
    scope.fetch(next(scope.captures), [0])
    assert len(list(scope.findings)) == 1


@pytest.mark.parametrize(
    ("content", "sessions"),
    [
        (b'{"type":"message","seq":1,"id":"r1"}\n', 1),  # a stream without its header
        (b"[]\n" * 3, None),
        (b"", 1),
    ],
)
def test_what_is_no_log_and_could_be_a_stream(tmp_path, content, sessions):
    """Named by hand it is read as one, as far as it can be; else it is of no known kind."""
    file = tmp_path / "file"
    file.write_bytes(content)
    scope = sr.Scope.read([file])
    assert (len(scope) or None) == sessions
    assert any(finding.severity == "error" for finding in scope.findings)


def test_a_stream_whose_header_is_late_is_none(tmp_path):
    """Only the first lines tell what a file is."""
    file = tmp_path / "file"
    file.write_bytes(b"{}\n" * 100_000 + Stream("a").text())
    scope = sr.Scope.read([file])
    assert [finding.code for finding in scope.findings] == ["unknown-format"]


def test_another_opener_is_used_alone():
    """Then nothing is looked at together."""

    def opened(source, *, observe, **_):
        yield from read_streams(source, observe=observe)

    scope = sr.Scope.read([[Stream("a").text()]], open=opened)
    assert [session.canonical for session in scope] == ["codex:a"]


def test_a_large_log_is_indexed_in_blocks(tmp_path):
    """More than one block of converted records."""
    file = tmp_path / "log"
    row = codex_log().splitlines(keepends=True)
    file.write_bytes(row[0] + row[2] * 2000)
    scope = sr.Scope.read([file])
    (session,) = scope.lineage.sessions
    assert sum(session.records) == 2001


def test_check_looks_at_all_bytes_where_it_can(tmp_path):
    """A repeated member is found in a file, and not where the strict pass is left out."""
    file = tmp_path / "stream"
    file.write_bytes(Stream("a").text() + b'{"type":"x","seq":1,"id":"r1","a":1,"a":2}\n')
    (tmp_path / "log").write_bytes(codex_log())
    scope = sr.Scope.read(tmp_path)
    assert "duplicate-member" in {finding.code for finding in scope.check()}
    assert "duplicate-member" not in {finding.code for finding in scope.check(strict=False)}
    piped = sr.Scope.read([[file.read_bytes()]])
    assert "duplicate-member" not in {finding.code for finding in piped.check()}


def test_one_session_alone_is_read_of_native_logs(tmp_path):
    """Others are passed over, in the same file too; streams are read in any case."""
    (tmp_path / "two").write_bytes(lines(claude_row("u-1", "A"), claude_row("u-2", "B")))
    (tmp_path / "other").write_bytes(codex_log())
    (tmp_path / "stream").write_bytes(Stream("a").text())
    meant = sr.parse("com.anthropic.claude-code:B#u-2")
    scope = sr.Scope.read([tmp_path], session=meant)
    assert [session.canonical for session in scope] == ["claude-code:B", "codex:a"]
    assert scope.resolve(meant).state == "resolved"
    session = scope.session("claude-code:B")
    assert session is not None
    (capture,) = session.captures
    (record,) = scope.fetch(capture, [1]).values()
    assert b'"u-2"' in record
    assert scope.lineage.sessions
    lean = sr.Scope.read([tmp_path], session=meant, references=False, checks=False)
    assert len(lean) == 2


def test_a_log_is_told_alike_in_a_folder_and_by_name(tmp_path):
    """Blank lines at its beginning hide a log from neither."""
    file = tmp_path / "log"
    file.write_bytes(b"\n" * 70_000 + codex_log())
    for source in (file, tmp_path):
        assert [session.canonical for session in sr.Scope.read([source])] == [f"codex:{CODEX_ID}"]


def test_wrong_arguments_fail_with_a_sentence():
    """None is no reference, a month is no grouping, and less was read than `check` needs."""
    scope = sr.Scope.read([[Stream("a").text()]], checks=False)
    with pytest.raises(TypeError, match="not NoneType"):
        scope.resolve(None)  # type: ignore[arg-type]
    index = sr.StreamIndex.read([Stream("a").text()])
    with pytest.raises(TypeError, match="not str"):
        index.resolve("codex:a#r1")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="unknown grouping 'month': expected session"):
        scope.totals().by("month")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="read without checks"):
        scope.check()


def test_what_is_shown_of_a_scope():
    """Its size, and whose stream an index is of."""
    scope = sr.Scope.read([[Stream("a").text()]])
    assert repr(scope) == "<Scope sessions=1 streams=1>"
    assert repr(scope.lineage) == "<Lineage sessions=1>"
    assert repr(next(scope.captures).index) == "<StreamIndex session='codex:a' records=1>"
    assert repr(sr.StreamIndex.read([b""])) == "<StreamIndex session=None records=0>"
