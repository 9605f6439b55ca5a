"""Codex rollouts as streams.

A rollout is read twice: once for its session and for what its model calls are known by, once for
its records. One file gives one stream; the pages of a thread give streams with one session key.

Identity, as the registry entry states it: the session ID is `payload.id` of the first
`session_meta`. A later one is an ancestor's, copied with its history, and renames nothing; a file
without one is no session. `session_id` names the root of the agent tree and the file's name may
name a page, so neither is identity (ASR-051 to 053).

Rows have no native IDs. A record's ID derives from the row's native ordinal, or from its line
where rows have none; rollouts are only appended to, so both hold in every capture (ASR-068).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import msgspec
from msgspec import Raw

from sessionref.findings import Finding
from sessionref.native.base import (
    Count,  # noqa: TC001 - the structs below need it
    LineIds,
    Native,
    NativeRecord,
    NativeStream,
    Report,
    Usage,
    header_record,
    row_fault,
)
from sessionref.native.rows import Fault, NoRow, Rows, begins, is_utf8

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["AGENT", "FORMAT", "ROW_TYPES", "read"]

#: The registered short name, and the name of the format.
AGENT = "codex"
FORMAT = "codex-rollout"

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

_VENDOR = "com.openai.codex."
_PRIMARY_SOURCES = frozenset({b'"cli"', b'"vscode"', b'"exec"', b'"mcp"'})
_SUBAGENT_SOURCES = frozenset({"subagent", "guardian_review"})
_NAMED_BY_ITEM = frozenset({"web_search_call", "image_generation_call"})
_Lines = Callable[[Report], Iterable[tuple[int, bytes]]]


class _Counts(msgspec.Struct, gc=False):
    """Tokens as Codex counts them; `input_tokens` include the cached ones."""

    input_tokens: Count | None = None
    cached_input_tokens: Count | None = None
    cache_write_input_tokens: Count | None = None
    output_tokens: Count | None = None
    reasoning_output_tokens: Count | None = None
    total_tokens: Count | None = None


class _Info(msgspec.Struct, gc=False):
    total_token_usage: _Counts | None = None
    last_token_usage: _Counts | None = None
    model: str | None = None


class _Git(msgspec.Struct, gc=False):
    branch: str | None = None


class _PassedThrough(msgspec.Struct, gc=False):
    turn_id: str | None = None


class _Payload(msgspec.Struct, gc=False):
    """What is needed of a payload. Both passes decode the same, so they agree on every line."""

    type: str | None = None
    id: str | None = None
    # Of a session_meta
    timestamp: str | None = None
    cwd: str | None = None
    cli_version: str | None = None
    thread_source: str | None = None
    git: _Git | None = None
    source: Raw = Raw()
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
    usage: _Counts | None = None
    thread_token_usage: _Counts | None = None
    # Of an item
    content: Raw = Raw()
    arguments: Raw = Raw()
    input: Raw = Raw()
    output: Raw = Raw()


class _Row(msgspec.Struct, gc=False):
    type: str | None = None
    timestamp: str | None = None
    ordinal: Count | None = None
    payload: _Payload | None = None


class _Source(msgspec.Struct, gc=False):
    subagent: Raw = Raw()


_rows = Rows(_Row)
_sources = Rows(_Source)
_Totals = tuple[int | None, int | None, int | None]


def read(
    lines: _Lines, file: str, report: Report, *, content: bool = True
) -> Iterator[NativeStream]:
    """The session of one rollout, or nothing.

    `lines` gives the rollout's lines with their numbers, from the start each time it is called;
    `file` is what findings call it. Without `content` the records carry identity, model calls and
    usage only. Every fault is reported and nothing is raised; a rollout without a `session_meta`
    that names it gives no stream and one finding (code `no-session`).
    """
    survey = _survey(lines, file, report)
    if survey.header is None:
        return
    header = survey.header(content)
    writer = _Writer(file, report, survey, content=content)
    yield NativeStream(header, writer.all(lines), writer)


class _Survey:
    """What the first pass learns of the file.

    `joined` are the totals after model calls that a `token_usage_record` stands for, `joined_lines`
    the lines of `token_count` rows that one follows with the same counts.
    """

    __slots__ = ("header", "joined", "joined_lines")

    def __init__(self) -> None:
        self.header: Callable[[bool], NativeRecord] | None = None
        self.joined: set[_Totals] = set()
        self.joined_lines: set[int] = set()


def _survey(lines: _Lines, file: str, report: Report) -> _Survey:
    """The first pass. It reports faults of lines; those inside rows are left to the second."""
    survey = _Survey()
    meta_seen = False
    last: tuple[int, _Counts] | None = None
    for line, data in lines(report):
        faults: list[Fault] = []
        try:
            row = _rows.decode(data, faults.append)
        except NoRow as error:
            report(
                Finding(
                    code=error.code,
                    severity="warning",
                    message=error.message,
                    file=file,
                    line=line,
                )
            )
            continue
        payload = row.payload
        if row.type == "session_meta" and not meta_seen:
            meta_seen = True
            if payload is not None and payload.id:
                survey.header = _header_of(payload, row.timestamp)
            elif fault := next((f for f in faults if f.path == "$.payload.id"), None):
                report(row_fault(fault, file, line))
                return survey
        elif payload is None:
            continue
        elif row.type == "token_usage_record":
            if payload.thread_token_usage is not None:
                survey.joined.add(_totals(payload.thread_token_usage))
            elif last is not None and last[1] == payload.usage:
                survey.joined_lines.add(last[0])
        elif payload.info is not None and payload.info.last_token_usage is not None:
            last = (line, payload.info.last_token_usage)
    if survey.header is None:
        report(
            Finding(
                code="no-session",
                severity="warning",
                message="no session_meta names the session, so the rollout is no session",
                rule="ASR-051",
                file=file,
            )
        )
    return survey


def _header_of(meta: _Payload, timestamp: str | None) -> Callable[[bool], NativeRecord]:
    def header(content: bool) -> NativeRecord:
        return header_record(
            agent=AGENT,
            agent_version=meta.cli_version,
            namespace=None,
            session_id=meta.id or "",
            source_format=FORMAT,
            started_at=meta.timestamp or timestamp,
            scope=_scope(meta),
            cwd=meta.cwd,
            branch=None if meta.git is None else meta.git.branch,
            content=content,
        )

    return header


def _scope(meta: _Payload) -> str | None:
    """Whether the source says that the thread is a subagent or a user's (ASR-410)."""
    if meta.thread_source in _SUBAGENT_SOURCES:
        return "subagent"
    if begins(meta.source, b"{") and _sources.decode(meta.source, _pass_over).subagent:
        return "subagent"
    if meta.thread_source == "user" or bytes(meta.source) in _PRIMARY_SOURCES:
        return "primary"
    return None


