"""A forest as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sessionref.cli._common import FORMAT
from sessionref.cli._findings import as_object
from sessionref.cli._text import printable
from sessionref.cli.render.picture import escaped_id

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sessionref.cli.render.picture import Picture
    from sessionref.findings import Finding
    from sessionref.lineage.forest import Edge
    from sessionref.lineage.sessions import SessionLineage

__all__ = ["forest_object"]


def forest_object(picture: Picture, findings: Iterable[Finding], *, why: bool) -> dict[str, Any]:
    """The selected sessions that were read, their edges, and what is wrong."""
    return {
        "format": FORMAT,
        "sessions": [_session(one, exact=picture.is_exact(one)) for one in picture.read],
        "edges": [_edge(edge, why=why) for edge in picture.edges],
        "findings": [_finding(finding) for finding in findings],
    }


def _session(session: SessionLineage, *, exact: bool) -> dict[str, Any]:
    lineage, counts = session.lineage, session.records
    said: dict[str, Any] = {"session": session.session}
    escaped = escaped_id(session)
    if escaped is not None:
        said["escapedId"] = escaped
    said |= {
        "agent": session.agent,
        "scope": lineage.scope,
        "role": lineage.role,
        "files": [printable(file) for file in session.files],
        "records": sum(counts),
        "original": counts.original,
        "copied": counts.copied,
        "unknown": counts.unknown,
        "root": lineage.root,
        "exact": exact,
    }
    if session.conflict:
        said["conflict"] = True
    return said


def _edge(edge: Edge, *, why: bool) -> dict[str, Any]:
    said: dict[str, Any] = {
        "from": edge.source,
        "to": edge.target,
        "facet": edge.facet,
        "evidence": edge.evidence,
    }
    for name in ("record", "ordinal", "mode", "through", "reason", "originality"):
        value = getattr(edge, name)
        if value is not None:
            said[name] = value
    said |= {"state": edge.state, "exact": edge.exact}
    if why:
        place = edge.place
        said["why"] = {
            "id": place.id,
            "seq": place.seq,
            "path": edge.path,
            "file": place.file and printable(place.file),
            "line": place.line,
        }
    return said


def _finding(finding: Finding) -> dict[str, Any]:
    said = as_object(finding)
    return said | {"file": finding.file and printable(finding.file)}
