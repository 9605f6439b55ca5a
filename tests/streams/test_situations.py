"""Situations that users of other tools reported, at the layer of one stream."""

from __future__ import annotations

import gzip
import json
import tracemalloc

import pytest

import sessionref as sr
from sessionref.streams.index import read_header


def ids(outcome):
    if isinstance(outcome, sr.Unresolved):
        return outcome.reason
    hits = outcome.candidates if isinstance(outcome, sr.Ambiguous) else outcome.records
    return (outcome.state, [(hit.id, hit.line) for hit in hits])


def resolve(read, raw):
    return ids(read.resolve(sr.Ref.from_raw(raw)))


# -- Entities and revisions -----------------------------------------------------------------------


def test_E_01_the_same_record_id_twice(index, record):
    """Both records stay, with a warning, and neither the ID nor the call is chosen by position."""
    call = record("tool_call", 1, "u1", callId="toolu_x")
    read = index(call, {**call, "seq": 2, "bookkeeping": 1})
    assert [(f.code, f.severity, f.rule) for f in read.findings] == [
        ("duplicate-id", "warning", "ASR-017")
    ]
    assert len(read) == 3
    assert resolve(read, "u1") == ("ambiguous", [("u1", 2), ("u1", 3)])
    assert resolve(read, "callId=toolu_x") == ("ambiguous", [("u1", 2), ("u1", 3)])


def test_E_02_one_call_id_for_a_read_and_a_write(index, record):
    """Two chains match: ambiguous; both records stay."""
    read = index(
        record("tool_call", 1, "r1", callId="SR_0", name="read"),
        record("tool_call", 2, "r2", callId="SR_0", name="write"),
    )
    assert resolve(read, "callId=SR_0") == ("ambiguous", [("r1", 2), ("r2", 3)])


def test_E_03_a_call_id_reused_in_a_later_turn(index, record):
    """As E-02; in a reference the value is encoded."""
    read = index(
        record("tool_call", 1, "r1", turnId="1", callId="edit:22"),
        record("tool_call", 2, "r2", turnId="7", callId="edit:22"),
    )
    ref = sr.parse("codex:s1#callId=edit%3A22")
    assert ids(read.resolve(ref)) == ("ambiguous", [("r1", 2), ("r2", 3)])


def test_E_04_snapshots_of_one_call(index, record):
    """One chain: the call means its latest snapshot, a record ID exactly that snapshot."""
    read = index(
        record("tool_call", 1, "r1", callId="c1", state="pending"),
        record("tool_call", 2, "r2", callId="c1", supersedes="r1", state="done"),
    )
    assert resolve(read, "callId=c1") == ("resolved", [("r2", 3)])
    assert resolve(read, "r1") == ("resolved", [("r1", 2)])


def test_E_05_E_06_E_07_the_whole_latest_revision(tmp_path, stream, record):
    """Of three snapshots of a model call the last one counts, as a whole: members never mix."""
    usages = [("A", 1, 900), ("A", 1, 900), ("B", 260, 40)]
    records = [
        record("inference", n, f"r{n}", inferenceId="q1", model=model, usage=[output, cache])
        for n, (model, output, cache) in enumerate(usages, 1)
    ]
    records[1]["supersedes"], records[2]["supersedes"] = "r1", "r2"
    (tmp_path / "f").write_bytes(stream(*records))
    read = sr.StreamIndex.read(tmp_path / "f")
    latest = json.loads(read.fetch(read.resolve(sr.EntityRef("inferenceId", "q1")).first))
    assert (latest["model"], latest["usage"]) == ("B", [260, 40])


def test_E_08_an_absent_key_is_no_empty_key(index, record):
    """Two records without the member are not one entity."""
    read = index(record("inference", 1, "r1"), record("inference", 2, "r2", inferenceId=None))
    assert [ref.raw() for ref in read.refs()] == ["h", "r1", "r2"]


def test_E_10_a_pointer_to_a_record_never_written(index, record):
    """The pointer is reported, nothing is bridged, and the ref that it is stays unresolved."""
    read = index(
        record("message", 1, "u1", messageId="m1"),
        record("message", 2, "u2", messageId="m1", supersedes="u1"),
        record("message", 9, "u9", messageId="m1", supersedes="u7"),
    )
    assert [(f.code, f.id) for f in read.findings] == [("supersedes-unknown", "u9")]
    assert resolve(read, "u7") == "no-such-record"
    assert read.resolve(sr.RecordRef("u7")).exact is False
    assert resolve(read, "messageId=m1") == ("ambiguous", [("u2", 3), ("u9", 4)])


