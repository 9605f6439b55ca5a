"""Write the vectors for implementers, and the exhaustive suite of the grammar.

    python grammar/conformance/generate.py            write the JSON files
    python grammar/conformance/generate.py --check    exit with 1 when one is stale
    python grammar/conformance/generate.py --suite    print the W-method suite as JSON lines
    python grammar/conformance/generate.py --suite 1  the same for one state more (large)

The cases are written by hand in `reference_cases.py`: no expectation comes from an implementation.
What is added here is arithmetic: hex of the input, and digests of canonical forms. The suite comes
from the minimal automaton of the ABNF, with the octets' validity (ASR-060) in it.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from proofs.abnf import AbnfGrammar  # noqa: E402
from proofs.automaton import minimal, w_suite  # noqa: E402
from reference_cases import TOPICS  # noqa: E402 - the folders of scripts are no packages

if TYPE_CHECKING:
    from collections.abc import Iterator

    from proofs.expression import Expr


def main(arguments: list[str]) -> int:
    """Do what the arguments ask for."""
    if arguments[:1] == ["--suite"]:
        for line in suite(int(arguments[1]) if arguments[1:] else 0):
            print(json.dumps(line))
        return 0
    if arguments not in ([], ["--check"]):
        print(__doc__, file=sys.stderr)
        return 2
    stale = 0
    for path, text in files().items():
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        if arguments:
            print(f"{path} is stale", file=sys.stderr)
            stale = 1
        else:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
    return stale


def files() -> dict[Path, str]:
    """Path -> content of every file of vectors."""
    return {
        HERE / f"{name}.json": json.dumps(_topic(name, topic), indent=2, ensure_ascii=True) + "\n"
        for name, topic in TOPICS.items()
    }


def _topic(name: str, topic: dict[str, Any]) -> dict[str, Any]:
    cases: list[dict[str, Any]] = []
    for number, case in enumerate(topic["cases"], 1):
        made: dict[str, Any] = {"id": f"{name}/{number:03}", "about": case["about"]}
        for member, value in case.items():
            if member == "about":
                continue
            if member in ("input", "left", "right"):
                made |= text_members(member, value)
            elif member == "canonical":
                digest = hashlib.sha256(value.encode()).hexdigest()
                made |= {member: value, "digest": f"sha256:{digest}"}
            else:
                made[member] = value
        cases.append(made)
    head = {key: value for key, value in topic.items() if key != "cases"}
    return {"$schema": "../schema.json", **head, "cases": cases}


def text_members(name: str, text: str) -> dict[str, str]:
    """A text twice, as itself and as hex of its UTF-8 octets.

    One with lone surrogates has neither: it comes as hex of its UTF-16 code units, big-endian.
    """
    try:
        return {name: text, f"{name}Utf8": text.encode().hex()}
    except UnicodeEncodeError:
        return {f"{name}Utf16": text.encode("utf-16-be", "surrogatepass").hex()}


def suite(extra_states: int) -> Iterator[dict[str, Any]]:
    """Input and verdict of every word of the W-method suite."""
    dfa = minimal(valid_reference())
    words = w_suite(dfa, extra_states)
    accepted = set(dfa.accepted(words))
    for word in words:
        yield {**text_members("input", word), "valid": word in accepted}


def valid_reference(abnf: str | None = None) -> Expr:
    """The language of references whose octets are valid UTF-8 as well (ASR-060, 061).

    That is the ABNF with another definition of `pct-encoded`: since a raw character is complete
    in itself, each run of octets must be valid alone.
    """
    if abnf is None:
        abnf = (HERE.parent / "session-reference.abnf").read_text(encoding="utf-8")
    return AbnfGrammar(abnf, replacing={"pct-encoded": "utf8-octets"}).rule("session-ref")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
