"""Session references, session keys and refs as values."""

from __future__ import annotations

import copy
import enum
import pickle
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import (
    near_references,
    refs,
    session_keys,
    session_refs,
    spellings,
)

import sessionref as sr

if TYPE_CHECKING:
    from collections.abc import Callable

CODEX = sr.SessionRef("codex", "ns", "s", sr.EntityRef("callId", "c"))


@given(session_refs)
def test_what_the_constructor_builds_parses_to_the_same(ref: sr.SessionRef):
    """parse(str(ref)) gives the parts back, for every reference that can be built."""
    again = sr.parse(str(ref))
    assert (again.agent, again.namespace, again.session_id, again.ref) == (
        ref.agent,
        ref.namespace,
        ref.session_id,
        ref.ref,
    )


@given(near_references)
def test_parse_check_and_the_constructor_accept_the_same_set(text: str):
    """Parse raises exactly what check finds first; what parses can be built and pickled."""
    found = sr.check(text)
    assert [error for _, error in sr.check_all(["codex:a", text, text])] == [*found, *found]
    if found:
        assert sr.try_parse(text) is None
        with pytest.raises(sr.InvalidReference) as caught:
            sr.parse(text)
        assert caught.value == found[0]
        for error in found:
            start, end = error.span
            assert 0 <= start <= end <= len(text)
            assert error.code in sr.CODES
            assert error.text == text
    else:
        ref = sr.parse(text)
        assert ref == sr.try_parse(text)
        assert sr.SessionRef(ref.agent, ref.namespace, ref.session_id, ref.ref) == ref
        assert ref.replace() == ref
        assert pickle.loads(pickle.dumps(ref)) == ref


@given(st.data(), session_refs)
def test_other_spellings_are_the_same_reference(data: st.DataObject, ref: sr.SessionRef):
    """Alias, hex case and needless encoding change neither equality nor hash nor digest."""
    other = sr.parse(data.draw(spellings(ref)))
    assert other == ref
    assert hash(other) == hash(ref)
    assert not other < ref
    assert other <= ref
    assert other.key == ref.key
    assert other.key.digest() == ref.key.digest()


@given(session_refs, session_refs)
def test_order_agrees_with_equality(one: sr.SessionRef, two: sr.SessionRef):
    """Exactly one of <, ==, > holds, for references and for keys."""
    assert [one < two, one == two, one > two].count(True) == 1
    assert [one.key < two.key, one.key == two.key, one.key > two.key].count(True) == 1
    assert (one <= two) == (not one > two)
    assert (one >= two) == (not one < two)


@given(session_keys, session_keys)
def test_the_canonical_form_is_injective(one: sr.SessionKey, two: sr.SessionKey):
    """Two keys share a canonical form exactly when they are equal (ASR-050, 059)."""
    assert (one.canonical() == two.canonical()) == (one == two)
    assert sr.parse(one.canonical()).key == one


@given(session_refs)
def test_a_canonical_text_is_its_own_canonical_form(ref: sr.SessionRef):
    """Canonical is idempotent and is_canonical tells its image."""
    text = ref.key.canonical()
    assert sr.canonical(str(ref)) == text
    assert sr.canonical(text) == text
    assert sr.is_canonical(text)
    assert sr.is_canonical(str(ref)) == (str(ref) == text)
    assert sr.digest(str(ref)) == ref.key.digest()


@given(refs)
def test_a_ref_survives_both_written_forms(ref: sr.RecordRef | sr.EntityRef | sr.TurnRef):
    """from_raw(raw()) and from_fragment(fragment()) give the ref back."""
    assert sr.Ref.from_raw(ref.raw()) == ref
    assert sr.Ref.from_fragment(ref.fragment()) == ref
    assert str(ref) == ref.raw()


@given(near_references)
def test_a_fragment_is_valid_exactly_where_a_reference_with_it_is(text: str):
    """from_fragment takes what may follow the '#', and says where it is wrong."""
    whole = sr.try_parse("x:y#" + text)
    if whole is None:
        with pytest.raises(sr.InvalidReference) as caught:
            sr.Ref.from_fragment(text)
        assert caught.value.text == text
        assert caught.value.span[1] <= len(text)
    else:
        assert sr.Ref.from_fragment(text) == whole.ref


@given(near_references)
def test_raw_refs_are_split_at_the_first_equals_sign(text: str):
    """from_raw never decodes, and its raw() is the text again (ASR-062)."""
    try:
        ref = sr.Ref.from_raw(text)
    except sr.InvalidReference as error:
        key, _, value = text.partition("=")
        known = key in (*sr.ENTITY_KEYS, "turnId")
        assert error.code == ("empty-ref" if not text else "unknown-entity-key") or (
            known and not value and error.code == "empty-value"
        )
    else:
        assert ref.raw() == text


@given(session_refs)
def test_the_structured_form_gives_the_reference_back(ref: sr.SessionRef):
    """to_structured and from_structured are inverse, all parts raw."""
    parts = ref.to_structured()
    again = sr.SessionRef.from_structured(parts)
    assert again == ref
    assert again.agent == ref.agent


