"""The table of reference fields, and what each of its rows makes of a record."""

from __future__ import annotations

import msgspec
import pytest
from scope_streams import faults, of_record, scope, shown, stream

import sessionref as sr
from sessionref.scope.collect import WRONG_SHAPE, References
from sessionref.scope.fields import Condition, DeclaredIn, FieldTable, ReferenceField, json_path
from sessionref.scope.scope import StreamScope
from sessionref.streams.index import read_streams

MESSAGE = {"type": "message", "messageId": "m1"}
CALL = {"type": "tool_call", "callId": "c1"}


def one(*records, at=None, **header):
    """What the first reference of the last record means, with a message r1 before."""
    found = scope(stream(MESSAGE, *records, **header))
    resolutions = of_record(found, at or f"r{len(records) + 1}")
    return resolutions[0]


# -- The table as data --------------------------------------------------------------------------


def test_every_row_says_where_it_comes_from():
    """Each standard row has a source that is not a vendor's."""
    rows = FieldTable.standard().rows
    assert {row.source for row in rows} <= {"stated", "implied", "assumed"}
    assert len({row.path for row in rows}) == len(rows)


def test_the_prefix_of_a_path_is_the_record_type():
    """`rewind.to` is the member `to` of rewind records; a path on all types has no prefix."""
    by_path = {row.path: row for row in FieldTable.standard().rows}
    assert by_path["rewind.to"].member_steps == ("to",)
    assert by_path["branchesFrom.record"].member_steps == ("branchesFrom", "record")
    assert by_path["session_info.heads.*"].member_steps == ("heads", "*")
    assert by_path["lineage.spawnedBy.session"].member_steps == (
        "lineage",
        "spawnedBy",
        "session",
    )


def test_an_actor_stands_for_its_members_too():
    """A row for an actor also gives rows for its session and its participant."""
    paths = {row.path for row in FieldTable.standard().rows}
    assert {
        "message.authorActor",
        "message.authorActor.session",
        "message.authorActor.participant",
    } <= paths


@pytest.mark.parametrize(
    "row",
    [
        {"path": "a..b", "target": "record"},
        {"path": "", "target": "record"},
        {"path": "*", "target": "record"},
        {"path": "x", "on": (), "target": "record"},
        {"path": "x", "target": "entity"},
        {"path": "x", "target": "entity", "key": "turnId"},
        {"path": "x", "target": "record", "key": "callId"},
        {"path": "x", "target": "record", "session": "a.*.b"},
    ],
)
def test_a_row_that_makes_no_sense_is_refused(row):
    """A path without a member, a field on no type, a key without entity."""
    with pytest.raises(ValueError):
        ReferenceField(**row)


def test_rows_are_values():
    """Rows are frozen, hashable and can be written and read again."""
    for row in FieldTable.standard().rows:
        assert msgspec.convert(msgspec.to_builtins(row), ReferenceField) == row
    assert hash(FieldTable.standard()) == hash(FieldTable.standard().with_rows([]))


def test_json_paths_name_members_and_places():
    """Plain names stand after a dot, others in quotes, elements in brackets."""
    assert json_path(("heads", "*"), (3,)) == "$.heads[3]"
    assert json_path(("a", "*", "b", "*"), (1,)) == "$.a[1].b"
    assert json_path(("a", "*", "b", "*", "c"), (1,)) == "$.a[1].b"
    assert json_path(("it's", "x\\y", "é")) == "$['it\\'s']['x\\\\y']['é']"


def test_users_add_rows_for_vendor_fields():
    """A field of a vendor's, on its own type, with members that nobody else has, is resolved."""
    fields = [
        ReferenceField(path="acme_link.to_record", on=("acme_link",), target="structural"),
        ReferenceField(
            path="acme deep",
            on=("acme_link",),
            steps=("_meta", "com.acme/x", "*", "ref"),
            target="entity",
            key="callId",
            requirement="must",
        ),
        ReferenceField(path="acme_link.acmeActor", on=("acme_link",), target="actor"),
    ]
    record = {
        "type": "acme_link",
        "to_record": "messageId=m1",
        "_meta": {"com.acme/x": [{"ref": "c1"}, {"ref": "c9"}, {}]},
        "acmeActor": {"session": "codex:s"},
    }
    found = scope(stream(MESSAGE, CALL, record), fields=fields)
    assert [shown(r) for r in of_record(found, "r3")] == [
        ("$.to_record", "resolved", ["r1"]),
        ("$._meta['com.acme/x'][0].ref", "resolved", ["r2"]),
        ("$._meta['com.acme/x'][1].ref", "unresolved", "no-such-entity"),
        ("$.acmeActor", "resolved", ["r3"]),
        ("$.acmeActor.session", "resolved", ["h"]),
    ]
    assert not of_record(scope(stream(MESSAGE, CALL, record)), "r3")


