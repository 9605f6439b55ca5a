"""What users of software like this one reported, about references: one test for each entry.

R entries are situations, the others complaints about libraries; each is named by its identifier.
"""

from __future__ import annotations

import pickle
import re
from pathlib import Path
from urllib.parse import quote, unquote

import pytest

import sessionref as sr

CONTROLS = [chr(c) for c in (*range(0x20), *range(0x7F, 0xA0))]


def code_of(text: str) -> str:
    with pytest.raises(sr.InvalidReference) as caught:
        sr.parse(text)
    return caught.value.code


def test_R_01_a_name_with_colon_and_space_survives():
    """What is built parses back."""
    key = sr.SessionKey("x.y", None, "Fix: item")
    assert key.canonical() == "x.y:Fix%3A%20item"
    assert sr.parse(key.canonical()).session_id == "Fix: item"


def test_R_02_what_looks_encoded_is_encoded_and_decoded_once():
    """A native ID with a literal %3A is another ID than one with a colon."""
    assert sr.SessionKey("x.y", None, "a%3Ab").canonical() == "x.y:a%253Ab"
    assert sr.parse("x.y:a%253Ab").session_id == "a%3Ab"


def test_R_04_two_sources_never_share_one_string():
    """Where a component ends is always seen."""
    one, two = sr.SessionKey("x", "a", "b:c"), sr.SessionKey("x", "a:b", "c")
    assert one.canonical() == "x:a:b%3Ac"
    assert two.canonical() == "x:a%3Ab:c"


def test_R_05_complaint_2_exactly_one_set_is_encoded():
    """%, :, #, space, C0, DEL and C1 are encoded in canonical form, and nothing else is."""
    must = {*CONTROLS, *"%:# "}
    for code in (*range(0x3000), *range(0xD7F0, 0xD800), *range(0xE000, 0xE010), 0xFFFE, 0x10FFFF):
        character = chr(code)
        text = sr.SessionKey("x", None, character).canonical()[2:]
        octets = "".join(f"%{octet:02X}" for octet in character.encode())
        assert text == (octets if character in must else character)
    assert sr.SessionKey("x", None, "\x85\xa0").canonical() == "x:%C2%85\xa0"


@pytest.mark.parametrize("text", ["x:100%", "x:%G1"])
def test_R_07_a_lone_percent_sign_is_no_reference(text: str):
    """A literal % is written %25."""
    assert sr.SessionKey("x", None, "100%").canonical() == "x:100%25"
    assert code_of(text) == "bad-percent-encoding"


def test_R_08_complaint_4_the_encoder_takes_raw_values_only():
    """A value that looks encoded is encoded again, and comes back as it was."""
    key = sr.SessionKey("codex", None, "thread%3Ax")
    assert key.canonical() == "codex:thread%253Ax"
    assert sr.parse(key.canonical()).session_id == "thread%3Ax"


def test_R_10_a_reference_in_a_url_is_encoded_on_top():
    """# is encoded, / and ? stand raw, so a URL needs its own encoding, which undoes cleanly."""
    text = sr.SessionKey("codex", None, "nested/s#1?%").canonical()
    assert text == "codex:nested/s%231?%25"
    assert unquote(quote(text, safe="")) == text


def test_R_11_a_native_id_with_colons_is_opaque():
    """It is encoded whole, and a reference has two or three parts, never more."""
    native = "agent:pilot:x:main"
    text = sr.SessionKey("openclaw", None, native).canonical()
    assert text == "openclaw:agent%3Apilot%3Ax%3Amain"
    assert sr.parse(text).session_id == native
    assert code_of("openclaw:" + native) == "too-many-components"


@pytest.mark.parametrize("native", ["a:b", "a/b", "..", "CON", "a\\b", "x" * 500, "ü"])
def test_R_13_the_digest_serves_as_a_file_name(native: str):
    """Whatever the ID holds, its file name is plain, and as long as any other."""
    stem = sr.SessionKey("codex", None, native).file_stem()
    assert re.fullmatch(r"codex-[0-9a-f]{64}", stem)
    assert Path(stem).name == stem


@pytest.mark.parametrize(
    ("text", "code", "component"),
    [
        ("codex::abc", "empty-component", "namespace"),
        ("agent:main::tail", "too-many-components", "reference"),
        (":abc", "bad-agent-name", "agent"),
        ("codex:", "empty-component", "session-id"),
        ("codex:ns:", "empty-component", "session-id"),
    ],
)
def test_R_14_empty_parts_are_refused(text: str, code: str, component: str):
    """An empty namespace is not an absent one (ASR-061)."""
    with pytest.raises(sr.InvalidReference) as caught:
        sr.parse(text)
    assert (caught.value.code, caught.value.component) == (code, component)


