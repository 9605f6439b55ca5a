"""Inputs of native logs: how they are opened, cut into lines, told apart and walked to."""

from __future__ import annotations

import gzip
import io
import os
import socket
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import zstandard
from native_rows import SESSION, convert, jsonl, meta, user

from sessionref.errors import StreamError
from sessionref.native import UNREAD, detect, read
from sessionref.native import convert as convert_paths
from sessionref.native.logs import Log
from sessionref.streams.index import read_streams
from sessionref.streams.walk import walk

if TYPE_CHECKING:
    from sessionref.findings import Finding
    from sessionref.streams.walk import Found

ROWS = jsonl(user("u1"), user("u2"))


def ids(source, **options) -> list[str]:
    return [r.id for stream in read(source, lambda _: None, **options) for r in stream]


def codes(source, **options) -> list[tuple[str, int | None]]:
    found: list[Finding] = []
    for stream in read(source, found.append, **options):
        list(stream)
    return [(finding.code, finding.line) for finding in found]


# -- Lines ---------------------------------------------------------------------------------------


def test_compressed_logs_are_read(tmp_path):
    """Either kind, told by content."""
    for name, data in (
        ("x.jsonl", gzip.compress(ROWS)),
        ("y.jsonl", zstandard.ZstdCompressor().compress(ROWS)),
    ):
        (tmp_path / name).write_bytes(data)
        assert ids(tmp_path / name) == ["h", "u1", "u2"]


def test_damaged_compression_is_one_finding_and_what_came_before_is_read():
    """A cut archive gives what it still holds."""
    data = gzip.compress(jsonl(*[user(f"u{n}") for n in range(500)]))
    found: list[Finding] = []
    assert len([r for s in read([data[:-100]], found.append) for r in s]) > 100
    assert [finding.code for finding in found] == ["torn-tail", "truncated-compression"]
    assert found[1].code in UNREAD


def test_byte_order_marks_and_line_endings_are_no_part_of_a_row():
    """A mark at the start is warned of; CR LF and blank lines are nothing."""
    data = b"\xef\xbb\xbf" + ROWS.replace(b"\n", b"\r\n") + b"\r\n  \n"
    assert ids([data]) == ["h", "u1", "u2"]
    assert codes([data]) == [("byte-order-mark", 1)]
    assert detect(data) == "claude-code"


def test_nul_runs_cost_only_themselves():
    """What stands whole between NUL bytes is read, and line numbers stay."""
    first, second = ROWS.splitlines()
    data = first + b"\0" * 9000 + b"\n" + b"\0" * 500 + b"\n" + second + b'\0{"cut\n'
    assert ids([data]) == ["h", "u1", "u2"]
    assert codes([data]) == [("nul-bytes", 1), ("nul-bytes", 2), ("nul-bytes", 3)]


def test_a_last_line_without_newline_is_read_where_it_is_whole():
    """A cut one is a finding (a writer may still be at it)."""
    assert ids([ROWS[:-1]]) == ["h", "u1", "u2"]
    assert ids([ROWS[:-9]]) == ["h", "u1"]
    assert codes([ROWS[:-9]]) == [("torn-tail", 2)]
    assert codes([ROWS + b"[" * 100_000]) == [("too-deep", 3)]


def test_lines_that_are_no_rows_are_findings_and_the_rest_is_read():
    """No JSON, no object, nested without end, no number that JSON has."""
    data = jsonl("{", "42", "[" * 100_000 + "]" * 100_000, '{"a":NaN}') + ROWS
    assert ids([data]) == ["h", "u1", "u2"]
    assert codes([data]) == [
        ("not-json", 1),
        ("not-object", 2),
        ("too-deep", 3),
        ("not-json", 4),
    ]


def test_lines_longer_than_the_bound_are_passed_over():
    """One finding, and the lines after it keep their numbers."""
    data = jsonl(user("u0", "x" * 9000)) + ROWS
    assert ids([data], max_line=4000) == ["h", "u1", "u2"]
    assert codes([data], max_line=4000) == [("line-too-long", 1)]


def test_bytes_that_are_no_utf8_cost_the_member_they_stand_in():
    """In an identity the member, in content the content; the row stays."""
    data = (
        b'{"type":"user","uuid":"u1","sessionId":"s","message":{"content":"\xff"}}\n'
        b'{"type":"user","uuid":"u\xff","sessionId":"s","message":{"content":"x"}}\n'
    )
    found: list[Finding] = []
    (records,) = [list(stream) for stream in read([data], found.append)]
    assert [record.id for record in records] == ["h", "u1", "line/2"]
    assert [(f.code, f.line, f.path) for f in found] == [
        ("bad-utf8", 1, "$"),
        ("lone-surrogate", 2, "$.uuid"),
        ("bad-utf8", 2, "$"),
    ]
    codex = b'{"type":"session_meta","payload":{"id":"t","x":"\xff"}}\n'
    assert codes([codex]) == [("bad-utf8", 1)]


