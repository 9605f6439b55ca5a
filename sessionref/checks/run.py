"""Checking a scope by all rules, with one finding for each fault."""

from __future__ import annotations

from bisect import bisect_right
from itertools import chain, groupby
from typing import TYPE_CHECKING, TypeAlias

from sessionref.checks.agents import (
    agent_name_findings,
    namespace_findings,
    short_name_findings,
)
from sessionref.checks.causes import Causes, root_causes
from sessionref.checks.claims import inference_rule_findings, mirror_findings, root_findings
from sessionref.checks.entities import (
    ambiguous_key_findings,
    capture_scope_findings,
    entity_key_findings,
    id_source_findings,
    inference_id_findings,
)
from sessionref.checks.envelopes import Envelopes
from sessionref.checks.lineages import Lineages
from sessionref.checks.references import lower_case_findings
from sessionref.checks.resolutions import resolution_findings
from sessionref.checks.view import View
from sessionref.lineage.gather import Gathered
from sessionref.scope.resolve import Resolver

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from sessionref.findings import Finding
    from sessionref.lineage.effective import Effective
    from sessionref.scope.capture import Capture
    from sessionref.scope.scope import StreamScope
    from sessionref.scope.session import Account
    from sessionref.streams.observe import Observer
    from sessionref.streams.source import Input

__all__ = ["OBSERVERS", "RULES", "Strict", "check"]

#: The observers with which a scope must have been read to be checked by all rules.
OBSERVERS: tuple[Callable[[], Observer], ...] = (Envelopes, Gathered)

#: The rules that look at a stream for themselves, in the order of their numbers. Faults under all
#: other rules are found where streams are read, references resolved and lineage worked out.
RULES: dict[str, Callable[[View], Iterable[Finding]]] = {
    "ASR-054": namespace_findings,
    "ASR-056": agent_name_findings,
    "ASR-057": short_name_findings,
    "ASR-059": lower_case_findings,
    "ASR-065": entity_key_findings,
    "ASR-067": id_source_findings,
    "ASR-070": capture_scope_findings,
    "ASR-074": inference_id_findings,
    "ASR-402": root_findings,
    "ASR-404": inference_rule_findings,
    "ASR-422": mirror_findings,
}

#: Returns the findings of the strict pass over an input with that name.
Strict: TypeAlias = "Callable[[Input, str | None], Iterable[Finding]]"


def check(scope: StreamScope, *, strict: Strict | None = None) -> Iterator[Finding]:
    """Every finding about the streams of `scope`, file by file, by line.

    The scope must have been read with `OBSERVERS`. `strict` is called with each input and its name,
    and returns the findings of the strict pass over its bytes (`sessionref.checks.strict`) by line.
    For an input without streams it returns none.

    Only some findings are held in memory: those of one stream, those of a session with several
    captures, those about parents and children that disagree, and those from reading.
    """
    return _Run(scope, strict).findings()


class _Run:
    def __init__(self, scope: StreamScope, strict: Strict | None) -> None:
        self._scope = scope
        self._strict = strict
        self._lineages = Lineages(scope)
        self._captures = sorted(scope.captures, key=lambda capture: capture.place)
        self._accounts = {
            capture: account
            for session in scope
            for account in session.accounts
            for capture in (*account.captures, *account.repeats)
        }
        #: What was found in accounts of several captures, until each capture has its turn.
        self._of_joined: dict[Capture, list[Finding]] = {}

    def findings(self) -> Iterator[Finding]:
        of_inputs: dict[str | None, list[Finding]] = {}
        for finding in self._scope.input_findings:
            of_inputs.setdefault(finding.file, []).append(finding)
        files = {capture.file for capture in self._captures}
        for file, found in of_inputs.items():
            if file not in files:
                yield from found
        for _, group in groupby(self._captures, _input):
            captures = list(group)
            first = captures[0]
            strict = () if self._strict is None else self._strict(first.source, first.file)
            found = of_inputs.pop(first.file, [])
            for capture, looked_at in zip(captures, _by_capture(captures, strict), strict=True):
                found += self._of_capture(capture)
                yield from root_causes([*looked_at, *found], Causes(capture.index))
                found = []

    def _of_capture(self, capture: Capture) -> list[Finding]:
        account = self._accounts[capture]
        found = list(account.findings_of(capture))
        if capture not in account.captures:
            return found
        if len(account.captures) == 1:
            found += self._of_account(account)
        else:
            if capture not in self._of_joined:
                for one in account.captures:
                    self._of_joined[one] = []
                for finding in self._of_account(account):
                    self._of_joined[account.capture_at(finding.file, finding.line or 0)].append(
                        finding
                    )
            found += self._of_joined.pop(capture)
        claimed = self._lineages.claimed(account, capture)
        return self._by_rules(capture, found, claimed)

    def _of_account(self, account: Account) -> Iterator[Finding]:
        return chain(
            self._of_references(account),
            ambiguous_key_findings(account.index),
            self._lineages.findings(account),
        )

    def _of_references(self, account: Account) -> Iterator[Finding]:
        problems = Resolver(self._scope, account).problems()
        causes = [Causes(capture.index) for capture in account.captures]
        return resolution_findings(problems, account, causes, self._scope.session)

    def _by_rules(
        self, capture: Capture, raised: Sequence[Finding], claimed: Effective
    ) -> list[Finding]:
        """What was raised about a capture and what the rules find in it, in the order of rules."""
        broken = frozenset(finding.rule for finding in raised)
        view = View(capture, self._scope.registry, broken, claimed)
        found = [*raised, *chain.from_iterable(look(view) for look in RULES.values())]
        return sorted(found, key=_by_rule)


def _by_capture(
    captures: Sequence[Capture], findings: Iterable[Finding]
) -> Iterator[list[Finding]]:
    """The findings in each of the captures of one input, which come in the order of lines."""
    starts = [capture.lines[0] for capture in captures[1:]]
    numbered = groupby(findings, lambda finding: bisect_right(starts, finding.line or 0))
    at, group = next(numbered, (None, ()))
    for number in range(len(captures)):
        yield list(group) if at == number else []
        if at == number:
            at, group = next(numbered, (None, ()))


def _input(capture: Capture) -> tuple[str | None, int]:
    """What tells inputs apart: the name, or for one without a name the input itself."""
    return capture.file, 0 if capture.file is not None else id(capture.source)


def _by_rule(finding: Finding) -> str:
    """The rule, and for a finding under none something behind all rules."""
    return finding.rule or "none"