@given(session_refs | session_keys | refs)
def test_values_pickle_copy_and_show_themselves(value: object):
    """Every pickle protocol, copy and repr give an equal value."""
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(value, protocol)) == value
    assert copy.copy(value) is value
    assert copy.deepcopy(value) is value
    names = {n: getattr(sr, n) for n in ("SessionRef", "SessionKey", *REF_TYPES)}
    assert eval(repr(value), names) == value


REF_TYPES = ("RecordRef", "EntityRef", "TurnRef")


@pytest.mark.parametrize(
    "other",
    [
        CODEX.replace(agent="codex2"),
        CODEX.replace(namespace=None),
        CODEX.replace(namespace="ns2"),
        CODEX.replace(session_id="s2"),
        CODEX.at(None),
        CODEX.at(sr.EntityRef("callId", "c2")),
        CODEX.at(sr.EntityRef("planId", "c")),
        CODEX.at(sr.TurnRef("c")),
        CODEX.at(sr.RecordRef("c")),
    ],
    ids=str,
)
def test_complaint_30_each_part_that_differs_makes_another_reference(other: sr.SessionRef):
    """Two references that differ in one part only are unequal and ordered one way."""
    assert other != CODEX
    assert (other < CODEX) != (other > CODEX)


@pytest.mark.parametrize("value", [CODEX, CODEX.key, CODEX.ref, sr.RecordRef("r"), sr.TurnRef("t")])
def test_complaint_31_no_attribute_of_a_value_can_be_set(value: object):
    """Neither setting nor deleting nor adding an attribute works."""
    for name in (*type(value).__match_args__, "other"):
        with pytest.raises(AttributeError):
            setattr(value, name, "x")
        with pytest.raises(AttributeError):
            delattr(value, name)


def test_values_of_different_types_are_never_equal():
    """A reference is no key, no text and no tuple; comparing them by order is a TypeError."""
    assert str(CODEX) != CODEX
    assert CODEX.key != CODEX
    assert CODEX.key != ("codex", "ns", "s")
    assert sr.TurnRef("x") != sr.RecordRef("x")
    for compare in ("__lt__", "__le__", "__gt__", "__ge__"):
        assert getattr(CODEX, compare)("x") is NotImplemented


def test_match_statements_take_values_apart():
    """Values work in match, in the order of their constructors."""
    match CODEX:
        case sr.SessionRef("codex", "ns", "s", sr.EntityRef("callId", value)):
            assert value == "c"
        case _:
            pytest.fail("no match")
    match CODEX.key:
        case sr.SessionKey(agent, namespace, session_id):
            assert (agent, namespace, session_id) == ("codex", "ns", "s")


@pytest.mark.parametrize(
    ("build", "code", "component"),
    [
        (lambda: sr.SessionRef("", None, "x"), "bad-agent-name", "agent"),
        (lambda: sr.SessionRef("a:b", None, "x"), "bad-agent-name", "agent"),
        (lambda: sr.SessionRef("codex\n", None, "x"), "bad-agent-name", "agent"),
        (lambda: sr.SessionRef("codex", "", "x"), "empty-component", "namespace"),
        (lambda: sr.SessionRef("codex", None, ""), "empty-component", "session-id"),
        (lambda: sr.SessionRef("codex", None, "a\ud800"), "surrogate", "session-id"),
        (lambda: sr.SessionRef("codex", "\udfff", "a"), "surrogate", "namespace"),
        (lambda: CODEX.at(sr.RecordRef("a b")), "unencodable-record-id", "record-id"),
        (lambda: CODEX.at(sr.RecordRef("%")), "unencodable-record-id", "record-id"),
        (lambda: CODEX.at(sr.RecordRef("é\ud800")), "surrogate", "record-id"),
        (lambda: CODEX.at(sr.TurnRef("\ud800")), "surrogate", "value"),
        (lambda: sr.RecordRef(""), "empty-ref", "record-id"),
        (lambda: sr.RecordRef("a=b"), "equals-in-record-id", "record-id"),
        (lambda: sr.EntityRef("turnId", "x"), "unknown-entity-key", "key"),
        (lambda: sr.EntityRef("callId", ""), "empty-value", "value"),
        (lambda: sr.TurnRef(""), "empty-value", "value"),
        (lambda: sr.Ref.from_raw("turnId="), "empty-value", "value"),
        (lambda: sr.Ref.from_raw("callID=x"), "unknown-entity-key", "key"),
        (lambda: sr.Ref.from_fragment("callId=%ff"), "invalid-utf8", "value"),
        (lambda: sr.SessionRef.from_structured({"agent": "codex"}), "bad-member", "reference"),
        (
            lambda: sr.SessionRef.from_structured({"agent": "a", "sessionId": "b", "x": 1}),
            "bad-member",
            "reference",
        ),
        (
            lambda: sr.SessionRef.from_structured({"agent": "a", "sessionId": 7}),
            "bad-member",
            "reference",
        ),
    ],
)
def test_parts_that_make_no_value_are_refused(
    build: Callable[[], object], code: str, component: str
):
    """Each bad part has its code and names its component, and the error pickles."""
    with pytest.raises(sr.InvalidReference) as caught:
        build()
    error = caught.value
    assert (error.code, error.component) == (code, component)
    assert error.span[0] <= error.span[1] <= len(error.text)
    assert pickle.loads(pickle.dumps(error)) == error


