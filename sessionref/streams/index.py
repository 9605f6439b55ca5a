"""The index of one stream: its records by ID, its entities, its turns; refs resolve against it."""

from __future__ import annotations

import os
from array import array
from bisect import bisect_left
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from sessionref._codes import codes
from sessionref._compiled import TURN_KEY
from sessionref.errors import InvalidReference, StreamError
from sessionref.findings import Finding
from sessionref.reference import SessionRef
from sessionref.refs import EntityRef, RecordRef, TurnRef
from sessionref.streams.chains import Links, join
from sessionref.streams.decode import LineDecoder
from sessionref.streams.envelope import ENTITY_KEY_OF_TYPE
from sessionref.streams.header import HEADER_TYPE, Header, identify
from sessionref.streams.lines import MAX_LINE, Lines, Oversize, cut_lines
from sessionref.streams.observe import nobody
from sessionref.streams.outcomes import Ambiguous, Hit, Resolved, Unresolved, as_ref
from sessionref.streams.source import OpenFile, compression, plain_chunks, read_chunks
from sessionref.streams.table import Table, fill

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from sessionref.findings import Place
    from sessionref.reference import SessionKey
    from sessionref.streams.observe import Observe, Observer
    from sessionref.streams.outcomes import Outcome, Reason
    from sessionref.streams.source import Input

__all__ = ["StreamIndex", "read_header", "read_streams"]

#: Enough for most headers, little enough for many files.
_HEADER_STEP = 16 * 1024


#: The types of records that each entity key identifies.
_kinds_of_key: dict[str, frozenset[str]] = {
    key: frozenset(kind for kind, other in ENTITY_KEY_OF_TYPE.items() if other == key)
    for key in ENTITY_KEY_OF_TYPE.values()
}


class _Rows:
    """Rows by a text. Most texts have one row, so a list is made only for those with more."""

    __slots__ = ("first", "several")

    def __init__(self) -> None:
        self.first: dict[str, int] = {}
        self.several: dict[str, list[int]] = {}

    def add(self, text: str, row: int) -> None:
        first = self.first.setdefault(text, row)
        if first != row:
            self.several.setdefault(text, [first]).append(row)

    def fill(self, texts: Sequence[str], rows: Sequence[int]) -> None:
        """Add all of them, which costs less than one after the other; to what is empty."""
        self.first = dict(zip(texts, rows, strict=True))
        if len(self.first) != len(texts):
            self.first.clear()
            for text, row in zip(texts, rows, strict=True):
                self.add(text, row)

    def forget(self, text: str) -> None:
        self.first.pop(text, None)
        self.several.pop(text, None)

    def get(self, text: str) -> Sequence[int]:
        first = self.first.get(text)
        if first is None:
            return ()
        return self.several.get(text) or (first,) if self.several else (first,)


class _Origin(NamedTuple):
    """The file that was read."""

    path: str | os.PathLike[str]
    compressed: bool


