"""Real logs: the families that they are, to the token, and no relation without evidence."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from sessionref.api import Scope
from sessionref.native import LogSet

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LIVE, SMOKE, ORPHANS = (
    f"corpus/codex/codexbar-{name}"
    for name in ("live-fork-4d90-52bf", "harness-smoke", "missing-parent-siblings")
)
PLAIN_PAIRS = (
    "corpus/claude-code/reset-clear",
    "corpus/claude-code/two-sessions-same-cwd",
    "corpus/codex/reset-new",
)


def manifest(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "manifest.json").read_bytes())


def token_counts(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_text().splitlines():
        payload = json.loads(line)["payload"]
        if payload.get("type") == "token_count":
            yield payload["info"]


def file_of(folder: Path, alias: str) -> Path:
    (entry,) = (entry for entry in manifest(folder)["files"] if entry["alias"] == alias)
    return folder / entry["relativePath"]


def tokens(measure: Any) -> int:
    return measure.input_tokens + measure.cache_read_tokens + measure.output_tokens


def row(scope: Scope, session: str) -> Any:
    (found,) = (total for total in scope.totals().sessions if total.session == session)
    return found


@pytest.mark.parametrize("folder", [LIVE, SMOKE])
def test_a_copied_prefix_has_the_length_that_its_manifest_says(shared: Path, folder: str):
    """As many of the child's counts are copies as the other project found."""
    (prefix,) = manifest(shared / folder)["copiedPrefixes"]
    scope = Scope.read([shared / folder])
    child, parent = row(scope, "codex:child-session"), row(scope, "codex:parent-session")
    infos = list(token_counts(file_of(shared / folder, "child")))
    copied, own = infos[: prefix["length"]], infos[prefix["length"] :]
    with LogSet() as logs:
        for alias in ("child", "parent"):
            logs.add(file_of(shared / folder, alias), print)
        header = next(logs.streams(file_of(shared / folder, "child"), print)).header
    end = int(header.lineage["inherits"]["localThroughId"].removeprefix("line/"))
    lines = file_of(shared / folder, "child").read_text().splitlines()
    assert sum('"token_count"' in line for line in lines[:end]) == prefix["length"]
    assert child.copied.calls == len(distinct(copied))
    assert child.original.calls == len(distinct(infos)) - len(distinct(copied))
    assert tokens(child.original) == sum(map(spent, own))
    assert tokens(child.copied) == tokens(parent.original)
    assert child.unknown.calls == parent.unknown.calls == 0
    assert not scope.totals().may_include_copies


