"""Lines to records: what is wrong with a line is found, and the rest read."""

from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sessionref as sr
from sessionref.streams.decode import LineDecoder
from sessionref.streams.json import BadJson
from sessionref.streams.lines import Lines
from sessionref.streams.observe import attribute, held

GOOD = b'{"type":"note","seq":1,"id":"r1"}\n'
LAST = b'{"type":"note","seq":9,"id":"r9"}\n'


def bad(text: str | bytes) -> bytes:
    return (text.encode() if isinstance(text, str) else text) + b"\n"


@pytest.mark.parametrize(
    ("line", "found", "kept"),
    [
        ("{", "not-json", False),
        ('{"type":"note","type":"note","seq":2,"id":"r2","turnId":null}', "duplicate-member", True),
        ('{"type":"note","seq":2,"id":"r2"', "not-json", False),
        ('{"type":"note","seq":2,"id":"r2"} {}', "not-json", False),
        ('{"type":"note","seq":2,"id":"r2","x":NaN}', "not-json", False),
        ('{"type":"note","seq":2,"id":"r2","x":01}', "not-json", False),
        ("[1]", "not-object", False),
        ("7", "not-object", False),
        ("null", "not-object", False),
        ("{}", "missing-member", False),
        ('{"type":"note","id":"r2"}', "missing-member", False),
        ('{"type":"note","seq":7.0,"id":"r2"}', "bad-member", False),
        ('{"type":"note","seq":true,"id":"r2"}', "bad-member", False),
        ('{"type":"note","seq":"2","id":"r2"}', "bad-member", False),
        ('{"type":"note","seq":null,"id":"r2"}', "bad-member", False),
        ('{"type":"note","seq":9223372036854775808,"id":"r2"}', "bad-member", False),
        ('{"type":"note","seq":' + "9" * 5000 + ',"id":"r2"}', "bad-member", False),
        ('{"type":"note","seq":2,"id":7}', "bad-member", False),
        ('{"type":null,"seq":2,"id":"r2"}', "bad-member", False),
        ('{"type":"note","seq":2,"id":"r2","turnId":7}', "bad-member", True),
        ('{"type":"note","seq":2,"id":"r2","supersedes":["r1"]}', "bad-member", True),
        ('{"type":"note","seq":2,"id":"r2","seq":2}', "duplicate-member", True),
        ('{"type":"note","seq":2,"id":"r2","\\u0069d":"r2"}', "duplicate-member", True),
        ('{"type":"note","seq":2,"id":"r2","turnId":"a","turnId":"a"}', "duplicate-member", True),
        ('{"type":"note", "seq":2, "id":"r2", "id":"r2"}', "duplicate-member", True),
        ('{"type":"note","seq":2,"id":"r2","turnId":"\\ud800"}', "lone-surrogate", True),
        ('{"type":"note","seq":2,"id":"r2","turnId":"\\udfff"}', "lone-surrogate", True),
        (b'{"type":"note","seq":2,"id":"r2","turnId":"\xff"}', "bad-utf8", True),
        (b'{"type":"note","seq":2,"id":"r2","turnId":"\xed\xa0\x80"}', "bad-utf8", True),
        ('{"type":"note","seq":2,"id":"r2"}\0\0', "nul-bytes", True),
        ('\0\0{"type":"note","seq":2,"id":"r2"}', "nul-bytes", True),
        ('{"type":\0\0{"type":"note","seq":2,"id":"r2"}', "nul-bytes", True),
        ("\0" * 500, "nul-bytes", False),
        ('\0{"type":"note","no seq":2,"id":"r2"}', "nul-bytes", False),
        ("", "blank-line", False),
        (" \t ", "blank-line", False),
        ('{"type":"note","seq":2,"id":"r2"}\r', "crlf", True),
    ],
)
def test_a_bad_line_is_one_finding(index, codes, line, found, kept):
    """The fault is one finding at its line; the record stays where it can; the rest is read."""
    read = index(GOOD, bad(line), LAST)
    assert codes(read) == [(found, 3)]
    assert [hit.id for hit in read] == ["h", "r1", *(["r2"] if kept else []), "r9"]
    assert [hit.line for hit in read if hit.id == "r9"] == [4]


