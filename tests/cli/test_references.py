"""`parse`, `build`, `canonical` and `digest`: what they print, where, and how they end."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys

import pytest
from click.testing import CliRunner
from hypothesis import example, given
from hypothesis import strategies as st

import sessionref as sr
from sessionref import cli
from sessionref.cli import _lines, _references
from sessionref.cli._app import program

T3 = "t3-code:6f1d:thread%3Ax#callId=%41"
BIDI = "\u202e"


def run(*arguments: str, stdin: bytes | str | None = None, **env: str):
    return CliRunner().invoke(program, arguments, input=stdin, env=env)


def objects(output: str) -> list[object]:
    return [json.loads(line) for line in output.splitlines()]


class TestCanonicalAndDigest:
    def test_one_line_for_each_argument(self):
        """The canonical form of each REF, in order, on a line of its own."""
        result = run("canonical", "com.openai.codex:a%3a", "codex:b#r1")
        assert (result.exit_code, result.stdout) == (0, "codex:a%3A\ncodex:b\n")

    def test_short_and_reverse_dns_names_have_one_digest(self):
        """Both spellings of an agent's name give one digest: that of the canonical form."""
        digest = "sha256:" + hashlib.sha256(b"codex:a").hexdigest()
        assert run("digest", "codex:a", "com.openai.codex:a").stdout == f"{digest}\n{digest}\n"

    def test_stdin_where_no_reference_is_given(self):
        """Lines of stdin end with LF or CRLF, the last one may lack both; a BOM is passed over."""
        result = run("canonical", stdin=b"\xef\xbb\xbfcodex:a\r\ncodex:b\ncodex:c")
        assert (result.exit_code, result.stdout) == (0, "codex:a\ncodex:b\ncodex:c\n")

    def test_empty_stdin_gives_nothing(self):
        """No line, no output."""
        assert run("digest", stdin=b"").output == ""

    def test_lines_pair_up_with_input_where_some_are_bad(self):
        """A bad line gives an empty line, a report with its number, exit code 1, and no stop."""
        result = run("canonical", stdin=b"codex:a\ncodex::b\n\ncodex:c\n")
        assert (result.exit_code, result.stdout) == (1, "codex:a\n\n\ncodex:c\n")
        assert "stdin:2: empty namespace (empty-component, ASR-061)" in result.stderr
        assert "stdin:3: empty text (empty, ASR-061)" in result.stderr

    def test_octets_that_are_no_utf8_are_an_error_of_their_line(self):
        """Bad UTF-8 and NUL cost their line and no other; the place stands under a caret."""
        result = run("canonical", stdin=b"codex:\xc3\xa9\xff\ncodex:\0\ncodex:a\n")
        assert (result.exit_code, result.stdout) == (1, "\n\ncodex:a\n")
        assert "stdin:1: octets that are not valid UTF-8 (invalid-utf8, ASR-060)" in result.stderr
        assert "\n  codex:é\\xff\n         ^^^^\n" in result.stderr
        assert "stdin:2: " in result.stderr
        assert "forbidden-character" in result.stderr

    def test_bad_argument_is_reported_by_its_number(self):
        """Arguments are checked like lines."""
        result = run("digest", "codex:a", "nothing")
        assert result.exit_code == 1
        assert "argument 2: there is no ':'" in result.stderr

    def test_octets_of_an_argument_that_are_no_utf8(self):
        """What the system hands over as escaped octets is told as such."""
        result = run("canonical", "codex:\udcff")
        assert "invalid-utf8" in result.stderr

    def test_argument_with_a_surrogate_that_stands_for_no_octet(self):
        """A surrogate that no file system escape explains is an error too."""
        result = run("canonical", "codex:\ud800")
        assert "(surrogate, ASR-060)" in result.stderr

    def test_json_of_both(self):
        """One object for each, with the text and the form or the error."""
        result = run("canonical", "--json", "com.openai.codex:a", "x")
        assert objects(result.stdout) == [
            {"text": "com.openai.codex:a", "canonical": "codex:a"},
            {
                "text": "x",
                "error": {
                    "code": "missing-session-id",
                    "rule": "ASR-061",
                    "component": "session-id",
                    "start": 1,
                    "end": 1,
                    "message": "there is no ':' and no session ID",
                },
            },
        ]
        assert (result.exit_code, result.stderr) == (1, "")
        assert objects(run("digest", "--json", "codex:a").stdout) == [
            {"text": "codex:a", "digest": sr.digest("codex:a")}
        ]

    def test_json_of_a_text_with_no_utf8_form(self):
        """The text is null, beside its escaped form in which the span counts."""
        (first, second) = objects(run("canonical", "--json", "codex:\udcff", "codex:\ud800").stdout)
        assert (first["text"], first["escapedText"]) == (None, "codex:\\xff")
        error = first["error"]
        assert first["escapedText"][error["start"] : error["end"]] == "\\xff"
        assert (second["text"], second["escapedText"]) == (None, "codex:\\ud800")

    def test_line_beyond_the_bound_is_not_read(self, monkeypatch):
        """A line that is too long gives an empty line and exit code 3, which wins over 1."""
        monkeypatch.setattr(_lines, "MAX_LINE", 8)
        result = run("canonical", stdin=b"codex:123456789\nx\ncodex:a\n")
        assert (result.exit_code, result.stdout) == (3, "\n\ncodex:a\n")
        assert "stdin:1: line skipped: longer than" in result.stderr
        result = run("parse", stdin=b"codex:123456789\ncodex:a\n")
        assert result.exit_code == 3
        assert result.stdout.startswith("codex:a\n")
        (unread, _) = objects(run("parse", "--json", stdin=b"codex:123456789\ncodex:a\n").stdout)
        assert unread["text"] is None
        assert unread["error"]["code"] == "line-too-long"

    @given(st.binary(max_size=40))
    @example(b"\xef\xbb\xbf")
    def test_any_octets_on_stdin(self, octets):
        """Whatever comes in, as many lines come out, each what the library says of that line."""
        result = run("canonical", stdin=octets)
        lines = octets.removeprefix(b"\xef\xbb\xbf").split(b"\n")
        expected = []
        for number, line in enumerate(lines, 1):
            ended = number < len(lines)
            if not ended and not line:
                continue
            try:
                text = (line.removesuffix(b"\r") if ended else line).decode()
                expected.append(sr.canonical(text))
            except ValueError:
                expected.append("")
        assert result.stdout_bytes == "".join(f"{line}\n" for line in expected).encode()
        assert result.exit_code == (1 if "" in expected else 0)

    def test_overlay_gives_another_canonical_form(self, tmp_path):
        """A registry named by option or environment decides the name in the canonical form."""
        file = tmp_path / "mine.toml"
        file.write_text(
            'short_name = {value = "mine", source = "stated"}\n'
            'reverse_dns_name = {value = "com.example.mine", source = "stated"}\n'
        )
        reference = "com.example.mine:a"
        assert run("canonical", reference).stdout == "com.example.mine:a\n"
        assert run("canonical", "--registry", str(file), reference).stdout == "mine:a\n"
        assert run("canonical", reference, SESSIONREF_REGISTRY=str(file)).stdout == "mine:a\n"
        digest = run("digest", "--registry", str(file), reference).stdout
        assert digest == f"{sr.digest('mine:a')}\n"

    def test_overlay_that_cannot_be_used_is_wrong_usage(self, tmp_path):
        """A missing or broken registry file ends the command with exit code 2."""
        result = run("canonical", "--registry", str(tmp_path / "none.toml"), "codex:a")
        assert result.exit_code == 2
        assert "cannot be read" in result.stderr


