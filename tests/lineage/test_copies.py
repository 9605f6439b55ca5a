"""The mark of a copy: what is read of it, and where its faults stand (ASR-413, 414)."""

from __future__ import annotations

import pytest
from lineage_streams import NF

from sessionref.findings import Place
from sessionref.lineage.copies import CopiedFrom, read_copied_from
from sessionref.lineage.places import Faults
from sessionref.refs import EntityRef


def read(mark):
    faults = Faults(Place("codex:a", 1, "r1", "a.jsonl", 2))
    found = read_copied_from(mark, faults)
    return found, [(one.rule, one.code, one.path) for one in faults.found]


def test_a_mark_is_read_member_by_member():
    """Session, record in its ID space, and proof."""
    found, faults = read({"session": "codex:b", "record": "messageId=m", "proof": "native_id"})
    assert (str(found.session), found.record) == ("codex:b", EntityRef("messageId", "m"))
    assert (found.proof, faults) == ("native_id", [])


@pytest.mark.parametrize(
    ("mark", "expected"),
    [
        (5, [("wrong-shape", "")]),
        ([], [("wrong-shape", "")]),
        ({"proof": NF}, [("copied-from-nowhere", "")]),
        ({"session": "codex:b"}, [("bad-proof", ".proof")]),
        ({"session": "codex:b", "proof": [NF]}, [("bad-proof", ".proof")]),
        ({"session": 7, "proof": NF}, [("bad-member", ".session")]),
        ({"session": "codex:b#r", "proof": NF}, [("unexpected-ref", ".session")]),
        ({"record": 7, "proof": NF}, [("bad-member", ".record")]),
        ({}, [("bad-proof", ".proof"), ("copied-from-nowhere", "")]),
    ],
)
def test_each_fault_of_a_mark_stands_at_its_member(mark, expected):
    """Those of the mark itself are under ASR-413; what cannot be read is absent, and the rest is kept."""
    found, faults = read(mark)
    assert faults == [("ASR-413", code, f"$.copiedFrom{path}") for code, path in expected]
    assert isinstance(found, CopiedFrom)
