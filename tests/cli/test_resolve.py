"""`resolve`: what a ref means in streams and native logs, and how that is said."""

from __future__ import annotations

import gzip
import json
import os
from threading import Thread

import pytest
from cli_logs import (
    CLAUDE_ID,
    CODEX_ID,
    STREAM,
    claude_log,
    claude_row,
    codex_log,
    header,
    lines,
    stream,
)
from click.testing import CliRunner

import sessionref as sr
from sessionref.cli._app import program


def run(*arguments: object, stdin: bytes | None = None, **env: str | None):
    return CliRunner().invoke(program, ["resolve", *map(str, arguments)], input=stdin, env=env)


def answer(*arguments: object, stdin: bytes | None = None, **env: str | None):
    result = run("--json", *arguments, stdin=stdin, **env)
    (line,) = result.stdout.splitlines()
    said = json.loads(line)
    assert result.exit_code in ({0} if said.get("state") == "resolved" else {1, 3})
    return said


def seqs(said) -> list[int]:
    return [record["seq"] for record in said["records"]]


@pytest.fixture
def log(tmp_path):
    file = tmp_path / "s1.jsonl"
    file.write_bytes(STREAM)
    return file


class TestStream:
    def test_json_has_the_promised_members(self, log):
        """The shape that programs rely on, member by member."""
        assert answer(log, "codex:s1#r2") == {
            "ref": "codex:s1#r2",
            "state": "resolved",
            "exact": True,
            "session": "codex:s1",
            "records": [{"id": "r2", "seq": 2, "type": "tool_call", "file": str(log), "line": 3}],
        }
        assert answer(log, "codex:s1#callId=twice") == {
            "ref": "codex:s1#callId=twice",
            "state": "ambiguous",
            "exact": False,
            "session": "codex:s1",
            "records": [
                {"id": "r4", "seq": 4, "type": "tool_call", "file": str(log), "line": 5},
                {"id": "r5", "seq": 5, "type": "tool_call", "file": str(log), "line": 6},
            ],
        }
        assert answer(log, "codex:s1#r9") == {
            "ref": "codex:s1#r9",
            "state": "unresolved",
            "exact": False,
            "session": "codex:s1",
            "records": [],
            "reason": "no-such-record",
        }

    @pytest.mark.parametrize(
        ("ref", "expected"),
        [
            ("codex:s1", [0]),
            ("com.openai.codex:s1#callId=c1", [3]),
            ("codex:s1#turnId=t1", [1, 2, 3]),
            ("r1", [1]),
            ("messageId=m1", [1]),
            ("turnId=t1", [1, 2, 3]),
        ],
    )
    def test_every_kind_of_ref(self, log, ref, expected):
        """Sessions by their header, records, latest revisions, turns; with the session and raw."""
        said = answer(log, ref)
        assert (said["state"], said["session"], seqs(said)) == ("resolved", "codex:s1", expected)

    @pytest.mark.parametrize(
        ("ref", "reason", "session"),
        [
            ("codex:s1#callId=c9", "no-such-entity", "codex:s1"),
            ("codex:s1#turnId=t9", "no-such-turn", "codex:s1"),
            ("codex:s9#r1", "no-such-session", "codex:s9"),
            ("codex:s9", "no-such-session", "codex:s9"),
            ("r9", "no-such-record", "codex:s1"),
        ],
    )
    def test_reason_of_what_does_not_resolve(self, log, ref, reason, session):
        """Each reason is a stable slug."""
        said = answer(log, ref)
        assert (said["state"], said["reason"], said["session"]) == ("unresolved", reason, session)

    def test_raw_forces_a_raw_ref(self, tmp_path):
        """A record ID that looks like a reference is one with --raw alone."""
        file = tmp_path / "a.jsonl"
        file.write_bytes(stream("s1", {"type": "message", "id": "codex:s1", "messageId": "m"}))
        assert seqs(answer(file, "codex:s1")) == [0]
        assert seqs(answer("--raw", file, "codex:s1")) == [1]

    def test_raw_ref_in_several_sessions_is_ambiguous(self, tmp_path):
        """What two sessions could mean is chosen from neither; the session is null."""
        for name in ("a", "b"):
            (tmp_path / name).write_bytes(stream(name, {"type": "x", "id": "r1"}))
        said = answer(tmp_path, "r1")
        assert (said["state"], said["session"], seqs(said)) == ("ambiguous", None, [1, 1])
        assert answer(tmp_path, "r9")["session"] is None

    @pytest.mark.usefixtures("log")
    def test_I_13_captures_that_agree_are_one_session(self, tmp_path):
        """A moved copy, and one that goes on further, change nothing."""
        longer = STREAM + lines({"type": "x", "seq": 6, "id": "r6"})
        (tmp_path / "archived.jsonl").write_bytes(longer)
        assert seqs(answer(tmp_path, "codex:s1#r1")) == [1]
        assert seqs(answer(tmp_path, "r1")) == [1]
        assert seqs(answer(tmp_path, "codex:s1#r6")) == [6]

    @pytest.mark.usefixtures("log")
    def test_I_22_captures_that_differ_are_ambiguous(self, tmp_path):
        """I-22: of two records under one key and ID neither is chosen, by time or position."""
        other = STREAM.replace(b'"messageId": "m1"', b'"messageId": "mX"')
        (tmp_path / "other.jsonl").write_bytes(other)
        said = answer(tmp_path, "codex:s1#r1")
        assert (said["state"], said["session"], seqs(said)) == ("ambiguous", "codex:s1", [1, 1])
        assert len({record["file"] for record in said["records"]}) == 2

    @pytest.mark.usefixtures("log")
    def test_I_22_a_hit_in_one_of_two_captures_that_differ_is_ambiguous(self, tmp_path):
        """What one of them has, the other denies: a candidate, and never the answer."""
        (tmp_path / "other.jsonl").write_bytes(stream("s1", {"type": "x", "id": "only"}))
        for ref, session in (
            ("codex:s1#only", "codex:s1"),
            ("only", "codex:s1"),
            ("r1", "codex:s1"),
        ):
            said = answer(tmp_path, ref)
            assert (said["state"], said["exact"], seqs(said)) == ("ambiguous", False, [1])
            assert said["session"] == session
        said = answer(tmp_path, "codex:s1")
        assert (said["state"], seqs(said)) == ("ambiguous", [0, 0])
        text = run(tmp_path, "codex:s1#only").stdout
        assert "  the files of this session contradict each other (ASR-050)\n" in text
        assert "  1 candidate; not choosing it (ASR-064)\n" in text
        assert answer(tmp_path, "codex:s1#r99")["reason"] == "no-such-record"

    def test_segments_are_one_session(self, tmp_path):
        """A turn that goes on in the next file is one turn, and a call is revised there."""

        def page(name, after, *records):
            head = header("s1", segment={"id": name, "after": after})
            (tmp_path / name).write_bytes(lines(head, *records))

        call = {"type": "tool_call", "callId": "c", "turnId": "t"}
        page("b", None, {"seq": 1, "id": "r1", **call})
        page("a", "b", {"seq": 1, "id": "r2", "supersedes": "r1", **call})
        said = answer("--show", tmp_path, "codex:s1#turnId=t")
        assert (said["state"], said["exact"]) == ("resolved", True)
        assert [record["content"]["id"] for record in said["records"]] == ["r1", "r2"]
        assert [record["file"] for record in said["records"]] == [
            str(tmp_path / "b"),
            str(tmp_path / "a"),
        ]
        (record,) = answer(tmp_path, "callId=c")["records"]
        assert record["id"] == "r2"
        (record,) = answer(tmp_path, "codex:s1")["records"]
        assert record["file"] == str(tmp_path / "b")

    def test_what_is_built_on_a_broken_reference_is_not_exact(self, tmp_path):
        """ASR-080: a required reference that does not resolve marks its record and its session."""
        file = tmp_path / "s1.jsonl"
        broken = {"type": "rewind", "seq": 6, "id": "r6", "to": "gone", "turnId": "t6"}
        file.write_bytes(STREAM + lines(broken))
        for ref, exact in (
            ("codex:s1", False),
            ("codex:s1#r6", False),
            ("r6", False),
            ("turnId=t6", False),
            ("codex:s1#r1", True),
            ("turnId=t1", True),
        ):
            said = answer(file, ref)
            assert (said["state"], said["exact"]) == ("resolved", exact)
        result = run(file, "r6")
        assert result.exit_code == 0
        assert result.stdout == (
            "resolved, exact: false  r6\n"
            "  session codex:s1\n"
            "  the record found has a required reference that does not resolve (ASR-080)\n"
            f"  seq 6  rewind  r6  {file}:7\n"
        )

    def test_it_says_what_the_scope_says(self, tmp_path):
        """Records and state of every ref are those of `Scope.resolve`."""
        (tmp_path / "a").write_bytes(STREAM)
        (tmp_path / "b").write_bytes(codex_log())
        scope = sr.Scope.read([tmp_path])
        for capture in scope.captures:
            key = capture.key
            assert key is not None
            for ref in (*map(key.at, capture.index.refs()), *capture.index.refs(), key.at()):
                outcome = scope.resolve(ref)
                raw = [] if isinstance(ref, sr.SessionRef) else ["--raw"]
                said = answer(*raw, tmp_path, str(ref) if not raw else ref.raw())
                hits = getattr(outcome, "records", None) or outcome.candidates
                assert said["state"] == outcome.state
                assert [(r["id"], r["seq"]) for r in said["records"]] == [
                    (h.id, h.seq) for h in hits
                ]

    def test_several_streams_in_one_file(self, tmp_path):
        """Each header begins another stream; lines count through the file."""
        file = tmp_path / "all.jsonl.gz"
        file.write_bytes(gzip.compress(STREAM + stream("s2", {"type": "x", "id": "q"})))
        said = answer(file, "codex:s2#q")
        assert said["records"][0]["line"] == 8
        assert answer("--show", file, "q")["records"][0]["content"]["id"] == "q"

    def test_stream_without_a_session(self, tmp_path):
        """Two streams that name no session are not one; a raw ref still finds its record."""
        broken = lines(header("s", agent="NO NAME"), {"type": "x", "seq": 1, "id": "r1"})
        (tmp_path / "a").write_bytes(broken)
        said = answer(tmp_path, "r1")
        assert (said["state"], said["session"]) == ("resolved", None)
        (tmp_path / "b").write_bytes(broken)
        assert answer(tmp_path, "r1")["state"] == "ambiguous"
        assert answer(tmp_path, "codex:s")["reason"] == "no-such-session"

    def test_standard_input(self):
        """A dash is stdin, also for what has to be read twice."""
        assert answer("-", "r2", stdin=STREAM)["records"][0]["file"] == "-"
        said = answer("--show", "-", "callId=call_1", stdin=codex_log())
        assert said["records"][0]["line"] == 4
        assert said["records"][0]["content"]["callId"] == "call_1"
        assert answer("-", "-", "r2", stdin=STREAM)["state"] == "resolved"
        result = run("-", "r2", stdin=b"no log\n")
        assert (result.exit_code, result.stderr[:9]) == (3, "-: error:")

    def test_named_pipe(self, tmp_path):
        """A pipe is kept, for what has to be read twice."""
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        writing = Thread(target=pipe.write_bytes, args=(codex_log(),))
        writing.start()
        (record,) = answer("--show", pipe, "callId=call_1")["records"]
        writing.join()
        assert (record["file"], record["content"]["callId"]) == (str(pipe), "call_1")

    def test_overlay_joins_names(self, tmp_path):
        """Under an overlay both names of an agent mean one session."""
        overlay = tmp_path / "mine.toml"
        overlay.write_text(
            'short_name = {value = "mine", source = "stated"}\n'
            'reverse_dns_name = {value = "com.example.mine", source = "stated"}\n'
        )
        file = tmp_path / "a.jsonl"
        file.write_bytes(stream("s1", agent="com.example.mine"))
        assert answer(file, "mine:s1")["state"] == "unresolved"
        said = answer("--registry", overlay, file, "mine:s1")
        assert (said["state"], said["session"]) == ("resolved", "mine:s1")


