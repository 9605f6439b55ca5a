"""Lines to envelopes: fast where all is well, line by line and with findings where not.

The fast way decodes the members that are needed and keeps the bytes of the others as they are. It
is trusted only where the records, written again, are as long as the lines were, white space between
tokens not counted. Writing again never gives more than was read: it leaves out what was not kept,
and escapes only what must be. So equal length means that nothing was left out, and since the later
of two members of one name replaces the earlier, that no member stands twice. Members that no record
had before make a line shorter too; their names are learned, and the lines pass.
"""

from __future__ import annotations

import json
import re
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from msgspec import UNSET, Raw

from sessionref._codes import codes
from sessionref.findings import Finding
from sessionref.streams.envelope import MEMBERS, Envelope
from sessionref.streams.kinds import (
    REQUIRED,
    begin,
    careful_kind,
    extended,
    hand_on,
    typed_decoder,
)
from sessionref.streams.observe import attribute as attribute_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sessionref.streams.lines import Lines, Oversize

__all__ = ["BadLine", "Decoded", "LineDecoder", "Members", "escaped", "read_members"]

_BOM = b"\xef\xbb\xbf"
_MAX_LEARNED = 256
_MAX_BUFFER = 4 * 1024 * 1024
_SEQ_BITS = 64
_MAX_DIGITS = 20
_SMALLEST = len(b'{"type":"","seq":0,"id":""}')
_between_nuls = re.compile(rb"[^\0]+").finditer
_surrogate = re.compile("[\ud800-\udfff]")
_learnable = re.compile(r"[\w.:/@$-]{1,64}", re.ASCII).fullmatch

_encoder = msgspec.json.Encoder()
_members_raw = msgspec.json.Decoder(dict[str, Raw]).decode
_compact = msgspec.json.format


class Decoded(NamedTuple):
    """Records, and where each stands: line, byte offset and length, and the bytes it was read from.

    All but the last are parallel. `contents` may hold the line ending; the lengths do not count it.
    """

    records: Sequence[Envelope]
    numbers: Sequence[int]
    offsets: Sequence[int]
    lengths: Sequence[int]
    contents: Sequence[bytes]
    #: The positions of records whose ID has no UTF-8 form. It is escaped; nothing can refer to it.
    unreferable: Sequence[int]