@pytest.mark.parametrize(
    "line",
    [
        '{"type":"note","seq":2,"id":"r2","turnId":null,"supersedes":null}',
        '{ "type" : "note" , "seq" : 2 , "id" : "r2" }',
        '{"type": "note", "seq": 2, "id": "r2", "x": [1, 2]}',
        '  {"type":"note","seq":2,"id":"r2"}  ',
        '{"type":"note","seq":2,"id":"r\\u0032"}',
        '{"type":"note","seq":-0,"id":"r2","x":"\\ud83d\\ude00"}',
        '{"id":"r2","vendor":{"id":1,"id":2},"seq":2,"type":"note","x":1e999,"y":9,"\\u00e9":1}',
        '{"type":"note","seq":2,"id":"r2","a":{"type":"x","seq":true,"id":null}}',
        '{"type":"note","seq":2,"id":"r2","other":1,"other":2}',
    ],
)
def test_a_good_line_is_no_finding(index, codes, line):
    """What JSON allows is read, however it is written; members not needed may be anything."""
    read = index(GOOD, bad(line), LAST)
    assert codes(read) == []
    assert [hit.id for hit in read] == ["h", "r1", "r2", "r9"]


def test_skipped_members_may_hold_what_has_no_text(index, codes):
    """A lone surrogate or invalid UTF-8 in a member that is not needed costs nothing here."""
    line = rb'{"type":"note","seq":2,"id":"r2","text":"\ud800x' + b'\xff","\xfe":1}\n'
    assert codes(index(GOOD, line, LAST)) == []
    assert codes(index(GOOD, line.replace(rb"\ud800", b""), LAST)) == []


@pytest.mark.parametrize("text", ["[", '{"a":'])
def test_deep_nesting_neither_crashes_nor_recurses(index, codes, text):
    """A hundred thousand levels are one finding; the lines around are read."""
    deep = text * 100_000
    closing = {"[": "]", '{"a":': "1" + "}"}[text][-1] * 100_000
    value = deep + ("1" if text != "[" else "") + closing
    line = bad('{"type":"note","seq":2,"id":"r2","x":' + value + "}")
    read = index(GOOD, line, bad(deep), LAST)
    assert codes(read) == [("too-deep", 3), ("too-deep", 4)]
    assert [hit.id for hit in read] == ["h", "r1", "r9"]


def test_a_header_too_deep_for_care_names_no_session(monkeypatch):
    """Where only the careful reader gives up, the header stays a record without a session."""

    def give_up(_):
        raise BadJson("too-deep")

    monkeypatch.setattr("sessionref.streams.header.load_object", give_up)
    data = b'{"type":"session","seq":0,"id":"h","agent":{"name":"codex"},"sessionId":"s"}\n'
    read = sr.StreamIndex.from_chunks([data])
    assert [finding.code for finding in read.findings] == ["too-deep"]
    assert (read.key, len(read)) == (None, 1)


def test_the_last_of_two_members_is_taken(index):
    """On both ways of reading the last one stands, and each doubled member has its finding."""
    read = index(b'{"type":"note","type":"hook","seq":1,"seq":2,"id":"a","id":"b"}\n')
    assert [(hit.type, hit.seq, hit.id) for hit in read][1:] == [("hook", 2, "b")]
    assert [finding.path for finding in read.findings] == ["$.type", "$.seq", "$.id"]


