"""The strict pass: what the fast decoder does not look at, found in the bytes of a stream.

The fast decoder builds only the members that resolving needs and passes over the rest. This pass
looks at all of it: members that stand twice in any object, text that is not valid UTF-8 or holds a
lone surrogate, and members with a value of the wrong type. It reads each line as a whole, but
nothing else, in time linear in its length, however deep it is nested.

Most lines need no walk: a line that is decoded and written again gives the same bytes, and then it
held nothing twice and nothing that is no text.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import msgspec

from sessionref._codes import codes
from sessionref.checks.shapes import fits, misfits, reads
from sessionref.findings import Fault, Finding
from sessionref.streams.decode import escaped
from sessionref.streams.header import HEADER_TYPE, identify
from sessionref.streams.lines import MAX_LINE, Oversize, cut_lines
from sessionref.streams.source import plain_chunks

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sessionref.findings import Severity
    from sessionref.streams.lines import Lines

__all__ = ["faults_of_line", "strict_findings"]

_BOM = b"\xef\xbb\xbf"
#: Steps of a JSON path that are shown; behind them stands `..` and the last step, which in a JSON
#: path means "anywhere below". A path of all steps would make the pass quadratic.
_STEPS = 20

#: Integers with more digits than this are out of every bound, and slow to convert.
_DIGITS = 20

_token = re.compile(
    rb'(?P<text>"(?:[^"\\]++|\\.)*+"?)|(?P<mark>[][{},:])|[^][{},:"\s]++', re.DOTALL
).finditer
#: Escapes in the order in which they stand, so that a pair is no lone surrogate, and neither is
#: what follows an escaped backslash.
_escapes = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|(?P<lone>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
).finditer
_surrogate_escape = re.compile(rb"\\u[dD][89a-fA-F]").search
_plain_name = re.compile(r"[A-Za-z_]\w*", re.ASCII).fullmatch
_between_nuls = re.compile(rb"[^\0]+").findall

_decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder()
_encoder = msgspec.json.Encoder()


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) <= _DIGITS else float("inf")


_lenient = json.JSONDecoder(parse_int=_integer, parse_constant=_refuse).decode


class _Walked(NamedTuple):
    faults: list[Fault]
    seq: int | None
    id: str | None


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
            content = content.removeprefix(_BOM)
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
    """The records of `lines` where nothing is wrong with them, else None: then look closer."""
    content = b"".join(lines.lines)
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
    """What is wrong with one line."""
    try:
        record = _decoder.decode(content)
        if _encoder.encode(record) not in (content, msgspec.json.format(content, indent=-1)) and (
            _surrogate_escape(content) or not _is_single(content)
        ):
            return _walked(content, record)
        if isinstance(record, dict):
            found = cast("dict[str, Any]", record)
            return _Walked(_misfits(found), _number(found.get("seq")), _text(found.get("id")))
    except RecursionError:
        return _walked(content, None)
    except msgspec.DecodeError:
        # No UTF-8, a lone surrogate, a number beyond all bounds, or no JSON.
        try:
            record = _lenient(content.decode(errors="surrogateescape"))
        except RecursionError:
            return _walked(content, None)
        except ValueError:
            return _Walked([], None, None)
        return _walked(content, record)
    return _Walked([], None, None)


def _is_single(content: bytes) -> bool:
    """Whether no object in `content`, which is JSON, has a member twice."""
    single = True

    def look(pairs: list[tuple[str, Any]]) -> None:
        nonlocal single
        if len({name for name, _ in pairs}) < len(pairs):
            single = False

    json.loads(content, object_pairs_hook=look)
    return single


def _misfits(record: dict[str, Any]) -> list[Fault]:
    return list(misfits(record))


def _walked(content: bytes, record: object) -> _Walked:
    """What is wrong with a line, found token by token; `record` is None where it is too deep."""
    if not content.lstrip().startswith(b"{"):
        return _Walked([], None, None)
    faults: list[Fault] = []
    texts: dict[str, bytes] = {}
    steps: list[str | int] = []
    names: list[dict[str, int] | None] = []  # None stands for an array
    naming = False
    for token in _token(content):
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
            if not names:  # what follows is no part of the object
                break
        elif mark == b",":
            step = steps[-1]
            if isinstance(step, int):
                steps[-1] = step + 1
            naming = names[-1] is not None
        elif mark == b":":
            naming = False
        elif naming and text is not None:
            met = names[-1]
            assert met is not None  # noqa: S101 - only objects have names
            name = _name(text)
            steps[-1] = name
            met[name] = met.get(name, 0) + 1
            if code := _fault_of_text(text):
                faults.append(Fault(code, _path(steps)))
            if met[name] == 2:  # noqa: PLR2004 - the second of any number
                faults.append(Fault("duplicate-member", _path(steps)))
        else:
            if text is not None and (code := _fault_of_text(text)):
                faults.append(Fault(code, _path(steps)))
            if len(steps) == 1 and steps[0] in {"seq", "id"}:
                texts[str(steps[0])] = token[0]
    if isinstance(record, dict):
        faults += _misfits(cast("dict[str, Any]", record))
    seq, record_id = (_value(texts.get(name)) for name in ("seq", "id"))
    return _Walked(faults, _number(seq), _text(record_id))


def _fault_of_text(text: bytes) -> str | None:
    """What is wrong with a JSON string, with its quotes."""
    try:
        text.decode()
    except UnicodeDecodeError:
        return "bad-utf8"
    if _surrogate_escape(text) and any(escape["lone"] for escape in _escapes(text)):
        return "lone-surrogate"
    return None


def _name(text: bytes) -> str:
    """The name that a JSON string stands for; what has no UTF-8 form is shown escaped."""
    value = _value(text)
    return value if isinstance(value, str) else repr(text)


def _value(text: bytes | None) -> object:
    if text is None:
        return None
    try:
        value = json.loads(text.decode(errors="surrogateescape"), strict=False)
    except ValueError:
        return None
    return escaped(value, bytes_too=True) if isinstance(value, str) else value


def _number(value: object) -> int | None:
    """A `seq`, where it is one that a finding can hold."""
    return value if type(value) is int and -(1 << 63) <= value < 1 << 63 else None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _path(steps: list[str | int]) -> str:
    shown = "".join(map(_step, steps[:_STEPS]))
    if len(steps) > _STEPS:
        shown += ".." + _step(steps[-1]).removeprefix(".")
    return "$" + shown


def _step(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    if _plain_name(step):
        return f".{step}"
    return "['" + step.replace("\\", "\\\\").replace("'", "\\'") + "']"