class StreamIndex:
    """The records of one stream, and what refs into it mean.

    Made by `read`, `from_chunks` or `read_streams`. Nothing of a record is kept but what refs need;
    `fetch` reads the whole record again from its place in the file. Iteration gives a `Hit` for
    each record in the order of the stream; `len` is their number.
    """

    def __init__(self, table: Table, *, origin: _Origin | None = None) -> None:
        """The index of the records in `table`, which is no longer its maker's to change."""
        self._table = table
        self._origin = origin
        self._converted = False
        self._findings: tuple[Finding, ...] | None = None
        self._forget()

    @classmethod
    def read(
        cls, source: Input, *, file: str | None = None, max_line: int = MAX_LINE
    ) -> StreamIndex:
        """The index of the one stream that `source` holds.

        `source` is a path, a binary file object or an iterable of bytes; plain, gzip or zstd, told
        by content. `file` names what is no path. Raises `StreamError`: ``several-streams`` where a
        second header begins another stream (`read_streams` reads such), and ``no-such-file``,
        ``not-a-file`` or ``unreadable`` for what cannot be read. All else that is wrong is a
        finding, and the rest is read.
        """
        return _only(read_streams(source, file=file, max_line=max_line))

    @classmethod
    def from_chunks(
        cls, chunks: Iterable[bytes], *, file: str | None = None, max_line: int = MAX_LINE
    ) -> StreamIndex:
        """The index of the one stream that `chunks` make, however they are cut.

        As `read`, but it touches nothing outside `chunks`.
        """
        return _only(map(StreamIndex, _tables(chunks, file, max_line)))

    def __repr__(self) -> str:
        return f"<StreamIndex session={self._session!r} records={len(self)}>"

    # -- What the stream is -----------------------------------------------------------------

    @property
    def file(self) -> str | None:
        """The name of what was read."""
        return self._table.file

    @property
    def header(self) -> Header:
        """The stream's header; one without content where the stream has none."""
        return self._table.header

    @property
    def key(self) -> SessionKey | None:
        """The key of the session, None where the header gives none."""
        return self._table.header.key

    @property
    def session(self) -> str | None:
        """The canonical form of `key`."""
        return self._session

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What is wrong with the stream, as far as reading and resolving it goes, by line."""
        if self._findings is None:
            found = [
                *self._table.findings,
                *self.header.findings,
                *self._repeated_ids(),
                *self._unusable_texts(),
                *(finding for _, finding in self.link_findings),
            ]
            if not self.header.content:
                found.append(_no_header(self.file))
            found.sort(key=lambda finding: finding.line or 0)
            self._findings = tuple(map(self._placed, found))
        return self._findings

    def _placed(self, finding: Finding) -> Finding:
        """`finding` with the session, and with `seq` and ID where it is about the header."""
        header = self._hit(0) if self.header.content else None
        if header is None or finding.id is not None or finding.path is None:
            return replace(finding, session=self._session)
        if finding.line != header.line:
            return replace(finding, session=self._session)
        return replace(finding, session=self._session, seq=header.seq, id=header.id)

    @property
    def observers(self) -> tuple[Observer, ...]:
        """Who saw the records of the stream when it was read."""
        return self._table.observers

    def __len__(self) -> int:
        return len(self._table)

    def __iter__(self) -> Iterator[Hit]:
        return map(self._hit, range(len(self._table)))

    def refs(self) -> Iterator[RecordRef | EntityRef | TurnRef]:
        """Every ref that names something in the stream, once: records, then entities, then turns.

        What no ref can hold is left out: a record ID with ``=`` (ASR-062).
        """
        for record_id in self._rows_by_id().first:
            try:
                yield RecordRef(record_id)
            except InvalidReference:
                continue
        for key in _kinds_of_key:
            for value in self._latest_rows(key).first:
                yield EntityRef(key, value)
        for turn_id in self._rows_by_turn():
            yield TurnRef(turn_id)

    # -- What refs mean ---------------------------------------------------------------------

    def resolve(self, ref: SessionRef | RecordRef | EntityRef | TurnRef | str) -> Outcome:
        """What `ref` means in this stream (ASR-063, 064, 075).

        A record-ID ref means that record, an entity ref the latest revision of its one chain, a
        turn ref all records of the turn, a session reference without ``#`` part the header. A
        session reference must name this stream's session. An ID that several records have, and an
        entity with several latest revisions, are ambiguous. A text is a session reference if it
        parses as one, else a raw ref; raises `InvalidReference` if it is neither.
        """
        ref = as_ref(ref)
        if isinstance(ref, SessionRef):
            key = ref.key
            if key != self._table.header.key:
                return Unresolved("no-such-session", key.canonical())
            if ref.ref is None:
                return Resolved((self._hit(0),), self._session)
            ref = ref.ref
        if isinstance(ref, EntityRef):
            return self._outcome(self._latest_rows(ref.key).get(ref.value), "no-such-entity")
        if isinstance(ref, RecordRef):
            return self._outcome(self._rows_by_id().get(ref.record_id), "no-such-record")
        return self._turn(ref.turn_id)

    def rows_of(self, key: str | None, value: str) -> Sequence[int]:
        """The rows that `value` names: of a record ID, or with `key` of an entity or a turn.

        The rows of an entity are those of the latest revisions of its chains; those of a turn, for
        which `key` is ``turnId``, are in the order of the stream. Rows count from 0.
        """
        if key is None:
            return self._rows_by_id().get(value)
        if key == TURN_KEY:
            return self._rows_by_turn().get(value, ())
        return self._latest_rows(key).get(value)

    def ambiguous(self, key: str) -> Mapping[str, Sequence[int]]:
        """The values of an entity key that several chains have, with their latest rows."""
        return self._latest_rows(key).several

    def hit(self, row: int) -> Hit:
        """The record in row `row`, from 0."""
        return self._hit(row)

    def row(self, hit: Hit) -> int:
        """The row of `hit`, from 0. Raises `StreamError`, code ``foreign-hit``, as `fetch` does."""
        row = self.find(hit)
        if row is None:
            raise StreamError("foreign-hit", "the hit is none of this index", self.file)
        return row

    def find(self, hit: Hit) -> int | None:
        """The row of `hit`, from 0; None where it is no record of this stream."""
        row = bisect_left(self._table.offsets, hit.offset)  # rows are in the order of offsets
        return row if row < len(self._table) and self._hit(row) == hit else None

    @property
    def seqs(self) -> Sequence[int]:
        """The `seq` of each record, by row; not to be changed."""
        return self._table.seqs

    @property
    def order(self) -> Sequence[int]:
        """What orders the records, by row: the lower is the earlier. Here it is `seq`."""
        return self._table.seqs

    @property
    def columns(self) -> Table:
        """What the index is made from; not to be changed."""
        return self._table

    @property
    def types(self) -> Sequence[str]:
        """The type of each record, by row; not to be changed."""
        return self._table.types

    @property
    def turns(self) -> Sequence[str | None]:
        """The turn ID of each record, by row; not to be changed."""
        return self._table.turns

    @property
    def values(self) -> Sequence[str | None]:
        """The value of each record's entity key, None where there is none; not to be changed."""
        return self._table.values

    @property
    def superseded(self) -> Mapping[int, Sequence[int]]:
        """The rows that other records supersede, each with the rows of those; not to be changed."""
        return self._valid_links().revisions

    def place(self, row: int) -> Place:
        """Where the record in `row` stands."""
        return self._hit(row).place

    def supersedes(self) -> Iterable[tuple[int, str]]:
        """The rows whose record has `supersedes`, with what it names; valid or not."""
        return self._table.supersedes.items()

    def at_lines(self, lines: array[int]) -> None:
        """Say that the records come from these lines, one for each, of the log that was converted.

        What `fetch` needs is not there for such a stream.
        """
        self._table.lines = lines
        self._converted = True

    @property
    def is_converted(self) -> bool:
        """Whether the records were made from a log, and the header from no line of it."""
        return self._converted

    def go_on(
        self,
        ids: Sequence[str],
        types: Sequence[str],
        values: Sequence[str | None],
        lines: array[int],
        supersedes: Mapping[int, str],
        links: Links,
    ) -> None:
        """Add records that were read in another way to the index of a header alone.

        The arguments are columns of equal length, but for `supersedes`, which is by row; the `seq`
        of each record is its row. No two of them have the same ID, and `links` are those between
        them. What `fetch` needs is not there for such records, and observers do not see them.
        """
        table = self._table
        table.ids += ids
        table.types += types
        table.values += values
        table.turns += [None] * len(ids)
        table.supersedes.update(supersedes)
        rows = array("q", range(1, len(ids) + 1))
        table.seqs += rows
        table.lines += lines
        table.offsets += rows  # hits are told apart by what increases here
        table.lengths += array("q", bytes(8 * len(ids)))
        self._forget()
        self._links: Links | None = links
        self._unique = True

    def revisions(self, hit: Hit) -> tuple[Hit, ...]:
        """All records of the revision chain that `hit` belongs to, by `seq`.

        A chain is what valid `supersedes` members join; a record without any is a chain of its own.
        Raises `StreamError`, code ``foreign-hit``, for a hit of another index.
        """
        return tuple(map(self._hit, self._by_seq(self.chain(self.row(hit)))))

    def chain(self, row: int) -> list[int]:
        """The rows of the revision chain that the record in `row` belongs to, the oldest first."""
        links = self._valid_links()
        while row in links.target:
            row = links.target[row]
        chain = [row]
        for row in chain:  # which grows meanwhile
            chain += links.revisions.get(row, ())
        return chain

    def fetch(self, hit: Hit) -> bytes:
        """The record of `hit` as it stands in the file, without line ending.

        Reads nothing else of a plain file; of a compressed one all that stands before. Raises
        `StreamError`: ``no-file`` where the stream was not read from a path, ``replaced`` where the
        file no longer has the record at its place, ``foreign-hit`` for a hit of another index, and
        as `read` for a file that is gone.
        """
        row = self.row(hit)
        origin = self._read_from()
        with OpenFile(origin.path) as opened:
            if origin.compressed:
                content = _slice(plain_chunks(opened.chunks(), []), hit.offset, hit.length)
            else:
                content = opened.read_at(hit.offset, hit.length)
        line = Lines([content], hit.line, hit.offset, complete=False)
        found = LineDecoder().decode(line).records
        if [(record.id, record.seq) for record in found] != [(self._table.ids[row], hit.seq)]:
            raise StreamError("replaced", f"line {hit.line} is no longer what it was", self.file)
        return content

    def _read_from(self) -> _Origin:
        if self._origin is None:
            raise StreamError("no-file", "the stream was not read from a path", self.file)
        return self._origin

    # -- What follows from the table; made when it is first needed ----------------------------

    def _forget(self) -> None:
        self._session = self._table.header.session
        self._by_id: _Rows | None = None
        self._by_turn: dict[str, list[int]] | None = None
        self._latest: dict[str, _Rows] = {}
        self._links = None
        self._unique = False
        self._turns: dict[str, Resolved] = {}
        self._findings = None

    def _rows_by_id(self) -> _Rows:
        rows = self._by_id
        if rows is None:
            rows = self._by_id = _Rows()
            ids, unreferable = self._table.ids, self._table.unreferable
            if unreferable:
                named = [row for row in range(len(ids)) if row not in unreferable]
                rows.fill([ids[row] for row in named], named)
            else:
                rows.fill(ids, range(len(ids)))
            rows.forget("")
        return rows

    def _rows_by_turn(self) -> dict[str, list[int]]:
        rows = self._by_turn
        if rows is None:
            rows = self._by_turn = {}
            for row, turn_id in enumerate(self._table.turns):
                if turn_id is not None:
                    rows.setdefault(turn_id, []).append(row)
        return rows

    def _valid_links(self) -> Links:
        if self._links is None:
            table = self._table
            if not table.supersedes:  # most streams of some kinds: spare them the IDs
                self._links = Links({}, {}, [])
                return self._links
            self._links = join(
                table.supersedes, self._rows_by_id().get, table.types, self.order, table.values
            )
        return self._links

    def _latest_rows(self, key: str) -> _Rows:
        """By the value of an entity key, the rows that no other record supersedes."""
        latest = self._latest.get(key)
        if latest is None:
            latest = _Rows()
            values, kinds = self._table.values, _kinds_of_key.get(key, ())
            superseded = self._valid_links().revisions
            rows: list[int] = []
            named: list[str] = []
            for row, kind in enumerate(self._table.types):
                if kind in kinds and (value := values[row]) is not None and row not in superseded:
                    rows.append(row)
                    named.append(value)
            latest.fill(named, rows)
            if key in _kinds_of_key:
                self._latest[key] = latest
        return latest

    def _hit(self, row: int) -> Hit:
        table = self._table
        return Hit(
            table.ids[row],
            table.seqs[row],
            table.types[row],
            self._session,
            table.file,
            table.lines[row],
            table.offsets[row],
            table.lengths[row],
        )

    def _by_seq(self, rows: Iterable[int]) -> list[int]:
        order = self.order
        return sorted(rows, key=lambda row: (order[row], row))

    def _outcome(self, rows: Sequence[int], reason: Reason) -> Outcome:
        if len(rows) == 1:
            return Resolved((self._hit(rows[0]),), self._session)
        if not rows:
            return Unresolved(reason, self._session)
        return Ambiguous(tuple(map(self._hit, self._by_seq(rows))), self._session)

    def _turn(self, turn_id: str) -> Outcome:
        outcome = self._turns.get(turn_id)
        if outcome is None:
            rows = self._rows_by_turn().get(turn_id)
            if rows is None:
                return Unresolved("no-such-turn", self._session)
            outcome = Resolved(tuple(map(self._hit, self._by_seq(rows))), self._session)
            self._turns[turn_id] = outcome
        return outcome

    def _repeated_ids(self) -> Iterator[Finding]:
        if self._unique:
            return
        for rows in self._rows_by_id().several.values():
            message = f"line {self._table.lines[rows[0]]} has the same record ID; both are kept"
            for row in rows[1:]:
                yield Finding.at(self.place(row), "ASR-017", "duplicate-id", message, "$.id")

    def _unusable_texts(self) -> Iterator[Finding]:
        """Empty members, and record IDs that no ref can name (ASR-062)."""
        for row, member in self._table.empty:
            yield self._unusable(row, "empty-member", member)
        for row, record_id in enumerate(self._table.ids):
            if not record_id:
                yield self._unusable(row, "empty-member", "id")
            elif "=" in record_id:
                yield self._unusable(row, "equals-in-record-id", "id")

    def _unusable(self, row: int, code: str, member: str) -> Finding:
        message = codes()[code].meaning
        return Finding.at(self.place(row), "ASR-062", code, message, f"$.{member}")

    @property
    def link_findings(self) -> Iterator[tuple[int, Finding]]:
        """What is wrong with the links between revisions, each with the row of the record."""
        for code, row in self._valid_links().faults:
            known = codes()[code]
            yield row, Finding.at(self.place(row), known.rule, code, known.meaning, "$.supersedes")


