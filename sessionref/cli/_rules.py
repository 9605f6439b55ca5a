"""The rules for people and for programs: `check --rules` and `check --explain`."""

from __future__ import annotations

import json
import textwrap
from typing import TYPE_CHECKING, Any

from sessionref._codes import codes
from sessionref.findings import SEVERITIES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sessionref.checks.book import Case, Rule

__all__ = ["explained", "rule_object", "rules_table"]

_WIDTH = 96


def rules_table(rules: Iterable[Rule]) -> str:
    """A line for each rule: number, kind, gravest severity of its findings, summary."""
    rows = [
        f"{rule.number}  {rule.kind:<8}  {_gravity(rule):<7}  {rule.summary}\n" for rule in rules
    ]
    return "".join((*rows, f"\nEach rule and its conformance cases: {_file('<rule>')}\n"))


def _file(number: str) -> str:
    return f"sessionref/data/rules/{number}.json"


def _gravity(rule: Rule) -> str:
    """The gravest severity of the rule's findings, a dash where it has none."""
    severities = {codes()[code].severity for code in rule.codes}
    return next((s for s in SEVERITIES if s in severities), "-")


def rule_object(rule: Rule) -> dict[str, Any]:
    """A rule as `check --rules --json` writes it."""
    return {
        "rule": rule.number,
        "kind": rule.kind,
        "summary": rule.summary,
        "explanation": rule.text,
        "why": rule.why,
        "bound": rule.bound,
        "codes": {
            code: {"severity": codes()[code].severity, "meaning": meaning}
            for code, meaning in rule.codes.items()
        },
        "vectors": _file(rule.number),
        "good": rule.good,
        "bad": rule.bad,
    }


def explained(rule: Rule) -> str:
    """A rule with its codes and its two examples, for people."""
    return "\n".join(_explained(rule))


def _explained(rule: Rule) -> Iterator[str]:
    yield f"{rule.number} ({rule.kind} rule)"
    yield ""
    yield rule.summary
    yield ""
    for paragraph in rule.explanation:
        yield textwrap.fill(paragraph, _WIDTH)
        yield ""
    if rule.why is not None:
        yield from _filled("Not seen in a stream: ", rule.why)
    yield from _filled("Here: ", rule.bound)
    if rule.codes:
        yield ""
        yield "Findings:"
        for code, meaning in rule.codes.items():
            yield f"  {codes()[code].severity:<7}  {code}: {meaning}"
    for title, example in (("Good", rule.good), ("Bad", rule.bad)):
        yield ""
        yield f"{title}: {example['about']}"
        yield ""
        yield from (f"    {line}" for line in _example(example))


def _filled(lead: str, text: str) -> Iterator[str]:
    yield textwrap.fill(lead + text, _WIDTH, subsequent_indent="  ")


def _example(case: Case) -> Iterator[str]:
    """The input of a case, what is asked, the right answer and the one that is excluded."""
    if case["operation"] == "convert":
        yield from case["log"].splitlines()
        yield from _records("=> ", case["records"])
        yield from _records("   not ", case["wrong"])
        return
    for number, stream in enumerate(case["streams"]):
        yield from ("",) if number else ()
        yield from stream.splitlines()
    if case["operation"] == "check":
        yield from map(_finding, case["findings"])
        yield from () if case["findings"] else ("=> no finding",)
        return
    if case["operation"] == "resolve":
        yield case["ref"] + (f" in {case['session']}" if "session" in case else "")
    elif case["operation"] == "judge":
        yield f"originality of {case['ref']}"
    yield f"=> {_answer(case['answer'])}"
    yield f"   not {_answer(case['wrong'])}"


def _records(lead: str, records: Iterable[dict[str, Any]]) -> Iterator[str]:
    for record in records:
        yield lead + _json(record)
        lead = " " * len(lead)


def _finding(finding: dict[str, Any]) -> str:
    place = " ".join(finding[name] for name in ("id", "path") if name in finding)
    return f"=> {finding['severity']} {finding['code']}{f' at {place}' if place else ''}"


def _answer(answer: dict[str, Any]) -> str:
    if "error" in answer:
        return f"not a reference ({answer['error']})"
    if "state" in answer:
        return " ".join((answer["state"], *answer["records"]))
    return _json(answer)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
