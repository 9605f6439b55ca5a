"""The faults that working out lineage finds, account by account: ASR-400 to 424 and cycles.

Missing targets are not among them: resolving references reports those (ASR-079).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import chain
from typing import TYPE_CHECKING

import msgspec

from sessionref.lineage.account import OBSERVER
from sessionref.lineage.effective import Effective
from sessionref.lineage.faults import usage_findings
from sessionref.lineage.lineage import Lineage
from sessionref.lineage.subagents import agreement_findings, subagent_findings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sessionref.findings import Finding
    from sessionref.lineage.account import AccountLineage
    from sessionref.scope.capture import Capture
    from sessionref.scope.scope import StreamScope
    from sessionref.scope.session import Account

__all__ = ["Lineages"]


class Lineages:
    """The lineage of a scope, and its faults in one account at a time.

    Only findings about claims of sessions about each other are held in memory, because these are
    compared all at once. A scope that was read without the observer of lineage has no findings.
    """

    def __init__(self, scope: StreamScope) -> None:
        self._of: dict[Account, AccountLineage] = {}
        self._between: dict[tuple[str | None, str | None], list[Finding]] = {}
        if any(OBSERVER not in capture.observed for capture in scope.captures):
            return
        lineage = Lineage(scope)
        for session in lineage.sessions:
            self._of.update((account.account, account) for account in session.accounts)
        between = agreement_findings(lineage.by_key, lineage.name_of)
        for finding in chain(between, lineage.forest.findings):
            self._between.setdefault((finding.session, finding.file), []).append(finding)
        for found in self._between.values():
            found.sort(key=_line)

    def findings(self, account: Account) -> Iterator[Finding]:
        """What is wrong in one account: facets, copies, announcements, usage, cycles."""
        lineage = self._of.get(account)
        if lineage is None:
            return
        yield from lineage.effective.findings
        for capture in account.captures:
            between = self._between.get((capture.index.session, capture.file), [])
            first, last = capture.lines
            yield from between[
                bisect_left(between, first, key=_line) : bisect_right(between, last, key=_line)
            ]
        yield from lineage.copy_findings()
        yield from subagent_findings(lineage)
        yield from usage_findings(lineage)

    def claimed(self, account: Account, capture: Capture) -> Effective:
        """The effective lineage of the account, with the claims only that stand in `capture`."""
        lineage = self._of.get(account)
        if lineage is None:
            return Effective()
        if len(account.captures) == 1:
            return lineage.effective
        here = (
            claim
            for claim in lineage.effective.claims
            if account.capture_at(claim.place.file, claim.place.line) is capture
        )
        return msgspec.structs.replace(lineage.effective, claims=tuple(here))


def _line(finding: Finding) -> int:
    return finding.line or 0
