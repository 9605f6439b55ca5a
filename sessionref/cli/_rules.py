"""The rules for people and for programs: `check --rules` and `check --explain`."""

from __future__ import annotations

import json
import textwrap
from typing import TYPE_CHECKING, Any

import msgspec

from sessionref.checks.examples import Check, Judge, Relate, Resolve, Total

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sessionref.checks.examples import Convert, Example
    from sessionref.checks.rules import Rule

__all__ = ["explained", "rule_object", "rules_table"]

_WIDTH = 96


def rules_table(rules: Iterable[Rule]) -> str:
    """A line for each rule: number, kind, severity of its findings, summary."""
    rows = [
        f"{rule.number}  {rule.kind:<8}  {_gravity(rule):<7}  {rule.summary}\n" for rule in rules
    ]
    return "".join((*rows, f"\nThe vectors of each rule are in {_vectors('<rule>')}.\n"))


def _vectors(number: str) -> str:
    return f"grammar/conformance/streams/rules/{number}.json"


def _gravity(rule: Rule) -> str:
    """The gravest severity of the rule's findings, a dash where it has none."""
    severities = [code.severity for code in rule.codes.values()]
    return next((s for s in ("error", "warning", "notice") if s in severities), "-")


def rule_object(rule: Rule) -> dict[str, Any]:
    """A rule as JSON has it."""
    return {
        "rule": rule.number,
        "kind": rule.kind,
        "summary": rule.summary,
        "explanation": rule.explanation,
        "why": rule.why,
        "bound": rule.bound,
        "codes": {
            code: {"severity": said.severity, "meaning": said.meaning}
            for code, said in rule.codes.items()
        },
        "vectors": _vectors(rule.number),
        "good": msgspec.to_builtins(rule.good),
        "bad": msgspec.to_builtins(rule.bad),
    }


def explained(rule: Rule) -> str:
    """All that is known of a rule, for people."""
    return "\n".join(_explained(rule))


def _explained(rule: Rule) -> Iterator[str]:
    yield f"{rule.number} ({rule.kind} rule)"
    yield ""
    yield rule.summary
    yield ""
    for paragraph in rule.explanation.split("\n\n"):
        yield textwrap.fill(paragraph, _WIDTH)
        yield ""
    if rule.why is not None:
        yield from _filled("Not seen in a stream: ", rule.why)
    yield from _filled("Here: ", rule.bound)
    if rule.codes:
        yield ""
        yield "Findings:"
        for code, said in rule.codes.items():
            yield f"  {said.severity:<7}  {code}: {said.meaning}"
    for title, example in (("Good", rule.good), ("Bad", rule.bad)):
        yield ""
        yield f"{title}: {example.about}"
        yield ""
        yield from (f"    {line}" for line in _example(example))


def _filled(lead: str, text: str) -> Iterator[str]:
    yield textwrap.fill(lead + text, _WIDTH, subsequent_indent="  ")


def _example(example: Example) -> Iterator[str]:
    if isinstance(example, Check):
        yield from _streams(example.streams)
        for finding in example.findings:
            place = " ".join(str(part) for part in (finding.id, finding.path) if part is not None)
            yield f"=> {finding.severity} {finding.code}{f' at {place}' if place else ''}"
        if not example.findings:
            yield "=> no finding"
    elif isinstance(example, Resolve):
        yield from _streams(example.streams)
        yield f"{example.ref}{f' in {example.session}' if example.session else ''}"
        yield f"=> {_answer(example.answer)}"
        yield f"   not {_answer(example.wrong)}"
    elif isinstance(example, Judge | Total | Relate):
        yield from _streams(example.streams)
        yield from [f"originality of {example.ref}"] if isinstance(example, Judge) else ()
        yield f"=> {json.dumps(example.answer, ensure_ascii=False)}"
        yield f"   not {json.dumps(example.wrong, ensure_ascii=False)}"
    else:
        yield from _converted(example)


def _streams(streams: Iterable[str]) -> Iterator[str]:
    for number, stream in enumerate(streams):
        if number:
            yield ""
        yield from stream.splitlines()


def _answer(answer: dict[str, Any]) -> str:
    if "error" in answer:
        return f"no reference ({answer['error']})"
    return " ".join((answer["state"], *answer["records"]))


def _converted(example: Convert) -> Iterator[str]:
    yield from example.log.splitlines()
    for lead, records in (("=> ", example.records), ("   not ", example.wrong)):
        for record in records:
            yield lead + json.dumps(record, ensure_ascii=False)
            lead = " " * len(lead)
