"""What is wrong with the lineage of a scope, by rule: what checks register."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessionref._codes import codes
from sessionref.findings import Finding
from sessionref.lineage.subagents import agreement_findings, subagent_findings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sessionref.lineage.account import AccountLineage
    from sessionref.lineage.lineage import Lineage

__all__ = [
    "copies",
    "cycles",
    "facets",
    "subagents",
    "usage",
    "usage_findings",
]


def facets(lineage: Lineage) -> Iterator[Finding]:
    """Facets and mirrors: ASR-400, 402, 404, 407, 408, 409, 420 and 422."""
    for session in lineage.sessions:
        for effective in session.lineages:
            yield from effective.findings


def copies(lineage: Lineage) -> Iterator[Finding]:
    """The shape of `copiedFrom`: ASR-413. Whether its target is there, the scope resolves."""
    for session in lineage.sessions:
        for account in session.accounts:
            yield from account.copy_findings()


def subagents(lineage: Lineage) -> Iterator[Finding]:
    """Announcements by themselves, and with what their children claim: ASR-411, 412 and 424."""
    for session in lineage.sessions:
        for account in session.accounts:
            yield from subagent_findings(account)
    yield from agreement_findings(lineage.by_key, lineage.name_of)


def usage(lineage: Lineage) -> Iterator[Finding]:
    """Usage and cost that cannot be read; on pages that we do not have, so without a rule."""
    for session in lineage.sessions:
        for account in session.accounts:
            yield from usage_findings(account)


def usage_findings(account: AccountLineage) -> Iterator[Finding]:
    """Usage and cost in one account that cannot be read."""
    calls = account.gathered.calls
    rows = [(calls.rows[at], faulty) for at, faulty in calls.faulty.items()]
    rows += [(one.row, one.faulty) for one in account.gathered.aggregates if one.faulty]
    for row, faulty in sorted(rows):
        for code, path, complaint in faulty:
            meaning = codes()[code].meaning
            message = f"{meaning}: {complaint}" if complaint else meaning
            yield Finding.at(account.place(row), None, code, message, path)


def cycles(lineage: Lineage) -> Iterator[Finding]:
    """Sessions that are each other's ancestors."""
    yield from lineage.forest.findings
