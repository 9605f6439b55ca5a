"""Transcripts that are read once, as columns: the same as what all their records say."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st
from native_mangled import CLAUDE_ROWS, mangled
from native_rows import SESSION, assistant, jsonl, tool_result, tool_use, user

from sessionref import api
from sessionref.api import Scope, scope_of
from sessionref.lineage.gather import Gathered
from sessionref.lineage.totals import GROUPINGS
from sessionref.native import LogSet
from sessionref.native.surveys import survey_each
from sessionref.streams import processes
from sessionref.streams.lines import MAX_LINE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sessionref.native.columns import Records
    from sessionref.streams.index import StreamIndex


def progress(uuid: str | None, kind: str = "hook_progress", **members: Any) -> dict[str, Any]:
    row = user(uuid, **members) | {"type": "progress", "data": {"type": kind, **members}}
    del row["message"]
    return row


def plain_rows() -> list[dict[str, Any]]:
    """A session in which everything happens that needs no more than a glance."""
    return [
        {"type": "file-history-snapshot", "messageId": "m", "snapshot": {}},
        user("u1"),
        progress("p1"),
        assistant("a1", "m1", tool_use("t1"), tool_use(None), output=1),
        progress("p2"),
        assistant("a2", "m1", {"type": "text", "text": "x"}, output=9),
        user("u2", [tool_result("t1")], toolUseResult={"stdout": "x"}),
        user("u3", [tool_result("t2")], toolUseResult="no such file"),
        {"type": "file-history-snapshot", "messageId": "m", "snapshot": {}},
        assistant("a3", "m2", request=None, timestamp="2026-08-21T09:00:00+02:00"),
        assistant("a4", None, request="r9", model="claude-opus-4-1"),
        assistant("a5", None, request="r9", output=7),
        assistant("a6", "m3", model="<synthetic>"),
        assistant("a7", None, request=None, usage=..., timestamp="once"),
        {"type": "attachment", "uuid": "x1", "sessionId": SESSION},
        {"type": "system", "subtype": "compact_boundary", "uuid": "c", "sessionId": SESSION},
    ]


def told_rows() -> list[dict[str, Any]]:
    """Rows that say something of other sessions, or cost something."""
    launched = {"agentId": "a7c41e09b2d35f867", "status": "completed", "agentType": "Explore"}
    return [
        user("s1", [tool_result("t1")], toolUseResult=launched),
        progress("s2", "agent_progress", agentId="ab12cd3"),
        user("s3", [tool_result("t9")], toolUseResult={"runId": "r1"}),
        user("s4", forkedFrom={"sessionId": "S9", "messageUuid": "q"}),
        assistant("s5", "m5", costUSD=0.25),
        {"type": "continued-in", "sessionId": SESSION, "continuedInSessionId": "S3"},
        user("a/b"),
        progress("a=b"),
        progress("h"),
        progress("p1"),
        user("s6", "<task-notification><task-id>a7c41e09b2d35f867</task-id>", origin={}),
    ]


def facts(index: StreamIndex) -> dict[str, Any]:
    """All that an index says of its records, and lineage's observer beside it."""
    (gathered,) = (one for one in index.observers if isinstance(one, Gathered))
    calls = gathered.calls
    return {
        "session": index.session,
        "records": [(hit.id, hit.seq, hit.type, hit.line) for hit in index],
        "values": list(index.values),
        "turns": list(index.turns),
        "links": list(index.supersedes()),
        "superseded": dict(index.superseded),
        "findings": index.findings,
        "refs": {str(ref): index.resolve(ref).state for ref in index.refs()},
        "declared": gathered.declared,
        "copied": gathered.copied,
        "repeats": gathered.repeats,
        "announced": gathered.announced,
        "calls": [
            (
                row,
                calls.tokens[5 * at : 5 * at + 5],
                calls.requests.get(at),
                calls.costs.get(at),
                at in calls.unmeasured,
                at in calls.derived,
                calls.faulty.get(at),
                None if calls.models[at] < 0 else gathered.model_names[calls.models[at]],
                None if calls.days[at] < 0 else gathered.day_names[calls.days[at]],
            )
            for at, row in enumerate(calls.rows)
        ],
    }


def said(scope: Scope) -> dict[str, Any]:
    """What a scope says of lineage and use."""
    totals = scope.totals()
    return {
        "streams": [facts(capture.index) for capture in scope.captures],
        "sessions": totals.sessions,
        "notes": totals.notes,
        "edges": scope.forest().edges,
        **{grouping: totals.by(grouping) for grouping in GROUPINGS},
    }


def both(paths: Iterable[Path]) -> None:
    """Compare what is read as columns with what is read as records."""
    sources = list(paths)
    assert said(scope_of(sources, references=False)) == said(Scope.read(sources))


