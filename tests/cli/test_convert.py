"""`convert`: native logs to streams, on stdout or in a folder, and what is said besides."""

from __future__ import annotations

import json

import pytest
from cli_logs import CLAUDE_ID, CODEX_ID, STREAM, claude_log, claude_row, codex_log, lines
from click.testing import CliRunner

import sessionref as sr
from sessionref.cli._app import program
from sessionref.native import LogSet
from sessionref.streams.index import read_streams


def run(*arguments: object, stdin: bytes | None = None, **env: str | None):
    return CliRunner().invoke(program, ["convert", *map(str, arguments)], input=stdin, env=env)


@pytest.fixture
def logs(tmp_path):
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "a.jsonl").write_bytes(claude_log())
    (folder / "b.jsonl").write_bytes(codex_log())
    return folder


def sessions_of(output: bytes) -> list[str | None]:
    return [index.session for index in read_streams(iter([output]))]


def test_streams_follow_each_other_on_stdout(logs):
    """One stream for each session, in the order of the files; our own reader takes them."""
    result = run(logs)
    assert (result.exit_code, result.stderr) == (0, "")
    indexes = list(read_streams(iter([result.stdout_bytes])))
    assert [index.session for index in indexes] == [f"claude-code:{CLAUDE_ID}", f"codex:{CODEX_ID}"]
    for index in indexes:
        assert not index.findings
        assert all(index.resolve(ref).exact for ref in index.refs())


def test_json_changes_nothing(logs):
    """Streams are JSON lines already."""
    assert run("--json", logs).stdout_bytes == run(logs).stdout_bytes


def test_converting_twice_gives_the_same_bytes(logs):
    """ASR-069: the same source gives the same stream."""
    assert run(logs).stdout_bytes == run(logs).stdout_bytes


def test_no_content_leaves_out_what_was_said(logs):
    """Identity and usage stay: the same refs, but not a word."""
    bare, full = run("--no-content", logs).stdout_bytes, run(logs).stdout_bytes
    assert b'"hi"' in full
    assert b'"hi"' not in bare
    refs = [[*index.refs()] for index in read_streams(iter([full]))]
    assert refs == [[*index.refs()] for index in read_streams(iter([bare]))]


def test_R_13_into_writes_a_file_for_each_session(logs, tmp_path):
    """R-13: the names are made of digests; a second run replaces what the first wrote."""
    folder = tmp_path / "new" / "streams"
    for _ in range(2):
        result = run(logs, "--into", folder)
        assert (result.exit_code, result.output) == (0, "")
        assert {file.name for file in folder.iterdir()} == {
            f"{sr.parse(text).key.file_stem()}.jsonl"
            for text in (f"claude-code:{CLAUDE_ID}", f"codex:{CODEX_ID}")
        }
    for file in folder.iterdir():
        assert len(list(read_streams(file))) == 1


def test_into_keeps_two_captures_of_one_session_apart(logs, tmp_path):
    """A second stream of one session is written behind the first, not over it."""
    (logs / "moved.jsonl").write_bytes(codex_log())
    run(logs, "--into", tmp_path / "out")
    file = tmp_path / "out" / f"{sr.parse(f'codex:{CODEX_ID}').key.file_stem()}.jsonl"
    assert sessions_of(file.read_bytes()) == [f"codex:{CODEX_ID}"] * 2


def test_into_a_folder_that_cannot_be_made_is_wrong_usage(logs, tmp_path):
    """The folder's name is checked before anything is read."""
    (tmp_path / "file").write_text("")
    result = run(logs, "--into", tmp_path / "file" / "below")
    assert result.exit_code == 2
    assert "--into" in result.stderr


def test_findings_go_to_stderr(tmp_path):
    """A line that is no JSON costs a finding with its place, and no other line."""
    file = tmp_path / "a.jsonl"
    file.write_bytes(lines(claude_row("u-1")) + b"{no json\n" + lines(claude_row("u-2")))
    result = run(file)
    assert f"{file}:2: warning: " in result.stderr
    assert b"u-2" in result.stdout_bytes


def test_file_without_a_session_gives_no_stream_and_one_finding(tmp_path):
    """Rows of Codex without any `session_meta` name no session."""
    file = tmp_path / "a.jsonl"
    file.write_bytes(b"".join(codex_log().splitlines(keepends=True)[1:]))
    result = run(file)
    assert result.stdout_bytes == b""
    assert result.stderr.count("\n") == 1
    assert "no-session" in result.stderr


def test_unknown_files(logs):
    """In a folder they are passed over and counted, as streams are; by name they are exit code 3."""
    (logs / "notes.txt").write_text("hello\n")
    (logs / "more.json").write_text("[1]\n")
    (logs / "stream.jsonl").write_bytes(STREAM)
    result = run(logs)
    assert (result.exit_code, result.stderr) == (
        0,
        "skipped 2 files (not a known log format)\n",
    )
    result = run(logs / "notes.txt", logs / "b.jsonl")
    assert result.exit_code == 3
    assert sessions_of(result.stdout_bytes) == [f"codex:{CODEX_ID}"]


def test_stream_that_is_named(logs):
    """A stream is no native log; converting it gives nothing and says so."""
    (logs / "s.jsonl").write_bytes(STREAM)
    result = run(logs / "s.jsonl")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "not-native" in result.stderr


def test_missing_file(logs, tmp_path):
    """It is reported and the rest is converted."""
    result = run(tmp_path / "none", logs)
    assert result.exit_code == 3
    assert len(sessions_of(result.stdout_bytes)) == 2


@pytest.mark.parametrize("when", ["before it is looked at", "before it is written"])
def test_log_that_vanishes(logs, monkeypatch, when):
    """What was there a moment ago is reported, exit code 3, and the rest is converted."""
    gone = logs / "b.jsonl"
    early = when == "before it is looked at"

    def add(self, source, report, add=LogSet.add):
        if early:
            gone.unlink(missing_ok=True)
        kind = add(self, source, report)
        if str(source) == str(gone):
            gone.unlink()
        return kind

    monkeypatch.setattr(LogSet, "add", add)
    result = run(logs)
    assert result.exit_code == 3
    assert len(sessions_of(result.stdout_bytes)) == 1


def test_standard_input():
    """A dash is stdin."""
    assert sessions_of(run("-", stdin=codex_log()).stdout_bytes) == [f"codex:{CODEX_ID}"]


def test_known_places(logs, tmp_path):
    """Without a PATH the known places are read."""
    logs.rename(tmp_path / "sessions")
    result = run(HOME=str(tmp_path / "none"), CODEX_HOME=str(tmp_path), CLAUDE_CONFIG_DIR=None)
    assert len(sessions_of(result.stdout_bytes)) == 2


def test_every_native_log_of_the_shared_folder(shared):
    """No file ends in a traceback, and what is converted resolves or is ambiguous."""
    folders = [shared / "corpus" / name for name in ("claude-code", "codex")]
    result = run("--no-content", *folders, shared / "corpus-large")
    assert result.exit_code == 0
    states = set()
    for index in read_streams(iter([result.stdout_bytes])):
        assert index.session is not None
        states |= {index.resolve(ref).state for ref in index.refs()}
    assert "resolved" in states
    assert "unresolved" not in states
    assert json.loads(result.stdout.splitlines()[0])["type"] == "session"
