"""The rows of a Claude Code transcript as records.

A message row gives a `message`, then the `inference` behind it, then a `tool_call` or `tool_result`
for each such block, then a `subagent` where the row tells of one. The first record of a row has
the row's `uuid` as its ID, the others have `<uuid>/<type>/<n>` with their place in the row. A model
call is written once for each block of its answer, with growing counts: its snapshots are revisions
of one `inference`.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from decimal import Decimal
from functools import cache, partial
from typing import IO, TYPE_CHECKING

import msgspec
from msgspec import Raw

from sessionref.agent import ComparisonFacts, Fact
from sessionref.findings import Finding
from sessionref.native.claude_code.rows import (
    AGENT,
    SIDE_AGENT,
    Delegation,
    agent_slot,
    blocks_of,
    delegation,
    notification,
    reference,
    rows,
)
from sessionref.native.claude_code.survey import rows_by_session
from sessionref.native.record import (
    LineIds,
    Native,
    NativeRecord,
    NativeStream,
    Usage,
    header_record,
    native_id,
    row_fault,
)
from sessionref.native.rows import Fault, Rows, begins, is_utf8
from sessionref.registry import Registry
from sessionref.streams.ids import again, of_part

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sessionref.native.claude_code.rows import (
        Glance,
        GlanceMessage,
        Message,
        Read,
        Row,
        Slot,
    )
    from sessionref.native.claude_code.survey import Facts, Survey
    from sessionref.native.reader import Lines
    from sessionref.native.record import Report

__all__ = [
    "FORMAT",
    "Writer",
    "block_record",
    "call_of",
    "content_digest",
    "kind_of_row",
    "streams",
    "writer_of",
]

#: The name of the format.
FORMAT = "claude-code-jsonl"


#: How many bytes of other sessions' rows are kept in memory before they go to a file.
_SPOOL = 16 << 20

_VENDOR = "com.anthropic.claude-code."
_SYNTHETIC = "<synthetic>"
_DIGITS = 30


def streams(
    survey: Survey, lines: Lines, file: str, report: Report, *, content: bool = True
) -> Iterator[NativeStream]:
    """The sessions of one transcript, in the order in which they first appear.

    `survey` is what the first pass over it learned, `lines` gives its lines with their numbers,
    from the start each time it is called, and `file` is what findings call it. Without `content`
    the records carry identity, model calls, usage and relations only. Faults inside rows are
    reported, and nothing is raised.
    """
    order = list(survey.slots)
    # Rows of all sessions but the first wait in a spool, so that the file is read twice however
    # many sessions it holds.
    with tempfile.SpooledTemporaryFile(max_size=_SPOOL) as spool:
        waiting: dict[Slot, list[tuple[int, int, int]]] = {slot: [] for slot in order[1:]}
        for place, slot in enumerate(order):
            if place == 0:
                own = _rows_of_first(survey, lines, waiting, spool)
            else:
                own = _rows_that_waited(waiting[slot], spool)
            writer = writer_of(survey, slot, file, report, content=content)
            header = _header(slot, survey.slots[slot], content=content)
            yield NativeStream(header, writer.all(own), writer)
            for _ in own:  # the caller may have left rows unread
                pass


def writer_of(survey: Survey, slot: Slot, file: str, report: Report, *, content: bool) -> Writer:
    """What makes the records of one session of the file, once."""
    copied_head = partial(survey.copied_head_of, slot)
    return Writer(file, report, survey.slots[slot].repeated, copied_head, content=content)


def _rows_of_first(
    survey: Survey,
    lines: Lines,
    waiting: dict[Slot, list[tuple[int, int, int]]],
    spool: IO[bytes],
) -> Iterator[Read]:
    """The second pass: yields the rows of the first session, spools those of the others."""
    first = next(iter(survey.slots))
    end = 0
    for slot, line, data, row, faults in rows_by_session(survey, lines):
        if slot == first:
            yield line, data, row, faults
        else:
            spool.seek(end)
            spool.write(data)
            waiting[slot].append((line, end, len(data)))
            end += len(data)


def _rows_that_waited(places: list[tuple[int, int, int]], spool: IO[bytes]) -> Iterator[Read]:
    for line, start, length in places:
        spool.seek(start)
        data = spool.read(length)
        faults: list[Fault] = []
        yield line, data, rows.decode(data, faults.append), faults


def _header(slot: Slot, facts: Facts, *, content: bool) -> NativeRecord:
    namespace, session_id, subagent = slot
    scope = "subagent" if subagent else "primary"
    return header_record(
        agent=AGENT,
        agent_version=facts.version,
        namespace=namespace,
        session_id=session_id,
        source_format=FORMAT,
        started_at=facts.started,
        # A compaction side agent is neither delegated to nor a conversation of its own.
        scope=None if session_id.startswith(SIDE_AGENT) else scope,
        cwd=facts.cwd,
        branch=facts.branch,
        content=content,
        lineage=facts.lineage,
        segment=facts.segment,
    )


class _Compaction(msgspec.Struct, gc=False):
    trigger: str | None = None


_compactions = Rows(_Compaction)


class _Place:
    """Where a row stands among the record IDs of its stream.

    `id` is the ID of the row's first record; `derived` says that it is no native one, `capture`
    that it holds for this capture only. `message_id` is the native key of a message, or None.
    `source` is the session that the row was copied from, `original` the row's ID there.
    """

    __slots__ = ("capture", "derived", "id", "message_id", "native", "original", "source")

    def __init__(self, row: Row, position: str) -> None:
        native = native_id(row.uuid)
        # Lines may be rewritten by the source, so a position holds for one capture (ASR-070).
        self.derived = self.capture = native is None
        self.id = position if native is None else native
        self.message_id = row.uuid or None
        self.native = Native()
        self.source: str | None = None
        self.original: str | None = None

    def copied_from(self, kind: str, number: int | None) -> dict[str, str] | None:
        """The mark of a copy on a record of the row: its first, or a further one by its number.

        The copy's records come from the same row as the original's, so they have the same IDs, as
        far as these derive from the row's.
        """
        if self.source is None:
            return None
        record = self.original
        if record is not None and number is not None:
            record = of_part(record, kind, number)
        elif record is not None and kind == "message":
            record = f"messageId={record}"
        mark = {"session": self.source, "proof": "native_field"}
        return mark if record is None else {**mark, "record": record}


class _Written:
    """What was written under one record ID: how often, and each content's first record."""

    __slots__ = ("by_content", "count")

    def __init__(self) -> None:
        self.count = 0
        self.by_content: dict[bytes, str] = {}


