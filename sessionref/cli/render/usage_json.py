"""Totals as JSON and as CSV."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

from sessionref.cli._common import FORMAT
from sessionref.cli.render.picture import escaped_id
from sessionref.usage import TOKENS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sessionref.api import Scope
    from sessionref.lineage.totals import Grouping, Total, Totals
    from sessionref.usage import Measure

__all__ = ["usage_csv_lines", "usage_object"]

_COLUMNS = ("countedOnce", "original", "copied", "unknown")
_MEASURES = ("calls", *TOKENS)


def usage_object(scope: Scope, by: Grouping) -> dict[str, Any]:
    """What each session says, and the total; with other groups than sessions these too."""
    totals = scope.totals()
    said: dict[str, Any] = {"format": FORMAT, "sessions": []}
    for session, row in zip(scope.lineage.sessions, totals.sessions, strict=True):
        entry: dict[str, Any] = {"session": row.session}
        escaped = escaped_id(session)
        if escaped is not None:
            entry["escapedId"] = escaped
        entry |= {"original": row.original, "copied": row.copied, "unknown": row.unknown}
        said["sessions"].append(entry)
    if by != "session":
        said["by"] = by
        said["groups"] = [
            {
                "name": group.name,
                **{name: _measure(group.total, name) for name in _COLUMNS},
            }
            for group in totals.by(by)
        ]
    return said | {
        "total": totals.total,
        "mayIncludeCopies": totals.may_include_copies,
        "notes": list(totals.notes),
    }


def usage_csv_lines(totals: Totals, by: Grouping) -> Iterator[str]:
    """A header, a line for each group, and one for the total of all, in which nothing is twice.

    The first column says what the line is about, the second names it; empty is unknown. Costs are
    amounts with their currencies.
    """
    names = [f"{column}.{measure}" for column in _COLUMNS for measure in (*_MEASURES, "cost")]
    yield _csv(["row", "name", *names])
    for group in totals.by(by):
        yield _csv([by, group.name or "", *_cells(group.total)])
    yield _csv(["total", "", *_cells(totals.total)])


def _cells(total: Total) -> Iterator[str]:
    for column in _COLUMNS:
        measure = _measure(total, column)
        yield str(measure.calls)
        yield from map(str, _tokens(measure))
        yield "; ".join(f"{cost.amount} {cost.currency}" for cost in measure.cost)


def _measure(total: Total, column: str) -> Measure:
    found: Measure = getattr(total, "counted_once" if column == "countedOnce" else column)
    return found


def _tokens(measure: Measure) -> tuple[int, ...]:
    return (
        measure.input_tokens,
        measure.cache_read_tokens,
        measure.cache_write_tokens,
        measure.output_tokens,
        measure.reasoning_tokens,
    )


def _csv(cells: Iterable[str]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(cells)
    return line.getvalue()
