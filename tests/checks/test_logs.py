"""What the readers of native logs write keeps the rules."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from cli_logs import codex_log
from click.testing import CliRunner

from sessionref.cli._app import program

if TYPE_CHECKING:
    from pathlib import Path

#: Findings that are no errors, and what in the logs explains them.
EXPLAINED = {
    "identity-conflict": "files of one session whose records differ: kept apart (ASR-050)",
    "no-such-session": "parents and children whose files are not in the folder (ASR-079)",
    "no-such-entity": "results and calls of which one side was never written (ASR-079)",
    "no-such-record": "parents that were never written (ASR-063)",
    "no-such-ordinal": "boundaries in files that count no ordinals (ASR-079)",
    "no-announcement": "parents whose log has no result that names a child (ASR-412)",
    "no-such-turn": "turns of which no record is left (ASR-075)",
    "ambiguous": "IDs that the source used again (ASR-064)",
    "capture-scoped": "records that hold for one capture only (ASR-071)",
    "message-id-as-inference-id": "sources that gave a row and its message one ID (ASR-074)",
    "duplicate-member": "members that stand twice in what was logged",
    "lone-surrogate": "text that the source cut inside a character",
}


def run(*arguments: str, stdin: bytes | None = None):
    return CliRunner().invoke(program, arguments, input=stdin)


@pytest.mark.parametrize("agent", ["claude-code", "codex"])
@pytest.mark.parametrize("corpus", ["corpus", "corpus-large"])
def test_converted_logs_have_no_error(shared: Path, corpus: str, agent: str) -> None:
    """`convert` piped into `check -`: no finding of severity error, and every other explained."""
    folder = shared / corpus / agent
    if not folder.is_dir():
        pytest.skip(f"there is no {corpus}/{agent}")
    streams = run("convert", str(folder)).stdout_bytes
    assert streams
    findings: list[dict[str, Any]] = [
        json.loads(line) for line in run("check", "-", "--json", stdin=streams).stdout.splitlines()
    ]
    assert [f for f in findings if f["severity"] == "error"] == []
    assert {f["code"] for f in findings} <= set(EXPLAINED)


def test_a_native_log_is_checked_at_its_own_lines(tmp_path: Path) -> None:
    """What is wrong with a reference is reported where the log has it."""
    log = tmp_path / "rollout.jsonl"
    log.write_bytes(codex_log() + codex_log()[:-40])
    result = run("check", str(log), "--json")
    findings = [json.loads(line) for line in result.stdout.splitlines()]
    assert {f["file"] for f in findings} <= {str(log)}
    assert [f for f in findings if f["severity"] == "error"] == []


def test_what_a_reader_leaves_out_is_no_fault(tmp_path: Path) -> None:
    """Streams converted without content check clean too."""
    (tmp_path / "rollout.jsonl").write_bytes(codex_log())
    streams = run("convert", "--no-content", str(tmp_path)).stdout_bytes
    result = run("check", "-", stdin=streams)
    assert (result.output, result.exit_code) == ("", 0)