class TestNative:
    def test_lines_are_those_of_the_native_log(self, tmp_path):
        """A hit names the native file and the line of the native row; the header stands in none."""
        file = tmp_path / "rollout.jsonl"
        file.write_bytes(codex_log())
        session = f"codex:{CODEX_ID}"
        said = answer(file, f"{session}#callId=call_1")
        assert (said["state"], said["session"]) == ("resolved", session)
        assert (said["records"][0]["file"], said["records"][0]["line"]) == (str(file), 4)
        turn = answer(file, f"{session}#turnId=turn-1")
        assert [record["line"] for record in turn["records"]] == [2, 3, 4]
        (head,) = answer(file, session)["records"]
        assert (head["type"], head["line"]) == ("session", None)
        assert f"session  h  {file}\n" in run(file, session).stdout

    def test_claude_code(self, tmp_path):
        """Records by uuid, calls by the ID of the tool use, model calls by the provider's ID."""
        file = tmp_path / "any name"
        file.write_bytes(claude_log())
        session = f"claude-code:{CLAUDE_ID}"
        for ref, line in (("u-1", 1), ("callId=toolu_1", 2), ("inferenceId=msg_1", 2)):
            said = answer(file, f"{session}#{ref}")
            assert (said["state"], said["records"][0]["line"]) == ("resolved", line)

    def test_I_08_two_sessions_in_one_file(self, tmp_path):
        """Each is a session of its own, with the lines of the one file."""
        file = tmp_path / "A.jsonl"
        file.write_bytes(lines(claude_row("u-1", "A"), claude_row("u-2", "B")))
        first, second = (
            answer(file, "claude-code:A#u-1"),
            answer("--show", file, "claude-code:B#u-2"),
        )
        assert [said["records"][0]["line"] for said in (first, second)] == [1, 2]
        assert second["records"][0]["content"]["id"] == "u-2"
        assert answer(file, "claude-code:A#u-2")["state"] == "unresolved"

    def test_show_gives_the_records_with_their_content(self, tmp_path):
        """The content is read where it is asked for, of each record of a turn."""
        file = tmp_path / "rollout.jsonl"
        file.write_bytes(codex_log())
        said = answer("--show", file, "turnId=turn-1")
        assert [record["content"]["seq"] for record in said["records"]] == [2, 3, 4]
        assert said["records"][1]["content"]["content"][0]["text"] == "hi"

    def test_record_that_cannot_be_read_any_more(self, log, monkeypatch):
        """It is told without its content, and that is exit code 3."""
        really = sr.Scope.records

        def gone(scope, capture, rows):
            log.unlink(missing_ok=True)
            return really(scope, capture, rows)

        monkeypatch.setattr(sr.Scope, "records", gone)
        result = run("--json", "--show", log, "r1")
        (record,) = json.loads(result.stdout)["records"]
        assert (record["id"], record["content"], result.exit_code) == ("r1", None, 3)
        assert f"{log}: error: " in result.stderr

    def test_record_that_is_no_longer_in_its_file(self, log, monkeypatch):
        """A file that was cut meanwhile gives no content, and never that of another record."""
        really = sr.Scope.records

        def cut(scope, capture, rows):
            log.write_bytes(STREAM.split(b"\n")[0])
            return really(scope, capture, rows)

        monkeypatch.setattr(sr.Scope, "records", cut)
        (record,) = answer("--show", log, "r1")["records"]
        assert (record["id"], record["content"]) == ("r1", None)

    def test_long_log(self, tmp_path):
        """Far into a log, and in the middle of a large stream, records are found and shown."""
        file = tmp_path / "long.jsonl"
        file.write_bytes(lines(*(claude_row(f"u-{number}") for number in range(2000))))
        said = answer("--show", file, "u-1999")
        assert (said["records"][0]["line"], said["records"][0]["content"]["id"]) == (2000, "u-1999")
        records = (
            {"type": "x", "id": f"r{number}", "turnId": "t", "text": "a" * 999}
            for number in range(900)
        )
        file.write_bytes(stream("s", *records))
        contents = [record["content"] for record in answer("--show", file, "turnId=t")["records"]]
        assert [content["id"] for content in contents] == [f"r{number}" for number in range(900)]


