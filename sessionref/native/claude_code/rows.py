"""The rows of a Claude Code transcript: the members that are needed, and what they mean.

IDs in free text announce no subagent: an announcement is a native field, and a task notification
only adds to one.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

import msgspec
from msgspec import Raw

from sessionref.native.record import Count  # noqa: TC001 - the structs below need it
from sessionref.native.rows import Fault, Rows, begins, head_of
from sessionref.reference import SessionRef
from sessionref.registry import Registry, needs_namespace

if TYPE_CHECKING:
    from collections.abc import Callable

    from sessionref.native.rows import Head

__all__ = [
    "AGENT",
    "AGENT_PROGRESS",
    "DELEGATING",
    "MESSAGES",
    "ROW_TYPES",
    "SIDE_AGENT",
    "Asked",
    "Block",
    "Delegation",
    "Fork",
    "Glance",
    "GlanceMessage",
    "Launch",
    "Message",
    "Notification",
    "Progress",
    "Read",
    "Result",
    "Row",
    "Slot",
    "Teammate",
    "Tokens",
    "agent_slot",
    "asked_by",
    "blocks_of",
    "delegation",
    "glances_at",
    "ignore",
    "is_short",
    "notification",
    "recognises",
    "reference",
    "rows",
]

#: The registered short name.
AGENT = "claude-code"

#: The types of rows with a `sessionId` that only Claude Code writes.
ROW_TYPES = frozenset(
    {
        "user",
        "assistant",
        "system",
        "summary",
        "progress",
        "attachment",
        "queue-operation",
        "mode",
        "permission-mode",
        "ai-title",
        "custom-title",
        "agent-name",
        "last-prompt",
        "continued-in",
        "worktree-state",
        "file-history-snapshot",
    }
)

#: The types of rows that are messages.
MESSAGES = frozenset({"user", "assistant"})

#: The type of the data of a `progress` row that embeds a subagent's message.
AGENT_PROGRESS = "agent_progress"


class Tokens(msgspec.Struct, gc=False):
    """The tokens of a model call, as the provider counts them."""

    input_tokens: Count | None = None
    cache_read_input_tokens: Count | None = None
    cache_creation_input_tokens: Count | None = None
    output_tokens: Count | None = None


class Message(msgspec.Struct, gc=False):
    """A message as the provider's API has it."""

    id: str | None = None
    role: str | None = None
    model: str | None = None
    usage: Tokens | None = None
    content: Raw = Raw()


class Fork(msgspec.Struct, rename="camel", gc=False):
    """The mark that a branch or an SDK fork puts on each record that it copies."""

    session_id: str | None = None
    message_uuid: str | None = None


class Progress(msgspec.Struct, rename="camel", gc=False):
    """The data of a `progress` row, which may embed a subagent's message."""

    type: str | None = None
    agent_id: str | None = None


class Attachment(msgspec.Struct, rename="camel", gc=False):
    """What an `attachment` row attaches; a command that waited in the queue has a prompt."""

    type: str | None = None
    command_mode: str | None = None
    prompt: Raw = Raw()

    @property
    def is_notification(self) -> bool:
        """Whether it tells the end of a background task."""
        return self.type == "queued_command" and self.command_mode == _TASK_NOTIFICATION


class Row(msgspec.Struct, rename="camel", gc=False):
    """The members of a row that are needed. All passes decode these, so they agree on each line."""

    type: str | None = None
    subtype: str | None = None
    uuid: str | None = None
    parent_uuid: str | None = None
    session_id: str | None = None
    process: str | None = msgspec.field(default=None, name="session_id")
    agent_id: str | None = None
    timestamp: str | None = None
    version: str | None = None
    cwd: str | None = None
    git_branch: str | None = None
    request_id: str | None = None
    message: Message | None = None
    compact_metadata: Raw = Raw()
    cost: Raw = msgspec.field(default=Raw(), name="costUSD")
    # Relations
    forked_from: Fork | None = None
    is_compact_summary: bool | None = None
    continued_in_session_id: str | None = None
    parent_session_id: str | None = None
    parent_last_uuid: str | None = None
    tool_use_result: Raw = Raw()
    parent_tool_use_id: str | None = msgspec.field(default=None, name="parentToolUseID")
    data: Progress | None = None
    origin: Raw = Raw()
    attachment: Attachment | None = None

    @property
    def copied_from(self) -> Fork | None:
        """The mark of a copied record, if it names a session."""
        mark = self.forked_from
        return mark if mark is not None and mark.session_id else None