class TestParse:
    def test_json_has_the_promised_members(self):
        """The shape that programs rely on, member by member."""
        result = run("parse", "--json", T3, "codex:a#r1", "codex:a#turnId=t", "codex:a")
        assert objects(result.stdout) == [
            {
                "text": T3,
                "agent": "t3-code",
                "namespace": "6f1d",
                "sessionId": "thread:x",
                "ref": {"kind": "entity", "key": "callId", "value": "A"},
                "reference": "t3-code:6f1d:thread%3Ax#callId=A",
                "canonical": "t3-code:6f1d:thread%3Ax",
                "digest": sr.digest(T3),
            },
            *(
                {
                    "text": text,
                    "agent": "codex",
                    "namespace": None,
                    "sessionId": "a",
                    "ref": ref,
                    "reference": text,
                    "canonical": "codex:a",
                    "digest": sr.digest("codex:a"),
                }
                for text, ref in (
                    ("codex:a#r1", {"kind": "record", "value": "r1"}),
                    ("codex:a#turnId=t", {"kind": "turn", "value": "t"}),
                    ("codex:a", None),
                )
            ),
        ]
        assert (result.exit_code, result.stderr) == (0, "")

    def test_text_shows_each_part(self):
        """For people: the parts, and the reference only where it differs from what was given."""
        assert run("parse", T3).stdout == (
            f"{T3}\n"
            "  agent        t3-code\n"
            "  namespace    6f1d\n"
            "  session ID   thread:x\n"
            "  callId       A\n"
            "  reference    t3-code:6f1d:thread%3Ax#callId=A\n"
            "  canonical    t3-code:6f1d:thread%3Ax\n"
            f"  digest       {sr.digest(T3)}\n"
        )
        text = run("parse", "codex:a#r1", "codex:a#turnId=t", "codex:a").stdout
        assert "  record       r1\n" in text
        assert "  turnId       t\n" in text
        assert "reference" not in text

    def test_all_faults_with_their_places(self):
        """Each fault of a bad reference stands under its place; the good ones are shown."""
        result = run("parse", "codex::%zz", "codex:a")
        assert result.exit_code == 1
        assert result.stdout.startswith("codex:a\n")
        assert "argument 1: empty namespace" in result.stderr
        assert "\n  codex::%zz\n         ^^^\n" in result.stderr

    def test_octets_that_are_no_utf8(self):
        """A line that is no text gets one report."""
        result = run("parse", stdin=b"codex:\xff")
        assert result.stderr.count("stdin:1: ") == 1
        assert "invalid-utf8" in result.stderr

    def test_faults_of_a_hostile_text_are_bounded(self):
        """A text with a fault at every other character does not flood the terminal."""
        assert run("parse", "codex:" + "%!" * 10_000).stderr.count("argument 1: ") == 10

    def test_complaint_38_every_bad_reference_is_reported(self):
        """Three bad texts give three reports, each with its place in the input."""
        result = run("parse", stdin=b"a\ncodex:b\nc\nd\n")
        assert [n for n in range(1, 5) if f"stdin:{n}: " in result.stderr] == [1, 3, 4]

    def test_nothing_from_the_data_reaches_a_terminal_raw(self):
        """Overrides and escape sequences of a good or bad text are shown escaped."""
        result = run("parse", f"codex:a{BIDI}%1B", "codex:\x1b[31m\x9b", f"codex:{BIDI} ")
        assert not {BIDI, "\x1b", "\x9b"} & set(result.output)
        assert "a\\u202e\\x1b" in result.stdout

    def test_complaint_41_tree_without_names_of_lark(self):
        """The parse tree of the grammar, for people and for programs; no name of Lark's in it."""
        result = run("parse", "--tree", "codex:a%3A#turnId=t", "x")
        assert result.stdout == (
            "session-ref\n"
            "  session-key\n"
            "    agent-name  codex\n"
            "    session-id  a%3A  = a:\n"
            "  turn-ref\n"
            "    turn-key  turnId\n"
            "    value  t\n"
        )
        assert result.exit_code == 1
        (tree,) = objects(run("parse", "--tree", "--json", "codex:a").stdout)
        assert tree["text"] == "codex:a"
        assert tree["nodes"][-1] == {
            "name": "session-id",
            "depth": 2,
            "text": "a",
            "start": 6,
            "end": 7,
            "value": "a",
        }

    def test_a_string_of_ten_megabytes(self):
        """A huge reference is read in one go, good or bad."""
        long = b"codex:" + b"a" * 10_000_000
        result = run("digest", stdin=long + b"\n" + long + b"%\n")
        assert result.exit_code == 1
        assert result.stdout == f"sha256:{hashlib.sha256(long).hexdigest()}\n\n"
        assert len(result.stderr) < 1000


