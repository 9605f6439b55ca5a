"""Where a claim stands, so that whatever is built on it can be asked why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from sessionref._codes import codes
from sessionref.findings import Finding
from sessionref.scope.fields import FieldTable
from sessionref.scope.values import Flaw, read, report

if TYPE_CHECKING:
    from sessionref.errors import InvalidReference

__all__ = ["Faults", "Place"]


class Place(NamedTuple):
    """One record: its session (canonical key), `seq`, record ID, file and line (from 1)."""

    session: str | None = None
    seq: int | None = None
    id: str | None = None
    file: str | None = None
    line: int | None = None

    def finding(self, rule: str | None, code: str, message: str, path: str) -> Finding:
        """A finding about this record; `path` is a JSON path into it.

        The table of codes gives the severity.
        """
        return Finding(
            code=code,
            severity=codes()[code].severity,
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

    def read(self, field: str, value: Any, path: str) -> Any:
        """The session, ref or ordinal that `value` is; None, and an error, for what is none.

        `field` is the path of its row in the table of reference fields. A ref of a kind that is
        not allowed there is an error, and is given all the same.
        """
        row = FieldTable.standard().at(field)
        found = read(row, value)
        if not isinstance(found, Flaw):
            return found
        self.misplaced(field, path, found.code, found.error)
        return found.ref

    def misplaced(
        self, field: str, path: str, code: str, error: InvalidReference | None = None
    ) -> None:
        """Add an error about a reference, in the words of `sessionref.scope.values`."""
        said = report(FieldTable.standard().at(field), path, code, error)
        finding = self.place.finding(said.rule, said.code, said.message, path)
        self.found.append(replace(finding, component=said.component, span=said.span))

    def note(self, rule: str, code: str, message: str, path: str) -> None:
        """Add an error at `path`."""
        self.found.append(self.place.finding(rule, code, message, path))