def test_an_id_without_utf8_form_is_shown_and_never_found(index):
    """The record stays in its turn under an escaped ID, which no ref reaches (section 8)."""
    read = index(
        rb'{"type":"note","seq":1,"id":"\ud800","turnId":"t"}' + b"\n",
        b'{"type":"note","seq":2,"id":"\xff","turnId":"t"}\n',
        rb'{"type":"\udc00","seq":3,"id":"r3","turnId":"t"}' + b"\n",
    )
    turn = read.resolve(sr.TurnRef("t"))
    assert [(hit.type, hit.id) for hit in turn.records] == [
        ("note", "\\ud800"),
        ("note", "\\xff"),
        ("\\udc00", "r3"),
    ]
    assert read.resolve(sr.RecordRef("\\ud800")) == sr.Unresolved("no-such-record", "codex:s1")
    assert [ref.raw() for ref in read.refs()] == ["h", "r3", "turnId=t"]


def test_equal_records_between_nuls_stand_at_their_offsets(tmp_path, stream):
    """Two records on one line, with NULs between, are two hits that can be fetched."""
    data = stream(GOOD[:-1] + b"\0\0" + LAST)
    (tmp_path / "f").write_bytes(data)
    read = sr.StreamIndex.read(tmp_path / "f")
    assert [read.fetch(hit) + b"\n" for hit in read][1:] == [GOOD, LAST]


WANTED = frozenset({"copiedFrom", "x y", "from"})


def test_wanted_members_are_held_as_json(line, record):
    """A member that is asked for is there with its bytes, one that no record has is not held."""
    lines = [
        line(record("n", 1, "r1")),
        line(record("n", 2, "r2", copiedFrom={"a": [1]}, **{"x y": [7], "from": "é", "to": 1})),
    ]
    decoder = LineDecoder(members=WANTED)
    for numbers in ([0, 1], [1], [0]):
        records = decoder.decode(Lines([lines[n] for n in numbers], 1, 0, True)).records
        wanted = frozenset({"copiedFrom", "x y", "from"}) if 1 in numbers else frozenset()
        assert held(records) == {"type", "seq", "id"} | wanted
        for number, one in zip(numbers, records, strict=True):
            found = [getattr(one, attribute(name)) for name in ("copiedFrom", "x y", "from")]
            if number:
                assert list(map(bytes, found)) == [b'{"a":[1]}', b"[7]", '"é"'.encode()]
            else:
                assert found == [msgspec.UNSET] * 3
    assert decoder.findings == []


def test_a_batch_of_many_different_members_is_read_the_same(line):
    """Names that no other record has cost nothing but time."""
    lines = [line({"type": "n", "seq": i, "id": f"r{i}", f"x{i}": "é"}) for i in range(900)]
    decoder = LineDecoder()
    records = decoder.decode(Lines(lines, 1, 0, True)).records
    assert [record.seq for record in records] == list(range(900))
    assert decoder.findings == []


@pytest.mark.parametrize(("one", "other"), [("turnId", "turn_id"), ("aB", "a_b"), ("from", "From")])
def test_each_member_has_an_attribute_of_its_own(one, other):
    """Names in camel case become attributes; any other name has one that none of those has."""
    assert attribute(one) != attribute(other)
    assert attribute("inferenceIdSource") == "inference_id_source"


def test_crlf_is_noted_once(stream, codes):
    """CR LF throughout is one notice at the first line; mixed endings change no ordinal."""
    data = stream(GOOD, LAST)
    read = sr.StreamIndex.from_chunks([data.replace(b"\n", b"\r\n")])
    assert codes(read) == [("crlf", 1)]
    assert [hit.line for hit in read] == [1, 2, 3]
    assert [hit.length for hit in read] == [
        hit.length for hit in sr.StreamIndex.from_chunks([data])
    ]
    mixed = stream(GOOD.replace(b"\n", b"\r\n"), LAST)
    assert codes(sr.StreamIndex.from_chunks([mixed])) == [("crlf", 2)]
    first = data.replace(b"\n", b"\r\n", 1)
    assert codes(sr.StreamIndex.from_chunks([first])) == [("crlf", 1)]


