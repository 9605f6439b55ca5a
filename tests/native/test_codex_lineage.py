"""How Codex threads hang together: spawned, forked by copy or by reference, continued in pages."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import pytest
from native_families import OLD, OWN, base, copied, fork, item, numbered, started
from native_rows import Family, convert, counts, jsonl, meta, rollout, token_count

from sessionref.native import LogSet

if TYPE_CHECKING:
    from pathlib import Path

PARENT, CHILD = "codex:P", "codex:C"
NONE = {"mode": "none", "evidence": "native_structure"}


def call(call_id: str, name: str = "shell", arguments: Any = "{}") -> dict[str, Any]:
    payload = {"type": "function_call", "name": name, "call_id": call_id, "arguments": arguments}
    return rollout("response_item", payload)


def output(call_id: str, text: Any = "ok") -> dict[str, Any]:
    payload = {"type": "function_call_output", "call_id": call_id, "output": text}
    return rollout("response_item", payload)


def spawn(call_id: str = "c1", child: str = "C", **arguments: Any) -> list[dict[str, Any]]:
    """The call that spawns a thread, and its result."""
    return [
        call(call_id, "spawn_agent", json.dumps(arguments)),
        output(call_id, json.dumps({"agent_id": child})),
    ]


def spawned_source(parent: str = "P", **members: Any) -> dict[str, Any]:
    return {"subagent": {"thread_spawn": {"parent_thread_id": parent, "depth": 1, **members}}}


# -- Spawned threads -----------------------------------------------------------------------------


def test_L_10_a_spawned_thread_names_its_parent(tmp_path: Path):
    """Both places that name the parent are native fields; the call stands in the parent's file."""
    nested = meta("C", source=spawned_source(agent_role="worker"), thread_source="subagent")
    for number, own in enumerate(
        (nested, meta("C", parent_thread_id="P", source=nested["payload"]["source"]))
    ):
        family = Family(
            tmp_path / str(number),
            {"p.jsonl": [meta("P"), *spawn(agent_type="worker")], "c.jsonl": [own, item("Go.")]},
        )
        assert family.lineage(CHILD) == {
            "spawnedBy": {"session": PARENT, "record": "callId=c1", "evidence": "native_field"},
            "role": "worker",
        }
        assert family.sessions[CHILD][0]["scope"] == "subagent"
        (announced,) = family.of(PARENT, "subagent")
        assert announced["childSession"] == CHILD
        assert (announced["callId"], announced["role"]) == ("c1", "worker")
        assert announced["id"] == "line/3/subagent/0"


def test_parents_that_contradict_each_other_are_not_chosen_between():
    """Two fields that name two threads."""
    log = convert(meta("C", parent_thread_id="Q", source=spawned_source("P")))
    assert "lineage" not in log.header


def test_the_session_id_of_the_tree_is_no_parent():
    """`session_id` names the root of the agents."""
    log = convert(meta("C", session_id="R", parent_thread_id="P", source=spawned_source("P")))
    assert log.header["lineage"]["spawnedBy"]["session"] == PARENT


@pytest.mark.parametrize(
    ("members", "role"),
    [
        ({"source": spawned_source(agent_role="worker")}, "worker"),
        ({"source": spawned_source(), "agent_role": "planner"}, "planner"),
        ({"source": {"subagent": {"other": "guardian"}}}, "guardian"),
        ({"source": {"subagent": "review"}}, "review"),
        ({"source": {"subagent": ""}}, None),
        ({"source": {"subagent": {"other": 7}}}, None),
        ({"source": {"subagent": 7}}, None),
        ({"source": {"subagent": "\ud800"}}, None),
    ],
)
def test_the_role_is_as_the_source_names_it(members: dict[str, Any], role: str | None):
    """Guardian reviewers are threads that their parent's harness spawned."""
    log = convert(meta("C", parent_thread_id="P", **members))
    assert log.header["lineage"].get("role") == role
    assert log.header["lineage"]["spawnedBy"] == {"session": PARENT, "evidence": "native_field"}
    assert log.header["scope"] == "subagent"


def test_a_source_without_a_subagent_is_a_users_or_unknown():
    """`null` names no subagent."""
    assert "scope" not in convert(meta("C", source={"subagent": None})).header
    assert "role" not in convert(meta("C", source={"subagent": None})).header["lineage"]


def test_a_subagent_claims_no_fresh_start():
    """Versions could fork a shortened context without a mark, so its absence says nothing."""
    log = convert(meta("C", source=spawned_source()), item("Go."))
    assert "inherits" not in log.header["lineage"]


