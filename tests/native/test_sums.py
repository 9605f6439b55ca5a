"""Tokens equal an independent sum of each log, on every folder of real logs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import native_sums
import pytest

import sessionref as sr

if TYPE_CHECKING:
    from pathlib import Path

SUMS = {"claude-code": native_sums.claude_code, "codex": native_sums.codex}


def _folders() -> list[tuple[str, str]]:
    return [
        (agent, corpus) for agent in SUMS for corpus in ("corpus", "corpus-large", "corpus-2026")
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("agent", "corpus"), _folders())
def test_tokens_equal_an_independent_sum(shared: Path, agent: str, corpus: str):
    """What counts once is what the logs say, added without the package."""
    top = shared / corpus / agent
    folders = sorted(top.iterdir()) if corpus == "corpus" else [top]
    assert folders
    for folder in folders:
        once = sr.Scope.read([folder]).totals().total.counted_once
        ours = (
            once.input_tokens,
            once.cache_read_tokens,
            once.cache_write_tokens,
            once.output_tokens,
        )
        assert ours == SUMS[agent](folder), folder.name
