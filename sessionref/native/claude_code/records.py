"""The rows of a Claude Code transcript as records.

A message row gives a `message`, then the `inference` behind it, then a `tool_call` or `tool_result`
for each such block, then a `subagent` where the row tells of one. The first record of a row has
the row's `uuid` as its ID, the others have `<uuid>/<type>/<n>` with their place in the row. A model
call is written once for each block of its answer, with growing counts: its snapshots are revisions
of one `inference`.
"""

from __future__ import annotations

import hashlib
import tempfile
from decimal import Decimal
from functools import cache, lru_cache, partial
from typing import IO, TYPE_CHECKING, TypeAlias, TypeVar

import msgspec
from msgspec import Raw

from sessionref.native.claude_code.rows import (
    AGENT,
    AGENT_PROGRESS,
    DELEGATING,
    MESSAGES,
    SIDE_AGENT,
    Delegation,
    Result,
    Teammate,
    agent_slot,
    asked_by,
    blocks_of,
    delegation,
    glances_at,
    notification,
    reference,
    rows,
)
from sessionref.native.claude_code.survey import Facts, Surveyor, rows_by_session
from sessionref.native.columns import Columns
from sessionref.native.compare import comparable
from sessionref.native.record import (
    LineIds,
    Native,
    NativeRecord,
    NativeStream,
    Usage,
    header_record,
    native_id,
    new_input,
    row_fault,
    warning,
)
from sessionref.native.rows import Fault, Rows, begins, is_utf8
from sessionref.registry import Registry
from sessionref.streams.ids import again, of_part

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from sessionref.native.claude_code.rows import (
        Asked,
        Block,
        Glance,
        GlanceBlock,
        GlanceMessage,
        Message,
        Read,
        Row,
        Slot,
        Tokens,
    )
    from sessionref.native.claude_code.survey import Survey
    from sessionref.native.columns import Records
    from sessionref.native.logs import Log
    from sessionref.native.reader import Lines
    from sessionref.native.record import Report

__all__ = ["FORMAT", "Writer", "content_digest", "streams", "survey_with_columns"]

#: The name of the format.
FORMAT = "claude-code-jsonl"


#: How many bytes of other sessions' rows are kept in memory before they go to a file.
_SPOOL = 16 << 20

_VENDOR = "com.anthropic.claude-code."
_SYNTHETIC = "<synthetic>"
_DIGITS = 30
#: Tokens of a model call: new input, read from a cache, written to one, output.
_Counts: TypeAlias = "tuple[int | None, int | None, int | None, int | None]"

_NO_TOKENS: _Counts = (None, None, None, None)

B = TypeVar("B", bound="Block | GlanceBlock")

#: One record of a row: its ID, its type, the entity key that its type has, whether that key is the
#: source's own, and the block of the message's content that it comes from.
Part: TypeAlias = "tuple[str, str, str | None, bool, B | None]"


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
            copied_head = partial(survey.copied_head_of, slot)
            writer = Writer(file, report, survey.slots[slot], copied_head, content=content)
            header = _header(slot, survey.slots[slot], content=content)
            yield NativeStream(header, writer.all(own), writer)
            for _ in own:  # the caller may have left rows unread
                pass


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
    """Where a row is among the record IDs of its stream.

    `id` is the ID of the row's first record; `derived` if it is not a native one, `capture` if it
    holds for this capture only. `message_id` is the native key of a message, or None. `source` is
    the session that the row was copied from, `original` the row's ID there.
    """

    __slots__ = ("capture", "derived", "id", "message_id", "native", "original", "proof", "source")

    def __init__(self, row: Row, position: str) -> None:
        native = native_id(row.uuid)
        # Lines may be rewritten by the source, so a position holds for one capture (ASR-070).
        self.derived = self.capture = native is None
        self.id = position if native is None else native
        self.message_id = row.uuid or None
        self.native = Native()
        self.source: str | None = None
        self.original: str | None = None
        self.proof = "native_field"

    def copied_from(self, kind: str, record_id: str) -> dict[str, str] | None:
        """The mark of a copy on one of the row's records (ASR-413).

        The copy's records come from the same row as the original's, so they have the same IDs, as
        far as these derive from the row's.
        """
        if self.source is None:
            return None
        mark = {"session": self.source, "proof": self.proof}
        if self.original is not None:
            behind = record_id[len(self.id) :]
            is_message = kind == "message" and not behind
            mark["record"] = ("messageId=" if is_message else "") + self.original + behind
        return mark


