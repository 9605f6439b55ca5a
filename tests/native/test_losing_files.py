"""Generated families of native logs: what is said of a session when another one's file is gone."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from native_families import copied, item, marked, of, result, started
from native_rows import assistant, counts, jsonl, meta, token_count, tool_use, user

from sessionref.api import Scope

Rows = list[dict[str, Any]]


@st.composite
def rollout_families(draw: st.DrawFn) -> dict[str, Rows]:
    """A Codex thread, and forks of it or of each other, whose head may have been cut or not."""
    threads: dict[str, Rows] = {}
    for number in range(draw(st.integers(2, 4))):
        name, parent = f"T{number}", None
        if threads and draw(st.booleans()):
            parent = draw(st.sampled_from(sorted(threads)))
        head: Rows = [meta(name, **({"forked_from_id": parent} if parent else {}))]
        spent = 0
        if parent is not None:
            kept = draw(st.integers(0, len(threads[parent])))
            head += copied(*threads[parent][:kept])
            spent = 1_000 * kept
        for turn in range(draw(st.integers(0, 3))):
            spent += 100
            head += [started(f"{name}-{turn}"), item(draw(st.sampled_from(["Same.", name])))]
            head.append(token_count(counts(spent), counts(100)))
        threads[name] = head
    return threads


@st.composite
def transcript_families(draw: st.DrawFn) -> dict[str, Rows]:
    """A Claude Code session, branches of it, subagents that are announced or not, resumes."""
    main = of("A", user("u0"), assistant("a0", "m0", tool_use("toolu_1"), request="q0"))
    files: dict[str, Rows] = {"A": main}
    if draw(st.booleans()):
        main.append({**result("a" + "0" * 16), "sessionId": "A"})
    if draw(st.booleans()):
        agent = [user("s0", agentId="a" + "0" * 16, isSidechain=True)]
        files["agent"] = of(
            "A", *agent, assistant("s1", "m9", request="q9", agentId="a" + "0" * 16)
        )
    if draw(st.booleans()):
        kept = draw(st.integers(1, len(main)))
        own = of("B", user("b0"), assistant("b1", "m5", request="q5"))
        files["branch"] = [marked(row) for row in main[:kept]] + own
    if draw(st.booleans()):
        kept = draw(st.integers(1, len(main)))
        files["resume"] = of("D", *main[:kept], assistant("d1", "m6", request="q6"))
    return files


def verdicts(files: dict[str, Rows], lost: str | None = None) -> dict[tuple[str, str], str | None]:
    chunks = [[jsonl(*rows)] for name, rows in sorted(files.items()) if name != lost]
    scope = Scope.read([iter(chunk) for chunk in chunks])
    found: dict[tuple[str, str], str | None] = {}
    for session in scope:
        for account in () if session.conflict else session.accounts:
            for capture in account.captures:
                for hit in capture.index:
                    verdict = scope.lineage.verdict(hit)
                    found[str(session.canonical), hit.id] = verdict and verdict.bucket
    return found


@settings(max_examples=60)
@given(rollout_families() | transcript_families())
def test_losing_a_file_only_makes_less_known(files: dict[str, Rows]):
    """What a record of another file is stays, or becomes unknown; never the other value."""
    whole = verdicts(files)
    for lost in files:
        for record, now in verdicts(files, lost).items():
            if record in whole:
                assert now in {whole[record], "unknown"}