def test_the_event_of_the_harness_announces_too():
    """It names the sender; a second statement revises the first."""
    event = {
        "type": "collab_agent_spawn_end",
        "call_id": "c1",
        "sender_thread_id": "P",
        "new_thread_id": "C",
    }
    log = convert(meta("P"), *spawn(agent_type="worker"), rollout("event_msg", event))
    first, last = log.of("subagent")
    assert last["supersedes"] == first["id"]
    assert (last["callId"], last["role"]) == ("c1", "worker")
    assert log.index.findings == ()


def activity(call_id: Any, kind: Any = "started", child: Any = "C") -> dict[str, Any]:
    """The event of versions 0.142 to 0.148."""
    event = {"type": "sub_agent_activity", "event_id": call_id, "kind": kind}
    return rollout("event_msg", {**event, "agent_thread_id": child, "agent_path": "/lead/x"})


def item_activity(call_id: str, kind: str = "started", child: str = "C", **item: Any) -> Any:
    """The event of versions from 0.151."""
    item = {"type": "SubAgentActivity", "id": call_id, "kind": kind, **item}
    event = {"type": "item_completed", "thread_id": "P", "item": {**item, "agent_thread_id": child}}
    return rollout("event_msg", event)


@pytest.mark.parametrize("active", [activity, item_activity])
def test_an_activity_announces_what_the_result_only_names_by_task(active: Any, tmp_path: Path):
    """It names call and thread; later activities of the thread are revisions (ASR-424)."""
    rows = [
        meta("P"),
        call("c1", "spawn_agent", json.dumps({"task_name": "x", "agent_type": "scout"})),
        active("c1"),
        output("c1", '{"task_name": "/lead/x"}'),
        call("c2", "send_message"),
        active("c2", "interacted"),
        call("c3", "wait_agent"),
        active("c3", "completed"),
    ]
    family = Family(tmp_path, {"p.jsonl": rows, "c.jsonl": [meta("C", parent_thread_id="P")]})
    said = family.of(PARENT, "subagent")
    assert [
        (one["callId"], one["childSession"], one["role"], one.get("status"), one.get("supersedes"))
        for one in said
    ] == [
        ("c1", CHILD, "scout", None, None),
        ("c1", CHILD, "scout", None, said[0]["id"]),
        ("c1", CHILD, "scout", "completed", said[1]["id"]),
    ]
    assert family.lineage(CHILD)["spawnedBy"] == {
        "session": PARENT,
        "record": "callId=c1",
        "evidence": "native_field",
    }


def test_the_result_of_waiting_revises_what_is_known_of_each_thread():
    """A state that is no end, and a thread that was never announced, say nothing."""
    states = {"C": {"completed": "Done."}, "D": "shutdown", "E": "running", "X": "shutdown", "F": 7}
    log = convert(
        meta("P"),
        *spawn("c1", "C"),
        *spawn("c2", "D"),
        *spawn("c3", "E"),
        *spawn("c4", "F"),
        call("w1", "wait_agent"),
        output("w1", json.dumps({"status": states, "timed_out": False})),
        output("w1", json.dumps({"status": states})),
        call("w2", "wait"),
        output("w2", '{"message": "x"}'),
        call("w3", "wait"),
        output("w3", '{"status": {"C": "\\ud800"}}'),
        call("w4", "wait"),
        output("w4", '{"status": ["C"]}'),
    )
    revised = [
        (one["childSession"], one["status"]) for one in log.of("subagent") if "status" in one
    ]
    assert revised == [("codex:C", "completed"), ("codex:D", "shutdown")]
    assert log.index.findings == ()


@pytest.mark.parametrize(
    "event",
    [
        activity("c9"),
        activity(7),
        activity("c1", child=""),
        activity("c1", child="\ud800"),
        item_activity("c9"),
        item_activity("c1", type="Plan"),
        rollout("event_msg", {"type": "item_completed", "item": "SubAgentActivity"}),
        rollout("event_msg", {"type": "item_completed"}),
    ],
)
def test_an_activity_of_no_spawning_call_announces_nothing(event: dict[str, Any]):
    """Neither does one that names no thread."""
    log = convert(meta("P"), call("c1", "spawn_agent", "{}"), event)
    assert log.of("subagent") == []
    assert log.codes == []


def test_the_own_meta_written_again_is_no_copy():
    """A resume writes it again; the thread still started fresh (`unforked-single-meta`)."""
    again = convert(meta("P"), item("One."), meta("P", memory_mode="enabled"), item("Two."))
    assert again.header["lineage"]["inherits"]["mode"] == "none"
    for other in (meta("Q"), rollout("session_meta", {}), {"type": "session_meta"}):
        assert "inherits" not in convert(meta("P"), other).header.get("lineage", {})


