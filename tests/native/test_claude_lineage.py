"""How sessions of Claude Code hang together: facets, copies and announcements, by evidence."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, Any

import pytest
from native_families import COPIES, continued, marked, of, result
from native_rows import SESSION, Family, assistant, convert, tool_result, tool_use, user

if TYPE_CHECKING:
    from pathlib import Path

AGENT = "a7c41e09b2d35f867"
NESTED = "a0b1c2d3e4f506172"
PARENT = f"claude-code:{SESSION}"
CHILD = f"claude-code:{AGENT}"
SUB = f"{SESSION}/subagents"


def child(agent: str = AGENT, **members: Any) -> list[dict[str, Any]]:
    """The transcript of a subagent."""
    common: dict[str, Any] = {"agentId": agent, "isSidechain": True, **members}
    return [user("c1", "Look.", **common), assistant("c2", "msg_c", request="req_c", **common)]


def spawned_by(session: str, call: str | None = None, evidence: str = "native_field") -> Any:
    record = {} if call is None else {"record": f"callId={call}"}
    return {"session": session, "evidence": evidence, **record}


# -- Subagents -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [f"agent-{AGENT}.jsonl", f"{SUB}/agent-{AGENT}.jsonl", "x.jsonl"])
def test_a_delegation_names_the_child_wherever_its_file_lies(tmp_path: Path, name: str):
    """The spawner's record has the call and the agent's ID: spawnedBy, and nothing inherited."""
    family = Family(
        tmp_path,
        {
            "p.jsonl": [user("u1"), result(AGENT, said={"agentType": "Explore"})],
            name: child(),
        },
    )
    assert family.lineage(CHILD) == {
        "spawnedBy": spawned_by(PARENT, "toolu_1"),
        "inherits": {"mode": "none", "evidence": "native_structure"},
        "role": "Explore",
    }
    assert family.lineage(PARENT) == {}
    (announced,) = family.of(PARENT, "subagent")
    assert announced["childSession"] == CHILD
    assert announced["callId"] == "toolu_1"
    assert announced["role"] == "Explore"
    assert announced["status"] == "completed"
    assert announced["id"] == "r1/subagent/0"
    assert not {"async", "awaited", "supersedes", "copiedFrom"} & set(announced)


def test_the_order_of_files_makes_no_difference(tmp_path: Path):
    """Every order of a family gives the same streams."""
    files = {
        "p.jsonl": [
            user("u1"),
            result(AGENT),
            {"type": "continued-in", "sessionId": SESSION, "continuedInSessionId": "N"},
        ],
        "c.jsonl": child(),
        "n.jsonl": [user("u1", sessionId="N"), user("n1", sessionId="N")],
    }
    texts = {
        json.dumps(Family(tmp_path, dict(order)).sessions, sort_keys=True)
        for order in itertools.permutations(files.items())
    }
    assert len(texts) == 1


def test_a_short_agent_id_is_looked_for_in_its_container_only(tmp_path: Path):
    """Two parents may have delegated to one short ID: each child is its own parent's (ASR-054)."""
    family = Family(
        tmp_path,
        {
            "p.jsonl": [user("u1", sessionId="P"), result("ab12cd3", "t1", sessionId="P")],
            "q.jsonl": [user("u1", sessionId="Q"), result("ab12cd3", "t2", sessionId="Q")],
            "P/subagents/agent-ab12cd3.jsonl": child("ab12cd3", sessionId="P"),
            "Q/subagents/agent-ab12cd3.jsonl": child("ab12cd3", sessionId="Q"),
        },
    )
    for name, call in (("P", "t1"), ("Q", "t2")):
        claim = family.lineage(f"claude-code:{name}:ab12cd3")["spawnedBy"]
        assert claim == spawned_by(f"claude-code:{name}", call)
        (announced,) = family.of(f"claude-code:{name}", "subagent")
        assert announced["childSession"] == f"claude-code:{name}:ab12cd3"


def test_L_10_the_folder_names_the_root_where_nothing_else_does(tmp_path: Path):
    """Without a delegation in scope: native_structure, and no claim about what was inherited."""
    alone = Family(tmp_path, {f"{SUB}/agent-{AGENT}.jsonl": child()})
    assert alone.lineage(CHILD) == {"spawnedBy": spawned_by(PARENT, None, "native_structure")}
    flat = Family(tmp_path / "flat", {"whatever.jsonl": child()})
    assert flat.lineage(CHILD) == alone.lineage(CHILD)


def test_the_folder_names_the_root_where_the_records_name_only_the_agent(tmp_path: Path):
    """A record may carry `agent-<id>` for a session ID: that is no root."""
    rows = child(sessionId=f"agent-{AGENT}")
    family = Family(tmp_path, {f"{SUB}/agent-{AGENT}.jsonl": rows})
    assert family.lineage(CHILD)["spawnedBy"]["session"] == PARENT
    moved = Family(tmp_path / "moved", {f"agent-{AGENT}.jsonl": rows})
    assert moved.lineage(CHILD) == {}


def test_where_folder_and_records_disagree_no_root_is_named(tmp_path: Path):
    """Two structures that contradict each other are no evidence."""
    family = Family(tmp_path, {f"{SUB}/agent-{AGENT}.jsonl": child(sessionId="another")})
    assert family.lineage(CHILD) == {}


@pytest.mark.parametrize(
    "name", ["subagents/agent-{}.jsonl", "workflows/run/agent-{}.jsonl", "S/agents/agent-{}.jsonl"]
)
def test_other_folders_name_nothing(tmp_path: Path, name: str):
    """Only the folders in which the source stores subagents say whose they are."""
    file = name.format(AGENT).replace("subagents", "S/sub")
    assert Family(tmp_path, {file: child(sessionId=AGENT)}).lineage(CHILD) == {}


def companion(**members: Any) -> bytes:
    return json.dumps(members).encode()


def test_L_08_a_grandchild_belongs_to_the_agent_that_called_it(tmp_path: Path):
    """P calls A, A calls B: B's own metadata and A's record name A and the call c2."""
    files = {
        f"{SESSION}.jsonl": [user("u1"), result(AGENT, "c1")],
        f"{SUB}/agent-{AGENT}.jsonl": [*child(), result(NESTED, "c2", agentId=AGENT)],
        f"{SUB}/agent-{NESTED}.jsonl": child(NESTED),
    }
    expected = spawned_by(CHILD, "c2")
    by_record = Family(tmp_path / "record", files)
    assert by_record.lineage(f"claude-code:{NESTED}")["spawnedBy"] == expected
    del files[f"{SUB}/agent-{AGENT}.jsonl"]
    files[f"{SUB}/agent-{NESTED}.meta.json"] = companion(
        agentType="Plan", spawnDepth=2, parentAgentId=AGENT, toolUseId="c2"
    )
    by_companion = Family(tmp_path / "companion", files)
    lineage = by_companion.lineage(f"claude-code:{NESTED}")
    assert lineage == {"spawnedBy": expected, "role": "Plan"}