def test_a_session_may_be_named_in_another_member():
    """The member that names the session need not stand beside, nor be there, nor be an object."""
    row = ReferenceField(
        path="acme.ref", on=("acme",), target="record", session="where.session", requirement="may"
    )
    (alone,) = scope(stream({"type": "acme", "ref": "r1"}), fields=[row]).resolutions()
    assert shown(alone)[2] == "no-session-named"
    records = [
        {"type": "acme", "ref": "r1", "where": where}
        for where in ({"session": "codex:p"}, {}, 7, None)
    ]
    found = scope(stream(*records), stream(MESSAGE, sid="p"), fields=[row])
    assert [shown(r)[2] for r in found.resolutions(found.session("codex:s"))] == [
        ["r1"],
        *["no-session-named"] * 3,
    ]
    (capture,) = found.session("codex:s").captures
    assert len(capture.references) == 4


def test_a_vendor_row_without_its_session_may_mean_the_stream_itself():
    """A local target must be there; where a session is named beside, that is where to look."""
    row = ReferenceField(
        path="acme.ref",
        on=("acme",),
        target="record",
        session="inSession",
        requirement="must-local",
    )
    records = [
        {"type": "acme", "ref": "r1"},
        {"type": "acme", "ref": "r1", "inSession": "codex:p"},
        {"type": "acme", "ref": "r9"},
    ]
    # No record of this stream has that other member.
    (alone,) = scope(stream(records[0]), fields=[row]).resolutions()
    assert shown(alone)[1:] == ("resolved", ["r1"])
    found = scope(stream(*records), stream({"id": "p1"}, sid="p"), fields=[row])
    got = [(*shown(r)[1:], r.required) for r in found.resolutions(found.session("codex:s"))]
    assert got == [
        ("resolved", ["r1"], True),
        ("unresolved", "no-such-record", False),
        ("unresolved", "no-such-record", True),
    ]


def test_a_vendor_row_for_an_entity_may_ask_for_more():
    """What asks for an earlier target, or one in another session, is not looked up in one go."""
    calls = [{"type": "acme", "callId": "c1"}, CALL, {"type": "acme", "callId": "c1"}]
    row = ReferenceField(
        path="acme.callId", on=("acme",), target="entity", key="callId", lower_seq=True
    )
    found = scope(stream(*calls), fields=[row])
    assert [(r.at.id, r.faults) for r in found.problems()] == [("r1", ("not-lower-seq",))]
    row = ReferenceField(
        path="acme.callId", on=("acme",), target="entity", key="callId", session="where.session"
    )
    found = scope(stream(*calls), fields=[row])
    assert [(r.at.id, shown(r)[2]) for r in found.problems()] == [
        ("r1", "no-session-named"),
        ("r3", "no-session-named"),
    ]


def test_any_row_may_stand_first_in_a_table():
    """References are collected by whatever table there is, with what is odd about each."""
    rows = [
        ReferenceField(path="acme.deep.ref", on=("acme",), target="record"),
        ReferenceField(path="acme.wide.*.ref", on=("acme",), target="record"),
        ReferenceField(path="acme.low.ref", on=("acme",), target="record"),
    ]
    members = {"deep": {"ref": "a"}, "wide": [{"ref": "b"}, 7], "low": 8}
    content = stream({"type": "acme", **members}, {"type": "acme", "deep": 9, "low": {"ref": "c"}})
    table = FieldTable((), ()).with_rows(rows)
    (index,) = read_streams([content], observe=lambda: (References(table),))
    (references,) = index.observers
    assert [(c.row, c.field, c.flags, c.value) for c in references] == [
        (1, 0, 0, "a"),
        (1, 1, 0, "b"),
        (1, 1, WRONG_SHAPE, 7),
        (1, 2, WRONG_SHAPE, 8),
        (2, 0, WRONG_SHAPE, 9),
        (2, 2, 0, "c"),
    ]


@pytest.mark.parametrize(
    ("target", "value"),
    [
        ("session", "codex:gone"),
        ("session", "codex:s#r1"),
        ("session", "no reference"),
        ("session", 7),
        ("ordinal", 5),
        ("ordinal", "5"),
        ("external", "x"),
        ("external", 7),
    ],
)
def test_what_leads_out_of_the_stream_need_not_be_there(target, value):
    """A row that asks for local targets asks nothing of a reference to elsewhere (ASR-079)."""
    row = ReferenceField(path="acme.ref", on=("acme",), target=target, requirement="must-local")
    found = scope(stream({"type": "acme", "ref": value}), fields=[row])
    (resolution,) = of_record(found, "r1")
    assert (resolution.required, resolution.exact) == (False, False)


def test_what_names_no_record_is_among_the_problems():
    """Values that are no texts, and turns where no turn may stand."""
    targets = ["r1", 7, "turnId=t", "nokey=x", ["r1"]]
    found = scope(stream(MESSAGE | {"turnId": "t"}, {"type": "tombstone", "targets": targets}))
    assert [r.value for r in found.problems()] == targets[1:]