class Writer:
    """Makes the records of one session. `line` is the line of the row that it is at.

    `file` is what findings call the transcript, `repeated` the record IDs that occur more than
    once in it; `copied_head` says of a row and its line from which session it was copied, where it
    belongs to a copied head. Without `content` the records carry identity, model calls, usage and
    relations only.
    """

    __slots__ = (
        "_agents",
        "_by_request",
        "_calls",
        "_content",
        "_copied_head",
        "_file",
        "_positions",
        "_repeated",
        "_report",
        "_seq",
        "_written",
        "line",
    )

    def __init__(
        self,
        file: str,
        report: Report,
        repeated: set[str],
        copied_head: Callable[[Row, int], str | None],
        *,
        content: bool,
    ) -> None:
        self._copied_head = copied_head
        self._file = file
        self._report = report
        self._repeated = repeated
        self._content = content
        self._seq = 0
        self.line = 0
        self._positions = LineIds()
        self._written: dict[str, _Written] = {}
        # The latest snapshot of each model call, by message ID and request ID.
        self._calls: dict[str, dict[str | None, str]] = {}
        self._by_request: dict[str, str] = {}
        # The latest revision of each announcement, by the child's agent ID.
        self._agents: dict[str, NativeRecord] = {}

    def all(self, rows: Iterator[Read]) -> Iterator[NativeRecord]:
        """The records of `rows`, in order; what is wrong with a row is reported before them."""
        for line, data, row, faults in rows:
            self.line = line
            for fault in faults:
                self._report(row_fault(fault, self._file, line))
            yield from self.row(line, data, row)

    def pass_over(self, records: int) -> None:
        """Note that so many records were made elsewhere."""
        self._seq += records

    def row(self, line: int, data: bytes, row: Row) -> Iterator[NativeRecord]:
        """The records of one row, whose bytes are `data`."""
        place = _Place(row, self._positions.next(line))
        content = self._content
        if content and not is_utf8(data):
            content = False
            fault = Fault("bad-utf8", "$", "the row is not UTF-8: its content is left out")
            self._report(row_fault(fault, self._file, line))
        if content:
            place.native.row = Raw(data)
        self._mark_copy(place, row, line)
        if row.uuid in self._repeated and not place.derived:
            first = self._written_before(place, row.uuid, line, data)
            if first is not None:
                place.native.repeats = first
                yield self._record(_VENDOR + "repeated-row", place, row)
                return
        message = row.message
        if message is None or row.type not in {"user", "assistant"}:
            yield self._other(place, row)
            yield from self._subagent(place, row)
            return
        call = call_of(row, message, place.id)
        record = self._record("message", place, row)
        record.message_id = place.message_id or place.id
        if place.message_id is None:
            record.id_source = "derived"
        elif place.derived:
            record.message_id_source = "native"
        record.role = message.role or row.type
        record.inference_id = None if call is None else call[0]
        if content and message.content:
            record.content = message.content
        yield record
        if call is not None:
            yield self._inference(place, row, message, call)
        if begins(message.content, b"["):
            yield from self._blocks(
                place, row, message.content, record.inference_id, line, content=content
            )
        yield from self._subagent(place, row)

    def _mark_copy(self, place: _Place, row: Row, line: int) -> None:
        """Say whether a native field marks the row as a copy, and of what (ASR-413, 414)."""
        mark = row.copied_from
        if mark is not None:
            place.source = reference((None, mark.session_id or "", False))
            place.original = native_id(mark.message_uuid)
        elif (head := self._copied_head(row, line)) is not None:
            place.source = reference((None, head, False))

    def _written_before(self, place: _Place, uuid: str, line: int, data: bytes) -> str | None:
        """The record that wrote this row first, or None where the row is another one.

        The same record ID with other content is a record-ID conflict (ASR-017): the row gets a
        derived ID and key of its own, and keeps the native one under `native`.
        """
        written = self._written.setdefault(uuid, _Written())
        digest = content_digest(data)
        first = written.by_content.get(digest)
        if written.count:
            place.id = again(uuid, written.count)
            place.derived = True
        written.count += 1
        if first is not None:
            return first
        written.by_content[digest] = place.id
        if place.derived:
            place.capture = True
            place.message_id = None
            place.native.id = uuid
            self._report(
                Finding(
                    code="record-id-conflict",
                    severity="warning",
                    message=f"record ID {uuid} was written before with other content",
                    rule="ASR-017",
                    id=place.id,
                    file=self._file,
                    line=line,
                )
            )
        return None

    def _other(self, place: _Place, row: Row) -> NativeRecord:
        """A row that is no message."""
        if row.type == "system" and row.subtype == "compact_boundary":
            record = self._record("compaction", place, row)
            # The source names no compaction: its record's ID stands for it (ASR-067). What it
            # replaced is not said by record.
            record.compaction_id = place.id
            record.id_source = "derived"
            record.replaces = {"state": "unknown"}
            if row.compact_metadata:
                record.trigger = _trigger(row.compact_metadata)
            return record
        return self._record(kind_of_row(row.type), place, row)

    def _inference(
        self, place: _Place, row: Row, message: Message, call: tuple[str, bool]
    ) -> NativeRecord:
        """A snapshot of a model call: the next revision where the call was written before."""
        key, native = call
        record = self._part("inference", place, row, 0)
        record.inference_id = key
        if native:
            record.inference_id_source = "native"
        record.supersedes, request = self.revised(message.id, row.request_id, record.id)
        if message.model is not None:
            record.model = {"id": message.model}
        usage = message.usage
        if usage is not None:
            record.usage = Usage(
                input_tokens=usage.input_tokens,
                cache_read_tokens=usage.cache_read_input_tokens,
                cache_write_tokens=usage.cache_creation_input_tokens,
                output_tokens=usage.output_tokens,
            )
        amount = _amount(row.cost)
        if amount is not None:
            record.cost = [{"amount": amount, "currency": "USD"}]
        record.request_id = request
        return record

    def revised(
        self, message_id: str | None, request_id: str | None, record_id: str
    ) -> tuple[str | None, str | None]:
        """Note a snapshot of a model call; the snapshot that it revises, and the request's ID.

        Where another writing of the call names the request, it is this one's too.
        """
        request = request_id or None
        before = None
        if message_id:
            calls = self._calls.setdefault(message_id, {})
            if request not in calls and len(calls) == 1:
                # A row without its request joins the call of the same message, and the other way
                # about; two requests are two calls.
                (known,) = calls
                if known is None:
                    calls[request] = calls.pop(known)
                elif request is None:
                    request = known
            before = calls.get(request)
            calls[request] = record_id
        elif request is not None:
            before = self._by_request.get(request)
            self._by_request[request] = record_id
        return before, request

    def _subagent(self, place: _Place, row: Row) -> Iterator[NativeRecord]:
        """The announcement of a subagent, or a revision of it (ASR-411, 424)."""
        said = delegation(row)
        if isinstance(said, Delegation):
            container = row.session_id if row.copied_from is None else row.copied_from.session_id
            # Progress tells of an agent once; what it repeats is no change of its state.
            if container and (row.type == "user" or said.agent_id not in self._agents):
                child = reference(agent_slot(container, said.agent_id))
                yield self._announce(place, row, child, said)
            return
        told = None if row.type != "user" else notification(row)
        known = None if told is None else self._agents.get(told.task_id)
        if told is not None and known is not None:
            record = self._part("subagent", place, row, 0)
            record.status = told.status
            self._revise(record, known)
            self._agents[told.task_id] = record
            yield record

    def _announce(self, place: _Place, row: Row, child: str, said: Delegation) -> NativeRecord:
        record = self._part("subagent", place, row, 0)
        record.child_session = child
        record.call_id = said.call_id
        record.status = said.status
        record.role = said.role
        if said.is_async is not None:
            record.is_async = said.is_async
            # Who launches in the background is told at once; the source says so of no other call.
            record.awaited = False if said.is_async else None
        if self._content:
            record.description = said.description
        known = self._agents.get(said.agent_id)
        # What this session says of an agent is no revision of what a copied record says.
        if known is not None and (record.copied_from is not None or known.copied_from is None):
            self._revise(record, known)
        self._agents[said.agent_id] = record
        return record

    @staticmethod
    def _revise(record: NativeRecord, known: NativeRecord) -> None:
        """Make `record` the next revision: what it does not say anew stays as it was."""
        record.supersedes = known.id
        record.child_session = known.child_session
        record.call_id = known.call_id or record.call_id
        record.role = record.role or known.role
        record.description = record.description or known.description
        if known.is_async is not None:
            record.is_async, record.awaited = known.is_async, known.awaited

    def _blocks(
        self,
        place: _Place,
        row: Row,
        raw: Raw,
        inference_id: str | None,
        line: int,
        *,
        content: bool,
    ) -> Iterator[NativeRecord]:
        """Tool calls and results, from the blocks of a message's content."""
        blocks = blocks_of(raw, lambda fault: self._block_fault(fault, line))
        for number, block in enumerate(blocks):
            kind = block_record(block.type)
            if kind == "tool_call":
                record = self._part("tool_call", place, row, number)
                record.call_id = block.id or record.id
                if not block.id:
                    record.call_id_source = "derived"
                record.inference_id = inference_id
                record.name = block.name
                if content and block.input:
                    record.input = block.input
                yield record
            elif kind == "tool_result":
                record = self._part("tool_result", place, row, number)
                record.call_id = block.tool_use_id or None
                record.is_error = block.is_error
                if content and block.content:
                    record.content = block.content
                yield record

    def _block_fault(self, fault: Fault, line: int) -> None:
        path = "$.message.content" + fault.path.removeprefix("$")
        self._report(row_fault(Fault(fault.code, path, fault.message), self._file, line))

    def _record(self, kind: str, place: _Place, row: Row) -> NativeRecord:
        """The first record of a row."""
        self._seq += 1
        return NativeRecord(
            type=kind,
            seq=self._seq,
            id=place.id,
            ts=row.timestamp,
            id_source="derived" if place.derived else None,
            id_scope="capture" if place.capture else None,
            copied_from=place.copied_from(kind, None),
            native=place.native,
        )

    def _part(self, kind: str, place: _Place, row: Row, number: int) -> NativeRecord:
        """A further record of a row, under an ID derived from the row's and its place in it."""
        self._seq += 1
        return NativeRecord(
            type=kind,
            seq=self._seq,
            id=of_part(place.id, kind, number),
            ts=row.timestamp,
            id_source="derived",
            id_scope="capture" if place.capture else None,
            copied_from=place.copied_from(kind, number),
        )