class _Written:
    """The rows with one record ID: how many, and for each content its first record."""

    __slots__ = ("by_content", "count")

    def __init__(self) -> None:
        self.count = 0
        self.by_content: dict[bytes, str] = {}


class Writer:
    """Makes the records of one session. `line` is the line of the row that it is at.

    `file` is what findings call the transcript, `facts` what the survey learned of the session.
    `copied_head` gives for a row and its line the session that it was copied from, if
    it belongs to a copied head. Without `content` the records carry identity, model calls, usage
    and relations only.
    """

    __slots__ = (
        "_agents",
        "_asked",
        "_by_request",
        "_calls",
        "_content",
        "_copied_head",
        "_counts",
        "_facts",
        "_file",
        "_positions",
        "_report",
        "_seq",
        "_written",
        "line",
    )

    def __init__(
        self,
        file: str,
        report: Report,
        facts: Facts,
        copied_head: Callable[[Row, int], str | None],
        *,
        content: bool,
    ) -> None:
        self._copied_head = copied_head
        self._file = file
        self._report = report
        self._facts = facts
        self._content = content
        self._seq = 0
        self.line = 0
        self._positions = LineIds()
        self._written: dict[str, _Written] = {}
        # The latest snapshot of each model call, by message ID and request ID.
        self._calls: dict[str, dict[str | None, str]] = {}
        self._by_request: dict[str, str] = {}
        # The counts of each model call so far, by the record ID of its latest snapshot.
        self._counts: dict[str, _Counts] = {}
        # What delegating calls ask for, by call ID.
        self._asked: dict[str, Asked] = {}
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
        """Count records that were written as columns."""
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
        if row.uuid in self._facts.repeated and not place.derived:
            first = self._written_before(place, row.uuid, line, data)
            if first is not None:
                place.native.repeats = first
                yield self._record(_VENDOR + "repeated-row", place, row)
                return
        message = row.message if row.type in MESSAGES else None
        if message is None:
            yield self._other(place, row)
        else:
            yield from self._message(place, row, message, line, content=content)
        yield from self._subagent(place, row)

    def _mark_copy(self, place: _Place, row: Row, line: int) -> None:
        """Say whether a native field marks the row as a copy, and of what (ASR-413, 414)."""
        mark = row.copied_from
        if mark is not None:
            place.source = reference((None, mark.session_id or "", False))
            place.original = native_id(mark.message_uuid)
        elif (head := self._copied_head(row, line)) is not None:
            place.source = reference((None, head, False))
        elif row.uuid is not None and row.uuid in self._facts.shared:
            place.source = self._facts.shared[row.uuid]
            place.original = native_id(row.uuid)
            place.proof = "native_id"

    def _written_before(self, place: _Place, uuid: str, line: int, data: bytes) -> str | None:
        """The ID of the first record with the same content, or None if there is none.

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
            message = f"record ID {uuid} was written before with other content"
            found = warning("record-id-conflict", message, self._file, line, "ASR-017")
            self._report(msgspec.structs.replace(found, id=place.id))
        return None

    def _other(self, place: _Place, row: Row) -> NativeRecord:
        """The first record of a row that is not a message."""
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

    def _message(
        self, place: _Place, row: Row, message: Message, line: int, *, content: bool
    ) -> Iterator[NativeRecord]:
        """The records of a message row, as `parts_of` decides."""
        blocks: Sequence[Block] = ()
        if begins(message.content, b"["):
            blocks = blocks_of(message.content, lambda fault: self._block_fault(fault, line))
        parts = parts_of(row, message, blocks, place.id, place.message_id)
        call = next((key for _, kind, key, _, _ in parts if kind == "inference"), None)
        for record_id, kind, key, is_native, block in parts:
            record = self._record(kind, place, row, record_id)
            if block is not None:
                record.call_id = key
                asked = asked_by(block) if key and kind == "tool_call" else None
                if key and asked is not None:
                    self._asked[key] = asked
                _fill_block(record, block, call, is_native=is_native, content=content)
            elif kind == "message":
                record.message_id = key
                if is_native and place.derived:
                    record.message_id_source = "native"
                record.role = message.role or row.type
                record.inference_id = call
                if content and message.content:
                    record.content = message.content
            else:
                self._fill_inference(record, row, message)
                record.inference_id = key
                if is_native:
                    record.inference_id_source = "native"
            yield record

    def _fill_inference(self, record: NativeRecord, row: Row, message: Message) -> None:
        """A snapshot of a model call: the next revision where the call was written before."""
        record.supersedes, record.request_id, counts = self.revised(
            message.id, row.request_id, record.id, message.usage
        )
        if message.model is not None:
            record.model = {"id": message.model}
        if counts is not None:
            record.usage = Usage(*counts)
        amount = _amount(row.cost)
        if amount is not None:
            record.cost = [{"amount": amount, "currency": "USD"}]

    def revised(
        self,
        message_id: str | None,
        request_id: str | None,
        record_id: str,
        usage: Tokens | None,
    ) -> tuple[str | None, str | None, _Counts | None]:
        """Note a snapshot of a model call: what it revises, the request's ID, the call's counts.

        Where another writing of the call names the request, it is this one's too. The counts are
        those of the latest snapshot that has any.
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
        counts = None if usage is None else tokens_of(usage)
        kept = None if before is None else self._counts.pop(before, None)
        if counts is None or counts == _NO_TOKENS:
            counts = kept or counts
        if counts is not None:
            self._counts[record_id] = counts
        return before, request, counts

    def _subagent(self, place: _Place, row: Row) -> Iterator[NativeRecord]:
        """The announcement of a subagent, or a revision of it (ASR-411, 424)."""
        said = delegation(row)
        if isinstance(said, Delegation):
            container = row.session_id if row.copied_from is None else row.copied_from.session_id
            # Only the first progress row announces an agent; later ones change nothing.
            if container and (row.type == "user" or said.agent_id not in self._agents):
                child = reference(agent_slot(container, said.agent_id))
                yield self._announce(place, row, child, said)
            return
        if isinstance(said, Teammate):
            key = (row.session_id or "", said.name, said.team)
            if row.copied_from is None and key in self._facts.children:
                agent_id, child = self._facts.children[key]
                spawned = Delegation(agent_id, said.call_id, role=said.role)
                yield self._announce(place, row, child, spawned)
            return
        told = notification(row)
        known = None if told is None else self._agents.get(told.task_id)
        if told is not None and known is not None:
            record = self._record("subagent", place, row, of_part(place.id, "subagent", 0))
            record.status = told.status
            self._revise(record, known)
            self._agents[told.task_id] = record
            yield record

    def _announce(self, place: _Place, row: Row, child: str, said: Delegation) -> NativeRecord:
        record = self._record("subagent", place, row, of_part(place.id, "subagent", 0))
        record.child_session = child
        record.call_id = said.call_id
        record.status = said.status
        asked = self._asked.get(said.call_id or "")
        record.role = said.role or (None if asked is None else asked.subagent_type)
        if said.is_async is not None:
            record.is_async = said.is_async
            # Who launches in the background is told at once; the source says so of no other call.
            record.awaited = False if said.is_async else None
        if self._content:
            record.description = said.description or (None if asked is None else asked.description)
        known = self._agents.get(said.agent_id)
        # A record of this session does not revise one that was copied from another.
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

    def _block_fault(self, fault: Fault, line: int) -> None:
        path = "$.message.content" + fault.path.removeprefix("$")
        self._report(row_fault(Fault(fault.code, path, fault.message), self._file, line))

    def _record(
        self, kind: str, place: _Place, row: Row, record_id: str | None = None
    ) -> NativeRecord:
        """A record of a row: its first, or a further one under an ID derived from the first's."""
        self._seq += 1
        is_first = record_id is None or record_id == place.id
        record_id = record_id or place.id
        return NativeRecord(
            type=kind,
            seq=self._seq,
            id=record_id,
            ts=row.timestamp,
            id_source="derived" if place.derived or not is_first else None,
            id_scope="capture" if place.capture else None,
            copied_from=place.copied_from(kind, record_id),
            native=place.native if is_first else None,
        )


