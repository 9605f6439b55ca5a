"""Claude Code transcripts as streams.

A transcript is read twice: once for what only the whole file shows (which sessions it holds, which
of them begins with a copied head, which rows the source wrote again), once for its records. Each
pass decodes only the members it needs.

Identity, as the registry entry states it. A row with an `agentId` belongs to that subagent, any
other to its `sessionId`; the file's name says nothing (ASR-051 to 053). Short agent IDs repeat
under different parents, so their namespace is the `sessionId` their rows carry (ASR-054). Rows
with neither ID belong to the session of the row before. Inline sidechains of old versions have no
ID of their own and stay in their parent's session. Messages that a `progress` row embeds are
another session's: they make no records here.
"""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import IO, TYPE_CHECKING

import msgspec
from msgspec import Raw

from sessionref.findings import Finding
from sessionref.native.base import (
    Native,
    NativeRecord,
    NativeStream,
    Report,
    Usage,
    header_record,
    native_id,
    row_fault,
)
from sessionref.native.rows import Fault, NoRow, Rows, begins, is_utf8

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["AGENT", "FORMAT", "ROW_TYPES", "namespace_of", "read"]

#: The registered short name, and the name of the format.
AGENT = "claude-code"
FORMAT = "claude-code-jsonl"

#: The `type` of rows that only Claude Code writes beside a `sessionId`.
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

_VENDOR = "com.anthropic.claude-code."
_SHORT_AGENT_ID = re.compile(r"[0-9A-Fa-f]{6,8}|acompact-.*", re.DOTALL).fullmatch
_SIDE_AGENT = "acompact-"
_SYNTHETIC = "<synthetic>"

_IDENTITY = frozenset({"$.sessionId", "$.agentId"})
_DIGITS = 30

#: How many bytes of other sessions' rows are kept in memory before they go to a file.
_SPOOL = 16 << 20

_Slot = tuple[str | None, str, bool]  # namespace, session ID, whether it is a subagent
_Lines = Callable[[Report], Iterable[tuple[int, bytes]]]


def namespace_of(agent_id: str, session_id: str | None) -> str | None:
    """The namespace of a subagent's session: the carried `sessionId` for short IDs, else none.

    IDs of 6 to 8 hexadecimal digits, and those of compaction side agents, are known to repeat
    under different parents (ASR-054).
    """
    return session_id if _SHORT_AGENT_ID(agent_id) else None


class _Glance(msgspec.Struct, rename="camel", gc=False):
    """What the first pass needs of a row."""

    type: str | None = None
    uuid: str | None = None
    parent_uuid: str | None = None
    session_id: str | None = None
    agent_id: str | None = None
    timestamp: str | None = None
    version: str | None = None
    cwd: str | None = None
    git_branch: str | None = None


class _Usage(msgspec.Struct, gc=False):
    input_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    output_tokens: int | None = None


class _Message(msgspec.Struct, gc=False):
    id: str | None = None
    role: str | None = None
    model: str | None = None
    usage: _Usage | None = None
    content: Raw = Raw()


class _Row(msgspec.Struct, rename="camel", gc=False):
    """What the second pass needs of a row."""

    type: str | None = None
    subtype: str | None = None
    uuid: str | None = None
    session_id: str | None = None
    agent_id: str | None = None
    timestamp: str | None = None
    request_id: str | None = None
    message: _Message | None = None
    compact_metadata: Raw = Raw()
    cost: Raw = msgspec.field(default=Raw(), name="costUSD")


class _Block(msgspec.Struct, gc=False):
    """What is needed of one block of a message's content."""

    type: str | None = None
    id: str | None = None
    tool_use_id: str | None = None
    name: str | None = None
    is_error: bool | None = None
    input: Raw = Raw()
    content: Raw = Raw()


class _Compaction(msgspec.Struct, gc=False):
    trigger: str | None = None


_glances = Rows(_Glance)
_rows = Rows(_Row)
_blocks = Rows(_Block)
_compactions = Rows(_Compaction)
_content_blocks = msgspec.json.Decoder(list[_Block]).decode


def read(
    lines: _Lines,
    file: str,
    report: Report,
    *,
    content: bool = True,
) -> Iterator[NativeStream]:
    """The sessions of one transcript, in the order in which they first appear.

    `lines` gives the transcript's lines with their numbers, from the start each time it is called;
    `file` is what findings call it. Without `content` the records carry identity, model calls and
    usage only. Every fault is reported and nothing is raised; a transcript that names no session
    gives no stream and one finding (code `no-session`).
    """
    survey = _survey(lines, file, report)
    order = list(survey.slots)
    # Rows of all sessions but the first wait in a spool, so that the file is read twice however
    # many sessions it holds.
    with tempfile.SpooledTemporaryFile(max_size=_SPOOL) as spool:
        waiting: dict[_Slot, list[tuple[int, int, int]]] = {slot: [] for slot in order[1:]}
        for place, slot in enumerate(order):
            if place == 0:
                rows = _rows_of_first(survey, lines, waiting, spool)
            else:
                rows = _rows_that_waited(waiting[slot], spool)
            writer = _Writer(file, report, survey.slots[slot].repeated, content=content)
            yield NativeStream(_header(slot, survey.slots[slot], content=content), writer.all(rows))
            for _ in rows:  # the caller may have left rows unread
                pass


