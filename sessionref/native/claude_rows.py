"""The rows of a Claude Code transcript, as far as they are needed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec import Raw

from sessionref.native.base import Count  # noqa: TC001 - the structs below need it
from sessionref.native.rows import Fault, Rows

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "AGENT",
    "AGENT_PROGRESS",
    "Block",
    "Fork",
    "Glance",
    "GlanceMessage",
    "Message",
    "Progress",
    "Read",
    "Result",
    "Row",
    "blocks_of",
    "glances_at",
    "ignore",
    "rows",
]

#: The registered short name.
AGENT = "claude-code"

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
    """What is needed of the data of a `progress` row, which may embed a subagent's message."""

    type: str | None = None
    agent_id: str | None = None


class Row(msgspec.Struct, rename="camel", gc=False):
    """What is needed of a row. All passes decode the same, so that they agree on every line."""

    type: str | None = None
    subtype: str | None = None
    uuid: str | None = None
    parent_uuid: str | None = None
    session_id: str | None = None
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

    @property
    def copied_from(self) -> Fork | None:
        """The mark of a copied record, where it names a session."""
        mark = self.forked_from
        return mark if mark is not None and mark.session_id else None


class Block(msgspec.Struct, gc=False):
    """What is needed of one block of a message's content."""

    type: str | None = None
    id: str | None = None
    tool_use_id: str | None = None
    name: str | None = None
    is_error: bool | None = None
    input: Raw = Raw()
    content: Raw = Raw()
    text: Raw = Raw()


class Result(msgspec.Struct, rename="camel", gc=False):
    """What the result of a call says of the subagent or the run of a workflow that it was for."""

    agent_id: str | None = None
    is_async: bool | None = None
    status: str | None = None
    agent_type: str | None = None
    description: str | None = None
    run_id: str | None = None


class GlanceBlock(msgspec.Struct, gc=False):
    """What a glance shows of a block of a message's content."""

    type: str | None = None
    id: str | None = None


class GlanceData(msgspec.Struct, gc=False):
    """What a glance shows of the data of a `progress` row."""

    type: str | None = None


class GlanceMessage(msgspec.Struct, gc=False):
    """What a glance shows of a message."""

    id: str | None = None
    model: str | None = None
    usage: Tokens | None = None
    content: list[GlanceBlock] | str | None = None


class Glance(msgspec.Struct, rename="camel", gc=False):
    """What is needed of most rows; the rest of a row is looked at only where this asks for it.

    Rows that do not fit are to be read as `Row`.
    """

    type: str | None = None
    uuid: str | None = None
    session_id: str | None = None
    agent_id: str | None = None
    timestamp: str | None = None
    request_id: str | None = None
    message: GlanceMessage | None = None
    cost: Raw = msgspec.field(default=Raw(), name="costUSD")
    forked_from: Raw = Raw()
    tool_use_result: Result | list[Raw] | str | float | bool | None = None
    data: GlanceData | None = None
    origin: Raw = Raw()


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
    """For what is said elsewhere."""
