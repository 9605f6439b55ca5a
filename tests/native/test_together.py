"""Logs that are read together: what is kept, what happens when files change or cannot be read."""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING, Any

import pytest
from native_families import (
    COPIES,
    OLD,
    OWN,
    base,
    continued,
    copied,
    fork,
    marked,
    numbered,
    of,
    result,
)
from native_rows import Family, assistant, counts, jsonl, meta, rollout, token_count, user

from sessionref.errors import StreamError
from sessionref.native import LogSet, convert
from sessionref.native.logs import Log

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

AGENT = "a7c41e09b2d35f867"


def lineage(logs: LogSet, source: Any) -> Any:
    return next(logs.streams(source, print)).header.lineage


def test_inputs_of_every_sort_are_read_together(tmp_path: Path):
    """Paths, file objects, chunks and open logs; each as often as wanted."""
    parent = tmp_path / "p.jsonl"
    parent.write_bytes(jsonl(user("u1"), result(AGENT)))
    rows = jsonl(user("c1", agentId=AGENT))
    for child in ([rows], io.BytesIO(rows), Log([rows])):
        with LogSet() as logs:
            assert logs.add(child, print) == "claude-code"
            assert logs.add(str(parent), print) == "claude-code"
            assert child in logs
            assert parent in logs
            assert tmp_path not in logs
            for _ in range(2):
                assert lineage(logs, child)["spawnedBy"]["record"] == "callId=toolu_1"
        if isinstance(child, Log):
            child.__exit__(None, None, None)


def test_an_open_log_stays_open_and_others_are_closed():
    """What the caller opened, the caller closes."""
    log = Log([jsonl(user("u1"))])
    with LogSet() as logs:
        logs.add(log, print)
    assert list(log.lines(print))
    log.__exit__(None, None, None)


def test_what_is_added_twice_is_read_once(tmp_path: Path):
    """A path is known by its text."""
    path = tmp_path / "p.jsonl"
    path.write_bytes(jsonl(user("u1"), "{"))
    found: list[Any] = []
    with LogSet() as logs:
        assert [logs.add(path, found.append), logs.add(str(path), found.append)] == [
            "claude-code"
        ] * 2
    assert len(found) == 1


def test_what_is_no_native_log_is_said_when_it_is_read(tmp_path: Path):
    """A stream and an unknown file are added as what they are."""
    stream, unknown = tmp_path / "s.jsonl", tmp_path / "x"
    stream.write_bytes(b'{"type":"session","seq":0,"id":"h","sessionId":"s"}\n')
    unknown.write_bytes(b"x\n")
    found: list[Any] = []
    with LogSet() as logs:
        assert logs.add(stream, found.append) == "stream"
        assert logs.add(unknown, found.append) is None
        assert found == []
        assert not list(logs.streams(stream, found.append))
        assert not list(logs.streams(unknown, found.append))
    assert [finding.code for finding in found] == ["not-native", "unknown-format"]


def test_what_was_not_added_is_not_there(tmp_path: Path):
    """No log is read by chance."""
    with LogSet() as logs, pytest.raises(KeyError):
        next(logs.streams(tmp_path, print))


def test_a_file_that_cannot_be_read_raises_when_it_is_added(tmp_path: Path):
    """It is not in the set then."""
    with LogSet() as logs:
        with pytest.raises(StreamError):
            logs.add(tmp_path / "missing", print)
        assert tmp_path / "missing" not in logs


def test_a_file_that_grew_ends_where_it_ended(tmp_path: Path):
    """All passes see the same bytes."""
    path = tmp_path / "p.jsonl"
    path.write_bytes(jsonl(user("u1")))
    with LogSet() as logs:
        logs.add(path, print)
        with path.open("ab") as file:
            file.write(jsonl(user("u2")))
        streams = logs.streams(path, print)
        stream = next(streams)
        assert [record.id for record in stream.records] == ["u1"]


def test_a_log_that_was_added_later_is_heard(tmp_path: Path):
    """What the logs show of each other is asked again when there are more of them."""
    parent = tmp_path / "p.jsonl"
    parent.write_bytes(jsonl(user("u1"), result(AGENT)))
    child = [jsonl(user("c1", agentId=AGENT))]
    with LogSet() as logs:
        logs.add(child, print)
        assert "inherits" not in lineage(logs, child)
        logs.add(parent, print)
        assert lineage(logs, child)["inherits"]["mode"] == "none"