def test_a_very_long_record_does_not_keep_its_memory(line):
    """The buffer of a batch is given back when one line has made it large."""
    decoder = LineDecoder()
    big = line({"type": "n", "seq": 1, "id": "r", "content": "x" * 5_000_000})
    assert decoder.decode(Lines([big], 1, 0, True)).lengths == [len(big) - 1]
    assert decoder.decode(Lines([GOOD], 2, 0, True)).lengths == [len(GOOD) - 1]


NAMES = ["type", "seq", "id", "turnId", "messageId", "supersedes", "ts", "x"]
VALUES = ["1", '"a"', '"b"', "null", "7.0", '"\\ud800"', '"\\udc00"', '"\\u0061"', "[{}]", '"\\/"']


@given(
    pairs=st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(VALUES)), max_size=6),
    separators=st.sampled_from([(",", ":"), (", ", ": "), (" ,", " : ")]),
    rest=st.sampled_from(["", "\r", "\0", " "]),
    neighbours=st.booleans(),
)
def test_both_ways_of_reading_agree(pairs, separators, rest, neighbours):
    """Whatever a line holds, its neighbours and its spacing do not change what is read of it."""
    comma, colon = separators
    pairs = [("type", '"note"'), ("seq", "3"), ("id", '"r3"'), *pairs]
    text = "{" + comma.join(f'"{name}"{colon}{value}' for name, value in pairs) + "}" + rest
    line = text.encode() + b"\n"
    lines = [GOOD, line, LAST] if neighbours else [line]
    decoder = LineDecoder()
    decoded = decoder.decode(Lines(lines, 5, 0, True))
    found = sorted(f"{finding.code} {finding.path}" for finding in decoder.findings)

    values = dict(pairs)
    wanted = {f"duplicate-member $.{n}" for n in NAMES[:6] if [a for a, _ in pairs].count(n) > 1}
    wanted |= {"crlf None"} if rest == "\r" else {"nul-bytes None"} if rest == "\0" else set()
    lost = False
    for name in NAMES[:6]:
        value = json.loads(values.get(name, "null"))
        if name in values and (value is not None or name in NAMES[:3]):
            kind = int if name == "seq" else str
            if type(value) is not kind:
                wanted.add(f"bad-member $.{name}")
                if name in NAMES[:3]:
                    lost = True
                    break
            elif kind is str and any(0xD800 <= ord(c) < 0xE000 for c in value):
                wanted.add(f"lone-surrogate $.{name}")
    if lost:  # what stands behind the fault that costs the record is not looked at
        assert set(found) <= wanted
        assert any(code.startswith("bad-member") for code in found)
    else:
        assert found == sorted(wanted)
    assert len(decoded.records) == len(lines) - lost


@given(st.binary(max_size=80) | st.text(max_size=60).map(lambda s: s.encode("utf-8", "ignore")))
def test_no_line_raises(data):
    """Arbitrary bytes give records and findings, never an error."""
    read = sr.StreamIndex.from_chunks([GOOD, data, b"\n", LAST])
    assert [hit.id for hit in read][:: len(read) - 1 or 1][:1] == ["r1"]
    assert "r9" in [hit.id for hit in read]


@pytest.mark.parametrize("levels", [511, 512])
@pytest.mark.parametrize("layout", [",", ", "])
def test_512_levels_are_read_and_no_more(index, codes, levels, layout):
    """The record itself is the first level; spacing and neighbours do not matter."""
    deep = "[" * levels + '"]"' + "]" * levels
    line = bad(layout.join(('{"type":"note"', '"seq":2', '"id":"r2"', f'"x":{deep}}}')))
    wanted = [] if levels < 512 else [("too-deep", 3)]
    assert codes(index(GOOD, line, LAST)) == wanted
    assert codes(index(GOOD, line.replace(b"2", b'2,"seq":2', 1), LAST)) == (
        wanted or [("duplicate-member", 3)]
    )
