"""Run the conformance cases against an implementation that speaks JSON lines.

    python grammar/conformance/runner.py [--gaps FILE] [--only PREFIX] COMMAND [ARGUMENT...]

The command gets one request a line on stdin and answers each with one line on stdout, in order.
README.md beside this file describes requests and answers.

--only PREFIX   run only cases whose ID begins so, such as `core/` or `ASR-06`; may be repeated
--gaps FILE     IDs of cases that are known to fail, one a line; `#` begins a comment

The run fails (exit code 1) when a case that is not listed fails, when a listed case passes, and
when a listed case does not exist. So the list can neither hide a regression nor go stale.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

HERE = Path(__file__).parent
#: The rule book, which holds the cases of each rule.
RULES = HERE.parents[1] / "sessionref" / "data" / "rules"

#: What is sent of a case: everything but the answer.
_SENT = (
    *("id", "operation", "registry", "streams", "ref", "session", "log"),
    *(name + form for name in ("input", "left", "right") for form in ("", "Utf8", "Utf16")),
)
#: What the answer to an operation on references holds.
_OF_REFERENCES = {
    "parse": ("agent", "namespace", "sessionId", "ref", "minimal"),
    "canonical": ("canonical", "digest", "isCanonical"),
    "equal": ("sameSession", "sameReference"),
    "raw-ref": ("ref", "fragment"),
}


def main(arguments: list[str]) -> int:
    """Run the cases and print what fails."""
    gaps: set[str] = set()
    prefixes: list[str] = []
    while arguments[:1] in (["--gaps"], ["--only"]) and len(arguments) > 1:
        if arguments[0] == "--gaps":
            gaps |= read_gaps(Path(arguments[1]).read_text(encoding="utf-8"))
        else:
            prefixes.append(arguments[1])
        arguments = arguments[2:]
    if not arguments or arguments[0].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    every = list(load())
    problems = [f"{gap}: there is no such case" for gap in sorted(gaps - {c["id"] for c in every})]
    cases = [case for case in every if case["id"].startswith(tuple(prefixes) or "")]
    problems += judge(cases, ask(arguments, cases), gaps)
    for problem in problems:
        print(problem)
    print(f"{len(cases)} cases, {len(gaps)} known gaps, {len(problems)} problems", file=sys.stderr)
    return 1 if problems else 0


def read_gaps(text: str) -> set[str]:
    """The case IDs in a file of known gaps."""
    return {line.partition("#")[0].strip() for line in text.splitlines()} - {""}


def load() -> Iterator[dict[str, Any]]:
    """All cases: those of references with the operation and registry of their file, then rules."""
    for path in sorted(HERE.glob("*/*.json")):
        topic = json.loads(path.read_text(encoding="utf-8"))
        for case in topic["cases"]:
            operation = topic["operation"]
            if operation == "registry":
                operation = "equal" if "left" in case else "canonical"
            yield {**case, "operation": operation, "registry": topic.get("registry", [])}
    for path in sorted(RULES.glob("ASR-*.json")):
        yield from json.loads(path.read_text(encoding="utf-8"))["cases"]


def request(case: dict[str, Any]) -> dict[str, Any]:
    """What an implementation is asked."""
    return {name: case[name] for name in _SENT if name in case}


def expected(case: dict[str, Any]) -> dict[str, Any]:
    """The members of the right answer; of a reference that is refused only the code."""
    if "code" in case:
        return {"error": case["code"]}
    if case["operation"] in _OF_REFERENCES:
        return {name: case[name] for name in _OF_REFERENCES[case["operation"]]}
    for name in ("findings", "records"):
        if name in case:
            return {name: case[name]}
    right: dict[str, Any] = case["answer"]
    return right


def ask(command: Sequence[str], cases: Iterable[dict[str, Any]]) -> list[Any]:
    """The answers of an implementation, in the order of the cases; None where one is missing."""
    lines = "".join(json.dumps(request(case)) + "\n" for case in cases)
    done = subprocess.run(  # noqa: S603 - the command is what the caller wants to run
        list(command), input=lines.encode(), stdout=subprocess.PIPE, check=False
    )
    answers: list[Any] = []
    for line in done.stdout.split(b"\n"):
        try:
            answers.append(json.loads(line))
        except ValueError:
            answers.append(None)
    return answers


def judge(cases: Sequence[dict[str, Any]], answers: Sequence[Any], gaps: set[str]) -> list[str]:
    """What is wrong: regressions, and gaps that are none any more."""
    problems: list[str] = []
    for index, case in enumerate(cases):
        answer = answers[index] if index < len(answers) else None
        passed = is_right(case, answer)
        if passed and case["id"] in gaps:
            problems.append(f"{case['id']}: passes now; take it out of the known gaps")
        elif not passed and case["id"] not in gaps:
            kind = "the answer that the rule excludes" if is_excluded(case, answer) else "wrong"
            told = f"{json.dumps(answer)} instead of {json.dumps(expected(case))}"
            problems.append(f"{case['id']}: {case['about']}: {kind}: {told}")
    return problems


def is_right(case: dict[str, Any], answer: Any) -> bool:
    """Whether `answer` is a right answer to a case."""
    return _is(case["operation"], answer, expected(case))


def is_excluded(case: dict[str, Any], answer: Any) -> bool:
    """Whether `answer` is the wrong answer that a case names."""
    if "wrong" not in case:
        return False
    wrong = {"records": case["wrong"]} if case["operation"] == "convert" else case["wrong"]
    return _is(case["operation"], answer, wrong)


def _is(operation: str, answer: Any, wanted: dict[str, Any]) -> bool:
    if not isinstance(answer, dict):
        return False
    if operation in {"check", "relate"}:
        return all(same_objects(answer.get(name), value) for name, value in wanted.items())
    if operation == "convert":
        return has_records(answer.get("records"), wanted["records"])
    if operation == "total":
        return _holds(answer, wanted)
    return all(name in answer and answer[name] == value for name, value in wanted.items())


def same_objects(found: Any, wanted: list[dict[str, Any]]) -> bool:
    """Whether these are the objects that are wanted, in any order; each may have more members."""
    if not isinstance(found, list) or len(found) != len(wanted):
        return False
    left = list(found)
    for one in wanted:
        match = next((f for f in left if isinstance(f, dict) and one.items() <= f.items()), None)
        if match is None:
            return False
        left.remove(match)
    return True


def has_records(found: Any, wanted: list[dict[str, Any]]) -> bool:
    """Whether the records hold those that are wanted, in this order; others may be between them."""
    if not isinstance(found, list):
        return False
    records = iter(found)
    return all(any(_holds(record, part) for record in records) for part in wanted)


def _holds(record: Any, part: dict[str, Any]) -> bool:
    """Whether a record has the members of `part`; null asks that a member be absent."""
    if not isinstance(record, dict):
        return False
    for name, value in part.items():
        there = record.get(name)
        if isinstance(value, dict) and isinstance(there, dict):
            if not _holds(there, value):
                return False
        elif there != value:
            return False
    return True


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