def test_a_nested_agent_with_an_unknown_spawner_is_only_related_to_the_root(tmp_path: Path):
    """The depth says that the root did not spawn it (ASR-405)."""
    for depth, facet in ((1, "spawnedBy"), (2, "relatedUnknown"), (0, "relatedUnknown")):
        folder = tmp_path / str(depth)
        family = Family(
            folder,
            {
                f"{SUB}/agent-{AGENT}.meta.json": companion(spawnDepth=depth),
                f"{SUB}/agent-{AGENT}.jsonl": child(),
            },
        )
        claim = {"session": PARENT, "evidence": "native_structure"}
        assert family.lineage(CHILD) == {facet: claim}


def test_a_short_nested_agent_has_the_container_as_namespace(tmp_path: Path):
    """The parent agent that the companion names is looked for in the same container."""
    files = {
        f"{SUB}/agent-{AGENT}.meta.json": companion(parentAgentId="ab12cd3", toolUseId="c2"),
        f"{SUB}/agent-{AGENT}.jsonl": child(),
    }
    claim = Family(tmp_path, files).lineage(CHILD)["spawnedBy"]
    assert claim == spawned_by(f"claude-code:{SESSION}:ab12cd3", "c2")
    files[f"agent-{AGENT}.meta.json"] = files.pop(f"{SUB}/agent-{AGENT}.meta.json")
    files[f"agent-{AGENT}.jsonl"] = child(sessionId=AGENT)
    del files[f"{SUB}/agent-{AGENT}.jsonl"]
    assert Family(tmp_path / "no-container", files).lineage(CHILD) == {}


@pytest.mark.parametrize("text", [b"[]", b"{", b'{"spawnDepth": "x"}', b"\xff", b" " * (1 << 21)])
def test_companions_that_say_nothing_cost_nothing(tmp_path: Path, text: bytes):
    """What cannot be read of a companion file is not known."""
    family = Family(
        tmp_path,
        {f"{SUB}/agent-{AGENT}.meta.json": text, f"{SUB}/agent-{AGENT}.jsonl": child()},
    )
    assert family.lineage(CHILD) == {"spawnedBy": spawned_by(PARENT, None, "native_structure")}
    assert family.findings == []


def test_a_companion_that_cannot_be_opened_costs_nothing(tmp_path: Path):
    """A folder of that name, and an agent ID that is no file name."""
    (tmp_path / f"agent-{AGENT}.meta.json").mkdir()
    family = Family(tmp_path, {"a.jsonl": child(), "b.jsonl": child("../x")})
    assert family.lineage(CHILD)["spawnedBy"]["session"] == PARENT
    assert family.lineage("claude-code:../x")["spawnedBy"]["session"] == PARENT


def test_a_name_too_long_for_a_file_costs_nothing(tmp_path: Path):
    """An agent ID may be longer than any file's name."""
    family = Family(tmp_path, {"a.jsonl": child("x" * 300)})
    assert family.lineage(f"claude-code:{'x' * 300}")["spawnedBy"]["session"] == PARENT


def test_a_nested_agent_without_a_root_is_related_to_nothing(tmp_path: Path):
    """The depth alone names no session."""
    family = Family(
        tmp_path,
        {
            f"agent-{AGENT}.meta.json": companion(spawnDepth=2),
            f"agent-{AGENT}.jsonl": child(sessionId=AGENT),
        },
    )
    assert family.lineage(CHILD) == {}


def test_two_spawners_of_one_agent_are_not_chosen_between(tmp_path: Path):
    """P and A both have a result of agent B: only the root is known to be related."""
    family = Family(
        tmp_path,
        {
            "p.jsonl": [user("u1"), result(AGENT, "c1"), result(NESTED, "c3", uuid="r2")],
            "a.jsonl": [*child(), result(NESTED, "c2", agentId=AGENT)],
            "b.jsonl": [user("n1", agentId=NESTED, isSidechain=True)],
        },
    )
    assert family.lineage(f"claude-code:{NESTED}") == {
        "relatedUnknown": {"session": PARENT, "evidence": "native_structure"},
        "inherits": {"mode": "none", "evidence": "native_structure"},
    }


def test_side_agents_of_a_compaction_are_no_delegation(tmp_path: Path):
    """RelatedUnknown to the session in whose folder they lie; nothing is announced."""
    side = "acompact-946d2b"
    family = Family(
        tmp_path,
        {
            "p.jsonl": [user("u1"), result(side)],
            f"{SUB}/agent-{side}.jsonl": child(side),
        },
    )
    assert family.lineage(f"claude-code:{SESSION}:{side}") == {
        "relatedUnknown": {"session": PARENT, "evidence": "native_structure"}
    }
    assert family.of(PARENT, "subagent") == []


def test_C_11_an_equal_head_proves_nothing(tmp_path: Path):
    """A side agent that begins with the main conversation's rows has no copies that are proven."""
    side = "acompact-946d2b"
    rows = [user("u1"), assistant("a1", "m1")]
    own = assistant("x1", "m2", agentId=side)
    family = Family(
        tmp_path,
        {"p.jsonl": rows, "s.jsonl": [*({**row, "agentId": side} for row in rows), own]},
    )
    stream = family.sessions[f"claude-code:{SESSION}:{side}"]
    assert set(stream[0]["lineage"]) == {"relatedUnknown"}
    assert not [record for record in stream if "copiedFrom" in record]


def test_the_children_of_a_workflow_are_the_launching_sessions(tmp_path: Path):
    """Their folder names the run, and the launch the call; no record names one of them."""
    launched = user(
        "r1",
        [tool_result("w1")],
        toolUseResult={"status": "async_launched", "runId": "wf_1", "transcriptDir": "/x"},
    )
    other = user("r2", "x", toolUseResult={"runId": "wf_2"})
    files = {
        "p.jsonl": [user("u1"), launched, other],
        f"{SUB}/workflows/wf_1/agent-{AGENT}.jsonl": child(),
        f"{SUB}/workflows/wf_2/agent-{NESTED}.jsonl": child(NESTED),
    }
    family = Family(tmp_path, files)
    assert family.lineage(CHILD) == {"spawnedBy": spawned_by(PARENT, "w1", "native_structure")}
    assert family.lineage(f"claude-code:{NESTED}") == {
        "spawnedBy": spawned_by(PARENT, None, "native_structure")
    }
    assert family.of(PARENT, "subagent") == []


