"""From what a user names to the streams in it."""

from __future__ import annotations

import os
import stat
import sys
from typing import TYPE_CHECKING, Protocol

from sessionref.errors import StreamError
from sessionref.streams.index import read_streams
from sessionref.streams.json import BOM
from sessionref.streams.lines import MAX_LINE
from sessionref.streams.source import OpenFile, plain_chunks
from sessionref.streams.walk import STDIN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sessionref.findings import Finding
    from sessionref.streams.index import StreamIndex
    from sessionref.streams.observe import Observe
    from sessionref.streams.source import Input

__all__ = ["Open", "is_lasting", "looks_like_lines", "open_streams"]

#: How much of a file is looked at to tell whether it is a stream at all.
_HEAD = 64 * 1024


class Open(Protocol):
    """Reads the streams of one input.

    Each index that it gives was seen by a fresh set of observers from `observe`. `report` gets what
    is wrong with the input beside the findings of the indexes. With `whole` nothing of the records
    may be left out; without, whatever refers to nothing may. `found` is True for a file that was
    found in a folder rather than named. Raises `StreamError` for an input that cannot be read, with
    the code ``unknown-format`` for one that is nothing of the kind that is read.
    """

    def __call__(
        self,
        source: Input,
        *,
        observe: Observe,
        report: Callable[[Finding], None],
        whole: bool,
        found: bool,
        max_line: int = MAX_LINE,
    ) -> Iterator[StreamIndex]:
        """The streams of `source`, in order."""
        ...


def open_streams(
    source: Input,
    *,
    observe: Observe,
    report: Callable[[Finding], None],  # noqa: ARG001 - the indexes have all findings
    whole: bool,  # noqa: ARG001 - there is nothing to leave out
    found: bool,
    max_line: int = MAX_LINE,
) -> Iterator[StreamIndex]:
    """The streams of an input that holds streams. An `Open`.

    A pipe that was named is read; in a folder only what looks like a stream is.
    """
    if not isinstance(source, str | os.PathLike):
        name = getattr(source, "name", None)
        file = name if isinstance(name, str) else None
        yield from read_streams(source, file=file, observe=observe, max_line=max_line)
        return
    if os.fspath(source) == STDIN:
        yield from read_streams(sys.stdin.buffer, file=STDIN, observe=observe, max_line=max_line)
        return
    if found and not looks_like_lines(source):
        raise StreamError("unknown-format", "no stream", os.fsdecode(source))
    if found or is_lasting(source) or os.path.isdir(source):  # noqa: PTH112
        yield from read_streams(source, observe=observe, max_line=max_line)
        return
    try:
        pipe = open(source, "rb", buffering=0)  # noqa: PTH123, SIM115 - closed below; any PathLike
    except (OSError, ValueError) as error:
        raise StreamError("unreadable", str(error), os.fsdecode(source)) from None
    with pipe:
        yield from read_streams(pipe, file=os.fsdecode(source), observe=observe, max_line=max_line)


def is_lasting(source: Input) -> bool:
    """Whether `source` can be read again and gives the same."""
    if not isinstance(source, str | os.PathLike) or os.fspath(source) == STDIN:
        return False
    try:
        return stat.S_ISREG(os.stat(source).st_mode)  # noqa: PTH116 - any PathLike
    except (OSError, ValueError):
        return False


def looks_like_lines(path: str | os.PathLike[str]) -> bool:
    """Whether one of the first lines of a file begins as a JSON object does.

    No more than the head of the file is read. Raises `StreamError` where it cannot be.
    """
    with OpenFile(path) as opened:
        head = next(plain_chunks(opened.chunks(step=_HEAD), []), b"")
    lines = head[:_HEAD].split(b"\n")
    return any(line.removeprefix(BOM).lstrip(b"\0 \t\r").startswith(b"{") for line in lines)