class _Facts:
    """What the first pass learns of one session in the file."""

    __slots__ = ("branch", "cwd", "repeated", "seen", "started", "version")

    def __init__(self) -> None:
        self.version: str | None = None
        self.started: str | None = None
        self.cwd: str | None = None
        self.branch: str | None = None
        self.seen: set[str] = set()
        self.repeated: set[str] = set()

    def note(self, row: _Glance) -> None:
        self.version = self.version or row.version
        self.started = self.started or row.timestamp
        self.cwd = self.cwd or row.cwd
        self.branch = self.branch or row.git_branch
        if row.uuid:
            (self.repeated if row.uuid in self.seen else self.seen).add(row.uuid)

    def absorb(self, other: _Facts) -> None:
        """Take over the record IDs of rows that turn out to be this session's."""
        self.repeated |= other.repeated | (self.seen & other.seen)
        self.seen |= other.seen


class _Survey:
    """What the first pass learns of the file.

    `slots` are its sessions in order. `head` is the session whose rows before line `head_end` are
    the copied head of session `heir`. `containers` holds for each short agent ID the session IDs
    that its rows carry, for the rows that carry none.
    """

    __slots__ = ("containers", "head", "head_end", "heir", "slots")

    def __init__(self) -> None:
        self.slots: dict[_Slot, _Facts] = {}
        self.containers: dict[str, set[str]] = {}
        self.head: _Slot | None = None
        self.heir: _Slot | None = None
        self.head_end = 0

    def slot_of(self, row: _Glance | _Row, line: int, before: _Slot | None) -> _Slot | None:
        """The session that a row belongs to, where `before` is that of the row before it."""
        agent = row.agent_id
        if agent and _SHORT_AGENT_ID(agent):
            if row.session_id:
                return (row.session_id, agent, True)
            known = self.containers.get(agent, ())
            return (next(iter(known)), agent, True) if len(known) == 1 else None
        if agent:
            return (None, agent, True)
        if not row.session_id:
            return before
        slot = (None, row.session_id, False)
        return self.heir if slot == self.head and line < self.head_end else slot


def _survey(lines: _Lines, file: str, report: Report) -> _Survey:
    """The first pass. It reports faults of lines; those inside rows are left to the second."""
    survey = _Survey()
    leading = _Facts()
    mains: list[tuple[_Slot, int]] = []  # the first two sessions that are no subagents
    open_question = True  # whether the first of them is the copied head of the second
    adrift: dict[str, int] = {}  # short agent IDs of rows that carry no session ID
    refused: set[str] = set()
    before: _Slot | None = None
    for line, data in lines(report):
        faults: list[Fault] = []
        try:
            row = _glances.decode(data, faults.append)
        except NoRow as error:
            report(_no_row(error, file, line))
            continue
        unusable = _identity_fault(faults)
        if unusable is not None:
            if unusable.message not in refused:
                refused.add(unusable.message)
                report(row_fault(unusable, file, line))
            continue
        if row.agent_id and _SHORT_AGENT_ID(row.agent_id):
            if not row.session_id:
                adrift.setdefault(row.agent_id, line)
                continue
            survey.containers.setdefault(row.agent_id, set()).add(row.session_id)
        slot = survey.slot_of(row, line, before)
        if slot is None:
            leading.note(row)
            continue
        before = slot
        facts = survey.slots.setdefault(slot, _Facts())
        if open_question and not slot[2]:
            if len(mains) < 2 and all(slot != main for main, _ in mains):  # noqa: PLR2004
                mains.append((slot, line))
            if len(mains) == 2 and slot == mains[1][0] and row.uuid:  # noqa: PLR2004
                open_question = False
                if row.parent_uuid in survey.slots[mains[0][0]].seen:
                    survey.head, survey.heir = mains[0][0], slot
                    survey.head_end = mains[1][1]
                    facts.absorb(survey.slots.pop(survey.head))
        facts.note(row)
    _close(survey, leading, adrift, file, report, silent=bool(refused))
    return survey