def test_a_vendor_row_may_look_at_members_of_the_envelope():
    """A row whose member the index reads anyway needs no more decoding."""
    row = ReferenceField(path="acme.turnId", on=("acme",), target="turn-or-record")
    found = scope(stream(MESSAGE, {"type": "acme", "turnId": "r1"}), fields=[row])
    assert [shown(r) for r in of_record(found, "r2")] == [("$.turnId", "resolved", ["r1"])]


# -- Structural refs, records, entities -----------------------------------------------------------


def test_rewind_names_a_record_an_entity_or_the_start():
    """A structural ref is a record ID or an entity ref; null is the start (ASR-079)."""
    assert shown(one({"type": "rewind", "to": "r1"})) == ("$.to", "resolved", ["r1"])
    assert shown(one({"type": "rewind", "to": "messageId=m1"}))[1:] == ("resolved", ["r1"])
    start = one({"type": "rewind", "to": None})
    assert (start.meaning, shown(start)[1:]) == ("start", ("resolved", []))
    assert start.exact


def test_a_turn_ref_is_no_structural_ref():
    """A turn ref where a record is required is a fault, even where the turn is there (ASR-075)."""
    turn = one({"type": "rewind", "to": "turnId=t", "turnId": "t"})
    assert (turn.faults, turn.exact, turn.required) == (("turn-ref",), False, True)
    assert turn.outcome == sr.Unresolved("invalid")


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        (7, "bad-member"),
        (["r1"], "bad-member"),
        ("", "bad-reference"),
        ("nokey=1", "bad-reference"),
        ("messageId=", "bad-reference"),
        ("\ud800", "bad-reference"),
    ],
)
def test_what_is_no_ref_is_a_fault_with_its_place(value, fault):
    """Other types than text, and texts that ASR-062 makes no ref, resolve to nothing."""
    found = one({"type": "rewind", "to": value})
    assert (found.path, found.faults, found.outcome.state) == ("$.to", (fault,), "unresolved")
    assert (found.error is not None) == (fault == "bad-reference")


def test_branches_from_may_be_the_start():
    """`branchesFrom.record` on any type; null is the start."""
    assert shown(one({"branchesFrom": {"record": "r1"}})) == (
        "$.branchesFrom.record",
        "resolved",
        ["r1"],
    )
    assert one({"branchesFrom": {"record": None}}).meaning == "start"
    assert one({"branchesFrom": "r1"}).faults == ("wrong-shape",)


def test_heads_select_no_primary_head_with_null_in_the_first_slot_only():
    """Null stands for no primary head first, and for nothing elsewhere (ASR-079)."""
    found = scope(stream(MESSAGE, {"type": "session_info", "heads": [None, "r1", None, "r9"]}))
    resolutions = of_record(found, "r2")
    assert [r.meaning for r in resolutions] == ["no-primary-head", None, None, None]
    assert [r.path for r in resolutions] == [f"$.heads[{at}]" for at in range(4)]
    assert faults(found, "r2") == {"$.heads[2]": ("null-reference",)}
    assert resolutions[3].outcome == sr.Unresolved("no-such-record", "codex:s")


def test_a_compaction_inserts_after_a_record_id():
    """`insertAt.afterId` is a record ID, not an entity ref; null is the start."""
    compaction = {"type": "compaction", "compactionId": "k"}
    assert one(compaction | {"insertAt": {"afterId": None}}).meaning == "start"
    assert shown(one(compaction | {"insertAt": {"afterId": "r1"}}))[1] == "resolved"
    wrong = one(compaction | {"insertAt": {"afterId": "messageId=m1"}})
    assert wrong.faults == ("entity-ref",)


def test_a_partial_replacement_says_so_or_claims_too_much():
    """`replaces` with an ID that is not there needs `state: "unknown"` (ASR-079)."""
    compaction = {"type": "compaction", "compactionId": "k"}
    ids = ["r1", "r9"]
    claims = scope(stream(MESSAGE, compaction | {"replaces": {"ids": ids}}))
    assert faults(claims, "r2") == {"$.replaces.ids[1]": ("claims-complete",)}
    assert of_record(claims, "r2")[1].required
    says = scope(stream(MESSAGE, compaction | {"replaces": {"ids": ids, "state": "unknown"}}))
    assert faults(says, "r2") == {}
    unresolved = of_record(says, "r2")[1]
    assert (unresolved.required, unresolved.exact) == (False, False)


def test_a_branch_summary_may_name_what_is_absent():
    """On a branch_summary compaction an absent target is allowed; the claim still is not."""
    summary = {"type": "compaction", "compactionId": "k", "kind": "branch_summary"}
    found = scope(stream(MESSAGE, summary | {"replaces": {"ids": ["r9"]}}))
    (absent,) = of_record(found, "r2")
    assert (absent.required, absent.faults) == (False, ("claims-complete",))


