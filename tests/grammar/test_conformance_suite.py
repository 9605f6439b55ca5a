"""Equal grammar is not equal parser: the W-method's suite through everything that parses."""

from __future__ import annotations

import itertools
import json
import re
import shutil
import subprocess
from typing import TYPE_CHECKING
from urllib.parse import unquote_to_bytes

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lark import Lark
from lark.exceptions import UnexpectedInput
from proofs import regex
from proofs.automaton import minimal, w_suite

import sessionref as sr
from sessionref import _compiled
from sessionref._names import SHORT_NAMES
from sessionref.grammar import export, tree, values

if TYPE_CHECKING:
    from proofs.abnf import AbnfGrammar
    from proofs.automaton import Dfa

Suite = tuple[list[str], set[str]]


@pytest.fixture(scope="module")
def suite(automaton: Dfa) -> Suite:
    """The suite of the grammar, and which of its words are references."""
    words = w_suite(automaton)
    return words, set(automaton.accepted(words))


@pytest.fixture(scope="module")
def valid_suite(valid_automaton: Dfa) -> Suite:
    """The suite of the grammar with the validity of octets in it."""
    words = w_suite(valid_automaton)
    return words, set(valid_automaton.accepted(words))


def differing(suite: Suite, accepted: list[str]) -> list[str]:
    """The first words on which a parser and the automaton disagree."""
    return sorted(suite[1].symmetric_difference(accepted), key=len)[:5]


def lark_accepts(parser: Lark, words: list[str]) -> list[str]:
    accepted: list[str] = []
    for word in words:
        try:
            parser.parse(word)
        except UnexpectedInput:
            continue
        accepted.append(word)
    return accepted


def test_compiled_recognizer(suite: Suite) -> None:
    """What `re` makes of the pattern is what the pattern says."""
    recognize = re.compile(_compiled.REFERENCE).fullmatch
    assert differing(suite, [word for word in suite[0] if recognize(word)]) == []


def test_compiled_recognizer_at_all_borders(automaton: Dfa) -> None:
    """Every state meets the first and the last character of every range."""
    words = w_suite(automaton, letters=automaton.edges())
    recognize = re.compile(_compiled.REFERENCE).fullmatch
    accepted = [word for word in words if recognize(word)]
    assert differing((words, set(automaton.accepted(words))), accepted) == []


@pytest.mark.parametrize("extra", [0, 1])
def test_compiled_canonical_form(extra: int) -> None:
    automaton = minimal(regex.read(_compiled.CANONICAL))
    words = w_suite(automaton, extra)
    recognize = re.compile(_compiled.CANONICAL).fullmatch
    accepted = [word for word in words if recognize(word)]
    assert differing((words, set(automaton.accepted(words))), accepted) == []


def test_plain_recognizer_finds_the_same_groups(suite: Suite) -> None:
    plain, full = (re.compile(p).fullmatch for p in (_compiled.PLAIN, _compiled.REFERENCE))
    for word in suite[1]:
        match, same = plain(word), full(word)
        assert same is not None
        assert (match is not None) == (word.isascii() and "%" not in word)
        assert match is None or match.groups() == same.groups()


def test_lark_with_its_contextual_lexer(suite: Suite, lark_source: str) -> None:
    parser = Lark(lark_source, parser="lalr", start="session_ref")
    assert differing(suite, lark_accepts(parser, suite[0])) == []


def test_a_greedy_lexer_is_found(suite: Suite, lark_source: str) -> None:
    """The suite can fail: without the priority of keys the language is the same, what Lark
    makes of it is not, since its lexer takes the record ID `callId` where the entity ref is.
    """
    parser = Lark(lark_source.replace("_HEAD.1:", "_HEAD:"), parser="lalr", start="session_ref")
    assert "0:!#callId=!" in suite[1].difference(lark_accepts(parser, suite[0]))


def test_a_key_apart_from_its_equals_is_found(suite: Suite, lark_source: str) -> None:
    """The lexer would take `callId` out of the record ID `callIdn`."""
    broken = lark_source.replace('ENTITY_KEY "="', "ENTITY_KEY").replace(
        "ENTITY_HEAD value", 'ENTITY_HEAD "=" value'
    )
    parser = Lark(broken, parser="lalr", start="session_ref")
    missed = suite[1].difference(lark_accepts(parser, suite[0]))
    assert {"0:!#callId", "0:!#callIdn"} <= missed


def test_parse_accepts_exactly_the_valid_references(valid_suite: Suite) -> None:
    """Grammar and validity of octets together (ASR-060, 061)."""
    accepted = [word for word in valid_suite[0] if sr.try_parse(word) is not None]
    assert differing(valid_suite, accepted) == []


def test_parse_fails_exactly_where_the_diagnosis_finds_something(suite: Suite) -> None:
    for word in suite[0]:
        found = sr.check(word)
        assert bool(found) == (sr.try_parse(word) is None)
        for error in found:
            start, end = error.span
            assert 0 <= start <= end <= len(word)


