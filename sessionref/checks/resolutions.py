"""Findings from references that do not mean one thing, each under the rule that it breaks.

Absent targets are notices where the table says ``may`` and errors where it says ``must``; what is
ambiguous has a code of its own (ASR-079). A session that is not in scope is one notice for each
stream, however many references name it: nothing is wrong with them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessionref._codes import codes
from sessionref.findings import Finding
from sessionref.refs import ENTITY_KEYS
from sessionref.scope.values import Report, report
from sessionref.streams.outcomes import Ambiguous, Unresolved

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Sequence

    from sessionref.checks.causes import Causes
    from sessionref.findings import Severity
    from sessionref.scope.resolve import Resolution
    from sessionref.scope.session import Account, Place

__all__ = ["resolution_findings"]

#: The rules of reasons for which a reference has no target.
_RULE_OF_REASON = {
    "no-such-record": "ASR-063",
    "no-such-turn": "ASR-075",
    "capture-scoped": "ASR-071",
}


def resolution_findings(
    problems: Iterable[tuple[Place, Resolution]],
    account: Account,
    causes: Sequence[Causes],
    split: Container[tuple[str | None, int]],
) -> Iterator[tuple[int, Finding]]:
    """A finding for each of `problems`, all of one account, that is a fault of its own.

    Each comes with the number of the account's capture that it is about; `causes` are those of the
    captures, and `split` the files and lines, of the whole scope, of records whose links are at
    fault. Links of revisions are left out: the index of a stream reports what is wrong with those.
    """
    absent: set[str | None] = set()
    chains = _SplitChains(account, causes, split)
    missing_ids = frozenset[str]().union(*(cause.missing_ids for cause in causes))
    for place, problem in problems:
        if problem.field.member_steps == ("supersedes",):
            continue
        if missing_ids and problem.value in missing_ids and not problem.faults:
            continue
        if chains.explain(problem):
            continue
        if isinstance(problem.outcome, Unresolved) and problem.outcome.reason == "no-such-session":
            session = problem.outcome.session
            if not problem.required and not problem.faults and session in absent:
                continue
            absent.add(session)
        finding = _finding(problem)
        if finding is not None:
            yield place.segment, finding


class _SplitChains:
    """Entities that are ambiguous because a link between their records is at fault."""

    def __init__(
        self,
        account: Account,
        causes: Sequence[Causes],
        split: Container[tuple[str | None, int]],
    ) -> None:
        self._account = account
        self._causes = causes
        self._split = split
        self._known: dict[tuple[str, str], bool] = {}

    def explain(self, problem: Resolution) -> bool:
        """Whether that, which is reported where the link stands, is all that is wrong."""
        if problem.faults or not isinstance(problem.outcome, Ambiguous):
            return False
        if problem.field.session is not None:
            return any((hit.file, hit.line) in self._split for hit in problem.outcome.candidates)
        entity = _entity(problem)
        if entity is None:
            return False
        known = self._known.get(entity)
        if known is None:
            places = self._account.find(*entity)
            known = self._known[entity] = any(
                self._causes[place.segment].has_broken_chain((place.row,)) for place in places
            )
        return known


def _finding(problem: Resolution) -> Finding | None:
    """The finding for one problem; None where there is nothing to say."""
    faults, outcome = problem.faults, problem.outcome
    if faults and not (faults == ("claims-complete",) and problem.required):
        return _of_fault(problem, faults[0])
    severity: Severity = "error" if problem.required else "notice"
    if isinstance(outcome, Ambiguous):
        rule = "ASR-079" if _entity(problem) is None else "ASR-064"
        count = len(outcome.candidates)
        return _said(problem, rule, "ambiguous", severity, f"{count} records could be meant")
    if isinstance(outcome, Unresolved) and outcome.reason != "external":
        reason = outcome.reason
        of_field = problem.field.rule if reason == "not-declared" else "ASR-079"
        rule = _RULE_OF_REASON.get(reason, of_field)
        return _said(problem, rule, reason, severity, codes()[reason].meaning)
    return None


def _of_fault(problem: Resolution, fault: str) -> Finding:
    said = report(problem.field, problem.path, fault, problem.error)
    return _found(problem, "error", said)


def _entity(problem: Resolution) -> tuple[str, str] | None:
    """Key and value of the entity that the reference names, if it names one."""
    value = problem.value
    if not isinstance(value, str):
        return None
    if problem.field.key is not None:
        return problem.field.key, value
    key, _, named = value.partition("=")
    return (key, named) if key in ENTITY_KEYS else None


def _said(problem: Resolution, rule: str, code: str, severity: Severity, message: str) -> Finding:
    return _found(problem, severity, Report(rule, code, f"{problem.field.path}: {message}"))


def _found(problem: Resolution, severity: Severity, said: Report) -> Finding:
    at = problem.at
    return Finding(
        severity=severity,
        session=at.session,
        seq=at.seq,
        id=at.id,
        path=problem.path,
        file=at.file,
        line=at.line,
        **said._asdict(),
    )
