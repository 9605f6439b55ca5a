"""Checking a scope by all rules, with one finding for each fault."""

from __future__ import annotations

from itertools import chain, groupby
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from sessionref.checks.agents import (
    agent_name_findings,
    namespace_findings,
    short_name_findings,
)
from sessionref.checks.causes import Causes, root_causes
from sessionref.checks.claims import inference_rule_findings, mirror_findings, root_findings
from sessionref.checks.entities import (
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
    from sessionref.scope.capture import Capture
    from sessionref.scope.scope import Scope
    from sessionref.scope.session import Account
    from sessionref.streams.index import StreamIndex
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


def check(scope: Scope, *, strict: Strict | None = None) -> Iterator[Finding]:
    """Every finding about the streams of `scope`, file by file, by line.

    The scope must have been read with `OBSERVERS`. `strict` is called with each input and its name,
    and returns the findings of the strict pass over its bytes (`sessionref.checks.strict`) by line.
    For an input without streams it returns none.

    Only some findings are held in memory: those of one stream, those of a session with several
    captures, those about parents and children that disagree, and those from reading.
    """
    return _Run(scope, strict).findings()


class _Run:
    def __init__(self, scope: Scope, strict: Strict | None) -> None:
        self._scope = scope
        self._strict = strict
        self._lineages = Lineages(scope)
        self._captures = sorted(scope.captures, key=lambda capture: capture.place)
        #: The accounts whose captures are read, by capture; repeats have none.
        self._accounts = {
            capture: account
            for session in scope
            for account in session.accounts
            for capture in account.captures
        }
        #: What references gave in accounts of several captures, until these have their turn.
        self._waiting: dict[Capture, list[Finding]] = {}

        self._split = frozenset(
            (capture.file, line) for capture in self._captures for line in _split(capture.index)
        )

    def findings(self) -> Iterator[Finding]:
        owners = {
            id(finding): capture for capture in self._captures for finding in capture.index.findings
        }
        #: What reading gave: of each capture, and of inputs as such by their name.
        of_captures: dict[Capture, list[Finding]] = {}
        of_inputs: dict[str | None, list[Finding]] = {}
        for finding in self._scope.findings:
            owner = owners.get(id(finding))
            if owner is None:
                of_inputs.setdefault(finding.file, []).append(finding)
            else:
                of_captures.setdefault(owner, []).append(finding)
        files = {capture.file for capture in self._captures}
        for file, found in of_inputs.items():
            if file not in files:
                yield from found
        for _, group in groupby(self._captures, _input):
            captures = list(group)
            first = captures[0]
            of_captures.setdefault(first, [])[:0] = of_inputs.pop(first.file, [])
            yield from self._of_input(captures, of_captures)

    def _of_input(
        self, captures: Sequence[Capture], raised: dict[Capture, list[Finding]]
    ) -> Iterator[Finding]:
        """What is found in the captures of one input, in their order."""
        first = captures[0]
        strict = _ByLine(() if self._strict is None else self._strict(first.source, first.file))
        for number, capture in enumerate(captures, 1):
            looked_at = strict.up_to(
                _first_line(captures[number]) - 1 if number < len(captures) else None
            )
            found = [_placed(finding, capture) for finding in raised.pop(capture, [])]
            account = self._accounts.get(capture)
            if account is not None:
                found += self._of_references(capture, account)
                found += self._lineages.findings(capture)
                found = self._by_rules(capture, found)
            yield from root_causes([*looked_at, *found], Causes(capture.index))

    def _of_references(self, capture: Capture, account: Account) -> list[Finding]:
        """What the references of a capture gave."""
        if capture not in self._waiting:
            causes = [Causes(read.index) for read in account.captures]
            problems = Resolver(self._scope, account).problems_by_place()
            found: list[list[Finding]] = [[] for _ in account.captures]
            for number, finding in resolution_findings(problems, account, causes, self._split):
                found[number].append(finding)
            self._waiting.update(zip(account.captures, found, strict=True))
        return self._waiting.pop(capture)

    def _by_rules(self, capture: Capture, raised: Sequence[Finding]) -> list[Finding]:
        """What was raised about a capture and what the rules find in it, in the order of rules."""
        broken = frozenset(finding.rule for finding in raised)
        view = View(capture, self._scope.registry, broken, self._lineages.claimed(capture))
        found = [*raised, *chain.from_iterable(look(view) for look in RULES.values())]
        return sorted(found, key=_by_rule)


class _ByLine:
    """Findings in the order of lines, taken bit by bit."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        self._findings = iter(findings)
        self._next = next(self._findings, None)

    def up_to(self, line: int | None) -> list[Finding]:
        """Those up to a line, or all that are left."""
        found: list[Finding] = []
        while self._next is not None and (line is None or _line(self._next) <= line):
            found.append(self._next)
            self._next = next(self._findings, None)
        return found


def _input(capture: Capture) -> tuple[str | None, int]:
    """What tells inputs apart: the name, or for one without a name the input itself."""
    return capture.file, 0 if capture.file is not None else id(capture.source)


def _placed(finding: Finding, capture: Capture) -> Finding:
    """`finding` with the `seq` and ID of the header where it is about that and does not say so."""
    index = capture.index
    if finding.id is None and finding.path is not None and index.header.content:
        header = index.hit(0)
        if finding.line == header.line:
            return msgspec.structs.replace(finding, seq=header.seq, id=header.id)
    return finding


def _split(index: StreamIndex) -> Iterator[int]:
    """The lines of records whose links are at fault, and of those that supersede one record."""
    at_fault = {f.line for f in index.findings if f.code.startswith("supersedes-")}
    for line in at_fault:
        yield line or 0
    if at_fault:
        for rows in index.superseded.values():
            if len(rows) > 1:
                yield from (index.hit(row).line for row in rows)


def _by_rule(finding: Finding) -> str:
    """The rule, and for a finding under none something behind all rules."""
    return finding.rule or "none"


def _line(finding: Finding) -> int:
    return finding.line or 0


def _first_line(capture: Capture) -> int:
    return capture.index.hit(0).line if len(capture.index) else 1
