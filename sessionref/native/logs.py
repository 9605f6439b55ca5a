"""A native log as lines that can be read twice.

The readers of native formats need what only the whole log shows before they write its first
record, so an input that cannot be read twice (a pipe, standard input) is kept in a temporary file.
"""

from __future__ import annotations

import os
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import IO, TYPE_CHECKING

from sessionref.findings import Finding
from sessionref.streams.json import BOM, BadJson, load_object
from sessionref.streams.lines import MAX_LINE, Oversize, cut_lines
from sessionref.streams.source import OpenFile, plain_chunks, read_chunks
from sessionref.streams.walk import STDIN

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType
    from typing import Self

    from sessionref.native.record import Report
    from sessionref.streams.source import Input

__all__ = ["Log"]

_STEP = 1 << 18
_SPOOL = 16 << 20


class Log:
    """One input, opened: a path, `-` for standard input, a file object or chunks of bytes.

    A context manager. What a file holds when it is opened is what is read, each time, even where
    it grows meanwhile; with `size` only so many of its bytes. Raises `StreamError` where the input
    cannot be opened or read.
    """

    def __init__(self, source: Input, *, max_line: int = MAX_LINE, size: int | None = None) -> None:
        self._max_line = max_line
        self._size = size
        self._open = ExitStack()
        self._file: OpenFile | None = None
        self._spool: IO[bytes] = self._open.enter_context(
            tempfile.SpooledTemporaryFile(max_size=_SPOOL)  # noqa: SIM115 - the stack closes it
        )
        try:
            self.name = self._take(source)
        except BaseException:
            self._open.close()
            raise

    def _take(self, source: Input) -> str:
        """Open `source`, or keep what it gives; its name."""
        if not isinstance(source, str | os.PathLike):
            name = str(getattr(source, "name", "<bytes>"))
            self._keep(read_chunks(source, name))
            return name
        name = os.fsdecode(source)
        if name == STDIN:
            self._keep(read_chunks(sys.stdin.buffer, STDIN))
            return name
        if _is_pipe(name):  # opened once only: who writes to it may be gone by the second time
            with Path(name).open("rb", buffering=0) as pipe:
                self._keep(read_chunks(pipe, name))
        else:
            self._file = self._open.enter_context(OpenFile(source))
        return name

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
        /,
    ) -> None:
        self._open.close()

    @property
    def size(self) -> int | None:
        """How many bytes of the file are read; None for an input kept in a temporary file."""
        if self._file is None:
            return None
        size = self._file.status.st_size
        return size if self._size is None else min(size, self._size)

    def chunks(self) -> Iterator[bytes]:
        """The bytes of the log, as they are, from its start."""
        if self._file is not None:
            left = self.size or 0
            for chunk in self._file.chunks():
                yield chunk[:left]
                left -= len(chunk)
                if left <= 0:
                    return
            return
        place = 0
        while True:
            self._spool.seek(place)
            chunk = self._spool.read(_STEP)
            if not chunk:
                return
            place += len(chunk)
            yield chunk

    def lines(self, report: Report) -> Iterator[tuple[int, bytes]]:
        """The lines of the log that hold something, with their numbers, from its start.

        A byte-order mark and line endings are taken off; blank lines are skipped. NUL bytes cut a
        line into pieces: the pieces that are whole rows come as lines of the same number. A line
        that is too long or cut off at the end gives a finding instead; it keeps its number.
        """
        for number, lines, complete in self.batches(report):
            yield from self.held(number, lines, report, complete=complete)

    def batches(self, report: Report) -> Iterator[tuple[int, list[bytes], bool]]:
        """The lines as they are cut: number of the first, and whether a newline ends the last.

        Raw lines; call `held` for lines that do not decode.
        """
        findings: list[Finding] = []
        for batch in cut_lines(
            plain_chunks(self.chunks(), findings, self.name), max_line=self._max_line
        ):
            if isinstance(batch, Oversize):
                self._say(
                    report,
                    "line-too-long",
                    batch.number,
                    f"the line has {batch.length} bytes, more than {self._max_line}",
                )
            else:
                yield batch.number, batch.lines, batch.complete
        for finding in findings:
            report(finding)

    def held(
        self, first: int, lines: list[bytes], report: Report, *, complete: bool
    ) -> Iterator[tuple[int, bytes]]:
        """The lines that `lines` gives for one of `batches`."""
        for number, line in enumerate(lines, first):
            data = line.rstrip(b"\r\n")
            if number == 1 and data.startswith(BOM):
                data = data[len(BOM) :]
                self._say(
                    report,
                    "byte-order-mark",
                    number,
                    "the file begins with a byte-order mark, which is skipped",
                )
            if not data or data.isspace():
                continue
            if b"\0" in data:
                self._say(report, "nul-bytes", number, "NUL bytes where a writer was stopped")
                for piece in data.replace(b"\0", b"\n").splitlines():
                    if piece and _whole(piece):
                        yield number, piece
            elif complete or _whole(data):
                yield number, data
            else:
                self._say(report, "torn-tail", number, "the log ends inside this line")

    def _keep(self, chunks: Iterator[bytes]) -> None:
        for chunk in chunks:
            self._spool.write(chunk)

    def _say(self, report: Report, code: str, line: int, message: str) -> None:
        report(Finding(code=code, severity="warning", message=message, file=self.name, line=line))


def _is_pipe(name: str) -> bool:
    try:
        return Path(name).is_fifo()
    except ValueError:  # a name that no file can have, such as one with a NUL
        return False


def _whole(data: bytes) -> bool:
    """Whether these bytes, which no newline ends, are all of a row."""
    try:
        load_object(data)
    except BadJson as error:
        return error.code == "too-deep"
    return True