def test_lone_surrogates_in_content_stay_as_they_were():
    """Content is no identity, and is written again as it was escaped."""
    row = '{"type":"user","uuid":"u1","sessionId":"s","message":{"content":"\\ud800 x"}}'
    (records,) = [list(stream) for stream in read([row.encode()], print)]
    assert bytes(records[1].content) == b'"\\ud800 x"'


def test_numbers_beyond_all_bounds_cost_the_member():
    """No number of the source makes a record that cannot be written."""
    tokens = (
        '{"type":"assistant","uuid":"a","sessionId":"s","message":{"usage":{"output_tokens":%s}}}'
    )
    for number in ("1" * 30, "-1", "1.5"):
        log = convert(tokens % number)
        assert [(f.code, f.path) for f in log.findings] == [
            ("bad-member", "$.message.usage.output_tokens")
        ]
    infinite = '{"type":"user","uuid":1,"sessionId":"s","message":{"content":1e999}}'
    paths = {finding.path for finding in convert(infinite).findings}
    assert paths == {"$.uuid", "$.message.content"}


# -- Inputs --------------------------------------------------------------------------------------


def test_file_objects_and_chunks_are_read():
    """Bytes come as they come; what can be read once is kept."""
    assert ids(io.BytesIO(ROWS)) == ["h", "u1", "u2"]
    assert ids(ROWS[n : n + 7] for n in range(0, len(ROWS), 7)) == ["h", "u1", "u2"]


def test_standard_input_is_read(monkeypatch):
    """`-` is standard input, for paths and strings."""
    for dash in ("-", Path("-")):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(ROWS)))
        assert ids(dash) == ["h", "u1", "u2"]


def test_a_named_pipe_is_read(tmp_path):
    """A pipe that the user names is kept and read."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(ROWS,))
    writer.start()
    assert ids(pipe) == ["h", "u1", "u2"]
    writer.join()


def test_a_log_that_grows_while_it_is_read_ends_where_it_ended_at_first(tmp_path):
    """Both passes see the same bytes."""
    path = tmp_path / "x.jsonl"
    path.write_bytes(ROWS)
    with Log(path) as log:
        with path.open("ab") as more:
            more.write(jsonl(user("u3")))
        assert b"".join(log.chunks()) == ROWS
    empty = tmp_path / "empty"
    empty.write_bytes(b"")
    with Log(empty) as log:
        assert list(log.chunks()) == []


def test_what_cannot_be_read_is_a_finding(tmp_path):
    """No such file, a folder, a broken source: code `unreadable`, and nothing raised."""

    class Broken:
        def read(self, _size: int) -> bytes:
            raise OSError(5, "gone")

    for source in (tmp_path / "none", tmp_path, "/dev/null", Broken()):
        assert codes(source) == [("unreadable", None)]
    with pytest.raises(StreamError):
        Log(tmp_path / "none")


def test_streams_and_unknown_files_give_one_finding():
    """A stream is no native log; an unknown file is unknown."""
    stream = convert(user("u1")).text
    assert codes([stream]) == [("not-native", None)]
    assert codes([b'{"type":"session","version":3,"id":"x"}\n']) == [("unknown-format", None)]
    assert codes([b""]) == [("unknown-format", None)]
    assert codes([b"\x00\x01\x02"]) == [("unknown-format", None)]


# -- Kinds ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("row", "kind"),
    [
        ({"type": "session", "seq": 0, "sessionId": "x"}, "stream"),
        ({"type": "session", "version": 3, "id": "x", "cwd": "/"}, None),
        ({"type": "session.start", "data": {"sessionId": "x"}}, None),
        ({"sessionId": "x", "projectHash": "h", "kind": "main"}, None),
        ({"role": "user", "message": {"content": []}}, None),
        ({"type": "user", "id": "x", "content": []}, None),
        ({"type": "started", "key": "v2:1", "agentId": "a1b2c3d"}, None),
        ({"type": "text", "text": "x", "_role": "user"}, None),
        ({"type": 7, "sessionId": "x"}, None),
        ({"type": "summary"}, None),
        ({"type": "event_msg", "payload": "x"}, None),
        ({"type": "user", "sessionId": 7}, None),
        ({"type": "fork-context-ref", "agentId": "a"}, None),
        ({"type": "file-history-snapshot", "snapshot": 7}, None),
        ({"timestamp": "t", "role": "user", "content": "x"}, None),
        ("[1]", None),
    ],
)
def test_kinds_are_told_by_what_rows_hold(row, kind):
    """Files of other agents are never taken for one that is known."""
    assert detect(jsonl(row)) == kind


def test_the_deciding_row_stands_near_the_head():
    """Only so many lines are looked at."""
    assert detect(jsonl(*[{"x": 1}] * 99, meta())) == "codex"
    assert detect(jsonl(*[{"x": 1}] * 100, meta())) is None


def test_a_row_with_a_lone_surrogate_still_tells():
    """Detection reads rows as carefully as the readers do."""
    assert detect(b'{"type":"event_msg","payload":{"x":"\\ud800"}}') == "codex"
    assert detect(b'{"type":"\\ud800","payload":{}}') is None


# -- Folders -------------------------------------------------------------------------------------


def walked(*paths) -> tuple[list[Found], list[str]]:
    found: list[Finding] = []
    return list(walk(paths, found.append)), [finding.code for finding in found]


def test_folders_are_walked_in_order(tmp_path):
    """Files of a folder come sorted, each folder where its name stands."""
    for name in ("b/2.jsonl", "b/1.jsonl", "a.jsonl", "c.jsonl"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"")
    found, reported = walked(tmp_path)
    assert [Path(f.path).name for f in found] == ["a.jsonl", "1.jsonl", "2.jsonl", "c.jsonl"]
    assert not any(f.named for f in found)
    assert reported == []


def test_X_10_link_loops_end(tmp_path):
    """A link to a folder above is entered once; identity has nothing to do with it."""
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "x.jsonl").write_bytes(b"")
    (tmp_path / "d" / "loop").symlink_to("..")
    found, reported = walked(tmp_path)
    assert [Path(f.path).name for f in found] == ["x.jsonl"]
    assert reported == []


def test_X_11_a_file_reached_twice_is_read_once(tmp_path):
    """A link beside the file leads to the same bytes."""
    (tmp_path / "a.jsonl").write_bytes(b"")
    (tmp_path / "b.jsonl").symlink_to("a.jsonl")
    found, _ = walked(tmp_path, tmp_path / "a.jsonl")
    assert [Path(f.path).name for f in found] == ["a.jsonl"]


def test_special_files_in_a_folder_are_passed_over_with_a_notice(tmp_path):
    """A pipe or a socket is not waited for; named by hand it is the user's choice."""
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "socket"))
        assert walked(tmp_path) == ([], ["special-file"] * 2)
    assert walked(tmp_path / "pipe")[0][0].named