@pytest.mark.parametrize(
    "rows",
    [
        [call("c1", "spawn_agent"), output("c2", '{"agent_id": "C"}')],
        [call("c1", "spawn_agent"), output("c1", '{"task_name": "/lead/x"}')],
        [call("c1", "spawn_agent"), output("c1", {"agent_id": "C"})],
        [call("c1", "spawn_agent"), output("c1", "agent_id C")],
        [call("c1", "spawn_agent"), output("c1", '["C"]')],
        [call("c1", "spawn_agent"), output("c1", '"\ud800"')],
        [call("c1"), output("c1", '{"agent_id": "C"}')],
        [call("", "spawn_agent"), output("", '{"agent_id": "C"}')],
        [output("c1", '{"agent_id": "C"}')],
        [item('{"agent_id": "C"}')],
        [
            rollout(
                "event_msg",
                {
                    "type": "collab_agent_spawn_end",
                    "call_id": "c1",
                    "sender_thread_id": "Q",
                    "new_thread_id": "C",
                },
            )
        ],
        [rollout("event_msg", {"type": "collab_agent_spawn_end", "call_id": "c1"})],
    ],
)
def test_what_names_no_child_announces_nothing(rows: list[dict[str, Any]]):
    """Other calls, other results, free text, and events of other threads."""
    assert convert(meta("P"), *rows).of("subagent") == []


def test_a_call_is_named_only_where_the_parent_names_one(tmp_path: Path):
    """Two calls of the parent that gave one thread are not chosen between."""
    rows = [*spawn("c1"), *spawn("c2")]
    family = Family(
        tmp_path,
        {
            "p.jsonl": [meta("P"), *rows[:2]],
            "q.jsonl": [meta("P"), *rows[2:]],
            "c.jsonl": [meta("C", parent_thread_id="P")],
        },
    )
    assert "record" not in family.lineage(CHILD)["spawnedBy"]


# -- What was inherited --------------------------------------------------------------------------


def test_a_thread_that_names_no_fork_inherits_nothing():
    """One meta, no fork and no base: the source says when history was forked."""
    assert convert(meta("C"), item("Go.")).header["lineage"] == {"inherits": NONE}
    assert "lineage" not in convert(meta("C"), item("Go."), meta("P")).header
    empty = meta("C", forked_from_id="", history_base={})
    assert convert(empty).header["lineage"] == {"inherits": NONE}


def test_L_17_an_originator_is_no_wrapper():
    """Whatever drives Codex, it is a Codex session; only a stored ID says who ran it (ASR-421)."""
    header = convert(meta("C", originator="t3code_desktop")).header
    assert header["agent"]["name"] == "codex"
    assert header["lineage"] == {"inherits": NONE}


def test_C_01_a_fork_begins_with_its_parents_items(tmp_path: Path):
    """Stamped anew and otherwise equal: the prefix ends with the last of them."""
    family = Family(
        tmp_path,
        {"p.jsonl": [meta("P"), *OLD], "c.jsonl": fork(meta("P"), *copied(*OLD), *OWN)},
    )
    assert family.lineage(CHILD) == {
        "forkedFrom": {"session": PARENT, "evidence": "native_field"},
        "inherits": {
            "mode": "copied",
            "from": PARENT,
            "localThroughId": "line/7",
            "evidence": "converter_inference",
        },
    }
    own = [r for r in family.of(CHILD, "inference") if int(r["id"].removeprefix("line/")) > 7]
    assert [call["usage"]["inputTokens"] for call in own] == [50]
    assert family.sessions[CHILD][0]["scope"] == "primary"


def test_C_04_C_14_each_fork_of_one_parent_has_its_own_tail(tmp_path: Path):
    """Archived or not, equal spend or not: siblings are compared with the parent only."""
    files = {"p.jsonl": [meta("P"), *OLD]}
    for name in ("x", "y", "archived/z"):
        rows = [meta(name, forked_from_id="P"), *copied(*OLD), *OWN]
        files[f"{name}.jsonl"] = rows
    family = Family(tmp_path, files)
    for name in ("x", "y", "archived%2Fz"):
        reference = f"codex:{name}" if "%" not in name else "codex:archived/z"
        assert family.lineage(reference)["inherits"]["localThroughId"] == "line/6"


@pytest.mark.parametrize("seconds", [0, 5])
def test_C_05_time_is_no_proof_either_way(tmp_path: Path, seconds: int):
    """A slow replay is a copy, and own work in the second of the replay is own."""
    replayed = [
        {**row, "timestamp": f"2026-08-21T10:00:{n * seconds:02}.000Z"} for n, row in enumerate(OLD)
    ]
    own = [{**row, "timestamp": "2026-08-21T10:00:00.000Z"} for row in OWN]
    family = Family(tmp_path, {"p.jsonl": [meta("P"), *OLD], "c.jsonl": fork(*replayed, *own)})
    assert family.lineage(CHILD)["inherits"]["localThroughId"] == "line/6"


