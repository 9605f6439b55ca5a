"""The rule book: what its files hold, and that they alone say what a rule is."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import pytest
from check_streams import Named, encoded, found, header
from grammar_scripts import CONFORMANCE, load_script
from jsonschema import Draft202012Validator

import sessionref
from sessionref._codes import Severity, codes
from sessionref.checks.book import Book, book
from sessionref.checks.codes import all_codes, codes_without_rule
from sessionref.checks.run import RULES as LOOKING
from sessionref.checks.run import check
from sessionref.scope.scope import StreamScope

if TYPE_CHECKING:
    from collections.abc import Callable

    from sessionref.checks.book import Rule

runner = load_script(CONFORMANCE / "runner.py")
adapter = load_script(CONFORMANCE / "adapter.py")

PACKAGE = Path(sessionref.__file__).parent
FOLDER = PACKAGE / "data" / "rules"
FILES = sorted(FOLDER.glob("ASR-*.json"))
RULES = book().rules
CASES: list[dict[str, Any]] = [case for rule in RULES.values() for case in rule.cases]


def test_every_rule_of_both_pages_is_there() -> None:
    numbers = [*range(50, 81), *range(400, 428)]
    assert list(RULES) == [f"ASR-{number:03}" for number in numbers]
    assert set(LOOKING) <= set(RULES)


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_each_file_obeys_the_schema(path: Path) -> None:
    schema = json.loads((PACKAGE / "data" / "rule.schema.json").read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(json.loads(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_the_cases_of_a_rule_fit_its_kind(rule: Rule) -> None:
    """The first two are its examples; IDs go on from 01 and are never used again."""
    operations = {
        "checked": {"check"},
        "reader": {"resolve", "judge", "total", "relate"},
        "producer": {"convert"},
    }
    assert {rule.good["operation"], rule.bad["operation"]} <= operations[rule.kind]
    assert [case["id"] for case in rule.cases] == [
        f"{rule.number}/{at:02}" for at in range(1, len(rule.cases) + 1)
    ]
    if rule.kind == "producer":
        assert not rule.codes


@pytest.mark.parametrize(
    "rule", [r for r in RULES.values() if r.kind == "checked"], ids=lambda r: r.number
)
def test_the_good_stream_keeps_the_rule_and_the_bad_one_breaks_nothing_else(rule: Rule) -> None:
    assert rule.good["findings"] == []
    assert [finding["rule"] for finding in rule.bad["findings"]] == [rule.number]


def test_the_book_has_a_version_and_lists_the_rules_that_changed() -> None:
    """Each version once, and each rule in one version at least."""
    versions = [change.version for change in book().changes]
    assert book().version == versions[-1]
    assert sorted(set(versions), key=int) == versions
    assert {number for change in book().changes for number in change.rules} == set(RULES)
    assert all(change.about for change in book().changes)


def test_codes_have_one_spelling_and_a_meaning() -> None:
    codes = all_codes()
    assert set(codes_without_rule()) <= set(codes)
    for code, said in codes.items():
        assert code == code.lower()
        assert said.meaning
        assert said.severity in {"error", "warning", "notice"}


def test_a_rule_has_the_codes_that_the_table_gives_it() -> None:
    """What the code means under the rule may be said more closely there."""
    told = {(code, rule.number) for rule in RULES.values() for code in rule.codes}
    assert told == {
        (code, number) for code, row in codes().items() for number in row.rules if number != "none"
    }


def _emitted() -> set[str]:
    """The codes that modules of the package write where a code belongs."""
    found: set[str] = set()
    for file in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                name = getattr(node.func, "attr", getattr(node.func, "id", ""))
                given = [one.value for one in node.keywords if one.arg == "code"]
                given += [node.args[at] for at in _CODE_AT.get(name, ()) if at < len(node.args)]
                found |= {
                    one.value
                    for one in given
                    if isinstance(one, ast.Constant) and isinstance(one.value, str)
                }
    return found


#: The place of the code among the arguments of what makes findings and errors.
_CODE_AT = {
    "Flaw": (0,),
    "Fault": (0,),
    "Unresolved": (0,),
    "finding": (1,),
    "misplaced": (2,),
    "note": (1,),
    "_finding": (0, 1),
}


def test_the_table_has_every_code_and_no_other() -> None:
    """What is written anywhere as a code is in `data/codes.toml`, and all of that is written."""
    assert _emitted() - codes().keys() - set(get_args(Severity)) == set()
    text = "".join(file.read_text(encoding="utf-8") for file in PACKAGE.rglob("*.py"))
    assert [code for code in codes() if f'"{code}"' not in text] == []


def test_every_code_is_in_the_document() -> None:
    """With its rule and severity; codes are stable, so the document is their list."""
    document = (CONFORMANCE.parents[1] / "docs" / "checks.md").read_text(encoding="utf-8")
    for rule in RULES.values():
        for code, meaning in rule.codes.items():
            severity = codes()[code].severity
            assert f"| {rule.number} | `{code}` | {severity} | {meaning} |" in document
    for code, said in codes_without_rule().items():
        assert f"| `{code}` | {said.severity} | {said.meaning} |" in document


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_the_package_gives_the_answer_of_each_case(case: dict[str, Any]) -> None:
    """And the answer that a case excludes is not taken for right; codes are those of the rule."""
    answer = adapter.answered(runner.request(case))
    assert runner.is_right(case, answer), json.dumps(answer, indent=1)
    assert not runner.is_excluded(case, answer)
    if "wrong" in case:
        assert runner.is_excluded(case, {**answer, "records": case["wrong"], **_wrong(case)})
    for finding in answer.get("findings", ()):
        rule = RULES.get(finding["rule"])
        assert finding["code"] in (codes_without_rule() if rule is None else rule.codes)


def _wrong(case: dict[str, Any]) -> dict[str, Any]:
    return {} if case["operation"] == "convert" else case["wrong"]


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_every_code_of_a_rule_has_a_case(rule: Rule) -> None:
    said = {
        finding["code"]
        for case in CASES
        for finding in case.get("findings", ())
        if finding["rule"] == rule.number
    }
    assert set(rule.codes) <= said


def test_findings_have_the_severity_of_their_code() -> None:
    """Or its other severity: a missing target may be an error or a notice."""
    for case in CASES:
        for finding in case.get("findings", ()):
            row = codes()[finding["code"]]
            assert finding["severity"] in {row.severity, row.also}


def _another_kind(rule: dict[str, Any]) -> None:
    rule["kind"] = "reader"


def _another_number(rule: dict[str, Any]) -> None:
    rule["rule"] = "ASR-051"


def _one_case(rule: dict[str, Any]) -> None:
    del rule["cases"][1:]


def _no_summary(rule: dict[str, Any]) -> None:
    del rule["summary"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the rule book that a test may change."""
    return Path(shutil.copytree(FOLDER, tmp_path / "rules"))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (_another_kind, "a checked rule has no `why`"),
        (_another_number, "the rule in this file is ASR-051"),
        (_one_case, "at least two cases"),
        (_no_summary, "missing required field `summary`"),
    ],
)
def test_a_file_that_is_not_a_rule_is_named(
    folder: Path, change: Callable[[dict[str, Any]], None], told: str
) -> None:
    file = folder / "ASR-050.json"
    rule = json.loads(file.read_bytes())
    change(rule)
    file.write_text(json.dumps(rule), encoding="utf-8")
    with pytest.raises(ValueError, match=rf"ASR-050\.json: .*{told}"):
        Book.read(folder)


