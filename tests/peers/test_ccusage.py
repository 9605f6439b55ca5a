"""The tokens of Claude Code logs, beside what the npm package `ccusage` counts.

Both read the same folder. Where the numbers differ, a test shows why. `package.json` here holds
the version.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from sessionref.api import Scope

if TYPE_CHECKING:
    from pathlib import Path

#: These logs have a space behind each colon, and the peer passes over such rows.
SPACED = {
    "claude-code-log-edge_cases",
    "claude-code-log-representative_messages",
    "claude-code-log-session_b",
}
MEMBERS = ("inputTokens", "cacheReadTokens", "cacheCreationTokens", "outputTokens")


@pytest.fixture(scope="session")
def ccusage(packages: Path) -> Path:
    """The peer's command."""
    return packages / ".bin/ccusage"


def counted_by_peer(command: Path, home: Path) -> tuple[int, ...]:
    done = subprocess.run(
        [command, "session", "--offline", "--json"],
        env={**os.environ, "CLAUDE_CONFIG_DIR": str(home)},
        capture_output=True,
        check=True,
    )
    totals = json.loads(done.stdout)["totals"]
    return tuple(totals[member] for member in MEMBERS)


def counted_by_us(folder: Path) -> tuple[int, ...]:
    measure = Scope.read([folder]).totals().total.counted_once
    return (
        measure.input_tokens,
        measure.cache_read_tokens,
        measure.cache_write_tokens,
        measure.output_tokens,
    )


def home_with(folder: Path, home: Path) -> Path:
    shutil.copytree(folder, home / "projects")
    return home


def test_the_large_transcripts_have_the_same_tokens(shared: Path, ccusage: Path, tmp_path: Path):
    """Millions of tokens in 354 model calls, parents, a subagent and a side agent."""
    home = home_with(shared / "corpus-large/claude-code", tmp_path / "home")
    assert counted_by_us(home) == counted_by_peer(ccusage, home) == (2815, 30205090, 581321, 123534)


def test_every_other_log_has_the_same_tokens(shared: Path, ccusage: Path, tmp_path: Path):
    """Plain ones, and also forks and resumes: the peer tells calls apart by the same two IDs."""
    different = set()
    for folder in sorted((shared / "corpus/claude-code").iterdir()):
        home = home_with(folder, tmp_path / folder.name)
        if counted_by_us(home) != counted_by_peer(ccusage, home):
            different.add(folder.name)
    assert different == SPACED


@pytest.mark.parametrize("name", sorted(SPACED))
def test_rows_that_are_written_with_spaces_are_the_one_difference(
    name: str, shared: Path, ccusage: Path, tmp_path: Path
):
    """The same rows without spaces have the same tokens; ours do not change."""
    home = home_with(shared / "corpus/claude-code" / name, tmp_path / "home")
    before = counted_by_us(home)
    assert before != counted_by_peer(ccusage, home)
    for file in home.rglob("*.jsonl"):
        rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
        compact = (json.dumps(row, separators=(",", ":")) + "\n" for row in rows)
        file.write_text("".join(compact), "utf-8")
    assert counted_by_us(home) == before == counted_by_peer(ccusage, home)
