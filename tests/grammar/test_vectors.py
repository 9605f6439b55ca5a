"""The published vectors: well formed, not stale, and right about this implementation."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from grammar_scripts import CONFORMANCE, load_script
from jsonschema import Draft202012Validator

import sessionref as sr

if TYPE_CHECKING:
    from pathlib import Path

runner = load_script(CONFORMANCE / "runner.py")
adapter = load_script(CONFORMANCE / "adapter.py")
generate = load_script(CONFORMANCE / "generate.py")

CASES: list[dict[str, Any]] = list(runner.load())
IDS = [case["id"] for case in CASES]
FILES = sorted(CONFORMANCE.glob("*/*.json"))


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_complaint_52_files_obey_their_schema(path: Path) -> None:
    schema = json.loads((CONFORMANCE / "schema.json").read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(json.loads(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_the_package_gives_the_answer_of_each_case(case: dict[str, Any]) -> None:
    try:
        answer = adapter.answered(runner.request(case))
    except sr.InvalidReference as error:
        answer = {"error": error.code}
    assert answer == runner.expected(case)


@pytest.mark.parametrize(
    "case", [c for c in CASES if "code" in c], ids=[c["id"] for c in CASES if "code" in c]
)
def test_complaint_52_each_invalid_case_has_exactly_one_fault(case: dict[str, Any]) -> None:
    text = adapter.text_of(case)
    assert case["code"] in sr.CODES
    if case["operation"] == "raw-ref":
        with pytest.raises(sr.InvalidReference) as caught:
            sr.Ref.from_raw(text)
        assert (caught.value.code, caught.value.rule) == (case["code"], case["rule"])
        return
    (fault,) = sr.check(text)
    assert (fault.code, fault.rule, fault.component, list(fault.span)) == (
        case["code"],
        case["rule"],
        case["component"],
        case["span"],
    )


def test_every_code_that_a_text_can_have_has_a_case() -> None:
    """Codes of raw parts and of the structured form cannot come from a text."""
    of_parts = {"equals-in-record-id", "unexpected-ref", "bad-member"}
    assert {case["code"] for case in CASES if "code" in case} == sr.CODES.keys() - of_parts


def test_ids_are_unique() -> None:
    assert len(set(IDS)) == len(IDS)


def test_core_cases_do_not_depend_on_registered_names() -> None:
    """Registry rules stand apart (complaint 52)."""
    from sessionref._names import REGISTERED, SHORT_NAMES  # noqa: PLC0415 - beside its one use

    for case in CASES:
        if case["id"].startswith("core/"):
            text = case.get("input", case.get("left", ""))
            assert text.partition(":")[0] not in {*REGISTERED, *SHORT_NAMES}


def test_the_registry_of_the_cases_is_part_of_ours() -> None:
    registry = sr.Registry.default()
    for entry in runner.load():
        for agent in entry["registry"]:
            assert registry.canonical_name(agent["reverseDnsName"]) == agent["shortName"]


def test_the_files_are_not_stale() -> None:
    assert generate.main(["--check"]) == 0


def test_the_suite_is_emitted_with_verdicts_that_parse_shares() -> None:
    lines = list(generate.suite(0))
    assert len(lines) > 10_000
    for line in lines:
        assert (sr.try_parse(adapter.text_of(line)) is not None) is line["valid"]


def test_complaint_55_the_abnf_is_there_for_people() -> None:
    assert re.search(r"(?m)^session-ref +=", sr.grammar.abnf_text())


# --- The runner ----------------------------------------------------------------------------------

ONE: dict[str, Any] = {
    "id": "core/valid/900",
    "about": "a case",
    "operation": "canonical",
    "registry": [],
    "input": "a:s",
    "inputUtf8": "613a73",
    "canonical": "a:s",
    "digest": "sha256:0",
    "isCanonical": True,
}
RIGHT = {"canonical": "a:s", "digest": "sha256:0", "isCanonical": True}


def test_complaint_53_a_regression_fails() -> None:
    (problem,) = runner.judge([ONE], [{**RIGHT, "canonical": "x"}], set())
    assert problem.startswith("core/valid/900: a case")
    assert runner.judge([ONE], [RIGHT], set()) == []


def test_complaint_53_a_known_gap_does_not_fail() -> None:
    assert runner.judge([ONE], [{"error": "not-done"}], {"core/valid/900"}) == []


def test_complaint_53_a_stale_gap_fails() -> None:
    (problem,) = runner.judge([ONE], [RIGHT], {"core/valid/900"})
    assert "passes now" in problem


def test_complaint_53_a_gap_that_names_no_case_fails() -> None:
    (problem,) = runner.judge([ONE], [RIGHT], {"core/valid/901"})
    assert "no such case" in problem


@pytest.mark.parametrize("answers", [[], [None], ["text"], [{}], [{"canonical": "a:s"}]])
def test_an_answer_that_is_missing_or_partial_is_a_failure(answers: list[Any]) -> None:
    assert len(runner.judge([ONE], answers, set())) == 1


def test_a_file_of_gaps_may_hold_comments() -> None:
    assert runner.read_gaps("# none\n\ncore/valid/001  # later\n") == {"core/valid/001"}


def test_the_runner_drives_another_process() -> None:
    """The adapter of the package passes every case over its pipes."""
    command = [sys.executable, str(CONFORMANCE / "adapter.py")]
    done = subprocess.run(
        [sys.executable, str(CONFORMANCE / "runner.py"), *command],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "")
    assert f"{len(CASES)} cases, 0 known gaps, 0 problems" in done.stderr


def test_the_runner_fails_for_a_process_that_answers_nothing(tmp_path: Path) -> None:
    silent = tmp_path / "silent.py"
    silent.write_text("import sys\nsys.stdin.read()\n", encoding="utf-8")
    assert runner.main([sys.executable, str(silent)]) == 1


def test_the_runner_without_a_command_shows_how_it_is_used() -> None:
    assert runner.main([]) == 2
