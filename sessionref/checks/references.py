"""The spelling of references: ASR-059."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from sessionref.reference import SessionRef
from sessionref.scope.fields import FieldTable, json_path
from sessionref.scope.values import session_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sessionref.checks.view import View
    from sessionref.findings import Finding

__all__ = ["lower_case_findings"]

#: A percent-encoding with a lower-case digit.
_lower_case = re.compile("%(?:[a-f][0-9a-fA-F]|[0-9a-fA-F][a-f])").search
#: The kinds of targets that a session reference names.
_NAMED_BY_REFERENCE = frozenset({"session", "session-or-turn", "session-or-ref"})


def lower_case_findings(view: View) -> Iterator[Finding]:
    """ASR-059: the digits of a percent-encoding should be upper case."""
    rows = FieldTable.standard().rows
    references = view.capture.references
    if references.fields.isdisjoint(_by_reference()):
        return
    for number, row, _code, text in references.coded():
        if isinstance(text, str) and "%" in text and (found := _lower_case(text)):
            field = references[number].field
            if field in _by_reference() and isinstance(session_of(text), SessionRef):
                yield view.finding(
                    "ASR-059",
                    "lower-case-digits",
                    "the digits of a percent-encoding should be upper case",
                    row=row,
                    path=json_path(rows[field].member_steps, references[number].indexes),
                    span=found.span(),
                )


@cache
def _by_reference() -> frozenset[int]:
    """The numbers of the standard fields that hold session references."""
    return frozenset(
        number
        for number, row in enumerate(FieldTable.standard().rows)
        if row.target in _NAMED_BY_REFERENCE
    )
