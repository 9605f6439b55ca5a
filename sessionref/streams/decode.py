"""Lines to records: fast where all is well, line by line and with findings where not.

A batch of lines is decoded twice: into typed records, and into the members of each line as JSON
text. The batch is accepted only if those members, encoded again, give the same number of bytes as
the lines, white space between tokens aside. Encoding never gives more than was read: of members
that occur twice one is left out, and only what must be escaped is. So equal length proves that
nothing was dropped or repeated. Any other batch is read line by line.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import msgspec
from msgspec import UNSET, Raw

from sessionref._codes import codes
from sessionref.findings import Finding
from sessionref.streams.envelope import MEMBERS, REQUIRED, Envelope
from sessionref.streams.json import (
    BOM,
    MAX_DEPTH,
    BadJson,
    escaped,
    is_deeper,
    load_object,
    raw_members,
)
from sessionref.streams.observe import attribute

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sessionref.streams.json import Object
    from sessionref.streams.lines import Lines, Oversize

    _Decode = Callable[[bytes], Envelope]

__all__ = ["Decoded", "LineDecoder"]

_MAX_BUFFER = 4 * 1024 * 1024
_SMALLEST = len(b'{"type":"","seq":0,"id":""}')
_between_nuls = re.compile(rb"[^\0]+").finditer
_surrogate = re.compile("[\ud800-\udfff]")

_encoder = msgspec.json.Encoder()
_members_of = msgspec.json.Decoder(dict[str, Raw]).decode
_compact = msgspec.json.format
_type_of = {field.encode_name: field.type for field in msgspec.structs.fields(Envelope)}

#: What msgspec raises for a line that is not as it should be.
_FAULTY = (msgspec.DecodeError, RecursionError)


class Decoded(NamedTuple):
    """Records, and where each stands: line, byte offset and length, and the bytes it was read from.

    All but the last are parallel. `contents` may hold the line ending; the lengths do not count it.
    """

    records: Sequence[Envelope]
    numbers: Sequence[int]
    offsets: Sequence[int]
    lengths: Sequence[int]
    contents: Sequence[bytes]
    #: The positions of records whose ID is not valid UTF-8. It is escaped; nothing can refer to it.
    unreferable: Sequence[int]


class LineDecoder:
    """Decodes the lines of one input, in order; `findings` grows as it goes."""

    def __init__(self, file: str | None = None, *, members: frozenset[str] = frozenset()) -> None:
        """For the input named `file`.

        `members` names members that the records are to hold beside those of `Envelope`, as
        `sessionref.streams.observe.Observer` has it.
        """
        self.findings: list[Finding] = []
        self._crlf_noted = False
        self._file = file
        self._members = members.union(MEMBERS)
        self._buffer = bytearray()

    def decode(self, lines: Lines) -> Decoded:
        """The records of `lines`; what is wrong with any of them is added to `findings`."""
        contents = lines.lines
        # What is shorter cannot be nested deeper, if it is JSON at all.
        long = [content for content in contents if len(content) > 2 * MAX_DEPTH]
        if not lines.complete or any(map(is_deeper, long)):
            return self._decode_each(lines)
        try:
            members = list(map(_members_of, contents))
            held = self._members.intersection(frozenset(REQUIRED).union(*members))
            records = list(map(_record_type(held, self._members).decode, contents))
        except _FAULTY:
            return self._decode_each(lines)
        sizes = list(map(len, contents))
        ending = self._verified_ending(members, contents, sum(sizes))
        if not ending:
            return self._decode_each(lines)
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
        if not self._crlf_noted:
            self._crlf_noted = True
            self.note("crlf", number)

    def _verified_ending(
        self, members: list[dict[str, Raw]], contents: list[bytes], size: int
    ) -> int:
        """The length of the line ending of all `contents`, if `members` are all that they hold.

        `size` is that of all contents. 0 if the endings differ, or if a member occurs twice.
        """
        buffer = self._buffer
        _encoder.encode_into(members, buffer)
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

    def _decode_each(self, lines: Lines) -> Decoded:
        decoded = _Collected([], [], [], [], [], [])
        offset = lines.offset
        decode = _record_type(self._members, self._members).decode
        for number, line in enumerate(lines.lines, lines.number):
            content = line.removesuffix(b"\n")
            if lines.complete and content.endswith(b"\r"):
                self._note_crlf(number)
                content = content.removesuffix(b"\r")
            record = None if is_deeper(content) else _whole(decode, content)
            if record is None:
                self._decode_carefully(decoded, content, number, offset, lines.complete)
            else:
                decoded.add(record, number, offset, content)
            offset += len(line)
        return Decoded(*decoded)

    def _decode_carefully(
        self, decoded: _Collected, content: bytes, number: int, offset: int, complete: bool
    ) -> None:
        """Read one line for its findings, and for its records where there are some."""
        if number == 1 and offset == 0 and content.startswith(BOM):
            self.note("byte-order-mark", number)
            content = content[len(BOM) :]
            offset += len(BOM)
        if not content.strip():
            if complete:
                self.note("blank-line", number)
            return
        if b"\0" not in content:
            self._record(decoded, content, number, offset, complete=complete, whole=True)
            return
        self.note("nul-bytes", number)
        for match in _between_nuls(content):
            piece = match.group()
            # A hole in a file may be full of pieces that are too small for a record.
            if len(piece) >= _SMALLEST and piece.startswith(b"{"):
                at = offset + match.start()
                self._record(decoded, piece, number, at, complete=complete, whole=False)

    def _record(
        self,
        decoded: _Collected,
        content: bytes,
        number: int,
        offset: int,
        *,
        complete: bool,
        whole: bool,
    ) -> None:
        """Add the record that is `content`, or a finding.

        `whole` is False for what stands between NUL bytes, whose line has its finding already.
        """
        try:
            members = load_object(content)
        except BadJson as error:
            if whole:
                code = error.code
                if not complete and code in {"not-json", "not-object"}:
                    code = "torn-tail"
                self.note(code, number, error.detail)
            return
        missing = [name for name in REQUIRED if name not in members]
        if missing:
            if whole:
                detail = ", ".join(missing)
                path = f"$.{missing[0]}"
                self.note("missing-member", number, detail, path=path, **_place(members))
            return
        kept = self._kept(members, number)
        if kept is None:
            return
        wanted = self._members.difference(MEMBERS).intersection(members)
        raw = raw_members(content) if wanted else {}
        kept.update((attribute(name), raw[name]) for name in wanted)
        record = _record_type(self._members, self._members).made(**kept)
        if record.id != members["id"]:
            decoded.unreferable.append(len(decoded.records))
        decoded.add(record, number, offset, content)

    def _kept(self, members: Object, number: int) -> dict[str, Any] | None:
        """The attributes of an envelope with these members, None if it lacks a required one."""
        place = _place(members)
        kept: dict[str, Any] = {}
        for name, named in MEMBERS.items():
            if name not in members:
                continue
            path = f"$.{name}"
            if name in members.repeated:
                self.note("duplicate-member", number, name, path=path, **place)
            value = members[name]
            if name == "seq":
                if "seq" not in place:
                    detail = "seq is not an integer of 64 bits"
                    self.note("bad-member", number, detail, path=path, **place)
                    return None
                kept[named] = value
            elif value is None and name not in REQUIRED:
                continue
            elif type(value) is not str:
                self.note("bad-member", number, f"{name} is not a string", path=path, **place)
                if name in REQUIRED:
                    return None
            elif _surrogate.search(value):
                shown = escaped(value, bytes_too=members.bad_utf8)
                code = "bad-utf8" if members.bad_utf8 else "lone-surrogate"
                self.note(code, number, f"{name} is {shown}", path=path, **place)
                if name in REQUIRED:
                    kept[named] = shown
            else:
                kept[named] = value
        return kept


def _place(members: Object) -> dict[str, Any]:
    """What a finding can say of the record with these members: its `seq` and its ID."""
    place: dict[str, Any] = {}
    seq, record_id = members.get("seq"), members.get("id")
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
        self.records.append(record)
        self.numbers.append(number)
        self.offsets.append(offset)
        self.lengths.append(len(content))
        self.contents.append(content)


class _RecordType(NamedTuple):
    """A type of records: what makes one of attributes, and what decodes one."""

    made: Callable[..., Envelope]
    decode: _Decode


@lru_cache(maxsize=256)
def _record_type(held: frozenset[str], members: frozenset[str]) -> _RecordType:
    """The type of records that have no members but `held`, those beyond `Envelope` as JSON text.

    The others of `members` are class attributes set to UNSET: a field costs time in each record.
    """
    names = [*filter(held.__contains__, MEMBERS), *sorted(held.difference(MEMBERS))]
    fields: list[Any] = []
    for name in names:
        field = (attribute(name), _type_of.get(name, Raw))
        fields.append(field if name in REQUIRED else (*field, UNSET))
    made = msgspec.defstruct(
        "Record",
        fields,
        namespace={attribute(name): UNSET for name in members.difference(held)},
        rename={attribute(name): name for name in names},
        kw_only=True,
        gc=False,
    )
    decode = msgspec.json.Decoder(made).decode
    return _RecordType(cast("Callable[..., Envelope]", made), cast("_Decode", decode))


def _whole(decode: _Decode, content: bytes) -> Envelope | None:
    """The record in a line, None if a closer look is needed."""
    try:
        if _are_alike(_encoder.encode(_members_of(content)), content):
            return decode(content)
    except _FAULTY:
        pass
    return None


def _are_alike(written: bytes, content: bytes) -> bool:
    """Whether JSON texts have equal length, white space between tokens not counted."""
    if len(written) == len(content):
        return True
    return len(_compact(written, indent=-1)) == len(_compact(content, indent=-1))
