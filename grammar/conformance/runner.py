"""Run the vectors against any implementation that speaks JSON lines.

    python grammar/conformance/runner.py [--gaps FILE] COMMAND [ARGUMENT...]

The command gets one request a line on stdin and answers each with one line on stdout, in order.
README.md beside this file describes both. `--gaps` names a file of case IDs, one a line, `#`
begins a comment: those cases are known to fail. The run fails (exit 1) when a case that is not
listed fails, when a listed one passes, and when a listed one does not exist, so the list can
neither hide a regression nor go stale.
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

#: What is sent along with a case, apart from its ID and operation.
_SENT = ("input", "left", "right")


def main(arguments: list[str]) -> int:
    """Run all vectors and print what fails."""
    gaps: set[str] = set()
    if arguments[:1] == ["--gaps"] and len(arguments) > 1:
        gaps = read_gaps(Path(arguments[1]).read_text(encoding="utf-8"))
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


def read_gaps(text: str) -> set[str]:
    """The case IDs in a file of known gaps."""
    lines = (line.partition("#")[0].strip() for line in text.splitlines())
    return {line for line in lines if line}


def load() -> Iterator[dict[str, Any]]:
    """All cases, each with the operation and the registry of its topic."""
    for path in sorted(HERE.glob("*/*.json")):
        topic = json.loads(path.read_text(encoding="utf-8"))
        for case in topic["cases"]:
            yield {
                **case,
                "operation": _operation(topic["operation"], case),
                "registry": topic.get("registry", []),
            }


def _operation(operation: str, case: dict[str, Any]) -> str:
    if operation != "registry":
        return operation
    return "equal" if "left" in case else "canonical"


def request(case: dict[str, Any]) -> dict[str, Any]:
    """What an implementation is asked: only the part of a case that is no answer."""
    texts = {
        name + form: case[name + form]
        for name in _SENT
        for form in ("", "Utf8", "Utf16")
        if name + form in case
    }
    return {
        "id": case["id"],
        "operation": case["operation"],
        "registry": case["registry"],
        **texts,
    }


def expected(case: dict[str, Any]) -> dict[str, Any]:
    """The answer that is right; of an error only the code is compared."""
    if "code" in case:
        return {"error": case["code"]}
    members = {
        "parse": ("agent", "namespace", "sessionId", "ref", "minimal"),
        "canonical": ("canonical", "digest", "isCanonical"),
        "equal": ("sameSession", "sameReference"),
        "raw-ref": ("ref", "fragment"),
    }
    return {name: case[name] for name in members[case["operation"]]}


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
    """What is wrong: regressions, stale gaps, and gaps that name no case."""
    problems: list[str] = []
    for index, case in enumerate(cases):
        answer = answers[index] if index < len(answers) else None
        right = expected(case)
        passed = isinstance(answer, dict) and all(
            name in answer and answer[name] == value for name, value in right.items()
        )
        if passed and case["id"] in gaps:
            problems.append(f"{case['id']}: passes now, so it is no known gap: strike it out")
        elif not passed and case["id"] not in gaps:
            problems.append(f"{case['id']}: {case['about']}: {answer!r} instead of {right!r}")
    known = {case["id"] for case in cases}
    problems.extend(f"{gap}: there is no such case" for gap in sorted(gaps - known))
    return problems


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