class LineDecoder:
    """Decodes the lines of one input, in order; `findings` grows as it goes."""

    def __init__(
        self,
        file: str | None = None,
        *,
        crlf: bool = False,
        members: frozenset[str] = frozenset(),
    ) -> None:
        """For the input named `file`; `crlf` where its CR LF has been noted already.

        `members` names members that the records are to hold beside those of `Envelope`, as
        `sessionref.streams.observe.Observer` has it.
        """
        self.findings: list[Finding] = []
        self.crlf = crlf
        self._file = file
        self._wanted = members.difference(MEMBERS)
        self._names = begin(self._wanted)
        self._typed = typed_decoder(self._names, self._wanted)
        self._buffer = bytearray()

    def decode(self, lines: Lines) -> Decoded:
        """The records of `lines`; what is wrong with any of them is added to `findings`."""
        contents = lines.lines
        attempts = 2 if lines.complete else 0
        while attempts:
            try:
                records = list(map(self._typed, contents))
            except (msgspec.DecodeError, RecursionError):
                break
            sizes = list(map(len, contents))
            ending = self._verified_ending(records, contents, sum(sizes))
            if ending:
                if ending > 1:
                    self._note_crlf(lines.number)
                offsets = list(accumulate(sizes, initial=lines.offset))
                offsets.pop()
                return Decoded(
                    records,
                    range(lines.number, lines.number + len(records)),
                    offsets,
                    [size - ending for size in sizes],
                    contents,
                    (),
                )
            attempts = attempts - 1 if self._learn(contents) else 0
        return self._decode_each(lines)

    def note(self, code: str, line: int, detail: str = "", **place: Any) -> None:
        """Add the finding `code` about `line`."""
        row = codes()[code]
        message = f"{row.meaning}: {detail}" if detail else row.meaning
        finding = Finding(
            code=code, severity=row.severity, message=message, file=self._file, line=line, **place
        )
        self.findings.append(finding)

    def note_oversize(self, line: Oversize) -> None:
        """Add the finding about a line that is longer than the bound."""
        self.note("line-too-long", line.number, f"{line.length} bytes")

    def _note_crlf(self, number: int) -> None:
        if not self.crlf:
            self.crlf = True
            self.note("crlf", number)

    def _verified_ending(self, records: list[Envelope], contents: list[bytes], size: int) -> int:
        """The length of the line ending of all `contents`, if `records` are all that they hold.

        `size` is that of all contents. 0 where the endings differ, or where something is left out
        or stands twice.
        """
        buffer = self._buffer
        _encoder.encode_into(records, buffer)
        if len(buffer) > _MAX_BUFFER:
            self._buffer = bytearray()
        # In place of each newline there is a comma or a bracket, and one bracket more.
        total = size + 1
        if len(buffer) == total:
            return 1
        endings = {2 if content.endswith(b"\r\n") else 1 for content in contents}
        ending = endings.pop()
        if endings:
            return 0
        if len(buffer) == total - (ending - 1) * len(contents):
            return ending
        return ending if _are_alike(bytes(buffer), b"[%b]" % b",".join(contents)) else 0

    def _learn(self, contents: Iterable[bytes]) -> bool:
        """Learn the names of members in `contents`; whether any was new."""
        found: list[Iterable[str]] = []
        for content in contents:
            try:
                found.append(_members_raw(content))
            except (msgspec.DecodeError, RecursionError):
                continue  # a name with no UTF-8 form
        unknown = frozenset[str]().union(*found).difference(self._names)
        needed = self._wanted.union(MEMBERS).intersection(unknown)
        others = sorted(filter(_learnable, unknown - needed))
        others = others[: max(0, _MAX_LEARNED - len(self._names))]
        new = needed.union(others)
        if not new:
            return False
        self._names = extended(self._names, found, new)
        self._typed = typed_decoder(self._names, self._wanted)
        hand_on(self._wanted, self._names)
        return True

    def _decode_each(self, lines: Lines) -> Decoded:
        decoded = _Collected([], [], [], [], [], [])
        offset = lines.offset
        # What was not learned yet must not be passed over here.
        needed = sorted(self._wanted.union(MEMBERS).difference(self._names))
        typed = typed_decoder((*self._names, *needed), self._wanted)
        for number, line in enumerate(lines.lines, lines.number):
            content = line.removesuffix(b"\n")
            if lines.complete and content.endswith(b"\r"):
                self._note_crlf(number)
                content = content.removesuffix(b"\r")
            try:
                record = typed(content)
            except (msgspec.DecodeError, RecursionError):
                self._decode_carefully(decoded, content, number, offset, lines.complete)
            else:
                if _are_alike(_encoder.encode(record), content) or _is_plain(content):
                    decoded.add(record, number, offset, content)
                else:
                    self._decode_carefully(decoded, content, number, offset, lines.complete)
            offset += len(line)
        return Decoded(*decoded)

    def _decode_carefully(
        self, decoded: _Collected, content: bytes, number: int, offset: int, complete: bool
    ) -> None:
        """Read one line for its findings, and for its records where there are some."""
        if number == 1 and offset == 0 and content.startswith(_BOM):
            self.note("byte-order-mark", number)
            content = content[len(_BOM) :]
            offset += len(_BOM)
        if not content.strip():
            if complete:
                self.note("blank-line", number)
            return
        if b"\0" not in content:
            record = self._record(content, number, complete, whole=True)
            if record is not None:
                decoded.add(record, number, offset, content)
            return
        self.note("nul-bytes", number)
        for match in _between_nuls(content):
            piece = match.group()
            if len(piece) < _SMALLEST or not piece.startswith(b"{"):
                continue  # no record, and a hole may be full of such
            record = self._record(piece, number, complete, whole=False)
            if record is not None:
                decoded.add(record, number, offset + match.start(), piece)

    def _record(
        self, content: bytes, number: int, complete: bool, *, whole: bool
    ) -> Envelope | None:
        """The record that is `content`, or None and a finding.

        `whole` is False for what stands between NUL bytes, whose line has its finding already.
        """
        try:
            members = read_members(content)
        except BadLine as error:
            if whole:
                code = error.code
                if not complete and code in {"not-json", "not-object"}:
                    code = "torn-tail"
                self.note(code, number, error.detail)
            return None
        values = members.values
        missing = [name for name in REQUIRED if name not in values]
        if missing:
            if whole:
                detail = ", ".join(missing)
                path = f"$.{missing[0]}"
                self.note("missing-member", number, detail, path=path, **_place(values))
            return None
        return self._envelope(members, number, content)

    def _envelope(self, members: Members, number: int, content: bytes) -> Envelope | None:
        values = members.values
        place = _place(values)
        kept: dict[str, Any] = {}
        unreferable = False
        for name, attribute in MEMBERS.items():
            if name not in values:
                continue
            path = f"$.{name}"
            if name in members.repeated:
                self.note("duplicate-member", number, name, path=path, **place)
            value = values[name]
            if name == "seq":
                if "seq" not in place:
                    detail = "seq is no integer of 64 bits"
                    self.note("bad-member", number, detail, path=path, **place)
                    return None
                kept[attribute] = value
            elif value is None and name not in REQUIRED:
                continue
            elif type(value) is not str:
                self.note("bad-member", number, f"{name} is no string", path=path, **place)
                if name in REQUIRED:
                    return None
            elif _surrogate.search(value):
                shown = escaped(value, bytes_too=members.bad_utf8)
                code = "bad-utf8" if members.bad_utf8 else "lone-surrogate"
                self.note(code, number, f"{name} is {shown}", path=path, **place)
                if name in REQUIRED:
                    kept[attribute] = shown
                    unreferable = unreferable or name == "id"
            else:
                kept[attribute] = value
        base = _WithoutId if unreferable else Envelope
        if not self._wanted:
            return base(**kept)
        wanted = self._wanted.intersection(values)
        raw = _raw_members(content) if wanted else {}
        kept.update((attribute_of(name), raw.get(name, UNSET)) for name in wanted)
        return careful_kind(self._wanted, base)(**kept)


