"""One finding for each fault: what only follows from another finding is left out.

A finding is never left out for one that is less grave.
"""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING

from sessionref.findings import SEVERITIES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sessionref.findings import Finding
    from sessionref.streams.index import StreamIndex

__all__ = ["Causes", "root_causes"]

#: Codes that say that what stands at a place cannot be used at all, so that nothing else about the
#: place, or about what is inside it, is a fault of its own. Those of the lowest rank come first.
_RANK = {
    "duplicate-member": 0,
    "bad-utf8": 1,
    "lone-surrogate": 1,
    "surrogate": 1,
    "bad-member": 2,
    "missing-member": 2,
    "wrong-shape": 2,
    "bad-actor": 2,
}
_LAST = 3
#: Codes that say more about a reference than that it leads nowhere.
_SAYS_MORE = frozenset({"calls-differ"})
_ABSENT = frozenset({"no-such-entity", "no-such-record"})
#: What is said of a place only where nothing else is: the link that is missing there is at fault.
_AFTER_ALL = frozenset({"second-announcement"})
#: Where things are declared that records refer to.
_DECLARING = ("$.participants", "$.workspace", "$.conversation")
_GRAVITY = {severity: rank for rank, severity in enumerate(SEVERITIES)}

#: Codes of what may only follow from a fault in another member, by its path from the object that
#: the finding is about a member of.
_FOLLOWS = {
    "out-of-place": ".mode",
    "missing-child-session": ".capture",
    "mirror-of-many": ".lineage.executedBy",
}

#: Members without which a line is no record.
_REQUIRED = frozenset({"$.type", "$.seq", "$.id"})
#: Codes of lines that are no records.
_UNREAD = frozenset({"not-object", "too-deep"})
_UNREAD_FOR_A_MEMBER = frozenset({"missing-member", "bad-member"})

_steps = re.compile(r"[.\[]").finditer


class Causes:
    """What went wrong in reading a stream that other findings could follow from."""

    def __init__(self, index: StreamIndex) -> None:
        self._index = index
        self._unread = [f for f in index.findings if f.severity == "error" and _is_unread(f)]
        #: The IDs of records that could not be read; a reference to one is no fault of its own.
        self.missing_ids = frozenset(f.id for f in self._unread if f.id is not None)

    @property
    def some_are_unread(self) -> bool:
        """Whether lines could not be read that would be records."""
        return bool(self._unread)

    def header_is_unread(self) -> bool:
        """Whether a line before all records could not be read, and may have been the header."""
        index = self._index
        first = index.hit(0).line if len(index) else None
        return any(first is None or (f.line is not None and f.line < first) for f in self._unread)

    def lines_naming_the_missing(self) -> frozenset[int]:
        """The lines of records that supersede one that could not be read."""
        if not self.missing_ids:
            return frozenset()
        index = self._index
        return frozenset(
            index.hit(row).line for row, named in index.supersedes() if named in self.missing_ids
        )


def _is_unread(finding: Finding) -> bool:
    if finding.code in _UNREAD_FOR_A_MEMBER:
        return finding.path in _REQUIRED
    return finding.code in _UNREAD


def root_causes(found: Iterable[Finding], causes: Causes) -> Iterator[Finding]:
    """Those of `found`, all about one stream, that are faults of their own, by line."""
    ordered = sorted(found, key=lambda finding: finding.line or 0)
    dangling = causes.lines_naming_the_missing()
    undeclared = causes.some_are_unread or any(
        f.code in _RANK and f.path is not None and f.path.startswith(_DECLARING) for f in ordered
    )
    #: Whether an announcement may be there that could not be read.
    unheard = causes.some_are_unread or any(
        f.path == "$.childSession" and f.severity == "error" for f in ordered
    )
    for line, group in groupby(ordered, lambda finding: finding.line):
        at_line = list(group)
        for finding in _at_places(at_line) if len(at_line) > 1 else at_line:
            if (
                (finding.code == "no-header" and causes.header_is_unread())
                or (finding.code == "supersedes-unknown" and line in dangling)
                or (finding.code == "not-declared" and undeclared)
                or (finding.code == "no-announcement" and unheard)
            ):
                continue
            yield finding


def _at_places(found: Sequence[Finding]) -> Iterator[Finding]:
    """The findings about one line, without those about what another says is of no use.

    Of several errors about one place the first is the fault; one under a rule comes before one that
    only says that the type is wrong.
    """
    ranked = sorted(
        found,
        key=lambda f: (
            _GRAVITY[f.severity],
            f.code in _AFTER_ALL,
            _RANK.get(f.code, _LAST),
            f.rule is None,
        ),
    )
    ruled: set[tuple[str | None, str]] = set()
    broken: set[tuple[str | None, str]] = set()
    wrong: set[tuple[str | None, str]] = set()
    told = {(f.id, f.path) for f in found if f.code in _SAYS_MORE}
    for finding in ranked:
        if finding.path is not None and finding.severity == "error":
            above = _above(finding.id, finding.path)
            broken.update(above)
            wrong.add((finding.id, finding.path))
            if finding.rule is not None and finding.code in _RANK:
                ruled.update(above)
    unusable: set[tuple[str | None, str]] = set()
    at_fault: set[tuple[str | None, str]] = set()
    kept: set[int] = set()
    for finding in ranked:
        path = finding.path
        if path is not None:
            place = (finding.id, path)
            above = _above(finding.id, path)
            if (
                (finding.severity == "error" and place in at_fault)
                or not unusable.isdisjoint((place, *above))
                or (finding.rule is None and finding.code == "bad-member" and place in ruled)
                or (finding.code == "no-session-named" and above[-1] in broken)
                or (finding.code in _ABSENT and finding.severity == "notice" and place in told)
                or (
                    finding.code in _FOLLOWS
                    and (finding.id, above[-1][1] + _FOLLOWS[finding.code]) in wrong
                )
            ):
                continue
            if finding.severity == "error":
                at_fault.add(place)
            if finding.code in _RANK:
                unusable.add(place)
        kept.add(id(finding))
    return (finding for finding in found if id(finding) in kept)


def _above(record_id: str | None, path: str) -> list[tuple[str | None, str]]:
    """The places above a path in a record, from the whole record down."""
    return [(record_id, path[: step.start()]) for step in _steps(path)]