class TestBuild:
    def test_encodes_raw_parts(self):
        """Nothing that is given is decoded, all that must be encoded is."""
        result = run("build", "t3-code", "--namespace", "6f:1d", "a%3A", "--ref", "callId=é:")
        assert result.stdout == "t3-code:6f%3A1d:a%253A#callId=é%3A\n"
        assert (result.exit_code, result.stderr) == (0, "")

    def test_other_forms(self):
        """The canonical form and its digest never hold the ref."""
        assert run("build", "com.openai.codex", "a", "--ref", "r", "--canonical").stdout == (
            "codex:a\n"
        )
        assert run("build", "codex", "a", "--digest").stdout == f"{sr.digest('codex:a')}\n"

    def test_json_is_that_of_parse(self):
        """What is built is shown as `parse` shows it."""
        built = run("build", "--json", "codex", "a:b", "--ref", "turnId=t").stdout
        assert built == run("parse", "--json", "codex:a%3Ab#turnId=t").stdout

    def test_unregistered_short_name_is_a_warning(self):
        """ASR-057: the reference is valid, its producer is told; a reverse-DNS name is fine."""
        result = run("build", "my-agent", "a")
        assert (result.exit_code, result.stdout) == (0, "my-agent:a\n")
        assert "warning: " in result.stderr
        assert "ASR-057" in result.stderr
        assert run("build", "com.example.agent", "a").stderr == ""

    @pytest.mark.parametrize(
        ("arguments", "code"),
        [
            (("Codex", "a"), "bad-agent-name"),
            (("codex", ""), "empty-component"),
            (("codex", "a", "--namespace", ""), "empty-component"),
            (("codex", "a", "--ref", "nokey=a"), "unknown-entity-key"),
            (("codex", "a", "--ref", "r:1"), "unencodable-record-id"),
            (("codex", "\ud800"), "surrogate"),
        ],
    )
    def test_parts_that_make_no_reference(self, arguments, code):
        """Parts that cannot stand in a reference are refused, as text and as JSON."""
        result = run("build", *arguments)
        assert (result.exit_code, result.stdout) == (1, "")
        assert code in result.stderr
        (said,) = objects(run("build", "--json", *arguments).stdout)
        assert said["error"]["code"] == code

    def test_id_that_begins_with_a_dash(self):
        """Such an ID stands behind two dashes."""
        assert run("build", "--", "codex", "-a").stdout == "codex:-a\n"