CLAUDE = {
    "a.jsonl": [*of("A", user("u1"), assistant("a1")), continued()],
    "b.jsonl": of("B", user("u1"), assistant("a1"), user("b1")),
}
TWINS = {
    "b1.jsonl": [*map(marked, COPIES), user("x", sessionId="B")],
    "b2.jsonl": [marked(COPIES[0])],
}
APPENDED = {
    "b.jsonl": of("B", user("u1")),
    "a.jsonl": [*of("A", user("x")), *of("B", user("u2", parentUuid="u1"))],
}
FORK = {"p.jsonl": [meta("P"), *OLD], "c.jsonl": fork(*copied(*OLD), *OWN)}
FORK_TWINS = {**FORK, "p2.jsonl": [meta("P"), *OLD[:2]]}
PAGES = {
    "x-C.jsonl": numbered(meta("C"), token_count(counts(5), counts(5))),
    "x-C_R.jsonl": numbered(meta("C", **base("C", 2)), rollout("world_state", {}), start=2),
}


@pytest.mark.parametrize("files", [CLAUDE, APPENDED, FORK, FORK_TWINS, PAGES])
def test_a_file_that_goes_away_costs_only_what_it_said(tmp_path: Path, files: dict[str, Any]):
    """Others are read on, and claim less, never other things."""
    whole = Family(tmp_path, files)
    for lost in files:
        for name, rows in files.items():
            (tmp_path / name).write_bytes(jsonl(*rows))
        with LogSet() as logs:
            for name in files:
                logs.add(tmp_path / name, print)
            (tmp_path / lost).unlink()
            for name in set(files) - {lost}:
                for number, stream in enumerate(logs.streams(tmp_path / name, print)):
                    expected = whole.files[name][number]
                    assert [r.id for r in stream.records] == [r["id"] for r in expected[1:]]
                    claims = stream.header.lineage or {}
                    told = expected[0].get("lineage", {})
                    assert all(claims[facet] == told[facet] for facet in claims if facet in told)
            with pytest.raises(StreamError):
                next(logs.streams(tmp_path / lost, print))


@pytest.mark.parametrize("files", [CLAUDE, TWINS, APPENDED, FORK, FORK_TWINS, PAGES])
def test_the_records_of_a_stream_are_the_same_in_any_company(tmp_path: Path, files: dict[str, Any]):
    """Their order and IDs depend on their own file alone."""
    together = Family(tmp_path / "all", files)
    for name, rows in files.items():
        alone = Family(tmp_path / name.replace(".", "-"), {name: rows})
        for one, other in zip(alone.files[name], together.files[name], strict=True):
            assert [record["id"] for record in one] == [record["id"] for record in other]


def test_convert_reports_a_file_that_goes_away_and_goes_on(tmp_path: Path, monkeypatch: Any):
    """What was surveyed and is gone is a finding."""
    for name in ("a", "b", "c"):
        (tmp_path / name).write_bytes(jsonl(user("u1", sessionId=name)))
    added = LogSet.add

    def add(logs: LogSet, source: Any, report: Any) -> Any:
        kind = added(logs, source, report)
        if os.fspath(source).endswith("c"):
            (tmp_path / "b").unlink()
        return kind

    monkeypatch.setattr(LogSet, "add", add)
    found: list[Any] = []
    lines: Iterable[bytes] = list(convert([tmp_path], found.append))
    assert len(list(lines)) == 4
    assert [finding.code for finding in found] == ["unreadable"]


def test_convert_reports_what_cannot_be_opened(tmp_path: Path):
    """A link to nothing is a finding, and the rest is converted."""
    (tmp_path / "a").write_bytes(jsonl(user("u1")))
    found: list[Any] = []
    paths = [tmp_path / "a", tmp_path / "gone"]
    assert len(list(convert(paths, found.append))) == 2
    assert [finding.code for finding in found] == ["unreadable"]


def test_convert_reports_what_cannot_be_read_when_it_is_added(tmp_path: Path, monkeypatch: Any):
    """As a file that its reader may not open."""
    for name in ("a", "b"):
        (tmp_path / name).write_bytes(jsonl(user("u1", sessionId=name)))
    added = LogSet.add

    def add(logs: LogSet, source: Any, report: Any) -> Any:
        if os.fspath(source).endswith("a"):
            raise StreamError("unreadable", "no permission", os.fspath(source))
        return added(logs, source, report)

    monkeypatch.setattr(LogSet, "add", add)
    found: list[Any] = []
    assert len(list(convert([tmp_path], found.append))) == 2
    assert [(finding.code, finding.message) for finding in found] == [
        ("unreadable", "no permission")
    ]
