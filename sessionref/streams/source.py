"""Inputs to chunks of plain bytes: files, file objects and iterables, compressed or not."""

from __future__ import annotations

import os
import stat
import zlib
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from sessionref.errors import StreamError
from sessionref.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import TracebackType
    from typing import Literal, Self

__all__ = ["Input", "OpenFile", "Readable", "plain_chunks", "read_chunks"]

Compression: TypeAlias = "Literal['gzip', 'zstd'] | None"

#: How much is read, and at most how much is decompressed, in one step.
_STEP = 256 * 1024
#: How much compressed data a decoder is given at once. What follows the end of a member is copied,
#: so a small piece keeps many small members linear; and a zstd decoder's output, up to 32,000 times
#: as long as its input, cannot be bounded but by this.
_PIECE = 256
_MAGIC = 4  # octets that tell compressed data from others


class Readable(Protocol):
    """A binary file object, as far as it is needed here."""

    def read(self, size: int, /) -> bytes | None:
        """At most `size` bytes; none at the end."""
        ...


Input: TypeAlias = "str | os.PathLike[str] | Readable | Iterable[bytes]"


class OpenFile:
    """A regular file opened for reading, and what identifies it. A context manager.

    Raises `StreamError`: ``no-such-file``, ``not-a-file`` for a directory, pipe, socket or device
    (none of which is waited for), ``unreadable`` for all else.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.name = os.fsdecode(path)
        flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        try:
            self._descriptor = os.open(path, flags)
        except FileNotFoundError:
            raise StreamError("no-such-file", "there is no such file", self.name) from None
        except (OSError, ValueError) as error:
            if os.path.isdir(self.name):  # noqa: PTH112 - some systems refuse to open one
                raise StreamError("not-a-file", "a directory", self.name) from None
            raise _unreadable(error, self.name) from None
        self.status = os.fstat(self._descriptor)
        if not stat.S_ISREG(self.status.st_mode):
            os.close(self._descriptor)
            raise StreamError("not-a-file", "no regular file", self.name)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
        /,
    ) -> None:
        os.close(self._descriptor)
        self._descriptor = -1  # a later read must not reach another file of that number

    def read_at(self, offset: int, length: int) -> bytes:
        """The `length` bytes at `offset`, fewer where the file ends before."""
        pieces: list[bytes] = []
        try:
            os.lseek(self._descriptor, offset, os.SEEK_SET)
            while length > 0 and (piece := os.read(self._descriptor, min(length, 1 << 30))):
                pieces.append(piece)
                length -= len(piece)
        except OSError as error:
            raise _unreadable(error, self.name) from None
        return b"".join(pieces)

    def chunks(self, offset: int = 0, step: int = _STEP) -> Iterator[bytes]:
        """The bytes of the file from `offset` on, as they are, up to its present end."""
        while piece := self.read_at(offset, step):
            offset += len(piece)
            yield piece


def read_chunks(source: Readable | Iterable[bytes], file: str | None = None) -> Iterator[bytes]:
    """The bytes of a file object or of an iterable, in chunks as they come.

    Whatever the source raises when it is read becomes a `StreamError` with the code ``unreadable``;
    so does a chunk that is no bytes.
    """
    given: Any = source
    read: Any = getattr(given, "read", None)
    pieces: Iterator[Any] = iter(given) if read is None else iter(lambda: read(_STEP), b"")
    piece: Any
    while True:
        try:
            piece = next(pieces, None)
        except (OSError, ValueError, EOFError, zlib.error) as error:
            raise _unreadable(error, file) from None
        if piece is None:  # the end, or a source that has nothing to give now
            return
        if not isinstance(piece, bytes):
            try:
                piece = bytes(memoryview(piece))
            except TypeError:
                what = type(piece).__name__
                raise StreamError("unreadable", f"gives {what}, not bytes", file) from None
        if piece:
            yield piece


def compression(head: bytes) -> Compression:
    """What data that begin with `head` are compressed by, told by their magic number."""
    if head.startswith(b"\x1f\x8b"):
        return "gzip"
    # A zstd frame, or one of its skippable frames.
    if head.startswith(b"\x28\xb5\x2f\xfd") or (
        head[1:_MAGIC] == b"\x2a\x4d\x18" and 0x50 <= head[0] <= 0x5F  # noqa: PLR2004
    ):
        return "zstd"
    return None


def plain_chunks(
    chunks: Iterable[bytes], findings: list[Finding], file: str | None = None
) -> Iterator[bytes]:
    """`chunks` decompressed, where they are gzip or zstd data, and as they are where not.

    Several gzip members or zstd frames on end are one input. Where the data are cut short or
    damaged, what came before is given and one finding added to `findings`.
    """
    pieces = iter(chunks)
    head = b""
    for piece in pieces:
        head += piece
        if len(head) >= _MAGIC:
            break
    kind = compression(head)
    if kind is None:
        if head:
            yield head
        yield from pieces
        return
    yield from _gather(_decompressed(_chain(head, pieces), kind, findings, file))


def _decompressed(
    pieces: Iterator[bytes], kind: str, findings: list[Finding], file: str | None
) -> Iterator[bytes]:
    decoder: _Decoder | None = None
    make = _Gzip if kind == "gzip" else _Zstd
    try:
        for rest in _cut(pieces, _PIECE):
            while rest:
                if decoder is None:
                    # Padding with NULs after a member is what tape and block devices leave.
                    rest = rest.lstrip(b"\0")
                    if not rest:
                        break
                    decoder = make()
                yield from decoder.feed(rest)
                rest = decoder.rest
                if decoder.ended:
                    decoder = None
    except _Damaged as error:
        findings.append(
            Finding(
                code="corrupt-compression",
                severity="error",
                message=f"the {kind} data are damaged; what came before is read ({error})",
                file=file,
            )
        )
        return
    if decoder is not None:
        findings.append(
            Finding(
                code="truncated-compression",
                severity="error",
                message=f"the {kind} data end before their end; what came before is read",
                file=file,
            )
        )


class _Damaged(Exception):  # noqa: N818 - never leaves this file
    pass


class _Decoder(Protocol):
    """One member or frame: what follows its end is `rest`."""

    ended: bool
    rest: bytes

    def feed(self, data: bytes) -> Iterator[bytes]: ...


class _Gzip:
    def __init__(self) -> None:
        self._decoder = zlib.decompressobj(wbits=31)
        self.ended = False
        self.rest = b""

    def feed(self, data: bytes) -> Iterator[bytes]:
        decoder = self._decoder
        try:
            while data:
                if plain := decoder.decompress(data, _STEP):
                    yield plain
                data = decoder.unconsumed_tail
        except zlib.error as error:
            raise _Damaged(str(error)) from None
        self.ended = decoder.eof
        self.rest = decoder.unused_data


class _Zstd:
    def __init__(self) -> None:
        import zstandard  # noqa: PLC0415 - only for whoever reads such data

        self._error = zstandard.ZstdError
        self._decoder = zstandard.ZstdDecompressor().decompressobj()
        self.ended = False
        self.rest = b""

    def feed(self, data: bytes) -> Iterator[bytes]:
        decoder = self._decoder
        try:
            plain = decoder.decompress(data)
        except self._error as error:
            raise _Damaged(str(error)) from None
        if plain:
            yield plain
        self.ended = decoder.eof
        self.rest = decoder.unused_data


def _cut(pieces: Iterator[bytes], size: int) -> Iterator[bytes]:
    for piece in pieces:
        for start in range(0, len(piece), size):
            yield piece[start : start + size]


def _gather(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The same bytes in pieces large enough to be worth handing on."""
    held: list[bytes] = []
    length = 0
    for piece in pieces:
        held.append(piece)
        length += len(piece)
        if length >= _STEP:
            yield b"".join(held)
            held.clear()
            length = 0
    if held:
        yield b"".join(held)


def _chain(head: bytes, pieces: Iterator[bytes]) -> Iterator[bytes]:
    yield head
    yield from pieces


def _unreadable(error: Exception, file: str | None) -> StreamError:
    reason = error.strerror if isinstance(error, OSError) else None
    return StreamError("unreadable", reason or str(error) or type(error).__name__, file)