def test_E_11_a_circle_of_two(index, record):
    """One finding, no endless walk, nothing exact."""
    read = index(
        record("message", 1, "u1", messageId="m", supersedes="u2"),
        record("message", 2, "u2", messageId="m", supersedes="u1"),
    )
    assert [(f.code, f.id) for f in read.findings] == [("supersedes-cycle", "u1")]
    assert read.resolve(sr.EntityRef("messageId", "m")).exact is False
    assert [len(read.revisions(hit)) for hit in read] == [1, 1, 1]


def test_E_14_equal_text_under_fresh_ids_stays_apart(index, record):
    """A history that is written again is no revision unless it says so."""
    read = index(
        record("message", 1, "a", messageId="a", content="hi"),
        record("message", 2, "b", messageId="b", content="hi"),
    )
    assert resolve(read, "messageId=a") == ("resolved", [("a", 2)])
    assert resolve(read, "messageId=b") == ("resolved", [("b", 3)])


def test_E_16_equal_values_of_two_keys(index, record):
    """A message and a model call with one value are two entities (ASR-066)."""
    read = index(
        record("message", 1, "r1", messageId="x"), record("inference", 2, "r2", inferenceId="x")
    )
    assert resolve(read, "messageId=x") == ("resolved", [("r1", 2)])
    assert resolve(read, "inferenceId=x") == ("resolved", [("r2", 3)])


# -- Turns ----------------------------------------------------------------------------------------


def test_T_01_a_turn_that_no_record_carries(index, record):
    """It is unresolved, also where another member names it (ASR-075)."""
    read = index(record("usage", 1, "r1", covers={"turnId": "p-9"}))
    assert resolve(read, "turnId=p-9") == "no-such-turn"
    assert read.resolve(sr.TurnRef("p-9")).exact is False


def test_T_02_a_turn_id_with_colons(index, record):
    """The reference encodes what the stream has raw."""
    read = index(record("message", 1, "r1", messageId="m", turnId="th1:fork-turn:2"))
    ref = sr.parse("codex:s1#turnId=th1%3Afork-turn%3A2")
    assert ids(read.resolve(ref)) == ("resolved", [("r1", 2)])


# -- Robustness -----------------------------------------------------------------------------------

ONE = b'{"type":"note","seq":1,"id":"r1"}'
TWO = b'{"type":"note","seq":2,"id":"r2"}'


def test_X_01_runs_of_nul_bytes(index, codes):
    """A line of NULs, and NULs behind a good record, are one finding each; the records are read."""
    read = index(ONE + b"\n", b"\0" * 500 + b"\n", TWO + b"\0" * 9000 + b"\n")
    assert codes(read) == [("nul-bytes", 3), ("nul-bytes", 4)]
    assert [(hit.id, hit.line) for hit in read] == [("h", 1), ("r1", 2), ("r2", 4)]
    assert resolve(read, "lost-in-the-hole") == "no-such-record"
    tail = index(ONE + b"\n", b"\0" * 500)
    assert codes(tail) == [("nul-bytes", 3)]


def test_X_02_what_follows_a_bad_line_is_read(index, codes, record, line):
    """Three good, one cut, three good: six records."""
    good = [line(record("note", n, f"r{n}")) for n in range(1, 7)]
    read = index(*good[:3], b'{"type":"note","se\n', *good[3:])
    assert codes(read) == [("not-json", 5)]
    assert [hit.line for hit in read] == [1, 2, 3, 4, 6, 7, 8]


@pytest.mark.parametrize("size", [1, 20, len(ONE) - 1])
def test_a_torn_tail_is_a_notice(index, size):
    """An input that ends inside a line is still being written; a whole line needs no newline."""
    read = index(ONE[:size])
    assert [(f.code, f.severity, f.line) for f in read.findings] == [("torn-tail", "notice", 2)]
    assert (len(index(ONE)), index(ONE).findings) == (2, ())


