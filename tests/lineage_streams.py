"""A small language for streams of sessions that hang together."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sessionref.lineage import faults
from sessionref.lineage.gather import Gathered
from sessionref.lineage.lineage import Lineage
from sessionref.scope.scope import StreamScope

if TYPE_CHECKING:
    from sessionref.findings import Finding

NF = "native_field"


def key(name: str) -> str:
    """A canonical key: the agent is Codex where the name says none."""
    return name if ":" in name else f"codex:{name}"


def usage(
    out: int, fresh: int = 0, read: int = 0, write: int = 0, reasoning: int = 0
) -> dict[str, int]:
    return {
        "inputTokens": fresh,
        "cacheReadTokens": read,
        "cacheWriteTokens": write,
        "outputTokens": out,
        "reasoningTokens": reasoning,
    }


class Stream:
    """A stream that is written record by record; `seq` and record IDs come by themselves."""

    def __init__(self, name: str, lineage: Any = None, **header: Any) -> None:
        agent, _, session_id = key(name).partition(":")
        self.name = key(name)
        self.records: list[dict[str, Any]] = []
        members: dict[str, Any] = {"agent": {"name": agent}, "sessionId": session_id, **header}
        if lineage is not None:
            members["lineage"] = lineage
        self.add("session", id="h", **members)

    def add(self, kind: str, **members: Any) -> str:
        """Add a record; its ID."""
        seq = len(self.records)
        record = {"type": kind, "seq": seq, "id": f"r{seq}", **members}
        self.records.append({name: value for name, value in record.items() if value is not None})
        return self.records[-1]["id"]

    def call(self, out: int = 1, *, request: str | None = None, **members: Any) -> str:
        """Add a model call with that many tokens of output."""
        members.setdefault("inferenceId", f"{self.name}/{len(self.records)}")
        if request is not None:
            members["requestId"] = request
        return self.add("inference", **{"usage": usage(out), **members})

    def message(self, **members: Any) -> str:
        return self.add("message", messageId=f"m{len(self.records)}", **members)

    def copy(self, kind: str = "message", source: str | None = None, **members: Any) -> str:
        """Add a record that says it was copied from a session."""
        copied = {"session": key(source or "elsewhere"), "proof": NF}
        return self.add(kind, copiedFrom=copied, **members)

    def subagent(self, child: str, **members: Any) -> str:
        return self.add("subagent", childSession=key(child), **members)

    def declare(self, **lineage: Any) -> str:
        return self.add("declaration", lineage=lineage)

    def text(self) -> bytes:
        return b"".join(json.dumps(record).encode() + b"\n" for record in self.records)


def none(**facets: Any) -> dict[str, Any]:
    """Facets of a session that started from a fresh context."""
    return {"inherits": {"mode": "none", "evidence": NF}, **facets}


def copied(through: str | None, source: str = "elsewhere", **facets: Any) -> dict[str, Any]:
    """Facets of a session that begins with copies, through the record of that ID."""
    inherits = {"mode": "copied", "from": key(source), "evidence": NF}
    if through is not None:
        inherits["localThroughId"] = through
    return {"inherits": inherits, **facets}


def named(session: str, **members: Any) -> dict[str, Any]:
    """A facet that names a session."""
    return {"session": key(session), "evidence": NF, **members}


def lineage_of(*streams: Stream | bytes, **options: Any) -> Lineage:
    """The lineage of a scope of these streams."""
    texts = [one if isinstance(one, bytes) else one.text() for one in streams]
    return Lineage(StreamScope.of([[text] for text in texts], observers=(Gathered,), **options))


def tokens(measure: Any) -> int:
    """Output tokens, which the tests count in."""
    return measure.output_tokens


def row(lineage: Lineage, name: str) -> tuple[int, int, int]:
    """Original, copied and unknown output tokens of a session."""
    for one in lineage.totals.sessions:
        if one.session == key(name):
            return tokens(one.original), tokens(one.copied), tokens(one.unknown)
    raise LookupError(name)


def total(lineage: Lineage) -> tuple[int, int, int]:
    """Original, copied and unknown output tokens of the scope."""
    sums = lineage.totals.total
    assert tokens(sums.counted_once) == tokens(sums.original) + tokens(sums.unknown)
    return tokens(sums.original), tokens(sums.copied), tokens(sums.unknown)


def notes(lineage: Lineage) -> set[str]:
    """The codes of the notes."""
    return {note.code for note in lineage.totals.notes}


def verdicts(lineage: Lineage, name: str) -> list[str | None]:
    """The originality of each record of a session, in the order of its stream."""
    (stream,) = lineage.by_key[key(name)].accounts
    found = [stream.verdict(at) for at in range(len(stream.index))]
    return [None if one is None else one.value for one in found]


def edges(lineage: Lineage) -> set[tuple[str, str, str]]:
    """Source, facet and target of each edge, agents of Codex left out."""

    def short(name: str) -> str:
        return name.removeprefix("codex:")

    return {(short(e.source), e.facet, short(e.target)) for e in lineage.forest.edges}


def _faults(lineage: Lineage) -> list[Finding]:
    sources = (faults.facets, faults.copies, faults.subagents, faults.usage, faults.cycles)
    return [finding for source in sources for finding in source(lineage)]


def findings(lineage: Lineage) -> list[tuple[str | None, str]]:
    """Rule and code of everything that is wrong with the lineage."""
    return [(finding.rule, finding.code) for finding in _faults(lineage)]


def findings_under(lineage: Lineage, rule: str) -> list[Finding]:
    """What is wrong with the lineage under one rule."""
    return [finding for finding in _faults(lineage) if finding.rule == rule]
