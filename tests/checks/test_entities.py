"""Entity keys, record IDs and turn IDs that cannot be used as they stand (06, 09; ASR-062, 064)."""

from __future__ import annotations

import pytest
from check_streams import found, header, told


def test_each_ambiguous_entity_key_is_listed():
    """06: two chains under one key are a notice, whether or not something refers to them."""
    stream = [
        header(),
        {"type": "tool_call", "seq": 1, "id": "a", "callId": "c"},
        {"type": "tool_call", "seq": 2, "id": "b", "callId": "c"},
        {"type": "permission", "seq": 3, "id": "d", "requestId": "q"},
        {"type": "question", "seq": 4, "id": "e", "requestId": "q"},
        {"type": "message", "seq": 5, "id": "f", "messageId": "m"},
    ]
    assert told(found(stream)) == [
        ("ASR-064", "ambiguous", "notice", "b", "$.callId"),
        ("ASR-064", "ambiguous", "notice", "e", "$.requestId"),
    ]


def test_chains_that_a_faulty_link_split_are_not_listed():
    """The link is at fault, and the rest follows from it."""
    stream = [
        header(),
        {"type": "tool_call", "seq": 1, "id": "a", "callId": "c"},
        {"type": "tool_call", "seq": 2, "id": "b", "callId": "c", "supersedes": "zz"},
        {"type": "tool_call", "seq": 3, "id": "d", "callId": "k"},
        {"type": "tool_call", "seq": 4, "id": "e", "callId": "k"},
    ]
    assert told(found(stream)) == [
        ("ASR-063", "supersedes-unknown", "error", "b", "$.supersedes"),
        ("ASR-064", "ambiguous", "notice", "e", "$.callId"),
    ]


@pytest.mark.parametrize(
    ("members", "code", "path"),
    [
        ({"id": ""}, "empty-member", "$.id"),
        ({"turnId": ""}, "empty-member", "$.turnId"),
        ({"supersedes": ""}, "empty-member", "$.supersedes"),
        ({"id": "a=b"}, "equals-in-record-id", "$.id"),
    ],
)
def test_empty_members_and_an_equals_sign_are_errors(members, code, path):
    """09: what is empty names nothing, and an ID with `=` would be an entity ref (ASR-062)."""
    record = {"type": "message", "seq": 1, "id": "a", "messageId": "m", "turnId": "t", **members}
    assert told(found([header(), record])) == [("ASR-062", code, "error", record["id"], path)]


def test_an_escape_changes_no_value_of_an_enumeration():
    """40-lineage/13: `idSource` written with an escape says what it says without one."""
    lines = [
        b'{"type":"session","seq":0,"id":"h","agent":{"name":"codex"},"sessionId":"s1"}',
        b'{"type":"message","seq":1,"id":"a","messageId":"x"}',
        b'{"type":"inference","seq":2,"id":"b","inferenceId":"x","idSource":"d\\u0065rived"}',
        (
            b'{"type":"message","seq":3,"id":"c","messageId":"y","idSource":"n\\u0061tive"'
            b',"idScope":"c\\u0061pture"}'
        ),
    ]
    assert told(found(b"\n".join(lines) + b"\n")) == [
        ("ASR-070", "native-in-capture", "warning", "c", "$.idScope")
    ]


def test_independent_faults_of_one_header_are_all_reported():
    """9.7: what is wrong with one part of the key hides nothing of another."""
    wrong = header("", agent="CODEX", namespace="")
    assert [(f.code, f.path) for f in found([wrong])] == [
        ("empty-component", "$.sessionId"),
        ("empty-component", "$.namespace"),
        ("bad-agent-name", "$.agent.name"),
    ]