@pytest.mark.parametrize(
    ("content", "told"), [(b"[]", "no version"), (b'[{"version":"\xff"}]', "utf-8")]
)
def test_a_book_without_versions_is_refused(folder: Path, content: bytes, told: str) -> None:
    (folder / "index.json").write_bytes(content)
    with pytest.raises(ValueError, match=rf"(?i)index\.json: .*{told}"):
        Book.read(folder)


def test_a_replaced_file_changes_what_the_command_says(tmp_path: Path) -> None:
    """Summary, kind, examples and meanings come from the rule's file, severities from the table."""
    shutil.copytree(PACKAGE, tmp_path / "sessionref", ignore=shutil.ignore_patterns("__pycache__"))
    file = tmp_path / "sessionref" / "data" / "rules" / "ASR-054.json"
    rule = json.loads(file.read_bytes())
    rule |= {"kind": "reader", "summary": "Namespaces as we want them.", "why": "We say so."}
    rule["codes"]["missing-namespace"] = "it would be nicer"
    rule["cases"][0]["about"] = "A laptop."
    file.write_text(json.dumps(rule), encoding="utf-8")
    table = tmp_path / "sessionref" / "data" / "codes.toml"
    text = table.read_text(encoding="utf-8")
    head, mark, rest = text.partition("[missing-namespace]\nseverity = ")
    table.write_text(head + mark + rest.replace('"error"', '"notice"', 1), encoding="utf-8")
    (tmp_path / "a.jsonl").write_bytes(encoded([header("20260304_2", "goose")]))

    def answer(*arguments: str) -> str:
        return subprocess.run(
            [sys.executable, "-m", "sessionref", "check", *arguments],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(tmp_path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout

    told = answer("--explain", "54")
    assert told.startswith("ASR-054 (reader rule)\n\nNamespaces as we want them.\n")
    assert "  notice   missing-namespace: it would be nicer\n" in told
    assert "\nGood: A laptop.\n" in told
    assert "ASR-054  reader    error    Namespaces as we want them." in answer("--rules")
    finding = json.loads(answer("a.jsonl", "--json"))
    assert (finding["code"], finding["severity"]) == ("missing-namespace", "notice")


def test_a_scope_read_without_observers_is_checked_as_far_as_that_goes() -> None:
    """Rules that need more of the records say nothing rather than fail."""
    records = [
        header("s1"),
        {"type": "inference", "seq": 1, "id": "r1", "inferenceId": "i", "idSource": "made"},
        {"type": "subagent", "seq": 2, "id": "r2", "agent": "No", "childSession": "codex:s1"},
    ]
    scope = StreamScope.of([Named("a", encoded(records))])
    assert list(check(scope)) == []
    assert [f.code for f in found(records)] == ["bad-id-source", "bad-agent-name", "lineage-cycle"]
