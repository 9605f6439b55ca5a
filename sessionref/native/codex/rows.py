"""The rows of a Codex rollout: the members that are needed, and what they mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import msgspec
from msgspec import Raw

from sessionref.native.record import Count  # noqa: TC001 - the structs below need it
from sessionref.native.rows import Rows

if TYPE_CHECKING:
    from sessionref.native.rows import Head

__all__ = [
    "AGENT",
    "Counts",
    "Payload",
    "Row",
    "Spawned",
    "Spawns",
    "Totals",
    "ignore",
    "named_turn",
    "recognises",
    "rows",
    "same_call",
    "totals",
]

#: The registered short name.
AGENT = "codex"

#: The `type` of the rows of a rollout; each has a `payload`.
ROW_TYPES = frozenset(
    {
        "session_meta",
        "turn_context",
        "response_item",
        "event_msg",
        "compacted",
        "world_state",
        "token_usage_record",
        "inter_agent_communication_metadata",
    }
)

#: How the originators of products begin that write rollouts of Codex's shape and are not Codex.
#: Any other originator is an app that drives Codex itself.
_OTHER_PRODUCTS = ("trae",)


class Counts(msgspec.Struct, gc=False):
    """Tokens as Codex counts them; `input_tokens` include the cached ones."""

    input_tokens: Count | None = None
    cached_input_tokens: Count | None = None
    cache_write_input_tokens: Count | None = None
    output_tokens: Count | None = None
    reasoning_output_tokens: Count | None = None
    total_tokens: Count | None = None


class _Info(msgspec.Struct, gc=False):
    total_token_usage: Counts | None = None
    last_token_usage: Counts | None = None
    model: str | None = None


class _Git(msgspec.Struct, gc=False):
    branch: str | None = None


class _PassedThrough(msgspec.Struct, gc=False):
    turn_id: str | None = None


class _HistoryBase(msgspec.Struct, gc=False):
    thread_id: str | None = None
    end_ordinal_exclusive: Count | None = None


class Payload(msgspec.Struct, gc=False):
    """The members of a payload that are needed. All passes decode these, so they agree."""

    type: str | None = None
    id: str | None = None
    # Of a session_meta
    timestamp: str | None = None
    cwd: str | None = None
    cli_version: str | None = None
    thread_source: str | None = None
    git: _Git | None = None
    source: Raw = Raw()
    parent_thread_id: str | None = None
    forked_from_id: str | None = None
    forked_from_ordinal_exclusive: Count | None = None
    history_base: _HistoryBase | None = None
    subagent_history_start_ordinal: Count | None = None
    agent_role: str | None = None
    # Of a turn
    role: str | None = None
    name: str | None = None
    model: str | None = None
    turn_id: str | None = None
    turn: str | None = msgspec.field(default=None, name="turnId")
    passed: _PassedThrough | None = msgspec.field(
        default=None, name="internal_chat_message_metadata_passthrough"
    )
    call_id: str | None = None
    call: str | None = msgspec.field(default=None, name="callId")
    response_id: str | None = None
    info: _Info | None = None
    usage: Counts | None = None
    thread_token_usage: Counts | None = None
    # Of an item
    content: Raw = Raw()
    arguments: Raw = Raw()
    input: Raw = Raw()
    output: Raw = Raw()
    sender_thread_id: str | None = None
    new_thread_id: str | None = None
    # Of an event about a subagent. Other events have members of these names and of other types.
    event_id: Raw = Raw()
    agent_thread_id: Raw = Raw()
    kind: Raw = Raw()
    item: Raw = Raw()


class Row(msgspec.Struct, gc=False):
    """The members of a row that are needed."""

    type: str | None = None
    timestamp: str | None = None
    ordinal: Count | None = None
    payload: Payload | None = None


class _Origin(msgspec.Struct, gc=False):
    originator: str | None = None


rows = Rows(Row)
_origins = Rows(_Origin)


def recognises(row: Head) -> bool | None:
    """Whether a row tells that a log is Codex's."""
    if row.type is None:
        # What Codex wrote first, before its rows had types.
        old = row.begins("id", b'"') and row.begins("timestamp", b'"')
        return True if old and "instructions" in row.members else None
    if row.type not in ROW_TYPES or not row.begins("payload", b"{"):
        return None
    if row.type == "session_meta":
        originator = _origins.decode_part(row.members["payload"]).originator or ""
        return not originator.lower().startswith(_OTHER_PRODUCTS)
    return True


#: The members of a thread's total that both ways of writing it have.
Totals = tuple[int | None, int | None, int | None]


def totals(counts: Counts) -> Totals:
    """The counts of a thread's total that both kinds of rows have."""
    return (counts.input_tokens, counts.output_tokens, counts.total_tokens)


def same_call(one: Counts, other: Counts) -> bool:
    """Whether two rows count the same tokens; one of them may leave out a member that is zero."""
    return (
        one.input_tokens == other.input_tokens
        and one.output_tokens == other.output_tokens
        and (one.cached_input_tokens or 0) == (other.cached_input_tokens or 0)
        and (one.reasoning_output_tokens or 0) == (other.reasoning_output_tokens or 0)
    )


def named_turn(payload: Payload) -> str | None:
    """The turn that a row names."""
    passed = payload.passed.turn_id if payload.passed is not None else None
    return payload.turn_id or payload.turn or passed or None


