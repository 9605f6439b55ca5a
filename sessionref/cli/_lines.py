"""References in, one line out for each: the engine of `canonical`, `digest` and `parse`.

Memory stays constant however many lines come, a bad line never stops the work, and line n of what
comes out belongs to line n of what went in. Nothing here imports click.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, cast

from sessionref.cli._text import shown
from sessionref.errors import InvalidReference
from sessionref.streams.lines import MAX_LINE, Oversize, cut_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from io import BufferedReader
    from typing import Protocol

    class Lines(Protocol):
        """How a command turns references into lines; a line of None is left out."""

        def good(self, text: str, /) -> str | None:
            """The line for `text`. Raises `InvalidReference` where it is no reference."""

        def bad(self, place: str, text: str, error: InvalidReference, /) -> str | None:
            """The line for `text`, which is no reference, after reporting it."""

        def unread(self, place: str, /) -> str | None:
            """The line for one that was too long to be read, after reporting it."""


__all__ = ["TOO_LONG", "PlainLines", "complain", "translate", "undecodable"]

TOO_LONG = f"line skipped: longer than {MAX_LINE} bytes"

_CHUNK = 1 << 16
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class PlainLines:
    """A text for each reference, an empty line and a report for what is none."""

    def __init__(self, good: Callable[[str], str]) -> None:
        self.good = good

    def bad(self, place: str, text: str, error: InvalidReference) -> str:  # noqa: ARG002
        """An empty line, so that the lines of input and output still pair up."""
        complain(f"{place}: {error}")
        return ""

    def unread(self, place: str) -> str:
        """As `bad`."""
        complain(f"{place}: {TOO_LONG}")
        return ""


def complain(text: str) -> None:
    """Write a line to stderr."""
    sys.stderr.write(text + "\n")


def translate(references: Sequence[str], lines: Lines) -> int:
    """Write what `lines` makes of each of `references`, or of each line of stdin where none given.

    Returns the exit code: 0, 1 where some were no references, 3 where some could not be read.
    """
    label = "argument " if references else "stdin:"
    blocks = iter([(1, [*map(_argument, references)])]) if references else _blocks()
    out = sys.stdout.buffer
    hide = shown if sys.stdout.isatty() else None
    good = lines.good
    code = 0
    for number, block in blocks:
        made: list[str | None] = []
        if block is None:
            code = 3
            made.append(lines.unread(f"{label}{number}"))
        for place, text in enumerate(block or (), number):
            try:
                made.append(good(text))
            except InvalidReference as error:
                code = code or 1
                made.append(lines.bad(f"{label}{place}", text, undecodable(text) or error))
        written = [line for line in made if line is not None]
        if hide is not None:
            written = ["\n".join(map(hide, line.split("\n"))) for line in written]
        written.append("")
        out.write("\n".join(written).encode())
        out.flush()
    return code


def _argument(text: str) -> str:
    """An argument as UTF-8, in which references are written whatever the locale."""
    try:
        return os.fsencode(text).decode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # a lone surrogate: only a caller in this process can give that
        return text


def _blocks() -> Iterator[tuple[int, list[str] | None]]:
    r"""The lines of stdin in blocks as they come, each with the number of its first line.

    None stands for a line that is too long. A line ends with ``\n`` or ``\r\n``; the last one may
    lack it. Octets that are not valid UTF-8 become lone surrogates, which no reference holds.
    """
    stdin = cast("BufferedReader", sys.stdin.buffer)
    for block in cut_lines(iter(lambda: stdin.read1(_CHUNK), b""), max_line=MAX_LINE):
        if isinstance(block, Oversize):
            yield block.number, None
            continue
        whole = b"".join(block.lines)
        if block.offset == 0:
            whole = whole.removeprefix(_BYTE_ORDER_MARK)
            if not whole:
                continue
        lines = whole.decode("utf-8", "surrogateescape").replace("\r\n", "\n").split("\n")
        if block.complete:
            lines.pop()  # what follows the last line ending
        yield block.number, lines


def undecodable(text: str) -> InvalidReference | None:
    """The error of a text that stands for octets which are not valid UTF-8 (ASR-060)."""
    if text.isascii():
        return None
    try:
        octets = text.encode("utf-8", "surrogateescape")
        octets.decode()
    except UnicodeDecodeError as error:
        start = len(error.object[: error.start].decode())
        return InvalidReference(
            "invalid-utf8",
            "ASR-060",
            "reference",
            (start, start + 4 * (error.end - error.start)),
            error.object.decode("utf-8", "backslashreplace"),
            "octets that are not valid UTF-8",
        )
    except UnicodeEncodeError:  # surrogates that stand for no octets
        return None
    return None