class TestTerminal:
    @pytest.mark.parametrize(
        "arguments", [("canonical", f"codex:{BIDI}"), ("build", "codex", BIDI)]
    )
    def test_forms_are_exact_but_on_a_terminal(self, arguments, monkeypatch):
        """A form is data: exact in a file or pipe, escaped where a terminal would obey it."""
        assert run(*arguments).stdout == f"codex:{BIDI}\n"
        monkeypatch.setattr(
            "click.testing._NamedTextIOWrapper.isatty", lambda _: True, raising=False
        )
        assert run(*arguments).stdout == "codex:\\u202e\n"


def process(*arguments: str, stdin: bytes = b"", **env: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "sessionref", *(one.encode() for one in arguments)],
        input=stdin,
        capture_output=True,
        check=False,
        env={**env} if env else None,
    )


class TestProcess:
    def test_without_options_and_with(self):
        """The short way that needs no options and the long way print the same."""
        short = process("canonical", "com.openai.codex:é", "x")
        long = process("canonical", "--", "com.openai.codex:é", "x")
        assert (short.returncode, short.stdout) == (1, "codex:é\n\n".encode())
        assert (long.returncode, long.stdout, long.stderr) == (
            short.returncode,
            short.stdout,
            short.stderr,
        )

    def test_arguments_are_utf8_in_a_locale_that_is_not(self, capsysbinary):
        """Python hands on what ASCII cannot decode as surrogates."""
        assert cli.main(["canonical", "com.openai.codex:\udcc3\udca9"]) == 0
        assert capsysbinary.readouterr().out == "codex:é\n".encode()

    def test_octets_of_arguments_that_are_no_utf8(self):
        """Undecodable arguments end in a report, not a traceback."""
        done = subprocess.run(
            [sys.executable, "-m", "sessionref", "digest", b"codex:\xff"],
            capture_output=True,
            check=False,
        )
        assert done.returncode == 1
        assert b"invalid-utf8" in done.stderr
        assert b"Traceback" not in done.stderr

    def test_terminal_that_knows_only_ascii(self):
        """Reports escape what stderr cannot encode; forms are UTF-8 whatever stdout's encoding."""
        done = process("canonical", "codex:é", "codex:é ", PYTHONIOENCODING="ascii", PYTHONUTF8="1")
        assert done.stdout == "codex:é\n\n".encode()
        assert b"codex:\\xe9 " in done.stderr


def test_streaming_keeps_nothing():
    """Lines come out before the input ends: nothing waits for the last line."""
    with subprocess.Popen(
        [sys.executable, "-m", "sessionref", "canonical"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as running:
        assert running.stdin
        assert running.stdout
        for number in range(3):
            running.stdin.write(b"com.openai.codex:%d\n" % number)
            running.stdin.flush()
            assert running.stdout.readline() == b"codex:%d\n" % number
        running.stdin.close()
    assert running.returncode == 0


def test_error_objects_of_every_kind_are_json():
    """The span, the rule and the component are those of the exception."""
    with pytest.raises(sr.InvalidReference) as caught:
        sr.parse("codex:%zz")
    said = _references.error_object("codex:%zz", caught.value)
    assert said["error"]["start"], said["error"]["end"] == caught.value.span


def test_build_warns_of_an_id_that_needs_a_namespace():
    """The reference is valid, and names more than one session (ASR-054)."""
    for arguments, warned in (
        (["goose", "20260714_2"], True),
        (["goose", "20260714_2", "--namespace", "box-3"], False),
        (["codex", "t-1"], False),
    ):
        result = CliRunner().invoke(program, ["build", *arguments])
        assert result.exit_code == 0
        assert ("missing-namespace, ASR-054" in result.stderr) is warned