class Spawned(msgspec.Struct, gc=False):
    """A thread that this one spawned, by which call, in which role; and what became of it."""

    thread_id: str
    call_id: str
    role: str | None = None
    status: str | None = None


class _Arguments(msgspec.Struct, gc=False):
    agent_type: str | None = None


class _Output(msgspec.Struct, gc=False):
    agent_id: str | None = None


class _Activity(msgspec.Struct, gc=False):
    """The item `SubAgentActivity` of an `item_completed` event."""

    type: str | None = None
    id: str | None = None
    agent_thread_id: str | None = None
    kind: str | None = None


class _Waited(msgspec.Struct, gc=False):
    """The result of a call that waits for subagents: the state of each, by its thread."""

    status: dict[str, Any] | None = None


_arguments = Rows(_Arguments)
_outputs = Rows(_Output)
_activities = Rows(_Activity)
_waited = Rows(_Waited)
_text = msgspec.json.Decoder(str).decode

#: The kinds of activity, and the states, of a subagent that has not ended.
_RUNNING = frozenset({"started", "interacted", "pending_init", "running"})

#: The calls whose result has the state of the subagents that they waited for.
_WAITING = frozenset({"wait", "wait_agent"})


class Spawns:
    """Finds in the rows of one thread, in their order, which threads it spawned, by which calls.

    The new thread is named by the result of the `spawn_agent` call; or, where that gives a task
    name only, by an event with the call's ID: `sub_agent_activity` (0.142 to 0.148), or
    `item_completed` with an item `SubAgentActivity` (from 0.151); or by `collab_agent_spawn_end`,
    which also names the sender. Later activities of the thread, and the results of calls that wait
    for it, are revisions. IDs in other texts announce nothing.
    """

    __slots__ = ("_known", "_open", "_roles", "_thread_id", "_waiting")

    def __init__(self, thread_id: str) -> None:
        self._thread_id = thread_id
        self._open: set[str] = set()  # calls without a result
        self._roles: dict[str, str | None] = {}  # the roles that calls ask for
        self._waiting: set[str] = set()  # calls that wait for subagents, without a result
        self._known: set[str] = set()  # the threads that were spawned

    def see(self, row: Row, payload: Payload) -> list[Spawned]:
        """The threads that were spawned, or changed their state, by what the next row says."""
        seen = self._seen(row, payload)
        self._known.update(spawned.thread_id for spawned in seen)
        return seen

    def _seen(self, row: Row, payload: Payload) -> list[Spawned]:
        kind, call_id = payload.type, payload.call_id
        if row.type == "event_msg" and kind in {"sub_agent_activity", "item_completed"}:
            return self._active(_activity_of(payload))
        if not call_id:
            return []
        if row.type == "response_item" and kind == "function_call":
            if payload.name == "spawn_agent":
                self._open.add(call_id)
                self._roles[call_id] = _arguments.decode_text(payload.arguments).agent_type
            elif payload.name in _WAITING:
                self._waiting.add(call_id)
        elif row.type == "response_item" and kind == "function_call_output":
            return self._result(call_id, payload.output)
        elif (
            kind == "collab_agent_spawn_end"
            and payload.new_thread_id
            and payload.sender_thread_id == self._thread_id
        ):
            return [Spawned(payload.new_thread_id, call_id)]
        return []

    def _result(self, call_id: str, output: Raw) -> list[Spawned]:
        if call_id in self._open:
            self._open.remove(call_id)
            thread_id = _outputs.decode_text(output).agent_id
            return [Spawned(thread_id, call_id, self._roles[call_id])] if thread_id else []
        if call_id not in self._waiting:
            return []
        self._waiting.remove(call_id)
        states = _waited.decode_text(output).status or {}
        return [
            Spawned(thread_id, call_id, None, word)
            for thread_id, state in states.items()
            # A state is a word, or an object with the word as its only member.
            for word in _words(state)
            if thread_id in self._known and word not in _RUNNING
        ]

    def _active(self, activity: _Activity) -> list[Spawned]:
        """An activity announces the thread of one of the calls, or revises what is known of it."""
        thread_id, call_id = activity.agent_thread_id, activity.id
        if not thread_id or not call_id:
            return []
        if call_id not in self._roles and thread_id not in self._known:
            return []
        status = None if activity.kind in _RUNNING else activity.kind or None
        return [Spawned(thread_id, call_id, self._roles.get(call_id), status)]


def _activity_of(payload: Payload) -> _Activity:
    if payload.type == "sub_agent_activity":
        return _Activity(
            id=_plain(payload.event_id),
            agent_thread_id=_plain(payload.agent_thread_id),
            kind=_plain(payload.kind),
        )
    item = _activities.decode_part(payload.item)
    return item if item.type == "SubAgentActivity" else _Activity()


def _words(state: Any) -> list[str]:
    words: list[Any] = list(cast("dict[str, Any]", state)) if isinstance(state, dict) else [state]
    return [word for word in words if isinstance(word, str) and word.isascii()]


def _plain(raw: Raw) -> str | None:
    try:
        return _text(raw)
    except msgspec.DecodeError:  # absent, another type, or a lone surrogate
        return None


def ignore(_said: object) -> None:
    """Ignore: another pass reports it."""
