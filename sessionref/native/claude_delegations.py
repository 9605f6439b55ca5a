"""What a Claude Code row says of a subagent: that it was delegated to, and how it ended.

IDs in free text announce nothing: an announcement is a native field, and a task notification only
adds to one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from sessionref.native.claude_rows import AGENT, AGENT_PROGRESS, Result, blocks_of, ignore
from sessionref.native.rows import Rows, begins
from sessionref.reference import SessionRef

if TYPE_CHECKING:
    from sessionref.native.claude_rows import Message, Row

__all__ = [
    "SIDE_AGENT",
    "Delegation",
    "Launch",
    "Notification",
    "Slot",
    "agent_slot",
    "delegation",
    "is_short",
    "notification",
    "reference",
]

#: How the agent IDs of compaction side agents begin: no delegation.
SIDE_AGENT = "acompact-"

#: Agent IDs that are known to repeat under different parents (ASR-054): short ones, and those of
#: compaction side agents. The registry's rule `short-agent-id-container`, version 1.
_SHORT_AGENT_ID = re.compile(r"[0-9A-Fa-f]{6,8}|acompact-.*", re.DOTALL).fullmatch

#: A session: its namespace, its ID, and whether it is a subagent.
Slot = tuple[str | None, str, bool]

_NOTIFICATION = re.compile(
    r"\s*<task-notification>\s*<task-id>([^<]*)</task-id>"
    r"(?:(?!</?(?:summary|result|task-notification)>).)*<status>([^<]*)</status>",
    re.DOTALL,
).match
_STATUS = {"killed": "stopped"}


def is_short(agent_id: str) -> bool:
    """Whether an agent ID repeats under different parents, so that it needs a namespace."""
    return _SHORT_AGENT_ID(agent_id) is not None


def agent_slot(container: str, agent_id: str) -> Slot:
    """The session of a subagent whose records carry the session ID `container`."""
    return (container if is_short(agent_id) else None, agent_id, True)


def reference(slot: Slot) -> str:
    """The session reference of a session."""
    return str(SessionRef(AGENT, slot[0], slot[1]))


class Delegation(msgspec.Struct, gc=False):
    """What a row says of a subagent; None is what it does not say."""

    agent_id: str
    call_id: str | None = None
    is_async: bool | None = None
    status: str | None = None
    role: str | None = None
    description: str | None = None


class Launch(msgspec.Struct, gc=False):
    """The run of a workflow, and the call that launched it."""

    run_id: str
    call_id: str


class Notification(msgspec.Struct, gc=False):
    """What became of a background task: for an agent, the task's ID is the agent's."""

    task_id: str
    status: str


class _Origin(msgspec.Struct, gc=False):
    kind: str | None = None


_results = Rows(Result)
_origins = Rows(_Origin)
_text = msgspec.json.Decoder(str).decode


def delegation(row: Row) -> Delegation | Launch | None:
    """The delegation that a row shows, to a subagent or to the run of a workflow.

    It is the result of the delegating call, or one of the subagent's messages that old versions
    embedded as progress of the call.
    """
    if row.type == "user":
        if row.tool_use_result and begins(row.tool_use_result, b"{"):
            return _delegation_of(_results.decode_part(row.tool_use_result), row)
    elif row.type == "progress" and row.data is not None and row.data.type == AGENT_PROGRESS:
        agent_id = row.data.agent_id
        if agent_id and not agent_id.startswith(SIDE_AGENT):
            return Delegation(agent_id, row.parent_tool_use_id or None)
    return None


def _delegation_of(result: Result, row: Row) -> Delegation | Launch | None:
    agent_id = result.agent_id
    if not agent_id:
        call = _call_of(row.message) if result.run_id else None
        return Launch(result.run_id, call) if result.run_id and call else None
    if agent_id.startswith(SIDE_AGENT):
        return None
    launched = result.status == "async_launched"
    return Delegation(
        agent_id,
        _call_of(row.message),
        True if launched else result.is_async,
        # A launch says that it was launched, not what became of it.
        None if launched else _status(result.status),
        result.agent_type,
        result.description,
    )


def notification(row: Row) -> Notification | None:
    """What a row that is marked as a task notification says."""
    message = row.message
    if message is None or not begins(row.origin, b"{"):
        return None
    if _origins.decode_part(row.origin).kind != "task-notification":
        return None
    if begins(message.content, b'"'):
        texts = [message.content]
    else:
        texts = [block.text for block in blocks_of(message.content or _NO_BLOCKS, ignore)]
    for text in texts:
        found = _NOTIFICATION(_plain(text)) if begins(text, b'"') else None
        status = None if found is None else _status(found[2])
        if found is not None and status is not None:
            return Notification(found[1], status)
    return None


def _call_of(message: Message | None) -> str | None:
    """The call whose result a message is, None where it is not the result of exactly one."""
    if message is None or not begins(message.content, b"["):
        return None
    calls = [
        block.tool_use_id
        for block in blocks_of(message.content, ignore)
        if (block.type or "").endswith("tool_result")
    ]
    return (calls[0] or None) if len(calls) == 1 else None


def _status(native: str | None) -> str | None:
    return None if not native else _STATUS.get(native, native)


_NO_BLOCKS = msgspec.Raw(b"[]")


def _plain(raw: msgspec.Raw) -> str:
    try:
        return _text(raw)
    except msgspec.DecodeError:  # bytes that are no UTF-8, or a lone surrogate
        return ""