def _close(
    survey: _Survey,
    leading: _Facts,
    adrift: dict[str, int],
    file: str,
    report: Report,
    *,
    silent: bool,
) -> None:
    """What can be said once the whole file was seen."""
    for agent_id, line in adrift.items():
        if len(survey.containers.get(agent_id, ())) != 1:
            silent = True
            report(
                Finding(
                    code="no-namespace",
                    severity="warning",
                    message=f"no row says in which session the short agent ID {agent_id} stands",
                    rule="ASR-054",
                    file=file,
                    line=line,
                )
            )
    if not survey.slots and not silent:
        report(
            Finding(
                code="no-session",
                severity="warning",
                message="no row names a session, so the transcript is no session",
                rule="ASR-051",
                file=file,
            )
        )
    for facts in survey.slots.values():
        facts.absorb(leading)
        leading = _Facts()  # rows before any session go to the first one only
        facts.seen = set()


_Read = tuple[int, bytes, _Row, list[Fault]]


def _rows_of_first(
    survey: _Survey,
    lines: _Lines,
    waiting: dict[_Slot, list[tuple[int, int, int]]],
    spool: IO[bytes],
) -> Iterator[_Read]:
    """The second pass: yields the rows of the first session, spools those of the others."""
    first = next(iter(survey.slots))
    before: _Slot | None = first
    end = 0
    for line, data in lines(_ignore):
        faults: list[Fault] = []
        try:
            row = _rows.decode(data, faults.append)
        except NoRow:
            continue
        if _identity_fault(faults) is not None:
            continue
        slot = survey.slot_of(row, line, before)
        if slot is None:  # a short agent ID that stands nowhere
            continue
        before = slot
        if slot == first:
            yield line, data, row, faults
        else:
            spool.write(data)
            waiting[slot].append((line, end, len(data)))
            end += len(data)


def _rows_that_waited(places: list[tuple[int, int, int]], spool: IO[bytes]) -> Iterator[_Read]:
    for line, start, length in places:
        spool.seek(start)
        data = spool.read(length)
        faults: list[Fault] = []
        yield line, data, _rows.decode(data, faults.append), faults


def _header(slot: _Slot, facts: _Facts, *, content: bool) -> NativeRecord:
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
        scope=None if session_id.startswith(_SIDE_AGENT) else scope,
        cwd=facts.cwd,
        branch=facts.branch,
        content=content,
    )


class _Place:
    """Where a row stands among the record IDs of its stream.

    `id` is the ID of the row's first record; `derived` says that it is no native one, `capture`
    that it holds for this capture only. `message_id` is the native key of a message, or None.
    """

    __slots__ = ("capture", "derived", "id", "message_id", "native")

    def __init__(self, row: _Row, line: int) -> None:
        native = native_id(row.uuid)
        self.derived = self.capture = native is None
        # Lines may be rewritten by the source, so a position holds for one capture (ASR-070).
        self.id = f"line/{line}" if native is None else native
        self.message_id = row.uuid or None
        self.native = Native()


class _Written:
    """What was written under one record ID: how often, and each content's first record."""

    __slots__ = ("by_content", "count")

    def __init__(self) -> None:
        self.count = 0
        self.by_content: dict[bytes, str] = {}


