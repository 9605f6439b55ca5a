"""The sessions in the files that a user names, each indexed, one at a time."""

from __future__ import annotations

from array import array
from itertools import islice, takewhile
from typing import TYPE_CHECKING

import msgspec

from sessionref.cli._progress import watched
from sessionref.errors import StreamError
from sessionref.findings import Finding
from sessionref.native.convert import UNREAD, read_log
from sessionref.native.detect import kind_of_lines
from sessionref.native.logs import Log
from sessionref.reference import SessionKey
from sessionref.streams.index import StreamIndex, read_streams
from sessionref.streams.source import plain_chunks
from sessionref.streams.walk import walk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from sessionref.cli._common import Outcome
    from sessionref.native.base import NativeRecord, NativeStream, Report
    from sessionref.streams.outcomes import Hit

__all__ = ["Session", "key_of", "sessions"]

#: About how many bytes of converted records are indexed together.
_BLOCK = 1 << 17


class Session:
    """One session of a file: its index, and a way back to the bytes of its records.

    Valid until the next is asked for.
    """

    def __init__(self, index: StreamIndex, log: Log) -> None:
        self.index = index
        self._log = log

    def line(self, hit: Hit) -> int | None:
        """The line of the file that a record comes from."""
        return hit.line

    def contents(self, hits: Sequence[Hit]) -> list[bytes]:
        """The records of `hits`, as JSON."""
        chunks = plain_chunks(self._log.chunks(), [])
        return list(_pieces(chunks, [(hit.offset, hit.length) for hit in hits]))


class _NativeSession(Session):
    """A session of a native log, converted without its content."""

    def __init__(self, index: StreamIndex, log: Log, place: int, lines: array[int]) -> None:
        super().__init__(index, log)
        self._place = place
        self._lines = lines

    def line(self, hit: Hit) -> int | None:
        return self._lines[hit.line - 1] or None

    def contents(self, hits: Sequence[Hit]) -> list[bytes]:
        # Read again, with the content, as far as the last of them.
        wanted = {hit.seq for hit in hits}
        last = max(wanted)
        streams = read_log(self._log, _silent)
        (stream,) = islice(streams, self._place, self._place + 1)
        found = {
            record.seq: msgspec.json.encode(record)
            for record in takewhile(lambda record: record.seq <= last, stream)
            if record.seq in wanted
        }
        return [found[hit.seq] for hit in hits]


def sessions(
    paths: Sequence[str], outcome: Outcome, wanted: Callable[[SessionKey], bool] | None = None
) -> Iterator[Session]:
    """Every session in the streams and native logs under `paths`.

    With `wanted`, only those whose key it takes. What cannot be read is reported to `outcome`;
    what is wrong with what can, is not.
    """

    def report(finding: Finding) -> None:
        if finding.code in UNREAD:
            outcome.report(finding)

    files = list(walk(paths, report))
    for file in watched(files, len(files), shares_terminal=False):
        heard = report if file.named else outcome.of_folder(report)
        try:
            with Log(file.path) as log:
                if kind_of_lines(data for _, data in log.lines(_silent)) == "stream":
                    for index in read_streams(log.chunks(), file=log.name):
                        for finding in index.findings:
                            heard(finding)
                        if wanted is None or (index.key is not None and wanted(index.key)):
                            yield Session(index, log)
                else:
                    yield from _converted(log, heard, wanted)
        except StreamError as error:
            heard(unreadable(error, file.path))


def _converted(
    log: Log, report: Report, wanted: Callable[[SessionKey], bool] | None
) -> Iterator[Session]:
    for place, stream in enumerate(read_log(log, report, content=False)):
        if wanted is not None and not wanted(key_of(stream.header)):
            continue
        lines = array("Q")
        index = StreamIndex.from_chunks(_encoded(stream, lines), file=log.name)
        yield _NativeSession(index, log, place, lines)


def _encoded(stream: NativeStream, lines: array[int]) -> Iterator[bytes]:
    """The records as the lines of a stream; `lines` gets the native line of each."""
    encode = msgspec.json.Encoder().encode_into
    block = bytearray()
    for record in stream:
        lines.append(stream.line)
        encode(record, block, len(block))
        block += b"\n"
        if len(block) >= _BLOCK:
            yield bytes(block)
            block.clear()
    yield bytes(block)


def key_of(header: NativeRecord) -> SessionKey:
    """The session key of a converted log."""
    return SessionKey(header.agent["name"], header.namespace, header.session_id or "")


def unreadable(error: StreamError, path: str) -> Finding:
    """The finding for an input that cannot be read."""
    return Finding(
        code="unreadable", severity="error", message=error.message, file=error.file or path
    )


def _pieces(chunks: Iterator[bytes], places: list[tuple[int, int]]) -> Iterator[bytes]:
    """The bytes at `places` (offset and length, in any order), in their order."""
    found: dict[int, bytes] = {}
    held = bytearray()
    start = 0
    for offset, length in sorted(set(places)):
        while start + len(held) < offset + length:
            passed = min(len(held), offset - start)
            del held[:passed]
            start += passed
            held += next(chunks)
        found[offset] = bytes(held[offset - start : offset - start + length])
    for offset, _ in places:
        yield found[offset]


def _silent(_finding: Finding) -> None:
    """What is wrong is said when the records are read for the first time."""