def test_L_13_an_orphan_is_no_root(tmp_path: Path):
    """A child whose parent is not there names it all the same (ASR-401, 406)."""
    lineage = Family(tmp_path, {"c.jsonl": child()}).lineage(CHILD)
    assert "root" not in lineage
    assert lineage["spawnedBy"]["session"] == PARENT


def test_L_22_a_child_never_waits_for_its_parent(tmp_path: Path):
    """Times say nothing: a parent whose last row is older than the child delegates all the same."""
    early, late = "2026-08-20T09:00:10.000Z", "2026-08-20T09:00:22.000Z"
    family = Family(
        tmp_path,
        {
            "p.jsonl": [user("u1"), result(AGENT, timestamp=early)],
            "c.jsonl": child(timestamp=late),
        },
    )
    assert family.lineage(CHILD)["spawnedBy"] == spawned_by(PARENT, "toolu_1")


def test_a_context_that_is_referred_to_is_inherited_by_reference(tmp_path: Path):
    """`fork-context-ref`: nothing is copied, and the parent's records belong to the context."""
    reference = {
        "type": "fork-context-ref",
        "agentId": AGENT,
        "parentSessionId": SESSION,
        "parentLastUuid": "a1",
        "contextLength": 2,
    }
    inherits = {
        "mode": "referenced",
        "from": PARENT,
        "throughId": "a1",
        "evidence": "native_field",
    }
    alone = Family(tmp_path / "alone", {"c.jsonl": [reference, *child(sessionId=AGENT)]})
    assert alone.lineage(CHILD) == {"spawnedBy": spawned_by(PARENT), "inherits": inherits}
    assert alone.sessions[CHILD][0]["scope"] == "subagent"
    family = Family(
        tmp_path / "family",
        {
            "p.jsonl": [user("u1"), assistant("a1"), result(AGENT)],
            "c.jsonl": [{**reference, "parentLastUuid": "a=1"}, *child()],
        },
    )
    del inherits["throughId"]
    assert family.lineage(CHILD) == {
        "spawnedBy": spawned_by(PARENT, "toolu_1"),
        "inherits": inherits,
    }


def test_a_reference_to_a_context_counts_only_at_the_head(tmp_path: Path):
    """Later rows of that type, and those that name no session, say nothing of the start."""
    row = {"type": "fork-context-ref", "agentId": AGENT, "parentSessionId": "P"}
    late = Family(tmp_path / "late", {"c.jsonl": [*child(), row]})
    assert "inherits" not in late.lineage(CHILD)
    empty = Family(tmp_path / "empty", {"c.jsonl": [{**row, "parentSessionId": ""}, *child()]})
    assert "inherits" not in empty.lineage(CHILD)


def test_a_short_agents_context_row_without_session_id_is_found(tmp_path: Path):
    """Its container is known from the other rows."""
    row = {"type": "fork-context-ref", "agentId": "ab12cd3", "parentSessionId": "P"}
    family = Family(tmp_path, {"c.jsonl": [row, *child("ab12cd3", sessionId="P")]})
    assert family.lineage("claude-code:P:ab12cd3")["inherits"]["from"] == "claude-code:P"


def test_rows_of_an_agent_in_its_parents_file_claim_no_fresh_start(tmp_path: Path):
    """The rule is about subagents in files of their own."""
    family = Family(tmp_path, {"p.jsonl": [user("u1"), result(AGENT), *child()]})
    assert family.lineage(CHILD) == {"spawnedBy": spawned_by(PARENT, "toolu_1")}


FORKED = {"p.jsonl": [user("u1"), assistant("a1", "m1", request="q1"), result(AGENT)]}


def test_a_subagent_that_repeats_its_spawners_records_holds_copies(tmp_path: Path):
    """What has the ID, the message and the request of a spawner's record is a copy of it."""
    head = [
        {**row, "agentId": AGENT, "isSidechain": True}
        for row in (user("u1"), assistant("a1", "m1", request="q1"), assistant("r1", "m9"))
    ]
    family = Family(tmp_path, {**FORKED, "c.jsonl": [*head, *child()]})
    assert family.lineage(CHILD) == {"spawnedBy": spawned_by(PARENT, "toolu_1")}
    marks = {row["id"]: row.get("copiedFrom") for row in family.sessions[CHILD]}
    mark = {"session": PARENT, "proof": "native_id"}
    assert marks["u1"] == {**mark, "record": "messageId=u1"}
    assert marks["a1/inference/0"] == {**mark, "record": "a1/inference/0"}
    assert marks["r1"] is marks["c1"] is marks["c2"] is None


@pytest.mark.parametrize("files", [{"c.jsonl": child()}, {"c.jsonl": [*child(), user("x")]}])
def test_other_ids_are_no_copies(tmp_path: Path, files: dict[str, Any]):
    """A subagent with records of its own alone starts fresh."""
    family = Family(tmp_path, {**FORKED, **files})
    assert family.lineage(CHILD)["inherits"]["mode"] == "none"


@pytest.mark.parametrize(
    ("said", "companion", "members"),
    [
        ({}, {}, {"parentUuid": "a1"}),
        ({"agentType": "fork"}, {}, {}),
        ({}, {"agentType": "fork"}, {}),
        ({}, {"isFork": True}, {}),
    ],
)
def test_a_forked_subagent_claims_no_fresh_start(
    tmp_path: Path, said: dict[str, Any], companion: dict[str, Any], members: dict[str, Any]
):
    """Its first record hangs on another one, or its type says that it is a fork."""
    family = Family(
        tmp_path,
        {
            "p.jsonl": [user("u1"), result(AGENT, said=said)],
            f"agent-{AGENT}.meta.json": [companion],
            f"agent-{AGENT}.jsonl": child(**members),
        },
    )
    assert "inherits" not in family.lineage(CHILD)
    assert family.lineage(CHILD)["spawnedBy"] == spawned_by(PARENT, "toolu_1")


def teammate(name: str = "scout@t1", call: str = "toolu_1", **members: Any) -> dict[str, Any]:
    said = {"status": "teammate_spawned", "agent_id": name, "agent_type": "critic"}
    uuid = members.pop("uuid", "r1")
    return user(uuid, [tool_result(call)], toolUseResult=said, **members)


def mates(*rows: dict[str, Any], **companion: Any) -> dict[str, Any]:
    said = {"taskKind": "in_process_teammate", "name": "scout", "teamName": "t1", **companion}
    return {
        "p.jsonl": [user("u1"), *rows],
        f"{SUB}/agent-{AGENT}.meta.json": [{"spawnDepth": 0, **said}],
        f"{SUB}/agent-{AGENT}.jsonl": child(),
    }


