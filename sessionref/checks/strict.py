"""The strict pass: what the fast decoder does not look at, found in the bytes of a stream.

The fast decoder builds only the members that resolving needs and passes over the rest. This pass
looks at all of it: members that stand twice in any object, text that is not valid UTF-8 or holds a
lone surrogate, and members with a value of the wrong type. It reads each line as a whole, but
nothing else, in time linear in its length.

Most lines need no walk: a line that is decoded and written again gives the same bytes, and then it
held nothing twice and nothing that is no text.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import msgspec

from sessionref._codes import codes
from sessionref.checks.shapes import fits, misfits, reads
from sessionref.findings import Fault, Finding
from sessionref.streams.header import HEADER_TYPE, identify
from sessionref.streams.json import (
    BOM,
    BadJson,
    escaped,
    is_deeper,
    json_path,
    load_object,
    text_of,
    tokens,
)
from sessionref.streams.lines import MAX_LINE, Oversize, cut_lines
from sessionref.streams.source import plain_chunks

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sessionref.findings import Severity
    from sessionref.streams.lines import Lines

__all__ = ["faults_of_line", "strict_findings"]

#: Steps of a JSON path that are shown; behind them stands `..` and the last step, which in a JSON
#: path means "anywhere below". A path of all steps would make the pass quadratic.
_STEPS = 20

#: Escapes in the order in which they stand, so that a pair is no lone surrogate, and neither is
#: what follows an escaped backslash.
_escapes = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|(?P<lone>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
).finditer
_surrogate_escape = re.compile(rb"\\u[dD][89a-fA-F]").search
_between_nuls = re.compile(rb"[^\0]+").findall

_decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder()
_encoder = msgspec.json.Encoder()


class _Walked(NamedTuple):
    faults: list[Fault]
    seq: int | None
    id: str | None


_NOTHING = _Walked([], None, None)


def strict_findings(
    chunks: Iterable[bytes], file: str | None = None, *, max_line: int = MAX_LINE
) -> Iterator[Finding]:
    """The findings of the strict pass over `chunks`, which are streams, compressed or not.

    Their codes are ``duplicate-member``, ``bad-utf8``, ``lone-surrogate`` and ``bad-member``;
    errors where the member is one that this package reads, else warnings. None has a rule. What is
    no JSON object gives nothing here: reading the stream reports it.
    """
    return _Pass(file).run(cut_lines(plain_chunks(chunks, []), max_line=max_line))


def faults_of_line(content: bytes) -> list[Fault]:
    """What the strict pass finds in one line; nothing where the line is no JSON object."""
    return _examined(content).faults


class _Pass:
    """The pass over one input; it knows the header that the lines stand under."""

    def __init__(self, file: str | None) -> None:
        self._file = file
        self._header: bytes | None = None
        self._session: str | None = None

    def run(self, pieces: Iterator[Lines | Oversize]) -> Iterator[Finding]:
        for piece in pieces:
            if isinstance(piece, Oversize):
                continue
            records = _clean_records(piece)
            if records is None:
                for number, line in enumerate(piece.lines, piece.number):
                    yield from self._line(line, number)
            else:
                for line, record in zip(piece.lines, records, strict=True):
                    if record["type"] == HEADER_TYPE:
                        self._header = line

    def _line(self, line: bytes, number: int) -> Iterator[Finding]:
        content = line.rstrip(b"\r\n")
        if number == 1:
            content = content.removeprefix(BOM)
        for part in _between_nuls(content):
            if b'"session"' in part and _is_header(part):
                self._header = part
            walked = _examined(part)
            for fault in walked.faults:
                yield self._finding(fault, walked, number)

    def _finding(self, fault: Fault, walked: _Walked, line: int) -> Finding:
        if self._header is not None:
            self._session = identify(self._header, None, 0).session
            self._header = None
        severity: Severity = "error" if reads(fault.path) else "warning"
        meaning = codes()[fault.code].meaning
        return Finding(
            code=fault.code,
            severity=severity,
            message=f"{meaning}: {fault.detail}" if fault.detail else meaning,
            session=self._session,
            seq=walked.seq,
            id=walked.id,
            path=fault.path,
            file=self._file,
            line=line,
        )


def _clean_records(lines: Lines) -> list[Any] | None:
    """The records of `lines` if nothing is wrong with them, else None: then look closer."""
    content = b"".join(lines.lines)
    if any(map(is_deeper, lines.lines)):
        return None
    try:
        records = _decoder.decode_lines(content)
    except (msgspec.DecodeError, RecursionError):
        return None
    if len(records) != len(lines.lines) or not fits(records):
        return None
    written = _encoder.encode_lines(records)
    return records if content in (written, written[:-1]) else None


def _is_header(content: bytes) -> bool:
    try:
        return msgspec.json.decode(content, type=_Typed).type == HEADER_TYPE
    except (msgspec.DecodeError, RecursionError):
        return False


class _Typed(msgspec.Struct):
    type: str


def _examined(content: bytes) -> _Walked:
    """What is wrong with one line; nothing if reading the stream says that it is not a record."""
    if is_deeper(content):
        return _NOTHING
    record: Any = None
    faults: list[Fault] = []
    # Not UTF-8, a lone surrogate, a number out of bounds, or not JSON: then `record` is None.
    with suppress(msgspec.DecodeError, RecursionError):
        record = _decoder.decode(content)
    if record is None or not _is_same(record, content):
        try:
            record = load_object(content)
        except BadJson:
            return _NOTHING
        faults = _faults(content)
    if not isinstance(record, dict):
        return _NOTHING
    members = cast("dict[str, Any]", record)
    return _Walked(
        [*faults, *misfits(members)], _number(members.get("seq")), _text(members.get("id"))
    )


def _is_same(record: Any, content: bytes) -> bool:
    """Whether `record` is written as `content` is, white space between tokens aside."""
    return _encoder.encode(record) in (content, msgspec.json.format(content, indent=-1))


def _faults(content: bytes) -> list[Fault]:
    """What is wrong with the text of a JSON object, found token by token."""
    faults: list[Fault] = []
    steps: list[str | int] = []
    names: list[dict[str, int] | None] = []  # None stands for an array
    naming = False
    for token in tokens(content):
        mark = token["mark"]
        text = token["text"]
        if mark == b"{":
            names.append({})
            steps.append("")
            naming = True
        elif mark == b"[":
            names.append(None)
            steps.append(0)
            naming = False
        elif mark in {b"}", b"]"}:
            names.pop()
            steps.pop()
            naming = False
        elif mark == b",":
            step = steps[-1]
            if isinstance(step, int):
                steps[-1] = step + 1
            naming = names[-1] is not None
        elif mark == b":":
            naming = False
        elif text is not None:
            code = _fault_of_text(text)
            met = names[-1] if naming else None
            times = 0
            if met is not None:
                name = steps[-1] = escaped(text_of(text) or "", bytes_too=True)
                times = met[name] = met.get(name, 0) + 1
            if code:
                faults.append(Fault(code, _path(steps)))
            if times == 2:  # noqa: PLR2004 - the second of any number
                faults.append(Fault("duplicate-member", _path(steps)))
    return faults


def _fault_of_text(text: bytes) -> str | None:
    """What is wrong with a JSON string, with its quotes."""
    try:
        text.decode()
    except UnicodeDecodeError:
        return "bad-utf8"
    if _surrogate_escape(text) and any(escape["lone"] for escape in _escapes(text)):
        return "lone-surrogate"
    return None


def _number(value: object) -> int | None:
    """A `seq`, where it is one that a finding can hold."""
    return value if type(value) is int and -(1 << 63) <= value < 1 << 63 else None


def _text(value: object) -> str | None:
    return escaped(value, bytes_too=True) if isinstance(value, str) else None


def _path(steps: list[str | int]) -> str:
    shown = json_path(steps[:_STEPS])
    if len(steps) > _STEPS:
        shown += ".." + json_path(steps[-1:])[1:].removeprefix(".")
    return shown
