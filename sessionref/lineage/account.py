"""The lineage of one account of a session: its claims, and the originality of its records."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from sessionref.lineage.copies import read_copied_from
from sessionref.lineage.effective import Declared, effective_lineage
from sessionref.lineage.gather import Gathered
from sessionref.lineage.originality import Originality
from sessionref.lineage.places import Faults
from sessionref.streams.json import value

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from sessionref.findings import Finding, Place
    from sessionref.lineage.copies import CopiedFrom
    from sessionref.lineage.effective import Effective
    from sessionref.lineage.originality import Verdict
    from sessionref.scope.session import Account

__all__ = ["OBSERVER", "AccountLineage", "RecordCounts"]

#: The name under which a scope keeps what `Gathered` saw of a stream.
OBSERVER = Gathered.__name__


class RecordCounts(NamedTuple):
    """How many records are original, copied and unknown; header and declarations are none."""

    original: int = 0
    copied: int = 0
    unknown: int = 0


class AccountLineage:
    """What one account of a session says of the session's lineage, and of its records' originality.

    `index` is the account's index, `gathered` what the observers of its captures kept: what one of
    them declares holds for the records of all. `conflict` is set where the account is one of
    several that contradict each other.
    """

    def __init__(self, account: Account, *, conflict: bool = False) -> None:
        self.account = account
        self.index = account.index
        self.gathered = _gathered(account)
        self.conflict = conflict

    @property
    def superseded(self) -> Collection[int]:
        """The rows whose records others supersede."""
        return self.index.superseded

    def place(self, row: int) -> Place:
        """Where the record in `row` stands."""
        return self.index.place(row)

    @cached_property
    def effective(self) -> Effective:
        """The effective lineage at the end of the account."""
        return effective_lineage(self.declared())

    def declared(self) -> list[Declared]:
        """What headers and declarations say, in their order."""
        order = self.index.order
        rows = sorted(self.gathered.declared, key=lambda item: (order[item.row], item.row))
        return [
            Declared(self.place(row), lineage, authority, scope, producer)
            for row, lineage, authority, scope, producer in rows
        ]

    @cached_property
    def originality(self) -> Originality:
        """The originality of the records."""
        return Originality(
            self.effective,
            copied=self.gathered.copied.keys(),
            unmarked=frozenset(item.row for item in self.gathered.declared),
            boundary=self._boundary(),
            repeats=self._first_writings(),
            conflict=self.conflict,
        )

    def _boundary(self) -> int | None:
        """The place in the order of the one record that `localThroughId` names (ASR-415)."""
        inherits = self.effective.inherits
        if inherits is None or inherits.local_through_id is None:
            return None
        rows = self.index.rows_of(None, inherits.local_through_id)
        return self.index.order[rows[0]] if len(rows) == 1 else None

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
        return self.originality.verdict(row, self.index.order[row])

    @cached_property
    def records(self) -> RecordCounts:
        """How many of the records are original, copied and unknown."""
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
        """As many as have the verdict copy; one pass over the records."""
        originality, order = self.originality, self.index.order
        copied = self.gathered.copied
        exceptions = (copied.keys() | self.gathered.repeats.keys()) - unmarked
        copies = 0
        boundary = originality.prefix
        if boundary is not None:
            copies = sum(place <= boundary for place in order)
            copies -= sum(order[row] <= boundary for row in unmarked | exceptions)
        for row in exceptions:
            first = originality.first_writing(row)
            copies += originality.verdict(first, order[first]).value == "copy"
        return copies

    def copied_from(self, row: int) -> CopiedFrom | None:
        """What the record in `row` says that it was copied from, None where it says nothing."""
        raw = self.gathered.copied.get(row)
        if raw is None:
            return None
        return read_copied_from(value(msgspec.Raw(raw)), Faults(self.place(row)))

    def copy_findings(self) -> Iterator[Finding]:
        """What is wrong with the shape of `copiedFrom` members (ASR-413), in the order of rows."""
        for row, raw in self.gathered.copied.items():
            faults = Faults(self.place(row))
            read_copied_from(value(msgspec.Raw(raw)), faults)
            yield from faults.found


def _gathered(account: Account) -> Gathered:
    parts: list[tuple[Gathered, Sequence[int]]] = []
    for capture, rows in account.parts:
        gathered = capture.observed.get(OBSERVER)
        if not isinstance(gathered, Gathered):
            raise TypeError(f"the scope was read without the observer {OBSERVER!r}")
        parts.append((gathered, rows))
    return parts[0][0] if len(parts) == 1 else Gathered.joined(parts)