def test_a_teammate_is_spawned_by_the_session_that_names_it(tmp_path: Path):
    """Name and team lead from the call's result to the companion file of one subagent."""
    family = Family(tmp_path, mates(teammate()))
    assert family.lineage(CHILD) == {"spawnedBy": spawned_by(PARENT, "toolu_1", "native_structure")}
    (announced,) = family.of(PARENT, "subagent")
    assert (announced["childSession"], announced["callId"]) == (CHILD, "toolu_1")


@pytest.mark.parametrize(
    "files",
    [
        mates(teammate("scout@t2")),
        mates(teammate("scout")),
        mates(teammate("@t1")),
        mates(teammate(), teammate(call="toolu_2", uuid="r2")),
        mates(teammate(), taskKind="other"),
        mates(teammate(), name=""),
        mates(teammate()) | {"q.jsonl": [teammate(forkedFrom=None, uuid="r7", agentId=NESTED)]},
    ],
)
def test_names_that_lead_to_no_one_teammate_announce_nothing(tmp_path: Path, files: dict[str, Any]):
    """The folder still shows the root session."""
    family = Family(tmp_path, files)
    root = {"session": PARENT, "evidence": "native_structure"}
    assert family.lineage(CHILD) == {"relatedUnknown": root}
    assert family.of(PARENT, "subagent") == []


def cleared(*processes: str, **members: Any) -> list[dict[str, Any]]:
    rows = [user(f"v{n}", session_id=one, **members) for n, one in enumerate(processes)]
    return [user("v", **members), *rows]


@pytest.mark.parametrize(
    ("processes", "related"),
    [
        (["A"], True),
        (["A", "A"], True),
        (["A", ""], True),
        (["A", SESSION], True),
        ([SESSION], False),
        ([SESSION, "A"], False),
        (["A", "C"], False),
        (["A", SESSION, "A", "C", "D"], False),
    ],
)
def test_a_cleared_session_is_related_to_the_first_of_its_process(
    tmp_path: Path, processes: list[str], related: bool
):
    """`session_id` names it; where rows name several sessions, nothing is claimed."""
    family = Family(tmp_path, {"b.jsonl": cleared(*processes)})
    claim = {"relatedUnknown": {"session": "claude-code:A", "evidence": "native_field"}}
    assert family.lineage(PARENT) == (claim if related else {})


def test_a_process_adds_nothing_to_a_continuation(tmp_path: Path):
    """The same session is not named twice."""
    files = {"a.jsonl": [user("u1", sessionId="A"), continued("A", SESSION)]}
    family = Family(tmp_path, {**files, "b.jsonl": cleared("A")})
    assert set(family.lineage(PARENT)) == {"continues"}


# -- Announcements -------------------------------------------------------------------------------


def notification(task: str, status: str, call: str = "toolu_1", **members: Any) -> dict[str, Any]:
    text = (
        f"<task-notification>\n<task-id>{task}</task-id>\n<tool-use-id>{call}</tool-use-id>\n"
        f"<status>{status}</status>\n<summary>It ended</summary>\n</task-notification>"
    )
    whole = {"content": text, "origin": {"kind": "task-notification"}, "uuid": "n1", **members}
    return user(**whole)


def launch(agent: str = AGENT, **members: Any) -> dict[str, Any]:
    said = {"isAsync": True, "status": "async_launched", "description": "Count files"}
    return result(agent, said=said, **members)


def test_L_11_a_launch_is_only_a_receipt():
    """Background: async, not awaited, and no status until the source states one (ASR-411, 424)."""
    log = convert(user("u1"), launch(), notification(AGENT, "killed"))
    first, last = log.of("subagent")
    assert (first["async"], first["awaited"]) == (True, False)
    assert "status" not in first
    assert first["description"] == "Count files"
    assert last["supersedes"] == first["id"]
    assert last["status"] == "stopped"
    for member in ("childSession", "callId", "async", "awaited", "description"):
        assert last[member] == first[member]
    assert log.index.findings == ()


@pytest.mark.parametrize("status", ["completed", "failed", "paused"])
def test_the_status_is_the_sources(status: str):
    """A word that the page does not have stands as it is."""
    assert convert(launch(), notification(AGENT, status)).of("subagent")[-1]["status"] == status


def test_a_foreground_call_says_what_it_says():
    """`isAsync: false` is a statement; a result without it is none."""
    log = convert(result(AGENT, said={"isAsync": False}))
    assert log.of("subagent")[0]["async"] is False
    assert "awaited" not in log.of("subagent")[0]


@pytest.mark.parametrize(
    "row",
    [
        notification(AGENT, "completed", origin=...),
        notification(AGENT, "completed", origin={"kind": "human"}),
        notification(AGENT, "completed", origin={"kind": 7}),
        notification(AGENT, "completed", message=None),
        notification("another", "completed"),
        notification(AGENT, ""),
        notification(AGENT, "x", content=7),
        notification(AGENT, "completed\ud800"),
        notification(AGENT, "x", content="<task-notification><task-id>a</task-id>"),
        notification(AGENT, "x", content=[{"type": "text", "text": 7}, {"type": "image"}]),
        notification(AGENT, "x", content=f"{AGENT} completed"),
        user("n1", f"agentId: {NESTED}"),
        user("n1", [tool_result("toolu_9")], toolUseResult=f"agentId: {NESTED}"),
        user("n1", [tool_result("toolu_9")], toolUseResult={"agentId": ""}),
        {"type": "queue-operation", "sessionId": SESSION, "content": f"<task-id>{AGENT}</task-id>"},
    ],
)
def test_ids_in_free_text_announce_nothing(row: dict[str, Any]):
    """Only a row that the source marks as a notification, about an agent that was announced."""
    assert len(convert(launch(), row).of("subagent")) == 1


def test_a_notification_in_blocks_is_read():
    """The text of one of the blocks, whatever else stands there."""
    text = notification(AGENT, "completed")["message"]["content"]
    blocks = [{"type": "image"}, {"type": "text", "text": "x"}, {"type": "text", "text": text}]
    log = convert(launch(), notification(AGENT, "", content=blocks))
    assert log.of("subagent")[-1]["status"] == "completed"


def queued(task: str, status: str, **members: Any) -> dict[str, Any]:
    """A notification that waited in the queue of commands."""
    text = notification(task, status)["message"]["content"]
    command = {
        "type": "queued_command",
        "commandMode": "task-notification",
        "prompt": text,
        **members,
    }
    row = user("n9", type="attachment", attachment=command)
    del row["message"]
    return row


