"""Run the vectors of rules against any implementation that speaks JSON lines.

    python grammar/conformance/streams/runner.py [--gaps FILE] COMMAND [ARGUMENT...]

The command gets one request a line on stdin and answers each with one line on stdout, in order.
README.md beside this file describes both. `--gaps` names a file of case IDs that are known to fail,
one a line, `#` begins a comment. The run fails (exit 1) when a case that is not listed fails, when
a listed one passes, and when a listed one does not exist.
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

#: What an answer about related sessions holds.
_RELATED = ("sessions", "edges")
#: What is sent of a case, apart from its answer.
_SENT = ("id", "operation", "streams", "ref", "session", "log")


def main(arguments: list[str]) -> int:
    """Run all vectors and print what fails."""
    gaps: set[str] = set()
    if arguments[:1] == ["--gaps"] and len(arguments) > 1:
        lines = Path(arguments[1]).read_text(encoding="utf-8").splitlines()
        gaps = {line.partition("#")[0].strip() for line in lines} - {""}
        arguments = arguments[2:]
    if not arguments or arguments[0].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    cases = list(load())
    problems = judge(cases, ask(arguments, cases), gaps)
    for problem in problems:
        print(problem)
    print(f"{len(cases)} cases, {len(gaps)} known gaps, {len(problems)} problems", file=sys.stderr)
    return 1 if problems else 0


def load() -> Iterator[dict[str, Any]]:
    """All cases, in the order of rules."""
    for path in sorted(HERE.glob("rules/ASR-*.json")):
        yield from json.loads(path.read_text(encoding="utf-8"))["cases"]


def request(case: dict[str, Any]) -> dict[str, Any]:
    """What an implementation is asked."""
    return {name: case[name] for name in _SENT if name in case}


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


def is_right(case: dict[str, Any], answer: Any) -> bool:
    """Whether `answer` is the answer to a case."""
    if not isinstance(answer, dict):
        return False
    if case["operation"] == "check":
        return same_objects(answer.get("findings"), case["findings"])
    if case["operation"] == "relate":
        return all(same_objects(answer.get(name), case["answer"][name]) for name in _RELATED)
    if case["operation"] in {"judge", "total"}:
        return _holds(answer, case["answer"])
    if case["operation"] == "resolve":
        return all(answer.get(name) == value for name, value in case["answer"].items())
    return has_records(answer.get("records"), case["records"])


def is_excluded(case: dict[str, Any], answer: Any) -> bool:
    """Whether `answer` is the wrong one that a case excludes."""
    if case["operation"] == "check" or not isinstance(answer, dict):
        return False
    return is_right({**case, "answer": case["wrong"], "records": case["wrong"]}, answer)


def same_objects(found: Any, wanted: list[dict[str, Any]]) -> bool:
    """Whether the objects are those that are wanted, in any order, as far as these say."""
    if not isinstance(found, list) or len(found) != len(wanted):
        return False
    left = list(found)
    for one in wanted:
        match = next((f for f in left if one.items() <= f.items()), None)
        if match is None:
            return False
        left.remove(match)
    return True


def has_records(found: Any, wanted: list[dict[str, Any]]) -> bool:
    """Whether the records hold those that are wanted, in this order; others may stand between."""
    if not isinstance(found, list):
        return False
    records = iter(found)
    return all(any(_holds(record, part) for record in records) for part in wanted)


def _holds(record: Any, part: dict[str, Any]) -> bool:
    """Whether a record has the members of `part`; null asks that a member be absent."""
    for name, value in part.items():
        there = record.get(name)
        if isinstance(value, dict) and isinstance(there, dict):
            if not _holds(there, value):
                return False
        elif there != value:
            return False
    return True


def judge(cases: Sequence[dict[str, Any]], answers: Sequence[Any], gaps: set[str]) -> list[str]:
    """What is wrong: regressions, stale gaps, and gaps that name no case."""
    problems: list[str] = []
    for index, case in enumerate(cases):
        answer = answers[index] if index < len(answers) else None
        passed = is_right(case, answer)
        if passed and case["id"] in gaps:
            problems.append(f"{case['id']}: passes now, so it is no known gap: strike it out")
        elif not passed and case["id"] not in gaps:
            kind = "the answer that the rule excludes" if is_excluded(case, answer) else "wrong"
            problems.append(f"{case['id']}: {case['about']}: {kind}: {json.dumps(answer)}")
    known = {case["id"] for case in cases}
    problems.extend(f"{gap}: there is no such case" for gap in sorted(gaps - known))
    return problems


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
