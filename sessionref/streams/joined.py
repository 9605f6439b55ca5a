"""One index over the records of several captures of a session."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, NamedTuple

from sessionref.streams.header import HEADER_TYPE
from sessionref.streams.index import StreamIndex
from sessionref.streams.table import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sessionref.streams.outcomes import Hit

__all__ = ["JoinedIndex", "Origin"]


class Origin(NamedTuple):
    """Where a record of a joined index comes from: the number of the capture, and its row there."""

    capture: int
    row: int


class JoinedIndex(StreamIndex):
    """The records of several captures of one session, in the order of the session.

    A record that several captures have is one row here, and the first of these captures gives it.
    The header of each capture stays a row of its own, since each declares something. Where a later
    header has the ID of an earlier one, that ID means the earlier one alone.
    """

    def __init__(self, parts: Sequence[tuple[StreamIndex, Sequence[int]]]) -> None:
        """The index of the captures `parts`.

        Each part is the index of a capture with the rows that its records have here. Together the
        rows are the numbers from 0, and they follow the order of the records in each capture.
        """
        size = 1 + max(max(rows) for _, rows in parts)
        self._joined = parts
        self._parts = [index for index, _ in parts]
        self._of_file: dict[str | None, list[tuple[StreamIndex, Sequence[int]]]] = {}
        self._captures = array("q", [-1]) * size
        self._rows = array("q", [-1]) * size
        for number, (index, rows) in enumerate(parts):
            self._of_file.setdefault(index.file, []).append((index, rows))
            for row, joined in enumerate(rows):
                if self._captures[joined] < 0:
                    self._captures[joined] = number
                    self._rows[joined] = row
        super().__init__(self._table_of())
        self._order = self._ranks()

    def _table_of(self) -> Table:
        table = Table(self._parts[0].file)
        table.header = self._parts[0].header
        headers: set[str] = set()
        for joined, (number, row) in enumerate(zip(self._captures, self._rows, strict=True)):
            index = self._parts[number]
            columns = index.columns
            kind, record_id = columns.types[row], columns.ids[row]
            table.ids.append(record_id)
            table.types.append(kind)
            table.seqs.append(columns.seqs[row])
            table.lines.append(columns.lines[row])
            table.turns.append(columns.turns[row])
            table.values.append(columns.values[row])
            if row in columns.supersedes:
                table.supersedes[joined] = columns.supersedes[row]
            if row in columns.unreferable or (kind == HEADER_TYPE and record_id in headers):
                table.unreferable.add(joined)
            if kind == HEADER_TYPE:
                headers.add(record_id)
        return table

    def _ranks(self) -> array[int]:
        """The row of each record, or of the first of those with the same `seq` in its capture."""
        ranks = array("q")
        before = (-1, -1)
        for row, place in enumerate(zip(self._captures, self.seqs, strict=True)):
            ranks.append(ranks[-1] if place == before else row)
            before = place
        return ranks

    @property
    def order(self) -> Sequence[int]:
        """What orders the records, by row. A `seq` orders only the records of one capture."""
        return self._order

    def origin(self, row: int) -> Origin:
        """The capture that gives the record in `row`, and its row there."""
        return Origin(self._captures[row], self._rows[row])

    def given_by(self, number: int) -> array[int]:
        """The rows here of the records of a part, -1 for one that an earlier part gives."""
        _, rows = self._joined[number]
        return array("q", [row if self._captures[row] == number else -1 for row in rows])

    def fetch(self, hit: Hit) -> bytes:
        """The record of `hit`, as `StreamIndex.fetch` gives it."""
        return self._parts[self._captures[self.row(hit)]].fetch(hit)

    def _hit(self, row: int) -> Hit:
        return self._parts[self._captures[row]].hit(self._rows[row])

    def find(self, hit: Hit) -> int | None:
        """The row of `hit`, None where it is no record of these captures."""
        for index, rows in self._of_file.get(hit.file, ()):
            row = index.find(hit)
            if row is not None:
                return rows[row]
        return None