def test_a_notification_that_waited_in_the_queue_is_a_revision():
    """A background child's end may come as an attached command."""
    log = convert(launch(), queued(AGENT, "killed"))
    first, second = log.of("subagent")
    assert second["supersedes"] == first["id"]
    assert (second["id"], second["status"]) == ("n9/subagent/0", "stopped")


@pytest.mark.parametrize(
    "row",
    [
        queued(AGENT, "completed", commandMode="prompt"),
        queued(AGENT, "completed", type="file"),
        queued(AGENT, "completed", prompt=["x"]),
        queued("a0000000000000001", "completed"),
        user("n9", type="attachment", message=..., attachment=[1]),
    ],
)
def test_other_attachments_end_no_task(row: dict[str, Any]):
    """Only a queued task notification of a known child revises an announcement."""
    assert len(convert(launch(), row).of("subagent")) == 1


@pytest.mark.parametrize("tool", ["Agent", "Task", "Bash"])
def test_role_and_description_come_from_the_call_where_the_result_lacks_them(tool: str):
    """The delegating call asks for a kind of subagent and describes the task."""
    call = tool_use("toolu_1", tool)
    call["input"] = {"subagent_type": "Scout", "description": "Look around"}
    (announced,) = convert(assistant("a1", "m1", call), result(AGENT)).of("subagent")
    said = (announced.get("role"), announced.get("description"))
    assert said == ((None, None) if tool == "Bash" else ("Scout", "Look around"))
    (announced,) = convert(
        assistant("a1", "m1", call), result(AGENT, said={"agentType": "Explore"})
    ).of("subagent")
    assert announced["role"] == "Explore"


def test_what_the_result_of_an_agent_says_is_no_status():
    """A status behind the summary is part of what the agent wrote."""
    text = notification(AGENT, "")["message"]["content"].replace("<status></status>", "")
    text = text.replace("It ended", "<status>completed</status>")
    assert len(convert(launch(), notification(AGENT, "", content=text)).of("subagent")) == 1


def test_embedded_progress_announces_once():
    """Progress names the agent and the call; the result is the next revision."""
    data = {"type": "agent_progress", "agentId": AGENT, "message": {"type": "user"}}
    progress = {
        "type": "progress",
        "uuid": "p1",
        "sessionId": SESSION,
        "data": data,
        "parentToolUseID": "toolu_1",
    }
    log = convert(progress, {**progress, "uuid": "p2"}, result(AGENT))
    first, last = log.of("subagent")
    assert (first["id"], first["callId"]) == ("p1/subagent/0", "toolu_1")
    assert (last["supersedes"], last["status"]) == (first["id"], "completed")


@pytest.mark.parametrize(
    "data",
    [
        {"type": "agent_progress"},
        {"type": "hook_progress", "agentId": AGENT, "note": "agent_progress"},
        {"type": "agent_progress", "agentId": "acompact-1"},
        "agent_progress",
    ],
)
def test_other_progress_announces_nothing(data: Any):
    """Hooks, side agents, and what names no agent."""
    row = {"type": "progress", "uuid": "p1", "sessionId": SESSION, "data": data}
    assert convert(row, '{"agent_progress": 1, "type": "progress"}').of("subagent") == []


@pytest.mark.parametrize(
    "content", ["text", [], [tool_result("t1"), tool_result("t2")], [tool_result(None)]]
)
def test_a_result_of_no_one_call_names_no_call(content: Any):
    """The call is known only where the row is the result of exactly one."""
    row = user("r1", content, toolUseResult={"agentId": AGENT})
    (announced,) = convert(row).of("subagent")
    assert "callId" not in announced
    assert announced["childSession"] == CHILD


def test_a_resumed_agent_is_a_change_of_state():
    """A later call to the same agent revises the announcement, which keeps the delegating call."""
    log = convert(result(AGENT, "t1"), launch(call="t2", uuid="r2"))
    first, last = log.of("subagent")
    assert last["supersedes"] == first["id"]
    assert last["callId"] == "t1"
    assert last["async"] is True


def test_announcements_are_the_same_without_content():
    """Only the description is left out."""
    rows = (user("u1"), launch(), notification(AGENT, "completed"))
    lean, full = (convert(*rows, content=content).of("subagent") for content in (False, True))
    assert [{k: v for k, v in record.items() if k != "description"} for record in full] == lean


# -- Branches and forks --------------------------------------------------------------------------


BRANCH = "claude-code:B"


def test_a_branch_marks_each_copy(tmp_path: Path):
    """`forkedFrom` on each record: the facet, the prefix, and copiedFrom in the source's IDs."""
    own = [user("u3", sessionId="B"), assistant("a3", "m3", sessionId="B")]
    family = Family(tmp_path, {"b.jsonl": [*map(marked, COPIES), *own]})
    assert family.lineage(BRANCH) == {
        "forkedFrom": {
            "session": "claude-code:A",
            "record": "messageId=u2",
            "evidence": "native_field",
        },
        "inherits": {
            "mode": "copied",
            "from": "claude-code:A",
            "throughId": "u2",
            "localThroughId": "u2",
            "evidence": "native_field",
        },
    }
    records = family.sessions[BRANCH][1:]
    assert {record["id"]: record["copiedFrom"] for record in records if "copiedFrom" in record} == {
        name: {"session": "claude-code:A", "proof": "native_field", "record": source}
        for name, source in {
            "u1": "messageId=u1",
            "a1": "messageId=a1",
            "a1/inference/0": "a1/inference/0",
            "a1/tool_call/0": "a1/tool_call/0",
            "u2": "messageId=u2",
            "u2/tool_result/0": "u2/tool_result/0",
        }.items()
    }


def test_the_records_that_copies_name_are_there(tmp_path: Path):
    """With the source in scope, each copiedFrom and the shared record are found in it."""
    files = {
        "a.jsonl": [{**row, "sessionId": "A"} for row in COPIES],
        "b.jsonl": [*map(marked, COPIES)],
    }
    family = Family(tmp_path, files)
    there = {record["id"] for record in family.sessions["claude-code:A"]}
    for record in family.sessions[BRANCH][1:]:
        assert record["copiedFrom"]["record"].removeprefix("messageId=") in there


def test_an_sdk_fork_has_new_ids(tmp_path: Path):
    """CopiedFrom names the originals, the local end of the prefix the fork's own record."""
    rows = [marked({**row, "uuid": f"new-{row['uuid']}"}, "A", row["uuid"]) for row in COPIES]
    family = Family(tmp_path, {"b.jsonl": [*rows, {"type": "custom-title", "sessionId": "B"}]})
    inherits = family.lineage(BRANCH)["inherits"]
    assert (inherits["throughId"], inherits["localThroughId"]) == ("u2", "new-u2")
    assert family.lineage(BRANCH)["forkedFrom"]["record"] == "messageId=u2"
    calls = family.of(BRANCH, "inference")
    assert [call["copiedFrom"]["record"] for call in calls] == ["a1/inference/0"]