def _place(values: dict[str, Any]) -> dict[str, Any]:
    """What a finding can say of the record with these members: its `seq` and its ID."""
    place: dict[str, Any] = {}
    seq, record_id = values.get("seq"), values.get("id")
    if type(seq) is int and -(1 << 63) <= seq < 1 << 63:
        place["seq"] = seq
    if type(record_id) is str and not _surrogate.search(record_id):
        place["id"] = record_id
    return place


class _Collected(NamedTuple):
    records: list[Envelope]
    numbers: list[int]
    offsets: list[int]
    lengths: list[int]
    contents: list[bytes]
    unreferable: list[int]

    def add(self, record: Envelope, number: int, offset: int, content: bytes) -> None:
        if isinstance(record, _WithoutId):
            self.unreferable.append(len(self.records))
        self.records.append(record)
        self.numbers.append(number)
        self.offsets.append(offset)
        self.lengths.append(len(content))
        self.contents.append(content)


class _WithoutId(Envelope, rename="camel", gc=False):
    """An envelope whose `id` is the escaped form of one with no UTF-8 form."""


class BadLine(Exception):  # noqa: N818 - says what was met
    """A line that is no JSON object; `code` is one of `data/codes.toml`."""

    def __init__(self, code: str, detail: str = "") -> None:
        super().__init__(code, detail)
        self.code = code
        self.detail = detail


class Members(NamedTuple):
    """The members of one JSON object, read with the care that the fast way lacks.

    Of members that stand twice `values` holds the last and `repeated` the names. Where `bad_utf8`
    is true the object held invalid UTF-8; each such byte is a surrogate of U+DC80 to U+DCFF.
    Objects inside are `Members` too, and integers of more than 20 digits are floats.
    """

    values: dict[str, Any]
    repeated: frozenset[str]
    bad_utf8: bool = False


def read_members(content: bytes) -> Members:
    """The members of the JSON object `content`. Raises `BadLine` where it is none."""
    bad_utf8 = False
    try:
        text = content.decode()
    except UnicodeDecodeError:
        text = content.decode(errors="surrogateescape")
        bad_utf8 = True
    try:
        value = _careful.decode(text)
    except RecursionError:
        raise BadLine("too-deep") from None
    except ValueError as error:
        detail = str(error) if isinstance(error, json.JSONDecodeError) else ""
        raise BadLine("not-json", detail) from None
    if not isinstance(value, Members):
        raise BadLine("not-object")
    return value._replace(bad_utf8=bad_utf8)


def escaped(text: str, *, bytes_too: bool = False) -> str:
    r"""`text` with each surrogate as ``\udXXX``; with `bytes_too`, as ``\xXX`` for a byte."""

    def escape(match: re.Match[str]) -> str:
        point = ord(match.group())
        if bytes_too and 0xDC80 <= point <= 0xDCFF:  # noqa: PLR2004 - how bytes are smuggled
            return f"\\x{point - 0xDC00:02x}"
        return f"\\u{point:04x}"

    return _surrogate.sub(escape, text)


def _pairs(pairs: list[tuple[str, Any]]) -> Members:
    values = dict(pairs)
    if len(values) == len(pairs):
        return Members(values, frozenset())
    seen: set[str] = set()
    repeated = frozenset(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
    return Members(values, repeated)


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) <= _MAX_DIGITS else float("inf")


_careful = json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=_refuse, parse_int=_integer)


def _are_alike(written: bytes, content: bytes) -> bool:
    """Whether JSON texts have equal length, white space between tokens not counted."""
    if len(written) == len(content):
        return True
    try:
        return len(_compact(written, indent=-1)) == len(_compact(content, indent=-1))
    except RecursionError:
        return False


def _is_plain(content: bytes) -> bool:
    """Whether no member of the object `content` stands twice, where that is certain at once.

    The object is rebuilt from its members, each once, and compared.
    """
    try:
        members = _members_raw(content)
    except (msgspec.DecodeError, RecursionError):
        return False
    pairs = [(name.encode(), bytes(value)) for name, value in members.items()]
    return content == b"{%b}" % b",".join([b'"%b":%b' % pair for pair in pairs])


def _raw_members(content: bytes) -> dict[str, Raw]:
    """The members of an object that `read_members` could read, each as it stands."""
    try:
        return _members_raw(content)
    except (msgspec.DecodeError, RecursionError):
        # A name with no UTF-8 form is in the way; what is nested deeply stays out.
        text = content.decode(errors="surrogateescape")
        try:
            return {
                name: Raw(json.dumps(value).encode())
                for name, value in json.loads(text, parse_int=_integer).items()
            }
        except RecursionError:
            return {}