@pytest.mark.parametrize(
    ("text", "code", "rule", "span"),
    [
        ("codex:%zz", "bad-percent-encoding", "ASR-061", (6, 9)),
        ("codex:%", "bad-percent-encoding", "ASR-061", (6, 7)),
        ("codex:%C3", "invalid-utf8", "ASR-060", (6, 9)),
    ],
)
def test_R_16_malformed_octets_are_a_typed_error(
    text: str, code: str, rule: str, span: tuple[int, int]
):
    """With rule and place, never another exception."""
    with pytest.raises(sr.InvalidReference) as caught:
        sr.parse(text)
    assert (caught.value.code, caught.value.rule, caught.value.span) == (code, rule, span)


def test_R_17_complaint_22_an_id_with_a_lone_surrogate_has_no_reference():
    """It is refused in building and in parsing, and never replaced."""
    with pytest.raises(sr.InvalidReference) as caught:
        sr.SessionKey("claude-code", None, "s\ud800")
    assert caught.value.code == "surrogate"
    assert code_of("claude-code:s\ud800") == "surrogate"
    assert str(caught.value).encode()  # the message itself can be printed


def test_R_19_references_are_built_from_parts():
    """No part can slip into the place of another."""
    ref = sr.SessionRef("codex", "a:b", "c", sr.EntityRef("callId", "d#e"))
    assert str(ref) == "codex:a%3Ab:c#callId=d%23e"


def test_R_20_what_is_copied_is_the_whole_reference():
    """The short ID alone finds nothing; the canonical form does."""
    key = sr.SessionKey("claude-code", "0f3c2a7e", "aac57f5")
    assert str(key) == "claude-code:0f3c2a7e:aac57f5"
    assert code_of("aac57f5") == "missing-session-id"


def test_I_07_whole_ids_are_compared():
    """IDs that share their first characters have different keys and file names."""
    one = sr.SessionKey("claude-code", None, "agent-aa11")
    two = sr.SessionKey("claude-code", None, "agent-aa22")
    assert one != two
    assert one.file_stem() != two.file_stem()


def test_I_16_ids_of_two_machines_are_kept_apart_by_a_namespace():
    """One ID in two installations is two sessions, two texts and two file names (ASR-054)."""
    one, two = (sr.SessionKey("goose", name, "20260101_1") for name in ("host-1", "host-2"))
    assert one != two
    assert one.canonical() != two.canonical()
    assert one.file_stem() != two.file_stem()


def test_complaint_1_what_is_built_can_be_parsed():
    """A session ID with colon, space and angle brackets."""
    text = str(sr.SessionRef("codex", None, "Foo: <Bar>"))
    assert text == "codex:Foo%3A%20<Bar>"
    assert sr.parse(text).session_id == "Foo: <Bar>"


def test_complaint_5_canonical_is_idempotent():
    """A double encoding stays a double encoding."""
    once = sr.canonical("codex:a%252Bb")
    assert once == "codex:a%252Bb"
    assert sr.canonical(once) == once


def test_complaint_6_an_encoded_percent_stays_encoded():
    """%25 is the one percent sign that stands in a canonical text for itself."""
    assert sr.parse("codex:100%25").session_id == "100%"
    assert sr.canonical("codex:100%25") == "codex:100%25"


def test_complaint_8_plus_is_plus():
    """+ is never a space, encoded or not."""
    assert sr.parse("codex:x+y%2Bz").session_id == "x+y+z"
    assert sr.canonical("codex:x+y%2Bz") == "codex:x+y+z"


def test_complaint_9_a_trailing_percent_sign_has_its_place():
    """The last % is at fault, before the octets that are no UTF-8."""
    found = sr.check("codex:%F0%")
    assert [(error.code, error.span) for error in found] == [
        ("bad-percent-encoding", (9, 10)),
        ("invalid-utf8", (6, 9)),
    ]


@pytest.mark.parametrize(
    ("text", "span"), [("codex:a%2g", (7, 10)), ("codex:a%", (7, 8)), ("codex:a%4", (7, 9))]
)
def test_complaint_10_the_span_is_the_bad_triplet(text: str, span: tuple[int, int]):
    """From the % to what should have been its digits."""
    with pytest.raises(sr.InvalidReference) as caught:
        sr.parse(text)
    assert (caught.value.code, caught.value.span) == ("bad-percent-encoding", span)