def test_C_08_an_empty_fork_has_nothing_of_its_own(tmp_path: Path):
    """All that it holds was copied."""
    family = Family(tmp_path, {"p.jsonl": [meta("P"), *OLD], "c.jsonl": fork(meta("P"), *OLD)})
    assert family.lineage(CHILD)["inherits"]["localThroughId"] == "line/7"
    assert family.sessions[CHILD][-1]["id"] == "line/7"


def test_C_02_a_cumulative_total_is_no_spend(tmp_path: Path):
    """A=100; B's counter goes on to 150: its own call has 50."""
    parent = [token_count(counts(100), counts(100))]
    own = token_count(counts(150, 20), counts(50))
    family = Family(
        tmp_path, {"p.jsonl": [meta("P"), *parent], "c.jsonl": fork(*copied(*parent), own)}
    )
    assert [c["usage"]["inputTokens"] for c in family.of(CHILD, "inference")] == [100, 50]
    assert family.lineage(CHILD)["inherits"]["localThroughId"] == "line/2"


def test_C_13_equal_first_counts_relate_nothing(tmp_path: Path):
    """Two threads that name no fork are not compared."""
    rows = [token_count(counts(1200), counts(1200))]
    family = Family(tmp_path, {"a.jsonl": [meta("A"), *rows], "b.jsonl": [meta("B"), *rows]})
    assert family.lineage("codex:A") == family.lineage("codex:B") == {"inherits": NONE}


def test_C_07_the_forks_id_is_not_the_parents(tmp_path: Path):
    """The parent's meta in the fork's file renames nothing, and its copies are copies."""
    family = Family(tmp_path, {"p.jsonl": [meta("P"), *OLD], "c.jsonl": fork(meta("P"), *OLD)})
    assert set(family.sessions) == {PARENT, CHILD}


def test_the_order_of_members_does_not_count(tmp_path: Path):
    """Items are compared as values."""
    turned = [dict(reversed(row.items())) for row in OLD]
    family = Family(tmp_path, {"p.jsonl": [meta("P"), *OLD], "c.jsonl": fork(*turned, *OWN)})
    assert family.lineage(CHILD)["inherits"]["localThroughId"] == "line/6"


def test_items_that_no_encoder_takes_are_compared_all_the_same(tmp_path: Path):
    """Lone surrogates, bytes that are no UTF-8, and lines that are no rows."""
    surrogate = json.dumps(item("\ud800"))
    bad = json.dumps(item("?")).encode().replace(b"?", b"\xff")
    rows = [surrogate, bad, "[]", {"type": "world_state"}, item("x")]
    later = {"type": "world_state", "own": True}
    family = Family(tmp_path, {"p.jsonl": [meta("P"), *rows], "c.jsonl": fork(*rows, later)})
    assert family.lineage(CHILD)["inherits"]["localThroughId"] == "line/6"


def test_items_that_are_nested_too_deeply_are_no_rows(tmp_path: Path):
    """Nothing raises, and they are passed over on both sides."""
    deep = b'{"type":"world_state","x":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    files = {"p.jsonl": [meta("P"), deep, item("x")], "c.jsonl": fork(item("x"), deep)}
    family = Family(tmp_path, files)
    assert family.lineage(CHILD)["inherits"]["localThroughId"] == "line/2"
    assert [finding.code for finding in family.findings] == ["too-deep", "too-deep"]


def test_items_that_cannot_be_decoded_are_compared_by_their_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Where the nesting is too deep for one decoder and not for the other."""

    def too_deep(*_: Any, **__: Any) -> Any:
        raise RecursionError

    bad = json.dumps(item("?")).encode().replace(b"?", b"\xff")
    files = {"p.jsonl": [meta("P"), bad], "c.jsonl": fork(bad, item("x"))}
    monkeypatch.setattr(json, "loads", too_deep)
    with LogSet() as logs:
        for name, rows in files.items():
            (tmp_path / name).write_bytes(jsonl(*rows))
            logs.add(tmp_path / name, print)
        header = next(logs.streams(tmp_path / "c.jsonl", print)).header
    assert header.lineage["inherits"]["localThroughId"] == "line/2"


@pytest.mark.parametrize(
    "rows",
    [
        [],
        OWN,
        [item("Other."), *OLD],
        [*OLD[:3], item("Changed."), started("t1")],
        [*OLD[:3], started("t1")],
        [OLD[2]],
        [*OLD, call("c1"), output("c9")],
    ],
)
def test_where_the_run_is_empty_or_broken_there_is_no_boundary(
    tmp_path: Path, rows: list[dict[str, Any]]
):
    """What follows a broken run is not thereby the fork's own: it carries an ID of the parent."""
    old = [*OLD, item("Two."), call("c9"), output("c9")]
    family = Family(tmp_path, {"p.jsonl": [meta("P"), *old], "c.jsonl": fork(*copied(*rows))})
    assert family.lineage(CHILD) == {"forkedFrom": {"session": PARENT, "evidence": "native_field"}}