def test_retains_passes_over_external_entries():
    """Entries that are objects are not defined in this version and no references."""
    compaction = {"type": "compaction", "compactionId": "k"}
    retains = ["r1", {"external": "x"}, "messageId=m9"]
    found = scope(stream(MESSAGE, compaction | {"retains": retains}))
    assert [shown(r) for r in of_record(found, "r2")] == [
        ("$.retains[0]", "resolved", ["r1"]),
        ("$.retains[2]", "unresolved", "no-such-entity"),
    ]


def test_tombstones_bury_earlier_records():
    """Targets have a lower seq than the tombstone."""
    found = scope(stream(MESSAGE, {"type": "tombstone", "targets": ["r1", "r2", "r3"]}, {}))
    assert faults(found, "r2") == {
        "$.targets[1]": ("not-lower-seq",),
        "$.targets[2]": ("not-lower-seq",),
    }


def test_supersedes_keeps_type_and_key_and_goes_back():
    """A revision has the type and the entity key of what it supersedes, and a higher seq."""
    found = scope(
        stream(
            MESSAGE,
            MESSAGE | {"supersedes": "r1"},
            {"type": "message", "messageId": "m2", "supersedes": "r1"},
            {"supersedes": "r1"},
            {"supersedes": "r6"},
            {"supersedes": "r5"},
            {"supersedes": "r99"},
        )
    )
    assert faults(found, "r2") == {}
    assert faults(found, "r3") == {"$.supersedes": ("other-key",)}
    assert faults(found, "r4") == {"$.supersedes": ("other-type",)}
    assert faults(found, "r5") == {"$.supersedes": ("not-lower-seq",)}
    assert faults(found, "r6") == {}
    assert shown(of_record(found, "r7")[0])[2] == "no-such-record"


def test_supersedes_names_a_record_id():
    """An entity ref there is a fault, and joins nothing."""
    found = scope(stream(MESSAGE, MESSAGE | {"supersedes": "messageId=m1"}))
    assert faults(found, "r2") == {"$.supersedes": ("entity-ref",)}
    assert [r.faults for r in found.problems()] == [("entity-ref",)]


def test_an_inference_id_elsewhere_is_a_pointer():
    """`inferenceId` is identity on an inference and a pointer on all else (ASR-066)."""
    found = scope(
        stream(
            {"type": "inference", "inferenceId": "i1"},
            MESSAGE | {"inferenceId": "i1"},
            CALL | {"inferenceId": "m1"},
        )
    )
    assert of_record(found, "r1") == []
    assert shown(of_record(found, "r2")[0]) == ("$.inferenceId", "resolved", ["r1"])
    assert shown(of_record(found, "r3")[0])[1:] == ("unresolved", "no-such-entity")


def test_a_subagent_names_its_call_by_the_bare_key():
    """`callId` on a subagent is the value of an entity, whatever it looks like."""
    found = one(CALL, {"type": "tool_call", "callId": "a=b"}, {"type": "subagent", "callId": "a=b"})
    assert shown(found) == ("$.callId", "resolved", ["r3"])
    assert one({"type": "subagent", "callId": ""}).faults == ("bad-reference",)


def test_a_state_may_go_on_from_a_turn():
    """`continuationOf` takes turn refs; the turn is all its records (ASR-075)."""
    turn = one({"turnId": "t"}, {"turnId": "t"}, {"type": "state", "continuationOf": "turnId=t"})
    assert shown(turn) == ("$.continuationOf", "resolved", ["r2", "r3"])
    absent = one({"type": "state", "continuationOf": "turnId=u"})
    assert (shown(absent)[2], absent.required) == ("no-such-turn", False)


def test_null_members_are_absent_and_null_elements_are_not():
    """Null where it means nothing is as if the member were not there; in an array it is a fault."""
    found = scope(
        stream(
            {"type": "subagent", "childSession": None, "callId": None, "supersedes": None},
            {"type": "tombstone", "targets": [None]},
            {"type": "tombstone", "targets": None},
            {"branchesFrom": None},
        )
    )
    assert [r.path for r in found.resolutions()] == ["$.targets[0]"]


def test_a_wrong_shape_is_one_fault_however_many_fields_it_hides():
    """A header whose lineage is no object gives one fault, at the lineage."""
    found = scope(stream(lineage=7))
    assert [(r.path, r.faults) for r in found.resolutions()] == [("$.lineage", ("wrong-shape",))]
    found = scope(stream(lineage={"spawnedBy": ["codex:p"], "executedBy": [{}, "codex:q"]}))
    assert [(r.path, r.faults) for r in found.resolutions()] == [
        ("$.lineage.spawnedBy", ("wrong-shape",)),
        ("$.lineage.executedBy[1]", ("wrong-shape",)),
    ]


