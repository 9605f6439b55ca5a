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
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from sessionref.checks.causes import Causes
    from sessionref.findings import Severity
    from sessionref.scope.resolve import Resolution
    from sessionref.scope.session import Account, Session

__all__ = ["resolution_findings"]

#: The rules of reasons for which a reference has no target.
_RULE_OF_REASON = {
    "no-such-record": "ASR-063",
    "no-such-turn": "ASR-075",
    "capture-scoped": "ASR-071",
}


def resolution_findings(
    problems: Iterable[Resolution],
    account: Account,
    causes: Sequence[Causes],
    session: Callable[[str], Session | None],
) -> Iterator[Finding]:
    """A finding for each of `problems`, all of one account, that is a fault of its own.

    `causes` are those of the account's captures; `session` gives the session of the scope that has
    a canonical key. Links between revisions are left out: the account reports what is wrong with
    those.
    """
    absent: set[str | None] = set()
    chains = _SplitChains(account, session)
    missing_ids = frozenset[str]().union(*(cause.missing_ids for cause in causes))
    for problem in problems:
        if problem.field.member_steps == ("supersedes",):
            continue
        # Any JSON value may stand where a ref is wanted; only a text can name a missing record.
        named_id = problem.value if isinstance(problem.value, str) else None
        if named_id in missing_ids and not problem.faults:
            continue
        if chains.explain(problem):
            continue
        if isinstance(problem.outcome, Unresolved) and problem.outcome.reason == "no-such-session":
            named = problem.outcome.session
            if not problem.required and not problem.faults and named in absent:
                continue
            absent.add(named)
        finding = _finding(problem)
        if finding is not None:
            yield finding


class _SplitChains:
    """Entities that are ambiguous because a link between their records is at fault."""

    def __init__(self, account: Account, session: Callable[[str], Session | None]) -> None:
        self._account = account
        self._session = session
        self._faulty: dict[Account, frozenset[int]] = {}
        self._known: dict[tuple[str | None, str, str], bool] = {}

    def explain(self, problem: Resolution) -> bool:
        """Whether that, which is reported where the link stands, is all that is wrong."""
        if problem.faults or not isinstance(problem.outcome, Ambiguous):
            return False
        entity = _entity(problem)
        if entity is None:
            return False
        name = None if problem.field.session is None else problem.outcome.session
        known = self._known.get((name, *entity))
        if known is None:
            named = None if name is None else self._session(name)
            accounts = (self._account,) if named is None else named.accounts
            known = any(self._is_split(one, entity) for one in accounts)
            self._known[name, *entity] = known
        return known

    def _is_split(self, account: Account, entity: tuple[str, str]) -> bool:
        """Whether a link in the chains of an entity is at fault, which may have made them two."""
        index = account.index
        faulty = self._faulty.get(account)
        if faulty is None:
            faulty = self._faulty[account] = frozenset(row for row, _ in index.link_findings)
        return bool(faulty) and any(
            not faulty.isdisjoint(index.chain(row)) for row in index.rows_of(*entity)
        )


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
    rule, code, message, component, span = said
    return Finding.at(
        problem.at.place,
        rule,
        code,
        message,
        problem.path,
        severity,
        component=component,
        span=span,
    )
