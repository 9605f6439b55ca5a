"""Streams for the tests of scopes, made from what the test says of their records."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import sessionref as sr
from sessionref.scope.scope import StreamScope

if TYPE_CHECKING:
    from sessionref.scope.resolve import Resolution


def stream(*records: dict[str, Any], sid: str = "s", **header: Any) -> bytes:
    """A stream of the session `sid`; the records get `seq` and `id` r1, r2, … where they have none."""
    lines = [
        {"type": "session", "seq": 0, "id": "h", "agent": {"name": "codex"}, "sessionId": sid}
        | header,
        *({"type": "note", "seq": at, "id": f"r{at}"} | r for at, r in enumerate(records, 1)),
    ]
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def scope(*streams: bytes, **options: Any) -> StreamScope:
    """The scope of these streams, each an input of its own."""
    return StreamScope.of([[content] for content in streams], **options)


def of_record(found: StreamScope, record_id: str, *, session: str = "codex:s") -> list[Resolution]:
    """What the references of one record mean."""
    return [r for r in found.resolutions(found.session(session)) if r.at.id == record_id]


def shown(resolution: Resolution) -> tuple[Any, ...]:
    """Path, state, and what the reference leads to or why it does not."""
    outcome = resolution.outcome
    match outcome:
        case sr.Resolved(records):
            what: Any = [hit.id for hit in records]
        case sr.Unresolved(reason):
            what = reason
        case sr.Ambiguous(candidates):
            what = [hit.id for hit in candidates]
    return resolution.path, outcome.state, what


def faults(found: StreamScope, record_id: str) -> dict[str, tuple[str, ...]]:
    """The faults of the references of one record, by path; those without faults left out."""
    return {r.path: r.faults for r in of_record(found, record_id) if r.faults}