class Block(msgspec.Struct, gc=False):
    """One block of a message's content."""

    type: str | None = None
    id: str | None = None
    tool_use_id: str | None = None
    name: str | None = None
    is_error: bool | None = None
    input: Raw = Raw()
    content: Raw = Raw()
    text: Raw = Raw()


class Result(msgspec.Struct, rename="camel", gc=False):
    """The result of a call to a subagent, or of the launch of a workflow.

    `teammate` is the name of a teammate that the call spawned, in the form ``name@team``.
    """

    agent_id: str | None = None
    is_async: bool | None = None
    status: str | None = None
    agent_type: str | None = None
    description: str | None = None
    run_id: str | None = None
    teammate: str | None = msgspec.field(default=None, name="agent_id")


class GlanceBlock(msgspec.Struct, gc=False):
    """The members of a `Block` that a glance needs."""

    type: str | None = None
    id: str | None = None
    name: str | None = None


class GlanceAttachment(msgspec.Struct, rename="camel", gc=False):
    """The members of an `Attachment` that a glance needs."""

    command_mode: str | None = None


class GlanceData(msgspec.Struct, gc=False):
    """The members of a `Progress` that a glance needs."""

    type: str | None = None


class GlanceMessage(msgspec.Struct, gc=False):
    """The members of a `Message` that a glance needs."""

    id: str | None = None
    model: str | None = None
    usage: Tokens | None = None
    content: list[GlanceBlock] | str | None = None


class Glance(msgspec.Struct, rename="camel", gc=False):
    """The few members of a row that are enough for most rows when only columns are written.

    Rows that do not fit, or that say something of other sessions, are read as `Row`.
    """

    type: str | None = None
    uuid: str | None = None
    session_id: str | None = None
    process: str | None = msgspec.field(default=None, name="session_id")
    agent_id: str | None = None
    timestamp: str | None = None
    request_id: str | None = None
    message: GlanceMessage | None = None
    cost: Raw = msgspec.field(default=Raw(), name="costUSD")
    forked_from: Raw = Raw()
    tool_use_result: Result | list[Raw] | str | float | bool | None = None
    data: GlanceData | None = None
    origin: Raw = Raw()
    attachment: GlanceAttachment | None = None


def recognises(row: Head) -> bool | None:
    """Whether a row tells that a log is Claude Code's, or that it only looks like that."""
    if _is_of_others(row):
        return False
    name = row.type
    if (
        (name in ROW_TYPES and row.begins("sessionId", b'"'))
        or (
            name == "fork-context-ref"
            and row.begins("agentId", b'"')
            and row.begins("parentSessionId", b'"')
        )
        # Rows of these two types can come first in a file, before any row with a `sessionId`.
        or (name == "summary" and row.begins("leafUuid", b'"'))
        or (name == "file-history-snapshot" and row.begins("snapshot", b"{"))
    ):
        return True
    return None


def _is_of_others(row: Head) -> bool:
    """Whether a row has a member that only programs write whose logs look like these."""
    own, inner = _foreign_members()
    if not own.isdisjoint(row.members):
        return True
    for outer, names in inner.items():
        if row.begins(outer, b"{"):
            part = head_of(bytes(row.members[outer]))
            if part is not None and not names.isdisjoint(part.members):
                return True
    return False


@cache
def _foreign_members() -> tuple[frozenset[str], dict[str, frozenset[str]]]:
    """The members that tell rows of other programs: of the row, and of members of the row."""
    own: set[str] = set()
    inner: dict[str, set[str]] = {}
    for other in Registry.default()[AGENT].look_alikes or ():
        for member in other.members:
            outer, dot, name = member.partition(".")
            if dot:
                inner.setdefault(outer, set()).add(name)
            else:
                own.add(outer)
    return frozenset(own), {outer: frozenset(names) for outer, names in inner.items()}


rows = Rows(Row)
#: As `Rows.decode_all` for glances.
glances_at = Rows(Glance).decode_all
_blocks = Rows(Block)
_content_blocks = msgspec.json.Decoder(list[Block]).decode

#: A row that was read: its line, its bytes, its values, and what is wrong with them.
Read = tuple[int, bytes, Row, list[Fault]]


