"""Collects what is wrong with the members of a record while they are read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sessionref.findings import Finding
from sessionref.scope.fields import FieldTable
from sessionref.scope.values import Flaw, read, report

if TYPE_CHECKING:
    from sessionref.errors import InvalidReference
    from sessionref.findings import Place

__all__ = ["Faults"]


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
        self.found.append(
            Finding.at(
                self.place,
                said.rule,
                said.code,
                said.message,
                path,
                component=said.component,
                span=said.span,
            )
        )

    def note(self, rule: str, code: str, message: str, path: str) -> None:
        """Add an error at `path`."""
        self.found.append(Finding.at(self.place, rule, code, message, path))