def test_what_cannot_be_walked_is_a_finding(tmp_path):
    """A dangling link, no file, a name that no file can have; and the rest goes on."""
    (tmp_path / "dangling").symlink_to("nowhere")
    (tmp_path / "x").write_bytes(b"")
    found, reported = walked(tmp_path, tmp_path / "none", "a\0b", "-")
    assert [Path(f.path).name for f in found] == ["x", "-"]
    assert reported == ["unreadable"] * 3


# -- Conversion of paths -------------------------------------------------------------------------


def test_a_folder_is_converted_and_its_unknown_files_are_passed_over(tmp_path):
    """Streams come in the order of the files; only a named unknown file is reported."""
    (tmp_path / "a.jsonl").write_bytes(jsonl(user("u1")))
    (tmp_path / "b.jsonl").write_bytes(jsonl(meta("t")))
    (tmp_path / "notes.txt").write_text("hello")
    (tmp_path / "s.jsonl").write_bytes(convert(user("u1")).text)
    found: list[Finding] = []
    lines = list(convert_paths([tmp_path], found.append))
    assert all(line.endswith(b"\n") and line.count(b"\n") == 1 for line in lines)
    assert [index.session for index in read_streams(lines)] == [f"claude-code:{SESSION}", "codex:t"]
    assert found == []
    assert list(convert_paths([tmp_path / "notes.txt"], found.append)) == []
    assert [(f.code, f.file) for f in found] == [("unknown-format", str(tmp_path / "notes.txt"))]


def test_a_folder_reports_what_is_wrong_with_known_logs(tmp_path):
    """Only the kind of unknown files is not worth a word."""
    (tmp_path / "a.jsonl").write_bytes(jsonl(user("u1"), "{"))
    found: list[Finding] = []
    assert len(list(convert_paths([tmp_path], found.append, content=False))) == 2
    assert [(f.code, f.line) for f in found] == [("not-json", 2)]


@pytest.mark.parametrize(
    ("members", "kind"),
    [
        ({}, "claude-code"),
        ({"provenance": "real_user"}, None),
        ({"usageMetadata": {"totalTokenCount": 3}}, None),
        ({"systemPayload": {}}, None),
        ({"message": {"role": "model", "parts": [{"text": "x"}]}}, None),
        ({"message": {"role": "user", "type": 7, "parts": []}}, "claude-code"),
        ({"message": "parts"}, "claude-code"),
    ],
)
def test_a_log_that_only_looks_like_claude_codes_is_not_one(
    members: dict[str, object], kind: str | None
):
    """The entry names the members by which rows of look-alikes are told."""
    row = {"type": "user", "uuid": "q1", "sessionId": "s", "message": {"role": "user"}, **members}
    assert detect(jsonl(row)) == kind