def _totals(counts: _Counts) -> _Totals:
    """The members that both ways of writing a thread's total have."""
    return (counts.input_tokens, counts.output_tokens, counts.total_tokens)


class _Writer:
    """Makes the records of one rollout."""

    __slots__ = (
        "_calls",
        "_content",
        "_file",
        "_model",
        "_ordinals",
        "_positions",
        "_report",
        "_seq",
        "_survey",
        "_total",
        "_turn",
        "line",
    )

    def __init__(self, file: str, report: Report, survey: _Survey, *, content: bool) -> None:
        self._file = file
        self._report = report
        self._survey = survey
        self._content = content
        self.line = 0
        self._seq = 0
        self._positions = LineIds()
        self._ordinals: dict[int, int] = {}
        self._turn: str | None = None
        self._model: str | None = None
        self._total: _Counts | None = None
        self._calls: dict[str, str] = {}

    def all(self, lines: _Lines) -> Iterator[NativeRecord]:
        for line, data in lines(_pass_over):
            self.line = line
            faults: list[Fault] = []
            try:
                row = _rows.decode(data, faults.append)
            except NoRow:
                continue
            for fault in faults:
                self._report(row_fault(fault, self._file, line))
            yield self._row(line, data, row)

    def _row(self, line: int, data: bytes, row: _Row) -> NativeRecord:
        self._seq += 1
        record = NativeRecord(
            type="",
            seq=self._seq,
            id=self._id(row.ordinal, line),
            ts=row.timestamp,
            id_source="derived",
        )
        content = self._content
        if content and not is_utf8(data):
            content = False
            fault = Fault("bad-utf8", "$", "the row is not UTF-8: its content is left out")
            self._report(row_fault(fault, self._file, line))
        if content:
            record.native = Native(row=Raw(data))
        payload = row.payload or _Payload()
        self._enter_turn(row, payload)
        record.turn_id = _own_turn(payload) or self._turn
        self._leave_turn(row, payload)
        kind = row.type
        if kind == "response_item":
            self._item(record, payload, content=content)
        elif kind == "token_usage_record" or (
            kind == "event_msg" and payload.type == "token_count" and self._spent(line, payload)
        ):
            self._call(record, payload)
        elif kind == "compacted":
            # The source names no compaction: the record's ID stands for it (ASR-067). What it
            # replaced is not said by record.
            record.type = "compaction"
            record.compaction_id = record.id
            record.replaces = {"state": "unknown"}
        if not record.type:
            record.type = _vendor_type(row, payload)
            record.call_id = payload.call_id or payload.call or None
        return record

    def _id(self, ordinal: int | None, line: int) -> str:
        """The row's native ordinal where it has one, else its line.

        A writer may repeat an ordinal; the rows that repeat it are told apart by their number.
        """
        if ordinal is None:
            return self._positions.next(line)
        again = self._ordinals.get(ordinal, 0)
        self._ordinals[ordinal] = again + 1
        return f"ordinal/{ordinal}/row/{again}" if again else f"ordinal/{ordinal}"

    def _enter_turn(self, row: _Row, payload: _Payload) -> None:
        """A turn lasts from the row that opens it to the one that closes it, or to the next."""
        if row.type == "turn_context":
            self._turn = payload.turn_id or None
            self._model = payload.model or self._model
        elif row.type == "event_msg" and payload.type == "task_started":
            self._turn = payload.turn_id or None

    def _leave_turn(self, row: _Row, payload: _Payload) -> None:
        if row.type == "event_msg" and payload.type in {"task_complete", "turn_aborted"}:
            self._turn = None

    def _item(self, record: NativeRecord, payload: _Payload, *, content: bool) -> None:
        """A message, a tool call or a tool result; other items stay the source's own types."""
        kind = payload.type or ("message" if payload.role else "")
        if kind == "message":
            record.type = kind
            record.message_id = payload.id or record.id
            if payload.id:
                record.message_id_source = "native"
            record.role = payload.role
            if content and payload.content:
                record.content = payload.content
        elif kind.endswith("_call"):
            record.type = "tool_call"
            named = payload.call_id or (payload.id if kind in _NAMED_BY_ITEM else None)
            record.call_id = named or record.id
            if not named:
                record.call_id_source = "derived"
            record.name = payload.name or kind.removesuffix("_call")
            given = payload.arguments or payload.input
            if content and given:
                record.input = given
        elif kind.endswith("_output"):
            record.type = "tool_result"
            record.call_id = payload.call_id or None
            if content and payload.output:
                record.content = payload.output

    def _spent(self, line: int, payload: _Payload) -> bool:
        """Whether a `token_count` stands for a model call of its own.

        It does where its total differs from the one just before it, unless a `token_usage_record`
        stands for that call. Without a total nothing says that it repeats another.
        """
        info = payload.info
        if info is None:
            return False
        total = info.total_token_usage
        if total is None:
            return info.last_token_usage is not None and line not in self._survey.joined_lines
        repeats = total == self._total
        self._total = total
        joined = line in self._survey.joined_lines or _totals(total) in self._survey.joined
        return not (repeats or joined)

    def _call(self, record: NativeRecord, payload: _Payload) -> None:
        """A model call (ASR-073): named by the provider's response ID, or derived."""
        record.type = "inference"
        model = self._model
        counts = payload.usage
        if payload.info is not None:
            model = payload.info.model or model
            counts = payload.info.last_token_usage
        if payload.response_id:
            record.inference_id = payload.response_id
            record.inference_id_source = "native"
            record.supersedes = self._calls.get(payload.response_id)
            self._calls[payload.response_id] = record.id
        else:
            record.inference_id = record.id
        if model:
            record.model = {"id": model}
        if counts is not None:
            record.usage = _usage(counts)


def _usage(counts: _Counts) -> Usage:
    cached = counts.cached_input_tokens or 0
    written = counts.cache_write_input_tokens or 0
    fresh = None if counts.input_tokens is None else counts.input_tokens - cached - written
    return Usage(
        # Counts that contradict each other say nothing about what was fresh.
        input_tokens=None if fresh is None or fresh < 0 else fresh,
        cache_read_tokens=counts.cached_input_tokens,
        cache_write_tokens=counts.cache_write_input_tokens,
        output_tokens=counts.output_tokens,
        reasoning_tokens=counts.reasoning_output_tokens,
    )


def _own_turn(payload: _Payload) -> str | None:
    passed = payload.passed.turn_id if payload.passed is not None else None
    return payload.turn_id or payload.turn or passed or None


def _vendor_type(row: _Row, payload: _Payload) -> str:
    name = _VENDOR + (row.type or "row")
    return f"{name}.{payload.type}" if payload.type else name


def _pass_over(_said: Finding | Fault) -> None:
    """For what the first pass has reported."""
