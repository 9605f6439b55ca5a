"""How the stream tests write streams."""

from __future__ import annotations

import json
from typing import Any

import pytest

import sessionref as sr


def _record(type_: str, seq: int, id_: str, **members: Any) -> dict[str, Any]:
    return {"type": type_, "seq": seq, "id": id_, **members}


def _header(session_id: Any = "s1", agent: Any = None, **members: Any) -> dict[str, Any]:
    agent = {"name": "codex"} if agent is None else agent
    return _record("session", 0, "h", agent=agent, sessionId=session_id, **members)


def _line(record: dict[str, Any]) -> bytes:
    return json.dumps(record, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


def _stream(*lines: dict[str, Any] | bytes) -> bytes:
    """Header and lines; a line given as bytes stands as it is, newline included."""
    return _line(_header()) + b"".join(
        line if isinstance(line, bytes) else _line(line) for line in lines
    )


def _index(*lines: dict[str, Any] | bytes) -> sr.StreamIndex:
    return sr.StreamIndex.from_chunks([_stream(*lines)])


@pytest.fixture(scope="session")
def record():
    return _record


@pytest.fixture(scope="session")
def header():
    return _header


@pytest.fixture(scope="session")
def line():
    return _line


@pytest.fixture(scope="session")
def stream():
    return _stream


@pytest.fixture(scope="session")
def index():
    return _index


@pytest.fixture(scope="session")
def codes():
    """The codes of an index's findings, with their lines."""
    return lambda index: [(finding.code, finding.line) for finding in index.findings]
