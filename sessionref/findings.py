"""What is said about a stream that is not as it should be."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from sessionref._codes import Severity, codes

__all__ = ["SEVERITIES", "Fault", "Finding", "Place", "Severity"]

#: The severities, gravest first.
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "notice")


class Fault(NamedTuple):
    """A fault inside one record: its code, its JSON path in the record, and details if any."""

    code: str
    path: str
    detail: str = ""


class Place(NamedTuple):
    """Where a record stands: its session (canonical key), `seq`, ID, file and line (from 1)."""

    session: str | None
    seq: int
    id: str
    file: str | None
    line: int


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One fault, with its rule, its code and its place.

    `rule` is the ASR rule, or None for a fault that stands outside the pages (a line that is no
    JSON). `code` is a stable slug. `session` is the canonical session key, `seq` and `id` name the
    record, `path` is a JSON path into it, `file` and `line` (from 1) say where it was read.
    `component` and `span` (code points) point into a bad reference. `message` is for people and no
    part of the API.
    """

    code: str
    severity: Severity
    message: str
    rule: str | None = None
    session: str | None = None
    seq: int | None = None
    id: str | None = None
    path: str | None = None
    file: str | None = None
    line: int | None = None
    component: str | None = None
    span: tuple[int, int] | None = None

    @classmethod
    def at(
        cls,
        place: Place,
        rule: str | None,
        code: str,
        message: str,
        path: str | None = None,
        severity: Severity | None = None,
        **more: Any,
    ) -> Finding:
        """A finding about the record at `place`; `path` is a JSON path into it.

        The table of codes gives the severity where none is given. `more` are `component` and
        `span`.
        """
        return cls(
            code=code,
            severity=codes()[code].severity if severity is None else severity,
            message=message,
            rule=rule,
            session=place.session,
            seq=place.seq,
            id=place.id,
            path=path,
            file=place.file,
            line=place.line,
            **more,
        )
