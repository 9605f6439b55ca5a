"""The records of a native log as columns, for readers of lineage and usage alone.

They are the same records that the readers write, without the way over their JSON. What lineage
looks at is gathered by its own observer.
"""

from __future__ import annotations

import pickle
from array import array
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from sessionref.lineage.gather import Gathered
from sessionref.streams.chains import Links, join
from sessionref.streams.decode import LineDecoder
from sessionref.streams.envelope import ENTITY_KEY_OF_TYPE, MEMBERS
from sessionref.streams.header import HEADER_TYPE
from sessionref.streams.ids import HEADER_ID
from sessionref.streams.lines import Lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from sessionref.findings import Finding
    from sessionref.native.record import NativeRecord
    from sessionref.streams.index import StreamIndex

__all__ = ["Columns", "Records"]

#: How many bytes of records are handed on to lineage together.
_BLOCK = 1 << 16

_value_of: dict[str, Callable[[Any], str | None]] = {
    kind: attrgetter(MEMBERS[key]) for kind, key in ENTITY_KEY_OF_TYPE.items()
}


class Columns:
    """The records of one session after its header: columns of equal length, one row for each.

    `ids`, `types`, `values` and `supersedes` are as those of an index, `lines` are the lines of
    the log. `findings` are what is wrong inside its rows. Row numbers count from 1, since the
    header is in row 0; each record has the number of its row as its `seq`.
    """

    def __init__(self) -> None:
        self.ids: list[str] = []
        self.types: list[str] = []
        self.values: list[str | None] = []
        self.lines: list[int] = []
        self.supersedes: dict[int, str] = {}
        self.gathered = Gathered()
        self.findings: list[Finding] = []
        self._decoder = LineDecoder(members=self.gathered.members)
        self._encode = msgspec.json.Encoder().encode_into
        # Records that lineage looks at, as lines, and their rows: they wait to be decoded together.
        self._block = bytearray()
        self._rows: list[int] = []

    def add(self, records: Iterable[NativeRecord], line: int) -> None:
        """Add the records of one line of the log."""
        watched = self.gathered.watched
        for record in records:
            kind = record.type
            value_of = _value_of.get(kind)
            self.ids.append(record.id)
            self.types.append(kind)
            self.values.append(None if value_of is None else value_of(record) or None)
            self.lines.append(line)
            if record.supersedes:
                self.supersedes[len(self.ids)] = record.supersedes
            if kind in watched or record.copied_from is not None:
                self._encode(record, self._block, len(self._block))
                self._block += b"\n"
                self._rows.append(len(self.ids))
        if len(self._block) >= _BLOCK:
            self.flush()

    def flush(self) -> None:
        """Give lineage the records that it has not seen yet."""
        if self._rows:
            lines = bytes(self._block).splitlines(keepends=True)
            decoded = self._decoder.decode(Lines(lines, 1, 0, complete=True))
            types = [record.type for record in decoded.records]
            self.gathered.take(self._rows, types, decoded.records)
            self._block.clear()
            self._rows = []

    def closed(self) -> Records | None:
        """All records that were added; None if two of them have the same ID."""
        self.flush()
        rows = range(1, len(self.ids) + 1)
        row_of = dict(zip(self.ids, rows, strict=True))
        if len(row_of) != len(rows) or HEADER_ID in row_of:
            return None
        links = join(
            self.supersedes,
            lambda record_id: (row_of[record_id],) if record_id in row_of else (),
            [HEADER_TYPE, *self.types],
            range(len(rows) + 1),
            [None, *self.values],
        )
        return Records(
            self.ids,
            self.types,
            self.values,
            array("q", self.lines),
            self.supersedes,
            links,
            self.gathered,
            self.findings,
        )


class Records(NamedTuple):
    """The finished columns, and the links between revisions.

    `links` are those between revisions, by row. No two records have the same ID.
    """

    ids: list[str]
    types: list[str]
    values: list[str | None]
    lines: array[int]
    supersedes: dict[int, str]
    links: Links
    gathered: Gathered
    findings: list[Finding]

    def behind(self, index: StreamIndex) -> None:
        """Add the records to the index of a stream that has its header only."""
        index.go_on(self.ids, self.types, self.values, self.lines, self.supersedes, self.links)
        for observer in index.observers:
            if isinstance(observer, Gathered):
                observer.adopt(self.gathered)

    def packed(self) -> bytes:
        """The records as bytes, to be given to another process; much faster than as objects."""
        kinds = {kind: number for number, kind in enumerate(dict.fromkeys(self.types))}
        return pickle.dumps(
            (
                _pack(self.ids),
                _pack((list(kinds), [kinds[kind] for kind in self.types])),
                _pack(self.values),
                self.lines,
                _pack((self.supersedes, self.links)),
                self.gathered,
                self.findings,
            ),
            protocol=pickle.HIGHEST_PROTOCOL,
        )

    @classmethod
    def unpacked(cls, data: bytes) -> Records:
        """The records in what `packed` gave."""
        ids, types, values, lines, linked, gathered, findings = pickle.loads(data)  # noqa: S301
        kinds, numbers = _types(types)
        supersedes, links = _linked(linked)
        return cls(
            _ids(ids),
            [kinds[number] for number in numbers],
            _values(values),
            lines,
            supersedes,
            links,
            gathered,
            findings,
        )


_pack = msgspec.msgpack.Encoder().encode
_ids = msgspec.msgpack.Decoder(list[str]).decode
_types = msgspec.msgpack.Decoder(tuple[list[str], list[int]]).decode
_values = msgspec.msgpack.Decoder(list[str | None]).decode
_linked = msgspec.msgpack.Decoder(tuple[dict[int, str], Links]).decode
