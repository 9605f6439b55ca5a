"""What holds for any bytes: nothing raises, nothing is lost silently, all that is written reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from native_mangled import CLAUDE_ROWS, CODEX_ROWS, mangled
from native_rows import Converted, jsonl, meta, user

from sessionref.native import detect, read

if TYPE_CHECKING:
    from sessionref.findings import Finding


def check(data: bytes, number_of_lines: int) -> None:
    log = Converted(data)
    for stream, index in zip(log.streams, log.indexes, strict=True):
        assert [record["seq"] for record in stream] == list(range(len(stream)))
        assert len({record["id"] for record in stream}) == len(stream)
        assert not [f for f in index.findings if f.code not in {"lone-surrogate", "bad-member"}]
        for ref in index.refs():
            assert index.resolve(ref).state in {"resolved", "ambiguous"}
    if log.streams:
        rows = sum("row" in r.get("native", {}) for stream in log.streams for r in stream)
        without = [f for f in log.findings if f.path in {None, "$.sessionId", "$.agentId"}]
        assert rows == number_of_lines or without
    else:
        assert log.findings
    assert Converted(data).text == log.text


@given(st.lists(mangled(CLAUDE_ROWS), min_size=1, max_size=12))
def test_any_rows_of_claude_code_give_records_or_findings(rows: list[str]):
    """Members taken out or of another type cost what they carried and nothing else."""
    check(jsonl(user("u0"), *rows), len(rows) + 1)


@given(st.lists(mangled(CODEX_ROWS), min_size=1, max_size=12))
def test_any_rows_of_codex_give_records_or_findings(rows: list[str]):
    """Members taken out or of another type cost what they carried and nothing else."""
    check(jsonl(meta("t"), *rows), len(rows) + 1)


@given(st.lists(st.binary(max_size=40) | mangled(CLAUDE_ROWS) | mangled(CODEX_ROWS), max_size=8))
def test_any_bytes_are_read_without_raising(rows: list[bytes | str]):
    """Whatever stands in a file, the reader reports and goes on; every record can be written."""
    found: list[Finding] = []
    data = jsonl(*rows)
    detect(data)
    for stream in read([data], found.append):
        for record in stream:
            msgspec.json.encode(record)


@given(st.lists(mangled(CLAUDE_ROWS) | mangled(CODEX_ROWS), max_size=6), st.integers(1, 50))
def test_how_bytes_are_cut_makes_no_difference(rows: list[str], size: int):
    """Chunks of any length give the same records."""
    data = jsonl(*rows)
    chunks = [data[n : n + size] for n in range(0, len(data), size)]
    whole = [msgspec.json.encode(r) for s in read([data], lambda _: None) for r in s]
    assert whole == [msgspec.json.encode(r) for s in read(chunks, lambda _: None) for r in s]
