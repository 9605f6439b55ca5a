"""The strict pass: what nothing else looks at, in linear time and without recursion."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest
from check_streams import encoded, found, header
from hypothesis import given
from hypothesis import strategies as st

from sessionref.checks.places import locate
from sessionref.checks.strict import faults_of_line, strict_findings

_RECORD = b'{"type":"note","seq":1,"id":"r1"'


def faults(rest: bytes) -> list[tuple[str, str]]:
    return [(fault.code, fault.path) for fault in faults_of_line(_RECORD + rest + b"}")]


@pytest.mark.parametrize(
    ("rest", "expected"),
    [
        (b"", []),
        (b',"x":{"a":1,"b":[{"a":2}]}', []),
        (b',"x":1,"x":1', [("duplicate-member", "$.x")]),
        (b',"x":1,"x":2,"x":3', [("duplicate-member", "$.x")]),
        (b',"x":{"a":1,"a":1}', [("duplicate-member", "$.x.a")]),
        (b',"x":[0,{"y":[{"a":1,"a":1}]}]', [("duplicate-member", "$.x[1].y[0].a")]),
        (b',"x":{"a":1,"\\u0061":1}', [("duplicate-member", "$.x.a")]),
        (b',"x":{"a":{"b":1},"b":1}', []),
        (b', "x" : { "a" : 1 , "a" : 1 }', [("duplicate-member", "$.x.a")]),
        (b', "x": [1, 2, {}], "y": []', []),
        (b',"x":{"":1,"":2}', [("duplicate-member", "$.x['']")]),
        (b',"x":{"it\'s \\\\":1,"it\'s \\\\":2}', [("duplicate-member", "$.x['it\\'s \\\\']")]),
        (b',"x":"\xff"', [("bad-utf8", "$.x")]),
        (b',"x":{"\xff":1}', [("bad-utf8", "$.x['\\\\xff']")]),
        (b',"x":"\xed\xa0\x80"', [("bad-utf8", "$.x")]),
        (b',"x":["a","\\ud800"]', [("lone-surrogate", "$.x[1]")]),
        (b',"x":"\\udc00\\ud800"', [("lone-surrogate", "$.x")]),
        (b',"x":"\\uD83D\\uDE00"', []),
        (b',"x":"\\ud83d\\ude00","y":"\\\\ud800"', []),
        (b',"x":{"\\ud800":1}', [("lone-surrogate", "$.x['\\\\ud800']")]),
        (
            b',"x":"\\ud800","y":{"a":1,"a":2}',
            [
                ("lone-surrogate", "$.x"),
                ("duplicate-member", "$.y.a"),
            ],
        ),
        (b',"ts":4', [("bad-member", "$.ts")]),
        (b',"ts":null', []),
        (b',"usage":{"inputTokens":1.5}', [("bad-member", "$.usage.inputTokens")]),
        (b',"usage":{"inputTokens":true}', [("bad-member", "$.usage.inputTokens")]),
        (b',"x":"\xff","ts":4', [("bad-utf8", "$.x"), ("bad-member", "$.ts")]),
        (b',"x":1e400', []),
        (b',"x":1.0,"y":1e2,"z":-0', []),
        (b',"x":"a\\/b"', []),
        (b',"x":' + b"9" * 5000, []),
        (b',"x":{"a":1,"b":[{"a":2},{}]}', []),
        (b', "x" : { "a" : 1 , "b" : [ 2 ] }', []),
        (b',"x":"a\\/b\\u0041","y":1.0e2', []),
        (b',"x":[],"y":{"z":{}}', []),
        (b',"x": 1,"ts":4', [("bad-member", "$.ts")]),
        (b',"usage":{"\\ud800":1}', [("lone-surrogate", "$.usage['\\\\ud800']")]),
        (b',"cost":["\\ud800"]', [("lone-surrogate", "$.cost[0]"), ("bad-member", "$.cost")]),
    ],
)
def test_what_is_found_in_a_line(rest: bytes, expected: list[tuple[str, str]]) -> None:
    assert faults(rest) == expected


@pytest.mark.parametrize(
    "line", [b"", b"nope", b"[1,1]", b'"x"', b"7", b'{"a":NaN}', b'{"a":1', b'{"a":1}}', b"\xff"]
)
def test_what_is_no_record_is_left_to_the_reader(line: bytes) -> None:
    """A line that is no JSON object has its one finding from reading it."""
    assert faults_of_line(line) == []


@pytest.mark.parametrize(
    ("record", "path"),
    [
        ({"type": "session", "agent": "codex"}, "$.agent"),
        ({"type": "subagent", "agent": {"name": "codex"}}, "$.agent"),
        ({"type": "session", "derivedFrom": ["r1"]}, "$.derivedFrom"),
        ({"type": "message", "derivedFrom": {"digest": "x"}}, "$.derivedFrom"),
        ({"type": "rewind", "to": 4}, "$.to"),
        ({"type": "session_info", "heads": "r1"}, "$.heads"),
        ({"type": 4}, "$.type"),
    ],
)
def test_types_that_depend_on_the_record(record: dict[str, Any], path: str) -> None:
    line = json.dumps({"seq": 1, "id": "r", **record}, separators=(",", ":")).encode()
    assert [(f.code, f.path) for f in faults_of_line(line)] == [("bad-member", path)]
    # The same members are fine, or nothing known, on another type.
    if record["type"] != 4:
        other = json.dumps({**record, "type": "note", "seq": 1, "id": "r"}).encode()
        assert not [f for f in faults_of_line(other) if f.path == path]


def test_what_is_too_deep_is_left_to_the_reader() -> None:
    """The strict pass looks at what is read: 512 levels and no more."""
    inner = b'{"z":1,"z":2}'
    assert len(faults(b',"x":' + b"[" * 510 + inner + b"]" * 510)) == 1
    assert faults(b',"x":' + b"[" * 511 + inner + b"]" * 511) == []
    assert faults(b',"x":' + b'{"a":1,"a":' * 100_000 + inner + b"}" * 100_000) == []


def test_a_deep_line_that_is_no_json_ends_the_walk() -> None:
    assert faults_of_line(b'{"a":' * 100_000 + b"]") == []
    assert faults_of_line(b"[" * 100_000) == []
    assert faults_of_line(b'{"a":[' + b"[" * 100_000 + b',"x":') == []


def test_findings_name_the_record_and_its_session() -> None:
    stream = encoded([header("s1")]) + _RECORD + b',"x":{"a":1,"a":2},"ts":4}\n'
    second = encoded([header("s2")]) + b'{"type":"note","seq":"1","id":5,"x":1,"x":1}\n'
    findings = list(strict_findings([stream + second], "f"))
    assert [(f.code, f.session, f.seq, f.id, f.line, f.file, f.severity) for f in findings] == [
        ("duplicate-member", "codex:s1", 1, "r1", 2, "f", "warning"),
        ("bad-member", "codex:s1", 1, "r1", 2, "f", "error"),
        ("duplicate-member", "codex:s2", None, None, 4, "f", "warning"),
        ("bad-member", "codex:s2", None, None, 4, "f", "error"),
        ("bad-member", "codex:s2", None, None, 4, "f", "error"),
    ]
    assert findings[1].message == (
        "the member has a value of the wrong type: Expected `str | null`, got `int`"
    )


def test_a_header_at_fault_is_the_one_that_its_records_stand_under() -> None:
    line = b'{"type":"session","seq":0,"id":"h","agent":{"name":"codex"},"sessionId":"s","x":1,"x":2}\n'
    assert [f.session for f in strict_findings([line])] == ["codex:s"]
    assert [f.session for f in strict_findings([b'{"type":"session","x":1,"x":2}\n'])] == [None]
    # A line that only mentions the word is no header.
    other = b'{"type":"note","seq":1,"id":"session","x":1,"x":"session"}\n'
    assert [f.session for f in strict_findings([encoded([header("s1")]), other])] == ["codex:s1"]
    deep = b'{"x":"session","y":' + b"[" * 500 + b'{"a":1,"a":1}' + b"]" * 500 + b"}\n"
    assert [f.session for f in strict_findings([encoded([header("s1")]), deep])] == ["codex:s1"]


def test_a_number_beyond_all_bounds_hides_no_other_fault() -> None:
    """It is JSON, however many digits it has."""
    rest = b',"x":"\\ud800","y":' + b"9" * 5000
    assert faults(rest) == [("lone-surrogate", "$.x")]


@pytest.mark.parametrize(("depth", "shown"), [(18, 18), (19, 19), (20, 19), (40, 19)])
def test_a_long_path_is_shown_by_its_beginning_and_its_end(depth: int, shown: int) -> None:
    """Twenty members, and the last where there are more."""
    rest = b',"x":' + b'{"a":' * depth + b'{"z":1,"z":2}' + b"}" * depth
    path = "$.x" + ".a" * shown + (".z" if depth < 19 else "..z")
    assert faults(rest) == [("duplicate-member", path)]


@pytest.mark.parametrize(
    ("written", "seq"),
    [
        (str((1 << 63) - 1), (1 << 63) - 1),
        (str(1 << 63), None),
        (str(-(1 << 63)), -(1 << 63)),
        (str(-(1 << 63) - 1), None),
        ('{"a":5}', None),
        ("true", None),
        ("1.0", None),
    ],
)
@pytest.mark.parametrize("rest", ['"x":1,"x":2', '"ts":4'])
def test_a_finding_has_the_seq_that_can_be_one(written: str, seq: int | None, rest: str) -> None:
    """A number of 64 bits at the top of the record, whichever way the line was looked at."""
    line = f'{{"type":"note","seq":{written},"id":"r",{rest}}}\n'.encode()
    assert {(f.seq, f.id) for f in strict_findings([line])} == {(seq, "r")}


def test_an_id_is_the_member_of_the_record_itself() -> None:
    """What is below `id` or `seq` is none."""
    line = b'{"type":"note","seq":{"seq":1},"id":{"id":"q"},"x":1,"x":2}\n'
    assert {(f.seq, f.id) for f in strict_findings([line])} == {(None, None)}


def test_a_header_far_above_is_known_still() -> None:
    """Lines that nothing is wrong with are passed by fast; the header among them counts."""
    clean = encoded([header("s1"), {"type": "note", "seq": 1, "id": "r1"}]).replace(b" ", b"")
    bad = _RECORD + b',"x":1,"x":2}\n'
    other = encoded([header("s2")]).replace(b" ", b"")
    chunks = [clean, bad, other, bad]
    assert [(f.session, f.line) for f in strict_findings(chunks)] == [
        ("codex:s1", 3),
        ("codex:s2", 5),
    ]


@pytest.mark.parametrize(
    ("record", "path"),
    [
        ({"type": "session", "agent": "codex"}, "$.agent"),
        ({"type": "subagent", "agent": {"name": "codex"}}, "$.agent"),
        ({"type": "rewind", "to": 4}, "$.to"),
        ({"type": "usage", "covers": 4}, "$.covers"),
    ],
)
def test_types_that_depend_on_the_record_are_looked_at_in_any_line(
    record: dict[str, Any], path: str
) -> None:
    """Also where nothing else is odd about any line of the stream."""
    line = json.dumps({"seq": 1, "id": "r", **record}, separators=(",", ":")).encode() + b"\n"
    assert [(f.code, f.path) for f in strict_findings([line])] == [("bad-member", path)]


def test_a_byte_order_mark_stands_before_all_else_only() -> None:
    """Before the first line it is no part of it; before another it makes that no JSON."""
    bad = b"\xef\xbb\xbf" + _RECORD + b',"x":1,"x":2}\n'
    assert [f.line for f in strict_findings([bad + bad])] == [1]


def test_a_line_with_something_behind_its_object_is_no_json() -> None:
    """Reading the stream reports it; the strict pass has nothing to say."""
    assert list(strict_findings([_RECORD + b',"x":1,"x":2}_\n'])) == []


def test_bytes_come_as_they_are() -> None:
    """Compressed or not, with a byte-order mark, CR LF, NUL bytes, no last newline, any chunks."""
    bad = _RECORD + b',"x":1,"x":2}'
    plain = encoded([header("s1")]) + bad
    expected = [("duplicate-member", "$.x", 2)]
    for data in (
        plain,
        plain + b"\n",
        gzip.compress(plain),
        b"\xef\xbb\xbf" + plain,
        plain.replace(b"\n", b"\r\n"),
        plain.replace(bad, b"\0\0" + bad + b"\0"),
    ):
        pieces = [data[at : at + 7] for at in range(0, len(data), 7)]
        assert [(f.code, f.path, f.line) for f in strict_findings(pieces)] == expected


@pytest.mark.parametrize("end", [b"\n", b""])
def test_lines_as_machines_write_them_have_no_faults(end: bytes) -> None:
    """With a last newline or without, whatever types of records they are."""
    records = [
        header("s1", derivedFrom={"digest": "x"}),
        {"type": "note", "seq": 1, "id": "r1", "x": [1, "é", None]},
        {"type": "subagent", "seq": 2, "id": "r2", "agent": "codex"},
        {"type": "message", "seq": 3, "id": "r3", "derivedFrom": ["r1"]},
        {"type": "acme", "seq": 4, "id": "r4", "agent": {"x": 1}},
    ]
    lines = [json.dumps(r, separators=(",", ":"), ensure_ascii=False).encode() for r in records]
    assert list(strict_findings([b"\n".join(lines) + end])) == []


def test_a_line_beyond_the_bound_is_passed_over() -> None:
    lines = _RECORD + b',"x":"' + b"a" * 500 + b'","y":1,"y":2}\n' + _RECORD + b',"y":1,"y":2}\n'
    assert [f.line for f in strict_findings([lines], max_line=200)] == [2]


def test_what_reading_reports_is_not_said_twice() -> None:
    """Of one place there is one finding, whichever pass met it first."""
    stream = encoded([header("s1")]) + (
        b'{"type":"message","seq":1,"id":"r1","messageId":"m","messageId":"m"}\n'
        b'{"type":"message","seq":2,"id":"r2","messageId":"\\ud800"}\n'
        b'{"type":"message","seq":3,"id":"r3","messageId":"\xff"}\n'
        b'{"type":"message","seq":4,"id":"r4","messageId":4}\n'
    )
    assert [(f.code, f.path, f.id) for f in found(stream)] == [
        ("duplicate-member", "$.messageId", "r1"),
        ("lone-surrogate", "$.messageId", "r2"),
        ("bad-utf8", "$.messageId", "r3"),
        ("bad-member", "$.messageId", "r4"),
    ]


_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.lists(st.tuples(st.text(max_size=2), inner)).map(tuple),
    max_leaves=12,
)


def _written(value: Any, space: str) -> str:
    """JSON with objects made from tuples of pairs, whose names may repeat."""
    if isinstance(value, tuple):
        members = (f"{json.dumps(name)}:{space}{_written(inner, space)}" for name, inner in value)
        return "{" + f",{space}".join(members) + "}"
    if isinstance(value, list):
        return "[" + f",{space}".join(_written(inner, space) for inner in value) + "]"
    return json.dumps(value)


def _repeated(value: Any) -> int:
    """How many names stand more than once in an object, anywhere."""
    if isinstance(value, list):
        return sum(map(_repeated, value))
    if isinstance(value, tuple):
        names = [name for name, _ in value]
        return sum(names.count(name) > 1 for name in set(names)) + sum(
            _repeated(inner) for _, inner in value
        )
    return 0


def _surrogates(value: Any) -> bool:
    if isinstance(value, str):
        return any("\ud800" <= c <= "\udfff" for c in value)
    if isinstance(value, tuple):
        return any(_surrogates(name) or _surrogates(inner) for name, inner in value)
    return isinstance(value, list) and any(map(_surrogates, value))


@given(value=_values, space=st.sampled_from(["", " "]))
def test_repeated_members_are_found_wherever_they_are(value: Any, space: str) -> None:
    """As many as a slow recursive count gives."""
    line = f'{{"x":{_written(value, space)}}}'.encode()
    repeated = [f for f in faults_of_line(line) if f.code == "duplicate-member"]
    assert len(repeated) == _repeated(value)


@given(st.binary())
def test_any_bytes_are_looked_at_without_an_error(data: bytes) -> None:
    faults_of_line(data)
    list(strict_findings([data]))


@given(st.text(alphabet=st.characters(exclude_categories=[]), max_size=8))
def test_lone_surrogates_are_found_in_any_text(text: str) -> None:
    """Escapes as JSON writers make them, whatever stands beside."""
    line = b'{"x":' + json.dumps(text).encode() + b"}"
    lone = "\\u" in json.dumps(text) and _surrogates(json.loads(json.dumps(text)))
    assert bool(faults_of_line(line)) == lone


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("$.a", b'"a": 5'),
        ("$.b", b'"b":{"c":[1,{"d":"x"},[2,3]],"a":2}'),
        ("$.b.c", b'"c":[1,{"d":"x"},[2,3]]'),
        ("$.b.c[0]", b"1"),
        ("$.b.c[1].d", b'"d":"x"'),
        ("$.b.c[2][1]", b"3"),
        ("$['it\\'s']", b'"it\'s":null'),
        ("$['\\u0041']", None),
        ("$.zz", None),
        ("$.b.zz", b'"b":{"c":[1,{"d":"x"},[2,3]],"a":2}'),
        ("$.b.c[7]", b'"c":[1,{"d":"x"},[2,3]]'),
        ("$.a.b", b'"a": 5'),
        ("$", None),
        ("$.b..d", b'"b":{"c":[1,{"d":"x"},[2,3]],"a":2}'),
        ("$[0]", None),
        ("$.zz.a", None),
        ("$.a.d", b'"a": 5'),
    ],
)
def test_where_a_path_leads(path: str, expected: bytes | None) -> None:
    """The member or element, its last writing, or the nearest place above it."""
    line = b'{"a":1, "b":{"c":[1,{"d":"x"},[2,3]],"a":2},"a": 5, "it\'s":null}'
    place = locate(line, path)
    assert (None if place is None else line[slice(*place)]) == expected


def test_a_value_is_no_container_of_what_follows_it() -> None:
    assert locate(b'{"a":5,"b":{"c":1}}', "$.a.c") == (1, 6)
    assert locate(b'[5,{"c":1}]', "$[0].c") == (1, 2)


def test_a_name_that_cannot_be_decoded_is_no_step() -> None:
    assert locate(b'{"\\q":1,"a":2,"b', "$.b") is None
    assert locate(b'{"\\q":1,"a":2}', "$.a") == (8, 13)


@given(st.binary(), st.text(max_size=12))
def test_any_path_in_any_bytes_is_looked_for_without_an_error(line: bytes, path: str) -> None:
    locate(line, "$." + path)
    locate(b'{"a":[' + line, "$.a[0]")