def call_of(
    row: Row | Glance, message: Message | GlanceMessage, row_id: str
) -> tuple[str, bool] | None:
    """The inference ID of the model call behind a row, and whether it is native (ASR-073, 074).

    The provider's message ID where there is one; else an ID derived from the request ID, or from
    the row. None where the row shows no call.
    """
    if row.type != "assistant" or message.model == _SYNTHETIC:
        return None
    if message.id:
        return message.id, True
    if row.request_id:
        return f"request/{row.request_id}", False
    if message.model or message.usage is not None:
        return of_part(row_id, "inference", 0), False
    return None


def block_record(block_type: str | None) -> str | None:
    """The type of the record of a block of content, None where it makes none."""
    if block_type is None:
        return None
    if block_type.endswith("tool_use"):
        return "tool_call"
    return "tool_result" if block_type.endswith("tool_result") else None


def kind_of_row(row_type: str | None) -> str:
    """The type of the one record of a row that is nothing known."""
    return _VENDOR + (row_type or "row")


def content_digest(data: bytes) -> bytes:
    """What two writings of one record have in common, in any order of their members.

    Left out is what the registry entry names as written anew each time.
    """
    try:
        row = json.loads(data.decode(errors="surrogateescape"))
        for name in _written_again():
            row.pop(name, None)
        data = json.dumps(row, sort_keys=True, separators=(",", ":")).encode()
    except RecursionError:  # nested too deeply: then only equal bytes are the same
        pass
    return hashlib.blake2b(data, digest_size=16).digest()


@cache
def _written_again() -> tuple[str, ...]:
    match Registry.default()[AGENT].comparison:
        case ComparisonFacts(written_again=Fact(value=tuple() as names)):
            return names
        case _:  # pragma: no cover - the entry names them
            return ()


def _trigger(raw: Raw) -> str | None:
    return _compactions.decode_part(raw).trigger


def _amount(raw: Raw) -> str | None:
    """A JSON number as a decimal string; None for what is no number that money can be."""
    text = bytes(raw)
    if not text or text[:1] not in b"-0123456789":
        return None
    amount = Decimal(text.decode())
    return format(amount, "f") if abs(amount.adjusted()) < _DIGITS else None
