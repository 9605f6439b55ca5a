"""The faults that working out lineage finds, stream by stream: ASR-400 to 424 and cycles.

Missing targets are not among them: resolving references reports those (ASR-079).
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import msgspec

from sessionref.lineage.effective import Effective
from sessionref.lineage.faults import usage_findings
from sessionref.lineage.lineage import Lineage
from sessionref.lineage.sessions import OBSERVER
from sessionref.lineage.subagents import agreement_findings, subagent_findings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sessionref.findings import Finding
    from sessionref.lineage.sessions import AccountLineage
    from sessionref.lineage.stream import StreamLineage
    from sessionref.scope.capture import Capture
    from sessionref.scope.scope import Scope
    from sessionref.streams.index import StreamIndex

__all__ = ["Lineages"]


class Lineages:
    """The lineage of a scope, and its faults in one stream at a time.

    Only findings about claims of sessions about each other are held in memory, because these are
    compared all at once. A scope that was read without the observer of lineage has no findings.
    """

    def __init__(self, scope: Scope) -> None:
        self._of: dict[Capture, tuple[AccountLineage, StreamLineage]] = {}
        self._between: dict[tuple[str | None, str | None], list[Finding]] = {}
        if any(OBSERVER not in capture.observed for capture in scope.captures):
            return
        lineage = Lineage(scope)
        for session in lineage.sessions:
            for account in session.accounts:
                for capture, stream in zip(account.account.captures, account.streams, strict=True):
                    self._of[capture] = account, stream
        between = agreement_findings(lineage.by_key, lineage.name_of)
        for finding in chain(between, lineage.forest.findings):
            self._between.setdefault((finding.session, finding.file), []).append(finding)

    def findings(self, capture: Capture) -> Iterator[Finding]:
        """The faults in one capture: facets, copies, announcements, usage, cycles."""
        if capture not in self._of:
            return
        account, stream = self._of[capture]
        index = capture.index
        between = self._between.get((index.session, index.file), ())
        for finding in (*account.effective.findings, *between):
            if _is_in(index, finding.file, finding.line):
                yield finding
        yield from stream.copy_findings()
        yield from subagent_findings(stream)
        yield from usage_findings(stream)

    def claimed(self, capture: Capture) -> Effective:
        """The effective lineage of the session, with only those claims that `capture` makes."""
        if capture not in self._of:
            return Effective()
        account, _ = self._of[capture]
        effective = account.effective
        here = (
            claim
            for claim in effective.claims
            if _is_in(capture.index, claim.place.file, claim.place.line)
        )
        return msgspec.structs.replace(effective, claims=tuple(here))


def _is_in(index: StreamIndex, file: str | None, line: int | None) -> bool:
    """Whether a place is in this stream.

    Several streams may share a lineage (segments), and several may be in one file.
    """
    first, last = index.hit(0).line, index.hit(len(index) - 1).line
    return file == index.file and first <= (line or 0) <= last