def test_a_fork_at_an_earlier_point_has_a_shorter_prefix(tmp_path: Path):
    """What the parent did later is not in it."""
    later = [started("t2"), item("Later.")]
    family = Family(
        tmp_path, {"p.jsonl": [meta("P"), *OLD, *later], "c.jsonl": fork(*copied(*OLD), *OWN)}
    )
    assert family.lineage(CHILD)["inherits"]["localThroughId"] == "line/6"


def test_the_prefix_covers_an_announcement_of_its_last_row(tmp_path: Path):
    """All records that the last copied row gives are copies."""
    old = [*OLD, *spawn("c1", "K")]
    family = Family(
        tmp_path,
        {
            "p.jsonl": [meta("P"), *old],
            "c.jsonl": fork(*copied(*old), *OWN),
            "k.jsonl": [meta("K", parent_thread_id="P")],
        },
    )
    assert family.lineage(CHILD)["inherits"]["localThroughId"] == "line/8/subagent/0"
    assert family.lineage("codex:K")["spawnedBy"]["session"] == PARENT


def test_L_23_a_copied_meta_is_no_stream_of_its_thread(tmp_path: Path):
    """F was forked from P, P from G: neither parent is there, and no boundary is made up."""
    family = Family(tmp_path, {"f.jsonl": fork(meta("P"), meta("G"), *copied(*OLD), *OWN)})
    assert set(family.sessions) == {CHILD}
    assert family.lineage(CHILD) == {"forkedFrom": {"session": PARENT, "evidence": "native_field"}}


def test_siblings_of_an_absent_parent_are_not_related(tmp_path: Path):
    """Equal heads prove nothing without the parent."""
    files = {n: [meta(n, forked_from_id="P"), *OLD, *OWN] for n in ("A", "B")}
    family = Family(tmp_path, files)
    for name in files:
        assert set(family.lineage(f"codex:{name}")) == {"forkedFrom"}


def test_a_fork_of_a_fork_is_compared_with_its_own_parent(tmp_path: Path):
    """Whose file holds the first one's items as well."""
    files = {
        "p.jsonl": [meta("P"), *OLD],
        "c.jsonl": fork(meta("P"), *copied(*OLD), *OWN),
        "d.jsonl": [
            meta("D", forked_from_id="C"),
            meta("C"),
            meta("P"),
            *OLD,
            *OWN,
            started("t10"),
        ],
    }
    inherits = Family(tmp_path, files).lineage("codex:D")["inherits"]
    assert (inherits["from"], inherits["localThroughId"]) == (CHILD, "line/11")


def test_several_files_of_a_parent_must_agree(tmp_path: Path):
    """A copy that was cut off is passed over; one that contradicts leaves no boundary."""
    files = {"c.jsonl": fork(*copied(*OLD), *OWN), "p.jsonl": [meta("P"), *OLD]}
    cut = {**files, "cut.jsonl": [meta("P"), *OLD[:3]], "twin.jsonl": [meta("P"), *OLD]}
    assert Family(tmp_path / "cut", cut).lineage(CHILD)["inherits"]["localThroughId"] == "line/6"
    other = {**files, "other.jsonl": [meta("P"), *OLD[:3], item("Else.")]}
    assert "inherits" not in Family(tmp_path / "other", other).lineage(CHILD)


def test_a_cut_off_copy_of_a_fork_says_what_the_whole_says(tmp_path: Path):
    """One session, whichever of its files is read."""
    rows = fork(*copied(*OLD), *OWN)
    family = Family(
        tmp_path,
        {"p.jsonl": [meta("P"), *OLD], "whole.jsonl": rows, "cut.jsonl": rows[:4]},
    )
    whole, cut = (family.files[f"{name}.jsonl"][0][0]["lineage"] for name in ("whole", "cut"))
    assert whole == cut
    apart = Family(
        tmp_path / "apart",
        {
            "p.jsonl": [meta("P"), *OLD],
            "x.jsonl": rows,
            "y.jsonl": fork(*copied(*OLD[:3]), item("y")),
        },
    )
    ends = [apart.files[f"{n}.jsonl"][0][0]["lineage"]["inherits"]["localThroughId"] for n in "xy"]
    assert ends == ["line/6", "line/4"]


