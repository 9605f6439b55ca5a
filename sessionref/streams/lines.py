"""Chunks of bytes to lines, in linear time and in memory bounded by the longest line."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["MAX_LINE", "Lines", "Oversize", "cut_lines"]

#: The longest line that is read, in bytes, where nothing else is said.
MAX_LINE = 256 * 1024 * 1024

#: About how many bytes of lines are handed on together: enough to make the cost of a batch small,
#: few enough to stay in the processor's cache.
_BATCH = 128 * 1024


class Lines(NamedTuple):
    """Consecutive lines, each with its line ending.

    `number` is the ordinal of the first, from 1, `offset` its byte offset. Where `complete` is
    False there is one line, which ends with the input and not with a newline.
    """

    lines: list[bytes]
    number: int
    offset: int
    complete: bool


class Oversize(NamedTuple):
    """A line of `length` bytes that is longer than the bound; its content is not kept."""

    number: int
    offset: int
    length: int
    complete: bool


def cut_lines(
    chunks: Iterable[bytes], *, max_line: int = MAX_LINE, number: int = 1, offset: int = 0
) -> Iterator[Lines | Oversize]:
    r"""The lines of `chunks`, however these are cut.

    `number` and `offset` say where in the whole input the chunks begin. A line that is longer than
    `max_line` bytes without its newline is passed over in constant memory. Only ``\n`` ends a
    line.
    """
    held = bytearray()  # the beginning of a line whose end is not yet seen
    passed = 0  # how much of an oversize line has been passed over
    for chunk in chunks:
        start = 0
        if held or passed:
            start = chunk.find(b"\n") + 1
            piece = chunk[:start] if start else chunk
            if passed or len(held) + len(piece) > max_line + (start > 0):
                passed += len(held) + len(piece)
                held.clear()
            else:
                held += piece
            if not start:
                continue
            if passed:
                yield Oversize(number, offset, passed - 1, complete=True)
                offset += passed
                passed = 0
            else:
                yield Lines([bytes(held)], number, offset, complete=True)
                offset += len(held)
                held = bytearray()
            number += 1
        reader = io.BytesIO(chunk)
        reader.seek(start)
        while lines := reader.readlines(_BATCH):
            if not lines[-1].endswith(b"\n"):
                held += lines.pop()
                if len(held) > max_line:
                    passed = len(held)
                    held.clear()
            if len(chunk) > max_line and max(map(len, lines), default=0) > max_line + 1:
                for line in lines:
                    if len(line) > max_line + 1:
                        yield Oversize(number, offset, len(line) - 1, complete=True)
                    else:
                        yield Lines([line], number, offset, complete=True)
                    number += 1
                    offset += len(line)
            elif lines:
                yield Lines(lines, number, offset, complete=True)
                number += len(lines)
                offset += sum(map(len, lines))
    if passed:
        yield Oversize(number, offset, passed, complete=False)
    elif held:
        yield Lines([bytes(held)], number, offset, complete=False)