def test_the_prefix_ends_where_the_marks_end(tmp_path: Path):
    """Rows without an ID are passed over; a later mark is a copy, and moves no boundary."""
    title = {"type": "custom-title", "sessionId": "B"}
    rows = [title, marked(COPIES[0]), title, marked(COPIES[1]), user("x", sessionId="B")]
    family = Family(tmp_path, {"b.jsonl": [*rows, marked(COPIES[2])]})
    assert family.lineage(BRANCH)["inherits"]["localThroughId"] == "a1"
    assert "copiedFrom" in family.sessions[BRANCH][-1]


def test_marks_that_do_not_lead_give_no_boundary(tmp_path: Path):
    """Copies are there, and where they end is not said."""
    family = Family(tmp_path, {"b.jsonl": [user("x", sessionId="B"), marked(COPIES[0])]})
    assert family.lineage(BRANCH) == {
        "forkedFrom": {"session": "claude-code:A", "evidence": "native_field"},
        "inherits": {"mode": "copied", "from": "claude-code:A", "evidence": "native_field"},
    }


def test_marked_records_that_are_no_messages_are_named_by_record_id(tmp_path: Path):
    """A compaction has no message ID."""
    boundary = {"type": "system", "subtype": "compact_boundary", "uuid": "c1"}
    family = Family(tmp_path, {"b.jsonl": [marked(boundary)]})
    assert family.lineage(BRANCH)["forkedFrom"]["record"] == "c1"
    assert family.of(BRANCH, "compaction")[0]["copiedFrom"]["record"] == "c1"


@pytest.mark.parametrize("uuid", ["", "x=y", "x/y"])
def test_ids_that_name_no_record_are_left_out(tmp_path: Path, uuid: str):
    """The session is known all the same."""
    family = Family(tmp_path, {"b.jsonl": [marked(user("u1"), "A", uuid)]})
    assert "record" not in family.lineage(BRANCH)["forkedFrom"]
    assert "throughId" not in family.lineage(BRANCH)["inherits"]
    assert family.sessions[BRANCH][1]["copiedFrom"] == {
        "session": "claude-code:A",
        "proof": "native_field",
    }


def test_a_mark_without_a_session_marks_nothing(tmp_path: Path):
    """Neither an empty mark nor one of another shape."""
    rows = [
        {**user("u1", sessionId="B"), "forkedFrom": {"messageUuid": "u1"}},
        {**user("u2", sessionId="B"), "forkedFrom": "A"},
    ]
    family = Family(tmp_path, {"b.jsonl": rows})
    assert family.lineage(BRANCH) == {}
    assert [finding.code for finding in family.findings] == ["bad-member"]


def test_a_mark_that_names_its_own_session_is_no_fork(tmp_path: Path):
    """A session does not diverge from itself."""
    family = Family(tmp_path, {"b.jsonl": [marked(user("u1"), "B")]})
    assert family.lineage(BRANCH) == {}


def test_a_leading_record_that_is_written_twice_ends_the_prefix(tmp_path: Path):
    """The second writing has a derived ID; what follows is told by its marks alone."""
    rows = [marked(COPIES[0]), marked(COPIES[0]), marked(COPIES[1])]
    family = Family(tmp_path, {"b.jsonl": rows})
    assert family.lineage(BRANCH)["inherits"]["localThroughId"] == "u1"


def test_a_subagent_with_marked_records_claims_no_fresh_start(tmp_path: Path):
    """The marks are stronger than the rule of fresh subagents."""
    rows = [{**marked(row), "agentId": AGENT, "sessionId": SESSION} for row in COPIES]
    family = Family(tmp_path, {"p.jsonl": [user("u1"), result(AGENT)], "c.jsonl": rows})
    assert family.lineage(CHILD)["inherits"]["mode"] == "copied"
    assert family.lineage(CHILD)["spawnedBy"] == spawned_by(PARENT, "toolu_1")


def test_L_14_a_copied_announcement_is_a_copy(tmp_path: Path):
    """The child's spawner stays the session that delegated; the fork's record is marked."""
    announcement = result(AGENT, sessionId="A")
    family = Family(
        tmp_path,
        {
            "a.jsonl": [user("u1", sessionId="A"), announcement],
            "b.jsonl": [marked(user("u1")), marked(announcement)],
            "c.jsonl": child(sessionId="A"),
        },
    )
    assert family.lineage(CHILD)["spawnedBy"] == spawned_by("claude-code:A", "toolu_1")
    (copy,) = family.of(BRANCH, "subagent")
    assert copy["copiedFrom"]["record"] == "r1/subagent/0"
    assert copy["childSession"] == CHILD


def test_what_a_fork_says_itself_revises_no_copied_announcement(tmp_path: Path):
    """Its own call to the agent is an announcement of its own."""
    rows = [marked(result(AGENT)), result(AGENT, "t2", uuid="r2", sessionId="B")]
    announced = Family(tmp_path, {"b.jsonl": rows}).of(BRANCH, "subagent")
    assert "copiedFrom" in announced[0]
    assert "supersedes" not in announced[1]
    assert announced[1]["callId"] == "t2"


def test_L_02_copies_without_a_mark_are_no_evidence(tmp_path: Path):
    """A session that holds another's records under its own ID: nothing is claimed (ASR-403)."""
    rows = [user(f"u{n}", sessionId="A") for n in range(50)]
    family = Family(
        tmp_path,
        {
            "a.jsonl": rows,
            "b.jsonl": [
                *({**row, "sessionId": "B"} for row in rows),
                *(user(f"x{n}", sessionId="B") for n in range(5)),
            ],
        },
    )
    assert family.lineage("claude-code:A") == family.lineage(BRANCH) == {}
    assert not [record for record in family.sessions[BRANCH] if "copiedFrom" in record]


def test_L_01_a_cleared_session_is_not_linked(tmp_path: Path):
    """/clear leaves no pointer: no link, and no root (ASR-401, 402)."""
    clear = user("c1", "<command-name>/clear</command-name>", sessionId="B")
    family = Family(tmp_path, {"a.jsonl": [user("u1", sessionId="A")], "b.jsonl": [clear]})
    assert family.lineage("claude-code:A") == family.lineage(BRANCH) == {}