class TestText:
    def test_resolved(self, log):
        """The state, the session, and each record with its place."""
        assert run(log, "codex:s1#turnId=t1").stdout == (
            "resolved  codex:s1#turnId=t1\n"
            f"  seq 1  message    r1  {log}:2\n"
            f"  seq 2  tool_call  r2  {log}:3\n"
            f"  seq 3  tool_call  r3  {log}:4\n"
        )

    def test_what_is_not_exact_is_marked(self, log):
        """ASR-080: an unresolved or ambiguous ref carries a marker and says that it is not exact."""
        assert run(log, "codex:s1#r9").stdout == (
            "unresolved, exact: false  codex:s1#r9\n  no record of the stream has this record ID\n"
        )
        assert "no input holds this session" in run(log, "codex:q").stdout
        text = run(log, "callId=twice").stdout
        assert text.startswith("ambiguous, exact: false  callId=twice\n  session codex:s1\n")
        assert "  2 candidates; not choosing between them (ASR-064)\n" in text

    def test_show_prints_the_records(self, log):
        """Each record below its place, one member a line."""
        text = run("--show", log, "r1").stdout
        assert '\n    {\n      "type": "message",\n' in text.replace('\n      "seq": 1,', "", 1)

    def test_nothing_from_the_data_reaches_a_terminal_raw(self, tmp_path):
        """IDs, types, texts and file names are shown escaped."""
        file = tmp_path / "a\x1b[31m.jsonl"
        record = {"type": "x\u202e", "id": "r\x9b1", "text": "\u202eabc"}
        content = json.dumps({"seq": 1, **record}, ensure_ascii=False).encode()
        file.write_bytes(lines(header("s\u202e")) + content + b"\n")
        output = run("--show", file, "r\x9b1").output
        assert not {"\u202e", "\x1b", "\x9b"} & set(output)
        assert "r\\x9b1" in output
        assert "\\u202eabc" in output

    def test_record_that_is_not_all_json(self, tmp_path):
        """Octets that are no UTF-8 in what was not decoded are shown escaped, and null in JSON."""
        file = tmp_path / "a.jsonl"
        file.write_bytes(stream("s1") + b'{"type":"x","seq":1,"id":"r1","text":"\xff"}\n')
        assert answer("--show", file, "r1")["records"][0]["content"] is None
        assert "\\xff" in run("--show", file, "r1").stdout