def test_L_16_a_subagents_forked_context_has_no_prefix(tmp_path: Path):
    """It is a filtered copy, whatever it looks like: both facets, and an unknown boundary."""
    for number, members in enumerate(
        ({"source": spawned_source()}, {"parent_thread_id": "P"}, {"thread_source": "subagent"})
    ):
        family = Family(
            tmp_path / str(number),
            {"p.jsonl": [meta("P"), *OLD], "c.jsonl": fork(*copied(*OLD), *OWN, **members)},
        )
        assert family.lineage(CHILD)["forkedFrom"]["session"] == PARENT
        assert "inherits" not in family.lineage(CHILD)
    assert family.sessions[CHILD][0]["scope"] == "subagent"


def test_a_thread_that_names_itself_is_no_fork():
    """A session does not diverge from itself."""
    assert "lineage" not in convert(meta("C", forked_from_id="C"), item("x")).header


# -- Ordinals ------------------------------------------------------------------------------------


def test_a_marked_start_ends_the_copied_context(tmp_path: Path):
    """`subagent_history_start_ordinal` is the first own ordinal."""
    own = meta("C", source=spawned_source(), forked_from_id="P", subagent_history_start_ordinal=3)
    rows = numbered(own, meta("P"), item("Copy."), item("Own."))
    family = Family(tmp_path, {"c.jsonl": rows})
    assert family.lineage(CHILD)["inherits"] == {
        "mode": "copied",
        "from": PARENT,
        "localThroughId": "ordinal/2",
        "evidence": "native_field",
    }
    assert family.findings == []


def test_a_marked_start_without_a_fork_names_the_spawner():
    """The context is the parent's; without any name there is nothing to claim."""
    for parents, expected in ((spawned_source(), PARENT), ({"subagent": "x"}, None)):
        own = meta("C", source=parents, subagent_history_start_ordinal=1)
        log = convert(*numbered(own, item("Own.")))
        inherits = log.header["lineage"].get("inherits", {})
        assert inherits.get("from") == expected


@pytest.mark.parametrize(
    "ordinals", [[0, 1, 3, 2], [0, 3, 1], [None, None, None], [0, None, 3], [3, 4, 5]]
)
def test_a_start_that_maps_to_no_one_row_is_no_boundary(ordinals: list[int | None]):
    """Ordinals that go back, that are missing, or that all lie behind: a notice (ASR-409)."""
    own = meta("C", source=spawned_source(), subagent_history_start_ordinal=3)
    rows = [own, *(item(str(n)) for n in ordinals[1:])]
    log = convert(
        *(
            row if n is None else {**row, "ordinal": n}
            for row, n in zip(rows, ordinals, strict=True)
        )
    )
    assert log.codes == ["unmapped-boundary"]
    assert log.findings[0].severity == "notice"
    assert "localThroughId" not in log.header["lineage"]["inherits"]


def test_a_fork_by_reference_has_ordinals(tmp_path: Path):
    """An exclusive end of 10 is ordinal 9, inclusive (ASR-407, 409)."""
    own = meta("C", forked_from_id="P", forked_from_ordinal_exclusive=10, **base("P", 10))
    family = Family(tmp_path, {"c.jsonl": numbered(own, item("Own."), start=10)})
    assert family.lineage(CHILD) == {
        "forkedFrom": {"session": PARENT, "ordinal": 9, "evidence": "native_field"},
        "inherits": {
            "mode": "referenced",
            "from": PARENT,
            "throughOrdinal": 9,
            "evidence": "native_field",
        },
    }
    assert family.sessions[CHILD][0]["segment"] == {"id": "C", "firstOrdinal": 10}


def test_a_fork_of_nothing_shares_no_record():
    """An exclusive end of 0 leaves no last shared one."""
    own = meta("C", forked_from_id="P", forked_from_ordinal_exclusive=0, **base("P", 0))
    lineage = convert(*numbered(own)).header["lineage"]
    assert "ordinal" not in lineage["forkedFrom"]
    assert "throughOrdinal" not in lineage["inherits"]


def test_a_spawned_thread_may_refer_to_its_context():
    """Both facets, and nothing is copied (the page's own example)."""
    own = meta(
        "C",
        source=spawned_source(agent_role="worker"),
        forked_from_id="P",
        forked_from_ordinal_exclusive=412,
        **base("P", 412),
    )
    lineage = convert(*numbered(own, start=412)).header["lineage"]
    assert set(lineage) == {"spawnedBy", "forkedFrom", "inherits", "role"}
    assert lineage["inherits"]["mode"] == "referenced"


