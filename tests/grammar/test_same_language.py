"""ABNF, Lark grammar and every compiled form have one language, over all code points."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from grammar_scripts import GRAMMAR, load_script
from proofs import regex
from proofs.abnf import AbnfGrammar
from proofs.automaton import difference
from proofs.charset import ALL, SURROGATES, CharSet
from proofs.expression import Chars, Repeat, alt, map_chars, repeat, seq
from proofs.lark_grammar import LarkGrammar

from sessionref import _compiled
from sessionref.grammar import export

if TYPE_CHECKING:
    from collections.abc import Callable

    from proofs.expression import Expr

ASCII_WITHOUT_PERCENT = CharSet(((0, 0x24), (0x26, 0x7F)))


def assert_same(left: Expr, right: Expr) -> None:
    witness = difference(left, right)
    assert witness is None, str(witness)


def test_abnf_and_lark_grammar_are_equal(abnf: AbnfGrammar, lark_grammar: LarkGrammar) -> None:
    assert_same(abnf.rule("session-ref"), lark_grammar.rule("session_ref"))


def test_abnf_and_compiled_recognizer_are_equal(abnf: AbnfGrammar, reference: Expr) -> None:
    assert_same(abnf.rule("session-ref"), reference)


@pytest.mark.parametrize("name", ["agent-name", "namespace", "session-id", "value", "record-ref"])
def test_rules_of_one_name_are_equal(
    abnf: AbnfGrammar, lark_grammar: LarkGrammar, name: str
) -> None:
    assert_same(abnf.rule(name), lark_grammar.rule(name.replace("-", "_")))


@pytest.mark.parametrize(
    ("rule", "constant"),
    [
        ("agent-name", _compiled.AGENT_NAME),
        ("short-name", _compiled.SHORT_NAME),
        ("component", _compiled.COMPONENT),
        ("record-ref", _compiled.RECORD_ID),
        ("canonical", _compiled.CANONICAL),
    ],
)
def test_the_other_compiled_patterns_are_their_rules(
    abnf: AbnfGrammar, rule: str, constant: str
) -> None:
    assert_same(abnf.rule(rule), regex.read(constant))


def test_plain_is_the_reference_without_percent_and_beyond_ascii(reference: Expr) -> None:
    """The whole restricted language, and so no branch that only escapes can take."""
    assert_same(
        map_chars(reference, lambda chars: chars & ASCII_WITHOUT_PERCENT),
        regex.read(_compiled.PLAIN),
    )


def test_pct_run_and_must_encode_divide_the_component(abnf: AbnfGrammar) -> None:
    """A component is made of raw characters and octets, and what is neither must be encoded."""
    must_encode = regex.read(_compiled.MUST_ENCODE)
    assert isinstance(must_encode, Chars)
    raw = Chars(ALL - must_encode.chars - SURROGATES)
    assert_same(repeat(raw, 1, None), repeat(abnf.rule("raw-char"), 1, None))
    octets = regex.read(_compiled.PCT_RUN)
    assert_same(repeat(alt([raw, octets]), 1, None), abnf.rule("component"))


def test_keys_are_those_of_the_abnf(abnf: AbnfGrammar) -> None:
    keys = alt(seq(Chars(CharSet.from_text(c)) for c in key) for key in _compiled.ENTITY_KEYS)
    assert_same(keys, abnf.rule("entity-key"))
    assert len(_compiled.ENTITY_KEYS) == 7
    assert _compiled.TURN_KEY == "turnId"


def _read_back(form: str) -> Expr:
    """An exported pattern, rewritten by rules of this test alone into Python's notation."""
    text = export(form)  # type: ignore[arg-type]
    if form == "re2":
        assert text.startswith(r"\A(?:")
        assert text.endswith(r")\z")
        text = text[2:-2]
    elif form == "ecmascript":
        assert text.startswith("^(?:")
        assert text.endswith(")$")
        text = text[1:-1].replace("(?<", "(?P<")
    text = re.sub(r"\\[xu]\{([0-9a-f]+)\}", lambda m: rf"\U{int(m[1], 16):08x}", text)
    return regex.read(text)


@pytest.mark.parametrize("form", ["python", "re2", "ecmascript"])
def test_exported_patterns_are_equal(reference: Expr, form: str) -> None:
    assert_same(reference, _read_back(form))