class TestInput:
    def test_what_cannot_be_read_is_exit_code_3(self, log, tmp_path):
        """A missing file is reported, everything else is done, and 3 wins."""
        result = run(log, tmp_path / "none", "r1")
        assert result.exit_code == 3
        assert result.stdout.startswith("resolved")
        assert f"{tmp_path / 'none'}: error: cannot be read" in result.stderr
        assert run(tmp_path / "none", "r1").exit_code == 3

    @pytest.mark.usefixtures("log")
    def test_unknown_file_is_passed_over_in_a_folder_and_an_error_by_name(self, tmp_path):
        """Unknown files in a folder are counted; one that is named is exit code 3."""
        (tmp_path / "notes.txt").write_text("hello\n")
        result = run(tmp_path, "r1")
        assert result.exit_code == 0
        assert result.stderr == "skipped 1 file (not a known log format)\n"
        result = run(tmp_path / "notes.txt", "r1")
        assert result.exit_code == 3
        assert "unknown-format" in result.stderr

    @pytest.mark.usefixtures("log")
    def test_file_that_cannot_be_opened_in_a_folder(self, tmp_path, monkeypatch):
        """It is reported, and the rest is read."""
        (tmp_path / "locked").write_text("")
        really = os.open

        def refuse(path, *args, **options):
            if os.fspath(path).endswith("locked"):
                raise PermissionError(13, "Permission denied")
            return really(path, *args, **options)

        monkeypatch.setattr(os, "open", refuse)
        result = run(tmp_path, "r1")
        assert result.exit_code == 3
        assert "locked: error: Permission denied (unreadable)" in result.stderr
        assert result.stdout.startswith("resolved")

    def test_damaged_compression(self, tmp_path):
        """What comes before the damage is read, and exit code 3 says that something is missing."""
        file = tmp_path / "a.gz"
        file.write_bytes(gzip.compress(STREAM)[:-6])
        result = run(file, "r1")
        assert (result.exit_code, result.stdout.split()[0]) == (3, "resolved")

    def test_name_of_a_file_that_is_no_utf8(self, tmp_path):
        """Such a name stands escaped in JSON and in text."""
        file = os.fsencode(tmp_path) + b"/\xff.jsonl"
        try:
            with open(file, "wb") as out:  # noqa: PTH123 - Path takes no bytes
                out.write(STREAM)
        except OSError:
            pytest.skip("this file system takes no such name")
        assert answer(tmp_path, "r1")["records"][0]["file"].endswith("\\xff.jsonl")
        assert "\\udcff.jsonl" in run(tmp_path, "r1").stdout

    @pytest.mark.parametrize("ref", ["nokey=a", "callId=", "codex:\udcff"])
    def test_what_is_no_ref(self, log, ref):
        """Neither a reference nor a raw ref: exit code 1, with the error."""
        result = run(log, ref)
        assert (result.exit_code, result.stdout) == (1, "")
        assert "ASR-06" in result.stderr
        assert answer(log, ref)["error"]["code"] in (
            "unknown-entity-key",
            "empty-value",
            "invalid-utf8",
        )

    @pytest.mark.parametrize(
        ("ref", "code"),
        [
            ("codex:s%C3", "invalid-utf8"),
            ("codex::s1", "empty-component"),
            ("Codex:s1", "bad-agent-name"),
            ("codex:s1#", "empty-ref"),
            ("codex:s1#callID=c", "unknown-entity-key"),
        ],
    )
    def test_an_invalid_session_reference_has_its_own_fault(self, log, ref, code):
        """It is never a record that is missing in a session that it did not name (ASR-060, 061)."""
        result = run(log, ref)
        assert (result.exit_code, result.stdout) == (1, "")
        assert answer(log, ref)["error"]["code"] == code
        assert answer(log, "--raw", "no:thing")["reason"] == "no-such-record"

    def test_a_record_id_with_a_colon_is_found(self, tmp_path):
        """What is in scope is looked for before a text is called an invalid reference."""
        file = tmp_path / "s.jsonl"
        file.write_bytes(STREAM + b'{"type":"message","seq":99,"id":"a b:c","messageId":"m9"}\n')
        assert answer(file, "a b:c")["records"][0]["seq"] == 99

    def test_ref_is_required(self):
        """Without a REF the command is used wrongly."""
        assert run().exit_code == 2