def test_members_nested_too_deep_are_faults_and_cost_no_recursion():
    """A member that no decoder takes is a value of the wrong type."""
    deep = b'{"type":"rewind","seq":1,"id":"r1","to":' + b"[" * 5000 + b"]" * 5000 + b"}\n"
    found = scope(stream() + deep)
    assert [r.faults for r in found.resolutions()] in ([], [("bad-member",)])


def test_native_keeps_what_could_not_be_resolved():
    """References that a writer keeps under `native` are no references of the stream (ASR-079)."""
    record = {"type": "rewind", "native": {"to": "gone", "supersedes": "gone"}}
    assert of_record(scope(stream(record)), "r1") == []


def test_the_digest_of_a_derived_stream_is_outside():
    """`derivedFrom.digest` of a header names bytes that may not be there."""
    (found,) = scope(stream(derivedFrom={"digest": "sha256:0"})).resolutions()
    assert (shown(found)[2], found.required, found.faults) == ("external", False, ())
    (bad,) = scope(stream(derivedFrom={"digest": 7})).resolutions()
    assert bad.faults == ("bad-member",)


# -- Other sessions -------------------------------------------------------------------------------


def test_session_members_name_sessions_without_ref():
    """A `#` part where only a session may stand is a fault; a session outside is unresolved."""
    parent = stream(sid="p")
    ok = scope(stream({"type": "subagent", "childSession": "com.openai.codex:p"}), parent)
    assert [shown(r)[1:] for r in of_record(ok, "r1")] == [("resolved", ["h"])]
    outside = scope(stream({"type": "subagent", "childSession": "codex:q"}), parent)
    (absent,) = of_record(outside, "r1")
    assert absent.outcome == sr.Unresolved("no-such-session", "codex:q")
    assert (absent.required, absent.faults) == (False, ())
    with_ref = scope(stream({"type": "subagent", "childSession": "codex:p#h"}), parent)
    assert faults(with_ref, "r1") == {"$.childSession": ("unexpected-ref",)}
    with_turn = stream({"type": "subagent", "childSession": "codex:p#turnId=t"})
    assert faults(scope(with_turn, stream({"turnId": "t"}, sid="p")), "r1") == {
        "$.childSession": ("unexpected-ref",)
    }
    bad = scope(stream({"type": "subagent", "childSession": "codex"}), parent)
    assert faults(bad, "r1") == {"$.childSession": ("bad-reference",)}
    assert of_record(bad, "r1")[0].error.code == "missing-session-id"
    typed = scope(stream({"type": "subagent", "childSession": 7}), parent)
    assert faults(typed, "r1") == {"$.childSession": ("bad-member",)}


def test_records_named_beside_a_session_are_looked_for_there():
    """`spawnedBy.record` is in the session that `spawnedBy.session` names."""
    parent = stream(CALL, sid="p")
    spawned = {"session": "codex:p", "record": "callId=c1"}
    found = scope(stream(lineage={"spawnedBy": spawned}), parent)
    assert [shown(r) for r in of_record(found, "h")] == [
        ("$.lineage.spawnedBy.session", "resolved", ["h"]),
        ("$.lineage.spawnedBy.record", "resolved", ["r1"]),
    ]
    encoded = {"session": "codex:p", "record": "callId=c%31"}
    (_, record) = of_record(scope(stream(lineage={"spawnedBy": encoded}), parent), "h")
    assert shown(record)[2] == "no-such-entity"


@pytest.mark.parametrize("session", [None, 7, "no reference"])
def test_a_record_beside_no_session_is_nowhere(session):
    """Without a session to look in, lineage records are unresolved, whatever is in the stream."""
    spawned = {"session": session, "record": "r1"}
    found = scope(stream(CALL, lineage={"spawnedBy": spawned}))
    record = of_record(found, "h")[-1]
    assert (record.path, shown(record)[2]) == ("$.lineage.spawnedBy.record", "no-session-named")


def test_copies_are_local_where_no_session_stands():
    """`copiedFrom.record` must be an earlier record here, or may be one of the named session."""
    local = {"type": "message", "messageId": "m2", "copiedFrom": {"record": "messageId=m1"}}
    assert (one(local).required, shown(one(local))[1]) == (True, "resolved")
    later = one({"copiedFrom": {"record": "r3"}}, {}, at="r2")
    assert later.faults == ("not-lower-seq",)
    absent = one({"copiedFrom": {"record": "r9"}})
    assert (absent.required, shown(absent)[2]) == (True, "no-such-record")
    found = scope(
        stream({"copiedFrom": {"session": "codex:p", "record": "r9"}}), stream({}, sid="p")
    )
    (session, record) = of_record(found, "r1")
    assert (session.outcome.state, record.required) == ("resolved", False)
    assert record.outcome == sr.Unresolved("no-such-record", "codex:p")


def test_a_foreign_copy_has_no_order():
    """A record of another session may have any seq."""
    found = scope(
        stream({"copiedFrom": {"session": "codex:p", "record": "r3"}}), stream({}, {}, {}, sid="p")
    )
    assert faults(found, "r1") == {}


