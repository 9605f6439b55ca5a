"""The facade: streams and native logs under some paths, as one scope."""

from __future__ import annotations

import gzip
import io
import os
from pathlib import Path

import msgspec
import pytest
from cli_logs import CODEX_ID, claude_log, claude_row, codex_log, lines
from lineage_streams import Stream, named, none

import sessionref as sr
from sessionref.api import scope_of
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
    with pytest.warns(DeprecationWarning, match="observers="):
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
        assert b'"type"' in scope.fetch(capture.index.hit(0))


def test_findings_of_native_logs_come_once(tmp_path):
    """What looking at a log found is said when it is read, and not again."""
    file = tmp_path / "log"
    file.write_bytes(codex_log() + b"{broken\n")
    scope = sr.Scope.read([file])
    assert len(list(scope.findings)) == 1
    scope.records(next(scope.captures), [0])
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

    with pytest.warns(DeprecationWarning, match="open="):
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
    assert b'"u-2"' in scope.fetch(capture.index.hit(1))
    assert scope.lineage.sessions
    for same in ("claude-code:B", meant.key):
        assert len(sr.Scope.read([tmp_path], session=same)) == 2
    assert len(scope_of([tmp_path], session=meant, references=False, checks=False)) == 2


def test_a_log_is_told_alike_in_a_folder_and_by_name(tmp_path):
    """Blank lines at its beginning hide a log from neither."""
    file = tmp_path / "log"
    file.write_bytes(b"\n" * 70_000 + codex_log())
    for source in (file, tmp_path):
        assert [session.canonical for session in sr.Scope.read([source])] == [f"codex:{CODEX_ID}"]


def test_wrong_arguments_fail_with_a_sentence():
    """The sentence says what was expected, and what was given."""
    scope = sr.Scope.read([[Stream("a").text()]])
    index = sr.StreamIndex.read([Stream("a").text()])
    for resolve in (scope.resolve, index.resolve):
        with pytest.raises(TypeError, match="a ref or text was expected, not NoneType"):
            resolve(None)  # type: ignore[arg-type]
        with pytest.raises(sr.InvalidReference):
            resolve("a=b=c=d")
    with pytest.raises(TypeError, match="a session key, reference or text was expected, not int"):
        scope.session(7)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="unexpected keyword argument 'refrences'"):
        sr.Scope.read([], refrences=False)
    with pytest.raises(ValueError, match="unknown grouping 'month': expected session"):
        scope.totals().by("month")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="read without what the rules look at"):
        scope_of([[Stream("a").text()]], checks=False).check()


def test_no_argument_takes_methods_away():
    """The keywords of version 0.1 that did so have no effect, and warn."""
    progress: list[int] = []
    with pytest.warns(DeprecationWarning, match=r"Scope\.read") as caught:
        scope = sr.Scope.read(
            [[Stream("a").text()]], references=False, checks=False, step=lambda: progress.append(1)
        )
    assert [str(one.message).split(":")[0] for one in caught] == [
        "Scope.read(references=...)",
        "Scope.read(checks=...)",
        "Scope.read(step=...)",
    ]
    assert list(scope.check()) == list(scope.problems()) == []
    assert progress == [1]
    with pytest.warns(DeprecationWarning, match=r"use Scope\.session"):
        assert scope.named(sr.parse("codex:a")) is scope.session("codex:a")


def test_a_scope_and_an_index_resolve_and_fetch_the_same_things(tmp_path):
    """References, refs and texts are resolved, and hits are fetched, as bytes."""
    path = tmp_path / "stream"
    stream = Stream("a")
    stream.call(3)
    path.write_bytes(stream.text())
    scope, index = sr.Scope.read(path), sr.StreamIndex.read(path)
    for given in ("codex:a", index.hit(1).id, sr.parse("codex:a"), next(iter(index.refs()))):
        assert scope.resolve(given) == index.resolve(given)
    for hit in index:
        assert scope.fetch(hit) == index.fetch(hit)
    (other,) = sr.StreamIndex.read([Stream("b").text()])
    for strange in (
        other,
        msgspec.structs.replace(hit, line=99),
        msgspec.structs.replace(hit, seq=9),
    ):
        with pytest.raises(sr.StreamError) as caught:
            scope.fetch(strange)
        assert caught.value.code == "foreign-hit"


def test_a_record_of_a_native_log_that_changed_is_not_fetched(tmp_path):
    """What now stands in its place is another record, or none."""
    log = tmp_path / "log"
    log.write_bytes(codex_log())
    scope = sr.Scope.read(log)
    *_, hit = next(scope.captures).index
    log.write_bytes(codex_log().splitlines(keepends=True)[0])
    with pytest.raises(sr.StreamError) as caught:
        scope.fetch(hit)
    assert caught.value.code == "replaced"


def test_what_is_shown_of_a_scope():
    """Its size, and whose stream an index is of."""
    scope = sr.Scope.read([[Stream("a").text()]])
    assert repr(scope) == "<Scope sessions=1 streams=1>"
    assert repr(scope.lineage) == "<Lineage sessions=1>"
    assert repr(next(scope.captures).index) == "<StreamIndex session='codex:a' records=1>"
    assert repr(sr.StreamIndex.read([b""])) == "<StreamIndex session=None records=0>"