def in_files(files: Iterable[bytes]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for number, data in enumerate(files):
            (Path(folder) / f"{number}.jsonl").write_bytes(data)
        both([Path(folder)])


def columns_of(data: bytes) -> Records | None:
    with LogSet(columns=True) as logs:
        source = [data]
        logs.add(source, lambda _: None)
        found = logs.records(source)
        return None if found is None else found[1]


def test_a_plain_transcript_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Its records come from the survey, and say what they say when they are read one by one."""
    path = tmp_path / "x.jsonl"
    path.write_bytes(jsonl(*plain_rows()))
    both([path])
    monkeypatch.setattr(api, "_indexes", None)
    assert said(scope_of([path], references=False))["streams"][0]["records"]


@pytest.mark.parametrize("told", told_rows(), ids=str)
def test_rows_that_say_more_are_read_as_a_whole(told: dict[str, Any]):
    """Delegations, copies, costs and odd IDs: the same, wherever they stand among plain rows."""
    rows = plain_rows()
    for place in (0, 3, len(rows)):
        in_files([jsonl(*rows[:place], told, *rows[place:])])


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"  ",
        b"\0\0\0",
        b'{"type":"user","uuid":"n1"}\0\0{"type":"user","uuid":"n2"}',
        b"no json",
        b"[]",
        b'{"type":5}',
        b'{"type":"user","sessionId":5}',
        b'{"type":"user","uuid":"\\ud800"}',
        b'{"type":"user","uuid":"\xff"}',
        b"[" * 5_000,
    ],
)
def test_lines_that_are_no_rows(line: bytes):
    """They cost what they hold, and the numbers of lines stay right."""
    rows = plain_rows()
    in_files([b"\xef\xbb\xbf" + jsonl(*rows[:5], line, *rows[5:])[:-9]])
    in_files([jsonl(line, *rows)])


def test_what_needs_more_than_one_pass_has_no_columns():
    """A row written twice, two sessions in a file: read as before."""
    assert columns_of(jsonl(*plain_rows())) is not None
    assert columns_of(jsonl(*plain_rows(), user("u1"))) is None
    assert columns_of(jsonl(*plain_rows(), user("z", sessionId="S2"))) is None
    assert columns_of(jsonl(*plain_rows(), user("z", agentId="ab12cd3"))) is None
    assert columns_of(jsonl(*plain_rows(), b"no json")) is None
    head = [user("z1", sessionId="S0"), user("z2", sessionId="S0", parentUuid="z1")]
    assert columns_of(jsonl(*head, user("z3", parentUuid="z2"))) is None
    in_files([jsonl(*head, user("z3", parentUuid="z2"), *plain_rows())])


@given(
    st.lists(
        st.lists(
            st.sampled_from(plain_rows() + told_rows()).map(json.dumps) | mangled(CLAUDE_ROWS),
            max_size=12,
        ),
        min_size=1,
        max_size=3,
    )
)
def test_any_rows_say_the_same_as_columns(files: list[list[str]]):
    """Totals, forest and every record of it, whatever the rows hold and whatever is missing."""
    in_files(jsonl(*rows) for rows in files)


@given(st.permutations(plain_rows()), st.integers(0, 16))
def test_plain_rows_in_any_order(rows: list[dict[str, Any]], cut: int):
    """One session in one file, or in two that go on from each other or contradict each other."""
    in_files([jsonl(*rows), jsonl(*rows[:cut])] if cut % 2 else [jsonl(*rows)])


def test_real_transcripts_say_the_same(shared: Path):
    """Each folder of the corpus, and all of them at once."""
    folders = sorted((shared / "corpus").glob("claude-code/*"))
    assert folders
    both(folders)


def test_processes_change_nothing(tmp_path: Path):
    """Columns that come from another process are those that are made here."""
    size = 5_000_000
    for number in range(4):
        rows = plain_rows()
        rows[1] = user("u1", "x" * size, sessionId=f"S{number}")
        for row in rows[2:]:
            if "sessionId" in row:
                row["sessionId"] = f"S{number}"
        (tmp_path / f"{number}.jsonl").write_bytes(jsonl(*rows))
    one, two = (said(scope_of([tmp_path], references=False, jobs=jobs)) for jobs in (1, 2))
    assert one == two


def test_where_there_can_be_no_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """They are done without; and threads beside are no obstacle."""
    for name in "ab":
        (tmp_path / name).write_bytes(jsonl(user("u1", "x" * 5_000_000, sessionId=name)))
    wanted = said(scope_of([tmp_path], references=False))
    with monkeypatch.context() as patch:
        patch.setattr(processes, "ProcessPoolExecutor", Mock(side_effect=OSError))
        assert said(scope_of([tmp_path], references=False, jobs=2)) == wanted
    monkeypatch.setattr(processes.threading, "active_count", lambda: 2)
    assert said(scope_of([tmp_path], references=False, jobs=2)) == wanted


def test_files_that_cannot_be_read_in_another_process(tmp_path: Path):
    """The error comes back, and the others are read."""
    paths = [str(tmp_path / name) for name in ("a", "b", "none")]
    for path in paths[:2]:
        Path(path).write_bytes(jsonl(user("u1", "x" * 5_000_000)))
    kinds = [
        type(looked.surveyed).__name__
        for looked in survey_each(paths, jobs=2, max_line=MAX_LINE, columns=True)
    ]
    assert kinds == ["Surveyed", "Surveyed", "StreamError"]