class _Writer:
    """Makes the records of one session."""

    __slots__ = (
        "_by_request",
        "_calls",
        "_content",
        "_file",
        "_repeated",
        "_report",
        "_seq",
        "_written",
    )

    def __init__(self, file: str, report: Report, repeated: set[str], *, content: bool) -> None:
        self._file = file
        self._report = report
        self._repeated = repeated
        self._content = content
        self._seq = 0
        self._written: dict[str, _Written] = {}
        # The latest snapshot of each model call, by message ID and request ID.
        self._calls: dict[str, dict[str | None, str]] = {}
        self._by_request: dict[str, str] = {}

    def all(self, rows: Iterator[_Read]) -> Iterator[NativeRecord]:
        for line, data, row, faults in rows:
            for fault in faults:
                self._report(row_fault(fault, self._file, line))
            yield from self._row(line, data, row)

    def _row(self, line: int, data: bytes, row: _Row) -> Iterator[NativeRecord]:
        place = _Place(row, line)
        content = self._content
        if content and not is_utf8(data):
            content = False
            fault = Fault("invalid-utf8", "$", "the row is not UTF-8: its content is left out")
            self._report(row_fault(fault, self._file, line))
        if content:
            place.native.row = Raw(data)
        if row.uuid in self._repeated and not place.derived:
            first = self._written_before(place, row.uuid, line, data)
            if first is not None:
                place.native.repeats = first
                yield self._record(_VENDOR + "repeated-row", place, row)
                return
        message = row.message
        if message is None or row.type not in {"user", "assistant"}:
            yield self._other(place, row)
            return
        call = _call_of(row, message, place.id)
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

    def _written_before(self, place: _Place, uuid: str, line: int, data: bytes) -> str | None:
        """The record that wrote this row first, or None where the row is another one.

        The same record ID with other content is a record-ID conflict (ASR-017): the row gets a
        derived ID and key of its own, and keeps the native one under `native`.
        """
        written = self._written.setdefault(uuid, _Written())
        digest = _content_digest(data)
        first = written.by_content.get(digest)
        if written.count:
            place.id = f"{uuid}/row/{written.count}"
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

    def _other(self, place: _Place, row: _Row) -> NativeRecord:
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
        return self._record(_VENDOR + (row.type or "row"), place, row)

    def _inference(
        self, place: _Place, row: _Row, message: _Message, call: tuple[str, bool]
    ) -> NativeRecord:
        """A snapshot of a model call: the next revision where the call was written before."""
        key, native = call
        record = self._part("inference", place, row, 0)
        record.inference_id = key
        if native:
            record.inference_id_source = "native"
        request = row.request_id or None
        if message.id:
            calls = self._calls.setdefault(message.id, {})
            if request not in calls and len(calls) == 1:
                # A row without its request joins the call of the same message, and the other way
                # about; two requests are two calls.
                (known,) = calls
                if known is None:
                    calls[request] = calls.pop(known)
                elif request is None:
                    request = known
            record.supersedes = calls.get(request)
            calls[request] = record.id
        elif request is not None:
            record.supersedes = self._by_request.get(request)
            self._by_request[request] = record.id
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
        if row.request_id:
            record.native = Native(request_id=row.request_id)
        return record

    def _blocks(
        self,
        place: _Place,
        row: _Row,
        raw: Raw,
        inference_id: str | None,
        line: int,
        *,
        content: bool,
    ) -> Iterator[NativeRecord]:
        """Tool calls and results, from the blocks of a message's content."""
        try:
            blocks = _content_blocks(raw)
        except msgspec.DecodeError:
            blocks = _blocks.decode_items(raw, lambda fault: self._block_fault(fault, line))
        for number, block in enumerate(blocks):
            kind = block.type or ""
            if kind.endswith("tool_use"):
                record = self._part("tool_call", place, row, number)
                record.call_id = block.id or record.id
                if not block.id:
                    record.call_id_source = "derived"
                record.inference_id = inference_id
                record.name = block.name
                if content and block.input:
                    record.input = block.input
                yield record
            elif kind.endswith("tool_result"):
                record = self._part("tool_result", place, row, number)
                record.call_id = block.tool_use_id or None
                record.is_error = block.is_error
                if content and block.content:
                    record.content = block.content
                yield record

    def _block_fault(self, fault: Fault, line: int) -> None:
        path = "$.message.content" + fault.path.removeprefix("$")
        self._report(row_fault(Fault(fault.code, path, fault.message), self._file, line))

    def _record(self, kind: str, place: _Place, row: _Row) -> NativeRecord:
        """The first record of a row."""
        self._seq += 1
        return NativeRecord(
            type=kind,
            seq=self._seq,
            id=place.id,
            ts=row.timestamp,
            id_source="derived" if place.derived else None,
            id_scope="capture" if place.capture else None,
            native=place.native,
        )

    def _part(self, kind: str, place: _Place, row: _Row, number: int) -> NativeRecord:
        """A further record of a row, under an ID derived from the row's and its place in it."""
        self._seq += 1
        return NativeRecord(
            type=kind,
            seq=self._seq,
            id=f"{place.id}/{kind}/{number}",
            ts=row.timestamp,
            id_source="derived",
            id_scope="capture" if place.capture else None,
        )


def _call_of(row: _Row, message: _Message, row_id: str) -> tuple[str, bool] | None:
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
        return f"{row_id}/inference/0", False
    return None


def _content_digest(data: bytes) -> bytes:
    """What two writings of one record have in common: all but `forkedFrom`, in any order."""
    row = json.loads(data)
    row.pop("forkedFrom", None)
    text = json.dumps(row, sort_keys=True, separators=(",", ":"))
    return hashlib.blake2b(text.encode(), digest_size=16).digest()


def _trigger(raw: Raw) -> str | None:
    if not begins(raw, b"{"):
        return None
    return _compactions.decode(raw, lambda _: None).trigger


def _amount(raw: Raw) -> str | None:
    """A JSON number as a decimal string; None for what is no number that money can be."""
    text = bytes(raw)
    if not text or text[:1] not in b"-0123456789":
        return None
    amount = Decimal(text.decode())
    return format(amount, "f") if abs(amount.adjusted()) < _DIGITS else None


def _identity_fault(faults: list[Fault]) -> Fault | None:
    """The fault that leaves open to which session a row belongs."""
    return next((fault for fault in faults if fault.path in _IDENTITY), None)


def _no_row(error: NoRow, file: str, line: int) -> Finding:
    return Finding(code=error.code, severity="warning", message=error.message, file=file, line=line)


def _ignore(_finding: Finding) -> None:
    """Faults of lines were reported by the first pass."""
