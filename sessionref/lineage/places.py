"""Where a claim stands, so that whatever is built on it can be asked why."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sessionref.findings import Finding

if TYPE_CHECKING:
    from sessionref.findings import Severity

__all__ = ["Faults", "Place"]


class Place(NamedTuple):
    """One record: its session (canonical key), `seq`, record ID, file and line (from 1)."""

    session: str | None = None
    seq: int | None = None
    id: str | None = None
    file: str | None = None
    line: int | None = None

    def finding(
        self, rule: str | None, code: str, message: str, path: str, severity: Severity = "error"
    ) -> Finding:
        """A finding about this record; `path` is a JSON path into it."""
        return Finding(
            code=code,
            severity=severity,
            message=message,
            rule=rule,
            session=self.session,
            seq=self.seq,
            id=self.id,
            path=path,
            file=self.file,
            line=self.line,
        )


class Faults:
    """Collects what is wrong with the members of one record; `found` grows as it goes."""

    __slots__ = ("found", "place")

    def __init__(self, place: Place) -> None:
        self.place = place
        self.found: list[Finding] = []

    def note(self, rule: str, code: str, message: str, path: str) -> None:
        """Add an error at `path`."""
        self.found.append(self.place.finding(rule, code, message, path))
