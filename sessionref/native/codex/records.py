"""Codex rollouts as streams.

One file gives one stream; the pages of a thread give streams with one session key. Rows have no
native IDs. A record's ID derives from the row's native ordinal, or from its line if rows have none;
Codex may rewrite a rollout, so IDs from lines hold for one capture only (ASR-070).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Raw

from sessionref.native.codex.rows import (
    AGENT,
    Payload,
    Spawns,
    ignore,
    named_turn,
    rows,
    totals,
)
from sessionref.native.record import (
    LineIds,
    Native,
    NativeRecord,
    NativeStream,
    Usage,
    header_record,
    new_input,
    row_fault,
)
from sessionref.native.rows import Fault, NoRow, is_utf8
from sessionref.reference import SessionRef
from sessionref.streams.ids import at_ordinal, of_part

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sessionref.native.codex.rows import Counts, Row, Spawned
    from sessionref.native.codex.survey import Meta, Survey
    from sessionref.native.reader import Lines
    from sessionref.native.record import Report

__all__ = ["AGENT", "FORMAT", "Writer", "streams"]

#: The name of the format.
FORMAT = "codex-rollout"

_VENDOR = "com.openai.codex."
_NAMED_BY_ITEM = frozenset({"web_search_call", "image_generation_call"})


def streams(
    survey: Survey, lines: Lines, file: str, report: Report, *, content: bool = True
) -> Iterator[NativeStream]:
    """The session of one rollout, or nothing where it names none.

    `survey` is what the first pass over it learned, `lines` gives its lines with their numbers,
    from the start each time it is called, and `file` is what findings call it. Without `content`
    the records carry identity, model calls, usage and relations only. Faults inside rows are
    reported, and nothing is raised.
    """
    meta = survey.meta
    if meta is None:
        return
    header = header_record(
        agent=AGENT,
        agent_version=meta.version,
        namespace=None,
        session_id=meta.thread_id,
        source_format=FORMAT,
        started_at=meta.started,
        scope=meta.scope,
        cwd=meta.cwd,
        branch=meta.branch,
        content=content,
        lineage=survey.lineage,
        segment=survey.segment,
    )
    writer = Writer(file, report, survey, meta, content=content)
    yield NativeStream(header, writer.all(lines), writer)


class Writer:
    """Makes the records of one rollout. `line` is the line of the row that it is at."""

    __slots__ = (
        "_agents",
        "_calls",
        "_content",
        "_file",
        "_model",
        "_ordinals",
        "_positions",
        "_report",
        "_seq",
        "_spawns",
        "_survey",
        "_total",
        "_turn",
        "line",
    )

    def __init__(
        self, file: str, report: Report, survey: Survey, meta: Meta, *, content: bool
    ) -> None:
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
        # Totals are compared across the pages of a thread, and with a fork's history.
        self._total: Counts | None = survey.total_before
        self._calls: dict[str, str] = {}
        self._spawns = Spawns(meta.thread_id)
        # The latest revision of each announcement, by the child's thread ID.
        self._agents: dict[str, NativeRecord] = {}

    def all(self, lines: Lines) -> Iterator[NativeRecord]:
        """The records of the rollout, in order; what is wrong with a row is reported before."""
        for line, data in lines(ignore):
            self.line = line
            faults: list[Fault] = []
            try:
                row = rows.decode(data, faults.append)
            except NoRow:
                continue
            for fault in faults:
                self._report(row_fault(fault, self._file, line))
            record = self._row(line, data, row)
            yield record
            payload = row.payload
            if payload is not None:
                for number, spawned in enumerate(self._spawns.see(row, payload)):
                    yield self._announce(record, spawned, number)

    def _announce(self, beside: NativeRecord, spawned: Spawned, number: int) -> NativeRecord:
        """The announcement of a spawned thread, or a revision of it (ASR-411, 424)."""
        self._seq += 1
        record = NativeRecord(
            type="subagent",
            seq=self._seq,
            id=of_part(beside.id, "subagent", number),
            ts=beside.ts,
            turn_id=beside.turn_id,
            id_source="derived",
            id_scope=beside.id_scope,
            child_session=str(SessionRef(AGENT, None, spawned.thread_id)),
            call_id=spawned.call_id,
            role=spawned.role,
            status=spawned.status,
        )
        known = self._agents.get(spawned.thread_id)
        if known is not None:
            record.supersedes = known.id
            record.call_id = known.call_id
            record.role = record.role or known.role
        self._agents[spawned.thread_id] = record
        return record

    def _row(self, line: int, data: bytes, row: Row) -> NativeRecord:
        self._seq += 1
        record = NativeRecord(
            type="",
            seq=self._seq,
            id=self._id(row.ordinal, line),
            ts=row.timestamp,
            id_source="derived",
            id_scope="capture" if row.ordinal is None else None,
        )
        content = self._content
        if content and not is_utf8(data):
            content = False
            fault = Fault("bad-utf8", "$", "the row is not UTF-8: its content is left out")
            self._report(row_fault(fault, self._file, line))
        if content:
            record.native = Native(row=Raw(data))
        payload = row.payload or Payload()
        self._enter_turn(row, payload)
        record.turn_id = named_turn(payload) or self._turn
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
        return at_ordinal(ordinal, again)

    def _enter_turn(self, row: Row, payload: Payload) -> None:
        """A turn lasts from the row that opens it to the one that closes it, or to the next."""
        if row.type == "turn_context":
            self._turn = payload.turn_id or None
            self._model = payload.model or self._model
        elif row.type == "event_msg" and payload.type == "task_started":
            self._turn = payload.turn_id or None

    def _leave_turn(self, row: Row, payload: Payload) -> None:
        if row.type == "event_msg" and payload.type in {"task_complete", "turn_aborted"}:
            self._turn = None

    def _item(self, record: NativeRecord, payload: Payload, *, content: bool) -> None:
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

    def _spent(self, line: int, payload: Payload) -> bool:
        """Whether a `token_count` counts as a model call.

        It does where its total differs from the one just before it, unless a `token_usage_record`
        counts for that call. Without a total nothing shows that it repeats another.
        """
        info = payload.info
        if info is None:
            return False
        total, last = info.total_token_usage, info.last_token_usage
        # After a compaction, and where only the size of the context changed, Codex writes counts
        # of zero: they are no call.
        if last is not None and not last.input_tokens and not last.output_tokens:
            self._total = total or self._total
            return False
        if total is None:
            return last is not None and line not in self._survey.joined_lines
        repeats = total == self._total
        self._total = total
        joined = line in self._survey.joined_lines or totals(total) in self._survey.joined
        return not (repeats or joined)

    def _call(self, record: NativeRecord, payload: Payload) -> None:
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


def _usage(counts: Counts) -> Usage:
    read, written = counts.cached_input_tokens, counts.cache_write_input_tokens
    return Usage(
        input_tokens=new_input(AGENT, FORMAT, counts.input_tokens, read, written),
        cache_read_tokens=read,
        cache_write_tokens=written,
        output_tokens=counts.output_tokens,
        reasoning_tokens=counts.reasoning_output_tokens,
    )


def _vendor_type(row: Row, payload: Payload) -> str:
    name = _VENDOR + (row.type or "row")
    return f"{name}.{payload.type}" if payload.type else name
