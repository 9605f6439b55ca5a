"""Whether a record is its session's own work: copy, original or unknown (ASR-415, 416, 423).

The answer follows from the stream alone. What other streams hold, or that they are missing, never
turns a copy into an original or the other way round.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

if TYPE_CHECKING:
    from collections.abc import Collection

    from sessionref.lineage.effective import Effective

__all__ = ["Originality", "Value", "Verdict"]

Value = Literal["copy", "original", "unknown"]


class Verdict(msgspec.Struct, frozen=True):
    """An originality with what decided it: a rule, a stable slug, a sentence for people."""

    value: Value
    rule: str
    reason: str
    message: str

    @property
    def bucket(self) -> Literal["original", "copied", "unknown"]:
        """The column of a total that what the record reports belongs to."""
        return "copied" if self.value == "copy" else self.value


_COPIED_FROM = Verdict("copy", "ASR-416", "copied-from", "the record carries copiedFrom")
_PREFIX = Verdict(
    "copy", "ASR-415", "inherited-prefix", "the record lies in the declared copied prefix"
)
_MIRROR = Verdict(
    "unknown", "ASR-423", "mirror", "the stream is a mirror, and the record carries no copiedFrom"
)
_CONFLICT = Verdict(
    "unknown",
    "ASR-416",
    "identity-conflict",
    "the session has several captures that contradict each other",
)
_NO_LINEAGE = Verdict(
    "unknown", "ASR-416", "no-inherits", "the session does not say what it inherits"
)
_MODE_UNKNOWN = Verdict(
    "unknown", "ASR-416", "inherits-unknown", "what the session inherits is unknown"
)
_NO_EVIDENCE = Verdict(
    "unknown",
    "ASR-404",
    "inherits-without-evidence",
    "the session does not say on what evidence it inherits",
)
_NO_BOUNDARY = Verdict(
    "unknown",
    "ASR-416",
    "no-boundary",
    "the session holds copies, and does not say where they end",
)
_BOUNDARY_LOST = Verdict(
    "unknown",
    "ASR-416",
    "boundary-unresolved",
    "the last copied record that the session names is not one record of the stream",
)
_AFTER_PREFIX = Verdict(
    "original", "ASR-416", "after-prefix", "the record follows the declared copied prefix"
)
_ORIGINAL = {
    "none": Verdict(
        "original", "ASR-416", "inherits-none", "the session started from a fresh context"
    ),
    "referenced": Verdict(
        "original",
        "ASR-416",
        "inherits-referenced",
        "the session refers to inherited records and holds none",
    ),
    "rendered": Verdict(
        "original",
        "ASR-426",
        "inherits-rendered",
        "inherited context was rendered, which is new content of the session",
    ),
}


class Originality:
    """The originality of the records of one account of a session.

    `effective` is its lineage; `copied` the rows that carry `copiedFrom`; `unmarked` the rows of
    headers and declarations, which have no originality; `boundary` the place in the order of
    records of the one that `localThroughId` names, None where it names not exactly one; `repeats`
    leads from a row that the source wrote again to the row of its first writing. With `conflict`
    the account is one of several that contradict each other.
    """

    __slots__ = ("_copied", "_prefix", "_repeats", "_rest", "_unmarked")

    def __init__(
        self,
        effective: Effective,
        *,
        copied: Collection[int] = (),
        unmarked: Collection[int] = (),
        boundary: int | None = None,
        repeats: dict[int, int] | None = None,
        conflict: bool = False,
    ) -> None:
        self._copied = copied
        self._unmarked = unmarked
        self._repeats = repeats or {}
        self._prefix: int | None = None
        inherits = effective.inherits
        if effective.is_mirror:
            rest = _MIRROR
        elif effective.claim("inherits") is None:
            rest = _NO_LINEAGE
        elif inherits is None or inherits.mode is None or inherits.mode == "unknown":
            rest = _MODE_UNKNOWN
        elif inherits.evidence is None and inherits.mode != "copied":
            rest = _NO_EVIDENCE
        elif inherits.mode != "copied":
            rest = _ORIGINAL[inherits.mode]
        elif inherits.local_through_id is None:
            rest = _NO_BOUNDARY
        elif boundary is None:
            rest = _BOUNDARY_LOST
        else:
            self._prefix = boundary
            # Without evidence the claim makes nothing original; what it calls copies may be some.
            rest = _NO_EVIDENCE if inherits.evidence is None else _AFTER_PREFIX
        if conflict and rest.value == "original":
            rest = _CONFLICT
        self._rest = rest

    @property
    def rest(self) -> Verdict:
        """The verdict on records that nothing marks as copies."""
        return self._rest

    @property
    def prefix(self) -> int | None:
        """Up to which place in the order records are copies, None without a prefix (ASR-415)."""
        return self._prefix

    @property
    def is_uniform(self) -> bool:
        """Whether all records have the verdict `rest`, header and declarations aside."""
        # What was written again takes the verdict of its first writing, which is `rest` then.
        return not self._copied and self._prefix is None

    def is_unmarked(self, row: int) -> bool:
        """Whether the record at `row` is header or declaration, which have no originality."""
        return row in self._unmarked

    def verdict(self, row: int, place: int) -> Verdict:
        """The verdict on the record at `row`, which is neither header nor declaration.

        `place` is its place in the order of records.
        """
        if row in self._copied:
            return _COPIED_FROM
        if self._prefix is not None and place <= self._prefix:
            return _PREFIX
        return self._rest

    @property
    def repeated(self) -> Collection[int]:
        """The rows that the source wrote again."""
        return self._repeats.keys()

    def first_writing(self, row: int) -> int:
        """The row whose originality `row` takes: its own, or that of its first writing."""
        return self._repeats.get(row, row)