def independent_parts(text: str) -> tuple[str, str | None, str, str | None, str | None]:
    """Agent, namespace, session ID, key and rest of a valid reference, found by splitting."""
    head, mark, fragment = text.partition("#")
    agent, *components = head.split(":")
    decoded = [unquote_to_bytes(c).decode() for c in components]
    key, equals, value = fragment.partition("=")
    namespace = decoded[0] if len(decoded) == 2 else None
    if equals:
        return agent, namespace, decoded[-1], key, unquote_to_bytes(value).decode()
    return agent, namespace, decoded[-1], None, fragment if mark else None


def parts(ref: sr.SessionRef) -> tuple[str, str | None, str, str | None, str | None]:
    match ref.ref:
        case None:
            key, rest = None, None
        case sr.RecordRef(record_id):
            key, rest = None, record_id
        case sr.EntityRef(entity_key, value):
            key, rest = entity_key, value
        case sr.TurnRef(turn_id):
            key, rest = "turnId", turn_id
    return ref.agent, ref.namespace, ref.session_id, key, rest


def test_round_trip_through_the_public_constructor(valid_suite: Suite) -> None:
    """Parts are right, the constructor takes them, and its text is minimal and parses to it."""
    for word in valid_suite[1]:
        ref = sr.parse(word)
        assert parts(ref) == independent_parts(word)
        built = sr.SessionRef(ref.agent, ref.namespace, ref.session_id, ref.ref)
        assert built == ref
        assert sr.parse(str(built)) == ref
        assert len(str(built)) <= len(word)


def test_trees_give_the_same_values(valid_suite: Suite) -> None:
    for word in sorted(valid_suite[1])[::5]:
        assert parts(values(word)) == independent_parts(word)


def test_trees_refuse_what_parse_refuses_with_the_same_error(valid_suite: Suite) -> None:
    refused = [word for word in valid_suite[0] if word not in valid_suite[1]]
    for word in refused[::97]:
        with pytest.raises(sr.InvalidReference) as caught:
            tree(word)
        assert caught.value == sr.check(word)[0]


def test_the_constructor_takes_every_raw_part(suite: Suite) -> None:
    """Words of the suite, valid or not, are fine session IDs: they come back as they went in."""
    for word in suite[0][::7]:
        if not word or "\ud800" <= max(word) <= "\udfff":
            continue
        built = sr.SessionRef("x", word, word)
        again = sr.parse(str(built))
        assert (again.namespace, again.session_id) == (word, word)
        assert sr.is_canonical(str(built))


def test_abnf_package_as_an_independent_oracle(suite: Suite, abnf_source: str) -> None:
    """A parser that is made from the ABNF by other people, on a sample."""
    oracle = pytest.importorskip("abnf")

    class SessionReference(oracle.Rule):  # type: ignore[misc,name-defined]
        """The rules of the file."""

    lines = abnf_source.splitlines()
    SessionReference.load_grammar("\r\n".join(lines) + "\r\n")
    rule = SessionReference("session-ref")
    accepted = sorted(suite[1])[::23]
    refused = [word for word in suite[0] if word not in suite[1]][::151]
    for word in [*accepted, *refused]:
        try:
            rule.parse_all(word)
        except oracle.ParseError:
            assert word not in suite[1]
        else:
            assert word in suite[1]


def test_re2_itself_runs_the_export(suite: Suite) -> None:
    re2 = pytest.importorskip("re2")
    recognize = re2.compile(export("re2")).search
    words = [word for word in suite[0] if not re.search("[\ud800-\udfff]", word)]
    accepted = [word for word in words if recognize(word)]
    assert differing((words, suite[1]), accepted) == []


@pytest.mark.parametrize("flag", ["u", "v"])
def test_an_ecmascript_engine_runs_the_export(suite: Suite, flag: str) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("there is no node here")
    program = (
        "const {source, flag, words} = JSON.parse(require('fs').readFileSync(0));"
        "const r = new RegExp(source, flag);"
        "console.log(JSON.stringify(words.map(w => r.test(w))))"
    )
    given = {"source": export("ecmascript"), "flag": flag, "words": suite[0]}
    done = subprocess.run(
        [node, "-e", program], input=json.dumps(given), capture_output=True, text=True, check=False
    )
    if flag == "v" and "Invalid flags" in done.stderr:
        pytest.skip("this node does not know the flag v")
    verdicts = json.loads(done.stdout)
    accepted = [word for word, ok in zip(suite[0], verdicts, strict=True) if ok]
    assert differing(suite, accepted) == []


# --- ASR-060: which runs of octets are valid ---------------------------------------------------


def decodes(text: str) -> bool:
    """The oracle: CPython's decoder over each run of octets."""
    try:
        for run in re.findall(r"(?:%[0-9A-Fa-f]{2})+", text):
            bytes.fromhex(run.replace("%", "")).decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


#: Octets at which the well-formed sequences change, each with its neighbours.
LEADS = [0x00, 0x41, 0x7F, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF3]
LEADS += [0xF4, 0xF5, 0xFF]
TAILS = [0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0]