@pytest.mark.parametrize(
    "build",
    [
        lambda: sr.SessionRef(1, None, "x"),
        lambda: sr.SessionRef("a", 1, "x"),
        lambda: sr.SessionRef("a", None, b"x"),
        lambda: sr.SessionRef("a", None, "x", "r1"),
        lambda: sr.RecordRef(None),
        lambda: sr.Ref.from_raw(b"x"),
        lambda: sr.parse(b"codex:x"),
    ],
)
def test_what_is_no_text_is_a_type_error(build: Callable[[], object]):
    """A mistake in the program is no bad reference."""
    with pytest.raises(TypeError):
        build()


def test_a_str_subclass_becomes_a_plain_str():
    """What a value holds has no behaviour of its own."""

    class Loud(str):
        __slots__ = ()

        def __eq__(self, other: object) -> bool:
            return True

        __hash__ = str.__hash__

    ref = sr.SessionRef(Loud("codex"), Loud("n"), Loud("x"), sr.TurnRef(Loud("t")))
    assert {type(p) for p in (ref.agent, ref.namespace, ref.session_id, ref.ref.turn_id)} == {str}


def test_a_key_builds_references_and_file_names():
    """at() goes from the key back to a reference; file_stem() is safe and never shortened."""
    key = sr.SessionKey("com.openai.codex", None, "a/b:c")
    assert key.agent == "codex"
    assert str(key) == "codex:a/b%3Ac"
    assert key.at(sr.TurnRef("t")) == sr.parse("codex:a/b%3Ac#turnId=t")
    assert key.at() == sr.parse("codex:a/b%3Ac")
    assert key.file_stem() == "codex-" + key.digest()[7:]
    assert len(key.file_stem()) == 6 + 64


def test_a_key_under_another_registry_takes_its_name():
    """An overlay decides names only where it is passed."""

    class Names:
        def canonical_name(self, name: str) -> str:
            return {"com.example.mine": "mine"}.get(name, name)

    ref = sr.parse("com.example.mine:x")
    assert ref.key.canonical() == "com.example.mine:x"
    assert ref.key_under(Names()).canonical() == "mine:x"
    assert sr.parse("mine:x").key == ref.key_under(Names())


def test_every_public_name_can_be_had_and_no_other():
    """The lazy package answers for each name of __all__, lists them, and refuses others."""
    for name in sr.__all__:
        assert getattr(sr, name) is getattr(sr, name)
    assert set(sr.__all__) <= set(dir(sr))
    assert set(sr.__all__) == set(sr._HOME)
    with pytest.raises(AttributeError):
        sr.nothing  # noqa: B018


@pytest.mark.parametrize(
    "function", [sr.parse, sr.try_parse, sr.check, sr.canonical, sr.is_canonical, sr.digest]
)
@pytest.mark.parametrize("value", [None, 7, b"codex:a", ["codex:a"]])
def test_what_is_no_text_is_a_type_error_that_says_so(function, value):
    """The message names what was expected and what was given."""
    with pytest.raises(TypeError, match=f"a reference is a str, not {type(value).__name__}"):
        function(value)


def test_the_package_lists_its_public_names_alone():
    """`dir` shows what is public, and no helper of the module."""
    assert [name for name in dir(sr) if not name.startswith("__")] == sorted(sr.__all__)


def test_refs_of_all_kinds_are_sorted_together():
    """Records come first, then entities, then turns; what is no ref has no order with them."""
    record, entity, turn = sr.RecordRef("z"), sr.EntityRef("callId", "a"), sr.TurnRef("a")
    assert sorted([turn, entity, record]) == [record, entity, turn]
    assert record < turn
    assert turn >= entity
    with pytest.raises(TypeError):
        sorted([record, "z"])


def test_a_canonical_form_is_a_plain_text():
    """A member of an enumeration of texts prints its name; its canonical form does not."""

    class Known(enum.StrEnum):
        HERE = "codex:s1"

    assert type(sr.canonical(Known.HERE)) is str
    assert type(sr.canonical("codex:s1#r1")) is str


def test_a_key_is_pickled_with_the_agent_that_it_has():
    """Under a registry the agent has another name, and the built-in one does not change it back."""
    entry = {
        "short_name": {"value": "codex", "source": "assumed"},
        "reverse_dns_name": {"value": "org.example.codex", "source": "assumed"},
        "replaces": "codex",
    }
    registry = sr.Registry.default().with_agent(entry)
    key = sr.parse("com.openai.codex:s1").key_under(registry)
    assert key.agent == "com.openai.codex"
    assert pickle.loads(pickle.dumps(key)) == key
