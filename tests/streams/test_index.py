"""Resolving refs in one stream: section by section what a ref means."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

import sessionref as sr
from sessionref.streams.envelope import ENTITY_KEY_OF_TYPE
from sessionref.streams.index import read_streams
from sessionref.streams.outcomes import Reason


def ids(outcome):
    """The record IDs of an outcome, or its reason."""
    match outcome:
        case sr.Resolved(records) | sr.Ambiguous(records):
            return (outcome.state, [hit.id for hit in records])
        case sr.Unresolved(reason):
            return (outcome.state, reason)


@pytest.fixture
def call(record):
    def make(seq, value="c1", type_="tool_call", **members):
        return record(type_, seq, f"r{seq}", callId=value, **members)

    return make


def test_the_table_of_entity_keys_has_the_keys_of_the_grammar():
    """A turn is no entity."""
    assert set(ENTITY_KEY_OF_TYPE.values()) == set(sr.ENTITY_KEYS)


def test_another_table_of_entity_keys_changes_what_resolves(tmp_path):
    """The data file is what the program reads; nobody has to touch code."""
    package = Path(sr.__file__).parent
    shutil.copytree(package, tmp_path / "sessionref", ignore=shutil.ignore_patterns("__pycache__"))
    table = tmp_path / "sessionref" / "data" / "entity_keys.toml"
    table.write_text(table.read_text().replace('types = ["tool_call"]', 'types = ["probe"]', 1))
    log = tmp_path / "log.jsonl"
    log.write_text(
        '{"type":"session","seq":0,"id":"h","agent":{"name":"codex"},"sessionId":"k"}\n'
        '{"type":"probe","seq":1,"id":"r1","callId":"new"}\n'
        '{"type":"tool_call","seq":2,"id":"r2","callId":"old"}\n'
    )
    states = {}
    for value in ("new", "old"):
        done = subprocess.run(
            [sys.executable, "-m", "sessionref", "resolve", "--json", log, f"callId={value}"],
            env={**os.environ, "PYTHONPATH": str(tmp_path)},
            cwd=tmp_path,
            capture_output=True,
            check=False,
        )
        states[value] = json.loads(done.stdout)["state"]
    assert states == {"new": "resolved", "old": "unresolved"}


def test_a_record_ref_means_exactly_that_record(index, call):
    """A superseded revision is still what its own ID means (ASR-063)."""
    read = index(call(1), call(2, supersedes="r1"))
    assert ids(read.resolve(sr.RecordRef("r1"))) == ("resolved", ["r1"])
    assert ids(read.resolve(sr.RecordRef("r3"))) == ("unresolved", "no-such-record")


def test_an_entity_ref_means_the_latest_revision(index, call):
    """Of one chain the record that no other supersedes (ASR-064)."""
    read = index(call(1), call(2, supersedes="r1"), call(3, supersedes="r2"))
    outcome = read.resolve(sr.EntityRef("callId", "c1"))
    assert ids(outcome) == ("resolved", ["r3"])
    assert outcome.exact is True
    assert [hit.id for hit in read.revisions(outcome.first)] == ["r1", "r2", "r3"]
    assert read.findings == ()


def test_two_chains_are_ambiguous(index, call):
    """The same key twice and no `supersedes` between is never decided by position (ASR-064)."""
    read = index(call(1), call(2))
    outcome = read.resolve(sr.EntityRef("callId", "c1"))
    assert ids(outcome) == ("ambiguous", ["r1", "r2"])
    assert outcome.exact is False
    assert read.findings == ()


def test_a_permission_and_a_question_share_a_request(index, record):
    """Two types with one key are two chains (ASR-064)."""
    read = index(
        record("permission", 1, "r1", requestId="q"), record("question", 2, "r2", requestId="q")
    )
    assert ids(read.resolve(sr.EntityRef("requestId", "q"))) == ("ambiguous", ["r1", "r2"])


def test_a_key_on_another_type_is_no_identity(index, record):
    """`inferenceId` on a message points at a call; it makes no entity (ASR-066)."""
    read = index(record("message", 1, "r1", messageId="m", inferenceId="i"))
    assert ids(read.resolve(sr.EntityRef("inferenceId", "i"))) == ("unresolved", "no-such-entity")
    assert ids(read.resolve(sr.EntityRef("planId", "i"))) == ("unresolved", "no-such-entity")


def test_a_turn_ref_means_all_its_records_by_seq(index, record):
    """The one with the lowest `seq` stands for the turn, wherever it is written (ASR-075)."""
    read = index(
        record("note", 5, "r5", turnId="t"),
        record("note", 2, "r2", turnId="t"),
        record("note", 3, "r3", turnId="u"),
    )
    outcome = read.resolve(sr.TurnRef("t"))
    assert ids(outcome) == ("resolved", ["r2", "r5"])
    assert outcome.first.id == "r2"
    assert read.resolve(sr.TurnRef("t")) is outcome
    assert ids(read.resolve(sr.TurnRef("v"))) == ("unresolved", "no-such-turn")


@pytest.mark.parametrize(
    ("second", "code"),
    [
        ({"supersedes": "r9"}, "supersedes-unknown"),
        ({"supersedes": "r2"}, "supersedes-itself"),
        ({"supersedes": "r1", "type": "hook"}, "supersedes-other-type"),
        ({"supersedes": "r1", "callId": "c2"}, "supersedes-other-key"),
        ({"supersedes": "r1", "callId": None}, "supersedes-other-key"),
        ({"supersedes": "r1", "seq": 0}, "supersedes-later"),
        ({"supersedes": "r1", "seq": 1}, "supersedes-later"),
    ],
)
def test_a_broken_link_joins_nothing(index, call, second, code):
    """Each broken `supersedes` is one finding, and both records stay chains of their own."""
    read = index(call(1), {**call(2), **second})
    (finding,) = read.findings
    assert (finding.code, finding.line, finding.id, finding.path) == (
        code,
        3,
        "r2",
        "$.supersedes",
    )
    assert finding.session == "codex:s1"
    for hit in read:
        assert read.revisions(hit) == (hit,)


def test_a_link_to_an_id_that_two_records_have(index, call):
    """What `supersedes` means is then not known; the records with that ID are kept (ASR-017)."""
    read = index(call(1), {**call(2), "id": "r1"}, call(3, supersedes="r1"))
    assert [(f.code, f.severity, f.line) for f in read.findings] == [
        ("duplicate-id", "warning", 3),
        ("supersedes-ambiguous", "error", 4),
    ]
    assert ids(read.resolve(sr.RecordRef("r1"))) == ("ambiguous", ["r1", "r1"])
    assert len(read.resolve(sr.EntityRef("callId", "c1")).candidates) == 3


def test_two_that_supersede_one_are_both_latest(index, call):
    """The chain is one, its latest revision is not: ambiguous, one finding at the one they share."""
    read = index(call(1), call(2, supersedes="r1"), call(3, supersedes="r1"))
    assert [(f.code, f.id) for f in read.findings] == [("supersedes-fork", "r1")]
    assert ids(read.resolve(sr.EntityRef("callId", "c1"))) == ("ambiguous", ["r2", "r3"])
    first = next(hit for hit in read if hit.id == "r3")
    assert [hit.id for hit in read.revisions(first)] == ["r1", "r2", "r3"]


def test_a_circle_joins_nothing(index, call):
    """Every link of a circle is broken, one finding; what leads into it stays joined to its target."""
    read = index(
        call(1, supersedes="r3"),
        call(2, supersedes="r1"),
        call(3, supersedes="r2"),
        call(4, supersedes="r3"),
    )
    assert [(f.code, f.id) for f in read.findings] == [("supersedes-cycle", "r1")]
    assert ids(read.resolve(sr.EntityRef("callId", "c1"))) == ("ambiguous", ["r1", "r2", "r4"])


def test_types_without_a_key_are_revised_through_supersedes_alone(index, record):
    """A hook has a chain and no entity."""
    read = index(record("hook", 1, "r1"), record("hook", 2, "r2", supersedes="r1"))
    assert [hit.id for hit in read.revisions(list(read)[1])] == ["r1", "r2"]
    assert [ref.raw() for ref in read.refs()] == ["h", "r1", "r2"]


def test_empty_ids_are_nothing(index, record):
    """An empty string is no ID, key or turn: no ref can name it."""
    read = index(record("message", 1, "", messageId="", turnId="", supersedes=""))
    assert [ref.raw() for ref in read.refs()] == ["h"]
    assert {(found.code, found.path) for found in read.findings} == {
        ("empty-member", "$.id"),
        ("empty-member", "$.turnId"),
        ("empty-member", "$.supersedes"),
    }


def test_every_ref_of_a_stream_resolves(index, record, call):
    """`refs` gives records, entities and turns; a record ID with `=` is no ref (ASR-062)."""
    read = index(
        call(1, turnId="t"), call(2, turnId="t"), record("message", 3, "a=b", messageId="m")
    )
    outcomes = {ref.raw(): read.resolve(ref).state for ref in read.refs()}
    assert outcomes == {
        "h": "resolved",
        "r1": "resolved",
        "r2": "resolved",
        "callId=c1": "ambiguous",
        "messageId=m": "resolved",
        "turnId=t": "resolved",
    }


def test_a_session_reference_must_name_this_session(index, call):
    """It resolves like its ref when the keys are equal (ASR-050, 058), else not at all."""
    read = index(call(1))
    assert ids(read.resolve(sr.parse("com.openai.codex:s1#callId=c1"))) == ("resolved", ["r1"])
    assert ids(read.resolve(sr.parse("codex:s1"))) == ("resolved", ["h"])
    other = read.resolve(sr.parse("com.openai.codex:s2#callId=c1"))
    assert other == sr.Unresolved("no-such-session", "codex:s2")
    assert set(get_args(Reason)) >= {
        "no-such-record",
        "no-such-entity",
        "no-such-turn",
        "no-such-session",
    }


def test_outcomes_are_values(index, call):
    """They compare, hash, pickle and do not change; so does the index pickle."""
    read = index(call(1), call(2))
    again = pickle.loads(pickle.dumps(read))
    for ref in read.refs():
        outcome = read.resolve(ref)
        assert pickle.loads(pickle.dumps(outcome)) == outcome == again.resolve(ref)
        assert hash(outcome) == hash(again.resolve(ref))
        with pytest.raises(AttributeError):
            outcome.session = "x"


def test_a_hit_of_another_index_is_refused(index, call):
    """A hit belongs to the index it came from."""
    hit = list(index(call(1), call(2)))[2]
    for other in (index(call(1)), index(call(1), call(3))):
        with pytest.raises(sr.StreamError) as caught:
            other.revisions(hit)
        assert caught.value.code == "foreign-hit"


# -- Headers ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("members", "found"),
    [
        ({"agent": None}, ("bad-member", "ASR-056", "$.agent.name")),
        ({"agent": {}}, ("missing-member", "ASR-056", "$.agent.name")),
        ({"agent": {"name": 7}}, ("bad-member", "ASR-056", "$.agent.name")),
        ({"agent": {"name": "Codex"}}, ("bad-agent-name", "ASR-056", "$.agent.name")),
        ({"sessionId": None}, ("bad-member", "ASR-051", "$.sessionId")),
        ({"sessionId": 7}, ("bad-member", "ASR-051", "$.sessionId")),
        ({"sessionId": ""}, ("empty-component", "ASR-051", "$.sessionId")),
        ({"sessionId": "\ud800"}, ("surrogate", "ASR-060", "$.sessionId")),
        ({"namespace": ""}, ("empty-component", "ASR-054", "$.namespace")),
        ({"namespace": 7}, ("bad-member", "ASR-054", "$.namespace")),
    ],
)
def test_a_header_that_names_no_session(header, record, members, found):
    """What is wrong is one finding; the records are indexed, and no session reference means them."""
    import json  # noqa: PLC0415

    lines = [{**header(), **members}, record("note", 1, "r1")]
    data = b"".join(json.dumps(one).encode() + b"\n" for one in lines)
    read = sr.StreamIndex.from_chunks([data])
    (finding,) = read.findings
    assert (finding.code, finding.path, finding.line) == (found[0], found[2], 1)
    assert finding.rule == found[1] or finding.code == "surrogate"
    assert (read.key, read.session) == (None, None)
    assert ids(read.resolve(sr.RecordRef("r1"))) == ("resolved", ["r1"])
    assert ids(read.resolve(sr.parse("codex:s1"))) == ("unresolved", "no-such-session")


def test_a_header_without_members():
    """Both missing parts are reported."""
    read = sr.StreamIndex.from_chunks([b'{"type":"session","seq":0,"id":"h"}\n'])
    assert [(f.code, f.path) for f in read.findings] == [
        ("missing-member", "$.agent.name"),
        ("missing-member", "$.sessionId"),
    ]


def test_doubled_members_of_a_header():
    """What identifies the session must stand once; else the last is taken and it is a finding."""
    data = (
        b'{"type":"session","seq":0,"id":"h","agent":{"name":"x","name":"codex"},'
        b'"agent":{"name":"y","name":"codex"},"namespace":null,"sessionId":"a","sessionId":"b"}\n'
    )
    read = sr.StreamIndex.from_chunks([data])
    assert [(f.code, f.path) for f in read.findings] == [
        ("duplicate-member", "$.agent"),
        ("duplicate-member", "$.sessionId"),
        ("duplicate-member", "$.agent.name"),
    ]
    assert read.session == "codex:b"


def test_a_session_id_without_utf8_form_is_escaped(header):
    """Section 8: an escaped form, marked as no reference, and everything else goes on."""
    import json  # noqa: PLC0415

    data = json.dumps(header("a\udc00")).encode() + b"\n"
    read = sr.StreamIndex.from_chunks([data])
    assert (read.header.escaped_id, read.header.session_id) == ("a\\udc00", None)
    assert (read.header.agent, read.header.namespace) == ("codex", None)
    data = b'{"type":"session","seq":0,"id":"h","agent":{"name":"codex"},"sessionId":"a\xff"}\n'
    read = sr.StreamIndex.from_chunks([data])
    assert read.header.escaped_id == "a\\xff"


def test_a_namespace_is_part_of_the_key(header, line):
    """It is taken as it is."""
    read = sr.StreamIndex.from_chunks([line(header("1", {"name": "goose"}, namespace="a b"))])
    assert read.session == "goose:a%20b:1"
    assert read.header.content == line(header("1", {"name": "goose"}, namespace="a b"))[:-1]


def test_each_header_begins_a_stream(header, record, line):
    """Several streams in one input are several indexes, each with its own findings and records."""
    data = b"".join(
        (
            b"oops\n",
            line(record("note", 7, "lost")),
            line(header("a")),
            line(record("note", 1, "r1", turnId="t")),
            b"[]\n",
            line(header("b")),
            line(header("c")),
            line(record("note", 1, "r1")),
            b'{"type":"note","seq":2,"id":"\xff"}\n',
        )
    )
    found = [
        (read.session, [hit.id for hit in read], [(f.code, f.line) for f in read.findings])
        for read in read_streams([data])
    ]
    assert found == [
        (None, ["lost"], [("no-header", None), ("not-json", 1)]),
        ("codex:a", ["h", "r1"], [("not-object", 5)]),
        ("codex:b", ["h"], []),
        ("codex:c", ["h", "r1", "\\xff"], [("bad-utf8", 9)]),
    ]
    last = list(read_streams([data]))[-1]
    assert [ref.raw() for ref in last.refs()] == ["h", "r1"]
    with pytest.raises(sr.StreamError) as caught:
        sr.StreamIndex.from_chunks([data])
    assert caught.value.code == "several-streams"