def test_octets_are_valid_exactly_where_the_decoder_says(abnf: AbnfGrammar) -> None:
    """All runs of one and two octets, and all borders of three, four and five."""
    automaton = minimal(abnf.rule("utf8-run"))
    runs = itertools.chain(
        itertools.product(range(256)),
        itertools.product(range(256), repeat=2),
        *(itertools.product(LEADS, *([TAILS] * n)) for n in (2, 3)),
        itertools.product(LEADS, LEADS[:8:3], TAILS, TAILS[::2], TAILS[::3]),
    )
    texts = ["".join(f"%{octet:02X}" for octet in run) for run in runs]
    valid = set(automaton.accepted(texts))
    for text in texts:
        assert (text in valid) == decodes(text)
        assert (sr.try_parse("x:" + text) is not None) == (text in valid)


def test_every_character_has_valid_octets(abnf: AbnfGrammar) -> None:
    """All scalar values: encoded, each is a word of the grammar and parses to itself."""
    automaton = minimal(abnf.rule("utf8-run"))
    scalars = [*range(0xD800), *range(0xE000, 0x110000)]
    for start in range(0, len(scalars), 4096):
        chunk = "".join(map(chr, scalars[start : start + 4096]))
        text = "%" + chunk.encode().hex("%")
        assert automaton.accepts(text)
        assert sr.parse("x:" + text).session_id == chunk


def test_no_surrogate_has_valid_octets(abnf: AbnfGrammar) -> None:
    automaton = minimal(abnf.rule("utf8-run"))
    for code in range(0xD800, 0xE000):
        text = "%" + chr(code).encode("utf-8", "surrogatepass").hex("%")
        assert not automaton.accepts(text)
        assert sr.try_parse("x:" + text) is None


def test_the_suite_of_octets_agrees_with_the_decoder(abnf: AbnfGrammar) -> None:
    automaton = minimal(abnf.rule("utf8-run"))
    shape = re.compile(_compiled.PCT_RUN).fullmatch
    for extra in (0, 1):
        words = w_suite(automaton, extra)
        expected = [word for word in words if shape(word) and decodes(word)]
        assert automaton.accepted(words) == expected


# --- The canonical form --------------------------------------------------------------------------


def written_canonically(text: str) -> str | None:
    """`canonical` without its short cut for what is canonical already."""
    ref = sr.try_parse(text)
    return None if ref is None else ref.key.canonical()


def assert_is_canonical_is_exact(words: list[str], automaton: Dfa) -> None:
    accepted = set(automaton.accepted(words))
    for word in words:
        canonical = written_canonically(word)
        registered = word.partition(":")[0] in SHORT_NAMES
        assert sr.is_canonical(word) == (canonical == word)
        assert sr.is_canonical(word) == (word in accepted and not registered)
        if canonical is not None:
            assert sr.canonical(word) == canonical
            assert automaton.accepts(canonical)


@pytest.fixture(scope="module")
def canonical_automaton(abnf: AbnfGrammar) -> Dfa:
    return minimal(abnf.rule("canonical"))


def test_is_canonical_exactly_when_canonical_changes_nothing(
    canonical_automaton: Dfa, valid_suite: Suite
) -> None:
    """On the suites of both languages; with the next test, on all short words of a few letters."""
    words = [*w_suite(canonical_automaton), *valid_suite[0][::3]]
    assert_is_canonical_is_exact(words, canonical_automaton)


def test_is_canonical_on_all_short_words(canonical_automaton: Dfa) -> None:
    components = ["".join(w) for n in range(5) for w in itertools.product("%23Aa:#~\x80", repeat=n)]
    assert_is_canonical_is_exact([f"a:{c}" for c in components], canonical_automaton)


def test_is_canonical_on_all_two_octet_runs(canonical_automaton: Dfa) -> None:
    """Every escape of one octet in both spellings, and of two octets."""
    one = [f"x:%{octet:{form}}" for octet in range(256) for form in ("02X", "02x")]
    two = [f"x:%{a:02X}%{b:02X}" for a in (0x25, 0xC2, 0xC3) for b in range(256)]
    assert_is_canonical_is_exact([*one, *two], canonical_automaton)


@pytest.mark.parametrize("name", sorted(SHORT_NAMES))
def test_a_registered_reverse_dns_name_is_never_canonical(name: str) -> None:
    """The finite set that the registry takes out of the grammar's canonical texts (ASR-058)."""
    assert not sr.is_canonical(f"{name}:s")
    assert sr.canonical(f"{name}:s") == f"{SHORT_NAMES[name]}:s"
    assert sr.is_canonical(f"{SHORT_NAMES[name]}:s")


def test_complaint_56_text_generated_from_the_grammar_is_accepted(lark_source: str) -> None:
    """Whatever Hypothesis draws from the Lark grammar, the grammar takes."""
    from hypothesis.extra.lark import from_lark  # noqa: PLC0415 - optional of Hypothesis

    grammar = Lark(lark_source, parser="lalr", start="session_ref")
    recognize = re.compile(_compiled.REFERENCE).fullmatch

    @given(from_lark(grammar, alphabet=st.characters(exclude_categories=("Cs",))))
    def drawn(text: str) -> None:
        assert recognize(text)

    drawn()
