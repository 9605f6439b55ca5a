"""How the command ends as a process, whatever happens to its streams."""

from __future__ import annotations

import errno
import io
import os
import runpy
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cli_logs import STREAM, codex_log
from click.testing import CliRunner

from sessionref import cli
from sessionref.cli import _progress
from sessionref.cli._app import COMMANDS, program
from sessionref.cli._common import Outcome
from sessionref.cli._text import shortened
from sessionref.findings import Finding
from sessionref.streams.walk import Found

COMMAND = [sys.executable, "-m", "sessionref"]


def ended(*arguments: str, **options: object) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*COMMAND, *arguments], capture_output=True, check=False, **options)


#: With PYTHONUNBUFFERED, Python writes at once, which hides what happens at the end of a process.
BUFFERED = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
NO_SPACE = b"sessionref: No space left on device\n"
FULL_DEVICE = Path("/dev/full")
#: Every command, with every way that it has to print.
FULL = [
    arguments.split()
    for arguments in (
        "--help",
        "--version",
        "parse --help",
        "parse codex:a",
        "parse --tree codex:a",
        "parse --json codex:a",
        "build codex a",
        "build --json codex a",
        "canonical codex:a",
        "canonical --json codex:a",
        "digest codex:a",
        "digest --json codex:a",
        "agents",
        "agents codex",
        "agents --json",
        "grammar",
        "grammar --as re2",
        "grammar --json",
        "resolve rollout.jsonl callId=call_1",
        "resolve rollout.jsonl callId=call_1 --show",
        "resolve --json rollout.jsonl callId=call_1",
        "check bad.jsonl",
        "check --json bad.jsonl",
        "check --format sarif bad.jsonl",
        "check --format github bad.jsonl",
        "check --rules",
        "check --explain 64",
        "tree rollout.jsonl",
        "tree --json rollout.jsonl",
        "tree --format dot rollout.jsonl",
        "tree --format mermaid rollout.jsonl",
        "tree --format graphml rollout.jsonl",
        "tree --format html rollout.jsonl",
        "usage rollout.jsonl",
        "usage --json rollout.jsonl",
        "convert rollout.jsonl",
    )
]


def full(*arguments: str, env: dict[str, str] | None = None, cwd: Path | None = None):
    if not FULL_DEVICE.exists():
        pytest.skip("there is no device that is always full")
    with FULL_DEVICE.open("wb") as device:
        return subprocess.run(
            [*COMMAND, *arguments],
            env={**BUFFERED, **(env or {})},
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=device,
            stderr=subprocess.PIPE,
            check=False,
        )


class TestHelp:
    def test_every_command_is_listed_and_has_help(self):
        """Help names each command, and each tells of --json."""
        runner = CliRunner()
        text = runner.invoke(program, ["--help"]).stdout
        for name in COMMANDS:
            assert f"\n  {name} " in text
            help_text = runner.invoke(program, [name, "-h"]).stdout
            assert "--json" in help_text

    def test_help_and_version_are_no_errors(self):
        """Exit code 0, on stdout."""
        assert ended("--help").returncode == 0
        assert ended("--version").stdout.startswith(b"sessionref, version ")

    @pytest.mark.parametrize("arguments", [["nothing"], ["parse", "--none"], ["build"], []])
    def test_wrong_usage_is_exit_code_2(self, arguments):
        """Unknown commands and options, missing arguments."""
        assert cli.main(arguments) == 2

    def test_message_about_usage_is_escaped(self, capsys):
        """What was given is part of the message, never of what the terminal obeys."""
        assert cli.main(["\x1b[31m"]) == 2
        assert cli.main(["grammar", "\x9b\u202e"]) == 2
        assert not {"\x1b", "\x9b", "\u202e"} & set(capsys.readouterr().err)

    def test_completion_for_shells(self, monkeypatch, capsys):
        """A shell that asks for completions gets the commands."""
        monkeypatch.setenv("_SESSIONREF_COMPLETE", "bash_complete")
        monkeypatch.setenv("COMP_WORDS", "sessionref re")
        monkeypatch.setenv("COMP_CWORD", "1")
        with pytest.raises(SystemExit) as caught:
            cli.main([])
        assert caught.value.code == 0
        assert capsys.readouterr().out == "plain,resolve\n"