@pytest.mark.parametrize("octets", ["Ver%F6", "%ED%A0%80", "%ED%BF%BF", "%C0%AF", "%F5%80%80%80"])
def test_complaint_12_13_octets_that_are_no_utf8_are_refused(octets: str):
    """Latin-1, encoded surrogates, overlong forms and what lies beyond Unicode."""
    assert code_of("codex:" + octets) == "invalid-utf8"


def test_complaint_14_hex_digits_are_read_in_either_case():
    """And written in upper case."""
    assert sr.parse("codex:a%3ab") == sr.parse("codex:a%3Ab")
    assert sr.canonical("codex:a%3ab") == "codex:a%3Ab"


def test_complaint_16_an_octet_has_two_digits():
    """A newline is %0A."""
    assert sr.SessionKey("codex", None, "\n").canonical() == "codex:%0A"


def test_complaint_17_a_literal_escape_survives():
    """An ID that reads a%20b is not a space."""
    assert str(sr.SessionRef("codex", None, "a%20b")) == "codex:a%2520b"
    assert sr.parse("codex:a%2520b").session_id == "a%20b"


def test_complaint_18_needless_encoding_does_not_matter():
    """Same reference, same hash, same canonical form."""
    one, two = sr.parse("codex:%7Ef"), sr.parse("codex:~f")
    assert one == two
    assert hash(one) == hash(two)
    assert one.key.canonical() == two.key.canonical() == "codex:~f"


@pytest.mark.parametrize("text", ["codex:abc\n", "codex\n:abc", "codex:abc#r\n", "codex:abc\r\n"])
def test_complaint_19_no_newline_slips_through(text: str):
    """Matching ends where the text ends."""
    assert sr.try_parse(text) is None


@pytest.mark.parametrize("raw", [" a", "a\n", "a:b", "%", "\x85", "é", "\ufffe"])
def test_complaint_21_parser_and_builder_accept_the_same(raw: str):
    """What the constructor takes, its text parses to, and so do replace and a pickle."""
    built = sr.SessionRef("codex", None, raw)
    assert (
        sr.parse(str(built)) == built.replace(session_id=raw) == pickle.loads(pickle.dumps(built))
    )


def test_complaint_23_nothing_is_normalized():
    """Composed and decomposed é name two sessions (ASR-051)."""
    assert sr.parse("codex:\u00e9") != sr.parse("codex:e\u0301")


@pytest.mark.parametrize("text", ["cod٣x:1", "x:%٤١", "x:%\uff14\uff11"])
def test_complaint_25_only_ascii_digits_are_digits(text: str):
    """In agent names and in percent-encoding."""
    assert sr.try_parse(text) is None


def test_complaint_26_four_relations_have_four_expressions():
    """Same text, same reference, same session; the fourth takes a registry."""
    one, two = sr.parse("codex:a%2Db#r1"), sr.parse("com.openai.codex:a-b#r1")
    assert str(one) != str(two)
    assert one == two
    assert one.at(None) != two
    assert one.key == two.at(None).key


def test_complaint_27_a_short_name_is_its_reverse_dns_name():
    """ASR-058, with one digest for both."""
    assert sr.parse("com.openai.codex:1") == sr.parse("codex:1")
    assert sr.digest("com.openai.codex:1") == sr.digest("codex:1")
    assert sr.canonical("com.openai.codex:1") == "codex:1"


@pytest.mark.parametrize("text", ["com.openai.codex:a%2db", "codex:a%2Db", "codex:%61-b"])
def test_complaint_28_equal_values_have_equal_hashes(text: str):
    """Alias, hex case and needless encoding change neither."""
    one, two = sr.parse(text), sr.parse("codex:a-b")
    assert one == two
    assert hash(one) == hash(two)
    assert hash(one.key) == hash(two.key)


def test_complaint_32_pickles_of_this_release_still_load():
    """A pickle holds the constructor and the text, and no state that could go stale."""
    old = b"csessionref.reference\nparse\n(Vcodex:a%3Ab#callId=c\ntR."
    assert pickle.loads(old) == sr.parse("codex:a%3Ab#callId=c")
    key = b"csessionref.reference\nSessionKey\n(Vcodex\nNVx\ntR."
    assert pickle.loads(key) == sr.SessionKey("codex", None, "x")


