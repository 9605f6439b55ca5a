"""The lineage of one stream as it was read: its claims, and the originality of its records."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from sessionref.lineage.copies import read_copied_from
from sessionref.lineage.effective import Declared, effective_lineage
from sessionref.lineage.originality import StreamOriginality
from sessionref.lineage.places import Faults, Place
from sessionref.streams.observe import value

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from sessionref.findings import Finding
    from sessionref.lineage.copies import CopiedFrom
    from sessionref.lineage.effective import Effective
    from sessionref.lineage.gather import Gathered
    from sessionref.lineage.originality import Verdict
    from sessionref.streams.index import StreamIndex

__all__ = ["RecordCounts", "StreamLineage"]


class RecordCounts(NamedTuple):
    """How many records are original, copied and unknown; header and declarations are none."""

    original: int = 0
    copied: int = 0
    unknown: int = 0


class StreamLineage:
    """What one stream says of its session's lineage, and of its records' originality.

    `index` is the stream's index, `gathered` what its observer kept. `conflict` is set where the
    stream is one of several that contradict each other about one session.
    """

    def __init__(self, index: StreamIndex, gathered: Gathered, *, conflict: bool = False) -> None:
        self.index = index
        self.gathered = gathered
        self.conflict = conflict
        self._session: tuple[Effective, int | None, Collection[int]] | None = None

    def join(self, effective: Effective, boundary: int | None, superseded: Collection[int]) -> None:
        """Make the stream one segment of a session whose lineage several segments declare.

        `boundary` is the `seq` through which records of this segment are copies, where the
        session declares a copied prefix that ends in exactly one record. `superseded` are the rows
        of this segment that records of any segment supersede.
        """
        self._session = (effective, boundary, superseded)

    @property
    def superseded(self) -> Collection[int]:
        """The rows whose records others supersede."""
        return self._session[2] if self._session else self.index.superseded

    def place(self, row: int) -> Place:
        """Where the record in `row` stands."""
        hit = self.index.hit(row)
        return Place(hit.session, hit.seq, hit.id, hit.file, hit.line)

    @cached_property
    def effective(self) -> Effective:
        """The effective lineage at the end of the stream, or of the session that it is part of."""
        return self._session[0] if self._session else effective_lineage(self.declared())

    def declared(self) -> list[Declared]:
        """What header and declarations say, in the order of `seq`."""
        seqs = self.index.seqs
        rows = sorted(self.gathered.declared, key=lambda item: (seqs[item.row], item.row))
        return [
            Declared(self.place(row), lineage, authority, scope, producer)
            for row, lineage, authority, scope, producer in rows
        ]

    @cached_property
    def originality(self) -> StreamOriginality:
        """The originality of the stream's records."""
        boundary = self._session[1] if self._session else self._own_boundary()
        return StreamOriginality(
            self.effective,
            copied=self.gathered.copied.keys(),
            unmarked=frozenset(item.row for item in self.gathered.declared),
            boundary=boundary,
            repeats=self._first_writings(),
            conflict=self.conflict,
        )

    def _own_boundary(self) -> int | None:
        inherits = self.effective.inherits
        if inherits is None or inherits.local_through_id is None:
            return None
        rows = self.index.rows_of(None, inherits.local_through_id)
        return self.index.seqs[rows[0]] if len(rows) == 1 else None

    def _first_writings(self) -> dict[int, int]:
        first: dict[int, int] = {}
        unmarked = {item.row for item in self.gathered.declared}
        # In the order of rows, so that a record written three times leads to the first writing.
        for row, record_id in self.gathered.repeats.items():
            rows = self.index.rows_of(None, record_id)
            if len(rows) == 1 and rows[0] < row and rows[0] not in unmarked:
                first[row] = first.get(rows[0], rows[0])
        return first

    def verdict(self, row: int) -> Verdict | None:
        """The originality of the record in `row`, None for header and declarations."""
        return None if self.originality.is_unmarked(row) else self.judge(row)

    def judge(self, row: int) -> Verdict:
        """The originality of the record in `row`, which is neither header nor declaration."""
        row = self.originality.first_writing(row)
        return self.originality.verdict(row, self.index.seqs[row])

    @cached_property
    def records(self) -> RecordCounts:
        """How many of the stream's records are original, copied and unknown."""
        originality, gathered = self.originality, self.gathered
        total = len(self.index) - len(gathered.declared)
        unmarked = {item.row for item in gathered.declared}
        if originality.is_uniform:
            copies = 0
        elif originality.prefix is None and not gathered.repeats:
            copies = len(gathered.copied.keys() - unmarked)
        else:
            copies = self._count_copies(unmarked)
        rest = total - copies
        if originality.rest.value == "original":
            return RecordCounts(original=rest, copied=copies)
        return RecordCounts(copied=copies, unknown=rest)

    def _count_copies(self, unmarked: set[int]) -> int:
        """As many as have the verdict copy; one pass over what is no plain run of `seq`s."""
        originality, seqs = self.originality, self.index.seqs
        copied = self.gathered.copied
        exceptions = (copied.keys() | self.gathered.repeats.keys()) - unmarked
        copies = 0
        boundary = originality.prefix
        if boundary is not None:
            copies = sum(seq <= boundary for seq in seqs)
            copies -= sum(seqs[row] <= boundary for row in unmarked | exceptions)
        for row in exceptions:
            first = originality.first_writing(row)
            copies += originality.verdict(first, seqs[first]).value == "copy"
        return copies

    def copied_from(self, row: int) -> CopiedFrom | None:
        """What the record in `row` says that it was copied from; None where it says nothing."""
        raw = self.gathered.copied.get(row)
        return (
            None
            if raw is None
            else read_copied_from(value(msgspec.Raw(raw)), Faults(self.place(row)))
        )

    def copy_findings(self) -> Iterator[Finding]:
        """What is wrong with the shape of `copiedFrom` members (ASR-413), in the order of rows."""
        for row, raw in self.gathered.copied.items():
            faults = Faults(self.place(row))
            read_copied_from(value(msgspec.Raw(raw)), faults)
            yield from faults.found