class TestEnd:
    def test_exit_codes_of_the_short_and_the_long_way(self, capsysbinary):
        """`main` returns 0 or 1 whether click was needed or not."""
        for arguments, code in (
            (["canonical", "codex:a"], 0),
            (["digest", "x"], 1),
            (["canonical", "--json", "codex:a"], 0),
            (["parse", "x"], 1),
            (["grammar"], 0),
        ):
            assert cli.main(arguments) == code
        assert capsysbinary.readouterr().out.startswith(b"codex:a\n")

    def test_module_can_be_run(self, monkeypatch, capsysbinary):
        """`python -m sessionref` is the command."""
        monkeypatch.setattr(sys, "argv", ["sessionref", "canonical", "codex:a"])
        with pytest.raises(SystemExit) as caught:
            runpy.run_module("sessionref", run_name="__main__")
        assert caught.value.code == 0
        assert capsysbinary.readouterr().out == b"codex:a\n"
        runpy.run_module("sessionref.__main__", run_name="other")

    def test_reader_that_goes_away(self, tmp_path):
        """A broken pipe ends the command at once and without a word."""
        file = tmp_path / "references"
        file.write_bytes(b"codex:a\n" * 100_000)
        with (
            file.open("rb") as stdin,
            subprocess.Popen(
                [*COMMAND, "digest"], stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE
            ) as running,
        ):
            assert running.stdout
            assert running.stderr
            running.stdout.read(100)
            running.stdout.close()
            assert running.stderr.read() == b""
        assert running.returncode == 141

    def test_control_c(self):
        """An interrupt ends the command with exit code 130 and without a traceback."""
        with subprocess.Popen(
            [*COMMAND, "canonical"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as running:
            assert running.stdin
            assert running.stdout
            assert running.stderr
            running.stdin.write(b"codex:a\n")
            running.stdin.flush()
            assert running.stdout.readline() == b"codex:a\n"
            running.send_signal(signal.SIGINT)
            assert running.stderr.read() == b""
        assert running.returncode == 130

    @pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-"])
    def test_stream_that_is_closed(self, closed):
        """A missing stream is an empty one."""
        shell = f'exec "$0" -m sessionref canonical {closed}'
        done = subprocess.run(
            ["/bin/sh", "-c", shell, sys.executable], input=b"x\n", capture_output=True, check=False
        )
        assert done.returncode == (0 if closed == "<&-" else 1)
        assert b"Traceback" not in done.stderr

    @pytest.mark.parametrize("arguments", FULL, ids=" ".join)
    def test_device_that_is_full(self, arguments, tmp_path):
        """One line on stderr and exit code 3, for every command and every way to print."""
        (tmp_path / "rollout.jsonl").write_bytes(codex_log())
        (tmp_path / "bad.jsonl").write_bytes(STREAM + b"{}\n")
        done = full(*arguments, cwd=tmp_path)
        assert (done.returncode, done.stderr) == (3, NO_SPACE)

    def test_device_is_tried_with_every_command(self):
        """A new command comes to the list above."""
        assert {arguments[0] for arguments in FULL if not arguments[0].startswith("-")} == {
            *COMMANDS
        }

    def test_completion_on_a_full_device(self):
        """What a shell asks for, too."""
        asked = {"_SESSIONREF_COMPLETE": "bash_complete", "COMP_WORDS": "sessionref re"}
        done = full(env={**asked, "COMP_CWORD": "1"})
        assert (done.returncode, done.stderr) == (3, NO_SPACE)

    def test_stderr_that_is_full(self):
        """Nobody can be told; the exit code is 3 all the same."""
        with FULL_DEVICE.open("wb") as device:
            done = subprocess.run(
                [*COMMAND, "canonical", "x"],
                env=BUFFERED,
                stdout=subprocess.PIPE,
                stderr=device,
                check=False,
            )
        assert (done.returncode, done.stdout) == (3, b"")

    @pytest.mark.parametrize(
        ("error", "code"),
        [
            (KeyboardInterrupt(), 130),
            (OSError(errno.ENOSPC, "No space left on device"), 3),
            (OSError("without a number"), 3),
        ],
    )
    def test_what_stops_the_command(self, error, code, monkeypatch, capsys):
        """Each way of being stopped has its exit code."""

        def stop(_arguments):
            raise error

        monkeypatch.setattr(cli, "_run", stop)
        assert cli.main([]) == code
        assert "Traceback" not in capsys.readouterr().err

    def test_pipe_that_breaks_in_process(self, monkeypatch, tmp_path):
        """The pipe is replaced by nothing, so that the end of the process does not meet it again."""
        file = tmp_path / "out"

        def stop(_arguments):
            raise BrokenPipeError

        monkeypatch.setattr(cli, "_run", stop)
        with file.open("w") as out:
            monkeypatch.setattr(sys, "stdout", out)
            assert cli.main([]) == 141
            print("lost", file=out)
        assert file.read_text() == ""

    def test_stream_that_python_was_started_without(self, monkeypatch):
        """What is missing is opened on nothing."""
        monkeypatch.setattr(sys, "stdin", None)
        monkeypatch.setattr(sys, "stdout", None)
        assert cli.main(["canonical"]) == 0
        sys.stdin.close()
        sys.stdout.close()


class Terminal(io.StringIO):
    """A terminal, and the text that it gets."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch):
    """Gives stderr a terminal when it is called, where a wait of no time is a wait."""

    def attach() -> Terminal:
        made = Terminal()
        monkeypatch.setattr(sys, "stderr", made)
        monkeypatch.setattr(_progress, "_PATIENCE", 0)
        monkeypatch.setenv("TERM", "xterm")
        return made

    return attach


FILES = [Found(f"log\x1b{number}", named=False) for number in range(3)]


class TestProgress:
    def test_bar_for_whoever_waits(self, terminal):
        """After a while a bar shows how many files are done, and which is read."""
        screen = terminal()
        end = time.monotonic() + 60  # the bar is drawn by a thread, which may have to wait
        for file in _progress.watched(FILES, 3, shares_terminal=False):
            while file is FILES[2] and time.monotonic() < end:
                if "2/3" in screen.getvalue() and "log\\x1b2" in screen.getvalue():
                    break
                time.sleep(0.01)
            else:
                assert file is not FILES[2]

    def test_none_where_all_is_done_at_once(self, terminal, monkeypatch):
        """Whoever does not wait sees nothing."""
        screen = terminal()
        monkeypatch.setattr(_progress, "_PATIENCE", 60)
        assert len([*_progress.watched(FILES, 3, shares_terminal=False)]) == 3
        assert screen.getvalue() == ""

    def test_none_where_stderr_is_no_terminal(self, monkeypatch):
        """A file or pipe gets no bar."""
        monkeypatch.setattr(sys, "stderr", io.StringIO())
        assert len([*_progress.watched(FILES, 3, shares_terminal=False)]) == 3

    def test_none_where_the_output_fills_the_terminal(self, terminal, monkeypatch):
        """A bar would run through what is written."""
        screen = terminal()
        monkeypatch.setattr(sys, "stdout", screen)
        assert len([*_progress.watched(FILES, 3, shares_terminal=True)]) == 3
        assert screen.getvalue() == ""

    def test_late_timer_shows_nothing(self):
        """A timer that fires when all is done changes nothing."""
        bar = _progress._Bar(1)
        bar.end()
        bar.appear()
        assert bar._shown is None

    def test_names_are_cut_to_the_width_of_the_bar(self):
        """A long name ends in an ellipsis, a short one stays."""
        assert shortened("a" * 100, 10) == "a" * 9 + "…"
        assert shortened("a\x1b", 10) == "a\\x1b"


def test_error_among_findings_is_exit_code_1(capsys):
    """Warnings leave the exit code as it is, errors make it 1, unread input makes it 3 for good."""
    outcome = Outcome()
    for severity, code, expected in (
        ("warning", "crlf", 0),
        ("error", "bad-member", 1),
        ("error", "unreadable", 3),
        ("error", "bad-member", 3),
    ):
        outcome.report(Finding(code=code, severity=severity, message="m", file="f", line=2))
        assert outcome.code == expected
    assert capsys.readouterr().err.splitlines()[0] == "f:2: warning: m (crlf)"


def test_all_commands_on_one_log(tmp_path):
    """From a native log to a stream to a record, through real processes."""
    log = tmp_path / "rollout.jsonl"
    log.write_bytes(codex_log())
    converted = ended("convert", str(log))
    assert converted.returncode == 0
    found = ended("resolve", "-", "callId=call_1", input=converted.stdout)
    assert found.returncode == 0
    assert found.stdout.startswith(b"resolved  callId=call_1\n")
    missing = ended("resolve", "-", "r9", input=STREAM)
    assert (missing.returncode, missing.stderr) == (1, b"")


@pytest.mark.skipif(not FULL_DEVICE.exists(), reason="needs a device that is always full")
def test_a_stream_that_cannot_be_flushed_is_given_up():
    """Its end is silent: Python flushes it once more when the process ends."""
    with FULL_DEVICE.open("w") as stream:
        stream.write("lost")
        cli._settle(stream)
        stream.write("given up")
