"""The records that readers of native logs write, and the parts that all readers share."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, Protocol

import msgspec
from msgspec import UNSET, Raw, UnsetType  # noqa: TC002 - the structs below need them

from sessionref.findings import Finding
from sessionref.reference import SessionRef
from sessionref.registry import Registry
from sessionref.scope.capture import Segment
from sessionref.streams.ids import HEADER_ID, at_line
from sessionref.streams.record import Record
from sessionref.usage import Count, Usage

if TYPE_CHECKING:
    from array import array
    from collections.abc import Iterator

    from sessionref.lineage.facets import Evidence
    from sessionref.native.rows import Fault

__all__ = [
    "FIELD",
    "INFERENCE",
    "STRUCTURE",
    "Count",
    "LineIds",
    "Native",
    "NativeRecord",
    "NativeStream",
    "Report",
    "Segment",
    "Usage",
    "header_record",
    "native_id",
    "new_input",
    "row_fault",
    "warning",
]


#: A function that gets each finding as it is made.
Report = Callable[[Finding], None]

_FORMAT_VERSION = "0.1"


#: About how many bytes of JSON lines are given together.
_BLOCK = 1 << 17

#: The evidence of a claim (ASR-404): a native field; where or how the source stores something; a
#: published rule of this package.
FIELD: Evidence = "native_field"
STRUCTURE: Evidence = "native_structure"
INFERENCE: Evidence = "converter_inference"


class Native(msgspec.Struct, omit_defaults=True, rename="camel", gc=False):
    """The member `native`: the native row, and native values that a derived one replaces.

    `row` is the native row, byte for byte, on the first record of the row. `id` is the native
    record ID of a record whose ID had to be derived. `repeats` is the ID of the first of several
    equal rows that the source wrote.
    """

    id: str | None = None
    repeats: str | None = None
    row: Raw | UnsetType = UNSET


class NativeRecord(Record, omit_defaults=True, rename="camel", gc=False):
    """A record as a reader of native logs writes it: all of `Record`, and the content.

    `id_source` is `derived` where the record ID or the entity key is derived (ASR-067); where only
    the record ID is and the key is the source's own, `message_id_source` and
    `inference_id_source` say `native`, as `call_id_source` says `derived` for the other case.
    On a model call `request_id` is the provider's ID of the request, no entity key.
    """

    message_id_source: str | None = None
    inference_id_source: str | None = None

    # Header
    format_version: str | None = None
    started_at: str | None = None
    profiles: list[str] | None = None
    content_level: str | None = None
    segment: Segment | None = None

    # Delegations
    is_async: bool | None = msgspec.field(default=None, name="async")
    awaited: bool | None = None
    description: str | None = None

    # Content, verbatim
    role: str | None = None
    name: str | None = None
    input: Raw | UnsetType = UNSET
    content: Raw | UnsetType = UNSET
    is_error: bool | None = None
    trigger: str | None = None

    native: Native | None = None


class _AtLine(Protocol):
    """What makes records, and the line that it is at."""

    @property
    def line(self) -> int: ...


class NativeStream:
    """One session of a native log as a stream: its header, and its records in order.

    `records` can be read once. If a file holds several sessions, each stream must be read before
    the next is asked for.
    """

    __slots__ = ("_place", "header", "records")

    def __init__(
        self, header: NativeRecord, records: Iterator[NativeRecord], place: _AtLine
    ) -> None:
        self.header = header
        self.records = records
        self._place = place

    @property
    def session(self) -> SessionRef:
        """The session that the stream is of."""
        header = self.header
        return SessionRef(header.agent["name"], header.namespace, header.session_id or "")

    @property
    def line(self) -> int:
        """The line of the log (from 1) of the record last given; 0 before the first."""
        return self._place.line

    def __iter__(self) -> Iterator[NativeRecord]:
        """The header, then the records."""
        yield self.header
        yield from self.records

    def jsonl(self, lines: array[int] | None = None, *, size: int = _BLOCK) -> Iterator[bytes]:
        """The stream as JSON lines, in blocks of whole lines that have about `size` bytes.

        `lines` gets for each record the line of the log that it comes from. The header comes from
        no line, and gets the first.
        """
        encode = msgspec.json.Encoder().encode_into
        block = bytearray()
        for record in self:
            if lines is not None:
                lines.append(self.line or 1)
            encode(record, block, len(block))
            block += b"\n"
            if len(block) >= size:
                yield bytes(block)
                block.clear()
        if block:
            yield bytes(block)


class LineIds:
    """Record IDs of rows that are known by their line alone (ASR-068).

    If a line holds several rows (between NUL bytes), the later ones are told apart by number.
    """

    __slots__ = ("_again", "_line")

    def __init__(self) -> None:
        self._line = 0
        self._again = 0

    def next(self, line: int) -> str:
        """The record ID of the next row, which is in `line`; lines do not decrease."""
        self._again = self._again + 1 if line == self._line else 0
        self._line = line
        return at_line(line, self._again)


def header_record(
    *,
    agent: str,
    session_id: str,
    source_format: str,
    content: bool,
    agent_version: str | None = None,
    namespace: str | None = None,
    started_at: str | None = None,
    scope: str | None = None,
    cwd: str | None = None,
    branch: str | None = None,
    lineage: dict[str, Any] | None = None,
    segment: Segment | None = None,
) -> NativeRecord:
    """The header of a stream (ASR-050, 051).

    `lossy` names what the reader leaves out. `scope` is set only if the source says it (ASR-410).
    A facet that is absent from `lineage` is unknown (ASR-401).
    """
    described: dict[str, Any] = {"name": agent}
    if agent_version is not None:
        described["version"] = agent_version
    workspace = None
    if cwd is not None:
        root: dict[str, Any] = {"id": "cwd", "path": cwd}
        if branch:
            root["vcs"] = {"type": "git", "branch": branch}
        workspace = {"roots": [root]}
    return NativeRecord(
        type="session",
        seq=0,
        id=HEADER_ID,
        format_version=_FORMAT_VERSION,
        agent=described,
        namespace=namespace,
        session_id=session_id,
        producer={
            "name": "sessionref",
            "version": _package_version(),
            "method": "converter",
            "source": {"format": source_format},
            "lossy": [] if content else ["content"],
        },
        started_at=started_at,
        scope=scope,
        lineage=lineage or None,
        workspace=workspace,
        profiles=["core", "lineage", "usage"],
        content_level="full" if content else "metadata",
        segment=segment,
    )


def new_input(
    agent: str, source_format: str, counted: int | None, read: int | None, written: int | None
) -> int | None:
    """The input tokens of a call that were neither read from a cache nor written to one.

    The registry entry says whether the source counts cached tokens among the input tokens. If it
    does, and the counts contradict each other, or if it does not say: None.
    """
    cached = (read or 0) + (written or 0)
    includes = _input_includes_cached(agent, source_format)
    if counted is None or not cached or includes is False:
        return counted
    return counted - cached if includes and counted >= cached else None


@cache
def _input_includes_cached(agent: str, source_format: str) -> bool | None:
    entry = Registry.default().agent(agent)
    return None if entry is None else entry.input_includes_cached(source_format)


def native_id(value: str | None) -> str | None:
    """`value` if it can be a record ID as it is, else None.

    A record ID holds no `=` (it would be an entity ref) and is not empty. One that holds a `/`
    could equal a derived ID, all of which hold one, and the header's ID is taken: such values stay
    native entity keys, and their records get derived IDs.
    """
    if not value or value == HEADER_ID or "=" in value or "/" in value:
        return None
    return value


def warning(
    code: str, message: str, file: str, line: int | None = None, rule: str | None = None
) -> Finding:
    """The finding for something wrong with a log, or with a row of it."""
    return Finding(code=code, severity="warning", message=message, rule=rule, file=file, line=line)


def row_fault(fault: Fault, file: str, line: int) -> Finding:
    """The finding for a member of a row that could not be used."""
    rule = "ASR-060" if fault.code == "lone-surrogate" else None
    found = warning(fault.code, fault.message, file, line, rule)
    return msgspec.structs.replace(found, path=fault.path)


@cache
def _package_version() -> str:
    try:
        return version("sessionref")
    except PackageNotFoundError:  # pragma: no cover - a source tree that was never installed
        return "0"
