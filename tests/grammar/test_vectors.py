"""The conformance cases of references, and the runner of all cases."""

from __future__ import annotations

import hashlib
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
suite = load_script(CONFORMANCE / "suite.py")

EVERY: list[dict[str, Any]] = list(runner.load())
CASES = [case for case in EVERY if not case["id"].startswith("ASR-")]
IDS = [case["id"] for case in CASES]
FILES = sorted(CONFORMANCE.glob("*/*.json"))


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_complaint_52_files_obey_their_schema(path: Path) -> None:
    schema = json.loads((CONFORMANCE / "schema.json").read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(json.loads(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_the_package_gives_the_answer_of_each_case(case: dict[str, Any]) -> None:
    answer = adapter.answered(runner.request(case))
    assert answer == runner.expected(case)
    assert runner.is_right(case, answer)


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
    from sessionref._names import SHORT_NAMES  # noqa: PLC0415 - beside its one use

    for case in CASES:
        if case["id"].startswith("core/"):
            text = case.get("input", case.get("left", ""))
            assert text.partition(":")[0] not in {*SHORT_NAMES, *SHORT_NAMES.values()}


def test_the_registry_of_the_cases_is_part_of_ours() -> None:
    registry = sr.Registry.default()
    for case in CASES:
        for agent in case["registry"]:
            assert registry.canonical_name(agent["reverseDnsName"]) == agent["shortName"]


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_octets_and_digests_of_a_case_fit_its_texts(case: dict[str, Any]) -> None:
    """They are arithmetic, and the files are written by hand."""
    for name in ("input", "left", "right"):
        given = {member: case[member] for member in case if member.startswith(name)}
        if given:
            text = case[name] if name in case else adapter.text_of(case)
            assert given == suite.text_members(name, text)
    if "digest" in case:
        octets = case["canonical"].encode()
        assert case["digest"] == f"sha256:{hashlib.sha256(octets).hexdigest()}"


def test_the_suite_is_emitted_with_verdicts_that_parse_shares() -> None:
    lines = list(suite.suite(0))
    assert len(lines) > 10_000
    for line in lines:
        assert (sr.try_parse(adapter.text_of(line)) is not None) is line["valid"]


def test_the_suite_is_printed_as_json_lines(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(suite, "suite", lambda extra: iter([{"input": "a:s", "extra": extra}]))
    assert suite.main(["1"]) == 0
    assert json.loads(capsys.readouterr().out) == {"input": "a:s", "extra": 1}
    assert suite.main(["all"]) == 2


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
RULE_CASE = next(case for case in EVERY if case["operation"] == "resolve")
RIGHT = {"canonical": "a:s", "digest": "sha256:0", "isCanonical": True}


def test_complaint_53_a_regression_fails() -> None:
    (problem,) = runner.judge([ONE], [{**RIGHT, "canonical": "x"}], set())
    assert problem.startswith("core/valid/900: a case: wrong: ")
    assert runner.judge([ONE], [RIGHT], set()) == []


def test_an_answer_that_the_rule_excludes_is_called_so() -> None:
    (problem,) = runner.judge([RULE_CASE], [RULE_CASE["wrong"]], set())
    assert "the answer that the rule excludes" in problem


def test_complaint_53_a_known_gap_does_not_fail() -> None:
    assert runner.judge([ONE], [{"error": "not-done"}], {"core/valid/900"}) == []


def test_complaint_53_a_stale_gap_fails() -> None:
    (problem,) = runner.judge([ONE], [RIGHT], {"core/valid/900"})
    assert "take it out of the known gaps" in problem


def test_complaint_53_a_gap_that_names_no_case_fails(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gaps = tmp_path / "gaps"
    gaps.write_text("core/valid/999\n", encoding="utf-8")
    command = [sys.executable, str(CONFORMANCE / "adapter.py")]
    assert runner.main(["--only", "core/valid/001", "--gaps", str(gaps), *command]) == 1
    assert capsys.readouterr().out == "core/valid/999: there is no such case\n"


@pytest.mark.parametrize(
    "answer", [7, {}, {"findings": [7]}, {"records": [7]}, {"records": 7}, {"sessions": {}}]
)
def test_answers_of_any_shape_are_judged(answer: Any) -> None:
    assert not [case["id"] for case in EVERY if runner.is_right(case, answer)]


@pytest.mark.parametrize("answers", [[], [None], ["text"], [{}], [{"canonical": "a:s"}]])
def test_an_answer_that_is_missing_or_partial_is_a_failure(answers: list[Any]) -> None:
    assert len(runner.judge([ONE], answers, set())) == 1


def test_a_file_of_gaps_may_hold_comments() -> None:
    assert runner.read_gaps("# none\n\ncore/valid/001  # later\n") == {"core/valid/001"}


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(CONFORMANCE / "runner.py"), *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_runner_drives_another_process() -> None:
    """The adapter of the package passes every case of references and rules over its pipes."""
    done = run(sys.executable, str(CONFORMANCE / "adapter.py"))
    assert (done.returncode, done.stdout) == (0, "")
    assert f"{len(EVERY)} cases, 0 known gaps, 0 problems" in done.stderr


def test_the_runner_fails_for_a_process_that_answers_nothing(tmp_path: Path) -> None:
    """Everywhere but in the known gaps; `--only` runs a part."""
    gaps = tmp_path / "gaps"
    gaps.write_text("".join(f"{case['id']}  # later\n" for case in EVERY[1:]), encoding="utf-8")
    done = run("--gaps", str(gaps), sys.executable, "-c", "")
    assert done.returncode == 1
    (problem,) = done.stdout.splitlines()
    assert problem.startswith(f"{EVERY[0]['id']}: {EVERY[0]['about']}: wrong: null instead of ")
    done = run("--only", "registry/", "--only", "ASR-42", sys.executable, "-c", "")
    failed = [line.partition(":")[0] for line in done.stdout.splitlines()]
    assert failed == [c["id"] for c in EVERY if c["id"].startswith(("registry/", "ASR-42"))]


def test_the_runner_without_a_command_shows_how_it_is_used(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert runner.main([]) == runner.main(["--gaps"]) == 2
    assert "runner.py [--gaps FILE]" in capsys.readouterr().err
