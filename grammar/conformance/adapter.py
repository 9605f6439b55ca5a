"""The package itself as an implementation under test: an example of an adapter.

python grammar/conformance/runner.py python grammar/conformance/adapter.py
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
from sessionref.scope.scope import StreamScope
from sessionref.streams.outcomes import Ambiguous, Resolved

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sessionref.findings import Finding
    from sessionref.streams.source import Input

#: What of a finding is compared.
_MEMBERS = ("rule", "code", "severity", "session", "seq", "id", "path")


def main() -> None:
    """Answer each request on stdin with one line."""
    for line in sys.stdin.buffer:
        print(json.dumps(answered(json.loads(line))))


def answered(request: dict[str, Any]) -> dict[str, Any]:
    """The answer to one request."""
    try:
        if "streams" in request:
            return of_streams(request)
        return of_log(request["log"]) if "log" in request else of_reference(request)
    except sr.InvalidReference as error:
        return {"error": error.code}


# --- References: parse, canonical, equal, raw-ref -------------------------------------------------


def of_reference(request: dict[str, Any]) -> dict[str, Any]:
    """The answer about one reference, or about two; raises where the input is not a reference."""
    operation = request["operation"]
    if operation == "equal":
        left, right = sr.parse(request["left"]), sr.parse(request["right"])
        return {"sameSession": left.key == right.key, "sameReference": left == right}
    text = text_of(request)
    if operation == "canonical":
        return {
            "canonical": sr.canonical(text),
            "digest": sr.digest(text),
            "isCanonical": sr.is_canonical(text),
        }
    if operation == "raw-ref":
        ref = sr.Ref.from_raw(text)
        try:
            fragment = ref.fragment()
        except sr.InvalidReference:
            fragment = None
        return {"ref": _ref(ref), "fragment": fragment}
    reference = sr.parse(text)
    return {
        "agent": reference.agent,
        "namespace": reference.namespace,
        "sessionId": reference.session_id,
        "ref": None if reference.ref is None else _ref(reference.ref),
        "minimal": str(reference),
    }


def text_of(request: dict[str, Any]) -> str:
    """The input, also where it holds lone surrogates."""
    if "inputUtf16" in request:
        return bytes.fromhex(request["inputUtf16"]).decode("utf-16-be", "surrogatepass")
    return bytes.fromhex(request["inputUtf8"]).decode()


def _ref(ref: sr.RecordRef | sr.EntityRef | sr.TurnRef) -> dict[str, str]:
    match ref:
        case sr.RecordRef(record_id):
            return {"kind": "record", "recordId": record_id}
        case sr.EntityRef(key, value):
            return {"kind": "entity", "key": key, "value": value}
        case sr.TurnRef(turn_id):
            return {"kind": "turn", "value": turn_id}


# --- Native logs: convert -------------------------------------------------------------------------


class _Named(io.BytesIO):
    """A text as a file with a name."""

    def __init__(self, name: str, text: str) -> None:
        super().__init__(text.encode())
        self.name = name


def of_log(log: str) -> dict[str, Any]:
    """The records of the streams that a native log becomes."""
    streams = read(_Named("log", log), lambda _: None)
    records = [record for stream in streams for record in stream]
    return {"records": json.loads(msgspec.json.encode(records))}


# --- Streams: check, resolve, judge, total, relate ------------------------------------------------


def of_streams(request: dict[str, Any]) -> dict[str, Any]:
    """The answer about streams that are in scope together."""
    sources: list[Input] = [
        _Named(f"{number}.jsonl", text) for number, text in enumerate(request["streams"], 1)
    ]
    scope = StreamScope.of(sources, observers=OBSERVERS)
    match request["operation"]:
        case "check":
            return {"findings": [_finding(found) for found in check(scope, strict=_strictly)]}
        case "judge":
            outcome = scope.resolve(sr.parse(request["ref"]))
            resolved = isinstance(outcome, Resolved)
            verdict = Lineage(scope).verdict(outcome.first) if resolved else None
            return {"originality": None if verdict is None else verdict.value}
        case "total":
            totals = Lineage(scope).totals
            return {
                **msgspec.to_builtins(totals.total),
                "mayIncludeCopies": totals.may_include_copies,
            }
        case "relate":
            return _related(Lineage(scope))
        case _:
            return _resolved(scope, request["ref"], request.get("session"))


def _strictly(source: Any, file: str | None) -> Iterator[Finding]:
    return strict_findings([source.getvalue()], file)


def _finding(found: Finding) -> dict[str, Any]:
    members = {name: getattr(found, name) for name in _MEMBERS}
    return {name: value for name, value in members.items() if value is not None or name == "rule"}


def _resolved(scope: StreamScope, ref: str, session: str | None) -> dict[str, Any]:
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
