"""The register of rules: each is one function under its ASR number.

A rule of the pages binds those who write streams or those who read them, and a stream shows whether
it was kept, or does not. So every rule is of one kind:

- ``checked``: a stream, alone or with others in scope, shows it;
- ``reader``: it says what readers make of streams, so it binds this package;
- ``producer``: it says where a value has to come from, which the stream does not show; the readers
  of native logs in this package obey it.
"""

from __future__ import annotations

from importlib import import_module
from inspect import cleandoc
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from sessionref.checks.examples import Example
    from sessionref.checks.view import View
    from sessionref.findings import Finding, Severity

__all__ = ["Code", "Kind", "Rule", "rule", "rules"]

Kind: TypeAlias = Literal["checked", "reader", "producer"]


class Code(NamedTuple):
    """A stable slug of findings under a rule: how grave it is and what it means."""

    severity: Severity
    meaning: str


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """A rule of the pages, as this package keeps or checks it.

    `summary` is one line, `explanation` the rule in our own words. `why` says of a reader or
    producer rule why no stream can show whether it was kept, and `bound` what in this package keeps
    it. `codes` are those of its findings: also a reader rule has some where a stream holds what
    every reader must refuse. `good` keeps the rule; `bad` breaks it or, where no stream can, says
    which answer it excludes.
    """

    number: str
    kind: Kind
    summary: str
    explanation: str
    why: str | None
    bound: str
    codes: Mapping[str, Code]
    good: Example
    bad: Example
    check: Callable[[View], Iterable[Finding]]


_rules: dict[str, Rule] = {}


def rules() -> Mapping[str, Rule]:
    """Every rule by its number, in the order of numbers."""
    import_module("sessionref.checks.all_rules")
    return dict(sorted(_rules.items()))


def rule(
    number: str,
    *,
    kind: Kind,
    summary: str,
    bound: str,
    good: Example,
    bad: Example,
    why: str | None = None,
    codes: Mapping[str, Code] | None = None,
) -> Callable[
    [Callable[[View], Iterable[Finding]]],
    Callable[[View], Iterable[Finding]],
]:
    """Register a function as the rule `number`; its docstring explains the rule.

    The function gives the findings under the rule in one stream. Raises ValueError where the number
    is taken, or a reader or producer rule does not say why no stream can show it.
    """
    if number in _rules:
        raise ValueError(f"{number} is registered already")
    if (kind == "checked") == (why is not None):
        raise ValueError(f"{number}: a checked rule is shown by streams, any other says why not")

    def register(check: Callable[[View], Iterable[Finding]]) -> Callable[[View], Iterable[Finding]]:
        _rules[number] = Rule(
            number=number,
            kind=kind,
            summary=summary,
            explanation=cleandoc(check.__doc__ or ""),
            why=why,
            bound=bound,
            codes=codes or {},
            good=good,
            bad=bad,
            check=check,
        )
        return check

    return register