def test_derived_from_takes_refs_and_session_references():
    """An element that parses as a session reference is one, any other a raw ref here."""
    record = {
        "type": "message",
        "messageId": "m2",
        "derivedFrom": ["r1", "codex:p#callId=c1", "codex:q", "r9", "codex:p#turnId=t", 7],
    }
    found = scope(stream(MESSAGE, record), stream(CALL | {"turnId": "t"}, sid="p"))
    assert [(shown(r)[1:], r.required) for r in of_record(found, "r2")] == [
        (("resolved", ["r1"]), True),
        (("resolved", ["r1"]), False),
        (("unresolved", "no-such-session"), False),
        (("unresolved", "no-such-record"), True),
        (("resolved", ["r1"]), False),
        (("unresolved", "invalid"), True),
    ]
    turn = {"type": "message", "messageId": "m2", "derivedFrom": ["turnId=t"]}
    (own,) = of_record(scope(stream(MESSAGE | {"turnId": "t"}, turn)), "r2")
    assert (shown(own)[1:], own.required, own.exact) == (("resolved", ["r1"]), True, True)


def test_a_record_id_that_reads_as_a_session_reference_is_ambiguous():
    """Two readings that both lead somewhere are not decided between (ASR-079)."""
    record = {"type": "message", "messageId": "m2", "derivedFrom": ["codex:p"]}
    found = scope(stream({"id": "codex:p"}, record), stream(sid="p"))
    assert shown(of_record(found, "r2")[0])[1:] == ("ambiguous", ["codex:p", "h"])
    # That other session need not be in scope (ASR-079).
    assert not of_record(found, "r2")[0].required
    alone = scope(stream({"id": "codex:p"}, record))
    assert shown(of_record(alone, "r2")[0])[1:] == ("ambiguous", ["codex:p"])


def test_a_state_names_the_turn_of_the_session_that_ran_it():
    """`executedBy` of a state may name a turn in a session, and no record."""
    refs = ["codex:b#turnId=t1", "codex:b", "codex:b#turnId=t9", "codex:b#r1", "codex:x#turnId=t"]
    found = scope(stream({"type": "state", "executedBy": refs}), stream({"turnId": "t1"}, sid="b"))
    assert [shown(r)[1:] for r in of_record(found, "r1")] == [
        ("resolved", ["r1"]),
        ("resolved", ["h"]),
        ("unresolved", "no-such-turn"),
        ("unresolved", "invalid"),
        ("unresolved", "no-such-session"),
    ]
    assert faults(found, "r1") == {"$.executedBy[3]": ("unexpected-ref",)}


def test_local_through_id_only_stands_with_copied_history():
    """The last copied record must be here, and may only be named with mode copied (ASR-409)."""
    copied = {"mode": "copied", "from": "codex:p", "localThroughId": "r1"}
    found = scope(stream(MESSAGE, lineage={"inherits": copied}))
    assert faults(found, "h") == {}
    found = scope(stream(MESSAGE, lineage={"inherits": copied | {"mode": "none"}}))
    assert faults(found, "h") == {"$.lineage.inherits.localThroughId": ("out-of-place",)}
    found = scope(stream(MESSAGE, lineage={"inherits": copied | {"localThroughId": "r9"}}))
    assert of_record(found, "h")[-1].required
    assert shown(of_record(found, "h")[-1])[2] == "no-such-record"


def test_declarations_have_the_fields_of_the_header():
    """A later declaration names sessions as the header does."""
    declaration = {"type": "declaration", "lineage": {"executedBy": [{"session": "codex:p"}]}}
    found = scope(stream(declaration), stream(sid="p"))
    assert [shown(r) for r in of_record(found, "r1")] == [
        ("$.lineage.executedBy[0].session", "resolved", ["h"])
    ]
    assert of_record(scope(stream({"lineage": {"continues": {"session": "codex:p"}}})), "r1") == []


# -- What is declared -------------------------------------------------------------------------------


def test_participants_are_declared_in_the_header_or_earlier():
    """A participant declared by a later declaration is not declared yet (ASR-077)."""
    by = {"type": "message", "messageId": "m"}
    records = [
        by | {"authorActor": {"participant": "header"}},
        by | {"authorActor": {"participant": "later"}},
        {"type": "declaration", "participants": [{"id": "later"}, {"id": 7}, {}, "x"]},
        by | {"authorActor": {"participant": "later"}},
        by | {"authorActor": {"participant": 7}},
    ]
    found = scope(stream(*records, participants=[{"id": "header"}]))
    outcomes = [shown(of_record(found, f"r{n}")[1])[1:] for n in (1, 2, 4, 5)]
    assert outcomes == [
        ("resolved", ["h"]),
        ("unresolved", "not-declared"),
        ("resolved", ["r3"]),
        ("unresolved", "invalid"),
    ]
    assert all(of_record(found, f"r{n}")[1].required for n in (1, 2, 4, 5))


