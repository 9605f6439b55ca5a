"""Careful JSON: whatever the bytes are, a value or one error."""

from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessionref.streams.json import (
    UNREADABLE,
    BadJson,
    canonical,
    convert,
    escaped,
    is_deeper,
    json_path,
    load,
    load_object,
    raw_members,
    text_of,
    tokens,
    value,
)

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=20,
)


def nested(levels: int, inner: bytes = b"") -> bytes:
    return b"[" * levels + inner + b"]" * levels


def test_members_are_read_with_their_repetitions():
    """Of members that occur twice the last is taken, and each object knows its own."""
    members = load_object(b'{"a":1,"b":{"c":1,"c":2},"a":3}')
    assert (members["a"], members.repeated, members.bad_utf8) == (3, {"a"}, False)
    assert (members["b"], members["b"].repeated) == ({"c": 2}, {"c"})


def test_bytes_that_are_not_utf8_become_surrogates():
    """They are told apart from surrogates that were escaped."""
    members = load_object(b'{"a":"x\xff"}')
    assert (members["a"], members.bad_utf8) == ("x\udcff", True)
    assert load_object(b'{"a":"\\udcff"}').bad_utf8 is False
    assert escaped("a\udcffb\ud800", bytes_too=True) == "a\\xffb\\ud800"
    assert escaped("a\udcff") == "a\\udcff"


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "not-json"),
        (b"{", "not-json"),
        (b"[NaN]", "not-json"),
        (b"{}{}", "not-json"),
        (b"\xff", "not-json"),
        (b"[1]", "not-object"),
        (nested(513), "too-deep"),
        (b"{" + b'"a":[' * 100_000, "too-deep"),
    ],
)
def test_what_is_not_an_object(data, code):
    """The error says what the text is instead."""
    with pytest.raises(BadJson) as caught:
        load_object(data)
    assert caught.value.code == code


@pytest.mark.parametrize("levels", [1, 2, 511, 512, 513, 100_000])
def test_depth_is_counted_outside_of_strings(levels):
    """Brackets in strings, and beside each other, are no depth."""
    data = nested(levels - 1, rb'{"[\"[[":"' + b"[" * 600 + b'"},' + b"[]," * 600 + b"[]")
    assert is_deeper(data) is (levels > 512)
    assert is_deeper(b'"' + b"[" * 9000) is False


def test_a_number_of_any_length_is_json():
    """Beyond 640 digits it is out of every bound."""
    assert load(b"[" + b"9" * 5000 + b",12]") == [float("inf"), 12]


def test_without_room_for_calls_it_is_too_deep(monkeypatch):
    """Python's own bound comes first in a call that is itself deep; that is no crash."""

    def give_up(_text):
        raise RecursionError

    monkeypatch.setattr("sessionref.streams.json._careful", give_up)
    with pytest.raises(BadJson, match="too-deep"):
        load(b"{}")


@given(VALUES)
def test_a_value_is_what_was_written(one):
    """Whether text is escaped or not; `load` and `value` agree."""
    for ascii_only in (True, False):
        data = json.dumps(one, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
        assert value(data) == load(data)


def test_values_that_no_decoder_takes():
    """What is nested too deep is unreadable, and what is not JSON."""
    assert value(msgspec.Raw(nested(100_000))) is UNREADABLE
    assert value(msgspec.Raw(b'["\\ud800",' + nested(512) + b"]")) is UNREADABLE
    assert value(msgspec.Raw(b"{")) is UNREADABLE
    assert value(msgspec.Raw(b'["\\ud800"]')) == ["\ud800"]


def test_members_as_text():
    """Each as it is written; where msgspec refuses a name they are written anew."""
    for data, found in (
        (b'{"a": [1, 2]}', {"a": b"[1, 2]"}),
        (b'{"\\ud800":1,"a": [1, 2]}', {"\ud800": b"1", "a": b"[1, 2]"}),
    ):
        assert {name: bytes(raw) for name, raw in raw_members(data).items()} == found
    with pytest.raises(BadJson):
        raw_members(b"[]")


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (b'{"a":1,"b":"\\u0041"}', b'{ "b":"A", "a":1, "t":9}', True),
        (b'{"a":1}', b'{"a":"1"}', False),
        (b'{"a":"\\ud800","b":1}', b'{"b":1, "a":"\\uD800","t":1}', True),
        (b'{"a":"\xff"}', b'{"a":"\xfe"}', False),
        (b'{"a":"\xff","n":1}', b'{"a":"\xff","n":"1"}', False),
        (b'{"a":' + b"9" * 5000 + b"}", b'{"a": ' + b"9" * 5000 + b"}", True),
        (b'{"a":' + b"9" * 5000 + b"}", b'{"a":' + b"8" * 5000 + b"}", False),
        (b'{"a":' + nested(512) + b"}", b'{"a": ' + nested(512) + b"}", False),
        (b"{", b"{ ", False),
    ],
)
def test_equal_objects_are_equal_bytes(one, other, same):
    """But for what is left out; what cannot be read is equal to itself alone."""

    def change(members):
        members.pop("t", None)

    assert (canonical(one, change) == canonical(other, change)) is same
    assert canonical(one, change) == canonical(one, change)


class Shape(msgspec.Struct):
    a: str | None = None
    b: dict[str, int] | None = None


@pytest.mark.parametrize("loaded", [{"a": "x"}, {"a": "x", "\ud800": 1}])
def test_a_name_that_no_type_has_is_passed_over(loaded):
    """Also if msgspec cannot look it up."""
    assert convert(loaded, Shape) == Shape("x")


@pytest.mark.parametrize(
    "loaded", [["\ud800"], {"b": "\ud800"}, {"b": {"\ud800": "x"}}, {"\ud800": 1, "b": "\ud801"}]
)
def test_what_does_not_fit_is_a_validation_error(loaded):
    """Whatever text it holds."""
    with pytest.raises(msgspec.ValidationError):
        convert(loaded, Shape)


def test_tokens_and_what_they_stand_for():
    """Strings with their quotes, marks, and the rest."""
    data = b'{"a\\"":[1,true],"\xff":null}'
    assert [match[0] for match in tokens(data)][:4] == [b"{", b'"a\\""', b":", b"["]
    assert [text_of(match["text"]) for match in tokens(data) if match["text"]] == ['a"', "\udcff"]
    assert text_of(b'"open') is None
    assert text_of(b"7") is None


def test_paths():
    """Names that are no identifiers are quoted."""
    assert json_path(["a", 0, "b c", "it's"]) == "$.a[0]['b c']['it\\'s']"