def test_a_base_is_a_rollout_and_its_thread_the_ancestor(tmp_path: Path):
    """A fork may begin in a later page of its parent, or before its parent's own history."""
    page = f"x-P_{'R'}.jsonl"
    files = {
        page: numbered(meta("P", **base("P", 5)), item("p"), start=5),
        "c.jsonl": numbered(
            meta("C", forked_from_id="P", forked_from_ordinal_exclusive=7, **base("R", 7)), start=7
        ),
        "g.jsonl": numbered(meta("G"), item("g")),
        "d.jsonl": numbered(
            meta("D", forked_from_id="C", forked_from_ordinal_exclusive=2, **base("G", 2)), start=2
        ),
    }
    family = Family(tmp_path, files)
    assert family.lineage(CHILD)["inherits"]["from"] == PARENT
    assert family.lineage("codex:D")["inherits"]["from"] == "codex:G"
    assert family.lineage("codex:D")["forkedFrom"]["session"] == CHILD
    del files[page]
    missing = Family(tmp_path / "missing", files)
    assert missing.lineage(CHILD)["inherits"]["from"] == PARENT


def test_a_base_that_nothing_names_is_no_ancestor():
    """A fork that does not say where it begins, with a rollout that is not in scope."""
    own = meta("C", forked_from_id="P", **base("R", 7))
    assert set(convert(*numbered(own, start=7)).header["lineage"]) == {"forkedFrom"}


def pages(
    second: str = "x-C_R2.jsonl", third: str = "x-C_R3.jsonl", **members: Any
) -> dict[str, Any]:
    return {
        "x-C.jsonl": numbered(meta("C", **members), token_count(counts(10), counts(10))),
        second: numbered(
            meta("C", **members, **base("C", 2)),
            token_count(counts(10), counts(10)),
            token_count(counts(30), counts(20)),
            start=2,
        ),
        third: numbered(
            meta("C", **members, **base("R2", 5)), token_count(counts(30), counts(20)), start=5
        ),
    }


def test_pages_of_one_thread_are_segments(tmp_path: Path):
    """They join through their bases, share one lineage, and are no forks."""
    family = Family(tmp_path, pages())
    headers = [streams[0][0] for streams in family.files.values()]
    assert [header["segment"] for header in headers] == [
        {"id": "C", "firstOrdinal": 0},
        {"id": "R2", "after": "C", "firstOrdinal": 2},
        {"id": "R3", "after": "R2", "firstOrdinal": 5},
    ]
    assert [header["lineage"] for header in headers] == [{"inherits": NONE}] * 3


def test_a_total_that_a_page_repeats_is_no_call(tmp_path: Path):
    """Totals are compared across pages, as within one."""
    family = Family(tmp_path, pages())
    calls = [
        [r["usage"]["inputTokens"] for r in streams[0] if r["type"] == "inference"]
        for streams in family.files.values()
    ]
    assert calls == [[10], [20], []]


def test_a_total_is_looked_for_in_earlier_pages_too(tmp_path: Path):
    """A page without any count passes on the total of the one before it."""
    files = pages()
    files["x-C_R2.jsonl"] = numbered(meta("C", **base("C", 2)), item("x"), item("y"), start=2)
    files["x-C_R3.jsonl"] = numbered(
        meta("C", **base("R2", 5)), token_count(counts(10), counts(10)), start=5
    )
    family = Family(tmp_path, files)
    assert not [r for r in family.files["x-C_R3.jsonl"][0] if r["type"] == "inference"]


def test_a_fork_by_reference_repeats_its_bases_total(tmp_path: Path):
    """The total where the fork begins is the parent's at that ordinal, not its last."""
    rows = numbered(
        meta("P"), token_count(counts(10), counts(10)), token_count(counts(30), counts(20))
    )
    own = meta("C", forked_from_id="P", forked_from_ordinal_exclusive=2, **base("P", 2))
    counted = [token_count(counts(10), counts(10)), token_count(counts(30), counts(20))]
    files = {"p.jsonl": rows, "c.jsonl": numbered(own, *counted, start=2)}
    family = Family(tmp_path, files)
    assert [r["usage"]["inputTokens"] for r in family.of(CHILD, "inference")] == [20]
    for number, end in enumerate((None, 0)):
        files["c.jsonl"] = numbered(meta("C", forked_from_id="P", **base("P", end)), *counted)
        alone = Family(tmp_path / str(number), files)
        assert len(alone.of(CHILD, "inference")) == 2