class TestPlaces:
    def test_known_places_where_no_path_is_given(self, tmp_path):
        """The folders of the known agents below the home folder, or where variables say."""
        projects = tmp_path / ".claude" / "projects"
        projects.mkdir(parents=True)
        (projects / "a.jsonl").write_bytes(claude_log())
        codex = tmp_path / "elsewhere" / "archived_sessions"
        codex.mkdir(parents=True)
        (codex / "b.jsonl").write_bytes(codex_log())
        places = {"HOME": str(tmp_path), "CLAUDE_CONFIG_DIR": None, "CODEX_HOME": None}
        assert answer("u-1", **places)["state"] == "resolved"
        assert answer("callId=call_1", **places)["state"] == "unresolved"
        places["CODEX_HOME"] = str(tmp_path / "elsewhere")
        assert answer("callId=call_1", **places)["state"] == "resolved"
        places["CLAUDE_CONFIG_DIR"] = str(tmp_path / "none")
        assert answer("u-1", **places)["state"] == "unresolved"

    def test_no_place_at_all_is_wrong_usage(self, tmp_path):
        """Where there is nothing to read, the command says where it looked."""
        result = run("r1", HOME=str(tmp_path), CLAUDE_CONFIG_DIR=None, CODEX_HOME=None)
        assert result.exit_code == 2
        assert ".codex" in result.stderr