def distinct(infos: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The counts whose total differs from the one just before: the model calls."""
    totals = [None, *(info["total_token_usage"] for info in infos)]
    return [
        info
        for info, before in zip(infos, totals, strict=False)
        if info["total_token_usage"] != before
    ]


def spent(info: dict[str, Any]) -> int:
    last = info["last_token_usage"]
    return last["input_tokens"] + last["output_tokens"]


def test_what_the_manifests_tokens_hold_too_much(shared: Path):
    """`...LastTokens` add `last_token_usage.total_tokens`: one size of a context and one repeat.

    A compaction leaves a count whose total stays and whose `total_tokens` is the size of the
    context; and one count is written a second time. Neither is spend.
    """
    folder = shared / LIVE
    infos = list(token_counts(file_of(folder, "child")))
    calls = distinct(infos)
    assert all(info["last_token_usage"]["total_tokens"] == spent(info) for info in calls)
    others = [
        (n, i["last_token_usage"]) for n, i in enumerate(infos, 1) if i not in calls or n == 121
    ]
    assert [(n, last["total_tokens"], last["input_tokens"]) for n, last in others] == [
        (82, 19_666, 0),
        (121, 117_225, 117_001),
    ]
    assert 19_666 + 117_225 == 136_891
    oracle = manifest(folder)["oracle"]
    total = Scope.read([folder]).totals().total.counted_once
    assert oracle["dedupedLastTokens"] - tokens(total) == 136_891
    assert infos[-1]["total_token_usage"]["total_tokens"] == tokens(total)


def test_without_their_parent_siblings_are_unknown(shared: Path):
    """How much is said, never a sure number; and equal heads relate nothing."""
    folder = shared / ORPHANS
    scope = Scope.read([folder])
    for alias in ("sibling-a", "sibling-b"):
        total = row(scope, f"codex:{alias}-session")
        infos = list(token_counts(file_of(folder, alias)))
        assert total.original.calls == total.copied.calls == 0
        assert total.unknown.calls == len(distinct(infos))
        assert tokens(total.unknown) == infos[-1]["total_token_usage"]["total_tokens"]
    assert scope.totals().may_include_copies
    edges = {(e.facet, e.target, e.state) for e in scope.forest().edges}
    assert edges == {("forkedFrom", "codex:missing-parent-session", "unresolved")}


def test_families_that_reuse_session_ids_are_a_conflict(shared: Path):
    """All three folders at once: the same IDs with other content, so nothing is sure (ASR-050)."""
    scope = Scope.read([shared / folder for folder in (LIVE, SMOKE, ORPHANS)])
    conflicts = {session.canonical for session in scope if session.conflict}
    assert conflicts == {"codex:parent-session", "codex:child-session"}
    assert row(scope, "codex:child-session").original.calls == 0


@pytest.mark.parametrize("name", ["corpus/claude-code", "corpus/codex"])
def test_every_edge_has_evidence(shared: Path, name: str):
    """Each folder by itself, and all at once: no traceback, and no edge without evidence."""
    folders = [*sorted((shared / name).iterdir()), shared / name]
    for folder in folders:
        scope = Scope.read([folder])
        for edge in scope.forest().edges:
            assert edge.facet == "announces" or edge.evidence is not None, (folder, edge)
        scope.totals()
        errors = [f for f in scope.check() if f.severity == "error"]
        assert errors == [], folder


@pytest.mark.parametrize("folder", PLAIN_PAIRS)
def test_unrelated_sessions_have_no_edge(shared: Path, folder: str):
    """Two sessions in one folder, at one time, or one after the other."""
    scope = Scope.read([shared / folder])
    assert len(scope) == 2
    assert list(scope.forest().edges) == []


def test_copies_without_a_mark_have_no_edge(shared: Path):
    """Of a side agent that repeats its parent's turns, only what its rows carry is known."""
    scope = Scope.read([shared / "corpus/claude-code/acompact-synthetic"])
    facets = {edge.facet for edge in scope.forest().edges}
    assert facets == {"relatedUnknown"}


def verdicts(scope: Scope) -> dict[tuple[str | None, str], str | None]:
    """What each record of the sessions without a conflict is: original, copied or unknown."""
    found: dict[tuple[str | None, str], str | None] = {}
    for session in scope:
        if session.conflict:
            continue
        for account in session.accounts:
            for capture in account.captures:
                for hit in capture.index:
                    verdict = scope.lineage.verdict(hit)
                    found[session.canonical, hit.id] = verdict and verdict.bucket
    return found


def test_losing_a_file_only_makes_less_known(shared: Path):
    """Without any one file, what a record is stays, or becomes unknown; never the other value.

    Where the file was one side of an identity conflict the session that is left becomes known.
    """
    for folder in sorted((shared / "corpus/codex").iterdir()) + sorted(
        (shared / "corpus/claude-code").iterdir()
    ):
        files = [path for path in sorted(folder.rglob("*.jsonl")) if path.is_file()]
        if len(files) < 2:
            continue
        whole = verdicts(Scope.read(files))
        for lost in files:
            rest = verdicts(Scope.read([path for path in files if path != lost]))
            for record, now in rest.items():
                if record in whole:
                    assert now in {whole[record], "unknown"}, (folder, lost, record)
