"""The grammar in its three forms."""

from __future__ import annotations

import pytest

from grammar_scripts import GRAMMAR, load_script  # isort: skip - makes `proofs` importable
from typing import TYPE_CHECKING

from proofs import regex
from proofs.abnf import AbnfGrammar
from proofs.automaton import minimal
from proofs.lark_grammar import LarkGrammar

from sessionref import _compiled

if TYPE_CHECKING:
    from proofs.automaton import Dfa
    from proofs.expression import Expr


@pytest.fixture(scope="session")
def abnf_source() -> str:
    return (GRAMMAR / "session-reference.abnf").read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def lark_source() -> str:
    return (GRAMMAR / "session_reference.lark").read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def abnf(abnf_source: str) -> AbnfGrammar:
    return AbnfGrammar(abnf_source)


@pytest.fixture(scope="session")
def lark_grammar(lark_source: str) -> LarkGrammar:
    return LarkGrammar(lark_source, "session_ref")


@pytest.fixture(scope="session")
def reference() -> Expr:
    """The language of the compiled recognizer."""
    return regex.read(_compiled.REFERENCE)


@pytest.fixture(scope="session")
def automaton(reference: Expr) -> Dfa:
    """Its minimal automaton."""
    return minimal(reference)


@pytest.fixture(scope="session")
def valid_automaton() -> Dfa:
    """The minimal automaton of references whose octets are valid UTF-8 as well."""
    script = load_script(GRAMMAR / "conformance" / "suite.py")
    return minimal(script.valid_reference())