def test_C_10_a_sidechain_with_another_request_is_a_call_of_its_own(tmp_path: Path):
    """The message ID alone decides nothing across sessions: two requests are named."""
    side = assistant("c1", "m1", request="q2", agentId=AGENT, isSidechain=True)
    family = Family(tmp_path, {"p.jsonl": [assistant("a1", "m1", request="q1")], "c.jsonl": [side]})
    calls = [family.of(session, "inference")[0] for session in (PARENT, CHILD)]
    assert [(call["inferenceId"], call["requestId"]) for call in calls] == [
        ("m1", "q1"),
        ("m1", "q2"),
    ]
    assert not [call for call in calls if "copiedFrom" in call]


# -- Resume and continuation ---------------------------------------------------------------------


def test_an_old_resume_has_a_copied_head(tmp_path: Path):
    """Leading rows of another session on which the own rows hang (rule old-resume-copied-head)."""
    family = Family(
        tmp_path,
        {
            "b.jsonl": [
                {"type": "summary", "summary": "s", "leafUuid": "a1"},
                user("u1", sessionId="A"),
                assistant("a1", "m1", sessionId="B", parentUuid="u1"),
                user("u2", sessionId="B", parentUuid="a1"),
            ]
        },
    )
    assert family.lineage(BRANCH) == {
        "relatedUnknown": {"session": "claude-code:A", "evidence": "native_field"}
    }
    copied = {r["id"]: r["copiedFrom"] for r in family.sessions[BRANCH] if "copiedFrom" in r}
    assert copied == {"u1": {"session": "claude-code:A", "proof": "native_field"}}


def test_a_copied_head_delegates_nothing(tmp_path: Path):
    """A result in the head is the old session's; the child names that."""
    family = Family(
        tmp_path,
        {
            "b.jsonl": [
                result(AGENT, sessionId="A"),
                user("u2", sessionId="B", parentUuid="r1"),
            ],
            "c.jsonl": child(sessionId="A"),
        },
    )
    assert family.lineage(CHILD) == {
        "spawnedBy": spawned_by("claude-code:A", None, "native_structure")
    }


CHAIN = (user("u1"), assistant("a1", "m1", tool_use("t1")), user("u2", "Go on."))


def test_a_hand_off_is_a_continuation_with_a_copied_prefix(tmp_path: Path):
    """The old file names the new session, which begins with the old records, one for one."""
    progress = {"type": "progress", "uuid": "p1", "sessionId": "A", "data": {}}
    old = of("A", *CHAIN)
    family = Family(
        tmp_path,
        {
            "a.jsonl": [
                *old[:1],
                progress,
                *old[1:],
                continued(),
                {"type": "mode", "sessionId": "A"},
            ],
            "b.jsonl": [
                {"type": "mode", "sessionId": "B"},
                *of("B", *CHAIN, assistant("b1", "m2")),
            ],
        },
    )
    assert family.lineage("claude-code:A") == {}
    assert family.lineage(BRANCH) == {
        "continues": {"session": "claude-code:A", "reason": "other", "evidence": "native_field"},
        "inherits": {
            "mode": "copied",
            "from": "claude-code:A",
            "throughId": "u2",
            "localThroughId": "u2",
            "evidence": "converter_inference",
        },
    }


def test_the_copied_prefix_covers_all_records_of_its_last_row(tmp_path: Path):
    """The prefix ends at the last record that its last row gives."""
    files = {"a.jsonl": [*of("A", *CHAIN[:2]), continued()], "b.jsonl": of("B", *CHAIN[:2])}
    inherits = Family(tmp_path, files).lineage(BRANCH)["inherits"]
    assert (inherits["throughId"], inherits["localThroughId"]) == ("a1", "a1/tool_call/0")


def replay(tmp_path: Path, old: list[dict[str, Any]], new: list[dict[str, Any]]) -> dict[str, Any]:
    family = Family(tmp_path, {"a.jsonl": [*of("A", *old), continued()], "b.jsonl": of("B", *new)})
    lineage = family.lineage(BRANCH)
    assert lineage.pop("continues")["session"] == "claude-code:A"
    return lineage


def test_a_head_that_differs_gives_no_prefix(tmp_path: Path):
    """Another first record, another message, another order: nothing is known to be copied."""
    x, changed = user("x"), user("u1", "Other words.")
    one, two, _ = CHAIN
    for number, new in enumerate(([x, *CHAIN], [changed, two], [two, one], [x])):
        assert replay(tmp_path / str(number), list(CHAIN), new) == {}


def test_what_follows_a_broken_run_is_not_thereby_own(tmp_path: Path):
    """A later record of the old session leaves the boundary open."""
    one, two, _ = CHAIN
    x = user("x")
    for number, new in enumerate(
        ([one, x, two], [one, user("a1", "changed"), x], [one, user("u2", "changed")])
    ):
        assert replay(tmp_path / str(number), list(CHAIN), new) == {}
    whole = replay(tmp_path / "repeat", list(CHAIN), [one, two, x, one])
    assert whole["inherits"]["localThroughId"] == "a1/tool_call/0"


def test_messages_are_compared_by_what_they_say(tmp_path: Path):
    """Member order and escapes do not count; a message that cannot be compared ends the run."""
    one = json.dumps({**user("u1", "é"), "sessionId": "B"})
    family = Family(
        tmp_path / "same",
        {
            "a.jsonl": [
                json.dumps(user("u1", "é", sessionId="A"), ensure_ascii=False),
                continued(),
            ],
            "b.jsonl": [one],
        },
    )
    assert family.lineage(BRANCH)["inherits"]["localThroughId"] == "u1"
    old = json.dumps(user("u1", "?", sessionId="A")).encode().replace(b"?", b"\xff")
    new = old.replace(b'"A"', b'"B"').replace(b'{"role": ', b'{"role":')
    other = Family(tmp_path / "bad", {"a.jsonl": [old, continued()], "b.jsonl": [new]})
    assert "inherits" not in other.lineage(BRANCH)


def test_ids_that_name_no_record_end_the_run(tmp_path: Path):
    """Such a record has a positional ID, which the rule does not reach."""
    odd = user("x/y")
    assert replay(tmp_path, [odd, CHAIN[0]], [odd, CHAIN[0]]) == {}


def test_a_summary_at_the_head_is_a_rendered_context(tmp_path: Path):
    """Nothing was copied: a generated summary stands for what came before (ASR-426)."""
    summary = user("s1", "This session is being continued.", isCompactSummary=True)
    lineage = replay(tmp_path, list(CHAIN), [summary, assistant("b1", "m2")])
    assert lineage == {
        "inherits": {
            "mode": "rendered",
            "from": "claude-code:A",
            "evidence": "converter_inference",
        }
    }


def test_a_later_message_cancels_the_hand_off(tmp_path: Path):
    """The session went on itself, so nobody continues it."""
    rows = [*of("A", *CHAIN), continued(), user("u9", sessionId="A")]
    family = Family(tmp_path, {"a.jsonl": rows, "b.jsonl": of("B", *CHAIN)})
    assert family.lineage(BRANCH) == {}


