"""What is wrong with the lineage of a scope, by rule: what checks register."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessionref._codes import codes
from sessionref.lineage.subagents import agreement_findings, subagent_findings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sessionref.findings import Finding
    from sessionref.lineage.lineage import Lineage
    from sessionref.lineage.stream import StreamLineage

__all__ = [
    "CHECKED_RULES",
    "copies",
    "cycles",
    "facets",
    "faults_of",
    "subagents",
    "usage",
    "usage_findings",
]


def facets(lineage: Lineage) -> Iterator[Finding]:
    """Facets and mirrors: ASR-400, 402, 404, 407, 408, 409, 420 and 422."""
    for session in lineage.sessions:
        for effective in session.lineages:
            yield from effective.findings


def copies(lineage: Lineage) -> Iterator[Finding]:
    """The shape of `copiedFrom`: ASR-413. Whether its target is there, the scope resolves."""
    for session in lineage.sessions:
        for stream in session.streams:
            yield from stream.copy_findings()


def subagents(lineage: Lineage) -> Iterator[Finding]:
    """Announcements by themselves, and with what their children claim: ASR-411, 412 and 424."""
    for session in lineage.sessions:
        for stream in session.streams:
            yield from subagent_findings(stream)
    yield from agreement_findings(lineage.by_key, lineage.name_of)


def usage(lineage: Lineage) -> Iterator[Finding]:
    """Usage and cost that cannot be read; on pages that we do not have, so without a rule."""
    for session in lineage.sessions:
        for stream in session.streams:
            yield from usage_findings(stream)


def usage_findings(stream: StreamLineage) -> Iterator[Finding]:
    """Usage and cost in one stream that cannot be read."""
    calls = stream.gathered.calls
    rows = [(calls.rows[at], faulty) for at, faulty in calls.faulty.items()]
    rows += [(one.row, one.faulty) for one in stream.gathered.aggregates if one.faulty]
    for row, faulty in sorted(rows):
        for code, path, complaint in faulty:
            meaning = codes()[code].meaning
            message = f"{meaning}: {complaint}" if complaint else meaning
            yield stream.place(row).finding(None, code, message, path)


def cycles(lineage: Lineage) -> Iterator[Finding]:
    """Sessions that are each other's ancestors."""
    yield from lineage.forest.findings


_SOURCES: dict[str, Callable[[Lineage], Iterator[Finding]]] = {
    "ASR-400": facets,
    "ASR-402": facets,
    "ASR-404": facets,
    "ASR-407": facets,
    "ASR-408": facets,
    "ASR-409": facets,
    "ASR-411": subagents,
    "ASR-412": subagents,
    "ASR-413": copies,
    "ASR-420": facets,
    "ASR-422": facets,
    "ASR-424": subagents,
}
#: The rules of the lineage page that a stream or a scope can show to be broken.
CHECKED_RULES: tuple[str, ...] = tuple(_SOURCES)


def faults_of(lineage: Lineage, rule: str) -> Iterator[Finding]:
    """Where one of `CHECKED_RULES` is broken; nothing for other rules."""
    source = _SOURCES.get(rule)
    if source is not None:
        yield from (finding for finding in source(lineage) if finding.rule == rule)
