"""From native logs to streams, and to the lines of streams."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessionref.errors import StreamError
from sessionref.findings import Finding
from sessionref.native.logs import Log
from sessionref.native.logset import LogSet
from sessionref.streams.lines import MAX_LINE
from sessionref.streams.walk import walk

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator

    from sessionref.native.record import NativeStream, Report
    from sessionref.streams.source import Input

__all__ = ["UNREAD", "convert", "read", "read_log", "unreadable"]

#: The codes of findings that say that an input, or part of one, could not be read.
UNREAD = frozenset({"unreadable", "unknown-format", "corrupt-compression", "truncated-compression"})


def read(
    source: Input, report: Report, *, content: bool = True, max_line: int = MAX_LINE
) -> Iterator[NativeStream]:
    """The sessions in one native log, as streams, with the lineage that this log alone shows.

    `source` is a path, `-` for standard input, a binary file object or an iterable of bytes,
    compressed or not. What kind of log it is, is told by its content; an unknown one, and a stream
    that is no native log, give nothing and one finding (codes `unknown-format`, `not-native`).
    `report` gets each finding as it is made, those of records as these are read. Nothing is
    raised. A log without a session gives nothing and one finding. The log is closed with the
    iterator, so a stream can be read only while that is kept.
    """
    try:
        with Log(source, max_line=max_line) as log:
            yield from read_log(log, report, content=content)
    except StreamError as error:
        report(unreadable(error))


def read_log(log: Log, report: Report, *, content: bool = True) -> Iterator[NativeStream]:
    """As `read`, for a log that is open; raises `StreamError` where it cannot be read further."""
    with LogSet() as logs:
        logs.add(log, report)
        yield from logs.streams(log, report, content=content)


def convert(
    paths: Iterable[str | os.PathLike[str]],
    report: Report,
    *,
    content: bool = True,
    max_line: int = MAX_LINE,
) -> Iterator[bytes]:
    """The native logs under `paths` as streams, line by line, each line with its newline.

    Paths are files, folders and `-`, as `sessionref.streams.walk.walk` finds them; each stream
    carries the lineage that all of them together show. Files of an unknown kind are reported (code
    `unknown-format`) if they were named, and skipped if a folder holds them. Without
    `content` the records carry identity, model calls, usage and relations only.
    """
    with LogSet(max_line=max_line) as logs:
        added: list[tuple[str, Report]] = []
        for found in walk(paths, report):
            heard = report if found.named else _of_folder(report)
            try:
                logs.add(found.path, heard)
            except StreamError as error:
                heard(unreadable(error))
            else:
                added.append((found.path, heard))
        for path, heard in added:
            try:
                for stream in logs.streams(path, heard, content=content):
                    yield from stream.jsonl(size=1)
            except StreamError as error:
                heard(unreadable(error))


def unreadable(error: StreamError) -> Finding:
    """The finding for an input that cannot be read."""
    return Finding(code="unreadable", severity="error", message=error.message, file=error.file)


def _of_folder(report: Report) -> Report:
    def heard(finding: Finding) -> None:
        if finding.code not in {"unknown-format", "not-native"}:
            report(finding)

    return heard