def read_streams(
    source: Input,
    *,
    file: str | None = None,
    max_line: int = MAX_LINE,
    observe: Observe = nobody,
) -> Iterator[StreamIndex]:
    """The streams of `source`, in order, each begun by a record of type ``session``; at least one.

    Records before the first header are a stream without one. As `StreamIndex.read` otherwise.
    `observe` is called for each stream and gives who sees its records as they are read.
    """
    if not isinstance(source, str | os.PathLike):
        for table in _tables(read_chunks(source, file), file, max_line, observe):
            yield StreamIndex(table)
        return
    with OpenFile(source) as opened:
        name = opened.name if file is None else file
        origin = _Origin(source, compression(opened.read_at(0, 4)) is not None)
        for table in _tables(opened.chunks(), name, max_line, observe):
            yield StreamIndex(table, origin=origin)


def read_header(source: Input, *, file: str | None = None, max_line: int = MAX_LINE) -> Header:
    """The header of the first stream of `source`, reading no further than it stands.

    Where the first record is no header, the result has no content and a finding ``no-header``.
    Raises as `StreamIndex.read` does for what cannot be read.
    """
    if not isinstance(source, str | os.PathLike):
        return _first_header(read_chunks(source, file), file, max_line)
    with OpenFile(source) as opened:
        name = opened.name if file is None else file
        return _first_header(opened.chunks(step=_HEADER_STEP), name, max_line)


