"""Real logs, where they are at hand: each converts, and all that it names resolves."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sessionref.native import convert, detect
from sessionref.refs import EntityRef
from sessionref.streams.index import read_streams

if TYPE_CHECKING:
    from sessionref.findings import Finding
    from sessionref.streams.index import StreamIndex

KNOWN = ("corpus/claude-code", "corpus/codex", "corpus-large/claude-code", "corpus-large/codex")


def logs(shared: Path, *folders: str) -> list[Path]:
    return [p for f in folders for p in sorted((shared / f).rglob("*")) if p.is_file()]


def converted(path: Path) -> tuple[list[StreamIndex], list[Finding]]:
    found: list[Finding] = []
    lines = list(convert([path], found.append))
    return (list(read_streams(lines)) if lines else []), found


def test_every_log_converts_and_all_that_it_names_resolves(shared: Path):
    """No traceback, no error; ambiguous is only what the log itself uses for several things."""
    ambiguous = set()
    for path in logs(shared, *KNOWN):
        indexes, found = converted(path)
        assert not [f for f in found if f.severity == "error"], path
        if not indexes:
            assert len(found) == 1, path
        for index in indexes:
            assert index.findings == (), path
            assert index.session is not None
            for ref in index.refs():
                state = index.resolve(ref).state
                assert state in {"resolved", "ambiguous"}
                if state == "ambiguous":
                    assert isinstance(ref, EntityRef)
                    ambiguous.add(path.name)
    # A fixture whose values were all replaced by one text, and a branch that was written twice.
    assert ambiguous <= {"small.jsonl", "05c88849-2cba-4805-a58c-15cf1ed484e2.jsonl"}


def test_one_file_gives_one_session_but_for_those_that_hold_two(shared: Path):
    """Two files of the folder hold rows of a second session."""
    several = {
        path.name: [index.session for index in converted(path)[0]]
        for path in logs(shared, "corpus/claude-code")
        if len(converted(path)[0]) > 1
    }
    assert several == {
        "edge_cases.jsonl": ["claude-code:edge_cases", "claude-code:todowrite_session"],
        "main.jsonl": [
            "claude-code:claude-normalization-main",
            "claude-code:claude-normalization-other",
        ],
    }


def test_logs_without_a_session_give_no_stream_and_one_finding(shared: Path):
    """Sidecars, journals, manifests, and rollouts that were written before there was a meta."""
    without = {path.name for path in logs(shared, *KNOWN) if not converted(path)[0]}
    assert without == {
        "journal.jsonl",
        "agent-a5c1d2e3f4a5b6c7d.meta.json",
        "agent-a0ad4f44468bdf20d.meta.json",
        "manifest.json",
        "session_simple.jsonl",
        "session_toolcall.jsonl",
    }


def test_logs_of_other_agents_are_unknown(shared: Path):
    """None of them is taken for an agent that is known."""
    known = {Path(folder).name for folder in KNOWN}
    for path in logs(shared, "corpus", "corpus-large"):
        if not known & set(path.parts):
            assert detect(path.read_bytes()[: 1 << 20]) is None, path


@pytest.mark.parametrize("folder", ["old-resume-copies-history"])
def test_a_copied_head_is_no_second_session(shared: Path, folder: str):
    """The old session's row at the head belongs to the file's own session."""
    for path in logs(shared, f"corpus/claude-code/{folder}"):
        (index,) = converted(path)[0]
        assert index.session == f"claude-code:{path.stem}"


def test_fork_families_have_the_calls_that_their_counts_show(shared: Path):
    """A repeat of the total just before it is no call; a later equal one would be."""
    family = shared / "corpus/codex/codexbar-live-fork-4d90-52bf/codex-home/archived_sessions"
    calls = {
        path.stem: sum(hit.type == "inference" for hit in converted(path)[0][0])
        for path in logs(shared, str(family.relative_to(shared)))
    }
    assert calls == {"parent": 178, "child": 194}
