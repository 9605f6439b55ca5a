"""The tools of the proofs do what they say, also on languages that are not ours."""

from __future__ import annotations

import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from proofs import regex
from proofs.abnf import AbnfError, AbnfGrammar
from proofs.automaton import difference, minimal, w_suite
from proofs.charset import ALL, MAX, CharSet
from proofs.expression import AmbiguousExpressionError

RANGES = st.lists(
    st.tuples(st.integers(0, MAX), st.integers(0, 300)).map(lambda r: (r[0], min(MAX, sum(r))))
)


@given(RANGES, RANGES, st.integers(0, MAX))
def test_sets_of_code_points_behave_like_sets(
    left: list[tuple[int, int]], right: list[tuple[int, int]], code: int
) -> None:
    a, b = CharSet.of(left), CharSet.of(right)
    assert (code in a | b) == (code in a or code in b)
    assert (code in a & b) == (code in a and code in b)
    assert (code in a - b) == (code in a and code not in b)
    assert (code in ~a) == (code not in a)
    assert a | ~a == ALL


PATTERNS = st.recursive(
    st.sampled_from(["a", "b", "c", "[ab]", "[^a]", "ab"]),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map("(?:{0[0]}|{0[1]})".format),
        st.tuples(inner, st.sampled_from(["*", "+", "?", "{2}", "{1,2}"])).map(
            lambda p: f"(?:{p[0]}){p[1]}"
        ),
    ),
    max_leaves=8,
)
WORDS = ["".join(w) for n in range(5) for w in itertools.product("abc", repeat=n)]


@given(PATTERNS)
def test_automaton_of_a_regex_accepts_what_the_engine_matches(pattern: str) -> None:
    engine = re.compile(pattern).fullmatch
    assert minimal(regex.read(pattern)).accepted(WORDS) == [w for w in WORDS if engine(w)]


@given(PATTERNS)
def test_a_regex_written_anew_has_the_same_language(pattern: str) -> None:
    """Possessive quantifiers are put only where they change nothing."""
    expr = regex.read(pattern)
    written = regex.write(expr)
    assert difference(expr, regex.read(written)) is None
    engine = re.compile(written).fullmatch
    assert minimal(expr).accepted(WORDS) == [w for w in WORDS if engine(w)]


@given(PATTERNS, PATTERNS)
def test_difference_is_a_shortest_word_that_only_one_engine_matches(one: str, two: str) -> None:
    witness = difference(regex.read(one), regex.read(two))
    left, right = re.compile(one).fullmatch, re.compile(two).fullmatch
    differing = [w for w in WORDS if bool(left(w)) != bool(right(w))]
    if witness is None:
        assert not differing
        return
    assert bool(left(witness.word)) is witness.in_left
    assert bool(right(witness.word)) is witness.in_right
    assert witness.in_left is not witness.in_right
    assert not differing or len(witness.word) <= min(map(len, differing))


@given(PATTERNS, PATTERNS)
def test_the_suite_tells_every_automaton_of_no_more_states_apart(one: str, two: str) -> None:
    """The promise of the W-method."""
    first, second = minimal(regex.read(one)), minimal(regex.read(two))
    if len(second.steps) > len(first.steps):
        first, second = second, first
    # The second may tell characters apart that the first does not: borders of both are tried.
    letters = tuple(sorted({*first.representatives(), *second.representatives(), *"abc"}))
    suite = w_suite(first, letters=letters)
    equal = difference(regex.read(one), regex.read(two)) is None
    assert (first.accepted(suite) == second.accepted(suite)) is equal


@pytest.mark.parametrize(
    "pattern", ["a*+a", "(?>a|ab)c", "(?:ab?)*+b", "(?>a*?)b", "(?>(?:|a))a", "(?:a|ab)++c", "a?+a"]
)
def test_a_possessive_part_that_changes_the_language_is_refused(pattern: str) -> None:
    """To read it as greedy would prove something about another pattern."""
    with pytest.raises(AmbiguousExpressionError):
        regex.read(pattern)


@pytest.mark.parametrize("pattern", ["(?:ab++)*+", "(?:a[bc]{2})++", "(?:a(?:bb|c))*+"])
def test_a_loop_that_early_python_3_11_matches_wrongly_is_refused(pattern: str) -> None:
    """Before 3.11.5 `(?:ab++)*+` loses the "a" of "aba" and so matches all of it (gh-106052)."""
    with pytest.raises(AmbiguousExpressionError, match=r"3\.11\.4"):
        regex.read(pattern)


@pytest.mark.parametrize("pattern", ["(?=a)", "(?i:a)", "(a)\\1", ".", "\\d", "^a", "(?i)a"])
def test_what_has_no_plain_language_is_refused(pattern: str) -> None:
    with pytest.raises(NotImplementedError):
        regex.read(pattern)


def abnf_matches(source: str, text: str) -> bool:
    return minimal(AbnfGrammar(source).rule("s")).accepts(text)


@pytest.mark.parametrize(
    ("source", "good", "bad"),
    [
        ('s = "ab"', ["ab", "AB", "aB"], ["a", "abb"]),
        ('s = %i"ab"', ["ab", "AB"], ["ac"]),
        ('s = %s"aB"', ["aB"], ["ab", "AB"]),
        ("s = %x41-43 / %d97.98 / %b1111", ["A", "C", "ab", "\x0f"], ["a", "D", "b"]),
        ('s = 2*3"a"', ["aa", "aaa"], ["a", "aaaa"]),
        ('s = 2"a" *1"b"', ["aa", "aab"], ["a", "aabb"]),
        ('s = *"a" 1*"b"', ["b", "aabb"], ["", "a"]),
        ('s = "a" [ "b" ] ( "c" / "d" )', ["abc", "ad"], ["ab", "a"]),
        ('s = "a" ; "x"\n  / "b"\nS =/ t\nt = "c"', ["a", "b", "c"], ["x"]),
    ],
)
def test_abnf_means_what_the_rfc_says(source: str, good: list[str], bad: list[str]) -> None:
    assert all(abnf_matches(source, text) for text in good)
    assert not any(abnf_matches(source, text) for text in bad)


@pytest.mark.parametrize(
    "source",
    [
        "s = t",
        "s = s",
        's = "a',
        's = ( "a"',
        's = "a" )',
        "s = ",
        's = "a"\ns = "b"',
        "text",
        "s = 2",
    ],
)
def test_what_is_no_regular_abnf_is_refused(source: str) -> None:
    with pytest.raises(AbnfError):
        AbnfGrammar(source).rule("s")