def parts_of(
    row: Row | Glance,
    message: Message | GlanceMessage,
    blocks: Sequence[B],
    row_id: str,
    message_id: str | None,
) -> list[Part[B]]:
    """The records that a message row gives: this alone decides it, for streams and for columns.

    `row_id` is the ID of the row's first record, `message_id` the native key of the message.
    """
    parts: list[Part[B]] = [(row_id, "message", message_id or row_id, message_id is not None, None)]
    call = _call_of(row, message, row_id)
    if call is not None:
        key, is_native = call
        parts.append((of_part(row_id, "inference", 0), "inference", key, is_native, None))
    for number, block in enumerate(blocks):
        kind = block.type
        if kind is None:
            continue
        # Tools that the provider runs have blocks of their own types: `server_tool_use`,
        # `mcp_tool_use`, `web_search_tool_result`.
        if kind.endswith("tool_use"):
            record_id = of_part(row_id, "tool_call", number)
            parts.append((record_id, "tool_call", block.id or record_id, bool(block.id), block))
        elif kind.endswith("tool_result"):
            parts.append((of_part(row_id, "tool_result", number), "tool_result", None, True, block))
    return parts


def _fill_block(
    record: NativeRecord, block: Block, call: str | None, *, is_native: bool, content: bool
) -> None:
    """A tool call, or the result of one."""
    if record.type == "tool_result":
        record.call_id = block.tool_use_id or None
        record.is_error = block.is_error
        if content and block.content:
            record.content = block.content
        return
    if not is_native:
        record.call_id_source = "derived"
    record.inference_id = call
    record.name = block.name
    if content and block.input:
        record.input = block.input


