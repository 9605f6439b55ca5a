"""Findings from references that do not mean one thing, each under the rule that it breaks.

Absent targets are notices where the table says ``may`` and errors where it says ``must``; what is
ambiguous has a code of its own (ASR-079). A session that is not in scope is one notice for each
stream, however many references name it: nothing is wrong with them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from sessionref.findings import Finding
from sessionref.refs import ENTITY_KEYS
from sessionref.scope.resolve import REFERENCE_FAULTS
from sessionref.streams.outcomes import REASONS, Ambiguous, Unresolved

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Sequence

    from sessionref.checks.causes import Causes
    from sessionref.findings import Severity
    from sessionref.scope.resolve import Resolution
    from sessionref.scope.session import Account, Place

__all__ = ["resolution_findings"]

#: The rules of faults that are the same in every field; others are under the field's own rule.
_RULE_OF_FAULT = {
    "turn-ref": "ASR-075",
    "null-reference": "ASR-079",
    "claims-complete": "ASR-079",
}

#: The rules under which some members must be what the references in them stand in.
_RULE_OF_SHAPE = {
    "$.lineage.inherits": "ASR-400",
    "$.lineage.executedBy": "ASR-420",
}

#: The rules of reasons for which a reference has no target.
_RULE_OF_REASON = {
    "no-such-record": "ASR-063",
    "no-such-turn": "ASR-075",
    "capture-scoped": "ASR-071",
}


#: The rule that explanations of codes end with; findings have it as a member.
_its_rule = re.compile(r" \(ASR-[^)]*\)\Z")


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
        return _said(problem, rule, reason, severity, REASONS[reason])
    return None


def _of_fault(problem: Resolution, fault: str) -> Finding:
    error = problem.error
    if error is not None:
        finding = _said(problem, error.rule, error.code, "error", error.message)
        return msgspec.structs.replace(finding, component=error.component, span=error.span)
    rule = _RULE_OF_FAULT.get(fault, problem.field.rule)
    if fault == "wrong-shape":
        rule = _RULE_OF_SHAPE.get(problem.path, rule)
    return _said(problem, rule, fault, "error", REFERENCE_FAULTS[fault])


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
    at = problem.at
    return Finding(
        rule=rule,
        code=code,
        severity=severity,
        message=f"{problem.field.path}: {_its_rule.sub('', message)}",
        session=at.session,
        seq=at.seq,
        id=at.id,
        path=problem.path,
        file=at.file,
        line=at.line,
    )
