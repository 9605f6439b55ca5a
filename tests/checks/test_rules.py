"""The register of rules, and the vectors that are published of each."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from check_streams import found
from grammar_scripts import CONFORMANCE, load_script
from jsonschema import Draft202012Validator

from sessionref.checks.codes import OTHER_CODES, all_codes
from sessionref.checks.examples import Check, Convert, Judge, Relate, Resolve, Total
from sessionref.checks.rules import rule, rules

if TYPE_CHECKING:
    from pathlib import Path

    from sessionref.checks.rules import Rule

STREAMS = CONFORMANCE / "streams"
runner = load_script(STREAMS / "runner.py")
adapter = load_script(STREAMS / "adapter.py")
generate = load_script(STREAMS / "generate.py")

RULES = rules()
IDENTITY = [f"ASR-{number:03}" for number in range(50, 81)]
CASES: list[dict[str, Any]] = list(runner.load())
FILES = sorted(STREAMS.glob("rules/ASR-*.json"))


def test_every_rule_from_050_to_080_is_there() -> None:
    assert [number for number in RULES if number in IDENTITY] == IDENTITY
    assert list(RULES) == sorted(RULES)


@pytest.mark.parametrize("known", RULES.values(), ids=RULES)
def test_a_rule_says_what_it_is_and_how_it_binds(known: Rule) -> None:
    """Whoever calls a rule no checked one argues it; the examples fit the kind."""
    assert known.summary.endswith(".")
    assert len(known.summary) <= 90
    assert known.explanation
    assert known.bound.endswith(".")
    kinds = {"checked": Check, "reader": Resolve | Judge | Total | Relate, "producer": Convert}
    assert isinstance(known.good, kinds[known.kind])
    assert isinstance(known.bad, kinds[known.kind])
    if known.kind == "checked":
        assert known.why is None
        assert known.codes
    else:
        assert known.why
        assert known.why.endswith(".")
    if known.kind == "producer":
        assert not known.codes


@pytest.mark.parametrize(
    "known", [r for r in RULES.values() if r.kind == "checked"], ids=lambda r: r.number
)
def test_the_good_stream_keeps_the_rule_and_the_bad_one_breaks_nothing_else(known: Rule) -> None:
    assert isinstance(known.good, Check)
    assert isinstance(known.bad, Check)
    assert known.good.findings == ()
    assert {finding.rule for finding in known.bad.findings} == {known.number}
    assert len(known.bad.findings) == 1


def test_a_number_is_registered_once_and_other_rules_than_checked_ones_are_argued() -> None:
    known = RULES["ASR-050"]
    members = {"summary": "s", "bound": "b", "good": known.good, "bad": known.bad}
    with pytest.raises(ValueError, match="ASR-050 is registered already"):
        rule("ASR-050", kind="checked", **members)
    with pytest.raises(ValueError, match="says why not"):
        rule("ASR-999", kind="reader", **members)
    with pytest.raises(ValueError, match="says why not"):
        rule("ASR-999", kind="checked", why="w", **members)
    assert "ASR-999" not in rules()


def test_codes_have_one_spelling_and_a_meaning() -> None:
    codes = all_codes()
    assert set(OTHER_CODES) <= set(codes)
    for code, said in codes.items():
        assert code == code.lower()
        assert said.meaning
        assert said.severity in {"error", "warning", "notice"}


def test_every_code_stands_in_the_document() -> None:
    """With its rule and how grave it is; codes are stable, so the document is their list."""
    document = (CONFORMANCE.parents[1] / "docs" / "checks.md").read_text(encoding="utf-8")
    for known in RULES.values():
        for code, said in known.codes.items():
            assert f"| {known.number} | `{code}` | {said.severity} | {said.meaning} |" in document
    for code, said in OTHER_CODES.items():
        assert f"| `{code}` | {said.severity} | {said.meaning} |" in document


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_vectors_obey_their_schema(path: Path) -> None:
    schema = json.loads((STREAMS / "rules" / "schema.json").read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(json.loads(path.read_text(encoding="utf-8")))


def test_vectors_are_not_stale(capsys: pytest.CaptureFixture[str]) -> None:
    """The files are what the examples and cases make today."""
    assert generate.main(["--check"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_the_package_gives_the_answer_of_each_case(case: dict[str, Any]) -> None:
    """And the answer that a case excludes is not taken for right."""
    answer = adapter.answered(runner.request(case))
    assert runner.is_right(case, answer), json.dumps(answer, indent=1)
    assert not runner.is_excluded(case, answer)


@pytest.mark.parametrize(
    "case", [c for c in CASES if c["operation"] == "check"], ids=lambda case: case["id"]
)
def test_findings_carry_codes_of_their_rule(case: dict[str, Any]) -> None:
    for finding in adapter.answered(runner.request(case))["findings"]:
        known = RULES.get(finding["rule"])
        assert finding["code"] in (OTHER_CODES if known is None else known.codes)


@pytest.mark.parametrize("known", RULES.values(), ids=RULES)
def test_every_code_of_a_rule_has_a_vector(known: Rule) -> None:
    said = {
        finding["code"]
        for case in CASES
        for finding in case.get("findings", ())
        if finding["rule"] == known.number
    }
    assert set(known.codes) <= said


def test_findings_of_single_codes_are_as_grave_as_they_say() -> None:
    """A code that is an error where a target must be there is a notice where it may be absent."""
    for case in CASES:
        for finding in case.get("findings", ()):
            known = RULES.get(finding["rule"])
            said = (OTHER_CODES if known is None else known.codes)[finding["code"]]
            assert finding["severity"] == said.severity or "notice" in said.meaning


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(STREAMS / "runner.py"), *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_runner_drives_the_adapter() -> None:
    done = run(sys.executable, str(STREAMS / "adapter.py"))
    assert (done.stdout, done.returncode) == ("", 0)
    assert f"{len(CASES)} cases, 0 known gaps, 0 problems" in done.stderr


def test_the_runner_says_what_is_wrong(tmp_path: Path) -> None:
    """An implementation that answers nothing fails everywhere, except in its known gaps."""
    gaps = tmp_path / "gaps"
    gaps.write_text("".join(f"{case['id']}  # later\n" for case in CASES[1:]) + "ASR-000/01\n")
    done = run("--gaps", str(gaps), sys.executable, "-c", "")
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        f"{CASES[0]['id']}: {CASES[0]['about']}: wrong: null",
        "ASR-000/01: there is no such case",
    ]
    assert run().returncode == 2


def test_the_runner_knows_excluded_answers_and_stale_gaps() -> None:
    case = next(c for c in CASES if c["operation"] == "resolve")
    (problem,) = runner.judge([case], [case["wrong"]], set())
    assert "the answer that the rule excludes" in problem
    (problem,) = runner.judge([case], [case["answer"]], {case["id"]})
    assert "strike it out" in problem


def test_a_scope_read_without_observers_is_checked_as_far_as_that_goes() -> None:
    """Rules that need more of the records say nothing rather than fail."""
    from check_streams import Named, encoded, header  # noqa: PLC0415

    from sessionref.checks.run import check  # noqa: PLC0415
    from sessionref.scope.scope import Scope  # noqa: PLC0415

    records = [
        header("s1"),
        {"type": "inference", "seq": 1, "id": "r1", "inferenceId": "i", "idSource": "made"},
        {"type": "subagent", "seq": 2, "id": "r2", "agent": "No", "childSession": "codex:s1"},
    ]
    scope = Scope.read([Named("a", encoded(records))])
    assert list(check(scope)) == []
    assert [f.code for f in found(records)] == ["bad-id-source", "bad-agent-name", "lineage-cycle"]