def test_a_page_alone_knows_less(tmp_path: Path):
    """Without the first page nothing is said of what the thread inherited."""
    files = pages()
    del files["x-C.jsonl"]
    family = Family(tmp_path, files)
    assert not any("lineage" in streams[0][0] for streams in family.files.values())
    (header, *_) = family.files["x-C_R3.jsonl"][0]
    assert header["segment"]["after"] == "R2"


def test_a_page_whose_name_says_nothing_still_follows_the_first(tmp_path: Path):
    """Its own ID is unknown, so no other page follows it."""
    family = Family(tmp_path, pages("second.jsonl", "third.jsonl"))
    second, third = (family.files[name][0][0] for name in ("second.jsonl", "third.jsonl"))
    assert second["segment"] == {"id": "C/2", "after": "C", "firstOrdinal": 2}
    assert second["lineage"] == {"inherits": NONE}
    assert "lineage" not in third


def test_the_pages_of_a_fork_share_its_lineage(tmp_path: Path):
    """A base that ends elsewhere than the fork is the page before."""
    forked = {"forked_from_id": "P", "forked_from_ordinal_exclusive": 1}
    files = pages(**forked)
    files["x-C.jsonl"] = numbered(
        meta("C", **forked, **base("P", 1)), token_count(counts(10), counts(10)), start=1
    )
    family = Family(tmp_path, files)
    lineages = [streams[0][0]["lineage"] for streams in family.files.values()]
    assert lineages[0]["inherits"]["mode"] == "referenced"
    assert lineages == [lineages[0]] * 3


def test_circles_of_pages_end(tmp_path: Path):
    """Two pages that each name the other have no first one."""
    family = Family(
        tmp_path,
        {
            "x-C_R1.jsonl": numbered(meta("C", **base("R2", 1)), item("a")),
            "x-C_R2.jsonl": numbered(meta("C", **base("R1", 1)), item("b")),
        },
    )
    assert not any("lineage" in streams[0][0] for streams in family.files.values())


def test_a_page_that_follows_another_threads_rollout_has_no_first(tmp_path: Path):
    """One rollout name in two threads joins nothing."""
    family = Family(
        tmp_path,
        {
            "x-P.jsonl": numbered(meta("P"), item("p")),
            "x-P_R.jsonl": numbered(meta("P", **base("P", 2)), item("p"), start=2),
            "x-C_R.jsonl": numbered(meta("C"), item("c")),
            "x-C_S.jsonl": numbered(meta("C", **base("R", 4)), item("c"), start=4),
            "x-P_S.jsonl": numbered(meta("P", **base("x", 4)), item("c"), start=4),
        },
    )
    assert "inherits" not in family.files["x-C_S.jsonl"][0][0].get("lineage", {})


def test_a_paginated_parent_in_pages_leaves_no_copied_prefix(tmp_path: Path):
    """The rule compares with a whole parent."""
    files = {"x-P.jsonl": numbered(meta("P"), item("a"))}
    files["x-P_R.jsonl"] = numbered(meta("P", **base("P", 2)), item("b"), start=2)
    files["c.jsonl"] = fork(item("a"), item("b"))
    assert "inherits" not in Family(tmp_path, files).lineage(CHILD)


def test_archived_twins_are_equal(tmp_path: Path):
    """The same bytes in two folders give the same streams."""
    rows = numbered(meta("C"), item("x"), token_count(counts(5), counts(5)))
    family = Family(tmp_path, {"sessions/x-C.jsonl": rows, "archived_sessions/x-C.jsonl": rows})
    one, two = (streams[0] for streams in family.files.values())
    assert one == two


# -- Spend ---------------------------------------------------------------------------------------


def usage_record(
    response: str, usage: dict[str, int] | None, thread: dict[str, int] | None = None
) -> dict[str, Any]:
    payload = {"response_id": response, "usage": usage, "thread_token_usage": thread}
    return rollout("token_usage_record", {k: v for k, v in payload.items() if v is not None})


def test_a_count_and_the_record_of_its_response_are_one_call():
    """By the thread's total, or by the same counts just before."""
    record = {**counts(10), "cache_write_input_tokens": 0}
    total = {"input_tokens": 30, "output_tokens": 20, "total_tokens": 50}
    log = convert(
        meta("C"),
        token_count(counts(10), counts(10)),
        usage_record("r1", record),
        token_count(counts(30, 20), counts(20)),
        usage_record("r2", record, total),
        token_count(counts(60, 30), counts(30)),
        usage_record("r3", counts(30), {"input_tokens": math.prod((7, 1))}),
        usage_record("r4", counts(5)),
        usage_record("r5", None),
    )
    calls = log.of("inference")
    assert [call["inferenceId"] for call in calls] == ["r1", "r2", "r3", "r4", "r5"]
