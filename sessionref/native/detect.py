"""Which kind of log an input is, told by what its rows hold and never by its name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessionref.native.readers import readers
from sessionref.native.rows import head_of
from sessionref.streams.json import BOM

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sessionref.native.rows import Head

__all__ = ["DECIDING_LINES", "STREAM", "detect", "kind_of_lines"]

#: The kind of a stream in the format of this package. A native log's kind is its agent's name.
STREAM = "stream"

#: How many lines are looked at before an input counts as unknown.
DECIDING_LINES = 100


def detect(head: bytes) -> str | None:
    """The kind of log that begins with `head`: ``stream``, an agent's name, or None if unknown.

    Only whole lines decide, so `head` should hold some; a compressed head is unknown.
    """
    return kind_of_lines(head.split(b"\n"))


def kind_of_lines(lines: Iterable[bytes]) -> str | None:
    """As `detect`, for lines without their endings; the first `DECIDING_LINES` may decide."""
    for number, line in enumerate(lines):
        if number == DECIDING_LINES:
            break
        row = head_of(line.removeprefix(BOM))
        if row is None:
            continue
        kind, decided = _kind_of_row(row)
        if decided:
            return kind
    return None


def _kind_of_row(row: Head) -> tuple[str | None, bool]:
    """The kind that a row tells, and whether it tells one, or that no kind is known here."""
    is_header = row.type == "session"
    if is_header and row.begins("sessionId", b'"') and "seq" in row.members:
        return STREAM, True
    verdicts = {agent: reader.recognises(row) for agent, reader in readers().by_agent.items()}
    claims = [agent for agent, verdict in verdicts.items() if verdict]
    if claims:  # of two readers that both claim a row, none is chosen
        return claims[0] if len(claims) == 1 else None, True
    return None, is_header or False in verdicts.values()
