"""The records of one stream as columns: what the index is made from, filled as lines come."""

from __future__ import annotations

from array import array
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from sessionref.streams.envelope import ENTITY_KEY_OF_TYPE, MEMBERS
from sessionref.streams.header import HEADER_TYPE, Header, identify
from sessionref.streams.lines import Oversize
from sessionref.streams.observe import held, nobody

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from sessionref.findings import Finding
    from sessionref.streams.decode import Decoded, LineDecoder
    from sessionref.streams.envelope import Envelope
    from sessionref.streams.lines import Lines
    from sessionref.streams.observe import Observe

__all__ = ["Table", "fill"]

_value_of: dict[str, Callable[[Envelope], Any]] = {
    kind: attrgetter(MEMBERS[key]) for kind, key in ENTITY_KEY_OF_TYPE.items()
}


class Table:
    """Columns of equal length, one row for each record; and what was met on the way.

    `values` is that of the entity key, where the record's type has one; `supersedes` holds only the
    rows with that member, `unreferable` the rows whose ID is not valid UTF-8 (kept escaped), and
    `empty` the row and name of members that are empty and must not be. `observers`, which `observe`
    makes, see each record when it is added.
    """

    def __init__(self, file: str | None = None, observe: Observe = nobody) -> None:
        self.file = file
        self.observe = observe
        self.observers = tuple(observe())
        self.header = Header()
        self.ids: list[str] = []
        self.types: list[str] = []
        self.seqs = array("q")
        self.lines = array("q")
        self.offsets = array("q")
        self.lengths = array("q")
        self.turns: list[str | None] = []
        self.values: list[str | None] = []
        self.supersedes: dict[int, str] = {}
        self.unreferable: set[int] = set()
        self.empty: list[tuple[int, str]] = []
        self.findings: list[Finding] = []
        # Types and turn IDs repeat; one text for all equal ones saves memory.
        self._kinds: dict[str, str] = {}
        self._turns: dict[Any, str | None] = {UNSET: None, None: None, "": None}

    def __len__(self) -> int:
        return len(self.ids)

    def add(self, decoded: Decoded, types: list[str], start: int, stop: int) -> None:
        """Add the records `start` to `stop` of `decoded`; `types` are the types of all."""
        if start == stop:
            return
        records: Sequence[Envelope] = decoded.records
        contents = decoded.contents
        numbers, offsets, lengths = decoded.numbers, decoded.offsets, decoded.lengths
        if (start, stop) != (0, len(records)):
            records, types = records[start:stop], types[start:stop]
            numbers, offsets = numbers[start:stop], offsets[start:stop]
            lengths, contents = lengths[start:stop], contents[start:stop]
        base = len(self.ids) - start
        self.unreferable.update(base + at for at in decoded.unreferable if start <= at < stop)
        types = list(map(self._kinds.setdefault, types, types))
        self.ids += [record.id for record in records]
        self.types += types
        self.seqs.fromlist([record.seq for record in records])
        self.lines.fromlist(list(numbers))
        self.offsets.fromlist(list(offsets))
        self.lengths.fromlist(list(lengths))
        turns: list[Any] = [record.turn_id for record in records]
        if "" in turns:
            self.empty += [
                (at, "turnId") for at, turn in enumerate(turns, base + start) if turn == ""
            ]
        self.turns += map(self._turns.setdefault, turns, turns)
        getter = _value_of.get
        self.values += [
            None if (value_of := getter(kind)) is None else value_of(record) or None
            for kind, record in zip(types, records, strict=True)
        ]
        if "supersedes" in held(records):
            for row, named in enumerate([record.supersedes for record in records], base + start):
                if named:
                    self.supersedes[row] = named
                elif named == "":
                    self.empty.append((row, "supersedes"))
        for observer in self.observers:
            observer.see(base + start, types, records, contents)

    def take(self, decoder: LineDecoder) -> None:
        """Take over the findings of `decoder`."""
        self.findings += decoder.findings
        decoder.findings.clear()

    def end_before(self, line: int, decoder: LineDecoder) -> None:
        """Note that another stream begins at `line`; findings from there on are left to it."""
        found = decoder.findings
        stop = len(found)
        while stop and (found[stop - 1].line or 0) >= line:
            stop -= 1
        self.findings += found[:stop]
        del found[:stop]


def fill(table: Table, pieces: Iterable[Lines | Oversize], decoder: LineDecoder) -> Iterator[Table]:
    """Add the records of `pieces` to `table`.

    A record of type ``session`` begins another stream: the table is then given, and another filled,
    and so on; the last one is given too. A header that is the first record of `table` is its own.
    """
    for piece in pieces:
        if isinstance(piece, Oversize):
            decoder.note_oversize(piece)
            continue
        decoded = decoder.decode(piece)
        types = [record.type for record in decoded.records]
        start = 0
        if HEADER_TYPE in types:
            for at in [at for at, kind in enumerate(types) if kind == HEADER_TYPE]:
                table.add(decoded, types, start, at)
                start = at
                number = decoded.numbers[at]
                if len(table):
                    table.end_before(number, decoder)
                    yield table
                    table = Table(table.file, table.observe)
                table.header = identify(decoded.contents[at], table.file, number)
        table.add(decoded, types, start, len(types))
    table.take(decoder)
    yield table