def _first_header(chunks: Iterable[bytes], file: str | None, max_line: int) -> Header:
    decoder = LineDecoder(file)
    found = decoder.findings
    header = Header()
    for record, content, number in _each_record(chunks, decoder, file, max_line):
        if record == HEADER_TYPE:
            header = identify(content, file, number)
        break
    if not header.content:
        found.append(_no_header(file))
    findings = _in_session([*found, *header.findings], header.session)
    return replace(header, findings=findings)


def _each_record(
    chunks: Iterable[bytes], decoder: LineDecoder, file: str | None, max_line: int
) -> Iterator[tuple[str, bytes, int]]:
    """Type, content and line of each record; no line is decoded before it is asked for."""
    for lines in cut_lines(plain_chunks(chunks, decoder.findings, file), max_line=max_line):
        if isinstance(lines, Oversize):
            decoder.note_oversize(lines)
            continue
        offset = lines.offset
        for number, line in enumerate(lines.lines, lines.number):
            decoded = decoder.decode(Lines([line], number, offset, lines.complete))
            offset += len(line)
            for record, content in zip(decoded.records, decoded.contents, strict=True):
                yield record.type, content, number


def _tables(
    chunks: Iterable[bytes], file: str | None, max_line: int, observe: Observe = nobody
) -> Iterator[Table]:
    table = Table(file, observe)
    members = frozenset[str]().union(*(observer.members for observer in table.observers))
    decoder = LineDecoder(file, members=members)
    lines = cut_lines(plain_chunks(chunks, decoder.findings, file), max_line=max_line)
    return fill(table, lines, decoder)


def _only(indexes: Iterator[StreamIndex]) -> StreamIndex:
    index = next(indexes)
    if next(indexes, None) is not None:
        raise _several(index.file)
    return index


def _several(file: str | None) -> StreamError:
    return StreamError("several-streams", "a second header begins another stream", file)


def _no_header(file: str | None) -> Finding:
    return Finding(
        code="no-header",
        severity="error",
        message="the stream has no header, so it names no session",
        rule="ASR-050",
        file=file,
    )


def _in_session(found: Iterable[Finding], session: str | None) -> tuple[Finding, ...]:
    return tuple(replace(finding, session=session) for finding in found)


def _slice(chunks: Iterable[bytes], offset: int, length: int) -> bytes:
    """`length` bytes at `offset` of `chunks`, which are read no further."""
    pieces: list[bytes] = []
    for chunk in chunks:
        piece = chunk[max(0, offset) : max(0, offset + length)]
        pieces.append(piece)
        offset -= len(chunk)
        if offset + length <= 0:
            break
    return b"".join(pieces)