def test_X_04_two_partial_writes_of_one_record(index, codes):
    """The whole duplicate afterwards is no revision: it does not say so."""
    read = index(ONE[:20] + b"\n", ONE[:25] + b"\n", ONE + b"\n", ONE + b"\n")
    assert codes(read) == [("not-json", 2), ("not-json", 3), ("duplicate-id", 5)]
    assert resolve(read, "r1") == ("ambiguous", [("r1", 4), ("r1", 5)])


def test_X_05_a_file_of_no_bytes(tmp_path, codes):
    """It is a stream without header and records."""
    (tmp_path / "empty").touch()
    read = sr.StreamIndex.read(tmp_path / "empty")
    assert (codes(read), len(read), read.key) == ([("no-header", None)], 0, None)
    assert resolve(read, "r1") == "no-such-record"
    (tmp_path / "empty.gz").write_bytes(gzip.compress(b""))
    assert codes(sr.StreamIndex.read(tmp_path / "empty.gz")) == [("no-header", None)]


@pytest.mark.parametrize("size", [1, 2, 3, 1000])
def test_X_07_a_byte_order_mark_does_not_cost_the_header(stream, size):
    """It is tolerated at the start, with a warning, and is no part of anything; not elsewhere."""
    data = b"\xef\xbb\xbf" + stream(ONE + b"\n", b"\xef\xbb\xbf" + TWO + b"\n")
    chunks = [data[i : i + size] for i in range(0, len(data), size)]
    read = sr.StreamIndex.from_chunks(chunks)
    assert [(f.code, f.severity, f.line) for f in read.findings] == [
        ("byte-order-mark", "warning", 1),
        ("not-json", "warning", 3),
    ]
    assert read.session == "codex:s1"
    assert next((hit.id, hit.offset) for hit in read) == ("h", 3)


def test_X_08_crlf_and_a_missing_final_newline(stream, codes):
    """Both are accepted; ordinals do not change."""
    data = stream(ONE + b"\n", TWO).replace(b"\n", b"\r\n")
    read = sr.StreamIndex.from_chunks([data])
    assert codes(read) == [("crlf", 1)]
    assert [(hit.id, hit.line) for hit in read] == [("h", 1), ("r1", 2), ("r2", 3)]


def test_X_14_holes_as_large_as_lines_get(index, codes):
    """Two holes of NULs as single lines, within the bound and beyond it."""
    holes = (b"\0" * 172_000 + b"\n", b"\0" * 994_000 + b"\n")
    assert codes(index(holes[0], ONE + b"\n", holes[1])) == [("nul-bytes", 2), ("nul-bytes", 4)]
    read = sr.StreamIndex.from_chunks([*holes, ONE + b"\n"], max_line=500_000)
    assert codes(read)[1:] == [("nul-bytes", 1), ("line-too-long", 2)]
    assert [hit.line for hit in read] == [3]


def test_X_16_a_large_header(header, line):
    """There is no small bound on a header."""
    data = line(header(instructions="x" * 3_000_000)) + ONE
    assert sr.StreamIndex.from_chunks([data]).session == "codex:s1"
    assert read_header([data]).session == "codex:s1"


# -- Scale ----------------------------------------------------------------------------------------


def test_S_05_memory_follows_the_longest_line():
    """Of a long stream of large lines no more than a few are held at once."""
    text = b"x" * 100_000

    def chunks():
        for n in range(1500):
            yield b'{"type":"note","seq":%d,"id":"r%d","text":"' % (n, n)
            yield text
            yield b'"}\n'

    tracemalloc.start()
    read = sr.StreamIndex.from_chunks(chunks())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(read) == 1500
    assert peak < 10_000_000


def test_S_11_an_oversize_line_costs_only_itself(stream, codes):
    """A line beyond the bound is one finding, its ordinal is counted, its content not kept."""

    def chunks(size):
        yield stream(ONE + b"\n")
        yield b'{"type":"note","seq":7,"id":"big","text":"'
        for _ in range(size // 100_000):
            yield b"x" * 100_000
        yield b'"}\n' + TWO

    tracemalloc.start()
    read = sr.StreamIndex.from_chunks(chunks(60_000_000), max_line=1_000_000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert codes(read) == [("line-too-long", 3)]
    assert [(hit.id, hit.line) for hit in read] == [("h", 1), ("r1", 2), ("r2", 4)]
    assert peak < 5_000_000
    assert len(sr.StreamIndex.from_chunks(chunks(5_000_000))) == 4
