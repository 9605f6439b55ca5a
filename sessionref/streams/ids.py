"""The record IDs that this package derives, written and read in one place (ASR-068).

A row of a native log that has no ID of its own is known by its place in the source. Where a row
gives several records, those after the first derive their IDs from the first one's. Where a source
writes one native ID twice with different content, the later row derives its ID from the first.

======================  ===========================================================
the row's line          ``line/7``; for a second row of that line ``line/7/row/1``
the row's ordinal       ``ordinal/7``; for a row that repeats it ``ordinal/7/row/1``
a native ID, again      ``<id>/row/1``
a further record        ``<id>/<type>/<n>``
======================  ===========================================================

References are stored, so these forms do not change. A native ID that holds a ``/`` is not taken as
a record ID by the readers, so no native ID equals a derived one.
"""

from __future__ import annotations

import re

__all__ = ["HEADER_ID", "again", "at_line", "at_ordinal", "of_part", "ordinal_of"]

#: The record ID of every header that a reader of this package writes.
HEADER_ID = "h"

_by_ordinal = re.compile(r"ordinal/(0|[1-9][0-9]{0,18})(?:/row/([1-9][0-9]*))?(?:/|\Z)").match


def at_line(line: int, earlier: int = 0) -> str:
    """The ID of a row in a line, which holds so many `earlier` rows."""
    return again(f"line/{line}", earlier)


def at_ordinal(ordinal: int, earlier: int = 0) -> str:
    """The ID of a row with a native ordinal, which so many `earlier` rows have too."""
    return again(f"ordinal/{ordinal}", earlier)


def again(record_id: str, earlier: int) -> str:
    """The ID of a row that would have a certain ID if it were not for so many `earlier` rows."""
    return f"{record_id}/row/{earlier}" if earlier else record_id


def of_part(record_id: str, record_type: str, number: int) -> str:
    """The ID of a further record of a row, by its type and its place in the row."""
    return f"{record_id}/{record_type}/{number}"


def ordinal_of(record_id: str) -> tuple[int, str] | None:
    """The native ordinal that an ID derives from, and which of the rows that have it; else None."""
    found = _by_ordinal(record_id)
    return None if found is None else (int(found[1]), found[2] or "0")
