"""Writes the vectors of rules: the examples of each rule, and the further cases of `cases.py`.

`--check` writes nothing and exits 1 where a file is not what would be written.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import msgspec

from sessionref.checks.rules import rules

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from cases import CASES  # noqa: E402 - beside this file
from lineage_cases import LINEAGE_CASES  # noqa: E402

_DIGITS = 2


def main(arguments: list[str]) -> int:
    """Write or check all files."""
    stale = 0
    wanted = dict(files())
    for path in sorted({*wanted, *HERE.glob("rules/ASR-*.json")}):
        old = path.read_text(encoding="utf-8") if path.exists() else None
        new = wanted.get(path)
        if old == new:
            continue
        stale += 1
        if "--check" in arguments:
            print(f"{path.name} is stale", file=sys.stderr)
        elif new is None:
            path.unlink()
        else:
            path.parent.mkdir(exist_ok=True)
            path.write_text(new, encoding="utf-8")
    return int(stale > 0 and "--check" in arguments)


def files() -> list[tuple[Path, str]]:
    """Each file of vectors and what is in it."""
    found: list[tuple[Path, str]] = []
    further = CASES | LINEAGE_CASES
    for number, rule in rules().items():
        cases: list[dict[str, Any]] = []
        for at, case in enumerate((rule.good, rule.bad, *further.get(number, ())), 1):
            members = msgspec.to_builtins(case)
            if members["operation"] == "check":
                members.setdefault("findings", [])
            for finding in members.get("findings", ()):
                finding.setdefault("rule", None)
            members = {k: v for k, v in members.items() if k != "session" or v is not None}
            cases.append({"id": f"{number}/{at:0{_DIGITS}}", **members})
        topic = {"rule": number, "kind": rule.kind, "about": rule.summary, "cases": cases}
        text = json.dumps(topic, indent=2, ensure_ascii=False) + "\n"
        found.append((HERE / "rules" / f"{number}.json", text))
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