def test_roots_are_declared_earlier_and_null_is_outside():
    """A null root is outside the declared roots (ASR-079)."""
    found = scope(
        stream(
            {"root": "app"},
            {"root": None},
            {"root": "lib"},
            {"type": "declaration", "workspace": {"roots": [{"id": "lib"}]}, "root": "lib"},
            {"root": "lib"},
            workspace={"roots": [{"id": "app", "path": "/srv"}]},
        )
    )
    assert [shown(of_record(found, f"r{n}")[0])[1] for n in range(1, 6)] == [
        "resolved",
        "resolved",
        "unresolved",
        "unresolved",
        "resolved",
    ]
    assert of_record(found, "r2")[0].meaning == "outside-the-roots"


def test_a_conversation_parent_may_be_declared_at_the_same_position():
    """A conversation's parent may stand in the same record, not in a later one."""
    found = scope(
        stream(
            {"type": "declaration", "conversation": {"id": "b", "parent": "a"}},
            {"type": "declaration", "conversation": {"id": "c", "parent": "c"}},
            {"type": "declaration", "conversation": {"id": "d", "parent": "e"}},
            {"type": "declaration", "conversation": {"id": "e"}},
            conversation={"id": "a"},
        )
    )
    assert [shown(of_record(found, f"r{n}")[0])[1] for n in (1, 2, 3)] == [
        "resolved",
        "resolved",
        "unresolved",
    ]


def test_the_first_declaration_counts():
    """Declaring the same again changes nothing."""
    again = {"type": "declaration", "participants": [{"id": "u"}]}
    by = {"type": "message", "messageId": "m", "authorActor": {"participant": "u"}}
    found = scope(stream(again, by, again))
    assert shown(of_record(found, "r2")[1])[1:] == ("resolved", ["r1"])


@pytest.mark.parametrize(
    ("actor", "expected"),
    [
        ("root", {"$.authorActor": ("bad-actor",)}),
        ({}, {"$.authorActor": ("empty-actor",)}),
        ({"name": "x"}, {"$.authorActor": ("empty-actor",)}),
        ({"address": 7}, {"$.authorActor": ("bad-actor",)}),
        ({"address": "/lead/worker"}, {}),
        ({"session": "codex:p#r1"}, {"$.authorActor.session": ("unexpected-ref",)}),
        ({"session": 7}, {"$.authorActor.session": ("bad-member",)}),
        ({"participant": []}, {"$.authorActor.participant": ("bad-member",)}),
    ],
)
def test_actors_have_a_shape(actor, expected):
    """An actor is an object with at least one of its members; each fault is one (ASR-076)."""
    found = scope(stream(MESSAGE | {"authorActor": actor}))
    assert faults(found, "r1") == expected


# -- Native ordinals --------------------------------------------------------------------------------


def at_ordinal(*records, ordinal=5, agent="codex", session="codex:p"):
    forked = {"session": session, "ordinal": ordinal}
    parent = stream(*records, sid="p", agent={"name": agent})
    found = scope(stream(lineage={"forkedFrom": forked}), parent)
    return of_record(found, "h")[-1]


def test_ordinals_map_through_what_the_registry_says():
    """A native ordinal is the item that derives from it, with all its records, and never a seq."""
    records = [{"id": "ordinal/4"}, {"id": "ordinal/5"}, {"id": "ordinal/5/tool_call/1"}]
    assert shown(at_ordinal(*records))[1:] == ("resolved", ["ordinal/5", "ordinal/5/tool_call/1"])
    assert shown(at_ordinal({}, {}, {}, {}, {}))[2] == "no-such-ordinal"
    assert shown(at_ordinal({"id": "ordinal/" + "5" * 40}))[2] == "no-such-ordinal"
    many = "1" * 20
    assert shown(at_ordinal({"id": f"ordinal/{many}"}, ordinal=int(many)))[2] == "no-such-ordinal"
    assert shown(at_ordinal({"id": "ordinal/0"}, ordinal=0))[1:] == ("resolved", ["ordinal/0"])


def test_ordinals_of_agents_without_any_are_unmapped():
    """Where the registry says nothing of ordinals, nothing is looked up."""
    record = {"id": "ordinal/5"}
    found = at_ordinal(record, agent="goose", session="goose:p")
    assert (shown(found)[2], found.required) == ("no-such-ordinal", False)
    assert shown(at_ordinal(record, session="codex:q"))[2] == "no-such-session"


@pytest.mark.parametrize("value", ["5", True, 5.0])
def test_an_ordinal_is_a_whole_number(value):
    """Anything else is a fault."""
    assert at_ordinal({"id": "ordinal/5"}, ordinal=value).faults == ("bad-member",)


def test_conditions_and_declarations_are_plain_values():
    """The parts of the table are values of their own."""
    assert Condition(path="a.b", value="x").steps == ("a", "b")
    assert DeclaredIn(what="root", path="a.*.id", source="stated").steps == ("a", "*", "id")