def _tells(result: Result) -> bool:
    return bool(result.agent_id or result.run_id or result.teammate)


def _delegates(content: list[GlanceBlock] | str | None) -> bool:
    return isinstance(content, list) and any(block.name in DELEGATING for block in content)


def tokens_of(usage: Tokens) -> _Counts:
    """Tokens of a model call: new input, read from a cache, written to one, output."""
    read, written = usage.cache_read_input_tokens, usage.cache_creation_input_tokens
    fresh = new_input(AGENT, FORMAT, usage.input_tokens, read, written)
    return fresh, read, written, usage.output_tokens


def _call_of(
    row: Row | Glance, message: Message | GlanceMessage, row_id: str
) -> tuple[str, bool] | None:
    """The inference ID of the model call behind a row, and whether it is native (ASR-073, 074).

    The provider's message ID where there is one; else an ID derived from the request ID, or from
    the row. None if the row shows no call.
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


@lru_cache(maxsize=256)
def kind_of_row(row_type: str | None) -> str:
    """The type of the record of a row that has no standard type."""
    return _VENDOR + (row_type or "row")


def content_digest(data: bytes) -> bytes:
    """Equal for two writings of one record: without the members that are written anew each time."""
    return hashlib.blake2b(comparable(data, _written_again()), digest_size=16).digest()


@cache
def _written_again() -> tuple[str, ...]:
    return Registry.default()[AGENT].left_out("written_again")


def _trigger(raw: Raw) -> str | None:
    return _compactions.decode_part(raw).trigger


def _amount(raw: Raw) -> str | None:
    """A JSON number as a decimal string; None for anything else, and for absurd exponents."""
    text = bytes(raw)
    if not text or text[:1] not in b"-0123456789":
        return None
    amount = Decimal(text.decode())
    return format(amount, "f") if abs(amount.adjusted()) < _DIGITS else None


# -- Records as columns ----------------------------------------------------------------------------


def survey_with_columns(log: Log, report: Report) -> tuple[Survey, Records | None]:
    """The survey of a transcript, and its records as columns if one pass is enough to know them.

    It is for a plain transcript: one session, no row with a fault, none written twice. Of others
    the columns are None. `report` gets the faults of lines.

    Only the members that lineage and usage need are looked at, so a fault in another member of a
    row does not show here.
    """
    reader = _ColumnReader(log.name, report)
    for number, lines, complete in log.batches(report):
        # What the decoder takes whole is neither blank nor has it NUL bytes.
        if not (complete and reader.read(number, lines)):
            for line, data in log.held(number, lines, report, complete=complete):
                reader.read_whole(line, data)
    return reader.end()


class _ColumnReader:
    """Surveys a transcript and writes its records as columns.

    Nine of ten rows say nothing of other sessions, so a few of their members are enough: a
    `Glance`. The others are decoded as a whole, go through `Writer`, and its records into the same
    columns.
    """

    def __init__(self, file: str, report: Report) -> None:
        self._surveyor = Surveyor(file, report)
        self._columns = Columns()
        self._writer = Writer(
            file, self._columns.findings.append, Facts(), lambda _row, _line: None, content=False
        )
        self._is_plain = True

    def read(self, number: int, lines: Sequence[bytes]) -> bool:
        """Read consecutive lines, the first of which is `number`.

        False if not all of them are rows without a fault; then none was read.
        """
        if not self._is_plain:
            return False
        try:
            glances = glances_at(lines)
        except (msgspec.DecodeError, RecursionError):
            return False
        at = 0
        while at < len(lines):
            going_on = self._surveyor.going_on
            if going_on is not None:
                at = self._glance(number, glances, at, going_on)
            if at < len(lines):
                self.read_whole(number + at, lines[at].rstrip(b"\r\n"))
                at += 1
        return True

    def read_whole(self, line: int, data: bytes) -> None:
        """Read a row as a whole."""
        row = self._surveyor.line(line, data)
        if row is None or not self._surveyor.is_plain:
            self._is_plain = False
        if row is not None and self._is_plain:
            self._columns.add(self._writer.row(line, b"", row), line)

    def _glance(
        self,
        number: int,
        glances: Sequence[Glance],
        start: int,
        going_on: tuple[Facts, str | None, str | None],
    ) -> int:
        """Go on as long as rows need a glance only; the place of the first that needs more."""
        facts, session_id, agent_id = going_on
        process = facts.processes[-1] if facts.processes else None
        columns = self._columns
        add_id, add_type = columns.ids.append, columns.types.append
        add_value, add_line = columns.values.append, columns.lines.append
        before = len(columns.ids)
        ids: list[str] = []
        messages = False
        at = start
        for at, row in enumerate(glances[start:] if start else glances, start):
            uuid, kind = row.uuid, row.type
            if (
                not uuid
                or row.session_id != session_id
                or row.agent_id != agent_id
                or row.forked_from
            ):
                break
            if kind in MESSAGES:
                message, result = row.message, row.tool_use_result
                if (
                    message is None
                    or row.origin
                    or row.cost
                    or _delegates(message.content)
                    or (isinstance(result, Result) and _tells(result))
                ):
                    break
                messages = True
                self._message(uuid, row, message, number + at)
            elif (
                kind == "system"
                or (row.data is not None and row.data.type == AGENT_PROGRESS)
                or (row.attachment is not None and row.attachment.command_mode is not None)
            ):
                break
            else:
                add_id(uuid)
                add_type(kind_of_row(kind))
                add_value(None)
                add_line(number + at)
            ids.append(uuid)
            if row.process is not None and row.process != process and row.process:
                process = row.process
                facts.note_process(process)
        else:
            at += 1
        if ids:
            self._writer.pass_over(len(columns.ids) - before)
            facts.note_many(ids, messages=messages)
            together = "\n".join(ids)
            if "=" in together or "/" in together or len(min(ids, key=len)) == 1:
                # Such records get derived IDs.
                self._is_plain = self._is_plain and None not in map(native_id, ids)
        return at

    def _message(self, uuid: str, row: Glance, message: GlanceMessage, line: int) -> None:
        """Add the records of a message that says nothing of other sessions."""
        columns, content = self._columns, message.content
        blocks: Sequence[GlanceBlock] = content if isinstance(content, list) else ()
        for record_id, kind, key, is_native, _ in parts_of(row, message, blocks, uuid, uuid):
            columns.ids.append(record_id)
            columns.types.append(kind)
            columns.values.append(key)
            columns.lines.append(line)
            if kind == "inference":
                supersedes, request, counts = self._writer.revised(
                    message.id, row.request_id, record_id, message.usage
                )
                if supersedes is not None:
                    columns.supersedes[len(columns.ids)] = supersedes
                columns.flush()  # calls are kept in the order of their rows
                columns.gathered.add_call(
                    len(columns.ids),
                    counts or _NO_TOKENS,
                    message.model,
                    row.timestamp,
                    request,
                    derived=not is_native,
                )

    def end(self) -> tuple[Survey, Records | None]:
        """The survey and the columns, once all lines were read."""
        survey = self._surveyor.end()
        if not self._is_plain or len(survey.slots) != 1:
            return survey, None
        (facts,) = survey.slots.values()
        return survey, None if facts.repeated else self._columns.closed()
