"""The package itself, as an implementation under test: what an adapter looks like.

python grammar/conformance/streams/runner.py python grammar/conformance/streams/adapter.py
"""

from __future__ import annotations

import io
import json
import sys
from typing import TYPE_CHECKING, Any

import msgspec

import sessionref as sr
from sessionref.checks.run import OBSERVERS, check
from sessionref.checks.strict import strict_findings
from sessionref.lineage.lineage import Lineage
from sessionref.native.convert import read
from sessionref.scope.scope import Scope
from sessionref.streams.outcomes import Ambiguous, Resolved

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sessionref.findings import Finding
    from sessionref.streams.source import Input

#: What of a finding the vectors hold.
_MEMBERS = ("rule", "code", "severity", "session", "seq", "id", "path")


def main() -> None:
    """Answer each request on stdin with one line."""
    for line in sys.stdin.buffer:
        print(json.dumps(answered(json.loads(line))))


def answered(request: dict[str, Any]) -> dict[str, Any]:
    """The answer to one request."""
    if request["operation"] == "convert":
        streams = read(_Named("log", request["log"]), lambda _: None)
        records = [record for stream in streams for record in stream]
        return {"records": json.loads(msgspec.json.encode(records))}
    sources: list[Input] = [
        _Named(f"{number}.jsonl", text) for number, text in enumerate(request["streams"], 1)
    ]
    scope = Scope.read(sources, observers=OBSERVERS)
    if request["operation"] == "check":
        return {"findings": [_finding(found) for found in check(scope, strict=_strictly)]}
    if request["operation"] == "judge":
        return _judged(scope, request["ref"])
    if request["operation"] == "total":
        return _totalled(Lineage(scope))
    if request["operation"] == "relate":
        return _related(Lineage(scope))
    try:
        return _resolved(scope, request["ref"], request.get("session"))
    except sr.InvalidReference as error:
        return {"error": error.code}


class _Named(io.BytesIO):
    """A text as a file with a name."""

    def __init__(self, name: str, text: str) -> None:
        super().__init__(text.encode())
        self.name = name


def _strictly(source: Any, file: str | None) -> Iterator[Finding]:
    return strict_findings([source.getvalue()], file)


def _finding(found: Any) -> dict[str, Any]:
    members = {name: getattr(found, name) for name in _MEMBERS}
    return {name: value for name, value in members.items() if value is not None or name == "rule"}


def _resolved(scope: Scope, ref: str, session: str | None) -> dict[str, Any]:
    outcome = scope.resolve(
        sr.parse(ref) if session is None else sr.parse(session).at(sr.Ref.from_raw(ref))
    )
    records: tuple[Any, ...] = ()
    if isinstance(outcome, Resolved):
        records = outcome.records
    elif isinstance(outcome, Ambiguous):
        records = outcome.candidates
    return {
        "state": outcome.state,
        "exact": outcome.exact,
        "records": [record.id for record in records],
    }


def _judged(scope: Scope, ref: str) -> dict[str, Any]:
    outcome = scope.resolve(sr.parse(ref))
    verdict = Lineage(scope).verdict(outcome.first) if isinstance(outcome, Resolved) else None
    return {"originality": None if verdict is None else verdict.value}


def _totalled(lineage: Lineage) -> dict[str, Any]:
    totals = lineage.totals
    return {
        **msgspec.to_builtins(totals.total),
        "mayIncludeCopies": totals.may_include_copies,
    }


def _related(lineage: Lineage) -> dict[str, Any]:
    return {
        "sessions": [
            {"session": one.session, "root": one.lineage.root} for one in lineage.sessions
        ],
        "edges": [
            {
                "from": edge.source,
                "to": edge.target,
                "facet": edge.facet,
                "state": edge.state,
                "exact": edge.exact,
            }
            for edge in lineage.forest.edges
        ],
    }


if __name__ == "__main__":
    main()
