"""Print the exhaustive suite of the grammar as JSON lines: `input…` and `valid`.

    python grammar/conformance/suite.py      the W-method suite of the minimal automaton
    python grammar/conformance/suite.py 1    the same for parsers with one state more (large)

The suite comes from the minimal automaton of the ABNF, with the validity of octets (ASR-060) in it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

GRAMMAR = Path(__file__).parents[1]
sys.path[:0] = [str(GRAMMAR)]

from proofs.abnf import AbnfGrammar  # noqa: E402 - the folders of scripts are no packages
from proofs.automaton import minimal, w_suite  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator

    from proofs.expression import Expr


def main(arguments: list[str]) -> int:
    """Print the suite for as many states more as the argument says."""
    if arguments not in ([], ["0"], ["1"], ["2"]):
        print(__doc__, file=sys.stderr)
        return 2
    for line in suite(int(arguments[0]) if arguments else 0):
        print(json.dumps(line))
    return 0


def text_members(name: str, text: str) -> dict[str, str]:
    """A text twice, as itself and as hex of its UTF-8 octets.

    Text with a lone surrogate has neither, and comes as hex of its UTF-16 code units, big-endian.
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

    That is the ABNF with another definition of `pct-encoded`: a raw character is complete in
    itself, so each run of octets must be valid alone.
    """
    if abnf is None:
        abnf = (GRAMMAR / "session-reference.abnf").read_text(encoding="utf-8")
    return AbnfGrammar(abnf, replacing={"pct-encoded": "utf8-octets"}).rule("session-ref")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