def test_the_last_hand_off_counts(tmp_path: Path):
    """A row that names no session takes an earlier one back."""
    rows = [*of("A", *CHAIN), continued(), continued("A", "")]
    family = Family(tmp_path, {"a.jsonl": rows, "b.jsonl": of("B", *CHAIN)})
    assert family.lineage(BRANCH) == {}


def test_two_sessions_that_go_on_in_one_are_not_chosen_between(tmp_path: Path):
    """Nor does a session continue itself."""
    family = Family(
        tmp_path,
        {
            "a.jsonl": [*of("A", *CHAIN), continued()],
            "c.jsonl": [*of("C", *CHAIN), continued("C")],
            "d.jsonl": [user("d", sessionId="D"), continued("D", "D")],
            "b.jsonl": of("B", *CHAIN),
        },
    )
    assert family.lineage(BRANCH) == family.lineage("claude-code:D") == {}


def test_a_branch_that_was_handed_over_keeps_its_own_prefix(tmp_path: Path):
    """The marks say what was copied; continues stands beside forkedFrom."""
    files = {
        "a.jsonl": [*of("A", *CHAIN), continued()],
        "b.jsonl": [*(marked(row) for row in CHAIN)],
    }
    lineage = Family(tmp_path, files).lineage(BRANCH)
    assert set(lineage) == {"forkedFrom", "continues", "inherits"}
    assert lineage["inherits"]["evidence"] == "native_field"


def test_a_hand_over_to_a_session_that_is_not_there_says_nothing(tmp_path: Path):
    """The claim is the new session's, and there is none."""
    family = Family(tmp_path, {"a.jsonl": [*of("A", *CHAIN), continued()]})
    assert list(family.sessions) == ["claude-code:A"]
    assert family.lineage("claude-code:A") == {}


# -- Several files of one session ----------------------------------------------------------------


def test_the_fullest_file_speaks_for_a_session(tmp_path: Path):
    """A copy of the file that was cut off says the same, though it ends earlier."""
    rows = [*map(marked, COPIES), user("u9", sessionId="B")]
    family = Family(tmp_path, {"whole.jsonl": rows, "cut.jsonl": rows[:2]})
    headers = [streams[0][0] for streams in family.files.values()]
    assert headers[0]["lineage"] == headers[1]["lineage"]
    assert headers[0]["lineage"]["inherits"]["localThroughId"] == "u2"


def test_files_that_contradict_each_other_speak_for_themselves(tmp_path: Path):
    """Neither is the beginning of the other."""
    family = Family(
        tmp_path,
        {
            "one.jsonl": [*map(marked, COPIES), user("u9", sessionId="B")],
            "two.jsonl": [marked(COPIES[0]), user("u8", sessionId="B")],
        },
    )
    ends = [s[0][0]["lineage"]["inherits"]["localThroughId"] for s in family.files.values()]
    assert ends == ["u2", "u1"]


def test_rows_that_others_appended_are_a_segment_of_their_session(tmp_path: Path):
    """They hang on its records, and no ID that both files have differs."""
    family = Family(
        tmp_path,
        {
            "b.jsonl": [
                *of("B", user("u1"), user("u2", parentUuid="u1")),
                *of("A", user("x2", parentUuid="x1")),
            ],
            "a.jsonl": [
                *of("A", user("x1")),
                *of(
                    "B", {"type": "mode"}, user("u3", parentUuid="u2"), user("u4", parentUuid="u3")
                ),
            ],
        },
    )
    own, appended = family.files["b.jsonl"][0][0], family.files["a.jsonl"][1][0]
    assert own["segment"] == {"id": "own"}
    assert appended["segment"] == {"id": "appended", "after": "own"}
    other = family.files["a.jsonl"][0][0], family.files["b.jsonl"][1][0]
    assert [header["segment"]["id"] for header in other] == ["own", "appended"]


@pytest.mark.parametrize(
    "rows",
    [
        [user("u3", parentUuid="elsewhere")],
        [user("u3")],
        [user("u3", parentUuid="u2"), user("u1", "Other words.")],
    ],
)
def test_appended_rows_that_do_not_fit_are_no_segment(tmp_path: Path, rows: list[dict[str, Any]]):
    """Then the session has two captures, which contradict each other."""
    family = Family(
        tmp_path,
        {
            "b.jsonl": of("B", user("u1"), user("u2", parentUuid="u1")),
            "a.jsonl": [*of("A", user("x1")), *of("B", *rows)],
        },
    )
    assert not [s for streams in family.files.values() for s in streams if "segment" in s[0]]


def test_appended_rows_without_a_file_of_their_own_are_a_stream(tmp_path: Path):
    """Two such files are two captures."""
    files = {
        name: [*of(name, user("x1")), *of("B", user("u3", parentUuid="u2"))] for name in ("P", "Q")
    }
    family = Family(tmp_path, files)
    assert [len(streams) for streams in family.files.values()] == [2, 2]
    assert "segment" not in family.sessions[BRANCH][0]


def test_a_delegation_among_appended_rows_counts(tmp_path: Path):
    """Where the row stands makes no difference."""
    family = Family(
        tmp_path,
        {
            "b.jsonl": of("B", user("u1")),
            "a.jsonl": [*of("A", user("x1")), *of("B", result(AGENT, parentUuid="u1"))],
            "c.jsonl": child(sessionId="B"),
        },
    )
    assert family.lineage(CHILD)["spawnedBy"] == spawned_by(BRANCH, "toolu_1")


def test_calls_without_request_take_that_of_their_call():
    """The snapshot that counts names the request, whichever writing named it."""
    log = convert(assistant("a1", "m1", request="q1"), assistant("a2", "m1", request=None))
    assert [call.get("requestId") for call in log.of("inference")] == ["q1", "q1"]
    lone = convert(assistant("a1", "m1", request=None))
    assert "requestId" not in lone.of("inference")[0]


def test_C_22_a_result_that_sums_up_a_child_is_no_call(tmp_path: Path):
    """The tokens in the delegating result are the child's, whose own file has its calls."""
    said = {"totalTokens": 4000, "usage": {"input_tokens": 4, "output_tokens": 9}}
    family = Family(
        tmp_path,
        {"p.jsonl": [assistant("a1", "m1"), result(AGENT, said=said)], "c.jsonl": child()},
    )
    for session in (PARENT, CHILD):
        assert len(family.of(session, "inference")) == 1
    assert not [r for r in family.sessions[PARENT] if r["type"] != "inference" and "usage" in r]