@pytest.mark.parametrize(
    ("text", "code", "component"),
    [
        ("agent::id", "empty-component", "namespace"),
        (":id", "bad-agent-name", "agent"),
        ("codex:", "empty-component", "session-id"),
        ("codex", "missing-session-id", "session-id"),
        ("a:b:c:d", "too-many-components", "reference"),
        ("codex:a#", "empty-ref", "ref"),
        ("codex:a##b", "forbidden-character", "record-id"),
        ("codex:a#x=y", "unknown-entity-key", "key"),
        ("codex:a#=y", "unknown-entity-key", "key"),
        ("codex:a#callId=", "empty-value", "value"),
        ("codex:a#r%31", "unencodable-record-id", "record-id"),
        ("codex:a#r\ud800", "surrogate", "record-id"),
        ("codex:a b", "forbidden-character", "session-id"),
        ("", "empty", "reference"),
    ],
)
def test_complaint_33_each_invalid_reference_has_its_own_code(text: str, code: str, component: str):
    """One fault, one finding, one code and one component."""
    (error,) = sr.check(text)
    assert (error.code, error.component) == (code, component)


def test_complaint_36_three_functions_and_no_flags():
    """Parse raises, try_parse gives None, check gives all there is to say."""
    assert sr.try_parse("codex:") is None
    assert [error.code for error in sr.check("Codex: #")] == [
        "bad-agent-name",
        "forbidden-character",
        "empty-ref",
    ]
    assert sr.check("codex:x") == ()


def test_complaint_38_all_bad_texts_are_reported_with_their_index():
    """Not only the first."""
    found = list(sr.check_all(["codex:", "codex:ok", "x", "y z:"]))
    assert [index for index, _ in found] == [0, 2, 3, 3]


def test_complaint_39_40_the_codes_are_published():
    """Every code that an error can carry is in CODES, with a line of explanation."""
    assert all(sr.CODES.values())
    assert all(re.fullmatch(r"[a-z0-9-]+", code) for code in sr.CODES)


def test_complaint_41_no_foreign_type_reaches_a_user():
    """An error's chain ends in the error itself."""
    with pytest.raises(sr.InvalidReference) as caught:
        sr.parse("codex:%ff")
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_complaint_43_errors_pickle():
    """Code, rule, component, span and text come through; equal errors hash alike."""
    (error,) = sr.check("codex:%zz")
    again = pickle.loads(pickle.dumps(error))
    assert (again.code, again.rule, again.component, again.span, again.text) == (
        error.code,
        error.rule,
        error.component,
        error.span,
        error.text,
    )
    assert hash(again) == hash(error)
    assert again != "codex:%zz"


def test_complaint_49_a_reference_is_no_str():
    """Encoders see an object of its own type."""
    assert not isinstance(sr.parse("codex:x"), str)


@pytest.mark.parametrize(
    "text",
    [
        "codex:" + "a" * 10_000_000,
        "codex:" + "%41" * 3_000_000,
        "codex:" + "%C3%A9" * 1_500_000 + "#callId=" + "é" * 1_000_000,
        "a-" * 5_000_000 + "a:x",
    ],
    ids=["raw", "ascii-octets", "octets", "agent"],
)
def test_ten_megabytes_of_reference_are_parsed(text: str):
    """Length alone is no fault."""
    ref = sr.parse(text)
    assert sr.parse(str(ref)) == ref


@pytest.mark.parametrize(
    "text",
    [
        "codex:" + "a" * 10_000_000 + " ",
        "a-" * 5_000_000 + ":x",
        "codex:" + "%" * 2_000_000,
        "codex:" + "%FF" * 1_000_000,
        ":" * 1_000_000,
        "codex:x" + "#" * 10_000_000,
        "codex:x#callId=" + "\ud800" * 1_000_000,
    ],
    ids=["end", "agent", "percent", "octets", "colons", "hashes", "surrogates"],
)
def test_ten_megabytes_of_fault_are_refused(text: str):
    """Hostile texts cost linear time, and their message stays short."""
    with pytest.raises(sr.InvalidReference) as caught:
        sr.parse(text)
    assert len(str(caught.value)) < 2_000


def test_the_caret_stands_under_the_place():
    """Controls are shown escaped and long texts cut, and the caret is still under the fault."""
    (error,) = sr.check("codex:" + "a" * 100 + "\x1b[31m" + "b" * 100)
    lines = str(error).splitlines()
    assert "\x1b" not in lines[1]
    at = lines[2].index("^")
    assert lines[1][at:].startswith("\\x1b")
    assert lines[2].strip() == "^" * 4
    assert lines[1].strip().startswith("…")
    assert lines[1].endswith("…")