def blocks_of(content: Raw, fault: Callable[[Fault], None]) -> list[Block]:
    """The blocks of a message's content, which is an array; faults are relative to it."""
    try:
        return _content_blocks(content)
    except msgspec.DecodeError:
        return _blocks.decode_items(content, fault)


def ignore(_said: object) -> None:
    """Ignore: another pass reports it."""


# -- Subagents -----------------------------------------------------------------------------------

#: How the agent IDs of compaction side agents begin: no delegation.
SIDE_AGENT = "acompact-"

#: The tools that delegate to a subagent.
DELEGATING = frozenset({"Agent", "Task"})

_TASK_NOTIFICATION = "task-notification"

#: A session: its namespace, its ID, and whether it is a subagent.
Slot = tuple[str | None, str, bool]

_NOTIFICATION = re.compile(
    r"\s*<task-notification>\s*<task-id>([^<]*)</task-id>"
    r"(?:(?!</?(?:summary|result|task-notification)>).)*<status>([^<]*)</status>",
    re.DOTALL,
).match
_STATUS = {"killed": "stopped"}


def is_short(agent_id: str) -> bool:
    """Whether an agent ID repeats under different parents, so that it needs a namespace.

    The registry entry says which do, by the rule `short-agent-id-container`.
    """
    return bool(needs_namespace(AGENT, agent_id))


def agent_slot(container: str, agent_id: str) -> Slot:
    """The session of a subagent whose records carry the session ID `container`."""
    return (container if is_short(agent_id) else None, agent_id, True)


def reference(slot: Slot) -> str:
    """The session reference of a session."""
    return str(SessionRef(AGENT, slot[0], slot[1]))


class Delegation(msgspec.Struct, gc=False):
    """What a row says of a subagent; a member is None if the row does not say it."""

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


class Teammate(msgspec.Struct, gc=False):
    """A teammate that a call spawned, known by its own name and its team's."""

    name: str
    team: str
    call_id: str | None = None
    role: str | None = None


class Notification(msgspec.Struct, gc=False):
    """The end of a background task; the task ID of an agent is its agent ID."""

    task_id: str
    status: str


class Asked(msgspec.Struct, gc=False):
    """What a delegating call asks for."""

    subagent_type: str | None = None
    description: str | None = None


class _Origin(msgspec.Struct, gc=False):
    kind: str | None = None


_results = Rows(Result)
_origins = Rows(_Origin)
_asked = Rows(Asked)
_text = msgspec.json.Decoder(str).decode


def delegation(row: Row) -> Delegation | Launch | Teammate | None:
    """The delegation that a row shows: to a subagent, to the run of a workflow, to a teammate.

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


def _delegation_of(result: Result, row: Row) -> Delegation | Launch | Teammate | None:
    agent_id = result.agent_id
    if not agent_id:
        if result.teammate and result.status == "teammate_spawned":
            name, _, team = result.teammate.rpartition("@")
            if name and team:
                return Teammate(name, team, _call_of(row.message), result.agent_type or None)
            return None
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
    """The end of a background task, if the row is marked as a notification of one."""
    for text in _notifying_texts(row):
        found = _NOTIFICATION(_plain(text)) if begins(text, b'"') else None
        status = None if found is None else _status(found[2])
        if found is not None and status is not None:
            return Notification(found[1], status)
    return None


def _notifying_texts(row: Row) -> list[Raw]:
    """The texts of a notification: of a message, or of a command that waited in the queue."""
    if row.type == "attachment":
        attached = row.attachment
        return [attached.prompt] if attached is not None and attached.is_notification else []
    message = row.message
    if row.type != "user" or message is None or not begins(row.origin, b"{"):
        return []
    if _origins.decode_part(row.origin).kind != _TASK_NOTIFICATION:
        return []
    if begins(message.content, b'"'):
        return [message.content]
    return [block.text for block in blocks_of(message.content or _NO_BLOCKS, ignore)]


def asked_by(block: Block) -> Asked | None:
    """What a tool call asks a subagent for; None if it delegates nothing."""
    return _asked.decode_part(block.input) if block.name in DELEGATING and block.input else None


def _call_of(message: Message | None) -> str | None:
    """The call whose result a message is; None if it is not the result of exactly one."""
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


_NO_BLOCKS = Raw(b"[]")


def _plain(raw: Raw) -> str:
    try:
        return _text(raw)
    except msgspec.DecodeError:  # bytes that are no UTF-8, or a lone surrogate
        return ""