@pytest.mark.parametrize("form", ["re2", "ecmascript"])
def test_exported_patterns_hold_no_loop_in_a_loop_of_the_same(form: str) -> None:
    """`(a+|b)+` takes exponential time in an engine that goes back."""

    def runs_in_loops(expr: Expr, *, inside: bool) -> bool:
        if isinstance(expr, Repeat):
            run = isinstance(expr.body, Chars) and expr.high is None
            if inside and run:
                return True
            return runs_in_loops(expr.body, inside=expr.high is None)
        children = getattr(expr, "parts", getattr(expr, "options", ()))
        if hasattr(expr, "body"):
            children = (expr.body,)
        # Behind a first part that is no loop, a run is fenced off: "(?:[-.][a-z]+)*".
        fenced = hasattr(expr, "parts")
        return any(runs_in_loops(c, inside=inside and not fenced) for c in children)

    assert not runs_in_loops(_read_back(form), inside=False)


BROKEN: list[tuple[str, str, Callable[[str], str], str, bool]] = [
    ("a range ends early", "abnf", lambda s: s.replace("%x26-39", "%x26-38"), "0:9", False),
    ("a range begins late", "abnf", lambda s: s.replace("%xA0-", "%xA1-"), "0:\xa0", False),
    ("C1 is left out", "abnf", lambda s: s.replace("%xA0-", "%x9F-"), "0:\x9f", True),
    ("surrogates", "abnf", lambda s: s.replace("%xA0-D7FF", "%xA0-D800"), "0:\ud800", True),
    ("the last code point", "abnf", lambda s: s.replace("10FFFF", "10FFFE"), "0:\U0010ffff", False),
    ("one digit", "abnf", lambda s: s.replace('"%" 2hex-digit', '"%" 1*2hex-digit'), "0:%0", True),
    (
        "keys in any case",
        "abnf",
        lambda s: s.replace('%s"planId"', '"planId"'),
        "0:!#PLANID=!",
        True,
    ),
    ("empty component", "abnf", lambda s: s.replace("1*( raw-char", "*( raw-char"), "0:", True),
    ("no namespace", "abnf", lambda s: s.replace('[ namespace ":" ] ', ""), "0:!:!", False),
    ("equals in a record ID", "lark", lambda s: s.replace("#= ", "# "), "0:!#=", True),
    ("a key is missing", "lark", lambda s: s.replace('| "planId"', ""), "0:!#planId=!", False),
    (
        "a name that ends with a hyphen",
        "lark",
        lambda s: s.replace("[-.][a-z0-9][a-z0-9]*+", "[-.][a-z0-9]*+"),
        "0-:!",
        True,
    ),
    ("upper-case digits only", "lark", lambda s: s.replace("A-Fa-f", "A-F"), "0:%0a", False),
]


@pytest.mark.parametrize(
    ("notation", "change", "word", "accepted"), [b[1:] for b in BROKEN], ids=[b[0] for b in BROKEN]
)
def test_a_broken_grammar_is_found_with_a_shortest_witness(
    reference: Expr,
    abnf_source: str,
    lark_source: str,
    notation: str,
    change: Callable[[str], str],
    word: str,
    accepted: bool,
) -> None:
    """The comparison can fail: each small change is seen, and no shorter word shows it."""
    if notation == "abnf":
        broken = AbnfGrammar(change(abnf_source)).rule("session-ref")
    else:
        broken = LarkGrammar(change(lark_source), "session_ref").rule("session_ref")
    witness = difference(broken, reference)
    assert witness is not None
    assert witness.in_left is accepted
    assert witness.in_right is not accepted
    assert len(witness.word) == len(word)
    assert bool(re.fullmatch(_compiled.REFERENCE, word)) is not accepted


def test_the_compiled_form_is_not_stale() -> None:
    done = subprocess.run(
        [sys.executable, str(GRAMMAR / "compile.py"), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_a_stale_compiled_form_is_noticed(
    tmp_path: object, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    compiler = load_script(GRAMMAR / "compile.py")
    stale = tmp_path / "_compiled.py"  # type: ignore[operator]
    stale.write_text("", encoding="utf-8")
    monkeypatch.setattr(compiler, "COMPILED", stale)
    assert compiler.main(["--check"]) == 1
    assert "stale" in capsys.readouterr().err
    assert compiler.main([]) == 0
    assert compiler.main(["--check"]) == 0


def test_the_compiler_follows_the_grammar(lark_source: str) -> None:
    """Another key in the grammar is another key in the recognizer."""
    compiler = load_script(GRAMMAR / "compile.py")
    changed = lark_source.replace('| "planId"', '| "planId" | "toolId"')
    constants = compiler.compile_grammar(changed)
    assert re.fullmatch(constants["REFERENCE"][1], "a:b#toolId=c")
    assert "toolId" in constants["ENTITY_KEYS"][1]