def test_references_keep_the_order_of_their_records():
    """Whatever kind of member they stand in, references come record by record."""
    records = [
        {"type": "message", "messageId": "m", "inferenceId": "i"},
        {"type": "rewind", "to": "r1", "inferenceId": "j"},
        {"type": "inference", "inferenceId": "i", "copiedFrom": {"record": "r1"}},
        {"type": "tool_call", "callId": "c", "supersedes": "r0", "inferenceId": ""},
        {"type": "tombstone", "targets": ["r1", "messageId=m"], "inferenceId": "i"},
    ]
    found = scope(stream(*records))
    got = [(r.at.id, r.path, r.value) for r in found.resolutions()]
    assert got == [
        ("r1", "$.inferenceId", "i"),
        ("r2", "$.inferenceId", "j"),
        ("r2", "$.to", "r1"),
        ("r3", "$.copiedFrom.record", "r1"),
        ("r4", "$.supersedes", "r0"),
        ("r4", "$.inferenceId", ""),
        ("r5", "$.inferenceId", "i"),
        ("r5", "$.targets[0]", "r1"),
        ("r5", "$.targets[1]", "messageId=m"),
    ]
    problems = [(r.at.id, r.path) for r in found.problems()]
    assert problems == [("r2", "$.inferenceId"), ("r4", "$.supersedes"), ("r4", "$.inferenceId")]


def test_references_of_every_part_of_an_input_are_taken_once():
    """However an input comes in pieces, each reference is there, under its own record."""
    records = [{"type": "tombstone", "targets": [f"g{n}"]} for n in range(1, 6)]
    lines = stream(*records).splitlines(keepends=True)
    for pieces in (lines, [b"".join(lines)], [b"".join(lines[:3]), b"".join(lines[3:])]):
        found = StreamScope.of([pieces])
        assert [(r.at.id, r.value) for r in found.resolutions()] == [
            (f"r{n}", f"g{n}") for n in range(1, 6)
        ]


def test_a_record_id_that_reads_as_an_entity_is_not_what_is_meant():
    """What reads as `key=value` names an entity (ASR-062); an equal record ID does not count."""
    found = scope(
        stream(
            {"id": "messageId=m"},
            {"type": "rewind", "to": "messageId=m"},
            {"id": "messageId=m1"},
            MESSAGE,
            {"type": "rewind", "to": "messageId=m1"},
        )
    )
    assert [shown(r)[1:] for r in found.resolutions()] == [
        ("unresolved", "no-such-entity"),
        ("resolved", ["r4"]),
    ]
    assert [r.at.id for r in found.problems()] == ["r2"]


@pytest.mark.parametrize(
    "record",
    [
        {"type": "message", "messageId": "m2", "inferenceId": "i1"},
        {"type": "subagent", "callId": "c1", "childSession": "codex:p"},
        {"type": "subagent", "childSession": "com.openai.codex:p"},
        {"type": "rewind", "to": "r1"},
        {"type": "rewind", "to": "messageId=m1"},
        {"type": "branch", "branchesFrom": {"record": "callId=c1"}},
        {"type": "compaction", "insertAt": {"afterId": "r1"}, "replaces": {"ids": ["r1", "r2"]}},
        {"type": "tombstone", "targets": ["r1", "callId=c1", "inferenceId=i1"]},
        MESSAGE | {"supersedes": "r1"},
        CALL | {"supersedes": "r2"},
        {"type": "hook", "supersedes": "r4"},
    ],
)
def test_references_that_are_fine_are_no_problems(record):
    """Each kind of target, in this stream and in another."""
    before = (MESSAGE, CALL, {"type": "inference", "inferenceId": "i1"}, {"type": "hook"})
    found = scope(stream(*before, record), stream(sid="p"))
    assert of_record(found, "r5")
    assert list(found.problems()) == []


def test_streams_of_many_shapes_are_read_alike():
    """However many sets of members streams have, references are found in each."""
    rows = [ReferenceField(path=f"m{n}", target="record") for n in range(70)]
    shapes = [stream(MESSAGE, {f"m{n}": "r1"}, sid=f"s{n}") for n in range(70)]
    found = scope(*shapes, fields=rows)
    assert [(r.path, r.exact) for r in found.resolutions(found.session("codex:s69"))] == [
        ("$.m69", True)
    ]
    assert len([*found.resolutions()]) == 70


def test_an_entity_with_several_latest_revisions_is_a_problem():
    """Looking many references up together finds the same as looking up each."""
    call = {"type": "inference", "inferenceId": "i"}
    message = {"type": "message", "messageId": "m", "inferenceId": "i"}
    found = scope(stream(call, call, message, {**call, "inferenceId": "k"}))
    assert [(r.at.id, r.outcome.state) for r in found.problems()] == [("r3", "ambiguous")]
